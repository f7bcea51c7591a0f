/* Time zones against glibc for every zone of the system, and against bytes that are no zone at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/arena.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "core/tz.h"
#include "core/tz_posix.h"
#include "make_tzif.h"

static struct ax_zones *zones;

static int64_t instant(const char *s)
{
	int64_t ms;
	if (!ax_rfc3339_parse(s, strlen(s), &ms))
		fail_msg("not an instant: %s", s);
	return ms;
}

/* Local time text without offset to local ms. */
static int64_t local(const char *s)
{
	char text[64];
	snprintf(text, sizeof(text), "%sZ", s);
	return instant(text);
}

static const struct ax_tz *zone(const char *name)
{
	const struct ax_tz *tz = ax_zones_find(zones, name);
	if (tz == NULL)
		fail_msg("no zone %s: install tzdata", name);
	return tz;
}

static struct ax_tz *from_footer(const char *footer)
{
	unsigned char bytes[512];
	struct ax_tz *tz = NULL;
	size_t len = make_tzif(bytes, footer);
	return ax_tz_parse("Test/Zone", bytes, len, &tz, NULL) == AX_OK ? tz : NULL;
}

/* --- against glibc ------------------------------------------------------------------------------------------- */

static int compared, zones_seen;

static void compare_at(const char *name, const struct ax_tz *tz, int64_t s)
{
	struct ax_tz_span span;
	struct tm tm;
	time_t t = (time_t)s;
	localtime_r(&t, &tm);
	ax_tz_span_at(tz, s * 1000, &span);
	compared++;
	if (span.offset_s != tm.tm_gmtoff || span.dst != (tm.tm_isdst > 0) || strcmp(span.abbr, tm.tm_zone) != 0)
		fail_msg("%s at %lld: %d %s dst %d, glibc %ld %s dst %d", name, (long long)s, span.offset_s, span.abbr,
			span.dst, tm.tm_gmtoff, tm.tm_zone, tm.tm_isdst);
	struct ax_tz_local back;
	ax_tz_from_local(tz, (s + span.offset_s) * 1000, &back);
	if (back.kind == AX_TZ_GAP || (back.first_ms != s * 1000 && back.second_ms != s * 1000))
		fail_msg("%s at %lld: its local time leads to %lld and %lld", name, (long long)s,
			(long long)back.first_ms, (long long)back.second_ms);
}

static void compare_zone(const char *name)
{
	const struct ax_tz *tz = ax_zones_find(zones, name);
	if (tz == NULL) /* not a zone file */
		return;
	zones_seen++;
	setenv("TZ", name, 1);
	tzset();
	int64_t end_ms = instant("2100-12-31T00:00:00Z");
	struct ax_tz_span span;
	for (int64_t ms = 0; ms < end_ms; ms = span.until_ms) {
		ax_tz_span_at(tz, ms, &span);
		for (int64_t d = -1; d <= 1; d++)
			compare_at(name, tz, ms / 1000 + d);
		if (span.until_ms == INT64_MAX)
			break;
	}
	/* Transitions that we do not know of show between ours. */
	for (int64_t s = 0; s < end_ms / 1000; s += 37 * 86400 + 12345)
		compare_at(name, tz, s);
}

static void compare_folder(const char *under)
{
	char path[600];
	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", under);
	DIR *dir = opendir(path);
	struct dirent *entry;
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char name[300];
		struct stat st;
		snprintf(name, sizeof(name), "%s%s", under, entry->d_name);
		snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
		if (!ax_tz_name_valid(name) || stat(path, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			strcat(name, "/");
			if (strcmp(name, "right/") != 0 && strcmp(name, "posix/") != 0)
				compare_folder(name);
		} else
			compare_zone(name);
	}
	closedir(dir);
}

static void test_all_zones_agree_with_glibc(void **state)
{
	(void)state;
	compare_folder("");
	unsetenv("TZ");
	tzset();
	print_message("%d zones, %d instants\n", zones_seen, compared);
	assert_true(zones_seen > 400 && compared > 200000);
}

