#include "app/shard_set.h"

#include <inttypes.h>

#include "app/worker_seen.h"
#include "core/limits.h"
#include "core/watch.h"

/* --- which ones --------------------------------------------------------------------------------------------------- */

static void make_room(struct ax_ctx *ctx, struct ax_shard_plan *plan, int64_t n)
{
	plan->at = ax_alloc_array(ctx->arena, (size_t)n + 1, sizeof(*plan->at));
}

static void add(struct ax_shard_plan *plan, int64_t shard, const char *worker)
{
	plan->at[plan->n].shard = shard;
	plan->at[plan->n++].worker = worker;
}

/* One for each worker. After its own absence a server waits a lease for those that it has not heard of since. */
static enum ax_status plan_broadcast(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *parent, int64_t now,
	struct ax_shard_plan *plan, struct ax_err *err)
{
	struct ax_worker_groups parts;
	struct ax_workers workers;
	bool unheard = false;
	enum ax_status status = ax_workers_of_group(tx, parent->group_key, &parts, &workers, err);
	if (status != AX_OK)
		return status;
	make_room(ctx, plan, workers.n);
	for (int i = 0; i < workers.n; i++) {
		const struct ax_worker *worker = &workers.at[i];
		if (!ax_worker_suits(worker, parent->executor_key, parent->demand))
			continue;
		if (ax_worker_is_online(worker, now))
			add(plan, plan->n + 1, worker->name);
		else
			unheard = unheard || (worker->status == AX_WORKER_ONLINE && !worker->disabled);
	}
	plan->total = plan->n;
	if (plan->n == 0 || (unheard && now < ctx->hold_leases_until))
		plan->look_time = now + AX_SPREAD_LOOK_MS;
	return status;
}

static enum ax_status plan_failed(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *parent,
	struct ax_shard_plan *plan, struct ax_err *err)
{
	struct ax_runs old;
	enum ax_status status = tx->ops->shards(tx, parent->rerun_of, false, false, 0, INT32_MAX, &old, err);
	if (status != AX_OK)
		return status;
	make_room(ctx, plan, old.n);
	for (int i = 0; i < old.n; i++)
		if (old.at[i].status != AX_RUN_SUCCESS)
			add(plan, old.at[i].shard, ax_run_is_pinned(&old.at[i]) ? old.at[i].worker : "");
	return AX_OK;
}

enum ax_status ax_shard_plan(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *parent, int64_t now,
	struct ax_shard_plan *ret, struct ax_err *err)
{
	struct ax_shard_plan plan = { .total = parent->shard_total };
	enum ax_status status = AX_OK;
	if (parent->failed_only) {
		status = plan_failed(ctx, tx, parent, &plan, err);
	} else if (parent->spread == AX_SPREAD_BROADCAST) {
		status = plan_broadcast(ctx, tx, parent, now, &plan, err);
	} else {
		make_room(ctx, &plan, parent->shard_total);
		for (int64_t shard = 1; shard <= parent->shard_total; shard++)
			add(&plan, shard, "");
	}
	if (plan.n > ctx->shards_left && ctx->shards_left < AX_SHARDS_STEP)
		plan.look_time = now;
	if (plan.look_time == 0)
		ctx->shards_left -= plan.n;
	*ret = plan;
	return status;
}

void ax_parent_begin(struct ax_run *parent, const struct ax_task_def *def, int64_t now)
{
	parent->hold = AX_HOLD_NONE;
	parent->start_time = now;
	parent->deadline_time = now + AX_LEASE_MS;
	parent->watch_time = ax_watch_next(parent, def);
}

/* --- how it ends -------------------------------------------------------------------------------------------------- */

static enum ax_run_event outcome(const struct ax_run *parent, const int64_t by_state[32], int64_t n)
{
	if (by_state[AX_RUN_SUCCESS] == n)
		return AX_EV_SHARDS_SUCCEEDED;
	if (parent->cancel != AX_CANCEL_NONE)
		return AX_EV_SHARDS_CANCELLED;
	if (by_state[AX_RUN_FAILED] > 0)
		return AX_EV_SHARDS_FAILED;
	return by_state[AX_RUN_TIMEOUT] > 0 ? AX_EV_SHARDS_TIMED_OUT : AX_EV_SHARDS_CANCELLED;
}

/* "2 of 8 shards did not succeed; shard 3 FAILED: exit code 1" */
static enum ax_status say_failure(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *parent, enum ax_run_state as,
	int64_t failed, int64_t n, struct ax_err *err)
{
	struct ax_runs shards;
	enum ax_status status = tx->ops->shards(tx, parent->gid, false, false, 0, INT32_MAX, &shards, err);
	int i = 0;
	while (status == AX_OK && i + 1 < shards.n && shards.at[i].status != as)
		i++;
	if (status != AX_OK)
		return status;
	const struct ax_run *first = &shards.at[i];
	parent->result_code = first->result_code;
	parent->result_msg = ax_sprintf(ctx->arena,
		"%" PRId64 " of %" PRId64 " shards did not succeed; shard %" PRId64 " %s%s%s", failed, n, first->shard,
		ax_run_state_name(as), first->result_msg[0] != '\0' ? ": " : "", first->result_msg);
	return AX_OK;
}

/* The parent is locked before its shards are looked at: of two that end at once, one is the last. */
enum ax_status ax_parent_judge(struct ax_ctx *ctx, struct ax_tx *tx, int64_t gid, struct ax_run *ret_parent,
	struct ax_parent_end *ret, struct ax_err *err)
{
	struct ax_run *parent = ret_parent;
	struct ax_runs live;
	int64_t by_state[32], n = 0;
	*ret = (struct ax_parent_end){ .reason = "" };
	enum ax_status status = tx->ops->run_get(tx, gid, true, parent, err);
	if (status == AX_OK)
		status = tx->ops->shards(tx, gid, true, false, 0, 1, &live, err);
	if (status != AX_OK || live.n > 0)
		return status;
	status = tx->ops->shard_counts(tx, gid, by_state, err);
	if (status != AX_OK)
		return status;
	for (int state = 0; state < 32; state++)
		n += by_state[state];
	ret->over = true;
	ret->event = outcome(parent, by_state, n);
	enum ax_run_state as = ax_run_step(AX_RUN_RUNNING, ret->event).next;
	if (parent->cancel != AX_CANCEL_NONE) {
		ret->reason = as == AX_RUN_CANCELLED ? parent->reason : ""; /* who asked: a person, or `replace` */
		parent->cancel = AX_CANCEL_STOPPED;
	} else if (as != AX_RUN_SUCCESS) {
		ret->reason = "shards";
		status = say_failure(ctx, tx, parent, as, n - by_state[AX_RUN_SUCCESS], n, err);
	}
	return status;
}
