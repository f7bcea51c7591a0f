#include "base/num.h"
#include "port/filter.h"
#include <string.h>

#include "port/mem/db.h"

/* The CHECK constraints of the table. */
static enum ax_status check_task(struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	const struct ax_task_def *def = &task->def;
	if (def->task_type < AX_TASK_SCHEDULED || def->task_type > AX_TASK_EVENT || task->status > AX_TASK_DELETING ||
		def->priority < 1 || def->priority > 10)
		return ax_mem_broken(tx, "ax_task: task_type, status or priority is out of range", err);
	return AX_OK;
}

static const struct ax_task *find_task(struct ax_tx *tx, int64_t id)
{
	return ax_mem_row(tx, AX_MEM_TASK, 0, &(struct ax_task){ .id = id });
}

enum ax_status ax_mem_task_insert(struct ax_tx *tx, const struct ax_task *task, int64_t *ret_id, struct ax_err *err)
{
	struct ax_task row = *task;
	enum ax_status status = check_task(tx, task, err);
	if (status == AX_OK)
		status = ax_mem_insert_next(tx, AX_MEM_TASK, &row, &row.id, err);
	if (status == AX_OK)
		*ret_id = row.id;
	return status;
}

enum ax_status ax_mem_task_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_task *ret_task, struct ax_err *err)
{
	return ax_mem_get_for(tx, AX_MEM_TASK, 0, &(struct ax_task){ .id = id }, for_update, ret_task, err);
}

enum ax_status ax_mem_task_update(
	struct ax_tx *tx, const struct ax_task *task, int64_t old_version, int64_t old_next, struct ax_err *err)
{
	const struct ax_task *stored = find_task(tx, task->id);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_TASK, err);
	if (stored->version != old_version || stored->next_trigger_time != old_next)
		return ax_mem_conflict(tx, AX_MEM_TASK, err);
	enum ax_status status = check_task(tx, task, err);
	if (status != AX_OK)
		return status;
	struct ax_task row = *stored;
	ax_row_take_changes(&ax_task_row, task, &row);
	return ax_mem_replace(tx, AX_MEM_TASK, stored, &row, err);
}

enum ax_status ax_mem_task_advance(struct ax_tx *tx, const struct ax_task *task, int64_t old_next, struct ax_err *err)
{
	const struct ax_task *stored = find_task(tx, task->id);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_TASK, err);
	if (stored->next_trigger_time != old_next)
		return ax_mem_conflict(tx, AX_MEM_TASK, err);
	struct ax_task row = *stored;
	row.next_trigger_time = task->next_trigger_time;
	row.last_trigger_time = task->last_trigger_time;
	row.calendar_version = task->calendar_version;
	row.epoch_time = task->epoch_time;
	row.exhausted = task->exhausted;
	return ax_mem_replace(tx, AX_MEM_TASK, stored, &row, err);
}

enum ax_status ax_mem_task_last_run(struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	const struct ax_task *stored = find_task(tx, task->id);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_TASK, err);
	struct ax_task row = *stored;
	row.last_run_gid = task->last_run_gid;
	row.last_run_status = task->last_run_status;
	row.last_run_end_time = task->last_run_end_time;
	row.absence_time = task->absence_time;
	row.durations = task->durations;
	return ax_mem_replace(tx, AX_MEM_TASK, stored, &row, err);
}

enum ax_status ax_mem_task_delete(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	return ax_mem_delete(tx, AX_MEM_TASK, &(struct ax_task){ .id = id }, err);
}

enum ax_status ax_mem_tasks_page(
	struct ax_tx *tx, const struct ax_task_filter *f, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk =
		ax_mem_walk(tx, AX_MEM_TASK, 0, &(struct ax_task){ .id = ax_add_sat(f->after_id, 1) });
	const struct ax_task *task;
	while (walk.rows.n < f->limit && (task = ax_mem_next(&walk)) != NULL) {
		if (ax_task_matches(f, task))
			ax_mem_keep(&walk, task);
	}
	return AX_MEM_GIVE(walk, ret_tasks);
}

