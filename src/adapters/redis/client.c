#include "adapters/redis/client_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "adapters/redis/tls.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/json_write.h"

enum {
	LOOK_MS = 100,
	CONNECT_MS = 1000,
	COMMAND_MS = 1000,
	REQUEST_MS = 3000, /* all tries of one command */
	QUEUE_MAX = 4096,
	TRIES_MAX = 8,
	BACK_OFF_MS = 20,
	BACK_OFF_MAX_MS = 1000,
	STACK_BYTES = 512 * 1024,
};

int64_t ax_redis_now(const struct ax_redis *redis)
{
	return (int64_t)uv_now(&redis->loop);
}

static int64_t back_off(unsigned tries)
{
	return AX_MIN((int64_t)BACK_OFF_MS << AX_MIN(tries, 6U), (int64_t)BACK_OFF_MAX_MS);
}

/* --- whether it is there ------------------------------------------------------------------------------------------ */

static bool is_up(struct ax_redis *redis)
{
	if (redis->config.url.kind != AX_REDIS_CLUSTER)
		return redis->primary != NULL && ax_redis_node_is_ready(redis->primary);
	struct ax_redis_node *node;
	DL_FOREACH(redis->nodes, node)
	if (redis->map_known && node->owns && ax_redis_node_is_ready(node))
		return true;
	return false;
}

void ax_redis_set_up(struct ax_redis *redis)
{
	bool up = !redis->stopping && is_up(redis);
	uv_mutex_lock(&redis->lock);
	bool was = redis->stats.up;
	redis->stats.up = up;
	uv_mutex_unlock(&redis->lock);
	if (up && !was) {
		redis->last_fault[0] = '\0';
		if (redis->config.log != NULL)
			redis->config.log->ops->event(redis->config.log, AX_LOG_INFO, "redis_ready", "");
	}
}

void ax_redis_tell_fault(struct ax_redis *redis, const struct ax_redis_address *at, const char *why)
{
	char said[sizeof(redis->last_fault)], address[AX_REDIS_HOST_MAX + 16];
	struct ax_buf fields;
	struct ax_json json;
	snprintf(said, sizeof(said), "%s", why);
	for (char *c = said; *c != '\0'; c++) /* it may come from outside */
		if (*c < ' ' || *c > '~')
			*c = '?';
	if (redis->config.log == NULL || redis->stopping || strcmp(said, redis->last_fault) == 0)
		return;
	memcpy(redis->last_fault, said, sizeof(said));
	snprintf(address, sizeof(address), "%s:%d", at->host, at->port);
	ax_buf_init(&fields, 2048);
	ax_json_init(&json, &fields);
	ax_json_str(&json, "at", address);
	ax_json_str(&json, "message", said);
	redis->config.log->ops->event(redis->config.log, AX_LOG_WARN, "redis_lost", fields.data);
	ax_buf_done(&fields);
}

/* --- commands ----------------------------------------------------------------------------------------------------- */

void ax_redis_finish(struct ax_redis *redis, struct ax_redis_command *command, const redisReply *reply)
{
	uv_mutex_lock(&redis->lock);
	redis->n_pending--;
	uv_mutex_unlock(&redis->lock);
	ax_redis_command_end(command, reply);
}

static void count(struct ax_redis *redis, int64_t *counter)
{
	uv_mutex_lock(&redis->lock);
	++*counter;
	uv_mutex_unlock(&redis->lock);
}

void ax_redis_later(struct ax_redis *redis, struct ax_redis_command *command)
{
	int64_t now = ax_redis_now(redis);
	command->retry_ms = now + back_off((unsigned)command->tries);
	if (redis->stopping || ++command->tries > TRIES_MAX || command->retry_ms > command->deadline_ms) {
		ax_redis_finish(redis, command, NULL);
		return;
	}
	count(redis, &redis->stats.tried_again);
	DL_APPEND(redis->retrying, command);
	int64_t timer = (int64_t)uv_timer_get_due_in(&redis->timer);
	if (timer > command->retry_ms - now)
		uv_timer_start(&redis->timer, redis->timer.timer_cb, (uint64_t)(command->retry_ms - now), LOOK_MS);
}

static struct ax_redis_node *node_for(struct ax_redis *redis, const struct ax_redis_command *command)
{
	if (redis->config.url.kind != AX_REDIS_CLUSTER)
		return redis->primary;
	if (command->slot >= 0)
		return redis->slots[command->slot];
	struct ax_redis_node *node;
	DL_FOREACH(redis->nodes, node)
	if (node->owns && ax_redis_node_is_ready(node))
		return node;
	return NULL;
}

