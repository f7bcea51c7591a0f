/* The operations: each is one statement, and what its result means. */

#include <limits.h>
#include <string.h>

#include "adapters/sql/counts.h"
#include "adapters/sql/kept.h"
#include "adapters/sql/later.h"
#include "adapters/sql/sql.h"
#include "base/err.h"
#include "port/filter.h"
#include "port/ids.h"

/* tasks */

enum ax_status ax_sql_task_insert(struct ax_tx *tx, const struct ax_task *task, int64_t *ret_id, struct ax_err *err)
{
	return ax_sql_insert_next(tx, AX_SQL_TASK_INSERT, task, ret_id, err);
}

enum ax_status ax_sql_task_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_task *ret_task, struct ax_err *err)
{
	const struct ax_task *kept = ax_sql_kept_task(tx, id);
	if (kept != NULL) {
		*ret_task = *kept;
		return AX_OK;
	}
	enum ax_status status =
		ax_sql_get(tx, for_update ? AX_SQL_TASK_GET_LOCK : AX_SQL_TASK_GET, ARGS(NUM(id)), ret_task, err);
	if (status == AX_OK && for_update)
		ax_sql_keep_task(tx, ret_task);
	return status;
}

enum ax_status ax_sql_task_update(
	struct ax_tx *tx, const struct ax_task *task, int64_t old_version, int64_t old_next, struct ax_err *err)
{
	return ax_sql_change(tx, AX_SQL_TASK_UPDATE, task, ARGS(NUM(old_version), NUM(old_next)), AX_SQL_TASK_EXISTS,
		ARGS(NUM(task->id)), err);
}

enum ax_status ax_sql_task_advance(struct ax_tx *tx, const struct ax_task *task, int64_t old_next, struct ax_err *err)
{
	enum ax_status status = ax_sql_kept_advance(tx, task, old_next, err);
	if (status != AX_NOT_FOUND)
		return status;
	return ax_sql_change(
		tx, AX_SQL_TASK_ADVANCE, task, ARGS(NUM(old_next)), AX_SQL_TASK_EXISTS, ARGS(NUM(task->id)), err);
}

enum ax_status ax_sql_task_last_run(struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	if (ax_sql_kept_last_run(tx, task) == AX_OK)
		return AX_OK;
	return ax_sql_change_any(tx, AX_SQL_TASK_LAST_RUN, task, NONE, err);
}

enum ax_status ax_sql_tasks_absent(
	struct ax_tx *tx, int64_t now, int64_t after_id, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status =
		ax_sql_list(tx, AX_SQL_TASKS_ABSENT, ARGS(NUM(now), NUM(after_id), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_tasks);
}

enum ax_status ax_sql_task_delete(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	return ax_sql_change_any(tx, AX_SQL_TASK_DELETE, NULL, ARGS(NUM(id)), err);
}

enum ax_status ax_sql_canary_put(struct ax_tx *tx, const struct ax_canary *canary, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_CANARY_PUT, canary, NONE, err);
}

enum ax_status ax_sql_canary_get(struct ax_tx *tx, int64_t task_id, struct ax_canary *ret_canary, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_CANARY_GET, ARGS(NUM(task_id)), ret_canary, err);
}

/* Of a list of rows that are locked. */
static void keep_tasks(struct ax_tx *tx, const struct ax_rows *rows)
{
	for (int i = 0; i < rows->n; i++)
		ax_sql_keep_task(tx, &((const struct ax_task *)rows->at)[i]);
}

static enum ax_status begin_tasks(struct ax_sql_conn *conn, const struct ax_task_filter *f,
	const struct ax_sql_page *page, struct ax_sql_cursor **ret, struct ax_err *err)
{
	if (f->group_key != NULL && f->task_name != NULL)
		return ax_sql_begin(
			conn, AX_SQL_TASKS_NAMED, ARGS(TXT(f->group_key), TXT(f->task_name), NUM(page->at)), ret, err);
	if (f->calendar != NULL && f->calendar[0] != '\0')
		return ax_sql_begin(conn, AX_SQL_TASKS_OF_CALENDAR,
			ARGS(TXT(f->calendar), NUM(page->at), NUM(page->step)), ret, err);
	return ax_sql_begin(conn, AX_SQL_TASKS_PAGE, ARGS(NUM(page->at), NUM(page->step)), ret, err);
}

enum ax_status ax_sql_tasks_page(
	struct ax_tx *tx, const struct ax_task_filter *f, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_page page = ax_sql_page(tx, &ax_task_row, f->limit, INT_MAX, f->after_id);
	struct ax_task task;
	enum ax_status status = AX_OK;
	while (status == AX_OK && ax_sql_page_goes_on(&page)) {
		status = begin_tasks(conn, f, &page, &page.cursor, err);
		while (status == AX_OK && (status = ax_sql_page_next(&page, &task, err)) == AX_OK && page.found) {
			page.at = task.id;
			if (ax_task_matches(f, &task))
				ax_sql_page_take(&page, &task);
		}
	}
	return AX_SQL_GIVE(status, page.rows, ret_tasks);
}

enum ax_status ax_sql_tasks_due(
	struct ax_tx *tx, int64_t until, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_TASKS_DUE, ARGS(NUM(until), LIM(limit)), &rows, err);
	if (status == AX_OK)
		keep_tasks(tx, &rows);
	return AX_SQL_GIVE(status, rows, ret_tasks);
}

enum ax_status ax_sql_store_id(struct ax_tx *tx, int64_t *ret_id, struct ax_err *err)
{
	return ax_sql_numbers(tx, AX_SQL_STORE_ID, NONE, ret_id, 1, err);
}

static enum ax_status list_by_ids(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_ids *ids, struct ax_rows *ret, struct ax_err *err)
{
	const struct ax_row_type *type = ax_sql_conn_of(tx)->texts[id].row;
	struct ax_rows all = { 0 };
	enum ax_status status = AX_OK;
	for (int from = 0; status == AX_OK && from < ids->n; from += AX_SQL_IDS_STEP) {
		struct ax_sql_arg args[AX_SQL_IDS_STEP + 1];
		struct ax_rows some;
		ax_sql_ids_args(tx, ids->at + from, ids->n - from, args);
		status = ax_sql_list(tx, id, args, &some, err);
		for (int i = 0; status == AX_OK && i < some.n; i++)
			memcpy(ax_rows_add(&all, tx->arena, type), (char *)some.at + (size_t)i * type->size,
				type->size);
	}
	*ret = all;
	return status;
}

