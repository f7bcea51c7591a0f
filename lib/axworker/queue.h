#ifndef AXW_QUEUE_H
#define AXW_QUEUE_H

/* A group's own queue: the lowest rank first, of equals in the order of arrival.
 *
 * The rank is the server's: the due time minus a minute per step of priority (10 is the most urgent), set once, so that
 * what waits overtakes newer runs of higher priority after as many minutes as they are more urgent, and none starves.
 * Long runs have a lane of their own, which the caller may pass over. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct axw_queue_item {
	int64_t rank;
	uint64_t order;
	size_t at; /* place in its lane + 1; 0 = not in the queue */
	bool is_long;
};

struct axw_lane {
	struct axw_queue_item **heap;
	size_t len;
	size_t cap;
};

struct axw_queue {
	struct axw_lane lanes[2]; /* short, long */
	uint64_t next_order;
};

void axw_queue_push(struct axw_queue *queue, struct axw_queue_item *item, int64_t rank, bool is_long);
struct axw_queue_item *axw_queue_pop(struct axw_queue *queue, bool may_be_long); /* NULL when there is none */
void axw_queue_remove(struct axw_queue *queue, struct axw_queue_item *item);
void axw_queue_done(struct axw_queue *queue);

#endif
