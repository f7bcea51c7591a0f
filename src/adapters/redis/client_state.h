#ifndef AX_ADAPTERS_REDIS_CLIENT_STATE_H
#define AX_ADAPTERS_REDIS_CLIENT_STATE_H

/* The inside of the client, for client.c, cluster.c and sentinel.c. All of it belongs to the client's thread, but what
 * is said to be under the lock. */

#include "adapters/redis/client.h"
#include "adapters/redis/slot.h"

struct ax_redis_node {
	struct ax_redis *redis;
	struct ax_redis_address at;
	struct ax_redis_conn *conn; /* NULL = none */
	bool ready;                 /* the connection was */
	bool seed;                  /* named by the URL: never forgotten */
	bool owns;                  /* slots of a Cluster */
	unsigned fails;             /* tries in a row that made no connection */
	int64_t again_ms;           /* not to be tried before */
	struct ax_redis_node *prev, *next;
};

struct ax_redis {
	struct ax_redis_config config;
	SSL_CTX *tls;
	uv_thread_t thread;
	uv_loop_t loop;
	uv_async_t wake;
	uv_timer_t timer;
	bool stopping;

	struct ax_redis_node *nodes;
	struct ax_redis_node *primary;     /* single, sentinel: where commands go; NULL = not known */
	struct ax_redis_command *retrying; /* wait for their retry_ms */
	struct ax_redis_conn *ears;        /* hears the channel */
	int64_t ears_again_ms;
	unsigned ears_turn;
	char last_fault[256]; /* what was logged last */

	/* Cluster */
	struct ax_redis_node *slots[AX_REDIS_SLOTS]; /* NULL = not known */
	bool map_known, map_stale, map_asked;
	int64_t map_ms, map_again_ms;
	struct ax_redis_node *map_from;

	/* sentinels */
	struct ax_redis_conn *asker, *watcher;
	unsigned asker_turn, watcher_turn;
	int64_t asker_again_ms, watcher_again_ms;

	uv_mutex_t lock; /* of what follows */
	struct ax_redis_command *incoming;
	int n_pending; /* commands that were taken and not answered */
	bool stop;
	struct ax_redis_stats stats;
};

/* client.c */
int64_t ax_redis_now(const struct ax_redis *redis);
struct ax_redis_node *ax_redis_node_get(struct ax_redis *redis, const struct ax_redis_address *at); /* or a new one */
void ax_redis_node_drop(struct ax_redis_node *node, const char *why);
/* Opens a connection unless there is one, or it is too early to try again. */
void ax_redis_node_open(struct ax_redis_node *node);
bool ax_redis_node_is_ready(const struct ax_redis_node *node);
/* What all connections have in common. */
struct ax_redis_conn_config ax_redis_conn_preset(struct ax_redis *redis, const struct ax_redis_address *at);
void ax_redis_tell_fault(struct ax_redis *redis, const struct ax_redis_address *at, const char *why);
/* Sends a command of the client's own. */
void ax_redis_ask(struct ax_redis *redis, struct ax_redis_conn *conn, const char *const *words, ax_redis_done *done);
/* A command that shall be tried again, a while later; ends it when that was often enough. */
void ax_redis_later(struct ax_redis *redis, struct ax_redis_command *command);
void ax_redis_finish(struct ax_redis *redis, struct ax_redis_command *command, const redisReply *reply);
/* Looks again whether commands are taken. */
void ax_redis_set_up(struct ax_redis *redis);

/* cluster.c */
void ax_redis_cluster_look(struct ax_redis *redis);
/* True: the answer sent the command elsewhere, or it waits. */
bool ax_redis_cluster_redirect(struct ax_redis *redis, struct ax_redis_command *command, const redisReply *reply);

/* sentinel.c */
void ax_redis_sentinel_look(struct ax_redis *redis);
void ax_redis_sentinel_close(struct ax_redis *redis);

#endif
