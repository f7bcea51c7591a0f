#include "worker.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "sys/attempt_dir.h"

/* The execution journal: what was really executed and what a server confirmed, for ax-check to hold against what was
 * recorded. A line is on disk before the work that it announces begins, and one write, so that nothing but the last
 * line can be torn. What was told need not survive a power cut: it says nothing that the server does not know. */

bool axw_journal_open(struct axw *w, const char *path)
{
	w->journal_fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	return !path || w->journal_fd >= 0;
}

void axw_journal_add(struct axw *w, const struct axw_attempt *a, const char *event, const char *name, const char *value)
{
	char line[400], more[40] = "";
	struct timespec now;
	if (w->journal_fd < 0)
		return;
	if (name)
		snprintf(more, sizeof(more), ",\"%s\":\"%s\"", name, value);
	clock_gettime(CLOCK_REALTIME, &now);
	int len = snprintf(line, sizeof(line),
		"{\"event\":\"%s\",\"gid\":\"%s\",\"fence\":%" PRId64 ",\"worker\":\"%s\",\"incarnation\":\"%s\","
		"\"mono_ms\":%" PRId64 ",\"time_ms\":%" PRId64 "%s}\n",
		event, a->gid_text, a->id.fence, w->name, w->incarnation, ax_boottime_ms(),
		(int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, more);
	bool waits = strcmp(event, "told") != 0;
	if (write(w->journal_fd, line, (size_t)len) != len || (waits && fdatasync(w->journal_fd) != 0))
		axw_log(w, AXW_ERROR, "journal_not_written", NULL);
}

void axw_journal_close(struct axw *w)
{
	if (w->journal_fd >= 0)
		close(w->journal_fd);
	w->journal_fd = -1;
}
