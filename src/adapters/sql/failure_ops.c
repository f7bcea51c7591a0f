/* The operations on failures and their groups. */

#include <string.h>

#include "adapters/sql/later.h"
#include "base/err.h"
#include "port/filter.h"

/* failures */

static enum ax_status list_failures(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, struct ax_failures *ret, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, id, args, &rows, err);
	return AX_SQL_GIVE(status, rows, ret);
}

enum ax_status ax_sql_failure_insert(struct ax_tx *tx, const struct ax_failure *failure, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_FAILURE_INSERT, failure, NONE, err);
}

enum ax_status ax_sql_failure_get(struct ax_tx *tx, int64_t gid, struct ax_failure *ret_failure, struct ax_err *err)
{
	return ax_sql_get(tx, AX_SQL_FAILURE_GET, ARGS(NUM(gid)), ret_failure, err);
}

enum ax_status ax_sql_failures_unfolded(
	struct ax_tx *tx, int limit, struct ax_failures *ret_failures, struct ax_err *err)
{
	return list_failures(tx, AX_SQL_FAILURES_UNFOLDED, ARGS(LIM(limit)), ret_failures, err);
}

enum ax_status ax_sql_failures_set_folded(struct ax_tx *tx, const struct ax_ids *gids, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int from = 0; status == AX_OK && from < gids->n; from += AX_SQL_IDS_STEP) {
		struct ax_sql_arg args[AX_SQL_IDS_STEP + 1];
		ax_sql_ids_args(tx, gids->at + from, gids->n - from, args);
		status = ax_sql_exec(tx, AX_SQL_FAILURES_SET_FOLDED, NULL, args, err);
	}
	return status;
}

enum ax_status ax_sql_failure_set_rerun(struct ax_tx *tx, int64_t gid, int64_t rerun_gid, struct ax_err *err)
{
	return ax_sql_change_any(tx, AX_SQL_FAILURE_SET_RERUN, NULL, ARGS(NUM(gid), NUM(rerun_gid)), err);
}

enum ax_status ax_sql_failures_of_group(struct ax_tx *tx, const char *group_key, int64_t fingerprint,
	int64_t before_gid, int limit, struct ax_failures *ret_failures, struct ax_err *err)
{
	return list_failures(tx, AX_SQL_FAILURES_OF_GROUP,
		ARGS(TXT(group_key), NUM(fingerprint), BEFORE(before_gid), LIM(limit)), ret_failures, err);
}

enum ax_status ax_sql_failures_to_rerun(struct ax_tx *tx, const char *group_key, int64_t fingerprint, int limit,
	struct ax_failures *ret_failures, struct ax_err *err)
{
	return list_failures(
		tx, AX_SQL_FAILURES_TO_RERUN, ARGS(TXT(group_key), NUM(fingerprint), LIM(limit)), ret_failures, err);
}

enum ax_status ax_sql_failures_to_rerun_count(
	struct ax_tx *tx, const char *group_key, int64_t fingerprint, int limit, int64_t *ret_n, struct ax_err *err)
{
	return ax_sql_numbers(
		tx, AX_SQL_FAILURES_TO_RERUN_COUNT, ARGS(TXT(group_key), NUM(fingerprint), LIM(limit)), ret_n, 1, err);
}

/* groups */

enum ax_status ax_sql_failure_group_insert(
	struct ax_tx *tx, const struct ax_failure_group *group, int64_t *ret_id, struct ax_err *err)
{
	return ax_sql_insert_next(tx, AX_SQL_FAILURE_GROUP_INSERT, group, ret_id, err);
}

enum ax_status ax_sql_failure_group_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_failure_group *ret_group, struct ax_err *err)
{
	return ax_sql_get(tx, for_update ? AX_SQL_FAILURE_GROUP_GET_LOCK : AX_SQL_FAILURE_GROUP_GET, ARGS(NUM(id)),
		ret_group, err);
}

enum ax_status ax_sql_failure_group_find(struct ax_tx *tx, const char *group_key, int64_t fingerprint, bool for_update,
	struct ax_failure_group *ret_group, struct ax_err *err)
{
	return ax_sql_get(tx, for_update ? AX_SQL_FAILURE_GROUP_FIND_LOCK : AX_SQL_FAILURE_GROUP_FIND,
		ARGS(TXT(group_key), NUM(fingerprint)), ret_group, err);
}

enum ax_status ax_sql_failure_group_update(
	struct ax_tx *tx, const struct ax_failure_group *group, int64_t old_rev, struct ax_err *err)
{
	struct ax_failure_group row = *group;
	row.rev = old_rev + 1;
	return ax_sql_change(tx, AX_SQL_FAILURE_GROUP_UPDATE, &row, ARGS(NUM(old_rev)), AX_SQL_FAILURE_GROUP_EXISTS,
		ARGS(NUM(group->id)), err);
}

