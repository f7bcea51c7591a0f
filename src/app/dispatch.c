#include "app/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "app/alert_rules.h"
#include "app/change.h"
#include "app/run_def.h"
#include "core/limits.h"

/* A parked poll as one group sees it. */
struct taker {
	struct ax_poll *poll;
	const char *executors;
	int64_t room;  /* runs it may still get */
	int64_t given; /* runs it holds: the idlest goes first */
};

struct pass {
	struct ax_ctx *ctx;
	struct ax_poll *polls;
	int n;
	int64_t now;
	const char **executors; /* per poll */
};

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The groups that any poll has room for, in key order: the order in which group rows are locked everywhere. */
static const char **group_keys(struct pass *pass, int *ret_n)
{
	int n = 0, max = 0;
	for (int i = 0; i < pass->n; i++)
		max += pass->polls[i].n_free;
	const char **keys = ax_alloc_array(pass->ctx->arena, (size_t)max + 1, sizeof(*keys));
	for (int i = 0; i < pass->n; i++)
		for (int g = 0; pass->polls[i].status == AX_OK && !pass->polls[i].drain && g < pass->polls[i].n_free;
			g++)
			keys[n++] = pass->polls[i].free[g].group_key;
	if (n > 0)
		qsort(keys, (size_t)n, sizeof(*keys), compare_keys);
	int unique = 0;
	for (int i = 0; i < n; i++)
		if (unique == 0 || strcmp(keys[unique - 1], keys[i]) != 0)
			keys[unique++] = keys[i];
	*ret_n = unique;
	return keys;
}

static enum ax_status find_takers(struct pass *pass, struct ax_tx *tx, const char *group_key, struct taker *takers,
	int *ret_n, struct ax_err *err)
{
	int n = 0;
	for (int i = 0; i < pass->n; i++) {
		struct ax_poll *poll = &pass->polls[i];
		for (int g = 0; poll->status == AX_OK && !poll->drain && g < poll->n_free; g++) {
			struct ax_worker_group wg;
			if (strcmp(poll->free[g].group_key, group_key) != 0)
				continue;
			enum ax_status status = tx->ops->worker_group_get(tx, poll->worker, group_key, true, &wg, err);
			if (status == AX_NOT_FOUND)
				continue; /* it did not register for this group */
			if (status != AX_OK)
				return status;
			int64_t room = AX_MIN(poll->free[g].slots, wg.pool_size * AX_BACKLOG_FACTOR - wg.given);
			if (room > 0)
				takers[n++] = (struct taker){ poll, pass->executors[i], room, wg.given };
		}
	}
	*ret_n = n;
	return AX_OK;
}

/* The idlest worker that has room and offers the executor; NULL when there is none. */
static struct taker *choose(struct taker *takers, int n, const char *executor_key)
{
	struct taker *best = NULL;
	for (int i = 0; i < n; i++)
		if (takers[i].room > 0 && ax_worker_offers(takers[i].executors, executor_key) &&
			(best == NULL || takers[i].given < best->given))
			best = &takers[i];
	return best;
}

static int compare_rank(const void *a, const void *b)
{
	const struct ax_run *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->gid < y->gid ? -1 : x->gid > y->gid;
}

/* Claimable runs of all executors that the takers offer, in the order of claiming, at most `limit`. */
static enum ax_status claimable(struct pass *pass, struct ax_tx *tx, const char *group_key, const struct taker *takers,
	int n, int limit, struct ax_runs *ret, struct ax_err *err)
{
	struct ax_arena *arena = pass->ctx->arena;
	const char **seen = NULL;
	size_t n_seen = 0, cap = 0;
	*ret = (struct ax_runs){ 0 };
	for (int i = 0; i < n; i++) {
		for (char *rest = ax_strdup(arena, takers[i].executors), *name; (name = strsep(&rest, " ")) != NULL;) {
			size_t known = 0;
			while (known < n_seen && strcmp(seen[known], name) != 0)
				known++;
			if (known < n_seen || name[0] == '\0')
				continue;
			seen = ax_grow_array(arena, seen, n_seen, 1, &cap, sizeof(*seen));
			seen[n_seen++] = name;
			struct ax_runs some;
			enum ax_status status = tx->ops->runs_claimable(tx, group_key, name, limit, &some, err);
			if (status != AX_OK)
				return status;
			struct ax_run *all = ax_alloc_array(arena, (size_t)(ret->n + some.n) + 1, sizeof(*all));
			for (int k = 0; k < ret->n; k++)
				all[k] = ret->at[k];
			for (int k = 0; k < some.n; k++)
				all[ret->n + k] = some.at[k];
			*ret = (struct ax_runs){ all, ret->n + some.n };
		}
	}
	if (ret->n > 1)
		qsort(ret->at, (size_t)ret->n, sizeof(*ret->at), compare_rank);
	ret->n = AX_MIN(ret->n, limit);
	return AX_OK;
}

