#ifndef AX_CORE_ROUTE_H
#define AX_CORE_ROUTE_H

/* Which worker gets a run: candidates in, one of them out. docs/routing.md says what each policy is for.
 *
 * Some policies take the best of those who have room now. The others want one certain worker, the same each time, and
 * wait for it a while when it has no room; afterwards they take the next one of their order, so that nothing waits for
 * ever beside idle workers. */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ax_task_def;
struct ax_run;

enum ax_routing {
	AX_ROUTE_LEAST_BUSY = 0,
	AX_ROUTE_ROUND_ROBIN = 1,
	AX_ROUTE_RANDOM = 2,
	AX_ROUTE_FIRST = 3,
	AX_ROUTE_LAST = 4,
	AX_ROUTE_HASH = 5,
	AX_ROUTE_LRU = 6,
	AX_ROUTE_LFU = 7,
	AX_ROUTE_FAILOVER = 8,
};

/* A worker that is online and may run it. */
struct ax_candidate {
	const char *name;
	bool room;             /* it asks for runs now, and may have one more of this lane */
	bool avoid;            /* its last attempt at this run came to nothing */
	int64_t given, places; /* runs of the group that it holds, and executes at once */
	int64_t given_order;   /* grows with every run given in the group; 0 = none yet */
	int64_t turn_order;    /* the same for those given by round robin */
	int64_t use;           /* how many it was given of late */
};

/* Does the policy want one certain worker? */
bool ax_route_waits(enum ax_routing route);

/* What random and hash choose by: the run's attempt; the parameter that the task names, else the task and shard. */
uint64_t ax_route_key(const struct ax_task_def *def, const struct ax_run *run);

enum { AX_ROUTE_NOBODY = -1, AX_ROUTE_WAIT = -2 };
/* The candidate's index; AX_ROUTE_NOBODY: none has room; AX_ROUTE_WAIT: the one that is wanted has none, and the run is
 * `patient`. */
int ax_route_choose(enum ax_routing route, const struct ax_candidate *candidates, int n, uint64_t key, bool patient);

/* Does the run of an attempt that came to nothing go elsewhere? After a claim that was not accepted always, else only
 * under failover. */
bool ax_route_avoids(enum ax_routing route, const struct ax_run *run, const char *worker);

/* Use fades: it halves every minute. One run counts 1000. */
int64_t ax_route_use(int64_t use, int64_t use_time, int64_t now);
void ax_route_count_use(int64_t *use, int64_t *use_time, int64_t now);

/* Does a worker have all the tags of `demand`, a JSON object of texts or ""? Its name is its tag `worker`. */
bool ax_route_tags_match(const char *demand, const char *worker, const char *tags);
/* AX_INVALID: they are no object of at most 32 texts. */
enum ax_status ax_route_tags_check(const char *tags, struct ax_err *err);
/* What a run demands of its worker: the task's route_tags, "" when there are none. */
const char *ax_route_demand(const struct ax_task_def *def);

#endif
