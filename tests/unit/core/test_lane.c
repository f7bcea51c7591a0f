#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/duration.h"
#include "core/lane.h"
#include "core/limits.h"
#include "core/room.h"

static void test_the_rule_decides_and_auto_asks_the_p90(void **state)
{
	(void)state;
	assert_int_equal(ax_lane_choose(AX_RUN_LANE_SHORT, 5000), AX_RUN_LANE_SHORT);
	assert_int_equal(ax_lane_choose(AX_RUN_LANE_LONG, 5), AX_RUN_LANE_LONG);
	assert_int_equal(ax_lane_choose(AX_RUN_LANE_AUTO, -1), AX_RUN_LANE_SHORT);
	assert_int_equal(ax_lane_choose(AX_RUN_LANE_AUTO, 999), AX_RUN_LANE_SHORT);
	assert_int_equal(ax_lane_choose(AX_RUN_LANE_AUTO, 1000), AX_RUN_LANE_LONG);
}

static void test_a_share_is_never_nothing(void **state)
{
	(void)state;
	assert_int_equal(ax_lane_share(200, 50), 100);
	assert_int_equal(ax_lane_share(3, 50), 1);
	assert_int_equal(ax_lane_share(1, 1), 1);
	assert_int_equal(ax_lane_share(10, 100), 10);
}

static void test_room(void **state)
{
	(void)state;
	struct ax_group group = {
		.dispatch_quota = 10, .running = 6, .running_long = 4, .long_share_percent = 50, .worker_backlog = 0
	};
	struct ax_worker_group part = { .pool_size = 2, .given = 5, .given_long = 1 };
	assert_int_equal(ax_group_room(&group, AX_RUN_LANE_SHORT), 4);
	assert_int_equal(ax_group_room(&group, AX_RUN_LANE_LONG), 1);
	group.running = 10;
	assert_int_equal(ax_group_room(&group, AX_RUN_LANE_LONG), 0);
	assert_int_equal(ax_backlog_of(&group, &part), 2 * AX_BACKLOG_FACTOR);
	assert_int_equal(ax_worker_room(&group, &part, AX_RUN_LANE_SHORT), 1);
	assert_int_equal(ax_worker_room(&group, &part, AX_RUN_LANE_LONG), 1);
	group.worker_backlog = 4; /* narrowed under runs that are out */
	assert_int_equal(ax_worker_room(&group, &part, AX_RUN_LANE_SHORT), -1);
}

static const char *add(struct ax_arena *arena, const char *text, int times, int64_t ms)
{
	while (times-- > 0)
		text = ax_durations_add_recent(arena, text, ms);
	return text;
}

/* A task that became slow is found out, and one that became fast again too: the past fades. */
static void test_durations_learn_anew(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	const char *text = add(&arena, "", 100000, 20);
	assert_in_range(ax_durations_quantile(text, 90), 20, 23);
	int slow = 0;
	for (; ax_durations_quantile(text, 90) < 1000; slow++)
		text = add(&arena, text, 1, 7000);
	assert_in_range(slow, 5, 30);
	text = add(&arena, text, 1000, 7000);
	int fast = 0;
	for (; ax_durations_quantile(text, 90) >= 1000; fast++)
		text = add(&arena, text, 1, 20);
	assert_in_range(fast, 100, 700);
	for (int64_t ms = 0; ms < 100000; ms++) /* of every kind */
		text = ax_durations_add_recent(&arena, text, ms * 37 % 100000);
	assert_true(strlen(text) < 1500);
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_rule_decides_and_auto_asks_the_p90),
		cmocka_unit_test(test_a_share_is_never_nothing),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_durations_learn_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
