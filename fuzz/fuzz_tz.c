/* Any bytes as a zone file: refused, or a zone whose spans tile all time and whose local times lead back. */
#include "fuzz.h"

#include <string.h>
#include "base/num.h"
#include "core/cron.h"
#include "core/tz_posix.h"

static void check_local(const struct ax_tz *tz, int64_t ms, const struct ax_tz_span *span)
{
	struct ax_tz_local local;
	if (ms < -1000000000000000 || ms > 1000000000000000)
		return;
	ax_tz_from_local(tz, ms + span->offset_s * 1000LL, &local);
	AX_ASSERT(local.kind != AX_TZ_GAP && local.first_ms <= ms && ms <= local.second_ms);
}

static void check_span(const struct ax_tz *tz, int64_t ms, struct ax_tz_span *ret)
{
	ax_tz_span_at(tz, ms, ret);
	AX_ASSERT(ret->from_ms <= ms && (ms < ret->until_ms || ret->until_ms == INT64_MAX));
	AX_ASSERT(ret->offset_s > -26 * 3600 && ret->offset_s < 26 * 3600);
	AX_ASSERT(strlen(ret->abbr) < AX_TZ_ABBR_SIZE);
	for (const char *p = ret->abbr; *p != '\0'; p++)
		AX_ASSERT(ax_tz_abbr_char(*p));
	check_local(tz, ms, ret);
}

static void check_spans(const struct ax_tz *tz)
{
	struct ax_tz_span span, next;
	check_span(tz, INT64_MIN, &span);
	for (int i = 0; i < 3000 && span.until_ms != INT64_MAX; i++) {
		check_span(tz, span.until_ms, &next);
		AX_ASSERT(next.from_ms == span.until_ms);
		check_span(tz, span.until_ms - 1, &span);
		AX_ASSERT(span.until_ms == next.from_ms);
		span = next;
	}
}

static void check_cron(const struct ax_tz *tz, int64_t from_ms)
{
	static const char *const exprs[] = { "0 2 * * *", "*/15 * * * *", "30 1-3 * * 0", "*/10 2 29 2 *" };
	for (size_t i = 0; i < AX_COUNT(exprs); i++) {
		struct ax_cron cron;
		int64_t ms = from_ms, next_ms;
		AX_ASSERT(ax_cron_parse(exprs[i], strlen(exprs[i]), AX_DIALECT_UNIX, &cron, NULL) == AX_OK);
		for (int k = 0; k < 5 && ax_cron_next(&cron, tz, ms, &next_ms); k++) {
			AX_ASSERT(next_ms > ms);
			ms = next_ms;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ax_tz *tz;
	struct ax_err err = { .status = AX_OK };
	if (ax_tz_parse("Fuzz/Zone", data, size, &tz, &err) != AX_OK) {
		AX_ASSERT(err.status == AX_INVALID && err.msg[0] != '\0');
		return 0;
	}
	struct ax_tz_span span;
	int64_t drawn_ms = (int64_t)ax_hash_bytes(data, size);
	check_span(tz, drawn_ms, &span);
	check_span(tz, INT64_MAX, &span);
	check_spans(tz);
	check_cron(tz, 1774746000000 - 86400000);
	check_cron(tz, drawn_ms % 253402300800000);
	ax_tz_free(tz);
	return 0;
}
