#ifndef AX_ADAPTERS_HTTP_SERVER_H
#define AX_ADAPTERS_HTTP_SERVER_H

/* HTTP/1.1 server on a libuv loop: connections, limits, time-outs, parked requests, streams, TLS.
 *
 * It knows nothing of what is served. Parsing is strict: whatever two programs in a row could read differently is
 * refused with an RFC 9457 problem document and the connection is closed (parse.h has the rules).
 *
 * Threads: everything here, callbacks included, belongs to the thread that runs the loop. Other threads hand their
 * answer over by a uv_async of the caller's.
 *
 * Life of a request: on_head (optional) when the header is in, on_request when the body is in. From on_request on the
 * handler owns the request and ends it exactly once, at any later time, with one of the ax_http_respond functions,
 * ax_http_stream_end or ax_http_discard; all that is reachable from it lives until then. When the client leaves
 * first, on_gone tells; the request still has to be ended, which then only frees it (ax_http_discard says it shortest).
 * No callback is ever called from inside a function of this header.
 *
 * A client that leaves, or closes its sending side while its request waits, is noticed within a second, unless it had
 * sent more than the socket buffers hold behind a request that waits: then TCP cannot deliver its goodbye before the
 * answer. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/arena.h"
#include "base/err.h"

struct ax_http_server;
struct ax_http_request;

enum ax_http_method {
	AX_HTTP_GET,
	AX_HTTP_HEAD,
	AX_HTTP_POST,
	AX_HTTP_PUT,
	AX_HTTP_PATCH,
	AX_HTTP_DELETE,
	AX_HTTP_OPTIONS,
};

const char *ax_http_method_name(enum ax_http_method method);

/* Lists of headers end with { NULL, NULL }. */
struct ax_http_header {
	const char *name;
	const char *value;
};

struct ax_http_param {
	const char *name;
	const char *value;
};

/* What on_head decides. A status other than 0 is answered with a problem document and the connection closes. */
struct ax_http_verdict {
	int status;
	const char *detail;      /* sentence for the problem document; must be constant; NULL = none */
	size_t body_limit_bytes; /* preset from the configuration; may be raised or lowered */
};

struct ax_http_callbacks {
	void (*on_head)(struct ax_http_request *req, struct ax_http_verdict *verdict, void *user); /* may be NULL */
	void (*on_request)(struct ax_http_request *req, void *user);
	void (*on_gone)(struct ax_http_request *req, void *user); /* may be NULL: end the request as if it were there */
	void (*on_drain)(struct ax_http_request *req, void *user); /* may be NULL: see ax_http_server_drain */
	void *user;
};

struct ax_http_config {
	const char *address; /* numeric IPv4 or IPv6; "::" listens on both */
	int port;            /* 0 = any free port */

	size_t line_max_bytes;    /* request line; beyond: 414 */
	size_t query_max_bytes;   /* beyond: 414 */
	size_t headers_max_bytes; /* all header lines together; beyond: 431 */
	size_t headers_max;       /* number of headers; beyond: 431 */
	size_t body_max_bytes;    /* beyond: 413 */
	size_t bodies_max_bytes;  /* request bodies held in all; beyond: 503 */
	size_t stream_max_bytes;  /* queued for one stream; a slower reader is dropped */
	unsigned connections_max;
	unsigned connections_per_address_max; /* IPv6 counts per /64; 0 = no limit */

	unsigned headers_ms;  /* from the first byte (or accept) to the end of the header, TLS handshake included */
	unsigned body_ms;     /* for each started MiB of body that may come */
	unsigned idle_ms;     /* between requests */
	unsigned stall_ms;    /* no byte of an answer taken by the client */
	unsigned linger_ms;   /* after the last answer, for the client to read it */
	unsigned sse_ping_ms; /* between ": keep-alive" comments */

	const char *tls_cert_file; /* PEM chain; NULL = plain HTTP */
	const char *tls_key_file;
	const char *tls_client_ca_file; /* PEM; NULL = client certificates are not asked for */
	bool tls_client_required;       /* refuse clients without a certificate at the handshake */

	const struct ax_http_header *headers; /* sent with every answer; must outlive the server; may be NULL */
	struct ax_http_callbacks on;
};

/* Loopback, any port, the limits above at 8 kB, 4 kB, 16 kB, 100, 1 MiB, 256 MiB, 1 MiB, 16,384, 4,096 and the times
 * at 10 s, 30 s, 75 s, 30 s, 2 s, 15 s. */
void ax_http_config_init(struct ax_http_config *config);

/* Binds and listens; requests are served while the loop runs. Strings are copied except `headers`. Fails with
 * AX_INVALID (address, certificate or key files) or AX_UNAVAILABLE (the port is taken). */
AX_MUST_USE enum ax_status ax_http_server_new(
	uv_loop_t *loop, const struct ax_http_config *config, struct ax_http_server **ret_server, struct ax_err *err);
int ax_http_server_port(const struct ax_http_server *server);

