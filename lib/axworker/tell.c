#include "worker.h"

#include <utlist.h>
#include "base/num.h"
#include "choice.h"
#include "sys/attempt_dir.h"
#include "sys/crash_point.h"

/* Which server is told, and when. Each has at most one report on its way. One whose report fails or takes long is not
 * trusted: what it was told is told to another at once, and it has to answer an empty report before it is told anything
 * while there are others. So a server that hangs costs one report's patience, once. */

static const int64_t REPORT_TIMEOUT_MS = 10000;
/* What ends at once is reported with its start: a report that gathers waits so long for results on their way to the
 * disk. */
static const int64_t BRIEF_MS = 10;
static const int64_t REST_FIRST_MS = 200;
static const int64_t REST_LAST_MS = 5000;
static const int64_t REST_MAX_MS = 10000; /* whatever a server wishes: leases must be renewed */

enum { PATIENCE = 8, PATIENCE_MIN_MS = 100 }; /* a report takes long after an eighth of a heartbeat */

static int64_t patience_ms(const struct axw *w)
{
	return AX_MAX(w->heartbeat_ms / PATIENCE, (int64_t)PATIENCE_MIN_MS);
}

static bool is_resting(const struct server *server)
{
	return !server->report && uv_is_active((const uv_handle_t *)&server->look);
}

static bool others_are_trusted(const struct server *server)
{
	const struct axw *w = server->w;
	for (int i = 0; i < w->n_servers; i++)
		if (&w->servers[i] != server && w->servers[i].registered && w->servers[i].trusted)
			return true;
	return false;
}

/* ---- what becomes of a report */

static void look(uv_timer_t *timer);

static void rest(struct server *server, int64_t at_least_ms)
{
	server->rest_ms = server->rest_ms ? AX_MIN(2 * server->rest_ms, REST_LAST_MS) : REST_FIRST_MS;
	int64_t wait = AX_MAX(axw_jitter(server->w, server->rest_ms), AX_MIN(at_least_ms, REST_MAX_MS));
	uv_timer_start(&server->look, look, (uint64_t)wait, 0);
}

static void note_slow(struct server *server, bool slow)
{
	if (server->slow == slow)
		return;
	server->slow = slow;
	axw_log_json(server->w, slow ? AXW_WARN : AXW_INFO, slow ? "server_slow" : "server_quick",
		json_pack("{s:s}", "url", server->url));
}

/* The patience with it is over, or the pause after a failure. */
static void look(uv_timer_t *timer)
{
	struct server *server = timer->data;
	if (server->report) {
		server->trusted = false;
		note_slow(server, true);
		axw_batch_untold(server->batch, server);
	}
	axw_tell_now(server->w);
}

void axw_tell_trust(struct server *server, int64_t took_ms)
{
	server->trusted = took_ms <= patience_ms(server->w);
	note_slow(server, !server->trusted);
	if (server->trusted)
		server->rest_ms = 0;
}

void axw_tell_doubt(struct server *server)
{
	server->trusted = false;
	if (!server->report && !is_resting(server))
		rest(server, 0);
}

/* False when it does not answer what it was told. */
static bool heard(struct server *server, struct batch *b, struct ax_look answer, int64_t sent_ms)
{
	struct axw *w = server->w;
	if (!axw_batch_answered(b, server, ax_look_member(answer, "verdicts"), sent_ms))
		return false;
	int64_t took_ms = ax_boottime_ms() - sent_ms;
	server->answer_ms = server->answer_ms ? (7 * server->answer_ms + took_ms) / 8 : took_ms;
	server->items_max = AXW_ITEMS_MAX;
	axw_unanswered_told(server);
	axw_tell_trust(server, took_ms);
	if (!server->trusted && others_are_trusted(server))
		rest(server, 0);
	axw_report_stops(w, ax_look_member(answer, "stop"));
	return true;
}

static void answered(struct axw *w, struct server *server, int status, const struct axw_answer *answer,
	int64_t retry_after_ms, int64_t sent_ms, void *user)
{
	struct batch *b = user;
	AX_CRASHPOINT("report", "answered");
	server->report = NULL;
	server->batch = NULL;
	w->told_ms = ax_boottime_ms();
	uv_timer_stop(&server->look);
	if (status == 400 || status == 413) {
		axw_batch_refused(b, server, answer->json);
		rest(server, 0);
	} else if (status != 200 || !heard(server, b, answer->look, sent_ms)) {
		server->trusted = false;
		rest(server, retry_after_ms);
		axw_batch_untold(b, server);
		if (status == 401 || status == 403 || status == 404 || status == 409)
			axw_session_lost(server, status, answer->json);
	}
	axw_batch_free(b);
	axw_tell_soon(w);
	axw_dispatch(w);
}

/* ---- sending */

static void send_batch(struct server *server, struct batch *b)
{
	struct axw *w = server->w;
	AX_CRASHPOINT("report", "before");
	struct ax_buf body;
	struct ax_json json;
	ax_buf_init(&body, AXW_BODY_MAX + 1024);
	ax_json_init(&json, &body);
	ax_json_obj(&json, NULL);
	axw_hello_write(w, &json);
	axw_unanswered_write(server, &json);
	ax_json_arr(&json, "items");
	ax_buf_adds(&body, axw_batch_items(b));
	ax_json_arr_end(&json);
	ax_json_obj_end(&json);
	server->batch = b;
	axw_batch_sent(b, server);
	w->told_ms = ax_boottime_ms();
	server->report = axw_call_often(server, "report", &body, REPORT_TIMEOUT_MS, answered, b);
	uv_timer_start(&server->look, look, (uint64_t)patience_ms(w), 0);
}

