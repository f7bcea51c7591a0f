/* How one ax-server is put together, started and taken down. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "server/call.h"
#include "server/server.h"

enum { DRAIN_MS = 10000, WORKER_WAIT_MS = 5000 };

static enum ax_status make_state_dir(const struct ax_config *config, struct ax_err *err)
{
	if (mkdir(config->state_dir, 0700) == 0)
		return AX_OK;
	if (errno != EEXIST)
		return ax_fail(err, AX_UNAVAILABLE, "--state", "cannot make the folder %s: %s", config->state_dir,
			strerror(errno));
	struct stat there;
	if (stat(config->state_dir, &there) != 0 || !S_ISDIR(there.st_mode))
		return ax_fail(err, AX_UNAVAILABLE, "--state", "%s is no folder", config->state_dir);
	if (config->dev && (there.st_mode & S_ISVTX) != 0) /* such as /tmp: root may take it from everybody */
		return ax_fail(err, AX_UNAVAILABLE, "--state", "the folder %s is everybody's; name one in it",
			config->state_dir);
	/* dev.json holds a credential */
	if (config->dev && chmod(config->state_dir, 0700) != 0)
		return ax_fail(err, AX_UNAVAILABLE, "--state", "the folder %s must belong to you: %s",
			config->state_dir, strerror(errno));
	return AX_OK;
}

static void make_router(struct ax_server *server)
{
	struct ax_http_route *rows = ax_malloc(ax_n_routes * sizeof *rows);
	for (size_t i = 0; i < ax_n_routes; i++)
		rows[i] = (struct ax_http_route){ ax_routes[i].method, ax_routes[i].pattern, &ax_routes[i] };
	server->routes = rows;
	server->router = ax_http_router_new(rows, ax_n_routes);
}

