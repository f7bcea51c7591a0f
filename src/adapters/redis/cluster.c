/* A Redis Cluster: which node has which slot, and what the nodes say when it is another one. */

#include <string.h>
#include <utlist.h>

#include "adapters/redis/client_state.h"
#include "base/num.h"

enum {
	MAP_FRESH_MS = 30000, /* the map is looked at so often anyway */
	MAP_AGAIN_MS = 100,
};

/* --- the map ------------------------------------------------------------------------------------------------------ */

static bool is_int(const redisReply *reply, long long min, long long max)
{
	return reply->type == REDIS_REPLY_INTEGER && reply->integer >= min && reply->integer <= max;
}

/* [first, last, [host, port, …], replicas …] */
static bool read_range(struct ax_redis *redis, const redisReply *range)
{
	if (range->type != REDIS_REPLY_ARRAY || range->elements < 3 ||
		!is_int(range->element[0], 0, AX_REDIS_SLOTS - 1) ||
		!is_int(range->element[1], range->element[0]->integer, AX_REDIS_SLOTS - 1))
		return false;
	const redisReply *primary = range->element[2];
	if (primary->type != REDIS_REPLY_ARRAY || primary->elements < 2 || !is_int(primary->element[1], 1, 65535))
		return false;
	const redisReply *host = primary->element[0];
	struct ax_redis_address at = redis->map_from->at; /* no host: the one that was asked */
	at.port = (int)primary->element[1]->integer;
	if (host->type == REDIS_REPLY_STRING && host->len > 0 && strcmp(host->str, "?") != 0) {
		if (host->len > AX_REDIS_HOST_MAX)
			return false;
		memcpy(at.host, host->str, host->len + 1);
	}
	struct ax_redis_node *node = ax_redis_node_get(redis, &at);
	node->owns = true;
	for (long long slot = range->element[0]->integer; slot <= range->element[1]->integer; slot++)
		redis->slots[slot] = node;
	return true;
}

static void forget_strangers(struct ax_redis *redis)
{
	struct ax_redis_node *node, *next;
	DL_FOREACH_SAFE(redis->nodes, node, next)
	{
		if (!node->owns && !node->seed && node != redis->map_from)
			ax_redis_node_drop(node, "it has no slots any more");
	}
}

static void map_told(void *user, const redisReply *reply)
{
	struct ax_redis *redis = user;
	redis->map_asked = false;
	redis->map_again_ms = ax_redis_now(redis) + MAP_AGAIN_MS;
	if (redis->stopping)
		return;
	if (reply == NULL || redis->map_from == NULL)
		return;
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 0) {
		ax_redis_tell_fault(redis, &redis->map_from->at,
			reply->type == REDIS_REPLY_ERROR ? reply->str : "it knows of no slots");
		return;
	}
	struct ax_redis_node *node;
	DL_FOREACH(redis->nodes, node)
	node->owns = false;
	memset(redis->slots, 0, sizeof(redis->slots));
	bool good = true;
	for (size_t i = 0; i < reply->elements; i++)
		good = read_range(redis, reply->element[i]) && good;
	if (!good)
		ax_redis_tell_fault(redis, &redis->map_from->at, "its map of slots cannot be read");
	redis->map_known = true;
	redis->map_stale = !good;
	redis->map_ms = ax_redis_now(redis);
	forget_strangers(redis);
	ax_redis_set_up(redis);
}

/* The nodes take turns, so that one with an old map does not keep us. */
static struct ax_redis_node *next_to_ask(struct ax_redis *redis)
{
	struct ax_redis_node *first =
		redis->map_from == NULL || redis->map_from->next == NULL ? redis->nodes : redis->map_from->next;
	struct ax_redis_node *node = first;
	do {
		if (ax_redis_node_is_ready(node))
			return node;
		node = node->next == NULL ? redis->nodes : node->next;
	} while (node != first);
	return NULL;
}

