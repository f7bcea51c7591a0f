#ifndef AX_WORKER_LEFTOVERS_H
#define AX_WORKER_LEFTOVERS_H

#include <stdint.h>

/* Ends the processes of an attempt whose ax-exec was killed and could not do it: those with the attempt's AX_GID and
 * AX_FENCE in their environment. ax-exec's own child dies with it; this is for that child's descendants. */
void leftovers_kill(const char *gid, int64_t fence);

#endif
