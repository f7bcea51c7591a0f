#include "check/zone.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/calendar.h"

enum {
	MAX_FILE_BYTES = 1 << 20,
	LAST_RULE_YEAR = 2500,
	DAY_S = 86400,
};

/* ---- the rule in the last line: "CET-1CEST,M3.5.0,M10.5.0/3" ---- */

/* One yearly change of a rule: on which day, at which local second of it. */
struct change {
	char form; /* 'M' month.week.weekday, 'J' day 1-365 without leap day, '0' day 0-365 */
	int month, week, wday, day;
	int time_s;
};

struct rule {
	int std_s, dst_s; /* seconds east of UTC */
	bool has_dst;
	struct change start, end;
};

static bool read_number(const char **at, int max, int *ret)
{
	int value = 0;
	const char *s = *at;
	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++) {
		value = value * 10 + (*s - '0');
		if (value > max)
			return false;
	}
	*at = s;
	*ret = value;
	return true;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool read_time(const char **at, int max_hours, int *ret_s)
{
	int sign = 1;
	if (**at == '+' || **at == '-')
		sign = *(*at)++ == '-' ? -1 : 1;
	int hours = 0, minutes = 0, seconds = 0;
	if (!read_number(at, max_hours, &hours))
		return false;
	if (**at == ':') {
		(*at)++;
		if (!read_number(at, 59, &minutes))
			return false;
		if (**at == ':') {
			(*at)++;
			if (!read_number(at, 59, &seconds))
				return false;
		}
	}
	*ret_s = sign * (hours * 3600 + minutes * 60 + seconds);
	return true;
}

