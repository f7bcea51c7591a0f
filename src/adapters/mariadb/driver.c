/* The driver: statements prepared once a session, in the binary protocol. An answer is taken whole before it is read,
 * so that other statements may run meanwhile. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/mariadb/conn.h"
#include "adapters/sql/kept.h"
#include "base/err.h"

/* A function, because addresses of row types in other libraries are no constants everywhere. */
const struct ax_sql_text *ax_mariadb_texts(void)
{
	static const struct ax_sql_text texts[AX_SQL_COUNT] = {
#define AX_SQL(name, row, text) [AX_SQL_##name] = { row, text },
#include "adapters/mariadb/statements.def"
#undef AX_SQL
	};
	return texts;
}

enum {
	TEXT_BYTES = 64,        /* room for a text at first; it grows to the longest that came */
	PACKET_BYTES = 1 << 20, /* of many inputs at once; a row is much smaller than max_allowed_packet without it */
};

struct cell {
	int64_t number;
	char *text; /* ends in NUL; NULL in columns of numbers */
	unsigned long size, len;
	my_bool null;
};

/* A prepared statement. */
struct ax_sql_cursor {
	MYSQL_STMT *stmt;
	const struct ax_row_type *row;
	/* Each "?" of the text in its order: the number of the parameter that it takes, from 0. */
	int places;
	int *numbers;
	int most;        /* parameters that it names */
	int64_t *values; /* of numbers */
	MYSQL_BIND *in;
	int columns;
	struct cell *cells;
	MYSQL_BIND *out;
	bool executed;
	bool bound; /* the cells are where the library writes to */
};

static struct ax_mariadb_conn *conn_of(struct ax_sql_conn *conn)
{
	return (struct ax_mariadb_conn *)(void *)conn;
}

static void drop_cursor(struct ax_sql_cursor *cursor)
{
	if (cursor == NULL)
		return;
	if (cursor->stmt != NULL)
		mysql_stmt_close(cursor->stmt);
	for (int i = 0; i < cursor->columns; i++)
		free(cursor->cells[i].text);
	free(cursor->numbers);
	free(cursor->values);
	free(cursor->in);
	free(cursor->cells);
	free(cursor->out);
	free(cursor);
}

void ax_mariadb_drop_cursors(struct ax_mariadb_conn *conn)
{
	for (size_t i = 0; i < AX_SQL_COUNT; i++) {
		drop_cursor(conn->cursors[i]);
		drop_cursor(conn->few[i]);
		conn->cursors[i] = conn->few[i] = NULL;
	}
}

static void *alloc_zeroed(int n, size_t size)
{
	return ax_malloc((size_t)AX_MAX(n, 1) * size);
}

/* preparing */

/* Bytes of those of the ids at `text` (", ?11, ?12") that are more than the call gives. */
static size_t left_out(const char *text, int given)
{
	size_t len = 0;
	while (strncmp(text + len, ", ?", 3) == 0) {
		char *end;
		if (strtol(text + len + 3, &end, 10) <= given)
			break;
		len = (size_t)(end - text);
	}
	return len;
}

/* Turns every ?N outside of quotes into ?, and notes N - 1. `numbers` has room for all. */
static int number_places(const char *text, int given, int *numbers, struct ax_buf *out)
{
	int n = 0;
	char quote = '\0';
	for (; *text != '\0'; text++) {
		if (quote == '\0')
			text += left_out(text, given);
		ax_buf_addc(out, *text);
		if (quote != '\0') {
			quote = *text == quote ? '\0' : quote;
		} else if (*text == '\'' || *text == '`') {
			quote = *text;
		} else if (*text == '?') {
			int number = 0;
			while (text[1] >= '0' && text[1] <= '9')
				number = number * 10 + *++text - '0';
			numbers[n++] = number - 1;
		}
	}
	return n;
}

