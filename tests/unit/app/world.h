#ifndef AX_TEST_APP_WORLD_H
#define AX_TEST_APP_WORLD_H

/* A small world for the services' tests: the memory store, a clock that stands until it is told to go, one worker. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "app/ctx.h"
#include "app/dispatch.h"
#include "app/ingest.h"
#include "app/tasks.h"

/* 2026-06-01T00:00:00Z */
#define T0 INT64_C(1780272000000)

struct world {
	struct ax_seat seat;
	struct ax_ctx ctx;
	struct ax_arena arena;
	struct ax_mem_store *mem;
	struct ax_clock clock;
	struct ax_rand rand;
	struct ax_notify notify;
	struct ax_log log;
	struct ax_zones zones;
	const struct ax_tz *moving; /* data of the zone "Test/Moving"; NULL = there is none */
	int64_t now;
	uint64_t random;
	struct ax_round round;
};

int world_up(void **state);
int world_down(void **state);

/* A scheduled task of group default with executor exec; `change` (may be NULL) edits the definition first. */
int64_t make_task(struct world *w, const char *cron, void (*change)(struct ax_task_def *def));
struct ax_task task_row(struct world *w, int64_t id);
struct ax_run run_row(struct world *w, int64_t gid);
struct ax_attempt attempt_row(struct world *w, int64_t gid, int64_t fence); /* gid 0 when there is none */
int count_runs(struct world *w, int64_t task_id, enum ax_run_state state);
/* The n-th run of the task (0 = oldest) that is in the state; fails the test when there is none. */
struct ax_run find_run(struct world *w, int64_t task_id, enum ax_run_state state, int n);

/* Moves the clock and ticks. Returns what ax_tick asks for. */
int64_t go(struct world *w, int64_t ms);
void go_quiet(struct world *w, int64_t ms); /* the server is away: time passes, nothing ticks */
void restart(struct world *w);

/* A run that somebody asks for now, or in `how`: it must be made. What `how` leaves NULL is "". */
struct ax_run trigger(struct world *w, int64_t task_id);
struct ax_run trigger_how(struct world *w, struct ax_trigger how);

void register_worker(struct world *w, const char *name, const char *incarnation, int64_t pool);
/* What the worker is given now, at most `slots`. */
int poll(struct world *w, const char *name, const char *incarnation, int64_t slots, struct ax_order *ret,
	struct ax_stop *ret_stop);
/* Looks at the polls, and gives out what waits for them. */
void serve_polls(struct world *w, struct ax_poll *polls, int n);
enum ax_verdict report(struct world *w, const char *name, enum ax_item_type type, const struct ax_run *run);
enum ax_verdict result(struct world *w, const char *name, const struct ax_run *run, enum ax_outcome outcome);

#endif
