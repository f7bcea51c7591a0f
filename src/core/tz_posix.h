#ifndef AX_CORE_TZ_POSIX_H
#define AX_CORE_TZ_POSIX_H

/* The POSIX TZ string in a TZif footer: the yearly rule of a zone after its last listed transition. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AX_TZ_ABBR_SIZE = 16 };

struct ax_tz_type {
	int offset_s; /* east of UTC */
	bool dst;
	char abbr[AX_TZ_ABBR_SIZE];
};

struct ax_tz_date_rule {
	char form;            /* 'M': month.week.weekday, 'J': day 1-365 without 29 Feb, 'n': day 0-365 */
	int month, week, day; /* 'J' and 'n' use day alone */
	int time_s;           /* of local time, -167 h to +167 h */
};

struct ax_tz_posix {
	struct ax_tz_type std;
	bool has_dst;
	struct ax_tz_type dst;
	struct ax_tz_date_rule start; /* of daylight saving time, in standard time */
	struct ax_tz_date_rule end;   /* in daylight saving time */
};

/* True when the whole of s is such a string, with the extensions of RFC 9636: quoted names and hours to ±167.
 * A DST name without its two rules is refused. */
bool ax_tz_posix_parse(const char *s, size_t len, struct ax_tz_posix *ret);

/* The instants (seconds UTC) at which DST begins and ends in a year; the order within the year is up to the zone. */
void ax_tz_posix_year(const struct ax_tz_posix *rule, int64_t year, int64_t *ret_start_s, int64_t *ret_end_s);

/* Fit for an abbreviation: letters, digits, '+' and '-'. */
bool ax_tz_abbr_char(char c);

#endif
