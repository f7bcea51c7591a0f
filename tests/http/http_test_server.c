/* A program around the HTTP layer for the tests beside it: small routes that show what the layer does.
 *
 * Arguments are name=value for the fields of struct ax_http_config (and drain_ms). It prints "port N", serves until
 * SIGTERM, drains and ends with 0; SIGHUP reads the TLS files again. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "adapters/http/router.h"
#include "adapters/http/server.h"
#include "adapters/http/static.h"
#include "base/buf.h"
#include "base/num.h"
#include "test_files.h"

struct parked {
	struct parked *prev, *next;
	struct ax_http_request *req;
	bool sse;
};

static struct ax_http_server *server;
static struct ax_http_router *router;
static struct parked *parked;
static uint64_t gone;
static unsigned drain_ms = 5000;
static bool oracle; /* answer everything as oracle.js does */
static uv_signal_t term, hup;

static const struct ax_http_header text[] = { { "Content-Type", "text/plain" }, { NULL, NULL } };

static size_t number(const struct ax_http_request *req, const char *name, size_t otherwise)
{
	const char *s = ax_http_query(req, name);
	int64_t n = 0;
	return s != NULL && ax_parse_i64(s, strlen(s), 0, 1 << 30, &n) ? (size_t)n : otherwise;
}

/* Everything that the layer says about the request, as lines; the body follows an empty line. */
static void echo(struct ax_http_request *req)
{
	struct ax_buf out;
	const struct ax_http_header *headers;
	const struct ax_http_param *params;
	size_t body_len;
	const char *body = ax_http_body(req, &body_len);
	ax_buf_init(&out, SIZE_MAX / 2);
	ax_buf_printf(&out, "method %s\npath %s\nquery %s\npeer %s\ntls %d\n", ax_http_method_name(ax_http_method(req)),
		ax_http_path(req), ax_http_raw_query(req), ax_http_peer(req), ax_http_is_tls(req));
	if (ax_http_client_subject(req) != NULL)
		ax_buf_printf(&out, "subject %s\n", ax_http_client_subject(req));
	if (ax_http_client_uri(req) != NULL)
		ax_buf_printf(&out, "uri %s\n", ax_http_client_uri(req));
	size_t n = ax_http_headers(req, &headers);
	for (size_t i = 0; i < n; i++)
		ax_buf_printf(&out, "header %s=%s\n", headers[i].name, headers[i].value);
	n = ax_http_params(req, &params);
	for (size_t i = 0; i < n; i++)
		ax_buf_printf(&out, "param %s=%s\n", params[i].name, params[i].value);
	ax_buf_printf(&out, "body %zu\n\n", body_len);
	ax_buf_add(&out, body, body_len);
	size_t len;
	char *bytes = ax_buf_take(&out, &len);
	ax_http_respond_take(req, 200, text, bytes, len);
}

static void tell_framing(struct ax_http_request *req)
{
	struct ax_buf out;
	size_t body_len;
	const char *body = ax_http_body(req, &body_len);
	ax_buf_init(&out, SIZE_MAX / 2);
	ax_buf_printf(&out, "%s ", ax_http_method_name(ax_http_method(req)));
	for (size_t i = 0; i < body_len; i++)
		ax_buf_printf(&out, "%02x", (unsigned char)body[i]);
	ax_http_respond(req, 200, text, out.data, out.len);
	ax_buf_done(&out);
}

static void small(struct ax_http_request *req)
{
	static const struct ax_http_header json[] = { { "Content-Type", "application/json" }, { NULL, NULL } };
	static const char body[] = "{\"id\":\"184467440737095516\",\"state\":\"SUCCESS\",\"attempt\":1}";
	ax_http_respond(req, 200, json, body, sizeof(body) - 1);
}

static void park_as(struct ax_http_request *req, bool sse)
{
	struct parked *p = ax_malloc(sizeof(*p));
	p->req = req;
	p->sse = sse;
	ax_http_set_user(req, p);
	DL_APPEND(parked, p);
}

