#include "cli/ctl.h"
#include "cli/report.h"

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ "SERVER", "server", NULL },
		{ "NUMBER", "number", NULL },
		{ "VERSION", "version", NULL },
		{ "STORE", "store", NULL },
		{ "SINCE", "start_time", ax_json_time },
		{ "SEEN", "seen_time", ax_json_time },
		{ "CHORES", "chores", ax_json_words }, /* what no other server does meanwhile */
		{ 0 },
	};
	return ax_report_whole_list(ctl, "/servers", columns);
}

const struct ax_verb ax_server_verbs[] = {
	{ "list", "", 0, 0, "the servers that are at work, and what each alone looks after", NULL, list, false },
	{ 0 },
};
