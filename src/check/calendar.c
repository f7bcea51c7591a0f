#include "check/calendar.h"

#include <stdio.h>

int64_t ax_check_floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;
	return a % b < 0 ? q - 1 : q;
}

static bool is_leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int ax_check_month_length(int year, int month)
{
	switch (month) {
	case 2:
		return is_leap(year) ? 29 : 28;
	case 4:
	case 6:
	case 9:
	case 11:
		return 30;
	default:
		return 31;
	}
}

/* Leap days in the years 1 to `year`. */
static int64_t leap_days(int64_t year)
{
	return year / 4 - year / 100 + year / 400;
}

static int64_t new_year(int year)
{
	return 365 * ((int64_t)year - 1970) + leap_days(year - 1) - leap_days(1969);
}

int64_t ax_check_day_number(int year, int month, int mday)
{
	int64_t number = new_year(year);
	for (int m = 1; m < month; m++)
		number += ax_check_month_length(year, m);
	return number + mday - 1;
}

struct ax_check_day ax_check_day_of(int64_t number)
{
	struct ax_check_day day = { .number = number };
	day.wday = (int)(((number + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */

	day.year = 1970 + (int)(number / 366);
	while (new_year(day.year) > number)
		day.year--;
	while (new_year(day.year + 1) <= number)
		day.year++;

	int64_t left = number - new_year(day.year);
	day.month = 1;
	while (left >= ax_check_month_length(day.year, day.month)) {
		left -= ax_check_month_length(day.year, day.month);
		day.month++;
	}
	day.mday = 1 + (int)left;
	return day;
}

void ax_check_day_step(struct ax_check_day *day)
{
	day->number++;
	day->wday = (day->wday + 1) % 7;
	day->mday++;
	if (day->mday <= ax_check_month_length(day->year, day->month))
		return;
	day->mday = 1;
	day->month++;
	if (day->month <= 12)
		return;
	day->month = 1;
	day->year++;
}

/* Exactly n digits at *at, which moves past them. */
static bool read_digits(const char **at, int n, int min, int max, int *ret)
{
	int value = 0;
	for (int i = 0; i < n; i++) {
		char c = (*at)[i];
		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (c - '0');
	}
	if (value < min || value > max)
		return false;
	*at += n;
	*ret = value;
	return true;
}

static bool read_char(const char **at, char c, char other)
{
	if (**at != c && **at != other)
		return false;
	(*at)++;
	return true;
}

/* "Z", "+hh:mm" or "-hh:mm" at the end of the text, in seconds east. */
static bool read_offset(const char *at, int64_t *ret_s)
{
	if (read_char(&at, 'Z', 'z')) {
		*ret_s = 0;
		return *at == '\0';
	}
	int sign = *at == '-' ? -1 : 1;
	int hours, minutes;
	if (!read_char(&at, '+', '-') || !read_digits(&at, 2, 0, 23, &hours) || !read_char(&at, ':', ':') ||
		!read_digits(&at, 2, 0, 59, &minutes) || *at != '\0')
		return false;
	*ret_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

bool ax_check_date_read(const char **at, int64_t *ret_number)
{
	int year, month, mday;
	if (!read_digits(at, 4, 1, 9999, &year) || !read_char(at, '-', '-') || !read_digits(at, 2, 1, 12, &month) ||
		!read_char(at, '-', '-') || !read_digits(at, 2, 1, ax_check_month_length(year, month), &mday))
		return false;
	*ret_number = ax_check_day_number(year, month, mday);
	return true;
}

bool ax_check_instant_parse(const char *text, int64_t *ret_ms)
{
	const char *at = text;
	int64_t day;
	int hour, minute, second;
	if (!ax_check_date_read(&at, &day) || !read_char(&at, 'T', 't') || !read_digits(&at, 2, 0, 23, &hour) ||
		!read_char(&at, ':', ':') || !read_digits(&at, 2, 0, 59, &minute) || !read_char(&at, ':', ':') ||
		!read_digits(&at, 2, 0, 60, &second))
		return false;

	int64_t ms = 0;
	if (read_char(&at, '.', '.')) {
		int digits = 0, worth = 100, digit;
		while (read_digits(&at, 1, 0, 9, &digit)) {
			ms += digit * worth;
			worth /= 10;
			digits++;
		}
		if (digits == 0 || digits > 9)
			return false;
	}
	int64_t offset_s;
	if (!read_offset(at, &offset_s))
		return false;
	*ret_ms = (day * 86400 + hour * 3600 + minute * 60 + second - offset_s) * 1000 + ms;
	return true;
}

void ax_check_instant_format(int64_t ms, char out[AX_CHECK_INSTANT_SIZE])
{
	int64_t s = ax_check_floor_div(ms, 1000);
	int64_t number = ax_check_floor_div(s, 86400);
	if (number < -719162 || number > 2932896) { /* outside of the years 1 to 9999 */
		snprintf(out, AX_CHECK_INSTANT_SIZE, "%lld ms", (long long)ms);
		return;
	}
	struct ax_check_day day = ax_check_day_of(number);
	int in_day = (int)(s - number * 86400);
	int n = snprintf(out, AX_CHECK_INSTANT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", day.year, day.month, day.mday,
		in_day / 3600, in_day / 60 % 60, in_day % 60);
	int fraction = (int)(ms - s * 1000);
	if (fraction != 0)
		n += snprintf(out + n, AX_CHECK_INSTANT_SIZE - (size_t)n, ".%03d", fraction);
	snprintf(out + n, AX_CHECK_INSTANT_SIZE - (size_t)n, "Z");
}
