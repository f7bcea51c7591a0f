#include "app/canary.h"

#include <inttypes.h>
#include <string.h>

#include "app/claim.h"
#include "app/task_check.h"
#include "core/duration.h"
#include "core/limits.h"

/* The version row of the task as it is. */
static enum ax_status append_version(struct ax_tx *tx, const struct ax_task *task, const struct ax_task_def *def,
	int64_t version, struct ax_err *err)
{
	struct ax_task_version row = {
		.task_id = task->id,
		.version = version,
		.time = task->update_time,
		.author = task->updated_by,
		.def = *def,
	};
	return tx->ops->task_version_insert(tx, &row, err);
}

struct begin {
	struct ax_ctx *ctx;
	const struct ax_canary *ask;
	const struct ax_task_def *trial;
	const char *actor;
	struct ax_canary *ret;
	int64_t now;
};

static enum ax_status open_task(struct ax_tx *tx, int64_t id, struct ax_task *ret, struct ax_err *err)
{
	enum ax_status status = tx->ops->task_get(tx, id, true, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "id", "there is no task %" PRId64, id);
	return status == AX_OK ? ax_task_refuse_if_deleting(ret, err) : status;
}

static enum ax_status begin(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct begin *b = arg;
	struct ax_task task;
	enum ax_status status = open_task(tx, b->ask->task_id, &task, err);
	if (status != AX_OK)
		return status;
	if (task.canary_version != 0)
		return ax_fail(err, AX_CONFLICT, "id",
			"version %" PRId64 " is on trial: promote it or roll it back first", task.canary_version);
	if (task.version != b->ask->base_version)
		return ax_fail(
			err, AX_CONFLICT, "version", "the task is at version %" PRId64 "; read it again", task.version);
	if (ax_canary_same(&task.def, b->trial))
		return ax_fail(err, AX_INVALID, "change", "the trial is the task as it is: change something");
	const char *forbidden = ax_canary_forbidden(&task.def, b->trial);
	if (forbidden != NULL)
		return ax_fail(err, AX_INVALID, forbidden,
			"a canary changes executor, parameters, time limits and retries; change %s in the task itself",
			forbidden);
	int64_t old_next = task.next_trigger_time;
	task.canary_version = task.version + 1;
	task.canary_percent = b->ask->percent;
	task.update_time = b->now;
	task.updated_by = b->actor;
	*b->ret = *b->ask;
	b->ret->version = task.canary_version;
	b->ret->state = AX_CANARY_RUNNING;
	b->ret->durations = b->ret->base_durations = "";
	b->ret->start_time = b->now;
	b->ret->started_by = b->actor;
	b->ret->ended_by = b->ret->reason = "";
	status = append_version(tx, &task, b->trial, task.canary_version, err);
	if (status == AX_OK)
		status = tx->ops->task_update(tx, &task, task.version, old_next, err);
	if (status == AX_OK)
		status = tx->ops->canary_put(tx, b->ret, err);
	b->ctx->notify->ops->task_changed(b->ctx->notify, task.id);
	return status;
}

enum ax_status ax_canary_begin(struct ax_ctx *ctx, const struct ax_canary *ask, const struct ax_task_def *trial,
	const char *actor, struct ax_canary *ret, struct ax_err *err)
{
	struct begin b = {
		.ctx = ctx, .ask = ask, .trial = trial, .actor = actor, .ret = ret, .now = ax_now_ms(ctx->clock)
	};
	enum ax_status status = ax_task_check(ctx, trial, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, begin, &b, err) : status;
}

/* Ends the canary: the trial becomes the task's version, or the base does once more. */
static enum ax_status end(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, struct ax_canary *canary,
	enum ax_canary_state to, const char *actor, int64_t now, struct ax_err *err)
{
	int64_t old_version = task->version;
	struct ax_task_version trial;
	enum ax_status status = tx->ops->task_version_get(tx, task->id, canary->version, &trial, err);
	if (status != AX_OK)
		return status;
	task->update_time = now;
	task->updated_by = actor;
	task->canary_version = task->canary_percent = 0;
	task->version = to == AX_CANARY_PROMOTED ? canary->version : canary->version + 1;
	if (to == AX_CANARY_PROMOTED)
		task->def = trial.def;
	else
		status = append_version(tx, task, &task->def, task->version, err);
	if (status == AX_OK)
		status = tx->ops->task_update(tx, task, old_version, task->next_trigger_time, err);
	canary->state = to;
	canary->end_time = now;
	canary->ended_by = actor;
	if (status == AX_OK)
		status = tx->ops->canary_put(tx, canary, err);
	ctx->notify->ops->task_changed(ctx->notify, task->id);
	return status;
}

