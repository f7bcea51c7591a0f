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

/* In so many ms a group is to be looked at again, although nothing more becomes ready there. */
enum {
	AX_AGAIN_NEVER = -1,
	AX_AGAIN_NOW = 0,    /* a turn has its end, or another server was faster: there may be more */
	AX_AGAIN_HELD = 100, /* another server holds what waits there, and may let go of it */
};

/* A parked poll. */
struct ax_poll {
	const char *worker;
	const char *incarnation;
	int64_t number;     /* by its worker; 0 = not told */
	int64_t stale_mono; /* what is answered later than this, the worker begins no more; 0 = not said */
	bool known;         /* it was looked at, and nothing was said of its worker since */
	struct {
		const char *group_key;
		int64_t slots;
		bool idle;        /* it was looked at, and nothing became ready there since */
		bool waits;       /* by ax_polls_look: runs wait there */
		int64_t again_ms; /* by ax_dispatch: see above */
	} free[64];               /* AX_POLL_GROUPS_MAX */
	int n_free;

	/* filled by ax_polls_look; the first two stay what they are while the poll is known */
	enum ax_status status; /* AX_NOT_FOUND: unknown worker, register again; AX_CONFLICT: superseded */
	bool drain;
	struct ax_stop *stops; /* attempts of this worker that shall end */
	int n_stops;

	/* filled by ax_dispatch */
	struct ax_order *orders;
	int n_orders;
	size_t cap_orders;
};

/* Looks whether there is anything for the polls, and locks nothing for it: of those that are not known at their workers
 * and what these shall stop, of each group that is not idle whether runs wait there. *ret_any: some do. */
enum ax_status ax_polls_look(
	struct ax_ctx *ctx, struct ax_poll *polls, int n, bool *ret_any, struct ax_err *err) AX_MUST_USE;

/* The groups that runs wait in, for polls that may have some, in key order from behind `after` on and round. */
const char **ax_polls_groups(const struct ax_poll *polls, int n, const char *after, struct ax_arena *arena, int *ret_n);

/* Marks the group in the polls that ask for runs of it. */
void ax_polls_again(struct ax_poll *polls, int n, const char *group_key, int64_t again_ms);

/* Room for one more order, which is counted. */
struct ax_order *ax_poll_add_order(struct ax_poll *poll, struct ax_arena *arena);

#endif
