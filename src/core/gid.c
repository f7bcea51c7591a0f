#include "core/gid.h"

#include "base/attr.h"
#include "base/err.h"

enum {
	SEQUENCE_BITS = 12,
	SERVER_BITS = 10,
	SEQUENCES = 1 << SEQUENCE_BITS,
	MARGIN_MS = 5000, /* below the mark when a transaction begins, so that its ids tell the time while it lasts */
};

void ax_gid_init(struct ax_gid_gen *gen, int64_t server_number, int64_t used_ms, int stripe, int stripes)
{
	AX_ASSERT(server_number >= 0 && server_number < AX_GID_SERVERS);
	AX_ASSERT(stripe >= 0 && stripe < stripes && stripes <= AX_GID_STRIPES);
	int64_t end = (int64_t)SEQUENCES * (stripe + 1) / stripes;
	*gen = (struct ax_gid_gen){
		.server_number = server_number,
		.last_ms = AX_MAX(used_ms, AX_GID_EPOCH_MS),
		.sequence = end - 1, /* the next id opens a new millisecond */
		.first = (int64_t)SEQUENCES * stripe / stripes,
		.end = end,
		.high_ms = used_ms,
	};
}

int64_t ax_gid_need(const struct ax_gid_gen *gen, int64_t now_ms, int64_t count)
{
	int64_t last = AX_MAX(gen->last_ms, now_ms) + 1 + count / (gen->end - gen->first) + 1;
	return last + MARGIN_MS <= gen->high_ms ? 0 : last + MARGIN_MS + AX_GID_AHEAD_MS;
}

void ax_gid_raise(struct ax_gid_gen *gen, int64_t high_ms)
{
	gen->high_ms = AX_MAX(gen->high_ms, high_ms);
}

int64_t ax_gid_next(struct ax_gid_gen *gen, int64_t now_ms)
{
	/* Who stood still in the middle of a transaction finds the clock far on: its ids stay well below the mark. */
	if (now_ms > gen->high_ms - MARGIN_MS / 2)
		now_ms = gen->last_ms;
	if (now_ms > gen->last_ms) {
		gen->last_ms = now_ms;
		gen->sequence = gen->first;
	} else if (gen->sequence == gen->end - 1) {
		gen->last_ms++;
		gen->sequence = gen->first;
	} else {
		gen->sequence++;
	}
	AX_ASSERT(gen->last_ms <= gen->high_ms);
	return (gen->last_ms - AX_GID_EPOCH_MS) << (SEQUENCE_BITS + SERVER_BITS) | gen->server_number << SEQUENCE_BITS |
		gen->sequence;
}

int64_t ax_gid_time(int64_t gid)
{
	return (gid >> (SEQUENCE_BITS + SERVER_BITS)) + AX_GID_EPOCH_MS;
}

int64_t ax_gid_least(int64_t ms)
{
	return ms <= AX_GID_EPOCH_MS ? 0 : (ms - AX_GID_EPOCH_MS) << (SEQUENCE_BITS + SERVER_BITS);
}
