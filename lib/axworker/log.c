#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/rfc3339.h"

enum { LINE_MAX_BYTES = 8 << 20 };

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

void axw_line_begin(const struct axw *w, struct axw_line *line, enum axw_level level, const char *event)
{
	struct timespec ts;
	char when[AX_RFC3339_SIZE];
	clock_gettime(CLOCK_REALTIME, &ts);
	ax_rfc3339_format((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000, when);
	line->level = level;
	ax_buf_init(&line->text, LINE_MAX_BYTES);
	ax_json_init(&line->json, &line->text);
	ax_json_obj(&line->json, NULL);
	ax_json_str(&line->json, "time", when);
	ax_json_str(&line->json, "level", level_names[level]);
	ax_json_str(&line->json, "event", event);
	ax_json_str(&line->json, "worker", w->name ? w->name : "");
}

void axw_line_end(const struct axw *w, struct axw_line *line)
{
	ax_json_obj_end(&line->json);
	if (!line->text.overflow && w->log)
		w->log(w->log_user, line->level, line->text.data);
	else if (!line->text.overflow)
		print(line->text.data);
	ax_buf_done(&line->text);
}

static bool is_head(const char *key)
{
	return strcmp(key, "time") == 0 || strcmp(key, "level") == 0 || strcmp(key, "event") == 0 ||
		strcmp(key, "worker") == 0;
}

void axw_log_json(struct axw *w, enum axw_level level, const char *event, json_t *members)
{
	struct axw_line line;
	const char *key;
	json_t *value;
	axw_line_begin(w, &line, level, event);
	json_object_foreach(members, key, value)
	{
		char *text = is_head(key) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		if (text)
			ax_json_raw(&line.json, key, text);
		free(text);
	}
	axw_line_end(w, &line);
	json_decref(members);
}

void axw_log(struct axw *w, enum axw_level level, const char *event, const char *members)
{
	axw_log_json(w, level, event, members ? json_loads(members, 0, NULL) : NULL);
}
