#ifndef AX_ADAPTERS_HTTP_TARGET_H
#define AX_ADAPTERS_HTTP_TARGET_H

/* Decoding of request targets. Each function returns NULL on success, else the reason as a constant sentence. */

#include <stddef.h>

#include "adapters/http/server.h"

/* Percent-decodes a path once into dst (len + 1 bytes, NUL-terminated). Refused: a path that does not begin with '/',
 * broken escapes, control characters, "%2f", "." and ".." segments, invalid UTF-8, a '#'. */
const char *ax_http_path_decode(const char *raw, size_t len, char *dst);

/* Most parameters that a query of this text can hold. */
size_t ax_http_query_count(const char *raw, size_t len);

/* Splits at '&' and '=' and decodes ('+' is a blank) into dst (len + 1 bytes), which the parameters then point into.
 * Empty parts are skipped; a part without '=' has the value "". Refused: broken escapes, "%00", invalid UTF-8. */
const char *ax_http_query_decode(const char *raw, size_t len, char *dst, struct ax_http_param *params, size_t *ret_n);

#endif
