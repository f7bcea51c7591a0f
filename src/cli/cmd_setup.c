#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "cli/cmd_token.h"
#include "cli/ctl.h"
#include "cli/file.h"
#include "cli/report.h"

enum { PASSWORD_SIZE = 258, FILE_MAX = 4096 }; /* servers take 256 bytes; one more is a terminal's end of line */

static const struct ax_opt setup_opts[] = {
	{ "user", NULL, "U", "name of the administrator" },
	{ "password-file", NULL, "F",
		"file with the password, \"-\" for standard input (default: ask, at a terminal)" },
	{ "out", NULL, "F", "make an admin token too, and write it to a new file only you can read" },
	{ "expire-days", NULL, "N", "of that token, 1 to 365 (90)" },
	{ 0 },
};

/* One line from the terminal without echo. Ctrl-C arrives as a character that ends the line, so that the terminal is
 * always put back as it was. */
static int ask(const char *prompt, char *line, size_t size)
{
	enum { CTRL_C = 3 };
	struct termios old, quiet;
	tcgetattr(STDIN_FILENO, &old);
	quiet = old;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
	quiet.c_cc[VEOL] = CTRL_C;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet); /* before the prompt: whoever waits for it may type at once */
	fprintf(stderr, "%s: ", prompt);
	ssize_t n = read(STDIN_FILENO, line, size - 1);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
	fputc('\n', stderr);
	line[n > 0 ? n : 0] = '\0';
	if (n <= 0 || strchr(line, CTRL_C) != NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "", "no password given");
	if (strpbrk(line, "\r\n") == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "password", "longer than %zu bytes", size - 2);
	line[strcspn(line, "\r\n")] = '\0';
	return AX_EXIT_OK;
}

/* The first line of a file, "-" for standard input. */
static int read_line(struct ax_ctl *ctl, const char *file, char *password, size_t size)
{
	char *text;
	struct ax_err err;
	if (ax_file_read(&ctl->arena, file, FILE_MAX, &text, NULL, &err) != AX_OK)
		return ax_ctl_fail(AX_EXIT_USAGE, "--password-file", "%s", err.msg);
	size_t len = strcspn(text, "\r\n");
	int code = AX_EXIT_OK;
	if (len == 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "--password-file", "no password in the first line of %s",
			strcmp(file, "-") == 0 ? "standard input" : file);
	else if (len >= size)
		code = ax_ctl_fail(AX_EXIT_USAGE, "--password-file", "the password is longer than %zu bytes", size - 1);
	else
		snprintf(password, size, "%.*s", (int)len, text);
	sodium_memzero(text, strlen(text));
	return code;
}

static int read_password(struct ax_ctl *ctl, char *password, size_t size)
{
	const char *file = ax_args_get(&ctl->args, "password-file");
	char again[PASSWORD_SIZE];
	if (file != NULL || !isatty(STDIN_FILENO))
		return read_line(ctl, file != NULL ? file : "-", password, size);
	int code = ask("password", password, size);
	if (code == AX_EXIT_OK)
		code = ask("again", again, sizeof(again));
	if (code == AX_EXIT_OK && strcmp(password, again) != 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "password", "the two are not the same");
	sodium_memzero(again, sizeof(again));
	return code;
}

static int setup(struct ax_ctl *ctl)
{
	const char *user = ax_args_get(&ctl->args, "user"), *file = ax_args_get(&ctl->args, "token-file");
	const char *token = ax_args_get(&ctl->args, "token");
	char password[PASSWORD_SIZE];
	struct ax_err err;
	if (user == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "--user", "name the administrator: --user U");
	if (file != NULL) {
		char *text;
		if (ax_file_read(&ctl->arena, file, 4096, &text, NULL, &err) != AX_OK)
			return ax_ctl_fail(AX_EXIT_USAGE, "--token-file", "%s", err.msg);
		text[strcspn(text, " \t\r\n")] = '\0';
		token = text;
	}
	if (token == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "--token-file",
			"give the setup token: the server printed where it wrote it at its first start");
	int code = ax_token_check_out(ctl); /* before the setup token is used up */
	if (code == AX_EXIT_OK)
		code = ax_client_open(&ctl->client, &ctl->arena, &ctl->args, false);
	if (code == AX_EXIT_OK)
		code = read_password(ctl, password, sizeof(password));
	json_t *answer = NULL;
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "POST", "/setup",
			json_pack("{s:s, s:s, s:s}", "token", token, "user", user, "password", password), &answer);
	sodium_memzero(password, sizeof(password));
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, answer);
	else if (code == AX_EXIT_OK)
		printf("%s is the administrator now; sign in at %s/\n", user, ctl->client.server);
	if (code == AX_EXIT_OK &&
		ax_args_get(&ctl->args, "out") != NULL) { /* setup signed us in: a cookie says who we are */
		ctl->client.csrf = ax_json_text(&ctl->arena, answer, "csrf");
		code = ax_token_create(ctl,
			json_pack("{s:s, s:s}", "name", ax_sprintf(&ctl->arena, "setup by %s", user), "role", "admin"));
	}
	json_decref(answer);
	return code;
}

const struct ax_verb ax_setup_verbs[] = {
	{ "", "", 0, 0, "make the first administrator (--token-file: the setup token)", setup_opts, setup, true },
	{ 0 },
};
