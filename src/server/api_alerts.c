/* /api/v1/alerts. */

#include <inttypes.h>
#include <string.h>

#include "app/alerts.h"
#include "core/limits.h"
#include "server/handlers.h"
#include "server/render.h"

enum { SCAN = 2000, DELIVERIES_SHOWN = 500 };

static const char *const states[] = { "open", "resolved" };

static void render_members(struct ax_call *c, const struct ax_alert *alert)
{
	struct ax_json *json = &c->json;
	ax_json_id(json, "id", alert->id);
	ax_json_str(json, "rule", ax_alert_rule_name(alert->rule));
	ax_json_word(json, "group_key", alert->group_key);
	ax_json_str(json, "episode", alert->episode);
	ax_json_str(json, "state", states[alert->state == AX_ALERT_RESOLVED]);
	ax_json_id(json, "task_id", alert->task_id);
	ax_json_id(json, "gid", alert->gid);
	ax_json_str(json, "subject", alert->subject);
	ax_kept_json(json, &c->arena, "detail", alert->detail, AX_ENGLISH);
	ax_json_int(json, "value", alert->value);
	ax_json_int(json, "bound", alert->bound);
	ax_json_int(json, "count", alert->count);
	ax_json_time(json, "open_time", alert->open_time);
	ax_json_time(json, "seen_time", alert->seen_time);
	ax_json_time(json, "resolve_time", alert->resolve_time);
	ax_kept_json(json, &c->arena, "resolve_note", alert->resolve_note, AX_ENGLISH);
	ax_json_bool(json, "muted", alert->muted);
	ax_json_str(json, "note", alert->note);
	ax_json_word(json, "note_by", alert->note_by);
}

void ax_render_delivery(struct ax_call *c, const struct ax_delivery *delivery)
{
	static const char *const kinds[] = { "", "open", "resolved", "reminder", "test" };
	static const char *const delivery_states[] = { "pending", "sent", "given_up" };
	struct ax_json *json = &c->json;
	bool pending = delivery->state == AX_DELIVERY_PENDING;
	ax_json_obj(json, NULL);
	ax_json_id(json, "id", delivery->id);
	ax_json_id(json, "alert_id", delivery->alert_id);
	ax_json_id(json, "channel_id", delivery->channel_id);
	ax_json_str(json, "kind", kinds[delivery->kind]);
	ax_json_str(json, "state", delivery_states[delivery->state]);
	ax_json_int(json, "attempts", delivery->attempts);
	ax_json_time(json, "create_time", delivery->create_time);
	ax_json_time(json, "next_time", pending ? delivery->next_time : 0);
	ax_json_time(json, "sent_time", delivery->sent_time);
	ax_json_word(json, "error", delivery->error);
	ax_json_obj_end(json);
}

static enum ax_status read_filter(struct ax_call *c, struct ax_alert_filter *f, struct ax_err *err)
{
	const char *state = ax_call_query(c, "state"), *rule = ax_call_query(c, "rule");
	*f = (struct ax_alert_filter){ .group_key = ax_call_query(c, "group_key"), .state = -1, .scan_limit = SCAN };
	if (state != NULL && strcmp(state, "open") != 0 && strcmp(state, "resolved") != 0)
		return ax_fail(err, AX_INVALID, "state", "state must be open or resolved");
	if (state != NULL)
		f->state = strcmp(state, "open") == 0 ? AX_ALERT_OPEN : AX_ALERT_RESOLVED;
	if (rule != NULL && (f->rule = (int)ax_alert_rule_find(rule)) == 0)
		return ax_fail(err, AX_INVALID, "rule", "there is no rule `%.64s`", rule);
	enum ax_status status = ax_call_query_int(c, "task_id", 1, INT64_MAX, &f->task_id, err);
	return status == AX_OK ? ax_call_page(c, &f->limit, &f->before_id, err) : status;
}

enum ax_status ax_get_alerts(struct ax_call *c, struct ax_err *err)
{
	struct ax_alert_filter filter;
	struct ax_alerts alerts;
	int64_t before;
	enum ax_status status = read_filter(c, &filter, err);
	if (status == AX_OK)
		status = c->tx->ops->alerts_page(c->tx, &filter, &alerts, &before, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < alerts.n; i++) {
		ax_json_obj(&c->json, NULL);
		render_members(c, &alerts.at[i]);
		ax_json_obj_end(&c->json);
	}
	ax_call_items_end(c, before);
	return AX_OK;
}

static enum ax_status answer_alert(struct ax_call *c, const struct ax_alert *alert, struct ax_err *err)
{
	struct ax_deliveries deliveries;
	enum ax_status status = c->tx->ops->deliveries_of_alert(c->tx, alert->id, DELIVERIES_SHOWN, &deliveries, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	render_members(c, alert);
	ax_json_arr(&c->json, "deliveries");
	for (int i = 0; i < deliveries.n; i++)
		ax_render_delivery(c, &deliveries.at[i]);
	ax_json_arr_end(&c->json);
	ax_json_obj_end(&c->json);
	return AX_OK;
}

enum ax_status ax_get_alert(struct ax_call *c, struct ax_err *err)
{
	struct ax_alert alert;
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "alert", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->alert_get(c->tx, id, false, &alert, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no alert `%.64s`", c->param[0]);
	return status == AX_OK ? answer_alert(c, &alert, err) : status;
}

enum act { MUTE, UNMUTE, RESOLVE };

static enum ax_status act(struct ax_call *c, enum act act, struct ax_err *err)
{
	static const char *const actions[] = { "alert.mute", "alert.unmute", "alert.resolve" };
	struct ax_alert alert;
	struct ax_read r;
	const char *note = "";
	int64_t id;
	ax_call_body(c, &r, err);
	ax_read_str(&r, "note", AX_MESSAGE_MAX, &note);
	enum ax_status status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_call_id(c, 0, "alert", &id, err);
	if (status != AX_OK)
		return status;
	status = act == RESOLVE ? ax_alert_close(c->ctx, id, note, c->who.actor, &alert, err)
				: ax_alert_mute(c->ctx, id, act == MUTE, note, c->who.actor, &alert, err);
	if (status == AX_OK)
		status = ax_call_audit(c, actions[act], ax_sprintf(&c->arena, "alert:%" PRId64, id), "", "", note, err);
	return status == AX_OK ? answer_alert(c, &alert, err) : status;
}

enum ax_status ax_post_alert_mute(struct ax_call *c, struct ax_err *err)
{
	return act(c, MUTE, err);
}

enum ax_status ax_post_alert_unmute(struct ax_call *c, struct ax_err *err)
{
	return act(c, UNMUTE, err);
}

enum ax_status ax_post_alert_resolve(struct ax_call *c, struct ax_err *err)
{
	return act(c, RESOLVE, err);
}