static void lay_out_cells(struct ax_sql_cursor *cursor)
{
	cursor->columns = (int)mysql_stmt_field_count(cursor->stmt);
	cursor->cells = alloc_zeroed(cursor->columns, sizeof(*cursor->cells));
	cursor->out = alloc_zeroed(cursor->columns, sizeof(*cursor->out));
	for (int i = 0; i < cursor->columns; i++) {
		struct cell *cell = &cursor->cells[i];
		MYSQL_BIND *bind = &cursor->out[i];
		bind->is_null = &cell->null;
		bind->length = &cell->len;
		if (cursor->row == NULL || !ax_field_has_text(&cursor->row->fields[i])) {
			bind->buffer_type = MYSQL_TYPE_LONGLONG;
			bind->buffer = &cell->number;
			continue;
		}
		cell->size = TEXT_BYTES;
		cell->text = ax_malloc(cell->size);
		bind->buffer_type = MYSQL_TYPE_BLOB;
		bind->buffer = cell->text;
		bind->buffer_length = cell->size - 1;
	}
}

/* `given`: as many parameters as it may name. `ret_text` is to be freed. */
static struct ax_sql_cursor *lay_out_places(
	const struct ax_mariadb_conn *conn, enum ax_sql_id id, int given, struct ax_buf *ret_text)
{
	const struct ax_sql_text *sql = &conn->sql.texts[id];
	struct ax_sql_cursor *cursor = ax_malloc(sizeof(*cursor));
	char *expanded = sql->row == NULL ? NULL : ax_sql_expand(sql->row, "`", sql->text);
	const char *numbered = expanded == NULL ? sql->text : expanded;
	ax_buf_init(ret_text, 1 << 20);
	cursor->row = sql->row;
	cursor->numbers = alloc_zeroed((int)strlen(numbered), sizeof(*cursor->numbers));
	cursor->places = number_places(numbered, given, cursor->numbers, ret_text);
	for (int i = 0; i < cursor->places; i++)
		cursor->most = AX_MAX(cursor->most, cursor->numbers[i] + 1);
	free(expanded);
	return cursor;
}

static enum ax_status prepare(
	struct ax_mariadb_conn *conn, enum ax_sql_id id, int given, struct ax_sql_cursor **ret, struct ax_err *err)
{
	struct ax_buf text;
	struct ax_sql_cursor *cursor = lay_out_places(conn, id, given, &text);
	cursor->values = alloc_zeroed(cursor->places, sizeof(*cursor->values));
	cursor->in = alloc_zeroed(cursor->places, sizeof(*cursor->in));
	cursor->stmt = mysql_stmt_init(conn->mysql);
	if (cursor->stmt == NULL)
		ax_die(__FILE__, __LINE__, "out of memory");
	enum ax_status status = AX_OK;
	if (mysql_stmt_prepare(cursor->stmt, text.data, text.len) != 0)
		status = ax_mariadb_fail(
			conn, mysql_stmt_errno(cursor->stmt), mysql_stmt_error(cursor->stmt), cursor->row, err);
	ax_buf_done(&text);
	if (status != AX_OK) {
		drop_cursor(cursor);
		return status;
	}
	AX_ASSERT((int)mysql_stmt_param_count(cursor->stmt) == cursor->places);
	lay_out_cells(cursor);
	*ret = cursor;
	return AX_OK;
}

/* running */

static enum ax_status fail(struct ax_mariadb_conn *conn, struct ax_sql_cursor *cursor, struct ax_err *err)
{
	unsigned code = mysql_stmt_errno(cursor->stmt);
	enum ax_status status = ax_mariadb_fail(conn, code, mysql_stmt_error(cursor->stmt), cursor->row, err);
	/* Not free_result: after a result that broke off (a wait for a lock that took too long) it leaves the
	 * connection out of step, and the next use of the statement waits for an answer that never comes. */
	mysql_stmt_reset(cursor->stmt);
	return status;
}

static void bind_number(MYSQL_BIND *bind, int64_t *value, int64_t number)
{
	*value = number;
	bind->buffer_type = MYSQL_TYPE_LONGLONG;
	bind->buffer = value;
}

static void bind_text(MYSQL_BIND *bind, enum enum_field_types type, const char *text, size_t len)
{
	bind->buffer_type = type;
	bind->buffer = (void *)(uintptr_t)text; /* the library only reads it */
	bind->buffer_length = (unsigned long)len;
}

