#include "server/hints.h"

#include <stdlib.h>
#include <string.h>

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
	struct ax_hints *h = ((struct ax_collector *)notify)->hints;
	ax_count_run(&h->counts, run);
	if (run->status == AX_RUN_PENDING || run->status == AX_RUN_WAITING || run->status == AX_RUN_RETRYING)
		h->due_soon = true;
	bool goes_on = run->backfill_id != 0 && !ax_run_is_given_out(run->status);
	if (goes_on || (run->hold == AX_HOLD_SPREAD && run->status == AX_RUN_WAITING))
		h->tick_soon = true;
	if (run->cancel == AX_CANCEL_ASKED && ax_run_is_given_out(run->status) && !ax_run_is_parent(run))
		add_name(&h->arena, &h->stops, &h->n_stops, &h->cap_stops, run->worker);
	if (run->status == AX_RUN_WAITING && run->hold == AX_HOLD_NONE)
		add_name(&h->arena, &h->fresh, &h->n_fresh, &h->cap_fresh, run->group_key);
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

static void run_made(struct ax_notify *notify, const struct ax_run *run)
{
	ax_count_birth(&((struct ax_collector *)notify)->hints->counts, run);
	run_changed(notify, run);
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

/* --- transactions that do not happen ------------------------------------------------------------------------------ */

struct mark {
	size_t n_tasks, n_runs, n_workers, n_groups, n_fresh, n_stops;
	bool due_soon, tick_soon;
	struct ax_run_counts counts;
};

static struct mark mark_of(const struct ax_hints *h)
{
	return (struct mark){ h->n_tasks, h->n_runs, h->n_workers, h->n_groups, h->n_fresh, h->n_stops, h->due_soon,
		h->tick_soon, h->counts };
}

static void back_to(struct ax_hints *h, const struct mark *mark)
{
	h->n_tasks = mark->n_tasks;
	h->n_runs = mark->n_runs;
	h->n_workers = mark->n_workers;
	h->n_groups = mark->n_groups;
	h->n_fresh = mark->n_fresh;
	h->n_stops = mark->n_stops;
	h->due_soon = mark->due_soon;
	h->tick_soon = mark->tick_soon;
	h->counts = mark->counts;
}

struct
try {
	struct ax_hints *hints;
	struct mark mark;
	ax_tx_fn fn;
	void *arg;
};

static enum ax_status run_try(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct try *t = arg;
	back_to(t->hints, &t->mark);
	return t->fn(tx, t->arg, err);
}

static enum ax_status run_heard(
	struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_collector *collector =
		(struct ax_collector *)(void *)((char *)store - offsetof(struct ax_collector, store));
	struct try t = { .hints = collector->hints, .mark = mark_of(collector->hints), .fn = fn, .arg = arg };
	enum ax_status status = ax_store_run(collector->below, arena, run_try, &t, err);
	if (status != AX_OK && status != AX_UNCERTAIN)
		back_to(t.hints, &t.mark);
	collector->worked |= status == AX_OK;
	return status;
}

void ax_collector_init(struct ax_collector *collector, struct ax_store *store)
{
	static const struct ax_notify_ops notify_ops = { task_changed, run_made, run_changed, worker_changed,
		group_ready };
	static const struct ax_store_ops store_ops = { run_heard };
	*collector = (struct ax_collector){
		.port = { &notify_ops }, .store = { .ops = &store_ops, .sole = store->sole }, .below = store
	};
}

void ax_collector_dues(void *user, const struct ax_queue_entry *entries, int n)
{
	struct ax_hints *h = ((struct ax_collector *)user)->hints;
	h->dues = ax_grow_array(&h->arena, h->dues, h->n_dues, (size_t)n, &h->cap_dues, sizeof *h->dues);
	memcpy(h->dues + h->n_dues, entries, (size_t)n * sizeof *entries);
	h->n_dues += (size_t)n;
}

void ax_collector_looked(struct ax_collector *collector)
{
	collector->hints->due_soon = collector->hints->tick_soon = false;
}

void ax_collector_served(struct ax_collector *collector)
{
	collector->hints->n_groups = 0;
	collector->hints->n_fresh = 0;
	collector->hints->n_stops = 0;
}

bool ax_hints_empty(const struct ax_hints *hints)
{
	return hints->n_tasks == 0 && hints->n_runs == 0 && hints->n_workers == 0 && hints->n_groups == 0 &&
		hints->n_stops == 0 && hints->n_dues == 0 && !hints->due_soon && !hints->tick_soon;
}

static bool holds_task(const struct ax_hints *h, int64_t task_id)
{
	for (size_t i = 0; i < h->n_tasks; i++)
		if (h->tasks[i] == task_id)
			return true;
	return false;
}

bool ax_hints_add(struct ax_hints *to, const struct ax_hints *from, size_t max)
{
	struct ax_arena *arena = &to->arena;
	bool all = from->n_runs < AX_HINT_RUNS_MAX;
	for (size_t i = 0; i < from->n_tasks && all; i++) {
		if (holds_task(to, from->tasks[i]))
			continue;
		all = to->n_tasks < max;
		if (!all)
			break;
		to->tasks = ax_grow_array(arena, to->tasks, to->n_tasks, 1, &to->cap_tasks, sizeof *to->tasks);
		to->tasks[to->n_tasks++] = from->tasks[i];
	}
	size_t runs = to->n_runs < max ? AX_MIN(from->n_runs, max - to->n_runs) : 0;
	to->runs = ax_grow_array(arena, to->runs, to->n_runs, runs, &to->cap_runs, sizeof *to->runs);
	for (size_t i = 0; i < runs; i++)
		to->runs[to->n_runs++] = from->runs[i];
	for (size_t i = 0; i < from->n_workers; i++)
		add_name(arena, &to->workers, &to->n_workers, &to->cap_workers, from->workers[i]);
	for (size_t i = 0; i < from->n_groups; i++)
		add_name(arena, &to->groups, &to->n_groups, &to->cap_groups, from->groups[i]);
	for (size_t i = 0; i < from->n_stops; i++)
		add_name(arena, &to->stops, &to->n_stops, &to->cap_stops, from->stops[i]);
	return all && runs == from->n_runs;
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
