#include "app/watch.h"
#include "app/tick.h"

#include <inttypes.h>

#include "app/absence.h"
#include "app/alert_sweep.h"
#include "app/birth.h"
#include "app/backfill.h"
#include "app/calendars.h"
#include "app/chain.h"
#include "app/change.h"
#include "app/chore.h"
#include "app/counts.h"
#include "app/claim.h"
#include "app/failures.h"
#include "app/fire.h"
#include "app/schedule_next.h"
#include "app/shards.h"
#include "app/tasks.h"
#include "core/limits.h"

enum {
	RARE_SWEEP_MS = 30000,
	FOLD_MS = 1000,
	ALERT_SWEEP_MS = 10000,
	LOST_RACES = 5,
	ROUNDS = 2, /* batches one call takes before it lets others at the store */
};

/* A batch of something that another file does. */
typedef enum ax_status (*chore_fn)(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err);

struct pass {
	struct ax_ctx *ctx;
	int64_t now;
	int taken; /* rows this transaction took: a full batch means there may be more */
	int found; /* by all of them */
	bool more; /* a batch was full to the end */
	chore_fn chore;
	const char *chore_name; /* NULL = every server does it, each for the rows that it gets */
};

enum ax_status ax_tick_task(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_err why = { 0 };
	enum ax_status status = ax_fire_due(ctx, tx, task, now, &why);
	if (status == AX_INVALID || status == AX_NEVER)
		return ax_schedule_is_for_others(ctx, task, &why, now)
			? AX_OK
			: ax_schedule_park(ctx, tx, task, &why, now, err);
	if (status != AX_OK && err != NULL)
		*err = why;
	return status;
}

static enum ax_status fire_tasks(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_tasks due;
	enum ax_status status = tx->ops->tasks_due(tx, pass->now - pass->ctx->queue_leads_ms, AX_BATCH, &due, err);
	int64_t enough = pass->ctx->written + AX_SWEEP_WRITES;
	pass->taken = status == AX_OK ? due.n : 0;
	pass->ctx->found_late |= pass->taken > 0;
	for (int i = 0; status == AX_OK && i < due.n && pass->ctx->written < enough; i++)
		status = ax_tick_task(pass->ctx, tx, &due.at[i], pass->now, err);
	if (pass->ctx->written >= enough)
		pass->taken = AX_BATCH; /* the rest is for the next transaction */
	return status;
}

/* A given-out run whose deadline passed: hard limit or lease. */
static enum ax_status end_attempt(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, int64_t now, struct ax_err *err)
{
	if (now < ctx->hold_leases_until) { /* the silence may be our own */
		if (ctx->others_watch)      /* and they know better */
			return AX_OK;
		run->deadline_time = ctx->hold_leases_until;
		return tx->ops->run_update(tx, run, run->rev, err);
	}
	if (run->limit_time != 0 && run->limit_time <= now) {
		struct ax_change limit = {
			.outcome = AX_OUTCOME_LIMIT,
			.message = "the worker did not end it in time; the server's hard limit passed",
		};
		return ax_change_result(ctx, tx, run, &limit, now, err);
	}
	return ax_change_lost(ctx, tx, run, "lost", now, err);
}

enum ax_status ax_tick_run(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, int64_t now, struct ax_err *err)
{
	static const struct ax_change due = { .event = AX_EV_DUE, .reason = "" };
	if (run->status == AX_RUN_WAITING)
		return ax_run_is_parent(run) ? ax_shards_make(ctx, tx, run, now, err)
					     : ax_shard_look(ctx, tx, run, now, err);
	if (run->status == AX_RUN_RUNNING && ax_run_is_parent(run))
		return ax_shards_look(ctx, tx, run, now, err);
	static const struct ax_change in_vain = { .event = AX_EV_BLOCK, .reason = "join_deadline" };
	if (ax_run_is_given_out(run->status))
		return end_attempt(ctx, tx, run, now, err);
	if (ax_run_is_joining(run)) {
		run->result_msg = "not all upstreams had succeeded by the join's deadline";
		return ax_change_run(ctx, tx, run, &in_vain, now, err);
	}
	return ax_change_run(ctx, tx, run, &due, now, err);
}

static enum ax_status sweep_runs(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_runs overdue;
	enum ax_status status =
		tx->ops->runs_overdue(tx, pass->now, pass->now - pass->ctx->queue_leads_ms, AX_BATCH, &overdue, err);
	int64_t enough = pass->ctx->written + AX_SWEEP_WRITES;
	pass->taken = status == AX_OK ? overdue.n : 0;
	for (int i = 0; status == AX_OK && i < overdue.n && pass->ctx->written < enough; i++) {
		struct ax_run *run = &overdue.at[i];
		if (i > 0) /* what was swept before it may have gone down a chain to this one */
			status = tx->ops->run_get(tx, run->gid, true, run, err);
		bool due =
			!ax_run_is_terminal(run->status) && run->deadline_time != 0 && run->deadline_time <= pass->now;
		if (status == AX_OK && due)
			status = ax_tick_run(pass->ctx, tx, run, pass->now, err);
	}
	if (pass->ctx->written >= enough)
		pass->taken = AX_BATCH; /* the rest is for the next transaction */
	return status;
}

