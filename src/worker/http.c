#include "http.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <utlist.h>
#include "adapters/curl/curl_loop.h"
#include "adapters/curl/resolver.h"
#include "adapters/curl/url_target.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "http_spec.h"
#include "version.h"

enum { KEPT_MAX = 64 << 10, READ_MAX = 10 << 20, SERVERS_MAX = 16, CONNECT_MS = 10000, IDLE_CONNECTIONS = 256 };

struct http {
	struct axw *worker;
	const struct policy *policy;
	int ours[SERVERS_MAX]; /* ports of AX itself */
	size_t n_ours;
	struct ax_curl_loop *curl;
	struct ax_resolver *resolver;
	struct call *calls;
};

/* One attempt. At any moment it resolves, or transfers, or has ended. */
struct call {
	struct http *http;
	struct axw_attempt *attempt;
	struct ax_arena arena;
	struct http_spec spec;
	struct ax_url_target target;
	int hops_left;
	struct ax_resolve *resolve;
	CURL *easy;
	struct curl_slist *headers, *pins;
	struct ax_buf body; /* what is kept of the answer */
	uint64_t read_bytes;
	bool denied; /* by the open-socket check */
	bool ended;
	struct call *prev, *next;
};

static void end_transfer(struct call *c)
{
	curl_easy_cleanup(c->easy);
	curl_slist_free_all(c->headers);
	curl_slist_free_all(c->pins);
	c->easy = NULL;
	c->headers = c->pins = NULL;
}

/* ---- the end of a call */

static void finish(struct call *c, enum axw_outcome outcome, int64_t status, const char *message)
{
	struct axw_finish_args args = { .size = sizeof(args), .outcome = outcome, .code = status };
	c->ended = true;
	if (c->body.len)
		(void)axw_output(c->attempt, c->body.data, c->body.len); /* for people; the outcome does not need it */
	if (message && *message)
		axw_message(c->attempt, message);
	axw_finish(c->attempt, &args);
}

static void first_line(const struct call *c, char *out, size_t size)
{
	size_t n = 0;
	const char *data = c->body.len ? c->body.data : "";
	while (n < size - 1 && n < c->body.len && data[n] != '\n' && data[n] != '\r')
		n++;
	memcpy(out, data, n);
	out[n] = 0;
}

static bool is_success(const struct http_spec *spec, long status)
{
	for (size_t i = 0; i < spec->n_statuses; i++) {
		if (spec->statuses[i] == status)
			return true;
	}
	return spec->n_statuses == 0 && status >= 200 && status <= 299;
}

static void finish_by_status(struct call *c, long status)
{
	char line[300];
	char message[400];
	if (is_success(&c->spec, status)) {
		finish(c, AXW_SUCCESS, status, NULL);
		return;
	}
	first_line(c, line, sizeof(line));
	snprintf(message, sizeof(message), "HTTP status %ld%s%s", status, line[0] ? ": " : "", line);
	finish(c, AXW_FAILED, status, message);
}

/* What is told of a call that had no answer does not say whether a port was open. */
static void finish_by_error(struct call *c, CURLcode code)
{
	char message[300];
	if (c->denied)
		finish(c, AXW_REFUSED, 0, "this worker does not let tasks call that address");
	else if (c->read_bytes > READ_MAX)
		finish(c, AXW_FAILED, 0, "the answer is longer than 10 MiB");
	else if (code == CURLE_PEER_FAILED_VERIFICATION)
		finish(c, AXW_FAILED, 0, "the target's certificate is not valid for it");
	else if (code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT || code == CURLE_SSL_CONNECT_ERROR)
		finish(c, AXW_FAILED, 0, "the target could not be reached");
	else {
		snprintf(message, sizeof(message), "no answer: %s", curl_easy_strerror(code));
		finish(c, AXW_FAILED, 0, message);
	}
}

/* ---- one hop */

static void begin_hop(struct call *c, const char *url);

