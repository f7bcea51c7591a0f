#include "server/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/num.h"
#include "server/handlers.h"
#include "server/render.h"
#include "server/server.h"

enum {
	STREAMS_PER_CALLER = 10,
	QUEUE_MAX = 256 * 1024, /* bytes that a slow reader may have before it; more hints are left out */
	CHUNKS = 16,            /* of output per feed */
};

static void end_stream(struct ax_stream *s)
{
	struct ax_call *c = s->call;
	DL_DELETE(c->server->live.list, s);
	c->server->live.n--;
	free(s);
	ax_http_stream_end(c->req);
	ax_call_free(c);
}

static void stream_gone(struct ax_call *c)
{
	struct ax_stream *s = c->holder;
	s->over = true;
	if (!s->busy)
		end_stream(s);
}

/* --- one run ------------------------------------------------------------------------------------------------------ */

struct feed_errand {
	struct ax_errand errand;
	struct ax_stream *stream;
	struct ax_call call; /* for the renderers: arena, transaction, buffer */
	struct ax_outputs outputs;
	int64_t rev, gid, fence, seq;
	bool run_changed, ended;
	enum ax_status status;
	struct ax_err err;
};

/* Revision and finished shards both only grow, and so does their sum. */
static enum ax_status add_done(struct ax_call *c, const struct ax_run *parent, int64_t *seen, struct ax_err *err)
{
	int64_t by_state[32];
	enum ax_status status = c->tx->ops->shard_counts(c->tx, parent->gid, by_state, err);
	for (int state = AX_RUN_SUCCESS; status == AX_OK && state < 32; state++)
		*seen += by_state[state];
	return status;
}

static enum ax_status feed(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct feed_errand *f = arg;
	struct ax_call *c = &f->call;
	struct ax_run run;
	c->tx = tx;
	ax_buf_clear(&c->out);
	ax_json_init(&c->json, &c->out);
	enum ax_status status = tx->ops->run_get(tx, f->gid, false, &run, err);
	if (status == AX_OK)
		status = tx->ops->outputs(tx, f->gid, f->fence, f->seq, CHUNKS, &f->outputs, err);
	if (status != AX_OK)
		return status;
	int64_t seen = run.rev;
	if (ax_run_is_parent(&run)) /* its shards tell how far it is */
		status = add_done(c, &run, &seen, err);
	if (status != AX_OK)
		return status;
	f->ended = ax_run_is_terminal(run.status) && f->outputs.n < CHUNKS;
	f->run_changed = seen != f->rev;
	f->rev = seen;
	return f->run_changed ? ax_render_run(c, NULL, &run, err) : AX_OK;
}

static void run_feed(struct ax_errand *errand, struct ax_side *side)
{
	struct feed_errand *f = (struct feed_errand *)errand;
	f->call.now = ax_now_ms(&f->call.server->clock.port);
	f->status = ax_store_run(side->store, &f->call.arena, feed, f, &f->err);
}

static void post_feed(struct ax_stream *s);

/* "fence-seq" of the chunk sent last; none before the first. */
static void send_of_run(struct ax_stream *s, const char *event, const char *data)
{
	char id[48];
	snprintf(id, sizeof id, "%" PRId64 "-%" PRId64, s->fence, s->seq);
	ax_http_sse_send(s->call->req, event, s->seq < 0 ? NULL : id, data);
}

static void resume_run(struct ax_stream *s, const char *last_id)
{
	const char *dash = strchr(last_id, '-');
	int64_t fence, seq;
	if (dash == NULL || !ax_parse_i64(last_id, (size_t)(dash - last_id), 0, INT64_MAX, &fence) ||
		!ax_parse_i64(dash + 1, strlen(dash + 1), 0, INT64_MAX, &seq))
		return;
	s->fence = fence;
	s->seq = seq;
}

static void send_output(struct feed_errand *f)
{
	struct ax_stream *s = f->stream;
	struct ax_buf chunk;
	ax_buf_init(&chunk, 1024 * 1024);
	for (int i = 0; i < f->outputs.n; i++) {
		struct ax_json json;
		ax_buf_clear(&chunk);
		ax_json_init(&json, &chunk);
		ax_render_output(&json, &f->outputs.at[i]);
		s->fence = f->outputs.at[i].fence;
		s->seq = f->outputs.at[i].seq;
		send_of_run(s, "output", chunk.data);
	}
	ax_buf_done(&chunk);
}

static void feed_done(struct ax_errand *errand)
{
	struct feed_errand *f = (struct feed_errand *)errand;
	struct ax_stream *s = f->stream;
	s->busy = false;
	bool end = s->over || f->status == AX_NOT_FOUND;
	if (!s->over && f->status == AX_OK) {
		send_output(f);
		/* output first: the state that ends the stream comes last */
		if (f->run_changed)
			send_of_run(s, "state", f->call.out.data);
		s->rev = f->rev;
		end = f->ended;
		s->again |= f->outputs.n == CHUNKS;
	}
	ax_buf_done(&f->call.out);
	ax_arena_done(&f->call.arena);
	free(f);
	if (end)
		end_stream(s);
	else if (s->again)
		post_feed(s);
}

