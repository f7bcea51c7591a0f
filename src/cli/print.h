#ifndef AX_CLI_PRINT_H
#define AX_CLI_PRINT_H

/* Output for people: tables whose columns line up also with wide (CJK) characters, and times as RFC 3339 UTC.
 * Text that comes from the server is shown with control characters and direction marks replaced. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/buf.h"

/* Columns that a terminal needs for the text: 2 for wide characters, 0 for combining ones. */
size_t ax_print_width(const char *text);

/* The text with everything that could steer a terminal replaced by U+FFFD; newlines and tabs become blanks. */
void ax_print_clean(const char *text, struct ax_buf *out);

/* A column of a table: what stands above it, and what of a row stands in it. */
struct ax_column {
	const char *head;  /* one that begins with '>' is aligned to the right; NULL ends the columns */
	const char *field; /* of the row; "last_run.status" is the status of its last run */
	const char *(*text)(struct ax_arena *arena, const json_t *object, const char *field); /* NULL: ax_json_text */
};

/* One line for each object of an array, below a line of heads. Texts are cleaned, and "" shows as "-". */
void ax_print_table(FILE *to, const struct ax_column *columns, const json_t *rows);

/* A line of a name and its value, which begins behind `width` columns; one that is NULL or "" is left out. */
void ax_print_field_at(FILE *to, size_t width, const char *name, const char *value);
/* The same, of names that are known to be short: the values of all of them line up. */
void ax_print_field(FILE *to, const char *name, const char *value);

/* Members of a JSON object, "" or 0 when absent or null; a number is given as text in the arena. */
const char *ax_json_text(struct ax_arena *arena, const json_t *object, const char *key);
int64_t ax_json_int(const json_t *object, const char *key);
bool ax_json_true(const json_t *object, const char *key);
/* A time member (milliseconds UTC) as RFC 3339 without fraction, "" when absent, null or 0. */
const char *ax_json_time(struct ax_arena *arena, const json_t *object, const char *key);
/* "ops/nightly": the task that an object with a group and a task's name is, or is of; `key` is the name's. */
const char *ax_json_task(struct ax_arena *arena, const json_t *object, const char *key);
/* The strings of an array, with blanks between. */
const char *ax_json_words(struct ax_arena *arena, const json_t *object, const char *key);
/* 0 → "<1ms", 1234 → "1.2s", 90000 → "1m30s". */
const char *ax_print_duration(struct ax_arena *arena, int64_t ms);

/* Prints a JSON value, indented, as --json does. */
void ax_print_json(FILE *to, const json_t *value);

#endif
