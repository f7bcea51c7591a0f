/* The life of a run in a worker's hands: leases, limits, retries, losses, late results, cancels, quotas. */

#include "world.h"

#include "app/groups.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "app/workers.h"
#include "core/limits.h"

static struct ax_run begin(struct world *w, int64_t *ret_task, void (*change)(struct ax_task_def *def))
{
	struct ax_order order;
	int64_t id = make_task(w, "@hourly", change);
	struct ax_run run = trigger(w, id);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(order.run.gid, run.gid);
	assert_int_equal(order.run.fence, 1);
	if (ret_task != NULL)
		*ret_task = id;
	return order.run;
}

/* Ticks as a server does, second by second. */
static void live(struct world *w, int64_t seconds)
{
	for (int64_t i = 0; i < seconds; i++)
		go(w, 1000);
}

static void no_limit(struct ax_task_def *def)
{
	def->timeout_seconds = 0;
}

static void on_lost_fail(struct ax_task_def *def)
{
	def->lost_fails = true;
}

static void no_retries(struct ax_task_def *def)
{
	def->retry_count = 0;
}

static void only_temporary(struct ax_task_def *def)
{
	def->retry_on = "75,500-599"; /* failures of this world exit with 3 */
	def->retry_backoff = AX_BACKOFF_LIST;
	def->retry_delays = "7";
	def->retry_jitter_percent = 0;
}

static void only_three(struct ax_task_def *def)
{
	only_temporary(def);
	def->retry_on = "3";
}

static void test_only_chosen_codes_are_retried(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, NULL, only_temporary);
	result(w, "w1", &run, AX_OUTCOME_FAILED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_FAILED);
	assert_string_equal(run_row(w, run.gid).reason, "not_retried");
	run = begin(w, NULL, only_temporary);
	result(w, "w1", &run, AX_OUTCOME_TIMEOUT); /* it has no code: always */
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RETRYING);
	run = begin(w, NULL, only_three);
	result(w, "w1", &run, AX_OUTCOME_FAILED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RETRYING);
	assert_int_equal(run_row(w, run.gid).deadline_time, w->now + 7000);
}

static void test_success(void **state)
{
	struct world *w = *state;
	int64_t id;
	struct ax_run run = begin(w, &id, NULL);
	assert_int_equal(report(w, "w1", AX_ITEM_ACCEPTED, &run), AX_VERDICT_APPLIED);
	assert_int_equal(report(w, "w1", AX_ITEM_STARTED, &run), AX_VERDICT_APPLIED);
	assert_int_equal(report(w, "w1", AX_ITEM_STARTED, &run), AX_VERDICT_DUPLICATE);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_DUPLICATE);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_SUCCESS);
	assert_int_equal(attempt_row(w, run.gid, 1).gid, 0); /* a first-try success costs no attempt row */
	assert_int_equal(task_row(w, id).last_run_gid, run.gid);
}

/* An attempt in one report: its start, what it printed (NULL: nothing), and its end after so long. */
static void send_whole(
	struct world *w, const struct ax_run *run, const char *printed, enum ax_outcome outcome, int64_t duration_ms)
{
	static const char *const groups[] = { "default", NULL };
	const struct ax_item start = {
		.type = AX_ITEM_STARTED, .percent = -1, .message = "", .data = "", .result = ""
	};
	struct ax_item items[3] = { start, start };
	int n = 1;
	if (printed != NULL) {
		items[n].type = AX_ITEM_OUTPUT;
		items[n].data = printed;
		items[n++].len = (int64_t)strlen(printed);
	}
	items[n++] = (struct ax_item){ .type = AX_ITEM_RESULT,
		.outcome = outcome,
		.code = 3,
		.message = "",
		.data = "",
		.result = "",
		.duration_ms = duration_ms };
	for (int i = 0; i < n; i++) {
		items[i].gid = run->gid;
		items[i].fence = run->fence;
	}
	struct ax_report report = { .worker = "w1", .incarnation = "i1", .groups = groups, .items = items, .n = n };
	assert_int_equal(ax_ingest(&w->ctx, &report, NULL), AX_OK);
	for (int i = 0; i < n; i++)
		assert_int_equal(items[i].verdict, AX_VERDICT_APPLIED);
}

