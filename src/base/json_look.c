#include "base/json_look.h"

#include <stdint.h>
#include <string.h>

#include "base/attr.h"

static const struct ax_look nothing = { .type = AX_LOOK_NOTHING, .at = "" };

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	return at;
}

/* Behind the string that begins at `at`; NULL when it does not end. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		if (*at == '\\')
			at++;
		else if (*at == '"')
			return at + 1;
	}
	return NULL;
}

/* Behind the array or object that begins at `at`; NULL when it does not end. */
static const char *skip_nest(const char *at, const char *end)
{
	size_t depth = 0;
	while (at != NULL && at < end) {
		char c = *at;
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
		if (depth == 0)
			return at + 1;
		at = c == '"' ? skip_string(at, end) : at + 1;
	}
	return NULL;
}

static const char *skip_word(const char *at, const char *end)
{
	while (at < end && strchr(",]} \t\r\n", *at) == NULL)
		at++;
	return at;
}

static enum ax_look_type type_of(char first)
{
	switch (first) {
	case 'n':
		return AX_LOOK_NULL;
	case 't':
	case 'f':
		return AX_LOOK_BOOL;
	case '"':
		return AX_LOOK_STRING;
	case '[':
		return AX_LOOK_ARRAY;
	case '{':
		return AX_LOOK_OBJECT;
	default:
		return first == '-' || (first >= '0' && first <= '9') ? AX_LOOK_NUMBER : AX_LOOK_NOTHING;
	}
}

/* The value that begins at or behind `at`. */
static struct ax_look value_at(const char *at, const char *end)
{
	at = skip_blanks(at, end);
	enum ax_look_type type = at < end ? type_of(*at) : AX_LOOK_NOTHING;
	if (type == AX_LOOK_NOTHING)
		return nothing;
	const char *behind = type == AX_LOOK_STRING               ? skip_string(at, end)
		: type == AX_LOOK_ARRAY || type == AX_LOOK_OBJECT ? skip_nest(at, end)
								  : skip_word(at, end);
	if (behind == NULL)
		return nothing;
	return (struct ax_look){ .type = type, .at = at, .len = (size_t)(behind - at) };
}

struct ax_look ax_look(const char *text)
{
	return value_at(text, text + strlen(text));
}

struct ax_look_walk ax_look_into(struct ax_look whole)
{
	if (whole.type != AX_LOOK_ARRAY && whole.type != AX_LOOK_OBJECT)
		return (struct ax_look_walk){ .at = "", .end = "" };
	return (struct ax_look_walk){
		.at = whole.at + 1,
		.end = whole.at + whole.len - 1,
		.object = whole.type == AX_LOOK_OBJECT,
	};
}

bool ax_look_next(struct ax_look_walk *walk, struct ax_look *ret_key, struct ax_look *ret_value)
{
	struct ax_look key = nothing;
	const char *at = walk->at;
	if (walk->object) {
		key = value_at(at, walk->end);
		at = skip_blanks(key.at + key.len, walk->end);
		if (key.type != AX_LOOK_STRING || at == walk->end || *at != ':')
			return false;
		at++;
	}
	struct ax_look value = value_at(at, walk->end);
	if (value.type == AX_LOOK_NOTHING)
		return false;
	at = skip_blanks(value.at + value.len, walk->end);
	walk->at = at < walk->end && *at == ',' ? at + 1 : walk->end;
	*ret_key = key;
	*ret_value = value;
	return true;
}

/* The bytes of a string, escapes resolved. */
struct bytes {
	const char *at, *end;
	unsigned char made[4]; /* UTF-8 of an escaped character … */
	int n_made, i_made;    /* … of which these are still to come */
};

static struct bytes bytes_of(struct ax_look string)
{
	if (string.type != AX_LOOK_STRING)
		return (struct bytes){ .at = "", .end = "" };
	return (struct bytes){ .at = string.at + 1, .end = string.at + string.len - 1 };
}

