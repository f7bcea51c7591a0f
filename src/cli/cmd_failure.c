#include <stdio.h>
#include <string.h>
#include "cli/ctl.h"
#include "cli/report.h"
#include "cli/value.h"

static const char *path_of(struct ax_ctl *ctl, const char *tail)
{
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	ax_buf_adds(&path, "/failures/");
	ax_value_segment(&path, ctl->args.operands[0]);
	ax_buf_adds(&path, tail);
	const char *copy = ax_strdup(&ctl->arena, path.data);
	ax_buf_done(&path);
	return copy;
}

/* ---- list ---- */

static const struct ax_opt list_opts[] = {
	{ "group", "group-key", "G", "only of this group of tasks" },
	{ "state", NULL, "S", "open, muted or resolved" },
	{ "task", NULL, "TASK", "only those that this task failed in (id, GROUP/NAME, NAME)" },
	{ "worker", NULL, "W", "only those that failed on this worker" },
	{ "q", NULL, "TEXT", "part of the title" },
	AX_CTL_LIMIT,
	{ 0 },
};

static int list_path(struct ax_ctl *ctl, struct ax_buf *path)
{
	const char *operand = ax_args_get(&ctl->args, "task"), *task_id = NULL;
	int code = AX_EXIT_OK;
	if (operand != NULL) {
		json_t *task = NULL;
		code = ax_ctl_task(ctl, operand, &task);
		if (code == AX_EXIT_OK)
			task_id = ax_strdup(&ctl->arena, ax_json_text(&ctl->arena, task, "id"));
		json_decref(task);
	}
	ax_buf_adds(path, "/failures");
	ax_value_query(path, "group_key", ax_args_get(&ctl->args, "group"));
	ax_value_query(path, "state", ax_args_get(&ctl->args, "state"));
	ax_value_query(path, "task_id", task_id);
	ax_value_query(path, "worker", ax_args_get(&ctl->args, "worker"));
	ax_value_query(path, "q", ax_args_get(&ctl->args, "q"));
	return code;
}

static const char *state_of(struct ax_arena *arena, const json_t *group, const char *field)
{
	return ax_sprintf(
		arena, "%s%s", ax_json_text(arena, group, field), ax_json_true(group, "growing") ? ", growing" : "");
}

static const char *newest_of(struct ax_arena *arena, const json_t *trend, const char *field)
{
	const json_t *hours = json_object_get(trend, field);
	size_t n = json_array_size(hours);
	return ax_sprintf(arena, "%" JSON_INTEGER_FORMAT, n > 0 ? json_integer_value(json_array_get(hours, n - 1)) : 0);
}

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">ID", "id", NULL },
		{ "GROUP", "group_key", NULL },
		{ "EXECUTOR", "executor_key", NULL },
		{ "STATE", "state", state_of },
		{ ">COUNT", "count", NULL },
		{ ">THIS HOUR", "trend.hours", newest_of },
		{ "LAST SEEN", "last_seen_time", ax_json_time },
		{ "ASSIGNEE", "assignee", NULL },
		{ "TITLE", "title", NULL },
		{ 0 },
	};
	int64_t limit;
	int code = ax_ctl_opt_limit(ctl, &limit);
	if (code != AX_EXIT_OK)
		return code;
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	code = list_path(ctl, &path);
	if (code == AX_EXIT_OK)
		code = ax_report_list(ctl, path.data, limit, columns);
	ax_buf_done(&path);
	return code;
}

/* ---- show ---- */

static void print_hints(struct ax_ctl *ctl, const json_t *group)
{
	size_t i;
	const json_t *hint;
	struct ax_buf line;
	ax_buf_init(&line, 65536);
	json_array_foreach(json_object_get(group, "hints"), i, hint)
	{
		const char *advice = ax_json_text(&ctl->arena, hint, "advice");
		ax_buf_clear(&line);
		ax_print_clean(ax_sprintf(&ctl->arena, "%s%s%s", ax_json_text(&ctl->arena, hint, "text"),
				       *advice != '\0' ? " " : "", advice),
			&line);
		printf("%s%s\n", i == 0 ? "\n" : "", line.data);
	}
	ax_buf_done(&line);
}

