#include "worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/num.h"
#include "base/utf8.h"
#include "core/lane.h"
#include "sys/attempt_dir.h"
#include "sys/crash_point.h"

/* The life of an attempt: begun, renewed, stopped, ended, stored, delivered. */

/* ---- memory */

void axw_attempt_ref(struct axw_attempt *a)
{
	a->refs++;
}

void axw_attempt_unref(struct axw_attempt *a)
{
	if (--a->refs > 0)
		return;
	AX_ASSERT(!a->dirty && a->queued.at == 0);
	struct axw *w = a->w;
	uv_mutex_lock(&w->lock);
	axw_output_drop(a);
	uv_mutex_unlock(&w->lock);
	json_decref(a->run);
	free(a->result);
	free(a->result_item);
	free(a->message);
	free(a->param_text);
	free(a->params_text);
	free(a->upstream_text);
	free(a->run_text);
	free(a);
}

struct axw_attempt *axw_attempt_find(struct axw *w, int64_t gid, int64_t fence)
{
	struct axw_attempt *a;
	struct axw_attempt key;
	memset(&key, 0, sizeof(key));
	key.id.gid = gid;
	key.id.fence = fence;
	HASH_FIND(hh, w->attempts, &key.id, sizeof(key.id), a);
	return a;
}

struct axw_attempt *axw_attempt_new(struct axw *w, int64_t gid, int64_t fence)
{
	struct axw_attempt *a = ax_malloc(sizeof(*a));
	a->w = w;
	a->id.gid = gid;
	a->id.fence = fence;
	a->refs = 1; /* the index's */
	snprintf(a->gid_text, sizeof(a->gid_text), "%" PRId64, gid);
	HASH_ADD(hh, w->attempts, id, sizeof(a->id), a);
	return a;
}

/* Out of every list; the memory goes with the last reference. */
void axw_attempt_remove(struct axw_attempt *a)
{
	a->gone = true;
	axw_report_unmark(a);
	HASH_DELETE(hh, a->w->attempts, a);
	axw_attempt_unref(a);
}

/* ---- beginning */

static void free_timer(uv_handle_t *handle)
{
	free(handle);
}

static void stop_timer(struct axw_attempt *a)
{
	if (a->timer)
		uv_close((uv_handle_t *)a->timer, free_timer);
	a->timer = NULL;
}

static void time_is_up(uv_timer_t *timer);

static void start_timer(struct axw_attempt *a, int64_t in_ms)
{
	if (!a->timer) {
		a->timer = ax_malloc(sizeof(*a->timer));
		AX_ASSERT(uv_timer_init(&a->w->loop, a->timer) == 0);
		a->timer->data = a;
	}
	uv_update_time(&a->w->loop);
	uv_timer_start(a->timer, time_is_up, (uint64_t)in_ms, 0);
}

void axw_attempt_set_deadline(struct axw_attempt *a)
{
	a->deadline_ms = a->keep_unreachable ? INT64_MAX : ax_add_sat(a->renewed_ms, a->w->unreachable_ms);
}

static void function_returned(struct axw *w, void *attempt)
{
	struct axw_attempt *a = attempt;
	w->functions_out--;
	if (a->abandoned) {
		axw_attempt_count_place(a, -1);
		axw_dispatch(w);
	}
	axw_attempt_unref(a);
}

static void run_function(void *attempt)
{
	struct axw_attempt *a = attempt;
	struct axw *w = a->w;
	int code = a->executor->function(a, a->executor->user);
	enum axw_stop why = axw_stop_asked(a);
	struct axw_finish_args args = {
		.size = sizeof(args), .code = code, .outcome = code ? AXW_FAILED : AXW_SUCCESS
	};
	if (why == AXW_STOP_TIMEOUT)
		args.outcome = AXW_TIMEOUT;
	else if (code && why == AXW_STOP_CANCEL)
		args.outcome = AXW_CANCELLED;
	axw_finish(a, &args);
	axw_post(w, function_returned, a);
}

static void begin(struct axw_attempt *a)
{
	struct axw *w = a->w;
	a->state = RUNNING;
	a->begun_ms = ax_boottime_ms();
	AX_CRASHPOINT("start", "before_journal");
	axw_journal_add(w, a, "start", NULL, NULL);
	AX_CRASHPOINT("start", "before_exec");
	if (a->timeout_ms)
		start_timer(a, a->timeout_ms);
	axw_attempt_set_deadline(a);
	if (a->executor->ops.start) {
		a->executor->ops.start(a, a->executor->user);
		AX_CRASHPOINT("start", "after_spawn");
		return;
	}
	axw_attempt_ref(a); /* the function's */
	w->functions_out++;
	if (ax_pool_run(w->pool, run_function, a) < 0) {
		w->functions_out--;
		axw_attempt_unref(a);
		axw_attempt_finish_at_once(a, AXW_FAILED, "the worker could not start a thread");
	}
}

