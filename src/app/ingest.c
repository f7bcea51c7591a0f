#include "app/ingest.h"

#include <inttypes.h>
#include <string.h>

#include "app/birth.h"
#include "app/change.h"
#include "app/output.h"
#include "app/watch.h"
#include "core/limits.h"
#include "port/ids.h"

struct pass {
	struct ax_ctx *ctx;
	struct ax_report *report;
	int64_t now;
	struct ax_worker worker;
	struct ax_run run; /* of the newest item */
	bool unwritten;    /* it has begun, and the next item, which ends it, writes both */
};

static bool may_touch(const struct ax_report *report, const struct ax_run *run)
{
	if (strcmp(run->worker, report->worker) != 0)
		return false;
	for (const char *const *group = report->groups; group != NULL && *group != NULL; group++)
		if (strcmp(*group, run->group_key) == 0)
			return true;
	return report->groups == NULL;
}

/* A result that the run no longer waits for: the first one is kept beside the attempt, for people. */
static enum ax_status keep_late(
	struct pass *pass, struct ax_tx *tx, const struct ax_run *run, struct ax_item *item, struct ax_err *err)
{
	struct ax_attempt attempt;
	item->verdict = AX_VERDICT_LATE;
	enum ax_status status = tx->ops->attempt_get(tx, item->gid, item->fence, &attempt, err);
	if (status == AX_NOT_FOUND &&
		run->fence == item->fence) { /* the run's last attempt: ended, but not by the worker */
		attempt = (struct ax_attempt){
			.gid = run->gid,
			.fence = run->fence,
			.attempt = ax_run_attempt(run),
			.worker = run->worker,
			.dispatch_time = run->dispatch_time,
			.start_time = run->start_time,
			.end_time = run->end_time,
			.outcome = AX_OUTCOME_LOST,
			.message = run->result_msg,
			.late_message = "",
		};
	} else if (status != AX_OK) {
		return status == AX_NOT_FOUND ? AX_OK : status;
	}
	if (strcmp(attempt.worker, pass->report->worker) != 0)
		return AX_OK; /* not its attempt: nothing is recorded in another's name */
	if (attempt.outcome <= AX_OUTCOME_REFUSED) {
		item->verdict = AX_VERDICT_DUPLICATE;
		return AX_OK;
	}
	if (attempt.late_time != 0)
		return AX_OK;
	attempt.late_time = pass->now;
	attempt.late_outcome = item->outcome;
	attempt.late_code = item->code;
	attempt.late_message = item->message;
	return tx->ops->attempt_put(tx, &attempt, err);
}

static enum ax_status take_output(struct pass *pass, struct ax_tx *tx, struct ax_item *item, struct ax_err *err)
{
	struct ax_output output = {
		.gid = item->gid,
		.fence = item->fence,
		.seq = item->seq,
		.time = pass->now,
		.data = item->data,
		.len = item->len,
	};
	bool is_new = false;
	enum ax_status status = ax_output_keep(tx, &output, &is_new, err);
	item->verdict = is_new ? AX_VERDICT_APPLIED : AX_VERDICT_DUPLICATE;
	return status;
}

static enum ax_status take_result(
	struct pass *pass, struct ax_tx *tx, struct ax_run *run, struct ax_item *item, struct ax_err *err)
{
	struct ax_change said = {
		.outcome = item->outcome,
		.code = item->code,
		.message = item->message,
		.result = item->result,
		.by_worker = true,
	};
	item->verdict = AX_VERDICT_APPLIED;
	return ax_change_result(pass->ctx, tx, run, &said, pass->now, err);
}