static void test_rules_agree_with_glibc(void **state)
{
	(void)state;
	/* Every form of rule: M, J and n, southern, negative DST, times beyond a day, quoted names, fractions. Not DST
	 * all year, for which glibc shows standard time for some hours around New Year. */
	static const char *const footers[] = { "UTC0", "EST5EDT,M3.2.0,M11.1.0", "CET-1CEST,M3.5.0,M10.5.0/3",
		"IST-1GMT0,M10.5.0,M3.5.0/1", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
		"<-04>4<-03>,M9.1.6/24,M4.1.6/24", "EET-2EEST,M3.4.4/50,M10.4.4/50", "AAA3BBB,J60/0,J300/167",
		"AAA3BBB,59/-167,300/1:02:03", "AAA-12:34:56BBB-13:00:01,M2.5.1/3,M8.4.6/2", "<+03>-3" };
	for (size_t i = 0; i < AX_COUNT(footers); i++) {
		struct ax_tz *tz = from_footer(footers[i]);
		assert_non_null(tz);
		setenv("TZ", footers[i], 1);
		tzset();
		for (int64_t s = 86400LL * 365; s < 86400LL * 366 * 430; s += 86400 * 9 + 7777)
			compare_at(footers[i], tz, s);
		struct ax_tz_span span;
		for (int64_t ms = instant("1971-01-01T00:00:00Z"); ms < instant("2040-01-01T00:00:00Z");
			ms = span.until_ms) {
			ax_tz_span_at(tz, ms, &span);
			for (int64_t d = -1; d <= 1; d++)
				compare_at(footers[i], tz, ms / 1000 + d);
			if (span.until_ms == INT64_MAX)
				break;
		}
		ax_tz_free(tz);
	}
	unsetenv("TZ");
	tzset();
}

/* --- the far future ------------------------------------------------------------------------------------------ */

static void test_the_rule_repeats_for_ever(void **state)
{
	(void)state;
	const struct ax_tz *tz = zone("Europe/Berlin");
	const int64_t cycle_ms = 146097LL * 86400 * 1000;
	assert_int_equal(ax_tz_offset_s(tz, instant("2199-07-01T00:00:00Z")), 7200);
	assert_int_equal(ax_tz_offset_s(tz, instant("9999-07-01T00:00:00Z")), 7200);
	for (int64_t ms = instant("2150-01-01T00:00:00Z"); ms < instant("2152-01-01T00:00:00Z"); ms += 3600000) {
		struct ax_tz_span a, b;
		ax_tz_span_at(tz, ms, &a);
		ax_tz_span_at(tz, ms + 3 * cycle_ms, &b);
		assert_true(a.offset_s == b.offset_s && a.dst == b.dst);
		assert_true(a.from_ms + 3 * cycle_ms == b.from_ms && a.until_ms + 3 * cycle_ms == b.until_ms);
		assert_true(a.from_ms <= ms && ms < a.until_ms);
	}
	struct ax_tz_span span;
	struct ax_tz_local from_local;
	static const int64_t ends[] = { INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX };
	for (size_t i = 0; i < AX_COUNT(ends); i++) {
		ax_tz_span_at(tz, ends[i], &span);
		ax_tz_from_local(tz, ends[i], &from_local);
		ax_tz_from_local(ax_tz_utc(), ends[i], &from_local);
	}
	ax_tz_span_at(ax_tz_utc(), 0, &span);
	assert_true(span.from_ms == INT64_MIN && span.until_ms == INT64_MAX && span.offset_s == 0);
	assert_string_equal(span.abbr, "UTC");
}

