#include "exec_task.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 600 };

/* "42 1,200 of 2,800 rows", "42%", or words alone, which keep the percentage. */
static void say(struct task *t, char *line)
{
	line[strcspn(line, "\r\n")] = '\0';
	char *end = line;
	long percent = strtol(line, &end, 10);
	bool number = end != line && percent >= 0 && percent <= 100 && strchr("% \t", *end) != NULL;
	if (number)
		t->percent = (int)percent;
	else
		end = line;
	axw_progress(t->attempt, t->percent, end + strspn(end, "% \t"));
}

void exec_progress_look(struct task *t)
{
	struct stat st;
	char line[LINE_MAX_BYTES];
	if (fstatat(t->dir_fd, EXEC_PROGRESS, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
		(st.st_mtim.tv_sec == t->progress_seen.tv_sec && st.st_mtim.tv_nsec == t->progress_seen.tv_nsec))
		return;
	int fd = openat(t->dir_fd, EXEC_PROGRESS, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0) /* empty: it is being written */
		return;
	line[n] = '\0';
	t->progress_seen = st.st_mtim;
	say(t, line);
}
