#include "core/schedule_text.h"

#include <string.h>
#include "base/attr.h"
#include "base/rfc3339.h"

/* R10: below this a skipped fixed time is moved to the gap's end; from it on the times do not exist. */
static const int64_t zone_change_ms = 3 * 3600 * 1000;
static const uint32_t all_hours = (1U << 24) - 1;

/* A transition as the wall clock shows it: from `before_ms` it is set to `after_ms`. */
struct change {
	int64_t at_ms, before_ms, after_ms;
};

/* The transition at which the span begins. */
static struct change change_at(const struct ax_tz *tz, const struct ax_tz_span *span)
{
	int64_t at_ms = span->from_ms;
	return (struct change){ at_ms, at_ms + ax_tz_offset_s(tz, at_ms - 1) * 1000LL,
		at_ms + span->offset_s * 1000LL };
}

/* The first matching wall time in [from_ms, until_ms). */
static bool match_between(const struct ax_cron *cron, int64_t from_ms, int64_t until_ms, int64_t *ret_ms)
{
	int64_t wall_s;
	if (!ax_cron_next_local(cron, from_ms / 1000, &wall_s) || wall_s * 1000 >= until_ms)
		return false;
	*ret_ms = wall_s * 1000;
	return true;
}

/* Whether the wall times that a change skips are lost, and worth a word: those of an interval in named hours (a beat
 * through all hours just goes on), and all of them when a zone changes. */
static bool loses(const struct ax_cron *cron, const struct change *c, int64_t *ret_wall_ms)
{
	int64_t jump_ms = c->after_ms - c->before_ms;
	bool interval = cron->interval && cron->hours != all_hours;
	return jump_ms > 0 && (interval || jump_ms >= zone_change_ms) &&
		match_between(cron, c->before_ms, c->after_ms, ret_wall_ms);
}

static void set_place(struct ax_fire *fire, const struct ax_tz *tz, int64_t ms, struct ax_tz_span *ret_span)
{
	ax_tz_span_at(tz, ms, ret_span);
	memset(fire, 0, sizeof(*fire));
	fire->ms = fire->due_ms = ms;
	fire->offset_s = ret_span->offset_s;
	strncpy(fire->abbr, ret_span->abbr, sizeof(fire->abbr) - 1);
	fire->wall_ms = ms + ret_span->offset_s * 1000LL;
}

/* Notes on times lost after `after_ms` and up to `until_ms`. */
static size_t add_losses(const struct ax_cron *cron, const struct ax_tz *tz, int64_t after_ms, int64_t until_ms,
	struct ax_fire *items, size_t cap)
{
	struct ax_tz_span span;
	size_t n = 0;
	ax_tz_span_at(tz, after_ms, &span);
	while (n < cap && span.until_ms <= until_ms && span.until_ms != INT64_MAX) {
		struct ax_fire *item = &items[n];
		int64_t wall_ms;
		set_place(item, tz, span.until_ms, &span);
		struct change c = change_at(tz, &span);
		if (!loses(cron, &c, &wall_ms))
			continue;
		item->note = AX_NOTE_GAP_SKIPPED;
		item->wall_ms = wall_ms;
		item->from_ms = c.before_ms;
		item->until_ms = c.after_ms;
		n++;
	}
	return n;
}

static bool same_day(int64_t a_ms, int64_t b_ms)
{
	const int64_t day_ms = 86400000;
	return a_ms / day_ms - (a_ms % day_ms < 0) == b_ms / day_ms - (b_ms % day_ms < 0);
}

/* The clock change on the fire's local date, if any. */
static void note_change_day(struct ax_fire *fire, const struct ax_tz *tz, const struct ax_tz_span *span)
{
	struct ax_tz_span near[2] = { *span, *span };
	if (span->until_ms != INT64_MAX)
		ax_tz_span_at(tz, span->until_ms, &near[1]);
	for (int i = 0; i < 2; i++) {
		if (near[i].from_ms == INT64_MIN)
			continue;
		struct change c = change_at(tz, &near[i]);
		if (c.before_ms == c.after_ms ||
			!(same_day(fire->wall_ms, c.before_ms) || same_day(fire->wall_ms, c.after_ms)))
			continue;
		fire->note = AX_NOTE_CHANGE_DAY;
		fire->from_ms = c.before_ms;
		fire->until_ms = c.after_ms;
		return;
	}
}

