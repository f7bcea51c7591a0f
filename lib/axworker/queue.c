#include "queue.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/err.h"

static bool before(const struct axw_queue_item *a, const struct axw_queue_item *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->order < b->order;
}

static void set(struct axw_lane *lane, size_t at, struct axw_queue_item *item)
{
	lane->heap[at] = item;
	item->at = at + 1;
}

static void move_up(struct axw_lane *lane, size_t at, struct axw_queue_item *item)
{
	for (; at > 0 && before(item, lane->heap[(at - 1) / 2]); at = (at - 1) / 2)
		set(lane, at, lane->heap[(at - 1) / 2]);
	set(lane, at, item);
}

static void move_down(struct axw_lane *lane, size_t at, struct axw_queue_item *item)
{
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= lane->len)
			break;
		if (child + 1 < lane->len && before(lane->heap[child + 1], lane->heap[child]))
			child++;
		if (!before(lane->heap[child], item))
			break;
		set(lane, at, lane->heap[child]);
		at = child;
	}
	set(lane, at, item);
}

void axw_queue_push(struct axw_queue *q, struct axw_queue_item *item, int64_t rank, bool is_long)
{
	struct axw_lane *lane = &q->lanes[is_long];
	if (lane->len == lane->cap) {
		lane->cap = lane->cap ? 2 * lane->cap : 64;
		lane->heap = ax_realloc(lane->heap, lane->cap * sizeof(struct axw_queue_item *));
	}
	item->rank = rank;
	item->order = q->next_order++;
	item->is_long = is_long;
	move_up(lane, lane->len++, item);
}

void axw_queue_remove(struct axw_queue *q, struct axw_queue_item *item)
{
	struct axw_lane *lane = &q->lanes[item->is_long];
	AX_ASSERT(item->at > 0 && item->at <= lane->len && lane->heap[item->at - 1] == item);
	size_t at = item->at - 1;
	item->at = 0;
	struct axw_queue_item *last = lane->heap[--lane->len];
	if (last == item)
		return;
	if (at > 0 && before(last, lane->heap[(at - 1) / 2]))
		move_up(lane, at, last);
	else
		move_down(lane, at, last);
}

struct axw_queue_item *axw_queue_pop(struct axw_queue *q, bool may_be_long)
{
	struct axw_queue_item *first = NULL;
	for (int i = 0; i <= may_be_long; i++) {
		struct axw_lane *lane = &q->lanes[i];
		if (lane->len > 0 && (first == NULL || before(lane->heap[0], first)))
			first = lane->heap[0];
	}
	if (first != NULL)
		axw_queue_remove(q, first);
	return first;
}

void axw_queue_done(struct axw_queue *q)
{
	free(q->lanes[0].heap);
	free(q->lanes[1].heap);
	*q = (struct axw_queue){ 0 };
}
