#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/args.h"
#include "cli/ctl.h"
#include "cli/print.h"
#include "cli/sse.h"
#include "cli/value.h"

/* ---- arguments ---- */

static const struct ax_opt opts[] = {
	{ "name", "task-name", "N", "a value" },
	{ "force", NULL, NULL, "a flag" },
	{ "n", "count", "N", "a short option" },
	{ 0 },
};
static const struct ax_opt common[] = { { "json", NULL, NULL, "a flag" }, { 0 } };

static enum ax_status parse(const char *line, struct ax_args *args, struct ax_err *err)
{
	static char copy[256];
	static char *argv[32];
	int argc = 0;
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *p = copy; *p != '\0';) {
		argv[argc++] = p;
		p += strcspn(p, " ");
		if (*p != '\0')
			*p++ = '\0';
	}
	return ax_args_parse(argc, argv, opts, common, args, err);
}

static void test_arguments(void **state)
{
	(void)state;
	struct ax_args args;
	struct ax_err err;
	assert_int_equal(parse("one --name=x --json two -n 5 --force -- --name y", &args, &err), AX_OK);
	assert_int_equal(args.n_operands, 2);
	assert_string_equal(args.operands[0], "one");
	assert_string_equal(args.operands[1], "two");
	assert_int_equal(args.n_rest, 2);
	assert_string_equal(args.rest[0], "--name");
	assert_string_equal(ax_args_get(&args, "name"), "x");
	assert_string_equal(ax_args_get(&args, "n"), "5");
	assert_true(ax_args_has(&args, "force"));
	assert_true(ax_args_has(&args, "json"));

	assert_int_equal(parse("--task-name a --name b -", &args, &err), AX_OK);
	assert_string_equal(ax_args_get(&args, "name"), "b");
	assert_string_equal(args.operands[0], "-");
	assert_false(ax_args_has(&args, "json"));
	assert_null(args.rest);
	assert_int_equal(parse("--name= --count 3", &args, &err), AX_OK);
	assert_string_equal(ax_args_get(&args, "name"), "");
	assert_string_equal(ax_args_get(&args, "n"), "3");
	assert_int_equal(parse("--name --force", &args, &err), AX_OK);
	assert_string_equal(ax_args_get(&args, "name"), "--force");
}

static void test_bad_arguments_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *line, *field;
	} cases[] = {
		{ "--nam x", "--nam" },
		{ "--name", "--name" },
		{ "--force=yes", "--force=yes" },
		{ "-x", "-x" },
		{ "-name x", "-name" },
		{ "--n 5", "--n" },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_args args;
		struct ax_err err;
		assert_int_equal(parse(cases[i].line, &args, &err), AX_INVALID);
		assert_string_equal(err.field, cases[i].field);
		assert_int_not_equal(err.msg[0], '\0');
	}
}

/* ---- values ---- */

static void test_durations(void **state)
{
	(void)state;
	static const struct {
		const char *s;
		int64_t ms; /* -1: refused */
	} cases[] = {
		{ "90s", 90000 },
		{ "1h30m", 5400000 },
		{ "500ms", 500 },
		{ "2d", 172800000 },
		{ "1d2h3m4s5ms", 93784005 },
		{ "0s", 0 },
		{ "", -1 },
		{ "90", -1 },
		{ "s", -1 },
		{ "1s1h", -1 },
		{ "1s1s", -1 },
		{ "1.5h", -1 },
		{ "-1s", -1 },
		{ "1w", -1 },
		{ "999999999d", -1 },
		{ "99999999999999999999s", -1 },
		{ "1 h", -1 },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		int64_t ms = -1;
		assert_int_equal(ax_value_duration(cases[i].s, &ms), cases[i].ms >= 0);
		assert_true(ms == cases[i].ms);
	}
}

static void test_times(void **state)
{
	(void)state;
	static const struct {
		const char *s;
		int64_t ms; /* -1: refused */
	} cases[] = {
		{ "now", 1000000 },
		{ "+1m", 1060000 },
		{ "-10s", 990000 },
		{ "1764451200000", 1764451200000 },
		{ "2026-03-29T02:30:00+02:00", 1774744200000 },
		{ "2026-03-29", -1 },
		{ "tomorrow", -1 },
		{ "", -1 },
		{ "+", -1 },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		int64_t ms = -1;
		assert_int_equal(ax_value_time(cases[i].s, 1000000, &ms), cases[i].ms >= 0);
		assert_true(ms == cases[i].ms);
	}
}

