#ifndef AX_WORKER_CRASH_POINTS_H
#define AX_WORKER_CRASH_POINTS_H

/* All places of ax-worker where a test may end it (sys/crash_point.h), one a line. Built with -Dcrash_points=true only.
 */
int crash_points_print(void);

#endif
