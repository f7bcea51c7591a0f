#include <string.h>

#include "port/mem/db.h"

/* groups */

static const struct ax_group *find_group(struct ax_tx *tx, const char *key)
{
	return ax_mem_row(tx, AX_MEM_GROUP, 0, &(struct ax_group){ .group_key = key });
}

enum ax_status ax_mem_group_insert(struct ax_tx *tx, const struct ax_group *group, struct ax_err *err)
{
	if (group->running < 0 || group->running_long < 0)
		return ax_mem_broken(tx, "ax_group: running is below 0", err);
	return ax_mem_insert(tx, AX_MEM_GROUP, group, err);
}

enum ax_status ax_mem_group_get(
	struct ax_tx *tx, const char *key, bool for_update, struct ax_group *ret_group, struct ax_err *err)
{
	return ax_mem_get_for(tx, AX_MEM_GROUP, 0, &(struct ax_group){ .group_key = key }, for_update, ret_group, err);
}

enum ax_status ax_mem_group_update(
	struct ax_tx *tx, const struct ax_group *group, int64_t old_version, struct ax_err *err)
{
	const struct ax_group *stored = find_group(tx, group->group_key);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_GROUP, err);
	if (stored->version != old_version)
		return ax_mem_conflict(tx, AX_MEM_GROUP, err);
	struct ax_group row = *stored;
	ax_row_take_changes(&ax_group_row, group, &row);
	return ax_mem_replace(tx, AX_MEM_GROUP, stored, &row, err);
}

enum ax_status ax_mem_group_add_running(
	struct ax_tx *tx, const char *key, int64_t delta, int64_t long_delta, struct ax_err *err)
{
	const struct ax_group *stored = find_group(tx, key);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_GROUP, err);
	struct ax_group row = *stored;
	row.running += delta;
	row.running_long += long_delta;
	if (row.running < 0 || row.running_long < 0)
		return ax_mem_broken(tx, "ax_group: running is below 0", err);
	return ax_mem_replace(tx, AX_MEM_GROUP, stored, &row, err);
}

static bool group_is_used(struct ax_tx *tx, const char *key)
{
	struct ax_task probe = { .def = { .group_key = key, .task_name = "" } };
	struct ax_mem_list_walk tasks = ax_mem_walk(tx, AX_MEM_TASK, AX_MEM_TASK_BY_NAME, &probe);
	const struct ax_task *task = ax_mem_next(&tasks);
	if (task != NULL && strcmp(task->def.group_key, key) == 0)
		return true;
	struct ax_mem_list_walk live =
		ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_LIVE, &(struct ax_run){ .gid = INT64_MIN });
	const struct ax_run *run;
	while ((run = ax_mem_next(&live)) != NULL) {
		if (strcmp(run->group_key, key) == 0)
			return true;
	}
	return false;
}

enum ax_status ax_mem_group_delete(struct ax_tx *tx, const char *key, struct ax_err *err)
{
	const struct ax_group *stored = find_group(tx, key);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_GROUP, err);
	if (group_is_used(tx, key))
		return ax_fail(err, AX_CONFLICT, "group_key", "tasks or live runs belong to the group %s", key);
	return ax_mem_replace(tx, AX_MEM_GROUP, stored, NULL, err);
}

enum ax_status ax_mem_groups(struct ax_tx *tx, struct ax_groups *ret_groups, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_GROUP, 0, &(struct ax_group){ .group_key = "" });
	const struct ax_group *group;
	while ((group = ax_mem_next(&walk)) != NULL)
		ax_mem_keep(&walk, group);
	return AX_MEM_GIVE(walk, ret_groups);
}

enum ax_status ax_mem_group_given(
	struct ax_tx *tx, const char *key, struct ax_worker_groups *ret_rows, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = { .worker = "", .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_GIVEN, &probe);
	struct ax_worker_group *rows = NULL;
	const struct ax_run *run;
	size_t n = 0, cap = 0;
	while ((run = ax_mem_next(&walk)) != NULL) {
		if (run->worker[0] == '\0' || strcmp(run->group_key, key) != 0)
			continue;
		if (n == 0 || strcmp(rows[n - 1].worker, run->worker) != 0) {
			rows = ax_grow_array(tx->arena, rows, n, 1, &cap, sizeof(*rows));
			rows[n++] = (struct ax_worker_group){ .worker = ax_strdup(tx->arena, run->worker),
				.group_key = ax_strdup(tx->arena, key) };
		}
		rows[n - 1].given++;
		rows[n - 1].given_long += run->lane == AX_RUN_LANE_LONG;
	}
	*ret_rows = (struct ax_worker_groups){ rows, (int)n };
	return AX_OK;
}

