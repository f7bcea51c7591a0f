#ifndef AX_CLI_VALUE_H
#define AX_CLI_VALUE_H

/* Values that people type. Pure. */

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"

/* "90s", "1h30m", "500ms", "2d": numbers with units d h m s ms, largest first; up to 100 years. In milliseconds. */
bool ax_value_duration(const char *s, int64_t *ret_ms);

/* RFC 3339, milliseconds UTC as a number, "now", or "-1h30m" and "+10m" from `now_ms`. */
bool ax_value_time(const char *s, int64_t now_ms, int64_t *ret_ms);

/* Appends "?key=value" or "&key=value" to a path, percent-encoded; nothing when value is NULL. */
void ax_value_query(struct ax_buf *path, const char *key, const char *value);
/* Appends one path segment, percent-encoded. */
void ax_value_segment(struct ax_buf *path, const char *segment);

#endif
