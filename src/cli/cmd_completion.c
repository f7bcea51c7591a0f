#include <stdio.h>
#include <string.h>
#include "cli/ctl.h"

/* Both scripts are written from the tables of commands and options, so they cannot fall behind. */

static void print_opts(const struct ax_opt *opts)
{
	for (; opts != NULL && opts->name != NULL; opts++)
		printf(" %s%s", opts->name[1] == '\0' ? "-" : "--", opts->name);
}

static void print_words(void)
{
	for (const struct ax_noun *noun = ax_nouns; noun->name != NULL; noun++)
		printf(" %s", noun->name);
}

/* A shell `case` from "noun" or "noun verb" to the words that may follow. */
static void print_cases(void)
{
	for (const struct ax_noun *noun = ax_nouns; noun->name != NULL; noun++) {
		bool has_verbs = *noun->verbs->name != '\0';
		if (has_verbs) {
			printf("    \"%s \") words=\"", noun->name);
			for (const struct ax_verb *verb = noun->verbs; verb->run != NULL; verb++)
				printf("%s%s", verb == noun->verbs ? "" : " ", verb->name);
			puts("\" ;;");
		}
		for (const struct ax_verb *verb = noun->verbs; verb->run != NULL; verb++) {
			printf("    \"%s %s\"%s) words=\"", noun->name, verb->name, has_verbs ? "" : "*");
			if (strcmp(noun->name, "completion") == 0)
				fputs("bash zsh", stdout);
			if (strcmp(noun->name, "help") == 0)
				print_words();
			print_opts(verb->opts);
			print_opts(ax_common_opts);
			puts("\" ;;");
		}
	}
}

static void print_bash(void)
{
	fputs("# axctl completion for bash: source this file\n"
	      "_axctl() {\n"
	      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" words=\"\"\n"
	      "  local noun=\"\" verb=\"\"\n"
	      "  [ \"$COMP_CWORD\" -gt 1 ] && noun=\"${COMP_WORDS[1]}\"\n"
	      "  [ \"$COMP_CWORD\" -gt 2 ] && verb=\"${COMP_WORDS[2]}\"\n"
	      "  case \"$noun $verb\" in\n"
	      "    \" \") words=\"",
		stdout);
	print_words();
	puts("\" ;;");
	print_cases();
	fputs("  esac\n"
	      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "}\n"
	      "complete -o default -F _axctl axctl\n",
		stdout);
}

static void print_zsh(void)
{
	fputs("#compdef axctl\n"
	      "# axctl completion for zsh: put this file as _axctl in a folder of $fpath\n"
	      "_axctl() {\n"
	      "  local words_in=(\"${words[@]}\") words=\"\" noun=\"\" verb=\"\"\n"
	      "  (( CURRENT > 2 )) && noun=\"${words_in[2]}\"\n"
	      "  (( CURRENT > 3 )) && verb=\"${words_in[3]}\"\n"
	      "  case \"$noun $verb\" in\n"
	      "    \" \") words=\"",
		stdout);
	print_words();
	puts("\" ;;");
	print_cases();
	fputs("  esac\n"
	      "  compadd -- ${=words} || _files\n"
	      "}\n"
	      "compdef _axctl axctl\n",
		stdout);
}

static int completion(struct ax_ctl *ctl)
{
	const char *shell = ctl->args.operands[0];
	if (strcmp(shell, "bash") == 0)
		print_bash();
	else if (strcmp(shell, "zsh") == 0)
		print_zsh();
	else
		return ax_ctl_fail(AX_EXIT_USAGE, "", "\"%s\": only bash and zsh are known", shell);
	return AX_EXIT_OK;
}

const struct ax_verb ax_completion_verbs[] = {
	{ "", "bash|zsh", 1, 1, "print a completion script", NULL, completion, true },
	{ 0 },
};
