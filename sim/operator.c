#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/backfill.h"
#include "app/calendars.h"
#include "app/failure_acts.h"
#include "app/canary.h"
#include "app/groups.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "app/workers.h"
#include "base/rfc3339.h"
#include "core/limits.h"
#include "core/task_def.h"
#include "port/row.h"
#include "sim.h"

static void act(struct sim *sim, void *arg);

AX_PRINTF(2, 3)
static const char *text(struct sim *sim, const char *fmt, ...)
{
	char *s = sim_keep(sim, 64);
	va_list args;
	va_start(args, fmt);
	vsnprintf(s, 64, fmt, args);
	va_end(args);
	return s;
}

static const char *draw_schedule(struct sim *sim)
{
	switch (sim_between(sim, 0, 8)) {
	case 0:
		return text(sim, "*/%lld * * * * ?", (long long)sim_between(sim, 1, 20));
	case 1:
		return text(sim, "@every %llds", (long long)sim_between(sim, 1, 90));
	case 2:
		return text(sim, "@after %llds", (long long)sim_between(sim, 1, 60));
	case 3:
		return text(sim, "*/%lld * * * *", (long long)sim_between(sim, 1, 5));
	case 4:
		return "* * * * *";
	case 5:
		return text(sim, "%lld 0/1 * * * ?", (long long)sim_between(sim, 0, 59));
	case 6:
		return "@hourly";
	case 7: {
		char at[AX_RFC3339_SIZE], *s = sim_keep(sim, 64);
		ax_rfc3339_format((sim_wall_now(sim) + sim_between(sim, 1000, 300000)) / 1000 * 1000, at);
		snprintf(s, 64, "@at %s", at);
		return s;
	}
	default:
		return "0 0 * * *";
	}
}

static const char *draw_calendar_name(struct sim *sim)
{
	return sim_between(sim, 0, 1) == 0 ? "c0" : "c1";
}

/* What narrows a schedule: a calendar, a window of validity; and what spreads it. Not all of it can be had with every
 * schedule: then the service refuses. */
static void draw_rule(struct sim *sim, struct ax_task_def *def)
{
	if (sim_between(sim, 0, 2) == 0)
		def->calendar = draw_calendar_name(sim);
	def->calendar_mode = (enum ax_calendar_mode)sim_between(sim, 0, 1);
	if (sim_between(sim, 0, 5) == 0)
		def->valid_from = sim_wall_now(sim) + sim_between(sim, -60000, 60000);
	if (sim_between(sim, 0, 5) == 0)
		def->valid_until = sim_wall_now(sim) + sim_between(sim, 1000, 300000);
	if (sim_between(sim, 0, 2) == 0)
		def->jitter_seconds = sim_between(sim, 1, sim_between(sim, 0, 1) == 0 ? 10 : 200);
}

/* A calendar that lets today in or not, and the days around it: midnight may come. */
static void put_calendar(struct sim *sim)
{
	struct ax_ctx *ctx = &sim->at->ctx;
	struct ax_calendar_day days[3];
	struct ax_calendar_def def = { .name = draw_calendar_name(sim), .title = "" };
	struct ax_calendar_row made;
	const struct ax_calendar_row *row;
	int64_t version = 0;
	for (int64_t day = -1; day <= 1; day++)
		if (sim_between(sim, 0, 2) > 0)
			days[def.content.n++] = (struct ax_calendar_day){ sim_wall_now(sim) / 86400000 + day,
				sim_between(sim, 0, 3) > 0, "" };
	def.content.days = days;
	def.content.week = (unsigned)sim_between(sim, 0, AX_CALENDAR_WEEK);
	for (size_t i = 0; (row = ax_mem_store_at(sim->mem, &ax_calendar_row_row, i)) != NULL; i++)
		if (strcmp(row->name, def.name) == 0)
			version = row->version;
	if (version != 0 && sim_between(sim, 0, 9) == 0)
		(void)!ax_calendar_delete(ctx, def.name, NULL);
	else if (ax_calendar_put(ctx, &def, version, "sim", &made, NULL) == AX_OK)
		sim_trace(sim, "calendar %s is at version %lld", def.name, (long long)made.version);
}

