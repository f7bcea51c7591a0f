/* The engine against lists made from independent schedulers: tests/data/cron. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/rfc3339.h"
#include "core/schedule.h"

static struct ax_zones *zones;

static json_t *load(const char *name)
{
	char path[512];
	json_error_t error;
	snprintf(path, sizeof(path), "%s/cron/%s", AX_TEST_DATA, name);
	json_t *list = json_load_file(path, JSON_ALLOW_NUL, &error);
	if (list == NULL)
		fail_msg("%s:%d: %s", path, error.line, error.text);
	return list;
}

static const char *str(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));
	return s != NULL ? s : "";
}

static int64_t instant(const char *s)
{
	int64_t ms;
	if (!ax_rfc3339_parse(s, strlen(s), &ms))
		fail_msg("not an instant: %s", s);
	return ms;
}

/* The lists say unix5, quartz6, quartz7 and macro. */
static enum ax_dialect dialect_of(const json_t *vector)
{
	const char *s = str(vector, "dialect");
	return strncmp(s, "quartz", 6) == 0 ? AX_DIALECT_QUARTZ
		: strcmp(s, "unix5") == 0   ? AX_DIALECT_UNIX
					    : AX_DIALECT_NONE;
}

static enum ax_status parse(const json_t *vector, struct ax_schedule *ret, struct ax_err *err)
{
	const json_t *expr = json_object_get(vector, "expr");
	return ax_schedule_parse(json_string_value(expr), json_string_length(expr), dialect_of(vector), ret, err);
}

/* Number of wrong or missing fires. */
static int check_vector(const json_t *vector)
{
	struct ax_schedule schedule;
	struct ax_err err;
	if (parse(vector, &schedule, &err) != AX_OK) {
		print_error("%s: %s: refused: %s\n", str(vector, "id"), str(vector, "expr"), err.msg);
		return 1;
	}
	const struct ax_tz *tz = ax_zones_find(zones, str(vector, "tz"));
	if (tz == NULL)
		fail_msg("no zone %s: install tzdata", str(vector, "tz"));
	int64_t from_ms = instant(str(vector, "from")), ms = from_ms;
	size_t i;
	json_t *want;
	json_array_foreach(json_object_get(vector, "next"), i, want)
	{
		char got[AX_RFC3339_SIZE] = "none";
		if (ax_schedule_next(&schedule, tz, from_ms, ms, &ms))
			ax_rfc3339_format(ms, got);
		if (strcmp(got, json_string_value(want)) != 0) {
			print_error("%s: %s %s from %s [%zu]: %s, want %s\n", str(vector, "id"), str(vector, "expr"),
				str(vector, "tz"), str(vector, "from"), i, got, json_string_value(want));
			return 1;
		}
	}
	return 0;
}

static void test_all_vectors(void **state)
{
	(void)state;
	json_t *list = load("vectors.json"), *vector;
	size_t i;
	int wrong = 0;
	json_array_foreach(list, i, vector) wrong += check_vector(vector);
	assert_int_equal(json_array_size(list), 1748);
	assert_int_equal(wrong, 0);
	json_decref(list);
}

static bool is_field(const char *name)
{
	static const char *const fields[] = { "second", "minute", "hour", "day", "month", "weekday", "year",
		"cron_expr" };
	for (size_t i = 0; i < AX_COUNT(fields); i++)
		if (strcmp(name, fields[i]) == 0)
			return true;
	return false;
}

static void test_all_invalid(void **state)
{
	(void)state;
	json_t *list = load("invalid.json"), *vector;
	size_t i;
	int wrong = 0;
	json_array_foreach(list, i, vector)
	{
		struct ax_schedule schedule;
		struct ax_err err = { .status = AX_OK };
		bool never = strcmp(str(vector, "class"), "never") == 0;
		enum ax_status status = parse(vector, &schedule, &err);
		if (getenv("AX_SHOW") != NULL)
			print_message("%-24.60s %-9s %s\n", str(vector, "expr"), err.field, err.msg);
		if (status == (never ? AX_NEVER : AX_INVALID) && err.status == status && is_field(err.field) &&
			strlen(err.msg) > 20)
			continue;
		print_error("%s: %s: status %d, field \"%s\", %s\n", str(vector, "id"), str(vector, "expr"),
			(int)status, err.field, err.msg);
		wrong++;
	}
	assert_int_equal(json_array_size(list), 312);
	assert_int_equal(wrong, 0);
	json_decref(list);
}

/* The sum over the list of (10th fire in ms modulo 10^9), on which ten other schedulers agree. */
static int64_t check_value(const struct ax_tz *tz)
{
	char path[512], line[256];
	snprintf(path, sizeof(path), "%s/cron/bench-list.tsv", AX_TEST_DATA);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	int64_t sum = 0;
	while (fgets(line, sizeof(line), file) != NULL) {
		char *tab = strchr(line, '\t');
		assert_non_null(tab);
		int64_t ms = strtoll(tab + 1, NULL, 10);
		struct ax_schedule schedule;
		assert_int_equal(
			ax_schedule_parse(line, (size_t)(tab - line), AX_DIALECT_NONE, &schedule, NULL), AX_OK);
		for (int i = 0; i < 10; i++)
			assert_true(ax_schedule_next(&schedule, tz, ms, ms, &ms));
		sum += ms % 1000000000;
	}
	fclose(file);
	return sum;
}

static void test_check_values(void **state)
{
	(void)state;
	assert_true(check_value(ax_tz_utc()) == 500067920000);
	assert_true(check_value(ax_zones_find(zones, "Europe/Berlin")) == 507528180000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_vectors),
		cmocka_unit_test(test_all_invalid),
		cmocka_unit_test(test_check_values),
	};
	zones = ax_zoneinfo_open(NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ax_zoneinfo_close(zones);
	return failed;
}
