#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

void ax_buf_init(struct ax_buf *buf, size_t max)
{
	*buf = (struct ax_buf){ .max = max };
}

void ax_buf_done(struct ax_buf *buf)
{
	free(buf->data);
	*buf = (struct ax_buf){ .max = buf->max };
}

void ax_buf_clear(struct ax_buf *buf)
{
	buf->len = 0;
	buf->overflow = false;
	if (buf->data != NULL)
		buf->data[0] = '\0';
}

/* Makes room for `extra` more bytes and the NUL; false when that passes the maximum. */
static bool reserve(struct ax_buf *buf, size_t extra)
{
	if (buf->overflow || extra > buf->max - buf->len) {
		buf->overflow = true;
		return false;
	}
	size_t need = buf->len + extra + 1;
	if (need > buf->cap) {
		buf->cap = AX_MAX(need, AX_MIN(buf->cap * 2, buf->max + 1));
		buf->cap = AX_MAX(buf->cap, (size_t)64);
		buf->data = ax_realloc(buf->data, buf->cap);
	}
	return true;
}

void ax_buf_add(struct ax_buf *buf, const void *bytes, size_t len)
{
	if (!reserve(buf, len))
		return;
	if (len > 0)
		memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void ax_buf_adds(struct ax_buf *buf, const char *s)
{
	ax_buf_add(buf, s, strlen(s));
}

void ax_buf_addc(struct ax_buf *buf, char c)
{
	ax_buf_add(buf, &c, 1);
}

void ax_buf_printf(struct ax_buf *buf, const char *fmt, ...)
{
	va_list args, again;
	va_start(args, fmt);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	AX_ASSERT(n >= 0);
	if (reserve(buf, (size_t)n)) {
		vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, again);
		buf->len += (size_t)n;
	}
	va_end(again);
}

void ax_buf_drop(struct ax_buf *buf, size_t n)
{
	AX_ASSERT(n <= buf->len);
	if (n == 0)
		return;
	buf->len -= n;
	memmove(buf->data, buf->data + n, buf->len + 1);
}

char *ax_buf_take(struct ax_buf *buf, size_t *ret_len)
{
	char *data = buf->data != NULL ? buf->data : ax_malloc(1);
	if (ret_len != NULL)
		*ret_len = buf->len;
	*buf = (struct ax_buf){ .max = buf->max };
	return data;
}