/* The tasks of the runs, and those behind them, as their ends may begin or block runs there. Ascending, each once. */
static enum ax_status tasks_of_runs(struct ax_tx *tx, const struct ax_ids *gids, struct ax_ids *ret, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	int64_t *ids = NULL;
	struct ax_sql_cursor *cursor;
	bool found = false;
	size_t n = 0, cap = 0;
	enum ax_status status = AX_OK;
	for (int from = 0; status == AX_OK && from < gids->n; from += AX_SQL_IDS_STEP) {
		struct ax_sql_arg args[AX_SQL_IDS_STEP + 1];
		ax_sql_ids_args(tx, gids->at + from, gids->n - from, args);
		status = ax_sql_begin(conn, AX_SQL_TASKS_OF_RUNS, args, &cursor, err);
		while (status == AX_OK && (status = ax_sql_next(conn, cursor, &found, err)) == AX_OK && found)
			for (int i = 0; i < 2; i++) {
				ids = ax_grow_array(tx->arena, ids, n, 1, &cap, sizeof(*ids));
				ids[n] = conn->driver->number(cursor, i);
				n += ids[n] != 0; /* nothing is behind it */
			}
	}
	*ret = ax_ids_sort(ids, (int)n);
	return status;
}

enum ax_status ax_sql_tasks_by_id(
	struct ax_tx *tx, const struct ax_ids *ids, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = list_by_ids(tx, AX_SQL_TASKS_BY_ID, ids, &rows, err);
	if (status == AX_OK)
		keep_tasks(tx, &rows);
	return AX_SQL_GIVE(status, rows, ret_tasks);
}

enum ax_status ax_sql_tasks_ahead(struct ax_tx *tx, int64_t after_time, int64_t after_id, int64_t until, int limit,
	struct ax_dues *ret_dues, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(
		tx, AX_SQL_TASKS_AHEAD, ARGS(NUM(after_time), NUM(after_id), NUM(until), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_dues);
}

enum ax_status ax_sql_tasks_stuck(struct ax_tx *tx, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_TASKS_STUCK, ARGS(LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_tasks);
}

enum ax_status ax_sql_tasks_ending(struct ax_tx *tx, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_TASKS_ENDING, ARGS(LIM(limit)), &rows, err);
	if (status == AX_OK)
		keep_tasks(tx, &rows);
	return AX_SQL_GIVE(status, rows, ret_tasks);
}

enum ax_status ax_sql_tasks_listening(
	struct ax_tx *tx, const char *event_name, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_TASKS_LISTENING, ARGS(TXT(event_name), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_tasks);
}

enum ax_status ax_sql_task_counts(struct ax_tx *tx, int64_t *ret_by_status, struct ax_err *err)
{
	memset(ret_by_status, 0, 32 * sizeof(*ret_by_status));
	return ax_sql_numbers(tx, AX_SQL_TASK_COUNTS, NONE, ret_by_status, 4, err);
}

enum ax_status ax_sql_task_next_due(struct ax_tx *tx, int64_t *ret_time, struct ax_err *err)
{
	return ax_sql_numbers(tx, AX_SQL_TASK_NEXT_DUE, NONE, ret_time, 1, err);
}

enum ax_status ax_sql_task_version_insert(struct ax_tx *tx, const struct ax_task_version *v, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_VERSION_INSERT, v, NONE, err);
}

enum ax_status ax_sql_task_version_get(
	struct ax_tx *tx, int64_t task_id, int64_t version, struct ax_task_version *ret_v, struct ax_err *err)
{
	const struct ax_task_version *kept;
	enum ax_status status = ax_sql_kept_version(tx, task_id, version, &kept, err);
	if (status != AX_OK)
		return status;
	if (kept == NULL)
		return ax_sql_get(tx, AX_SQL_VERSION_GET, ARGS(NUM(task_id), NUM(version)), ret_v, err);
	*ret_v = *kept;
	return AX_OK;
}

