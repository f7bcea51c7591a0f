#ifndef AX_ADAPTERS_SQLITE_CONN_H
#define AX_ADAPTERS_SQLITE_CONN_H

/* One connection: its statement cache, the transaction on it, and what operations are made of. */

#include <sqlite3.h>

#include "adapters/sqlite/sqlite.h"
#include "port/row.h"
#include "port/tx_ops.h"

enum ax_sql_id {
#define AX_SQL(name, row, text) AX_SQL_##name,
#include "adapters/sqlite/statements.def"
#undef AX_SQL
	AX_SQL_COUNT
};

struct ax_sql_conn {
	struct ax_store port;
	sqlite3 *db;
	const char *path;
	struct ax_log *log;
	sqlite3_stmt *statements[AX_SQL_COUNT]; /* prepared when first used */
	bool reader;
	bool in_transaction;   /* a function runs */
	int64_t until_mono_ms; /* readers: end of this transaction's time */
	enum ax_status doomed; /* the failure that this transaction must end with, or AX_OK */
	/* the writer's */
	bool failed; /* a flush failed: what is on the disk is not certain */
	bool in_batch;
	enum ax_status batch_lost; /* the failure that undid the whole batch, or AX_OK */
	int wal_pages;
	int checkpoint_pages; /* the store checkpoints by itself above this */
};

struct ax_sql_tx {
	struct ax_tx tx;
	struct ax_sql_conn *conn;
};

static inline struct ax_sql_conn *ax_sql_conn_of(struct ax_tx *tx)
{
	return ((struct ax_sql_tx *)(void *)tx)->conn;
}

#define AX_SQLITE_OP(op) enum ax_status ax_sqlite_##op(struct ax_tx *tx AX_TX_PARAMS(op), struct ax_err *err);
AX_TX_OPS(AX_SQLITE_OP)
#undef AX_SQLITE_OP

/* Arguments of a statement, ended by a mark: ARGS(NUM(id), TXT(key)), or NONE. */
struct ax_sql_arg {
	enum { AX_SQL_END, AX_SQL_NUM, AX_SQL_TXT } kind;
	int64_t number;
	const char *text; /* NULL = SQL's NULL */
};
#define NUM(value)                                                                                                     \
	{                                                                                                              \
		.kind = AX_SQL_NUM, .number = (value)                                                                  \
	}
#define TXT(value)                                                                                                     \
	{                                                                                                              \
		.kind = AX_SQL_TXT, .text = (value)                                                                    \
	}
/* LIMIT takes a negative number for "all". */
#define LIM(limit) NUM(AX_MAX(limit, 0))
/* 0 means the first page of a list that goes down. */
#define BEFORE(number) NUM((number) == 0 ? INT64_MAX : (number))
#define ARGS(...) ((const struct ax_sql_arg[]){ __VA_ARGS__, { .kind = AX_SQL_END } })
#define NONE ((const struct ax_sql_arg[]){ { .kind = AX_SQL_END } })

/* Turns the failure of the last call on the connection into a status. Failures that end a transaction are noted. */
enum ax_status ax_sql_fail(struct ax_sql_conn *conn, struct ax_err *err);

/* Begins a statement: `row`, if not NULL, is bound to the columns' numbers, `args` to the numbers behind them. What is
 * bound must live until ax_sql_end. */
enum ax_status ax_sql_begin(struct ax_sql_conn *conn, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args,
	sqlite3_stmt **ret, struct ax_err *err);
/* The next result row. When there is none, or on failure, the statement has ended. */
enum ax_status ax_sql_next(struct ax_sql_conn *conn, sqlite3_stmt *stmt, bool *ret_row, struct ax_err *err);
/* Ends a statement whose rows were not all taken. */
void ax_sql_end(sqlite3_stmt *stmt);
/* Reads the current result row. Its text is borrowed until the next step when `arena` is NULL. */
void ax_sql_read(sqlite3_stmt *stmt, const struct ax_row_type *type, struct ax_arena *arena, void *ret);

/* The usual ways to run a statement. */
enum ax_status ax_sql_exec(
	struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args, struct ax_err *err);
/* … which must change a row: else AX_CONFLICT when `exists` finds one with `key`, AX_NOT_FOUND when not. */
enum ax_status ax_sql_change(struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args,
	enum ax_sql_id exists, const struct ax_sql_arg *key, struct ax_err *err);
/* … which must change a row, else AX_NOT_FOUND. */
enum ax_status ax_sql_change_any(
	struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args, struct ax_err *err);
enum ax_status ax_sql_insert_next(
	struct ax_tx *tx, enum ax_sql_id id, const void *row, int64_t *ret_id, struct ax_err *err);
enum ax_status ax_sql_get(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, void *ret, struct ax_err *err);
/* The first n columns of the only result row; NULL is 0. */
enum ax_status ax_sql_numbers(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, int64_t *ret, int n, struct ax_err *err);
enum ax_status ax_sql_list(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, struct ax_rows *ret, struct ax_err *err);

/* Gives a list to the caller: `status` is that of the call that filled `rows`. */
#define AX_SQL_GIVE(status, rows, ret)                                                                                 \
	((status) == AX_OK ? ((ret)->at = (rows).at, (ret)->n = (rows).n, (status)) : (status))

/* The row type of a statement, NULL when it has none, and its text as SQLite sees it (for tests of the plans). */
const struct ax_row_type *ax_sql_row_type(enum ax_sql_id id);
const char *ax_sql_name(enum ax_sql_id id);
/* Statements on `type` with the $words filled in; free() it. */
char *ax_sql_expand(const struct ax_row_type *type, const char *text);

void ax_sql_conn_done(struct ax_sql_conn *conn);
int64_t ax_sql_mono_ms(void);

/* One-off statements of opening and closing. */
int ax_sql_now(struct ax_sql_conn *conn, const char *text);

/* db/sqlite/NNNN_name.sql, embedded, in order. */
struct ax_migration {
	int number;
	const char *name;
	const char *hash; /* SHA-256, hex */
	const char *sql;
};
extern const struct ax_migration ax_migrations[];
extern const int ax_migrations_n;
enum ax_status ax_sqlite_migrate(
	struct ax_sql_conn *conn, const struct ax_migration *migrations, int n, struct ax_err *err);

#endif
