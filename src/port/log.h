#ifndef AX_PORT_LOG_H
#define AX_PORT_LOG_H

/* Events, not sentences: a fixed name and fields. An error is logged once, where it is handled. */

#include "base/attr.h"

enum ax_log_level { AX_LOG_DEBUG, AX_LOG_INFO, AX_LOG_WARN, AX_LOG_ERROR };

struct ax_log;
struct ax_log_ops {
	/* `fields` is the inside of a JSON object, e.g. "\"gid\":\"17\"", or "". */
	void (*event)(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields);
};
struct ax_log {
	const struct ax_log_ops *ops;
};

#endif
