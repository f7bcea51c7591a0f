#include "queue.h"

#include <stdbool.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/err.h"

static const int64_t STEP_MS = 60000;

static bool before(const struct axw_queue_item *a, const struct axw_queue_item *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->order < b->order;
}

static void set(struct axw_queue *q, size_t at, struct axw_queue_item *item)
{
	q->heap[at] = item;
	item->at = at + 1;
}

static void move_up(struct axw_queue *q, size_t at, struct axw_queue_item *item)
{
	for (; at > 0 && before(item, q->heap[(at - 1) / 2]); at = (at - 1) / 2)
		set(q, at, q->heap[(at - 1) / 2]);
	set(q, at, item);
}

static void move_down(struct axw_queue *q, size_t at, struct axw_queue_item *item)
{
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= q->len)
			break;
		if (child + 1 < q->len && before(q->heap[child + 1], q->heap[child]))
			child++;
		if (!before(q->heap[child], item))
			break;
		set(q, at, q->heap[child]);
		at = child;
	}
	set(q, at, item);
}

void axw_queue_push(struct axw_queue *q, struct axw_queue_item *item, int64_t arrival_ms, int priority)
{
	if (q->len == q->cap) {
		q->cap = q->cap ? 2 * q->cap : 64;
		q->heap = ax_realloc(q->heap, q->cap * sizeof(struct axw_queue_item *));
	}
	item->rank = arrival_ms - priority * STEP_MS;
	item->order = q->next_order++;
	move_up(q, q->len++, item);
}

void axw_queue_remove(struct axw_queue *q, struct axw_queue_item *item)
{
	AX_ASSERT(item->at > 0 && item->at <= q->len && q->heap[item->at - 1] == item);
	size_t at = item->at - 1;
	item->at = 0;
	struct axw_queue_item *last = q->heap[--q->len];
	if (last == item)
		return;
	if (at > 0 && before(last, q->heap[(at - 1) / 2]))
		move_up(q, at, last);
	else
		move_down(q, at, last);
}

struct axw_queue_item *axw_queue_pop(struct axw_queue *q)
{
	if (q->len == 0)
		return NULL;
	struct axw_queue_item *first = q->heap[0];
	axw_queue_remove(q, first);
	return first;
}

void axw_queue_done(struct axw_queue *q)
{
	free(q->heap);
	*q = (struct axw_queue){ 0 };
}