void ax_redis_cluster_look(struct ax_redis *redis)
{
	int64_t now = ax_redis_now(redis);
	bool wanted = redis->map_stale || now - redis->map_ms > MAP_FRESH_MS;
	if (!wanted || redis->map_asked || now < redis->map_again_ms || redis->stopping)
		return;
	struct ax_redis_node *node = next_to_ask(redis);
	if (node == NULL) {
		DL_FOREACH(redis->nodes, node)
		ax_redis_node_open(node);
		return;
	}
	redis->map_from = node;
	redis->map_asked = true;
	ax_redis_ask(redis, node->conn, (const char *[]){ "CLUSTER", "SLOTS", NULL }, map_told);
}

/* --- what nodes say ----------------------------------------------------------------------------------------------- */

static bool says(const redisReply *reply, const char *word)
{
	size_t len = strlen(word);
	return strncmp(reply->str, word, len) == 0 && (reply->str[len] == ' ' || reply->str[len] == '\0');
}

/* "MOVED 3999 127.0.0.1:6381"; without a host it is the node that said so. */
static struct ax_redis_node *read_target(
	struct ax_redis *redis, const struct ax_redis_command *command, const redisReply *reply)
{
	const char *slot = strchr(reply->str, ' ');
	const char *where = slot == NULL ? NULL : strchr(slot + 1, ' ');
	struct ax_redis_address at;
	if (where == NULL)
		return NULL;
	where++;
	if (where[0] == ':') {
		int64_t port;
		if (command->slot < 0 || redis->slots[command->slot] == NULL ||
			!ax_parse_i64(where + 1, strlen(where + 1), 1, 65535, &port))
			return NULL;
		at = redis->slots[command->slot]->at;
		at.port = (int)port;
	} else {
		const char *colon = strrchr(where, ':'); /* IPv6 comes without brackets */
		int64_t port;
		if (colon == NULL || colon == where || colon - where > AX_REDIS_HOST_MAX ||
			!ax_parse_i64(colon + 1, strlen(colon + 1), 1, 65535, &port))
			return NULL;
		memcpy(at.host, where, (size_t)(colon - where));
		at.host[colon - where] = '\0';
		at.port = (int)port;
	}
	return ax_redis_node_get(redis, &at);
}

static void asking_said(void *user, const redisReply *reply)
{
	(void)user; /* a node that refuses ASKING refuses what follows, too */
	(void)reply;
}

bool ax_redis_cluster_redirect(struct ax_redis *redis, struct ax_redis_command *command, const redisReply *reply)
{
	bool moved = says(reply, "MOVED"), ask = says(reply, "ASK");
	if (moved || ask) {
		struct ax_redis_node *node = read_target(redis, command, reply);
		int64_t *counter = moved ? &redis->stats.moved : &redis->stats.asked;
		uv_mutex_lock(&redis->lock);
		++*counter;
		uv_mutex_unlock(&redis->lock);
		redis->map_stale = redis->map_stale || moved;
		if (moved && node != NULL && command->slot >= 0) {
			redis->slots[command->slot] = node;
			node->owns = true;
		}
		if (node != NULL)
			ax_redis_node_open(node);
		if (node == NULL || node->conn == NULL || ++command->tries > 16) {
			ax_redis_later(redis, command);
			return true;
		}
		if (ask)
			ax_redis_ask(redis, node->conn, (const char *[]){ "ASKING", NULL }, asking_said);
		if (node->conn != NULL)
			ax_redis_conn_send(node->conn, command);
		else
			ax_redis_later(redis, command);
		return true;
	}
	bool passing = says(reply, "TRYAGAIN") || says(reply, "CLUSTERDOWN") || says(reply, "LOADING") ||
		says(reply, "MASTERDOWN") || says(reply, "READONLY");
	if (passing) {
		redis->map_stale = redis->map_stale || !says(reply, "TRYAGAIN");
		ax_redis_later(redis, command);
	}
	return passing;
}
