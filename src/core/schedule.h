#ifndef AX_CORE_SCHEDULE_H
#define AX_CORE_SCHEDULE_H

/* What a task's cron_expr may hold, and when it fires next:
 *
 *   5-7 cron fields        core/cron.h
 *   @daily and its kind    @yearly @annually @monthly @weekly @daily @midnight @hourly, any case
 *   @every 1h30m           fixed rate: elapsed time from an anchor, no DST effect
 *   @after 30s             fixed delay after the previous run ended
 *   @at 2027-01-01T09:00Z  once (RFC 3339)
 *
 * A struct ax_schedule is a plain value without heap. Durations are [N"h"][N"m"][N"s"], 1 s to 100 years. */

#include "core/cron.h"

enum { AX_SCHEDULE_MAX_BYTES = 1024 };

enum ax_schedule_kind {
	AX_SCHEDULE_CRON,
	AX_SCHEDULE_EVERY,
	AX_SCHEDULE_AFTER,
	AX_SCHEDULE_AT,
};

struct ax_schedule {
	enum ax_schedule_kind kind;
	int64_t period_s;    /* EVERY: the period; AFTER: the delay */
	int64_t at_ms;       /* AT */
	struct ax_cron cron; /* CRON */
};

/* "" is AX_DIALECT_NONE, else "unix", "quartz" or "spring". */
bool ax_dialect_parse(const char *name, enum ax_dialect *ret);
const char *ax_dialect_name(enum ax_dialect dialect);

/* AX_NEVER when it can never fire, else AX_INVALID; err->field as in ax_cron_parse. Needs no clock: an @at or a year
 * list that lies in the past is accepted and has no next fire. */
enum ax_status ax_schedule_parse(
	const char *expr, size_t len, enum ax_dialect dialect, struct ax_schedule *ret, struct ax_err *err);

/* The first fire strictly after `after_ms`. `anchor_ms` matters to @every alone: its fires are anchor + k × period,
 * k ≥ 1, on whole seconds (the anchor is cut to one). @after has no next fire of its own: false. */
bool ax_schedule_next(const struct ax_schedule *schedule, const struct ax_tz *tz, int64_t anchor_ms, int64_t after_ms,
	int64_t *ret_ms);

/* No two fires lie closer together than this, clock changes aside: for cron fields the least distance of two times of
 * a day, at most a day. INT64_MAX where there is no second fire. */
int64_t ax_schedule_shortest_s(const struct ax_schedule *schedule);

#endif
