#ifndef AX_APP_TICK_H
#define AX_APP_TICK_H

#include "app/ctx.h"

enum { AX_BUSY_MS = 20 }; /* for as long what another transaction holds is left alone */

/* Does everything that is due now: fires tasks, makes delayed and retrying runs WAITING, ends attempts whose lease or
 * limit passed. Safe to call at any time, from any server, and again after any failure: what was done is in the store.
 *
 * `ret_next_ms`: the next instant at which something becomes due (may be in the past when work is left over, 0 when
 * nothing is known; a due queue that leads knows better); call again then, and earlier when a task or run changes.
 * Crash points: before and after each transaction; each leaves rows that the next call finds. */
enum ax_status ax_tick(struct ax_ctx *ctx, int64_t *ret_next_ms, struct ax_err *err) AX_MUST_USE;

/* That instant, as an int64_t. */
enum ax_status ax_tick_find_next(struct ax_tx *tx, void *ret_ms, struct ax_err *err) AX_MUST_USE;

/* What it does with one task that is due, and with one run whose deadline passed, both locked; for app/taken.c. The row
 * is as stored afterwards. */
enum ax_status ax_tick_task(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err);
enum ax_status ax_tick_run(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, int64_t now, struct ax_err *err);

#endif