static bool note_gap(
	struct ax_fire *fire, const struct ax_cron *cron, const struct ax_tz *tz, const struct ax_tz_span *span)
{
	int64_t wall_ms;
	if (cron->interval || fire->ms != span->from_ms)
		return false;
	struct change c = change_at(tz, span);
	if (c.after_ms - c.before_ms >= zone_change_ms || !match_between(cron, c.before_ms, c.after_ms, &wall_ms))
		return false;
	fire->note = AX_NOTE_GAP_MOVED;
	fire->wall_ms = wall_ms;
	fire->from_ms = c.before_ms;
	fire->until_ms = c.after_ms;
	return true;
}

static bool note_overlap(struct ax_fire *fire, const struct ax_cron *cron, const struct ax_tz *tz)
{
	struct ax_tz_local local;
	struct ax_tz_span second;
	ax_tz_from_local(tz, fire->wall_ms, &local);
	if (local.kind != AX_TZ_OVERLAP)
		return false;
	ax_tz_span_at(tz, local.second_ms, &second);
	struct change c = change_at(tz, &second);
	fire->note = cron->interval ? AX_NOTE_OVERLAP_BOTH : AX_NOTE_OVERLAP_FIRST;
	fire->pass = fire->ms == local.first_ms ? 1 : 2;
	fire->from_ms = c.after_ms;
	fire->until_ms = c.before_ms;
	return true;
}

/* Of dates that an exception of the calendar leaves out: the first time in (after_ms, until_ms] that would have been a
 * fire. */
static size_t add_left_out(
	const struct ax_rule *rule, int64_t after_ms, int64_t until_ms, struct ax_fire *items, size_t cap)
{
	size_t n = 0;
	int64_t last = ax_rule_date(rule, until_ms);
	for (int i = 0; rule->calendar != NULL && n < cap && i < rule->calendar->n; i++) {
		const struct ax_calendar_day *day = &rule->calendar->days[i];
		struct ax_tz_span span;
		int64_t ms;
		if (day->day > last)
			break;
		if (ax_rule_has_date(rule, day->day) || day->day < ax_rule_date(rule, after_ms))
			continue;
		int64_t before_ms = AX_MAX(after_ms, ax_rule_date_begin(rule, day->day) - 1);
		if (!ax_schedule_next(&rule->schedule, rule->tz, rule->anchor_ms, before_ms, &ms) || ms > until_ms ||
			ax_rule_date(rule, ms) != day->day)
			continue;
		set_place(&items[n], rule->tz, ms, &span);
		items[n].note = AX_NOTE_CALENDAR_OUT;
		items[n++].label = day->label;
	}
	return n;
}

static void describe_fire(struct ax_fire *fire, const struct ax_rule *rule, int64_t ms)
{
	const struct ax_calendar_day *day =
		rule->calendar != NULL ? ax_calendar_exception(rule->calendar, ax_rule_date(rule, ms)) : NULL;
	struct ax_tz_span span;
	set_place(fire, rule->tz, ms, &span);
	fire->fires = true;
	fire->due_ms = ms + rule->jitter_ms;
	if (rule->schedule.kind == AX_SCHEDULE_CRON &&
		(note_gap(fire, &rule->schedule.cron, rule->tz, &span) ||
			note_overlap(fire, &rule->schedule.cron, rule->tz)))
		return;
	note_change_day(fire, rule->tz, &span);
	if (fire->note == AX_NOTE_NONE && day != NULL) {
		fire->note = AX_NOTE_CALENDAR_IN;
		fire->label = day->label;
	}
}

static void sort_by_time(struct ax_fire *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct ax_fire item = items[i];
		size_t k = i;
		for (; k > 0 && items[k - 1].ms > item.ms; k--)
			items[k] = items[k - 1];
		items[k] = item;
	}
}

/* What is no fire, after `after_ms` and up to `until_ms`, and why. */
static size_t add_notes(
	const struct ax_rule *rule, int64_t after_ms, int64_t until_ms, struct ax_fire *items, size_t cap)
{
	size_t n = add_left_out(rule, after_ms, until_ms, items, cap), lost = 0;
	if (rule->schedule.kind == AX_SCHEDULE_CRON)
		lost = add_losses(&rule->schedule.cron, rule->tz, after_ms, until_ms, items + n, cap - n);
	for (size_t i = n; lost > 0; i++, lost--) /* of dates that have fires */
		if (ax_rule_has_date(rule, ax_rule_date(rule, items[i].ms)))
			items[n++] = items[i];
	sort_by_time(items, n);
	return n;
}

