#include "check/copy.h"

#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/mariadb/url.h"
#include "base/attr.h"

enum { CONNECT_S = 10, READ_S = 600 };

struct copying {
	struct ax_arena arena;
	MYSQL *from;
	sqlite3 *to;
};

/* ---- reading ---- */

static enum ax_status cannot_read(struct copying *c, struct ax_err *err)
{
	return ax_fail(err, AX_UNAVAILABLE, "store", "the database cannot be read: %s", mysql_error(c->from));
}

static enum ax_status cannot_copy(struct copying *c, struct ax_err *err)
{
	return ax_fail(err, AX_BROKEN, "store", "the copy cannot be written: %s", sqlite3_errmsg(c->to));
}

static void set_options(MYSQL *mysql, const struct ax_mariadb_config *a)
{
	static const my_bool yes = 1;
	unsigned connect_s = CONNECT_S, read_s = READ_S;
	unsigned protocol = a->socket[0] != '\0' ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
	mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
	mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &read_s);
	mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
	mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (!ax_mariadb_wants_tls(a))
		return;
	mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
	mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
	if (a->ca_file[0] != '\0')
		mysql_options(mysql, MYSQL_OPT_SSL_CA, a->ca_file);
	if (a->cert_file[0] == '\0')
		return;
	mysql_options(mysql, MYSQL_OPT_SSL_CERT, a->cert_file);
	mysql_options(mysql, MYSQL_OPT_SSL_KEY, a->key_file);
}