static void test_a_start_and_its_result_are_written_at_once(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, NULL, NULL);
	int64_t rev = run_row(w, run.gid).rev;
	send_whole(w, &run, NULL, AX_OUTCOME_SUCCESS, 0);
	struct ax_run row = run_row(w, run.gid);
	assert_int_equal(row.status, AX_RUN_SUCCESS);
	assert_int_equal(row.start_time, w->now);
	assert_int_equal(row.rev, rev + 1);
	run = begin(w, NULL, NULL);
	send_whole(w, &run, NULL, AX_OUTCOME_FAILED, 0);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RETRYING);
	assert_int_equal(attempt_row(w, run.gid, run.fence).start_time, w->now);
}

/* The worker knows how long; a server that hears of the start only with the end does not. */
static void test_what_is_heard_with_its_end_began_as_long_before_as_it_took(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 2; i++) {
		const char *printed = i == 0 ? NULL : "hello\n";
		struct ax_run run = begin(w, NULL, NULL);
		go(w, 500);
		send_whole(w, &run, printed, AX_OUTCOME_SUCCESS, 7);
		assert_int_equal(run_row(w, run.gid).start_time, w->now - 7);
		assert_int_equal(run_row(w, run.gid).end_time, w->now);
		run = begin(w, NULL, NULL);
		go(w, 500);
		send_whole(w, &run, printed, AX_OUTCOME_FAILED, INT64_MAX); /* not before it was given out */
		assert_int_equal(attempt_row(w, run.gid, run.fence).start_time, w->now - 500);
		run = begin(w, NULL, NULL);
		w->now -= 500; /* the clock goes back */
		send_whole(w, &run, printed, AX_OUTCOME_SUCCESS, 7);
		assert_int_equal(run_row(w, run.gid).start_time, w->now);
		w->now += 500;
	}
}

/* B129 */
static void test_failures_retry_with_back_off_and_the_last_one_counts(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, NULL, NULL);
	for (int retry = 0; retry < 3; retry++) {
		struct ax_order order;
		assert_int_equal(result(w, "w1", &run, AX_OUTCOME_FAILED), AX_VERDICT_APPLIED);
		struct ax_run row = run_row(w, run.gid);
		assert_int_equal(row.status, AX_RUN_RETRYING);
		int64_t minute = INT64_C(60000) << retry;
		assert_in_range(row.deadline_time - w->now, minute * 9 / 10, minute * 11 / 10);
		assert_int_equal(attempt_row(w, run.gid, run.fence).attempt, retry + 1);
		go(w, row.deadline_time - w->now);
		assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
		assert_int_equal(order.run.gid, run.gid);
		assert_int_equal(order.run.fence, run.fence + 1);
		assert_string_equal(order.run.result_msg, ""); /* what the last one said is in its own row */
		run = order.run;
	}
	assert_int_equal(ax_run_attempt(&run), 4);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_FAILED), AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_FAILED);
	assert_int_equal(run_row(w, run.gid).result_code, 3);
}

static void test_a_refusal_is_not_retried(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, NULL, NULL);
	result(w, "w1", &run, AX_OUTCOME_REFUSED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_FAILED);
	assert_string_equal(run_row(w, run.gid).reason, "refused");
}

static void test_a_lease_is_no_longer_for_a_clock_that_went_back_meanwhile(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, NULL, NULL);
	report(w, "w1", AX_ITEM_ACCEPTED, &run);
	go_quiet(w, -3600000);
	restart(w);
	go(w, 1000);
	assert_in_range(run_row(w, run.gid).deadline_time - w->now, 1, AX_LEASE_MS);
}

static void test_not_accepted_in_time_goes_back_without_a_lost_attempt(void **state)
{
	struct world *w = *state;
	live(w, 46); /* past the start's hold */
	struct ax_run run = begin(w, NULL, NULL);
	live(w, 14);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_DISPATCHED);
	live(w, 2);
	struct ax_run row = run_row(w, run.gid);
	assert_int_equal(row.status, AX_RUN_WAITING);
	assert_int_equal(row.lost_times, 0);
	assert_int_equal(ax_run_attempt(&row), 1);
	assert_int_equal(report(w, "w1", AX_ITEM_HEARTBEAT, &run), AX_VERDICT_STOP);
}

static void test_a_claim_that_nobody_accepts_ends_some_day(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = begin(w, NULL, NULL);
	for (int i = 0; i < 60 && !ax_run_is_terminal(run_row(w, run.gid).status); i++) {
		struct ax_order order;
		live(w, 16);
		(void)poll(w, "w1", "i1", 1, &order, NULL);
	}
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_TIMEOUT);
}

