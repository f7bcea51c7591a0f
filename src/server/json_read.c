#include "server/json_read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "core/limits.h"
#include "sys/json_real.h"

/* Depth and number of values are counted before the parser builds anything. */
static enum ax_status check_shape(const char *text, size_t len, struct ax_err *err)
{
	size_t depth = 0, nodes = 0;
	bool in_string = false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
			continue;
		}
		if (c == '"') {
			in_string = true;
		} else if (c == '[' || c == '{') {
			nodes++;
			if (++depth > AX_JSON_DEPTH_MAX)
				return ax_fail(err, AX_INVALID, "", "the JSON is nested deeper than %d levels",
					AX_JSON_DEPTH_MAX);
		} else if ((c == ']' || c == '}') && depth > 0) {
			depth--;
		} else if (c == ',') {
			nodes++;
		}
	}
	if (nodes > AX_JSON_NODES_MAX)
		return ax_fail(err, AX_TOO_LARGE, "", "the JSON holds more than %d values", AX_JSON_NODES_MAX);
	return AX_OK;
}

/* What the parser found, in our words. */
static const char *fault_text(const json_error_t *fault)
{
	switch ((int)json_error_code(fault)) { /* the few that a body can have */
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "a text holds the character U+0000, which is not taken";
	case json_error_numeric_overflow:
		return "a number is too large: whole numbers have 64 bits, others a magnitude below 1.8e308";
	case json_error_duplicate_key:
		return "an object has the same key twice";
	case json_error_invalid_utf8:
		return "it is not well-formed UTF-8";
	case json_error_premature_end_of_input:
		return "it ends too early";
	case json_error_end_of_input_expected:
		return "something follows after its end";
	default:
		return "this is no JSON";
	}
}

enum ax_status ax_json_parse(const char *text, size_t len, json_t **ret, struct ax_err *err)
{
	enum ax_status status = check_shape(text, len, err);
	if (status != AX_OK)
		return status;
	json_error_t fault;
	json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &fault);
	if (value == NULL)
		return ax_fail(err, AX_INVALID, "", "the body cannot be read: %s (line %d, column %d)",
			fault_text(&fault), fault.line, fault.column);
	*ret = value;
	return AX_OK;
}

void ax_read_fail(struct ax_read *r, const char *field, const char *fmt, ...)
{
	if (r->status != AX_OK)
		return;
	char name[128], msg[320];
	snprintf(name, sizeof name, "%s%s", r->path, field);
	va_list args;
	va_start(args, fmt);
	vsnprintf(msg, sizeof msg, fmt, args);
	va_end(args);
	r->status = ax_fail(r->err, AX_INVALID, name, "%s", msg);
}

void ax_read_begin(struct ax_read *r, json_t *value, const char *path, struct ax_arena *arena, struct ax_err *err)
{
	*r = (struct ax_read){ .obj = value, .path = path, .arena = arena, .err = err };
	if (value != NULL && !json_is_object(value)) {
		r->obj = NULL;
		size_t len = strlen(path);
		if (len == 0) {
			r->status = ax_fail(err, AX_INVALID, "", "the body must be a JSON object");
		} else {
			char *name = ax_strndup(arena, path, len - 1);
			r->status = ax_fail(err, AX_INVALID, name, "%s must be a JSON object", name);
		}
	}
}

static bool was_asked(const struct ax_read *r, const char *key)
{
	for (int i = 0; i < r->n_seen; i++)
		if (strcmp(r->seen[i], key) == 0)
			return true;
	return false;
}

enum ax_status ax_read_end(struct ax_read *r)
{
	const char *key;
	json_t *value;
	if (r->status == AX_OK && r->obj != NULL)
		json_object_foreach(r->obj, key, value)
		{
			if (!was_asked(r, key))
				ax_read_fail(r, key, "unknown field `%.64s`", key);
		}
	return r->status;
}

