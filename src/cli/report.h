#ifndef AX_CLI_REPORT_H
#define AX_CLI_REPORT_H

/* How commands show answers: as JSON with --json, for people otherwise. On standard output. */

#include "cli/ctl.h"
#include "cli/print.h"

/* The list at `path`, up to `max` items (0: all): the command as a whole. */
int ax_report_list(struct ax_ctl *ctl, const char *path, int64_t max, const struct ax_column *columns);
/* The same of a list that has no pages (docs/api.md). */
int ax_report_whole_list(struct ax_ctl *ctl, const char *path, const struct ax_column *columns);

/* A part of an answer as a table under a title, for people; nothing when there are no rows. */
void ax_report_rows(const char *title, const json_t *rows, const struct ax_column *columns);

/* All members of an object that say something, one a line; members named …_time as times. */
void ax_report_object(struct ax_ctl *ctl, const json_t *object);

/* A run that came to be. Waits up to wait_ms (0: not) until it has ended, and the exit code says how. */
int ax_report_run(struct ax_ctl *ctl, const json_t *run, int64_t wait_ms);

/* "run 123 of default/nightly: FAILED (exit): sentence" */
void ax_report_run_line(struct ax_ctl *ctl, const json_t *run);

/* The warnings of an answer, one a line; nothing with --json, which shows them anyway. */
void ax_report_warnings(struct ax_ctl *ctl, const json_t *answer);

#endif
