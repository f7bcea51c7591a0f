#include "server/polls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "app/ingest.h"
#include "base/num.h"
#include "core/limits.h"
#include "server/server.h"
#include "server/worker_json.h"
#include "sys/crash_point.h"

struct dispatch_errand {
	struct ax_errand errand;
	struct ax_server *server;
	struct ax_arena arena;
	struct ax_parked **parked;
	struct ax_poll *polls;    /* of those that may be served */
	struct ax_parked **owner; /* of polls[i] */
	int n_parked, n_polls;
	const char **groups; /* that it looks at, of parked polls */
	int n_groups;
	struct ax_dispatching *place;
	bool all;
	bool hurry; /* it looks only where there is something for sure */
	bool found; /* runs that wait */
	int given;
	enum ax_status status;
	struct ax_err err;
};

enum {
	AGAIN_MS = 200, /* after an errand that failed */
	WAYS_MS = 1000, /* of a poll and its answer, between worker and server */
	IDLE_MS = 10,   /* between looks that find nothing, where each is a trip */
};

static void serve(struct ax_server *server);

/* --- ending a poll ------------------------------------------------------------------------------------------------ */

static void unpark(struct ax_parked *p)
{
	struct ax_polls *polls = &p->call->server->polls;
	DL_DELETE(polls->list, p);
	polls->n--;
	p->call->holder = NULL;
	p->call->on_gone = NULL;
	p->call->on_drain = NULL;
	free(p);
}

static void answer(struct ax_parked *p)
{
	struct ax_call *c = p->call;
	if (p->poll.n_orders > 0)
		AX_CRASHPOINT("claim", "before_reply");
	ax_worker_write_poll(&c->json, &p->poll);
	bool gives = p->poll.n_orders > 0;
	unpark(p);
	ax_front_answer(c);
	if (gives)
		AX_CRASHPOINT("claim", "after_reply");
}

/* As the call says that it failed. */
static void refuse(struct ax_parked *p)
{
	struct ax_call *c = p->call;
	unpark(p);
	ax_front_answer(c);
}

static void end_poll(struct ax_parked *p)
{
	p->poll.n_orders = p->poll.n_stops = 0;
	if (p->call->failed != AX_OK)
		refuse(p);
	else
		answer(p);
}

static void poll_gone(struct ax_call *c)
{
	struct ax_parked *p = c->holder;
	if (p->busy)
		p->over = true;
	else
		end_poll(p);
}

/* --- orders that reached nobody ------------------------------------------------------------------------------------
 */

struct return_errand {
	struct ax_errand errand;
	struct ax_arena arena;
	struct ax_server *server;
	struct ax_report report;
	enum ax_status status;
	struct ax_err err;
};

static void run_return(struct ax_errand *errand, struct ax_side *side)
{
	struct return_errand *r = (struct return_errand *)errand;
	struct ax_arena *own = side->ctx->arena;
	side->ctx->arena = &r->arena;
	r->status = ax_ingest(side->ctx, &r->report, &r->err);
	side->ctx->arena = own;
}

static void return_done(struct ax_errand *errand)
{
	struct return_errand *r = (struct return_errand *)errand;
	if (r->status != AX_OK) /* they go back when their time to be accepted is over */
		ax_log_text(&r->server->log, AX_LOG_WARN, "orders_not_returned", "message", r->err.msg);
	ax_arena_done(&r->arena);
	free(r);
}

/* Whoever polled is gone, and not a byte of the answer was sent: as if the worker had given them back unstarted. */
static void return_orders(struct ax_parked *p)
{
	struct return_errand *r = ax_malloc(sizeof *r);
	struct ax_poll *poll = &p->poll;
	r->errand = (struct ax_errand){ .run = run_return, .done = return_done };
	r->server = p->call->server;
	const char **groups = ax_alloc_array(&r->arena, (size_t)poll->n_free + 1, sizeof *groups);
	struct ax_item *items = ax_alloc_array(&r->arena, (size_t)poll->n_orders, sizeof *items);
	for (int i = 0; i < poll->n_free; i++)
		groups[i] = ax_strdup(&r->arena, poll->free[i].group_key);
	for (int i = 0; i < poll->n_orders; i++)
		items[i] = ax_item_given_back(&poll->orders[i].run);
	r->report = (struct ax_report){
		.worker = ax_strdup(&r->arena, poll->worker),
		.incarnation = ax_strdup(&r->arena, poll->incarnation),
		.groups = groups,
		.items = items,
		.n = poll->n_orders,
		.unheard = true,
	};
	poll->n_orders = 0;
	ax_lane_post_own(&r->server->lanes, AX_LANE_WRITE, &r->errand);
}

