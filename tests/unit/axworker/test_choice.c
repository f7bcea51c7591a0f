#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "choice.h"

#define GOOD(ms)                                                                                                       \
	{                                                                                                              \
		.open = true, .trusted = true, .answer_ms = (ms)                                                       \
	}
#define BUSY(ms)                                                                                                       \
	{                                                                                                              \
		.open = true, .trusted = true, .busy = true, .answer_ms = (ms)                                         \
	}
#define DOUBTFUL(ms)                                                                                                   \
	{                                                                                                              \
		.open = true, .answer_ms = (ms)                                                                        \
	}
#define HANGS(ms)                                                                                                      \
	{                                                                                                              \
		.open = true, .busy = true, .answer_ms = (ms)                                                          \
	}
#define SHUT(ms)                                                                                                       \
	{                                                                                                              \
		.answer_ms = (ms)                                                                                      \
	}

static int choose(const struct axw_standing servers[3], int giver)
{
	return axw_choose(servers, 3, giver);
}

static void test_the_giver_while_it_is_well(void **state)
{
	(void)state;
	struct axw_standing servers[] = { GOOD(1), GOOD(9), GOOD(5) };
	assert_int_equal(choose(servers, 1), 1);
	assert_int_equal(choose(servers, 2), 2);
	assert_int_equal(choose(servers, AXW_NOBODY), 0);
}

static void test_else_the_fastest_that_is_well(void **state)
{
	(void)state;
	struct axw_standing doubtful[] = { GOOD(9), DOUBTFUL(1), GOOD(5) };
	assert_int_equal(choose(doubtful, 1), 2);
	struct axw_standing hangs[] = { GOOD(3), HANGS(1), GOOD(5) };
	assert_int_equal(choose(hangs, 1), 0);
	struct axw_standing shut[] = { SHUT(1), SHUT(1), GOOD(500) };
	assert_int_equal(choose(shut, 0), 2);
}

/* What comes meanwhile goes with its next report. */
static void test_one_that_is_well_and_busy_is_waited_for(void **state)
{
	(void)state;
	struct axw_standing giver[] = { GOOD(1), BUSY(9), GOOD(5) };
	assert_int_equal(choose(giver, 1), AXW_NOBODY);
	struct axw_standing fastest[] = { BUSY(1), DOUBTFUL(1), GOOD(5) };
	assert_int_equal(choose(fastest, 1), AXW_NOBODY);
}

static void test_when_none_is_well_any_that_listens(void **state)
{
	(void)state;
	struct axw_standing none[] = { DOUBTFUL(9), DOUBTFUL(3), DOUBTFUL(5) };
	assert_int_equal(choose(none, 0), 0);
	assert_int_equal(choose(none, AXW_NOBODY), 1);
	struct axw_standing one[] = { HANGS(1), SHUT(1), DOUBTFUL(5) };
	assert_int_equal(choose(one, 0), 2);
	assert_int_equal(choose(one, 1), 2);
	struct axw_standing all_hang[] = { HANGS(1), SHUT(1), HANGS(5) };
	assert_int_equal(choose(all_hang, 0), AXW_NOBODY);
	struct axw_standing all_shut[] = { SHUT(1), SHUT(1), SHUT(1) };
	assert_int_equal(choose(all_shut, 2), AXW_NOBODY);
}

/* One server is its own only choice, whatever became of its last report. */
static void test_a_single_server(void **state)
{
	(void)state;
	struct axw_standing good = GOOD(1), doubtful = DOUBTFUL(9), hangs = HANGS(1), shut = SHUT(0);
	assert_int_equal(axw_choose(&good, 1, 0), 0);
	assert_int_equal(axw_choose(&doubtful, 1, 0), 0);
	assert_int_equal(axw_choose(&doubtful, 1, AXW_NOBODY), 0);
	assert_int_equal(axw_choose(&hangs, 1, 0), AXW_NOBODY);
	assert_int_equal(axw_choose(&shut, 1, 0), AXW_NOBODY);
}

/* That a lone run began is told before its result is on the disk. */
static void test_what_comes_alone_after_a_silence_waits_for_nobody(void **state)
{
	(void)state;
	assert_int_equal(axw_gather_ms(true, 20, 0), 0);
	assert_int_equal(axw_gather_ms(true, INT64_MAX, 400), 0);
}

static void test_what_comes_together_or_one_after_the_other_is_gathered(void **state)
{
	(void)state;
	assert_int_equal(axw_gather_ms(false, INT64_MAX, 0), 2);
	assert_int_equal(axw_gather_ms(true, 19, 0), 2);
	assert_int_equal(axw_gather_ms(true, 0, 40), 10);
	assert_int_equal(axw_gather_ms(false, 1000, 4000), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_giver_while_it_is_well),
		cmocka_unit_test(test_else_the_fastest_that_is_well),
		cmocka_unit_test(test_one_that_is_well_and_busy_is_waited_for),
		cmocka_unit_test(test_when_none_is_well_any_that_listens),
		cmocka_unit_test(test_a_single_server),
		cmocka_unit_test(test_what_comes_alone_after_a_silence_waits_for_nobody),
		cmocka_unit_test(test_what_comes_together_or_one_after_the_other_is_gathered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
