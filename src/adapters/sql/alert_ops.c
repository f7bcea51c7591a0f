/* The operations on channels, alerts and the outbox. */

#include <string.h>

#include "adapters/sql/kept.h"
#include "adapters/sql/sql.h"
#include "base/err.h"
#include "port/filter.h"

/* channels */

enum ax_status ax_sql_channel_insert(
	struct ax_tx *tx, const struct ax_channel *channel, int64_t *ret_id, struct ax_err *err)
{
	return ax_sql_insert_next(tx, AX_SQL_CHANNEL_INSERT, channel, ret_id, err);
}

enum ax_status ax_sql_channel_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_channel *ret_channel, struct ax_err *err)
{
	return ax_sql_get(
		tx, for_update ? AX_SQL_CHANNEL_GET_LOCK : AX_SQL_CHANNEL_GET, ARGS(NUM(id)), ret_channel, err);
}

enum ax_status ax_sql_channel_update(
	struct ax_tx *tx, const struct ax_channel *channel, int64_t old_version, struct ax_err *err)
{
	return ax_sql_change(tx, AX_SQL_CHANNEL_UPDATE, channel, ARGS(NUM(old_version)), AX_SQL_CHANNEL_EXISTS,
		ARGS(NUM(channel->id)), err);
}

enum ax_status ax_sql_channel_delete(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	return ax_sql_change_any(tx, AX_SQL_CHANNEL_DELETE, NULL, ARGS(NUM(id)), err);
}

enum ax_status ax_sql_channels(struct ax_tx *tx, struct ax_channels *ret_channels, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, AX_SQL_CHANNELS, NONE, &rows, err);
	return AX_SQL_GIVE(status, rows, ret_channels);
}

/* alerts */

enum ax_status ax_sql_alert_insert(struct ax_tx *tx, const struct ax_alert *alert, int64_t *ret_id, struct ax_err *err)
{
	ax_sql_note_alert(tx, alert);
	return ax_sql_insert_next(tx, AX_SQL_ALERT_INSERT, alert, ret_id, err);
}

enum ax_status ax_sql_alert_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_alert *ret_alert, struct ax_err *err)
{
	return ax_sql_get(tx, for_update ? AX_SQL_ALERT_GET_LOCK : AX_SQL_ALERT_GET, ARGS(NUM(id)), ret_alert, err);
}

enum ax_status ax_sql_alert_find(struct ax_tx *tx, enum ax_alert_rule rule, const char *group_key, const char *episode,
	bool for_update, struct ax_alert *ret_alert, struct ax_err *err)
{
	return ax_sql_get(tx, for_update ? AX_SQL_ALERT_FIND_LOCK : AX_SQL_ALERT_FIND,
		ARGS(NUM(rule), TXT(group_key), TXT(episode)), ret_alert, err);
}

enum ax_status ax_sql_alert_update(struct ax_tx *tx, const struct ax_alert *alert, int64_t old_rev, struct ax_err *err)
{
	struct ax_alert row = *alert;
	row.rev = old_rev + 1;
	ax_sql_note_alert(tx, alert);
	return ax_sql_change(
		tx, AX_SQL_ALERT_UPDATE, &row, ARGS(NUM(old_rev)), AX_SQL_ALERT_EXISTS, ARGS(NUM(alert->id)), err);
}

static enum ax_status list_alerts(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args, struct ax_alerts *ret, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, id, args, &rows, err);
	return AX_SQL_GIVE(status, rows, ret);
}

enum ax_status ax_sql_alerts_open(struct ax_tx *tx, enum ax_alert_rule rule, int64_t after_id, int limit,
	struct ax_alerts *ret_alerts, struct ax_err *err)
{
	return list_alerts(tx, AX_SQL_ALERTS_OPEN, ARGS(NUM(rule), NUM(after_id), LIM(limit)), ret_alerts, err);
}

enum ax_status ax_sql_alerts_of_task(
	struct ax_tx *tx, int64_t task_id, int limit, struct ax_alerts *ret_alerts, struct ax_err *err)
{
	const struct ax_rows *known = NULL;
	bool none;
	*ret_alerts = (struct ax_alerts){ 0 };
	enum ax_status status = ax_sql_has_none(tx, task_id, AX_SQL_HAS_ALERT, &none, err);
	if (status == AX_OK && !none)
		status = ax_sql_kept_rows(tx, task_id, AX_SQL_HAS_ALERT, &known, err);
	if (status != AX_OK || none)
		return status;
	if (known == NULL)
		return list_alerts(tx, AX_SQL_ALERTS_OF_TASK, ARGS(NUM(task_id), LIM(limit)), ret_alerts, err);
	struct ax_rows rows = { 0 };
	for (int i = 0; i < AX_MIN(known->n, limit); i++)
		*(struct ax_alert *)ax_rows_add(&rows, tx->arena, &ax_alert_row) = ((struct ax_alert *)known->at)[i];
	return AX_SQL_GIVE(status, rows, ret_alerts);
}

enum ax_status ax_sql_alerts_untold(
	struct ax_tx *tx, int64_t until, int limit, struct ax_alerts *ret_alerts, struct ax_err *err)
{
	return list_alerts(tx, AX_SQL_ALERTS_UNTOLD, ARGS(NUM(until), LIM(limit)), ret_alerts, err);
}

