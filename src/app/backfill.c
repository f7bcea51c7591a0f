#include "app/backfill.h"

#include <inttypes.h>

#include "app/birth.h"
#include "app/change.h"
#include "app/fire.h"
#include "app/make_up.h"
#include "app/schedule_next.h"
#include "app/task_check.h"
#include "core/limits.h"

enum { OPEN_MAX = 1000 }; /* backfills under way that one transaction looks at */

static int64_t live(const struct ax_backfill *b)
{
	return b->made - b->done - b->failed;
}

static void end(struct ax_backfill *b, enum ax_backfill_status status, int64_t now)
{
	b->status = status;
	b->end_time = now;
}

/* Writes what changed. */
static enum ax_status store(struct ax_tx *tx, struct ax_backfill *b, struct ax_err *err)
{
	enum ax_status status = tx->ops->backfill_update(tx, b, b->rev, err);
	b->rev++;
	return status;
}

/* The newest instant whose fire is past and dealt with; later ones come by themselves. */
static int64_t newest(const struct ax_task *task, int64_t now)
{
	return AX_MIN(ax_schedule_handled(task, now), now);
}

/* The fire after the one dealt with last. */
static bool next_fire(const struct ax_backfill *b, const struct ax_rule *rule, int64_t *ret)
{
	if (b->newest_first)
		return ax_rule_last(rule, b->from_time, b->cursor_time, ret);
	return ax_rule_next(rule, b->cursor_time, ret) && *ret < b->to_time;
}

/* Makes runs until as many are live as may be. */
static enum ax_status step(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_backfill *b, int64_t now, bool *ret_more, struct ax_err *err)
{
	struct ax_task task;
	struct ax_rule rule;
	struct ax_run run;
	int64_t fire;
	enum ax_status status = tx->ops->task_get(tx, b->task_id, true, &task, err);
	/* a task that follows others by now has no fires of its own any more */
	bool left = status != AX_OK || ax_def_has_schedule(&task.def);
	if (status == AX_OK && left)
		status = ax_rule_of(tx, ctx->zones, &task, &rule, err);
	if (status == AX_INVALID || status == AX_NEVER)
		return AX_OK; /* the task cannot be read (any more): it waits until it can */
	int steps = 0;
	for (; status == AX_OK && left && steps < AX_BACKFILL_STEP && live(b) < b->max_live; steps++) {
		left = next_fire(b, &rule, &fire);
		if (!left || fire > newest(&task, now)) /* the clock went back: it waits */
			break;
		status = ax_fire_make_up(ctx, tx, &task, fire, b->id, now, &run, err);
		b->made += status == AX_OK;
		b->existed += status == AX_EXISTS;
		status = status == AX_EXISTS ? AX_OK : status;
		b->cursor_time = fire;
	}
	*ret_more = *ret_more || steps == AX_BACKFILL_STEP;
	if (!left && live(b) == 0)
		end(b, AX_BACKFILL_DONE, now);
	bool changed = steps > 0 || b->status != AX_BACKFILL_RUNNING;
	return status == AX_OK && changed ? store(tx, b, err) : status;
}

enum ax_status ax_backfills_step(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err)
{
	struct ax_backfills open;
	bool more = false;
	enum ax_status status = tx->ops->backfills_open(tx, OPEN_MAX, &open, err);
	for (int i = 0; status == AX_OK && i < open.n && !more; i++)
		if (live(&open.at[i]) < open.at[i].max_live)
			status = step(ctx, tx, &open.at[i], now, &more, err);
	*ret_taken = more ? AX_BATCH : 0;
	return status;
}

/* --- what people do ----------------------------------------------------------------------------------------------- */

struct pass {
	struct ax_ctx *ctx;
	const struct ax_backfill_ask *ask;
	const char *actor;
	int64_t id;
	struct ax_backfill *ret;
	int64_t now;
};

static enum ax_status check(const struct ax_backfill_ask *ask, struct ax_err *err)
{
	if (ask->max_live < 1 || ask->max_live > AX_BACKFILL_LIVE_MAX)
		return ax_fail(err, AX_INVALID, "max_live", "1 to %d runs may be live at once", AX_BACKFILL_LIVE_MAX);
	if (ask->from_time >= ask->to_time)
		return ax_fail(err, AX_INVALID, "from", "from must be before to");
	return AX_OK;
}

/* How many fires there are, and with `dry_run` how many of them have a run. */
static enum ax_status count(
	struct ax_tx *tx, struct ax_backfill *b, const struct ax_rule *rule, bool dry_run, struct ax_err *err)
{
	struct ax_run run;
	enum ax_status status = AX_OK;
	int64_t fire = b->from_time - 1;
	while (status == AX_OK && ax_rule_next(rule, fire, &fire) && fire < b->to_time) {
		if (b->total++ == AX_BACKFILL_MAX)
			return ax_fail(err, AX_TOO_LARGE, "from", "there are more than %d fires; take a part of them",
				AX_BACKFILL_MAX);
		if (!dry_run)
			continue;
		status = tx->ops->run_find(
			tx, b->task_id, AX_KIND_SCHEDULE, ax_sprintf(tx->arena, "%" PRId64, fire), 0, &run, err);
		b->existed += status == AX_OK;
		status = status == AX_NOT_FOUND ? AX_OK : status;
	}
	if (status == AX_OK && b->total == 0)
		return ax_fail(err, AX_INVALID, "from", "the task's rule has no fire from there to there");
	return status;
}

