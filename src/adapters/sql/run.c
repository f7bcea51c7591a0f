/* The ways to run a statement, on any driver. */

#include "adapters/sql/counts.h"
#include "adapters/sql/kept.h"
#include "adapters/sql/later.h"
#include "adapters/sql/sql.h"
#include "base/err.h"
#include "sys/crash_point.h"

const char *ax_sql_name(enum ax_sql_id id)
{
	static const char *const names[] = {
#define AX_SQL_NAME(name) #name,
#include "adapters/sql/names.def"
#undef AX_SQL_NAME
	};
	return names[id];
}

static const struct ax_tx_ops ops = {
#define OP(op) .op = ax_sql_##op,
	AX_TX_OPS(OP)
#undef OP
};

enum ax_status ax_sql_call(struct ax_sql_conn *conn, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_sql_tx tx = { .tx = { &ops, arena }, .conn = conn };
	conn->tx = &tx.tx;
	conn->kept = NULL;
	conn->later = NULL;
	conn->collided = false;
	conn->doomed = AX_OK;
	conn->counts = NULL;
	conn->n_counts = conn->cap_counts = 0;
	conn->in_transaction = true;
	enum ax_status status = fn(&tx.tx, arg, err);
	if (status == AX_OK && conn->doomed == AX_OK)
		status = ax_sql_kept_write(&tx.tx, err);
	if (status == AX_OK && conn->doomed == AX_OK)
		status = ax_sql_later_write(&tx.tx, AX_SQL_TOUCH_ANY, err);
	if (status == AX_OK && conn->doomed == AX_OK)
		status = ax_sql_counts_write(&tx.tx, err);
	conn->in_transaction = false;
	return status == AX_OK ? conn->doomed : status;
}

static enum ax_status begin(struct ax_sql_conn *conn, enum ax_sql_id id, const struct ax_sql_input *input,
	struct ax_sql_cursor **ret, struct ax_err *err)
{
	if (conn->doomed != AX_OK) /* the database may have undone it: this would be done alone */
		return ax_fail(err, conn->doomed, "", "the transaction has failed before");
	return conn->driver->begin(conn, id, input, ret, err);
}

static enum ax_status begin_change(struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_input *input,
	struct ax_sql_cursor **ret, struct ax_err *err)
{
	enum ax_status status = ax_sql_kept_before(tx, id, true, err);
	return status == AX_OK ? begin(ax_sql_conn_of(tx), id, input, ret, err) : status;
}

enum ax_status ax_sql_begin(struct ax_sql_conn *conn, enum ax_sql_id id, const struct ax_sql_arg *args,
	struct ax_sql_cursor **ret, struct ax_err *err)
{
	enum ax_status status = ax_sql_kept_before(conn->tx, id, false, err);
	return status == AX_OK ? begin(conn, id, &(struct ax_sql_input){ .args = args }, ret, err) : status;
}

/* A statement that changes something has been run: here a test may end the process, or let it fail. */
static enum ax_status changed(struct ax_sql_conn *conn, enum ax_sql_id id, struct ax_err *err)
{
	(void)id;
	if (!AX_CRASHPOINT_FAILS("sql", ax_sql_name(id)))
		return AX_OK;
	conn->doomed = AX_UNAVAILABLE;
	return ax_fail(err, AX_UNAVAILABLE, "", "failed on purpose");
}

enum ax_status ax_sql_exec(
	struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_cursor *cursor;
	bool more;
	enum ax_status status = begin_change(tx, id, &(struct ax_sql_input){ .row = row, .args = args }, &cursor, err);
	if (status == AX_OK)
		status = ax_sql_next(conn, cursor, &more, err);
	return status == AX_OK ? changed(conn, id, err) : status;
}

static enum ax_status one_by_one(struct ax_sql_conn *conn, enum ax_sql_id id, const struct ax_sql_input *inputs, int n,
	int64_t *ret_changes, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	*ret_changes = 0;
	for (int i = 0; status == AX_OK && i < n; i++) {
		struct ax_sql_cursor *cursor;
		bool more;
		status = begin(conn, id, &inputs[i], &cursor, err);
		if (status == AX_OK)
			status = ax_sql_next(conn, cursor, &more, err);
		if (status == AX_OK)
			*ret_changes += conn->driver->changes(conn);
		if (status == AX_OK)
			status = changed(conn, id, err);
	}
	return status;
}

enum ax_status ax_sql_exec_many(struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_input *inputs, int n,
	int64_t *ret_changes, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	if (conn->driver->many == NULL || n == 1)
		return one_by_one(conn, id, inputs, n, ret_changes, err);
	if (conn->doomed != AX_OK)
		return ax_fail(err, conn->doomed, "", "the transaction has failed before");
	enum ax_status status = conn->driver->many(conn, id, inputs, n, ret_changes, err);
	return status == AX_OK ? changed(conn, id, err) : status;
}

