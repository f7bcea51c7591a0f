#include "adapters/redis/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "adapters/redis/tls.h"
#include "base/arena.h"
#include "base/buf.h"

enum {
	READ_BYTES = 64 * 1024,
	REPLY_BYTES_MAX = 16 * 1024 * 1024, /* of one answer: ours are below 100 kB */
	SILENCE_MS = 1000,                  /* then it is asked whether it is there */
};

enum state { CONNECTING, SHAKING, SIGNING_IN, READY, CLOSED };

struct ax_redis_conn {
	struct ax_redis_conn_config config;
	enum state state;
	uv_tcp_t tcp;
	uv_getaddrinfo_t resolve;
	uv_connect_t connect;
	struct addrinfo *found;
	int holds; /* handle and requests of libuv that refer to this memory */
	SSL *ssl;
	redisReader *reader;
	size_t fed;        /* bytes of the answer that is not whole yet */
	struct ax_buf out; /* for the network */
	char *read_buf;
	int64_t opened_ms, heard_ms;
	int64_t asked_ms;                  /* whether it is there, without an answer yet; 0 */
	struct ax_redis_command *waiting;  /* not sent */
	struct ax_redis_command *sent;     /* in order of their answers */
	struct ax_redis_command *greeting; /* the sign-in's own, not sent */
	int n_sent;
	size_t bytes_sent;
};

/* --- commands ----------------------------------------------------------------------------------------------------- */

struct ax_redis_command *ax_redis_command_new(
	int argc, const char *const *argv, const size_t *lens, ax_redis_done *done, void *user)
{
	struct ax_redis_command *command = ax_malloc(sizeof(*command));
	/* hiredis lacks the const, but writes to none of it */
	union {
		const char *const *ours;
		const char **theirs;
	} words = { .ours = argv };
	int len = redisFormatCommandArgv(&command->bytes, argc, words.theirs, lens);
	AX_ASSERT(len > 0);
	command->len = (size_t)len;
	command->slot = -1;
	command->done = done;
	command->user = user;
	return command;
}

struct ax_redis_command *ax_redis_command_words(const char *const *words, ax_redis_done *done, void *user)
{
	size_t lens[16];
	int n = 0;
	for (; words[n] != NULL; n++) {
		AX_ASSERT(n < (int)AX_COUNT(lens));
		lens[n] = strlen(words[n]);
	}
	return ax_redis_command_new(n, words, lens, done, user);
}

