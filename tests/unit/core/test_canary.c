/* The rule of a canary, its share of the runs, and the histogram of durations behind it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/canary.h"
#include "core/duration.h"
#include "core/gid.h"
#include "core/task_def.h"

static void test_the_share_is_a_share(void **state)
{
	(void)state;
	static const int64_t percents[] = { 1, 10, 50, 99, 100 };
	for (size_t p = 0; p < AX_COUNT(percents); p++) {
		int taken = 0;
		for (int64_t i = 0; i < 100000; i++) /* gids of one server, made in one go */
			taken += ax_canary_takes((INT64_C(60000000000) << 22) + i, percents[p]);
		assert_in_range(taken, percents[p] * 1000 - 500, percents[p] * 1000 + 500);
	}
}

static void test_quantiles_are_right_to_an_eighth(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	const char *durations = "";
	assert_int_equal(ax_durations_quantile(durations, 95), -1);
	for (int64_t ms = 1; ms <= 1000; ms++)
		durations = ax_durations_add(&arena, durations, (ms * 37) % 1000 + 1);
	static const int percents[] = { 1, 50, 90, 95, 99, 100 };
	for (size_t i = 0; i < AX_COUNT(percents); i++)
		assert_in_range(
			ax_durations_quantile(durations, percents[i]), percents[i] * 10, percents[i] * 10 * 9 / 8 + 1);
	for (int64_t ms = 1; ms > 0 && ms < INT64_MAX / 3; ms *= 3) {
		int64_t bound = ax_durations_quantile(ax_durations_add(&arena, "", ms), 50);
		assert_true(bound >= ms && bound - ms <= ms / 8 + 1);
	}
	assert_int_equal(ax_durations_quantile(ax_durations_add(&arena, "", -5), 50), 0);
	ax_arena_done(&arena);
}

static struct ax_canary runs(int64_t succeeded, int64_t failed, int64_t base_succeeded, int64_t base_failed)
{
	return (struct ax_canary){
		.percent = 50,
		.min_runs = 10,
		.max_failure_points = 10,
		.max_p95_percent = 150,
		.succeeded = succeeded,
		.failed = failed,
		.base_succeeded = base_succeeded,
		.base_failed = base_failed,
		.durations = "",
		.base_durations = "",
	};
}

static void test_the_rule(void **state)
{
	(void)state;
	static const struct {
		int64_t succeeded, failed, base_succeeded, base_failed;
		enum ax_canary_state verdict;
	} table[] = {
		{ 0, 0, 0, 0, AX_CANARY_RUNNING },
		{ 9, 0, 100, 0, AX_CANARY_RUNNING }, /* too few of the trial */
		{ 100, 0, 9, 0, AX_CANARY_RUNNING }, /* too few to compare it with */
		{ 10, 0, 10, 0, AX_CANARY_PROMOTED },
		{ 9, 1, 10, 0, AX_CANARY_PROMOTED },    /* 10 points are allowed */
		{ 0, 2, 10, 0, AX_CANARY_ROLLED_BACK }, /* 2 of 10 at best: hopeless before it has its 10 runs */
		{ 0, 1, 0, 0, AX_CANARY_RUNNING },
		{ 5, 5, 5, 5, AX_CANARY_PROMOTED }, /* no worse than it was */
		{ 3, 7, 5, 5, AX_CANARY_ROLLED_BACK },
	};
	struct ax_arena arena = { 0 };
	const char *reason;
	for (size_t i = 0; i < AX_COUNT(table); i++) {
		struct ax_canary c =
			runs(table[i].succeeded, table[i].failed, table[i].base_succeeded, table[i].base_failed);
		if (ax_canary_judge(&c, &arena, &reason) != table[i].verdict)
			fail_msg("row %zu: %s", i, reason);
	}
	struct ax_canary alone = runs(10, 0, 0, 0);
	alone.percent = 100; /* nothing is left to compare with */
	assert_int_equal(ax_canary_judge(&alone, &arena, &reason), AX_CANARY_PROMOTED);
	assert_string_equal(reason, "failures 0.00 %, nothing to compare with");
	struct ax_canary failing = runs(9, 1, 0, 10); /* no success, so no duration */
	failing.durations = ax_durations_add(&arena, "", 1000);
	assert_int_equal(ax_canary_judge(&failing, &arena, &reason), AX_CANARY_PROMOTED);
	assert_string_equal(reason, "failures 10.00 % against 100.00 %");
	struct ax_canary slow = runs(10, 0, 10, 0);
	slow.base_durations = ax_durations_add(&arena, "", 1000);
	slow.durations = ax_durations_add(&arena, "", 2000);
	assert_int_equal(ax_canary_judge(&slow, &arena, &reason), AX_CANARY_ROLLED_BACK);
	assert_non_null(strstr(reason, "p95"));
	slow.max_p95_percent = 0;
	assert_int_equal(ax_canary_judge(&slow, &arena, &reason), AX_CANARY_PROMOTED);
	ax_arena_done(&arena);
}

static void test_what_a_canary_may_not_change(void **state)
{
	(void)state;
	struct ax_task_def base = ax_def_preset(), trial = base;
	assert_null(ax_canary_forbidden(&base, &trial));
	trial.executor_key = "pay.v2";
	trial.biz_param = "{\"v\":2}";
	trial.timeout_seconds = 9;
	trial.retry_count = 9;
	assert_null(ax_canary_forbidden(&base, &trial));
	trial.cron_expr = "@hourly";
	assert_string_equal(ax_canary_forbidden(&base, &trial), "cron_expr");
	trial = base;
	trial.priority = 10;
	assert_string_equal(ax_canary_forbidden(&base, &trial), "priority");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_share_is_a_share),
		cmocka_unit_test(test_quantiles_are_right_to_an_eighth),
		cmocka_unit_test(test_the_rule),
		cmocka_unit_test(test_what_a_canary_may_not_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
