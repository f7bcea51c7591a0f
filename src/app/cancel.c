/* The part of app/change.h that cancels. */

#include "app/change.h"
#include "core/limits.h"

/* The shards of a parent that was asked to stop. It may end with them, and is read anew. */
static enum ax_status cancel_shards(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *parent, int64_t now, struct ax_err *err)
{
	struct ax_runs live;
	enum ax_status status = tx->ops->shards(tx, parent->gid, true, true, 0, INT32_MAX, &live, err);
	for (int i = 0; status == AX_OK && i < live.n; i++) {
		live.at[i].result_msg = parent->result_msg;
		if (live.at[i].cancel == AX_CANCEL_NONE)
			status = ax_cancel_run(ctx, tx, &live.at[i], parent->reason, now, err);
	}
	return status == AX_OK ? tx->ops->run_get(tx, parent->gid, true, parent, err) : status;
}

enum ax_status ax_cancel_run(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, const char *reason, int64_t now, struct ax_err *err)
{
	struct ax_change cancel = { .event = AX_EV_CANCEL, .reason = reason };
	if (!ax_run_is_given_out(run->status)) /* nobody has to stop anything */
		run->cancel = AX_CANCEL_STOPPED;
	enum ax_status status = ax_change_run(ctx, tx, run, &cancel, now, err);
	if (status == AX_OK && ax_run_is_parent(run) && !ax_run_is_terminal(run->status))
		status = cancel_shards(ctx, tx, run, now, err);
	return status;
}

/* Until so many runs are written; *ret_n says how far it came. */
static enum ax_status cancel_until(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_runs *runs, const char *reason,
	int64_t enough, int64_t now, int *ret_n, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (*ret_n = 0; status == AX_OK && *ret_n < runs->n && ctx->written < enough; (*ret_n)++) {
		struct ax_run *run = &runs->at[*ret_n];
		status = tx->ops->run_get(tx, run->gid, true, run, err);
		if (status == AX_OK && !ax_run_is_terminal(run->status) && run->cancel == AX_CANCEL_NONE)
			status = ax_cancel_run(ctx, tx, run, reason, now, err);
	}
	return status;
}

enum ax_status ax_cancel_runs(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_runs *runs, const char *reason, int64_t now, struct ax_err *err)
{
	int n;
	return cancel_until(ctx, tx, runs, reason, INT64_MAX, now, &n, err);
}

enum ax_status ax_cancel_of_task(struct ax_ctx *ctx, struct ax_tx *tx, int64_t task_id, const char *reason, int64_t now,
	bool *ret_more, struct ax_err *err)
{
	struct ax_runs held, pending = { 0 }, live = { 0 };
	int64_t enough = ctx->written + AX_BATCH;
	int n = 0;
	/* in this order the end of one lets none of the others go */
	enum ax_status status = tx->ops->runs_held(tx, task_id, AX_BATCH, &held, err);
	if (status == AX_OK)
		status = cancel_until(ctx, tx, &held, reason, enough, now, &n, err);
	*ret_more = n < held.n || held.n == AX_BATCH;
	if (status == AX_OK && !*ret_more)
		status = tx->ops->runs_pending(tx, task_id, AX_BATCH, &pending, err);
	if (status == AX_OK && !*ret_more)
		status = cancel_until(ctx, tx, &pending, reason, enough, now, &n, err);
	*ret_more = *ret_more || n < pending.n || pending.n == AX_BATCH;
	if (status == AX_OK && !*ret_more)
		status = tx->ops->runs_live(tx, task_id, true, INT32_MAX, &live, err);
	if (status == AX_OK && !*ret_more)
		status = cancel_until(ctx, tx, &live, reason, enough, now, &n, err);
	*ret_more = *ret_more || n < live.n;
	return status;
}

/* Of the task's own; one that a person made up is asked for. */
static bool is_of_a_fire(const struct ax_run *run)
{
	return run->kind == AX_KIND_SCHEDULE && !run->made_up;
}

enum ax_status ax_pass_over_held(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err)
{
	static const struct ax_change pass_over = { .event = AX_EV_PASS_OVER, .reason = "overlap" };
	struct ax_runs held;
	int fires = 0;
	enum ax_status status = tx->ops->runs_held(tx, task->id, INT32_MAX, &held, err);
	for (int i = 0; status == AX_OK && i < held.n; i++)
		if (is_of_a_fire(&held.at[i]))
			held.at[fires++] = held.at[i];
	if (status == AX_OK && fires > AX_SWEEP_WRITES)
		return ax_fail(err, AX_CONFLICT, "overlap",
			"%d fires wait for the overlap rule and skip would pass over all of them; %d can be at once: "
			"let some end, or cancel them",
			fires, AX_SWEEP_WRITES);
	for (int i = 0; status == AX_OK && i < fires; i++) {
		struct ax_run *run = &held.at[i];
		run->result_msg = "the overlap rule became skip while it waited for another run of its task";
		status = ax_change_run(ctx, tx, run, &pass_over, now, err);
	}
	return status;
}