static void route(struct ax_redis *redis, struct ax_redis_command *command)
{
	struct ax_redis_node *node = node_for(redis, command);
	bool cluster = redis->config.url.kind == AX_REDIS_CLUSTER;
	if (node != NULL && cluster)
		ax_redis_node_open(node);
	if (node != NULL && node->conn != NULL && (cluster || ax_redis_node_is_ready(node)))
		ax_redis_conn_send(node->conn, command);
	else if (cluster)
		ax_redis_later(redis, command);
	else
		ax_redis_finish(redis, command, NULL);
}

void ax_redis_ask(struct ax_redis *redis, struct ax_redis_conn *conn, const char *const *words, ax_redis_done *done)
{
	struct ax_redis_command *command = ax_redis_command_words(words, done, redis);
	command->tries = TRIES_MAX; /* never again: whoever asked does that */
	command->deadline_ms = ax_redis_now(redis) + REQUEST_MS;
	uv_mutex_lock(&redis->lock);
	redis->n_pending++;
	uv_mutex_unlock(&redis->lock);
	ax_redis_conn_send(conn, command);
}

/* --- nodes -------------------------------------------------------------------------------------------------------- */

static void node_ready(void *user, struct ax_redis_conn *conn)
{
	struct ax_redis_node *node = user;
	(void)conn;
	node->fails = 0;
	node->ready = true;
	ax_redis_set_up(node->redis);
}

static void node_answered(void *user, struct ax_redis_command *command, const redisReply *reply)
{
	struct ax_redis_node *node = user;
	struct ax_redis *redis = node->redis;
	bool error = reply->type == REDIS_REPLY_ERROR;
	if (error && redis->config.url.kind == AX_REDIS_CLUSTER && ax_redis_cluster_redirect(redis, command, reply))
		return;
	bool demoted = error && strncmp(reply->str, "READONLY", 8) == 0;
	ax_redis_finish(redis, command, demoted ? NULL : reply);
	if (demoted && node->conn != NULL)
		ax_redis_conn_close(node->conn, "it became a replica");
}

static void node_returned(void *user, struct ax_redis_command *command)
{
	struct ax_redis_node *node = user;
	if (node->redis->config.url.kind == AX_REDIS_CLUSTER)
		ax_redis_later(node->redis, command);
	else
		ax_redis_finish(node->redis, command, NULL);
}

static void node_lost(void *user, struct ax_redis_conn *conn, const char *why)
{
	struct ax_redis_node *node = user;
	struct ax_redis *redis = node->redis;
	(void)conn;
	node->conn = NULL;
	if (node->ready)
		count(redis, &redis->stats.losses);
	node->ready = false;
	node->again_ms = ax_redis_now(redis) + back_off(node->fails);
	node->fails++;
	redis->map_stale = true;
	ax_redis_tell_fault(redis, &node->at, why);
	ax_redis_set_up(redis);
}

struct ax_redis_conn_config ax_redis_conn_preset(struct ax_redis *redis, const struct ax_redis_address *at)
{
	return (struct ax_redis_conn_config){
		.loop = &redis->loop,
		.at = *at,
		.tls = redis->tls,
		.user = redis->config.url.user,
		.password = redis->config.url.password,
		.connect_ms = redis->config.connect_ms,
		.command_ms = redis->config.command_ms,
		.hook_user = redis,
	};
}

struct ax_redis_node *ax_redis_node_get(struct ax_redis *redis, const struct ax_redis_address *at)
{
	struct ax_redis_node *node;
	DL_FOREACH(redis->nodes, node)
	if (node->at.port == at->port && strcasecmp(node->at.host, at->host) == 0)
		return node;
	node = ax_malloc(sizeof(*node));
	node->redis = redis;
	node->at = *at;
	DL_APPEND(redis->nodes, node);
	return node;
}

void ax_redis_node_open(struct ax_redis_node *node)
{
	static const struct ax_redis_conn_hooks hooks = {
		.ready = node_ready,
		.answered = node_answered,
		.returned = node_returned,
		.lost = node_lost,
	};
	struct ax_redis *redis = node->redis;
	if (node->conn != NULL || ax_redis_now(redis) < node->again_ms || redis->stopping)
		return;
	struct ax_redis_conn_config config = ax_redis_conn_preset(redis, &node->at);
	config.db = redis->config.url.db;
	config.turn = node->fails;
	config.must_be_primary = redis->config.url.kind == AX_REDIS_SENTINEL;
	config.hooks = &hooks;
	config.hook_user = node;
	node->conn = ax_redis_conn_new(&config);
}

