/* /api/v1/failures: groups of failures, what can be said of them, and what people do to them. */

#include <inttypes.h>
#include <string.h>

#include "app/failure_acts.h"
#include "app/failure_view.h"
#include "base/num.h"
#include "core/limits.h"
#include "server/handlers.h"
#include "server/render.h"

enum { SCAN_MAX = 20000, RUNS_SHOWN = 10, MUTE_DAYS_MAX = 400 };

static const char *failure_object(struct ax_call *c, int64_t id)
{
	return ax_sprintf(&c->arena, "failure:%" PRId64, id);
}

/* --- as JSON ------------------------------------------------------------------------------------------------------ */

static void render_trend(struct ax_call *c, const struct ax_failure_hours *hours)
{
	int64_t counts[AX_TREND_HOURS];
	ax_json_obj(&c->json, "trend");
	ax_json_int(&c->json, "from_time", ax_failure_trend(hours, c->now, counts));
	ax_json_arr(&c->json, "hours");
	for (int i = 0; i < AX_TREND_HOURS; i++)
		ax_json_int(&c->json, NULL, counts[i]);
	ax_json_arr_end(&c->json);
	ax_json_obj_end(&c->json);
}

/* Members of a group inside an open object. */
static void render_group(struct ax_call *c, const struct ax_failure_group *group, const struct ax_failure_hours *hours)
{
	struct ax_json *json = &c->json;
	ax_json_id(json, "id", group->id);
	ax_json_str(json, "group_key", group->group_key);
	ax_json_str(json, "executor_key", group->executor_key);
	ax_json_str(json, "reason", group->reason);
	ax_json_int(json, "code", group->code);
	ax_json_str(json, "title", group->title);
	ax_json_str(json, "state", ax_failure_state_name(ax_failure_state_at(group, c->now)));
	ax_json_int(json, "count", group->count);
	ax_json_int(json, "first_seen_time", group->first_seen_time);
	ax_json_int(json, "last_seen_time", group->last_seen_time);
	ax_json_bool(json, "growing", group->growth_time > 0 && c->now - group->growth_time < AX_HOUR_MS);
	render_trend(c, hours);
	ax_json_id(json, "sample_gid", group->sample_gid);
	ax_json_time(json, "state_time", group->state_time);
	ax_json_word(json, "state_by", group->state_by);
	ax_json_word(json, "state_reason", group->state_reason);
	ax_json_time(json, "mute_until_time", group->mute_until_time);
	ax_json_int(json, "reopen_count", group->reopen_count);
	ax_json_word(json, "assignee", group->assignee);
	ax_json_word(json, "note", group->note);
}

static void render_counts(struct ax_json *json, const struct ax_failure_spread *place)
{
	ax_json_int(json, "count", place->count);
	ax_json_int(json, "first_seen_time", place->first_seen_time);
	ax_json_int(json, "last_seen_time", place->last_seen_time);
}

static enum ax_status render_versions(struct ax_call *c, const struct ax_failure_spreads *spread, struct ax_err *err)
{
	struct ax_json *json = &c->json;
	for (int i = 0; i < spread->n; i++) {
		const struct ax_failure_spread *place = &spread->at[i];
		struct ax_task task;
		if (place->worker[0] != '\0')
			continue;
		enum ax_status status = c->tx->ops->task_get(c->tx, place->task_id, false, &task, err);
		if (status != AX_OK && status != AX_NOT_FOUND)
			return status;
		ax_json_obj(json, NULL);
		ax_json_id(json, "task_id", place->task_id);
		ax_json_str(json, "task_name", status == AX_OK ? task.def.task_name : NULL);
		ax_json_int(json, "version", place->version);
		render_counts(json, place);
		ax_json_obj_end(json);
	}
	return AX_OK;
}

