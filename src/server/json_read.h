#ifndef AX_SERVER_JSON_READ_H
#define AX_SERVER_JSON_READ_H

/* Reads a JSON object strictly: every field that it holds must be asked for, and be of the asked type.
 *
 * The first fault stays; later reads then leave their results alone. So a handler reads all fields and asks once, at
 * the end (ax_read_end). A field that is absent leaves *ret as it is: put the default there before. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"

enum {
	AX_JSON_DEPTH_MAX = 32,
	AX_JSON_NODES_MAX = 200000, /* a report of 1,000 items has 12,000; the body limit bounds the rest */
};

/* Parses a body: UTF-8, no duplicate keys, bounded depth and number of values. The caller owns *ret. */
AX_MUST_USE enum ax_status ax_json_parse(const char *text, size_t len, json_t **ret, struct ax_err *err);

struct ax_read {
	json_t *obj;
	const char *path; /* put before field names in errors: "tasks[3]." */
	struct ax_arena *arena;
	struct ax_err *err;
	enum ax_status status;
	const char *seen[96];
	int n_seen;
};

/* `value` must be an object (NULL: an empty one). It outlives the reader. */
void ax_read_begin(struct ax_read *r, json_t *value, const char *path, struct ax_arena *arena, struct ax_err *err);
AX_MUST_USE enum ax_status ax_read_end(struct ax_read *r);

/* The raw value; NULL when absent. */
json_t *ax_read_any(struct ax_read *r, const char *field);
/* True when the field is there (null counts). */
bool ax_read_has(const struct ax_read *r, const char *field);
/* Text of at most `max` bytes; borrowed from the JSON value. */
void ax_read_str(struct ax_read *r, const char *field, size_t max, const char **ret);
/* Text of any length, of which at most `max` bytes are kept: cut between characters, with an ellipsis. For what must
 * not be refused for its length. */
void ax_read_cut_str(struct ax_read *r, const char *field, size_t max, const char **ret);
void ax_read_str_or_null(struct ax_read *r, const char *field, size_t max, const char **ret); /* null → "" */
void ax_read_int(struct ax_read *r, const char *field, int64_t min, int64_t max, int64_t *ret);
/* An instant, milliseconds UTC up to the end of year 9999; null → 0. */
void ax_read_time_or_null(struct ax_read *r, const char *field, int64_t *ret);
void ax_read_bool(struct ax_read *r, const char *field, bool *ret);
/* A 64-bit id as a decimal string. */
void ax_read_id(struct ax_read *r, const char *field, int64_t *ret);
/* One of the words (NULL-terminated; "null" stands for null); *ret is its index. */
void ax_read_word(struct ax_read *r, const char *field, const char *const *words, int *ret);
/* An array of at most `max` values, NULL when absent. */
json_t *ax_read_array(struct ax_read *r, const char *field, size_t max);
/* An array of at most `max_items` whole numbers, in the arena. False, and nothing is written, when it is absent or
 * refused. */
bool ax_read_integers(struct ax_read *r, const char *field, size_t max_items, int64_t min, int64_t max,
	const int64_t **ret, size_t *ret_n);
/* An array of at most `max_items` whole numbers, as text with one blank between them; null → "". */
void ax_read_numbers(
	struct ax_read *r, const char *field, size_t max_items, int64_t min, int64_t max, const char **ret);
/* Any JSON value as compact text of at most `max` bytes, in the arena; null → "". */
void ax_read_json(struct ax_read *r, const char *field, size_t max, const char **ret);
/* The same, but what is longer is left out: false. */
bool ax_read_short_json(struct ax_read *r, const char *field, size_t max, const char **ret);
/* An array of at most `max_items` ids, as "12 34" in the arena; null → "". */
void ax_read_ids(struct ax_read *r, const char *field, size_t max_items, const char **ret);
/* Refuses when the field is absent. */
void ax_read_require(struct ax_read *r, const char *field);
/* Records a fault of the caller's finding. */
void ax_read_fail(struct ax_read *r, const char *field, const char *fmt, ...) AX_PRINTF(3, 4);

#endif
