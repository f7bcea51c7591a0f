#include <stdio.h>
#include <string.h>
#include "cli/ctl.h"
#include "cli/report.h"
#include "cli/value.h"

static const struct ax_opt list_opts[] = {
	{ "state", NULL, "S", "open or resolved; neither: all" },
	{ "rule", NULL, "R",
		"failed, missed, late, late_finish, stalled, absence, backlog, worker_lost, failure_group, "
		"unschedulable" },
	{ "group", NULL, "G", "of a group" },
	{ "task", NULL, "TASK", "of a task" },
	{ "limit", NULL, "N", "so many at most (50)" },
	{ 0 },
};

static const struct ax_opt note_opts[] = {
	{ "note", "reason", "TEXT", "why: others see it" },
	{ 0 },
};

static int list_path(struct ax_ctl *ctl, struct ax_buf *path)
{
	static const char *const options[] = { "state", "rule", "group" },
				 *const names[] = { "state", "rule", "group_key" };
	json_t *task = NULL;
	ax_buf_adds(path, "/alerts");
	for (size_t i = 0; i < AX_COUNT(names); i++)
		ax_value_query(path, names[i], ax_args_get(&ctl->args, options[i]));
	if (!ax_args_has(&ctl->args, "task"))
		return AX_EXIT_OK;
	int code = ax_ctl_task(ctl, ax_args_get(&ctl->args, "task"), &task);
	if (code == AX_EXIT_OK)
		ax_value_query(path, "task_id", ax_json_text(&ctl->arena, task, "id"));
	json_decref(task);
	return code;
}

static void add_row(struct ax_ctl *ctl, struct ax_table *table, const json_t *alert)
{
	bool muted = ax_json_true(alert, "muted");
	const char *state = ax_json_text(&ctl->arena, alert, "state");
	ax_table_cell(table, ax_json_text(&ctl->arena, alert, "id"));
	ax_table_cell(table, ax_json_time(&ctl->arena, alert, "open_time"));
	ax_table_cell(table, muted ? ax_sprintf(&ctl->arena, "%s, muted", state) : state);
	ax_table_cell(table, ax_json_text(&ctl->arena, alert, "rule"));
	ax_table_cell(table, ax_json_text(&ctl->arena, alert, "group_key"));
	ax_table_cell(table, ax_json_text(&ctl->arena, alert, "subject"));
	ax_table_cell(table, ax_json_text(&ctl->arena, alert, "count"));
	ax_table_cell(table, ax_json_text(&ctl->arena, alert, "detail"));
}

static int list(struct ax_ctl *ctl)
{
	static const char *const heads[] = { ">ID", "SINCE", "STATE", "RULE", "GROUP", "SUBJECT", ">COUNT", "DETAIL",
		NULL };
	struct ax_buf path;
	json_t *answer = NULL;
	int64_t limit = 50;
	ax_buf_init(&path, 65536);
	int code = ax_ctl_opt_i64(ctl, "limit", 1, 1000000, &limit);
	if (code == AX_EXIT_OK)
		code = list_path(ctl, &path);
	if (code == AX_EXIT_OK)
		code = ax_client_list(&ctl->client, path.data, (size_t)limit, &answer);
	ax_buf_done(&path);
	if (code != AX_EXIT_OK)
		return code;
	struct ax_table table;
	ax_table_init(&table, heads);
	size_t i;
	const json_t *alert;
	json_array_foreach(json_object_get(answer, "items"), i, alert) add_row(ctl, &table, alert);
	ax_report_list(ctl, answer, &table);
	json_decref(answer);
	return AX_EXIT_OK;
}

static const char *path_of(struct ax_ctl *ctl, const char *more)
{
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	ax_buf_adds(&path, "/alerts/");
	ax_value_segment(&path, ctl->args.operands[0]);
	ax_buf_adds(&path, more);
	const char *copy = ax_strdup(&ctl->arena, path.data);
	ax_buf_done(&path);
	return copy;
}

static void print_deliveries(struct ax_ctl *ctl, const json_t *deliveries)
{
	static const char *const heads[] = { ">CHANNEL", "KIND", "STATE", ">TRIES", "QUEUED", "SENT", "NEXT TRY",
		"ERROR", NULL };
	struct ax_table table;
	ax_table_init(&table, heads);
	size_t i;
	const json_t *row;
	json_array_foreach(deliveries, i, row)
	{
		ax_table_cell(&table, ax_json_text(&ctl->arena, row, "channel_id"));
		ax_table_cell(&table, ax_json_text(&ctl->arena, row, "kind"));
		ax_table_cell(&table, ax_json_text(&ctl->arena, row, "state"));
		ax_table_cell(&table, ax_json_text(&ctl->arena, row, "attempts"));
		ax_table_cell(&table, ax_json_time(&ctl->arena, row, "create_time"));
		ax_table_cell(&table, ax_json_time(&ctl->arena, row, "sent_time"));
		ax_table_cell(&table, ax_json_time(&ctl->arena, row, "next_time"));
		ax_table_cell(&table, ax_json_text(&ctl->arena, row, "error"));
	}
	if (table.n_cells > 0) {
		puts("\ntold");
		ax_table_print(&table, stdout);
	}
	ax_table_done(&table);
}

static int show(struct ax_ctl *ctl)
{
	json_t *alert = NULL;
	int code = ax_client_call(&ctl->client, "GET", path_of(ctl, ""), NULL, &alert);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, alert);
	} else if (code == AX_EXIT_OK) {
		json_t *told = json_incref(json_object_get(alert, "deliveries"));
		json_object_del(alert, "deliveries");
		ax_report_object(ctl, alert);
		print_deliveries(ctl, told);
		json_decref(told);
	}
	json_decref(alert);
	return code;
}

static int act(struct ax_ctl *ctl, const char *verb, const char *done)
{
	const char *note = ax_args_get(&ctl->args, "note");
	json_t *alert = NULL;
	int code = ax_client_call(
		&ctl->client, "POST", path_of(ctl, verb), json_pack("{s:s}", "note", note != NULL ? note : ""), &alert);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, alert);
	else if (code == AX_EXIT_OK)
		printf("%s alert %s\n", done, ctl->args.operands[0]);
	json_decref(alert);
	return code;
}

static int mute(struct ax_ctl *ctl)
{
	return act(ctl, "/mute", "muted");
}

static int unmute(struct ax_ctl *ctl)
{
	return act(ctl, "/unmute", "unmuted");
}

static int resolve(struct ax_ctl *ctl)
{
	return act(ctl, "/resolve", "resolved");
}

const struct ax_verb ax_alert_verbs[] = {
	{ "list", "", 0, 0, "alerts, newest first", list_opts, list, false },
	{ "show", "ALERT", 1, 1, "one alert, and what was told of it to whom", NULL, show, false },
	{ "mute", "ALERT", 1, 1, "tell nothing more of an open alert", note_opts, mute, false },
	{ "unmute", "ALERT", 1, 1, "tell of it again", note_opts, unmute, false },
	{ "resolve", "ALERT", 1, 1, "say that it is over", note_opts, resolve, false },
	{ 0 },
};
