#ifndef AX_ADAPTERS_SQL_KEPT_H
#define AX_ADAPTERS_SQL_KEPT_H

/* The rows of tasks and runs that a transaction holds: what it read to be locked, or made. Nobody else changes them, so
 * they are read once, changed here, and written together, before a statement that may look at them and at the end.
 *
 * A key that turns out to be taken then is nobody's answer any more: the transaction is called again and writes each
 * row at once (conn->direct), so that the operation that met it says so. */

#include "adapters/sql/sql.h"

struct ax_sql_kept;

/* Questions of a task that have an answer other than "none" for few of them; bits. */
enum ax_sql_fact {
	AX_SQL_HAS_LIVE = 1,  /* runs that the overlap rule counts */
	AX_SQL_HAS_HELD = 2,  /* runs that it holds back */
	AX_SQL_HAS_DOWN = 4,  /* downstreams */
	AX_SQL_HAS_ALERT = 8, /* open alerts */
};

/* What a statement reads or writes, of what is kept; bits. */
enum ax_sql_touch {
	AX_SQL_TOUCH_RUNS = 1,
	AX_SQL_TOUCH_TASKS = 2,
	AX_SQL_TOUCH_UPSTREAMS = 4,
	AX_SQL_TOUCH_ALERTS = 8,
	AX_SQL_TOUCH_VERSIONS = 16,
	AX_SQL_TOUCH_ATTEMPTS = 32,
	AX_SQL_TOUCH_RUN_UPSTREAMS = 64,
	AX_SQL_TOUCH_FAILURE_SPREAD = 128,
	AX_SQL_TOUCH_FAILURE_HOURS = 256,
	AX_SQL_TOUCH_ANY = 511
};

/* A row that was read to be locked. */
void ax_sql_keep_run(struct ax_tx *tx, const struct ax_run *run);
void ax_sql_keep_task(struct ax_tx *tx, const struct ax_task *task);
/* NULL: it is not kept. */
const struct ax_run *ax_sql_kept_run(struct ax_tx *tx, int64_t gid);
const struct ax_task *ax_sql_kept_task(struct ax_tx *tx, int64_t id);
/* A run that was made and is not written yet, by its key; or NULL. */
const struct ax_run *ax_sql_kept_made(
	struct ax_tx *tx, int64_t task_id, enum ax_run_kind kind, const char *fire_key, int64_t shard);

/* A new run is kept where a statement is a trip and it is one of many: several tasks are kept, and its own is.
 * AX_NOT_FOUND without a word: it is not, the caller's statement does it. */
enum ax_status ax_sql_kept_insert(struct ax_tx *tx, const struct ax_run *run);
/* Changes of what is kept; AX_NOT_FOUND as above. */
enum ax_status ax_sql_kept_update(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err);
enum ax_status ax_sql_kept_renew(struct ax_tx *tx, int64_t gid, int64_t fence, int64_t heartbeat_time,
	int64_t deadline_time, struct ax_err *err);
enum ax_status ax_sql_kept_advance(struct ax_tx *tx, const struct ax_task *task, int64_t old_next, struct ax_err *err);
enum ax_status ax_sql_kept_last_run(struct ax_tx *tx, const struct ax_task *task);
/* A run changed by a statement of its own makes untrue what was known of its task. */
void ax_sql_note_facts(struct ax_tx *tx, const struct ax_run *run);
/* … and so does an alert that was made or changed. */
void ax_sql_note_alert(struct ax_tx *tx, const struct ax_alert *alert);
/* The row is written, if it was changed, and no longer kept: a statement of its own changes it. */
enum ax_status ax_sql_let_go_run(struct ax_tx *tx, int64_t gid, struct ax_err *err);
enum ax_status ax_sql_let_go_task(struct ax_tx *tx, int64_t id, struct ax_err *err);

/* Writes what a question about these runs of the task would miss. */
enum ax_status ax_sql_kept_tell(struct ax_tx *tx, int64_t task_id, enum ax_sql_fact fact, struct ax_err *err);
/* Writes all that is changed. */
enum ax_status ax_sql_kept_write(struct ax_tx *tx, struct ax_err *err);
/* A statement of the transaction is about to read, and to change, if it does, what `touch` says. */
enum ax_status ax_sql_kept_before(struct ax_tx *tx, enum ax_sql_id id, bool changes, struct ax_err *err);

/* Is it known that the task has none? Where a statement is a trip, that is asked for all kept tasks at once. */
enum ax_status ax_sql_has_none(struct ax_tx *tx, int64_t task_id, enum ax_sql_fact fact, bool *ret, struct ax_err *err);
/* How many of its runs are live. False: that is not known. */
bool ax_sql_kept_live(struct ax_tx *tx, int64_t task_id, int64_t *ret_live);
/* Its downstreams (AX_SQL_HAS_DOWN) or open alerts (AX_SQL_HAS_ALERT); NULL: they are not known. Those of all kept
 * tasks that have any are read at once. */
enum ax_status ax_sql_kept_rows(
	struct ax_tx *tx, int64_t task_id, enum ax_sql_fact fact, const struct ax_rows **ret, struct ax_err *err);

/* A version of a task; NULL: it is not known. Where a statement is a trip, those that the tasks of all kept runs are at
 * are read at once. */
enum ax_status ax_sql_kept_version(
	struct ax_tx *tx, int64_t task_id, int64_t version, const struct ax_task_version **ret, struct ax_err *err);

/* What a statement touches, by its text. */
void ax_sql_kept_prepare(struct ax_sql_conn *conn);

#endif
