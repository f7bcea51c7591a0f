/* Faults that people met in other schedulers, by the numbers of tests/CASES.md: each test brings AX into the same
 * situation. */

#include "world.h"

#include "app/calendars.h"
#include "app/events.h"
#include "app/groups.h"
#include "app/recover.h"
#include "app/rezone.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "app/tick.h"
#include "app/workers.h"
#include "core/limits.h"
#include "port/mem_store.h"
#include "port/wrap_fault.h"

#define MINUTE INT64_C(60000)
#define HOUR INT64_C(3600000)
#define DAY INT64_C(86400000)

/* ---- helpers */

/* Ticks as a server does, second by second. */
static void live(struct world *w, int64_t seconds)
{
	for (int64_t i = 0; i < seconds; i++)
		go(w, 1000);
}

/* What the worker w1 is given; it must be one run. */
static struct ax_run claim(struct world *w)
{
	struct ax_order order;
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	return order.run;
}

static void claim_nothing(struct world *w)
{
	struct ax_order order;
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 0);
}

static struct ax_run begin(struct world *w, int64_t id)
{
	trigger(w, id);
	struct ax_run run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	return run;
}

static int64_t make_delay_task(struct world *w, int64_t overlap_max)
{
	struct ax_task task = task_row(w, make_task(w, "", NULL));
	task.def.overlap = AX_OVERLAP_ALLOW;
	task.def.overlap_max = overlap_max;
	assert_int_equal(ax_task_update(&w->ctx, task.id, 1, &task.def, "test", &task, NULL), AX_OK);
	return task.id;
}

static void set_status(struct world *w, int64_t id, enum ax_task_status status)
{
	struct ax_task task;
	assert_int_equal(ax_task_set_status(&w->ctx, id, status, "test", &task, NULL, NULL), AX_OK);
}

/* Runs of the task in any state. */
static int count_all(struct world *w, int64_t id)
{
	const struct ax_run *run;
	int n = 0;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		n += run->task_id == id;
	return n;
}

/* Fires of the task that rows account for: their own and those that they cover. */
static int64_t count_fires(struct world *w, int64_t id)
{
	const struct ax_run *run;
	int64_t n = 0;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		if (run->task_id == id)
			n += run->covers_count + (run->kind == AX_KIND_SCHEDULE);
	return n;
}

static void set_quota(struct world *w, int64_t quota)
{
	struct ax_group group = { .group_key = "default",
		.title = "",
		.contacts = "",
		.long_share_percent = 50,
		.defaults = "{}",
		.dispatch_quota = quota,
		.pool_size = 10,
		.version = 1 };
	assert_int_equal(ax_group_update(&w->ctx, &group, &group, NULL), AX_OK);
}

static void register_offering(struct world *w, const char *name, const char *executors)
{
	struct ax_worker_group group = { .group_key = "default", .pool_size = 10 };
	struct ax_registration reg = {
		.worker = { .name = name,
			.incarnation = "i1",
			.executors = executors,
			.tags = "{}",
			.version = "",
			.address = "" },
		.groups = &group,
		.n_groups = 1,
	};
	assert_int_equal(ax_worker_register(&w->ctx, &reg, NULL), AX_OK);
}

/* Alerts of the rule, open or over. */
static int count_alerts(struct world *w, enum ax_alert_rule rule)
{
	const struct ax_alert *alert;
	int n = 0;
	for (size_t i = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, i)) != NULL; i++)
		n += alert->rule == rule;
	return n;
}

static const struct ax_alert *alert_of(struct world *w, enum ax_alert_rule rule, int64_t task_id)
{
	const struct ax_alert *alert, *found = NULL;
	for (size_t i = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, i)) != NULL; i++)
		if (alert->rule == rule && alert->task_id == task_id)
			found = alert;
	assert_non_null(found);
	return found;
}

/* What the channels were told of alerts of the rule. */
static int count_told(struct world *w, enum ax_alert_rule rule, enum ax_delivery_kind kind)
{
	const struct ax_alert *alert;
	const struct ax_delivery *told;
	int n = 0;
	for (size_t i = 0; (told = ax_mem_store_at(w->mem, &ax_delivery_row, i)) != NULL; i++)
		for (size_t k = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, k)) != NULL; k++)
			n += alert->id == told->alert_id && alert->rule == rule && told->kind == kind;
	return n;
}

static enum ax_status insert_channel(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_channel *channel = arg;
	return tx->ops->channel_insert(tx, channel, &channel->id, err);
}

/* A channel that hears everything, reminded each hour. */
static void make_channel(struct world *w)
{
	struct ax_channel channel = {
		.name = "operators",
		.kind = AX_CHANNEL_WEBHOOK,
		.settings = "{}",
		.enabled = true,
		.rules = "",
		.group_keys = "",
		.time_zone = "UTC",
		.remind_seconds = 3600,
		.version = 1,
		.updated_by = "",
	};
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, insert_channel, &channel, NULL), AX_OK);
}

static void no_limit(struct ax_task_def *def)
{
	def->timeout_seconds = 0;
}

static void on_lost_fail(struct ax_task_def *def)
{
	def->timeout_seconds = 0;
	def->lost_fails = true;
}

static void wide_window(struct ax_task_def *def)
{
	def->window_seconds = 6 * 3600;
}

static void misfire_skip(struct ax_task_def *def)
{
	def->misfire = AX_MISFIRE_SKIP;
}

/* ---- one fire, one run */

struct op_plan {
	int op;
};

static struct ax_fault fail_op(void *arg)
{
	const struct op_plan *plan = arg;
	return (struct ax_fault){ .kind = AX_FAULT_OP, .status = AX_CONFLICT, .op = plan->op };
}

/* The row that moves a task's next fire on is not written, whichever operation it is that fails. */
static void test_b001_run_and_next_fire_are_written_together(void **state)
{
	struct world *w = *state;
	for (int op = 1; op <= 12; op++) {
		struct op_plan plan = { op };
		struct ax_fault_store faulty;
		int64_t id = make_task(w, "* * * * *", NULL), next;
		int64_t due = task_row(w, id).next_trigger_time;
		struct ax_store *sound = w->ctx.store;
		ax_fault_store_init(&faulty, sound, fail_op, &plan);
		w->ctx.store = &faulty.store;
		for (int i = 0; i < 6; i++) {
			w->now += 30000;
			(void)!ax_tick(&w->ctx, &next, NULL);
			w->ctx.store = sound;
			bool moved = task_row(w, id).next_trigger_time > due;
			assert_int_equal(count_all(w, id) > 0, moved);
			w->ctx.store = &faulty.store;
		}
		w->ctx.store = sound;
		go(w, 0);
		int64_t until = task_row(w, id).next_trigger_time;
		assert_true(until > w->now);
		assert_int_equal(count_fires(w, id), (until - due) / MINUTE);
		set_status(w, id, AX_TASK_PAUSED);
	}
}

static void test_b004_the_only_fire_comes_once(void **state)
{
	struct world *w = *state;
	int64_t ids[] = { make_task(w, "@at 2026-06-01T00:01:10Z", NULL), make_task(w, "10 1 0 1 6 ? 2026", NULL) };
	go(w, 70000);
	for (int i = 0; i < 20; i++) {
		if (i % 5 == 4)
			restart(w);
		go(w, 100);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(count_all(w, ids[i]), 1);
		assert_true(task_row(w, ids[i]).exhausted);
		assert_int_equal(task_row(w, ids[i]).next_trigger_time, 0);
	}
}

static void test_b006_a_delayed_run_is_nobodys_before_it_is_due(void **state)
{
	struct world *w = *state;
	struct ax_run run;
	bool existed;
	struct ax_trigger later = {
		.task_id = make_task(w, "", NULL), .params = "", .run_at = T0 + 10 * MINUTE, .key = ""
	};
	assert_int_equal(ax_task_trigger(&w->ctx, &later, &run, &existed, NULL), AX_OK);
	for (int i = 0; i < 10; i++) {
		claim_nothing(w);
		go(w, i < 9 ? MINUTE : MINUTE - 1);
	}
	claim_nothing(w);
	go(w, 1);
	struct ax_run given = claim(w);
	assert_int_equal(given.gid, run.gid);
	assert_int_equal(given.fence, 1);
	assert_int_equal(given.deadline_time, w->now + AX_ACCEPT_MS); /* its time starts here, not at its making */
}

static void test_b017_a_late_start_meets_no_other_run(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "*/5 * * * *", no_limit);
	go(w, 5 * MINUTE);
	go(w, 5 * MINUTE - 2000); /* the workers were away until just before the next fire */
	struct ax_run run = claim(w);
	assert_int_equal(run.trigger_time, T0 + 5 * MINUTE);
	report(w, "w1", AX_ITEM_STARTED, &run);
	go(w, 2000);
	claim_nothing(w);
	assert_int_equal(find_run(w, id, AX_RUN_WAITING, 0).hold, AX_HOLD_OVERLAP);
	/* away over a whole fire: it is counted on the run that waits, and one run starts */
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	go(w, 5 * MINUTE);
	run = claim(w);
	assert_int_equal(run.covers_count, 1);
	claim_nothing(w);
}