enum ax_status ax_sql_task_versions(struct ax_tx *tx, int64_t task_id, int64_t before_version, int limit,
	struct ax_task_versions *ret_versions, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status =
		ax_sql_list(tx, AX_SQL_VERSIONS, ARGS(NUM(task_id), BEFORE(before_version), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_versions);
}

enum ax_status ax_sql_epoch_append(struct ax_tx *tx, const struct ax_epoch *epoch, struct ax_err *err)
{
	int64_t id;
	return ax_sql_insert_next(tx, AX_SQL_EPOCH_INSERT, epoch, &id, err);
}

enum ax_status ax_sql_epochs(struct ax_tx *tx, int64_t task_id, int64_t after_id, int limit,
	struct ax_epochs *ret_epochs, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status;
	if (task_id == 0)
		status = ax_sql_list(tx, AX_SQL_EPOCHS, ARGS(NUM(after_id), LIM(limit)), &rows, err);
	else
		status = ax_sql_list(
			tx, AX_SQL_EPOCHS_OF_TASK, ARGS(NUM(after_id), LIM(limit), NUM(task_id)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_epochs);
}

/* runs */

enum ax_status ax_sql_run_insert(struct ax_tx *tx, const struct ax_run *run, struct ax_err *err)
{
	if (ax_sql_kept_insert(tx, run) == AX_OK)
		return AX_OK;
	enum ax_status status = ax_sql_let_go_run(tx, run->gid, err);
	if (status == AX_OK)
		status = ax_sql_exec(tx, AX_SQL_RUN_INSERT, run, NONE, err);
	if (status == AX_OK)
		ax_sql_note_facts(tx, run);
	return status;
}

enum ax_status ax_sql_run_get(
	struct ax_tx *tx, int64_t gid, bool for_update, struct ax_run *ret_run, struct ax_err *err)
{
	const struct ax_run *kept = ax_sql_kept_run(tx, gid);
	if (kept != NULL) {
		*ret_run = *kept;
		return AX_OK;
	}
	enum ax_status status =
		ax_sql_get(tx, for_update ? AX_SQL_RUN_GET_LOCK : AX_SQL_RUN_GET, ARGS(NUM(gid)), ret_run, err);
	if (status == AX_OK && for_update)
		ax_sql_keep_run(tx, ret_run);
	return status;
}

enum ax_status ax_sql_run_find(struct ax_tx *tx, int64_t task_id, enum ax_run_kind kind, const char *fire_key,
	int64_t shard, struct ax_run *ret_run, struct ax_err *err)
{
	const struct ax_run *kept = ax_sql_kept_made(tx, task_id, kind, fire_key, shard);
	if (kept != NULL) {
		*ret_run = *kept;
		return AX_OK;
	}
	enum ax_status status =
		ax_sql_get(tx, AX_SQL_RUN_FIND, ARGS(NUM(task_id), NUM(kind), TXT(fire_key), NUM(shard)), ret_run, err);
	if (status == AX_OK && (kept = ax_sql_kept_run(tx, ret_run->gid)) != NULL)
		*ret_run = *kept; /* it may be changed, and that is not written yet */
	return status;
}

enum ax_status ax_sql_run_update(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err)
{
	enum ax_status status = ax_sql_kept_update(tx, run, old_rev, err);
	if (status == AX_NOT_FOUND)
		status = ax_sql_let_go_run(tx, run->gid, err);
	else
		return status;
	if (status != AX_OK)
		return status;
	struct ax_run row = *run;
	row.rev = old_rev + 1;
	ax_sql_note_facts(tx, run);
	return ax_sql_change(
		tx, AX_SQL_RUN_UPDATE, &row, ARGS(NUM(old_rev)), AX_SQL_RUN_EXISTS, ARGS(NUM(run->gid)), err);
}

enum ax_status ax_sql_run_set_due(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err)
{
	enum ax_status status = ax_sql_let_go_run(tx, run->gid, err);
	if (status != AX_OK)
		return status;
	return ax_sql_change(
		tx, AX_SQL_RUN_SET_DUE, run, ARGS(NUM(old_rev)), AX_SQL_RUN_EXISTS, ARGS(NUM(run->gid)), err);
}

enum ax_status ax_sql_run_renew(
	struct ax_tx *tx, int64_t gid, int64_t fence, int64_t heartbeat_time, int64_t deadline_time, struct ax_err *err)
{
	enum ax_status status = ax_sql_kept_renew(tx, gid, fence, heartbeat_time, deadline_time, err);
	if (status != AX_NOT_FOUND)
		return status;
	return ax_sql_change(tx, AX_SQL_RUN_RENEW, NULL,
		ARGS(NUM(gid), NUM(fence), NUM(heartbeat_time), NUM(deadline_time)), AX_SQL_RUN_EXISTS, ARGS(NUM(gid)),
		err);
}

static enum ax_status list_runs(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, struct ax_runs *ret, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, id, args, &rows, err);
	return AX_SQL_GIVE(status, rows, ret);
}

/* … that are locked. */
static enum ax_status take_runs(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, struct ax_runs *ret, struct ax_err *err)
{
	enum ax_status status = list_runs(tx, id, args, ret, err);
	for (int i = 0; status == AX_OK && i < ret->n; i++)
		ax_sql_keep_run(tx, &ret->at[i]);
	return status;
}

enum ax_status ax_sql_runs_live(
	struct ax_tx *tx, int64_t task_id, bool for_update, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	return list_runs(tx, for_update ? AX_SQL_RUNS_LIVE_LOCK : AX_SQL_RUNS_LIVE, ARGS(NUM(task_id), LIM(limit)),
		ret_runs, err);
}

enum ax_status ax_sql_runs_live_count(
	struct ax_tx *tx, int64_t task_id, int limit, int64_t *ret_live, struct ax_err *err)
{
	bool known;
	*ret_live = 0;
	enum ax_status status = ax_sql_has_none(tx, task_id, AX_SQL_HAS_LIVE, &known, err);
	if (status == AX_OK && !known) /* of more than are asked for the first ones are meant */
		known = ax_sql_kept_live(tx, task_id, ret_live) && *ret_live <= limit;
	if (status == AX_OK && !known)
		status = ax_sql_kept_tell(tx, task_id, AX_SQL_HAS_LIVE, err);
	if (status == AX_OK && !known)
		status = ax_sql_numbers(tx, AX_SQL_RUNS_LIVE_COUNT, ARGS(NUM(task_id), LIM(limit)), ret_live, 1, err);
	return status;
}

enum ax_status ax_sql_runs_pending(
	struct ax_tx *tx, int64_t task_id, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	return list_runs(tx, AX_SQL_RUNS_PENDING, ARGS(NUM(task_id), LIM(limit)), ret_runs, err);
}

enum ax_status ax_sql_runs_held(
	struct ax_tx *tx, int64_t task_id, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	bool none;
	*ret_runs = (struct ax_runs){ 0 };
	enum ax_status status = ax_sql_has_none(tx, task_id, AX_SQL_HAS_HELD, &none, err);
	if (status != AX_OK || none)
		return status;
	status = ax_sql_kept_tell(tx, task_id, AX_SQL_HAS_HELD, err);
	return status == AX_OK ? take_runs(tx, AX_SQL_RUNS_HELD, ARGS(NUM(task_id), LIM(limit)), ret_runs, err)
			       : status;
}

enum ax_status ax_sql_run_next_queue(struct ax_tx *tx, const char *group_key, const char *executor_key,
	enum ax_run_lane lane, const char *demand, struct ax_run *ret_run, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_RUN_NEXT_QUEUE, ARGS(TXT(group_key), TXT(executor_key), NUM(lane), TXT(demand)),
		ret_run, err);
}

enum ax_status ax_sql_runs_claimable(struct ax_tx *tx, const char *group_key, const char *executor_key,
	enum ax_run_lane lane, const char *demand, int64_t after_rank, int64_t after_gid, int limit,
	struct ax_runs *ret_runs, struct ax_err *err)
{
	return take_runs(tx, AX_SQL_RUNS_CLAIMABLE,
		ARGS(TXT(group_key), TXT(executor_key), NUM(lane), TXT(demand), NUM(after_rank), NUM(after_gid),
			LIM(limit)),
		ret_runs, err);
}

enum ax_status ax_sql_runs_undispatched(struct ax_tx *tx, int64_t until, int64_t after_time, int64_t after_gid,
	int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	return list_runs(tx, AX_SQL_RUNS_UNDISPATCHED, ARGS(NUM(until), NUM(after_time), NUM(after_gid), LIM(limit)),
		ret_runs, err);
}

enum ax_status ax_sql_runs_undecided(
	struct ax_tx *tx, int64_t task_id, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	return list_runs(tx, AX_SQL_RUNS_UNDECIDED, ARGS(NUM(task_id), LIM(limit)), ret_runs, err);
}

