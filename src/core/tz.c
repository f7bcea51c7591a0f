#include "core/tz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/attr.h"
#include "base/rfc3339.h"
#include "core/tz_posix.h"

/* The Gregorian calendar, and with it every POSIX rule, repeats after 400 years. */
static const int64_t cycle_s = 146097LL * 86400;

enum {
	header_bytes = 44,
	max_transitions = 10000, /* real zones have about 250 */
	max_types = 256,
	rule_first_year = 1900, /* for a file without transitions, whose rule holds always */
	rule_years = 404,       /* a whole cycle, and room on both sides of it */
	offset_min_s = -89999,  /* RFC 9636: -24:59:59 … */
	offset_max_s = 93599,   /* … 25:59:59 */
};

struct ax_tz {
	char name[AX_TZ_NAME_SIZE];
	/* Span i, for i in 0..n, begins at at_s[i - 1], ends before at_s[i] and has the type type_of[i]. */
	size_t n;
	int64_t *at_s;
	uint16_t *type_of;
	size_t n_types;
	struct ax_tz_type *types;
	int64_t rule_since_s;
	/* From cycle_until_s on, time is folded back by whole cycles; INT64_MAX when nothing changes any more. */
	int64_t cycle_until_s;
};

/* --- reading ----------------------------------------------------------------------------------------------- */

struct reader {
	const unsigned char *p;
	size_t left;
};

static bool skip(struct reader *r, uint64_t n)
{
	if (n > r->left)
		return false;
	r->p += n;
	r->left -= (size_t)n;
	return true;
}

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be64(const unsigned char *p)
{
	return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

struct header {
	char version;
	uint64_t isut, isstd, leap, time, type, chars;
};

static bool read_header(struct reader *r, struct header *ret)
{
	const unsigned char *p = r->p;
	if (!skip(r, header_bytes) || memcmp(p, "TZif", 4) != 0)
		return false;
	*ret = (struct header){ (char)p[4], be32(p + 20), be32(p + 24), be32(p + 28), be32(p + 32), be32(p + 36),
		be32(p + 40) };
	return true;
}

static bool skip_v1_block(struct reader *r, const struct header *h)
{
	return skip(r, h->time * 5 + h->type * 6 + h->chars + h->leap * 8 + h->isstd + h->isut);
}

static bool read_transitions(struct reader *r, const struct header *h, struct ax_tz *tz)
{
	const unsigned char *times = r->p;
	if (!skip(r, h->time * 8))
		return false;
	const unsigned char *types = r->p;
	if (!skip(r, h->time))
		return false;
	tz->type_of[0] = 0;
	for (size_t i = 0; i < h->time; i++) {
		/* Beyond ±2^59 lies the age of the universe; some writers put a first transition there. */
		int64_t at = be64(times + 8 * i);
		if (at < -(1LL << 59) || at > 1LL << 59 || types[i] >= h->type || (i > 0 && at <= tz->at_s[i - 1]))
			return false;
		tz->at_s[i] = at;
		tz->type_of[i + 1] = types[i];
	}
	tz->n = (size_t)h->time;
	return true;
}

static bool read_abbr(const unsigned char *chars, size_t n_chars, size_t at, char out[AX_TZ_ABBR_SIZE])
{
	size_t n = 0;
	for (; at < n_chars && chars[at] != '\0'; at++) {
		if (n == AX_TZ_ABBR_SIZE - 1 || !ax_tz_abbr_char((char)chars[at]))
			return false;
		out[n++] = (char)chars[at];
	}
	out[n] = '\0';
	return at < n_chars && n > 0;
}

static bool read_types(struct reader *r, const struct header *h, struct ax_tz *tz)
{
	const unsigned char *types = r->p;
	if (!skip(r, h->type * 6))
		return false;
	const unsigned char *chars = r->p;
	if (!skip(r, h->chars))
		return false;
	for (size_t i = 0; i < h->type; i++) {
		const unsigned char *t = types + 6 * i;
		int32_t offset = (int32_t)be32(t);
		if (offset < offset_min_s || offset > offset_max_s || t[4] > 1 ||
			!read_abbr(chars, (size_t)h->chars, t[5], tz->types[i].abbr))
			return false;
		tz->types[i].offset_s = offset;
		tz->types[i].dst = t[4] == 1;
	}
	tz->n_types = (size_t)h->type;
	return true;
}

/* --- the rule after the last transition ---------------------------------------------------------------------- */

static void append(struct ax_tz *tz, int64_t at_s, size_t type)
{
	if (tz->n > 0 && tz->at_s[tz->n - 1] == at_s) /* DST all year: its end is the next year's start */
		tz->n--;
	if (tz->type_of[tz->n] == type)
		return;
	tz->at_s[tz->n++] = at_s;
	tz->type_of[tz->n] = (uint16_t)type;
}

static int64_t year_of(int64_t s)
{
	int64_t year;
	int month, day;
	ax_civil_from_days(s / 86400 - (s % 86400 < 0), &year, &month, &day);
	return year;
}

struct event {
	int64_t at_s;
	size_t type;
};

/* Rules are nearly in order already; only odd ones cross the end of a year. Stable, so that of two events at one
 * instant the later year's stands. */
static void sort_events(struct event *events, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct event e = events[i];
		size_t k = i;
		for (; k > 0 && events[k - 1].at_s > e.at_s; k--)
			events[k] = events[k - 1];
		events[k] = e;
	}
}

