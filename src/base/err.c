#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static const struct {
	int http;
	const char *code;
} statuses[] = {
#define AX_STATUS(name, http, code, text) { http, code },
#include "base/status.def"
#undef AX_STATUS
};

enum ax_status ax_fail(struct ax_err *err, enum ax_status status, const char *field, const char *fmt, ...)
{
	if (err == NULL)
		return status;
	err->status = status;
	snprintf(err->field, sizeof(err->field), "%s", field);
	va_list args;
	va_start(args, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, args);
	va_end(args);
	ax_utf8_mask(err->msg, strlen(err->msg)); /* names in it may have been cut within a character */
	return status;
}

int ax_status_http(enum ax_status status)
{
	AX_ASSERT((size_t)status < AX_COUNT(statuses));
	return statuses[status].http;
}

const char *ax_status_code(enum ax_status status)
{
	AX_ASSERT((size_t)status < AX_COUNT(statuses));
	return statuses[status].code;
}

void ax_die(const char *file, int line, const char *what)
{
	fprintf(stderr, "ax: fatal: %s:%d: %s\n", file, line, what);
	abort();
}