static void post_feed(struct ax_stream *s)
{
	s->again = s->busy;
	if (s->busy)
		return;
	if (ax_http_stream_queued(s->call->req) > QUEUE_MAX)
		return; /* the timer comes back to it */
	struct feed_errand *f = ax_malloc(sizeof *f);
	f->errand = (struct ax_errand){ .run = run_feed, .done = feed_done };
	f->stream = s;
	f->call.server = s->call->server;
	ax_buf_init(&f->call.out, 1024 * 1024);
	f->gid = s->gid;
	f->rev = s->rev;
	f->fence = s->fence;
	f->seq = s->seq;
	s->busy = true;
	ax_lane_post_own(&s->call->server->lanes, AX_LANE_READ, &f->errand);
}

/* --- everything --------------------------------------------------------------------------------------------------- */

/* The events of one commit, made once for all streams. */
struct event {
	const char *name;
	char *data;
};

/* "start-number": numbers begin anew with the server. */
static void make_id(const struct ax_server *server, int64_t number, char ret[48])
{
	snprintf(ret, 48, "%" PRId64 "-%" PRId64, server->start_time, number);
}

static bool has_room(const struct ax_stream *s)
{
	return ax_http_stream_queued(s->call->req) < QUEUE_MAX;
}

/* The events numbered from `first` on, after the word that some were left out. */
static void send_events(struct ax_stream *s, const struct event *events, size_t n, int64_t first)
{
	struct ax_server *server = s->call->server;
	char id[48];
	if (s->reload && has_room(s)) {
		make_id(server, first - 1, id);
		ax_http_sse_send(s->call->req, "reload", id, "{}");
		s->reload = false;
	}
	for (size_t i = 0; i < n && !s->reload; i++) {
		make_id(server, first + (int64_t)i, id);
		if (has_room(s))
			ax_http_sse_send(s->call->req, events[i].name, id, events[i].data);
		else
			s->reload = true;
	}
}

static size_t make_events(struct ax_hints *h, struct event **ret)
{
	size_t n = 0;
	struct event *events = ax_alloc_array(&h->arena, h->n_tasks + h->n_runs + h->n_workers + 1, sizeof *events);
	for (size_t i = 0; i < h->n_tasks; i++)
		events[n++] = (struct event){ "task", ax_sprintf(&h->arena, "{\"id\":\"%" PRId64 "\"}", h->tasks[i]) };
	for (size_t i = 0; i < h->n_runs; i++) {
		const struct ax_run_hint *run = &h->runs[i];
		bool like_before =
			i > 0 && run->parent != 0 && run->parent == run[-1].parent && run->status == run[-1].status;
		if (like_before) /* one of a run's shards stands for all of them */
			continue;
		events[n++] = (struct event){ "run",
			ax_sprintf(&h->arena, "{\"gid\":\"%" PRId64 "\",\"task_id\":\"%" PRId64 "\",\"status\":\"%s\"}",
				run->gid, run->task_id, ax_run_state_name(run->status)) };
	}
	for (size_t i = 0; i < h->n_workers; i++) /* names need no escapes */
		events[n++] = (struct event){ "worker", ax_sprintf(&h->arena, "{\"worker\":\"%s\"}", h->workers[i]) };
	*ret = events;
	return n;
}

static bool concerns(const struct ax_stream *s, const struct ax_hints *h)
{
	for (size_t i = 0; i < h->n_runs; i++)
		if (h->runs[i].gid == s->gid || h->runs[i].parent == s->gid)
			return true;
	return false;
}

void ax_live_tell(struct ax_server *server, struct ax_hints *h, bool reload)
{
	ax_polls_hints(server, h);
	if (server->live.n == 0)
		return;
	struct event *events;
	size_t n = make_events(h, &events);
	int64_t first = server->live.n_events + 1;
	server->live.n_events += (int64_t)n;
	struct ax_stream *s, *next;
	DL_FOREACH_SAFE(server->live.list, s, next)
	{
		if (s->over)
			continue;
		if (s->gid != 0) {
			if (reload || concerns(s, h))
				post_feed(s);
			continue;
		}
		s->reload |= reload;
		send_events(s, events, n, first);
	}
}

void ax_live_hints(struct ax_errand *errand)
{
	struct ax_hints *h = (struct ax_hints *)errand;
	struct ax_server *server = h->server;
	/* a due queue that leads is told below of what is due */
	if (h->tick_soon || (h->due_soon && ax_due_queue_leads_ms(server) == 0))
		ax_scheduler_look(server);
	ax_board_hints(&server->board, h);
	ax_due_queue_hints(server, h);
	ax_live_tell(server, h, h->n_runs == AX_HINT_RUNS_MAX); /* perhaps not all were told */
	ax_hints_free(h);
}