/* Makes time repeat from a whole cycle after base_s on, if anything changes in it. The base lies two years after the
 * first rule year, which may be cut by the last listed transition. */
static void fold(struct ax_tz *tz, int64_t base_s)
{
	size_t before = tz->n, within = 0;
	while (before > 0 && tz->at_s[before - 1] > base_s) {
		before--;
		within += tz->at_s[before] <= base_s + cycle_s;
	}
	if (within == 0)
		tz->n = before;
	else
		tz->cycle_until_s = base_s + cycle_s;
}

static void expand_rule(struct ax_tz *tz, const struct ax_tz_posix *rule, size_t std_type, size_t dst_type)
{
	int64_t last_s = tz->n > 0 ? tz->at_s[tz->n - 1] : INT64_MIN;
	int64_t first_year = tz->n > 0 ? year_of(last_s) : rule_first_year;
	struct event *events = ax_malloc(2 * rule_years * sizeof(*events));
	size_t n = 0;
	for (int64_t year = first_year; year < first_year + rule_years; year++) {
		int64_t start_s, end_s;
		ax_tz_posix_year(rule, year, &start_s, &end_s);
		struct event dst = { start_s, dst_type }, std = { end_s, std_type };
		events[n++] = start_s < end_s ? dst : std;
		events[n++] = start_s < end_s ? std : dst;
	}
	sort_events(events, n);
	for (size_t i = 0; i < n; i++) {
		if (events[i].at_s > last_s)
			append(tz, events[i].at_s, events[i].type);
	}
	free(events);
	fold(tz, ax_days_from_civil(first_year + 2, 1, 1) * 86400);
}

/* The footer is "\n" TZ string "\n"; an empty string says nothing about the future. */
static bool read_footer(struct reader *r, struct ax_tz *tz)
{
	const char *s = (const char *)r->p;
	if (r->left < 2 || s[0] != '\n')
		return false;
	const char *end = memchr(s + 1, '\n', r->left - 1);
	if (end == NULL)
		return false;
	if (end == s + 1)
		return true;
	struct ax_tz_posix rule;
	if (!ax_tz_posix_parse(s + 1, (size_t)(end - s - 1), &rule))
		return false;
	size_t std_type = tz->n_types++, dst_type = tz->n_types++;
	tz->types[std_type] = rule.std;
	tz->types[dst_type] = rule.dst;
	if (!rule.has_dst)
		tz->type_of[tz->n] = (uint16_t)std_type;
	else {
		if (tz->n == 0)
			tz->type_of[0] = (uint16_t)std_type;
		expand_rule(tz, &rule, std_type, dst_type);
	}
	return true;
}

static bool read_v2(struct reader *r, const struct header *h, struct ax_tz *tz)
{
	size_t room = (size_t)h->time + 2 * rule_years;
	tz->at_s = ax_malloc(room * sizeof(*tz->at_s));
	tz->type_of = ax_malloc((room + 1) * sizeof(*tz->type_of));
	tz->types = ax_malloc(((size_t)h->type + 2) * sizeof(*tz->types));
	tz->cycle_until_s = INT64_MAX;
	if (!read_transitions(r, h, tz) || !read_types(r, h, tz) || !skip(r, h->isstd + h->isut))
		return false;
	tz->rule_since_s = tz->n > 0 ? tz->at_s[tz->n - 1] : INT64_MIN;
	return read_footer(r, tz);
}

enum ax_status ax_tz_parse(const char *name, const void *bytes, size_t len, struct ax_tz **ret, struct ax_err *err)
{
	struct reader r = { bytes, len };
	struct header h;
	if (!ax_tz_name_valid(name))
		return ax_fail(err, AX_INVALID, "time_zone",
			"This is not a time zone name; write one like Europe/Berlin or UTC.");
	if (!read_header(&r, &h))
		return ax_fail(err, AX_INVALID, "time_zone", "The data of zone %s are not a TZif file.", name);
	if (h.version < '2')
		return ax_fail(err, AX_INVALID, "time_zone",
			"The data of zone %s are of TZif version 1, which ends in 2038; install newer zone data.",
			name);
	if (!skip_v1_block(&r, &h) || !read_header(&r, &h) || h.time > max_transitions || h.type < 1 ||
		h.type > max_types)
		return ax_fail(err, AX_INVALID, "time_zone", "The data of zone %s are damaged.", name);
	if (h.leap > 0)
		return ax_fail(err, AX_INVALID, "time_zone",
			"Zone %s counts leap seconds; use the one of the same name without \"right/\".", name);
	struct ax_tz *tz = ax_malloc(sizeof(*tz));
	snprintf(tz->name, sizeof(tz->name), "%s", name);
	if (!read_v2(&r, &h, tz)) {
		ax_tz_free(tz);
		return ax_fail(err, AX_INVALID, "time_zone", "The data of zone %s are damaged.", name);
	}
	*ret = tz;
	return AX_OK;
}

