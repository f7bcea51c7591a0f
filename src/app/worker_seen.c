#include "app/worker_seen.h"

#include <string.h>

#include "core/limits.h"

enum { SEEN_EVERY_MS = 5000 };

static enum ax_status read_worker(struct ax_tx *tx, const char *name, const char *incarnation, bool lock,
	struct ax_worker *ret, struct ax_err *err)
{
	enum ax_status status = tx->ops->worker_get(tx, name, lock, ret, err);
	if (status == AX_NOT_FOUND || (status == AX_OK && ret->status == AX_WORKER_LEFT))
		return ax_fail(err, AX_NOT_FOUND, "worker", "this worker is not registered here: register first");
	if (status == AX_OK && strcmp(ret->incarnation, incarnation) != 0)
		return ax_fail(err, AX_CONFLICT, "incarnation", "another incarnation of this worker took over");
	return status;
}

enum ax_status ax_worker_seen(struct ax_ctx *ctx, struct ax_tx *tx, const char *name, const char *incarnation,
	bool lock, int64_t now, struct ax_worker *ret, struct ax_err *err)
{
	enum ax_status status = read_worker(tx, name, incarnation, lock, ret, err);
	if (status != AX_OK || (now - ret->seen_time < SEEN_EVERY_MS && now >= ret->seen_time))
		return status;
	if (!lock) /* what a person or a new incarnation wrote meanwhile stays */
		status = read_worker(tx, name, incarnation, true, ret, err);
	if (status != AX_OK)
		return status;
	ret->seen_time = now;
	ctx->notify->ops->worker_changed(ctx->notify, name);
	return tx->ops->worker_put(tx, ret, err);
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
