/* The engine against a second, slow reading of the rules: a wall clock that is stepped second by second or minute by
 * minute over glibc's time zones and fires what it meets. Expressions are drawn as sets and written out as text, so the
 * oracle shares neither parser nor search with the engine. Seeds are fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/arena.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "core/schedule.h"

static struct ax_zones *zones;
static uint64_t seed;

static int draw(int n)
{
	seed = ax_mix64(seed);
	return (int)((seed >> 20) % (uint64_t)n);
}

/* --- expressions as sets --------------------------------------------------------------------------------------- */

struct set {
	bool has[64];
	char text[128];
	bool interval; /* an item begins with '*' or is v/n */
	bool star;
};

struct expression {
	struct set second, minute, hour, day, month, weekday;
	bool seconds_field;
	char text[512];
};

static void add_item(struct set *set, const char *text)
{
	if (set->text[0] != '\0')
		strcat(set->text, ",");
	strcat(set->text, text);
}

/* One item of a field whose values go from min to max. */
static void draw_item(struct set *set, int min, int max)
{
	char text[32];
	int a = min + draw(max - min + 1), b = a + draw(max - a + 1), n = 1 + draw(max - min > 20 ? 20 : max - min);
	switch (draw(6)) {
	case 0: /* v/n */
		snprintf(text, sizeof(text), "%d/%d", a, n);
		for (int v = a; v <= max; v += n)
			set->has[v] = true;
		set->interval = true;
		break;
	case 1:
		snprintf(text, sizeof(text), "*/%d", n);
		for (int v = min; v <= max; v += n)
			set->has[v] = true;
		set->interval = set->star = true;
		break;
	case 2:
		snprintf(text, sizeof(text), "%d-%d/%d", a, b, n);
		for (int v = a; v <= b; v += n)
			set->has[v] = true;
		break;
	case 3:
		snprintf(text, sizeof(text), "%d-%d", a, b);
		for (int v = a; v <= b; v++)
			set->has[v] = true;
		break;
	default:
		snprintf(text, sizeof(text), "%d", a);
		set->has[a] = true;
		break;
	}
	add_item(set, text);
}

static void all_of(struct set *set, int min, int max)
{
	for (int v = min; v <= max; v++)
		set->has[v] = true;
	set->interval = set->star = true;
	strcpy(set->text, "*");
}

/* star_in: one field in so many is '*'. */
static void draw_set(struct set *set, int min, int max, int star_in)
{
	memset(set, 0, sizeof(*set));
	if (draw(star_in) == 0) {
		all_of(set, min, max);
		return;
	}
	for (int items = 1 + (draw(3) == 0) + (draw(6) == 0); items > 0; items--)
		draw_item(set, min, max);
}

/* Hours near the clock changes, most of the time. */
static void draw_hours(struct set *set)
{
	static const int near[] = { 0, 1, 1, 2, 2, 2, 3, 3, 4, 22, 23 };
	if (draw(3) == 0) {
		draw_set(set, 0, 23, 3);
		return;
	}
	memset(set, 0, sizeof(*set));
	for (int items = 1 + draw(2); items > 0; items--) {
		char text[8];
		int h = near[draw(AX_COUNT(near))];
		snprintf(text, sizeof(text), "%d", h);
		set->has[h] = true;
		add_item(set, text);
	}
}

static void draw_expression(struct expression *e, bool seconds_field)
{
	memset(e, 0, sizeof(*e));
	e->seconds_field = seconds_field;
	draw_set(&e->minute, 0, 59, 5);
	draw_hours(&e->hour);
	if (draw(2) == 0)
		draw_set(&e->day, 1, 31, 2);
	else
		all_of(&e->day, 1, 31);
	all_of(&e->month, 1, 12);
	if (draw(3) == 0 && !(seconds_field && strcmp(e->day.text, "*") != 0))
		draw_set(&e->weekday, 0, 6, 2);
	else
		all_of(&e->weekday, 0, 6);
	if (seconds_field) {
		draw_set(&e->second, 0, 59, 6);
		snprintf(e->text, sizeof(e->text), "%s %s %s %s %s %s", e->second.text, e->minute.text, e->hour.text,
			e->day.text, e->month.text, e->weekday.text);
	} else {
		e->second.has[0] = true;
		snprintf(e->text, sizeof(e->text), "%s %s %s %s %s", e->minute.text, e->hour.text, e->day.text,
			e->month.text, e->weekday.text);
	}
}

