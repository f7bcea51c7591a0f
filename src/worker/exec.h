#ifndef AX_WORKER_EXEC_H
#define AX_WORKER_EXEC_H

/* The executor `exec`: process tasks, each under an ax-exec of its own (sys/attempt_dir.h). This process only starts
 * ax-exec, follows the output file and reads the status file; it does the same for attempts that it adopts, so a
 * restart is no special case. */

#include "axworker.h"
#include "policy.h"

struct exec;

/* Registers the executor, and takes up what an earlier process left in `state_dir`. Before axw_start. `shim` is the
 * path of ax-exec. */
struct exec *exec_new(struct axw *worker, const struct policy *policy, const char *state_dir, const char *shim);
void exec_close(struct exec *exec); /* from axw_on_close */
void exec_free(struct exec *exec);  /* after axw_wait */

#endif