/* workers */

enum ax_status ax_mem_worker_put(struct ax_tx *tx, const struct ax_worker *worker, struct ax_err *err)
{
	return ax_mem_upsert(tx, AX_MEM_WORKER, worker, err);
}

enum ax_status ax_mem_worker_get(
	struct ax_tx *tx, const char *name, bool for_update, struct ax_worker *ret_worker, struct ax_err *err)
{
	return ax_mem_get_for(tx, AX_MEM_WORKER, 0, &(struct ax_worker){ .name = name }, for_update, ret_worker, err);
}

enum ax_status ax_mem_worker_free(struct ax_tx *tx, const char *name, struct ax_worker *ret_worker, struct ax_err *err)
{
	const void *stored = ax_mem_row(tx, AX_MEM_WORKER, 0, &(struct ax_worker){ .name = name });
	if (stored == NULL || ax_mem_is_anothers(tx, stored))
		return ax_mem_missing(tx, AX_MEM_WORKER, err);
	return ax_mem_worker_get(tx, name, true, ret_worker, err);
}

/* Locked from the first on: behind one that is another's none is locked before that one is free. */
static void keep_for(struct ax_mem_list_walk *walk, const void *stored, bool lock, bool *all_free)
{
	*all_free = *all_free && (!lock || ax_mem_lock(walk->tx, stored));
	if (*all_free)
		ax_mem_keep(walk, stored);
}

/* Who holds here lets nobody else hold: that is more than is asked for. */
enum ax_status ax_mem_workers_by_name(
	struct ax_tx *tx, const struct ax_names *names, bool hold, struct ax_workers *ret_workers, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = { .tx = tx, .table = AX_MEM_WORKER };
	bool all_free = true;
	for (int i = 0; i < names->n; i++) {
		const void *worker = ax_mem_row(tx, AX_MEM_WORKER, 0, &(struct ax_worker){ .name = names->at[i] });
		if (worker != NULL)
			keep_for(&walk, worker, hold, &all_free);
	}
	return AX_MEM_GIVE(walk, ret_workers);
}

enum ax_status ax_mem_workers(struct ax_tx *tx, struct ax_workers *ret_workers, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_WORKER, 0, &(struct ax_worker){ .name = "" });
	const struct ax_worker *worker;
	while ((worker = ax_mem_next(&walk)) != NULL)
		ax_mem_keep(&walk, worker);
	return AX_MEM_GIVE(walk, ret_workers);
}

static struct ax_worker_group worker_group_key(const char *worker, const char *group_key)
{
	return (struct ax_worker_group){ .worker = worker, .group_key = group_key };
}

enum ax_status ax_mem_worker_delete(struct ax_tx *tx, const char *name, struct ax_err *err)
{
	struct ax_mem_table *groups = ax_mem_table(tx, AX_MEM_WORKER_GROUP);
	struct ax_worker_group probe = worker_group_key(name, "");
	size_t first = ax_mem_seek(groups, 0, &probe);
	enum ax_status status = ax_mem_delete(tx, AX_MEM_WORKER, &(struct ax_worker){ .name = name }, err);
	const struct ax_worker_group *row;
	while (status == AX_OK && (row = ax_mem_at(groups, 0, first)) != NULL && strcmp(row->worker, name) == 0)
		status = ax_mem_replace(tx, AX_MEM_WORKER_GROUP, row, NULL, err);
	return status;
}

enum ax_status ax_mem_worker_group_put(
	struct ax_tx *tx, const char *worker, const char *group_key, int64_t pool_size, struct ax_err *err)
{
	struct ax_worker_group row = worker_group_key(worker, group_key);
	const struct ax_worker_group *stored = ax_mem_row(tx, AX_MEM_WORKER_GROUP, 0, &row);
	if (stored != NULL)
		row = *stored;
	row.pool_size = pool_size;
	return ax_mem_replace(tx, AX_MEM_WORKER_GROUP, stored, &row, err);
}

enum ax_status ax_mem_worker_group_get(struct ax_tx *tx, const char *worker, const char *group_key, bool for_update,
	struct ax_worker_group *ret_row, struct ax_err *err)
{
	struct ax_worker_group probe = worker_group_key(worker, group_key);
	return ax_mem_get_for(tx, AX_MEM_WORKER_GROUP, 0, &probe, for_update, ret_row, err);
}