static bool matches(const struct expression *e, int64_t wall_s)
{
	struct tm tm;
	time_t t = (time_t)wall_s;
	if (!e->second.has[wall_s % 60] || !e->minute.has[wall_s / 60 % 60] || !e->hour.has[wall_s / 3600 % 24])
		return false;
	gmtime_r(&t, &tm);
	bool day = e->day.has[tm.tm_mday], weekday = e->weekday.has[tm.tm_wday];
	bool both = e->seconds_field || e->day.star || e->weekday.star;
	return e->month.has[tm.tm_mon + 1] && (both ? day && weekday : day || weekday);
}

/* --- the stepped clock ----------------------------------------------------------------------------------------- */

struct window {
	const char *zone;
	int unit_s;
	int64_t from_s;
	int n;
	int64_t *wall_s;  /* of from_s + i × unit_s */
	int64_t latest_s; /* latest local time shown up to from_s */
};

static int64_t glibc_offset(int64_t s)
{
	struct tm tm;
	time_t t = (time_t)s;
	localtime_r(&t, &tm);
	return tm.tm_gmtoff;
}

/* A window that begins some hours before a clock change of the zone in the year; false when there is none. */
static bool open_window(struct window *w, const char *zone, int year, int unit_s, int n)
{
	setenv("TZ", zone, 1);
	tzset();
	int64_t start_s = ax_days_from_civil(year, 1, 1) * 86400 + draw(300) * 86400LL, s = start_s;
	while (s < start_s + 400LL * 86400 && glibc_offset(s) == glibc_offset(s + 1800))
		s += 1800;
	if (s >= start_s + 400LL * 86400)
		return false;
	*w = (struct window){ .zone = zone, .unit_s = unit_s, .n = n };
	/* Sometimes begin inside the change itself. */
	int64_t before_s = (int64_t)draw(n) * unit_s * 3 / 4 - 7200;
	w->from_s = (s - before_s) / 60 * 60;
	w->wall_s = ax_malloc((size_t)n * sizeof(*w->wall_s));
	for (int i = 0; i < n; i++)
		w->wall_s[i] = w->from_s + (int64_t)i * unit_s + glibc_offset(w->from_s + (int64_t)i * unit_s);
	w->latest_s = INT64_MIN;
	for (int64_t t = w->from_s; t > w->from_s - 26 * 3600; t -= unit_s)
		w->latest_s = AX_MAX(w->latest_s, t + glibc_offset(t));
	return true;
}

/* Whether the clock fires at step i, i ≥ 1, given the latest local time shown before. */
static bool fires_at(const struct window *w, const struct expression *e, int i, int64_t latest_s)
{
	if (e->second.interval || e->minute.interval || e->hour.interval)
		return matches(e, w->wall_s[i]);
	if (w->wall_s[i] <= latest_s)
		return false;
	int64_t jump_s = w->wall_s[i] - w->wall_s[i - 1] - w->unit_s;
	if (jump_s >= 3 * 3600)
		return matches(e, w->wall_s[i]);
	for (int64_t wall_s = latest_s + w->unit_s; wall_s <= w->wall_s[i]; wall_s += w->unit_s)
		if (matches(e, wall_s))
			return true;
	return false;
}

static int fires_compared;

