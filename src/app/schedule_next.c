#include "app/schedule_next.h"

#include <inttypes.h>
#include <string.h>

#include "app/alert_rules.h"
#include "core/limits.h"

enum { ZONE_PATIENCE_MS = 10000 };

enum ax_status ax_schedule_of(struct ax_zones *zones, const char *cron_expr, int dialect, const char *time_zone,
	struct ax_schedule *ret, const struct ax_tz **ret_tz, struct ax_err *err)
{
	*ret_tz = ax_zones_find(zones, time_zone);
	if (*ret_tz == NULL)
		return ax_fail(err, AX_INVALID, "time_zone",
			"the zone data has no zone '%.64s'; write an IANA name such as Europe/Berlin", time_zone);
	return ax_schedule_parse(cron_expr, strlen(cron_expr), (enum ax_dialect)dialect, ret, err);
}

static enum ax_status read_calendar(
	struct ax_tx *tx, const struct ax_epoch *epoch, const struct ax_calendar **ret, struct ax_err *err)
{
	struct ax_calendar_version version;
	enum ax_status status =
		tx->ops->calendar_version_get(tx, epoch->calendar, epoch->calendar_version, &version, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_INVALID, "calendar", "calendar '%.64s' has no version %" PRId64, epoch->calendar,
			epoch->calendar_version);
	if (status != AX_OK)
		return status;
	struct ax_calendar *calendar = ax_alloc(tx->arena, sizeof(*calendar));
	*ret = calendar;
	return ax_calendar_parse(tx->arena, (unsigned)version.week, version.days, calendar, err);
}

enum ax_status ax_rule_read(
	struct ax_tx *tx, struct ax_zones *zones, const struct ax_epoch *epoch, struct ax_rule *ret, struct ax_err *err)
{
	*ret = (struct ax_rule){
		.anchor_ms = epoch->anchor_time,
		.excludes = epoch->calendar_mode == AX_CALENDAR_EXCLUDE,
		.valid_from = epoch->valid_from,
		.valid_until = epoch->valid_until,
		.jitter_ms = epoch->jitter_ms,
	};
	enum ax_status status = ax_schedule_of(
		zones, epoch->cron_expr, epoch->dialect, epoch->time_zone, &ret->schedule, &ret->tz, err);
	if (status == AX_OK && epoch->calendar[0] != '\0')
		status = read_calendar(tx, epoch, &ret->calendar, err);
	return status;
}

static int64_t jitter_of(const struct ax_task *task)
{
	return ax_jitter_ms(task->id, task->def.jitter_seconds);
}

static struct ax_epoch epoch_of(struct ax_zones *zones, const struct ax_task *task)
{
	const struct ax_task_def *def = &task->def;
	return (struct ax_epoch){
		.task_id = task->id,
		.from_time = task->epoch_time,
		.enabled = task->status == AX_TASK_ENABLED && ax_def_has_schedule(def),
		.cron_expr = def->cron_expr,
		.dialect = def->dialect,
		.time_zone = def->time_zone,
		.anchor_time = task->anchor_time,
		.tzdata = ax_zones_version(zones),
		.calendar = def->calendar,
		.calendar_version = task->calendar_version,
		.calendar_mode = def->calendar_mode,
		.valid_from = def->valid_from,
		.valid_until = def->valid_until,
		.jitter_ms = jitter_of(task),
	};
}

enum ax_status ax_rule_of(
	struct ax_tx *tx, struct ax_zones *zones, const struct ax_task *task, struct ax_rule *ret, struct ax_err *err)
{
	struct ax_epoch epoch = epoch_of(zones, task);
	return ax_rule_read(tx, zones, &epoch, ret, err);
}

int64_t ax_schedule_handled(const struct ax_task *task, int64_t now)
{
	/* never back over fires that were handled, whatever the clock does, nor over those of before the epoch */
	int64_t due = AX_MAX(now - jitter_of(task), AX_MIN(task->epoch_time, now));
	return AX_MAX(due, task->last_trigger_time);
}

enum ax_status ax_schedule_after(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_rule rule;
	struct ax_runs live;
	if (!ax_def_has_schedule(&task->def) || task->status != AX_TASK_ENABLED || task->next_trigger_time != 0 ||
		task->exhausted)
		return AX_OK;
	enum ax_status status = ax_rule_of(tx, ctx->zones, task, &rule, err);
	if (status == AX_INVALID || status == AX_NEVER)
		return AX_OK;
	if (status != AX_OK || rule.schedule.kind != AX_SCHEDULE_AFTER)
		return status;
	status = tx->ops->runs_live(tx, task->id, false, 1, &live, err);
	if (status != AX_OK || live.n > 0)
		return status;
	/* fires only go forward, whatever the clock does */
	int64_t handled = AX_MAX(task->last_trigger_time, task->last_run_end_time);
	int64_t ended = AX_MAX(now, AX_MAX(handled, task->update_time));
	task->exhausted = !ax_rule_follow(&rule, ended, &task->next_trigger_time);
	return tx->ops->task_advance(tx, task, 0, err);
}

