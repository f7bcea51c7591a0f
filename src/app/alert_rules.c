#include "app/alert_rules.h"

#include <inttypes.h>
#include <string.h>

#include "app/alerts.h"
#include "core/limits.h"

enum {
	OF_A_TASK = 1000, /* open alerts of one task: one per rule, more of those whose episode is a run */
	SEEN_MAX = 1000,  /* alerts among which the one before is sought, newest first */
};

static const char *episode_of(struct ax_ctx *ctx, int64_t task_id)
{
	return ax_sprintf(ctx->arena, "%" PRId64, task_id);
}

static struct ax_alert_event event_of(
	struct ax_ctx *ctx, enum ax_alert_rule rule, const struct ax_task_def *def, const struct ax_run *run)
{
	return (struct ax_alert_event){
		.rule = rule,
		.group_key = run->group_key,
		.episode = episode_of(ctx, run->task_id),
		.task_id = run->task_id,
		.gid = run->gid,
		.subject = def->task_name,
		.count = 1,
	};
}

/* Ends those open alerts of the task whose rule is in the set (bit 1 << rule). */
static enum ax_status end_of_task(struct ax_ctx *ctx, struct ax_tx *tx, int64_t task_id, unsigned rules,
	const struct ax_said *how, int64_t now, struct ax_err *err)
{
	struct ax_alerts open;
	enum ax_status status = tx->ops->alerts_of_task(tx, task_id, OF_A_TASK, &open, err);
	for (int i = 0; status == AX_OK && i < open.n; i++)
		if (rules >> open.at[i].rule & 1)
			status = ax_alert_end(ctx, tx, &open.at[i], how, now, err);
	return status;
}

/* Seconds without a failure that it takes to end the alert; 0: the next success ends it. Runs of a task that now fail
 * and now succeed would otherwise open and end an alert each: one that begins soon after the end of another stays. */
static enum ax_status calm_bound(
	struct ax_tx *tx, const struct ax_alert_event *event, int64_t now, int64_t *ret, struct ax_err *err)
{
	const struct ax_alert_filter ended = {
		.task_id = event->task_id,
		.rule = AX_ALERT_FAILED,
		.state = AX_ALERT_RESOLVED,
		.limit = 1,
		.scan_limit = SEEN_MAX,
	};
	struct ax_alerts before;
	int64_t rest;
	enum ax_status status = tx->ops->alerts_page(tx, &ended, &before, &rest, err);
	bool soon = status == AX_OK && before.n == 1 && now < before.at[0].resolve_time + AX_ALERT_CALM_MS;
	*ret = soon ? AX_ALERT_CALM_MS / 1000 : 0;
	return status;
}

static enum ax_status run_failed(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_alert_event *event, int64_t now, struct ax_err *err)
{
	struct ax_alert open;
	enum ax_status status =
		tx->ops->alert_find(tx, event->rule, event->group_key, event->episode, true, &open, err);
	bool is_open = status == AX_OK;
	if (is_open)
		event->bound = open.bound;
	else if (status == AX_NOT_FOUND)
		status = calm_bound(tx, event, now, &event->bound, err);
	return status == AX_OK ? ax_alert_raise_on(ctx, tx, event, is_open ? &open : NULL, now, err) : status;
}

/* A success says nothing of a failure of a newer fire, and one alone does not end what comes and goes. Failures add to
 * the alert under the lock of the task's row: it is as it was read. */
static bool ends_with(const struct ax_alert *open, const struct ax_run *run, int64_t now)
{
	if (open->rule == AX_ALERT_FAILED)
		return run->gid > open->gid && now >= open->seen_time + open->bound * 1000;
	return open->rule == AX_ALERT_ABSENCE;
}

static enum ax_status run_succeeded(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run, int64_t now, struct ax_err *err)
{
	const struct ax_said how = { AX_SAY_OVER_SUCCEEDED, { ax_id_param(ctx->arena, "run", run->gid) } };
	struct ax_alerts open;
	enum ax_status status = tx->ops->alerts_of_task(tx, run->task_id, OF_A_TASK, &open, err);
	for (int i = 0; status == AX_OK && i < open.n; i++)
		if (ends_with(&open.at[i], run, now))
			status = ax_alert_end(ctx, tx, &open.at[i], &how, now, err);
	return status;
}

/* What is said of a failure, by state and reason; the first that fits. */
static const struct {
	enum ax_run_state state;
	const char *reason; /* NULL = any */
	enum ax_sentence sentence;
} failures[] = {
	{ AX_RUN_FAILED, "refused", AX_SAY_ALERT_FAILED_REFUSED },
	{ AX_RUN_FAILED, "not_retried", AX_SAY_ALERT_FAILED_NOT_RETRIED },
	{ AX_RUN_FAILED, "shards", AX_SAY_ALERT_FAILED_SHARDS },
	{ AX_RUN_FAILED, NULL, AX_SAY_ALERT_FAILED },
	{ AX_RUN_TIMEOUT, "timeout", AX_SAY_ALERT_FAILED_TIMEOUT },
	{ AX_RUN_TIMEOUT, "hard_limit", AX_SAY_ALERT_FAILED_HARD_LIMIT },
	{ AX_RUN_TIMEOUT, "shards", AX_SAY_ALERT_FAILED_SHARDS },
	{ AX_RUN_TIMEOUT, NULL, AX_SAY_ALERT_FAILED_LOST },
};

