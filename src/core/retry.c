#include "core/retry.h"

#include <string.h>

#include "base/num.h"
#include "core/limits.h"

enum { STEP_MS = 100 };

/* The number of that index, or the last one. */
static int64_t pick(const char *numbers, int64_t index)
{
	int64_t value = 0;
	for (const char *at = numbers; *at != '\0' && index >= 0; index--) {
		size_t len = strcspn(at, " ");
		ax_parse_i64(at, len, 0, INT64_MAX, &value);
		at += len + strspn(at + len, " ");
	}
	return value;
}

static int64_t base_ms(const struct ax_task_def *def, int64_t retries)
{
	int64_t seconds = def->retry_delay_seconds;
	switch (def->retry_backoff) {
	case AX_BACKOFF_FIXED:
		return seconds * 1000;
	case AX_BACKOFF_LIST:
		return pick(def->retry_delays, retries) * 1000;
	case AX_BACKOFF_EXPONENTIAL:
		for (; retries > 0 && seconds < def->retry_cap_seconds; retries--)
			seconds *= 2;
		return AX_MIN(seconds, def->retry_cap_seconds) * 1000;
	}
	ax_die(__FILE__, __LINE__, "unknown backoff");
}

int64_t ax_retry_delay_ms(const struct ax_task_def *def, int64_t retries, uint64_t random)
{
	int64_t delay = base_ms(def, retries);
	int64_t spread = delay * def->retry_jitter_percent / 100;
	return delay - spread + (int64_t)(random % (uint64_t)(2 * spread + 1));
}

int64_t ax_retry_time(const struct ax_task_def *def, int64_t retries, uint64_t random, int64_t now)
{
	int64_t delay = ax_retry_delay_ms(def, retries, random), step = delay == 0 ? 1 : STEP_MS;
	return (now + delay + step - 1) / step * step;
}

/* One range of a rule, "75" or "500-599", at *at; moves past it and the comma behind. */
static bool read_range(const char **at, int64_t *ret_from, int64_t *ret_to)
{
	enum { CODE_MAX = 65535 };
	*at += strspn(*at, " ");
	size_t len = strspn(*at, "0123456789");
	if (!ax_parse_i64(*at, len, 0, CODE_MAX, ret_from))
		return false;
	*ret_to = *ret_from;
	*at += len;
	if (**at == '-') {
		len = strspn(++*at, "0123456789");
		if (!ax_parse_i64(*at, len, *ret_from, CODE_MAX, ret_to))
			return false;
		*at += len;
	}
	*at += strspn(*at, " ");
	if (**at == '\0')
		return true;
	if (**at != ',')
		return false;
	++*at;
	return **at != '\0';
}

bool ax_retry_on(const char *rule, int64_t code)
{
	int64_t from, to;
	if (rule[0] == '\0')
		return true;
	while (*rule != '\0' && read_range(&rule, &from, &to))
		if (code >= from && code <= to)
			return true;
	return false;
}

enum ax_status ax_retry_on_check(const char *rule, struct ax_err *err)
{
	int64_t from, to;
	for (const char *at = rule; *at != '\0';)
		if (!read_range(&at, &from, &to))
			return ax_fail(err, AX_INVALID, "retry_on",
				"write exit codes or HTTP statuses from 0 to 65535 as in 75,500-599");
	return AX_OK;
}
