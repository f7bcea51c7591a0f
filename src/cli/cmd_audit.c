#include <inttypes.h>
#include <stdio.h>
#include "base/rfc3339.h"
#include "cli/ctl.h"
#include "cli/report.h"
#include "cli/value.h"

static const struct ax_opt audit_opts[] = {
	{ "from", NULL, "TIME", "from this instant (RFC 3339, -24h)" },
	{ "to", NULL, "TIME", "to before this instant" },
	{ 0 },
};

static void print_totals(struct ax_ctl *ctl, const json_t *audit)
{
	static const char *const keys[] = { "expected", "runs", "skipped", "missed", "coalesced", "unexplained",
		"duplicates" };
	char from[AX_RFC3339_SIZE], to[AX_RFC3339_SIZE];
	ax_rfc3339_format(ax_json_int(audit, "from"), from);
	ax_rfc3339_format(ax_json_int(audit, "to"), to);
	printf("fires from %s to before %s\n", from, to);
	for (size_t i = 0; i < AX_COUNT(keys); i++)
		ax_print_field(stdout, keys[i], ax_json_text(&ctl->arena, audit, keys[i]));
}

/* Only the tasks that something is wrong with. */
static void print_faults(struct ax_ctl *ctl, const json_t *audit)
{
	size_t i, k;
	const json_t *task, *fire;
	json_array_foreach(json_object_get(audit, "tasks"), i, task)
	{
		if (ax_json_int(task, "unexplained") == 0 && ax_json_int(task, "duplicates") == 0)
			continue;
		struct ax_buf line;
		ax_buf_init(&line, 65536);
		ax_print_clean(ax_sprintf(&ctl->arena, "task %s %s: %" PRId64 " unexplained, %" PRId64 " duplicates",
				       ax_json_text(&ctl->arena, task, "task_id"),
				       ax_json_text(&ctl->arena, task, "task_name"), ax_json_int(task, "unexplained"),
				       ax_json_int(task, "duplicates")),
			&line);
		puts(line.data);
		ax_buf_done(&line);
		json_array_foreach(json_object_get(task, "unexplained_fires"), k, fire)
		{
			char text[AX_RFC3339_SIZE];
			ax_rfc3339_format(json_integer_value(fire), text);
			printf("  no trace of the fire at %s\n", text);
		}
	}
}

static int audit(struct ax_ctl *ctl)
{
	int64_t from_ms = -1, to_ms = -1;
	int code = ax_ctl_opt_time(ctl, "from", &from_ms);
	if (code == AX_EXIT_OK)
		code = ax_ctl_opt_time(ctl, "to", &to_ms);
	if (code != AX_EXIT_OK)
		return code;
	struct ax_buf path;
	ax_buf_init(&path, 256);
	ax_buf_adds(&path, "/audit/fires");
	ax_value_query(&path, "from", from_ms >= 0 ? ax_sprintf(&ctl->arena, "%" PRId64, from_ms) : NULL);
	ax_value_query(&path, "to", to_ms >= 0 ? ax_sprintf(&ctl->arena, "%" PRId64, to_ms) : NULL);
	json_t *answer = NULL;
	code = ax_client_call(&ctl->client, "GET", path.data, NULL, &answer);
	ax_buf_done(&path);
	if (code != AX_EXIT_OK)
		return code;
	if (!json_is_integer(json_object_get(answer, "unexplained")) ||
		!json_is_integer(json_object_get(answer, "duplicates"))) {
		json_decref(answer);
		return ax_ctl_fail(
			AX_EXIT_NO_SERVER, "", "the server's answer lacks \"unexplained\" or \"duplicates\"");
	}
	bool clean = ax_json_int(answer, "unexplained") == 0 && ax_json_int(answer, "duplicates") == 0;
	if (ctl->json) {
		ax_print_json(stdout, answer);
	} else {
		print_totals(ctl, answer);
		print_faults(ctl, answer);
		puts(clean ? "clean: every expected fire is accounted for, none ran twice" : "NOT CLEAN");
	}
	json_decref(answer);
	return clean ? AX_EXIT_OK : AX_EXIT_NO;
}

const struct ax_verb ax_audit_verbs[] = {
	{ "", "", 0, 0, "compare the fires that schedules demand with what happened; exit 1 unless clean", audit_opts,
		audit, false },
	{ 0 },
};
