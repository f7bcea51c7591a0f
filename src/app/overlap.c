#include "app/overlap.h"

#include "core/limits.h"
#include "core/rule.h"

/* How many runs of a task may be live at once. */
static int64_t most_live(const struct ax_task *task)
{
	return task->def.overlap == AX_OVERLAP_ALLOW ? task->def.overlap_max : 1;
}

enum ax_status ax_overlap_room(struct ax_tx *tx, const struct ax_task *task, bool *ret, struct ax_err *err)
{
	int64_t live;
	enum ax_status status = tx->ops->runs_live_count(tx, task->id, (int)most_live(task), &live, err);
	if (status == AX_OK)
		*ret = live < most_live(task);
	return status;
}

/* Waits and was never given out, nor made into shards. */
static bool is_fresh(const struct ax_run *run)
{
	return run->status == AX_RUN_WAITING && run->fence == 0;
}

/* Overlap `queue`: the fire joins the run that waits, if one does. What a run stands for is a range of fires, so it can
 * only grow by the fire that follows: when others were skipped or missed in between, the fire waits as a run of its
 * own. */
static struct ax_run *find_waiting(const struct ax_task *task, const struct ax_runs *live)
{
	for (int i = live->n - 1; i >= 0; i--) {
		struct ax_run *run = &live->at[i];
		if (is_fresh(run) && run->kind == AX_KIND_SCHEDULE && !run->made_up &&
			AX_MAX(run->covers_to, ax_run_fire(run)) == task->last_trigger_time)
			return run;
	}
	return NULL;
}

/* The fate of a fire beside the live runs, no room being left. */
static struct ax_fate judge_beside(
	const struct ax_task *task, const struct ax_run *run, struct ax_runs live, int64_t now)
{
	struct ax_fate fate = { .kind = AX_FATE_HOLD, .live = live };
	bool made_up_each = task->def.misfire == AX_MISFIRE_FIRE_ALL && run->trigger_time < now - AX_LATE_MS;
	switch (task->def.overlap) {
	case AX_OVERLAP_QUEUE:
	case AX_OVERLAP_ALLOW:
		fate.beside = made_up_each || run->kind != AX_KIND_SCHEDULE ? NULL : find_waiting(task, &fate.live);
		if (fate.beside != NULL)
			fate.kind = AX_FATE_JOIN;
		return fate;
	case AX_OVERLAP_SKIP:
		fate.beside = &fate.live.at[live.n - 1];
		fate.kind = AX_FATE_SKIP;
		return fate;
	case AX_OVERLAP_REPLACE:
		fate.kind = AX_FATE_REPLACE;
		return fate;
	}
	ax_die(__FILE__, __LINE__, "unknown overlap rule");
}

/* The runs that a new one would stand beside: a batch of those that are held, then those that are not. */
static enum ax_status list_beside(struct ax_tx *tx, const struct ax_task *task, struct ax_runs *ret, struct ax_err *err)
{
	struct ax_runs held, live = { 0 };
	enum ax_status status = tx->ops->runs_held(tx, task->id, AX_BATCH, &held, err);
	if (status == AX_OK)
		status = tx->ops->runs_live(tx, task->id, true, (int)most_live(task) + AX_BATCH, &live, err);
	if (status != AX_OK)
		return status;
	*ret = (struct ax_runs){ ax_alloc_array(tx->arena, (size_t)(held.n + live.n) + 1, sizeof(*ret->at)), 0 };
	for (; ret->n < held.n + live.n; ret->n++)
		ret->at[ret->n] = ret->n < held.n ? held.at[ret->n] : live.at[ret->n - held.n];
	return AX_OK;
}

enum ax_status ax_overlap_judge(struct ax_tx *tx, const struct ax_task *task, const struct ax_run *run, int64_t now,
	struct ax_fate *ret, struct ax_err *err)
{
	struct ax_runs beside;
	bool room;
	*ret = (struct ax_fate){ .kind = AX_FATE_RUN };
	enum ax_status status = ax_overlap_room(tx, task, &room, err);
	if (status != AX_OK || room)
		return status;
	status = list_beside(tx, task, &beside, err);
	if (status == AX_OK)
		*ret = judge_beside(task, run, beside, now);
	return status;
}

enum ax_hold ax_hold_of(const struct ax_task *task, const struct ax_run *run, bool room)
{
	if (!room)
		return AX_HOLD_OVERLAP;
	if (task->status == AX_TASK_DELETING || (task->status == AX_TASK_PAUSED && run->kind != AX_KIND_MANUAL))
		return AX_HOLD_PAUSED;
	return ax_run_is_parent(run) ? AX_HOLD_SPREAD : AX_HOLD_NONE;
}

void ax_hold_set(struct ax_run *run, enum ax_hold hold, int64_t now)
{
	bool watched = hold == AX_HOLD_NONE && ax_run_is_pinned(run);
	run->hold = hold;
	run->ready_time = hold == AX_HOLD_NONE ? now : 0;
	run->deadline_time = hold == AX_HOLD_SPREAD ? now : watched ? now + AX_LEASE_MS : 0;
	run->limit_time = 0;
}

enum ax_status ax_release_held(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_runs held;
	enum ax_status status = AX_OK;
	bool room;
	for (int released = 0; status == AX_OK && released < AX_BATCH; released++) {
		status = tx->ops->runs_held(tx, task->id, 1, &held, err);
		if (status == AX_OK && held.n > 0)
			status = ax_overlap_room(tx, task, &room, err);
		if (status != AX_OK || held.n == 0 || !room)
			return status;
		ax_hold_set(held.at, ax_hold_of(task, held.at, true), now);
		status = tx->ops->run_update(tx, held.at, held.at->rev, err);
		ctx->notify->ops->run_changed(ctx->notify, held.at);
		ctx->notify->ops->group_ready(ctx->notify, held.at->group_key);
	}
	return status;
}

enum ax_status ax_hold_beyond(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_runs live;
	int64_t n, room = most_live(task);
	enum ax_status status = tx->ops->runs_live_count(tx, task->id, (int)room + 1, &n, err);
	if (status != AX_OK || n <= room)
		return status;
	status = tx->ops->runs_live(tx, task->id, true, INT32_MAX, &live, err);
	for (int i = 0; status == AX_OK && i < live.n; i++)
		if (!is_fresh(&live.at[i]))
			room--;
	for (int i = 0; status == AX_OK && i < live.n; i++) {
		if (!is_fresh(&live.at[i]) || room-- > 0)
			continue;
		ax_hold_set(&live.at[i], AX_HOLD_OVERLAP, now);
		status = tx->ops->run_update(tx, &live.at[i], live.at[i].rev, err);
		ctx->notify->ops->run_changed(ctx->notify, &live.at[i]);
	}
	return status;
}