enum ax_status ax_sql_runs_looked(
	struct ax_tx *tx, int64_t from, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	return list_runs(tx, AX_SQL_RUNS_LOOKED, ARGS(NUM(from), LIM(limit)), ret_runs, err);
}

enum ax_status ax_sql_shards(struct ax_tx *tx, int64_t parent, bool live, bool for_update, int64_t after_gid, int limit,
	struct ax_runs *ret_runs, struct ax_err *err)
{
	static const enum ax_sql_id ids[2][2] = {
		{ AX_SQL_SHARDS, AX_SQL_SHARDS_LOCK },
		{ AX_SQL_SHARDS_LIVE, AX_SQL_SHARDS_LIVE_LOCK },
	};
	return list_runs(tx, ids[live][for_update], ARGS(NUM(parent), NUM(after_gid), LIM(limit)), ret_runs, err);
}

enum ax_status ax_sql_runs_overdue(
	struct ax_tx *tx, int64_t until, int64_t waiting_until, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	return take_runs(tx, AX_SQL_RUNS_OVERDUE, ARGS(NUM(until), NUM(waiting_until), LIM(limit)), ret_runs, err);
}

enum ax_status ax_sql_runs_by_gid(
	struct ax_tx *tx, const struct ax_ids *gids, struct ax_runs *ret_runs, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = list_by_ids(tx, AX_SQL_RUNS_BY_GID, gids, &rows, err);
	for (int i = 0; status == AX_OK && i < rows.n; i++)
		ax_sql_keep_run(tx, &((struct ax_run *)rows.at)[i]);
	return AX_SQL_GIVE(status, rows, ret_runs);
}

enum ax_status ax_sql_runs_expect(
	struct ax_tx *tx, const struct ax_ids *gids, const struct ax_ids *ending, struct ax_err *err)
{
	struct ax_rows tasks = { 0 }, runs = { 0 };
	struct ax_ids task_ids = { 0 };
	enum ax_status status = AX_OK;
	if (!ax_sql_conn_of(tx)->driver->far || ax_sql_conn_of(tx)->direct)
		return AX_OK;
	if (ending->n > 1)
		status = tasks_of_runs(tx, ending, &task_ids, err);
	if (status == AX_OK)
		status = list_by_ids(tx, AX_SQL_TASKS_EXPECTED, &task_ids, &tasks, err);
	if (status == AX_OK)
		keep_tasks(tx, &tasks);
	if (status == AX_OK && gids->n > 1)
		status = list_by_ids(tx, AX_SQL_RUNS_EXPECTED, gids, &runs, err);
	for (int i = 0; status == AX_OK && i < runs.n; i++)
		ax_sql_keep_run(tx, &((struct ax_run *)runs.at)[i]);
	return status;
}

enum ax_status ax_sql_runs_ahead(struct ax_tx *tx, int64_t after_time, int64_t after_gid, int64_t until, int limit,
	struct ax_dues *ret_dues, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(
		tx, AX_SQL_RUNS_AHEAD, ARGS(NUM(after_time), NUM(after_gid), NUM(until), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_dues);
}

enum ax_status ax_sql_runs_watched(
	struct ax_tx *tx, int64_t until, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	return list_runs(tx, AX_SQL_RUNS_WATCHED, ARGS(NUM(until), LIM(limit)), ret_runs, err);
}

enum ax_status ax_sql_run_next_deadline(struct ax_tx *tx, int64_t *ret_time, struct ax_err *err)
{
	return ax_sql_numbers(tx, AX_SQL_RUN_NEXT_DEADLINE, NONE, ret_time, 1, err);
}

enum ax_status ax_sql_runs_of_worker(
	struct ax_tx *tx, const char *worker, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	return list_runs(tx, AX_SQL_RUNS_OF_WORKER, ARGS(TXT(worker), LIM(limit)), ret_runs, err);
}

enum ax_status ax_sql_runs_to_stop(
	struct ax_tx *tx, const struct ax_names *workers, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	struct ax_rows rows = { 0 };
	enum ax_status status = AX_OK;
	for (int at = 0, some; status == AX_OK && at < workers->n; at += some) {
		struct ax_sql_arg args[AX_SQL_IDS_STEP + 2];
		int left = AX_MAX(limit, 0) - rows.n;
		some = ax_sql_names_args(tx, workers->at + at, workers->n - at, args + 1);
		args[0] = (struct ax_sql_arg)NUM(left);
		if (some > 1)
			status = ax_sql_list_more(tx, AX_SQL_RUNS_TO_STOP_OF, args, &rows, err);
		else
			status = ax_sql_list_more(
				tx, AX_SQL_RUNS_TO_STOP, ARGS(TXT(workers->at[at]), NUM(left)), &rows, err);
	}
	return AX_SQL_GIVE(status, rows, ret_runs);
}

/* The statement that reads a page from the narrowest index. */
static enum ax_sql_id page_statement(const struct ax_run_filter *f)
{
	if (f->parent != 0)
		return AX_SQL_PAGE_OF_PARENT;
	if (f->worker != NULL)
		return AX_SQL_PAGE_ANY;
	if (f->batch != 0)
		return AX_SQL_PAGE_OF_BATCH;
	if (ax_run_filter_is_live(f))
		return f->task_id != 0 ? AX_SQL_PAGE_LIVE_OF_TASK : AX_SQL_PAGE_LIVE;
	if (f->backfill_id != 0)
		return AX_SQL_PAGE_OF_BACKFILL;
	return f->task_id != 0 ? AX_SQL_PAGE_OF_TASK : AX_SQL_PAGE_ALL;
}

enum ax_status ax_sql_runs_page(struct ax_tx *tx, const struct ax_run_filter *f, struct ax_runs *ret_runs,
	int64_t *ret_before, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_page page =
		ax_sql_page(tx, &ax_run_row, f->limit, f->scan_limit, f->before_gid == 0 ? INT64_MAX : f->before_gid);
	enum ax_sql_id id = page_statement(f);
	int64_t of = id == AX_SQL_PAGE_OF_PARENT ? f->parent
		: id == AX_SQL_PAGE_OF_BACKFILL  ? f->backfill_id
		: id == AX_SQL_PAGE_OF_BATCH     ? f->batch
						 : f->task_id;
	struct ax_run run;
	enum ax_status status = AX_OK;
	while (status == AX_OK && ax_sql_page_goes_on(&page)) {
		status = ax_sql_begin(conn, id, ARGS(NUM(page.at), NUM(of), NUM(page.step)), &page.cursor, err);
		while (status == AX_OK && (status = ax_sql_page_next(&page, &run, err)) == AX_OK && page.found) {
			page.at = run.gid;
			if (ax_run_matches(f, &run))
				ax_sql_page_take(&page, &run);
		}
	}
	if (status == AX_OK)
		*ret_before = page.ended ? 0 : page.at;
	return AX_SQL_GIVE(status, page.rows, ret_runs);
}

enum ax_status ax_sql_runs_fired(struct ax_tx *tx, int64_t task_id, int64_t from, int64_t to, int64_t after_gid,
	int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	return list_runs(tx, AX_SQL_RUNS_FIRED, ARGS(NUM(task_id), NUM(from), NUM(to), NUM(after_gid), LIM(limit)),
		ret_runs, err);
}

/* A column for each of some states. */
static enum ax_status count_states(struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args,
	const int *states, int n, int64_t *ret_by_state, struct ax_err *err)
{
	int64_t counts[32];
	enum ax_status status = ax_sql_numbers(tx, id, args, counts, 1 + n, err);
	if (status != AX_OK)
		return status;
	memset(ret_by_state, 0, 32 * sizeof(*ret_by_state));
	for (int i = 0; i < n; i++)
		ret_by_state[states[i]] = counts[1 + i];
	return AX_OK;
}

#define AX_RUN_STATE(name, number, text) number,
static const int all_states[] = { AX_RUN_STATES(AX_RUN_STATE) };
static const int live_states[] = { AX_RUN_LIVE_STATES(AX_RUN_STATE) };
static const int ended_states[] = { AX_RUN_ENDED_STATES(AX_RUN_STATE) };
#undef AX_RUN_STATE
#define STATES(of) of, (int)AX_COUNT(of)

enum ax_status ax_sql_shard_counts(struct ax_tx *tx, int64_t parent, int64_t *ret_by_state, struct ax_err *err)
{
	return count_states(tx, AX_SQL_SHARD_COUNTS, ARGS(NUM(parent)), STATES(all_states), ret_by_state, err);
}

enum ax_status ax_sql_live_counts(struct ax_tx *tx, int64_t *ret_by_state, struct ax_err *err)
{
	return count_states(tx, AX_SQL_COUNT_LIVE, NONE, STATES(live_states), ret_by_state, err);
}

enum ax_status ax_sql_ended_counts(
	struct ax_tx *tx, int64_t from, int64_t to, int64_t *ret_by_state, struct ax_err *err)
{
	return count_states(tx, AX_SQL_COUNT_ENDED, ARGS(NUM(from), NUM(to)), STATES(ended_states), ret_by_state, err);
}

enum ax_status ax_sql_ended_minute_put(struct ax_tx *tx, const struct ax_ended_minute *row, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_ENDED_MINUTE_PUT, row, NONE, err);
}

