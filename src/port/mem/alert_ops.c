#include <string.h>

#include "port/filter.h"
#include "port/mem/db.h"

/* channels */

static const struct ax_channel *find_channel(struct ax_tx *tx, int64_t id)
{
	return ax_mem_row(tx, AX_MEM_CHANNEL, 0, &(struct ax_channel){ .id = id });
}

enum ax_status ax_mem_channel_insert(
	struct ax_tx *tx, const struct ax_channel *channel, int64_t *ret_id, struct ax_err *err)
{
	struct ax_channel row = *channel;
	enum ax_status status = ax_mem_insert_next(tx, AX_MEM_CHANNEL, &row, &row.id, err);
	if (status == AX_OK)
		*ret_id = row.id;
	return status;
}

enum ax_status ax_mem_channel_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_channel *ret_channel, struct ax_err *err)
{
	return ax_mem_get_for(tx, AX_MEM_CHANNEL, 0, &(struct ax_channel){ .id = id }, for_update, ret_channel, err);
}

enum ax_status ax_mem_channel_update(
	struct ax_tx *tx, const struct ax_channel *channel, int64_t old_version, struct ax_err *err)
{
	const struct ax_channel *stored = find_channel(tx, channel->id);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_CHANNEL, err);
	if (stored->version != old_version)
		return ax_mem_conflict(tx, AX_MEM_CHANNEL, err);
	struct ax_channel row = *stored;
	ax_row_take_changes(&ax_channel_row, channel, &row);
	return ax_mem_replace(tx, AX_MEM_CHANNEL, stored, &row, err);
}

enum ax_status ax_mem_channel_delete(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	return ax_mem_delete(tx, AX_MEM_CHANNEL, &(struct ax_channel){ .id = id }, err);
}

enum ax_status ax_mem_channels(struct ax_tx *tx, struct ax_channels *ret_channels, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_CHANNEL, 0, &(struct ax_channel){ .id = INT64_MIN });
	const struct ax_channel *channel;
	while ((channel = ax_mem_next(&walk)) != NULL)
		ax_mem_keep(&walk, channel);
	return AX_MEM_GIVE(walk, ret_channels);
}

/* alerts */

enum ax_status ax_mem_alert_insert(struct ax_tx *tx, const struct ax_alert *alert, int64_t *ret_id, struct ax_err *err)
{
	struct ax_alert row = *alert;
	enum ax_status status = ax_mem_insert_next(tx, AX_MEM_ALERT, &row, &row.id, err);
	if (status == AX_OK)
		*ret_id = row.id;
	return status;
}

enum ax_status ax_mem_alert_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_alert *ret_alert, struct ax_err *err)
{
	return ax_mem_get_for(tx, AX_MEM_ALERT, 0, &(struct ax_alert){ .id = id }, for_update, ret_alert, err);
}

enum ax_status ax_mem_alert_find(struct ax_tx *tx, enum ax_alert_rule rule, const char *group_key, const char *episode,
	bool for_update, struct ax_alert *ret_alert, struct ax_err *err)
{
	struct ax_alert probe = { .rule = rule, .group_key = group_key, .episode = episode };
	return ax_mem_get_for(tx, AX_MEM_ALERT, AX_MEM_ALERT_OPEN, &probe, for_update, ret_alert, err);
}

enum ax_status ax_mem_alert_update(struct ax_tx *tx, const struct ax_alert *alert, int64_t old_rev, struct ax_err *err)
{
	const struct ax_alert *stored = ax_mem_row(tx, AX_MEM_ALERT, 0, alert);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_ALERT, err);
	if (stored->rev != old_rev)
		return ax_mem_conflict(tx, AX_MEM_ALERT, err);
	struct ax_alert row = *stored;
	ax_row_take_changes(&ax_alert_row, alert, &row);
	row.rev = old_rev + 1;
	return ax_mem_replace(tx, AX_MEM_ALERT, stored, &row, err);
}

enum ax_status ax_mem_alerts_open(struct ax_tx *tx, enum ax_alert_rule rule, int64_t after_id, int limit,
	struct ax_alerts *ret_alerts, struct ax_err *err)
{
	(void)err;
	struct ax_alert probe = { .rule = rule, .id = after_id + 1 };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_ALERT, AX_MEM_ALERT_OPEN_BY_RULE, &probe);
	const struct ax_alert *alert;
	while (walk.rows.n < limit && (alert = ax_mem_next(&walk)) != NULL && alert->rule == rule)
		ax_mem_keep(&walk, alert);
	return AX_MEM_GIVE(walk, ret_alerts);
}

