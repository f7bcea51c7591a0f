#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/queue_feed.h"
#include "app/seat.h"
#include "base/arena.h"
#include "check/check.h"
#include "core/limits.h"
#include "port/row.h"
#include "sim.h"

#define EACH(row, sim, type)                                                                                           \
	for (size_t i_##row = 0; (row = ax_mem_store_at((sim)->mem, type, i_##row)) != NULL; i_##row++)

/* A due time that the queue lost is found in the store so much later: it is late first, a look comes once a second, and
 * the turn that makes it takes its time. */
enum { FOUND_MS = AX_QUEUE_LATE_MS + 1000 + 500 };

/* Its start may have come with its end, in one report. */
static bool has_begun(struct sim *sim, const struct ax_run *run)
{
	const struct ax_attempt *attempt;
	EACH (attempt, sim, &ax_attempt_row)
		if (attempt->gid == run->gid && attempt->fence == run->fence)
			return attempt->start_time != 0;
	return false;
}

/* A lost attempt is one that a worker had accepted, and that the server could watch for a whole lease: neither a claim
 * that nobody accepted nor the server's own absence counts against a run (I11). */
static void check_loss(struct sim *sim, const struct ax_run *run, const struct sim_seen *seen)
{
	const struct sim_server *server = sim->at->server;
	bool one_step = run->rev == seen->rev + 1;
	if (run->lost_times == seen->lost_times || !one_step)
		return;
	if (seen->status == AX_RUN_DISPATCHED && !seen->accepted && seen->bounce_times < AX_BOUNCE_LIMIT &&
		!has_begun(sim, run))
		sim_fail(sim, "I11 run %lld counts a claim as lost that no worker had accepted", (long long)run->gid);
	if (strcmp(run->reason, "lost") == 0 && server->step_then == sim->wall_step &&
		sim->now < server->up_since + AX_LEASE_MS)
		sim_fail(sim, "I11 run %lld was called lost %lld ms after the server's start", (long long)run->gid,
			(long long)(sim->now - server->up_since));
}

static const struct sim_seen *search(const struct sim *sim, int64_t gid)
{
	int low = 0, high = sim->n_seen;
	while (low < high) {
		int middle = (low + high) / 2;
		if (sim->seen[middle].gid < gid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sim->n_seen && sim->seen[low].gid == gid ? &sim->seen[low] : NULL;
}

const struct sim_seen *sim_seen_of(const struct sim *sim, const struct ax_run *run, int *at)
{
	if (at == NULL)
		return search(sim, run->gid);
	while (*at < sim->n_seen && sim->seen[*at].gid < run->gid)
		++*at;
	return *at < sim->n_seen && sim->seen[*at].gid == run->gid ? &sim->seen[*at] : NULL;
}

/* What was made under a number before this server had it is below what the server makes (I10). Who had it before may
 * commit later what it has begun. */
void sim_note_seat(struct sim *sim)
{
	struct sim_server *server = sim->at->server;
	int64_t number = ax_seat_number(&server->seat);
	if (server->gid_number == number)
		return;
	server->gid_number = number;
	server->gid_floor = 0;
	for (int i = 0; i < sim->n_seen; i++)
		if ((sim->seen[i].gid >> 12 & 1023) == number)
			server->gid_floor = sim->seen[i].gid;
}

static void check_gid(struct sim *sim, const struct ax_run *run)
{
	const struct sim_server *server = sim->at->server;
	if ((run->gid >> 12 & 1023) == server->gid_number && run->gid <= server->gid_floor)
		sim_fail(sim, "I10 a run %lld was made below an older one", (long long)run->gid);
}

static bool was_deleting(const struct sim *sim, int64_t task_id)
{
	for (int i = 0; i < sim->n_deleting; i++)
		if (sim->deleting[i] == task_id)
			return true;
	return false;
}

/* A task that is being deleted stays so until it is gone (I9). */
static void check_deleting(struct sim *sim)
{
	const struct ax_task *task;
	int64_t deleting[SIM_DELETING];
	int n = 0;
	EACH (task, sim, &ax_task_row) {
		bool now = task->status == AX_TASK_DELETING;
		if (now && n < SIM_DELETING)
			deleting[n++] = task->id;
		if (!now && was_deleting(sim, task->id))
			sim_fail(sim, "I9 task %lld was being deleted and came back", (long long)task->id);
		if (task->ending && !now)
			sim_fail(sim, "I9 task %lld loses its runs and is not being deleted", (long long)task->id);
	}
	memcpy(sim->deleting, deleting, sizeof(deleting));
	sim->n_deleting = n;
}

/* Terminal states stay (I4), fences only grow (I3), gids only grow (I10). Rows whose revision did not change are as
 * they were. */
static void check_runs(struct sim *sim)
{
	const struct ax_run *run;
	int n = (int)ax_mem_store_count(sim->mem, &ax_run_row), at = 0;
	struct sim_seen *seen_now = sim->spare_seen;
	sim_note_seat(sim);
	if (n > sim->cap_spare) {
		sim->cap_spare = n * 2;
		seen_now = ax_realloc(seen_now, (size_t)sim->cap_spare * sizeof(*seen_now));
	}
	EACH (run, sim, &ax_run_row) {
		const struct sim_seen *seen = sim_seen_of(sim, run, &at);
		struct sim_seen *keep = &seen_now[i_run];
		if (seen != NULL) {
			*keep = *seen;
			if (seen->rev == run->rev && seen->status == run->status)
				continue;
			if (ax_run_is_terminal(seen->status) && seen->status != run->status)
				sim_fail(sim, "I4 run %lld went from %s to %s", (long long)run->gid,
					ax_run_state_name(seen->status), ax_run_state_name(run->status));
			check_loss(sim, run, seen);
			if (run->fence < seen->fence || run->fence > seen->fence + 1)
				sim_fail(sim, "I3 fence of run %lld went from %lld to %lld", (long long)run->gid,
					(long long)seen->fence, (long long)run->fence);
		} else {
			check_gid(sim, run);
			if (was_deleting(sim, run->task_id))
				sim_fail(sim, "I9 run %lld was made although its task is being deleted",
					(long long)run->gid);
		}
		bool due = run->status == AX_RUN_WAITING || run->status == AX_RUN_RUNNING;
		if (due && (seen == NULL || seen->status == AX_RUN_PENDING) && run->parent == 0 &&
			run->trigger_time > sim_wall_now(sim) && !sim->at->stepped)
			sim_fail(sim, "I14 run %lld became due %lld ms early", (long long)run->gid,
				(long long)(run->trigger_time - sim_wall_now(sim)));
		*keep = (struct sim_seen){ run->gid, run->status, run->fence, run->rev, run->lost_times,
			run->bounce_times, run->accepted };
	}
	sim->spare_seen = sim->seen;
	int cap = sim->cap_seen;
	sim->cap_seen = sim->cap_spare;
	sim->cap_spare = cap;
	sim->seen = seen_now;
	sim->n_seen = n;
}

/* In a worker's hands: a parent never is. */
static bool is_held(const struct ax_run *run)
{
	return ax_run_is_given_out(run->status) && !ax_run_is_parent(run);
}

/* The counters of groups and workers are what the runs say (I6). */
/* B139 */
static void check_quotas(struct sim *sim)
{
	const struct ax_group *group;
	const struct ax_worker_group *wg;
	const struct ax_run *run;
	EACH (group, sim, &ax_group_row) {
		int64_t n = 0, n_long = 0;
		EACH (run, sim, &ax_run_row)
			if (is_held(run) && strcmp(run->group_key, group->group_key) == 0) {
				n++;
				n_long += run->lane == AX_RUN_LANE_LONG;
			}
		if (n != group->running || n_long != group->running_long)
			sim_fail(sim, "I6 group %s counts %lld running, there are %lld", group->group_key,
				(long long)group->running, (long long)n);
	}
	EACH (wg, sim, &ax_worker_group_row) {
		int64_t n = 0, n_long = 0;
		EACH (run, sim, &ax_run_row)
			if (is_held(run) && strcmp(run->group_key, wg->group_key) == 0 &&
				strcmp(run->worker, wg->worker) == 0) {
				n++;
				n_long += run->lane == AX_RUN_LANE_LONG;
			}
		if (n != wg->given || n_long != wg->given_long)
			sim_fail(sim, "I6 worker %s counts %lld given in %s, there are %lld", wg->worker,
				(long long)wg->given, wg->group_key, (long long)n);
	}
}

static const struct ax_task *find_task(struct sim *sim, int64_t id);

static const struct ax_task_version *find_version(struct sim *sim, int64_t task_id, int64_t number)
{
	const struct ax_task_version *version;
	EACH (version, sim, &ax_task_version_row)
		if (version->task_id == task_id && version->version == number)
			return version;
	return NULL;
}

/* A task with a version on trial has a canary that runs, and the other way round; both give it the same share of the
 * runs (I16). */
static void check_canaries(struct sim *sim)
{
	const struct ax_task *task;
	const struct ax_canary *canary;
	int64_t tried = 0, running = 0;
	EACH (task, sim, &ax_task_row) {
		tried += task->canary_version != 0;
		if (task->canary_version == 0 && task->canary_percent != 0)
			sim_fail(sim, "I16 task %lld has nothing on trial and gives it %lld %% of its runs",
				(long long)task->id, (long long)task->canary_percent);
	}
	EACH (canary, sim, &ax_canary_row) {
		const struct ax_task *of = find_task(sim, canary->task_id);
		running += canary->state == AX_CANARY_RUNNING && of != NULL;
		if (canary->state == AX_CANARY_RUNNING && of != NULL && of->canary_version != canary->version)
			sim_fail(sim, "I16 task %lld has version %lld on trial, its canary says %lld",
				(long long)of->id, (long long)of->canary_version, (long long)canary->version);
		if (canary->state == AX_CANARY_RUNNING && of != NULL && of->canary_percent != canary->percent)
			sim_fail(sim, "I16 task %lld gives its trial %lld %% of its runs, its canary says %lld %%",
				(long long)of->id, (long long)of->canary_percent, (long long)canary->percent);
	}
	if (tried != running)
		sim_fail(sim, "I16 %lld tasks have a version on trial, %lld canaries run", (long long)tried,
			(long long)running);
}

/* What overran or stalls is said by exactly one open alert, and by none once it is over (I15). */
static void check_watch(struct sim *sim)
{
	const struct ax_run *run;
	const struct ax_alert *alert;
	int64_t late = 0, stalled = 0;
	EACH (run, sim, &ax_run_row) {
		bool live = !ax_run_is_terminal(run->status);
		late += live && run->overran;
		stalled += live && run->stalled;
		if (!live && run->watch_time != 0)
			sim_fail(sim, "I15 run %lld ended and is watched", (long long)run->gid);
		if (run->stalled && run->status != AX_RUN_RUNNING)
			sim_fail(sim, "I15 run %lld is %s and stalled", (long long)run->gid,
				ax_run_state_name(run->status));
	}
	EACH (alert, sim, &ax_alert_row) {
		late -= alert->state == AX_ALERT_OPEN && alert->rule == AX_ALERT_LATE_FINISH;
		stalled -= alert->state == AX_ALERT_OPEN && alert->rule == AX_ALERT_STALLED;
	}
	if (late != 0 || stalled != 0)
		sim_fail(sim, "I15 %lld late and %lld stalled runs have no alert, or alerts no run", (long long)late,
			(long long)stalled);
}

static const struct ax_task *find_task(struct sim *sim, int64_t id)
{
	const struct ax_task *task;
	EACH (task, sim, &ax_task_row)
		if (task->id == id)
			return task;
	return NULL;
}

/* Under `skip` no fire waits for another run, whatever the rule was when it came (I9). */
static void check_held(struct sim *sim)
{
	const struct ax_run *run;
	EACH (run, sim, &ax_run_row) {
		bool fire = run->kind == AX_KIND_SCHEDULE && !run->made_up;
		if (!fire || run->status != AX_RUN_WAITING || run->hold != AX_HOLD_OVERLAP)
			continue;
		const struct ax_task *task = find_task(sim, run->task_id);
		if (task != NULL && task->def.overlap == AX_OVERLAP_SKIP)
			sim_fail(sim, "I9 run %lld waits for others of a task whose overlap is skip",
				(long long)run->gid);
	}
}

static const struct ax_run *find_run(struct sim *sim, int64_t gid)
{
	size_t low = 0, high = ax_mem_store_count(sim->mem, &ax_run_row);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct ax_run *run = ax_mem_store_at(sim->mem, &ax_run_row, middle);
		if (run->gid == gid)
			return run;
		if (run->gid < gid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* What was found later than the window is for a person to decide, and does not run by itself (I2). A fire that was
 * found in the window of the task may be the canary's, which has one of its own and may be promoted before the claim.
 */
static void check_window(struct sim *sim, const struct ax_run *run, const struct ax_task *task)
{
	const struct ax_task_version *version;
	int64_t window_ms = AX_LATE_MS;
	if (run->parent != 0) /* its shards were made when nothing held it any more */
		run = find_run(sim, run->parent);
	EACH (version, sim, &ax_task_version_row)
		if (version->task_id == task->id)
			window_ms = AX_MAX(window_ms, version->def.window_seconds * 1000);
	if (run->kind == AX_KIND_SCHEDULE && !run->made_up && run->version == task->version &&
		run->create_time - run->trigger_time > window_ms)
		sim_fail(sim, "I2 run %lld was made %lld ms late; the window is %lld ms", (long long)run->gid,
			(long long)(run->create_time - run->trigger_time), (long long)window_ms);
}

/* Every run that failed has its failure, and every failure is counted into its group once (I15). No run is old enough
 * to be forgotten here. */
static void check_failures(struct sim *sim)
{
	const struct ax_run *run;
	const struct ax_failure *failure;
	const struct ax_failure_group *group;
	int64_t failed = 0, written = 0, folded = 0, counted = 0;
	EACH (run, sim, &ax_run_row)
		failed += ax_run_has_failed(run);
	EACH (failure, sim, &ax_failure_row) {
		written++;
		folded += failure->folded;
	}
	EACH (group, sim, &ax_failure_group_row)
		counted += group->count;
	if (failed != written)
		sim_fail(sim, "I15 %lld runs failed, %lld failures are written", (long long)failed, (long long)written);
	if (folded != counted)
		sim_fail(sim, "I15 %lld failures are folded, the groups count %lld", (long long)folded,
			(long long)counted);
}

/* A group's spread and its newest failure are those of its failures (I15). In calm times all are folded, once a second.
 */
static void check_failure_groups(struct sim *sim)
{
	const struct ax_failure *failure;
	const struct ax_failure_group *group;
	const struct ax_failure_spread *spread;
	EACH (failure, sim, &ax_failure_row)
		if (!failure->folded && failure->time <= sim->now + sim->wall_step - FOUND_MS)
			sim_fail(sim, "I15 the failure of run %lld was never folded", (long long)failure->gid);
	EACH (group, sim, &ax_failure_group_row) {
		int64_t n = 0, on_worker = 0, by_version = 0, by_worker = 0, last = 0;
		EACH (failure, sim, &ax_failure_row)
			if (failure->folded && failure->fingerprint == group->fingerprint &&
				strcmp(failure->group_key, group->group_key) == 0) {
				n++;
				on_worker += failure->worker[0] != '\0';
				last = AX_MAX(last, failure->time);
			}
		EACH (spread, sim, &ax_failure_spread_row)
			if (spread->failure_id == group->id)
				*(spread->worker[0] == '\0' ? &by_version : &by_worker) += spread->count;
		if (n != group->count || n != by_version || on_worker != by_worker || last != group->last_seen_time)
			sim_fail(sim, "I15 failure group %lld counts %lld (%lld by version, %lld by worker) of %lld",
				(long long)group->id, (long long)group->count, (long long)by_version,
				(long long)by_worker, (long long)n);
	}
}

/* No claim that breaks the overlap rule or the quota, nor of what was asked to stop or is too late: looked at when a
 * run enters a worker's hands. */
static void check_claims(struct sim *sim)
{
	const struct ax_run *run, *other;
	int at = 0;
	EACH (run, sim, &ax_run_row) {
		const struct sim_seen *seen = sim_seen_of(sim, run, &at);
		bool claimed = run->status == AX_RUN_DISPATCHED && (seen == NULL || seen->fence < run->fence);
		const struct ax_task *task = claimed ? find_task(sim, run->task_id) : NULL;
		if (task == NULL)
			continue;
		check_window(sim, run, task);
		const struct ax_task_version *version = find_version(sim, run->task_id, run->version);
		if (version == NULL || strcmp(version->def.executor_key, run->executor_key) != 0)
			sim_fail(sim, "I11 run %lld was claimed for another executor than its version's",
				(long long)run->gid);
		if (task->status == AX_TASK_DELETING)
			sim_fail(
				sim, "I9 run %lld was claimed although its task is being deleted", (long long)run->gid);
		if (run->cancel != AX_CANCEL_NONE)
			sim_fail(sim, "I9 run %lld was claimed although it was asked to stop", (long long)run->gid);
		if (task->status == AX_TASK_PAUSED && run->kind != AX_KIND_MANUAL)
			sim_fail(sim, "I9 run %lld was claimed although its task is paused", (long long)run->gid);
		int64_t active = 0, allowed = task->def.overlap == AX_OVERLAP_ALLOW ? task->def.overlap_max : 1;
		EACH (other, sim, &ax_run_row)
			active += other->task_id == task->id && other->shard == 0 && other->gid != run->gid &&
				other->gid != run->parent &&
				(ax_run_is_given_out(other->status) || other->status == AX_RUN_RETRYING);
		/* an edit may narrow the rule: what has begun by then goes on, with its retries and its shards */
		bool begins = run->shard == 0 && run->fence == 1;
		if (active >= allowed && (begins || task->version == 1))
			sim_fail(sim, "I9 run %lld was claimed beside %lld others of a task that allows %lld",
				(long long)run->gid, (long long)active, (long long)allowed);
		sim_check_claim(sim, run);
	}
}

/* A task follows its calendar as it is: a change reaches all of them at once. */
static void check_calendars(struct sim *sim)
{
	const struct ax_task *task;
	const struct ax_calendar_row *calendar;
	EACH (calendar, sim, &ax_calendar_row_row)
		EACH (task, sim, &ax_task_row)
			if (task->status == AX_TASK_ENABLED && strcmp(task->def.calendar, calendar->name) == 0 &&
				task->calendar_version != calendar->version)
				sim_fail(sim, "I15 task %lld follows version %lld of a calendar at version %lld",
					(long long)task->id, (long long)task->calendar_version,
					(long long)calendar->version);
}

/* What a parent's shards say of it. */
struct family {
	int64_t n, live, asked, least, most, by_state[AX_RUN_MISSED + 1];
	bool twins;
};

static struct family meet_shards(struct sim *sim, const struct ax_run *parent)
{
	struct family f = { .least = INT64_MAX };
	const struct ax_run *shard;
	uint64_t seen[AX_SHARDS_MAX / 64 + 1] = { 0 };
	EACH (shard, sim, &ax_run_row) {
		if (shard->parent != parent->gid)
			continue;
		uint64_t bit = UINT64_C(1) << shard->shard % 64;
		f.twins = f.twins || (seen[shard->shard / 64] & bit) != 0;
		seen[shard->shard / 64] |= bit;
		f.n++;
		f.live += !ax_run_is_terminal(shard->status);
		f.asked += !ax_run_is_terminal(shard->status) && shard->cancel != AX_CANCEL_NONE;
		f.least = AX_MIN(f.least, shard->shard);
		f.most = AX_MAX(f.most, shard->shard);
		f.by_state[shard->status]++;
		if (shard->task_id != parent->task_id || shard->kind != parent->kind ||
			strcmp(shard->fire_key, parent->fire_key) != 0 || shard->version != parent->version ||
			shard->shard_total != parent->shard_total || shard->spread != parent->spread)
			sim_fail(sim, "S1 shard %lld is not of the fire of its parent %lld", (long long)shard->gid,
				(long long)parent->gid);
	}
	return f;
}

/* The state of a parent whose shards are all over (S3). */
static bool ended_rightly(const struct ax_run *parent, const struct family *f)
{
	enum ax_run_state as = f->by_state[AX_RUN_SUCCESS] == f->n ? AX_RUN_SUCCESS
		: parent->cancel != AX_CANCEL_NONE                 ? AX_RUN_CANCELLED
		: f->by_state[AX_RUN_FAILED] > 0                   ? AX_RUN_FAILED
		: f->by_state[AX_RUN_TIMEOUT] > 0                  ? AX_RUN_TIMEOUT
								   : AX_RUN_CANCELLED;
	return parent->status == as;
}

/* A rerun of failed shards repeats those that did not succeed, each under its number and for its worker (S7). */
static void check_repeated(struct sim *sim, const struct ax_run *parent)
{
	const struct ax_run *shard, *old;
	EACH (shard, sim, &ax_run_row) {
		bool found = shard->parent != parent->gid;
		EACH (old, sim, &ax_run_row)
			found = found ||
				(old->parent == parent->rerun_of && old->shard == shard->shard &&
					old->status != AX_RUN_SUCCESS &&
					(!ax_run_is_pinned(old) || strcmp(old->worker, shard->worker) == 0));
		if (!found)
			sim_fail(sim, "S7 shard %lld repeats none that failed", (long long)shard->gid);
	}
}

/* A parent is RUNNING exactly as long as a shard of it lives, has all its shards from the moment it began, and ends as
 * they say (S1 … S3). It is never in a worker's hands, and what it waits for is never a worker's claim (S4). */
static void check_parents(struct sim *sim)
{
	const struct ax_run *run;
	int at = 0;
	EACH (run, sim, &ax_run_row) {
		const struct sim_seen *seen = sim_seen_of(sim, run, &at);
		bool settled = seen != NULL && seen->rev == run->rev && ax_run_is_terminal(seen->status);
		if (!ax_run_is_parent(run) || settled)
			continue;
		struct family f = meet_shards(sim, run);
		bool begun = run->start_time != 0;
		if (run->fence != 0 || run->worker[0] != '\0' || run->status == AX_RUN_DISPATCHED ||
			run->status == AX_RUN_RETRYING || (run->status == AX_RUN_WAITING && run->hold == AX_HOLD_NONE))
			sim_fail(sim, "S4 parent %lld is %s like a run that a worker gets", (long long)run->gid,
				ax_run_state_name(run->status));
		if (begun != (f.n > 0))
			sim_fail(sim, "S1 parent %lld has %lld shards and has%s begun", (long long)run->gid,
				(long long)f.n, begun ? "" : " not");
		if (begun &&
			(f.twins || f.most > run->shard_total || f.least < 1 ||
				(!run->failed_only && f.n != run->shard_total)))
			sim_fail(sim, "S1 parent %lld has %lld shards of %lld, from %lld to %lld", (long long)run->gid,
				(long long)f.n, (long long)run->shard_total, (long long)f.least, (long long)f.most);
		if (begun && (f.live > 0) != (run->status == AX_RUN_RUNNING))
			sim_fail(sim, "S2 parent %lld is %s with %lld live shards", (long long)run->gid,
				ax_run_state_name(run->status), (long long)f.live);
		if (run->cancel != AX_CANCEL_NONE && f.asked < f.live)
			sim_fail(sim, "S6 parent %lld was cancelled, of its %lld live shards %lld were asked to stop",
				(long long)run->gid, (long long)f.live, (long long)f.asked);
		if (begun && run->failed_only)
			check_repeated(sim, run);
		if (begun && f.live == 0 && !ended_rightly(run, &f))
			sim_fail(
				sim, "S3 parent %lld ended as %s", (long long)run->gid, ax_run_state_name(run->status));
	}
}

/* A shard of a broadcast is only ever in the hands of its own worker, which nobody else's is (S5). */
static void check_pins(struct sim *sim)
{
	const struct ax_run *run;
	const struct ax_attempt *attempt;
	EACH (run, sim, &ax_run_row) {
		if (!ax_run_is_pinned(run))
			continue;
		if (run->worker[0] == '\0')
			sim_fail(sim, "S5 shard %lld of a broadcast is for no worker", (long long)run->gid);
		EACH (attempt, sim, &ax_attempt_row)
			if (attempt->gid == run->gid && strcmp(attempt->worker, run->worker) != 0)
				sim_fail(sim, "S5 shard %lld is for %s and was given to %s", (long long)run->gid,
					run->worker, attempt->worker);
	}
}

/* Is this run on an alert of its task, as a failure? That of a muted group is not. */
static bool is_told(struct sim *sim, const struct ax_run *run)
{
	const struct ax_failure *failure;
	EACH (failure, sim, &ax_failure_row)
		if (failure->muted && failure->gid == run->gid)
			return false;
	return true;
}

/* Every run that ended badly and every miss is counted on an alert of its task (I8). None is old enough to be forgotten
 * here. */
static void check_alerts(struct sim *sim)
{
	const struct ax_run *run;
	const struct ax_alert *alert;
	int64_t failed = 0, missed = 0;
	EACH (run, sim, &ax_run_row) {
		bool badly = run->status == AX_RUN_FAILED || run->status == AX_RUN_TIMEOUT;
		failed += run->shard == 0 && badly && is_told(sim, run);
		missed += run->status == AX_RUN_MISSED;
	}
	EACH (alert, sim, &ax_alert_row) {
		failed -= alert->rule == AX_ALERT_FAILED ? alert->count : 0;
		missed -= alert->rule == AX_ALERT_MISSED ? alert->count : 0;
	}
	if (failed != 0 || missed != 0)
		sim_fail(sim, "I8 %lld failed and %lld missed runs are on no alert", (long long)failed,
			(long long)missed);
}

/* The receiver of alerts got one: it may come twice, but the end never before the beginning is done with (I8). */
void sim_check_told(
	struct sim *sim, int64_t delivery_id, int64_t alert_id, int64_t channel_id, enum ax_delivery_kind kind)
{
	const struct ax_delivery *row;
	if (sim->n_told == sim->cap_told) {
		sim->cap_told = sim->cap_told * 2 + 64;
		sim->told = ax_realloc(sim->told, (size_t)sim->cap_told * sizeof(*sim->told));
	}
	sim->told[sim->n_told++] = delivery_id;
	EACH (row, sim, &ax_delivery_row)
		if (kind == AX_TELL_RESOLVED && row->alert_id == alert_id && row->channel_id == channel_id &&
			row->id < delivery_id && row->state == AX_DELIVERY_PENDING)
			sim_fail(sim, "I8 the end of alert %lld was told while delivery %lld waits",
				(long long)alert_id, (long long)row->id);
}

static int64_t times_told(const struct sim *sim, int64_t delivery_id)
{
	int64_t n = 0;
	for (int i = 0; i < sim->n_told; i++)
		n += sim->told[i] == delivery_id;
	return n;
}

static bool has_channel(struct sim *sim, int64_t id)
{
	const struct ax_channel *channel;
	EACH (channel, sim, &ax_channel_row)
		if (channel->id == id)
			return true;
	return false;
}

static bool has_end(struct sim *sim, const struct ax_delivery *beginning)
{
	const struct ax_delivery *row;
	EACH (row, sim, &ax_delivery_row)
		if (row->kind == AX_TELL_RESOLVED && row->alert_id == beginning->alert_id &&
			row->channel_id == beginning->channel_id)
			return true;
	return false;
}

/* What is told of one alert to one channel is told in order: a later one waits for the tries of an earlier one. */
static bool waits_for_earlier(struct sim *sim, const struct ax_delivery *delivery)
{
	const struct ax_delivery *row;
	EACH (row, sim, &ax_delivery_row)
		if (row->id < delivery->id && row->state == AX_DELIVERY_PENDING &&
			row->alert_id == delivery->alert_id && row->channel_id == delivery->channel_id)
			return true;
	return false;
}

/* In calm times the outbox is empty but for what waits for its time; what is called sent arrived, and no more often
 * than it was tried; who knows of a beginning is told of the end (I8). */
static void check_outbox(struct sim *sim)
{
	const struct ax_delivery *row;
	const struct ax_alert *alert;
	int64_t now = sim->now + sim->wall_step;
	EACH (row, sim, &ax_delivery_row) {
		int64_t told = times_told(sim, row->id);
		if (row->state == AX_DELIVERY_PENDING && row->next_time < now - 2 * 60000 &&
			!waits_for_earlier(sim, row))
			sim_fail(sim, "I8 delivery %lld was never sent", (long long)row->id);
		if (row->state == AX_DELIVERY_SENT && told == 0)
			sim_fail(sim, "I8 delivery %lld is called sent and never arrived", (long long)row->id);
		if (told > row->attempts)
			sim_fail(sim, "I8 delivery %lld arrived %lld times after %lld tries", (long long)row->id,
				(long long)told, (long long)row->attempts);
	}
	EACH (alert, sim, &ax_alert_row)
		EACH (row, sim, &ax_delivery_row)
			if (row->alert_id == alert->id && row->kind == AX_TELL_OPEN &&
				has_channel(sim, row->channel_id) &&
				(alert->state == AX_ALERT_RESOLVED && !alert->muted) != has_end(sim, row))
				sim_fail(sim, "I8 the end of alert %lld is told to the wrong ones",
					(long long)alert->id);
}

/* A backfill counts its runs right, and has no more of them live than it may (I16). */
static void check_backfills(struct sim *sim)
{
	const struct ax_backfill *b;
	const struct ax_run *run;
	EACH (b, sim, &ax_backfill_row) {
		int64_t made = 0, done = 0, ended = 0;
		EACH (run, sim, &ax_run_row)
			if (run->backfill_id == b->id && run->shard == 0) {
				made++;
				done += run->status == AX_RUN_SUCCESS;
				ended += ax_run_is_terminal(run->status);
			}
		if (made != b->made || done != b->done || ended != b->done + b->failed)
			sim_fail(sim,
				"I16 backfill %lld counts %lld made, %lld done, %lld failed; there are %lld, %lld, "
				"%lld",
				(long long)b->id, (long long)b->made, (long long)b->done, (long long)b->failed,
				(long long)made, (long long)done, (long long)(ended - done));
		if (made - ended > b->max_live)
			sim_fail(sim, "I16 backfill %lld has %lld runs live; %lld are allowed", (long long)b->id,
				(long long)(made - ended), (long long)b->max_live);
		if (b->status == AX_BACKFILL_DONE && made != ended)
			sim_fail(sim, "I16 backfill %lld is done, but not its runs", (long long)b->id);
	}
}

void sim_check_step(struct sim *sim)
{
	/* who has which number and chore is nothing that the rows below hang on */
	uint64_t changes = ax_mem_store_changes(sim->mem, NULL) - ax_mem_store_changes(sim->mem, &ax_lease_row) -
		ax_mem_store_changes(sim->mem, &ax_server_row_row);
	if (changes == sim->changes_seen)
		return;
	sim->changes_seen = changes;
	check_quotas(sim);
	check_claims(sim);
	check_failures(sim);
	check_alerts(sim);
	check_watch(sim);
	check_held(sim);
	check_canaries(sim);
	check_parents(sim);
	sim_check_chains(sim);
	check_runs(sim);
	check_deleting(sim);
	check_calendars(sim);
	check_backfills(sim);
}

/* One fence, one execution: false when it is used up. */
static bool use_fence(struct sim *sim, int64_t gid, int64_t fence)
{
	for (int i = 0; i < sim->n_used; i++)
		if (sim->used[i].gid == gid && sim->used[i].fence == fence)
			return false;
	if (sim->n_used == sim->cap_used) {
		sim->cap_used = sim->cap_used * 2 + 64;
		sim->used = ax_realloc(sim->used, (size_t)sim->cap_used * sizeof(*sim->used));
	}
	sim->used[sim->n_used].gid = gid;
	sim->used[sim->n_used++].fence = fence;
	return true;
}

void sim_check_begin(struct sim *sim, const struct sim_worker *worker, const struct sim_attempt *attempt)
{
	if (!use_fence(sim, attempt->gid, attempt->fence))
		sim_fail(sim, "I3 %s began run %lld under fence %lld, which was begun or given back", worker->name,
			(long long)attempt->gid, (long long)attempt->fence);
	sim->runs_begun++;
}

void sim_check_unanswered(struct sim *sim, const struct sim_worker *worker, int64_t gid, int64_t fence)
{
	bool held = false;
	for (int i = 0; i < worker->n_held; i++)
		held = held || (worker->held[i].gid == gid && worker->held[i].fence == fence);
	if (held || !use_fence(sim, gid, fence))
		sim_fail(sim, "I3 run %lld fence %lld was given back as if it had not reached %s", (long long)gid,
			(long long)fence, worker->name);
}

void sim_check_acked(struct sim *sim, const struct sim_result *result)
{
	if (sim->n_acked == sim->cap_acked) {
		sim->cap_acked = sim->cap_acked * 2 + 64;
		sim->acked = ax_realloc(sim->acked, (size_t)sim->cap_acked * sizeof(*sim->acked));
	}
	sim->acked[sim->n_acked++] = *result;
}

/* A result that the server confirmed is in the tables: it ended the run, or stands beside it (I5). */
static void check_acked(struct sim *sim)
{
	const struct ax_run *run;
	const struct ax_attempt *attempt;
	for (int i = 0; i < sim->n_acked; i++) {
		bool kept = false;
		EACH (run, sim, &ax_run_row)
			kept = kept ||
				(run->gid == sim->acked[i].gid && run->fence == sim->acked[i].fence &&
					ax_run_is_terminal(run->status) && run->ended_by_worker);
		EACH (attempt, sim, &ax_attempt_row)
			kept = kept ||
				(attempt->gid == sim->acked[i].gid && attempt->fence == sim->acked[i].fence &&
					(attempt->outcome <= AX_OUTCOME_REFUSED || attempt->late_time != 0 ||
						sim->acked[i].outcome == AX_OUTCOME_CANCELLED));
		if (!kept)
			sim_fail(sim, "I5 the confirmed result of run %lld fence %lld is nowhere",
				(long long)sim->acked[i].gid, (long long)sim->acked[i].fence);
	}
}

/* Every attempt is paid for by a retry or a loss, and neither goes beyond the definition (I11). */
static void check_attempts(struct sim *sim)
{
	const struct ax_run *run;
	const struct ax_task_version *version;
	EACH (run, sim, &ax_run_row) {
		EACH (version, sim, &ax_task_version_row) {
			if (version->task_id != run->task_id || version->version != run->version)
				continue;
			if (run->retry_times > version->def.retry_count || run->lost_times > version->def.lost_limit)
				sim_fail(sim, "I11 run %lld made %lld retries and was lost %lld times",
					(long long)run->gid, (long long)run->retry_times, (long long)run->lost_times);
		}
	}
}

/* Does a run wait for the overlap rule while no other run of its task is active? (B099) */
static bool held_by_nobody(struct sim *sim, const struct ax_run *run)
{
	const struct ax_run *other;
	EACH (other, sim, &ax_run_row)
		if (other->task_id == run->task_id && !ax_run_is_terminal(other->status) &&
			other->status != AX_RUN_PENDING && other->hold != AX_HOLD_OVERLAP)
			return false;
	return true;
}

/* In calm times nothing is left over: no run in a worker's hands for long, none waiting that could be claimed, none
 * past its deadline for longer than a look for what is late takes (L1, L2). What waits for a retry or a due time may
 * wait on: the clock may have gone back. */
static void check_rest(struct sim *sim)
{
	const struct ax_run *run;
	int64_t now = sim->now + sim->wall_step;
	EACH (run, sim, &ax_run_row) {
		bool waits = run->status == AX_RUN_RETRYING || run->status == AX_RUN_PENDING;
		bool held =
			run->status == AX_RUN_WAITING && (run->hold == AX_HOLD_OVERLAP || run->hold == AX_HOLD_PAUSED);
		bool with_shards = ax_run_is_parent(run) && run->status == AX_RUN_RUNNING; /* S2 looks at it */
		bool may_last = ax_run_is_given_out(run->status) && run->deadline_time > now - FOUND_MS &&
			run->dispatch_time > now - AX_LEASE_MS - SIM_LASTS_MS;
		if (ax_run_is_terminal(run->status) || (waits && run->deadline_time > now - FOUND_MS) || with_shards ||
			may_last)
			continue;
		if (!held && run->status == AX_RUN_WAITING && sim_may_wait_for_ever(sim, run))
			continue;
		if (!held)
			sim_fail(sim, "L1 run %lld of task %lld is still %s (deadline %lld ms ago)",
				(long long)run->gid, (long long)run->task_id, ax_run_state_name(run->status),
				(long long)(now - run->deadline_time));
		else if (run->hold == AX_HOLD_OVERLAP && held_by_nobody(sim, run))
			sim_fail(sim, "L2 run %lld of task %lld waits for others that are not there",
				(long long)run->gid, (long long)run->task_id);
	}
}

static struct ax_check_epoch check_epoch(struct sim *sim, const struct ax_epoch *epoch)
{
	struct ax_check_epoch made = {
		.from_time = epoch->from_time,
		.enabled = epoch->enabled,
		.cron_expr = epoch->cron_expr,
		.dialect = epoch->dialect,
		.time_zone = epoch->time_zone,
		.anchor_time = epoch->anchor_time,
		.calendar_excludes = epoch->calendar_mode == AX_CALENDAR_EXCLUDE,
		.valid_from = epoch->valid_from,
		.valid_until = epoch->valid_until,
		.jitter_ms = epoch->jitter_ms,
	};
	const struct ax_calendar_version *version;
	if (epoch->calendar[0] == '\0')
		return made;
	struct ax_check_calendar *calendar = sim_keep(sim, sizeof(*calendar));
	made.calendar = calendar;
	EACH (version, sim, &ax_calendar_version_row)
		if (strcmp(version->name, epoch->calendar) == 0 && version->version == epoch->calendar_version)
			*calendar = (struct ax_check_calendar){ version->week, version->days };
	return made;
}

/* Every fire that the schedules demanded is accounted for, by code that shares nothing with the scheduler (I1, I2). */
static void check_fires(struct sim *sim)
{
	const struct ax_epoch *epoch;
	const struct ax_run *run;
	size_t n_epochs = ax_mem_store_count(sim->mem, &ax_epoch_row),
	       n_runs = ax_mem_store_count(sim->mem, &ax_run_row);
	struct ax_check_epoch *epochs = ax_malloc((n_epochs + 1) * sizeof(*epochs));
	struct ax_check_run *runs = ax_malloc((n_runs + 1) * sizeof(*runs));
	struct ax_check_audit *audit = ax_check_audit_new(NULL, 0, sim->now + sim->wall_step - 10000);
	int64_t last_id = 0;
	EACH (epoch, sim, &ax_epoch_row)
		last_id = AX_MAX(last_id, epoch->task_id);
	for (int64_t id = 1; id <= last_id; id++) {
		struct ax_check_task task = {
			.id = id, .name = "", .epochs = epochs, .runs = runs, .next_trigger_time = -1
		};
		EACH (epoch, sim, &ax_epoch_row)
			if (epoch->task_id == id)
				epochs[task.n_epochs++] = check_epoch(sim, epoch);
		EACH (run, sim, &ax_run_row)
			if (run->task_id == id)
				runs[task.n_runs++] =
					(struct ax_check_run){ run->gid, (int)run->kind, run->fire_key, run->shard,
						(int)run->status, run->trigger_time, run->end_time, run->covers_from,
						run->covers_to, run->covers_count, run->made_up, run->rerun_of };
		ax_check_audit_task(audit, &task);
	}
	if (!ax_check_is_clean(ax_check_audit_total(audit))) {
		char *json = ax_check_audit_json(audit);
		sim_fail(sim, "I2 the audit finds %.300s", json);
		if (sim->trace)
			printf("%s\n", json);
		free(json);
	}
	ax_check_audit_free(audit);
	free(epochs);
	free(runs);
}

void sim_check_end(struct sim *sim)
{
	check_acked(sim);
	check_attempts(sim);
	check_pins(sim);
	check_rest(sim);
	sim_check_pile(sim);
	check_fires(sim);
	check_failure_groups(sim);
	check_outbox(sim);
	check_calendars(sim);
}
