/* /api/v1/tasks and /api/v1/schedules: JSON to services and back. */

#include <inttypes.h>
#include <string.h>

#include "app/schedule_next.h"
#include "app/task_check.h"
#include "app/tasks.h"
#include "base/rfc3339.h"
#include "core/limits.h"
#include "core/schedule_text.h"
#include "core/task_def.h"
#include "server/defaults.h"
#include "server/handlers.h"
#include "server/render.h"
#include "server/secrets.h"
#include "server/server.h"
#include "server/task_read.h"

enum { BATCH_MAX = 1000, PREVIEW_MAX = 200 };

static const char *task_object(struct ax_call *c, int64_t id)
{
	return ax_sprintf(&c->arena, "task:%" PRId64, id);
}

/* The definition of a task as JSON: the audit log's before and after. */
static const char *def_text(struct ax_call *c, const struct ax_task *task)
{
	struct ax_buf out;
	ax_buf_init(&out, 1024 * 1024);
	struct ax_json json;
	ax_json_init(&json, &out);
	ax_json_obj(&json, NULL);
	ax_render_def(&json, &task->def);
	ax_json_str(&json, "status", ax_task_status_words[task->status]);
	ax_json_int(&json, "version", task->version);
	ax_json_obj_end(&json);
	const char *text = ax_strndup(&c->arena, out.data, out.len);
	ax_buf_done(&out);
	return text;
}

static enum ax_status answer_task(struct ax_call *c, const struct ax_task *task, struct ax_err *err)
{
	struct ax_offers offers;
	enum ax_status status = ax_offers_read(c, &offers, err);
	if (status == AX_OK)
		ax_render_task(c, NULL, task, &offers);
	return status;
}

/* --- reading a definition ----------------------------------------------------------------------------------------- */

static enum ax_status read_new_task(struct ax_call *c, json_t *value, const char *path, struct ax_task_def *ret_def,
	enum ax_task_status *ret_status, struct ax_err *err)
{
	static const char *const states[] = { "created", "enabled", NULL };
	struct ax_read r;
	int state = AX_TASK_ENABLED;
	*ret_def = ax_def_preset();
	const char *group_key = json_string_value(json_object_get(value, "group_key"));
	enum ax_status status = ax_defaults_take(c, group_key != NULL ? group_key : ret_def->group_key, ret_def, err);
	if (status != AX_OK)
		return status;
	ax_read_begin(&r, value, path, &c->arena, err);
	ax_read_require(&r, "task_name");
	if (ret_def->executor_key[0] == '\0')
		ax_read_require(&r, "executor_key");
	ax_read_def(&r, ret_def);
	if (ret_def->task_type == AX_TASK_SCHEDULED && ret_def->upstreams[0] == '\0')
		ax_read_require(&r, "cron_expr");
	ax_read_word(&r, "status", states, &state);
	*ret_status = (enum ax_task_status)state;
	status = ax_read_end(&r);
	return status == AX_OK ? ax_check_def_param(c, ret_def, path, err) : status;
}

/* Faults of services name the plain field; in a batch the caller needs to know whose. */
static enum ax_status name_field(struct ax_err *err, enum ax_status status, const char *path)
{
	struct ax_err inner = *err;
	char field[128];
	snprintf(field, sizeof field, "%s%s", path, inner.field);
	return ax_fail(err, status, field, "%s", inner.msg);
}

static enum ax_status create(
	struct ax_call *c, json_t *const *values, int n, bool batch, struct ax_task **ret, struct ax_err *err)
{
	struct ax_task_def *defs = ax_alloc_array(&c->arena, (size_t)n, sizeof *defs);
	enum ax_task_status *statuses = ax_alloc_array(&c->arena, (size_t)n, sizeof *statuses);
	struct ax_task *tasks = ax_alloc_array(&c->arena, (size_t)n, sizeof *tasks);
	for (int i = 0; i < n; i++) {
		const char *path = batch ? ax_sprintf(&c->arena, "tasks[%d].", i) : "";
		enum ax_status status = read_new_task(c, values[i], path, &defs[i], &statuses[i], err);
		if (status != AX_OK)
			return status;
	}
	int failed = -1;
	enum ax_status status = ax_tasks_create(c->ctx, defs, statuses, n, c->who.actor, tasks, &failed, err);
	if (status != AX_OK && batch && failed >= 0)
		return name_field(err, status, ax_sprintf(&c->arena, "tasks[%d].", failed));
	for (int i = 0; i < n && status == AX_OK; i++)
		status = ax_call_audit(
			c, "task.create", task_object(c, tasks[i].id), "", def_text(c, &tasks[i]), "", err);
	*ret = tasks;
	return status;
}

