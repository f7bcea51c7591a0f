#include "cli/cmd_backfill.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "cli/print.h"
#include "cli/report.h"
#include "cli/value.h"

/* ---- task backfill ---- */

const struct ax_opt ax_backfill_opts[] = {
	{ "from", NULL, "TIME", "fires at or after it (RFC 3339, -7d)" },
	{ "to", NULL, "TIME", "fires before it (now)" },
	{ "max-live", NULL, "N", "so many of its runs at once (1)" },
	{ "newest-first", NULL, NULL, "from the end of the range backwards" },
	{ "dry-run", NULL, NULL, "only count the fires" },
	{ "reason", NULL, "TEXT", "kept in the audit log" },
	{ 0 },
};

static int read_ask(struct ax_ctl *ctl, json_t **ret)
{
	const char *reason = ax_args_get(&ctl->args, "reason");
	int64_t from = -1, to = -1, max_live = 0;
	int code = ax_ctl_opt_time(ctl, "from", &from);
	if (code == AX_EXIT_OK)
		code = ax_ctl_opt_time(ctl, "to", &to);
	if (code == AX_EXIT_OK)
		code = ax_ctl_opt_i64(ctl, "max-live", 1, INT32_MAX, &max_live);
	if (code == AX_EXIT_OK && from < 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "--from", "say from when on, as in --from -7d");
	if (code != AX_EXIT_OK)
		return code;
	json_t *body = json_pack("{s:I}", "from", (json_int_t)from);
	if (to >= 0)
		json_object_set_new(body, "to", json_integer(to));
	if (max_live > 0)
		json_object_set_new(body, "max_live", json_integer(max_live));
	if (ax_args_has(&ctl->args, "newest-first"))
		json_object_set_new(body, "order", json_string("newest_first"));
	if (ax_args_has(&ctl->args, "dry-run"))
		json_object_set_new(body, "dry_run", json_true());
	if (reason != NULL && json_object_set_new(body, "reason", json_string(reason)) != 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "--reason", "not UTF-8 text");
	*ret = body;
	return code;
}

static void report_start(struct ax_ctl *ctl, const json_t *backfill)
{
	int64_t total = ax_json_int(backfill, "total"), existed = ax_json_int(backfill, "existed");
	if (ctl->json)
		ax_print_json(stdout, backfill);
	else if (ax_args_has(&ctl->args, "dry-run"))
		printf("%" PRId64 " fires, of which %" PRId64 " have a run: it would make %" PRId64 " runs\n", total,
			existed, total - existed);
	else
		printf("backfill %s of %s: %" PRId64 " fires; axctl backfill show %s\n",
			ax_json_text(&ctl->arena, backfill, "id"), ax_json_text(&ctl->arena, backfill, "task_name"),
			total, ax_json_text(&ctl->arena, backfill, "id"));
}

int ax_backfill_start(struct ax_ctl *ctl)
{
	json_t *body = NULL, *task = NULL, *backfill = NULL;
	int code = read_ask(ctl, &body);
	if (code == AX_EXIT_OK)
		code = ax_ctl_task(ctl, ctl->args.operands[0], &task);
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "POST",
			ax_sprintf(&ctl->arena, "/tasks/%s/backfills", ax_json_text(&ctl->arena, task, "id")),
			json_incref(body), &backfill);
	if (code == AX_EXIT_OK)
		report_start(ctl, backfill);
	json_decref(backfill);
	json_decref(task);
	json_decref(body);
	return code;
}

/* ---- list ---- */

static const struct ax_opt list_opts[] = {
	{ "task", NULL, "TASK", "only of this task (id, GROUP/NAME, NAME)" },
	AX_CTL_LIMIT,
	{ 0 },
};

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">ID", "id", NULL },
		{ "TASK", "task_name", NULL },
		{ "STATUS", "status", NULL },
		{ "FROM", "from", ax_json_time },
		{ "TO", "to", ax_json_time },
		{ ">FIRES", "total", NULL },
		{ ">MADE", "made", NULL },
		{ ">EXISTED", "existed", NULL },
		{ ">LIVE", "live", NULL },
		{ ">DONE", "done", NULL },
		{ ">FAILED", "failed", NULL },
		{ "BY", "created_by", NULL },
		{ 0 },
	};
	const char *operand = ax_args_get(&ctl->args, "task"), *path = "/backfills";
	int64_t limit;
	int code = ax_ctl_opt_limit(ctl, &limit);
	if (code == AX_EXIT_OK && operand != NULL) {
		json_t *task = NULL;
		code = ax_ctl_task(ctl, operand, &task);
		if (code == AX_EXIT_OK)
			path = ax_sprintf(&ctl->arena, "/backfills?task_id=%s", ax_json_text(&ctl->arena, task, "id"));
		json_decref(task);
	}
	return code == AX_EXIT_OK ? ax_report_list(ctl, path, limit, columns) : code;
}

/* ---- show, cancel ---- */

static void report(struct ax_ctl *ctl, const json_t *backfill)
{
	static const char *const texts[] = { "id", "task_id", "task_name", "status", "max_live", "order", "total",
		"made", "existed", "live", "done", "failed", "created_by" };
	static const char *const times[] = { "from", "to", "create_time", "end_time" };
	if (ctl->json) {
		ax_print_json(stdout, backfill);
		return;
	}
	for (size_t i = 0; i < AX_COUNT(texts); i++)
		ax_print_field(stdout, texts[i], ax_json_text(&ctl->arena, backfill, texts[i]));
	for (size_t i = 0; i < AX_COUNT(times); i++)
		ax_print_field(stdout, times[i], ax_json_time(&ctl->arena, backfill, times[i]));
	printf("its runs: axctl run list --backfill %s\n", ax_json_text(&ctl->arena, backfill, "id"));
}

static int call_one(struct ax_ctl *ctl, const char *method, const char *tail, json_t *body)
{
	struct ax_buf path;
	json_t *backfill = NULL;
	ax_buf_init(&path, 4096);
	ax_buf_adds(&path, "/backfills/");
	ax_value_segment(&path, ctl->args.operands[0]);
	ax_buf_adds(&path, tail);
	int code = ax_client_call(&ctl->client, method, path.data, body, &backfill);
	ax_buf_done(&path);
	if (code == AX_EXIT_OK)
		report(ctl, backfill);
	json_decref(backfill);
	return code;
}

static int show(struct ax_ctl *ctl)
{
	return call_one(ctl, "GET", "", NULL);
}

static const struct ax_opt cancel_opts[] = {
	{ "reason", NULL, "TEXT", "kept in the audit log" },
	{ 0 },
};

static int cancel(struct ax_ctl *ctl)
{
	return call_one(ctl, "POST", "/cancel", ax_ctl_reason(ctl));
}

const struct ax_verb ax_backfill_verbs[] = {
	{ "list", "", 0, 0, "backfills and how far they are, newest first", list_opts, list, false },
	{ "show", "ID", 1, 1, "one backfill", NULL, show, false },
	{ "cancel", "ID", 1, 1, "make no more of its runs, and cancel those that wait", cancel_opts, cancel, false },
	{ 0 },
};
