#ifndef AX_APP_WORKERS_H
#define AX_APP_WORKERS_H

#include "app/ctx.h"
#include "app/worker_seen.h"

struct ax_registration {
	struct ax_worker worker;        /* status and times are set here */
	struct ax_worker_group *groups; /* a pool_size of 0 becomes the group's */
	int n_groups;
	const struct ax_stop *running; /* attempts that the worker still holds (reason unused) */
	int n_running;
	/* filled */
	struct ax_stop *stops;
	int n_stops;
};

/* A new incarnation takes over: attempts of the old one that it does not name are lost, those it names get a new lease;
 * named ones that are not its own any more come back in `stops`. The same incarnation again only refreshes its data. Of
 * more than AX_SWEEP_WRITES attempts the others are left to their leases, here and when it leaves.
 * AX_NOT_FOUND with the group as field when a group does not exist. */
enum ax_status ax_worker_register(struct ax_ctx *ctx, struct ax_registration *reg, struct ax_err *err) AX_MUST_USE;

/* The worker ends: attempts it still holds go back (not begun) or are lost. Unknown or superseded is AX_OK: it is gone.
 */
enum ax_status ax_worker_leave(
	struct ax_ctx *ctx, const char *name, const char *incarnation, struct ax_err *err) AX_MUST_USE;

/* By hand: no new runs, or again. */
enum ax_status ax_worker_drain(struct ax_ctx *ctx, const char *name, bool drain, struct ax_err *err) AX_MUST_USE;

/* As draining, but it holds, restarts or not, until a person enables the worker again. */
enum ax_status ax_worker_disable(struct ax_ctx *ctx, const char *name, bool disable, struct ax_err *err) AX_MUST_USE;

/* Forgets a worker that left or was not seen for a lease; AX_CONFLICT while it is there. */
enum ax_status ax_worker_forget(struct ax_ctx *ctx, const char *name, struct ax_err *err) AX_MUST_USE;

/* Forgets workers that were not seen for AX_WORKER_KEEP_MS and hold nothing, at most AX_BATCH; those that a person
 * drained or disabled stay, so that the decision does. Inside the caller's transaction. */
enum ax_status ax_workers_purge(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_n, struct ax_err *err) AX_MUST_USE;

#endif
