#ifndef AX_CLI_CRONTAB_TASK_H
#define AX_CLI_CRONTAB_TASK_H

/* What a crontab line becomes: the JSON of a task (docs/crontab.md says why each field is as it is). Pure. */

#include <jansson.h>
#include "cli/crontab.h"

struct ax_crontab_task {
	const char *group;
	const char *name;
	const char *zone;
	const char *run_as; /* param.user, or NULL: the worker's own */
};

/* NULL with *ret_why when AX cannot take the line: a parameter larger than 64 KiB, SHELL or HOME not absolute. */
json_t *ax_crontab_task_make(struct ax_arena *arena, const struct ax_crontab_entry *entry,
	const struct ax_crontab_task *as, const char **ret_why);

#endif
