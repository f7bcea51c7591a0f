#include "http_spec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/num.h"
#include "core/executor_param.h"
#include "sys/json_real.h"

/* ---- the task's parameter */

static enum ax_status read_headers(json_t *given, struct ax_arena *arena, struct http_spec *spec, struct ax_err *err)
{
	const char *name;
	json_t *value;
	if (given && !json_is_object(given))
		return ax_fail(err, AX_INVALID, "headers", "headers is an object of strings");
	if (json_object_size(given) > AX_HEADERS_MAX)
		return ax_fail(err, AX_INVALID, "headers", "more than %d headers", AX_HEADERS_MAX);
	json_object_foreach(given, name, value)
	{
		if (!ax_header_is_name(name) || !json_is_string(value) || !ax_header_is_value(json_string_value(value)))
			return ax_fail(err, AX_INVALID, "headers", "the header '%.40s' cannot be sent", name);
		if (ax_header_is_reserved(name))
			return ax_fail(err, AX_INVALID, "headers", "the header %.40s is set by AX", name);
		spec->headers[spec->n_headers++] =
			(struct http_header){ ax_strdup(arena, name), ax_strdup(arena, json_string_value(value)) };
	}
	return AX_OK;
}

static bool has_header(const struct http_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_headers; i++) {
		if (strcasecmp(spec->headers[i].name, name) == 0)
			return true;
	}
	return false;
}

static void set_body(struct http_spec *spec, const char *body, const char *type)
{
	spec->body = body;
	spec->body_len = strlen(body);
	if (!has_header(spec, "Content-Type") && spec->n_headers < AX_HEADERS_MAX)
		spec->headers[spec->n_headers++] = (struct http_header){ "Content-Type", type };
}

static void read_body(json_t *body, struct ax_arena *arena, struct http_spec *spec)
{
	if (!body)
		return;
	if (json_is_string(body)) {
		set_body(spec, ax_strdup(arena, json_string_value(body)), "text/plain; charset=utf-8");
	} else {
		char *text = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
		text[ax_json_shorten(text, strlen(text))] = '\0';
		set_body(spec, ax_strdup(arena, text), "application/json");
		free(text);
	}
}

void http_spec_send(struct http_spec *spec, const char *json)
{
	set_body(spec, json, "application/json");
}

static enum ax_status read_send_run(json_t *given, json_t *body, struct http_spec *spec, struct ax_err *err)
{
	if (given && !json_is_boolean(given))
		return ax_fail(err, AX_INVALID, "send_run", "send_run is true or false");
	spec->send_run = json_is_true(given);
	if (spec->send_run && body)
		return ax_fail(err, AX_INVALID, "body", "with send_run the run is the body; leave body out");
	return AX_OK;
}

static enum ax_status read_method(json_t *given, struct ax_arena *arena, struct http_spec *spec, struct ax_err *err)
{
	spec->method = spec->body || spec->send_run ? "POST" : "GET";
	if (!given)
		return AX_OK;
	const char *method = json_string_value(given);
	if (method && ax_method_is_known(method)) {
		spec->method = ax_strdup(arena, method);
		return AX_OK;
	}
	return ax_fail(err, AX_INVALID, "method", "method is one of %s", ax_methods);
}

static enum ax_status read_success(json_t *given, struct http_spec *spec, struct ax_err *err)
{
	size_t i;
	json_t *status;
	if (given && (!json_is_array(given) || json_array_size(given) > AX_STATUSES_MAX))
		return ax_fail(err, AX_INVALID, "success", "success is a list of at most %d statuses", AX_STATUSES_MAX);
	json_array_foreach(given, i, status)
	{
		json_int_t n = json_integer_value(status);
		if (!json_is_integer(status) || n < 100 || n > 599)
			return ax_fail(err, AX_INVALID, "success", "success is a list of statuses from 100 to 599");
		spec->statuses[spec->n_statuses++] = (int)n;
	}
	return AX_OK;
}

static enum ax_status check_names(json_t *param, struct ax_err *err)
{
	static const char *const names[] = { "url", "method", "headers", "body", "success", "follow_redirects",
		"send_run" };
	const char *name;
	json_t *value;
	json_object_foreach(param, name, value)
	{
		size_t i = 0;
		while (i < AX_COUNT(names) && strcmp(name, names[i]) != 0)
			i++;
		if (i == AX_COUNT(names))
			return ax_fail(err, AX_INVALID, name, "http has no member '%.40s'", name);
	}
	return AX_OK;
}

static enum ax_status read_spec(json_t *param, struct ax_arena *arena, struct http_spec *spec, struct ax_err *err)
{
	const char *url = json_string_value(json_object_get(param, "url"));
	json_t *follow = json_object_get(param, "follow_redirects");
	enum ax_status st = check_names(param, err);
	if (st != AX_OK)
		return st;
	if (!url)
		return ax_fail(err, AX_INVALID, "url", "http takes an object with url");
	spec->url = ax_strdup(arena, url);
	if (follow &&
		(!json_is_integer(follow) || json_integer_value(follow) < 0 ||
			json_integer_value(follow) > AX_REDIRECTS_MAX))
		return ax_fail(err, AX_INVALID, "follow_redirects", "follow_redirects is a number from 0 to %d",
			AX_REDIRECTS_MAX);
	spec->hops = (int)json_integer_value(follow);
	st = read_headers(json_object_get(param, "headers"), arena, spec, err);
	if (st == AX_OK)
		st = read_send_run(json_object_get(param, "send_run"), json_object_get(param, "body"), spec, err);
	if (st == AX_OK)
		read_body(json_object_get(param, "body"), arena, spec);
	if (st == AX_OK)
		st = read_method(json_object_get(param, "method"), arena, spec, err);
	return st == AX_OK ? read_success(json_object_get(param, "success"), spec, err) : st;
}

enum ax_status http_spec_read(const char *text, struct ax_arena *arena, struct http_spec *ret_spec, struct ax_err *err)
{
	struct http_spec spec = { 0 };
	json_t *param = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	enum ax_status st = json_is_object(param) ? read_spec(param, arena, &spec, err)
						  : ax_fail(err, AX_INVALID, "param", "http takes an object with url");
	json_decref(param);
	if (st == AX_OK)
		*ret_spec = spec;
	return st;
}
