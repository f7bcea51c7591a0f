#include <string.h>

#include "port/filter.h"
#include "port/mem/db.h"

/* failures */

static const struct ax_failure *find_failure(struct ax_tx *tx, int64_t gid)
{
	return ax_mem_row(tx, AX_MEM_FAILURE, 0, &(struct ax_failure){ .gid = gid });
}

enum ax_status ax_mem_failure_insert(struct ax_tx *tx, const struct ax_failure *failure, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_FAILURE, failure, err);
}

enum ax_status ax_mem_failure_get(struct ax_tx *tx, int64_t gid, struct ax_failure *ret_failure, struct ax_err *err)
{
	return ax_mem_get(tx, AX_MEM_FAILURE, 0, &(struct ax_failure){ .gid = gid }, ret_failure, err);
}

enum ax_status ax_mem_failures_unfolded(
	struct ax_tx *tx, int limit, struct ax_failures *ret_failures, struct ax_err *err)
{
	(void)err;
	struct ax_failure probe = { .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_FAILURE, AX_MEM_FAILURE_UNFOLDED, &probe);
	const struct ax_failure *failure;
	while (walk.rows.n < limit && (failure = ax_mem_next(&walk)) != NULL)
		ax_mem_keep_free(&walk, failure);
	return AX_MEM_GIVE(walk, ret_failures);
}

enum ax_status ax_mem_failures_set_folded(struct ax_tx *tx, const struct ax_ids *gids, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < gids->n; i++) {
		const struct ax_failure *stored = find_failure(tx, gids->at[i]);
		if (stored == NULL)
			continue;
		struct ax_failure row = *stored;
		row.folded = true;
		status = ax_mem_replace(tx, AX_MEM_FAILURE, stored, &row, err);
	}
	return status;
}

enum ax_status ax_mem_failure_set_rerun(struct ax_tx *tx, int64_t gid, int64_t rerun_gid, struct ax_err *err)
{
	const struct ax_failure *stored = find_failure(tx, gid);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_FAILURE, err);
	struct ax_failure row = *stored;
	row.rerun_gid = rerun_gid;
	return ax_mem_replace(tx, AX_MEM_FAILURE, stored, &row, err);
}

static bool is_of_group(const struct ax_failure *failure, const char *group_key, int64_t fingerprint)
{
	return failure != NULL && failure->fingerprint == fingerprint && strcmp(failure->group_key, group_key) == 0;
}

enum ax_status ax_mem_failures_of_group(struct ax_tx *tx, const char *group_key, int64_t fingerprint,
	int64_t before_gid, int limit, struct ax_failures *ret_failures, struct ax_err *err)
{
	(void)err;
	struct ax_failure probe = { .group_key = group_key, .fingerprint = fingerprint };
	probe.gid = before_gid == 0 ? INT64_MAX : before_gid;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_FAILURE, AX_MEM_FAILURE_OF_GROUP, &probe);
	const struct ax_failure *failure;
	while (walk.rows.n < limit && is_of_group(failure = ax_mem_previous(&walk), group_key, fingerprint))
		ax_mem_keep(&walk, failure);
	return AX_MEM_GIVE(walk, ret_failures);
}

static struct ax_mem_list_walk walk_to_rerun(
	struct ax_tx *tx, const char *group_key, int64_t fingerprint, int limit, int64_t *ret_n)
{
	struct ax_failure probe = { .group_key = group_key, .fingerprint = fingerprint, .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_FAILURE, AX_MEM_FAILURE_TO_RERUN, &probe);
	const struct ax_failure *failure;
	while (walk.rows.n < limit && is_of_group(failure = ax_mem_next(&walk), group_key, fingerprint)) {
		const struct ax_task *task =
			ax_mem_row(tx, AX_MEM_TASK, 0, &(struct ax_task){ .id = failure->task_id });
		if (task != NULL && task->status != AX_TASK_DELETING)
			ax_mem_keep(&walk, failure);
	}
	*ret_n = walk.rows.n;
	return walk;
}

enum ax_status ax_mem_failures_to_rerun(struct ax_tx *tx, const char *group_key, int64_t fingerprint, int limit,
	struct ax_failures *ret_failures, struct ax_err *err)
{
	(void)err;
	int64_t n;
	struct ax_mem_list_walk walk = walk_to_rerun(tx, group_key, fingerprint, limit, &n);
	return AX_MEM_GIVE(walk, ret_failures);
}

enum ax_status ax_mem_failures_to_rerun_count(
	struct ax_tx *tx, const char *group_key, int64_t fingerprint, int limit, int64_t *ret_n, struct ax_err *err)
{
	(void)err;
	walk_to_rerun(tx, group_key, fingerprint, limit, ret_n);
	return AX_OK;
}

/* groups */

