#include "base/json_write.h"

#include <string.h>

static void quote(struct ax_buf *buf, const char *s, size_t len)
{
	ax_buf_addc(buf, '"');
	size_t plain = 0; /* start of the stretch that needs no escape */
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		ax_buf_add(buf, s + plain, i - plain);
		plain = i + 1;
		if (c == '"' || c == '\\') {
			ax_buf_addc(buf, '\\');
			ax_buf_addc(buf, (char)c);
		} else if (c == '\n') {
			ax_buf_adds(buf, "\\n");
		} else {
			ax_buf_printf(buf, "\\u%04x", c);
		}
	}
	ax_buf_add(buf, s + plain, len - plain);
	ax_buf_addc(buf, '"');
}

static void begin(struct ax_json *json, const char *key)
{
	if (json->comma)
		ax_buf_addc(json->buf, ',');
	json->comma = true;
	if (key != NULL) {
		quote(json->buf, key, strlen(key));
		ax_buf_addc(json->buf, ':');
	}
}

void ax_json_init(struct ax_json *json, struct ax_buf *buf)
{
	*json = (struct ax_json){ .buf = buf };
}

void ax_json_obj(struct ax_json *json, const char *key)
{
	begin(json, key);
	ax_buf_addc(json->buf, '{');
	json->comma = false;
}

void ax_json_obj_end(struct ax_json *json)
{
	ax_buf_addc(json->buf, '}');
	json->comma = true;
}

void ax_json_arr(struct ax_json *json, const char *key)
{
	begin(json, key);
	ax_buf_addc(json->buf, '[');
	json->comma = false;
}

void ax_json_arr_end(struct ax_json *json)
{
	ax_buf_addc(json->buf, ']');
	json->comma = true;
}

void ax_json_strn(struct ax_json *json, const char *key, const char *s, size_t len)
{
	begin(json, key);
	quote(json->buf, s, len);
}

void ax_json_str(struct ax_json *json, const char *key, const char *s)
{
	if (s == NULL)
		ax_json_null(json, key);
	else
		ax_json_strn(json, key, s, strlen(s));
}

void ax_json_word(struct ax_json *json, const char *key, const char *s)
{
	ax_json_str(json, key, s != NULL && s[0] != '\0' ? s : NULL);
}

/* The hot messages are numbers for a good part: printf takes five times as long. */
static void add_number(struct ax_buf *buf, int64_t n)
{
	char text[20]; /* the digits of 2^64 - 1 */
	size_t at = sizeof(text);
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	do
		text[--at] = (char)('0' + left % 10);
	while ((left /= 10) != 0);
	if (n < 0)
		ax_buf_addc(buf, '-');
	ax_buf_add(buf, text + at, sizeof(text) - at);
}

void ax_json_int(struct ax_json *json, const char *key, int64_t n)
{
	begin(json, key);
	add_number(json->buf, n);
}

void ax_json_id(struct ax_json *json, const char *key, int64_t id)
{
	if (id == 0) {
		ax_json_null(json, key);
		return;
	}
	begin(json, key);
	ax_buf_addc(json->buf, '"');
	add_number(json->buf, id);
	ax_buf_addc(json->buf, '"');
}

void ax_json_time(struct ax_json *json, const char *key, int64_t ms)
{
	if (ms == 0)
		ax_json_null(json, key);
	else
		ax_json_int(json, key, ms);
}

void ax_json_bool(struct ax_json *json, const char *key, bool b)
{
	begin(json, key);
	ax_buf_adds(json->buf, b ? "true" : "false");
}

void ax_json_null(struct ax_json *json, const char *key)
{
	begin(json, key);
	ax_buf_adds(json->buf, "null");
}

void ax_json_raw(struct ax_json *json, const char *key, const char *text)
{
	begin(json, key);
	ax_buf_adds(json->buf, text[0] == '\0' ? "null" : text);
}
