#include <stdio.h>
#include <string.h>
#include "cli/ctl.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/value.h"

enum { FILE_MAX = 1 << 20 };

static const char *path_of(struct ax_ctl *ctl, const char *rest)
{
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	ax_buf_adds(&path, "/calendars/");
	ax_value_segment(&path, ctl->args.operands[0]);
	ax_buf_adds(&path, rest);
	const char *copy = ax_strdup(&ctl->arena, path.data);
	ax_buf_done(&path);
	return copy;
}

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ "CALENDAR", "name", NULL },
		{ "TITLE", "title", NULL },
		{ "WEEK", "week", ax_json_words },
		{ ">DAYS", "day_count", NULL },
		{ ">VERSION", "version", NULL },
		{ "CHANGED", "update_time", ax_json_time },
		{ 0 },
	};
	return ax_report_whole_list(ctl, "/calendars", columns);
}

/* ---- show ---- */

static const struct ax_opt show_opts[] = {
	{ "year", NULL, "YYYY", "only the days of this year" },
	{ 0 },
};

static void print_days(struct ax_ctl *ctl, const json_t *calendar)
{
	static const struct ax_column columns[] = {
		{ "DATE", "date", NULL },
		{ "KIND", "kind", NULL },
		{ "LABEL", "label", NULL },
		{ 0 },
	};
	const char *year = ax_args_get(&ctl->args, "year");
	json_t *shown = json_array(), *day;
	size_t i;
	json_array_foreach(json_object_get(calendar, "days"), i, day)
	{
		if (year == NULL || strncmp(ax_json_text(&ctl->arena, day, "date"), year, 4) == 0)
			json_array_append(shown, day);
	}
	if (json_array_size(shown) > 0)
		ax_print_table(stdout, columns, shown);
	json_decref(shown);
}

static int show(struct ax_ctl *ctl)
{
	static const char *const shown[] = { "name", "title", "version", "updated_by" };
	json_t *calendar = NULL;
	int code = ax_client_call(&ctl->client, "GET", path_of(ctl, ""), NULL, &calendar);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, calendar);
	} else if (code == AX_EXIT_OK) {
		for (size_t i = 0; i < AX_COUNT(shown); i++)
			ax_print_field(stdout, shown[i], ax_json_text(&ctl->arena, calendar, shown[i]));
		ax_print_field(stdout, "update_time", ax_json_time(&ctl->arena, calendar, "update_time"));
		ax_print_field(stdout, "week", ax_json_words(&ctl->arena, calendar, "week"));
		print_days(ctl, calendar);
	}
	json_decref(calendar);
	return code;
}

/* ---- import ---- */

static const struct ax_opt import_opts[] = {
	{ "format", NULL, "F", "csv, ics; else what the file's name ends with" },
	{ "kind", NULL, "K", "ics: what the events' dates are: out (off, the default), in (work)" },
	{ "replace", NULL, NULL, "forget the days that the calendar has" },
	{ "week", NULL, "DAYS", "weekdays that are in, such as mon,tue,wed,thu,fri (which a new calendar has)" },
	{ "title", NULL, "TEXT", "what people call it" },
	{ 0 },
};

/* "mon,tue" as a JSON array; the server knows the words. */
static json_t *split_week(const char *text)
{
	json_t *week = json_array();
	while (*text != '\0') {
		size_t len = strcspn(text, ",");
		json_array_append_new(week, json_stringn(text, len));
		text += len + (text[len] == ',');
	}
	return week;
}

static const char *format_of(const struct ax_ctl *ctl, const char *file)
{
	const char *format = ax_args_get(&ctl->args, "format"), *dot = strrchr(file, '.');
	return format != NULL ? format : dot != NULL ? dot + 1 : "";
}

static int say_version(struct ax_ctl *ctl, const json_t *calendar)
{
	if (ctl->json)
		ax_print_json(stdout, calendar);
	else
		printf("calendar %s is at version %s with %s days\n", ctl->args.operands[0],
			ax_json_text(&ctl->arena, calendar, "version"),
			ax_json_text(&ctl->arena, calendar, "day_count"));
	return AX_EXIT_OK;
}

