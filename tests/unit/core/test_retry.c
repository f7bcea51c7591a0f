/* How long a run waits between its tries, and which failures are tried again. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/attr.h"
#include "core/retry.h"
#include "core/task_def.h"

/* B129 */
static void test_exponential_doubles_up_to_its_cap(void **state)
{
	(void)state;
	static const int64_t minutes[] = { 1, 2, 4, 8, 16, 30, 30, 30 };
	struct ax_task_def def = ax_def_preset();
	for (size_t n = 0; n < AX_COUNT(minutes); n++) {
		int64_t whole = minutes[n] * 60000, low = INT64_MAX, high = 0;
		for (uint64_t r = 0; r < 100000; r += 7) {
			int64_t delay = ax_retry_delay_ms(&def, (int64_t)n, r * 2654435761u);
			low = AX_MIN(low, delay);
			high = AX_MAX(high, delay);
		}
		assert_in_range(low, whole * 9 / 10, whole * 91 / 100);
		assert_in_range(high, whole * 109 / 100, whole * 11 / 10);
	}
	def.retry_jitter_percent = 0;
	assert_int_equal(ax_retry_delay_ms(&def, 1000000, 0), 1800000);
	def.retry_delay_seconds = 7;
	def.retry_cap_seconds = 20;
	assert_int_equal(ax_retry_delay_ms(&def, 1, 0), 14000);
	assert_int_equal(ax_retry_delay_ms(&def, 2, 0), 20000);
	def.retry_delay_seconds = 86400; /* above the cap: the cap */
	assert_int_equal(ax_retry_delay_ms(&def, 0, 0), 20000);
}

static void test_fixed_and_listed_waits(void **state)
{
	(void)state;
	struct ax_task_def def = ax_def_preset();
	def.retry_jitter_percent = 0;
	def.retry_backoff = AX_BACKOFF_FIXED;
	def.retry_delay_seconds = 5;
	assert_int_equal(ax_retry_delay_ms(&def, 0, 9), 5000);
	assert_int_equal(ax_retry_delay_ms(&def, 99, 9), 5000);
	assert_int_equal(ax_retry_time(&def, 0, 9, 1000), 6000);
	assert_int_equal(ax_retry_time(&def, 0, 9, 1001), 6100);
	def.retry_backoff = AX_BACKOFF_LIST;
	def.retry_delays = "10 0 300";
	static const int64_t waits[] = { 10000, 0, 300000, 300000, 300000 };
	for (size_t n = 0; n < AX_COUNT(waits); n++)
		assert_int_equal(ax_retry_delay_ms(&def, (int64_t)n, 9), waits[n]);
	assert_int_equal(ax_retry_time(&def, 1, 9, 1001), 1001); /* at once */
	def.retry_jitter_percent = 100;
	for (uint64_t r = 0; r < 50000; r += 3)
		assert_in_range(ax_retry_delay_ms(&def, 0, r), 0, 20000);
}

static void test_only_these_codes(void **state)
{
	(void)state;
	assert_true(ax_retry_on("", 1));
	assert_true(ax_retry_on("75", 75));
	assert_false(ax_retry_on("75", 7));
	assert_true(ax_retry_on("0, 75 ,500-599", 0));
	assert_true(ax_retry_on("0,75,500-599", 500));
	assert_true(ax_retry_on("0,75,500-599", 599));
	assert_false(ax_retry_on("0,75,500-599", 600));
	assert_false(ax_retry_on("0,75,500-599", -1));
}

static void test_rules_that_cannot_be_read(void **state)
{
	(void)state;
	static const char *const bad[] = { " ", ",", "1,", ",1", "1,,2", "5-", "-5", "5-4", "65536", "a", "1 2",
		"1-2-3", "01" };
	for (size_t i = 0; i < AX_COUNT(bad); i++) {
		struct ax_err err = { 0 };
		if (ax_retry_on_check(bad[i], &err) != AX_INVALID)
			fail_msg("'%s' was taken", bad[i]);
		assert_string_equal(err.field, "retry_on");
	}
	assert_int_equal(ax_retry_on_check("", NULL), AX_OK);
	assert_int_equal(ax_retry_on_check("0, 1-255 , 500-599", NULL), AX_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exponential_doubles_up_to_its_cap),
		cmocka_unit_test(test_fixed_and_listed_waits),
		cmocka_unit_test(test_only_these_codes),
		cmocka_unit_test(test_rules_that_cannot_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
