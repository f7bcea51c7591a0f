#include <stdio.h>
#include <string.h>
#include "cli/ctl.h"
#include "cli/report.h"
#include "cli/value.h"

static const struct ax_opt change_opts[] = {
	{ "title", NULL, "TEXT", "what people call it" },
	{ "quota", "dispatch-quota", "N", "most runs in flight over all workers (200)" },
	{ "pool-size", NULL, "N", "executing at once per worker (50)" },
	{ "contacts", NULL, "C[,C]", "who is told: names of channels, mail addresses" },
	{ "late", "late-seconds", "N", "alert when a run is given to a worker later than that; 0: never (30)" },
	{ "backlog-limit", NULL, "N", "alert when more runs than this …; 0: never (1000)" },
	{ "backlog-seconds", NULL, "N", "… wait longer than this (300)" },
	{ "long-share", "long-share-percent", "N", "percent that long runs may hold (50)" },
	{ "worker-backlog", NULL, "N", "most runs given to one worker, 0: three times its pool (0)" },
	{ "keep-days", NULL, "N",
		"ended runs are kept no longer than N days, 0: as long as the server keeps them (0)" },
	{ "keep-runs", NULL, "N", "of each task so many runs are kept, beside those of the last day, 0: all (0)" },
	{ "defaults", NULL, "JSON", "fields of tasks created without them; \"@FILE\" reads it from a file" },
	{ 0 },
};

static const char *path_of(struct ax_ctl *ctl)
{
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	ax_buf_adds(&path, "/groups/");
	ax_value_segment(&path, ctl->args.operands[0]);
	const char *copy = ax_strdup(&ctl->arena, path.data);
	ax_buf_done(&path);
	return copy;
}

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ "GROUP", "group_key", NULL },
		{ "TITLE", "title", NULL },
		{ ">QUOTA", "dispatch_quota", NULL },
		{ ">POOL", "pool_size", NULL },
		{ ">RUNNING", "running", NULL },
		{ ">WAITING", "waiting", NULL },
		{ "PAUSED", "paused", NULL },
		{ 0 },
	};
	return ax_report_whole_list(ctl, "/groups", columns);
}

static int show(struct ax_ctl *ctl)
{
	json_t *group = NULL;
	int code = ax_client_call(&ctl->client, "GET", path_of(ctl), NULL, &group);
	if (code == AX_EXIT_OK)
		ax_report_object(ctl, group);
	json_decref(group);
	return code;
}

/* "a,b" as an array; "" is the empty one. */
static json_t *words_of(const char *text)
{
	json_t *words = json_array();
	for (text += strspn(text, ", "); *text != '\0'; text += strspn(text, ", ")) {
		size_t len = strcspn(text, ", ");
		json_array_append_new(words, json_stringn(text, len));
		text += len;
	}
	return words;
}

/* The fields named by options, into `body`. */
static int read_changes(struct ax_ctl *ctl, json_t *body)
{
	static const struct {
		const char *opt, *field;
		int64_t min, max;
	} numbers[] = {
		{ "quota", "dispatch_quota", 1, 100000 },
		{ "pool-size", "pool_size", 1, 10000 },
		{ "late", "late_seconds", 0, 604800 },
		{ "backlog-limit", "backlog_limit", 0, 9000 },
		{ "backlog-seconds", "backlog_seconds", 10, 86400 },
		{ "long-share", "long_share_percent", 1, 100 },
		{ "worker-backlog", "worker_backlog", 0, 30000 },
		{ "keep-days", "keep_days", 0, 3650 },
		{ "keep-runs", "keep_runs", 0, 10000 },
	};
	int code = AX_EXIT_OK;
	for (size_t i = 0; code == AX_EXIT_OK && i < AX_COUNT(numbers); i++) {
		int64_t number = 0;
		if (!ax_args_has(&ctl->args, numbers[i].opt))
			continue;
		code = ax_ctl_opt_i64(ctl, numbers[i].opt, numbers[i].min, numbers[i].max, &number);
		json_object_set_new(body, numbers[i].field, json_integer(number));
	}
	if (ax_args_has(&ctl->args, "title"))
		json_object_set_new(body, "title", json_string(ax_args_get(&ctl->args, "title")));
	if (ax_args_has(&ctl->args, "contacts"))
		json_object_set_new(body, "contacts", words_of(ax_args_get(&ctl->args, "contacts")));
	if (code == AX_EXIT_OK && ax_args_has(&ctl->args, "defaults")) {
		json_t *defaults = NULL;
		code = ax_ctl_json(ctl, "--defaults", ax_args_get(&ctl->args, "defaults"), &defaults);
		if (code == AX_EXIT_OK)
			json_object_set_new(body, "defaults", defaults);
	}
	return code;
}

