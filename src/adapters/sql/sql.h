#ifndef AX_ADAPTERS_SQL_H
#define AX_ADAPTERS_SQL_H

/* The operations of the store (port/store.h) in SQL, on whatever database: each is one statement, or a few, and what
 * the result means. What differs between databases is
 *
 *  - the dialect: the texts of the statements that names.def lists, one statements.def beside each driver;
 *  - the driver: how a connection runs one of them.
 *
 * A driver embeds struct ax_sql_conn as the first member of its connection. */

#include "port/row.h"
#include "port/tx_ops.h"

enum ax_sql_id {
#define AX_SQL_NAME(name) AX_SQL_##name,
#include "adapters/sql/names.def"
#undef AX_SQL_NAME
	AX_SQL_COUNT
};
const char *ax_sql_name(enum ax_sql_id id);

/* AX_SQL(name, row type, text): one statement in one dialect.
 *
 * With a row type, $table, $columns, $values (all parameters), $changes (column = parameter for all that are not fixed)
 * come from port/row.c; $gid is the parameter of the column gid, $1, $2, … are the parameters behind the columns', $ids
 * AX_SQL_IDS_STEP of them, from the second. $names are as many where no row is bound, from ?2 on.
 * Without one, ?1, ?2, … are meant. */
struct ax_sql_text {
	const struct ax_row_type *row; /* what is bound, or what a result row is read into; or NULL */
	const char *text;
};

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
/* LIMIT takes no negative number. */
#define LIM(limit) NUM(AX_MAX(limit, 0))
/* 0 means the first page of a list that goes down. */
#define BEFORE(number) NUM((number) == 0 ? INT64_MAX : (number))
#define ARGS(...) ((const struct ax_sql_arg[]){ __VA_ARGS__, { .kind = AX_SQL_END } })
#define NONE ((const struct ax_sql_arg[]){ { .kind = AX_SQL_END } })

/* As many ids as one statement names: the last one repeatedly when there are fewer. A driver whose statements are trips
 * is given no more than AX_SQL_IDS_FEW when that is enough. */
enum { AX_SQL_IDS_STEP = 100, AX_SQL_IDS_FEW = 8 };
#define AX_SQL_IDS_10(ten)                                                                                             \
	"?" ten "1, ?" ten "2, ?" ten "3, ?" ten "4, ?" ten "5, ?" ten "6, ?" ten "7, ?" ten "8, ?" ten "9"
#define AX_SQL_IDS                                                                                                                                          \
	AX_SQL_IDS_10("")                                                                                                                                   \
	", ?10, " AX_SQL_IDS_10("1") ", ?20, " AX_SQL_IDS_10("2") ", ?30, " AX_SQL_IDS_10(                                                                  \
		"3") ", ?40, " AX_SQL_IDS_10("4") ", ?50, " AX_SQL_IDS_10("5") ", ?60, " AX_SQL_IDS_10("6") ", "                                            \
													    "?70,"                                          \
													    " " AX_SQL_IDS_10("7") ", ?80, " AX_SQL_IDS_10( \
														    "8") ", ?90, " AX_SQL_IDS_10("9") ", ?100"
/* The first of n ids, n > 0. */
void ax_sql_ids_args(struct ax_tx *tx, const int64_t *ids, int n, struct ax_sql_arg ret[AX_SQL_IDS_STEP + 1]);
/* Likewise of n names; how many of them. One alone is for the statement about one. Where statements are no trips, that
 * is all. */
int ax_sql_names_args(struct ax_tx *tx, const char *const *names, int n, struct ax_sql_arg ret[AX_SQL_IDS_STEP + 1]);
/* Rows that TASKS_LIVE counts; beyond, tasks are asked about one by one. */
#define AX_SQL_LIVE_MAX 500
#define AX_SQL_TEXT(macro) AX_SQL_TEXT_OF(macro)
#define AX_SQL_TEXT_OF(macro) #macro

