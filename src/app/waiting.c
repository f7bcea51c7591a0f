#include "app/waiting.h"

enum { PAGE = 64 }; /* runs of a queue read at once */

/* With the head of each, which is all that is needed of those whose turn does not come. */
enum ax_status ax_waiting_open(struct ax_waiting *w, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_run none = { .executor_key = "", .demand = "" };
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

/* The run that the queue is at; NULL when it is at its end. */
static enum ax_status look(
	struct ax_waiting *w, struct ax_tx *tx, struct ax_waiting_queue *q, struct ax_run **ret, struct ax_err *err)
{
	*ret = NULL;
	if (!q->over && q->at == q->page.n) {
		const struct ax_run last = q->page.at[q->page.n - 1];
		enum ax_status status = tx->ops->runs_claimable(tx, w->group_key, last.executor_key, last.lane,
			last.demand, last.rank, last.gid, PAGE, &q->page, err);
		if (status != AX_OK)
			return status;
		q->at = 0;
		q->over = q->page.n == 0;
	}
	if (!q->over)
		*ret = &q->page.at[q->at];
	return AX_OK;
}

static bool is_before(const struct ax_run *a, const struct ax_run *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->gid < b->gid;
}

enum ax_status ax_waiting_next(struct ax_waiting *w, struct ax_tx *tx, struct ax_run **ret, struct ax_err *err)
{
	*ret = NULL;
	for (size_t i = 0; i < w->n; i++) {
		struct ax_run *run;
		enum ax_status status = look(w, tx, &w->queues[i], &run, err);
		if (status != AX_OK)
			return status;
		if (run != NULL && (*ret == NULL || is_before(run, *ret))) {
			*ret = run;
			w->last = &w->queues[i];
		}
	}
	if (*ret != NULL)
		w->last->at++;
	return AX_OK;
}

void ax_waiting_leave_out(struct ax_waiting *w)
{
	w->last->over = true;
}
