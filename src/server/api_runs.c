/* /api/v1/runs: JSON to services and back. */

#include <inttypes.h>
#include <string.h>

#include "app/failures.h"
#include "app/runs.h"
#include "core/limits.h"
#include "port/filter.h"
#include "server/handlers.h"
#include "server/render.h"

enum { SCAN_MAX = 20000, OUTPUT_PAGE = 64 };

static const char *run_object(struct ax_call *c, int64_t gid)
{
	return ax_sprintf(&c->arena, "run:%" PRId64, gid);
}

/* "A,B" to a set of bits. */
static enum ax_status read_states(const char *text, uint32_t *ret, struct ax_err *err)
{
	*ret = 0;
	while (*text != '\0') {
		char word[16];
		size_t len = strcspn(text, ",");
		enum ax_run_state state;
		if (len >= sizeof word)
			return ax_fail(
				err, AX_INVALID, "status", "there is no state `%.*s`", (int)AX_MIN(len, 32u), text);
		memcpy(word, text, len);
		word[len] = '\0';
		if (!ax_run_state_parse(word, &state))
			return ax_fail(err, AX_INVALID, "status", "there is no state `%s`", word);
		*ret |= UINT32_C(1) << state;
		text += len + (text[len] == ',');
	}
	return AX_OK;
}

static enum ax_status read_filter(struct ax_call *c, struct ax_run_filter *f, struct ax_err *err)
{
	*f = (struct ax_run_filter){
		.group_key = ax_call_query(c, "group_key"),
		.worker = ax_call_query(c, "worker"),
		.scan_limit = SCAN_MAX,
	};
	enum ax_status status = ax_call_page(c, &f->limit, &f->before_gid, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "task_id", 1, INT64_MAX, &f->task_id, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "parent", 1, INT64_MAX, &f->parent, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "backfill_id", 1, INT64_MAX, &f->backfill_id, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "batch", 1, INT64_MAX, &f->batch, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "from", 0, INT64_MAX, &f->from_time, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "to", 0, INT64_MAX, &f->to_time, err);
	if (status == AX_OK)
		status = ax_call_query_bool(c, "live", &f->live, err);
	const char *states = ax_call_query(c, "status");
	if (status == AX_OK && states != NULL)
		status = read_states(states, &f->statuses, err);
	const char *kind = ax_call_query(c, "kind");
	for (int i = 0; kind != NULL && ax_kind_words[i] != NULL; i++)
		if (strcmp(kind, ax_kind_words[i]) == 0)
			f->kind = i + 1;
	if (status == AX_OK && kind != NULL && f->kind == 0)
		status = ax_fail(err, AX_INVALID, "kind", "there is no kind `%.32s`", kind);
	return status;
}

/* Runs of a group of failures. Looks at `limit` of them: those that match may be fewer. */
static enum ax_status page_of_failures(struct ax_call *c, int64_t failure_id, const struct ax_run_filter *filter,
	struct ax_runs *ret, int64_t *ret_before, struct ax_err *err)
{
	struct ax_failure_group group;
	struct ax_failures failures;
	*ret = (struct ax_runs){ .at = ax_alloc_array(&c->arena, (size_t)filter->limit, sizeof(*ret->at)) };
	enum ax_status status = c->tx->ops->failure_group_get(c->tx, failure_id, false, &group, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_INVALID, "failure_id", "there is no failure group %" PRId64, failure_id);
	if (status == AX_OK)
		status = c->tx->ops->failures_of_group(
			c->tx, group.group_key, group.fingerprint, filter->before_gid, filter->limit, &failures, err);
	for (int i = 0; status == AX_OK && i < failures.n; i++) {
		struct ax_run *run = &ret->at[ret->n];
		status = c->tx->ops->run_get(c->tx, failures.at[i].gid, false, run, err);
		if (status == AX_OK && ax_run_matches(filter, run))
			ret->n++;
	}
	if (status == AX_OK)
		*ret_before = failures.n == filter->limit ? failures.at[failures.n - 1].gid : 0;
	return status;
}

