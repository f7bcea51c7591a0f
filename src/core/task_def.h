#ifndef AX_CORE_TASK_DEF_H
#define AX_CORE_TASK_DEF_H

/* The fields of a task's definition as a table, made from task_def.def: for whoever reads, shows or checks them all. */

#include <stddef.h>

#include "base/err.h"
#include "core/task.h"

enum ax_def_kind {
	AX_DEF_KIND_TEXT,
	AX_DEF_KIND_OPTIONAL, /* text; "" is null */
	AX_DEF_KIND_NUMBER,
	AX_DEF_KIND_TIME, /* milliseconds UTC; 0 is null */
	AX_DEF_KIND_ENUM,
	AX_DEF_KIND_FLAG,    /* words[0] is false, words[1] true */
	AX_DEF_KIND_NUMBERS, /* whole numbers as text, one blank between them */
	AX_DEF_KIND_IDS,     /* the same; strings in JSON */
	AX_DEF_KIND_JSON,
};

struct ax_def_field {
	const char *name; /* of the JSON field */
	enum ax_def_kind kind;
	size_t offset;
	int64_t min, max;         /* numbers; max of texts: bytes; min of an enum: the number of words[0] */
	int64_t preset;           /* numbers, enums, flags, times; of NUMBERS and IDS: the most items */
	const char *preset_text;  /* texts, NUMBERS, IDS and JSON */
	const char *const *words; /* enums and flags; NULL-terminated; "null" stands for null */
};

extern const struct ax_def_field ax_def_fields[];
extern const int ax_def_fields_n;

/* Members of a definition, by kind: numbers are those of NUMBER, TIME, ENUM and FLAG. */
int64_t ax_def_number(const struct ax_def_field *field, const struct ax_task_def *def);
void ax_def_set_number(const struct ax_def_field *field, struct ax_task_def *def, int64_t value);
const char *ax_def_text(const struct ax_def_field *field, const struct ax_task_def *def);
void ax_def_set_text(const struct ax_def_field *field, struct ax_task_def *def, const char *text);

/* The words of the field of that name. */
const char *const *ax_def_words(const char *name);

/* A definition with every field at its preset. */
struct ax_task_def ax_def_preset(void);

/* Holds every number, enum and length against its range. AX_INVALID (AX_TOO_LARGE for JSON) with the field. */
enum ax_status ax_def_check_ranges(const struct ax_task_def *def, struct ax_err *err);

#endif
