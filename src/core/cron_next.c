#include "core/cron.h"

#include "base/attr.h"
#include "base/rfc3339.h"

static const int64_t day_s = 86400;
static const int64_t year_max = 9999;
static const int64_t first_s = -62167219200; /* 0000-01-01T00:00:00 */
static const int64_t last_s = 253402300799;  /* 9999-12-31T23:59:59 */
/* No offset reaches this far (TZif allows less than 26 h), so local and UTC are never further apart. */
static const int64_t reach_s = 26 * 3600;
/* R10: a jump as long as this is a change of zone, whose skipped times do not exist. */
static const int zone_change_s = 3 * 3600;

/* --- days ---------------------------------------------------------------------------------------------------- */

/* The days of a month in question: its length and the weekday of its first day, 0 = Sunday. */
struct month {
	int length;
	int first;
};

/* Bit n = day n falls on one of the weekdays in the set. */
static uint32_t days_on(unsigned weekdays, const struct month *m)
{
	uint64_t weeks = weekdays * 0x810204081ULL; /* the week six times over */
	return (uint32_t)(weeks >> m->first << 1);
}

/* R7: the weekday nearest to a day, within the month. */
static int nearest_weekday(int day, const struct month *m)
{
	int weekday = (m->first + day - 1) % 7;
	if (weekday == 6)
		return day == 1 ? 3 : day - 1;
	if (weekday == 0)
		return day == m->length ? day - 2 : day + 1;
	return day;
}

static uint32_t special_days(const struct ax_cron *cron, const struct month *m)
{
	uint32_t days = 0;
	for (uint32_t set = cron->days_nearest; set != 0; set &= set - 1) {
		int day = __builtin_ctz(set);
		if (day <= m->length)
			days |= 1U << nearest_weekday(day, m);
	}
	for (uint32_t set = cron->days_last; set != 0; set &= set - 1) {
		int day = m->length - __builtin_ctz(set);
		if (day >= 1)
			days |= 1U << day;
	}
	for (uint32_t set = cron->days_last_nearest; set != 0; set &= set - 1) {
		int day = m->length - __builtin_ctz(set);
		if (day >= 1)
			days |= 1U << nearest_weekday(day, m);
	}
	return days;
}

static uint32_t special_weekdays(const struct ax_cron *cron, const struct month *m)
{
	uint32_t days = days_on(cron->weekdays_last, m) & (0x7fU << (m->length - 6));
	for (int k = 0; k < 5; k++)
		days |= days_on(cron->weekdays_nth[k], m) & (uint32_t)(0xfeULL << 7 * k);
	return days;
}

static uint32_t match_days(const struct ax_cron *cron, const struct month *m)
{
	uint32_t days = cron->days;
	if (cron->special)
		days |= special_days(cron, m);
	uint32_t weekdays = days_on(cron->weekdays, m);
	if (cron->special)
		weekdays |= special_weekdays(cron, m);
	uint32_t in_month = (uint32_t)((2ULL << m->length) - 2);
	return (cron->days_or ? days | weekdays : days & weekdays) & in_month;
}

static int weekday_of(int64_t days)
{
	int weekday = (int)((days + 4) % 7); /* 1970-01-01 was a Thursday */
	return weekday < 0 ? weekday + 7 : weekday;
}

uint32_t ax_cron_days_of_month(const struct ax_cron *cron, int64_t year, int month)
{
	struct month m = { ax_days_in_month(year, month), weekday_of(ax_days_from_civil(year, month, 1)) };
	return match_days(cron, &m);
}

/* --- wall times ---------------------------------------------------------------------------------------------- */

static int lowest(uint64_t set)
{
	return __builtin_ctzll(set);
}

/* The first matching second of the day at or after `from`. */
static bool next_in_day(const struct ax_cron *cron, int from, int *ret)
{
	int h = from / 3600, m = from / 60 % 60, s = from % 60;
	if (cron->hours >> h & 1) {
		if (cron->minutes >> m & 1 && cron->seconds >> s != 0) {
			*ret = h * 3600 + m * 60 + s + lowest(cron->seconds >> s);
			return true;
		}
		uint64_t later = cron->minutes >> m >> 1;
		if (later != 0) {
			*ret = h * 3600 + (m + 1 + lowest(later)) * 60 + lowest(cron->seconds);
			return true;
		}
	}
	uint32_t later = cron->hours >> h >> 1;
	if (later == 0)
		return false;
	*ret = (h + 1 + lowest(later)) * 3600 + lowest(cron->minutes) * 60 + lowest(cron->seconds);
	return true;
}

static int first_in_day(const struct ax_cron *cron)
{
	return lowest(cron->hours) * 3600 + lowest(cron->minutes) * 60 + lowest(cron->seconds);
}

/* The first listed year at or after `year`; beyond year_max when there is none. */
static int64_t next_year(const struct ax_cron *cron, int64_t year)
{
	if (cron->any_year)
		return year;
	for (int64_t bit = AX_MAX(year - AX_CRON_YEAR_MIN, 0); bit <= AX_CRON_YEAR_MAX - AX_CRON_YEAR_MIN;) {
		uint64_t word = cron->years[bit / 64] >> bit % 64;
		if (word != 0)
			return AX_CRON_YEAR_MIN + bit + lowest(word);
		bit = (bit / 64 + 1) * 64;
	}
	return year_max + 1;
}

/* The first matching day at or after a date, as days since 1970. A match comes within 40 years unless the listed
 * years end before (R8 saw to that), so the loop is short. */