static enum ax_status connect_to(struct copying *c, const struct ax_mariadb_config *a, struct ax_err *err)
{
	bool by_socket = a->socket[0] != '\0';
	set_options(c->from, a);
	if (mysql_real_connect(c->from, by_socket ? NULL : a->host, a->user, a->password, a->database,
		    (unsigned)a->port, by_socket ? a->socket : NULL, 0) == NULL)
		return cannot_read(c, err);
	if (ax_mariadb_wants_tls(a) && mysql_get_ssl_cipher(c->from) == NULL)
		return ax_fail(err, AX_INVALID, "store",
			"the database at %s has no TLS; set it up there, or say tls=off", a->host);
	if (mysql_query(c->from, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ") != 0 ||
		mysql_query(c->from, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY") != 0)
		return cannot_read(c, err);
	return AX_OK;
}

/* The first column of every row, copied. */
static enum ax_status read_names(struct copying *c, const char *sql, char ***ret, size_t *ret_n, struct ax_err *err)
{
	char **names = NULL;
	size_t n = 0, room = 0;
	MYSQL_RES *rows = mysql_query(c->from, sql) == 0 ? mysql_store_result(c->from) : NULL;
	if (rows == NULL)
		return cannot_read(c, err);
	for (MYSQL_ROW row; (row = mysql_fetch_row(rows)) != NULL;) {
		names = ax_grow_array(&c->arena, names, n, 1, &room, sizeof *names);
		names[n++] = ax_strdup(&c->arena, row[0]);
	}
	mysql_free_result(rows);
	*ret = names;
	*ret_n = n;
	return AX_OK;
}

/* ---- one table ---- */

static enum ax_status run_sql(struct copying *c, const char *sql, struct ax_err *err)
{
	return sqlite3_exec(c->to, sql, NULL, NULL, NULL) == SQLITE_OK ? AX_OK : cannot_copy(c, err);
}

static bool is_number(const MYSQL_FIELD *field)
{
	return IS_NUM(field->type) && field->type != MYSQL_TYPE_TIMESTAMP;
}

static enum ax_status make_table(struct copying *c, const char *table, MYSQL_RES *rows, struct ax_err *err)
{
	const MYSQL_FIELD *fields = mysql_fetch_fields(rows);
	const char *columns = "";
	for (unsigned i = 0; i < mysql_num_fields(rows); i++)
		columns = ax_sprintf(&c->arena, "%s%s\"%s\" %s", columns, i == 0 ? "" : ", ", fields[i].name,
			is_number(&fields[i]) ? "INTEGER" : "TEXT");
	return run_sql(c, ax_sprintf(&c->arena, "CREATE TABLE \"%s\" (%s)", table, columns), err);
}

static enum ax_status copy_rows(struct copying *c, const char *table, MYSQL_RES *rows, struct ax_err *err)
{
	unsigned n = mysql_num_fields(rows);
	const MYSQL_FIELD *fields = mysql_fetch_fields(rows);
	const char *places = "?";
	for (unsigned i = 1; i < n; i++)
		places = ax_sprintf(&c->arena, "%s, ?", places);
	sqlite3_stmt *insert;
	if (sqlite3_prepare_v2(c->to, ax_sprintf(&c->arena, "INSERT INTO \"%s\" VALUES (%s)", table, places), -1,
		    &insert, NULL) != SQLITE_OK)
		return cannot_copy(c, err);
	enum ax_status status = AX_OK;
	for (MYSQL_ROW row; status == AX_OK && (row = mysql_fetch_row(rows)) != NULL;) {
		unsigned long *lengths = mysql_fetch_lengths(rows);
		for (unsigned i = 0; i < n; i++) {
			int column = (int)i + 1;
			if (row[i] == NULL)
				sqlite3_bind_null(insert, column);
			else if (is_number(&fields[i]))
				sqlite3_bind_int64(insert, column, strtoll(row[i], NULL, 10));
			else
				sqlite3_bind_text(insert, column, row[i], (int)lengths[i], SQLITE_TRANSIENT);
		}
		if (sqlite3_step(insert) != SQLITE_DONE)
			status = cannot_copy(c, err);
		sqlite3_reset(insert);
	}
	if (status == AX_OK && mysql_errno(c->from) != 0)
		status = cannot_read(c, err);
	sqlite3_finalize(insert);
	return status;
}

/* The rules lean on the indexes of the tables. */
static enum ax_status copy_indexes(struct copying *c, const char *table, struct ax_err *err)
{
	char **indexes;
	size_t n;
	enum ax_status status = read_names(c,
		ax_sprintf(&c->arena,
			"SELECT group_concat(concat('\"', column_name, '\"') ORDER BY seq_in_index) FROM"
			" information_schema.statistics WHERE table_schema = database() AND table_name = '%s'"
			" GROUP BY index_name HAVING sum(column_name IS NULL) = 0",
			table),
		&indexes, &n, err);
	for (size_t i = 0; status == AX_OK && i < n; i++)
		status = run_sql(c,
			ax_sprintf(&c->arena, "CREATE INDEX \"%s_%zu\" ON \"%s\" (%s)", table, i, table, indexes[i]),
			err);
	return status;
}

/* Only that they are there: a copy is not written any more. */
static enum ax_status copy_triggers(struct copying *c, const char *table, struct ax_err *err)
{
	char **triggers;
	size_t n;
	enum ax_status status = read_names(c,
		ax_sprintf(&c->arena,
			"SELECT trigger_name FROM information_schema.triggers WHERE event_object_schema = database()"
			" AND event_object_table = '%s'",
			table),
		&triggers, &n, err);
	for (size_t i = 0; status == AX_OK && i < n; i++)
		status = run_sql(c,
			ax_sprintf(&c->arena, "CREATE TRIGGER \"%s\" BEFORE UPDATE ON \"%s\" BEGIN SELECT 1; END",
				triggers[i], table),
			err);
	return status;
}

static enum ax_status copy_table(struct copying *c, const char *table, struct ax_err *err)
{
	/* what runs printed is large, and no rule reads it */
	const char *columns = strcmp(table, "ax_output") == 0 ? "gid, fence, seq, time" : "*";
	MYSQL_RES *rows = mysql_query(c->from, ax_sprintf(&c->arena, "SELECT %s FROM `%s`", columns, table)) == 0
		? mysql_use_result(c->from)
		: NULL;
	if (rows == NULL)
		return cannot_read(c, err);
	enum ax_status status = make_table(c, table, rows, err);
	if (status == AX_OK)
		status = copy_rows(c, table, rows, err);
	mysql_free_result(rows);
	if (status == AX_OK)
		status = copy_indexes(c, table, err);
	return status == AX_OK ? copy_triggers(c, table, err) : status;
}

static enum ax_status copy_tables(struct copying *c, struct ax_err *err)
{
	char **tables;
	size_t n;
	enum ax_status status = read_names(c,
		"SELECT table_name FROM information_schema.tables WHERE table_schema = database()"
		" AND table_type = 'BASE TABLE' AND table_name LIKE 'ax\\_%'",
		&tables, &n, err);
	if (status == AX_OK && n == 0)
		return ax_fail(err, AX_NOT_FOUND, "store", "there are no tables of AX in this database");
	for (size_t i = 0; status == AX_OK && i < n; i++)
		status = copy_table(c, tables[i], err);
	return status;
}

enum ax_status ax_check_copy(const char *url, const char *password_file, sqlite3 *copy, struct ax_err *err)
{
	struct copying c = { .from = mysql_init(NULL), .to = copy };
	struct ax_mariadb_config address;
	AX_ASSERT(c.from != NULL);
	enum ax_status status = ax_mariadb_read_url(url, &c.arena, &address, err);
	if (status == AX_OK && password_file != NULL)
		address.password_file = password_file;
	if (status == AX_OK)
		status = ax_mariadb_read_password(&address, &c.arena, err);
	if (status == AX_OK)
		status = ax_mariadb_check_certificate(&address, err);
	if (status == AX_OK)
		status = connect_to(&c, &address, err);
	if (status == AX_OK)
		status = run_sql(&c, "BEGIN", err);
	if (status == AX_OK)
		status = copy_tables(&c, err);
	if (status == AX_OK)
		status = run_sql(&c, "COMMIT", err);
	mysql_close(c.from);
	ax_arena_done(&c.arena);
	return status;
}
