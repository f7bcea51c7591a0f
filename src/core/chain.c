#include "core/chain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "core/limits.h"

int ax_ids_read(const char *text, int64_t *ret, int max)
{
	int n = 0;
	while (*text != '\0' && n < max) {
		size_t len = strcspn(text, " ");
		n += ax_parse_i64(text, len, 1, INT64_MAX, &ret[n]);
		text += len + strspn(text + len, " ");
	}
	return n;
}

/* Marks what can be reached from the task; true when that is the task itself. */
static bool reaches_itself(const struct ax_chain *chain, int task, struct ax_arena *arena)
{
	bool *reached = ax_alloc_array(arena, (size_t)chain->n_tasks, sizeof(*reached));
	for (bool more = true; more && !reached[task];) {
		more = false;
		for (int i = 0; i < chain->n_edges; i++) {
			int from = chain->edges[i].upstream, to = chain->edges[i].task;
			if ((from == task || reached[from]) && !reached[to])
				reached[to] = more = true;
		}
	}
	return reached[task];
}

/* How many tasks lie on the longest way to each; false when one is longer than allowed. */
static bool find_levels(const struct ax_chain *chain, int *levels)
{
	for (int i = 0; i < chain->n_tasks; i++)
		levels[i] = 1;
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < chain->n_edges; i++) {
			int level = levels[chain->edges[i].upstream] + 1;
			if (level <= levels[chain->edges[i].task])
				continue;
			levels[chain->edges[i].task] = level;
			more = true;
			if (level > AX_CHAIN_DEPTH_MAX)
				return false;
		}
	}
	return true;
}

/* Edges by the level that they lead to: whoever stands on a level is complete when it is left. */
static void sort_edges(struct ax_chain *chain, const int *levels, struct ax_arena *arena)
{
	void *sorted = ax_alloc_array(arena, (size_t)chain->n_edges + 1, sizeof(*chain->edges));
	struct ax_chain to = { .edges = sorted };
	for (int level = 2; level <= AX_CHAIN_DEPTH_MAX; level++)
		for (int i = 0; i < chain->n_edges; i++)
			if (levels[chain->edges[i].task] == level)
				to.edges[to.n_edges++] = chain->edges[i];
	chain->edges = to.edges;
}

static int64_t runs_of(const struct ax_chain *chain, const int64_t *counts, int task)
{
	return chain->tasks[task].joins ? AX_MIN(counts[task], 1) : counts[task];
}

/* How many runs one run of `root` causes when all of them end at once, as BLOCKED ones do; 0 when `task` gets none. */
static int64_t count_runs(const struct ax_chain *chain, int root, int task, int64_t *counts)
{
	int64_t all = 0;
	memset(counts, 0, (size_t)chain->n_tasks * sizeof(*counts));
	counts[root] = 1;
	for (int i = 0; i < chain->n_edges; i++)
		counts[chain->edges[i].task] = AX_MIN((int64_t)INT32_MAX,
			counts[chain->edges[i].task] + runs_of(chain, counts, chain->edges[i].upstream));
	for (int i = 0; i < chain->n_tasks; i++)
		all += i == root ? 0 : runs_of(chain, counts, i);
	return counts[task] > 0 ? all : 0;
}

enum ax_status ax_chain_check(struct ax_chain *chain, int task, struct ax_arena *arena, struct ax_err *err)
{
	if (reaches_itself(chain, task, arena))
		return ax_fail(err, AX_INVALID, "upstreams",
			"this would be a circle: a run of the task would start the task again");
	int *levels = ax_alloc_array(arena, (size_t)chain->n_tasks, sizeof(*levels));
	if (!find_levels(chain, levels))
		return ax_fail(
			err, AX_INVALID, "upstreams", "the chain would be deeper than %d tasks", AX_CHAIN_DEPTH_MAX);
	sort_edges(chain, levels, arena);
	int64_t *counts = ax_alloc_array(arena, (size_t)chain->n_tasks, sizeof(*counts));
	for (int root = 0; root < chain->n_tasks; root++) {
		int64_t runs = levels[root] == 1 ? count_runs(chain, root, task, counts) : 0;
		if (runs > AX_CHAIN_RUNS_MAX)
			return ax_fail(err, AX_INVALID, "upstreams",
				"one end of task %" PRId64 " could make %" PRId64
				" runs at once; %d are allowed (join `all`"
				" makes one run where ways meet)",
				chain->tasks[root].id, runs, AX_CHAIN_RUNS_MAX);
	}
	return AX_OK;
}
