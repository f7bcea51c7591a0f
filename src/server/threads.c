#include "server/threads.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adapters/sqlite/sqlite.h"
#include "app/recover.h"
#include "server/server.h"
#include "version.h"

enum {
	BATCH_ERRANDS_MAX = 500,
	BATCH_MS = 5,
	IDLE_MS = 500, /* without an errand for that long the writer does its housekeeping */
	STACK_BYTES = 512 * 1024,
	TRIM_ERRANDS = 50, /* so many errands are worth looking for memory to give back */
};

/* Runs what waits in the write lane, up to the limits of a batch, in one transaction. `first` has been taken. */
static struct ax_errand *run_batch(struct ax_thread *t, struct ax_errand *first)
{
	struct ax_server *server = t->server;
	int64_t start = ax_mono_ms(&server->clock.port);
	struct ax_errand *tail = NULL;
	int n = 0;
	for (struct ax_errand *errand = first; errand != NULL;) {
		errand->run(errand, &t->side);
		if (tail != NULL)
			tail->next = errand;
		tail = errand;
		if (++n == BATCH_ERRANDS_MAX || ax_mono_ms(&server->clock.port) - start >= BATCH_MS)
			break;
		bool closed;
		errand = ax_lane_take(&server->lanes, AX_LANE_WRITE, 0, &closed);
	}
	server->metrics.errands += (uint64_t)n;
	return first;
}

static void write_batch(struct ax_thread *t, struct ax_errand *first)
{
	struct ax_server *server = t->server;
	struct ax_threads *threads = &server->threads;
	struct ax_err err = { 0 };
	struct ax_hints *hints = ax_hints_new();
	threads->collector.hints = hints;
	struct ax_gid_gen gids = threads->ctx.gids;

	enum ax_status status = ax_sqlite_batch_begin(threads->db, &err);
	struct ax_errand *errands = first;
	if (status == AX_OK) {
		errands = run_batch(t, first);
		int64_t start = ax_mono_ms(&server->clock.port);
		status = ax_sqlite_batch_commit(threads->db, &err);
		ax_histogram_add(&server->metrics.commit, ax_mono_ms(&server->clock.port) - start);
	}
	threads->collector.hints = NULL;
	if (status == AX_OK) {
		server->metrics.commits++;
		server->metrics.commit_ms = ax_mono_ms(&server->clock.port);
		if (ax_hints_empty(hints)) {
			ax_hints_free(hints);
		} else {
			hints->errand.done = ax_live_hints;
			hints->server = server;
			hints->errand.next = errands;
			errands = &hints->errand;
		}
	} else {
		/* what the batch wrote is gone, the mark of used run ids with it: it has to be raised again */
		threads->ctx.gids.high_ms = gids.high_ms;
		server->metrics.commit_failures++;
		ax_hints_free(hints);
		for (struct ax_errand *errand = errands; errand != NULL; errand = errand->next) {
			errand->commit = status;
			errand->commit_err = err;
		}
		ax_log_text(&server->log, AX_LOG_ERROR, "commit_failed", "message", err.msg);
	}
	ax_lanes_deliver(&server->lanes, errands);
}

/* A quiet moment. */
static void rest(struct ax_thread *t)
{
	ax_sqlite_idle(t->server->threads.db);
	if (t->server->metrics.errands - t->trimmed_at_errands > TRIM_ERRANDS) {
		t->trimmed_at_errands = t->server->metrics.errands;
		malloc_trim(0);
	}
}

static void write_loop(void *arg)
{
	struct ax_thread *t = arg;
	for (;;) {
		bool closed;
		struct ax_errand *errand = ax_lane_take(&t->server->lanes, AX_LANE_WRITE, IDLE_MS, &closed);
		if (closed)
			return;
		if (errand != NULL)
			write_batch(t, errand);
		else
			rest(t);
	}
}

static void lane_loop(struct ax_thread *t, enum ax_lane lane)
{
	for (;;) {
		bool closed;
		struct ax_errand *errand = ax_lane_take(&t->server->lanes, lane, -1, &closed);
		if (closed)
			return;
		if (errand == NULL)
			continue;
		errand->run(errand, &t->side);
		ax_lanes_deliver(&t->server->lanes, errand);
	}
}

static void read_loop(void *arg)
{
	lane_loop(arg, AX_LANE_READ);
}

static void hash_loop(void *arg)
{
	lane_loop(arg, AX_LANE_HASH);
}

static void init_ctx(struct ax_server *server)
{
	struct ax_threads *t = &server->threads;
	char host[64] = "";
	gethostname(host, sizeof host - 1);
	snprintf(t->server_name, sizeof t->server_name, "%s", host[0] != '\0' ? host : "ax-server");
	ax_collector_init(&t->collector, &server->metrics);
	t->ctx = (struct ax_ctx){
		.store = t->writer.side.store,
		.clock = &server->clock.port,
		.rand = &server->rand.port,
		.notify = &t->collector.port,
		.log = &server->log.port,
		.zones = server->zones,
		.arena = &t->ctx_arena,
		.server_name = t->server_name,
	};
	t->writer.side.ctx = &t->ctx;
}

enum ax_status ax_threads_open(struct ax_server *server, struct ax_err *err)
{
	struct ax_threads *t = &server->threads;
	struct ax_sqlite_config config = { .path = server->config.store_path, .log = &server->log.port };
	enum ax_status status = ax_sqlite_open(&config, &t->db, err);
	if (status != AX_OK)
		return status;
	t->writer.side.store = ax_sqlite_store(t->db);
	init_ctx(server);
	t->collector.hints = ax_hints_new();
	status = ax_recover(&t->ctx, AX_VERSION, err);
	ax_hints_free(t->collector.hints);
	t->collector.hints = NULL;
	for (int i = 0; i < AX_READERS && status == AX_OK; i++) {
		status = ax_sqlite_reader_open(t->db, &t->readers[i].reader, err);
		if (status == AX_OK)
			t->readers[i].side.store = ax_sqlite_reader_store(t->readers[i].reader);
	}
	t->number = t->ctx.gids.server_number;
	return status;
}

static void start(struct ax_server *server, struct ax_thread *thread, uv_thread_cb loop)
{
	uv_thread_options_t options = { .flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = STACK_BYTES };
	thread->server = server;
	AX_ASSERT(uv_thread_create_ex(&thread->id, &options, loop, thread) == 0);
	thread->running = true;
}

void ax_threads_start(struct ax_server *server)
{
	struct ax_threads *t = &server->threads;
	start(server, &t->writer, write_loop);
	for (int i = 0; i < AX_READERS; i++)
		start(server, &t->readers[i], read_loop);
	for (int i = 0; i < AX_HASHERS; i++)
		start(server, &t->hashers[i], hash_loop);
}

static void stop(struct ax_thread *thread)
{
	if (thread->running)
		uv_thread_join(&thread->id);
	thread->running = false;
}

void ax_threads_stop(struct ax_server *server)
{
	struct ax_threads *t = &server->threads;
	for (int i = 0; i < AX_LANE_MAX; i++)
		ax_lane_close(&server->lanes, (enum ax_lane)i);
	stop(&t->writer);
	for (int i = 0; i < AX_READERS; i++)
		stop(&t->readers[i]);
	for (int i = 0; i < AX_HASHERS; i++)
		stop(&t->hashers[i]);
	for (int i = 0; i < AX_READERS; i++)
		if (t->readers[i].reader != NULL)
			ax_sqlite_reader_close(t->readers[i].reader);
	ax_sqlite_close(t->db);
	ax_arena_done(&t->ctx_arena);
}
