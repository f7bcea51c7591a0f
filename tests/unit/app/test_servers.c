/* Several servers at one store: what they hold each other up with. */

#include <stdio.h>
#include <stdlib.h>

#include "app/calendars.h"
#include "app/groups.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "app/tick.h"
#include "app/workers.h"
#include "port/mem_store.h"
#include "port/row.h"
#include "port/wrap_trace.h"
#include "world.h"

/* The world's store, with another server at work: seen from a transaction of ours. */
struct beside {
	struct ax_store store;
	struct world *w;
	ax_tx_fn fn;
	void *arg;
	const struct ax_tx_ops *real;
	struct ax_tx_ops ops;
	bool holds_tasks;                   /* the other one has locked what is due */
	int64_t waits_ms;                   /* for a group that the other one has locked */
	int64_t quota_left;                 /* that the other one leaves until then; -1 = all */
	bool holds_runs;                    /* that wait */
	int64_t parent_ms;                  /* for a parent that the other one has locked */
	const struct ax_task *makes;        /* while it holds the calendar that we wait for */
	int reads, locks;                   /* since it was asked */
	bool has_worker, waits_with_worker; /* locked by this transaction; and then a run */
};
static struct beside beside;

static enum ax_status tasks_due(
	struct ax_tx *tx, int64_t until, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	return beside.real->tasks_due(tx, until, beside.holds_tasks ? 0 : limit, ret_tasks, err);
}

static enum ax_status group_get(
	struct ax_tx *tx, const char *key, bool for_update, struct ax_group *ret_group, struct ax_err *err)
{
	beside.reads++;
	beside.locks += for_update;
	if (for_update)
		beside.w->now += beside.waits_ms;
	enum ax_status status = beside.real->group_get(tx, key, for_update, ret_group, err);
	if (for_update && beside.quota_left >= 0)
		ret_group->running = ret_group->dispatch_quota - beside.quota_left;
	return status;
}

static enum ax_status worker_get(
	struct ax_tx *tx, const char *name, bool for_update, struct ax_worker *ret_worker, struct ax_err *err)
{
	beside.reads++;
	beside.locks += for_update;
	beside.has_worker = beside.has_worker || for_update;
	return beside.real->worker_get(tx, name, for_update, ret_worker, err);
}

static enum ax_status workers_by_name(
	struct ax_tx *tx, const struct ax_names *names, bool hold, struct ax_workers *ret_workers, struct ax_err *err)
{
	beside.reads++;
	beside.locks += hold;
	beside.has_worker = beside.has_worker || hold;
	return beside.real->workers_by_name(tx, names, hold, ret_workers, err);
}

static enum ax_status group_workers_by_name(struct ax_tx *tx, const char *group_key, const struct ax_names *names,
	bool for_update, struct ax_worker_groups *ret_parts, struct ax_err *err)
{
	beside.reads++;
	beside.locks += for_update;
	return beside.real->group_workers_by_name(tx, group_key, names, for_update, ret_parts, err);
}

static enum ax_status run_get(
	struct ax_tx *tx, int64_t gid, bool for_update, struct ax_run *ret_run, struct ax_err *err)
{
	beside.waits_with_worker = beside.waits_with_worker || (for_update && beside.has_worker);
	enum ax_status status = beside.real->run_get(tx, gid, for_update, ret_run, err);
	if (status == AX_OK && for_update && ax_run_is_parent(ret_run))
		beside.w->now += beside.parent_ms;
	return status;
}

static enum ax_status runs_claimable(struct ax_tx *tx, const char *group_key, const char *executor_key,
	enum ax_run_lane lane, const char *demand, int64_t after_rank, int64_t after_gid, int limit,
	struct ax_runs *ret_runs, struct ax_err *err)
{
	return beside.real->runs_claimable(tx, group_key, executor_key, lane, demand, after_rank, after_gid,
		beside.holds_runs ? 0 : limit, ret_runs, err);
}

