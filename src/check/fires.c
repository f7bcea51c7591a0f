#include "check/fires.h"

#include <stdlib.h>
#include <string.h>

enum {
	DAY_S = 86400,
	CHUNK_DAYS = 4,           /* how far a walk writes down at a time */
	ZONE_CHANGE_S = 3 * 3600, /* R10: a jump this long is a change of zone, not daylight saving */
};

static const int64_t last_second = 16756761600; /* 2501-01-01 */
static const int64_t hundred_years_s = 36500LL * DAY_S;

/* ---- what a schedule may say ---- */

static bool same_word(const char *a, const char *b)
{
	for (; *a || *b; a++, b++) {
		char x = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;
		if (x != *b)
			return false;
	}
	return true;
}

/* [N"h"][N"m"][N"s"], one second to a hundred years. */
static bool read_span(const char *text, int64_t *ret_ms)
{
	static const struct {
		char letter;
		int seconds;
	} units[] = { { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	int64_t total = 0;
	const char *at = text;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const char *s = at;
		int64_t value = 0;
		for (; *s >= '0' && *s <= '9' && value <= hundred_years_s; s++)
			value = value * 10 + (*s - '0');
		if (s == at || *s != units[i].letter)
			continue;
		total += value * units[i].seconds;
		at = s + 1;
	}
	if (at == text || *at != '\0' || total < 1 || total > hundred_years_s)
		return false;
	*ret_ms = total * 1000;
	return true;
}

static enum ax_status parse_macro(struct ax_arena *arena, char *text, struct ax_check_schedule *ret, struct ax_err *err)
{
	static const struct {
		const char *name, *cron;
	} macros[] = {
		{ "@yearly", "0 0 1 1 *" },
		{ "@annually", "0 0 1 1 *" },
		{ "@monthly", "0 0 1 * *" },
		{ "@weekly", "0 0 * * 0" },
		{ "@daily", "0 0 * * *" },
		{ "@midnight", "0 0 * * *" },
		{ "@hourly", "0 * * * *" },
	};
	char *word_end = text + strcspn(text, " \t");
	const char *rest = word_end + strspn(word_end, " \t");
	*word_end = '\0';
	if (*rest == '\0') {
		for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
			if (same_word(text, macros[i].name))
				return ax_check_pattern_parse(
					arena, macros[i].cron, AX_CHECK_DIALECT_UNIX, &ret->pattern, err);
	} else if (same_word(text, "@every") || same_word(text, "@after")) {
		ret->kind = same_word(text, "@every") ? AX_CHECK_EVERY : AX_CHECK_AFTER;
		if (read_span(rest, &ret->span_ms))
			return AX_OK;
	} else if (same_word(text, "@at")) {
		ret->kind = AX_CHECK_AT;
		if (ax_check_instant_parse(rest, &ret->at_ms))
			return AX_OK;
	}
	return ax_fail(err, AX_INVALID, "cron_expr", "unknown macro, duration or instant: %.60s %.60s", text, rest);
}

enum ax_status ax_check_schedule_parse(struct ax_arena *arena, const char *expr, enum ax_check_dialect dialect,
	struct ax_check_schedule *ret, struct ax_err *err)
{
	struct ax_check_schedule schedule = { .kind = AX_CHECK_CRON };
	char *text = ax_strdup(arena, expr + strspn(expr, " \t"));
	size_t len = strlen(text);
	enum ax_status status;
	if (text[0] == '@') {
		while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
			text[--len] = '\0';
		status = parse_macro(arena, text, &schedule, err);
	} else {
		status = ax_check_pattern_parse(arena, expr, dialect, &schedule.pattern, err);
	}
	if (status == AX_OK)
		*ret = schedule;
	return status;
}

/* ---- one day's wall times ---- */

static void write_down(struct ax_check_fires *f, int64_t ms)
{
	if (ms <= f->after_ms || ms > f->until_ms)
		return;
	if (f->n == f->room) {
		f->room = f->room ? 2 * f->room : 64;
		f->list = ax_realloc(f->list, f->room * sizeof(*f->list));
	}
	f->list[f->n++] = ms;
}

static bool has_date(const struct ax_check_fires *f, int64_t number)
{
	return !f->limits || !f->limits->in_days ||
		ax_check_day_is_in(f->limits->in_days, number) != f->limits->exclude;
}

bool ax_check_is_valid(const struct ax_check_limits *limits, int64_t ms)
{
	return ms >= limits->valid_from_ms && (limits->valid_until_ms == 0 || ms < limits->valid_until_ms);
}

static bool is_demanded(const struct ax_check_fires *f, int64_t ms)
{
	if (!f->limits)
		return true;
	if (!ax_check_is_valid(f->limits, ms))
		return false;
	int64_t utc_s = ax_check_floor_div(ms, 1000);
	int64_t local_s = utc_s + f->zone->segments[ax_check_zone_at(f->zone, utc_s)].offset_s;
	return has_date(f, ax_check_floor_div(local_s, DAY_S));
}

/* The segments of a zone that a wall time may fall into. */
struct stretch {
	const struct ax_check_zone *zone;
	size_t first, last;
};

/* R10 for one wall time, in seconds as if it were UTC. */
static void write_wall_time(struct ax_check_fires *f, const struct stretch *in, int64_t wall_s)
{
	bool shown = false;
	for (size_t i = in->first; i <= in->last; i++) {
		int64_t utc_s = wall_s - in->zone->segments[i].offset_s;
		if (utc_s < in->zone->segments[i].start_s || utc_s >= ax_check_segment_end(in->zone, i))
			continue;
		if (shown && !f->schedule->pattern.interval)
			return; /* a fixed time that is shown again */
		write_down(f, utc_s * 1000);
		shown = true;
	}
	if (shown || f->schedule->pattern.interval)
		return;
	/* no clock shows it: a forward jump leaps over it */
	for (size_t i = in->first; i < in->last; i++) {
		const struct ax_check_segment *before = &in->zone->segments[i], *after = before + 1;
		if (after->start_s + before->offset_s <= wall_s && wall_s < after->start_s + after->offset_s) {
			if (after->offset_s - before->offset_s < ZONE_CHANGE_S)
				write_down(f, after->start_s * 1000);
			return;
		}
	}
}

/* The values of a field that match, in a list that -1 ends. */
static void list_values(bool (*matches)(const struct ax_check_pattern *, int), const struct ax_check_pattern *pattern,
	int count, int ret[61])
{
	int n = 0;
	for (int value = 0; value < count; value++)
		if (matches(pattern, value))
			ret[n++] = value;
	ret[n] = -1;
}

static void write_days(struct ax_check_fires *f, int64_t first_number, int64_t last_number)
{
	const struct ax_check_pattern *pattern = &f->schedule->pattern;
	int hours[61], minutes[61], seconds[61];
	list_values(ax_check_hour_matches, pattern, 24, hours);
	list_values(ax_check_minute_matches, pattern, 60, minutes);
	list_values(ax_check_second_matches, pattern, 60, seconds);

	struct ax_check_day day = ax_check_day_of(first_number);
	for (; day.number <= last_number; ax_check_day_step(&day)) {
		if (!ax_check_day_matches(pattern, &day))
			continue;
		if (!has_date(f, day.number) && !has_date(f, day.number + 1)) /* where a gap may move a fire to */
			continue;
		int64_t midnight = day.number * DAY_S;
		struct stretch in = { .zone = f->zone,
			.first = ax_check_zone_at(f->zone, midnight - AX_CHECK_OFFSET_MAX_S),
			.last = ax_check_zone_at(f->zone, midnight + DAY_S + AX_CHECK_OFFSET_MAX_S) };
		for (const int *h = hours; *h >= 0; h++)
			for (const int *m = minutes; *m >= 0; m++)
				for (const int *s = seconds; *s >= 0; s++)
					write_wall_time(f, &in, midnight + *h * 3600 + *m * 60 + *s);
	}
}

/* ---- the walk ---- */

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Sorts the list and drops what is there twice (a skipped time that meets a regular one at the end of the gap). */
static void put_in_order(struct ax_check_fires *f)
{
	bool in_order = true;
	for (size_t i = 1; i < f->n && in_order; i++)
		in_order = f->list[i - 1] < f->list[i];
	if (in_order)
		return;
	qsort(f->list, f->n, sizeof(*f->list), by_time);
	size_t kept = 1;
	for (size_t i = 1; i < f->n; i++)
		if (f->list[i] != f->list[kept - 1])
			f->list[kept++] = f->list[i];
	f->n = kept;
}

/* Writes down the next days of the window. The list was handed out. */
static void write_cron(struct ax_check_fires *f)
{
	int64_t until_ms = f->until_ms;
	f->until_ms = AX_MIN(until_ms, f->after_ms + CHUNK_DAYS * (int64_t)DAY_S * 1000);
	/* local dates are at most a day away from those of UTC */
	int64_t after_s = ax_check_floor_div(f->after_ms, 1000), until_s = ax_check_floor_div(f->until_ms, 1000);
	size_t first = ax_check_zone_at(f->zone, after_s), last = ax_check_zone_at(f->zone, until_s);
	int32_t low = f->zone->segments[first].offset_s, high = low;
	for (size_t i = first; i <= last; i++) {
		low = AX_MIN(low, f->zone->segments[i].offset_s);
		high = AX_MAX(high, f->zone->segments[i].offset_s);
	}
	write_days(f, ax_check_floor_div(after_s + low, DAY_S), ax_check_floor_div(until_s + high, DAY_S));
	put_in_order(f);
	f->after_ms = f->until_ms;
	f->until_ms = until_ms;
}

/* Instants are whole seconds: the anchor counts as the second that it is in. */
static void write_every(struct ax_check_fires *f)
{
	int64_t span = f->schedule->span_ms;
	int64_t anchor = ax_check_floor_div(f->anchor_ms, 1000) * 1000;
	int64_t k = f->after_ms < anchor ? 1 : (f->after_ms - anchor) / span + 1;
	int64_t fire = anchor + k * span;
	int64_t until_ms = f->until_ms;
	if (fire > until_ms) {
		f->after_ms = until_ms;
		return;
	}
	write_down(f, fire);
	f->after_ms = fire;
}

static void write_at(struct ax_check_fires *f)
{
	write_down(f, f->schedule->at_ms);
	f->after_ms = f->until_ms;
}

void ax_check_fires_begin(struct ax_check_fires *fires, const struct ax_check_schedule *schedule,
	const struct ax_check_zone *zone, int64_t anchor_ms, int64_t after_ms, int64_t until_ms)
{
	*fires = (struct ax_check_fires){ .schedule = schedule,
		.zone = zone,
		.anchor_ms = anchor_ms,
		.after_ms = AX_MAX(after_ms, -1),
		.until_ms = AX_MIN(until_ms, last_second * 1000) };
}

void ax_check_fires_limit(struct ax_check_fires *fires, const struct ax_check_limits *limits)
{
	fires->limits = limits;
	/* nothing is walked over that cannot be demanded */
	if (limits->valid_from_ms > 0)
		fires->after_ms = AX_MAX(fires->after_ms, limits->valid_from_ms - 1);
	if (limits->valid_until_ms > 0)
		fires->until_ms = AX_MIN(fires->until_ms, limits->valid_until_ms - 1);
}

/* The next instant of the schedule, demanded or not. */
static bool next_instant(struct ax_check_fires *fires, int64_t *ret_ms)
{
	while (fires->at == fires->n) {
		if (fires->after_ms >= fires->until_ms || fires->schedule->kind == AX_CHECK_AFTER)
			return false;
		fires->at = fires->n = 0;
		switch (fires->schedule->kind) {
		case AX_CHECK_CRON:
			write_cron(fires);
			break;
		case AX_CHECK_EVERY:
			write_every(fires);
			break;
		case AX_CHECK_AT:
			write_at(fires);
			break;
		case AX_CHECK_AFTER:
			break;
		}
	}
	*ret_ms = fires->list[fires->at++];
	return true;
}

bool ax_check_fires_next(struct ax_check_fires *fires, int64_t *ret_ms)
{
	int64_t ms;
	while (next_instant(fires, &ms)) {
		if (is_demanded(fires, ms)) {
			*ret_ms = ms;
			return true;
		}
	}
	return false;
}

void ax_check_fires_end(struct ax_check_fires *fires)
{
	free(fires->list);
	fires->list = NULL;
	fires->n = fires->at = fires->room = 0;
}
