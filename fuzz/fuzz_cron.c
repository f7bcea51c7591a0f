/* Any text as a schedule: refused with a reason, or its fires are later than asked for, stable and true to its fields.
 * Input: one character for the dialect, one for the zone, then the expression. */
#include "fuzz.h"

#include <string.h>
#include "base/num.h"
#include "base/rfc3339.h"
#include "core/schedule_text.h"
#include "make_tzif.h"

static const char *const rules[] = { "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
	"IST-1GMT0,M10.5.0,M3.5.0/1", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "AAA12BBB-12,J60/0,J300/167",
	"AAA0BBB-5,M3.5.0,M10.5.0" };

static const struct ax_tz *zone(uint8_t which)
{
	static struct ax_tz *zones[AX_COUNT(rules)];
	size_t i = which % (AX_COUNT(rules) + 1);
	if (i == AX_COUNT(rules))
		return ax_tz_utc();
	if (zones[i] == NULL) {
		unsigned char bytes[256];
		size_t len = make_tzif(bytes, rules[i]);
		AX_ASSERT(ax_tz_parse("Fuzz/Zone", bytes, len, &zones[i], NULL) == AX_OK);
	}
	return zones[i];
}

/* A fire that no clock change moved has a wall time that every field allows. */
static void check_fields(const struct ax_cron *cron, const struct ax_tz *tz, int64_t ms)
{
	struct ax_tz_span span;
	ax_tz_span_at(tz, ms, &span);
	if (!cron->interval && ms == span.from_ms)
		return;
	int64_t wall_s = ms / 1000 - (ms % 1000 < 0) + span.offset_s, year;
	int64_t days = wall_s / 86400 - (wall_s % 86400 < 0), in_day = wall_s - days * 86400;
	int month, day;
	ax_civil_from_days(days, &year, &month, &day);
	AX_ASSERT(cron->seconds >> in_day % 60 & 1 && cron->minutes >> in_day / 60 % 60 & 1);
	AX_ASSERT(cron->hours >> in_day / 3600 & 1 && cron->months >> month & 1);
	AX_ASSERT(ax_cron_days_of_month(cron, year, month) >> day & 1);
}

static void check_from(const struct ax_schedule *schedule, const struct ax_tz *tz, int64_t after_ms)
{
	for (int i = 0; i < 3; i++) {
		int64_t ms, again_ms;
		if (!ax_schedule_next(schedule, tz, 0, after_ms, &ms))
			return;
		AX_ASSERT(ms > after_ms);
		AX_ASSERT(schedule->kind == AX_SCHEDULE_AT || ms % 1000 == 0);
		AX_ASSERT(ax_schedule_next(schedule, tz, 0, ms - 1, &again_ms) && again_ms == ms);
		if (schedule->kind == AX_SCHEDULE_CRON)
			check_fields(&schedule->cron, tz, ms);
		after_ms = ms;
	}
}

static void check_texts(const struct ax_schedule *schedule, const struct ax_tz *tz, int64_t from_ms)
{
	struct ax_buf text;
	struct ax_fire fires[4];
	ax_buf_init(&text, 1 << 16);
	ax_schedule_describe(schedule, &text);
	unsigned warnings = ax_schedule_warnings(schedule);
	for (unsigned bit = 1; bit <= warnings; bit <<= 1)
		if (warnings & bit)
			ax_schedule_warning_text(schedule, (enum ax_schedule_warning)bit, &text);
	const struct ax_rule rule = { .schedule = *schedule, .tz = tz, .anchor_ms = from_ms };
	size_t n = ax_schedule_preview(&rule, from_ms, INT64_MAX, fires, AX_COUNT(fires));
	for (size_t i = 0; i < n; i++) {
		AX_ASSERT(fires[i].ms > (i > 0 ? fires[i - 1].ms - 1 : from_ms));
		ax_fire_note_text(&fires[i], &text);
	}
	AX_ASSERT(text.len > 0 && !text.overflow);
	ax_buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t instants[] = { 0, 1774746000000, 1792886400000, -62135596800000, INT64_MIN, INT64_MAX };
	struct ax_schedule schedule;
	struct ax_err err = { .status = AX_OK };
	if (size < 2)
		return 0;
	enum ax_dialect dialect = (enum ax_dialect)(data[0] % 4);
	const struct ax_tz *tz = zone(data[1]);
	enum ax_status status = ax_schedule_parse((const char *)data + 2, size - 2, dialect, &schedule, &err);
	if (status != AX_OK) {
		AX_ASSERT(status == AX_INVALID || status == AX_NEVER);
		AX_ASSERT(err.status == status && err.field[0] != '\0' && strlen(err.msg) > 20);
		return 0;
	}
	for (size_t i = 0; i < AX_COUNT(instants); i++)
		check_from(&schedule, tz, instants[i]);
	int64_t drawn_ms = (int64_t)(ax_hash_bytes(data, size) % 253402300800000ULL);
	check_from(&schedule, tz, drawn_ms);
	check_texts(&schedule, tz, drawn_ms);
	return 0;
}
