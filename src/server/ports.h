#ifndef AX_SERVER_PORTS_H
#define AX_SERVER_PORTS_H

/* The real clock, randomness and log behind the ports of the services. */

#include "port/clock.h"
#include "port/log.h"
#include "port/rand.h"

struct ax_sys_clock {
	struct ax_clock port;
	/* The store's clock less the monotonic one (axis.h); 0: the wall clock is the store's. */
	_Atomic int64_t base_ms;
};
struct ax_sys_rand {
	struct ax_rand port;
};
struct ax_sys_log {
	struct ax_log port;
};

void ax_sys_clock_init(struct ax_sys_clock *clock);
/* What timers on the wall clock go by. */
int64_t ax_sys_wall_ms(void);
void ax_sys_rand_init(struct ax_sys_rand *rand);
void ax_sys_log_init(struct ax_sys_log *log, enum ax_log_level level);

/* One event; `fmt` makes the inside of a JSON object. Text in it is the caller's to escape: see ax_log_text. */
void ax_log_event(struct ax_sys_log *log, enum ax_log_level level, const char *name, const char *fmt, ...)
	AX_PRINTF(4, 5);
/* Like it, with one free text under `key`. */
void ax_log_text(struct ax_sys_log *log, enum ax_log_level level, const char *name, const char *key, const char *text);

#endif
