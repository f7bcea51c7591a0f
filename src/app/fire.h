#ifndef AX_APP_FIRE_H
#define AX_APP_FIRE_H

/* From fires to runs: every fire that a schedule demanded becomes exactly one run, or is counted on one. All functions
 * work inside the caller's transaction, with the task's row locked. */

#include "app/ctx.h"

/* Accounts for the fires of an enabled task that are due at `now`: runs, coalesced fires, SKIPPED and MISSED ones, by
 * the misfire and overlap rules; then moves next_trigger_time past them (it may stay due: AX_FIRES_STEP and
 * AX_FIRE_ALL_MAX bound one call). `task` is as stored afterwards. */
enum ax_status ax_fire_due(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);

/* The same until nothing is due any more: before any change of the rule. AX_CONFLICT when that would be more than one
 * transaction should make: ticks are at it. */
enum ax_status ax_fire_settle(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);

#endif