static void test_dst_all_year_is_no_change(void **state)
{
	(void)state;
	struct ax_tz *tz = from_footer("XXX3EDT4,0/0,J365/23");
	struct ax_tz_span span;
	assert_non_null(tz);
	ax_tz_span_at(tz, instant("2026-06-01T00:00:00Z"), &span);
	assert_int_equal(span.offset_s, -4 * 3600);
	assert_true(span.dst && span.until_ms == INT64_MAX);
	ax_tz_free(tz);
}

/* --- local time ---------------------------------------------------------------------------------------------- */

static void test_local_times(void **state)
{
	(void)state;
	static const struct {
		const char *zone, *local;
		enum ax_tz_local_kind kind;
		const char *first, *second;
		int jump_s;
	} cases[] = {
		{ "Europe/Berlin", "2026-03-29T01:59:59", AX_TZ_ONCE, "2026-03-29T00:59:59Z", NULL, 0 },
		{ "Europe/Berlin", "2026-03-29T02:00:00", AX_TZ_GAP, "2026-03-29T01:00:00Z", NULL, 3600 },
		{ "Europe/Berlin", "2026-03-29T02:59:59", AX_TZ_GAP, "2026-03-29T01:00:00Z", NULL, 3600 },
		{ "Europe/Berlin", "2026-03-29T03:00:00", AX_TZ_ONCE, "2026-03-29T01:00:00Z", NULL, 0 },
		{ "Europe/Berlin", "2026-10-25T02:30:00", AX_TZ_OVERLAP, "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z",
			-3600 },
		{ "Europe/Berlin", "2026-10-25T03:00:00", AX_TZ_ONCE, "2026-10-25T02:00:00Z", NULL, 0 },
		{ "America/Santiago", "2025-09-07T00:30:00", AX_TZ_GAP, "2025-09-07T04:00:00Z", NULL, 3600 },
		{ "Australia/Lord_Howe", "2026-10-04T02:10:00", AX_TZ_GAP, "2026-10-03T15:30:00Z", NULL, 1800 },
		{ "Pacific/Apia", "2011-12-30T12:00:00", AX_TZ_GAP, "2011-12-30T10:00:00Z", NULL, 86400 },
		{ "Europe/Berlin", "2150-10-25T02:30:00", AX_TZ_OVERLAP, "2150-10-25T00:30:00Z", "2150-10-25T01:30:00Z",
			-3600 },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_tz_local got;
		ax_tz_from_local(zone(cases[i].zone), local(cases[i].local), &got);
		const char *second = cases[i].second != NULL ? cases[i].second : cases[i].first;
		if (got.kind != cases[i].kind || got.first_ms != instant(cases[i].first) ||
			got.second_ms != instant(second) || got.jump_s != cases[i].jump_s)
			fail_msg("%s %s: kind %d, %lld, %lld, jump %d", cases[i].zone, cases[i].local, (int)got.kind,
				(long long)got.first_ms, (long long)got.second_ms, got.jump_s);
	}
}

