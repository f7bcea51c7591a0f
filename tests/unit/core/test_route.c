#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/attr.h"
#include "core/route.h"
#include "core/task_def.h"

static struct ax_candidate worker(const char *name)
{
	return (struct ax_candidate){ .name = name, .room = true, .places = 10 };
}

static const char *chosen(enum ax_routing route, const struct ax_candidate *c, int n, uint64_t key, bool patient)
{
	int i = ax_route_choose(route, c, n, key, patient);
	return i == AX_ROUTE_NOBODY ? "nobody" : i == AX_ROUTE_WAIT ? "wait" : c[i].name;
}

#define CHOSEN(route, c) chosen(route, c, (int)AX_COUNT(c), 1, true)

static void test_least_busy_goes_by_the_share_of_its_places(void **state)
{
	(void)state;
	struct ax_candidate c[] = { worker("a"), worker("b"), worker("c") };
	c[0].given = 3;
	c[1].given = 2;
	c[2].given = 4;
	c[2].places = 100;
	assert_string_equal(CHOSEN(AX_ROUTE_LEAST_BUSY, c), "c");
	c[2].room = false;
	assert_string_equal(CHOSEN(AX_ROUTE_LEAST_BUSY, c), "b");
	/* equals take turns */
	c[0].given = 2;
	c[0].given_order = 8;
	c[1].given_order = 9;
	assert_string_equal(CHOSEN(AX_ROUTE_LEAST_BUSY, c), "a");
}

static void test_nobody_has_room(void **state)
{
	(void)state;
	struct ax_candidate c[] = { worker("a"), worker("b") };
	c[0].room = c[1].room = false;
	for (int route = 0; route <= AX_ROUTE_FAILOVER; route++) {
		const char *patient = ax_route_waits((enum ax_routing)route) ? "wait" : "nobody";
		assert_string_equal(chosen((enum ax_routing)route, c, 2, 1, true), patient);
		assert_string_equal(chosen((enum ax_routing)route, c, 2, 1, false), "nobody");
		assert_string_equal(chosen((enum ax_routing)route, c, 0, 1, true), "nobody");
	}
}

static void test_round_robin_goes_round_and_passes_over_the_full(void **state)
{
	(void)state;
	struct ax_candidate c[] = { worker("c"), worker("a"), worker("b") };
	static const char *const order[] = { "a", "b", "c", "a", "b" };
	for (int turn = 0; turn < (int)AX_COUNT(order); turn++) {
		int i = ax_route_choose(AX_ROUTE_ROUND_ROBIN, c, 3, 1, true);
		assert_string_equal(c[i].name, order[turn]);
		c[i].turn_order = turn + 1;
	}
	c[0].room = false; /* after b it were c's turn */
	assert_string_equal(CHOSEN(AX_ROUTE_ROUND_ROBIN, c), "a");
}

static void test_first_and_last_wait_for_theirs(void **state)
{
	(void)state;
	struct ax_candidate c[] = { worker("b"), worker("a"), worker("c") };
	assert_string_equal(CHOSEN(AX_ROUTE_FIRST, c), "a");
	assert_string_equal(CHOSEN(AX_ROUTE_LAST, c), "c");
	c[1].room = c[2].room = false;
	assert_string_equal(CHOSEN(AX_ROUTE_FIRST, c), "wait");
	assert_string_equal(CHOSEN(AX_ROUTE_LAST, c), "wait");
	assert_string_equal(chosen(AX_ROUTE_FIRST, c, 3, 1, false), "b");
	assert_string_equal(chosen(AX_ROUTE_LAST, c, 3, 1, false), "b");
}

static void test_lru_and_lfu(void **state)
{
	(void)state;
	struct ax_candidate c[] = { worker("a"), worker("b"), worker("c") };
	c[0].given_order = 7;
	c[1].given_order = 3;
	c[2].given_order = 5;
	c[0].use = 1000;
	c[1].use = 9000;
	c[2].use = 1000;
	assert_string_equal(CHOSEN(AX_ROUTE_LRU, c), "b");
	assert_string_equal(CHOSEN(AX_ROUTE_LFU, c), "c"); /* as seldom as a, but longer ago */
	c[1].room = false;
	assert_string_equal(CHOSEN(AX_ROUTE_LRU, c), "c");
}

static void test_use_fades(void **state)
{
	(void)state;
	int64_t use = 0, time = 0;
	for (int i = 0; i < 8; i++)
		ax_route_count_use(&use, &time, 1000);
	assert_int_equal(use, 8000);
	assert_int_equal(ax_route_use(use, time, 60999), 8000);
	assert_int_equal(ax_route_use(use, time, 61000), 4000);
	assert_int_equal(ax_route_use(use, time, 500), 8000); /* the clock went back */
	ax_route_count_use(&use, &time, 61000 + 59999);
	assert_int_equal(use, 5000);
	assert_int_equal(ax_route_use(use, time, 121000), 2500); /* the second minute is not begun anew */
	assert_int_equal(ax_route_use(use, time, INT64_MAX), 0);
}

