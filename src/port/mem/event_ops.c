#include <string.h>

#include "port/mem/db.h"

enum ax_status ax_mem_event_insert(struct ax_tx *tx, const struct ax_event *event, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_EVENT, event, err);
}

enum ax_status ax_mem_event_get(struct ax_tx *tx, int64_t id, struct ax_event *ret_event, struct ax_err *err)
{
	return ax_mem_get(tx, AX_MEM_EVENT, 0, &(struct ax_event){ .id = id }, ret_event, err);
}

enum ax_status ax_mem_event_find(
	struct ax_tx *tx, const char *event_name, const char *event_key, struct ax_event *ret_event, struct ax_err *err)
{
	struct ax_event probe = { .event_name = event_name, .event_key = event_key };
	return ax_mem_get(tx, AX_MEM_EVENT, AX_MEM_EVENT_BY_KEY, &probe, ret_event, err);
}

enum ax_status ax_mem_events_page(struct ax_tx *tx, const char *event_name, int64_t before_id, int limit,
	struct ax_events *ret_events, struct ax_err *err)
{
	(void)err;
	struct ax_event probe = { .event_name = event_name, .id = before_id == 0 ? INT64_MAX : before_id };
	struct ax_mem_list_walk walk =
		ax_mem_walk(tx, AX_MEM_EVENT, event_name == NULL ? 0 : AX_MEM_EVENT_BY_NAME, &probe);
	const struct ax_event *event;
	while (walk.rows.n < limit && (event = ax_mem_previous(&walk)) != NULL &&
		(event_name == NULL || strcmp(event->event_name, event_name) == 0))
		ax_mem_keep(&walk, event);
	return AX_MEM_GIVE(walk, ret_events);
}

enum ax_status ax_mem_event_task_insert(struct ax_tx *tx, const struct ax_event_task *row, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_EVENT_TASK, row, err);
}

enum ax_status ax_mem_event_tasks(struct ax_tx *tx, int64_t event, struct ax_event_tasks *ret_rows, struct ax_err *err)
{
	(void)err;
	struct ax_event_task probe = { .event = event, .task_id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_EVENT_TASK, 0, &probe);
	const struct ax_event_task *row;
	while ((row = ax_mem_next(&walk)) != NULL && row->event == event)
		ax_mem_keep(&walk, row);
	return AX_MEM_GIVE(walk, ret_rows);
}

static enum ax_status delete_event(struct ax_tx *tx, const struct ax_event *event, struct ax_err *err)
{
	struct ax_mem_table *tasks = ax_mem_table(tx, AX_MEM_EVENT_TASK);
	struct ax_event_task probe = { .event = event->id, .task_id = INT64_MIN };
	const struct ax_event_task *row;
	size_t first = ax_mem_seek(tasks, 0, &probe);
	enum ax_status status = AX_OK;
	while (status == AX_OK && (row = ax_mem_at(tasks, 0, first)) != NULL && row->event == event->id)
		status = ax_mem_replace(tx, AX_MEM_EVENT_TASK, row, NULL, err);
	return status == AX_OK ? ax_mem_replace(tx, AX_MEM_EVENT, event, NULL, err) : status;
}

enum ax_status ax_mem_events_purge(
	struct ax_tx *tx, int64_t sent_before, int limit, int *ret_deleted, struct ax_err *err)
{
	struct ax_mem_table *events = ax_mem_table(tx, AX_MEM_EVENT);
	const struct ax_event *event;
	enum ax_status status = AX_OK;
	int n = 0;
	for (; status == AX_OK && n < limit && (event = ax_mem_at(events, AX_MEM_EVENT_BY_TIME, 0)) != NULL &&
		event->time < sent_before;
		n++)
		status = delete_event(tx, event, err);
	if (status == AX_OK)
		*ret_deleted = n;
	return status;
}
