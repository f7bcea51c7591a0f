#ifndef AX_SERVER_CRASH_POINTS_H
#define AX_SERVER_CRASH_POINTS_H

/* All places of ax-server where a test may end it (sys/crash_point.h), one a line. Built with -Dcrash_points=true only.
 */
int ax_crash_points_print(void);

#endif
