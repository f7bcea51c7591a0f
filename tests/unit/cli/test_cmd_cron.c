/* axctl cron, called as the command line calls it, with its streams in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/attr.h"
#include "cli/ctl.h"

static char out[65536], errors[8192];

static void slurp(FILE *file, char *text, size_t size)
{
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

/* A verb and what follows it, as axctl calls it. */
static int call(int argc, char **argv)
{
	static const struct ax_opt common[] = { { "json", NULL, NULL, "" }, { 0 } };
	const struct ax_verb *verb = ax_cron_verbs;
	struct ax_ctl ctl = { 0 };
	struct ax_err err;
	while (strcmp(verb->name, argv[0]) != 0)
		verb++;
	if (ax_args_parse(argc - 1, argv + 1, verb->opts, common, &ctl.args, &err) != AX_OK)
		return ax_ctl_fail(AX_EXIT_USAGE, err.field, "%s", err.msg);
	ctl.json = ax_args_has(&ctl.args, "json");
	int code = verb->run(&ctl);
	ax_arena_done(&ctl.arena);
	return code;
}

/* Runs a verb with its arguments (NULL-terminated) in a child; returns its exit code. */
static int run(const char *input, size_t input_len, char **arguments)
{
	FILE *in = tmpfile(), *to = tmpfile(), *err = tmpfile();
	assert_true(in != NULL && to != NULL && err != NULL);
	fwrite(input, 1, input_len, in);
	rewind(in);
	fflush(NULL);
	int argc = 0, status;
	while (arguments[argc] != NULL)
		argc++;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fileno(in), STDIN_FILENO);
		dup2(fileno(to), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		clearerr(stdin);
		int code = call(argc, arguments);
		fflush(NULL);
		_exit(code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	fclose(in);
	slurp(to, out, sizeof(out));
	slurp(err, errors, sizeof(errors));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define RUN(...) run("", 0, (char *[]){ __VA_ARGS__, NULL })

static int batch(const char *input)
{
	char next[] = "next", option[] = "--batch";
	return run(input, strlen(input), (char *[]){ next, option, NULL });
}

#define W(text) ((char[]){ text })

static void test_next(void **state)
{
	(void)state;
	assert_int_equal(RUN(W("next"), W("--tz"), W("Europe/Berlin"), W("--from"), W("2026-03-28T00:00:00Z"), W("-n"),
				 W("3"), W("30 2 * * *")),
		0);
	assert_string_equal(out, "2026-03-28T01:30:00Z\n2026-03-29T01:00:00Z\n2026-03-30T00:30:00Z\n");
	assert_string_equal(errors, "");
	assert_int_equal(RUN(W("next"), W("0 0 12 ? * 2"), W("--from=2026-06-01T14:00:00+02:00"), W("-n=1"),
				 W("--dialect=quartz")),
		0);
	assert_string_equal(out, "2026-06-08T12:00:00Z\n");
	assert_int_equal(RUN(W("next"), W("@every 1h"), W("--from"), W("2026-06-01T00:00:00Z")), 0);
	assert_string_equal(out,
		"2026-06-01T01:00:00Z\n2026-06-01T02:00:00Z\n2026-06-01T03:00:00Z\n"
		"2026-06-01T04:00:00Z\n2026-06-01T05:00:00Z\n");
	assert_int_equal(RUN(W("next"), W("0 0 0 1 1 ? 1999")), 0);
	assert_string_equal(out, "");
	assert_string_equal(errors, "axctl: no fire after the start\n");
	assert_int_equal(
		RUN(W("next"), W("--json"), W("-n"), W("1"), W("--from"), W("2026-06-01T00:00:00Z"), W("@daily")), 0);
	assert_string_equal(out, "{\"next\":[\"2026-06-02T00:00:00Z\"]}\n");
}

static void test_refusals(void **state)
{
	(void)state;
	assert_int_equal(RUN(W("next"), W("*/90 * * * *")), 2);
	assert_string_equal(out, "");
	assert_string_equal(errors,
		"axctl: minute: Step 90 is larger than the minute field (0-59). For every 90 minutes "
		"use @every 90m.\n");
	assert_int_equal(RUN(W("next"), W("0 0 31 2 *")), 2);
	assert_non_null(strstr(errors, "no February has 31 days"));
	assert_int_equal(RUN(W("next"), W("--tz"), W("Asia/Beijing"), W("* * * * *")), 2);
	assert_int_equal(RUN(W("next"), W("--from"), W("now"), W("* * * * *")), 2);
	assert_int_equal(RUN(W("next"), W("--dialect"), W("vixie"), W("* * * * *")), 2);
	assert_int_equal(RUN(W("next"), W("-n"), W("0"), W("* * * * *")), 2);
	assert_int_equal(RUN(W("next"), W("-n"), W("x"), W("* * * * *")), 2);
	assert_int_equal(RUN(W("next"), W("--bogus"), W("* * * * *")), 2);
	assert_int_equal(RUN(W("next"), W("*"), W("*"), W("*"), W("*"), W("*")), 2);
	assert_int_equal(RUN(W("next")), 2);
	assert_int_equal(RUN(W("next"), W("--batch"), W("* * * * *")), 2);
	assert_int_equal(RUN(W("explain"), W("--batch")), 2);
}

static void test_explain(void **state)
{
	(void)state;
	assert_int_equal(RUN(W("explain"), W("--tz"), W("Europe/Berlin"), W("--from"), W("2026-03-28T12:00:00Z"),
				 W("-n"), W("2"), W("*/30 2 */2 * SUN")),
		0);
	assert_string_equal(out,
		"Runs every 30 minutes in hour 2 on odd days that are Sunday (Europe/Berlin)\n"
		"Note: Runs on odd days that are Sunday, as crond does; many libraries read this as "
		"\"or\".\n"
		"Note: Follows the clock within hour 2: does not run in an hour that the clock skips, "
		"and runs twice through one that it repeats.\n"
		"29 Mar: the task does not run from 02:00 to 03:00: these times do not exist on this "
		"day.\n"
		"2026-04-05T00:00:00Z  2026-04-05T02:00:00+02:00 CEST\n"
		"2026-04-05T00:30:00Z  2026-04-05T02:30:00+02:00 CEST\n");
	assert_int_equal(RUN(W("explain"), W("-n"), W("200"), W("--from"), W("2026-01-01T00:00:00Z"), W("@daily")), 0);
	assert_non_null(strstr(out, "2026-07-20T00:00:00Z"));
	assert_null(strstr(out, "2026-07-21T00:00:00Z"));
	assert_int_equal(RUN(W("explain"), W("@after 5s")), 0);
	assert_string_equal(out, "Runs 5s after the previous run ended (UTC)\n");
	assert_int_equal(RUN(W("explain"), W("--json"), W("@after 5s")), 0);
	assert_non_null(strstr(out, "\"words\": \"5s after the previous run ended\""));
}

static void test_batch(void **state)
{
	(void)state;
	assert_int_equal(
		batch("{\"expr\":\"30 2 * * *\",\"tz\":\"Europe/Berlin\",\"from\":\"2026-10-24T12:00:00Z\","
		      "\"n\":2,\"dialect\":\"unix\"}\n"
		      "{\"expr\":\"0 0 31 2 *\",\"tz\":\"UTC\",\"from\":\"2026-01-01T00:00:00Z\",\"n\":1}\n"
		      "{\"expr\":\"* * * * *\",\"tz\":\"Mars/Base\",\"from\":\"2026-01-01T00:00:00Z\",\"n\":1}\n"
		      "{\"expr\":\"@every 90s\",\"tz\":null,\"from\":\"2026-01-01T00:00:00Z\",\"n\":1}\n"
		      "{\"expr\":\"0 0 0 1 1 ? 1999\",\"n\":1}"),
		0);
	assert_string_equal(out,
		"{\"next\":[\"2026-10-25T00:30:00Z\",\"2026-10-26T01:30:00Z\"]}\n"
		"{\"error\":{\"code\":\"never\",\"message\":\"This schedule never fires: no February has 31 days. "
		"Write L "
		"for the last day of the month, or another month.\"}}\n"
		"{\"error\":{\"code\":\"zone\",\"message\":\"There is no such time zone; write a name of the tz "
		"database, "
		"such as Europe/Berlin or UTC.\"}}\n"
		"{\"next\":[\"2026-01-01T00:01:30Z\"]}\n"
		"{\"next\":[]}\n");
}

/* Each of these lines answers one error of code "syntax", and the batch goes on. */
static void test_bad_lines(void **state)
{
	(void)state;
	static const char *const lines[] = { "", " \r", "hello", "{", "[]", "{}", "1", "null", "{\"expr\":5}",
		"{\"expr\":\"* * * * *\",\"tz\":5}", "{\"expr\":\"* * * * *\",\"n\":\"5\"}",
		"{\"expr\":\"* * * * *\",\"n\":0}", "{\"expr\":\"* * * * *\",\"n\":1.5}",
		"{\"expr\":\"* * * * *\",\"n\":9999999999}", "{\"expr\":\"* * * * *\",\"n\":99999999999999999999}",
		"{\"expr\":\"* * * * *\",\"expr\":\"@daily\"}", "{\"expr\":\"* * * * *\",\"from\":\"yesterday\"}",
		"{\"expr\":\"* * * * *\",\"dialect\":\"unix5\"}", "{\"expr\":\"35\\u0000 2 * * *\"}",
		"{\"expr\":\"* * * * *\",\"tz\":\"UTC\\u0000\"}", "{\"expr\":\"\\ud800\"}", "{\"expr\":\"\xff\"}",
		"{\"expr\":\"* * * * *\"} x" };
	for (size_t i = 0; i < AX_COUNT(lines); i++) {
		char input[512];
		snprintf(input, sizeof(input), "%s\n{\"expr\":\"@daily\",\"from\":\"2026-01-01T00:00:00Z\",\"n\":1}\n",
			lines[i]);
		assert_int_equal(batch(input), 0);
		char *second = strchr(out, '\n');
		assert_non_null(second);
		if (strncmp(out, "{\"error\":{\"code\":\"syntax\",", 26) != 0 ||
			strcmp(second + 1, "{\"next\":[\"2026-01-02T00:00:00Z\"]}\n") != 0)
			fail_msg("%s: %s", lines[i], out);
	}
	char next[] = "next", option[] = "--batch";
	assert_int_equal(run("\0\n{\"expr\":\"\0\"}\n", 15, (char *[]){ next, option, NULL }), 0);
	assert_int_equal(strncmp(out, "{\"error\"", 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_bad_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
