#ifndef AX_SERVER_ALARM_H
#define AX_SERVER_ALARM_H

/* A timer of the loop on the wall clock, which also goes off when somebody sets the clock. The loop's own timers are
 * late by a millisecond or two: they count whole ones, from when the loop woke up. */

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>
#include "base/err.h"

/* May set the alarm again. */
typedef void ax_alarm_ring(void *user, bool clock_was_set);

struct ax_alarm {
	int fd; /* -1 = closed */
	uv_poll_t poll;
	ax_alarm_ring *ring;
	void *user;
};

AX_MUST_USE enum ax_status ax_alarm_open(
	struct ax_alarm *alarm, uv_loop_t *loop, ax_alarm_ring *ring, void *user, struct ax_err *err);
/* Instead of what it was set to: it goes off when the clock shows `in_ms` more than now, at once for 0. */
void ax_alarm_set(struct ax_alarm *alarm, int64_t in_ms);
void ax_alarm_close(struct ax_alarm *alarm);

#endif
