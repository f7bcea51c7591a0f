#include "exec_task.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void exec_remove_dir(const char *dir)
{
	DIR *d = opendir(dir);
	if (!d)
		return;
	for (const struct dirent *e; (e = readdir(d));)
		(void)unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	(void)rmdir(dir);
}

bool exec_write_file(int dir_fd, const char *name, const char *bytes, size_t len)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes += n;
		len -= (size_t)n;
	}
	return close(fd) == 0 && len == 0;
}

/* The text of a small file in `arena`, or NULL. */
char *exec_read_file(struct ax_arena *arena, int dir_fd, const char *name, size_t max)
{
	struct stat st;
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *text = NULL;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 && (uint64_t)st.st_size <= max) {
		text = ax_alloc(arena, (size_t)st.st_size + 1);
		ssize_t n = read(fd, text, (size_t)st.st_size);
		text[n > 0 ? n : 0] = 0;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

bool exec_read_status(int dir_fd, struct ax_attempt_status *ret_status)
{
	struct ax_arena arena = { 0 };
	char *text = exec_read_file(&arena, dir_fd, AX_ATTEMPT_STATUS, AX_ATTEMPT_STATUS_MAX);
	bool good = text && ax_attempt_status_parse(text, strlen(text), ret_status);
	ax_arena_done(&arena);
	return good;
}

bool exec_is_locked(int dir_fd)
{
	int fd = openat(dir_fd, AX_ATTEMPT_LOCK, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool locked = flock(fd, LOCK_EX | LOCK_NB) < 0;
	close(fd);
	return locked;
}

void exec_order(int dir_fd, enum ax_attempt_order_kind kind, int64_t value)
{
	struct ax_attempt_order o = { .kind = (uint32_t)kind, .value = value };
	int fd = openat(dir_fd, AX_ATTEMPT_CONTROL, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;                             /* ax-exec is gone; the look at its lock tells */
	ssize_t ignored = write(fd, &o, sizeof(o)); /* full only if it is stopped: then its deadline acts */
	(void)ignored;
	close(fd);
}