/* The lease starts anew; a run that was only given out counts as accepted. */
static enum ax_status renew(
	struct pass *pass, struct ax_tx *tx, struct ax_run *run, struct ax_item *item, struct ax_err *err)
{
	int64_t deadline = pass->now + AX_LEASE_MS;
	if (run->limit_time != 0)
		deadline = AX_MIN(deadline, run->limit_time);
	bool first = !run->accepted;
	item->verdict = first || item->type == AX_ITEM_HEARTBEAT ? AX_VERDICT_APPLIED : AX_VERDICT_DUPLICATE;
	if (!first)
		return tx->ops->run_renew(tx, run->gid, run->fence, pass->now, deadline, err);
	run->accepted = true;
	run->heartbeat_time = pass->now;
	run->deadline_time = deadline;
	pass->ctx->notify->ops->run_changed(pass->ctx->notify, run);
	return tx->ops->run_update(tx, run, run->rev, err);
}

/* The result of the same attempt, when the report goes on to it; NULL: it does not. */
static const struct ax_item *find_result(const struct ax_report *report, const struct ax_item *item)
{
	for (const struct ax_item *next = item + 1; next < report->items + report->n; next++) {
		if (next->gid != item->gid || next->fence != item->fence)
			return NULL;
		if (next->type == AX_ITEM_RESULT)
			return next;
	}
	return NULL;
}

static enum ax_status take_started(
	struct pass *pass, struct ax_tx *tx, struct ax_run *run, struct ax_item *item, struct ax_err *err)
{
	static const struct ax_change start = { .event = AX_EV_START, .reason = "" };
	item->verdict = AX_VERDICT_DUPLICATE;
	if (run->status == AX_RUN_RUNNING)
		return AX_OK;
	item->verdict = AX_VERDICT_APPLIED;
	const struct ax_item *end = find_result(pass->report, item);
	/* a start that comes with its end was before, though not before the run was given out */
	int64_t since = end != NULL ? AX_MIN(end->duration_ms, pass->now - run->dispatch_time) : 0;
	int64_t began = pass->now - AX_MAX(since, 0); /* the clock may have gone back */
	if (end != item + 1)
		return ax_change_run(pass->ctx, tx, run, &start, began, err);
	ax_run_begin_work(run, began);
	pass->unwritten = true;
	return AX_OK;
}

static enum ax_status take_progress(
	struct pass *pass, struct ax_tx *tx, struct ax_run *run, struct ax_item *item, struct ax_err *err)
{
	item->verdict = AX_VERDICT_APPLIED;
	enum ax_status status = ax_watch_progress(pass->ctx, tx, run, item->percent, item->message, pass->now, err);
	pass->ctx->notify->ops->run_changed(pass->ctx->notify, run);
	return status == AX_OK ? tx->ops->run_update(tx, run, run->rev, err) : status;
}

/* An item of the attempt that the run is at, while a worker holds it. */
static enum ax_status take_current(
	struct pass *pass, struct ax_tx *tx, struct ax_run *run, struct ax_item *item, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	switch (item->type) {
	case AX_ITEM_ACCEPTED:
	case AX_ITEM_HEARTBEAT:
		status = renew(pass, tx, run, item, err);
		break;
	case AX_ITEM_STARTED:
		status = take_started(pass, tx, run, item, err);
		break;
	case AX_ITEM_PROGRESS:
		status = take_progress(pass, tx, run, item, err);
		break;
	case AX_ITEM_OUTPUT:
		return take_output(pass, tx, item, err);
	case AX_ITEM_RESULT:
		return take_result(pass, tx, run, item, err);
	}
	if (status == AX_OK && run->cancel != AX_CANCEL_NONE)
		item->verdict = AX_VERDICT_STOP;
	return status;
}

/* An item of an attempt that is over. Only a success may still count: while the run was not claimed again. */
static enum ax_status take_past(
	struct pass *pass, struct ax_tx *tx, struct ax_run *run, struct ax_item *item, struct ax_err *err)
{
	if (item->type == AX_ITEM_OUTPUT)
		return take_output(pass, tx, item, err);
	item->verdict = AX_VERDICT_STOP;
	if (item->type != AX_ITEM_RESULT || item->of_server)
		return AX_OK;
	if (run->fence != item->fence)
		return keep_late(pass, tx, run, item, err);
	if (ax_run_is_terminal(run->status) && run->ended_by_worker) {
		item->verdict = AX_VERDICT_DUPLICATE;
		return AX_OK;
	}
	if (ax_run_is_terminal(run->status) || item->outcome != AX_OUTCOME_SUCCESS)
		return keep_late(pass, tx, run, item, err);
	enum ax_status status = keep_late(pass, tx, run, item, err);
	if (status != AX_OK || item->verdict == AX_VERDICT_DUPLICATE)
		return status;
	return take_result(pass, tx, run, item, err);
}

