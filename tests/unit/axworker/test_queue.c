#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/attr.h"
#include "base/num.h"
#include "queue.h"

static void test_urgent_first_then_in_order_of_arrival(void **state)
{
	(void)state;
	struct axw_queue q = { 0 };
	struct axw_queue_item low = { 0 };
	struct axw_queue_item first = { 0 };
	struct axw_queue_item second = { 0 };
	struct axw_queue_item high = { 0 };
	axw_queue_push(&q, &low, 1000, 1);
	axw_queue_push(&q, &first, 1000, 5);
	axw_queue_push(&q, &second, 1000, 5);
	axw_queue_push(&q, &high, 1000, 10);
	assert_ptr_equal(axw_queue_pop(&q), &high);
	assert_ptr_equal(axw_queue_pop(&q), &first);
	assert_ptr_equal(axw_queue_pop(&q), &second);
	assert_ptr_equal(axw_queue_pop(&q), &low);
	assert_null(axw_queue_pop(&q));
	axw_queue_done(&q);
}

static void test_waiting_makes_up_for_priority(void **state)
{
	(void)state;
	struct axw_queue q = { 0 };
	struct axw_queue_item old = { 0 };
	struct axw_queue_item young = { 0 };
	axw_queue_push(&q, &old, 0, 1);
	axw_queue_push(&q, &young, 9 * 60000 + 1, 10);
	assert_ptr_equal(axw_queue_pop(&q), &old);
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
			axw_queue_push(&q, item, (int64_t)(random >> 40 & 0xfffff), (int)(random >> 20 & 7));
		} else if (random >> 60 & 1) {
			axw_queue_remove(&q, item);
			assert_true(item->at == 0);
		} else {
			struct axw_queue_item *least = NULL;
			for (int i = 0; i < N; i++) {
				if (items[i].at &&
					(!least || items[i].rank < least->rank ||
						(items[i].rank == least->rank && items[i].order < least->order)))
					least = &items[i];
			}
			assert_ptr_equal(axw_queue_pop(&q), least);
			assert_true(least->at == 0);
		}
	}
	axw_queue_done(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urgent_first_then_in_order_of_arrival),
		cmocka_unit_test(test_waiting_makes_up_for_priority),
		cmocka_unit_test(test_any_order_of_pushes_pops_and_removals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
