#include "exec_spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/executor_param.h"

struct env {
	char **list;
	size_t n;
	struct ax_arena *arena;
};

static void set(struct env *env, const char *name, const char *value)
{
	size_t len = strlen(name);
	char *entry = ax_sprintf(env->arena, "%s=%s", name, value);
	for (size_t i = 0; i < env->n; i++) {
		if (strncmp(env->list[i], name, len) == 0 && env->list[i][len] == '=') {
			env->list[i] = entry;
			return;
		}
	}
	env->list[env->n++] = entry;
}

static void set_base(struct env *env, const struct policy_user *user, const char *shell)
{
	const char *tz = getenv("TZ");
	set(env, "PATH", "/usr/local/bin:/usr/bin:/bin");
	set(env, "LANG", "C.UTF-8");
	if (tz)
		set(env, "TZ", tz);
	set(env, "HOME", user->home);
	set(env, "USER", user->name);
	set(env, "LOGNAME", user->name);
	set(env, "SHELL", shell);
}

static void set_number(struct env *env, const char *name, int64_t value)
{
	set(env, name, ax_sprintf(env->arena, "%" PRId64, value));
}

static void set_run(struct env *env, struct axw_attempt *a)
{
	set(env, "AX_GID", axw_gid(a));
	set_number(env, "AX_ATTEMPT", axw_attempt_number(a));
	set_number(env, "AX_FENCE", axw_fence(a));
	set(env, "AX_TASK", axw_task(a));
	set(env, "AX_TASK_ID", axw_task_id(a));
	set(env, "AX_GROUP", axw_group(a));
	set_number(env, "AX_TRIGGER_MS", axw_trigger_ms(a));
	if (axw_shard_index(a) > 0) {
		set_number(env, "AX_SHARD_INDEX", axw_shard_index(a));
		set_number(env, "AX_SHARD_TOTAL", axw_shard_total(a));
		set(env, "AX_PARENT_GID", axw_parent_gid(a));
	}
	if (*axw_rerun_of(a))
		set(env, "AX_RERUN_OF", axw_rerun_of(a));
	if (*axw_traceparent(a))
		set(env, "TRACEPARENT", axw_traceparent(a));
	if (strcmp(axw_params(a), "null") != 0)
		set(env, "AX_PARAMS", axw_params(a));
	if (strcmp(axw_upstream(a), "[]") != 0)
		set(env, "AX_UPSTREAM", axw_upstream(a));
}

static enum ax_status set_task(
	struct env *env, json_t *given, const struct policy *policy, bool script, struct ax_err *err)
{
	const char *name;
	json_t *value;
	if (given && !json_is_object(given))
		return ax_fail(err, AX_INVALID, "env", "env is an object of strings");
	if (json_object_size(given) > AX_ENV_MAX)
		return ax_fail(err, AX_INVALID, "env", "env has more than %d variables", AX_ENV_MAX);
	json_object_foreach(given, name, value)
	{
		if (!ax_env_is_name(name))
			return ax_fail(err, AX_INVALID, "env", "'%s' is no name of an environment variable", name);
		if (!json_is_string(value))
			return ax_fail(err, AX_INVALID, "env", "the value of %s in env is a string", name);
		enum ax_status st = policy_check_env(policy, name, script, err);
		if (st != AX_OK)
			return st;
		set(env, name, json_string_value(value));
	}
	return AX_OK;
}

static enum ax_status read_argv(json_t *argv, struct ax_arena *arena, char ***ret, struct ax_err *err)
{
	size_t n = json_array_size(argv);
	size_t i;
	json_t *arg;
	if (n < 1 || n > AX_ARGV_MAX)
		return ax_fail(err, AX_INVALID, "argv", "argv is a list of 1-%d strings", AX_ARGV_MAX);
	char **list = ax_alloc_array(arena, n + 1, sizeof(char *));
	json_array_foreach(argv, i, arg)
	{
		if (!json_is_string(arg))
			return ax_fail(err, AX_INVALID, "argv", "argv is a list of 1-%d strings", AX_ARGV_MAX);
		list[i] = ax_strdup(arena, json_string_value(arg));
	}
	*ret = list;
	return AX_OK;
}

