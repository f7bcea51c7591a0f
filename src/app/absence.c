#include "app/absence.h"

#include "app/seat.h"
#include "core/limits.h"

enum { GAP_MS = 10000 }; /* a server that did not tick for this long was away */

struct pass {
	struct ax_ctx *ctx;
	int64_t now;
};

/* The clock went back: what waits to be looked at must not wait for as long as it did. */
static enum ax_status look_now(const struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_runs waiting;
	int64_t latest = pass->now + AX_LEASE_MS + AX_SKEW_MS;
	enum ax_status status = tx->ops->runs_looked(tx, latest + 1, INT32_MAX, &waiting, err);
	for (int i = 0; status == AX_OK && i < waiting.n; i++) {
		struct ax_run *run = &waiting.at[i];
		status = tx->ops->run_get(tx, run->gid, true, run, err);
		if (status != AX_OK || run->status != AX_RUN_WAITING || run->deadline_time <= latest)
			continue;
		run->deadline_time = pass->now;
		run->limit_time = 0;
		status = tx->ops->run_update(tx, run, run->rev, err);
	}
	return status;
}

/* The clock went back, maybe while no server was there: leases must not run on for as long as it did. */
static enum ax_status shorten_leases(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_workers workers;
	enum ax_status status = tx->ops->workers(tx, &workers, err);
	for (int w = 0; status == AX_OK && w < workers.n; w++) {
		struct ax_runs held;
		status = tx->ops->runs_of_worker(tx, workers.at[w].name, INT32_MAX, &held, err);
		for (int i = 0; status == AX_OK && i < held.n; i++) {
			if (held.at[i].deadline_time <= pass->now + AX_LEASE_MS + AX_SKEW_MS)
				continue;
			status = tx->ops->run_get(tx, held.at[i].gid, true, &held.at[i], err);
			if (status != AX_OK || !ax_run_is_given_out(held.at[i].status) ||
				held.at[i].deadline_time <= pass->now + AX_LEASE_MS + AX_SKEW_MS)
				continue;
			held.at[i].deadline_time = pass->now + AX_LEASE_MS;
			status = tx->ops->run_update(tx, &held.at[i], held.at[i].rev, err);
		}
	}
	return status == AX_OK ? look_now(pass, tx, err) : status;
}

/* Is there another server that has seen a whole lease? */
static enum ax_status find_others(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_servers servers;
	enum ax_status status = tx->ops->servers(tx, &servers, err);
	pass->ctx->others_watch = false;
	for (int i = 0; status == AX_OK && i < servers.n; i++)
		if (servers.at[i].number != ax_seat_number(pass->ctx->seat) && servers.at[i].lease_time > pass->now &&
			servers.at[i].start_time <= pass->now - AX_LEASE_MS)
			pass->ctx->others_watch = true;
	return status;
}

enum ax_status ax_absence_look(struct ax_ctx *ctx, int64_t now, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .now = now };
	enum ax_status status = AX_OK;
	bool away = ctx->seen_ms != 0 && now - ctx->seen_ms > GAP_MS;
	if (away)
		ctx->hold_leases_until = now + AX_LEASE_MS;
	ctx->hold_leases_until = AX_MIN(ctx->hold_leases_until, now + AX_LEASE_MS);
	/* in a gap the clock may have gone far ahead and come back, and others may have written while it was there */
	if (now < ctx->seen_ms || ctx->seen_ms == 0 || away)
		status = ax_store_run(ctx->store, ctx->arena, shorten_leases, &pass, err);
	if (status == AX_OK && now < ctx->hold_leases_until && !ctx->store->sole)
		status = ax_store_run(ctx->store, ctx->arena, find_others, &pass, err);
	return status;
}
