#ifndef AX_EXEC_SHIM_H
#define AX_EXEC_SHIM_H

/* ax-exec: runs one process attempt and ends the whole of it, whatever becomes of the worker.
 *
 * One thread, and no memory from the heap after the options are read: nothing here can fail half-way for lack of
 * memory, and the fork needs no care. See sys/attempt_dir.h for the files. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "sys/attempt_dir.h"

enum { SHIM_GROUPS_MAX = 64 };

struct shim_options {
	const char *dir;    /* the attempt's folder */
	const char *cwd;    /* where the program starts */
	const char *cgroup; /* cgroup v2 leaf, or NULL */
	char **argv;        /* the program, by path, and its arguments */
	bool set_user;      /* run as uid, gid and groups below */
	uid_t uid;
	gid_t gid;
	gid_t groups[SHIM_GROUPS_MAX];
	int n_groups;
	int64_t timeout_ms;  /* 0 = no limit */
	int64_t grace_ms;    /* between TERM and KILL when the time limit ends it */
	int64_t deadline_ms; /* CLOCK_BOOTTIME; INT64_MAX = none */
};

/* The program's process: becomes leader of its own session, drops rights, runs the program. Returns its pid once
 * the program runs; -1 with the stage and errno of what failed otherwise. `out_fd` becomes stdout and stderr. */
pid_t shim_spawn(const struct shim_options *opt, int dir_fd, int out_fd, struct ax_attempt_status *status);

/* Kills ax-exec's direct children. Orphans of the tree become its children (it is their subreaper), so rounds of
 * this and of waiting for them end every process that the task ever made. */
void shim_kill_children(void);

/* Kills all of a cgroup v2 leaf in one step; does nothing where the kernel cannot. */
void shim_kill_cgroup(const char *leaf);

#endif