/* Fires of the last minutes, some of which ran, were counted on others, or came while the task was paused. */
static void start_backfill(struct sim *sim, int64_t task_id)
{
	struct ax_backfill made;
	struct ax_backfill_ask ask = {
		.task_id = task_id,
		.to_time = sim_wall_now(sim) + sim_between(sim, -300000, 60000),
		.max_live = sim_between(sim, 1, 4),
		.newest_first = sim_between(sim, 0, 1) == 0,
		.dry_run = sim_between(sim, 0, 7) == 0,
	};
	ask.from_time = ask.to_time - sim_between(sim, 1, 600000);
	if (ax_backfill_create(&sim->at->ctx, &ask, "sim", &made, NULL) == AX_OK)
		sim_trace(sim, "backfill %lld of task %lld: %lld fires, %lld made", (long long)made.id,
			(long long)task_id, (long long)made.total, (long long)made.made);
}

/* Takes out what a definition of its type may not say. */
static void put_right(struct ax_task_def *def)
{
	if (def->task_type != AX_TASK_SCHEDULED || def->upstreams[0] != '\0') {
		def->cron_expr = def->calendar = "";
		def->valid_from = def->valid_until = def->jitter_seconds = 0;
	}
	if (def->task_type != AX_TASK_EVENT) {
		def->event_name = "";
		def->event_condition = "null";
	} else if (def->event_name[0] == '\0') {
		def->event_name = "e0";
	}
}

static struct ax_task_def draw_def(struct sim *sim, const char *name)
{
	bool delay = sim_between(sim, 0, 5) == 0, event = !delay && sim_between(sim, 0, 5) == 0;
	struct ax_task_def def = ax_def_preset();
	def.group_key = sim_between(sim, 0, 3) == 0 ? "other" : "default";
	def.task_name = name;
	def.task_type = delay ? AX_TASK_DELAY : event ? AX_TASK_EVENT : AX_TASK_SCHEDULED;
	def.cron_expr = draw_schedule(sim);
	if (sim_between(sim, 0, 1) == 0)
		draw_rule(sim, &def);
	sim_draw_chain(sim, &def);
	put_right(&def);
	def.executor_key = sim_between(sim, 0, 1) == 0 ? "exec" : "http";
	def.timeout_seconds = sim_between(sim, 0, 5) == 0 ? 0 : sim_between(sim, 1, 60);
	def.grace_seconds = sim_between(sim, 1, 5);
	def.retry_count = sim_between(sim, 0, 3);
	def.retry_backoff = (enum ax_backoff)sim_between(sim, 0, 2);
	def.retry_delay_seconds = sim_between(sim, 1, 120);
	def.retry_cap_seconds = sim_between(sim, 1, 600);
	def.retry_delays = "5 0 60";
	def.retry_jitter_percent = sim_between(sim, 0, 100);
	def.retry_on = sim_between(sim, 0, 3) == 0 ? "0-1" : "";
	def.expected_seconds = sim_between(sim, 0, 2) == 0 ? sim_between(sim, 1, 30) : 0;
	def.must_end_by = sim_between(sim, 0, 2) == 0 ? text(sim, "00:%02lld", (long long)sim_between(sim, 0, 59)) : "";
	def.stall_seconds = sim_between(sim, 0, 2) == 0 ? sim_between(sim, 1, 60) : 0;
	def.late_seconds = sim_between(sim, 0, 2) == 0 ? sim_between(sim, 1, 60) : 0;
	def.absence_seconds = sim_between(sim, 0, 2) == 0 ? sim_between(sim, 1, 600) : 0;
	def.priority = sim_between(sim, 1, 10);
	sim_draw_route(sim, &def);
	def.overlap = (enum ax_overlap)sim_between(sim, 0, 3);
	def.overlap_max = sim_between(sim, 1, 4);
	def.misfire = (enum ax_misfire)sim_between(sim, 0, 2);
	def.window_seconds = sim_between(sim, 0, 2) == 0 ? 600 : sim_between(sim, 0, 120);
	def.lost_fails = sim_between(sim, 0, 4) == 0;
	def.lost_limit = sim_between(sim, 0, 3);
	def.unreachable_continues = sim_between(sim, 0, 7) == 0;
	def.start_confirmed = sim_between(sim, 0, 3) == 0;
	int64_t spread = sim_between(sim, 0, 7);
	def.shard_count = spread <= 1 ? sim_between(sim, 2, 5) : 0;
	def.broadcast = spread == 2;
	if (sim->narrow) { /* one run at a time: whoever comes second must see the first */
		def.overlap = (enum ax_overlap)sim_between(sim, AX_OVERLAP_QUEUE, AX_OVERLAP_REPLACE);
		def.overlap_max = 1;
	}
	return def;
}