/* --- the dispatch errand ---------------------------------------------------------------------------------------------
 */

static enum ax_status admit_poll(struct ax_tx *tx, struct ax_parked *p)
{
	struct ax_call *c = p->call;
	c->tx = tx;
	c->now = ax_now_ms(&c->server->clock.port);
	enum ax_status status = ax_call_admit(c, &c->err);
	if (status == AX_OK)
		status = ax_worker_check_groups(c, p->poll.worker, &c->err);
	for (int i = 0; i < p->poll.n_free && status == AX_OK; i++)
		if (!ax_worker_token_covers(c, p->poll.free[i].group_key))
			status = ax_fail(&c->err, AX_DENIED, "free", "the worker token is not for the group `%.64s`",
				p->poll.free[i].group_key);
	c->tx = NULL;
	return status;
}

/* Leaves out the polls that may not be served; a store that fails, fails the errand. Who was admitted when it came need
 * not be before there is something for it. */
static enum ax_status admit_polls(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct dispatch_errand *d = arg;
	d->n_polls = 0;
	for (int i = 0; i < d->n_parked; i++) {
		struct ax_parked *p = d->parked[i];
		p->call->failed = p->poll.known ? AX_OK : admit_poll(tx, p);
		if (ax_status_http(p->call->failed) >= 500) {
			*err = p->call->err;
			return p->call->failed;
		}
		if (p->call->failed != AX_OK)
			continue;
		d->polls[d->n_polls] = p->poll;
		d->owner[d->n_polls++] = p;
	}
	return AX_OK;
}

/* Who has been asked about already, with the same credential: workers of a group share one. NULL: nobody. */
static const struct ax_call *asked_alike(const struct dispatch_errand *d, int i)
{
	const struct ax_call *c = d->owner[i]->call;
	for (int k = 0; k < i && c->hash != NULL && !c->by_cookie; k++) {
		const struct ax_call *other = d->owner[k]->call;
		if (d->polls[k].known && other->hash != NULL && !other->by_cookie && strcmp(other->hash, c->hash) == 0)
			return other;
	}
	return NULL;
}

static void ask_again(const struct dispatch_errand *d, int i, struct ax_tx *tx)
{
	struct ax_call *c = d->owner[i]->call;
	const struct ax_call *alike = asked_alike(d, i);
	if (alike != NULL) {
		c->failed = alike->failed;
		c->err = alike->err;
		return;
	}
	c->tx = tx;
	c->now = ax_now_ms(&c->server->clock.port);
	c->failed = ax_call_admit(c, &c->err);
	c->tx = NULL;
}

/* Is the credential still good, by which it was admitted? */
static enum ax_status admit_again(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct dispatch_errand *d = arg;
	for (int i = 0; i < d->n_polls; i++) {
		struct ax_call *c = d->owner[i]->call;
		if (!d->polls[i].known)
			continue;
		ask_again(d, i, tx);
		if (ax_status_http(c->failed) >= 500) {
			*err = c->err;
			return c->failed;
		}
		if (c->failed != AX_OK)
			d->polls[i].status = c->failed;
	}
	return AX_OK;
}

