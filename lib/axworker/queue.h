#ifndef AXW_QUEUE_H
#define AXW_QUEUE_H

/* A group's own queue: the most urgent attempt first, and none starves.
 *
 * As in the server's queue the order is a rank set once: the instant of arrival minus a minute per step of priority
 * (10 is the most urgent), so a waiting attempt overtakes newer ones of higher priority after as many minutes as
 * they are more urgent. Equal ranks leave in the order of arrival. */

#include <stddef.h>
#include <stdint.h>

struct axw_queue_item {
	int64_t rank;
	uint64_t order;
	size_t at; /* place in the queue + 1; 0 = not in it */
};

struct axw_queue {
	struct axw_queue_item **heap;
	size_t len;
	size_t cap;
	uint64_t next_order;
};

void axw_queue_push(struct axw_queue *queue, struct axw_queue_item *item, int64_t arrival_ms, int priority);
struct axw_queue_item *axw_queue_pop(struct axw_queue *queue); /* NULL when empty */
void axw_queue_remove(struct axw_queue *queue, struct axw_queue_item *item);
void axw_queue_done(struct axw_queue *queue);

#endif
