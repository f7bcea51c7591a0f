#ifndef AX_APP_ALERT_RULES_H
#define AX_APP_ALERT_RULES_H

/* Which events of tasks and runs are alerts. Called by those who make them happen, in the same transaction; what only
 * time shows is found by app/alert_sweep.h. */

#include "app/ctx.h"

/* A run ended; the task's row is locked. FAILED and TIMEOUT open the task's alert `failed` or add to it, unless the
 * group of the failure is `muted`: what is known is not told. SUCCESS resolves it, unless it is of an older fire or the
 * task now fails and now succeeds, and `absence`. */
enum ax_status ax_alert_run_ended(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_run *run, bool muted, int64_t now, struct ax_err *err);

/* A MISSED run was written. */
enum ax_status ax_alert_run_missed(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_run *run, int64_t now, struct ax_err *err);

/* Somebody decided on a MISSED run: the alert ends with the last one of the task. */
enum ax_status ax_alert_missed_decided(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t task_id, int64_t now, struct ax_err *err);

/* How late a run of the task may be given to a worker, in seconds; 0 = as late as it likes. */
int64_t ax_late_bound(const struct ax_task_def *def, const struct ax_group *group);

/* A run was given to a worker for the first time. */
enum ax_status ax_alert_run_given(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task_def *def,
	const struct ax_group *group, const struct ax_run *run, int64_t now, struct ax_err *err);

/* The task fires nothing, as its schedule cannot be read; `why` says what is wrong with it. */
enum ax_status ax_alert_task_unreadable(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_err *why, int64_t now, struct ax_err *err);

/* Nobody has to care any more: the task is deleted. */
enum ax_status ax_alert_task_gone(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t task_id, int64_t now, struct ax_err *err);

#endif
