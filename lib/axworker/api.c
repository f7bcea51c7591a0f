#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/utf8.h"
#include "sys/json_real.h"

/* What executors may ask of and say about their attempt. */

/* A part of the run as the server gave it. Most functions ask for none: it becomes a tree when one does. */
static json_t *part(const struct axw_attempt *attempt, const char *name)
{
	struct axw_attempt *a = (struct axw_attempt *)(uintptr_t)attempt;
	uv_mutex_lock(&a->w->lock);
	if (!a->run && a->run_text)
		a->run = json_loads(a->run_text, JSON_REJECT_DUPLICATES, NULL);
	json_t *run = a->run;
	uv_mutex_unlock(&a->w->lock);
	return json_object_get(run, name);
}

static const char *string(const struct axw_attempt *a, const char *name)
{
	const char *value = json_string_value(part(a, name));
	return value ? value : "";
}

const char *axw_gid(const struct axw_attempt *a)
{
	return a->gid_text;
}

int64_t axw_fence(const struct axw_attempt *a)
{
	return a->id.fence;
}

int64_t axw_attempt_number(const struct axw_attempt *a)
{
	return a->number;
}

const char *axw_task(const struct axw_attempt *a)
{
	return string(a, "task");
}

const char *axw_task_id(const struct axw_attempt *a)
{
	return string(a, "task_id");
}

const char *axw_group(const struct axw_attempt *a)
{
	return string(a, "group");
}

const char *axw_executor_key(const struct axw_attempt *a)
{
	return string(a, "executor");
}

const char *axw_traceparent(const struct axw_attempt *a)
{
	return string(a, "traceparent");
}

const char *axw_rerun_of(const struct axw_attempt *a)
{
	return string(a, "rerun_of");
}

const char *axw_parent_gid(const struct axw_attempt *a)
{
	return string(a, "parent");
}

static int64_t shard_number(const struct axw_attempt *a, const char *key)
{
	return json_integer_value(json_object_get(part(a, "shard"), key));
}

int64_t axw_shard_index(const struct axw_attempt *a)
{
	return shard_number(a, "index");
}

int64_t axw_shard_total(const struct axw_attempt *a)
{
	return shard_number(a, "total");
}

int64_t axw_trigger_ms(const struct axw_attempt *a)
{
	return a->trigger_ms;
}

int64_t axw_timeout_ms(const struct axw_attempt *a)
{
	return a->timeout_ms;
}

int64_t axw_grace_ms(const struct axw_attempt *a)
{
	return a->grace_ms;
}

int64_t axw_deadline_ms(const struct axw_attempt *a)
{
	return a->deadline_ms;
}

static const char *dump(json_t *value, char **text)
{
	if (*text)
		return *text;
	*text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : ax_strdup_heap("null");
	AX_ASSERT(*text);
	(*text)[ax_json_shorten(*text, strlen(*text))] = '\0';
	return *text;
}

const char *axw_param(struct axw_attempt *a)
{
	return dump(part(a, "param"), &a->param_text);
}

const char *axw_params(struct axw_attempt *a)
{
	return dump(part(a, "params"), &a->params_text);
}

const char *axw_upstream(struct axw_attempt *a)
{
	json_t *upstream = part(a, "upstream");
	return json_array_size(upstream) > 0 ? dump(upstream, &a->upstream_text) : "[]";
}

const char *axw_run_json(struct axw_attempt *a)
{
	return a->run_text ? a->run_text : "null";
}

void *axw_data(const struct axw_attempt *a)
{
	return a->data;
}

void axw_set_data(struct axw_attempt *a, void *data)
{
	a->data = data;
}

enum axw_stop axw_stop_asked(const struct axw_attempt *a)
{
	uv_mutex_lock(&a->w->lock);
	enum axw_stop why = a->stop;
	uv_mutex_unlock(&a->w->lock);
	return why;
}

enum axw_stop axw_stop_wait(struct axw_attempt *a, int64_t wait_ms)
{
	struct axw *w = a->w;
	uint64_t end_ns = uv_hrtime() + (uint64_t)AX_MAX(0, wait_ms) * 1000000;
	uv_mutex_lock(&w->lock);
	for (uint64_t now; !a->stop && (now = uv_hrtime()) < end_ns;)
		uv_cond_timedwait(&w->stop_asked, &w->lock, end_ns - now);
	enum axw_stop why = a->stop;
	uv_mutex_unlock(&w->lock);
	return why;
}

/* ---- texts: valid UTF-8 without NUL, which JSON readers refuse; cut at a character */

static char *clean(const char *bytes, size_t len, size_t max, size_t *ret_len)
{
	char *text = ax_malloc(3 * len + 1);
	size_t n = ax_utf8_repair(bytes, len, text);
	if (memchr(text, 0, n)) {
		char *shown = ax_malloc(3 * n + 1);
		size_t m = 0;
		for (size_t i = 0; i < n; i++) {
			if (text[i] == 0) {
				memcpy(shown + m, "\xe2\x90\x80", 3); /* the symbol for NUL */
				m += 3;
			} else {
				shown[m++] = text[i];
			}
		}
		free(text);
		text = shown;
		n = m;
	}
	if (n > max) {
		n = max;
		while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	}
	text[n] = 0;
	*ret_len = n;
	return text;
}

