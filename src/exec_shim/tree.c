#include "shim.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The parent of a process, or 0. */
static pid_t parent_of(int proc_fd, const char *pid)
{
	char path[32];
	char stat[512];
	snprintf(path, sizeof(path), "%.20s/stat", pid);
	int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	stat[n] = 0;
	/* "pid (name) state ppid": the name may hold anything, also ')'. */
	const char *p = strrchr(stat, ')');
	int ppid = 0;
	return p && sscanf(p, ") %*c %d", &ppid) == 1 ? ppid : 0;
}

/* /proc is read as a whole because the kernel's own list of children is an option that some are built without;
 * by getdents because readdir takes memory. */
void shim_kill_children(void)
{
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return;
	pid_t self = getpid();
	static _Alignas(struct dirent64) char buf[32768];
	for (;;) {
		long n = syscall(SYS_getdents64, proc_fd, buf, sizeof(buf));
		if (n <= 0)
			break;
		for (long at = 0; at < n;) {
			const struct dirent64 *d = (const void *)(buf + at);
			at += d->d_reclen;
			if (isdigit((unsigned char)d->d_name[0]) && parent_of(proc_fd, d->d_name) == self)
				kill((pid_t)strtol(d->d_name, NULL, 10), SIGKILL);
		}
	}
	close(proc_fd);
}

void shim_kill_cgroup(const char *leaf)
{
	int dir = open(leaf, O_DIRECTORY | O_CLOEXEC);
	int fd = dir < 0 ? -1 : openat(dir, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t ignored = write(fd, "1", 1); /* the sweep below does what this cannot */
		(void)ignored;
		close(fd);
	}
	if (dir >= 0)
		close(dir);
}
