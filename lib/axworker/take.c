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

/* What the worker itself needs of a run, as its text says it. */
struct run_parts {
	struct ax_look gid, fence, group, executor, task_id, attempt, trigger_ms, priority, rank, lane,
		long_share_percent, timeout_s, grace_s, start, on_unreachable;
};

static void look_at_run(struct ax_look run, struct run_parts *p)
{
	const struct {
		const char *name;
		struct ax_look *ret;
	} wanted[] = {
		{ "gid", &p->gid },
		{ "task_id", &p->task_id },
		{ "group", &p->group },
		{ "executor", &p->executor },
		{ "attempt", &p->attempt },
		{ "fence", &p->fence },
		{ "priority", &p->priority },
		{ "rank", &p->rank },
		{ "lane", &p->lane },
		{ "long_share_percent", &p->long_share_percent },
		{ "trigger_ms", &p->trigger_ms },
		{ "timeout_s", &p->timeout_s },
		{ "grace_s", &p->grace_s },
		{ "on_unreachable", &p->on_unreachable },
		{ "start", &p->start },
	};
	struct ax_look_walk walk = ax_look_into(run);
	struct ax_look key, value;
	size_t next = 0; /* the server writes them in this order */
	*p = (struct run_parts){ 0 };
	while (ax_look_next(&walk, &key, &value)) {
		for (size_t i = 0; i < AX_COUNT(wanted); i++, next++)
			if (ax_look_is(key, wanted[next % AX_COUNT(wanted)].name)) {
				*wanted[next++ % AX_COUNT(wanted)].ret = value;
				break;
			}
	}
}

static int64_t integer(struct ax_look value, int64_t min, int64_t max, int64_t otherwise)
{
	int64_t n;
	if (value.type != AX_LOOK_NUMBER || !ax_parse_i64(value.at, value.len, INT64_MIN, INT64_MAX, &n))
		return otherwise;
	return AX_MAX(min, AX_MIN(max, n));
}

static struct group *group_of(struct axw *w, const struct run_parts *p)
{
	char name[AXW_NAME_MAX + 1];
	return ax_look_text(p->group, name, sizeof(name)) ? find_group(w, name) : NULL;
}

static struct executor *executor_of(struct axw *w, const struct run_parts *p)
{
	char key[AXW_NAME_MAX + 1];
	return ax_look_text(p->executor, key, sizeof(key)) ? find_executor(w, key) : NULL;
}

static bool read_id(const struct run_parts *p, int64_t *ret_gid, int64_t *ret_fence)
{
	char gid[24];
	*ret_fence = integer(p->fence, INT64_MIN, INT64_MAX, -1);
	return ax_look_text(p->gid, gid, sizeof(gid)) && ax_parse_i64(gid, strlen(gid), 1, INT64_MAX, ret_gid) &&
		*ret_fence >= 0;
}

static void read_run(struct axw_attempt *a, struct ax_look run, const struct run_parts *p, int64_t renewed_ms)
{
	struct axw *w = a->w;
	a->run_text = ax_malloc(run.len + 1);
	memcpy(a->run_text, run.at, run.len);
	a->run_text[run.len] = '\0';
	a->group = group_of(w, p);
	a->executor = executor_of(w, p);
	a->number = integer(p->attempt, 1, INT64_MAX, 1);
	a->trigger_ms = integer(p->trigger_ms, 0, INT64_MAX, 0);
	int64_t priority = integer(p->priority, 1, 10, 5);
	a->rank = integer(p->rank, INT64_MIN, INT64_MAX, a->trigger_ms - priority * AX_RANK_STEP_MS);
	a->is_long = ax_look_is(p->lane, "long");
	if (a->is_long && a->group)
		a->group->long_share_percent = (int)integer(p->long_share_percent, 1, 100, 100);
	a->timeout_ms = integer(p->timeout_s, 0, INT64_MAX / 4000, 0) * 1000;
	a->grace_ms = integer(p->grace_s, 0, 30, 5) * 1000;
	a->confirmed_start = ax_look_is(p->start, "confirmed");
	a->keep_unreachable = ax_look_is(p->on_unreachable, "continue");
	a->renewed_ms = renewed_ms;
	a->deadline_ms = ax_add_sat(renewed_ms, w->unreachable_ms);
}

/* A string of the run, as it is written there. */
static void add_string(struct axw_line *line, const char *key, struct ax_look string)
{
	char text[256];
	ax_json_str(&line->json, key, ax_look_text(string, text, sizeof(text)) ? text : "");
}