/* The next fire of the rule after an instant, as the task's columns hold it. */
static void set_next(struct ax_task *task, const struct ax_rule *rule, int64_t after)
{
	int64_t fire;
	bool found = ax_rule_next(rule, after, &fire);
	task->next_trigger_time = found ? fire + rule->jitter_ms : 0;
	task->exhausted = !found;
}

/* From here on the task follows its calendar as it is now. */
static enum ax_status take_calendar(struct ax_tx *tx, struct ax_task *task, struct ax_err *err)
{
	struct ax_calendar_row calendar = { 0 };
	enum ax_status status = AX_OK;
	if (task->def.calendar[0] != '\0')
		status = tx->ops->calendar_get(tx, task->def.calendar, true, &calendar, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_INVALID, "calendar", "there is no calendar '%.64s'; create it first",
			task->def.calendar);
	task->calendar_version = calendar.version;
	return status;
}

enum ax_status ax_schedule_first(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t handled, int64_t now, struct ax_err *err)
{
	struct ax_rule rule;
	task->next_trigger_time = 0;
	task->exhausted = false;
	task->epoch_time = handled;
	enum ax_status status = take_calendar(tx, task, err);
	if (status != AX_OK || !ax_def_has_schedule(&task->def) || task->status != AX_TASK_ENABLED)
		return status;
	status = ax_rule_of(tx, ctx->zones, task, &rule, err);
	if (status != AX_OK)
		return status;
	if (rule.schedule.kind == AX_SCHEDULE_AFTER)
		task->exhausted = !ax_rule_follow(&rule, AX_MAX(now, handled), &task->next_trigger_time);
	else
		set_next(task, &rule, handled);
	return AX_OK;
}

void ax_schedule_guard(struct ax_ctx *ctx, struct ax_task *task, const struct ax_rule *rule)
{
	int64_t set = task->next_trigger_time - rule->jitter_ms, fire;
	if (rule->schedule.kind == AX_SCHEDULE_AFTER || (ax_rule_next(rule, set - 1, &fire) && fire == set))
		return;
	ctx->log->ops->event(ctx->log, AX_LOG_ERROR, "no_fire_of_schedule",
		ax_sprintf(ctx->arena, "\"task_id\":\"%" PRId64 "\",\"time\":%" PRId64, task->id,
			task->next_trigger_time));
	set_next(task, rule, AX_MAX(task->epoch_time, task->last_trigger_time));
}

bool ax_schedule_is_for_others(
	const struct ax_ctx *ctx, const struct ax_task *task, const struct ax_err *why, int64_t now)
{
	return !ctx->store->sole && strcmp(why->field, "time_zone") == 0 &&
		now - task->next_trigger_time < ZONE_PATIENCE_MS;
}

enum ax_status ax_schedule_park(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, const struct ax_err *why,
	int64_t now, struct ax_err *err)
{
	ctx->log->ops->event(ctx->log, AX_LOG_ERROR, "task_unschedulable",
		ax_sprintf(ctx->arena, "\"task_id\":\"%" PRId64 "\",\"field\":\"%s\"", task->id, why->field));
	int64_t old_next = task->next_trigger_time;
	task->next_trigger_time = 0;
	enum ax_status status = tx->ops->task_advance(tx, task, old_next, err);
	return status == AX_OK ? ax_alert_task_unreadable(ctx, tx, task, why, now, err) : status;
}

enum ax_status ax_schedule_resume(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_rule rule;
	struct ax_err why = { 0 };
	enum ax_status status = ax_rule_of(tx, ctx->zones, task, &rule, &why);
	if (status == AX_INVALID || status == AX_NEVER)
		return ax_alert_task_unreadable(ctx, tx, task, &why, now, err);
	if (status != AX_OK) {
		if (err != NULL)
			*err = why;
		return status;
	}
	if (rule.schedule.kind == AX_SCHEDULE_AFTER)
		return ax_schedule_after(ctx, tx, task, now, err);
	set_next(task, &rule, AX_MAX(task->epoch_time, task->last_trigger_time));
	ctx->notify->ops->task_changed(ctx->notify, task->id);
	return tx->ops->task_advance(tx, task, 0, err);
}

enum ax_status ax_epoch_append(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	struct ax_epoch epoch = epoch_of(ctx->zones, task);
	return task->def.task_type == AX_TASK_SCHEDULED ? tx->ops->epoch_append(tx, &epoch, err) : AX_OK;
}

enum ax_status ax_schedule_free_stuck(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err)
{
	struct ax_tasks stuck;
	enum ax_status status = tx->ops->tasks_stuck(tx, AX_BATCH, &stuck, err);
	*ret_taken = status == AX_OK ? stuck.n : 0;
	for (int i = 0; status == AX_OK && i < stuck.n; i++)
		status = ax_schedule_resume(ctx, tx, &stuck.at[i], now, err);
	return status;
}

enum ax_status ax_schedule_renew(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	int64_t old_next = task->next_trigger_time;
	enum ax_status status = ax_schedule_first(ctx, tx, task, ax_schedule_handled(task, now), now, err);
	if (status == AX_OK)
		status = tx->ops->task_advance(tx, task, old_next, err);
	if (status == AX_OK)
		status = ax_epoch_append(ctx, tx, task, err);
	ctx->notify->ops->task_changed(ctx->notify, task->id);
	return status;
}
