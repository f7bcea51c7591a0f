#include "core/schedule.h"

#include <string.h>
#include "base/attr.h"
#include "base/rfc3339.h"

static const int64_t last_ms = 253402300799999;      /* 9999-12-31T23:59:59.999Z */
static const int64_t max_period_s = 876000LL * 3600; /* 100 years of 365 days */

static const char *const dialect_names[] = {
	[AX_DIALECT_NONE] = "",
	[AX_DIALECT_UNIX] = "unix",
	[AX_DIALECT_QUARTZ] = "quartz",
	[AX_DIALECT_SPRING] = "spring",
};

bool ax_dialect_parse(const char *name, enum ax_dialect *ret)
{
	for (size_t i = 0; i < AX_COUNT(dialect_names); i++) {
		if (strcmp(name, dialect_names[i]) == 0) {
			*ret = (enum ax_dialect)i;
			return true;
		}
	}
	return false;
}

const char *ax_dialect_name(enum ax_dialect dialect)
{
	return dialect_names[dialect];
}

static const struct {
	const char *name, *expr;
} macros[] = {
	{ "@yearly", "0 0 1 1 *" },
	{ "@annually", "0 0 1 1 *" },
	{ "@monthly", "0 0 1 * *" },
	{ "@weekly", "0 0 * * 0" },
	{ "@daily", "0 0 * * *" },
	{ "@midnight", "0 0 * * *" },
	{ "@hourly", "0 * * * *" },
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Whether the n bytes at s are the lower-case word, in any case. */
static bool same_word(const char *s, size_t n, const char *word)
{
	size_t i = 0;
	for (; i < n && word[i] != '\0'; i++) {
		char c = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] - 'A' + 'a') : s[i];
		if (c != word[i])
			return false;
	}
	return i == n && word[i] == '\0';
}

/* [N"h"][N"m"][N"s"], at least one of them. Units are lower case: "5M" could be months. */
static bool duration(const char *s, size_t len, int64_t *ret_s)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	const char *p = s, *end = s + len;
	int64_t total_s = 0;
	for (size_t i = 0; i < AX_COUNT(units) && p < end; i++) {
		const char *q = p;
		int64_t n = 0;
		while (q < end && *q >= '0' && *q <= '9' && q - p < 10)
			n = n * 10 + (*q++ - '0');
		if (q == p || q == end)
			return false;
		if (*q != units[i].unit)
			continue;
		total_s += n * units[i].seconds;
		p = q + 1;
	}
	*ret_s = total_s;
	return p == end && total_s >= 1 && total_s <= max_period_s;
}

static enum ax_status fail_macro(struct ax_err *err)
{
	return ax_fail(err, AX_INVALID, "cron_expr",
		"This @ word is not known; write @yearly, @monthly, @weekly, @daily, @hourly, @every 1h30m, "
		"@after 30s or @at 2027-01-31T09:00:00Z.");
}

/* `word` is "@every" and the like, `s` what follows its blanks. */
static enum ax_status parse_timed(
	const char *word, size_t word_len, const char *s, size_t len, struct ax_schedule *ret, struct ax_err *err)
{
	struct ax_schedule schedule;
	memset(&schedule, 0, sizeof(schedule));
	if (same_word(word, word_len, "@at")) {
		schedule.kind = AX_SCHEDULE_AT;
		if (!ax_rfc3339_parse(s, len, &schedule.at_ms))
			return ax_fail(err, AX_INVALID, "cron_expr",
				"@at needs an instant with its offset, such as 2027-01-31T09:00:00+01:00.");
	} else {
		bool every = same_word(word, word_len, "@every");
		schedule.kind = every ? AX_SCHEDULE_EVERY : AX_SCHEDULE_AFTER;
		if (!every && !same_word(word, word_len, "@after"))
			return fail_macro(err);
		if (!duration(s, len, &schedule.period_s))
			return ax_fail(err, AX_INVALID, "cron_expr",
				"%s needs a time from 1s to 876000h in hours, minutes and seconds, such as 1h30m or "
				"90s.",
				every ? "@every" : "@after");
	}
	*ret = schedule;
	return AX_OK;
}