static void bind_field(MYSQL_BIND *bind, int64_t *value, const struct ax_field *field, const void *row)
{
	if (!ax_field_has_text(field)) {
		bind_number(bind, value, ax_field_number(field, row));
		return;
	}
	const char *text = *ax_field_text(field, row);
	AX_ASSERT(text != NULL);
	bind_text(bind, field->kind == AX_FIELD_DATA ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING, text,
		ax_field_len(field, row));
}

static void bind_arg(MYSQL_BIND *bind, int64_t *value, const struct ax_sql_arg *arg)
{
	if (arg->kind == AX_SQL_NUM)
		bind_number(bind, value, arg->number);
	else if (arg->text != NULL)
		bind_text(bind, MYSQL_TYPE_STRING, arg->text, strlen(arg->text));
	else
		bind->buffer_type = MYSQL_TYPE_NULL;
}

static void bind_place(const struct ax_sql_cursor *cursor, int place, MYSQL_BIND *bind, int64_t *value,
	const struct ax_sql_input *input)
{
	int number = cursor->numbers[place], fields = input->row == NULL ? 0 : cursor->row->n;
	if (number == 0 && input->gives_id)
		bind->buffer_type = MYSQL_TYPE_NULL;
	else if (number < fields)
		bind_field(bind, value, &cursor->row->fields[number], input->row);
	else
		bind_arg(bind, value, &input->args[number - fields]);
}

static int count_given(const struct ax_row_type *type, const struct ax_sql_input *input)
{
	int fields = input->row == NULL ? 0 : type->n, args = 0;
	while (input->args[args].kind != AX_SQL_END)
		args++;
	return fields + args;
}

static void bind(struct ax_sql_cursor *cursor, const struct ax_sql_input *input, int given)
{
	memset(cursor->in, 0, (size_t)cursor->places * sizeof(*cursor->in));
	for (int i = 0; i < cursor->places; i++) {
		AX_ASSERT(cursor->numbers[i] >= 0 && cursor->numbers[i] < given);
		bind_place(cursor, i, &cursor->in[i], &cursor->values[i], input);
	}
}

/* Does the statement name more than is given? */
static bool names_more(struct ax_mariadb_conn *conn, enum ax_sql_id id, int given)
{
	if (conn->named[id] == 0) {
		struct ax_buf text;
		struct ax_sql_cursor *cursor = lay_out_places(conn, id, INT_MAX, &text);
		conn->named[id] = 1 + cursor->most;
		ax_buf_done(&text);
		drop_cursor(cursor);
	}
	return given < conn->named[id] - 1;
}

/* The statement, prepared; of those that name ids the one that names few, when there are no more. Each is prepared when
 * it is wanted: that is a trip. */
static enum ax_status find_cursor(
	struct ax_mariadb_conn *conn, enum ax_sql_id id, int given, struct ax_sql_cursor **ret, struct ax_err *err)
{
	struct ax_sql_cursor **cursor = names_more(conn, id, given) ? &conn->few[id] : &conn->cursors[id];
	enum ax_status status = *cursor == NULL ? prepare(conn, id, given, cursor, err) : AX_OK;
	*ret = *cursor;
	return status;
}

static enum ax_status begin(struct ax_sql_conn *sql, enum ax_sql_id id, const struct ax_sql_input *input,
	struct ax_sql_cursor **ret, struct ax_err *err)
{
	struct ax_mariadb_conn *conn = conn_of(sql);
	struct ax_sql_cursor *cursor;
	int given = count_given(sql->texts[id].row, input);
	enum ax_status status = find_cursor(conn, id, given, &cursor, err);
	if (status != AX_OK)
		return status;
	bind(cursor, input, given);
	if (cursor->places > 0 && mysql_stmt_bind_param(cursor->stmt, cursor->in) != 0)
		return fail(conn, cursor, err);
	cursor->executed = false;
	*ret = cursor;
	return AX_OK;
}

