/* The driver: statements prepared once, bound, stepped, read; and what SQLite's result codes mean to us. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/sql/kept.h"
#include "adapters/sqlite/conn.h"
#include "base/err.h"

/* A function, because addresses of row types in other libraries are no constants everywhere. */
const struct ax_sql_text *ax_sqlite_texts(void)
{
	static const struct ax_sql_text texts[AX_SQL_COUNT] = {
#define AX_SQL(name, row, text) [AX_SQL_##name] = { row, text },
#include "adapters/sqlite/statements.def"
#undef AX_SQL
	};
	return texts;
}

#ifdef AX_CRASH_POINTS
const char *ax_sqlite_change_name(int *i)
{
	while (*i < AX_SQL_COUNT && strncmp(ax_sqlite_texts()[*i].text, "SELECT", 6) == 0)
		(*i)++;
	return *i < AX_SQL_COUNT ? ax_sql_name((enum ax_sql_id) * i) : NULL;
}
#endif

int64_t ax_sqlite_mono_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* failures */

/* "UNIQUE constraint failed: t.a, t.b" names the key by its last column; a fire's last one is the shard. */
static enum ax_status key_is_taken(struct ax_sqlite_conn *conn, struct ax_err *err)
{
	const char *text = sqlite3_errmsg(conn->db);
	const char *dot = strrchr(text, '.');
	const char *key = dot == NULL ? "" : dot + 1;
	if (strcmp(key, "shard") == 0)
		key = "fire_key";
	return ax_fail(err, AX_EXISTS, key, "there already is a row with this %s (%s)", key, text);
}

/* SQLite calls only ENOSPC "full"; the other reasons are in the errno of the WAL's last failed write. */
static bool disk_is_full(struct ax_sqlite_conn *conn)
{
	sqlite3_file *wal = NULL;
	int code = 0;
	sqlite3_file_control(conn->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
	if (wal != NULL && wal->pMethods != NULL)
		wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &code);
	return code == ENOSPC || code == EDQUOT || code == EFBIG;
}

static enum ax_status status_of(struct ax_sqlite_conn *conn, int code)
{
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_INTERRUPT:
		return AX_BUSY;
	case SQLITE_FULL:
		return AX_FULL;
	case SQLITE_IOERR:
		return code == SQLITE_IOERR_WRITE && disk_is_full(conn) ? AX_FULL : AX_UNAVAILABLE;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return AX_UNAVAILABLE;
	case SQLITE_READONLY:
		return AX_DENIED;
	case SQLITE_TOOBIG:
		return AX_TOO_LARGE;
	default:
		return AX_BROKEN;
	}
}

enum ax_status ax_sqlite_fail(struct ax_sqlite_conn *conn, struct ax_err *err)
{
	int code = sqlite3_extended_errcode(conn->db);
	if ((code & 0xff) == SQLITE_NOMEM)
		ax_die(__FILE__, __LINE__, "out of memory");
	if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_ROWID)
		return key_is_taken(conn, err);
	conn->sql.doomed = status_of(conn, code);
	if (conn->reader && conn->sql.doomed == AX_BUSY)
		return ax_fail(
			err, AX_BUSY, "", "reading took longer than its time; go on by key in a new transaction");
	if (conn->reader && conn->sql.doomed == AX_DENIED)
		return ax_fail(err, AX_DENIED, "", "a reader may not write");
	if (conn->sql.doomed == AX_FULL)
		return ax_fail(err, AX_FULL, "", "no space left for %s", conn->path);
	return ax_fail(err, conn->sql.doomed, "", "%s: %s (SQLite %d)", conn->path, sqlite3_errmsg(conn->db), code);
}

/* running */

static struct ax_sqlite_conn *conn_of(struct ax_sql_conn *conn)
{
	return (struct ax_sqlite_conn *)(void *)conn;
}

/* A cursor is a statement. */
static sqlite3_stmt *stmt_of(struct ax_sql_cursor *cursor)
{
	return (sqlite3_stmt *)(void *)cursor;
}

