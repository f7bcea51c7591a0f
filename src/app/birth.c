#include "app/birth.h"

#include <inttypes.h>
#include <string.h>

#include "app/alert_rules.h"
#include "app/canary.h"
#include "app/overlap.h"
#include "app/run_def.h"
#include "app/seat.h"
#include "app/shard_set.h"
#include "base/num.h"
#include "core/duration.h"
#include "core/limits.h"
#include "core/watch.h"

enum { GIDS_PER_TRANSACTION = 1000000 }; /* 500 tasks hear one event, and each ends two chains of 500 runs */

enum ax_status ax_gids_ensure(struct ax_ctx *ctx, struct ax_err *err)
{
	if (ctx->store->joined) /* the whole has its gids; a mark that is raised here would be undone with it */
		return AX_OK;
	ctx->shards_left = AX_SHARDS_STEP;
	return ax_seat_ensure_gids(ctx, GIDS_PER_TRANSACTION, err);
}

static const char *make_trace_id(struct ax_ctx *ctx)
{
	return ax_sprintf(ctx->arena, "%016" PRIx64 "%016" PRIx64, ax_rand_u64(ctx->rand), ax_rand_u64(ctx->rand) | 1);
}

/* By when a run that is due then must have ended; 0 = any time. */
static int64_t must_end_time(struct ax_ctx *ctx, const struct ax_task_def *def, int64_t trigger_time)
{
	int minutes;
	const struct ax_tz *tz = ax_zones_find(ctx->zones, def->time_zone);
	if (tz == NULL || !ax_clock_parse(def->must_end_by, &minutes))
		return 0;
	return ax_clock_next(tz, minutes, trigger_time);
}

struct ax_run ax_run_make(struct ax_ctx *ctx, const struct ax_task *task, enum ax_run_kind kind, const char *key,
	int64_t trigger_time, int64_t now)
{
	int64_t gid = ax_gid_next(&ctx->gids, now), batch = gid;
	int64_t must_end = must_end_time(ctx, &task->def, trigger_time);
	if (kind == AX_KIND_SCHEDULE || kind == AX_KIND_MISS)
		(void)ax_parse_i64(
			key, strlen(key), 0, INT64_MAX, &batch); /* what comes of one fire belongs together */
	return (struct ax_run){
		.gid = gid,
		.task_id = task->id,
		.group_key = task->def.group_key,
		.executor_key = task->def.executor_key,
		.kind = kind,
		.fire_key = key[0] != '\0' ? key : ax_sprintf(ctx->arena, "%" PRId64, gid),
		.shard_total = task->def.shard_count,
		.spread = task->def.broadcast       ? AX_SPREAD_BROADCAST
			: task->def.shard_count > 0 ? AX_SPREAD_SHARDS
						    : AX_SPREAD_NONE,
		.reason = "",
		.version = task->version,
		.batch = batch,
		.trigger_time = trigger_time,
		.create_time = now,
		.rank = trigger_time - task->def.priority * AX_RANK_STEP_MS,
		.priority = task->def.priority,
		.lane = ax_lane_choose(task->def.lane, ax_durations_quantile(task->durations, 90)),
		.demand = ax_route_demand(&task->def),
		.worker = "",
		.incarnation = "",
		.result_msg = "",
		.result = "",
		.params = "",
		.trace_id = make_trace_id(ctx),
		.progress_msg = "",
		.progress_percent = -1,
		.must_end_time = must_end,
		.watch_time = must_end,
	};
}

void ax_run_set_due(struct ax_ctx *ctx, const struct ax_task *task, struct ax_run *run, int64_t due)
{
	run->trigger_time = run->deadline_time = due;
	run->rank = due - run->priority * AX_RANK_STEP_MS;
	run->must_end_time = run->watch_time = must_end_time(ctx, &task->def, due);
}

/* That its fire has a run already is for the caller to judge. That another run has its gid says nothing of the fire:
 * two servers have one number, for a moment, because the store forgot whose it was. The next try has another gid. */
static enum ax_status not_stored(
	struct ax_ctx *ctx, const struct ax_run *run, const struct ax_err *why, struct ax_err *err)
{
	if (why->status != AX_EXISTS || strcmp(why->field, "gid") != 0)
		return ax_fail(err, why->status, why->field, "%s", why->msg);
	ctx->log->ops->event(
		ctx->log, AX_LOG_ERROR, "gid_taken", ax_sprintf(ctx->arena, "\"gid\":\"%" PRId64 "\"", run->gid));
	return ax_fail(err, AX_BUSY, "", "there already is a run %" PRId64 "; try again", run->gid);
}

static enum ax_status store_new(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run, struct ax_err *err)
{
	AX_ASSERT(ax_run_may_begin_as(run->status, ax_run_is_parent(run)));
	ctx->written++;
	struct ax_err why = { 0 };
	enum ax_status status = tx->ops->run_insert(tx, run, &why);
	if (status != AX_OK)
		return not_stored(ctx, run, &why, err);
	ctx->notify->ops->run_made(ctx->notify, run);
	if (run->status == AX_RUN_WAITING && run->hold == AX_HOLD_NONE)
		ctx->notify->ops->group_ready(ctx->notify, run->group_key);
	return AX_OK;
}