size_t ax_schedule_preview(
	const struct ax_rule *rule, int64_t after_ms, int64_t until_ms, struct ax_fire *items, size_t cap)
{
	size_t n = 0;
	after_ms = AX_MAX(after_ms, rule->valid_from != 0 ? rule->valid_from - 1 : INT64_MIN);
	if (rule->valid_until != 0)
		until_ms = AX_MIN(until_ms, rule->valid_until - 1);
	while (n < cap) {
		int64_t next_ms = until_ms;
		bool have = ax_rule_next(rule, after_ms, &next_ms);
		/* Without a next fire and an end there is no telling how far to look for others. */
		if (have || until_ms != INT64_MAX)
			n += add_notes(rule, after_ms, AX_MIN(next_ms, until_ms), items + n, cap - n);
		if (!have || next_ms > until_ms || n == cap)
			break;
		describe_fire(&items[n++], rule, next_ms);
		after_ms = next_ms;
	}
	return n;
}

/* --- text --------------------------------------------------------------------------------------------------------- */

static void add_date(struct ax_buf *out, int64_t local_ms)
{
	static const char *const names[] = { "", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
		"Nov", "Dec" };
	int64_t year;
	int month, day;
	ax_civil_from_days(local_ms / 86400000 - (local_ms % 86400000 < 0), &year, &month, &day);
	ax_buf_printf(out, "%d %s", day, names[month]);
}

/* "02:30", with its date when that is not the one already named. */
static void add_time(struct ax_buf *out, int64_t local_ms, int64_t named_ms)
{
	int64_t s = ((local_ms % 86400000) + 86400000) % 86400000 / 1000;
	if (!same_day(local_ms, named_ms)) {
		add_date(out, local_ms);
		ax_buf_addc(out, ' ');
	}
	ax_buf_printf(out, "%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60));
	if (s % 60 != 0)
		ax_buf_printf(out, ":%02d", (int)(s % 60));
}

void ax_fire_note_text(const struct ax_fire *fire, struct ax_buf *out)
{
	int64_t day_ms = fire->wall_ms;
	if (fire->note == AX_NOTE_NONE)
		return;
	add_date(out, day_ms);
	ax_buf_adds(out, ": ");
	switch (fire->note) {
	case AX_NOTE_NONE:
		break;
	case AX_NOTE_CHANGE_DAY:
		ax_buf_adds(out, "the clock moves from ");
		add_time(out, fire->from_ms, day_ms);
		ax_buf_adds(out, fire->until_ms < fire->from_ms ? " back to " : " to ");
		add_time(out, fire->until_ms, day_ms);
		ax_buf_adds(out, " on this day.");
		break;
	case AX_NOTE_GAP_MOVED:
		add_time(out, fire->wall_ms, day_ms);
		ax_buf_adds(out, " does not exist on this day; the task runs at ");
		add_time(out, fire->ms + fire->offset_s * 1000LL, day_ms);
		ax_buf_printf(out, " %s, when the clock moves forward.", fire->abbr);
		break;
	case AX_NOTE_OVERLAP_FIRST:
		add_time(out, fire->wall_ms, day_ms);
		ax_buf_printf(out, " occurs twice; the task runs at the first (%s).", fire->abbr);
		break;
	case AX_NOTE_OVERLAP_BOTH:
		ax_buf_adds(out, "this interval task runs through both passes of ");
		add_time(out, fire->from_ms, day_ms);
		ax_buf_addc(out, '-');
		add_time(out, fire->until_ms, day_ms);
		ax_buf_addc(out, '.');
		break;
	case AX_NOTE_GAP_SKIPPED:
		ax_buf_adds(out, "the task does not run from ");
		add_time(out, fire->from_ms, day_ms);
		ax_buf_adds(out, " to ");
		add_time(out, fire->until_ms, day_ms);
		ax_buf_adds(out, ": these times do not exist on this day.");
		break;
	case AX_NOTE_CALENDAR_OUT:
	case AX_NOTE_CALENDAR_IN:
		ax_buf_printf(out, "an exception of the calendar %s%s%s%s.",
			fire->note == AX_NOTE_CALENDAR_OUT ? "leaves this day out" : "lets this day in",
			fire->label[0] != '\0' ? " (" : "", fire->label, fire->label[0] != '\0' ? ")" : "");
		break;
	}
}

const char *ax_fire_note_code(enum ax_fire_note note)
{
	switch (note) {
	case AX_NOTE_NONE:
		return "";
	case AX_NOTE_CHANGE_DAY:
		return "change_day";
	case AX_NOTE_GAP_MOVED:
		return "gap_moved";
	case AX_NOTE_OVERLAP_FIRST:
		return "overlap_first";
	case AX_NOTE_OVERLAP_BOTH:
		return "overlap_both";
	case AX_NOTE_GAP_SKIPPED:
		return "gap_skipped";
	case AX_NOTE_CALENDAR_OUT:
		return "calendar_out";
	case AX_NOTE_CALENDAR_IN:
		return "calendar_in";
	}
	return "";
}
