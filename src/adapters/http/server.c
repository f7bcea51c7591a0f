#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "adapters/http/conn.h"
#include "base/num.h"
#include "base/rfc3339.h"

enum { BACKLOG = 1024, WATCH_MS = 500 };

static const size_t mib = 1024 * 1024;

void ax_http_config_init(struct ax_http_config *config)
{
	*config = (struct ax_http_config){
		.address = "127.0.0.1",
		.line_max_bytes = 8192,
		.query_max_bytes = 4096,
		.headers_max_bytes = 16384,
		.headers_max = 100,
		.body_max_bytes = mib,
		.bodies_max_bytes = 256 * mib,
		.stream_max_bytes = mib,
		.connections_max = 16384,
		.connections_per_address_max = 4096,
		.headers_ms = 10000,
		.body_ms = 30000,
		.idle_ms = 75000,
		.stall_ms = 30000,
		.linger_ms = 2000,
		.sse_ping_ms = 15000,
	};
}

/* --- connections, counted ----------------------------------------------------------------------------------------- */

/* One number per IPv4 address or IPv6 /64; the two cannot meet, as 0:0:0:ffff::/64 is not in use. */
static uint64_t address_key(const struct sockaddr_storage *peer)
{
	uint64_t key = 0;
	if (peer->ss_family == AF_INET)
		return 0xffff00000000 | ntohl(((const struct sockaddr_in *)(const void *)peer)->sin_addr.s_addr);
	const struct in6_addr *ip = &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
	bool mapped = IN6_IS_ADDR_V4MAPPED(ip);
	for (int i = 0; i < 8; i++)
		key = key << 8 | ip->s6_addr[mapped ? 8 + i : i];
	return key;
}

static unsigned address_hash(const struct ax_http_server *server, uint64_t key)
{
	return (unsigned)ax_mix64(key ^ server->seed);
}

bool ax_http_server_admit(
	struct ax_http_server *server, const struct sockaddr_storage *peer, struct ax_http_address **ret_address)
{
	const struct ax_http_config *config = &server->config;
	if (server->stats.connections >= config->connections_max)
		return false;
	uint64_t key = address_key(peer);
	struct ax_http_address *address;
	HASH_FIND_BYHASHVALUE(hh, server->addresses, &key, sizeof(key), address_hash(server, key), address);
	if (address == NULL) {
		address = ax_malloc(sizeof(*address));
		address->key = key;
		HASH_ADD_BYHASHVALUE(hh, server->addresses, key, sizeof(key), address_hash(server, key), address);
	}
	if (config->connections_per_address_max > 0 && address->connections >= config->connections_per_address_max)
		return false;
	address->connections++;
	server->stats.connections++;
	server->stats.connections_total++;
	*ret_address = address;
	return true;
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle)
{
	struct ax_http_server *server = handle->data;
	if (--server->handles == 0 && server->drained != NULL)
		server->drained(server->drained_user);
}

static void close_when_empty(struct ax_http_server *server)
{
	uv_handle_t *drain = (uv_handle_t *)&server->drain;
	if (!server->draining || server->conns != NULL || uv_is_closing(drain))
		return;
	uv_close(drain, on_handle_closed);
	uv_close((uv_handle_t *)&server->watch, on_handle_closed);
	uv_close((uv_handle_t *)&server->ping, on_handle_closed);
}

void ax_http_server_left(struct ax_http_server *server, struct ax_http_address *address)
{
	if (address != NULL) {
		server->stats.connections--;
		if (--address->connections == 0) {
			HASH_DEL(server->addresses, address);
			free(address);
		}
	}
	close_when_empty(server);
}

static void on_drain_deadline(uv_timer_t *timer)
{
	struct ax_http_server *server = timer->data;
	struct ax_http_conn *conn;
	DL_FOREACH(server->conns, conn)
	{
		ax_http_conn_close(conn);
	}
}

