#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/attr.h"
#include "worker/policy.h"

static enum ax_status load(struct policy *policy, const char *text, mode_t mode, struct ax_err *err)
{
	char path[] = "/tmp/ax-policy-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	fchmod(fd, mode);
	close(fd);
	enum ax_status st = policy_load(policy, path, err);
	unlink(path);
	return st;
}

static void test_without_a_file_process_tasks_are_off(void **state)
{
	(void)state;
	struct policy p;
	struct ax_err err;
	assert_int_equal(policy_load(&p, NULL, &err), AX_OK);
	assert_int_equal(policy_check_kind(&p, false, &err), AX_DENIED);
	policy_dev(&p);
	assert_int_equal(policy_check_kind(&p, true, &err), AX_OK);
}

static void test_files_are_read_strictly(void **state)
{
	(void)state;
	static const char *const bad[] = { "", "[]", "{\"allow_exec\":1}", "{\"allow_exec\":true,\"allow_exec\":false}",
		"{\"allow_shell\":true}", "{\"users\":\"root\"}", "{\"users\":[1]}", "{\"programs\":[\"\"]}",
		"{\"dirs\":{}}" };
	struct policy p;
	struct ax_err err;
	for (size_t i = 0; i < AX_COUNT(bad); i++) {
		assert_int_equal(load(&p, bad[i], 0600, &err), AX_INVALID);
		policy_done(&p);
	}
	assert_int_equal(load(&p, "{\"allow_exec\":true}", 0666, &err), AX_INVALID);
	policy_done(&p);
	assert_int_equal(load(&p, "{\"allow_exec\":true}", 0640, &err), AX_OK);
	assert_int_equal(policy_check_kind(&p, false, &err), AX_OK);
	assert_int_equal(policy_check_kind(&p, true, &err), AX_DENIED);
	policy_done(&p);
}

static void test_environment_names(void **state)
{
	(void)state;
	struct policy p = { 0 };
	struct ax_err err;
	static const char *const denied[] = { "LD_PRELOAD", "LD_X", "PATH", "IFS", "ENV", "BASH_ENV", "PYTHONSTARTUP",
		"GIT_DIR", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "AX_FENCE", "TRACEPARENT",
		"GLIBC_TUNABLES" };
	static const char *const fine[] = { "TZ", "LANG", "HOME", "MY_PATH", "LDX", "ENVIRONMENT", "PATHS" };
	for (size_t i = 0; i < AX_COUNT(denied); i++)
		assert_int_equal(policy_check_env(&p, denied[i], false, &err), AX_DENIED);
	for (size_t i = 0; i < AX_COUNT(fine); i++)
		assert_int_equal(policy_check_env(&p, fine[i], false, &err), AX_OK);
	assert_int_equal(policy_check_env(&p, "PATH", true, &err), AX_OK);
	p.deny_env = json_pack("[s,s]", "PATH", "SECRET*");
	assert_int_equal(policy_check_env(&p, "PATH", true, &err), AX_DENIED);
	assert_int_equal(policy_check_env(&p, "SECRET_KEY", false, &err), AX_DENIED);
	json_decref(p.deny_env);
}

static void test_programs_and_folders(void **state)
{
	(void)state;
	struct policy p = { 0 };
	struct policy_user user = { .uid = 0 };
	struct ax_err err;
	p.programs = json_pack("[s,s]", "/bin/true", "/opt/jobs/");
	p.dirs = json_pack("[s,s]", "/srv", "/data/");
	assert_int_equal(policy_check_program(&p, "/bin/true", &user, &err), AX_OK);
	assert_int_equal(policy_check_program(&p, "/bin/true1", &user, &err), AX_DENIED);
	assert_int_equal(policy_check_program(&p, "/opt/jobs/a", &user, &err), AX_OK);
	assert_int_equal(policy_check_program(&p, "/opt/jobs/", &user, &err), AX_DENIED);
	assert_int_equal(policy_check_program(&p, "/opt/jobs/../../bin/sh", &user, &err), AX_DENIED);
	assert_int_equal(policy_check_program(&p, "/opt/jobs/./a", &user, &err), AX_DENIED);
	assert_int_equal(policy_check_program(&p, "true", &user, &err), AX_INVALID);
	assert_int_equal(policy_check_cwd(&p, "/srv", &err), AX_OK);
	assert_int_equal(policy_check_cwd(&p, "/srv/a", &err), AX_OK);
	assert_int_equal(policy_check_cwd(&p, "/srvx", &err), AX_DENIED);
	assert_int_equal(policy_check_cwd(&p, "/srv/..", &err), AX_DENIED);
	assert_int_equal(policy_check_cwd(&p, "/data/x", &err), AX_OK);
	assert_int_equal(policy_check_cwd(&p, "data", &err), AX_INVALID);
	json_decref(p.programs);
	json_decref(p.dirs);
}

static void test_a_listed_program_that_others_can_write_is_refused(void **state)
{
	(void)state;
	char path[] = "/tmp/ax-program-XXXXXX";
	int fd = mkstemp(path);
	struct policy p = { 0 };
	struct policy_user user = { .uid = geteuid() };
	struct ax_err err;
	p.programs = json_pack("[s]", path);
	fchmod(fd, 0755);
	assert_int_equal(policy_check_program(&p, path, &user, &err), AX_OK);
	fchmod(fd, 0775);
	assert_int_equal(policy_check_program(&p, path, &user, &err), AX_DENIED);
	json_decref(p.programs);
	close(fd);
	unlink(path);
}

static void test_users(void **state)
{
	(void)state;
	struct policy p = { .allow_exec = true };
	struct policy_user user;
	struct ax_err err;
	assert_int_equal(policy_user(&p, "root", &user, &err), AX_DENIED);
	assert_int_equal(policy_user(&p, "nobody", &user, &err), AX_DENIED);
	if (geteuid() == 0) {
		assert_int_equal(policy_user(&p, NULL, &user, &err), AX_DENIED);
		p.users = json_pack("[s,s,s]", "nobody", "root", "no-such-user");
		assert_int_equal(policy_user(&p, NULL, &user, &err), AX_OK);
		assert_true(user.change && user.uid != 0);
		assert_int_equal(policy_user(&p, "root", &user, &err), AX_DENIED);
		assert_int_equal(policy_user(&p, "no-such-user", &user, &err), AX_DENIED);
		json_decref(p.users);
		p.users = NULL;
	}
	policy_dev(&p);
	assert_int_equal(policy_user(&p, NULL, &user, &err), AX_OK);
	assert_false(user.change);
	assert_true(user.uid == geteuid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_file_process_tasks_are_off),
		cmocka_unit_test(test_files_are_read_strictly),
		cmocka_unit_test(test_environment_names),
		cmocka_unit_test(test_programs_and_folders),
		cmocka_unit_test(test_a_listed_program_that_others_can_write_is_refused),
		cmocka_unit_test(test_users),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