void ax_redis_command_end(struct ax_redis_command *command, const redisReply *reply)
{
	if (command->done != NULL)
		command->done(command->user, reply);
	redisFreeCommand(command->bytes);
	free(command);
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

static int64_t now_ms(const struct ax_redis_conn *conn)
{
	return (int64_t)uv_now(conn->config.loop);
}

static void let_go(struct ax_redis_conn *conn)
{
	if (--conn->holds > 0)
		return;
	uv_freeaddrinfo(conn->found);
	SSL_free(conn->ssl);
	redisReaderFree(conn->reader);
	ax_buf_done(&conn->out);
	free(conn->read_buf);
	free(conn);
}

static void handle_closed(uv_handle_t *handle)
{
	let_go(handle->data);
}

static void give_back(struct ax_redis_conn *conn, struct ax_redis_command **list)
{
	struct ax_redis_command *command, *next;
	DL_FOREACH_SAFE(*list, command, next)
	{
		DL_DELETE(*list, command);
		conn->config.hooks->returned(conn->config.hook_user, command);
	}
}

void ax_redis_conn_close(struct ax_redis_conn *conn, const char *why)
{
	struct ax_redis_command *command, *next;
	if (conn->state == CLOSED)
		return;
	conn->state = CLOSED;
	uv_cancel((uv_req_t *)&conn->resolve); /* in vain when it is not resolving, or already answering */
	if (!uv_is_closing((uv_handle_t *)&conn->tcp))
		uv_close((uv_handle_t *)&conn->tcp, handle_closed);
	DL_FOREACH_SAFE(conn->greeting, command, next)
	{
		DL_DELETE(conn->greeting, command);
		command->done = NULL;
		ax_redis_command_end(command, NULL);
	}
	DL_FOREACH_SAFE(conn->sent, command, next) /* the sign-in's, and pings */
	{
		if (command->user != conn)
			continue;
		DL_DELETE(conn->sent, command);
		command->done = NULL;
		ax_redis_command_end(command, NULL);
	}
	give_back(conn, &conn->sent);
	give_back(conn, &conn->waiting);
	conn->config.hooks->lost(conn->config.hook_user, conn, why);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

struct write {
	uv_write_t req;
	struct ax_redis_conn *conn;
	char *bytes;
};

static void written(uv_write_t *req, int status)
{
	struct write *write = (struct write *)req;
	struct ax_redis_conn *conn = write->conn;
	if (status < 0 && status != UV_ECANCELED)
		ax_redis_conn_close(conn, uv_strerror(status));
	free(write->bytes);
	free(write);
	let_go(conn);
}

static void push_out(struct ax_redis_conn *conn)
{
	size_t len;
	if (conn->ssl != NULL)
		ax_redis_tls_take(conn->ssl, &conn->out);
	if (conn->out.len == 0 || conn->state == CLOSED)
		return;
	struct write *write = ax_malloc(sizeof(*write));
	write->bytes = ax_buf_take(&conn->out, &len);
	ax_buf_init(&conn->out, SIZE_MAX);
	write->conn = conn;
	uv_buf_t buf = uv_buf_init(write->bytes, (unsigned)len);
	conn->holds++;
	int code = uv_write(&write->req, (uv_stream_t *)&conn->tcp, &buf, 1, written);
	if (code < 0) {
		free(write->bytes);
		free(write);
		ax_redis_conn_close(conn, uv_strerror(code));
		let_go(conn);
	}
}

static void put_bytes(struct ax_redis_conn *conn, struct ax_redis_command *command)
{
	command->sent_ms = now_ms(conn);
	DL_APPEND(conn->sent, command);
	conn->n_sent++;
	conn->bytes_sent += command->len;
	if (conn->ssl == NULL)
		ax_buf_add(&conn->out, command->bytes, command->len);
	else if (!ax_redis_tls_write(conn->ssl, command->bytes, command->len))
		ax_redis_conn_close(conn, "its encrypted connection broke");
}

static bool has_room(const struct ax_redis_conn *conn, const struct ax_redis_command *command)
{
	return conn->n_sent == 0 ||
		(conn->n_sent < AX_REDIS_IN_FLIGHT && conn->bytes_sent + command->len <= AX_REDIS_IN_FLIGHT_BYTES);
}

static void send_waiting(struct ax_redis_conn *conn)
{
	struct ax_redis_command **list = conn->state == READY ? &conn->waiting : &conn->greeting;
	while (conn->state != CLOSED && *list != NULL && has_room(conn, *list)) {
		struct ax_redis_command *command = *list;
		DL_DELETE(*list, command);
		put_bytes(conn, command);
	}
	push_out(conn);
}

void ax_redis_conn_send(struct ax_redis_conn *conn, struct ax_redis_command *command)
{
	AX_ASSERT(conn->state != CLOSED);
	DL_APPEND(conn->waiting, command);
	if (conn->state == READY)
		send_waiting(conn);
}

/* --- signing in --------------------------------------------------------------------------------------------------- */

static void become_ready(struct ax_redis_conn *conn)
{
	conn->state = READY;
	conn->config.hooks->ready(conn->config.hook_user, conn);
	if (conn->state == READY)
		send_waiting(conn);
}

static void signed_in(void *user, const redisReply *reply)
{
	struct ax_redis_conn *conn = user;
	char why[200];
	if (conn->state != SIGNING_IN)
		return;
	if (reply->type == REDIS_REPLY_ERROR) {
		snprintf(why, sizeof(why), "%s", reply->str);
		ax_redis_conn_close(conn, why);
	} else if (conn->greeting == NULL && conn->n_sent == 0) {
		become_ready(conn);
	}
}

static void role_told(void *user, const redisReply *reply)
{
	struct ax_redis_conn *conn = user;
	bool primary = reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 &&
		reply->element[0]->type == REDIS_REPLY_STRING && strcmp(reply->element[0]->str, "master") == 0;
	if (reply->type != REDIS_REPLY_ERROR && !primary)
		ax_redis_conn_close(conn, "it is not the primary");
	else
		signed_in(user, reply);
}

static void greet(struct ax_redis_conn *conn, const char *const *words, ax_redis_done *done)
{
	struct ax_redis_command *command = ax_redis_command_words(words, done, conn);
	DL_APPEND(conn->greeting, command);
}

static void sign_in(struct ax_redis_conn *conn)
{
	const struct ax_redis_conn_config *config = &conn->config;
	const char *user = config->user[0] != '\0' ? config->user : "default";
	char db[12];
	snprintf(db, sizeof(db), "%d", config->db);
	conn->state = SIGNING_IN;
	if (config->password[0] != '\0')
		greet(conn, (const char *[]){ "AUTH", user, config->password, NULL }, signed_in);
	if (config->db > 0)
		greet(conn, (const char *[]){ "SELECT", db, NULL }, signed_in);
	if (config->must_be_primary)
		greet(conn, (const char *[]){ "ROLE", NULL }, role_told);
	if (config->channel != NULL)
		greet(conn, (const char *[]){ "SUBSCRIBE", config->channel, NULL }, signed_in);
	else
		greet(conn, (const char *[]){ "PING", NULL }, signed_in);
	send_waiting(conn);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static void take_answer(struct ax_redis_conn *conn, const redisReply *reply)
{
	struct ax_redis_command *command = conn->sent;
	if (conn->config.channel != NULL && conn->state == READY) {
		conn->config.hooks->heard(conn->config.hook_user, reply);
		return;
	}
	if (command == NULL) {
		ax_redis_conn_close(conn, "it answered what was not asked");
		return;
	}
	DL_DELETE(conn->sent, command);
	conn->n_sent--;
	conn->bytes_sent -= command->len;
	if (command->user == conn)
		ax_redis_command_end(command, reply);
	else
		conn->config.hooks->answered(conn->config.hook_user, command, reply);
}

static void take_answers(struct ax_redis_conn *conn, const char *bytes, size_t len)
{
	conn->heard_ms = now_ms(conn);
	conn->asked_ms = 0;
	conn->fed += len;
	int code = redisReaderFeed(conn->reader, bytes, len);
	while (code == REDIS_OK && conn->state != CLOSED) {
		void *reply = NULL;
		code = redisReaderGetReply(conn->reader, &reply);
		if (code != REDIS_OK || reply == NULL)
			break;
		conn->fed = 0;
		take_answer(conn, reply);
		freeReplyObject(reply);
	}
	if (conn->state == CLOSED)
		return;
	if (code != REDIS_OK || conn->fed > REPLY_BYTES_MAX)
		ax_redis_conn_close(conn, "it does not speak the protocol of Redis");
	else
		send_waiting(conn);
}

static void take_tls(struct ax_redis_conn *conn, const char *bytes, size_t len)
{
	char plain[16 * 1024];
	int n = 0;
	ax_redis_tls_feed(conn->ssl, bytes, len);
	if (conn->state == SHAKING) {
		int done = ax_redis_tls_shake(conn->ssl);
		push_out(conn);
		if (done < 0)
			ax_redis_conn_close(conn, ax_redis_tls_fault(conn->ssl));
		if (done <= 0)
			return;
		sign_in(conn);
	}
	while (conn->state != CLOSED && (n = ax_redis_tls_read(conn->ssl, plain, sizeof(plain))) > 0)
		take_answers(conn, plain, (size_t)n);
	if (n < 0 && conn->state != CLOSED)
		ax_redis_conn_close(conn, ax_redis_tls_fault(conn->ssl));
}

static void give_room(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
	(void)size;
	struct ax_redis_conn *conn = handle->data;
	*ret = uv_buf_init(conn->read_buf, READ_BYTES);
}

static void bytes_came(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct ax_redis_conn *conn = stream->data;
	if (n == 0 || conn->state == CLOSED)
		return;
	conn->holds++; /* whoever is called may close it */
	if (n < 0)
		ax_redis_conn_close(conn, n == UV_EOF ? "it ended the connection" : uv_strerror((int)n));
	else if (conn->ssl != NULL)
		take_tls(conn, buf->base, (size_t)n);
	else
		take_answers(conn, buf->base, (size_t)n);
	let_go(conn);
}

/* --- connecting --------------------------------------------------------------------------------------------------- */

static void connected(uv_connect_t *req, int status)
{
	struct ax_redis_conn *conn = req->data;
	if (conn->state != CLOSED && status < 0)
		ax_redis_conn_close(conn, uv_strerror(status));
	if (conn->state != CLOSED) {
		uv_tcp_nodelay(&conn->tcp, 1);
		uv_read_start((uv_stream_t *)&conn->tcp, give_room, bytes_came);
		conn->state = conn->config.tls != NULL ? SHAKING : SIGNING_IN;
		if (conn->config.tls != NULL) {
			conn->ssl = ax_redis_tls_new(conn->config.tls, conn->config.at.host);
			(void)ax_redis_tls_shake(conn->ssl); /* says hello */
			push_out(conn);
		} else {
			sign_in(conn);
		}
	}
	let_go(conn);
}

/* The address whose turn it is: who tries again takes the next one. */
static const struct addrinfo *choose(const struct ax_redis_conn *conn)
{
	unsigned n = 0;
	for (const struct addrinfo *a = conn->found; a != NULL; a = a->ai_next)
		n++;
	const struct addrinfo *chosen = conn->found;
	for (unsigned turn = conn->config.turn % n; turn > 0; turn--)
		chosen = chosen->ai_next;
	return chosen;
}

static void resolved(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
	struct ax_redis_conn *conn = req->data;
	conn->found = found;
	if (conn->state != CLOSED && status == 0) {
		conn->holds++;
		conn->connect.data = conn;
		status = uv_tcp_connect(&conn->connect, &conn->tcp, choose(conn)->ai_addr, connected);
		if (status < 0)
			conn->holds--;
	}
	if (conn->state != CLOSED && status < 0)
		ax_redis_conn_close(conn, uv_strerror(status));
	let_go(conn);
}

struct ax_redis_conn *ax_redis_conn_new(const struct ax_redis_conn_config *config)
{
	struct ax_redis_conn *conn = ax_malloc(sizeof(*conn));
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	char port[12];
	conn->config = *config;
	conn->reader = redisReaderCreate();
	conn->read_buf = ax_malloc(READ_BYTES);
	AX_ASSERT(conn->reader != NULL);
	ax_buf_init(&conn->out, SIZE_MAX);
	AX_ASSERT(uv_tcp_init(config->loop, &conn->tcp) == 0);
	conn->tcp.data = conn;
	conn->resolve.data = conn;
	conn->holds = 2;
	conn->opened_ms = conn->heard_ms = now_ms(conn);
	snprintf(port, sizeof(port), "%d", config->at.port);
	/* it fails only for want of memory or threads, or a name that is too long, which url.c refused */
	AX_ASSERT(uv_getaddrinfo(config->loop, &conn->resolve, resolved, config->at.host, port, &hints) == 0);
	return conn;
}

bool ax_redis_conn_is_ready(const struct ax_redis_conn *conn)
{
	return conn->state == READY;
}

const struct ax_redis_address *ax_redis_conn_address(const struct ax_redis_conn *conn)
{
	return &conn->config.at;
}

/* --- looking after it --------------------------------------------------------------------------------------------- */

static void pong(void *user, const redisReply *reply)
{
	(void)user; /* that it came is all that counts */
	(void)reply;
}

/* A subscriber's ping is answered among the messages, so it is no command that waits for its turn. */
static void ask(struct ax_redis_conn *conn)
{
	struct ax_redis_command *ping = ax_redis_command_words((const char *[]){ "PING", NULL }, pong, conn);
	conn->asked_ms = now_ms(conn);
	put_bytes(conn, ping);
	if (conn->state == READY && conn->config.channel != NULL) {
		DL_DELETE(conn->sent, ping);
		conn->n_sent--;
		conn->bytes_sent -= ping->len;
		ax_redis_command_end(ping, NULL);
	}
	push_out(conn);
}

void ax_redis_conn_look(struct ax_redis_conn *conn)
{
	int64_t now = now_ms(conn);
	if (conn->state < READY) {
		if (now - conn->opened_ms > conn->config.connect_ms)
			ax_redis_conn_close(conn, "it did not take the connection in time");
		return;
	}
	if (conn->state == CLOSED)
		return;
	bool late = conn->sent != NULL && now - conn->sent->sent_ms > conn->config.command_ms;
	bool mute = conn->asked_ms != 0 && now - conn->asked_ms > conn->config.command_ms;
	if (late || mute)
		ax_redis_conn_close(conn, "it did not answer in time");
	else if (conn->asked_ms == 0 && now - conn->heard_ms > SILENCE_MS)
		ask(conn);
}