/* B007 */
static void test_a_silent_worker_loses_its_lease(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = begin(w, NULL, no_limit);
	report(w, "w1", AX_ITEM_STARTED, &run);
	for (int i = 0; i < 10; i++) { /* heartbeats keep it for as long as they come */
		live(w, 15);
		assert_int_equal(report(w, "w1", AX_ITEM_HEARTBEAT, &run), AX_VERDICT_APPLIED);
	}
	live(w, 44);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RUNNING);
	live(w, 2);
	struct ax_run row = run_row(w, run.gid);
	assert_int_equal(row.status, AX_RUN_WAITING);
	assert_string_equal(row.reason, "lost");
	assert_int_equal(row.lost_times, 1);
	assert_int_equal(row.retry_times, 0);
	assert_int_equal(attempt_row(w, run.gid, 1).outcome, AX_OUTCOME_LOST);
}

static void test_lost_too_often_ends_as_timeout(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = begin(w, NULL, no_limit);
	for (int lost = 0; lost < 4; lost++) {
		struct ax_order order;
		if (lost > 0)
			assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
		if (lost > 0)
			run = order.run;
		report(w, "w1", AX_ITEM_STARTED, &run);
		live(w, 46);
	}
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_TIMEOUT);
	assert_string_equal(run_row(w, run.gid).reason, "lost");
}

static void test_on_lost_fail_ends_at_the_first(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = begin(w, NULL, on_lost_fail);
	report(w, "w1", AX_ITEM_STARTED, &run);
	live(w, 46);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_TIMEOUT);
}

/* B100 */
static void test_the_hard_limit_does_not_wait_for_the_worker(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = begin(w, NULL, no_retries);
	report(w, "w1", AX_ITEM_STARTED, &run);
	for (int i = 0; i < 69; i++) { /* timeout 60 s + grace 5 s + 5 s, heartbeats all the while */
		live(w, 1);
		assert_int_equal(report(w, "w1", AX_ITEM_HEARTBEAT, &run), AX_VERDICT_APPLIED);
	}
	live(w, 2);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_TIMEOUT);
	assert_string_equal(run_row(w, run.gid).reason, "hard_limit");
	/* what the worker says later is kept beside it and changes nothing */
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_TIMEOUT);
	assert_int_equal(attempt_row(w, run.gid, 1).late_outcome, AX_OUTCOME_SUCCESS);
}

static void test_a_late_success_with_the_current_fence_counts(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = begin(w, NULL, no_limit);
	report(w, "w1", AX_ITEM_STARTED, &run);
	live(w, 46);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_WAITING);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_SUCCESS);
}

static void test_a_late_success_after_a_new_claim_does_not(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	live(w, 46);
	struct ax_run run = begin(w, NULL, no_limit);
	report(w, "w1", AX_ITEM_STARTED, &run);
	live(w, 46);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_DISPATCHED);
	assert_int_equal(attempt_row(w, run.gid, 1).late_outcome, AX_OUTCOME_SUCCESS);
}

/* B008 */
static void test_a_server_that_was_away_does_not_blame_the_workers(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = begin(w, NULL, NULL);
	report(w, "w1", AX_ITEM_STARTED, &run);
	go_quiet(w, 3600000); /* an hour: lease and hard limit are long over */
	restart(w);
	live(w, 3);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RUNNING);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_SUCCESS);
}

static void test_a_restarted_worker_gives_up_what_it_does_not_name(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, NULL, NULL);
	report(w, "w1", AX_ITEM_STARTED, &run);
	register_worker(w, "w1", "i2", 10);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_WAITING);
	assert_string_equal(run_row(w, run.gid).reason, "worker_restarted");
	assert_non_null(strstr(attempt_row(w, run.gid, 1).message, "started anew"));
}

static enum ax_status register_again(struct world *w, const char *incarnation)
{
	struct ax_worker_group group = { .group_key = "default", .pool_size = 10 };
	struct ax_worker worker = { "w1", incarnation, .executors = "exec http", .tags = "{}", .version = "",
		.address = "" };
	struct ax_registration reg = { .worker = worker, .groups = &group, .n_groups = 1 };
	return ax_worker_register(&w->ctx, &reg, NULL);
}

/* B109: its message was under way for long, to a server that stood still. */
static void test_an_earlier_incarnation_does_not_come_back(void **state)
{
	struct world *w = *state;
	register_worker(w, "w1", "i2", 10);
	assert_int_equal(register_again(w, "i1"), AX_CONFLICT);
	assert_int_equal(register_again(w, "i2"), AX_OK);
	static const char *const next[] = { "i3", "i4", "i5", "i6" };
	for (int i = 0; i < 4; i++) {
		assert_int_equal(register_again(w, next[i]), AX_OK);
		assert_int_equal(register_again(w, next[i]), AX_OK);
	}
	assert_int_equal(register_again(w, "i5"), AX_CONFLICT);
	assert_int_equal(register_again(w, "i2"), AX_CONFLICT);
	assert_int_equal(register_again(w, "i1"), AX_OK); /* four are remembered */
}

