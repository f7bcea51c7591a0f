#include "adapters/http/conn.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
	IN_PAUSE_BYTES = 64 * 1024,  /* waiting behind a request: read no more */
	OUT_PAUSE_BYTES = 64 * 1024, /* waiting for the client: begin no more requests */
	IN_MAX_BYTES = 256 * 1024,   /* never reached: a pause, one read and one TLS record */
	WRITE_CHUNKS = 16,
	MIB = 1024 * 1024,
};

/* --- closing ------------------------------------------------------------------------------------------------------ */

static void free_chunks(struct ax_http_chunk *chunk)
{
	while (chunk != NULL) {
		struct ax_http_chunk *next = chunk->next;
		free(chunk->owned);
		free(chunk);
		chunk = next;
	}
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct ax_http_conn *conn = handle->data;
	if (--conn->handles > 0)
		return;
	struct ax_http_server *server = conn->server;
	struct ax_http_request *req = conn->req;
	if (req != NULL) {
		ax_http_request_detach(req);
		if (!req->delivered)
			ax_http_request_free(req);
		else if (server->config.on.on_gone != NULL)
			server->config.on.on_gone(req, server->config.on.user);
	}
	DL_DELETE(server->conns, conn);
	struct ax_http_address *address = conn->address;
	free_chunks(conn->out);
	free_chunks(conn->in_flight);
	ax_buf_done(&conn->in);
	ax_http_parser_done(&conn->parser);
	ax_http_tls_done(&conn->tls);
	free(conn);
	ax_http_server_left(server, address);
}

void ax_http_conn_close(struct ax_http_conn *conn)
{
	if (conn->closing)
		return;
	conn->closing = true;
	uv_close((uv_handle_t *)&conn->tcp, on_handle_closed);
	uv_close((uv_handle_t *)&conn->timer, on_handle_closed);
}

static void advance(struct ax_http_conn *conn);

/* --- writing ------------------------------------------------------------------------------------------------------ */

size_t ax_http_conn_queued(const struct ax_http_conn *conn)
{
	return conn->out_bytes + uv_stream_get_write_queue_size((const uv_stream_t *)&conn->tcp);
}

static void enqueue(struct ax_http_conn *conn, const char *data, size_t len, void *owned)
{
	struct ax_http_chunk *chunk = ax_malloc(sizeof(*chunk));
	*chunk = (struct ax_http_chunk){ .data = data, .len = len, .owned = owned };
	*conn->out_end = chunk;
	conn->out_end = &chunk->next;
	conn->out_bytes += len;
	conn->sent_bytes += len;
}

/* Queues what TLS has to say to the network. */
static void enqueue_tls(struct ax_http_conn *conn)
{
	size_t len;
	char *bytes = ax_http_tls_take(&conn->tls, &len);
	if (bytes != NULL)
		enqueue(conn, bytes, len, bytes);
}

void ax_http_conn_send(struct ax_http_conn *conn, const char *data, size_t len, void *owned)
{
	if (conn->closing || len == 0) {
		free(owned);
	} else if (conn->tls.ssl == NULL) {
		enqueue(conn, data, len, owned);
	} else {
		if (ax_http_tls_write(&conn->tls, data, len))
			enqueue_tls(conn);
		else
			ax_http_conn_close(conn);
		free(owned);
	}
}

/* Forgets the first n bytes of `out`, which were sent. */
static void drop_sent(struct ax_http_conn *conn, size_t n)
{
	conn->out_bytes -= n;
	while (conn->out != NULL && n >= conn->out->len) {
		struct ax_http_chunk *chunk = conn->out;
		n -= chunk->len;
		conn->out = chunk->next;
		free(chunk->owned);
		free(chunk);
	}
	if (conn->out == NULL) {
		conn->out_end = &conn->out;
		return;
	}
	conn->out->data += n;
	conn->out->len -= n;
}

