#include "app/tasks.h"

#include <inttypes.h>
#include <string.h>

#include "app/alert_rules.h"
#include "app/birth.h"
#include "app/change.h"
#include "app/fire.h"
#include "app/overlap.h"
#include "app/schedule_next.h"
#include "base/utf8.h"
#include "core/condition.h"
#include "core/limits.h"
#include "core/retry.h"
#include "core/task_def.h"
#include "core/watch.h"

enum { TEN_YEARS_MS_IN_S = 315576000 };

static enum ax_status check_text(const char *field, const char *text, size_t min, size_t max, struct ax_err *err)
{
	size_t len = strlen(text), characters = 0;
	if (!ax_utf8_valid(text, len))
		return ax_fail(err, AX_INVALID, field, "the text is not well-formed UTF-8");
	for (size_t i = 0; i < len; i++)
		characters += ((unsigned char)text[i] & 0xc0) != 0x80;
	if (characters < min || characters > max)
		return ax_fail(err, AX_INVALID, field, "the text has %zu characters; %zu to %zu are allowed",
			characters, min, max);
	return AX_OK;
}

/* Text of one line that people read: no control characters, nothing that turns the direction or breaks the line. */
static enum ax_status check_line(const char *field, const char *text, size_t min, size_t max, struct ax_err *err)
{
	enum ax_status status = check_text(field, text, min, max, err);
	for (const unsigned char *p = (const unsigned char *)text; status == AX_OK && *p != '\0'; p++) {
		bool control = *p < 0x20 || *p == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);    /* C0, DEL, C1 */
		bool breaks = p[0] == 0xe2 && p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae; /* U+2028 … U+202E */
		bool turns = p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;  /* U+2066 … U+2069 */
		if (control || breaks || turns)
			return ax_fail(err, AX_INVALID, field,
				"no control characters, line breaks or direction marks are allowed");
	}
	return status;
}

static enum ax_status check_name(const struct ax_task_def *def, struct ax_err *err)
{
	const char *name = def->task_name;
	size_t len = strlen(name);
	enum ax_status status = check_line("task_name", name, 1, AX_NAME_MAX, err);
	if (status == AX_OK && (name[0] == ' ' || name[len - 1] == ' '))
		return ax_fail(err, AX_INVALID, "task_name", "a name neither begins nor ends with a blank");
	return status;
}

