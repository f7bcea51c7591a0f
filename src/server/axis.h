#ifndef AX_SERVER_AXIS_H
#define AX_SERVER_AXIS_H

/* The one time axis of all servers over a store: the clock of the store's machine.
 *
 * Where it stands against this machine's monotonic clock is sampled every second, and bounded by the time a sample
 * takes. Between samples the monotonic clock carries it on, so nobody who sets this machine's wall clock changes when
 * something fires. Functions over a plain struct; pulse.c feeds them. */

#include <stdbool.h>
#include <stdint.h>

struct ax_axis {
	/* the store's clock less the monotonic one lay between these at `sampled_ms` of the monotonic one */
	int64_t low_ms, high_ms;
	int64_t sampled_ms;
	bool known;
	bool stepped; /* the last sample contradicts those before it; another has to confirm it */
};

/* The store was asked when the monotonic clock said `from_ms`, had answered at `to_ms`, and said `store_ms`. */
void ax_axis_sample(struct ax_axis *axis, int64_t from_ms, int64_t to_ms, int64_t store_ms);

/* The store's clock less the monotonic one, as well as is known. */
int64_t ax_axis_base(const struct ax_axis *axis);

/* By how much that may be wrong by now. */
int64_t ax_axis_error(const struct ax_axis *axis, int64_t mono_ms);

enum ax_axis_verdict {
	AX_AXIS_SURE,
	AX_AXIS_ASK, /* sample again before anything fires */
	AX_AXIS_LOST /* nothing may fire, and this server is not ready */
};

enum ax_axis_verdict ax_axis_judge(const struct ax_axis *axis, int64_t mono_ms);

#endif
