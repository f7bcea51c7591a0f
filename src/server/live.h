#ifndef AX_SERVER_LIVE_H
#define AX_SERVER_LIVE_H

/* Server-sent events: what changed (/live), and one run with its output (/runs/{gid}/live). Fed by the hints that
 * come with every commit; a client that reads too slowly misses hints, never the end of a run.
 *
 * Every event has an id. /live does not keep what it sent: who comes back with another Last-Event-ID than the newest,
 * or was left out for reading too slowly, is told to read its pages anew (`reload`). The stream of a run goes on behind
 * the chunk that the id names. */

#include <uv.h>
#include "server/call.h"
#include "server/hints.h"

struct ax_server;

struct ax_stream {
	struct ax_call *call;
	int64_t gid;        /* 0 = everything */
	int64_t rev;        /* of the run as sent last */
	int64_t fence, seq; /* of the chunk sent last */
	bool busy;          /* a feed errand is on its way */
	bool again;         /* the run changed meanwhile */
	bool over;
	bool reload; /* events were left out: say so as soon as there is room */
	struct ax_stream *prev, *next;
};

struct ax_live {
	struct ax_stream *list;
	int n;
	int64_t n_events; /* of /live since the start: the newest one's number */
	uv_timer_t timer; /* each second while there are streams */
	bool checking;    /* an errand reads their credentials */
};

void ax_live_init(struct ax_server *server);
/* Takes over the call of a stream that was admitted. */
void ax_live_begin(struct ax_call *c);
/* errand.done of hints: tells parked polls, streams, the scheduler and other servers. */
void ax_live_hints(struct ax_errand *errand);
/* Tells parked polls and streams. `reload`: something may have changed that the hints do not name. */
void ax_live_tell(struct ax_server *server, struct ax_hints *hints, bool reload);
void ax_live_revoke(struct ax_server *server, int64_t token_id);

#endif