static enum ax_status listen_http(struct ax_server *server, struct ax_err *err)
{
	const struct ax_config *config = &server->config;
	bool tls = config->tls_cert[0] != '\0';
	struct ax_http_config http;
	ax_http_config_init(&http);
	http.address = config->address;
	http.port = config->port;
	http.headers = ax_front_headers(tls);
	http.on = ax_front_callbacks(server);
	if (tls) {
		http.tls_cert_file = config->tls_cert;
		http.tls_key_file = config->tls_key;
		http.tls_client_ca_file = config->client_ca[0] != '\0' ? config->client_ca : NULL;
	}
	enum ax_status status = ax_http_server_new(&server->loop, &http, &server->http, err);
	if (status != AX_OK)
		return status;
	server->port = ax_http_server_port(server->http);
	bool v6 = strchr(config->address, ':') != NULL;
	snprintf(server->host, sizeof server->host, v6 ? "[%s]:%d" : "%s:%d", config->address, server->port);
	snprintf(server->origin, sizeof server->origin, "%s://%s", tls ? "https" : "http", server->host);
	return AX_OK;
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

static void on_stop_signal(uv_signal_t *signal, int number)
{
	struct ax_server *server = signal->data;
	ax_log_event(&server->log, AX_LOG_INFO, "stopping", "\"signal\":%d", number);
	ax_server_stop(server);
}

static void on_hup(uv_signal_t *signal, int number)
{
	(void)number;
	struct ax_server *server = signal->data;
	struct ax_err err;
	if (server->config.tls_cert[0] == '\0')
		return;
	if (ax_http_server_reload_tls(server->http, &err) != AX_OK)
		ax_log_text(&server->log, AX_LOG_ERROR, "tls_not_reloaded", "message", err.msg);
	else
		ax_log_event(&server->log, AX_LOG_INFO, "tls_reloaded", "%s", "");
}

static void watch_signal(struct ax_server *server, uv_signal_t *handle, int number, uv_signal_cb callback)
{
	AX_ASSERT(uv_signal_init(&server->loop, handle) == 0);
	handle->data = server;
	AX_ASSERT(uv_signal_start(handle, callback, number) == 0);
	uv_unref((uv_handle_t *)handle);
}

/* --- the store -----------------------------------------------------------------------------------------------------
 */

static enum ax_status read_store_id(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	return tx->ops->store_id(tx, arg, err);
}

/* It tells this store from others; without one, workers and a queue could not see that they deal with another. */
static enum ax_status learn_store_id(struct ax_server *server, struct ax_err *err)
{
	struct ax_arena scratch = { 0 };
	int64_t id = 0;
	enum ax_status status = ax_store_run(ax_threads_store(server), &scratch, read_store_id, &id, err);
	ax_arena_done(&scratch);
	if (status == AX_OK && id <= 0)
		return ax_fail(err, AX_BROKEN, "store",
			"the table ax_store must have one row with an id above 0; restore the database whole");
	snprintf(server->store_id, sizeof server->store_id, "%016" PRIx64, (uint64_t)id);
	return status;
}

/* --- start -------------------------------------------------------------------------------------------------------- */

static void init_parts(struct ax_server *server)
{
	ax_sys_clock_init(&server->clock);
	ax_sys_rand_init(&server->rand);
	ax_sys_log_init(&server->log, server->config.log_level);
	server->zones = ax_zoneinfo_open(server->config.zoneinfo[0] != '\0' ? server->config.zoneinfo : NULL);
	server->logins = ax_login_limit_new();
	make_router(server);
	server->start_time = ax_now_ms(&server->clock.port);
	AX_ASSERT(uv_loop_init(&server->loop) == 0);
	ax_lanes_init(&server->lanes, &server->loop);
	ax_polls_init(server);
	ax_live_init(server);
	ax_board_init(&server->board);
	watch_signal(server, &server->on_term, SIGTERM, on_stop_signal);
	watch_signal(server, &server->on_int, SIGINT, on_stop_signal);
	watch_signal(server, &server->on_hup, SIGHUP, on_hup);
}

enum ax_status ax_server_start(struct ax_server *server, const struct ax_config *config, struct ax_err *err)
{
	*server = (struct ax_server){ .config = *config };
	server->scheduler.alarm.fd = -1;
	init_parts(server);
	enum ax_status status = make_state_dir(config, err);
	if (status == AX_OK)
		status = ax_seal_load(&server->seal, config, err);
	if (status == AX_OK && !server->seal.on)
		ax_log_text(&server->log, AX_LOG_WARN, "secrets_unsealed", "message",
			"secrets of channels are stored as they are: name a --secret-key-file that all servers have");
	if (status == AX_OK)
		status = ax_threads_open(server, err);
	if (status == AX_OK)
		status = learn_store_id(server, err);
	if (status == AX_OK)
		status = listen_http(server, err);
	if (status == AX_OK)
		status = ax_threads_recover(server, err);
	if (status == AX_OK)
		status = ax_dev_start(server, err);
	if (status != AX_OK)
		return status;
	status = ax_due_queue_start(server, err);
	if (status != AX_OK)
		return status;
	ax_threads_start(server);
	ax_pulse_start(server);
	ax_alerter_start(server);
	status = ax_scheduler_start(server, err);
	if (status != AX_OK)
		return status;
	server->phase = AX_SERVER_SERVING;
	ax_log_event(&server->log, AX_LOG_INFO, "started", "\"address\":\"%s\",\"store_id\":\"%s\",\"tzdata\":\"%s\"",
		server->origin, server->store_id, ax_zones_version(server->zones));
	return AX_OK;
}

/* --- stop --------------------------------------------------------------------------------------------------------- */

static void close_handle(uv_handle_t *handle, void *user)
{
	(void)user;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void alerts_drained(struct ax_server *server)
{
	uv_stop(&server->loop);
}

static void drained(void *user)
{
	ax_alerter_drain(user, alerts_drained);
}

static void drain(struct ax_server *server)
{
	if (server->draining)
		return;
	server->draining = true;
	ax_scheduler_stop(server);
	ax_due_queue_stop(server);
	ax_http_server_drain(server->http, DRAIN_MS, drained, server);
}

static void worker_is_late(uv_timer_t *timer)
{
	drain(timer->data);
}

void ax_server_stop(struct ax_server *server)
{
	if (server->phase == AX_SERVER_STOPPING)
		return;
	server->phase = AX_SERVER_STOPPING;
	/* the worker in the background leaves first, so that it can say so */
	if (!ax_dev_stop_worker(server, drain)) {
		drain(server);
		return;
	}
	AX_ASSERT(uv_timer_init(&server->loop, &server->worker_wait) == 0);
	server->worker_wait.data = server;
	uv_timer_start(&server->worker_wait, worker_is_late, WORKER_WAIT_MS, 0);
}

void ax_server_close(struct ax_server *server)
{
	if (server->http != NULL && server->phase != AX_SERVER_STOPPING) { /* the start failed half way */
		ax_server_stop(server);
		uv_run(&server->loop, UV_RUN_DEFAULT);
	}
	ax_alerter_close(server);
	ax_pulse_stop(server);
	ax_threads_stop(server);
	ax_lanes_flush(&server->lanes); /* answers nobody waits for any more, but whose memory is to be freed */
	ax_due_queue_close(server);
	ax_scheduler_close(server);
	ax_http_server_free(server->http);
	ax_lanes_done(&server->lanes);
	ax_board_done(&server->board);
	uv_walk(&server->loop, close_handle, NULL);
	uv_run(&server->loop, UV_RUN_DEFAULT);
	uv_loop_close(&server->loop);
	ax_http_router_free(server->router);
	free(server->routes);
	ax_login_limit_free(server->logins);
	ax_zoneinfo_close(server->zones);
}