static void test_b018_asking_twice_does_it_once(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct ax_run first, row;
	bool existed;
	int64_t id = make_task(w, "@hourly", NULL);
	struct ax_run run = begin(w, id);
	result(w, "w1", &run, AX_OUTCOME_FAILED);
	assert_int_equal(ax_run_retry_now(&w->ctx, run.gid, &row, NULL), AX_OK);
	for (int i = 0; i < 19; i++)
		assert_int_equal(ax_run_retry_now(&w->ctx, run.gid, &row, &err), AX_CONFLICT);
	assert_int_equal(count_all(w, id), 1);
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &row, NULL), AX_OK);
	assert_int_equal(ax_run_rerun(&w->ctx, run.gid, "again", false, &first, NULL), AX_OK);
	struct ax_trigger keyed = { .task_id = id, .params = "", .key = "key" };
	struct ax_run by_key;
	assert_int_equal(ax_task_trigger(&w->ctx, &keyed, &by_key, &existed, NULL), AX_OK);
	for (int i = 0; i < 19; i++) {
		assert_int_equal(ax_run_rerun(&w->ctx, run.gid, "again", false, &row, NULL), AX_OK);
		assert_int_equal(row.gid, first.gid);
		assert_int_equal(ax_task_trigger(&w->ctx, &keyed, &row, &existed, NULL), AX_OK);
		assert_true(existed);
		assert_int_equal(row.gid, by_key.gid);
	}
	assert_int_equal(count_all(w, id), 3);
}

/* ---- servers that were away, clocks that jump */

static void test_b021_fires_while_the_server_was_down(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@hourly", NULL);
	go(w, HOUR - 30000);
	go_quiet(w, 150000);
	restart(w);
	go(w, 0);
	assert_int_equal(find_run(w, id, AX_RUN_WAITING, 0).trigger_time, T0 + HOUR);
	assert_int_equal(count_all(w, id), 1);
	struct ax_run run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	go(w, HOUR - 150000); /* 30 s before the next one */
	go_quiet(w, 930000);
	restart(w);
	go(w, 0);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 0);
	struct ax_run missed = find_run(w, id, AX_RUN_MISSED, 0);
	assert_int_equal(missed.covers_from, T0 + 2 * HOUR);
	assert_int_equal(missed.covers_count, 1);
	assert_int_equal(count_all(w, id), 2);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 3 * HOUR);
}

static void test_b026_a_stall_of_95_seconds_drops_nothing(void **state)
{
	struct world *w = *state;
	int64_t once = make_task(w, "* * * * *", NULL), skip = make_task(w, "* * * * *", misfire_skip);
	go(w, MINUTE - 5000);
	go_quiet(w, 95000);
	go(w, 0);
	struct ax_run run = find_run(w, once, AX_RUN_WAITING, 0);
	assert_int_equal(run.trigger_time, T0 + 2 * MINUTE);
	assert_int_equal(run.create_time - run.trigger_time, 30000);
	assert_int_equal(run.covers_count, 1);
	assert_int_equal(count_all(w, once), 1);
	assert_int_equal(find_run(w, skip, AX_RUN_SKIPPED, 0).covers_count, 1);
	assert_int_equal(count_all(w, skip), 1);
	go(w, 30000);
	assert_int_equal(count_fires(w, once), 3);
	assert_int_equal(find_run(w, skip, AX_RUN_WAITING, 0).trigger_time, T0 + 3 * MINUTE);
}

struct outage {
	bool on;
};

static struct ax_fault plan_outage(void *arg)
{
	const struct outage *outage = arg;
	return (struct ax_fault){ .kind = outage->on ? AX_FAULT_BEFORE : AX_FAULT_NONE, .status = AX_UNAVAILABLE };
}

static void test_b030_outages_change_no_tasks_status(void **state)
{
	struct world *w = *state;
	struct ax_fault_store faulty;
	struct outage outage = { false };
	int64_t ids[20], next;
	for (int i = 0; i < 20; i++)
		ids[i] = make_task(w, "@every 10s", NULL);
	set_status(w, ids[0], AX_TASK_PAUSED);
	struct ax_store *sound = w->ctx.store;
	ax_fault_store_init(&faulty, sound, plan_outage, &outage);
	w->ctx.store = &faulty.store;
	for (int i = 0; i < 30; i++) {
		outage.on = true;
		for (int s = 0; s < 1 + i * 2; s++) {
			w->now += 1000;
			assert_int_equal(ax_tick(&w->ctx, &next, NULL), AX_UNAVAILABLE);
		}
		outage.on = false;
		live(w, 10);
	}
	w->ctx.store = sound;
	for (int i = 0; i < 20; i++) {
		struct ax_task task = task_row(w, ids[i]);
		assert_int_equal(task.status, i == 0 ? AX_TASK_PAUSED : AX_TASK_ENABLED);
		if (i > 0)
			assert_int_equal(task.next_trigger_time, w->now + 10000);
		assert_int_equal(task.version, 1);
		assert_int_equal(count_fires(w, ids[i]), i == 0 ? 0 : (w->now - T0) / 10000);
	}
}

static void test_b036_catching_up_goes_through_the_quota(void **state)
{
	struct world *w = *state;
	static struct ax_order orders[1000];
	int64_t ids[250];
	register_worker(w, "w1", "i1", 1000);
	for (int i = 0; i < 250; i++)
		ids[i] = make_task(w, "@hourly", wide_window);
	set_quota(w, 20);
	go_quiet(w, 3 * HOUR + MINUTE);
	restart(w);
	while (go(w, 0) <= w->now) {
	}
	for (int i = 0; i < 250; i++) {
		assert_int_equal(count_all(w, ids[i]), 1);
		assert_int_equal(count_fires(w, ids[i]), 3);
	}
	for (int done = 0; done < 250;) {
		int n = poll(w, "w1", "i1", 1000, orders, NULL);
		assert_in_range(n, 1, 20);
		claim_nothing(w);
		for (int i = 0; i < n; i++)
			result(w, "w1", &orders[i].run, AX_OUTCOME_SUCCESS);
		done += n;
	}
}

static void test_b037_a_task_made_long_ago_owes_nothing_from_before_its_start(void **state)
{
	struct world *w = *state;
	struct ax_task_def def = task_row(w, make_task(w, "* * * * *", NULL)).def;
	enum ax_task_status created = AX_TASK_CREATED;
	struct ax_task task;
	int failed;
	def.task_name = "made, not enabled";
	def.misfire = AX_MISFIRE_FIRE_ALL;
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &created, 1, "test", &task, &failed, NULL), AX_OK);
	go(w, 130000);
	set_status(w, task.id, AX_TASK_ENABLED);
	go(w, 0);
	assert_int_equal(count_all(w, task.id), 0);
	assert_int_equal(task_row(w, task.id).next_trigger_time, T0 + 3 * MINUTE);
	go(w, 50000);
	assert_int_equal(count_all(w, task.id), 1);
}

/* Every task is overdue, and there is far too little room: no fire is made twice. */
static void test_b038_full_pools_do_not_repeat_fires(void **state)
{
	struct world *w = *state;
	struct ax_order orders[4];
	int64_t ids[300];
	register_worker(w, "w1", "i1", 4);
	for (int i = 0; i < 300; i++)
		ids[i] = make_task(w, i % 2 == 0 ? "@every 5m" : "@every 15m", NULL);
	go_quiet(w, HOUR);
	restart(w);
	for (int i = 0; i < 60; i++) {
		go(w, 10000);
		int n = poll(w, "w1", "i1", 4, orders, NULL);
		for (int k = 0; k < n; k++)
			result(w, "w1", &orders[k].run, AX_OUTCOME_SUCCESS);
	}
	for (int i = 0; i < 300; i++) {
		int64_t period = (i % 2 == 0 ? 5 : 15) * MINUTE;
		assert_int_equal(count_fires(w, ids[i]), (w->now - T0) / period);
		assert_in_range(count_runs(w, ids[i], AX_RUN_WAITING), 0, 1);
		assert_int_equal(task_row(w, ids[i]).next_trigger_time, w->now - (w->now - T0) % period + period);
	}
}

static void test_b040_a_failing_task_fires_no_more_often(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@daily", NULL);
	go(w, DAY);
	int attempts = 0;
	for (int i = 0; i < 600; i++) {
		struct ax_order order;
		if (i % 60 == 59)
			restart(w);
		go(w, MINUTE);
		if (poll(w, "w1", "i1", 1, &order, NULL) == 1) {
			result(w, "w1", &order.run, AX_OUTCOME_FAILED);
			attempts++;
		}
	}
	assert_int_equal(attempts, 1 + 3);
	assert_int_equal(count_all(w, id), 1);
	assert_int_equal(count_runs(w, id, AX_RUN_FAILED), 1);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 2 * DAY);
}

