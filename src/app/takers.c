#include "app/takers.h"

#include <string.h>

#include "core/room.h"
#include "port/ids.h"

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

/* What the poll asks for, and can still have. */
static int64_t slots_of(const struct ax_takers *takers, const struct ax_poll *poll)
{
	if (poll->stale_mono != 0 && poll->stale_mono < takers->answer_mono)
		return 0;
	for (int i = 0; poll->status == AX_OK && !poll->drain && i < poll->n_free; i++)
		if (strcmp(poll->free[i].group_key, takers->group->group_key) == 0)
			return poll->free[i].slots;
	return 0;
}

/* A worker that is not what it was when it asked, or has not registered for this group, takes nothing. */
static void add_poll(struct ax_takers *takers, struct ax_poll *poll, const struct ax_workers *workers,
	const struct ax_worker_groups *parts)
{
	struct ax_taker taker = { .poll = poll, .slots = slots_of(takers, poll) };
	struct ax_taker *known = find_known(takers, poll->worker);
	struct ax_err why;
	if (taker.slots <= 0)
		return;
	if (known != NULL) {
		known->poll = poll;
		known->slots = taker.slots;
		return;
	}
	enum ax_status status = ax_worker_find(workers, poll->worker, poll->incarnation, &taker.worker, &why);
	if (status != AX_OK) {
		poll->status = status;
		return;
	}
	const struct ax_worker_group *part = ax_worker_part(parts, poll->worker);
	if (part == NULL || ax_worker_is_stopped(taker.worker))
		return;
	taker.part = *part;
	add(takers, &taker);
}

enum ax_status ax_takers_find(
	struct ax_takers *takers, struct ax_tx *tx, struct ax_poll *polls, int n, struct ax_err *err)
{
	struct ax_workers workers;
	struct ax_worker_groups parts;
	const char **asking = ax_alloc_array(tx->arena, (size_t)n + 1, sizeof(*asking));
	int n_asking = 0;
	make_room(takers, tx->arena, n);
	takers->polls = polls;
	/* so late that it is newer than what any worker was given before, were the clock right */
	takers->order = takers->now * 1000;
	for (int i = 0; i < n; i++)
		if (slots_of(takers, &polls[i]) > 0)
			asking[n_asking++] = polls[i].worker;
	const struct ax_names names = ax_names_sort(asking, n_asking);
	enum ax_status status = tx->ops->workers_by_name(tx, &names, false, &workers, err);
	if (status == AX_OK)
		status = tx->ops->group_workers_by_name(tx, takers->group->group_key, &names, false, &parts, err);
	for (int i = 0; status == AX_OK && i < n; i++)
		add_poll(takers, &polls[i], &workers, &parts);
	return status;
}

enum ax_status ax_takers_find_others(struct ax_takers *takers, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_worker_groups parts;
	struct ax_workers workers;
	if (takers->others_known)
		return AX_OK;
	takers->others_known = true;
	enum ax_status status = ax_workers_of_group(tx, takers->group->group_key, &parts, &workers, err);
	if (status != AX_OK)
		return status;
	make_room(takers, tx->arena, workers.n);
	for (int i = 0; i < workers.n; i++) {
		const struct ax_worker *worker = &workers.at[i];
		if (find_known(takers, worker->name) == NULL && ax_worker_is_online(worker, takers->now))
			add(takers,
				&(struct ax_taker){ .worker = worker, .part = *ax_worker_part(&parts, worker->name) });
	}
	return status;
}

bool ax_takers_answer_at(struct ax_takers *takers, int64_t mono_ms)
{
	bool any = false;
	takers->answer_mono = mono_ms;
	for (int i = 0; i < takers->n; i++) {
		struct ax_taker *taker = &takers->at[i];
		if (taker->slots <= 0 || slots_of(takers, taker->poll) > 0)
			continue;
		taker->slots = 0; /* older ones are stale, too */
		any = true;
	}
	return any;
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

static struct ax_names list_chosen(struct ax_takers *takers, struct ax_arena *arena)
{
	const char **names = ax_alloc_array(arena, (size_t)takers->n + 1, sizeof(*names));
	int n = 0;
	for (int i = 0; i < takers->n; i++) {
		takers->at[i].given = false;
		if (takers->at[i].chosen)
			names[n++] = takers->at[i].worker->name;
	}
	return ax_names_sort(names, n);
}

/* By the locked rows: it may have left meanwhile, or be another incarnation. */
static void judge(struct ax_takers *takers, struct ax_taker *taker, const struct ax_workers *workers,
	const struct ax_worker_groups *parts)
{
	struct ax_err why;
	const struct ax_worker *worker;
	const struct ax_worker_group *part = ax_worker_part(parts, taker->worker->name);
	enum ax_status status = ax_worker_find(workers, taker->worker->name, taker->worker->incarnation, &worker, &why);
	taker->lost = status != AX_OK || part == NULL || ax_worker_is_stopped(worker);
	if (status == AX_OK)
		taker->worker = worker;
	if (part != NULL)
		taker->part = *part;
	takers->order = AX_MAX(takers->order, taker->part.given_order);
}

enum ax_status ax_takers_lock(struct ax_takers *takers, struct ax_tx *tx, struct ax_group *group, struct ax_err *err)
{
	struct ax_workers workers;
	struct ax_worker_groups parts;
	const struct ax_names names = list_chosen(takers, tx->arena);
	enum ax_status status = tx->ops->workers_by_name(tx, &names, true, &workers, err);
	if (status == AX_OK)
		status = tx->ops->group_get(tx, group->group_key, true, group, err);
	if (status == AX_OK)
		status = tx->ops->group_workers_by_name(tx, group->group_key, &names, true, &parts, err);
	for (int i = 0; status == AX_OK && i < takers->n; i++)
		if (takers->at[i].chosen)
			judge(takers, &takers->at[i], &workers, &parts);
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
