#ifndef AX_PORT_RAND_H
#define AX_PORT_RAND_H

#include <stdint.h>

/* 64 random bits: unpredictable in production, seeded in the simulator. */
struct ax_rand;
struct ax_rand_ops {
	uint64_t (*next)(struct ax_rand *rand);
};
struct ax_rand {
	const struct ax_rand_ops *ops;
};

static inline uint64_t ax_rand_u64(struct ax_rand *rand)
{
	return rand->ops->next(rand);
}

#endif