static void say_later(struct axw *w, void *attempt)
{
	struct axw_attempt *a = attempt;
	if (!a->forget && a->state <= STORED)
		axw_report_mark(a);
	axw_tell_soon(w);
}

void axw_progress(struct axw_attempt *a, int percent, const char *message)
{
	size_t len;
	char *text = clean(message ? message : "", message ? strlen(message) : 0, AXW_PROGRESS_MAX, &len);
	uv_mutex_lock(&a->w->lock);
	a->percent = AX_MAX(0, AX_MIN(100, percent));
	memcpy(a->progress, text, len + 1);
	bool news = !a->progress_due && !a->finished;
	a->progress_due = !a->finished;
	uv_mutex_unlock(&a->w->lock);
	free(text);
	if (news)
		axw_post(a->w, say_later, a);
}

/* One item; the bytes are cut so that it stays within its limit even if each of them has to be replaced. */
static void append_output(struct axw_attempt *a, const char *bytes, size_t len)
{
	size_t text_len;
	char *text = clean(bytes, len, AXW_OUTPUT_ITEM_MAX, &text_len);
	axw_output_add(a, text, text_len);
}

/* The length of the longest piece that does not cut a character. */
static size_t whole_characters(const char *bytes, size_t len, size_t max)
{
	if (len <= max)
		return len;
	size_t n = max;
	while (n > max - 4 && ((unsigned char)bytes[n] & 0xc0) == 0x80)
		n--;
	return n;
}

int axw_output(struct axw_attempt *a, const char *bytes, size_t len)
{
	uv_mutex_lock(&a->w->lock);
	bool full = a->out_total >= AXW_OUTPUT_ATTEMPT_MAX;
	bool taken = (!a->finished || a->more_output) && a->w->output_waiting < AXW_OUTPUT_WAITING_MAX;
	bool news = !a->out;
	if (taken && !full) {
		len = AX_MIN(len, AXW_OUTPUT_ATTEMPT_MAX - a->out_total);
		a->out_total += len;
	}
	uv_mutex_unlock(&a->w->lock);
	if (!taken)
		return -1;
	if (full || len == 0)
		return 0;
	while (len > 0) {
		size_t n = whole_characters(bytes, len, AXW_OUTPUT_ITEM_MAX / 3);
		append_output(a, bytes, n);
		bytes += n;
		len -= n;
	}
	if (news)
		axw_post(a->w, say_later, a);
	return 0;
}

uint32_t axw_output_next(const struct axw_attempt *a)
{
	uv_mutex_lock(&a->w->lock);
	uint32_t next = a->out_seq;
	uv_mutex_unlock(&a->w->lock);
	return next;
}

uint32_t axw_output_unheard(const struct axw_attempt *a)
{
	uv_mutex_lock(&a->w->lock);
	uint32_t first = a->out ? a->out->seq : a->out_seq;
	uv_mutex_unlock(&a->w->lock);
	return first;
}

void axw_output_resume(struct axw_attempt *a, uint32_t next)
{
	uv_mutex_lock(&a->w->lock);
	a->out_seq = next;
	uv_mutex_unlock(&a->w->lock);
}

void axw_output_done(struct axw_attempt *a)
{
	uv_mutex_lock(&a->w->lock);
	a->more_output = false;
	uv_mutex_unlock(&a->w->lock);
	if (a->result_due)
		axw_report_mark(a);
	axw_tell_soon(a->w);
}

void axw_message(struct axw_attempt *a, const char *text)
{
	size_t len;
	char *message = clean(text, strlen(text), AXW_MESSAGE_MAX, &len);
	uv_mutex_lock(&a->w->lock);
	char *old = a->message;
	a->message = message;
	uv_mutex_unlock(&a->w->lock);
	free(old);
}

/* Of JSON that a parser has let in. */
static bool is_too_deep(const char *json)
{
	int depth = 0;
	bool in_string = false;
	for (const char *c = json; *c; c++) {
		if (in_string && *c == '\\')
			c++;
		else if (*c == '"')
			in_string = !in_string;
		else if (!in_string && (*c == '[' || *c == '{') && ++depth > AXW_RESULT_DEPTH_MAX)
			return true;
		else if (!in_string && (*c == ']' || *c == '}'))
			depth--;
	}
	return false;
}

int axw_result(struct axw_attempt *a, const char *text)
{
	size_t len = strlen(text);
	json_t *value = len <= AXW_RESULT_MAX ? json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL) : NULL;
	char *result = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	json_decref(value);
	if (!result || is_too_deep(result)) {
		free(result);
		return -1;
	}
	uv_mutex_lock(&a->w->lock);
	char *old = a->result;
	a->result = result;
	uv_mutex_unlock(&a->w->lock);
	free(old);
	return 0;
}
