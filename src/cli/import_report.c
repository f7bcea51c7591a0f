#include "cli/import_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/err.h"
#include "cli/print.h"

json_t *ax_import_report_new(const char *file, const char *group, const char *zone, bool dry_run)
{
	json_t *report = json_pack(
		"{s:s, s:s, s:s, s:b}", "file", file, "group_key", group, "time_zone", zone, "dry_run", dry_run);
	static const char *const lists[] = { "lines", "created", "updated", "unchanged", "refused", "warnings" };
	if (report == NULL) /* a file name that is not UTF-8 */
		report = json_pack(
			"{s:s, s:s, s:s, s:b}", "file", "?", "group_key", group, "time_zone", zone, "dry_run", dry_run);
	AX_ASSERT(report != NULL);
	for (size_t i = 0; i < AX_COUNT(lists); i++)
		json_object_set_new(report, lists[i], json_array());
	return report;
}

void ax_import_report_add(json_t *report, const char *list, int line, const char *key1, const char *value1,
	const char *key2, const char *value2)
{
	json_t *items = json_object_get(report, list), *item = json_pack("{s:i, s:s}", "line", line, key1, value1);
	AX_ASSERT(item != NULL);
	if (key2 != NULL)
		json_object_set_new(item, key2, json_string(value2));
	size_t at = json_array_size(items);
	while (at > 0 && json_integer_value(json_object_get(json_array_get(items, at - 1), "line")) > line)
		at--;
	json_array_insert_new(items, at, item);
}

/* ---- in words ---- */

static void say(const char *before, const char *text, const char *after)
{
	struct ax_buf clean;
	ax_buf_init(&clean, 4 << 20);
	ax_print_clean(text, &clean);
	printf("%s%s%s", before, clean.len > 0 ? clean.data : "", after);
	ax_buf_done(&clean);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text != NULL ? text : "";
}

/* The first of the next fires. */
static const char *next_of(struct ax_arena *arena, const json_t *line, const char *field)
{
	(void)arena;
	const char *first = json_string_value(json_array_get(json_object_get(line, field), 0));
	return first != NULL ? first : "";
}

static void print_lines(const json_t *report)
{
	static const struct ax_column columns[] = {
		{ ">LINE", "line", NULL },
		{ "NAME", "task_name", NULL },
		{ "SCHEDULE", "words", NULL },
		{ "ZONE", "time_zone", NULL },
		{ "NEXT", "next", next_of },
		{ 0 },
	};
	const json_t *lines = json_object_get(report, "lines");
	if (json_array_size(lines) == 0)
		return;
	putchar('\n');
	ax_print_table(stdout, columns, lines);
}

static void print_list(const char *head, const json_t *items, const char *key)
{
	size_t i;
	const json_t *item;
	if (json_array_size(items) > 0)
		printf("\n%s\n", head);
	json_array_foreach(items, i, item)
	{
		printf("  line %d: ", (int)json_integer_value(json_object_get(item, "line")));
		say("", text_of(item, key), "\n");
		if (json_object_get(item, "reason") != NULL)
			say("      ", text_of(item, "reason"), "\n");
	}
}

static void print_crowds(struct ax_arena *arena, const json_t *crowds)
{
	size_t i, k;
	const json_t *minute, *name;
	if (json_array_size(json_object_get(crowds, "top")) > 0)
		printf("\ncrowded minutes in the next 24 hours: %s; the fullest\n",
			ax_json_text(arena, crowds, "count"));
	json_array_foreach(json_object_get(crowds, "top"), i, minute)
	{
		printf("  %s  %s at once:", ax_json_time(arena, minute, "time"), ax_json_text(arena, minute, "fires"));
		json_array_foreach(json_object_get(minute, "tasks"), k, name)
			say(k == 0 ? " " : ", ", json_string_value(name), "");
		putchar('\n');
	}
}

static void print_inventory(struct ax_arena *arena, const json_t *inventory)
{
	size_t i, k;
	const json_t *item, *line;
	if (json_array_size(json_object_get(inventory, "duplicates")) > 0)
		puts("\nthe same command at the same times");
	json_array_foreach(json_object_get(inventory, "duplicates"), i, item)
	{
		fputs("  lines", stdout);
		json_array_foreach(json_object_get(item, "lines"), k, line)
			printf(k == 0 ? " %d" : ", %d", (int)json_integer_value(line));
		putchar('\n');
	}
	print_crowds(arena, json_object_get(inventory, "crowded_minutes"));
	if (json_array_size(json_object_get(inventory, "dependencies")) > 0)
		puts("\nguessed dependencies (from paths in the commands; look before you trust them)");
	json_array_foreach(json_object_get(inventory, "dependencies"), i, item)
	{
		bool lock = strcmp(text_of(item, "kind"), "lock") == 0;
		say("  ", text_of(item, "first"), lock ? " and " : " writes what ");
		say("", text_of(item, "then"), lock ? " share the lock " : " reads: ");
		say("", text_of(item, "path"), "\n");
	}
}

void ax_import_report_print(const json_t *report)
{
	struct ax_arena arena = { 0 };
	say("", text_of(report, "file"), "");
	printf(", group %s, zone %s unless CRON_TZ says otherwise\n", text_of(report, "group_key"),
		text_of(report, "time_zone"));
	printf("as with crond: no retries, no time limit, runs may overlap (at most 10 at once)\n");
	if (json_is_true(json_object_get(report, "dry_run"))) {
		print_lines(report);
		print_inventory(&arena, json_object_get(report, "inventory"));
	} else {
		printf("\ncreated %zu, updated %zu, unchanged %zu, refused %zu\n",
			json_array_size(json_object_get(report, "created")),
			json_array_size(json_object_get(report, "updated")),
			json_array_size(json_object_get(report, "unchanged")),
			json_array_size(json_object_get(report, "refused")));
		print_list("created", json_object_get(report, "created"), "task_name");
		print_list("updated", json_object_get(report, "updated"), "task_name");
	}
	print_list("refused", json_object_get(report, "refused"), "text");
	print_list("worth knowing", json_object_get(report, "warnings"), "text");
	ax_arena_done(&arena);
}