enum ax_status ax_mem_tasks_due(
	struct ax_tx *tx, int64_t until, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_TASK, AX_MEM_TASK_DUE, &(struct ax_task){ 0 });
	const struct ax_task *task;
	while (walk.rows.n < limit && (task = ax_mem_next(&walk)) != NULL && task->next_trigger_time <= until)
		ax_mem_keep_free(&walk, task);
	return AX_MEM_GIVE(walk, ret_tasks);
}

enum ax_status ax_mem_store_id(struct ax_tx *tx, int64_t *ret_id, struct ax_err *err)
{
	(void)tx;
	(void)err;
	*ret_id = 1; /* one process, one memory */
	return AX_OK;
}

enum ax_status ax_mem_tasks_by_id(
	struct ax_tx *tx, const struct ax_ids *ids, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = { .tx = tx, .table = AX_MEM_TASK };
	for (int i = 0; i < ids->n; i++) {
		const struct ax_task *task = find_task(tx, ids->at[i]);
		if (task != NULL)
			ax_mem_keep_free(&walk, task);
	}
	return AX_MEM_GIVE(walk, ret_tasks);
}

enum ax_status ax_mem_tasks_ahead(struct ax_tx *tx, int64_t after_time, int64_t after_id, int64_t until, int limit,
	struct ax_dues *ret_dues, struct ax_err *err)
{
	(void)err;
	struct ax_task probe = { .next_trigger_time = after_time, .id = ax_add_sat(after_id, 1) };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_TASK, AX_MEM_TASK_DUE, &probe);
	struct ax_rows rows = { 0 };
	const struct ax_task *task;
	while (rows.n < limit && (task = ax_mem_next(&walk)) != NULL && task->next_trigger_time <= until) {
		struct ax_due *due = ax_rows_add(&rows, tx->arena, &ax_due_row);
		*due = (struct ax_due){ task->next_trigger_time, task->id, ax_strdup(tx->arena, task->def.group_key),
			task->def.priority };
	}
	return AX_MEM_GIVE((struct ax_mem_list_walk){ .rows = rows }, ret_dues);
}

enum ax_status ax_mem_tasks_absent(
	struct ax_tx *tx, int64_t now, int64_t after_id, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	(void)err;
	struct ax_task probe = { .id = ax_add_sat(after_id, 1) };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_TASK, AX_MEM_TASK_ABSENCE, &probe);
	const struct ax_task *task;
	while (walk.rows.n < limit && (task = ax_mem_next(&walk)) != NULL)
		if (task->absence_time + task->def.absence_seconds * 1000 <= now)
			ax_mem_keep(&walk, task);
	return AX_MEM_GIVE(walk, ret_tasks);
}

static bool has_active_run(struct ax_tx *tx, int64_t task_id)
{
	struct ax_mem_list_walk walk = ax_mem_walk(
		tx, AX_MEM_RUN, AX_MEM_RUN_ACTIVE_BY_TASK, &(struct ax_run){ .task_id = task_id, .gid = INT64_MIN });
	const struct ax_run *run = ax_mem_next(&walk);
	return run != NULL && run->task_id == task_id;
}

enum ax_status ax_mem_tasks_stuck(struct ax_tx *tx, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk =
		ax_mem_walk(tx, AX_MEM_TASK, AX_MEM_TASK_STUCK, &(struct ax_task){ .id = INT64_MIN });
	const struct ax_task *task;
	while (walk.rows.n < limit && (task = ax_mem_next(&walk)) != NULL) {
		if (!has_active_run(tx, task->id))
			ax_mem_keep_free(&walk, task);
	}
	return AX_MEM_GIVE(walk, ret_tasks);
}

enum ax_status ax_mem_tasks_ending(struct ax_tx *tx, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk =
		ax_mem_walk(tx, AX_MEM_TASK, AX_MEM_TASK_ENDING, &(struct ax_task){ .id = INT64_MIN });
	const struct ax_task *task;
	while (walk.rows.n < limit && (task = ax_mem_next(&walk)) != NULL)
		ax_mem_keep_free(&walk, task);
	return AX_MEM_GIVE(walk, ret_tasks);
}

