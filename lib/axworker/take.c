#include "worker.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/num.h"
#include "core/limits.h"
#include "sys/attempt_dir.h"
#include "sys/crash_point.h"

/* How attempts come here: from a poll, from an earlier process's tasks, from the spool. */

enum { SEEN_MAX = 16384 };

/* True when (gid, fence) was here before: a poll's answer may come twice, by one server or by several. */
static bool seen_before(struct axw *w, int64_t gid, int64_t fence)
{
	struct seen *s = ax_malloc(sizeof(*s));
	struct seen *old;
	s->id.gid = gid;
	s->id.fence = fence;
	HASH_FIND(hh, w->seen, &s->id, sizeof(s->id), old);
	if (old) {
		free(s);
		return true;
	}
	HASH_ADD(hh, w->seen, id, sizeof(s->id), s);
	if (HASH_COUNT(w->seen) > SEEN_MAX) {
		struct seen *oldest = w->seen; /* the table lists in order of insertion */
		HASH_DELETE(hh, w->seen, oldest);
		free(oldest);
	}
	return false;
}

static struct group *find_group(struct axw *w, const char *name)
{
	for (int i = 0; name && i < w->n_groups; i++) {
		if (strcmp(w->groups[i].name, name) == 0)
			return &w->groups[i];
	}
	return NULL;
}

static struct executor *find_executor(struct axw *w, const char *key)
{
	struct executor *e = NULL;
	if (key)
		HASH_FIND_STR(w->executors, key, e);
	return e;
}

static int64_t integer(json_t *run, const char *name, int64_t min, int64_t max, int64_t otherwise)
{
	json_t *value = json_object_get(run, name);
	if (!json_is_integer(value))
		return otherwise;
	return AX_MAX(min, AX_MIN(max, (int64_t)json_integer_value(value)));
}

static const char *string(json_t *run, const char *name)
{
	const char *value = json_string_value(json_object_get(run, name));
	return value ? value : "";
}

static bool read_id(json_t *run, int64_t *ret_gid, int64_t *ret_fence)
{
	const char *gid = string(run, "gid");
	json_t *fence = json_object_get(run, "fence");
	if (!ax_parse_i64(gid, strlen(gid), 1, INT64_MAX, ret_gid) || !json_is_integer(fence) ||
		json_integer_value(fence) < 0)
		return false;
	*ret_fence = (int64_t)json_integer_value(fence);
	return true;
}

static void read_run(struct axw_attempt *a, json_t *run, int64_t renewed_ms)
{
	struct axw *w = a->w;
	a->run = json_incref(run);
	a->group = find_group(w, string(run, "group"));
	a->executor = find_executor(w, string(run, "executor"));
	a->number = integer(run, "attempt", 1, INT64_MAX, 1);
	a->trigger_ms = integer(run, "trigger_ms", 0, INT64_MAX, 0);
	int64_t priority = integer(run, "priority", 1, 10, 5);
	a->rank = integer(run, "rank", INT64_MIN, INT64_MAX, a->trigger_ms - priority * AX_RANK_STEP_MS);
	a->is_long = strcmp(string(run, "lane"), "long") == 0;
	if (a->is_long && a->group)
		a->group->long_share_percent = (int)integer(run, "long_share_percent", 1, 100, 100);
	a->timeout_ms = integer(run, "timeout_s", 0, INT64_MAX / 4000, 0) * 1000;
	a->grace_ms = integer(run, "grace_s", 0, 30, 5) * 1000;
	a->confirmed_start = strcmp(string(run, "start"), "confirmed") == 0;
	a->keep_unreachable = strcmp(string(run, "on_unreachable"), "continue") == 0;
	a->renewed_ms = renewed_ms;
	a->deadline_ms = ax_add_sat(renewed_ms, w->unreachable_ms);
}

/* Who asks whether something ran twice finds the line of each receipt by its gid, and the machine in it. */
static void log_receipt(struct axw_attempt *a)
{
	char host[HOST_NAME_MAX + 1] = "";
	(void)gethostname(host, sizeof(host) - 1);
	axw_log_json(a->w, AXW_INFO, "run_received",
		json_pack("{s:s, s:s, s:I, s:I, s:s, s:s}", "task_id", axw_task_id(a), "gid", a->gid_text, "attempt",
			(json_int_t)a->number, "fence", (json_int_t)a->id.fence, "executor", axw_executor_key(a),
			"host", host));
}

/* Into its group's queue, or behind the older attempt of its run that is still being ended. */
static void enqueue(struct axw_attempt *a)
{
	struct axw *w = a->w;
	struct axw_attempt *older;
	HASH_FIND(hh_run, w->runs, &a->id.gid, sizeof(a->id.gid), older);
	if (older) {
		HASH_DELETE(hh_run, w->runs, older);
		older->successor = a;
		axw_attempt_ref(a);
		a->queued.at = 0;
	} else {
		axw_queue_push(&a->group->queue, &a->queued, a->rank, a->is_long);
	}
	HASH_ADD(hh_run, w->runs, id.gid, sizeof(a->id.gid), a);
	a->group->held++;
	if (older)
		axw_attempt_stop(older, AXW_STOP_LOST);
}

