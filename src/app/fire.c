#include "app/fire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/change.h"
#include "core/limits.h"

enum { GIDS_PER_TRANSACTION = 50000 };

struct ax_gid_mark {
	struct ax_ctx *ctx;
	int64_t high_ms;
};

static enum ax_status raise_mark(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_gid_mark *mark = arg;
	struct ax_servers servers;
	enum ax_status status = tx->ops->servers(tx, &servers, err);
	for (int i = 0; status == AX_OK && i < servers.n; i++) {
		if (servers.at[i].number != mark->ctx->gids.server_number)
			continue;
		servers.at[i].gid_high_ms = AX_MAX(servers.at[i].gid_high_ms, mark->high_ms);
		servers.at[i].seen_time = ax_now_ms(mark->ctx->clock);
		return tx->ops->server_put(tx, &servers.at[i], err);
	}
	return status == AX_OK ? ax_fail(err, AX_BROKEN, "", "the row of this server is gone") : status;
}

enum ax_status ax_gids_ensure(struct ax_ctx *ctx, struct ax_err *err)
{
	struct ax_gid_mark mark = {
		.ctx = ctx,
		.high_ms = ax_gid_need(&ctx->gids, ax_now_ms(ctx->clock), GIDS_PER_TRANSACTION),
	};
	if (mark.high_ms == 0)
		return AX_OK;
	enum ax_status status = ax_store_run(ctx->store, ctx->arena, raise_mark, &mark, err);
	if (status == AX_OK)
		ax_gid_raise(&ctx->gids, mark.high_ms);
	return status;
}

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

static const char *make_trace_id(struct ax_ctx *ctx)
{
	return ax_sprintf(ctx->arena, "%016" PRIx64 "%016" PRIx64, ax_rand_u64(ctx->rand), ax_rand_u64(ctx->rand) | 1);
}

struct ax_run ax_run_make(struct ax_ctx *ctx, const struct ax_task *task, enum ax_run_kind kind, const char *key,
	int64_t trigger_time, int64_t now)
{
	int64_t gid = ax_gid_next(&ctx->gids, now);
	return (struct ax_run){
		.gid = gid,
		.task_id = task->id,
		.group_key = task->def.group_key,
		.executor_key = task->def.executor_key,
		.kind = kind,
		.fire_key = key[0] != '\0' ? key : ax_sprintf(ctx->arena, "%" PRId64, gid),
		.reason = "",
		.version = task->version,
		.trigger_time = trigger_time,
		.create_time = now,
		.rank = trigger_time - task->def.priority * AX_RANK_STEP_MS,
		.priority = task->def.priority,
		.worker = "",
		.incarnation = "",
		.result_msg = "",
		.result = "",
		.params = "",
		.trace_id = make_trace_id(ctx),
		.progress_msg = "",
		.progress_percent = -1,
	};
}

static const char *fire_key(struct ax_ctx *ctx, int64_t fire)
{
	return ax_sprintf(ctx->arena, "%" PRId64, fire);
}

/* How many runs of a task may be live at once. */
static int64_t most_live(const struct ax_task *task)
{
	return task->def.overlap == AX_OVERLAP_ALLOW ? task->def.overlap_max : 1;
}

/* Counts no further than it has to: those that the rule holds back are the newest. */
static enum ax_status count_live(
	struct ax_tx *tx, const struct ax_task *task, int64_t *ret_live, int64_t *ret_held, struct ax_err *err)
{
	return tx->ops->runs_live_count(tx, task->id, (int)most_live(task) + AX_BATCH, ret_live, ret_held, err);
}

enum ax_status ax_overlap_room(struct ax_tx *tx, const struct ax_task *task, bool *ret, struct ax_err *err)
{
	int64_t live, held;
	enum ax_status status = count_live(tx, task, &live, &held, err);
	if (status == AX_OK)
		*ret = live - held < most_live(task);
	return status;
}

static enum ax_status store_new(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run, struct ax_err *err)
{
	AX_ASSERT(ax_run_may_begin_as(run->status));
	enum ax_status status = tx->ops->run_insert(tx, run, err);
	if (status != AX_OK)
		return status;
	ctx->notify->ops->run_changed(ctx->notify, run);
	if (run->status == AX_RUN_WAITING && run->hold == AX_HOLD_NONE)
		ctx->notify->ops->group_ready(ctx->notify, run->group_key);
	return AX_OK;
}

static enum ax_status add_waiting(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	bool room, struct ax_err *err)
{
	run->status = AX_RUN_WAITING;
	run->hold = room ? AX_HOLD_NONE : AX_HOLD_OVERLAP;
	if (room && task->status == AX_TASK_PAUSED && run->kind != AX_KIND_MANUAL)
		run->hold = AX_HOLD_PAUSED;
	return store_new(ctx, tx, run, err);
}

enum ax_status ax_run_add_waiting(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run, struct ax_err *err)
{
	bool room;
	enum ax_status status = ax_overlap_room(tx, task, &room, err);
	return status == AX_OK ? add_waiting(ctx, tx, task, run, room, err) : status;
}

