#include "core/cron_field.h"

#include <string.h>
#include "base/attr.h"

struct kind {
	const char *name;
	int min, max;
	int star_max;      /* last value of '*' and of v/n: Sunday is counted once */
	const char *names; /* three letters each, from min or 0 on */
	int names_base;
	const char *like; /* examples for messages */
};

static const char month_names[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
static const char weekday_names[] = "SUNMONTUEWEDTHUFRISAT";

static const struct kind kinds[] = {
	[AX_CRON_SECOND] = { "second", 0, 59, 59, "", 0, "30, 0-20, 0,30 or */10" },
	[AX_CRON_MINUTE] = { "minute", 0, 59, 59, "", 0, "30, 0-20, 0,30 or */10" },
	[AX_CRON_HOUR] = { "hour", 0, 23, 23, "", 0, "8, 8-18, 8,20 or */2" },
	[AX_CRON_DAY] = { "day", 1, 31, 31, "", 0, "15, 1-7, */2, ?, L, L-2, LW or 15W" },
	[AX_CRON_MONTH] = { "month", 1, 12, 12, month_names, 1, "6, JUN, JAN-MAR or */3" },
	[AX_CRON_WEEKDAY] = { "weekday", 0, 7, 6, weekday_names, 0, "MON, MON-FRI, ?, FRIL or MON#2" },
	[AX_CRON_YEAR] = { "year", AX_CRON_YEAR_MIN, AX_CRON_YEAR_MAX, AX_CRON_YEAR_MAX, "", 0,
		"2027, 2027-2030 or *" },
};
static const struct kind quartz_weekday = { "weekday", 1, 7, 7, weekday_names, 1, "MON, MON-FRI, ?, L, FRIL or MON#2" };

/* What is being read: the field, and the item in it, which messages quote. */
struct item {
	struct ax_cron *cron;
	enum ax_cron_field field;
	enum ax_dialect dialect;
	const struct kind *kind;
	const char *s, *end;
	bool only; /* the field has no other item */
	struct ax_err *err;
};

/* Items are quoted up to this many bytes. */
static int quoted_len(const struct item *it)
{
	return (int)AX_MIN(it->end - it->s, 40);
}

#define FAIL(it, ...) ax_fail((it)->err, AX_INVALID, (it)->kind->name, __VA_ARGS__)

static enum ax_status fail_syntax(const struct item *it)
{
	if (it->s == it->end)
		return FAIL(it, "The %s field has an empty item: remove the extra comma.", it->kind->name);
	if (memchr(it->s, '?', (size_t)(it->end - it->s)) != NULL)
		return FAIL(it, "\"?\" stands alone and only in the day and weekday fields; write * here.");
	return FAIL(it, "\"%.*s\" cannot be read in the %s field; write for example %s.", quoted_len(it), it->s,
		it->kind->name, it->kind->like);
}

static enum ax_status fail_range(const struct item *it)
{
	const struct kind *k = it->kind;
	const char *sunday = it->field != AX_CRON_WEEKDAY ? ""
		: k->min == 1                             ? " (1 is Sunday)"
							  : " (0 and 7 are Sunday)";
	return FAIL(it, "\"%.*s\" is out of range: the %s goes from %d to %d%s.", quoted_len(it), it->s, k->name,
		k->min, k->max, sunday);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* One to four digits at *p. */
static bool number(const char **p, const char *end, int *ret)
{
	int value = 0, n = 0;
	for (; *p < end && is_digit(**p); (*p)++) {
		if (++n > 4)
			return false;
		value = value * 10 + (**p - '0');
	}
	*ret = value;
	return n > 0;
}

static bool name(const struct kind *k, const char **p, const char *end, int *ret)
{
	if (end - *p < 3)
		return false;
	char a = upper((*p)[0]), b = upper((*p)[1]), c = upper((*p)[2]);
	for (const char *n = k->names; *n != '\0'; n += 3) {
		if (n[0] == a && n[1] == b && n[2] == c) {
			*p += 3;
			*ret = k->names_base + (int)(n - k->names) / 3;
			return true;
		}
	}
	return false;
}

/* A value of the field, number or name, checked against its range. */
static enum ax_status value(const struct item *it, const char **p, int *ret)
{
	const char *start = *p;
	if (*p < it->end && is_digit(**p)) {
		if (!number(p, it->end, ret) || *ret < it->kind->min || *ret > it->kind->max)
			return fail_range(it);
		return AX_OK;
	}
	if (name(it->kind, p, it->end, ret))
		return AX_OK;
	if (start < it->end && *start == '-')
		return fail_range(it);
	return fail_syntax(it);
}

/* Adds lo, lo + step, … up to hi. */
static void add_values(uint64_t *words, int base, int lo, int hi, int step)
{
	if (step == 1 && base == 0) {
		words[0] |= (UINT64_MAX >> (63 - (hi - lo))) << lo;
		return;
	}
	for (int v = lo; v <= hi; v += step)
		words[(v - base) / 64] |= 1ULL << ((v - base) % 64);
}

static enum ax_status fail_step(const struct item *it, int step)
{
	static const char *const units[] = { "seconds", "minutes", "hours", "days" };
	const struct kind *k = it->kind;
	if (step == 0)
		return FAIL(it, "A step of 0 never moves: write a step from 1 to %d after the /.", k->max - k->min);
	if (it->field > AX_CRON_DAY)
		return FAIL(it, "Step %d is larger than the %s field (%d-%d): write a smaller one, or list the values.",
			step, k->name, k->min, k->max);
	return FAIL(it, "Step %d is larger than the %s field (%d-%d). For every %d %s use @every %d%c.", step, k->name,
		k->min, k->max, step, units[it->field], it->field == AX_CRON_DAY ? step * 24 : step, "smhh"[it->field]);
}

/* "/n" up to the end of the item. */
static enum ax_status step(const struct item *it, const char *p, int *ret)
{
	int value, max = it->kind->max - it->kind->min;
	p++;
	if (!number(&p, it->end, &value) || p != it->end)
		return FAIL(it, "\"%.*s\" needs one whole number from 1 to %d after its /, as in */2.", quoted_len(it),
			it->s, max);
	if (value < 1 || value > max)
		return fail_step(it, value);
	*ret = value;
	return AX_OK;
}

static enum ax_status fail_reversed(const struct item *it, const char *dash)
{
	const struct kind *k = it->kind;
	int lo_len = (int)(dash - it->s), hi_len = (int)(it->end - dash) - 1;
	const char *slash = memchr(dash, '/', (size_t)(it->end - dash));
	if (slash != NULL)
		hi_len = (int)(slash - dash) - 1;
	if (it->field == AX_CRON_YEAR)
		return FAIL(it, "%.*s runs backwards, and years do not start again: write the earlier year first.",
			quoted_len(it), it->s);
	return FAIL(it, "%.*s runs backwards. %s write %.*s-%d,%d-%.*s.", quoted_len(it), it->s,
		it->dialect == AX_DIALECT_UNIX ? "In 5-field cron" : "In this dialect", lo_len, it->s, k->star_max,
		k->min, hi_len, dash + 1);
}

/* lo-hi[/n]; quartz lets it wrap, and the step runs on across the wrap (R5). */
static enum ax_status range(const struct item *it, const char *dash, int lo, uint64_t *words, int base)
{
	const struct kind *k = it->kind;
	const char *p = dash + 1;
	int hi, n = 1;
	enum ax_status status = value(it, &p, &hi);
	if (status == AX_OK && p < it->end)
		status = *p == '/' ? step(it, p, &n) : fail_syntax(it);
	if (status != AX_OK)
		return status;
	bool unix_weekday = it->field == AX_CRON_WEEKDAY && k->min == 0;
	if (lo > hi && unix_weekday && hi == 0)
		hi = 7;
	if (lo <= hi) {
		add_values(words, base, lo, hi, n);
		return AX_OK;
	}
	if (it->dialect != AX_DIALECT_QUARTZ || it->field == AX_CRON_YEAR)
		return fail_reversed(it, dash);
	int size = k->max - k->min + 1;
	for (int v = lo; v <= hi + size; v += n)
		words[0] |= 1ULL << (v > k->max ? v - size : v);
	return AX_OK;
}

/* "*", "v", "v-v", each with or without "/n" (R2, R4). `v` was read up to p. */
static enum ax_status plain_item(const struct item *it, uint64_t *words, int base)
{
	const struct kind *k = it->kind;
	const char *p = it->s;
	bool star = p < it->end && *p == '*';
	int lo = k->min, hi, n = 1;
	enum ax_status status = AX_OK;
	if (star)
		p++;
	else
		status = value(it, &p, &lo);
	if (status != AX_OK)
		return status;
	if (!star && p < it->end && *p == '-')
		return range(it, p, lo, words, base);
	bool stepped = p < it->end && *p == '/';
	if (stepped)
		status = step(it, p, &n);
	else if (p != it->end)
		status = fail_syntax(it);
	if (status != AX_OK)
		return status;
	hi = star || stepped ? AX_MAX(lo, k->star_max) : lo;
	add_values(words, base, lo, hi, n);
	if ((star || stepped) && it->field <= AX_CRON_HOUR)
		it->cron->interval = true;
	if (star && it->field == AX_CRON_DAY)
		it->cron->days_star = true;
	if (star && it->field == AX_CRON_WEEKDAY)
		it->cron->weekdays_star = true;
	return AX_OK;
}

/* The "-n" of "L-n", or nothing. */
static bool days_before_last(const char *p, const char *end, int *ret)
{
	*ret = 0;
	if (p == end)
		return true;
	if (*p != '-')
		return false;
	p++;
	return number(&p, end, ret) && p == end && *ret >= 1 && *ret <= 30;
}

/* "L", "L-n", "LW", "L-nW", "nW". */
static enum ax_status day_item(const struct item *it, uint64_t *words)
{
	const char *p = it->s, *end = it->end;
	bool last = upper(*p) == 'L', nearest = upper(end[-1]) == 'W';
	int n;
	if (!last && !nearest)
		return plain_item(it, words, 0);
	if (nearest)
		end--;
	if (last) {
		if (!days_before_last(p + 1, end, &n))
			return FAIL(it, "\"%.*s\" cannot be read; write L, or L-1 to L-30, with or without W after it.",
				quoted_len(it), it->s);
		*(nearest ? &it->cron->days_last_nearest : &it->cron->days_last) |= 1U << n;
		return AX_OK;
	}
	if (!number(&p, end, &n) || p != end || n < 1 || n > 31)
		return FAIL(it, "\"%.*s\" cannot be read; W follows one day from 1 to 31, as in 15W, or L, as in LW.",
			quoted_len(it), it->s);
	it->cron->days_nearest |= 1U << n;
	return AX_OK;
}

/* Bit 0 = Sunday, from either numbering. */
static uint8_t weekday_bit(const struct kind *k, int v)
{
	return (uint8_t)(1U << (k->min == 1 ? v - 1 : v % 7));
}

/* "v#n": the n-th such weekday of the month. */
static enum ax_status nth_item(const struct item *it, const char *hash)
{
	const char *p = it->s, *count = hash + 1;
	int v, n;
	enum ax_status status = value(it, &p, &v);
	if (status != AX_OK)
		return status;
	if (p != hash || !number(&count, it->end, &n) || count != it->end || n < 1 || n > 5)
		return FAIL(it, "\"%.*s\" cannot be read; write a weekday, # and 1 to 5, as in MON#2.", quoted_len(it),
			it->s);
	it->cron->weekdays_nth[n - 1] |= weekday_bit(it->kind, v);
	return AX_OK;
}

/* "L", "vL", "v#n" and plain items. */
static enum ax_status weekday_item(const struct item *it, uint64_t *words)
{
	const char *p = it->s, *end = it->end;
	const char *hash = memchr(p, '#', (size_t)(end - p));
	if (hash != NULL)
		return nth_item(it, hash);
	if (upper(end[-1]) != 'L')
		return plain_item(it, words, 0);
	if (end - p == 1) {
		if (it->dialect != AX_DIALECT_QUARTZ || !it->only)
			return FAIL(it, "L alone is no weekday here; write SAT, or FRIL for the month's last Friday.");
		words[0] |= 1ULL << 7;
		return AX_OK;
	}
	int v;
	enum ax_status status = value(it, &p, &v);
	if (status != AX_OK)
		return status;
	if (p != end - 1)
		return fail_syntax(it);
	it->cron->weekdays_last |= weekday_bit(it->kind, v);
	return AX_OK;
}

static enum ax_status any_item(const struct item *it, uint64_t *words)
{
	switch (it->field) {
	case AX_CRON_DAY:
		return day_item(it, words);
	case AX_CRON_WEEKDAY:
		return weekday_item(it, words);
	case AX_CRON_YEAR:
		return plain_item(it, words, AX_CRON_YEAR_MIN);
	case AX_CRON_SECOND:
	case AX_CRON_MINUTE:
	case AX_CRON_HOUR:
	case AX_CRON_MONTH:
		break;
	}
	return plain_item(it, words, 0);
}

static void store(struct ax_cron *cron, enum ax_cron_field field, const struct kind *k, const uint64_t *words)
{
	switch (field) {
	case AX_CRON_SECOND:
		cron->seconds = words[0];
		break;
	case AX_CRON_MINUTE:
		cron->minutes = words[0];
		break;
	case AX_CRON_HOUR:
		cron->hours = (uint32_t)words[0];
		break;
	case AX_CRON_DAY:
		cron->days = (uint32_t)words[0];
		break;
	case AX_CRON_MONTH:
		cron->months = (uint16_t)words[0];
		break;
	case AX_CRON_WEEKDAY:
		cron->weekdays = k->min == 1 ? (uint8_t)(words[0] >> 1) : (uint8_t)((words[0] | words[0] >> 7) & 0x7f);
		break;
	case AX_CRON_YEAR:
		memcpy(cron->years, words, sizeof(cron->years));
		break;
	}
}

/* '*' and, in the day fields, '?': everything. */
static bool free_field(struct ax_cron *cron, enum ax_cron_field field, char c)
{
	if (field == AX_CRON_YEAR && c == '*') {
		cron->any_year = true;
		return true;
	}
	if (field == AX_CRON_DAY && (c == '*' || c == '?')) {
		cron->days_free = cron->days_star = true;
		cron->days = 0xfffffffeU;
		return true;
	}
	if (field == AX_CRON_WEEKDAY && (c == '*' || c == '?')) {
		cron->weekdays_free = cron->weekdays_star = true;
		cron->weekdays = 0x7f;
		return true;
	}
	return false;
}

enum ax_status ax_cron_field_parse(struct ax_cron *cron, enum ax_cron_field field, enum ax_dialect dialect,
	const char *text, size_t len, struct ax_err *err)
{
	if (len == 1 && free_field(cron, field, text[0]))
		return AX_OK;
	const struct kind *k =
		field == AX_CRON_WEEKDAY && dialect == AX_DIALECT_QUARTZ ? &quartz_weekday : &kinds[field];
	const char *end = text + len;
	struct item it = { cron, field, dialect, k, text, end, memchr(text, ',', len) == NULL, err };
	uint64_t words[AX_CRON_YEAR_WORDS] = { 0 };
	for (;;) {
		const char *comma = memchr(it.s, ',', (size_t)(end - it.s));
		it.end = comma != NULL ? comma : end;
		enum ax_status status = it.s == it.end ? fail_syntax(&it) : any_item(&it, words);
		if (status != AX_OK)
			return status;
		if (comma == NULL)
			break;
		it.s = comma + 1;
	}
	store(cron, field, k, words);
	return AX_OK;
}