/* An abbreviation: letters, or anything within <>. */
static bool skip_abbreviation(const char **at)
{
	const char *s = *at;
	if (*s == '<') {
		s = strchr(s, '>');
		if (!s)
			return false;
		*at = s + 1;
		return true;
	}
	while ((*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z'))
		s++;
	if (s == *at)
		return false;
	*at = s;
	return true;
}

static bool read_change(const char **at, struct change *ret)
{
	struct change c = { .form = **at, .time_s = 2 * 3600 };
	if (c.form == 'M') {
		(*at)++;
		if (!read_number(at, 12, &c.month) || c.month == 0 || *(*at)++ != '.')
			return false;
		if (!read_number(at, 5, &c.week) || c.week == 0 || *(*at)++ != '.')
			return false;
		if (!read_number(at, 6, &c.wday))
			return false;
	} else if (c.form == 'J') {
		(*at)++;
		if (!read_number(at, 365, &c.day) || c.day == 0)
			return false;
	} else {
		c.form = '0';
		if (!read_number(at, 365, &c.day))
			return false;
	}
	if (**at == '/') {
		(*at)++;
		if (!read_time(at, 167, &c.time_s))
			return false;
	}
	*ret = c;
	return true;
}

static bool parse_rule(const char *text, struct rule *ret)
{
	struct rule rule = { 0 };
	const char *at = text;
	int west_s;
	if (!skip_abbreviation(&at) || !read_time(&at, 24, &west_s))
		return false;
	rule.std_s = -west_s;
	if (*at != '\0') {
		rule.has_dst = true;
		rule.dst_s = rule.std_s + 3600;
		if (!skip_abbreviation(&at))
			return false;
		if (*at != ',') {
			if (!read_time(&at, 24, &west_s))
				return false;
			rule.dst_s = -west_s;
		}
		if (*at++ != ',' || !read_change(&at, &rule.start) || *at++ != ',' || !read_change(&at, &rule.end) ||
			*at != '\0')
			return false;
	}
	*ret = rule;
	return true;
}

/* The local second, counted as if it were UTC, at which the change happens in that year. */
static int64_t change_local_s(const struct change *c, int year)
{
	int64_t number;
	if (c->form == 'M') {
		struct ax_check_day day = ax_check_day_of(ax_check_day_number(year, c->month, 1));
		while (day.wday != c->wday)
			ax_check_day_step(&day);
		int mday = day.mday + 7 * (c->week - 1);
		while (mday > ax_check_month_length(year, c->month))
			mday -= 7;
		number = ax_check_day_number(year, c->month, mday);
	} else if (c->form == 'J') {
		bool after_leap_day = c->day > 59 && ax_check_month_length(year, 2) == 29;
		number = ax_check_day_number(year, 1, 1) + c->day - 1 + (after_leap_day ? 1 : 0);
	} else {
		number = ax_check_day_number(year, 1, 1) + c->day;
	}
	return number * DAY_S + c->time_s;
}

/* ---- the list of segments ---- */

struct list {
	struct ax_check_segment *at;
	size_t n;
};

/* A later start replaces what was said for the same instant; a start that is not later is dropped. */
static void list_add(struct list *list, int64_t start_s, int32_t offset_s)
{
	if (list->n > 0) {
		struct ax_check_segment *last = &list->at[list->n - 1];
		if (start_s == last->start_s)
			list->n--;
		else if (start_s < last->start_s || offset_s == last->offset_s)
			return;
	}
	if (list->n > 0 && list->at[list->n - 1].offset_s == offset_s)
		return;
	list->at[list->n++] = (struct ax_check_segment){ .start_s = start_s, .offset_s = offset_s };
}

static void write_out_rule(struct list *list, const struct rule *rule, int64_t after_s)
{
	if (!rule->has_dst) {
		list_add(list, after_s, rule->std_s);
		return;
	}
	int first_year = 1969;
	while (first_year < LAST_RULE_YEAR && ax_check_day_number(first_year + 1, 1, 1) * DAY_S < after_s)
		first_year++;
	for (int year = first_year - 1; year <= LAST_RULE_YEAR; year++) {
		int64_t to_dst = change_local_s(&rule->start, year) - rule->std_s;
		int64_t to_std = change_local_s(&rule->end, year) - rule->dst_s;
		bool std_first = to_std < to_dst;
		for (int i = 0; i < 2; i++) {
			bool dst = std_first == (i == 1);
			int64_t start_s = dst ? to_dst : to_std;
			if (start_s > after_s)
				list_add(list, start_s, dst ? rule->dst_s : rule->std_s);
		}
	}
}

/* ---- the file ---- */

struct header {
	size_t isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt;
	char version;
};

static uint64_t big_endian(const unsigned char *p, int bytes)
{
	uint64_t value = 0;
	for (int i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return value;
}

static bool read_header(const unsigned char *p, size_t len, struct header *ret)
{
	if (len < 44 || memcmp(p, "TZif", 4) != 0)
		return false;
	ret->version = (char)p[4];
	ret->isutcnt = (size_t)big_endian(p + 20, 4);
	ret->isstdcnt = (size_t)big_endian(p + 24, 4);
	ret->leapcnt = (size_t)big_endian(p + 28, 4);
	ret->timecnt = (size_t)big_endian(p + 32, 4);
	ret->typecnt = (size_t)big_endian(p + 36, 4);
	ret->charcnt = (size_t)big_endian(p + 40, 4);
	return true;
}

static size_t body_bytes(const struct header *h, size_t time_bytes)
{
	return h->timecnt * (time_bytes + 1) + h->typecnt * 6 + h->charcnt + h->leapcnt * (time_bytes + 4) +
		h->isstdcnt + h->isutcnt;
}

/* The transitions of the 64-bit block at p, and when the last of them is. False when they are not in order, name no
 * type or shift by more than a day. */
static bool read_transitions(const unsigned char *p, const struct header *h, struct list *list, int64_t *ret_last_s)
{
	const unsigned char *indexes = p + h->timecnt * 8;
	const unsigned char *types = indexes + h->timecnt;
	list_add(list, INT64_MIN, (int32_t)(uint32_t)big_endian(types, 4));
	int64_t before = INT64_MIN;
	for (size_t i = 0; i < h->timecnt; i++) {
		int64_t start_s = (int64_t)big_endian(p + i * 8, 8);
		if (indexes[i] >= h->typecnt || (i > 0 && start_s <= before))
			return false;
		before = start_s;
		list_add(list, start_s, (int32_t)(uint32_t)big_endian(types + 6 * indexes[i], 4));
	}
	for (size_t i = 0; i < list->n; i++)
		if (abs(list->at[i].offset_s) > AX_CHECK_OFFSET_MAX_S)
			return false;
	*ret_last_s = before;
	return true;
}

/* The footer: the text between the last two line feeds, "" when it is empty. */
static bool read_footer(struct ax_arena *arena, const unsigned char *p, size_t len, const char **ret)
{
	if (len < 2 || p[0] != '\n')
		return false;
	const unsigned char *end = memchr(p + 1, '\n', len - 1);
	if (!end)
		return false;
	*ret = ax_strndup(arena, (const char *)p + 1, (size_t)(end - p) - 1);
	return true;
}

enum ax_status ax_check_zone_parse(
	struct ax_arena *arena, const unsigned char *bytes, size_t len, struct ax_check_zone *ret, struct ax_err *err)
{
	struct header h;
	if (len > MAX_FILE_BYTES || !read_header(bytes, len, &h) || h.version < '2')
		return ax_fail(err, AX_INVALID, "time_zone", "the zone file is not TZif of version 2 or later");
	/* the counts are 32 bits wide each, so the sums below cannot overflow 64 bits */
	size_t at = 44 + body_bytes(&h, 4);
	if (at > len || !read_header(bytes + at, len - at, &h))
		return ax_fail(err, AX_INVALID, "time_zone", "the zone file has no 64-bit block");
	at += 44;
	if (body_bytes(&h, 8) > len - at || h.typecnt == 0)
		return ax_fail(err, AX_INVALID, "time_zone", "the zone file is cut short");
	if (h.leapcnt != 0)
		return ax_fail(err, AX_INVALID, "time_zone", "the zone file counts leap seconds, as none of AX's may");

	struct list list = { 0 };
	list.at = ax_alloc_array(arena, h.timecnt + 2 + 2 * (LAST_RULE_YEAR + 1), sizeof(*list.at));
	int64_t last_s;
	if (!read_transitions(bytes + at, &h, &list, &last_s))
		return ax_fail(err, AX_INVALID, "time_zone", "the zone file's transitions are not usable");
	at += body_bytes(&h, 8);

	const char *footer = "";
	struct rule rule;
	if (!read_footer(arena, bytes + at, len - at, &footer) || (*footer != '\0' && !parse_rule(footer, &rule)))
		return ax_fail(err, AX_INVALID, "time_zone", "the zone file's last line is not a POSIX rule");
	if (*footer != '\0')
		write_out_rule(&list, &rule, last_s);
	*ret = (struct ax_check_zone){ .segments = list.at, .n = list.n };
	return AX_OK;
}

/* Names of the tz database only: never a path that leaves the folder. */
static bool is_zone_name(const char *name)
{
	if (*name == '\0' || strlen(name) > 64 || *name == '/' || strstr(name, ".."))
		return false;
	for (const char *s = name; *s; s++) {
		bool letter = (*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z');
		bool digit = *s >= '0' && *s <= '9';
		if (!letter && !digit && !strchr("/_+-", *s))
			return false;
	}
	return true;
}

static enum ax_status read_file(
	struct ax_arena *arena, const char *path, unsigned char **ret_bytes, size_t *ret_len, struct ax_err *err)
{
	FILE *file = fopen(path, "rbe");
	if (!file)
		return ax_fail(err, AX_NOT_FOUND, "time_zone", "no zone file %s", path);
	unsigned char *bytes = ax_alloc(arena, MAX_FILE_BYTES + 1);
	size_t len = fread(bytes, 1, MAX_FILE_BYTES + 1, file);
	bool failed = ferror(file) != 0;
	fclose(file);
	if (failed)
		return ax_fail(err, AX_NOT_FOUND, "time_zone", "the zone file %s cannot be read", path);
	*ret_bytes = bytes;
	*ret_len = len;
	return AX_OK;
}

enum ax_status ax_check_zone_load(
	struct ax_arena *arena, const char *dir, const char *name, struct ax_check_zone *ret, struct ax_err *err)
{
	static const struct ax_check_segment utc = { .start_s = INT64_MIN };
	if (strcmp(name, "UTC") == 0) {
		*ret = (struct ax_check_zone){ .segments = &utc, .n = 1 };
		return AX_OK;
	}
	if (!is_zone_name(name))
		return ax_fail(err, AX_NOT_FOUND, "time_zone", "this is not the name of a time zone");

	struct ax_arena scratch = { 0 };
	const char *path = ax_sprintf(&scratch, "%s/%s", dir ? dir : "/usr/share/zoneinfo", name);
	unsigned char *bytes = NULL;
	size_t len = 0;
	enum ax_status status = read_file(&scratch, path, &bytes, &len, err);
	if (status == AX_OK)
		status = ax_check_zone_parse(arena, bytes, len, ret, err);
	ax_arena_done(&scratch);
	return status;
}

size_t ax_check_zone_at(const struct ax_check_zone *zone, int64_t utc_s)
{
	size_t low = 0, high = zone->n; /* segments[low] starts at or before the instant, segments[high] does not */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (zone->segments[middle].start_s <= utc_s)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t ax_check_segment_end(const struct ax_check_zone *zone, size_t i)
{
	return i + 1 < zone->n ? zone->segments[i + 1].start_s : INT64_MAX;
}
