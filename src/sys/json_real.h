#ifndef AX_SYS_JSON_REAL_H
#define AX_SYS_JSON_REAL_H

/* Numbers as people wrote them. The parser's own writer gives each number with a fraction 17 digits, so that 19.99
 * becomes 19.989999999999998: the same double, but another amount to whoever reads decimals, and longer. */

#include <stddef.h>

/* Gives each such number in the JSON text, which may be valid JSON only, the fewest digits that read as the same
 * double. In place; the new length. */
size_t ax_json_shorten(char *text, size_t len);

#endif
