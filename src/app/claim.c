#include "app/claim.h"

#include <string.h>

#include "app/run_def.h"
#include "app/worker_seen.h"
#include "core/limits.h"
#include "core/room.h"

static enum ax_status read_group(
	struct ax_tx *tx, struct ax_claim_group *g, const char *group_key, int64_t now, struct ax_err *err)
{
	struct ax_worker_groups parts;
	struct ax_workers workers;
	enum ax_status status = tx->ops->group_get(tx, group_key, false, &g->group, err);
	if (status == AX_OK)
		status = ax_workers_of_group(tx, group_key, &parts, &workers, err);
	if (status != AX_OK)
		return status;
	g->at = ax_alloc_array(tx->arena, (size_t)workers.n + 1, sizeof(*g->at));
	for (int i = 0; i < workers.n; i++) {
		const struct ax_worker *worker = &workers.at[i];
		if (ax_worker_is_online(worker, now))
			g->at[g->n++] = (struct ax_claim_worker){ *worker, *ax_worker_part(&parts, worker->name) };
	}
	return AX_OK;
}

/* Group and workers are read once for all runs that are asked about. */
static enum ax_status find_group(
	struct ax_claim_view *view, const char *group_key, struct ax_claim_group **ret, struct ax_err *err)
{
	for (struct ax_claim_group *g = view->groups; g != NULL; g = g->next)
		if (strcmp(g->group.group_key, group_key) == 0) {
			*ret = g;
			return AX_OK;
		}
	struct ax_claim_group *g = ax_alloc(view->tx->arena, sizeof(*g));
	*g = (struct ax_claim_group){ .next = view->groups };
	enum ax_status status = read_group(view->tx, g, group_key, view->now, err);
	if (status == AX_OK)
		*ret = view->groups = g;
	return status;
}

/* Those that may have the run, in `candidates`. */
static int judge_workers(const struct ax_claim_group *g, const struct ax_run *run, struct ax_candidate *candidates,
	struct ax_claim_facts *facts)
{
	int n = 0;
	*facts = (struct ax_claim_facts){ .group = g->group, .serving = g->n };
	for (int i = 0; i < g->n; i++) {
		const struct ax_claim_worker *w = &g->at[i];
		if (!ax_worker_offers(w->worker.executors, run->executor_key))
			continue;
		facts->offering++;
		if (!ax_route_tags_match(run->demand, w->worker.name, w->worker.tags))
			continue;
		facts->matching++;
		bool room = ax_worker_room(&g->group, &w->part, run->lane) > 0;
		facts->with_room += ax_worker_room(&g->group, &w->part, AX_RUN_LANE_SHORT) > 0;
		facts->with_lane += room;
		candidates[n++] = (struct ax_candidate){ .name = w->worker.name, .room = room };
	}
	return n;
}

/* Whom the route wants, if that one has no room and the run's patience is not over. */
static enum ax_status find_wanted(struct ax_claim_view *view, const struct ax_run *run, struct ax_candidate *candidates,
	int n, struct ax_claim_facts *facts, struct ax_err *err)
{
	struct ax_task_def def;
	struct ax_run asked = *run, parent;
	int64_t until = run->ready_time + AX_ROUTE_WAIT_MS;
	if (view->now < run->ready_time || view->now >= until)
		return AX_OK;
	enum ax_status status = ax_run_def(view->tx, run, &def, err);
	if (status == AX_OK && run->parent != 0 && def.route == AX_ROUTE_HASH) {
		status = view->tx->ops->run_get(view->tx, run->parent, false, &parent, err);
		asked.params = parent.params;
	}
	if (status != AX_OK)
		return status == AX_NOT_FOUND ? AX_OK : status;
	for (int i = 0; i < n; i++)
		candidates[i].avoid = ax_route_avoids(def.route, run, candidates[i].name);
	uint64_t key = ax_route_key(&def, &asked);
	if (ax_route_choose(def.route, candidates, n, key, true) != AX_ROUTE_WAIT)
		return AX_OK;
	for (int i = 0; i < n; i++)
		candidates[i].room = true;
	facts->wanted = candidates[ax_route_choose(def.route, candidates, n, key, true)].name;
	facts->wanted_until = until;
	return AX_OK;
}

