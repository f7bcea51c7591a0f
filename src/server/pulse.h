#ifndef AX_SERVER_PULSE_H
#define AX_SERVER_PULSE_H

/* The pulse of a server that shares its store with others: a thread with a link of its own, which never stands behind
 * other work. A few times a second it
 *
 *   samples the store's clock (axis.h), which is the time of all its servers;
 *   renews the lease on the server's number when it is time (app/seat.h);
 *   puts up what this server has to tell, and reads what the others have put up (board.h).
 *
 * Where the store is this server's alone there is no such thread: the wall clock is the store's. */

#include <uv.h>
#include "app/ctx.h"
#include "server/axis.h"

struct ax_server;
struct ax_link;
struct ax_news;

struct ax_peer {
	int64_t incarnation;
	int64_t seq; /* of its last notice that was read */
	bool lives;  /* seen in this beat */
};

struct ax_pulse {
	struct ax_server *server;
	struct ax_link *link; /* NULL = the store is not shared */
	struct ax_ctx ctx;
	struct ax_arena arena; /* of one beat */
	struct ax_axis axis;
	int asked; /* samples in a row that left the clock uncertain */
	struct ax_peer *peers;
	size_t n_peers;
	struct ax_news *telling; /* taken from the board, not in the store yet */
	int64_t seq;             /* of the next notice */
	int64_t purged_mono_ms;
	uv_thread_t id;
	bool running;

	uv_mutex_t lock; /* of what follows */
	uv_cond_t wake;
	bool stop, hurry;
	int64_t beat_mono_ms; /* when the last beat ended */
	enum ax_axis_verdict verdict;
	char fault[320]; /* why the store does not answer; "" = it does */
};

/* Links, and learns the time. Before anything that needs the time. */
AX_MUST_USE enum ax_status ax_pulse_open(struct ax_server *server, struct ax_err *err);
void ax_pulse_start(struct ax_server *server);
void ax_pulse_stop(struct ax_server *server);

/* Any thread: another server has something to tell. */
void ax_pulse_hurry(struct ax_server *server);
/* Any thread. Is the time known well enough to fire? */
bool ax_pulse_may_fire(struct ax_server *server);
/* Why this server should not be sent work now, as AX_UNAVAILABLE; or AX_OK. */
AX_MUST_USE enum ax_status ax_pulse_check(struct ax_server *server, struct ax_err *err);

#endif
