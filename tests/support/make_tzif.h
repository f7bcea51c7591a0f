#ifndef TESTS_SUPPORT_MAKE_TZIF_H
#define TESTS_SUPPORT_MAKE_TZIF_H

/* Zone data for tests, from a POSIX rule. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Writes a version-2 TZif file without transitions, whose footer is the rule; returns its length. `out` holds at
 * least 128 bytes more than the footer. */
static inline size_t make_tzif(unsigned char *out, const char *footer)
{
	unsigned char *p = out;
	for (int block = 0; block < 2; block++) {
		memset(p, 0, 54);
		memcpy(p, "TZif2", 5);
		p[39] = 1; /* types */
		p[43] = 4; /* characters */
		memcpy(p + 50, "LMT", 4);
		p += 54;
	}
	p += sprintf((char *)p, "\n%s\n", footer);
	return (size_t)(p - out);
}

#endif
