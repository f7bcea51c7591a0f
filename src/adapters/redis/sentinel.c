/* Sentinels: who is the primary now. Each is asked in turn until one knows; the primary itself must agree. */

#include <stdio.h>
#include <string.h>

#include "adapters/redis/client_state.h"
#include "base/num.h"

enum {
	ASK_AGAIN_MS = 200,
	WATCH_AGAIN_MS = 500,
};

static bool read_address(
	const char *host, size_t host_len, const char *port, size_t port_len, struct ax_redis_address *ret)
{
	int64_t number;
	if (host_len == 0 || host_len > AX_REDIS_HOST_MAX || !ax_parse_i64(port, port_len, 1, 65535, &number))
		return false;
	memcpy(ret->host, host, host_len);
	ret->host[host_len] = '\0';
	ret->port = (int)number;
	return true;
}

/* The primary's node is made anew whenever it is named: its connection verifies that it is one. */
static void set_primary(struct ax_redis *redis, const struct ax_redis_address *at)
{
	struct ax_redis_node *old = redis->primary;
	if (old != NULL && old->conn != NULL && old->at.port == at->port && strcmp(old->at.host, at->host) == 0)
		return;
	if (old != NULL)
		ax_redis_node_drop(old, "another one is the primary now");
	redis->primary = ax_redis_node_get(redis, at);
	ax_redis_node_open(redis->primary);
	ax_redis_set_up(redis);
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

static void name_told(void *user, const redisReply *reply)
{
	struct ax_redis *redis = user;
	struct ax_redis_address at;
	if (reply == NULL || redis->asker == NULL)
		return;
	struct ax_redis_address from = *ax_redis_conn_address(redis->asker);
	bool pair = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
		reply->element[0]->type == REDIS_REPLY_STRING && reply->element[1]->type == REDIS_REPLY_STRING;
	bool good = pair &&
		read_address(reply->element[0]->str, reply->element[0]->len, reply->element[1]->str,
			reply->element[1]->len, &at);
	if (good)
		set_primary(redis, &at);
	else
		ax_redis_tell_fault(redis, &from,
			reply->type == REDIS_REPLY_NIL             ? "this sentinel knows no primary of that name"
				: reply->type == REDIS_REPLY_ERROR ? reply->str
								   : "this sentinel's answer cannot be read");
}

static void asker_ready(void *user, struct ax_redis_conn *conn)
{
	struct ax_redis *redis = user;
	ax_redis_ask(redis, conn,
		(const char *[]){ "SENTINEL", "get-master-addr-by-name", redis->config.url.primary, NULL }, name_told);
}

static void asker_answered(void *user, struct ax_redis_command *command, const redisReply *reply)
{
	struct ax_redis *redis = user;
	ax_redis_finish(redis, command, reply);
	if (redis->asker != NULL)
		ax_redis_conn_close(redis->asker, "");
}

static void asker_returned(void *user, struct ax_redis_command *command)
{
	ax_redis_finish(user, command, NULL);
}

static void asker_lost(void *user, struct ax_redis_conn *conn, const char *why)
{
	struct ax_redis *redis = user;
	char said[256];
	redis->asker = NULL;
	redis->asker_turn++;
	redis->asker_again_ms = ax_redis_now(redis) + ASK_AGAIN_MS;
	if (why[0] == '\0')
		return;
	snprintf(said, sizeof(said), "this sentinel: %s", why); /* else it may be the primary's password, or its TLS */
	ax_redis_tell_fault(redis, ax_redis_conn_address(conn), said);
}

/* --- watching ----------------------------------------------------------------------------------------------------- */

static void watcher_ready(void *user, struct ax_redis_conn *conn)
{
	(void)user;
	(void)conn;
}

/* "NAME OLD-HOST OLD-PORT NEW-HOST NEW-PORT" */
static void switch_heard(struct ax_redis *redis, const char *said, size_t len)
{
	const char *word[5];
	size_t lens[5], n = 0;
	struct ax_redis_address at;
	for (size_t i = 0; i < len && n < 5; n++) {
		const char *space = memchr(said + i, ' ', len - i);
		word[n] = said + i;
		lens[n] = space == NULL ? len - i : (size_t)(space - word[n]);
		i += lens[n] + 1;
	}
	const char *name = redis->config.url.primary;
	if (n == 5 && lens[0] == strlen(name) && memcmp(word[0], name, lens[0]) == 0 &&
		read_address(word[3], lens[3], word[4], lens[4], &at))
		set_primary(redis, &at);
}

static void watcher_heard(void *user, const redisReply *reply)
{
	if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 && reply->element[0]->type == REDIS_REPLY_STRING &&
		strcmp(reply->element[0]->str, "message") == 0 && reply->element[2]->type == REDIS_REPLY_STRING)
		switch_heard(user, reply->element[2]->str, reply->element[2]->len);
}

static void watcher_lost(void *user, struct ax_redis_conn *conn, const char *why)
{
	struct ax_redis *redis = user;
	(void)conn; /* the next sentinel will do, and that one is told of by whoever asks it */
	(void)why;
	redis->watcher = NULL;
	redis->watcher_turn++;
	redis->watcher_again_ms = ax_redis_now(redis) + WATCH_AGAIN_MS;
}

/* --- both --------------------------------------------------------------------------------------------------------- */

static struct ax_redis_conn *dial(
	struct ax_redis *redis, unsigned turn, const char *channel, const struct ax_redis_conn_hooks *hooks)
{
	const struct ax_redis_url *url = &redis->config.url;
	struct ax_redis_conn_config config = ax_redis_conn_preset(redis, &url->at[turn % (unsigned)url->n]);
	config.turn = turn / (unsigned)url->n;
	config.user = url->sentinel_user; /* the others are the primary's */
	config.password = url->sentinel_password;
	config.channel = channel;
	config.hooks = hooks;
	return ax_redis_conn_new(&config);
}

void ax_redis_sentinel_look(struct ax_redis *redis)
{
	static const struct ax_redis_conn_hooks asker_hooks = {
		.ready = asker_ready,
		.answered = asker_answered,
		.returned = asker_returned,
		.lost = asker_lost,
	};
	static const struct ax_redis_conn_hooks watcher_hooks = {
		.ready = watcher_ready,
		.heard = watcher_heard,
		.lost = watcher_lost,
	};
	int64_t now = ax_redis_now(redis);
	if (redis->asker != NULL)
		ax_redis_conn_look(redis->asker);
	if (redis->watcher != NULL)
		ax_redis_conn_look(redis->watcher);
	if (redis->watcher == NULL && now >= redis->watcher_again_ms)
		redis->watcher = dial(redis, redis->watcher_turn, "+switch-master", &watcher_hooks);
	bool lost = redis->primary == NULL || redis->primary->conn == NULL;
	if (lost && redis->asker == NULL && now >= redis->asker_again_ms)
		redis->asker = dial(redis, redis->asker_turn, NULL, &asker_hooks);
}

void ax_redis_sentinel_close(struct ax_redis *redis)
{
	if (redis->asker != NULL)
		ax_redis_conn_close(redis->asker, "");
	if (redis->watcher != NULL)
		ax_redis_conn_close(redis->watcher, "");
}
