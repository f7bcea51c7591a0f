#ifndef AX_ADAPTERS_REDIS_CLIENT_H
#define AX_ADAPTERS_REDIS_CLIENT_H

/* A Redis, a Redis Cluster, or a primary that sentinels know, on a thread of its own. It never makes a caller wait:
 * commands go in through a bounded queue, answers come back through a callback, and while it is not there a command is
 * refused at once.
 *
 * Every command is one that may be done twice: what is lost on the way to a Cluster is sent again. */

#include "adapters/redis/conn.h"
#include "port/log.h"

struct ax_redis;

struct ax_redis_config {
	struct ax_redis_url url;
	const char *ca_file;              /* PEM: who is trusted over TLS; "" = the system's */
	const char *cert_file, *key_file; /* PEM: who we are over TLS; NULL = nobody asks */
	const char *channel;              /* what is published there is heard; NULL = nothing */
	/* In the client's thread: a message of the channel. */
	void (*heard)(void *user, const char *message, size_t len);
	void *user;
	struct ax_log *log;         /* must take calls of any thread; NULL = none */
	int connect_ms, command_ms; /* 0 = 1 s */
	int queue_max;              /* commands that are not answered; 0 = 4096 */
};

struct ax_redis_stats {
	bool up;
	int64_t losses; /* connections for commands that were lost, and with them maybe what a node had said it had */
	int64_t moved, asked, tried_again; /* how often a Cluster sent commands elsewhere, or to try again later */
};

/* What the configuration points to is borrowed and outlives the client. AX_INVALID: the authorities
 * or our certificate cannot be used. A Redis that is away is no error: the client goes on trying. */
AX_MUST_USE enum ax_status ax_redis_new(
	const struct ax_redis_config *config, struct ax_redis **ret, struct ax_err *err);

/* Any thread. `key` decides the node of a Cluster; NULL = any. False: refused, because it is away or too much waits;
 * `done` will not be called. Otherwise `done` is called exactly once, in the client's thread. */
AX_MUST_USE bool ax_redis_send(struct ax_redis *redis, const char *key, int argc, const char *const *argv,
	const size_t *lens, ax_redis_done *done, void *user);

void ax_redis_stats(struct ax_redis *redis, struct ax_redis_stats *ret); /* any thread */

/* Ends the thread; what waits is called back without an answer. NULL is fine. */
void ax_redis_free(struct ax_redis *redis);

#endif
