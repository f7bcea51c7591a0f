#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/arena.h"
#include "check/fires.h"

/* The checker's own engine against the vectors that the scheduler's engine must pass, too. */

static json_t *load_list(const char *name)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/cron/%s", AX_TEST_DATA, name);
	json_error_t error;
	json_t *list = json_load_file(path, JSON_ALLOW_NUL, &error);
	if (!json_is_array(list))
		fail_msg("%s: %s", path, error.text);
	return list;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	assert_non_null(text);
	return text;
}

static enum ax_check_dialect dialect_of(const json_t *vector)
{
	const char *name = text_of(vector, "dialect");
	if (strncmp(name, "quartz", 6) == 0)
		return AX_CHECK_DIALECT_QUARTZ;
	return strcmp(name, "unix5") == 0 ? AX_CHECK_DIALECT_UNIX : AX_CHECK_DIALECT_NONE;
}

static bool vector_holds(struct ax_arena *arena, const json_t *vector)
{
	const json_t *want = json_object_get(vector, "next");
	int64_t from_ms, last_ms;
	assert_true(ax_check_instant_parse(text_of(vector, "from"), &from_ms));
	assert_true(
		ax_check_instant_parse(json_string_value(json_array_get(want, json_array_size(want) - 1)), &last_ms));

	struct ax_err err;
	struct ax_check_schedule schedule;
	struct ax_check_zone zone;
	if (ax_check_schedule_parse(arena, text_of(vector, "expr"), dialect_of(vector), &schedule, &err) != AX_OK ||
		ax_check_zone_load(arena, NULL, text_of(vector, "tz"), &zone, &err) != AX_OK) {
		print_error("%s: %s\n", text_of(vector, "id"), err.msg);
		return false;
	}
	/* all that lies between `from` and the last answer: nothing may be missing and nothing be there besides */
	struct ax_check_fires fires;
	ax_check_fires_begin(&fires, &schedule, &zone, from_ms, from_ms, last_ms);
	size_t n = 0;
	bool right = true;
	for (int64_t ms; right && ax_check_fires_next(&fires, &ms); n++) {
		char text[AX_CHECK_INSTANT_SIZE];
		ax_check_instant_format(ms, text);
		const char *wanted = json_string_value(json_array_get(want, n));
		right = wanted && strcmp(text, wanted) == 0;
		if (!right)
			print_error("%s `%s`: %s instead of %s\n", text_of(vector, "id"), text_of(vector, "expr"), text,
				wanted ? wanted : "nothing");
	}
	ax_check_fires_end(&fires);
	return right && n == json_array_size(want);
}

static void test_every_vector_holds(void **state)
{
	(void)state;
	json_t *vectors = load_list("vectors.json");
	struct ax_arena arena = { 0 };
	size_t wrong = 0;
	for (size_t i = 0; i < json_array_size(vectors); i++) {
		if (!vector_holds(&arena, json_array_get(vectors, i)))
			wrong++;
		ax_arena_reset(&arena);
	}
	assert_true(json_array_size(vectors) > 1000);
	assert_int_equal(wrong, 0);
	ax_arena_done(&arena);
	json_decref(vectors);
}

static void test_every_invalid_expression_is_refused(void **state)
{
	(void)state;
	json_t *list = load_list("invalid.json");
	struct ax_arena arena = { 0 };
	size_t wrong = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *bad = json_array_get(list, i);
		const json_t *expr = json_object_get(bad, "expr");
		if (strlen(json_string_value(expr)) != json_string_length(expr))
			continue; /* a NUL: no column can hold it, and the checker reads columns */
		bool never = json_object_get(bad, "class") != NULL;
		struct ax_err err;
		struct ax_check_schedule schedule;
		enum ax_status status =
			ax_check_schedule_parse(&arena, json_string_value(expr), dialect_of(bad), &schedule, &err);
		if (status != (never ? AX_NEVER : AX_INVALID)) {
			print_error("%s `%s` gives %d\n", text_of(bad, "id"), json_string_value(expr), status);
			wrong++;
		}
		ax_arena_reset(&arena);
	}
	assert_true(json_array_size(list) > 100);
	assert_int_equal(wrong, 0);
	ax_arena_done(&arena);
	json_decref(list);
}

/* Whoever asks for the next fire of a task whose time is over asks about years of seconds. */
static void test_no_instant_is_looked_at_that_no_limit_lets_through(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	struct ax_err err;
	struct ax_check_schedule schedule;
	struct ax_check_zone zone;
	struct ax_check_limits limits = { .valid_from_ms = 5000, .valid_until_ms = 7000 };
	struct ax_check_fires fires;
	int64_t ms;
	assert_int_equal(ax_check_schedule_parse(&arena, "@every 1s", AX_CHECK_DIALECT_NONE, &schedule, &err), AX_OK);
	assert_int_equal(ax_check_zone_load(&arena, NULL, "UTC", &zone, &err), AX_OK);
	ax_check_fires_begin(&fires, &schedule, &zone, 0, 0, INT64_C(86400000) * 366);
	ax_check_fires_limit(&fires, &limits);
	assert_int_equal(fires.after_ms, 4999);
	assert_int_equal(fires.until_ms, 6999);
	assert_true(ax_check_fires_next(&fires, &ms) && ms == 5000);
	assert_true(ax_check_fires_next(&fires, &ms) && ms == 6000);
	assert_false(ax_check_fires_next(&fires, &ms));
	ax_check_fires_end(&fires);
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_vector_holds),
		cmocka_unit_test(test_every_invalid_expression_is_refused),
		cmocka_unit_test(test_no_instant_is_looked_at_that_no_limit_lets_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