static uint32_t read_hex(const char *at, const char *end)
{
	uint32_t code = 0;
	for (int i = 0; i < 4; i++) {
		char c = at + i < end ? at[i] : '0';
		code = code * 16 +
			(uint32_t)(c >= '0' && c <= '9'        ? c - '0'
					: c >= 'a' && c <= 'f' ? c - 'a' + 10
					: c >= 'A' && c <= 'F' ? c - 'A' + 10
							       : 0);
	}
	return code;
}

static void make_utf8(struct bytes *b, uint32_t code)
{
	int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	b->n_made = 0;
	for (int i = more; i >= 0; i--) {
		uint32_t part = code >> (6 * i);
		b->made[b->n_made++] = (unsigned char)(i == more ? lead[more] | part : 0x80 | (part & 0x3f));
	}
	b->i_made = 0;
}

/* Behind "\u": four digits, and four more of a surrogate pair. */
static void read_unicode(struct bytes *b)
{
	uint32_t code = read_hex(b->at, b->end);
	b->at += AX_MIN(4, b->end - b->at);
	if (code >= 0xd800 && code < 0xdc00 && b->end - b->at >= 6 && b->at[0] == '\\' && b->at[1] == 'u') {
		code = 0x10000 + ((code & 0x3ff) << 10) + (read_hex(b->at + 2, b->end) & 0x3ff);
		b->at += 6;
	}
	make_utf8(b, code);
}

/* The next byte, -1 behind the last. */
static int next_byte(struct bytes *b)
{
	static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
	if (b->i_made < b->n_made)
		return b->made[b->i_made++];
	if (b->at == b->end)
		return -1;
	char c = *b->at++;
	if (c != '\\' || b->at == b->end)
		return (unsigned char)c;
	c = *b->at++;
	if (c == 'u') {
		read_unicode(b);
		return b->made[b->i_made++];
	}
	const char *name = c == '\0' ? NULL : strchr(names, c);
	return (unsigned char)(name != NULL ? meant[name - names] : c);
}

int ax_look_compare_strings(struct ax_look a, struct ax_look b)
{
	struct bytes x = bytes_of(a), y = bytes_of(b);
	for (;;) {
		int i = next_byte(&x), j = next_byte(&y);
		if (i != j)
			return i < j ? -1 : 1;
		if (i < 0)
			return 0;
	}
}

bool ax_look_is(struct ax_look string, const char *text)
{
	struct bytes b = bytes_of(string);
	size_t len = strlen(text);
	if (string.type != AX_LOOK_STRING)
		return false;
	if (memchr(string.at, '\\', string.len) == NULL) /* as it mostly is */
		return string.len == len + 2 && memcmp(string.at + 1, text, len) == 0;
	int byte = next_byte(&b);
	for (; byte > 0 && byte == (unsigned char)*text; text++)
		byte = next_byte(&b);
	return byte < 0 && *text == '\0';
}

bool ax_look_text(struct ax_look string, char *ret, size_t size)
{
	struct bytes b = bytes_of(string);
	int byte;
	size_t n = 0;
	while ((byte = next_byte(&b)) > 0 && n + 1 < size)
		ret[n++] = (char)byte;
	ret[n] = '\0';
	return string.type == AX_LOOK_STRING && byte < 0;
}

struct ax_look ax_look_member(struct ax_look object, const char *name)
{
	struct ax_look_walk walk = ax_look_into(object);
	struct ax_look key, value;
	while (walk.object && ax_look_next(&walk, &key, &value))
		if (ax_look_is(key, name))
			return value;
	return nothing;
}

/* Is the key the pointer's part, in which "~1" stands for '/' and "~0" for '~'? */
static bool is_part(struct ax_look key, const char *part, size_t len)
{
	struct bytes b = bytes_of(key);
	for (size_t i = 0; i < len; i++) {
		char c = part[i];
		if (c == '~')
			c = part[++i] == '1' ? '/' : '~';
		if (next_byte(&b) != (unsigned char)c)
			return false;
	}
	return next_byte(&b) < 0;
}

/* The index that the part is, -1 when it is none. */
static int64_t index_of(const char *part, size_t len)
{
	int64_t index = 0;
	if (len == 0 || len > 9 || (len > 1 && part[0] == '0'))
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (part[i] < '0' || part[i] > '9')
			return -1;
		index = index * 10 + (part[i] - '0');
	}
	return index;
}

