#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/rfc3339.h"

static const char *const level_names[] = { "debug", "info", "warn", "error" };

static void print(const char *line)
{
	/* One write a line, so that lines of several threads do not mix. */
	size_t len = strlen(line);
	char *copy = malloc(len + 1);
	if (!copy)
		return;
	memcpy(copy, line, len);
	copy[len] = '\n';
	ssize_t ignored = write(STDERR_FILENO, copy, len + 1); /* nobody left to tell */
	(void)ignored;
	free(copy);
}

void axw_log_json(struct axw *w, enum axw_level level, const char *event, json_t *members)
{
	struct timespec ts;
	char when[AX_RFC3339_SIZE];
	clock_gettime(CLOCK_REALTIME, &ts);
	ax_rfc3339_format((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000, when);
	json_t *line = json_pack("{s:s, s:s, s:s, s:s}", "time", when, "level", level_names[level], "event", event,
		"worker", w->name ? w->name : "");
	if (members)
		json_object_update_missing(line, members);
	json_decref(members);
	char *text = json_dumps(line, JSON_COMPACT);
	json_decref(line);
	if (!text)
		return;
	if (w->log)
		w->log(w->log_user, level, text);
	else
		print(text);
	free(text);
}

void axw_log(struct axw *w, enum axw_level level, const char *event, const char *members)
{
	axw_log_json(w, level, event, members ? json_loads(members, 0, NULL) : NULL);
}
