#ifndef AX_CORE_RETRY_H
#define AX_CORE_RETRY_H

#include "base/err.h"
#include "core/task.h"

/* Time to wait before the next try, in ms, by the task's backoff: `retries` is how many were made so far. `random`
 * moves it by up to retry_jitter_percent, so that failures that came together do not come back together. */
int64_t ax_retry_delay_ms(const struct ax_task_def *def, int64_t retries, uint64_t random);
/* When that is, on a tenth of a second: retries fall due together, and are given out together. */
int64_t ax_retry_time(const struct ax_task_def *def, int64_t retries, uint64_t random, int64_t now);

/* Is an attempt that failed with this exit code or HTTP status tried again? `rule` as in retry_on: "75,500-599", "" =
 * every code is. */
bool ax_retry_on(const char *rule, int64_t code);

/* AX_INVALID with the field when `rule` cannot be read. */
enum ax_status ax_retry_on_check(const char *rule, struct ax_err *err);

#endif
