#ifndef AX_BASE_UTF8_H
#define AX_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* True when the bytes are well-formed UTF-8 (RFC 3629: no overlong forms, surrogates or values above U+10FFFF). */
bool ax_utf8_valid(const char *s, size_t len);

/* The longest beginning of well-formed text that has at most `max` bytes and does not cut a character. */
size_t ax_utf8_cut(const char *s, size_t len, size_t max);

/* Copies src to dst (capacity 3 × len bytes suffices), every malformed byte replaced by U+FFFD; returns the
 * bytes written. For task output, which may be anything. */
size_t ax_utf8_repair(const char *src, size_t len, char *dst);

/* In place and of the same length: every malformed byte becomes '?'. For messages that were cut to fit. */
void ax_utf8_mask(char *s, size_t len);

#endif
