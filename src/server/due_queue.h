#ifndef AX_SERVER_DUE_QUEUE_H
#define AX_SERVER_DUE_QUEUE_H

/* The server's side of a due queue in Redis (app/queue_feed.h): its alarm, its errands, what it is told after commits,
 * and hints between servers. Without --queue redis… there is none, and every call here does nothing.
 *
 * All calls belong to the loop thread, unless they say otherwise. */

#include "adapters/redis/queue.h"
#include "app/queue_feed.h"
#include "base/buf.h"
#include "server/alarm.h"
#include "server/hints.h"
#include "server/queue_relay.h"

struct ax_server;

struct ax_due_queue {
	struct ax_server *server;
	struct ax_redis_queue *redis; /* NULL = there is no queue */
	struct ax_queue_relay relay;
	struct ax_feed_host host;
	struct ax_feed feed;
	struct ax_alarm alarm;
	char token[128];
	bool failing; /* the store, at what was taken last */
	bool stopped;
};

/* Before the threads start. */
AX_MUST_USE enum ax_status ax_due_queue_start(struct ax_server *server, struct ax_err *err);
/* Nothing is taken any more. */
void ax_due_queue_stop(struct ax_server *server);
/* After the threads have ended, and the last answers were given. */
void ax_due_queue_close(struct ax_server *server);

/* What the store is left out of: for ax_ctx. 0 = of nothing. */
int64_t ax_due_queue_leads_ms(struct ax_server *server);
/* A tick found what the queue should have had. */
void ax_due_queue_found_late(struct ax_server *server);
/* After a commit. */
void ax_due_queue_hints(struct ax_server *server, const struct ax_hints *hints);
/* Any thread: the notice board has something new. */
void ax_due_queue_say_changed(struct ax_server *server);

void ax_due_queue_metrics(struct ax_server *server, struct ax_buf *out);

#endif