static unsigned gather(const struct ax_http_conn *conn, uv_buf_t bufs[WRITE_CHUNKS], size_t *ret_len)
{
	unsigned n = 0;
	*ret_len = 0;
	for (struct ax_http_chunk *chunk = conn->out; chunk != NULL && n < WRITE_CHUNKS; chunk = chunk->next) {
		bufs[n].base = (char *)(uintptr_t)chunk->data; /* libuv only reads it */
		bufs[n++].len = chunk->len;
		*ret_len += chunk->len;
	}
	return n;
}

static void on_written(uv_write_t *write, int status)
{
	struct ax_http_conn *conn = write->data;
	free_chunks(conn->in_flight);
	conn->in_flight = NULL;
	if (status < 0)
		ax_http_conn_close(conn);
	else
		advance(conn);
}

/* Hands the first n chunks to the system for when the client takes them. */
static void write_later(struct ax_http_conn *conn, const uv_buf_t *bufs, unsigned n, size_t len)
{
	struct ax_http_chunk **end = &conn->out;
	for (unsigned i = 0; i < n; i++)
		end = &(*end)->next;
	conn->in_flight = conn->out;
	conn->out = *end;
	*end = NULL;
	if (conn->out == NULL)
		conn->out_end = &conn->out;
	conn->out_bytes -= len;
	conn->write.data = conn;
	if (uv_write(&conn->write, (uv_stream_t *)&conn->tcp, bufs, n, on_written) != 0)
		ax_http_conn_close(conn);
}

void ax_http_conn_flush(struct ax_http_conn *conn)
{
	while (conn->out != NULL && conn->in_flight == NULL && !conn->closing) {
		uv_buf_t bufs[WRITE_CHUNKS];
		size_t len;
		unsigned n = gather(conn, bufs, &len);
		int sent = uv_try_write((uv_stream_t *)&conn->tcp, bufs, n);
		if (sent < 0 && sent != UV_EAGAIN) {
			ax_http_conn_close(conn);
			return;
		}
		drop_sent(conn, sent > 0 ? (size_t)sent : 0);
		if (sent < 0 || (size_t)sent < len) {
			n = gather(conn, bufs, &len);
			write_later(conn, bufs, n, len);
		}
	}
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

static bool with_handler(const struct ax_http_conn *conn)
{
	return conn->req != NULL && conn->req->delivered;
}

/* One request at a time, so that answers keep their order. */
static bool may_parse(const struct ax_http_conn *conn)
{
	return !conn->closing && !conn->last && !with_handler(conn) && ax_http_conn_queued(conn) < OUT_PAUSE_BYTES;
}

static void begin_time(struct ax_http_conn *conn)
{
	conn->since_ms = uv_now(conn->server->loop);
	conn->timer_kind = AX_HTTP_TIMER_NONE;
	uv_timer_stop(&conn->timer);
}

static void begin_request(struct ax_http_conn *conn)
{
	struct ax_http_request *req = ax_malloc(sizeof(*req));
	req->conn = conn;
	memcpy(req->peer, conn->peer, sizeof(req->peer));
	req->is_tls = conn->tls.ssl != NULL;
	if (conn->tls.subject != NULL)
		req->subject = ax_strdup_heap(conn->tls.subject);
	if (conn->tls.uri != NULL)
		req->uri = ax_strdup_heap(conn->tls.uri);
	conn->req = req;
	begin_time(conn);
	ax_http_parser_begin(&conn->parser, &conn->server->limits, &req->msg);
}

static void take_head(struct ax_http_conn *conn, bool body_is_there)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	const struct ax_http_callbacks *on = &conn->server->config.on;
	const struct ax_http_message *msg = &conn->req->msg;
	struct ax_http_verdict verdict = { .body_limit_bytes = conn->server->config.body_max_bytes };
	if (on->on_head != NULL)
		on->on_head(conn->req, &verdict, on->user);
	if (verdict.status != 0) {
		ax_http_conn_refuse(conn, verdict.status, verdict.detail);
		return;
	}
	conn->parser.body_max_bytes = verdict.body_limit_bytes;
	begin_time(conn); /* the body has a time of its own */
	if (msg->expects_continue && !body_is_there && msg->content_length <= verdict.body_limit_bytes)
		ax_http_conn_send(conn, go_on, sizeof(go_on) - 1, NULL);
}

