#ifndef AX_SERVER_POLLS_H
#define AX_SERVER_POLLS_H

/* Parked polls of workers. They wait in the loop thread; a dispatch errand takes those along for which runs may be
 * there, and brings back what they were given after the commit. One such errand is on its way at a time. While the
 * store is away, or others hold its rows, they stay parked: whoever is sent away comes back late. */

#include <uv.h>
#include "app/dispatch.h"
#include "server/call.h"
#include "server/hints.h"

struct ax_server;

struct ax_parked {
	struct ax_call *call;
	struct ax_poll poll;
	int64_t deadline_mono_ms;
	bool wanted;  /* to be taken by the next dispatch errand */
	bool busy;    /* in the one on its way */
	bool over;    /* client gone, server stopping or credential revoked: to be ended when it comes back */
	bool drained; /* told or known to be draining when it came */
	struct ax_parked *prev, *next;
};

struct ax_polls {
	struct ax_parked *list;
	int n;
	bool running;          /* a dispatch errand is on its way */
	bool failing;          /* the last one failed */
	int64_t again_mono_ms; /* when it is tried again; 0 = no need */
	uv_timer_t timer;
};

void ax_polls_init(struct ax_server *server);
/* Takes over the call of a poll. False, and the call stays the caller's, when its body is no poll. */
AX_MUST_USE bool ax_polls_park(struct ax_call *c);
/* Runs may be there for any of them. */
void ax_polls_serve_all(struct ax_server *server);
/* After a commit. */
void ax_polls_hints(struct ax_server *server, const struct ax_hints *hints);
void ax_polls_revoke(struct ax_server *server, int64_t token_id);

#endif
