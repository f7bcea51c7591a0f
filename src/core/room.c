#include "core/room.h"

#include "base/attr.h"
#include "core/limits.h"

int64_t ax_backlog_of(const struct ax_group *group, const struct ax_worker_group *part)
{
	return group->worker_backlog > 0 ? group->worker_backlog : part->pool_size * AX_BACKLOG_FACTOR;
}

static int64_t room(int64_t most, int64_t used, int64_t used_long, int64_t percent, enum ax_run_lane lane)
{
	if (lane != AX_RUN_LANE_LONG)
		return most - used;
	return AX_MIN(most - used, ax_lane_share(most, percent) - used_long);
}

int64_t ax_group_room(const struct ax_group *group, enum ax_run_lane lane)
{
	return room(group->dispatch_quota, group->running, group->running_long, group->long_share_percent, lane);
}

int64_t ax_worker_room(const struct ax_group *group, const struct ax_worker_group *part, enum ax_run_lane lane)
{
	return room(ax_backlog_of(group, part), part->given, part->given_long, group->long_share_percent, lane);
}
