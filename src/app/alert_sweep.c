#include "app/alert_sweep.h"

#include <inttypes.h>
#include <string.h>

#include "app/alert_rules.h"
#include "app/alerts.h"
#include "app/canary.h"
#include "app/chore.h"
#include "core/limits.h"

enum {
	LATE_LEAST_MS = 10000, /* runs that wait for less are not looked at */
	WAITING_SEEN = 10000,  /* most runs that one sweep looks at, those that wait longest */
	BATCH = 200,
};

/* How far a walk over many rows is. */
struct place {
	int64_t time, id;
};

struct sweep {
	struct ax_ctx *ctx;
	int64_t now;
	struct place after, next; /* the rows of this transaction are behind `after`, those of the next behind `next` */
	bool over;                /* another server does it: nothing of the sweep is done any more */
	int n;                    /* rows that this transaction saw: a full batch means there may be more */
	size_t end;               /* of `ends`: what is looked for */
	struct ax_groups groups;
	int64_t *page,
		*backlog; /* per group: runs that wait for too long, among those of this transaction and in all */
	int seen;         /* runs that wait and were looked at */
	struct {
		int64_t task_id, version;
	} moved; /* runs of a trial that are taken back */
};

static enum ax_status run(struct sweep *sweep, ax_tx_fn fn, struct ax_err *err)
{
	bool mine = true;
	enum ax_status status = AX_OK;
	if (!sweep->over)
		status = ax_chore_run(sweep->ctx, "alerts", fn, sweep, &mine, err);
	sweep->over = sweep->over || !mine;
	return status;
}

/* Runs a batch transaction until it sees less than a batch. `each`, if there is one, follows its commit. */
static enum ax_status repeat(struct sweep *sweep, ax_tx_fn fn, bool (*each)(struct sweep *sweep), struct ax_err *err)
{
	enum ax_status status;
	sweep->after = (struct place){ 0 };
	for (;;) {
		status = run(sweep, fn, err);
		if (status != AX_OK || sweep->over || (each != NULL && !each(sweep)) || sweep->n < BATCH)
			return status;
		sweep->after = sweep->next;
	}
}

/* --- runs that wait ----------------------------------------------------------------------------------------------- */

static enum ax_status read_groups(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct sweep *sweep = arg;
	enum ax_status status = tx->ops->groups(tx, &sweep->groups, err);
	if (status != AX_OK)
		return status;
	sweep->page = ax_alloc_array(sweep->ctx->arena, (size_t)sweep->groups.n + 1, sizeof(*sweep->page));
	sweep->backlog = ax_alloc_array(sweep->ctx->arena, (size_t)sweep->groups.n + 1, sizeof(*sweep->backlog));
	return AX_OK;
}

static int group_at(const struct sweep *sweep, const char *group_key)
{
	for (int i = 0; i < sweep->groups.n; i++)
		if (strcmp(sweep->groups.at[i].group_key, group_key) == 0)
			return i;
	return -1;
}

/* The oldest run of its task that waits: too late? */
static enum ax_status judge_wait(struct sweep *sweep, struct ax_tx *tx, const struct ax_group *group,
	const struct ax_run *run, struct ax_err *err)
{
	struct ax_task task;
	enum ax_status status = tx->ops->task_get(tx, run->task_id, false, &task, err);
	if (status != AX_OK)
		return status == AX_NOT_FOUND ? AX_OK : status;
	int64_t bound = ax_late_bound(&task.def, group), late = (sweep->now - run->trigger_time) / 1000;
	if (bound == 0 || late < bound)
		return AX_OK;
	struct ax_alert_event event = {
		.rule = AX_ALERT_LATE,
		.group_key = run->group_key,
		.episode = ax_sprintf(sweep->ctx->arena, "%" PRId64, run->task_id),
		.task_id = run->task_id,
		.gid = run->gid,
		.subject = task.def.task_name,
		.detail = { AX_SAY_ALERT_LATE_WAITS,
			{ ax_id_param(sweep->ctx->arena, "run", run->gid), ax_number_param("late_ms", late * 1000),
				ax_number_param("allowed_ms", bound * 1000) } },
		.value = late,
		.bound = bound,
	};
	return ax_alert_raise(sweep->ctx, tx, &event, sweep->now, err);
}

static bool task_is_among(const struct ax_run *runs, int n, int64_t task_id)
{
	for (int i = 0; i < n; i++)
		if (runs[i].task_id == task_id)
			return true;
	return false;
}

static bool version_is_among(const struct ax_run *runs, int n, const struct ax_run *run)
{
	for (int i = 0; i < n; i++)
		if (runs[i].task_id == run->task_id && runs[i].version == run->version)
			return true;
	return false;
}

