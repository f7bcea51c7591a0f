#include "app/recover.h"

#include "app/chore.h"
#include "app/groups.h"
#include "app/keep.h"
#include "app/seat.h"
#include "app/workers.h"
#include "app/failures.h"
#include "core/limits.h"

enum { DAY_MS = 86400000 }; /* alerts outlive the runs that they are of */

struct pass {
	struct ax_ctx *ctx;
	int64_t now;
	int64_t keep_ms;
	int deleted;
};

static enum ax_status ensure_default_group(struct ax_tx *tx, int64_t now, struct ax_err *err)
{
	struct ax_group group = ax_group_preset("default");
	group.create_time = group.update_time = now;
	enum ax_status status = tx->ops->group_insert(tx, &group, err);
	return status == AX_EXISTS ? AX_OK : status;
}

static enum ax_status start(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	return ensure_default_group(tx, pass->now, err);
}

enum ax_status ax_recover(struct ax_ctx *ctx, const char *version, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_store_run(ctx->store, ctx->arena, start, &pass, err);
	ctx->seat->version = version;
	if (status == AX_OK)
		status = ax_seat_take(ctx, err);
	if (status != AX_OK)
		return status;
	ctx->hold_leases_until = pass.now + AX_LEASE_MS;
	ctx->seen_ms = 0;
	ctx->stuck_seen_ms = 0;
	ctx->folded_ms = 0;
	ctx->kept_task = 0;
	ctx->counted_ms = 0;
	ctx->counting = ctx->counting_next = (struct ax_counting){ 0 };
	ctx->alerts_seen_ms = 0;
	return AX_OK;
}

static enum ax_status purge(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	int kept, workers, failures, events, alerts;
	enum ax_status status = tx->ops->runs_purge(tx, pass->now - pass->keep_ms, AX_BATCH, &pass->deleted, err);
	if (status == AX_OK)
		status = ax_keep_step(pass->ctx, tx, pass->now, &kept, err);
	if (status == AX_OK)
		status = ax_workers_purge(pass->ctx, tx, pass->now, &workers, err);
	if (status == AX_OK)
		status = ax_failures_retain(pass->ctx, tx, pass->now, pass->keep_ms, &failures, err);
	if (status == AX_OK)
		status = tx->ops->events_purge(tx, pass->now - pass->keep_ms, AX_BATCH, &events, err);
	if (status == AX_OK)
		status = tx->ops->alerts_purge(tx, pass->now - pass->keep_ms - DAY_MS, AX_BATCH, &alerts, err);
	if (status == AX_OK)
		pass->deleted += kept + workers + failures + events + alerts;
	if (status == AX_OK)
		status = tx->ops->idem_purge(tx, pass->now, err);
	return status == AX_OK ? tx->ops->tokens_expire(tx, pass->now, NULL, err) : status;
}

enum ax_status ax_retain(struct ax_ctx *ctx, int64_t keep_ms, int *ret_deleted, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .now = ax_now_ms(ctx->clock), .keep_ms = keep_ms };
	bool mine;
	enum ax_status status = ax_chore_run(ctx, "retention", purge, &pass, &mine, err);
	*ret_deleted = status == AX_OK && mine ? pass.deleted : 0;
	return status;
}
