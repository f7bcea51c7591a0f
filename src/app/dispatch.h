#ifndef AX_APP_DISPATCH_H
#define AX_APP_DISPATCH_H

#include "app/ctx.h"
#include "app/worker_seen.h"

/* What a worker was given: the run as claimed and the definition that it executes. */
struct ax_order {
	struct ax_run run;
	struct ax_task_def def;
};

/* A parked poll. */
struct ax_poll {
	const char *worker;
	const char *incarnation;
	struct {
		const char *group_key;
		int64_t slots;
	} free[64]; /* AX_POLL_GROUPS_MAX */
	int n_free;

	/* filled by ax_dispatch */
	enum ax_status status; /* AX_NOT_FOUND: unknown worker, register again; AX_CONFLICT: superseded */
	bool drain;
	struct ax_stop *stops; /* attempts of this worker that shall end */
	int n_stops;
	struct ax_order *orders;
	int n_orders;
};

/* Gives waiting runs to the polls, in one transaction: per group at most quota - running, per worker and group at most
 * min(slots, pool_size × 3 - given), idle workers first, runs in the order of their rank. Answer a poll with its orders
 * only after the transaction is durable; a poll left without orders and stops stays parked.
 *
 * Crash points: after the commit and before or during the answer. The claim then times out after AX_ACCEPT_MS and the
 * run goes back to WAITING under a higher fence. */
enum ax_status ax_dispatch(struct ax_ctx *ctx, struct ax_poll *polls, int n, struct ax_err *err) AX_MUST_USE;

#endif
