/* /api/v1/runs/{gid}/why and /api/v1/tasks/{id}/why: app/why.h as JSON. */

#include "app/why.h"
#include "server/handlers.h"
#include "server/render.h"
#include "server/server.h"

static void render_why(struct ax_call *c, const struct ax_why *why)
{
	struct ax_json *json = &c->json;
	static const char *const marks[] = { "info", "ok", "fail" };
	ax_json_obj(json, NULL);
	ax_json_str(json, "subject", why->subject);
	ax_json_str(json, "answer", why->steps[why->answer].text);
	ax_json_str(json, "verdict", why->steps[why->answer].code);
	ax_json_arr(json, "steps");
	for (int i = 0; i < why->n; i++) {
		const struct ax_why_step *step = &why->steps[i];
		ax_json_obj(json, NULL);
		ax_json_time(json, "time", step->time);
		ax_json_str(json, "mark", marks[step->mark]);
		ax_json_str(json, "code", step->code);
		ax_json_str(json, "text", step->text);
		ax_render_sentence(c, step->sentence, step->params, step->n_params);
		ax_json_obj_end(json);
	}
	ax_json_arr_end(json);
	ax_json_obj_end(json);
}

enum ax_status ax_get_run_why(struct ax_call *c, struct ax_err *err)
{
	int64_t gid;
	struct ax_why why;
	enum ax_status status = ax_call_id(c, 0, "run", &gid, err);
	if (status == AX_OK)
		status = ax_why_run(c->tx, c->server->zones, gid, c->now, &why, err);
	if (status == AX_OK)
		render_why(c, &why);
	return status;
}

enum ax_status ax_get_task_why(struct ax_call *c, struct ax_err *err)
{
	int64_t id, at = c->now;
	struct ax_why why;
	enum ax_status status = ax_call_id(c, 0, "task", &id, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "at", 0, INT64_C(253402300799000), &at, err);
	if (status == AX_OK)
		status = ax_why_task(c->tx, c->server->zones, id, at, c->now, &why, err);
	if (status == AX_OK)
		render_why(c, &why);
	return status;
}
