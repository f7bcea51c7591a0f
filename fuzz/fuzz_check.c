/* Any text as a schedule, read by the scheduler's engine and by the checker's, which share nothing: both refuse it, or
 * both give the same fires. Input as for fuzz_cron, whose corpus it uses: dialect, zone, expression. */
#include "fuzz.h"

#include <string.h>
#include "base/arena.h"
#include "check/fires.h"
#include "core/schedule.h"
#include "make_tzif.h"

static const char *const rules[] = { "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
	"IST-1GMT0,M10.5.0,M3.5.0/1", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "AAA12BBB-11,J60/0,J300/167", "AAA3" };

static void compare(const struct ax_schedule *core, const struct ax_tz *tz, const struct ax_check_schedule *mine,
	const struct ax_check_zone *zone, int64_t after_ms)
{
	int64_t until_ms = after_ms + INT64_C(400) * 86400 * 1000;
	struct ax_check_fires fires;
	ax_check_fires_begin(&fires, mine, zone, after_ms, after_ms, until_ms);
	for (int i = 0; i < 8; i++) {
		int64_t core_ms, mine_ms;
		bool core_has = ax_schedule_next(core, tz, fires.anchor_ms, after_ms, &core_ms) && core_ms <= until_ms;
		bool mine_has = ax_check_fires_next(&fires, &mine_ms);
		AX_ASSERT(core_has == mine_has);
		if (!core_has)
			break;
		AX_ASSERT(core_ms == mine_ms);
		after_ms = core_ms;
	}
	ax_check_fires_end(&fires);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* columns hold no NUL; what is longer than 1,024 bytes both refuse */
	if (size < 2 || size > 1200 || memchr(data + 2, '\0', size - 2))
		return 0;
	struct ax_arena arena = { 0 };
	char *expr = ax_strndup(&arena, (const char *)data + 2, size - 2);
	enum ax_dialect dialect = (enum ax_dialect)(data[0] % 4);
	struct ax_schedule core;
	struct ax_check_schedule mine;
	enum ax_status a = ax_schedule_parse(expr, size - 2, dialect, &core, NULL);
	enum ax_status b = ax_check_schedule_parse(&arena, expr, (enum ax_check_dialect)dialect, &mine, NULL);
	AX_ASSERT(a == b);
	if (a == AX_OK) {
		unsigned char bytes[256];
		size_t len = make_tzif(bytes, rules[data[1] % AX_COUNT(rules)]);
		struct ax_tz *tz;
		struct ax_check_zone zone;
		AX_ASSERT(ax_tz_parse("Fuzz/Zone", bytes, len, &tz, NULL) == AX_OK);
		AX_ASSERT(ax_check_zone_parse(&arena, bytes, len, &zone, NULL) == AX_OK);
		/* before and in the year of a leap day, near both changes of the rules above */
		static const int64_t starts[] = { 1774656000000, 1793000000000, 1822500000000, 1709100000123 };
		compare(&core, tz, &mine, &zone, starts[(data[1] >> 4) % AX_COUNT(starts)]);
		ax_tz_free(tz);
	}
	ax_arena_done(&arena);
	return 0;
}
