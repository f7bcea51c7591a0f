#ifndef AX_APP_SCHEDULE_NEXT_H
#define AX_APP_SCHEDULE_NEXT_H

/* When a task fires next, and what it demands from when on. Inside the caller's transaction, with the task's row
 * locked. */

#include "app/ctx.h"
#include "core/rule.h"

/* The parsed schedule and zone of a definition. AX_INVALID when the zone is not known (any more). */
enum ax_status ax_schedule_of(struct ax_zones *zones, const char *cron_expr, int dialect, const char *time_zone,
	struct ax_schedule *ret, const struct ax_tz **ret_tz, struct ax_err *err);

/* The rule that an epoch tells, with the content that its calendar had. AX_INVALID when it cannot be read (any more).
 */
enum ax_status ax_rule_read(struct ax_tx *tx, struct ax_zones *zones, const struct ax_epoch *epoch, struct ax_rule *ret,
	struct ax_err *err);
/* The rule that a task follows. */
enum ax_status ax_rule_of(
	struct ax_tx *tx, struct ax_zones *zones, const struct ax_task *task, struct ax_rule *ret, struct ax_err *err);

/* The instant up to which the fires of a settled task are dealt with: those after it are not due yet. */
int64_t ax_schedule_handled(const struct ax_task *task, int64_t now);

/* @after: sets the next fire of an enabled task that has none and no live run. Other tasks are left alone, and so is
 * one that cannot be read: ax_schedule_resume finds it. */
enum ax_status ax_schedule_after(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);

/* Begins a new epoch in the task's columns (not stored): its first fire after `handled`, by its calendar as it is now.
 * For tasks just enabled or changed. */
enum ax_status ax_schedule_first(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t handled, int64_t now, struct ax_err *err);

/* The last guard before a fire: a next fire that is none of the rule's (a hand wrote it) gives way, in `task` only, to
 * the one that follows what was handled last. */
void ax_schedule_guard(struct ax_ctx *ctx, struct ax_task *task, const struct ax_rule *rule);

/* A fire that this server cannot read for want of the zone may be another server's to make: true until it is so late
 * that no other one can either. */
bool ax_schedule_is_for_others(
	const struct ax_ctx *ctx, const struct ax_task *task, const struct ax_err *why, int64_t now) AX_MUST_USE;

/* A task that cannot be read (any more) must not hold up the others: it stops alone, without a next fire, and is told.
 */
enum ax_status ax_schedule_park(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, const struct ax_err *why,
	int64_t now, struct ax_err *err);

/* An enabled task without a next fire, and without a live run that would set it: goes on behind what was handled last,
 * or is told (again) when it cannot be read. */
enum ax_status ax_schedule_resume(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);

/* Writes the epoch that the task began: after every change of schedule, status, calendar or zone data. */
enum ax_status ax_epoch_append(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_err *err);

/* A batch of the tasks that could not be read, and of those of @after that an edit or an older version left without a
 * next fire. */
enum ax_status ax_schedule_free_stuck(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err);

/* What a settled task demands is renewed, because its zone or its calendar is another one now. */
enum ax_status ax_schedule_renew(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);

#endif
