#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/hints.h"

/* A store that begins every transaction once more before it ends as it was told to. */
struct fake_store {
	struct ax_store port;
	enum ax_status end;
};

static enum ax_status run_twice(
	struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	(void)arena;
	(void)fn(NULL, arg, err);
	enum ax_status status = fn(NULL, arg, err);
	return status == AX_OK ? ((struct fake_store *)store)->end : status;
}

static const struct ax_store_ops fake_ops = { run_twice };

static enum ax_status say_all(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_notify *notify = arg;
	struct ax_run run = {
		.gid = 7, .task_id = 3, .kind = AX_KIND_SCHEDULE, .status = AX_RUN_SUCCESS, .worker = "w", .parent = 0
	};
	(void)tx;
	(void)err;
	notify->ops->task_changed(notify, 3);
	notify->ops->run_changed(notify, &run);
	notify->ops->worker_changed(notify, "w");
	notify->ops->group_ready(notify, "g");
	return AX_OK;
}

static struct ax_hints *say_in(struct ax_collector *collector, struct fake_store *store, enum ax_status end)
{
	*store = (struct fake_store){ { .ops = &fake_ops }, end };
	ax_collector_init(collector, &store->port);
	collector->hints = ax_hints_new();
	assert_int_equal(ax_store_run(&collector->store, NULL, say_all, &collector->port, NULL), end);
	return collector->hints;
}

static void test_said_once_however_often_it_was_begun(void **state)
{
	(void)state;
	struct ax_collector collector;
	struct fake_store store;
	struct ax_hints *h = say_in(&collector, &store, AX_OK);
	assert_int_equal(h->n_tasks, 1);
	assert_int_equal(h->n_runs, 1);
	assert_int_equal(h->n_workers, 1);
	assert_int_equal(h->n_groups, 1);
	assert_true(h->due_soon);
	assert_int_equal(h->counts.ended[AX_RUN_SUCCESS], 1);

	/* a second transaction of the same commit adds to it */
	assert_int_equal(ax_store_run(&collector.store, NULL, say_all, &collector.port, NULL), AX_OK);
	assert_int_equal(h->counts.ended[AX_RUN_SUCCESS], 2);
	ax_hints_free(h);
}

static const struct ax_run waiting = {
	.gid = 7, .task_id = 3, .kind = AX_KIND_SCHEDULE, .status = AX_RUN_WAITING, .worker = "", .group_key = "g"
};

static enum ax_status say_held(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_notify *notify = arg;
	struct ax_run run = waiting;
	(void)tx;
	(void)err;
	run.hold = AX_HOLD_OVERLAP;
	notify->ops->run_made(notify, &run);
	return AX_OK;
}

static enum ax_status say_let_go(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_notify *notify = arg;
	(void)tx;
	(void)err;
	notify->ops->run_changed(notify, &waiting);
	return AX_OK;
}

static void say(struct ax_collector *collector, struct fake_store *store, ax_tx_fn fn, enum ax_status end)
{
	store->end = end;
	assert_int_equal(ax_store_run(&collector->store, NULL, fn, &collector->port, NULL), end);
}

static void test_a_fire_counts_when_it_is_made_alone(void **state)
{
	(void)state;
	struct ax_collector collector;
	struct fake_store store;
	struct ax_hints *h = say_in(&collector, &store, AX_OK);
	say(&collector, &store, say_held, AX_OK);
	say(&collector, &store, say_let_go, AX_OK);
	assert_int_equal(h->counts.fires, 1);
	ax_hints_free(h);
}

static void test_a_group_is_fresh_when_a_run_waits_for_a_worker(void **state)
{
	(void)state;
	struct ax_collector collector;
	struct fake_store store;
	struct ax_hints *h = say_in(&collector, &store, AX_OK);
	say(&collector, &store, say_held, AX_OK); /* for another run */
	assert_int_equal(h->n_fresh, 0);
	say(&collector, &store, say_let_go, AX_CONFLICT);
	assert_int_equal(h->n_fresh, 0);
	say(&collector, &store, say_let_go, AX_OK);
	assert_int_equal(h->n_fresh, 1);
	assert_string_equal(h->fresh[0], "g");
	ax_collector_served(&collector);
	assert_int_equal(h->n_fresh, 0);
	ax_hints_free(h);
}

static void test_not_said_when_taken_back(void **state)
{
	(void)state;
	struct ax_collector collector;
	struct fake_store store;
	struct ax_hints *h = say_in(&collector, &store, AX_CONFLICT);
	assert_true(ax_hints_empty(h));
	assert_int_equal(h->counts.ended[AX_RUN_SUCCESS], 0);
	ax_hints_free(h);
}

static void test_said_when_nobody_knows(void **state)
{
	(void)state;
	struct ax_collector collector;
	struct fake_store store;
	struct ax_hints *h = say_in(&collector, &store, AX_UNCERTAIN);
	assert_int_equal(h->n_runs, 1);
	ax_hints_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_said_once_however_often_it_was_begun),
		cmocka_unit_test(test_a_fire_counts_when_it_is_made_alone),
		cmocka_unit_test(test_a_group_is_fresh_when_a_run_waits_for_a_worker),
		cmocka_unit_test(test_not_said_when_taken_back),
		cmocka_unit_test(test_said_when_nobody_knows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
