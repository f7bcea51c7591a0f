/* JSON in and out, and the parameters of the built-in executors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/json_write.h"
#include "server/biz_param.h"
#include "server/json_read.h"

static struct ax_arena arena;

static void test_parse_refuses(void **state)
{
	(void)state;
	char deep[AX_JSON_DEPTH_MAX * 2 + 4];
	memset(deep, '[', AX_JSON_DEPTH_MAX + 1);
	memset(deep + AX_JSON_DEPTH_MAX + 1, ']', AX_JSON_DEPTH_MAX + 1);
	deep[2 * (AX_JSON_DEPTH_MAX + 1)] = '\0';
	const char *bad[] = { "", "{", "{}x", "{\"a\":1,\"a\":2}", "\"\xff\"", "[1e999]", "{a:1}", "\"\\u0000\"",
		deep };
	for (size_t i = 0; i < AX_COUNT(bad); i++) {
		json_t *value = NULL;
		struct ax_err err;
		assert_int_equal(ax_json_parse(bad[i], strlen(bad[i]), &value, &err), AX_INVALID);
		assert_null(value);
	}
	deep[0] = ' ';
	deep[2 * AX_JSON_DEPTH_MAX + 1] = '\0';
	json_t *value;
	struct ax_err err;
	assert_int_equal(ax_json_parse(deep, strlen(deep), &value, &err), AX_OK);
	json_decref(value);
	/* brackets in texts do not count */
	const char *text = "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[\"";
	assert_int_equal(ax_json_parse(text, strlen(text), &value, &err), AX_OK);
	json_decref(value);
}

static void test_faults_are_said_in_our_words(void **state)
{
	(void)state;
	static const struct {
		const char *body, *said;
	} cases[] = {
		{ "{\"a\":\"x\\u0000y\"}", "the body cannot be read: a text holds the character U+0000" },
		{ "{\"a\\u0000\":1}", "a text holds the character U+0000" },
		{ "{\"priority\":99999999999999999999}", "a number is too large" },
		{ "[-99999999999999999999]", "a number is too large" },
		{ "[1e999]", "a number is too large" },
		{ "{\"a\":1,\n\"a\":2}", "the same key twice (line 2, column 3)" },
		{ "\"\xff\"", "not well-formed UTF-8" },
		{ "{\"a\":", "ends too early" },
		{ "{}x", "something follows" },
		{ "{a:1}", "this is no JSON" },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		json_t *value = NULL;
		struct ax_err err;
		assert_int_equal(ax_json_parse(cases[i].body, strlen(cases[i].body), &value, &err), AX_INVALID);
		if (strstr(err.msg, cases[i].said) == NULL)
			fail_msg("%s: %s", cases[i].body, err.msg);
	}
}

static void test_too_many_values(void **state)
{
	(void)state;
	size_t n = AX_JSON_NODES_MAX + 2;
	char *text = malloc(2 * n + 2);
	for (size_t i = 0; i < n; i++)
		memcpy(text + 2 * i, "1,", 2);
	text[0] = '[';
	text[2 * n - 1] = ']';
	json_t *value;
	struct ax_err err;
	assert_int_equal(ax_json_parse(text, 2 * n, &value, &err), AX_TOO_LARGE);
	free(text);
}

static json_t *parse(const char *text)
{
	json_t *value = NULL;
	struct ax_err err;
	assert_int_equal(ax_json_parse(text, strlen(text), &value, &err), AX_OK);
	return value;
}

static void test_reader(void **state)
{
	(void)state;
	static const char *const words[] = { "no", "yes", NULL };
	json_t *value =
		parse("{\"s\":\"x\",\"n\":5,\"b\":true,\"w\":\"yes\",\"id\":\"77\",\"j\":{\"a\":[1]},\"z\":null}");
	struct ax_err err;
	struct ax_read r;
	const char *s = "", *j = "", *z = "kept";
	int64_t n = 0, id = 0;
	bool b = false;
	int w = 0;
	ax_read_begin(&r, value, "", &arena, &err);
	ax_read_str(&r, "s", 10, &s);
	ax_read_int(&r, "n", 0, 9, &n);
	ax_read_bool(&r, "b", &b);
	ax_read_word(&r, "w", words, &w);
	ax_read_id(&r, "id", &id);
	ax_read_json(&r, "j", 100, &j);
	ax_read_str_or_null(&r, "z", 10, &z);
	ax_read_int(&r, "absent", 0, 9, &n);
	assert_int_equal(ax_read_end(&r), AX_OK);
	assert_string_equal(s, "x");
	assert_true(n == 5 && b && w == 1 && id == 77);
	assert_string_equal(j, "{\"a\":[1]}");
	assert_string_equal(z, "");
	json_decref(value);
}

