#include "app/claim.h"

#include "app/run_def.h"
#include "app/worker_seen.h"
#include "core/limits.h"
#include "core/room.h"

struct read {
	struct ax_tx *tx;
	const struct ax_run *run;
	int64_t now;
	struct ax_claim_facts facts;
	struct ax_candidate *candidates;
	int n;
};

static enum ax_status judge_worker(struct read *r, const struct ax_worker_group *part, struct ax_err *err)
{
	struct ax_claim_facts *facts = &r->facts;
	const struct ax_run *run = r->run;
	struct ax_worker worker;
	enum ax_status status = r->tx->ops->worker_get(r->tx, part->worker, false, &worker, err);
	if (status != AX_OK || !ax_worker_is_online(&worker, r->now))
		return status;
	facts->serving++;
	if (!ax_worker_offers(worker.executors, run->executor_key))
		return AX_OK;
	facts->offering++;
	if (!ax_route_tags_match(run->demand, worker.name, worker.tags))
		return AX_OK;
	facts->matching++;
	bool room = ax_worker_room(&facts->group, part, AX_RUN_LANE_SHORT) > 0;
	bool lane = ax_worker_room(&facts->group, part, run->lane) > 0;
	facts->with_room += room;
	facts->with_lane += lane;
	r->candidates[r->n++] = (struct ax_candidate){ .name = worker.name, .room = lane };
	return AX_OK;
}

/* Whom the route wants, if that one has no room and the run's patience is not over. */
static enum ax_status find_wanted(struct read *r, struct ax_err *err)
{
	struct ax_task_def def;
	int64_t until = r->run->ready_time + AX_ROUTE_WAIT_MS;
	if (r->now < r->run->ready_time || r->now >= until)
		return AX_OK;
	enum ax_status status = ax_run_def(r->tx, r->run, &def, err);
	if (status != AX_OK)
		return status == AX_NOT_FOUND ? AX_OK : status;
	for (int i = 0; i < r->n; i++)
		r->candidates[i].avoid = ax_route_avoids(def.route, r->run, r->candidates[i].name);
	uint64_t key = ax_route_key(&def, r->run);
	if (ax_route_choose(def.route, r->candidates, r->n, key, true) != AX_ROUTE_WAIT)
		return AX_OK;
	for (int i = 0; i < r->n; i++)
		r->candidates[i].room = true;
	r->facts.wanted = r->candidates[ax_route_choose(def.route, r->candidates, r->n, key, true)].name;
	r->facts.wanted_until = until;
	return AX_OK;
}

enum ax_status ax_claim_facts_read(
	struct ax_tx *tx, const struct ax_run *run, int64_t now, struct ax_claim_facts *ret, struct ax_err *err)
{
	struct ax_worker_groups parts;
	struct read r = { .tx = tx, .run = run, .now = now };
	enum ax_status status = tx->ops->group_get(tx, run->group_key, false, &r.facts.group, err);
	if (status == AX_OK)
		status = tx->ops->group_workers(tx, run->group_key, &parts, err);
	if (status != AX_OK)
		return status;
	r.candidates = ax_alloc_array(tx->arena, (size_t)parts.n + 1, sizeof(*r.candidates));
	for (int i = 0; status == AX_OK && i < parts.n; i++)
		status = judge_worker(&r, &parts.at[i], err);
	if (status == AX_OK)
		status = find_wanted(&r, err);
	if (status == AX_OK)
		*ret = r.facts;
	return status;
}

bool ax_claim_lane_has_room(const struct ax_claim_facts *facts, const struct ax_run *run)
{
	return facts->with_lane > 0 && ax_group_room(&facts->group, run->lane) > 0;
}

enum ax_status ax_run_waiting_for(
	struct ax_tx *tx, const struct ax_run *run, int64_t now, const char **ret, struct ax_err *err)
{
	struct ax_claim_facts facts;
	bool broadcast = run->hold == AX_HOLD_SPREAD && run->spread == AX_SPREAD_BROADCAST; /* it waits for workers */
	if (run->hold != AX_HOLD_NONE && !broadcast) {
		*ret = run->hold == AX_HOLD_OVERLAP   ? "overlap"
			: run->hold == AX_HOLD_PAUSED ? "task_paused"
						      : "spread";
		return AX_OK;
	}
	enum ax_status status = ax_claim_facts_read(tx, run, now, &facts, err);
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