static void test_cancel_is_asked_then_stopping_then_stopped(void **state)
{
	struct world *w = *state;
	struct ax_order none;
	struct ax_stop stop;
	struct ax_run run = begin(w, NULL, NULL), row;
	report(w, "w1", AX_ITEM_STARTED, &run);
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "wrong customer", &row, NULL), AX_OK);
	assert_int_equal(row.status, AX_RUN_RUNNING);
	assert_int_equal(row.cancel, AX_CANCEL_ASKED);
	assert_int_equal(poll(w, "w1", "i1", 1, &none, &stop), 0);
	assert_int_equal(stop.gid, run.gid);
	assert_int_equal(run_row(w, run.gid).cancel, AX_CANCEL_STOPPING);
	assert_int_equal(report(w, "w1", AX_ITEM_HEARTBEAT, &run), AX_VERDICT_STOP);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_CANCELLED), AX_VERDICT_APPLIED);
	row = run_row(w, run.gid);
	assert_int_equal(row.status, AX_RUN_CANCELLED);
	assert_int_equal(row.cancel, AX_CANCEL_STOPPED);
}

/* B120 */
static void test_a_success_beats_a_cancel_that_came_too_late(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, NULL, NULL), row;
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &row, NULL), AX_OK);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_SUCCESS);
}

static void test_a_foreign_worker_changes_nothing(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, NULL, NULL);
	register_worker(w, "w2", "i1", 10);
	assert_int_equal(report(w, "w2", AX_ITEM_STARTED, &run), AX_VERDICT_STOP);
	assert_int_equal(result(w, "w2", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_DISPATCHED);
	assert_int_equal(attempt_row(w, run.gid, 1).gid, 0);
}

static void test_quota_and_backlog_bound_what_is_given_out(void **state)
{
	struct world *w = *state;
	struct ax_order orders[100];
	struct ax_group group = { .group_key = "default",
		.title = "",
		.contacts = "",
		.long_share_percent = 50,
		.defaults = "{}",
		.dispatch_quota = 7,
		.pool_size = 10,
		.version = 1 };
	int64_t id = make_task(w, "", NULL);
	assert_int_equal(ax_group_update(&w->ctx, &group, &group, NULL), AX_OK);
	struct ax_task task = task_row(w, id);
	task.def.overlap = AX_OVERLAP_ALLOW;
	task.def.overlap_max = 1000;
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &task.def, "test", &task, NULL), AX_OK);
	for (int i = 0; i < 50; i++)
		trigger(w, id);
	assert_int_equal(poll(w, "w1", "i1", 100, orders, NULL), 7);
	assert_int_equal(poll(w, "w1", "i1", 100, orders + 7, NULL), 0);
	result(w, "w1", &orders[0].run, AX_OUTCOME_SUCCESS);
	assert_int_equal(poll(w, "w1", "i1", 100, orders, NULL), 1);
	group.dispatch_quota = 1000;
	assert_int_equal(ax_group_update(&w->ctx, &group, &group, NULL), AX_OK);
	/* pool 10 × 3 at most in one worker's hands: 7 are */
	assert_int_equal(poll(w, "w1", "i1", 100, orders, NULL), 23);
}

static void urgent(struct ax_task_def *def)
{
	def->priority = 9;
}

static void test_priority_goes_first_and_waiting_makes_up_for_it(void **state)
{
	struct world *w = *state;
	struct ax_order orders[3];
	struct ax_run run;
	bool existed;
	int64_t plain = make_task(w, "@hourly", NULL), first = make_task(w, "@hourly", urgent);
	struct ax_trigger old = { .task_id = plain, .params = "", .key = "" };
	assert_int_equal(ax_task_trigger(&w->ctx, &old, &run, &existed, NULL), AX_OK);
	go(w, 239000); /* four priority steps are four minutes of waiting */
	struct ax_trigger now = { .task_id = first, .params = "", .key = "" };
	assert_int_equal(ax_task_trigger(&w->ctx, &now, &run, &existed, NULL), AX_OK);
	assert_int_equal(poll(w, "w1", "i1", 1, orders, NULL), 1);
	assert_int_equal(orders[0].run.task_id, first);
	go(w, 2000);
	assert_int_equal(ax_task_trigger(&w->ctx, &now, &run, &existed, NULL), AX_OK);
	assert_int_equal(poll(w, "w1", "i1", 1, orders, NULL), 1);
	assert_int_equal(orders[0].run.task_id, plain);
}

