#ifndef AX_BENCH_QUIET_H
#define AX_BENCH_QUIET_H

/* A world in which nobody listens, for programs that measure the services themselves: notices lead nowhere, every zone
 * is UTC, numbers are drawn in the same order each time. What goes wrong ends the program. */

#include <time.h>

#include "app/ctx.h"

extern int64_t quiet_now; /* what the clock says: the program moves it */

struct ax_ctx quiet_ctx(struct ax_store *store, struct ax_arena *arena);

void must(enum ax_status status, const struct ax_err *err);
double read_s(clockid_t clock);

#endif