/* Who asks whether something ran twice finds the line of each receipt by its gid, and the machine in it. */
static void log_receipt(const struct axw_attempt *a, const struct run_parts *p)
{
	struct axw_line line;
	char host[HOST_NAME_MAX + 1] = "";
	(void)gethostname(host, sizeof(host) - 1);
	axw_line_begin(a->w, &line, AXW_INFO, "run_received");
	add_string(&line, "task_id", p->task_id);
	ax_json_str(&line.json, "gid", a->gid_text);
	ax_json_int(&line.json, "attempt", a->number);
	ax_json_int(&line.json, "fence", a->id.fence);
	add_string(&line, "executor", p->executor);
	ax_json_str(&line.json, "host", host);
	axw_line_end(a->w, &line);
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

/* A newer attempt of the run is here: this one was on its way for longer. */
static bool is_overtaken(const struct axw *w, int64_t gid, int64_t fence)
{
	struct axw_attempt *newest;
	HASH_FIND(hh_run, w->runs, &gid, sizeof(gid), newest);
	return newest && newest->id.fence > fence;
}

static const char too_late[] = "too_late"; /* by now it may be another worker's */
static const char no_place[] = "no_place"; /* what several servers gave at once, each as much as was asked */

/* Why a run is not taken, or NULL. */
static const char *reason_to_drop(const struct axw *w, const struct group *group, int64_t poll_sent_ms)
{
	if (w->draining)
		return "draining";
	if (ax_boottime_ms() - poll_sent_ms > w->start_within_ms)
		return too_late;
	if (w->disk_low)
		return "disk_low";
	return group && axw_slots(w, group) == 0 ? no_place : NULL;
}

static void log_unreadable(const struct axw *w, struct ax_look run)
{
	struct axw_line line;
	axw_line_begin(w, &line, AXW_ERROR, "run_unreadable");
	ax_json_strn(&line.json, "run", run.at, run.len);
	axw_line_end(w, &line);
}

static void log_drop(const struct axw *w, int64_t gid, int64_t fence, const char *reason)
{
	struct axw_line line;
	axw_line_begin(w, &line, AXW_WARN, "run_dropped");
	ax_json_id(&line.json, "gid", gid);
	ax_json_int(&line.json, "fence", fence);
	ax_json_str(&line.json, "reason", reason);
	axw_line_end(w, &line);
}

void axw_attempt_take(struct server *giver, struct ax_look run, int64_t poll_sent_ms)
{
	struct axw *w = giver->w;
	struct run_parts parts;
	int64_t gid;
	int64_t fence;
	look_at_run(run, &parts);
	if (!read_id(&parts, &gid, &fence)) {
		log_unreadable(w, run);
		return;
	}
	if (axw_attempt_find(w, gid, fence))
		return;
	if (is_overtaken(w, gid, fence)) {
		log_drop(w, gid, fence, "overtaken");
		return;
	}
	const char *reason = reason_to_drop(w, group_of(w, &parts), poll_sent_ms);
	if (reason)
		log_drop(w, gid, fence, reason);
	/* What others may have is given back, so that it waits no longer. Of the rest the server hears nothing, and
	 * gives it out again when nobody has accepted it: at once it would come back to this worker. */
	if ((reason && reason != too_late && reason != no_place) || seen_before(w, gid, fence))
		return;
	struct axw_attempt *a = axw_attempt_new(w, gid, fence);
	a->giver = giver;
	read_run(a, run, &parts, poll_sent_ms);
	if (!reason)
		log_receipt(a, &parts);
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

static void recover_output(struct axw_attempt *a, struct ax_look output)
{
	struct ax_look_walk walk = ax_look_into(output);
	struct ax_look key, item;
	while (ax_look_next(&walk, &key, &item)) {
		char *text = ax_malloc(item.len + 1);
		(void)ax_look_text(item, text, item.len + 1); /* the check sum says that it is what was written */
		axw_output_add(a, text, strlen(text));
	}
}

struct axw_attempt *axw_attempt_recover(struct axw *w, int64_t gid, int64_t fence, const char *spooled)
{
	json_t *tree = json_loads(spooled, JSON_REJECT_DUPLICATES, NULL);
	bool sound = json_is_object(json_object_get(tree, "result"));
	json_decref(tree);
	if (!sound || axw_attempt_find(w, gid, fence))
		return NULL;
	struct ax_look all = ax_look(spooled), output = ax_look_member(all, "output");
	struct ax_look item = ax_look_member(all, "result");
	struct axw_attempt *a = axw_attempt_new(w, gid, fence);
	if (w->store_id[0] == '\0')
		(void)ax_look_text(ax_look_member(all, "store_id"), w->store_id, sizeof(w->store_id));
	if (output.type == AX_LOOK_ARRAY) {
		axw_output_resume(a, (uint32_t)integer(ax_look_member(all, "seq"), 0, UINT32_MAX, 0));
		recover_output(a, output);
	}
	a->state = STORED;
	a->result_item = ax_malloc(item.len + 1);
	memcpy(a->result_item, item.at, item.len);
	/* perhaps no server heard it before that process was killed */
	a->started_due = integer(ax_look_member(item, "duration_ms"), 0, INT64_MAX, 0) > 0;
	a->result_due = true;
	a->finished = true;
	a->stored_bytes = item.len;
	w->stored_bytes += a->stored_bytes;
	axw_report_mark(a);
	return a;
}

struct axw_attempt *axw_adopt_stored(struct axw *w, const char *text)
{
	int64_t gid;
	int64_t fence;
	struct run_parts parts;
	look_at_run(ax_look(text), &parts);
	struct axw_attempt *a = read_id(&parts, &gid, &fence) ? axw_attempt_find(w, gid, fence) : NULL;
	struct executor *executor = executor_of(w, &parts);
	if (a && a->state == STORED && executor) {
		a->executor = executor;
		a->begun_ms = ax_boottime_ms();
		a->more_output = true;
	} else {
		a = NULL;
	}
	return a;
}

struct axw_attempt *axw_adopt(struct axw *w, const char *text)
{
	int64_t gid;
	int64_t fence;
	struct ax_look run = ax_look(text);
	struct run_parts parts;
	look_at_run(run, &parts);
	struct axw_attempt *a = NULL;
	if (read_id(&parts, &gid, &fence) && !axw_attempt_find(w, gid, fence)) {
		a = axw_attempt_new(w, gid, fence);
		/* Renewed when the server has heard of it; until then the old deadline stands where it is kept. */
		read_run(a, run, &parts, ax_boottime_ms());
		seen_before(w, gid, fence);
		if (!a->group) /* the worker no longer serves it: it still ends here, outside any pool */
			a->group = &w->groups[0];
		if (a->executor) {
			a->state = RUNNING;
			a->started_due = true; /* as of those in the spool */
			axw_report_mark(a);
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
	return a;
}
