#ifndef AX_APP_MAKE_UP_H
#define AX_APP_MAKE_UP_H

/* Past fires that a person has run, alone or by a backfill. Inside the caller's transaction, with the task's row
 * locked. */

#include "app/ctx.h"

/* A run of the fire, in line behind what is due now, with the backfill that it belongs to, or 0. AX_EXISTS when the
 * fire has a run. */
enum ax_status ax_fire_make_up(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t fire,
	int64_t backfill_id, int64_t now, struct ax_run *ret, struct ax_err *err);

/* A run has ended: the backfill that made it counts it, so that it knows how many are live. */
enum ax_status ax_backfill_count(struct ax_tx *tx, const struct ax_run *run, struct ax_err *err);

#endif
