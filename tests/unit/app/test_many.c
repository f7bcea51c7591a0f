/* More rows than one transaction takes: deletes, pauses, releases, lost workers, late fires. */

#include "world.h"

#include "app/groups.h"
#include "app/tasks.h"
#include "app/workers.h"
#include "core/limits.h"
#include "port/mem_store.h"
#include "port/row.h"

enum { MANY = 2 * AX_BATCH + 50 };

static int64_t trigger_at(struct world *w, int64_t id, int64_t run_at)
{
	return trigger_how(w, (struct ax_trigger){ .task_id = id, .run_at = run_at }).gid;
}

/* A delay task with so many runs that are due in a minute. */
static int64_t make_pile(struct world *w, int n, void (*change)(struct ax_task_def *def))
{
	int64_t id = make_task(w, "", change);
	for (int i = 0; i < n; i++)
		trigger_at(w, id, w->now + 60000);
	return id;
}

static int count_held(struct world *w, int64_t id, enum ax_hold hold)
{
	const struct ax_run *run;
	int n = 0;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		n += run->task_id == id && run->status == AX_RUN_WAITING && run->hold == hold;
	return n;
}

/* Looks, without anything that comes due. */
static void go_on(struct world *w)
{
	for (int i = 0; i < 10; i++)
		go(w, 1);
}

/* Deletes by force; returns how many runs that wrote. */
static int64_t end_task(struct world *w, int64_t id, enum ax_status wanted)
{
	int64_t written = w->ctx.written;
	assert_int_equal(ax_task_delete(&w->ctx, id, true, "test", NULL), wanted);
	return w->ctx.written - written;
}

static void test_a_delete_of_many_goes_on_by_itself(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	int64_t id = make_pile(w, MANY, NULL);
	assert_int_equal(ax_task_delete(&w->ctx, id, false, "test", &err), AX_CONFLICT);
	assert_non_null(strstr(err.msg, "at least 200 runs"));
	assert_int_equal(end_task(w, id, AX_CONFLICT), AX_BATCH);
	assert_int_equal(count_runs(w, id, AX_RUN_CANCELLED), AX_BATCH);
	assert_true(task_row(w, id).ending);
	assert_int_equal(task_row(w, id).status, AX_TASK_DELETING);
	int64_t written = w->ctx.written;
	int64_t next = go(w, 1);        /* two batches */
	assert_int_equal(next, w->now); /* and at once again */
	assert_int_equal(w->ctx.written - written, MANY - AX_BATCH);
	go_on(w);
	assert_int_equal(count_runs(w, id, AX_RUN_CANCELLED), MANY);
	assert_string_equal(find_run(w, id, AX_RUN_CANCELLED, MANY - 1).reason, "task_deleted");
	assert_false(task_row(w, id).ending);
	assert_int_equal(end_task(w, id, AX_OK), 0);
}

static void test_a_delete_outlives_a_crash(void **state)
{
	struct world *w = *state;
	int64_t id = make_pile(w, 5 * AX_BATCH, NULL), other = make_pile(w, MANY, NULL);
	end_task(w, id, AX_CONFLICT);
	end_task(w, other, AX_CONFLICT);
	go(w, 1);
	assert_true(task_row(w, id).ending);
	restart(w);
	go_on(w);
	assert_int_equal(count_runs(w, id, AX_RUN_CANCELLED), 5 * AX_BATCH);
	assert_int_equal(count_runs(w, other, AX_RUN_CANCELLED), MANY);
	end_task(w, id, AX_OK);
	end_task(w, other, AX_OK);
}

/* Asked twice, or a third time, it does no harm: each time is a batch. */
static void test_a_delete_that_is_asked_again(void **state)
{
	struct world *w = *state;
	int64_t id = make_pile(w, MANY, NULL);
	for (int i = 0; i < MANY / AX_BATCH; i++)
		assert_int_equal(end_task(w, id, AX_CONFLICT), AX_BATCH);
	end_task(w, id, AX_OK);
	assert_int_equal(count_runs(w, id, AX_RUN_CANCELLED), MANY);
	go_on(w);
}