enum ax_status ax_mem_worker_groups(
	struct ax_tx *tx, const char *worker, struct ax_worker_groups *ret_rows, struct ax_err *err)
{
	(void)err;
	struct ax_worker_group probe = worker_group_key(worker == NULL ? "" : worker, "");
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_WORKER_GROUP, 0, &probe);
	const struct ax_worker_group *row;
	while ((row = ax_mem_next(&walk)) != NULL && (worker == NULL || strcmp(row->worker, worker) == 0))
		ax_mem_keep(&walk, row);
	return AX_MEM_GIVE(walk, ret_rows);
}

enum ax_status ax_mem_group_workers(
	struct ax_tx *tx, const char *group_key, struct ax_worker_groups *ret_rows, struct ax_err *err)
{
	(void)err;
	struct ax_worker_group probe = worker_group_key("", group_key);
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_WORKER_GROUP, AX_MEM_WORKER_GROUP_BY_GROUP, &probe);
	const struct ax_worker_group *row;
	while ((row = ax_mem_next(&walk)) != NULL && strcmp(row->group_key, group_key) == 0)
		ax_mem_keep(&walk, row);
	return AX_MEM_GIVE(walk, ret_rows);
}

enum ax_status ax_mem_group_workers_by_name(struct ax_tx *tx, const char *group_key, const struct ax_names *names,
	bool for_update, struct ax_worker_groups *ret_rows, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = { .tx = tx, .table = AX_MEM_WORKER_GROUP };
	bool all_free = true;
	for (int i = 0; i < names->n; i++) {
		struct ax_worker_group probe = worker_group_key(names->at[i], group_key);
		const void *row = ax_mem_row(tx, AX_MEM_WORKER_GROUP, 0, &probe);
		if (row != NULL)
			keep_for(&walk, row, for_update, &all_free);
	}
	return AX_MEM_GIVE(walk, ret_rows);
}

enum ax_status ax_mem_worker_group_add_given(struct ax_tx *tx, const char *worker, const char *group_key, int64_t delta,
	int64_t long_delta, struct ax_err *err)
{
	struct ax_worker_group row = worker_group_key(worker, group_key);
	const struct ax_worker_group *stored = ax_mem_row(tx, AX_MEM_WORKER_GROUP, 0, &row);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_WORKER_GROUP, err);
	row = *stored;
	row.given += delta;
	row.given_long += long_delta;
	if (row.given < 0 || row.given_long < 0)
		return ax_mem_broken(tx, "ax_worker_group: given is below 0", err);
	return ax_mem_replace(tx, AX_MEM_WORKER_GROUP, stored, &row, err);
}

enum ax_status ax_mem_worker_group_routed(struct ax_tx *tx, const struct ax_worker_group *row, struct ax_err *err)
{
	const struct ax_worker_group *stored = ax_mem_row(tx, AX_MEM_WORKER_GROUP, 0, row);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_WORKER_GROUP, err);
	struct ax_worker_group changed = *stored;
	changed.given_order = row->given_order;
	changed.turn_order = row->turn_order;
	changed.use_count = row->use_count;
	changed.use_time = row->use_time;
	return ax_mem_replace(tx, AX_MEM_WORKER_GROUP, stored, &changed, err);
}

enum ax_status ax_mem_worker_group_drop(struct ax_tx *tx, const char *worker, const char *group_key, struct ax_err *err)
{
	struct ax_worker_group probe = worker_group_key(worker, group_key);
	return ax_mem_delete(tx, AX_MEM_WORKER_GROUP, &probe, err);
}

/* servers */

enum ax_status ax_mem_server_put(struct ax_tx *tx, const struct ax_server_row *server, struct ax_err *err)
{
	return ax_mem_upsert(tx, AX_MEM_SERVER, server, err);
}

enum ax_status ax_mem_servers(struct ax_tx *tx, struct ax_servers *ret_servers, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk =
		ax_mem_walk(tx, AX_MEM_SERVER, 0, &(struct ax_server_row){ .number = INT64_MIN });
	const struct ax_server_row *server;
	while ((server = ax_mem_next(&walk)) != NULL)
		ax_mem_keep(&walk, server);
	return AX_MEM_GIVE(walk, ret_servers);
}

enum ax_status ax_mem_server_insert(struct ax_tx *tx, const struct ax_server_row *server, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_SERVER, server, err);
}

enum ax_status ax_mem_server_get(
	struct ax_tx *tx, int64_t number, bool for_update, struct ax_server_row *ret_server, struct ax_err *err)
{
	return ax_mem_get_for(
		tx, AX_MEM_SERVER, 0, &(struct ax_server_row){ .number = number }, for_update, ret_server, err);
}

