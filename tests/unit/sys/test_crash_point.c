#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sys/crash_point.h"

/* A child that passes two points three times and exits with how often it was told to fail. */
static int run(const char *plan)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		int fails = 0;
		setenv("AX_CRASH", plan, 1);
		for (int i = 0; i < 3; i++) {
			AX_CRASHPOINT("spool", "before_write");
			fails += AX_CRASHPOINT_FAILS("sql", "RUN_INSERT");
		}
		_exit(fails);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	if (WIFSTOPPED(status)) {
		kill(pid, SIGCONT);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		return 1000 + WEXITSTATUS(status);
	}
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_it_acts_at_the_pass_that_was_named(void **state)
{
	(void)state;
	assert_int_equal(run(""), 0);
	assert_int_equal(run("spool.before_write:1:kill"), -SIGKILL);
	assert_int_equal(run("spool.before_write:3:kill"), -SIGKILL);
	assert_int_equal(run("spool.before_write:4:kill"), 0);
	assert_int_equal(run("spool.before:1:kill"), 0);
	assert_int_equal(run("sql.run_insert:2:err"), 1);
	assert_int_equal(run("sql.run_insert:2:stop"), 1000);
	assert_int_equal(run("spool.before_write:1:sleep=1,sql.run_insert:1:err,sql.run_insert:3:err"), 2);
}

static void test_a_plan_that_cannot_be_read_is_no_plan(void **state)
{
	(void)state;
	static const char *const plans[] = { "spool", "spool.x:1", "spool.x:0:kill", "spool.x:1:die",
		"spool.x:1:sleep=", "spool.x:y:kill" };
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
		assert_int_equal(run(plans[i]), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_acts_at_the_pass_that_was_named),
		cmocka_unit_test(test_a_plan_that_cannot_be_read_is_no_plan),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
