/* Calendars: what a date is, the files that people bring, and the rule of a task on top of them. */
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
#include "base/rfc3339.h"
#include "core/rule.h"

enum { MONDAY_TO_FRIDAY = 0x3e };

static struct ax_zones *zones;
static struct ax_arena arena;

static int64_t day_of(const char *date)
{
	int64_t day;
	assert_true(ax_date_parse(date, strlen(date), &day));
	return day;
}

static int64_t instant(const char *s)
{
	int64_t ms;
	assert_true(ax_rfc3339_parse(s, strlen(s), &ms));
	return ms;
}

static struct ax_calendar read_csv(unsigned week, const char *text)
{
	struct ax_calendar calendar;
	struct ax_err err;
	if (ax_calendar_read_csv(&arena, text, strlen(text), &calendar, &err) != AX_OK)
		fail_msg("%s", err.msg);
	calendar.week = week;
	return calendar;
}

static char *read_file(const char *name)
{
	char path[512], *text = ax_alloc(&arena, 65536);
	snprintf(path, sizeof(path), "%s/%s", AX_TEST_DATA, name);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		fail_msg("no file %s", path);
	text[fread(text, 1, 65535, file)] = '\0';
	fclose(file);
	return text;
}

static struct ax_calendar china(void)
{
	return read_csv(MONDAY_TO_FRIDAY, read_file("../../docs/examples/china-workdays.csv"));
}

static int count_in(const struct ax_calendar *calendar, const char *from, const char *to)
{
	int n = 0;
	for (int64_t day = day_of(from); day <= day_of(to); day++)
		n += ax_calendar_is_in(calendar, day);
	return n;
}

/* The State Council's arrangement gives 251 working days in 2024, 248 in 2025 and 248 in 2026. */
static void test_make_up_workdays(void **state)
{
	(void)state;
	struct ax_calendar calendar = china();
	assert_int_equal(count_in(&calendar, "2024-01-01", "2024-12-31"), 251);
	assert_int_equal(count_in(&calendar, "2025-01-01", "2025-12-31"), 248);
	assert_int_equal(count_in(&calendar, "2026-01-01", "2026-12-31"), 248);
	assert_true(ax_calendar_is_in(&calendar, day_of("2025-10-11")));  /* a Saturday */
	assert_false(ax_calendar_is_in(&calendar, day_of("2025-10-08"))); /* a Wednesday */
	assert_string_equal(
		ax_calendar_exception(&calendar, day_of("2025-02-08"))->label, "make-up for Spring Festival");
	assert_null(ax_calendar_exception(&calendar, day_of("2025-02-09")));
	int64_t day;
	assert_true(ax_calendar_next(&calendar, day_of("2025-10-01"), true, &day));
	assert_int_equal(day, day_of("2025-10-09"));
	assert_true(ax_calendar_next(&calendar, day_of("2025-10-09"), false, &day));
	assert_int_equal(day, day_of("2025-10-12"));
}

static void test_next_without_a_week(void **state)
{
	(void)state;
	struct ax_calendar calendar = read_csv(0, "2025-05-01,in,\n2030-05-01,in,\n2031-01-01,out,\n");
	int64_t day;
	assert_true(ax_calendar_next(&calendar, day_of("2025-05-02"), true, &day));
	assert_int_equal(day, day_of("2030-05-01"));
	assert_false(ax_calendar_next(&calendar, day_of("2030-05-02"), true, &day));
	assert_true(ax_calendar_next(&calendar, day_of("2030-05-01"), false, &day));
	assert_int_equal(day, day_of("2030-05-02"));
}

/* Stored and exported text says the same as what was read. */
static void test_texts(void **state)
{
	(void)state;
	struct ax_calendar calendar = read_csv(0x41,
				   "\xef\xbb\xbf"
				   "date,kind,label\r\n2025-10-01,holiday,\"National Day, \"\"golden week\"\"\"\r\n\r\n"
				   "2025-09-28,workday\r\n2025-09-28,in,again\r\n"),
			   again;
	struct ax_err err;
	const char *text = ax_calendar_text(&arena, &calendar);
	assert_string_equal(text, "2025-09-28 in\n2025-10-01 out National Day, \"golden week\"\n");
	assert_int_equal(ax_calendar_parse(&arena, 0x41, text, &again, &err), AX_OK);
	assert_int_equal(again.week, 0x41);
	assert_string_equal(ax_calendar_text(&arena, &again), text);
	assert_string_equal(ax_calendar_csv(&arena, &again),
		"date,kind,label\n2025-09-28,in,\n2025-10-01,out,\"National Day, \"\"golden week\"\"\"\n");
	struct ax_calendar more = read_csv(0, "date,kind\n2025-10-01,in,work\n2025-12-25,out,\n");
	struct ax_calendar merged = ax_calendar_merge(&arena, &again, &more);
	assert_string_equal(ax_calendar_text(&arena, &merged), "2025-09-28 in\n2025-10-01 in work\n2025-12-25 out\n");
	assert_int_equal(merged.week, 0x41);
	assert_int_equal(ax_calendar_parse(&arena, 0, "2025-10-01 maybe\n", &again, &err), AX_INVALID);
	assert_int_equal(ax_calendar_parse(&arena, 0, "2025-02-30 in\n", &again, &err), AX_INVALID);
}

