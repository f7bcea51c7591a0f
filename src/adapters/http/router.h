#ifndef AX_ADAPTERS_HTTP_ROUTER_H
#define AX_ADAPTERS_HTTP_ROUTER_H

/* Finds the row of a route table that serves a method and path. Pure: no request, no allocation after _new. */

#include <stdbool.h>
#include <stddef.h>

#include "adapters/http/server.h"

enum { AX_HTTP_ROUTE_PARAMS_MAX = 4 };

/* One row. The pattern is a path in which a whole segment may be "{name}"; it matches one non-empty segment. A literal
 * segment wins over a parameter ("/tasks/export" over "/tasks/{id}"). */
struct ax_http_route {
	enum ax_http_method method;
	const char *pattern;
	const void *user; /* the caller's row */
};

struct ax_http_router;

/* The table must outlive the router. Two rows that serve the same method and paths, a pattern that does not begin
 * with '/', or one with too many parameters are mistakes of the caller's and end the program. */
struct ax_http_router *ax_http_router_new(const struct ax_http_route *routes, size_t n);
void ax_http_router_free(struct ax_http_router *router);

/* A value points into the path that was matched: ptr and length, not NUL-terminated. */
struct ax_http_route_param {
	const char *name;
	size_t name_len;
	const char *value;
	size_t value_len;
};

struct ax_http_match {
	const struct ax_http_route *route; /* NULL: see allow */
	struct ax_http_route_param params[AX_HTTP_ROUTE_PARAMS_MAX];
	size_t n_params;
	char allow[64]; /* without a route: "" = no such path (404), else the value of Allow (405) */
};

/* HEAD is served by the row of GET unless it has one of its own. True when ret->route is set. */
bool ax_http_router_find(
	const struct ax_http_router *router, enum ax_http_method method, const char *path, struct ax_http_match *ret);

/* Copies the value of the parameter of that name; NULL when the route has none such. */
const char *ax_http_match_param(const struct ax_http_match *match, struct ax_arena *arena, const char *name);

#endif
