/* The part of app/change.h that cancels. */

#include "app/change.h"

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

enum ax_status ax_cancel_runs(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_runs *runs, const char *reason, int64_t now, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < runs->n; i++) {
		struct ax_run *run = &runs->at[i];
		status = tx->ops->run_get(tx, run->gid, true, run, err);
		if (status == AX_OK && !ax_run_is_terminal(run->status) && run->cancel == AX_CANCEL_NONE)
			status = ax_cancel_run(ctx, tx, run, reason, now, err);
	}
	return status;
}

enum ax_status ax_pass_over_held(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err)
{
	static const struct ax_change pass_over = { .event = AX_EV_PASS_OVER, .reason = "overlap" };
	struct ax_runs held;
	enum ax_status status = tx->ops->runs_held(tx, task->id, INT32_MAX, &held, err);
	for (int i = 0; status == AX_OK && i < held.n; i++) {
		struct ax_run *run = &held.at[i];
		if (run->kind != AX_KIND_SCHEDULE || run->made_up)
			continue;
		run->result_msg = "the overlap rule became skip while it waited for another run of its task";
		status = ax_change_run(ctx, tx, run, &pass_over, now, err);
	}
	return status;
}
