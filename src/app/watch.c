#include "app/watch.h"

#include <inttypes.h>
#include <string.h>

#include "app/alerts.h"
#include "app/run_def.h"
#include "core/limits.h"
#include "core/watch.h"

/* Each run has episodes of its own. */
static const char *episode_of(struct ax_ctx *ctx, const struct ax_run *run)
{
	return ax_sprintf(ctx->arena, "%" PRId64, run->gid);
}

static enum ax_status tell(struct ax_ctx *ctx, struct ax_tx *tx, enum ax_alert_rule rule, const struct ax_run *run,
	const struct ax_task_def *def, const struct ax_said *detail, int64_t value, int64_t bound, int64_t now,
	struct ax_err *err)
{
	struct ax_alert_event event = {
		.rule = rule,
		.group_key = run->group_key,
		.episode = episode_of(ctx, run),
		.task_id = run->task_id,
		.gid = run->gid,
		.subject = def->task_name,
		.detail = *detail,
		.value = value,
		.bound = bound,
		.count = 1,
	};
	return ax_alert_raise(ctx, tx, &event, now, err);
}

static enum ax_status end_stall(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, enum ax_sentence over,
	int64_t now, struct ax_err *err)
{
	const struct ax_said how = { .sentence = over };
	if (!run->stalled)
		return AX_OK;
	run->stalled = false;
	return ax_alert_resolve(ctx, tx, AX_ALERT_STALLED, run->group_key, episode_of(ctx, run), &how, now, err);
}

enum ax_status ax_watch_changed(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, int64_t now, struct ax_err *err)
{
	const struct ax_said how = { .sentence = AX_SAY_OVER_RUN_ENDED };
	if (run->status == AX_RUN_RUNNING) /* its watch began with the attempt */
		return AX_OK;
	bool ended = ax_run_is_terminal(run->status);
	run->watch_time = ended || run->overran ? 0 : run->must_end_time;
	enum ax_status status = end_stall(ctx, tx, run, AX_SAY_OVER_ATTEMPT, now, err);
	if (status == AX_OK && ended && run->overran)
		status = ax_alert_resolve(
			ctx, tx, AX_ALERT_LATE_FINISH, run->group_key, episode_of(ctx, run), &how, now, err);
	return status;
}

enum ax_status ax_watch_progress(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, int64_t percent,
	const char *message, int64_t now, struct ax_err *err)
{
	bool moved = run->progress_percent != percent || strcmp(run->progress_msg, message) != 0;
	run->progress_percent = percent;
	run->progress_msg = message;
	if (!moved)
		return AX_OK;
	run->progress_time = now;
	struct ax_task_def def;
	enum ax_status status = end_stall(ctx, tx, run, AX_SAY_OVER_MOVES, now, err);
	if (status == AX_OK)
		status = ax_run_def(tx, run, &def, err);
	if (status == AX_OK)
		run->watch_time = ax_watch_next(run, &def);
	return status;
}

/* When the work of a run began. A parent is RUNNING as soon as it has shards: what is expected of it counts from the
 * first of them that a worker began, and until then from now. */
static enum ax_status begin_of(
	struct ax_tx *tx, const struct ax_run *run, int64_t now, int64_t *ret, struct ax_err *err)
{
	const struct ax_run_filter filter = { .parent = run->gid, .limit = AX_SHARDS_MAX, .scan_limit = AX_SHARDS_MAX };
	struct ax_runs shards;
	int64_t rest;
	*ret = run->start_time;
	if (!ax_run_is_parent(run) || run->status != AX_RUN_RUNNING)
		return AX_OK;
	*ret = now;
	enum ax_status status = tx->ops->runs_page(tx, &filter, &shards, &rest, err);
	for (int i = 0; status == AX_OK && i < shards.n; i++)
		if (shards.at[i].start_time != 0)
			*ret = AX_MIN(*ret, shards.at[i].start_time);
	return status;
}

/* It took longer than expected, or its time to end has passed. `start`: when its work began. */
static enum ax_status tell_overrun(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run,
	const struct ax_task_def *def, int64_t start, int64_t now, struct ax_err *err)
{
	bool deadline = run->must_end_time != 0 && run->must_end_time <= now;
	int64_t passed_ms = now - (deadline ? run->must_end_time : start), bound = deadline ? 0 : def->expected_seconds;
	const struct ax_said said = { deadline ? AX_SAY_ALERT_NOT_ENDED : AX_SAY_ALERT_LATE_FINISH,
		{ ax_id_param(ctx->arena, "run", run->gid), ax_number_param(deadline ? "late_ms" : "for_ms", passed_ms),
			ax_text_param("message", run->progress_msg),
			ax_number_param(deadline ? NULL : "allowed_ms", bound * 1000) } };
	return tell(ctx, tx, AX_ALERT_LATE_FINISH, run, def, &said, passed_ms / 1000, bound, now, err);
}

static enum ax_status tell_stall(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run,
	const struct ax_task_def *def, int64_t now, struct ax_err *err)
{
	int64_t for_ms = now - run->progress_time;
	const struct ax_said said = { AX_SAY_ALERT_STALLED,
		{ ax_id_param(ctx->arena, "run", run->gid), ax_number_param("for_ms", for_ms),
			ax_number_param("allowed_ms", def->stall_seconds * 1000),
			ax_text_param("message", run->progress_msg) } };
	return tell(ctx, tx, AX_ALERT_STALLED, run, def, &said, for_ms / 1000, def->stall_seconds, now, err);
}

static enum ax_status look(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, int64_t now, struct ax_err *err)
{
	struct ax_task_def def;
	struct ax_run work = *run;
	enum ax_status status = ax_run_def(tx, run, &def, err);
	if (status == AX_OK)
		status = begin_of(tx, run, now, &work.start_time, err);
	if (status != AX_OK)
		return status;
	struct ax_watch_verdict verdict = ax_watch_look(&work, &def, now);
	if (verdict.overran) {
		run->overran = work.overran = true;
		status = tell_overrun(ctx, tx, run, &def, work.start_time, now, err);
	}
	if (status == AX_OK && verdict.stalled) {
		run->stalled = work.stalled = true;
		status = tell_stall(ctx, tx, run, &def, now, err);
	}
	run->watch_time = ax_watch_next(&work, &def);
	ctx->notify->ops->run_changed(ctx->notify, run);
	return status == AX_OK ? tx->ops->run_update(tx, run, run->rev, err) : status;
}

enum ax_status ax_watch_sweep(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_n, struct ax_err *err)
{
	struct ax_runs watched;
	enum ax_status status = tx->ops->runs_watched(tx, now, AX_BATCH, &watched, err);
	*ret_n = status == AX_OK ? watched.n : 0;
	for (int i = 0; status == AX_OK && i < watched.n; i++)
		status = look(ctx, tx, &watched.at[i], now, err);
	return status;
}
