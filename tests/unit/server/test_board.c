#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "server/board.h"

static struct ax_hints *say(int64_t task, int64_t first_gid, int n_runs)
{
	struct ax_hints *h = ax_hints_new();
	struct ax_collector collector = { .hints = h };
	struct ax_store unused;
	ax_collector_init(&collector, &unused);
	collector.hints = h;
	const struct ax_notify_ops *say = collector.port.ops;
	say->task_changed(&collector.port, task);
	for (int i = 0; i < n_runs; i++)
		say->run_changed(&collector.port,
			&(struct ax_run){
				.gid = first_gid + i, .task_id = task, .parent = 4, .status = AX_RUN_RUNNING });
	say->worker_changed(&collector.port, "w\"1");
	say->group_ready(&collector.port, "pay");
	return h;
}

static struct ax_news *carried(struct ax_board *board)
{
	struct ax_news *news = ax_board_take(board);
	assert_non_null(news);
	struct ax_buf text;
	ax_buf_init(&text, 1024 * 1024);
	ax_news_write(news, &text);
	ax_news_free(news);
	news = ax_news_read(text.data);
	ax_buf_done(&text);
	return news;
}

static void test_what_is_put_up_arrives(void **state)
{
	(void)state;
	struct ax_board board = { .heard = true };
	ax_board_init(&board);
	struct ax_hints *h = say(7, INT64_C(385650922618880000), 2);
	ax_board_hints(&board, h);
	ax_board_hints(&board, h); /* names and tasks once, runs as often as they changed */
	ax_board_sign_in(&board, "ann", "10.0.0.1", false);
	ax_hints_free(h);
	struct ax_news *news = carried(&board);
	assert_int_equal(news->hints.n_tasks, 1);
	assert_int_equal(news->hints.tasks[0], 7);
	assert_int_equal(news->hints.n_runs, 4);
	assert_int_equal(news->hints.runs[1].gid, INT64_C(385650922618880001));
	assert_int_equal(news->hints.runs[1].parent, 4);
	assert_int_equal(news->hints.runs[1].status, AX_RUN_RUNNING);
	assert_int_equal(news->hints.n_workers, 1);
	assert_string_equal(news->hints.workers[0], "w\"1");
	assert_string_equal(news->hints.groups[0], "pay");
	assert_int_equal(news->n_sign_ins, 1);
	assert_string_equal(news->sign_ins[0].account, "ann");
	assert_string_equal(news->sign_ins[0].address, "10.0.0.1");
	assert_false(news->sign_ins[0].passed);
	assert_false(news->reload);
	ax_news_free(news);
	assert_null(ax_board_take(&board)); /* it is told once */
	ax_board_done(&board);
}

static void test_nothing_gathers_for_nobody(void **state)
{
	(void)state;
	struct ax_board board = { 0 };
	ax_board_init(&board);
	struct ax_hints *h = say(7, 1, 1);
	ax_board_hints(&board, h);
	ax_hints_free(h);
	assert_null(ax_board_take(&board));
	ax_board_done(&board);
}

static void test_too_much_is_a_reload(void **state)
{
	(void)state;
	struct ax_board board = { .heard = true };
	ax_board_init(&board);
	for (int i = 0; i < 10; i++) {
		struct ax_hints *h = say(i + 1, i * 1000 + 1, 100);
		ax_board_hints(&board, h);
		ax_hints_free(h);
	}
	struct ax_news *news = carried(&board);
	assert_true(news->reload);
	assert_int_equal(news->hints.n_runs, 200);
	ax_news_free(news);
	ax_board_done(&board);
}

static void test_another_versions_words(void **state)
{
	(void)state;
	static const char *const texts[] = { "", "[]", "{",
		"{\"tasks\":{},\"runs\":[1,[]],\"groups\":[1],\"sign_ins\":[{}]}" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct ax_news *news = ax_news_read(texts[i]);
		assert_int_equal(news->hints.n_tasks + news->hints.n_groups + news->n_sign_ins, 0);
		ax_news_free(news);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_put_up_arrives),
		cmocka_unit_test(test_nothing_gathers_for_nobody),
		cmocka_unit_test(test_too_much_is_a_reload),
		cmocka_unit_test(test_another_versions_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
