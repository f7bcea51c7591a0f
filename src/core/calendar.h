#ifndef AX_CORE_CALENDAR_H
#define AX_CORE_CALENDAR_H

/* Named calendars: for each date whether it is "in", by a rule for the week and by exceptions to it.
 *
 * Dates are days since 1970-01-01, of the years 1970 to 2199. A calendar is stored as text, a line for each exception,
 * oldest first: "2024-10-01 out National Day", the label being what follows the second blank, if there is one. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum {
	AX_CALENDAR_DAYS_MAX = 5000,
	AX_CALENDAR_LABEL_MAX = 256,     /* bytes */
	AX_CALENDAR_FILE_MAX = 1 << 20,  /* bytes of what is imported */
	AX_CALENDAR_REPEAT_UNTIL = 2099, /* year up to which a yearly event without an end is written down */
	AX_CALENDAR_DATE_SIZE = 11,
	AX_CALENDAR_WEEK = 0x7f, /* every day */
};

struct ax_calendar_day {
	int64_t day;
	bool in;
	const char *label; /* "" = none */
};

struct ax_calendar {
	unsigned week;                /* bit n: weekday n is in, 0 = Sunday */
	struct ax_calendar_day *days; /* exceptions, by day, each day once */
	int n;
};

/* The tables' rows: the calendar as it is, and every content that it ever had. */
struct ax_calendar_row {
	const char *name;
	const char *title;
	int64_t version; /* grows with every change */
	int64_t create_time, update_time;
	const char *updated_by;
};
struct ax_calendar_version {
	const char *name;
	int64_t version, time;
	const char *author;
	const char *title;
	int64_t week;
	const char *days; /* the exceptions as text */
};

bool ax_date_parse(const char *s, size_t len, int64_t *ret_day); /* "2024-10-01" */
void ax_date_format(int64_t day, char out[AX_CALENDAR_DATE_SIZE]);

/* From the stored text and back. AX_INVALID names the line. Labels borrow from the arena. */
enum ax_status ax_calendar_parse(
	struct ax_arena *arena, unsigned week, const char *text, struct ax_calendar *ret, struct ax_err *err);
char *ax_calendar_text(struct ax_arena *arena, const struct ax_calendar *calendar);

/* The exception of that date, or NULL. */
const struct ax_calendar_day *ax_calendar_exception(const struct ax_calendar *calendar, int64_t day);
bool ax_calendar_is_in(const struct ax_calendar *calendar, int64_t day);
/* The first date from `day` on that is in (or out). False when there is none for good. */
bool ax_calendar_next(const struct ax_calendar *calendar, int64_t day, bool in, int64_t *ret_day);

/* `more` put over `calendar`: its days take the place of those of the same date. */
struct ax_calendar ax_calendar_merge(
	struct ax_arena *arena, const struct ax_calendar *calendar, const struct ax_calendar *more);

/* Files of people. What is not understood is refused by its line, never passed over; a date that is both in and out
 * too. The week of the result is 0.
 *
 * CSV: date,kind,label with kind in, out, workday or holiday; a first line "date,kind,label" is a heading. */
enum ax_status ax_calendar_read_csv(
	struct ax_arena *arena, const char *text, size_t len, struct ax_calendar *ret, struct ax_err *err);
/* iCalendar (RFC 5545): events of whole days, once or FREQ=YEARLY. Their dates are `in`, or out, unless they say it
 * themselves (X-APPLE-SPECIAL-DAY). */
enum ax_status ax_calendar_read_ics(
	struct ax_arena *arena, const char *text, size_t len, bool in, struct ax_calendar *ret, struct ax_err *err);
/* As CSV, with its heading. */
char *ax_calendar_csv(struct ax_arena *arena, const struct ax_calendar *calendar);

/* A calendar in the making, for readers: days in any order, each with the line that it came from. */
struct ax_calendar_draft_day {
	struct ax_calendar_day day;
	int line;
};
struct ax_calendar_draft {
	struct ax_arena *arena;
	const char *field; /* of the call that has the lines */
	struct ax_calendar_draft_day *at;
	int n;
	size_t cap;
};
enum ax_status ax_calendar_draft_add(
	struct ax_calendar_draft *draft, int64_t day, bool in, const char *label, int line, struct ax_err *err);
enum ax_status ax_calendar_draft_end(struct ax_calendar_draft *draft, struct ax_calendar *ret, struct ax_err *err);

#endif
