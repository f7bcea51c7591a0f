#include "app/change.h"

#include <string.h>

#include "app/alert_rules.h"
#include "app/canary.h"
#include "app/failures.h"
#include "app/make_up.h"
#include "app/run_def.h"
#include "app/schedule_next.h"
#include "app/shard_set.h"
#include "app/watch.h"
#include "core/duration.h"
#include "core/limits.h"
#include "core/retry.h"
#include "core/watch.h"

/* The row of an attempt that is over, as the run says it. */
static struct ax_attempt attempt_of(const struct ax_run *run, const struct ax_change *change, int64_t now)
{
	return (struct ax_attempt){
		.gid = run->gid,
		.fence = run->fence,
		.attempt = ax_run_attempt(run),
		.worker = run->worker,
		.dispatch_time = run->dispatch_time,
		.start_time = run->start_time,
		.end_time = AX_MAX(now, run->start_time), /* the clock may have gone back */
		.outcome = change->outcome,
		.code = change->code,
		.message = change->message != NULL ? change->message : "",
		.late_message = "",
	};
}

/* What keeps a run that becomes WAITING from being claimed. A delayed run that just came due asks the overlap rule,
 * with the task's row locked; the others were live before, so that whoever pauses the task waits for this run's row. */
static enum ax_status find_hold(
	struct ax_tx *tx, struct ax_run *run, enum ax_run_state from, enum ax_hold *ret, struct ax_err *err)
{
	struct ax_task task;
	bool room = true;
	enum ax_status status = tx->ops->task_get(tx, run->task_id, from == AX_RUN_PENDING, &task, err);
	if (status == AX_OK && from == AX_RUN_PENDING)
		status = ax_overlap_room(tx, &task, &room, err);
	if (status == AX_OK)
		*ret = ax_hold_of(&task, run, room);
	return status;
}

static void begin_claim(struct ax_run *run, int64_t now)
{
	run->fence++;
	run->accepted = false;
	run->dispatch_time = now;
	run->start_time = 0;
	run->heartbeat_time = 0;
	run->deadline_time = now + AX_ACCEPT_MS;
	run->limit_time = 0;
	run->progress_percent = -1;
	run->progress_msg = "";
	run->result_code = 0; /* what the attempt before said is in its own row */
	run->result_msg = "";
	run->result = "";
}

void ax_run_begin_work(struct ax_run *run, int64_t now)
{
	run->accepted = true;
	run->start_time = now;
	run->heartbeat_time = now;
	run->progress_time = now;
}

static void begin_running(struct ax_run *run, const struct ax_task_def *def, int64_t now)
{
	ax_run_begin_work(run, now);
	run->watch_time = ax_watch_next(run, def);
	run->limit_time = 0;
	run->deadline_time = now + AX_LEASE_MS;
	if (def->timeout_seconds > 0) {
		run->limit_time = now + (def->timeout_seconds + def->grace_seconds) * 1000 + AX_HARD_LIMIT_SLACK_MS;
		run->deadline_time = AX_MIN(run->deadline_time, run->limit_time);
	}
}

/* Sets the columns that belong to the state just entered. */
static enum ax_status enter_state(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, enum ax_run_state from,
	int64_t now, struct ax_err *err)
{
	struct ax_task_def def;
	enum ax_hold hold;
	enum ax_status status;
	switch (run->status) {
	case AX_RUN_WAITING:
		status = find_hold(tx, run, from, &hold, err);
		if (status == AX_OK)
			ax_hold_set(run, hold, now);
		return status;
	case AX_RUN_DISPATCHED:
		if (from == AX_RUN_WAITING)
			begin_claim(run, now);
		return AX_OK;
	case AX_RUN_RUNNING:
		if (from == AX_RUN_RUNNING)
			return AX_OK;
		status = ax_run_def(tx, run, &def, err);
		if (status == AX_OK && ax_run_is_parent(run))
			ax_parent_begin(run, &def, now);
		else if (status == AX_OK)
			begin_running(run, &def, now);
		return status;
	case AX_RUN_RETRYING:
		status = ax_run_def(tx, run, &def, err);
		if (status == AX_OK)
			run->deadline_time = ax_retry_time(&def, run->retry_times - 1, ax_rand_u64(ctx->rand), now);
		run->limit_time = 0;
		return status;
	case AX_RUN_PENDING:
	case AX_RUN_SUCCESS:
	case AX_RUN_FAILED:
	case AX_RUN_TIMEOUT:
	case AX_RUN_CANCELLED:
	case AX_RUN_BLOCKED:
	case AX_RUN_SKIPPED:
	case AX_RUN_MISSED:
		run->deadline_time = 0;
		run->limit_time = 0;
		run->hold = AX_HOLD_NONE;
		run->end_time = AX_MAX(now, run->start_time); /* the clock may have gone back */
		return AX_OK;
	}
	ax_die(__FILE__, __LINE__, "unknown run state");
}

