#include "exec_task.h"
#include "sys/crash_point.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "leftovers.h"

/* The descriptor of the locked lock file, which ax-exec inherits, or -1. */
static int make_files(struct task *t, const struct exec_spec *spec)
{
	const char *run = axw_run_json(t->attempt);
	int lock = openat(t->dir_fd, AX_ATTEMPT_LOCK, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && mkfifoat(t->dir_fd, AX_ATTEMPT_CONTROL, 0600) == 0 &&
		(!spec->stdin_text ||
			exec_write_file(t->dir_fd, AX_ATTEMPT_STDIN, spec->stdin_text, strlen(spec->stdin_text))) &&
		exec_write_file(t->dir_fd, AX_ATTEMPT_RUN, run, strlen(run)))
		return lock;
	int saved = errno;
	if (lock >= 0)
		close(lock);
	errno = saved;
	return -1;
}

static const char *make_cgroup(struct task *t, struct ax_arena *arena)
{
	const char *parent = t->exec->policy->cgroup;
	if (!parent)
		return NULL;
	const char *leaf = ax_sprintf(arena, "%s/ax-%s-%" PRId64, parent, axw_gid(t->attempt), axw_fence(t->attempt));
	(void)mkdir(leaf, 0755); /* ax-exec says it when there is none */
	return leaf;
}

static char **shim_argv(struct task *t, const struct exec_spec *spec, struct ax_arena *arena)
{
	const char *head[24];
	size_t n = 0;
	head[n++] = "ax-exec";
	head[n++] = "--dir";
	head[n++] = t->dir;
	head[n++] = "--cwd";
	head[n++] = spec->cwd;
	head[n++] = "--timeout-ms";
	head[n++] = ax_sprintf(arena, "%" PRId64, axw_timeout_ms(t->attempt));
	head[n++] = "--grace-ms";
	head[n++] = ax_sprintf(arena, "%" PRId64, axw_grace_ms(t->attempt));
	head[n++] = "--deadline-ms";
	head[n++] = ax_sprintf(arena, "%" PRId64, axw_deadline_ms(t->attempt));
	if (spec->user.change) {
		head[n++] = "--uid";
		head[n++] = ax_sprintf(arena, "%u", (unsigned)spec->user.uid);
		head[n++] = "--gid";
		head[n++] = ax_sprintf(arena, "%u", (unsigned)spec->user.gid);
		const char *groups = "";
		for (int i = 0; i < spec->user.n_groups; i++)
			groups = ax_sprintf(arena, "%s%s%u", groups, i ? "," : "", (unsigned)spec->user.groups[i]);
		head[n++] = "--groups";
		head[n++] = groups;
	}
	const char *leaf = make_cgroup(t, arena);
	if (leaf) {
		head[n++] = "--cgroup";
		head[n++] = leaf;
	}
	head[n++] = "--";
	size_t tail = 0;
	while (spec->argv[tail])
		tail++;
	char **argv = ax_alloc_array(arena, n + tail + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		argv[i] = ax_strdup(arena, head[i]);
	memcpy(argv + n, spec->argv, tail * sizeof(char *));
	return argv;
}

/* The environment with the mark that its leftovers are known by, and AX_PROGRESS, where the process says how far it is.
 * One that runs as another user cannot reach the folder and gets no such file. */
static char **environment(struct task *t, const struct exec_spec *spec, struct ax_arena *arena)
{
	char mark[LEFTOVERS_MARK];
	char dir[PATH_MAX];
	size_t n = 0;
	while (spec->envp[n])
		n++;
	char **envp = ax_alloc_array(arena, n + 3, sizeof(char *));
	memcpy(envp, spec->envp, n * sizeof(char *));
	leftovers_mark(t->dir_fd, mark);
	envp[n++] = ax_strdup(arena, mark);
	if (!spec->user.change && realpath(t->dir, dir))
		envp[n++] = ax_sprintf(arena, "AX_PROGRESS=%s/%s", dir, EXEC_PROGRESS);
	envp[n] = NULL;
	return envp;
}

/* posix_spawn, and never fork: this process may be large. */
static int spawn_shim(struct task *t, const struct exec_spec *spec, int lock)
{
	struct ax_arena arena = { 0 };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	sigset_t all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, lock, AX_ATTEMPT_LOCK_FD);
	posix_spawn_file_actions_addclosefrom_np(&files, AX_ATTEMPT_LOCK_FD + 1);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int rc = posix_spawn(
		&t->pid, t->exec->shim, &files, &attr, shim_argv(t, spec, &arena), environment(t, spec, &arena));
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	ax_arena_done(&arena);
	if (rc)
		t->pid = 0;
	return rc;
}

int exec_start_shim(struct task *t, const struct exec_spec *spec)
{
	int lock = make_files(t, spec);
	if (lock < 0)
		return errno;
	AX_CRASHPOINT("exec", "files_made");
	int rc = spawn_shim(t, spec, lock);
	close(lock); /* ax-exec holds it now */
	return rc;
}
