#include "server/lanes.h"

#include <stddef.h>

enum { WRITE_MAX = 4096, TICK_MAX = 1, READ_MAX = 1024, HASH_MAX = 32 };

void ax_lanes_flush(struct ax_lanes *lanes)
{
	for (;;) {
		uv_mutex_lock(&lanes->done_lock);
		struct ax_errand *errand = lanes->done_head;
		lanes->done_head = NULL;
		lanes->done_tail = &lanes->done_head;
		uv_mutex_unlock(&lanes->done_lock);
		if (errand == NULL)
			return;
		while (errand != NULL) {
			struct ax_errand *next = errand->next;
			errand->next = NULL;
			errand->done(errand);
			errand = next;
		}
	}
}

static void on_wake(uv_async_t *wake)
{
	ax_lanes_flush(wake->data);
}

void ax_lanes_init(struct ax_lanes *lanes, uv_loop_t *loop)
{
	static const int max[AX_LANE_MAX] = { WRITE_MAX, TICK_MAX, READ_MAX, HASH_MAX };
	for (int i = 0; i < AX_LANE_MAX; i++) {
		struct ax_lane_queue *q = &lanes->queue[i];
		*q = (struct ax_lane_queue){ .max = max[i] };
		q->tail = &q->head;
		AX_ASSERT(uv_mutex_init(&q->lock) == 0 && uv_cond_init(&q->filled) == 0);
	}
	AX_ASSERT(uv_mutex_init(&lanes->done_lock) == 0);
	lanes->done_head = NULL;
	lanes->done_tail = &lanes->done_head;
	AX_ASSERT(uv_async_init(loop, &lanes->wake, on_wake) == 0);
	lanes->wake.data = lanes;
}

void ax_lanes_done(struct ax_lanes *lanes)
{
	for (int i = 0; i < AX_LANE_MAX; i++) {
		uv_mutex_destroy(&lanes->queue[i].lock);
		uv_cond_destroy(&lanes->queue[i].filled);
	}
	uv_mutex_destroy(&lanes->done_lock);
	uv_close((uv_handle_t *)&lanes->wake, NULL);
}

static bool post(struct ax_lane_queue *q, struct ax_errand *errand, bool always)
{
	errand->next = NULL;
	errand->commit = AX_OK;
	uv_mutex_lock(&q->lock);
	bool taken = !q->closed && (always || q->n < q->max);
	if (taken) {
		*q->tail = errand;
		q->tail = &errand->next;
		q->n++;
		uv_cond_signal(&q->filled);
	}
	uv_mutex_unlock(&q->lock);
	return taken;
}

bool ax_lane_post(struct ax_lanes *lanes, enum ax_lane lane, struct ax_errand *errand)
{
	return post(&lanes->queue[lane], errand, false);
}

void ax_lane_post_own(struct ax_lanes *lanes, enum ax_lane lane, struct ax_errand *errand)
{
	AX_ASSERT(post(&lanes->queue[lane], errand, true));
}

void ax_lane_close(struct ax_lanes *lanes, enum ax_lane lane)
{
	struct ax_lane_queue *q = &lanes->queue[lane];
	uv_mutex_lock(&q->lock);
	q->closed = true;
	uv_cond_broadcast(&q->filled);
	uv_mutex_unlock(&q->lock);
}

int ax_lane_depth(struct ax_lanes *lanes, enum ax_lane lane)
{
	struct ax_lane_queue *q = &lanes->queue[lane];
	uv_mutex_lock(&q->lock);
	int n = q->n;
	uv_mutex_unlock(&q->lock);
	return n;
}

struct ax_errand *ax_lane_take(struct ax_lanes *lanes, enum ax_lane lane, int wait_ms, bool *ret_closed)
{
	struct ax_lane_queue *q = &lanes->queue[lane];
	uv_mutex_lock(&q->lock);
	while (q->head == NULL && !q->closed && wait_ms != 0) {
		if (wait_ms < 0)
			uv_cond_wait(&q->filled, &q->lock);
		else if (uv_cond_timedwait(&q->filled, &q->lock, (uint64_t)wait_ms * 1000000) != 0)
			break;
	}
	struct ax_errand *errand = q->head;
	if (errand != NULL) {
		q->head = errand->next;
		if (q->head == NULL)
			q->tail = &q->head;
		q->n--;
		errand->next = NULL;
	}
	*ret_closed = errand == NULL && q->closed;
	uv_mutex_unlock(&q->lock);
	return errand;
}

void ax_lanes_deliver(struct ax_lanes *lanes, struct ax_errand *first)
{
	if (first == NULL)
		return;
	struct ax_errand *last = first;
	while (last->next != NULL)
		last = last->next;
	uv_mutex_lock(&lanes->done_lock);
	*lanes->done_tail = first;
	lanes->done_tail = &last->next;
	uv_mutex_unlock(&lanes->done_lock);
	uv_async_send(&lanes->wake);
}
