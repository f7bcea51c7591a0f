#ifndef AX_SERVER_THREADS_H
#define AX_SERVER_THREADS_H

/* The lanes' threads. */

#include "adapters/sqlite/sqlite.h"
#include "server/hints.h"
#include "server/lanes.h"

enum { AX_READERS = 2, AX_HASHERS = 2 };

struct ax_server;

struct ax_thread {
	struct ax_server *server;
	struct ax_side side;
	struct ax_sqlite_reader *reader; /* of a reader */
	uint64_t trimmed_at_errands;     /* of the writer */
	uv_thread_t id;
	bool running;
};

struct ax_threads {
	struct ax_thread writer, readers[AX_READERS], hashers[AX_HASHERS];
	struct ax_sqlite *db; /* the writer's */
	int64_t number;       /* of this server */
	struct ax_ctx ctx;    /* write lane only, after the start */
	struct ax_arena ctx_arena;
	struct ax_collector collector;
	char server_name[128];
};

/* Opens the store and runs the recovery, in the calling thread. */
AX_MUST_USE enum ax_status ax_threads_open(struct ax_server *server, struct ax_err *err);
void ax_threads_start(struct ax_server *server);
/* Lets the lanes run empty, ends the threads, closes the store. */
void ax_threads_stop(struct ax_server *server);

#endif