enum ax_status ax_post_tasks(struct ax_call *c, struct ax_err *err)
{
	struct ax_task *task = NULL;
	json_t *value = c->json_in;
	enum ax_status status = create(c, &value, 1, false, &task, err);
	if (status == AX_OK)
		status = answer_task(c, task, err);
	c->status = 201;
	return status;
}

enum ax_status ax_post_tasks_batch(struct ax_call *c, struct ax_err *err)
{
	struct ax_read r;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "tasks");
	json_t *items = ax_read_array(&r, "tasks", BATCH_MAX);
	enum ax_status status = ax_read_end(&r);
	if (status != AX_OK)
		return status;
	size_t n = json_array_size(items);
	if (n == 0)
		return ax_fail(err, AX_INVALID, "tasks", "tasks must hold at least one task");
	json_t **values = ax_alloc_array(&c->arena, n, sizeof *values);
	for (size_t i = 0; i < n; i++)
		values[i] = json_array_get(items, i);
	struct ax_task *tasks = NULL;
	struct ax_offers offers;
	status = create(c, values, (int)n, true, &tasks, err);
	if (status == AX_OK)
		status = ax_offers_read(c, &offers, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	ax_json_arr(&c->json, "items");
	for (size_t i = 0; i < n; i++)
		ax_render_task(c, NULL, &tasks[i], &offers);
	ax_json_arr_end(&c->json);
	ax_json_obj_end(&c->json);
	c->status = 201;
	return AX_OK;
}

/* --- reading tasks ------------------------------------------------------------------------------------------------ */

/* The index of a word of the query in `words`; -1 when the parameter is absent. */
static enum ax_status query_word(
	struct ax_call *c, const char *name, const char *const *words, int *ret, struct ax_err *err)
{
	const char *text = ax_call_query(c, name);
	*ret = -1;
	for (int i = 0; text != NULL && words[i] != NULL; i++)
		if (strcmp(text, words[i]) == 0)
			*ret = i;
	if (text != NULL && *ret < 0)
		return ax_fail(err, AX_INVALID, name, "%s has no value `%.32s`", name, text);
	return AX_OK;
}

enum ax_status ax_get_tasks(struct ax_call *c, struct ax_err *err)
{
	int type = -1, state = -1, limit = 0;
	struct ax_task_filter filter = {
		.group_key = ax_call_query(c, "group_key"),
		.task_name = ax_call_query(c, "task_name"),
		.calendar = ax_call_query(c, "calendar"),
		.q = ax_call_query(c, "q"),
	};
	enum ax_status status = ax_call_page(c, &limit, &filter.after_id, err);
	if (status == AX_OK)
		status = query_word(c, "status", ax_task_status_words, &state, err);
	if (status == AX_OK)
		status = query_word(c, "task_type", ax_def_words("task_type"), &type, err);
	if (status != AX_OK)
		return status;
	filter.status = state;
	filter.task_type = type + 1;
	filter.limit = limit;
	struct ax_tasks tasks;
	struct ax_offers offers;
	status = c->tx->ops->tasks_page(c->tx, &filter, &tasks, err);
	if (status == AX_OK)
		status = ax_offers_read(c, &offers, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < tasks.n; i++)
		ax_render_task(c, NULL, &tasks.at[i], &offers);
	ax_call_items_end(c, tasks.n == limit ? tasks.at[tasks.n - 1].id : 0);
	return AX_OK;
}

