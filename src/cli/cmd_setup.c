#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "base/utf8.h"
#include "cli/cmd_token.h"
#include "cli/ctl.h"
#include "cli/file.h"
#include "cli/report.h"

enum { PASSWORD_MAX = 256, FILE_MAX = 4096 }; /* what servers take, in bytes */

static const struct ax_opt setup_opts[] = {
	{ "user", NULL, "U", "name of the administrator" },
	{ "password-file", NULL, "F",
		"file with the password, \"-\" for standard input (default: ask, at a terminal)" },
	{ "out", NULL, "F", "make an admin token too, and write it to a new file only you can read" },
	{ "expire-days", NULL, "N", "of that token, 1 to 365 (90)" },
	{ 0 },
};

/* The first line of what was read becomes the password, whole or not at all; `from` is how it was given. */
static int take_line(const char *from, const char *text, size_t len, char password[PASSWORD_MAX + 1])
{
	const char *newline = memchr(text, '\n', len);
	if (newline != NULL)
		len = (size_t)(newline - text);
	if (len > 0 && text[len - 1] == '\r')
		len--;
	if (len == 0)
		return ax_ctl_fail(AX_EXIT_USAGE, from, "no password given: the first line is empty");
	if (len > PASSWORD_MAX)
		return ax_ctl_fail(AX_EXIT_USAGE, from, "the password is longer than %d bytes", PASSWORD_MAX);
	if (memchr(text, '\0', len) != NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, from, "the password holds a NUL byte, which no password can");
	if (!ax_utf8_valid(text, len))
		return ax_ctl_fail(AX_EXIT_USAGE, from, "the password is not UTF-8 text");
	memcpy(password, text, len);
	password[len] = '\0';
	return AX_EXIT_OK;
}

/* One line from the terminal without echo. Ctrl-C arrives as a character that ends the line, so that the terminal is
 * always put back as it was. */
static int ask(const char *prompt, char *password)
{
	enum { CTRL_C = 3 };
	struct termios old, quiet;
	char line[PASSWORD_MAX + 1]; /* with the newline; one that is longer still is too long without it */
	tcgetattr(STDIN_FILENO, &old);
	quiet = old;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
	quiet.c_cc[VEOL] = CTRL_C;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet); /* before the prompt: whoever waits for it may type at once */
	fprintf(stderr, "%s: ", prompt);
	ssize_t n = read(STDIN_FILENO, line, sizeof(line));
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
	fputc('\n', stderr);
	int code;
	if (n <= 0 || memchr(line, CTRL_C, (size_t)n) != NULL)
		code = ax_ctl_fail(AX_EXIT_USAGE, "", "no password given");
	else
		code = take_line("password", line, (size_t)n, password);
	sodium_memzero(line, sizeof(line));
	return code;
}

/* The first line of --password-file, or of standard input when `file` is NULL. */
static int read_line(struct ax_ctl *ctl, const char *file, char *password)
{
	char *text;
	size_t len;
	struct ax_err err;
	if (ax_file_read(&ctl->arena, file != NULL ? file : "-", FILE_MAX, &text, &len, &err) != AX_OK)
		return ax_ctl_fail(AX_EXIT_USAGE, file != NULL ? "--password-file" : "", "%s", err.msg);
	int code = take_line(file != NULL ? "--password-file" : "standard input", text, len, password);
	sodium_memzero(text, len);
	return code;
}

static int read_password(struct ax_ctl *ctl, char *password)
{
	const char *file = ax_args_get(&ctl->args, "password-file");
	char again[PASSWORD_MAX + 1] = "";
	if (file != NULL || !isatty(STDIN_FILENO))
		return read_line(ctl, file, password);
	int code = ask("password", password);
	if (code == AX_EXIT_OK)
		code = ask("again", again);
	if (code == AX_EXIT_OK && strcmp(password, again) != 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "password", "the two are not the same");
	sodium_memzero(again, sizeof(again));
	return code;
}

/* The setup token: of the file, or as it was given. */
static int read_token(struct ax_ctl *ctl, const char **ret)
{
	const char *file = ax_args_get(&ctl->args, "token-file");
	struct ax_err err;
	*ret = ax_args_get(&ctl->args, "token");
	if (file != NULL) {
		char *text;
		if (ax_file_read(&ctl->arena, file, FILE_MAX, &text, NULL, &err) != AX_OK)
			return ax_ctl_fail(AX_EXIT_USAGE, "--token-file", "%s", err.msg);
		text[strcspn(text, " \t\r\n")] = '\0';
		*ret = text;
	}
	if (*ret == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "--token-file",
			"give the setup token: the server printed where it wrote it at its first start");
	if (!ax_utf8_valid(*ret, strlen(*ret)))
		return ax_ctl_fail(AX_EXIT_USAGE, "--token-file", "not UTF-8 text");
	return AX_EXIT_OK;
}

static int set_up(struct ax_ctl *ctl, const char *token, const char *user, const char *password, json_t **ret)
{
	int code = ax_client_call(&ctl->client, "POST", "/setup",
		json_pack("{s:s, s:s, s:s}", "token", token, "user", user, "password", password), ret);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, *ret);
	else if (code == AX_EXIT_OK)
		printf("%s is the administrator now; sign in at %s/\n", user, ctl->client.server);
	return code;
}

static int setup(struct ax_ctl *ctl)
{
	const char *user = ax_args_get(&ctl->args, "user"), *token;
	char password[PASSWORD_MAX + 1] = "";
	struct ax_token_out out = { .fd = -1 };
	json_t *answer = NULL;
	if (user == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "--user", "name the administrator: --user U");
	int code = read_token(ctl, &token);
	if (code == AX_EXIT_OK)
		code = ax_client_open(&ctl->client, &ctl->arena, &ctl->args, false);
	if (code == AX_EXIT_OK)
		code = read_password(ctl, password);
	if (code == AX_EXIT_OK) /* whatever is wrong with it is said before the setup token is used up */
		code = ax_token_open(ctl, &out);
	if (code == AX_EXIT_OK)
		code = set_up(ctl, token, user, password, &answer);
	sodium_memzero(password, sizeof(password));
	if (code == AX_EXIT_OK && out.path != NULL) { /* setup signed us in: a cookie says who we are */
		ctl->client.csrf = ax_json_text(&ctl->arena, answer, "csrf");
		code = ax_token_create(ctl, &out,
			json_pack("{s:s, s:s}", "name", ax_sprintf(&ctl->arena, "setup by %s", user), "role", "admin"));
	}
	ax_token_close(&out);
	json_decref(answer);
	return code;
}

const struct ax_verb ax_setup_verbs[] = {
	{ "", "", 0, 0, "make the first administrator (--token-file: the setup token)", setup_opts, setup, true },
	{ 0 },
};
