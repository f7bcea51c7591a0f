#ifndef AX_PORT_WRAP_TRACE_H
#define AX_PORT_WRAP_TRACE_H

/* A store that delegates to another one and tells the log of every transaction and every operation in it, with its
 * arguments and results, at debug level: "store.begin", "store.op", "store.end". For finding out what a service does.
 */

#include "base/buf.h"
#include "port/log.h"
#include "port/store.h"

struct ax_trace_store {
	struct ax_store store; /* the port to use */
	struct ax_store *inner;
	struct ax_log *log;
	struct ax_buf line;
	int64_t transactions;
};

void ax_trace_store_init(struct ax_trace_store *trace, struct ax_store *inner, struct ax_log *log);
void ax_trace_store_done(struct ax_trace_store *trace);

#endif