static void test_b042_a_jump_of_a_month_is_walked_in_bounded_steps(void **state)
{
	struct world *w = *state;
	int64_t ids[] = { make_task(w, "@every 1s", NULL), make_task(w, "* * * * * ?", NULL) };
	int64_t before = task_row(w, ids[0]).next_trigger_time;
	go_quiet(w, 30 * DAY);
	int rounds = 0;
	while (go(w, 0) <= w->now) {
		int64_t next = task_row(w, ids[0]).next_trigger_time + task_row(w, ids[1]).next_trigger_time;
		assert_in_range(next - 2 * before, 0, (int64_t)2 * AX_FIRES_STEP * 1000);
		before = next / 2;
		rounds++;
	}
	assert_in_range(rounds, 2, 100);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(count_fires(w, ids[i]), 30 * DAY / 1000);
		assert_int_equal(count_runs(w, ids[i], AX_RUN_WAITING), 1);
	}
}

static void test_b044_a_restart_fires_nothing_by_itself(void **state)
{
	struct world *w = *state;
	int64_t ids[20];
	for (int i = 0; i < 20; i++)
		ids[i] = make_task(w, "1 0 * * *", NULL);
	go_quiet(w, DAY);
	for (int i = 0; i < 2; i++) {
		restart(w);
		go(w, 1000);
	}
	for (int i = 0; i < 20; i++)
		assert_int_equal(count_runs(w, ids[i], AX_RUN_WAITING), 0);
	live(w, 70);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(count_runs(w, ids[i], AX_RUN_WAITING), 1);
		assert_int_equal(count_fires(w, ids[i]), 2); /* yesterday's was MISSED */
	}
}

static void test_b047_on_wake_up_all_that_was_due_is_handled_at_once(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "*/3 * * * *", NULL);
	go(w, MINUTE);
	go_quiet(w, 10 * MINUTE);
	go(w, 0);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(run.trigger_time, T0 + 9 * MINUTE);
	assert_int_equal(count_fires(w, id), 3);
	assert_int_equal(count_all(w, id), 1);
}

/* Hours ahead, then right again: no fire comes twice, nothing is held up but the fires that were made already
 * (docs/decisions/0006). */
static void test_b050_a_clock_that_ran_ahead_makes_no_fire_twice(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "*/5 * * * *", NULL), hand = make_task(w, "@hourly", no_limit);
	go(w, MINUTE);
	go(w, 8 * HOUR);
	live(w, 300);
	assert_int_equal(count_fires(w, id), 97);
	struct ax_run run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	go(w, -8 * HOUR);
	assert_true(run_row(w, run.gid).deadline_time <= w->now + AX_LEASE_MS);
	begin(w, hand); /* what people start runs at once */
	while (w->now < T0 + 9 * HOUR) {
		go(w, MINUTE);
		report(w, "w1", AX_ITEM_HEARTBEAT, &run);
	}
	assert_int_equal(count_fires(w, id), 9 * 12);
	go(w, 5 * MINUTE);
	assert_int_equal(count_fires(w, id), 9 * 12 + 1);
}

static void test_b052_a_run_ends_no_earlier_than_it_began(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@hourly", NULL), minute = make_task(w, "* * * * *", NULL);
	struct ax_run run = begin(w, id), failing = begin(w, make_task(w, "@hourly", NULL));
	go(w, -HOUR);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	run = run_row(w, run.gid);
	assert_int_equal(run.status, AX_RUN_SUCCESS);
	assert_int_equal(run.end_time, run.start_time);
	result(w, "w1", &failing, AX_OUTCOME_FAILED);
	struct ax_attempt attempt = attempt_row(w, failing.gid, 1);
	assert_int_equal(attempt.end_time, attempt.start_time);
	while (w->now < T0 + MINUTE)
		go(w, 30000);
	assert_int_equal(count_fires(w, minute), 1);
}

/* ---- schedules that are wrong */

static void test_b083_an_edit_to_a_schedule_without_fires_changes_nothing(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	struct ax_task before = task_row(w, id), after;
	struct ax_task_def def = before.def;
	struct ax_err err;
	def.cron_expr = "* * 31 11 *";
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &def, "test", &after, &err), AX_NEVER);
	after = task_row(w, id);
	assert_string_equal(after.def.cron_expr, "* * * * *");
	assert_int_equal(after.version, before.version);
	assert_int_equal(after.next_trigger_time, before.next_trigger_time);
}

struct rewrite {
	int64_t id;
	const char *cron;
	int64_t next; /* 0 = as it is */
};

/* What no service would write: a hand in the database, or an older program. */
static enum ax_status rewrite_row(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct rewrite *to = arg;
	struct ax_task task;
	enum ax_status status = tx->ops->task_get(tx, to->id, true, &task, err);
	int64_t old_next = task.next_trigger_time;
	if (to->cron != NULL)
		task.def.cron_expr = to->cron;
	if (to->next != 0)
		task.next_trigger_time = to->next;
	return status == AX_OK ? tx->ops->task_update(tx, &task, task.version, old_next, err) : status;
}

static void rewrite(struct world *w, struct rewrite to)
{
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, rewrite_row, &to, NULL), AX_OK);
}

static void test_b046_what_is_no_fire_of_the_schedule_does_not_run(void **state)
{
	struct world *w = *state;
	int64_t tenth = make_task(w, "0 0 10 * *", NULL), every = make_task(w, "@every 90s", NULL);
	int64_t minute = make_task(w, "* * * * *", NULL);
	go(w, 18 * DAY + HOUR); /* the 19th; the run of the 10th was missed */
	assert_int_equal(count_fires(w, tenth), 1);
	int rows = count_all(w, tenth) + count_all(w, every) + count_all(w, minute);
	int64_t fires = count_fires(w, minute);
	rewrite(w, (struct rewrite){ tenth, NULL, T0 + 18 * DAY });
	rewrite(w, (struct rewrite){ every, NULL, w->now - 1 });
	rewrite(w, (struct rewrite){ minute, NULL, w->now + 59000 });
	live(w, 60);
	assert_int_equal(count_all(w, tenth), rows - count_all(w, every) - count_all(w, minute));
	assert_int_equal(task_row(w, tenth).next_trigger_time, T0 + (30 + 9) * DAY);
	assert_int_equal(count_fires(w, every), (w->now - T0) / 90000);
	assert_int_equal(count_fires(w, minute), fires + 1); /* none is lost either */
	assert_int_equal(task_row(w, minute).next_trigger_time, w->now + MINUTE);
}

static void in_moving(struct ax_task_def *def)
{
	def->time_zone = "Test/Moving";
}

static void with_jitter(struct ax_task_def *def)
{
	def->jitter_seconds = 50;
}

static void test_b046_jitter_is_no_other_fire(void **state)
{
	struct world *w = *state;
	int64_t ids[20];
	for (int i = 0; i < 20; i++)
		ids[i] = make_task(w, "* * * * *", with_jitter);
	live(w, 300);
	for (int i = 0; i < 20; i++)
		assert_in_range(count_fires(w, ids[i]), 4, 5);
	for (int i = 0; i < 20; i++) { /* without its jitter a fire is due at no time, or was made already */
		int64_t late = task_row(w, ids[i]).next_trigger_time % MINUTE, next = w->now / MINUTE * MINUTE;
		int64_t fires = count_fires(w, ids[i]);
		rewrite(w, (struct rewrite){ ids[i], NULL, next });
		go(w, 0);
		assert_int_equal(count_fires(w, ids[i]), fires);
		assert_int_equal(task_row(w, ids[i]).next_trigger_time % MINUTE, late);
	}
}

static void in_window(struct ax_task_def *def)
{
	def->valid_from = T0 + MINUTE;
	def->valid_until = T0 + 3 * MINUTE;
}

static void test_b096_a_window_has_its_begin_and_not_its_end(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", in_window), half = make_task(w, "@every 30s", in_window);
	live(w, 300);
	assert_int_equal(count_fires(w, id), 2); /* at 1 and 2 min */
	assert_int_equal(count_fires(w, half), 4);
	assert_true(task_row(w, id).exhausted);
	assert_true(task_row(w, half).exhausted);
}

