#ifndef AX_APP_WAITING_H
#define AX_APP_WAITING_H

/* The waiting runs of a group in the order of claiming: those of all its queues together, by rank, read page by page.
 * There is a queue for each executor, lane and demand, so that runs which nobody may have now keep nobody else back. */

#include "port/store.h"

struct ax_waiting_queue {
	struct ax_runs page;
	int at;
	bool locked; /* the page is more than the head that the queue was opened with */
	bool over;
};

struct ax_waiting {
	const char *group_key;
	struct ax_waiting_queue *queues;
	size_t n, cap;
	struct ax_waiting_queue *last; /* that the newest run came from */
	bool others_hold;              /* the head of a queue: it is theirs to give out, or is left again */
};

/* Does any run wait in the group? Held by others or not: nothing is locked. */
enum ax_status ax_waiting_any(struct ax_tx *tx, const char *group_key, bool *ret, struct ax_err *err);

/* `waiting` is zeroed but for its group. */
enum ax_status ax_waiting_open(struct ax_waiting *waiting, struct ax_tx *tx, struct ax_err *err);

/* The next run that nobody else has locked, NULL when there is none. It is locked. */
enum ax_status ax_waiting_next(struct ax_waiting *waiting, struct ax_tx *tx, struct ax_run **ret, struct ax_err *err);

/* Leaves out the rest of the queue that the newest run came from. */
void ax_waiting_leave_out(struct ax_waiting *waiting);

#endif
