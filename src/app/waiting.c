#include "app/waiting.h"

enum { PAGE = 64 }; /* runs of a queue read at once */

static const struct ax_run none = { .executor_key = "", .demand = "" };

enum ax_status ax_waiting_any(struct ax_tx *tx, const char *group_key, bool *ret, struct ax_err *err)
{
	struct ax_run head;
	enum ax_status status =
		tx->ops->run_next_queue(tx, group_key, none.executor_key, none.lane, none.demand, &head, err);
	*ret = status == AX_OK;
	return status == AX_NOT_FOUND ? AX_OK : status;
}

/* With the head of each, which is all that is needed of those whose turn does not come. */
enum ax_status ax_waiting_open(struct ax_waiting *w, struct ax_tx *tx, struct ax_err *err)
{
	const struct ax_run *before = &none;
	for (;;) {
		struct ax_run *head = ax_alloc(tx->arena, sizeof(*head));
		enum ax_status status = tx->ops->run_next_queue(
			tx, w->group_key, before->executor_key, before->lane, before->demand, head, err);
		if (status != AX_OK)
			return status == AX_NOT_FOUND ? AX_OK : status;
		w->queues = ax_grow_array(tx->arena, w->queues, w->n, 1, &w->cap, sizeof(*w->queues));
		w->queues[w->n++] = (struct ax_waiting_queue){ .page = { head, 1 } };
		before = head;
	}
}

/* The run that the queue is at; NULL when it is at its end. The head that a queue is opened with only says when its
 * turn comes: then it is read again with those behind it, locked, unless others have it. */
static enum ax_status look(struct ax_waiting *w, struct ax_tx *tx, struct ax_waiting_queue *q, bool turn,
	struct ax_run **ret, struct ax_err *err)
{
	*ret = NULL;
	bool opening = turn && !q->locked;
	if (!q->over && (opening || q->at == q->page.n)) {
		const struct ax_run last = q->page.at[q->page.n - 1];
		enum ax_status status = tx->ops->runs_claimable(tx, w->group_key, last.executor_key, last.lane,
			last.demand, last.rank, last.gid - opening, PAGE, &q->page, err);
		if (status != AX_OK)
			return status;
		q->at = 0;
		q->locked = true;
		q->over = q->page.n == 0;
		w->others_hold = w->others_hold || (opening && (q->over || q->page.at[0].gid != last.gid));
	}
	if (!q->over)
		*ret = &q->page.at[q->at];
	return AX_OK;
}

static bool is_before(const struct ax_run *a, const struct ax_run *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->gid < b->gid;
}

static enum ax_status find_first(struct ax_waiting *w, struct ax_tx *tx, struct ax_run **ret, struct ax_err *err)
{
	*ret = NULL;
	for (size_t i = 0; i < w->n; i++) {
		struct ax_run *run;
		enum ax_status status = look(w, tx, &w->queues[i], false, &run, err);
		if (status != AX_OK)
			return status;
		if (run != NULL && (*ret == NULL || is_before(run, *ret))) {
			*ret = run;
			w->last = &w->queues[i];
		}
	}
	return AX_OK;
}

enum ax_status ax_waiting_next(struct ax_waiting *w, struct ax_tx *tx, struct ax_run **ret, struct ax_err *err)
{
	enum ax_status status = find_first(w, tx, ret, err);
	while (status == AX_OK && *ret != NULL && !w->last->locked) {
		status = look(w, tx, w->last, true, ret, err);
		if (status == AX_OK)
			status = find_first(w, tx, ret, err);
	}
	if (status == AX_OK && *ret != NULL)
		w->last->at++;
	return status;
}

void ax_waiting_leave_out(struct ax_waiting *w)
{
	w->last->over = true;
}
