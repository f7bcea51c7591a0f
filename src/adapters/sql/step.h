#ifndef AX_ADAPTERS_SQL_STEP_H
#define AX_ADAPTERS_SQL_STEP_H

/* The usual steps in a run's life, and the statements that write what a step may change and nothing else: whatever is
 * written moves in the indexes that have it, in SQLite even when it stays the same. */

#include "adapters/sql/sql.h"

void ax_sql_steps_prepare(struct ax_sql_conn *conn);

/* The narrowest step that leads from one row to the other. AX_SQL_STEPS: none of them does. */
int ax_sql_step_of(const struct ax_sql_conn *conn, const struct ax_run *before, const struct ax_run *row);
/* Is all that the step writes the same in both? */
bool ax_sql_steps_alike(const struct ax_sql_conn *conn, int step, const struct ax_run *a, const struct ax_run *b);

/* Writes one run; also for AX_SQL_STEPS. */
enum ax_sql_id ax_sql_step_id(int step);
/* Writes many runs that took the step alike. */
enum ax_sql_id ax_sql_step_alike_id(int step);

#endif
