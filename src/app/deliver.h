#ifndef AX_APP_DELIVER_H
#define AX_APP_DELIVER_H

/* From the outbox to the sender: at least once, in the order of each alert, never inside the transaction that queued
 * it.
 *
 * A try is claimed before it is made: the row's next_time becomes the time at which the try counts as lost. A server
 * that dies between the claim and the answer makes the message go out again: when it starts anew, or, from another
 * server, when that time comes. */

#include "app/ctx.h"
#include "port/sender.h"

enum { AX_SEND_LIMIT_MS = 20000, AX_SEND_LEASE_MS = 60000 };

/* Gives the sender what is due and may be told now. */
enum ax_status ax_deliver(struct ax_ctx *ctx, struct ax_sender *sender, struct ax_err *err);

struct ax_delivery_end {
	const struct ax_delivery_claim *claims; /* of the message */
	int n;
	bool arrived;
	const char *error; /* what people are told when it did not */
};

/* Records how a message ended: sent; due again after a wait; or given up. Claims that were overtaken change nothing. */
enum ax_status ax_deliver_end(struct ax_ctx *ctx, const struct ax_delivery_end *end, struct ax_err *err);

#endif
