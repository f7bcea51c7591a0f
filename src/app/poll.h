#ifndef AX_APP_POLL_H
#define AX_APP_POLL_H

#include "app/chain.h"
#include "app/worker_seen.h"

/* What a worker was given: the run as claimed and the definition that it executes. */
struct ax_order {
	struct ax_run run;
	struct ax_task_def def;
	struct ax_tolds upstream;
	int64_t long_share_percent; /* of its group */
};

/* A parked poll. */
struct ax_poll {
	const char *worker;
	const char *incarnation;
	struct {
		const char *group_key;
		int64_t slots;
	} free[64]; /* AX_POLL_GROUPS_MAX */
	int n_free;

	/* filled by ax_dispatch */
	enum ax_status status; /* AX_NOT_FOUND: unknown worker, register again; AX_CONFLICT: superseded */
	bool drain;
	struct ax_stop *stops; /* attempts of this worker that shall end */
	int n_stops;
	struct ax_order *orders;
	int n_orders;
	size_t cap_orders;
};

/* The groups that any poll asks for, in key order: the order in which group rows are locked everywhere. */
const char **ax_polls_groups(const struct ax_poll *polls, int n, struct ax_arena *arena, int *ret_n);

/* Room for one more order, which is counted. */
struct ax_order *ax_poll_add_order(struct ax_poll *poll, struct ax_arena *arena);

#endif
