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
	const struct ax_task_def *def, int64_t value, int64_t bound, int64_t now, struct ax_err *err)
{
	struct ax_alert_event event = {
		.rule = rule,
		.group_key = run->group_key,
		.episode = episode_of(ctx, run),
		.task_id = run->task_id,
		.gid = run->gid,
		.subject = def->task_name,
		.detail = run->progress_msg,
		.value = value,
		.bound = bound,
		.count = 1,
	};
	return ax_alert_raise(ctx, tx, &event, now, err);
}

static enum ax_status end_stall(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, const char *note, int64_t now, struct ax_err *err)
{
	if (!run->stalled)
		return AX_OK;
	run->stalled = false;
	return ax_alert_resolve(ctx, tx, AX_ALERT_STALLED, run->group_key, episode_of(ctx, run), note, now, err);
}

enum ax_status ax_watch_changed(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_run *run, int64_t now, struct ax_err *err)
{
	if (run->status == AX_RUN_RUNNING) /* its watch began with the attempt */
		return AX_OK;
	bool ended = ax_run_is_terminal(run->status);
	run->watch_time = ended || run->overran ? 0 : run->must_end_time;
	enum ax_status status = end_stall(ctx, tx, run, "the attempt is over", now, err);
	if (status == AX_OK && ended && run->overran)
		status = ax_alert_resolve(
			ctx, tx, AX_ALERT_LATE_FINISH, run->group_key, episode_of(ctx, run), "the run ended", now, err);
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
	enum ax_status status = end_stall(ctx, tx, run, "it moves again", now, err);
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
		bool deadline = run->must_end_time != 0 && run->must_end_time <= now;
		int64_t since = deadline ? run->must_end_time : work.start_time;
		run->overran = work.overran = true;
		status = tell(ctx, tx, AX_ALERT_LATE_FINISH, run, &def, (now - since) / 1000,
			deadline ? 0 : def.expected_seconds, now, err);
	}
	if (status == AX_OK && verdict.stalled) {
		run->stalled = work.stalled = true;
		status = tell(ctx, tx, AX_ALERT_STALLED, run, &def, (now - run->progress_time) / 1000,
			def.stall_seconds, now, err);
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
