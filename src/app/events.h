#ifndef AX_APP_EVENTS_H
#define AX_APP_EVENTS_H

#include "app/ctx.h"

struct ax_event_sent {
	const char *event_name;
	const char
		*event_id; /* as it was given, at most AX_EVENT_ID_MAX bytes; "" = none: every sending is a new event */
	const char *event_key; /* the same, or its hash when it is longer than AX_KEY_MAX */
	const char *run_key;   /* fire key of its runs: name and id together, or their hash; "" without an id */
	const char *payload;   /* JSON text or "": the params of the runs that it makes */
	const char *sent_by;
};

/* Writes the event down and makes its runs, in one transaction: one for every enabled task that listens to the name and
 * whose condition holds; of the others it notes why they were passed over. An event of this name and id that is known
 * is answered as it was (*ret_existed), and makes no runs. AX_INVALID, AX_TOO_LARGE with the field.
 *
 * Crash points: before and after the transaction. The sender sends again when in doubt. */
enum ax_status ax_event_send(struct ax_ctx *ctx, const struct ax_event_sent *sent, struct ax_event *ret,
	struct ax_event_tasks *ret_tasks, bool *ret_existed, struct ax_err *err) AX_MUST_USE;

#endif
