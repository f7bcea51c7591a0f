#include "server/hints.h"

#include <stdlib.h>
#include <string.h>

#include "server/metrics.h"

static void add_name(struct ax_arena *arena, const char ***names, size_t *n, size_t *cap, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp((*names)[i], name) == 0)
			return;
	*names = ax_grow_array(arena, *names, *n, 1, cap, sizeof **names);
	(*names)[(*n)++] = ax_strdup(arena, name);
}

static void task_changed(struct ax_notify *notify, int64_t task_id)
{
	struct ax_hints *h = ((struct ax_collector *)notify)->hints;
	h->due_soon = true;
	if (h->n_tasks > 0 && h->tasks[h->n_tasks - 1] == task_id)
		return;
	h->tasks = ax_grow_array(&h->arena, h->tasks, h->n_tasks, 1, &h->cap_tasks, sizeof *h->tasks);
	h->tasks[h->n_tasks++] = task_id;
}

static void run_changed(struct ax_notify *notify, const struct ax_run *run)
{
	struct ax_collector *collector = (struct ax_collector *)notify;
	struct ax_hints *h = collector->hints;
	ax_metrics_run(collector->metrics, run);
	if (run->status == AX_RUN_PENDING || run->status == AX_RUN_WAITING || run->status == AX_RUN_RETRYING)
		h->due_soon = true;
	if (run->cancel == AX_CANCEL_ASKED && ax_run_is_given_out(run->status) && !ax_run_is_parent(run))
		add_name(&h->arena, &h->stops, &h->n_stops, &h->cap_stops, run->worker);
	struct ax_run_hint hint = { run->gid, run->task_id, run->parent, run->status };
	if (h->n_runs > 0 && h->runs[h->n_runs - 1].gid == run->gid) {
		h->runs[h->n_runs - 1] = hint;
		return;
	}
	if (h->n_runs == AX_HINT_RUNS_MAX)
		return;
	h->runs = ax_grow_array(&h->arena, h->runs, h->n_runs, 1, &h->cap_runs, sizeof *h->runs);
	h->runs[h->n_runs++] = hint;
}

static void worker_changed(struct ax_notify *notify, const char *worker)
{
	struct ax_hints *h = ((struct ax_collector *)notify)->hints;
	add_name(&h->arena, &h->workers, &h->n_workers, &h->cap_workers, worker);
}

static void group_ready(struct ax_notify *notify, const char *group_key)
{
	struct ax_hints *h = ((struct ax_collector *)notify)->hints;
	add_name(&h->arena, &h->groups, &h->n_groups, &h->cap_groups, group_key);
}

void ax_collector_init(struct ax_collector *collector, struct ax_metrics *metrics)
{
	static const struct ax_notify_ops ops = { task_changed, run_changed, worker_changed, group_ready };
	*collector = (struct ax_collector){ .port = { &ops }, .metrics = metrics };
}

void ax_collector_looked(struct ax_collector *collector)
{
	collector->hints->due_soon = false;
}

void ax_collector_served(struct ax_collector *collector)
{
	collector->hints->n_groups = 0;
	collector->hints->n_stops = 0;
}

bool ax_hints_empty(const struct ax_hints *hints)
{
	return hints->n_tasks == 0 && hints->n_runs == 0 && hints->n_workers == 0 && hints->n_groups == 0 &&
		hints->n_stops == 0 && !hints->due_soon;
}

struct ax_hints *ax_hints_new(void)
{
	return ax_malloc(sizeof(struct ax_hints));
}

void ax_hints_free(struct ax_hints *hints)
{
	if (hints == NULL)
		return;
	ax_arena_done(&hints->arena);
	free(hints);
}