struct change {
	struct ax_ctx *ctx;
	int64_t task_id;
	int64_t percent;
	bool automatic;
	enum ax_canary_state to;
	const char *reason, *actor;
	struct ax_canary *ret;
	int64_t now;
};

/* The task, locked, with the canary that it has on trial. */
static enum ax_status open_canary(
	struct ax_tx *tx, int64_t task_id, struct ax_task *ret_task, struct ax_canary *ret_canary, struct ax_err *err)
{
	enum ax_status status = open_task(tx, task_id, ret_task, err);
	if (status == AX_OK)
		status = tx->ops->canary_get(tx, task_id, ret_canary, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "id", "task %" PRId64 " has no canary", task_id);
	if (status == AX_OK && ret_canary->state != AX_CANARY_RUNNING)
		return ax_fail(err, AX_CONFLICT, "state", "the canary of this task has ended already");
	return status;
}

static enum ax_status set(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct change *c = arg;
	struct ax_task task;
	enum ax_status status = open_canary(tx, c->task_id, &task, c->ret, err);
	if (status != AX_OK)
		return status;
	c->ret->percent = task.canary_percent = c->percent;
	c->ret->automatic = c->automatic;
	status = tx->ops->task_update(tx, &task, task.version, task.next_trigger_time, err);
	return status == AX_OK ? tx->ops->canary_put(tx, c->ret, err) : status;
}

enum ax_status ax_canary_set(
	struct ax_ctx *ctx, int64_t task_id, int64_t percent, bool automatic, struct ax_canary *ret, struct ax_err *err)
{
	struct change c = { .ctx = ctx, .task_id = task_id, .percent = percent, .automatic = automatic, .ret = ret };
	return ax_store_run(ctx->store, ctx->arena, set, &c, err);
}

static enum ax_status decide(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct change *c = arg;
	struct ax_task task;
	enum ax_status status = open_canary(tx, c->task_id, &task, c->ret, err);
	c->ret->reason = c->reason;
	return status == AX_OK ? end(c->ctx, tx, &task, c->ret, c->to, c->actor, c->now, err) : status;
}

enum ax_status ax_canary_decide(struct ax_ctx *ctx, int64_t task_id, enum ax_canary_state to, const char *reason,
	const char *actor, struct ax_canary *ret, struct ax_err *err)
{
	struct change c = {
		.ctx = ctx,
		.task_id = task_id,
		.to = to,
		.reason = reason,
		.actor = actor,
		.ret = ret,
		.now = ax_now_ms(ctx->clock),
	};
	return ax_store_run(ctx->store, ctx->arena, decide, &c, err);
}

enum ax_status ax_canary_choose(struct ax_tx *tx, const struct ax_task *task, struct ax_run *run, struct ax_err *err)
{
	if (task->canary_version == 0 || !ax_canary_takes(run->gid, task->canary_percent))
		return AX_OK;
	struct ax_task_version trial;
	enum ax_status status = tx->ops->task_version_get(tx, task->id, task->canary_version, &trial, err);
	if (status != AX_OK)
		return status;
	run->version = trial.version;
	run->executor_key = trial.def.executor_key;
	return AX_OK;
}

/* Counts a run of either arm; false when it is of neither. */
static bool count(struct ax_ctx *ctx, struct ax_canary *canary, const struct ax_run *run)
{
	bool success = run->status == AX_RUN_SUCCESS, trial = run->version == canary->version;
	if (!success && run->status != AX_RUN_FAILED && run->status != AX_RUN_TIMEOUT)
		return false;
	if (run->create_time < canary->start_time || (!trial && run->version != canary->base_version))
		return false;
	int64_t *n = trial ? success ? &canary->succeeded : &canary->failed
		: success  ? &canary->base_succeeded
			   : &canary->base_failed;
	const char **durations = trial ? &canary->durations : &canary->base_durations;
	++*n;
	if (success)
		*durations = ax_durations_add(ctx->arena, *durations, run->end_time - run->start_time);
	return true;
}

