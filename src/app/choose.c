#include "app/run_def.h"
#include "app/turn.h"
#include "core/room.h"

enum {
	LOOK_MAX = 1000, /* waiting runs that one turn looks at: some may wait for a worker of their own */
	/* That a turn reads about what it has chosen, or tells how late that is: others wait for it. Where the database
	 * is far, as long as it took to come so far: else all the turn's trips would be for one run. Both together, and
	 * the trips to give, are to take less than others wait for a row. */
	WHILE_MS = 200,
	WHILE_MAX_MS = 1000,
};

void ax_turn_begin_while(struct ax_turn *t)
{
	t->until_mono = ax_mono_ms(t->ctx->clock) + t->while_ms;
}

/* As many trips as its beginning took, and a few more, are still to come. What is answered so late that the worker does
 * not begin it is given to nobody else before AX_ACCEPT_MS: better not at all. */
static void measure(struct ax_turn *t)
{
	int64_t now = ax_mono_ms(t->ctx->clock);
	t->begun_ms = now - t->began_mono;
	t->while_ms = AX_MIN(AX_MAX(t->begun_ms, WHILE_MS), WHILE_MAX_MS);
	if (ax_takers_answer_at(&t->takers, now + t->begun_ms + t->begun_ms / 2))
		ax_turn_again(t, AX_AGAIN_HELD); /* this once the store may have stood still */
}

bool ax_turn_is_too_late(const struct ax_turn *t, const struct ax_poll *poll)
{
	return poll->stale_mono != 0 && ax_mono_ms(t->ctx->clock) + t->begun_ms > poll->stale_mono;
}

bool ax_turn_while_is_over(const struct ax_turn *t)
{
	return ax_mono_ms(t->ctx->clock) >= t->until_mono;
}

void ax_turn_again(struct ax_turn *t, int64_t in_ms)
{
	if (t->again_ms == AX_AGAIN_NEVER || in_ms < t->again_ms)
		t->again_ms = in_ms;
}

void ax_turn_count(struct ax_turn *t, const struct ax_run *run)
{
	t->group.running++;
	t->group.running_long += run->lane == AX_RUN_LANE_LONG;
}

/* A shard has its parent's parameters. */
static enum ax_status read_parent(struct ax_turn *t, const struct ax_run *shard, const char **ret, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	if (t->parent.gid != shard->parent)
		status = t->tx->ops->run_get(t->tx, shard->parent, false, &t->parent, err);
	*ret = t->parent.params;
	return status;
}

static enum ax_status choose(struct ax_turn *t, const struct ax_run *run, int taker, struct ax_err *err)
{
	struct ax_choice *c = ax_alloc(t->tx->arena, sizeof(*c));
	*c = (struct ax_choice){ .order = { .run = *run, .def = t->known.def }, .params = run->params, .taker = taker };
	enum ax_status status = ax_chain_tell(t->tx, run, &c->order.upstream, err);
	if (status == AX_OK && run->parent != 0)
		status = read_parent(t, run, &c->params, err);
	if (status != AX_OK)
		return status;
	c->poll = ax_takers_choose(&t->takers, taker, run, t->known.def.route);
	ax_turn_count(t, run);
	t->choices[t->n_choices++] = c;
	return AX_OK;
}

static enum ax_status read_def(struct ax_turn *t, const struct ax_run *run, struct ax_err *err)
{
	if (t->known.run.task_id == run->task_id && t->known.run.version == run->version)
		return AX_OK;
	t->known.run = *run;
	return ax_run_def(t->tx, run, &t->known.def, err);
}

/* A shard goes where the parameters of its parent say, which it is given too. */
static enum ax_status find_key(struct ax_turn *t, const struct ax_run *run, uint64_t *ret, struct ax_err *err)
{
	struct ax_run asked = *run;
	enum ax_status status = AX_OK;
	if (run->parent != 0 && t->known.def.route == AX_ROUTE_HASH)
		status = read_parent(t, run, &asked.params, err);
	if (status == AX_OK)
		*ret = ax_route_key(&t->known.def, &asked);
	return status;
}

/* Chooses for the run the worker that its route wants, if that one has room or the run has waited long enough. */
static enum ax_status offer(struct ax_turn *t, struct ax_run *run, struct ax_err *err)
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
	uint64_t key;
	if (status == AX_OK)
		status = find_key(t, run, &key, err);
	if (status != AX_OK)
		return status;
	for (int i = 0; i < n; i++)
		takers->candidates[i].avoid = ax_route_avoids(route, run, takers->candidates[i].name);
	int64_t waited = t->now - run->ready_time;
	int chosen = ax_route_choose(route, takers->candidates, n, key, waited >= 0 && waited < AX_ROUTE_WAIT_MS);
	if (chosen == AX_ROUTE_WAIT)
		ax_turn_again(t, AX_ROUTE_WAIT_MS - waited);
	return chosen < 0 ? AX_OK : choose(t, run, takers->of[chosen], err);
}

enum ax_status ax_turn_choose(struct ax_turn *t, struct ax_err *err)
{
	struct ax_run *run;
	enum ax_status status = ax_waiting_open(&t->waiting, t->tx, err);
	for (int looked = 0; status == AX_OK && looked < LOOK_MAX; looked++) {
		status = ax_waiting_next(&t->waiting, t->tx, &run, err);
		if (status != AX_OK || run == NULL)
			break;
		if (looked == 0) {
			measure(t);
			ax_turn_begin_while(t);
		}
		if (t->n_choices == AX_BATCH || (t->n_choices > 0 && ax_turn_while_is_over(t))) {
			ax_turn_again(t, AX_AGAIN_NOW);
			break;
		}
		status = offer(t, run, err);
	}
	if (t->waiting.others_hold)
		ax_turn_again(t, AX_AGAIN_HELD);
	return status;
}
