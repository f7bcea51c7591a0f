#ifndef AX_APP_TASKS_H
#define AX_APP_TASKS_H

#include "app/ctx.h"

/* Everything that changes a task. Each call is one transaction: the fires due before now are settled under the old
 * rule, the change is written, its version and schedule epoch are appended. `actor` is who did it. */

/* Creates n tasks, all or none; `status` CREATED or ENABLED. On failure *ret_failed is the index of the one at fault.
 * ret_tasks holds n rows. */
enum ax_status ax_tasks_create(struct ax_ctx *ctx, const struct ax_task_def *defs, const enum ax_task_status *statuses,
	int n, const char *actor, struct ax_task *ret_tasks, int *ret_failed, struct ax_err *err) AX_MUST_USE;

/* Replaces the definition of version `old_version` (AX_CONFLICT when it moved on). Group and type stay as they are. */
enum ax_status ax_task_update(struct ax_ctx *ctx, int64_t id, int64_t old_version, const struct ax_task_def *def,
	const char *actor, struct ax_task *ret, struct ax_err *err) AX_MUST_USE;

/* Pause, resume (enable); AX_CONFLICT while it is being deleted, as for every other change. Runs already given out go
 * on; ret_given lists them on a pause (may be NULL). */
enum ax_status ax_task_set_status(struct ax_ctx *ctx, int64_t id, enum ax_task_status status, const char *actor,
	struct ax_task *ret, struct ax_runs *ret_given, struct ax_err *err) AX_MUST_USE;

/* AX_CONFLICT while runs are live. With `force` they are asked to cancel, the task is DELETING from there on, whatever
 * anybody asks, and the delete succeeds once none is live (AX_CONFLICT until then: call again). Runs beyond a batch are
 * cancelled by ticks (`ending`). */
enum ax_status ax_task_delete(
	struct ax_ctx *ctx, int64_t id, bool force, const char *actor, struct ax_err *err) AX_MUST_USE;

/* Cancels a batch of the runs of tasks that are to be deleted and had more. *ret_taken is AX_BATCH unless there is no
 * such task. Inside a transaction. */
enum ax_status ax_tasks_ending_step(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err) AX_MUST_USE;

struct ax_trigger {
	int64_t task_id;
	const char *params; /* JSON text or "" */
	int64_t run_at;     /* 0 = now; else the due instant, at most ten years ahead (delay run) */
	const char
		*key; /* dedup or request key, ≤ AX_KEY_MAX bytes (longer ones are hashed by the caller); "" = none */
};

/* A run by hand or by delay. With a key that was used before, the run of that time is returned (*ret_existed). */
enum ax_status ax_task_trigger(struct ax_ctx *ctx, const struct ax_trigger *trigger, struct ax_run *ret,
	bool *ret_existed, struct ax_err *err) AX_MUST_USE;

#endif