/* --- credentials -------------------------------------------------------------------------------------------------- */

/* Over a shared store another server may have revoked one. */
struct check_errand {
	struct ax_errand errand;
	struct ax_server *server;
	struct ax_arena arena;
	struct credential {
		int64_t token_id;
		const char *hash;
		bool gone;
	} * of;
	int n;
	enum ax_status status;
	struct ax_err err;
};

static enum ax_status check(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct check_errand *check = arg;
	struct ax_server *server = check->server;
	int64_t now = ax_now_ms(&server->clock.port);
	for (int i = 0; i < check->n; i++) {
		struct ax_caller who;
		enum ax_status status = ax_account_admit(tx, check->of[i].hash, now, server->config.dev, &who, err);
		check->of[i].gone = status == AX_UNAUTHENTICATED;
		if (status != AX_OK && status != AX_UNAUTHENTICATED)
			return status;
	}
	return AX_OK;
}

static void run_check(struct ax_errand *errand, struct ax_side *side)
{
	struct check_errand *c = (struct check_errand *)errand;
	c->status = ax_store_run(side->store, &c->arena, check, c, &c->err);
}

static void check_done(struct ax_errand *errand)
{
	struct check_errand *c = (struct check_errand *)errand;
	c->server->live.checking = false;
	for (int i = 0; i < c->n && c->status == AX_OK; i++)
		if (c->of[i].gone)
			ax_live_revoke(c->server, c->of[i].token_id);
	ax_arena_done(&c->arena);
	free(c);
}

static void check_credentials(struct ax_server *server)
{
	if (server->live.checking || server->live.n == 0 || !server->threads.backend->ops->shared)
		return;
	struct check_errand *c = ax_malloc(sizeof *c);
	c->errand = (struct ax_errand){ .run = run_check, .done = check_done };
	c->server = server;
	c->of = ax_alloc_array(&c->arena, (size_t)server->live.n, sizeof *c->of);
	struct ax_stream *s;
	DL_FOREACH(server->live.list, s)
	{
		c->of[c->n++] =
			(struct credential){ s->call->who.token_id, ax_strdup(&c->arena, s->call->hash), false };
	}
	server->live.checking = true;
	ax_lane_post_own(&server->lanes, AX_LANE_READ, &c->errand);
}

/* --- beginning and ending ----------------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer)
{
	struct ax_server *server = timer->data;
	int64_t now = ax_now_ms(&server->clock.port);
	struct ax_stream *s, *next;
	DL_FOREACH_SAFE(server->live.list, s, next)
	{
		if (s->call->who.valid_until <= now)
			stream_gone(s->call);
		else if (s->gid != 0 && !s->over)
			post_feed(s);
		else if (!s->over)
			send_events(s, NULL, 0, server->live.n_events + 1);
	}
	check_credentials(server);
	if (server->live.n == 0)
		uv_timer_stop(timer);
}

void ax_live_begin(struct ax_call *c)
{
	struct ax_live *live = &c->server->live;
	int same = 0;
	struct ax_stream *s;
	DL_FOREACH(live->list, s)
	{
		same += s->call->who.token_id == c->who.token_id;
	}
	if (same >= STREAMS_PER_CALLER) {
		c->retry_after_s = 5;
		ax_front_fail(c, AX_LIMITED, "", "this caller has 10 streams open; close one first");
		return;
	}
	s = ax_malloc(sizeof *s);
	s->call = c;
	s->rev = s->seq = -1;
	if (c->route->handler == ax_get_run_live)
		AX_ASSERT(ax_parse_i64(c->param[0], strlen(c->param[0]), 1, INT64_MAX, &s->gid));
	const char *last_id = ax_http_header(c->req, "last-event-id");
	char newest[48];
	make_id(c->server, live->n_events, newest);
	if (last_id != NULL && s->gid != 0)
		resume_run(s, last_id);
	else
		s->reload = last_id != NULL && strcmp(last_id, newest) != 0;
	c->holder = s;
	c->on_gone = c->on_drain = stream_gone;
	DL_APPEND(live->list, s);
	live->n++;
	ax_http_sse_begin(c->req, NULL);
	if (!uv_is_active((uv_handle_t *)&live->timer))
		uv_timer_start(&live->timer, on_timer, 1000, 1000);
	if (s->gid != 0)
		post_feed(s);
	else
		send_events(s, NULL, 0, live->n_events + 1);
}

void ax_live_revoke(struct ax_server *server, int64_t token_id)
{
	struct ax_stream *s, *next;
	DL_FOREACH_SAFE(server->live.list, s, next)
	{
		if (s->call->who.token_id == token_id)
			stream_gone(s->call);
	}
}

void ax_live_init(struct ax_server *server)
{
	AX_ASSERT(uv_timer_init(&server->loop, &server->live.timer) == 0);
	server->live.timer.data = server;
}
