#ifndef AX_APP_OVERLAP_H
#define AX_APP_OVERLAP_H

/* The overlap rule: how many runs of a task may be live at once, and what becomes of those that find no room. It judges
 * and lets go; whoever asks writes what follows. All functions work inside the caller's transaction, with the task's
 * row locked. */

#include "app/ctx.h"

/* May one more run of the task be claimed, beside those that are live and not held by the rule? */
enum ax_status ax_overlap_room(struct ax_tx *tx, const struct ax_task *task, bool *ret, struct ax_err *err);

/* What keeps a WAITING run from being claimed: the overlap rule when there is no room, else its task's pause. What a
 * person started by hand runs in a paused task too, unless that is to be deleted. A parent is never claimed: its shards
 * are made instead. */
enum ax_hold ax_hold_of(const struct ax_task *task, const struct ax_run *run, bool room);

/* Sets the hold of a WAITING run, since when it is ready, and when the sweeper looks at it: at once to make shards, in
 * time to see that the one worker it is for is still there. */
void ax_hold_set(struct ax_run *run, enum ax_hold hold, int64_t now);

enum ax_fate_kind {
	AX_FATE_RUN,     /* there is room */
	AX_FATE_HOLD,    /* it waits as a run of its own */
	AX_FATE_JOIN,    /* `beside` waits and stands for it too */
	AX_FATE_SKIP,    /* `beside` is still live */
	AX_FATE_REPLACE, /* `live` are cancelled first */
};

struct ax_fate {
	enum ax_fate_kind kind;
	struct ax_run *beside;
	struct ax_runs live;
};

/* What becomes of a fire, an event or an upstream's success. `run` is the run that would stand for it, not stored yet;
 * only fires of the schedule are counted on a run that waits. */
enum ax_status ax_overlap_judge(struct ax_tx *tx, const struct ax_task *task, const struct ax_run *run, int64_t now,
	struct ax_fate *ret, struct ax_err *err);

/* Lets runs of the task go that the rule held, as many as it allows, oldest first, at most a batch. */
enum ax_status ax_release_held(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err);

/* The rule may allow fewer now: holds again what waits beyond that and was never given to a worker, newest first. What
 * has begun goes on, with its retries. */
enum ax_status ax_hold_beyond(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err);

#endif
