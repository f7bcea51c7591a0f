#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "base/arena.h"
#include "base/num.h"
#include "sys/attempt_dir.h"

/* Items are not queued: every attempt knows what a server has yet to hear of it, a report says as much as fits, and
 * the answer's verdicts clear what was said. A report that is lost is said again by itself, and one that is slow may be
 * said to another server meanwhile: both may be heard, in any order. */

static const int64_t PROGRESS_MS = 1000;
static const size_t TEXT_MAX = 600 << 10; /* six times this, as JSON may spell it, is below the body's limit */

enum item_type { ITEM_ACCEPTED, ITEM_STARTED, ITEM_HEARTBEAT, ITEM_PROGRESS, ITEM_OUTPUT, ITEM_RESULT };

struct item {
	struct axw_attempt *attempt; /* a reference */
	enum item_type type;
	uint32_t seq; /* ITEM_OUTPUT */
};

struct batch {
	struct ax_buf items;
	struct ax_json json; /* into items */
	size_t text;         /* bytes of text in it */
	size_t n;
	size_t max;
	struct item said[AXW_ITEMS_MAX];
};

void axw_report_mark(struct axw_attempt *a)
{
	if (a->dirty || a->telling || a->gone) /* what is told now is looked at when it was heard */
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

/* ---- building a batch */

static bool has_room(const struct batch *b, size_t text)
{
	return b->n < b->max && (b->n == 0 || b->text + text <= TEXT_MAX);
}

static void note_said(struct batch *b, struct axw_attempt *a, enum item_type type, uint32_t seq, size_t text)
{
	axw_attempt_ref(a);
	b->said[b->n++] = (struct item){ .attempt = a, .type = type, .seq = seq };
	b->text += text;
}

/* An item whose own members the caller writes before its end. */
static void begin_item(struct batch *b, struct axw_attempt *a, enum item_type type, uint32_t seq, size_t text)
{
	static const char *const names[] = { "accepted", "started", "heartbeat", "progress", "output", "result" };
	ax_json_obj(&b->json, NULL);
	ax_json_str(&b->json, "type", names[type]);
	ax_json_str(&b->json, "gid", a->gid_text);
	ax_json_int(&b->json, "fence", a->id.fence);
	note_said(b, a, type, seq, text);
}

static void say_flag(struct batch *b, struct axw_attempt *a, bool due, enum item_type type)
{
	if (!due || !has_room(b, 0))
		return;
	begin_item(b, a, type, 0, 0);
	ax_json_obj_end(&b->json);
}

/* News of progress is told at most once a second, and once more at the end. Under w->lock. */
static int64_t progress_wait_ms(const struct axw_attempt *a)
{
	if (!a->progress_due || a->result_due)
		return 0;
	return AX_MAX(a->progress_said_ms + PROGRESS_MS - ax_boottime_ms(), 0);
}

int64_t axw_progress_wait_ms(const struct axw_attempt *a)
{
	uv_mutex_lock(&a->w->lock);
	int64_t wait = progress_wait_ms(a);
	uv_mutex_unlock(&a->w->lock);
	return wait;
}

static void say_texts(struct batch *b, struct axw_attempt *a)
{
	uv_mutex_lock(&a->w->lock);
	if (a->progress_due && progress_wait_ms(a) == 0 && has_room(b, AXW_PROGRESS_MAX)) {
		a->progress_due = false; /* a newer one may come while this one is on its way */
		a->progress_said_ms = ax_boottime_ms();
		begin_item(b, a, ITEM_PROGRESS, 0, AXW_PROGRESS_MAX);
		ax_json_int(&b->json, "percent", a->percent);
		ax_json_str(&b->json, "message", a->progress);
		ax_json_obj_end(&b->json);
	}
	for (struct output *o = a->out; o && has_room(b, o->len); o = o->next) {
		begin_item(b, a, ITEM_OUTPUT, o->seq, o->len);
		ax_json_int(&b->json, "seq", o->seq);
		ax_json_strn(&b->json, "data", o->text, o->len);
		ax_json_obj_end(&b->json);
	}
	uv_mutex_unlock(&a->w->lock);
}

/* The result comes after all output, for with it the attempt is over. */
static void say_result(struct batch *b, struct axw_attempt *a)
{
	if (a->more_output)
		return;
	if (a->out &&
		(b->n == 0 || b->said[b->n - 1].attempt != a || b->said[b->n - 1].type != ITEM_OUTPUT ||
			b->said[b->n - 1].seq + 1 != a->out_seq))
		return;
	if (!has_room(b, a->stored_bytes))
		return;
	ax_json_raw(&b->json, NULL, a->result_item);
	note_said(b, a, ITEM_RESULT, 0, a->stored_bytes);
}

struct batch *axw_batch_new(size_t items_max)
{
	struct batch *b = ax_malloc(sizeof(*b));
	ax_buf_init(&b->items, AXW_BODY_MAX);
	ax_json_init(&b->json, &b->items);
	b->max = items_max;
	return b;
}

void axw_batch_add(struct batch *b, struct axw_attempt *a)
{
	say_flag(b, a, a->accepted_due, ITEM_ACCEPTED);
	say_flag(b, a, a->started_due, ITEM_STARTED);
	say_flag(b, a, a->heartbeat_due, ITEM_HEARTBEAT);
	if (!a->forget)
		say_texts(b, a);
	if (a->result_due)
		say_result(b, a);
}

size_t axw_batch_size(const struct batch *b)
{
	return b->n;
}

const char *axw_batch_items(const struct batch *b)
{
	return b->n > 0 ? b->items.data : "";
}

void axw_batch_free(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		axw_attempt_unref(b->said[i].attempt);
	ax_buf_done(&b->items);
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

static void heard(const struct item *item, struct ax_look verdict, int64_t sent_ms)
{
	struct axw_attempt *a = item->attempt;
	bool good = ax_look_is(verdict, "applied") || ax_look_is(verdict, "duplicate");
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
		if (sent_ms >= a->w->beat_ms) /* an earlier one says nothing of this beat's */
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
		axw_attempt_delivered(a, good || ax_look_is(verdict, "stop"));
		return;
	}
	if (ax_look_is(verdict, "late"))
		axw_attempt_stop(a, AXW_STOP_LOST);
	else if (ax_look_is(verdict, "stop"))
		axw_attempt_stop(a, AXW_STOP_CANCEL);
}

/* "stop" may name attempts that no item mentioned. */
void axw_report_stops(struct axw *w, struct ax_look stops)
{
	struct ax_look_walk walk = ax_look_into(stops);
	struct ax_look key, stop;
	while (ax_look_next(&walk, &key, &stop)) {
		char gid[24];
		int64_t number, fence;
		struct ax_look fence_text = ax_look_member(stop, "fence");
		if (!ax_look_text(ax_look_member(stop, "gid"), gid, sizeof(gid)) ||
			!ax_parse_i64(gid, strlen(gid), 1, INT64_MAX, &number) ||
			!ax_parse_i64(fence_text.at, fence_text.len, 0, INT64_MAX, &fence))
			continue;
		struct axw_attempt *a = axw_attempt_find(w, number, fence);
		bool cancelled = ax_look_is(ax_look_member(stop, "reason"), "cancel");
		if (a)
			axw_attempt_stop(a, cancelled ? AXW_STOP_CANCEL : AXW_STOP_LOST);
	}
}

/* Under w->lock. */
static bool has_more_to_say(const struct axw_attempt *a)
{
	return a->accepted_due || a->started_due || a->heartbeat_due || (a->result_due && !a->more_output) || a->out ||
		a->progress_due;
}

bool axw_report_is_needed(struct axw_attempt *a)
{
	uv_mutex_lock(&a->w->lock);
	bool needed = has_more_to_say(a);
	uv_mutex_unlock(&a->w->lock);
	if (!needed)
		axw_report_unmark(a);
	return needed;
}

void axw_batch_sent(struct batch *b, struct server *to)
{
	for (size_t i = 0; i < b->n; i++) {
		b->said[i].attempt->telling = to;
		axw_report_unmark(b->said[i].attempt);
	}
}

static void no_longer_told(struct batch *b, const struct server *to, bool unheard)
{
	uv_mutex_lock(&to->w->lock);
	for (size_t i = 0; i < b->n; i++) {
		struct axw_attempt *a = b->said[i].attempt;
		if (a->telling == to && b->said[i].type == ITEM_PROGRESS && unheard)
			a->progress_due = true;
	}
	for (size_t i = 0; i < b->n; i++) {
		struct axw_attempt *a = b->said[i].attempt;
		if (a->telling != to)
			continue;
		a->telling = NULL;
		if (has_more_to_say(a))
			axw_report_mark(a);
	}
	uv_mutex_unlock(&to->w->lock);
}

bool axw_batch_answered(struct batch *b, struct server *by, struct ax_look verdicts, int64_t sent_ms)
{
	struct ax_look each[AXW_ITEMS_MAX], key, one;
	struct ax_look_walk walk = ax_look_into(verdicts);
	size_t n = 0;
	for (; ax_look_next(&walk, &key, &one); n++)
		if (n < b->n)
			each[n] = one;
	if (n != b->n || verdicts.type != AX_LOOK_ARRAY)
		return false;
	for (size_t i = 0; i < n; i++)
		heard(&b->said[i], each[i], sent_ms);
	no_longer_told(b, by, false);
	return true;
}

void axw_batch_untold(struct batch *b, struct server *to)
{
	no_longer_told(b, to, true);
}

static void refused(const struct batch *b)
{
	static const struct ax_look given_up = { .type = AX_LOOK_STRING, .at = "\"applied\"", .len = 9 };
	const struct item *item = &b->said[0];
	if (item->type == ITEM_RESULT && strcmp(axw_batch_items(b), item->attempt->result_item) != 0)
		return; /* another server refused it first, and it is said otherwise since */
	bool mended = item->type == ITEM_RESULT && axw_attempt_leave_out(item->attempt);
	struct axw_line line;
	axw_line_begin(item->attempt->w, &line, AXW_ERROR, mended ? "result_left_out" : "item_given_up");
	ax_json_raw(&line.json, "item", axw_batch_items(b));
	axw_line_end(item->attempt->w, &line);
	if (!mended) {
		item->attempt->heartbeat_due = false;
		heard(item, given_up, 0);
	}
}

/* It is our fault. It is said again item by item until the one that is wrong is alone. Of an end only what was returned
 * can be wrong: it is said again without that. Anything else is given up, loudly, so that it does not hold up the
 * others for ever. */
void axw_batch_refused(struct batch *b, struct server *by, json_t *answer)
{
	struct axw *w = by->w;
	const char *detail = json_string_value(json_object_get(answer, "detail"));
	axw_log_json(w, AXW_ERROR, "report_refused", json_pack("{s:i, s:s*}", "items", (int)b->n, "detail", detail));
	axw_batch_untold(b, by);
	if (b->n == 1)
		refused(b);
	by->items_max = b->n > 1 ? 1 : AXW_ITEMS_MAX;
}

void axw_output_add(struct axw_attempt *a, char *text, size_t len)
{
	struct output *o = ax_malloc(sizeof(*o));
	*o = (struct output){ .text = text, .len = len };
	uv_mutex_lock(&a->w->lock);
	o->seq = a->out_seq++;
	if (a->out_last)
		a->out_last->next = o;
	else
		a->out = o;
	a->out_last = o;
	a->w->output_waiting += len;
	uv_mutex_unlock(&a->w->lock);
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
