#include "server/pulse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/seat.h"
#include "server/server.h"
#include "version.h"

enum {
	BEAT_MS = 250,
	UNSURE_MS = 20, /* … while the time is uncertain */
	HURRY_MS = 100, /* … when another server has something to tell: under load one always has */
	SAMPLE_MS = 1000,
	MOVED_MS = 5,         /* what fires next is looked at again when the time moved by more */
	ASK_MAX = 3,          /* then the time is as certain as this network makes it */
	KEEP_MS = 120 * 1000, /* notices: a server that was away for longer reads everything anew */
	PURGE_MS = 10 * 1000,
	NOTICES_MAX = 100, /* of one server in one beat */
};

/* --- the time ----------------------------------------------------------------------------------------------------- */

static void on_moved(struct ax_errand *errand)
{
	struct ax_news *news = (struct ax_news *)errand;
	ax_scheduler_look(news->hints.server);
	ax_news_free(news);
}

/* In the loop thread. */
static void look_again(struct ax_pulse *pulse)
{
	struct ax_news *news = ax_news_new();
	news->hints.server = pulse->server;
	news->hints.errand.done = on_moved;
	ax_lanes_deliver(&pulse->server->lanes, &news->hints.errand);
}

static enum ax_status sample(struct ax_pulse *pulse, struct ax_err *err)
{
	struct ax_sys_clock *clock = &pulse->server->clock;
	const struct ax_backend_ops *ops = pulse->server->threads.backend->ops;
	int64_t store_ms, from = ax_mono_ms(&clock->port);
	enum ax_status status = ops->now_ms(pulse->link, &store_ms, err);
	if (status != AX_OK)
		return status;
	int64_t to = ax_mono_ms(&clock->port);
	ax_axis_sample(&pulse->axis, from, to, store_ms);
	if (pulse->axis.stepped) /* not believed before it is said twice */
		ax_log_event(&pulse->server->log, AX_LOG_WARN, "store_clock_stepped", "\"by_ms\":%" PRId64,
			ax_axis_base(&pulse->axis) - clock->base_ms);
	else
		clock->base_ms = ax_axis_base(&pulse->axis);
	return AX_OK;
}

/* What is to be believed now; tells the scheduler when that changed. */
static void judge(struct ax_pulse *pulse, int64_t base_before)
{
	int64_t moved = pulse->server->clock.base_ms - base_before;
	enum ax_axis_verdict verdict = ax_axis_judge(&pulse->axis, ax_mono_ms(&pulse->server->clock.port));
	pulse->asked = verdict == AX_AXIS_ASK ? pulse->asked + 1 : 0;
	if (verdict == AX_AXIS_ASK && !pulse->axis.stepped && pulse->asked > ASK_MAX)
		verdict = AX_AXIS_SURE;
	uv_mutex_lock(&pulse->lock);
	bool changed = verdict != pulse->verdict;
	pulse->verdict = verdict;
	uv_mutex_unlock(&pulse->lock);
	if (changed && verdict == AX_AXIS_LOST)
		ax_log_event(&pulse->server->log, AX_LOG_ERROR, "time_lost", "%s",
			"\"message\":\"the store's clock is not known to a second: nothing fires\"");
	if (pulse->running && verdict == AX_AXIS_SURE && (changed || moved > MOVED_MS || moved < -MOVED_MS))
		look_again(pulse);
}

static enum ax_status keep_time(struct ax_pulse *pulse, struct ax_err *err)
{
	int64_t mono = ax_mono_ms(&pulse->server->clock.port), base = pulse->server->clock.base_ms;
	bool due = mono - pulse->axis.sampled_ms >= SAMPLE_MS || pulse->verdict != AX_AXIS_SURE;
	enum ax_status status = due ? sample(pulse, err) : AX_OK;
	judge(pulse, base);
	return status;
}

/* --- news from elsewhere ------------------------------------------------------------------------------------------ */

