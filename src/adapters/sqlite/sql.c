/* Statements: expanded, prepared once, bound, stepped, read; and what SQLite's result codes mean to us. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/sqlite/conn.h"
#include "base/err.h"

struct sql {
	const char *name;
	const struct ax_row_type *row;
	const char *text;
};

/* A function, because addresses of row types in other libraries are no constants everywhere. */
static const struct sql *sql_of(enum ax_sql_id id)
{
	static const struct sql statements[] = {
#define AX_SQL(name, row, text) { #name, row, text },
#include "adapters/sqlite/statements.def"
#undef AX_SQL
	};
	return &statements[id];
}

const struct ax_row_type *ax_sql_row_type(enum ax_sql_id id)
{
	return sql_of(id)->row;
}

const char *ax_sql_name(enum ax_sql_id id)
{
	return sql_of(id)->name;
}

int64_t ax_sql_mono_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* expanding */

enum list_of { COLUMNS, VALUES, CHANGES };

static void add_list(const struct ax_row_type *type, enum list_of what, struct ax_buf *out)
{
	const char *comma = "";
	for (int i = 0; i < type->n; i++) {
		const char *name = type->fields[i].name;
		if (what == CHANGES && type->fields[i].fixed)
			continue;
		ax_buf_adds(out, comma);
		comma = ", ";
		if (what == COLUMNS)
			ax_buf_adds(out, name);
		else if (what == VALUES)
			ax_buf_printf(out, "?%d", i + 1);
		else
			ax_buf_printf(out, "%s = ?%d", name, i + 1);
	}
}

static void add_word(const struct ax_row_type *type, const char *word, size_t len, struct ax_buf *out)
{
#define IS(text) (len == strlen(text) && memcmp(word, text, len) == 0)
	if (IS("table")) {
		ax_buf_adds(out, type->table);
	} else if (IS("columns")) {
		add_list(type, COLUMNS, out);
	} else if (IS("values")) {
		add_list(type, VALUES, out);
	} else if (IS("changes")) {
		add_list(type, CHANGES, out);
	} else if (len == 1 && word[0] >= '1' && word[0] <= '9') {
		ax_buf_printf(out, "?%d", type->n + word[0] - '0');
	} else {
		int i = 0;
		while (i < type->n && !IS(type->fields[i].name))
			i++;
		AX_ASSERT(i < type->n);
		ax_buf_printf(out, "?%d", i + 1);
	}
#undef IS
}

char *ax_sql_expand(const struct ax_row_type *type, const char *text)
{
	struct ax_buf out;
	ax_buf_init(&out, 65536);
	while (*text != '\0') {
		size_t plain = strcspn(text, "$");
		ax_buf_add(&out, text, plain);
		text += plain;
		if (*text == '\0')
			break;
		size_t len = strspn(++text, "abcdefghijklmnopqrstuvwxyz_0123456789");
		add_word(type, text, len, &out);
		text += len;
	}
	AX_ASSERT(!out.overflow);
	return ax_buf_take(&out, NULL);
}

/* failures */

/* "UNIQUE constraint failed: t.a, t.b" names the key by its last column; a fire's last one is the shard. */
static enum ax_status key_is_taken(struct ax_sql_conn *conn, struct ax_err *err)
{
	const char *text = sqlite3_errmsg(conn->db);
	const char *dot = strrchr(text, '.');
	const char *key = dot == NULL ? "" : dot + 1;
	if (strcmp(key, "shard") == 0)
		key = "fire_key";
	return ax_fail(err, AX_EXISTS, key, "there already is a row with this %s (%s)", key, text);
}

/* SQLite calls only ENOSPC "full"; the other reasons are in the errno of the WAL's last failed write. */
static bool disk_is_full(struct ax_sql_conn *conn)
{
	sqlite3_file *wal = NULL;
	int code = 0;
	sqlite3_file_control(conn->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
	if (wal != NULL && wal->pMethods != NULL)
		wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &code);
	return code == ENOSPC || code == EDQUOT || code == EFBIG;
}

static enum ax_status status_of(struct ax_sql_conn *conn, int code)
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