static enum ax_status note_verdict(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_canary *canary, int64_t now, struct ax_err *err)
{
	struct ax_audit_entry entry = {
		.time = now,
		.actor = "rule",
		.address = "",
		.action = canary->state == AX_CANARY_PROMOTED ? "canary.promote" : "canary.rollback",
		.object = ax_sprintf(ctx->arena, "task:%" PRId64, canary->task_id),
		.before = "",
		.after = "",
		.reason = canary->reason,
	};
	return tx->ops->audit_append(tx, &entry, err);
}

enum ax_status ax_canary_ended(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, const struct ax_run *run,
	int64_t now, struct ax_err *err)
{
	struct ax_canary canary;
	if (task->canary_version == 0 || run->shard != 0)
		return AX_OK;
	enum ax_status status = tx->ops->canary_get(tx, task->id, &canary, err);
	if (status != AX_OK || !count(ctx, &canary, run))
		return status;
	enum ax_canary_state verdict = AX_CANARY_RUNNING;
	if (canary.automatic)
		verdict = ax_canary_judge(&canary, ctx->arena, &canary.reason);
	if (verdict == AX_CANARY_RUNNING)
		return tx->ops->canary_put(tx, &canary, err);
	status = end(ctx, tx, task, &canary, verdict, "rule", now, err);
	return status == AX_OK ? note_verdict(ctx, tx, &canary, now, err) : status;
}

static enum ax_status wait_in_vain(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, struct ax_canary *canary,
	const struct ax_run *run, int64_t now, struct ax_err *err)
{
	struct ax_claim_view view = { .tx = tx, .now = now };
	struct ax_claim_facts facts;
	if (!canary->automatic || now - run->ready_time < AX_CANARY_WAIT_MS)
		return AX_OK;
	enum ax_status status = ax_claim_facts_read(&view, run, &facts, err);
	if (status != AX_OK || facts.offering > 0)
		return status;
	canary->reason = ax_sprintf(ctx->arena,
		"no worker offers executor %s: run %" PRId64 " has waited for one for %d minutes", run->executor_key,
		run->gid, AX_CANARY_WAIT_MS / 60000);
	status = end(ctx, tx, task, canary, AX_CANARY_ROLLED_BACK, "rule", now, err);
	return status == AX_OK ? note_verdict(ctx, tx, canary, now, err) : status;
}

static enum ax_status move_run(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run, struct ax_err *err)
{
	run->version = task->version;
	run->executor_key = task->def.executor_key;
	ctx->notify->ops->run_changed(ctx->notify, run);
	ctx->notify->ops->group_ready(ctx->notify, run->group_key);
	return tx->ops->run_update(tx, run, run->rev, err);
}

/* A run and its shards execute one version. */
static enum ax_status move_whole(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t gid,
	bool *ret_moved, struct ax_err *err)
{
	struct ax_run whole;
	struct ax_runs shards = { 0 };
	bool begun = false;
	enum ax_status status = tx->ops->run_get(tx, gid, true, &whole, err);
	if (status == AX_OK && ax_run_is_parent(&whole))
		status = tx->ops->shards(tx, gid, false, true, 0, INT32_MAX, &shards, err);
	for (int i = 0; i < shards.n; i++)
		begun = begun || shards.at[i].fence > 0 || ax_run_is_terminal(shards.at[i].status);
	if (status != AX_OK || begun || whole.fence > 0 || ax_run_is_terminal(whole.status))
		return status;
	*ret_moved = true;
	status = move_run(ctx, tx, task, &whole, err);
	for (int i = 0; status == AX_OK && i < shards.n; i++)
		status = move_run(ctx, tx, task, &shards.at[i], err);
	return status;
}

enum ax_status ax_canary_look(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run, int64_t now,
	bool *ret_moved, struct ax_err *err)
{
	struct ax_task task;
	struct ax_canary canary;
	*ret_moved = false;
	enum ax_status status = tx->ops->task_get(tx, run->task_id, true, &task, err);
	if (status == AX_OK && task.version != run->version)
		status = tx->ops->canary_get(tx, run->task_id, &canary, err);
	if (status != AX_OK || task.version == run->version || canary.version != run->version)
		return status == AX_NOT_FOUND ? AX_OK : status;
	if (canary.state == AX_CANARY_RUNNING)
		status = wait_in_vain(ctx, tx, &task, &canary, run, now, err);
	if (status == AX_OK && canary.state == AX_CANARY_ROLLED_BACK)
		status = move_whole(ctx, tx, &task, run->parent != 0 ? run->parent : run->gid, ret_moved, err);
	return status;
}
