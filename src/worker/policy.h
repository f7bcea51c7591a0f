#ifndef AX_WORKER_POLICY_H
#define AX_WORKER_POLICY_H

/* What this machine lets runs do. It is the worker's own file, beyond the reach of any server: a JSON object, every
 * member optional, unknown ones refused. Without a file process tasks are off and HTTP reaches public addresses only.
 *
 *   allow_exec     true: argv tasks may run
 *   allow_scripts  true: script tasks may run (with allow_exec)
 *   users          names that tasks may run as; the first is the default of a worker that runs as root
 *   programs       absolute paths, or folders ending in '/'; absent: any. Listed programs must belong to root or to
 *                  the run-as user and be writable by nobody else
 *   dirs           folders below which tasks may start; absent: any
 *   http_allow     "host:port" of loopback and private targets that http tasks may call
 *   deny_env       more names that tasks may not set ("NAME" or "NAME*")
 *   cgroup         cgroup v2 folder, delegated to this worker, in which each task gets a leaf */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

struct policy {
	json_t *file; /* owns every text below */
	bool dev;
	bool allow_exec;
	bool allow_scripts;
	json_t *users, *programs, *dirs, *http_allow, *deny_env; /* arrays of strings, or NULL */
	const char *cgroup;
};

/* Reads the file at `path`; NULL = the default policy. */
enum ax_status policy_load(struct policy *policy, const char *path, struct ax_err *err);
/* --dev: process tasks and scripts as the user who started it, loopback HTTP. */
void policy_dev(struct policy *policy);
void policy_done(struct policy *policy);

struct policy_user {
	bool change; /* differs from the worker's own */
	uid_t uid;
	gid_t gid;
	char name[64];
	char home[512];
	gid_t groups[64];
	int n_groups;
};

/* AX_DENIED with a sentence for people unless the policy lets a task … */
enum ax_status policy_check_kind(const struct policy *policy, bool script, struct ax_err *err);
enum ax_status policy_check_program(
	const struct policy *policy, const char *path, const struct policy_user *user, struct ax_err *err);
enum ax_status policy_check_cwd(const struct policy *policy, const char *path, struct ax_err *err);
enum ax_status policy_check_env(const struct policy *policy, const char *name, bool script, struct ax_err *err);
/* … run as `name` (NULL: the default). */
enum ax_status policy_user(
	const struct policy *policy, const char *name, struct policy_user *ret_user, struct ax_err *err);
/* True when the policy names host:port (IPv6 as "[::1]:80"); case does not matter. */
bool policy_allows_http(const struct policy *policy, const char *host, int port);

#endif
