#ifndef AX_CORE_TASK_IDLE_H
#define AX_CORE_TASK_IDLE_H

/* Fields of a definition that are set and do nothing there, since they count only beside another: no fault, as one may
 * want to keep a value, but whoever saves it is told. */

#include "core/task.h"

enum { AX_IDLE_MAX = 32 };

struct ax_idle {
	const char *field;
	const char *needs; /* beside what it counts: "overlap allow" */
};

/* How many there are; a field at its preset is none. */
int ax_def_idle(const struct ax_task_def *def, struct ax_idle ret[AX_IDLE_MAX]);

#endif
