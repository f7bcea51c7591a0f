#include "leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENVIRON_MAX = 256 << 10, ROUNDS = 5, ENTRIES = 3 };

static bool has_entry(const char *env, size_t len, const char *entry)
{
	size_t n = strlen(entry) + 1;
	const char *found = memmem(env, len, entry, n);
	return found && (found == env || found[-1] == 0);
}

static bool belongs(const char *pid, const char *const entries[ENTRIES])
{
	static char env[ENVIRON_MAX];
	char path[64];
	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size_t len = 0;
	for (ssize_t n; len < sizeof(env) - 1 && (n = read(fd, env + len, sizeof(env) - 1 - len)) > 0;)
		len += (size_t)n;
	close(fd);
	env[len] = 0;
	for (int i = 0; i < ENTRIES; i++)
		if (!has_entry(env, len + 1, entries[i]))
			return false;
	return true;
}

static int kill_round(const char *const entries[ENTRIES])
{
	int killed = 0;
	DIR *proc = opendir("/proc");
	if (!proc)
		return 0;
	for (const struct dirent *e; (e = readdir(proc));) {
		if (isdigit((unsigned char)e->d_name[0]) && belongs(e->d_name, entries) &&
			kill((pid_t)strtol(e->d_name, NULL, 10), SIGKILL) == 0)
			killed++;
	}
	closedir(proc);
	return killed;
}

/* By device and inode: a path may be another folder for a process in a container. */
void leftovers_mark(int dir_fd, char ret_entry[LEFTOVERS_MARK])
{
	struct stat st;
	ret_entry[0] = 0;
	if (fstat(dir_fd, &st) == 0)
		snprintf(ret_entry, LEFTOVERS_MARK, "AX_FOLDER=%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
}

void leftovers_kill(const char *gid, int64_t fence, int dir_fd)
{
	char gid_entry[40];
	char fence_entry[40];
	char folder_entry[LEFTOVERS_MARK];
	snprintf(gid_entry, sizeof(gid_entry), "AX_GID=%s", gid);
	snprintf(fence_entry, sizeof(fence_entry), "AX_FENCE=%" PRId64, fence);
	leftovers_mark(dir_fd, folder_entry);
	const char *const entries[ENTRIES] = { gid_entry, fence_entry, folder_entry };
	for (int i = 0; i < ROUNDS && kill_round(entries) > 0; i++)
		continue; /* what they forked meanwhile */
}
