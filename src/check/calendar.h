#ifndef AX_CHECK_CALENDAR_H
#define AX_CHECK_CALENDAR_H

/* The checker's own Gregorian calendar. It repeats a little of base/rfc3339.h on purpose: a fault there must not be
 * able to hide itself from the audit. Years 1 to 9999. */

#include <stdbool.h>
#include <stdint.h>

struct ax_check_day {
	int64_t number; /* days since 1970-01-01 */
	int year, month, mday;
	int wday; /* 0 = Sunday */
};

int ax_check_month_length(int year, int month);
struct ax_check_day ax_check_day_of(int64_t number);
int64_t ax_check_day_number(int year, int month, int mday);
/* Goes to the next day. */
void ax_check_day_step(struct ax_check_day *day);

/* "2026-11-29" at *at, which moves past it. */
bool ax_check_date_read(const char **at, int64_t *ret_number);
/* RFC 3339 with 'Z' or a numeric offset, cut to milliseconds. False on anything else. */
bool ax_check_instant_parse(const char *text, int64_t *ret_ms);
/* "2026-11-29T21:26:05Z", with ".123" when there are milliseconds. */
enum { AX_CHECK_INSTANT_SIZE = 96 };
void ax_check_instant_format(int64_t ms, char out[AX_CHECK_INSTANT_SIZE]);

/* Division that rounds down, for instants before 1970. */
int64_t ax_check_floor_div(int64_t a, int64_t b);

#endif