/* Reads the certificate, key and CA files again, for connections from now on. On failure the old ones stay. */
AX_MUST_USE enum ax_status ax_http_server_reload_tls(struct ax_http_server *server, struct ax_err *err);

/* Stops: accepts no more, closes idle connections, calls on_drain for every request not yet ended (from the loop, so
 * that long polls and streams can be ended now), lets the others finish. Connections left after deadline_ms are cut
 * (on_gone). Then `done` is called, once, from the loop; only after that may the server be freed. */
void ax_http_server_drain(
	struct ax_http_server *server, unsigned deadline_ms, void (*done)(void *done_user), void *done_user);
void ax_http_server_free(struct ax_http_server *server);

struct ax_http_stats {
	unsigned connections; /* open now */
	unsigned requests;    /* with a handler now */
	size_t bodies_bytes;  /* in request bodies now */
	uint64_t connections_total;
	uint64_t requests_total;
	uint64_t refused_total; /* answered by this layer: bad requests, limits */
};
void ax_http_server_stats(const struct ax_http_server *server, struct ax_http_stats *ret);

/* --- the request ---------------------------------------------------------------------------------------------- */

enum ax_http_method ax_http_method(const struct ax_http_request *req);
/* Percent-decoded once, valid UTF-8, begins with '/', without control characters, encoded slashes, "." and ".."
 * segments; "*" for OPTIONS *. */
const char *ax_http_path(const struct ax_http_request *req);
/* Undecoded text behind the '?', "" when there is none. */
const char *ax_http_raw_query(const struct ax_http_request *req);
/* Value of the first parameter of that name, decoded; NULL when absent. */
const char *ax_http_query(const struct ax_http_request *req, const char *name);
/* All parameters in order; returns how many. */
size_t ax_http_params(const struct ax_http_request *req, const struct ax_http_param **ret);
/* Value of the first header of that name, letter case ignored; NULL when absent. Values are valid UTF-8 without
 * control characters. */
const char *ax_http_header(const struct ax_http_request *req, const char *name);
/* All headers in order, names in lower case; returns how many. */
size_t ax_http_headers(const struct ax_http_request *req, const struct ax_http_header **ret);
/* Body bytes (a NUL follows them); "" and 0 when there is none. In on_head: not yet there. */
const char *ax_http_body(const struct ax_http_request *req, size_t *ret_len);

const char *ax_http_peer(const struct ax_http_request *req); /* address in text form */
bool ax_http_is_tls(const struct ax_http_request *req);
/* Of a verified client certificate: subject (RFC 2253) and first URI in subjectAltName; NULL without. */
const char *ax_http_client_subject(const struct ax_http_request *req);
const char *ax_http_client_uri(const struct ax_http_request *req);

/* Memory that lives as long as the request. Costs nothing until used. */
struct ax_arena *ax_http_arena(struct ax_http_request *req);
/* A pointer of the handler's, NULL at first; to be set from on_request on. */
void ax_http_set_user(struct ax_http_request *req, void *ptr);
void *ax_http_user(const struct ax_http_request *req);
/* True once the client has left. */
bool ax_http_is_gone(const struct ax_http_request *req);

/* --- the answer: each of these ends the request ---------------------------------------------------------------- */

/* Date, Content-Length, Connection and the configured headers are added; a header given here replaces a configured
 * one of the same name. `headers` may be NULL. 204 and 304 have no body; HEAD gets the length without the body.
 * Control characters in header values become spaces. */
void ax_http_respond(struct ax_http_request *req, int status, const struct ax_http_header *headers, const void *body,
	size_t len); /* copies the body */
void ax_http_respond_take(struct ax_http_request *req, int status, const struct ax_http_header *headers, char *body,
	size_t len); /* takes the body and frees it with free() */
void ax_http_respond_static(struct ax_http_request *req, int status, const struct ax_http_header *headers,
	const void *body, size_t len); /* the body outlives the server */

/* Ends the request without an answer: the connection is cut. */
void ax_http_discard(struct ax_http_request *req);

/* --- streams ---------------------------------------------------------------------------------------------------- */

/* Begins an answer of unknown length: chunked, or until close for HTTP/1.0. */
void ax_http_stream_begin(struct ax_http_request *req, int status, const struct ax_http_header *headers);
/* Returns the bytes queued for the client and not yet taken by the system, so that a producer can wait. Beyond
 * stream_max_bytes the client is dropped: on_gone follows, and what is sent after that goes nowhere. */
size_t ax_http_stream_send(struct ax_http_request *req, const void *data, size_t len);
/* The same number without sending. */
size_t ax_http_stream_queued(const struct ax_http_request *req);
/* Ends the stream and the request. */
void ax_http_stream_end(struct ax_http_request *req);

/* Server-sent events over a stream (Content-Type and Cache-Control are added), kept alive by comments. */
void ax_http_sse_begin(struct ax_http_request *req, const struct ax_http_header *headers);
/* `event` and `id` may be NULL and hold no line breaks; `data` may have many lines. Returns as stream_send does. */
size_t ax_http_sse_send(struct ax_http_request *req, const char *event, const char *id, const char *data);

#endif
