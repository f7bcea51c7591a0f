#ifndef AX_CORE_CANARY_H
#define AX_CORE_CANARY_H

/* A canary: a new version of a task's definition that takes a share of its runs, is held against the version before by
 * failure rate and p95 of the duration, and then takes all of them or none. The schedule is never part of it. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "core/task.h"

enum ax_canary_state { AX_CANARY_RUNNING = 0, AX_CANARY_PROMOTED = 1, AX_CANARY_ROLLED_BACK = 2 };

/* The newest canary of a task. Only runs that were made since it began count, in either arm. */
struct ax_canary {
	int64_t task_id;
	int64_t base_version, version; /* version: the one on trial */
	enum ax_canary_state state;
	int64_t percent;            /* share of the runs, by a hash of the gid; 1-100 */
	bool automatic;             /* decides by the rule; else a person does */
	int64_t min_runs;           /* ended runs in each arm before it may be promoted */
	int64_t max_failure_points; /* percentage points by which its failure rate may be higher */
	int64_t max_p95_percent;    /* of the base's p95 that its own may be; 0 = durations are not compared */
	int64_t succeeded, failed, base_succeeded, base_failed;
	const char *durations, *base_durations; /* of successes, as core/duration.h writes them */
	int64_t start_time, end_time;
	const char *started_by, *ended_by; /* ended_by "rule" = decided by the rule */
	const char *reason;                /* why it ended, or "" */
};

/* Is the run of that gid one of the canary's? The same for every attempt. */
bool ax_canary_takes(int64_t gid, int64_t percent);

/* What the rule says now: RUNNING = more runs are needed. The reason is a sentence with the numbers that decided. */
enum ax_canary_state ax_canary_judge(const struct ax_canary *canary, struct ax_arena *arena, const char **ret_reason);

/* Is nothing on trial? */
bool ax_canary_same(const struct ax_task_def *base, const struct ax_task_def *trial);

/* The fields that a canary may not change: NULL, or the name of the first one that differs. */
const char *ax_canary_forbidden(const struct ax_task_def *base, const struct ax_task_def *trial);

#endif
