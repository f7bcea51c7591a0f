#include "server/board.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"

enum {
	TOLD_MAX = 200, /* of a kind in one notice: beyond, pages are read anew */
	SIGN_INS_MAX = 1000,
};

/* --- news --------------------------------------------------------------------------------------------------------- */

struct ax_news *ax_news_new(void)
{
	return ax_malloc(sizeof(struct ax_news));
}

void ax_news_free(struct ax_news *news)
{
	if (news != NULL)
		ax_hints_free(&news->hints);
}

static void add_sign_in(struct ax_news *to, const char *account, const char *address, bool passed)
{
	if (to->n_sign_ins == SIGN_INS_MAX)
		return;
	struct ax_arena *arena = &to->hints.arena;
	to->sign_ins = ax_grow_array(arena, to->sign_ins, to->n_sign_ins, 1, &to->cap_sign_ins, sizeof *to->sign_ins);
	to->sign_ins[to->n_sign_ins++] =
		(struct ax_sign_in){ ax_strdup(arena, account), ax_strdup(arena, address), passed };
}

/* --- as text ------------------------------------------------------------------------------------------------------ */

static void write_names(struct ax_json *json, const char *key, const char *const *names, size_t n)
{
	ax_json_arr(json, key);
	for (size_t i = 0; i < n; i++)
		ax_json_str(json, NULL, names[i]);
	ax_json_arr_end(json);
}

static void write_numbers(struct ax_json *json, const char *key, const int64_t *numbers, size_t n)
{
	ax_json_arr(json, key);
	for (size_t i = 0; i < n; i++)
		ax_json_int(json, NULL, numbers[i]);
	ax_json_arr_end(json);
}

void ax_news_write(const struct ax_news *news, struct ax_buf *out)
{
	const struct ax_hints *h = &news->hints;
	struct ax_json json;
	ax_json_init(&json, out);
	ax_json_obj(&json, NULL);
	write_numbers(&json, "tasks", h->tasks, h->n_tasks);
	ax_json_arr(&json, "runs");
	for (size_t i = 0; i < h->n_runs; i++) {
		const int64_t run[] = { h->runs[i].gid, h->runs[i].task_id, h->runs[i].parent, h->runs[i].status };
		write_numbers(&json, NULL, run, AX_COUNT(run));
	}
	ax_json_arr_end(&json);
	write_names(&json, "workers", h->workers, h->n_workers);
	write_names(&json, "groups", h->groups, h->n_groups);
	write_names(&json, "stops", h->stops, h->n_stops);
	ax_json_arr(&json, "sign_ins");
	for (size_t i = 0; i < news->n_sign_ins; i++) {
		ax_json_obj(&json, NULL);
		ax_json_str(&json, "account", news->sign_ins[i].account);
		ax_json_str(&json, "address", news->sign_ins[i].address);
		ax_json_bool(&json, "passed", news->sign_ins[i].passed);
		ax_json_obj_end(&json);
	}
	ax_json_arr_end(&json);
	ax_json_bool(&json, "reload", news->reload);
	ax_json_obj_end(&json);
}

static size_t read_names(struct ax_arena *arena, const json_t *names, const char ***ret)
{
	size_t n = 0;
	*ret = ax_alloc_array(arena, json_array_size(names) + 1, sizeof **ret);
	for (size_t i = 0; i < json_array_size(names); i++)
		if (json_is_string(json_array_get(names, i)))
			(*ret)[n++] = ax_strdup(arena, json_string_value(json_array_get(names, i)));
	return n;
}

static size_t read_numbers(struct ax_arena *arena, const json_t *numbers, int64_t **ret)
{
	size_t n = json_array_size(numbers);
	*ret = ax_alloc_array(arena, n + 1, sizeof **ret);
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = json_integer_value(json_array_get(numbers, i));
	return n;
}

static void read_runs(struct ax_hints *h, const json_t *runs)
{
	size_t n = json_array_size(runs);
	h->runs = ax_alloc_array(&h->arena, n + 1, sizeof *h->runs);
	for (size_t i = 0; i < n; i++) {
		const json_t *run = json_array_get(runs, i);
		h->runs[h->n_runs++] = (struct ax_run_hint){
			.gid = json_integer_value(json_array_get(run, 0)),
			.task_id = json_integer_value(json_array_get(run, 1)),
			.parent = json_integer_value(json_array_get(run, 2)),
			.status = (enum ax_run_state)json_integer_value(json_array_get(run, 3)),
		};
	}
}

static void read_sign_ins(struct ax_news *news, const json_t *sign_ins)
{
	for (size_t i = 0; i < json_array_size(sign_ins); i++) {
		const json_t *one = json_array_get(sign_ins, i);
		const char *account = json_string_value(json_object_get(one, "account"));
		const char *address = json_string_value(json_object_get(one, "address"));
		if (account != NULL && address != NULL)
			add_sign_in(news, account, address, json_is_true(json_object_get(one, "passed")));
	}
}

struct ax_news *ax_news_read(const char *text)
{
	struct ax_news *news = ax_news_new();
	struct ax_hints *h = &news->hints;
	struct ax_arena *arena = &h->arena;
	json_t *body = json_loads(text, 0, NULL);
	h->n_tasks = read_numbers(arena, json_object_get(body, "tasks"), &h->tasks);
	read_runs(h, json_object_get(body, "runs"));
	h->n_workers = read_names(arena, json_object_get(body, "workers"), &h->workers);
	h->n_groups = read_names(arena, json_object_get(body, "groups"), &h->groups);
	h->n_stops = read_names(arena, json_object_get(body, "stops"), &h->stops);
	read_sign_ins(news, json_object_get(body, "sign_ins"));
	news->reload = json_is_true(json_object_get(body, "reload"));
	json_decref(body);
	return news;
}

/* --- the board ---------------------------------------------------------------------------------------------------- */

void ax_board_init(struct ax_board *board)
{
	AX_ASSERT(uv_mutex_init(&board->lock) == 0);
}

void ax_board_done(struct ax_board *board)
{
	ax_news_free(board->news);
	board->news = NULL;
	uv_mutex_destroy(&board->lock);
}

/* Locked, unless nobody listens: then NULL. */
static struct ax_news *begin(struct ax_board *board)
{
	if (!board->heard)
		return NULL;
	uv_mutex_lock(&board->lock);
	if (board->news == NULL)
		board->news = ax_news_new();
	return board->news;
}

void ax_board_hints(struct ax_board *board, const struct ax_hints *hints)
{
	struct ax_news *news = begin(board);
	if (news == NULL)
		return;
	news->reload |= !ax_hints_add(&news->hints, hints, TOLD_MAX);
	uv_mutex_unlock(&board->lock);
}

void ax_board_sign_in(struct ax_board *board, const char *account, const char *address, bool passed)
{
	struct ax_news *news = begin(board);
	if (news == NULL)
		return;
	add_sign_in(news, account, address, passed);
	uv_mutex_unlock(&board->lock);
}

struct ax_news *ax_board_take(struct ax_board *board)
{
	uv_mutex_lock(&board->lock);
	struct ax_news *news = board->news;
	board->news = NULL;
	uv_mutex_unlock(&board->lock);
	return news;
}