bool ax_redis_node_is_ready(const struct ax_redis_node *node)
{
	return node->conn != NULL && ax_redis_conn_is_ready(node->conn);
}

void ax_redis_node_drop(struct ax_redis_node *node, const char *why)
{
	struct ax_redis *redis = node->redis;
	if (node->conn != NULL)
		ax_redis_conn_close(node->conn, why);
	if (redis->primary == node)
		redis->primary = NULL;
	if (redis->map_from == node)
		redis->map_from = NULL;
	DL_DELETE(redis->nodes, node);
	free(node);
}

/* --- the channel -------------------------------------------------------------------------------------------------- */

static void ears_ready(void *user, struct ax_redis_conn *conn)
{
	(void)user;
	(void)conn;
}

static void ears_heard(void *user, const redisReply *reply)
{
	struct ax_redis *redis = user;
	if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 && reply->element[0]->type == REDIS_REPLY_STRING &&
		strcmp(reply->element[0]->str, "message") == 0 && reply->element[2]->type == REDIS_REPLY_STRING)
		redis->config.heard(redis->config.user, reply->element[2]->str, reply->element[2]->len);
}

static void ears_lost(void *user, struct ax_redis_conn *conn, const char *why)
{
	struct ax_redis *redis = user;
	redis->ears = NULL;
	redis->ears_turn++;
	redis->ears_again_ms = ax_redis_now(redis) + back_off(4);
	ax_redis_tell_fault(redis, ax_redis_conn_address(conn), why);
}

