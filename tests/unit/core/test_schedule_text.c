/* Schedules in words, warnings, and previews around clock changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/rfc3339.h"
#include "core/schedule_text.h"

static struct ax_zones *zones;

static int64_t instant(const char *s)
{
	int64_t ms;
	if (!ax_rfc3339_parse(s, strlen(s), &ms))
		fail_msg("not an instant: %s", s);
	return ms;
}

static struct ax_schedule parsed(const char *expr)
{
	struct ax_schedule schedule;
	struct ax_err err;
	if (ax_schedule_parse(expr, strlen(expr), AX_DIALECT_NONE, &schedule, &err) != AX_OK)
		fail_msg("%s: %s", expr, err.msg);
	return schedule;
}

static size_t preview(const struct ax_schedule *schedule, const struct ax_tz *tz, int64_t anchor_ms, int64_t after_ms,
	int64_t until_ms, struct ax_fire *items, size_t cap)
{
	const struct ax_rule rule = { .schedule = *schedule, .tz = tz, .anchor_ms = anchor_ms };
	return ax_schedule_preview(&rule, after_ms, until_ms, items, cap);
}

static void test_words(void **state)
{
	(void)state;
	static const struct {
		const char *expr, *words;
	} cases[] = {
		{ "30 2 * * *", "at 02:30 every day" },
		{ "0 8,20 * * MON-FRI", "at 08:00 and 20:00 on Monday to Friday" },
		{ "* * * * *", "every minute" },
		{ "*/15 * * * *", "every 15 minutes" },
		{ "*/15 2 * * *", "every 15 minutes in hour 2" },
		{ "*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56" },
		{ "5,20 * * * *", "at minutes 5 and 20 of every hour" },
		{ "30 8-17 * * *", "at minute 30 in hours 8-17" },
		{ "0 0 13 * FRI", "at 00:00 on day 13 or on any Friday" },
		{ "0 0 */2 * MON", "at 00:00 on odd days that are Monday" },
		{ "0 0 L * *", "at 00:00 on the last day" },
		{ "0 0 1,L-2 JAN-MAR,JUN *", "at 00:00 on day 1, 2 days before the last in January to March and June" },
		{ "0 0 0 LW * ?", "at 00:00 on the last working day" },
		{ "0 0 0 15W * ?", "at 00:00 on the working day nearest to day 15" },
		{ "0 0 0 ? * FRIL", "at 00:00 on the last Friday" },
		{ "0 0 0 ? * MON#2,WED#4", "at 00:00 on the 2nd Monday, the 4th Wednesday" },
		{ "15 0 9 1 1 ? 2027-2030,2035", "at 09:00:15 on day 1 in January in 2027-2030, 2035" },
		{ "*/10 * * * * ?", "every 10 seconds" },
		{ "* 5 * * * ?", "every second of minute 5 of every hour" },
		{ "5 * * * * ?", "at second 5 of every minute" },
		{ "@hourly", "at minute 0 of every hour" },
		{ "@every 90m", "every 1h30m" },
		{ "@after 45s", "45s after the previous run ended" },
		{ "@at 2027-01-01T01:00:00+01:00", "once at 2027-01-01T00:00:00Z" },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_schedule schedule = parsed(cases[i].expr);
		struct ax_buf text;
		ax_buf_init(&text, 4096);
		ax_schedule_describe(&schedule, &text);
		assert_string_equal(text.data, cases[i].words);
		ax_buf_done(&text);
	}
}

static void test_warnings(void **state)
{
	(void)state;
	static const struct {
		const char *expr;
		unsigned warnings;
		const char *text; /* of the lowest one */
	} cases[] = {
		{ "30 2 * * *", 0, NULL },
		{ "0 0 13 * FRI", AX_WARN_DAYS_OR, "Runs on day 13 or on any Friday." },
		{ "0 0 */2 * MON", AX_WARN_DAYS_AND,
			"Runs on odd days that are Monday, as crond does; many libraries read this as \"or\"." },
		{ "*/7 * * * *", AX_WARN_STEP_RESTARTS,
			"A step of 7 minutes begins anew in every hour. For an even beat use @every 7m." },
		{ "0 */5 * * *", AX_WARN_STEP_RESTARTS,
			"A step of 5 hours begins anew in every day. For an even beat use @every 5h." },
		{ "0 0 31 * *", AX_WARN_SHORT_MONTHS, "Does not run in every month: some have no such day." },
		{ "0 0 31 1,3 *", 0, NULL },
		{ "0 0 0 ? * MON#5", AX_WARN_SHORT_MONTHS, "Does not run in every month: some have no such day." },
		{ "*/10 2 * * *", AX_WARN_INTERVAL_HOURS,
			"Follows the clock within hour 2: does not run in an hour that the clock skips, and runs twice "
			"through one that it repeats." },
		{ "@every 7m", 0, NULL },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_schedule schedule = parsed(cases[i].expr);
		assert_int_equal(ax_schedule_warnings(&schedule), cases[i].warnings);
		if (cases[i].text == NULL)
			continue;
		struct ax_buf text;
		ax_buf_init(&text, 4096);
		ax_schedule_warning_text(&schedule, (enum ax_schedule_warning)cases[i].warnings, &text);
		assert_string_equal(text.data, cases[i].text);
		assert_true(strlen(ax_schedule_warning_code((enum ax_schedule_warning)cases[i].warnings)) > 0);
		ax_buf_done(&text);
	}
}

