#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/axis.h"

enum { BASE = 1000000 };

static struct ax_axis axis_of(int64_t from_ms, int64_t to_ms, int64_t store_ms)
{
	struct ax_axis axis = { 0 };
	ax_axis_sample(&axis, from_ms, to_ms, store_ms);
	return axis;
}

static void test_nothing_is_known_before_the_first_sample(void **state)
{
	(void)state;
	struct ax_axis axis = { 0 };
	assert_int_equal(ax_axis_judge(&axis, 0), AX_AXIS_LOST);
}

static void test_bounded_by_the_round_trip(void **state)
{
	(void)state;
	struct ax_axis axis = axis_of(500, 520, BASE + 510);
	assert_int_equal(ax_axis_base(&axis), BASE);
	assert_int_equal(ax_axis_error(&axis, 520), 11);
	assert_int_equal(ax_axis_judge(&axis, 520), AX_AXIS_SURE);
}

static void test_a_slow_sample_is_asked_for_again(void **state)
{
	(void)state;
	struct ax_axis axis = axis_of(0, 600, BASE + 600); /* the answer took long, not the question */
	assert_int_equal(ax_axis_judge(&axis, 600), AX_AXIS_ASK);
	ax_axis_sample(&axis, 700, 702, BASE + 701);
	assert_int_equal(ax_axis_judge(&axis, 702), AX_AXIS_SURE);
	assert_in_range(ax_axis_base(&axis), BASE - 2, BASE + 2);
}

static void test_beyond_a_second_nothing_fires(void **state)
{
	(void)state;
	struct ax_axis axis = axis_of(0, 2100, BASE + 1000);
	assert_int_equal(ax_axis_judge(&axis, 2100), AX_AXIS_LOST);
}

static void test_a_slow_sample_does_not_blur_a_good_one(void **state)
{
	(void)state;
	struct ax_axis axis = axis_of(0, 2, BASE + 1);
	ax_axis_sample(&axis, 1000, 1800, BASE + 1790);
	assert_int_equal(ax_axis_judge(&axis, 1800), AX_AXIS_SURE);
	assert_in_range(ax_axis_base(&axis), BASE - 4, BASE + 4);
}

static void test_without_samples_it_drifts_away(void **state)
{
	(void)state;
	struct ax_axis axis = axis_of(0, 2, BASE + 1);
	assert_int_equal(ax_axis_judge(&axis, 60 * 1000), AX_AXIS_SURE);
	assert_int_equal(ax_axis_judge(&axis, 10 * 60 * 1000), AX_AXIS_ASK);
	assert_int_equal(ax_axis_judge(&axis, 60 * 60 * 1000), AX_AXIS_LOST);
}

static void test_drift_is_followed(void **state)
{
	(void)state;
	struct ax_axis axis = axis_of(0, 2, BASE + 1);
	for (int64_t s = 1; s <= 1000; s++) { /* 0.2 ms a second */
		ax_axis_sample(&axis, s * 1000, s * 1000 + 2, BASE + s * 1000 + 1 + s / 5);
		assert_int_equal(ax_axis_judge(&axis, s * 1000 + 2), AX_AXIS_SURE);
		assert_in_range(ax_axis_base(&axis), BASE + s / 5 - 4, BASE + s / 5 + 4);
	}
}

/* The store's clock was set, or another machine took its place. */
static void test_a_step_has_to_be_confirmed(void **state)
{
	(void)state;
	static const int64_t steps[] = { 5000, -5000, 3600000 };
	for (int i = 0; i < 3; i++) {
		struct ax_axis axis = axis_of(0, 2, BASE + 1);
		ax_axis_sample(&axis, 1000, 1002, BASE + steps[i] + 1001);
		assert_int_equal(ax_axis_judge(&axis, 1002), AX_AXIS_ASK);
		ax_axis_sample(&axis, 1010, 1012, BASE + steps[i] + 1011);
		assert_int_equal(ax_axis_judge(&axis, 1012), AX_AXIS_SURE);
		assert_in_range(ax_axis_base(&axis), BASE + steps[i] - 2, BASE + steps[i] + 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known_before_the_first_sample),
		cmocka_unit_test(test_bounded_by_the_round_trip),
		cmocka_unit_test(test_a_slow_sample_is_asked_for_again),
		cmocka_unit_test(test_beyond_a_second_nothing_fires),
		cmocka_unit_test(test_a_slow_sample_does_not_blur_a_good_one),
		cmocka_unit_test(test_without_samples_it_drifts_away),
		cmocka_unit_test(test_drift_is_followed),
		cmocka_unit_test(test_a_step_has_to_be_confirmed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
