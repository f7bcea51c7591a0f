#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "sim.h"

uint64_t sim_random(struct sim *sim)
{
	return ax_mix64(sim->random++ ^ sim->seed * 0x9e3779b97f4a7c15ULL);
}

int64_t sim_between(struct sim *sim, int64_t low, int64_t high)
{
	return low + (int64_t)(sim_random(sim) % (uint64_t)(high - low + 1));
}

bool sim_chance(struct sim *sim, int per_mille)
{
	return !sim->calm && sim_between(sim, 0, 999) < per_mille;
}

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void swap(struct sim *sim, int i, int k)
{
	struct sim_event event = sim->heap[i];
	sim->heap[i] = sim->heap[k];
	sim->heap[k] = event;
}

void sim_after(struct sim *sim, int64_t delay_ms, sim_fn fn, void *arg)
{
	if (sim->n_heap == sim->cap_heap) {
		sim->cap_heap = sim->cap_heap * 2 + 64;
		sim->heap = ax_realloc(sim->heap, (size_t)sim->cap_heap * sizeof(*sim->heap));
	}
	int i = sim->n_heap++;
	sim->heap[i] = (struct sim_event){ sim->now + delay_ms, sim->orders++, fn, arg };
	for (; i > 0 && before(&sim->heap[i], &sim->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(sim, i, (i - 1) / 2);
}

static struct sim_event pop(struct sim *sim)
{
	struct sim_event first = sim->heap[0];
	sim->heap[0] = sim->heap[--sim->n_heap];
	for (int i = 0;;) {
		int least = i, left = 2 * i + 1, right = 2 * i + 2;
		if (left < sim->n_heap && before(&sim->heap[left], &sim->heap[least]))
			least = left;
		if (right < sim->n_heap && before(&sim->heap[right], &sim->heap[least]))
			least = right;
		if (least == i)
			return first;
		swap(sim, i, least);
		i = least;
	}
}

void sim_run_events(struct sim *sim)
{
	while (sim->n_heap > 0 && !sim->failed && sim->heap[0].at <= sim->profile.end_ms) {
		struct sim_event event = pop(sim);
		sim->now = event.at;
		if (!sim->calm && sim->now >= sim->profile.fault_ms) {
			sim->calm = true;
			sim_trace(sim, "the times are calm now");
			sim_operator_rest(sim);
		}
		event.fn(sim, event.arg);
	}
}

void sim_send(struct sim *sim, sim_fn deliver, void *arg)
{
	sim->messages++;
	if (sim_chance(sim, sim->profile.lose))
		return;
	sim_after(sim, sim_chance(sim, sim->profile.slow) ? sim_between(sim, 1000, 15000) : sim_between(sim, 1, 40),
		deliver, arg);
	if (sim_chance(sim, sim->profile.repeat))
		sim_after(sim, sim_between(sim, 1, 9000), deliver, arg);
}

struct kept {
	struct kept *next;
	_Alignas(max_align_t) unsigned char bytes[];
};
static _Thread_local struct kept *all_kept;

void *sim_keep(struct sim *sim, size_t size)
{
	if (sim == NULL) { /* the seed is over */
		while (all_kept != NULL) {
			struct kept *next = all_kept->next;
			free(all_kept);
			all_kept = next;
		}
		return NULL;
	}
	struct kept *kept = ax_malloc(sizeof(*kept) + size);
	kept->next = all_kept;
	all_kept = kept;
	return kept->bytes;
}

void sim_fail(struct sim *sim, const char *fmt, ...)
{
	if (sim->failed)
		return;
	sim->failed = true;
	int n = snprintf(sim->failure, sizeof(sim->failure), "at %lld ms: ", (long long)sim->now);
	va_list args;
	va_start(args, fmt);
	vsnprintf(sim->failure + n, sizeof(sim->failure) - (size_t)n, fmt, args);
	va_end(args);
	sim_trace(sim, "VIOLATION %s", sim->failure);
}

void sim_trace(struct sim *sim, const char *fmt, ...)
{
	char line[400];
	va_list args;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	sim->trace_hash = ax_mix64(sim->trace_hash ^ ax_hash_bytes(line, strlen(line)) ^ (uint64_t)sim->now);
	if (sim->trace)
		printf("%10lld  %s\n", (long long)sim->now, line);
}