static enum ax_status check_executor(const struct ax_task_def *def, struct ax_err *err)
{
	size_t len = strlen(def->executor_key);
	if (len < 1 || len > AX_NAME_MAX ||
		strspn(def->executor_key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") != len)
		return ax_fail(err, AX_INVALID, "executor_key",
			"an executor key is 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-'");
	return AX_OK;
}

/* What narrows a schedule and spreads it. */
static enum ax_status check_rule(const struct ax_task_def *def, const struct ax_schedule *schedule, struct ax_err *err)
{
	int64_t shortest_s = ax_schedule_shortest_s(schedule);
	if (def->valid_until != 0 && def->valid_until <= def->valid_from)
		return ax_fail(err, AX_INVALID, "valid_until", "the window of validity ends before it begins");
	if (schedule->kind == AX_SCHEDULE_AFTER && def->calendar[0] != '\0')
		return ax_fail(err, AX_INVALID, "calendar",
			"@after counts from the task's own runs and knows no dates; write a cron expression");
	if (schedule->kind == AX_SCHEDULE_AFTER && def->jitter_seconds != 0)
		return ax_fail(err, AX_INVALID, "jitter_seconds",
			"@after counts from the task's own runs, which spreads it already; leave the jitter out");
	if (def->jitter_seconds >= shortest_s)
		return ax_fail(err, AX_INVALID, "jitter_seconds",
			"jitter must be shorter than the time between two fires; here they may be %" PRId64 " s apart",
			shortest_s);
	return AX_OK;
}

/* Fields that only a schedule has. */
static enum ax_status refuse_schedule(const struct ax_task_def *def, struct ax_err *err)
{
	const char *field = def->cron_expr[0] != '\0' ? "cron_expr"
		: def->calendar[0] != '\0'            ? "calendar"
		: def->valid_from != 0                ? "valid_from"
		: def->valid_until != 0               ? "valid_until"
		: def->jitter_seconds != 0            ? "jitter_seconds"
						      : NULL;
	if (field == NULL)
		return AX_OK;
	return ax_fail(err, AX_INVALID, field, "only a task of type scheduled has a %s; leave it out", field);
}

static enum ax_status check_schedule(struct ax_ctx *ctx, const struct ax_task_def *def, struct ax_err *err)
{
	struct ax_schedule schedule;
	const struct ax_tz *tz;
	enum ax_status status;
	if (def->task_type == AX_TASK_SCHEDULED) {
		status = ax_schedule_of(ctx->zones, def->cron_expr, def->dialect, def->time_zone, &schedule, &tz, err);
		return status == AX_OK ? check_rule(def, &schedule, err) : status;
	}
	if (ax_zones_find(ctx->zones, def->time_zone) == NULL)
		return ax_fail(err, AX_INVALID, "time_zone", "the zone data has no zone '%.64s'; write an IANA name",
			def->time_zone);
	return refuse_schedule(def, err);
}

static enum ax_status check_retries(const struct ax_task_def *def, struct ax_err *err)
{
	if (def->retry_backoff == AX_BACKOFF_LIST && def->retry_delays[0] == '\0')
		return ax_fail(
			err, AX_INVALID, "retry_delays", "retry_backoff list needs at least one wait in seconds");
	return ax_retry_on_check(def->retry_on, err);
}

static enum ax_status check_promises(const struct ax_task_def *def, struct ax_err *err)
{
	int minutes;
	if (def->must_end_by[0] != '\0' && !ax_clock_parse(def->must_end_by, &minutes))
		return ax_fail(err, AX_INVALID, "must_end_by", "write a time of the day from 00:00 to 23:59");
	return AX_OK;
}

static enum ax_status check_event(const struct ax_task_def *def, struct ax_err *err)
{
	bool listens = def->task_type == AX_TASK_EVENT;
	if (!listens && def->event_name[0] != '\0')
		return ax_fail(
			err, AX_INVALID, "event_name", "only a task of type event has an event_name; leave it out");
	if (!listens && strcmp(def->event_condition, "null") != 0)
		return ax_fail(err, AX_INVALID, "event_condition",
			"only a task of type event has an event_condition; leave it out");
	enum ax_status status = check_line("event_name", def->event_name, listens, AX_EVENT_NAME_MAX, err);
	return status == AX_OK ? ax_condition_check(def->event_condition, err) : status;
}

enum ax_status ax_task_check(struct ax_ctx *ctx, const struct ax_task_def *def, struct ax_err *err)
{
	enum ax_status status = check_name(def, err);
	if (status == AX_OK)
		status = check_schedule(ctx, def, err);
	if (status == AX_OK)
		status = check_event(def, err);
	if (status == AX_OK)
		status = check_executor(def, err);
	if (status == AX_OK)
		status = ax_def_check_ranges(def, err);
	if (status == AX_OK)
		status = check_retries(def, err);
	if (status == AX_OK)
		status = check_promises(def, err);
	if (status == AX_OK)
		status = check_line("owner", def->owner, 0, AX_NAME_MAX, err);
	if (status == AX_OK)
		status = check_text("notes", def->notes, 0, AX_MESSAGE_MAX, err);
	return status;
}

static enum ax_status append_version(struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	struct ax_task_version version = {
		.task_id = task->id,
		.version = task->version,
		.time = task->update_time,
		.author = task->updated_by,
		.def = task->def,
	};
	return tx->ops->task_version_insert(tx, &version, err);
}

static enum ax_status refuse_if_never(const struct ax_task *task, struct ax_err *err)
{
	if (!task->exhausted)
		return AX_OK;
	bool narrowed = task->def.calendar[0] != '\0' || task->def.valid_from != 0 || task->def.valid_until != 0;
	return ax_fail(err, AX_NEVER, "cron_expr", "this schedule has no fire after now%s; write one that has",
		narrowed ? " within its calendar and validity" : "");
}

/* One event makes its runs in one transaction. */
static enum ax_status refuse_if_crowded(struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	struct ax_tasks listening;
	if (task->def.task_type != AX_TASK_EVENT)
		return AX_OK;
	enum ax_status status =
		tx->ops->tasks_listening(tx, task->def.event_name, AX_LISTENERS_MAX + 1, &listening, err);
	if (status == AX_OK && listening.n > AX_LISTENERS_MAX)
		return ax_fail(
			err, AX_INVALID, "event_name", "%d tasks listen to this event already", AX_LISTENERS_MAX);
	return status;
}

struct create {
	struct ax_ctx *ctx;
	const struct ax_task_def *defs;
	const enum ax_task_status *statuses;
	int n;
	const char *actor;
	struct ax_task *tasks;
	int failed;
	int64_t now;
};

static enum ax_status create_one(struct create *c, struct ax_tx *tx, int i, struct ax_err *err)
{
	struct ax_task *task = &c->tasks[i];
	struct ax_group group;
	*task = (struct ax_task){
		.def = c->defs[i],
		.status = c->statuses[i],
		.version = 1,
		.create_time = c->now,
		.update_time = c->now,
		.updated_by = c->actor,
		.anchor_time = c->now,
		.absence_time = c->now,
	};
	enum ax_status status = tx->ops->group_get(tx, task->def.group_key, false, &group, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_INVALID, "group_key", "there is no group '%.64s'; create it first",
			task->def.group_key);
	if (status == AX_OK)
		status = ax_schedule_first(c->ctx, tx, task, c->now, c->now, err);
	if (status == AX_OK)
		status = refuse_if_never(task, err);
	if (status == AX_OK)
		status = tx->ops->task_insert(tx, task, &task->id, err);
	if (status == AX_EXISTS)
		return ax_fail(err, AX_EXISTS, "task_name", "group '%s' has a task '%s' already", task->def.group_key,
			task->def.task_name);
	if (status == AX_OK && task->def.jitter_seconds != 0) /* which hangs on the id */
		status = ax_fire_renew(c->ctx, tx, task, c->now, err);
	else if (status == AX_OK)
		status = ax_epoch_append(c->ctx, tx, task, err);
	if (status == AX_OK)
		status = refuse_if_crowded(tx, task, err);
	if (status == AX_OK)
		status = append_version(tx, task, err);
	c->ctx->notify->ops->task_changed(c->ctx->notify, task->id);
	return status;
}

static enum ax_status create_all(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct create *c = arg;
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < c->n; i++) {
		c->failed = i;
		status = create_one(c, tx, i, err);
	}
	return status;
}

enum ax_status ax_tasks_create(struct ax_ctx *ctx, const struct ax_task_def *defs, const enum ax_task_status *statuses,
	int n, const char *actor, struct ax_task *ret_tasks, int *ret_failed, struct ax_err *err)
{
	struct create c = {
		.ctx = ctx,
		.defs = defs,
		.statuses = statuses,
		.n = n,
		.actor = actor,
		.tasks = ret_tasks,
		.now = ax_now_ms(ctx->clock),
	};
	for (*ret_failed = 0; *ret_failed < n; (*ret_failed)++) {
		enum ax_status status = ax_task_check(ctx, &defs[*ret_failed], err);
		if (status != AX_OK)
			return status;
	}
	enum ax_status status = ax_store_run(ctx->store, ctx->arena, create_all, &c, err);
	*ret_failed = c.failed;
	return status;
}

struct edit {
	struct ax_ctx *ctx;
	int64_t id;
	int64_t old_version;
	const struct ax_task_def *def;
	enum ax_task_status status;
	bool force;
	const char *actor;
	struct ax_task *ret;
	struct ax_runs *given;
	int stopping;
	int64_t now;
};

/* The task, locked, with everything that was due before now accounted for under the rule as it was. */
static enum ax_status open_task(struct edit *e, struct ax_tx *tx, struct ax_task *ret, struct ax_err *err)
{
	enum ax_status status = tx->ops->task_get(tx, e->id, true, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "id", "there is no task %" PRId64, e->id);
	return status == AX_OK ? ax_fire_settle(e->ctx, tx, ret, e->now, err) : status;
}

static bool same_schedule(const struct ax_task_def *a, const struct ax_task_def *b)
{
	return strcmp(a->cron_expr, b->cron_expr) == 0 && a->dialect == b->dialect &&
		strcmp(a->time_zone, b->time_zone) == 0 && strcmp(a->calendar, b->calendar) == 0 &&
		a->calendar_mode == b->calendar_mode && a->valid_from == b->valid_from &&
		a->valid_until == b->valid_until && a->jitter_seconds == b->jitter_seconds;
}

/* The first fire under the rule as it is now, after those `handled` by the old one. With @after and a live run, the end
 * of that run sets it. */
static enum ax_status reschedule(
	struct edit *e, struct ax_tx *tx, struct ax_task *task, int64_t handled, struct ax_err *err)
{
	struct ax_runs live = { 0 };
	struct ax_rule rule;
	enum ax_status status = ax_schedule_first(e->ctx, tx, task, handled, e->now, err);
	if (status != AX_OK || task->next_trigger_time == 0)
		return status;
	status = ax_rule_of(tx, e->ctx->zones, task, &rule, err);
	if (status == AX_OK && rule.schedule.kind == AX_SCHEDULE_AFTER)
		status = tx->ops->runs_live(tx, task->id, false, 1, &live, err);
	if (live.n > 0)
		task->next_trigger_time = 0;
	return status;
}

static enum ax_status update(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct edit *e = arg;
	struct ax_task task;
	enum ax_status status = open_task(e, tx, &task, err);
	if (status != AX_OK)
		return status;
	if (task.version != e->old_version)
		return ax_fail(
			err, AX_CONFLICT, "version", "the task is at version %" PRId64 "; read it again", task.version);
	if (strcmp(task.def.group_key, e->def->group_key) != 0)
		return ax_fail(
			err, AX_INVALID, "group_key", "a task stays in its group; create it anew in the other one");
	if (task.def.task_type != e->def->task_type)
		return ax_fail(err, AX_INVALID, "task_type", "a task keeps its type; create it anew");
	struct ax_task_def old = task.def;
	int64_t old_next = task.next_trigger_time, handled = ax_schedule_handled(&task, e->now);
	task.def = *e->def;
	task.version++;
	task.update_time = e->now;
	task.updated_by = e->actor;
	bool changed = !same_schedule(&old, &task.def);
	if (old.absence_seconds != task.def.absence_seconds)
		task.absence_time = e->now;
	if (strcmp(old.cron_expr, task.def.cron_expr) != 0)
		task.anchor_time = e->now;
	if (changed)
		status = reschedule(e, tx, &task, handled, err);
	if (status == AX_OK && changed)
		status = refuse_if_never(&task, err);
	if (status == AX_OK)
		status = tx->ops->task_update(tx, &task, e->old_version, old_next, err);
	if (status == AX_EXISTS)
		return ax_fail(err, AX_EXISTS, "task_name", "group '%s' has a task '%s' already", task.def.group_key,
			task.def.task_name);
	if (status == AX_OK)
		status = refuse_if_crowded(tx, &task, err);
	if (status == AX_OK)
		status = append_version(tx, &task, err);
	if (status == AX_OK && changed)
		status = ax_epoch_append(e->ctx, tx, &task, err);
	if (status == AX_OK) /* the overlap rule may be wider now */
		status = ax_release_held(e->ctx, tx, &task, err);
	if (status == AX_OK && task.def.overlap == AX_OVERLAP_SKIP)
		status = ax_pass_over_held(e->ctx, tx, &task, e->now, err);
	if (status == AX_OK) /* with the copy of its last run */
		status = tx->ops->task_get(tx, task.id, true, &task, err);
	e->ctx->notify->ops->task_changed(e->ctx->notify, task.id);
	*e->ret = task;
	return status;
}

enum ax_status ax_task_update(struct ax_ctx *ctx, int64_t id, int64_t old_version, const struct ax_task_def *def,
	const char *actor, struct ax_task *ret, struct ax_err *err)
{
	struct edit e = {
		.ctx = ctx,
		.id = id,
		.old_version = old_version,
		.def = def,
		.actor = actor,
		.ret = ret,
		.now = ax_now_ms(ctx->clock),
	};
	enum ax_status status = ax_task_check(ctx, def, err);
	if (status == AX_OK)
		status = ax_gids_ensure(ctx, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, update, &e, err) : status;
}

/* Pausing holds what waits, resuming lets it go; live attempts are left alone. */
static enum ax_status set_hold(struct edit *e, struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	enum ax_hold from = task->status == AX_TASK_PAUSED ? AX_HOLD_NONE : AX_HOLD_PAUSED;
	enum ax_hold to = task->status == AX_TASK_PAUSED ? AX_HOLD_PAUSED : AX_HOLD_NONE;
	struct ax_runs live;
	enum ax_status status = tx->ops->runs_live(tx, task->id, true, INT32_MAX, &live, err);
	for (int i = 0; status == AX_OK && i < live.n; i++) {
		struct ax_run *run = &live.at[i];
		if (run->status != AX_RUN_WAITING || run->hold != from || run->kind == AX_KIND_MANUAL)
			continue;
		run->hold = to;
		status = tx->ops->run_update(tx, run, run->rev, err);
		e->ctx->notify->ops->run_changed(e->ctx->notify, run);
		e->ctx->notify->ops->group_ready(e->ctx->notify, run->group_key);
	}
	if (e->given == NULL)
		return status;
	*e->given = live;
	e->given->n = 0;
	for (int i = 0; i < live.n; i++)
		if (ax_run_is_given_out(live.at[i].status))
			e->given->at[e->given->n++] = live.at[i];
	return status;
}

static enum ax_status set_status(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct edit *e = arg;
	struct ax_task task;
	enum ax_status status = open_task(e, tx, &task, err);
	if (status != AX_OK)
		return status;
	*e->ret = task;
	if (task.status != e->status) {
		int64_t old_next = task.next_trigger_time;
		task.status = e->status;
		if (task.status == AX_TASK_ENABLED)
			task.absence_time = e->now;
		task.update_time = e->now;
		task.updated_by = e->actor;
		status = reschedule(e, tx, &task, ax_schedule_handled(&task, e->now), err);
		if (status == AX_OK)
			status = tx->ops->task_update(tx, &task, task.version, old_next, err);
		if (status == AX_OK)
			status = ax_epoch_append(e->ctx, tx, &task, err);
		e->ctx->notify->ops->task_changed(e->ctx->notify, task.id);
		*e->ret = task;
	}
	return status == AX_OK ? set_hold(e, tx, &task, err) : status;
}

enum ax_status ax_task_set_status(struct ax_ctx *ctx, int64_t id, enum ax_task_status status, const char *actor,
	struct ax_task *ret, struct ax_runs *ret_given, struct ax_err *err)
{
	struct edit e = {
		.ctx = ctx,
		.id = id,
		.status = status,
		.actor = actor,
		.ret = ret,
		.given = ret_given,
		.now = ax_now_ms(ctx->clock),
	};
	enum ax_status result = ax_gids_ensure(ctx, err);
	return result == AX_OK ? ax_store_run(ctx->store, ctx->arena, set_status, &e, err) : result;
}

/* Ends the demand, then removes what can be removed: nothing while workers still hold runs. */
static enum ax_status remove_task(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct edit *e = arg;
	struct ax_task task;
	struct ax_runs pending, live;
	e->stopping = 0;
	enum ax_status status = open_task(e, tx, &task, err);
	if (status == AX_OK)
		status = tx->ops->runs_live(tx, task.id, true, INT32_MAX, &live, err);
	if (status == AX_OK)
		status = tx->ops->runs_pending(tx, task.id, INT32_MAX, &pending, err);
	if (status != AX_OK)
		return status;
	if (live.n + pending.n > 0 && !e->force)
		return ax_fail(err, AX_CONFLICT, "id",
			"%d runs of this task have not ended; cancel them or force the delete", live.n + pending.n);
	if (task.status == AX_TASK_ENABLED) {
		int64_t old_next = task.next_trigger_time;
		task.status = AX_TASK_PAUSED;
		task.update_time = e->now;
		task.updated_by = e->actor;
		status = reschedule(e, tx, &task, ax_schedule_handled(&task, e->now), err);
		if (status == AX_OK)
			status = tx->ops->task_update(tx, &task, task.version, old_next, err);
		if (status == AX_OK)
			status = ax_epoch_append(e->ctx, tx, &task, err);
	}
	if (status == AX_OK)
		status = ax_cancel_runs(e->ctx, tx, &pending, "task_deleted", e->now, err);
	if (status == AX_OK)
		status = ax_cancel_runs(e->ctx, tx, &live, "task_deleted", e->now, err);
	for (int i = 0; status == AX_OK && i < live.n; i++)
		e->stopping += ax_run_is_given_out(live.at[i].status);
	if (status == AX_OK && e->stopping == 0)
		status = tx->ops->task_delete(tx, task.id, err);
	if (status == AX_OK && e->stopping == 0)
		status = ax_alert_task_gone(e->ctx, tx, task.id, e->now, err);
	e->ctx->notify->ops->task_changed(e->ctx->notify, e->id);
	return status;
}

enum ax_status ax_task_delete(struct ax_ctx *ctx, int64_t id, bool force, const char *actor, struct ax_err *err)
{
	struct edit e = { .ctx = ctx, .id = id, .force = force, .actor = actor, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_gids_ensure(ctx, err);
	if (status == AX_OK)
		status = ax_store_run(ctx->store, ctx->arena, remove_task, &e, err);
	if (status == AX_OK && e.stopping > 0)
		return ax_fail(err, AX_CONFLICT, "id",
			"the task is paused and its %d runs at workers were asked to stop; delete it again when they "
			"have",
			e.stopping);
	return status;
}

struct trigger {
	struct ax_ctx *ctx;
	const struct ax_trigger *ask;
	struct ax_run *ret;
	bool existed;
	int64_t now;
};

static enum ax_status trigger(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct trigger *t = arg;
	struct ax_task task;
	enum ax_status status = tx->ops->task_get(tx, t->ask->task_id, true, &task, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "id", "there is no task %" PRId64, t->ask->task_id);
	if (status != AX_OK)
		return status;
	bool later = t->ask->run_at != 0;
	if (later && task.def.task_type != AX_TASK_DELAY)
		return ax_fail(err, AX_INVALID, "run_at",
			"only a task of type delay runs later; leave run_at and delay_ms out");
	enum ax_run_kind kind = task.def.task_type == AX_TASK_DELAY ? AX_KIND_DELAY : AX_KIND_MANUAL;
	t->existed = false;
	if (t->ask->key[0] != '\0') {
		status = tx->ops->run_find(tx, task.id, kind, t->ask->key, 0, t->ret, err);
		t->existed = status == AX_OK;
		if (status != AX_NOT_FOUND)
			return status;
	}
	struct ax_run run = ax_run_make(t->ctx, &task, kind, t->ask->key, later ? t->ask->run_at : t->now, t->now);
	run.params = t->ask->params;
	if (run.trigger_time <= t->now)
		status = ax_run_add_waiting(t->ctx, tx, &task, &run, err);
	else
		status = ax_run_add_pending(t->ctx, tx, &run, err);
	*t->ret = run;
	return status;
}

enum ax_status ax_task_trigger(
	struct ax_ctx *ctx, const struct ax_trigger *ask, struct ax_run *ret, bool *ret_existed, struct ax_err *err)
{
	struct trigger t = { .ctx = ctx, .ask = ask, .ret = ret, .now = ax_now_ms(ctx->clock) };
	if (ask->run_at > t.now + (int64_t)TEN_YEARS_MS_IN_S * 1000)
		return ax_fail(err, AX_INVALID, "run_at", "the due instant is at most ten years ahead");
	if (strlen(ask->params) > AX_PARAM_MAX)
		return ax_fail(err, AX_TOO_LARGE, "params", "the parameters have %zu bytes; %d are allowed",
			strlen(ask->params), AX_PARAM_MAX);
	enum ax_status status = ax_gids_ensure(ctx, err);
	if (status == AX_OK)
		status = ax_store_run(ctx->store, ctx->arena, trigger, &t, err);
	*ret_existed = t.existed;
	return status;
}
