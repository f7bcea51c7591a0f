#ifndef AX_BASE_RFC3339_H
#define AX_BASE_RFC3339_H

/* Instants as text and the proleptic Gregorian calendar, without libc's time functions or any zone data. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AX_RFC3339_SIZE = 40 };

/* Days since 1970-01-01 of a civil date, and back. Any year from -9999 to 9999; month 1-12. */
int64_t ax_days_from_civil(int64_t year, int month, int day);
void ax_civil_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day);
int ax_days_in_month(int64_t year, int month);

/* Milliseconds UTC to "2026-11-29T21:26:05Z" ("…05.123Z" when the milliseconds are not 0), and the same with an
 * offset of `offset_s` seconds east of UTC ("…+01:00"; seconds of an offset are dropped, as RFC 3339 has none). */
void ax_rfc3339_format(int64_t ms, char out[AX_RFC3339_SIZE]);
void ax_rfc3339_format_offset(int64_t ms, int offset_s, char out[AX_RFC3339_SIZE]);

/* Parses RFC 3339 with 'Z' or a numeric offset and at most 9 fraction digits (cut to ms). A leap second (":60")
 * is read as the next minute's first second. False on anything else. */
bool ax_rfc3339_parse(const char *s, size_t len, int64_t *ret_ms);

#endif
