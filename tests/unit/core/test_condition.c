#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/attr.h"
#include "base/json_look.h"
#include "core/condition.h"

static const char order[] =
	"{ \"status\": \"paid\", \"total\": 99.50, \"lines\": [ {\"sku\":\"a/b\"}, {\"sku\":\"c~d\"} ],\n"
	" \"a/b\": {\"m~n\": true}, \"empty\": {}, \"none\": null, \"\": 7, \"na\\u006De\": \"Z\\u00fcrich\","
	" \"emoji\": \"\\ud83d\\ude00\", \"big\": 9007199254740993, \"nested\": {\"x\": [[], [1, \"]}\"]]} }";

static void looks_by_pointer(void **state)
{
	static const struct {
		const char *pointer, *text;
	} cases[] = {
		{ "/status", "\"paid\"" },
		{ "/total", "99.50" },
		{ "/lines/0/sku", "\"a/b\"" },
		{ "/lines/1/sku", "\"c~d\"" },
		{ "/lines/2", NULL },
		{ "/lines/01", NULL },
		{ "/lines/-", NULL },
		{ "/lines/x", NULL },
		{ "/a~1b/m~0n", "true" },
		{ "/empty", "{}" },
		{ "/empty/x", NULL },
		{ "/none", "null" },
		{ "/none/x", NULL },
		{ "/", "7" },
		{ "/name", "\"Z\\u00fcrich\"" },
		{ "/nested/x/1/1", "\"]}\"" },
		{ "/nested/x/0", "[]" },
		{ "/nested/x/0/0", NULL },
		{ "status", NULL },
		{ "/status/0", NULL },
		{ "/Status", NULL },
	};
	(void)state;
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_look found = ax_look_pointer(ax_look(order), cases[i].pointer);
		if (cases[i].text == NULL) {
			assert_int_equal(found.type, AX_LOOK_NOTHING);
			continue;
		}
		assert_int_equal(found.len, strlen(cases[i].text));
		assert_memory_equal(found.at, cases[i].text, found.len);
	}
	assert_int_equal(ax_look_pointer(ax_look(order), "").type, AX_LOOK_OBJECT);
	assert_true(ax_look_is(ax_look_pointer(ax_look(order), "/emoji"), "😀"));
	assert_true(ax_look_is(ax_look_pointer(ax_look(order), "/name"), "Zürich"));
	char text[8];
	assert_true(ax_look_text(ax_look("\"a\\n\\\"b\""), text, sizeof(text)));
	assert_string_equal(text, "a\n\"b");
	assert_false(ax_look_text(ax_look("\"too long\""), text, sizeof(text)));
	assert_false(ax_look_text(ax_look("7"), text, sizeof(text)));
}

/* Text that no parser let in: nothing is found, and nothing is read that is not there. */
static void survives_anything(void **state)
{
	static const char *const texts[] = { "", " ", "{", "[", "\"", "\"\\", "{\"a\"", "{\"a\":", "{\"a\":}", "[,]",
		"[1,", "{\"a\":1,}", "]", "}", "{]", "[}", "\"\\u12", "\"\\ud83d\"", "\"\\ud83d\\u\"", "-", "1e", "1e+",
		".", "nul", "{\"a\":\"\\\"}", "[[[[[[", "{\"\\u0000\":1}" };
	(void)state;
	for (size_t i = 0; i < AX_COUNT(texts); i++) {
		struct ax_look whole = ax_look(texts[i]);
		char text[16];
		(void)ax_look_pointer(whole, "/a/0/b");
		(void)ax_look_text(whole, text, sizeof(text));
		(void)ax_look_compare_numbers(whole, ax_look("1"));
		(void)ax_condition_holds(texts[i], texts[i]);
		struct ax_err err = { 0 };
		(void)!ax_condition_check(texts[i], &err);
	}
}

static int sign_of(const char *a, const char *b)
{
	int there = ax_look_compare_numbers(ax_look(a), ax_look(b));
	assert_int_equal(ax_look_compare_numbers(ax_look(b), ax_look(a)), -there);
	return there;
}