/* --- names and bad bytes ------------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	(void)state;
	static const char *const good[] = { "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT-8",
		"Etc/GMT+5", "America/Port-au-Prince", "EST5EDT", "GMT0" };
	static const char *const bad[] = { "", "/etc/passwd", "../etc/passwd", "Europe/../x", "Europe//Berlin",
		"Europe/", "a..b", "./x", "Europe/.hidden", "-x", "Europe Berlin", "Europe\\Berlin", "Zo\xc3\xa9",
		"a\nb", ":UTC", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	for (size_t i = 0; i < AX_COUNT(good); i++)
		assert_true(ax_tz_name_valid(good[i]));
	for (size_t i = 0; i < AX_COUNT(bad); i++)
		assert_false(ax_tz_name_valid(bad[i]));
}

static void test_footers_that_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = { "X", "CE-1", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,",
		"CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.0.0,M10.5.0",
		"CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J365", "CET-1CEST,0,366", "CET-1CEST,0,J366",
		"CET-1CEST,M3.5.0/168,M10.5.0", "CET-25", "<CET-1", "<C T>-1", "CET-1:60", "CET-1CEST,M3.5.0,M10.5.0 ",
		"CET-1 ", "ABCDEFGHIJKLMNOPQ1", "CET-1CEST,M3.5.0/,M10.5.0" };
	for (size_t i = 0; i < AX_COUNT(bad); i++) {
		struct ax_tz *tz = from_footer(bad[i]);
		if (tz != NULL)
			fail_msg("accepted: %s", bad[i]);
	}
}

static unsigned char *read_zone(const char *name, size_t *ret_len)
{
	char path[300];
	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	unsigned char *bytes = ax_malloc(65536);
	*ret_len = fread(bytes, 1, 65536, file);
	fclose(file);
	return bytes;
}

/* Whatever the bytes, a parse refuses or gives a zone that can be asked. */
static bool try_bytes(const unsigned char *bytes, size_t len)
{
	/* An exact copy, so that a sanitizer sees a read beyond its end. */
	unsigned char *copy = ax_malloc(len + (len == 0));
	memcpy(copy, bytes, len);
	struct ax_tz *tz = NULL;
	struct ax_err err = { .status = AX_OK };
	bool ok = ax_tz_parse("Test/Zone", copy, len, &tz, &err) == AX_OK;
	free(copy);
	if (!ok) {
		assert_int_equal(err.status, AX_INVALID);
		assert_string_equal(err.field, "time_zone");
		return false;
	}
	static const int64_t at[] = { INT64_MIN, 0, 1774746000000, 253402300799000, INT64_MAX };
	for (size_t i = 0; i < AX_COUNT(at); i++) {
		struct ax_tz_span span;
		struct ax_tz_local from_local;
		ax_tz_span_at(tz, at[i], &span);
		assert_true(span.from_ms <= at[i] && (at[i] < span.until_ms || span.until_ms == INT64_MAX));
		ax_tz_from_local(tz, at[i], &from_local);
	}
	ax_tz_free(tz);
	return true;
}

static void test_truncated_and_damaged_files(void **state)
{
	(void)state;
	static const char *const names[] = { "Europe/Berlin", "Africa/Casablanca", "Asia/Kolkata" };
	uint64_t seed = 7;
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		size_t len;
		unsigned char *bytes = read_zone(names[i], &len);
		assert_true(try_bytes(bytes, len));
		for (size_t n = 0; n < len; n++)
			assert_false(try_bytes(bytes, n));
		for (int k = 0; k < 3000; k++) {
			seed = ax_mix64(seed);
			size_t at = (size_t)(seed >> 16) % len;
			unsigned char was = bytes[at];
			bytes[at] = (unsigned char)seed;
			try_bytes(bytes, len);
			bytes[at] = was;
		}
		free(bytes);
	}
}

static void test_files_that_are_refused(void **state)
{
	(void)state;
	size_t len;
	unsigned char *bytes = read_zone("Europe/Berlin", &len);
	bytes[4] = '\0'; /* version 1 */
	assert_false(try_bytes(bytes, len));
	bytes[4] = '2';
	memcpy(bytes, "TZIF", 4);
	assert_false(try_bytes(bytes, len));
	free(bytes);
	struct stat st;
	if (stat("/usr/share/zoneinfo/right/Europe/Berlin", &st) == 0) { /* leap seconds: not every system has them */
		bytes = read_zone("right/Europe/Berlin", &len);
		assert_false(try_bytes(bytes, len));
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_zones_agree_with_glibc),
		cmocka_unit_test(test_rules_agree_with_glibc),
		cmocka_unit_test(test_the_rule_repeats_for_ever),
		cmocka_unit_test(test_dst_all_year_is_no_change),
		cmocka_unit_test(test_local_times),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_footers_that_are_refused),
		cmocka_unit_test(test_truncated_and_damaged_files),
		cmocka_unit_test(test_files_that_are_refused),
	};
	zones = ax_zoneinfo_open(NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ax_zoneinfo_close(zones);
	return failed;
}