/* The counters of the runs that are out, of the group and of the worker. */
static enum ax_status count_place(struct ax_tx *tx, const struct ax_run *run, int64_t delta, struct ax_err *err)
{
	int64_t long_delta = run->lane == AX_RUN_LANE_LONG ? delta : 0;
	enum ax_status status = tx->ops->group_add_running(tx, run->group_key, delta, long_delta, err);
	return status == AX_OK
		? tx->ops->worker_group_add_given(tx, run->worker, run->group_key, delta, long_delta, err)
		: status;
}

static enum ax_status give_back_quota(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run, struct ax_err *err)
{
	enum ax_status status = count_place(tx, run, -1, err);
	if (status == AX_OK)
		ctx->notify->ops->group_ready(ctx->notify, run->group_key);
	return status;
}

/* What the end of a run means for its task: the copy in lists, the next @after fire, whoever waits for the overlap
 * rule; and for the tasks behind it. */
static enum ax_status after_end(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run, bool muted, int64_t now, struct ax_err *err)
{
	struct ax_task task;
	enum ax_status status = ax_backfill_count(tx, run, err);
	if (status == AX_OK)
		status = tx->ops->task_get(tx, run->task_id, true, &task, err);
	if (status == AX_NOT_FOUND)
		return AX_OK; /* the task is gone, its history stays */
	if (status == AX_OK)
		status = ax_canary_ended(ctx, tx, &task, run, now, err);
	if (status == AX_OK) {
		task.last_run_gid = run->gid;
		task.last_run_status = run->status;
		task.last_run_end_time = AX_MAX(run->end_time, task.last_run_end_time); /* @after counts from here */
		if (run->status == AX_RUN_SUCCESS)
			task.absence_time = task.last_run_end_time;
		task.durations = ax_durations_learn(tx->arena, task.durations, run);
		status = tx->ops->task_last_run(tx, &task, err);
	}
	if (status == AX_OK)
		status = ax_alert_run_ended(ctx, tx, &task, run, muted, now, err);
	if (status == AX_OK)
		status = ax_release_held(ctx, tx, &task, now, err);
	if (status == AX_OK)
		status = ax_schedule_after(ctx, tx, &task, now, err);
	if (status == AX_OK)
		status = ax_change_follow(ctx, tx, &task, run, now, err);
	ctx->notify->ops->task_changed(ctx->notify, task.id);
	return status;
}

/* Retries, losses and bounces are counted when the attempt has been recorded under its own number. */
static void count_attempt(struct ax_run *run, enum ax_run_event event)
{
	if (event == AX_EV_FAIL_RETRY)
		run->retry_times++;
	if (event == AX_EV_LOST_RETRY)
		run->lost_times++;
	run->bounce_times = event == AX_EV_BOUNCE ? run->bounce_times + 1
		: event == AX_EV_CLAIM            ? run->bounce_times
						  : 0;
}

static void note_change(struct ax_run *run, const struct ax_change *change)
{
	run->reason = change->reason;
	if (change->outcome == 0) /* no attempt ended */
		return;
	run->result_code = change->code;
	run->ended_by_worker = change->by_worker;
	if (change->message != NULL)
		run->result_msg = change->message;
	if (change->result != NULL)
		run->result = change->result;
}

enum ax_status ax_change_run(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, const struct ax_change *change,
	int64_t now, struct ax_err *err)
{
	struct ax_run_step step = ax_run_step(run->status, change->event);
	unsigned not_its_own = ax_run_is_parent(run) ? AX_FX_TAKE | AX_FX_GIVE : AX_FX_PARENT;
	if (!step.allowed || (step.effects & not_its_own))
		return ax_fail(err, AX_CONFLICT, "status", "a run that is %s does not take %s",
			ax_run_state_name(run->status), ax_run_event_name(change->event));
	enum ax_run_state from = run->status;
	enum ax_status status = AX_OK;
	bool muted = false; /* its failure, if it ends as one */
	ctx->written++;
	if (step.effects & AX_FX_RECORD) {
		struct ax_attempt attempt = attempt_of(run, change, now);
		status = tx->ops->attempt_put(tx, &attempt, err);
	}
	count_attempt(run, change->event);
	note_change(run, change);
	run->status = step.next;
	if (step.effects & AX_FX_ASK)
		run->cancel = AX_MAX(run->cancel, AX_CANCEL_ASKED);
	if (status == AX_OK)
		status = enter_state(ctx, tx, run, from, now, err);
	if (status == AX_OK)
		status = ax_watch_changed(ctx, tx, run, now, err);
	if (status == AX_OK)
		status = tx->ops->run_update(tx, run, run->rev, err);
	if (status == AX_OK)
		run->rev++;
	if (status == AX_OK && (step.effects & AX_FX_END))
		status = ax_failure_note(tx, run, now, &muted, err);
	if (status == AX_OK && (step.effects & AX_FX_TAKE))
		status = count_place(tx, run, 1, err);
	if (status == AX_OK && (step.effects & AX_FX_END))
		status = run->parent != 0 ? ax_change_parent(ctx, tx, run->parent, now, err)
					  : after_end(ctx, tx, run, muted, now, err);
	if (status == AX_OK && (step.effects & AX_FX_GIVE))
		status = give_back_quota(ctx, tx, run, err);
	if (status != AX_OK)
		return status;
	ctx->notify->ops->run_changed(ctx->notify, run);
	if (run->status == AX_RUN_WAITING || (step.effects & AX_FX_ASK))
		ctx->notify->ops->group_ready(ctx->notify, run->group_key);
	return AX_OK;
}

