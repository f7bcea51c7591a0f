#include "core/calendar.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "base/utf8.h"

enum { YEAR_MIN = 1970, YEAR_MAX = 2199, TEXT_MAX = AX_CALENDAR_DAYS_MAX * (AX_CALENDAR_LABEL_MAX + 32) };

/* --- dates -------------------------------------------------------------------------------------------------------- */

static bool digits(const char *s, size_t len, int64_t min, int64_t max, int64_t *ret)
{
	int64_t n = 0;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		n = n * 10 + (s[i] - '0');
	}
	*ret = n;
	return n >= min && n <= max;
}

bool ax_date_parse(const char *s, size_t len, int64_t *ret_day)
{
	int64_t year, month, day;
	if (len != AX_CALENDAR_DATE_SIZE - 1 || s[4] != '-' || s[7] != '-' ||
		!digits(s, 4, YEAR_MIN, YEAR_MAX, &year) || !digits(s + 5, 2, 1, 12, &month) ||
		!digits(s + 8, 2, 1, ax_days_in_month(year, (int)month), &day))
		return false;
	*ret_day = ax_days_from_civil(year, (int)month, (int)day);
	return true;
}

void ax_date_format(int64_t day, char out[AX_CALENDAR_DATE_SIZE])
{
	char instant[AX_RFC3339_SIZE];
	ax_rfc3339_format(day * 86400000, instant);
	memcpy(out, instant, AX_CALENDAR_DATE_SIZE - 1);
	out[AX_CALENDAR_DATE_SIZE - 1] = '\0';
}

/* --- drafts ------------------------------------------------------------------------------------------------------- */

