#ifndef AX_SERVER_BIZ_PARAM_H
#define AX_SERVER_BIZ_PARAM_H

/* The parameters of the built-in executors `exec` and `http`, as docs/protocol.md defines them. A parameter that no
 * worker could run is refused when the task is saved, not when it fires. Other executors take any JSON. */

#include "server/json_read.h"

/* `value` may be NULL (none given); `path` stands before "biz_param" in the names of fields. */
AX_MUST_USE enum ax_status ax_biz_param_check(
	const char *executor_key, json_t *value, const char *path, struct ax_arena *arena, struct ax_err *err);

#endif