/* Expressions and a zone that cannot be read any more: B078, B079, B135 and B091. */
static void test_b135_a_task_that_cannot_be_read_stops_alone(void **state)
{
	struct world *w = *state;
	int64_t ids[13];
	for (int i = 0; i < 11; i++)
		ids[i] = make_task(w, "* * * * *", NULL);
	w->moving = ax_tz_utc();
	ids[11] = make_task(w, "* * * * *", in_moving);
	ids[12] = make_task(w, "* * * * *", in_moving);
	rewrite(w, (struct rewrite){ ids[3], "xx", 0 });
	rewrite(w, (struct rewrite){ ids[5], "0 0 30 2 *", 0 });
	rewrite(w, (struct rewrite){ ids[12], "xx", 0 });
	make_channel(w);
	w->moving = NULL;
	restart(w);
	for (int minute = 1; minute <= 5; minute++) {
		live(w, 60);
		for (int i = 0; i < 13; i++) {
			bool bad = i == 3 || i == 5 || i > 10;
			assert_int_equal(count_fires(w, ids[i]), bad ? 0 : minute);
			assert_int_equal(task_row(w, ids[i]).next_trigger_time, bad ? 0 : w->now + MINUTE);
			assert_int_equal(task_row(w, ids[i]).status, AX_TASK_ENABLED);
		}
	}
	/* each of them is told, once; it ends when the task is mended, or its zone is there again: then it goes on
	 * where it stopped */
	assert_int_equal(count_alerts(w, AX_ALERT_UNSCHEDULABLE), 4);
	assert_int_equal(count_told(w, AX_ALERT_UNSCHEDULABLE, AX_TELL_OPEN), 4);
	struct ax_task task = task_row(w, ids[3]);
	task.def.cron_expr = "* * * * *";
	assert_int_equal(ax_task_update(&w->ctx, ids[3], 1, &task.def, "test", &task, NULL), AX_OK);
	w->moving = ax_tz_utc();
	live(w, 59);
	assert_int_equal(count_fires(w, ids[11]), 5);
	assert_int_equal(task_row(w, ids[11]).next_trigger_time, T0 + 6 * MINUTE);
	assert_int_equal(alert_of(w, AX_ALERT_UNSCHEDULABLE, ids[3])->state, AX_ALERT_RESOLVED);
	assert_int_equal(alert_of(w, AX_ALERT_UNSCHEDULABLE, ids[5])->state, AX_ALERT_OPEN);
	assert_int_equal(alert_of(w, AX_ALERT_UNSCHEDULABLE, ids[11])->state, AX_ALERT_RESOLVED);
	assert_int_equal(alert_of(w, AX_ALERT_UNSCHEDULABLE, ids[12])->state, AX_ALERT_OPEN);
	assert_int_equal(count_alerts(w, AX_ALERT_UNSCHEDULABLE), 4);
}

static void test_b135_a_result_is_taken_whatever_became_of_its_schedule(void **state)
{
	struct world *w = *state;
	w->moving = ax_tz_utc();
	int64_t id = make_task(w, "@after 30s", in_moving), other = make_task(w, "@after 30s", NULL);
	live(w, 30);
	struct ax_run runs[] = { claim(w), claim(w) };
	w->moving = NULL;
	for (int i = 0; i < 2; i++)
		assert_int_equal(result(w, "w1", &runs[i], AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	assert_int_equal(count_runs(w, id, AX_RUN_SUCCESS), 1);
	live(w, 31);
	assert_int_equal(count_all(w, id), 1);
	assert_int_equal(count_all(w, other), 2);
	assert_int_equal(alert_of(w, AX_ALERT_UNSCHEDULABLE, id)->state, AX_ALERT_OPEN);
	w->moving = ax_tz_utc();
	live(w, 70);
	assert_int_equal(count_all(w, id), 2);
	assert_int_equal(alert_of(w, AX_ALERT_UNSCHEDULABLE, id)->state, AX_ALERT_RESOLVED);
}

static void test_b135_new_zone_data_reach_the_tasks_beside_a_bad_one(void **state)
{
	struct world *w = *state;
	int tasks;
	w->moving = ax_tz_utc();
	int64_t bad = make_task(w, "* * * * *", in_moving), due = make_task(w, "* * * * *", in_moving);
	int64_t good = make_task(w, "0 12 * * *", in_moving);
	rewrite(w, (struct rewrite){ bad, "xx", T0 + HOUR });
	rewrite(w, (struct rewrite){ due, "xx", 0 });
	go_quiet(w, 2 * MINUTE);
	assert_int_equal(ax_rezone(&w->ctx, "Test/Moving", &tasks, NULL), AX_OK);
	assert_int_equal(tasks, 1);
	assert_int_equal(task_row(w, good).next_trigger_time, T0 + 12 * HOUR);
}

/* ---- runs that nobody ends */

static void test_b097_a_dead_worker_blocks_neither_its_run_nor_the_next(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	make_channel(w);
	int64_t id = make_task(w, "*/5 * * * *", on_lost_fail);
	live(w, 300);
	struct ax_run run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	live(w, AX_LEASE_MS / 1000 + 5);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_TIMEOUT);
	assert_string_equal(run_row(w, run.gid).reason, "lost");
	live(w, 250);
	register_worker(w, "w2", "i1", 10);
	assert_int_equal(poll(w, "w2", "i1", 1, &order, NULL), 1);
	assert_int_equal(order.run.trigger_time, T0 + 10 * MINUTE);
	assert_int_equal(order.run.task_id, id);
	/* the server dies too, and comes back a minute later */
	report(w, "w2", AX_ITEM_STARTED, &order.run);
	go_quiet(w, MINUTE);
	restart(w);
	live(w, AX_LEASE_MS / 1000 + 5);
	assert_int_equal(run_row(w, order.run.gid).status, AX_RUN_TIMEOUT);
	assert_int_equal(alert_of(w, AX_ALERT_FAILED, id)->count, 2); /* each run once */
	assert_int_equal(count_told(w, AX_ALERT_FAILED, AX_TELL_OPEN), 1);
}

/* A run of its own task in each live state that has a deadline, and nobody who ends it. */
static void test_b098_every_live_state_is_left_when_its_deadline_passes(void **state)
{
	struct world *w = *state;
	struct ax_run runs[4];
	bool existed;
	live(w, 46);
	runs[0] = begin(w, make_task(w, "@hourly", no_limit)); /* RUNNING */
	runs[1] = begin(w, make_task(w, "@hourly", no_limit));
	result(w, "w1", &runs[1], AX_OUTCOME_FAILED); /* RETRYING */
	trigger(w, make_task(w, "@hourly", no_limit));
	runs[2] = claim(w); /* DISPATCHED */
	struct ax_trigger later = {
		.task_id = make_task(w, "", NULL), .params = "", .run_at = w->now + 5000, .key = ""
	};
	assert_int_equal(ax_task_trigger(&w->ctx, &later, &runs[3], &existed, NULL), AX_OK); /* PENDING */
	static const enum ax_run_state states[] = { AX_RUN_RUNNING, AX_RUN_RETRYING, AX_RUN_DISPATCHED,
		AX_RUN_PENDING };
	for (int i = 0; i < 4; i++) {
		runs[i] = run_row(w, runs[i].gid);
		assert_int_equal(runs[i].status, states[i]);
		assert_true(runs[i].deadline_time > w->now);
	}
	live(w, 70);
	for (int i = 0; i < 4; i++)
		assert_int_equal(run_row(w, runs[i].gid).status, AX_RUN_WAITING);
}

static void for_report(struct ax_task_def *def)
{
	def->executor_key = "report";
	def->timeout_seconds = 0;
}

static void test_b101_what_no_worker_offers_waits(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	live(w, 46);
	struct ax_run run = trigger(w, make_task(w, "@hourly", for_report));
	claim_nothing(w);
	register_offering(w, "w2", "report");
	assert_int_equal(poll(w, "w2", "i1", 1, &order, NULL), 1);
	report(w, "w2", AX_ITEM_STARTED, &order.run);
	for (int i = 0; i < 46 * 2; i++) { /* w2 is gone; the other one is not fit for it */
		live(w, 1);
		claim_nothing(w);
	}
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_WAITING);
	assert_int_equal(run_row(w, run.gid).lost_times, 1);
	register_offering(w, "w2", "report");
	assert_int_equal(poll(w, "w2", "i1", 1, &order, NULL), 1);
	result(w, "w2", &order.run, AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_SUCCESS);
}

static void test_b103_reports_of_the_past_move_nothing(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, make_task(w, "@hourly", NULL)), row;
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &row, NULL), AX_OK);
	result(w, "w1", &run, AX_OUTCOME_CANCELLED);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(report(w, "w1", AX_ITEM_HEARTBEAT, &run), AX_VERDICT_STOP);
		assert_int_equal(report(w, "w1", AX_ITEM_STARTED, &run), AX_VERDICT_STOP);
	}
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_CANCELLED);
	assert_int_equal(run_row(w, run.gid).rev, row.rev + 1);
}

static int unknown_results;

static void count_unknown(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	(void)log;
	unknown_results += level == AX_LOG_WARN && strcmp(name, "result_of_unknown_attempt") == 0 &&
		strstr(fields, "\"worker\":\"w1\",\"success\":true") != NULL;
}

/* A worker keeps a result until the server has an opinion of it: also of what the server does not know, which is in the
 * log alone. */