static void test_csv_refuses_by_line(void **state)
{
	(void)state;
	static const char *const files[] = {
		"2025-10-01,in,\n\n2025-13-01,in,\n",
		"2025-10-01,in,\n\n2025-10-01\n",
		"2025-10-01,in,\n\n2025-10-02,maybe,\n",
		"2025-10-01,in,\n\n2025-10-02,in,a,b\n",
		"2025-10-01,in,\n\n2025-10-02,in,\"a\"b\n",
		"2025-10-01,in,\n\n2025-10-02,in,\"a\n",
		"2025-10-01,in,\n\n2025-10-01,out,\n",
		"2025-10-01,in,\n\n2025-10-02,in,\x01\n",
		"2025-10-01,in,\n\n2025-10-02,in,\xff\n",
		"2025-10-01,in,\n\n1969-10-02,in,\n",
		"2025-10-01,in,\n\n,,\n",
		"2025-10-01,in,\n\n2025-10-02,IN,\n",
	};
	struct ax_calendar calendar;
	for (size_t i = 0; i < AX_COUNT(files); i++) {
		struct ax_err err = { 0 };
		if (ax_calendar_read_csv(&arena, files[i], strlen(files[i]), &calendar, &err) != AX_INVALID ||
			strstr(err.msg, "line 3") == NULL)
			fail_msg("file %zu: %s", i, err.msg);
	}
}

#define EVENT(lines) "BEGIN:VEVENT\r\n" lines "END:VEVENT\r\n"
#define ICS(lines) "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" lines "END:VCALENDAR\r\n"

static void check_ics(const char *file, const char *expect)
{
	struct ax_calendar calendar;
	struct ax_err err;
	if (ax_calendar_read_ics(&arena, file, strlen(file), false, &calendar, &err) != AX_OK)
		fail_msg("%s: %s", file, err.msg);
	assert_string_equal(ax_calendar_text(&arena, &calendar), expect);
}

static void test_ics(void **state)
{
	(void)state;
	check_ics(ICS(), "");
	check_ics(ICS(EVENT("UID:1\r\nDTSTAMP:20240101T000000Z\r\nDTSTART;VALUE=DATE:20251001\r\n"
			    "DTEND;VALUE=DATE:20251003\r\nSUMMARY;LANGUAGE=en:Nation\r\n al Day\\, long\r\n")),
		"2025-10-01 out National Day, long\n2025-10-02 out National Day, long\n");
	check_ics(ICS(EVENT("DTSTART:20251001\nDURATION:P1W\nX-APPLE-SPECIAL-DAY:ALTERNATE-WORKDAY\n")),
		"2025-10-01 in\n2025-10-02 in\n2025-10-03 in\n2025-10-04 in\n2025-10-05 in\n2025-10-06 in\n2025-10-07 "
		"in\n");
	check_ics(ICS(EVENT("DTSTART;VALUE=DATE:20251001\nSTATUS:CANCELLED\n")), "");
	check_ics(
		ICS("BEGIN:VTIMEZONE\nTZID:x\nBEGIN:STANDARD\nRRULE:FREQ=MONTHLY\nEND:STANDARD\nEND:VTIMEZONE\n" EVENT(
			"DTSTART;VALUE=DATE:20251001\nBEGIN:VALARM\nTRIGGER:-PT15M\nEND:VALARM\n")),
		"2025-10-01 out\n");
	check_ics(ICS(EVENT("DTSTART;VALUE=DATE:20241225\nRRULE:FREQ=YEARLY;UNTIL=20261225;WKST=MO\nSUMMARY:Xmas\n")),
		"2024-12-25 out Xmas\n2025-12-25 out Xmas\n2026-12-25 out Xmas\n");
	/* 29 February comes in the years that have one, and these are counted */
	check_ics(ICS(EVENT("DTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY;COUNT=2;BYMONTH=2;BYMONTHDAY=29\n")),
		"2024-02-29 out\n2028-02-29 out\n");
	check_ics(ICS(EVENT("DTSTART;VALUE=DATE:20240501\nDTEND;VALUE=DATE:20240503\nRRULE:FREQ=YEARLY;INTERVAL=2;"
			    "COUNT=2\n")),
		"2024-05-01 out\n2024-05-02 out\n2026-05-01 out\n2026-05-02 out\n");
	struct ax_calendar calendar;
	struct ax_err err;
	const char *forever = ICS(EVENT("DTSTART;VALUE=DATE:20201225\nRRULE:FREQ=YEARLY\n"));
	assert_int_equal(ax_calendar_read_ics(&arena, forever, strlen(forever), false, &calendar, &err), AX_OK);
	assert_int_equal(calendar.n, AX_CALENDAR_REPEAT_UNTIL - 2020 + 1);
	assert_int_equal(calendar.days[calendar.n - 1].day, day_of("2099-12-25"));
}