/* What a step in a run's life writes, beside its rev: RUN_GIVEN those of one run, RUNS_GIVEN those of many alike. */
#define AX_SQL_RENEWED_COLUMNS(F) F(accepted) F(heartbeat_time) F(deadline_time)
#define AX_SQL_GIVEN_COLUMNS(F)                                                                                        \
	F(status)                                                                                                      \
	F(reason)                                                                                                      \
	F(fence)                                                                                                       \
	F(accepted)                                                                                                    \
	F(worker)                                                                                                      \
	F(incarnation)                                                                                                 \
	F(poll)                                                                                                        \
	F(dispatch_time)                                                                                               \
	F(start_time)                                                                                                  \
	F(heartbeat_time)                                                                                              \
	F(deadline_time) F(limit_time) F(result_code) F(result_msg) F(result) F(progress_msg) F(progress_percent)
#define AX_SQL_BEGUN_COLUMNS(F)                                                                                        \
	F(status)                                                                                                      \
	F(reason)                                                                                                      \
	F(accepted)                                                                                                    \
	F(start_time) F(heartbeat_time) F(progress_time) F(watch_time) F(deadline_time) F(limit_time) F(bounce_times)
/* What an end alone changes is the same for many runs, whenever they began. */
#define AX_SQL_ENDED_COLUMNS(F)                                                                                        \
	F(status)                                                                                                      \
	F(reason)                                                                                                      \
	F(end_time)                                                                                                    \
	F(hold) F(deadline_time) F(limit_time) F(watch_time) F(ended_by_worker) F(result_code) F(result_msg) F(result)
/* Begun and ended in one report. */
#define AX_SQL_LIVED_COLUMNS(F)                                                                                        \
	AX_SQL_ENDED_COLUMNS(F)                                                                                        \
	F(accepted) F(start_time) F(heartbeat_time) F(progress_time) F(bounce_times)
#define AX_SQL_SET_COLUMN(name) ", " #name " = $" #name
/* Behind the columns: the rev that it, or all of them have; and their gids. */
#define AX_SQL_STEP(update, columns, more)                                                                             \
	update " $table SET rev = $rev" columns(AX_SQL_SET_COLUMN) more " WHERE gid = $gid AND rev = $1"
#define AX_SQL_ALIKE(update, columns, more)                                                                            \
	update " $table SET rev = $rev" columns(AX_SQL_SET_COLUMN) more " WHERE gid IN ($ids) AND rev = $1"
enum { AX_SQL_STEPS = 5 };

/* What is bound to a statement: the row to the columns' numbers, the arguments to the numbers behind them. */
struct ax_sql_input {
	const void *row;               /* NULL = none */
	const struct ax_sql_arg *args; /* never NULL */
	bool gives_id;                 /* the database makes up the first column */
};

struct ax_sql_conn;
struct ax_sql_count;
struct ax_sql_later;
struct ax_sql_cursor; /* a statement under way: the driver knows what it is */

struct ax_sql_driver {
	/* Begins a statement. What is bound must live until it has ended. Statements of other ids may run meanwhile. */
	enum ax_status (*begin)(struct ax_sql_conn *conn, enum ax_sql_id id, const struct ax_sql_input *input,
		struct ax_sql_cursor **ret, struct ax_err *err);
	/* The next result row. When there is none, or on failure, the statement has ended. A key that is taken is
	 * AX_EXISTS; a failure that ends the transaction is noted in conn->doomed. */
	enum ax_status (*next)(
		struct ax_sql_conn *conn, struct ax_sql_cursor *cursor, bool *ret_row, struct ax_err *err);
	/* Reads the current result row. Its text is borrowed until the next step when `arena` is NULL. */
	void (*read)(struct ax_sql_cursor *cursor, const struct ax_row_type *type, struct ax_arena *arena, void *ret);
	/* One column of it; NULL is 0. */
	int64_t (*number)(struct ax_sql_cursor *cursor, int column);
	/* Ends a statement whose rows were not all taken. */
	void (*end)(struct ax_sql_cursor *cursor);
	/* Of the last statement that changed something: the rows it found, and the id that was made up. */
	int64_t (*changes)(struct ax_sql_conn *conn);
	int64_t (*last_id)(struct ax_sql_conn *conn);
	/* Runs a statement without result rows for many inputs. `ret_changes`: the rows it found, of all. A failure of
	 * one is that of all. NULL: one by one. */
	enum ax_status (*many)(struct ax_sql_conn *conn, enum ax_sql_id id, const struct ax_sql_input *inputs, int n,
		int64_t *ret_changes, struct ax_err *err);
	bool far; /* each statement is a trip: what will be asked is better asked at once */
};