enum ax_status ax_sql_alerts_page(struct ax_tx *tx, const struct ax_alert_filter *f, struct ax_alerts *ret_alerts,
	int64_t *ret_before, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_page page =
		ax_sql_page(tx, &ax_alert_row, f->limit, f->scan_limit, f->before_id == 0 ? INT64_MAX : f->before_id);
	struct ax_alert alert;
	enum ax_status status = AX_OK;
	while (status == AX_OK && ax_sql_page_goes_on(&page)) {
		status = ax_sql_begin(conn, AX_SQL_ALERTS_PAGE, ARGS(NUM(page.at), NUM(page.step)), &page.cursor, err);
		while (status == AX_OK && (status = ax_sql_page_next(&page, &alert, err)) == AX_OK && page.found) {
			page.at = alert.id;
			if (ax_alert_matches(f, &alert))
				ax_sql_page_take(&page, &alert);
		}
	}
	if (status == AX_OK)
		*ret_before = page.ended ? 0 : page.at;
	return AX_SQL_GIVE(status, page.rows, ret_alerts);
}

enum ax_status ax_sql_alert_counts(struct ax_tx *tx, int64_t *ret_by_rule, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_cursor *cursor;
	memset(ret_by_rule, 0, 32 * sizeof(*ret_by_rule));
	enum ax_status status = ax_sql_begin(conn, AX_SQL_ALERT_COUNTS, NONE, &cursor, err);
	for (bool found = true; status == AX_OK && found;) {
		status = ax_sql_next(conn, cursor, &found, err);
		if (status != AX_OK || !found)
			break;
		int64_t rule = conn->driver->number(cursor, 0);
		if (rule >= 0 && rule < AX_ALERT_RULES)
			ret_by_rule[rule] = conn->driver->number(cursor, 1);
	}
	return status;
}

enum ax_status ax_sql_alerts_purge(struct ax_tx *tx, int64_t before, int limit, int *ret_deleted, struct ax_err *err)
{
	enum ax_status status = ax_sql_exec(tx, AX_SQL_ALERTS_PURGE_TESTS, NULL, ARGS(NUM(before)), err);
	int n = 0;
	for (; status == AX_OK && n < limit; n++) {
		int64_t id;
		status = ax_sql_numbers(tx, AX_SQL_ALERTS_PURGE_FIND, ARGS(NUM(before)), &id, 1, err);
		if (status != AX_OK || id == 0)
			break;
		status = ax_sql_exec(tx, AX_SQL_ALERTS_PURGE_OUTBOX, NULL, ARGS(NUM(id)), err);
		if (status == AX_OK)
			status = ax_sql_exec(tx, AX_SQL_ALERTS_PURGE, NULL, ARGS(NUM(id)), err);
	}
	if (status == AX_OK)
		*ret_deleted = n;
	return status;
}

/* the outbox */

enum ax_status ax_sql_delivery_insert(
	struct ax_tx *tx, const struct ax_delivery *delivery, int64_t *ret_id, struct ax_err *err)
{
	return ax_sql_insert_next(tx, AX_SQL_DELIVERY_INSERT, delivery, ret_id, err);
}

enum ax_status ax_sql_delivery_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_delivery *ret_delivery, struct ax_err *err)
{
	return ax_sql_get(
		tx, for_update ? AX_SQL_DELIVERY_GET_LOCK : AX_SQL_DELIVERY_GET, ARGS(NUM(id)), ret_delivery, err);
}

enum ax_status ax_sql_delivery_update(
	struct ax_tx *tx, const struct ax_delivery *delivery, int64_t old_rev, struct ax_err *err)
{
	struct ax_delivery row = *delivery;
	row.rev = old_rev + 1;
	return ax_sql_change(tx, AX_SQL_DELIVERY_UPDATE, &row, ARGS(NUM(old_rev)), AX_SQL_DELIVERY_EXISTS,
		ARGS(NUM(delivery->id)), err);
}

static enum ax_status list_deliveries(struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_arg *args,
	struct ax_deliveries *ret, struct ax_err *err)
{
	struct ax_rows rows;
	enum ax_status status = ax_sql_list(tx, id, args, &rows, err);
	return AX_SQL_GIVE(status, rows, ret);
}

enum ax_status ax_sql_deliveries_due(struct ax_tx *tx, int64_t channel_id, int64_t until, int limit,
	struct ax_deliveries *ret_deliveries, struct ax_err *err)
{
	return list_deliveries(
		tx, AX_SQL_DELIVERIES_DUE, ARGS(NUM(channel_id), NUM(until), LIM(limit)), ret_deliveries, err);
}

enum ax_status ax_sql_deliveries_release(struct ax_tx *tx, int64_t server, struct ax_err *err)
{
	return ax_sql_exec(tx, AX_SQL_DELIVERIES_RELEASE, NULL, ARGS(NUM(server)), err);
}

enum ax_status ax_sql_deliveries_of_alert(
	struct ax_tx *tx, int64_t alert_id, int limit, struct ax_deliveries *ret_deliveries, struct ax_err *err)
{
	return list_deliveries(tx, AX_SQL_DELIVERIES_OF_ALERT, ARGS(NUM(alert_id), LIM(limit)), ret_deliveries, err);
}

enum ax_status ax_sql_deliveries_of_channel(struct ax_tx *tx, int64_t channel_id, int64_t before_id, int limit,
	struct ax_deliveries *ret_deliveries, struct ax_err *err)
{
	return list_deliveries(tx, AX_SQL_DELIVERIES_OF_CHANNEL, ARGS(NUM(channel_id), BEFORE(before_id), LIM(limit)),
		ret_deliveries, err);
}

enum ax_status ax_sql_deliveries_pending(struct ax_tx *tx, int64_t *ret_n, struct ax_err *err)
{
	return ax_sql_numbers(tx, AX_SQL_DELIVERIES_PENDING, NONE, ret_n, 1, err);
}