static void create(struct sim *sim)
{
	struct ax_task_def def = draw_def(sim, text(sim, "task-%lld", (long long)sim_random(sim) & 0xffffff));
	enum ax_task_status status = AX_TASK_ENABLED;
	struct ax_task task;
	int failed;
	struct ax_err err = { 0 };
	if (ax_tasks_create(&sim->at->ctx, &def, &status, 1, "sim", &task, &failed, &err) == AX_OK)
		sim_trace(sim, "task %lld is %s overlap %d misfire %d window %lld", (long long)task.id, def.cron_expr,
			def.overlap, def.misfire, (long long)def.window_seconds);
}

/* A copy of a committed row of the table, drawn at random; NULL when it is empty. */
static const void *draw_row(struct sim *sim, const struct ax_row_type *type, bool newest)
{
	size_t n = ax_mem_store_count(sim->mem, type);
	if (n == 0)
		return NULL;
	size_t back = (size_t)sim_between(sim, 1, newest && n > 30 ? 30 : (int64_t)n);
	return sim_copy(sim, type, ax_mem_store_at(sim->mem, type, n - back));
}

static void edit(struct sim *sim, const struct ax_task *task)
{
	struct ax_task_def def = draw_def(sim, task->def.task_name);
	def.group_key = task->def.group_key;
	def.task_type = task->def.task_type;
	if (def.task_type == AX_TASK_SCHEDULED && def.cron_expr[0] == '\0')
		def.cron_expr = "* * * * *";
	put_right(&def);
	struct ax_task changed;
	int64_t id = task->id; /* the row is gone once it was replaced */
	if (ax_task_update(&sim->at->ctx, id, task->version, &def, "sim", &changed, NULL) == AX_OK)
		sim_trace(sim, "task %lld is now %s", (long long)id, def.cron_expr);
}

static void begin_canary(struct sim *sim, const struct ax_task *task)
{
	struct ax_canary canary;
	struct ax_canary ask = {
		.task_id = task->id,
		.base_version = task->version,
		.percent = sim_between(sim, 1, 100),
		.automatic = sim_between(sim, 0, 3) > 0,
		.min_runs = sim_between(sim, 1, 4),
		.max_failure_points = sim_between(sim, 0, 50),
		.max_p95_percent = sim_between(sim, 0, 300),
	};
	struct ax_task_def trial = task->def;
	trial.executor_key = sim_between(sim, 0, 1) == 0 ? "exec" : "http";
	trial.timeout_seconds = sim_between(sim, 1, 60);
	trial.retry_count = sim_between(sim, 0, 3);
	if (ax_canary_begin(&sim->at->ctx, &ask, &trial, "sim", &canary, NULL) == AX_OK)
		sim_trace(
			sim, "task %lld has a canary of %lld %%", (long long)canary.task_id, (long long)canary.percent);
}

/* A trial of the task's definition begins, unless one runs; or any canary is given another share, or decided, unless it
 * has ended. */
static void try_canary(struct sim *sim, const struct ax_task *task)
{
	struct ax_ctx *ctx = &sim->at->ctx;
	const struct ax_canary *row = draw_row(sim, &ax_canary_row, false);
	struct ax_canary canary;
	int64_t dice = sim_between(sim, 0, 3), percent = sim_between(sim, 1, 100);
	if (row == NULL || dice < 2) {
		begin_canary(sim, task);
	} else if (dice == 2) {
		if (ax_canary_set(ctx, row->task_id, percent, sim_between(sim, 0, 3) > 0, &canary, NULL) == AX_OK)
			sim_trace(sim, "task %lld has a canary of %lld %% now", (long long)canary.task_id,
				(long long)percent);
	} else {
		bool promote = sim_between(sim, 0, 1) == 0;
		(void)!ax_canary_decide(ctx, row->task_id, promote ? AX_CANARY_PROMOTED : AX_CANARY_ROLLED_BACK, "",
			"sim", &canary, NULL);
	}
}

static bool is_at_work(struct sim *sim, int64_t task_id)
{
	const struct ax_run *run;
	for (size_t i = 0; (run = ax_mem_store_at(sim->mem, &ax_run_row, i)) != NULL; i++)
		if (run->task_id == task_id && ax_run_is_given_out(run->status))
			return true;
	return false;
}