static struct ax_look step_into(struct ax_look whole, const char *part, size_t len)
{
	struct ax_look_walk walk = ax_look_into(whole);
	int64_t index = walk.object ? -1 : index_of(part, len), n = 0;
	struct ax_look key, value;
	for (; ax_look_next(&walk, &key, &value); n++)
		if (walk.object ? is_part(key, part, len) : n == index)
			return value;
	return nothing;
}

bool ax_look_is_pointer(const char *pointer)
{
	if (pointer[0] != '\0' && pointer[0] != '/')
		return false;
	for (; *pointer != '\0'; pointer++)
		if (pointer[0] == '~' && pointer[1] != '0' && pointer[1] != '1')
			return false;
	return true;
}

struct ax_look ax_look_pointer(struct ax_look whole, const char *pointer)
{
	struct ax_look value = ax_look_is_pointer(pointer) ? whole : nothing;
	while (*pointer == '/' && value.type != AX_LOOK_NOTHING) {
		size_t len = strcspn(pointer + 1, "/");
		value = step_into(value, pointer + 1, len);
		pointer += 1 + len;
	}
	return value;
}

/* A number as 0.d1 d2 d3 … × 10^power, d1 not 0; without digits it is 0. */
struct decimal {
	bool negative;
	int64_t power;
	const char *at, *end; /* the digits, with a point somewhere among them */
};

static struct decimal decimal_of(struct ax_look number)
{
	const char *at = number.at, *end = number.at + number.len;
	struct decimal d = { 0 };
	if (at < end && *at == '-') {
		d.negative = true;
		at++;
	}
	const char *stop = at;
	while (stop < end && *stop != 'e' && *stop != 'E')
		stop++;
	const char *point = at;
	while (point < stop && *point != '.')
		point++;
	d.at = at;
	while (d.at < stop && (*d.at == '0' || *d.at == '.'))
		d.at++;
	d.end = stop;
	while (d.end > d.at && (d.end[-1] == '.' || (d.end[-1] == '0' && point < d.end)))
		d.end--;
	d.power = d.at <= point ? point - d.at : point + 1 - d.at;
	if (stop == end)
		return d;
	bool minus = stop + 1 < end && stop[1] == '-';
	int64_t exponent = 0;
	for (const char *p = stop + 1; p < end && exponent < INT64_C(1000000000000); p++)
		if (*p >= '0' && *p <= '9')
			exponent = exponent * 10 + (*p - '0');
	d.power += minus ? -exponent : exponent;
	return d;
}

/* The next digit; 0 behind the last. */
static char next_digit(struct decimal *d)
{
	if (d->at < d->end && *d->at == '.')
		d->at++;
	return d->at < d->end ? *d->at++ : '0';
}

int ax_look_compare_numbers(struct ax_look a, struct ax_look b)
{
	struct decimal x = decimal_of(a), y = decimal_of(b);
	bool x_zero = x.at == x.end, y_zero = y.at == y.end;
	if (x_zero || y_zero)
		return x_zero && y_zero ? 0 : x_zero ? (y.negative ? 1 : -1) : (x.negative ? -1 : 1);
	if (x.negative != y.negative)
		return x.negative ? -1 : 1;
	int way = x.negative ? -1 : 1;
	if (x.power != y.power)
		return x.power < y.power ? -way : way;
	while (x.at < x.end || y.at < y.end) {
		char i = next_digit(&x), j = next_digit(&y);
		if (i != j)
			return i < j ? -way : way;
	}
	return 0;
}

bool ax_look_same(struct ax_look a, struct ax_look b)
{
	if (a.type != b.type)
		return false;
	switch (a.type) {
	case AX_LOOK_NULL:
		return true;
	case AX_LOOK_BOOL:
		return a.at[0] == b.at[0];
	case AX_LOOK_NUMBER:
		return ax_look_compare_numbers(a, b) == 0;
	case AX_LOOK_STRING:
		return ax_look_compare_strings(a, b) == 0;
	case AX_LOOK_NOTHING:
	case AX_LOOK_ARRAY:
	case AX_LOOK_OBJECT:
		return false;
	}
	return false;
}