/* One bar an hour, the tallest for the busiest. */
static void print_trend(const json_t *group)
{
	static const char *const bars[] = { "\xc2\xb7", "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
		"\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88" };
	const json_t *hours = json_object_get(json_object_get(group, "trend"), "hours"), *hour;
	json_int_t most = 1;
	size_t i;
	json_array_foreach(hours, i, hour) most = AX_MAX(most, json_integer_value(hour));
	printf("\nfailures by hour, now at the right, at most %lld\n", (long long)most);
	json_array_foreach(hours, i, hour)
	{
		json_int_t n = json_integer_value(hour);
		fputs(bars[n == 0 ? 0 : 1 + (n - 1) * 8 / most], stdout);
	}
	puts("");
}

static void print_spread(const json_t *group)
{
	static const struct ax_column by_worker[] = {
		{ "WORKER", "worker", NULL },
		{ ">COUNT", "count", NULL },
		{ "FIRST SEEN", "first_seen_time", ax_json_time },
		{ "LAST SEEN", "last_seen_time", ax_json_time },
		{ 0 },
	};
	static const struct ax_column by_version[] = {
		{ "TASK", "task_name", NULL },
		{ ">VERSION", "version", NULL },
		{ ">COUNT", "count", NULL },
		{ "FIRST SEEN", "first_seen_time", ax_json_time },
		{ "LAST SEEN", "last_seen_time", ax_json_time },
		{ 0 },
	};
	const json_t *spread = json_object_get(group, "spread");
	ax_report_rows("by worker", json_object_get(spread, "workers"), by_worker);
	ax_report_rows("by task and version", json_object_get(spread, "versions"), by_version);
	if (ax_json_true(spread, "truncated"))
		puts("… and more places");
}

static void print_runs(struct ax_ctl *ctl, const json_t *group)
{
	size_t i;
	const json_t *run;
	json_array_foreach(json_object_get(group, "runs"), i, run)
	{
		if (i == 0)
			puts("\nnewest runs");
		ax_report_run_line(ctl, run);
	}
	const char *left = ax_json_text(&ctl->arena, group, "not_rerun");
	if (strcmp(left, "0") != 0)
		printf("\n%s were not run again; `axctl failure retry %s` does it\n", left,
			ax_json_text(&ctl->arena, group, "id"));
}

static void report_group(struct ax_ctl *ctl, const json_t *group)
{
	static const char *const apart[] = { "trend", "hints", "also_in", "spread", "not_rerun", "runs" };
	json_t *plain = json_copy((json_t *)(uintptr_t)group);
	for (size_t i = 0; i < AX_COUNT(apart); i++)
		json_object_del(plain, apart[i]);
	ax_report_object(ctl, plain);
	json_decref(plain);
}

static int show(struct ax_ctl *ctl)
{
	json_t *group = NULL;
	int code = ax_client_call(&ctl->client, "GET", path_of(ctl, ""), NULL, &group);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, group);
	} else if (code == AX_EXIT_OK) {
		report_group(ctl, group);
		print_hints(ctl, group);
		print_trend(group);
		print_spread(group);
		size_t i;
		const json_t *other;
		json_array_foreach(json_object_get(group, "also_in"), i, other)
			printf("%sthe same in group %s: failure %s, %s times\n", i == 0 ? "\n" : "",
				ax_json_text(&ctl->arena, other, "group_key"), ax_json_text(&ctl->arena, other, "id"),
				ax_json_text(&ctl->arena, other, "count"));
		print_runs(ctl, group);
	}
	json_decref(group);
	return code;
}

/* ---- acts ---- */

static const struct ax_opt mute_opts[] = {
	{ "for", NULL, "SPAN", "so long (7d, 12h)" },
	{ "until", NULL, "TIME", "or until then" },
	{ "reason", NULL, "TEXT", "why nobody shall be told" },
	{ 0 },
};
static const struct ax_opt reason_opts[] = {
	{ "reason", NULL, "TEXT", "kept with the group and in the audit log" },
	{ 0 },
};
static const struct ax_opt assign_opts[] = {
	{ "note", NULL, "TEXT", "what is known" },
	{ 0 },
};
static const struct ax_opt retry_opts[] = {
	{ "limit", NULL, "N", "make at most so many runs, 1 to 1000 (100)" },
	{ "per-minute", NULL, "N", "so many of them become due in a minute (60)" },
	{ "reason", NULL, "TEXT", "kept in the audit log" },
	{ 0 },
};