/* With what people began and left to the servers. */
static enum ax_status go_on(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err)
{
	enum ax_status status = ax_backfills_step(ctx, tx, now, ret_taken, err);
	return status == AX_OK && *ret_taken == 0 ? ax_tasks_ending_step(ctx, tx, now, ret_taken, err) : status;
}

static enum ax_status run_chore(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	return pass->chore(pass->ctx, tx, pass->now, &pass->taken, err);
}

enum ax_status ax_tick_find_next(struct ax_tx *tx, void *ret_ms, struct ax_err *err)
{
	int64_t *next = ret_ms;
	int64_t task = 0, run = 0;
	enum ax_status status = tx->ops->task_next_due(tx, &task, err);
	if (status == AX_OK)
		status = tx->ops->run_next_deadline(tx, &run, err);
	if (status == AX_OK)
		*next = task == 0 || run == 0 ? AX_MAX(task, run) : AX_MIN(task, run);
	return status;
}

/* Runs a batch transaction until it finds less than a batch. Where another server was quicker it looks again. */
static enum ax_status repeat(struct pass *pass, ax_tx_fn fn, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	bool mine;
	for (int round = 0;; round++) {
		status = ax_gids_ensure(pass->ctx, err);
		pass->taken = 0;
		if (status == AX_OK && pass->chore_name == NULL)
			status = ax_store_run(pass->ctx->store, pass->ctx->arena, fn, pass, err);
		else if (status == AX_OK)
			status = ax_chore_run(pass->ctx, pass->chore_name, fn, pass, &mine, err);
		if (status == AX_CONFLICT && round < LOST_RACES)
			continue;
		pass->found += pass->taken;
		if (status != AX_OK || pass->taken < AX_BATCH)
			return status;
		if (round >= ROUNDS - 1)
			break;
	}
	pass->more = true;
	return status;
}

static enum ax_status repeat_chore(struct pass *pass, const char *name, chore_fn chore, struct ax_err *err)
{
	pass->chore = chore;
	pass->chore_name = name;
	enum ax_status status = repeat(pass, run_chore, err);
	pass->chore_name = NULL;
	return status;
}

static enum ax_status count_ended(struct pass *pass, struct ax_err *err)
{
	struct ax_ctx *ctx = pass->ctx;
	if (!ax_counts_are_due(ctx, pass->now))
		return AX_OK;
	enum ax_status status = repeat_chore(pass, "counts", ax_counts_fold, err);
	if (status == AX_OK) {
		ctx->counting = ctx->counting_next;
		ctx->counted_ms = pass->now;
	}
	return status;
}

enum ax_status ax_tick(struct ax_ctx *ctx, int64_t *ret_next_ms, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .now = ax_now_ms(ctx->clock) };
	ctx->found_late = false;
	enum ax_status status = ax_absence_look(ctx, pass.now, err);
	if (status == AX_OK)
		status = repeat(&pass, fire_tasks, err);
	if (status == AX_OK)
		status = repeat(&pass, sweep_runs, err);
	if (status == AX_OK)
		status = repeat_chore(&pass, NULL, ax_watch_sweep, err);
	if (status == AX_OK)
		status = repeat_chore(&pass, "backfills", go_on, err);
	bool going_on = status == AX_OK && pass.taken >= AX_BATCH;
	if (status == AX_OK && (pass.now - ctx->stuck_seen_ms > RARE_SWEEP_MS || pass.now < ctx->stuck_seen_ms)) {
		status = repeat_chore(&pass, "stuck", ax_schedule_free_stuck, err);
		if (status == AX_OK)
			status = repeat_chore(
				&pass, "calendars", ax_calendars_follow, err); /* changes that a crash cut short */
		ctx->stuck_seen_ms = pass.now;
	}
	if (status == AX_OK && (pass.now - ctx->alerts_seen_ms > ALERT_SWEEP_MS || pass.now < ctx->alerts_seen_ms)) {
		status = ax_alert_sweep(ctx, pass.now, err);
		ctx->alerts_seen_ms = pass.now;
	}
	if (ctx->queue_leads_ms > 0)
		*ret_next_ms = pass.more ? pass.now : 0;
	else if (status == AX_OK)
		status = ax_store_run(ctx->store, ctx->arena, ax_tick_find_next, ret_next_ms, err);
	/* what is due and was not found, another transaction holds: it deals with it, or lets it go in a moment */
	if (status == AX_OK && *ret_next_ms != 0 && *ret_next_ms <= pass.now && pass.found == 0)
		*ret_next_ms = pass.now + AX_BUSY_MS;
	if (status == AX_OK && *ret_next_ms <= pass.now && pass.now < ctx->hold_leases_until && ctx->others_watch)
		*ret_next_ms = 0; /* what another server ends is no reason to look at once */
	if (going_on)
		*ret_next_ms = pass.now;
	if (status == AX_OK)
		ctx->seen_ms = pass.now;
	/* last, for nothing else waits for it */
	if (status == AX_OK && (pass.now - ctx->folded_ms >= FOLD_MS || pass.now < ctx->folded_ms)) {
		status = repeat_chore(&pass, "failures", ax_failures_fold, err);
		if (pass.taken < AX_BATCH)
			ctx->folded_ms = pass.now;
		else if (*ret_next_ms == 0 || *ret_next_ms > pass.now + AX_BUSY_MS)
			*ret_next_ms = pass.now + AX_BUSY_MS;
	}
	if (status == AX_OK)
		status = count_ended(&pass, err);
	return status;
}
