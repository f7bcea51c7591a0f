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
		if (live.at[i].gid != c->run->gid && live.at[i].hold != AX_HOLD_OVERLAP && (*ret_n)++ == 0)
			first = &live.at[i];
	return first;
}

static bool overlap(struct ax_why_case *c)
{
	int n;
	int64_t allowed = c->has_task && c->task.def.overlap == AX_OVERLAP_ALLOW ? c->task.def.overlap_max : 1;
	const char *word = c->has_task ? overlap_words[c->task.def.overlap] : "queue";
	if (c->run->hold != AX_HOLD_OVERLAP) {
		ax_why_add(c, 0, AX_WHY_OK, "overlap",
			AX_SAY(c, "Overlap is %s: no other run of the task keeps this one back.", word));
		return true;
	}
	const struct ax_run *first = find_blocking(c, &n);
	if (first != NULL)
		ax_why_add(c, 0, AX_WHY_FAIL, "overlap",
			AX_SAY(c,
				"It waits for run %" PRId64 " (%s%s%s) to end: overlap is %s, which lets %" PRId64
				" run of the task go at a time, and %d is live.",
				first->gid, ax_run_state_name(first->status), first->worker[0] != '\0' ? " on " : "",
				first->worker, word, allowed, n));
	else
		ax_why_add(c, 0, AX_WHY_FAIL, "overlap",
			AX_SAY(c, "It is held by overlap %s, and the run it waited for has just ended.", word));
	return false;
}

static bool task_paused(struct ax_why_case *c)
{
	if (c->run->hold == AX_HOLD_PAUSED) {
		ax_why_add(c, 0, AX_WHY_FAIL, "task_paused",
			AX_SAY(c, "The task is paused since %s; its runs wait until it is resumed.",
				ax_why_at(c, ax_why_disabled_since(c))));
		return false;
	}
	bool paused = c->has_task && c->task.status == AX_TASK_PAUSED;
	ax_why_add(c, 0, AX_WHY_OK, "task_paused",
		paused ? "The task is paused, which does not hold runs made by hand." : "The task is not paused.");
	return true;
}

static bool group_paused(struct ax_why_case *c)
{
	const struct ax_group *group = &c->facts.group;
	ax_why_add(c, 0, group->paused ? AX_WHY_FAIL : AX_WHY_OK, "group_paused",
		group->paused ? AX_SAY(c, "Group %s is paused; none of its runs is given out until it is resumed.",
					group->group_key)
			      : AX_SAY(c, "Group %s is not paused.", group->group_key));
	return !group->paused;
}

static bool worker(struct ax_why_case *c)
{
	const char *group = c->facts.group.group_key;
	if (c->facts.offering > 0)
		ax_why_add(c, 0, AX_WHY_OK, "worker",
			AX_SAY(c, "%d of %d workers online in group %s offer executor %s.", c->facts.offering,
				c->facts.serving, group, c->asked.executor_key));
	else if (c->facts.serving > 0)
		ax_why_add(c, 0, AX_WHY_FAIL, "worker",
			AX_SAY(c, "No worker offers executor %s: %d are online in group %s, none of them with it.",
				c->asked.executor_key, c->facts.serving, group));
	else
		ax_why_add(c, 0, AX_WHY_FAIL, "worker",
			AX_SAY(c, "No worker is online in group %s (seen within %d s, neither draining nor disabled).",
				group, AX_LEASE_MS / 1000));
	return c->facts.offering > 0;
}

static bool quota(struct ax_why_case *c)
{
	const struct ax_group *group = &c->facts.group;
	bool room = group->running < group->dispatch_quota;
	ax_why_add(c, 0, room ? AX_WHY_OK : AX_WHY_FAIL, "quota",
		AX_SAY(c, "Group %s has %" PRId64 " of %" PRId64 " runs out%s.", group->group_key, group->running,
			group->dispatch_quota, room ? "" : ": the quota is used up, so it waits until one ends"));
	return room;
}

static bool tags(struct ax_why_case *c)
{
	bool match = c->facts.matching > 0;
	if (c->asked.demand[0] == '\0')
		return true;
	ax_why_add(c, 0, match ? AX_WHY_OK : AX_WHY_FAIL, "tags",
		match ? AX_SAY(c, "%d of them have the tags %s.", c->facts.matching, c->asked.demand)
		      : AX_SAY(c, "None of the %d workers that offer %s has the tags %s.", c->facts.offering,
				c->asked.executor_key, c->asked.demand));
	return match;
}

