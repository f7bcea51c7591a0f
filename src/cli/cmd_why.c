#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/num.h"
#include "cli/ctl.h"
#include "cli/report.h"
#include "cli/value.h"

static const struct ax_opt why_opts[] = {
	{ "at", NULL, "TIME", "of a task: what about the fire at or before this instant (now)" },
	{ 0 },
};

/* Run ids hold the time they were made at; no task number gets near to them. */
static bool is_gid(const char *operand)
{
	int64_t number;
	return ax_parse_i64(operand, strlen(operand), INT64_C(1) << 32, INT64_MAX, &number);
}

static int path_of(struct ax_ctl *ctl, struct ax_buf *path)
{
	const char *operand = ctl->args.operands[0];
	int64_t at_ms = -1;
	json_t *task = NULL;
	int code = ax_ctl_opt_time(ctl, "at", &at_ms);
	if (code == AX_EXIT_OK && is_gid(operand)) {
		if (at_ms >= 0)
			return ax_ctl_fail(AX_EXIT_USAGE, "--at", "a run has no other instant; name its task instead");
		ax_buf_printf(path, "/runs/%s/why", operand);
		return AX_EXIT_OK;
	}
	if (code == AX_EXIT_OK)
		code = ax_ctl_task(ctl, operand, &task);
	if (code == AX_EXIT_OK) {
		ax_buf_printf(path, "/tasks/%s/why", ax_json_text(&ctl->arena, task, "id"));
		ax_value_query(path, "at", at_ms >= 0 ? ax_sprintf(&ctl->arena, "%" PRId64, at_ms) : NULL);
	}
	json_decref(task);
	return code;
}

static void print_line(const char *text)
{
	struct ax_buf line;
	ax_buf_init(&line, 65536);
	ax_print_clean(text, &line);
	puts(line.data);
	ax_buf_done(&line);
}

/* The subject and the answer, then the chain: the steps that fail stand out. */
static void print_why(struct ax_ctl *ctl, const json_t *why)
{
	struct ax_arena *arena = &ctl->arena;
	size_t i;
	const json_t *step;
	print_line(
		ax_sprintf(arena, "%s: %s", ax_json_text(arena, why, "subject"), ax_json_text(arena, why, "verdict")));
	print_line(ax_sprintf(arena, "  %s", ax_json_text(arena, why, "answer")));
	puts("");
	json_array_foreach(json_object_get(why, "steps"), i, step)
	{
		const char *mark = ax_json_text(arena, step, "mark");
		print_line(ax_sprintf(arena, "  %-4s %-20s  %s: %s",
			strcmp(mark, "fail") == 0         ? "FAIL"
				: strcmp(mark, "ok") == 0 ? "ok"
							  : "-",
			ax_json_time(arena, step, "time"), ax_json_text(arena, step, "code"),
			ax_json_text(arena, step, "text")));
	}
}

static int why(struct ax_ctl *ctl)
{
	struct ax_buf path;
	json_t *answer = NULL;
	ax_buf_init(&path, 256);
	int code = path_of(ctl, &path);
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "GET", path.data, NULL, &answer);
	ax_buf_done(&path);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, answer);
	else if (code == AX_EXIT_OK)
		print_why(ctl, answer);
	json_decref(answer);
	return code;
}

const struct ax_verb ax_why_verbs[] = {
	{ "", "GID|TASK", 1, 1, "why a run waits or ended so; why a task ran, or did not, at an instant", why_opts, why,
		false },
	{ 0 },
};
