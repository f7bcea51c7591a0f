#ifndef AX_APP_TAKERS_H
#define AX_APP_TAKERS_H

/* The workers that one group's runs may go to: those that ask for runs now and, for routes that want a certain one, the
 * others that are online. */

#include "app/poll.h"

struct ax_taker {
	struct ax_poll *poll; /* the newest that has slots left; NULL: it is online and does not ask now */
	const struct ax_worker *worker;
	struct ax_worker_group part;
	int64_t slots; /* what the poll still asks for */
	bool given;    /* something in this turn */
};

struct ax_takers {
	const struct ax_group *group;
	int64_t now;
	struct ax_poll *polls;
	struct ax_taker *at;
	int n;
	bool others_known;
	int64_t order; /* of the newest run given */
	/* As ax_takers_list leaves them: candidates[i] is at[of[i]]. */
	struct ax_candidate *candidates;
	int *of;
};

/* Adds the workers that ask for runs of the group, `workers` being those of the polls, which are in order of age; each
 * once. */
enum ax_status ax_takers_find(struct ax_takers *takers, struct ax_tx *tx, struct ax_poll *polls,
	const struct ax_worker *workers, int n, struct ax_err *err);

/* Adds the others that are online. */
enum ax_status ax_takers_find_others(struct ax_takers *takers, struct ax_tx *tx, struct ax_err *err);

/* Those that may have the run, with or without room, as candidates; how many. */
int ax_takers_list(struct ax_takers *takers, const struct ax_run *run, bool *ret_any_room);

/* Counts a run given to one of them, as the store did. */
void ax_takers_count(struct ax_takers *takers, struct ax_taker *taker, const struct ax_run *run, enum ax_routing route);

/* Writes what routing remembers of the turn. */
enum ax_status ax_takers_remember(const struct ax_takers *takers, struct ax_tx *tx, struct ax_err *err);

#endif