/* A parent that nothing else holds is not given out: its shards are made. */
static bool spread(struct ax_why_case *c)
{
	if (c->run->hold != AX_HOLD_SPREAD)
		return true;
	if (c->run->spread == AX_SPREAD_BROADCAST && !(worker(c) && tags(c)))
		return false;
	ax_why_add(c, c->run->deadline_time, AX_WHY_INFO, "spread",
		AX_SAY(c, "Its shards are about to be made, at %s.", ax_why_at(c, c->run->deadline_time)));
	return false;
}

static bool backlog(struct ax_why_case *c)
{
	const struct ax_group *group = &c->facts.group;
	bool room = c->facts.with_room > 0;
	const char *limit = group->worker_backlog > 0 ? AX_SAY(c, "%" PRId64 " each", group->worker_backlog)
						      : AX_SAY(c, "pool size × %d", AX_BACKLOG_FACTOR);
	ax_why_add(c, 0, room ? AX_WHY_OK : AX_WHY_FAIL, "backlog",
		room ? AX_SAY(c, "%d of %d workers that may have it have room.", c->facts.with_room, c->facts.matching)
		     : AX_SAY(c, "All %d workers that may have it hold as many runs as they may (%s).",
			       c->facts.matching, limit));
	return room;
}

static bool lane(struct ax_why_case *c)
{
	const struct ax_group *group = &c->facts.group;
	bool room = ax_claim_lane_has_room(&c->facts, &c->asked);
	if (c->asked.lane != AX_RUN_LANE_LONG)
		return true;
	ax_why_add(c, 0, room ? AX_WHY_OK : AX_WHY_FAIL, "lane",
		AX_SAY(c,
			"It is in the long lane, which may hold %" PRId64 " %% of group %s: %" PRId64 " of %" PRId64
			" runs are out, and %d of %d workers have room for one%s.",
			group->long_share_percent, group->group_key, group->running_long,
			ax_lane_share(group->dispatch_quota, group->long_share_percent), c->facts.with_lane,
			c->facts.matching, room ? "" : "; it waits until a long run ends"));
	return room;
}

static bool route(struct ax_why_case *c)
{
	const struct ax_claim_facts *facts = &c->facts;
	if (facts->wanted != NULL)
		ax_why_add(c, 0, AX_WHY_FAIL, "route",
			AX_SAY(c, "Its route wants worker %s, which has no room; at %s the next best may have it.",
				facts->wanted, ax_why_at(c, facts->wanted_until)));
	return facts->wanted == NULL;
}

static bool enabled(struct ax_why_case *c)
{
	const struct ax_task *task = &c->task;
	if (task->status == AX_TASK_CREATED)
		ax_why_add(c, task->create_time, AX_WHY_FAIL, "created",
			"The task was created but never enabled: it makes no runs until it is resumed.");
	else if (task->status == AX_TASK_PAUSED)
		ax_why_add(c, ax_why_disabled_since(c), AX_WHY_FAIL, "paused",
			AX_SAY(c, "The task is paused since %s: it makes no runs until it is resumed.",
				ax_why_at(c, ax_why_disabled_since(c))));
	else
		ax_why_add(c, 0, AX_WHY_OK, "enabled", "The task is enabled.");
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
	if (fault != NULL)
		ax_why_add(c, 0, AX_WHY_FAIL, "unschedulable",
			AX_SAY(c, "Its schedule cannot be read, so that it makes no fires: %s.", fault));
	else if (task->exhausted)
		ax_why_add(c, 0, AX_WHY_FAIL, "exhausted",
			AX_SAY(c, "The schedule %s has no further fire.", task->def.cron_expr));
	else if (task->next_trigger_time != 0 && task->next_trigger_time < c->now - AX_LATE_MS)
		ax_why_add(c, 0, AX_WHY_FAIL, "scheduler_late",
			AX_SAY(c, "The fire of %s is due for %s and not made yet: the scheduler is behind.",
				ax_why_at(c, task->next_trigger_time),
				ax_why_span(c, c->now - task->next_trigger_time)));
	else
		ax_why_add(c, 0, AX_WHY_OK, "next_fire",
			task->next_trigger_time == 0
				? "The next fire is set when the live run ends (@after)."
				: AX_SAY(c, "The next fire is at %s.", ax_why_at(c, task->next_trigger_time)));
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
	if (all_hold(c, rules, AX_COUNT(rules)) && c->status == AX_OK)
		ax_why_add(c, 0, AX_WHY_OK, "claim",
			AX_SAY(c,
				"It is about to be given out, at the next poll of a worker (every %d s at the latest).",
				AX_POLL_WAIT_MS / 1000));
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
