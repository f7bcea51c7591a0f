#include "app/shards.h"

#include "app/birth.h"
#include "app/change.h"
#include "app/run_def.h"
#include "app/shard_set.h"
#include "app/worker_seen.h"
#include "core/limits.h"

static enum ax_status look_again(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *parent, int64_t at, struct ax_err *err)
{
	if (parent->deadline_time == at)
		return AX_OK;
	parent->deadline_time = at;
	ctx->notify->ops->run_changed(ctx->notify, parent);
	return tx->ops->run_update(tx, parent, parent->rev, err);
}

enum ax_status ax_shards_make(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *parent, int64_t now, struct ax_err *err)
{
	static const struct ax_change spread = { .event = AX_EV_SPREAD, .reason = "" };
	struct ax_shard_plan plan;
	enum ax_status status = ax_shard_plan(ctx, tx, parent, now, &plan, err);
	if (status != AX_OK)
		return status;
	if (parent->failed_only && plan.n == 0) {
		parent->result_msg = "the run whose shards it repeats was deleted";
		return ax_cancel_run(ctx, tx, parent, "nothing_to_rerun", now, err);
	}
	if (plan.look_time != 0)
		return look_again(ctx, tx, parent, plan.look_time, err);
	parent->shard_total = plan.total;
	status = ax_change_run(ctx, tx, parent, &spread, now, err);
	return status == AX_OK ? ax_run_add_shards(ctx, tx, parent, &plan, now, err) : status;
}

/* Nothing is to be done here as long as every end of a shard looks for the last: the deadline of a parent is that of
 * its latest shard, and a parent without live shards, which must not be, does not stay. */
enum ax_status ax_shards_look(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *parent, int64_t now, struct ax_err *err)
{
	struct ax_runs live;
	enum ax_status status = tx->ops->run_get(tx, parent->gid, true, parent, err);
	if (status != AX_OK || ax_run_is_terminal(parent->status)) /* its last shard was swept just before */
		return status;
	status = tx->ops->shards(tx, parent->gid, true, false, 0, INT32_MAX, &live, err);
	if (status != AX_OK)
		return status;
	if (live.n == 0)
		return ax_change_parent(ctx, tx, parent->gid, now, err);
	parent->deadline_time = now + AX_LEASE_MS;
	for (int i = 0; i < live.n; i++)
		parent->deadline_time = AX_MAX(parent->deadline_time, live.at[i].deadline_time);
	return tx->ops->run_update(tx, parent, parent->rev, err);
}

static enum ax_status is_able(struct ax_tx *tx, const struct ax_run *shard, int64_t now, bool *ret, struct ax_err *err)
{
	struct ax_worker worker;
	struct ax_worker_group part;
	*ret = false;
	enum ax_status status = tx->ops->worker_get(tx, shard->worker, false, &worker, err);
	if (status == AX_OK)
		status = tx->ops->worker_group_get(tx, shard->worker, shard->group_key, false, &part, err);
	if (status == AX_OK)
		*ret = ax_worker_is_online(&worker, now) &&
			ax_worker_suits(&worker, shard->executor_key, shard->demand);
	return status == AX_NOT_FOUND ? AX_OK : status;
}

/* A shard does not wait for ever for a worker that is not there: a lease, and one more for each time it might be lost.
 */
static enum ax_status begin_to_miss(struct ax_tx *tx, struct ax_run *shard, int64_t now, struct ax_err *err)
{
	struct ax_task_def def;
	enum ax_status status = ax_run_def(tx, shard, &def, err);
	if (status == AX_OK)
		shard->limit_time = now + AX_LEASE_MS * (1 + (def.lost_fails ? 0 : def.lost_limit));
	return status;
}

enum ax_status ax_shard_look(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *shard, int64_t now, struct ax_err *err)
{
	struct ax_change gone = { .event = AX_EV_WORKER_GONE, .reason = "lost" };
	bool able, own_absence = now < ctx->hold_leases_until;
	enum ax_status status = is_able(tx, shard, now, &able, err);
	if (status == AX_OK && !able && !own_absence && shard->limit_time == 0)
		status = begin_to_miss(tx, shard, now, err);
	if (status != AX_OK)
		return status;
	if (able || own_absence)
		shard->limit_time = 0;
	if (shard->limit_time != 0 && shard->limit_time <= now) {
		shard->result_msg =
			ax_sprintf(ctx->arena, "worker %s, which alone may have it, is gone", shard->worker);
		return ax_change_run(ctx, tx, shard, &gone, now, err);
	}
	shard->deadline_time = own_absence ? ctx->hold_leases_until : now + AX_LEASE_MS;
	if (shard->limit_time != 0)
		shard->deadline_time = AX_MIN(shard->deadline_time, shard->limit_time);
	return tx->ops->run_update(tx, shard, shard->rev, err);
}
