#include "app/fire.h"

#include <inttypes.h>

#include "app/birth.h"
#include "app/change.h"
#include "app/overlap.h"
#include "app/schedule_next.h"
#include "core/limits.h"

static const char *fire_key(struct ax_ctx *ctx, int64_t fire)
{
	return ax_sprintf(ctx->arena, "%" PRId64, fire);
}

/* Adds fires to those a run stands for. */
static void cover(struct ax_run *run, int64_t from, int64_t to, int64_t count)
{
	run->covers_from = run->covers_count == 0 ? from : AX_MIN(run->covers_from, from);
	run->covers_to = AX_MAX(run->covers_to, to);
	run->covers_count += count;
}

/* Counts the fire, and those it stands for, on a run that waits. */
static enum ax_status join(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *waiting, const struct ax_run *run, struct ax_err *err)
{
	if (run->covers_count > 0)
		cover(waiting, run->covers_from, run->covers_to, run->covers_count);
	cover(waiting, ax_run_fire(run), ax_run_fire(run), 1);
	enum ax_status status = tx->ops->run_update(tx, waiting, waiting->rev, err);
	ctx->notify->ops->run_changed(ctx->notify, waiting);
	return status;
}

/* One fire that is not too old: a run of its own, or counted on another, or skipped, by the overlap rule. `run` may
 * already stand for late fires. */
static enum ax_status fire_one(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_run *run,
	int64_t now, struct ax_err *err)
{
	struct ax_fate fate;
	enum ax_status status = ax_overlap_judge(tx, task, run, now, &fate, err);
	if (status != AX_OK)
		return status;
	if (fate.kind == AX_FATE_JOIN)
		return join(ctx, tx, fate.beside, run, err);
	return ax_run_admit(ctx, tx, task, run, &fate, now, err);
}

/* The due fires of one task, sorted by what becomes of them. Jitter makes all of them later alike: here `now` is that
 * much earlier instead. */
struct batch {
	int64_t missed_from, missed_to, missed_count; /* older than the window */
	int64_t late_from, late_to, late_count;       /* inside it, passed over or counted on the next one */
	int64_t runs[AX_FIRE_ALL_MAX];                /* a run each, oldest first */
	int n_runs;
	int64_t last; /* newest fire walked over; 0 = none */
	int64_t next; /* where to go on; 0 = the schedule has no further fire */
};

static void note_late(struct batch *batch, int64_t fire)
{
	batch->late_from = batch->late_count == 0 ? fire : batch->late_from;
	batch->late_to = fire;
	batch->late_count++;
}

/* Puts one fire where it belongs; false when the batch is full. */
static bool sort_fire(struct batch *batch, const struct ax_task_def *def, int64_t fire, int64_t now)
{
	if (fire < now - def->window_seconds * 1000 && fire < now - AX_LATE_MS) {
		batch->missed_from = batch->missed_count == 0 ? fire : batch->missed_from;
		batch->missed_to = fire;
		batch->missed_count++;
		return true;
	}
	if (fire < now - AX_LATE_MS && def->misfire != AX_MISFIRE_FIRE_ALL) {
		note_late(batch, fire);
		return true;
	}
	if (batch->n_runs == AX_FIRE_ALL_MAX)
		return false;
	batch->runs[batch->n_runs++] = fire;
	return true;
}

static void walk_fires(struct batch *batch, const struct ax_task *task, const struct ax_rule *rule, int64_t now)
{
	int64_t fire = task->next_trigger_time == 0 ? 0 : task->next_trigger_time - rule->jitter_ms;
	for (int steps = 0; fire != 0 && fire <= now && steps < AX_FIRES_STEP; steps++) {
		if (!sort_fire(batch, &task->def, fire, now))
			break;
		batch->last = fire;
		if (!ax_rule_next(rule, fire, &fire))
			fire = 0;
	}
	batch->next = fire;
}

/* A run of the fire, due as much later as the rule says. */
static struct ax_run make_run(struct ax_ctx *ctx, const struct ax_task *task, const struct ax_rule *rule,
	enum ax_run_kind kind, int64_t fire, int64_t now)
{
	return ax_run_make(ctx, task, kind, fire_key(ctx, fire), fire + rule->jitter_ms, now);
}

static enum ax_status add_missed(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_rule *rule, const struct batch *batch, int64_t now, struct ax_err *err)
{
	struct ax_run run = make_run(ctx, task, rule, AX_KIND_MISS, batch->missed_from, now);
	cover(&run, batch->missed_from, batch->missed_to, batch->missed_count);
	return ax_run_end_at_birth(ctx, tx, task, &run, AX_RUN_MISSED, "missed",
		ax_sprintf(ctx->arena, "found %" PRId64 " s late; the window is %" PRId64 " s",
			(now - run.trigger_time) / 1000, task->def.window_seconds),
		now, err);
}

