#include <string.h>

#include "port/mem/db.h"

/* calendars */

enum ax_status ax_mem_calendar_insert(struct ax_tx *tx, const struct ax_calendar_row *calendar, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_CALENDAR, calendar, err);
}

enum ax_status ax_mem_calendar_get(
	struct ax_tx *tx, const char *name, bool for_update, struct ax_calendar_row *ret_calendar, struct ax_err *err)
{
	return ax_mem_get_for(
		tx, AX_MEM_CALENDAR, 0, &(struct ax_calendar_row){ .name = name }, for_update, ret_calendar, err);
}

enum ax_status ax_mem_calendar_update(
	struct ax_tx *tx, const struct ax_calendar_row *calendar, int64_t old_version, struct ax_err *err)
{
	const struct ax_calendar_row *stored = ax_mem_row(tx, AX_MEM_CALENDAR, 0, calendar);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_CALENDAR, err);
	if (stored->version != old_version)
		return ax_mem_conflict(tx, AX_MEM_CALENDAR, err);
	struct ax_calendar_row row = *stored;
	ax_row_take_changes(&ax_calendar_row_row, calendar, &row);
	return ax_mem_replace(tx, AX_MEM_CALENDAR, stored, &row, err);
}

enum ax_status ax_mem_calendar_delete(struct ax_tx *tx, const char *name, struct ax_err *err)
{
	return ax_mem_delete(tx, AX_MEM_CALENDAR, &(struct ax_calendar_row){ .name = name }, err);
}

enum ax_status ax_mem_calendars(struct ax_tx *tx, struct ax_calendars *ret_calendars, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_CALENDAR, 0, &(struct ax_calendar_row){ .name = "" });
	const struct ax_calendar_row *calendar;
	while ((calendar = ax_mem_next(&walk)) != NULL)
		ax_mem_keep(&walk, calendar);
	return AX_MEM_GIVE(walk, ret_calendars);
}

enum ax_status ax_mem_calendar_version_insert(struct ax_tx *tx, const struct ax_calendar_version *v, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_CALENDAR_VERSION, v, err);
}

enum ax_status ax_mem_calendar_version_get(
	struct ax_tx *tx, const char *name, int64_t version, struct ax_calendar_version *ret_v, struct ax_err *err)
{
	struct ax_calendar_version probe = { .name = name, .version = version };
	return ax_mem_get(tx, AX_MEM_CALENDAR_VERSION, 0, &probe, ret_v, err);
}

enum ax_status ax_mem_calendar_versions(struct ax_tx *tx, const char *name, int64_t before_version, int limit,
	struct ax_calendar_versions *ret_versions, struct ax_err *err)
{
	(void)err;
	struct ax_calendar_version probe = {
		.name = name,
		.version = before_version == 0 ? INT64_MAX : before_version,
	};
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_CALENDAR_VERSION, 0, &probe);
	const struct ax_calendar_version *v;
	while (walk.rows.n < limit && (v = ax_mem_previous(&walk)) != NULL && strcmp(v->name, name) == 0)
		ax_mem_keep(&walk, v);
	return AX_MEM_GIVE(walk, ret_versions);
}

enum ax_status ax_mem_tasks_behind(struct ax_tx *tx, const char *calendar, int64_t version, int limit,
	struct ax_tasks *ret_tasks, struct ax_err *err)
{
	(void)err;
	struct ax_task probe = { .def.calendar = calendar, .calendar_version = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_TASK, AX_MEM_TASK_BEHIND, &probe);
	const struct ax_task *task;
	while (calendar[0] != '\0' && walk.rows.n < limit && (task = ax_mem_next(&walk)) != NULL &&
		strcmp(task->def.calendar, calendar) == 0 && task->calendar_version < version)
		ax_mem_keep_locked(&walk, task);
	return AX_MEM_GIVE(walk, ret_tasks);
}

/* backfills */

enum ax_status ax_mem_backfill_insert(
	struct ax_tx *tx, const struct ax_backfill *backfill, int64_t *ret_id, struct ax_err *err)
{
	struct ax_backfill row = *backfill;
	enum ax_status status = ax_mem_insert_next(tx, AX_MEM_BACKFILL, &row, &row.id, err);
	if (status == AX_OK)
		*ret_id = row.id;
	return status;
}

enum ax_status ax_mem_backfill_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_backfill *ret_backfill, struct ax_err *err)
{
	return ax_mem_get_for(tx, AX_MEM_BACKFILL, 0, &(struct ax_backfill){ .id = id }, for_update, ret_backfill, err);
}

enum ax_status ax_mem_backfill_update(
	struct ax_tx *tx, const struct ax_backfill *backfill, int64_t old_rev, struct ax_err *err)
{
	const struct ax_backfill *stored = ax_mem_row(tx, AX_MEM_BACKFILL, 0, backfill);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_BACKFILL, err);
	if (stored->rev != old_rev)
		return ax_mem_conflict(tx, AX_MEM_BACKFILL, err);
	struct ax_backfill row = *stored;
	ax_row_take_changes(&ax_backfill_row, backfill, &row);
	row.rev = old_rev + 1;
	return ax_mem_replace(tx, AX_MEM_BACKFILL, stored, &row, err);
}

enum ax_status ax_mem_backfills(struct ax_tx *tx, int64_t task_id, int64_t before_id, int limit,
	struct ax_backfills *ret_backfills, struct ax_err *err)
{
	(void)err;
	struct ax_backfill probe = { .task_id = task_id, .id = before_id == 0 ? INT64_MAX : before_id };
	size_t index = task_id == 0 ? 0 : AX_MEM_BACKFILL_BY_TASK;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_BACKFILL, index, &probe);
	const struct ax_backfill *backfill;
	while (walk.rows.n < limit && (backfill = ax_mem_previous(&walk)) != NULL &&
		(task_id == 0 || backfill->task_id == task_id))
		ax_mem_keep(&walk, backfill);
	return AX_MEM_GIVE(walk, ret_backfills);
}

enum ax_status ax_mem_backfills_open(
	struct ax_tx *tx, int limit, struct ax_backfills *ret_backfills, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk =
		ax_mem_walk(tx, AX_MEM_BACKFILL, AX_MEM_BACKFILL_OPEN, &(struct ax_backfill){ .id = INT64_MIN });
	const struct ax_backfill *backfill;
	while (walk.rows.n < limit && (backfill = ax_mem_next(&walk)) != NULL)
		ax_mem_keep_free(&walk, backfill);
	return AX_MEM_GIVE(walk, ret_backfills);
}
