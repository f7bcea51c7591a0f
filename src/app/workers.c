#include "app/workers.h"

#include <string.h>

#include "app/birth.h"
#include "app/change.h"
#include "app/worker_seen.h"
#include "core/limits.h"

enum { PAST_MAX = 4 }; /* incarnations that are remembered */

struct pass {
	struct ax_ctx *ctx;
	struct ax_registration *reg;
	const char *name, *incarnation;
	bool drain, disable;
	int64_t now;
};

static bool names_attempt(const struct ax_registration *reg, const struct ax_run *run)
{
	for (int i = 0; i < reg->n_running; i++)
		if (reg->running[i].gid == run->gid && reg->running[i].fence == run->fence)
			return true;
	return false;
}

/* An attempt of an earlier incarnation that the new one still holds: its lease starts anew. */
static enum ax_status adopt(struct pass *pass, struct ax_tx *tx, struct ax_run *run, struct ax_err *err)
{
	run->incarnation = pass->reg->worker.incarnation;
	run->accepted = true;
	run->heartbeat_time = pass->now;
	run->deadline_time = pass->now + AX_LEASE_MS;
	if (run->limit_time != 0)
		run->deadline_time = AX_MIN(run->deadline_time, run->limit_time);
	pass->ctx->notify->ops->run_changed(pass->ctx->notify, run);
	return tx->ops->run_update(tx, run, run->rev, err);
}

/* Tells which of the named attempts are not the worker's any more. */
static enum ax_status find_stops(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_registration *reg = pass->reg;
	reg->stops = ax_alloc_array(pass->ctx->arena, (size_t)reg->n_running + 1, sizeof(*reg->stops));
	reg->n_stops = 0;
	for (int i = 0; i < reg->n_running; i++) {
		struct ax_run run;
		enum ax_status status = tx->ops->run_get(tx, reg->running[i].gid, false, &run, err);
		if (status != AX_OK && status != AX_NOT_FOUND)
			return status;
		bool held = status == AX_OK && run.fence == reg->running[i].fence && ax_run_is_given_out(run.status) &&
			strcmp(run.worker, reg->worker.name) == 0;
		if (!held || run.cancel != AX_CANCEL_NONE)
			reg->stops[reg->n_stops++] = (struct ax_stop){
				.gid = reg->running[i].gid,
				.fence = reg->running[i].fence,
				.reason = held ? "cancel" : "lost",
			};
	}
	return AX_OK;
}

static enum ax_status put_groups(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_registration *reg = pass->reg;
	struct ax_worker_groups old;
	enum ax_status status = tx->ops->worker_groups(tx, reg->worker.name, &old, err);
	for (int i = 0; status == AX_OK && i < reg->n_groups; i++) {
		struct ax_group group;
		status = tx->ops->group_get(tx, reg->groups[i].group_key, false, &group, err);
		if (status == AX_NOT_FOUND)
			return ax_fail(err, AX_NOT_FOUND, "groups", "there is no group '%.64s'; create it first",
				reg->groups[i].group_key);
		if (status != AX_OK)
			return status;
		if (reg->groups[i].pool_size == 0)
			reg->groups[i].pool_size = group.pool_size;
		status =
			tx->ops->worker_group_put(tx, reg->worker.name, group.group_key, reg->groups[i].pool_size, err);
	}
	for (int i = 0; status == AX_OK && i < old.n; i++) {
		bool kept = false;
		for (int k = 0; k < reg->n_groups; k++)
			kept = kept || strcmp(reg->groups[k].group_key, old.at[i].group_key) == 0;
		struct ax_worker_group now;
		if (kept)
			continue;
		status = tx->ops->worker_group_get(tx, reg->worker.name, old.at[i].group_key, true, &now, err);
		if (status == AX_OK && now.given == 0)
			status = tx->ops->worker_group_drop(tx, reg->worker.name, old.at[i].group_key, err);
	}
	return status;
}

/* A run of a list, read again and locked: is it still out, under the same claim? */
static enum ax_status lock_held(struct ax_tx *tx, struct ax_run *run, bool *ret, struct ax_err *err)
{
	int64_t fence = run->fence;
	enum ax_status status = tx->ops->run_get(tx, run->gid, true, run, err);
	*ret = status == AX_OK && run->fence == fence && ax_run_is_given_out(run->status);
	return status == AX_NOT_FOUND ? AX_OK : status;
}