void axw_attempt_count_place(struct axw_attempt *a, int delta)
{
	a->group->executing += delta;
	a->group->executing_long += a->is_long ? delta : 0;
	a->w->executing += delta;
}

/* Takes its place in the group; begins, or asks first. */
static void take_place(struct axw_attempt *a)
{
	axw_attempt_count_place(a, 1);
	a->accepted_due = a->accepted_due && a->confirmed_start; /* `started` says as much */
	a->started_due = true;
	axw_report_mark(a);
	if (a->confirmed_start)
		a->state = CONFIRMING;
	else
		begin(a);
}

void axw_attempt_confirmed(struct axw_attempt *a)
{
	if (a->state == CONFIRMING)
		begin(a);
}

void axw_dispatch(struct axw *w)
{
	for (int i = 0; i < w->n_groups; i++) {
		struct group *group = &w->groups[i];
		while (!w->draining && group->executing < group->pool_size) {
			bool long_place =
				group->executing_long < ax_lane_share(group->pool_size, group->long_share_percent);
			struct axw_queue_item *item = axw_queue_pop(&group->queue, long_place);
			if (!item)
				break;
			take_place((struct axw_attempt *)(void *)((char *)item - offsetof(struct axw_attempt, queued)));
		}
	}
	axw_tell_soon(w);
	axw_session_poll(w);
}

/* ---- renewing, stopping */

void axw_attempt_renewed(struct axw_attempt *a, int64_t sent_ms)
{
	if (a->state > RUNNING || sent_ms <= a->renewed_ms)
		return;
	a->renewed_ms = sent_ms;
	int64_t before = a->deadline_ms;
	axw_attempt_set_deadline(a);
	if (a->state == RUNNING && a->deadline_ms != before && a->executor->ops.deadline)
		a->executor->ops.deadline(a, a->deadline_ms, a->executor->user);
}

static void leave_index(struct axw_attempt *a)
{
	struct axw *w = a->w;
	struct axw_attempt *newest;
	HASH_FIND(hh_run, w->runs, &a->id.gid, sizeof(a->id.gid), newest);
	if (newest == a)
		HASH_DELETE(hh_run, w->runs, a);
	struct axw_attempt *next = a->successor;
	a->successor = NULL;
	if (!next)
		return;
	if (next->state == QUEUED && !next->forget)
		axw_queue_push(&next->group->queue, &next->queued, next->rank, next->is_long);
	axw_attempt_unref(next);
}

/* It never began: nothing to end and nothing to report. */
static void drop_waiting(struct axw_attempt *a)
{
	if (a->queued.at)
		axw_queue_remove(&a->group->queue, &a->queued);
	if (a->state == CONFIRMING) {
		axw_attempt_count_place(a, -1);
	}
	a->group->held--;
	a->forget = true;
	a->state = DROPPED;
	leave_index(a);
	axw_attempt_remove(a);
}

static void ask(struct axw_attempt *a, enum axw_stop why, int64_t grace_ms)
{
	struct axw *w = a->w;
	uv_mutex_lock(&w->lock);
	a->stop = why;
	uv_cond_broadcast(&w->stop_asked);
	uv_mutex_unlock(&w->lock);
	axw_log_json(w, AXW_INFO, "attempt_stop",
		json_pack("{s:s, s:I, s:s}", "gid", a->gid_text, "fence", (json_int_t)a->id.fence, "why",
			(const char *[]){ "", "cancel", "timeout", "lost", "drain" }[why]));
	if (a->executor->ops.stop)
		a->executor->ops.stop(a, why, grace_ms, a->executor->user);
	AX_CRASHPOINT("stop", "asked");
	start_timer(a, grace_ms + 1000);
}

void axw_attempt_stop(struct axw_attempt *a, enum axw_stop why)
{
	bool no_grace = why == AXW_STOP_LOST || why == AXW_STOP_DRAIN;
	if (a->state == QUEUED || a->state == CONFIRMING) {
		if (why == AXW_STOP_CANCEL)
			axw_attempt_finish_at_once(a, AXW_CANCELLED, "cancelled before it began");
		else
			drop_waiting(a);
		return;
	}
	if (a->state != RUNNING)
		return;
	if (no_grace)
		a->forget = true;
	if (a->stop == AXW_STOP_NONE || (no_grace && a->stop != why))
		ask(a, why, no_grace ? 0 : a->grace_ms);
}

