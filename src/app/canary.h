#ifndef AX_APP_CANARY_H
#define AX_APP_CANARY_H

/* Canaries of task definitions: begun and ended by people or by their rule, fed by the ends of runs.
 *
 * While one runs, the task stays at its base version; the trial version is a row of ax_task_version and the columns
 * canary_version and canary_percent of the task. Promoting makes the trial the task's version. Rolling back appends the
 * base once more as the newest version, so that versions only grow. */

#include "app/ctx.h"

/* What a person asks for: task_id, percent and the rule of `ask` count; `trial` is the whole new definition.
 * AX_CONFLICT when the task is not at base_version or has a canary; AX_INVALID names the field that a canary may not
 * change. */
enum ax_status ax_canary_begin(struct ax_ctx *ctx, const struct ax_canary *ask, const struct ax_task_def *trial,
	const char *actor, struct ax_canary *ret, struct ax_err *err) AX_MUST_USE;

/* Another share, or another say of the rule. AX_CONFLICT when none runs, AX_NOT_FOUND when there never was one. */
enum ax_status ax_canary_set(struct ax_ctx *ctx, int64_t task_id, int64_t percent, bool automatic,
	struct ax_canary *ret, struct ax_err *err) AX_MUST_USE;

/* PROMOTED or ROLLED_BACK, by hand. The same errors. */
enum ax_status ax_canary_decide(struct ax_ctx *ctx, int64_t task_id, enum ax_canary_state to, const char *reason,
	const char *actor, struct ax_canary *ret, struct ax_err *err) AX_MUST_USE;

/* Inside the caller's transaction. A run is about to be stored: which version does it execute? */
enum ax_status ax_canary_choose(struct ax_tx *tx, const struct ax_task *task, struct ax_run *run, struct ax_err *err);

/* A run of the task ended: it counts, and may decide. `task` is locked, and as stored afterwards. */
enum ax_status ax_canary_ended(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, const struct ax_run *run,
	int64_t now, struct ax_err *err);

/* A run that was never given out waits. If it was made for a trial whose executor no worker has offered since, and the
 * rule decides, the trial is rolled back after AX_CANARY_WAIT_MS; and when the trial was rolled back, the run executes
 * what the task is now, with its shards or siblings as long as none of them was given out. */
enum ax_status ax_canary_look(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run, int64_t now,
	bool *ret_moved, struct ax_err *err);

#endif