static bool next_day(const struct ax_cron *cron, int64_t year, int month, int day, int64_t *ret)
{
	int64_t wanted = next_year(cron, year);
	if (wanted != year)
		month = day = 1;
	for (year = wanted; year <= year_max; year = next_year(cron, year + 1), month = day = 1) {
		for (uint32_t months = (uint32_t)cron->months >> month << month; months != 0; months &= months - 1) {
			int next_month = lowest(months);
			if (next_month != month)
				day = 1;
			int64_t first = ax_days_from_civil(year, next_month, 1);
			struct month m = { ax_days_in_month(year, next_month), weekday_of(first) };
			uint32_t days = day > 31 ? 0 : match_days(cron, &m) >> day << day;
			if (days != 0) {
				*ret = first + lowest(days) - 1;
				return true;
			}
		}
	}
	return false;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

bool ax_cron_next_local(const struct ax_cron *cron, int64_t local_s, int64_t *ret_local_s)
{
	if (local_s > last_s)
		return false;
	local_s = AX_MAX(local_s, first_s);
	int64_t today = floor_div(local_s, day_s), found;
	int64_t year;
	int month, day, second = 0;
	ax_civil_from_days(today, &year, &month, &day);
	bool later_today = next_in_day(cron, (int)(local_s - today * day_s), &second);
	if (!next_day(cron, year, month, later_today ? day : day + 1, &found))
		return false;
	*ret_local_s = found * day_s + (found == today ? second : first_in_day(cron));
	return true;
}

/* --- instants ------------------------------------------------------------------------------------------------ */

/* After this instant a search has seen a whole 400 years of calendar and zone rule: what it has not found by then
 * never comes. Expressions end here whose every wall time is skipped by the clock. */
static int64_t horizon_s(const struct ax_tz *tz, int64_t after_s)
{
	return AX_MAX(after_s, floor_div(ax_tz_rule_since_ms(tz), 1000)) + 401LL * 366 * day_s;
}

static bool within(int64_t instant_s, const struct ax_tz_span *span)
{
	return instant_s * 1000 < span->until_ms;
}

/* R10, interval: every real second is looked at with the local time that it has. `span` holds the second after. */
static bool next_interval(
	const struct ax_cron *cron, const struct ax_tz *tz, struct ax_tz_span *span, int64_t after_s, int64_t *ret_s)
{
	int64_t s = after_s + 1, wall_s;
	for (;;) {
		bool found = ax_cron_next_local(cron, s + span->offset_s, &wall_s);
		if (found && within(wall_s - span->offset_s, span)) {
			*ret_s = wall_s - span->offset_s;
			return true;
		}
		if (span->until_ms == INT64_MAX)
			return false;
		/* Once a span was long enough that no later one can show an earlier local time than s did, all spans up
		 * to the wall time just found may be passed over. */
		int64_t until_s = span->until_ms / 1000;
		bool far = until_s - s >= 2 * reach_s;
		if (far && !found)
			return false;
		s = far ? AX_MAX(until_s, wall_s - reach_s) : until_s;
		if (s > last_s || s > horizon_s(tz, after_s))
			return false;
		ax_tz_span_at(tz, s * 1000, span);
	}
}

/* The latest local time shown at or before an instant: within an overlap's second pass it is later than now's. */
static int64_t latest_local(const struct ax_tz *tz, const struct ax_tz_span *span, int64_t instant_s)
{
	int64_t latest_s = instant_s + span->offset_s;
	struct ax_tz_span before = *span;
	while (before.from_ms > (instant_s - 2 * reach_s) * 1000) {
		int64_t from_ms = before.from_ms;
		ax_tz_span_at(tz, from_ms - 1, &before);
		latest_s = AX_MAX(latest_s, from_ms / 1000 - 1 + before.offset_s);
	}
	return latest_s;
}

/* R10, fixed: a wall time fires when the local clock first reaches or passes it, and that instant grows with it. */
static bool next_fixed(
	const struct ax_cron *cron, const struct ax_tz *tz, struct ax_tz_span *span, int64_t after_s, int64_t *ret_s)
{
	int64_t wall_s, from_s = latest_local(tz, span, after_s) + 1;
	while (ax_cron_next_local(cron, from_s, &wall_s)) {
		if (within(wall_s - span->offset_s, span)) {
			*ret_s = wall_s - span->offset_s;
			return true;
		}
		ax_tz_span_at(tz, AX_MAX(span->until_ms, (wall_s - reach_s) * 1000), span);
		while (!within(wall_s - span->offset_s, span))
			ax_tz_span_at(tz, span->until_ms, span);
		int64_t fire_s = wall_s - span->offset_s;
		if (span->from_ms == INT64_MIN || fire_s * 1000 >= span->from_ms) {
			*ret_s = fire_s;
			return true;
		}
		int64_t gap_end_s = span->from_ms / 1000;
		if (span->offset_s - ax_tz_offset_s(tz, span->from_ms - 1) < zone_change_s) {
			*ret_s = gap_end_s;
			return true;
		}
		from_s = gap_end_s + span->offset_s;
		if (gap_end_s > horizon_s(tz, after_s))
			return false;
	}
	return false;
}

bool ax_cron_next(const struct ax_cron *cron, const struct ax_tz *tz, int64_t after_ms, int64_t *ret_ms)
{
	int64_t after_s = floor_div(after_ms, 1000), next_s;
	if (after_s > last_s)
		return false;
	after_s = AX_MAX(after_s, first_s - 1);
	struct ax_tz_span span;
	ax_tz_span_at(tz, (after_s + cron->interval) * 1000, &span);
	bool found = cron->interval ? next_interval(cron, tz, &span, after_s, &next_s)
				    : next_fixed(cron, tz, &span, after_s, &next_s);
	if (!found || next_s > last_s)
		return false;
	*ret_ms = next_s * 1000;
	return true;
}
