#ifndef AX_BASE_ATTR_H
#define AX_BASE_ATTR_H

/* Compiler attributes under one-word names, and the few macros that every floor needs. */

#include <stddef.h>

#define AX_MUST_USE __attribute__((warn_unused_result))
#define AX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define AX_CLEANUP(fn) __attribute__((cleanup(fn)))
#define AX_EXPORT __attribute__((visibility("default")))

#define AX_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AX_MIN(a, b) ((a) < (b) ? (a) : (b))
#define AX_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