static int import(struct ax_ctl *ctl)
{
	const char *file = ctl->args.operands[1], *format = format_of(ctl, file);
	static const char *const texts[] = { "kind", "title" };
	char *text;
	size_t len;
	json_t *calendar = NULL;
	if (strcmp(format, "csv") != 0 && strcmp(format, "ics") != 0)
		return ax_ctl_fail(AX_EXIT_USAGE, "--format", "write csv or ics");
	int code = ax_ctl_read_file(ctl, file, FILE_MAX, &text, &len);
	if (code != AX_EXIT_OK)
		return code;
	json_t *content = json_stringn(text, len);
	if (content == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, file, "the file is not UTF-8 text");
	json_t *body = json_pack("{s:s, s:o}", "format", format, "text", content);
	for (size_t i = 0; i < AX_COUNT(texts); i++)
		if (ax_args_has(&ctl->args, texts[i]))
			json_object_set_new(body, texts[i], json_string(ax_args_get(&ctl->args, texts[i])));
	if (ax_args_has(&ctl->args, "week"))
		json_object_set_new(body, "week", split_week(ax_args_get(&ctl->args, "week")));
	if (ax_args_has(&ctl->args, "replace"))
		json_object_set_new(body, "replace", json_true());
	code = ax_client_call(&ctl->client, "POST", path_of(ctl, "/import"), body, &calendar);
	if (code == AX_EXIT_OK)
		code = say_version(ctl, calendar);
	json_decref(calendar);
	return code;
}

/* ---- create, update, versions ---- */

static const struct ax_opt fields_opts[] = {
	{ "title", NULL, "TEXT", "what people call it" },
	{ "week", NULL, "DAYS", "weekdays that are in, such as mon,tue,wed,thu,fri (which a new calendar has)" },
	{ 0 },
};

static json_t *fields(struct ax_ctl *ctl)
{
	json_t *body = json_object();
	if (ax_args_has(&ctl->args, "title"))
		json_object_set_new(body, "title", json_string(ax_args_get(&ctl->args, "title")));
	if (ax_args_has(&ctl->args, "week"))
		json_object_set_new(body, "week", split_week(ax_args_get(&ctl->args, "week")));
	return body;
}

static int create(struct ax_ctl *ctl)
{
	json_t *body = fields(ctl), *calendar = NULL;
	json_object_set_new(body, "name", json_string(ctl->args.operands[0]));
	int code = ax_client_call(&ctl->client, "POST", "/calendars", body, &calendar);
	if (code == AX_EXIT_OK)
		code = say_version(ctl, calendar);
	json_decref(calendar);
	return code;
}

static int update(struct ax_ctl *ctl)
{
	json_t *body = fields(ctl), *calendar = NULL, *changed = NULL;
	int code = json_object_size(body) == 0
		? ax_ctl_fail(AX_EXIT_USAGE, "", "name what shall change: --title, --week; days come with import")
		: ax_client_call(&ctl->client, "GET", path_of(ctl, ""), NULL, &calendar);
	if (code == AX_EXIT_OK) {
		json_object_set(body, "version", json_object_get(calendar, "version"));
		code = ax_client_call(&ctl->client, "PATCH", path_of(ctl, ""), json_incref(body), &changed);
	}
	if (code == AX_EXIT_OK)
		code = say_version(ctl, changed);
	json_decref(body);
	json_decref(calendar);
	json_decref(changed);
	return code;
}

static int versions(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">VERSION", "version", NULL },
		{ "TIME", "time", ax_json_time },
		{ "AUTHOR", "author", NULL },
		{ "TITLE", "title", NULL },
		{ ">DAYS", "day_count", NULL },
		{ 0 },
	};
	return ax_report_list(ctl, path_of(ctl, "/versions"), 0, columns);
}

/* ---- export, delete ---- */

static int export(struct ax_ctl *ctl)
{
	json_t *file = NULL;
	int code = ax_client_call(&ctl->client, "GET", path_of(ctl, "/export"), NULL, &file);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, file);
	else if (code == AX_EXIT_OK)
		fputs(ax_json_text(&ctl->arena, file, "text"), stdout);
	json_decref(file);
	return code;
}

static int delete (struct ax_ctl *ctl)
{
	int code = ax_client_call(&ctl->client, "DELETE", path_of(ctl, ""), NULL, NULL);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, json_null());
	else if (code == AX_EXIT_OK)
		printf("deleted calendar %s\n", ctl->args.operands[0]);
	return code;
}

const struct ax_verb ax_calendar_verbs[] = {
	{ "list", "", 0, 0, "calendars", NULL, list, false },
	{ "show", "NAME", 1, 1, "one calendar with its days", show_opts, show, false },
	{ "create", "NAME", 1, 1, "make one without exceptions", fields_opts, create, false },
	{ "update", "NAME", 1, 1, "change its title or its week", fields_opts, update, false },
	{ "versions", "NAME", 1, 1, "how it changed", NULL, versions, false },
	{ "import", "NAME FILE", 2, 2, "take the days of a CSV or iCalendar file into a calendar, new or not",
		import_opts, import, false },
	{ "export", "NAME", 1, 1, "its days as CSV", NULL, export, false },
	{ "delete", "NAME", 1, 1, "delete a calendar that no task uses", NULL, delete, false },
	{ 0 },
};