enum ax_status ax_sql_ended_minutes(
	struct ax_tx *tx, int64_t from_minute, int limit, struct ax_ended_minutes *ret_rows, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_ENDED_MINUTES, ARGS(NUM(from_minute), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_rows);
}

enum ax_status ax_sql_ended_minutes_cut(struct ax_tx *tx, int64_t before_minute, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_ENDED_MINUTES_CUT, NULL, ARGS(NUM(before_minute)), err);
}

enum ax_status ax_sql_group_waiting(struct ax_tx *tx, const char *group_key, int64_t *ret_n, struct ax_err *err)
{
	return ax_sql_numbers(tx, AX_SQL_GROUP_WAITING, ARGS(TXT(group_key)), ret_n, 1, err);
}

static enum ax_status purge_run(struct ax_tx *tx, int64_t gid, struct ax_err *err)
{
	enum ax_status status = ax_sql_exec(tx, AX_SQL_PURGE_ATTEMPTS, NULL, ARGS(NUM(gid)), err);
	if (status == AX_OK)
		status = ax_sql_exec(tx, AX_SQL_PURGE_OUTPUT, NULL, ARGS(NUM(gid)), err);
	if (status == AX_OK)
		status = ax_sql_exec(tx, AX_SQL_PURGE_FAILURE, NULL, ARGS(NUM(gid)), err);
	if (status == AX_OK)
		status = ax_sql_exec(tx, AX_SQL_PURGE_UPSTREAMS, NULL, ARGS(NUM(gid)), err);
	if (status == AX_OK)
		status = ax_sql_exec(tx, AX_SQL_PURGE_RUN, NULL, ARGS(NUM(gid)), err);
	return status;
}

static enum ax_status purge_shards(struct ax_tx *tx, int64_t parent, int *n, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (; status == AX_OK; (*n)++) {
		int64_t gid;
		status = ax_sql_numbers(tx, AX_SQL_PURGE_SHARD, ARGS(NUM(parent)), &gid, 1, err);
		if (status != AX_OK || gid == 0)
			break;
		status = purge_run(tx, gid, err);
	}
	return status;
}

enum ax_status ax_sql_runs_purge(
	struct ax_tx *tx, int64_t ended_before, int limit, int *ret_deleted, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	int n = 0;
	for (; status == AX_OK && n < limit; n++) {
		int64_t gid;
		status = ax_sql_numbers(tx, AX_SQL_PURGE_FIND, ARGS(NUM(ended_before)), &gid, 1, err);
		if (status != AX_OK || gid == 0)
			break;
		status = purge_shards(tx, gid, &n, err);
		if (status == AX_OK)
			status = purge_run(tx, gid, err);
	}
	if (status == AX_OK)
		*ret_deleted = n;
	return status;
}

static enum ax_status list_gids(
	struct ax_tx *tx, const struct ax_sql_arg *args, int64_t *ret_gids, int *ret_n, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_cursor *cursor;
	bool found = true;
	enum ax_status status = ax_sql_begin(conn, AX_SQL_PURGE_OF_TASK, args, &cursor, err);
	while (status == AX_OK && (status = ax_sql_next(conn, cursor, &found, err)) == AX_OK && found)
		ret_gids[(*ret_n)++] = conn->driver->number(cursor, 0);
	return status;
}

