#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "base/arena.h"
#include "base/num.h"
#include "sys/attempt_dir.h"

/* Items are not queued: every attempt knows what a server has yet to hear of it, a report says as much as fits, and
 * the answer's verdicts clear what was said. A report that is lost is said again by itself. */

static const int64_t REPORT_TIMEOUT_MS = 10000;
static const int64_t PROGRESS_MS = 1000;
static const int64_t SOON_MS = 2;         /* what ends together is reported together */
static const size_t TEXT_MAX = 600 << 10; /* six times this, as JSON may spell it, is below the body's limit */

enum item_type { ITEM_ACCEPTED, ITEM_STARTED, ITEM_HEARTBEAT, ITEM_PROGRESS, ITEM_OUTPUT, ITEM_RESULT };

struct item {
	struct axw_attempt *attempt; /* a reference */
	enum item_type type;
	uint32_t seq; /* ITEM_OUTPUT */
};

struct batch {
	json_t *items;
	size_t text; /* bytes of text in it */
	size_t n;
	size_t max;
	struct item said[AXW_ITEMS_MAX];
};

void axw_report_mark(struct axw_attempt *a)
{
	if (a->dirty)
		return;
	a->dirty = true;
	DL_APPEND2(a->w->dirty, a, dirty_prev, dirty_next);
}

void axw_report_unmark(struct axw_attempt *a)
{
	if (!a->dirty)
		return;
	a->dirty = false;
	DL_DELETE2(a->w->dirty, a, dirty_prev, dirty_next);
}

bool axw_report_pending(const struct axw *w)
{
	return w->dirty || w->report;
}

/* ---- building a batch */

static bool has_room(const struct batch *b, size_t text)
{
	return b->n < b->max && (b->n == 0 || b->text + text <= TEXT_MAX);
}

static void say(struct batch *b, struct axw_attempt *a, enum item_type type, uint32_t seq, size_t text, json_t *item)
{
	static const char *const names[] = { "accepted", "started", "heartbeat", "progress", "output", "result" };
	json_object_set_new(item, "type", json_string(names[type]));
	json_object_set_new(item, "gid", json_string(a->gid_text));
	json_object_set_new(item, "fence", json_integer((json_int_t)a->id.fence));
	json_array_append_new(b->items, item);
	axw_attempt_ref(a);
	b->said[b->n++] = (struct item){ .attempt = a, .type = type, .seq = seq };
	b->text += text;
}

static void say_flag(struct batch *b, struct axw_attempt *a, bool due, enum item_type type)
{
	if (due && has_room(b, 0))
		say(b, a, type, 0, 0, json_object());
}

/* How long news of progress must wait: it is told at most once a second, and once more at the end. */
static int64_t progress_wait_ms(const struct axw_attempt *a)
{
	return a->result_due ? 0 : AX_MAX(a->progress_said_ms + PROGRESS_MS - ax_boottime_ms(), 0);
}

static bool progress_may_go(const struct axw_attempt *a)
{
	return a->progress_due && progress_wait_ms(a) == 0;
}

static void say_texts(struct batch *b, struct axw_attempt *a)
{
	uv_mutex_lock(&a->w->lock);
	if (progress_may_go(a) && has_room(b, AXW_PROGRESS_MAX)) {
		a->progress_due = false; /* a newer one may come while this one is on its way */
		a->progress_said_ms = ax_boottime_ms();
		say(b, a, ITEM_PROGRESS, 0, AXW_PROGRESS_MAX,
			json_pack("{s:i, s:s}", "percent", a->percent, "message", a->progress));
	}
	for (struct output *o = a->out; o && has_room(b, o->len); o = o->next)
		say(b, a, ITEM_OUTPUT, o->seq, o->len,
			json_pack("{s:i, s:s%}", "seq", (int)o->seq, "data", o->text, o->len));
	uv_mutex_unlock(&a->w->lock);
}

/* The result comes after all output, for with it the attempt is over. */
static void say_result(struct batch *b, struct axw_attempt *a)
{
	size_t size = AXW_RESULT_MAX / 4; /* few are near the limit */
	if (a->more_output)
		return;
	if (a->out &&
		(b->n == 0 || b->said[b->n - 1].attempt != a || b->said[b->n - 1].type != ITEM_OUTPUT ||
			b->said[b->n - 1].seq + 1 != a->out_seq))
		return;
	if (has_room(b, size))
		say(b, a, ITEM_RESULT, 0, size, json_copy(a->result_item));
}

