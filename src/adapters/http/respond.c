#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "adapters/http/conn.h"

enum { HEAD_MAX_BYTES = 256 * 1024, SMALL_BODY_BYTES = 16 * 1024 };

static const struct ax_http_header no_headers[] = { { NULL, NULL } };

static const struct {
	int status;
	const char *phrase;
} phrases[] = {
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 301, "Moved Permanently" },
	{ 302, "Found" },
	{ 303, "See Other" },
	{ 304, "Not Modified" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 415, "Unsupported Media Type" },
	{ 417, "Expectation Failed" },
	{ 421, "Misdirected Request" },
	{ 422, "Unprocessable Content" },
	{ 428, "Precondition Required" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
	{ 505, "HTTP Version Not Supported" },
	{ 507, "Insufficient Storage" },
};

static const char *phrase_of(int status)
{
	for (size_t i = 0; i < AX_COUNT(phrases); i++) {
		if (phrases[i].status == status)
			return phrases[i].phrase;
	}
	return "";
}

/* --- heads -------------------------------------------------------------------------------------------------------- */

static bool has_header(const struct ax_http_header *headers, const char *name)
{
	for (; headers->name != NULL; headers++) {
		if (strcasecmp(headers->name, name) == 0)
			return true;
	}
	return false;
}

/* Control characters become blanks (RFC 9110 §5.5), so that no value can end its line. */
static void add_header(struct ax_buf *buf, const struct ax_http_header *header)
{
	ax_buf_adds(buf, header->name);
	ax_buf_adds(buf, ": ");
	size_t start = buf->len;
	ax_buf_adds(buf, header->value);
	for (size_t i = start; i < buf->len; i++) {
		if ((unsigned char)buf->data[i] < 0x20 || buf->data[i] == 0x7f)
			buf->data[i] = ' ';
	}
	ax_buf_adds(buf, "\r\n");
}

static void add_length(struct ax_buf *buf, size_t len)
{
	char digits[24];
	ax_buf_add(buf, "Content-Length: ", 16);
	ax_buf_add(buf, digits, (size_t)snprintf(digits, sizeof(digits), "%zu\r\n", len));
}

static void begin_head(struct ax_buf *buf, const struct ax_http_conn *conn, const struct ax_http_message *msg,
	int status, const struct ax_http_header *headers)
{
	char line[64];
	ax_buf_init(buf, HEAD_MAX_BYTES);
	ax_buf_add(buf, line, (size_t)snprintf(line, sizeof(line), "HTTP/1.1 %d %s\r\n", status, phrase_of(status)));
	ax_buf_adds(buf, ax_http_server_date(conn->server));
	const struct ax_http_header *common = conn->server->config.headers;
	for (; common != NULL && common->name != NULL; common++) {
		if (!has_header(headers, common->name))
			add_header(buf, common);
	}
	for (; headers->name != NULL; headers++)
		add_header(buf, headers);
	if (conn->last)
		ax_buf_adds(buf, "Connection: close\r\n");
	else if (msg->http_1_0)
		ax_buf_adds(buf, "Connection: keep-alive\r\n");
}

static bool has_no_body(int status)
{
	return status == 204 || status == 304;
}

enum ownership { COPY, TAKE, STATIC };

/* Queues a whole answer. Small bodies go into one piece with the head. */
static void answer(struct ax_http_conn *conn, const struct ax_http_message *msg, int status,
	const struct ax_http_header *headers, const char *body, size_t len, enum ownership ownership)
{
	struct ax_buf head;
	conn->last |= !msg->keep_alive || conn->server->draining;
	begin_head(&head, conn, msg, status, headers != NULL ? headers : no_headers);
	if (!has_no_body(status))
		add_length(&head, len);
	ax_buf_add(&head, "\r\n", 2);
	bool sends_body = len > 0 && msg->method != AX_HTTP_HEAD && !has_no_body(status);
	bool joined = sends_body && len <= SMALL_BODY_BYTES;
	if (joined)
		ax_buf_add(&head, body, len);
	AX_ASSERT(!head.overflow);
	char *owned = ownership == TAKE ? (char *)(uintptr_t)body : NULL;
	if (sends_body && !joined && ownership == COPY) {
		owned = ax_malloc(len);
		memcpy(owned, body, len);
		body = owned;
	}
	size_t head_len;
	char *head_bytes = ax_buf_take(&head, &head_len);
	ax_http_conn_send(conn, head_bytes, head_len, head_bytes);
	if (sends_body && !joined)
		ax_http_conn_send(conn, body, len, owned);
	else
		free(owned);
}