static enum ax_status find_task(struct ax_call *c, struct ax_task *ret, struct ax_err *err)
{
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "task", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->task_get(c->tx, id, false, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no task `%.64s`", c->param[0]);
	return status;
}

enum ax_status ax_get_task(struct ax_call *c, struct ax_err *err)
{
	struct ax_task task;
	enum ax_status status = find_task(c, &task, err);
	return status == AX_OK ? answer_task(c, &task, err) : status;
}

enum ax_status ax_get_task_versions(struct ax_call *c, struct ax_err *err)
{
	struct ax_task task;
	struct ax_task_versions versions;
	int limit = 0;
	int64_t after = 0;
	enum ax_status status = find_task(c, &task, err);
	if (status == AX_OK)
		status = ax_call_page(c, &limit, &after, err);
	if (status == AX_OK)
		status =
			c->tx->ops->task_versions(c->tx, task.id, after > 0 ? after : INT64_MAX, limit, &versions, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < versions.n; i++) {
		const struct ax_task_version *v = &versions.at[i];
		ax_json_obj(&c->json, NULL);
		ax_json_int(&c->json, "version", v->version);
		ax_json_int(&c->json, "time", v->time);
		ax_json_str(&c->json, "author", v->author);
		ax_json_obj(&c->json, "definition");
		ax_render_def(&c->json, &v->def);
		ax_json_obj_end(&c->json);
		ax_json_obj_end(&c->json);
	}
	ax_call_items_end(c, versions.n == limit ? versions.at[versions.n - 1].version : 0);
	return AX_OK;
}

/* --- changing ----------------------------------------------------------------------------------------------------- */

enum ax_status ax_patch_task(struct ax_call *c, struct ax_err *err)
{
	struct ax_task old, task;
	enum ax_status status = find_task(c, &old, err);
	if (status != AX_OK)
		return status;
	struct ax_task_def def = old.def;
	struct ax_read r;
	int64_t version = 0;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "version");
	ax_read_int(&r, "version", 1, INT64_MAX, &version);
	ax_read_def(&r, &def);
	if (strcmp(def.group_key, old.def.group_key) != 0)
		ax_read_fail(&r, "group_key", "a task stays in its group: create it anew in the other one");
	if (def.task_type != old.def.task_type)
		ax_read_fail(&r, "task_type", "a task keeps its type: create it anew");
	status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_check_def_param(c, &def, "", err);
	if (status == AX_OK)
		status = ax_task_update(c->ctx, old.id, version, &def, c->who.actor, &task, err);
	if (status == AX_OK)
		status = ax_call_audit(
			c, "task.update", task_object(c, old.id), def_text(c, &old), def_text(c, &task), "", err);
	return status == AX_OK ? answer_task(c, &task, err) : status;
}

enum ax_status ax_delete_task(struct ax_call *c, struct ax_err *err)
{
	struct ax_task task;
	bool force = false;
	enum ax_status status = find_task(c, &task, err);
	if (status == AX_OK)
		status = ax_call_query_bool(c, "force", &force, err);
	if (status != AX_OK)
		return status;
	status = ax_task_delete(c->ctx, task.id, force, c->who.actor, err);
	if (status == AX_CONFLICT && force) {
		/* its runs were asked to stop: that stays, and the caller comes again */
		c->told = AX_CONFLICT;
		c->retry_after_s = 1;
		return ax_call_audit(c, "task.stop", task_object(c, task.id), "", "", "before it is deleted", err);
	}
	if (status == AX_OK)
		status = ax_call_audit(c, "task.delete", task_object(c, task.id), def_text(c, &task), "", "", err);
	c->status = 204;
	return status;
}

static enum ax_status read_reason(struct ax_call *c, const char **ret, struct ax_err *err)
{
	struct ax_read r;
	*ret = "";
	ax_call_body(c, &r, err);
	ax_read_str(&r, "reason", 1000, ret);
	return ax_read_end(&r);
}

