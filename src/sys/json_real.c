#include "sys/json_real.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"

enum { LONGEST = 40 }; /* more than 17 digits, a sign, a point, an exponent and zeros before them */

/* "1e+06" → "1e6", "100" → "100.0": as the parser's writer has it. The new length. */
static size_t tidy(char number[static LONGEST + 8], size_t len)
{
	char *e = strchr(number, 'e');
	if (e == NULL) {
		if (strchr(number, '.') == NULL)
			len += (size_t)snprintf(number + len, 3, ".0");
		return len;
	}
	char *digits = e + 1 + (e[1] == '-' || e[1] == '+'), *kept = e + 1 + (e[1] == '-');
	digits += strspn(digits, "0");
	memmove(kept, digits, strlen(digits) + 1);
	return strlen(number);
}

/* Writes the number with the fewest digits that are it, to where it stood or before; the length. */
static size_t put_number(char *to, const char *from, size_t len)
{
	char number[LONGEST + 8], shorter[LONGEST + 8], *end;
	size_t short_len = 0;
	if (len < LONGEST && memchr(from, '.', len) != NULL) {
		memcpy(number, from, len);
		number[len] = '\0';
		double value = strtod(number, &end);
		/* where the program's locale has another point, it is not read to its end, and stays as it is */
		for (int digits = 15; *end == '\0' && digits <= 17 && short_len == 0; digits++) {
			snprintf(shorter, sizeof(shorter), "%.*g", digits, value);
			if (strtod(shorter, NULL) == value)
				short_len = tidy(shorter, strlen(shorter));
		}
	}
	bool better = short_len > 0 && short_len < len;
	memmove(to, better ? shorter : from, better ? short_len : len);
	return better ? short_len : len;
}

static size_t text_len(const char *from, const char *end)
{
	const char *p = from + 1;
	while (p < end && *p != '"')
		p += *p == '\\' ? 2 : 1;
	return (size_t)(p - from) + 1;
}

size_t ax_json_shorten(char *text, size_t len)
{
	size_t to = 0;
	for (size_t from = 0, n; from < len; from += n) {
		const char *part = text + from;
		if (*part == '-' || (*part >= '0' && *part <= '9')) {
			n = 1;
			while (from + n < len && strchr("+-.eE0123456789", part[n]) != NULL && part[n] != '\0')
				n++;
			to += put_number(text + to, part, n);
			continue;
		}
		n = *part == '"' ? text_len(part, text + len) : 1;
		n = AX_MIN(n, len - from);
		memmove(text + to, part, n);
		to += n;
	}
	return to;
}
