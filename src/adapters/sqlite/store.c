/* Transactions, batches, readers and checkpoints. */

#include "adapters/sqlite/conn.h"
#include "adapters/sqlite/handle.h"
#include "base/err.h"

enum {
	READ_TIME_MS = 2000,
	IDLE_PAGES = 250,        /* 1 MB: less is not worth a flush of its own */
	WAL_PAGES = 16384,       /* 64 MB of 4 KiB pages */
	WAL_GROWTH_PAGES = 2048, /* 8 MB more before the next attempt, when readers kept the last one from finishing */
	PATIENCE_PAGES = 65536,  /* 256 MB: from here on wait for the readers, which end after 2 s */
	READER_CHECK_STEPS = 1000, /* instructions of SQLite's machine between two looks at the clock */
};

static enum ax_status has_failed(struct ax_sqlite_conn *conn, struct ax_err *err)
{
	return ax_fail(err, AX_UNAVAILABLE, "",
		"the disk under %s failed to write; look at it, then start the server again", conn->path);
}

/* checkpoints */

static void tell(struct ax_sqlite_conn *conn, enum ax_log_level level, const char *event, int code)
{
	if (conn->log == NULL)
		return;
	struct ax_buf fields;
	ax_buf_init(&fields, 4096);
	ax_buf_printf(&fields, "\"code\":%d,\"wal_pages\":%d", code, conn->wal_pages);
	conn->log->ops->event(conn->log, level, event, fields.data);
	ax_buf_done(&fields);
}

static void checkpoint(struct ax_sqlite_conn *conn)
{
	int pages = 0, moved = 0;
	/* Passive waits for nobody, so readers that overlap for ever could keep the WAL growing for ever. */
	int mode = conn->wal_pages < PATIENCE_PAGES ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART;
	int code = sqlite3_wal_checkpoint_v2(conn->db, NULL, mode, &pages, &moved);
	if (code == SQLITE_OK && moved == pages) {
		conn->wal_pages = 0;
		conn->checkpoint_pages = WAL_PAGES;
		return;
	}
	conn->checkpoint_pages = conn->wal_pages + WAL_GROWTH_PAGES;
	if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY)
		return; /* a reader needs the rest; later */
	/* Pages whose flush failed may count as clean now: only opening the file anew, from the WAL, is safe. */
	conn->failed = (code & 0xff) == SQLITE_IOERR;
	tell(conn, AX_LOG_ERROR, "sqlite.checkpoint_failed", code);
}

static int count_pages(void *arg, sqlite3 *db, const char *name, int pages)
{
	(void)db, (void)name;
	((struct ax_sqlite_conn *)arg)->wal_pages = pages;
	return SQLITE_OK;
}

void ax_sqlite_idle(struct ax_sqlite *db)
{
	struct ax_sqlite_conn *conn = &db->conn;
	if (!conn->in_batch && !conn->failed && conn->wal_pages >= IDLE_PAGES)
		checkpoint(conn);
}

/* the writer */

static bool is_rolled_back(struct ax_sqlite_conn *conn)
{
	return sqlite3_get_autocommit(conn->db) != 0;
}

static void roll_back(struct ax_sqlite_conn *conn)
{
	struct ax_err ignored;
	if (!is_rolled_back(conn))
		ax_sqlite_control(conn, AX_SQLITE_ROLLBACK, &ignored);
}

static enum ax_status commit(struct ax_sqlite_conn *conn, struct ax_err *err)
{
	enum ax_status status = ax_sqlite_control(conn, AX_SQLITE_COMMIT, err);
	if (status != AX_OK) {
		roll_back(conn);
		if (status == AX_UNAVAILABLE) {
			/* The commit may be in the WAL or not: only opening the file anew tells. */
			conn->failed = true;
			return ax_fail(err, AX_UNCERTAIN, "",
				"%s could not be flushed: the last changes may be in it or not", conn->path);
		}
		return status;
	}
	if (conn->wal_pages >= conn->checkpoint_pages)
		checkpoint(conn);
	return AX_OK;
}

static enum ax_status try_alone(
	struct ax_sqlite_conn *conn, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	enum ax_status status = ax_sqlite_control(conn, AX_SQLITE_BEGIN, err);
	if (status != AX_OK)
		return status;
	status = ax_sql_call(&conn->sql, arena, fn, arg, err);
	if (status == AX_OK)
		return commit(conn, err);
	roll_back(conn);
	return status;
}

/* Keeps the member's changes or undoes them; false when that failed and only undoing the whole batch is left. */
static bool end_member(struct ax_sqlite_conn *conn, bool keep, struct ax_err *err)
{
	if (is_rolled_back(conn))
		return false; /* some failures (disk full, I/O) make SQLite undo everything */
	if (!keep && ax_sqlite_control(conn, AX_SQLITE_MEMBER_ROLLBACK, err) != AX_OK)
		return false;
	return ax_sqlite_control(conn, AX_SQLITE_MEMBER_COMMIT, err) == AX_OK;
}