/* A run that is over the moment it is written: SKIPPED or MISSED. */
static enum ax_status add_ended(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	enum ax_run_state state, const char *reason, const char *message, struct ax_err *err)
{
	run->status = state;
	run->reason = reason;
	run->result_msg = message;
	run->end_time = run->create_time;
	enum ax_status status = store_new(ctx, tx, run, err);
	if (status == AX_OK)
		status = tx->ops->task_last_run(
			tx, task->id, run->gid, state, AX_MAX(run->end_time, task->last_run_end_time), err);
	return status;
}

/* Adds fires to those a run stands for. */
static void cover(struct ax_run *run, int64_t from, int64_t to, int64_t count)
{
	run->covers_from = run->covers_count == 0 ? from : AX_MIN(run->covers_from, from);
	run->covers_to = AX_MAX(run->covers_to, to);
	run->covers_count += count;
}

/* Overlap `queue`: the fire joins the run that waits, if one does. What a run stands for is a range of fires, so it can
 * only grow by the fire that follows: when others were skipped or missed in between, the fire waits as a run of its
 * own. */
static enum ax_status join_waiting(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_runs *live, const struct ax_run *run, bool *ret_joined, struct ax_err *err)
{
	*ret_joined = false;
	for (int i = live->n - 1; i >= 0; i--) {
		struct ax_run *waiting = &live->at[i];
		if (waiting->status != AX_RUN_WAITING || waiting->kind != AX_KIND_SCHEDULE || waiting->made_up ||
			waiting->fence > 0 ||
			AX_MAX(waiting->covers_to, waiting->trigger_time) != task->last_trigger_time)
			continue;
		if (run->covers_count > 0)
			cover(waiting, run->covers_from, run->covers_to, run->covers_count);
		cover(waiting, run->trigger_time, run->trigger_time, 1);
		enum ax_status status = tx->ops->run_update(tx, waiting, waiting->rev, err);
		*ret_joined = status == AX_OK;
		ctx->notify->ops->run_changed(ctx->notify, waiting);
		return status;
	}
	return AX_OK;
}

/* One fire that is not too old: a run of its own, or counted on another, or skipped, by the overlap rule. `run` may
 * already stand for late fires. */
static enum ax_status fire_one(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	int64_t now, struct ax_err *err)
{
	struct ax_runs live;
	int64_t enough = most_live(task), n_live, n_held;
	enum ax_status status = count_live(tx, task, &n_live, &n_held, err);
	if (status == AX_OK && n_live < enough)
		return add_waiting(ctx, tx, task, run, true, err);
	if (status == AX_OK)
		status = tx->ops->runs_live(tx, task->id, true, (int)enough + AX_BATCH, &live, err);
	if (status != AX_OK)
		return status;
	bool joined = false;
	bool lines_up = task->def.overlap == AX_OVERLAP_QUEUE || task->def.overlap == AX_OVERLAP_ALLOW;
	bool made_up_each = task->def.misfire == AX_MISFIRE_FIRE_ALL && run->trigger_time < now - AX_LATE_MS;
	if (lines_up && !made_up_each)
		status = join_waiting(ctx, tx, task, &live, run, &joined, err);
	if (status != AX_OK || joined)
		return status;
	if (task->def.overlap == AX_OVERLAP_SKIP)
		return add_ended(ctx, tx, task, run, AX_RUN_SKIPPED, "overlap",
			ax_sprintf(ctx->arena, "run %" PRId64 " of this task was still %s", live.at[live.n - 1].gid,
				ax_run_state_name(live.at[live.n - 1].status)),
			err);
	if (task->def.overlap == AX_OVERLAP_REPLACE)
		status = ax_cancel_runs(ctx, tx, &live, "replaced", now, err);
	if (status == AX_OK)
		status = ax_run_add_waiting(ctx, tx, task, run, err);
	return status;
}

/* The due fires of one task, sorted by what becomes of them. */
struct batch {
	int64_t missed_from, missed_to, missed_count; /* older than the window */
	int64_t late_from, late_to, late_count;       /* inside it, passed over or counted on the next one */
	int64_t runs[AX_FIRE_ALL_MAX];                /* a run each, oldest first */
	int n_runs;
	int64_t last; /* newest fire walked over; 0 = none */
	int64_t next; /* where to go on; 0 = the schedule has no further fire */
};

static void add_late(struct batch *batch, int64_t fire)
{
	batch->late_from = batch->late_count == 0 ? fire : batch->late_from;
	batch->late_to = fire;
	batch->late_count++;
}

