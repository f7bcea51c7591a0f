#ifndef AX_CORE_WATCH_H
#define AX_CORE_WATCH_H

/* By when a run should be done, and whether it still moves: what a task promises its users (SLO), and when to look. */

#include "base/err.h"
#include "core/task.h"
#include "core/tz.h"

/* "06:00" as minutes of the day. */
bool ax_clock_parse(const char *text, int *ret_minutes);

/* The first instant after `due` at which a clock in the zone shows so many minutes of the day. Where the clock jumps
 * over it: the end of the jump. Where it shows it twice: the first time. */
int64_t ax_clock_next(const struct ax_tz *tz, int minutes, int64_t due);

/* What a run does wrong at `now`, beyond what its row says already. */
struct ax_watch_verdict {
	bool overran; /* it did not end at must_end_time, or its attempt runs longer than expected */
	bool stalled; /* no new progress for stall_seconds */
};
struct ax_watch_verdict ax_watch_look(const struct ax_run *run, const struct ax_task_def *def, int64_t now);

/* When to look next; 0 = there is nothing more to find in this state. */
int64_t ax_watch_next(const struct ax_run *run, const struct ax_task_def *def);

#endif