static void test_a_failed_over_run_goes_elsewhere(void **state)
{
	(void)state;
	struct ax_candidate c[] = { worker("a"), worker("b") };
	struct ax_run run = { .worker = "a" };
	assert_false(ax_route_avoids(AX_ROUTE_FAILOVER, &run, "a"));
	run.fence = 1;
	assert_true(ax_route_avoids(AX_ROUTE_FAILOVER, &run, "a"));
	assert_false(ax_route_avoids(AX_ROUTE_FAILOVER, &run, "b"));
	assert_false(ax_route_avoids(AX_ROUTE_HASH, &run, "a"));
	run.bounce_times = 1; /* nobody there accepted it: that holds for every policy */
	assert_true(ax_route_avoids(AX_ROUTE_HASH, &run, "a"));
	c[0].avoid = true;
	for (int route = 0; route <= AX_ROUTE_FAILOVER; route++)
		assert_string_equal(CHOSEN((enum ax_routing)route, c), "b");
	/* but rather there than nowhere */
	assert_string_equal(chosen(AX_ROUTE_FAILOVER, c, 1, 1, true), "a");
	c[1].room = false;
	assert_string_equal(CHOSEN(AX_ROUTE_FAILOVER, c), "wait");
	assert_string_equal(CHOSEN(AX_ROUTE_LEAST_BUSY, c), "a");
}

enum { WORKERS = 8, KEYS = 8000 };

static void name_workers(struct ax_candidate c[WORKERS], char names[WORKERS][8])
{
	for (int i = 0; i < WORKERS; i++) {
		snprintf(names[i], 8, "w%d", i);
		c[i] = worker(names[i]);
	}
}

static void test_hash_spreads_and_moves_only_what_it_must(void **state)
{
	(void)state;
	struct ax_candidate c[WORKERS];
	char names[WORKERS][8];
	int hits[WORKERS] = { 0 };
	name_workers(c, names);
	for (uint64_t key = 0; key < KEYS; key++) {
		int all = ax_route_choose(AX_ROUTE_HASH, c, WORKERS, key, true);
		int without_last = ax_route_choose(AX_ROUTE_HASH, c, WORKERS - 1, key, true);
		hits[all]++;
		if (all < WORKERS - 1)
			assert_int_equal(without_last, all);
	}
	for (int i = 0; i < WORKERS; i++)
		assert_in_range(hits[i], KEYS / WORKERS * 8 / 10, KEYS / WORKERS * 12 / 10);
}

static void test_the_key(void **state)
{
	(void)state;
	struct ax_task_def def = ax_def_preset();
	struct ax_run run = { .gid = 5, .fence = 1, .task_id = 9, .params = "{\"customer\":\"x\"}" };
	struct ax_run other = run;
	other.gid = 6;
	def.biz_param = "{\"customer\":\"y\"}";
	def.route = AX_ROUTE_RANDOM;
	assert_true(ax_route_key(&def, &run) != ax_route_key(&def, &other));
	def.route = AX_ROUTE_HASH;
	assert_true(ax_route_key(&def, &run) == ax_route_key(&def, &other)); /* the task's */
	uint64_t of_task = ax_route_key(&def, &run);
	def.route_key = "customer";
	uint64_t x = ax_route_key(&def, &run);
	assert_true(x == ax_route_key(&def, &other) && x != of_task);
	run.params = "";
	uint64_t y = ax_route_key(&def, &run); /* the task's own parameter stands in */
	assert_true(y != x && y != of_task);
	def.route_key = "nothing";
	assert_true(ax_route_key(&def, &run) == of_task);
}

static void test_tags(void **state)
{
	(void)state;
	static const char tags[] = "{\"zone\":\"a\",\"disk\":\"ss\\\"d\"}";
	assert_true(ax_route_tags_match("", "w1", tags));
	assert_true(ax_route_tags_match("{\"zone\":\"a\"}", "w1", tags));
	assert_true(ax_route_tags_match("{\"disk\":\"ss\\\"d\",\"zone\":\"a\"}", "w1", tags));
	assert_false(ax_route_tags_match("{\"zone\":\"b\"}", "w1", tags));
	assert_false(ax_route_tags_match("{\"zone\":\"a\",\"gpu\":\"1\"}", "w1", tags));
	assert_false(ax_route_tags_match("{\"zone\":\"a\"}", "w1", "{}"));
	assert_true(ax_route_tags_match("{\"worker\":\"w1\"}", "w1", "{}"));
	assert_false(ax_route_tags_match("{\"worker\":\"w1\"}", "w10", "{\"worker\":\"w1\"}"));
	struct ax_task_def def = ax_def_preset();
	assert_string_equal(ax_route_demand(&def), "");
	def.route_tags = "{}";
	assert_string_equal(ax_route_demand(&def), "");
	def.route_tags = "{\"zone\":\"a\"}";
	assert_string_equal(ax_route_demand(&def), def.route_tags);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least_busy_goes_by_the_share_of_its_places),
		cmocka_unit_test(test_nobody_has_room),
		cmocka_unit_test(test_round_robin_goes_round_and_passes_over_the_full),
		cmocka_unit_test(test_first_and_last_wait_for_theirs),
		cmocka_unit_test(test_lru_and_lfu),
		cmocka_unit_test(test_use_fades),
		cmocka_unit_test(test_a_failed_over_run_goes_elsewhere),
		cmocka_unit_test(test_hash_spreads_and_moves_only_what_it_must),
		cmocka_unit_test(test_the_key),
		cmocka_unit_test(test_tags),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
