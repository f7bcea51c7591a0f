/* No hot query may grow with history: the plan of every statement, and the work of the hot ones over few and over many
 * finished runs. */

#include <stdio.h>

#include "adapters/sqlite/handle.h"
#include "fixture.h"

enum { SMALL = 2000, LARGE = 200000, BATCH = 5000 };

/* Statements that look at all rows of a table that stays small. */
static bool reads_a_small_table(enum ax_sql_id id)
{
	return id == AX_SQL_GROUPS || id == AX_SQL_WORKERS || id == AX_SQL_WORKER_GROUPS || id == AX_SQL_SERVERS ||
		id == AX_SQL_LEASES || id == AX_SQL_TOKENS || id == AX_SQL_USER_COUNT || id == AX_SQL_CHANNELS ||
		id == AX_SQL_CALENDARS;
}

/* "SCAN t" without an index reads a table; with an index it reads those rows only that the index holds, which is what
 * partial indexes are for; that of the tasks' status grows with the tasks alone. Ended runs are in no index that may be
 * scanned whole. */
static bool is_fine(enum ax_sql_id id, const char *step)
{
	static const char *const partial[] = { "ax_task_log_open", "ax_task_log_given", "ax_task_log_deadline",
		"ax_task_log_looked", "ax_task_due", "ax_task_stuck", "ax_task_status", "ax_alert_open_list",
		"ax_alert_outbox_due", "ax_alert_outbox_turn", "ax_failure_unfolded", "ax_task_absence",
		"ax_backfill_open", "ax_task_ending" };
	if (strstr(step, "TEMP B-TREE") != NULL || strstr(step, "AUTOMATIC") != NULL)
		return false;
	if (strncmp(step, "SCAN", 4) != 0 || strstr(step, "CONSTANT ROW") != NULL)
		return true;
	if (strstr(step, "(subquery-") != NULL) /* what it reads is a step of its own */
		return true;
	if (reads_a_small_table(id))
		return true;
	for (size_t i = 0; i < AX_COUNT(partial); i++) {
		const char *index = strstr(step, partial[i]);
		if (index != NULL && index[strlen(partial[i])] == '\0')
			return true;
	}
	return false;
}

