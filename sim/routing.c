/* Who gets a run: what tasks ask for, what workers are, and what must hold at every claim and after it. */

#include <stdio.h>
#include <string.h>

#include "app/worker_seen.h"
#include "core/limits.h"
#include "core/room.h"
#include "port/row.h"
#include "sim.h"

#define EACH(row, sim, type)                                                                                           \
	for (size_t i_##row = 0; (row = ax_mem_store_at((sim)->mem, type, i_##row)) != NULL; i_##row++)

const char *sim_worker_tags(const struct sim_worker *worker)
{
	return worker->index % 2 == 0 ? "{\"zone\":\"a\"}" : "{\"zone\":\"b\"}";
}

const char *sim_worker_executors(const struct sim_worker *worker)
{
	return worker->index == 2 ? "exec" : "exec http";
}

void sim_draw_route(struct sim *sim, struct ax_task_def *def)
{
	static const char *const tags[] = { "{\"zone\":\"a\"}", "{\"zone\":\"b\"}", "{\"worker\":\"w2\"}",
		"{\"worker\":\"w2\",\"zone\":\"b\"}", "{\"zone\":\"nowhere\"}" };
	def->route = (enum ax_routing)sim_between(sim, 0, AX_ROUTE_FAILOVER);
	def->route_key = sim_between(sim, 0, 1) == 0 ? "k" : "";
	if (sim_between(sim, 0, 3) == 0)
		def->route_tags = tags[sim_between(sim, 0, AX_COUNT(tags) - 1)];
	def->lane = (enum ax_run_lane)sim_between(sim, 0, 2);
}

void sim_draw_room(struct sim *sim, struct ax_group *group)
{
	group->long_share_percent = sim_between(sim, 1, 100);
	group->worker_backlog = sim_between(sim, 0, 2) == 0 ? sim_between(sim, 1, 6) : 0;
}

static const struct ax_worker *find_worker(struct sim *sim, const char *name)
{
	const struct ax_worker *worker;
	EACH (worker, sim, &ax_worker_row)
		if (strcmp(worker->name, name) == 0)
			return worker;
	return NULL;
}

static const struct ax_group *find_group(struct sim *sim, const char *key)
{
	const struct ax_group *group;
	EACH (group, sim, &ax_group_row)
		if (strcmp(group->group_key, key) == 0)
			return group;
	return NULL;
}

static const struct ax_worker_group *find_part(struct sim *sim, const char *worker, const char *group_key)
{
	const struct ax_worker_group *part;
	EACH (part, sim, &ax_worker_group_row)
		if (strcmp(part->worker, worker) == 0 && strcmp(part->group_key, group_key) == 0)
			return part;
	return NULL;
}

/* A claim is of a group that is not paused and went to a worker that wants runs, offers the executor and has the tags;
 * the long lane, the backlog and the quota hold with it (I16). */
void sim_check_claim(struct sim *sim, const struct ax_run *run)
{
	const struct ax_worker *worker = find_worker(sim, run->worker);
	const struct ax_group *group = find_group(sim, run->group_key);
	const struct ax_worker_group *part = find_part(sim, run->worker, run->group_key);
	long long gid = (long long)run->gid;
	if (worker == NULL || part == NULL || worker->status != AX_WORKER_ONLINE || worker->disabled) {
		sim_fail(sim, "I16 run %lld went to %s, which takes none", gid, run->worker);
		return;
	}
	const struct sim_worker *real = &sim->workers[worker->name[1] - '1'];
	if (real->disabled)
		sim_fail(sim, "I16 run %lld went to %s, which a person disabled", gid, run->worker);
	char name[48], tag[48];
	snprintf(name, sizeof(name), "\"worker\":\"%s\"", worker->name);
	snprintf(tag, sizeof(tag), "\"zone\":\"%c\"", real->index % 2 == 0 ? 'a' : 'b');
	bool right_name = strstr(run->demand, "\"worker\"") == NULL || strstr(run->demand, name) != NULL;
	bool right_zone = strstr(run->demand, "\"zone\"") == NULL || strstr(run->demand, tag) != NULL;
	if (!right_name || !right_zone)
		sim_fail(sim, "I16 run %lld demands %s and went to %s", gid, run->demand, run->worker);
	if (strstr(sim_worker_executors(real), run->executor_key) == NULL)
		sim_fail(sim, "I16 run %lld went to %s, which has no %s", gid, run->worker, run->executor_key);
	if (group->paused)
		sim_fail(sim, "I16 run %lld was claimed although group %s is paused", gid, group->group_key);
	if (group->running > group->dispatch_quota)
		sim_fail(sim, "I6 group %s has %lld running, its quota is %lld", group->group_key,
			(long long)group->running, (long long)group->dispatch_quota);
	if (part->given > ax_backlog_of(group, part))
		sim_fail(sim, "I16 %s was given %lld runs of %s, it may have %lld", run->worker, (long long)part->given,
			group->group_key, (long long)ax_backlog_of(group, part));
	int64_t percent = group->long_share_percent;
	if (run->lane == AX_RUN_LANE_LONG &&
		(group->running_long > AX_MAX(1, group->dispatch_quota * percent / 100) ||
			part->given_long > AX_MAX(1, ax_backlog_of(group, part) * percent / 100)))
		sim_fail(sim, "I16 long run %lld makes %lld out and %lld at %s, the share is %lld %%", gid,
			(long long)group->running_long, (long long)part->given_long, run->worker, (long long)percent);
}

/* Could the worker of a poll that was left without runs have had this one? */
static bool might_have(struct sim *sim, const struct sim_worker *w, int64_t slots, const struct ax_run *run)
{
	const struct ax_group *group = find_group(sim, run->group_key);
	const struct ax_worker_group *part = find_part(sim, w->name, run->group_key);
	const struct ax_worker *row = find_worker(sim, w->name);
	if (row == NULL || part == NULL || slots <= 0 || group->paused || row->status != AX_WORKER_ONLINE ||
		row->disabled || !ax_worker_suits(row, run->executor_key, run->demand))
		return false;
	return ax_group_room(group, run->lane) > 0 && ax_worker_room(group, part, run->lane) > 0;
}

/* Nothing that a worker asking for runs might have is left waiting for so long, but what waits a moment for the worker
 * that its route wants (L3). */
void sim_check_left(struct sim *sim, const struct sim_worker *worker, int64_t slots, int64_t for_ms)
{
	const struct ax_run *run;
	const struct ax_task_version *version;
	EACH (run, sim, &ax_run_row) {
		if (run->status != AX_RUN_WAITING || run->hold != AX_HOLD_NONE || !might_have(sim, worker, slots, run))
			continue;
		int64_t waited = sim_wall_now(sim) - run->ready_time;
		bool wants_one = false;
		EACH (version, sim, &ax_task_version_row)
			wants_one = wants_one ||
				(version->task_id == run->task_id && version->version == run->version &&
					ax_route_waits(version->def.route));
		int64_t patience = wants_one ? AX_ROUTE_WAIT_MS : 0;
		bool passed_over =
			for_ms > 0 ? waited >= patience + for_ms : !wants_one || waited < 0 || waited >= patience;
		if (passed_over)
			sim_fail(sim, "L3 run %lld was left waiting %lld ms beside %s, which has room",
				(long long)run->gid, (long long)waited, worker->name);
	}
}

bool sim_may_wait_for_ever(struct sim *sim, const struct ax_run *run)
{
	for (int i = 0; i < SIM_WORKERS; i++)
		if (ax_route_tags_match(run->demand, sim->workers[i].name, sim_worker_tags(&sim->workers[i])) &&
			ax_worker_offers(sim_worker_executors(&sim->workers[i]), run->executor_key))
			return false;
	return true;
}
