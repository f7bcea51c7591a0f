#include <stdio.h>
#include <string.h>

#include "app/dispatch.h"
#include "app/quota_audit.h"
#include "app/recover.h"
#include "app/seat.h"
#include "app/tick.h"
#include "app/unanswered.h"
#include "app/workers.h"
#include "core/limits.h"
#include "sim.h"

enum {
	NOTICE_MS = 250, /* until the others read what a server told */
	AUDIT_MS = 5000, /* quotas: more often than servers do */
	LEFT_MS = 1000,  /* nothing was said for so long: what waits when a poll ends was forgotten */
};

static const char *const credential[] = { "default", "other", NULL };

static void start(struct sim *sim, void *arg);

static void restart(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	(void)sim;
	sim_thread_run(&server->threads[0], start, server);
}

/* Nothing of it is at work any more. */
void sim_server_die(struct sim *sim, struct sim_server *server)
{
	sim_trace(sim, "server %s dies", server->name);
	server->crash = server->up = server->dispatch_due = server->dispatching = false;
	server->calls = NULL;
	sim->crashes++;
	memset(server->parked, 0, sizeof(server->parked));
	if (server->retired)
		return;
	/* mostly back soon; sometimes away for longer than leases and windows */
	int64_t away = sim_between(sim, 0, 9) == 0 ? sim_between(sim, 30000, 150000) : sim_between(sim, 100, 5000);
	sim_after(sim, sim->calm ? 100 : away, restart, server);
}

bool sim_server_ready(const struct sim_server *server)
{
	return server->up && !server->crash && server->paused_until <= server->sim->now;
}

struct sim_server *sim_any_server(struct sim *sim)
{
	int first = (int)sim_between(sim, 0, sim->n_servers - 1);
	for (int i = 0; i < sim->n_servers; i++) {
		struct sim_server *server = &sim->servers[(first + i) % sim->n_servers];
		if (sim_server_ready(server))
			return server;
	}
	return NULL;
}

void *sim_copy(struct sim *sim, const struct ax_row_type *type, const void *row)
{
	void *copy = ax_alloc(&sim->at->arena, type->size);
	ax_row_copy(type, &sim->at->arena, row, copy);
	return copy;
}

static void tick(struct sim *sim, void *arg);

static void plan_tick(struct sim *sim, struct sim_server *server, int64_t at)
{
	at = AX_MAX(at, sim->now + 1);
	if (server->tick_at != 0 && server->tick_at <= at)
		return;
	server->tick_at = at;
	sim_after(sim, at - sim->now, tick, server);
}

void sim_server_wake(struct sim *sim, struct sim_server *server)
{
	plan_tick(sim, server, sim->now + 1);
}

/* Unless the way is cut. */
static void answer_worker(
	struct sim *sim, const struct sim_server *server, const struct sim_worker *worker, sim_fn deliver, void *arg)
{
	if (worker->cut_until[server->index] <= sim->now)
		sim_send(sim, deliver, arg);
}

static const char *const group_keys[SIM_GROUPS] = { "default", "other" };

static void look_at_all(struct sim_parked *parked)
{
	parked->said = true;
	for (int g = 0; g < SIM_GROUPS; g++)
		parked->ready[g] = true;
}

static bool is_wanted(const struct sim_parked *parked)
{
	bool wanted = parked->said;
	for (int g = 0; g < SIM_GROUPS; g++)
		wanted = wanted || parked->ready[g];
	return wanted;
}

struct notice {
	struct sim_server *server;
	bool ready[SIM_GROUPS], changed[SIM_WORKERS];
};

static void hear(const struct notice *notice)
{
	for (size_t i = 0; i < AX_COUNT(notice->server->parked); i++) {
		struct sim_parked *parked = &notice->server->parked[i];
		if (notice->changed[parked->worker])
			look_at_all(parked);
		for (int g = 0; g < SIM_GROUPS; g++)
			parked->ready[g] = parked->ready[g] || notice->ready[g];
	}
	notice->server->dispatch_due = true;
}

static void dispatch_soon(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	server->dispatch_due = true;
	if (sim_server_ready(server) && !server->dispatching)
		sim_call(sim, server, sim_server_dispatch, server);
}

static void arrive(struct sim *sim, void *arg)
{
	struct notice *notice = arg;
	hear(notice);
	dispatch_soon(sim, notice->server);
}

