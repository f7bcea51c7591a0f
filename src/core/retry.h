#ifndef AX_CORE_RETRY_H
#define AX_CORE_RETRY_H

#include <stdint.h>

/* Time to wait before the next try, in ms: 60 s × 2^retries, at most 30 min, ± 10 % drawn from `random` so that
 * failures that came together do not come back together. `retries` = retries made so far. */
int64_t ax_retry_delay_ms(int64_t retries, uint64_t random);

#endif
