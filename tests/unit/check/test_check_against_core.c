#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/num.h"
#include "check/fires.h"
#include "core/rule.h"

/* Two engines that share nothing, on expressions that are made up from a seed: they must refuse the same ones and give
 * the same fires for the others. A difference is a fault in one of them. */

enum { EXPRESSIONS = 20000, FIRES = 12 };

static uint64_t random_state;

static unsigned pick(unsigned n)
{
	random_state += 0x9e3779b97f4a7c15;
	return (unsigned)(ax_mix64(random_state) % n);
}

static const char *one_of(const char *const *list, size_t n)
{
	return list[pick((unsigned)n)];
}
#define ONE_OF(list) one_of(list, AX_COUNT(list))

struct range {
	unsigned min, max;
};
static const struct range ranges[] = { { 0, 59 }, { 0, 59 }, { 0, 23 }, { 1, 31 }, { 1, 12 }, { 0, 7 },
	{ 2020, 2060 } };

static void add_value(struct ax_buf *out, int part)
{
	static const char *const months[] = { "JAN", "feb", "Mar", "APR", "may", "JUN", "jul", "AUG", "sep", "OCT",
		"nov", "DEC" };
	static const char *const weekdays[] = { "SUN", "mon", "Tue", "WED", "thu", "FRI", "sat" };
	const struct range *r = &ranges[part];
	if (part == 4 && pick(4) == 0)
		ax_buf_adds(out, ONE_OF(months));
	else if (part == 5 && pick(3) == 0)
		ax_buf_adds(out, ONE_OF(weekdays));
	else
		ax_buf_printf(out, "%u", r->min + pick(r->max - r->min + 1 + (pick(40) == 0 ? 3 : 0)));
}

static void add_item(struct ax_buf *out, int part)
{
	unsigned form = pick(part == 3 || part == 5 ? 14 : 8);
	if (form == 0) {
		ax_buf_adds(out, "*");
	} else if (form >= 11 && part == 3) {
		static const char *const last[] = { "L", "LW", "L-3", "L-29W", "15W", "1W", "31W", "30W", "L-30",
			"lw" };
		ax_buf_adds(out, ONE_OF(last));
		return;
	} else {
		add_value(out, part);
		if (form >= 11 && part == 5) {
			static const char *const nth[] = { "L", "#1", "#2", "#5", "l", "#4" };
			ax_buf_adds(out, ONE_OF(nth));
			return;
		}
		if (form >= 5 && form <= 7) {
			ax_buf_adds(out, "-");
			add_value(out, part);
		}
	}
	if (pick(4) == 0)
		ax_buf_printf(out, "/%u", 1 + pick(part == 6 ? 9 : ranges[part].max - ranges[part].min + 2));
}

static void add_field(struct ax_buf *out, int part)
{
	if ((part >= 3 && pick(3) == 0) || (part == 2 && pick(4) == 0)) {
		ax_buf_adds(out, "*");
		return;
	}
	if ((part == 3 || part == 5) && pick(3) == 0) {
		ax_buf_adds(out, "?");
		return;
	}
	unsigned items = pick(4) == 0 ? 1 + pick(4) : 1;
	for (unsigned i = 0; i < items; i++) {
		if (i > 0)
			ax_buf_adds(out, ",");
		add_item(out, part);
	}
}

static void make_expression(struct ax_buf *out, enum ax_dialect dialect)
{
	ax_buf_clear(out);
	int first = dialect == AX_DIALECT_UNIX || (dialect == AX_DIALECT_NONE && pick(2) == 0) ? 1 : 0;
	int last = first == 0 && dialect != AX_DIALECT_SPRING && pick(3) == 0 ? 6 : 5;
	for (int part = first; part <= last; part++) {
		if (part > first)
			ax_buf_adds(out, " ");
		add_field(out, part);
	}
}

/* An instant from 2010 to 2042, often within two days of a change of the clocks. */
static int64_t make_instant(const struct ax_check_zone *zone)
{
	int64_t from = 1262304000 + (int64_t)pick(32 * 366) * 86400 + pick(86400);
	if (pick(2) == 0) {
		size_t i = ax_check_zone_at(zone, from);
		if (i + 1 < zone->n)
			from = zone->segments[i + 1].start_s - 2 * 86400 + pick(3 * 86400);
	}
	return from * 1000 + (pick(8) == 0 ? pick(1000) : 0);
}