void sim_server_tell(struct sim_thread *t)
{
	struct notice told = { .server = t->server };
	bool any = false;
	memcpy(told.ready, t->ready, sizeof(told.ready));
	memcpy(told.changed, t->changed, sizeof(told.changed));
	for (int g = 0; g < SIM_GROUPS; g++)
		any = any || told.ready[g];
	for (int w = 0; w < SIM_WORKERS; w++)
		any = any || told.changed[w];
	if (!any)
		return;
	t->sim->told_ms = t->sim->now;
	memset(t->ready, 0, sizeof(t->ready));
	memset(t->changed, 0, sizeof(t->changed));
	hear(&told);
	for (int i = 0; i < t->sim->n_servers; i++) {
		if (&t->sim->servers[i] == t->server)
			continue;
		struct notice *notice = sim_keep(t->sim, sizeof(*notice));
		*notice = told;
		notice->server = &t->sim->servers[i];
		sim_after(t->sim, NOTICE_MS, arrive, notice);
	}
}

/* All that is ready is looked at then, and says anew when to look at it again: one look is planned at a time. */
static void plan_dispatch(struct sim *sim, struct sim_server *server, int64_t in_ms)
{
	int64_t at = sim->now + in_ms;
	if (server->dispatch_at > sim->now && server->dispatch_at <= at)
		return;
	server->dispatch_at = at;
	sim_after(sim, in_ms, dispatch_soon, server);
}

/* What the turn left is looked at again. */
static void look_again(
	struct sim *sim, struct sim_server *server, struct sim_parked *parked, const struct ax_poll *poll)
{
	for (int g = 0; g < SIM_GROUPS; g++) {
		int64_t in_ms = poll->free[g].again_ms;
		parked->ready[g] = parked->ready[g] || in_ms != AX_AGAIN_NEVER;
		if (in_ms == AX_AGAIN_NOW)
			server->dispatch_due = true;
		else if (in_ms != AX_AGAIN_NEVER)
			plan_dispatch(sim, server, in_ms);
	}
}

/* Those that have something to be looked at, and those whose time is over; how many, *ret_at: which. */
static int collect(struct sim *sim, struct sim_server *server, struct ax_poll *polls, int *ret_at)
{
	int n = 0;
	for (size_t i = 0; i < AX_COUNT(server->parked); i++) {
		struct sim_parked *parked = &server->parked[i];
		if (!parked->live || (!is_wanted(parked) && parked->until > sim->now))
			continue;
		ret_at[n] = (int)i;
		polls[n++] = (struct ax_poll){
			.worker = sim->workers[parked->worker].name,
			.incarnation = parked->incarnation,
			.number = parked->poll_number,
			.known = !parked->said,
			.free = { { group_keys[0], parked->slots, .idle = !parked->ready[0] },
				{ group_keys[1], parked->slots, .idle = !parked->ready[1] } },
			.n_free = SIM_GROUPS,
		};
		parked->said = parked->ready[0] = parked->ready[1] = false;
	}
	return n;
}

/* Was anybody passed over? At once that shows only where nobody else was at work; by the end of a poll, where all that
 * was said has been heard. */
static void check_left(struct sim *sim, const struct sim_parked *parked, const struct ax_poll *poll, bool at_once)
{
	bool all = !poll->known && !poll->free[0].idle && !poll->free[1].idle;
	bool again = false; /* it is not forgotten, others hold what waits */
	for (int g = 0; g < SIM_GROUPS; g++)
		again = again || poll->free[g].again_ms != AX_AGAIN_NEVER;
	if (poll->status != AX_OK || poll->n_orders > 0 || !sim->at->alone)
		return;
	if (all && at_once)
		sim_check_left(sim, &sim->workers[parked->worker], parked->slots, 0);
	else if (!again && parked->until <= sim->now && sim->now - sim->told_ms >= LEFT_MS &&
		sim->profile.clock_step == 0)
		sim_check_left(sim, &sim->workers[parked->worker], parked->slots, LEFT_MS);
}

