#ifndef AX_SERVER_METRICS_H
#define AX_SERVER_METRICS_H

/* Counters for /metrics, written from any thread. */

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/task.h"

enum { AX_HISTOGRAM_BUCKETS = 14 };

/* Of one transaction, or of a few. */
struct ax_tally {
	uint64_t bucket[AX_HISTOGRAM_BUCKETS + 1];
	uint64_t sum_ms;
};

/* What changes of runs add to the metrics once they are committed. */
struct ax_run_counts {
	uint64_t fires, dispatched;
	uint64_t ended[32];
	struct ax_tally lateness, given;
};

/* Upper bounds in ms: 1, 2, 5, 10 … 30,000 (metrics.c). */
struct ax_histogram {
	_Atomic uint64_t bucket[AX_HISTOGRAM_BUCKETS + 1];
	_Atomic uint64_t sum_ms;
};

struct ax_metrics {
	_Atomic uint64_t fires;     /* runs born from a schedule */
	_Atomic uint64_t ended[32]; /* runs by final state */
	_Atomic uint64_t commits, commit_failures, errands;
	_Atomic uint64_t dispatched; /* runs given out */
	_Atomic uint64_t refused_busy;
	_Atomic uint64_t alerts_sent, alerts_failed; /* deliveries: arrived, and tries that did not */
	_Atomic uint64_t answers[6];                 /* by hundred: 2 = 2xx */
	_Atomic uint64_t quota_differs;              /* counters of given runs that were wrong */
	_Atomic int64_t tick_ms;                     /* mono of the last tick that succeeded */
	_Atomic int64_t commit_ms;                   /* mono of the last commit that succeeded */
	struct ax_histogram lateness;                /* birth of a scheduled run after its due time */
	struct ax_histogram given;                   /* first claim after the due time */
	struct ax_histogram commit;                  /* time of one commit */
};

void ax_histogram_add(struct ax_histogram *histogram, int64_t ms);
/* Sees every run that is made. */
void ax_count_birth(struct ax_run_counts *counts, const struct ax_run *run);
/* Sees every change of a run. */
void ax_count_run(struct ax_run_counts *counts, const struct ax_run *run);
void ax_metrics_add(struct ax_metrics *metrics, const struct ax_run_counts *counts);

/* What is counted in the store. */
struct ax_stored_counts {
	int64_t runs[32];   /* live ones by state */
	int64_t alerts[32]; /* open ones by rule */
	int64_t deliveries; /* pending */
	int64_t next_ms;    /* when the next thing becomes due, or the oldest one did; 0 = nothing is known */
};

struct ax_server;
/* The page in Prometheus' text format. Loop thread. */
void ax_metrics_print(struct ax_server *server, const struct ax_stored_counts *stored, struct ax_buf *out);

#endif