enum ax_status ax_sql_runs_purge_task(struct ax_tx *tx, int64_t task_id, int64_t ended_before, int64_t made_before,
	int limit, int *ret_deleted, struct ax_err *err)
{
	limit = AX_MAX(limit, 0);
	int64_t *gids = ax_alloc_array(tx->arena, (size_t)limit, sizeof(*gids));
	int n = 0, deleted = 0;
	enum ax_status status =
		list_gids(tx, ARGS(NUM(task_id), NUM(ended_before), NUM(made_before), NUM(limit)), gids, &n, err);
	for (int i = 0; status == AX_OK && i < n && deleted < limit; i++, deleted++) {
		status = purge_shards(tx, gids[i], &deleted, err);
		if (status == AX_OK)
			status = purge_run(tx, gids[i], err);
	}
	if (status == AX_OK)
		*ret_deleted = deleted;
	return status;
}

enum ax_status ax_sql_run_nth(struct ax_tx *tx, int64_t task_id, int64_t nth, int64_t *ret_gid, struct ax_err *err)
{
	return ax_sql_numbers(tx, AX_SQL_RUN_NTH, ARGS(NUM(task_id), NUM(nth)), ret_gid, 1, err);
}

/* attempts and output */

enum ax_status ax_sql_attempt_put(struct ax_tx *tx, const struct ax_attempt *attempt, struct ax_err *err)
{
	return ax_sql_put_later(tx, AX_SQL_ATTEMPT_PUT, attempt, err);
}

enum ax_status ax_sql_attempt_get(
	struct ax_tx *tx, int64_t gid, int64_t fence, struct ax_attempt *ret_attempt, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_ATTEMPT_GET, ARGS(NUM(gid), NUM(fence)), ret_attempt, err);
}

enum ax_status ax_sql_attempts(struct ax_tx *tx, int64_t gid, struct ax_attempts *ret_attempts, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_ATTEMPTS, ARGS(NUM(gid)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_attempts);
}

enum ax_status ax_sql_output_size(struct ax_tx *tx, int64_t gid, int64_t fence, int64_t *ret_bytes, int64_t *ret_chunks,
	int64_t *ret_last_seq, struct ax_err *err)
{
	int64_t numbers[3];
	enum ax_status status = ax_sql_numbers(tx, AX_SQL_OUTPUT_SIZE, ARGS(NUM(gid), NUM(fence)), numbers, 3, err);
	if (status != AX_OK)
		return status;
	*ret_bytes = numbers[0];
	*ret_chunks = numbers[1];
	*ret_last_seq = numbers[2];
	return AX_OK;
}

enum ax_status ax_sql_output_append(struct ax_tx *tx, const struct ax_output *output, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_OUTPUT_INSERT, output, NONE, err);
}

enum ax_status ax_sql_output_cut(
	struct ax_tx *tx, int64_t gid, int64_t fence, int64_t head_bytes, int64_t bytes, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_OUTPUT_CUT, NULL, ARGS(NUM(gid), NUM(fence), NUM(head_bytes), NUM(bytes)), err);
}

enum ax_status ax_sql_outputs(struct ax_tx *tx, int64_t gid, int64_t after_fence, int64_t after_seq, int limit,
	struct ax_outputs *ret_outputs, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(
		tx, AX_SQL_OUTPUTS, ARGS(NUM(gid), NUM(after_fence), NUM(after_seq), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_outputs);
}

/* groups */

enum ax_status ax_sql_group_insert(struct ax_tx *tx, const struct ax_group *group, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_GROUP_INSERT, group, NONE, err);
}

enum ax_status ax_sql_group_get(
	struct ax_tx *tx, const char *key, bool for_update, struct ax_group *ret_group, struct ax_err *err)
{
	enum ax_status status =
		ax_sql_get(tx, for_update ? AX_SQL_GROUP_GET_LOCK : AX_SQL_GROUP_GET, ARGS(TXT(key)), ret_group, err);
	if (status == AX_OK)
		ax_sql_count_in_group(ax_sql_conn_of(tx), ret_group);
	return status;
}

enum ax_status ax_sql_group_update(
	struct ax_tx *tx, const struct ax_group *group, int64_t old_version, struct ax_err *err)
{
	return ax_sql_change(tx, AX_SQL_GROUP_UPDATE, group, ARGS(NUM(old_version)), AX_SQL_GROUP_EXISTS,
		ARGS(TXT(group->group_key)), err);
}

enum ax_status ax_sql_group_add_running(
	struct ax_tx *tx, const char *key, int64_t delta, int64_t long_delta, struct ax_err *err)
{
	return ax_sql_count(tx, key, NULL, delta, long_delta, err);
}

enum ax_status ax_sql_group_delete(struct ax_tx *tx, const char *key, struct ax_err *err)
{
	enum ax_status status = ax_sql_counts_write(tx, err);
	if (status == AX_OK)
		status = ax_sql_change(
			tx, AX_SQL_GROUP_DELETE, NULL, ARGS(TXT(key)), AX_SQL_GROUP_EXISTS, ARGS(TXT(key)), err);
	if (status == AX_CONFLICT)
		return ax_fail(err, AX_CONFLICT, "group_key", "tasks or live runs belong to the group %s", key);
	return status;
}

enum ax_status ax_sql_groups(struct ax_tx *tx, struct ax_groups *ret_groups, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_GROUPS, NONE, &rows, err);
	for (int i = 0; status == AX_OK && i < rows.n; i++)
		ax_sql_count_in_group(ax_sql_conn_of(tx), &((struct ax_group *)rows.at)[i]);
	return AX_SQL_GIVE(status, rows, ret_groups);
}

enum ax_status ax_sql_group_given(
	struct ax_tx *tx, const char *key, struct ax_worker_groups *ret_rows, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_GROUP_GIVEN, ARGS(TXT(key)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_rows);
}

/* workers */

enum ax_status ax_sql_worker_put(struct ax_tx *tx, const struct ax_worker *worker, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_WORKER_PUT, worker, NONE, err);
}

enum ax_status ax_sql_worker_get(
	struct ax_tx *tx, const char *name, bool for_update, struct ax_worker *ret_worker, struct ax_err *err)
{
	return ax_sql_get(
		tx, for_update ? AX_SQL_WORKER_GET_LOCK : AX_SQL_WORKER_GET, ARGS(TXT(name)), ret_worker, err);
}

enum ax_status ax_sql_worker_free(struct ax_tx *tx, const char *name, struct ax_worker *ret_worker, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_WORKER_GET_FREE, ARGS(TXT(name)), ret_worker, err);
}