/* Answers what can be answered; polls that got nothing stay parked until their time is over. */
void sim_server_dispatch(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	struct sim_thread *t = sim->at;
	struct ax_poll polls[SIM_WORKERS * 4];
	int at[SIM_WORKERS * 4];
	bool any;
	server->dispatch_due = true;
	if (server->dispatching) /* on another thread: once more, afterwards */
		return;
	server->dispatch_due = false;
	int n = collect(sim, server, polls, at);
	if (n == 0)
		return;
	struct ax_err err = { 0 };
	server->dispatching = t->alone = true;
	int64_t then = sim->now;
	enum ax_status status = ax_polls_look(&t->ctx, polls, n, &any, &err);
	if (status == AX_OK && any)
		status = ax_dispatch(&t->ctx, polls, n, &server->round, &err);
	server->dispatching = false;
	if (server->crash)
		return;
	for (int i = 0; i < n; i++) {
		struct sim_parked *parked = &server->parked[at[i]];
		bool over = parked->until <= sim->now;
		if (status == AX_OK)
			check_left(sim, parked, &polls[i], sim->now == then);
		if (status == AX_OK && polls[i].status == AX_OK && polls[i].n_orders == 0 && polls[i].n_stops == 0 &&
			!over) {
			look_again(sim, server, parked, &polls[i]);
			continue;
		}
		if (status != AX_OK && !over) {
			look_at_all(parked);
			continue;
		}
		struct sim_poll *answer = sim_keep(sim, sizeof(*answer));
		answer->server = server;
		answer->worker = &sim->workers[parked->worker];
		answer->life = parked->life;
		answer->id = parked->poll_id;
		answer->status = status == AX_OK ? polls[i].status : status;
		parked->live = false;
		for (int k = 0; status == AX_OK && k < polls[i].n_orders; k++) {
			const struct ax_order *order = &polls[i].orders[k];
			answer->orders[answer->n_orders++].attempt = (struct sim_attempt){
				.gid = order->run.gid,
				.fence = order->run.fence,
				.task_id = order->run.task_id,
				.timeout_s = order->def.timeout_seconds,
				.confirmed = order->def.start_confirmed,
				.continues = order->def.unreachable_continues,
				.is_long = order->run.lane == AX_RUN_LANE_LONG,
				.rank = order->run.rank,
				.long_share_percent = order->long_share_percent,
			};
		}
		for (int k = 0; status == AX_OK && k < polls[i].n_stops && answer->n_stops < SIM_HELD_MAX; k++)
			answer->stops[answer->n_stops++] = polls[i].stops[k];
		answer_worker(sim, server, answer->worker, sim_worker_polled, answer);
	}
	if (status != AX_OK)
		sim_server_wake(sim, server);
}

/* A difference is logged as an error, which ends the simulation. */
static void audit_quotas(struct sim *sim, struct sim_server *server)
{
	struct ax_quota_audit audit = { .more = true };
	server->audit_at = sim->now + AUDIT_MS;
	while (audit.more && !server->crash && ax_quota_audit(&sim->at->ctx, &audit, NULL) == AX_OK)
		;
}

static void do_tick(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	struct ax_ctx *ctx = &sim->at->ctx;
	int64_t next = 0;
	struct ax_err err = { 0 };
	if (sim_chance(sim, sim->profile.server_stop)) {
		sim_trace(sim, "server %s is stopped", server->name);
		(void)!ax_seat_leave(ctx, &err);
		server->crash = true; /* nothing of it goes on */
		return;
	}
	ctx->queue_leads_ms = sim_queue_leads_ms(server);
	enum ax_status status = ax_tick(ctx, &next, &err);
	if (!server->crash && ctx->queue_leads_ms > 0 && ctx->found_late)
		ax_feed_found_late(&server->feed, sim->now);
	server->dispatch_due = true;  /* parked polls may have timed out */
	int64_t at = sim->now + 1000; /* looks anyway once a second */
	if (status == AX_OK && next != 0)
		at = AX_MIN(at, next - sim->wall_step - server->offset);
	plan_tick(sim, server, at);
	if (sim->now >= server->audit_at && !server->crash)
		audit_quotas(sim, server);
}