static const char too_late[] = "too_late"; /* by now it may be another worker's */

/* Why a run is not taken, or NULL. */
static const char *reason_to_drop(const struct axw *w, const struct group *group, int64_t poll_sent_ms)
{
	if (w->draining)
		return "draining";
	if (ax_boottime_ms() - poll_sent_ms > w->start_within_ms)
		return too_late;
	if (w->disk_low)
		return "disk_low";
	/* What several servers gave at once, each of them as much as was asked. */
	return group && axw_slots(w, group) == 0 ? "no_place" : NULL;
}

void axw_attempt_take(struct server *giver, json_t *run, int64_t poll_sent_ms)
{
	struct axw *w = giver->w;
	int64_t gid;
	int64_t fence;
	if (!read_id(run, &gid, &fence)) {
		axw_log_json(w, AXW_ERROR, "run_unreadable", json_pack("{s:O}", "run", run));
		return;
	}
	if (axw_attempt_find(w, gid, fence))
		return;
	const char *reason = reason_to_drop(w, find_group(w, string(run, "group")), poll_sent_ms);
	if (reason)
		axw_log_json(w, AXW_WARN, "run_dropped",
			json_pack("{s:O, s:I, s:s}", "gid", json_object_get(run, "gid"), "fence", (json_int_t)fence,
				"reason", reason));
	/* What was on its way for so long has waited enough. Of the rest the server hears nothing, and gives it out
	 * again when nobody has accepted it: at once it would come back to a worker that is as full as before. */
	if ((reason && reason != too_late) || seen_before(w, gid, fence))
		return;
	struct axw_attempt *a = axw_attempt_new(w, gid, fence);
	a->giver = giver;
	read_run(a, run, poll_sent_ms);
	if (!reason)
		log_receipt(a);
	if (!a->group || !a->executor) {
		axw_attempt_finish_at_once(a, AXW_REFUSED,
			a->group ? "this worker has no such executor" : "this worker does not serve the group");
		return;
	}
	if (reason) {
		a->group->held++; /* until its end */
		axw_attempt_finish_at_once(a, AXW_CANCELLED, "given back unstarted");
		return;
	}
	a->state = QUEUED;
	a->accepted_due = true;
	enqueue(a);
	AX_CRASHPOINT("start", "taken");
	axw_report_mark(a);
}

struct axw_attempt *axw_attempt_recover(struct axw *w, int64_t gid, int64_t fence, const char *result_text)
{
	json_t *item = json_loads(result_text, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(item) || axw_attempt_find(w, gid, fence)) {
		json_decref(item);
		return NULL;
	}
	struct axw_attempt *a = axw_attempt_new(w, gid, fence);
	a->state = STORED;
	a->result_item = item;
	a->result_due = true;
	a->finished = true;
	a->stored_bytes = strlen(result_text);
	w->stored_bytes += a->stored_bytes;
	axw_report_mark(a);
	return a;
}

struct axw_attempt *axw_adopt_stored(struct axw *w, const char *text)
{
	int64_t gid;
	int64_t fence;
	json_t *run = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct axw_attempt *a = run && read_id(run, &gid, &fence) ? axw_attempt_find(w, gid, fence) : NULL;
	struct executor *executor = run ? find_executor(w, string(run, "executor")) : NULL;
	if (a && a->state == STORED && executor) {
		a->executor = executor;
		a->begun_ms = ax_boottime_ms();
		a->more_output = true;
	} else {
		a = NULL;
	}
	json_decref(run);
	return a;
}

struct axw_attempt *axw_adopt(struct axw *w, const char *text)
{
	int64_t gid;
	int64_t fence;
	json_t *run = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct axw_attempt *a = NULL;
	if (run && read_id(run, &gid, &fence) && !axw_attempt_find(w, gid, fence)) {
		a = axw_attempt_new(w, gid, fence);
		/* Renewed when the server has heard of it; until then the old deadline stands where it is kept. */
		read_run(a, run, ax_boottime_ms());
		seen_before(w, gid, fence);
		if (!a->group) /* the worker no longer serves it: it still ends here, outside any pool */
			a->group = &w->groups[0];
		if (a->executor) {
			a->state = RUNNING;
			a->begun_ms = ax_boottime_ms();
			axw_attempt_count_place(a, 1);
			a->group->held++;
			axw_attempt_set_deadline(a);
			struct axw_attempt *older;
			HASH_FIND(hh_run, w->runs, &gid, sizeof(gid), older);
			if (!older)
				HASH_ADD(hh_run, w->runs, id.gid, sizeof(a->id.gid), a);
		} else {
			axw_attempt_remove(a);
			a = NULL;
		}
	}
	json_decref(run);
	return a;
}