static enum ax_status execute(struct ax_mariadb_conn *conn, struct ax_sql_cursor *cursor, struct ax_err *err)
{
	if (mysql_stmt_execute(cursor->stmt) != 0)
		return fail(conn, cursor, err);
	cursor->executed = true;
	if (cursor->columns > 0)
		return mysql_stmt_store_result(cursor->stmt) == 0 ? AX_OK : fail(conn, cursor, err);
	conn->changes = (int64_t)mysql_stmt_affected_rows(cursor->stmt);
	conn->last_id = (int64_t)mysql_stmt_insert_id(cursor->stmt);
	return AX_OK;
}

/* many inputs at once */

/* Kept for the next time. */
static void *take_room(struct ax_mariadb_room *room, size_t size)
{
	if (room->size < size) {
		free(room->at);
		room->at = ax_malloc(size);
		room->size = size;
	}
	return room->at;
}

static size_t bytes_of(const struct ax_sql_cursor *cursor, const struct ax_sql_input *input)
{
	size_t bytes = (size_t)cursor->places * sizeof(int64_t);
	for (int i = 0; input->row != NULL && i < cursor->row->n; i++)
		if (ax_field_has_text(&cursor->row->fields[i]))
			bytes += ax_field_len(&cursor->row->fields[i], input->row);
	return bytes;
}

/* As many as fit into one packet well. */
static int count_packet(const struct ax_sql_cursor *cursor, const struct ax_sql_input *inputs, int n)
{
	size_t bytes = 0;
	int count = 0;
	while (count < n && (count == 0 || bytes < PACKET_BYTES))
		bytes += bytes_of(cursor, &inputs[count++]);
	return count;
}

/* One place of the statement, for all inputs: a column of values, or of texts with their lengths. */
static void bind_column(
	struct ax_sql_cursor *cursor, int place, const struct ax_sql_input *inputs, int n, int64_t *values)
{
	MYSQL_BIND *bind = &cursor->in[place];
	const char **texts = (const char **)(void *)values;
	unsigned long *lens = (unsigned long *)(void *)(values + n);
	MYSQL_BIND one;
	for (int i = 0; i < n; i++) {
		memset(&one, 0, sizeof(one));
		bind_place(cursor, place, &one, &values[i], &inputs[i]);
		if (one.buffer_type != MYSQL_TYPE_LONGLONG) {
			texts[i] = one.buffer;
			lens[i] = one.buffer_length;
		}
	}
	bind->buffer_type = one.buffer_type;
	bind->buffer = values;
	bind->length = one.buffer_type == MYSQL_TYPE_LONGLONG ? NULL : lens;
}

static enum ax_status execute_bulk(struct ax_mariadb_conn *conn, struct ax_sql_cursor *cursor,
	const struct ax_sql_input *inputs, int n, struct ax_err *err)
{
	static const unsigned one = 0;
	unsigned rows = (unsigned)n;
	size_t column = 2 * (size_t)n;
	int64_t *values = take_room(&conn->bulk_room, (size_t)cursor->places * column * sizeof(*values));
	memset(cursor->in, 0, (size_t)cursor->places * sizeof(*cursor->in));
	for (int i = 0; i < cursor->places; i++)
		bind_column(cursor, i, inputs, n, values + (size_t)i * column);
	enum ax_status status = AX_OK;
	if (mysql_stmt_attr_set(cursor->stmt, STMT_ATTR_ARRAY_SIZE, &rows) != 0 ||
		mysql_stmt_bind_param(cursor->stmt, cursor->in) != 0)
		status = fail(conn, cursor, err);
	if (status == AX_OK)
		status = execute(conn, cursor, err);
	mysql_stmt_attr_set(cursor->stmt, STMT_ATTR_ARRAY_SIZE, &one);
	return status;
}

