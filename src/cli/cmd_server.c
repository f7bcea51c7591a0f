#include "cli/ctl.h"
#include "cli/report.h"

/* "alerts, retention": what no other server does meanwhile. */
static const char *chores_of(struct ax_arena *arena, const json_t *server)
{
	const char *text = "";
	size_t i;
	const json_t *chore;
	json_array_foreach(json_object_get(server, "chores"), i, chore) text = ax_sprintf(
		arena, "%s%s%s", text, i > 0 ? ", " : "", json_is_string(chore) ? json_string_value(chore) : "?");
	return text;
}

static int list(struct ax_ctl *ctl)
{
	static const char *const heads[] = { "SERVER", "NUMBER", "VERSION", "STORE", "SINCE", "SEEN", "CHORES", NULL };
	json_t *answer = NULL;
	int code = ax_client_list(&ctl->client, "/servers", 0, &answer);
	if (code != AX_EXIT_OK)
		return code;
	struct ax_table table;
	ax_table_init(&table, heads);
	size_t i;
	const json_t *server;
	json_array_foreach(json_object_get(answer, "items"), i, server)
	{
		ax_table_cell(&table, ax_json_text(&ctl->arena, server, "server"));
		ax_table_cell(&table, ax_json_text(&ctl->arena, server, "number"));
		ax_table_cell(&table, ax_json_text(&ctl->arena, server, "version"));
		ax_table_cell(&table, ax_json_text(&ctl->arena, server, "store"));
		ax_table_cell(&table, ax_json_time(&ctl->arena, server, "start_time"));
		ax_table_cell(&table, ax_json_time(&ctl->arena, server, "seen_time"));
		ax_table_cell(&table, chores_of(&ctl->arena, server));
	}
	ax_report_list(ctl, answer, &table);
	json_decref(answer);
	return AX_EXIT_OK;
}

const struct ax_verb ax_server_verbs[] = {
	{ "list", "", 0, 0, "the servers that are at work, and what each alone looks after", NULL, list, false },
	{ 0 },
};
