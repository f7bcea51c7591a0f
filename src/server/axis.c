#include "server/axis.h"

#include "base/attr.h"

enum {
	ASK_MS = 250,
	LOST_MS = 1000,
	DRIFT_PPM = 500, /* two clocks that nothing disciplines do not part faster */
};

/* How far two clocks may have parted since the last sample. */
static int64_t drift_ms(const struct ax_axis *axis, int64_t mono_ms)
{
	return (AX_MAX(mono_ms - axis->sampled_ms, (int64_t)0) * DRIFT_PPM + 999999) / 1000000;
}

void ax_axis_sample(struct ax_axis *axis, int64_t from_ms, int64_t to_ms, int64_t store_ms)
{
	/* both clocks are read in whole milliseconds, rounded down */
	int64_t low = store_ms - to_ms - 1, high = store_ms - from_ms + 1;
	int64_t drift = drift_ms(axis, to_ms);
	int64_t both_low = AX_MAX(low, axis->low_ms - drift), both_high = AX_MIN(high, axis->high_ms + drift);
	bool agrees = axis->known && both_low <= both_high;
	*axis = (struct ax_axis){
		.low_ms = agrees ? both_low : low,
		.high_ms = agrees ? both_high : high,
		.sampled_ms = to_ms,
		.known = true,
		.stepped = axis->known && !agrees,
	};
}

int64_t ax_axis_base(const struct ax_axis *axis)
{
	return axis->low_ms + (axis->high_ms - axis->low_ms) / 2;
}

int64_t ax_axis_error(const struct ax_axis *axis, int64_t mono_ms)
{
	return (axis->high_ms - axis->low_ms + 1) / 2 + drift_ms(axis, mono_ms);
}

enum ax_axis_verdict ax_axis_judge(const struct ax_axis *axis, int64_t mono_ms)
{
	if (!axis->known || ax_axis_error(axis, mono_ms) > LOST_MS)
		return AX_AXIS_LOST;
	return axis->stepped || ax_axis_error(axis, mono_ms) > ASK_MS ? AX_AXIS_ASK : AX_AXIS_SURE;
}