void ax_sql_ids_args(struct ax_tx *tx, const int64_t *ids, int n, struct ax_sql_arg ret[AX_SQL_IDS_STEP + 1])
{
	bool few = n <= AX_SQL_IDS_FEW && ax_sql_conn_of(tx)->driver->far;
	int most = few ? AX_SQL_IDS_FEW : AX_SQL_IDS_STEP;
	for (int i = 0; i < most; i++)
		ret[i] = (struct ax_sql_arg)NUM(ids[AX_MIN(i, n - 1)]);
	ret[most] = (struct ax_sql_arg){ .kind = AX_SQL_END };
}

int ax_sql_names_args(struct ax_tx *tx, const char *const *names, int n, struct ax_sql_arg ret[AX_SQL_IDS_STEP + 1])
{
	int some = ax_sql_conn_of(tx)->driver->far ? AX_MIN(n, AX_SQL_IDS_STEP) : 1;
	int most = some == 1 ? 1 : some <= AX_SQL_IDS_FEW ? AX_SQL_IDS_FEW : AX_SQL_IDS_STEP;
	for (int i = 0; i < most; i++)
		ret[i] = (struct ax_sql_arg)TXT(names[AX_MIN(i, some - 1)]);
	ret[most] = (struct ax_sql_arg){ .kind = AX_SQL_END };
	return some;
}

static int64_t changes(struct ax_tx *tx)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	return conn->driver->changes(conn);
}

static enum ax_status missing(struct ax_err *err)
{
	return ax_fail(err, AX_NOT_FOUND, "", "there is no such row");
}

enum ax_status ax_sql_change_any(
	struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args, struct ax_err *err)
{
	enum ax_status status = ax_sql_exec(tx, id, row, args, err);
	if (status == AX_OK && changes(tx) == 0)
		return missing(err);
	return status;
}

enum ax_status ax_sql_change(struct ax_tx *tx, enum ax_sql_id id, const void *row, const struct ax_sql_arg *args,
	enum ax_sql_id exists, const struct ax_sql_arg *key, struct ax_err *err)
{
	enum ax_status status = ax_sql_exec(tx, id, row, args, err);
	if (status != AX_OK || changes(tx) > 0)
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
	struct ax_sql_cursor *cursor;
	bool more;
	enum ax_status status = begin_change(
		tx, id, &(struct ax_sql_input){ .row = row, .args = NONE, .gives_id = true }, &cursor, err);
	if (status == AX_OK)
		status = ax_sql_next(conn, cursor, &more, err);
	if (status == AX_OK)
		*ret_id = conn->driver->last_id(conn);
	return status == AX_OK ? changed(conn, id, err) : status;
}

enum ax_status ax_sql_get(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, void *ret, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_cursor *cursor;
	bool found = false;
	enum ax_status status = ax_sql_begin(conn, id, args, &cursor, err);
	if (status == AX_OK)
		status = ax_sql_next(conn, cursor, &found, err);
	if (status != AX_OK)
		return status;
	if (!found)
		return missing(err);
	conn->driver->read(cursor, conn->texts[id].row, tx->arena, ret);
	conn->driver->end(cursor);
	return AX_OK;
}

enum ax_status ax_sql_numbers(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, int64_t *ret, int n, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_cursor *cursor;
	bool found = false;
	enum ax_status status = ax_sql_begin(conn, id, args, &cursor, err);
	if (status == AX_OK)
		status = ax_sql_next(conn, cursor, &found, err);
	if (status != AX_OK)
		return status;
	for (int i = 0; i < n; i++)
		ret[i] = found ? conn->driver->number(cursor, i) : 0;
	conn->driver->end(cursor);
	return AX_OK;
}

enum ax_status ax_sql_list_more(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, struct ax_rows *rows, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	const struct ax_row_type *type = conn->texts[id].row;
	struct ax_sql_cursor *cursor;
	bool found = false;
	enum ax_status status = ax_sql_begin(conn, id, args, &cursor, err);
	while (status == AX_OK && (status = ax_sql_next(conn, cursor, &found, err)) == AX_OK && found)
		conn->driver->read(cursor, type, tx->arena, ax_rows_add(rows, tx->arena, type));
	return status;
}

enum ax_status ax_sql_list(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, struct ax_rows *ret, struct ax_err *err)
{
	struct ax_rows rows = { 0 };
	enum ax_status status = ax_sql_list_more(tx, id, args, &rows, err);
	if (status == AX_OK)
		*ret = rows;
	return status;
}
