#ifndef AX_SERVER_QUEUE_RELAY_H
#define AX_SERVER_QUEUE_RELAY_H

/* A due queue whose callbacks come in the loop thread, whatever thread the one behind it calls back in. Callers without
 * a callback may be in any thread. */

#include <uv.h>
#include "port/queue.h"

struct ax_relayed;

struct ax_queue_relay {
	struct ax_queue port;
	struct ax_queue *inner;
	struct ax_queue_ears ears; /* of the loop thread */
	void (*after)(void *user); /* when callbacks were called */
	void *user;
	uv_async_t wake; /* coalesces: its handler empties the list */
	uv_mutex_t lock; /* of what follows */
	struct ax_relayed *list;
	int n_hints;
};

void ax_queue_relay_init(struct ax_queue_relay *relay, uv_loop_t *loop, struct ax_queue_ears ears,
	void (*after)(void *user), void *user);
/* The queue behind it, whose ears are ax_queue_relay_hear with the relay as user. */
void ax_queue_relay_join(struct ax_queue_relay *relay, struct ax_queue *inner);
void ax_queue_relay_hear(void *relay, const struct ax_hint *hint);
/* After the queue behind it has ended: calls back what is left. */
void ax_queue_relay_done(struct ax_queue_relay *relay);

#endif
