/* Bringing a file's schema up to date: numbered migrations, each in one transaction, each applied once. */

#include <stdio.h>
#include <string.h>

#include "adapters/sqlite/conn.h"
#include "base/err.h"

static enum ax_status fail(struct ax_sqlite_conn *conn, struct ax_err *err)
{
	ax_sqlite_fail(conn, err);
	enum ax_status status = conn->sql.doomed;
	ax_sqlite_now(conn, "ROLLBACK");
	return status;
}

/* The number of the last applied migration, when all that were applied are ours. */
static enum ax_status read_applied(
	struct ax_sqlite_conn *conn, const struct ax_migration *migrations, int n, int *ret_number, struct ax_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ax_status status = AX_OK;
	int number = 0, code;
	if (sqlite3_prepare_v2(conn->db, "SELECT number, oldest, hash FROM ax_migration ORDER BY number DESC", -1,
		    &stmt, NULL) != SQLITE_OK)
		return ax_sqlite_fail(conn, err);
	while (status == AX_OK && (code = sqlite3_step(stmt)) != SQLITE_DONE) {
		if (code != SQLITE_ROW) {
			status = ax_sqlite_fail(conn, err);
			break;
		}
		const struct ax_applied applied = {
			.number = sqlite3_column_int(stmt, 0),
			.oldest = sqlite3_column_int(stmt, 1),
			.hash = (const char *)sqlite3_column_text(stmt, 2),
		};
		number = AX_MAX(number, applied.number);
		status = ax_migration_compare(conn->path, &applied, migrations, n, err);
	}
	sqlite3_finalize(stmt);
	if (status == AX_OK)
		*ret_number = number;
	return status;
}

static int record(struct ax_sqlite_conn *conn, const struct ax_migration *migration)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(conn->db,
		"INSERT INTO ax_migration (number, name, hash, oldest, time) VALUES"
		" (?1, ?2, ?3, ?4, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))",
		-1, &stmt, NULL);
	if (code != SQLITE_OK)
		return code;
	sqlite3_bind_int(stmt, 1, migration->number);
	sqlite3_bind_text(stmt, 2, migration->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, migration->hash, -1, SQLITE_STATIC);
	sqlite3_bind_int(stmt, 4, migration->oldest);
	sqlite3_step(stmt);
	return sqlite3_finalize(stmt);
}

static enum ax_status apply(struct ax_sqlite_conn *conn, const struct ax_migration *migration, struct ax_err *err)
{
	if (ax_sqlite_now(conn, "BEGIN IMMEDIATE") != SQLITE_OK || ax_sqlite_now(conn, migration->sql) != SQLITE_OK ||
		record(conn, migration) != SQLITE_OK || ax_sqlite_now(conn, "COMMIT") != SQLITE_OK)
		return fail(conn, err);
	return AX_OK;
}

enum ax_status ax_sqlite_migrate(
	struct ax_sqlite_conn *conn, const struct ax_migration *migrations, int n, struct ax_err *err)
{
	if (ax_sqlite_now(conn,
		    "CREATE TABLE IF NOT EXISTS ax_migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL,"
		    " hash TEXT NOT NULL, time INTEGER NOT NULL, oldest INTEGER NOT NULL) STRICT") != SQLITE_OK)
		return ax_sqlite_fail(conn, err);
	int applied;
	enum ax_status status = read_applied(conn, migrations, n, &applied, err);
	for (int i = 0; status == AX_OK && i < n; i++) {
		if (migrations[i].number > applied)
			status = apply(conn, &migrations[i], err);
	}
	return status;
}