static struct batch *build(struct axw *w)
{
	struct batch *b = ax_malloc(sizeof(*b));
	b->items = json_array();
	b->max = w->report_items_max;
	struct axw_attempt *a;
	DL_FOREACH2(w->dirty, a, dirty_next)
	{
		say_flag(b, a, a->accepted_due, ITEM_ACCEPTED);
		say_flag(b, a, a->started_due, ITEM_STARTED);
		say_flag(b, a, a->heartbeat_due, ITEM_HEARTBEAT);
		if (!a->forget)
			say_texts(b, a);
		if (a->result_due)
			say_result(b, a);
		if (!has_room(b, 0))
			break;
	}
	return b;
}

static void free_batch(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		axw_attempt_unref(b->said[i].attempt);
	json_decref(b->items);
	free(b);
}

/* ---- the answer */

static void output_heard(struct axw_attempt *a, uint32_t seq)
{
	struct axw *w = a->w;
	uv_mutex_lock(&w->lock);
	struct output *o = a->out;
	if (o && o->seq == seq) {
		a->out = o->next;
		if (!a->out)
			a->out_last = NULL;
		w->output_waiting -= o->len;
		free(o->text);
		free(o);
	}
	uv_mutex_unlock(&w->lock);
}

static void heard(const struct item *item, const char *verdict, int64_t sent_ms)
{
	struct axw_attempt *a = item->attempt;
	bool good = strcmp(verdict, "applied") == 0 || strcmp(verdict, "duplicate") == 0;
	switch (item->type) {
	case ITEM_ACCEPTED:
		a->accepted_due = false;
		break;
	case ITEM_STARTED:
		a->started_due = false;
		if (good)
			axw_attempt_confirmed(a);
		break;
	case ITEM_HEARTBEAT:
		a->heartbeat_due = false;
		if (good)
			axw_attempt_renewed(a, sent_ms);
		break;
	case ITEM_PROGRESS:
		break;
	case ITEM_OUTPUT:
		output_heard(a, item->seq);
		return; /* of a finished attempt it may well be late */
	case ITEM_RESULT:
		axw_attempt_delivered(a);
		return;
	}
	if (strcmp(verdict, "late") == 0)
		axw_attempt_stop(a, AXW_STOP_LOST);
	else if (strcmp(verdict, "stop") == 0)
		axw_attempt_stop(a, AXW_STOP_CANCEL);
}

/* "stop" may name attempts that no item mentioned. */
void axw_report_stops(struct axw *w, json_t *stops)
{
	size_t i;
	json_t *stop;
	json_array_foreach(stops, i, stop)
	{
		const char *gid = json_string_value(json_object_get(stop, "gid"));
		const char *reason = json_string_value(json_object_get(stop, "reason"));
		int64_t number;
		if (!gid || !ax_parse_i64(gid, strlen(gid), 1, INT64_MAX, &number))
			continue;
		struct axw_attempt *a =
			axw_attempt_find(w, number, (int64_t)json_integer_value(json_object_get(stop, "fence")));
		if (a)
			axw_attempt_stop(a, reason && strcmp(reason, "cancel") == 0 ? AXW_STOP_CANCEL : AXW_STOP_LOST);
	}
}

static bool has_more_to_say(const struct axw_attempt *a)
{
	return a->accepted_due || a->started_due || a->heartbeat_due || (a->result_due && !a->more_output) || a->out;
}

static void clean_up(struct axw *w)
{
	struct axw_attempt *a;
	struct axw_attempt *next;
	uv_mutex_lock(&w->lock);
	DL_FOREACH_SAFE2(w->dirty, a, next, dirty_next)
	{
		if (!has_more_to_say(a) && !a->progress_due)
			axw_report_unmark(a);
	}
	uv_mutex_unlock(&w->lock);
}

static void report_due(uv_timer_t *timer)
{
	axw_report_now(timer->data);
}

static void say_again(struct axw *w, int64_t at_least_ms)
{
	w->report_backoff_ms = w->report_backoff_ms ? AX_MIN(2 * w->report_backoff_ms, 5000) : 200;
	uv_timer_start(&w->report_timer, report_due, (uint64_t)AX_MAX(w->report_backoff_ms, at_least_ms), 0);
}

/* A batch that is refused as a whole is our fault. It is said again item by item until the one that is wrong is
 * alone; that one is given up, loudly, so that it does not hold up the others for ever. */