enum ax_status ax_get_runs(struct ax_call *c, struct ax_err *err)
{
	struct ax_run_filter filter;
	struct ax_runs runs;
	int64_t before = 0, failure_id = 0;
	enum ax_status status = read_filter(c, &filter, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "failure_id", 1, INT64_MAX, &failure_id, err);
	if (status == AX_OK && failure_id != 0)
		status = page_of_failures(c, failure_id, &filter, &runs, &before, err);
	else if (status == AX_OK)
		status = c->tx->ops->runs_page(c->tx, &filter, &runs, &before, err);
	if (status != AX_OK)
		return status;
	struct ax_claim_view claims = { .tx = c->tx, .now = c->now };
	c->claims = &claims;
	ax_call_items_begin(c);
	for (int i = 0; i < runs.n && status == AX_OK; i++)
		status = ax_render_run(c, NULL, &runs.at[i], err);
	ax_call_items_end(c, before);
	c->claims = NULL;
	return status;
}

static enum ax_status find_run(struct ax_call *c, struct ax_run *ret, struct ax_err *err)
{
	int64_t gid;
	enum ax_status status = ax_call_id(c, 0, "run", &gid, err);
	if (status == AX_OK)
		status = c->tx->ops->run_get(c->tx, gid, false, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no run `%.64s`", c->param[0]);
	return status;
}

enum ax_status ax_get_run(struct ax_call *c, struct ax_err *err)
{
	struct ax_run run;
	struct ax_attempts attempts;
	enum ax_status status = find_run(c, &run, err);
	if (status == AX_OK)
		status = c->tx->ops->attempts(c->tx, run.gid, &attempts, err);
	if (status != AX_OK)
		return status;
	struct ax_failure_group group = { 0 };
	status = ax_failure_group_of_run(c->tx, &run, &group, err);
	if (status != AX_OK && status != AX_NOT_FOUND)
		return status;
	ax_json_obj(&c->json, NULL);
	status = ax_render_run_members(c, &run, err);
	ax_json_id(&c->json, "failure_id", group.id);
	ax_render_run_history(c, &run, &attempts);
	if (status == AX_OK)
		status = ax_render_run_chain(c, &run, err);
	ax_json_obj_end(&c->json);
	return status;
}

enum ax_status ax_get_run_output(struct ax_call *c, struct ax_err *err)
{
	struct ax_run run;
	struct ax_outputs outputs;
	int64_t fence = 0, after_seq = -1;
	enum ax_status status = find_run(c, &run, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "fence", 0, INT64_MAX, &fence, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "after_seq", 0, INT64_MAX, &after_seq, err);
	if (status != AX_OK)
		return status;
	/* without a fence from the first chunk of all attempts; with one behind its chunk after_seq */
	int64_t after = after_seq >= 0 || fence == 0 ? after_seq : -1;
	status = c->tx->ops->outputs(c->tx, run.gid, fence, after, OUTPUT_PAGE, &outputs, err);
	int64_t bytes, kept, last_seq;
	if (status == AX_OK)
		status = c->tx->ops->output_size(
			c->tx, run.gid, fence > 0 ? fence : run.fence, &bytes, &kept, &last_seq, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	ax_json_arr(&c->json, "chunks");
	int shown = 0;
	for (int i = 0; i < outputs.n; i++, shown++) {
		if (fence > 0 && outputs.at[i].fence != fence)
			break;
		ax_render_output(&c->json, &outputs.at[i]);
	}
	ax_json_arr_end(&c->json);
	ax_json_bool(&c->json, "truncated", kept <= last_seq);
	ax_json_bool(&c->json, "more", shown == OUTPUT_PAGE);
	ax_json_bool(&c->json, "live", !ax_run_is_terminal(run.status));
	ax_json_obj_end(&c->json);
	return AX_OK;
}

/* The stream itself is live.c's. */
enum ax_status ax_get_run_live(struct ax_call *c, struct ax_err *err)
{
	struct ax_run run;
	return find_run(c, &run, err);
}

static enum ax_status read_reason(struct ax_call *c, const char **ret, struct ax_err *err)
{
	struct ax_read r;
	*ret = "";
	ax_call_body(c, &r, err);
	ax_read_str(&r, "reason", 1000, ret);
	return ax_read_end(&r);
}

enum ax_status ax_patch_run(struct ax_call *c, struct ax_err *err)
{
	struct ax_run run;
	struct ax_read r;
	int64_t delay_ms = -1, run_at = 0;
	const char *params = NULL; /* as they are */
	enum ax_status status = find_run(c, &run, err);
	if (status != AX_OK)
		return status;
	ax_call_body(c, &r, err);
	ax_read_json(&r, "params", AX_PARAM_MAX, &params);
	ax_read_int(&r, "delay_ms", 0, INT64_C(315576000000), &delay_ms);
	ax_read_int(&r, "run_at", 1, INT64_MAX, &run_at);
	if (delay_ms >= 0 && run_at > 0)
		ax_read_fail(&r, "delay_ms", "give either delay_ms or run_at");
	status = ax_read_end(&r);
	if (delay_ms >= 0)
		run_at = c->now + delay_ms;
	if (status == AX_OK)
		status = ax_run_postpone(c->ctx, run.gid, run_at, params, &run, err);
	if (status == AX_OK)
		status = ax_call_audit(c, "run.change", run_object(c, run.gid), "",
			ax_sprintf(&c->arena, "{\"trigger_time\":%" PRId64 "}", run.trigger_time), "", err);
	return status == AX_OK ? ax_render_run(c, NULL, &run, err) : status;
}

enum ax_status ax_post_run_cancel(struct ax_call *c, struct ax_err *err)
{
	struct ax_run run;
	const char *reason;
	enum ax_status status = find_run(c, &run, err);
	if (status == AX_OK)
		status = read_reason(c, &reason, err);
	if (status == AX_OK)
		status = ax_run_cancel(c->ctx, run.gid, reason, &run, err);
	if (status == AX_OK)
		status = ax_call_audit(c, "run.cancel", run_object(c, run.gid), "", "", reason, err);
	return status == AX_OK ? ax_render_run(c, NULL, &run, err) : status;
}

enum ax_status ax_post_run_retry(struct ax_call *c, struct ax_err *err)
{
	struct ax_run run;
	const char *reason;
	enum ax_status status = find_run(c, &run, err);
	if (status == AX_OK)
		status = read_reason(c, &reason, err);
	if (status == AX_OK)
		status = ax_run_retry_now(c->ctx, run.gid, &run, err);
	if (status == AX_OK)
		status = ax_call_audit(c, "run.retry", run_object(c, run.gid), "", "", reason, err);
	return status == AX_OK ? ax_render_run(c, NULL, &run, err) : status;
}

enum ax_status ax_post_run_rerun(struct ax_call *c, struct ax_err *err)
{
	struct ax_run old, run;
	const char *reason = "";
	bool failed_only = false;
	struct ax_read r;
	enum ax_status status = find_run(c, &old, err);
	if (status != AX_OK)
		return status;
	ax_call_body(c, &r, err);
	ax_read_str(&r, "reason", 1000, &reason);
	ax_read_bool(&r, "failed_only", &failed_only);
	status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_run_rerun(c->ctx, old.gid, "", failed_only, &run, err);
	if (status == AX_OK)
		status = ax_call_audit(c, "run.rerun", run_object(c, old.gid), "",
			ax_sprintf(&c->arena, "{\"gid\":\"%" PRId64 "\"}", run.gid), reason, err);
	c->status = 201;
	return status == AX_OK ? ax_render_run(c, NULL, &run, err) : status;
}

enum ax_status ax_post_run_resolve(struct ax_call *c, struct ax_err *err)
{
	static const char *const actions[] = { "run", "run_all", "dismiss", NULL };
	struct ax_run run;
	struct ax_runs made = { 0 };
	struct ax_read r;
	int action = 0;
	const char *note = "";
	enum ax_status status = find_run(c, &run, err);
	if (status != AX_OK)
		return status;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "action");
	ax_read_word(&r, "action", actions, &action);
	ax_read_str(&r, "note", AX_MESSAGE_MAX, &note);
	status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_run_resolve_missed(c->ctx, run.gid, (enum ax_missed_action)action, note, &run, &made, err);
	if (status == AX_OK)
		status = ax_call_audit(c, "run.resolve", run_object(c, run.gid), "",
			ax_sprintf(&c->arena, "{\"action\":\"%s\",\"runs\":%d}", actions[action], made.n), note, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	status = ax_render_run(c, "run", &run, err);
	ax_json_arr(&c->json, "runs");
	for (int i = 0; i < made.n && status == AX_OK; i++)
		status = ax_render_run(c, NULL, &made.at[i], err);
	ax_json_arr_end(&c->json);
	ax_json_obj_end(&c->json);
	return status;
}
