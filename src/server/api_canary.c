/* /api/v1/tasks/{id}/canary: a new definition on trial. */

#include <inttypes.h>

#include "app/canary.h"
#include "core/duration.h"
#include "core/limits.h"
#include "server/handlers.h"
#include "server/render.h"
#include "server/task_read.h"

static void render_arm(struct ax_json *json, const char *key, int64_t version, int64_t succeeded, int64_t failed,
	const char *durations)
{
	int64_t p95 = ax_durations_quantile(durations, 95);
	ax_json_obj(json, key);
	ax_json_int(json, "version", version);
	ax_json_int(json, "succeeded", succeeded);
	ax_json_int(json, "failed", failed);
	if (p95 < 0)
		ax_json_null(json, "p95_ms");
	else
		ax_json_int(json, "p95_ms", p95);
	ax_json_obj_end(json);
}

/* While it runs, what is to be said of the definition on trial: nobody may offer what it needs. */
static enum ax_status render_trial_warnings(struct ax_call *c, const struct ax_canary *canary, struct ax_err *err)
{
	struct ax_task_version trial;
	struct ax_offers offers;
	if (canary->state != AX_CANARY_RUNNING) {
		ax_json_arr(&c->json, "warnings");
		ax_json_arr_end(&c->json);
		return AX_OK;
	}
	enum ax_status status = c->tx->ops->task_version_get(c->tx, canary->task_id, canary->version, &trial, err);
	if (status == AX_OK)
		status = ax_offers_read(c, &offers, err);
	if (status == AX_OK)
		ax_render_warnings(c, &trial.def, NULL, &offers);
	return status;
}

static enum ax_status render_canary(struct ax_call *c, const struct ax_canary *canary, struct ax_err *err)
{
	struct ax_json *json = &c->json;
	static const char *const states[] = { "running", "promoted", "rolled_back" };
	ax_json_obj(json, NULL);
	ax_json_id(json, "task_id", canary->task_id);
	ax_json_str(json, "state", states[canary->state]);
	ax_json_int(json, "percent", canary->percent);
	ax_json_bool(json, "automatic", canary->automatic);
	ax_json_int(json, "min_runs", canary->min_runs);
	ax_json_int(json, "max_failure_points", canary->max_failure_points);
	ax_json_int(json, "max_p95_percent", canary->max_p95_percent);
	render_arm(json, "base", canary->base_version, canary->base_succeeded, canary->base_failed,
		canary->base_durations);
	render_arm(json, "trial", canary->version, canary->succeeded, canary->failed, canary->durations);
	ax_json_int(json, "start_time", canary->start_time);
	ax_json_time(json, "end_time", canary->end_time);
	ax_json_str(json, "started_by", canary->started_by);
	ax_json_word(json, "ended_by", canary->ended_by);
	ax_json_word(json, "reason", canary->reason);
	enum ax_status status = render_trial_warnings(c, canary, err);
	ax_json_obj_end(json);
	return status;
}

static enum ax_status answer(
	struct ax_call *c, const char *action, const struct ax_canary *canary, const char *reason, struct ax_err *err)
{
	enum ax_status status = render_canary(c, canary, err);
	if (status != AX_OK)
		return status;
	return ax_call_audit(c, action, ax_sprintf(&c->arena, "task:%" PRId64, canary->task_id), "",
		ax_sprintf(&c->arena, "{\"version\":%" PRId64 ",\"percent\":%" PRId64 "}", canary->version,
			canary->percent),
		reason, err);
}

static enum ax_status find_canary(struct ax_call *c, struct ax_canary *ret, struct ax_err *err)
{
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "task", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->canary_get(c->tx, id, ret, err);
	return status == AX_NOT_FOUND ? ax_fail(err, AX_NOT_FOUND, "", "task `%.64s` has no canary", c->param[0])
				      : status;
}

