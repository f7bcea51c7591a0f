#ifndef AX_APP_RUNS_H
#define AX_APP_RUNS_H

#include "app/ctx.h"

/* What a person may do to a run. AX_CONFLICT: its state does not allow it (the message says which). */

/* Cancels what no worker holds at once, and asks the worker otherwise (cancel = ASKED, then STOPPING when the worker
 * was told, STOPPED when it confirmed). The shards of a run go with it. */
enum ax_status ax_run_cancel(
	struct ax_ctx *ctx, int64_t gid, const char *why, struct ax_run *ret, struct ax_err *err) AX_MUST_USE;

/* Another due instant (0 = as it is) or other parameters (NULL = as they are) for a run that is not due yet.
 * AX_CONFLICT once it is. The key stays: a run is the same run whenever it is due. */
enum ax_status ax_run_postpone(struct ax_ctx *ctx, int64_t gid, int64_t run_at, const char *params, struct ax_run *ret,
	struct ax_err *err) AX_MUST_USE;

/* Tries a RETRYING run now; of a run with shards those that are RETRYING. */
enum ax_status ax_run_retry_now(struct ax_ctx *ctx, int64_t gid, struct ax_run *ret, struct ax_err *err) AX_MUST_USE;

/* A new run of an ended one's task with the same parameters, naming it. `key` as in struct ax_trigger. `failed_only`:
 * of its shards only those that did not succeed, under the same numbers. */
enum ax_status ax_run_rerun(struct ax_ctx *ctx, int64_t gid, const char *key, bool failed_only, struct ax_run *ret,
	struct ax_err *err) AX_MUST_USE;

/* The same inside the caller's transaction, due at `due`. AX_EXISTS when the key was used. */
enum ax_status ax_run_repeat(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *old, const struct ax_task *task,
	const char *key, bool failed_only, int64_t due, int64_t now, struct ax_run *ret,
	struct ax_err *err) AX_MUST_USE;

enum ax_missed_action { AX_MISSED_RUN, AX_MISSED_RUN_ALL, AX_MISSED_DISMISS };

/* A person's decision about a MISSED run: run its newest fire, run all (at most AX_FIRE_ALL_MAX, oldest first, one
 * after another by the overlap rule), or dismiss. A fire that ran already is refused; so is a second decision. */
enum ax_status ax_run_resolve_missed(struct ax_ctx *ctx, int64_t gid, enum ax_missed_action action, const char *note,
	struct ax_run *ret, struct ax_runs *ret_made, struct ax_err *err) AX_MUST_USE;

#endif
