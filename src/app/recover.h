#ifndef AX_APP_RECOVER_H
#define AX_APP_RECOVER_H

#include "app/ctx.h"

/* What a server does first: makes sure of the group "default", takes a number (app/seat.h, for the seat of `ctx`) and
 * holds back lease endings for one full lease. Fires that came due meanwhile are made up by the first ax_tick. Further
 * contexts of the server, for other threads, only need the seat, and their stripe of it. On a clean stop:
 * ax_seat_leave. */
enum ax_status ax_recover(struct ax_ctx *ctx, const char *version, struct ax_err *err) AX_MUST_USE;

/* A chore of one server at a time (app/chore.h): to another one's question there is nothing left to do.
 *
 * Finished runs and events older than `keep_ms` go, and runs that their group keeps no longer (app/keep.h), in small
 * batches of the oldest, and with them workers that are gone for good, expired credentials and idempotency keys;
 * *ret_deleted 0 = nothing left to do. */
enum ax_status ax_retain(struct ax_ctx *ctx, int64_t keep_ms, int *ret_deleted, struct ax_err *err) AX_MUST_USE;

#endif