/* Listens where commands go; in a Cluster any node hears what is published at any. */
static void listen_to_channel(struct ax_redis *redis)
{
	static const struct ax_redis_conn_hooks hooks = { .ready = ears_ready, .heard = ears_heard, .lost = ears_lost };
	const struct ax_redis_command any = { .slot = -1 };
	struct ax_redis_node *node = node_for(redis, &any);
	if (redis->config.channel == NULL || redis->stopping)
		return;
	if (redis->ears != NULL) {
		const struct ax_redis_address *at = ax_redis_conn_address(redis->ears);
		bool elsewhere = redis->config.url.kind == AX_REDIS_SENTINEL && node != NULL &&
			(node->at.port != at->port || strcmp(node->at.host, at->host) != 0);
		if (elsewhere)
			ax_redis_conn_close(redis->ears, "the primary changed");
		else
			ax_redis_conn_look(redis->ears);
		return;
	}
	if (node == NULL || !ax_redis_node_is_ready(node) || ax_redis_now(redis) < redis->ears_again_ms)
		return;
	struct ax_redis_conn_config config = ax_redis_conn_preset(redis, &node->at);
	config.channel = redis->config.channel;
	config.turn = redis->ears_turn;
	config.hooks = &hooks;
	redis->ears = ax_redis_conn_new(&config);
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

static void retry(struct ax_redis *redis)
{
	struct ax_redis_command *due = NULL, *command, *next;
	DL_FOREACH_SAFE(redis->retrying, command, next)
	{
		if (command->retry_ms > ax_redis_now(redis))
			continue;
		DL_DELETE(redis->retrying, command);
		DL_APPEND(due, command);
	}
	DL_FOREACH_SAFE(due, command, next)
	{
		DL_DELETE(due, command);
		route(redis, command);
	}
}

static void look(uv_timer_t *timer)
{
	struct ax_redis *redis = timer->data;
	struct ax_redis_node *node, *next;
	uv_timer_start(timer, look, LOOK_MS, LOOK_MS);
	DL_FOREACH_SAFE(redis->nodes, node, next)
	{
		if (node->conn != NULL)
			ax_redis_conn_look(node->conn);
	}
	if (redis->config.url.kind == AX_REDIS_CLUSTER)
		ax_redis_cluster_look(redis);
	else if (redis->config.url.kind == AX_REDIS_SENTINEL)
		ax_redis_sentinel_look(redis);
	else
		ax_redis_node_open(redis->primary);
	listen_to_channel(redis);
	retry(redis);
}

static void stop(struct ax_redis *redis)
{
	struct ax_redis_node *node, *next;
	struct ax_redis_command *command, *next_command;
	redis->stopping = true;
	DL_FOREACH_SAFE(redis->retrying, command, next_command)
	{
		DL_DELETE(redis->retrying, command);
		ax_redis_finish(redis, command, NULL);
	}
	if (redis->ears != NULL)
		ax_redis_conn_close(redis->ears, "");
	ax_redis_sentinel_close(redis);
	DL_FOREACH_SAFE(redis->nodes, node, next)
	ax_redis_node_drop(node, "");
	uv_close((uv_handle_t *)&redis->wake, NULL);
	uv_close((uv_handle_t *)&redis->timer, NULL);
}

static void on_wake(uv_async_t *wake)
{
	struct ax_redis *redis = wake->data;
	uv_mutex_lock(&redis->lock);
	struct ax_redis_command *incoming = redis->incoming, *command, *next;
	bool ends = redis->stop && !redis->stopping;
	redis->incoming = NULL;
	uv_mutex_unlock(&redis->lock);
	uv_update_time(&redis->loop);
	DL_FOREACH_SAFE(incoming, command, next)
	{
		DL_DELETE(incoming, command);
		command->deadline_ms = ax_redis_now(redis) + REQUEST_MS;
		if (redis->stopping || ends)
			ax_redis_finish(redis, command, NULL);
		else
			route(redis, command);
	}
	if (ends)
		stop(redis);
}

static void run(void *arg)
{
	struct ax_redis *redis = arg;
	uv_run(&redis->loop, UV_RUN_DEFAULT);
}

/* --- for other threads -------------------------------------------------------------------------------------------- */

bool ax_redis_send(struct ax_redis *redis, const char *key, int argc, const char *const *argv, const size_t *lens,
	ax_redis_done *done, void *user)
{
	struct ax_redis_command *command = ax_redis_command_new(argc, argv, lens, done, user);
	if (key != NULL && redis->config.url.kind == AX_REDIS_CLUSTER)
		command->slot = ax_redis_slot(key, strlen(key));
	uv_mutex_lock(&redis->lock);
	bool taken = redis->stats.up && !redis->stop && redis->n_pending < redis->config.queue_max;
	if (taken) {
		redis->n_pending++;
		DL_APPEND(redis->incoming, command);
		uv_async_send(&redis->wake);
	}
	uv_mutex_unlock(&redis->lock);
	if (!taken) {
		command->done = NULL;
		ax_redis_command_end(command, NULL);
	}
	return taken;
}

void ax_redis_stats(struct ax_redis *redis, struct ax_redis_stats *ret)
{
	uv_mutex_lock(&redis->lock);
	*ret = redis->stats;
	uv_mutex_unlock(&redis->lock);
}

static void add_seeds(struct ax_redis *redis)
{
	const struct ax_redis_url *url = &redis->config.url;
	if (url->kind == AX_REDIS_SENTINEL)
		return;
	for (int i = 0; i < url->n; i++)
		ax_redis_node_get(redis, &url->at[i])->seed = true;
	redis->map_stale = true;
	if (url->kind == AX_REDIS_SINGLE)
		redis->primary = redis->nodes;
}

enum ax_status ax_redis_new(const struct ax_redis_config *config, struct ax_redis **ret, struct ax_err *err)
{
	uv_thread_options_t options = { .flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = STACK_BYTES };
	SSL_CTX *tls = NULL;
	if (config->url.tls) {
		enum ax_status status =
			ax_redis_tls_load(config->ca_file, config->cert_file, config->key_file, &tls, err);
		if (status != AX_OK)
			return status;
	}
	struct ax_redis *redis = ax_malloc(sizeof(*redis));
	redis->config = *config;
	redis->config.connect_ms = config->connect_ms > 0 ? config->connect_ms : CONNECT_MS;
	redis->config.command_ms = config->command_ms > 0 ? config->command_ms : COMMAND_MS;
	redis->config.queue_max = config->queue_max > 0 ? config->queue_max : QUEUE_MAX;
	redis->tls = tls;
	AX_ASSERT(uv_loop_init(&redis->loop) == 0);
	AX_ASSERT(uv_mutex_init(&redis->lock) == 0);
	AX_ASSERT(uv_async_init(&redis->loop, &redis->wake, on_wake) == 0);
	AX_ASSERT(uv_timer_init(&redis->loop, &redis->timer) == 0);
	redis->wake.data = redis;
	redis->timer.data = redis;
	uv_timer_start(&redis->timer, look, 0, LOOK_MS);
	add_seeds(redis);
	AX_ASSERT(uv_thread_create_ex(&redis->thread, &options, run, redis) == 0);
	*ret = redis;
	return AX_OK;
}

void ax_redis_free(struct ax_redis *redis)
{
	if (redis == NULL)
		return;
	uv_mutex_lock(&redis->lock);
	redis->stop = true;
	uv_async_send(&redis->wake);
	uv_mutex_unlock(&redis->lock);
	uv_thread_join(&redis->thread);
	AX_ASSERT(uv_loop_close(&redis->loop) == 0);
	uv_mutex_destroy(&redis->lock);
	SSL_CTX_free(redis->tls);
	free(redis);
}
