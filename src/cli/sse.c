#include "cli/sse.h"

#include <string.h>

void ax_sse_init(struct ax_sse *sse, size_t max_bytes)
{
	*sse = (struct ax_sse){ 0 };
	ax_buf_init(&sse->line, max_bytes);
	ax_buf_init(&sse->event, 64);
	ax_buf_init(&sse->data, max_bytes);
}

void ax_sse_done(struct ax_sse *sse)
{
	ax_buf_done(&sse->line);
	ax_buf_done(&sse->event);
	ax_buf_done(&sse->data);
}

/* The value after "name:" and at most one blank, NULL when the line is another field. */
static const char *field(const char *line, const char *name)
{
	size_t len = strlen(name);
	if (strncmp(line, name, len) != 0 || (line[len] != ':' && line[len] != '\0'))
		return NULL;
	const char *value = line + len + (line[len] == ':');
	return value + (*value == ' ');
}

/* One whole line; an empty one ends the event. */
static bool take_line(struct ax_sse *sse, bool (*on_event)(void *ctx, const char *name, const char *data), void *ctx)
{
	const char *line = sse->line.len > 0 ? sse->line.data : "";
	const char *value;
	bool go_on = true;
	if (sse->line.overflow || sse->data.overflow)
		return false;
	if (*line == '\0') {
		if (sse->data.len > 0) {
			sse->data.data[sse->data.len - 1] = '\0'; /* the newline after the last data line */
			go_on = on_event(ctx, sse->event.len > 0 ? sse->event.data : "message", sse->data.data);
		}
		ax_buf_clear(&sse->event);
		ax_buf_clear(&sse->data);
	} else if ((value = field(line, "data")) != NULL) {
		ax_buf_adds(&sse->data, value);
		ax_buf_addc(&sse->data, '\n');
	} else if ((value = field(line, "event")) != NULL) {
		ax_buf_clear(&sse->event);
		ax_buf_adds(&sse->event, value);
	}
	ax_buf_clear(&sse->line);
	return go_on;
}

bool ax_sse_feed(struct ax_sse *sse, const char *bytes, size_t len,
	bool (*on_event)(void *ctx, const char *name, const char *data), void *ctx)
{
	for (size_t i = 0; i < len; i++) {
		bool skip = sse->skip_lf && bytes[i] == '\n';
		sse->skip_lf = bytes[i] == '\r';
		if (skip)
			continue;
		if (bytes[i] != '\n' && bytes[i] != '\r')
			ax_buf_addc(&sse->line, bytes[i]);
		else if (!take_line(sse, on_event, ctx))
			return false;
	}
	return true;
}
