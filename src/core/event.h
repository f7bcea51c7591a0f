#ifndef AX_CORE_EVENT_H
#define AX_CORE_EVENT_H

/* Events: something happened elsewhere, and tasks that listen to its name run. Fields only. */

#include <stdint.h>

struct ax_event {
	int64_t id; /* from the generator of gids; runs that it makes carry it as their batch */
	const char *event_name;
	const char *event_key; /* the event id, or its hash when it is longer than AX_KEY_MAX; unique with the name */
	const char *event_id;  /* as the sender gave it; "" = none, the key is the id above */
	const char *payload;   /* JSON text, or "" */
	const char *sent_by;
	int64_t time;
	int64_t runs, passed; /* how many tasks got a run, and how many were passed over */
};

/* What an event became for one task that listens to its name. */
enum ax_event_fate {
	AX_EVENT_RUN = 1,       /* a run was made */
	AX_EVENT_CONDITION = 2, /* its condition does not hold */
	AX_EVENT_PAUSED = 3,
	AX_EVENT_CREATED = 4, /* it was never enabled */
	AX_EVENT_KNOWN = 5,   /* it has a run of this event id already, from before the event's row was deleted */
	AX_EVENT_DELETING = 6,
};

struct ax_event_task {
	int64_t event;
	int64_t task_id;
	enum ax_event_fate fate;
	int64_t gid; /* 0 = no run */
};

#endif
