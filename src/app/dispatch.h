#ifndef AX_APP_DISPATCH_H
#define AX_APP_DISPATCH_H

#include "app/chain.h"
#include "app/ctx.h"
#include "app/poll.h"
#include "core/limits.h"

/* Gives waiting runs to polls that were looked at (ax_polls_look): per group at most quota - running, per worker and
 * group at most min(slots, backlog - given), of both only a share to long runs; runs in the order of their rank, each
 * to the worker that its route chooses. Answer a poll with its orders only after the transactions are durable; a poll
 * left without orders and stops stays parked. A failure that comes when something was given is none: what was given is
 * to be answered.
 *
 * Each group has a turn, a transaction of limited size. It chooses first: by what it reads, with nothing locked but the
 * chosen runs, which other servers leave out meanwhile. Then it locks the rows that everybody wants, workers and group,
 * counts again by them, and writes. What no room is left for by then, or no time, is looked at again.
 *
 * Crash points: before the commit nothing has happened, and the runs are free again when the database notes that the
 * session is gone; a server that saw them held looks again (AX_AGAIN_HELD). After the commit and before or during the
 * answer the claim times out after AX_ACCEPT_MS and the run goes back to WAITING under a higher fence. Between two
 * turns the first one's orders are such claims.
 *
 * What was given in the first turn is answered behind the last one. So the turns have a second: where each takes long,
 * the groups that are left are to be looked at again (AX_AGAIN_NOW), and come first in the next call. */
struct ax_round {
	char after[AX_KEY_MAX + 1]; /* the group that had the last turn when there were more; "" = never yet */
};

enum ax_status ax_dispatch(
	struct ax_ctx *ctx, struct ax_poll *polls, int n, struct ax_round *round, struct ax_err *err) AX_MUST_USE;

#endif