static void compare(const struct window *w, const struct ax_tz *tz, const struct expression *e)
{
	struct ax_schedule schedule;
	struct ax_err err;
	enum ax_dialect dialect = e->seconds_field ? AX_DIALECT_SPRING : AX_DIALECT_UNIX;
	enum ax_status status = ax_schedule_parse(e->text, strlen(e->text), dialect, &schedule, &err);
	if (status != AX_OK)
		fail_msg("%s: %s", e->text, err.msg);
	int64_t latest_s = w->latest_s, next_ms = 0;
	int64_t end_ms = (w->from_s + (int64_t)(w->n - 1) * w->unit_s) * 1000;
	bool have = ax_schedule_next(&schedule, tz, 0, w->from_s * 1000, &next_ms);
	for (int i = 1; i < w->n; i++) {
		int64_t now_ms = (w->from_s + (int64_t)i * w->unit_s) * 1000;
		bool fires = fires_at(w, e, i, latest_s);
		latest_s = AX_MAX(latest_s, w->wall_s[i]);
		if (fires != (have && next_ms == now_ms)) {
			char now[AX_RFC3339_SIZE], next[AX_RFC3339_SIZE], from[AX_RFC3339_SIZE];
			ax_rfc3339_format(now_ms, now);
			ax_rfc3339_format(next_ms, next);
			ax_rfc3339_format(w->from_s * 1000, from);
			fail_msg("%s in %s from %s: at %s the clock %s, the engine's next is %s", e->text, w->zone,
				from, now, fires ? "fires" : "does not fire", have ? next : "none");
		}
		if (!fires)
			continue;
		fires_compared++;
		int64_t after_ms = next_ms;
		have = ax_schedule_next(&schedule, tz, 0, after_ms, &next_ms);
		assert_true(!have || next_ms > after_ms);
	}
	assert_true(!have || next_ms > end_ms - w->unit_s * 1000LL);
}

static void run(uint64_t first_seed, bool seconds, int windows, int n, int per_window)
{
	static const char *const names[] = { "Europe/Berlin", "America/New_York", "America/Santiago",
		"Australia/Lord_Howe", "America/Nuuk", "Pacific/Apia", "Africa/Casablanca", "Asia/Tehran",
		"America/Sao_Paulo", "Europe/Dublin", "America/Havana", "Asia/Beirut", "Africa/Cairo",
		"America/Asuncion", "Antarctica/Troll", "Pacific/Chatham", "America/St_Johns", "Atlantic/Azores",
		"Asia/Gaza", "Antarctica/Casey", "Europe/Moscow", "Asia/Pyongyang", "America/Caracas",
		"Pacific/Kiritimati" };
	seed = first_seed;
	fires_compared = 0;
	for (int i = 0; i < windows; i++) {
		struct window w;
		const char *name = names[draw(AX_COUNT(names))];
		const struct ax_tz *tz = ax_zones_find(zones, name);
		int year = strcmp(name, "Pacific/Apia") == 0 ? 2011 : 1975 + draw(80);
		assert_non_null(tz);
		if (!open_window(&w, name, year, seconds ? 1 : 60, n))
			continue;
		for (int k = 0; k < per_window; k++) {
			struct expression e;
			draw_expression(&e, seconds);
			compare(&w, tz, &e);
		}
		free(w.wall_s);
	}
	unsetenv("TZ");
	tzset();
	print_message("%d fires\n", fires_compared);
	assert_true(fires_compared > 10000);
}

static void test_minutes_around_clock_changes(void **state)
{
	(void)state;
	run(1, false, 600, 3 * 1440, 20);
}

static void test_seconds_around_clock_changes(void **state)
{
	(void)state;
	run(2, true, 120, 8 * 3600, 12);
}