static bool holds(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* What errands of the same commit said before this one is looked at with it. */
static void hear(struct dispatch_errand *d, const struct ax_hints *h)
{
	for (int i = 0; i < d->n_parked; i++) {
		struct ax_poll *poll = &d->parked[i]->poll;
		bool changed = holds(h->workers, h->n_workers, poll->worker);
		if (changed || holds(h->stops, h->n_stops, poll->worker))
			poll->known = false;
		for (int g = 0; g < poll->n_free; g++)
			if (changed || holds(h->groups, h->n_groups, poll->free[g].group_key))
				poll->free[g].idle = false;
	}
}

static bool any_is(const struct dispatch_errand *d, bool known)
{
	for (int i = 0; i < d->n_parked; i++)
		if (d->parked[i]->poll.known == known)
			return true;
	return false;
}

static enum ax_status look_and_give(struct dispatch_errand *d, struct ax_side *side)
{
	enum ax_status status = any_is(d, false) ? ax_store_run(side->store, &d->arena, admit_polls, d, &d->err)
						 : admit_polls(NULL, d, &d->err);
	if (status == AX_OK && d->n_polls > 0)
		status = ax_polls_look(side->ctx, d->polls, d->n_polls, &d->found, &d->err);
	if (status == AX_OK && d->found && any_is(d, true))
		status = ax_store_run(side->store, &d->arena, admit_again, d, &d->err);
	if (status == AX_OK && d->found)
		status = ax_dispatch(side->ctx, d->polls, d->n_polls, &d->place->round, &d->err);
	return status;
}

static void run_dispatch(struct ax_errand *errand, struct ax_side *side)
{
	struct dispatch_errand *d = (struct dispatch_errand *)errand;
	struct ax_arena *own = side->ctx->arena;
	side->ctx->arena = &d->arena;
	hear(d, side->collector->hints);
	d->status = look_and_give(d, side);
	for (int i = 0; i < d->n_polls; i++)
		d->given += d->polls[i].n_orders;
	if (d->given > 0)
		AX_CRASHPOINT("claim", "before_commit");
	side->ctx->arena = own;
	if (d->status == AX_OK && d->all)
		ax_collector_served(side->collector);
}

static void fail_poll(struct ax_parked *p, enum ax_status status, const char *field, const char *msg)
{
	struct ax_call *c = p->call;
	unpark(p);
	ax_front_fail(c, status, field, msg);
}

static void set_bit(uint64_t *bits, int at, bool value)
{
	*bits = (*bits & ~(UINT64_C(1) << at)) | (uint64_t)value << at;
}

static uint64_t all_groups(const struct ax_parked *p)
{
	return p->poll.n_free == (int)AX_COUNT(p->poll.free) ? UINT64_MAX : (UINT64_C(1) << p->poll.n_free) - 1;
}

static void go_on_later(struct ax_polls *polls, struct ax_parked *p, int64_t mono_ms)
{
	p->later = true;
	if (polls->again_mono_ms == 0 || mono_ms < polls->again_mono_ms)
		polls->again_mono_ms = mono_ms;
}

/* There was nothing for it, or not yet. */
static void stay(struct ax_parked *p)
{
	struct ax_server *server = p->call->server;
	for (int g = 0; g < p->poll.n_free; g++) {
		if (!p->poll.free[g].idle)
			set_bit(&p->waiting, g, p->poll.free[g].waits);
		int64_t in_ms = p->poll.free[g].again_ms;
		if (in_ms != AX_AGAIN_NEVER)
			set_bit(&p->ready, g, true);
		if (in_ms == AX_AGAIN_NOW)
			p->wanted = true;
		else if (in_ms != AX_AGAIN_NEVER)
			go_on_later(&server->polls, p, ax_mono_ms(&server->clock.port) + in_ms);
	}
}

/* What the errand brought for one poll: an answer, or back to the others. */
static void take_back(struct ax_parked *p)
{
	if (p->poll.n_orders > 0 && ax_http_is_gone(p->call->req))
		return_orders(p);
	if (p->call->failed != AX_OK) {
		refuse(p);
	} else if (p->poll.status == AX_NOT_FOUND) {
		fail_poll(p, AX_NOT_FOUND, "worker", "unknown worker: register again");
	} else if (p->poll.status != AX_OK) {
		fail_poll(p, p->poll.status, "incarnation", "another incarnation of this worker has registered");
	} else if (p->poll.n_orders > 0 || p->poll.n_stops > 0 || p->over || (p->poll.drain && !p->drained)) {
		answer(p);
	} else {
		p->drained = p->poll.drain;
		stay(p);
	}
}

static void arm(struct ax_server *server);

/* Nothing was given out, and that may pass: a poll that has time left waits on. */
static void bear(struct ax_parked *p, enum ax_status status, const struct ax_err *err)
{
	struct ax_call *c = p->call;
	c->failed = status;
	c->err = *err;
	if (p->over || (status != AX_BUSY && status != AX_UNAVAILABLE)) {
		refuse(p);
		return;
	}
	p->wanted = false; /* in a while */
	p->said = true;
	p->ready = all_groups(p);
	go_on_later(&c->server->polls, p, ax_mono_ms(&c->server->clock.port) + AGAIN_MS);
}

static void dispatch_failed(struct dispatch_errand *d, enum ax_status status, const struct ax_err *err)
{
	struct ax_server *server = d->server;
	struct ax_polls *polls = &server->polls;
	if (!polls->failing) /* said once: it is tried again all the time */
		ax_log_text(&server->log, AX_LOG_ERROR, "dispatch_failed", "message", err->msg);
	polls->failing = true;
	for (int i = 0; i < d->n_parked; i++) {
		d->parked[i]->busy = false;
		bear(d->parked[i], status, err);
	}
	arm(server);
	serve(server);
}

static void dispatch_done(struct ax_errand *errand)
{
	struct dispatch_errand *d = (struct dispatch_errand *)errand;
	struct ax_server *server = d->server;
	d->place->errand = NULL;
	if (d->status != AX_OK || errand->commit != AX_OK) {
		bool own = d->status != AX_OK;
		dispatch_failed(d, own ? d->status : errand->commit, own ? &d->err : &errand->commit_err);
	} else {
		server->polls.failing = false;
		for (int i = 0; i < d->n_polls; i++)
			d->owner[i]->poll = d->polls[i];
		for (int i = 0; i < d->n_parked; i++) {
			d->parked[i]->busy = false;
			take_back(d->parked[i]);
		}
		if (d->given == 0 && !d->hurry)
			server->polls.idle_mono_ms = ax_mono_ms(&server->clock.port);
		arm(server);
		serve(server);
	}
	ax_arena_done(&d->arena);
	free(d);
}

/* Where several threads write, one for each errand that is under way. */
static struct ax_dispatching *find_place(struct ax_server *server)
{
	struct ax_polls *polls = &server->polls;
	int n = server->threads.backend->ops->batch_max > 1 ? 1 : AX_DISPATCHING_MAX;
	for (int i = 0; i < n; i++)
		if (polls->dispatching[i].errand == NULL)
			return &polls->dispatching[i];
	return NULL;
}

static bool is_being_looked_at(const struct ax_polls *polls, const char *group)
{
	for (int i = 0; i < AX_DISPATCHING_MAX; i++) {
		const struct dispatch_errand *d = polls->dispatching[i].errand;
		for (int g = 0; d != NULL && g < d->n_groups; g++)
			if (strcmp(d->groups[g], group) == 0)
				return true;
	}
	return false;
}

/* What of the poll can be looked at now: two errands for one group would only wait for each other. */
static uint64_t find_takeable(const struct ax_polls *polls, const struct ax_parked *p, uint64_t wanted)
{
	uint64_t found = 0;
	for (int g = 0; g < p->poll.n_free && wanted >> g != 0; g++)
		if ((wanted >> g & 1) != 0 && !is_being_looked_at(polls, p->poll.free[g].group_key))
			set_bit(&found, g, true);
	return found;
}

/* With what is to be looked at; the rest stays ready for the next time. */
static void take_along(struct dispatch_errand *d, struct ax_parked *p, uint64_t groups)
{
	for (int g = 0; g < p->poll.n_free; g++) {
		const char *group = p->poll.free[g].group_key;
		p->poll.free[g].idle = (groups >> g & 1) == 0;
		if (!p->poll.free[g].idle && !holds(d->groups, (size_t)d->n_groups, group))
			d->groups[d->n_groups++] = group;
	}
	p->poll.known = !p->said;
	p->ready &= ~groups;
	p->fresh &= ~groups;
	p->wanted = p->wanted && p->ready != 0;
	p->later = p->later && p->ready != 0;
	p->said = false;
	p->taken = p->busy = true;
	d->parked[d->n_parked++] = p;
}

/* Much is said where many runs end, and seldom does one wait. */
static bool is_too_soon(struct ax_server *server)
{
	int64_t until = server->polls.idle_mono_ms + IDLE_MS;
	return server->threads.backend->ops->batch_max == 1 && ax_mono_ms(&server->clock.port) < until;
}

/* What of the poll an errand is to look at. A poll that has just come is looked at at once, and so is a run that waits
 * where none did: a group that is at its quota all the time must not hold up the others. */
static bool is_to_be_taken(const struct ax_parked *p, bool hurry, uint64_t *ret_groups)
{
	*ret_groups = hurry && !p->said ? p->fresh : p->ready;
	return !p->busy && p->wanted && (!hurry || p->said || p->fresh != 0);
}

/* The others' time comes. */
static void look_later(struct ax_server *server)
{
	struct ax_polls *polls = &server->polls;
	int64_t until = polls->idle_mono_ms + IDLE_MS;
	if (polls->again_mono_ms != 0 && polls->again_mono_ms <= until)
		return;
	polls->again_mono_ms = until;
	arm(server);
}

/* With the polls that are to be taken, which ask for so many groups, as far as these can be looked at now. */
static void post(struct ax_server *server, struct ax_dispatching *place, bool hurry, int n_groups)
{
	struct ax_polls *polls = &server->polls;
	struct dispatch_errand *d = ax_malloc(sizeof *d);
	d->errand = (struct ax_errand){ .run = run_dispatch, .done = dispatch_done };
	d->server = server;
	d->place = place;
	d->hurry = hurry;
	d->parked = ax_alloc_array(&d->arena, (size_t)polls->n, sizeof(struct ax_parked *));
	d->groups = ax_alloc_array(&d->arena, (size_t)n_groups + 1, sizeof *d->groups);
	uint64_t wanted;
	struct ax_parked *p;
	DL_FOREACH(polls->list, p)
	{
		if (!is_to_be_taken(p, hurry, &wanted))
			continue;
		uint64_t groups = find_takeable(polls, p, wanted);
		/* who is greeted again may have something to stop */
		if (groups != 0 || wanted == 0 || (p->said && p->taken))
			take_along(d, p, groups);
	}
	if (d->n_parked == 0) {
		ax_arena_done(&d->arena);
		free(d);
		return;
	}
	d->all = !hurry && d->n_parked == polls->n;
	d->polls = ax_alloc_array(&d->arena, (size_t)d->n_parked, sizeof *d->polls);
	d->owner = ax_alloc_array(&d->arena, (size_t)d->n_parked, sizeof(struct ax_parked *));
	place->errand = d;
	ax_lane_post_own(&server->lanes, AX_LANE_WRITE, &d->errand);
}

static void serve(struct ax_server *server)
{
	struct ax_polls *polls = &server->polls;
	if (polls->n == 0) /* also when the last errand comes back from threads that have ended */
		return;
	struct ax_dispatching *place = find_place(server);
	if (place == NULL)
		return;
	bool hurry = is_too_soon(server), any = false, others = false;
	int n_groups = 0;
	uint64_t wanted;
	struct ax_parked *p;
	DL_FOREACH(polls->list, p)
	{
		bool now = is_to_be_taken(p, hurry, &wanted);
		any = any || now;
		n_groups += now ? p->poll.n_free : 0;
		others = others || (!now && !p->busy && p->wanted);
	}
	if (hurry && others)
		look_later(server);
	if (any)
		post(server, place, hurry, n_groups);
}

/* --- when to serve ------------------------------------------------------------------------------------------------ */

void ax_polls_follow(struct ax_server *server)
{
	struct ax_parked *p;
	if (server->threads.backend->ops->batch_max == 1)
		return; /* another thread looks before that commit: it says itself what is ready */
	DL_FOREACH(server->polls.list, p)
	{
		p->wanted = true;
	}
	serve(server);
}

static void tell(struct ax_parked *p, const struct ax_hints *h)
{
	const struct ax_poll *poll = &p->poll;
	bool changed = holds(h->workers, h->n_workers, poll->worker); /* it may be given runs again */
	bool said = changed || holds(h->stops, h->n_stops, poll->worker);
	p->said = p->said || said;
	p->wanted = p->wanted || said;
	for (int g = 0; g < poll->n_free; g++) {
		const char *group = poll->free[g].group_key;
		if (poll->free[g].slots <= 0 || (!changed && !holds(h->groups, h->n_groups, group)))
			continue;
		set_bit(&p->ready, g, true);
		p->wanted = true;
		if ((p->waiting >> g & 1) == 0 && holds(h->fresh, h->n_fresh, group))
			set_bit(&p->fresh, g, true);
	}
}

void ax_polls_hints(struct ax_server *server, const struct ax_hints *hints)
{
	if (hints->n_groups == 0 && hints->n_stops == 0 && hints->n_workers == 0)
		return;
	struct ax_parked *p;
	DL_FOREACH(server->polls.list, p)
	{
		tell(p, hints);
	}
	serve(server);
}

static void on_timer(uv_timer_t *timer)
{
	struct ax_server *server = timer->data;
	int64_t now = ax_mono_ms(&server->clock.port);
	struct ax_parked *p, *next;
	DL_FOREACH_SAFE(server->polls.list, p, next)
	{
		if (p->deadline_mono_ms > now)
			continue;
		if (p->busy)
			p->over = true;
		else
			end_poll(p);
	}
	if (server->polls.again_mono_ms != 0 && server->polls.again_mono_ms <= now) {
		server->polls.again_mono_ms = 0;
		DL_FOREACH(server->polls.list, p)
		{
			p->wanted = p->wanted || p->later;
		}
		serve(server);
	}
	arm(server);
}

/* For the earliest deadline, and for the next try. */
static void arm(struct ax_server *server)
{
	struct ax_polls *polls = &server->polls;
	int64_t now = ax_mono_ms(&server->clock.port);
	int64_t first = polls->again_mono_ms != 0 ? polls->again_mono_ms : INT64_MAX;
	struct ax_parked *p;
	DL_FOREACH(polls->list, p)
	{
		if (!p->over)
			first = AX_MIN(first, p->deadline_mono_ms);
	}
	if (first < INT64_MAX)
		uv_timer_start(&polls->timer, on_timer, (uint64_t)AX_MAX(first - now, (int64_t)1), 0);
}

bool ax_polls_park(struct ax_call *c)
{
	struct ax_server *server = c->server;
	struct ax_parked *p = ax_malloc(sizeof *p);
	int64_t wait_ms = AX_POLL_WAIT_MS;
	if (ax_worker_read_poll(c, &p->poll, &wait_ms, &c->err) != AX_OK) {
		free(p);
		return false;
	}
	ax_buf_init(&c->out, 64 * 1024 * 1024);
	ax_json_init(&c->json, &c->out);
	p->call = c;
	p->wanted = p->said = true;
	p->ready = all_groups(p);
	p->drained = true; /* a worker that is draining when it asks knows, or hears it at the end of its wait */
	p->deadline_mono_ms = ax_mono_ms(&server->clock.port) + wait_ms;
	p->poll.stale_mono = ax_mono_ms(&server->clock.port) + AX_START_WITHIN_MS - WAYS_MS;
	c->holder = p;
	c->on_gone = poll_gone;
	c->on_drain = poll_gone;
	DL_APPEND(server->polls.list, p);
	server->polls.n++;
	if (!uv_is_active((uv_handle_t *)&server->polls.timer) || wait_ms < AX_POLL_WAIT_MS)
		arm(server);
	serve(server);
	return true;
}

void ax_polls_revoke(struct ax_server *server, int64_t token_id)
{
	struct ax_parked *p, *next;
	DL_FOREACH_SAFE(server->polls.list, p, next)
	{
		if (p->call->who.token_id != token_id)
			continue;
		if (p->busy)
			p->over = true;
		else
			fail_poll(p, AX_UNAUTHENTICATED, "", "the token was revoked");
	}
}

void ax_polls_init(struct ax_server *server)
{
	AX_ASSERT(uv_timer_init(&server->loop, &server->polls.timer) == 0);
	server->polls.timer.data = server;
}