static void act_on_task(struct sim *sim, const struct ax_task *task)
{
	struct ax_ctx *ctx = &sim->at->ctx;
	struct ax_task changed;
	struct ax_runs given;
	struct ax_run run;
	bool existed;
	struct ax_trigger trigger = { .task_id = task->id, .params = "", .key = "" };
	bool pause = task->status == AX_TASK_ENABLED, going = task->status == AX_TASK_DELETING;
	if ((going || is_at_work(sim, task->id)) && sim_between(sim, 0, 3) == 0) {
		(void)!ax_task_delete(ctx, task->id, true, "sim", NULL);
		return;
	}
	if (sim_between(sim, 0, 7) == 0) {
		start_backfill(sim, task->id);
		return;
	}
	switch (sim_between(sim, 0, 11)) {
	case 10:
	case 11:
		try_canary(sim, task);
		break;
	case 0:
		if (sim_between(sim, 0, 3) == 0 &&
			ax_task_delete(ctx, task->id, sim_between(sim, 0, 1) == 0, "sim", NULL) == AX_OK)
			sim_trace(sim, "a task was deleted");
		break;
	case 1:
	case 2:
	case 3:
		(void)!ax_task_set_status(
			ctx, task->id, pause ? AX_TASK_PAUSED : AX_TASK_ENABLED, "sim", &changed, &given, NULL);
		break;
	case 4:
	case 5:
		edit(sim, task);
		break;
	default:
		if (task->def.task_type == AX_TASK_DELAY)
			trigger.run_at = sim_wall_now(sim) + sim_between(sim, -1000, 60000);
		if (sim->narrow && trigger.run_at != 0) /* many are due at one instant */
			trigger.run_at += 10000 - trigger.run_at % 10000;
		if (sim_between(sim, 0, 2) == 0)
			trigger.key = text(sim, "key-%lld", (long long)sim_between(sim, 0, 20));
		if (sim_between(sim, 0, 1) == 0)
			trigger.params = text(sim, "{\"k\":%lld}", (long long)sim_between(sim, 0, 9));
		(void)!ax_task_trigger(ctx, &trigger, &run, &existed, NULL);
	}
}

static void act_on_run(struct sim *sim, int64_t gid)
{
	struct ax_ctx *ctx = &sim->at->ctx;
	struct ax_run run;
	struct ax_runs made;
	switch (sim_between(sim, 0, 5)) {
	case 5:
		(void)!ax_run_postpone(ctx, gid, sim_wall_now(sim) + sim_between(sim, -1000, 60000), NULL, &run, NULL);
		break;
	case 0:
	case 1:
		(void)!ax_run_cancel(ctx, gid, "sim", &run, NULL);
		break;
	case 2:
		(void)!ax_run_retry_now(ctx, gid, &run, NULL);
		break;
	case 3:
		(void)!ax_run_rerun(ctx, gid, "", sim_between(sim, 0, 1) == 0, &run, NULL);
		break;
	default:
		(void)!ax_run_resolve_missed(
			ctx, gid, (enum ax_missed_action)sim_between(sim, 0, 2), "", &run, &made, NULL);
	}
}

static void act_on_group(struct sim *sim, const struct ax_group *row)
{
	struct ax_group group = *row, changed;
	group.dispatch_quota = sim_between(sim, 1, 20);
	group.late_seconds = sim_between(sim, 0, 30);
	group.backlog_limit = sim_between(sim, 0, 3);
	group.backlog_seconds = sim_between(sim, 10, 60);
	group.contacts = sim_draw_contacts(sim);
	group.paused = !group.paused && sim_between(sim, 0, 3) == 0;
	sim_draw_room(sim, &group);
	(void)!ax_group_update(&sim->at->ctx, &group, &changed, NULL);
}

static void disable(struct sim *sim, struct sim_worker *w, bool on)
{
	w->disabled = false; /* whatever comes of it, unless it is heard */
	if (ax_worker_disable(&sim->at->ctx, w->name, on, NULL) == AX_OK && !sim->at->server->crash)
		w->disabled = on;
}

static void act_on_worker(struct sim *sim, struct sim_worker *w)
{
	bool on = sim_between(sim, 0, 2) == 0;
	if (sim_between(sim, 0, 1) == 0)
		(void)!ax_worker_drain(&sim->at->ctx, w->name, on, NULL);
	else
		disable(sim, w, on);
}