/* Midnights in UTC, day by day: the search over months and years. */
static void test_days_over_years(void **state)
{
	(void)state;
	int refused = 0;
	seed = 4;
	for (int i = 0; i < 3000; i++) {
		struct expression e;
		struct ax_schedule schedule;
		struct ax_err err;
		memset(&e, 0, sizeof(e));
		e.second.has[0] = e.minute.has[0] = e.hour.has[0] = true;
		draw_set(&e.day, 1, 31, 4);
		draw_set(&e.month, 1, 12, 4);
		draw_set(&e.weekday, 0, 6, 4);
		snprintf(e.text, sizeof(e.text), "0 0 %s %s %s", e.day.text, e.month.text, e.weekday.text);
		enum ax_status status = ax_schedule_parse(e.text, strlen(e.text), AX_DIALECT_UNIX, &schedule, &err);
		int64_t s = (ax_days_from_civil(1990 + draw(150), 1, 1) + draw(366)) * 86400, next_ms = s * 1000;
		if (status == AX_NEVER)
			refused++;
		else if (status != AX_OK || !ax_schedule_next(&schedule, ax_tz_utc(), 0, next_ms, &next_ms))
			fail_msg("%s: %s", e.text, status != AX_OK ? err.msg : "no fire");
		for (int day = 0; day < 3000; day++) {
			s += 86400;
			bool fires = matches(&e, s);
			if (fires != (status == AX_OK && next_ms == s * 1000))
				fail_msg("%s on day %lld should %s", e.text, (long long)(s / 86400),
					fires ? "fire" : "not fire");
			if (fires && !ax_schedule_next(&schedule, ax_tz_utc(), 0, next_ms, &next_ms))
				fail_msg("%s ends at day %lld", e.text, (long long)(s / 86400));
		}
	}
	assert_true(refused > 0);
}

/* --- days, read naively ---------------------------------------------------------------------------------------- */

static int weekday_of(int64_t year, int month, int day)
{
	return (int)((ax_days_from_civil(year, month, day) % 7 + 11) % 7);
}

static int nearest(int64_t year, int month, int day)
{
	int length = ax_days_in_month(year, month);
	for (int distance = 0; distance < 3; distance++)
		for (int sign = -1; sign <= 1; sign += 2) {
			int d = day + sign * distance, weekday = d < 1 || d > length ? 0 : weekday_of(year, month, d);
			if (weekday >= 1 && weekday <= 5)
				return d;
		}
	return 0;
}

static bool special_matches(int form, int a, int b, int64_t year, int month, int day)
{
	int length = ax_days_in_month(year, month), weekday = weekday_of(year, month, day);
	switch (form) {
	case 0: /* aW */
		return a <= length && nearest(year, month, a) == day;
	case 1: /* L-b */
		return day == length - b;
	case 2: /* L-bW */
		return length - b >= 1 && nearest(year, month, length - b) == day;
	case 3: /* wL */
		return weekday == a % 7 && day + 7 > length;
	default: /* w#n */
		return weekday == a % 7 && (day - 1) / 7 == b % 5;
	}
}

static void test_special_days(void **state)
{
	(void)state;
	static const char *const weekdays[] = { "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT" };
	seed = 3;
	for (int i = 0; i < 3000; i++) {
		char text[64];
		int form = draw(5), a = 1 + draw(31), b = 1 + draw(30), month = 1 + draw(12);
		if (form == 0)
			snprintf(text, sizeof(text), "0 0 0 %dW * ?", a);
		else if (form <= 2)
			snprintf(text, sizeof(text), "0 0 0 L-%d%s * ?", b, form == 2 ? "W" : "");
		else if (form == 3)
			snprintf(text, sizeof(text), "0 0 0 ? * %sL", weekdays[a % 7]);
		else
			snprintf(text, sizeof(text), "0 0 0 ? * %s#%d", weekdays[a % 7], b % 5 + 1);
		struct ax_cron cron;
		assert_int_equal(ax_cron_parse(text, strlen(text), AX_DIALECT_QUARTZ, &cron, NULL), AX_OK);
		int64_t year = 1970 + draw(500);
		uint32_t days = ax_cron_days_of_month(&cron, year, month);
		for (int day = 1; day <= 31; day++) {
			bool want =
				day <= ax_days_in_month(year, month) && special_matches(form, a, b, year, month, day);
			if (want != (days >> day & 1))
				fail_msg("%s: %lld-%02d-%02d should %s", text, (long long)year, month, day,
					want ? "match" : "not match");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minutes_around_clock_changes),
		cmocka_unit_test(test_seconds_around_clock_changes),
		cmocka_unit_test(test_days_over_years),
		cmocka_unit_test(test_special_days),
	};
	zones = ax_zoneinfo_open(NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ax_zoneinfo_close(zones);
	return failed;
}