static struct ax_run make_shard(
	struct ax_ctx *ctx, const struct ax_run *parent, int64_t shard, const char *worker, int64_t now)
{
	struct ax_run run = {
		.gid = ax_gid_next(&ctx->gids, now),
		.task_id = parent->task_id,
		.group_key = parent->group_key,
		.executor_key = parent->executor_key,
		.kind = parent->kind,
		.fire_key = parent->fire_key,
		.shard = shard,
		.shard_total = parent->shard_total,
		.spread = parent->spread,
		.parent = parent->gid,
		.status = AX_RUN_WAITING,
		.reason = "",
		.version = parent->version,
		.batch = parent->batch,
		.trigger_time = parent->trigger_time,
		.create_time = now,
		.rank = parent->rank,
		.priority = parent->priority,
		.lane = parent->lane,
		.demand = worker[0] == '\0' ? parent->demand : ax_sprintf(ctx->arena, "{\"worker\":\"%s\"}", worker),
		.worker = worker,
		.incarnation = "",
		.result_msg = "",
		.result = "",
		.params = "", /* the parent's, which are not stored a thousand times */
		.trace_id = parent->trace_id,
		.progress_msg = "",
		.progress_percent = -1,
		.rerun_of = parent->rerun_of,
		.made_up = parent->made_up,
	};
	ax_hold_set(&run, AX_HOLD_NONE, now);
	return run;
}

enum ax_status ax_run_add_shards(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *parent,
	const struct ax_shard_plan *plan, int64_t now, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < plan->n; i++) {
		struct ax_run run = make_shard(ctx, parent, plan->at[i].shard, plan->at[i].worker, now);
		status = store_new(ctx, tx, &run, err);
	}
	if (status == AX_EXISTS) /* the parent's key is its own, and so are theirs */
		return ax_fail(err, AX_BROKEN, "shard", "run %" PRId64 " has shards already", parent->gid);
	return status;
}

/* A parent that nothing holds. */
static enum ax_status add_parent(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, struct ax_err *err)
{
	struct ax_shard_plan plan;
	struct ax_task_def def;
	int64_t now = run->create_time;
	enum ax_status status = ax_shard_plan(ctx, tx, run, now, &plan, err);
	if (status != AX_OK)
		return status;
	run->deadline_time = plan.look_time;
	if (plan.look_time != 0)
		return store_new(ctx, tx, run, err);
	status = ax_run_def(tx, run, &def, err);
	if (status != AX_OK)
		return status;
	run->status = AX_RUN_RUNNING;
	run->shard_total = plan.total;
	ax_parent_begin(run, &def, now);
	status = store_new(ctx, tx, run, err);
	return status == AX_OK ? ax_run_add_shards(ctx, tx, run, &plan, now, err) : status;
}

enum ax_status ax_run_add_due(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	bool room, struct ax_err *err)
{
	run->status = AX_RUN_WAITING;
	if (run->made_up) /* its time is past, and a person chose this one */
		run->must_end_time = run->watch_time = 0;
	ax_hold_set(run, ax_hold_of(task, run, room), run->create_time);
	enum ax_status status = ax_canary_choose(tx, task, run, err);
	if (status != AX_OK)
		return status;
	return run->hold == AX_HOLD_SPREAD ? add_parent(ctx, tx, run, err) : store_new(ctx, tx, run, err);
}

enum ax_status ax_run_add_waiting(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run, struct ax_err *err)
{
	bool room;
	enum ax_status status = ax_overlap_room(tx, task, &room, err);
	return status == AX_OK ? ax_run_add_due(ctx, tx, task, run, room, err) : status;
}

enum ax_status ax_run_add_pending(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	int64_t deadline, struct ax_err *err)
{
	run->status = AX_RUN_PENDING;
	run->deadline_time = deadline;
	enum ax_status status = ax_canary_choose(tx, task, run, err);
	return status == AX_OK ? store_new(ctx, tx, run, err) : status;
}

enum ax_status ax_run_add_ended(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	enum ax_run_state state, const char *reason, const char *message, struct ax_err *err)
{
	run->status = state;
	run->reason = reason;
	run->result_msg = message;
	run->end_time = run->create_time;
	run->watch_time = 0;
	struct ax_task ended = *task;
	ended.last_run_gid = run->gid;
	ended.last_run_status = state;
	ended.last_run_end_time = AX_MAX(run->end_time, task->last_run_end_time);
	enum ax_status status = store_new(ctx, tx, run, err);
	if (status == AX_OK)
		status = tx->ops->task_last_run(tx, &ended, err);
	if (status == AX_OK && state == AX_RUN_MISSED)
		status = ax_alert_run_missed(ctx, tx, task, run, run->create_time, err);
	return status;
}
