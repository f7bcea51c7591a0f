#include <stdio.h>
#include <string.h>

#include "app/dispatch.h"
#include "app/recover.h"
#include "app/tick.h"
#include "app/workers.h"
#include "core/limits.h"
#include "sim.h"

static const char *const credential[] = { "default", "other", NULL };

static void restart(struct sim *sim, void *arg)
{
	(void)arg;
	sim_server_start(sim);
}

static void die(struct sim *sim)
{
	sim_trace(sim, "server dies");
	sim->crash = false;
	sim->crashes++;
	sim->server.up = false;
	memset(sim->server.parked, 0, sizeof(sim->server.parked));
	/* mostly back soon; sometimes away for longer than leases and windows */
	int64_t away = sim_between(sim, 0, 9) == 0 ? sim_between(sim, 30000, 150000) : sim_between(sim, 100, 5000);
	sim_after(sim, sim->calm ? 100 : away, restart, NULL);
}

bool sim_server_ready(struct sim *sim)
{
	if (!sim->server.up || sim->server.paused_until > sim->now)
		return false;
	ax_arena_reset(&sim->server.arena);
	return true;
}

static void tick(struct sim *sim, void *arg);

static void plan_tick(struct sim *sim, int64_t at)
{
	struct sim_server *server = &sim->server;
	at = AX_MAX(at, sim->now + 1);
	if (server->tick_at != 0 && server->tick_at <= at)
		return;
	server->tick_at = at;
	sim_after(sim, at - sim->now, tick, NULL);
}

void sim_server_wake(struct sim *sim)
{
	plan_tick(sim, sim->now + 1);
}

/* Answers what can be answered; polls that got nothing stay parked until their time is over. */
static void dispatch(struct sim *sim)
{
	struct sim_server *server = &sim->server;
	struct ax_poll polls[SIM_WORKERS * 4];
	int at[SIM_WORKERS * 4], n = 0;
	for (size_t i = 0; i < AX_COUNT(server->parked); i++) {
		struct sim_parked *parked = &server->parked[i];
		if (!parked->live)
			continue;
		at[n] = (int)i;
		polls[n++] = (struct ax_poll){
			.worker = sim->workers[parked->worker].name,
			.incarnation = parked->incarnation,
			.free = { { "default", parked->slots }, { "other", parked->slots } },
			.n_free = 2,
		};
	}
	server->dispatch_due = false;
	if (n == 0)
		return;
	struct ax_err err = { 0 };
	enum ax_status status = ax_dispatch(&server->ctx, polls, n, &err);
	if (sim->crash) {
		die(sim);
		return;
	}
	for (int i = 0; i < n; i++) {
		struct sim_parked *parked = &server->parked[at[i]];
		bool over = parked->until <= sim->now;
		if (status == AX_OK && polls[i].status == AX_OK && polls[i].n_orders == 0)
			sim_check_left(sim, &sim->workers[parked->worker], parked->slots);
		if (status == AX_OK && polls[i].status == AX_OK && polls[i].n_orders == 0 && polls[i].n_stops == 0 &&
			!over)
			continue;
		if (status != AX_OK && !over)
			continue;
		struct sim_poll *answer = sim_keep(sim, sizeof(*answer));
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
		sim_send(sim, sim_worker_polled, answer);
	}
	if (status != AX_OK)
		sim_server_wake(sim);
}

/* After every call of a service: die if it was told to, serve polls if there may be something. False when it died. */
bool sim_server_done(struct sim *sim)
{
	if (sim->crash) {
		die(sim);
		return false;
	}
	if (sim->server.dispatch_due)
		dispatch(sim);
	return sim->server.up;
}

