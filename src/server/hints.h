#ifndef AX_SERVER_HINTS_H
#define AX_SERVER_HINTS_H

/* What the services said has changed: collected by a writing thread from the errands of one commit, handed to the loop
 * thread after it. Repetitions are folded, so a transaction of thousands of runs stays one small message. What was said
 * in a transaction that was taken back, or begun again, was not said. */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "core/task.h"
#include "port/notify.h"
#include "port/queue.h"
#include "port/store.h"
#include "server/lanes.h"
#include "server/metrics.h"

struct ax_server;

struct ax_run_hint {
	int64_t gid, task_id, parent;
	enum ax_run_state status;
};

enum { AX_HINT_RUNS_MAX = 2000 }; /* beyond, runs are not told one by one */

struct ax_hints {
	struct ax_errand errand; /* delivered like one */
	struct ax_server *server;
	struct ax_arena arena;
	int64_t *tasks;
	size_t n_tasks, cap_tasks;
	struct ax_run_hint *runs;
	size_t n_runs, cap_runs;
	const char **workers; /* changed */
	size_t n_workers, cap_workers;
	const char **groups; /* ready */
	size_t n_groups, cap_groups;
	const char *
		*fresh; /* groups in which runs have begun to wait for a worker; others are ready as there is room */
	size_t n_fresh, cap_fresh;
	const char **stops; /* workers that hold a run that shall stop */
	size_t n_stops, cap_stops;
	struct ax_queue_entry *dues; /* where members of a due queue belong now */
	size_t n_dues, cap_dues;
	bool due_soon;  /* something may be due earlier than was known */
	bool tick_soon; /* a backfill may go on, or shards are to be made: no due queue knows of that */
	struct ax_run_counts counts;
};

/* A writing thread's collector: an ax_notify whose target is changed from commit to commit, and the thread's store, so
 * that it knows which transactions happened. */
struct ax_collector {
	struct ax_notify port;
	struct ax_store store; /* what services work on */
	struct ax_store *below;
	struct ax_hints *hints;
	bool worked; /* a transaction of this commit happened */
};

void ax_collector_init(struct ax_collector *collector, struct ax_store *store);
/* A transaction of this commit happened, and wrote these: for port/wrap_due.h. */
void ax_collector_dues(void *collector, const struct ax_queue_entry *entries, int n);
/* All that this commit's errands said so far has been looked at: nothing is due sooner than known / all parked polls
 * were served. */
void ax_collector_looked(struct ax_collector *collector);
void ax_collector_served(struct ax_collector *collector);
bool ax_hints_empty(const struct ax_hints *hints);
/* Adds what `from` says is changed and ready, not what is due; false when something was left out because there would be
 * more than `max` of a kind. Names are never left out: there are few. */
bool ax_hints_add(struct ax_hints *to, const struct ax_hints *from, size_t max);
struct ax_hints *ax_hints_new(void);
void ax_hints_free(struct ax_hints *hints);

#endif