/* A function that does not return cannot be ended; its attempt can. */
static void give_up(struct axw_attempt *a)
{
	a->abandoned = true;
	axw_log_json(a->w, AXW_ERROR, "function_did_not_stop",
		json_pack("{s:s, s:s}", "gid", a->gid_text, "executor", a->executor->key));
	axw_attempt_finish_at_once(
		a, a->stop == AXW_STOP_TIMEOUT ? AXW_TIMEOUT : AXW_CANCELLED, "the function did not stop");
}

static void time_is_up(uv_timer_t *timer)
{
	struct axw_attempt *a = timer->data;
	if (a->stop == AXW_STOP_NONE)
		axw_attempt_stop(a, AXW_STOP_TIMEOUT);
	else if (a->executor->ops.stop)
		a->executor->ops.stop(a, a->stop, 0, a->executor->user);
	else
		give_up(a);
}

void axw_attempts_tick(struct axw *w, int64_t now_ms)
{
	struct axw_attempt *a;
	struct axw_attempt *next;
	HASH_ITER(hh, w->attempts, a, next)
	{
		bool waiting = a->state == QUEUED || a->state == CONFIRMING;
		int64_t deadline = waiting ? ax_add_sat(a->renewed_ms, w->unreachable_ms) : a->deadline_ms;
		if (a->state > RUNNING || now_ms < deadline || a->forget)
			continue;
		axw_log_json(w, AXW_WARN, "lease_lost",
			json_pack("{s:s, s:I}", "gid", a->gid_text, "fence", (json_int_t)a->id.fence));
		axw_attempt_stop(a, AXW_STOP_LOST);
	}
	axw_tell_soon(w);
}

bool axw_attempts_open(struct axw *w)
{
	for (struct axw_attempt *a = w->attempts; a; a = a->hh.next) {
		if (a->state == RUNNING || a->state == STORING)
			return true;
	}
	return false;
}

void axw_attempts_close(struct axw *w)
{
	for (struct axw_attempt *a = w->attempts; a; a = a->hh.next)
		stop_timer(a);
}

/* ---- ending */

static const char *const outcomes[] = { "success", "failed", "timeout", "cancelled", "refused" };

static void make_result_item(struct axw_attempt *a, const struct axw_finish_args *args, const char *message)
{
	int64_t duration_ms = args->duration_ms;
	if (duration_ms == 0 && a->begun_ms)
		duration_ms = AX_MAX(1, ax_boottime_ms() - a->begun_ms);
	struct ax_buf text;
	struct ax_json json;
	ax_buf_init(&text, AXW_BODY_MAX);
	ax_json_init(&json, &text);
	ax_json_obj(&json, NULL);
	ax_json_str(&json, "type", "result");
	ax_json_str(&json, "gid", a->gid_text);
	ax_json_int(&json, "fence", a->id.fence);
	ax_json_str(&json, "outcome", outcomes[args->outcome]);
	ax_json_int(&json, "code", args->code);
	ax_json_str(&json, "message", message ? message : "");
	ax_json_int(&json, "duration_ms", duration_ms);
	if (args->signal)
		ax_json_str(&json, "signal", args->signal);
	if (a->result)
		ax_json_raw(&json, "result", a->result);
	ax_json_obj_end(&json);
	AX_ASSERT(!text.overflow);
	a->stored_bytes = text.len;
	a->result_item = ax_buf_take(&text, NULL);
}

/* For the spool: {"store_id": whose gid it is, "result": the result's item, "output": what no server has heard, "seq":
 * its first number}. Such output is nowhere else, unless its executor keeps it for another process. */
static char *text_to_spool(struct axw_attempt *a)
{
	struct ax_buf text;
	struct ax_json json;
	ax_buf_init(&text, AXW_SPOOLED_MAX);
	ax_json_init(&json, &text);
	uv_mutex_lock(&a->w->lock);
	ax_json_obj(&json, NULL);
	ax_json_str(&json, "store_id", a->w->store_id);
	ax_json_raw(&json, "result", a->result_item);
	if (a->out && !a->executor->ops.gone) {
		ax_json_int(&json, "seq", a->out->seq);
		ax_json_arr(&json, "output");
		for (const struct output *o = a->out; o; o = o->next)
			ax_json_strn(&json, NULL, o->text, o->len);
		ax_json_arr_end(&json);
	}
	ax_json_obj_end(&json);
	uv_mutex_unlock(&a->w->lock);
	AX_ASSERT(!text.overflow);
	return ax_buf_take(&text, NULL);
}

static void settle(struct axw_attempt *a)
{
	if (a->begun_ms)
		axw_journal_add(a->w, a, "end", "outcome", a->ended_as);
	AX_CRASHPOINT("end", "after_journal");
	if (a->begun_ms && a->executor->ops.settled)
		a->executor->ops.settled(a, a->executor->user);
}

