#ifndef AX_ADAPTERS_SQL_COUNTS_H
#define AX_ADAPTERS_SQL_COUNTS_H

/* The counters of runs given out, of groups and of workers in them, and what routing remembers of these: summed up
 * during a transaction and written at its end, each row once. Every claim and every result changes them, so whoever
 * holds such a row holds up the group: it is held for the time of a commit only, and always in one order, by group, and
 * of each the group's own row first. */

#include "adapters/sql/sql.h"

struct ax_sql_count {
	const char *group_key;
	const char *worker; /* NULL = the group's own */
	int64_t delta, long_delta;
	bool routed;
	int64_t given_order, turn_order, use_count, use_time; /* when it is */
};

/* `worker` NULL: the group's own. */
enum ax_status ax_sql_count(struct ax_tx *tx, const char *group_key, const char *worker, int64_t delta,
	int64_t long_delta, struct ax_err *err);
/* What routing remembers of a worker. */
void ax_sql_count_routed(struct ax_tx *tx, const struct ax_worker_group *row);
/* Adds to a row that was read what this transaction has not written yet. */
void ax_sql_count_in_group(const struct ax_sql_conn *conn, struct ax_group *group);
void ax_sql_count_in_worker_group(const struct ax_sql_conn *conn, struct ax_worker_group *row);
/* AX_NOT_FOUND when a row is not there, AX_BROKEN when a counter would go below 0. */
enum ax_status ax_sql_counts_write(struct ax_tx *tx, struct ax_err *err);

#endif
