#include "cli/value.h"

#include <string.h>
#include "base/attr.h"
#include "base/num.h"
#include "base/rfc3339.h"

static const int64_t longest_ms = INT64_C(100) * 366 * 86400 * 1000;

bool ax_value_duration(const char *s, int64_t *ret_ms)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = { { "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 } };
	int64_t total = 0;
	size_t next = 0; /* units must get smaller */
	if (*s == '\0')
		return false;
	while (*s != '\0') {
		size_t digits = strspn(s, "0123456789");
		int64_t n;
		if (!ax_parse_i64(s, digits, 0, longest_ms, &n))
			return false;
		s += digits;
		size_t len = strspn(s, "dhms");
		size_t i = next;
		while (i < AX_COUNT(units) && (strlen(units[i].unit) != len || memcmp(units[i].unit, s, len) != 0))
			i++;
		if (i == AX_COUNT(units) || n > longest_ms / units[i].ms)
			return false;
		total += n * units[i].ms;
		if (total > longest_ms)
			return false;
		next = i + 1;
		s += len;
	}
	*ret_ms = total;
	return true;
}

bool ax_value_time(const char *s, int64_t now_ms, int64_t *ret_ms)
{
	int64_t ms;
	if (strcmp(s, "now") == 0) {
		*ret_ms = now_ms;
		return true;
	}
	if ((s[0] == '-' || s[0] == '+') && ax_value_duration(s + 1, &ms)) {
		*ret_ms = s[0] == '-' ? now_ms - ms : now_ms + ms;
		return true;
	}
	return ax_parse_i64(s, strlen(s), 0, INT64_MAX, ret_ms) || ax_rfc3339_parse(s, strlen(s), ret_ms);
}

void ax_value_segment(struct ax_buf *path, const char *segment)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
	for (; *segment != '\0'; segment++) {
		if (strchr(plain, *segment) != NULL)
			ax_buf_addc(path, *segment);
		else
			ax_buf_printf(path, "%%%02X", (unsigned)(unsigned char)*segment);
	}
}

void ax_value_query(struct ax_buf *path, const char *key, const char *value)
{
	if (value == NULL)
		return;
	ax_buf_addc(path, path->data != NULL && strchr(path->data, '?') != NULL ? '&' : '?');
	ax_buf_adds(path, key);
	ax_buf_addc(path, '=');
	ax_value_segment(path, value);
}
