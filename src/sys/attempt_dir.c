#include "sys/attempt_dir.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/num.h"

int ax_attempt_status_format(const struct ax_attempt_status *s, char out[AX_ATTEMPT_STATUS_MAX])
{
	int n = snprintf(out, AX_ATTEMPT_STATUS_MAX,
		"ax-exec 1 end=%d code=%d signal=%d stage=%d errno=%d left=%d start_ms=%" PRId64 " end_ms=%" PRId64,
		s->end, s->code, s->signal, s->stage, s->sys_errno, s->left, s->start_ms, s->end_ms);
	n += snprintf(
		out + n, (size_t)(AX_ATTEMPT_STATUS_MAX - n), " sum=%016" PRIx64 "\n", ax_hash_bytes(out, (size_t)n));
	return n;
}

bool ax_attempt_status_parse(const char *text, size_t len, struct ax_attempt_status *ret_status)
{
	char copy[AX_ATTEMPT_STATUS_MAX];
	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	struct ax_attempt_status s;
	int fields = sscanf(copy,
		"ax-exec 1 end=%d code=%d signal=%d stage=%d errno=%d left=%d start_ms=%" SCNd64 " end_ms=%" SCNd64,
		&s.end, &s.code, &s.signal, &s.stage, &s.sys_errno, &s.left, &s.start_ms, &s.end_ms);
	if (fields != 8)
		return false;
	/* sscanf is lenient; writing the values again and comparing is not. */
	char again[AX_ATTEMPT_STATUS_MAX];
	int n = ax_attempt_status_format(&s, again);
	if ((size_t)n != len || memcmp(again, text, len) != 0)
		return false;
	*ret_status = s;
	return true;
}

int64_t ax_boottime_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
