#ifndef AX_APP_TAKEN_H
#define AX_APP_TAKEN_H

/* What a due queue gave out: the rows decide what is to be done. */

#include "app/ctx.h"
#include "port/queue.h"

enum { AX_TAKEN_ENTRIES_MAX = 2 * AX_QUEUE_TAKE_MAX };

/* Does what is due of these members of a shard, in one transaction. `ret` (room for AX_TAKEN_ENTRIES_MAX) says where
 * each of them belongs now, by its row: for ax_feed_changed, after the commit. Members whose rows others hold are left
 * out: they show themselves again. */
enum ax_status ax_taken_do(struct ax_ctx *ctx, int shard, const struct ax_member *members, int n,
	struct ax_queue_entry *ret, int *ret_n, struct ax_err *err) AX_MUST_USE;

#endif
