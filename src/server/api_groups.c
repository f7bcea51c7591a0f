/* /api/v1/groups, /api/v1/workers and /api/v1/servers. */

#include <string.h>

#include "app/groups.h"
#include "app/seat.h"
#include "app/workers.h"
#include "core/limits.h"
#include "server/defaults.h"
#include "server/handlers.h"
#include "server/render.h"
#include "server/server.h"

enum { CONTACTS_MAX = 50 };

/* --- groups ------------------------------------------------------------------------------------------------------- */

/* Names of channels and mail addresses, kept with a blank between them. */
static void read_contacts(struct ax_read *r, struct ax_group *group)
{
	json_t *array = ax_read_array(r, "contacts", CONTACTS_MAX), *item;
	const char *words = "";
	size_t i;
	json_array_foreach(array, i, item)
	{
		const char *word = json_string_value(item);
		if (word == NULL || word[0] == '\0' || strchr(word, ' ') != NULL)
			ax_read_fail(r, "contacts", "contacts holds names of channels and mail addresses");
		else
			words = ax_sprintf(r->arena, "%s%s%s", words, i > 0 ? " " : "", word);
	}
	if (array != NULL)
		group->contacts = words;
}

static void read_group(struct ax_read *r, struct ax_group *group)
{
	ax_read_str(r, "title", AX_NAME_MAX * 4, &group->title);
	ax_read_int(r, "dispatch_quota", 1, 100000, &group->dispatch_quota);
	ax_read_int(r, "pool_size", 1, 10000, &group->pool_size);
	ax_read_bool(r, "paused", &group->paused);
	read_contacts(r, group);
	ax_read_int(r, "long_share_percent", 1, 100, &group->long_share_percent);
	ax_read_int(r, "worker_backlog", 0, 30000, &group->worker_backlog);
	ax_read_int(r, "keep_days", 0, 3650, &group->keep_days);
	ax_read_int(r, "keep_runs", 0, AX_KEEP_RUNS_MAX, &group->keep_runs);
	ax_read_json(r, "defaults", AX_PARAM_MAX, &group->defaults);
	if (group->defaults[0] == '\0')
		group->defaults = "{}";
	ax_read_int(r, "late_seconds", 0, 604800, &group->late_seconds);
	ax_read_int(r, "backlog_limit", 0, 9000, &group->backlog_limit);
	ax_read_int(r, "backlog_seconds", 10, 86400, &group->backlog_seconds);
}

/* What was written so far is the group: the audit log's "after". */
static enum ax_status answer_group(
	struct ax_call *c, const char *action, const struct ax_group *group, const char *before, struct ax_err *err)
{
	enum ax_status status = ax_render_group(c, group, err);
	if (status == AX_OK)
		status = ax_call_audit(c, action, ax_sprintf(&c->arena, "group:%s", group->group_key), before,
			ax_call_text(c), "", err);
	return status;
}

enum ax_status ax_post_groups(struct ax_call *c, struct ax_err *err)
{
	struct ax_group group = ax_group_preset("");
	struct ax_read r;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "group_key");
	ax_read_str(&r, "group_key", AX_KEY_MAX, &group.group_key);
	read_group(&r, &group);
	enum ax_status status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_defaults_check(c, group.defaults, err);
	if (status == AX_OK)
		status = ax_group_create(c->ctx, &group, &group, err);
	c->status = 201;
	return status == AX_OK ? answer_group(c, "group.create", &group, "", err) : status;
}

enum ax_status ax_get_groups(struct ax_call *c, struct ax_err *err)
{
	struct ax_groups groups;
	enum ax_status status = c->tx->ops->groups(c->tx, &groups, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < groups.n && status == AX_OK; i++)
		status = ax_render_group(c, &groups.at[i], err);
	ax_call_items_end(c, 0);
	return status;
}

