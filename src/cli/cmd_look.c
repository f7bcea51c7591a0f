#include <inttypes.h>
#include <stdio.h>
#include "cli/ctl.h"
#include "cli/report.h"
#include "cli/value.h"

/* Looking at the whole: counts, and who changed what. */

/* "enabled 12, paused 1": what there is none of is left out. */
static const char *counts_of(struct ax_ctl *ctl, json_t *counts)
{
	const char *text = "", *word;
	json_t *n;
	json_object_foreach(counts, word, n)
	{
		if (json_integer_value(n) > 0)
			text = ax_sprintf(&ctl->arena, "%s%s%s %" JSON_INTEGER_FORMAT, text, *text != '\0' ? ", " : "",
				word, json_integer_value(n));
	}
	return *text != '\0' ? text : "none";
}

static int overview(struct ax_ctl *ctl)
{
	static const char *const counts[] = { "tasks", "runs", "last_24h" };
	static const char *const numbers[] = { "waiting", "workers_online" };
	json_t *answer = NULL;
	int code = ax_client_call(&ctl->client, "GET", "/overview", NULL, &answer);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, answer);
	} else if (code == AX_EXIT_OK) {
		for (size_t i = 0; i < AX_COUNT(counts); i++)
			ax_print_field(stdout, counts[i], counts_of(ctl, json_object_get(answer, counts[i])));
		for (size_t i = 0; i < AX_COUNT(numbers); i++)
			ax_print_field(stdout, numbers[i], ax_json_text(&ctl->arena, answer, numbers[i]));
	}
	json_decref(answer);
	return code;
}

const struct ax_verb ax_overview_verbs[] = {
	{ "", "", 0, 0, "tasks by status, live runs, what ended in the last 24 hours, workers", NULL, overview, false },
	{ 0 },
};

static const struct ax_opt changes_opts[] = {
	{ "object", NULL, "KIND:ID", "only of this, as task:17, group:ops, failure:12" },
	{ "actor", NULL, "WHO", "only by this one, as it stands under WHO" },
	AX_CTL_LIMIT,
	{ 0 },
};

static int changes(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ "TIME", "time", ax_json_time },
		{ "WHO", "actor", NULL },
		{ "FROM", "address", NULL },
		{ "ACTION", "action", NULL },
		{ "OBJECT", "object", NULL },
		{ "REASON", "reason", NULL },
		{ 0 },
	};
	int64_t limit;
	struct ax_buf path;
	int code = ax_ctl_opt_limit(ctl, &limit);
	if (code != AX_EXIT_OK)
		return code;
	ax_buf_init(&path, 4096);
	ax_buf_adds(&path, "/audit/log");
	ax_value_query(&path, "object", ax_args_get(&ctl->args, "object"));
	ax_value_query(&path, "actor", ax_args_get(&ctl->args, "actor"));
	code = ax_report_list(ctl, path.data, limit, columns);
	ax_buf_done(&path);
	return code;
}

const struct ax_verb ax_changes_verbs[] = {
	{ "", "", 0, 0, "who changed what, newest first; for administrators", changes_opts, changes, false },
	{ 0 },
};