static void test_queries_are_encoded(void **state)
{
	(void)state;
	struct ax_buf path;
	ax_buf_init(&path, 1024);
	ax_buf_adds(&path, "/tasks/");
	ax_value_segment(&path, "a/b c");
	ax_value_query(&path, "q", NULL);
	ax_value_query(&path, "q", "100% & \xc3\xa9=?");
	ax_value_query(&path, "limit", "5");
	assert_string_equal(path.data, "/tasks/a%2Fb%20c?q=100%25%20%26%20%C3%A9%3D%3F&limit=5");
	ax_buf_done(&path);
}

/* ---- tables ---- */

static void test_widths(void **state)
{
	(void)state;
	assert_int_equal(ax_print_width("abc"), 3);
	assert_int_equal(ax_print_width("\xe6\x97\xa5\xe5\xbf\x97"), 4);   /* two CJK characters */
	assert_int_equal(ax_print_width("e\xcc\x81"), 1);                  /* e + combining accent */
	assert_int_equal(ax_print_width("\xef\xbd\x81\xef\xbc\xa1"), 4);   /* fullwidth letters */
	assert_int_equal(ax_print_width("\xf0\x9f\x98\x80"), 2);           /* emoji */
	assert_int_equal(ax_print_width("\xed\x95\x9c\xea\xb8\x80 x"), 6); /* Hangul */
	assert_int_equal(ax_print_width(""), 0);
}

static char *printed(const struct ax_column *columns, const char *rows)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	json_t *array = json_loads(rows, 0, NULL);
	assert_non_null(array);
	ax_print_table(to, columns, array);
	json_decref(array);
	fclose(to);
	return text;
}

static void test_tables_line_up(void **state)
{
	(void)state;
	static const struct ax_column columns[] = {
		{ ">ID", "id", NULL },
		{ "NAME", "name", NULL },
		{ "STATUS", "last.status", NULL },
		{ "WHEN", "time", ax_json_time },
		{ 0 },
	};
	char *text = printed(columns,
		"[{\"id\": 7, \"name\": \"\xe6\x97\xa5\xe5\xbf\x97\", \"last\": {\"status\": \"enabled\"}},"
		" {\"id\": 123, \"name\": \"abc\", \"last\": null, \"time\": 1764547200123},"
		" {\"id\": \"5\", \"name\": \"\", \"last\": {\"status\": \"x\"}, \"time\": 0}]");
	assert_string_equal(text,
		" ID  NAME  STATUS   WHEN\n"
		"  7  \xe6\x97\xa5\xe5\xbf\x97  enabled  -\n"
		"123  abc   -        2025-12-01T00:00:00Z\n"
		"  5  -     x        -\n");
	free(text);
	text = printed(columns, "[]");
	assert_string_equal(text, "ID  NAME  STATUS  WHEN\n");
	free(text);
}

static void test_text_cannot_steer_the_terminal(void **state)
{
	(void)state;
	static const struct {
		const char *text, *clean;
	} cases[] = {
		{ "a\nb\tc", "a b c" },
		{ "\x1b[31mred", "\xef\xbf\xbd[31mred" },
		{ "\xc2\x9b"
		  "31m",
			"\xef\xbf\xbd"
			"31m" },
		{ "a\xe2\x80\xae"
		  "b",
			"a\xef\xbf\xbd"
			"b" },
		{ "bad\xff", "bad\xef\xbf\xbd" },
		{ "\xe6\x97\xa5", "\xe6\x97\xa5" },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_buf out;
		ax_buf_init(&out, 1024);
		ax_print_clean(cases[i].text, &out);
		assert_string_equal(out.data, cases[i].clean);
		ax_buf_done(&out);
	}
}