/* What narrows a schedule, for both: a calendar around the instant and a window of validity, at times none. */
static void make_limits(struct ax_arena *arena, int64_t from_ms, struct ax_rule *rule, struct ax_check_in_days *in_days,
	struct ax_check_limits *limits)
{
	struct ax_calendar *calendar = ax_alloc(arena, sizeof(*calendar));
	*limits = (struct ax_check_limits){ .exclude = pick(2) == 0 };
	rule->excludes = limits->exclude;
	if (pick(2) == 0) {
		calendar->week = pick(8) == 0 ? 0 : pick(128);
		calendar->days = ax_alloc_array(arena, 12, sizeof(*calendar->days));
		int64_t day = from_ms / 86400000 - 2;
		for (calendar->n = 0; calendar->n < 12; day += 1 + (pick(3) == 0 ? pick(60) : 0))
			calendar->days[calendar->n++] = (struct ax_calendar_day){ day, pick(2) == 0, "a day" };
		assert_int_equal(
			ax_check_in_days_parse(arena, calendar->week, ax_calendar_text(arena, calendar), in_days, NULL),
			AX_OK);
		rule->calendar = calendar;
		limits->in_days = in_days;
	}
	if (pick(4) == 0)
		rule->valid_from = limits->valid_from_ms = from_ms + (int64_t)pick(100) * 86400000 / 3;
	if (pick(4) == 0)
		rule->valid_until = limits->valid_until_ms = from_ms + (int64_t)pick(400) * 86400000 / 3;
}

/* How many of the first fires differ; 0 when none does. */
static int compare(const char *expr, struct ax_rule rule, const struct ax_check_schedule *mine,
	const struct ax_check_zone *zone, int64_t from_ms)
{
	int64_t until_ms = from_ms + INT64_C(5) * 366 * 86400 * 1000;
	struct ax_check_fires fires;
	struct ax_check_in_days in_days;
	struct ax_check_limits limits;
	struct ax_arena arena = { 0 };
	make_limits(&arena, from_ms, &rule, &in_days, &limits);
	ax_check_fires_begin(&fires, mine, zone, from_ms, from_ms, until_ms);
	ax_check_fires_limit(&fires, &limits);
	int differ = 0;
	int64_t after_ms = from_ms;
	for (int i = 0; i < FIRES && differ == 0; i++) {
		int64_t core_ms, mine_ms;
		bool core_has = ax_rule_next(&rule, after_ms, &core_ms) && core_ms <= until_ms;
		bool mine_has = ax_check_fires_next(&fires, &mine_ms);
		if (core_has != mine_has || (core_has && core_ms != mine_ms)) {
			char after[AX_CHECK_INSTANT_SIZE], a[AX_CHECK_INSTANT_SIZE] = "none",
							   b[AX_CHECK_INSTANT_SIZE] = "none";
			ax_check_instant_format(after_ms, after);
			if (core_has)
				ax_check_instant_format(core_ms, a);
			if (mine_has)
				ax_check_instant_format(mine_ms, b);
			print_error("`%s` after %s: core %s, check %s\n", expr, after, a, b);
			differ++;
		}
		if (!core_has)
			break;
		after_ms = core_ms;
	}
	ax_check_fires_end(&fires);
	ax_arena_done(&arena);
	return differ;
}

static void test_both_engines_agree(void **state)
{
	(void)state;
	static const char *const names[] = { "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
		"America/Nuuk", "America/Santiago", "Pacific/Apia", "Africa/Casablanca", "Antarctica/Troll",
		"Asia/Shanghai", "America/Sao_Paulo", "Africa/Cairo", "Asia/Amman", "Europe/Dublin", "Asia/Kathmandu" };
	struct ax_zones *zones = ax_zoneinfo_open(NULL);
	struct ax_arena keep = { 0 }, arena = { 0 };
	struct ax_check_zone mine_zones[AX_COUNT(names)];
	for (size_t i = 0; i < AX_COUNT(names); i++)
		assert_int_equal(ax_check_zone_load(&keep, NULL, names[i], &mine_zones[i], NULL), AX_OK);
	struct ax_buf expr;
	ax_buf_init(&expr, 4096);
	int differ = 0, accepted = 0;
	for (int n = 0; n < EXPRESSIONS && differ < 20; n++) {
		random_state = (uint64_t)n << 32;
		enum ax_dialect dialect = (enum ax_dialect)pick(4);
		make_expression(&expr, dialect);
		struct ax_schedule core;
		struct ax_check_schedule mine;
		struct ax_err core_err = { 0 }, mine_err = { 0 };
		enum ax_status a = ax_schedule_parse(expr.data, expr.len, dialect, &core, &core_err);
		enum ax_status b =
			ax_check_schedule_parse(&arena, expr.data, (enum ax_check_dialect)dialect, &mine, &mine_err);
		if (a != b) {
			print_error("`%s` dialect %d: core %d %s, check %d %s\n", expr.data, (int)dialect, (int)a,
				core_err.msg, (int)b, mine_err.msg);
			differ++;
		} else if (a == AX_OK) {
			accepted++;
			size_t z = pick(AX_COUNT(names));
			int64_t from_ms = make_instant(&mine_zones[z]);
			differ += compare(expr.data,
				(struct ax_rule){
					.schedule = core, .tz = ax_zones_find(zones, names[z]), .anchor_ms = from_ms },
				&mine, &mine_zones[z], from_ms);
		}
		ax_arena_reset(&arena);
	}
	assert_int_equal(differ, 0);
	assert_true(accepted > EXPRESSIONS / 10);
	ax_buf_done(&expr);
	ax_arena_done(&arena);
	ax_arena_done(&keep);
	ax_zoneinfo_close(zones);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_both_engines_agree) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
