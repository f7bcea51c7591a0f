#include "base/utf8.h"

#include <string.h>

/* Length of the well-formed sequence at s, or 0. Ranges are those of the Unicode Standard, table 3-7. */
static size_t sequence(const unsigned char *s, size_t len)
{
	if (s[0] < 0x80)
		return 1;
	size_t n = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;
	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
		(s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

bool ax_utf8_valid(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	while (len > 0) {
		size_t n = sequence(p, len);
		if (n == 0)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

size_t ax_utf8_repair(const char *src, size_t len, char *dst)
{
	const unsigned char *p = (const unsigned char *)src;
	char *out = dst;
	while (len > 0) {
		size_t n = sequence(p, len);
		if (n == 0) {
			memcpy(out, "\xef\xbf\xbd", 3);
			out += 3;
			n = 1;
		} else {
			memcpy(out, p, n);
			out += n;
		}
		p += n;
		len -= n;
	}
	return (size_t)(out - dst);
}

void ax_utf8_mask(char *s, size_t len)
{
	for (size_t at = 0, n; at < len; at += n) {
		n = sequence((const unsigned char *)s + at, len - at);
		if (n == 0) {
			s[at] = '?';
			n = 1;
		}
	}
}

size_t ax_utf8_cut(const char *s, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 0 && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}
