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

enum ax_status ax_sql_count(struct ax_tx *tx, const char *group_key, const char *worker, int64_t delta,
	int64_t long_delta, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	(void)err;
	struct ax_sql_count *count = find(conn, group_key, worker);
	if (count == NULL) {
		conn->counts = ax_grow_array(
			tx->arena, conn->counts, conn->n_counts, 1, &conn->cap_counts, sizeof(*conn->counts));
		count = &conn->counts[conn->n_counts++];
		*count = (struct ax_sql_count){
			.group_key = ax_strndup(tx->arena, group_key, strlen(group_key)),
			.worker = worker == NULL ? NULL : ax_strndup(tx->arena, worker, strlen(worker)),
		};
	}
	count->delta += delta;
	count->long_delta += long_delta;
	return AX_OK;
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
}

static int compare(const void *a, const void *b)
{
	const struct ax_sql_count *x = a, *y = b;
	int by_group = strcmp(x->group_key, y->group_key);
	return by_group != 0 ? by_group : compare_workers(x->worker, y->worker);
}

static enum ax_status write_one(struct ax_tx *tx, const struct ax_sql_count *count, struct ax_err *err)
{
	if (count->worker == NULL)
		return ax_sql_change_any(tx, AX_SQL_GROUP_ADD_RUNNING, NULL,
			ARGS(TXT(count->group_key), NUM(count->delta), NUM(count->long_delta)), err);
	return ax_sql_change_any(tx, AX_SQL_WORKER_GROUP_ADD_GIVEN, NULL,
		ARGS(TXT(count->worker), TXT(count->group_key), NUM(count->delta), NUM(count->long_delta)), err);
}

enum ax_status ax_sql_counts_write(struct ax_tx *tx, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	enum ax_status status = AX_OK;
	if (conn->n_counts > 1)
		qsort(conn->counts, conn->n_counts, sizeof(*conn->counts), compare);
	for (size_t i = 0; status == AX_OK && i < conn->n_counts; i++)
		status = write_one(tx, &conn->counts[i], err);
	conn->n_counts = 0;
	return status;
}