static enum ax_status render_spread(struct ax_call *c, const struct ax_failure_spreads *spread, struct ax_err *err)
{
	struct ax_json *json = &c->json;
	ax_json_obj(json, "spread");
	ax_json_arr(json, "workers");
	for (int i = 0; i < spread->n; i++) {
		if (spread->at[i].worker[0] == '\0')
			continue;
		ax_json_obj(json, NULL);
		ax_json_str(json, "worker", spread->at[i].worker);
		render_counts(json, &spread->at[i]);
		ax_json_obj_end(json);
	}
	ax_json_arr_end(json);
	ax_json_arr(json, "versions");
	enum ax_status status = render_versions(c, spread, err);
	ax_json_arr_end(json);
	ax_json_bool(json, "truncated", spread->n == AX_SPREAD_SHOWN);
	ax_json_obj_end(json);
	return status;
}

static void render_hint(struct ax_call *c, const struct ax_failure_hint *hint)
{
	struct ax_json *json = &c->json;
	bool advises = hint->advice != AX_SENTENCES;
	struct ax_said advice = hint->said;
	advice.sentence = hint->advice;
	ax_json_obj(json, NULL);
	ax_json_str(json, "code", hint->code);
	ax_json_str(json, "text", ax_said_text(&c->arena, &hint->said, AX_ENGLISH));
	ax_render_sentence(c, hint->said.sentence, hint->said.params, ax_said_count(&hint->said));
	ax_json_str(json, "advice", advises ? ax_said_text(&c->arena, &advice, AX_ENGLISH) : NULL);
	ax_json_str(json, "advice_sentence", advises ? ax_sentence_name(&c->arena, hint->advice) : NULL);
	ax_json_obj_end(json);
}

static void render_hints(struct ax_call *c, const struct ax_failure_view *view)
{
	struct ax_json *json = &c->json;
	ax_json_arr(json, "hints");
	for (int i = 0; i < view->n_hints; i++) {
		render_hint(c, &view->hints[i]);
	}
	ax_json_arr_end(json);
	ax_json_arr(json, "also_in");
	for (int i = 0; i < view->alike.n; i++) {
		ax_json_obj(json, NULL);
		ax_json_id(json, "id", view->alike.at[i].id);
		ax_json_str(json, "group_key", view->alike.at[i].group_key);
		ax_json_int(json, "count", view->alike.at[i].count);
		ax_json_int(json, "last_seen_time", view->alike.at[i].last_seen_time);
		ax_json_obj_end(json);
	}
	ax_json_arr_end(json);
}