static void act_on_failures(struct sim *sim, const struct ax_failure_group *row)
{
	struct ax_failure_retry retry = { .id = row->id, .limit = sim_between(sim, 1, 5), .per_minute = 60 };
	struct ax_failure_act act = {
		.kind = (enum ax_failure_act_kind)sim_between(sim, 0, 3),
		.id = row->id,
		.by = "sim",
		.reason = "",
		.until_time = sim_wall_now(sim) + sim_between(sim, 1, 120000),
		.note = "a note",
	};
	struct ax_failure_group group;
	if (sim_between(sim, 0, 1) == 0)
		(void)!ax_failure_retry_all(&sim->at->ctx, &retry, NULL);
	else
		(void)!ax_failure_do(&sim->at->ctx, &act, &group, NULL);
}

static void do_act(struct sim *sim, void *arg)
{
	(void)arg;
	const struct ax_task *task = draw_row(sim, &ax_task_row, false);
	const struct ax_run *run = draw_row(sim, &ax_run_row, true);
	const struct ax_group *group = draw_row(sim, &ax_group_row, false);
	const struct ax_failure_group *failures = draw_row(sim, &ax_failure_group_row, false);
	const struct ax_backfill *backfill = draw_row(sim, &ax_backfill_row, true);
	struct ax_backfill cancelled;
	int64_t dice = sim_between(sim, 0, 28);
	if (task == NULL ||
		(dice < 2 && ax_mem_store_count(sim->mem, &ax_task_row) < (sim->narrow ? 6 : SIM_TASKS_MAX)))
		create(sim);
	else if (dice < 10)
		act_on_task(sim, task);
	else if (dice < 17 && run != NULL)
		act_on_run(sim, run->gid);
	else if (dice < 19 && group != NULL)
		act_on_group(sim, group);
	else if (dice < 20 && failures != NULL)
		act_on_failures(sim, failures);
	else if (dice < 21 && backfill != NULL)
		(void)!ax_backfill_cancel(&sim->at->ctx, backfill->id, &cancelled, NULL);
	else if (dice < 23)
		put_calendar(sim);
	else if (dice < 25)
		sim_act_on_alerts(sim);
	else if (dice < 28)
		sim_send_event(sim);
	else
		act_on_worker(sim, &sim->workers[sim_between(sim, 0, SIM_WORKERS - 1)]);
}

struct meeting {
	int64_t task_id;
};

/* One of several things that happen to a task at once; one of them may be that a run of it is touched. */
static void do_meet(struct sim *sim, void *arg)
{
	const struct meeting *meeting = arg;
	const struct ax_task *task;
	const struct ax_run *run = NULL, *row;
	if (sim_between(sim, 0, 4) == 0) {
		sim_send_event(sim);
		return;
	}
	for (size_t i = 0; (row = ax_mem_store_at(sim->mem, &ax_run_row, i)) != NULL; i++)
		if (row->task_id == meeting->task_id)
			run = row; /* the newest */
	if (run != NULL && sim_between(sim, 0, 2) == 0) {
		act_on_run(sim, run->gid);
		return;
	}
	for (size_t i = 0; (task = ax_mem_store_at(sim->mem, &ax_task_row, i)) != NULL; i++)
		if (task->id == meeting->task_id) {
			act_on_task(sim, sim_copy(sim, &ax_task_row, task));
			return;
		}
}

/* People meet at a task, each at a server. */
static void meet(struct sim *sim)
{
	size_t n = ax_mem_store_count(sim->mem, &ax_task_row);
	if (n == 0)
		return;
	const struct ax_task *task =
		ax_mem_store_at(sim->mem, &ax_task_row, (size_t)sim_between(sim, 0, (int64_t)n - 1));
	struct meeting *meeting = sim_keep(sim, sizeof(*meeting));
	meeting->task_id = task->id;
	for (int i = 0; i < sim->n_servers; i++)
		if (sim_server_ready(&sim->servers[i]))
			sim_call(sim, &sim->servers[i], do_meet, meeting);
}

