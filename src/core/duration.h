#ifndef AX_CORE_DURATION_H
#define AX_CORE_DURATION_H

/* How long things took, as a histogram that a row can hold: text of "class:count" pairs, by class. A class is at most
 * one eighth wide, so a quantile is right to 12.5 %. */

#include <stdint.h>

#include "base/arena.h"
#include "core/task.h"

/* The histogram with one more duration (ms, ≥ 0). */
const char *ax_durations_add(struct ax_arena *arena, const char *durations, int64_t ms);

/* The same, but of a past that fades: once there are some hundreds, all counts are halved. */
const char *ax_durations_add_recent(struct ax_arena *arena, const char *durations, int64_t ms);

/* With the duration of a run that ended, unless its end says nothing of how long the work takes. */
const char *ax_durations_learn(struct ax_arena *arena, const char *durations, const struct ax_run *run);

/* The smallest class bound that so many percent do not exceed, in ms; -1 when there are none. */
int64_t ax_durations_quantile(const char *durations, int percent);

#endif
