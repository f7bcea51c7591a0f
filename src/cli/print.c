#include "cli/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/rfc3339.h"
#include "base/utf8.h"
#include "sys/json_real.h"

/* Decodes the first character of well-formed UTF-8; returns its bytes. */
static size_t decode(const char *s, uint32_t *ret)
{
	unsigned char c = (unsigned char)s[0];
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	uint32_t cp = n == 1 ? c : c & (0xffU >> (n + 1));
	for (size_t i = 1; i < n; i++)
		cp = cp << 6 | ((unsigned char)s[i] & 0x3fU);
	*ret = cp;
	return n;
}

struct range {
	uint32_t from, to;
};

static bool within(const struct range *ranges, size_t n, uint32_t cp)
{
	for (size_t i = 0; i < n; i++)
		if (cp >= ranges[i].from && cp <= ranges[i].to)
			return true;
	return false;
}

/* Blocks that East Asian Width calls wide or fullwidth. */
static bool is_wide(uint32_t cp)
{
	static const struct range wide[] = { { 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x2329, 0x232a },
		{ 0x23e9, 0x23ec }, { 0x2e80, 0x303e }, { 0x3041, 0x33ff }, { 0x3400, 0x4dbf }, { 0x4e00, 0x9fff },
		{ 0xa000, 0xa4cf }, { 0xa960, 0xa97f }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe10, 0xfe19 },
		{ 0xfe30, 0xfe6f }, { 0xff01, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x16fe0, 0x18aff }, { 0x1b000, 0x1b2ff },
		{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff },
		{ 0x20000, 0x3fffd } };
	return within(wide, AX_COUNT(wide), cp);
}

static bool is_zero_width(uint32_t cp)
{
	static const struct range zero[] = { { 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd },
		{ 0x064b, 0x065f }, { 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
		{ 0x200b, 0x200d }, { 0x20d0, 0x20ff }, { 0x302a, 0x302d }, { 0x3099, 0x309a }, { 0xfe00, 0xfe0f },
		{ 0xfe20, 0xfe2f }, { 0xe0100, 0xe01ef } };
	return within(zero, AX_COUNT(zero), cp);
}

/* C0, DEL, C1, and the marks that change the direction of text. */
static bool is_steering(uint32_t cp)
{
	static const struct range steering[] = { { 0x00, 0x1f }, { 0x7f, 0x9f }, { 0x061c, 0x061c }, { 0x200e, 0x200f },
		{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfeff, 0xfeff } };
	return within(steering, AX_COUNT(steering), cp);
}

size_t ax_print_width(const char *text)
{
	size_t width = 0;
	uint32_t cp;
	AX_ASSERT(ax_utf8_valid(text, strlen(text)));
	for (; *text != '\0'; text += decode(text, &cp)) {
		(void)decode(text, &cp);
		width += is_zero_width(cp) ? 0 : is_wide(cp) ? 2 : 1;
	}
	return width;
}

void ax_print_clean(const char *text, struct ax_buf *out)
{
	size_t len = strlen(text);
	char *good = ax_malloc(3 * len + 1);
	good[ax_utf8_repair(text, len, good)] = '\0';
	size_t n;
	for (const char *p = good; *p != '\0'; p += n) {
		uint32_t cp;
		n = decode(p, &cp);
		if (cp == '\n' || cp == '\t')
			ax_buf_addc(out, ' ');
		else if (is_steering(cp))
			ax_buf_adds(out, "\xef\xbf\xbd");
		else
			ax_buf_add(out, p, n);
	}
	free(good);
}

static const char *clean_copy(struct ax_arena *arena, const char *text)
{
	struct ax_buf clean;
	ax_buf_init(&clean, 1 << 20);
	ax_print_clean(text, &clean);
	const char *copy = ax_strdup(arena, clean.data);
	ax_buf_done(&clean);
	return copy;
}

static const char *cell_of(struct ax_arena *arena, const struct ax_column *column, const json_t *row)
{
	const char *key = column->field;
	for (const char *dot; (dot = strchr(key, '.')) != NULL; key = dot + 1)
		row = json_object_get(row, ax_strndup(arena, key, (size_t)(dot - key)));
	const char *text = (column->text != NULL ? column->text : ax_json_text)(arena, row, key);
	return clean_copy(arena, *text != '\0' ? text : "-");
}

static void print_cell(FILE *to, const char *text, size_t width, bool right, bool last)
{
	size_t used = ax_print_width(text);
	int pad = used < width ? (int)(width - used) : 0;
	if (right)
		fprintf(to, "%*s%s", pad, "", text);
	else
		fprintf(to, "%s%*s", text, last ? 0 : pad, "");
	fputs(last ? "\n" : "  ", to);
}

void ax_print_table(FILE *to, const struct ax_column *columns, const json_t *rows)
{
	struct ax_arena arena = { 0 };
	size_t n_cols = 0;
	while (columns[n_cols].head != NULL)
		n_cols++;
	size_t n_cells = (json_array_size(rows) + 1) * n_cols; /* the first row are the heads */
	const char **cells = ax_alloc_array(&arena, n_cells, sizeof(*cells));
	size_t *widths = ax_alloc_array(&arena, n_cols, sizeof(*widths));
	for (size_t i = 0; i < n_cells; i++) {
		const struct ax_column *column = &columns[i % n_cols];
		cells[i] = i < n_cols ? column->head + (column->head[0] == '>')
				      : cell_of(&arena, column, json_array_get(rows, i / n_cols - 1));
		widths[i % n_cols] = AX_MAX(widths[i % n_cols], ax_print_width(cells[i]));
	}
	for (size_t i = 0; i < n_cells; i++)
		print_cell(to, cells[i], widths[i % n_cols], columns[i % n_cols].head[0] == '>', (i + 1) % n_cols == 0);
	ax_arena_done(&arena);
}

void ax_print_field_at(FILE *to, size_t width, const char *name, const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	struct ax_buf clean;
	ax_buf_init(&clean, 1 << 20);
	ax_print_clean(value, &clean);
	fprintf(to, "%-*s %s\n", (int)width, name, clean.data);
	ax_buf_done(&clean);
}

void ax_print_field(FILE *to, const char *name, const char *value)
{
	ax_print_field_at(to, 18, name, value);
}

const char *ax_json_text(struct ax_arena *arena, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_integer(value))
		return ax_sprintf(arena, "%" PRId64, (int64_t)json_integer_value(value));
	if (json_is_boolean(value))
		return json_is_true(value) ? "yes" : "no";
	bool empty = (json_is_array(value) && json_array_size(value) == 0) ||
		(json_is_object(value) && json_object_size(value) == 0);
	if (value == NULL || json_is_null(value) || empty)
		return "";
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	const char *copy = text != NULL ? ax_strndup(arena, text, ax_json_shorten(text, strlen(text))) : "";
	free(text);
	return copy;
}

