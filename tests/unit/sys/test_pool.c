/* The pool of threads for work that blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include "sys/pool.h"

enum { CROWD = 8, ROUNDS = 200, MANY = 20000 };

static pthread_barrier_t barrier;
static atomic_int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void count(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	done++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void meet(void *arg)
{
	pthread_barrier_wait(&barrier);
	count(arg);
}

static void wait_for(int n)
{
	pthread_mutex_lock(&lock);
	while (done < n)
		pthread_cond_wait(&changed, &lock);
	done = 0;
	pthread_mutex_unlock(&lock);
}

/* Works that wait for each other end only if each has a thread, however few were woken at first. */
static void test_each_has_a_thread(void **state)
{
	(void)state;
	struct ax_pool *pool = ax_pool_new(0);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, CROWD), 0);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < CROWD; i++)
			assert_int_equal(ax_pool_run(pool, meet, NULL), 0);
		wait_for(CROWD);
	}
	ax_pool_close(pool);
	pthread_barrier_destroy(&barrier);
}

static void test_all_are_done_by_few(void **state)
{
	(void)state;
	struct ax_pool *pool = ax_pool_new(2);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(ax_pool_run(pool, count, NULL), 0);
	wait_for(MANY);
	ax_pool_close(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_has_a_thread),
		cmocka_unit_test(test_all_are_done_by_few),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