/* MariaDB takes an array for each parameter; MySQL does not, and gets statement after statement. */
static enum ax_status many(struct ax_sql_conn *sql, enum ax_sql_id id, const struct ax_sql_input *inputs, int n,
	int64_t *ret_changes, struct ax_err *err)
{
	struct ax_mariadb_conn *conn = conn_of(sql);
	struct ax_sql_cursor *cursor;
	enum ax_status status = find_cursor(conn, id, INT_MAX, &cursor, err);
	*ret_changes = 0;
	for (int count; status == AX_OK && n > 0; inputs += count, n -= count) {
		count = conn->bulk ? count_packet(cursor, inputs, n) : 1;
		if (count > 1) {
			status = execute_bulk(conn, cursor, inputs, count, err);
		} else {
			status = begin(sql, id, inputs, &cursor, err);
			if (status == AX_OK)
				status = execute(conn, cursor, err);
		}
		*ret_changes += conn->changes;
	}
	return status;
}

/* results */

static bool bind_cells(struct ax_sql_cursor *cursor)
{
	cursor->bound = cursor->bound || mysql_stmt_bind_result(cursor->stmt, cursor->out) == 0;
	return cursor->bound;
}

/* Texts that were longer than their room: makes room, and takes them again. */
static bool take_whole_texts(struct ax_sql_cursor *cursor)
{
	for (int i = 0; i < cursor->columns; i++) {
		struct cell *cell = &cursor->cells[i];
		MYSQL_BIND *bind = &cursor->out[i];
		if (cell->text == NULL)
			continue;
		if (cell->null)
			cell->len = 0;
		if (cell->len >= cell->size) {
			cell->size = AX_MAX(cell->size * 2, cell->len + 1);
			free(cell->text);
			cell->text = ax_malloc(cell->size);
			bind->buffer = cell->text;
			bind->buffer_length = cell->size - 1;
			cursor->bound = false;
			if (mysql_stmt_fetch_column(cursor->stmt, bind, (unsigned)i, 0) != 0)
				return false;
		}
		cell->text[cell->len] = '\0';
	}
	return true;
}

static enum ax_status next(struct ax_sql_conn *sql, struct ax_sql_cursor *cursor, bool *ret_row, struct ax_err *err)
{
	struct ax_mariadb_conn *conn = conn_of(sql);
	*ret_row = false;
	if (!cursor->executed) {
		enum ax_status status = execute(conn, cursor, err);
		if (status != AX_OK || cursor->columns == 0)
			return status;
	}
	if (!bind_cells(cursor))
		return fail(conn, cursor, err);
	int code = mysql_stmt_fetch(cursor->stmt);
	if (code == MYSQL_NO_DATA) {
		mysql_stmt_free_result(cursor->stmt);
		return AX_OK;
	}
	if ((code != 0 && code != MYSQL_DATA_TRUNCATED) || !take_whole_texts(cursor))
		return fail(conn, cursor, err);
	*ret_row = true;
	return AX_OK;
}

static void end(struct ax_sql_cursor *cursor)
{
	mysql_stmt_free_result(cursor->stmt);
}

static void read_row(struct ax_sql_cursor *cursor, const struct ax_row_type *type, struct ax_arena *arena, void *ret)
{
	AX_ASSERT(cursor->columns == type->n);
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		const struct cell *cell = &cursor->cells[i];
		if (!ax_field_has_text(field)) {
			ax_field_set_number(field, ret, cell->null ? 0 : cell->number);
			continue;
		}
		const char **at = ax_field_text(field, ret);
		*at = arena == NULL ? cell->text : ax_strndup(arena, cell->text, cell->len);
		if (field->kind == AX_FIELD_DATA)
			*(int64_t *)(void *)(at + 1) = (int64_t)cell->len;
	}
}

static int64_t number(struct ax_sql_cursor *cursor, int column)
{
	const struct cell *cell = &cursor->cells[column];
	return cell->null ? 0 : cell->number;
}

static int64_t changes(struct ax_sql_conn *sql)
{
	return conn_of(sql)->changes;
}

static int64_t last_id(struct ax_sql_conn *sql)
{
	return conn_of(sql)->last_id;
}

void ax_mariadb_use_driver(struct ax_mariadb_conn *conn)
{
	static const struct ax_sql_driver driver = { begin, next, read_row, number, end, changes, last_id, many,
		.far = true };
	conn->sql.driver = &driver;
	conn->sql.texts = ax_mariadb_texts();
	ax_sql_kept_prepare(&conn->sql);
}
