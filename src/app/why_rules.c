#include <inttypes.h>

#include "app/schedule_next.h"
#include "app/why_case.h"
#include "core/duration.h"
#include "core/limits.h"
#include "core/room.h"

/* The rules that a run passes before a worker gets it, each a function that adds what it found and says whether it
 * holds. Their order is that of ax_run_waiting_for. */

enum { LIVE_MAX = 100 };

static const char *const overlap_words[] = { "queue", "skip", "replace", "allow" };

/* The run, or one that the task might make now. */
static struct ax_run ask(const struct ax_why_case *c)
{
	if (c->run != NULL)
		return *c->run;
	const struct ax_task_def *def = &c->task.def;
	return (struct ax_run){
		.group_key = def->group_key,
		.executor_key = def->executor_key,
		.lane = ax_lane_choose(def->lane, ax_durations_quantile(c->task.durations, 90)),
		.demand = ax_route_demand(def),
	};
}

/* The oldest live run of the task that the overlap rule does not hold: what others wait for. NULL = none. */
static const struct ax_run *find_blocking(struct ax_why_case *c, int *ret_n)
{
	const struct ax_run *first = NULL;
	struct ax_runs live;
	*ret_n = 0;
	c->status = c->tx->ops->runs_live(c->tx, c->run->task_id, false, LIVE_MAX, &live, c->err);
	for (int i = 0; c->status == AX_OK && i < live.n; i++)
		if (live.at[i].gid != c->run->gid && (*ret_n)++ == 0)
			first = &live.at[i];
	return first;
}

static bool overlap(struct ax_why_case *c)
{
	int n;
	int64_t allowed = c->has_task && c->task.def.overlap == AX_OVERLAP_ALLOW ? c->task.def.overlap_max : 1;
	const char *word = c->has_task ? overlap_words[c->task.def.overlap] : "queue";
	if (c->run->hold != AX_HOLD_OVERLAP) {
		ax_why_say(c, 0, AX_WHY_OK, "overlap", AX_SAY_OVERLAP_FREE);
		ax_why_with(c, "overlap", word);
		return true;
	}
	const struct ax_run *first = find_blocking(c, &n);
	ax_why_say(c, 0, AX_WHY_FAIL, "overlap", first != NULL ? AX_SAY_OVERLAP_HELD : AX_SAY_OVERLAP_ENDED);
	ax_why_with(c, "overlap", word);
	if (first == NULL)
		return false;
	ax_why_with_number(c, "run", first->gid);
	ax_why_with(c, "state", ax_run_state_name(first->status));
	ax_why_with(c, "worker", first->worker);
	ax_why_with_number(c, "allowed", allowed);
	ax_why_with_number(c, "live", n);
	return false;
}

static bool task_paused(struct ax_why_case *c)
{
	if (c->run->hold == AX_HOLD_PAUSED) {
		bool deleting = c->has_task && c->task.status == AX_TASK_DELETING;
		ax_why_say(c, 0, AX_WHY_FAIL, "task_paused", deleting ? AX_SAY_TASK_DELETING : AX_SAY_TASK_PAUSED);
		if (!deleting)
			ax_why_with_time(c, "since", ax_why_disabled_since(c));
		return false;
	}
	bool paused = c->has_task && c->task.status == AX_TASK_PAUSED;
	ax_why_say(c, 0, AX_WHY_OK, "task_paused", paused ? AX_SAY_TASK_PAUSED_BY_HAND : AX_SAY_TASK_NOT_PAUSED);
	return true;
}

static bool group_paused(struct ax_why_case *c)
{
	const struct ax_group *group = &c->facts.group;
	ax_why_say(c, 0, group->paused ? AX_WHY_FAIL : AX_WHY_OK, "group_paused",
		group->paused ? AX_SAY_GROUP_PAUSED : AX_SAY_GROUP_NOT_PAUSED);
	ax_why_with(c, "group", group->group_key);
	return !group->paused;
}

