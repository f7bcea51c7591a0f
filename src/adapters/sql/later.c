#include "adapters/sql/later.h"

#include "base/err.h"

/* The rows of one statement. */
struct ax_sql_later {
	struct ax_sql_later *next;
	enum ax_sql_id id;
	struct ax_sql_input *rows;
	size_t n, cap;
};

static struct ax_sql_later *find(struct ax_tx *tx, enum ax_sql_id id)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	for (struct ax_sql_later *later = conn->later; later != NULL; later = later->next)
		if (later->id == id)
			return later;
	struct ax_sql_later *later = ax_alloc(tx->arena, sizeof(*later));
	*later = (struct ax_sql_later){ .next = conn->later, .id = id };
	return conn->later = later;
}

enum ax_status ax_sql_put_later(struct ax_tx *tx, enum ax_sql_id id, const void *row, struct ax_err *err)
{
	static const struct ax_sql_arg none = { .kind = AX_SQL_END };
	const struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	const struct ax_row_type *type = conn->texts[id].row;
	if (!conn->driver->far || conn->direct)
		return ax_sql_exec(tx, id, row, NONE, err);
	struct ax_sql_later *later = find(tx, id);
	void *copy = ax_alloc(tx->arena, type->size);
	ax_row_copy(type, tx->arena, row, copy);
	later->rows = ax_grow_array(tx->arena, later->rows, later->n, 1, &later->cap, sizeof(*later->rows));
	later->rows[later->n++] = (struct ax_sql_input){ .row = copy, .args = &none };
	return AX_OK;
}

enum ax_status ax_sql_later_write(struct ax_tx *tx, unsigned touch, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	enum ax_status status = AX_OK;
	for (struct ax_sql_later *later = conn->later; status == AX_OK && later != NULL; later = later->next) {
		int n = (int)later->n;
		int64_t changes;
		if (n == 0 || (conn->touches[later->id] & touch) == 0)
			continue;
		later->n = 0;
		status = ax_sql_exec_many(tx, later->id, later->rows, n, &changes, err);
	}
	return status;
}