static void tick(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	if (!server->up || server->crash || server->tick_at != sim->now)
		return; /* another tick was planned since */
	server->tick_at = 0;
	if (server->threads[0].fn != NULL) { /* the thread that ticks */
		plan_tick(sim, server, sim->now + 2);
		return;
	}
	if (server->paused_until > sim->now) {
		plan_tick(sim, server, server->paused_until);
		return;
	}
	if (sim_chance(sim, 1)) {
		server->paused_until = sim->now + sim_between(sim, 1000, 90000);
		sim_trace(sim, "server %s stands still for %lld ms", server->name,
			(long long)(server->paused_until - sim->now));
		plan_tick(sim, server, server->paused_until);
		return;
	}
	if (sim_chance(sim, sim->profile.server_cut)) {
		server->cut_until = sim->now + sim_between(sim, 100, 60000);
		sim_trace(sim, "server %s does not reach the database for %lld ms", server->name,
			(long long)(server->cut_until - sim->now));
	}
	sim_thread_run(&server->threads[0], do_tick, server);
}

static void do_retire(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	sim_trace(sim, "server %s is stopped for good", server->name);
	if (ax_seat_leave(&sim->at->ctx, NULL) != AX_OK)
		sim_fail(sim, "server %s could not give back its number in calm times", server->name);
	server->retired = server->crash = true;
}

/* The first server goes on alone: what the others leave is its. */
static void retire(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	if (sim_server_ready(server))
		sim_call(sim, server, do_retire, server);
	else
		sim_after(sim, 1000, retire, server);
}

void sim_servers_retire(struct sim *sim)
{
	for (int i = 1; i < sim->n_servers; i++)
		sim_after(sim, 1, retire, &sim->servers[i]);
}

static void init_thread(struct sim *sim, struct sim_server *server, int index)
{
	struct sim_thread *t = &server->threads[index];
	sim_thread_ports(t);
	ax_due_store_done(&t->due);
	ax_due_store_init(&t->due, &t->store, sim_queue_told, server);
	t->ctx = (struct ax_ctx){
		.store = sim->queue != NULL ? &t->due.store : &t->store,
		.clock = &t->clock,
		.rand = &sim->rand,
		.notify = &t->notify,
		.log = &t->log,
		.zones = &sim->zones,
		.arena = &t->arena,
		.server_name = server->name,
		.seat = &server->seat,
		.stripe = index,
		.stripes = server->n_threads,
	};
}

static void start(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	struct ax_err err = { 0 };
	memset(&server->seat, 0, sizeof(server->seat));
	server->gid_number = -1;
	server->up_since = sim->now;
	server->step_then = sim->wall_step;
	server->life++;
	server->paused_until = server->cut_until = 0;
	server->offset = sim->n_servers > 1 ? sim_between(sim, -SIM_SKEW_MS, SIM_SKEW_MS) : 0;
	for (int i = 0; i < server->n_threads; i++)
		init_thread(sim, server, i);
	if (ax_recover(&server->threads[0].ctx, "0", &err) != AX_OK || server->crash) {
		server->crash = true;
		return;
	}
	sim_trace(sim, "server %s starts as number %lld", server->name, (long long)ax_seat_number(&server->seat));
	sim_note_seat(sim);
	server->up = true;
	server->tick_at = 0;
	plan_tick(sim, server, sim->now + 1);
	sim_queue_join(sim, server);
	sim_alerts_start(sim, server);
}

void sim_servers_clock_set(struct sim *sim)
{
	for (int i = 0; i < sim->n_servers; i++) {
		for (int k = 0; k < sim->servers[i].n_threads; k++)
			sim->servers[i].threads[k].stepped = true;
		sim_server_wake(sim, &sim->servers[i]);
	}
}

/* Which there are, and what kind of threads they have. */
void sim_servers_start(struct sim *sim)
{
	sim->n_servers = !sim->narrow && sim_between(sim, 0, 2) == 0 ? 1 : (int)sim_between(sim, 2, SIM_SERVERS);
	sim->sole = sim->n_servers == 1 && sim_between(sim, 0, 1) == 0;
	sim->poll_all = sim_between(sim, 0, 1) == 0;
	sim->roam = sim_between(sim, 0, 1) == 0;
	for (int i = 0; i < sim->n_servers; i++) {
		struct sim_server *server = &sim->servers[i];
		server->sim = sim;
		server->index = i;
		server->n_threads = sim->sole ? 1 : (int)sim_between(sim, 1, SIM_THREADS);
		snprintf(server->name, sizeof(server->name), "s%d", i + 1);
		for (int k = 0; k < server->n_threads; k++) {
			server->threads[k].sim = sim;
			server->threads[k].server = server;
			server->threads[k].index = k;
			sim_thread_init(&server->threads[k]);
		}
	}
	sim_threads_init(sim);
	sim_queue_start(sim);
	for (int i = 0; i < sim->n_servers; i++)
		sim_after(sim, i == 0 ? 0 : sim_between(sim, 0, 3000), restart, &sim->servers[i]);
}

