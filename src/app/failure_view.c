#include "app/failure_view.h"

#include <string.h>

enum {
	TASKS_LOOKED_AT = 5,  /* those that failed most: their runs are compared */
	RUNS_LOOKED_AT = 500, /* the newest of each */
	TASKS_COUNTED = 1000, /* of the group of tasks */
	ALIKE_SHOWN = 20,
};

struct look {
	struct ax_tx *tx;
	struct ax_failure_view *view;
	struct ax_failure_facts facts;
	struct {
		int64_t id, count;
	} tasks[AX_SPREAD_SHOWN];
};

int64_t ax_failure_trend(const struct ax_failure_hours *hours, int64_t now, int64_t ret[AX_TREND_HOURS])
{
	int64_t first = now / AX_HOUR_MS - AX_TREND_HOURS + 1;
	memset(ret, 0, AX_TREND_HOURS * sizeof(*ret));
	for (int i = 0; i < hours->n; i++)
		if (hours->at[i].hour >= first && hours->at[i].hour < first + AX_TREND_HOURS)
			ret[hours->at[i].hour - first] = hours->at[i].count;
	return first * AX_HOUR_MS;
}

/* The spread by task, those that failed most first. */
static void sum_up(struct look *l)
{
	const struct ax_failure_spreads *spread = &l->view->spread;
	struct ax_failure_facts *f = &l->facts;
	int64_t on_workers = 0;
	for (int i = 0; i < spread->n; i++) {
		const struct ax_failure_spread *place = &spread->at[i];
		if (place->worker[0] != '\0') {
			f->n_workers++;
			f->worker = place->worker;
			on_workers += place->count;
			continue;
		}
		if (f->n_tasks == 0 || l->tasks[f->n_tasks - 1].id != place->task_id) {
			l->tasks[f->n_tasks++].id = place->task_id;
			f->task_id = place->task_id;
			f->first_version = place->version; /* versions come in their order */
		}
		l->tasks[f->n_tasks - 1].count += place->count;
	}
	if (on_workers != l->view->group.count) /* runs with shards are on no one worker */
		f->n_workers = 0;
	for (int first = 0; first < TASKS_LOOKED_AT && first < f->n_tasks; first++)
		for (int i = first + 1; i < f->n_tasks; i++)
			if (l->tasks[i].count > l->tasks[first].count) {
				int64_t id = l->tasks[i].id, count = l->tasks[i].count;
				l->tasks[i] = l->tasks[first];
				l->tasks[first].id = id;
				l->tasks[first].count = count;
			}
}

static void compare(struct look *l, const struct ax_run *success)
{
	struct ax_failure_facts *f = &l->facts;
	int64_t since = l->view->group.first_seen_time;
	if (success->end_time < since) {
		f->success_before += f->n_tasks == 1 && success->version < f->first_version;
		return;
	}
	if (f->n_workers == 1 && strcmp(success->worker, f->worker) == 0)
		f->success_here++;
	else if (success->worker[0] != '\0')
		f->success_elsewhere++;
	f->success_since += f->n_tasks == 1 && success->version >= f->first_version;
}

static enum ax_status look_at_runs(struct look *l, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < TASKS_LOOKED_AT && i < l->facts.n_tasks; i++) {
		const struct ax_run_filter filter = {
			.task_id = l->tasks[i].id,
			.statuses = 1U << AX_RUN_SUCCESS,
			.limit = RUNS_LOOKED_AT,
			.scan_limit = RUNS_LOOKED_AT,
		};
		struct ax_runs runs;
		int64_t before;
		status = l->tx->ops->runs_page(l->tx, &filter, &runs, &before, err);
		for (int k = 0; status == AX_OK && k < runs.n; k++)
			compare(l, &runs.at[k]);
	}
	return status;
}

static bool has_failed(const struct look *l, int64_t task_id)
{
	int i = 0;
	while (i < l->facts.n_tasks && l->tasks[i].id != task_id)
		i++;
	return i < l->facts.n_tasks;
}

/* Tasks of the group with the executor that ended a run since. Not counted (-1) when there are too many to look at, or
 * when one of those that failed was deleted. */
static enum ax_status count_tasks(struct look *l, struct ax_err *err)
{
	const struct ax_failure_group *group = &l->view->group;
	const struct ax_task_filter filter = {
		.group_key = group->group_key, .status = -1, .limit = TASKS_COUNTED + 1
	};
	struct ax_failure_facts *f = &l->facts;
	struct ax_tasks tasks;
	int failed = 0;
	f->tasks_of_executor = -1;
	f->task_name = "";
	enum ax_status status = l->tx->ops->tasks_page(l->tx, &filter, &tasks, err);
	if (status != AX_OK || tasks.n > TASKS_COUNTED || l->view->spread.n == AX_SPREAD_SHOWN)
		return status;
	int64_t n = 0;
	for (int i = 0; i < tasks.n; i++) {
		const struct ax_task *task = &tasks.at[i];
		bool here = has_failed(l, task->id);
		failed += here;
		n += here ||
			(strcmp(task->def.executor_key, group->executor_key) == 0 &&
				task->last_run_end_time >= group->first_seen_time);
		if (here)
			f->task_name = task->def.task_name;
	}
	if (failed == f->n_tasks)
		f->tasks_of_executor = n;
	return AX_OK;
}

static enum ax_status look_elsewhere(struct look *l, struct ax_err *err)
{
	struct ax_failure_groups *alike = &l->view->alike;
	const struct ax_failure_group *group = &l->view->group;
	enum ax_status status =
		l->tx->ops->failure_groups_alike(l->tx, group->fingerprint, ALIKE_SHOWN + 1, alike, err);
	if (status != AX_OK)
		return status;
	int n = 0;
	for (int i = 0; i < alike->n; i++)
		if (alike->at[i].id != group->id)
			alike->at[n++] = alike->at[i];
	alike->n = n;
	return AX_OK;
}

enum ax_status ax_failure_look(
	struct ax_tx *tx, const struct ax_failure_group *group, struct ax_failure_view *ret, struct ax_err *err)
{
	struct look *l = ax_alloc(tx->arena, sizeof(*l));
	l->tx = tx;
	l->view = ret;
	*ret = (struct ax_failure_view){ .group = *group };
	enum ax_status status = tx->ops->failure_hours(tx, group->id, &ret->hours, err);
	if (status == AX_OK)
		status = tx->ops->failure_spreads(tx, group->id, AX_SPREAD_SHOWN, &ret->spread, err);
	if (status != AX_OK)
		return status;
	l->facts.count = group->count;
	l->facts.executor_key = group->executor_key;
	sum_up(l);
	status = look_at_runs(l, err);
	if (status == AX_OK)
		status = count_tasks(l, err);
	if (status == AX_OK)
		status = look_elsewhere(l, err);
	if (status == AX_OK)
		ret->n_hints = ax_failure_hints(&l->facts, tx->arena, ret->hints);
	return status;
}