static void explain(struct fixture *f, enum ax_sql_id id)
{
	const struct ax_sql_text *text = &ax_sqlite_texts()[id];
	char *sql = text->row == NULL ? strdup(text->text) : ax_sql_expand(text->row, "", text->text);
	char *question = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
	sqlite3_stmt *stmt;
	if (sqlite3_prepare_v2(f->sqlite->conn.db, question, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", ax_sql_name(id), sqlite3_errmsg(f->sqlite->conn.db));
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *step = (const char *)sqlite3_column_text(stmt, 3);
		if (!is_fine(id, step))
			fail_msg("%s: %s", ax_sql_name(id), step);
	}
	sqlite3_finalize(stmt);
	sqlite3_free(question);
	free(sql);
}

/* B151, B153, R19 */
static void test_no_plan_scans_or_sorts(void **state)
{
	for (int id = 0; id < AX_SQL_COUNT; id++)
		explain(*state, (enum ax_sql_id)id);
}

/* Indexes in which a statement may move a row. */
static int count_moves(struct fixture *f, enum ax_sql_id id)
{
	char *sql = ax_sql_expand(&ax_run_row, "", ax_sqlite_texts()[id].text);
	char *question = sqlite3_mprintf("EXPLAIN %s", sql);
	sqlite3_stmt *stmt;
	int n = 0;
	assert_int_equal(sqlite3_prepare_v2(f->sqlite->conn.db, question, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		n += strcmp((const char *)sqlite3_column_text(stmt, 1), "IdxDelete") == 0;
	sqlite3_finalize(stmt);
	sqlite3_free(question);
	free(sql);
	return n;
}

/* A change leaves the indexes alone that it does not concern: a heartbeat moves a deadline. */
static void test_steps_move_little(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(count_moves(f, AX_SQL_RUN_RENEWED), 1);
	/* Deadline and watch; by the status: waiting, undispatched, undecided, ended, shards. */
	assert_int_equal(count_moves(f, AX_SQL_RUN_BEGUN), 7);
	assert_true(count_moves(f, AX_SQL_RUN_GIVEN) < count_moves(f, AX_SQL_RUN_ENDED));
}

struct range {
	int64_t first, n;
};

static enum ax_status add_history(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct range *range = arg;
	enum ax_status status = AX_OK;
	for (int64_t gid = range->first; status == AX_OK && gid < range->first + range->n; gid++) {
		struct ax_run run = plain_run(gid, 1 + gid % 50);
		run.spread = gid % 4 != 0 ? AX_SPREAD_SHARDS : AX_SPREAD_NONE;
		run.shard = gid % 4 > 1 ? gid % 4 - 1 : 0; /* 1 is a parent, 2 and 3 its shards */
		run.parent = run.shard > 0 ? gid - run.shard : 0;
		run.status = AX_RUN_SUCCESS;
		run.trigger_time = run.create_time = run.end_time = gid;
		run.worker = "w1";
		status = tx->ops->run_insert(tx, &run, err);
	}
	return status;
}

static void grow(struct fixture *f, int64_t from, int64_t to)
{
	struct ax_err err;
	for (struct range range = { from, BATCH }; range.first < to; range.first += range.n) {
		range.n = AX_MIN(BATCH, to - range.first);
		assert_int_equal(ax_store_run(f->store, &f->arena, add_history, &range, &err), AX_OK);
		ax_arena_reset(&f->arena);
	}
}

enum { NEW = 1000000000 }; /* gids of the runs in these transactions */

/* A working set: 50 tasks, some live runs. */
static void prepare(struct ax_tx *tx, struct ax_err *err)
{
	static char names[50][8];
	struct ax_group group = plain_group("g");
	OK(group_insert, &group);
	OK(worker_group_put, "w1", "g", 50);
	for (int i = 0; i < 50; i++) {
		snprintf(names[i], sizeof(names[i]), "t%d", i);
		struct ax_task task = plain_task("g", names[i]);
		task.next_trigger_time = 1000 + i;
		OK(task_insert, &task, &task.id);
	}
	for (int i = 0; i < 200; i++) {
		struct ax_run run = plain_run(NEW + i, 1 + i % 50);
		run.status = (enum ax_run_state)(i % 5);
		run.worker = run.status == AX_RUN_RUNNING || run.status == AX_RUN_DISPATCHED ? "w1" : "";
		run.cancel = i % 20 == 3 ? AX_CANCEL_ASKED : AX_CANCEL_NONE;
		run.deadline_time = i;
		OK(run_insert, &run);
		run = plain_run(NEW + 500 + i, 1);
		run.parent = NEW;
		run.shard = 1 + i;
		run.status = i % 2 == 0 ? AX_RUN_SUCCESS : AX_RUN_WAITING;
		OK(run_insert, &run);
	}
}

/* Everything that a busy server does all the time. */
static enum ax_status be_busy(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_tasks tasks;
	struct ax_runs runs;
	struct ax_dues dues;
	struct ax_run run = plain_run(NEW + 1000, 1);
	struct ax_task task;
	struct ax_run_filter page = { .limit = 20, .scan_limit = 200 },
			     live = { .live = true, .limit = 20, .scan_limit = 200 };
	struct ax_run_filter of_task = { .task_id = 1, .limit = 20, .scan_limit = 200 }, live_of_task = of_task;
	struct ax_worker_groups parts;
	struct ax_failures failures;
	struct ax_failure failure;
	struct ax_run_filter of_parent = { .parent = NEW, .limit = 20, .scan_limit = 200 };
	int64_t number, counts[32];
	int deleted;
	(void)arg;
	live_of_task.live = true;
	OK(task_next_due, &number);
	OK(tasks_due, 1010, 20, &tasks);
	OK(tasks_stuck, 10, &tasks);
	OK(tasks_ending, 10, &tasks);
	OK(task_get, 1, true, &task);
	OK(task_advance, &task, task.next_trigger_time);
	OK(task_last_run, &task);
	OK(tasks_absent, 5, 0, 20, &tasks);
	OK(run_insert, &run);
	OK(run_get, run.gid, true, &run);
	OK(run_find, 1, run.kind, run.fire_key, 0, &run);
	OK(runs_live, 1, true, 20, &runs);
	OK(runs_live_count, 1, 20, &number);
	OK(runs_pending, 1, 20, &runs);
	OK(runs_held, 1, 20, &runs);
	OK(run_next_queue, "g", "", AX_RUN_LANE_AUTO, "", &run);
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "", INT64_MIN, 0, 20, &runs);
	OK(runs_undispatched, 100, 0, 0, 20, &runs);
	OK(runs_undecided, 1, 20, &runs);
	OK(runs_looked, 1, 20, &runs);
	OK(shards, NEW, false, true, 0, 20, &runs);
	OK(shards, NEW, true, true, 0, 20, &runs);
	OK(shard_counts, NEW, counts);
	OK(runs_overdue, 100, 50, 20, &runs);
	OK(runs_by_gid, &(struct ax_ids){ (const int64_t[]){ NEW, NEW + 1 }, 2 }, &runs);
	OK(runs_ahead, 5, 5, 100, 20, &dues);
	OK(tasks_by_id, &(struct ax_ids){ (const int64_t[]){ 1, 2 }, 2 }, &tasks);
	OK(tasks_ahead, 5, 5, 1010, 20, &dues);
	struct ax_canary canary = {
		.task_id = 1, .durations = "", .base_durations = "", .started_by = "", .ended_by = "", .reason = ""
	};
	OK(canary_put, &canary);
	OK(canary_get, 1, &canary);
	OK(runs_watched, 100, 20, &runs);
	GIVES(AX_CONFLICT, run_set_due, &run, 77);
	OK(run_next_deadline, &number);
	OK(runs_of_worker, "w1", 20, &runs);
	OK(runs_to_stop, &(struct ax_names){ (const char *const[]){ "w1" }, 1 }, 20, &runs);
	run.status = AX_RUN_RUNNING;
	run.fence = 1;
	OK(run_update, &run, 0);
	OK(run_renew, run.gid, 1, 5, 6);
	run.status = AX_RUN_SUCCESS;
	OK(run_update, &run, 2);
	OK(group_add_running, "g", 1, 0);
	OK(worker_group_add_given, "w1", "g", 1, 0);
	OK(group_workers, "g", &parts);
	OK(worker_group_routed, &parts.at[0]);
	OK(group_waiting, "g", &number);
	OK(group_given, "g", &parts);
	OK(runs_page, &page, &runs, &number);
	OK(runs_page, &live, &runs, &number);
	OK(runs_page, &of_task, &runs, &number);
	OK(runs_page, &live_of_task, &runs, &number);
	OK(runs_page, &of_parent, &runs, &number);
	OK(failures_unfolded, 20, &failures);
	GIVES(AX_NOT_FOUND, failure_get, run.gid, &failure);
	OK(runs_purge, 50, 20, &deleted);
	return ax_fail(err, AX_INVALID, "", "undone, so that it can be done again");
}

/* Instructions of SQLite's machine that each statement took. */
static void measure(struct fixture *f, int ret_steps[AX_SQL_COUNT])
{
	struct ax_err err;
	for (int id = 0; id < AX_SQL_COUNT; id++) {
		if (f->sqlite->conn.statements[id] != NULL)
			sqlite3_stmt_status(f->sqlite->conn.statements[id], SQLITE_STMTSTATUS_VM_STEP, 1);
	}
	assert_int_equal(ax_store_run(f->store, &f->arena, be_busy, NULL, &err), AX_INVALID);
	for (int id = 0; id < AX_SQL_COUNT; id++) {
		sqlite3_stmt *stmt = f->sqlite->conn.statements[id];
		ret_steps[id] = stmt == NULL ? 0 : sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
	}
}

/* B151 */
static void test_history_costs_nothing(void **state)
{
	struct fixture *f = *state;
	static int few[AX_SQL_COUNT], many[AX_SQL_COUNT];
	int measured = 0;
	in_transaction(f, prepare);
	grow(f, 1, SMALL);
	measure(f, few);
	grow(f, SMALL, LARGE);
	measure(f, many);
	for (int id = 0; id < AX_SQL_COUNT; id++) {
		measured += few[id] > 0;
		if (many[id] > few[id])
			fail_msg("%s: %d steps over %d finished runs, %d over %d", ax_sql_name((enum ax_sql_id)id),
				few[id], SMALL, many[id], LARGE);
	}
	assert_true(measured > 30);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_sqlite_up, fixture_down)
	const struct CMUnitTest tests[] = {
		TEST(test_no_plan_scans_or_sorts),
		TEST(test_steps_move_little),
		TEST(test_history_costs_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
