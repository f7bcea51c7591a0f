#include "app/tasks.h"

#include <inttypes.h>
#include <string.h>

#include "app/alert_rules.h"
#include "app/birth.h"
#include "app/backfill.h"
#include "app/chain_edit.h"
#include "app/change.h"
#include "app/fire.h"
#include "app/overlap.h"
#include "app/schedule_next.h"
#include "app/task_check.h"
#include "core/limits.h"

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
		.durations = "",
	};
	enum ax_status status = tx->ops->group_get(tx, task->def.group_key, true, &group, err); /* it stays */
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
		status = ax_schedule_renew(c->ctx, tx, task, c->now, err);
	else if (status == AX_OK)
		status = ax_epoch_append(c->ctx, tx, task, err);
	if (status == AX_OK)
		status = refuse_if_crowded(tx, task, err);
	if (status == AX_OK)
		status = ax_chain_save(c->ctx, tx, task, err);
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
	bool more; /* runs to be cancelled than one transaction does */
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
	if (status == AX_OK)
		status = ax_task_refuse_if_deleting(&task, err);
	if (status != AX_OK)
		return status;
	if (task.version != e->old_version)
		return ax_fail(
			err, AX_CONFLICT, "version", "the task is at version %" PRId64 "; read it again", task.version);
	if (task.canary_version != 0)
		return ax_fail(err, AX_CONFLICT, "version",
			"version %" PRId64 " is on trial: promote it or roll it back before the next change",
			task.canary_version);
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
	bool rechained = strcmp(old.upstreams, task.def.upstreams) != 0 || old.join_all != task.def.join_all;
	if (status == AX_OK && rechained)
		status = ax_chain_save(e->ctx, tx, &task, err);
	if (status == AX_OK)
		status = append_version(tx, &task, err);
	if (status == AX_OK && changed)
		status = ax_epoch_append(e->ctx, tx, &task, err);
	if (status == AX_OK && rechained)
		status = ax_change_joins(e->ctx, tx, &task, e->now, err);
	if (status == AX_OK) /* the overlap rule may be narrower now, or wider */
		status = ax_hold_beyond(e->ctx, tx, &task, e->now, err);
	if (status == AX_OK)
		status = ax_release_held(e->ctx, tx, &task, e->now, err);
	if (status == AX_OK && task.def.overlap == AX_OVERLAP_SKIP && old.overlap != AX_OVERLAP_SKIP)
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

static enum ax_status set_holds(
	struct edit *e, struct ax_tx *tx, const struct ax_task *task, struct ax_runs *runs, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < runs->n; i++) {
		struct ax_run *run = &runs->at[i];
		enum ax_hold hold = ax_hold_of(task, run, true);
		if (run->status != AX_RUN_WAITING || run->hold == hold)
			continue;
		ax_hold_set(run, hold, e->now);
		status = tx->ops->run_update(tx, run, run->rev, err);
		e->ctx->notify->ops->run_changed(e->ctx->notify, run);
		e->ctx->notify->ops->group_ready(e->ctx->notify, run->group_key);
	}
	return status;
}

/* Pausing holds what waits, resuming lets it go; live attempts are left alone, and what the overlap rule holds stays
 * so: the others are as many as it lets be, and their shards. */
