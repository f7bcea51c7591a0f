#include "server/worker_json.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "core/limits.h"
#include "server/render.h"
#include "server/server.h"

enum {
	WORKER_NAME_MAX = 64,
	EXECUTORS_MAX = 1000,
	TAGS_MAX = 32,
	GIVEN_MAX = 40000,
	SLOTS_MAX = 30000,
	UNANSWERED_MAX = 64,
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool is_name(const char *s, size_t max)
{
	size_t len = strlen(s);
	return len >= 1 && len <= max &&
		strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

static void read_worker(struct ax_read *r, const char **ret_name, const char **ret_incarnation)
{
	ax_read_require(r, "worker");
	ax_read_require(r, "incarnation");
	*ret_name = *ret_incarnation = "";
	ax_read_str(r, "worker", 256, ret_name);
	ax_read_str(r, "incarnation", 64, ret_incarnation);
	if (!is_name(*ret_name, WORKER_NAME_MAX))
		ax_read_fail(r, "worker", "worker must be 1-%d of [A-Za-z0-9._-]", WORKER_NAME_MAX);
	size_t len = strlen(*ret_incarnation);
	if (len < 16 || len > 32 || strspn(*ret_incarnation, "0123456789abcdef") != len)
		ax_read_fail(r, "incarnation", "incarnation must be 16-32 hex digits");
}

/* One object of an array: "free[3]." is its path. */
static void open_item(
	struct ax_read *r, json_t *array, size_t i, const char *field, struct ax_call *c, struct ax_err *err)
{
	ax_read_begin(r, json_array_get(array, i), ax_sprintf(&c->arena, "%s[%zu].", field, i), &c->arena, err);
}

enum ax_status ax_worker_read_poll(struct ax_call *c, struct ax_poll *ret, int64_t *ret_wait_ms, struct ax_err *err)
{
	struct ax_read r;
	ax_call_body(c, &r, err);
	*ret = (struct ax_poll){ 0 };
	read_worker(&r, &ret->worker, &ret->incarnation);
	ax_read_int(&r, "number", 1, INT64_MAX, &ret->number);
	ax_read_require(&r, "free");
	json_t *items = ax_read_array(&r, "free", AX_POLL_GROUPS_MAX);
	ax_read_int(&r, "wait_ms", 0, AX_POLL_WAIT_MS, ret_wait_ms);
	enum ax_status status = ax_read_end(&r);
	for (size_t i = 0; i < json_array_size(items) && status == AX_OK; i++) {
		struct ax_read item;
		open_item(&item, items, i, "free", c, err);
		const char *group = "";
		int64_t slots = 0;
		ax_read_require(&item, "group");
		ax_read_str(&item, "group", AX_KEY_MAX, &group);
		ax_read_require(&item, "slots");
		ax_read_int(&item, "slots", 0, SLOTS_MAX, &slots);
		status = ax_read_end(&item);
		ret->free[i].group_key = group;
		ret->free[i].slots = slots;
		ret->n_free++;
	}
	return status;
}

static enum ax_status read_groups(struct ax_call *c, json_t *items, struct ax_registration *reg, struct ax_err *err)
{
	size_t n = json_array_size(items);
	struct ax_worker_group *groups = ax_alloc_array(&c->arena, n + 1, sizeof *groups);
	for (size_t i = 0; i < n; i++) {
		struct ax_read item;
		open_item(&item, items, i, "groups", c, err);
		groups[i] = (struct ax_worker_group){ .worker = reg->worker.name, .group_key = "" };
		ax_read_require(&item, "group");
		ax_read_str(&item, "group", AX_KEY_MAX, &groups[i].group_key);
		ax_read_int(&item, "pool_size", 1, 10000, &groups[i].pool_size);
		enum ax_status status = ax_read_end(&item);
		if (status != AX_OK)
			return status;
	}
	reg->groups = groups;
	reg->n_groups = (int)n;
	return AX_OK;
}

static enum ax_status read_running(struct ax_call *c, json_t *items, struct ax_registration *reg, struct ax_err *err)
{
	size_t n = json_array_size(items);
	struct ax_stop *running = ax_alloc_array(&c->arena, n + 1, sizeof *running);
	for (size_t i = 0; i < n; i++) {
		struct ax_read item;
		open_item(&item, items, i, "running", c, err);
		ax_read_require(&item, "gid");
		ax_read_id(&item, "gid", &running[i].gid);
		ax_read_require(&item, "fence");
		ax_read_int(&item, "fence", 0, INT64_MAX, &running[i].fence);
		enum ax_status status = ax_read_end(&item);
		if (status != AX_OK)
			return status;
	}
	reg->running = running;
	reg->n_running = (int)n;
	return AX_OK;
}

/* Executors are kept as names with spaces between, tags as JSON text. */
static void read_offers(struct ax_read *r, struct ax_call *c, struct ax_worker *worker)
{
	struct ax_buf names;
	ax_buf_init(&names, AX_PARAM_MAX);
	worker->executors = "";
	worker->tags = "{}";
	ax_read_require(r, "executors");
	json_t *executors = ax_read_array(r, "executors", EXECUTORS_MAX);
	if (executors != NULL && json_array_size(executors) == 0)
		ax_read_fail(r, "executors", "executors must name at least one; without, no run can come here");
	size_t i;
	json_t *value;
	json_array_foreach(executors, i, value)
	{
		if (!json_is_string(value) || !is_name(json_string_value(value), AX_NAME_MAX))
			ax_read_fail(r, "executors", "executors must be names of 1-%d of [A-Za-z0-9._-]", AX_NAME_MAX);
		else
			ax_buf_printf(&names, "%s%s", i == 0 ? "" : " ", json_string_value(value));
	}
	if (names.overflow)
		ax_read_fail(r, "executors", "the executors' names are longer than %d bytes together", AX_PARAM_MAX);
	else if (names.len > 0)
		worker->executors = ax_strndup(&c->arena, names.data, names.len);
	ax_buf_done(&names);
	json_t *tags = ax_read_any(r, "tags");
	const char *key;
	if (tags != NULL && (!json_is_object(tags) || json_object_size(tags) > TAGS_MAX))
		ax_read_fail(r, "tags", "tags must be an object of at most %d texts", TAGS_MAX);
	else
		json_object_foreach(tags, key, value)
		{
			if (!json_is_string(value) || json_string_length(value) > 256 || strlen(key) > 64)
				ax_read_fail(r, "tags", "a tag must be a text of at most 256 bytes under a key of 64");
		}
	if (r->status != AX_OK)
		return;
	struct ax_read again = { .obj = r->obj, .path = "", .arena = &c->arena, .err = r->err };
	ax_read_json(&again, "tags", AX_PARAM_MAX, &worker->tags);
	r->status = again.status;
}

enum ax_status ax_worker_read_registration(struct ax_call *c, struct ax_registration *ret, struct ax_err *err)
{
	struct ax_read r;
	ax_call_body(c, &r, err);
	*ret = (struct ax_registration){ .worker = { .version = "", .address = c->address } };
	read_worker(&r, &ret->worker.name, &ret->worker.incarnation);
	ax_read_require(&r, "groups");
	json_t *groups = ax_read_array(&r, "groups", AX_POLL_GROUPS_MAX);
	if (groups != NULL && json_array_size(groups) == 0)
		ax_read_fail(&r, "groups", "groups must name at least one; without, no run can come here");
	read_offers(&r, c, &ret->worker);
	ax_read_str(&r, "version", 64, &ret->worker.version);
	json_t *running = ax_read_array(&r, "running", GIVEN_MAX);
	enum ax_status status = ax_read_end(&r);
	if (status == AX_OK)
		status = read_groups(c, groups, ret, err);
	return status == AX_OK ? read_running(c, running, ret, err) : status;
}

enum ax_status ax_worker_read_leave(
	struct ax_call *c, const char **ret_worker, const char **ret_incarnation, struct ax_err *err)
{
	struct ax_read r;
	ax_call_body(c, &r, err);
	read_worker(&r, ret_worker, ret_incarnation);
	return ax_read_end(&r);
}

static const char *const item_types[] = { "accepted", "started", "heartbeat", "progress", "output", "result", NULL };
static const char *const outcomes[] = { "success", "failed", "timeout", "cancelled", "refused", NULL };

static void read_result(struct ax_read *r, struct ax_item *item)
{
	static const char left_out[] = " [its result of more than 64 KiB was left out]";
	int outcome = 0;
	ax_read_require(r, "outcome");
	ax_read_word(r, "outcome", outcomes, &outcome);
	item->outcome = (enum ax_outcome)(AX_OUTCOME_SUCCESS + outcome);
	ax_read_int(r, "code", INT32_MIN, INT32_MAX, &item->code);
	/* The end of an attempt is never refused for the length of what is said of it. */
	bool kept = ax_read_short_json(r, "result", AX_PARAM_MAX, &item->result);
	ax_read_cut_str(r, "message", AX_MESSAGE_MAX - (kept ? 0 : sizeof left_out), &item->message);
	if (!kept)
		item->message = ax_sprintf(r->arena, "%s%s", item->message, left_out);
	const char *signal = "";
	ax_read_int(r, "duration_ms", 0, INT64_MAX, &item->duration_ms);
	ax_read_str_or_null(r, "signal", 32, &signal);
	if (signal[0] != '\0' && item->message[0] == '\0')
		item->message = ax_sprintf(r->arena, "ended by signal %s", signal);
}

static enum ax_status read_item(struct ax_read *r, struct ax_item *item)
{
	int type = 0;
	ax_read_require(r, "type");
	ax_read_word(r, "type", item_types, &type);
	*item = (struct ax_item){
		.type = (enum ax_item_type)type, .percent = -1, .message = "", .data = "", .result = ""
	};
	ax_read_require(r, "gid");
	ax_read_id(r, "gid", &item->gid);
	ax_read_require(r, "fence");
	ax_read_int(r, "fence", 0, INT64_MAX, &item->fence);
	switch (item->type) {
	case AX_ITEM_PROGRESS:
		ax_read_int(r, "percent", 0, 100, &item->percent);
		ax_read_cut_str(r, "message", 500, &item->message);
		break;
	case AX_ITEM_OUTPUT:
		ax_read_require(r, "seq");
		ax_read_int(r, "seq", 0, INT32_MAX, &item->seq);
		ax_read_require(r, "data");
		ax_read_str(r, "data", AX_OUTPUT_CHUNK_MAX, &item->data);
		item->len = (int64_t)strlen(item->data);
		break;
	case AX_ITEM_RESULT:
		read_result(r, item);
		break;
	case AX_ITEM_ACCEPTED:
	case AX_ITEM_STARTED:
	case AX_ITEM_HEARTBEAT:
		break;
	}
	return ax_read_end(r);
}

enum ax_status ax_worker_read_report(
	struct ax_call *c, struct ax_report *ret, struct ax_unanswered *ret_polls, struct ax_err *err)
{
	struct ax_read r;
	ax_call_body(c, &r, err);
	*ret = (struct ax_report){ 0 };
	read_worker(&r, &ret->worker, &ret->incarnation);
	*ret_polls = (struct ax_unanswered){ 0 };
	ax_read_integers(&r, "unanswered", UNANSWERED_MAX, 1, INT64_MAX, &ret_polls->at, &ret_polls->n);
	ax_read_require(&r, "items");
	json_t *items = ax_read_array(&r, "items", AX_REPORT_ITEMS_MAX);
	enum ax_status status = ax_read_end(&r);
	ret->n = (int)json_array_size(items);
	ret->items = ax_alloc_array(&c->arena, (size_t)ret->n + 1, sizeof *ret->items);
	for (int i = 0; i < ret->n && status == AX_OK; i++) {
		struct ax_read item;
		open_item(&item, items, (size_t)i, "items", c, err);
		status = read_item(&item, &ret->items[i]);
	}
	return status;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void write_stops(struct ax_json *json, const struct ax_stop *stops, int n)
{
	ax_json_arr(json, "stop");
	for (int i = 0; i < n; i++) {
		ax_json_obj(json, NULL);
		ax_json_id(json, "gid", stops[i].gid);
		ax_json_int(json, "fence", stops[i].fence);
		ax_json_str(json, "reason", stops[i].reason);
		ax_json_obj_end(json);
	}
	ax_json_arr_end(json);
}

/* W3C trace context: the run's trace, a span of the attempt's own. */
static void write_traceparent(struct ax_json *json, const struct ax_run *run)
{
	char text[64];
	uint64_t span = ax_mix64((uint64_t)run->gid ^ ax_mix64((uint64_t)run->fence)) | 1;
	snprintf(text, sizeof text, "00-%.32s-%016" PRIx64 "-01", run->trace_id, span);
	ax_json_str(json, "traceparent", text);
}

static void write_order(struct ax_json *json, const struct ax_order *order)
{
	const struct ax_run *run = &order->run;
	const struct ax_task_def *def = &order->def;
	ax_json_obj(json, NULL);
	ax_json_id(json, "gid", run->gid);
	ax_json_id(json, "task_id", run->task_id);
	ax_json_str(json, "task", def->task_name);
	ax_json_str(json, "group", run->group_key);
	ax_json_str(json, "executor", run->executor_key);
	ax_json_raw(json, "param", def->biz_param);
	ax_json_int(json, "attempt", ax_run_attempt(run));
	ax_json_int(json, "fence", run->fence);
	ax_json_int(json, "priority", run->priority);
	ax_json_int(json, "rank", run->rank);
	ax_json_str(json, "lane", ax_lane_name(run->lane));
	ax_json_int(json, "long_share_percent", order->long_share_percent);
	ax_json_int(json, "trigger_ms", run->trigger_time);
	ax_json_str(json, "kind", ax_kind_name(run->kind));
	ax_json_int(json, "timeout_s", def->timeout_seconds);
	ax_json_int(json, "grace_s", def->grace_seconds);
	ax_json_str(json, "on_unreachable", def->unreachable_continues ? "continue" : "kill");
	ax_json_str(json, "start", def->start_confirmed ? "confirmed" : "optimistic");
	write_traceparent(json, run);
	ax_json_raw(json, "params", run->params);
	ax_json_id(json, "rerun_of", run->rerun_of);
	ax_json_id(json, "parent", run->parent);
	if (run->parent == 0) {
		ax_json_null(json, "shard");
	} else {
		ax_json_obj(json, "shard");
		ax_json_int(json, "index", run->shard);
		ax_json_int(json, "total", run->shard_total);
		ax_json_obj_end(json);
	}
	ax_json_int(json, "retry_times", run->retry_times);
	ax_render_told(json, "upstream", &order->upstream);
	ax_json_obj_end(json);
}

void ax_worker_write_poll(struct ax_json *json, const struct ax_poll *poll)
{
	ax_json_obj(json, NULL);
	ax_json_arr(json, "runs");
	for (int i = 0; i < poll->n_orders; i++)
		write_order(json, &poll->orders[i]);
	ax_json_arr_end(json);
	write_stops(json, poll->stops, poll->n_stops);
	ax_json_bool(json, "drain", poll->drain);
	ax_json_obj_end(json);
}

void ax_worker_write_registered(struct ax_call *c, const struct ax_registration *reg)
{
	struct ax_json *json = &c->json;
	ax_json_obj(json, NULL);
	ax_json_int(json, "heartbeat_ms", AX_HEARTBEAT_MS);
	ax_json_int(json, "lease_ms", AX_LEASE_MS);
	ax_json_int(json, "accept_ms", AX_ACCEPT_MS);
	ax_json_int(json, "poll_wait_ms", AX_POLL_WAIT_MS);
	ax_json_int(json, "start_within_ms", AX_START_WITHIN_MS);
	ax_json_int(json, "unreachable_ms", AX_UNREACHABLE_MS);
	ax_json_str(json, "server", c->server->threads.server_name);
	ax_json_str(json, "store_id", c->server->store_id);
	ax_json_arr(json, "groups");
	for (int i = 0; i < reg->n_groups; i++) {
		ax_json_obj(json, NULL);
		ax_json_str(json, "group", reg->groups[i].group_key);
		ax_json_int(json, "pool_size", reg->groups[i].pool_size);
		ax_json_obj_end(json);
	}
	ax_json_arr_end(json);
	write_stops(json, reg->stops, reg->n_stops);
	ax_json_obj_end(json);
}

void ax_worker_write_report(struct ax_json *json, const struct ax_report *report)
{
	static const char *const verdicts[] = { "applied", "duplicate", "late", "stop" };
	ax_json_obj(json, NULL);
	ax_json_arr(json, "verdicts");
	for (int i = 0; i < report->n; i++)
		ax_json_str(json, NULL, verdicts[report->items[i].verdict]);
	ax_json_arr_end(json);
	write_stops(json, report->stops, report->n_stops);
	ax_json_bool(json, "drain", report->drain);
	ax_json_obj_end(json);
}

/* --- which groups a token is for ---------------------------------------------------------------------------------- */

static bool covers_all(const struct ax_call *c)
{
	return strstr(c->who.worker_groups, "\"*\"") != NULL;
}

enum ax_status ax_worker_token_groups(struct ax_call *c, const char *const **ret, struct ax_err *err)
{
	struct ax_groups all;
	*ret = NULL;
	if (covers_all(c))
		return AX_OK;
	enum ax_status status = c->tx->ops->groups(c->tx, &all, err);
	if (status != AX_OK)
		return status;
	const char **groups = ax_alloc_array(&c->arena, (size_t)all.n + 1, sizeof *groups);
	size_t n = 0;
	for (int i = 0; i < all.n; i++)
		if (ax_worker_token_covers(c, all.at[i].group_key))
			groups[n++] = all.at[i].group_key;
	*ret = groups;
	return AX_OK;
}

/* The list is a JSON array of keys, whose letters need no escapes: a key is in it with its quotes or not at all. */
bool ax_worker_token_covers(const struct ax_call *c, const char *group_key)
{
	char quoted[AX_KEY_MAX + 3];
	if ((size_t)snprintf(quoted, sizeof quoted, "\"%s\"", group_key) >= sizeof quoted ||
		strchr(group_key, '"') != NULL)
		return false;
	return covers_all(c) || strstr(c->who.worker_groups, quoted) != NULL;
}

enum ax_status ax_worker_check_groups(struct ax_call *c, const char *worker, struct ax_err *err)
{
	struct ax_worker_groups groups;
	enum ax_status status = c->tx->ops->worker_groups(c->tx, worker, &groups, err);
	for (int i = 0; i < groups.n && status == AX_OK; i++)
		if (!ax_worker_token_covers(c, groups.at[i].group_key))
			status = ax_fail(err, AX_DENIED, "worker",
				"the worker token does not cover the group `%.64s` of this worker",
				groups.at[i].group_key);
	return status;
}