static void arrived(struct ax_errand *errand)
{
	struct ax_news *news = (struct ax_news *)errand;
	struct ax_server *server = news->hints.server;
	int64_t mono = ax_mono_ms(&server->clock.port);
	for (size_t i = 0; i < news->n_sign_ins; i++) {
		const struct ax_sign_in *s = &news->sign_ins[i];
		if (s->passed)
			ax_login_limit_passed(server->logins, s->account, s->address);
		else
			(void)ax_login_limit_try(server->logins, s->account, s->address, mono);
	}
	ax_live_tell(server, &news->hints, news->reload);
	ax_news_free(news);
}

/* To the loop thread, which frees it. */
static void deliver(struct ax_server *server, struct ax_news *news)
{
	news->hints.errand = (struct ax_errand){ .done = arrived };
	news->hints.server = server;
	ax_lanes_deliver(&server->lanes, &news->hints.errand);
}

/* --- the notice board --------------------------------------------------------------------------------------------- */

struct beat {
	struct ax_pulse *pulse;
	const char *body; /* to put up; NULL = nothing */
	bool purge;
	int64_t now;
	struct ax_servers servers;
	struct ax_notices *notices; /* by server */
};

static struct ax_peer *find_peer(struct ax_pulse *pulse, int64_t incarnation)
{
	for (size_t i = 0; i < pulse->n_peers; i++)
		if (pulse->peers[i].incarnation == incarnation)
			return &pulse->peers[i];
	return NULL;
}

static bool is_other(const struct beat *b, const struct ax_server_row *row)
{
	return row->lease_time > b->now && row->incarnation != b->pulse->ctx.seat->incarnation;
}

static enum ax_status put_up(struct beat *b, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_notice notice = {
		.server = b->pulse->ctx.seat->incarnation, .seq = b->pulse->seq, .time = b->now, .body = b->body
	};
	enum ax_status status = tx->ops->notice_insert(tx, &notice, err);
	return status == AX_EXISTS ? AX_OK : status; /* the try before had an unknown end: it was put up */
}

static enum ax_status exchange(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct beat *b = arg;
	enum ax_status status = b->body != NULL ? put_up(b, tx, err) : AX_OK;
	if (status == AX_OK && b->purge)
		status = tx->ops->notices_purge(tx, b->now - KEEP_MS, err);
	if (status == AX_OK)
		status = tx->ops->servers(tx, &b->servers, err);
	if (status != AX_OK)
		return status;
	b->notices = ax_alloc_array(tx->arena, (size_t)b->servers.n + 1, sizeof *b->notices);
	for (int i = 0; i < b->servers.n && status == AX_OK; i++) {
		const struct ax_server_row *row = &b->servers.at[i];
		const struct ax_peer *peer = find_peer(b->pulse, row->incarnation);
		if (is_other(b, row))
			status = tx->ops->notices(
				tx, row->incarnation, peer == NULL ? 0 : peer->seq, NOTICES_MAX, &b->notices[i], err);
	}
	return status;
}

/* What a server that is gone told last may not have been read; one that was read too late has gaps. */
static void tell_reload(struct ax_pulse *pulse)
{
	struct ax_news *news = ax_news_new();
	news->reload = true;
	deliver(pulse->server, news);
}

static struct ax_peer *add_peer(struct ax_pulse *pulse, int64_t incarnation)
{
	pulse->peers = ax_realloc(pulse->peers, (pulse->n_peers + 1) * sizeof *pulse->peers);
	pulse->peers[pulse->n_peers] = (struct ax_peer){ .incarnation = incarnation };
	return &pulse->peers[pulse->n_peers++];
}

static void take_notices(struct ax_pulse *pulse, struct ax_peer *peer, const struct ax_notices *notices)
{
	if (notices->n > 0 && peer->seq > 0 && notices->at[0].seq != peer->seq + 1)
		tell_reload(pulse);
	for (int i = 0; i < notices->n; i++) {
		deliver(pulse->server, ax_news_read(notices->at[i].body));
		peer->seq = notices->at[i].seq;
	}
}

static void forget_the_gone(struct ax_pulse *pulse)
{
	size_t kept = 0;
	for (size_t i = 0; i < pulse->n_peers; i++)
		if (pulse->peers[i].lives)
			pulse->peers[kept++] = pulse->peers[i];
	if (kept < pulse->n_peers)
		tell_reload(pulse);
	pulse->n_peers = kept;
}

