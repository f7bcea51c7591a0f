/* axctl: everything that the API can do, for people and scripts (docs/axctl.md). */

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/utf8.h"
#include "cli/ctl.h"
#include "cli/print.h"
#include "version.h"

const struct ax_opt ax_common_opts[] = {
	{ "server", NULL, "URL[,URL]", "the server's address; of several the first that is ready (AX_SERVER)" },
	{ "ca", NULL, "F", "certificates to trust instead of the system's, PEM (AX_CA)" },
	{ "token", NULL, "T", "API token (AX_TOKEN)" },
	{ "token-file", NULL, "F", "file that holds the token" },
	{ "json", NULL, NULL, "print JSON" },
	{ "help", "h", NULL, "this text" },
	{ 0 },
};

static int run_version(struct ax_ctl *ctl);
static int run_help(struct ax_ctl *ctl);

static const struct ax_verb version_verbs[] = {
	{ "", "", 0, 0, "the version of axctl", NULL, run_version, true },
	{ 0 },
};
static const struct ax_verb help_verbs[] = {
	{ "", "[COMMAND]", 0, 2, "how to call axctl, or one command", NULL, run_help, true },
	{ 0 },
};

const struct ax_noun ax_nouns[] = {
	{ "task", "tasks: list, create, change, pause, trigger", ax_task_verbs },
	{ "run", "runs: look, follow their output, cancel, retry", ax_run_verbs },
	{ "failure", "failed runs, by cause: look, mute, assign, run them again", ax_failure_verbs },
	{ "event", "events: send them, see what became of them", ax_event_verbs },
	{ "canary", "new definitions of tasks on trial", ax_canary_verbs },
	{ "group", "groups and their quotas", ax_group_verbs },
	{ "backfill", "backfills: fires of past ranges made up (axctl task backfill starts one)", ax_backfill_verbs },
	{ "calendar", "calendars: the dates on which tasks fire", ax_calendar_verbs },
	{ "alert", "alerts: look, mute, resolve", ax_alert_verbs },
	{ "channel", "channels: who is told of alerts", ax_channel_verbs },
	{ "worker", "workers, and the tokens that let them in", ax_worker_verbs },
	{ "server", "the servers that share the database", ax_server_verbs },
	{ "token", "API tokens", ax_token_verbs },
	{ "cron", "when a schedule fires, without a server", ax_cron_verbs },
	{ "why", "why a run or task does what it does", ax_why_verbs },
	{ "audit", "is every expected fire accounted for?", ax_audit_verbs },
	{ "overview", "how much of everything there is", ax_overview_verbs },
	{ "changes", "who changed what", ax_changes_verbs },
	{ "import", "take over a crontab", ax_import_verbs },
	{ "setup", "make the first administrator", ax_setup_verbs },
	{ "completion", "completion for bash or zsh", ax_completion_verbs },
	{ "version", "the version of axctl", version_verbs },
	{ "help", "how to call axctl", help_verbs },
	{ 0 },
};

static int run_version(struct ax_ctl *ctl)
{
	printf(ctl->json ? "{ \"version\": \"%s\" }\n" : "axctl %s\n", AX_VERSION);
	return AX_EXIT_OK;
}

/* ---- usage ---- */

static void print_opts(FILE *to, const struct ax_opt *opts)
{
	for (; opts != NULL && opts->name != NULL; opts++) {
		char left[64];
		snprintf(left, sizeof(left), "%s%s%s%s", opts->name[1] == '\0' ? "-" : "--", opts->name,
			opts->value != NULL ? " " : "", opts->value != NULL ? opts->value : "");
		fprintf(to, "  %-26s %s\n", left, opts->about);
	}
}