enum ax_status ax_get_canary(struct ax_call *c, struct ax_err *err)
{
	struct ax_canary canary;
	enum ax_status status = find_canary(c, &canary, err);
	return status == AX_OK ? render_canary(c, &canary, err) : status;
}

static enum ax_status read_trial(struct ax_call *c, json_t *change, struct ax_task_def *def, struct ax_err *err)
{
	struct ax_read r;
	ax_read_begin(&r, change, "change.", &c->arena, err);
	ax_read_def(&r, def);
	enum ax_status status = ax_read_end(&r);
	return status == AX_OK ? ax_check_def_param(c, def, "change.", err) : status;
}

enum ax_status ax_post_canary(struct ax_call *c, struct ax_err *err)
{
	struct ax_task task;
	struct ax_canary ask = {
		.automatic = true,
		.min_runs = 20,
		.max_failure_points = 5,
		.max_p95_percent = 150,
	}, canary;
	struct ax_read r;
	enum ax_status status = ax_call_id(c, 0, "task", &ask.task_id, err);
	if (status == AX_OK)
		status = c->tx->ops->task_get(c->tx, ask.task_id, false, &task, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no task `%.64s`", c->param[0]);
	if (status != AX_OK)
		return status;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "version");
	ax_read_require(&r, "percent");
	ax_read_require(&r, "change");
	ax_read_int(&r, "version", 1, INT64_MAX, &ask.base_version);
	ax_read_int(&r, "percent", 1, 100, &ask.percent);
	ax_read_bool(&r, "automatic", &ask.automatic);
	ax_read_int(&r, "min_runs", 1, 100000, &ask.min_runs);
	ax_read_int(&r, "max_failure_points", 0, 100, &ask.max_failure_points);
	ax_read_int(&r, "max_p95_percent", 0, 10000, &ask.max_p95_percent);
	json_t *change = ax_read_any(&r, "change");
	if (change != NULL && !json_is_object(change))
		ax_read_fail(&r, "change", "change must be an object with the fields on trial");
	status = ax_read_end(&r);
	struct ax_task_def trial = task.def;
	if (status == AX_OK)
		status = read_trial(c, change, &trial, err);
	if (status == AX_OK)
		status = ax_canary_begin(c->ctx, &ask, &trial, c->who.actor, &canary, err);
	c->status = 201;
	return status == AX_OK ? answer(c, "canary.begin", &canary, "", err) : status;
}

enum ax_status ax_patch_canary(struct ax_call *c, struct ax_err *err)
{
	struct ax_canary canary;
	struct ax_read r;
	enum ax_status status = find_canary(c, &canary, err);
	if (status != AX_OK)
		return status;
	ax_call_body(c, &r, err);
	ax_read_int(&r, "percent", 1, 100, &canary.percent);
	ax_read_bool(&r, "automatic", &canary.automatic);
	status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_canary_set(c->ctx, canary.task_id, canary.percent, canary.automatic, &canary, err);
	return status == AX_OK ? answer(c, "canary.set", &canary, "", err) : status;
}

static enum ax_status decide(struct ax_call *c, enum ax_canary_state to, const char *action, struct ax_err *err)
{
	struct ax_canary canary;
	struct ax_read r;
	int64_t id;
	const char *reason = "";
	enum ax_status status = ax_call_id(c, 0, "task", &id, err);
	if (status != AX_OK)
		return status;
	ax_call_body(c, &r, err);
	ax_read_str(&r, "reason", 1000, &reason);
	status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_canary_decide(c->ctx, id, to, reason, c->who.actor, &canary, err);
	return status == AX_OK ? answer(c, action, &canary, reason, err) : status;
}

enum ax_status ax_post_canary_promote(struct ax_call *c, struct ax_err *err)
{
	return decide(c, AX_CANARY_PROMOTED, "canary.promote", err);
}

enum ax_status ax_post_canary_rollback(struct ax_call *c, struct ax_err *err)
{
	return decide(c, AX_CANARY_ROLLED_BACK, "canary.rollback", err);
}