/* The task, settled, and its rule. */
static enum ax_status open_task(
	struct pass *pass, struct ax_tx *tx, struct ax_task *ret, struct ax_rule *ret_rule, struct ax_err *err)
{
	enum ax_status status = tx->ops->task_get(tx, pass->ask->task_id, true, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "id", "there is no task %" PRId64, pass->ask->task_id);
	if (status == AX_OK)
		status = ax_task_refuse_if_deleting(ret, err);
	if (status == AX_OK && !ax_def_has_schedule(&ret->def))
		return ax_fail(err, AX_CONFLICT, "", "only scheduled tasks have fires of their own");
	if (status == AX_OK)
		status = ax_fire_settle(pass->ctx, tx, ret, pass->now, err);
	if (status == AX_OK)
		status = ax_rule_of(tx, pass->ctx->zones, ret, ret_rule, err);
	if (status == AX_OK && ret_rule->schedule.kind == AX_SCHEDULE_AFTER)
		return ax_fail(err, AX_CONFLICT, "", "the fires of @after follow from its runs and have no past");
	return status;
}

static enum ax_status create(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	const struct ax_backfill_ask *ask = pass->ask;
	struct ax_task task;
	struct ax_rule rule;
	bool more = false;
	enum ax_status status = open_task(pass, tx, &task, &rule, err);
	if (status != AX_OK)
		return status;
	struct ax_backfill b = {
		.task_id = task.id,
		.from_time = ask->from_time,
		.to_time = AX_MIN(ask->to_time, newest(&task, pass->now) + 1),
		.max_live = ask->max_live,
		.newest_first = ask->newest_first,
		.create_time = pass->now,
		.created_by = pass->actor,
	};
	b.cursor_time = b.newest_first ? b.to_time : b.from_time - 1;
	status = count(tx, &b, &rule, ask->dry_run, err);
	if (status == AX_OK && !ask->dry_run)
		status = tx->ops->backfill_insert(tx, &b, &b.id, err);
	if (status == AX_OK && !ask->dry_run)
		status = step(pass->ctx, tx, &b, pass->now, &more, err);
	pass->ctx->notify->ops->task_changed(pass->ctx->notify, task.id); /* a tick goes on with it */
	*pass->ret = b;
	return status;
}

enum ax_status ax_backfill_create(struct ax_ctx *ctx, const struct ax_backfill_ask *ask, const char *actor,
	struct ax_backfill *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .ask = ask, .actor = actor, .ret = ret, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = check(ask, err);
	if (status == AX_OK)
		status = ax_gids_ensure(ctx, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, create, &pass, err) : status;
}

static enum ax_status cancel_waiting(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_backfill *b, int64_t now, struct ax_err *err)
{
	const struct ax_run_filter filter = {
		.task_id = b->task_id,
		.backfill_id = b->id,
		.live = true,
		.limit = INT32_MAX,
		.scan_limit = INT32_MAX,
	};
	struct ax_runs runs;
	int64_t rest;
	enum ax_status status = tx->ops->runs_page(tx, &filter, &runs, &rest, err);
	if (status != AX_OK)
		return status;
	int kept = 0;
	for (int i = 0; i < runs.n; i++)
		if (!ax_run_is_given_out(runs.at[i].status))
			runs.at[kept++] = runs.at[i];
	runs.n = kept;
	return ax_cancel_runs(ctx, tx, &runs, "backfill_cancelled", now, err);
}

static enum ax_status cancel(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_backfill *b = pass->ret;
	enum ax_status status = tx->ops->backfill_get(tx, pass->id, true, b, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "id", "there is no backfill %" PRId64, pass->id);
	if (status == AX_OK && b->status != AX_BACKFILL_RUNNING)
		return ax_fail(err, AX_CONFLICT, "status", "the backfill is over already");
	if (status != AX_OK)
		return status;
	end(b, AX_BACKFILL_CANCELLED, pass->now);
	status = store(tx, b, err);
	if (status == AX_OK)
		status = cancel_waiting(pass->ctx, tx, b, pass->now, err);
	return status == AX_OK ? tx->ops->backfill_get(tx, pass->id, true, b, err)
			       : status; /* its runs that ended count */
}

enum ax_status ax_backfill_cancel(struct ax_ctx *ctx, int64_t id, struct ax_backfill *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .id = id, .ret = ret, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_gids_ensure(ctx, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, cancel, &pass, err) : status;
}

enum ax_status ax_backfills_end(struct ax_tx *tx, int64_t task_id, int64_t now, struct ax_err *err)
{
	struct ax_backfills open;
	enum ax_status status = tx->ops->backfills(tx, task_id, 0, INT32_MAX, &open, err);
	for (int i = 0; status == AX_OK && i < open.n; i++) {
		if (open.at[i].status != AX_BACKFILL_RUNNING)
			continue;
		status = tx->ops->backfill_get(tx, open.at[i].id, true, &open.at[i], err);
		if (status != AX_OK || open.at[i].status != AX_BACKFILL_RUNNING)
			continue;
		end(&open.at[i], AX_BACKFILL_CANCELLED, now);
		status = store(tx, &open.at[i], err);
	}
	return status;
}