static bool same_origin(const struct ax_url_target *a, const struct ax_url_target *b)
{
	return a->tls == b->tls && a->port == b->port && strcasecmp(a->host, b->host) == 0;
}

/* Only what cannot carry a secret goes to another origin. */
static void drop_headers(struct http_spec *spec)
{
	static const char *const harmless[] = { "Accept", "Accept-Language", "Content-Type", "User-Agent" };
	size_t kept = 0;
	for (size_t i = 0; i < spec->n_headers; i++) {
		for (size_t j = 0; j < AX_COUNT(harmless); j++) {
			if (strcasecmp(spec->headers[i].name, harmless[j]) == 0) {
				spec->headers[kept++] = spec->headers[i];
				break;
			}
		}
	}
	spec->n_headers = kept;
}

static bool follow_redirect(struct call *c, long status)
{
	char *to = NULL;
	if (c->hops_left == 0 || (status != 301 && status != 302 && status != 303 && status != 307 && status != 308))
		return false;
	curl_easy_getinfo(c->easy, CURLINFO_REDIRECT_URL, &to);
	if (!to)
		return false;
	char *url = ax_strdup(&c->arena, to);
	end_transfer(c);
	c->hops_left--;
	bool to_get = status == 303 || (status < 303 && strcmp(c->spec.method, "POST") == 0);
	if (to_get && strcmp(c->spec.method, "HEAD") != 0) {
		c->spec.method = "GET";
		c->spec.body = NULL;
	}
	ax_buf_clear(&c->body);
	begin_hop(c, url);
	return true;
}

static void transfer_ended(CURL *easy, CURLcode code, void *user)
{
	struct call *c = user;
	long status = 0;
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_OK && follow_redirect(c, status))
		return;
	end_transfer(c);
	if (code == CURLE_OK)
		finish_by_status(c, status);
	else
		finish_by_error(c, code);
}

static size_t take_body(char *bytes, size_t size, size_t n, void *user)
{
	struct call *c = user;
	size_t len = size * n;
	c->read_bytes += len;
	if (c->read_bytes > READ_MAX)
		return 0;
	if (c->body.len < KEPT_MAX)
		ax_buf_add(&c->body, bytes, AX_MIN(len, KEPT_MAX - c->body.len));
	return len;
}

static bool may_call(const struct call *c, const unsigned char *address, unsigned size)
{
	const struct http *h = c->http;
	return http_may_call(h->policy, h->ours, h->n_ours, c->target.host, c->target.port, address, size);
}

/* The second wall: whatever name or spelling led here, this is where the bytes would go. */
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *sa)
{
	struct call *c = user;
	(void)purpose;
	bool good = false;
	if (sa->family == AF_INET)
		good = may_call(c, (const void *)&((const struct sockaddr_in *)(const void *)&sa->addr)->sin_addr, 4);
	else if (sa->family == AF_INET6)
		good = may_call(
			c, (const void *)&((const struct sockaddr_in6 *)(const void *)&sa->addr)->sin6_addr, 16);
	if (!good) {
		c->denied = true;
		return CURL_SOCKET_BAD;
	}
	return socket(sa->family, sa->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, sa->protocol);
}

static void add_header(struct call *c, const char *name, const char *value)
{
	/* "Name;" is how libcurl is told of a header without a value. */
	const char *line = *value ? ax_sprintf(&c->arena, "%s: %s", name, value) : ax_sprintf(&c->arena, "%s;", name);
	c->headers = curl_slist_append(c->headers, line);
}

static void add_number(struct call *c, const char *name, int64_t value)
{
	add_header(c, name, ax_sprintf(&c->arena, "%" PRId64, value));
}

/* "123, 456": the runs that this one follows. */
static const char *upstream_gids(struct call *c)
{
	json_t *upstream = json_loads(axw_upstream(c->attempt), 0, NULL), *run;
	size_t i;
	const char *gids = "";
	json_array_foreach(upstream, i, run)
	{
		const char *gid = json_string_value(json_object_get(run, "gid"));
		gids = ax_sprintf(&c->arena, "%s%s%s", gids, i ? ", " : "", gid ? gid : "");
	}
	json_decref(upstream);
	return gids;
}

