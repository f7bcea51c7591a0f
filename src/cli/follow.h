#ifndef AX_CLI_FOLLOW_H
#define AX_CLI_FOLLOW_H

/* The output of a run, once or until its end. Bytes go to standard output as the task wrote them; on a terminal,
 * control characters other than newline and tab are shown as U+FFFD. With --json one chunk a line. */

#include "cli/ctl.h"

/* fence < 0: of all attempts. */
int ax_follow_print_once(struct ax_ctl *ctl, const char *gid, int64_t fence);

/* Prints what is there and what comes until the run ends: told by the live stream when there is one, else asked for
 * again and again. AX_EXIT_OK when the run succeeded, AX_EXIT_NO when it ended otherwise. */
int ax_follow_run(struct ax_ctl *ctl, const char *gid);

#endif
