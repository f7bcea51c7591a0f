#ifndef AX_APP_SEAT_H
#define AX_APP_SEAT_H

/* A server's seat at a store: its number, which is part of every gid that it makes, under a lease.
 *
 * A start takes the lowest number that nobody has. The lease is renewed every AX_SEAT_RENEW_MS; a server that could not
 * renew it for AX_SEAT_STALE_MS makes no gids and fires nothing until it can again, and says so. After AX_SEAT_LEASE_MS
 * the number may be another's; a server that finds it so takes another one and goes on. Whoever has a number starts its
 * gids above the mark that is stored for it, and only the incarnation that has the number raises the mark: no lease
 * that was lost, no clock and no pause makes a gid twice.
 *
 * A store may forget its newest transactions: a replica takes over that had not heard of them. What was raised is then
 * raised again, and who is not known there any more takes another number.
 *
 * All contexts of a server share its seat; one thread may renew it while others look. In a store that one process alone
 * has open nothing is kept apart: the seat is the same again at once, and never stale. */

#include "app/ctx.h"

/* Takes a seat, with a mark above everything that was used before under its number, and releases what its last owner
 * left: messages that it was sending. AX_UNAVAILABLE: all numbers are taken. */
enum ax_status ax_seat_take(struct ax_ctx *ctx, struct ax_err *err) AX_MUST_USE;

/* Renews the lease and the mark, and releases what servers left whose leases have lapsed. Takes another seat when this
 * one is somebody else's by now. ax_tick does it when it is time; a thread that is never held up may do it beside. */
enum ax_status ax_seat_renew(struct ax_ctx *ctx, struct ax_err *err) AX_MUST_USE;

/* Does the store, whose servers these are, know this one under its number, and how far its gids have come? Else it is
 * time to renew the lease. `mark_ms`: what ax_seat_mark said before the rows were read. */
bool ax_seat_is_known(const struct ax_seat *seat, int64_t mark_ms, const struct ax_servers *servers);
int64_t ax_seat_mark(const struct ax_seat *seat);

/* Is it time to renew it? */
bool ax_seat_is_due(struct ax_ctx *ctx);

/* AX_UNAVAILABLE, and why, when the lease was not renewed for too long. */
enum ax_status ax_seat_check(struct ax_ctx *ctx, struct ax_err *err) AX_MUST_USE;

/* On a clean stop: gives the number back, and the leases on chores. */
enum ax_status ax_seat_leave(struct ax_ctx *ctx, struct ax_err *err) AX_MUST_USE;

/* Makes sure that the context's gids are made under the seat's number, and that `count` more can be made. */
enum ax_status ax_seat_ensure_gids(struct ax_ctx *ctx, int64_t count, struct ax_err *err) AX_MUST_USE;

int64_t ax_seat_number(const struct ax_seat *seat);

#endif
