#ifndef AX_CORE_LANE_H
#define AX_CORE_LANE_H

/* Long runs have a lane of their own, narrower than the whole: they may hold a share of a group's quota, of a worker's
 * backlog and of its pool, so that they never hold up short ones. Short runs may use everything; since all queues go by
 * rank, which a waiting run's age raises, neither lane starves the other. */

#include <stdint.h>

/* As a task's rule any of them; a run is in the short or the long one. The numbers are stored. */
enum ax_run_lane { AX_RUN_LANE_AUTO = 0, AX_RUN_LANE_SHORT = 1, AX_RUN_LANE_LONG = 2 };

enum { AX_LANE_LONG_MS = 1000 }; /* auto: a task whose p90 is about this or more is long */

/* The lane of a new run. `p90_ms` of the task's past runs, -1 = none yet: that counts as short. */
enum ax_run_lane ax_lane_choose(enum ax_run_lane rule, int64_t p90_ms);

/* What long runs may hold of `whole` places: never none, or they would wait for ever. */
int64_t ax_lane_share(int64_t whole, int64_t percent);

const char *ax_lane_name(enum ax_run_lane lane);

#endif