enum ax_status ax_mem_failure_group_insert(
	struct ax_tx *tx, const struct ax_failure_group *group, int64_t *ret_id, struct ax_err *err)
{
	struct ax_failure_group row = *group;
	enum ax_status status = ax_mem_insert_next(tx, AX_MEM_FAILURE_GROUP, &row, &row.id, err);
	if (status == AX_OK)
		*ret_id = row.id;
	return status;
}

enum ax_status ax_mem_failure_group_get(
	struct ax_tx *tx, int64_t id, bool for_update, struct ax_failure_group *ret_group, struct ax_err *err)
{
	return ax_mem_get_for(
		tx, AX_MEM_FAILURE_GROUP, 0, &(struct ax_failure_group){ .id = id }, for_update, ret_group, err);
}

enum ax_status ax_mem_failure_group_find(struct ax_tx *tx, const char *group_key, int64_t fingerprint, bool for_update,
	struct ax_failure_group *ret_group, struct ax_err *err)
{
	struct ax_failure_group probe = { .group_key = group_key, .fingerprint = fingerprint };
	return ax_mem_get_for(
		tx, AX_MEM_FAILURE_GROUP, AX_MEM_FAILURE_GROUP_BY_KEY, &probe, for_update, ret_group, err);
}

enum ax_status ax_mem_failure_group_update(
	struct ax_tx *tx, const struct ax_failure_group *group, int64_t old_rev, struct ax_err *err)
{
	const struct ax_failure_group *stored = ax_mem_row(tx, AX_MEM_FAILURE_GROUP, 0, group);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_FAILURE_GROUP, err);
	if (stored->rev != old_rev)
		return ax_mem_conflict(tx, AX_MEM_FAILURE_GROUP, err);
	struct ax_failure_group row = *stored;
	ax_row_take_changes(&ax_failure_group_row, group, &row);
	row.rev = old_rev + 1;
	return ax_mem_replace(tx, AX_MEM_FAILURE_GROUP, stored, &row, err);
}

/* Deletes the rows whose first column is the group's id and whose second one is below `before`. */
static enum ax_status delete_of_group(struct ax_tx *tx, enum ax_mem_table_id id, const void *probe, int64_t failure_id,
	int64_t before, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, id);
	const struct ax_field *fields = table->type->fields;
	size_t first = ax_mem_seek(table, 0, probe);
	enum ax_status status = AX_OK;
	const void *row;
	while (status == AX_OK && (row = ax_mem_at(table, 0, first)) != NULL &&
		ax_field_number(&fields[0], row) == failure_id && ax_field_number(&fields[1], row) < before)
		status = ax_mem_replace(tx, id, row, NULL, err);
	return status;
}

enum ax_status ax_mem_failure_hours_cut(struct ax_tx *tx, int64_t failure_id, int64_t before_hour, struct ax_err *err)
{
	struct ax_failure_hour probe = { .failure_id = failure_id, .hour = INT64_MIN };
	return delete_of_group(tx, AX_MEM_FAILURE_HOUR, &probe, failure_id, before_hour, err);
}

enum ax_status ax_mem_failure_group_delete(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	struct ax_failure_spread probe = { .failure_id = id, .task_id = INT64_MIN, .version = INT64_MIN, .worker = "" };
	enum ax_status status = ax_mem_delete(tx, AX_MEM_FAILURE_GROUP, &(struct ax_failure_group){ .id = id }, err);
	if (status == AX_OK)
		status = delete_of_group(tx, AX_MEM_FAILURE_SPREAD, &probe, id, INT64_MAX, err);
	if (status == AX_OK)
		status = ax_mem_failure_hours_cut(tx, id, INT64_MAX, err);
	return status;
}

/* Did it fail where the filter asks for? */
static bool spreads_to(struct ax_tx *tx, const struct ax_failure_filter *f, int64_t id)
{
	const struct ax_mem_table *spreads = ax_mem_table(tx, AX_MEM_FAILURE_SPREAD);
	struct ax_failure_spread of_task = {
		.failure_id = id, .task_id = f->task_id, .version = INT64_MIN, .worker = ""
	};
	struct ax_failure_spread on_worker = { .failure_id = id, .worker = f->worker };
	const struct ax_failure_spread *first =
		f->task_id == 0 ? NULL : ax_mem_at(spreads, 0, ax_mem_seek(spreads, 0, &of_task));
	if (f->task_id != 0 && (first == NULL || first->failure_id != id || first->task_id != f->task_id))
		return false;
	return f->worker == NULL || ax_mem_find(spreads, 0, &on_worker) != NULL;
}

