#include "adapters/http/target.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The byte that "%XY" at s stands for, -1 when it is no escape. */
static int unescape(const char *s, size_t len)
{
	if (len < 3 || hex_digit(s[1]) < 0 || hex_digit(s[2]) < 0)
		return -1;
	return hex_digit(s[1]) * 16 + hex_digit(s[2]);
}

static bool has_dot_segment(const char *path)
{
	for (const char *s = path; s != NULL; s = strchr(s + 1, '/')) {
		size_t len = strcspn(s + 1, "/");
		if ((len == 1 && s[1] == '.') || (len == 2 && s[1] == '.' && s[2] == '.'))
			return true;
	}
	return false;
}

const char *ax_http_path_decode(const char *raw, size_t len, char *dst)
{
	if (len == 0 || raw[0] != '/')
		return "The path does not begin with a slash.";
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		int c = (unsigned char)raw[i];
		if (c == '#')
			return "The path holds a fragment.";
		if (c == '%') {
			c = unescape(raw + i, len - i);
			if (c < 0)
				return "The path holds a broken percent escape.";
			if (c == '/')
				return "The path holds an encoded slash.";
			i += 2;
		}
		if (c < 0x20 || c == 0x7f)
			return "The path holds a control character.";
		dst[n++] = (char)c;
	}
	dst[n] = '\0';
	if (!ax_utf8_valid(dst, n))
		return "The path is not valid UTF-8.";
	if (has_dot_segment(dst))
		return "The path holds a dot segment.";
	return NULL;
}

size_t ax_http_query_count(const char *raw, size_t len)
{
	size_t n = len > 0;
	for (size_t i = 0; i < len; i++)
		n += raw[i] == '&';
	return n;
}

/* Decodes one name or value and ends it with a NUL; *dst moves on. */
static const char *decode_part(const char *raw, size_t len, char **dst)
{
	char *start = *dst;
	for (size_t i = 0; i < len; i++) {
		int c = (unsigned char)raw[i];
		if (c == '+')
			c = ' ';
		if (c == '%') {
			c = unescape(raw + i, len - i);
			if (c < 0)
				return "The query holds a broken percent escape.";
			i += 2;
		}
		if (c == '\0')
			return "The query holds a NUL.";
		*(*dst)++ = (char)c;
	}
	if (!ax_utf8_valid(start, (size_t)(*dst - start)))
		return "The query is not valid UTF-8.";
	*(*dst)++ = '\0';
	return NULL;
}

const char *ax_http_query_decode(const char *raw, size_t len, char *dst, struct ax_http_param *params, size_t *ret_n)
{
	size_t n = 0;
	const char *end = raw + len;
	while (raw < end) {
		const char *amp = memchr(raw, '&', (size_t)(end - raw));
		const char *stop = amp != NULL ? amp : end;
		const char *equals = memchr(raw, '=', (size_t)(stop - raw));
		if (stop > raw) {
			struct ax_http_param *param = &params[n++];
			const char *name_end = equals != NULL ? equals : stop;
			param->name = dst;
			const char *reason = decode_part(raw, (size_t)(name_end - raw), &dst);
			if (reason != NULL)
				return reason;
			param->value = equals != NULL ? dst : dst - 1; /* the NUL of the name is "" */
			if (equals != NULL)
				reason = decode_part(equals + 1, (size_t)(stop - equals - 1), &dst);
			if (reason != NULL)
				return reason;
		}
		raw = stop + 1;
	}
	*ret_n = n;
	return NULL;
}
