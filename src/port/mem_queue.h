#ifndef AX_PORT_MEM_QUEUE_H
#define AX_PORT_MEM_QUEUE_H

/* A due queue in memory, for the simulator: deterministic, and as bad as one wants it. It calls back from within the
 * call. */

#include "port/clock.h"
#include "port/queue.h"

struct ax_mem_queue;

/* The clock is that of the lives of locks. Several servers share one queue: each has a port of its own, by which it
 * hears hints. */
struct ax_mem_queue *ax_mem_queue_new(struct ax_clock *clock, const char *identity);
void ax_mem_queue_free(struct ax_mem_queue *queue);
struct ax_queue *ax_mem_queue_port(struct ax_mem_queue *queue, const struct ax_queue_ears *ears);

/* Bad times. */
void ax_mem_queue_set_up(struct ax_mem_queue *queue, bool up);     /* while down every request is refused */
void ax_mem_queue_set_mute(struct ax_mem_queue *queue, bool mute); /* requests are done, but answered with nothing */
void ax_mem_queue_flush(struct ax_mem_queue *queue);
void ax_mem_queue_keep_copy(struct ax_mem_queue *queue);
void ax_mem_queue_use_copy(struct ax_mem_queue *queue); /* the state of the last copy is back; nothing says so */
/* Loses the n-th of all members, or moves its score by `shift_ms`; false when there are not so many. */
bool ax_mem_queue_lose(struct ax_mem_queue *queue, int n);
bool ax_mem_queue_shift(struct ax_mem_queue *queue, int n, int64_t shift_ms);

#endif