static void test_b109_a_result_of_an_unknown_run_gets_a_verdict(void **state)
{
	struct world *w = *state;
	struct ax_run unknown = { .gid = 12345, .fence = 1 }, run = begin(w, make_task(w, "@hourly", NULL));
	static const struct ax_log_ops ops = { count_unknown };
	w->log.ops = &ops;
	unknown_results = 0;
	assert_int_equal(result(w, "w1", &unknown, AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
	run.fence = 7; /* never given out */
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
	assert_int_equal(unknown_results, 2);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RUNNING);
}

static void test_b110_a_late_success_is_noted_once(void **state)
{
	struct world *w = *state;
	live(w, 46);
	int64_t id = make_task(w, "@hourly", on_lost_fail);
	struct ax_run run = begin(w, id);
	live(w, 46);
	struct ax_run lost = run_row(w, run.gid);
	assert_int_equal(lost.status, AX_RUN_TIMEOUT);
	int64_t at = w->now;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
		live(w, 1);
	}
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_TIMEOUT);
	assert_int_equal(run_row(w, run.gid).rev, lost.rev);
	assert_int_equal(attempt_row(w, run.gid, 1).late_outcome, AX_OUTCOME_SUCCESS);
	assert_int_equal(attempt_row(w, run.gid, 1).late_time, at);
	assert_int_equal(task_row(w, id).last_run_status, AX_RUN_TIMEOUT);
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED), 1);
	assert_int_equal(alert_of(w, AX_ALERT_FAILED, id)->count, 1);
	assert_int_equal(alert_of(w, AX_ALERT_FAILED, id)->state, AX_ALERT_OPEN);
}

/* The result and the server's limit at one instant: whichever is first, there is one truth. */
static void test_b112_result_and_limit_race(void **state)
{
	struct world *w = *state;
	live(w, 46);
	int64_t id = make_task(w, "@hourly", NULL), limit_ms = (60 + 5) * 1000 + AX_HARD_LIMIT_SLACK_MS;
	struct ax_run run = begin(w, id); /* the result is first */
	go_quiet(w, 0);
	for (int64_t ms = 0; ms < limit_ms; ms += 1000) {
		go(w, 1000);
		report(w, "w1", AX_ITEM_HEARTBEAT, &run);
		if (ms == limit_ms - 2000)
			result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	}
	live(w, 5);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_SUCCESS);
	claim_nothing(w);
	for (int claimed = 0; claimed < 2;
		claimed++) { /* the limit is first; the success before and after a new claim */
		run = begin(w, id);
		for (int64_t ms = 0; ms < limit_ms; ms += 1000) {
			go(w, 1000);
			report(w, "w1", AX_ITEM_HEARTBEAT, &run);
		}
		assert_int_equal(run_row(w, run.gid).status, AX_RUN_RETRYING);
		if (claimed) {
			live(w, 70);
			assert_int_equal(claim(w).fence, 2);
			assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
			assert_int_equal(run_row(w, run.gid).status, AX_RUN_DISPATCHED);
		} else {
			assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
			live(w, 70);
			assert_int_equal(run_row(w, run.gid).status, AX_RUN_SUCCESS);
			claim_nothing(w);
		}
	}
}

/* An event, and a task that listens to it. */
static void send_event(struct world *w)
{
	struct ax_task_def def = task_row(w, make_task(w, "@hourly", no_limit)).def;
	enum ax_task_status enabled = AX_TASK_ENABLED;
	struct ax_task task;
	int failed;
	def.task_name = "listener";
	def.task_type = AX_TASK_EVENT;
	def.cron_expr = "";
	def.event_name = "order.paid";
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &enabled, 1, "test", &task, &failed, NULL), AX_OK);
	struct ax_event_sent sent = { .event_name = "order.paid",
		.event_id = "1",
		.event_key = "1",
		.run_key = "order.paid/1",
		.payload = "",
		.sent_by = "test" };
	struct ax_event event;
	struct ax_event_tasks tasks;
	bool existed;
	assert_int_equal(ax_event_send(&w->ctx, &sent, &event, &tasks, &existed, NULL), AX_OK);
	assert_int_equal(event.runs, 1);
}

static void test_b115_however_it_was_triggered_it_is_recovered(void **state)
{
	struct world *w = *state;
	struct ax_order orders[4];
	live(w, 46);
	make_task(w, "* * * * *", no_limit);
	trigger(w, make_task(w, "@hourly", no_limit));
	trigger(w, make_task(w, "", no_limit));
	send_event(w);
	live(w, 14);
	assert_int_equal(poll(w, "w1", "i1", 4, orders, NULL), 4);
	for (int i = 0; i < 4; i++)
		report(w, "w1", AX_ITEM_STARTED, &orders[i].run);
	live(w, 46);
	unsigned kinds = 0;
	for (int i = 0; i < 4; i++) {
		struct ax_run run = run_row(w, orders[i].run.gid);
		assert_int_equal(run.status, AX_RUN_WAITING);
		assert_int_equal(run.lost_times, 1);
		kinds |= 1u << run.kind;
	}
	assert_int_equal(
		kinds, 1u << AX_KIND_SCHEDULE | 1u << AX_KIND_MANUAL | 1u << AX_KIND_DELAY | 1u << AX_KIND_EVENT);
}

static void test_b119_cancel_and_claim_race(void **state)
{
	struct world *w = *state;
	struct ax_order none;
	struct ax_stop stop;
	struct ax_run row;
	int64_t id = make_task(w, "@hourly", NULL);
	struct ax_run run = trigger(w, id);
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &row, NULL), AX_OK);
	assert_int_equal(row.status, AX_RUN_CANCELLED);
	claim_nothing(w);
	trigger(w, id);
	run = claim(w);
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &row, NULL), AX_OK);
	assert_int_equal(row.status, AX_RUN_DISPATCHED);
	assert_int_equal(poll(w, "w1", "i1", 1, &none, &stop), 0);
	assert_int_equal(stop.gid, run.gid);
	assert_int_equal(report(w, "w1", AX_ITEM_ACCEPTED, &run), AX_VERDICT_STOP);
	assert_int_equal(report(w, "w1", AX_ITEM_STARTED, &run), AX_VERDICT_STOP); /* `start: confirmed` waits for it */
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_FAILED), AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_CANCELLED);
}

static void test_b127_old_runs_go_in_small_batches(void **state)
{
	struct world *w = *state;
	int64_t id = make_delay_task(w, 1000), fires = make_task(w, "* * * * *", NULL);
	struct ax_run row;
	int deleted, batches = 0;
	for (int i = 0; i < 3 * AX_BATCH; i++)
		assert_int_equal(ax_run_cancel(&w->ctx, trigger(w, id).gid, "", &row, NULL), AX_OK);
	int64_t due = task_row(w, fires).next_trigger_time;
	go_quiet(w, due - w->now + 1000);
	do {
		assert_int_equal(ax_retain(&w->ctx, 100, &deleted, NULL), AX_OK);
		assert_in_range(deleted, 0, AX_BATCH);
		if (batches++ == 1)
			go(w, 0);
	} while (deleted > 0);
	assert_in_range(batches, 4, 10);
	assert_int_equal(count_all(w, id), 0);
	assert_int_equal(count_runs(w, fires, AX_RUN_WAITING), 1);
}

static void test_b132_no_attempt_of_a_paused_or_deleted_task(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	int64_t id = make_task(w, "@hourly", NULL), other = make_task(w, "* * * * *", NULL);
	go(w, MINUTE);
	struct ax_run run = claim(w); /* the scheduled one */
	assert_int_equal(run.task_id, other);
	result(w, "w1", &run, AX_OUTCOME_FAILED);
	set_status(w, other, AX_TASK_PAUSED);
	live(w, 3600);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_WAITING);
	assert_int_equal(run_row(w, run.gid).hold, AX_HOLD_PAUSED);
	struct ax_run hourly = claim(w);
	assert_int_equal(hourly.task_id, id);
	claim_nothing(w);
	assert_int_equal(ax_task_delete(&w->ctx, other, false, "test", &err), AX_CONFLICT);
	assert_int_equal(ax_task_delete(&w->ctx, other, true, "test", &err), AX_OK);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_CANCELLED);
	live(w, 3600);
	assert_int_equal(run_row(w, run.gid).fence, 1);
}

static void many_retries(struct ax_task_def *def)
{
	def->timeout_seconds = 0;
	def->retry_count = 100;
}

