#include "app/events.h"

#include <inttypes.h>
#include <string.h>

#include "app/birth.h"
#include "app/change.h"
#include "app/task_check.h"
#include "core/condition.h"
#include "core/limits.h"

struct sending {
	struct ax_ctx *ctx;
	const struct ax_event_sent *sent;
	struct ax_event *event;
	struct ax_event_tasks *tasks;
	bool existed;
	int64_t now;
};

/* With the name: a task that listens to another name now may get the same id from there (docs/decisions/0024). */
static const char *run_key(const struct sending *s)
{
	return s->sent->run_key[0] != '\0' ? s->sent->run_key : s->event->event_key;
}

/* A run of this event for one task, as the overlap rule lets it be. */
static enum ax_status make_run(
	struct sending *s, struct ax_tx *tx, const struct ax_task *task, struct ax_event_task *ret, struct ax_err *err)
{
	struct ax_fate fate;
	struct ax_run run = ax_run_make(s->ctx, task, AX_KIND_EVENT, run_key(s), s->now, s->now);
	run.params = s->event->payload;
	run.batch = s->event->id;
	enum ax_status status = ax_overlap_judge(tx, task, &run, s->now, &fate, err);
	if (status == AX_OK)
		status = ax_run_admit(s->ctx, tx, task, &run, &fate, s->now, err);
	ret->fate = AX_EVENT_RUN;
	ret->gid = run.gid;
	return status;
}

/* The run of an event whose own row retention has deleted already; AX_NOT_FOUND when there is none. */
static enum ax_status find_known(
	struct sending *s, struct ax_tx *tx, const struct ax_task *task, struct ax_event_task *ret, struct ax_err *err)
{
	struct ax_run run;
	enum ax_status status = tx->ops->run_find(tx, task->id, AX_KIND_EVENT, run_key(s), 0, &run, err);
	if (status == AX_OK) {
		ret->fate = AX_EVENT_KNOWN;
		ret->gid = run.gid;
	}
	return status;
}

static enum ax_status tell_task(
	struct sending *s, struct ax_tx *tx, const struct ax_task *task, struct ax_event_task *ret, struct ax_err *err)
{
	*ret = (struct ax_event_task){ .event = s->event->id, .task_id = task->id };
	if (task->status != AX_TASK_ENABLED) {
		ret->fate = task->status == AX_TASK_PAUSED ? AX_EVENT_PAUSED
			: task->status == AX_TASK_DELETING ? AX_EVENT_DELETING
							   : AX_EVENT_CREATED;
		return AX_OK;
	}
	if (!ax_condition_holds(task->def.event_condition, s->event->payload)) {
		ret->fate = AX_EVENT_CONDITION;
		return AX_OK;
	}
	enum ax_status status = find_known(s, tx, task, ret, err);
	return status == AX_NOT_FOUND ? make_run(s, tx, task, ret, err) : status;
}

static enum ax_status answer_known(struct sending *s, struct ax_tx *tx, struct ax_err *err)
{
	enum ax_status status = tx->ops->event_find(tx, s->sent->event_name, s->sent->event_key, s->event, err);
	s->existed = status == AX_OK;
	return status == AX_OK ? tx->ops->event_tasks(tx, s->event->id, s->tasks, err) : status;
}

static enum ax_status send(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct sending *s = arg;
	const struct ax_event_sent *sent = s->sent;
	struct ax_tasks tasks;
	s->existed = false;
	enum ax_status status = sent->event_key[0] == '\0' ? AX_NOT_FOUND : answer_known(s, tx, err);
	if (status != AX_NOT_FOUND)
		return status;
	int64_t id = ax_gid_next(&s->ctx->gids, s->now);
	*s->event = (struct ax_event){
		.id = id,
		.event_name = sent->event_name,
		.event_key = sent->event_key[0] != '\0' ? sent->event_key : ax_sprintf(s->ctx->arena, "%" PRId64, id),
		.event_id = sent->event_id,
		.payload = sent->payload,
		.sent_by = sent->sent_by,
		.time = s->now,
	};
	status = tx->ops->tasks_listening(tx, sent->event_name, AX_LISTENERS_MAX, &tasks, err);
	if (status != AX_OK)
		return status;
	s->tasks->at = ax_alloc_array(s->ctx->arena, (size_t)tasks.n + 1, sizeof(*s->tasks->at));
	s->tasks->n = 0;
	for (int i = 0; status == AX_OK && i < tasks.n; i++) {
		struct ax_event_task *row = &s->tasks->at[s->tasks->n++];
		status = tell_task(s, tx, &tasks.at[i], row, err);
		if (status == AX_OK)
			status = tx->ops->event_task_insert(tx, row, err);
		s->event->runs += row->gid != 0;
		s->event->passed += row->gid == 0;
	}
	return status == AX_OK ? tx->ops->event_insert(tx, s->event, err) : status;
}

static enum ax_status check(const struct ax_event_sent *sent, struct ax_err *err)
{
	enum ax_status status = ax_line_check("name", sent->event_name, 1, AX_EVENT_NAME_MAX, err);
	if (status != AX_OK)
		return status;
	if (strlen(sent->event_id) > AX_EVENT_ID_MAX)
		return ax_fail(err, AX_INVALID, "event_id", "an event id has at most %d bytes", AX_EVENT_ID_MAX);
	if (strlen(sent->payload) > AX_PARAM_MAX)
		return ax_fail(err, AX_TOO_LARGE, "payload", "the payload has %zu bytes; %d are allowed",
			strlen(sent->payload), AX_PARAM_MAX);
	return AX_OK;
}

enum ax_status ax_event_send(struct ax_ctx *ctx, const struct ax_event_sent *sent, struct ax_event *ret,
	struct ax_event_tasks *ret_tasks, bool *ret_existed, struct ax_err *err)
{
	struct sending s = { .ctx = ctx, .sent = sent, .event = ret, .tasks = ret_tasks, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = check(sent, err);
	if (status == AX_OK)
		status = ax_gids_ensure(ctx, err);
	if (status == AX_OK)
		status = ax_store_run(ctx->store, ctx->arena, send, &s, err);
	if (status == AX_EXISTS) /* another server was sent it at the same time: it is known now */
		status = ax_store_run(ctx->store, ctx->arena, send, &s, err);
	*ret_existed = s.existed;
	return status;
}
