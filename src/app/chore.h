#ifndef AX_APP_CHORE_H
#define AX_APP_CHORE_H

/* What one server at a time does, because two would only be in each other's way: counting failures into their groups,
 * looking for what deserves an alert, retention, going on with backfills, following calendars.
 *
 * The lease on a chore is a row. Each transaction of the chore locks it and looks whether it is still this server's;
 * so a chore that changed hands in the middle writes nothing any more, whatever clocks and pauses did, and the lease's
 * time only says who shall try. In a store that one process alone has open there is nobody to keep away, and no row. */

#include "app/ctx.h"

/* Runs `fn` in one transaction, if the chore is this server's or nobody's. *ret_mine: it was, and fn was called. */
enum ax_status ax_chore_run(
	struct ax_ctx *ctx, const char *chore, ax_tx_fn fn, void *arg, bool *ret_mine, struct ax_err *err) AX_MUST_USE;

#endif
