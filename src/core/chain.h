#ifndef AX_CORE_CHAIN_H
#define AX_CORE_CHAIN_H

/* Chains: tasks that run when others have succeeded. Their rows, and what shape a chain may have. docs/chains.md is the
 * page. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "core/run_fsm.h"

/* A task names another as its upstream. */
struct ax_upstream {
	int64_t task_id;
	int64_t upstream_id;
};

/* How an upstream ended, for a run that follows it or waits for it. */
struct ax_run_upstream {
	int64_t gid;
	int64_t upstream_id;  /* the task … */
	int64_t upstream_gid; /* … and its run */
	enum ax_run_state upstream_status;
};

/* An end that a run stands on, with what there is to tell of it. */
struct ax_run_told {
	int64_t upstream_id;
	const char *task_name; /* "" = the task is gone */
	int64_t upstream_gid;
	enum ax_run_state upstream_status;
	const char *result; /* "" when the run is gone, too */
};

/* Reads "12 34" as at most `max` ids; returns how many there are. */
int ax_ids_read(const char *text, int64_t *ret, int max);

/* All tasks that hang together, and who waits for whom, by their places in `tasks`. */
struct ax_chain {
	struct {
		int64_t id;
		bool joins; /* join all: one run, however many upstreams end */
	} * tasks;
	struct {
		int upstream, task;
	} * edges; /* are put in another order */
	int n_tasks, n_edges;
};

/* AX_INVALID with the field `upstreams` when a run of the task at this place would cause itself, when a chain through
 * it is deeper than AX_CHAIN_DEPTH_MAX, or when one end could make more than AX_CHAIN_RUNS_MAX runs at once. */
enum ax_status ax_chain_check(struct ax_chain *chain, int task, struct ax_arena *arena, struct ax_err *err);

#endif
