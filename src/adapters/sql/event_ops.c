/* The operations on events. */

#include "adapters/sql/sql.h"

enum ax_status ax_sql_event_insert(struct ax_tx *tx, const struct ax_event *event, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_EVENT_INSERT, event, NONE, err);
}

enum ax_status ax_sql_event_get(struct ax_tx *tx, int64_t id, struct ax_event *ret_event, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_EVENT_GET, ARGS(NUM(id)), ret_event, err);
}

enum ax_status ax_sql_event_find(
	struct ax_tx *tx, const char *event_name, const char *event_key, struct ax_event *ret_event, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_EVENT_FIND, ARGS(TXT(event_name), TXT(event_key)), ret_event, err);
}

enum ax_status ax_sql_events_page(struct ax_tx *tx, const char *event_name, int64_t before_id, int limit,
	struct ax_events *ret_events, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = event_name == NULL
		? ax_sql_list(tx, AX_SQL_EVENTS_PAGE, ARGS(BEFORE(before_id), LIM(limit)), &rows, err)
		: ax_sql_list(
			  tx, AX_SQL_EVENTS_NAMED, ARGS(BEFORE(before_id), LIM(limit), TXT(event_name)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_events);
}

enum ax_status ax_sql_event_task_insert(struct ax_tx *tx, const struct ax_event_task *row, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_EVENT_TASK_INSERT, row, NONE, err);
}

enum ax_status ax_sql_event_tasks(struct ax_tx *tx, int64_t event, struct ax_event_tasks *ret_rows, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_EVENT_TASKS, ARGS(NUM(event)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_rows);
}

enum ax_status ax_sql_events_purge(
	struct ax_tx *tx, int64_t sent_before, int limit, int *ret_deleted, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	int n = 0;
	for (; status == AX_OK && n < limit; n++) {
		int64_t id = 0;
		status = ax_sql_numbers(tx, AX_SQL_EVENTS_PURGE_FIND, ARGS(NUM(sent_before)), &id, 1, err);
		if (status != AX_OK || id == 0)
			break;
		status = ax_sql_exec(tx, AX_SQL_EVENTS_PURGE_TASKS, NULL, ARGS(NUM(id)), err);
		if (status == AX_OK)
			status = ax_sql_exec(tx, AX_SQL_EVENTS_PURGE, NULL, ARGS(NUM(id)), err);
	}
	if (status == AX_OK)
		*ret_deleted = n;
	return status;
}
