#include "core/watch.h"

#include <string.h>

#include "base/num.h"

enum { DAY_MS = 86400000, MINUTE_MS = 60000 };

bool ax_clock_parse(const char *text, int *ret_minutes)
{
	if (strlen(text) != 5 || strspn(text, "0123456789:") != 5 || text[2] != ':')
		return false;
	for (int i = 0; i < 5; i++)
		if (i != 2 && text[i] == ':')
			return false;
	int hours = (text[0] - '0') * 10 + text[1] - '0', minutes = (text[3] - '0') * 10 + text[4] - '0';
	*ret_minutes = hours * 60 + minutes;
	return hours < 24 && minutes < 60;
}

int64_t ax_clock_next(const struct ax_tz *tz, int minutes, int64_t due)
{
	int64_t local = due + (int64_t)ax_tz_offset_s(tz, due) * 1000;
	int64_t midnight = local - ((local % DAY_MS) + DAY_MS) % DAY_MS;
	for (int64_t day = midnight - DAY_MS;; day += DAY_MS) {
		struct ax_tz_local at;
		ax_tz_from_local(tz, day + (int64_t)minutes * MINUTE_MS, &at);
		if (at.first_ms > due)
			return at.first_ms;
	}
}

/* When the attempt that runs becomes too long, or stalls; 0 = never. Of shards only the whole, their parent, can be too
 * long, and only a part can stall. */
static int64_t too_long_at(const struct ax_run *run, const struct ax_task_def *def)
{
	bool runs = run->status == AX_RUN_RUNNING && run->parent == 0 && def->expected_seconds > 0;
	return runs ? run->start_time + def->expected_seconds * 1000 : 0;
}

static int64_t stalls_at(const struct ax_run *run, const struct ax_task_def *def)
{
	bool runs = run->status == AX_RUN_RUNNING && !ax_run_is_parent(run) && def->stall_seconds > 0;
	return runs ? run->progress_time + def->stall_seconds * 1000 : 0;
}

static bool is_past(int64_t instant, int64_t now)
{
	return instant != 0 && instant <= now;
}

struct ax_watch_verdict ax_watch_look(const struct ax_run *run, const struct ax_task_def *def, int64_t now)
{
	bool late = is_past(run->must_end_time, now) || is_past(too_long_at(run, def), now);
	return (struct ax_watch_verdict){
		.overran = !run->overran && late,
		.stalled = !run->stalled && is_past(stalls_at(run, def), now),
	};
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a == 0 || b == 0 ? AX_MAX(a, b) : AX_MIN(a, b);
}

int64_t ax_watch_next(const struct ax_run *run, const struct ax_task_def *def)
{
	if (ax_run_is_terminal(run->status))
		return 0;
	int64_t next = run->overran ? 0 : earlier(run->must_end_time, too_long_at(run, def));
	return run->stalled ? next : earlier(next, stalls_at(run, def));
}