enum ax_status ax_mem_alerts_of_task(
	struct ax_tx *tx, int64_t task_id, int limit, struct ax_alerts *ret_alerts, struct ax_err *err)
{
	(void)err;
	struct ax_alert probe = { .task_id = task_id, .id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_ALERT, AX_MEM_ALERT_OPEN_BY_TASK, &probe);
	const struct ax_alert *alert;
	while (walk.rows.n < limit && (alert = ax_mem_next(&walk)) != NULL && alert->task_id == task_id)
		ax_mem_keep(&walk, alert);
	return AX_MEM_GIVE(walk, ret_alerts);
}

enum ax_status ax_mem_alerts_untold(
	struct ax_tx *tx, int64_t until, int limit, struct ax_alerts *ret_alerts, struct ax_err *err)
{
	(void)err;
	struct ax_alert probe = { .told_time = INT64_MIN, .id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_ALERT, AX_MEM_ALERT_UNTOLD, &probe);
	const struct ax_alert *alert;
	while (walk.rows.n < limit && (alert = ax_mem_next(&walk)) != NULL && alert->told_time <= until)
		ax_mem_keep_free(&walk, alert);
	return AX_MEM_GIVE(walk, ret_alerts);
}

enum ax_status ax_mem_alerts_page(struct ax_tx *tx, const struct ax_alert_filter *f, struct ax_alerts *ret_alerts,
	int64_t *ret_before, struct ax_err *err)
{
	(void)err;
	int64_t before = f->before_id == 0 ? INT64_MAX : f->before_id;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_ALERT, 0, &(struct ax_alert){ .id = before });
	for (int looked = 0;; looked++) {
		const struct ax_alert *alert = ax_mem_previous(&walk);
		if (alert == NULL || walk.rows.n >= f->limit || looked >= f->scan_limit) {
			*ret_before = alert == NULL ? 0 : before;
			break;
		}
		before = alert->id;
		if (ax_alert_matches(f, alert))
			ax_mem_keep(&walk, alert);
	}
	return AX_MEM_GIVE(walk, ret_alerts);
}

enum ax_status ax_mem_alert_counts(struct ax_tx *tx, int64_t *ret_by_rule, struct ax_err *err)
{
	(void)err;
	memset(ret_by_rule, 0, 32 * sizeof(*ret_by_rule));
	struct ax_mem_list_walk walk = ax_mem_walk(
		tx, AX_MEM_ALERT, AX_MEM_ALERT_OPEN_BY_RULE, &(struct ax_alert){ .rule = (enum ax_alert_rule)0 });
	const struct ax_alert *alert;
	while ((alert = ax_mem_next(&walk)) != NULL)
		if (alert->rule < AX_ALERT_RULES)
			ret_by_rule[alert->rule]++;
	return AX_OK;
}

/* The deliveries of an alert that were queued before that time. */
static enum ax_status purge_deliveries(struct ax_tx *tx, int64_t alert_id, int64_t before, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_DELIVERY);
	struct ax_delivery probe = { .alert_id = alert_id, .id = INT64_MIN };
	size_t at = ax_mem_seek(table, AX_MEM_DELIVERY_BY_ALERT, &probe);
	enum ax_status status = AX_OK;
	const struct ax_delivery *row;
	while (status == AX_OK && (row = ax_mem_at(table, AX_MEM_DELIVERY_BY_ALERT, at)) != NULL &&
		row->alert_id == alert_id) {
		if (row->create_time < before)
			status = ax_mem_replace(tx, AX_MEM_DELIVERY, row, NULL, err);
		else
			at++;
	}
	return status;
}

enum ax_status ax_mem_alerts_purge(struct ax_tx *tx, int64_t before, int limit, int *ret_deleted, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_ALERT);
	enum ax_status status = purge_deliveries(tx, 0, before, err);
	const struct ax_alert *alert;
	int n = 0;
	for (; status == AX_OK && n < limit; n++) {
		alert = ax_mem_at(table, AX_MEM_ALERT_RESOLVED, 0);
		if (alert == NULL || alert->resolve_time >= before)
			break;
		status = purge_deliveries(tx, alert->id, INT64_MAX, err);
		if (status == AX_OK)
			status = ax_mem_replace(tx, AX_MEM_ALERT, alert, NULL, err);
	}
	if (status == AX_OK)
		*ret_deleted = n;
	return status;
}

/* the outbox */

enum ax_status ax_mem_delivery_insert(
	struct ax_tx *tx, const struct ax_delivery *delivery, int64_t *ret_id, struct ax_err *err)
{
	struct ax_delivery row = *delivery;
	enum ax_status status = ax_mem_insert_next(tx, AX_MEM_DELIVERY, &row, &row.id, err);
	if (status == AX_OK)
		*ret_id = row.id;
	return status;
}

