#ifndef AX_CORE_TZ_H
#define AX_CORE_TZ_H

/* Time zones from TZif bytes (RFC 9636), without libc, files or environment.
 *
 * A zone is immutable once parsed, so any number of threads may read it. All offsets are seconds east of UTC.
 * "Local" times below are milliseconds since 1970-01-01T00:00:00 as the zone's wall clock shows them, that is
 * UTC milliseconds + offset × 1000. Any int64_t is a legal instant; years beyond ±10,000 repeat the last rule. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

struct ax_tz;

enum { AX_TZ_NAME_SIZE = 65 }; /* longest name accepted, with its NUL */

/* True for what may be a name of the tz database: letters, digits, '_', '-', '+', '.' and '/' in non-empty parts
 * that do not begin with '.' or '-', at most 64 bytes. Says nothing about whether the zone exists. */
bool ax_tz_name_valid(const char *name);

/* Reads a TZif file of version 2 or later. `bytes` may be anything at all and need not outlive the call; `name` is
 * copied. Refuses (AX_INVALID, field "time_zone") malformed or truncated data and leap-second ("right/") files.
 * The caller owns the result and frees it with ax_tz_free. */
enum ax_status ax_tz_parse(const char *name, const void *bytes, size_t len, struct ax_tz **ret, struct ax_err *err);
void ax_tz_free(struct ax_tz *tz); /* NULL is fine; UTC's constant is left alone */

/* The zone that needs no data; never freed. */
const struct ax_tz *ax_tz_utc(void);
const char *ax_tz_name(const struct ax_tz *tz);

/* A stretch of time in which the zone's offset, abbreviation and DST flag stay the same. */
struct ax_tz_span {
	int64_t from_ms;  /* first instant, INT64_MIN for "always was" */
	int64_t until_ms; /* first instant after it, INT64_MAX for "for ever" */
	int offset_s;
	bool dst;
	const char *abbr; /* lives as long as the zone */
};

/* The span that holds the instant `ms`. One binary search. */
void ax_tz_span_at(const struct ax_tz *tz, int64_t ms, struct ax_tz_span *ret);
int ax_tz_offset_s(const struct ax_tz *tz, int64_t ms);

enum ax_tz_local_kind {
	AX_TZ_ONCE,    /* the wall clock shows this time once */
	AX_TZ_GAP,     /* the clock jumps over it */
	AX_TZ_OVERLAP, /* the clock shows it twice */
};

struct ax_tz_local {
	enum ax_tz_local_kind kind;
	int64_t first_ms;  /* the instant; its first occurrence; or, for a gap, the instant at which the gap ends */
	int64_t second_ms; /* the last occurrence; equal to first_ms unless it is an overlap */
	int jump_s;        /* how far the clock is moved: positive in a gap, negative in an overlap, else 0 */
};

/* Which instants show the local time `local_ms`. */
void ax_tz_from_local(const struct ax_tz *tz, int64_t local_ms, struct ax_tz_local *ret);

/* From this instant on the zone has nothing but its yearly rule, or no change at all. */
int64_t ax_tz_rule_since_ms(const struct ax_tz *tz);

#endif
