#ifndef AX_BASE_BUF_H
#define AX_BASE_BUF_H

/* A growing byte buffer with a maximum. Once an append would pass the maximum the buffer is marked
 * `overflow`, keeps what it holds and drops what follows: writers check once, at the end. */

#include <stdbool.h>
#include <stddef.h>
#include "base/attr.h"

struct ax_buf {
	char *data; /* NUL-terminated when not NULL */
	size_t len;
	size_t cap;
	size_t max;
	bool overflow;
};

void ax_buf_init(struct ax_buf *buf, size_t max);
void ax_buf_done(struct ax_buf *buf);
void ax_buf_clear(struct ax_buf *buf); /* empty, memory kept */
void ax_buf_add(struct ax_buf *buf, const void *bytes, size_t len);
void ax_buf_adds(struct ax_buf *buf, const char *s);
void ax_buf_addc(struct ax_buf *buf, char c);
void ax_buf_printf(struct ax_buf *buf, const char *fmt, ...) AX_PRINTF(2, 3);
/* Removes the first n bytes. */
void ax_buf_drop(struct ax_buf *buf, size_t n);
/* Ownership of the memory passes to the caller (free it); the buffer is empty afterwards. */
char *ax_buf_take(struct ax_buf *buf, size_t *ret_len);

#endif
