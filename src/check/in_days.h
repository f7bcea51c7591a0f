#ifndef AX_CHECK_IN_DAYS_H
#define AX_CHECK_IN_DAYS_H

/* The checker's own reading of named calendars: ax_calendar_version.week and .days. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"

/* Exceptions in the order of their dates. */
struct ax_check_in_days {
	bool week[7]; /* from Sunday on */
	struct ax_check_exception {
		int64_t number; /* of the day, since 1970-01-01 */
		bool in;
	} * exceptions;
	size_t n;
};

/* `week` is a bit for each weekday, the lowest for Sunday; `days` has lines "2025-10-01 out label". AX_INVALID when
 * they cannot be read. Memory is the arena's. */
enum ax_status ax_check_in_days_parse(
	struct ax_arena *arena, int64_t week, const char *days, struct ax_check_in_days *ret, struct ax_err *err);

bool ax_check_day_is_in(const struct ax_check_in_days *in_days, int64_t number);

#endif