/* Most changes name a few columns of many: the others need not be bound. */
static unsigned char *list_named(sqlite3_stmt *stmt, int columns)
{
	unsigned char *named = ax_malloc((size_t)columns + 1);
	int n = 0;
	AX_ASSERT(columns < AX_SQLITE_NO_COLUMN);
	for (int i = 0; i < columns; i++)
		if (sqlite3_bind_parameter_name(stmt, i + 1) != NULL)
			named[n++] = (unsigned char)i;
	named[n] = AX_SQLITE_NO_COLUMN;
	return named;
}

static enum ax_status prepare(struct ax_sqlite_conn *conn, enum ax_sql_id id, struct ax_err *err)
{
	const struct ax_sql_text *sql = &conn->sql.texts[id];
	char *expanded = sql->row == NULL ? NULL : ax_sql_expand(sql->row, "", sql->text);
	int code = sqlite3_prepare_v3(conn->db, expanded == NULL ? sql->text : expanded, -1, SQLITE_PREPARE_PERSISTENT,
		&conn->statements[id], NULL);
	free(expanded);
	if (code != SQLITE_OK)
		return ax_sqlite_fail(conn, err);
	if (sql->row != NULL)
		conn->named[id] = list_named(conn->statements[id], sql->row->n);
	return AX_OK;
}

static int bind_field(sqlite3_stmt *stmt, int number, const struct ax_field *field, const void *row)
{
	if (!ax_field_has_text(field))
		return sqlite3_bind_int64(stmt, number, ax_field_number(field, row));
	const char *text = *ax_field_text(field, row);
	AX_ASSERT(text != NULL);
	size_t len = ax_field_len(field, row);
	if (field->kind == AX_FIELD_DATA)
		return sqlite3_bind_blob64(stmt, number, text, len, SQLITE_STATIC);
	return sqlite3_bind_text64(stmt, number, text, len, SQLITE_STATIC, SQLITE_UTF8);
}

static int bind(struct ax_sqlite_conn *conn, enum ax_sql_id id, const struct ax_sql_input *input)
{
	sqlite3_stmt *stmt = conn->statements[id];
	const struct ax_row_type *type = conn->sql.texts[id].row;
	int number = 0, code = SQLITE_OK;
	if (input->row != NULL) {
		const unsigned char *named = conn->named[id];
		for (; *named != AX_SQLITE_NO_COLUMN && code == SQLITE_OK; named++)
			code = bind_field(stmt, *named + 1, &type->fields[*named], input->row);
		number = type->n;
	}
	if (input->gives_id && code == SQLITE_OK)
		code = sqlite3_bind_null(stmt, 1);
	for (const struct ax_sql_arg *args = input->args; args->kind != AX_SQL_END && code == SQLITE_OK; args++) {
		number++;
		if (args->kind == AX_SQL_NUM)
			code = sqlite3_bind_int64(stmt, number, args->number);
		else
			code = sqlite3_bind_text(stmt, number, args->text, -1, SQLITE_STATIC);
	}
	return code;
}

static enum ax_status begin(struct ax_sql_conn *sql, enum ax_sql_id id, const struct ax_sql_input *input,
	struct ax_sql_cursor **ret, struct ax_err *err)
{
	struct ax_sqlite_conn *conn = conn_of(sql);
	if (conn->reader && ax_sqlite_mono_ms() > conn->until_mono_ms) {
		conn->sql.doomed = AX_BUSY;
		return ax_fail(
			err, AX_BUSY, "", "reading took longer than its time; go on by key in a new transaction");
	}
	if (conn->statements[id] == NULL) {
		enum ax_status status = prepare(conn, id, err);
		if (status != AX_OK)
			return status;
	}
	if (bind(conn, id, input) != SQLITE_OK)
		return ax_sqlite_fail(conn, err);
	*ret = (struct ax_sql_cursor *)(void *)conn->statements[id];
	return AX_OK;
}