static void test_b133_a_task_that_kills_its_workers_is_given_up(void **state)
{
	struct world *w = *state;
	live(w, 46);
	int64_t id = make_task(w, "@hourly", many_retries);
	struct ax_run run = trigger(w, id);
	int deaths = 0;
	for (int i = 0; i < 20; i++) {
		struct ax_order order;
		const char *incarnation = ax_sprintf(&w->arena, "i%d", i + 2);
		register_worker(w, "w1", incarnation, 10);
		if (poll(w, "w1", incarnation, 1, &order, NULL) == 0)
			break;
		struct ax_item started = { .type = AX_ITEM_STARTED, .gid = run.gid, .fence = order.run.fence };
		started.message = started.data = started.result = "";
		static const char *const groups[] = { "default", NULL };
		struct ax_report report = {
			.worker = "w1", .incarnation = incarnation, .groups = groups, .items = &started, .n = 1
		};
		assert_int_equal(ax_ingest(&w->ctx, &report, NULL), AX_OK);
		deaths++;
		live(w, 3);
	}
	assert_int_equal(deaths, 1 + 3); /* the first, and lost_limit more */
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_TIMEOUT);
	assert_int_equal(run_row(w, run.gid).retry_times, 0);
	assert_int_equal(alert_of(w, AX_ALERT_FAILED, id)->state, AX_ALERT_OPEN);
}

/* ---- order, quotas, workers */

static void urgent(struct ax_task_def *def)
{
	def->priority = 10;
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 1000;
}

static void modest(struct ax_task_def *def)
{
	def->priority = 1;
}

static void test_b137_urgent_work_without_end_starves_nobody(void **state)
{
	struct world *w = *state;
	struct ax_run low = trigger(w, make_task(w, "@hourly", modest));
	int64_t stream = make_task(w, "", urgent), waited = 0;
	while (true) { /* one slot, one urgent run a second */
		trigger(w, stream);
		struct ax_run run = claim(w);
		if (run.gid == low.gid)
			break;
		result(w, "w1", &run, AX_OUTCOME_SUCCESS);
		go(w, 1000);
		waited += 1000;
		assert_in_range(waited, 0, 9 * AX_RANK_STEP_MS + 1000);
	}
	assert_in_range(waited, 8 * AX_RANK_STEP_MS, 9 * AX_RANK_STEP_MS + 1000);
}

static void test_b143_a_worker_that_takes_and_is_silent_costs_only_time(void **state)
{
	struct world *w = *state;
	static struct ax_order orders[100];
	int64_t id = make_delay_task(w, 1000);
	live(w, 46);
	for (int i = 2; i <= 4; i++)
		register_worker(w, ax_sprintf(&w->arena, "w%d", i), "i1", 10);
	for (int i = 0; i < 40; i++)
		trigger(w, id);
	for (int i = 1; i <= 4; i++) { /* w4 takes its share and says nothing ever after */
		const char *name = ax_sprintf(&w->arena, "w%d", i);
		int n = poll(w, name, "i1", 10, orders, NULL);
		assert_int_equal(n, 10);
		for (int k = 0; i < 4 && k < n; k++)
			result(w, name, &orders[k].run, AX_OUTCOME_SUCCESS);
	}
	assert_int_equal(count_runs(w, id, AX_RUN_SUCCESS), 30);
	live(w, AX_ACCEPT_MS / 1000 + 1);
	int n = poll(w, "w1", "i1", 100, orders, NULL);
	assert_int_equal(n, 10);
	for (int k = 0; k < n; k++) {
		assert_int_equal(orders[k].run.lost_times, 0);
		result(w, "w1", &orders[k].run, AX_OUTCOME_SUCCESS);
	}
	assert_int_equal(count_runs(w, id, AX_RUN_SUCCESS), 40);
}

static void test_b142_a_key_is_its_runs_for_as_long_as_the_run_is_kept(void **state)
{
	struct world *w = *state;
	struct ax_run first, again;
	bool existed;
	int deleted;
	struct ax_trigger keyed = { .task_id = make_task(w, "", NULL), .params = "", .key = "order-7" };
	assert_int_equal(ax_task_trigger(&w->ctx, &keyed, &first, &existed, NULL), AX_OK);
	assert_false(existed);
	assert_int_equal(ax_run_cancel(&w->ctx, first.gid, "", &again, NULL), AX_OK);
	assert_int_equal(ax_task_trigger(&w->ctx, &keyed, &again, &existed, NULL), AX_OK);
	assert_true(existed); /* told, with the run that has it: never a silent nothing */
	assert_int_equal(again.gid, first.gid);
	assert_int_equal(again.status, AX_RUN_CANCELLED);
	go(w, 1000);
	assert_int_equal(ax_retain(&w->ctx, 100, &deleted, NULL), AX_OK);
	assert_int_equal(ax_task_trigger(&w->ctx, &keyed, &again, &existed, NULL), AX_OK);
	assert_false(existed);
}

static void test_b158_a_group_of_500_workers(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	int64_t id = make_delay_task(w, 1000);
	set_quota(w, 1000);
	for (int i = 0; i < 500; i++) {
		register_worker(w, ax_sprintf(&w->arena, "worker-%d.with-a-long-name.example.com", i), "i1", 1);
		trigger(w, id);
	}
	for (int i = 0; i < 500; i++)
		assert_int_equal(poll(w, ax_sprintf(&w->arena, "worker-%d.with-a-long-name.example.com", i), "i1", 1,
					 &order, NULL),
			1);
	assert_int_equal(count_runs(w, id, AX_RUN_DISPATCHED), 500);
}

/* ---- rates */

static void test_b154_a_rate_does_not_drift(void **state)
{
	struct world *w = *state;
	int64_t every = make_task(w, "@every 60s", NULL), after = make_task(w, "@after 60s", NULL), slots = 0;
	uint64_t random = 154;
	int64_t ended = T0;
	while (slots < 1440) {
		struct ax_order orders[2];
		random = random * 6364136223846793005u + 1442695040888963407u;
		int64_t next = task_row(w, every).next_trigger_time, other = task_row(w, after).next_trigger_time;
		go(w, AX_MAX(AX_MIN(next, other == 0 ? next : other) - w->now, 0) + (int64_t)(random >> 33) % 900);
		int n = poll(w, "w1", "i1", 2, orders, NULL);
		for (int i = 0; i < n; i++) {
			struct ax_run *run = &orders[i].run;
			if (run->task_id == every) {
				slots++;
				assert_int_equal(run->trigger_time, T0 + slots * 60000);
			} else {
				assert_int_equal(run->trigger_time, ended + 60000);
			}
		}
		if (n > 0)
			go_quiet(w, 28000);
		for (int i = 0; i < n; i++) {
			result(w, "w1", &orders[i].run, AX_OUTCOME_SUCCESS);
			if (orders[i].run.task_id == after)
				ended = w->now;
		}
	}
}

static void test_b155_runs_by_hand_leave_the_rate_alone(void **state)
{
	struct world *w = *state;
	struct ax_run row;
	int64_t id = make_task(w, "@every 24h", NULL);
	struct ax_task before = task_row(w, id);
	go(w, 10 * HOUR + 30 * MINUTE);
	struct ax_run run = begin(w, id);
	result(w, "w1", &run, AX_OUTCOME_FAILED);
	live(w, 70);
	run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	assert_int_equal(ax_run_rerun(&w->ctx, run.gid, "", false, &row, NULL), AX_OK);
	struct ax_task now = task_row(w, id);
	assert_int_equal(now.next_trigger_time, T0 + DAY);
	assert_int_equal(now.next_trigger_time, before.next_trigger_time);
	assert_int_equal(now.anchor_time, before.anchor_time);
}

/* ---- edits, pauses, deletes */

static void test_b184_the_next_fire_follows_the_edit(void **state)
{
	struct world *w = *state;
	struct ax_task task;
	int64_t id = make_task(w, "0 7 * * *", NULL);
	go(w, 4 * DAY + 20 * HOUR); /* 2026-06-01 is a Monday: Friday evening */
	task = task_row(w, id);
	task.def.cron_expr = "0 7 * * 1-5";
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &task.def, "test", &task, NULL), AX_OK);
	int rows = count_all(w, id);
	assert_int_equal(task.next_trigger_time, T0 + 7 * DAY + 7 * HOUR);
	go(w, 2 * DAY);
	assert_int_equal(count_all(w, id), rows);
	for (int ms = -50; ms <= 50; ms += 50) { /* the edit meets the fire: it is made under the old rule, or not */
		int64_t met = make_task(w, "* * * * *", NULL);
		int64_t due = task_row(w, met).next_trigger_time;
		go_quiet(w, due - w->now + ms);
		task = task_row(w, met);
		task.def.cron_expr = "30 * * * *";
		assert_int_equal(ax_task_update(&w->ctx, met, 1, &task.def, "test", &task, NULL), AX_OK);
		go_quiet(w, 100);
		go(w, 0);
		assert_int_equal(count_all(w, met), ms >= 0);
	}
}

static void by_calendar(struct ax_task_def *def)
{
	def->calendar = "ours";
}

