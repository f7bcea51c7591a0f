#include "cli/crontab_time.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *name;
	int low, high;
	const char *words; /* three letters each */
} fields[AX_CRONTAB_FIELDS] = {
	{ "minute", 0, 59, "" },
	{ "hour", 0, 23, "" },
	{ "day", 1, 31, "" },
	{ "month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec" },
	{ "weekday", 0, 7, "sunmontuewedthufrisatsun" },
};

const char *ax_crontab_field_name(int field)
{
	return fields[field].name;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Digits, or a name of the field's. Numbers too large for any field become one that no field has. */
static bool read_number(const char **text, int field, bool names, int *ret)
{
	const char *p = *text;
	size_t len = 0;
	int value = 0;
	bool digits = true;
	while (isalnum((unsigned char)p[len])) {
		digits = digits && isdigit((unsigned char)p[len]);
		value = value > 9999 ? value : value * 10 + (p[len] - '0');
		len++;
	}
	*text = p + len;
	if (len == 0)
		return false;
	if (!digits) {
		const char *words = names ? fields[field].words : "";
		if (len != 3)
			return false;
		for (value = 0; words[value * 3] != '\0'; value++)
			if (strncasecmp(words + value * 3, p, 3) == 0)
				break;
		if (words[value * 3] == '\0')
			return false;
		value += fields[field].low;
	}
	*ret = value;
	return true;
}

static bool set_bit(uint64_t *bits, int field, int value)
{
	if (value < fields[field].low || value > fields[field].high)
		return false;
	*bits |= UINT64_C(1) << (field == AX_CRONTAB_WEEKDAY ? value % 7 : value);
	return true;
}

/* "*", number, or number "-" number, with a step behind the first and the last. */
static bool read_range(const char **text, int field, uint64_t *bits)
{
	int from = fields[field].low, to = fields[field].high, step = 1;
	if (**text == '*') {
		++*text;
	} else {
		if (!read_number(text, field, true, &from))
			return false;
		if (**text != '-')
			return set_bit(bits, field, from);
		++*text;
		if (!read_number(text, field, true, &to))
			return false;
	}
	if (**text == '/') {
		++*text;
		if (!read_number(text, field, false, &step) || step == 0)
			return false;
	}
	for (int value = from; value <= to; value += step)
		if (!set_bit(bits, field, value))
			return false;
	return true;
}

static bool read_list(const char **text, int field, uint64_t *bits)
{
	while (read_range(text, field, bits)) {
		if (**text != ',')
			return true;
		++*text;
	}
	return false;
}

int ax_crontab_time_read(const char **text, struct ax_crontab_time *ret)
{
	struct ax_crontab_time time = { 0 };
	const char *p = *text;
	for (int field = 0; field < AX_CRONTAB_FIELDS; field++) {
		time.at[field] = p;
		time.star[field] = *p == '*';
		if (!read_list(&p, field, &time.bits[field]))
			return field;
		while (*p != '\0' && !is_blank(*p))
			p++;
		time.len[field] = (size_t)(p - time.at[field]);
		while (is_blank(*p))
			p++;
	}
	*text = p;
	*ret = time;
	return -1;
}

int ax_crontab_time_differs(const struct ax_crontab_time *time, const struct ax_cron *cron)
{
	bool days_plain = cron->days_nearest == 0 && cron->days_last == 0 && cron->days_last_nearest == 0;
	bool weekdays_plain = cron->weekdays_last == 0;
	for (int i = 0; i < 5; i++)
		weekdays_plain = weekdays_plain && cron->weekdays_nth[i] == 0;
	bool days_or = !time->star[AX_CRONTAB_DAY] && !time->star[AX_CRONTAB_WEEKDAY];
	if (cron->minutes != time->bits[AX_CRONTAB_MINUTE])
		return AX_CRONTAB_MINUTE;
	if (cron->hours != time->bits[AX_CRONTAB_HOUR])
		return AX_CRONTAB_HOUR;
	if (!days_plain || cron->days != time->bits[AX_CRONTAB_DAY])
		return AX_CRONTAB_DAY;
	if (cron->months != time->bits[AX_CRONTAB_MONTH])
		return AX_CRONTAB_MONTH;
	if (!weekdays_plain || cron->weekdays != time->bits[AX_CRONTAB_WEEKDAY])
		return AX_CRONTAB_WEEKDAY;
	return cron->days_or != days_or ? AX_CRONTAB_WEEKDAY : -1;
}

void ax_crontab_time_plain(const struct ax_crontab_time *time, int field, struct ax_buf *out)
{
	uint64_t bits = time->bits[field];
	const char *comma = "";
	for (int from = 0; from < 64; from++) {
		int to = from;
		if ((bits >> from & 1) == 0)
			continue;
		while (to < 63 && (bits >> (to + 1) & 1) != 0)
			to++;
		ax_buf_printf(out, to > from ? "%s%d-%d" : "%s%d", comma, from, to);
		comma = ",";
		from = to;
	}
}
