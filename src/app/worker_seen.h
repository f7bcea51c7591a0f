#ifndef AX_APP_WORKER_SEEN_H
#define AX_APP_WORKER_SEEN_H

#include "app/ctx.h"

/* An attempt that the worker shall end. */
struct ax_stop {
	int64_t gid, fence;
	const char *reason; /* cancel, lost, superseded */
	const char *worker; /* by ax_worker_stops */
};

/* The worker's row, if this is its current incarnation. AX_NOT_FOUND: unknown or left, it must register; AX_CONFLICT:
 * another incarnation took over. */
enum ax_status ax_worker_read(struct ax_tx *tx, const char *name, const char *incarnation, struct ax_worker *ret,
	struct ax_err *err) AX_MUST_USE;

/* The same of one of several workers that were read by name, each once. `ret` is its row among them. */
enum ax_status ax_worker_find(const struct ax_workers *workers, const char *name, const char *incarnation,
	const struct ax_worker **ret, struct ax_err *err) AX_MUST_USE;

/* A group's parts of workers and these workers' rows, both by name. */
enum ax_status ax_workers_of_group(struct ax_tx *tx, const char *group_key, struct ax_worker_groups *ret_parts,
	struct ax_workers *ret_workers, struct ax_err *err) AX_MUST_USE;

/* The worker's among parts that are by name; NULL: it has none. */
const struct ax_worker_group *ax_worker_part(const struct ax_worker_groups *parts, const char *worker);

/* Notes that a worker whose row was read has just been seen, at most every few seconds. In a transaction of its own:
 * who holds the row for longer holds everybody up who hears of the worker. Where it fails, the next message notes it.
 */
void ax_worker_seen(struct ax_ctx *ctx, const struct ax_worker *worker);

/* Has a person decided that it gets nothing, for now (draining) or until further notice (disabled)? */
bool ax_worker_is_stopped(const struct ax_worker *worker);

/* Does it speak to servers, and may it be given runs? */
bool ax_worker_is_online(const struct ax_worker *worker, int64_t now);

/* Is `name` one of the space-separated executor names? */
bool ax_worker_offers(const char *names, const char *name);

/* Does it offer the executor, and have the tags that are demanded? */
bool ax_worker_suits(const struct ax_worker *worker, const char *executor_key, const char *demand);

/* The attempts of the workers with these names, which ascend, that were asked to stop, marked as told; one worker's
 * after the other's. `ret` is NULL when there is none. */
enum ax_status ax_worker_stops(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_names *names, struct ax_stop **ret,
	int *ret_n, struct ax_err *err);

#endif