static enum ax_status calendar_get(
	struct ax_tx *tx, const char *name, bool for_update, struct ax_calendar_row *ret_calendar, struct ax_err *err)
{
	int64_t id;
	if (for_update && beside.makes != NULL)
		assert_int_equal(beside.real->task_insert(tx, beside.makes, &id, NULL), AX_OK);
	return beside.real->calendar_get(tx, name, for_update, ret_calendar, err);
}

static enum ax_status call(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	beside.real = tx->ops;
	beside.ops = *tx->ops;
	beside.ops.tasks_due = tasks_due;
	beside.ops.group_get = group_get;
	beside.ops.worker_get = worker_get;
	beside.ops.workers_by_name = workers_by_name;
	beside.ops.group_workers_by_name = group_workers_by_name;
	beside.ops.runs_claimable = runs_claimable;
	beside.ops.run_get = run_get;
	beside.ops.calendar_get = calendar_get;
	beside.has_worker = false;
	tx->ops = &beside.ops;
	enum ax_status status = beside.fn(tx, beside.arg, err);
	tx->ops = beside.real;
	return status;
}

static enum ax_status run(struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	(void)store;
	beside.fn = fn;
	beside.arg = arg;
	return ax_store_run(ax_mem_store_port(beside.w->mem), arena, call, NULL, err);
}

static int set_up(void **state)
{
	static const struct ax_store_ops ops = { run };
	world_up(state);
	struct world *w = *state;
	beside = (struct beside){ .store = { .ops = &ops }, .w = w, .quota_left = -1 };
	w->ctx.store = &beside.store;
	return 0;
}

static int64_t trigger_new(struct world *w)
{
	return trigger(w, make_task(w, "", NULL)).gid;
}

/* What is due and locked by another one is no reason to look again at once, and again. */
static void test_what_another_one_holds_is_left_alone_for_a_moment(void **state)
{
	struct world *w = *state;
	make_task(w, "@every 1m", NULL);
	int64_t next = go(w, 60000);
	assert_true(next > w->now);
	go_quiet(w, 60000);
	beside.holds_tasks = true;
	next = go(w, 0);
	assert_in_range(next - w->now, 5, 100);
	beside.holds_tasks = false;
	assert_true(go(w, next - w->now) > w->now);
}

/* While this server waited for the group, its clock went on: a run that came due meanwhile is not given out early. */
static void test_a_claim_that_waited_is_as_late_as_it_is(void **state)
{
	struct world *w = *state;
	int64_t gid = trigger_new(w);
	int64_t due = w->now;
	beside.waits_ms = 300;
	struct ax_order order;
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(run_row(w, gid).dispatch_time, due + 300);
}

static struct ax_poll poll_of(int64_t slots)
{
	return (struct ax_poll){
		.worker = "w1", .incarnation = "i1", .free = { { .group_key = "default", .slots = slots } }, .n_free = 1
	};
}

/* A poll that was looked at is looked at again only where something is said to be ready, and that is one look at the
 * queue. Nothing is locked before there is something to give. */
static void test_a_look_that_finds_nothing_locks_nothing(void **state)
{
	struct world *w = *state;
	struct ax_poll asks = poll_of(1);
	bool any;
	assert_int_equal(ax_polls_look(&w->ctx, &asks, 1, &any, NULL), AX_OK);
	assert_false(any);
	assert_int_equal(beside.locks, 0);
	trigger_new(w);
	beside.reads = beside.locks = 0;
	asks.known = asks.free[0].idle = true;
	assert_int_equal(ax_polls_look(&w->ctx, &asks, 1, &any, NULL), AX_OK);
	assert_false(any);
	asks.free[0].idle = false;
	assert_int_equal(ax_polls_look(&w->ctx, &asks, 1, &any, NULL), AX_OK);
	assert_true(any);
	assert_int_equal(beside.reads, 0);
}

