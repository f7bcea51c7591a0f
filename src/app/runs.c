#include "app/runs.h"

#include <inttypes.h>
#include <string.h>

#include "app/alert_rules.h"
#include "app/birth.h"
#include "app/chain.h"
#include "app/make_up.h"
#include "app/change.h"
#include "app/failures.h"
#include "app/schedule_next.h"
#include "app/task_check.h"
#include "core/limits.h"

struct pass {
	struct ax_ctx *ctx;
	int64_t gid;
	const char *text; /* why, note or key */
	enum ax_missed_action action;
	bool failed_only;
	struct ax_run *ret;
	struct ax_runs *made;
	int64_t now;
};

static enum ax_status open_run(struct ax_tx *tx, int64_t gid, struct ax_run *ret, struct ax_err *err)
{
	enum ax_status status = tx->ops->run_get(tx, gid, true, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "gid", "there is no run %" PRId64, gid);
	return status;
}

static enum ax_status cancel(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_run *run = pass->ret;
	enum ax_status status = open_run(tx, pass->gid, run, err);
	if (status != AX_OK || run->cancel != AX_CANCEL_NONE)
		return status; /* asked before: the answer is how far it is */
	if (ax_run_is_terminal(run->status))
		return ax_fail(
			err, AX_CONFLICT, "status", "the run has ended already (%s)", ax_run_state_name(run->status));
	run->result_msg = pass->text;
	return ax_cancel_run(pass->ctx, tx, run, "cancelled", pass->now, err);
}

enum ax_status ax_run_cancel(struct ax_ctx *ctx, int64_t gid, const char *why, struct ax_run *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .gid = gid, .text = why, .ret = ret, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_gids_ensure(ctx, err); /* ends make runs downstream */
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, cancel, &pass, err) : status;
}

/* Of a parent, every shard that waits for its next try. */
static enum ax_status retry_shards(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	static const struct ax_change change = { .event = AX_EV_RETRY_NOW, .reason = "" };
	struct ax_runs live;
	int n = 0;
	enum ax_status status = tx->ops->shards(tx, pass->gid, true, true, 0, INT32_MAX, &live, err);
	for (int i = 0; status == AX_OK && i < live.n; i++) {
		if (live.at[i].status != AX_RUN_RETRYING)
			continue;
		status = ax_change_run(pass->ctx, tx, &live.at[i], &change, pass->now, err);
		n++;
	}
	if (status == AX_OK && n == 0)
		return ax_fail(err, AX_CONFLICT, "status", "none of the run's shards is RETRYING");
	return status;
}

static enum ax_status retry_now(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	static const struct ax_change change = { .event = AX_EV_RETRY_NOW, .reason = "" };
	struct pass *pass = arg;
	enum ax_status status = open_run(tx, pass->gid, pass->ret, err);
	if (status == AX_OK && ax_run_is_parent(pass->ret) && pass->ret->status == AX_RUN_RUNNING)
		return retry_shards(pass, tx, err);
	if (status == AX_OK && pass->ret->status != AX_RUN_RETRYING)
		return ax_fail(err, AX_CONFLICT, "status",
			"only a run that is RETRYING can be retried now; this one is %s%s",
			ax_run_state_name(pass->ret->status),
			ax_run_is_terminal(pass->ret->status) ? ": rerun it instead" : "");
	return status == AX_OK ? ax_change_run(pass->ctx, tx, pass->ret, &change, pass->now, err) : status;
}

enum ax_status ax_run_retry_now(struct ax_ctx *ctx, int64_t gid, struct ax_run *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .gid = gid, .ret = ret, .now = ax_now_ms(ctx->clock) };
	return ax_store_run(ctx->store, ctx->arena, retry_now, &pass, err);
}

static enum ax_status open_task(struct ax_tx *tx, int64_t id, struct ax_task *ret, struct ax_err *err)
{
	enum ax_status status = tx->ops->task_get(tx, id, true, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_CONFLICT, "task_id", "the task of this run was deleted");
	return status == AX_OK ? ax_task_refuse_if_deleting(ret, err) : status;
}

enum ax_status ax_run_repeat(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *old, const struct ax_task *task,
	const char *key, bool failed_only, int64_t due, int64_t now, struct ax_run *ret, struct ax_err *err)
{
	struct ax_run run = ax_run_make(ctx, task, AX_KIND_MANUAL, key, due, now);
	run.params = old->params;
	run.rerun_of = old->gid;
	if (failed_only) { /* numbers and workers stay what they were, whatever the task is now */
		run.failed_only = true;
		run.spread = old->spread;
		run.shard_total = old->shard_total;
	}
	run.batch = old->batch != 0 ? old->batch : old->gid;
	enum ax_status status = due <= now ? ax_run_add_waiting(ctx, tx, task, &run, err)
					   : ax_run_add_pending(ctx, tx, task, &run, due, err);
	if (status == AX_OK)
		status = ax_chain_copy(tx, old->gid, run.gid, err);
	if (status == AX_OK)
		status = ax_failure_rerun(tx, old->gid, run.gid, err);
	*ret = run;
	return status;
}

