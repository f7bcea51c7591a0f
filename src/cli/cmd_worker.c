#include <stdio.h>
#include <string.h>
#include "cli/cmd_token.h"
#include "cli/ctl.h"
#include "cli/report.h"
#include "cli/value.h"

static const char *path_of(struct ax_ctl *ctl, const char *tail)
{
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	ax_buf_adds(&path, "/workers/");
	ax_value_segment(&path, ctl->args.operands[0]);
	ax_buf_adds(&path, tail);
	const char *copy = ax_strdup(&ctl->arena, path.data);
	ax_buf_done(&path);
	return copy;
}

/* "default 3/50, batch 0/10": given out and pool size, group by group. */
static const char *groups_of(struct ax_arena *arena, const json_t *worker, const char *field)
{
	const char *text = "";
	size_t i;
	const json_t *group;
	json_array_foreach(json_object_get(worker, field), i, group) text =
		ax_sprintf(arena, "%s%s%s %s/%s", text, i > 0 ? ", " : "", ax_json_text(arena, group, "group_key"),
			ax_json_text(arena, group, "given"), ax_json_text(arena, group, "pool_size"));
	return text;
}

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ "WORKER", "worker", NULL },
		{ "STATE", "state", NULL },
		{ "GROUPS (GIVEN/POOL)", "groups", groups_of },
		{ "EXECUTORS", "executors", ax_json_words },
		{ "VERSION", "version", NULL },
		{ "SEEN", "seen_time", ax_json_time },
		{ 0 },
	};
	return ax_report_whole_list(ctl, "/workers", columns);
}

static int show(struct ax_ctl *ctl)
{
	json_t *worker = NULL;
	int code = ax_client_call(&ctl->client, "GET", path_of(ctl, ""), NULL, &worker);
	if (code == AX_EXIT_OK)
		ax_report_object(ctl, worker);
	json_decref(worker);
	return code;
}

static int act(struct ax_ctl *ctl, const char *method, const char *tail, const char *done)
{
	json_t *answer = NULL;
	bool post = strcmp(method, "POST") == 0;
	int code = ax_client_call(&ctl->client, method, path_of(ctl, tail), post ? json_object() : NULL, &answer);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, answer);
	else if (code == AX_EXIT_OK)
		printf("worker %s %s\n", ctl->args.operands[0], done);
	json_decref(answer);
	return code;
}

static int drain(struct ax_ctl *ctl)
{
	return act(ctl, "POST", "/drain", "gets no more runs");
}

static int resume(struct ax_ctl *ctl)
{
	return act(ctl, "POST", "/resume", "gets runs again");
}

static int set_disabled(struct ax_ctl *ctl, const char *tail, const char *done)
{
	json_t *answer = NULL;
	int code = ax_client_call(&ctl->client, "POST", path_of(ctl, tail), ax_ctl_reason(ctl), &answer);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, answer);
	else if (code == AX_EXIT_OK)
		printf("worker %s %s\n", ctl->args.operands[0], done);
	json_decref(answer);
	return code;
}

static int disable(struct ax_ctl *ctl)
{
	return set_disabled(ctl, "/disable", "gets no runs until it is enabled");
}

static int enable(struct ax_ctl *ctl)
{
	return set_disabled(ctl, "/enable", "gets runs again");
}

static int forget(struct ax_ctl *ctl)
{
	return act(ctl, "DELETE", "", "is forgotten");
}

static const struct ax_opt reason_opts[] = { { "reason", NULL, "TEXT", "why, for the audit log" }, { 0 } };

static const struct ax_opt token_opts[] = {
	{ "group", "groups", "G[,G]", "the groups whose runs it may take (default)" },
	{ "name", NULL, "N", "what the token is called (worker-GROUPS)" },
	{ "expire-days", NULL, "N", "1 to 365 (90)" },
	{ "out", NULL, "F", "write it to a new file only you can read, instead of printing it" },
	{ 0 },
};

static int token(struct ax_ctl *ctl)
{
	const char *groups = ax_args_get(&ctl->args, "group"), *name = ax_args_get(&ctl->args, "name");
	struct ax_token_out out;
	if (groups == NULL)
		groups = "default";
	int code = ax_token_open(ctl, &out);
	if (code != AX_EXIT_OK)
		return code;
	json_t *list_of = json_array();
	for (const char *g = groups; *g != '\0'; g += strcspn(g, ",") + (g[strcspn(g, ",")] == ','))
		if (*g != ',')
			json_array_append_new(list_of, json_stringn(g, strcspn(g, ",")));
	json_t *body = json_pack("{s:o}", "worker_groups", list_of);
	json_object_set_new(
		body, "name", json_string(name != NULL ? name : ax_sprintf(&ctl->arena, "worker-%s", groups)));
	code = ax_token_create(ctl, &out, body);
	ax_token_close(&out);
	return code;
}

const struct ax_verb ax_worker_verbs[] = {
	{ "list", "", 0, 0, "workers and what they hold", NULL, list, false },
	{ "show", "WORKER", 1, 1, "one worker", NULL, show, false },
	{ "drain", "WORKER", 1, 1, "no new runs; what runs may finish", NULL, drain, false },
	{ "resume", "WORKER", 1, 1, "new runs again", NULL, resume, false },
	{ "disable", "WORKER", 1, 1, "no runs until it is enabled, restarts or not", reason_opts, disable, false },
	{ "enable", "WORKER", 1, 1, "runs for a disabled one again", reason_opts, enable, false },
	{ "forget", "WORKER", 1, 1, "remove one that left or is offline", NULL, forget, false },
	{ "token", "", 0, 0, "make the token that ax-worker --token-file takes", token_opts, token, false },
	{ 0 },
};