static enum ax_status check_names(json_t *param, struct ax_err *err)
{
	static const char *const names[] = { "argv", "script", "shell", "stdin", "env", "cwd", "user" };
	static const char *const texts[] = { "script", "shell", "stdin", "cwd", "user" };
	const char *name;
	json_t *value;
	json_object_foreach(param, name, value)
	{
		size_t i = 0;
		while (i < AX_COUNT(names) && strcmp(name, names[i]) != 0)
			i++;
		if (i == AX_COUNT(names))
			return ax_fail(err, AX_INVALID, name, "exec has no member '%s'", name);
	}
	for (size_t i = 0; i < AX_COUNT(texts); i++) {
		value = json_object_get(param, texts[i]);
		if (value && !json_is_string(value))
			return ax_fail(err, AX_INVALID, texts[i], "%s is a string", texts[i]);
	}
	return AX_OK;
}

static const char *text(json_t *param, const char *name)
{
	return json_string_value(json_object_get(param, name));
}

static const char *default_cwd(const struct policy *policy, const struct policy_user *user)
{
	struct stat st;
	struct ax_err ignored;
	bool good = stat(user->home, &st) == 0 && S_ISDIR(st.st_mode) &&
		policy_check_cwd(policy, user->home, &ignored) == AX_OK;
	if (good)
		return user->home;
	const char *first = json_string_value(json_array_get(policy->dirs, 0));
	return first ? first : "/";
}

static enum ax_status read_command(
	json_t *param, const struct policy *policy, struct ax_arena *arena, struct exec_spec *spec, struct ax_err *err)
{
	const char *script = text(param, "script");
	json_t *argv = json_object_get(param, "argv");
	if (!script == !argv)
		return ax_fail(err, AX_INVALID, "argv", "exec takes either argv or script");
	enum ax_status st = policy_check_kind(policy, script != NULL, err);
	if (st == AX_OK)
		st = policy_user(policy, text(param, "user"), &spec->user, err);
	if (st != AX_OK)
		return st;
	if (script) {
		const char *shell = text(param, "shell");
		spec->argv = ax_alloc_array(arena, 4, sizeof(char *));
		spec->argv[0] = ax_strdup(arena, shell ? shell : "/bin/sh");
		spec->argv[1] = ax_strdup(arena, "-c");
		spec->argv[2] = ax_strdup(arena, script);
		if (spec->argv[0][0] != '/')
			return ax_fail(err, AX_INVALID, "shell", "shell is an absolute path, not '%s'", shell);
		return AX_OK;
	}
	st = read_argv(argv, arena, &spec->argv, err);
	return st == AX_OK ? policy_check_program(policy, spec->argv[0], &spec->user, err) : st;
}

enum ax_status exec_spec_read(struct axw_attempt *a, const struct policy *policy, struct ax_arena *arena,
	struct exec_spec *ret_spec, struct ax_err *err)
{
	struct exec_spec spec = { 0 };
	json_t *param = json_loads(axw_param(a), JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	struct env env = { .list = ax_alloc_array(arena, AX_ENV_MAX + 32, sizeof(char *)), .arena = arena };
	enum ax_status st = json_is_object(param)
		? check_names(param, err)
		: ax_fail(err, AX_INVALID, "param", "exec takes an object with argv or script");
	if (st == AX_OK)
		st = read_command(param, policy, arena, &spec, err);
	const char *script = text(param, "script");
	if (st == AX_OK) {
		set_base(&env, &spec.user, script ? spec.argv[0] : "/bin/sh");
		st = set_task(&env, json_object_get(param, "env"), policy, script != NULL, err);
	}
	if (st == AX_OK) {
		set_run(&env, a);
		const char *cwd = text(param, "cwd");
		spec.cwd = ax_strdup(arena, cwd ? cwd : default_cwd(policy, &spec.user));
		st = cwd ? policy_check_cwd(policy, cwd, err) : AX_OK;
	}
	const char *in = text(param, "stdin");
	if (st == AX_OK && in && strlen(in) > AX_STDIN_MAX)
		st = ax_fail(err, AX_INVALID, "stdin", "stdin is longer than %d bytes", AX_STDIN_MAX);
	spec.stdin_text = ax_strdup(arena, in);
	spec.envp = env.list;
	json_decref(param);
	if (st == AX_OK)
		*ret_spec = spec;
	return st;
}