static void leave_executor(struct axw_attempt *a)
{
	AX_CRASHPOINT("end", "before_gone");
	if (a->begun_ms && a->executor->ops.gone)
		a->executor->ops.gone(a, a->executor->user);
	axw_attempt_remove(a);
}

static void end_attempt(struct axw_attempt *a, const struct axw_finish_args *args, const char *message)
{
	struct axw *w = a->w;
	bool began = a->state == RUNNING || a->state == CONFIRMING;
	stop_timer(a);
	if (a->queued.at)
		axw_queue_remove(&a->group->queue, &a->queued);
	if (began && !a->abandoned) {
		axw_attempt_count_place(a, -1);
	}
	if (a->group && a->executor)
		a->group->held--;
	/* What ended well in spite of all is told even if it is late: it may spare the next try. */
	a->forget = args->outcome == AXW_LOST || (a->forget && args->outcome != AXW_SUCCESS);
	a->ended_as = a->forget ? "forgotten" : outcomes[args->outcome];
	a->state = STORING;
	a->heartbeat_due = false;
	leave_index(a);
	if (a->forget) {
		settle(a);
		leave_executor(a);
	} else {
		make_result_item(a, args, message);
		w->stored_bytes += a->stored_bytes;
		a->brief = a->started_due && !a->telling;
		w->brief += a->brief;
		axw_attempt_ref(a); /* the spool's */
		axw_spool_put(w->spool, a->id.gid, a->id.fence, text_to_spool(a), a);
	}
	axw_dispatch(w);
}

void axw_attempt_finish_at_once(struct axw_attempt *a, enum axw_outcome outcome, const char *message)
{
	struct axw_finish_args args = { .size = sizeof(args), .outcome = outcome };
	end_attempt(a, &args, message);
}

static void finished(struct axw *w, void *attempt)
{
	(void)w;
	struct axw_attempt *a = attempt;
	if (!a->abandoned) {
		if (a->signal[0])
			a->finish.signal = a->signal;
		end_attempt(a, &a->finish, a->message);
	}
}

void axw_finish(struct axw_attempt *a, const struct axw_finish_args *args)
{
	struct axw *w = a->w;
	uv_mutex_lock(&w->lock);
	bool first = !a->finished;
	a->finished = true;
	if (first) {
		a->finish = (struct axw_finish_args){ 0 };
		memcpy(&a->finish, args, AX_MIN(args->size, sizeof(a->finish)));
		if (a->finish.signal)
			snprintf(a->signal, sizeof(a->signal), "%s", a->finish.signal);
		a->finish.signal = NULL;
		a->more_output = a->finish.more_output != 0;
	}
	uv_mutex_unlock(&w->lock);
	AX_ASSERT(first);
	axw_post(w, finished, a);
}

void axw_attempt_stored(struct axw *w, void *attempt)
{
	struct axw_attempt *a = attempt;
	a->state = STORED;
	a->result_due = true;
	w->brief -= a->brief;
	a->brief = false;
	axw_report_mark(a);
	axw_tell_soon(w);
	settle(a);
	axw_attempt_unref(a);
}

bool axw_attempt_leave_out(struct axw_attempt *a)
{
	static const char left_out[] = " [its result was refused by the server and left out]";
	json_t *item = a->result_due ? json_loads(a->result_item, 0, NULL) : NULL;
	bool had = json_object_del(item, "result") == 0;
	if (had) {
		json_t *said = json_object_get(item, "message");
		size_t len = ax_utf8_cut(
			json_string_value(said), json_string_length(said), AXW_MESSAGE_MAX - (sizeof(left_out) - 1));
		json_object_set_new(
			item, "message", json_sprintf("%.*s%s", (int)len, json_string_value(said), left_out));
		free(a->result_item);
		a->result_item = json_dumps(item, JSON_COMPACT);
		AX_ASSERT(a->result_item);
		a->w->stored_bytes -= a->stored_bytes;
		a->stored_bytes = strlen(a->result_item);
		a->w->stored_bytes += a->stored_bytes;
	}
	json_decref(item);
	return had;
}

void axw_attempt_delivered(struct axw_attempt *a, bool counted)
{
	struct axw *w = a->w;
	if (!a->result_due)
		return;
	axw_journal_add(w, a, "told", "verdict", counted ? "taken" : "late");
	a->result_due = false;
	w->stored_bytes -= a->stored_bytes;
	axw_spool_delete(w->spool, a->id.gid, a->id.fence);
	AX_CRASHPOINT("end", "delivered");
	leave_executor(a);
}
