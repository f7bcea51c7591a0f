/* Transactions: begun, called, committed; and called again when they were undone by chance. */

#include <errno.h>
#include <mysqld_error.h>
#include <string.h>
#include <time.h>

#include "adapters/mariadb/conn.h"
#include "base/err.h"
#include "base/num.h"

enum {
	TRIES = 5,
	FIRST_PAUSE_MS = 5, /* doubled at each try, and shortened by chance: those who met must not meet again */
	TRY_MS = 5000,      /* no try begins after this: a database that hangs has held the thread long enough */
};

static int64_t mono_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_before(const struct ax_mariadb_conn *conn, int try)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t chance = ax_mix64((uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)conn);
	int64_t most_us = INT64_C(1000) * FIRST_PAUSE_MS << (try - 1);
	int64_t us = most_us / 2 + (int64_t)(chance % (uint64_t)(most_us / 2));
	struct timespec pause = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
	while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
		continue;
}

/* A statement of the connection's own; its failure ends the transaction. */
static enum ax_status control(struct ax_mariadb_conn *conn, const char *text, struct ax_err *err)
{
	if (ax_mariadb_do(conn->mysql, text))
		return AX_OK;
	return ax_mariadb_fail(conn, mysql_errno(conn->mysql), mysql_error(conn->mysql), NULL, err);
}

/* Each saves a trip: a writer's transaction begins by itself with its first statement (autocommit is off), and the
 * isolation is set only when it differs from that of the last transaction. */
