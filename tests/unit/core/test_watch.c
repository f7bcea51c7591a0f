/* By when a run should be done, and whether it moves: the pure rules. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/attr.h"
#include "core/task_def.h"
#include "core/watch.h"

static void test_times_of_the_day(void **state)
{
	(void)state;
	int minutes;
	assert_true(ax_clock_parse("00:00", &minutes));
	assert_int_equal(minutes, 0);
	assert_true(ax_clock_parse("23:59", &minutes));
	assert_int_equal(minutes, 1439);
	static const char *const bad[] = { "", "6:00", "24:00", "23:60", "06-00", "0600", "06:00 ", ":6:00", "06:0:" };
	for (size_t i = 0; i < AX_COUNT(bad); i++)
		if (ax_clock_parse(bad[i], &minutes))
			fail_msg("'%s' was taken", bad[i]);
}

static void test_the_next_such_time_lies_after_the_due_instant(void **state)
{
	(void)state;
	const int64_t noon = INT64_C(1764590400000); /* 2025-12-01T12:00:00Z */
	assert_int_equal(ax_clock_next(ax_tz_utc(), 12 * 60 + 1, noon), noon + 60000);
	assert_int_equal(ax_clock_next(ax_tz_utc(), 12 * 60, noon), noon + 86400000); /* due at 12:00: tomorrow */
	assert_int_equal(ax_clock_next(ax_tz_utc(), 6 * 60, noon), noon + 18 * 3600000);
}

static void test_what_is_wrong_and_when_to_look(void **state)
{
	(void)state;
	struct ax_task_def def = ax_def_preset();
	struct ax_run run = { .status = AX_RUN_WAITING, .must_end_time = 9000 };
	assert_int_equal(ax_watch_next(&run, &def), 9000);
	assert_false(ax_watch_look(&run, &def, 8999).overran);
	assert_true(ax_watch_look(&run, &def, 9000).overran); /* late although it never began */
	def.expected_seconds = 5;
	def.stall_seconds = 2;
	assert_int_equal(ax_watch_next(&run, &def), 9000);
	run.status = AX_RUN_RUNNING;
	run.start_time = run.progress_time = 1000;
	assert_int_equal(ax_watch_next(&run, &def), 3000);
	assert_true(ax_watch_look(&run, &def, 3000).stalled);
	run.stalled = true;
	assert_int_equal(ax_watch_next(&run, &def), 6000);
	assert_false(ax_watch_look(&run, &def, 6000).stalled); /* said once */
	assert_true(ax_watch_look(&run, &def, 6000).overran);
	run.overran = true;
	assert_int_equal(ax_watch_next(&run, &def), 0);
	assert_false(ax_watch_look(&run, &def, 9000).overran);
	run.stalled = run.overran = false;
	run.status = AX_RUN_SUCCESS;
	assert_int_equal(ax_watch_next(&run, &def), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_of_the_day),
		cmocka_unit_test(test_the_next_such_time_lies_after_the_due_instant),
		cmocka_unit_test(test_what_is_wrong_and_when_to_look),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
