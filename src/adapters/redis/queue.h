#ifndef AX_ADAPTERS_REDIS_QUEUE_H
#define AX_ADAPTERS_REDIS_QUEUE_H

/* The due queue in Redis: port/queue.h over the client beside it. docs/queue.md lists the keys.
 *
 * Every key that belongs together is one sorted set: members and the mark that says whose they are, so that what loses
 * the one loses the other. Every script has one key, because a Cluster refuses scripts of several while it moves slots.
 */

#include "adapters/redis/url.h"
#include "port/log.h"
#include "port/queue.h"

struct ax_redis_queue;

struct ax_redis_queue_config {
	struct ax_redis_url url;
	const char *ca_file;              /* PEM: who is trusted over TLS; "" = the system's */
	const char *cert_file, *key_file; /* PEM: who we are over TLS; NULL = nobody asks */
	const char *identity;             /* of the installation: what others marked is left alone */
	struct ax_queue_ears ears;
	struct ax_log *log; /* takes calls of any thread; NULL = none */
	int command_ms;     /* a command that is not answered for so long ends the connection; 0 = 1 s */
	int queue_max;      /* commands under way; 0 = 4096 */
};

/* Callbacks come in the client's thread. AX_INVALID: the authorities or our certificate cannot be used. */
AX_MUST_USE enum ax_status ax_redis_queue_new(
	const struct ax_redis_queue_config *config, struct ax_redis_queue **ret, struct ax_err *err);
struct ax_queue *ax_redis_queue_port(struct ax_redis_queue *queue);

struct ax_redis_queue_stats {
	bool up;
	int64_t losses, moved, asked, tried_again;
	int64_t refused; /* commands that Redis answered with an error */
};
void ax_redis_queue_stats(struct ax_redis_queue *queue, struct ax_redis_queue_stats *ret);

/* Calls back what is under way, then ends. NULL is fine. */
void ax_redis_queue_free(struct ax_redis_queue *queue);

#endif