static enum ax_status begin(struct ax_mariadb_conn *conn, bool reader, struct ax_err *err)
{
	enum ax_status status = ax_mariadb_revive(conn, err);
	if (status == AX_OK && reader != conn->snapshots) {
		status = control(conn,
			reader ? "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"
			       : "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
			err);
		conn->snapshots = status == AX_OK ? reader : conn->snapshots;
	}
	if (status == AX_OK && reader)
		status = control(conn, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", err);
	if (status == AX_OK && !reader)
		status = ax_mariadb_watch(conn, err);
	return status;
}

/* Whatever cannot be undone for sure is undone by ending the session. */
static void roll_back(struct ax_mariadb_conn *conn)
{
	if (!conn->lost && !ax_mariadb_do(conn->mysql, "ROLLBACK"))
		conn->lost = true;
}

/* A database that became read-only meanwhile commits nothing. */
static bool is_refused(unsigned code)
{
	return code == ER_OPTION_PREVENTS_STATEMENT || code == ER_READ_ONLY_MODE;
}

static enum ax_status commit(struct ax_mariadb_conn *conn, struct ax_err *err)
{
	if (ax_mariadb_do(conn->mysql, "COMMIT"))
		return AX_OK;
	unsigned code = mysql_errno(conn->mysql);
	enum ax_status status = ax_mariadb_fail(conn, code, mysql_error(conn->mysql), NULL, err);
	if (ax_mariadb_fault_of(code) == AX_MARIADB_AGAIN || is_refused(code)) {
		roll_back(conn);
		return status;
	}
	conn->lost = true;
	conn->again = false;
	return ax_fail(err, AX_UNCERTAIN, "",
		"the database was lost at the commit: the last changes may be in it or not (%u)", code);
}

static enum ax_mariadb_undone undone_by(unsigned code)
{
	if (code == ER_LOCK_DEADLOCK)
		return AX_MARIADB_BY_DEADLOCK;
	if (code == ER_LOCK_WAIT_TIMEOUT)
		return AX_MARIADB_BY_LOCK_WAIT;
	return ax_mariadb_fault_of(code) == AX_MARIADB_LOST ? AX_MARIADB_BY_CONNECTION : AX_MARIADB_BY_OTHERS;
}

int64_t ax_mariadb_undone(struct ax_mariadb *db, enum ax_mariadb_undone by)
{
	return db->undone[by];
}

/* By what the transaction ended with; a session that could not even be told to undo it says so itself. */
static void tell_lost(struct ax_mariadb_conn *conn)
{
	unsigned code = conn->why_code;
	ax_mariadb_tell(conn->db, AX_LOG_WARN, "mariadb.connection_lost", code != 0 ? code : mysql_errno(conn->mysql),
		code != 0 ? conn->why.msg : mysql_error(conn->mysql));
}

static enum ax_status try_once(
	struct ax_mariadb_conn *conn, bool reader, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	conn->lost = conn->again = false;
	conn->why_code = 0;
	enum ax_status status = begin(conn, reader, err);
	if (status == AX_OK) {
		conn->sql.direct = false;
		status = ax_sql_call(&conn->sql, arena, fn, arg, err);
		if (conn->sql.collided && !conn->lost) {
			roll_back(conn);
			conn->sql.direct = true;
			if (!conn->lost)
				status = ax_sql_call(&conn->sql, arena, fn, arg, err);
		}
		if (status == AX_OK && !reader)
			status = commit(conn, err);
		else
			roll_back(conn);
	}
	if (conn->again)
		conn->db->undone[undone_by(conn->why_code)]++;
	if (conn->lost) {
		tell_lost(conn);
		ax_mariadb_drop(conn);
	}
	return status;
}

static enum ax_status run(
	struct ax_mariadb_conn *conn, bool reader, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	AX_ASSERT(!conn->sql.in_transaction);
	int64_t start = mono_ms();
	enum ax_status status = try_once(conn, reader, arena, fn, arg, err);
	for (int try = 1; conn->again && try < TRIES && mono_ms() - start < TRY_MS; try++) {
		ax_mariadb_tell(conn->db, AX_LOG_DEBUG, "mariadb.called_again", 0, conn->why.msg);
		pause_before(conn, try);
		status = try_once(conn, reader, arena, fn, arg, err);
	}
	if (!conn->again)
		return status;
	*err = conn->why; /* what the function made of a transaction that was undone is worth nothing */
	return err->status;
}

static enum ax_status run_writer(
	struct ax_store *port, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	return run((struct ax_mariadb_conn *)(void *)port, false, arena, fn, arg, err);
}

static enum ax_status run_reader(
	struct ax_store *port, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	char *conn = (char *)(void *)port - offsetof(struct ax_mariadb_conn, reader_port);
	return run((struct ax_mariadb_conn *)(void *)conn, true, arena, fn, arg, err);
}

void ax_mariadb_use_as_store(struct ax_mariadb_conn *conn)
{
	static const struct ax_store_ops writer_ops = { run_writer }, reader_ops = { run_reader };
	conn->sql.port.ops = &writer_ops;
	conn->reader_port.ops = &reader_ops;
}

struct ax_store *ax_mariadb_store(struct ax_mariadb_conn *conn)
{
	return &conn->sql.port;
}

struct ax_store *ax_mariadb_reader_store(struct ax_mariadb_conn *conn)
{
	return &conn->reader_port;
}

static enum ax_status ask_now(struct ax_mariadb_conn *conn, int64_t *ret_ms, struct ax_err *err)
{
	struct ax_arena arena = { 0 };
	enum ax_status status = ax_mariadb_revive(conn, err);
	if (status != AX_OK)
		return status;
	const char **answer = ax_mariadb_ask(conn->mysql, "SELECT " AX_MARIADB_NOW, &arena);
	if (answer == NULL || !ax_parse_i64(answer[0], strlen(answer[0]), 0, INT64_MAX, ret_ms)) {
		status = ax_mariadb_fail(conn, mysql_errno(conn->mysql), mysql_error(conn->mysql), NULL, err);
		ax_mariadb_drop(conn);
	}
	ax_arena_done(&arena);
	return status;
}

enum ax_status ax_mariadb_now_ms(struct ax_mariadb_conn *conn, int64_t *ret_ms, struct ax_err *err)
{
	AX_ASSERT(!conn->sql.in_transaction);
	int64_t start = mono_ms();
	conn->lost = false;
	enum ax_status status = ask_now(conn, ret_ms, err);
	if (status != AX_OK && conn->lost && mono_ms() - start < TRY_MS) /* it was closed while it was idle */
		status = ask_now(conn, ret_ms, err);
	return status;
}
