#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/events.h"
#include "core/condition.h"
#include "port/row.h"
#include "sim.h"

/* Events and chains: people send the ones and draw the others, and after every transaction it must be seen that each
 * end went down the chain as the edges were at that time. What a join knows is held against the runs themselves. */

enum { EVENT_NAMES = 2, UPSTREAMS = 3 };

#define EACH(row, sim, type)                                                                                           \
	for (size_t i_##row = 0; (row = ax_mem_store_at((sim)->mem, type, i_##row)) != NULL; i_##row++)

static const char *const names[EVENT_NAMES] = { "e0", "e1" };

/* ---- people */

void sim_draw_chain(struct sim *sim, struct ax_task_def *def)
{
	size_t n = ax_mem_store_count(sim->mem, &ax_task_row);
	if (def->task_type == AX_TASK_EVENT) {
		def->event_name = names[sim_between(sim, 0, EVENT_NAMES - 1)];
		if (sim_between(sim, 0, 1) == 0)
			def->event_condition = "[{\"field\":\"/n\",\"op\":\"lt\",\"value\":5}]";
	}
	if (n == 0 || sim_between(sim, 0, 4) > 1)
		return;
	char *text = sim_keep(sim, 64);
	int64_t used[UPSTREAMS];
	int n_used = 0;
	for (int64_t i = sim_between(sim, 1, UPSTREAMS); i > 0; i--) {
		const struct ax_task *task =
			ax_mem_store_at(sim->mem, &ax_task_row, (size_t)sim_between(sim, 0, (int64_t)n - 1));
		bool twice = false;
		for (int k = 0; k < n_used; k++)
			twice = twice || used[k] == task->id;
		if (!twice)
			used[n_used++] = task->id;
	}
	for (int i = 0; i < n_used; i++)
		snprintf(text + strlen(text), 64 - strlen(text), "%s%lld", i > 0 ? " " : "", (long long)used[i]);
	def->upstreams = text;
	def->join_all = sim_between(sim, 0, 2) > 0;
	def->join_deadline_seconds = sim_between(sim, 60, 300);
}

/* The event of this name and id; 0 when there is none, or none can be meant. */
static int64_t first_of(struct sim *sim, const struct ax_event_sent *sent)
{
	const struct ax_event *event;
	EACH (event, sim, &ax_event_row)
		if (sent->event_key[0] != '\0' && strcmp(event->event_name, sent->event_name) == 0 &&
			strcmp(event->event_key, sent->event_key) == 0)
			return event->id;
	return 0;
}

void sim_send_event(struct sim *sim)
{
	char *id = sim_keep(sim, 16), *payload = sim_keep(sim, 16), *run_key = sim_keep(sim, 32);
	const char *name = names[sim_between(sim, 0, EVENT_NAMES - 1)];
	if (sim_between(sim, 0, 2) > 0)
		snprintf(id, 16, "id-%lld", (long long)sim_between(sim, 0, 30));
	if (id[0] != '\0')
		snprintf(run_key, 32, "%s/%s", name, id);
	snprintf(payload, 16, "{\"n\":%lld}", (long long)sim_between(sim, 0, 9));
	struct ax_event_sent sent = {
		.event_name = name,
		.event_id = id,
		.event_key = id,
		.run_key = run_key,
		.payload = payload,
		.sent_by = "sim",
	};
	struct ax_event event;
	struct ax_event_tasks tasks;
	bool existed;
	int64_t first = first_of(sim, &sent);
	enum ax_status status = ax_event_send(&sim->at->ctx, &sent, &event, &tasks, &existed, NULL);
	/* another one may have sent it meanwhile */
	bool unlike = status == AX_OK && first != 0 && (!existed || event.id != first);
	if (unlike || (status == AX_OK && existed && first == 0 && !sim->shared) || status == AX_EXISTS)
		sim_fail(sim, "V4 event %s, sent again, is not answered with what event %lld made", id,
			(long long)first);
	if (status == AX_OK)
		sim_trace(sim, "event %lld %s makes %lld runs", (long long)event.id, existed ? "again" : "",
			(long long)event.runs);
}

/* ---- events */

static const struct ax_task *task_of(struct sim *sim, int64_t id)
{
	const struct ax_task *task;
	EACH (task, sim, &ax_task_row)
		if (task->id == id)
			return task;
	return NULL;
}

static const struct ax_run *run_of(struct sim *sim, int64_t gid)
{
	const struct ax_run *run;
	EACH (run, sim, &ax_run_row)
		if (run->gid == gid)
			return run;
	return NULL;
}

/* What the event should have become for a task as it is now, in the transaction that wrote both. */
static void check_fate(struct sim *sim, const struct ax_event *event, const struct ax_event_task *row)
{
	const struct ax_task *task = task_of(sim, row->task_id);
	const struct ax_run *run = run_of(sim, row->gid);
	int64_t n = strtoll(event->payload + strlen("{\"n\":"), NULL, 10);
	char key[64];
	snprintf(key, sizeof(key), "%s%s%s", event->event_id[0] != '\0' ? event->event_name : "",
		event->event_id[0] != '\0' ? "/" : "", event->event_key);
	bool wants = strcmp(task->def.event_condition, "null") == 0 || n < 5;
	bool should = task->status == AX_TASK_ENABLED && wants;
	if (should != (row->gid != 0))
		sim_fail(sim, "V2 event %lld made %s run of task %lld", (long long)event->id,
			row->gid != 0 ? "a" : "no", (long long)row->task_id);
	if (row->fate == AX_EVENT_RUN &&
		(run == NULL || run->kind != AX_KIND_EVENT || strcmp(run->fire_key, key) != 0 ||
			strcmp(run->params, event->payload) != 0 || run->batch != event->id))
		sim_fail(sim, "V3 run %lld is not that of event %lld", (long long)row->gid, (long long)event->id);
}

/* An edit whose transaction may have met the event's: either may have come first. */
enum { MEETS_MS = 2000 };

/* Every task that listens heard of the event, once (V1), and got a run or not as it should (V2, V3). */
static void check_events(struct sim *sim)
{
	const struct ax_event *event;
	const struct ax_event_task *row;
	const struct ax_task *task;
	size_t n = ax_mem_store_count(sim->mem, &ax_event_row), known = 0;
	int64_t *ids = sim->n_events == n ? NULL : ax_malloc((n + 1) * sizeof(*ids));
	EACH (event, sim, &ax_event_row) {
		if (ids == NULL)
			return;
		ids[i_event] = event->id;
		while (known < sim->n_events && sim->events[known] < event->id)
			known++;
		if (known < sim->n_events && sim->events[known] == event->id)
			continue;
		int64_t listeners = 0, heard = 0;
		EACH (task, sim, &ax_task_row)
			listeners += task->def.task_type == AX_TASK_EVENT &&
				task->update_time < event->time - MEETS_MS &&
				strcmp(task->def.event_name, event->event_name) == 0;
		EACH (row, sim, &ax_event_task_row) {
			if (row->event != event->id)
				continue;
			heard++;
			check_fate(sim, event, row);
		}
		if (heard < listeners)
			sim_fail(sim, "V1 %lld tasks listen to event %lld, %lld heard it", (long long)listeners,
				(long long)event->id, (long long)heard);
	}
	if (ids == NULL)
		return;
	free(sim->events);
	sim->events = ids;
	sim->n_events = n;
}

/* ---- chains */

static bool was_over(const struct sim_seen *seen)
{
	return seen != NULL && ax_run_is_terminal(seen->status);
}

/* Runs of a join in one batch are numbered by their keys: "b1772388960000", "b1772388960000.2", … */
static int number_of(const struct ax_run *join)
{
	const char *dot = strchr(join->fire_key, '.');
	return dot == NULL ? 1 : (int)strtoll(dot + 1, NULL, 10);
}

/* The newest run of the join in the batch; NULL when there is none. `ret_before` is its state before this step. */
static const struct ax_run *join_of(struct sim *sim, int64_t task_id, int64_t batch, enum ax_run_state *ret_before)
{
	const struct ax_run *run, *newest = NULL;
	EACH (run, sim, &ax_run_row) {
		if (run->task_id != task_id || run->kind != AX_KIND_CHAIN || run->batch != batch || run->shard != 0 ||
			run->fire_key[0] != 'b')
			continue;
		if (newest != NULL && number_of(newest) > number_of(run))
			continue;
		newest = run;
		const struct sim_seen *seen = sim_seen_of(sim, run, NULL);
		*ret_before = seen != NULL ? seen->status : AX_RUN_PENDING;
	}
	return newest;
}

/* Has another run of the same task and batch succeeded: before, or in this step? */
static bool has_succeeded(struct sim *sim, const struct ax_run *ended)
{
	const struct ax_run *run;
	EACH (run, sim, &ax_run_row)
		if (run->task_id == ended->task_id && run->batch == ended->batch && run->shard == 0 &&
			run->status == AX_RUN_SUCCESS)
			return true;
	return false;
}

/* C1: a run of its own for each end. */
static void check_any(struct sim *sim, const struct ax_run *ended, const struct ax_task *task)
{
	const struct ax_run *run, *made = NULL;
	EACH (run, sim, &ax_run_row)
		if (run->task_id == task->id && run->kind == AX_KIND_CHAIN && run->shard == 0 &&
			strtoll(run->fire_key, NULL, 10) == ended->gid)
			made = run;
	bool good = ended->status == AX_RUN_SUCCESS;
	if (made == NULL)
		sim_fail(sim, "C1 the end of run %lld means nothing to task %lld behind it", (long long)ended->gid,
			(long long)task->id);
	else if (good != (made->status != AX_RUN_BLOCKED) || made->batch != ended->batch)
		sim_fail(sim, "C1 run %lld is %s behind run %lld, which is %s", (long long)made->gid,
			ax_run_state_name(made->status), (long long)ended->gid, ax_run_state_name(ended->status));
}

/* C2: a join knows of every end, and is blocked at once by a bad one, unless the upstream had succeeded before. */
static void check_all(struct sim *sim, const struct ax_run *ended, const struct ax_task *task)
{
	enum ax_run_state before = AX_RUN_PENDING;
	const struct ax_run *join = join_of(sim, task->id, ended->batch, &before);
	const struct ax_run_upstream *row, *known = NULL;
	if (join == NULL) {
		sim_fail(sim, "C2 the end of run %lld means nothing to the join %lld", (long long)ended->gid,
			(long long)task->id);
		return;
	}
	EACH (row, sim, &ax_run_upstream_row)
		if (row->gid == join->gid && row->upstream_id == ended->task_id)
			known = row;
	bool good = ended->status == AX_RUN_SUCCESS, open = before == AX_RUN_PENDING || before == AX_RUN_BLOCKED;
	if (!open)
		return; /* the batch has its run */
	if (known == NULL || (good && known->upstream_status != AX_RUN_SUCCESS))
		sim_fail(sim, "C2 join %lld does not know of run %lld", (long long)join->gid, (long long)ended->gid);
	bool spared = has_succeeded(sim, ended);
	if (!good && !spared && join->status != AX_RUN_BLOCKED)
		sim_fail(sim, "C2 join %lld is %s although run %lld is %s", (long long)join->gid,
			ax_run_state_name(join->status), (long long)ended->gid, ax_run_state_name(ended->status));
}

/* C3: what is due has all that it waited for. */
static void check_due(struct sim *sim, const struct ax_run *run)
{
	const struct ax_upstream *edge;
	const struct ax_run_upstream *row;
	const struct ax_task *task = task_of(sim, run->task_id);
	if (task == NULL || !task->def.join_all)
		return;
	EACH (edge, sim, &ax_upstream_row) {
		bool succeeded = false;
		if (edge->task_id != run->task_id)
			continue;
		EACH (row, sim, &ax_run_upstream_row)
			succeeded = succeeded ||
				(row->gid == run->gid && row->upstream_id == edge->upstream_id &&
					row->upstream_status == AX_RUN_SUCCESS);
		if (!succeeded)
			sim_fail(sim, "C3 join %lld is due, but has not seen task %lld succeed", (long long)run->gid,
				(long long)edge->upstream_id);
	}
}

static bool is_join(const struct ax_run *run)
{
	return run->kind == AX_KIND_CHAIN && run->shard == 0 && run->fire_key[0] == 'b';
}

/* C4: one run for a batch, besides those that were BLOCKED. One report may say that an upstream failed and then that
 * all have succeeded in the end: what was BLOCKED by it and what goes on behind that are new at once. */
static void check_once(struct sim *sim, const struct ax_run *join)
{
	const struct ax_run *run;
	EACH (run, sim, &ax_run_row) {
		bool goes_on = join->status == AX_RUN_BLOCKED && run->gid > join->gid;
		if (is_join(run) && run->task_id == join->task_id && run->batch == join->batch &&
			run->gid != join->gid && run->status != AX_RUN_BLOCKED && !goes_on)
			sim_fail(sim, "C4 runs %lld and %lld are of one batch of a join", (long long)run->gid,
				(long long)join->gid);
	}
}

/* C5: BLOCKED names a run that ended otherwise. C6: a rerun is of the batch of what it repeats. */
static void check_names(struct sim *sim, const struct ax_run *run)
{
	const struct ax_run *other = run_of(sim, run->blocked_by);
	if (run->status == AX_RUN_BLOCKED && run->blocked_by != 0 &&
		(other == NULL || !ax_run_is_terminal(other->status) || other->status == AX_RUN_SUCCESS))
		sim_fail(sim, "C5 run %lld is blocked by run %lld, which is %s", (long long)run->gid,
			(long long)run->blocked_by, other == NULL ? "not there" : ax_run_state_name(other->status));
	other = run->rerun_of != 0 ? run_of(sim, run->rerun_of) : NULL;
	if (other != NULL && other->batch != run->batch)
		sim_fail(
			sim, "C6 run %lld is not of the batch of run %lld", (long long)run->gid, (long long)other->gid);
}

static void check_ends(struct sim *sim, const struct ax_run *ended)
{
	const struct ax_upstream *edge;
	EACH (edge, sim, &ax_upstream_row) {
		const struct ax_task *task = edge->upstream_id == ended->task_id ? task_of(sim, edge->task_id) : NULL;
		if (task == NULL || task->status == AX_TASK_CREATED || task->status == AX_TASK_DELETING)
			continue;
		if (task->def.join_all)
			check_all(sim, ended, task);
		else
			check_any(sim, ended, task);
	}
}

/* C7: a join that waits is not blocked by a rerun that fails after its upstream had succeeded. What it knew before this
 * step is kept from the last one. */
static void check_spared(struct sim *sim, const struct sim_seen *seen, const struct ax_run *run)
{
	const struct ax_run *by = run_of(sim, run->blocked_by);
	if (seen == NULL || seen->status != AX_RUN_PENDING || run->status != AX_RUN_BLOCKED || by == NULL)
		return;
	for (size_t k = 0; k < sim->n_known; k++)
		if (sim->known[k].gid == run->gid && sim->known[k].upstream_id == by->task_id)
			sim_fail(sim, "C7 join %lld is blocked by run %lld of task %lld, which had succeeded",
				(long long)run->gid, (long long)by->gid, (long long)by->task_id);
}

static void keep_known(struct sim *sim)
{
	const struct ax_run_upstream *row;
	size_t n = ax_mem_store_count(sim->mem, &ax_run_upstream_row);
	sim->known = ax_realloc(sim->known, (n + 1) * sizeof(*sim->known));
	sim->n_known = 0;
	EACH (row, sim, &ax_run_upstream_row)
		if (row->upstream_status == AX_RUN_SUCCESS)
			sim->known[sim->n_known++] = *row;
}

/* C8: edges are between tasks that are there. */
static void check_edges(struct sim *sim)
{
	const struct ax_upstream *edge;
	EACH (edge, sim, &ax_upstream_row)
		if (task_of(sim, edge->task_id) == NULL || task_of(sim, edge->upstream_id) == NULL)
			sim_fail(sim, "C8 task %lld names task %lld", (long long)edge->task_id,
				(long long)edge->upstream_id);
}

void sim_check_chains(struct sim *sim)
{
	const struct ax_run *run;
	int at = 0;
	check_events(sim);
	check_edges(sim);
	EACH (run, sim, &ax_run_row) {
		const struct sim_seen *seen = sim_seen_of(sim, run, &at);
		if (seen != NULL && seen->rev == run->rev && seen->status == run->status)
			continue;
		check_names(sim, run);
		check_spared(sim, seen, run);
		if (ax_run_is_terminal(run->status) && !was_over(seen) && run->shard == 0)
			check_ends(sim, run);
		bool waited = seen == NULL || seen->status == AX_RUN_PENDING;
		bool came_due =
			run->status == AX_RUN_WAITING || run->status == AX_RUN_RUNNING; /* a parent runs at once */
		if (is_join(run) && waited && came_due)
			check_due(sim, run);
		if (is_join(run) && seen == NULL)
			check_once(sim, run);
	}
	keep_known(sim);
}
