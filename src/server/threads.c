#include "server/threads.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/recover.h"
#include "app/seat.h"
#include "server/server.h"
#include "sys/crash_point.h"
#include "version.h"

enum {
	BATCH_MS = 5,
	IDLE_MS = 500, /* without an errand for that long a writer does its housekeeping */
	STACK_BYTES = 512 * 1024,
	TRIM_ERRANDS = 50,  /* so many errands are worth looking for memory to give back */
	EXIT_IO_ERROR = 74, /* EX_IOERR */
};

enum ax_status ax_backend_open(const struct ax_config *config, struct ax_log *log, struct ax_clock *clock,
	struct ax_backend **ret, struct ax_err *err)
{
	if (config->store_url[0] != '\0')
		return ax_backend_open_mariadb(config, log, clock, ret, err);
	return ax_backend_open_sqlite(config, log, ret, err);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Runs what waits in the lane, up to the limits of a batch, for one commit. `first` has been taken. */
static struct ax_errand *run_batch(struct ax_writer *w, struct ax_errand *first)
{
	struct ax_server *server = w->thread.server;
	int64_t start = ax_mono_ms(&server->clock.port);
	struct ax_errand *tail = NULL;
	int n = 0, max = server->threads.backend->ops->batch_max;
	for (struct ax_errand *errand = first; errand != NULL;) {
		errand->run(errand, &w->thread.side);
		if (tail != NULL)
			tail->next = errand;
		tail = errand;
		if (++n == max || ax_mono_ms(&server->clock.port) - start >= BATCH_MS)
			break;
		bool closed;
		errand = ax_lane_take(&server->lanes, w->thread.lane, 0, &closed);
	}
	server->metrics.errands += (uint64_t)n;
	return first;
}

/* The errands behind what they said. */
static struct ax_errand *with_hints(struct ax_server *server, struct ax_hints *hints, struct ax_errand *errands)
{
	ax_metrics_add(&server->metrics, &hints->counts);
	if (ax_hints_empty(hints)) {
		ax_hints_free(hints);
		return errands;
	}
	hints->errand.done = ax_live_hints;
	hints->server = server;
	hints->errand.next = errands;
	return &hints->errand;
}

static void fail_all(struct ax_errand *errands, enum ax_status status, const struct ax_err *err)
{
	for (struct ax_errand *errand = errands; errand != NULL; errand = errand->next) {
		errand->commit = status;
		errand->commit_err = *err;
	}
}

struct end_errand {
	struct ax_errand errand;
	struct ax_server *server;
};

static void end_at_once(struct ax_errand *errand)
{
	struct end_errand *e = (struct end_errand *)errand;
	ax_log_text(&e->server->log, AX_LOG_ERROR, "store_failed", "message",
		"a flush of the disk failed: only opening the store anew tells what is in it");
	_exit(EXIT_IO_ERROR);
}

/* Whoever looks after the server starts it again, as after a crash. Whose changes are uncertain is told before. */
static void end_if_failed(struct ax_writer *w)
{
	struct ax_server *server = w->thread.server;
	const struct ax_backend_ops *ops = server->threads.backend->ops;
	if (ops->has_failed == NULL || !ops->has_failed(w->thread.link))
		return;
	struct end_errand *e = ax_malloc(sizeof *e);
	*e = (struct end_errand){ { .done = end_at_once }, server };
	ax_lanes_deliver(&server->lanes, &e->errand);
}

static void write_batch(struct ax_writer *w, struct ax_errand *first)
{
	struct ax_server *server = w->thread.server;
	const struct ax_backend_ops *ops = server->threads.backend->ops;
	struct ax_err err = { 0 };
	struct ax_hints *hints = ax_hints_new();
	struct ax_gid_gen gids = w->ctx.gids;
	w->collector.hints = hints;
	w->ctx.hold_leases_until = server->threads.hold_leases_until;

	w->collector.worked = false;

	enum ax_status status = ops->begin(w->thread.link, &err);
	struct ax_errand *errands = first;
	if (status == AX_OK) {
		int64_t start = ax_mono_ms(&server->clock.port);
		errands = run_batch(w, first);
		if (ops->batch_max > 1)
			start = ax_mono_ms(&server->clock.port);
		AX_CRASHPOINT("commit", "before");
		status = ops->commit(w->thread.link, &err);
		AX_CRASHPOINT("commit", "after");
		ax_histogram_add(&server->metrics.commit, ax_mono_ms(&server->clock.port) - start);
	}
	w->collector.hints = NULL;
	if (status == AX_OK) {
		if (w->collector.worked) {
			server->metrics.commits++;
			server->metrics.commit_ms = ax_mono_ms(&server->clock.port);
		}
		errands = with_hints(server, hints, errands);
	} else {
		/* what the batch wrote is gone, the mark of used run ids with it: it has to be raised again */
		w->ctx.gids.high_ms = gids.high_ms;
		server->metrics.commit_failures++;
		ax_hints_free(hints);
		fail_all(errands, status, &err);
		ax_log_text(&server->log, AX_LOG_ERROR, "commit_failed", "message", err.msg);
	}
	ax_lanes_deliver(&server->lanes, errands);
	end_if_failed(w);
}

/* A quiet moment. */
static void rest(struct ax_writer *w)
{
	struct ax_server *server = w->thread.server;
	server->threads.backend->ops->idle(w->thread.link);
	if (w == &server->threads.writers[0] && server->metrics.errands - w->trimmed_at_errands > TRIM_ERRANDS) {
		w->trimmed_at_errands = server->metrics.errands;
		malloc_trim(0);
	}
}

static void write_loop(void *arg)
{
	struct ax_writer *w = arg;
	for (;;) {
		bool closed;
		struct ax_errand *errand = ax_lane_take(&w->thread.server->lanes, w->thread.lane, IDLE_MS, &closed);
		if (closed)
			return;
		if (errand != NULL)
			write_batch(w, errand);
		else
			rest(w);
	}
}

/* --- reading, hashing --------------------------------------------------------------------------------------------- */

static void lane_loop(void *arg)
{
	struct ax_thread *t = arg;
	for (;;) {
		bool closed;
		struct ax_errand *errand = ax_lane_take(&t->server->lanes, t->lane, -1, &closed);
		if (closed)
			return;
		if (errand == NULL)
			continue;
		errand->run(errand, &t->side);
		ax_lanes_deliver(&t->server->lanes, errand);
	}
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static enum ax_status link_thread(struct ax_server *server, struct ax_thread *thread, bool writes, struct ax_err *err)
{
	const struct ax_backend_ops *ops = server->threads.backend->ops;
	enum ax_status status = ops->link(server->threads.backend, writes, &thread->link, err);
	if (status == AX_OK)
		thread->side.store = ops->store(thread->link);
	return status;
}

static enum ax_status open_writer(struct ax_server *server, struct ax_writer *w, struct ax_err *err)
{
	enum ax_status status = link_thread(server, &w->thread, true, err);
	if (status != AX_OK)
		return status;
	ax_collector_init(&w->collector, w->thread.side.store);
	struct ax_store *store = &w->collector.store;
	if (server->config.redis) {
		ax_due_store_init(&w->due, store, ax_collector_dues, &w->collector);
		store = &w->due.store;
	}
	w->ctx = (struct ax_ctx){
		.store = store,
		.clock = &server->clock.port,
		.rand = &server->rand.port,
		.notify = &w->collector.port,
		.log = &server->log.port,
		.zones = server->zones,
		.arena = &w->arena,
		.seat = &server->threads.seat,
		.stripe = (int)(w - server->threads.writers),
		.stripes = server->threads.backend->ops->writers,
		.server_name = server->threads.server_name,
	};
	w->thread.side.store = store;
	w->thread.side.ctx = &w->ctx;
	w->thread.side.collector = &w->collector;
	return AX_OK;
}

/* Several servers of a machine are told apart by their ports. */
static void name_server(struct ax_server *server)
{
	char host[64] = "", *name = server->threads.server_name;
	size_t size = sizeof server->threads.server_name;
	gethostname(host, sizeof host - 1);
	if (host[0] == '\0')
		snprintf(host, sizeof host, "ax-server");
	if (server->threads.backend->ops->shared)
		snprintf(name, size, "%s:%d", host, server->port);
	else
		snprintf(name, size, "%s", host);
}

enum ax_status ax_threads_recover(struct ax_server *server, struct ax_err *err)
{
	struct ax_writer *w = &server->threads.writers[0];
	name_server(server);
	w->collector.hints = ax_hints_new();
	AX_CRASHPOINT("recover", "before");
	enum ax_status status = ax_recover(&w->ctx, AX_VERSION, err);
	AX_CRASHPOINT("recover", "after");
	ax_hints_free(w->collector.hints);
	w->collector.hints = NULL;
	server->threads.hold_leases_until = w->ctx.hold_leases_until;
	return status;
}

enum ax_status ax_threads_open(struct ax_server *server, struct ax_err *err)
{
	struct ax_threads *t = &server->threads;
	enum ax_status status =
		ax_backend_open(&server->config, &server->log.port, &server->clock.port, &t->backend, err);
	if (status == AX_OK)
		status = ax_pulse_open(server, err);
	if (status != AX_OK)
		return status;
	int writers = t->backend->ops->writers;
	AX_ASSERT(writers <= AX_WRITERS_MAX);
	t->tick_lane = writers > 1 ? AX_LANE_TICK : AX_LANE_WRITE;
	for (int i = 0; i < writers && status == AX_OK; i++)
		status = open_writer(server, &t->writers[i], err);
	for (int i = 0; i < AX_READERS && status == AX_OK; i++)
		status = link_thread(server, &t->readers[i], false, err);
	return status;
}

struct ax_store *ax_threads_store(struct ax_server *server)
{
	return server->threads.writers[0].collector.below;
}

/* --- start and stop ----------------------------------------------------------------------------------------------- */

static void start(struct ax_server *server, struct ax_thread *thread, enum ax_lane lane, uv_thread_cb loop, void *arg)
{
	uv_thread_options_t options = { .flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = STACK_BYTES };
	thread->server = server;
	thread->lane = lane;
	AX_ASSERT(uv_thread_create_ex(&thread->id, &options, loop, arg) == 0);
	thread->running = true;
}

void ax_threads_start(struct ax_server *server)
{
	struct ax_threads *t = &server->threads;
	for (int i = 0; i < t->backend->ops->writers; i++)
		start(server, &t->writers[i].thread, i == 0 ? t->tick_lane : AX_LANE_WRITE, write_loop, &t->writers[i]);
	for (int i = 0; i < AX_READERS; i++)
		start(server, &t->readers[i], AX_LANE_READ, lane_loop, &t->readers[i]);
	for (int i = 0; i < AX_HASHERS; i++)
		start(server, &t->hashers[i], AX_LANE_HASH, lane_loop, &t->hashers[i]);
}

static void join(struct ax_thread *thread)
{
	if (thread->running)
		uv_thread_join(&thread->id);
	thread->running = false;
}

/* Nobody writes any more. */
static void leave_seat(struct ax_server *server)
{
	struct ax_ctx *ctx = &server->threads.writers[0].ctx;
	struct ax_err err = { 0 };
	if (ctx->gids.end == 0) /* it never had one */
		return;
	ctx->store = ax_threads_store(server);
	if (ax_seat_leave(ctx, &err) != AX_OK)
		ax_log_text(&server->log, AX_LOG_WARN, "number_not_given_back", "message", err.msg);
}

static void stop(struct ax_server *server, struct ax_thread *thread)
{
	join(thread);
	if (thread->link != NULL)
		server->threads.backend->ops->unlink(thread->link);
	thread->link = NULL;
}

void ax_threads_stop(struct ax_server *server)
{
	struct ax_threads *t = &server->threads;
	for (int i = 0; i < AX_LANE_MAX; i++)
		ax_lane_close(&server->lanes, (enum ax_lane)i);
	for (int i = 0; i < AX_HASHERS; i++)
		stop(server, &t->hashers[i]);
	for (int i = 0; i < AX_READERS; i++)
		stop(server, &t->readers[i]);
	for (int i = 0; i < AX_WRITERS_MAX; i++)
		join(&t->writers[i].thread);
	leave_seat(server);
	for (int i = 0; i < AX_WRITERS_MAX; i++) {
		stop(server, &t->writers[i].thread);
		ax_arena_done(&t->writers[i].arena);
		ax_due_store_done(&t->writers[i].due);
	}
	if (t->backend != NULL)
		t->backend->ops->close(t->backend);
	t->backend = NULL;
}
