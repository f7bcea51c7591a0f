#ifndef AX_APP_DISPATCH_H
#define AX_APP_DISPATCH_H

#include "app/chain.h"
#include "app/ctx.h"
#include "app/poll.h"

/* Gives waiting runs to the polls, in one transaction: per group at most quota - running, per worker and group at most
 * min(slots, backlog - given), of both only a share to long runs; runs in the order of their rank, each to the worker
 * that its route chooses. Answer a poll with its orders only after the transaction is durable; a poll left without
 * orders and stops stays parked.
 *
 * Crash points: after the commit and before or during the answer. The claim then times out after AX_ACCEPT_MS and the
 * run goes back to WAITING under a higher fence. */
enum ax_status ax_dispatch(struct ax_ctx *ctx, struct ax_poll *polls, int n, struct ax_err *err) AX_MUST_USE;

#endif