enum { REPEATS_SEEN = 1000 }; /* runs by hand among which an earlier repeat is sought, newest first */

/* Somebody asked for the same shards before: once is enough, also when they failed again. */
static enum ax_status refuse_second_repeat(struct ax_tx *tx, const struct ax_run *old, struct ax_err *err)
{
	const struct ax_run_filter filter = {
		.task_id = old->task_id,
		.kind = AX_KIND_MANUAL,
		.from_time = old->create_time,
		.limit = REPEATS_SEEN,
		.scan_limit = REPEATS_SEEN,
	};
	struct ax_runs made;
	int64_t rest;
	enum ax_status status = tx->ops->runs_page(tx, &filter, &made, &rest, err);
	for (int i = 0; status == AX_OK && i < made.n; i++) {
		const struct ax_run *run = &made.at[i];
		if (run->rerun_of == old->gid && run->failed_only && run->status != AX_RUN_CANCELLED)
			return ax_fail(err, AX_CONFLICT, "failed_only",
				"run %" PRId64 " repeats these shards already (%s)", run->gid,
				ax_run_state_name(run->status));
	}
	return status;
}

/* May this ended run be run again in that way? */
static enum ax_status check_rerun(struct pass *pass, struct ax_tx *tx, const struct ax_run *old, struct ax_err *err)
{
	int64_t by_state[32], failed = 0;
	if (old->parent != 0)
		return ax_fail(err, AX_CONFLICT, "gid",
			"this is shard %" PRId64 " of run %" PRId64 "; rerun that one, with failed_only if need be",
			old->shard, old->parent);
	if (!pass->failed_only)
		return AX_OK;
	enum ax_status status = tx->ops->shard_counts(tx, old->gid, by_state, err);
	for (int state = 0; state < 32; state++)
		failed += status == AX_OK && state != AX_RUN_SUCCESS ? by_state[state] : 0;
	if (status == AX_OK && failed == 0)
		return ax_fail(err, AX_CONFLICT, "failed_only", "the run has no shard that did not succeed");
	return status == AX_OK ? refuse_second_repeat(tx, old, err) : status;
}

struct postpone {
	struct ax_ctx *ctx;
	int64_t gid, run_at;
	const char *params;
	struct ax_run *ret;
};

static enum ax_status postpone(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct postpone *p = arg;
	struct ax_run *run = p->ret;
	struct ax_task task;
	enum ax_status status = open_run(tx, p->gid, run, err);
	if (status == AX_OK && (run->status != AX_RUN_PENDING || run->kind != AX_KIND_DELAY))
		return ax_fail(err, AX_CONFLICT, "status",
			"only a delayed run that is not due yet can be changed; this one is %s",
			ax_run_state_name(run->status));
	if (status == AX_OK)
		status = open_task(tx, run->task_id, &task, err);
	if (status != AX_OK)
		return status;
	if (p->run_at != 0)
		ax_run_set_due(p->ctx, &task, run, p->run_at);
	if (p->params != NULL)
		run->params = p->params;
	status = tx->ops->run_set_due(tx, run, run->rev, err);
	run->rev++;
	p->ctx->notify->ops->run_changed(p->ctx->notify, run);
	return status;
}

enum ax_status ax_run_postpone(
	struct ax_ctx *ctx, int64_t gid, int64_t run_at, const char *params, struct ax_run *ret, struct ax_err *err)
{
	struct postpone p = { .ctx = ctx, .gid = gid, .run_at = run_at, .params = params, .ret = ret };
	enum ax_status status = ax_trigger_check(ctx, run_at, params != NULL ? params : "", err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, postpone, &p, err) : status;
}

static enum ax_status rerun(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_run old;
	struct ax_task task;
	enum ax_status status = open_run(tx, pass->gid, &old, err);
	if (status == AX_OK && !ax_run_is_terminal(old.status))
		return ax_fail(err, AX_CONFLICT, "status", "the run has not ended (%s); cancel it, or wait",
			ax_run_state_name(old.status));
	if (status == AX_OK)
		status = check_rerun(pass, tx, &old, err);
	if (status == AX_OK)
		status = open_task(tx, old.task_id, &task, err);
	if (status == AX_OK && pass->text[0] != '\0') {
		status = tx->ops->run_find(tx, task.id, AX_KIND_MANUAL, pass->text, 0, pass->ret, err);
		if (status != AX_NOT_FOUND)
			return status;
		status = AX_OK;
	}
	if (status != AX_OK)
		return status;
	return ax_run_repeat(
		pass->ctx, tx, &old, &task, pass->text, pass->failed_only, pass->now, pass->now, pass->ret, err);
}

