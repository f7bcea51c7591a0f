#include "app/chain_edit.h"

#include <inttypes.h>
#include <string.h>

#include "core/limits.h"

enum { EDGES_MAX = AX_CHAIN_TASKS_MAX * 10, NAMED_MAX = 5 };

/* What hangs together with a task, walked outwards from it. */
struct walk {
	struct ax_tx *tx;
	struct ax_chain chain;
	struct ax_err *err;
};

/* The place of the task, which is new when it was not met before; -1 = there are too many. */
static int place_of(struct walk *w, int64_t id)
{
	for (int i = 0; i < w->chain.n_tasks; i++)
		if (w->chain.tasks[i].id == id)
			return i;
	if (w->chain.n_tasks == AX_CHAIN_TASKS_MAX)
		return -1;
	w->chain.tasks[w->chain.n_tasks].id = id;
	return w->chain.n_tasks++;
}

/* Every edge is met from its task, once. */
static enum ax_status add_edges(struct walk *w, int at, const struct ax_upstreams *rows, bool from_task)
{
	for (int i = 0; i < rows->n; i++) {
		int other = place_of(w, from_task ? rows->at[i].upstream_id : rows->at[i].task_id);
		if (other < 0 || w->chain.n_edges == EDGES_MAX)
			return ax_fail(w->err, AX_INVALID, "upstreams",
				"more than %d tasks would hang together in one chain", AX_CHAIN_TASKS_MAX);
		if (!from_task)
			continue;
		w->chain.edges[w->chain.n_edges].upstream = other;
		w->chain.edges[w->chain.n_edges++].task = at;
	}
	return AX_OK;
}

static enum ax_status visit(struct walk *w, int at)
{
	struct ax_task task;
	struct ax_upstreams up, down;
	int64_t id = w->chain.tasks[at].id;
	enum ax_status status = w->tx->ops->task_get(w->tx, id, false, &task, w->err);
	if (status == AX_OK)
		status = w->tx->ops->upstreams_of(w->tx, id, &up, w->err);
	if (status == AX_OK)
		status = w->tx->ops->downstreams_of(w->tx, id, &down, w->err);
	if (status != AX_OK)
		return status;
	w->chain.tasks[at].joins = task.def.join_all;
	status = add_edges(w, at, &up, true);
	return status == AX_OK ? add_edges(w, at, &down, false) : status;
}

static enum ax_status check_shape(struct ax_ctx *ctx, struct ax_tx *tx, int64_t task_id, struct ax_err *err)
{
	struct walk w = { .tx = tx, .err = err };
	w.chain.tasks = ax_alloc_array(ctx->arena, AX_CHAIN_TASKS_MAX, sizeof(*w.chain.tasks));
	w.chain.edges = ax_alloc_array(ctx->arena, EDGES_MAX, sizeof(*w.chain.edges));
	enum ax_status status = AX_OK;
	place_of(&w, task_id);
	for (int at = 0; status == AX_OK && at < w.chain.n_tasks; at++)
		status = visit(&w, at);
	return status == AX_OK ? ax_chain_check(&w.chain, 0, ctx->arena, err) : status;
}

static enum ax_status add_upstream(struct ax_tx *tx, int64_t task_id, int64_t upstream_id, struct ax_err *err)
{
	struct ax_task upstream;
	struct ax_upstreams downstreams;
	if (upstream_id == task_id)
		return ax_fail(err, AX_INVALID, "upstreams", "a task cannot be its own upstream");
	/* locked: an end of its runs goes down the chain as it is before this, or as it is afterwards */
	enum ax_status status = tx->ops->task_get(tx, upstream_id, true, &upstream, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_INVALID, "upstreams", "there is no task %" PRId64, upstream_id);
	if (status == AX_OK && upstream.status == AX_TASK_DELETING)
		return ax_fail(err, AX_INVALID, "upstreams", "task %" PRId64 " is being deleted", upstream_id);
	if (status == AX_OK)
		status = tx->ops->downstreams_of(tx, upstream_id, &downstreams, err);
	if (status == AX_OK && downstreams.n >= AX_DOWNSTREAMS_MAX)
		return ax_fail(err, AX_INVALID, "upstreams", "task %" PRId64 " has %d downstreams already", upstream_id,
			downstreams.n);
	if (status == AX_OK)
		status = tx->ops->upstream_insert(
			tx, &(struct ax_upstream){ .task_id = task_id, .upstream_id = upstream_id }, err);
	if (status == AX_EXISTS)
		return ax_fail(err, AX_INVALID, "upstreams", "task %" PRId64 " is named twice", upstream_id);
	return status;
}

/* Chains are changed one at a time, in the whole store: two changes that do not see each other could close a circle. */
static enum ax_status lock_chains(struct ax_tx *tx, struct ax_err *err)
{
	struct ax_lease lock = { .name = "chain_edits" };
	enum ax_status status = tx->ops->lease_get(tx, lock.name, true, &lock, err);
	if (status == AX_NOT_FOUND)
		status = tx->ops->lease_insert(tx, &lock, err);
	return status == AX_EXISTS ? tx->ops->lease_get(tx, lock.name, true, &lock, err) : status;
}

/* Those that it does not name any more as well. */
static enum ax_status lock_old_upstreams(struct ax_tx *tx, int64_t task_id, struct ax_err *err)
{
	struct ax_upstreams old;
	struct ax_task upstream;
	enum ax_status status = tx->ops->upstreams_of(tx, task_id, &old, err);
	for (int i = 0; status == AX_OK && i < old.n; i++) {
		status = tx->ops->task_get(tx, old.at[i].upstream_id, true, &upstream, err);
		status = status == AX_NOT_FOUND ? AX_OK : status;
	}
	return status;
}

enum ax_status ax_chain_save(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	int64_t ids[AX_UPSTREAMS_MAX];
	int n = ax_ids_read(task->def.upstreams, ids, AX_UPSTREAMS_MAX);
	enum ax_status status = n > 0 ? lock_chains(tx, err) : AX_OK;
	if (status == AX_OK)
		status = lock_old_upstreams(tx, task->id, err);
	if (status == AX_OK)
		status = tx->ops->upstreams_delete(tx, task->id, err);
	for (int i = 0; status == AX_OK && i < n; i++)
		status = add_upstream(tx, task->id, ids[i], err);
	return status == AX_OK && n > 0 ? check_shape(ctx, tx, task->id, err) : status;
}

enum ax_status ax_chain_refuse_delete(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_err *err)
{
	struct ax_upstreams downstreams;
	const char *names = "";
	enum ax_status status = tx->ops->downstreams_of(tx, task->id, &downstreams, err);
	for (int i = 0; status == AX_OK && i < AX_MIN(downstreams.n, NAMED_MAX); i++) {
		struct ax_task downstream;
		status = tx->ops->task_get(tx, downstreams.at[i].task_id, false, &downstream, err);
		if (status == AX_OK)
			names = ax_sprintf(ctx->arena, "%s%s%.40s (%" PRId64 ")", names, i > 0 ? ", " : "",
				downstream.def.task_name, downstream.id);
	}
	if (status != AX_OK || downstreams.n == 0)
		return status;
	return ax_fail(err, AX_CONFLICT, "id", "%d tasks name it as their upstream: %s%s; change them first",
		downstreams.n, names, downstreams.n > NAMED_MAX ? ", …" : "");
}
