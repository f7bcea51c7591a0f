/* Calendars from iCalendar files (RFC 5545): events of whole days, once or every year. Of everything else it is known
 * that it does not matter here (a description, an alarm), or it is refused: a rule passed over would be a wrong day. */

#include <string.h>

#include "base/num.h"
#include "base/rfc3339.h"
#include "core/calendar.h"

enum { EVENT_DAYS_MAX = 366 };

struct event {
	int64_t start_day;
	int64_t days; /* 0 = not said: one */
	const char *summary;
	bool cancelled;
	bool in;
	bool yearly;
	int64_t interval, count, until_day; /* count, until_day: 0 = no limit */
};

struct reader {
	struct ax_calendar_draft draft;
	struct ax_err *err;
	const char *at, *end; /* what is left of the file */
	int next_line;
	int line; /* of the content line at hand, which may go over several */
	char *name, *params, *value;
	bool in; /* what dates are that do not say it */
	enum { OUTSIDE, IN_CALENDAR, IN_EVENT } place;
	const char *skipped; /* the component that is passed over, or NULL */
	struct event event;
};

#define REFUSE(r, text, ...) ax_fail((r)->err, AX_INVALID, "text", "line %d: " text, (r)->line, __VA_ARGS__)

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names != NULL && strcmp(name, *names) != 0)
		names++;
	return *names != NULL;
}

static void upper(char *s)
{
	for (; *s != '\0'; s++)
		if (*s >= 'a' && *s <= 'z')
			*s = (char)(*s - 'a' + 'A');
}

/* --- content lines ------------------------------------------------------------------------------------------------ */

/* Bytes of the content line at s: it goes on over lines that begin with a blank. */
static size_t folded_len(const char *s, const char *end)
{
	const char *stop = s;
	do {
		const char *newline = memchr(stop, '\n', (size_t)(end - stop));
		stop = newline != NULL ? newline + 1 : end;
	} while (stop < end && (*stop == ' ' || *stop == '\t'));
	return (size_t)(stop - s);
}

/* The next content line, unfolded; NULL at the end. Empty lines are left out. */
static char *unfold(struct reader *r)
{
	while (r->at < r->end && (*r->at == '\r' || *r->at == '\n'))
		r->next_line += *r->at++ == '\n';
	size_t len = folded_len(r->at, r->end);
	if (len == 0)
		return NULL;
	r->line = r->next_line;
	char *text = ax_alloc(r->draft.arena, len + 1), *out = text;
	bool begins = false; /* a line that goes on: its blank is not part of the text */
	for (const char *stop = r->at + len; r->at < stop; r->at++) {
		if (*r->at != '\r' && *r->at != '\n' && !begins)
			*out++ = *r->at;
		begins = *r->at == '\n';
		r->next_line += begins;
	}
	return text;
}

