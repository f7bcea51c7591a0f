#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/attr.h"
#include "core/failure.h"

#define HOUR(n) ((int64_t)(n)*AX_HOUR_MS)

static struct ax_failure failure(int64_t gid, int64_t time)
{
	return (struct ax_failure){
		.gid = gid,
		.fingerprint = 7,
		.group_key = "ops",
		.executor_key = "exec",
		.reason = "exit",
		.title = "t",
		.worker = "w1",
		.time = time,
	};
}

static void test_counting(void **state)
{
	(void)state;
	struct ax_failure a = failure(1, 100), b = failure(2, 300), late = failure(3, 200);
	struct ax_failure_group group = ax_failure_group_of(&a);
	assert_int_equal(ax_failure_count(&group, &a, 1000), AX_FAILURE_NEW);
	assert_int_equal(ax_failure_count(&group, &b, 1000), AX_FAILURE_NOTHING_NEW);
	assert_int_equal(ax_failure_count(&group, &late, 1000), AX_FAILURE_NOTHING_NEW);
	assert_int_equal(group.count, 3);
	assert_int_equal(group.first_seen_time, 100);
	assert_int_equal(group.last_seen_time, 300);
	assert_int_equal(group.sample_gid, 2);
}

static void test_a_failure_after_resolved_opens_again(void **state)
{
	(void)state;
	struct ax_failure a = failure(1, 100), before = failure(2, 500), after = failure(3, 501);
	struct ax_failure_group group = ax_failure_group_of(&a);
	ax_failure_count(&group, &a, 1000);
	group.state = AX_FAILURE_RESOLVED;
	group.state_time = 500;
	assert_int_equal(ax_failure_count(&group, &before, 1000), AX_FAILURE_NOTHING_NEW);
	assert_int_equal(group.state, AX_FAILURE_RESOLVED);
	assert_int_equal(ax_failure_count(&group, &after, 1000), AX_FAILURE_BACK);
	assert_int_equal(group.state, AX_FAILURE_OPEN);
	assert_int_equal(group.reopen_count, 1);
	assert_int_equal(group.state_time, 1000);
}

static void test_a_mute_ends(void **state)
{
	(void)state;
	struct ax_failure a = failure(1, 100), during = failure(2, 499), after = failure(3, 500);
	struct ax_failure_group group = ax_failure_group_of(&a);
	ax_failure_count(&group, &a, 1000);
	group.state = AX_FAILURE_MUTED;
	group.mute_until_time = 500;
	assert_int_equal(ax_failure_state_at(&group, 499), AX_FAILURE_MUTED);
	assert_int_equal(ax_failure_state_at(&group, 500), AX_FAILURE_OPEN);
	assert_int_equal(ax_failure_count(&group, &during, 1000), AX_FAILURE_NOTHING_NEW);
	assert_int_equal(ax_failure_count(&group, &after, 1000), AX_FAILURE_UNMUTED);
	assert_int_equal(group.state, AX_FAILURE_OPEN);
	assert_int_equal(ax_failure_count(&group, &after, 1000), AX_FAILURE_NOTHING_NEW);
}

static bool grows(int64_t first_hour, int64_t now_hour, const struct ax_failure_hour *hours, int n)
{
	struct ax_failure_group group = { .first_seen_time = HOUR(first_hour) };
	return ax_failure_grows(&group, hours, n, HOUR(now_hour) + 5);
}

static void test_growth(void **state)
{
	(void)state;
	const struct ax_failure_hour nine[] = { { 1, 100, 9 } }, ten[] = { { 1, 100, 10 } };
	assert_false(grows(90, 100, nine, 1));
	assert_true(grows(90, 100, ten, 1));
	assert_false(grows(100, 100, ten, 1)); /* it began in this hour: new */
	/* mean of ten hours: 4, then 5 */
	struct ax_failure_hour busy[] = { { 1, 100, 12 }, { 1, 95, 40 } };
	assert_true(grows(90, 100, busy, 2));
	busy[1].count = 50;
	assert_false(grows(90, 100, busy, 2));
	busy[0].count = 15;
	assert_true(grows(90, 100, busy, 2));
	/* hours that are long past do not count, nor does their number */
	const struct ax_failure_hour old[] = { { 1, 100, 12 }, { 1, 75, 100000 }, { 1, 76, 96 } };
	assert_true(grows(1, 100, old, 3));
	const struct ax_failure_hour just_inside[] = { { 1, 100, 12 }, { 1, 76, 97 } };
	assert_false(grows(1, 100, just_inside, 2));
}

