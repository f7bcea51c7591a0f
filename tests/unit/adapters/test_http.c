/* The pure parts of the HTTP adapter: targets, queries, routes. The parser has fuzz/fuzz_http.c and tests/http. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "adapters/http/router.h"
#include "adapters/http/target.h"

static void path_is(const char *raw, const char *expected)
{
	char path[256];
	const char *reason = ax_http_path_decode(raw, strlen(raw), path);
	if (expected == NULL) {
		assert_non_null(reason);
		return;
	}
	assert_null(reason);
	assert_string_equal(path, expected);
}

static void test_paths(void **state)
{
	(void)state;
	path_is("/", "/");
	path_is("/a/b", "/a/b");
	path_is("/a%20b%C3%A4", "/a bä");
	path_is("/a+b", "/a+b");
	path_is("/%25", "/%");
	path_is("/%252f", "/%2f"); /* once, not twice */
	path_is("//a//", "//a//");
	path_is("/...", "/...");
	path_is("/.a/b.", "/.a/b.");
	path_is("", NULL);
	path_is("a", NULL);
	path_is("/%", NULL);
	path_is("/%4", NULL);
	path_is("/%4g", NULL);
	path_is("/%00", NULL);
	path_is("/%1f", NULL);
	path_is("/%7F", NULL);
	path_is("/a%2fb", NULL);
	path_is("/a%2Fb", NULL);
	path_is("/.", NULL);
	path_is("/..", NULL);
	path_is("/./a", NULL);
	path_is("/a/../b", NULL);
	path_is("/a/%2e%2E", NULL);
	path_is("/a/.%2e/", NULL);
	path_is("/%c0%ae", NULL);
	path_is("/%ed%a0%80", NULL);
	path_is("/%ff", NULL);
	path_is("/a#b", NULL);
}

/* "name=value|" for every parameter; NULL when the query is refused. */
static void query_is(const char *raw, const char *expected)
{
	char decoded[256], said[256] = "";
	struct ax_http_param params[32];
	size_t n = 0;
	assert_true(ax_http_query_count(raw, strlen(raw)) <= 32);
	const char *reason = ax_http_query_decode(raw, strlen(raw), decoded, params, &n);
	if (expected == NULL) {
		assert_non_null(reason);
		return;
	}
	assert_null(reason);
	assert_true(n <= ax_http_query_count(raw, strlen(raw)));
	for (size_t i = 0; i < n; i++) {
		strcat(said, params[i].name);
		strcat(said, "=");
		strcat(said, params[i].value);
		strcat(said, "|");
	}
	assert_string_equal(said, expected);
}

static void test_queries(void **state)
{
	(void)state;
	query_is("", "");
	query_is("a", "a=|");
	query_is("a=", "a=|");
	query_is("=a", "=a|");
	query_is("=", "=|");
	query_is("&&a=1&&", "a=1|");
	query_is("a=1&b=2&a=3", "a=1|b=2|a=3|");
	query_is("a=b=c", "a=b=c|");
	query_is("q=a+b%20c%2B", "q=a b c+|");
	query_is("%61%3D=%26%3d", "a==&=|");
	query_is("q=%E4%BB%BB", "q=任|");
	query_is("q=%0a", "q=\n|");
	query_is("q=%00", NULL);
	query_is("%00", NULL);
	query_is("q=%", NULL);
	query_is("q=%2", NULL);
	query_is("q=%&a=1", NULL); /* an escape does not reach over the border */
	query_is("q=%ff", NULL);
	query_is("%e4=1", NULL);
}

static const struct ax_http_route rows[] = {
	{ AX_HTTP_GET, "/", "root" },
	{ AX_HTTP_GET, "/api/v1/tasks", "list" },
	{ AX_HTTP_POST, "/api/v1/tasks", "create" },
	{ AX_HTTP_GET, "/api/v1/tasks/{id}", "show" },
	{ AX_HTTP_PATCH, "/api/v1/tasks/{id}", "change" },
	{ AX_HTTP_DELETE, "/api/v1/tasks/{id}", "delete" },
	{ AX_HTTP_GET, "/api/v1/tasks/export", "export" },
	{ AX_HTTP_POST, "/api/v1/tasks/{id}/runs", "trigger" },
	{ AX_HTTP_GET, "/api/v1/tasks/{task}/versions/{version}", "version" },
	{ AX_HTTP_HEAD, "/probe", "head" },
	{ AX_HTTP_GET, "/probe", "probe" },
	{ AX_HTTP_GET, "/only-here/x", "x" },
	{ AX_HTTP_GET, "/{any}/y", "y" },
};

