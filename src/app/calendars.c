#include "app/calendars.h"

#include <inttypes.h>
#include <string.h>

#include "app/birth.h"
#include "app/fire.h"
#include "app/schedule_next.h"
#include "app/task_check.h"
#include "base/buf.h"
#include "core/limits.h"

enum { NAMED_MAX = 5 };

static enum ax_status check_def(const struct ax_calendar_def *def, struct ax_err *err)
{
	size_t len = strlen(def->name);
	if (len < 1 || len > AX_KEY_MAX ||
		strspn(def->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") != len)
		return ax_fail(err, AX_INVALID, "name",
			"a calendar's name is 1 to %d of A-Z, a-z, 0-9, '.', '_' and '-'", AX_KEY_MAX);
	return ax_line_check("title", def->title, 0, AX_NAME_MAX, err);
}

/* --- following ---------------------------------------------------------------------------------------------------- */

/* It cannot be read (any more): the audit shows what it owes. */
static enum ax_status stop_task(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t version,
	int64_t now, const struct ax_err *why, struct ax_err *err)
{
	task->epoch_time = ax_schedule_handled(task, now);
	task->calendar_version = version;
	enum ax_status status = ax_schedule_park(ctx, tx, task, why, now, err);
	return status == AX_OK ? ax_epoch_append(ctx, tx, task, err) : status;
}

static enum ax_status follow_task(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t version, int64_t now, struct ax_err *err)
{
	struct ax_err why = { 0 };
	enum ax_status status = ax_fire_settle(ctx, tx, task, now, &why);
	if (status == AX_INVALID || status == AX_NEVER)
		return stop_task(ctx, tx, task, version, now, &why, err);
	if (status == AX_OK)
		return ax_schedule_renew(ctx, tx, task, now, err);
	if (err != NULL)
		*err = why;
	return status;
}

static enum ax_status follow(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_calendar_row *calendar, int64_t now,
	int *ret_taken, struct ax_err *err)
{
	struct ax_tasks behind;
	enum ax_status status = tx->ops->tasks_behind(tx, calendar->name, calendar->version, AX_BATCH, &behind, err);
	*ret_taken = status == AX_OK ? behind.n : 0;
	for (int i = 0; status == AX_OK && i < behind.n; i++)
		status = follow_task(ctx, tx, &behind.at[i], calendar->version, now, err);
	return status;
}

enum ax_status ax_calendars_follow(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err)
{
	struct ax_calendars calendars;
	*ret_taken = 0;
	enum ax_status status = tx->ops->calendars(tx, &calendars, err);
	for (int i = 0; status == AX_OK && *ret_taken == 0 && i < calendars.n; i++)
		status = follow(ctx, tx, &calendars.at[i], now, ret_taken, err);
	return status;
}

/* --- changing ----------------------------------------------------------------------------------------------------- */

struct change {
	struct ax_ctx *ctx;
	const struct ax_calendar_def *def;
	int64_t old_version;
	const char *actor;
	const char *days;
	struct ax_calendar_row *ret;
	int taken;
	int64_t now;
};

static enum ax_status newest_version(
	struct ax_tx *tx, const char *name, struct ax_calendar_version *ret, bool *ret_found, struct ax_err *err)
{
	struct ax_calendar_versions versions;
	enum ax_status status = tx->ops->calendar_versions(tx, name, 0, 1, &versions, err);
	*ret_found = status == AX_OK && versions.n > 0;
	if (*ret_found)
		*ret = versions.at[0];
	return status;
}

/* The row as it is, checked against what the caller knows of it. */
static enum ax_status open_calendar(struct change *c, struct ax_tx *tx, struct ax_calendar_row *ret, struct ax_err *err)
{
	const char *name = c->def->name;
	enum ax_status status = tx->ops->calendar_get(tx, name, true, ret, err);
	if (c->old_version == 0 && status == AX_OK)
		return ax_fail(err, AX_EXISTS, "name", "there is a calendar '%s' already", name);
	if (c->old_version == 0)
		return status == AX_NOT_FOUND ? AX_OK : status;
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "name", "there is no calendar '%s'", name);
	if (status == AX_OK && ret->version != c->old_version)
		return ax_fail(err, AX_CONFLICT, "version", "the calendar is at version %" PRId64 "; read it again",
			ret->version);
	return status;
}

static enum ax_status write_change(struct change *c, struct ax_tx *tx, struct ax_calendar_row *row, bool had_version,
	int64_t newest, struct ax_err *err)
{
	const struct ax_calendar_def *def = c->def;
	struct ax_calendar_version version = {
		.name = def->name,
		.version = had_version ? newest + 1 : 1, /* a deleted calendar's numbers are not used again */
		.time = c->now,
		.author = c->actor,
		.title = def->title,
		.week = def->content.week,
		.days = c->days,
	};
	enum ax_status status = tx->ops->calendar_version_insert(tx, &version, err);
	row->name = def->name;
	row->title = def->title;
	row->version = version.version;
	row->update_time = c->now;
	row->updated_by = c->actor;
	if (status != AX_OK)
		return status;
	if (c->old_version != 0)
		return tx->ops->calendar_update(tx, row, c->old_version, err);
	row->create_time = c->now;
	return tx->ops->calendar_insert(tx, row, err);
}

static enum ax_status put(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct change *c = arg;
	struct ax_calendar_row row = { 0 };
	struct ax_calendar_version newest;
	bool found;
	c->taken = 0;
	enum ax_status status = open_calendar(c, tx, &row, err);
	if (status == AX_OK)
		status = newest_version(tx, c->def->name, &newest, &found, err);
	if (status != AX_OK)
		return status;
	bool same = c->old_version != 0 && found && strcmp(newest.title, c->def->title) == 0 &&
		newest.week == c->def->content.week && strcmp(newest.days, c->days) == 0;
	if (!same)
		status = write_change(c, tx, &row, found, found ? newest.version : 0, err);
	*c->ret = row;
	return status == AX_OK ? follow(c->ctx, tx, &row, c->now, &c->taken, err) : status;
}

static enum ax_status go_on(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct change *c = arg;
	return follow(c->ctx, tx, c->ret, c->now, &c->taken, err);
}

enum ax_status ax_calendar_put(struct ax_ctx *ctx, const struct ax_calendar_def *def, int64_t old_version,
	const char *actor, struct ax_calendar_row *ret, struct ax_err *err)
{
	struct change c = {
		.ctx = ctx,
		.def = def,
		.old_version = old_version,
		.actor = actor,
		.days = ax_calendar_text(ctx->arena, &def->content),
		.ret = ret,
		.now = ax_now_ms(ctx->clock),
	};
	enum ax_status status = check_def(def, err);
	if (status == AX_OK)
		status = ax_gids_ensure(ctx, err);
	if (status == AX_OK)
		status = ax_store_run(ctx->store, ctx->arena, put, &c, err);
	while (status == AX_OK && c.taken == AX_BATCH) {
		status = ax_gids_ensure(ctx, err);
		if (status == AX_OK)
			status = ax_store_run(ctx->store, ctx->arena, go_on, &c, err);
	}
	return status;
}

enum ax_status ax_calendar_content(struct ax_tx *tx, const char *name, int64_t version, struct ax_calendar *ret,
	struct ax_calendar_version *ret_version, struct ax_err *err)
{
	bool found = true;
	enum ax_status status = version != 0 ? tx->ops->calendar_version_get(tx, name, version, ret_version, err)
					     : newest_version(tx, name, ret_version, &found, err);
	if (status == AX_OK && !found)
		status = ax_fail(err, AX_NOT_FOUND, "name", "there is no calendar '%.64s'", name);
	return status == AX_OK ? ax_calendar_parse(tx->arena, (unsigned)ret_version->week, ret_version->days, ret, err)
			       : status;
}

struct removal {
	struct ax_ctx *ctx;
	const char *name;
};

static enum ax_status refuse_used(
	struct ax_ctx *ctx, const char *name, const struct ax_tasks *users, struct ax_err *err)
{
	struct ax_buf names;
	ax_buf_init(&names, 1024);
	for (int i = 0; i < users->n && i < NAMED_MAX; i++)
		ax_buf_printf(
			&names, "%s%s/%s", i > 0 ? ", " : "", users->at[i].def.group_key, users->at[i].def.task_name);
	const char *list = ax_strndup(ctx->arena, names.data, names.len);
	ax_buf_done(&names);
	return ax_fail(err, AX_CONFLICT, "name", "tasks use the calendar '%s': %.180s%s", name, list,
		users->n > NAMED_MAX ? " and more" : "");
}

static enum ax_status remove_calendar(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct removal *r = arg;
	struct ax_calendar_row calendar; /* locked first: whoever makes a task of it has done so, or finds it gone */
	struct ax_tasks users;
	const struct ax_task_filter filter = { .calendar = r->name, .status = -1, .limit = NAMED_MAX + 1 };
	enum ax_status status = tx->ops->calendar_get(tx, r->name, true, &calendar, err);
	if (status == AX_OK)
		status = tx->ops->tasks_page(tx, &filter, &users, err);
	if (status == AX_OK && users.n > 0)
		return refuse_used(r->ctx, r->name, &users, err);
	if (status == AX_OK)
		status = tx->ops->calendar_delete(tx, r->name, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "name", "there is no calendar '%.64s'", r->name);
	return status;
}

enum ax_status ax_calendar_delete(struct ax_ctx *ctx, const char *name, struct ax_err *err)
{
	struct removal removal = { ctx, name };
	return ax_store_run(ctx->store, ctx->arena, remove_calendar, &removal, err);
}
