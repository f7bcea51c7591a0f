#ifndef AX_ADAPTERS_SQL_LATER_H
#define AX_ADAPTERS_SQL_LATER_H

/* Rows that are put beside what happens: attempts, what a join has seen, how failures spread. Where a statement is a
 * trip they are gathered, and written together before a statement that looks at their table, and at the end of the
 * transaction.
 */

#include "adapters/sql/sql.h"

/* `id`: puts a row of the statement's type. What it has to say to a row that is there already, nobody waits for. */
enum ax_status ax_sql_put_later(struct ax_tx *tx, enum ax_sql_id id, const void *row, struct ax_err *err);
/* Writes the rows of the tables in `touch` (enum ax_sql_touch). */
enum ax_status ax_sql_later_write(struct ax_tx *tx, unsigned touch, struct ax_err *err);

#endif
