#ifndef AX_CORE_RULE_H
#define AX_CORE_RULE_H

/* What a task demands: those fires of its schedule that lie in its window of validity and on a date that its calendar
 * lets through; the date is the one that the zone's clocks show at the fire. A rule is all that decides it.
 *
 * Fires are nominal: the instants of the schedule. With jitter each of them is due a fixed time later. */

#include "core/calendar.h"
#include "core/schedule.h"
#include "core/task.h"

struct ax_rule {
	struct ax_schedule schedule;
	const struct ax_tz *tz;
	int64_t anchor_ms;                  /* @every counts from here */
	const struct ax_calendar *calendar; /* NULL: every date */
	bool excludes;                      /* the calendar's in-days are those without fires */
	int64_t valid_from, valid_until;    /* from ≤ fire < until; 0 = open */
	int64_t jitter_ms;
};

/* The first fire strictly after `after_ms`. False when there is none within 400 years, and for @after. */
bool ax_rule_next(const struct ax_rule *rule, int64_t after_ms, int64_t *ret_ms);
/* The last fire of [from_ms, before_ms). */
bool ax_rule_last(const struct ax_rule *rule, int64_t from_ms, int64_t before_ms, int64_t *ret_ms);
/* @after: the fire that follows the end of a run. False when the rule is not valid any more by then. */
bool ax_rule_follow(const struct ax_rule *rule, int64_t ended_ms, int64_t *ret_ms);

/* Whether the calendar lets fires of this date through. */
bool ax_rule_has_date(const struct ax_rule *rule, int64_t day);
/* The date at an instant, and its first instant. */
int64_t ax_rule_date(const struct ax_rule *rule, int64_t ms);
int64_t ax_rule_date_begin(const struct ax_rule *rule, int64_t day);

/* How much later than its fires a task is due: the same for good, spread evenly over tasks; in [0, jitter_seconds). */
int64_t ax_jitter_ms(int64_t task_id, int64_t jitter_seconds);

/* The fire that a run of kind schedule stands for, which is its key. */
int64_t ax_run_fire(const struct ax_run *run);

#endif