static void test_b184_the_next_fire_follows_the_calendar(void **state)
{
	struct world *w = *state;
	struct ax_calendar_def def = { .name = "ours", .title = "", .content = { .week = 0x7f } };
	struct ax_calendar_row row;
	assert_int_equal(ax_calendar_put(&w->ctx, &def, 0, "test", &row, NULL), AX_OK);
	int64_t id = make_task(w, "0 7 * * *", by_calendar);
	go(w, 4 * DAY + 20 * HOUR); /* Friday evening */
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 5 * DAY + 7 * HOUR);
	int rows = count_all(w, id);
	def.content.week = 0x3e; /* Monday to Friday */
	assert_int_equal(ax_calendar_put(&w->ctx, &def, 1, "test", &row, NULL), AX_OK);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 7 * DAY + 7 * HOUR);
	go(w, 2 * DAY);
	assert_int_equal(count_all(w, id), rows);
}

static void test_b185_the_scheduler_never_writes_a_persons_columns(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * * ?", NULL);
	struct ax_task_def def = task_row(w, id).def;
	uint64_t random = 185;
	int64_t version = 1;
	enum ax_task_status status = AX_TASK_ENABLED;
	for (int i = 0; i < 3000; i++) {
		struct ax_task task;
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (random >> 62 == 0) {
			def.priority = (int64_t)(random >> 40) % 10 + 1;
			assert_int_equal(ax_task_update(&w->ctx, id, version++, &def, "test", &task, NULL), AX_OK);
		} else if (random >> 62 == 1) {
			status = random >> 61 & 1 ? AX_TASK_ENABLED : AX_TASK_PAUSED;
			set_status(w, id, status);
		}
		int fired = count_all(w, id);
		go(w, 700);
		task = task_row(w, id);
		assert_int_equal(task.status, status);
		assert_int_equal(task.version, version);
		assert_int_equal(task.def.priority, def.priority);
		if (status == AX_TASK_PAUSED)
			assert_int_equal(count_all(w, id), fired);
		struct ax_order order;
		if (poll(w, "w1", "i1", 1, &order, NULL) == 1)
			result(w, "w1", &order.run, AX_OUTCOME_SUCCESS);
	}
}

static void test_b187_a_run_executes_the_definition_it_was_made_with(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	struct ax_run row;
	int64_t id = make_task(w, "@hourly", NULL);
	struct ax_run run = begin(w, id);
	struct ax_task task = task_row(w, id);
	task.def.biz_param = "\"new\"";
	task.def.retry_count = 1;
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &task.def, "test", &task, NULL), AX_OK);
	result(w, "w1", &run, AX_OUTCOME_FAILED);
	live(w, 70);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_string_equal(order.def.biz_param, "null");
	assert_int_equal(order.run.version, 1);
	result(w, "w1", &order.run, AX_OUTCOME_FAILED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RETRYING); /* three tries, as it was */
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &row, NULL), AX_OK);
	assert_int_equal(ax_run_rerun(&w->ctx, run.gid, "", false, &row, NULL), AX_OK);
	assert_int_equal(row.version, 2); /* the definition as it is now, and it says so */
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_string_equal(order.def.biz_param, "\"new\"");
}

static void test_b189_resuming_at_the_instant_of_a_fire(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	for (int i = 0; i < 300; i++) {
		set_status(w, id, AX_TASK_PAUSED);
		int64_t slot = w->now - w->now % MINUTE + 2 * MINUTE;
		go_quiet(w, slot - w->now + i % 3 - 1);
		set_status(w, id, AX_TASK_ENABLED);
		go(w, 0);
		go(w, 10);
		const struct ax_run *run;
		int of_slot = 0;
		for (size_t k = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, k)) != NULL; k++)
			of_slot += run->trigger_time == slot;
		assert_int_equal(of_slot, i % 3 == 0); /* resumed before it: it is made; at it or after it: it is not */
		struct ax_order order;
		if (poll(w, "w1", "i1", 1, &order, NULL) == 1)
			result(w, "w1", &order.run, AX_OUTCOME_SUCCESS);
	}
}

static void test_b191_after_every_restart_every_task_fires(void **state)
{
	struct world *w = *state;
	int64_t ids[20];
	for (int i = 0; i < 20; i++)
		ids[i] = make_task(w, i % 2 == 0 ? "* * * * *" : "@every 60s", NULL);
	for (int i = 1; i <= 50; i++) {
		restart(w);
		go(w, MINUTE);
		for (int k = 0; k < 20; k++)
			assert_int_equal(count_fires(w, ids[k]), i);
	}
}

static void test_b192_a_deleted_task_runs_no_more(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct ax_run row;
	bool existed;
	int64_t id = make_task(w, "* * * * *", NULL);
	struct ax_run run = begin(w, id);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	assert_int_equal(ax_task_delete(&w->ctx, id, false, "test", NULL), AX_OK);
	struct ax_trigger now = { .task_id = id, .params = "", .key = "" };
	assert_int_equal(ax_task_trigger(&w->ctx, &now, &row, &existed, &err), AX_NOT_FOUND);
	assert_int_equal(ax_run_rerun(&w->ctx, run.gid, "", false, &row, &err), AX_CONFLICT);
	assert_int_equal(ax_run_retry_now(&w->ctx, run.gid, &row, &err), AX_CONFLICT);
	live(w, 130);
	claim_nothing(w);
	assert_int_equal(count_all(w, id), 1);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_SUCCESS); /* history stays */
}

static void test_b197_delays_beyond_31_bits_of_milliseconds(void **state)
{
	struct world *w = *state;
	static const int64_t delays[] = { INT64_C(2147483647), INT64_C(2147483648), INT64_C(4294968296),
		INT64_C(31449600000) };
	int64_t id = make_delay_task(w, 1000);
	struct ax_run runs[4];
	bool existed;
	for (int i = 0; i < 4; i++) {
		struct ax_trigger later = { .task_id = id, .params = "", .run_at = T0 + delays[i], .key = "" };
		assert_int_equal(ax_task_trigger(&w->ctx, &later, &runs[i], &existed, NULL), AX_OK);
		assert_int_equal(runs[i].trigger_time, T0 + delays[i]);
	}
	live(w, 60);
	assert_int_equal(count_runs(w, id, AX_RUN_PENDING), 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(go(w, T0 + delays[i] - 1 - w->now), T0 + delays[i]);
		claim_nothing(w);
		go(w, 1);
		struct ax_run run = claim(w);
		assert_int_equal(run.gid, runs[i].gid);
		result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	}
}

static void test_b202_workers_that_never_come_back_are_forgotten(void **state)
{
	struct world *w = *state;
	int deleted, rounds = 0;
	struct ax_run run = begin(w, make_task(w, "@daily", no_limit));
	register_worker(w, "drained", "i1", 10);
	assert_int_equal(ax_worker_drain(&w->ctx, "drained", true, NULL), AX_OK);
	for (int i = 0; i < 3 * AX_BATCH; i++)
		register_worker(w, ax_sprintf(&w->arena, "pod-%d", i), "i1", 10);
	go(w, 2000);
	assert_int_equal(ax_worker_leave(&w->ctx, "pod-0", "i1", NULL), AX_OK);
	go_quiet(w, DAY);
	restart(w); /* after an absence of the server's own nobody is judged */
	assert_int_equal(ax_retain(&w->ctx, DAY, &deleted, NULL), AX_OK);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_worker_row), 3 * AX_BATCH + 2);
	live(w, 44);
	struct ax_order order;
	assert_int_equal(poll(w, "pod-7", "i1", 1, &order, NULL), 0);
	report(w, "w1", AX_ITEM_HEARTBEAT, &run);
	live(w, 2);
	do {
		assert_int_equal(ax_retain(&w->ctx, DAY, &deleted, NULL), AX_OK);
		assert_in_range(deleted, 0, AX_BATCH);
		rounds++;
	} while (deleted > 0);
	assert_int_equal(rounds, 4);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_worker_row), 3); /* with a run, drained by hand, seen */
	assert_int_equal(ax_mem_store_count(w->mem, &ax_worker_group_row), 3);
}

/* ---- chains and shards */

static int64_t make_downstream(struct world *w, int64_t upstream)
{
	struct ax_task_def def = task_row(w, make_task(w, "", NULL)).def;
	enum ax_task_status enabled = AX_TASK_ENABLED;
	struct ax_task task;
	int failed;
	def.task_name = ax_sprintf(&w->arena, "behind %lld", (long long)upstream);
	def.upstreams = ax_sprintf(&w->arena, "%lld", (long long)upstream);
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &enabled, 1, "test", &task, &failed, NULL), AX_OK);
	return task.id;
}

static int64_t make_sharded(struct world *w)
{
	struct ax_task task = task_row(w, make_task(w, "", NULL));
	task.def.shard_count = 8;
	task.def.retry_count = 0;
	assert_int_equal(ax_task_update(&w->ctx, task.id, 1, &task.def, "test", &task, NULL), AX_OK);
	return task.id;
}

