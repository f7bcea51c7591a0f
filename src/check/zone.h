#ifndef AX_CHECK_ZONE_H
#define AX_CHECK_ZONE_H

/* The checker's own reader of time zone files (TZif, RFC 8536).
 *
 * A zone is one plain list of segments: from its start on, and until the next one starts, local time is UTC plus the
 * offset. The rule in the file's last line is written out into the same list, up to the year 2500. */

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"

enum { AX_CHECK_OFFSET_MAX_S = 26 * 3600 }; /* no zone is farther from UTC */

struct ax_check_segment {
	int64_t start_s; /* UTC; the first segment's is INT64_MIN */
	int32_t offset_s;
};

struct ax_check_zone {
	const struct ax_check_segment *segments;
	size_t n;
};

/* `dir` NULL means /usr/share/zoneinfo. "UTC" needs no file. AX_NOT_FOUND without such a file, AX_INVALID when it does
 * not parse. Memory is the arena's. */
enum ax_status ax_check_zone_load(
	struct ax_arena *arena, const char *dir, const char *name, struct ax_check_zone *ret, struct ax_err *err);

/* Index of the segment that holds the instant. */
size_t ax_check_zone_at(const struct ax_check_zone *zone, int64_t utc_s);

/* Where a segment ends: the next one's start, or INT64_MAX. */
int64_t ax_check_segment_end(const struct ax_check_zone *zone, size_t i);

/* From the bytes of a file, for tests and fuzzing. */
enum ax_status ax_check_zone_parse(
	struct ax_arena *arena, const unsigned char *bytes, size_t len, struct ax_check_zone *ret, struct ax_err *err);

#endif
