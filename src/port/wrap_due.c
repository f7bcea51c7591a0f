#include "port/wrap_due.h"

#include <stdlib.h>
#include <string.h>

#include "port/tx_ops.h"

struct due_tx {
	struct ax_tx tx; /* what the function sees */
	struct ax_tx *inner;
	struct ax_due_store *due;
	ax_tx_fn fn;
	void *arg;
};

struct ax_queue_entry ax_due_of_task(const struct ax_task *task)
{
	return (struct ax_queue_entry){
		.member = { AX_MEMBER_TASK, task->id },
		.shard = ax_queue_shard(task->def.group_key),
		.due_ms = task->status == AX_TASK_ENABLED ? task->next_trigger_time : 0,
		.priority = task->def.priority,
	};
}

struct ax_queue_entry ax_due_of_run(const struct ax_run *run)
{
	bool waits = run->status == AX_RUN_PENDING || run->status == AX_RUN_RETRYING;
	return (struct ax_queue_entry){
		.member = { AX_MEMBER_RUN, run->gid },
		.shard = ax_queue_shard(run->group_key),
		.due_ms = waits ? run->deadline_time : 0,
		.priority = run->priority,
	};
}

static void note(struct due_tx *self, struct ax_queue_entry entry)
{
	struct ax_due_store *due = self->due;
	if (due->n == due->cap) {
		due->cap = due->cap == 0 ? 64 : due->cap * 2;
		due->at = ax_realloc(due->at, (size_t)due->cap * sizeof(due->at[0]));
	}
	due->at[due->n++] = entry;
}

/* A run that does not wait (any more) is left alone: whoever took its member drops it. */
static void note_run(struct due_tx *self, const struct ax_run *run)
{
	struct ax_queue_entry entry = ax_due_of_run(run);
	if (entry.due_ms > 0)
		note(self, entry);
}

/* Every operation is passed on; what some of them wrote is noted. */
#define OP(op)                                                                                                         \
	static enum ax_status pass_##op(struct ax_tx *tx AX_TX_PARAMS(op), struct ax_err *err)                         \
	{                                                                                                              \
		struct due_tx *self = (struct due_tx *)(void *)tx;                                                     \
		return self->inner->ops->op(self->inner AX_TX_PASS(op), err);                                          \
	}
AX_TX_OPS(OP)
#undef OP

static enum ax_status note_task_insert(
	struct ax_tx *tx, const struct ax_task *task, int64_t *ret_id, struct ax_err *err)
{
	struct ax_queue_entry entry = ax_due_of_task(task);
	enum ax_status status = pass_task_insert(tx, task, &entry.member.id, err);
	if (status != AX_OK)
		return status;
	*ret_id = entry.member.id;
	if (entry.due_ms > 0)
		note((struct due_tx *)(void *)tx, entry);
	return AX_OK;
}

static enum ax_status note_task_update(
	struct ax_tx *tx, const struct ax_task *task, int64_t old_version, int64_t old_next, struct ax_err *err)
{
	enum ax_status status = pass_task_update(tx, task, old_version, old_next, err);
	if (status == AX_OK)
		note((struct due_tx *)(void *)tx, ax_due_of_task(task));
	return status;
}

static enum ax_status note_task_advance(
	struct ax_tx *tx, const struct ax_task *task, int64_t old_next, struct ax_err *err)
{
	enum ax_status status = pass_task_advance(tx, task, old_next, err);
	if (status == AX_OK)
		note((struct due_tx *)(void *)tx, ax_due_of_task(task));
	return status;
}

static enum ax_status note_run_insert(struct ax_tx *tx, const struct ax_run *run, struct ax_err *err)
{
	enum ax_status status = pass_run_insert(tx, run, err);
	if (status == AX_OK)
		note_run((struct due_tx *)(void *)tx, run);
	return status;
}

static enum ax_status note_run_update(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err)
{
	enum ax_status status = pass_run_update(tx, run, old_rev, err);
	if (status == AX_OK)
		note_run((struct due_tx *)(void *)tx, run);
	return status;
}

static enum ax_status note_run_set_due(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err)
{
	enum ax_status status = pass_run_set_due(tx, run, old_rev, err);
	if (status == AX_OK)
		note_run((struct due_tx *)(void *)tx, run);
	return status;
}

static enum ax_status call(struct ax_tx *inner, void *arg, struct ax_err *err)
{
	struct due_tx *self = arg;
	self->tx.arena = inner->arena;
	self->inner = inner;
	self->due->n = 0; /* it may be begun again */
	return self->fn(&self->tx, self->arg, err);
}

static enum ax_status run(struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_due_store *due = (struct ax_due_store *)(void *)store;
	struct ax_tx_ops ops = {
#define OP(op) .op = pass_##op,
		AX_TX_OPS(OP)
#undef OP
	};
	ops.task_insert = note_task_insert;
	ops.task_update = note_task_update;
	ops.task_advance = note_task_advance;
	ops.run_insert = note_run_insert;
	ops.run_update = note_run_update;
	ops.run_set_due = note_run_set_due;
	struct due_tx self = { .tx = { .ops = &ops }, .due = due, .fn = fn, .arg = arg };
	due->n = 0;
	enum ax_status status = ax_store_run(due->inner, arena, call, &self, err);
	if ((status == AX_OK || status == AX_UNCERTAIN) && due->n > 0)
		due->told(due->user, due->at, due->n);
	return status;
}

void ax_due_store_init(struct ax_due_store *due, struct ax_store *inner,
	void (*told)(void *user, const struct ax_queue_entry *entries, int n), void *user)
{
	static const struct ax_store_ops ops = { run };
	*due = (struct ax_due_store){
		.store = { .ops = &ops, .sole = inner->sole }, .inner = inner, .told = told, .user = user
	};
}

void ax_due_store_done(struct ax_due_store *due)
{
	free(due->at);
	*due = (struct ax_due_store){ 0 };
}