/* Puts one fire where it belongs; false when the batch is full. */
static bool sort_fire(struct batch *batch, const struct ax_task_def *def, int64_t fire, int64_t now)
{
	if (fire < now - def->window_seconds * 1000 && fire < now - AX_LATE_MS) {
		batch->missed_from = batch->missed_count == 0 ? fire : batch->missed_from;
		batch->missed_to = fire;
		batch->missed_count++;
		return true;
	}
	if (fire < now - AX_LATE_MS && def->misfire != AX_MISFIRE_FIRE_ALL) {
		add_late(batch, fire);
		return true;
	}
	if (batch->n_runs == AX_FIRE_ALL_MAX)
		return false;
	batch->runs[batch->n_runs++] = fire;
	return true;
}

static void walk_fires(struct batch *batch, const struct ax_task *task, const struct ax_schedule *schedule,
	const struct ax_tz *tz, int64_t now)
{
	int64_t fire = task->next_trigger_time;
	for (int steps = 0; fire != 0 && fire <= now && steps < AX_FIRES_STEP; steps++) {
		if (!sort_fire(batch, &task->def, fire, now))
			break;
		batch->last = fire;
		if (!ax_schedule_next(schedule, tz, task->anchor_time, fire, &fire))
			fire = 0;
	}
	batch->next = fire;
}

static enum ax_status add_missed(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct batch *batch, int64_t now, struct ax_err *err)
{
	struct ax_run run =
		ax_run_make(ctx, task, AX_KIND_MISS, fire_key(ctx, batch->missed_from), batch->missed_from, now);
	cover(&run, batch->missed_from, batch->missed_to, batch->missed_count);
	return add_ended(ctx, tx, task, &run, AX_RUN_MISSED, "missed",
		ax_sprintf(ctx->arena, "found %" PRId64 " s late; the window is %" PRId64 " s",
			(now - batch->missed_from) / 1000, task->def.window_seconds),
		err);
}

/* Late fires that no run stands for yet: the newest gets a run (fire_once), or all are skipped. */
static enum ax_status add_late_run(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct batch *batch, int64_t now, struct ax_err *err)
{
	bool skip = task->def.misfire == AX_MISFIRE_SKIP;
	int64_t key = skip ? batch->late_from : batch->late_to;
	struct ax_run run = ax_run_make(ctx, task, AX_KIND_SCHEDULE, fire_key(ctx, key), key, now);
	if (batch->late_count > 1)
		cover(&run, batch->late_from, batch->late_to, batch->late_count - 1);
	if (!skip)
		return fire_one(ctx, tx, task, &run, now, err);
	return add_ended(ctx, tx, task, &run, AX_RUN_SKIPPED, "misfire", "late, and the misfire policy is skip", err);
}

/* A key that exists already is accounted for: a person made the fire up, or the clock went back over it. */
static enum ax_status unless_exists(enum ax_status status)
{
	return status == AX_EXISTS ? AX_OK : status;
}

/* Writes what the batch holds, oldest first; last_trigger_time follows. */
static enum ax_status store_batch(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, const struct batch *batch,
	int64_t now, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	if (batch->missed_count > 0) {
		status = unless_exists(add_missed(ctx, tx, task, batch, now, err));
		task->last_trigger_time = batch->missed_to;
	}
	bool on_next = task->def.misfire == AX_MISFIRE_FIRE_ONCE && batch->n_runs > 0;
	if (status == AX_OK && batch->late_count > 0 && !on_next) {
		status = unless_exists(add_late_run(ctx, tx, task, batch, now, err));
		task->last_trigger_time = batch->late_to;
	}
	for (int i = 0; status == AX_OK && i < batch->n_runs; i++) {
		int64_t fire = batch->runs[i];
		struct ax_run run = ax_run_make(ctx, task, AX_KIND_SCHEDULE, fire_key(ctx, fire), fire, now);
		if (i == 0 && on_next && batch->late_count > 0)
			cover(&run, batch->late_from, batch->late_to, batch->late_count);
		status = unless_exists(fire_one(ctx, tx, task, &run, now, err));
		task->last_trigger_time = fire;
	}
	return status;
}

enum ax_status ax_fire_due(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_schedule schedule;
	const struct ax_tz *tz;
	struct batch batch = { 0 };
	enum ax_status status = ax_schedule_of(ctx, &task->def, &schedule, &tz, err);
	if (status != AX_OK)
		return status;
	walk_fires(&batch, task, &schedule, tz, now);
	if (batch.last == 0)
		return AX_OK;
	status = store_batch(ctx, tx, task, &batch, now, err);
	if (status != AX_OK)
		return status;
	int64_t old_next = task->next_trigger_time;
	task->next_trigger_time = batch.next;
	task->exhausted = batch.next == 0 && schedule.kind != AX_SCHEDULE_AFTER;
	status = tx->ops->task_advance(tx, task, old_next, err);
	ctx->notify->ops->task_changed(ctx->notify, task->id);
	if (status == AX_OK)
		status = ax_schedule_after(ctx, tx, task, now, err);
	return status;
}

enum ax_status ax_fire_settle(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	while (status == AX_OK && task->status == AX_TASK_ENABLED && task->next_trigger_time != 0 &&
		task->next_trigger_time <= now)
		status = ax_fire_due(ctx, tx, task, now, err);
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