enum ax_status ax_post_task_pause(struct ax_call *c, struct ax_err *err)
{
	struct ax_task old, task;
	struct ax_runs given = { 0 };
	struct ax_offers offers;
	const char *reason;
	enum ax_status status = find_task(c, &old, err);
	if (status == AX_OK)
		status = read_reason(c, &reason, err);
	if (status == AX_OK)
		status = ax_task_set_status(c->ctx, old.id, AX_TASK_PAUSED, c->who.actor, &task, &given, err);
	if (status == AX_OK)
		status = ax_call_audit(c, "task.pause", task_object(c, old.id), "", "", reason, err);
	if (status == AX_OK)
		status = ax_offers_read(c, &offers, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	ax_render_task(c, "task", &task, &offers);
	ax_json_arr(&c->json, "given_out");
	for (int i = 0; i < given.n; i++)
		ax_json_id(&c->json, NULL, given.at[i].gid);
	ax_json_arr_end(&c->json);
	ax_json_obj_end(&c->json);
	return AX_OK;
}

enum ax_status ax_post_task_resume(struct ax_call *c, struct ax_err *err)
{
	struct ax_task old, task;
	const char *reason;
	enum ax_status status = find_task(c, &old, err);
	if (status == AX_OK)
		status = read_reason(c, &reason, err);
	if (status == AX_OK)
		status = ax_task_set_status(c->ctx, old.id, AX_TASK_ENABLED, c->who.actor, &task, NULL, err);
	if (status == AX_OK)
		status = ax_call_audit(c, "task.resume", task_object(c, old.id), "", "", reason, err);
	return status == AX_OK ? answer_task(c, &task, err) : status;
}

/* What a run by hand or by delay asks for, out of a JSON object. */
static enum ax_status read_trigger(
	struct ax_call *c, json_t *value, const char *path, struct ax_trigger *ret, struct ax_err *err)
{
	struct ax_read r;
	const char *key = NULL;
	int64_t delay_ms = -1;
	ax_read_begin(&r, value, path, &c->arena, err);
	ax_read_json(&r, "params", AX_PARAM_MAX, &ret->params);
	ax_read_int(&r, "delay_ms", 0, INT64_C(315576000000), &delay_ms);
	ax_read_int(&r, "run_at", 1, INT64_MAX, &ret->run_at);
	ax_read_str(&r, "dedup_key", 128, &key);
	if (key != NULL && *key == '\0')
		ax_read_fail(&r, "dedup_key", "a key has 1 to 128 bytes; leave it out for none");
	if (delay_ms >= 0 && ret->run_at > 0)
		ax_read_fail(&r, "delay_ms", "give either delay_ms or run_at");
	if (delay_ms >= 0)
		ret->run_at = c->now + delay_ms;
	ret->key = ax_key_of(key != NULL ? key : "", &c->arena);
	return ax_read_end(&r);
}

enum ax_status ax_post_task_runs(struct ax_call *c, struct ax_err *err)
{
	struct ax_task task;
	struct ax_run run;
	bool existed = false;
	enum ax_status status = find_task(c, &task, err);
	if (status != AX_OK)
		return status;
	struct ax_trigger trigger = { .task_id = task.id, .params = "", .key = "" };
	status = read_trigger(c, c->json_in, "", &trigger, err);
	if (status == AX_OK)
		status = ax_task_trigger(c->ctx, &trigger, &run, &existed, err);
	if (status == AX_OK && !existed)
		status = ax_call_audit(c, "task.trigger", task_object(c, task.id), "",
			ax_sprintf(&c->arena, "{\"gid\":\"%" PRId64 "\"}", run.gid), "", err);
	c->status = status == AX_OK && existed ? 200 : 201;
	return status == AX_OK ? ax_render_run(c, NULL, &run, err) : status;
}

/* Many runs of one task in one transaction: all or none. */
enum ax_status ax_post_task_runs_batch(struct ax_call *c, struct ax_err *err)
{
	struct ax_task task;
	struct ax_read r;
	enum ax_status status = find_task(c, &task, err);
	if (status != AX_OK)
		return status;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "runs");
	json_t *items = ax_read_array(&r, "runs", BATCH_MAX);
	status = ax_read_end(&r);
	if (status == AX_OK && json_array_size(items) == 0)
		return ax_fail(err, AX_INVALID, "runs", "runs must hold at least one run");
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	ax_json_arr(&c->json, "items");
	for (size_t i = 0; status == AX_OK && i < json_array_size(items); i++) {
		const char *path = ax_sprintf(&c->arena, "runs[%zu].", i);
		struct ax_trigger trigger = { .task_id = task.id, .params = "", .key = "" };
		struct ax_run run;
		bool existed = false;
		status = read_trigger(c, json_array_get(items, i), path, &trigger, err);
		if (status != AX_OK)
			return status;
		status = ax_task_trigger(c->ctx, &trigger, &run, &existed, err);
		if (status != AX_OK)
			return name_field(err, status, path);
		ax_json_obj(&c->json, NULL);
		ax_json_id(&c->json, "gid", run.gid);
		ax_json_int(&c->json, "trigger_time", run.trigger_time);
		ax_json_bool(&c->json, "existed", existed);
		ax_json_obj_end(&c->json);
	}
	ax_json_arr_end(&c->json);
	ax_json_obj_end(&c->json);
	c->status = 201;
	return ax_call_audit(c, "task.trigger", task_object(c, task.id), "",
		ax_sprintf(&c->arena, "{\"runs\":%zu}", json_array_size(items)), "", err);
}

/* --- looking ahead ------------------------------------------------------------------------------------------------ */

static void render_note(struct ax_json *json, const struct ax_fire *fire)
{
	if (fire->note == AX_NOTE_NONE) {
		ax_json_null(json, "note");
		return;
	}
	struct ax_buf text;
	ax_buf_init(&text, 1024);
	ax_fire_note_text(fire, &text);
	ax_json_obj(json, "note");
	ax_json_str(json, "code", ax_fire_note_code(fire->note));
	ax_json_str(json, "text", text.data != NULL ? text.data : "");
	ax_json_int(json, "pass", fire->pass);
	ax_json_int(json, "wall_time", fire->wall_ms);
	ax_json_int(json, "from", fire->from_ms);
	ax_json_int(json, "until", fire->until_ms);
	ax_json_word(json, "label", fire->label);
	ax_json_obj_end(json);
	ax_buf_done(&text);
}

