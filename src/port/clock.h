#ifndef AX_PORT_CLOCK_H
#define AX_PORT_CLOCK_H

#include <stdint.h>

/* Time as the services see it. `now_ms` is UTC on the one axis that firing and leases use; it may step. `mono_ms` only
 * grows, at the rate of real time; its origin means nothing. */
struct ax_clock;
struct ax_clock_ops {
	int64_t (*now_ms)(struct ax_clock *clock);
	int64_t (*mono_ms)(struct ax_clock *clock);
};
struct ax_clock {
	const struct ax_clock_ops *ops;
};

static inline int64_t ax_now_ms(struct ax_clock *clock)
{
	return clock->ops->now_ms(clock);
}
static inline int64_t ax_mono_ms(struct ax_clock *clock)
{
	return clock->ops->mono_ms(clock);
}

#endif
