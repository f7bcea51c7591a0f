#include "core/cron.h"

#include <string.h>
#include "base/attr.h"
#include "base/rfc3339.h"
#include "core/cron_field.h"

enum { max_bytes = 1024 };

struct text {
	const char *s;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static enum ax_status fail_bytes(const char *expr, size_t at, struct ax_err *err)
{
	unsigned char c = (unsigned char)expr[at];
	if (c >= 0x80)
		return ax_fail(err, AX_INVALID, "cron_expr",
			"Byte %zu is not ASCII (0x%02x): write digits 0-9, letters A-Z and plain - , / * in a "
			"schedule.",
			at + 1, c);
	return ax_fail(err, AX_INVALID, "cron_expr",
		"Byte %zu is a control character (0x%02x): remove it; blanks separate the fields.", at + 1, c);
}

/* Splits at blanks; finds at most 8 fields, one more than may be. */
static enum ax_status split(const char *expr, size_t len, struct text fields[8], size_t *ret_n, struct ax_err *err)
{
	if (len > max_bytes)
		return ax_fail(err, AX_INVALID, "cron_expr",
			"The schedule is %zu bytes long; at most %d are read: split it into several tasks.", len,
			max_bytes);
	size_t n = 0, start = 0;
	for (size_t i = 0; i <= len; i++) {
		if (i < len && !is_blank(expr[i])) {
			if (expr[i] < 0x20 || expr[i] > 0x7e)
				return fail_bytes(expr, i, err);
			continue;
		}
		if (i > start && n < 8)
			fields[n++] = (struct text){ expr + start, i - start };
		start = i + 1;
	}
	*ret_n = n;
	return AX_OK;
}

static bool has_digit(struct text t)
{
	for (size_t i = 0; i < t.len; i++) {
		if (t.s[i] >= '0' && t.s[i] <= '9')
			return true;
		if (t.s[i] == '#' || t.s[i] == '/') /* a count or step: not a weekday */
			while (i + 1 < t.len && t.s[i + 1] != ',')
				i++;
	}
	return false;
}

static bool is_question(struct text t)
{
	return t.len == 1 && t.s[0] == '?';
}

/* R1: the language by the number of fields, unless it was stated. */
static enum ax_status choose_dialect(
	const struct text *fields, size_t n, enum ax_dialect stated, enum ax_dialect *ret, struct ax_err *err)
{
	static const struct {
		size_t min, max;
		const char *text;
	} counts[] = {
		[AX_DIALECT_NONE] = { 5, 7,
			"5 (minute hour day month weekday), 6 (second first) or 7 (second first, year last)" },
		[AX_DIALECT_UNIX] = { 5, 5, "5 in the unix dialect: minute hour day month weekday" },
		[AX_DIALECT_QUARTZ] = { 6, 7,
			"6 or 7 in the quartz dialect: second minute hour day month weekday [year]" },
		[AX_DIALECT_SPRING] = { 6, 6, "6 in the spring dialect: second minute hour day month weekday" },
	};
	if (n == 0)
		return ax_fail(err, AX_INVALID, "cron_expr", "The schedule is empty; the number of fields is %s.",
			counts[stated].text);
	if (n < counts[stated].min || n > counts[stated].max)
		return ax_fail(err, AX_INVALID, "cron_expr", "The schedule has %s%zu %s; write %s.",
			n == 8 ? "more than " : "", n == 8 ? 7 : n, n == 1 ? "field" : "fields", counts[stated].text);
	*ret = stated != AX_DIALECT_NONE ? stated : n == 5 ? AX_DIALECT_UNIX : AX_DIALECT_QUARTZ;
	if (stated == AX_DIALECT_NONE && n > 5 && has_digit(fields[5]) && !is_question(fields[3]) &&
		!is_question(fields[5]))
		return ax_fail(err, AX_INVALID, "weekday",
			"This %zu-field expression gives the weekday as a number. Quartz and XXL-JOB count 1 = Sunday; "
			"Spring and node-cron count 1 = Monday. Write the name (MON) or choose the dialect.",
			n);
	return AX_OK;
}

/* R6. `question` says that both day fields are '?'. */
static enum ax_status join_days(struct ax_cron *cron, bool question, struct ax_err *err)
{
	if (cron->dialect == AX_DIALECT_UNIX) {
		cron->days_or = !cron->days_star && !cron->weekdays_star;
		return AX_OK;
	}
	if (question)
		return ax_fail(err, AX_INVALID, "weekday",
			"Day-of-month and day-of-week are both ?. Write * in one of them for every day.");
	if (!cron->days_free && !cron->weekdays_free)
		return ax_fail(err, AX_INVALID, "day",
			"Day-of-month and day-of-week are both set. Put ? in the one you do not need.");
	return AX_OK;
}

/* R8 without a search: the calendar knows 14 kinds of year (common or leap, by the weekday of 1 January), all of
 * which come in 400 years, and each listed year is one of them. */
static bool some_date_matches(const struct ax_cron *cron, bool any_year)
{
	/* A common and a leap year for each weekday that a year can begin with. */
	for (int year = 2001; any_year && year <= 2028; year++)
		for (int month = 1; month <= 12; month++)
			if (cron->months & 1U << month && ax_cron_days_of_month(cron, year, month) != 0)
				return true;
	for (int year = AX_CRON_YEAR_MIN; !any_year && year <= AX_CRON_YEAR_MAX; year++) {
		int bit = year - AX_CRON_YEAR_MIN;
		if (!(cron->years[bit / 64] >> bit % 64 & 1))
			continue;
		for (int month = 1; month <= 12; month++)
			if (cron->months & 1U << month && ax_cron_days_of_month(cron, year, month) != 0)
				return true;
	}
	return false;
}

static enum ax_status fail_never(const struct ax_cron *cron, struct ax_err *err)
{
	static const char *const names[] = { "", "January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December" };
	uint32_t days = cron->days | cron->days_nearest;
	if (!cron->any_year && some_date_matches(cron, true))
		return ax_fail(err, AX_NEVER, "year",
			"This schedule never fires: none of its years has such a date. Write other years, or *.");
	if (cron->days_free)
		return ax_fail(err, AX_NEVER, "weekday",
			"This schedule never fires: its months have no such weekday. Write another month or weekday.");
	if (days == 0 || cron->days_last != 0 || cron->days_last_nearest != 0)
		return ax_fail(err, AX_NEVER, "day",
			"This schedule never fires: its months are too short for these days before the last. "
			"Write a smaller number after L-.");
	int day = __builtin_ctz(days);
	if (!cron->weekdays_free || (cron->months & (cron->months - 1)) != 0)
		return ax_fail(err, AX_NEVER, "day",
			"This schedule never fires: none of its months has such a day %d. "
			"Write L for the last day of a month, or other months.",
			day);
	return ax_fail(err, AX_NEVER, "day",
		"This schedule never fires: no %s has %d days. Write L for the last day of the month, or another "
		"month.",
		names[__builtin_ctz(cron->months)], day);
}

static bool uses_special(const struct ax_cron *cron)
{
	unsigned nth = 0;
	for (size_t k = 0; k < AX_COUNT(cron->weekdays_nth); k++)
		nth |= cron->weekdays_nth[k];
	return (cron->days_nearest | cron->days_last | cron->days_last_nearest | cron->weekdays_last | nth) != 0;
}

enum ax_status ax_cron_parse(
	const char *expr, size_t len, enum ax_dialect dialect, struct ax_cron *ret, struct ax_err *err)
{
	struct text fields[8];
	size_t n = 0;
	struct ax_cron cron;
	memset(&cron, 0, sizeof(cron));
	enum ax_status status = split(expr, len, fields, &n, err);
	if (status == AX_OK)
		status = choose_dialect(fields, n, dialect, &cron.dialect, err);
	if (status != AX_OK)
		return status;
	cron.seconds = 1;
	cron.any_year = n < 7;
	size_t first = n == 5 ? AX_CRON_MINUTE : AX_CRON_SECOND;
	for (size_t i = 0; i < n; i++) {
		status = ax_cron_field_parse(
			&cron, (enum ax_cron_field)(first + i), cron.dialect, fields[i].s, fields[i].len, err);
		if (status != AX_OK)
			return status;
	}
	cron.special = uses_special(&cron);
	const struct text *days = &fields[AX_CRON_DAY - first], *weekdays = &fields[AX_CRON_WEEKDAY - first];
	status = join_days(&cron, is_question(*days) && is_question(*weekdays), err);
	if (status != AX_OK)
		return status;
	if (!some_date_matches(&cron, cron.any_year))
		return fail_never(&cron, err);
	*ret = cron;
	return AX_OK;
}