static struct ax_said say_failure(struct ax_ctx *ctx, const struct ax_run *run)
{
	size_t i = 0;
	while (i + 1 < AX_COUNT(failures) &&
		(failures[i].state != run->status ||
			(failures[i].reason != NULL && strcmp(failures[i].reason, run->reason) != 0)))
		i++;
	return (struct ax_said){ failures[i].sentence,
		{ ax_id_param(ctx->arena, "run", run->gid), ax_text_param("worker", run->worker),
			ax_number_param("code", run->result_code), ax_text_param("message", run->result_msg) } };
}

enum ax_status ax_alert_run_ended(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_run *run, bool muted, int64_t now, struct ax_err *err)
{
	if (run->shard != 0) /* the run that they are parts of decides */
		return AX_OK;
	if (run->status == AX_RUN_SUCCESS)
		return run_succeeded(ctx, tx, run, now, err);
	if ((run->status != AX_RUN_FAILED && run->status != AX_RUN_TIMEOUT) || muted)
		return AX_OK;
	struct ax_alert_event event = event_of(ctx, AX_ALERT_FAILED, &task->def, run);
	event.detail = say_failure(ctx, run);
	event.value = run->result_code;
	return run_failed(ctx, tx, &event, now, err);
}

enum ax_status ax_alert_run_missed(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_run *run, int64_t now, struct ax_err *err)
{
	struct ax_alert_event event = event_of(ctx, AX_ALERT_MISSED, &task->def, run);
	event.detail = (struct ax_said){ AX_SAY_ALERT_MISSED,
		{ ax_number_param("n", run->covers_count),
			ax_number_param("window_ms", task->def.window_seconds * 1000),
			ax_id_param(ctx->arena, "run", run->gid) } };
	event.value = run->covers_count;
	event.bound = task->def.window_seconds;
	return ax_alert_raise(ctx, tx, &event, now, err);
}

enum ax_status ax_alert_missed_decided(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t task_id, int64_t now, struct ax_err *err)
{
	const struct ax_said how = { .sentence = AX_SAY_OVER_DECIDED };
	struct ax_runs undecided;
	enum ax_status status = tx->ops->runs_undecided(tx, task_id, 1, &undecided, err);
	if (status != AX_OK || undecided.n > 0)
		return status;
	return end_of_task(ctx, tx, task_id, 1U << AX_ALERT_MISSED, &how, now, err);
}

int64_t ax_late_bound(const struct ax_task_def *def, const struct ax_group *group)
{
	return def->late_seconds > 0 ? def->late_seconds : group->late_seconds;
}

enum ax_status ax_alert_run_given(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task_def *def,
	const struct ax_group *group, const struct ax_run *run, int64_t now, struct ax_err *err)
{
	int64_t bound = ax_late_bound(def, group), late = (now - run->trigger_time) / 1000;
	struct ax_alert open;
	if (bound == 0 || late < bound || run->made_up) /* a fire that a person makes up is late by their will */
		return AX_OK;
	struct ax_alert_event event = event_of(ctx, AX_ALERT_LATE, def, run);
	event.detail = (struct ax_said){ AX_SAY_ALERT_LATE_GIVEN,
		{ ax_id_param(ctx->arena, "run", run->gid), ax_number_param("late_ms", late * 1000),
			ax_number_param("allowed_ms", bound * 1000) } };
	event.value = late;
	event.bound = bound;
	enum ax_status status = tx->ops->alert_find(tx, event.rule, event.group_key, event.episode, true, &open, err);
	bool is_open = status == AX_OK;
	if (is_open && open.gid == run->gid) /* it was seen while it waited */
		event.count = 0;
	if (status != AX_OK && status != AX_NOT_FOUND)
		return status;
	return ax_alert_raise_on(ctx, tx, &event, is_open ? &open : NULL, now, err);
}

enum ax_status ax_alert_task_unreadable(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_err *why, int64_t now, struct ax_err *err)
{
	struct ax_alert_event event = {
		.rule = AX_ALERT_UNSCHEDULABLE,
		.group_key = task->def.group_key,
		.episode = episode_of(ctx, task->id),
		.task_id = task->id,
		.subject = task->def.task_name,
		.detail = { AX_SAY_ALERT_UNSCHEDULABLE, { ax_text_param("fault", why->msg) } },
	};
	return ax_alert_raise(ctx, tx, &event, now, err);
}

enum ax_status ax_alert_task_gone(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t task_id, int64_t now, struct ax_err *err)
{
	const struct ax_said how = { .sentence = AX_SAY_OVER_TASK_DELETED };
	/* a group of failures may be of other tasks too */
	return end_of_task(ctx, tx, task_id, ~(1U << AX_ALERT_FAILURE_GROUP), &how, now, err);
}
