#include "app/chain.h"

#include <inttypes.h>
#include <string.h>

#include "app/birth.h"
#include "core/chain.h"
#include "core/limits.h"

/* One end, one downstream task. */
struct judging {
	struct ax_ctx *ctx;
	struct ax_tx *tx;
	const struct ax_task *upstream;
	const struct ax_run *ended;
	int64_t now;
	struct ax_link *link;
	struct ax_err *err;
};

static bool succeeded(const struct ax_run *run)
{
	return run->status == AX_RUN_SUCCESS;
}

static int64_t batch_of(const struct ax_run *run)
{
	return run->batch != 0 ? run->batch : run->gid; /* rows from before there were batches */
}

static void make_run(struct judging *j, const char *key)
{
	j->link->run = ax_run_make(j->ctx, &j->link->task, AX_KIND_CHAIN, key, j->now, j->now);
	j->link->run.batch = batch_of(j->ended);
	j->link->run.trace_id = j->ended->trace_id;
}

/* The run will not be, because of the end that is looked at. */
static void block(struct judging *j, enum ax_link_kind kind)
{
	j->link->kind = kind;
	j->link->reason = "upstream";
	j->link->run.blocked_by = j->ended->gid;
	j->link->run.result_msg = ax_sprintf(j->ctx->arena, "run %" PRId64 " of %s ended as %s", j->ended->gid,
		j->upstream->def.task_name, ax_run_state_name(j->ended->status));
}

static enum ax_status keep(struct ax_tx *tx, int64_t gid, const struct ax_run *ended, struct ax_err *err)
{
	struct ax_run_upstream row = {
		.gid = gid,
		.upstream_id = ended->task_id,
		.upstream_gid = ended->gid,
		.upstream_status = ended->status,
	};
	return tx->ops->run_upstream_put(tx, &row, err);
}

enum ax_status ax_chain_copy(struct ax_tx *tx, int64_t from_gid, int64_t to_gid, struct ax_err *err)
{
	struct ax_run_upstreams rows;
	enum ax_status status = tx->ops->run_upstreams(tx, from_gid, &rows, err);
	for (int i = 0; status == AX_OK && i < rows.n; i++) {
		rows.at[i].gid = to_gid;
		status = tx->ops->run_upstream_put(tx, &rows.at[i], err);
	}
	return status;
}

/* ---- any: a run for each end */

static enum ax_status judge_any(struct judging *j)
{
	make_run(j, ax_sprintf(j->ctx->arena, "%" PRId64, j->ended->gid));
	if (succeeded(j->ended))
		j->link->kind = AX_LINK_START;
	else
		block(j, AX_LINK_BLOCKED);
	return keep(j->tx, j->link->run.gid, j->ended, j->err);
}

/* ---- all: a run for each batch */

/* The first run of a batch has the key "b" and the batch. When that is BLOCKED, a rerun of an upstream may complete the
 * batch after all: then it has a second run, ".2", and so on. Only the newest may not be BLOCKED. */
static const char *join_key(struct ax_arena *arena, int64_t batch, int number)
{
	return number == 1 ? ax_sprintf(arena, "b%" PRId64, batch)
			   : ax_sprintf(arena, "b%" PRId64 ".%d", batch, number);
}

/* The newest run of the batch; *ret_number 0 = none. Behind one that is not BLOCKED there is no other. */
static enum ax_status find_join(
	struct ax_tx *tx, int64_t task_id, int64_t batch, struct ax_run *ret, int *ret_number, struct ax_err *err)
{
	struct ax_run run = { .status = AX_RUN_BLOCKED };
	enum ax_status status = AX_OK;
	for (*ret_number = 0; status == AX_OK && run.status == AX_RUN_BLOCKED; *ret_number += status == AX_OK) {
		const char *key = join_key(tx->arena, batch, *ret_number + 1);
		status = tx->ops->run_find(tx, task_id, AX_KIND_CHAIN, key, 0, &run, err);
		if (status == AX_OK)
			*ret = run;
	}
	return status == AX_NOT_FOUND ? AX_OK : status;
}