/* The first noted item after `from`. */
static void check_note(const char *expr, const char *zone, const char *from, enum ax_fire_note note, bool fires,
	const char *at, const char *text)
{
	struct ax_schedule schedule = parsed(expr);
	struct ax_fire items[40];
	const struct ax_tz *tz = ax_zones_find(zones, zone);
	assert_non_null(tz);
	size_t n = preview(&schedule, tz, instant(from), instant(from), INT64_MAX, items, AX_COUNT(items)), i = 0;
	while (i < n && items[i].note != note)
		i++;
	if (i == n)
		fail_msg("%s in %s: no note %s", expr, zone, ax_fire_note_code(note));
	assert_true(items[i].ms == instant(at));
	assert_int_equal(items[i].fires, fires);
	struct ax_buf buf;
	ax_buf_init(&buf, 4096);
	ax_fire_note_text(&items[i], &buf);
	assert_string_equal(buf.data, text);
	ax_buf_done(&buf);
}

static void test_notes(void **state)
{
	(void)state;
	check_note("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", AX_NOTE_GAP_MOVED, true,
		"2026-03-29T01:00:00Z",
		"29 Mar: 02:30 does not exist on this day; the task runs at 03:00 CEST, when the clock moves forward.");
	check_note("30 2 * * *", "Europe/Berlin", "2026-10-23T12:00:00Z", AX_NOTE_OVERLAP_FIRST, true,
		"2026-10-25T00:30:00Z", "25 Oct: 02:30 occurs twice; the task runs at the first (CEST).");
	check_note("*/30 * * * *", "Europe/Berlin", "2026-10-24T20:00:00Z", AX_NOTE_OVERLAP_BOTH, true,
		"2026-10-25T00:00:00Z", "25 Oct: this interval task runs through both passes of 02:00-03:00.");
	check_note("*/10 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", AX_NOTE_GAP_SKIPPED, false,
		"2026-03-29T01:00:00Z",
		"29 Mar: the task does not run from 02:00 to 03:00: these times do not exist on this day.");
	check_note("0 12 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", AX_NOTE_CHANGE_DAY, true,
		"2026-03-29T10:00:00Z", "29 Mar: the clock moves from 02:00 to 03:00 on this day.");
	check_note("0 12 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", AX_NOTE_CHANGE_DAY, true,
		"2026-10-25T11:00:00Z", "25 Oct: the clock moves from 03:00 back to 02:00 on this day.");
	check_note("30 23 * * *", "America/Nuuk", "2024-03-29T12:00:00Z", AX_NOTE_GAP_MOVED, true,
		"2024-03-31T01:00:00Z",
		"30 Mar: 23:30 does not exist on this day; the task runs at 31 Mar 00:00 -01, when the clock moves "
		"forward.");
	check_note("0 9 * * *", "Pacific/Apia", "2011-12-28T12:00:00Z", AX_NOTE_GAP_SKIPPED, false,
		"2011-12-30T10:00:00Z",
		"30 Dec: the task does not run from 00:00 to 31 Dec 00:00: these times do not exist on this day.");
	check_note("@every 6h", "Europe/Berlin", "2026-03-28T12:00:00Z", AX_NOTE_CHANGE_DAY, true,
		"2026-03-29T00:00:00Z", "29 Mar: the clock moves from 02:00 to 03:00 on this day.");
}

static void test_a_fire_in_full(void **state)
{
	(void)state;
	struct ax_schedule schedule = parsed("30 2 * * *");
	struct ax_fire items[3];
	const struct ax_tz *tz = ax_zones_find(zones, "Europe/Berlin");
	int64_t from_ms = instant("2026-03-28T01:30:00Z");
	assert_int_equal(preview(&schedule, tz, 0, from_ms, INT64_MAX, items, 3), 3);
	assert_true(items[0].wall_ms == instant("2026-03-29T02:30:00Z"));
	assert_true(items[0].from_ms == instant("2026-03-29T02:00:00Z"));
	assert_true(items[0].until_ms == instant("2026-03-29T03:00:00Z"));
	assert_int_equal(items[0].offset_s, 7200);
	assert_string_equal(items[0].abbr, "CEST");
	assert_int_equal(items[1].note, AX_NOTE_NONE);
	/* An end that is a fire is included, one just before it is not. */
	assert_int_equal(preview(&schedule, tz, 0, from_ms, items[1].ms, items, 3), 2);
	assert_int_equal(preview(&schedule, tz, 0, from_ms, items[1].ms - 1, items, 3), 1);
	assert_int_equal(preview(&schedule, tz, 0, from_ms, INT64_MAX, items, 0), 0);
	/* Both passes are told apart. */
	schedule = parsed("0 * * * *");
	assert_int_equal(preview(&schedule, tz, 0, instant("2026-10-24T23:30:00Z"), INT64_MAX, items, 3), 3);
	assert_true(items[0].pass == 1 && items[1].pass == 2 && items[2].note == AX_NOTE_CHANGE_DAY);
	/* Nothing to come. */
	schedule = parsed("0 0 0 1 1 ? 1999");
	assert_int_equal(preview(&schedule, tz, 0, from_ms, INT64_MAX, items, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_a_fire_in_full),
	};
	zones = ax_zoneinfo_open(NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ax_zoneinfo_close(zones);
	return failed;
}
