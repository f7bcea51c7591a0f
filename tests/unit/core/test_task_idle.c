#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/task_def.h"
#include "core/task_idle.h"

static struct ax_idle idle[AX_IDLE_MAX];

static void test_presets_are_no_fault(void **state)
{
	(void)state;
	struct ax_task_def def = ax_def_preset();
	assert_int_equal(ax_def_idle(&def, idle), 0);
	def.task_type = AX_TASK_EVENT;
	def.broadcast = true;
	def.retry_count = 0;
	def.lost_fails = true;
	assert_int_equal(ax_def_idle(&def, idle), 0);
}

static void test_what_counts_only_beside_another_is_named(void **state)
{
	(void)state;
	struct ax_task_def def = ax_def_preset();
	def.overlap_max = 7;
	def.route_key = "customer";
	def.retry_delays = "60 300";
	def.window_seconds = 5;
	assert_int_equal(ax_def_idle(&def, idle), 4);
	assert_string_equal(idle[0].field, "window_seconds");
	assert_string_equal(idle[0].needs, "cron_expr");
	assert_string_equal(idle[1].field, "retry_delays");
	assert_string_equal(idle[2].field, "route_key");
	assert_string_equal(idle[3].field, "overlap_max");
	def.overlap = AX_OVERLAP_ALLOW;
	def.route = AX_ROUTE_HASH;
	def.retry_backoff = AX_BACKOFF_LIST;
	def.cron_expr = "@daily";
	assert_int_equal(ax_def_idle(&def, idle), 0);
	def.retry_count = 0;
	assert_int_equal(ax_def_idle(&def, idle), 2); /* the list, and that it is one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets_are_no_fault),
		cmocka_unit_test(test_what_counts_only_beside_another_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
