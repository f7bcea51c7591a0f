#ifndef AX_APP_COUNTS_H
#define AX_APP_COUNTS_H

/* How many runs there are, by state.
 *
 * Live ones are counted at each look. Those that ended are counted minute by minute into rows of their own: a day may
 * hold millions. A minute is counted once more with the next one, since a transaction that ended a run may still have
 * been on its way; the rows only say what the runs say, so that counting twice changes nothing. Where many runs end, a
 * minute takes many transactions, each of them short: schedules wait for them. */

#include "app/ctx.h"

/* Is it time for another step? */
bool ax_counts_are_due(const struct ax_ctx *ctx, int64_t now);

/* A chore: one step from ctx->counting to ctx->counting_next, which is where counting stands once it is committed. */
enum ax_status ax_counts_fold(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err);

/* Live runs of each state, and those that ended in the last 24 hours, to the minute. Without shards. */
enum ax_status ax_counts_of_a_day(struct ax_tx *tx, int64_t now, int64_t ret_by_state[32], struct ax_err *err);

#endif