/* NAME;PARAMETERS:VALUE; a colon in quotes belongs to the parameters. */
static enum ax_status split(struct reader *r, char *text)
{
	bool quoted = false;
	char *colon = text;
	for (; *colon != '\0' && (quoted || *colon != ':'); colon++)
		quoted ^= *colon == '"';
	if (*colon == '\0')
		return REFUSE(r, "%s", "this is no line of an iCalendar file");
	*colon = '\0';
	r->value = colon + 1;
	r->name = text;
	size_t name_len = strcspn(text, ";");
	r->params = text[name_len] == ';' ? text + name_len + 1 : text + name_len;
	text[name_len] = '\0';
	upper(r->name);
	return AX_OK;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* "20241001" */
static bool compact_date(const char *s, int64_t *ret_day)
{
	char date[AX_CALENDAR_DATE_SIZE];
	if (strlen(s) < 8)
		return false;
	memcpy(date, s, 4);
	date[4] = date[7] = '-';
	memcpy(date + 5, s + 4, 2);
	memcpy(date + 8, s + 6, 2);
	return ax_date_parse(date, AX_CALENDAR_DATE_SIZE - 1, ret_day);
}

static enum ax_status read_date(struct reader *r, int64_t *ret_day)
{
	upper(r->params);
	if ((r->params[0] != '\0' && strcmp(r->params, "VALUE=DATE") != 0) || strlen(r->value) != 8)
		return REFUSE(r, "%s is not of a whole day; only dates such as DTSTART;VALUE=DATE:20251001 are read",
			r->name);
	if (!compact_date(r->value, ret_day))
		return REFUSE(r, "`%.20s` is no date of the years 1970 to 2199", r->value);
	return AX_OK;
}

static enum ax_status set_days(struct reader *r, int64_t days)
{
	if (days < 1 || days > EVENT_DAYS_MAX)
		return REFUSE(r, "an event lasts from 1 to %d days", EVENT_DAYS_MAX);
	r->event.days = days;
	return AX_OK;
}

/* "P3D" or "P1W" */
static enum ax_status read_duration(struct reader *r)
{
	size_t len = strlen(r->value);
	int64_t n;
	if (len < 3 || r->value[0] != 'P' || strchr("DW", r->value[len - 1]) == NULL ||
		!ax_parse_i64(r->value + 1, len - 2, 1, EVENT_DAYS_MAX, &n))
		return REFUSE(r, "the duration `%.20s` is not one of whole days, such as P3D", r->value);
	return set_days(r, r->value[len - 1] == 'W' ? 7 * n : n);
}

/* Text in which \n, \, and the like stand for others; on one line. */
static const char *unescape(struct reader *r)
{
	char *text = ax_alloc(r->draft.arena, strlen(r->value) + 1), *out = text;
	for (const char *s = r->value; *s != '\0'; s++) {
		bool escaped = *s == '\\' && s[1] != '\0';
		s += escaped;
		*out++ = (escaped && (*s == 'n' || *s == 'N')) || *s == '\t' ? ' ' : *s;
	}
	return text;
}

static enum ax_status read_rule_part(struct reader *r, const char *name, const char *value)
{
	struct event *e = &r->event;
	int64_t year, number;
	int month, day;
	ax_civil_from_days(e->start_day, &year, &month, &day);
	bool is_number = ax_parse_i64(value, strlen(value), 1, 1000, &number);
	if (strcmp(name, "FREQ") == 0)
		e->yearly = strcmp(value, "YEARLY") == 0;
	else if (strcmp(name, "INTERVAL") == 0 && is_number)
		e->interval = number;
	else if (strcmp(name, "COUNT") == 0 && is_number)
		e->count = number;
	else if (strcmp(name, "UNTIL") == 0 && compact_date(value, &number))
		e->until_day = number;
	else if (strcmp(name, "WKST") != 0 && !(strcmp(name, "BYMONTH") == 0 && is_number && number == month) &&
		!(strcmp(name, "BYMONTHDAY") == 0 && is_number && number == day))
		return REFUSE(r, "the repetition `%.20s=%.40s` is not understood", name, value);
	return AX_OK;
}

static enum ax_status read_rule(struct reader *r)
{
	struct event *e = &r->event;
	enum ax_status status = AX_OK;
	if (e->start_day < 0)
		return REFUSE(r, "%s", "DTSTART must stand before RRULE");
	upper(r->value);
	for (char *part = r->value; status == AX_OK && *part != '\0';) {
		size_t len = strcspn(part, ";"), name_len = strcspn(part, "=;");
		char *next = part + len + (part[len] == ';');
		part[len] = '\0';
		if (name_len == len)
			return REFUSE(r, "the repetition `%.40s` is not understood", part);
		part[name_len] = '\0';
		status = read_rule_part(r, part, part + name_len + 1);
		part = next;
	}
	if (status == AX_OK && !e->yearly)
		return REFUSE(r, "%s", "of repetitions only FREQ=YEARLY is understood");
	return status;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static enum ax_status add_days(struct reader *r, int64_t first_day)
{
	const struct event *e = &r->event;
	enum ax_status status = AX_OK;
	for (int64_t i = 0; status == AX_OK && i < AX_MAX(e->days, 1); i++)
		status = ax_calendar_draft_add(&r->draft, first_day + i, e->in, e->summary, r->line, r->err);
	return status;
}

/* The event's dates. A 29 February comes only in the years that have one. */
static enum ax_status end_event(struct reader *r)
{
	const struct event *e = &r->event;
	if (e->start_day < 0)
		return REFUSE(r, "%s", "the event has no DTSTART");
	if (e->cancelled)
		return AX_OK;
	if (!e->yearly)
		return add_days(r, e->start_day);
	int64_t year, left = e->count;
	int month, mday;
	enum ax_status status = AX_OK;
	ax_civil_from_days(e->start_day, &year, &month, &mday);
	for (; status == AX_OK && year <= AX_CALENDAR_REPEAT_UNTIL; year += e->interval) {
		if (mday > ax_days_in_month(year, month))
			continue;
		int64_t day = ax_days_from_civil(year, month, mday);
		if ((e->until_day != 0 && day > e->until_day) || (e->count != 0 && left-- == 0))
			break;
		status = add_days(r, day);
	}
	return status;
}

static enum ax_status event_line(struct reader *r)
{
	static const char *const harmless[] = { "UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "DESCRIPTION",
		"COMMENT", "LOCATION", "GEO", "CLASS", "CATEGORIES", "TRANSP", "URL", "PRIORITY", "ORGANIZER",
		"CONTACT", "ATTENDEE", "ATTACH", "IMAGE", "COLOR", "RELATED-TO", "RESOURCES", NULL };
	struct event *e = &r->event;
	if (strcmp(r->name, "DTSTART") == 0)
		return read_date(r, &e->start_day);
	if (strcmp(r->name, "DTEND") == 0) {
		int64_t end_day = 0;
		enum ax_status status = read_date(r, &end_day);
		if (status == AX_OK && e->start_day < 0)
			return REFUSE(r, "%s", "DTSTART must stand before DTEND");
		return status == AX_OK ? set_days(r, end_day - e->start_day) : status;
	}
	if (strcmp(r->name, "DURATION") == 0)
		return read_duration(r);
	if (strcmp(r->name, "RRULE") == 0)
		return read_rule(r);
	if (strcmp(r->name, "SUMMARY") == 0) {
		e->summary = unescape(r);
	} else if (strcmp(r->name, "STATUS") == 0) {
		upper(r->value);
		e->cancelled = strcmp(r->value, "CANCELLED") == 0;
	} else if (strcmp(r->name, "X-APPLE-SPECIAL-DAY") == 0) {
		e->in = strcmp(r->value, "ALTERNATE-WORKDAY") == 0;
		if (!e->in && strcmp(r->value, "WORK-HOLIDAY") != 0)
			return REFUSE(r, "the special day `%.40s` is not understood", r->value);
	} else if (strncmp(r->name, "X-", 2) != 0 && !is_one_of(r->name, harmless)) {
		return REFUSE(r, "%.40s is not understood", r->name);
	}
	return AX_OK;
}

static enum ax_status calendar_line(struct reader *r)
{
	static const char *const harmless[] = { "VERSION", "PRODID", "METHOD", "NAME", "DESCRIPTION", "UID", "URL",
		"LAST-MODIFIED", "REFRESH-INTERVAL", "SOURCE", "COLOR", "CATEGORIES", "IMAGE", NULL };
	bool gregorian = strcmp(r->name, "CALSCALE") == 0 && strcmp(r->value, "GREGORIAN") == 0;
	if (gregorian || strncmp(r->name, "X-", 2) == 0 || is_one_of(r->name, harmless))
		return AX_OK;
	return REFUSE(r, "%.40s:%.40s is not understood", r->name, r->value);
}

static enum ax_status begin_component(struct reader *r)
{
	if (r->place == OUTSIDE && strcmp(r->value, "VCALENDAR") == 0) {
		r->place = IN_CALENDAR;
	} else if (r->place == IN_CALENDAR && strcmp(r->value, "VEVENT") == 0) {
		r->place = IN_EVENT;
		r->event = (struct event){ .start_day = -1, .summary = "", .in = r->in, .interval = 1 };
	} else if ((r->place == IN_CALENDAR && strcmp(r->value, "VTIMEZONE") == 0) ||
		(r->place == IN_EVENT && strcmp(r->value, "VALARM") == 0)) {
		r->skipped = r->value; /* whole days have no zone here, and nobody is woken */
	} else {
		return REFUSE(r, "BEGIN:%.40s is not understood here", r->value);
	}
	return AX_OK;
}

static enum ax_status end_component(struct reader *r)
{
	bool event = r->place == IN_EVENT;
	if (r->place == OUTSIDE || strcmp(r->value, event ? "VEVENT" : "VCALENDAR") != 0)
		return REFUSE(r, "END:%.40s ends nothing", r->value);
	enum ax_status status = event ? end_event(r) : AX_OK;
	r->place = event ? IN_CALENDAR : OUTSIDE;
	return status;
}

static enum ax_status read_line(struct reader *r, char *text)
{
	enum ax_status status = split(r, text);
	if (status != AX_OK)
		return status;
	bool begins = strcmp(r->name, "BEGIN") == 0, ends = strcmp(r->name, "END") == 0;
	if (begins || ends)
		upper(r->value);
	if (r->skipped != NULL) {
		if (ends && strcmp(r->value, r->skipped) == 0)
			r->skipped = NULL;
		return AX_OK;
	}
	if (begins)
		return begin_component(r);
	if (ends)
		return end_component(r);
	if (r->place == OUTSIDE)
		return REFUSE(r, "%s", "an iCalendar file begins with BEGIN:VCALENDAR");
	return r->place == IN_EVENT ? event_line(r) : calendar_line(r);
}

enum ax_status ax_calendar_read_ics(
	struct ax_arena *arena, const char *text, size_t len, bool in, struct ax_calendar *ret, struct ax_err *err)
{
	bool marked = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
	struct reader r = {
		.draft = { .arena = arena, .field = "text" },
		.err = err,
		.at = text + (marked ? 3 : 0),
		.end = text + len,
		.next_line = 1,
		.line = 1,
		.in = in,
	};
	enum ax_status status = AX_OK;
	if (memchr(text, '\0', len) != NULL)
		return REFUSE(&r, "%s", "this is no text");
	char *line = unfold(&r);
	if (line == NULL)
		return REFUSE(&r, "%s", "the file is empty");
	for (; status == AX_OK && line != NULL; line = unfold(&r))
		status = read_line(&r, line);
	if (status == AX_OK && r.place != OUTSIDE)
		return REFUSE(&r, "%s", "the file ends within a component");
	return status == AX_OK ? ax_calendar_draft_end(&r.draft, ret, err) : status;
}