static enum ax_status take_item(struct pass *pass, struct ax_tx *tx, struct ax_item *item, struct ax_err *err)
{
	struct ax_run *run = &pass->run;
	enum ax_status status = pass->unwritten ? AX_OK : tx->ops->run_get(tx, item->gid, true, run, err);
	pass->unwritten = false;
	item->verdict = item->type == AX_ITEM_RESULT ? AX_VERDICT_LATE : AX_VERDICT_STOP;
	item->unknown = status == AX_NOT_FOUND || (status == AX_OK && (item->fence > run->fence || item->fence <= 0));
	if (item->unknown)
		return AX_OK;
	if (status != AX_OK)
		return status;
	if (run->fence == item->fence && !may_touch(pass->report, run))
		return AX_OK;
	if (run->fence == item->fence && ax_run_is_given_out(run->status))
		return take_current(pass, tx, run, item, err);
	return take_past(pass, tx, run, item, err);
}

/* The runs that items of these kinds are about, ascending, each once. */
static struct ax_ids list_runs(const struct ax_report *report, bool results_only, struct ax_arena *arena)
{
	int64_t *at = ax_alloc_array(arena, (size_t)report->n + 1, sizeof(*at));
	int n = 0;
	for (int i = 0; i < report->n; i++)
		if (!results_only || report->items[i].type == AX_ITEM_RESULT)
			at[n++] = report->items[i].gid;
	return ax_ids_sort(at, n);
}

/* What the store can read at once. */
static enum ax_status expect(const struct ax_report *report, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_ids all = list_runs(report, false, tx->arena), ending = list_runs(report, true, tx->arena);
	return tx->ops->runs_expect(tx, &all, &ending, err);
}

static enum ax_status take_report(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_report *report = pass->report;
	pass->unwritten = false;
	enum ax_status status = ax_worker_read(tx, report->worker, report->incarnation, &pass->worker, err);
	if (status == AX_OK)
		status = expect(report, tx, err);
	for (int i = 0; status == AX_OK && i < report->n; i++)
		status = take_item(pass, tx, &report->items[i], err);
	if (status == AX_OK && !report->unheard)
		status = ax_worker_stops(
			pass->ctx, tx, &(struct ax_names){ &report->worker, 1 }, &report->stops, &report->n_stops, err);
	report->drain = status == AX_OK && ax_worker_is_stopped(&pass->worker);
	return status;
}

/* After a failover that lost the newest transactions the log is all that tells of such work. */
static void log_unknown(struct ax_ctx *ctx, const struct ax_report *report)
{
	for (int i = 0; i < report->n; i++) {
		const struct ax_item *item = &report->items[i];
		if (item->unknown && item->type == AX_ITEM_RESULT)
			ctx->log->ops->event(ctx->log, AX_LOG_WARN, "result_of_unknown_attempt",
				ax_sprintf(ctx->arena,
					"\"gid\":\"%" PRId64 "\",\"fence\":%" PRId64
					",\"worker\":\"%s\",\"success\":%s",
					item->gid, item->fence, report->worker,
					item->outcome == AX_OUTCOME_SUCCESS ? "true" : "false"));
	}
}

enum ax_status ax_ingest(struct ax_ctx *ctx, struct ax_report *report, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .report = report, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_gids_ensure(ctx, err); /* ends make runs downstream */
	if (status == AX_OK)
		status = ax_store_run(ctx->store, ctx->arena, take_report, &pass, err);
	if (status == AX_OK) {
		log_unknown(ctx, report);
		ax_worker_seen(ctx, &pass.worker);
	}
	return status;
}