json_t *ax_read_any(struct ax_read *r, const char *field)
{
	AX_ASSERT(r->n_seen < (int)AX_COUNT(r->seen));
	r->seen[r->n_seen++] = field;
	return r->obj != NULL && r->status == AX_OK ? json_object_get(r->obj, field) : NULL;
}

bool ax_read_has(const struct ax_read *r, const char *field)
{
	return r->obj != NULL && json_object_get(r->obj, field) != NULL;
}

static void take_str(struct ax_read *r, const char *field, json_t *value, size_t max, const char **ret)
{
	if (!json_is_string(value))
		ax_read_fail(r, field, "%s must be a text", field);
	else if (json_string_length(value) != strlen(json_string_value(value)))
		ax_read_fail(r, field, "%s must not hold the character U+0000", field);
	else if (json_string_length(value) > max)
		ax_read_fail(r, field, "%s is longer than %zu bytes", field, max);
	else
		*ret = json_string_value(value);
}

void ax_read_str(struct ax_read *r, const char *field, size_t max, const char **ret)
{
	json_t *value = ax_read_any(r, field);
	if (value != NULL)
		take_str(r, field, value, max, ret);
}

void ax_read_cut_str(struct ax_read *r, const char *field, size_t max, const char **ret)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	const char *text = *ret;
	ax_read_str(r, field, SIZE_MAX, &text);
	size_t len = strlen(text);
	if (len > max) {
		for (len = max - strlen(ellipsis); ((unsigned char)text[len] & 0xc0) == 0x80; len--) {
		}
		text = ax_sprintf(r->arena, "%.*s%s", (int)len, text, ellipsis);
	}
	*ret = text;
}

void ax_read_str_or_null(struct ax_read *r, const char *field, size_t max, const char **ret)
{
	json_t *value = ax_read_any(r, field);
	if (json_is_null(value))
		*ret = "";
	else if (value != NULL)
		take_str(r, field, value, max, ret);
}

void ax_read_int(struct ax_read *r, const char *field, int64_t min, int64_t max, int64_t *ret)
{
	json_t *value = ax_read_any(r, field);
	if (value == NULL)
		return;
	if (!json_is_integer(value))
		ax_read_fail(r, field, "%s must be a whole number", field);
	else if (json_integer_value(value) < min || json_integer_value(value) > max)
		ax_read_fail(r, field, "%s must be from %" PRId64 " to %" PRId64, field, min, max);
	else
		*ret = json_integer_value(value);
}

void ax_read_time_or_null(struct ax_read *r, const char *field, int64_t *ret)
{
	if (r->obj != NULL && json_is_null(json_object_get(r->obj, field))) {
		ax_read_any(r, field);
		*ret = 0;
	} else {
		ax_read_int(r, field, 1, AX_TIME_MAX_MS, ret);
	}
}

void ax_read_bool(struct ax_read *r, const char *field, bool *ret)
{
	json_t *value = ax_read_any(r, field);
	if (value == NULL)
		return;
	if (!json_is_boolean(value))
		ax_read_fail(r, field, "%s must be true or false", field);
	else
		*ret = json_is_true(value);
}

void ax_read_id(struct ax_read *r, const char *field, int64_t *ret)
{
	json_t *value = ax_read_any(r, field);
	if (value == NULL)
		return;
	if (!json_is_string(value) ||
		!ax_parse_i64(json_string_value(value), json_string_length(value), 1, INT64_MAX, ret))
		ax_read_fail(r, field, "%s must be an id: a decimal number written as a text", field);
}

void ax_read_word(struct ax_read *r, const char *field, const char *const *words, int *ret)
{
	json_t *value = ax_read_any(r, field);
	if (value == NULL)
		return;
	const char *word = json_is_string(value) ? json_string_value(value) : "";
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], "null") == 0 ? json_is_null(value) : strcmp(words[i], word) == 0) {
			*ret = i;
			return;
		}
	char list[160] = "";
	for (int i = 0; words[i] != NULL; i++) {
		size_t len = strlen(list);
		const char *quote = strcmp(words[i], "null") == 0 ? "" : "`";
		snprintf(list + len, sizeof list - len, "%s%s%s%s", i > 0 ? ", " : "", quote, words[i], quote);
	}
	ax_read_fail(r, field, "%s must be one of %s", field, list);
}