static void test_json_members(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	json_t *o = json_pack("{s:s, s:I, s:n, s:b, s:[i], s:I}", "text", "x", "number", (json_int_t)INT64_MAX, "null",
		"yes", 1, "list", 1, "time", (json_int_t)1774744200999);
	assert_string_equal(ax_json_text(&arena, o, "text"), "x");
	assert_string_equal(ax_json_text(&arena, o, "number"), "9223372036854775807");
	assert_string_equal(ax_json_text(&arena, o, "null"), "");
	assert_string_equal(ax_json_text(&arena, o, "absent"), "");
	assert_string_equal(ax_json_text(&arena, NULL, "absent"), "");
	assert_string_equal(ax_json_text(&arena, o, "yes"), "yes");
	assert_string_equal(ax_json_text(&arena, o, "list"), "[1]");
	assert_string_equal(ax_json_time(&arena, o, "time"), "2026-03-29T00:30:00Z");
	assert_string_equal(ax_print_duration(&arena, 0), "<1ms");
	assert_string_equal(ax_print_duration(&arena, 999), "999ms");
	assert_string_equal(ax_print_duration(&arena, 1234), "1.2s");
	assert_string_equal(ax_print_duration(&arena, 90000), "1m30s");
	assert_string_equal(ax_print_duration(&arena, 7260000), "2h01m");
	json_decref(o);
	ax_arena_done(&arena);
}

/* ---- event streams ---- */

static bool note_event(void *ctx, const char *name, const char *data)
{
	struct ax_buf *out = ctx;
	ax_buf_printf(out, "%s(%s)", name, data);
	return strcmp(data, "stop") != 0;
}

/* The same events however the bytes are cut. */
static void test_event_streams(void **state)
{
	(void)state;
	static const char text[] =
		": comment\n\nevent: output\ndata: a\ndata:b\n\ndata: plain\r\n\r\nevent:x\rdata:  two\r\r"
		"id: 7\nretry: 5\n\nevent: state\ndata: stop\n\ndata: never\n\n";
	for (size_t step = 1; step < sizeof(text); step++) {
		struct ax_sse sse;
		struct ax_buf out;
		bool go_on = true;
		ax_sse_init(&sse, 1024);
		ax_buf_init(&out, 1024);
		for (size_t at = 0; go_on && at < sizeof(text) - 1; at += step)
			go_on = ax_sse_feed(&sse, text + at, AX_MIN(step, sizeof(text) - 1 - at), note_event, &out);
		assert_false(go_on);
		assert_string_equal(out.data, "output(a\nb)message(plain)x( two)state(stop)");
		ax_sse_done(&sse);
		ax_buf_done(&out);
	}
}

static void test_event_streams_are_bounded(void **state)
{
	(void)state;
	struct ax_sse sse;
	struct ax_buf out;
	bool go_on = true;
	ax_sse_init(&sse, 64);
	ax_buf_init(&out, 1024);
	for (int i = 0; go_on && i < 100; i++)
		go_on = ax_sse_feed(&sse, "data: 0123456789\n", 17, note_event, &out);
	assert_false(go_on);
	ax_sse_done(&sse);
	ax_buf_done(&out);
}

/* ---- answers ---- */

static void test_exit_codes(void **state)
{
	(void)state;
	static const struct {
		long http;
		int code;
	} cases[] = {
		{ 200, AX_EXIT_OK },
		{ 204, AX_EXIT_OK },
		{ 400, AX_EXIT_USAGE },
		{ 401, AX_EXIT_DENIED },
		{ 403, AX_EXIT_DENIED },
		{ 404, AX_EXIT_NOT_FOUND },
		{ 409, AX_EXIT_CONFLICT },
		{ 413, AX_EXIT_USAGE },
		{ 429, AX_EXIT_NO_SERVER },
		{ 500, AX_EXIT_NO_SERVER },
		{ 503, AX_EXIT_NO_SERVER },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++)
		assert_int_equal(ax_client_exit(cases[i].http), cases[i].code);
}

static void test_which_runs_have_ended(void **state)
{
	(void)state;
	static const struct {
		const char *status;
		bool ended;
	} cases[] = {
		{ "PENDING", false },
		{ "WAITING", false },
		{ "DISPATCHED", false },
		{ "RUNNING", false },
		{ "RETRYING", false },
		{ "SUCCESS", true },
		{ "FAILED", true },
		{ "TIMEOUT", true },
		{ "CANCELLED", true },
		{ "BLOCKED", true },
		{ "SKIPPED", true },
		{ "MISSED", true },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		json_t *run = json_pack("{s:s}", "status", cases[i].status);
		assert_int_equal(ax_run_ended(run), cases[i].ended);
		json_decref(run);
	}
	assert_false(ax_run_ended(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_bad_arguments_are_named),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_queries_are_encoded),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_tables_line_up),
		cmocka_unit_test(test_text_cannot_steer_the_terminal),
		cmocka_unit_test(test_json_members),
		cmocka_unit_test(test_event_streams),
		cmocka_unit_test(test_event_streams_are_bounded),
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_which_runs_have_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
