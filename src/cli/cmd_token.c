#include "cli/cmd_token.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/file.h"
#include "cli/report.h"
#include "cli/value.h"

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">ID", "id", NULL },
		{ "NAME", "name", NULL },
		{ "ROLE", "role", NULL },
		{ "WORKER GROUPS", "worker_groups", NULL },
		{ "EXPIRES", "expire_time", ax_json_time },
		{ "LAST USED", "last_used_time", ax_json_time },
		{ 0 },
	};
	return ax_report_whole_list(ctl, "/tokens", columns);
}

/* The secret goes where it was asked to: a file, or standard output alone, so that a script can take it. */
static int hand_out(struct ax_ctl *ctl, const json_t *answer)
{
	const char *out = ax_args_get(&ctl->args, "out"), *secret = json_string_value(json_object_get(answer, "token"));
	struct ax_err err;
	if (secret == NULL)
		return ax_ctl_fail(AX_EXIT_NO_SERVER, "", "the server gave no token");
	if (out == NULL && ctl->json) {
		ax_print_json(stdout, answer);
	} else if (out == NULL) {
		puts(secret);
	} else if (ax_file_write_secret(out, ax_sprintf(&ctl->arena, "%s\n", secret), &err) != AX_OK) {
		return ax_ctl_fail(AX_EXIT_USAGE, "--out",
			"%s. The token was made but not kept: delete it with `axctl token delete %s` and try again",
			err.msg, ax_json_text(&ctl->arena, answer, "id"));
	}
	return AX_EXIT_OK;
}

int ax_token_check_out(struct ax_ctl *ctl)
{
	const char *out = ax_args_get(&ctl->args, "out");
	if (out != NULL && access(out, F_OK) == 0)
		return ax_ctl_fail(AX_EXIT_USAGE, "--out", "%s exists; name a new file", out);
	return AX_EXIT_OK;
}

int ax_token_create(struct ax_ctl *ctl, json_t *body)
{
	int64_t days = -1;
	json_t *answer = NULL;
	int code = ax_ctl_opt_i64(ctl, "expire-days", 1, 365, &days);
	if (code == AX_EXIT_OK)
		code = ax_token_check_out(ctl);
	if (days > 0)
		json_object_set_new(body, "expire_days", json_integer(days));
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "POST", "/tokens", json_incref(body), &answer);
	if (code == AX_EXIT_OK)
		code = hand_out(ctl, answer);
	json_decref(body);
	json_decref(answer);
	return code;
}

static const struct ax_opt create_opts[] = {
	{ "role", NULL, "R", "viewer, operator, editor, admin (viewer)" },
	{ "expire-days", NULL, "N", "1 to 365 (90)" },
	{ "out", NULL, "F", "write it to a new file only you can read, instead of printing it" },
	{ 0 },
};

static int create(struct ax_ctl *ctl)
{
	const char *role = ax_args_get(&ctl->args, "role");
	return ax_token_create(
		ctl, json_pack("{s:s, s:s}", "name", ctl->args.operands[0], "role", role != NULL ? role : "viewer"));
}

static int delete (struct ax_ctl *ctl)
{
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	ax_buf_adds(&path, "/tokens/");
	ax_value_segment(&path, ctl->args.operands[0]);
	int code = ax_client_call(&ctl->client, "DELETE", path.data, NULL, NULL);
	ax_buf_done(&path);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, json_null());
	else if (code == AX_EXIT_OK)
		printf("deleted token %s\n", ctl->args.operands[0]);
	return code;
}

const struct ax_verb ax_token_verbs[] = {
	{ "list", "", 0, 0, "tokens (never their secrets)", NULL, list, false },
	{ "create", "NAME", 1, 1, "make a token; it is shown this once", create_opts, create, false },
	{ "delete", "ID", 1, 1, "end a token at once", NULL, delete, false },
	{ 0 },
};
