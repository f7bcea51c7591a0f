/* The part of app/change.h that makes runs: those that the overlap rule lets be, and those that follow from the end of
 * another, as app/chain.h judges. A run that is over at once goes on down the chain: so this file and change.c call
 * each other, along a chain that has no circles. */

#include <inttypes.h>

#include "app/birth.h"
#include "app/chain.h"
#include "app/change.h"
#include "app/claim.h"
#include "core/limits.h"

static const char *still_live(struct ax_ctx *ctx, const struct ax_run *run)
{
	return ax_sprintf(
		ctx->arena, "run %" PRId64 " of this task was still %s", run->gid, ax_run_state_name(run->status));
}

enum ax_status ax_run_admit(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	struct ax_fate *fate, int64_t now, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	switch (fate->kind) {
	case AX_FATE_RUN:
		return ax_run_add_due(ctx, tx, task, run, true, err);
	case AX_FATE_HOLD:
		return ax_run_add_waiting(ctx, tx, task, run, err);
	case AX_FATE_REPLACE:
		status = ax_cancel_runs(ctx, tx, &fate->live, "replaced", now, err);
		return status == AX_OK ? ax_run_add_waiting(ctx, tx, task, run, err) : status;
	case AX_FATE_SKIP:
		return ax_run_end_at_birth(
			ctx, tx, task, run, AX_RUN_SKIPPED, "overlap", still_live(ctx, fate->beside), now, err);
	case AX_FATE_JOIN:
		break;
	}
	ax_die(__FILE__, __LINE__, "a fate that is not for a run of its own");
}

enum ax_status ax_run_end_at_birth(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	enum ax_run_state state, const char *reason, const char *message, int64_t now, struct ax_err *err)
{
	enum ax_status status = ax_run_add_ended(ctx, tx, task, run, state, reason, message, err);
	return status == AX_OK ? ax_change_follow(ctx, tx, task, run, now, err) : status;
}

/* ---- chains */

/* A new run that something other than the schedule demands. */
static enum ax_status start(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	int64_t now, struct ax_err *err)
{
	struct ax_fate fate;
	enum ax_status status = ax_overlap_judge(tx, task, run, now, &fate, err);
	return status == AX_OK ? ax_run_admit(ctx, tx, task, run, &fate, now, err) : status;
}

/* A join has all that it waited for: from now on it is like a new run. */
static enum ax_status join_due(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	int64_t now, struct ax_err *err)
{
	struct ax_fate fate;
	struct ax_change change = { .event = AX_EV_DUE, .reason = "" };
	ax_run_set_due(ctx, task, run, now);
	enum ax_status status = tx->ops->run_set_due(tx, run, run->rev, err);
	run->rev++;
	if (status == AX_OK)
		status = ax_overlap_judge(tx, task, run, now, &fate, err);
	if (status == AX_OK && fate.kind == AX_FATE_REPLACE)
		status = ax_cancel_runs(ctx, tx, &fate.live, "replaced", now, err);
	if (status == AX_OK && fate.kind == AX_FATE_SKIP) {
		change = (struct ax_change){ .event = AX_EV_PASS_OVER, .reason = "overlap" };
		run->result_msg = still_live(ctx, fate.beside);
	}
	return status == AX_OK ? ax_change_run(ctx, tx, run, &change, now, err) : status;
}

static enum ax_status take_link(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_link *link, int64_t now, struct ax_err *err)
{
	struct ax_change block = { .event = AX_EV_BLOCK, .reason = link->reason };
	switch (link->kind) {
	case AX_LINK_NONE:
		return AX_OK;
	case AX_LINK_START:
		return start(ctx, tx, &link->task, &link->run, now, err);
	case AX_LINK_WAIT:
		return ax_run_add_pending(ctx, tx, &link->task, &link->run, link->run.deadline_time, err);
	case AX_LINK_BLOCKED:
		return ax_run_end_at_birth(
			ctx, tx, &link->task, &link->run, AX_RUN_BLOCKED, link->reason, link->run.result_msg, now, err);
	case AX_LINK_DUE:
		return join_due(ctx, tx, &link->task, &link->run, now, err);
	case AX_LINK_BLOCK:
		return ax_change_run(ctx, tx, &link->run, &block, now, err);
	}
	ax_die(__FILE__, __LINE__, "unknown link");
}

enum ax_status ax_change_follow(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_run *ended, int64_t now, struct ax_err *err)
{
	struct ax_upstreams downstreams;
	struct ax_link link;
	enum ax_status status = tx->ops->downstreams_of(tx, task->id, &downstreams, err);
	for (int i = 0; status == AX_OK && i < downstreams.n; i++) {
		status = ax_chain_judge(ctx, tx, task, ended, downstreams.at[i].task_id, now, &link, err);
		if (status == AX_OK)
			status = take_link(ctx, tx, &link, now, err);
	}
	return status;
}

enum ax_status ax_change_joins(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_runs pending;
	struct ax_link link;
	int joins = 0;
	enum ax_status status = tx->ops->runs_pending(tx, task->id, INT32_MAX, &pending, err);
	for (int i = 0; status == AX_OK && i < pending.n; i++) {
		if (!ax_run_is_joining(&pending.at[i]))
			continue;
		if (joins++ == AX_SWEEP_WRITES)
			return ax_fail(err, AX_CONFLICT, "upstreams",
				"more than %d joins of this task wait for their upstreams, and the change would judge "
				"all of them: let some end, or cancel them",
				AX_SWEEP_WRITES);
		status = ax_chain_judge_again(tx, task, &pending.at[i], &link, err);
		if (status == AX_OK)
			status = take_link(ctx, tx, &link, now, err);
	}
	return status;
}