static void numbers_are_exact(void **state)
{
	static const char *const same[][2] = { { "1", "1.0" }, { "1", "10e-1" }, { "0", "-0.0" }, { "100", "1e2" },
		{ "0.10", "0.1" }, { "1.5E3", "1500" }, { "-0.05", "-5e-2" }, { "0e999", "0" }, { "10.10", "10.1" },
		{ "100.00", "100" } };
	static const char *const rising[] = { "-1e308", "-9007199254740993", "-9007199254740992", "-10", "-9.99", "-1",
		"-0.1", "-0.01", "0", "1e-400", "0.01", "0.1", "0.11", "1", "1.01", "9.9", "10", "99.5", "100", "101",
		"9007199254740992", "9007199254740993", "1e308", "1e400" };
	(void)state;
	for (size_t i = 0; i < AX_COUNT(same); i++)
		assert_int_equal(sign_of(same[i][0], same[i][1]), 0);
	for (size_t i = 0; i < AX_COUNT(rising); i++)
		for (size_t j = 0; j < AX_COUNT(rising); j++)
			assert_int_equal(sign_of(rising[i], rising[j]), i < j ? -1 : i > j);
}

static void holds_by_type(void **state)
{
	static const struct {
		const char *condition;
		bool holds;
	} cases[] = {
		{ "null", true },
		{ "[]", true },
		{ "{}", false },
		{ "[{\"field\":\"/status\",\"op\":\"eq\",\"value\":\"paid\"}]", true },
		{ "[{\"field\":\"/status\",\"op\":\"eq\",\"value\":\"Paid\"}]", false },
		{ "[{\"field\":\"/status\",\"op\":\"ne\",\"value\":\"open\"}]", true },
		{ "[{\"field\":\"/gone\",\"op\":\"eq\",\"value\":null}]", false },
		{ "[{\"field\":\"/none\",\"op\":\"eq\",\"value\":null}]", true },
		{ "[{\"field\":\"/gone\",\"op\":\"ne\",\"value\":1}]", true },
		{ "[{\"field\":\"/total\",\"op\":\"eq\",\"value\":99.5}]", true },
		{ "[{\"field\":\"/total\",\"op\":\"eq\",\"value\":\"99.5\"}]", false },
		{ "[{\"field\":\"/total\",\"op\":\"gt\",\"value\":99}]", true },
		{ "[{\"field\":\"/total\",\"op\":\"ge\",\"value\":99.5}]", true },
		{ "[{\"field\":\"/total\",\"op\":\"gt\",\"value\":99.5}]", false },
		{ "[{\"field\":\"/total\",\"op\":\"lt\",\"value\":100}]", true },
		{ "[{\"field\":\"/total\",\"op\":\"le\",\"value\":\"100\"}]", false },
		{ "[{\"field\":\"/gone\",\"op\":\"lt\",\"value\":100}]", false },
		{ "[{\"field\":\"/status\",\"op\":\"ge\",\"value\":\"open\"}]", true },
		{ "[{\"field\":\"/big\",\"op\":\"eq\",\"value\":9007199254740992}]", false },
		{ "[{\"field\":\"/status\",\"op\":\"in\",\"value\":[1,\"paid\"]}]", true },
		{ "[{\"field\":\"/status\",\"op\":\"in\",\"value\":[1,\"open\"]}]", false },
		{ "[{\"field\":\"/none\",\"op\":\"exists\"}]", true },
		{ "[{\"field\":\"/gone\",\"op\":\"exists\",\"value\":false}]", true },
		{ "[{\"field\":\"/status\",\"op\":\"exists\",\"value\":false}]", false },
		{ "[{\"field\":\"/empty\",\"op\":\"exists\",\"value\":true}]", true },
		{ "[{\"field\":\"/lines/1/sku\",\"op\":\"eq\",\"value\":\"c~d\"},"
		  "{\"field\":\"/total\",\"op\":\"lt\",\"value\":1}]",
			false },
		{ "[{\"any\":[{\"field\":\"/total\",\"op\":\"lt\",\"value\":1},"
		  "{\"field\":\"/status\",\"op\":\"eq\",\"value\":\"paid\"}]}]",
			true },
		{ "[{\"any\":[{\"field\":\"/total\",\"op\":\"lt\",\"value\":1}]}]", false },
		{ "[{\"field\":\"/name\",\"op\":\"eq\",\"value\":\"Zürich\"}]", true },
		{ "[{\"field\":\"/status\",\"op\":\"like\",\"value\":\"p%\"}]", false },
	};
	(void)state;
	for (size_t i = 0; i < AX_COUNT(cases); i++)
		if (ax_condition_holds(cases[i].condition, order) != cases[i].holds)
			fail_msg("%s should%s hold", cases[i].condition, cases[i].holds ? "" : " not");
	assert_true(ax_condition_holds("[]", ""));
	assert_false(ax_condition_holds("[{\"field\":\"\",\"op\":\"exists\"}]", ""));
}

