#ifndef AX_SYS_POOL_H
#define AX_SYS_POOL_H

/* Threads for work that blocks. One is made when work arrives and none is idle, as long as there are fewer than the
 * limit (then work waits its turn); one without work for half a minute ends. */

struct ax_pool;

struct ax_pool *ax_pool_new(int threads_max); /* 0 = as many as there is work */
/* Runs work(arg) on a thread. 0, or -1 when no thread can be had. */
int ax_pool_run(struct ax_pool *pool, void (*work)(void *arg), void *arg);
/* Ends idle threads and frees the pool; a thread that still works ends, alone, after its work. */
void ax_pool_close(struct ax_pool *pool);

#endif
