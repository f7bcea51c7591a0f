#include "adapters/http/router.h"

#include <stdlib.h>
#include <string.h>

/* A tree of segments: every node has literal children and at most one that takes any segment. */
struct node {
	const char *text; /* segment in a route's pattern, not NUL-terminated */
	size_t len;
	struct node *child;
	struct node *next; /* sibling */
	struct node *any;  /* child for "{name}" */
	const struct ax_http_route *routes[AX_HTTP_OPTIONS + 1];
};

struct ax_http_router {
	struct node root;
};

static struct node *find_child(const struct node *node, const char *text, size_t len)
{
	struct node *child = node->child;
	while (child != NULL && (child->len != len || memcmp(child->text, text, len) != 0))
		child = child->next;
	return child;
}

static struct node *add_child(struct node *node, const char *text, size_t len)
{
	bool is_param = len > 2 && text[0] == '{' && text[len - 1] == '}';
	struct node *child = is_param ? node->any : find_child(node, text, len);
	if (child != NULL)
		return child;
	child = ax_malloc(sizeof(*child));
	child->text = text;
	child->len = len;
	if (is_param) {
		node->any = child;
	} else {
		child->next = node->child;
		node->child = child;
	}
	return child;
}

static void add_route(struct ax_http_router *router, const struct ax_http_route *route)
{
	struct node *node = &router->root;
	const char *s = route->pattern;
	int n_params = 0;
	AX_ASSERT(*s == '/');
	while (*s == '/') {
		size_t len = strcspn(++s, "/");
		n_params += *s == '{';
		node = add_child(node, s, len);
		s += len;
	}
	AX_ASSERT(n_params <= AX_HTTP_ROUTE_PARAMS_MAX);
	AX_ASSERT(node->routes[route->method] == NULL);
	node->routes[route->method] = route;
}

struct ax_http_router *ax_http_router_new(const struct ax_http_route *routes, size_t n)
{
	struct ax_http_router *router = ax_malloc(sizeof(*router));
	for (size_t i = 0; i < n; i++)
		add_route(router, &routes[i]);
	return router;
}

static void free_children(struct node *node)
{
	while (node->child != NULL) {
		struct node *child = node->child;
		node->child = child->next;
		free_children(child);
		free(child);
	}
	if (node->any != NULL)
		free_children(node->any);
	free(node->any);
}

void ax_http_router_free(struct ax_http_router *router)
{
	if (router == NULL)
		return;
	free_children(&router->root);
	free(router);
}

static const struct ax_http_route *route_of(const struct node *node, enum ax_http_method method)
{
	if (method == AX_HTTP_HEAD && node->routes[AX_HTTP_HEAD] == NULL)
		method = AX_HTTP_GET;
	return node->routes[method];
}

static void add_allow(const struct node *node, char allow[64])
{
	for (int m = 0; m <= AX_HTTP_OPTIONS; m++) {
		const char *name = ax_http_method_name((enum ax_http_method)m);
		if (route_of(node, (enum ax_http_method)m) == NULL || strstr(allow, name) != NULL)
			continue;
		if (allow[0] != '\0')
			strncat(allow, ", ", 63 - strlen(allow));
		strncat(allow, name, 63 - strlen(allow));
	}
}

/* Looks below node for the rest of the path, literals first. Depth is bounded by the patterns. */
static bool find(const struct node *node, enum ax_http_method method, const char *path, struct ax_http_match *ret)
{
	if (*path == '\0') {
		ret->route = route_of(node, method);
		if (ret->route == NULL)
			add_allow(node, ret->allow);
		return ret->route != NULL;
	}
	const char *segment = path + 1;
	size_t len = strcspn(segment, "/");
	const struct node *literal = find_child(node, segment, len);
	if (literal != NULL && find(literal, method, segment + len, ret))
		return true;
	if (node->any == NULL || len == 0)
		return false;
	struct ax_http_route_param *param = &ret->params[ret->n_params++];
	*param = (struct ax_http_route_param){ .value = segment, .value_len = len };
	if (find(node->any, method, segment + len, ret))
		return true;
	ret->n_params--;
	return false;
}

/* The tree is shared by patterns that may name a parameter differently: the route's own pattern has the names. */
static void name_params(struct ax_http_match *match)
{
	const char *s = match->route->pattern;
	for (size_t i = 0; i < match->n_params; i++) {
		s = strchr(s, '{') + 1;
		match->params[i].name = s;
		match->params[i].name_len = strcspn(s, "}");
	}
}

bool ax_http_router_find(
	const struct ax_http_router *router, enum ax_http_method method, const char *path, struct ax_http_match *ret)
{
	*ret = (struct ax_http_match){ 0 };
	if (path[0] != '/' || !find(&router->root, method, path, ret))
		return false;
	name_params(ret);
	ret->allow[0] = '\0';
	return true;
}

const char *ax_http_match_param(const struct ax_http_match *match, struct ax_arena *arena, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < match->n_params; i++) {
		const struct ax_http_route_param *param = &match->params[i];
		if (param->name_len == len && memcmp(param->name, name, len) == 0)
			return ax_strndup(arena, param->value, param->value_len);
	}
	return NULL;
}
