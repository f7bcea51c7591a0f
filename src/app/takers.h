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
	bool chosen;   /* for a run of this turn … */
	bool lost;     /* … and cannot have it any more */
	bool given;
};

struct ax_takers {
	const struct ax_group *group;
	int64_t now;
	int64_t answer_mono; /* the earliest that the polls can be answered; 0 = not known */
	struct ax_poll *polls;
	struct ax_taker *at;
	int n;
	bool others_known;
	int64_t order; /* of the newest run given */
	/* As ax_takers_list leaves them: candidates[i] is at[of[i]]. */
	struct ax_candidate *candidates;
	int *of;
};

/* Adds the workers that ask for runs of the group by these polls, which are in order of age; each once. */
enum ax_status ax_takers_find(
	struct ax_takers *takers, struct ax_tx *tx, struct ax_poll *polls, int n, struct ax_err *err);

/* Adds the others that are online. */
enum ax_status ax_takers_find_others(struct ax_takers *takers, struct ax_tx *tx, struct ax_err *err);

/* Leaves out the polls that will be stale by then, when they are answered at the earliest. Any? */
bool ax_takers_answer_at(struct ax_takers *takers, int64_t mono_ms);

/* Has any of them room? */
bool ax_takers_have_room(const struct ax_takers *takers);

/* Those that may have the run, with or without room, as candidates; how many. */
int ax_takers_list(struct ax_takers *takers, const struct ax_run *run, bool *ret_any_room);

/* Counts a run that one of them shall have; the poll that it will be the answer to. */
struct ax_poll *ax_takers_choose(struct ax_takers *takers, int taker, const struct ax_run *run, enum ax_routing route);

/* Reads the rows of those that were chosen and of the group again, in the order of all servers: workers by name, which
 * other groups' turns may hold, too; the group, the workers' parts of it, locked. What was counted so far is forgotten.
 */
enum ax_status ax_takers_lock(struct ax_takers *takers, struct ax_tx *tx, struct ax_group *group, struct ax_err *err);

/* May it have the run, by the locked rows? */
bool ax_taker_may_have(const struct ax_takers *takers, const struct ax_taker *taker, const struct ax_run *run);

/* Counts a run given to one of them, as the store did. */
void ax_takers_count(struct ax_takers *takers, struct ax_taker *taker, const struct ax_run *run, enum ax_routing route);

/* Writes what routing remembers of the turn. */
enum ax_status ax_takers_remember(const struct ax_takers *takers, struct ax_tx *tx, struct ax_err *err);

#endif