static enum ax_status find_group(struct ax_call *c, struct ax_group *ret, struct ax_err *err)
{
	enum ax_status status = c->tx->ops->group_get(c->tx, c->param[0], false, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no group `%.64s`", c->param[0]);
	return status;
}

enum ax_status ax_get_group(struct ax_call *c, struct ax_err *err)
{
	struct ax_group group;
	enum ax_status status = find_group(c, &group, err);
	return status == AX_OK ? ax_render_group(c, &group, err) : status;
}

enum ax_status ax_patch_group(struct ax_call *c, struct ax_err *err)
{
	struct ax_group group;
	enum ax_status status = find_group(c, &group, err);
	if (status == AX_OK)
		status = ax_render_group(c, &group, err);
	if (status != AX_OK)
		return status;
	const char *before = ax_call_text(c);
	ax_buf_clear(&c->out);
	ax_json_init(&c->json, &c->out);
	struct ax_read r;
	ax_call_body(c, &r, err);
	ax_read_int(&r, "version", 1, INT64_MAX, &group.version);
	read_group(&r, &group);
	status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_defaults_check(c, group.defaults, err);
	if (status == AX_OK)
		status = ax_group_update(c->ctx, &group, &group, err);
	return status == AX_OK ? answer_group(c, "group.update", &group, before, err) : status;
}

enum ax_status ax_delete_group(struct ax_call *c, struct ax_err *err)
{
	struct ax_group group;
	enum ax_status status = find_group(c, &group, err);
	if (status == AX_OK)
		status = ax_group_delete(c->ctx, group.group_key, err);
	if (status == AX_OK)
		status = ax_call_audit(
			c, "group.delete", ax_sprintf(&c->arena, "group:%s", group.group_key), "", "", "", err);
	c->status = 204;
	return status;
}

/* --- workers ------------------------------------------------------------------------------------------------------ */

enum ax_status ax_get_workers(struct ax_call *c, struct ax_err *err)
{
	struct ax_workers workers;
	struct ax_worker_groups groups;
	enum ax_status status = c->tx->ops->workers(c->tx, &workers, err);
	if (status == AX_OK)
		status = c->tx->ops->worker_groups(c->tx, NULL, &groups, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < workers.n; i++)
		ax_render_worker(c, &workers.at[i], &groups);
	ax_call_items_end(c, 0);
	return AX_OK;
}

static enum ax_status answer_worker(struct ax_call *c, struct ax_err *err)
{
	struct ax_worker worker;
	struct ax_worker_groups groups;
	enum ax_status status = c->tx->ops->worker_get(c->tx, c->param[0], false, &worker, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no worker `%.64s`", c->param[0]);
	if (status == AX_OK)
		status = c->tx->ops->worker_groups(c->tx, worker.name, &groups, err);
	if (status == AX_OK)
		ax_render_worker(c, &worker, &groups);
	return status;
}

enum ax_status ax_get_worker(struct ax_call *c, struct ax_err *err)
{
	return answer_worker(c, err);
}

static enum ax_status audit_worker(struct ax_call *c, const char *action, struct ax_err *err)
{
	return ax_call_audit(c, action, ax_sprintf(&c->arena, "worker:%.64s", c->param[0]), "", "", "", err);
}

static enum ax_status drain(struct ax_call *c, bool on, struct ax_err *err)
{
	struct ax_read r;
	ax_call_body(c, &r, err);
	enum ax_status status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_worker_drain(c->ctx, c->param[0], on, err);
	if (status == AX_OK)
		status = audit_worker(c, on ? "worker.drain" : "worker.resume", err);
	return status == AX_OK ? answer_worker(c, err) : status;
}

enum ax_status ax_post_worker_drain(struct ax_call *c, struct ax_err *err)
{
	return drain(c, true, err);
}

enum ax_status ax_post_worker_resume(struct ax_call *c, struct ax_err *err)
{
	return drain(c, false, err);
}

static enum ax_status disable(struct ax_call *c, bool on, struct ax_err *err)
{
	struct ax_read r;
	const char *reason = "";
	ax_call_body(c, &r, err);
	ax_read_str(&r, "reason", 1000, &reason);
	enum ax_status status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_worker_disable(c->ctx, c->param[0], on, err);
	if (status == AX_OK)
		status = ax_call_audit(c, on ? "worker.disable" : "worker.enable",
			ax_sprintf(&c->arena, "worker:%.64s", c->param[0]), "", "", reason, err);
	return status == AX_OK ? answer_worker(c, err) : status;
}

enum ax_status ax_post_worker_disable(struct ax_call *c, struct ax_err *err)
{
	return disable(c, true, err);
}

enum ax_status ax_post_worker_enable(struct ax_call *c, struct ax_err *err)
{
	return disable(c, false, err);
}

enum ax_status ax_delete_worker(struct ax_call *c, struct ax_err *err)
{
	enum ax_status status = ax_worker_forget(c->ctx, c->param[0], err);
	if (status == AX_OK)
		status = audit_worker(c, "worker.forget", err);
	c->status = 204;
	return status;
}

/* --- servers ------------------------------------------------------------------------------------------------------ */

/* What no other server does meanwhile. */
static void render_chores(struct ax_call *c, const struct ax_server_row *row, const struct ax_leases *leases)
{
	ax_json_arr(&c->json, "chores");
	for (int i = 0; i < leases->n; i++)
		if (leases->at[i].holder == row->incarnation && leases->at[i].until_time > c->now)
			ax_json_str(&c->json, NULL, leases->at[i].name);
	ax_json_arr_end(&c->json);
}

enum ax_status ax_get_servers(struct ax_call *c, struct ax_err *err)
{
	struct ax_servers servers;
	struct ax_leases leases;
	enum ax_status status = c->tx->ops->servers(c->tx, &servers, err);
	if (status == AX_OK)
		status = c->tx->ops->leases(c->tx, &leases, err);
	if (status != AX_OK)
		return status;
	struct ax_server *self = c->server;
	bool shared = self->threads.backend->ops->shared;
	ax_call_items_begin(c);
	for (int i = 0; i < servers.n; i++) {
		const struct ax_server_row *row = &servers.at[i];
		if (shared && row->lease_time <= c->now) /* gone; its number is kept for the ids made under it */
			continue;
		bool here = row->number == ax_seat_number(&self->threads.seat);
		ax_json_obj(&c->json, NULL);
		ax_json_str(&c->json, "server", row->name);
		ax_json_int(&c->json, "number", row->number);
		ax_json_str(&c->json, "version", row->version);
		ax_json_int(&c->json, "start_time", row->start_time);
		ax_json_int(&c->json, "seen_time", here ? c->now : row->seen_time);
		if (here)
			ax_json_int(&c->json, "tick_age_ms", ax_mono_ms(&self->clock.port) - self->metrics.tick_ms);
		else
			ax_json_null(&c->json, "tick_age_ms");
		render_chores(c, row, &leases);
		ax_json_str(&c->json, "store", self->threads.backend->ops->name);
		ax_json_str(&c->json, "store_id", self->store_id);
		ax_json_str(&c->json, "tzdata", here ? ax_zones_version(self->zones) : NULL);
		ax_json_obj_end(&c->json);
	}
	ax_call_items_end(c, 0);
	return AX_OK;
}
