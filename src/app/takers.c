#include "app/takers.h"

#include <string.h>

#include "core/room.h"

static struct ax_taker *find_known(struct ax_takers *takers, const char *worker)
{
	for (int i = 0; i < takers->n; i++)
		if (strcmp(takers->at[i].worker->name, worker) == 0)
			return &takers->at[i];
	return NULL;
}

static void add(struct ax_takers *takers, const struct ax_taker *taker)
{
	takers->at[takers->n++] = *taker;
	takers->order = AX_MAX(takers->order, taker->part.given_order);
}

static void make_room(struct ax_takers *takers, struct ax_arena *arena, int n)
{
	size_t most = (size_t)(takers->n + n) + 1, cap = 0;
	takers->at = ax_grow_array(arena, takers->at, (size_t)takers->n, most, &cap, sizeof(*takers->at));
	takers->candidates = ax_alloc_array(arena, most, sizeof(*takers->candidates));
	takers->of = ax_alloc_array(arena, most, sizeof(*takers->of));
}

/* What the poll asks for. */
static int64_t slots_of(const struct ax_takers *takers, const struct ax_poll *poll)
{
	for (int i = 0; poll->status == AX_OK && !poll->drain && i < poll->n_free; i++)
		if (strcmp(poll->free[i].group_key, takers->group->group_key) == 0)
			return poll->free[i].slots;
	return 0;
}

static enum ax_status add_poll(struct ax_takers *takers, struct ax_tx *tx, struct ax_poll *poll,
	const struct ax_worker *worker, struct ax_err *err)
{
	struct ax_taker taker = { .poll = poll, .worker = worker, .slots = slots_of(takers, poll) };
	struct ax_taker *known = find_known(takers, worker->name);
	if (taker.slots <= 0)
		return AX_OK;
	if (known != NULL) {
		known->poll = poll;
		known->slots = taker.slots;
		return AX_OK;
	}
	enum ax_status status =
		tx->ops->worker_group_get(tx, worker->name, takers->group->group_key, true, &taker.part, err);
	if (status == AX_NOT_FOUND)
		return AX_OK; /* it did not register for this group */
	if (status == AX_OK)
		add(takers, &taker);
	return status;
}

enum ax_status ax_takers_find(struct ax_takers *takers, struct ax_tx *tx, struct ax_poll *polls,
	const struct ax_worker *workers, int n, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	make_room(takers, tx->arena, n);
	takers->polls = polls;
	/* so late that it is newer than what any worker was given before, were the clock right */
	takers->order = takers->now * 1000;
	for (int i = 0; status == AX_OK && i < n; i++)
		if (polls[i].status == AX_OK)
			status = add_poll(takers, tx, &polls[i], &workers[i], err);
	return status;
}

enum ax_status ax_takers_find_others(struct ax_takers *takers, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_worker_groups parts;
	if (takers->others_known)
		return AX_OK;
	takers->others_known = true;
	enum ax_status status = tx->ops->group_workers(tx, takers->group->group_key, &parts, err);
	if (status != AX_OK)
		return status;
	make_room(takers, tx->arena, parts.n);
	for (int i = 0; status == AX_OK && i < parts.n; i++) {
		struct ax_worker *worker = ax_alloc(tx->arena, sizeof(*worker));
		if (find_known(takers, parts.at[i].worker) != NULL)
			continue;
		status = tx->ops->worker_get(tx, parts.at[i].worker, false, worker, err);
		if (status == AX_OK && ax_worker_is_online(worker, takers->now))
			add(takers, &(struct ax_taker){ .worker = worker, .part = parts.at[i] });
	}
	return status;
}

int ax_takers_list(struct ax_takers *takers, const struct ax_run *run, bool *ret_any_room)
{
	int n = 0;
	*ret_any_room = false;
	for (int i = 0; i < takers->n; i++) {
		const struct ax_taker *taker = &takers->at[i];
		const struct ax_worker_group *part = &taker->part;
		if (!ax_worker_suits(taker->worker, run->executor_key, run->demand))
			continue;
		bool room = taker->slots > 0 && ax_worker_room(takers->group, part, run->lane) > 0;
		*ret_any_room = *ret_any_room || room;
		takers->of[n] = i;
		takers->candidates[n++] = (struct ax_candidate){
			.name = taker->worker->name,
			.room = room,
			.given = part->given,
			.places = part->pool_size,
			.given_order = part->given_order,
			.turn_order = part->turn_order,
			.use = ax_route_use(part->use_count, part->use_time, takers->now),
		};
	}
	return n;
}

/* Of several polls of a worker the newest is served first: an older one may hang on a connection that is gone. */
static void use_older_poll(const struct ax_takers *takers, struct ax_taker *taker)
{
	while (taker->slots <= 0 && taker->poll > takers->polls) {
		taker->poll--;
		if (strcmp(taker->poll->worker, taker->worker->name) == 0)
			taker->slots = slots_of(takers, taker->poll);
	}
}

void ax_takers_count(struct ax_takers *takers, struct ax_taker *taker, const struct ax_run *run, enum ax_routing route)
{
	struct ax_worker_group *part = &taker->part;
	part->given++;
	part->given_long += run->lane == AX_RUN_LANE_LONG;
	taker->slots--;
	use_older_poll(takers, taker);
	taker->given = true;
	part->given_order = ++takers->order;
	if (route == AX_ROUTE_ROUND_ROBIN)
		part->turn_order = part->given_order;
	ax_route_count_use(&part->use_count, &part->use_time, takers->now);
}

enum ax_status ax_takers_remember(const struct ax_takers *takers, struct ax_tx *tx, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < takers->n; i++)
		if (takers->at[i].given)
			status = tx->ops->worker_group_routed(tx, &takers->at[i].part, err);
	return status;
}
