#include "server/biz_param.h"

#include <string.h>

#include "core/executor_param.h"
#include "core/limits.h"

enum { PATH_MAX_BYTES = 4096 };

static void check_argv(struct ax_read *r)
{
	json_t *argv = ax_read_array(r, "argv", AX_ARGV_MAX);
	size_t i;
	json_t *word;
	if (argv == NULL)
		return;
	if (json_array_size(argv) == 0)
		ax_read_fail(r, "argv", "argv must hold at least the program");
	json_array_foreach(argv, i, word)
	{
		if (!json_is_string(word))
			ax_read_fail(r, "argv", "argv must be an array of texts");
		else if (i == 0 && json_string_value(word)[0] != '/')
			ax_read_fail(r, "argv", "argv[0] must be an absolute path");
	}
}

/* An object of texts, or absent. */
static json_t *read_texts(struct ax_read *r, const char *field, size_t max)
{
	json_t *object = ax_read_any(r, field);
	if (object == NULL)
		return NULL;
	if (!json_is_object(object) || json_object_size(object) > max) {
		ax_read_fail(r, field, "%s must be an object of at most %zu texts", field, max);
		return NULL;
	}
	const char *key;
	json_t *value;
	json_object_foreach(object, key, value)
	{
		if (!json_is_string(value))
			ax_read_fail(r, field, "%s must be an object of texts; `%.64s` is none", field, key);
	}
	return object;
}

static void check_absolute(struct ax_read *r, const char *field)
{
	const char *path = "/";
	ax_read_str(r, field, PATH_MAX_BYTES, &path);
	if (path[0] != '/')
		ax_read_fail(r, field, "%s must be an absolute path", field);
}

static void check_exec(struct ax_read *r)
{
	const char *text = "";
	bool script = ax_read_has(r, "script");
	if (ax_read_has(r, "argv") == ax_read_has(r, "script"))
		ax_read_fail(r, "", "a task of executor `exec` has either argv or script");
	check_argv(r);
	ax_read_str(r, "script", AX_PARAM_MAX, &text);
	check_absolute(r, "shell");
	ax_read_str(r, "stdin", AX_STDIN_MAX, &text);
	json_t *env = read_texts(r, "env", AX_ENV_MAX);
	const char *key;
	json_t *value;
	json_object_foreach(env, key, value)
	{
		if (!ax_env_is_name(key))
			ax_read_fail(r, "env", "`%.64s` is no name of a variable", key);
		else if (ax_env_is_denied(key, script))
			ax_read_fail(r, "env", "no task may set the variable `%.64s`%s", key,
				script ? ": set it inside the script" : "");
	}
	check_absolute(r, "cwd");
	ax_read_str(r, "user", 64, &text);
}

static void check_headers(struct ax_read *r)
{
	json_t *headers = read_texts(r, "headers", AX_HEADERS_MAX);
	const char *key;
	json_t *value;
	if (r->status != AX_OK)
		return;
	json_object_foreach(headers, key, value)
	{
		if (!ax_header_is_name(key))
			ax_read_fail(r, "headers", "`%.64s` is no name of a header", key);
		else if (!ax_header_is_value(json_string_value(value)))
			ax_read_fail(
				r, "headers", "the value of `%.64s` holds a control character or is too long", key);
		else if (ax_header_is_reserved(key))
			ax_read_fail(r, "headers", "the header `%.64s` is set by AX itself", key);
	}
}

static void check_success(struct ax_read *r)
{
	json_t *statuses = ax_read_array(r, "success", AX_STATUSES_MAX);
	size_t i;
	json_t *value;
	if (statuses != NULL && json_array_size(statuses) == 0)
		ax_read_fail(r, "success", "no status would be a success; leave success out for 200-299");
	json_array_foreach(statuses, i, value)
	{
		if (!json_is_integer(value) || json_integer_value(value) < 100 || json_integer_value(value) > 599)
			ax_read_fail(r, "success", "success must be an array of HTTP statuses, 100-599");
	}
}

static void check_http(struct ax_read *r)
{
	const char *url = "", *method = "GET";
	int64_t redirects = 0;
	bool send_run = false;
	ax_read_require(r, "url");
	ax_read_str(r, "url", AX_URL_MAX, &url);
	const char *fault = ax_url_fault(url);
	if (fault != NULL)
		ax_read_fail(r, "url", "the url cannot be called: %s", fault);
	ax_read_str(r, "method", 32, &method);
	if (!ax_method_is_known(method))
		ax_read_fail(r, "method", "method must be one of %s", ax_methods);
	check_headers(r);
	ax_read_any(r, "body");
	ax_read_bool(r, "send_run", &send_run);
	if (send_run && ax_read_has(r, "body"))
		ax_read_fail(r, "body", "with send_run the run is the body; leave body out");
	check_success(r);
	ax_read_int(r, "follow_redirects", 0, AX_REDIRECTS_MAX, &redirects);
}

enum ax_status ax_biz_param_check(
	const char *executor_key, json_t *value, const char *path, struct ax_arena *arena, struct ax_err *err)
{
	bool exec = strcmp(executor_key, "exec") == 0, http = strcmp(executor_key, "http") == 0;
	if (!exec && !http)
		return AX_OK;
	if (!json_is_object(value))
		return ax_fail(err, AX_INVALID, ax_sprintf(arena, "%sbiz_param", path),
			"biz_param of executor `%s` must be an object, see docs/protocol.md", executor_key);
	struct ax_read r;
	ax_read_begin(&r, value, ax_sprintf(arena, "%sbiz_param.", path), arena, err);
	if (exec)
		check_exec(&r);
	else
		check_http(&r);
	return ax_read_end(&r);
}