enum ax_status ax_mem_server_renew(
	struct ax_tx *tx, const struct ax_server_row *server, int64_t incarnation, struct ax_err *err)
{
	const struct ax_server_row *stored =
		ax_mem_row(tx, AX_MEM_SERVER, 0, &(struct ax_server_row){ .number = server->number });
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_SERVER, err);
	if (stored->incarnation != incarnation)
		return ax_mem_conflict(tx, AX_MEM_SERVER, err);
	struct ax_server_row row = *stored;
	row.seen_time = server->seen_time;
	row.lease_time = server->lease_time;
	row.gid_high_ms = AX_MAX(row.gid_high_ms, server->gid_high_ms);
	return ax_mem_replace(tx, AX_MEM_SERVER, stored, &row, err);
}

/* leases */

enum ax_status ax_mem_lease_insert(struct ax_tx *tx, const struct ax_lease *lease, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_LEASE, lease, err);
}

enum ax_status ax_mem_lease_get(
	struct ax_tx *tx, const char *name, bool for_update, struct ax_lease *ret_lease, struct ax_err *err)
{
	return ax_mem_get_for(tx, AX_MEM_LEASE, 0, &(struct ax_lease){ .name = name }, for_update, ret_lease, err);
}

enum ax_status ax_mem_lease_update(
	struct ax_tx *tx, const struct ax_lease *lease, int64_t old_fence, struct ax_err *err)
{
	const struct ax_lease *stored = ax_mem_row(tx, AX_MEM_LEASE, 0, lease);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_LEASE, err);
	if (stored->fence != old_fence)
		return ax_mem_conflict(tx, AX_MEM_LEASE, err);
	return ax_mem_replace(tx, AX_MEM_LEASE, stored, lease, err);
}

enum ax_status ax_mem_leases(struct ax_tx *tx, struct ax_leases *ret_leases, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_LEASE, 0, &(struct ax_lease){ .name = "" });
	const struct ax_lease *lease;
	while ((lease = ax_mem_next(&walk)) != NULL)
		ax_mem_keep(&walk, lease);
	return AX_MEM_GIVE(walk, ret_leases);
}

/* accounts */

enum ax_status ax_mem_user_insert(struct ax_tx *tx, const struct ax_user *user, int64_t *ret_id, struct ax_err *err)
{
	struct ax_user row = *user;
	enum ax_status status = ax_mem_insert_next(tx, AX_MEM_USER, &row, &row.id, err);
	if (status == AX_OK)
		*ret_id = row.id;
	return status;
}

enum ax_status ax_mem_user_find(struct ax_tx *tx, const char *name, struct ax_user *ret_user, struct ax_err *err)
{
	return ax_mem_get(tx, AX_MEM_USER, AX_MEM_USER_BY_NAME, &(struct ax_user){ .name = name }, ret_user, err);
}

enum ax_status ax_mem_user_count(struct ax_tx *tx, int64_t *ret_n, struct ax_err *err)
{
	(void)err;
	*ret_n = (int64_t)ax_mem_table(tx, AX_MEM_USER)->lists[0].n;
	return AX_OK;
}

static const struct ax_token *find_token(struct ax_tx *tx, int64_t id)
{
	return ax_mem_row(tx, AX_MEM_TOKEN, 0, &(struct ax_token){ .id = id });
}

enum ax_status ax_mem_token_insert(struct ax_tx *tx, const struct ax_token *token, int64_t *ret_id, struct ax_err *err)
{
	struct ax_token row = *token;
	enum ax_status status = ax_mem_insert_next(tx, AX_MEM_TOKEN, &row, &row.id, err);
	if (status == AX_OK)
		*ret_id = row.id;
	return status;
}

enum ax_status ax_mem_token_find(struct ax_tx *tx, const char *hash, struct ax_token *ret_token, struct ax_err *err)
{
	struct ax_token probe = { .hash = hash };
	return ax_mem_get(tx, AX_MEM_TOKEN, AX_MEM_TOKEN_BY_HASH, &probe, ret_token, err);
}

enum ax_status ax_mem_token_touch(
	struct ax_tx *tx, int64_t id, int64_t last_used_time, int64_t expire_time, struct ax_err *err)
{
	const struct ax_token *stored = find_token(tx, id);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_TOKEN, err);
	struct ax_token row = *stored;
	row.last_used_time = last_used_time;
	row.expire_time = expire_time;
	return ax_mem_replace(tx, AX_MEM_TOKEN, stored, &row, err);
}

