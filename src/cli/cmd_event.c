#include <stdio.h>
#include "cli/ctl.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/value.h"

/* ---- send, show ---- */

static const struct ax_opt send_opts[] = {
	{ "id", "event-id", "ID", "the same name and id again: no new runs" },
	{ "payload", NULL, "JSON", "what happened; \"@FILE\" reads it from a file, \"-\" from standard input" },
	{ 0 },
};

static void report(struct ax_ctl *ctl, const json_t *event)
{
	static const struct ax_column columns[] = {
		{ ">TASK", "task_id", NULL },
		{ "NAME", "task_name", NULL },
		{ "OUTCOME", "outcome", NULL },
		{ ">RUN", "gid", NULL },
		{ 0 },
	};
	if (ctl->json) {
		ax_print_json(stdout, event);
		return;
	}
	static const char *const shown[] = { "id", "name", "event_id", "sent_by", "payload", "runs", "passed_over" };
	for (size_t i = 0; i < AX_COUNT(shown); i++)
		ax_print_field(stdout, shown[i], ax_json_text(&ctl->arena, event, shown[i]));
	ax_print_field(stdout, "time", ax_json_time(&ctl->arena, event, "time"));
	const json_t *tasks = json_object_get(event, "tasks");
	if (json_array_size(tasks) > 0)
		ax_print_table(stdout, columns, tasks);
}

static int send_event(struct ax_ctl *ctl)
{
	json_t *body = json_pack("{s:s}", "name", ctl->args.operands[0]), *event = NULL;
	const char *id = ax_args_get(&ctl->args, "id"), *payload = ax_args_get(&ctl->args, "payload");
	json_t *value = NULL;
	int code = payload != NULL ? ax_ctl_json(ctl, "--payload", payload, &value) : AX_EXIT_OK;
	if (body == NULL || (id != NULL && json_object_set_new(body, "event_id", json_string(id)) != 0))
		code = ax_ctl_fail(AX_EXIT_USAGE, "", "not UTF-8 text");
	if (value != NULL)
		json_object_set_new(body, "payload", value);
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "POST", "/events", json_incref(body), &event);
	if (code == AX_EXIT_OK)
		report(ctl, event);
	json_decref(body);
	json_decref(event);
	return code;
}

static int show(struct ax_ctl *ctl)
{
	struct ax_buf path;
	json_t *event = NULL;
	ax_buf_init(&path, 4096);
	ax_buf_adds(&path, "/events/");
	ax_value_segment(&path, ctl->args.operands[0]);
	int code = ax_client_call(&ctl->client, "GET", path.data, NULL, &event);
	ax_buf_done(&path);
	if (code == AX_EXIT_OK)
		report(ctl, event);
	json_decref(event);
	return code;
}

/* ---- list ---- */

static const struct ax_opt list_opts[] = {
	{ "name", NULL, "NAME", "only events of this name" },
	AX_CTL_LIMIT,
	{ 0 },
};

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">ID", "id", NULL },
		{ "NAME", "name", NULL },
		{ "EVENT ID", "event_id", NULL },
		{ "TIME", "time", ax_json_time },
		{ ">RUNS", "runs", NULL },
		{ ">PASSED OVER", "passed_over", NULL },
		{ "BY", "sent_by", NULL },
		{ 0 },
	};
	int64_t limit;
	int code = ax_ctl_opt_limit(ctl, &limit);
	if (code != AX_EXIT_OK)
		return code;
	struct ax_buf path;
	ax_buf_init(&path, 4096);
	ax_buf_adds(&path, "/events");
	ax_value_query(&path, "name", ax_args_get(&ctl->args, "name"));
	code = ax_report_list(ctl, path.data, limit, columns);
	ax_buf_done(&path);
	return code;
}

const struct ax_verb ax_event_verbs[] = {
	{ "send", "NAME", 1, 1, "send an event to the tasks that listen to it", send_opts, send_event, false },
	{ "list", "", 0, 0, "events, newest first", list_opts, list, false },
	{ "show", "ID", 1, 1, "one event, and what became of it for each task", NULL, show, false },
	{ 0 },
};