/* Runs of a trial that nobody takes. One of each version is asked about; when it is moved, so are the others. */
static enum ax_status look_at_trial(
	struct sweep *sweep, struct ax_tx *tx, const struct ax_runs *waiting, int at, struct ax_err *err)
{
	const struct ax_run *run = &waiting->at[at];
	bool same = sweep->moved.task_id == run->task_id && sweep->moved.version == run->version, moved = false;
	if (run->hold != AX_HOLD_NONE || (!same && version_is_among(waiting->at, at, run)))
		return AX_OK;
	enum ax_status status = ax_canary_look(sweep->ctx, tx, run, sweep->now, &moved, err);
	if (moved) {
		sweep->moved.task_id = run->task_id;
		sweep->moved.version = run->version;
	}
	return status;
}

static enum ax_status look_at_waiting(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct sweep *sweep = arg;
	struct ax_runs waiting;
	enum ax_status status = tx->ops->runs_undispatched(
		tx, sweep->now - LATE_LEAST_MS, sweep->after.time, sweep->after.id, BATCH, &waiting, err);
	for (int g = 0; g < sweep->groups.n; g++)
		sweep->page[g] = 0;
	for (int i = 0; status == AX_OK && i < waiting.n; i++) {
		const struct ax_run *run = &waiting.at[i];
		int g = group_at(sweep, run->group_key);
		if (g < 0 || sweep->groups.at[g].paused || run->hold == AX_HOLD_PAUSED || run->made_up)
			continue; /* it waits because a person wants it to */
		if (sweep->now - run->trigger_time >= sweep->groups.at[g].backlog_seconds * 1000)
			sweep->page[g]++;
		if (!task_is_among(waiting.at, i, run->task_id))
			status = judge_wait(sweep, tx, &sweep->groups.at[g], run, err);
		if (status == AX_OK)
			status = look_at_trial(sweep, tx, &waiting, i, err);
	}
	if (status != AX_OK)
		return status;
	sweep->n = waiting.n;
	if (waiting.n > 0)
		sweep->next = (struct place){ waiting.at[waiting.n - 1].trigger_time, waiting.at[waiting.n - 1].gid };
	return AX_OK;
}

static bool add_page(struct sweep *sweep)
{
	for (int g = 0; g < sweep->groups.n; g++)
		sweep->backlog[g] += sweep->page[g];
	sweep->seen += sweep->n;
	return sweep->seen < WAITING_SEEN;
}

static enum ax_status judge_groups(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct sweep *sweep = arg;
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < sweep->groups.n; i++) {
		const struct ax_group *group = &sweep->groups.at[i];
		const struct ax_said over = { AX_SAY_OVER_BACKLOG, { ax_number_param("n", sweep->backlog[i]) } };
		struct ax_alert_event event = {
			.rule = AX_ALERT_BACKLOG,
			.group_key = group->group_key,
			.episode = "",
			.subject = group->group_key,
			.detail = { AX_SAY_ALERT_BACKLOG,
				{ ax_number_param("n", sweep->backlog[i]),
					ax_number_param("wait_ms", group->backlog_seconds * 1000),
					ax_number_param("allowed", group->backlog_limit) } },
			.value = sweep->backlog[i],
			.bound = group->backlog_limit,
		};
		if (group->backlog_limit > 0 && sweep->backlog[i] > group->backlog_limit)
			status = ax_alert_raise(sweep->ctx, tx, &event, sweep->now, err);
		else if (sweep->seen < WAITING_SEEN) /* else not all were counted */
			status = ax_alert_resolve(
				sweep->ctx, tx, AX_ALERT_BACKLOG, group->group_key, "", &over, sweep->now, err);
	}
	return status;
}

static enum ax_status look_at_runs(struct sweep *sweep, struct ax_err *err)
{
	enum ax_status status = run(sweep, read_groups, err);
	if (status == AX_OK)
		status = repeat(sweep, look_at_waiting, add_page, err);
	return status == AX_OK ? run(sweep, judge_groups, err) : status;
}

/* --- workers ------------------------------------------------------------------------------------------------------ */

static bool is_lost(const struct sweep *sweep, const struct ax_worker *worker)
{
	return worker->status != AX_WORKER_LEFT && sweep->now - worker->seen_time > AX_LEASE_MS;
}

/* The group of a worker that serves just one, else "". */
static enum ax_status only_group(struct ax_tx *tx, const char *worker, const char **ret, struct ax_err *err)
{
	struct ax_worker_groups groups;
	enum ax_status status = tx->ops->worker_groups(tx, worker, &groups, err);
	if (status == AX_OK)
		*ret = groups.n == 1 ? groups.at[0].group_key : "";
	return status;
}

