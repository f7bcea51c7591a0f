#ifndef AX_APP_BACKFILL_H
#define AX_APP_BACKFILL_H

/* Fires of a past range, made up a few at a time. Which they are is said by the task's rule as it is when each of them
 * is made; one that has a run of its own, whatever became of it, is left as it is.
 *
 * The row counts what was made and what has ended, so that it knows how many of its runs are live. A tick makes the
 * next ones; a crash before its commit leaves a row that says where to go on. */

#include "app/ctx.h"

struct ax_backfill_ask {
	int64_t task_id;
	int64_t from_time, to_time; /* fires of [from, to), as far as they are dealt with by now */
	int64_t max_live;
	bool newest_first;
	bool dry_run; /* only count: total and existed */
};

/* Starts one. AX_INVALID: the task has no schedule that could be computed, or no fire there; AX_TOO_LARGE: more than
 * AX_BACKFILL_MAX. `actor` is who did it. */
enum ax_status ax_backfill_create(struct ax_ctx *ctx, const struct ax_backfill_ask *ask, const char *actor,
	struct ax_backfill *ret, struct ax_err *err) AX_MUST_USE;

/* Makes no more runs, and cancels those of its runs that no worker holds. AX_CONFLICT when it is over. */
enum ax_status ax_backfill_cancel(
	struct ax_ctx *ctx, int64_t id, struct ax_backfill *ret, struct ax_err *err) AX_MUST_USE;

/* All of a task, when it is deleted. Inside a transaction. */
enum ax_status ax_backfills_end(struct ax_tx *tx, int64_t task_id, int64_t now, struct ax_err *err) AX_MUST_USE;

/* Goes on with those that are under way. *ret_taken is AX_BATCH when there is more to do at once. Inside a
 * transaction. */
enum ax_status ax_backfills_step(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err) AX_MUST_USE;

#endif