enum ax_status ax_claim_facts_read(
	struct ax_claim_view *view, const struct ax_run *run, struct ax_claim_facts *ret, struct ax_err *err)
{
	struct ax_claim_group *g;
	enum ax_status status = find_group(view, run->group_key, &g, err);
	if (status != AX_OK)
		return status;
	struct ax_candidate *candidates = ax_alloc_array(view->tx->arena, (size_t)g->n + 1, sizeof(*candidates));
	int n = judge_workers(g, run, candidates, ret);
	return find_wanted(view, run, candidates, n, ret, err);
}

bool ax_claim_lane_has_room(const struct ax_claim_facts *facts, const struct ax_run *run)
{
	return facts->with_lane > 0 && ax_group_room(&facts->group, run->lane) > 0;
}

static enum ax_status reason_of(
	struct ax_claim_view *view, const struct ax_run *run, const char **ret, struct ax_err *err)
{
	struct ax_claim_facts facts;
	bool broadcast = run->hold == AX_HOLD_SPREAD && run->spread == AX_SPREAD_BROADCAST; /* it waits for workers */
	if (run->hold != AX_HOLD_NONE && !broadcast) {
		*ret = run->hold == AX_HOLD_OVERLAP   ? "overlap"
			: run->hold == AX_HOLD_PAUSED ? "task_paused"
						      : "spread";
		return AX_OK;
	}
	enum ax_status status = ax_claim_facts_read(view, run, &facts, err);
	if (status != AX_OK)
		return status;
	*ret = facts.group.paused && !broadcast                       ? "group_paused"
		: facts.offering == 0                                 ? "worker"
		: facts.matching == 0                                 ? "tags"
		: broadcast                                           ? "spread"
		: ax_group_room(&facts.group, AX_RUN_LANE_SHORT) <= 0 ? "quota"
		: facts.with_room == 0                                ? "backlog"
		: !ax_claim_lane_has_room(&facts, run)                ? "lane"
		: facts.wanted != NULL                                ? "route"
								      : "claim";
	return AX_OK;
}

bool ax_shards_all_wait(const int64_t by_state[32])
{
	return by_state[AX_RUN_WAITING] > 0 && by_state[AX_RUN_DISPATCHED] + by_state[AX_RUN_RUNNING] == 0;
}

enum ax_status ax_shard_first_waiting(
	struct ax_tx *tx, const struct ax_run *parent, struct ax_run *ret, struct ax_err *err)
{
	const struct ax_run_filter filter = {
		.parent = parent->gid,
		.statuses = UINT32_C(1) << AX_RUN_WAITING,
		.limit = AX_SHARDS_MAX,
		.scan_limit = AX_SHARDS_MAX,
	};
	struct ax_runs waiting;
	int64_t rest;
	enum ax_status status = tx->ops->runs_page(tx, &filter, &waiting, &rest, err);
	if (status == AX_OK && waiting.n == 0)
		return AX_NOT_FOUND;
	if (status == AX_OK)
		*ret = waiting.at[waiting.n - 1];
	return status;
}

static enum ax_status reason_of_shards(
	struct ax_claim_view *view, const struct ax_run *parent, const char **ret, struct ax_err *err)
{
	struct ax_run shard;
	int64_t by_state[32];
	enum ax_status status = view->tx->ops->shard_counts(view->tx, parent->gid, by_state, err);
	if (status != AX_OK || !ax_shards_all_wait(by_state))
		return status;
	status = ax_shard_first_waiting(view->tx, parent, &shard, err);
	if (status == AX_OK)
		status = reason_of(view, &shard, ret, err);
	return status == AX_NOT_FOUND ? AX_OK : status;
}

enum ax_status ax_run_waiting_for(
	struct ax_claim_view *view, const struct ax_run *run, const char **ret, struct ax_err *err)
{
	*ret = NULL;
	if (run->status == AX_RUN_WAITING)
		return reason_of(view, run, ret, err);
	if (run->status == AX_RUN_RUNNING && ax_run_is_parent(run))
		return reason_of_shards(view, run, ret, err);
	if (ax_run_is_joining(run))
		*ret = "upstreams";
	return AX_OK;
}