/* Room for one more order; the array doubles as it fills. */
static struct ax_order *next_order(struct ax_arena *arena, struct ax_poll *poll)
{
	int n = poll->n_orders;
	if ((n & (n - 1)) == 0) { /* 0, 1, 2, 4, 8 …: full */
		struct ax_order *grown = ax_alloc_array(arena, n == 0 ? 1 : (size_t)n * 2, sizeof(*grown));
		for (int i = 0; i < n; i++)
			grown[i] = poll->orders[i];
		poll->orders = grown;
	}
	return &poll->orders[n];
}

static enum ax_status give(struct pass *pass, struct ax_tx *tx, const struct ax_group *group, struct ax_run *run,
	struct taker *taker, struct ax_err *err)
{
	static const struct ax_change claim = { .event = AX_EV_CLAIM, .reason = "" };
	struct ax_poll *poll = taker->poll;
	struct ax_order *order = next_order(pass->ctx->arena, poll);
	run->worker = poll->worker;
	run->incarnation = poll->incarnation;
	enum ax_status status = ax_change_run(pass->ctx, tx, run, &claim, pass->now, err);
	if (status == AX_OK)
		status = ax_run_def(tx, run, &order->def, err);
	if (status == AX_OK && run->fence == 1)
		status = ax_alert_run_given(pass->ctx, tx, &order->def, group, run, pass->now, err);
	if (status != AX_OK)
		return status;
	order->run = *run;
	poll->n_orders++;
	taker->room--;
	taker->given++;
	return AX_OK;
}

static enum ax_status serve_group(struct pass *pass, struct ax_tx *tx, const char *group_key, struct ax_err *err)
{
	struct ax_group group;
	enum ax_status status = tx->ops->group_get(tx, group_key, true, &group, err);
	if (status == AX_NOT_FOUND)
		return AX_OK;
	if (status != AX_OK || group.paused || group.running >= group.dispatch_quota)
		return status;
	struct taker *takers = ax_alloc_array(pass->ctx->arena, (size_t)pass->n + 1, sizeof(*takers));
	int n;
	status = find_takers(pass, tx, group_key, takers, &n, err);
	if (status != AX_OK || n == 0)
		return status;
	int64_t room = 0;
	for (int i = 0; i < n; i++)
		room += takers[i].room;
	room = AX_MIN(AX_MIN(room, group.dispatch_quota - group.running), (int64_t)AX_BATCH);
	struct ax_runs runs;
	status = claimable(pass, tx, group_key, takers, n, (int)room, &runs, err);
	for (int i = 0; status == AX_OK && i < runs.n; i++) {
		struct taker *taker = choose(takers, n, runs.at[i].executor_key);
		if (taker != NULL)
			status = give(pass, tx, &group, &runs.at[i], taker, err);
	}
	if (status == AX_OK && runs.n == AX_BATCH) /* there may be more: once again, in a transaction of its own */
		pass->ctx->notify->ops->group_ready(pass->ctx->notify, group_key);
	return status;
}

/* Who asks: its incarnation, whether it drains, what it shall stop. */
static enum ax_status greet(struct pass *pass, struct ax_tx *tx, int i, struct ax_err *err)
{
	struct ax_poll *poll = &pass->polls[i];
	struct ax_worker worker;
	struct ax_err why = { 0 };
	poll->n_orders = 0;
	poll->orders = NULL;
	poll->status = ax_worker_seen(pass->ctx, tx, poll->worker, poll->incarnation, pass->now, &worker, &why);
	if (poll->status == AX_NOT_FOUND || poll->status == AX_CONFLICT)
		return AX_OK;
	if (poll->status != AX_OK) {
		if (err != NULL)
			*err = why;
		return poll->status;
	}
	poll->drain = worker.status == AX_WORKER_DRAINING;
	pass->executors[i] = worker.executors;
	return ax_worker_stops(pass->ctx, tx, poll->worker, &poll->stops, &poll->n_stops, err);
}

static enum ax_status serve(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < pass->n; i++)
		status = greet(pass, tx, i, err);
	int n = 0;
	const char **keys = status == AX_OK ? group_keys(pass, &n) : NULL;
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
		.executors = ax_alloc_array(ctx->arena, (size_t)n + 1, sizeof(*pass.executors)),
	};
	return ax_store_run(ctx->store, ctx->arena, serve, &pass, err);
}