static void meet_the_others(struct ax_pulse *pulse, const struct beat *b)
{
	for (size_t i = 0; i < pulse->n_peers; i++)
		pulse->peers[i].lives = false;
	for (int i = 0; i < b->servers.n; i++) {
		if (!is_other(b, &b->servers.at[i]))
			continue;
		struct ax_peer *peer = find_peer(pulse, b->servers.at[i].incarnation);
		if (peer == NULL)
			peer = add_peer(pulse, b->servers.at[i].incarnation);
		peer->lives = true;
		take_notices(pulse, peer, &b->notices[i]);
	}
	forget_the_gone(pulse);
	pulse->server->board.heard = pulse->n_peers > 0;
}

/* After a failover that lost the newest transactions. */
static enum ax_status be_known_again(struct ax_pulse *pulse, struct ax_err *err)
{
	ax_log_event(&pulse->server->log, AX_LOG_WARN, "store_forgot", "%s",
		"\"message\":\"the store does not know what it knew of this server; was there a failover?\"");
	tell_reload(pulse);
	return ax_seat_renew(&pulse->ctx, err);
}

static enum ax_status exchange_notices(struct ax_pulse *pulse, struct ax_err *err)
{
	int64_t mono = ax_mono_ms(&pulse->server->clock.port), mark = ax_seat_mark(pulse->ctx.seat);
	struct beat b = {
		.pulse = pulse,
		.now = ax_now_ms(&pulse->server->clock.port),
		.purge = mono - pulse->purged_mono_ms >= PURGE_MS,
	};
	if (pulse->telling == NULL)
		pulse->telling = ax_board_take(&pulse->server->board);
	struct ax_buf body;
	ax_buf_init(&body, 1024 * 1024);
	if (pulse->telling != NULL) {
		ax_news_write(pulse->telling, &body);
		b.body = body.data;
	}
	enum ax_status status = ax_store_run(pulse->ctx.store, &pulse->arena, exchange, &b, err);
	ax_buf_done(&body);
	if (status != AX_OK)
		return status;
	if (pulse->telling != NULL) {
		pulse->seq++;
		ax_due_queue_say_changed(pulse->server);
	}
	ax_news_free(pulse->telling);
	pulse->telling = NULL;
	if (b.purge)
		pulse->purged_mono_ms = mono;
	meet_the_others(pulse, &b);
	return ax_seat_is_known(pulse->ctx.seat, mark, &b.servers) ? AX_OK : be_known_again(pulse, err);
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

static void beat(struct ax_pulse *pulse)
{
	struct ax_err err = { 0 };
	enum ax_status status = keep_time(pulse, &err);
	if (status == AX_OK && ax_seat_is_due(&pulse->ctx))
		status = ax_seat_renew(&pulse->ctx, &err);
	if (status == AX_OK)
		status = exchange_notices(pulse, &err);
	ax_arena_reset(&pulse->arena);
	uv_mutex_lock(&pulse->lock);
	bool new = (status == AX_OK) != (pulse->fault[0] == '\0');
	snprintf(pulse->fault, sizeof pulse->fault, "%s", status == AX_OK ? "" : err.msg);
	uv_mutex_unlock(&pulse->lock);
	if (new &&status == AX_OK)
		ax_log_event(&pulse->server->log, AX_LOG_INFO, "store_answers", "%s", "");
	else if (new)
		ax_log_text(&pulse->server->log, AX_LOG_ERROR, "store_does_not_answer", "message", err.msg);
}

/* Until the next beat. */
static int64_t rest(const struct ax_pulse *pulse)
{
	int64_t every_ms = pulse->verdict != AX_AXIS_SURE ? UNSURE_MS : pulse->hurry ? HURRY_MS : BEAT_MS;
	return pulse->beat_mono_ms + every_ms - ax_mono_ms(&pulse->server->clock.port);
}

static void beat_on(void *arg)
{
	struct ax_pulse *pulse = arg;
	uv_mutex_lock(&pulse->lock);
	while (!pulse->stop) {
		int64_t rest_ms = rest(pulse);
		if (rest_ms > 0) {
			(void)uv_cond_timedwait(&pulse->wake, &pulse->lock, (uint64_t)rest_ms * 1000000);
			continue;
		}
		pulse->hurry = false;
		uv_mutex_unlock(&pulse->lock);
		beat(pulse);
		uv_mutex_lock(&pulse->lock);
		pulse->beat_mono_ms = ax_mono_ms(&pulse->server->clock.port);
	}
	uv_mutex_unlock(&pulse->lock);
}

enum ax_status ax_pulse_open(struct ax_server *server, struct ax_err *err)
{
	struct ax_pulse *pulse = &server->pulse;
	struct ax_backend *backend = server->threads.backend;
	pulse->server = server;
	pulse->seq = 1;
	pulse->verdict = AX_AXIS_SURE;
	AX_ASSERT(uv_mutex_init(&pulse->lock) == 0 && uv_cond_init(&pulse->wake) == 0);
	if (!backend->ops->shared)
		return AX_OK;
	pulse->verdict = AX_AXIS_LOST;
	enum ax_status status = backend->ops->link(backend, true, &pulse->link, err);
	if (status != AX_OK)
		return status;
	pulse->ctx = (struct ax_ctx){
		.store = backend->ops->store(pulse->link),
		.clock = &server->clock.port,
		.rand = &server->rand.port,
		.log = &server->log.port,
		.arena = &pulse->arena,
		.seat = &server->threads.seat,
		.server_name = server->threads.server_name,
	};
	for (int i = 0; i <= ASK_MAX && status == AX_OK && pulse->verdict != AX_AXIS_SURE; i++)
		status = keep_time(pulse, err);
	if (status == AX_OK && pulse->verdict != AX_AXIS_SURE)
		status = ax_fail(err, AX_UNAVAILABLE, "--store",
			"the database is so slow to answer that its clock is not known to a second");
	return status;
}

void ax_pulse_start(struct ax_server *server)
{
	struct ax_pulse *pulse = &server->pulse;
	if (pulse->link == NULL)
		return;
	pulse->running = true;
	AX_ASSERT(uv_thread_create(&pulse->id, beat_on, pulse) == 0);
}

void ax_pulse_stop(struct ax_server *server)
{
	struct ax_pulse *pulse = &server->pulse;
	if (pulse->server == NULL) /* never opened */
		return;
	uv_mutex_lock(&pulse->lock);
	pulse->stop = true;
	uv_cond_signal(&pulse->wake);
	uv_mutex_unlock(&pulse->lock);
	if (pulse->running)
		uv_thread_join(&pulse->id);
	pulse->running = false;
	if (pulse->link != NULL)
		server->threads.backend->ops->unlink(pulse->link);
	pulse->link = NULL;
	ax_news_free(pulse->telling);
	free(pulse->peers);
	ax_arena_done(&pulse->arena);
	uv_cond_destroy(&pulse->wake);
	uv_mutex_destroy(&pulse->lock);
	pulse->server = NULL;
}

/* --- for others --------------------------------------------------------------------------------------------------- */

void ax_pulse_hurry(struct ax_server *server)
{
	struct ax_pulse *pulse = &server->pulse;
	uv_mutex_lock(&pulse->lock);
	pulse->hurry = true;
	uv_cond_signal(&pulse->wake);
	uv_mutex_unlock(&pulse->lock);
}

bool ax_pulse_may_fire(struct ax_server *server)
{
	struct ax_pulse *pulse = &server->pulse;
	uv_mutex_lock(&pulse->lock);
	bool sure = pulse->verdict == AX_AXIS_SURE;
	uv_mutex_unlock(&pulse->lock);
	return sure;
}

enum ax_status ax_pulse_check(struct ax_server *server, struct ax_err *err)
{
	struct ax_pulse *pulse = &server->pulse;
	enum ax_status status = AX_OK;
	uv_mutex_lock(&pulse->lock);
	if (pulse->fault[0] != '\0')
		status = ax_fail(err, AX_UNAVAILABLE, "", "%s", pulse->fault);
	else if (pulse->verdict == AX_AXIS_LOST)
		status = ax_fail(err, AX_UNAVAILABLE, "",
			"the clock of the database is not known to a second: nothing fires here");
	uv_mutex_unlock(&pulse->lock);
	return status == AX_OK && pulse->link != NULL ? ax_seat_check(&pulse->ctx, err) : status;
}
