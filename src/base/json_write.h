#ifndef AX_BASE_JSON_WRITE_H
#define AX_BASE_JSON_WRITE_H

/* Writes JSON into a buffer, in one pass, without a tree.
 *
 * Every function takes the member's key, NULL inside arrays and for the outermost value. Text must be valid UTF-8
 * without NUL; control characters are escaped. The caller closes what it opened. */

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"

struct ax_json {
	struct ax_buf *buf;
	bool comma; /* the next member needs one before it */
};

void ax_json_init(struct ax_json *json, struct ax_buf *buf);
void ax_json_obj(struct ax_json *json, const char *key);
void ax_json_obj_end(struct ax_json *json);
void ax_json_arr(struct ax_json *json, const char *key);
void ax_json_arr_end(struct ax_json *json);

void ax_json_str(struct ax_json *json, const char *key, const char *s); /* NULL becomes null */
void ax_json_strn(struct ax_json *json, const char *key, const char *s, size_t len);
void ax_json_word(struct ax_json *json, const char *key, const char *s); /* NULL and "" become null */
void ax_json_int(struct ax_json *json, const char *key, int64_t n);
void ax_json_id(struct ax_json *json, const char *key, int64_t id);   /* decimal string; 0 becomes null */
void ax_json_time(struct ax_json *json, const char *key, int64_t ms); /* number; 0 becomes null */
void ax_json_bool(struct ax_json *json, const char *key, bool b);
void ax_json_null(struct ax_json *json, const char *key);
void ax_json_raw(struct ax_json *json, const char *key, const char *text); /* JSON text; "" becomes null */

#endif