enum ax_status ax_sql_fail(struct ax_sql_conn *conn, struct ax_err *err)
{
	int code = sqlite3_extended_errcode(conn->db);
	if ((code & 0xff) == SQLITE_NOMEM)
		ax_die(__FILE__, __LINE__, "out of memory");
	if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_ROWID)
		return key_is_taken(conn, err);
	conn->doomed = status_of(conn, code);
	if (conn->reader && conn->doomed == AX_BUSY)
		return ax_fail(
			err, AX_BUSY, "", "reading took longer than its time; go on by key in a new transaction");
	if (conn->reader && conn->doomed == AX_DENIED)
		return ax_fail(err, AX_DENIED, "", "a reader may not write");
	if (conn->doomed == AX_FULL)
		return ax_fail(err, AX_FULL, "", "no space left for %s", conn->path);
	return ax_fail(err, conn->doomed, "", "%s: %s (SQLite %d)", conn->path, sqlite3_errmsg(conn->db), code);
}

/* running */

static enum ax_status prepare(struct ax_sql_conn *conn, enum ax_sql_id id, struct ax_err *err)
{
	const struct sql *sql = sql_of(id);
	char *expanded = sql->row == NULL ? NULL : ax_sql_expand(sql->row, sql->text);
	int code = sqlite3_prepare_v3(conn->db, expanded == NULL ? sql->text : expanded, -1, SQLITE_PREPARE_PERSISTENT,
		&conn->statements[id], NULL);
	free(expanded);
	return code == SQLITE_OK ? AX_OK : ax_sql_fail(conn, err);
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

static int bind(sqlite3_stmt *stmt, const struct ax_row_type *type, const void *row, const struct ax_sql_arg *args)
{
	int number = 0, code = SQLITE_OK;
	if (row != NULL) {
		for (; number < type->n && code == SQLITE_OK; number++)
			code = bind_field(stmt, number + 1, &type->fields[number], row);
	}
	for (; args->kind != AX_SQL_END && code == SQLITE_OK; args++) {
		number++;
		if (args->kind == AX_SQL_NUM)
			code = sqlite3_bind_int64(stmt, number, args->number);
		else
			code = sqlite3_bind_text(stmt, number, args->text, -1, SQLITE_STATIC);
	}
	return code;
}

enum ax_status ax_sql_begin(struct ax_sql_conn *conn, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args,
	sqlite3_stmt **ret, struct ax_err *err)
{
	if (conn->in_transaction && conn->doomed != AX_OK) /* SQLite may have undone it: this would be done alone */
		return ax_fail(err, conn->doomed, "", "the transaction has failed before");
	if (conn->reader && conn->in_transaction && ax_sql_mono_ms() > conn->until_mono_ms) {
		conn->doomed = AX_BUSY;
		return ax_fail(
			err, AX_BUSY, "", "reading took longer than its time; go on by key in a new transaction");
	}
	if (conn->statements[id] == NULL) {
		enum ax_status status = prepare(conn, id, err);
		if (status != AX_OK)
			return status;
	}
	sqlite3_stmt *stmt = conn->statements[id];
	if (bind(stmt, sql_of(id)->row, row, args) != SQLITE_OK)
		return ax_sql_fail(conn, err);
	*ret = stmt;
	return AX_OK;
}

enum ax_status ax_sql_next(struct ax_sql_conn *conn, sqlite3_stmt *stmt, bool *ret_row, struct ax_err *err)
{
	int code = sqlite3_step(stmt);
	*ret_row = code == SQLITE_ROW;
	if (code == SQLITE_ROW)
		return AX_OK;
	enum ax_status status = code == SQLITE_DONE ? AX_OK : ax_sql_fail(conn, err);
	sqlite3_reset(stmt);
	return status;
}

void ax_sql_end(sqlite3_stmt *stmt)
{
	sqlite3_reset(stmt);
}

static void read_text(sqlite3_stmt *stmt, int column, const struct ax_field *field, struct ax_arena *arena, void *ret)
{
	const char *text = field->kind == AX_FIELD_DATA ? sqlite3_column_blob(stmt, column)
							: (const char *)sqlite3_column_text(stmt, column);
	int len = sqlite3_column_bytes(stmt, column);
	if (text == NULL)
		text = "";
	const char **at = ax_field_text(field, ret);
	*at = arena == NULL ? text : ax_strndup(arena, text, (size_t)len);
	if (field->kind == AX_FIELD_DATA)
		*(int64_t *)(void *)(at + 1) = len;
}

void ax_sql_read(sqlite3_stmt *stmt, const struct ax_row_type *type, struct ax_arena *arena, void *ret)
{
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		if (ax_field_has_text(field))
			read_text(stmt, i, field, arena, ret);
		else
			ax_field_set_number(field, ret, sqlite3_column_int64(stmt, i));
	}
}

