#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/alarm.h"
#include "server/ports.h"

struct bell {
	struct ax_alarm alarm;
	uv_loop_t loop;
	int rings;
	int64_t rang_ms;
};

static void ring(void *user, bool clock_was_set)
{
	struct bell *bell = user;
	(void)clock_was_set;
	bell->rings++;
	bell->rang_ms = ax_sys_wall_ms();
	ax_alarm_close(&bell->alarm);
}

static void hang_up(struct bell *bell)
{
	assert_int_equal(uv_loop_init(&bell->loop), 0);
	assert_int_equal(ax_alarm_open(&bell->alarm, &bell->loop, ring, bell, NULL), AX_OK);
}

static void run_to_the_end(struct bell *bell)
{
	uv_run(&bell->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&bell->loop), 0);
	ax_alarm_close(&bell->alarm); /* once more does nothing */
}

static void test_it_does_not_ring_before_its_millisecond(void **state)
{
	(void)state;
	for (int64_t in_ms = 0; in_ms < 5; in_ms++) {
		struct bell bell = { 0 };
		hang_up(&bell);
		int64_t due_ms = ax_sys_wall_ms() + in_ms;
		ax_alarm_set(&bell.alarm, in_ms);
		run_to_the_end(&bell);
		assert_int_equal(bell.rings, 1);
		assert_true(bell.rang_ms >= due_ms);
	}
}

static void test_it_rings_once_for_what_it_was_set_to_last(void **state)
{
	(void)state;
	struct bell bell = { 0 };
	hang_up(&bell);
	ax_alarm_set(&bell.alarm, 3600000);
	ax_alarm_set(&bell.alarm, 1);
	run_to_the_end(&bell);
	assert_int_equal(bell.rings, 1);
}

static void test_closed_it_is_silent(void **state)
{
	(void)state;
	struct bell bell = { 0 };
	hang_up(&bell);
	ax_alarm_set(&bell.alarm, 0);
	ax_alarm_close(&bell.alarm);
	run_to_the_end(&bell);
	assert_int_equal(bell.rings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_does_not_ring_before_its_millisecond),
		cmocka_unit_test(test_it_rings_once_for_what_it_was_set_to_last),
		cmocka_unit_test(test_closed_it_is_silent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
