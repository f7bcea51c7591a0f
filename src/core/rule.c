#include "core/rule.h"

#include <string.h>

#include "base/num.h"

static const int64_t day_ms = 86400000;

int64_t ax_rule_date(const struct ax_rule *rule, int64_t ms)
{
	int64_t local_ms = ms + ax_tz_offset_s(rule->tz, ms) * INT64_C(1000);
	return local_ms / day_ms - (local_ms % day_ms < 0);
}

int64_t ax_rule_date_begin(const struct ax_rule *rule, int64_t day)
{
	struct ax_tz_local midnight;
	ax_tz_from_local(rule->tz, day * day_ms, &midnight);
	return midnight.first_ms;
}

bool ax_rule_has_date(const struct ax_rule *rule, int64_t day)
{
	return rule->calendar == NULL || ax_calendar_is_in(rule->calendar, day) != rule->excludes;
}

/* Calendar dates, weekdays and zone rules repeat after 400 years: what has not come by then never does. */
static int64_t horizon(const struct ax_rule *rule, int64_t after_ms)
{
	const struct ax_calendar *calendar = rule->calendar;
	int64_t last = calendar->n > 0 ? calendar->days[calendar->n - 1].day * day_ms : 0;
	int64_t plain = AX_MAX(last, ax_tz_rule_since_ms(rule->tz));
	return ax_add_sat(AX_MAX(after_ms, plain), 401 * 366 * day_ms);
}

/* From a fire on a date without fires to just before the next date that has some. False when there is none. */
static bool skip_dates(const struct ax_rule *rule, int64_t fire_ms, int64_t *ret_after_ms)
{
	int64_t day;
	if (!ax_calendar_next(rule->calendar, ax_rule_date(rule, fire_ms) + 1, !rule->excludes, &day))
		return false;
	/* where the clock goes back over midnight, the next date began before */
	*ret_after_ms = AX_MAX(fire_ms, ax_rule_date_begin(rule, day) - 1);
	return true;
}

bool ax_rule_next(const struct ax_rule *rule, int64_t after_ms, int64_t *ret_ms)
{
	int64_t fire_ms, until_ms = rule->valid_until != 0 ? rule->valid_until : INT64_MAX;
	after_ms = AX_MAX(after_ms, rule->valid_from != 0 ? rule->valid_from - 1 : INT64_MIN);
	if (rule->calendar != NULL)
		until_ms = AX_MIN(until_ms, horizon(rule, after_ms));
	while (ax_schedule_next(&rule->schedule, rule->tz, rule->anchor_ms, after_ms, &fire_ms) && fire_ms < until_ms) {
		if (ax_rule_has_date(rule, ax_rule_date(rule, fire_ms))) {
			*ret_ms = fire_ms;
			return true;
		}
		if (!skip_dates(rule, fire_ms, &after_ms))
			break;
	}
	return false;
}

/* Looks back over a span that doubles until a fire is in it. */
bool ax_rule_last(const struct ax_rule *rule, int64_t from_ms, int64_t before_ms, int64_t *ret_ms)
{
	bool found = false;
	for (int64_t span_ms = 1000, begin_ms = before_ms; !found && begin_ms > from_ms; span_ms *= 2) {
		begin_ms = before_ms - from_ms > span_ms ? before_ms - span_ms : from_ms;
		int64_t fire_ms = begin_ms - 1;
		while (ax_rule_next(rule, fire_ms, &fire_ms) && fire_ms < before_ms) {
			*ret_ms = fire_ms;
			found = true;
		}
	}
	return found;
}

bool ax_rule_follow(const struct ax_rule *rule, int64_t ended_ms, int64_t *ret_ms)
{
	int64_t fire_ms = AX_MAX(ended_ms + rule->schedule.period_s * 1000, rule->valid_from);
	if (rule->valid_until != 0 && fire_ms >= rule->valid_until)
		return false;
	*ret_ms = fire_ms;
	return true;
}

int64_t ax_jitter_ms(int64_t task_id, int64_t jitter_seconds)
{
	return jitter_seconds == 0 ? 0 : (int64_t)(ax_mix64((uint64_t)task_id) % (uint64_t)(jitter_seconds * 1000));
}

int64_t ax_run_fire(const struct ax_run *run)
{
	int64_t fire = run->trigger_time;
	(void)ax_parse_i64(run->fire_key, strlen(run->fire_key), INT64_MIN, INT64_MAX, &fire);
	return fire;
}