static void test_ics_refuses_by_line(void **state)
{
	(void)state;
	static const struct {
		int line;
		const char *file;
	} refused[] = {
		{ 5, ICS(EVENT("DTSTART:20251001T090000Z\n")) },
		{ 5, ICS(EVENT("DTSTART;TZID=Asia/Shanghai:20251001T090000\n")) },
		{ 5, ICS(EVENT("DTSTART;VALUE=DATE:20250230\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nRRULE:FREQ=MONTHLY\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nRRULE:FREQ=YEARLY;BYDAY=4TH\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nRRULE:FREQ=YEARLY;BYMONTH=11\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nRRULE:FREQ=YEARLY;INTERVAL=0\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nRRULE:COUNT=3\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nEXDATE;VALUE=DATE:20261001\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nRDATE;VALUE=DATE:20261001\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nRECURRENCE-ID:20261001\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nDTEND;VALUE=DATE:20251001\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nDURATION:PT24H\n")) },
		{ 8, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nSUMMARY:Nation\n al Day\nFOO:bar\n")) },
		{ 6, ICS(EVENT("DTSTART;VALUE=DATE:20251001\nX-APPLE-SPECIAL-DAY:OTHER\n")) },
		{ 6, ICS(EVENT("SUMMARY:no date\n")) },
		{ 4, ICS("BEGIN:VTODO\nEND:VTODO\n") },
		{ 4, ICS("FOO:bar\n") },
		{ 4, ICS("CALSCALE:HEBREW\n") },
		{ 1, "" },
		{ 1, "date,kind,label\n" },
		{ 1, "VERSION:2.0\n" },
		{ 2, "BEGIN:VCALENDAR\nBEGIN:VEVENT\n" },
		{ 10,
			ICS(EVENT("DTSTART:20251001\n")
					EVENT("DTSTART:20251001\nX-APPLE-SPECIAL-DAY:ALTERNATE-WORKDAY\n")) },
	};
	struct ax_calendar calendar;
	for (size_t i = 0; i < AX_COUNT(refused); i++) {
		struct ax_err err = { 0 };
		char line[32];
		enum ax_status status =
			ax_calendar_read_ics(&arena, refused[i].file, strlen(refused[i].file), false, &calendar, &err);
		snprintf(line, sizeof(line), "line %d:", refused[i].line);
		if (status != AX_INVALID || strstr(err.msg, line) == NULL)
			fail_msg("case %zu: %d %s", i, (int)status, err.msg);
	}
}

/* --- rules -------------------------------------------------------------------------------------------------------- */

static struct ax_rule rule_of(const char *expr, const char *zone, const struct ax_calendar *calendar)
{
	struct ax_rule rule = { .calendar = calendar };
	struct ax_err err;
	if (ax_schedule_parse(expr, strlen(expr), AX_DIALECT_NONE, &rule.schedule, &err) != AX_OK)
		fail_msg("%s: %s", expr, err.msg);
	rule.tz = ax_zones_find(zones, zone);
	assert_non_null(rule.tz);
	return rule;
}

/* `expect` is a list of instants with blanks between them, "none" at its end when there must be no more. */
static void check_fires(const struct ax_rule *rule, const char *from, const char *expect)
{
	int64_t ms = instant(from);
	while (*expect != '\0') {
		int len = (int)strcspn(expect, " ");
		char got[AX_RFC3339_SIZE] = "none";
		if (ax_rule_next(rule, ms, &ms))
			ax_rfc3339_format(ms, got);
		if ((int)strlen(got) != len || memcmp(got, expect, (size_t)len) != 0)
			fail_msg("from %s: %s, want %.*s", from, got, len, expect);
		expect += len + (expect[len] == ' ');
	}
}

static void test_every_workday_at_nine(void **state)
{
	(void)state;
	struct ax_calendar calendar = china();
	struct ax_rule rule = rule_of("0 9 * * *", "Asia/Shanghai", &calendar);
	check_fires(&rule, "2025-09-25T12:00:00Z",
		"2025-09-26T01:00:00Z 2025-09-28T01:00:00Z 2025-09-29T01:00:00Z 2025-09-30T01:00:00Z "
		"2025-10-09T01:00:00Z 2025-10-10T01:00:00Z 2025-10-11T01:00:00Z 2025-10-13T01:00:00Z");
	rule.excludes = true;
	check_fires(&rule, "2025-09-25T12:00:00Z", "2025-09-27T01:00:00Z 2025-10-01T01:00:00Z 2025-10-02T01:00:00Z");
	/* the date is that of the zone: 22:30 UTC on Friday is Saturday in Shanghai */
	struct ax_rule late = rule_of("30 6 * * *", "Asia/Shanghai", &calendar);
	check_fires(&late, "2025-10-16T00:00:00Z", "2025-10-16T22:30:00Z 2025-10-19T22:30:00Z");
}

/* In 2018 Sao Paulo set its clock back at 24:00 to 23:00; Santiago sets it forward at 24:00. */
static void test_dates_where_the_clock_moves(void **state)
{
	(void)state;
	struct ax_calendar no_sunday = read_csv(0x7e, ""), sunday = read_csv(0x01, ""), saturday = read_csv(0x40, "");
	struct ax_rule rule = rule_of("*/30 * * * *", "America/Sao_Paulo", &no_sunday);
	check_fires(&rule, "2018-02-18T01:29:00Z",
		"2018-02-18T01:30:00Z 2018-02-18T02:00:00Z 2018-02-18T02:30:00Z "
		"2018-02-19T03:00:00Z");
	rule = rule_of("*/30 * * * *", "America/Sao_Paulo", &sunday);
	check_fires(&rule, "2018-02-12T12:00:00Z", "2018-02-18T03:00:00Z 2018-02-18T03:30:00Z");
	/* midnight of Sunday, 7 September 2025 does not exist in Santiago: what fires when the gap ends has that date
	 */
	rule = rule_of("0 0 * * *", "America/Santiago", &sunday);
	check_fires(&rule, "2025-09-05T12:00:00Z", "2025-09-07T04:00:00Z 2025-09-14T03:00:00Z");
	rule = rule_of("59 23 * * *", "America/Santiago", &saturday);
	check_fires(&rule, "2025-09-05T12:00:00Z", "2025-09-07T03:59:00Z 2025-09-14T02:59:00Z");
}

/* B096 */
static void test_validity(void **state)
{
	(void)state;
	struct ax_rule rule = rule_of("0 9 * * *", "UTC", NULL);
	rule.valid_from = instant("2025-10-02T09:00:00Z");
	rule.valid_until = instant("2025-10-04T09:00:00Z");
	check_fires(&rule, "2025-01-01T00:00:00Z", "2025-10-02T09:00:00Z 2025-10-03T09:00:00Z none");
	rule.valid_until++;
	check_fires(&rule, "2025-10-03T12:00:00Z", "2025-10-04T09:00:00Z none");
	rule = rule_of("@after 60s", "UTC", NULL);
	rule.valid_from = instant("2025-10-02T09:00:00Z");
	rule.valid_until = instant("2025-10-03T09:00:00Z");
	int64_t ms;
	assert_true(ax_rule_follow(&rule, instant("2025-01-01T00:00:00Z"), &ms));
	assert_int_equal(ms, rule.valid_from);
	assert_true(ax_rule_follow(&rule, instant("2025-10-03T08:58:59Z"), &ms));
	assert_int_equal(ms, instant("2025-10-03T08:59:59Z"));
	assert_false(ax_rule_follow(&rule, instant("2025-10-03T08:59:00Z"), &ms));
	assert_false(ax_rule_next(&rule, 0, &ms));
}

/* A search among dates that never fit ends, and soon. */
/* B042, B083 */
static void test_never_is_found_out_quickly(void **state)
{
	(void)state;
	struct ax_calendar none = read_csv(0, ""), monday = read_csv(0x02, ""), far = read_csv(0, "2199-12-31,in,\n");
	struct ax_rule never[] = {
		rule_of("* * * * * *", "Europe/Berlin", &none),
		rule_of("* * * * SUN", "Europe/Berlin", &monday),
		rule_of("@every 168h", "UTC", &monday), /* from a Thursday on */
		rule_of("@at 2026-11-29T09:00:00Z", "UTC", &monday),
	};
	int64_t ms;
	clock_t start = clock();
	for (size_t i = 0; i < AX_COUNT(never); i++)
		assert_false(ax_rule_next(&never[i], instant("2026-01-01T00:00:00Z"), &ms));
	struct ax_rule rare = rule_of("* * * * * *", "Europe/Berlin", &far);
	check_fires(&rare, "2026-01-01T00:00:00Z", "2199-12-30T23:00:00Z 2199-12-30T23:00:01Z");
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1.0);
}

