#ifndef AX_WORKER_HTTP_SPEC_H
#define AX_WORKER_HTTP_SPEC_H

/* What an HTTP task asks for. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"
#include "core/executor_param.h"

struct http_header {
	const char *name;
	const char *value;
};

struct http_spec {
	const char *url;
	const char *method;
	struct http_header headers[AX_HEADERS_MAX];
	size_t n_headers;
	bool send_run;    /* the body is what the run was given: params and upstream */
	const char *body; /* or NULL */
	size_t body_len;
	int statuses[AX_STATUSES_MAX]; /* that count as success */
	size_t n_statuses;             /* 0: 200-299 */
	int hops;                      /* redirects that may be followed */
};

/* Reads the task's `param`; everything lives in the arena. */
enum ax_status http_spec_read(
	const char *param, struct ax_arena *arena, struct http_spec *ret_spec, struct ax_err *err);

/* Makes the JSON text, which must live as long, the body. */
void http_spec_send(struct http_spec *spec, const char *json);

#endif