static enum ax_status look_at_workers(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct sweep *sweep = arg;
	struct ax_workers workers;
	enum ax_status status = tx->ops->workers(tx, &workers, err);
	for (int i = 0; status == AX_OK && i < workers.n; i++) {
		const struct ax_worker *worker = &workers.at[i];
		const char *group_key;
		if (!is_lost(sweep, worker))
			continue;
		status = only_group(tx, worker->name, &group_key, err);
		struct ax_alert_event event = {
			.rule = AX_ALERT_WORKER_LOST,
			.group_key = status == AX_OK ? group_key : "",
			.episode = worker->name,
			.subject = worker->name,
			.detail = { AX_SAY_ALERT_WORKER_LOST,
				{ ax_text_param("worker", worker->name),
					ax_number_param("for_ms", sweep->now - worker->seen_time),
					ax_number_param("allowed_ms", AX_LEASE_MS) } },
			.value = (sweep->now - worker->seen_time) / 1000,
			.bound = AX_LEASE_MS / 1000,
		};
		if (status == AX_OK)
			status = ax_alert_raise(sweep->ctx, tx, &event, sweep->now, err);
	}
	return status;
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

static enum ax_status look_at_tasks(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct sweep *sweep = arg;
	struct ax_tasks absent;
	enum ax_status status = tx->ops->tasks_absent(tx, sweep->now, sweep->after.id, BATCH, &absent, err);
	for (int i = 0; status == AX_OK && i < absent.n; i++) {
		const struct ax_task *task = &absent.at[i];
		struct ax_alert_event event = {
			.rule = AX_ALERT_ABSENCE,
			.group_key = task->def.group_key,
			.episode = ax_sprintf(sweep->ctx->arena, "%" PRId64, task->id),
			.task_id = task->id,
			.gid = task->last_run_gid,
			.subject = task->def.task_name,
			.detail = { AX_SAY_ALERT_ABSENCE,
				{ ax_number_param("for_ms", sweep->now - task->absence_time),
					ax_number_param("allowed_ms", task->def.absence_seconds * 1000),
					ax_id_param(sweep->ctx->arena, "run", task->last_run_gid) } },
			.value = (sweep->now - task->absence_time) / 1000,
			.bound = task->def.absence_seconds,
		};
		status = ax_alert_raise(sweep->ctx, tx, &event, sweep->now, err);
	}
	if (status != AX_OK)
		return status;
	sweep->n = absent.n;
	if (absent.n > 0)
		sweep->next.id = absent.at[absent.n - 1].id;
	return AX_OK;
}

/* --- what is over ------------------------------------------------------------------------------------------------- */

static enum ax_status worker_is_back(struct sweep *sweep, struct ax_tx *tx, const struct ax_alert *alert,
	enum ax_sentence *ret_over, struct ax_err *err)
{
	struct ax_worker worker;
	enum ax_status status = tx->ops->worker_get(tx, alert->episode, false, &worker, err);
	if (status == AX_NOT_FOUND)
		*ret_over = AX_SAY_OVER_WORKER_FORGOTTEN;
	else if (status == AX_OK && worker.status == AX_WORKER_LEFT)
		*ret_over = AX_SAY_OVER_WORKER_LEFT;
	else if (status == AX_OK && !is_lost(sweep, &worker))
		*ret_over = AX_SAY_OVER_WORKER_BACK;
	return status == AX_NOT_FOUND ? AX_OK : status;
}

static enum ax_status absence_is_over(struct sweep *sweep, struct ax_tx *tx, const struct ax_alert *alert,
	enum ax_sentence *ret_over, struct ax_err *err)
{
	struct ax_task task;
	enum ax_status status = tx->ops->task_get(tx, alert->task_id, false, &task, err);
	if (status == AX_NOT_FOUND)
		*ret_over = AX_SAY_OVER_TASK_DELETED;
	else if (status == AX_OK && (task.status != AX_TASK_ENABLED || task.def.absence_seconds == 0))
		*ret_over = AX_SAY_OVER_NOT_EXPECTED;
	else if (status == AX_OK && task.absence_time + task.def.absence_seconds * 1000 > sweep->now)
		*ret_over = AX_SAY_OVER_TIME_AGAIN;
	return status == AX_NOT_FOUND ? AX_OK : status;
}

static bool has_late(const struct sweep *sweep, const struct ax_runs *runs)
{
	for (int i = 0; i < runs->n; i++)
		if (runs->at[i].status == AX_RUN_WAITING && runs->at[i].fence == 0 &&
			runs->at[i].trigger_time <= sweep->now - LATE_LEAST_MS)
			return true;
	return false;
}

static enum ax_status lateness_is_over(struct sweep *sweep, struct ax_tx *tx, const struct ax_alert *alert,
	enum ax_sentence *ret_over, struct ax_err *err)
{
	struct ax_runs live, held;
	if (sweep->now - alert->seen_time < AX_ALERT_CALM_MS)
		return AX_OK;
	enum ax_status status = tx->ops->runs_live(tx, alert->task_id, false, BATCH, &live, err);
	if (status == AX_OK)
		status = tx->ops->runs_held(tx, alert->task_id, BATCH, &held, err);
	if (status == AX_OK && !has_late(sweep, &live) && !has_late(sweep, &held))
		*ret_over = AX_SAY_OVER_ON_TIME;
	return status;
}

/* A success could not end it then, as others failed. */
static enum ax_status failing_is_over(struct sweep *sweep, struct ax_tx *tx, const struct ax_alert *alert,
	enum ax_sentence *ret_over, struct ax_err *err)
{
	struct ax_task task;
	if (sweep->now - alert->seen_time < AX_ALERT_CALM_MS)
		return AX_OK;
	enum ax_status status = tx->ops->task_get(tx, alert->task_id, false, &task, err);
	if (status == AX_OK && task.last_run_status == AX_RUN_SUCCESS)
		*ret_over = AX_SAY_OVER_CALM;
	return status == AX_NOT_FOUND ? AX_OK : status;
}

static enum ax_status misses_are_decided(struct sweep *sweep, struct ax_tx *tx, const struct ax_alert *alert,
	enum ax_sentence *ret_over, struct ax_err *err)
{
	struct ax_runs undecided;
	(void)sweep;
	enum ax_status status = tx->ops->runs_undecided(tx, alert->task_id, 1, &undecided, err);
	if (status == AX_OK && undecided.n == 0)
		*ret_over = AX_SAY_OVER_NONE_LEFT;
	return status;
}

static enum ax_status schedule_is_read(struct sweep *sweep, struct ax_tx *tx, const struct ax_alert *alert,
	enum ax_sentence *ret_over, struct ax_err *err)
{
	struct ax_task task;
	(void)sweep;
	enum ax_status status = tx->ops->task_get(tx, alert->task_id, false, &task, err);
	if (status == AX_OK && task.status != AX_TASK_ENABLED)
		*ret_over = AX_SAY_OVER_NOT_EXPECTED;
	else if (status == AX_OK && (task.next_trigger_time != 0 || task.exhausted))
		*ret_over = AX_SAY_OVER_READABLE;
	return status == AX_NOT_FOUND ? AX_OK : status;
}

/* The rules whose alerts end with time. is_over sets how when what the alert says is over. */
static const struct {
	enum ax_alert_rule rule;
	enum ax_status (*is_over)(struct sweep *sweep, struct ax_tx *tx, const struct ax_alert *alert,
		enum ax_sentence *ret_over, struct ax_err *err);
} ends[] = {
	{ AX_ALERT_WORKER_LOST, worker_is_back },
	{ AX_ALERT_ABSENCE, absence_is_over },
	{ AX_ALERT_LATE, lateness_is_over },
	{ AX_ALERT_FAILED, failing_is_over },
	{ AX_ALERT_MISSED, misses_are_decided },
	{ AX_ALERT_UNSCHEDULABLE, schedule_is_read },
};

static enum ax_status end_those_over(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct sweep *sweep = arg;
	struct ax_alerts open;
	enum ax_status status = tx->ops->alerts_open(tx, ends[sweep->end].rule, sweep->after.id, BATCH, &open, err);
	for (int i = 0; status == AX_OK && i < open.n; i++) {
		struct ax_said how = { .sentence = AX_SENTENCES };
		status = ends[sweep->end].is_over(sweep, tx, &open.at[i], &how.sentence, err);
		if (status == AX_OK && how.sentence != AX_SENTENCES)
			status = ax_alert_end(sweep->ctx, tx, &open.at[i], &how, sweep->now, err);
	}
	if (status != AX_OK)
		return status;
	sweep->n = open.n;
	if (open.n > 0)
		sweep->next.id = open.at[open.n - 1].id;
	return AX_OK;
}

enum ax_status ax_alert_sweep(struct ax_ctx *ctx, int64_t now, struct ax_err *err)
{
	struct sweep sweep = { .ctx = ctx, .now = now };
	enum ax_status status = look_at_runs(&sweep, err);
	if (status == AX_OK && now >= ctx->hold_leases_until) /* before, the silence may be our own */
		status = run(&sweep, look_at_workers, err);
	if (status == AX_OK)
		status = repeat(&sweep, look_at_tasks, NULL, err);
	for (sweep.end = 0; status == AX_OK && sweep.end < AX_COUNT(ends); sweep.end++)
		status = repeat(&sweep, end_those_over, NULL, err);
	return status == AX_OK && !sweep.over ? ax_alert_remind(ctx, now, err) : status;
}
