#include "adapters/sql/counts.h"

#include <stdlib.h>
#include <string.h>

static int compare_workers(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static struct ax_sql_count *find(const struct ax_sql_conn *conn, const char *group_key, const char *worker)
{
	for (size_t i = 0; i < conn->n_counts; i++)
		if (strcmp(conn->counts[i].group_key, group_key) == 0 &&
			compare_workers(conn->counts[i].worker, worker) == 0)
			return &conn->counts[i];
	return NULL;
}

static struct ax_sql_count *take(struct ax_tx *tx, const char *group_key, const char *worker)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_count *count = find(conn, group_key, worker);
	if (count != NULL)
		return count;
	conn->counts =
		ax_grow_array(tx->arena, conn->counts, conn->n_counts, 1, &conn->cap_counts, sizeof(*conn->counts));
	count = &conn->counts[conn->n_counts++];
	*count = (struct ax_sql_count){
		.group_key = ax_strndup(tx->arena, group_key, strlen(group_key)),
		.worker = worker == NULL ? NULL : ax_strndup(tx->arena, worker, strlen(worker)),
	};
	return count;
}

enum ax_status ax_sql_count(struct ax_tx *tx, const char *group_key, const char *worker, int64_t delta,
	int64_t long_delta, struct ax_err *err)
{
	(void)err;
	struct ax_sql_count *count = take(tx, group_key, worker);
	count->delta += delta;
	count->long_delta += long_delta;
	return AX_OK;
}

void ax_sql_count_routed(struct ax_tx *tx, const struct ax_worker_group *row)
{
	struct ax_sql_count *count = take(tx, row->group_key, row->worker);
	count->routed = true;
	count->given_order = row->given_order;
	count->turn_order = row->turn_order;
	count->use_count = row->use_count;
	count->use_time = row->use_time;
}

void ax_sql_count_in_group(const struct ax_sql_conn *conn, struct ax_group *group)
{
	const struct ax_sql_count *count = find(conn, group->group_key, NULL);
	if (count == NULL)
		return;
	group->running += count->delta;
	group->running_long += count->long_delta;
}

void ax_sql_count_in_worker_group(const struct ax_sql_conn *conn, struct ax_worker_group *row)
{
	const struct ax_sql_count *count = find(conn, row->group_key, row->worker);
	if (count == NULL)
		return;
	row->given += count->delta;
	row->given_long += count->long_delta;
	if (!count->routed)
		return;
	row->given_order = count->given_order;
	row->turn_order = count->turn_order;
	row->use_count = count->use_count;
	row->use_time = count->use_time;
}

static int compare(const void *a, const void *b)
{
	const struct ax_sql_count *x = a, *y = b;
	int by_group = strcmp(x->group_key, y->group_key);
	return by_group != 0 ? by_group : compare_workers(x->worker, y->worker);
}

static enum ax_sql_id statement_of(const struct ax_sql_count *count)
{
	if (count->worker == NULL)
		return AX_SQL_GROUP_ADD_RUNNING;
	return count->routed ? AX_SQL_WORKER_GROUP_GIVE : AX_SQL_WORKER_GROUP_ADD_GIVEN;
}

static const struct ax_sql_arg *args_of(struct ax_tx *tx, const struct ax_sql_count *count)
{
	const struct ax_sql_arg all[] = { TXT(count->worker), TXT(count->group_key), NUM(count->delta),
		NUM(count->long_delta), NUM(count->given_order), NUM(count->turn_order), NUM(count->use_count),
		NUM(count->use_time) };
	size_t from = count->worker == NULL, n = (count->routed ? AX_COUNT(all) : 4) - from;
	struct ax_sql_arg *args = ax_alloc_array(tx->arena, n + 1, sizeof(*args));
	memcpy(args, all + from, n * sizeof(*args));
	args[n].kind = AX_SQL_END;
	return args;
}

/* The first and those behind it that the same statement writes, *ret_some of them: over a network that is one trip. */
static enum ax_status write_some(
	struct ax_tx *tx, const struct ax_sql_count *counts, size_t n, size_t *ret_some, struct ax_err *err)
{
	struct ax_sql_input *inputs = ax_alloc_array(tx->arena, n, sizeof(*inputs));
	enum ax_sql_id id = statement_of(counts);
	size_t some = 0;
	int64_t found;
	for (; some < n && statement_of(&counts[some]) == id; some++)
		inputs[some] = (struct ax_sql_input){ .args = args_of(tx, &counts[some]) };
	*ret_some = some;
	enum ax_status status = ax_sql_exec_many(tx, id, inputs, (int)some, &found, err);
	if (status == AX_OK && found < (int64_t)some)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no such row");
	return status;
}

enum ax_status ax_sql_counts_write(struct ax_tx *tx, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	enum ax_status status = AX_OK;
	if (conn->n_counts > 1)
		qsort(conn->counts, conn->n_counts, sizeof(*conn->counts), compare);
	for (size_t at = 0, some; status == AX_OK && at < conn->n_counts; at += some)
		status = write_some(tx, &conn->counts[at], conn->n_counts - at, &some, err);
	conn->n_counts = 0;
	return status;
}
