#include "core/task_def.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "core/limits.h"
#include "core/schedule.h"

#define AT(member) offsetof(struct ax_task_def, member)
#define WORDS(...)                                                                                                     \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__, NULL                                                                                      \
	}

const struct ax_def_field ax_def_fields[] = {
#define AX_DEF_TEXT(name, option, alias, max, preset, about)                                                           \
	{ #name, AX_DEF_KIND_TEXT, AT(name), 0, max, 0, preset, NULL },
#define AX_DEF_OPTIONAL(name, option, alias, max, about) { #name, AX_DEF_KIND_OPTIONAL, AT(name), 0, max, 0, "", NULL },
#define AX_DEF_NUMBER(name, option, alias, min, max, preset, about)                                                    \
	{ #name, AX_DEF_KIND_NUMBER, AT(name), min, max, preset, NULL, NULL },
#define AX_DEF_TIME(name, option, alias, about) { #name, AX_DEF_KIND_TIME, AT(name), 0, AX_TIME_MAX_MS, 0, NULL, NULL },
#define AX_DEF_ENUM(type, name, option, alias, first, preset, about, ...)                                              \
	{ #name, AX_DEF_KIND_ENUM, AT(name), first, 0, preset, NULL, WORDS(__VA_ARGS__) },
#define AX_DEF_FLAG(name, json, option, alias, about, no, yes)                                                         \
	{ json, AX_DEF_KIND_FLAG, AT(name), 0, 1, 0, NULL, WORDS(no, yes) },
#define AX_DEF_NUMBERS(name, option, alias, items, min, max, about)                                                    \
	{ #name, AX_DEF_KIND_NUMBERS, AT(name), min, max, items, "", NULL },
#define AX_DEF_IDS(name, option, alias, items, about)                                                                  \
	{ #name, AX_DEF_KIND_IDS, AT(name), 1, INT64_MAX, items, "", NULL },
#define AX_DEF_JSON(name, option, alias, max, preset, about)                                                           \
	{ #name, AX_DEF_KIND_JSON, AT(name), 0, max, 0, preset, NULL },
#include "core/task_def.def"
#undef AX_DEF_TEXT
#undef AX_DEF_OPTIONAL
#undef AX_DEF_NUMBER
#undef AX_DEF_TIME
#undef AX_DEF_ENUM
#undef AX_DEF_FLAG
#undef AX_DEF_NUMBERS
#undef AX_DEF_IDS
#undef AX_DEF_JSON
};
const int ax_def_fields_n = AX_COUNT(ax_def_fields);

static const void *at(const struct ax_def_field *field, const struct ax_task_def *def)
{
	return (const char *)def + field->offset;
}

int64_t ax_def_number(const struct ax_def_field *field, const struct ax_task_def *def)
{
	if (field->kind == AX_DEF_KIND_ENUM)
		return *(const int *)at(field, def);
	if (field->kind == AX_DEF_KIND_FLAG)
		return *(const bool *)at(field, def);
	AX_ASSERT(field->preset_text == NULL);
	return *(const int64_t *)at(field, def);
}

void ax_def_set_number(const struct ax_def_field *field, struct ax_task_def *def, int64_t value)
{
	void *member = (char *)def + field->offset;
	AX_ASSERT(field->preset_text == NULL);
	if (field->kind == AX_DEF_KIND_ENUM)
		*(int *)member = (int)value;
	else if (field->kind == AX_DEF_KIND_FLAG)
		*(bool *)member = value != 0;
	else
		*(int64_t *)member = value;
}

const char *ax_def_text(const struct ax_def_field *field, const struct ax_task_def *def)
{
	AX_ASSERT(field->preset_text != NULL);
	return *(const char *const *)at(field, def);
}

void ax_def_set_text(const struct ax_def_field *field, struct ax_task_def *def, const char *text)
{
	AX_ASSERT(field->preset_text != NULL);
	*(const char **)(void *)((char *)def + field->offset) = text;
}

const char *const *ax_def_words(const char *name)
{
	for (int i = 0; i < ax_def_fields_n; i++)
		if (strcmp(ax_def_fields[i].name, name) == 0)
			return ax_def_fields[i].words;
	ax_die(__FILE__, __LINE__, "no field of this name");
}

struct ax_task_def ax_def_preset(void)
{
	struct ax_task_def def = { 0 };
	for (int i = 0; i < ax_def_fields_n; i++) {
		const struct ax_def_field *field = &ax_def_fields[i];
		if (field->preset_text != NULL)
			ax_def_set_text(field, &def, field->preset_text);
		else
			ax_def_set_number(field, &def, field->preset);
	}
	return def;
}

static int64_t count_words(const struct ax_def_field *field)
{
	int64_t n = 0;
	while (field->words[n] != NULL)
		n++;
	return n;
}

static enum ax_status check_number(const struct ax_def_field *field, int64_t value, struct ax_err *err)
{
	int64_t max = field->kind == AX_DEF_KIND_ENUM ? field->min + count_words(field) - 1 : field->max;
	if (value >= field->min && value <= max)
		return AX_OK;
	return ax_fail(err, AX_INVALID, field->name,
		"%" PRId64 " is out of range; %" PRId64 " to %" PRId64 " are allowed", value, field->min, max);
}

static enum ax_status check_numbers(const struct ax_def_field *field, const char *text, struct ax_err *err)
{
	int64_t items = 0, value;
	enum ax_status status = AX_OK;
	for (const char *at = text; status == AX_OK && *at != '\0'; items++) {
		size_t len = strcspn(at, " ");
		if (!ax_parse_i64(at, len, INT64_MIN, INT64_MAX, &value))
			return ax_fail(err, AX_INVALID, field->name, "whole numbers are expected");
		status = check_number(field, value, err);
		at += len + strspn(at + len, " ");
	}
	if (status == AX_OK && items > field->preset)
		return ax_fail(err, AX_INVALID, field->name, "there are %" PRId64 " numbers; %" PRId64 " are allowed",
			items, field->preset);
	return status;
}

static enum ax_status check_length(const struct ax_def_field *field, const char *text, struct ax_err *err)
{
	if (strlen(text) <= (size_t)field->max)
		return AX_OK;
	return ax_fail(err, field->kind == AX_DEF_KIND_JSON ? AX_TOO_LARGE : AX_INVALID, field->name,
		"the text has %zu bytes; %" PRId64 " are allowed", strlen(text), field->max);
}

enum ax_status ax_def_check_ranges(const struct ax_task_def *def, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < ax_def_fields_n; i++) {
		const struct ax_def_field *field = &ax_def_fields[i];
		if (field->preset_text == NULL)
			status = check_number(field, ax_def_number(field, def), err);
		else if (field->kind == AX_DEF_KIND_NUMBERS || field->kind == AX_DEF_KIND_IDS)
			status = check_numbers(field, ax_def_text(field, def), err);
		else
			status = check_length(field, ax_def_text(field, def), err);
	}
	return status;
}
