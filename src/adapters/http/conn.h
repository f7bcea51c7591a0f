#ifndef AX_ADAPTERS_HTTP_CONN_H
#define AX_ADAPTERS_HTTP_CONN_H

/* Inside of the server: what server.c (listener, limits, drain), conn.c (bytes of one connection) and respond.c
 * (answers) share. */

#include <netinet/in.h>

#include "adapters/http/parse.h"
#include "adapters/http/server.h"
#include "adapters/http/tls.h"
#include "base/table.h"

struct ax_http_conn;

struct ax_http_request {
	struct ax_http_message msg;
	struct ax_http_conn *conn; /* NULL once the connection is gone */
	bool delivered;            /* with the handler; until then it belongs to the connection */
	bool streaming;
	bool chunked; /* stream with chunks; else until close */
	bool sse;
	size_t body_counted_bytes; /* part of stats.bodies_bytes */
	void *user;
	struct ax_arena arena;
	char peer[INET6_ADDRSTRLEN];
	bool is_tls;
	char *subject; /* of the client certificate */
	char *uri;
};

/* Bytes on their way to the client. */
struct ax_http_chunk {
	struct ax_http_chunk *next;
	const char *data;
	size_t len;
	void *owned; /* freed afterwards; NULL for memory that outlives the server */
};

enum ax_http_timer {
	AX_HTTP_TIMER_NONE, /* a handler has the request: it decides how long that takes */
	AX_HTTP_TIMER_READ, /* for the rest of the head or body */
	AX_HTTP_TIMER_IDLE,
	AX_HTTP_TIMER_STALL, /* for the client to take bytes */
	AX_HTTP_TIMER_LINGER,
	AX_HTTP_TIMER_NEXT, /* at once: bytes of the next request are waiting */
};

struct ax_http_conn {
	struct ax_http_server *server;
	struct ax_http_conn *prev, *next;
	struct ax_http_address *address;
	char peer[INET6_ADDRSTRLEN];
	uv_tcp_t tcp;
	uv_timer_t timer;
	uv_write_t write;
	uv_shutdown_t shutdown;
	struct ax_http_tls tls; /* tls.ssl is NULL on a plain connection */
	int handles;            /* not yet closed */

	struct ax_http_parser parser;
	struct ax_http_request *req; /* being read or with the handler; NULL between requests */
	struct ax_buf in;            /* plain bytes that wait behind the request in hand */

	struct ax_http_chunk *out; /* not yet given to the system */
	struct ax_http_chunk **out_end;
	struct ax_http_chunk *in_flight; /* given, not yet taken */
	size_t out_bytes;                /* in `out` */
	uint64_t sent_bytes;             /* ever put into `out` */

	enum ax_http_timer timer_kind;
	uint64_t since_ms;          /* loop time: begin of the head or body that is read, or of being idle */
	uint64_t stall_taken_bytes; /* what the client had taken when the stall timer was set */

	bool served;  /* at least one request was answered */
	bool parsing; /* inside parse(): what follows an answer is done there */
	bool reading; /* uv_read_start is on */
	bool eof;     /* the client sends no more */
	bool last;    /* the answer in hand ends the connection: what comes in is thrown away */
	bool shut;    /* our side is shut down */
	bool closing; /* uv_close was called */
};

struct ax_http_address {
	uint64_t key;
	unsigned connections;
	UT_hash_handle hh;
};

struct ax_http_server {
	uv_loop_t *loop;
	struct ax_http_config config;
	struct ax_http_limits limits;
	SSL_CTX *tls; /* NULL = plain HTTP */
	uv_tcp_t listener;
	uv_timer_t watch; /* finds clients that left while their bytes are not read */
	uv_timer_t ping;  /* keeps server-sent events alive */
	uv_timer_t drain;
	int handles; /* not yet closed */
	int port;

	struct ax_http_conn *conns;
	struct ax_http_address *addresses;
	uint64_t seed; /* of the hash over addresses */
	struct ax_http_stats stats;

	bool draining;
	unsigned drain_ms;
	void (*drained)(void *user);
	void *drained_user;

	int64_t date_s;
	char date[40];        /* of the second date_s, for the Date header */
	char plain[16384];    /* one TLS record, decrypted */
	char received[65536]; /* where reads go; used up before the next read */
};

/* --- conn.c: the bytes of one connection --- */

/* Takes the connection that waits at the listener. */
void ax_http_conn_accept(struct ax_http_server *server);
/* Queues plain bytes; `owned` (may be NULL) is freed when they are sent. */
void ax_http_conn_send(struct ax_http_conn *conn, const char *data, size_t len, void *owned);
/* Bytes queued and not yet taken by the system. */
size_t ax_http_conn_queued(const struct ax_http_conn *conn);
void ax_http_conn_flush(struct ax_http_conn *conn);
/* Brings the connection in line after an answer was queued or the state changed: writes, shutdown, timers. Calls no
 * handler: the next request, if it waits already, is looked at in the next turn of the loop. */
void ax_http_conn_settle(struct ax_http_conn *conn);
/* Cuts the connection; what is left of it is done, and on_gone called, from the loop. */
void ax_http_conn_close(struct ax_http_conn *conn);
/* Sees whether a client left whose bytes are not read at the moment; false when they are read. */
bool ax_http_conn_watch(struct ax_http_conn *conn);

/* --- respond.c: answers --- */

/* Answers the request that is being read with a problem document and ends the connection. */
void ax_http_conn_refuse(struct ax_http_conn *conn, int status, const char *reason);
/* Parts the request from its connection. */
void ax_http_request_detach(struct ax_http_request *req);
void ax_http_request_free(struct ax_http_request *req);

/* --- server.c: the listener and what all connections share --- */

/* Counts a new connection; false when a limit is reached. */
bool ax_http_server_admit(
	struct ax_http_server *server, const struct sockaddr_storage *peer, struct ax_http_address **ret_address);
/* A connection is gone for good. */
void ax_http_server_left(struct ax_http_server *server, struct ax_http_address *address);
/* Sees to it that ax_http_conn_watch is called twice a second while it is needed. */
void ax_http_server_watch(struct ax_http_server *server);
/* Sees to it that server-sent events are kept alive while there are any. */
void ax_http_server_ping(struct ax_http_server *server);
/* The Date header as a line. */
const char *ax_http_server_date(struct ax_http_server *server);

#endif
