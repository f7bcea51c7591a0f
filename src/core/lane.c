#include "core/lane.h"

#include "base/attr.h"

enum ax_run_lane ax_lane_choose(enum ax_run_lane rule, int64_t p90_ms)
{
	if (rule != AX_RUN_LANE_AUTO)
		return rule;
	return p90_ms >= AX_LANE_LONG_MS ? AX_RUN_LANE_LONG : AX_RUN_LANE_SHORT;
}

int64_t ax_lane_share(int64_t whole, int64_t percent)
{
	return AX_MAX(INT64_C(1), whole * percent / 100);
}

const char *ax_lane_name(enum ax_run_lane lane)
{
	static const char *const names[] = { "auto", "short", "long" };
	return names[lane];
}