static bool worker(struct ax_why_case *c)
{
	const struct ax_claim_facts *facts = &c->facts;
	bool offered = facts->offering > 0;
	ax_why_say(c, 0, offered ? AX_WHY_OK : AX_WHY_FAIL, "worker",
		offered                      ? AX_SAY_WORKER
			: facts->serving > 0 ? AX_SAY_WORKER_NONE_OFFERS
					     : AX_SAY_WORKER_NONE);
	ax_why_with_number(c, "offering", facts->offering);
	ax_why_with_number(c, "serving", facts->serving);
	ax_why_with(c, "group", facts->group.group_key);
	ax_why_with(c, "executor", c->asked.executor_key);
	ax_why_with_number(c, "seconds", AX_LEASE_MS / 1000);
	return offered;
}

static bool quota(struct ax_why_case *c)
{
	const struct ax_group *group = &c->facts.group;
	bool room = group->running < group->dispatch_quota;
	ax_why_say(c, 0, room ? AX_WHY_OK : AX_WHY_FAIL, "quota", room ? AX_SAY_QUOTA : AX_SAY_QUOTA_FULL);
	ax_why_with(c, "group", group->group_key);
	ax_why_with_number(c, "out", group->running);
	ax_why_with_number(c, "quota", group->dispatch_quota);
	return room;
}

static bool tags(struct ax_why_case *c)
{
	bool match = c->facts.matching > 0;
	if (c->asked.demand[0] == '\0')
		return true;
	ax_why_say(c, 0, match ? AX_WHY_OK : AX_WHY_FAIL, "tags", match ? AX_SAY_TAGS : AX_SAY_TAGS_NONE);
	ax_why_with_number(c, "matching", c->facts.matching);
	ax_why_with_number(c, "workers", c->facts.offering);
	ax_why_with(c, "executor", c->asked.executor_key);
	ax_why_with(c, "tags", c->asked.demand);
	return match;
}

/* A parent that nothing else holds is not given out: its shards are made. */
static bool spread(struct ax_why_case *c)
{
	if (c->run->hold != AX_HOLD_SPREAD)
		return true;
	if (c->run->spread == AX_SPREAD_BROADCAST && !(worker(c) && tags(c)))
		return false;
	ax_why_say(c, c->run->deadline_time, AX_WHY_INFO, "spread", AX_SAY_SPREAD);
	ax_why_with_time(c, "at", c->run->deadline_time);
	return false;
}

static bool backlog(struct ax_why_case *c)
{
	const struct ax_group *group = &c->facts.group;
	bool room = c->facts.with_room > 0;
	ax_why_say(c, 0, room ? AX_WHY_OK : AX_WHY_FAIL, "backlog", room ? AX_SAY_BACKLOG : AX_SAY_BACKLOG_FULL);
	ax_why_with_number(c, "room", c->facts.with_room);
	ax_why_with_number(c, "workers", c->facts.matching);
	if (group->worker_backlog > 0)
		ax_why_with_number(c, "limit", group->worker_backlog);
	else
		ax_why_with_number(c, "factor", AX_BACKLOG_FACTOR);
	return room;
}

static bool lane(struct ax_why_case *c)
{
	const struct ax_group *group = &c->facts.group;
	bool room = ax_claim_lane_has_room(&c->facts, &c->asked);
	if (c->asked.lane != AX_RUN_LANE_LONG)
		return true;
	ax_why_say(c, 0, room ? AX_WHY_OK : AX_WHY_FAIL, "lane", room ? AX_SAY_LANE : AX_SAY_LANE_FULL);
	ax_why_with_number(c, "share", group->long_share_percent);
	ax_why_with(c, "group", group->group_key);
	ax_why_with_number(c, "out", group->running_long);
	ax_why_with_number(c, "most", ax_lane_share(group->dispatch_quota, group->long_share_percent));
	ax_why_with_number(c, "room", c->facts.with_lane);
	ax_why_with_number(c, "workers", c->facts.matching);
	return room;
}

static bool route(struct ax_why_case *c)
{
	const struct ax_claim_facts *facts = &c->facts;
	if (facts->wanted == NULL)
		return true;
	ax_why_say(c, 0, AX_WHY_FAIL, "route", AX_SAY_ROUTE);
	ax_why_with(c, "worker", facts->wanted);
	ax_why_with_time(c, "at", facts->wanted_until);
	return false;
}

