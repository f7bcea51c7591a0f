/* A condition of events and a payload: any bytes are read without harm, and what a parser lets in is found where the
 * parser finds it. Input: the condition, a line feed, the payload. */
#include "fuzz.h"

#include <jansson.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_look.h"
#include "core/condition.h"

static enum ax_look_type type_of(const json_t *json)
{
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		return AX_LOOK_OBJECT;
	case JSON_ARRAY:
		return AX_LOOK_ARRAY;
	case JSON_STRING:
		return AX_LOOK_STRING;
	case JSON_INTEGER:
	case JSON_REAL:
		return AX_LOOK_NUMBER;
	case JSON_TRUE:
	case JSON_FALSE:
		return AX_LOOK_BOOL;
	case JSON_NULL:
		return AX_LOOK_NULL;
	}
	return AX_LOOK_NOTHING;
}

static void compare(struct ax_arena *arena, struct ax_look look, json_t *json)
{
	const char *name;
	json_t *member;
	AX_ASSERT(look.type == type_of(json));
	if (json_is_string(json)) {
		size_t size = json_string_length(json) + 1;
		char *text = ax_alloc(arena, size);
		AX_ASSERT(ax_look_text(look, text, size) && strcmp(text, json_string_value(json)) == 0);
		AX_ASSERT(ax_look_is(look, json_string_value(json)));
	}
	if (look.type < AX_LOOK_ARRAY)
		AX_ASSERT(ax_look_same(look, look) &&
			(look.type != AX_LOOK_NUMBER || ax_look_compare_numbers(look, look) == 0));
	json_object_foreach(json, name, member) compare(arena, ax_look_member(look, name), member);
	struct ax_look key, value;
	struct ax_look_walk walk = ax_look_into(look);
	size_t n = 0;
	for (; ax_look_next(&walk, &key, &value); n++)
		if (json_is_array(json))
			compare(arena, value, json_array_get(json, n));
	AX_ASSERT(n == json_object_size(json) + json_array_size(json));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ax_arena arena = { 0 };
	struct ax_err err = { 0 };
	const uint8_t *line = size > 8192 ? NULL : memchr(data, '\n', size);
	if (line == NULL || memchr(data, 0, size) != NULL)
		return 0;
	const char *condition = ax_strndup(&arena, (const char *)data, (size_t)(line - data));
	const char *payload = ax_strndup(&arena, (const char *)line + 1, size - (size_t)(line - data) - 1);
	enum ax_status status = ax_condition_check(condition, &err);
	AX_ASSERT(status == AX_OK || (status == AX_INVALID && err.field[0] != '\0'));
	ax_condition_holds(condition, payload);
	json_t *json = json_loads(payload, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	if (json != NULL)
		compare(&arena, ax_look(payload), json);
	json_decref(json);
	ax_arena_done(&arena);
	return 0;
}
