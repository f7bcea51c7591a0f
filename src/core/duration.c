#include "core/duration.h"

#include <inttypes.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"

/* Eight classes an octave; below 16 each number is its own. */
static int64_t class_of(int64_t ms)
{
	if (ms < 8)
		return ms;
	int shift = 60 - __builtin_clzll((unsigned long long)ms);
	return shift * 8 + (ms >> shift);
}

static int64_t upper_bound(int64_t class)
{
	if (class < 16)
		return class;
	int64_t shift = class / 8 - 1;
	return ((class % 8 + 9) << shift) - 1;
}

/* The pair at *at, which moves behind it; false at the end. */
static bool next_pair(const char **at, int64_t *ret_class, int64_t *ret_count)
{
	size_t colon = strcspn(*at, ":");
	if ((*at)[colon] == '\0')
		return false;
	size_t len = strcspn(*at + colon + 1, " ");
	bool good = ax_parse_i64(*at, colon, 0, INT64_MAX, ret_class) &&
		ax_parse_i64(*at + colon + 1, len, 1, INT64_MAX, ret_count);
	*at += colon + 1 + len;
	*at += strspn(*at, " ");
	return good;
}

const char *ax_durations_add(struct ax_arena *arena, const char *durations, int64_t ms)
{
	int64_t wanted = class_of(AX_MAX(ms, 0)), class, count;
	const char *out = "";
	bool added = false;
	for (const char *at = durations; next_pair(&at, &class, &count);) {
		if (class > wanted && !added)
			out = ax_sprintf(arena, "%s%s%" PRId64 ":1", out, out[0] ? " " : "", wanted);
		added = added || class >= wanted;
		out = ax_sprintf(
			arena, "%s%s%" PRId64 ":%" PRId64, out, out[0] ? " " : "", class, count + (class == wanted));
	}
	return added ? out : ax_sprintf(arena, "%s%s%" PRId64 ":1", out, out[0] ? " " : "", wanted);
}

int64_t ax_durations_quantile(const char *durations, int percent)
{
	int64_t class, count, total = 0, seen = 0;
	for (const char *at = durations; next_pair(&at, &class, &count);)
		total += count;
	for (const char *at = durations; next_pair(&at, &class, &count);) {
		seen += count;
		if (seen * 100 >= total * percent)
			return upper_bound(class);
	}
	return -1;
}