static enum ax_status parse_at_word(const char *s, size_t len, struct ax_schedule *ret, struct ax_err *err)
{
	size_t word_len = 0;
	while (word_len < len && !is_blank(s[word_len]))
		word_len++;
	size_t rest = word_len;
	while (rest < len && is_blank(s[rest]))
		rest++;
	if (rest < len)
		return parse_timed(s, word_len, s + rest, len - rest, ret, err);
	for (size_t i = 0; i < AX_COUNT(macros); i++) {
		if (!same_word(s, word_len, macros[i].name))
			continue;
		memset(ret, 0, sizeof(*ret));
		ret->kind = AX_SCHEDULE_CRON;
		return ax_cron_parse(macros[i].expr, strlen(macros[i].expr), AX_DIALECT_UNIX, &ret->cron, err);
	}
	return same_word(s, word_len, "@every") || same_word(s, word_len, "@after") || same_word(s, word_len, "@at")
		? parse_timed(s, word_len, s, 0, ret, err)
		: fail_macro(err);
}

enum ax_status ax_schedule_parse(
	const char *expr, size_t len, enum ax_dialect dialect, struct ax_schedule *ret, struct ax_err *err)
{
	const char *s = expr, *end = expr + len;
	while (s < end && is_blank(*s))
		s++;
	if (len <= AX_SCHEDULE_MAX_BYTES && s < end && *s == '@') {
		while (is_blank(end[-1]))
			end--;
		return parse_at_word(s, (size_t)(end - s), ret, err);
	}
	struct ax_schedule schedule;
	memset(&schedule, 0, sizeof(schedule));
	schedule.kind = AX_SCHEDULE_CRON;
	enum ax_status status = ax_cron_parse(expr, len, dialect, &schedule.cron, err);
	if (status == AX_OK)
		*ret = schedule;
	return status;
}

static bool next_every(int64_t period_s, int64_t anchor_ms, int64_t after_ms, int64_t *ret_ms)
{
	int64_t past_ms, next_ms, period_ms = period_s * 1000;
	anchor_ms = AX_MAX(anchor_ms, INT64_MIN + 1000);
	anchor_ms -= (anchor_ms % 1000 + 1000) % 1000;
	if (__builtin_sub_overflow(after_ms, anchor_ms, &past_ms))
		return false;
	int64_t k = past_ms < 0 ? 1 : past_ms / period_ms + 1;
	if (__builtin_mul_overflow(k, period_ms, &next_ms) || __builtin_add_overflow(next_ms, anchor_ms, &next_ms) ||
		next_ms > last_ms)
		return false;
	*ret_ms = next_ms;
	return true;
}

bool ax_schedule_next(const struct ax_schedule *schedule, const struct ax_tz *tz, int64_t anchor_ms, int64_t after_ms,
	int64_t *ret_ms)
{
	switch (schedule->kind) {
	case AX_SCHEDULE_CRON:
		return ax_cron_next(&schedule->cron, tz, after_ms, ret_ms);
	case AX_SCHEDULE_EVERY:
		return next_every(schedule->period_s, anchor_ms, after_ms, ret_ms);
	case AX_SCHEDULE_AT:
		if (schedule->at_ms <= after_ms)
			return false;
		*ret_ms = schedule->at_ms;
		return true;
	case AX_SCHEDULE_AFTER:
		break;
	}
	return false;
}

/* The least distance between two members of a set; 0 when it has one. */
static int64_t least_step(uint64_t set)
{
	int64_t least = 0;
	for (int last = -1; set != 0; set &= set - 1) {
		int member = __builtin_ctzll(set);
		least = last >= 0 && (least == 0 || member - last < least) ? member - last : least;
		last = member;
	}
	return least;
}

static int64_t spread(uint64_t set)
{
	return 63 - __builtin_clzll(set) - __builtin_ctzll(set);
}

/* The least distance of two times of a day, the first of the day after included. */
static int64_t shortest_of_day_s(const struct ax_cron *cron)
{
	int64_t within_minute = spread(cron->seconds), within_hour = 60 * spread(cron->minutes) + within_minute;
	int64_t shortest = 86400 - 3600 * spread(cron->hours) - within_hour;
	int64_t step = least_step(cron->hours);
	if (step > 0)
		shortest = AX_MIN(shortest, 3600 * step - within_hour);
	step = least_step(cron->minutes);
	if (step > 0)
		shortest = AX_MIN(shortest, 60 * step - within_minute);
	step = least_step(cron->seconds);
	return step > 0 ? AX_MIN(shortest, step) : shortest;
}

int64_t ax_schedule_shortest_s(const struct ax_schedule *schedule)
{
	switch (schedule->kind) {
	case AX_SCHEDULE_CRON:
		return shortest_of_day_s(&schedule->cron);
	case AX_SCHEDULE_EVERY:
	case AX_SCHEDULE_AFTER:
		return schedule->period_s;
	case AX_SCHEDULE_AT:
		break;
	}
	return INT64_MAX;
}
