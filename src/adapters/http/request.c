#include <string.h>
#include <strings.h>

#include "adapters/http/conn.h"

enum ax_http_method ax_http_method(const struct ax_http_request *req)
{
	return req->msg.method;
}

const char *ax_http_path(const struct ax_http_request *req)
{
	return req->msg.path;
}

const char *ax_http_raw_query(const struct ax_http_request *req)
{
	return req->msg.raw_query;
}

const char *ax_http_query(const struct ax_http_request *req, const char *name)
{
	for (size_t i = 0; i < req->msg.n_params; i++) {
		if (strcmp(req->msg.params[i].name, name) == 0)
			return req->msg.params[i].value;
	}
	return NULL;
}

size_t ax_http_params(const struct ax_http_request *req, const struct ax_http_param **ret)
{
	*ret = req->msg.params;
	return req->msg.n_params;
}

const char *ax_http_header(const struct ax_http_request *req, const char *name)
{
	for (size_t i = 0; i < req->msg.n_headers; i++) {
		if (strcasecmp(req->msg.headers[i].name, name) == 0)
			return req->msg.headers[i].value;
	}
	return NULL;
}

size_t ax_http_headers(const struct ax_http_request *req, const struct ax_http_header **ret)
{
	*ret = req->msg.headers;
	return req->msg.n_headers;
}

const char *ax_http_body(const struct ax_http_request *req, size_t *ret_len)
{
	*ret_len = req->msg.body.len;
	return req->msg.body.data != NULL ? req->msg.body.data : "";
}

const char *ax_http_peer(const struct ax_http_request *req)
{
	return req->peer;
}

bool ax_http_is_tls(const struct ax_http_request *req)
{
	return req->is_tls;
}

const char *ax_http_client_subject(const struct ax_http_request *req)
{
	return req->subject;
}

const char *ax_http_client_uri(const struct ax_http_request *req)
{
	return req->uri;
}

struct ax_arena *ax_http_arena(struct ax_http_request *req)
{
	return &req->arena;
}

void ax_http_set_user(struct ax_http_request *req, void *ptr)
{
	req->user = ptr;
}

void *ax_http_user(const struct ax_http_request *req)
{
	return req->user;
}

bool ax_http_is_gone(const struct ax_http_request *req)
{
	return req->conn == NULL || req->conn->closing;
}