static void refused(struct axw *w, struct batch *b, json_t *answer)
{
	const char *detail = json_string_value(json_object_get(answer, "detail"));
	axw_log_json(w, AXW_ERROR, "report_refused", json_pack("{s:i, s:s*}", "items", (int)b->n, "detail", detail));
	for (size_t i = 0; b->n == 1 && i < b->n; i++) {
		axw_log_json(w, AXW_ERROR, "item_given_up", json_pack("{s:O}", "item", json_array_get(b->items, 0)));
		heard(&b->said[i], "applied", 0);
	}
	w->report_items_max = b->n > 1 ? 1 : AXW_ITEMS_MAX;
}

static void say_progress_again(struct axw *w, struct batch *b)
{
	uv_mutex_lock(&w->lock);
	for (size_t i = 0; i < b->n; i++) {
		if (b->said[i].type == ITEM_PROGRESS)
			b->said[i].attempt->progress_due = true;
	}
	uv_mutex_unlock(&w->lock);
}

static void answered(struct axw *w, struct server *server, int status, json_t *answer, int64_t retry_after_ms,
	int64_t sent_ms, void *user)
{
	struct batch *b = user;
	json_t *verdicts = json_object_get(answer, "verdicts");
	w->report = NULL;
	w->report_batch = NULL;
	if (status == 200 && json_array_size(verdicts) == b->n) {
		w->report_backoff_ms = 0;
		w->report_items_max = AXW_ITEMS_MAX;
		for (size_t i = 0; i < b->n; i++) {
			const char *verdict = json_string_value(json_array_get(verdicts, i));
			heard(&b->said[i], verdict ? verdict : "", sent_ms);
		}
		axw_report_stops(w, json_object_get(answer, "stop"));
	} else if (status == 400 || status == 413) {
		refused(w, b, answer);
	} else {
		w->report_server = (w->report_server + 1) % w->n_servers;
		if (status == 404)
			axw_session_lost(server, "unknown_worker");
		if (status == 409)
			axw_end_now(w, AXW_END_SUPERSEDED);
	}
	if (status != 200)
		say_progress_again(w, b);
	free_batch(b);
	clean_up(w);
	if (status != 200)
		say_again(w, retry_after_ms);
	else if (w->dirty)
		axw_report_soon(w);
	axw_dispatch(w);
}

/* ---- sending */

static struct server *report_server(struct axw *w)
{
	for (int i = 0; i < w->n_servers; i++) {
		struct server *server = &w->servers[(w->report_server + i) % w->n_servers];
		if (server->registered)
			return server;
	}
	return NULL;
}

void axw_report_now(struct axw *w)
{
	struct server *server = report_server(w);
	if (w->report || !server || w->closing)
		return;
	w->report_server = (int)(server - w->servers);
	uv_timer_stop(&w->report_timer);
	struct batch *b = build(w);
	json_t *body = axw_hello(w);
	json_object_set(body, "items", b->items);
	w->report_batch = b;
	w->report = axw_call(w, server, "report", body, REPORT_TIMEOUT_MS, answered, b);
}

/* When there is something to say: soon, but for progress alone, which may have to wait. */
static uint64_t next_report_ms(struct axw *w)
{
	int64_t wait = PROGRESS_MS;
	struct axw_attempt *a;
	uv_mutex_lock(&w->lock);
	DL_FOREACH2(w->dirty, a, dirty_next)
	{
		bool waits = a->progress_due && !has_more_to_say(a);
		wait = AX_MIN(wait, waits ? progress_wait_ms(a) : SOON_MS);
	}
	uv_mutex_unlock(&w->lock);
	return (uint64_t)AX_MAX(wait, SOON_MS);
}

void axw_report_soon(struct axw *w)
{
	if (w->report || !w->dirty)
		return;
	uint64_t wait = next_report_ms(w);
	bool set = uv_is_active((uv_handle_t *)&w->report_timer);
	if (set && (w->report_backoff_ms > 0 || uv_timer_get_due_in(&w->report_timer) <= wait))
		return;
	uv_timer_start(&w->report_timer, report_due, wait, 0);
}

void axw_output_drop(struct axw_attempt *a)
{
	for (struct output *o = a->out, *next; o; o = next) {
		next = o->next;
		a->w->output_waiting -= o->len;
		free(o->text);
		free(o);
	}
	a->out = a->out_last = NULL;
}

void axw_report_abort(struct axw *w)
{
	if (!w->report)
		return;
	axw_call_abort(w->report);
	free_batch(w->report_batch);
	w->report = NULL;
	w->report_batch = NULL;
}
