#include "app/worker_seen.h"

#include <string.h>

#include "core/limits.h"

enum { SEEN_EVERY_MS = 5000 };

enum ax_status ax_worker_read(struct ax_tx *tx, const char *name, const char *incarnation, bool lock,
	struct ax_worker *ret, struct ax_err *err)
{
	enum ax_status status = tx->ops->worker_get(tx, name, lock, ret, err);
	if (status == AX_NOT_FOUND || (status == AX_OK && ret->status == AX_WORKER_LEFT))
		return ax_fail(err, AX_NOT_FOUND, "worker", "this worker is not registered here: register first");
	if (status == AX_OK && strcmp(ret->incarnation, incarnation) != 0)
		return ax_fail(err, AX_CONFLICT, "incarnation", "another incarnation of this worker took over");
	return status;
}

/* Another server may have noted it just after this one looked at its clock. */
static bool is_seen_long_ago(const struct ax_worker *worker, int64_t now)
{
	return now - worker->seen_time >= SEEN_EVERY_MS || now < worker->seen_time - AX_SKEW_MS;
}

struct note {
	struct ax_ctx *ctx;
	const struct ax_worker *worker;
	int64_t now;
};

/* By the locked row: what a person or a new incarnation wrote meanwhile stays, and another one may have noted it. */
static enum ax_status note_seen(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct note *note = arg;
	struct ax_worker worker;
	enum ax_status status = ax_worker_read(tx, note->worker->name, note->worker->incarnation, true, &worker, err);
	if (status != AX_OK || !is_seen_long_ago(&worker, note->now))
		return status;
	worker.seen_time = note->now;
	note->ctx->notify->ops->worker_changed(note->ctx->notify, worker.name);
	return tx->ops->worker_put(tx, &worker, err);
}

void ax_worker_seen(struct ax_ctx *ctx, const struct ax_worker *worker)
{
	int64_t now = ax_now_ms(ctx->clock);
	struct note note = { .ctx = ctx, .worker = worker, .now = now };
	struct ax_err err = { 0 };
	if (is_seen_long_ago(worker, now))
		(void)!ax_store_run(ctx->store, ctx->arena, note_seen, &note, &err);
}

bool ax_worker_is_stopped(const struct ax_worker *worker)
{
	return worker->status == AX_WORKER_DRAINING || worker->disabled;
}

bool ax_worker_is_online(const struct ax_worker *worker, int64_t now)
{
	return worker->status == AX_WORKER_ONLINE && !worker->disabled && now - worker->seen_time <= AX_LEASE_MS;
}

bool ax_worker_suits(const struct ax_worker *worker, const char *executor_key, const char *demand)
{
	return ax_worker_offers(worker->executors, executor_key) &&
		ax_route_tags_match(demand, worker->name, worker->tags);
}

bool ax_worker_offers(const char *names, const char *name)
{
	size_t len = strlen(name);
	for (const char *p = names; (p = strstr(p, name)) != NULL; p += len)
		if ((p == names || p[-1] == ' ') && (p[len] == '\0' || p[len] == ' '))
			return true;
	return false;
}

enum ax_status ax_worker_stops(
	struct ax_ctx *ctx, struct ax_tx *tx, const char *name, struct ax_stop **ret, int *ret_n, struct ax_err *err)
{
	struct ax_runs runs;
	*ret = NULL;
	*ret_n = 0;
	enum ax_status status = tx->ops->runs_to_stop(tx, name, AX_BATCH, &runs, err);
	if (status != AX_OK || runs.n == 0)
		return status;
	*ret = ax_alloc_array(ctx->arena, (size_t)runs.n, sizeof(**ret));
	for (int i = 0; status == AX_OK && i < runs.n; i++) {
		status = tx->ops->run_get(tx, runs.at[i].gid, true, &runs.at[i], err);
		if (status != AX_OK || runs.at[i].cancel != AX_CANCEL_ASKED ||
			!ax_run_is_given_out(runs.at[i].status) || strcmp(runs.at[i].worker, name) != 0)
			continue; /* it ended, or is told by another server */
		(*ret)[(*ret_n)++] =
			(struct ax_stop){ .gid = runs.at[i].gid, .fence = runs.at[i].fence, .reason = "cancel" };
		runs.at[i].cancel = AX_CANCEL_STOPPING;
		status = tx->ops->run_update(tx, &runs.at[i], runs.at[i].rev, err);
		ctx->notify->ops->run_changed(ctx->notify, &runs.at[i]);
	}
	return status;
}