/* What lists and terminals can show on one line. */
static bool label_is_plain(const char *label)
{
	for (const char *p = label; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return false;
	return ax_utf8_valid(label, strlen(label));
}

enum ax_status ax_calendar_draft_add(
	struct ax_calendar_draft *draft, int64_t day, bool in, const char *label, int line, struct ax_err *err)
{
	if (draft->n == AX_CALENDAR_DAYS_MAX)
		return ax_fail(err, AX_TOO_LARGE, draft->field, "line %d: a calendar has at most %d exceptions", line,
			AX_CALENDAR_DAYS_MAX);
	if (day < 0 || day >= ax_days_from_civil(YEAR_MAX + 1, 1, 1))
		return ax_fail(err, AX_INVALID, draft->field, "line %d: dates are of the years %d to %d", line,
			YEAR_MIN, YEAR_MAX);
	if (strlen(label) > AX_CALENDAR_LABEL_MAX || !label_is_plain(label))
		return ax_fail(err, AX_INVALID, draft->field,
			"line %d: a label is UTF-8 of at most %d bytes without control characters", line,
			AX_CALENDAR_LABEL_MAX);
	draft->at = ax_grow_array(draft->arena, draft->at, (size_t)draft->n, 1, &draft->cap, sizeof(*draft->at));
	draft->at[draft->n++] = (struct ax_calendar_draft_day){ { day, in, label }, line };
	return AX_OK;
}

static int by_day(const void *pa, const void *pb)
{
	const struct ax_calendar_draft_day *a = pa, *b = pb;
	if (a->day.day != b->day.day)
		return a->day.day < b->day.day ? -1 : 1;
	return a->line - b->line;
}

/* Sorts, and makes one of what says the same twice. */
enum ax_status ax_calendar_draft_end(struct ax_calendar_draft *draft, struct ax_calendar *ret, struct ax_err *err)
{
	struct ax_calendar calendar = {
		.days = ax_alloc_array(draft->arena, (size_t)draft->n + 1, sizeof(*calendar.days)),
	};
	if (draft->n > 0)
		qsort(draft->at, (size_t)draft->n, sizeof(*draft->at), by_day);
	for (int i = 0; i < draft->n; i++) {
		const struct ax_calendar_draft_day *now = &draft->at[i], *before = i > 0 ? now - 1 : NULL;
		if (before == NULL || before->day.day != now->day.day) {
			calendar.days[calendar.n++] = now->day;
			continue;
		}
		if (before->day.in == now->day.in)
			continue;
		char date[AX_CALENDAR_DATE_SIZE];
		ax_date_format(now->day.day, date);
		return ax_fail(err, AX_INVALID, draft->field, "line %d: %s is %s here and %s in line %d", now->line,
			date, now->day.in ? "in" : "out", before->day.in ? "in" : "out", before->line);
	}
	*ret = calendar;
	return AX_OK;
}

/* --- text --------------------------------------------------------------------------------------------------------- */

static enum ax_status parse_line(
	struct ax_calendar_draft *draft, const char *s, size_t len, int line, struct ax_err *err)
{
	const char *kind = s + AX_CALENDAR_DATE_SIZE, *end = s + len;
	int64_t day;
	if (len <= AX_CALENDAR_DATE_SIZE || !ax_date_parse(s, AX_CALENDAR_DATE_SIZE - 1, &day) || kind[-1] != ' ')
		return ax_fail(err, AX_INVALID, "days", "line %d: no date", line);
	const char *blank = memchr(kind, ' ', (size_t)(end - kind));
	size_t kind_len = (size_t)((blank != NULL ? blank : end) - kind);
	bool in = kind_len == 2 && memcmp(kind, "in", 2) == 0;
	if (!in && !(kind_len == 3 && memcmp(kind, "out", 3) == 0))
		return ax_fail(err, AX_INVALID, "days", "line %d: neither in nor out", line);
	const char *label = blank != NULL ? ax_strndup(draft->arena, blank + 1, (size_t)(end - blank) - 1) : "";
	return ax_calendar_draft_add(draft, day, in, label, line, err);
}

enum ax_status ax_calendar_parse(
	struct ax_arena *arena, unsigned week, const char *text, struct ax_calendar *ret, struct ax_err *err)
{
	struct ax_calendar_draft draft = { .arena = arena, .field = "days" };
	enum ax_status status = AX_OK;
	for (int line = 1; status == AX_OK && *text != '\0'; line++) {
		size_t len = strcspn(text, "\n");
		status = parse_line(&draft, text, len, line, err);
		text += len + (text[len] == '\n');
	}
	if (status == AX_OK)
		status = ax_calendar_draft_end(&draft, ret, err);
	ret->week = week;
	return status;
}

char *ax_calendar_text(struct ax_arena *arena, const struct ax_calendar *calendar)
{
	struct ax_buf out;
	ax_buf_init(&out, TEXT_MAX);
	for (int i = 0; i < calendar->n; i++) {
		const struct ax_calendar_day *day = &calendar->days[i];
		char date[AX_CALENDAR_DATE_SIZE];
		ax_date_format(day->day, date);
		ax_buf_printf(&out, "%s %s%s%s\n", date, day->in ? "in" : "out", day->label[0] != '\0' ? " " : "",
			day->label);
	}
	AX_ASSERT(!out.overflow);
	char *text = ax_strndup(arena, out.data != NULL ? out.data : "", out.len);
	ax_buf_done(&out);
	return text;
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

/* Index of the first exception from `day` on. */
static int seek(const struct ax_calendar *calendar, int64_t day)
{
	int low = 0, high = calendar->n;
	while (low < high) {
		int middle = low + (high - low) / 2;
		if (calendar->days[middle].day < day)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct ax_calendar_day *ax_calendar_exception(const struct ax_calendar *calendar, int64_t day)
{
	int i = seek(calendar, day);
	return i < calendar->n && calendar->days[i].day == day ? &calendar->days[i] : NULL;
}

static bool week_is_in(const struct ax_calendar *calendar, int64_t day)
{
	int64_t weekday = (day % 7 + 7 + 4) % 7; /* 1970-01-01 was a Thursday */
	return calendar->week >> weekday & 1;
}

bool ax_calendar_is_in(const struct ax_calendar *calendar, int64_t day)
{
	const struct ax_calendar_day *exception = ax_calendar_exception(calendar, day);
	return exception != NULL ? exception->in : week_is_in(calendar, day);
}

bool ax_calendar_next(const struct ax_calendar *calendar, int64_t day, bool in, int64_t *ret_day)
{
	for (int i = seek(calendar, day);; i++) {
		int64_t until = i < calendar->n ? calendar->days[i].day : INT64_MAX;
		for (int k = 0; k < 7 && day < until; k++, day++) {
			if (week_is_in(calendar, day) == in) {
				*ret_day = day;
				return true;
			}
		}
		if (i == calendar->n)
			return false;
		if (calendar->days[i].in == in) {
			*ret_day = until;
			return true;
		}
		day = until + 1;
	}
}

struct ax_calendar ax_calendar_merge(
	struct ax_arena *arena, const struct ax_calendar *calendar, const struct ax_calendar *more)
{
	struct ax_calendar merged = {
		.week = calendar->week,
		.days = ax_alloc_array(arena, (size_t)(calendar->n + more->n) + 1, sizeof(*merged.days)),
	};
	for (int i = 0, k = 0; i < calendar->n || k < more->n;) {
		bool old_first = k == more->n || (i < calendar->n && calendar->days[i].day < more->days[k].day);
		if (!old_first && i < calendar->n && calendar->days[i].day == more->days[k].day)
			i++;
		merged.days[merged.n++] = old_first ? calendar->days[i++] : more->days[k++];
	}
	return merged;
}