static bool enabled(struct ax_why_case *c)
{
	const struct ax_task *task = &c->task;
	if (task->status == AX_TASK_CREATED) {
		ax_why_say(c, task->create_time, AX_WHY_FAIL, "created", AX_SAY_NEVER_ENABLED);
	} else if (task->status == AX_TASK_PAUSED) {
		int64_t since = ax_why_disabled_since(c);
		ax_why_say(c, since, AX_WHY_FAIL, "paused", AX_SAY_PAUSED);
		ax_why_with_time(c, "since", since);
	} else if (task->status == AX_TASK_DELETING) {
		ax_why_say(c, task->update_time, AX_WHY_FAIL, "deleting", AX_SAY_DELETING);
		ax_why_with_time(c, "since", task->update_time);
	} else {
		ax_why_say(c, 0, AX_WHY_OK, "enabled", AX_SAY_ENABLED);
	}
	return task->status == AX_TASK_ENABLED;
}

/* What is wrong with a task whose schedule cannot be read (any more), or NULL. */
static const char *find_fault(struct ax_why_case *c)
{
	struct ax_rule rule;
	struct ax_err fault;
	enum ax_status status = ax_rule_of(c->tx, c->zones, &c->task, &rule, &fault);
	if (status == AX_INVALID || status == AX_NEVER)
		return ax_strdup(c->tx->arena, fault.msg);
	if (status != AX_OK) {
		c->status = status;
		if (c->err != NULL)
			*c->err = fault;
	}
	return NULL;
}

static bool has_fires(struct ax_why_case *c)
{
	const struct ax_task *task = &c->task;
	if (!ax_def_has_schedule(&task->def))
		return true;
	const char *fault = task->next_trigger_time == 0 && !task->exhausted ? find_fault(c) : NULL;
	if (fault != NULL) {
		ax_why_say(c, 0, AX_WHY_FAIL, "unschedulable", AX_SAY_UNSCHEDULABLE);
		ax_why_with(c, "fault", fault);
	} else if (task->exhausted) {
		ax_why_say(c, 0, AX_WHY_FAIL, "exhausted", AX_SAY_EXHAUSTED);
		ax_why_with(c, "schedule", task->def.cron_expr);
	} else if (task->next_trigger_time != 0 && task->next_trigger_time < c->now - AX_LATE_MS) {
		ax_why_say(c, 0, AX_WHY_FAIL, "scheduler_late", AX_SAY_SCHEDULER_LATE);
		ax_why_with_time(c, "fire", task->next_trigger_time);
		ax_why_with_number(c, "late_ms", c->now - task->next_trigger_time);
	} else if (task->next_trigger_time == 0) {
		ax_why_say(c, 0, AX_WHY_OK, "next_fire", AX_SAY_NEXT_FIRE_AFTER);
	} else {
		ax_why_say(c, 0, AX_WHY_OK, "next_fire", AX_SAY_NEXT_FIRE);
		ax_why_with_time(c, "at", task->next_trigger_time);
	}
	return !task->exhausted && c->why->steps[c->why->n - 1].mark == AX_WHY_OK;
}

typedef bool (*rule)(struct ax_why_case *c);

/* Asks the rules up to the first that fails. */
static bool all_hold(struct ax_why_case *c, const rule *rules, size_t n)
{
	bool hold = true;
	c->asked = ask(c);
	if (c->status == AX_OK)
		c->status = ax_claim_facts_read(&c->view, &c->asked, &c->facts, c->err);
	for (size_t i = 0; c->status == AX_OK && hold && i < n; i++)
		hold = rules[i](c);
	return hold;
}

void ax_why_waiting(struct ax_why_case *c)
{
	static const rule rules[] = { overlap, task_paused, spread, group_paused, worker, tags, quota, backlog, lane,
		route };
	if (all_hold(c, rules, AX_COUNT(rules)) && c->status == AX_OK) {
		ax_why_say(c, 0, AX_WHY_OK, "claim", AX_SAY_CLAIM);
		ax_why_with_number(c, "seconds", AX_POLL_WAIT_MS / 1000);
	}
	ax_why_answer(c);
}

bool ax_why_demanding(struct ax_why_case *c)
{
	static const rule rules[] = { enabled, has_fires };
	return all_hold(c, rules, AX_COUNT(rules));
}

bool ax_why_claimable(struct ax_why_case *c)
{
	static const rule rules[] = { group_paused, worker, tags, quota, backlog, lane };
	return all_hold(c, rules, AX_COUNT(rules));
}