enum ax_status ax_mem_failure_groups_page(struct ax_tx *tx, const struct ax_failure_filter *f,
	struct ax_failure_groups *ret_groups, int64_t *ret_before_time, int64_t *ret_before_id, struct ax_err *err)
{
	(void)err;
	bool first = f->before_time == 0 && f->before_id == 0;
	struct ax_failure_group before = { .last_seen_time = first ? INT64_MAX : f->before_time,
		.id = first ? INT64_MAX : f->before_id };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_FAILURE_GROUP, AX_MEM_FAILURE_GROUP_SEEN, &before);
	for (int looked = 0;; looked++) {
		const struct ax_failure_group *group = ax_mem_previous(&walk);
		if (group == NULL || walk.rows.n >= f->limit || looked >= f->scan_limit) {
			*ret_before_time = group == NULL ? 0 : before.last_seen_time;
			*ret_before_id = group == NULL ? 0 : before.id;
			break;
		}
		before = *group;
		if (ax_failure_matches(f, group) && spreads_to(tx, f, group->id))
			ax_mem_keep(&walk, group);
	}
	return AX_MEM_GIVE(walk, ret_groups);
}

enum ax_status ax_mem_failure_groups_alike(
	struct ax_tx *tx, int64_t fingerprint, int limit, struct ax_failure_groups *ret_groups, struct ax_err *err)
{
	(void)err;
	struct ax_failure_group probe = { .fingerprint = fingerprint, .id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_FAILURE_GROUP, AX_MEM_FAILURE_GROUP_ALIKE, &probe);
	const struct ax_failure_group *group;
	while (walk.rows.n < limit && (group = ax_mem_next(&walk)) != NULL && group->fingerprint == fingerprint)
		ax_mem_keep(&walk, group);
	return AX_MEM_GIVE(walk, ret_groups);
}

enum ax_status ax_mem_failure_groups_old(struct ax_tx *tx, bool resolved, int64_t seen_before, int limit,
	struct ax_failure_groups *ret_groups, struct ax_err *err)
{
	(void)err;
	struct ax_failure_group probe = { .last_seen_time = INT64_MIN, .id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(
		tx, AX_MEM_FAILURE_GROUP, resolved ? AX_MEM_FAILURE_GROUP_RESOLVED : AX_MEM_FAILURE_GROUP_SEEN, &probe);
	const struct ax_failure_group *group;
	while (walk.rows.n < limit && (group = ax_mem_next(&walk)) != NULL && group->last_seen_time < seen_before)
		ax_mem_keep(&walk, group);
	return AX_MEM_GIVE(walk, ret_groups);
}

/* spread and hours */

enum ax_status ax_mem_failure_spread_add(struct ax_tx *tx, const struct ax_failure_spread *spread, struct ax_err *err)
{
	const struct ax_failure_spread *stored = ax_mem_row(tx, AX_MEM_FAILURE_SPREAD, 0, spread);
	struct ax_failure_spread row = *spread;
	if (stored != NULL) {
		row.count += stored->count;
		row.first_seen_time = AX_MIN(row.first_seen_time, stored->first_seen_time);
		row.last_seen_time = AX_MAX(row.last_seen_time, stored->last_seen_time);
	}
	return ax_mem_replace(tx, AX_MEM_FAILURE_SPREAD, stored, &row, err);
}

enum ax_status ax_mem_failure_spreads(
	struct ax_tx *tx, int64_t failure_id, int limit, struct ax_failure_spreads *ret_spreads, struct ax_err *err)
{
	(void)err;
	struct ax_failure_spread probe = {
		.failure_id = failure_id, .task_id = INT64_MIN, .version = INT64_MIN, .worker = ""
	};
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_FAILURE_SPREAD, 0, &probe);
	const struct ax_failure_spread *spread;
	while (walk.rows.n < limit && (spread = ax_mem_next(&walk)) != NULL && spread->failure_id == failure_id)
		ax_mem_keep(&walk, spread);
	return AX_MEM_GIVE(walk, ret_spreads);
}

enum ax_status ax_mem_failure_hour_add(struct ax_tx *tx, const struct ax_failure_hour *hour, struct ax_err *err)
{
	const struct ax_failure_hour *stored = ax_mem_row(tx, AX_MEM_FAILURE_HOUR, 0, hour);
	struct ax_failure_hour row = *hour;
	if (stored != NULL)
		row.count += stored->count;
	return ax_mem_replace(tx, AX_MEM_FAILURE_HOUR, stored, &row, err);
}

enum ax_status ax_mem_failure_hours(
	struct ax_tx *tx, int64_t failure_id, struct ax_failure_hours *ret_hours, struct ax_err *err)
{
	(void)err;
	struct ax_failure_hour probe = { .failure_id = failure_id, .hour = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_FAILURE_HOUR, 0, &probe);
	const struct ax_failure_hour *hour;
	while ((hour = ax_mem_next(&walk)) != NULL && hour->failure_id == failure_id)
		ax_mem_keep(&walk, hour);
	return AX_MEM_GIVE(walk, ret_hours);
}
