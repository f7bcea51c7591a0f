#ifndef AX_CORE_GID_H
#define AX_CORE_GID_H

/* Run ids: 63 bits = 41 ms since 2024-01-01 · 10 server number · 12 sequence. Time-ordered, never reused.
 *
 * A generator makes ids only up to `high_ms`, an instant that its owner has stored durably beforehand; whoever takes
 * the server number over later starts above it. That holds across restarts, clock steps and lost rows.
 *
 * Several threads of a server have a generator each, under the one number: the sequence of each millisecond is divided
 * into stripes, one for each of them. */

#include <stdbool.h>
#include <stdint.h>

#define AX_GID_EPOCH_MS INT64_C(1704067200000) /* 2024-01-01T00:00:00Z */

enum {
	AX_GID_SERVERS = 1024,
	AX_GID_STRIPES = 256,    /* most of one server: 16 ids a millisecond are left to each */
	AX_GID_AHEAD_MS = 10000, /* how far high_ms is raised at once */
};

struct ax_gid_gen {
	int64_t server_number; /* 0-1023 */
	int64_t last_ms;       /* instant of the newest id; ids only grow */
	int64_t sequence;
	int64_t first, end; /* the sequences of its stripe: [first, end) */
	int64_t high_ms;
};

/* Starts above everything that was used before: `used_ms` is the stored high mark of this server number. `stripe` is
 * the caller's among `stripes` that make ids under this number at the same time: 0 of 1 when it is alone. */
void ax_gid_init(struct ax_gid_gen *gen, int64_t server_number, int64_t used_ms, int stripe, int stripes);

/* How high the stored mark must be raised before `count` more ids can be made at `now_ms`; 0 when it suffices. */
int64_t ax_gid_need(const struct ax_gid_gen *gen, int64_t now_ms, int64_t count);
void ax_gid_raise(struct ax_gid_gen *gen, int64_t high_ms);

/* Makes the next id. A sequence that overflows borrows the next millisecond, as does a clock that went back. The caller
 * has asked ax_gid_need. */
int64_t ax_gid_next(struct ax_gid_gen *gen, int64_t now_ms);

/* The instant an id was made at, in ms UTC. */
int64_t ax_gid_time(int64_t gid);

/* No id made at `ms` or later is below it. */
int64_t ax_gid_least(int64_t ms);

#endif