/* --- asking ------------------------------------------------------------------------------------------------ */

/* The zone that needs no data has no types either: one span, always of this one. */
static const struct ax_tz_type utc_type = { 0, false, "UTC" };
static const struct ax_tz utc = { .name = "UTC", .rule_since_s = INT64_MIN, .cycle_until_s = INT64_MAX };

const struct ax_tz *ax_tz_utc(void)
{
	return &utc;
}

void ax_tz_free(struct ax_tz *tz)
{
	if (tz == NULL || tz == &utc)
		return;
	free(tz->at_s);
	free(tz->type_of);
	free(tz->types);
	free(tz);
}

const char *ax_tz_name(const struct ax_tz *tz)
{
	return tz->name;
}

bool ax_tz_name_valid(const char *name)
{
	size_t n = 0;
	char before = '/';
	for (; name[n] != '\0'; n++) {
		char c = name[n];
		if (n == AX_TZ_NAME_SIZE - 1 || (!ax_tz_abbr_char(c) && c != '_' && c != '.' && c != '/'))
			return false;
		if (before == '/' && (c == '/' || c == '.' || c == '-'))
			return false;
		before = c;
	}
	return n > 0 && before != '/' && strstr(name, "..") == NULL;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* How many transitions lie at or before s. Without branches that depend on the data: this is the hot path. */
static size_t count_until(const struct ax_tz *tz, int64_t s)
{
	const int64_t *base = tz->at_s;
	size_t n = tz->n;
	if (n == 0)
		return 0;
	while (n > 1) {
		size_t half = n / 2;
		base += base[half - 1] <= s ? half : 0;
		n -= half;
	}
	return (size_t)(base - tz->at_s) + (*base <= s);
}

/* Seconds to milliseconds where the ends of time stay the ends of time. */
static int64_t to_ms(int64_t s)
{
	int64_t ms;
	if (__builtin_mul_overflow(s, (int64_t)1000, &ms))
		return s < 0 ? INT64_MIN : INT64_MAX;
	return ms;
}

void ax_tz_span_at(const struct ax_tz *tz, int64_t ms, struct ax_tz_span *ret)
{
	int64_t s = floor_div(ms, 1000), shift_s = 0;
	if (s >= tz->cycle_until_s) {
		shift_s = ((s - tz->cycle_until_s) / cycle_s + 1) * cycle_s;
		s -= shift_s;
	}
	size_t i = count_until(tz, s);
	const struct ax_tz_type *type = tz == &utc ? &utc_type : &tz->types[tz->type_of[i]];
	ret->from_ms = i == 0 ? INT64_MIN : to_ms(tz->at_s[i - 1] + shift_s);
	ret->until_ms = i == tz->n ? INT64_MAX : to_ms(tz->at_s[i] + shift_s);
	ret->offset_s = type->offset_s;
	ret->dst = type->dst;
	ret->abbr = type->abbr;
}

int ax_tz_offset_s(const struct ax_tz *tz, int64_t ms)
{
	struct ax_tz_span span;
	ax_tz_span_at(tz, ms, &span);
	return span.offset_s;
}

int64_t ax_tz_rule_since_ms(const struct ax_tz *tz)
{
	return to_ms(tz->rule_since_s);
}

void ax_tz_from_local(const struct ax_tz *tz, int64_t local_ms, struct ax_tz_local *ret)
{
	/* No offset is as large as this, so the instants asked for lie within it on either side. */
	const int64_t reach_ms = 26 * 3600 * 1000LL;
	const int64_t limit_ms = INT64_MAX - 2 * reach_ms;
	local_ms = AX_MAX(-limit_ms, AX_MIN(local_ms, limit_ms));
	struct ax_tz_span span;
	ax_tz_span_at(tz, local_ms - reach_ms, &span);
	int first_offset_s = span.offset_s, before_s = span.offset_s;
	bool found = false, reached = false;
	*ret = (struct ax_tz_local){ .kind = AX_TZ_GAP };
	for (;;) {
		int64_t ms = local_ms - span.offset_s * 1000LL;
		if (ms >= span.from_ms && ms < span.until_ms) {
			if (!found) {
				*ret = (struct ax_tz_local){ AX_TZ_ONCE, ms, ms, 0 };
				first_offset_s = span.offset_s;
			} else
				*ret = (struct ax_tz_local){ AX_TZ_OVERLAP, ret->first_ms, ms,
					span.offset_s - first_offset_s };
			found = true;
		} else if (!found && !reached && ms < span.from_ms) {
			*ret = (struct ax_tz_local){ AX_TZ_GAP, span.from_ms, span.from_ms, span.offset_s - before_s };
			reached = true;
		}
		if (span.until_ms > local_ms + reach_ms)
			return;
		before_s = span.offset_s;
		ax_tz_span_at(tz, span.until_ms, &span);
	}
}