int64_t ax_json_int(const json_t *object, const char *key)
{
	return (int64_t)json_integer_value(json_object_get(object, key));
}

bool ax_json_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

const char *ax_json_time(struct ax_arena *arena, const json_t *object, const char *key)
{
	int64_t ms = ax_json_int(object, key);
	if (ms == 0)
		return "";
	char text[AX_RFC3339_SIZE];
	ax_rfc3339_format(ms - (ms % 1000 + 1000) % 1000, text);
	return ax_strdup(arena, text);
}

const char *ax_json_task(struct ax_arena *arena, const json_t *object, const char *key)
{
	return ax_sprintf(arena, "%s/%s", ax_json_text(arena, object, "group_key"), ax_json_text(arena, object, key));
}

const char *ax_json_words(struct ax_arena *arena, const json_t *object, const char *key)
{
	const char *text = "";
	size_t i;
	const json_t *word;
	json_array_foreach(json_object_get(object, key), i, word) text = ax_sprintf(
		arena, "%s%s%s", text, i > 0 ? " " : "", json_is_string(word) ? json_string_value(word) : "?");
	return text;
}

const char *ax_print_duration(struct ax_arena *arena, int64_t ms)
{
	int64_t s = ms / 1000;
	if (ms == 0)
		return "<1ms"; /* what begins and ends in one millisecond still took some time */
	if (ms < 1000)
		return ax_sprintf(arena, "%" PRId64 "ms", ms);
	if (s < 60)
		return ax_sprintf(arena, "%" PRId64 ".%" PRId64 "s", s, ms % 1000 / 100);
	if (s < 3600)
		return ax_sprintf(arena, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
	return ax_sprintf(arena, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
}

void ax_print_json(FILE *to, const json_t *value)
{
	char *text = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_PRESERVE_ORDER);
	if (text != NULL)
		fwrite(text, 1, ax_json_shorten(text, strlen(text)), to);
	free(text);
	fputc('\n', to);
}