static void add_headers(struct call *c)
{
	struct axw_attempt *a = c->attempt;
	for (size_t i = 0; i < c->spec.n_headers; i++)
		add_header(c, c->spec.headers[i].name, c->spec.headers[i].value);
	add_header(c, "Idempotency-Key", axw_gid(a));
	add_header(c, "AX-Gid", axw_gid(a));
	add_number(c, "AX-Attempt", axw_attempt_number(a));
	add_number(c, "AX-Fence", axw_fence(a));
	if (axw_shard_index(a) > 0) {
		add_number(c, "AX-Shard-Index", axw_shard_index(a));
		add_number(c, "AX-Shard-Total", axw_shard_total(a));
		add_header(c, "AX-Parent-Gid", axw_parent_gid(a));
	}
	if (*axw_rerun_of(a))
		add_header(c, "AX-Rerun-Of", axw_rerun_of(a));
	if (*axw_traceparent(a))
		add_header(c, "traceparent", axw_traceparent(a));
	const char *upstream = upstream_gids(c);
	if (*upstream)
		add_header(c, "AX-Upstream", upstream);
	c->headers = curl_slist_append(c->headers, "Expect:");
}

static void set_method(struct call *c)
{
	CURL *e = c->easy;
	const char *method = c->spec.method;
	if (strcmp(method, "HEAD") == 0) {
		curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
		return;
	}
	if (c->spec.body || strcmp(method, "POST") == 0) {
		curl_easy_setopt(e, CURLOPT_POSTFIELDS, c->spec.body ? c->spec.body : "");
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(c->spec.body ? c->spec.body_len : 0));
		if (!c->spec.body)
			c->headers = curl_slist_append(c->headers, "Content-Type:");
	}
	curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, method);
}

static void transfer(struct call *c)
{
	CURL *e = c->easy = curl_easy_init();
	AX_ASSERT(e);
	add_headers(c);
	set_method(c);
	curl_easy_setopt(e, CURLOPT_URL, c->target.url);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, c->headers);
	curl_easy_setopt(e, CURLOPT_RESOLVE, c->pins);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, c);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_UNRESTRICTED_AUTH, 0L);
	curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "ax-worker/" AX_VERSION);
	ax_curl_loop_add(c->http->curl, e, transfer_ended, c);
}

/* All addresses must pass, and the transfer may use no others. The '+' lets the pin leave libcurl's cache in time. */
static bool pin(struct call *c, const struct ax_address *addresses, int n)
{
	char text[INET6_ADDRSTRLEN];
	const char *list = "";
	for (int i = 0; i < n; i++) {
		if (!may_call(c, addresses[i].bytes, addresses[i].size))
			return false;
		bool v6 = addresses[i].size == 16;
		inet_ntop(v6 ? AF_INET6 : AF_INET, addresses[i].bytes, text, sizeof(text));
		list = ax_sprintf(&c->arena, v6 ? "%s%s[%s]" : "%s%s%s", list, i ? "," : "", text);
	}
	/* An address needs no pin, and an IPv6 one cannot be written as one. */
	if (!strchr(c->target.host, ':'))
		c->pins = curl_slist_append(
			NULL, ax_sprintf(&c->arena, "+%s:%d:%s", c->target.host, c->target.port, list));
	return true;
}

static void resolved(const struct ax_address *addresses, int n, void *user)
{
	struct call *c = user;
	c->resolve = NULL;
	if (n == 0)
		finish(c, AXW_FAILED, 0, "the host name of the URL has no address");
	else if (!pin(c, addresses, n))
		finish(c, AXW_REFUSED, 0, "this worker does not let tasks call that address");
	else
		transfer(c);
}

