#ifndef AX_PORT_NOTIFY_H
#define AX_PORT_NOTIFY_H

#include <stdint.h>

#include "core/task.h"

/* What the services tell their surroundings. Called inside transactions, so it is a hint that may turn out untrue: a
 * receiver waits for the commit, reads the row, and survives a hint too few. */
struct ax_notify;
struct ax_notify_ops {
	void (*task_changed)(struct ax_notify *notify, int64_t task_id);
	void (*run_made)(struct ax_notify *notify, const struct ax_run *run);
	void (*run_changed)(struct ax_notify *notify, const struct ax_run *run);
	void (*worker_changed)(struct ax_notify *notify, const char *worker);
	/* Runs of the group may be claimable now: parked polls are worth serving. */
	void (*group_ready)(struct ax_notify *notify, const char *group_key);
};
struct ax_notify {
	const struct ax_notify_ops *ops;
};

#endif
