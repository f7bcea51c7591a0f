#ifndef AX_APP_KEEP_H
#define AX_APP_KEEP_H

/* Groups that keep less history than the server does: by age (keep_days), and of each task a number of runs
 * (keep_runs). What ended within a day stays in any case: the overview, the audit of fires and whoever repeats a key
 * look at it. */

#include "app/ctx.h"

/* A step of retention: goes on behind the task where the last one ended, and deletes up to AX_BATCH runs.
 * *ret_steps 0 = all tasks have been looked at and nothing was deleted since the first of them. */
enum ax_status ax_keep_step(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_steps, struct ax_err *err);

#endif
