#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/attr.h"
#include "base/num.h"
#include "core/limits.h"
#include "queue.h"

/* As the server makes it. */
#define RANK(due, priority) ((int64_t)(due) - (priority) * (int64_t)AX_RANK_STEP_MS)

static void test_urgent_first_then_in_order_of_arrival(void **state)
{
	(void)state;
	struct axw_queue q = { 0 };
	struct axw_queue_item low = { 0 };
	struct axw_queue_item first = { 0 };
	struct axw_queue_item second = { 0 };
	struct axw_queue_item high = { 0 };
	axw_queue_push(&q, &low, RANK(1000, 1), false);
	axw_queue_push(&q, &first, RANK(1000, 5), false);
	axw_queue_push(&q, &second, RANK(1000, 5), false);
	axw_queue_push(&q, &high, RANK(1000, 10), false);
	assert_ptr_equal(axw_queue_pop(&q, true), &high);
	assert_ptr_equal(axw_queue_pop(&q, true), &first);
	assert_ptr_equal(axw_queue_pop(&q, true), &second);
	assert_ptr_equal(axw_queue_pop(&q, true), &low);
	assert_null(axw_queue_pop(&q, true));
	axw_queue_done(&q);
}

static void test_waiting_makes_up_for_priority(void **state)
{
	(void)state;
	struct axw_queue q = { 0 };
	struct axw_queue_item old = { 0 };
	struct axw_queue_item young = { 0 };
	axw_queue_push(&q, &old, RANK(0, 1), false);
	axw_queue_push(&q, &young, RANK(9 * 60000 + 1, 10), false);
	assert_ptr_equal(axw_queue_pop(&q, true), &old);
	axw_queue_done(&q);
}

/* B137: urgent work that never ends does not keep the least urgent waiting for more than nine steps. */
static void test_the_least_urgent_has_its_turn_b137(void **state)
{
	(void)state;
	static struct axw_queue_item urgent[600];
	struct axw_queue q = { 0 };
	struct axw_queue_item low = { 0 };
	axw_queue_push(&q, &low, RANK(0, 1), false);
	for (int64_t second = 0; second < 600; second++) { /* one comes, one goes, each second */
		axw_queue_push(&q, &urgent[second], RANK(second * 1000, 10), false);
		if (axw_queue_pop(&q, true) != &low)
			continue;
		assert_int_equal(second, 540);
		axw_queue_done(&q);
		return;
	}
	fail();
}

static void test_long_ones_only_when_they_may(void **state)
{
	(void)state;
	struct axw_queue q = { 0 };
	struct axw_queue_item export = { 0 }, later = { 0 }, payment = { 0 };
	axw_queue_push(&q, &export, 1, true);
	axw_queue_push(&q, &later, 3, true);
	axw_queue_push(&q, &payment, 2, false);
	assert_ptr_equal(axw_queue_pop(&q, false), &payment);
	assert_null(axw_queue_pop(&q, false));
	axw_queue_push(&q, &payment, 2, false);
	assert_ptr_equal(axw_queue_pop(&q, true), &export); /* of both lanes the lowest rank */
	assert_ptr_equal(axw_queue_pop(&q, true), &payment);
	axw_queue_remove(&q, &later);
	assert_null(axw_queue_pop(&q, true));
	axw_queue_done(&q);
}

/* Against a plain search for the least, with removals in the middle. */
static void test_any_order_of_pushes_pops_and_removals(void **state)
{
	(void)state;
	enum { N = 500, STEPS = 20000 };
	static struct axw_queue_item items[N];
	struct axw_queue q = { 0 };
	uint64_t random = 1;
	for (int step = 0; step < STEPS; step++) {
		random = ax_mix64(random + 1);
		struct axw_queue_item *item = &items[random % N];
		if (item->at == 0) {
			axw_queue_push(&q, item, (int64_t)(random >> 40 & 0xfffff), random >> 20 & 1);
		} else if (random >> 60 & 1) {
			axw_queue_remove(&q, item);
			assert_true(item->at == 0);
		} else {
			struct axw_queue_item *least = NULL;
			bool may_be_long = random >> 59 & 1;
			for (int i = 0; i < N; i++) {
				if (items[i].at && (may_be_long || !items[i].is_long) &&
					(!least || items[i].rank < least->rank ||
						(items[i].rank == least->rank && items[i].order < least->order)))
					least = &items[i];
			}
			assert_ptr_equal(axw_queue_pop(&q, may_be_long), least);
			assert_true(!least || least->at == 0);
		}
	}
	axw_queue_done(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urgent_first_then_in_order_of_arrival),
		cmocka_unit_test(test_waiting_makes_up_for_priority),
		cmocka_unit_test(test_the_least_urgent_has_its_turn_b137),
		cmocka_unit_test(test_long_ones_only_when_they_may),
		cmocka_unit_test(test_any_order_of_pushes_pops_and_removals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