static void test_reader_refuses(void **state)
{
	(void)state;
	static const char *const words[] = { "no", "yes", NULL };
	static const struct {
		const char *text, *field;
	} cases[] = {
		{ "{\"s\":5}", "t[1].s" },
		{ "{\"s\":\"much too long\"}", "t[1].s" },
		{ "{\"n\":10}", "t[1].n" },
		{ "{\"n\":1.0}", "t[1].n" },
		{ "{\"n\":true}", "t[1].n" },
		{ "{\"b\":1}", "t[1].b" },
		{ "{\"w\":\"maybe\"}", "t[1].w" },
		{ "{\"id\":77}", "t[1].id" },
		{ "{\"id\":\"0\"}", "t[1].id" },
		{ "{\"id\":\"9223372036854775808\"}", "t[1].id" },
		{ "{\"surprise\":1}", "t[1].surprise" },
		{ "[]", "t[1]" },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		json_t *value = parse(cases[i].text);
		struct ax_err err = { 0 };
		struct ax_read r;
		const char *s = "kept";
		int64_t n = -7, id = -7;
		bool b = false;
		int w = -7;
		ax_read_begin(&r, value, "t[1].", &arena, &err);
		ax_read_str(&r, "s", 5, &s);
		ax_read_int(&r, "n", 0, 9, &n);
		ax_read_bool(&r, "b", &b);
		ax_read_word(&r, "w", words, &w);
		ax_read_id(&r, "id", &id);
		assert_int_equal(ax_read_end(&r), AX_INVALID);
		assert_string_equal(err.field, cases[i].field);
		assert_string_equal(s, "kept");
		assert_true(n == -7 && id == -7 && !b && w == -7);
		json_decref(value);
	}
}

static void test_writer(void **state)
{
	(void)state;
	struct ax_buf out;
	struct ax_json json;
	ax_buf_init(&out, 1000);
	ax_json_init(&json, &out);
	ax_json_obj(&json, NULL);
	ax_json_str(&json, "a", "q\"\\\n\x01\x7f\xc3\xbc");
	ax_json_str(&json, "none", NULL);
	ax_json_word(&json, "empty", "");
	ax_json_int(&json, "min", INT64_MIN);
	ax_json_id(&json, "id", INT64_MAX);
	ax_json_time(&json, "t", 0);
	ax_json_arr(&json, "list");
	ax_json_obj(&json, NULL);
	ax_json_obj_end(&json);
	ax_json_bool(&json, NULL, false);
	ax_json_raw(&json, NULL, "[1, 2]");
	ax_json_raw(&json, NULL, "");
	ax_json_arr_end(&json);
	ax_json_null(&json, "last");
	ax_json_obj_end(&json);
	assert_string_equal(out.data,
		"{\"a\":\"q\\\"\\\\\\n\\u0001\x7f\xc3\xbc\",\"none\":null,\"empty\":null,\"min\":-9223372036854775808,"
		"\"id\":\"9223372036854775807\",\"t\":null,\"list\":[{},false,[1, 2],null],\"last\":null}");
	ax_buf_done(&out);
}

static enum ax_status check_param(const char *executor, const char *text, struct ax_err *err)
{
	json_t *value = parse(text);
	enum ax_status status = ax_biz_param_check(executor, value, "", &arena, err);
	json_decref(value);
	return status;
}

static void test_biz_param(void **state)
{
	(void)state;
	struct ax_err err = { 0 };
	static const char *const good_exec[] = { "{\"argv\":[\"/bin/true\"]}",
		"{\"script\":\"echo "
		"hi\",\"shell\":\"/bin/bash\",\"stdin\":\"x\",\"env\":{\"_A1\":\"b\"},\"cwd\":\"/\",\"user\":\"u\"}" };
	static const char *const good_http[] = { "{\"url\":\"https://example.org/x?y=1\"}",
		"{\"url\":\"http://"
		"a\",\"method\":\"PUT\",\"headers\":{\"X-A\":\"b\"},\"body\":{\"a\":1},\"success\":[200,204],"
		"\"follow_redirects\":3}",
		"{\"url\":\"http://a\",\"send_run\":true}" };
	static const char *const bad_exec[] = { "null", "[]", "{}", "{\"argv\":\"ls\"}",
		"{\"argv\":[\"/a\"],\"shell\":\"sh\"}", "{\"argv\":[\"/a\"],\"env\":{\"\":\"x\"}}",
		"{\"argv\":[\"/a\"],\"env\":{\"A\":1}}", "{\"script\":5}" };
	static const char *const bad_http[] = { "null", "{\"url\":5}", "{\"url\":\"file:///etc/passwd\"}",
		"{\"url\":\"http://a b\"}", "{\"url\":\"http://a\",\"method\":\"GET /\"}",
		"{\"url\":\"http://a\",\"success\":200}", "{\"url\":\"http://a\",\"send_run\":true,\"body\":1}",
		"{\"url\":\"http://a\",\"send_run\":1}" };
	for (size_t i = 0; i < AX_COUNT(good_exec); i++)
		assert_int_equal(check_param("exec", good_exec[i], &err), AX_OK);
	for (size_t i = 0; i < AX_COUNT(good_http); i++)
		assert_int_equal(check_param("http", good_http[i], &err), AX_OK);
	for (size_t i = 0; i < AX_COUNT(bad_exec); i++)
		assert_int_equal(check_param("exec", bad_exec[i], &err), AX_INVALID);
	for (size_t i = 0; i < AX_COUNT(bad_http); i++)
		assert_int_equal(check_param("http", bad_http[i], &err), AX_INVALID);
	assert_int_equal(check_param("report.daily", "[1,\"anything\"]", &err), AX_OK);
}

static int done(void **state)
{
	(void)state;
	ax_arena_done(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_faults_are_said_in_our_words),
		cmocka_unit_test(test_too_many_values),
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_reader_refuses),
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_biz_param),
	};
	return cmocka_run_group_tests(tests, NULL, done);
}