static int act(struct ax_ctl *ctl, const char *tail, json_t *body)
{
	json_t *group = NULL;
	const char *reason = ax_args_has(&ctl->args, "reason") ? ax_args_get(&ctl->args, "reason") : NULL;
	if (reason != NULL)
		json_object_set_new(body, "reason", json_string(reason));
	int code = ax_client_call(&ctl->client, "POST", path_of(ctl, tail), body, &group);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, group);
	} else if (code == AX_EXIT_OK) {
		const char *until = ax_json_time(&ctl->arena, group, "mute_until_time");
		const char *assignee = ax_json_text(&ctl->arena, group, "assignee");
		printf("failure %s is %s%s%s%s%s\n", ax_json_text(&ctl->arena, group, "id"),
			ax_json_text(&ctl->arena, group, "state"), *until != '\0' ? " until " : "", until,
			*assignee != '\0' ? ", assigned to " : "", assignee);
	}
	json_decref(group);
	return code;
}

static int mute(struct ax_ctl *ctl)
{
	int64_t span = -1, until = -1;
	int code = ax_ctl_opt_duration(ctl, "for", &span);
	if (code == AX_EXIT_OK)
		code = ax_ctl_opt_time(ctl, "until", &until);
	if (code != AX_EXIT_OK)
		return code;
	if ((span >= 0) == (until >= 0))
		return ax_ctl_fail(AX_EXIT_USAGE, "for", "say how long: --for 7d, or --until TIME");
	if (!ax_args_has(&ctl->args, "reason"))
		return ax_ctl_fail(AX_EXIT_USAGE, "reason", "say why: --reason TEXT");
	if (span >= 0)
		until = ax_ctl_now_ms() + span;
	return act(ctl, "/mute", json_pack("{s:I}", "mute_until_time", (json_int_t)until));
}

static int assign(struct ax_ctl *ctl)
{
	json_t *body = json_object();
	if (ctl->args.n_operands > 1)
		json_object_set_new(body, "assignee", json_string(ctl->args.operands[1]));
	if (ax_args_has(&ctl->args, "note"))
		json_object_set_new(body, "note", json_string(ax_args_get(&ctl->args, "note")));
	json_t *group = NULL;
	int code = ax_client_call(&ctl->client, "POST", path_of(ctl, "/assign"), body, &group);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, group);
	else if (code == AX_EXIT_OK)
		report_group(ctl, group);
	json_decref(group);
	return code;
}

static int resolve(struct ax_ctl *ctl)
{
	return act(ctl, "/resolve", json_object());
}

static int reopen(struct ax_ctl *ctl)
{
	return act(ctl, "/reopen", json_object());
}

static int retry(struct ax_ctl *ctl)
{
	int64_t limit = 100, per_minute = 60;
	int code = ax_ctl_opt_i64(ctl, "limit", 1, 1000, &limit);
	if (code == AX_EXIT_OK)
		code = ax_ctl_opt_i64(ctl, "per-minute", 1, 60000, &per_minute);
	if (code != AX_EXIT_OK)
		return code;
	json_t *answer = NULL,
	       *body = json_pack("{s:I,s:I}", "limit", (json_int_t)limit, "per_minute", (json_int_t)per_minute);
	if (ax_args_has(&ctl->args, "reason"))
		json_object_set_new(body, "reason", json_string(ax_args_get(&ctl->args, "reason")));
	code = ax_client_call(&ctl->client, "POST", path_of(ctl, "/retry"), body, &answer);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, answer);
	} else if (code == AX_EXIT_OK) {
		const char *due = ax_json_time(&ctl->arena, answer, "last_due_time");
		printf("made %s runs%s%s; %s failed runs are left that were not run again\n",
			ax_json_text(&ctl->arena, answer, "made"), *due != '\0' ? ", the last one due at " : "", due,
			ax_json_text(&ctl->arena, answer, "left"));
	}
	json_decref(answer);
	return code;
}

const struct ax_verb ax_failure_verbs[] = {
	{ "list", "", 0, 0, "groups of failures, seen last first", list_opts, list, false },
	{ "show", "ID", 1, 1, "where, since when, and what that says", NULL, show, false },
	{ "mute", "ID", 1, 1, "no alerts of it for a time", mute_opts, mute, false },
	{ "assign", "ID [WHO]", 1, 2, "who looks after it; '' for nobody", assign_opts, assign, false },
	{ "resolve", "ID", 1, 1, "the cause is gone; the next failure opens it again", reason_opts, resolve, false },
	{ "reopen", "ID", 1, 1, "open again, if muted or resolved", reason_opts, reopen, false },
	{ "retry", "ID", 1, 1, "run its failed runs again, each once", retry_opts, retry, false },
	{ 0 },
};