enum ax_status ax_sql_workers_by_name(
	struct ax_tx *tx, const struct ax_names *names, bool hold, struct ax_workers *ret_workers, struct ax_err *err)
{
	struct ax_rows rows = { 0 };
	enum ax_status status = AX_OK;
	for (int at = 0, some; status == AX_OK && at < names->n; at += some) {
		struct ax_sql_arg args[AX_SQL_IDS_STEP + 1];
		some = ax_sql_names_args(tx, names->at + at, names->n - at, args);
		enum ax_sql_id one = hold ? AX_SQL_WORKER_GET_HOLD : AX_SQL_WORKER_GET;
		enum ax_sql_id several = hold ? AX_SQL_WORKERS_BY_NAME_HOLD : AX_SQL_WORKERS_BY_NAME;
		status = ax_sql_list_more(tx, some == 1 ? one : several, args, &rows, err);
	}
	return AX_SQL_GIVE(status, rows, ret_workers);
}

enum ax_status ax_sql_workers(struct ax_tx *tx, struct ax_workers *ret_workers, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_WORKERS, NONE, &rows, err);
	return AX_SQL_GIVE(status, rows, ret_workers);
}

enum ax_status ax_sql_worker_delete(struct ax_tx *tx, const char *name, struct ax_err *err)
{
	enum ax_status status = ax_sql_counts_write(tx, err);
	if (status == AX_OK)
		status = ax_sql_change_any(tx, AX_SQL_WORKER_DELETE, NULL, ARGS(TXT(name)), err);
	if (status == AX_OK)
		status = ax_sql_exec(tx, AX_SQL_WORKER_DELETE_GROUPS, NULL, ARGS(TXT(name)), err);
	return status;
}

enum ax_status ax_sql_worker_group_put(
	struct ax_tx *tx, const char *worker, const char *group_key, int64_t pool_size, struct ax_err *err)
{
	struct ax_worker_group row = { .worker = worker, .group_key = group_key, .pool_size = pool_size };
	return ax_sql_exec(tx, AX_SQL_WORKER_GROUP_PUT, &row, NONE, err);
}

enum ax_status ax_sql_worker_group_get(struct ax_tx *tx, const char *worker, const char *group_key, bool for_update,
	struct ax_worker_group *ret_row, struct ax_err *err)
{
	enum ax_status status = ax_sql_get(tx, for_update ? AX_SQL_WORKER_GROUP_GET_LOCK : AX_SQL_WORKER_GROUP_GET,
		ARGS(TXT(worker), TXT(group_key)), ret_row, err);
	if (status == AX_OK)
		ax_sql_count_in_worker_group(ax_sql_conn_of(tx), ret_row);
	return status;
}

static enum ax_status list_worker_groups(struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args,
	struct ax_worker_groups *ret, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, id, args, &rows, err);
	for (int i = 0; status == AX_OK && i < rows.n; i++)
		ax_sql_count_in_worker_group(ax_sql_conn_of(tx), &((struct ax_worker_group *)rows.at)[i]);
	return AX_SQL_GIVE(status, rows, ret);
}

enum ax_status ax_sql_worker_groups(
	struct ax_tx *tx, const char *worker, struct ax_worker_groups *ret_rows, struct ax_err *err)
{
	if (worker == NULL)
		return list_worker_groups(tx, AX_SQL_WORKER_GROUPS, NONE, ret_rows, err);
	return list_worker_groups(tx, AX_SQL_WORKER_GROUPS_OF, ARGS(TXT(worker)), ret_rows, err);
}

enum ax_status ax_sql_group_workers(
	struct ax_tx *tx, const char *group_key, struct ax_worker_groups *ret_rows, struct ax_err *err)
{
	return list_worker_groups(tx, AX_SQL_GROUP_WORKERS, ARGS(TXT(group_key)), ret_rows, err);
}

enum ax_status ax_sql_group_workers_by_name(struct ax_tx *tx, const char *group_key, const struct ax_names *names,
	bool for_update, struct ax_worker_groups *ret_rows, struct ax_err *err)
{
	struct ax_rows rows = { 0 };
	enum ax_status status = AX_OK;
	for (int at = 0, some; status == AX_OK && at < names->n; at += some) {
		struct ax_sql_arg args[AX_SQL_IDS_STEP + 2] = { TXT(group_key) };
		some = ax_sql_names_args(tx, names->at + at, names->n - at, args + 1);
		if (some > 1)
			status = ax_sql_list_more(tx,
				for_update ? AX_SQL_GROUP_WORKERS_BY_NAME_LOCK : AX_SQL_GROUP_WORKERS_BY_NAME, args,
				&rows, err);
		else
			status = ax_sql_list_more(tx,
				for_update ? AX_SQL_WORKER_GROUP_GET_LOCK : AX_SQL_WORKER_GROUP_GET,
				ARGS(TXT(names->at[at]), TXT(group_key)), &rows, err);
	}
	for (int i = 0; status == AX_OK && i < rows.n; i++)
		ax_sql_count_in_worker_group(ax_sql_conn_of(tx), &((struct ax_worker_group *)rows.at)[i]);
	return AX_SQL_GIVE(status, rows, ret_rows);
}

enum ax_status ax_sql_worker_group_add_given(struct ax_tx *tx, const char *worker, const char *group_key, int64_t delta,
	int64_t long_delta, struct ax_err *err)
{
	return ax_sql_count(tx, group_key, worker, delta, long_delta, err);
}

enum ax_status ax_sql_worker_group_routed(struct ax_tx *tx, const struct ax_worker_group *row, struct ax_err *err)
{
	(void)err;
	ax_sql_count_routed(tx, row);
	return AX_OK;
}

enum ax_status ax_sql_worker_group_drop(struct ax_tx *tx, const char *worker, const char *group_key, struct ax_err *err)
{
	enum ax_status status = ax_sql_counts_write(tx, err);
	if (status == AX_OK)
		status = ax_sql_change_any(tx, AX_SQL_WORKER_GROUP_DROP, NULL, ARGS(TXT(worker), TXT(group_key)), err);
	return status;
}

/* servers, accounts, audit log, kept answers */

enum ax_status ax_sql_server_put(struct ax_tx *tx, const struct ax_server_row *server, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_SERVER_PUT, server, NONE, err);
}

enum ax_status ax_sql_servers(struct ax_tx *tx, struct ax_servers *ret_servers, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_SERVERS, NONE, &rows, err);
	return AX_SQL_GIVE(status, rows, ret_servers);
}