/* --- ending requests ---------------------------------------------------------------------------------------------- */

void ax_http_request_detach(struct ax_http_request *req)
{
	struct ax_http_conn *conn = req->conn;
	if (conn == NULL)
		return;
	conn->server->stats.bodies_bytes -= req->body_counted_bytes;
	if (req->delivered)
		conn->server->stats.requests--;
	conn->req = NULL;
	req->conn = NULL;
}

void ax_http_request_free(struct ax_http_request *req)
{
	ax_http_message_done(&req->msg);
	ax_arena_done(&req->arena);
	free(req->subject);
	free(req->uri);
	free(req);
}

/* The answer is queued: parts and frees the request, and lets its connection go on. */
static void finish(struct ax_http_request *req)
{
	struct ax_http_conn *conn = req->conn;
	ax_http_request_detach(req);
	ax_http_request_free(req);
	if (conn == NULL)
		return;
	conn->served = true;
	conn->since_ms = uv_now(conn->server->loop);
	if (!conn->parsing && !conn->closing)
		ax_http_conn_settle(conn);
}

/* The words that docs/api.md has for statuses that this layer gives. */
static const char *code_of(int status)
{
	switch (status) {
	case 401:
		return "unauthenticated";
	case 403:
		return "denied";
	case 404:
		return "not_found";
	case 413:
	case 414:
	case 431:
		return "too_large";
	case 429:
	case 503:
		return "busy";
	default:
		return "invalid";
	}
}

void ax_http_conn_refuse(struct ax_http_conn *conn, int status, const char *reason)
{
	const struct ax_http_header headers[] = { { "Content-Type", "application/problem+json" },
		{ status == 503 ? "Retry-After" : NULL, "1" }, { NULL, NULL } };
	const char *code = code_of(status);
	char body[512];
	int len = snprintf(body, sizeof(body),
		"{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"code\":\"%s\",\"detail\":\"%s\"}\n",
		phrase_of(status), status, code, reason != NULL ? reason : phrase_of(status));
	AX_ASSERT(len > 0 && (size_t)len < sizeof(body));
	struct ax_http_request *req = conn->req;
	conn->server->stats.refused_total++;
	conn->last = true;
	answer(conn, &req->msg, status, headers, body, (size_t)len, COPY);
	ax_http_request_detach(req);
	ax_http_request_free(req);
}

static void respond(struct ax_http_request *req, int status, const struct ax_http_header *headers, const void *body,
	size_t len, enum ownership ownership)
{
	AX_ASSERT(req->delivered && !req->streaming);
	if (req->conn != NULL && !req->conn->closing)
		answer(req->conn, &req->msg, status, headers, body, len, ownership);
	else if (ownership == TAKE)
		free((void *)(uintptr_t)body);
	finish(req);
}

void ax_http_respond(
	struct ax_http_request *req, int status, const struct ax_http_header *headers, const void *body, size_t len)
{
	respond(req, status, headers, body, len, COPY);
}

void ax_http_respond_take(
	struct ax_http_request *req, int status, const struct ax_http_header *headers, char *body, size_t len)
{
	respond(req, status, headers, body, len, TAKE);
}

void ax_http_respond_static(
	struct ax_http_request *req, int status, const struct ax_http_header *headers, const void *body, size_t len)
{
	respond(req, status, headers, body, len, STATIC);
}