static void tick(struct sim *sim, void *arg)
{
	(void)arg;
	struct sim_server *server = &sim->server;
	if (!server->up || server->tick_at != sim->now)
		return; /* another tick was planned since */
	server->tick_at = 0;
	if (server->paused_until > sim->now) {
		plan_tick(sim, server->paused_until);
		return;
	}
	if (sim_chance(sim, 1)) {
		server->paused_until = sim->now + sim_between(sim, 1000, 90000);
		sim_trace(sim, "server stands still for %lld ms", (long long)(server->paused_until - sim->now));
		plan_tick(sim, server->paused_until);
		return;
	}
	ax_arena_reset(&server->arena);
	int64_t next = 0;
	struct ax_err err = { 0 };
	enum ax_status status = ax_tick(&server->ctx, &next, &err);
	server->dispatch_due = true; /* parked polls may have timed out */
	if (!sim_server_done(sim))
		return;
	int64_t at = sim->now + 1000; /* looks anyway once a second */
	if (status == AX_OK && next != 0)
		at = AX_MIN(at, next - sim->wall_step);
	plan_tick(sim, at);
}

void sim_server_start(struct sim *sim)
{
	struct sim_server *server = &sim->server;
	struct ax_err err = { 0 };
	ax_arena_reset(&server->arena);
	memset(&server->seat, 0, sizeof(server->seat));
	server->ctx = (struct ax_ctx){
		.store = &sim->store,
		.clock = &sim->clock,
		.rand = &sim->rand,
		.notify = &sim->notify,
		.log = &sim->log,
		.zones = &sim->zones,
		.arena = &server->arena,
		.server_name = "sim",
		.seat = &server->seat,
	};
	server->life++;
	server->paused_until = 0;
	if (ax_recover(&server->ctx, "0", &err) != AX_OK || sim->crash) {
		die(sim);
		return;
	}
	sim_trace(sim, "server starts");
	server->up = true;
	server->up_since = sim->now;
	server->step_then = sim->wall_step;
	server->tick_at = 0;
	plan_tick(sim, sim->now + 1);
	sim_alerts_start(sim);
	sim_operator_first(sim);
}

void sim_server_register(struct sim *sim, void *arg)
{
	struct sim_register *request = arg;
	if (!sim_server_ready(sim))
		return;
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
	answer->status = ax_worker_register(&sim->server.ctx, &reg, &err);
	for (int i = 0; answer->status == AX_OK && i < reg.n_stops; i++)
		answer->stops[answer->n_stops++] = reg.stops[i];
	if (sim_server_done(sim))
		sim_send(sim, sim_worker_registered, answer);
}

void sim_server_report(struct sim *sim, void *arg)
{
	struct sim_report *request = arg;
	if (!sim_server_ready(sim))
		return;
	struct sim_report *answer = sim_keep(sim, sizeof(*answer));
	*answer = *request;
	struct ax_report report = {
		.worker = request->worker->name,
		.incarnation = answer->incarnation,
		.groups = credential,
		.items = answer->items,
		.n = answer->n,
	};
	struct ax_err err = { 0 };
	answer->status = ax_ingest(&sim->server.ctx, &report, &err);
	for (int i = 0; answer->status == AX_OK && i < report.n_stops && i < SIM_HELD_MAX; i++)
		answer->stops[answer->n_stops++] = report.stops[i];
	if (sim_server_done(sim))
		sim_send(sim, sim_worker_reported, answer);
}

void sim_server_poll(struct sim *sim, void *arg)
{
	struct sim_poll *request = arg;
	if (!sim_server_ready(sim))
		return;
	for (size_t i = 0; i < AX_COUNT(sim->server.parked); i++) {
		struct sim_parked *parked = &sim->server.parked[i];
		if (parked->live && parked->worker == request->worker->index && parked->poll_id == request->id)
			return; /* the same poll a second time */
		if (parked->live)
			continue;
		*parked = (struct sim_parked){
			.worker = request->worker->index,
			.life = request->life,
			.poll_id = request->id,
			.slots = request->slots,
			.until = sim->now + AX_POLL_WAIT_MS,
			.live = true,
		};
		snprintf(parked->incarnation, sizeof(parked->incarnation), "%s", request->incarnation);
		dispatch(sim);
		return;
	}
}
