#include "base/rfc3339.h"

#include <stdio.h>
#include <stdlib.h>

/* Both conversions count in 400-year eras of 146,097 days that begin on 1 March, so that the leap day comes last. */
int64_t ax_days_from_civil(int64_t year, int month, int day)
{
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t yoe = year - era * 400;
	int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
	return era * 146097 + doe - 719468;
}

void ax_civil_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	int64_t doe = days - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int mp = (int)((5 * doy + 2) / 153);
	*ret_day = (int)(doy - (153 * mp + 2) / 5 + 1);
	*ret_month = mp < 10 ? mp + 3 : mp - 9;
	*ret_year = yoe + era * 400 + (*ret_month <= 2);
}

int ax_days_in_month(int64_t year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return month == 2 && leap ? 29 : days[month - 1];
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int format_local(int64_t ms, char out[AX_RFC3339_SIZE])
{
	int64_t day = floor_div(ms, 86400000);
	int in_day = (int)(ms - day * 86400000);
	int64_t year;
	int month, dom;
	ax_civil_from_days(day, &year, &month, &dom);
	int n = snprintf(out, AX_RFC3339_SIZE, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)year, month, dom,
		in_day / 3600000, in_day / 60000 % 60, in_day / 1000 % 60);
	if (in_day % 1000 != 0)
		n += snprintf(out + n, AX_RFC3339_SIZE - (size_t)n, ".%03d", in_day % 1000);
	return n;
}

void ax_rfc3339_format(int64_t ms, char out[AX_RFC3339_SIZE])
{
	int n = format_local(ms, out);
	snprintf(out + n, AX_RFC3339_SIZE - (size_t)n, "Z");
}

void ax_rfc3339_format_offset(int64_t ms, int offset_s, char out[AX_RFC3339_SIZE])
{
	int n = format_local(ms + (int64_t)offset_s * 1000, out);
	int minutes = abs(offset_s) / 60;
	snprintf(out + n, AX_RFC3339_SIZE - (size_t)n, "%c%02d:%02d", offset_s < 0 ? '-' : '+', minutes / 60,
		minutes % 60);
}

/* Reads exactly n digits at *p and moves past them. */
static bool digits(const char **p, const char *end, int n, int *ret)
{
	if (end - *p < n)
		return false;
	int value = 0;
	for (int i = 0; i < n; i++) {
		char c = (*p)[i];
		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (c - '0');
	}
	*p += n;
	*ret = value;
	return true;
}

static bool literal(const char **p, const char *end, char upper)
{
	if (*p == end || (**p != upper && !(upper == 'T' && **p == 't') && !(upper == 'Z' && **p == 'z')))
		return false;
	(*p)++;
	return true;
}

static bool fraction(const char **p, const char *end, int *ret_ms)
{
	*ret_ms = 0;
	if (*p == end || **p != '.')
		return true;
	(*p)++;
	int n = 0;
	for (int scale = 100; *p < end && **p >= '0' && **p <= '9'; (*p)++, n++, scale /= 10)
		*ret_ms += (**p - '0') * scale;
	return n >= 1 && n <= 9;
}

static bool offset(const char **p, const char *end, int *ret_s)
{
	*ret_s = 0;
	if (literal(p, end, 'Z'))
		return true;
	if (*p == end || (**p != '+' && **p != '-'))
		return false;
	int sign = *(*p)++ == '-' ? -1 : 1;
	int h, m;
	if (!digits(p, end, 2, &h) || !literal(p, end, ':') || !digits(p, end, 2, &m) || h > 23 || m > 59)
		return false;
	*ret_s = sign * (h * 3600 + m * 60);
	return true;
}

bool ax_rfc3339_parse(const char *s, size_t len, int64_t *ret_ms)
{
	const char *p = s, *end = s + len;
	int year, month, day, h, m, sec, ms, off;
	if (!digits(&p, end, 4, &year) || !literal(&p, end, '-') || !digits(&p, end, 2, &month) ||
		!literal(&p, end, '-') || !digits(&p, end, 2, &day) || !literal(&p, end, 'T') ||
		!digits(&p, end, 2, &h) || !literal(&p, end, ':') || !digits(&p, end, 2, &m) ||
		!literal(&p, end, ':') || !digits(&p, end, 2, &sec) || !fraction(&p, end, &ms) ||
		!offset(&p, end, &off) || p != end)
		return false;
	if (month < 1 || month > 12 || day < 1 || day > ax_days_in_month(year, month) || h > 23 || m > 59 || sec > 60)
		return false;
	int64_t seconds = ax_days_from_civil(year, month, day) * 86400 + h * 3600 + m * 60 + sec - off;
	*ret_ms = seconds * 1000 + ms;
	return true;
}
