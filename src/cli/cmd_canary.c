#include <stdio.h>
#include "cli/ctl.h"
#include "cli/report.h"

static const struct ax_opt begin_opts[] = {
	{ "percent", NULL, "P", "share of the runs, 1 to 100" },
	{ "change", NULL, "JSON", "the fields on trial; \"@FILE\" reads them from a file" },
	{ "min-runs", NULL, "N", "ended runs on each side before it may be promoted (20)" },
	{ "failure-points", NULL, "N", "by how many percentage points it may fail more often (5)" },
	{ "p95-percent", NULL, "N", "its p95 may be so many percent of the other's, 0: any (150)" },
	{ "manual", NULL, NULL, "a person decides, not the rule" },
	{ 0 },
};
static const struct ax_opt set_opts[] = {
	{ "percent", NULL, "P", "share of the runs, 1 to 100" },
	{ "manual", NULL, NULL, "a person decides from now on" },
	{ "automatic", NULL, NULL, "the rule decides from now on" },
	{ 0 },
};
static const struct ax_opt decide_opts[] = {
	{ "reason", NULL, "TEXT", "why; kept with the canary and in the log of changes" },
	{ 0 },
};

/* METHOD /tasks/{id of operand 0}/canaryTAIL; takes `body` over. */
static int call(struct ax_ctl *ctl, const char *method, const char *tail, const json_t *task, json_t *body)
{
	json_t *canary = NULL;
	const char *path = ax_sprintf(&ctl->arena, "/tasks/%s/canary%s", ax_json_text(&ctl->arena, task, "id"), tail);
	int code = ax_client_call(&ctl->client, method, path, body, &canary);
	if (code == AX_EXIT_OK)
		ax_report_object(ctl, canary);
	if (code == AX_EXIT_OK)
		ax_report_warnings(ctl, canary);
	json_decref(canary);
	return code;
}

static int set_number(struct ax_ctl *ctl, json_t *body, const char *opt, const char *field, int64_t min, int64_t max)
{
	int64_t number = -1;
	int code = ax_ctl_opt_i64(ctl, opt, min, max, &number);
	if (code == AX_EXIT_OK && number >= 0)
		json_object_set_new(body, field, json_integer(number));
	return code;
}

static int begin(struct ax_ctl *ctl)
{
	json_t *task = NULL, *change = NULL, *body = json_object();
	int code = AX_EXIT_OK;
	if (!ax_args_has(&ctl->args, "percent") || !ax_args_has(&ctl->args, "change"))
		code = ax_ctl_fail(AX_EXIT_USAGE, "--percent",
			"say the share and the change, as in --percent 10 "
			"--change '{\"executor_key\":\"pay.v2\"}'");
	if (code == AX_EXIT_OK)
		code = ax_ctl_json(ctl, "--change", ax_args_get(&ctl->args, "change"), &change);
	if (code == AX_EXIT_OK) {
		json_object_set_new(body, "change", change);
		code = set_number(ctl, body, "percent", "percent", 1, 100);
	}
	if (code == AX_EXIT_OK)
		code = set_number(ctl, body, "min-runs", "min_runs", 1, 100000);
	if (code == AX_EXIT_OK)
		code = set_number(ctl, body, "failure-points", "max_failure_points", 0, 100);
	if (code == AX_EXIT_OK)
		code = set_number(ctl, body, "p95-percent", "max_p95_percent", 0, 10000);
	if (ax_args_has(&ctl->args, "manual"))
		json_object_set_new(body, "automatic", json_false());
	if (code == AX_EXIT_OK)
		code = ax_ctl_task(ctl, ctl->args.operands[0], &task);
	if (code == AX_EXIT_OK) {
		json_object_set(body, "version", json_object_get(task, "version"));
		code = call(ctl, "POST", "", task, json_incref(body));
	}
	json_decref(body);
	json_decref(task);
	return code;
}

static int with_task(struct ax_ctl *ctl, const char *method, const char *tail, json_t *body)
{
	json_t *task = NULL;
	int code = ax_ctl_task(ctl, ctl->args.operands[0], &task);
	if (code == AX_EXIT_OK)
		code = call(ctl, method, tail, task, body);
	else
		json_decref(body);
	json_decref(task);
	return code;
}

static int show(struct ax_ctl *ctl)
{
	return with_task(ctl, "GET", "", NULL);
}

static int set(struct ax_ctl *ctl)
{
	json_t *body = json_object();
	int code = set_number(ctl, body, "percent", "percent", 1, 100);
	if (ax_args_has(&ctl->args, "manual") || ax_args_has(&ctl->args, "automatic"))
		json_object_set_new(body, "automatic", json_boolean(ax_args_has(&ctl->args, "automatic")));
	if (code == AX_EXIT_OK && json_object_size(body) == 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "--percent",
			"say what to change: the share, or who decides (--automatic, --manual)");
	if (code == AX_EXIT_OK)
		return with_task(ctl, "PATCH", "", body);
	json_decref(body);
	return code;
}

static int promote(struct ax_ctl *ctl)
{
	return with_task(ctl, "POST", "/promote", ax_ctl_reason(ctl));
}

static int roll_back(struct ax_ctl *ctl)
{
	return with_task(ctl, "POST", "/rollback", ax_ctl_reason(ctl));
}

const struct ax_verb ax_canary_verbs[] = {
	{ "begin", "TASK", 1, 1, "put a new definition on trial for a share of the runs", begin_opts, begin, false },
	{ "show", "TASK", 1, 1, "how the trial compares", NULL, show, false },
	{ "set", "TASK", 1, 1, "another share, or who decides", set_opts, set, false },
	{ "promote", "TASK", 1, 1, "the trial becomes the task", decide_opts, promote, false },
	{ "rollback", "TASK", 1, 1, "the task stays as it was", decide_opts, roll_back, false },
	{ 0 },
};
