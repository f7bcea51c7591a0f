#include "core/tz_posix.h"

#include <string.h>
#include "base/rfc3339.h"

bool ax_tz_abbr_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-';
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool take(const char **p, const char *end, char c)
{
	if (*p == end || **p != c)
		return false;
	(*p)++;
	return true;
}

/* One to three digits up to max. */
static bool number(const char **p, const char *end, int min, int max, int *ret)
{
	int value = 0, n = 0;
	for (; *p < end && **p >= '0' && **p <= '9' && n < 3; (*p)++, n++)
		value = value * 10 + (**p - '0');
	*ret = value;
	return n > 0 && value >= min && value <= max;
}

/* EST or <+03>: at least three characters. */
static bool abbreviation(const char **p, const char *end, char out[AX_TZ_ABBR_SIZE])
{
	bool quoted = take(p, end, '<');
	size_t n = 0;
	for (; *p < end && (quoted ? ax_tz_abbr_char(**p) : is_letter(**p)); (*p)++) {
		if (n == AX_TZ_ABBR_SIZE - 1)
			return false;
		out[n++] = **p;
	}
	out[n] = '\0';
	return n >= 3 && (!quoted || take(p, end, '>'));
}

/* [+-]h[h[h]][:mm[:ss]] in seconds. */
static bool clock_time(const char **p, const char *end, int max_hours, int *ret_s)
{
	int sign = take(p, end, '-') ? -1 : 1;
	if (sign == 1)
		take(p, end, '+');
	int h, m = 0, s = 0;
	if (!number(p, end, 0, max_hours, &h))
		return false;
	if (take(p, end, ':')) {
		if (!number(p, end, 0, 59, &m))
			return false;
		if (take(p, end, ':') && !number(p, end, 0, 59, &s))
			return false;
	}
	*ret_s = sign * (h * 3600 + m * 60 + s);
	return true;
}

static bool date_rule(const char **p, const char *end, struct ax_tz_date_rule *rule)
{
	bool ok;
	if (take(p, end, 'M')) {
		rule->form = 'M';
		ok = number(p, end, 1, 12, &rule->month) && take(p, end, '.') && number(p, end, 1, 5, &rule->week) &&
			take(p, end, '.') && number(p, end, 0, 6, &rule->day);
	} else if (take(p, end, 'J')) {
		rule->form = 'J';
		ok = number(p, end, 1, 365, &rule->day);
	} else {
		rule->form = 'n';
		ok = number(p, end, 0, 365, &rule->day);
	}
	rule->time_s = 7200;
	return ok && (!take(p, end, '/') || clock_time(p, end, 167, &rule->time_s));
}

bool ax_tz_posix_parse(const char *s, size_t len, struct ax_tz_posix *ret)
{
	const char *p = s, *end = s + len;
	struct ax_tz_posix rule;
	memset(&rule, 0, sizeof(rule));
	int west_s;
	if (!abbreviation(&p, end, rule.std.abbr) || !clock_time(&p, end, 24, &west_s))
		return false;
	rule.std.offset_s = -west_s;
	if (p != end) {
		rule.has_dst = true;
		rule.dst.dst = true;
		if (!abbreviation(&p, end, rule.dst.abbr))
			return false;
		rule.dst.offset_s = rule.std.offset_s + 3600;
		if (p < end && *p != ',') {
			if (!clock_time(&p, end, 24, &west_s))
				return false;
			rule.dst.offset_s = -west_s;
		}
		if (!take(&p, end, ',') || !date_rule(&p, end, &rule.start) || !take(&p, end, ',') ||
			!date_rule(&p, end, &rule.end) || p != end)
			return false;
	}
	*ret = rule;
	return true;
}

/* Days since 1970-01-01 of the rule's date in a year. */
static int64_t rule_day(const struct ax_tz_date_rule *rule, int64_t year)
{
	int64_t new_year = ax_days_from_civil(year, 1, 1);
	if (rule->form == 'n')
		return new_year + rule->day;
	if (rule->form == 'J')
		return new_year + rule->day - 1 + (rule->day >= 60 && ax_days_in_month(year, 2) == 29);
	int64_t first = ax_days_from_civil(year, rule->month, 1);
	int weekday = (int)(((first + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
	int day = (rule->day - weekday + 7) % 7 + (rule->week - 1) * 7;
	if (day >= ax_days_in_month(year, rule->month)) /* week 5 is the last one */
		day -= 7;
	return first + day;
}

void ax_tz_posix_year(const struct ax_tz_posix *rule, int64_t year, int64_t *ret_start_s, int64_t *ret_end_s)
{
	*ret_start_s = rule_day(&rule->start, year) * 86400 + rule->start.time_s - rule->std.offset_s;
	*ret_end_s = rule_day(&rule->end, year) * 86400 + rule->end.time_s - rule->dst.offset_s;
}