static void test_retry_now_and_rerun_are_two_things(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, NULL, NULL), row;
	struct ax_err err;
	result(w, "w1", &run, AX_OUTCOME_FAILED);
	assert_int_equal(ax_run_rerun(&w->ctx, run.gid, "", false, &row, &err), AX_CONFLICT);
	assert_int_equal(ax_run_retry_now(&w->ctx, run.gid, &row, NULL), AX_OK);
	assert_int_equal(row.status, AX_RUN_WAITING);
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &row, NULL), AX_OK);
	assert_int_equal(row.status, AX_RUN_CANCELLED);
	assert_int_equal(ax_run_retry_now(&w->ctx, run.gid, &row, &err), AX_CONFLICT);
	assert_int_equal(ax_run_rerun(&w->ctx, run.gid, "", false, &row, NULL), AX_OK);
	assert_int_equal(row.rerun_of, run.gid);
	assert_true(row.gid != run.gid);
}

static void test_a_paused_task_holds_what_waits(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	struct ax_task task;
	int64_t id = make_task(w, "* * * * *", NULL);
	go(w, 60000);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 0);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_ENABLED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
}

static void test_delete_waits_for_what_workers_hold(void **state)
{
	struct world *w = *state;
	int64_t id;
	struct ax_run run = begin(w, &id, NULL);
	struct ax_err err;
	assert_int_equal(ax_task_delete(&w->ctx, id, false, "test", &err), AX_CONFLICT);
	assert_int_equal(ax_task_delete(&w->ctx, id, true, "test", &err), AX_CONFLICT);
	assert_int_equal(run_row(w, run.gid).cancel, AX_CANCEL_ASKED);
	result(w, "w1", &run, AX_OUTCOME_CANCELLED);
	assert_int_equal(ax_task_delete(&w->ctx, id, true, "test", &err), AX_OK);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_CANCELLED); /* history stays */
}

/* B209 */
static void test_a_draining_worker_gets_nothing_new(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	make_task(w, "* * * * *", NULL);
	assert_int_equal(ax_worker_drain(&w->ctx, "w1", true, NULL), AX_OK);
	go(w, 60000);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 0);
	register_worker(w, "w1", "i2", 10); /* a restart does not undo a person's decision */
	assert_int_equal(poll(w, "w1", "i2", 1, &order, NULL), 0);
	assert_int_equal(ax_worker_drain(&w->ctx, "w1", false, NULL), AX_OK);
	assert_int_equal(poll(w, "w1", "i2", 1, &order, NULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
		T(test_success),
		T(test_a_start_and_its_result_are_written_at_once),
		T(test_what_is_heard_with_its_end_began_as_long_before_as_it_took),
		T(test_failures_retry_with_back_off_and_the_last_one_counts),
		T(test_only_chosen_codes_are_retried),
		T(test_a_refusal_is_not_retried),
		T(test_a_lease_is_no_longer_for_a_clock_that_went_back_meanwhile),
		T(test_not_accepted_in_time_goes_back_without_a_lost_attempt),
		T(test_a_claim_that_nobody_accepts_ends_some_day),
		T(test_a_silent_worker_loses_its_lease),
		T(test_lost_too_often_ends_as_timeout),
		T(test_on_lost_fail_ends_at_the_first),
		T(test_the_hard_limit_does_not_wait_for_the_worker),
		T(test_a_late_success_with_the_current_fence_counts),
		T(test_a_late_success_after_a_new_claim_does_not),
		T(test_a_server_that_was_away_does_not_blame_the_workers),
		T(test_a_restarted_worker_gives_up_what_it_does_not_name),
		T(test_an_earlier_incarnation_does_not_come_back),
		T(test_cancel_is_asked_then_stopping_then_stopped),
		T(test_a_success_beats_a_cancel_that_came_too_late),
		T(test_a_foreign_worker_changes_nothing),
		T(test_quota_and_backlog_bound_what_is_given_out),
		T(test_priority_goes_first_and_waiting_makes_up_for_it),
		T(test_retry_now_and_rerun_are_two_things),
		T(test_a_paused_task_holds_what_waits),
		T(test_delete_waits_for_what_workers_hold),
		T(test_a_draining_worker_gets_nothing_new),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
