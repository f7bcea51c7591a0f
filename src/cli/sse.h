#ifndef AX_CLI_SSE_H
#define AX_CLI_SSE_H

/* Server-sent events: bytes in, events out. Pure. */

#include <stdbool.h>
#include "base/buf.h"

struct ax_sse {
	struct ax_buf line;
	struct ax_buf event; /* "" means "message" */
	struct ax_buf data;
	bool skip_lf; /* the last byte was '\r' */
};

void ax_sse_init(struct ax_sse *sse, size_t max_bytes);
void ax_sse_done(struct ax_sse *sse);

/* Feeds bytes; calls on_event for each event that is complete. False when on_event asked to stop or when an event is
 * larger than max_bytes. */
bool ax_sse_feed(struct ax_sse *sse, const char *bytes, size_t len,
	bool (*on_event)(void *ctx, const char *name, const char *data), void *ctx);

#endif