static enum ax_status next(struct ax_sql_conn *sql, struct ax_sql_cursor *cursor, bool *ret_row, struct ax_err *err)
{
	int code = sqlite3_step(stmt_of(cursor));
	*ret_row = code == SQLITE_ROW;
	if (code == SQLITE_ROW)
		return AX_OK;
	enum ax_status status = code == SQLITE_DONE ? AX_OK : ax_sqlite_fail(conn_of(sql), err);
	sqlite3_reset(stmt_of(cursor));
	return status;
}

static void end(struct ax_sql_cursor *cursor)
{
	sqlite3_reset(stmt_of(cursor));
}

static void read_text(sqlite3_stmt *stmt, int column, const struct ax_field *field, struct ax_arena *arena, void *ret)
{
	const char *text = field->kind == AX_FIELD_DATA ? sqlite3_column_blob(stmt, column)
							: (const char *)sqlite3_column_text(stmt, column);
	int len = sqlite3_column_bytes(stmt, column);
	const char **at = ax_field_text(field, ret);
	if (len == 0)
		*at = "";
	else
		*at = arena == NULL ? text : ax_strndup(arena, text, (size_t)len);
	if (field->kind == AX_FIELD_DATA)
		*(int64_t *)(void *)(at + 1) = len;
}

static void read_row(struct ax_sql_cursor *cursor, const struct ax_row_type *type, struct ax_arena *arena, void *ret)
{
	sqlite3_stmt *stmt = stmt_of(cursor);
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		if (ax_field_has_text(field))
			read_text(stmt, i, field, arena, ret);
		else
			ax_field_set_number(field, ret, sqlite3_column_int64(stmt, i));
	}
}

static int64_t number(struct ax_sql_cursor *cursor, int column)
{
	return sqlite3_column_int64(stmt_of(cursor), column);
}

static int64_t changes(struct ax_sql_conn *sql)
{
	return sqlite3_changes(conn_of(sql)->db);
}

static int64_t last_id(struct ax_sql_conn *sql)
{
	return sqlite3_last_insert_rowid(conn_of(sql)->db);
}

void ax_sqlite_conn_init(struct ax_sqlite_conn *conn)
{
	static const struct ax_sql_driver driver = { begin, next, read_row, number, end, changes, last_id, .many = NULL,
		.far = false };
	conn->sql.driver = &driver;
	conn->sql.texts = ax_sqlite_texts();
	ax_sql_kept_prepare(&conn->sql);
}

enum ax_status ax_sqlite_control(struct ax_sqlite_conn *conn, enum ax_sqlite_control what, struct ax_err *err)
{
	static const char *const texts[] = {
		[AX_SQLITE_BEGIN] = "BEGIN IMMEDIATE",
		[AX_SQLITE_BEGIN_READ] = "BEGIN",
		[AX_SQLITE_COMMIT] = "COMMIT",
		[AX_SQLITE_ROLLBACK] = "ROLLBACK",
		[AX_SQLITE_MEMBER_BEGIN] = "SAVEPOINT member",
		[AX_SQLITE_MEMBER_COMMIT] = "RELEASE member",
		[AX_SQLITE_MEMBER_ROLLBACK] = "ROLLBACK TO member",
	};
	sqlite3_stmt **stmt = &conn->controls[what];
	int code = SQLITE_OK;
	if (*stmt == NULL)
		code = sqlite3_prepare_v3(conn->db, texts[what], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(*stmt);
	enum ax_status status = code == SQLITE_DONE ? AX_OK : ax_sqlite_fail(conn, err);
	sqlite3_reset(*stmt);
	return status;
}

int ax_sqlite_now(struct ax_sqlite_conn *conn, const char *text)
{
	return sqlite3_exec(conn->db, text, NULL, NULL, NULL);
}

void ax_sqlite_conn_done(struct ax_sqlite_conn *conn)
{
	for (size_t i = 0; i < AX_SQL_COUNT; i++) {
		sqlite3_finalize(conn->statements[i]);
		free(conn->named[i]);
	}
	for (size_t i = 0; i < AX_SQLITE_CONTROLS; i++)
		sqlite3_finalize(conn->controls[i]);
	sqlite3_close(conn->db);
}