static void test_b177_many_shards_are_one_success(void **state)
{
	struct world *w = *state;
	struct ax_order orders[10];
	struct ax_run again;
	int64_t id = make_sharded(w), behind = make_downstream(w, id);
	trigger(w, id);
	assert_int_equal(poll(w, "w1", "i1", 10, orders, NULL), 8);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(count_all(w, behind), 0);
		result(w, "w1", &orders[i].run, AX_OUTCOME_SUCCESS);
		result(w, "w1", &orders[i].run, AX_OUTCOME_SUCCESS); /* said twice */
	}
	assert_int_equal(count_all(w, behind), 1);
	result(w, "w1", &(struct ax_run){ .gid = claim(w).gid, .fence = 1 }, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, behind, AX_RUN_SUCCESS), 1);
	/* one of them fails: nothing is started; it alone is done again: then it is */
	struct ax_run parent = trigger(w, id);
	assert_int_equal(poll(w, "w1", "i1", 10, orders, NULL), 8);
	for (int i = 0; i < 8; i++)
		result(w, "w1", &orders[i].run, i == 3 ? AX_OUTCOME_FAILED : AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_FAILED);
	assert_int_equal(count_runs(w, behind, AX_RUN_WAITING), 0);
	assert_int_equal(count_runs(w, behind, AX_RUN_BLOCKED), 1);
	assert_int_equal(result(w, "w1", &orders[3].run, AX_OUTCOME_SUCCESS), AX_VERDICT_DUPLICATE);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_FAILED);
	assert_int_equal(ax_run_rerun(&w->ctx, parent.gid, "", true, &again, NULL), AX_OK);
	assert_int_equal(poll(w, "w1", "i1", 10, orders, NULL), 1);
	assert_int_equal(orders[0].run.shard, 4);
	result(w, "w1", &orders[0].run, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, behind, AX_RUN_WAITING), 1);
}

/* ---- alerts */

static void expected_each_minute(struct ax_task_def *def)
{
	def->retry_count = 0;
	def->absence_seconds = 120;
}

static void no_retries(struct ax_task_def *def)
{
	def->retry_count = 0;
}

static void test_b021_a_long_absence_is_one_alert_for_each_task(void **state)
{
	struct world *w = *state;
	make_channel(w);
	int64_t ids[] = { make_task(w, "* * * * *", NULL), make_task(w, "* * * * * ?", NULL) };
	go_quiet(w, DAY);
	restart(w);
	while (go(w, 0) <= w->now) {
	}
	live(w, 30);
	assert_int_equal(count_alerts(w, AX_ALERT_MISSED), 2);
	assert_int_equal(count_told(w, AX_ALERT_MISSED, AX_TELL_OPEN), 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(alert_of(w, AX_ALERT_MISSED, ids[i])->state, AX_ALERT_OPEN);
}

static void end_each_second(struct world *w, int64_t seconds, enum ax_outcome outcome)
{
	struct ax_order order;
	for (int64_t i = 0; i < seconds; i++) {
		go(w, 1000);
		if (poll(w, "w1", "i1", 1, &order, NULL) == 1)
			result(w, "w1", &order.run, outcome);
	}
}

static void test_b204_a_task_that_fails_all_the_time_is_told_once_and_each_hour(void **state)
{
	struct world *w = *state;
	make_channel(w);
	int64_t id = make_task(w, "* * * * * ?", no_retries);
	static const int64_t seconds[] = { 600, 7500 };
	static const int reminders[] = { 0, 2 };
	for (int i = 0; i < 2; i++) {
		end_each_second(w, seconds[i], AX_OUTCOME_FAILED);
		assert_int_equal(alert_of(w, AX_ALERT_FAILED, id)->count, seconds[i]);
		end_each_second(w, 601, AX_OUTCOME_SUCCESS); /* so long that the next one is not its continuation */
		assert_int_equal(count_alerts(w, AX_ALERT_FAILED), i + 1);
		assert_int_equal(count_told(w, AX_ALERT_FAILED, AX_TELL_OPEN), i + 1);
		assert_int_equal(count_told(w, AX_ALERT_FAILED, AX_TELL_RESOLVED), i + 1);
		assert_int_equal(count_told(w, AX_ALERT_FAILED, AX_TELL_REMINDER), reminders[i]);
	}
}

static void test_b205_what_never_starts_is_told(void **state)
{
	struct world *w = *state;
	make_channel(w);
	int64_t id = make_task(w, "* * * * *", expected_each_minute);
	int64_t alone = make_task(w, "* * * * *", for_report);
	live(w, AX_LEASE_MS / 1000); /* no worker asks for anything */
	assert_int_equal(count_alerts(w, AX_ALERT_WORKER_LOST), 0);
	live(w, 15);
	assert_int_equal(count_told(w, AX_ALERT_WORKER_LOST, AX_TELL_OPEN), 1);
	live(w, 75);
	assert_int_equal(alert_of(w, AX_ALERT_ABSENCE, id)->state, AX_ALERT_OPEN);
	live(w, 600); /* a task with no wishes of its own: its group's */
	assert_int_equal(alert_of(w, AX_ALERT_LATE, alone)->state, AX_ALERT_OPEN);
	assert_int_equal(count_told(w, AX_ALERT_ABSENCE, AX_TELL_OPEN), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
		T(test_b001_run_and_next_fire_are_written_together),
		T(test_b004_the_only_fire_comes_once),
		T(test_b006_a_delayed_run_is_nobodys_before_it_is_due),
		T(test_b017_a_late_start_meets_no_other_run),
		T(test_b018_asking_twice_does_it_once),
		T(test_b021_fires_while_the_server_was_down),
		T(test_b026_a_stall_of_95_seconds_drops_nothing),
		T(test_b030_outages_change_no_tasks_status),
		T(test_b036_catching_up_goes_through_the_quota),
		T(test_b037_a_task_made_long_ago_owes_nothing_from_before_its_start),
		T(test_b038_full_pools_do_not_repeat_fires),
		T(test_b040_a_failing_task_fires_no_more_often),
		T(test_b042_a_jump_of_a_month_is_walked_in_bounded_steps),
		T(test_b044_a_restart_fires_nothing_by_itself),
		T(test_b047_on_wake_up_all_that_was_due_is_handled_at_once),
		T(test_b050_a_clock_that_ran_ahead_makes_no_fire_twice),
		T(test_b052_a_run_ends_no_earlier_than_it_began),
		T(test_b083_an_edit_to_a_schedule_without_fires_changes_nothing),
		T(test_b046_what_is_no_fire_of_the_schedule_does_not_run),
		T(test_b046_jitter_is_no_other_fire),
		T(test_b096_a_window_has_its_begin_and_not_its_end),
		T(test_b135_a_task_that_cannot_be_read_stops_alone),
		T(test_b135_a_result_is_taken_whatever_became_of_its_schedule),
		T(test_b135_new_zone_data_reach_the_tasks_beside_a_bad_one),
		T(test_b097_a_dead_worker_blocks_neither_its_run_nor_the_next),
		T(test_b098_every_live_state_is_left_when_its_deadline_passes),
		T(test_b101_what_no_worker_offers_waits),
		T(test_b103_reports_of_the_past_move_nothing),
		T(test_b109_a_result_of_an_unknown_run_gets_a_verdict),
		T(test_b110_a_late_success_is_noted_once),
		T(test_b112_result_and_limit_race),
		T(test_b115_however_it_was_triggered_it_is_recovered),
		T(test_b119_cancel_and_claim_race),
		T(test_b127_old_runs_go_in_small_batches),
		T(test_b132_no_attempt_of_a_paused_or_deleted_task),
		T(test_b133_a_task_that_kills_its_workers_is_given_up),
		T(test_b137_urgent_work_without_end_starves_nobody),
		T(test_b143_a_worker_that_takes_and_is_silent_costs_only_time),
		T(test_b142_a_key_is_its_runs_for_as_long_as_the_run_is_kept),
		T(test_b158_a_group_of_500_workers),
		T(test_b154_a_rate_does_not_drift),
		T(test_b155_runs_by_hand_leave_the_rate_alone),
		T(test_b184_the_next_fire_follows_the_edit),
		T(test_b184_the_next_fire_follows_the_calendar),
		T(test_b185_the_scheduler_never_writes_a_persons_columns),
		T(test_b187_a_run_executes_the_definition_it_was_made_with),
		T(test_b189_resuming_at_the_instant_of_a_fire),
		T(test_b191_after_every_restart_every_task_fires),
		T(test_b192_a_deleted_task_runs_no_more),
		T(test_b197_delays_beyond_31_bits_of_milliseconds),
		T(test_b202_workers_that_never_come_back_are_forgotten),
		T(test_b177_many_shards_are_one_success),
		T(test_b021_a_long_absence_is_one_alert_for_each_task),
		T(test_b204_a_task_that_fails_all_the_time_is_told_once_and_each_hour),
		T(test_b205_what_never_starts_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
