#include "core/canary.h"

#include <inttypes.h>
#include <string.h>

#include "core/duration.h"
#include "core/task_def.h"

bool ax_canary_takes(int64_t gid, int64_t percent)
{
	/* gids made together differ in their low bits alone: mixed well, every bit counts (the finalizer of
	 * MurmurHash3) */
	uint64_t h = (uint64_t)gid;
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdULL;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return (int64_t)((h ^ h >> 33) % 100) < percent;
}

/* Failures of an arm in hundredths of a percent of its runs. */
static int64_t failure_rate(int64_t succeeded, int64_t failed)
{
	return succeeded + failed == 0 ? 0 : failed * 10000 / (succeeded + failed);
}

enum ax_canary_state ax_canary_judge(const struct ax_canary *c, struct ax_arena *arena, const char **ret_reason)
{
	int64_t runs = c->succeeded + c->failed, base_runs = c->base_succeeded + c->base_failed;
	int64_t rate = failure_rate(c->succeeded, c->failed);
	int64_t base_rate = failure_rate(c->base_succeeded, c->base_failed);
	int64_t allowed = base_rate + c->max_failure_points * 100;
	bool enough = runs >= c->min_runs && (base_runs >= c->min_runs || c->percent == 100);
	/* so many failures that successes alone could not make it good any more */
	bool hopeless = c->failed * 10000 > allowed * AX_MAX(runs, c->min_runs);
	*ret_reason = "";
	if (hopeless) {
		*ret_reason = ax_sprintf(arena,
			"%" PRId64 " of its %" PRId64 " runs failed; %" PRId64 " of %" PRId64 " did before", c->failed,
			runs, c->base_failed, base_runs);
		return AX_CANARY_ROLLED_BACK;
	}
	if (!enough)
		return AX_CANARY_RUNNING;
	int64_t p95 = ax_durations_quantile(c->durations, 95);
	int64_t base_p95 = ax_durations_quantile(c->base_durations, 95);
	bool slow = c->max_p95_percent > 0 && p95 >= 0 && base_p95 >= 0 &&
		p95 * 100 > AX_MAX(base_p95, 1) * c->max_p95_percent;
	const char *of_trial = ax_sprintf(arena, "%" PRId64 ".%02" PRId64, rate / 100, rate % 100);
	const char *of_base = ax_sprintf(arena, "%" PRId64 ".%02" PRId64, base_rate / 100, base_rate % 100);
	if (base_runs == 0)
		*ret_reason = ax_sprintf(arena, "failures %s %%, nothing to compare with", of_trial);
	else if (p95 < 0 || base_p95 < 0) /* only successes tell how long it takes */
		*ret_reason = ax_sprintf(arena, "failures %s %% against %s %%", of_trial, of_base);
	else
		*ret_reason =
			ax_sprintf(arena, "failures %s %% against %s %%, p95 %" PRId64 " ms against %" PRId64 " ms",
				of_trial, of_base, p95, base_p95);
	return slow ? AX_CANARY_ROLLED_BACK : AX_CANARY_PROMOTED;
}

static bool may_change(const char *field)
{
	static const char *const names[] = { "executor_key", "biz_param", "timeout_seconds", "grace_seconds",
		"retry_count", "retry_backoff", "retry_delay_seconds", "retry_cap_seconds", "retry_delays",
		"retry_jitter_percent", "retry_on", "expected_seconds", "stall_seconds", "notes" };
	for (size_t i = 0; i < AX_COUNT(names); i++)
		if (strcmp(names[i], field) == 0)
			return true;
	return false;
}

static bool same_field(const struct ax_def_field *field, const struct ax_task_def *a, const struct ax_task_def *b)
{
	if (field->preset_text != NULL)
		return strcmp(ax_def_text(field, a), ax_def_text(field, b)) == 0;
	return ax_def_number(field, a) == ax_def_number(field, b);
}

bool ax_canary_same(const struct ax_task_def *base, const struct ax_task_def *trial)
{
	bool same = true;
	for (int i = 0; i < ax_def_fields_n; i++)
		same = same && same_field(&ax_def_fields[i], base, trial);
	return same;
}

const char *ax_canary_forbidden(const struct ax_task_def *base, const struct ax_task_def *trial)
{
	for (int i = 0; i < ax_def_fields_n; i++) {
		const struct ax_def_field *field = &ax_def_fields[i];
		if (!same_field(field, base, trial) && !may_change(field->name))
			return field->name;
	}
	return NULL;
}