/* Held by the overlap rule, at a worker, waiting, by hand: nothing is given out any more. */
static void test_nothing_is_given_out_while_a_task_ends(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	struct ax_task task;
	struct ax_run run;
	bool existed;
	int64_t id = make_pile(w, MANY, NULL);
	for (int i = 0; i < 4; i++)
		go(w, 30000);
	assert_int_equal(count_held(w, id, AX_HOLD_NONE), 1);
	assert_int_equal(count_held(w, id, AX_HOLD_OVERLAP), MANY - 1);
	end_task(w, id, AX_CONFLICT);
	assert_int_equal(count_held(w, id, AX_HOLD_NONE), 0);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 0);
	struct ax_trigger ask = { .task_id = id, .params = "", .key = "" };
	assert_int_equal(ax_task_trigger(&w->ctx, &ask, &run, &existed, NULL), AX_CONFLICT);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_ENABLED, "test", &task, NULL, NULL), AX_CONFLICT);
	go_on(w);
	assert_int_equal(count_runs(w, id, AX_RUN_CANCELLED), MANY);
	end_task(w, id, AX_OK);
}

static void test_a_task_that_ends_waits_for_its_worker(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	int64_t id = make_pile(w, MANY, NULL);
	for (int i = 0; i < 4; i++)
		go(w, 30000);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	end_task(w, id, AX_CONFLICT);
	go_on(w);
	assert_int_equal(count_runs(w, id, AX_RUN_CANCELLED), MANY - 1);
	assert_int_equal(run_row(w, order.run.gid).cancel, AX_CANCEL_ASKED);
	assert_false(task_row(w, id).ending);
	end_task(w, id, AX_CONFLICT);
	result(w, "w1", &order.run, AX_OUTCOME_CANCELLED);
	end_task(w, id, AX_OK);
}

/* The newest is due first: those that wait for it have smaller ids. */
static void test_the_overlap_rule_counts_beyond_a_batch(void **state)
{
	struct world *w = *state;
	struct ax_order orders[10];
	int64_t id = make_pile(w, MANY, NULL), first = trigger_at(w, id, w->now + 1000);
	go(w, 1000);
	assert_int_equal(poll(w, "w1", "i1", 5, orders, NULL), 1);
	assert_int_equal(orders[0].run.gid, first);
	report(w, "w1", AX_ITEM_STARTED, &orders[0].run);
	for (int i = 0; i < 3; i++)
		go(w, 20000);
	go_on(w);
	assert_int_equal(count_held(w, id, AX_HOLD_OVERLAP), MANY);
	result(w, "w1", &orders[0].run, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_held(w, id, AX_HOLD_OVERLAP), MANY - 1);
	assert_int_equal(poll(w, "w1", "i1", 5, orders, NULL), 1);
}

static void three_at_once(struct ax_task_def *def)
{
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 3;
}

/* A pause and a resume touch those that the rule lets be, whatever waits behind them; then they go in order. */
static void test_a_pause_of_many(void **state)
{
	struct world *w = *state;
	struct ax_order orders[10];
	struct ax_task task;
	struct ax_runs given;
	int64_t id = make_pile(w, MANY, three_at_once), last = 0;
	for (int i = 0; i < 3; i++)
		go(w, 30000);
	assert_int_equal(poll(w, "w1", "i1", 1, orders, NULL), 1);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "test", &task, &given, NULL), AX_OK);
	assert_int_equal(given.n, 1);
	assert_int_equal(given.at[0].gid, orders[0].run.gid);
	assert_int_equal(count_held(w, id, AX_HOLD_PAUSED), 2);
	assert_int_equal(count_held(w, id, AX_HOLD_OVERLAP), MANY - 3);
	assert_int_equal(poll(w, "w1", "i1", 10, orders + 1, NULL), 0);
	result(w, "w1", &orders[0].run, AX_OUTCOME_SUCCESS);
	assert_int_equal(poll(w, "w1", "i1", 10, orders + 1, NULL), 0);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_ENABLED, "test", &task, NULL, NULL), AX_OK);
	for (int done = 1; done < MANY;) {
		int n = poll(w, "w1", "i1", 10, orders, NULL);
		assert_int_equal(n, AX_MIN(3, MANY - done));
		for (int i = 0; i < n; i++, done++) {
			assert_true(orders[i].run.gid > last);
			last = orders[i].run.gid;
		}
		for (int i = 0; i < n; i++)
			result(w, "w1", &orders[i].run, AX_OUTCOME_SUCCESS);
	}
	assert_int_equal(count_runs(w, id, AX_RUN_SUCCESS), MANY);
}

static void a_thousand_at_once(struct ax_task_def *def)
{
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 1000;
}