static enum ax_status set_hold(struct edit *e, struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	struct ax_runs live, shards;
	enum ax_status status = tx->ops->runs_live(tx, task->id, true, INT32_MAX, &live, err);
	if (status == AX_OK)
		status = set_holds(e, tx, task, &live, err);
	for (int i = 0; status == AX_OK && i < live.n; i++) {
		if (!ax_run_is_parent(&live.at[i]) || live.at[i].status != AX_RUN_RUNNING)
			continue;
		status = tx->ops->shards(tx, live.at[i].gid, true, true, 0, INT32_MAX, &shards, err);
		if (status == AX_OK)
			status = set_holds(e, tx, task, &shards, err);
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
	if (status == AX_OK)
		status = ax_task_refuse_if_deleting(&task, err);
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

static enum ax_status refuse_if_unended(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	struct ax_runs held, pending, live;
	enum ax_status status = tx->ops->runs_held(tx, id, AX_BATCH, &held, err);
	if (status == AX_OK)
		status = tx->ops->runs_pending(tx, id, AX_BATCH, &pending, err);
	if (status == AX_OK)
		status = tx->ops->runs_live(tx, id, false, AX_BATCH, &live, err);
	if (status != AX_OK || held.n + pending.n + live.n == 0)
		return status;
	bool all = held.n < AX_BATCH && pending.n < AX_BATCH && live.n < AX_BATCH;
	return ax_fail(err, AX_CONFLICT, "id", "%s%d runs of this task have not ended; cancel them or force the delete",
		all ? "" : "at least ", held.n + pending.n + live.n);
}

/* There is no way back from here: the task is as good as gone, and only its runs are waited for. */
static enum ax_status begin_delete(struct edit *e, struct ax_tx *tx, struct ax_task *task, struct ax_err *err)
{
	int64_t old_next = task->next_trigger_time;
	bool enabled = task->status == AX_TASK_ENABLED;
	if (task->status == AX_TASK_DELETING)
		return AX_OK;
	task->status = AX_TASK_DELETING;
	task->update_time = e->now;
	task->updated_by = e->actor;
	enum ax_status status = reschedule(e, tx, task, ax_schedule_handled(task, e->now), err);
	if (status == AX_OK)
		status = tx->ops->task_update(tx, task, task->version, old_next, err);
	return status == AX_OK && enabled ? ax_epoch_append(e->ctx, tx, task, err) : status;
}

/* The row is read again: the ends of runs are written there. */
static enum ax_status set_ending(struct ax_tx *tx, bool ending, struct ax_task *task, struct ax_err *err)
{
	enum ax_status status = tx->ops->task_get(tx, task->id, true, task, err);
	if (status != AX_OK || task->ending == ending)
		return status;
	task->ending = ending;
	return tx->ops->task_update(tx, task, task->version, task->next_trigger_time, err);
}

/* Too many for one transaction: ticks cancel the others, and nothing of them is given out meanwhile. */
static enum ax_status begin_ending(struct edit *e, struct ax_tx *tx, struct ax_task *task, struct ax_err *err)
{
	enum ax_status status = set_ending(tx, true, task, err);
	return status == AX_OK ? set_hold(e, tx, task, err) : status;
}

/* Ends the demand, then removes what can be removed: nothing while workers still hold runs, or others wait to be
 * cancelled. */
static enum ax_status remove_task(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct edit *e = arg;
	struct ax_task task;
	struct ax_runs live;
	e->stopping = 0;
	e->more = false;
	enum ax_status status = open_task(e, tx, &task, err);
	if (status == AX_OK)
		status = ax_chain_refuse_delete(e->ctx, tx, &task, err);
	if (status == AX_OK && !e->force && task.status != AX_TASK_DELETING) /* that was forced once and for all */
		status = refuse_if_unended(tx, task.id, err);
	if (status == AX_OK)
		status = ax_backfills_end(tx, task.id, e->now, err);
	if (status == AX_OK)
		status = begin_delete(e, tx, &task, err);
	if (status == AX_OK)
		status = ax_cancel_of_task(e->ctx, tx, task.id, "task_deleted", e->now, &e->more, err);
	if (status != AX_OK)
		return status;
	e->ctx->notify->ops->task_changed(e->ctx->notify, e->id);
	if (e->more)
		return begin_ending(e, tx, &task, err);
	status = tx->ops->runs_live(tx, task.id, false, INT32_MAX, &live, err); /* they are at workers */
	e->stopping = status == AX_OK ? live.n : 0;
	if (status == AX_OK && e->stopping == 0)
		status = tx->ops->upstreams_delete(tx, task.id, err);
	if (status == AX_OK && e->stopping == 0)
		status = tx->ops->task_delete(tx, task.id, err);
	if (status == AX_OK && e->stopping == 0)
		status = ax_alert_task_gone(e->ctx, tx, task.id, e->now, err);
	return status;
}

enum ax_status ax_task_delete(struct ax_ctx *ctx, int64_t id, bool force, const char *actor, struct ax_err *err)
{
	struct edit e = { .ctx = ctx, .id = id, .force = force, .actor = actor, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_gids_ensure(ctx, err);
	if (status == AX_OK)
		status = ax_store_run(ctx->store, ctx->arena, remove_task, &e, err);
	if (status == AX_OK && e.more)
		return ax_fail(err, AX_CONFLICT, "id",
			"the task is being deleted and its runs are being cancelled, a part of them at a time; delete "
			"it again when they have ended");
	if (status == AX_OK && e.stopping > 0)
		return ax_fail(err, AX_CONFLICT, "id",
			"the task is being deleted and its %d runs at workers were asked to stop; delete it again when "
			"they have",
			e.stopping);
	return status;
}

enum ax_status ax_tasks_ending_step(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err)
{
	struct ax_tasks ending;
	bool more = false;
	enum ax_status status = tx->ops->tasks_ending(tx, 1, &ending, err);
	*ret_taken = status == AX_OK && ending.n > 0 ? AX_BATCH : 0;
	if (status != AX_OK || ending.n == 0)
		return status;
	struct ax_task *task = &ending.at[0];
	status = ax_cancel_of_task(ctx, tx, task->id, "task_deleted", now, &more, err);
	return status == AX_OK && !more ? set_ending(tx, false, task, err) : status;
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
	if (status == AX_OK)
		status = ax_task_refuse_if_deleting(&task, err);
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
		status = ax_run_add_pending(t->ctx, tx, &task, &run, run.trigger_time, err);
	*t->ret = run;
	return status;
}

enum ax_status ax_task_trigger(
	struct ax_ctx *ctx, const struct ax_trigger *ask, struct ax_run *ret, bool *ret_existed, struct ax_err *err)
{
	struct trigger t = { .ctx = ctx, .ask = ask, .ret = ret, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_trigger_check(ctx, ask->run_at, ask->params, err);
	if (status == AX_OK)
		status = ax_gids_ensure(ctx, err);
	if (status == AX_OK)
		status = ax_store_run(ctx->store, ctx->arena, trigger, &t, err);
	*ret_existed = t.existed;
	return status;
}