/* Late fires that no run stands for yet: the newest gets a run (fire_once), or all are skipped. */
static enum ax_status add_late_run(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_rule *rule, const struct batch *batch, int64_t now, struct ax_err *err)
{
	bool skip = task->def.misfire == AX_MISFIRE_SKIP;
	struct ax_run run = make_run(ctx, task, rule, AX_KIND_SCHEDULE, skip ? batch->late_from : batch->late_to, now);
	if (batch->late_count > 1)
		cover(&run, batch->late_from, batch->late_to, batch->late_count - 1);
	if (!skip)
		return fire_one(ctx, tx, task, &run, now, err);
	return ax_run_end_at_birth(
		ctx, tx, task, &run, AX_RUN_SKIPPED, "misfire", "late, and the misfire policy is skip", now, err);
}

/* A key that exists already is accounted for: a person made the fire up, or the clock went back over it. */
static enum ax_status unless_exists(enum ax_status status)
{
	return status == AX_EXISTS ? AX_OK : status;
}

/* The same when fires among them have runs already, which stand for themselves alone: another one stands for the rest.
 */
static enum ax_status add_late(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task,
	const struct ax_rule *rule, struct batch late, int64_t now, struct ax_err *err)
{
	enum ax_status status = add_late_run(ctx, tx, task, rule, &late, now, err);
	while (status == AX_EXISTS && --late.late_count > 0) {
		bool found = task->def.misfire == AX_MISFIRE_SKIP
			? ax_rule_next(rule, late.late_from, &late.late_from)
			: ax_rule_last(rule, late.late_from, late.late_to, &late.late_to);
		AX_ASSERT(found);
		status = add_late_run(ctx, tx, task, rule, &late, now, err);
	}
	return unless_exists(status);
}

/* Writes what the batch holds, oldest first; last_trigger_time follows. */
static enum ax_status store_batch(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task,
	const struct ax_rule *rule, const struct batch *batch, int64_t now, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	if (batch->missed_count > 0) {
		status = unless_exists(add_missed(ctx, tx, task, rule, batch, now, err));
		task->last_trigger_time = batch->missed_to;
	}
	bool on_next = task->def.misfire == AX_MISFIRE_FIRE_ONCE && batch->n_runs > 0;
	if (status == AX_OK && batch->late_count > 0 && !on_next) {
		status = add_late(ctx, tx, task, rule, *batch, now, err);
		task->last_trigger_time = batch->late_to;
	}
	for (int i = 0; status == AX_OK && i < batch->n_runs; i++) {
		struct ax_run run = make_run(ctx, task, rule, AX_KIND_SCHEDULE, batch->runs[i], now);
		bool carries = i == 0 && on_next && batch->late_count > 0;
		if (carries)
			cover(&run, batch->late_from, batch->late_to, batch->late_count);
		status = fire_one(ctx, tx, task, &run, now, err);
		if (status == AX_EXISTS)
			status = carries ? add_late(ctx, tx, task, rule, *batch, now, err) : AX_OK;
		task->last_trigger_time = batch->runs[i];
	}
	return status;
}

enum ax_status ax_fire_due(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	struct ax_rule rule;
	struct batch batch = { 0 };
	enum ax_status status = ax_rule_of(tx, ctx->zones, task, &rule, err);
	if (status != AX_OK)
		return status;
	int64_t old_next = task->next_trigger_time;
	ax_schedule_guard(ctx, task, &rule);
	walk_fires(&batch, task, &rule, now - rule.jitter_ms);
	if (batch.last == 0 && task->next_trigger_time == old_next)
		return AX_OK;
	status = store_batch(ctx, tx, task, &rule, &batch, now, err);
	if (status != AX_OK)
		return status;
	task->next_trigger_time = batch.next == 0 ? 0 : batch.next + rule.jitter_ms;
	task->exhausted = batch.next == 0 && rule.schedule.kind != AX_SCHEDULE_AFTER;
	status = tx->ops->task_advance(tx, task, old_next, err);
	ctx->notify->ops->task_changed(ctx->notify, task->id);
	if (status == AX_OK)
		status = ax_schedule_after(ctx, tx, task, now, err);
	return status;
}

enum ax_status ax_fire_settle(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_task *task, int64_t now, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	int64_t enough = ctx->written + AX_SWEEP_WRITES;
	while (status == AX_OK && task->status == AX_TASK_ENABLED && task->next_trigger_time != 0 &&
		task->next_trigger_time <= now) {
		if (ctx->written >= enough)
			return ax_fail(err, AX_CONFLICT, "", "its late fires are being made up; ask again in a moment");
		status = ax_fire_due(ctx, tx, task, now, err);
	}
	return status;
}