struct ax_sql_conn {
	struct ax_store port;
	const struct ax_sql_driver *driver;
	const struct ax_sql_text *texts; /* of the dialect, by enum ax_sql_id */
	bool in_transaction;             /* a function runs … */
	struct ax_tx *tx;                /* … in this */
	enum ax_status doomed;           /* the failure that this transaction must end with, or AX_OK */
	struct ax_sql_count *counts;     /* not written yet, in the transaction's arena; see counts.h */
	size_t n_counts, cap_counts;
	struct ax_sql_kept *kept;   /* rows that this transaction holds, in its arena; see kept.h */
	struct ax_sql_later *later; /* rows that are written together, in its arena; see later.h */
	bool direct;                /* nothing is kept: this transaction is called again because `collided` */
	bool collided;
	unsigned short touches[AX_SQL_COUNT]; /* by each statement: what of that */
	uint64_t step_columns[AX_SQL_STEPS];  /* of a run's row, bit by bit: those that a step writes … */
	uint64_t run_columns;                 /* … and those that may change */
};

struct ax_sql_tx {
	struct ax_tx tx;
	struct ax_sql_conn *conn;
};

static inline struct ax_sql_conn *ax_sql_conn_of(struct ax_tx *tx)
{
	return ((struct ax_sql_tx *)(void *)tx)->conn;
}

#define AX_SQL_OP(op) enum ax_status ax_sql_##op(struct ax_tx *tx AX_TX_PARAMS(op), struct ax_err *err);
AX_TX_OPS(AX_SQL_OP)
#undef AX_SQL_OP

/* For drivers: runs the function in the transaction that has begun. When conn->collided is set afterwards, the
 * transaction is to be undone and called once more with conn->direct. */
enum ax_status ax_sql_call(
	struct ax_sql_conn *conn, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err);
/* Text on `type` with the $words filled in, names between `quote`; free() it. */
char *ax_sql_expand(const struct ax_row_type *type, const char *quote, const char *text);

/* For operations: a statement whose rows are looked at one by one. */
static inline enum ax_status ax_sql_next(
	struct ax_sql_conn *conn, struct ax_sql_cursor *cursor, bool *ret_row, struct ax_err *err)
{
	return conn->driver->next(conn, cursor, ret_row, err);
}
enum ax_status ax_sql_begin(struct ax_sql_conn *conn, enum ax_sql_id id, const struct ax_sql_arg *args,
	struct ax_sql_cursor **ret, struct ax_err *err);

/* The usual ways to run a statement. */
enum ax_status ax_sql_exec(
	struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args, struct ax_err *err);
/* The same for many inputs; `ret_changes` is how many rows were found. */
enum ax_status ax_sql_exec_many(struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_input *inputs, int n,
	int64_t *ret_changes, struct ax_err *err);
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
/* The same, behind the rows that are there. */
enum ax_status ax_sql_list_more(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, struct ax_rows *rows, struct ax_err *err);

/* A page of the rows that the caller picks. They come in steps, a statement with LIMIT each, because a database across
 * the network would send all that is left:
 *
 *   while ax_sql_page_goes_on: begin page.cursor behind page.at with LIMIT page.step;
 *     while ax_sql_page_next finds a row: set page.at; ax_sql_page_take what is wanted */
struct ax_sql_page {
	struct ax_tx *tx;
	const struct ax_row_type *type;
	int limit, scan_limit;
	int64_t at; /* key of the last row looked at */
	int64_t step;
	struct ax_sql_cursor *cursor;
	bool found;
	bool ended; /* there are no more rows */
	struct ax_rows rows;
	int looked, step_looked;
	bool full;
};
struct ax_sql_page ax_sql_page(struct ax_tx *tx, const struct ax_row_type *type, int limit, int scan_limit, int64_t at);
bool ax_sql_page_goes_on(const struct ax_sql_page *page);
/* The row's text is borrowed until the next call. */
enum ax_status ax_sql_page_next(struct ax_sql_page *page, void *ret_row, struct ax_err *err);
void ax_sql_page_take(struct ax_sql_page *page, const void *row);

/* Gives a list to the caller: `status` is that of the call that filled `rows`. */
#define AX_SQL_GIVE(status, rows, ret)                                                                                 \
	((status) == AX_OK ? ((ret)->at = (rows).at, (ret)->n = (rows).n, (status)) : (status))

#endif
