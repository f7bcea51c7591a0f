#include "app/dispatch.h"

#include <string.h>

#include "app/alert_rules.h"
#include "app/change.h"
#include "app/run_def.h"
#include "app/takers.h"
#include "app/waiting.h"
#include "core/limits.h"
#include "core/room.h"

enum {
	LOOK_MAX = 1000, /* waiting runs that one group's turn looks at: some may wait for a worker of their own */
	LOST_RACES = 5,  /* to other servers, before it is an error */
};

struct pass {
	struct ax_ctx *ctx;
	struct ax_poll *polls;
	struct ax_worker *workers; /* per poll */
	int n;
	int64_t now;
};

/* One group's turn. */
struct turn {
	struct pass *pass;
	struct ax_tx *tx;
	struct ax_group group;
	struct ax_takers takers;
	struct ax_waiting waiting;
	struct ax_order known; /* the definition of the run before, often of the next one too */
	struct ax_run parent;  /* of the shard before */
	int given;
};

/* A shard has its parent's parameters. */
static enum ax_status read_parent(struct turn *t, const struct ax_run *shard, const char **ret, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	if (t->parent.gid != shard->parent)
		status = t->tx->ops->run_get(t->tx, shard->parent, false, &t->parent, err);
	*ret = t->parent.params;
	return status;
}

static enum ax_status give(struct turn *t, struct ax_run *run, struct ax_taker *taker, struct ax_err *err)
{
	static const struct ax_change claim = { .event = AX_EV_CLAIM, .reason = "" };
	struct pass *pass = t->pass;
	struct ax_tolds told;
	/* read anew: what waits here may have come due at another server while this one waited for the group */
	int64_t now = ax_now_ms(pass->ctx->clock);
	run->worker = taker->worker->name;
	run->incarnation = taker->worker->incarnation;
	enum ax_status status = ax_change_run(pass->ctx, t->tx, run, &claim, now, err);
	if (status == AX_OK)
		status = ax_chain_tell(t->tx, run, &told, err);
	const char *params = run->params;
	if (status == AX_OK && run->parent != 0)
		status = read_parent(t, run, &params, err);
	if (status == AX_OK && run->fence == 1)
		status = ax_alert_run_given(pass->ctx, t->tx, &t->known.def, &t->group, run, now, err);
	if (status != AX_OK)
		return status;
	struct ax_run given = *run;
	given.params = params;
	*ax_poll_add_order(taker->poll, pass->ctx->arena) = (struct ax_order){
		.run = given,
		.def = t->known.def,
		.upstream = told,
		.long_share_percent = t->group.long_share_percent,
	};
	t->given++;
	t->group.running++;
	t->group.running_long += run->lane == AX_RUN_LANE_LONG;
	ax_takers_count(&t->takers, taker, run, t->known.def.route);
	return AX_OK;
}

static enum ax_status read_def(struct turn *t, const struct ax_run *run, struct ax_err *err)
{
	if (t->known.run.task_id == run->task_id && t->known.run.version == run->version)
		return AX_OK;
	t->known.run = *run;
	return ax_run_def(t->tx, run, &t->known.def, err);
}

/* Gives the run to the worker that its route chooses, if that one has room or the run has waited long enough. */
static enum ax_status offer(struct turn *t, struct ax_run *run, struct ax_err *err)
{
	struct ax_takers *takers = &t->takers;
	bool any_room;
	int n = ax_takers_list(takers, run, &any_room);
	if (!any_room || ax_group_room(&t->group, run->lane) <= 0) {
		ax_waiting_leave_out(&t->waiting);
		return AX_OK;
	}
	enum ax_status status = read_def(t, run, err);
	enum ax_routing route = t->known.def.route;
	if (status == AX_OK && ax_route_waits(route)) {
		status = ax_takers_find_others(takers, t->tx, err);
		n = ax_takers_list(takers, run, &any_room);
	}
	if (status != AX_OK)
		return status;
	for (int i = 0; i < n; i++)
		takers->candidates[i].avoid = ax_route_avoids(route, run, takers->candidates[i].name);
	int64_t waited = t->pass->now - run->ready_time;
	int chosen = ax_route_choose(route, takers->candidates, n, ax_route_key(&t->known.def, run),
		waited >= 0 && waited < AX_ROUTE_WAIT_MS);
	return chosen < 0 ? AX_OK : give(t, run, &takers->at[takers->of[chosen]], err);
}

