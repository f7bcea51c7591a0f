#ifndef AX_APP_CTX_H
#define AX_APP_CTX_H

/* What a service needs from the world, in one place. Owned by one thread. */

#include <stdatomic.h>

#include "base/arena.h"
#include "core/gid.h"
#include "port/clock.h"
#include "port/log.h"
#include "port/notify.h"
#include "port/rand.h"
#include "port/store.h"
#include "port/zones.h"

/* A server's number at its store; app/seat.h says how it comes by it. One for all contexts of the server. */
struct ax_seat {
	int64_t incarnation;          /* of this process, drawn when it takes its first number */
	_Atomic int64_t place;        /* the number, and up to when gids under it had been used; see seat.c */
	_Atomic int64_t mark_ms;      /* up to where it has raised the mark of its gids, as far as it was told */
	_Atomic int64_t renewed_mono; /* when the lease began last */
	const char *version;
};

/* How far ended runs are counted, see counts.h. */
struct ax_counting {
	int64_t upto;     /* those that ended before; 0 = not known */
	int64_t slice_ms; /* time whose runs are counted at once */
	int64_t n[32];    /* those of the minute that `upto` is in, by state */
	bool rests;       /* until the next minute is over */
};

struct ax_ctx {
	struct ax_store *store;
	struct ax_clock *clock;
	struct ax_rand *rand;
	struct ax_notify *notify;
	struct ax_log *log;
	struct ax_zones *zones;
	struct ax_arena *arena; /* reset by whoever calls a service, never by a service */

	/* This context is number `stripe` of those that share the seat; 0, 0: it is alone. */
	struct ax_seat *seat;
	int stripe, stripes;
	struct ax_gid_gen gids; /* for `place` */
	int64_t place;
	const char *server_name;
	/* Attempts are not ended for their leases before this instant: set at the start and after a gap, one lease
	 * ahead, so that a server that was away does not take its own silence for the workers'. */
	int64_t hold_leases_until;
	bool others_watch;     /* while this server holds back, another one is there that was there all the time */
	int64_t seen_ms;       /* now of the last tick: a gap shows here */
	int64_t stuck_seen_ms; /* when the rare sweep was made last */
	int64_t folded_ms;     /* when no failure was left to be counted into its group, last */
	int64_t counted_ms;    /* when ended runs were counted last */
	struct ax_counting counting, counting_next; /* where that stands, and will when its transaction is committed */
	int64_t kept_task;      /* retention of groups goes on behind this task; 0 = from the first */
	int64_t alerts_seen_ms; /* when alerts that only time shows were looked for last */
	/* A due queue leads: what comes due is taken from the store only when it is late by so much. 0 = none does. */
	int64_t queue_leads_ms;
	bool found_late; /* by this tick, although a queue leads */
	/* Shards that this transaction may still make; those of further fires are left to the next look. Only a
	 * measure against long transactions: set anew before each, and never wrong. */
	int64_t shards_left;
	int64_t written; /* runs that it made or changed: a sweep ends its transactions by it */
};

#endif