/* The newest runs, with what they really said. */
static enum ax_status render_runs(struct ax_call *c, const struct ax_failure_group *group, struct ax_err *err)
{
	struct ax_failures failures;
	enum ax_status status = c->tx->ops->failures_of_group(
		c->tx, group->group_key, group->fingerprint, 0, RUNS_SHOWN, &failures, err);
	ax_json_arr(&c->json, "runs");
	for (int i = 0; status == AX_OK && i < failures.n; i++) {
		struct ax_run run;
		status = c->tx->ops->run_get(c->tx, failures.at[i].gid, false, &run, err);
		if (status == AX_OK)
			status = ax_render_run(c, NULL, &run, err);
	}
	ax_json_arr_end(&c->json);
	return status;
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

/* "time.id" of the last row of the page before. */
static enum ax_status read_after(struct ax_call *c, struct ax_failure_filter *f, struct ax_err *err)
{
	const char *text = ax_call_query(c, "after");
	if (text == NULL)
		return AX_OK;
	size_t len = strcspn(text, ".");
	if (text[len] != '.' || !ax_parse_i64(text, len, INT64_MIN, INT64_MAX, &f->before_time) ||
		!ax_parse_i64(text + len + 1, strlen(text + len + 1), 1, INT64_MAX, &f->before_id))
		return ax_fail(err, AX_INVALID, "after", "after must be what `next` of the page before said");
	return AX_OK;
}

static enum ax_status read_filter(struct ax_call *c, struct ax_failure_filter *f, struct ax_err *err)
{
	*f = (struct ax_failure_filter){
		.group_key = ax_call_query(c, "group_key"),
		.worker = ax_call_query(c, "worker"),
		.q = ax_call_query(c, "q"),
		.state = -1,
		.now = c->now,
		.scan_limit = SCAN_MAX,
	};
	int64_t limit = 50;
	enum ax_status status = ax_call_query_int(c, "limit", 1, 200, &limit, err);
	f->limit = (int)limit;
	if (status == AX_OK)
		status = read_after(c, f, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "task_id", 1, INT64_MAX, &f->task_id, err);
	const char *state = ax_call_query(c, "state");
	for (int i = AX_FAILURE_OPEN; state != NULL && i <= AX_FAILURE_RESOLVED; i++)
		if (strcmp(state, ax_failure_state_name((enum ax_failure_state)i)) == 0)
			f->state = i;
	if (status == AX_OK && state != NULL && f->state < 0)
		status = ax_fail(err, AX_INVALID, "state", "state must be open, muted or resolved");
	return status;
}

enum ax_status ax_get_failures(struct ax_call *c, struct ax_err *err)
{
	struct ax_failure_filter filter;
	struct ax_failure_groups groups;
	int64_t time = 0, id = 0;
	enum ax_status status = read_filter(c, &filter, err);
	if (status == AX_OK)
		status = c->tx->ops->failure_groups_page(c->tx, &filter, &groups, &time, &id, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; status == AX_OK && i < groups.n; i++) {
		struct ax_failure_hours hours;
		status = c->tx->ops->failure_hours(c->tx, groups.at[i].id, &hours, err);
		if (status != AX_OK)
			break;
		ax_json_obj(&c->json, NULL);
		render_group(c, &groups.at[i], &hours);
		ax_json_obj_end(&c->json);
	}
	ax_json_arr_end(&c->json);
	ax_json_word(&c->json, "next", id == 0 ? NULL : ax_sprintf(&c->arena, "%" PRId64 ".%" PRId64, time, id));
	ax_json_obj_end(&c->json);
	return status;
}

static enum ax_status find_group(struct ax_call *c, struct ax_failure_group *ret, struct ax_err *err)
{
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "failure group", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->failure_group_get(c->tx, id, false, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no failure group `%.64s`", c->param[0]);
	return status;
}

enum ax_status ax_get_failure(struct ax_call *c, struct ax_err *err)
{
	struct ax_failure_group group;
	struct ax_failure_view view;
	int64_t left = 0;
	enum ax_status status = find_group(c, &group, err);
	if (status == AX_OK)
		status = ax_failure_look(c->tx, &group, &view, err);
	if (status == AX_OK)
		status = c->tx->ops->failures_to_rerun_count(
			c->tx, group.group_key, group.fingerprint, AX_RETRY_LEFT_MAX, &left, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	render_group(c, &view.group, &view.hours);
	render_hints(c, &view);
	status = render_spread(c, &view.spread, err);
	ax_json_int(&c->json, "not_rerun", left);
	if (status == AX_OK)
		status = render_runs(c, &view.group, err);
	ax_json_obj_end(&c->json);
	return status;
}

/* --- acting ------------------------------------------------------------------------------------------------------- */

static enum ax_status answer_group(struct ax_call *c, const struct ax_failure_group *group, struct ax_err *err)
{
	struct ax_failure_hours hours;
	enum ax_status status = c->tx->ops->failure_hours(c->tx, group->id, &hours, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	render_group(c, group, &hours);
	ax_json_obj_end(&c->json);
	return AX_OK;
}

/* What people want to know of a change later. */
static const char *describe(struct ax_call *c, const struct ax_failure_group *group)
{
	struct ax_buf text;
	struct ax_json json;
	ax_buf_init(&text, 1U << 16);
	ax_json_init(&json, &text);
	ax_json_obj(&json, NULL);
	ax_json_str(&json, "state", ax_failure_state_name(ax_failure_state_at(group, c->now)));
	ax_json_time(&json, "mute_until_time", group->mute_until_time);
	ax_json_word(&json, "assignee", group->assignee);
	ax_json_word(&json, "note", group->note);
	ax_json_obj_end(&json);
	const char *kept = ax_strndup(&c->arena, text.data, text.len);
	ax_buf_done(&text);
	return kept;
}

/* `r`: the body, of which `act` was read. */
static enum ax_status do_act(
	struct ax_call *c, struct ax_read *r, const char *action, struct ax_failure_act *act, struct ax_err *err)
{
	struct ax_failure_group old, group;
	enum ax_status status = ax_read_end(r);
	if (status == AX_OK)
		status = find_group(c, &old, err);
	if (status != AX_OK)
		return status;
	act->id = old.id;
	act->by = c->who.actor;
	status = ax_failure_do(c->ctx, act, &group, err);
	if (status == AX_OK)
		status = ax_call_audit(c, action, failure_object(c, group.id), describe(c, &old), describe(c, &group),
			act->reason, err);
	return status == AX_OK ? answer_group(c, &group, err) : status;
}

enum ax_status ax_post_failure_mute(struct ax_call *c, struct ax_err *err)
{
	struct ax_failure_act act = { .kind = AX_FAILURE_MUTE, .reason = "" };
	struct ax_read r;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "mute_until_time");
	ax_read_require(&r, "reason");
	ax_read_int(&r, "mute_until_time", 0, c->now + MUTE_DAYS_MAX * (int64_t)24 * AX_HOUR_MS, &act.until_time);
	ax_read_str(&r, "reason", 1000, &act.reason);
	if (act.reason[0] == '\0')
		ax_read_fail(&r, "reason", "say why: whoever wonders why nobody was told will read it");
	return do_act(c, &r, "failure.mute", &act, err);
}

enum ax_status ax_post_failure_assign(struct ax_call *c, struct ax_err *err)
{
	struct ax_failure_act act = { .kind = AX_FAILURE_ASSIGN, .reason = "" };
	struct ax_read r;
	ax_call_body(c, &r, err);
	if (!ax_read_has(&r, "assignee") && !ax_read_has(&r, "note"))
		ax_read_fail(&r, "assignee", "give an assignee, a note, or both");
	ax_read_str_or_null(&r, "assignee", AX_NAME_MAX, &act.assignee);
	ax_read_str_or_null(&r, "note", AX_MESSAGE_MAX, &act.note);
	return do_act(c, &r, "failure.assign", &act, err);
}

static enum ax_status act_with_reason(
	struct ax_call *c, const char *action, enum ax_failure_act_kind kind, struct ax_err *err)
{
	struct ax_failure_act act = { .kind = kind, .reason = "" };
	struct ax_read r;
	ax_call_body(c, &r, err);
	ax_read_str(&r, "reason", 1000, &act.reason);
	return do_act(c, &r, action, &act, err);
}

enum ax_status ax_post_failure_resolve(struct ax_call *c, struct ax_err *err)
{
	return act_with_reason(c, "failure.resolve", AX_FAILURE_RESOLVE, err);
}

enum ax_status ax_post_failure_reopen(struct ax_call *c, struct ax_err *err)
{
	return act_with_reason(c, "failure.reopen", AX_FAILURE_REOPEN, err);
}

enum ax_status ax_post_failure_retry(struct ax_call *c, struct ax_err *err)
{
	struct ax_failure_retry retry = { .limit = 100, .per_minute = 60 };
	const char *reason = "";
	struct ax_read r;
	ax_call_body(c, &r, err);
	ax_read_int(&r, "limit", 1, AX_RETRY_ALL_MAX, &retry.limit);
	ax_read_int(&r, "per_minute", 1, 60000, &retry.per_minute);
	ax_read_str(&r, "reason", 1000, &reason);
	enum ax_status status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_call_id(c, 0, "failure group", &retry.id, err);
	if (status == AX_OK)
		status = ax_failure_retry_all(c->ctx, &retry, err);
	if (status == AX_OK && retry.made > 0)
		status = ax_call_audit(c, "failure.retry", failure_object(c, retry.id), "",
			ax_sprintf(&c->arena, "{\"made\":%" PRId64 ",\"left\":%" PRId64 "}", retry.made, retry.left),
			reason, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	ax_json_int(&c->json, "made", retry.made);
	ax_json_time(&c->json, "last_due_time", retry.last_due_time);
	ax_json_int(&c->json, "left", retry.left);
	ax_json_obj_end(&c->json);
	return AX_OK;
}
