/* /api/v1/events: JSON to the service and back. */

#include <inttypes.h>
#include <string.h>

#include "app/events.h"
#include "core/limits.h"
#include "server/handlers.h"
#include "server/render.h"
#include "server/secrets.h"

static const char *const fate_words[] = { NULL, "run", "condition", "task_paused", "task_created", "known",
	"task_deleting" };

/* Members of an event inside an open object. */
static void render_members(struct ax_json *json, const struct ax_event *event)
{
	ax_json_id(json, "id", event->id);
	ax_json_str(json, "name", event->event_name);
	ax_json_word(json, "event_id", event->event_id);
	ax_json_int(json, "time", event->time);
	ax_json_str(json, "sent_by", event->sent_by);
	ax_json_int(json, "runs", event->runs);
	ax_json_int(json, "passed_over", event->passed);
}

static enum ax_status render_task(struct ax_call *c, const struct ax_event_task *row, struct ax_err *err)
{
	struct ax_json *json = &c->json;
	struct ax_task task;
	enum ax_status status = c->tx->ops->task_get(c->tx, row->task_id, false, &task, err);
	if (status != AX_OK && status != AX_NOT_FOUND)
		return status;
	ax_json_obj(json, NULL);
	ax_json_id(json, "task_id", row->task_id);
	ax_json_str(json, "task_name", status == AX_OK ? task.def.task_name : NULL);
	ax_json_str(json, "outcome", fate_words[row->fate]);
	ax_json_id(json, "gid", row->gid);
	ax_json_obj_end(json);
	return AX_OK;
}

static enum ax_status answer(
	struct ax_call *c, const struct ax_event *event, const struct ax_event_tasks *tasks, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	ax_json_obj(&c->json, NULL);
	render_members(&c->json, event);
	ax_json_raw(&c->json, "payload", event->payload);
	ax_json_arr(&c->json, "tasks");
	for (int i = 0; status == AX_OK && i < tasks->n; i++)
		status = render_task(c, &tasks->at[i], err);
	ax_json_arr_end(&c->json);
	ax_json_obj_end(&c->json);
	return status;
}

/* "name/id", and the hash of both where that is too long or might be another pair's. */
static const char *run_key_of(const struct ax_event_sent *sent, struct ax_arena *arena)
{
	struct ax_digest digest;
	const char *plain = ax_sprintf(arena, "%s/%s", sent->event_name, sent->event_id);
	if (sent->event_id[0] == '\0')
		return "";
	if (strchr(sent->event_name, '/') == NULL && strlen(plain) <= AX_KEY_MAX)
		return plain;
	ax_digest_begin(&digest);
	ax_digest_add(&digest, sent->event_name);
	ax_digest_add(&digest, sent->event_id);
	return ax_digest_end(&digest, arena);
}

enum ax_status ax_post_events(struct ax_call *c, struct ax_err *err)
{
	struct ax_event_sent sent = { .event_name = "", .event_id = "", .payload = "", .sent_by = c->who.actor };
	struct ax_event event;
	struct ax_event_tasks tasks;
	struct ax_read r;
	const char *id = NULL;
	bool existed;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "name");
	ax_read_str(&r, "name", AX_EVENT_NAME_MAX, &sent.event_name);
	ax_read_str(&r, "event_id", AX_EVENT_ID_MAX, &id);
	if (id != NULL && *id == '\0')
		ax_read_fail(&r, "event_id", "an event id has 1 to %d bytes; leave it out for none", AX_EVENT_ID_MAX);
	ax_read_json(&r, "payload", AX_PARAM_MAX, &sent.payload);
	enum ax_status status = ax_read_end(&r);
	if (status != AX_OK)
		return status;
	sent.event_id = id != NULL ? id : "";
	sent.event_key = ax_key_of(sent.event_id, &c->arena);
	sent.run_key = run_key_of(&sent, &c->arena);
	status = ax_event_send(c->ctx, &sent, &event, &tasks, &existed, err);
	if (status == AX_OK && !existed)
		status = ax_call_audit(c, "event.send", ax_sprintf(&c->arena, "event:%" PRId64, event.id), "",
			ax_sprintf(&c->arena, "{\"runs\":%" PRId64 ",\"passed_over\":%" PRId64 "}", event.runs,
				event.passed),
			"", err);
	c->status = existed ? 200 : 201;
	return status == AX_OK ? answer(c, &event, &tasks, err) : status;
}

enum ax_status ax_get_events(struct ax_call *c, struct ax_err *err)
{
	struct ax_events events;
	int limit = 0;
	int64_t before = 0;
	const char *name = ax_call_query(c, "name");
	enum ax_status status = ax_call_page(c, &limit, &before, err);
	if (status == AX_OK)
		status = c->tx->ops->events_page(c->tx, name, before, limit, &events, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < events.n; i++) {
		ax_json_obj(&c->json, NULL);
		render_members(&c->json, &events.at[i]);
		ax_json_obj_end(&c->json);
	}
	ax_call_items_end(c, events.n == limit ? events.at[events.n - 1].id : 0);
	return AX_OK;
}

enum ax_status ax_get_event(struct ax_call *c, struct ax_err *err)
{
	struct ax_event event;
	struct ax_event_tasks tasks;
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "event", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->event_get(c->tx, id, &event, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no event `%.64s`", c->param[0]);
	if (status == AX_OK)
		status = c->tx->ops->event_tasks(c->tx, id, &tasks, err);
	return status == AX_OK ? answer(c, &event, &tasks, err) : status;
}
