#include "check/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/attr.h"
#include "check/copy.h"

enum {
	SETTLE_MS = 10000,        /* a fire is dealt with by then */
	UP_FOR_MS = 30000,        /* what a server needs after its start to have dealt with everything that was due */
	RETENTION_MS = 604800000, /* runs are kept for 7 days at least */
};

/* ---- statements ---- */

enum ax_status ax_check_prepare(
	const struct ax_check_store *store, const char *sql, sqlite3_stmt **ret, struct ax_err *err)
{
	if (sqlite3_prepare_v2(store->db, sql, -1, ret, NULL) == SQLITE_OK)
		return AX_OK;
	return ax_fail(err, AX_BROKEN, "", "the store cannot be read: %s", sqlite3_errmsg(store->db));
}

bool ax_check_step(sqlite3_stmt *stmt, enum ax_status *status, struct ax_err *err)
{
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		return true;
	*status = rc == SQLITE_DONE
		? AX_OK
		: ax_fail(err, AX_BROKEN, "", "the store cannot be read: %s", sqlite3_errmsg(sqlite3_db_handle(stmt)));
	return false;
}

const char *ax_check_column_text(struct ax_arena *arena, sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	return ax_strdup(arena, text ? text : "");
}

/* The first column of the first row; NULL is 0. */
static enum ax_status read_number(const struct ax_check_store *store, const char *sql, int64_t *ret, struct ax_err *err)
{
	sqlite3_stmt *stmt;
	enum ax_status status = ax_check_prepare(store, sql, &stmt, err);
	if (status != AX_OK)
		return status;
	if (ax_check_step(stmt, &status, err))
		*ret = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return status;
}

/* ---- opening ---- */

static enum ax_status take_lock(const char *path, int *ret_fd, struct ax_err *err)
{
	struct ax_arena scratch = { 0 };
	const char *lock_path = ax_sprintf(&scratch, "%s-lock", path);
	enum ax_status status = AX_OK;
	int fd = open(lock_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno != ENOENT) /* a file that no server ever opened has none, and none is left behind */
		status = ax_fail(
			err, AX_UNAVAILABLE, "store", "the lock %s cannot be opened: %s", lock_path, strerror(errno));
	else if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0) {
		status = ax_fail(err, AX_BUSY, "store",
			"a server has this store open: stop it first, or use `axctl audit`, which asks the server");
		close(fd);
	}
	ax_arena_done(&scratch);
	if (status == AX_OK)
		*ret_fd = fd;
	return status;
}

/* Until when the store lived, and whether its last server had had the time to settle what was due. */
static enum ax_status read_life(struct ax_check_store *store, struct ax_err *err)
{
	int64_t started_ms = 0;
	enum ax_status status = read_number(store,
		"SELECT max(t) FROM (SELECT max(seen_time) AS t FROM ax_server"
		" UNION ALL SELECT max(create_time) FROM ax_task_log UNION ALL SELECT max(end_time) FROM ax_task_log"
		" UNION ALL SELECT max(last_trigger_time) FROM ax_task UNION ALL SELECT max(from_time) FROM"
		" ax_schedule_epoch)",
		&store->time_ms, err);
	if (status == AX_OK)
		status = read_number(store, "SELECT max(start_time) FROM ax_server", &started_ms, err);
	store->settled = store->time_ms - started_ms >= UP_FOR_MS;
	return status;
}