static void on_drain_begin(uv_timer_t *timer)
{
	struct ax_http_server *server = timer->data;
	const struct ax_http_callbacks *on = &server->config.on;
	struct ax_http_conn *conn; /* connections leave the list in later turns of the loop only */
	uv_timer_start(timer, on_drain_deadline, server->drain_ms, 0);
	DL_FOREACH(server->conns, conn)
	{
		if (conn->closing)
			continue;
		if (conn->req != NULL && conn->req->delivered && on->on_drain != NULL)
			on->on_drain(conn->req, on->user);
		if (!conn->closing)
			ax_http_conn_settle(conn);
	}
	close_when_empty(server);
}

void ax_http_server_drain(
	struct ax_http_server *server, unsigned deadline_ms, void (*done)(void *done_user), void *done_user)
{
	AX_ASSERT(!server->draining);
	server->draining = true;
	server->drain_ms = deadline_ms;
	server->drained = done;
	server->drained_user = done_user;
	uv_close((uv_handle_t *)&server->listener, on_handle_closed);
	uv_timer_start(&server->drain, on_drain_begin, 0, 0);
}

static void free_server(struct ax_http_server *server)
{
	SSL_CTX_free(server->tls);
	free((char *)(uintptr_t)server->config.tls_cert_file);
	free((char *)(uintptr_t)server->config.tls_key_file);
	free((char *)(uintptr_t)server->config.tls_client_ca_file);
	free(server);
}

void ax_http_server_free(struct ax_http_server *server)
{
	if (server == NULL)
		return;
	AX_ASSERT(server->handles == 0);
	free_server(server);
}

/* --- begin -------------------------------------------------------------------------------------------------------- */

static void on_connection(uv_stream_t *listener, int status)
{
	struct ax_http_server *server = listener->data;
	if (status == 0)
		ax_http_conn_accept(server);
}

static void on_watch(uv_timer_t *timer)
{
	struct ax_http_server *server = timer->data;
	struct ax_http_conn *conn;
	bool any = false;
	DL_FOREACH(server->conns, conn)
	{
		any |= ax_http_conn_watch(conn);
	}
	if (!any)
		uv_timer_stop(timer);
}

void ax_http_server_watch(struct ax_http_server *server)
{
	if (!uv_is_active((uv_handle_t *)&server->watch))
		uv_timer_start(&server->watch, on_watch, WATCH_MS, WATCH_MS);
}

static void on_ping(uv_timer_t *timer)
{
	static const char comment[] = ": keep-alive\n\n";
	struct ax_http_server *server = timer->data;
	struct ax_http_conn *conn;
	bool any = false;
	DL_FOREACH(server->conns, conn)
	{
		if (conn->req == NULL || !conn->req->sse)
			continue;
		ax_http_stream_send(conn->req, comment, sizeof(comment) - 1);
		any = true;
	}
	if (!any)
		uv_timer_stop(timer);
}

void ax_http_server_ping(struct ax_http_server *server)
{
	if (!uv_is_active((uv_handle_t *)&server->ping))
		uv_timer_start(&server->ping, on_ping, server->config.sse_ping_ms, server->config.sse_ping_ms);
}

/* A listener that failed can only be closed by a turn of the loop. */
static void on_failed_closed(uv_handle_t *handle)
{
	free_server(handle->data);
}

static enum ax_status listen_at(struct ax_http_server *server, struct ax_err *err)
{
	const struct ax_http_config *config = &server->config;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage storage;
	} a;
	if (config->port < 0 || config->port > 65535 ||
		(uv_ip4_addr(config->address, config->port, &a.v4) != 0 &&
			uv_ip6_addr(config->address, config->port, &a.v6) != 0))
		return ax_fail(err, AX_INVALID, "listen", "%s:%d is not a numeric address and port", config->address,
			config->port);
	int e = uv_tcp_bind(&server->listener, &a.any, 0);
	if (e == 0)
		e = uv_listen((uv_stream_t *)&server->listener, BACKLOG, on_connection);
	if (e != 0)
		return ax_fail(err, AX_UNAVAILABLE, "listen", "cannot listen on %s port %d: %s", config->address,
			config->port, uv_strerror(e));
	int len = sizeof(a);
	uv_tcp_getsockname(&server->listener, &a.any, &len);
	server->port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
	return AX_OK;
}