enum ax_status ax_sql_failure_group_delete(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	enum ax_status status = ax_sql_change_any(tx, AX_SQL_FAILURE_GROUP_DELETE, NULL, ARGS(NUM(id)), err);
	if (status == AX_OK)
		status = ax_sql_exec(tx, AX_SQL_FAILURE_GROUP_DELETE_SPREAD, NULL, ARGS(NUM(id)), err);
	if (status == AX_OK)
		status = ax_sql_exec(tx, AX_SQL_FAILURE_GROUP_DELETE_HOURS, NULL, ARGS(NUM(id)), err);
	return status;
}

/* Did it fail where the filter asks for? */
static enum ax_status spreads_to(struct ax_tx *tx, const struct ax_failure_filter *f,
	const struct ax_failure_group *group, bool *ret, struct ax_err *err)
{
	int64_t of_task = 1, on_worker = 1;
	enum ax_status status = AX_OK;
	if (f->task_id != 0)
		status = ax_sql_numbers(
			tx, AX_SQL_FAILURE_SPREAD_TASK, ARGS(NUM(group->id), NUM(f->task_id)), &of_task, 1, err);
	if (status == AX_OK && f->worker != NULL)
		status = ax_sql_numbers(
			tx, AX_SQL_FAILURE_SPREAD_WORKER, ARGS(NUM(group->id), TXT(f->worker)), &on_worker, 1, err);
	*ret = of_task > 0 && on_worker > 0;
	return status;
}

enum ax_status ax_sql_failure_groups_page(struct ax_tx *tx, const struct ax_failure_filter *f,
	struct ax_failure_groups *ret_groups, int64_t *ret_before_time, int64_t *ret_before_id, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	bool first = f->before_time == 0 && f->before_id == 0;
	struct ax_sql_page page =
		ax_sql_page(tx, &ax_failure_group_row, f->limit, f->scan_limit, first ? INT64_MAX : f->before_id);
	int64_t time = first ? INT64_MAX : f->before_time;
	struct ax_failure_group group;
	enum ax_status status = AX_OK;
	while (status == AX_OK && ax_sql_page_goes_on(&page)) {
		status = ax_sql_begin(conn, AX_SQL_FAILURE_GROUPS_PAGE, ARGS(NUM(time), NUM(page.at), NUM(page.step)),
			&page.cursor, err);
		while (status == AX_OK && (status = ax_sql_page_next(&page, &group, err)) == AX_OK && page.found) {
			time = group.last_seen_time;
			page.at = group.id;
			bool wanted = ax_failure_matches(f, &group);
			if (wanted && (f->task_id != 0 || f->worker != NULL))
				status = spreads_to(tx, f, &group, &wanted, err);
			if (status != AX_OK)
				conn->driver->end(page.cursor);
			else if (wanted)
				ax_sql_page_take(&page, &group);
		}
	}
	if (status == AX_OK) {
		*ret_before_time = page.ended ? 0 : time;
		*ret_before_id = page.ended ? 0 : page.at;
	}
	return AX_SQL_GIVE(status, page.rows, ret_groups);
}

enum ax_status ax_sql_failure_groups_alike(
	struct ax_tx *tx, int64_t fingerprint, int limit, struct ax_failure_groups *ret_groups, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status =
		ax_sql_list(tx, AX_SQL_FAILURE_GROUPS_ALIKE, ARGS(NUM(fingerprint), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_groups);
}

enum ax_status ax_sql_failure_groups_old(struct ax_tx *tx, bool resolved, int64_t seen_before, int limit,
	struct ax_failure_groups *ret_groups, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status =
		ax_sql_list(tx, resolved ? AX_SQL_FAILURE_GROUPS_OLD_RESOLVED : AX_SQL_FAILURE_GROUPS_OLD,
			ARGS(NUM(seen_before), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_groups);
}

/* spread and hours */

enum ax_status ax_sql_failure_spread_add(struct ax_tx *tx, const struct ax_failure_spread *spread, struct ax_err *err)
{
	return ax_sql_put_later(tx, AX_SQL_FAILURE_SPREAD_ADD, spread, err);
}

enum ax_status ax_sql_failure_spreads(
	struct ax_tx *tx, int64_t failure_id, int limit, struct ax_failure_spreads *ret_spreads, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_FAILURE_SPREADS, ARGS(NUM(failure_id), LIM(limit)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_spreads);
}

enum ax_status ax_sql_failure_hour_add(struct ax_tx *tx, const struct ax_failure_hour *hour, struct ax_err *err)
{
	return ax_sql_put_later(tx, AX_SQL_FAILURE_HOUR_ADD, hour, err);
}

enum ax_status ax_sql_failure_hours(
	struct ax_tx *tx, int64_t failure_id, struct ax_failure_hours *ret_hours, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_FAILURE_HOURS, ARGS(NUM(failure_id)), &rows, err);
	return AX_SQL_GIVE(status, rows, ret_hours);
}

enum ax_status ax_sql_failure_hours_cut(struct ax_tx *tx, int64_t failure_id, int64_t before_hour, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_FAILURE_HOURS_CUT, NULL, ARGS(NUM(failure_id), NUM(before_hour)), err);
}