static void deliver(struct ax_http_conn *conn)
{
	struct ax_http_server *server = conn->server;
	conn->req->delivered = true;
	server->stats.requests++;
	server->stats.requests_total++;
	server->config.on.on_request(conn->req, server->config.on.user);
}

/* Keeps count of the memory in bodies; false when there is too much. */
static bool count_body(struct ax_http_conn *conn)
{
	struct ax_http_request *req = conn->req;
	size_t grown = req->msg.body.len - req->body_counted_bytes;
	req->body_counted_bytes += grown;
	conn->server->stats.bodies_bytes += grown;
	return conn->server->stats.bodies_bytes <= conn->server->config.bodies_max_bytes;
}

/* Reads requests until the bytes are used up or one has to wait for an answer; returns the bytes used. */
static size_t parse(struct ax_http_conn *conn, const char *data, size_t len)
{
	size_t used = 0;
	enum ax_http_event event = AX_HTTP_EVENT_DONE;
	conn->parsing = true;
	while (may_parse(conn) && event != AX_HTTP_EVENT_MORE && (used < len || event == AX_HTTP_EVENT_HEAD)) {
		if (conn->req == NULL)
			begin_request(conn);
		size_t n;
		event = ax_http_parser_feed(&conn->parser, data + used, len - used, &n);
		used += n;
		if (event == AX_HTTP_EVENT_REFUSED)
			ax_http_conn_refuse(conn, conn->parser.status, conn->parser.reason);
		else if (!count_body(conn))
			ax_http_conn_refuse(conn, 503, "The server holds too many request bodies at the moment.");
		else if (event == AX_HTTP_EVENT_HEAD)
			take_head(conn, used < len);
		else if (event == AX_HTTP_EVENT_DONE)
			deliver(conn);
	}
	conn->parsing = false;
	return used;
}

/* --- timers ------------------------------------------------------------------------------------------------------- */

static uint64_t taken_bytes(const struct ax_http_conn *conn)
{
	return conn->sent_bytes - ax_http_conn_queued(conn);
}

static enum ax_http_timer wanted_timer(const struct ax_http_conn *conn)
{
	if (conn->in.len > 0 && may_parse(conn))
		return AX_HTTP_TIMER_NEXT;
	if (conn->shut)
		return AX_HTTP_TIMER_LINGER;
	if (ax_http_conn_queued(conn) > 0)
		return AX_HTTP_TIMER_STALL;
	if (with_handler(conn))
		return AX_HTTP_TIMER_NONE;
	return conn->req != NULL || !conn->served ? AX_HTTP_TIMER_READ : AX_HTTP_TIMER_IDLE;
}

static uint64_t allowed_ms(const struct ax_http_conn *conn, enum ax_http_timer kind)
{
	const struct ax_http_config *config = &conn->server->config;
	switch (kind) {
	case AX_HTTP_TIMER_LINGER:
		return config->linger_ms;
	case AX_HTTP_TIMER_STALL:
		return config->stall_ms;
	case AX_HTTP_TIMER_IDLE:
		return config->idle_ms;
	case AX_HTTP_TIMER_NEXT:
	case AX_HTTP_TIMER_NONE:
		return 0;
	case AX_HTTP_TIMER_READ:
		break;
	}
	if (conn->req == NULL || !ax_http_parser_in_body(&conn->parser))
		return config->headers_ms;
	const struct ax_http_message *msg = &conn->req->msg;
	size_t bytes = msg->content_length > 0 ? msg->content_length : conn->parser.body_max_bytes;
	return (uint64_t)config->body_ms * AX_MAX((bytes + MIB - 1) / MIB, (size_t)1);
}

static void on_timer(uv_timer_t *timer);

static void start_timer(struct ax_http_conn *conn)
{
	uint64_t now_ms = uv_now(conn->server->loop);
	uint64_t wait_ms = allowed_ms(conn, conn->timer_kind);
	if (conn->timer_kind == AX_HTTP_TIMER_READ || conn->timer_kind == AX_HTTP_TIMER_IDLE) {
		uint64_t passed_ms = now_ms - conn->since_ms;
		wait_ms = wait_ms > passed_ms ? wait_ms - passed_ms : 0;
	}
	conn->stall_taken_bytes = taken_bytes(conn);
	uv_timer_start(&conn->timer, on_timer, wait_ms, 0);
}