static void note_standings(const struct axw *w, struct axw_standing *standings)
{
	for (int i = 0; i < w->n_servers; i++) {
		const struct server *server = &w->servers[i];
		standings[i] = (struct axw_standing){
			.open = server->registered && !is_resting(server),
			.busy = server->report != NULL,
			.trusted = server->trusted,
			.answer_ms = server->answer_ms,
		};
	}
}

/* The batches of all servers; how long the first news of progress that must wait has to. */
static int64_t sort(struct axw *w, struct batch **batches)
{
	struct axw_standing standings[AXW_SERVERS_MAX];
	int64_t progress_ms = 0;
	note_standings(w, standings);
	struct axw_attempt *a;
	struct axw_attempt *next;
	DL_FOREACH_SAFE2(w->dirty, a, next, dirty_next)
	{
		if (!axw_report_is_needed(a))
			continue;
		int giver = a->giver ? (int)(a->giver - w->servers) : AXW_NOBODY;
		int to = axw_choose(standings, w->n_servers, giver);
		if (to == AXW_NOBODY)
			continue;
		if (!batches[to])
			batches[to] = axw_batch_new(w->servers[to].items_max);
		axw_batch_add(batches[to], a);
		int64_t wait_ms = axw_progress_wait_ms(a);
		if (wait_ms > 0 && (progress_ms == 0 || wait_ms < progress_ms))
			progress_ms = wait_ms;
	}
	return progress_ms;
}

static void tell_due(uv_timer_t *timer)
{
	struct axw *w = timer->data;
	axw_run_posts(w); /* what has ended meanwhile */
	if (w->brief > 0 && ax_boottime_ms() < w->gather_end_ms)
		uv_timer_start(timer, tell_due, 1, 0);
	else
		axw_tell_now(w);
}

static void tell_in(struct axw *w, int64_t ms)
{
	bool set = uv_is_active((uv_handle_t *)&w->report_timer);
	uv_update_time(&w->loop); /* taking many runs takes long */
	if (!set || uv_timer_get_due_in(&w->report_timer) > (uint64_t)ms)
		uv_timer_start(&w->report_timer, tell_due, (uint64_t)ms, 0);
}

/* A report without items, to whichever server can take one. */
static void send_empty(struct axw *w)
{
	struct axw_standing standings[AXW_SERVERS_MAX];
	note_standings(w, standings);
	int to = axw_choose(standings, w->n_servers, AXW_NOBODY);
	if (to != AXW_NOBODY)
		send_batch(&w->servers[to], axw_batch_new(0));
}

/* Where no report on its way says it. */
static void tell_unanswered(struct axw *w)
{
	if (w->unanswered.n == 0)
		return;
	for (int i = 0; i < w->n_servers; i++)
		if (w->servers[i].report && w->servers[i].trusted && w->servers[i].naming.n > 0)
			return;
	send_empty(w);
}

void axw_tell_now(struct axw *w)
{
	struct batch *batches[AXW_SERVERS_MAX] = { 0 };
	if (w->closing)
		return;
	uv_timer_stop(&w->report_timer);
	w->gather_end_ms = 0;
	int64_t progress_ms = sort(w, batches);
	for (int i = 0; i < w->n_servers; i++) {
		struct server *server = &w->servers[i];
		bool must_answer = server->registered && !server->trusted && !server->report && !is_resting(server);
		if (!batches[i] && must_answer)
			batches[i] = axw_batch_new(0);
		if (batches[i] && (axw_batch_size(batches[i]) > 0 || must_answer))
			send_batch(server, batches[i]);
		else if (batches[i])
			axw_batch_free(batches[i]);
	}
	tell_unanswered(w);
	if (progress_ms > 0)
		tell_in(w, progress_ms);
}

static int64_t gather_ms(const struct axw *w)
{
	bool alone = !w->dirty || !w->dirty->dirty_next;
	int64_t quickest_ms = INT64_MAX;
	for (int i = 0; i < w->n_servers; i++)
		if (w->servers[i].registered && w->servers[i].trusted)
			quickest_ms = AX_MIN(quickest_ms, w->servers[i].answer_ms);
	return axw_gather_ms(alone, ax_boottime_ms() - w->told_ms, quickest_ms == INT64_MAX ? 0 : quickest_ms);
}

void axw_tell_soon(struct axw *w)
{
	if ((!w->dirty && w->unanswered.n == 0) || w->closing)
		return;
	int64_t wait_ms = gather_ms(w);
	if (w->gather_end_ms == 0)
		w->gather_end_ms = ax_boottime_ms() + (wait_ms > 0 ? wait_ms + BRIEF_MS : 0);
	tell_in(w, wait_ms);
}

/* The server sees that this worker lives, and may have something to say. */
void axw_tell_beat(struct axw *w)
{
	axw_tell_now(w);
	for (int i = 0; i < w->n_servers; i++)
		if (w->servers[i].report && w->servers[i].trusted)
			return;
	send_empty(w);
}

bool axw_tell_is_over(const struct axw *w)
{
	for (int i = 0; i < w->n_servers; i++)
		if (w->servers[i].batch && axw_batch_size(w->servers[i].batch) > 0)
			return false;
	return !w->dirty;
}

void axw_tell_abort(struct axw *w)
{
	for (int i = 0; i < w->n_servers; i++) {
		struct server *server = &w->servers[i];
		if (!server->report)
			continue;
		axw_call_abort(server->report);
		axw_batch_free(server->batch);
		server->report = NULL;
		server->batch = NULL;
		uv_timer_stop(&server->look);
	}
}
