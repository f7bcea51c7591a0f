#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/attr.h"
#include "core/sentence.h"

static struct ax_arena arena;

static const char *say(enum ax_sentence sentence, const struct ax_param *params, int n)
{
	return ax_sentence_text(&arena, sentence, params, n);
}

static void test_parameters_and_optional_parts(void **state)
{
	struct ax_param params[] = {
		ax_number_param("run", 7),
		ax_text_param("state", "RUNNING"),
		ax_text_param("worker", "w1"),
		ax_text_param("overlap", "queue"),
		ax_number_param("allowed", 1),
		ax_number_param("live", 0),
	};
	(void)state;
	assert_string_equal(say(AX_SAY_OVERLAP_HELD, params, AX_COUNT(params)),
		"It waits for run 7 (RUNNING on w1) to end: overlap is queue, which lets 1 run of the task go at a "
		"time, and 0 is live.");
	params[2] = ax_text_param("worker", NULL);
	assert_non_null(strstr(say(AX_SAY_OVERLAP_HELD, params, AX_COUNT(params)), "run 7 (RUNNING) to end"));
	assert_string_equal(say(AX_SAY_ENABLED, NULL, 0), "The task is enabled.");
	assert_string_equal(ax_sentence_name(&arena, AX_SAY_OVERLAP_HELD), "overlap_held");
	ax_arena_done(&arena);
}

static void test_texts_are_taken_as_they_are(void **state)
{
	const struct ax_param params[] = { ax_text_param("fault", "{since} [x] %s") };
	(void)state;
	assert_string_equal(say(AX_SAY_UNSCHEDULABLE, params, 1),
		"Its schedule cannot be read, so that it makes no fires: {since} [x] %s.");
	assert_string_equal(
		say(AX_SAY_UNSCHEDULABLE, NULL, 0), "Its schedule cannot be read, so that it makes no fires: –.");
	ax_arena_done(&arena);
}

static void test_spans(void **state)
{
	const struct ax_param params[] = { ax_number_param("late_ms", 200000) };
	(void)state;
	assert_string_equal(say(AX_SAY_ON_TIME, params, 1), "It was made 3 min 20 s after it was due.");
	assert_string_equal(ax_span_text(&arena, 0), "0 ms");
	assert_string_equal(ax_span_text(&arena, 1999), "1 s");
	assert_string_equal(ax_span_text(&arena, 86400000), "1 d");
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters_and_optional_parts),
		cmocka_unit_test(test_texts_are_taken_as_they_are),
		cmocka_unit_test(test_spans),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