enum ax_status ax_sql_exec(
	struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	sqlite3_stmt *stmt;
	bool more;
	enum ax_status status = ax_sql_begin(conn, id, row, args, &stmt, err);
	return status == AX_OK ? ax_sql_next(conn, stmt, &more, err) : status;
}

static enum ax_status missing(struct ax_err *err)
{
	return ax_fail(err, AX_NOT_FOUND, "", "there is no such row");
}

enum ax_status ax_sql_change_any(
	struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args, struct ax_err *err)
{
	enum ax_status status = ax_sql_exec(tx, id, row, args, err);
	if (status == AX_OK && sqlite3_changes(ax_sql_conn_of(tx)->db) == 0)
		return missing(err);
	return status;
}

enum ax_status ax_sql_change(struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args,
	enum ax_sql_id exists, const struct ax_sql_arg *key, struct ax_err *err)
{
	enum ax_status status = ax_sql_exec(tx, id, row, args, err);
	if (status != AX_OK || sqlite3_changes(ax_sql_conn_of(tx)->db) > 0)
		return status;
	int64_t n = 0;
	status = ax_sql_numbers(tx, exists, key, &n, 1, err);
	if (status != AX_OK)
		return status;
	return n == 0 ? missing(err) : ax_fail(err, AX_CONFLICT, "", "the row moved on since it was read");
}

enum ax_status ax_sql_insert_next(
	struct ax_tx *tx, enum ax_sql_id id, const void *row, int64_t *ret_id, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	sqlite3_stmt *stmt;
	bool more;
	enum ax_status status = ax_sql_begin(conn, id, row, NONE, &stmt, err);
	if (status != AX_OK)
		return status;
	sqlite3_bind_null(stmt, 1); /* the id, which is the first column */
	status = ax_sql_next(conn, stmt, &more, err);
	if (status == AX_OK)
		*ret_id = sqlite3_last_insert_rowid(conn->db);
	return status;
}

enum ax_status ax_sql_get(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, void *ret, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	sqlite3_stmt *stmt;
	bool found = false;
	enum ax_status status = ax_sql_begin(conn, id, NULL, args, &stmt, err);
	if (status == AX_OK)
		status = ax_sql_next(conn, stmt, &found, err);
	if (status != AX_OK)
		return status;
	if (!found)
		return missing(err);
	ax_sql_read(stmt, sql_of(id)->row, tx->arena, ret);
	ax_sql_end(stmt);
	return AX_OK;
}

enum ax_status ax_sql_numbers(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, int64_t *ret, int n, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	sqlite3_stmt *stmt;
	bool found = false;
	enum ax_status status = ax_sql_begin(conn, id, NULL, args, &stmt, err);
	if (status == AX_OK)
		status = ax_sql_next(conn, stmt, &found, err);
	if (status != AX_OK)
		return status;
	for (int i = 0; i < n; i++)
		ret[i] = found ? sqlite3_column_int64(stmt, i) : 0;
	ax_sql_end(stmt);
	return AX_OK;
}

enum ax_status ax_sql_list(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, struct ax_rows *ret, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	const struct ax_row_type *type = sql_of(id)->row;
	struct ax_rows rows = { 0 };
	sqlite3_stmt *stmt;
	bool found = false;
	enum ax_status status = ax_sql_begin(conn, id, NULL, args, &stmt, err);
	while (status == AX_OK && (status = ax_sql_next(conn, stmt, &found, err)) == AX_OK && found)
		ax_sql_read(stmt, type, tx->arena, ax_rows_add(&rows, tx->arena, type));
	if (status == AX_OK)
		*ret = rows;
	return status;
}

int ax_sql_now(struct ax_sql_conn *conn, const char *text)
{
	return sqlite3_exec(conn->db, text, NULL, NULL, NULL);
}

void ax_sql_conn_done(struct ax_sql_conn *conn)
{
	for (size_t i = 0; i < AX_SQL_COUNT; i++)
		sqlite3_finalize(conn->statements[i]);
	sqlite3_close(conn->db);
}
