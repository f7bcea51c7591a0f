#ifndef AX_APP_WATCH_H
#define AX_APP_WATCH_H

/* Runs that overrun or stall: found by a sweep, told as alerts, over when the run ends or moves again. */

#include "app/ctx.h"

/* The run is in a new state (set, not stored yet): what was wrong with the attempt, or with the run, is over. */
enum ax_status ax_watch_changed(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, int64_t now, struct ax_err *err);

/* A worker reported progress: does the attempt move? Sets the run's columns; the caller stores them. */
enum ax_status ax_watch_progress(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, int64_t percent,
	const char *message, int64_t now, struct ax_err *err);

/* Marks and reports runs whose time has come, at most AX_BATCH (*ret_n of them), in the caller's transaction. Done
 * twice it does nothing more. */
enum ax_status ax_watch_sweep(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_n, struct ax_err *err);

#endif
