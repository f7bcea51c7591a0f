#ifndef AX_SERVER_TASK_READ_H
#define AX_SERVER_TASK_READ_H

/* A task's definition out of a JSON body. */

#include "core/task_def.h"
#include "server/call.h"

/* Fields that are there replace those of *def. */
void ax_read_def(struct ax_read *r, struct ax_task_def *def);

/* The same for one field. */
void ax_read_def_field(struct ax_read *r, const struct ax_def_field *field, struct ax_task_def *def);

/* Holds the parameter against the executor that is to take it. */
enum ax_status ax_check_def_param(
	struct ax_call *c, const struct ax_task_def *def, const char *path, struct ax_err *err);

#endif
