#ifndef AX_CORE_SCHEDULE_TEXT_H
#define AX_CORE_SCHEDULE_TEXT_H

/* Schedules for people: the expression in words, what is surprising about it, and its next fires with what the
 * clock changes do to them. Everything comes as a code with parameters, so that a console can say it in its own
 * language, and as English text. */

#include "base/buf.h"
#include "core/rule.h"

/* The schedule in one English phrase without a full stop: "at 02:30 on Monday to Friday". */
void ax_schedule_describe(const struct ax_schedule *schedule, struct ax_buf *out);

/* Things that readers of an expression often take otherwise; a set of bits. */
enum ax_schedule_warning {
	AX_WARN_DAYS_OR = 1 << 0,        /* both day fields: either one fires */
	AX_WARN_DAYS_AND = 1 << 1,       /* a '*'-step in a day field: both must match */
	AX_WARN_STEP_RESTARTS = 1 << 2,  /* a step that does not divide its unit begins anew in each */
	AX_WARN_SHORT_MONTHS = 1 << 3,   /* does not fire in every month of the expression */
	AX_WARN_INTERVAL_HOURS = 1 << 4, /* wildcard minutes in named hours: skipped when the clock skips the hour */
};
unsigned ax_schedule_warnings(const struct ax_schedule *schedule);
/* One warning as a sentence with this schedule's own days and times. */
void ax_schedule_warning_text(const struct ax_schedule *schedule, enum ax_schedule_warning warning, struct ax_buf *out);
const char *ax_schedule_warning_code(enum ax_schedule_warning warning);

enum ax_fire_note {
	AX_NOTE_NONE,
	AX_NOTE_CHANGE_DAY,    /* the clock is moved on this fire's date, without effect on it */
	AX_NOTE_GAP_MOVED,     /* wall_ms does not exist on its day: fires when the gap ends */
	AX_NOTE_OVERLAP_FIRST, /* wall_ms occurs twice: fires at the first */
	AX_NOTE_OVERLAP_BOTH,  /* interval: fires in both passes of from_ms..until_ms */
	AX_NOTE_GAP_SKIPPED,   /* no fire: from_ms..until_ms does not exist, and neither do its wall times */
	AX_NOTE_CALENDAR_OUT,  /* no fire: an exception of the calendar leaves its date out */
	AX_NOTE_CALENDAR_IN,   /* an exception of the calendar lets its date in */
};

struct ax_fire {
	int64_t ms;     /* the instant; for AX_NOTE_GAP_SKIPPED the instant at which the clock jumps */
	bool fires;     /* false only for AX_NOTE_GAP_SKIPPED and AX_NOTE_CALENDAR_OUT */
	int64_t due_ms; /* the same with the jitter */
	int offset_s;   /* in force at ms */
	char abbr[16];  /* of the zone at ms, cut to size */
	enum ax_fire_note note;
	int pass;          /* AX_NOTE_OVERLAP_BOTH: 1 or 2 */
	int64_t wall_ms;   /* the wall time that the expression names */
	int64_t from_ms;   /* wall times that are skipped or repeated: from here … */
	int64_t until_ms;  /* … to before here */
	const char *label; /* AX_NOTE_CALENDAR_…: of the exception, "" = none; borrowed from the calendar */
};

/* Fires after `after_ms` and not later than `until_ms` (INT64_MAX: no limit) in order, with notes between them.
 * Fills at most `cap` items and returns their number. */
size_t ax_schedule_preview(
	const struct ax_rule *rule, int64_t after_ms, int64_t until_ms, struct ax_fire *items, size_t cap);

/* The note in English, nothing for AX_NOTE_NONE: "29 Mar: 02:30 does not exist on this day; …". */
void ax_fire_note_text(const struct ax_fire *fire, struct ax_buf *out);
const char *ax_fire_note_code(enum ax_fire_note note); /* "gap_moved" … */

#endif
