#include <inttypes.h>

#include "app/chain.h"
#include "app/why_case.h"
#include "core/gid.h"
#include "core/limits.h"

/* Why a run that an event or another run caused: who, and who is waited for. */

static const char *name_of(struct ax_why_case *c, int64_t task_id)
{
	struct ax_task task;
	enum ax_status status = c->tx->ops->task_get(c->tx, task_id, false, &task, c->err);
	if (status == AX_OK)
		return AX_SAY(c, "%s/%s", task.def.group_key, task.def.task_name);
	if (status != AX_NOT_FOUND)
		c->status = status;
	return AX_SAY(c, "task %" PRId64, task_id);
}

static void with_event(struct ax_why_case *c, const struct ax_event *event)
{
	ax_why_with(c, "event", event->event_name);
	ax_why_with(c, "id", event->event_id);
	ax_why_with_time(c, "at", event->time);
	ax_why_with(c, "by", event->sent_by);
}

void ax_why_event(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	struct ax_event event;
	enum ax_status status = c->tx->ops->event_get(c->tx, run->batch, &event, c->err);
	if (status == AX_OK) {
		ax_why_say(c, event.time, AX_WHY_OK, "event", AX_SAY_EVENT);
		with_event(c, &event);
	} else if (status == AX_NOT_FOUND) {
		ax_why_say(c, run->create_time, AX_WHY_OK, "event", AX_SAY_EVENT_GONE);
		ax_why_with(c, "id", run->fire_key);
	} else {
		c->status = status;
	}
}

static enum ax_sentence passed_over_for(enum ax_event_fate fate)
{
	switch (fate) {
	case AX_EVENT_CONDITION:
		return AX_SAY_PASSED_OVER_CONDITION;
	case AX_EVENT_PAUSED:
		return AX_SAY_PASSED_OVER_PAUSED;
	case AX_EVENT_CREATED:
		return AX_SAY_PASSED_OVER_CREATED;
	case AX_EVENT_DELETING:
		return AX_SAY_PASSED_OVER_DELETING;
	case AX_EVENT_KNOWN:
		return AX_SAY_PASSED_OVER_KNOWN;
	case AX_EVENT_RUN:
		break;
	}
	return AX_SAY_PASSED_OVER; /* it did not listen to it then */
}

void ax_why_newest_event(struct ax_why_case *c, int64_t at)
{
	struct ax_events events;
	struct ax_event_tasks tasks;
	struct ax_event_task mine = { 0 };
	c->status = c->tx->ops->events_page(c->tx, c->task.def.event_name, ax_gid_least(at + 1), 1, &events, c->err);
	if (c->status != AX_OK || events.n == 0)
		return;
	const struct ax_event *event = &events.at[0];
	c->status = c->tx->ops->event_tasks(c->tx, event->id, &tasks, c->err);
	for (int i = 0; c->status == AX_OK && i < tasks.n; i++)
		mine = tasks.at[i].task_id == c->task.id ? tasks.at[i] : mine;
	if (mine.fate == AX_EVENT_RUN) {
		ax_why_say(c, event->time, AX_WHY_OK, "event", AX_SAY_EVENT_RAN);
		with_event(c, event);
		ax_why_with_number(c, "run", mine.gid);
		return;
	}
	ax_why_say(c, event->time, AX_WHY_FAIL, "passed_over", passed_over_for(mine.fate));
	with_event(c, event);
	ax_why_answer(c);
}

/* "12 (g/a, SUCCESS), 13 (g/b, SUCCESS)" */
static const char *known(struct ax_why_case *c, int64_t gid)
{
	struct ax_run_upstreams rows;
	const char *text = "";
	enum ax_status status = c->tx->ops->run_upstreams(c->tx, gid, &rows, c->err);
	for (int i = 0; status == AX_OK && i < rows.n; i++)
		text = AX_SAY(c, "%s%s%" PRId64 " (%s, %s)", text, i > 0 ? ", " : "", rows.at[i].upstream_gid,
			name_of(c, rows.at[i].upstream_id), ax_run_state_name(rows.at[i].upstream_status));
	if (status != AX_OK)
		c->status = status;
	return text;
}

