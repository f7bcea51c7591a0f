/* Calendars as CSV: date,kind,label. */

#include <string.h>

#include "base/buf.h"
#include "core/calendar.h"

enum { CSV_MAX = AX_CALENDAR_DAYS_MAX * (AX_CALENDAR_LABEL_MAX * 2 + 32) };

static const char heading[] = "date,kind,label\n";

/* With or without labels. */
static bool is_heading(const char *s, size_t len)
{
	size_t all = strlen("date,kind,label"), short_one = strlen("date,kind");
	return (len == all || len == short_one) && memcmp(s, heading, len) == 0;
}

/* Splits a line at its commas; quotes may stand around a field. Returns how many fields there are, -1 when the quotes
 * are wrong or there are more than `max`. */
static int split(struct ax_arena *arena, const char *s, const char *end, const char **fields, int max)
{
	for (int n = 0; n < max;) {
		char *out = ax_alloc(arena, (size_t)(end - s) + 1);
		bool quoted = s < end && *s == '"';
		fields[n++] = out;
		for (s += quoted; s < end && (quoted || *s != ','); s++) {
			if (quoted && *s == '"') {
				if (s + 1 == end || s[1] != '"')
					break;
				s++;
			}
			*out++ = *s;
		}
		if (quoted && s++ == end)
			return -1;
		if (s == end)
			return n;
		if (*s++ != ',')
			return -1;
	}
	return -1;
}

static bool read_kind(const char *word, bool *ret_in)
{
	static const struct {
		const char *word;
		bool in;
	} kinds[] = { { "in", true }, { "workday", true }, { "out", false }, { "holiday", false } };
	for (size_t i = 0; i < AX_COUNT(kinds); i++) {
		if (strcmp(word, kinds[i].word) == 0) {
			*ret_in = kinds[i].in;
			return true;
		}
	}
	return false;
}

static enum ax_status read_line(
	struct ax_calendar_draft *draft, const char *s, const char *end, int line, struct ax_err *err)
{
	const char *fields[3];
	bool in;
	int64_t day;
	int n = split(draft->arena, s, end, fields, 3);
	if (n < 2)
		return ax_fail(err, AX_INVALID, "text",
			"line %d: write date,kind,label; a label with commas or quotes stands in quotes, its own "
			"doubled",
			line);
	if (!ax_date_parse(fields[0], strlen(fields[0]), &day))
		return ax_fail(
			err, AX_INVALID, "text", "line %d: `%.20s` is no date such as 2025-10-01", line, fields[0]);
	if (!read_kind(fields[1], &in))
		return ax_fail(err, AX_INVALID, "text",
			"line %d: `%.20s` is no kind; write in, out, workday or holiday", line, fields[1]);
	return ax_calendar_draft_add(draft, day, in, n == 3 ? fields[2] : "", line, err);
}

enum ax_status ax_calendar_read_csv(
	struct ax_arena *arena, const char *text, size_t len, struct ax_calendar *ret, struct ax_err *err)
{
	struct ax_calendar_draft draft = { .arena = arena, .field = "text" };
	const char *s = text, *end = text + len;
	enum ax_status status = AX_OK;
	if (len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
		s += 3;
	for (int line = 1; status == AX_OK && s < end; line++) {
		const char *newline = memchr(s, '\n', (size_t)(end - s));
		const char *stop = newline != NULL ? newline : end;
		const char *next = newline != NULL ? newline + 1 : end;
		if (stop > s && stop[-1] == '\r')
			stop--;
		if (memchr(s, '\0', (size_t)(stop - s)) != NULL)
			status = ax_fail(err, AX_INVALID, "text", "line %d: this is no text", line);
		else if (stop > s && !(line == 1 && is_heading(s, (size_t)(stop - s))))
			status = read_line(&draft, s, stop, line, err);
		s = next;
	}
	return status == AX_OK ? ax_calendar_draft_end(&draft, ret, err) : status;
}

static void add_label(struct ax_buf *out, const char *label)
{
	if (strpbrk(label, ",\"") == NULL) {
		ax_buf_adds(out, label);
		return;
	}
	ax_buf_addc(out, '"');
	for (; *label != '\0'; label++) {
		if (*label == '"')
			ax_buf_addc(out, '"');
		ax_buf_addc(out, *label);
	}
	ax_buf_addc(out, '"');
}

char *ax_calendar_csv(struct ax_arena *arena, const struct ax_calendar *calendar)
{
	struct ax_buf out;
	ax_buf_init(&out, CSV_MAX);
	ax_buf_adds(&out, heading);
	for (int i = 0; i < calendar->n; i++) {
		const struct ax_calendar_day *day = &calendar->days[i];
		char date[AX_CALENDAR_DATE_SIZE];
		ax_date_format(day->day, date);
		ax_buf_printf(&out, "%s,%s,", date, day->in ? "in" : "out");
		add_label(&out, day->label);
		ax_buf_addc(&out, '\n');
	}
	AX_ASSERT(!out.overflow);
	char *text = ax_strndup(arena, out.data, out.len);
	ax_buf_done(&out);
	return text;
}
