#ifndef AX_APP_SHARDS_H
#define AX_APP_SHARDS_H

/* What the sweeper does for sharded runs and broadcasts (docs/shards.md): a parent, which no worker gets, and its
 * shards, which live like other runs.
 *
 * Birth makes parent and shards in one transaction when nothing holds the parent; otherwise the shards are made here,
 * in the transaction in which the parent becomes RUNNING. change.c ends a parent in the transaction that ends the last
 * of its shards. All functions work inside the caller's transaction. */

#include "app/ctx.h"

/* Of a WAITING parent that is held for nothing but its shards: makes them, or sets when to look again. */
enum ax_status ax_shards_make(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *parent, int64_t now, struct ax_err *err);

/* At a RUNNING parent, of which the row may be older than the transaction's own changes. */
enum ax_status ax_shards_look(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *parent, int64_t now, struct ax_err *err);

/* At a WAITING shard that one worker alone may have. It ends as TIMEOUT when the worker was not there for a lease, and
 * one more for each lost attempt that the task allows. */
enum ax_status ax_shard_look(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *shard, int64_t now, struct ax_err *err);

#endif