static enum ax_status try_as_member(
	struct ax_sqlite_conn *conn, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	if (conn->batch_lost != AX_OK)
		return ax_fail(err, conn->batch_lost, "", "an earlier failure undid the whole batch");
	enum ax_status status = ax_sqlite_control(conn, AX_SQLITE_MEMBER_BEGIN, err);
	if (status != AX_OK)
		return status;
	status = ax_sql_call(&conn->sql, arena, fn, arg, err);
	struct ax_err why;
	if (!end_member(conn, status == AX_OK, &why)) {
		roll_back(conn);
		conn->batch_lost = conn->sql.doomed != AX_OK ? conn->sql.doomed : AX_UNAVAILABLE;
		if (status == AX_OK)
			status = ax_fail(err, conn->batch_lost, "", "%s", why.msg);
	}
	return status;
}

static enum ax_status run_writer(
	struct ax_store *port, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_sqlite_conn *conn = (struct ax_sqlite_conn *)(void *)port;
	AX_ASSERT(!conn->sql.in_transaction);
	if (conn->failed)
		return has_failed(conn, err);
	for (conn->sql.direct = false;; conn->sql.direct = true) {
		conn->sql.collided = false;
		enum ax_status status = conn->in_batch ? try_as_member(conn, arena, fn, arg, err)
						       : try_alone(conn, arena, fn, arg, err);
		if (!conn->sql.collided)
			return status;
	}
}

enum ax_status ax_sqlite_batch_begin(struct ax_sqlite *db, struct ax_err *err)
{
	struct ax_sqlite_conn *conn = &db->conn;
	AX_ASSERT(!conn->sql.in_transaction && !conn->in_batch);
	if (conn->failed)
		return has_failed(conn, err);
	enum ax_status status = ax_sqlite_control(conn, AX_SQLITE_BEGIN, err);
	conn->in_batch = status == AX_OK;
	conn->batch_lost = AX_OK;
	return status;
}

enum ax_status ax_sqlite_batch_commit(struct ax_sqlite *db, struct ax_err *err)
{
	struct ax_sqlite_conn *conn = &db->conn;
	AX_ASSERT(!conn->sql.in_transaction && conn->in_batch);
	conn->in_batch = false;
	if (conn->batch_lost != AX_OK)
		return ax_fail(err, conn->batch_lost, "", "a failure of one member undid the whole batch");
	return commit(conn, err);
}

/* readers */

static int is_out_of_time(void *arg)
{
	return ax_sqlite_mono_ms() > ((struct ax_sqlite_conn *)arg)->until_mono_ms;
}

static enum ax_status run_reader(
	struct ax_store *port, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_sqlite_conn *conn = (struct ax_sqlite_conn *)(void *)port;
	AX_ASSERT(!conn->sql.in_transaction);
	conn->until_mono_ms = INT64_MAX;
	enum ax_status status = ax_sqlite_control(conn, AX_SQLITE_BEGIN_READ, err);
	if (status != AX_OK)
		return status;
	conn->until_mono_ms = ax_sqlite_mono_ms() + READ_TIME_MS;
	status = ax_sql_call(&conn->sql, arena, fn, arg, err);
	conn->until_mono_ms = INT64_MAX;
	roll_back(conn);
	return status;
}

static const struct ax_store_ops writer_ops = { run_writer }, reader_ops = { run_reader };

void ax_sqlite_use_as_writer(struct ax_sqlite_conn *conn)
{
	conn->sql.port.ops = &writer_ops;
	conn->sql.port.sole = true; /* by the lock on its file */
	conn->checkpoint_pages = WAL_PAGES;
	sqlite3_wal_autocheckpoint(conn->db, 0);
	sqlite3_wal_hook(conn->db, count_pages, conn);
}

void ax_sqlite_use_as_reader(struct ax_sqlite_conn *conn)
{
	conn->sql.port.ops = &reader_ops;
	conn->reader = true;
	conn->until_mono_ms = INT64_MAX;
	sqlite3_progress_handler(conn->db, READER_CHECK_STEPS, is_out_of_time, conn);
}

bool ax_sqlite_has_failed(const struct ax_sqlite *db)
{
	return db->conn.failed;
}

struct ax_store *ax_sqlite_store(struct ax_sqlite *db)
{
	return &db->conn.sql.port;
}

struct ax_store *ax_sqlite_reader_store(struct ax_sqlite_reader *reader)
{
	return &reader->conn.sql.port;
}