/* As many as one transaction deals with. The leases of the others go on: a heartbeat renews them, or they end. */
static enum ax_status take_over(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_runs held;
	bool still;
	int64_t enough = pass->ctx->written + AX_SWEEP_WRITES;
	enum ax_status status = tx->ops->runs_of_worker(tx, pass->reg->worker.name, AX_SWEEP_WRITES, &held, err);
	for (int i = 0; status == AX_OK && i < held.n && pass->ctx->written < enough; i++) {
		status = lock_held(tx, &held.at[i], &still, err);
		if (status != AX_OK || !still)
			continue;
		if (names_attempt(pass->reg, &held.at[i]))
			status = adopt(pass, tx, &held.at[i], err);
		else
			status = ax_change_lost(pass->ctx, tx, &held.at[i], "worker_restarted", pass->now, err);
	}
	return status;
}

/* The old incarnation before those that came before it. */
static const char *past_of(struct pass *pass, const struct ax_worker *old)
{
	size_t len = 0;
	for (int words = 1; words < PAST_MAX && old->past[len] != '\0'; words++)
		len += strcspn(old->past + len, " ") + (strchr(old->past + len, ' ') != NULL);
	return ax_sprintf(pass->ctx->arena, "%s %.*s", old->incarnation, (int)len, old->past);
}

static enum ax_status register_worker(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_worker *worker = &pass->reg->worker;
	struct ax_worker old;
	enum ax_status status = tx->ops->worker_get(tx, worker->name, true, &old, err);
	if (status != AX_OK && status != AX_NOT_FOUND)
		return status;
	bool known = status == AX_OK;
	bool same = known && strcmp(old.incarnation, worker->incarnation) == 0;
	/* A message that was under way for long, to a server that stood still: its sender is no more. */
	if (known && !same && ax_worker_offers(old.past, worker->incarnation))
		return ax_fail(err, AX_CONFLICT, "incarnation", "a newer incarnation of this worker took over");
	worker->past = !known ? "" : same ? old.past : past_of(pass, &old);
	bool draining = known && old.status == AX_WORKER_DRAINING; /* a person's decision outlives a restart */
	worker->status = draining ? AX_WORKER_DRAINING : AX_WORKER_ONLINE;
	worker->disabled = known && old.disabled;
	worker->register_time = pass->now;
	worker->seen_time = pass->now;
	status = tx->ops->worker_put(tx, worker, err);
	if (status == AX_OK && !same)
		status = take_over(pass, tx, err);
	if (status == AX_OK)
		status = put_groups(pass, tx, err);
	if (status == AX_OK)
		status = find_stops(pass, tx, err);
	pass->ctx->notify->ops->worker_changed(pass->ctx->notify, worker->name);
	return status;
}

enum ax_status ax_worker_register(struct ax_ctx *ctx, struct ax_registration *reg, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .reg = reg, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_gids_ensure(ctx, err); /* ends make runs downstream */
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, register_worker, &pass, err) : status;
}

static enum ax_status leave(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_worker worker;
	struct ax_runs held;
	bool still;
	int64_t enough = pass->ctx->written + AX_SWEEP_WRITES;
	enum ax_status status = tx->ops->worker_get(tx, pass->name, true, &worker, err);
	if (status == AX_NOT_FOUND || (status == AX_OK && strcmp(worker.incarnation, pass->incarnation) != 0))
		return AX_OK;
	if (status == AX_OK)
		status = tx->ops->runs_of_worker(tx, pass->name, AX_SWEEP_WRITES, &held, err);
	for (int i = 0; status == AX_OK && i < held.n && pass->ctx->written < enough; i++) { /* else by their leases */
		status = lock_held(tx, &held.at[i], &still, err);
		if (status == AX_OK && still)
			status = ax_change_lost(pass->ctx, tx, &held.at[i], "worker_left", pass->now, err);
	}
	if (status != AX_OK)
		return status;
	worker.status = AX_WORKER_LEFT;
	worker.seen_time = pass->now;
	pass->ctx->notify->ops->worker_changed(pass->ctx->notify, pass->name);
	return tx->ops->worker_put(tx, &worker, err);
}

