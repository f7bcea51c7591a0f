#ifndef AX_SERVER_LANES_H
#define AX_SERVER_LANES_H

/* The threads of ax-server and the errands that travel between them.
 *
 *   loop thread   HTTP, timers; never touches the database nor anything that blocks
 *   write lane    runs every service. One thread where the store takes one writer, else several at once, each with a
 *                 connection and a struct ax_ctx of its own: what one of them says may be overtaken by another
 *   tick lane     one thread like those, for ticks alone, where the store takes several; else ticks are writes
 *   read lane     two threads with connections of their own, for GETs
 *   hash lane     two threads for password hashes (64 MiB and a tenth of a second each)
 *
 * An errand belongs to the loop thread until posted, to its lane until delivered, then to the loop thread again. */

#include <stdbool.h>
#include <uv.h>
#include "app/ctx.h"
#include "base/err.h"

enum ax_lane { AX_LANE_WRITE, AX_LANE_TICK, AX_LANE_READ, AX_LANE_HASH, AX_LANE_MAX };

struct ax_collector;

/* What a lane's thread has to work with. */
struct ax_side {
	struct ax_store *store; /* NULL on the hash lane */
	struct ax_ctx *ctx;     /* write and tick lanes only, as the collector */
	struct ax_collector *collector;
};

struct ax_errand {
	void (*run)(struct ax_errand *errand, struct ax_side *side); /* in the lane's thread */
	void (*done)(struct ax_errand *errand);                      /* in the loop thread */
	/* Write and tick lanes: how the commit ended that the errand was part of. Unless AX_OK nothing of it has
	 * happened. */
	enum ax_status commit;
	struct ax_err commit_err;
	struct ax_errand *next;
};

struct ax_lane_queue {
	uv_mutex_t lock;
	uv_cond_t filled;
	struct ax_errand *head, **tail;
	int n, max;
	bool closed;
};

struct ax_lanes {
	struct ax_lane_queue queue[AX_LANE_MAX];
	uv_async_t wake; /* coalesces: its handler empties the list */
	uv_mutex_t done_lock;
	struct ax_errand *done_head, **done_tail;
};

void ax_lanes_init(struct ax_lanes *lanes, uv_loop_t *loop);
/* Runs the `done` of what was delivered, now. */
void ax_lanes_flush(struct ax_lanes *lanes);
/* After the threads have ended; closes the async handle. */
void ax_lanes_done(struct ax_lanes *lanes);

/* Loop thread: hands an errand over. False when the lane is full or closed: the errand stays the caller's. */
AX_MUST_USE bool ax_lane_post(struct ax_lanes *lanes, enum ax_lane lane, struct ax_errand *errand);
/* As above, but never refused for being full: for the server's own few errands. */
void ax_lane_post_own(struct ax_lanes *lanes, enum ax_lane lane, struct ax_errand *errand);
/* No more errands; threads end when the queue is empty. */
void ax_lane_close(struct ax_lanes *lanes, enum ax_lane lane);
int ax_lane_depth(struct ax_lanes *lanes, enum ax_lane lane);

/* Lane threads: the next errand, waiting up to wait_ms (-1: for ever). NULL: none came; *ret_closed: none will. */
struct ax_errand *ax_lane_take(struct ax_lanes *lanes, enum ax_lane lane, int wait_ms, bool *ret_closed);
/* Any thread: gives a chain of errands, linked by `next`, back to the loop thread in order. */
void ax_lanes_deliver(struct ax_lanes *lanes, struct ax_errand *first);

#endif