static void act(struct sim *sim, void *arg)
{
	if (sim->calm)
		return;
	sim_after(sim, sim_between(sim, sim->profile.act_ms / 60, sim->profile.act_ms), act, arg);
	if (sim_chance(sim, sim->profile.clock_step)) {
		sim->wall_step += sim_between(sim, 0, 2) == 0 ? sim_between(sim, -3600000, 3600000)
							      : sim_between(sim, -5000, 5000);
		sim_trace(sim, "the clock steps to %lld ms off", (long long)sim->wall_step);
		sim_servers_clock_set(sim);
	}
	struct sim_server *server = sim_any_server(sim);
	if (server != NULL)
		sim_call(sim, server, do_act, NULL);
	if (sim->narrow)
		meet(sim);
}

/* ---- a task with more runs than one transaction cancels */

enum { PILE_MS = 20000 };

static bool pile_is_there(struct sim *sim)
{
	const struct ax_task *task;
	for (size_t i = 0; (task = ax_mem_store_at(sim->mem, &ax_task_row, i)) != NULL; i++)
		if (task->id == sim->pile)
			return true;
	return false;
}

static void do_pile_up(struct sim *sim, void *arg)
{
	(void)arg;
	struct ax_ctx *ctx = &sim->at->ctx;
	struct ax_task_def def = draw_def(sim, "pile");
	enum ax_task_status enabled = AX_TASK_ENABLED;
	struct ax_task task;
	int failed;
	def.task_type = AX_TASK_DELAY;
	def.upstreams = "";
	if (sim_between(sim, 0, 1) == 0) { /* more than one batch of them waits for nothing but a worker */
		def.overlap = AX_OVERLAP_ALLOW;
		def.overlap_max = 2 * AX_BATCH + 100;
		def.route_tags = ax_def_preset().route_tags;
		def.shard_count = 0;
		def.broadcast = false;
	}
	put_right(&def);
	if (ax_tasks_create(ctx, &def, &enabled, 1, "sim", &task, &failed, NULL) == AX_OK)
		sim->pile = task.id;
	int64_t n = AX_BATCH + sim_between(sim, 1, 300), due = sim_wall_now(sim);
	for (int64_t i = 0; i < n && sim->pile != 0 && !sim->at->server->crash; i++) {
		struct ax_trigger trigger = {
			.task_id = sim->pile, .params = "", .key = "", .run_at = due + sim_between(sim, 0, PILE_MS)
		};
		struct ax_run run;
		bool existed;
		(void)!ax_task_trigger(ctx, &trigger, &run, &existed, NULL);
	}
	sim_trace(sim, "task %lld has a pile of runs", (long long)sim->pile);
}

/* The delete goes on by itself: these must end. */
static void note_doomed(struct sim *sim)
{
	const struct ax_run *run;
	size_t n = ax_mem_store_count(sim->mem, &ax_run_row);
	sim->doomed = sim_keep(sim, (n + 1) * sizeof(*sim->doomed));
	sim->n_doomed = 0;
	for (size_t i = 0; (run = ax_mem_store_at(sim->mem, &ax_run_row, i)) != NULL; i++)
		if (run->task_id == sim->pile && !ax_run_is_terminal(run->status))
			sim->doomed[sim->n_doomed++] = run->gid;
	sim_trace(sim, "the pile is being cancelled: %d runs are left", sim->n_doomed);
}

static void do_press(struct sim *sim, void *arg)
{
	(void)arg;
	struct ax_ctx *ctx = &sim->at->ctx;
	struct ax_task changed;
	struct ax_runs given;
	struct ax_err err = { 0 };
	int64_t dice = sim_between(sim, 0, 5);
	if (dice < 2)
		(void)!ax_task_set_status(
			ctx, sim->pile, dice == 0 ? AX_TASK_PAUSED : AX_TASK_ENABLED, "sim", &changed, &given, NULL);
	else if (ax_task_delete(ctx, sim->pile, true, "sim", &err) == AX_OK)
		sim_trace(sim, "the pile is gone");
	else if (strstr(err.msg, "are being cancelled") != NULL) {
		note_doomed(sim);
		sim->at->server->crash = sim_between(sim, 0, 1) == 0; /* the others look for it later than it would */
	}
}

/* Before its runs are due, and while they wait; until it is deleted, or the times are calm. Who was told that its runs
 * are being cancelled may rely on it, and not come back. */
static void press(struct sim *sim, void *arg)
{
	struct sim_server *server = sim_any_server(sim);
	bool known = sim->pile != 0;
	if (sim->calm || (known && !pile_is_there(sim)) || (sim->n_doomed > 0 && sim_between(sim, 0, 1) == 0))
		return;
	sim_after(sim, sim_between(sim, PILE_MS / 4, PILE_MS), press, arg);
	if (server != NULL)
		sim_call(sim, server, known ? do_press : do_pile_up, NULL);
}

