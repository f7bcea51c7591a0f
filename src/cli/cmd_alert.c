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
	AX_CTL_LIMIT,
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

/* "open, muted" */
static const char *state_of(struct ax_arena *arena, const json_t *alert, const char *field)
{
	return ax_sprintf(
		arena, "%s%s", ax_json_text(arena, alert, field), ax_json_true(alert, "muted") ? ", muted" : "");
}

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">ID", "id", NULL },
		{ "SINCE", "open_time", ax_json_time },
		{ "STATE", "state", state_of },
		{ "RULE", "rule", NULL },
		{ "GROUP", "group_key", NULL },
		{ "SUBJECT", "subject", NULL },
		{ ">COUNT", "count", NULL },
		{ "DETAIL", "detail", NULL },
		{ 0 },
	};
	struct ax_buf path;
	int64_t limit;
	ax_buf_init(&path, 65536);
	int code = ax_ctl_opt_limit(ctl, &limit);
	if (code == AX_EXIT_OK)
		code = list_path(ctl, &path);
	if (code == AX_EXIT_OK)
		code = ax_report_list(ctl, path.data, limit, columns);
	ax_buf_done(&path);
	return code;
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

static int show(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">CHANNEL", "channel_id", NULL },
		{ "KIND", "kind", NULL },
		{ "STATE", "state", NULL },
		{ ">TRIES", "attempts", NULL },
		{ "QUEUED", "create_time", ax_json_time },
		{ "SENT", "sent_time", ax_json_time },
		{ "NEXT TRY", "next_time", ax_json_time },
		{ "ERROR", "error", NULL },
		{ 0 },
	};
	/* the deliveries have a table, and of detail and note people read the sentence, not what it was made of */
	static const char *const apart[] = { "deliveries", "detail_sentence", "detail_params", "resolve_note_sentence",
		"resolve_note_params" };
	json_t *alert = NULL;
	int code = ax_client_call(&ctl->client, "GET", path_of(ctl, ""), NULL, &alert);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, alert);
	} else if (code == AX_EXIT_OK) {
		json_t *told = json_incref(json_object_get(alert, "deliveries"));
		for (size_t i = 0; i < AX_COUNT(apart); i++)
			json_object_del(alert, apart[i]);
		ax_report_object(ctl, alert);
		ax_report_rows("told", told, columns);
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
