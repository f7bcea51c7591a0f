#ifndef AX_APP_SCHEDULE_NEXT_H
#define AX_APP_SCHEDULE_NEXT_H

/* When a task fires next, and what its schedule demands from when on. Inside the caller's transaction, with the task's
 * row locked. */

#include "app/ctx.h"
#include "core/schedule.h"

/* The parsed schedule and zone of a definition. AX_INVALID when the zone is not known (any more). */
enum ax_status ax_schedule_of(struct ax_ctx *ctx, const struct ax_task_def *def, struct ax_schedule *ret,
	const struct ax_tz **ret_tz, struct ax_err *err);

/* @after: sets the next fire of an enabled task that has none and no live run. Other tasks are left alone. */
enum ax_status ax_schedule_after(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);

/* The first fire of the task after `now`, set in its columns (not stored): for tasks just enabled or changed. */
enum ax_status ax_schedule_first(struct ax_ctx *ctx, struct ax_task *task, int64_t now, struct ax_err *err);

/* The last guard before a fire: a next fire that is none of the schedule's (a hand wrote it) gives way, in `task` only,
 * to the one that follows what was handled last. */
enum ax_status ax_schedule_guard(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task,
	const struct ax_schedule *schedule, const struct ax_tz *tz, struct ax_err *err);

/* Writes what the task's schedule demands from `now` on: after every change of schedule, status or zone data. */
enum ax_status ax_epoch_append(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err);

#endif