enum ax_status ax_run_rerun(
	struct ax_ctx *ctx, int64_t gid, const char *key, bool failed_only, struct ax_run *ret, struct ax_err *err)
{
	struct pass pass = {
		.ctx = ctx,
		.gid = gid,
		.text = key,
		.failed_only = failed_only,
		.ret = ret,
		.now = ax_now_ms(ctx->clock),
	};
	enum ax_status status = ax_gids_ensure(ctx, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, rerun, &pass, err) : status;
}

/* The rule that demanded the missed fires: the newest epoch from before them. */
static enum ax_status rule_of_missed(
	struct pass *pass, struct ax_tx *tx, const struct ax_run *missed, struct ax_rule *ret, struct ax_err *err)
{
	struct ax_epochs epochs;
	enum ax_status status = tx->ops->epochs(tx, missed->task_id, 0, INT32_MAX, &epochs, err);
	const struct ax_epoch *rule = NULL;
	for (int i = 0; status == AX_OK && i < epochs.n; i++)
		if (epochs.at[i].from_time < missed->covers_from)
			rule = &epochs.at[i];
	if (status != AX_OK)
		return status;
	if (rule == NULL)
		return ax_fail(err, AX_CONFLICT, "gid", "the schedule that demanded these fires is not known any more");
	return ax_rule_read(tx, pass->ctx->zones, rule, ret, err);
}

static enum ax_status make_up(
	struct pass *pass, struct ax_tx *tx, const struct ax_task *task, int64_t fire, struct ax_err *err)
{
	struct ax_run *made = &pass->made->at[pass->made->n];
	enum ax_status status = ax_fire_make_up(pass->ctx, tx, task, fire, 0, pass->now, made, err);
	pass->made->n += status == AX_OK;
	return status;
}

static enum ax_status make_up_all(struct pass *pass, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_run *missed, struct ax_err *err)
{
	struct ax_rule rule;
	if (missed->covers_count > AX_FIRE_ALL_MAX)
		return ax_fail(err, AX_TOO_LARGE, "action",
			"%" PRId64 " fires were missed; at most %d can be run at once: run the newest, or start a "
			"backfill of them",
			missed->covers_count, AX_FIRE_ALL_MAX);
	enum ax_status status = rule_of_missed(pass, tx, missed, &rule, err);
	int64_t fire = missed->covers_from;
	while (status == AX_OK && fire <= missed->covers_to && pass->made->n < AX_FIRE_ALL_MAX) {
		status = make_up(pass, tx, task, fire, err);
		if (status == AX_EXISTS) /* ran already */
			status = AX_OK;
		if (!ax_rule_next(&rule, fire, &fire))
			break;
	}
	return status;
}

static enum ax_status resolve(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	static const char *const decisions[] = { "run", "run_all", "dismissed" };
	struct pass *pass = arg;
	struct ax_run *run = pass->ret;
	struct ax_task task;
	enum ax_status status = open_run(tx, pass->gid, run, err);
	if (status != AX_OK)
		return status;
	if (run->status != AX_RUN_MISSED)
		return ax_fail(err, AX_CONFLICT, "status", "only a MISSED run asks for a decision; this one is %s",
			ax_run_state_name(run->status));
	if (run->covers_to > pass->now && pass->action != AX_MISSED_DISMISS)
		return ax_fail(err, AX_CONFLICT, "action", "the clock went back: these fires lie in the future now");
	if (strcmp(run->reason, "missed") != 0)
		return ax_fail(err, AX_CONFLICT, "action", "this was decided already: %s", run->reason);
	pass->made->at = ax_alloc_array(pass->ctx->arena, AX_FIRE_ALL_MAX, sizeof(*pass->made->at));
	pass->made->n = 0;
	if (pass->action != AX_MISSED_DISMISS)
		status = open_task(tx, run->task_id, &task, err);
	if (status == AX_OK && pass->action == AX_MISSED_RUN) {
		status = make_up(pass, tx, &task, run->covers_to, err);
		if (status == AX_EXISTS)
			return ax_fail(err, AX_CONFLICT, "action", "that fire has a run already");
	}
	if (status == AX_OK && pass->action == AX_MISSED_RUN_ALL)
		status = make_up_all(pass, tx, &task, run, err);
	if (status != AX_OK)
		return status;
	run->reason = decisions[pass->action];
	if (pass->text[0] != '\0')
		run->result_msg = pass->text;
	pass->ctx->notify->ops->run_changed(pass->ctx->notify, run);
	status = tx->ops->run_update(tx, run, run->rev, err);
	return status == AX_OK ? ax_alert_missed_decided(pass->ctx, tx, run->task_id, pass->now, err) : status;
}

enum ax_status ax_run_resolve_missed(struct ax_ctx *ctx, int64_t gid, enum ax_missed_action action, const char *note,
	struct ax_run *ret, struct ax_runs *ret_made, struct ax_err *err)
{
	struct pass pass = {
		.ctx = ctx,
		.gid = gid,
		.text = note,
		.action = action,
		.ret = ret,
		.made = ret_made,
		.now = ax_now_ms(ctx->clock),
	};
	enum ax_status status = ax_gids_ensure(ctx, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, resolve, &pass, err) : status;
}