static void on_timer(uv_timer_t *timer)
{
	struct ax_http_conn *conn = timer->data;
	uint64_t passed_ms = uv_now(conn->server->loop) - conn->since_ms;
	enum ax_http_timer kind = conn->timer_kind;
	bool due = kind == AX_HTTP_TIMER_LINGER || kind == AX_HTTP_TIMER_NEXT;
	if (kind == AX_HTTP_TIMER_STALL)
		due = taken_bytes(conn) == conn->stall_taken_bytes;
	else if (kind == AX_HTTP_TIMER_READ || kind == AX_HTTP_TIMER_IDLE)
		due = passed_ms >= allowed_ms(conn, kind);
	if (!due) {
		start_timer(conn);
	} else if (kind == AX_HTTP_TIMER_NEXT) {
		conn->timer_kind = AX_HTTP_TIMER_NONE;
		advance(conn);
	} else if (kind == AX_HTTP_TIMER_READ && conn->req != NULL) {
		ax_http_conn_refuse(conn, 408, "The request took too long to arrive.");
		ax_http_conn_settle(conn);
	} else {
		ax_http_conn_close(conn);
	}
}

/* Timers of a kind that goes on are left alone: on_timer looks how much time is left. */
static void set_timer(struct ax_http_conn *conn)
{
	enum ax_http_timer kind = wanted_timer(conn);
	if (kind == conn->timer_kind)
		return;
	conn->timer_kind = kind;
	if (kind == AX_HTTP_TIMER_NONE)
		uv_timer_stop(&conn->timer);
	else
		start_timer(conn);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static void take_plain(struct ax_http_conn *conn, const char *data, size_t len)
{
	if (conn->last)
		return;
	size_t used = conn->in.len == 0 ? parse(conn, data, len) : 0;
	if (used < len && !conn->last)
		ax_buf_add(&conn->in, data + used, len - used);
	AX_ASSERT(!conn->in.overflow);
}

static void take_tls(struct ax_http_conn *conn, const char *data, size_t len)
{
	struct ax_http_server *server = conn->server;
	ax_http_tls_feed(&conn->tls, data, len);
	int n;
	while ((n = ax_http_tls_read(&conn->tls, server->plain, sizeof(server->plain))) > 0)
		take_plain(conn, server->plain, (size_t)n);
	conn->eof |= n < 0;
	enqueue_tls(conn);
}

static void on_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	(void)suggested;
	struct ax_http_conn *conn = handle->data;
	*buf = uv_buf_init(conn->server->received, sizeof(conn->server->received));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct ax_http_conn *conn = stream->data;
	if (conn->closing || n == 0)
		return;
	if (n < 0 && n != UV_EOF) {
		ax_http_conn_close(conn);
		return;
	}
	if (n == UV_EOF)
		conn->eof = true;
	else if (conn->tls.ssl != NULL)
		take_tls(conn, buf->base, (size_t)n);
	else
		take_plain(conn, buf->base, (size_t)n);
	advance(conn);
}

static void set_reading(struct ax_http_conn *conn)
{
	bool wanted = !conn->eof && (conn->last || conn->in.len < IN_PAUSE_BYTES);
	if (wanted == conn->reading)
		return;
	conn->reading = wanted;
	if (wanted)
		uv_read_start((uv_stream_t *)&conn->tcp, on_buffer, on_read);
	else
		uv_read_stop((uv_stream_t *)&conn->tcp);
	if (!wanted && !conn->eof)
		ax_http_server_watch(conn->server);
}

bool ax_http_conn_watch(struct ax_http_conn *conn)
{
	if (conn->reading || conn->eof || conn->closing)
		return false;
	struct pollfd p = { .events = POLLRDHUP };
	if (uv_fileno((uv_handle_t *)&conn->tcp, &p.fd) == 0 && poll(&p, 1, 0) > 0)
		ax_http_conn_close(conn);
	return true;
}