json_t *ax_read_array(struct ax_read *r, const char *field, size_t max)
{
	json_t *value = ax_read_any(r, field);
	if (value == NULL)
		return NULL;
	if (!json_is_array(value)) {
		ax_read_fail(r, field, "%s must be an array", field);
		return NULL;
	}
	if (json_array_size(value) > max) {
		ax_read_fail(r, field, "%s holds more than %zu items", field, max);
		return NULL;
	}
	return value;
}

bool ax_read_integers(struct ax_read *r, const char *field, size_t max_items, int64_t min, int64_t max,
	const int64_t **ret, size_t *ret_n)
{
	json_t *array = ax_read_array(r, field, max_items), *item;
	size_t i;
	int64_t *at = ax_alloc_array(r->arena, json_array_size(array) + 1, sizeof *at);
	json_array_foreach(array, i, item)
	{
		if (!json_is_integer(item) || json_integer_value(item) < min || json_integer_value(item) > max) {
			ax_read_fail(r, field, "%s holds whole numbers from %" PRId64 " to %" PRId64, field, min, max);
			return false;
		}
		at[i] = (int64_t)json_integer_value(item);
	}
	if (array == NULL)
		return false;
	*ret = at;
	*ret_n = json_array_size(array);
	return true;
}

void ax_read_numbers(struct ax_read *r, const char *field, size_t max_items, int64_t min, int64_t max, const char **ret)
{
	if (r->obj != NULL && json_is_null(json_object_get(r->obj, field))) {
		ax_read_any(r, field);
		*ret = "";
		return;
	}
	const int64_t *at;
	size_t n;
	const char *text = "";
	if (!ax_read_integers(r, field, max_items, min, max, &at, &n))
		return;
	for (size_t i = 0; i < n; i++)
		text = ax_sprintf(r->arena, "%s%s%" PRId64, text, i > 0 ? " " : "", at[i]);
	*ret = text;
}

void ax_read_ids(struct ax_read *r, const char *field, size_t max_items, const char **ret)
{
	if (r->obj != NULL && json_is_null(json_object_get(r->obj, field))) {
		ax_read_any(r, field);
		*ret = "";
		return;
	}
	json_t *array = ax_read_array(r, field, max_items), *item;
	size_t i;
	const char *text = "";
	json_array_foreach(array, i, item)
	{
		int64_t id;
		if (!json_is_string(item) ||
			!ax_parse_i64(json_string_value(item), json_string_length(item), 1, INT64_MAX, &id)) {
			ax_read_fail(r, field, "%s holds ids: decimal numbers written as texts", field);
			return;
		}
		text = ax_sprintf(r->arena, "%s%s%" PRId64, text, i > 0 ? " " : "", id);
	}
	if (array != NULL)
		*ret = text;
}

bool ax_read_short_json(struct ax_read *r, const char *field, size_t max, const char **ret)
{
	json_t *value = ax_read_any(r, field);
	if (value == NULL)
		return true;
	*ret = "";
	if (json_is_null(value))
		return true;
	size_t len = json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
	char *text = ax_alloc(r->arena, len + 1);
	json_dumpb(value, text, len, JSON_COMPACT | JSON_ENCODE_ANY);
	len = ax_json_shorten(text, len);
	text[len] = '\0';
	*ret = len <= max ? text : "";
	return len <= max;
}

void ax_read_json(struct ax_read *r, const char *field, size_t max, const char **ret)
{
	if (!ax_read_short_json(r, field, max, ret))
		ax_read_fail(r, field, "%s is longer than %zu bytes", field, max);
}

void ax_read_require(struct ax_read *r, const char *field)
{
	if (r->status == AX_OK && !ax_read_has(r, field))
		ax_read_fail(r, field, "%s is missing", field);
}
