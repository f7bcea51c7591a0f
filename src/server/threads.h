#ifndef AX_SERVER_THREADS_H
#define AX_SERVER_THREADS_H

/* The lanes' threads. A store that takes one writer has one thread for ticks and writes; one that takes several has a
 * thread for ticks and the rest for writes. Each writing thread has a context of its own. */

#include "port/wrap_due.h"
#include "server/backend.h"
#include "server/hints.h"
#include "server/lanes.h"

enum { AX_WRITERS_MAX = 8, AX_READERS = 2, AX_HASHERS = 2 };

struct ax_server;

struct ax_thread {
	struct ax_server *server;
	enum ax_lane lane;
	struct ax_side side;
	struct ax_link *link; /* to the store; not of a hasher */
	uv_thread_t id;
	bool running;
};

struct ax_writer {
	struct ax_thread thread;
	struct ax_ctx ctx;
	struct ax_arena arena;
	struct ax_collector collector;
	struct ax_due_store due; /* above it, when there is a due queue */
	uint64_t trimmed_at_errands;
};

struct ax_threads {
	struct ax_backend *backend;
	struct ax_writer writers[AX_WRITERS_MAX]; /* the first one runs the ticks */
	struct ax_thread readers[AX_READERS], hashers[AX_HASHERS];
	enum ax_lane tick_lane;
	struct ax_seat seat;               /* of this server, for all its contexts */
	_Atomic int64_t hold_leases_until; /* as the last tick left it, for every context */
	char server_name[128];
};

/* In the calling thread: opens the store, learns its time; then the recovery. */
AX_MUST_USE enum ax_status ax_threads_open(struct ax_server *server, struct ax_err *err);
AX_MUST_USE enum ax_status ax_threads_recover(struct ax_server *server, struct ax_err *err);
/* Between open and start, for the calling thread: a store to write to. */
struct ax_store *ax_threads_store(struct ax_server *server);
void ax_threads_start(struct ax_server *server);
/* Lets the lanes run empty, ends the threads, closes the store. */
void ax_threads_stop(struct ax_server *server);

#endif
