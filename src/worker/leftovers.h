#ifndef AX_WORKER_LEFTOVERS_H
#define AX_WORKER_LEFTOVERS_H

#include <stdint.h>

enum { LEFTOVERS_MARK = 64 };

/* The entry of an attempt's environment that tells it from those of other workers of the machine: a gid is only unique
 * in one installation. `dir_fd` is the attempt's folder. "" when it cannot be looked at. */
void leftovers_mark(int dir_fd, char ret_entry[LEFTOVERS_MARK]);

/* Ends the processes of an attempt whose ax-exec was killed and could not do it: those with the attempt's AX_GID,
 * AX_FENCE and mark in their environment. ax-exec's own child dies with it; this is for that child's descendants. */
void leftovers_kill(const char *gid, int64_t fence, int dir_fd);

#endif
