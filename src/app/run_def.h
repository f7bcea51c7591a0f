#ifndef AX_APP_RUN_DEF_H
#define AX_APP_RUN_DEF_H

#include "port/store.h"

/* The definition that a run executes: the version of its task that it was born with. */
enum ax_status ax_run_def(struct ax_tx *tx, const struct ax_run *run, struct ax_task_def *ret, struct ax_err *err);

#endif