void sim_check_pile(struct sim *sim)
{
	const struct ax_task *task;
	const struct ax_run *run;
	for (size_t i = 0; (task = ax_mem_store_at(sim->mem, &ax_task_row, i)) != NULL; i++)
		if (task->ending)
			sim_fail(sim, "L3 task %lld has runs left that were to be cancelled", (long long)task->id);
	for (size_t i = 0; (run = ax_mem_store_at(sim->mem, &ax_run_row, i)) != NULL; i++)
		for (int k = 0; k < sim->n_doomed; k++)
			if (run->gid == sim->doomed[k] && !ax_run_is_terminal(run->status))
				sim_fail(sim, "L3 run %lld of a task that was to be deleted is still %s",
					(long long)run->gid, ax_run_state_name(run->status));
}

static void do_set_up(struct sim *sim, void *arg)
{
	(void)arg;
	struct ax_group other = { .group_key = "other",
		.title = "",
		.contacts = "",
		.long_share_percent = 50,
		.defaults = "{}",
		.dispatch_quota = 5,
		.pool_size = 5 },
			made;
	enum ax_status status = ax_group_create(&sim->at->ctx, &other, &made, NULL);
	put_calendar(sim);
	put_calendar(sim);
	for (int i = 0; i < 4; i++)
		sim_act_on_alerts(sim);
	for (int i = (int)sim_between(sim, 3, sim->narrow ? 6 : 12); i > 0 && (status == AX_OK || status == AX_EXISTS);
		i--)
		create(sim);
	if (sim->is_set_up || sim->at->server->crash || (status != AX_OK && status != AX_EXISTS))
		return;
	sim->is_set_up = true;
	sim_after(sim, 1000, act, NULL);
}

static void set_up(struct sim *sim, void *arg)
{
	struct sim_server *server = sim_any_server(sim);
	if (sim->is_set_up)
		return;
	sim_after(sim, 1000, set_up, arg);
	if (server != NULL)
		sim_call(sim, server, do_set_up, NULL);
}

void sim_operator_start(struct sim *sim)
{
	sim_after(sim, 10, set_up, NULL);
	if (sim->seed % 16 == 7)
		sim_after(sim, 30000, press, NULL);
}

/* Ends the demand and lets everything that waits go through: groups open, workers willing. */
static void do_rest(struct sim *sim, void *arg)
{
	(void)arg;
	const struct ax_task *task;
	const struct ax_group *group;
	struct ax_task changed;
	for (size_t i = 0; (group = ax_mem_store_at(sim->mem, &ax_group_row, i)) != NULL; i++) {
		struct ax_group open = *(struct ax_group *)sim_copy(sim, &ax_group_row, group), opened;
		open.paused = false;
		open.dispatch_quota = 50;
		open.worker_backlog = 0;
		if (ax_group_update(&sim->at->ctx, &open, &opened, NULL) != AX_OK)
			sim_fail(sim, "a group could not be opened in calm times");
	}
	for (int i = 0; i < SIM_WORKERS; i++) {
		(void)!ax_worker_drain(&sim->at->ctx, sim->workers[i].name, false, NULL);
		disable(sim, &sim->workers[i], false);
	}
	for (size_t i = 0; (task = ax_mem_store_at(sim->mem, &ax_task_row, i)) != NULL; i++) {
		int64_t id = task->id; /* the row is gone once it was replaced */
		bool going = task->status == AX_TASK_DELETING;
		if (!going &&
			ax_task_set_status(&sim->at->ctx, id, AX_TASK_PAUSED, "sim", &changed, NULL, NULL) != AX_OK)
			sim_fail(sim, "task %lld could not be paused in calm times", (long long)id);
	}
	sim_servers_retire(sim);
}

static void rest(struct sim *sim, void *arg)
{
	struct sim_server *server = sim_any_server(sim);
	if (server == NULL)
		sim_after(sim, 500, rest, arg);
	else
		sim_call(sim, server, do_rest, NULL);
}

void sim_operator_rest(struct sim *sim)
{
	/* a few minutes of ordinary life first: what was missed is made up */
	sim_after(sim, 180000, rest, NULL);
}
