#ifndef AX_APP_SHARD_SET_H
#define AX_APP_SHARD_SET_H

/* The shards of a parent as a set: which ones it gets, and how it ends by them. Decisions only; birth.c and change.c
 * write what follows. All functions work inside the caller's transaction.
 *
 * A broadcast has one shard for each worker that is online and offers the executor when the shards are made; a shard is
 * for its worker alone. A rerun of the failed shards has these, under their numbers and for the same workers. */

#include "app/ctx.h"

struct ax_shard_plan {
	int n;
	int64_t total; /* what the shards are told: numbers go up to it */
	struct {
		int64_t shard;
		const char *worker; /* the one that may have it, or "" */
	} * at;
	int64_t look_time; /* they cannot be made now, look again then; 0 = they can */
};

/* What shards a parent gets that nothing holds any more. Not now: while there is no worker for a broadcast, and when
 * the transaction made many already (what is planned counts). */
enum ax_status ax_shard_plan(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *parent, int64_t now,
	struct ax_shard_plan *ret, struct ax_err *err);

/* The columns of a parent that is RUNNING from now on. No worker holds it, so nobody renews a lease: the sweeper only
 * looks that all is as it should be. */
void ax_parent_begin(struct ax_run *parent, const struct ax_task_def *def, int64_t now);

/* The parent of a shard that has ended, locked, and whether it was the last: then also how the parent ends, which is
 * written into its result and cancel columns. */
struct ax_parent_end {
	bool over;
	enum ax_run_event event;
	const char *reason;
};
enum ax_status ax_parent_judge(struct ax_ctx *ctx, struct ax_tx *tx, int64_t gid, struct ax_run *ret_parent,
	struct ax_parent_end *ret, struct ax_err *err);

#endif
