#include "policy.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/executor_param.h"

/* ---- reading */

static enum ax_status read_bool(json_t *file, const char *name, bool *ret, struct ax_err *err)
{
	json_t *value = json_object_get(file, name);
	if (value && !json_is_boolean(value))
		return ax_fail(err, AX_INVALID, name, "policy: %s is true or false", name);
	*ret = json_is_true(value);
	return AX_OK;
}

static enum ax_status read_list(json_t *file, const char *name, json_t **ret, struct ax_err *err)
{
	json_t *value = json_object_get(file, name);
	size_t i;
	json_t *entry;
	if (value && !json_is_array(value))
		return ax_fail(err, AX_INVALID, name, "policy: %s is a list of strings", name);
	json_array_foreach(value, i, entry)
	{
		if (!json_is_string(entry) || json_string_length(entry) == 0)
			return ax_fail(err, AX_INVALID, name, "policy: %s is a list of strings", name);
	}
	*ret = value;
	return AX_OK;
}

static enum ax_status check_names(json_t *file, struct ax_err *err)
{
	static const char *const names[] = { "allow_exec", "allow_scripts", "users", "programs", "dirs", "http_allow",
		"deny_env", "cgroup" };
	const char *name;
	json_t *value;
	json_object_foreach(file, name, value)
	{
		size_t i = 0;
		while (i < AX_COUNT(names) && strcmp(name, names[i]) != 0)
			i++;
		if (i == AX_COUNT(names))
			return ax_fail(err, AX_INVALID, name, "policy: there is no member '%s'", name);
	}
	return AX_OK;
}

static enum ax_status read_members(struct policy *p, struct ax_err *err)
{
	enum ax_status st = check_names(p->file, err);
	if (st == AX_OK)
		st = read_bool(p->file, "allow_exec", &p->allow_exec, err);
	if (st == AX_OK)
		st = read_bool(p->file, "allow_scripts", &p->allow_scripts, err);
	if (st == AX_OK)
		st = read_list(p->file, "users", &p->users, err);
	if (st == AX_OK)
		st = read_list(p->file, "programs", &p->programs, err);
	if (st == AX_OK)
		st = read_list(p->file, "dirs", &p->dirs, err);
	if (st == AX_OK)
		st = read_list(p->file, "http_allow", &p->http_allow, err);
	if (st == AX_OK)
		st = read_list(p->file, "deny_env", &p->deny_env, err);
	p->cgroup = json_string_value(json_object_get(p->file, "cgroup"));
	return st;
}

enum ax_status policy_load(struct policy *p, const char *path, struct ax_err *err)
{
	*p = (struct policy){ 0 };
	if (!path)
		return AX_OK;
	struct stat st;
	if (stat(path, &st) < 0)
		return ax_fail(err, AX_INVALID, "policy", "cannot read the policy %s: %s", path, strerror(errno));
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return ax_fail(err, AX_INVALID, "policy",
			"the policy %s can be written by others than its owner: chmod go-w", path);
	json_error_t where;
	p->file = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
	if (!json_is_object(p->file))
		return ax_fail(err, AX_INVALID, "policy", "the policy %s is not a JSON object: line %d: %s", path,
			where.line, where.text);
	return read_members(p, err);
}

void policy_dev(struct policy *p)
{
	p->dev = true;
	p->allow_exec = true;
	p->allow_scripts = true;
}

void policy_done(struct policy *p)
{
	json_decref(p->file);
	*p = (struct policy){ 0 };
}

/* ---- asking */

static bool lists(json_t *list, const char *text)
{
	size_t i;
	json_t *entry;
	json_array_foreach(list, i, entry)
	{
		if (strcmp(json_string_value(entry), text) == 0)
			return true;
	}
	return false;
}

enum ax_status policy_check_kind(const struct policy *p, bool script, struct ax_err *err)
{
	if (!p->allow_exec)
		return ax_fail(err, AX_DENIED, "executor",
			"process tasks are off on this worker: its own policy turns them on (allow_exec)");
	if (script && !p->allow_scripts)
		return ax_fail(err, AX_DENIED, "script",
			"scripts are off on this worker: its own policy turns them on (allow_scripts), or use argv");
	return AX_OK;
}

static bool is_plain_path(const char *path)
{
	return path[0] == '/' && !strstr(path, "/../") && !strstr(path, "/./") && !strstr(path, "//") &&
		!(strlen(path) >= 3 && strcmp(path + strlen(path) - 3, "/..") == 0);
}

/* An entry that ends in '/' names all below it. */
static bool covers(json_t *list, const char *path, bool folders)
{
	size_t i;
	json_t *value;
	json_array_foreach(list, i, value)
	{
		const char *entry = json_string_value(value);
		size_t len = strlen(entry);
		bool below = entry[len - 1] == '/' && strncmp(path, entry, len) == 0 && path[len];
		bool folder = folders && strncmp(path, entry, len) == 0 && path[len] == '/';
		bool same = strcmp(path, entry) == 0 && (folders || entry[len - 1] != '/');
		if (same || below || folder)
			return true;
	}
	return false;
}

