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

struct ax_table {
	struct ax_arena arena;
	const char *const *heads; /* a head that begins with '>' is aligned to the right */
	size_t n_cols;
	const char **cells; /* row by row */
	size_t n_cells, cap_cells;
};

/* `heads` ends with NULL and must outlive the table. */
void ax_table_init(struct ax_table *table, const char *const *heads);
void ax_table_done(struct ax_table *table);
/* Adds one cell at a time, row by row; copied and cleaned. NULL and "" show as "-". */
void ax_table_cell(struct ax_table *table, const char *text);
void ax_table_print(const struct ax_table *table, FILE *to);

/* "name: value" lines with the values lined up; values that are NULL or "" are left out. */
void ax_print_field(FILE *to, const char *name, const char *value);

/* Members of a JSON object, "" or 0 when absent or null; a number is given as text in the arena. */
const char *ax_json_text(struct ax_arena *arena, const json_t *object, const char *key);
int64_t ax_json_int(const json_t *object, const char *key);
bool ax_json_true(const json_t *object, const char *key);
/* A time member (milliseconds UTC) as RFC 3339 without fraction, "" when absent, null or 0. */
const char *ax_json_time(struct ax_arena *arena, const json_t *object, const char *key);
/* 1234 → "1.2s", 90000 → "1m30s". */
const char *ax_print_duration(struct ax_arena *arena, int64_t ms);

/* Prints a JSON value, indented, as --json does. */
void ax_print_json(FILE *to, const json_t *value);

#endif