static char *copy(const char *s)
{
	return s != NULL ? ax_strdup_heap(s) : NULL;
}

/* Refuses halves of a configuration: they would be served with less protection than was meant. */
static enum ax_status load_tls(const struct ax_http_config *config, SSL_CTX **ret, struct ax_err *err)
{
	bool has_cert = config->tls_cert_file != NULL;
	bool has_ca = config->tls_client_ca_file != NULL;
	if (has_cert != (config->tls_key_file != NULL))
		return ax_fail(
			err, AX_INVALID, "tls_cert_file", "a certificate and its key go together: give both files");
	if (has_ca && !has_cert)
		return ax_fail(err, AX_INVALID, "tls_client_ca_file", "client certificates need a server certificate");
	if (config->tls_client_required && !has_ca)
		return ax_fail(err, AX_INVALID, "tls_client_required", "required client certificates need a CA file");
	if (!has_cert)
		return AX_OK;
	return ax_http_tls_load(config->tls_cert_file, config->tls_key_file, config->tls_client_ca_file,
		config->tls_client_required, ret, err);
}

enum ax_status ax_http_server_new(
	uv_loop_t *loop, const struct ax_http_config *config, struct ax_http_server **ret_server, struct ax_err *err)
{
	AX_ASSERT(config->on.on_request != NULL);
	SSL_CTX *tls = NULL;
	enum ax_status status = load_tls(config, &tls, err);
	if (status != AX_OK)
		return status;
	struct ax_http_server *server = ax_malloc(sizeof(*server));
	server->loop = loop;
	server->tls = tls;
	server->config = *config;
	server->config.tls_cert_file = copy(config->tls_cert_file);
	server->config.tls_key_file = copy(config->tls_key_file);
	server->config.tls_client_ca_file = copy(config->tls_client_ca_file);
	server->limits = (struct ax_http_limits){ config->line_max_bytes, config->query_max_bytes,
		config->headers_max_bytes, config->headers_max };
	uv_random(NULL, NULL, &server->seed, sizeof(server->seed), 0, NULL);
	uv_tcp_init(loop, &server->listener);
	server->listener.data = server;
	status = listen_at(server, err);
	server->config.address = NULL; /* the caller's */
	if (status != AX_OK) {
		uv_close((uv_handle_t *)&server->listener, on_failed_closed);
		return status;
	}
	uv_timer_init(loop, &server->watch);
	uv_timer_init(loop, &server->ping);
	uv_timer_init(loop, &server->drain);
	server->watch.data = server->ping.data = server->drain.data = server;
	server->handles = 4;
	*ret_server = server;
	return AX_OK;
}

int ax_http_server_port(const struct ax_http_server *server)
{
	return server->port;
}

enum ax_status ax_http_server_reload_tls(struct ax_http_server *server, struct ax_err *err)
{
	SSL_CTX *tls;
	if (server->tls == NULL)
		return AX_OK;
	enum ax_status status = load_tls(&server->config, &tls, err);
	if (status != AX_OK)
		return status;
	SSL_CTX_free(server->tls); /* open connections hold on to it */
	server->tls = tls;
	return AX_OK;
}

void ax_http_server_stats(const struct ax_http_server *server, struct ax_http_stats *ret)
{
	*ret = server->stats;
}

const char *ax_http_server_date(struct ax_http_server *server)
{
	static const char days[][4] = { "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed" };
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov",
		"Dec" };
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (now.tv_sec == server->date_s)
		return server->date;
	server->date_s = now.tv_sec;
	int64_t day = server->date_s / 86400;
	int second = (int)(server->date_s % 86400);
	int64_t year;
	int month, day_of_month;
	ax_civil_from_days(day, &year, &month, &day_of_month);
	snprintf(server->date, sizeof(server->date), "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n", days[day % 7],
		day_of_month, months[month - 1], (int)year, second / 3600, second / 60 % 60, second % 60);
	return server->date;
}
