#include "check/pattern.h"

#include <string.h>

enum { MAX_EXPR_BYTES = 1024, YEAR_MIN = 1970, YEAR_MAX = 2199 };

enum part { SECOND, MINUTE, HOUR, MDAY, MONTH, WDAY, YEAR, PARTS };

static const struct {
	const char *name;
	int min, max;
} parts[PARTS] = {
	[SECOND] = { "second", 0, 59 },
	[MINUTE] = { "minute", 0, 59 },
	[HOUR] = { "hour", 0, 23 },
	[MDAY] = { "day", 1, 31 },
	[MONTH] = { "month", 1, 12 },
	[WDAY] = { "weekday", 0, 7 }, /* 1 to 7 in quartz */
	[YEAR] = { "year", YEAR_MIN, YEAR_MAX },
};

/* What is being read. */
struct reader {
	const char *at;
	enum part part;
	enum ax_check_dialect dialect;
	int min, max;
	bool numeral; /* the last value read was written in digits */
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool at_letter(const struct reader *r, char letter)
{
	return lower(*r->at) == letter;
}

static bool take(struct reader *r, char c)
{
	if (lower(*r->at) != c)
		return false;
	r->at++;
	return true;
}

static bool at_item_end(const struct reader *r)
{
	return *r->at == '\0' || *r->at == ',';
}

/* One to four digits. */
static bool read_number(struct reader *r, int min, int max, int *ret)
{
	int value = 0, digits = 0;
	while (r->at[digits] >= '0' && r->at[digits] <= '9') {
		if (digits == 4)
			return false;
		value = value * 10 + (r->at[digits] - '0');
		digits++;
	}
	if (digits == 0 || value < min || value > max)
		return false;
	r->at += digits;
	*ret = value;
	return true;
}

static bool read_name(struct reader *r, int *ret)
{
	static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
	static const char weekdays[] = "sunmontuewedthufrisat";
	const char *names = r->part == MONTH ? months : r->part == WDAY ? weekdays : "";
	for (int i = 0; names[3 * i] != '\0'; i++) {
		const char *name = names + 3 * i;
		if (lower(r->at[0]) != name[0] || lower(r->at[1]) != name[1] || lower(r->at[2]) != name[2])
			continue;
		r->at += 3;
		bool from_one = r->part == MONTH || r->dialect == AX_CHECK_DIALECT_QUARTZ;
		*ret = from_one ? i + 1 : i;
		return true;
	}
	return false;
}

static bool read_value(struct reader *r, int *ret)
{
	r->numeral = read_number(r, r->min, r->max, ret);
	return r->numeral || read_name(r, ret);
}

/* The value at which `*` and `v/n` end. Only weekday numbers from 0 have a second name for one of their days. */
static int highest(const struct reader *r)
{
	return r->part == WDAY ? r->min + 6 : r->max;
}

/* "/n" if there is one; else *ret_step stays. */
static bool read_step(struct reader *r, int *ret_step)
{
	return !take(r, '/') || read_number(r, 1, r->max - r->min, ret_step);
}

/* "L", "LW", "L-n", "L-nW" of the day field, with the reader past the 'L'. */
static bool read_last_day(struct reader *r, struct ax_check_item *item)
{
	item->kind = AX_CHECK_ITEM_LAST;
	item->first = 0;
	if (take(r, '-') && !read_number(r, 1, 30, &item->first))
		return false;
	if (take(r, 'w'))
		item->kind = AX_CHECK_ITEM_LAST_NEAREST;
	return true;
}

/* What may follow a value: nothing, "/n", "-v", "-v/n", and 'W', 'L', "#k" in the day fields. */
static bool read_after_value(struct reader *r, struct ax_check_item *item, bool *ret_interval)
{
	item->last = item->first;
	if (r->part == MDAY && take(r, 'w')) {
		item->kind = AX_CHECK_ITEM_NEAREST;
		return true;
	}
	if (r->part == WDAY && take(r, 'l')) {
		item->kind = AX_CHECK_ITEM_WDAY_LAST;
		return true;
	}
	if (r->part == WDAY && take(r, '#')) {
		item->kind = AX_CHECK_ITEM_WDAY_NTH;
		return read_number(r, 1, 5, &item->step);
	}
	if (take(r, '-')) {
		bool numeral = r->numeral;
		if (!read_value(r, &item->last))
			return false;
		r->numeral = r->numeral || numeral;
		return read_step(r, &item->step);
	}
	if (*r->at == '/') {
		*ret_interval = true;
		item->last = AX_MAX(item->first, highest(r)); /* 7/n is the Sunday at the end of the week alone */
	}
	return read_step(r, &item->step);
}

/* R5: a range that runs backwards. Quartz wraps, but for years; the others know only a weekday range that ends on
 * Sunday. Weekday 7 is written for Sunday where it ends a range. */
static bool accept_range(const struct reader *r, struct ax_check_item *item)
{
	if (r->part == WDAY && r->dialect != AX_CHECK_DIALECT_QUARTZ) {
		if (item->first > item->last && item->last == 0)
			item->last = 7;
	} else if (r->dialect == AX_CHECK_DIALECT_QUARTZ && r->part != YEAR) {
		return true;
	}
	return item->first <= item->last;
}

static bool read_item(struct reader *r, struct ax_check_field *field)
{
	struct ax_check_item item = { .kind = AX_CHECK_ITEM_SPAN, .step = 1 };
	bool interval = false;
	r->numeral = false;
	if (take(r, '*')) {
		field->begins_star = true;
		interval = true;
		item.first = r->min;
		item.last = highest(r);
		if (!read_step(r, &item.step))
			return false;
	} else if (r->part == MDAY && at_letter(r, 'l')) {
		r->at++;
		if (!read_last_day(r, &item))
			return false;
	} else if (r->part == WDAY && r->dialect == AX_CHECK_DIALECT_QUARTZ && at_letter(r, 'l')) {
		r->at++;
		item.first = item.last = 7; /* Saturday */
	} else {
		if (!read_value(r, &item.first) || !read_after_value(r, &item, &interval))
			return false;
	}
	if (!at_item_end(r) || (item.kind == AX_CHECK_ITEM_SPAN && !accept_range(r, &item)))
		return false;
	field->is_interval = field->is_interval || interval;
	field->has_numerals = field->has_numerals || r->numeral;
	field->items[field->n++] = item;
	return true;
}

static enum ax_status read_field(struct ax_arena *arena, const char *text, enum part part,
	enum ax_check_dialect dialect, struct ax_check_field *ret, struct ax_err *err)
{
	struct reader r = {
		.at = text, .part = part, .dialect = dialect, .min = parts[part].min, .max = parts[part].max
	};
	if (part == WDAY && dialect == AX_CHECK_DIALECT_QUARTZ)
		r.min = 1;