/* Did the task name the upstream until its row was locked? Who changes that locks the upstream's row too. */
static bool is_upstream(const struct ax_task *task, int64_t upstream_id)
{
	int64_t ids[AX_UPSTREAMS_MAX];
	int n = ax_ids_read(task->def.upstreams, ids, AX_UPSTREAMS_MAX);
	for (int i = 0; i < n; i++)
		if (ids[i] == upstream_id)
			return true;
	return false;
}

static bool has_succeeded(const struct ax_run_upstreams *known, int64_t upstream_id)
{
	for (int i = 0; i < known->n; i++)
		if (known->at[i].upstream_id == upstream_id)
			return known->at[i].upstream_status == AX_RUN_SUCCESS;
	return false;
}

/* How many of the task's upstreams a run has seen succeed, `now_id` as well, of *ret_all. */
static int count_succeeded(
	const struct ax_task *task, const struct ax_run_upstreams *known, int64_t now_id, int *ret_all)
{
	int64_t ids[AX_UPSTREAMS_MAX];
	int n = 0;
	*ret_all = ax_ids_read(task->def.upstreams, ids, AX_UPSTREAMS_MAX);
	for (int i = 0; i < *ret_all; i++)
		n += ids[i] == now_id || has_succeeded(known, ids[i]);
	return n;
}

enum lesson { NOTHING_NEW, INCOMPLETE, COMPLETE, HOPELESS };

/* What the end teaches a join that knows of those. Once an upstream has succeeded in a batch, no later run of it in the
 * batch undoes that. */
static enum ax_status learn(struct judging *j, int64_t gid, const struct ax_run_upstreams *known, enum lesson *ret)
{
	int all, n = count_succeeded(&j->link->task, known, j->ended->task_id, &all);
	*ret = NOTHING_NEW;
	if (!succeeded(j->ended) && has_succeeded(known, j->ended->task_id))
		return AX_OK;
	*ret = !succeeded(j->ended) ? HOPELESS : n == all ? COMPLETE : INCOMPLETE;
	return keep(j->tx, gid, j->ended, j->err);
}

static enum ax_status learn_more(struct judging *j, int64_t gid, enum lesson *ret)
{
	struct ax_run_upstreams known;
	enum ax_status status = j->tx->ops->run_upstreams(j->tx, gid, &known, j->err);
	return status == AX_OK ? learn(j, gid, &known, ret) : status;
}

/* The first end of the batch. */
static enum ax_status begin_join(struct judging *j)
{
	static const struct ax_run_upstreams nothing;
	enum lesson lesson;
	make_run(j, join_key(j->ctx->arena, batch_of(j->ended), 1));
	enum ax_status status = learn(j, j->link->run.gid, &nothing, &lesson);
	if (lesson == HOPELESS) {
		block(j, AX_LINK_BLOCKED);
	} else if (lesson == COMPLETE) {
		j->link->kind = AX_LINK_START;
	} else {
		j->link->kind = AX_LINK_WAIT;
		j->link->run.deadline_time = j->now + j->link->task.def.join_deadline_seconds * 1000;
	}
	return status;
}

static enum ax_status go_on_joining(struct judging *j, const struct ax_run *join)
{
	enum lesson lesson = NOTHING_NEW;
	enum ax_status status = learn_more(j, join->gid, &lesson);
	j->link->run = *join;
	if (lesson == HOPELESS)
		block(j, AX_LINK_BLOCK);
	else if (lesson == COMPLETE)
		j->link->kind = AX_LINK_DUE;
	return status;
}

/* The batch was given up. It is taken up again when all its upstreams have succeeded in the end; after the deadline
 * only when somebody had an upstream run again. */
static enum ax_status complete_later(struct judging *j, const struct ax_run *blocked, int number)
{
	enum lesson lesson = NOTHING_NEW;
	enum ax_status status = learn_more(j, blocked->gid, &lesson);
	bool too_late = blocked->blocked_by == 0 && j->ended->rerun_of == 0;
	if (status != AX_OK || lesson != COMPLETE || too_late)
		return status;
	make_run(j, join_key(j->ctx->arena, batch_of(j->ended), number + 1));
	j->link->kind = AX_LINK_START;
	return ax_chain_copy(j->tx, blocked->gid, j->link->run.gid, j->err);
}