static enum ax_status open_file(const char *path, struct ax_check_store *store, struct ax_err *err)
{
	char real[PATH_MAX]; /* a server's lock stands beside it, whatever link leads there */
	if (access(path, R_OK) != 0 || realpath(path, real) == NULL)
		return ax_fail(err, AX_NOT_FOUND, "store", "%s cannot be read: %s", path, strerror(errno));
	enum ax_status status = take_lock(real, &store->lock_fd, err);
	if (status != AX_OK)
		return status;
	if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
		sqlite3_exec(store->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return ax_fail(err, AX_BROKEN, "store", "%s cannot be opened: %s", path, sqlite3_errmsg(store->db));
	return AX_OK;
}

/* An unnamed file that goes with the process: a history may be larger than memory. */
static enum ax_status open_copy(
	const char *url, const char *password_file, struct ax_check_store *store, struct ax_err *err)
{
	if (sqlite3_open_v2("", &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
		return ax_fail(err, AX_BROKEN, "store", "no copy can be made: %s", sqlite3_errmsg(store->db));
	return ax_check_copy(url, password_file, store->db, err);
}

enum ax_status ax_check_store_open(
	const char *url, const char *password_file, struct ax_check_store *ret, struct ax_err *err)
{
	struct ax_check_store store = { .lock_fd = -1 };
	enum ax_status status = strncmp(url, "sqlite:", 7) == 0 ? open_file(url + 7, &store, err)
								: open_copy(url, password_file, &store, err);
	if (status == AX_OK)
		status = read_life(&store, err);
	if (status == AX_OK)
		*ret = store;
	else
		ax_check_store_close(&store);
	return status;
}

void ax_check_store_close(struct ax_check_store *store)
{
	sqlite3_close(store->db);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	*store = (struct ax_check_store){ .lock_fd = -1 };
}

/* ---- the window ---- */

enum ax_status ax_check_store_window(const struct ax_check_store *store, int64_t now_ms, int64_t *ret_from_ms,
	int64_t *ret_to_ms, struct ax_err *err)
{
	int64_t oldest_epoch_ms = 0, oldest_run_ms = 0, next_ms = 0;
	enum ax_status status =
		read_number(store, "SELECT min(from_time) FROM ax_schedule_epoch", &oldest_epoch_ms, err);
	if (status == AX_OK)
		status = read_number(
			store, "SELECT trigger_time FROM ax_task_log ORDER BY gid LIMIT 1", &oldest_run_ms, err);
	if (status == AX_OK)
		status = read_number(store,
			"SELECT min(next_trigger_time) FROM ax_task WHERE status = 1 AND next_trigger_time > 0",
			&next_ms, err);
	if (status != AX_OK)
		return status;
	int64_t to_ms = AX_MIN(now_ms, store->time_ms) - SETTLE_MS;
	if (!store->settled && next_ms > 0)
		to_ms = AX_MIN(to_ms, next_ms);
	int64_t kept_ms = to_ms - RETENTION_MS;
	if (oldest_run_ms > 0)
		kept_ms = AX_MIN(kept_ms, oldest_run_ms);
	*ret_from_ms = AX_MAX(AX_MAX(oldest_epoch_ms, kept_ms), 0);
	*ret_to_ms = AX_MAX(to_ms, *ret_from_ms);
	return AX_OK;
}

/* ---- feeding the audit ---- */

struct feed {
	sqlite3_stmt *tasks, *epochs, *runs;
	struct ax_arena arena; /* of one task */
	int64_t from_ms, to_ms;
	bool has_run; /* `runs` stands at a row */
};

static const char tasks_sql[] =
	"SELECT d.task_id, coalesce(t.task_name, '(deleted)'), coalesce(t.next_trigger_time, -1),"
	" d.task_id IN (SELECT task_id FROM ax_task_log WHERE status < 10)"
	" FROM (SELECT task_id FROM ax_schedule_epoch UNION SELECT task_id FROM ax_task_log WHERE kind IN (1, 2)) d"
	" LEFT JOIN ax_task t ON t.id = d.task_id WHERE ?1 = 0 OR d.task_id = ?1 ORDER BY d.task_id";

static const char epochs_sql[] =
	"SELECT e.from_time, e.enabled, e.cron_expr, e.dialect, e.time_zone, e.anchor_time, e.calendar <> '',"
	" e.calendar_mode, e.valid_from, e.valid_until, e.jitter_ms, v.week, v.days FROM ax_schedule_epoch e"
	" LEFT JOIN ax_calendar_version v ON e.calendar <> '' AND v.name = e.calendar AND v.version = "
	"e.calendar_version"
	" WHERE e.task_id = ?1 ORDER BY e.id";

/* Of all tasks, read along with them: to look for each task's would read all runs for each task. Keys that are no
 * number cast to 0; their trigger time tells where they belong. */
static const char runs_sql[] =
	"SELECT gid, kind, fire_key, shard, status, trigger_time, end_time, covers_from, covers_to, covers_count,"
	" made_up, rerun_of, task_id FROM ax_task_log WHERE (?1 = 0 OR task_id = ?1) AND kind IN (1, 2) AND ("
	" (trigger_time >= ?2 AND trigger_time < ?3)"
	" OR (CAST(fire_key AS INTEGER) >= ?2 AND CAST(fire_key AS INTEGER) < ?3)"
	" OR (covers_to >= ?2 AND covers_from < ?3)) ORDER BY task_id, gid";

const struct ax_check_calendar *ax_check_column_calendar(struct ax_arena *arena, sqlite3_stmt *stmt, int column)
{
	struct ax_check_calendar *calendar = ax_alloc(arena, sizeof(*calendar));
	calendar->week = sqlite3_column_int64(stmt, column);
	if (sqlite3_column_type(stmt, column + 1) == SQLITE_TEXT)
		calendar->days = ax_check_column_text(arena, stmt, column + 1);
	return calendar;
}

static enum ax_status read_epochs(struct feed *feed, struct ax_check_task *task, struct ax_err *err)
{
	struct ax_check_epoch *at = NULL;
	size_t n = 0, room = 0;
	enum ax_status status = AX_OK;
	sqlite3_reset(feed->epochs);
	sqlite3_bind_int64(feed->epochs, 1, task->id);
	while (ax_check_step(feed->epochs, &status, err)) {
		at = ax_grow_array(&feed->arena, at, n, 1, &room, sizeof(*at));
		at[n++] = (struct ax_check_epoch){
			.from_time = sqlite3_column_int64(feed->epochs, 0),
			.enabled = sqlite3_column_int(feed->epochs, 1) != 0,
			.cron_expr = ax_check_column_text(&feed->arena, feed->epochs, 2),
			.dialect = sqlite3_column_int(feed->epochs, 3),
			.time_zone = ax_check_column_text(&feed->arena, feed->epochs, 4),
			.anchor_time = sqlite3_column_int64(feed->epochs, 5),
			.calendar = sqlite3_column_int(feed->epochs, 6) != 0
				? ax_check_column_calendar(&feed->arena, feed->epochs, 11)
				: NULL,
			.calendar_excludes = sqlite3_column_int(feed->epochs, 7) == 1,
			.valid_from = sqlite3_column_int64(feed->epochs, 8),
			.valid_until = sqlite3_column_int64(feed->epochs, 9),
			.jitter_ms = sqlite3_column_int64(feed->epochs, 10),
		};
	}
	task->epochs = at;
	task->n_epochs = n;
	return status;
}

static enum ax_status read_runs(struct feed *feed, struct ax_check_task *task, struct ax_err *err)
{
	struct ax_check_run *at = NULL;
	size_t n = 0, room = 0;
	enum ax_status status = AX_OK;
	while (status == AX_OK && feed->has_run && sqlite3_column_int64(feed->runs, 12) == task->id) {
		at = ax_grow_array(&feed->arena, at, n, 1, &room, sizeof(*at));
		at[n++] = (struct ax_check_run){
			.gid = sqlite3_column_int64(feed->runs, 0),
			.kind = sqlite3_column_int(feed->runs, 1),
			.fire_key = ax_check_column_text(&feed->arena, feed->runs, 2),
			.shard = sqlite3_column_int64(feed->runs, 3),
			.status = sqlite3_column_int(feed->runs, 4),
			.trigger_time = sqlite3_column_int64(feed->runs, 5),
			.end_time = sqlite3_column_int64(feed->runs, 6),
			.covers_from = sqlite3_column_int64(feed->runs, 7),
			.covers_to = sqlite3_column_int64(feed->runs, 8),
			.covers_count = sqlite3_column_int64(feed->runs, 9),
			.made_up = sqlite3_column_int(feed->runs, 10) != 0,
			.rerun_of = sqlite3_column_int64(feed->runs, 11),
		};
		feed->has_run = ax_check_step(feed->runs, &status, err);
	}
	task->runs = at;
	task->n_runs = n;
	return status;
}

static enum ax_status feed_tasks(
	struct feed *feed, struct ax_check_audit *audit, int64_t only_task_id, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	sqlite3_bind_int64(feed->tasks, 1, only_task_id);
	sqlite3_bind_int64(feed->runs, 1, only_task_id);
	sqlite3_bind_int64(feed->runs, 2, feed->from_ms);
	sqlite3_bind_int64(feed->runs, 3, feed->to_ms);
	feed->has_run = ax_check_step(feed->runs, &status, err);
	while (status == AX_OK && ax_check_step(feed->tasks, &status, err)) {
		struct ax_check_task task = {
			.id = sqlite3_column_int64(feed->tasks, 0),
			.name = ax_check_column_text(&feed->arena, feed->tasks, 1),
			.next_trigger_time = sqlite3_column_int64(feed->tasks, 2),
			.live = sqlite3_column_int(feed->tasks, 3) != 0,
		};
		status = read_epochs(feed, &task, err);
		/* with jitter a fire is due later than it is: what is not due yet is not judged */
		if (task.n_epochs > 0 && task.next_trigger_time >= feed->to_ms)
			task.under_way_from = task.next_trigger_time - task.epochs[task.n_epochs - 1].jitter_ms;
		if (status == AX_OK)
			status = read_runs(feed, &task, err);
		if (status != AX_OK)
			break;
		ax_check_audit_task(audit, &task);
		ax_arena_reset(&feed->arena);
	}
	return status;
}

enum ax_status ax_check_store_feed(const struct ax_check_store *store, struct ax_check_audit *audit, int64_t from_ms,
	int64_t to_ms, int64_t only_task_id, struct ax_err *err)
{
	struct feed feed = { .from_ms = from_ms, .to_ms = to_ms };
	enum ax_status status = ax_check_prepare(store, tasks_sql, &feed.tasks, err);
	if (status == AX_OK)
		status = ax_check_prepare(store, epochs_sql, &feed.epochs, err);
	if (status == AX_OK)
		status = ax_check_prepare(store, runs_sql, &feed.runs, err);
	if (status == AX_OK)
		status = feed_tasks(&feed, audit, only_task_id, err);
	sqlite3_finalize(feed.tasks);
	sqlite3_finalize(feed.epochs);
	sqlite3_finalize(feed.runs);
	ax_arena_done(&feed.arena);
	return status;
}