static void render_fire(struct ax_json *json, const struct ax_fire *fire)
{
	char local[AX_RFC3339_SIZE];
	ax_rfc3339_format_offset(fire->ms, fire->offset_s, local);
	ax_json_obj(json, NULL);
	ax_json_int(json, "time", fire->ms);
	ax_json_int(json, "due_time", fire->due_ms);
	ax_json_bool(json, "fires", fire->fires);
	ax_json_str(json, "local", local);
	ax_json_int(json, "offset_seconds", fire->offset_s);
	ax_json_str(json, "abbreviation", fire->abbr);
	render_note(json, fire);
	ax_json_obj_end(json);
}

/* What the task, saved or not, will do from an instant on. */
static enum ax_status answer_preview(
	struct ax_call *c, const struct ax_task *task, int64_t from, int n, struct ax_err *err)
{
	struct ax_json *json = &c->json;
	struct ax_rule rule;
	struct ax_buf text;
	enum ax_status status = ax_rule_of(c->tx, c->server->zones, task, &rule, err);
	if (status != AX_OK)
		return status;
	ax_buf_init(&text, 4096);
	ax_schedule_describe(&rule.schedule, &text);
	ax_json_obj(json, NULL);
	ax_json_str(json, "words", text.data != NULL ? text.data : "");
	ax_json_arr(json, "warnings");
	ax_render_schedule_warnings(c, &rule.schedule);
	ax_json_arr_end(json);
	ax_buf_done(&text);
	ax_json_word(json, "calendar", task->def.calendar);
	if (rule.calendar != NULL)
		ax_json_int(json, "calendar_version", task->calendar_version);
	else
		ax_json_null(json, "calendar_version");
	ax_json_int(json, "jitter_ms", rule.jitter_ms);
	struct ax_fire *fires = ax_alloc_array(&c->arena, PREVIEW_MAX, sizeof *fires);
	size_t found = ax_schedule_preview(&rule, from, INT64_MAX, fires, (size_t)n);
	ax_json_arr(json, "fires");
	for (size_t i = 0; i < found; i++)
		render_fire(json, &fires[i]);
	ax_json_arr_end(json);
	ax_json_obj_end(json);
	return AX_OK;
}

enum ax_status ax_get_task_next(struct ax_call *c, struct ax_err *err)
{
	struct ax_task task;
	int64_t n = 10, from = c->now;
	enum ax_status status = find_task(c, &task, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "n", 1, PREVIEW_MAX, &n, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "from", 0, INT64_C(253402300799000), &from, err);
	if (status != AX_OK)
		return status;
	if (!ax_def_has_schedule(&task.def))
		return ax_fail(err, AX_CONFLICT, "", "only scheduled tasks have fires of their own");
	return answer_preview(c, &task, from, (int)n, err);
}

static bool is_of_schedule(const struct ax_def_field *field)
{
	static const char *const names[] = { "cron_expr", "dialect", "time_zone", "calendar", "calendar_mode",
		"valid_from", "valid_until", "jitter_seconds" };
	for (size_t i = 0; i < AX_COUNT(names); i++)
		if (strcmp(field->name, names[i]) == 0)
			return true;
	return false;
}

/* Jitter belongs to a task: without the id of one there is none yet. */
enum ax_status ax_post_preview(struct ax_call *c, struct ax_err *err)
{
	struct ax_read r;
	int64_t n = 10, from = c->now;
	struct ax_task task = { .def = ax_def_preset() };
	struct ax_calendar_row calendar = { 0 };
	ax_call_body(c, &r, err);
	ax_read_require(&r, "cron_expr");
	for (int i = 0; i < ax_def_fields_n; i++)
		if (is_of_schedule(&ax_def_fields[i]))
			ax_read_def_field(&r, &ax_def_fields[i], &task.def);
	ax_read_id(&r, "task_id", &task.id);
	ax_read_int(&r, "n", 1, PREVIEW_MAX, &n);
	ax_read_int(&r, "from", 0, INT64_C(253402300799000), &from);
	enum ax_status status = ax_read_end(&r);
	if (status == AX_OK) /* what a task would be refused for is no preview either */
		status = ax_schedule_check(c->server->zones, &task.def, err);
	if (task.id == 0)
		task.def.jitter_seconds = 0;
	task.anchor_time = from;
	if (status == AX_OK && task.def.calendar[0] != '\0')
		status = c->tx->ops->calendar_get(c->tx, task.def.calendar, false, &calendar, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_INVALID, "calendar", "there is no calendar `%.64s`", task.def.calendar);
	task.calendar_version = calendar.version;
	return status == AX_OK ? answer_preview(c, &task, from, (int)n, err) : status;
}