static enum ax_status judge_all(struct judging *j)
{
	struct ax_run join;
	int number;
	enum ax_status status = find_join(j->tx, j->link->task.id, batch_of(j->ended), &join, &number, j->err);
	if (status != AX_OK)
		return status;
	if (number == 0)
		return begin_join(j);
	status = j->tx->ops->run_get(j->tx, join.gid, true, &join, j->err); /* its deadline may be swept meanwhile */
	if (status != AX_OK)
		return status;
	if (join.status == AX_RUN_PENDING)
		return go_on_joining(j, &join);
	if (join.status == AX_RUN_BLOCKED)
		return complete_later(j, &join, number);
	return AX_OK; /* once for each batch: it has its run */
}

enum ax_status ax_chain_judge(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *upstream,
	const struct ax_run *ended, int64_t downstream_id, int64_t now, struct ax_link *ret, struct ax_err *err)
{
	struct judging j = {
		.ctx = ctx, .tx = tx, .upstream = upstream, .ended = ended, .now = now, .link = ret, .err = err
	};
	*ret = (struct ax_link){ .kind = AX_LINK_NONE };
	enum ax_status status = tx->ops->task_get(tx, downstream_id, true, &ret->task, err);
	if (status != AX_OK || ret->task.status == AX_TASK_CREATED || /* a draft takes no part yet */
		ret->task.status == AX_TASK_DELETING || !is_upstream(&ret->task, upstream->id))
		return status;
	return ret->task.def.join_all ? judge_all(&j) : judge_any(&j);
}

enum ax_status ax_chain_judge_again(struct ax_tx *tx, const struct ax_task *task, const struct ax_run *join,
	struct ax_link *ret, struct ax_err *err)
{
	struct ax_run_upstreams known;
	enum ax_status status = tx->ops->run_upstreams(tx, join->gid, &known, err);
	*ret = (struct ax_link){ .kind = AX_LINK_NONE, .task = *task, .run = *join };
	if (status != AX_OK)
		return status;
	int all, n = count_succeeded(task, &known, 0, &all);
	if (all == 0) {
		ret->kind = AX_LINK_BLOCK;
		ret->reason = "no_upstreams";
		ret->run.result_msg = "its task was changed and has no upstreams any more";
	} else if (n == all || (n > 0 && !task->def.join_all)) {
		ret->kind = AX_LINK_DUE;
	}
	return AX_OK;
}

/* ---- for those who look */

enum ax_status ax_chain_find(struct ax_tx *tx, const struct ax_run *upstream, const struct ax_task *downstream,
	struct ax_run *ret, struct ax_err *err)
{
	int number;
	if (!downstream->def.join_all)
		return tx->ops->run_find(tx, downstream->id, AX_KIND_CHAIN,
			ax_sprintf(tx->arena, "%" PRId64, upstream->gid), 0, ret, err);
	enum ax_status status = find_join(tx, downstream->id, batch_of(upstream), ret, &number, err);
	return status == AX_OK && number == 0 ? AX_NOT_FOUND : status;
}

enum ax_status ax_chain_tell(struct ax_tx *tx, const struct ax_run *run, struct ax_tolds *ret, struct ax_err *err)
{
	struct ax_run_tolds rows;
	size_t room = AX_UPSTREAM_RESULTS_MAX;
	ret->n = 0;
	if (run->kind != AX_KIND_CHAIN && run->rerun_of == 0)
		return AX_OK;
	enum ax_status status = tx->ops->run_told(tx, run->parent != 0 ? run->parent : run->gid, &rows, err);
	if (status != AX_OK)
		return status;
	ret->at = ax_alloc_array(tx->arena, (size_t)rows.n + 1, sizeof(*ret->at));
	for (; ret->n < rows.n; ret->n++) {
		const struct ax_run_told *row = &rows.at[ret->n];
		size_t len = strlen(row->result);
		bool fits = len <= room;
		room -= fits ? len : 0;
		ret->at[ret->n] = (struct ax_told){
			.task_id = row->upstream_id,
			.task_name = row->task_name,
			.gid = row->upstream_gid,
			.status = row->upstream_status,
			.result = fits ? row->result : "",
			.omitted = !fits,
		};
	}
	return AX_OK;
}