	struct ax_check_field field = { 0 };
	field.items = ax_alloc_array(arena, strlen(text) + 1, sizeof(*field.items));
	field.is_question = (part == MDAY || part == WDAY) && strcmp(text, "?") == 0;
	field.is_free = field.is_question || strcmp(text, "*") == 0;
	field.begins_star = field.is_question;
	if (field.is_question)
		r.at = "*";
	do {
		if (!read_item(&r, &field))
			return ax_fail(err, AX_INVALID, parts[part].name, "the %s field `%.60s` cannot be read",
				parts[part].name, text);
	} while (take(&r, ','));
	*ret = field;
	return AX_OK;
}

/* ---- matching ---- */

/* Is the value in first-last/step? Counted forward from `first`, around the end of the field where the range wraps. */
static bool in_span(const struct ax_check_item *item, int value, int min, int max)
{
	int size = max - min + 1;
	int from_first = (value - item->first + size) % size;
	int length = (item->last - item->first + size) % size;
	return value >= min && value <= max && from_first <= length && from_first % item->step == 0;
}

static bool field_has(const struct ax_check_field *field, int value, int min, int max)
{
	for (size_t i = 0; i < field->n; i++)
		if (in_span(&field->items[i], value, min, max))
			return true;
	return false;
}

/* The weekday, Monday to Friday, that is nearest to a day and in the same month. */
static int nearest_weekday(const struct ax_check_day *day, int mday, int length)
{
	int wday = ((day->wday + mday - day->mday) % 7 + 7) % 7;
	if (wday == 6)
		return mday > 1 ? mday - 1 : mday + 2;
	if (wday == 0)
		return mday < length ? mday + 1 : mday - 2;
	return mday;
}

static bool mday_item_has(const struct ax_check_item *item, const struct ax_check_day *day)
{
	int length = ax_check_month_length(day->year, day->month);
	int target = item->kind == AX_CHECK_ITEM_NEAREST ? item->first : length - item->first;
	if (target < 1 || target > length)
		return false;
	if (item->kind != AX_CHECK_ITEM_LAST)
		target = nearest_weekday(day, target, length);
	return day->mday == target;
}

static bool mday_matches(const struct ax_check_field *field, const struct ax_check_day *day)
{
	for (size_t i = 0; i < field->n; i++) {
		const struct ax_check_item *item = &field->items[i];
		if (item->kind == AX_CHECK_ITEM_SPAN ? in_span(item, day->mday, 1, 31) : mday_item_has(item, day))
			return true;
	}
	return false;
}

static bool wday_item_has(const struct ax_check_item *item, const struct ax_check_day *day, bool quartz)
{
	if (item->kind == AX_CHECK_ITEM_SPAN) {
		if (quartz)
			return in_span(item, day->wday + 1, 1, 7);
		/* Sunday is both 0 and 7 */
		return in_span(item, day->wday, 0, 7) || (day->wday == 0 && in_span(item, 7, 0, 7));
	}
	int wday = quartz ? item->first - 1 : item->first % 7;
	if (wday != day->wday)
		return false;
	if (item->kind == AX_CHECK_ITEM_WDAY_LAST)
		return day->mday + 7 > ax_check_month_length(day->year, day->month);
	return (day->mday - 1) / 7 + 1 == item->step;
}

static bool wday_matches(const struct ax_check_field *field, const struct ax_check_day *day, bool quartz)
{
	for (size_t i = 0; i < field->n; i++)
		if (wday_item_has(&field->items[i], day, quartz))
			return true;
	return false;
}

bool ax_check_second_matches(const struct ax_check_pattern *pattern, int second)
{
	return field_has(&pattern->second, second, 0, 59);
}

bool ax_check_minute_matches(const struct ax_check_pattern *pattern, int minute)
{
	return field_has(&pattern->minute, minute, 0, 59);
}

bool ax_check_hour_matches(const struct ax_check_pattern *pattern, int hour)
{
	return field_has(&pattern->hour, hour, 0, 23);
}

/* R6: in unix both day fields decide together if one of them begins with a star, else either decides alone. In quartz
 * and spring one of the two is free, so both must match. */
bool ax_check_day_matches(const struct ax_check_pattern *pattern, const struct ax_check_day *day)
{
	if (!field_has(&pattern->month, day->month, 1, 12))
		return false;
	if (!pattern->year.is_free && !field_has(&pattern->year, day->year, YEAR_MIN, YEAR_MAX))
		return false;
	bool mday = mday_matches(&pattern->mday, day);
	bool wday = wday_matches(&pattern->wday, day, pattern->dialect == AX_CHECK_DIALECT_QUARTZ);
	bool either =
		pattern->dialect == AX_CHECK_DIALECT_UNIX && !pattern->mday.begins_star && !pattern->wday.begins_star;
	return either ? mday || wday : mday && wday;
}

/* ---- the whole expression ---- */

/* Cuts the text at blanks. Returns how many fields there are, counting no more than one too many. */
static int split(char *text, const char *fields[PARTS + 1])
{
	int n = 0;
	for (char *s = text; *s && n <= PARTS;) {
		if (*s == ' ' || *s == '\t') {
			*s++ = '\0';
			continue;
		}
		fields[n++] = s;
		while (*s && *s != ' ' && *s != '\t')
			s++;
	}
	return n;
}

/* R1: which dialect an expression of n fields is in. */
static enum ax_status choose_dialect(
	int n, enum ax_check_dialect stated, enum ax_check_dialect *ret, struct ax_err *err)
{
	enum ax_check_dialect dialect = stated;
	if (dialect == AX_CHECK_DIALECT_NONE)
		dialect = n == 5 ? AX_CHECK_DIALECT_UNIX : AX_CHECK_DIALECT_QUARTZ;
	bool fits = dialect == AX_CHECK_DIALECT_UNIX ? n == 5
		: dialect == AX_CHECK_DIALECT_SPRING ? n == 6
						     : dialect == AX_CHECK_DIALECT_QUARTZ && (n == 6 || n == 7);
	if (!fits)
		return ax_fail(err, AX_INVALID, "cron_expr", "%d fields do not make an expression of this dialect", n);
	*ret = dialect;
	return AX_OK;
}

/* R6 for quartz and spring, and R1's question about weekday numbers. */
static enum ax_status check_day_fields(
	const struct ax_check_pattern *p, enum ax_check_dialect stated, struct ax_err *err)
{
	if (p->dialect == AX_CHECK_DIALECT_UNIX)
		return AX_OK;
	if (p->mday.is_question && p->wday.is_question)
		return ax_fail(err, AX_INVALID, "weekday", "`?` is in both day fields");
	if (!p->mday.is_free && !p->wday.is_free)
		return ax_fail(err, AX_INVALID, "weekday", "both day fields are set: put `?` in one");
	if (stated == AX_CHECK_DIALECT_NONE && p->wday.has_numerals && !p->mday.is_question)
		return ax_fail(err, AX_INVALID, "weekday", "a weekday number needs a stated dialect");
	return AX_OK;
}

/* R8: is there any day that matches? The calendar repeats after 400 years. */
static bool ever_matches(const struct ax_check_pattern *pattern)
{
	int first_year = pattern->year.is_free ? 2000 : YEAR_MIN;
	int last_year = pattern->year.is_free ? 2399 : YEAR_MAX;
	struct ax_check_day day = ax_check_day_of(ax_check_day_number(first_year, 1, 1));
	for (; day.year <= last_year; ax_check_day_step(&day))
		if (ax_check_day_matches(pattern, &day))
			return true;
	return false;
}

enum ax_status ax_check_pattern_parse(struct ax_arena *arena, const char *expr, enum ax_check_dialect dialect,
	struct ax_check_pattern *ret, struct ax_err *err)
{
	if (strlen(expr) > MAX_EXPR_BYTES)
		return ax_fail(err, AX_INVALID, "cron_expr", "longer than %d bytes", MAX_EXPR_BYTES);
	const char *fields[PARTS + 1];
	int n = split(ax_strdup(arena, expr), fields);

	struct ax_check_pattern p = { 0 };
	enum ax_status status = choose_dialect(n, dialect, &p.dialect, err);
	if (status != AX_OK)
		return status;
	struct ax_check_field *const in_order[PARTS] = { &p.second, &p.minute, &p.hour, &p.mday, &p.month, &p.wday,
		&p.year };
	const char *texts[PARTS] = { [SECOND] = "0", [YEAR] = "*" };
	int first = n == 5 ? MINUTE : SECOND;
	for (int i = 0; i < n; i++)
		texts[first + i] = fields[i];
	for (enum part part = SECOND; part < PARTS; part++) {
		status = read_field(arena, texts[part], part, p.dialect, in_order[part], err);
		if (status != AX_OK)
			return status;
	}
	status = check_day_fields(&p, dialect, err);
	if (status != AX_OK)
		return status;
	p.interval = p.second.is_interval || p.minute.is_interval || p.hour.is_interval;
	if (!ever_matches(&p))
		return ax_fail(err, AX_NEVER, "cron_expr", "no date of the calendar matches");
	*ret = p;
	return AX_OK;
}