/* The first look at a group that is full, or whose runs others hold, ends there. */
static void test_who_can_give_nothing_locks_nothing(void **state)
{
	struct world *w = *state;
	trigger_new(w);
	struct ax_poll asks = poll_of(1);
	beside.locks = 0;
	beside.holds_runs = true;
	serve_polls(w, &asks, 1);
	assert_int_equal(asks.n_orders, 0);
	assert_int_equal(asks.free[0].again_ms, AX_AGAIN_HELD); /* the other one may let go of it, and say nothing */
	assert_int_equal(beside.locks, 0);
	beside.holds_runs = false;
	serve_polls(w, &asks, 1);
	assert_int_equal(asks.n_orders, 1);
	assert_int_equal(asks.free[0].again_ms, AX_AGAIN_NEVER);
}

/* What was chosen by a count that is old by the time the group is locked. */
static void test_another_server_was_faster(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 3; i++)
		trigger_new(w);
	struct ax_poll asks = poll_of(3);
	beside.quota_left = 2;
	serve_polls(w, &asks, 1);
	assert_int_equal(asks.n_orders, 2);
	assert_int_equal(asks.free[0].again_ms, AX_AGAIN_NOW);
	beside.quota_left = -1;
	asks = poll_of(3);
	serve_polls(w, &asks, 1);
	assert_int_equal(asks.n_orders, 1);
}

/* Who waits for a run, or for its task, while it holds the worker's row holds up everybody who hears of the worker. */
static void test_a_report_holds_no_worker(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	trigger_new(w);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	go_quiet(w, 6000);
	assert_int_equal(report(w, "w1", AX_ITEM_STARTED, &order.run), AX_VERDICT_APPLIED);
	assert_false(beside.waits_with_worker);
	const struct ax_worker *worker = ax_mem_store_at(w->mem, &ax_worker_row, 0);
	assert_int_equal(worker->seen_time, w->now);
}

static int64_t creep(struct ax_clock *clock)
{
	static int64_t ms;
	(void)clock;
	return ms += 50;
}

static int64_t stand(struct ax_clock *clock)
{
	(void)clock;
	return T0;
}

/* Others wait for what it holds: what is left is given out in turns of its own. */
static void test_a_turn_over_a_slow_store_is_short(void **state)
{
	static const struct ax_clock_ops slow = { stand, creep };
	struct world *w = *state;
	struct ax_clock clock = { &slow };
	int given = 0, turns = 0;
	for (int i = 0; i < 10; i++)
		trigger_new(w);
	w->ctx.clock = &clock;
	for (; turns < 10 && given < 10; turns++) {
		struct ax_poll asks = poll_of(10);
		serve_polls(w, &asks, 1);
		assert_in_range(asks.n_orders, 1, 4);
		given += asks.n_orders;
		assert_int_equal(asks.free[0].again_ms, given < 10 ? AX_AGAIN_NOW : AX_AGAIN_NEVER);
	}
	assert_int_equal(given, 10);
}

/* A store that is far away: each operation is a trip. */
struct distant {
	struct ax_log log;
	struct ax_trace_store trace;
	struct ax_clock clock;
	int trips;
	int64_t trip_ms, mono_ms;
};
static struct distant distant;

static void count_trip(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	(void)log, (void)level, (void)fields;
	distant.trips += strcmp(name, "store.op") == 0;
	distant.mono_ms += strcmp(name, "store.op") == 0 ? distant.trip_ms : 0;
}

static int64_t travel(struct ax_clock *clock)
{
	(void)clock;
	return distant.mono_ms;
}

static void go_far(struct world *w, int64_t trip_ms)
{
	static const struct ax_log_ops log_ops = { count_trip };
	static const struct ax_clock_ops clock_ops = { stand, travel };
	distant = (struct distant){ .log = { &log_ops }, .clock = { &clock_ops }, .trip_ms = trip_ms };
	ax_trace_store_init(&distant.trace, ax_mem_store_port(w->mem), &distant.log);
	w->ctx.store = &distant.trace.store;
	w->ctx.clock = &distant.clock;
}

