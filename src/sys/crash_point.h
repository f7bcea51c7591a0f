#ifndef AX_SYS_CRASH_POINT_H
#define AX_SYS_CRASH_POINT_H

/* Places where a test ends this process, to see that whatever is durable there is enough to go on from. Built with
 * -Dcrash_points=true only; a release holds none of them.
 *
 *   AX_CRASH=name:n:action[,…]   at the n-th time that `name` is passed: kill, stop (SIGSTOP), sleep=MS, or err (the
 *                                operation fails; only where it can) */

#include <stdbool.h>

#ifdef AX_CRASH_POINTS
#define AX_CRASHPOINT(step, what) ((void)ax_crash_point(step, what))
#define AX_CRASHPOINT_FAILS(step, what) ax_crash_point(step, what)
/* The name is step.what, in small letters. True: fail here. */
bool ax_crash_point(const char *step, const char *what);
#else
#define AX_CRASHPOINT(step, what) ((void)0)
#define AX_CRASHPOINT_FAILS(step, what) false
#endif

#endif
