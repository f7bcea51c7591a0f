/* /api/v1/backfills and /tasks/{id}/backfills: JSON to the service and back. */

#include <inttypes.h>

#include "app/backfill.h"
#include "core/limits.h"
#include "server/handlers.h"
#include "server/json_read.h"

static const char *const orders[] = { "oldest_first", "newest_first", NULL };
static const char *const statuses[] = { "running", "done", "cancelled" };

static const char *object_of(struct ax_call *c, int64_t id)
{
	return ax_sprintf(&c->arena, "backfill:%" PRId64, id);
}

/* A dry run has no id, no status and nothing made. */
static enum ax_status render(struct ax_call *c, const struct ax_backfill *b, struct ax_err *err)
{
	struct ax_json *json = &c->json;
	struct ax_task task;
	enum ax_status status = c->tx->ops->task_get(c->tx, b->task_id, false, &task, err);
	if (status != AX_OK && status != AX_NOT_FOUND)
		return status;
	ax_json_obj(json, NULL);
	ax_json_id(json, "id", b->id);
	ax_json_id(json, "task_id", b->task_id);
	ax_json_str(json, "task_name", status == AX_OK ? task.def.task_name : NULL);
	ax_json_word(json, "status", b->id == 0 ? NULL : statuses[b->status]);
	ax_json_int(json, "from", b->from_time);
	ax_json_int(json, "to", b->to_time);
	ax_json_int(json, "max_live", b->max_live);
	ax_json_str(json, "order", orders[b->newest_first]);
	ax_json_int(json, "total", b->total);
	ax_json_int(json, "made", b->made);
	ax_json_int(json, "existed", b->existed);
	ax_json_int(json, "live", b->made - b->done - b->failed);
	ax_json_int(json, "done", b->done);
	ax_json_int(json, "failed", b->failed);
	ax_json_time(json, "create_time", b->create_time);
	ax_json_time(json, "end_time", b->end_time);
	ax_json_str(json, "created_by", b->created_by);
	ax_json_obj_end(json);
	return AX_OK;
}

static enum ax_status list(struct ax_call *c, int64_t task_id, struct ax_err *err)
{
	struct ax_backfills backfills;
	int limit = 0;
	int64_t before = 0;
	enum ax_status status = ax_call_page(c, &limit, &before, err);
	if (status == AX_OK)
		status = c->tx->ops->backfills(c->tx, task_id, before, limit, &backfills, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; status == AX_OK && i < backfills.n; i++)
		status = render(c, &backfills.at[i], err);
	ax_call_items_end(c, backfills.n == limit ? backfills.at[backfills.n - 1].id : 0);
	return status;
}

enum ax_status ax_get_backfills(struct ax_call *c, struct ax_err *err)
{
	int64_t task_id = 0;
	enum ax_status status = ax_call_query_int(c, "task_id", 1, INT64_MAX, &task_id, err);
	return status == AX_OK ? list(c, task_id, err) : status;
}

enum ax_status ax_get_task_backfills(struct ax_call *c, struct ax_err *err)
{
	struct ax_task task;
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "task", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->task_get(c->tx, id, false, &task, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no task `%.64s`", c->param[0]);
	return status == AX_OK ? list(c, id, err) : status;
}

enum ax_status ax_get_backfill(struct ax_call *c, struct ax_err *err)
{
	struct ax_backfill b;
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "backfill", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->backfill_get(c->tx, id, false, &b, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no backfill `%.64s`", c->param[0]);
	return status == AX_OK ? render(c, &b, err) : status;
}

static enum ax_status read_ask(
	struct ax_call *c, struct ax_backfill_ask *ask, const char **ret_reason, struct ax_err *err)
{
	struct ax_read r;
	int order = 0;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "from");
	ax_read_int(&r, "from", 0, AX_TIME_MAX_MS, &ask->from_time);
	ax_read_int(&r, "to", 0, AX_TIME_MAX_MS, &ask->to_time);
	ax_read_int(&r, "max_live", 1, AX_BACKFILL_LIVE_MAX, &ask->max_live);
	ax_read_word(&r, "order", orders, &order);
	ax_read_bool(&r, "dry_run", &ask->dry_run);
	ax_read_str(&r, "reason", 1000, ret_reason);
	ask->newest_first = order == 1;
	return ax_read_end(&r);
}

enum ax_status ax_post_task_backfills(struct ax_call *c, struct ax_err *err)
{
	struct ax_backfill_ask ask = { .max_live = 1, .to_time = c->now + 1 };
	struct ax_backfill b;
	const char *reason = "";
	enum ax_status status = ax_call_id(c, 0, "task", &ask.task_id, err);
	if (status == AX_OK)
		status = read_ask(c, &ask, &reason, err);
	if (status == AX_OK)
		status = ax_backfill_create(c->ctx, &ask, c->who.actor, &b, err);
	if (status == AX_OK && !ask.dry_run)
		status = ax_call_audit(c, "backfill.create", object_of(c, b.id), "",
			ax_sprintf(&c->arena,
				"{\"task_id\":\"%" PRId64 "\",\"from\":%" PRId64 ",\"to\":%" PRId64
				",\"max_live\":%" PRId64 "}",
				b.task_id, b.from_time, b.to_time, b.max_live),
			reason, err);
	c->status = ask.dry_run ? 200 : 201;
	return status == AX_OK ? render(c, &b, err) : status;
}

enum ax_status ax_post_backfill_cancel(struct ax_call *c, struct ax_err *err)
{
	struct ax_backfill b;
	struct ax_read r;
	const char *reason = "";
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "backfill", &id, err);
	if (status != AX_OK)
		return status;
	ax_call_body(c, &r, err);
	ax_read_str(&r, "reason", 1000, &reason);
	status = ax_read_end(&r);
	if (status == AX_OK)
		status = ax_backfill_cancel(c->ctx, id, &b, err);
	if (status == AX_OK)
		status = ax_call_audit(c, "backfill.cancel", object_of(c, id), "", "", reason, err);
	return status == AX_OK ? render(c, &b, err) : status;
}