static void serve_register(struct sim *sim, void *arg)
{
	struct sim_register *request = arg;
	struct ax_worker_group groups[] = {
		{ .group_key = "default", .pool_size = request->worker->pool },
		{ .group_key = "other", .pool_size = request->worker->pool },
	};
	struct ax_registration reg = {
		.worker = { .name = request->worker->name,
			.incarnation = request->incarnation,
			.executors = sim_worker_executors(request->worker),
			.tags = sim_worker_tags(request->worker),
			.version = "0",
			.address = "" },
		.groups = groups,
		.n_groups = (int)AX_COUNT(groups),
		.running = request->running,
		.n_running = request->n_running,
	};
	struct ax_err err = { 0 };
	struct sim_register *answer = sim_keep(sim, sizeof(*answer));
	*answer = *request;
	answer->status = ax_worker_register(&sim->at->ctx, &reg, &err);
	for (int i = 0; answer->status == AX_OK && i < reg.n_stops; i++)
		answer->stops[answer->n_stops++] = reg.stops[i];
	if (!request->server->crash)
		answer_worker(sim, request->server, request->worker, sim_worker_registered, answer);
}

void sim_server_register(struct sim *sim, void *arg)
{
	struct sim_register *request = arg;
	if (sim_server_ready(request->server))
		sim_call(sim, request->server, serve_register, request);
}

static void serve_report(struct sim *sim, void *arg)
{
	struct sim_report *request = arg;
	struct sim_report *answer = sim_keep(sim, sizeof(*answer));
	*answer = *request;
	struct ax_report report = {
		.worker = request->worker->name,
		.incarnation = answer->incarnation,
		.groups = credential,
		.items = answer->items,
		.n = answer->n,
	};
	const struct ax_unanswered polls = { answer->unanswered, (size_t)answer->n_unanswered };
	struct ax_err err = { 0 };
	answer->status = ax_give_back_unanswered(&sim->at->ctx, &polls, &report, &err);
	if (answer->status == AX_OK)
		answer->status = ax_ingest(&sim->at->ctx, &report, &err);
	for (int i = answer->n; answer->status == AX_OK && i < report.n; i++)
		if (report.items[i].verdict == AX_VERDICT_APPLIED)
			sim_check_unanswered(sim, request->worker, report.items[i].gid, report.items[i].fence);
	for (int i = 0; i < answer->n; i++) /* the verdicts are about the worker's own */
		answer->items[i] = report.items[i];
	for (int i = 0; answer->status == AX_OK && i < report.n_stops && i < SIM_HELD_MAX; i++)
		answer->stops[answer->n_stops++] = report.stops[i];
	if (!request->server->crash)
		answer_worker(sim, request->server, request->worker, sim_worker_reported, answer);
}

void sim_server_report(struct sim *sim, void *arg)
{
	struct sim_report *request = arg;
	if (sim_server_ready(request->server))
		sim_call(sim, request->server, serve_report, request);
}

void sim_server_poll(struct sim *sim, void *arg)
{
	struct sim_poll *request = arg;
	struct sim_server *server = request->server;
	if (!sim_server_ready(server))
		return;
	for (size_t i = 0; i < AX_COUNT(server->parked); i++) {
		struct sim_parked *parked = &server->parked[i];
		if (parked->live && parked->worker == request->worker->index && parked->poll_id == request->id)
			return; /* the same poll a second time */
		if (parked->live)
			continue;
		*parked = (struct sim_parked){
			.worker = request->worker->index,
			.life = request->life,
			.poll_id = request->id,
			.poll_number = request->number,
			.slots = request->slots,
			.until = sim->now + AX_POLL_WAIT_MS,
			.live = true,
		};
		look_at_all(parked);
		snprintf(parked->incarnation, sizeof(parked->incarnation), "%s", request->incarnation);
		server->dispatch_due = true;
		if (!server->dispatching)
			sim_call(sim, server, sim_server_dispatch, server);
		return;
	}
}