static int count_hints(const struct ax_failure_facts *facts, const char *code)
{
	struct ax_arena arena = { 0 };
	struct ax_failure_hint hints[AX_FAILURE_HINTS_MAX];
	int n = ax_failure_hints(facts, &arena, hints), found = 0;
	for (int i = 0; i < n; i++) {
		assert_null(strstr(ax_said_text(&arena, &hints[i].said, AX_ENGLISH), "–")); /* nothing is missing */
		struct ax_said advice = hints[i].said;
		advice.sentence = hints[i].advice;
		if (hints[i].advice != AX_SENTENCES)
			assert_null(strstr(ax_said_text(&arena, &advice, AX_ENGLISH), "–"));
		found += strcmp(hints[i].code, code) == 0;
	}
	ax_arena_done(&arena);
	return code[0] == '\0' ? n : found;
}

static struct ax_failure_facts plain(void)
{
	return (struct ax_failure_facts){
		.count = 10,
		.n_tasks = 1,
		.n_workers = 1,
		.worker = "w3",
		.task_id = 5,
		.task_name = "report",
		.first_version = 1,
		.executor_key = "exec",
		.tasks_of_executor = -1,
	};
}

static void test_only_is_said_of_a_worker_when_others_did_well(void **state)
{
	(void)state;
	struct ax_failure_facts f = plain();
	f.success_elsewhere = 3;
	assert_int_equal(count_hints(&f, "only_worker"), 1);
	f.success_elsewhere = 2; /* nobody else ran them */
	assert_int_equal(count_hints(&f, "only_worker"), 0);
	assert_int_equal(count_hints(&f, "one_worker"), 1);
	f.success_elsewhere = 100;
	f.count = 2; /* chance */
	assert_int_equal(count_hints(&f, ""), 0);
	f.count = 10;
	f.n_workers = 2;
	assert_int_equal(count_hints(&f, ""), 0);
}

static void test_since_is_said_of_a_version_when_earlier_ones_did_well(void **state)
{
	(void)state;
	struct ax_failure_facts f = plain();
	f.n_workers = 2;
	f.first_version = 41;
	f.success_before = 3;
	assert_int_equal(count_hints(&f, "since_version"), 1);
	f.success_before = 2;
	assert_int_equal(count_hints(&f, ""), 0);
	f.success_before = 3;
	f.n_tasks = 2;
	assert_int_equal(count_hints(&f, ""), 0);
	f.n_tasks = 1;
	f.first_version = 1; /* there is none before it */
	assert_int_equal(count_hints(&f, ""), 0);
}

static void test_all_tasks_of_an_executor(void **state)
{
	(void)state;
	struct ax_failure_facts f = plain();
	f.n_workers = 2;
	f.n_tasks = 4;
	f.tasks_of_executor = 4;
	assert_int_equal(count_hints(&f, "all_tasks"), 1);
	f.tasks_of_executor = 5;
	assert_int_equal(count_hints(&f, "some_tasks"), 1);
	f.n_tasks = 1;
	assert_int_equal(count_hints(&f, "one_task"), 1);
	f.tasks_of_executor = 1; /* no other to compare with */
	assert_int_equal(count_hints(&f, ""), 0);
	f.n_tasks = 4;
	f.tasks_of_executor = -1; /* not counted */
	assert_int_equal(count_hints(&f, ""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counting),
		cmocka_unit_test(test_a_failure_after_resolved_opens_again),
		cmocka_unit_test(test_a_mute_ends),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_only_is_said_of_a_worker_when_others_did_well),
		cmocka_unit_test(test_since_is_said_of_a_version_when_earlier_ones_did_well),
		cmocka_unit_test(test_all_tasks_of_an_executor),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
