#ifndef AX_SERVER_POLLS_H
#define AX_SERVER_POLLS_H

/* Parked polls of workers. They wait in the loop thread; a dispatch errand takes those along for which runs may be
 * there, and brings back what they were given after the commit. Where several threads write, a second one goes beside
 * it, for other groups: a group that is flooded must not hold up those that are not. While the store is away, or others
 * hold its rows, they stay parked: whoever is sent away comes back late. */

#include <uv.h>
#include "app/dispatch.h"
#include "server/call.h"
#include "server/hints.h"

struct ax_server;

struct ax_parked {
	struct ax_call *call;
	struct ax_poll poll;
	int64_t deadline_mono_ms;
	bool wanted; /* to be taken by the next dispatch errand */
	bool later;  /* … when polls.again_mono_ms has come */
	bool said;   /* something of its worker changed since it was taken last */
	bool taken;  /* it was in an errand before */
	/* groups of its poll, by bit: */
	uint64_t ready;   /* something became ready there since */
	uint64_t fresh;   /* of these, where runs have begun to wait while none did */
	uint64_t waiting; /* runs waited there when it was looked at last */
	bool busy;        /* in one on its way */
	bool over;        /* client gone, server stopping or credential revoked: to be ended when it comes back */
	bool drained;     /* told or known to be draining when it came */
	struct ax_parked *prev, *next;
};

/* A place for a dispatch errand. */
struct ax_dispatching {
	struct dispatch_errand *errand; /* on its way; NULL = none */
	struct ax_round round;          /* whose turn is next; of the errand on its way */
};

enum { AX_DISPATCHING_MAX = 2 };

struct ax_polls {
	struct ax_parked *list;
	int n;
	struct ax_dispatching dispatching[AX_DISPATCHING_MAX];
	bool failing;          /* the last one failed */
	int64_t again_mono_ms; /* when to go on with those that are to be taken later; 0 = there are none */
	int64_t idle_mono_ms;  /* when an errand gave out nothing last */
	uv_timer_t timer;
};

void ax_polls_init(struct ax_server *server);
/* Takes over the call of a poll. False, and the call stays the caller's, when its body is no poll. */
AX_MUST_USE bool ax_polls_park(struct ax_call *c);
/* An errand was posted that may make runs ready: where the next one may share its commit, they are given out with it.
 */
void ax_polls_follow(struct ax_server *server);
/* After a commit. */
void ax_polls_hints(struct ax_server *server, const struct ax_hints *hints);
void ax_polls_revoke(struct ax_server *server, int64_t token_id);

#endif