/* The upstreams of the run's task that it has not seen succeed. */
static const char *missing(struct ax_why_case *c, int64_t gid)
{
	struct ax_upstreams all;
	struct ax_run_upstreams rows;
	const char *text = "";
	enum ax_status status = c->tx->ops->upstreams_of(c->tx, c->run->task_id, &all, c->err);
	if (status == AX_OK)
		status = c->tx->ops->run_upstreams(c->tx, gid, &rows, c->err);
	for (int i = 0; status == AX_OK && i < all.n; i++) {
		int k = 0;
		while (k < rows.n &&
			(rows.at[k].upstream_id != all.at[i].upstream_id ||
				rows.at[k].upstream_status != AX_RUN_SUCCESS))
			k++;
		if (k == rows.n)
			text = AX_SAY(c, "%s%s%s", text, *text != '\0' ? ", " : "", name_of(c, all.at[i].upstream_id));
	}
	if (status != AX_OK)
		c->status = status;
	return text;
}

void ax_why_chain(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	bool joins = run->fire_key[0] == 'b';
	ax_why_say(c, run->create_time, AX_WHY_OK, joins ? "join" : "chain", joins ? AX_SAY_JOIN : AX_SAY_CHAIN);
	if (joins)
		ax_why_with_number(c, "batch", run->batch);
	ax_why_with(c, "states", known(c, run->gid));
}

void ax_why_joining(struct ax_why_case *c)
{
	ax_why_say(c, 0, AX_WHY_INFO, "upstreams", AX_SAY_UPSTREAMS);
	ax_why_with(c, "tasks", missing(c, c->run->gid));
	ax_why_with_time(c, "until", c->run->deadline_time);
	ax_why_answer(c);
}

/* From the run that blocked this one to where the chain was broken. */
static void broken_at(struct ax_why_case *c)
{
	struct ax_run run = *c->run;
	enum ax_status status = AX_OK;
	for (int depth = 0; run.blocked_by != 0 && depth < AX_CHAIN_DEPTH_MAX; depth++) {
		struct ax_run next;
		status = c->tx->ops->run_get(c->tx, run.blocked_by, false, &next, c->err);
		if (status != AX_OK)
			break;
		run = next;
	}
	if (status != AX_OK && status != AX_NOT_FOUND)
		c->status = status;
	if (run.gid == c->run->gid)
		return;
	ax_why_say(c, run.end_time, AX_WHY_FAIL, "broken_at", AX_SAY_BROKEN_AT);
	ax_why_with_number(c, "run", run.gid);
	ax_why_with(c, "task", name_of(c, run.task_id));
	ax_why_with(c, "state", ax_run_state_name(run.status));
	ax_why_with(c, "message", ax_why_quote(c, run.result_msg));
}

void ax_why_blocked(struct ax_why_case *c)
{
	if (c->run->blocked_by != 0) {
		broken_at(c);
		return;
	}
	ax_why_say(c, 0, AX_WHY_FAIL, "upstreams", AX_SAY_UPSTREAMS_MISSING);
	ax_why_with(c, "tasks", missing(c, c->run->gid));
}

void ax_why_causes(struct ax_why_case *c, int64_t time)
{
	const struct ax_task_def *def = &c->task.def;
	struct ax_upstreams all = { 0 };
	const char *names = "";
	bool event = def->task_type == AX_TASK_EVENT;
	enum ax_status status = c->tx->ops->upstreams_of(c->tx, c->task.id, &all, c->err);
	for (int i = 0; status == AX_OK && i < all.n; i++)
		names = AX_SAY(c, "%s%s%s", names, i > 0 ? ", " : "", name_of(c, all.at[i].upstream_id));
	if (status != AX_OK)
		c->status = status;
	ax_why_say(c, time, AX_WHY_INFO, "no_schedule", event ? AX_SAY_NO_SCHEDULE_EVENT : AX_SAY_NO_SCHEDULE);
	if (event)
		ax_why_with(c, "event", def->event_name);
	ax_why_with(c, def->join_all ? "all_of" : "any_of", names);
}