static int report(struct ax_ctl *ctl, const char *what, const json_t *group)
{
	if (ctl->json)
		ax_print_json(stdout, group);
	else
		printf("%s group %s\n", what, ctl->args.operands[0]);
	return AX_EXIT_OK;
}

static int create(struct ax_ctl *ctl)
{
	json_t *body = json_pack("{s:s}", "group_key", ctl->args.operands[0]), *group = NULL;
	int code = read_changes(ctl, body);
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "POST", "/groups", json_incref(body), &group);
	if (code == AX_EXIT_OK)
		code = report(ctl, "created", group);
	json_decref(body);
	json_decref(group);
	return code;
}

/* PATCH with the version just read, so that a change made meanwhile is not overwritten. */
static int patch(struct ax_ctl *ctl, const char *what, json_t *body)
{
	json_t *old = NULL, *group = NULL;
	int code = ax_client_call(&ctl->client, "GET", path_of(ctl), NULL, &old);
	if (code == AX_EXIT_OK) {
		json_object_set(body, "version", json_object_get(old, "version"));
		code = ax_client_call(&ctl->client, "PATCH", path_of(ctl), json_incref(body), &group);
	}
	if (code == AX_EXIT_OK)
		code = report(ctl, what, group);
	json_decref(old);
	json_decref(group);
	json_decref(body);
	return code;
}

static int update(struct ax_ctl *ctl)
{
	json_t *body = json_object();
	int code = read_changes(ctl, body);
	if (code == AX_EXIT_OK && json_object_size(body) == 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "", "nothing to change: name a field, as in --quota 100");
	if (code == AX_EXIT_OK)
		return patch(ctl, "updated", body);
	json_decref(body);
	return code;
}

static int pause_group(struct ax_ctl *ctl)
{
	return patch(ctl, "paused", json_pack("{s:b}", "paused", 1));
}

static int resume(struct ax_ctl *ctl)
{
	return patch(ctl, "resumed", json_pack("{s:b}", "paused", 0));
}

static int delete (struct ax_ctl *ctl)
{
	int code = ax_client_call(&ctl->client, "DELETE", path_of(ctl), NULL, NULL);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, json_null());
	else if (code == AX_EXIT_OK)
		printf("deleted group %s\n", ctl->args.operands[0]);
	return code;
}

const struct ax_verb ax_group_verbs[] = {
	{ "list", "", 0, 0, "groups with their quotas and load", NULL, list, false },
	{ "show", "GROUP", 1, 1, "one group", NULL, show, false },
	{ "create", "GROUP", 1, 1, "make a group", change_opts, create, false },
	{ "update", "GROUP", 1, 1, "change the fields named", change_opts, update, false },
	{ "pause", "GROUP", 1, 1, "give out no runs of this group", NULL, pause_group, false },
	{ "resume", "GROUP", 1, 1, "give out runs again", NULL, resume, false },
	{ "delete", "GROUP", 1, 1, "delete an empty group", NULL, delete, false },
	{ 0 },
};
