#ifndef AX_ADAPTERS_REDIS_CONN_H
#define AX_ADAPTERS_REDIS_CONN_H

/* One connection to one Redis: it resolves, connects, speaks TLS, signs in and then carries commands, several at once
 * but never more than 64 or 64 kB that are not answered. It does not come back: who wants it again makes a new one.
 * All calls belong to the loop's thread. */

#include <hiredis/hiredis.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>
#include "adapters/redis/url.h"

enum { AX_REDIS_IN_FLIGHT = 64, AX_REDIS_IN_FLIGHT_BYTES = 64 * 1024 };

/* NULL: there is no answer, and whether it was done is not known. The reply is borrowed. */
typedef void ax_redis_done(void *user, const redisReply *reply);

/* A command on its way; whoever holds it owns it. */
struct ax_redis_command {
	char *bytes; /* as it goes over the wire */
	size_t len;
	int slot; /* of its key in a Cluster; -1 = any node will do */
	int tries;
	int64_t deadline_ms; /* mono */
	int64_t retry_ms;    /* when it waits to be tried again */
	int64_t sent_ms;
	ax_redis_done *done;
	void *user;
	struct ax_redis_command *prev, *next;
};

/* `argv` may hold any bytes. */
struct ax_redis_command *ax_redis_command_new(
	int argc, const char *const *argv, const size_t *lens, ax_redis_done *done, void *user);
/* A command of words. */
struct ax_redis_command *ax_redis_command_words(const char *const *words, ax_redis_done *done, void *user);
/* Calls back and frees. */
void ax_redis_command_end(struct ax_redis_command *command, const redisReply *reply);

struct ax_redis_conn;

struct ax_redis_conn_hooks {
	/* Signed in: commands go out. */
	void (*ready)(void *user, struct ax_redis_conn *conn);
	/* A command's answer; the command is the receiver's. */
	void (*answered)(void *user, struct ax_redis_command *command, const redisReply *reply);
	/* A command that gets no answer here: the connection is lost. The command is the receiver's. */
	void (*returned)(void *user, struct ax_redis_command *command);
	/* What a subscriber hears; NULL for others. */
	void (*heard)(void *user, const redisReply *reply);
	/* Once, the last call: lost, or never made, and why. */
	void (*lost)(void *user, struct ax_redis_conn *conn, const char *why);
};

struct ax_redis_conn_config {
	uv_loop_t *loop;
	struct ax_redis_address at;
	unsigned turn;               /* of the addresses that the name has: grows with every try that failed */
	SSL_CTX *tls;                /* NULL = plain */
	const char *user, *password; /* "" = none */
	int db;
	bool must_be_primary;
	const char *channel; /* a subscriber of this channel, not a carrier of commands; NULL = the latter */
	int connect_ms, command_ms;
	const struct ax_redis_conn_hooks *hooks;
	void *hook_user;
};

/* What the configuration points to outlives the connection. */
struct ax_redis_conn *ax_redis_conn_new(const struct ax_redis_conn_config *config);
bool ax_redis_conn_is_ready(const struct ax_redis_conn *conn);
const struct ax_redis_address *ax_redis_conn_address(const struct ax_redis_conn *conn);
/* Takes the command; it waits until the connection is ready and has room. */
void ax_redis_conn_send(struct ax_redis_conn *conn, struct ax_redis_command *command);
/* Ends what took too long; asks who was silent whether it is there. To be called every 100 ms or so. */
void ax_redis_conn_look(struct ax_redis_conn *conn);
/* Ends it: commands are returned, `lost` is called, and the memory goes once the loop has closed its handles. */
void ax_redis_conn_close(struct ax_redis_conn *conn, const char *why);

#endif
