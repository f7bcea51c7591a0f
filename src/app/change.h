#ifndef AX_APP_CHANGE_H
#define AX_APP_CHANGE_H

/* Applying the state table: the one way a run changes its state, with everything that must be written beside it. All
 * functions work inside the caller's transaction. */

#include "app/ctx.h"
#include "app/overlap.h"

struct ax_change {
	enum ax_run_event event;
	const char *reason; /* one word for the new state, "" for none */
	/* how the attempt ended, for events that end one */
	enum ax_outcome outcome;
	int64_t code;
	const char *message; /* NULL = keep what the run says */
	const char *result;  /* NULL = keep */
	bool by_worker;
};

/* Takes the step that core/run_fsm.c gives for (run, event), with its effects, and writes the run. AX_CONFLICT when the
 * state does not allow the event or the row moved on. `run` is as stored afterwards. */
enum ax_status ax_change_run(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, const struct ax_change *change,
	int64_t now, struct ax_err *err);

/* What the row of a run says of an attempt whose work began, whatever state it is in by now. Not stored. */
void ax_run_begin_work(struct ax_run *run, int64_t now);

/* The attempt ended with what the worker said: success, a retry, or the end. */
enum ax_status ax_change_result(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, struct ax_change *said,
	int64_t now, struct ax_err *err);

/* The attempt ended without a word of the worker: given back when it was never accepted, else lost. Counts against
 * bounce and lost limits. */
enum ax_status ax_change_lost(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, const char *reason, int64_t now, struct ax_err *err);

/* A new run meets the fate that the overlap rule gave it: it waits, alone or after the live ones were cancelled, or is
 * SKIPPED. Joining another run is the caller's. AX_EXISTS when its key was used. */
enum ax_status ax_run_admit(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	struct ax_fate *fate, int64_t now, struct ax_err *err);

/* A shard of this parent has ended: so does the parent when it was the last. As SUCCESS when all did; as CANCELLED when
 * it was cancelled itself; otherwise as FAILED when a shard FAILED, else as TIMEOUT when one did, else as CANCELLED. */
enum ax_status ax_change_parent(struct ax_ctx *ctx, struct ax_tx *tx, int64_t gid, int64_t now, struct ax_err *err);

/* Cancels a run that has not ended, and the shards of a parent. */
enum ax_status ax_cancel_run(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, const char *reason, int64_t now, struct ax_err *err);

/* A run that is over the moment it is written, SKIPPED, MISSED or BLOCKED, and what its end means for others. */
enum ax_status ax_run_end_at_birth(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	enum ax_run_state state, const char *reason, const char *message, int64_t now, struct ax_err *err);

/* A run of the task has ended: what that means for the tasks behind it. */
enum ax_status ax_change_follow(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_run *ended, int64_t now, struct ax_err *err);

/* The task's upstreams were changed: joins that waited for others may be due now, or wait in vain.
 * AX_CONFLICT when they are more than AX_SWEEP_WRITES. */
enum ax_status ax_change_joins(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err);

/* Cancels those of the runs that have not ended and were not asked before. Each row is read again: the end of one may
 * have let another go. */
enum ax_status ax_cancel_runs(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_runs *runs, const char *reason,
	int64_t now, struct ax_err *err);

/* Cancels the runs of a task that have not ended and were not asked before, about a batch of them; *ret_more: there may
 * be others. */
enum ax_status ax_cancel_of_task(struct ax_ctx *ctx, struct ax_tx *tx, int64_t task_id, const char *reason, int64_t now,
	bool *ret_more, struct ax_err *err);

/* Passes over the fires of the task that its overlap rule holds: the rule has become `skip`. What a person asked for
 * (by hand, delayed, made up) waits on, as it does under `skip`. AX_CONFLICT when they are more than AX_SWEEP_WRITES.
 */
enum ax_status ax_pass_over_held(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err);

#endif