enum ax_status policy_check_program(
	const struct policy *p, const char *path, const struct policy_user *user, struct ax_err *err)
{
	if (path[0] != '/')
		return ax_fail(err, AX_INVALID, "argv", "argv[0] is an absolute path, not '%s'", path);
	if (!p->programs)
		return AX_OK;
	if (!is_plain_path(path) || !covers(p->programs, path, false))
		return ax_fail(err, AX_DENIED, "argv", "the worker's policy does not list the program %s", path);
	struct stat st;
	if (stat(path, &st) == 0 && ((st.st_uid != 0 && st.st_uid != user->uid) || (st.st_mode & (S_IWGRP | S_IWOTH))))
		return ax_fail(err, AX_DENIED, "argv",
			"the program %s belongs to another user or can be written by others: it may have been swapped",
			path);
	return AX_OK;
}

enum ax_status policy_check_cwd(const struct policy *p, const char *path, struct ax_err *err)
{
	if (path[0] != '/')
		return ax_fail(err, AX_INVALID, "cwd", "cwd is an absolute path, not '%s'", path);
	if (p->dirs && (!is_plain_path(path) || !covers(p->dirs, path, true)))
		return ax_fail(err, AX_DENIED, "cwd", "the worker's policy does not list the folder %s", path);
	return AX_OK;
}

enum ax_status policy_check_env(const struct policy *p, const char *name, bool script, struct ax_err *err)
{
	bool denied = ax_env_is_denied(name, script);
	size_t i;
	json_t *entry;
	json_array_foreach(p->deny_env, i, entry) denied = denied || ax_env_matches(json_string_value(entry), name);
	if (denied)
		return ax_fail(err, AX_DENIED, "env", "a task may not set the environment variable %s", name);
	return AX_OK;
}

/* ---- users */

static enum ax_status look_up(const struct passwd *pw, struct policy_user *user, struct ax_err *err)
{
	user->uid = pw->pw_uid;
	user->gid = pw->pw_gid;
	snprintf(user->name, sizeof(user->name), "%s", pw->pw_name);
	snprintf(user->home, sizeof(user->home), "%s", pw->pw_dir && pw->pw_dir[0] == '/' ? pw->pw_dir : "/");
	user->n_groups = (int)AX_COUNT(user->groups);
	if (getgrouplist(pw->pw_name, pw->pw_gid, user->groups, &user->n_groups) < 0)
		return ax_fail(err, AX_DENIED, "user", "user %s is in more than %d groups", pw->pw_name,
			(int)AX_COUNT(user->groups));
	return AX_OK;
}

static enum ax_status own_user(struct policy_user *user, struct ax_err *err)
{
	const struct passwd *pw = getpwuid(geteuid());
	if (pw)
		return look_up(pw, user, err);
	*user = (struct policy_user){ .uid = geteuid(), .gid = getegid() };
	snprintf(user->name, sizeof(user->name), "%u", (unsigned)geteuid());
	snprintf(user->home, sizeof(user->home), "/");
	return AX_OK;
}

enum ax_status policy_user(const struct policy *p, const char *name, struct policy_user *ret_user, struct ax_err *err)
{
	struct policy_user own = { 0 };
	struct policy_user user = { 0 };
	enum ax_status st = own_user(&own, err);
	if (st != AX_OK)
		return st;
	bool root = geteuid() == 0;
	if (!name && root && !p->dev)
		name = json_string_value(json_array_get(p->users, 0));
	bool is_own = !name || strcmp(name, own.name) == 0;
	if (is_own && (p->dev || !root)) {
		*ret_user = own;
		return AX_OK;
	}
	if (is_own)
		return ax_fail(err, AX_DENIED, "user",
			"this worker runs as root and no task does: name run-as users in its policy (users)");
	if (!lists(p->users, name))
		return ax_fail(err, AX_DENIED, "user", "the worker's policy does not list the user %s", name);
	if (!root)
		return ax_fail(err, AX_DENIED, "user", "this worker does not run as root and cannot become %s", name);
	const struct passwd *pw = getpwnam(name);
	if (!pw)
		return ax_fail(err, AX_DENIED, "user", "there is no user %s on the worker", name);
	if (pw->pw_uid == 0)
		return ax_fail(err, AX_DENIED, "user", "no task runs as root");
	st = look_up(pw, &user, err);
	user.change = true;
	if (st == AX_OK)
		*ret_user = user;
	return st;
}

bool policy_allows_http(const struct policy *p, const char *host, int port)
{
	char want[300];
	snprintf(want, sizeof(want), strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
	size_t i;
	json_t *entry;
	json_array_foreach(p->http_allow, i, entry)
	{
		if (strcasecmp(json_string_value(entry), want) == 0)
			return true;
	}
	return false;
}
