/* The operations on calendars and backfills. */

#include "adapters/sql/sql.h"
#include "base/err.h"

/* calendars */

enum ax_status ax_sql_calendar_insert(struct ax_tx *tx, const struct ax_calendar_row *calendar, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_CALENDAR_INSERT, calendar, NONE, err);
}

enum ax_status ax_sql_calendar_get(
	struct ax_tx *tx, const char *name, bool for_update, struct ax_calendar_row *ret_calendar, struct ax_err *err)
{
	return ax_sql_get(
		tx, for_update ? AX_SQL_CALENDAR_GET_LOCK : AX_SQL_CALENDAR_GET, ARGS(TXT(name)), ret_calendar, err);
}

enum ax_status ax_sql_calendar_update(
	struct ax_tx *tx, const struct ax_calendar_row *calendar, int64_t old_version, struct ax_err *err)
{
	return ax_sql_change(tx, AX_SQL_CALENDAR_UPDATE, calendar, ARGS(NUM(old_version)), AX_SQL_CALENDAR_EXISTS,
		ARGS(TXT(calendar->name)), err);
}

enum ax_status ax_sql_calendar_delete(struct ax_tx *tx, const char *name, struct ax_err *err)
{
	return ax_sql_change_any(tx, AX_SQL_CALENDAR_DELETE, NULL, ARGS(TXT(name)), err);
}

enum ax_status ax_sql_calendars(struct ax_tx *tx, struct ax_calendars *ret_calendars, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_CALENDARS, NONE, &rows, err);
	return AX_SQL_GIVE(status, rows, ret_calendars);
}

enum ax_status ax_sql_calendar_version_insert(struct ax_tx *tx, const struct ax_calendar_version *v, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_CALENDAR_VERSION_INSERT, v, NONE, err);
}

enum ax_status ax_sql_calendar_version_get(
	struct ax_tx *tx, const char *name, int64_t version, struct ax_calendar_version *ret_v, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_CALENDAR_VERSION_GET, ARGS(TXT(name), NUM(version)), ret_v, err);
}

enum ax_status ax_sql_calendar_versions(struct ax_tx *tx, const char *name, int64_t before_version, int limit,
	struct ax_calendar_versions *ret_versions, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(
		tx, AX_SQL_CALENDAR_VERSIONS, ARGS(TXT(name), BEFORE(before_version), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_versions);
}

enum ax_status ax_sql_tasks_behind(struct ax_tx *tx, const char *calendar, int64_t version, int limit,
	struct ax_tasks *ret_tasks, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status =
		ax_sql_list(tx, AX_SQL_TASKS_BEHIND, ARGS(TXT(calendar), NUM(version), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_tasks);
}

/* backfills */

enum ax_status ax_sql_backfill_insert(
	struct ax_tx *tx, const struct ax_backfill *backfill, int64_t *ret_id, struct ax_err *err)
{
	return ax_sql_insert_next(tx, AX_SQL_BACKFILL_INSERT, backfill, ret_id, err);
}

enum ax_status ax_sql_backfill_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_backfill *ret_backfill, struct ax_err *err)
{
	return ax_sql_get(
		tx, for_update ? AX_SQL_BACKFILL_GET_LOCK : AX_SQL_BACKFILL_GET, ARGS(NUM(id)), ret_backfill, err);
}

enum ax_status ax_sql_backfill_update(
	struct ax_tx *tx, const struct ax_backfill *backfill, int64_t old_rev, struct ax_err *err)
{
	struct ax_backfill row = *backfill;
	row.rev = old_rev + 1;
	return ax_sql_change(tx, AX_SQL_BACKFILL_UPDATE, &row, ARGS(NUM(old_rev)), AX_SQL_BACKFILL_EXISTS,
		ARGS(NUM(backfill->id)), err);
}

enum ax_status ax_sql_backfills(struct ax_tx *tx, int64_t task_id, int64_t before_id, int limit,
	struct ax_backfills *ret_backfills, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status;
	if (task_id == 0)
		status = ax_sql_list(tx, AX_SQL_BACKFILLS, ARGS(BEFORE(before_id), LIM(limit)), &rows, err);
	else
		status = ax_sql_list(
			tx, AX_SQL_BACKFILLS_OF_TASK, ARGS(BEFORE(before_id), LIM(limit), NUM(task_id)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_backfills);
}

enum ax_status ax_sql_backfills_open(
	struct ax_tx *tx, int limit, struct ax_backfills *ret_backfills, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_BACKFILLS_OPEN, ARGS(LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_backfills);
}