/* Trips of the look and of the claim of one run, for the first n of three workers that ask. */
static int count_trips(struct world *w, int n, bool known)
{
	static const char *const names[] = { "w1", "w2", "w3" };
	struct ax_poll asking[AX_COUNT(names)];
	int given = 0;
	trigger_new(w);
	for (int i = 0; i < n; i++) {
		asking[i] = poll_of(1);
		asking[i].worker = names[i];
		asking[i].known = known;
	}
	distant.trips = 0;
	serve_polls(w, asking, n);
	for (int i = 0; i < n; i++)
		given += asking[i].n_orders;
	assert_int_equal(given, 1);
	return distant.trips;
}

/* What is asked about workers is asked about all of them at once. */
static void test_more_polls_are_no_more_trips(void **state)
{
	struct world *w = *state;
	register_worker(w, "w2", "i1", 10);
	register_worker(w, "w3", "i1", 10);
	go_far(w, 0);
	int least = count_trips(w, 1, true);
	assert_int_equal(count_trips(w, 3, true), least);
	assert_int_equal(count_trips(w, 1, false), least + 2); /* the worker, and what it shall stop */
	assert_int_equal(count_trips(w, 3, false), least + 2);
	ax_trace_store_done(&distant.trace);
}

/* Where a trip takes as long as a turn may read about its runs, it would be all trips for one run. */
static void test_a_turn_over_a_distant_store_is_worth_its_trips(void **state)
{
	struct world *w = *state;
	struct ax_poll asks = poll_of(10);
	for (int i = 0; i < 10; i++)
		trigger_new(w);
	go_far(w, 250);
	serve_polls(w, &asks, 1);
	assert_in_range(asks.n_orders, 4, 5); /* for 1000 ms: others wait, however far it is */
	assert_int_equal(asks.free[0].again_ms, AX_AGAIN_NOW);
	asks = poll_of(10);
	distant.trip_ms = 50;
	serve_polls(w, &asks, 1);
	assert_in_range(asks.n_orders, 5, 6);
	ax_trace_store_done(&distant.trace);
}

/* What a worker gets so late that it does not begin it is given to nobody else for 15 s. */
static void test_a_poll_that_is_answered_too_late_gets_nothing(void **state)
{
	struct world *w = *state;
	struct ax_poll asking[2] = { poll_of(1), poll_of(1) };
	register_worker(w, "w2", "i1", 10);
	int64_t gid = trigger_new(w);
	go_far(w, 400);
	asking[0].stale_mono = 5000;
	serve_polls(w, asking, 1);
	assert_int_equal(asking[0].n_orders, 0);
	assert_int_equal(asking[0].free[0].again_ms, AX_AGAIN_HELD);
	assert_int_equal(run_row(w, gid).fence, 0);
	asking[1].worker = "w2";
	asking[1].stale_mono = distant.mono_ms + 12000;
	serve_polls(w, asking, 2);
	assert_int_equal(asking[0].n_orders, 0);
	assert_int_equal(asking[1].n_orders, 1);
	assert_true(distant.mono_ms < asking[1].stale_mono);
	trigger_new(w);
	distant.trip_ms = 1;
	asking[0].stale_mono = distant.mono_ms + 300;
	serve_polls(w, asking, 1);
	assert_int_equal(asking[0].n_orders, 1);
	ax_trace_store_done(&distant.trace);
}

enum { FAR_GROUPS = 16 };
static const char *key_of_new;

static void move_to_group(struct ax_task_def *def)
{
	def->group_key = key_of_new;
}