static struct ax_http_match match;
static struct ax_http_router *router;

static const char *find(enum ax_http_method method, const char *path)
{
	return ax_http_router_find(router, method, path, &match) ? match.route->user : NULL;
}

static int make_router(void **state)
{
	(void)state;
	router = ax_http_router_new(rows, AX_COUNT(rows));
	return 0;
}

static int free_router(void **state)
{
	(void)state;
	ax_http_router_free(router);
	return 0;
}

static void param_is(const char *name, const char *expected)
{
	struct ax_arena arena = { 0 };
	const char *value = ax_http_match_param(&match, &arena, name);
	if (expected == NULL)
		assert_null(value);
	else
		assert_string_equal(value, expected);
	ax_arena_done(&arena);
}

static void test_routes(void **state)
{
	(void)state;
	assert_string_equal(find(AX_HTTP_GET, "/"), "root");
	assert_string_equal(find(AX_HTTP_GET, "/api/v1/tasks"), "list");
	assert_int_equal(match.n_params, 0);
	assert_string_equal(find(AX_HTTP_POST, "/api/v1/tasks"), "create");
	assert_string_equal(find(AX_HTTP_GET, "/api/v1/tasks/42"), "show");
	param_is("id", "42");
	param_is("task", NULL);
	assert_string_equal(find(AX_HTTP_GET, "/api/v1/tasks/export"), "export");
	assert_string_equal(find(AX_HTTP_POST, "/api/v1/tasks/a b/runs"), "trigger");
	param_is("id", "a b");
	assert_string_equal(find(AX_HTTP_GET, "/api/v1/tasks/1/versions/22"), "version");
	param_is("task", "1");
	param_is("version", "22");
	assert_string_equal(find(AX_HTTP_HEAD, "/probe"), "head");
	assert_string_equal(find(AX_HTTP_HEAD, "/api/v1/tasks/42"), "show");
	/* the literal leads nowhere: the parameter is tried */
	assert_string_equal(find(AX_HTTP_GET, "/only-here/y"), "y");
	param_is("any", "only-here");
	assert_string_equal(find(AX_HTTP_PATCH, "/api/v1/tasks/export"), "change");
	param_is("id", "export");
}

static void no_route(enum ax_http_method method, const char *path, const char *allow)
{
	assert_null(find(method, path));
	assert_null(match.route);
	assert_string_equal(match.allow, allow);
}

static void test_no_routes(void **state)
{
	(void)state;
	no_route(AX_HTTP_GET, "/none", "");
	no_route(AX_HTTP_GET, "/api", "");
	no_route(AX_HTTP_GET, "/api/v1/tasks/", "");
	no_route(AX_HTTP_GET, "/api/v1/tasks//runs", "");
	no_route(AX_HTTP_GET, "//api/v1/tasks", "");
	no_route(AX_HTTP_GET, "/api/v1/tasks/1/2/3", "");
	no_route(AX_HTTP_OPTIONS, "*", "");
	no_route(AX_HTTP_DELETE, "/api/v1/tasks", "GET, HEAD, POST");
	no_route(AX_HTTP_POST, "/api/v1/tasks/42", "GET, HEAD, PATCH, DELETE");
	no_route(AX_HTTP_POST, "/api/v1/tasks/export", "GET, HEAD, PATCH, DELETE");
	no_route(AX_HTTP_GET, "/api/v1/tasks/42/runs", "POST");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_queries),
		cmocka_unit_test_setup_teardown(test_routes, make_router, free_router),
		cmocka_unit_test_setup_teardown(test_no_routes, make_router, free_router),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