static void begin_hop(struct call *c, const char *url)
{
	struct ax_err err;
	struct ax_url_target before = c->target;
	enum ax_status st = ax_url_target_read(url, &c->arena, &c->target, &err);
	if (st != AX_OK) {
		finish(c, AXW_REFUSED, 0, err.msg);
		return;
	}
	if (before.url && !same_origin(&before, &c->target))
		drop_headers(&c->spec);
	c->resolve = ax_resolver_ask(c->http->resolver, c->target.host, resolved, c);
}

/* ---- the executor */

static void on_start(struct axw_attempt *a, void *user)
{
	struct http *h = user;
	struct call *c = ax_malloc(sizeof(*c));
	struct ax_err err;
	c->http = h;
	c->attempt = a;
	ax_buf_init(&c->body, KEPT_MAX);
	axw_set_data(a, c);
	DL_APPEND(h->calls, c);
	if (http_spec_read(axw_param(a), &c->arena, &c->spec, &err) != AX_OK) {
		finish(c, AXW_REFUSED, 0, err.msg);
		return;
	}
	if (c->spec.send_run)
		http_spec_send(&c->spec,
			ax_sprintf(&c->arena, "{\"params\":%s,\"upstream\":%s}", axw_params(a), axw_upstream(a)));
	c->hops_left = c->spec.hops;
	begin_hop(c, c->spec.url);
}

static void abort_call(struct call *c)
{
	if (c->resolve)
		ax_resolver_forget(c->resolve);
	c->resolve = NULL;
	if (c->easy) {
		ax_curl_loop_remove(c->http->curl, c->easy);
		end_transfer(c);
	}
}

static void on_stop(struct axw_attempt *a, enum axw_stop why, int64_t grace_ms, void *user)
{
	(void)grace_ms;
	(void)user;
	struct call *c = axw_data(a);
	if (c->ended)
		return;
	abort_call(c);
	if (why == AXW_STOP_TIMEOUT)
		finish(c, AXW_TIMEOUT, 0, "time limit reached before the answer was complete");
	else
		finish(c, why == AXW_STOP_CANCEL ? AXW_CANCELLED : AXW_LOST, 0, NULL);
}

static void on_settled(struct axw_attempt *a, void *user)
{
	struct http *h = user;
	struct call *c = axw_data(a);
	DL_DELETE(h->calls, c);
	ax_buf_done(&c->body);
	ax_arena_done(&c->arena);
	free(c);
}

static void note_own_ports(struct http *h, const char *servers)
{
	struct ax_arena arena = { 0 };
	char *copy = ax_strdup(&arena, servers);
	struct ax_err err;
	for (char *save, *url = strtok_r(copy, ", ", &save); url; url = strtok_r(NULL, ", ", &save)) {
		struct ax_url_target target;
		if (h->n_ours < SERVERS_MAX && ax_url_target_read(url, &arena, &target, &err) == AX_OK)
			h->ours[h->n_ours++] = target.port;
	}
	ax_arena_done(&arena);
}

struct http *http_new(struct axw *worker, const struct policy *policy, const char *servers)
{
	static const struct axw_executor ops = {
		.size = sizeof(ops), .start = on_start, .stop = on_stop, .settled = on_settled
	};
	struct http *h = ax_malloc(sizeof(*h));
	h->worker = worker;
	h->policy = policy;
	h->curl = ax_curl_loop_new(axw_loop(worker), IDLE_CONNECTIONS, 0);
	h->resolver = ax_resolver_new(axw_loop(worker), 8);
	note_own_ports(h, servers);
	axw_register_executor(worker, "http", &ops, h);
	return h;
}

void http_close(struct http *h)
{
	struct call *c;
	DL_FOREACH(h->calls, c)
	abort_call(c);
	ax_resolver_close(h->resolver);
	ax_curl_loop_close(h->curl);
}

void http_free(struct http *h)
{
	free(h);
}