static void refuses_with_the_place(void **state)
{
	static const struct {
		const char *condition, *field; /* NULL = it is fine */
	} cases[] = {
		{ "null", NULL },
		{ "[]", NULL },
		{ "[{\"field\":\"\",\"op\":\"eq\",\"value\":1}]", NULL },
		{ "[{\"any\":[{\"field\":\"/a\",\"op\":\"exists\"}]}]", NULL },
		{ "{}", "event_condition" },
		{ "\"x\"", "event_condition" },
		{ "true", "event_condition" },
		{ "[1]", "event_condition[0]" },
		{ "[[]]", "event_condition[0]" },
		{ "[{}]", "event_condition[0].field" },
		{ "[{\"field\":\"a\",\"op\":\"eq\",\"value\":1}]", "event_condition[0].field" },
		{ "[{\"field\":\"/a~2\",\"op\":\"eq\",\"value\":1}]", "event_condition[0].field" },
		{ "[{\"field\":\"/a\",\"op\":\"eq\"}]", "event_condition[0].value" },
		{ "[{\"field\":\"/a\",\"op\":\"eq\",\"value\":{}}]", "event_condition[0].value" },
		{ "[{\"field\":\"/a\",\"op\":\"is\",\"value\":1}]", "event_condition[0].op" },
		{ "[{\"field\":\"/a\",\"op\":\"lt\",\"value\":true}]", "event_condition[0].value" },
		{ "[{\"field\":\"/a\",\"op\":\"in\",\"value\":\"x\"}]", "event_condition[0].value" },
		{ "[{\"field\":\"/a\",\"op\":\"in\",\"value\":[]}]", "event_condition[0].value" },
		{ "[{\"field\":\"/a\",\"op\":\"in\",\"value\":[[1]]}]", "event_condition[0].value" },
		{ "[{\"field\":\"/a\",\"op\":\"exists\",\"value\":1}]", "event_condition[0].value" },
		{ "[{\"field\":\"/a\",\"op\":\"exists\",\"script\":1}]", "event_condition[0]" },
		{ "[{\"field\":\"/a\",\"op\":\"exists\"},{\"any\":[]}]", "event_condition[1]" },
		{ "[{\"any\":{}}]", "event_condition[0]" },
		{ "[{\"any\":[{\"field\":\"/a\",\"op\":\"exists\"}],\"op\":\"eq\"}]", "event_condition[0]" },
		{ "[{\"any\":[{\"any\":[]}]}]", "event_condition[0].any[0]" },
		{ "[{\"any\":[{\"field\":\"/a\",\"op\":\"exists\"},{\"field\":\"/a\",\"op\":\"no\"}]}]",
			"event_condition[0].any[1].op" },
	};
	(void)state;
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_err err = { 0 };
		enum ax_status status = ax_condition_check(cases[i].condition, &err);
		assert_int_equal(status, cases[i].field == NULL ? AX_OK : AX_INVALID);
		assert_string_equal(err.field, cases[i].field == NULL ? "" : cases[i].field);
	}
	char many[4096] = "[";
	for (int i = 0; i <= AX_CONDITION_TESTS_MAX; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "%s{\"field\":\"/a\",\"op\":\"exists\"}",
			i == 0 ? "" : ",");
	snprintf(many + strlen(many), sizeof(many) - strlen(many), "]");
	struct ax_err err = { 0 };
	assert_int_equal(ax_condition_check(many, &err), AX_INVALID);
	assert_string_equal(err.field, "event_condition[32]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_by_pointer),
		cmocka_unit_test(survives_anything),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(holds_by_type),
		cmocka_unit_test(refuses_with_the_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
