#ifndef AX_CORE_CRON_H
#define AX_CORE_CRON_H

/* Cron expressions as bit sets, and the next wall time or instant that matches one.
 *
 * A struct ax_cron is a plain value: no heap, copied by assignment. It comes from ax_cron_parse or not at all.
 * docs/cron.md tells users the rules; the sources call them
 *   R1  the dialect: stated, or by the number of fields; numbered weekdays in 6-7 fields must state it
 *   R2  grammar   R3  ranges of values
 *   R4  steps: v/n goes to the end of the field, n is at most the field's size, '*' is Sunday to Saturday
 *   R5  ranges that run backwards wrap in quartz and are refused elsewhere, but for weekdays that end on Sunday
 *   R6  the two day fields: unix joins them by OR, or by AND when one has an item that starts with '*'
 *   R7  L, W and #: no fire in months without such a day
 *   R8  what no date of the calendar matches is refused as AX_NEVER
 *   R9  the next fire is strictly later, on a whole second
 *   R10 a fixed-time expression fires once for a wall time that the clock skips (at the gap's end, if the clock
 *       jumps by less than 3 hours) or shows twice (at the first); an interval expression follows real time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "core/tz.h"

enum ax_dialect {
	AX_DIALECT_NONE,   /* not stated: decided by the number of fields */
	AX_DIALECT_UNIX,   /* 5 fields, weekday 0-7 from Sunday */
	AX_DIALECT_QUARTZ, /* 6 or 7 fields, weekday 1-7 from Sunday, ranges wrap */
	AX_DIALECT_SPRING, /* 6 fields, weekday 0-7 from Sunday */
};

enum {
	AX_CRON_YEAR_MIN = 1970,
	AX_CRON_YEAR_MAX = 2199,
	AX_CRON_YEAR_WORDS = (AX_CRON_YEAR_MAX - AX_CRON_YEAR_MIN) / 64 + 1,
};

struct ax_cron {
	uint64_t seconds; /* bit n = second n; likewise below */
	uint64_t minutes;
	uint32_t hours;
	uint32_t days;              /* bits 1-31 */
	uint32_t days_nearest;      /* bits 1-31: the weekday nearest to day n */
	uint32_t days_last;         /* bits 0-30: n days before the last day of the month */
	uint32_t days_last_nearest; /* bits 0-30: the weekday nearest to that day */
	uint16_t months;            /* bits 1-12 */
	uint8_t weekdays;           /* bits 0-6, 0 = Sunday */
	uint8_t weekdays_last;      /* bits 0-6: the last such weekday of the month */
	uint8_t weekdays_nth[5];    /* [k]: bits 0-6: the (k+1)-th such weekday of the month */
	bool special;               /* any of the five sets with "last", "nearest" or "nth" in its name is used */
	bool days_free;             /* the field is '*' or '?' */
	bool weekdays_free;
	bool days_star; /* R6's star field: '?', or an item that starts with '*' */
	bool weekdays_star;
	bool days_or;  /* either day field decides (R6); else both must match */
	bool interval; /* interval expression (R10) */
	bool any_year;
	enum ax_dialect dialect;            /* as read: never AX_DIALECT_NONE */
	uint64_t years[AX_CRON_YEAR_WORDS]; /* bit y - 1970, when any_year is false */
};

/* Parses 5, 6 or 7 fields. Refuses with AX_NEVER when no date can match, else with AX_INVALID; err->field is
 * "second", "minute", "hour", "day", "month", "weekday", "year" or, for the whole, "cron_expr". */
enum ax_status ax_cron_parse(
	const char *expr, size_t len, enum ax_dialect dialect, struct ax_cron *ret, struct ax_err *err);

/* The first matching wall time at or after `local_s` (seconds, see core/tz.h), by civil dates alone. False when
 * there is none up to the end of year 9999. */
bool ax_cron_next_local(const struct ax_cron *cron, int64_t local_s, int64_t *ret_local_s);

/* The first fire strictly after `after_ms`; whole seconds. False when there is none: the listed years are over, or
 * the zone's clock skips every wall time that matches, or the answer would lie after year 9999. */
bool ax_cron_next(const struct ax_cron *cron, const struct ax_tz *tz, int64_t after_ms, int64_t *ret_ms);

/* Which days of a month match: bit n = day n. */
uint32_t ax_cron_days_of_month(const struct ax_cron *cron, int64_t year, int month);

#endif
