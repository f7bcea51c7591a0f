#ifndef AX_SERVER_DEFAULTS_H
#define AX_SERVER_DEFAULTS_H

/* A group's defaults: fields of the tasks that are created in it without them. They are taken when a task is saved and
 * stand in its definition from then on (docs/decisions/0009-defaults-are-taken-at-save.md). */

#include "core/task.h"
#include "server/call.h"

/* Are they fields that tasks may inherit, each of its kind and range? `text` is a JSON object. */
AX_MUST_USE enum ax_status ax_defaults_check(struct ax_call *c, const char *text, struct ax_err *err);

/* Puts those of the group into *def. A group that is not there has none: creating the task will say so. */
AX_MUST_USE enum ax_status ax_defaults_take(
	struct ax_call *c, const char *group_key, struct ax_task_def *def, struct ax_err *err);

#endif
