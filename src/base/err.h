#ifndef AX_BASE_ERR_H
#define AX_BASE_ERR_H

/* Statuses and error details.
 *
 * A fallible function returns enum ax_status and takes a struct ax_err of the caller's as its last
 * argument. The detail is filled once, where the fault is first seen, and passed up untouched. */

#include "base/attr.h"

enum ax_status {
#define AX_STATUS(name, http, code, text) AX_##name,
#include "base/status.def"
#undef AX_STATUS
};

struct ax_err {
	enum ax_status status;
	char field[64]; /* the input field that broke a rule, or "" */
	char msg[320];  /* one sentence for people: what is wrong and what to do instead */
};

/* Fills `err` (which may be NULL) and returns `status`, so that a caller can `return ax_fail(...)`. */
enum ax_status ax_fail(struct ax_err *err, enum ax_status status, const char *field, const char *fmt, ...)
	AX_PRINTF(4, 5);

/* HTTP status and stable code word of a status. */
int ax_status_http(enum ax_status status);
const char *ax_status_code(enum ax_status status);

/* Ends the program: for broken invariants and exhausted memory only, never for bad input. */
_Noreturn void ax_die(const char *file, int line, const char *what);

/* Checks on our own mistakes; they stay on in release builds. */
#define AX_ASSERT(cond) ((cond) ? (void)0 : ax_die(__FILE__, __LINE__, #cond))

#endif
