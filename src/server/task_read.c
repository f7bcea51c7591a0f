#include "server/task_read.h"

#include "core/task_def.h"
#include "server/biz_param.h"

void ax_read_def_field(struct ax_read *r, const struct ax_def_field *field, struct ax_task_def *def)
{
	const char *text = field->preset_text == NULL ? NULL : ax_def_text(field, def);
	int64_t number = field->preset_text == NULL ? ax_def_number(field, def) : 0;
	int word = (int)(number - field->min);
	switch (field->kind) {
	case AX_DEF_KIND_TEXT:
		ax_read_str(r, field->name, (size_t)field->max, &text);
		break;
	case AX_DEF_KIND_OPTIONAL:
		ax_read_str_or_null(r, field->name, (size_t)field->max, &text);
		break;
	case AX_DEF_KIND_JSON:
		ax_read_json(r, field->name, (size_t)field->max, &text);
		text = text[0] == '\0' ? field->preset_text : text;
		break;
	case AX_DEF_KIND_NUMBERS:
		ax_read_numbers(r, field->name, (size_t)field->preset, field->min, field->max, &text);
		break;
	case AX_DEF_KIND_IDS:
		ax_read_ids(r, field->name, (size_t)field->preset, &text);
		break;
	case AX_DEF_KIND_NUMBER:
		ax_read_int(r, field->name, field->min, field->max, &number);
		break;
	case AX_DEF_KIND_TIME:
		ax_read_time_or_null(r, field->name, &number);
		break;
	case AX_DEF_KIND_ENUM:
	case AX_DEF_KIND_FLAG:
		ax_read_word(r, field->name, field->words, &word);
		number = field->min + word;
		break;
	}
	if (text != NULL)
		ax_def_set_text(field, def, text);
	else
		ax_def_set_number(field, def, number);
}

void ax_read_def(struct ax_read *r, struct ax_task_def *def)
{
	for (int i = 0; i < ax_def_fields_n; i++)
		ax_read_def_field(r, &ax_def_fields[i], def);
}

enum ax_status ax_check_def_param(
	struct ax_call *c, const struct ax_task_def *def, const char *path, struct ax_err *err)
{
	json_t *value = json_loads(def->biz_param, JSON_DECODE_ANY, NULL);
	enum ax_status status = ax_biz_param_check(def->executor_key, value, path, &c->arena, err);
	json_decref(value);
	return status;
}
