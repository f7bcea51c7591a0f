#ifndef AX_APP_FAILURES_H
#define AX_APP_FAILURES_H

/* From failed runs to failure groups. The row of a failure is written in the transaction of the run's end; counting it
 * into its group waits, so that a hundred failures of one kind that end at once do not all want the same row. All
 * functions but those at the end work inside the caller's transaction.
 *
 * A crash loses nothing and counts nothing twice: a failure is marked as folded in the transaction that counts it. */

#include "app/ctx.h"

/* Writes the failure of a run that has just ended, if it is one. *ret_muted: its group is muted. */
enum ax_status ax_failure_note(
	struct ax_tx *tx, const struct ax_run *run, int64_t now, bool *ret_muted, struct ax_err *err);

/* The run was run again as `rerun_gid`. A run that did not fail is left alone. */
enum ax_status ax_failure_rerun(struct ax_tx *tx, int64_t gid, int64_t rerun_gid, struct ax_err *err);

/* Counts up to AX_BATCH failures into their groups, and raises the alerts of those that are new, back or growing. */
enum ax_status ax_failures_fold(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_folded, struct ax_err *err);

/* Forgets groups that did not fail for 30 days and are resolved, and those that did not for 90, but none that has
 * failures whose runs are kept. Up to AX_BATCH of them. */
enum ax_status ax_failures_retain(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int64_t keep_ms, int *ret_deleted, struct ax_err *err);

/* The group's alert is over. */
enum ax_status ax_failure_end_alert(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_failure_group *group,
	const struct ax_said *how, int64_t now, struct ax_err *err);

/* The group of the run's failure. AX_NOT_FOUND: it did not fail, or is not counted yet. */
enum ax_status ax_failure_group_of_run(
	struct ax_tx *tx, const struct ax_run *run, struct ax_failure_group *ret, struct ax_err *err);

#endif
