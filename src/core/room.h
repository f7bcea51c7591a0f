#ifndef AX_CORE_ROOM_H
#define AX_CORE_ROOM_H

/* How many more runs a group may have out, and a worker of it hold: quota and backlog, and what of both the long lane
 * may use. Below 0 when a setting was narrowed under runs that are out already. */

#include "core/task.h"

/* The most runs that a worker holds for a group, begun or not. */
int64_t ax_backlog_of(const struct ax_group *group, const struct ax_worker_group *part);

int64_t ax_group_room(const struct ax_group *group, enum ax_run_lane lane);
int64_t ax_worker_room(const struct ax_group *group, const struct ax_worker_group *part, enum ax_run_lane lane);

#endif
