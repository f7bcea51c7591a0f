#include "core/duration.h"

#include <inttypes.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"

enum { RECENT_MAX = 200 };

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
	int64_t wanted = class_of(AX_MAX(ms, 0)), class = -1, count = 0;
	const char *at = durations, *before = durations;
	while (next_pair(&at, &class, &count) && class < wanted)
		before = at;
	bool there = class == wanted;
	const char *behind = there ? at : before; /* what stays as it is */
	return ax_sprintf(arena, "%.*s%s%" PRId64 ":%" PRId64 "%s%s", (int)(before - durations), durations,
		before > durations && before[-1] != ' ' ? " " : "", wanted, there ? count + 1 : 1,
		*behind != '\0' ? " " : "", behind);
}

const char *ax_durations_add_recent(struct ax_arena *arena, const char *durations, int64_t ms)
{
	int64_t class, count, total = 0;
	const char *faded = "";
	for (const char *at = durations; next_pair(&at, &class, &count);)
		total += count;
	if (total < RECENT_MAX)
		return ax_durations_add(arena, durations, ms);
	for (const char *at = durations; next_pair(&at, &class, &count);)
		if (count > 1)
			faded = ax_sprintf(
				arena, "%s%s%" PRId64 ":%" PRId64, faded, faded[0] ? " " : "", class, count / 2);
	return ax_durations_add(arena, faded, ms);
}

const char *ax_durations_learn(struct ax_arena *arena, const char *durations, const struct ax_run *run)
{
	bool worked = run->status == AX_RUN_SUCCESS || run->status == AX_RUN_FAILED || run->status == AX_RUN_TIMEOUT;
	if (!worked || run->start_time == 0)
		return durations;
	return ax_durations_add_recent(arena, durations, run->end_time - run->start_time);
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