enum ax_status ax_mem_delivery_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_delivery *ret_delivery, struct ax_err *err)
{
	return ax_mem_get_for(tx, AX_MEM_DELIVERY, 0, &(struct ax_delivery){ .id = id }, for_update, ret_delivery, err);
}

enum ax_status ax_mem_delivery_update(
	struct ax_tx *tx, const struct ax_delivery *delivery, int64_t old_rev, struct ax_err *err)
{
	const struct ax_delivery *stored = ax_mem_row(tx, AX_MEM_DELIVERY, 0, delivery);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_DELIVERY, err);
	if (stored->rev != old_rev)
		return ax_mem_conflict(tx, AX_MEM_DELIVERY, err);
	struct ax_delivery row = *stored;
	ax_row_take_changes(&ax_delivery_row, delivery, &row);
	row.rev = old_rev + 1;
	return ax_mem_replace(tx, AX_MEM_DELIVERY, stored, &row, err);
}

/* True when no earlier one of the same alert and channel is pending. */
static bool is_first(struct ax_tx *tx, const struct ax_delivery *delivery)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_DELIVERY);
	struct ax_delivery probe = *delivery;
	probe.id = INT64_MIN;
	const struct ax_delivery *first =
		ax_mem_at(table, AX_MEM_DELIVERY_TURN, ax_mem_seek(table, AX_MEM_DELIVERY_TURN, &probe));
	return first->id == delivery->id;
}

enum ax_status ax_mem_deliveries_due(struct ax_tx *tx, int64_t channel_id, int64_t until, int limit,
	struct ax_deliveries *ret_deliveries, struct ax_err *err)
{
	(void)err;
	struct ax_delivery probe = { .channel_id = channel_id, .next_time = INT64_MIN, .id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_DELIVERY, AX_MEM_DELIVERY_DUE, &probe);
	const struct ax_delivery *delivery;
	while (walk.rows.n < limit && (delivery = ax_mem_next(&walk)) != NULL && delivery->channel_id == channel_id &&
		delivery->next_time <= until)
		if (is_first(tx, delivery))
			ax_mem_keep_free(&walk, delivery);
	return AX_MEM_GIVE(walk, ret_deliveries);
}

enum ax_status ax_mem_deliveries_release(struct ax_tx *tx, int64_t server, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_DELIVERY);
	enum ax_status status = AX_OK;
	const struct ax_delivery *delivery;
	for (size_t i = 0; status == AX_OK && (delivery = ax_mem_at(table, AX_MEM_DELIVERY_TURN, i)) != NULL; i++) {
		if (delivery->server != server)
			continue;
		struct ax_delivery row = *delivery;
		row.server = -1;
		row.next_time = 0;
		row.rev++;
		status = ax_mem_replace(tx, AX_MEM_DELIVERY, delivery, &row, err);
	}
	return status;
}

enum ax_status ax_mem_deliveries_of_alert(
	struct ax_tx *tx, int64_t alert_id, int limit, struct ax_deliveries *ret_deliveries, struct ax_err *err)
{
	(void)err;
	struct ax_delivery probe = { .alert_id = alert_id, .id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_DELIVERY, AX_MEM_DELIVERY_BY_ALERT, &probe);
	const struct ax_delivery *delivery;
	while (walk.rows.n < limit && (delivery = ax_mem_next(&walk)) != NULL && delivery->alert_id == alert_id)
		ax_mem_keep(&walk, delivery);
	return AX_MEM_GIVE(walk, ret_deliveries);
}

enum ax_status ax_mem_deliveries_of_channel(struct ax_tx *tx, int64_t channel_id, int64_t before_id, int limit,
	struct ax_deliveries *ret_deliveries, struct ax_err *err)
{
	(void)err;
	struct ax_delivery probe = { .channel_id = channel_id, .id = before_id == 0 ? INT64_MAX : before_id };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_DELIVERY, AX_MEM_DELIVERY_BY_CHANNEL, &probe);
	const struct ax_delivery *delivery;
	while (walk.rows.n < limit && (delivery = ax_mem_previous(&walk)) != NULL && delivery->channel_id == channel_id)
		ax_mem_keep(&walk, delivery);
	return AX_MEM_GIVE(walk, ret_deliveries);
}

enum ax_status ax_mem_deliveries_pending(struct ax_tx *tx, int64_t *ret_n, struct ax_err *err)
{
	(void)err;
	*ret_n = (int64_t)ax_mem_table(tx, AX_MEM_DELIVERY)->lists[AX_MEM_DELIVERY_DUE].n;
	return AX_OK;
}