/* Gives so many runs to the worker. */
static void give_many(struct world *w, const char *incarnation, int n, int64_t *ids, int n_tasks)
{
	struct ax_group wide = ax_group_preset("default");
	struct ax_order *orders = ax_alloc_array(&w->arena, (size_t)n, sizeof(*orders));
	wide.dispatch_quota = wide.worker_backlog = 10000;
	assert_int_equal(ax_group_update(&w->ctx, &wide, &wide, NULL), AX_OK);
	for (int i = 0; i < n_tasks; i++)
		ids[i] = make_task(w, "@hourly", a_thousand_at_once);
	for (int i = 0; i < n; i++)
		trigger_at(w, ids[i % n_tasks], 0);
	for (int given = 0; given < n;) {
		int got = poll(w, "w1", incarnation, n - given, orders, NULL);
		assert_true(got > 0);
		given += got;
	}
}

static int count_given(struct world *w)
{
	const struct ax_run *run;
	int n = 0;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		n += ax_run_is_given_out(run->status);
	return n;
}

static void test_a_worker_with_many_runs_restarts(void **state)
{
	struct world *w = *state;
	int64_t ids[2];
	give_many(w, "i1", AX_SWEEP_WRITES + 50, ids, 2);
	register_worker(w, "w1", "i2", 10);
	assert_int_equal(count_given(w), 50); /* their leases end */
	w->now += AX_LEASE_MS;                /* it may have been our own silence: the server waits as long again */
	for (int i = 0; i < 20 && count_given(w) > 0; i++)
		go(w, 5000);
	assert_int_equal(count_given(w), 0);
	assert_int_equal(
		count_runs(w, ids[0], AX_RUN_WAITING) + count_runs(w, ids[1], AX_RUN_WAITING), AX_SWEEP_WRITES + 50);
}

static void test_a_worker_with_many_runs_leaves(void **state)
{
	struct world *w = *state;
	int64_t ids[2];
	give_many(w, "i1", AX_SWEEP_WRITES + 50, ids, 2);
	assert_int_equal(ax_worker_leave(&w->ctx, "w1", "i1", NULL), AX_OK);
	assert_int_equal(count_given(w), 50);
	assert_int_equal(ax_worker_forget(&w->ctx, "w1", NULL), AX_CONFLICT);
	w->now += AX_LEASE_MS;
	for (int i = 0; i < 20 && count_given(w) > 0; i++)
		go(w, 5000);
	assert_int_equal(count_given(w), 0);
	assert_int_equal(ax_worker_forget(&w->ctx, "w1", NULL), AX_OK);
}

static void each_late_fire(struct ax_task_def *def)
{
	def->misfire = AX_MISFIRE_FIRE_ALL;
	def->window_seconds = 86400;
}

static void test_a_pause_does_not_make_up_thousands(void **state)
{
	struct world *w = *state;
	struct ax_task task;
	struct ax_err err;
	int64_t id = make_task(w, "@every 1s", each_late_fire);
	go_quiet(w, 3000 * 1000);
	int64_t written = w->ctx.written;
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "test", &task, NULL, &err), AX_CONFLICT);
	assert_true(w->ctx.written - written <= AX_SWEEP_WRITES + AX_FIRE_ALL_MAX);
	for (int i = 0; i < 20; i++)
		go(w, 1);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "test", &task, NULL, &err), AX_OK);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 3000);
}

/* What an edit would end in its transaction is bounded, and then it changes nothing. */
static void test_an_edit_to_skip_does_not_end_thousands(void **state)
{
	struct world *w = *state;
	struct ax_task changed;
	struct ax_err err;
	int64_t id = make_task(w, "@every 1s", each_late_fire);
	go_quiet(w, 3000 * 1000);
	for (int i = 0; i < 40; i++)
		go(w, 1);
	struct ax_task task = task_row(w, id);
	struct ax_task_def def = task.def;
	def.overlap = AX_OVERLAP_SKIP;
	assert_int_equal(ax_task_update(&w->ctx, id, task.version, &def, "test", &changed, &err), AX_CONFLICT);
	assert_string_equal(err.field, "overlap");
	assert_int_equal(task_row(w, id).version, task.version);
	assert_int_equal(count_held(w, id, AX_HOLD_OVERLAP), 2999);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_delete_of_many_goes_on_by_itself),
		TEST(test_a_delete_outlives_a_crash),
		TEST(test_a_delete_that_is_asked_again),
		TEST(test_nothing_is_given_out_while_a_task_ends),
		TEST(test_a_task_that_ends_waits_for_its_worker),
		TEST(test_the_overlap_rule_counts_beyond_a_batch),
		TEST(test_a_pause_of_many),
		TEST(test_a_worker_with_many_runs_restarts),
		TEST(test_a_worker_with_many_runs_leaves),
		TEST(test_a_pause_does_not_make_up_thousands),
		TEST(test_an_edit_to_skip_does_not_end_thousands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