static void print_usage(FILE *to)
{
	fputs("axctl COMMAND [VERB] [OPTIONS]\n\n", to);
	for (const struct ax_noun *noun = ax_nouns; noun->name != NULL; noun++)
		fprintf(to, "  %-12s %s\n", noun->name, noun->about);
	fputs("\nOptions of every command:\n", to);
	print_opts(to, ax_common_opts);
	fputs("\nExit codes: 0 done, 1 the answer is no, 2 bad input, 3 no server, 4 denied, 5 not found,\n"
	      "6 conflict, 7 not ended yet. `axctl help COMMAND` tells more.\n",
		to);
}

static void print_verb(FILE *to, const struct ax_noun *noun, const struct ax_verb *verb)
{
	fprintf(to, "axctl %s%s%s%s%s%s\n  %s\n", noun->name, *verb->name != '\0' ? " " : "", verb->name,
		*verb->operands != '\0' ? " " : "", verb->operands, verb->opts != NULL ? " [OPTIONS]" : "",
		verb->about);
	print_opts(to, verb->opts);
}

/* A command with verbs: one line each. A command without: all of it. */
static void print_noun(FILE *to, const struct ax_noun *noun)
{
	if (*noun->verbs->name == '\0') {
		print_verb(to, noun, noun->verbs);
		return;
	}
	for (const struct ax_verb *verb = noun->verbs; verb->run != NULL; verb++)
		fprintf(to, "axctl %s %-8s %-32s %s\n", noun->name, verb->name, verb->operands, verb->about);
	fprintf(to, "\n`axctl %s VERB --help` shows the options.\n", noun->name);
}

static const struct ax_noun *find_noun(const char *name)
{
	for (const struct ax_noun *noun = ax_nouns; noun->name != NULL; noun++)
		if (strcmp(noun->name, name) == 0)
			return noun;
	return NULL;
}

static const struct ax_verb *find_verb(const struct ax_noun *noun, const char *name)
{
	for (const struct ax_verb *verb = noun->verbs; verb->run != NULL; verb++)
		if (strcmp(verb->name, name) == 0)
			return verb;
	return NULL;
}

static int run_help(struct ax_ctl *ctl)
{
	if (ctl->args.n_operands == 0) {
		print_usage(stdout);
		return AX_EXIT_OK;
	}
	const struct ax_noun *noun = find_noun(ctl->args.operands[0]);
	if (noun == NULL)
		return ax_ctl_fail(
			AX_EXIT_USAGE, "", "there is no command \"%s\"; `axctl help` lists all", ctl->args.operands[0]);
	const struct ax_verb *verb = ctl->args.n_operands > 1 ? find_verb(noun, ctl->args.operands[1]) : NULL;
	if (verb != NULL)
		print_verb(stdout, noun, verb);
	else
		print_noun(stdout, noun);
	return AX_EXIT_OK;
}

/* ---- one call ---- */

static int check_text(const char *field, const char *text)
{
	return ax_utf8_valid(text, strlen(text)) ? AX_EXIT_OK : ax_ctl_fail(AX_EXIT_USAGE, field, "not UTF-8 text");
}

/* JSON takes nothing but UTF-8, and what it does not take would be left out of a call. Only files may be named by any
 * bytes. */
static int check_texts(const struct ax_verb *verb, const struct ax_args *args)
{
	int code = AX_EXIT_OK;
	for (int i = 0; code == AX_EXIT_OK && i < args->n_given; i++) {
		const struct ax_opt *opt = args->given[i].opt;
		if (opt->value != NULL && strcmp(opt->value, "F") != 0)
			code = check_text(opt->name, args->given[i].value);
	}
	for (int i = 0; code == AX_EXIT_OK && i < args->n_operands && strstr(verb->operands, "FILE") == NULL; i++)
		code = check_text(verb->operands, args->operands[i]);
	for (int i = 0; code == AX_EXIT_OK && i < args->n_rest; i++)
		code = check_text("--", args->rest[i]);
	return code;
}