enum ax_status ax_sql_server_insert(struct ax_tx *tx, const struct ax_server_row *server, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_SERVER_INSERT, server, NONE, err);
}

enum ax_status ax_sql_server_get(
	struct ax_tx *tx, int64_t number, bool for_update, struct ax_server_row *ret_server, struct ax_err *err)
{
	return ax_sql_get(
		tx, for_update ? AX_SQL_SERVER_GET_LOCK : AX_SQL_SERVER_GET, ARGS(NUM(number)), ret_server, err);
}

enum ax_status ax_sql_server_renew(
	struct ax_tx *tx, const struct ax_server_row *server, int64_t incarnation, struct ax_err *err)
{
	return ax_sql_change(tx, AX_SQL_SERVER_RENEW, NULL,
		ARGS(NUM(server->number), NUM(incarnation), NUM(server->seen_time), NUM(server->lease_time),
			NUM(server->gid_high_ms)),
		AX_SQL_SERVER_EXISTS, ARGS(NUM(server->number)), err);
}

enum ax_status ax_sql_lease_insert(struct ax_tx *tx, const struct ax_lease *lease, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_LEASE_INSERT, lease, NONE, err);
}

enum ax_status ax_sql_lease_get(
	struct ax_tx *tx, const char *name, bool for_update, struct ax_lease *ret_lease, struct ax_err *err)
{
	return ax_sql_get(tx, for_update ? AX_SQL_LEASE_GET_LOCK : AX_SQL_LEASE_GET, ARGS(TXT(name)), ret_lease, err);
}

enum ax_status ax_sql_lease_update(
	struct ax_tx *tx, const struct ax_lease *lease, int64_t old_fence, struct ax_err *err)
{
	return ax_sql_change(tx, AX_SQL_LEASE_UPDATE, NULL,
		ARGS(TXT(lease->name), NUM(old_fence), NUM(lease->holder), NUM(lease->fence), NUM(lease->until_time)),
		AX_SQL_LEASE_EXISTS, ARGS(TXT(lease->name)), err);
}

enum ax_status ax_sql_leases(struct ax_tx *tx, struct ax_leases *ret_leases, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_LEASES, NONE, &rows, err);
	return AX_SQL_GIVE(status, rows, ret_leases);
}

enum ax_status ax_sql_user_insert(struct ax_tx *tx, const struct ax_user *user, int64_t *ret_id, struct ax_err *err)
{
	return ax_sql_insert_next(tx, AX_SQL_USER_INSERT, user, ret_id, err);
}

enum ax_status ax_sql_user_find(struct ax_tx *tx, const char *name, struct ax_user *ret_user, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_USER_FIND, ARGS(TXT(name)), ret_user, err);
}

enum ax_status ax_sql_user_count(struct ax_tx *tx, int64_t *ret_n, struct ax_err *err)
{
	return ax_sql_numbers(tx, AX_SQL_USER_COUNT, NONE, ret_n, 1, err);
}

enum ax_status ax_sql_token_insert(struct ax_tx *tx, const struct ax_token *token, int64_t *ret_id, struct ax_err *err)
{
	return ax_sql_insert_next(tx, AX_SQL_TOKEN_INSERT, token, ret_id, err);
}

enum ax_status ax_sql_token_find(struct ax_tx *tx, const char *hash, struct ax_token *ret_token, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_TOKEN_FIND, ARGS(TXT(hash)), ret_token, err);
}

enum ax_status ax_sql_token_touch(
	struct ax_tx *tx, int64_t id, int64_t last_used_time, int64_t expire_time, struct ax_err *err)
{
	return ax_sql_change_any(
		tx, AX_SQL_TOKEN_TOUCH, NULL, ARGS(NUM(id), NUM(last_used_time), NUM(expire_time)), err);
}

enum ax_status ax_sql_token_delete(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	return ax_sql_change_any(tx, AX_SQL_TOKEN_DELETE, NULL, ARGS(NUM(id)), err);
}

enum ax_status ax_sql_tokens(struct ax_tx *tx, struct ax_tokens *ret_tokens, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_TOKENS, NONE, &rows, err);
	return AX_SQL_GIVE(status, rows, ret_tokens);
}

enum ax_status ax_sql_tokens_expire(struct ax_tx *tx, int64_t now, const char *kind, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_TOKENS_EXPIRE, NULL, ARGS(NUM(now), TXT(kind)), err);
}

enum ax_status ax_sql_audit_append(struct ax_tx *tx, const struct ax_audit_entry *entry, struct ax_err *err)
{
	int64_t id;
	return ax_sql_insert_next(tx, AX_SQL_AUDIT_INSERT, entry, &id, err);
}

enum ax_status ax_sql_audit_page(struct ax_tx *tx, const char *object, const char *actor, int64_t before_id, int limit,
	struct ax_audit_entries *ret_entries, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status;
	if (object == NULL && actor == NULL)
		status = ax_sql_list(tx, AX_SQL_AUDIT_PAGE, ARGS(BEFORE(before_id), LIM(limit)), &rows, err);
	else
		status = ax_sql_list(tx, object != NULL ? AX_SQL_AUDIT_OF_OBJECT : AX_SQL_AUDIT_OF_ACTOR,
			ARGS(BEFORE(before_id), LIM(limit), TXT(object), TXT(actor)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_entries);
}

enum ax_status ax_sql_idem_get(struct ax_tx *tx, const char *key, struct ax_idem *ret_idem, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_IDEM_GET, ARGS(TXT(key)), ret_idem, err);
}

enum ax_status ax_sql_idem_put(struct ax_tx *tx, const struct ax_idem *idem, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_IDEM_PUT, idem, NONE, err);
}

enum ax_status ax_sql_idem_purge(struct ax_tx *tx, int64_t now, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_IDEM_PURGE, NULL, ARGS(NUM(now)), err);
}

/* notices */

enum ax_status ax_sql_notice_insert(struct ax_tx *tx, const struct ax_notice *notice, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_NOTICE_INSERT, notice, NONE, err);
}

enum ax_status ax_sql_notices(struct ax_tx *tx, int64_t server, int64_t after_seq, int limit,
	struct ax_notices *ret_notices, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status =
		ax_sql_list(tx, AX_SQL_NOTICES, ARGS(NUM(server), NUM(after_seq), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_notices);
}

enum ax_status ax_sql_notices_purge(struct ax_tx *tx, int64_t before, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_NOTICES_PURGE, NULL, ARGS(NUM(before)), err);
}