/* Groups g0, g1, … with runs that wait, all in one poll. */
static struct ax_poll poll_of_groups(struct world *w, int n, int runs)
{
	static char keys[FAR_GROUPS][8];
	struct ax_worker_group parts[FAR_GROUPS];
	struct ax_poll asks = { .worker = "w3", .incarnation = "i1", .n_free = n };
	for (int g = 0; g < n; g++) {
		snprintf(keys[g], sizeof(keys[g]), "g%d", g);
		struct ax_group group = ax_group_preset(keys[g]), made;
		assert_int_equal(ax_group_create(&w->ctx, &group, &made, NULL), AX_OK);
		parts[g] = (struct ax_worker_group){ .group_key = keys[g], .pool_size = 10 };
		asks.free[g].group_key = keys[g];
		asks.free[g].slots = 1;
		key_of_new = keys[g];
		for (int i = 0; i < runs; i++)
			trigger(w, make_task(w, "", move_to_group));
	}
	struct ax_registration reg = {
		.worker = { .name = "w3",
			.incarnation = "i1",
			.executors = "exec",
			.tags = "{}",
			.version = "",
			.address = "" },
		.groups = parts,
		.n_groups = n,
	};
	assert_int_equal(ax_worker_register(&w->ctx, &reg, NULL), AX_OK);
	return asks;
}

/* What is given in the first turn is answered behind the last one. */
static void test_many_groups_of_a_distant_store_are_not_waited_for(void **state)
{
	struct world *w = *state;
	struct ax_poll asks = poll_of_groups(w, FAR_GROUPS, FAR_GROUPS);
	int given[FAR_GROUPS] = { 0 }, calls = 0;
	go_far(w, 50);
	for (; calls < FAR_GROUPS; calls++) {
		int64_t then = distant.mono_ms;
		struct ax_poll again = asks; /* the same worker, answered, asks anew */
		serve_polls(w, &again, 1);
		assert_true(distant.mono_ms - then < 5000);
		assert_true(again.n_orders > 0 && again.n_orders < FAR_GROUPS);
		for (int i = 0; i < again.n_orders; i++)
			given[atoi(again.orders[i].run.group_key + 1)]++;
		for (int g = 0, asked = 0; g < FAR_GROUPS; g++, asked = 0) {
			for (int i = 0; i < again.n_orders; i++)
				asked += strcmp(again.orders[i].run.group_key, asks.free[g].group_key) == 0;
			assert_true(asked > 0 || again.free[g].again_ms == AX_AGAIN_NOW);
		}
	}
	/* although all of them have something all the time */
	for (int g = 1; g < FAR_GROUPS; g++)
		assert_in_range(given[g], given[0] - 1, given[0] + 1);
	ax_trace_store_done(&distant.trace);
}

/* What several workers shall stop is found together, and each is told its own. */
static void test_each_worker_hears_what_it_shall_stop(void **state)
{
	struct world *w = *state;
	struct ax_poll asking[3] = { poll_of(0), poll_of(0), poll_of(0) };
	struct ax_order orders[2][3];
	register_worker(w, "w2", "i1", 10);
	for (int i = 0; i < 5; i++) {
		trigger_new(w);
		assert_int_equal(poll(w, i < 3 ? "w1" : "w2", "i1", 1, &orders[i / 3][i % 3], NULL), 1);
	}
	for (int i = 0; i < 5; i++) {
		struct ax_run run;
		if (i != 1)
			assert_int_equal(ax_run_cancel(&w->ctx, orders[i / 3][i % 3].run.gid, "", &run, NULL), AX_OK);
	}
	asking[1].worker = "w2";
	asking[2].worker = "w0";
	serve_polls(w, asking, 3);
	assert_int_equal(asking[0].n_stops, 2);
	assert_int_equal(asking[0].stops[0].gid, orders[0][0].run.gid);
	assert_int_equal(asking[0].stops[1].gid, orders[0][2].run.gid);
	assert_int_equal(asking[1].n_stops, 2);
	assert_int_equal(asking[1].stops[0].gid, orders[1][0].run.gid);
	assert_int_equal(asking[1].stops[1].gid, orders[1][1].run.gid);
	assert_int_equal(asking[2].status, AX_NOT_FOUND);
	assert_int_equal(asking[2].n_stops, 0);
	serve_polls(w, asking, 3); /* once is enough */
	assert_int_equal(asking[0].n_stops, 0);
}