/* Backwards: the same fires. */
static void test_last(void **state)
{
	(void)state;
	static const char *const exprs[] = { "* * 3 * * *", "0 9 * * *", "@every 7m", "*/20 * * * *",
		"@at 2025-10-05T00:00:00Z" };
	struct ax_calendar calendar = china();
	int64_t from = instant("2025-09-25T00:00:00Z"), to = instant("2025-10-12T00:00:00Z");
	for (size_t i = 0; i < 2 * AX_COUNT(exprs); i++) {
		struct ax_rule rule = rule_of(exprs[i / 2], "Asia/Shanghai", i % 2 == 0 ? NULL : &calendar);
		int64_t forward = from - 1, back = to, ms, n = 0, sum = 0;
		while (ax_rule_next(&rule, forward, &forward) && forward < to) {
			n++;
			sum += forward;
		}
		for (int64_t before = back; ax_rule_last(&rule, from, before, &ms); before = ms) {
			assert_true(ms < before);
			n--;
			sum -= ms;
		}
		assert_int_equal(n, 0);
		assert_int_equal(sum, 0);
	}
}

static void test_shortest_period(void **state)
{
	(void)state;
	static const struct {
		const char *expr;
		int64_t shortest_s;
	} cases[] = { { "* * * * *", 60 }, { "*/7 * * * *", 4 * 60 }, { "0 9 * * MON", 86400 },
		{ "0 9,17 * * *", 28800 }, { "0 23,1 * * *", 7200 }, { "50,10 9,10 * * *", 1200 }, { "* * 9 * * ?", 1 },
		{ "0,55 0 9 * * ?", 55 }, { "0,50 59,0 * * * ?", 10 }, { "@every 90s", 90 }, { "@after 30s", 30 },
		{ "@hourly", 3600 }, { "@at 2030-01-01T00:00:00Z", INT64_MAX } };
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_rule rule = rule_of(cases[i].expr, "UTC", NULL);
		if (ax_schedule_shortest_s(&rule.schedule) != cases[i].shortest_s)
			fail_msg("%s: %lld", cases[i].expr, (long long)ax_schedule_shortest_s(&rule.schedule));
	}
}