enum ax_status ax_change_parent(struct ax_ctx *ctx, struct ax_tx *tx, int64_t gid, int64_t now, struct ax_err *err)
{
	struct ax_run parent;
	struct ax_parent_end end;
	enum ax_status status = ax_parent_judge(ctx, tx, gid, &parent, &end, err);
	if (status != AX_OK)
		return status;
	const struct ax_change change = { .event = end.event, .reason = end.reason };
	/* Whom this waited for may have ended another shard meanwhile: the parent ends no earlier than that one. What
	 * was cancelled ends with its shards, in the transaction that may begin another run in its place. */
	int64_t ended = parent.cancel == AX_CANCEL_NONE ? AX_MAX(now, ax_now_ms(ctx->clock)) : now;
	return end.over ? ax_change_run(ctx, tx, &parent, &change, ended, err) : AX_OK;
}

/* The attempt is over without a result: given back when it was never accepted, else lost. `how` names the reason and
 * whether the worker itself said so. */
static enum ax_status lose(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, struct ax_change how, int64_t now, struct ax_err *err)
{
	struct ax_task_def def;
	enum ax_status status = ax_run_def(tx, run, &def, err);
	if (status != AX_OK)
		return status;
	if (run->cancel != AX_CANCEL_NONE) {
		how.event = AX_EV_CANCEL_CONFIRMED;
		how.reason = run->reason[0] != '\0' ? run->reason : "cancelled"; /* who asked: a person, or `replace` */
		how.message = "the worker that was asked to stop it is gone; its lease ended";
		run->cancel = AX_CANCEL_STOPPED;
	} else if (run->status == AX_RUN_DISPATCHED && !run->accepted && run->bounce_times < AX_BOUNCE_LIMIT) {
		how.event = AX_EV_BOUNCE;
		how.outcome = AX_OUTCOME_BOUNCED;
		how.message = how.by_worker ? "it was given back before it began" : "no worker accepted it in time";
	} else if (def.lost_fails || run->lost_times >= def.lost_limit) {
		how.event = AX_EV_LOST_LAST;
	} else {
		how.event = AX_EV_LOST_RETRY;
	}
	return ax_change_run(ctx, tx, run, &how, now, err);
}

enum ax_status ax_change_result(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, struct ax_change *said,
	int64_t now, struct ax_err *err)
{
	struct ax_task_def def;
	if (said->outcome == AX_OUTCOME_SUCCESS) {
		said->event = AX_EV_SUCCEED;
		said->reason = "";
		return ax_change_run(ctx, tx, run, said, now, err);
	}
	enum ax_status status = ax_run_def(tx, run, &def, err);
	if (status != AX_OK)
		return status;
	bool tries_left = run->retry_times < def.retry_count;
	if (run->cancel != AX_CANCEL_NONE) { /* whatever way it ended: it was asked to, and is not tried again */
		said->event = AX_EV_CANCEL_CONFIRMED;
		said->reason =
			run->reason[0] != '\0' ? run->reason : "cancelled"; /* who asked: a person, or `replace` */
		run->cancel = AX_CANCEL_STOPPED;
	} else if (said->outcome == AX_OUTCOME_CANCELLED) { /* nobody asked: the worker is shutting down */
		said->reason = "worker_stopped";
		said->message = "the worker ended it before it was done";
		return lose(ctx, tx, run, *said, now, err);
	} else if (said->outcome == AX_OUTCOME_REFUSED) {
		said->event = AX_EV_FAIL_LAST;
		said->reason = "refused";
	} else if (said->outcome == AX_OUTCOME_FAILED) {
		bool retried = ax_retry_on(def.retry_on, said->code);
		said->event = tries_left && retried ? AX_EV_FAIL_RETRY : AX_EV_FAIL_LAST;
		said->reason = tries_left && !retried ? "not_retried" : "exit";
	} else {
		said->event = tries_left ? AX_EV_FAIL_RETRY : AX_EV_TIMEOUT_LAST;
		said->reason = said->outcome == AX_OUTCOME_LIMIT ? "hard_limit" : "timeout";
	}
	return ax_change_run(ctx, tx, run, said, now, err);
}

enum ax_status ax_change_lost(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, const char *reason, int64_t now, struct ax_err *err)
{
	static const struct {
		const char *reason, *message;
	} losses[] = {
		{ "lost", "the worker fell silent and its lease ended" },
		{ "worker_restarted", "the worker started anew and did not have it any more" },
		{ "worker_left", "the worker left before it was done" },
	};
	struct ax_change how = { .reason = reason, .outcome = AX_OUTCOME_LOST };
	for (size_t i = 0; i < AX_COUNT(losses); i++)
		if (strcmp(losses[i].reason, reason) == 0)
			how.message = losses[i].message;
	return lose(ctx, tx, run, how, now, err);
}
