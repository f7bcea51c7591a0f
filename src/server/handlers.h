#ifndef AX_SERVER_HANDLERS_H
#define AX_SERVER_HANDLERS_H

/* One function per route; see routes.def for what each serves and who may call it. */

#include "server/call.h"

#define AX_ROUTE(method, pattern, may, via, handler, body, summary)                                                    \
	enum ax_status handler(struct ax_call *c, struct ax_err *err);
#include "server/routes.def"
#undef AX_ROUTE

#endif