static void test_jitter(void **state)
{
	(void)state;
	int low = 0;
	assert_int_equal(ax_jitter_ms(7, 0), 0);
	for (int64_t id = 1; id <= 10000; id++) {
		int64_t ms = ax_jitter_ms(id, 600);
		assert_true(ms >= 0 && ms < 600000);
		assert_int_equal(ms, ax_jitter_ms(id, 600));
		low += ms < 300000;
	}
	assert_in_range(low, 4700, 5300);
}

static int reset(void **state)
{
	(void)state;
	ax_arena_reset(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_make_up_workdays, reset),
		cmocka_unit_test_teardown(test_next_without_a_week, reset),
		cmocka_unit_test_teardown(test_texts, reset),
		cmocka_unit_test_teardown(test_csv_refuses_by_line, reset),
		cmocka_unit_test_teardown(test_ics, reset),
		cmocka_unit_test_teardown(test_ics_refuses_by_line, reset),
		cmocka_unit_test_teardown(test_every_workday_at_nine, reset),
		cmocka_unit_test_teardown(test_dates_where_the_clock_moves, reset),
		cmocka_unit_test_teardown(test_validity, reset),
		cmocka_unit_test_teardown(test_never_is_found_out_quickly, reset),
		cmocka_unit_test_teardown(test_last, reset),
		cmocka_unit_test_teardown(test_shortest_period, reset),
		cmocka_unit_test_teardown(test_jitter, reset),
	};
	zones = ax_zoneinfo_open(NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ax_zoneinfo_close(zones);
	ax_arena_done(&arena);
	return failed;
}