enum ax_status ax_worker_leave(struct ax_ctx *ctx, const char *name, const char *incarnation, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .name = name, .incarnation = incarnation, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_gids_ensure(ctx, err); /* ends make runs downstream */
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, leave, &pass, err) : status;
}

static enum ax_status set_drain(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_worker worker;
	enum ax_status status = tx->ops->worker_get(tx, pass->name, true, &worker, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "worker", "there is no worker '%.64s'", pass->name);
	if (status != AX_OK)
		return status;
	if (worker.status == AX_WORKER_LEFT)
		return ax_fail(err, AX_CONFLICT, "worker", "worker '%.64s' has left", pass->name);
	worker.status = pass->drain ? AX_WORKER_DRAINING : AX_WORKER_ONLINE;
	pass->ctx->notify->ops->worker_changed(pass->ctx->notify, pass->name);
	return tx->ops->worker_put(tx, &worker, err);
}

enum ax_status ax_worker_drain(struct ax_ctx *ctx, const char *name, bool drain, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .name = name, .drain = drain };
	return ax_store_run(ctx->store, ctx->arena, set_drain, &pass, err);
}

static enum ax_status set_disabled(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_worker worker;
	enum ax_status status = tx->ops->worker_get(tx, pass->name, true, &worker, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "worker", "there is no worker '%.64s'", pass->name);
	if (status != AX_OK)
		return status;
	worker.disabled = pass->disable;
	pass->ctx->notify->ops->worker_changed(pass->ctx->notify, pass->name);
	return tx->ops->worker_put(tx, &worker, err);
}

enum ax_status ax_worker_disable(struct ax_ctx *ctx, const char *name, bool disable, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .name = name, .disable = disable };
	return ax_store_run(ctx->store, ctx->arena, set_disabled, &pass, err);
}

static enum ax_status forget(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_worker worker;
	struct ax_runs held;
	enum ax_status status = tx->ops->worker_get(tx, pass->name, true, &worker, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "worker", "there is no worker '%.64s'", pass->name);
	if (status == AX_OK)
		status = tx->ops->runs_of_worker(tx, pass->name, 1, &held, err);
	if (status != AX_OK)
		return status;
	if (held.n > 0 || (worker.status != AX_WORKER_LEFT && pass->now - worker.seen_time < AX_LEASE_MS))
		return ax_fail(err, AX_CONFLICT, "worker", "worker '%.64s' is still there; drain and stop it first",
			pass->name);
	pass->ctx->notify->ops->worker_changed(pass->ctx->notify, pass->name);
	return tx->ops->worker_delete(tx, pass->name, err);
}

enum ax_status ax_worker_forget(struct ax_ctx *ctx, const char *name, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .name = name, .now = ax_now_ms(ctx->clock) };
	return ax_store_run(ctx->store, ctx->arena, forget, &pass, err);
}

enum ax_status ax_workers_purge(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_n, struct ax_err *err)
{
	struct ax_workers workers;
	*ret_n = 0;
	if (now < ctx->hold_leases_until) /* the silence may be our own */
		return AX_OK;
	enum ax_status status = tx->ops->workers(tx, &workers, err);
	for (int i = 0; status == AX_OK && i < workers.n && *ret_n < AX_BATCH; i++) {
		struct ax_worker *worker = &workers.at[i];
		struct ax_runs held;
		if (now - worker->seen_time < AX_WORKER_KEEP_MS)
			continue;
		status = tx->ops->worker_get(tx, worker->name, true, worker, err);
		if (status == AX_NOT_FOUND) {
			status = AX_OK;
			continue;
		}
		if (status != AX_OK || now - worker->seen_time < AX_WORKER_KEEP_MS ||
			ax_worker_is_stopped(worker)) /* a person's decision is kept */
			continue;
		status = tx->ops->runs_of_worker(tx, worker->name, 1, &held, err);
		if (status != AX_OK || held.n > 0)
			continue;
		status = tx->ops->worker_delete(tx, worker->name, err);
		ctx->notify->ops->worker_changed(ctx->notify, worker->name);
		(*ret_n)++;
	}
	return status;
}
