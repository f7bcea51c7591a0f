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
static int hand_out(struct ax_ctl *ctl, struct ax_token_out *out, const json_t *answer)
{
	const char *secret = json_string_value(json_object_get(answer, "token"));
	struct ax_err err;
	if (secret == NULL)
		return ax_ctl_fail(AX_EXIT_NO_SERVER, "", "the server gave no token");
	if (out->path == NULL && ctl->json) {
		ax_print_json(stdout, answer);
	} else if (out->path == NULL) {
		puts(secret);
	} else {
		int fd = out->fd;
		out->fd = -1;
		if (ax_file_write_secret(fd, out->path, ax_sprintf(&ctl->arena, "%s\n", secret), &err) != AX_OK) {
			(void)unlink(out->path); /* a part of a token opens nothing */
			return ax_ctl_fail(AX_EXIT_USAGE, "--out",
				"%s. The token was made but not kept: delete it with `axctl token delete %s` and try "
				"again",
				err.msg, ax_json_text(&ctl->arena, answer, "id"));
		}
	}
	return AX_EXIT_OK;
}

int ax_token_open(struct ax_ctl *ctl, struct ax_token_out *ret)
{
	struct ax_err err;
	*ret = (struct ax_token_out){ .days = -1, .path = ax_args_get(&ctl->args, "out"), .fd = -1 };
	int code = ax_ctl_opt_i64(ctl, "expire-days", 1, 365, &ret->days);
	if (code == AX_EXIT_OK && ret->path != NULL && ax_file_create_secret(ret->path, &ret->fd, &err) != AX_OK)
		code = ax_ctl_fail(AX_EXIT_USAGE, "--out", "%s", err.msg);
	return code;
}

int ax_token_create(struct ax_ctl *ctl, struct ax_token_out *out, json_t *body)
{
	json_t *answer = NULL;
	if (out->days > 0)
		json_object_set_new(body, "expire_days", json_integer(out->days));
	int code = ax_client_call(&ctl->client, "POST", "/tokens", body, &answer);
	if (code == AX_EXIT_OK)
		code = hand_out(ctl, out, answer);
	json_decref(answer);
	return code;
}

void ax_token_close(struct ax_token_out *out)
{
	if (out->fd < 0)
		return;
	close(out->fd);
	(void)unlink(out->path);
	out->fd = -1;
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
	struct ax_token_out out;
	int code = ax_token_open(ctl, &out);
	if (code != AX_EXIT_OK)
		return code;
	code = ax_token_create(ctl, &out,
		json_pack("{s:s, s:s}", "name", ctl->args.operands[0], "role", role != NULL ? role : "viewer"));
	ax_token_close(&out);
	return code;
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
