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

/* A worker that is not what it was when it asked, or has not registered for this group, takes nothing. */
static enum ax_status add_poll(struct ax_takers *takers, struct ax_tx *tx, struct ax_poll *poll, struct ax_err *err)
{
	struct ax_taker taker = { .poll = poll, .slots = slots_of(takers, poll) };
	struct ax_taker *known = find_known(takers, poll->worker);
	if (taker.slots <= 0)
		return AX_OK;
	if (known != NULL) {
		known->poll = poll;
		known->slots = taker.slots;
		return AX_OK;
	}
	struct ax_worker *worker = ax_alloc(tx->arena, sizeof(*worker));
	enum ax_status status = ax_worker_read(tx, poll->worker, poll->incarnation, false, worker, err);
	if (status == AX_NOT_FOUND || status == AX_CONFLICT)
		poll->status = status;
	if (status == AX_OK && ax_worker_is_stopped(worker))
		return AX_OK;
	if (status == AX_OK)
		status = tx->ops->worker_group_get(tx, worker->name, takers->group->group_key, false, &taker.part, err);
	taker.worker = worker;
	if (status == AX_OK)
		add(takers, &taker);
	return status == AX_NOT_FOUND || status == AX_CONFLICT ? AX_OK : status;
}

enum ax_status ax_takers_find(
	struct ax_takers *takers, struct ax_tx *tx, struct ax_poll *polls, int n, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	make_room(takers, tx->arena, n);
	takers->polls = polls;
	/* so late that it is newer than what any worker was given before, were the clock right */
	takers->order = takers->now * 1000;
	for (int i = 0; status == AX_OK && i < n; i++)
		status = add_poll(takers, tx, &polls[i], err);
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

static bool has_room(const struct ax_takers *takers, const struct ax_taker *taker, enum ax_run_lane lane)
{
	return taker->slots > 0 && ax_worker_room(takers->group, &taker->part, lane) > 0;
}

bool ax_takers_have_room(const struct ax_takers *takers)
{
	for (int i = 0; i < takers->n; i++)
		if (has_room(takers, &takers->at[i], AX_RUN_LANE_SHORT))
			return true;
	return false;
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
		bool room = has_room(takers, taker, run->lane);
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
	taker->given = true;
	part->given_order = ++takers->order;
	if (route == AX_ROUTE_ROUND_ROBIN)
		part->turn_order = part->given_order;
	ax_route_count_use(&part->use_count, &part->use_time, takers->now);
}

struct ax_poll *ax_takers_choose(struct ax_takers *takers, int chosen, const struct ax_run *run, enum ax_routing route)
{
	struct ax_taker *taker = &takers->at[chosen];
	struct ax_poll *poll = taker->poll;
	taker->chosen = true;
	taker->slots--;
	use_older_poll(takers, taker);
	ax_takers_count(takers, taker, run, route);
	return poll;
}

static struct ax_taker **list_chosen(struct ax_takers *takers, struct ax_arena *arena, int *ret_n)
{
	struct ax_taker **order = ax_alloc_array(arena, (size_t)takers->n + 1, sizeof(struct ax_taker *));
	int n = 0;
	for (int i = 0; i < takers->n; i++) {
		int at = n;
		takers->at[i].given = false;
		if (!takers->at[i].chosen)
			continue;
		for (; at > 0 && strcmp(order[at - 1]->worker->name, takers->at[i].worker->name) > 0; at--)
			order[at] = order[at - 1];
		order[at] = &takers->at[i];
		n++;
	}
	*ret_n = n;
	return order;
}

static enum ax_status lock_worker(struct ax_tx *tx, struct ax_taker *taker, struct ax_err *err)
{
	struct ax_worker *worker = ax_alloc(tx->arena, sizeof(*worker));
	enum ax_status status = ax_worker_read(tx, taker->worker->name, taker->worker->incarnation, true, worker, err);
	taker->lost =
		status == AX_NOT_FOUND || status == AX_CONFLICT || (status == AX_OK && ax_worker_is_stopped(worker));
	if (status == AX_OK)
		taker->worker = worker;
	return taker->lost ? AX_OK : status;
}

static enum ax_status lock_part(struct ax_takers *takers, struct ax_tx *tx, struct ax_taker *taker, struct ax_err *err)
{
	enum ax_status status =
		tx->ops->worker_group_get(tx, taker->worker->name, takers->group->group_key, true, &taker->part, err);
	taker->lost = taker->lost || status == AX_NOT_FOUND;
	takers->order = AX_MAX(takers->order, taker->part.given_order);
	return status == AX_NOT_FOUND ? AX_OK : status;
}

enum ax_status ax_takers_lock(struct ax_takers *takers, struct ax_tx *tx, struct ax_group *group, struct ax_err *err)
{
	int n;
	enum ax_status status = AX_OK;
	struct ax_taker **order = list_chosen(takers, tx->arena, &n);
	for (int i = 0; status == AX_OK && i < n; i++)
		status = lock_worker(tx, order[i], err);
	if (status == AX_OK)
		status = tx->ops->group_get(tx, group->group_key, true, group, err);
	for (int i = 0; status == AX_OK && i < n; i++)
		status = lock_part(takers, tx, order[i], err);
	return status;
}

bool ax_taker_may_have(const struct ax_takers *takers, const struct ax_taker *taker, const struct ax_run *run)
{
	return !taker->lost && !takers->group->paused &&
		ax_worker_suits(taker->worker, run->executor_key, run->demand) &&
		ax_group_room(takers->group, run->lane) > 0 &&
		ax_worker_room(takers->group, &taker->part, run->lane) > 0;
}

enum ax_status ax_takers_remember(const struct ax_takers *takers, struct ax_tx *tx, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < takers->n; i++)
		if (takers->at[i].given)
			status = tx->ops->worker_group_routed(tx, &takers->at[i].part, err);
	return status;
}