enum ax_status ax_mem_tasks_listening(
	struct ax_tx *tx, const char *event_name, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	(void)err;
	struct ax_task probe = { .id = INT64_MIN, .def.event_name = event_name };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_TASK, AX_MEM_TASK_LISTENING, &probe);
	const struct ax_task *task;
	while (walk.rows.n < limit && (task = ax_mem_next(&walk)) != NULL &&
		strcmp(task->def.event_name, event_name) == 0)
		ax_mem_keep_locked(&walk, task);
	return AX_MEM_GIVE(walk, ret_tasks);
}

enum ax_status ax_mem_task_next_due(struct ax_tx *tx, int64_t *ret_time, struct ax_err *err)
{
	(void)err;
	const struct ax_task *first = ax_mem_at(ax_mem_table(tx, AX_MEM_TASK), AX_MEM_TASK_DUE, 0);
	*ret_time = first == NULL ? 0 : first->next_trigger_time;
	return AX_OK;
}

enum ax_status ax_mem_task_counts(struct ax_tx *tx, int64_t *ret_by_status, struct ax_err *err)
{
	(void)err;
	memset(ret_by_status, 0, 32 * sizeof(*ret_by_status));
	const struct ax_task *task;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_TASK, 0, &(struct ax_task){ .id = INT64_MIN });
	while ((task = ax_mem_next(&walk)) != NULL)
		ret_by_status[task->status]++;
	return AX_OK;
}

enum ax_status ax_mem_task_version_insert(struct ax_tx *tx, const struct ax_task_version *v, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_TASK_VERSION, v, err);
}

enum ax_status ax_mem_task_version_get(
	struct ax_tx *tx, int64_t task_id, int64_t version, struct ax_task_version *ret_v, struct ax_err *err)
{
	struct ax_task_version probe = { .task_id = task_id, .version = version };
	return ax_mem_get(tx, AX_MEM_TASK_VERSION, 0, &probe, ret_v, err);
}

enum ax_status ax_mem_task_versions(struct ax_tx *tx, int64_t task_id, int64_t before_version, int limit,
	struct ax_task_versions *ret_versions, struct ax_err *err)
{
	(void)err;
	struct ax_task_version probe = {
		.task_id = task_id,
		.version = before_version == 0 ? INT64_MAX : before_version,
	};
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_TASK_VERSION, 0, &probe);
	const struct ax_task_version *v;
	while (walk.rows.n < limit && (v = ax_mem_previous(&walk)) != NULL && v->task_id == task_id)
		ax_mem_keep(&walk, v);
	return AX_MEM_GIVE(walk, ret_versions);
}

enum ax_status ax_mem_epoch_append(struct ax_tx *tx, const struct ax_epoch *epoch, struct ax_err *err)
{
	struct ax_epoch row = *epoch;
	return ax_mem_insert_next(tx, AX_MEM_EPOCH, &row, &row.id, err);
}

enum ax_status ax_mem_epochs(struct ax_tx *tx, int64_t task_id, int64_t after_id, int limit,
	struct ax_epochs *ret_epochs, struct ax_err *err)
{
	(void)err;
	struct ax_epoch probe = { .task_id = task_id, .id = ax_add_sat(after_id, 1) };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_EPOCH, task_id == 0 ? 0 : AX_MEM_EPOCH_BY_TASK, &probe);
	const struct ax_epoch *epoch;
	while (walk.rows.n < limit && (epoch = ax_mem_next(&walk)) != NULL &&
		(task_id == 0 || epoch->task_id == task_id))
		ax_mem_keep(&walk, epoch);
	return AX_MEM_GIVE(walk, ret_epochs);
}

enum ax_status ax_mem_canary_put(struct ax_tx *tx, const struct ax_canary *canary, struct ax_err *err)
{
	return ax_mem_upsert(tx, AX_MEM_CANARY, canary, err);
}

enum ax_status ax_mem_canary_get(struct ax_tx *tx, int64_t task_id, struct ax_canary *ret_canary, struct ax_err *err)
{
	return ax_mem_get(tx, AX_MEM_CANARY, 0, &(struct ax_canary){ .task_id = task_id }, ret_canary, err);
}
