#include "cli/report.h"

#include <stdlib.h>
#include <string.h>
#include "sys/json_real.h"

static void write_indented(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		putchar(text[i]);
		if (text[i] == '\n')
			fputs("    ", stdout);
	}
}

/* A list as --json prints it, page by page, so that it may be of any length. One that breaks off in the middle is left
 * without an end: nobody shall take it for the whole. */
static int print_pages(struct ax_ctl *ctl, const char *path, size_t max)
{
	size_t n = 0;
	json_t *next = NULL;
	do {
		json_t *page = NULL, *item;
		size_t i, limit = max > 0 ? AX_MIN(max - n, AX_CLIENT_PAGE_MAX) : AX_CLIENT_PAGE_MAX;
		int code = ax_client_page(&ctl->client, path, limit, json_string_value(next), &page);
		if (code != AX_EXIT_OK) {
			json_decref(next);
			return code;
		}
		if (next == NULL)
			fputs("{\n  \"items\": [", stdout);
		json_array_foreach(json_object_get(page, "items"), i, item)
		{
			fputs(n++ > 0 ? ",\n    " : "\n    ", stdout);
			char *text = json_dumps(item, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY);
			if (text != NULL)
				write_indented(text, ax_json_shorten(text, strlen(text)));
			free(text);
		}
		json_decref(next);
		next = json_incref(json_object_get(page, "next"));
		json_decref(page);
	} while (json_is_string(next) && (max == 0 || n < max) && !ferror(stdout));
	fputs(n > 0 ? "\n  ],\n  \"next\": " : "],\n  \"next\": ", stdout);
	json_dumpf(json_is_string(next) ? next : json_null(), stdout, JSON_ENCODE_ANY);
	fputs("\n}\n", stdout);
	json_decref(next);
	return AX_EXIT_OK;
}

int ax_report_list(struct ax_ctl *ctl, const char *path, int64_t max, const struct ax_column *columns)
{
	json_t *list = NULL;
	if (ctl->json)
		return print_pages(ctl, path, (size_t)max);
	int code = ax_client_list(&ctl->client, path, (size_t)max, &list);
	if (code == AX_EXIT_OK) {
		ax_print_table(stdout, columns, json_object_get(list, "items"));
		if (json_is_string(json_object_get(list, "next")))
			puts("… there are more: --limit N shows N, --limit 0 all");
	}
	json_decref(list);
	return code;
}

int ax_report_whole_list(struct ax_ctl *ctl, const char *path, const struct ax_column *columns)
{
	json_t *list = NULL;
	int code = ax_client_page(&ctl->client, path, 0, NULL, &list);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, list);
	else if (code == AX_EXIT_OK)
		ax_print_table(stdout, columns, json_object_get(list, "items"));
	json_decref(list);
	return code;
}

void ax_report_rows(const char *title, const json_t *rows, const struct ax_column *columns)
{
	if (json_array_size(rows) == 0)
		return;
	printf("\n%s\n", title);
	ax_print_table(stdout, columns, rows);
}

static bool ends_with(const char *text, const char *tail)
{
	size_t len = strlen(text), n = strlen(tail);
	return len >= n && strcmp(text + len - n, tail) == 0;
}

static const char *member_of(struct ax_arena *arena, const json_t *object, const char *key)
{
	bool is_time = json_is_integer(json_object_get(object, key)) && ends_with(key, "_time");
	return (is_time ? ax_json_time : ax_json_text)(arena, object, key);
}

void ax_report_object(struct ax_ctl *ctl, const json_t *object)
{
	if (ctl->json) {
		ax_print_json(stdout, object);
		return;
	}
	const char *key;
	json_t *value; /* the iterator wants it so; nothing is changed */
	json_t *copy = json_copy((json_t *)(uintptr_t)object);
	size_t width = 0;
	json_object_foreach(copy, key, value)
	{
		if (*member_of(&ctl->arena, object, key) != '\0')
			width = AX_MAX(width, strlen(key));
	}
	json_object_foreach(copy, key, value)
		ax_print_field_at(stdout, width, key, member_of(&ctl->arena, object, key));
	json_decref(copy);
}

void ax_report_run_line(struct ax_ctl *ctl, const json_t *run)
{
	struct ax_arena *arena = &ctl->arena;
	const char *reason = ax_json_text(arena, run, "reason"), *message = ax_json_text(arena, run, "result_msg");
	const char *waiting = ax_json_text(arena, run, "waiting_for"), *cancel = ax_json_text(arena, run, "cancel");
	bool lives = !json_is_integer(json_object_get(run, "end_time"));
	struct ax_buf line;
	ax_buf_init(&line, 65536);
	const char *text = ax_sprintf(arena, "run %s of %s/%s: %s", ax_json_text(arena, run, "gid"),
		ax_json_text(arena, run, "group_key"), ax_json_text(arena, run, "task_name"),
		ax_json_text(arena, run, "status"));
	if (lives && *cancel != '\0')
		text = ax_sprintf(arena, "%s (cancel %s)", text, cancel);
	else if (*reason != '\0')
		text = ax_sprintf(arena, "%s (%s)", text, reason);
	else if (*waiting != '\0')
		text = ax_sprintf(arena, "%s (for %s)", text, waiting);
	if (*message != '\0')
		text = ax_sprintf(arena, "%s: %s", text, message);
	ax_print_clean(text, &line);
	puts(line.data);
	ax_buf_done(&line);
}

int ax_report_run(struct ax_ctl *ctl, const json_t *run, int64_t wait_ms)
{
	json_t *ended = NULL;
	int code = AX_EXIT_OK;
	if (wait_ms > 0) {
		const char *gid = ax_json_text(&ctl->arena, run, "gid");
		code = ax_ctl_wait(ctl, gid, wait_ms, &ended);
		if (ended == NULL)
			return code;
		run = ended;
	}
	if (ctl->json)
		ax_print_json(stdout, run);
	else
		ax_report_run_line(ctl, run);
	json_decref(ended);
	return code;
}

void ax_report_warnings(struct ax_ctl *ctl, const json_t *answer)
{
	size_t i;
	const json_t *warning;
	json_array_foreach(json_object_get(answer, "warnings"), i, warning)
	{
		if (!ctl->json)
			ax_print_field(stdout, "  warning:", ax_json_text(&ctl->arena, warning, "text"));
	}
}
