#include "check/in_days.h"

#include <stdlib.h>
#include <string.h>

#include "check/calendar.h"

static bool read_line(const char *line, struct ax_check_exception *ret)
{
	const char *at = line;
	if (!ax_check_date_read(&at, &ret->number) || *at++ != ' ')
		return false;
	size_t len = strcspn(at, " \n");
	ret->in = len == 2 && strncmp(at, "in", 2) == 0;
	return ret->in || (len == 3 && strncmp(at, "out", 3) == 0);
}

enum ax_status ax_check_in_days_parse(
	struct ax_arena *arena, int64_t week, const char *days, struct ax_check_in_days *ret, struct ax_err *err)
{
	struct ax_check_in_days in_days = { .n = 0 };
	size_t lines = 1;
	for (int wday = 0; wday < 7; wday++)
		in_days.week[wday] = (week & (INT64_C(1) << wday)) != 0;
	for (const char *s = days; *s != '\0'; s++)
		lines += *s == '\n';
	in_days.exceptions = ax_alloc_array(arena, lines, sizeof(*in_days.exceptions));
	for (const char *line = days; *line != '\0';) {
		size_t len = strcspn(line, "\n");
		struct ax_check_exception exception;
		if (!read_line(line, &exception) ||
			(in_days.n > 0 && in_days.exceptions[in_days.n - 1].number >= exception.number))
			return ax_fail(err, AX_INVALID, "calendar", "the calendar's line `%.*s` is not understood",
				(int)AX_MIN(len, (size_t)40), line);
		in_days.exceptions[in_days.n++] = exception;
		line += len + (line[len] == '\n');
	}
	*ret = in_days;
	return AX_OK;
}

static int by_number(const void *key, const void *member)
{
	int64_t a = *(const int64_t *)key, b = ((const struct ax_check_exception *)member)->number;
	return (a > b) - (a < b);
}

bool ax_check_day_is_in(const struct ax_check_in_days *in_days, int64_t number)
{
	const struct ax_check_exception *exception = in_days->n == 0
		? NULL
		: bsearch(&number, in_days->exceptions, in_days->n, sizeof(*exception), by_number);
	return exception != NULL ? exception->in : in_days->week[ax_check_day_of(number).wday];
}
