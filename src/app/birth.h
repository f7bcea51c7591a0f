#ifndef AX_APP_BIRTH_H
#define AX_APP_BIRTH_H

/* How a run comes to be: made with every column set, then stored in one of the states that a run may begin in. Whatever
 * demands a run (a fire, a person, another run) makes it here, inside its own transaction. */

#include "app/ctx.h"

/* Makes sure that enough gids and shards can be made in the next transaction. Called before it, in none: in a part of
 * an open one it does nothing, for the whole has them. AX_UNAVAILABLE when this server is not sure of its number
 * (app/seat.h): then nothing is to be made. */
enum ax_status ax_gids_ensure(struct ax_ctx *ctx, struct ax_err *err);

/* A run of the task with every column set, not yet stored: state and hold are the caller's. `key` "" = its own gid. */
struct ax_run ax_run_make(struct ax_ctx *ctx, const struct ax_task *task, enum ax_run_kind kind, const char *key,
	int64_t trigger_time, int64_t now);

/* Another due instant for a run that is PENDING (not stored): everything that follows from it. */
void ax_run_set_due(struct ax_ctx *ctx, const struct ax_task *task, struct ax_run *run, int64_t due);

/* All of these: AX_EXISTS when the run's key was used. */

/* Stores a run that is due now: WAITING, or held by overlap or pause. A parent that nothing holds is stored as RUNNING,
 * with its shards, or waits for them to be made. */
enum ax_status ax_run_add_waiting(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run, struct ax_err *err);

/* The same, when it is known whether the overlap rule has room. */
enum ax_status ax_run_add_due(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	bool room, struct ax_err *err);

/* Stores a run that waits for its time, or for others, until `deadline`. */
enum ax_status ax_run_add_pending(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	int64_t deadline, struct ax_err *err);

/* Stores the shards of a parent that is RUNNING: due now. */
struct ax_shard_plan;
enum ax_status ax_run_add_shards(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *parent,
	const struct ax_shard_plan *plan, int64_t now, struct ax_err *err);

/* Stores a run that is over the moment it is written: SKIPPED, MISSED or BLOCKED. Its end may mean something to others:
 * call ax_run_end_at_birth of app/change.h. */
enum ax_status ax_run_add_ended(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	enum ax_run_state state, const char *reason, const char *message, struct ax_err *err);

#endif
