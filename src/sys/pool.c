#include "sys/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include "base/arena.h"
#include "base/err.h"

static const int IDLE_S = 30;

struct item {
	void (*work)(void *arg);
	void *arg;
	struct item *next;
};

struct ax_pool {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct item *head;
	struct item *tail;
	int waiting; /* items in the list */
	int idle;
	int threads;
	int threads_max;
	bool waking; /* a thread was woken and has not looked at the list yet */
	bool closing;
};

static void destroy(struct ax_pool *p)
{
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->wake);
	free(p);
}

/* Whether to signal, after the lock is given back. One thread at a time is woken, and wakes the next when it finds more
 * than it takes: many short works are then done by a few threads, and long ones still get a thread each. */
static bool shall_wake(struct ax_pool *p)
{
	if (!p->head || p->idle == 0 || p->waking)
		return false;
	p->waking = true;
	return true;
}

static struct item *wait_for_item(struct ax_pool *p)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_S;
	p->idle++;
	int rc = 0;
	while (!p->head && !p->closing && rc == 0) {
		rc = pthread_cond_timedwait(&p->wake, &p->lock, &until);
		p->waking = false;
	}
	p->idle--;
	struct item *item = p->head;
	if (item) {
		p->head = item->next;
		p->waiting--;
		if (!p->head)
			p->tail = NULL;
	}
	return item;
}

static void *thread_main(void *arg)
{
	struct ax_pool *p = arg;
	pthread_mutex_lock(&p->lock);
	for (struct item *item; (item = wait_for_item(p));) {
		bool wake = shall_wake(p);
		pthread_mutex_unlock(&p->lock);
		if (wake)
			pthread_cond_signal(&p->wake);
		item->work(item->arg);
		free(item);
		pthread_mutex_lock(&p->lock);
	}
	bool last = --p->threads == 0 && p->closing;
	pthread_mutex_unlock(&p->lock);
	if (last)
		destroy(p);
	return NULL;
}

struct ax_pool *ax_pool_new(int threads_max)
{
	struct ax_pool *p = ax_malloc(sizeof(*p));
	p->threads_max = threads_max;
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	AX_ASSERT(pthread_mutex_init(&p->lock, NULL) == 0 && pthread_cond_init(&p->wake, &attr) == 0);
	pthread_condattr_destroy(&attr);
	return p;
}

static int add_thread(struct ax_pool *p)
{
	pthread_t thread;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	int rc = pthread_create(&thread, &attr, thread_main, p);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		p->threads++;
	return rc;
}

int ax_pool_run(struct ax_pool *p, void (*work)(void *arg), void *arg)
{
	struct item *item = ax_malloc(sizeof(*item));
	*item = (struct item){ .work = work, .arg = arg };
	pthread_mutex_lock(&p->lock);
	bool enough = p->waiting < p->idle || (p->threads_max && p->threads == p->threads_max);
	int rc = enough ? 0 : add_thread(p);
	if (rc == 0) {
		if (p->tail)
			p->tail->next = item;
		else
			p->head = item;
		p->tail = item;
		p->waiting++;
	}
	bool wake = shall_wake(p);
	pthread_mutex_unlock(&p->lock);
	if (wake)
		pthread_cond_signal(&p->wake);
	if (rc)
		free(item);
	return rc ? -1 : 0;
}

void ax_pool_close(struct ax_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->closing = true;
	pthread_cond_broadcast(&p->wake);
	bool last = p->threads == 0;
	pthread_mutex_unlock(&p->lock);
	if (last)
		destroy(p);
}
