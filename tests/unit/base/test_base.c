#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "base/utf8.h"

static void test_numbers_are_strict(void **state)
{
	(void)state;
	static const struct {
		const char *s;
		bool ok;
		int64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "7", true, 7 },
		{ "-3", true, -3 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "+1", false, 0 },
		{ "01", false, 0 },
		{ " 1", false, 0 },
		{ "1x", false, 0 },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		int64_t value = 0;
		bool ok = ax_parse_i64(cases[i].s, strlen(cases[i].s), INT64_MIN, INT64_MAX, &value);
		assert_int_equal(ok, cases[i].ok);
		if (ok)
			assert_true(value == cases[i].value);
	}
	int64_t value;
	assert_false(ax_parse_i64("-1", 2, 0, 9, &value));
	assert_false(ax_parse_i64("10", 2, 0, 9, &value));
}

static void test_instants_round_trip(void **state)
{
	(void)state;
	static const struct {
		const char *in;
		int64_t ms;
		const char *out;
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z" },
		{ "2026-03-29T02:30:00+02:00", 1774744200000, "2026-03-29T00:30:00Z" },
		{ "2024-02-29T23:59:59.999Z", 1709251199999, "2024-02-29T23:59:59.999Z" },
		{ "2016-12-31T23:59:60Z", 1483228800000, "2017-01-01T00:00:00Z" },
		{ "1969-12-31t23:59:59.5z", -500, "1969-12-31T23:59:59.500Z" },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		int64_t ms = 0;
		char out[AX_RFC3339_SIZE];
		assert_true(ax_rfc3339_parse(cases[i].in, strlen(cases[i].in), &ms));
		assert_true(ms == cases[i].ms);
		ax_rfc3339_format(ms, out);
		assert_string_equal(out, cases[i].out);
	}
	static const char *const bad[] = { "", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01 00:00:00Z",
		"2026-01-01T00:00:00", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx",
		"2026-01-01T00:00:00+24:00" };
	for (size_t i = 0; i < AX_COUNT(bad); i++) {
		int64_t ms;
		assert_false(ax_rfc3339_parse(bad[i], strlen(bad[i]), &ms));
	}
	char out[AX_RFC3339_SIZE];
	ax_rfc3339_format_offset(0, -12600, out);
	assert_string_equal(out, "1969-12-31T20:30:00-03:30");
}

static void test_calendar_round_trips_for_800_years(void **state)
{
	(void)state;
	int64_t year;
	int month, day;
	for (int64_t d = -146097; d < 146097; d++) {
		ax_civil_from_days(d, &year, &month, &day);
		assert_true(ax_days_from_civil(year, month, day) == d);
		assert_in_range(day, 1, ax_days_in_month(year, month));
	}
}

static void test_buffer_stops_at_its_maximum(void **state)
{
	(void)state;
	struct ax_buf buf;
	ax_buf_init(&buf, 10);
	ax_buf_adds(&buf, "12345");
	ax_buf_printf(&buf, "%d", 67890);
	assert_string_equal(buf.data, "1234567890");
	assert_false(buf.overflow);
	ax_buf_addc(&buf, 'x');
	assert_true(buf.overflow);
	assert_int_equal(buf.len, 10);
	ax_buf_drop(&buf, 4);
	assert_string_equal(buf.data, "567890");
	ax_buf_done(&buf);
}

static void test_utf8_refuses_what_the_standard_refuses(void **state)
{
	(void)state;
	static const char *const good[] = { "", "abc", "\xc3\xa9", "\xe4\xb8\xad\xe6\x96\x87", "\xf0\x9f\x98\x80",
		"\xf4\x8f\xbf\xbf" };
	static const char *const bad[] = { "\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
		"\xf4\x90\x80\x80", "\xff" };
	for (size_t i = 0; i < AX_COUNT(good); i++)
		assert_true(ax_utf8_valid(good[i], strlen(good[i])));
	for (size_t i = 0; i < AX_COUNT(bad); i++)
		assert_false(ax_utf8_valid(bad[i], strlen(bad[i])));
	char out[32];
	size_t n = ax_utf8_repair("a\xff"
				  "b",
		3, out);
	assert_int_equal(n, 5);
	assert_memory_equal(out,
		"a\xef\xbf\xbd"
		"b",
		5);
}

static void test_arena_grows_arrays(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	int *at = NULL;
	size_t n = 0, cap = 0, copies = 0;
	while (n < 1000) {
		int *before = at;
		at = ax_grow_array(&arena, at, n, 1, &cap, sizeof(*at));
		copies += at != before;
		at[n] = (int)n;
		n++;
	}
	for (size_t i = 0; i < n; i++)
		assert_int_equal(at[i], (int)i);
	assert_true(copies < 10);
	at = ax_grow_array(&arena, at, n, 5000, &cap, sizeof(*at));
	assert_true(cap >= 6000 && at[999] == 999);
	ax_arena_done(&arena);
}

static void test_arena_serves_small_and_large(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	char *big = ax_alloc(&arena, 100000);
	memset(big, 1, 100000);
	for (int i = 0; i < 1000; i++)
		assert_string_equal(ax_sprintf(&arena, "row %d", 7), "row 7");
	ax_arena_reset(&arena);
	assert_non_null(ax_alloc(&arena, 1));
	ax_arena_done(&arena);
}

/* Names of four-byte characters fill a message, and the cut lands within one. */
static void test_b161_messages_are_always_utf8(void **state)
{
	(void)state;
	char name[513] = "";
	for (int i = 0; i < 128; i++)
		strcat(name, "\xf0\x9f\x98\x80");
	for (int shift = 0; shift < 4; shift++) {
		struct ax_err err;
		assert_int_equal(
			ax_fail(&err, AX_EXISTS, "", "%.*s'%.9s' and '%s'", shift, "xxx", name, name), AX_EXISTS);
		assert_true(ax_utf8_valid(err.msg, strlen(err.msg)));
		assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
		assert_non_null(strstr(err.msg, "\xf0\x9f\x98\x80?' and '"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_strict),
		cmocka_unit_test(test_instants_round_trip),
		cmocka_unit_test(test_calendar_round_trips_for_800_years),
		cmocka_unit_test(test_buffer_stops_at_its_maximum),
		cmocka_unit_test(test_utf8_refuses_what_the_standard_refuses),
		cmocka_unit_test(test_b161_messages_are_always_utf8),
		cmocka_unit_test(test_arena_grows_arrays),
		cmocka_unit_test(test_arena_serves_small_and_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
