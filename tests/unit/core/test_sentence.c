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
	assert_string_equal(ax_span_text(&arena, 0, AX_ENGLISH), "0 ms");
	assert_string_equal(ax_span_text(&arena, 1999, AX_ENGLISH), "1 s");
	assert_string_equal(ax_span_text(&arena, 86400000, AX_ENGLISH), "1 d");
	assert_string_equal(ax_span_text(&arena, 3900000, AX_CHINESE), "1 小时 5 分钟");
	ax_arena_done(&arena);
}

static void test_what_is_kept_is_shown_in_either_language(void **state)
{
	const struct ax_said said = { AX_SAY_ALERT_LATE_FINISH,
		{ ax_id_param(&arena, "run", 9007199254740993), ax_number_param("for_ms", 200000),
			ax_number_param("allowed_ms", 60000),
			ax_text_param("message", "a \"b\" {run} [x]\xe7\xbb\x84") } };
	(void)state;
	const char *kept = ax_said_keep(&arena, &said);
	assert_string_equal(ax_kept_text(&arena, kept, AX_ENGLISH),
		"Run 9007199254740993 works for 3 min 20 s now, and 1 min were expected; it last said: a \"b\" {run} "
		"[x]组.");
	assert_string_equal(ax_kept_text(&arena, kept, AX_CHINESE),
		"运行 9007199254740993 已执行 3 分钟 20 秒，预期 1 分钟；它最近的报告：a \"b\" {run} [x]组。");
	struct ax_said again;
	assert_true(ax_said_read(&arena, kept, &again));
	assert_int_equal(again.sentence, AX_SAY_ALERT_LATE_FINISH);
	assert_int_equal(ax_said_count(&again), 4);
	assert_string_equal(again.params[0].text, "9007199254740993");
	assert_null(again.params[1].text);
	assert_int_equal(again.params[1].number, 200000);
	ax_arena_done(&arena);
}

static void test_what_is_no_kept_sentence_is_taken_as_it_is(void **state)
{
	static const char *const texts[] = { "", "disk full", "{\"sentence\":\"of_tomorrow\",\"params\":{}}", "[]",
		"{}" };
	struct ax_said said;
	(void)state;
	for (size_t i = 0; i < AX_COUNT(texts); i++) {
		assert_false(ax_said_read(&arena, texts[i], &said));
		assert_string_equal(ax_kept_text(&arena, texts[i], AX_CHINESE), texts[i]);
	}
	/* one that only the console has Chinese for */
	const struct ax_said english = { .sentence = AX_SAY_ENABLED };
	assert_string_equal(ax_said_text(&arena, &english, AX_CHINESE), "The task is enabled.");
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters_and_optional_parts),
		cmocka_unit_test(test_texts_are_taken_as_they_are),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_what_is_kept_is_shown_in_either_language),
		cmocka_unit_test(test_what_is_no_kept_sentence_is_taken_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