void ax_http_discard(struct ax_http_request *req)
{
	AX_ASSERT(req->delivered);
	struct ax_http_conn *conn = req->conn;
	ax_http_request_detach(req);
	ax_http_request_free(req);
	if (conn != NULL)
		ax_http_conn_close(conn);
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

void ax_http_stream_begin(struct ax_http_request *req, int status, const struct ax_http_header *headers)
{
	AX_ASSERT(req->delivered && !req->streaming && !has_no_body(status));
	struct ax_http_conn *conn = req->conn;
	req->streaming = true;
	if (conn == NULL || conn->closing)
		return;
	struct ax_buf head;
	req->chunked = !req->msg.http_1_0;
	conn->last |= !req->msg.keep_alive || !req->chunked || conn->server->draining;
	begin_head(&head, conn, &req->msg, status, headers != NULL ? headers : no_headers);
	ax_buf_adds(&head, req->chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
	AX_ASSERT(!head.overflow);
	size_t len;
	char *bytes = ax_buf_take(&head, &len);
	ax_http_conn_send(conn, bytes, len, bytes);
	if (!conn->parsing)
		ax_http_conn_settle(conn);
}

size_t ax_http_stream_queued(const struct ax_http_request *req)
{
	return req->conn == NULL || req->conn->closing ? 0 : ax_http_conn_queued(req->conn);
}

size_t ax_http_stream_send(struct ax_http_request *req, const void *data, size_t len)
{
	AX_ASSERT(req->streaming);
	struct ax_http_conn *conn = req->conn;
	if (conn == NULL || conn->closing || len == 0 || req->msg.method == AX_HTTP_HEAD)
		return ax_http_stream_queued(req);
	char *bytes = ax_malloc(len + 32);
	size_t n = req->chunked ? (size_t)snprintf(bytes, 32, "%zx\r\n", len) : 0;
	memcpy(bytes + n, data, len);
	n += len;
	if (req->chunked) {
		memcpy(bytes + n, "\r\n", 2);
		n += 2;
	}
	ax_http_conn_send(conn, bytes, n, bytes);
	ax_http_conn_flush(conn);
	if (!conn->closing && ax_http_conn_queued(conn) > conn->server->config.stream_max_bytes)
		ax_http_conn_close(conn);
	if (!conn->parsing && !conn->closing)
		ax_http_conn_settle(conn);
	return ax_http_stream_queued(req);
}

void ax_http_stream_end(struct ax_http_request *req)
{
	AX_ASSERT(req->streaming);
	static const char end[] = "0\r\n\r\n";
	if (req->conn != NULL && req->chunked && req->msg.method != AX_HTTP_HEAD)
		ax_http_conn_send(req->conn, end, sizeof(end) - 1, NULL);
	finish(req);
}

/* --- server-sent events ------------------------------------------------------------------------------------------- */

enum { SSE_HEADERS_MAX = 32 };

void ax_http_sse_begin(struct ax_http_request *req, const struct ax_http_header *headers)
{
	struct ax_http_header all[SSE_HEADERS_MAX] = {
		{ "Content-Type", "text/event-stream" },
		{ "Cache-Control", "no-store" },
	};
	size_t n = 2;
	for (; headers != NULL && headers->name != NULL; headers++) {
		AX_ASSERT(n < SSE_HEADERS_MAX - 1);
		all[n++] = *headers;
	}
	ax_http_stream_begin(req, 200, all);
	req->sse = true;
	if (req->conn != NULL)
		ax_http_server_ping(req->conn->server);
}

static void add_field(struct ax_buf *buf, const char *name, const char *value, size_t len)
{
	ax_buf_adds(buf, name);
	ax_buf_add(buf, value, len);
	ax_buf_addc(buf, '\n');
}

size_t ax_http_sse_send(struct ax_http_request *req, const char *event, const char *id, const char *data)
{
	AX_ASSERT(req->sse);
	struct ax_buf buf;
	ax_buf_init(&buf, SIZE_MAX / 2);
	if (event != NULL)
		add_field(&buf, "event: ", event, strcspn(event, "\r\n"));
	if (id != NULL)
		add_field(&buf, "id: ", id, strcspn(id, "\r\n"));
	for (;;) {
		size_t len = strcspn(data, "\r\n");
		add_field(&buf, "data: ", data, len);
		data += len;
		if (*data == '\0')
			break;
		data += data[0] == '\r' && data[1] == '\n' ? 2 : 1;
	}
	ax_buf_addc(&buf, '\n');
	size_t queued = ax_http_stream_send(req, buf.data, buf.len);
	ax_buf_done(&buf);
	return queued;
}