/* --- going on ------------------------------------------------------------------------------------------------------
 */

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
	struct ax_http_conn *conn = shutdown->data;
	if (status < 0 || conn->eof)
		ax_http_conn_close(conn);
}

/* After the last answer: closing at once could destroy, by a reset, what the client has not read yet. */
static void shut(struct ax_http_conn *conn)
{
	if (conn->tls.ssl != NULL) {
		ax_http_tls_close(&conn->tls);
		enqueue_tls(conn);
		ax_http_conn_flush(conn);
	}
	if (conn->closing)
		return;
	conn->shut = true;
	conn->shutdown.data = conn;
	if (uv_shutdown(&conn->shutdown, (uv_stream_t *)&conn->tcp, on_shutdown) != 0)
		ax_http_conn_close(conn);
}

/* True when nothing more is to be done with the connection. */
static bool is_over(const struct ax_http_conn *conn)
{
	if (conn->eof && with_handler(conn))
		return true;
	if (ax_http_conn_queued(conn) > 0 || with_handler(conn))
		return false;
	bool between = conn->req == NULL && conn->in.len == 0 && !conn->last;
	return conn->eof || (conn->server->draining && between);
}

void ax_http_conn_settle(struct ax_http_conn *conn)
{
	ax_http_conn_flush(conn);
	if (!conn->closing && is_over(conn))
		ax_http_conn_close(conn);
	if (!conn->closing && conn->last && conn->req == NULL && !conn->shut && ax_http_conn_queued(conn) == 0)
		shut(conn);
	if (conn->closing)
		return;
	set_reading(conn);
	set_timer(conn);
}

/* Reads on in what waits behind an answered request. Called from the loop only, as handlers may be called. */
static void advance(struct ax_http_conn *conn)
{
	ax_http_conn_flush(conn);
	while (conn->in.len > 0 && may_parse(conn)) {
		size_t used = parse(conn, conn->in.data, conn->in.len);
		if (used == conn->in.len || conn->last)
			ax_buf_done(&conn->in); /* idle connections hold no memory */
		else
			ax_buf_drop(&conn->in, used);
		ax_http_conn_flush(conn);
	}
	ax_http_conn_settle(conn);
}

/* IPv4 looks the same on a listener for both families. */
static void name_peer(const struct sockaddr_storage *peer, char out[INET6_ADDRSTRLEN])
{
	const struct sockaddr_in6 *v6 = (const void *)peer;
	if (peer->ss_family == AF_INET)
		uv_ip4_name((const void *)peer, out, INET6_ADDRSTRLEN);
	else if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		uv_inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], out, INET6_ADDRSTRLEN);
	else
		uv_ip6_name(v6, out, INET6_ADDRSTRLEN);
}

void ax_http_conn_accept(struct ax_http_server *server)
{
	struct ax_http_conn *conn = ax_malloc(sizeof(*conn));
	conn->server = server;
	conn->out_end = &conn->out;
	conn->handles = 2;
	conn->since_ms = uv_now(server->loop);
	ax_buf_init(&conn->in, IN_MAX_BYTES);
	uv_tcp_init(server->loop, &conn->tcp);
	uv_timer_init(server->loop, &conn->timer);
	conn->tcp.data = conn;
	conn->timer.data = conn;
	DL_APPEND(server->conns, conn);

	struct sockaddr_storage peer;
	int len = sizeof(peer);
	if (uv_accept((uv_stream_t *)&server->listener, (uv_stream_t *)&conn->tcp) != 0 ||
		uv_tcp_getpeername(&conn->tcp, (struct sockaddr *)&peer, &len) != 0 ||
		!ax_http_server_admit(server, &peer, &conn->address)) {
		ax_http_conn_close(conn);
		return;
	}
	name_peer(&peer, conn->peer);
	uv_tcp_nodelay(&conn->tcp, 1);
	uv_tcp_keepalive(&conn->tcp, 1, 60);
	if (server->tls != NULL)
		ax_http_tls_init(&conn->tls, server->tls);
	ax_http_conn_settle(conn);
}
