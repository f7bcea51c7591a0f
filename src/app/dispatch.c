#include "app/dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/alert_rules.h"
#include "app/change.h"
#include "app/turn.h"
#include "core/room.h"

enum {
	LOST_RACES = 5,  /* to other servers, before it is an error */
	ROUND_MS = 1000, /* for the turns of a call, beyond the one that it ends in */
};

static int by_task(const void *a, const void *b)
{
	const struct ax_run *x = &(*(struct ax_choice *const *)a)->order.run;
	const struct ax_run *y = &(*(struct ax_choice *const *)b)->order.run;
	return (x->task_id > y->task_id) - (x->task_id < y->task_id);
}

/* Before the group is locked, as in reports; in the order of the tasks, as in other claims. */
static enum ax_status tell_late(struct ax_turn *t, struct ax_err *err)
{
	struct ax_choice *order[AX_BATCH];
	enum ax_status status = AX_OK;
	memcpy(order, t->choices, sizeof(order));
	qsort(order, (size_t)t->n_choices, sizeof(*order), by_task);
	ax_turn_begin_while(t);
	for (int i = 0; status == AX_OK && i < t->n_choices; i++) {
		const struct ax_order *o = &order[i]->order;
		order[i]->left = i > 0 && ax_turn_while_is_over(t);
		if (!order[i]->left && o->run.fence == 0)
			status = ax_alert_run_given(t->ctx, t->tx, &o->def, &t->group, &o->run, t->now, err);
	}
	return status;
}

/* By the locked rows: what they have no room for any more is left. */
static enum ax_status give(struct ax_turn *t, struct ax_choice *c, struct ax_err *err)
{
	static const struct ax_change claim = { .event = AX_EV_CLAIM, .reason = "" };
	struct ax_run *run = &c->order.run;
	struct ax_taker *taker = &t->takers.at[c->taker];
	c->left = c->left || !ax_taker_may_have(&t->takers, taker, run) || ax_turn_is_too_late(t, c->poll);
	if (c->left) {
		ax_turn_again(t, AX_AGAIN_NOW);
		return AX_OK;
	}
	run->worker = taker->worker->name;
	run->incarnation = taker->worker->incarnation;
	run->poll = c->poll->number;
	/* read anew: what waits here may have come due at another server while this one waited for the group */
	enum ax_status status = ax_change_run(t->ctx, t->tx, run, &claim, ax_now_ms(t->ctx->clock), err);
	run->params = c->params;
	c->order.long_share_percent = t->group.long_share_percent;
	ax_turn_count(t, run);
	ax_takers_count(&t->takers, taker, run, c->order.def.route);
	return status;
}

static enum ax_status serve(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_turn *t = arg;
	*t = (struct ax_turn){ .ctx = t->ctx, .polls = t->polls, .n = t->n, .group_key = t->group_key, .tx = tx };
	t->again_ms = AX_AGAIN_NEVER;
	t->now = ax_now_ms(t->ctx->clock);
	t->began_mono = ax_mono_ms(t->ctx->clock);
	t->waiting.group_key = t->group_key;
	t->takers = (struct ax_takers){ .group = &t->group, .now = t->now };
	enum ax_status status = tx->ops->group_get(tx, t->group_key, false, &t->group, err);
	if (status != AX_OK || t->group.paused || ax_group_room(&t->group, AX_RUN_LANE_SHORT) <= 0)
		return status == AX_NOT_FOUND ? AX_OK : status;
	status = ax_takers_find(&t->takers, tx, t->polls, t->n, err);
	if (status == AX_OK && ax_takers_have_room(&t->takers))
		status = ax_turn_choose(t, err);
	if (status != AX_OK || t->n_choices == 0)
		return status;
	status = tell_late(t, err);
	if (status == AX_OK)
		status = ax_takers_lock(&t->takers, tx, &t->group, err);
	for (int i = 0; status == AX_OK && i < t->n_choices; i++)
		status = give(t, t->choices[i], err);
	return status == AX_OK ? ax_takers_remember(&t->takers, tx, err) : status;
}

static enum ax_status serve_group(struct ax_turn *t, int *given, struct ax_err *err)
{
	enum ax_status status = AX_CONFLICT;
	for (int tries = 0; status == AX_CONFLICT && tries <= LOST_RACES; tries++)
		status = ax_store_run(t->ctx->store, t->ctx->arena, serve, t, err);
	for (int i = 0; status == AX_OK && i < t->n_choices; i++)
		if (!t->choices[i]->left) {
			*ax_poll_add_order(t->choices[i]->poll, t->ctx->arena) = t->choices[i]->order;
			(*given)++;
		}
	/* what was given before is answered, and this group has another try */
	ax_polls_again(t->polls, t->n, t->group_key, status == AX_OK ? t->again_ms : AX_AGAIN_HELD);
	return *given > 0 ? AX_OK : status;
}

enum ax_status ax_dispatch(struct ax_ctx *ctx, struct ax_poll *polls, int n, struct ax_round *round, struct ax_err *err)
{
	int n_keys, served = 0, given = 0;
	const char **keys = ax_polls_groups(polls, n, round->after, ctx->arena, &n_keys);
	int64_t until = ax_mono_ms(ctx->clock) + ROUND_MS;
	enum ax_status status = AX_OK;
	for (; status == AX_OK && served < n_keys && (served == 0 || ax_mono_ms(ctx->clock) < until); served++) {
		struct ax_turn turn = { .ctx = ctx, .polls = polls, .n = n, .group_key = keys[served] };
		status = serve_group(&turn, &given, err);
	}
	if (served < n_keys || status != AX_OK) /* also behind one that fails: it may fail again */
		snprintf(round->after, sizeof(round->after), "%s", keys[served - 1]);
	for (; served < n_keys; served++)
		ax_polls_again(polls, n, keys[served], AX_AGAIN_NOW);
	return status;
}
