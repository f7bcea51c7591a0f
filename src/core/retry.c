#include "core/retry.h"

#include "base/attr.h"
#include "core/limits.h"

int64_t ax_retry_delay_ms(int64_t retries, uint64_t random)
{
	int64_t delay = AX_RETRY_CAP_MS;
	if (retries < 5) /* 2^5 minutes is past the cap */
		delay = AX_MIN((int64_t)AX_RETRY_BASE_MS << retries, (int64_t)AX_RETRY_CAP_MS);
	int64_t tenth = delay / 10;
	return delay - tenth + (int64_t)(random % (uint64_t)(2 * tenth + 1));
}
