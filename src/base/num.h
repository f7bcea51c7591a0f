#ifndef AX_BASE_NUM_H
#define AX_BASE_NUM_H

/* Strict decimal integers and the small mathematics of the project. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Digits only (a leading '-' where min < 0), no blanks, no '+', no leading zeros but "0" itself.
 * True when the whole of s is such a number within [min, max]. */
bool ax_parse_i64(const char *s, size_t len, int64_t min, int64_t max, int64_t *ret);

/* Saturating addition, for deadlines. */
int64_t ax_add_sat(int64_t a, int64_t b);

/* A well-mixed 64-bit hash of a number: spreads ids and seeds evenly (splitmix64's finalizer). */
uint64_t ax_mix64(uint64_t x);

/* FNV-1a, 64 bits: for labels and routing, never against an adversary. */
uint64_t ax_hash_bytes(const void *bytes, size_t len);

#endif