static int run_verb(const struct ax_noun *noun, const struct ax_verb *verb, int argc, char **argv)
{
	struct ax_ctl ctl = { 0 };
	struct ax_err err;
	if (ax_args_parse(argc, argv, verb->opts, ax_common_opts, &ctl.args, &err) != AX_OK)
		return ax_ctl_fail(AX_EXIT_USAGE, err.field, "%s", err.msg);
	if (ax_args_has(&ctl.args, "help")) {
		print_verb(stdout, noun, verb);
		return AX_EXIT_OK;
	}
	if (ctl.args.n_operands < verb->min || ctl.args.n_operands > verb->max) {
		ax_ctl_fail(AX_EXIT_USAGE, "",
			ctl.args.n_operands < verb->min ? "something is missing" : "\"%s\" is too much",
			ctl.args.operands[verb->max]);
		print_verb(stderr, noun, verb);
		return AX_EXIT_USAGE;
	}
	ctl.json = ax_args_has(&ctl.args, "json");
	int code = check_texts(verb, &ctl.args);
	if (code == AX_EXIT_OK && !verb->offline)
		code = ax_client_open(&ctl.client, &ctl.arena, &ctl.args, true);
	if (code == AX_EXIT_OK)
		code = verb->run(&ctl);
	ax_client_close(&ctl.client);
	ax_arena_done(&ctl.arena);
	return code;
}

/* Global options may stand before the command: they are moved behind it. Returns where the command is. */
static int find_command(int argc, char **argv)
{
	int i = 1;
	while (i < argc && argv[i][0] == '-' && argv[i][1] != '\0') {
		bool takes_value = false;
		for (const struct ax_opt *opt = ax_common_opts; opt->name != NULL; opt++)
			if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, opt->name) == 0)
				takes_value = opt->value != NULL;
		i += takes_value && i + 1 < argc ? 2 : 1;
	}
	return i;
}

static int run_noun(const struct ax_noun *noun, int argc, char **argv)
{
	const struct ax_verb *verb = noun->verbs;
	if (*verb->name == '\0')
		return run_verb(noun, verb, argc - 1, argv + 1);
	verb = argc > 1 ? find_verb(noun, argv[1]) : NULL;
	if (verb != NULL)
		return run_verb(noun, verb, argc - 2, argv + 2);
	bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
	if (argc > 1 && !help)
		ax_ctl_fail(AX_EXIT_USAGE, noun->name, "there is no verb \"%s\" here", argv[1]);
	print_noun(help ? stdout : stderr, noun);
	return help ? AX_EXIT_OK : AX_EXIT_USAGE;
}

/* Reads `axctl --server U task list --json` as `axctl task list --server U --json`. */
static int run(int argc, char **argv)
{
	int at = find_command(argc, argv);
	if (at >= argc) {
		bool help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
		bool version = argc == 2 && strcmp(argv[1], "--version") == 0;
		if (version)
			printf("axctl %s\n", AX_VERSION);
		else
			print_usage(help ? stdout : stderr);
		return help || version ? AX_EXIT_OK : AX_EXIT_USAGE;
	}
	const struct ax_noun *noun = find_noun(argv[at]);
	if (noun == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "", "there is no command \"%s\"; `axctl help` lists all", argv[at]);
	/* noun [verb] globals … the rest */
	char **line = ax_malloc((size_t)(argc + 1) * sizeof(*line));
	bool has_verb = *noun->verbs->name != '\0' && at + 1 < argc;
	int n = 0;
	for (int i = at; i < argc && i <= at + has_verb; i++)
		line[n++] = argv[i];
	for (int i = 1; i < at; i++)
		line[n++] = argv[i];
	for (int i = at + 1 + has_verb; i < argc; i++)
		line[n++] = argv[i];
	int code = run_noun(noun, n, line);
	free(line);
	return code;
}

int main(int argc, char **argv)
{
	umask(077);
	json_set_alloc_funcs(ax_malloc, free); /* what gets no memory is not to be called malformed */
	int code = run(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout))
		return ax_ctl_fail(AX_EXIT_NO, "", "cannot write the output");
	return code;
}
