#ifndef AX_APP_FIRE_H
#define AX_APP_FIRE_H

/* From fires to runs: every fire that a schedule demanded becomes exactly one run, or is counted on one. All functions
 * work inside the caller's transaction, with the task's row locked. */

#include "app/ctx.h"
#include "core/schedule.h"

/* Makes sure that enough gids can be made in the next transaction. Call before it, in none. */
enum ax_status ax_gids_ensure(struct ax_ctx *ctx, struct ax_err *err);

/* The parsed schedule and zone of a definition. AX_INVALID when the zone is not known (any more). */
enum ax_status ax_schedule_of(struct ax_ctx *ctx, const struct ax_task_def *def, struct ax_schedule *ret,
	const struct ax_tz **ret_tz, struct ax_err *err);

/* A run of the task with every column set, not yet stored: state and hold are the caller's. `key` "" = its own gid. */
struct ax_run ax_run_make(struct ax_ctx *ctx, const struct ax_task *task, enum ax_run_kind kind, const char *key,
	int64_t trigger_time, int64_t now);

/* May one more run of the task be claimed under its overlap rule, beside those that are live and not held by it? */
enum ax_status ax_overlap_room(struct ax_tx *tx, const struct ax_task *task, bool *ret, struct ax_err *err);

/* Stores a run that is due now, WAITING, or held by overlap or pause. AX_EXISTS when its key was used. */
enum ax_status ax_run_add_waiting(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run, struct ax_err *err);

/* Accounts for the fires of an enabled task that are due at `now`: runs, coalesced fires, SKIPPED and MISSED ones, by
 * the misfire and overlap rules; then moves next_trigger_time past them (it may stay due: AX_FIRES_STEP and
 * AX_FIRE_ALL_MAX bound one call). `task` is as stored afterwards. */
enum ax_status ax_fire_due(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);

/* The same until nothing is due any more: before any change of the rule. */
enum ax_status ax_fire_settle(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);

/* @after: sets the next fire of an enabled task that has none and no live run. Other tasks are left alone. */
enum ax_status ax_schedule_after(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);

/* The first fire of the task after `now`, set in its columns (not stored): for tasks just enabled or changed. */
enum ax_status ax_schedule_first(struct ax_ctx *ctx, struct ax_task *task, int64_t now, struct ax_err *err);

/* Writes what the task's schedule demands from `now` on: after every change of schedule, status or zone data. */
enum ax_status ax_epoch_append(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err);

#endif