static void park(struct ax_http_request *req)
{
	park_as(req, false);
}

static struct ax_http_request *unpark(struct parked *p)
{
	struct ax_http_request *req = p->req;
	DL_DELETE(parked, p);
	free(p);
	return req;
}

static void release(struct ax_http_request *req)
{
	struct parked *p, *tmp;
	size_t n = 0;
	DL_FOREACH_SAFE(parked, p, tmp)
	{
		if (!p->sse) {
			ax_http_respond(unpark(p), 200, text, "released", 8);
			n++;
		}
	}
	char *body = ax_sprintf(ax_http_arena(req), "%zu", n);
	ax_http_respond(req, 200, text, body, strlen(body));
}

static long resident_kb(void)
{
	long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (f != NULL)
		fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void stats(struct ax_http_request *req)
{
	struct ax_http_stats s;
	struct parked *p;
	unsigned n;
	ax_http_server_stats(server, &s);
	DL_COUNT(parked, p, n);
	char *body = ax_sprintf(ax_http_arena(req),
		"{\"parked\":%u,\"gone\":%llu,\"connections\":%u,\"requests\":%u,\"refused\":%llu,\"total\":%llu,"
		"\"bodies_bytes\":%zu,\"resident_kb\":%ld}",
		n, (unsigned long long)gone, s.connections, s.requests, (unsigned long long)s.refused_total,
		(unsigned long long)s.requests_total, s.bodies_bytes, resident_kb());
	ax_http_respond(req, 200, text, body, strlen(body));
}

static void big(struct ax_http_request *req)
{
	size_t size = number(req, "size", 1 << 20);
	char *body = ax_malloc(size);
	memset(body, 'b', size);
	ax_http_respond_take(req, 200, text, body, size);
}

static void stream(struct ax_http_request *req)
{
	size_t n = number(req, "n", 3);
	size_t size = number(req, "size", 10);
	char *block = ax_alloc(ax_http_arena(req), size);
	memset(block, 's', size);
	ax_http_stream_begin(req, 200, text);
	for (size_t i = 0; i < n; i++)
		ax_http_stream_send(req, block, size);
	ax_http_stream_end(req);
}

/* A producer that never looks at what is queued: the layer has to drop its client. */
static void flood(struct ax_http_request *req)
{
	static const char block[65536];
	ax_http_stream_begin(req, 200, text);
	for (int i = 0; i < 1000 && !ax_http_is_gone(req); i++)
		ax_http_stream_send(req, block, sizeof(block));
	park_as(req, true);
}

static void events(struct ax_http_request *req)
{
	ax_http_sse_begin(req, NULL);
	park_as(req, true);
}

static void publish(struct ax_http_request *req)
{
	struct parked *p;
	size_t len;
	const char *body = ax_http_body(req, &len);
	DL_FOREACH(parked, p)
	{
		if (p->sse)
			ax_http_sse_send(p->req, "change", "7", body);
	}
	ax_http_respond(req, 204, NULL, NULL, 0);
}

static void late_answer(uv_handle_t *timer)
{
	struct ax_http_request *req = timer->data;
	const char *tag = ax_http_query(req, "tag");
	ax_http_respond(req, 200, text, tag, tag != NULL ? strlen(tag) : 0);
	free(timer);
}

static void on_late(uv_timer_t *timer)
{
	uv_close((uv_handle_t *)timer, late_answer);
}

static void late(struct ax_http_request *req)
{
	uv_timer_t *timer = ax_malloc(sizeof(*timer));
	uv_timer_init(uv_default_loop(), timer);
	timer->data = req;
	uv_timer_start(timer, on_late, number(req, "ms", 10), 0);
}

static void cut(struct ax_http_request *req)
{
	ax_http_discard(req);
}

static void odd_header(struct ax_http_request *req)
{
	const struct ax_http_header headers[] = { { "X-Odd", "a\r\nX-Injected: 1" }, { "Server", "mine" },
		{ NULL, NULL } };
	ax_http_respond(req, 200, headers, "odd", 3);
}

struct handler {
	void (*serve)(struct ax_http_request *req);
};

static const struct ax_http_route *routes(size_t *ret_n)
{
	static struct handler h[] = { { echo }, { small }, { park }, { release }, { stats }, { big }, { stream },
		{ flood }, { events }, { publish }, { late }, { cut }, { odd_header } };
	static const struct ax_http_route rows[] = {
		{ AX_HTTP_GET, "/echo", &h[0] },
		{ AX_HTTP_POST, "/echo", &h[0] },
		{ AX_HTTP_PUT, "/echo", &h[0] },
		{ AX_HTTP_PATCH, "/echo", &h[0] },
		{ AX_HTTP_DELETE, "/echo", &h[0] },
		{ AX_HTTP_GET, "/echo/{rest}", &h[0] },
		{ AX_HTTP_POST, "/import", &h[0] },
		{ AX_HTTP_GET, "/small", &h[1] },
		{ AX_HTTP_GET, "/park", &h[2] },
		{ AX_HTTP_POST, "/release", &h[3] },
		{ AX_HTTP_GET, "/stats", &h[4] },
		{ AX_HTTP_GET, "/big", &h[5] },
		{ AX_HTTP_GET, "/stream", &h[6] },
		{ AX_HTTP_GET, "/flood", &h[7] },
		{ AX_HTTP_GET, "/events", &h[8] },
		{ AX_HTTP_POST, "/publish", &h[9] },
		{ AX_HTTP_GET, "/late", &h[10] },
		{ AX_HTTP_GET, "/cut", &h[11] },
		{ AX_HTTP_GET, "/odd", &h[12] },
	};
	*ret_n = AX_COUNT(rows);
	return rows;
}

static void on_head(struct ax_http_request *req, struct ax_http_verdict *verdict, void *user)
{
	(void)user;
	if (strcmp(ax_http_path(req), "/import") == 0)
		verdict->body_limit_bytes = 8 << 20;
	if (strcmp(ax_http_path(req), "/secret") == 0) {
		verdict->status = 401;
		verdict->detail = "Sign in first.";
	}
}

static void on_request(struct ax_http_request *req, void *user)
{
	(void)user;
	struct ax_http_match match;
	if (oracle)
		tell_framing(req);
	else if (ax_http_router_find(router, ax_http_method(req), ax_http_path(req), &match)) {
		const struct handler *handler = match.route->user;
		handler->serve(req);
	} else if (match.allow[0] != '\0') {
		const struct ax_http_header headers[] = { { "Allow", match.allow }, { NULL, NULL } };
		ax_http_respond(req, 405, headers, NULL, 0);
	} else if (!ax_http_static_serve(&test_files, req, NULL)) {
		ax_http_respond(req, 404, NULL, NULL, 0);
	}
}

static void on_gone(struct ax_http_request *req, void *user)
{
	(void)user;
	struct parked *p = ax_http_user(req);
	gone++;
	if (p != NULL)
		ax_http_discard(unpark(p));
}

static void on_drain(struct ax_http_request *req, void *user)
{
	(void)user;
	struct parked *p = ax_http_user(req);
	if (p == NULL)
		return;
	bool sse = p->sse;
	unpark(p);
	if (sse)
		ax_http_stream_end(req);
	else
		ax_http_respond(req, 200, text, "draining", 8);
}

static void on_drained(void *user)
{
	(void)user;
	uv_close((uv_handle_t *)&term, NULL);
	uv_close((uv_handle_t *)&hup, NULL);
}

static void on_term(uv_signal_t *handle, int number)
{
	(void)number;
	uv_signal_stop(handle);
	ax_http_server_drain(server, drain_ms, on_drained, NULL);
}

static void on_hup(uv_signal_t *handle, int number)
{
	(void)handle, (void)number;
	struct ax_err err;
	enum ax_status status = ax_http_server_reload_tls(server, &err);
	printf("reload %s\n", status == AX_OK ? "ok" : err.msg);
	fflush(stdout);
}

static void set(struct ax_http_config *config, const char *name, const char *value)
{
	const struct {
		const char *name;
		size_t *bytes;
		unsigned *number;
		const char **text;
	} fields[] = {
		{ "line_max_bytes", &config->line_max_bytes, NULL, NULL },
		{ "body_max_bytes", &config->body_max_bytes, NULL, NULL },
		{ "bodies_max_bytes", &config->bodies_max_bytes, NULL, NULL },
		{ "stream_max_bytes", &config->stream_max_bytes, NULL, NULL },
		{ "connections_max", NULL, &config->connections_max, NULL },
		{ "connections_per_address_max", NULL, &config->connections_per_address_max, NULL },
		{ "headers_ms", NULL, &config->headers_ms, NULL },
		{ "body_ms", NULL, &config->body_ms, NULL },
		{ "idle_ms", NULL, &config->idle_ms, NULL },
		{ "stall_ms", NULL, &config->stall_ms, NULL },
		{ "linger_ms", NULL, &config->linger_ms, NULL },
		{ "sse_ping_ms", NULL, &config->sse_ping_ms, NULL },
		{ "drain_ms", NULL, &drain_ms, NULL },
		{ "address", NULL, NULL, &config->address },
		{ "tls_cert_file", NULL, NULL, &config->tls_cert_file },
		{ "tls_key_file", NULL, NULL, &config->tls_key_file },
		{ "tls_client_ca_file", NULL, NULL, &config->tls_client_ca_file },
	};
	for (size_t i = 0; i < AX_COUNT(fields); i++) {
		if (strcmp(fields[i].name, name) != 0)
			continue;
		if (fields[i].bytes != NULL)
			*fields[i].bytes = (size_t)strtoul(value, NULL, 10);
		else if (fields[i].number != NULL)
			*fields[i].number = (unsigned)strtoul(value, NULL, 10);
		else
			*fields[i].text = value;
		return;
	}
	if (strcmp(name, "tls_client_required") == 0)
		config->tls_client_required = true;
	else if (strcmp(name, "oracle") == 0)
		oracle = true;
	else
		exit(2);
}

int main(int argc, char **argv)
{
	static const struct ax_http_header common[] = { { "X-Content-Type-Options", "nosniff" }, { "Server", "ax" },
		{ NULL, NULL } };
	struct ax_http_config config;
	ax_http_config_init(&config);
	config.headers = common;
	config.on = (struct ax_http_callbacks){ on_head, on_request, on_gone, on_drain, NULL };
	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (value == NULL)
			return 2;
		*value++ = '\0';
		set(&config, argv[i], value);
	}
	size_t n;
	const struct ax_http_route *rows = routes(&n);
	router = ax_http_router_new(rows, n);
	uv_loop_t *loop = uv_default_loop();
	struct ax_err err;
	if (ax_http_server_new(loop, &config, &server, &err) != AX_OK) {
		printf("error %s: %s\n", err.field, err.msg);
		uv_run(loop, UV_RUN_DEFAULT);
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	uv_signal_init(loop, &term);
	uv_signal_start(&term, on_term, SIGTERM);
	uv_signal_init(loop, &hup);
	uv_signal_start(&hup, on_hup, SIGHUP);
	printf("port %d\n", ax_http_server_port(server));
	fflush(stdout);
	uv_run(loop, UV_RUN_DEFAULT);
	ax_http_server_free(server);
	ax_http_router_free(router);
	return uv_loop_close(loop) == 0 ? 0 : 3;
}
