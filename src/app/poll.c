#include "app/poll.h"

#include <string.h>

#include "app/waiting.h"
#include "base/err.h"
#include "port/ids.h"

struct look {
	struct ax_ctx *ctx;
	struct ax_poll *polls;
	const struct ax_worker **workers; /* of those that are not known */
	int n;
	bool any;
};

static bool may_take(const struct ax_poll *poll, int group)
{
	return poll->status == AX_OK && !poll->drain && poll->free[group].slots > 0;
}

static bool is_to_be_looked_at(const struct ax_poll *poll, int group)
{
	return may_take(poll, group) && !poll->free[group].idle;
}

static bool may_have_some(const struct ax_poll *poll, int group)
{
	return may_take(poll, group) && poll->free[group].waits;
}

/* Each once, in key order. */
static const char **list_groups(const struct ax_poll *polls, int n, bool (*fits)(const struct ax_poll *poll, int group),
	struct ax_arena *arena, int *ret_n)
{
	int found = 0, max = 0;
	for (int i = 0; i < n; i++)
		max += polls[i].n_free;
	const char **keys = ax_alloc_array(arena, (size_t)max + 1, sizeof(*keys));
	for (int i = 0; i < n; i++)
		for (int g = 0; g < polls[i].n_free; g++)
			if (fits(&polls[i], g))
				keys[found++] = polls[i].free[g].group_key;
	*ret_n = ax_names_sort(keys, found).n;
	return keys;
}

const char **ax_polls_groups(const struct ax_poll *polls, int n, const char *after, struct ax_arena *arena, int *ret_n)
{
	const char **keys = list_groups(polls, n, may_have_some, arena, ret_n);
	const char **circle = ax_alloc_array(arena, (size_t)*ret_n + 1, sizeof(*circle));
	int first = 0;
	while (first < *ret_n && strcmp(keys[first], after) <= 0)
		first++;
	for (int i = 0; i < *ret_n; i++)
		circle[i] = keys[(first + i) % *ret_n];
	return circle;
}

void ax_polls_again(struct ax_poll *polls, int n, const char *group_key, int64_t again_ms)
{
	for (int i = 0; i < n; i++)
		for (int g = 0; g < polls[i].n_free; g++)
			if (strcmp(polls[i].free[g].group_key, group_key) == 0)
				polls[i].free[g].again_ms = again_ms;
}

struct ax_order *ax_poll_add_order(struct ax_poll *poll, struct ax_arena *arena)
{
	poll->orders =
		ax_grow_array(arena, poll->orders, (size_t)poll->n_orders, 1, &poll->cap_orders, sizeof(*poll->orders));
	return &poll->orders[poll->n_orders++];
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

static void clear(struct ax_poll *poll)
{
	for (int g = 0; g < poll->n_free; g++) {
		poll->free[g].waits = false;
		poll->free[g].again_ms = AX_AGAIN_NEVER;
	}
	poll->stops = NULL;
	poll->n_stops = 0;
	poll->orders = NULL;
	poll->n_orders = 0;
	poll->cap_orders = 0;
}

static bool is_new(const struct ax_poll *poll)
{
	return !poll->known;
}

static bool is_welcome(const struct ax_poll *poll)
{
	return is_new(poll) && poll->status == AX_OK;
}

static struct ax_names list_workers(
	const struct look *look, bool (*fits)(const struct ax_poll *poll), struct ax_arena *arena)
{
	const char **names = ax_alloc_array(arena, (size_t)look->n + 1, sizeof(*names));
	int n = 0;
	for (int i = 0; i < look->n; i++)
		if (fits(&look->polls[i]))
			names[n++] = look->polls[i].worker;
	return ax_names_sort(names, n);
}

/* Each worker's in one piece, for the first of its polls. */
static void hand_out_stops(struct look *look, struct ax_stop *stops, int n)
{
	for (int at = 0, some; at < n; at += some) {
		const char *worker = stops[at].worker;
		int i = 0;
		for (some = 1; at + some < n && strcmp(stops[at + some].worker, worker) == 0;)
			some++;
		while (i < look->n && !(is_welcome(&look->polls[i]) && strcmp(look->polls[i].worker, worker) == 0))
			i++;
		AX_ASSERT(i < look->n);
		look->polls[i].stops = &stops[at];
		look->polls[i].n_stops = some;
	}
}

/* Who asks: their incarnations, whether they drain, what they shall stop. All at once: over a network each question is
 * a trip. */
static enum ax_status greet(struct look *look, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_workers workers;
	struct ax_names names = list_workers(look, is_new, tx->arena);
	struct ax_stop *stops;
	int n_stops;
	if (names.n == 0)
		return AX_OK;
	enum ax_status status = tx->ops->workers_by_name(tx, &names, false, &workers, err);
	for (int i = 0; status == AX_OK && i < look->n; i++) {
		struct ax_poll *poll = &look->polls[i];
		struct ax_err why;
		if (!is_new(poll))
			continue;
		poll->stops = NULL; /* the transaction may be called again */
		poll->n_stops = 0;
		poll->status = ax_worker_find(&workers, poll->worker, poll->incarnation, &look->workers[i], &why);
		poll->drain = poll->status == AX_OK && ax_worker_is_stopped(look->workers[i]);
	}
	if (status != AX_OK)
		return status;
	names = list_workers(look, is_welcome, tx->arena);
	status = ax_worker_stops(look->ctx, tx, &names, &stops, &n_stops, err);
	if (status == AX_OK)
		hand_out_stops(look, stops, n_stops);
	return status;
}

static void mark_waiting(struct look *look, const char *group_key)
{
	look->any = true;
	for (int i = 0; i < look->n; i++)
		for (int g = 0; g < look->polls[i].n_free; g++)
			if (strcmp(look->polls[i].free[g].group_key, group_key) == 0)
				look->polls[i].free[g].waits = true;
}

static enum ax_status look_at_all(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct look *look = arg;
	int n = 0;
	enum ax_status status = greet(look, tx, err);
	const char **keys =
		status == AX_OK ? list_groups(look->polls, look->n, is_to_be_looked_at, tx->arena, &n) : NULL;
	for (int i = 0; status == AX_OK && i < n; i++) {
		bool waits;
		status = ax_waiting_any(tx, keys[i], &waits, err);
		if (status == AX_OK && waits)
			mark_waiting(look, keys[i]);
	}
	return status;
}

/* Its worker has several polls here. */
static bool is_seen_before(const struct look *look, int at)
{
	for (int i = 0; i < at; i++)
		if (!look->polls[i].known && look->polls[i].status == AX_OK && look->workers[i] == look->workers[at])
			return true;
	return false;
}

enum ax_status ax_polls_look(struct ax_ctx *ctx, struct ax_poll *polls, int n, bool *ret_any, struct ax_err *err)
{
	struct look look = { .ctx = ctx, .polls = polls, .n = n };
	look.workers = ax_alloc_array(ctx->arena, (size_t)n + 1, sizeof(*look.workers));
	bool anything = false;
	for (int i = 0; i < n; i++) {
		clear(&polls[i]);
		anything = anything || !polls[i].known;
		for (int g = 0; g < polls[i].n_free; g++)
			anything = anything || is_to_be_looked_at(&polls[i], g);
	}
	enum ax_status status = anything ? ax_store_run(ctx->store, ctx->arena, look_at_all, &look, err) : AX_OK;
	for (int i = 0; status == AX_OK && i < n; i++)
		if (!polls[i].known && polls[i].status == AX_OK && !is_seen_before(&look, i))
			ax_worker_seen(ctx, look.workers[i]);
	*ret_any = status == AX_OK && look.any;
	return status;
}
