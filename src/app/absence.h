#ifndef AX_APP_ABSENCE_H
#define AX_APP_ABSENCE_H

/* What a server makes of its own absence: a start, a pause, a database that was away, a clock that was set.
 *
 * It waits a whole lease before it ends an attempt (ctx->hold_leases_until), since the silence may be its own. What is
 * overdue meanwhile it leaves to another server that was there all the time (ctx->others_watch), and else gives it that
 * long. When the clock went back, leases and looks that lie too far ahead are brought near. */

#include "app/ctx.h"

/* At the beginning of a tick. */
enum ax_status ax_absence_look(struct ax_ctx *ctx, int64_t now, struct ax_err *err) AX_MUST_USE;

#endif