enum ax_status ax_mem_token_delete(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	return ax_mem_delete(tx, AX_MEM_TOKEN, &(struct ax_token){ .id = id }, err);
}

enum ax_status ax_mem_tokens(struct ax_tx *tx, struct ax_tokens *ret_tokens, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_TOKEN, 0, &(struct ax_token){ 0 });
	const struct ax_token *token;
	while ((token = ax_mem_next(&walk)) != NULL) {
		if (strcmp(token->kind, "api") == 0 || strcmp(token->kind, "worker") == 0)
			ax_mem_keep(&walk, token);
	}
	return AX_MEM_GIVE(walk, ret_tokens);
}

enum ax_status ax_mem_tokens_expire(struct ax_tx *tx, int64_t now, const char *kind, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_TOKEN);
	enum ax_status status = AX_OK;
	const struct ax_token *token;
	for (size_t i = 0; status == AX_OK && (token = ax_mem_at(table, 0, i)) != NULL;) {
		if (token->expire_time > 0 && token->expire_time <= now &&
			(kind == NULL || strcmp(token->kind, kind) == 0))
			status = ax_mem_replace(tx, AX_MEM_TOKEN, token, NULL, err); /* the next row takes its place */
		else
			i++;
	}
	return status;
}

/* audit log */

enum ax_status ax_mem_audit_append(struct ax_tx *tx, const struct ax_audit_entry *entry, struct ax_err *err)
{
	struct ax_audit_entry row = *entry;
	return ax_mem_insert_next(tx, AX_MEM_AUDIT, &row, &row.id, err);
}

enum ax_status ax_mem_audit_page(struct ax_tx *tx, const char *object, const char *actor, int64_t before_id, int limit,
	struct ax_audit_entries *ret_entries, struct ax_err *err)
{
	(void)err;
	struct ax_audit_entry probe = { .id = before_id == 0 ? INT64_MAX : before_id };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_AUDIT, 0, &probe);
	const struct ax_audit_entry *entry;
	while (walk.rows.n < limit && (entry = ax_mem_previous(&walk)) != NULL) {
		if ((object == NULL || strcmp(entry->object, object) == 0) &&
			(actor == NULL || strcmp(entry->actor, actor) == 0))
			ax_mem_keep(&walk, entry);
	}
	return AX_MEM_GIVE(walk, ret_entries);
}

/* answers kept for Idempotency-Key */

enum ax_status ax_mem_idem_get(struct ax_tx *tx, const char *key, struct ax_idem *ret_idem, struct ax_err *err)
{
	return ax_mem_get(tx, AX_MEM_IDEM, 0, &(struct ax_idem){ .key = key }, ret_idem, err);
}

enum ax_status ax_mem_idem_put(struct ax_tx *tx, const struct ax_idem *idem, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_IDEM, idem, err);
}

enum ax_status ax_mem_idem_purge(struct ax_tx *tx, int64_t now, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_IDEM);
	enum ax_status status = AX_OK;
	const struct ax_idem *idem;
	for (size_t i = 0; status == AX_OK && (idem = ax_mem_at(table, 0, i)) != NULL;) {
		if (idem->expire_time <= now)
			status = ax_mem_replace(tx, AX_MEM_IDEM, idem, NULL, err);
		else
			i++;
	}
	return status;
}

/* notices */

enum ax_status ax_mem_notice_insert(struct ax_tx *tx, const struct ax_notice *notice, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_NOTICE, notice, err);
}

enum ax_status ax_mem_notices(struct ax_tx *tx, int64_t server, int64_t after_seq, int limit,
	struct ax_notices *ret_notices, struct ax_err *err)
{
	(void)err;
	struct ax_notice probe = { .server = server, .seq = after_seq + 1 };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_NOTICE, 0, &probe);
	const struct ax_notice *notice;
	while (walk.rows.n < limit && (notice = ax_mem_next(&walk)) != NULL && notice->server == server)
		ax_mem_keep(&walk, notice);
	return AX_MEM_GIVE(walk, ret_notices);
}

enum ax_status ax_mem_notices_purge(struct ax_tx *tx, int64_t before, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_NOTICE);
	enum ax_status status = AX_OK;
	const struct ax_notice *notice;
	for (size_t i = 0; status == AX_OK && (notice = ax_mem_at(table, 0, i)) != NULL;) {
		if (notice->time < before)
			status = ax_mem_replace(tx, AX_MEM_NOTICE, notice, NULL, err);
		else
			i++;
	}
	return status;
}
