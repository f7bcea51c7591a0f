#ifndef AXW_POOL_H
#define AXW_POOL_H

/* Threads for functions. One is made when work arrives and none is idle (how many work at once is the caller's
 * business: a group's pool size), and ends after half a minute without work. */

struct axw_pool;

struct axw_pool *axw_pool_new(void);
/* Runs work(arg) on a thread. 0, or -1 when no thread can be had. */
int axw_pool_run(struct axw_pool *pool, void (*work)(void *arg), void *arg);
/* Ends idle threads and frees the pool; a thread that still works ends, alone, after its work. */
void axw_pool_close(struct axw_pool *pool);

#endif
