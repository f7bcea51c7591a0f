#ifndef AX_CHECK_FIRES_H
#define AX_CHECK_FIRES_H

/* Which instants a schedule demands: written down day by day, from the calendar alone.
 *
 * For each civil day that may reach into the window and that matches, every wall time of the fields is turned into
 * the UTC instants at which the zone's clocks show it; what the clocks skip or show twice is then decided by
 * rule R10 of docs/cron.md. There is no "next" to get wrong. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "check/in_days.h"
#include "check/pattern.h"
#include "check/zone.h"

enum ax_check_schedule_kind {
	AX_CHECK_CRON,
	AX_CHECK_EVERY, /* anchor + k × span, k ≥ 1 */
	AX_CHECK_AFTER, /* span after the previous run ended: not computable from the schedule */
	AX_CHECK_AT,
};

struct ax_check_schedule {
	enum ax_check_schedule_kind kind;
	int64_t span_ms; /* EVERY, AFTER */
	int64_t at_ms;
	struct ax_check_pattern pattern;
};

/* What ax_schedule_epoch.cron_expr holds. AX_INVALID or AX_NEVER; memory is the arena's. */
enum ax_status ax_check_schedule_parse(struct ax_arena *arena, const char *expr, enum ax_check_dialect dialect,
	struct ax_check_schedule *ret, struct ax_err *err);

/* Which of the schedule's instants are demanded: those of [valid_from, valid_until) on a date, by the zone's clocks,
 * that is in (or, to exclude them, is not). */
struct ax_check_limits {
	const struct ax_check_in_days *in_days; /* NULL: every date */
	bool exclude;
	int64_t valid_from_ms, valid_until_ms; /* 0 = open */
};

/* Is the instant in the window of validity? */
bool ax_check_is_valid(const struct ax_check_limits *limits, int64_t ms);

/* A walk over the fires in a window, in order, each once. */
struct ax_check_fires {
	const struct ax_check_schedule *schedule;
	const struct ax_check_limits *limits; /* NULL: none */
	const struct ax_check_zone *zone;
	int64_t anchor_ms;
	int64_t after_ms, until_ms; /* what is left to write down: after < fire ≤ until */
	/* fires written down and not handed out yet */
	int64_t *list;
	size_t n, at, room;
};

/* Fires after `after_ms` and up to `until_ms`. The schedule and the zone are borrowed. AX_CHECK_AFTER has none. The
 * years 1970 to 2500 are known. Give the memory back with ax_check_fires_end. */
void ax_check_fires_begin(struct ax_check_fires *fires, const struct ax_check_schedule *schedule,
	const struct ax_check_zone *zone, int64_t anchor_ms, int64_t after_ms, int64_t until_ms);
/* Between begin and the first fire; borrowed. */
void ax_check_fires_limit(struct ax_check_fires *fires, const struct ax_check_limits *limits);
bool ax_check_fires_next(struct ax_check_fires *fires, int64_t *ret_ms);
void ax_check_fires_end(struct ax_check_fires *fires);

#endif
