#include "app/taken.h"

#include "app/birth.h"
#include "app/tick.h"
#include "base/err.h"
#include "core/limits.h"
#include "port/ids.h"
#include "port/wrap_due.h"

struct pass {
	struct ax_ctx *ctx;
	int64_t now;
	int shard;
	struct ax_ids tasks, runs;
	struct ax_queue_entry *entries;
	int n;
	int64_t enough; /* runs written: the others stay due, and are taken again */
};

static struct ax_ids ids_of(struct ax_ctx *ctx, const struct ax_member *members, int n, enum ax_member_kind kind)
{
	int64_t *at = ax_alloc_array(ctx->arena, (size_t)n + 1, sizeof(*at));
	int found = 0;
	for (int i = 0; i < n; i++)
		if (members[i].kind == kind)
			at[found++] = members[i].id;
	return ax_ids_sort(at, found);
}

/* Where the member belongs; one that stands in a shard that is not its group's leaves that. */
static void keep(struct pass *pass, struct ax_queue_entry entry)
{
	if (entry.shard != pass->shard)
		pass->entries[pass->n++] = (struct ax_queue_entry){ entry.member, pass->shard, 0, 0 };
	pass->entries[pass->n++] = entry;
}

static void drop(struct pass *pass, enum ax_member_kind kind, int64_t id)
{
	keep(pass, (struct ax_queue_entry){ { kind, id }, pass->shard, 0, 0 });
}

/* Another transaction holds the row. It tells what becomes of the member if it writes the row, but it may only read it,
 * as a report does with the task: so it is soon looked at again. */
static void look_again(struct pass *pass, struct ax_queue_entry entry)
{
	if (entry.due_ms == 0)
		return;
	entry.due_ms = AX_MAX(entry.due_ms, pass->now + AX_BUSY_MS);
	keep(pass, entry);
}

static enum ax_status do_tasks(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_tasks tasks;
	struct ax_task other;
	enum ax_status status = tx->ops->tasks_by_id(tx, &pass->tasks, &tasks, err);
	int at = 0;
	for (int i = 0; status == AX_OK && i < pass->tasks.n; i++) {
		struct ax_task *task = at < tasks.n && tasks.at[at].id == pass->tasks.at[i] ? &tasks.at[at++] : NULL;
		if (task == NULL) {
			status = tx->ops->task_get(tx, pass->tasks.at[i], false, &other, err);
			if (status == AX_OK)
				look_again(pass, ax_due_of_task(&other));
			else if (status == AX_NOT_FOUND)
				drop(pass, AX_MEMBER_TASK, pass->tasks.at[i]);
			status = status == AX_NOT_FOUND ? AX_OK : status;
			continue;
		}
		bool due = task->status == AX_TASK_ENABLED && task->next_trigger_time != 0 &&
			task->next_trigger_time <= pass->now;
		if (due && pass->ctx->written < pass->enough)
			status = ax_tick_task(pass->ctx, tx, task, pass->now, err);
		keep(pass, ax_due_of_task(task));
	}
	return status;
}

static bool waits_until_now(const struct ax_run *run, int64_t now)
{
	int64_t due = ax_due_of_run(run).due_ms;
	return due != 0 && due <= now;
}

static enum ax_status do_runs(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_runs runs;
	struct ax_run other;
	enum ax_status status = tx->ops->runs_by_gid(tx, &pass->runs, &runs, err);
	int at = 0;
	for (int i = 0; status == AX_OK && i < pass->runs.n; i++) {
		struct ax_run *run = at < runs.n && runs.at[at].gid == pass->runs.at[i] ? &runs.at[at++] : NULL;
		if (run == NULL) {
			status = tx->ops->run_get(tx, pass->runs.at[i], false, &other, err);
			if (status == AX_OK)
				look_again(pass, ax_due_of_run(&other));
			else if (status == AX_NOT_FOUND)
				drop(pass, AX_MEMBER_RUN, pass->runs.at[i]);
			status = status == AX_NOT_FOUND ? AX_OK : status;
			continue;
		}
		if (i > 0 || pass->tasks.n > 0) /* what was done before it may have gone down a chain to this one */
			status = tx->ops->run_get(tx, run->gid, true, run, err);
		if (status == AX_OK && waits_until_now(run, pass->now) && pass->ctx->written < pass->enough)
			status = ax_tick_run(pass->ctx, tx, run, pass->now, err);
		keep(pass, ax_due_of_run(run));
	}
	return status;
}

static enum ax_status do_all(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	pass->n = 0;
	pass->enough = pass->ctx->written + AX_SWEEP_WRITES;
	enum ax_status status = do_tasks(pass, tx, err);
	return status == AX_OK ? do_runs(pass, tx, err) : status;
}

enum ax_status ax_taken_do(struct ax_ctx *ctx, int shard, const struct ax_member *members, int n,
	struct ax_queue_entry *ret, int *ret_n, struct ax_err *err)
{
	AX_ASSERT(n <= AX_QUEUE_TAKE_MAX);
	struct pass pass = {
		.ctx = ctx,
		.now = ax_now_ms(ctx->clock),
		.shard = shard,
		.tasks = ids_of(ctx, members, n, AX_MEMBER_TASK),
		.runs = ids_of(ctx, members, n, AX_MEMBER_RUN),
		.entries = ret,
	};
	*ret_n = 0;
	enum ax_status status = ax_gids_ensure(ctx, err);
	if (status == AX_OK)
		status = ax_store_run(ctx->store, ctx->arena, do_all, &pass, err);
	if (status == AX_OK)
		*ret_n = pass.n;
	return status;
}
