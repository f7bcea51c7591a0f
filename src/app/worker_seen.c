#include "app/worker_seen.h"

#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "port/ids.h"

enum {
	SEEN_EVERY_MS = 5000,
	SEEN_AT_LAST_MS = AX_LEASE_MS / 2, /* then it is worth waiting for who has the row: it counts as away soon */
};

/* `worker` NULL: there is none. */
static enum ax_status judge(const struct ax_worker *worker, const char *incarnation, struct ax_err *err)
{
	if (worker == NULL || worker->status == AX_WORKER_LEFT)
		return ax_fail(err, AX_NOT_FOUND, "worker", "this worker is not registered here: register first");
	if (strcmp(worker->incarnation, incarnation) != 0)
		return ax_fail(err, AX_CONFLICT, "incarnation", "another incarnation of this worker took over");
	return AX_OK;
}

enum ax_status ax_worker_read(
	struct ax_tx *tx, const char *name, const char *incarnation, struct ax_worker *ret, struct ax_err *err)
{
	enum ax_status status = tx->ops->worker_get(tx, name, false, ret, err);
	return status == AX_OK || status == AX_NOT_FOUND ? judge(status == AX_OK ? ret : NULL, incarnation, err)
							 : status;
}

static int compare_name(const void *name, const void *worker)
{
	return strcmp(name, ((const struct ax_worker *)worker)->name);
}

enum ax_status ax_worker_find(const struct ax_workers *workers, const char *name, const char *incarnation,
	const struct ax_worker **ret, struct ax_err *err)
{
	*ret = workers->n == 0 ? NULL
			       : bsearch(name, workers->at, (size_t)workers->n, sizeof(*workers->at), compare_name);
	return judge(*ret, incarnation, err);
}

enum ax_status ax_workers_of_group(struct ax_tx *tx, const char *group_key, struct ax_worker_groups *ret_parts,
	struct ax_workers *ret_workers, struct ax_err *err)
{
	enum ax_status status = tx->ops->group_workers(tx, group_key, ret_parts, err);
	if (status != AX_OK)
		return status;
	const char **names = ax_alloc_array(tx->arena, (size_t)ret_parts->n + 1, sizeof(*names));
	for (int i = 0; i < ret_parts->n; i++)
		names[i] = ret_parts->at[i].worker;
	const struct ax_names sorted = ax_names_sort(names, ret_parts->n);
	return tx->ops->workers_by_name(tx, &sorted, false, ret_workers, err);
}

static int compare_part(const void *worker, const void *part)
{
	return strcmp(worker, ((const struct ax_worker_group *)part)->worker);
}

const struct ax_worker_group *ax_worker_part(const struct ax_worker_groups *parts, const char *worker)
{
	return parts->n == 0 ? NULL : bsearch(worker, parts->at, (size_t)parts->n, sizeof(*parts->at), compare_part);
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

/* By the locked row: what a person or a new incarnation wrote meanwhile stays, and another one may have noted it.
 * Claims that hold the row are not waited for: others would wait behind this one. */
static enum ax_status note_seen(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct note *note = arg;
	struct ax_worker worker;
	bool waits = note->now - note->worker->seen_time >= SEEN_AT_LAST_MS;
	enum ax_status status = waits ? tx->ops->worker_get(tx, note->worker->name, true, &worker, err)
				      : tx->ops->worker_free(tx, note->worker->name, &worker, err);
	if (status == AX_OK)
		status = judge(&worker, note->worker->incarnation, err);
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

struct stops {
	struct ax_stop *at;
	int n;
	size_t cap;
};

static enum ax_status tell_stop(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, struct stops *stops, struct ax_err *err)
{
	const char *worker = run->worker;
	enum ax_status status = tx->ops->run_get(tx, run->gid, true, run, err);
	if (status != AX_OK || run->cancel != AX_CANCEL_ASKED || !ax_run_is_given_out(run->status) ||
		strcmp(run->worker, worker) != 0)
		return status; /* it ended, or is told by another server */
	stops->at = ax_grow_array(ctx->arena, stops->at, (size_t)stops->n, 1, &stops->cap, sizeof(*stops->at));
	stops->at[stops->n++] =
		(struct ax_stop){ .gid = run->gid, .fence = run->fence, .reason = "cancel", .worker = worker };
	run->cancel = AX_CANCEL_STOPPING;
	ctx->notify->ops->run_changed(ctx->notify, run);
	return tx->ops->run_update(tx, run, run->rev, err);
}

enum ax_status ax_worker_stops(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_names *names, struct ax_stop **ret,
	int *ret_n, struct ax_err *err)
{
	struct stops stops = { 0 };
	enum ax_status status = AX_OK;
	for (int at = 0; status == AX_OK && at < names->n;) {
		const struct ax_names rest = { names->at + at, names->n - at };
		struct ax_runs runs;
		status = tx->ops->runs_to_stop(tx, &rest, AX_BATCH, &runs, err);
		if (status != AX_OK)
			break;
		/* who has so many is told the others the next time; whoever comes behind it is asked about now */
		const char *last = runs.n < AX_BATCH ? names->at[names->n - 1] : runs.at[runs.n - 1].worker;
		while (at < names->n && strcmp(names->at[at], last) <= 0)
			at++;
		for (int i = 0; status == AX_OK && i < runs.n; i++)
			status = tell_stop(ctx, tx, &runs.at[i], &stops, err);
	}
	*ret = stops.at;
	*ret_n = stops.n;
	return status;
}