static void in_a_moving_zone(struct ax_task_def *def)
{
	def->time_zone = "Test/Moving";
}

/* Zone data may lack on one server what they have on another: only a fire that nobody makes stops its task. */
static void test_a_zone_that_is_not_known_here_may_be_known_there(void **state)
{
	struct world *w = *state;
	w->moving = ax_tz_utc();
	int64_t task = make_task(w, "0 0 * * * ?", in_a_moving_zone);
	int64_t due = task_row(w, task).next_trigger_time;
	w->moving = NULL;
	go(w, due + 5000 - w->now);
	assert_int_equal(task_row(w, task).next_trigger_time, due);
	w->moving = ax_tz_utc();
	go(w, 1000);
	assert_int_equal(task_row(w, task).last_trigger_time, due);
	w->moving = NULL;
	go(w, due + 3600000 + 15000 - w->now);
	assert_int_equal(task_row(w, task).next_trigger_time, 0);
}

static void split(struct ax_task_def *def)
{
	def->shard_count = 2;
}

/* While the end of a shard waits for the parent, another server may end the shard beside it. */
static void test_a_parent_ends_no_earlier_than_its_shards(void **state)
{
	struct world *w = *state;
	struct ax_run parent = trigger(w, make_task(w, "", split));
	struct ax_order orders[2];
	assert_int_equal(poll(w, "w1", "i1", 2, orders, NULL), 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(report(w, "w1", AX_ITEM_STARTED, &orders[i].run), AX_VERDICT_APPLIED);
	assert_int_equal(result(w, "w1", &orders[0].run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	int64_t asked = w->now;
	beside.parent_ms = 400;
	assert_int_equal(result(w, "w1", &orders[1].run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	parent = run_row(w, parent.gid);
	assert_int_equal(parent.status, AX_RUN_SUCCESS);
	assert_true(parent.end_time >= asked + 400);
}

/* Who deletes a calendar looks who uses it when nobody can come to use it any more. */
static void test_a_calendar_that_another_server_gives_a_task_stays(void **state)
{
	struct world *w = *state;
	struct ax_calendar_def def = { .name = "c", .title = "", .content = { .week = AX_CALENDAR_WEEK } };
	struct ax_calendar_row row;
	struct ax_err err;
	assert_int_equal(ax_calendar_put(&w->ctx, &def, 0, "test", &row, NULL), AX_OK);
	struct ax_task task = task_row(w, make_task(w, "0 * * * *", NULL));
	task.def.task_name = "new";
	task.def.calendar = "c";
	beside.makes = &task;
	assert_int_equal(ax_calendar_delete(&w->ctx, "c", &err), AX_CONFLICT);
	assert_non_null(strstr(err.msg, "default/new"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_what_another_one_holds_is_left_alone_for_a_moment, set_up, world_down),
		cmocka_unit_test_setup_teardown(
			test_a_zone_that_is_not_known_here_may_be_known_there, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_a_claim_that_waited_is_as_late_as_it_is, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_a_look_that_finds_nothing_locks_nothing, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_who_can_give_nothing_locks_nothing, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_another_server_was_faster, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_a_parent_ends_no_earlier_than_its_shards, set_up, world_down),
		cmocka_unit_test_setup_teardown(
			test_a_calendar_that_another_server_gives_a_task_stays, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_a_report_holds_no_worker, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_a_turn_over_a_slow_store_is_short, set_up, world_down),
		cmocka_unit_test_setup_teardown(
			test_a_turn_over_a_distant_store_is_worth_its_trips, set_up, world_down),
		cmocka_unit_test_setup_teardown(
			test_many_groups_of_a_distant_store_are_not_waited_for, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_more_polls_are_no_more_trips, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_a_poll_that_is_answered_too_late_gets_nothing, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_each_worker_hears_what_it_shall_stop, set_up, world_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
