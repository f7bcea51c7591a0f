#ifndef AX_SERVER_SCHEDULER_H
#define AX_SERVER_SCHEDULER_H

/* Wakes the services when something is due.
 *
 * A timer on the wall clock stands at the next due instant that is known, one second ahead at most; it also goes off
 * when somebody sets the clock. Each time an errand runs ax_tick in the write lane and brings back the next due
 * instant; the polls that are parked go along, so that what fires is given out in the same commit. */

#include "app/recover.h"
#include "server/alarm.h"
#include "server/lanes.h"

struct ax_server;

struct ax_scheduler {
	struct ax_alarm alarm;
	bool running; /* a tick errand is on its way */
	bool again;   /* something changed meanwhile */
	bool stopped;
	bool failing;           /* the last tick did */
	int64_t chores_mono_ms; /* when the hourly chores were done last */
	int64_t audit_mono_ms;  /* when quotas were audited last */
	int64_t zones_mono_ms;  /* when the zone files were looked at last */
	char **rezone;          /* zones with new data whose tasks are to be looked at, NULL-terminated; NULL = none */
	bool rezoning;          /* … and an errand does it */
	bool auditing;          /* quotas: an errand does it */
};

AX_MUST_USE enum ax_status ax_scheduler_start(struct ax_server *server, struct ax_err *err);
/* Something may be due earlier than was known: looks now. */
void ax_scheduler_look(struct ax_server *server);
void ax_scheduler_stop(struct ax_server *server);
/* After the threads have ended. */
void ax_scheduler_close(struct ax_server *server);

#endif
