/* The operations on chains. */

#include "adapters/sql/kept.h"
#include "adapters/sql/later.h"
#include "adapters/sql/sql.h"

enum ax_status ax_sql_upstream_insert(struct ax_tx *tx, const struct ax_upstream *row, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_UPSTREAM_INSERT, row, NONE, err);
}

enum ax_status ax_sql_upstreams_delete(struct ax_tx *tx, int64_t task_id, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_UPSTREAMS_DELETE, NULL, ARGS(NUM(task_id)), err);
}

static enum ax_status list(
	struct ax_tx *tx, enum ax_sql_id id, int64_t of, struct ax_upstreams *ret, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, id, ARGS(NUM(of)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret);
}

enum ax_status ax_sql_upstreams_of(struct ax_tx *tx, int64_t task_id, struct ax_upstreams *ret_rows, struct ax_err *err)
{
	return list(tx, AX_SQL_UPSTREAMS_OF, task_id, ret_rows, err);
}

enum ax_status ax_sql_downstreams_of(
	struct ax_tx *tx, int64_t upstream_id, struct ax_upstreams *ret_rows, struct ax_err *err)
{
	const struct ax_rows *known = NULL;
	bool none;
	*ret_rows = (struct ax_upstreams){ 0 };
	enum ax_status status = ax_sql_has_none(tx, upstream_id, AX_SQL_HAS_DOWN, &none, err);
	if (status == AX_OK && !none)
		status = ax_sql_kept_rows(tx, upstream_id, AX_SQL_HAS_DOWN, &known, err);
	if (status != AX_OK || none)
		return status;
	if (known == NULL)
		return list(tx, AX_SQL_DOWNSTREAMS_OF, upstream_id, ret_rows, err);
	*ret_rows = (struct ax_upstreams){ .at = known->at, .n = known->n };
	return AX_OK;
}

enum ax_status ax_sql_run_upstream_put(struct ax_tx *tx, const struct ax_run_upstream *row, struct ax_err *err)
{
	return ax_sql_put_later(tx, AX_SQL_RUN_UPSTREAM_PUT, row, err);
}

enum ax_status ax_sql_run_upstreams(
	struct ax_tx *tx, int64_t gid, struct ax_run_upstreams *ret_rows, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_RUN_UPSTREAMS, ARGS(NUM(gid)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_rows);
}

enum ax_status ax_sql_run_told(struct ax_tx *tx, int64_t gid, struct ax_run_tolds *ret_rows, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_RUN_TOLD, ARGS(NUM(gid)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_rows);
}