static enum ax_status serve_group(struct pass *pass, struct ax_tx *tx, const char *group_key, struct ax_err *err)
{
	struct turn t = { .pass = pass, .tx = tx, .waiting = { .group_key = group_key } };
	struct ax_run *run;
	enum ax_status status = tx->ops->group_get(tx, group_key, true, &t.group, err);
	if (status == AX_NOT_FOUND)
		return AX_OK;
	if (status != AX_OK || t.group.paused || ax_group_room(&t.group, AX_RUN_LANE_SHORT) <= 0)
		return status;
	t.takers = (struct ax_takers){ .group = &t.group, .now = pass->now };
	status = ax_takers_find(&t.takers, tx, pass->polls, pass->workers, pass->n, err);
	if (status == AX_OK && t.takers.n > 0)
		status = ax_waiting_open(&t.waiting, tx, err);
	for (int looked = 0; status == AX_OK && t.given < AX_BATCH && looked < LOOK_MAX; looked++) {
		status = ax_waiting_next(&t.waiting, tx, &run, err);
		if (status != AX_OK || run == NULL)
			break;
		status = offer(&t, run, err);
	}
	if (status == AX_OK)
		status = ax_takers_remember(&t.takers, tx, err);
	if (status == AX_OK && t.given == AX_BATCH) /* there may be more: once again, in a transaction of its own */
		pass->ctx->notify->ops->group_ready(pass->ctx->notify, group_key);
	return status;
}

/* Who asks: its incarnation, whether it drains, what it shall stop. Its row is locked: who drains or disables it has
 * its answer before the next claim, or after this one. */
static enum ax_status greet(struct pass *pass, struct ax_tx *tx, int i, struct ax_err *err)
{
	struct ax_poll *poll = &pass->polls[i];
	struct ax_worker *worker = &pass->workers[i];
	struct ax_err why = { 0 };
	poll->n_orders = 0;
	poll->cap_orders = 0;
	poll->orders = NULL;
	poll->status = ax_worker_seen(pass->ctx, tx, poll->worker, poll->incarnation, true, pass->now, worker, &why);
	if (poll->status == AX_NOT_FOUND || poll->status == AX_CONFLICT)
		return AX_OK;
	if (poll->status != AX_OK) {
		if (err != NULL)
			*err = why;
		return poll->status;
	}
	poll->drain = ax_worker_is_stopped(worker);
	return ax_worker_stops(pass->ctx, tx, poll->worker, &poll->stops, &poll->n_stops, err);
}

/* In the order of their names, as every server locks them. */
static enum ax_status greet_all(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	int *order = ax_alloc_array(tx->arena, (size_t)pass->n + 1, sizeof(*order));
	enum ax_status status = AX_OK;
	for (int i = 0; i < pass->n; i++) {
		int at = i;
		for (; at > 0 && strcmp(pass->polls[order[at - 1]].worker, pass->polls[i].worker) > 0; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (int i = 0; status == AX_OK && i < pass->n; i++)
		status = greet(pass, tx, order[i], err);
	return status;
}

static enum ax_status serve(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	enum ax_status status = greet_all(pass, tx, err);
	int n = 0;
	const char **keys = status == AX_OK ? ax_polls_groups(pass->polls, pass->n, tx->arena, &n) : NULL;
	for (int i = 0; status == AX_OK && i < n; i++)
		status = serve_group(pass, tx, keys[i], err);
	return status;
}

enum ax_status ax_dispatch(struct ax_ctx *ctx, struct ax_poll *polls, int n, struct ax_err *err)
{
	struct pass pass = {
		.ctx = ctx,
		.polls = polls,
		.n = n,
		.now = ax_now_ms(ctx->clock),
		.workers = ax_alloc_array(ctx->arena, (size_t)n + 1, sizeof(*pass.workers)),
	};
	enum ax_status status = AX_CONFLICT;
	for (int tries = 0; status == AX_CONFLICT && tries <= LOST_RACES; tries++)
		status = ax_store_run(ctx->store, ctx->arena, serve, &pass, err);
	return status;
}
