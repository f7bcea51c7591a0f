#include "app/schedule_next.h"

#include <inttypes.h>
#include <string.h>

enum ax_status ax_schedule_of(struct ax_ctx *ctx, const struct ax_task_def *def, struct ax_schedule *ret,
	const struct ax_tz **ret_tz, struct ax_err *err)
{
	const struct ax_tz *tz = ax_zones_find(ctx->zones, def->time_zone);
	if (tz == NULL)
		return ax_fail(err, AX_INVALID, "time_zone",
			"the zone data has no zone '%.64s'; write an IANA name such as Europe/Berlin", def->time_zone);
	enum ax_status status =
		ax_schedule_parse(def->cron_expr, strlen(def->cron_expr), (enum ax_dialect)def->dialect, ret, err);
	if (status == AX_OK)
		*ret_tz = tz;
	return status;
}

enum ax_status ax_schedule_after(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_schedule schedule;
	const struct ax_tz *tz;
	struct ax_runs live;
	if (task->def.task_type != AX_TASK_SCHEDULED || task->status != AX_TASK_ENABLED ||
		task->next_trigger_time != 0 || task->exhausted)
		return AX_OK;
	enum ax_status status = ax_schedule_of(ctx, &task->def, &schedule, &tz, err);
	if (status != AX_OK || schedule.kind != AX_SCHEDULE_AFTER)
		return status;
	status = tx->ops->runs_live(tx, task->id, false, 1, &live, err);
	if (status != AX_OK || live.n > 0)
		return status;
	/* fires only go forward, whatever the clock does */
	int64_t handled = AX_MAX(task->last_trigger_time, task->last_run_end_time);
	int64_t ended = AX_MAX(now, AX_MAX(handled, task->update_time));
	task->next_trigger_time = ended + schedule.period_s * 1000;
	return tx->ops->task_advance(tx, task, 0, err);
}

enum ax_status ax_schedule_first(struct ax_ctx *ctx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_schedule schedule;
	const struct ax_tz *tz;
	task->next_trigger_time = 0;
	task->exhausted = false;
	if (task->def.task_type != AX_TASK_SCHEDULED || task->status != AX_TASK_ENABLED)
		return AX_OK;
	enum ax_status status = ax_schedule_of(ctx, &task->def, &schedule, &tz, err);
	if (status != AX_OK)
		return status;
	/* Never back over fires that were handled already, even when the clock went back. */
	int64_t after = AX_MAX(now, task->last_trigger_time);
	if (schedule.kind == AX_SCHEDULE_AFTER)
		task->next_trigger_time = after + schedule.period_s * 1000;
	else if (!ax_schedule_next(&schedule, tz, task->anchor_time, after, &task->next_trigger_time))
		task->exhausted = true;
	return AX_OK;
}

enum ax_status ax_schedule_guard(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task,
	const struct ax_schedule *schedule, const struct ax_tz *tz, struct ax_err *err)
{
	int64_t fire;
	if (schedule->kind == AX_SCHEDULE_AFTER ||
		(ax_schedule_next(schedule, tz, task->anchor_time, task->next_trigger_time - 1, &fire) &&
			fire == task->next_trigger_time))
		return AX_OK;
	struct ax_epochs epochs;
	enum ax_status status = tx->ops->epochs(tx, task->id, 0, INT32_MAX, &epochs, err);
	if (status != AX_OK)
		return status;
	ctx->log->ops->event(ctx->log, AX_LOG_ERROR, "no_fire_of_schedule",
		ax_sprintf(ctx->arena, "\"task_id\":\"%" PRId64 "\",\"time\":%" PRId64, task->id,
			task->next_trigger_time));
	int64_t handled = task->last_trigger_time;
	if (epochs.n > 0)
		handled = AX_MAX(handled, epochs.at[epochs.n - 1].from_time);
	if (!ax_schedule_next(schedule, tz, task->anchor_time, handled, &task->next_trigger_time))
		task->next_trigger_time = 0;
	return AX_OK;
}

enum ax_status ax_epoch_append(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_epoch epoch = {
		.task_id = task->id,
		.from_time = AX_MAX(now, task->last_trigger_time), /* the clock may have gone back over fires */
		.enabled = task->status == AX_TASK_ENABLED,
		.cron_expr = task->def.cron_expr,
		.dialect = task->def.dialect,
		.time_zone = task->def.time_zone,
		.anchor_time = task->anchor_time,
		.tzdata = ax_zones_version(ctx->zones),
	};
	return task->def.task_type == AX_TASK_SCHEDULED ? tx->ops->epoch_append(tx, &epoch, err) : AX_OK;
}
