#include "adapters/http/static.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HEADERS_MAX = 32 };

static int compare(const void *key, const void *element)
{
	const struct ax_http_file *file = element;
	return strcmp(key, file->path);
}

static const struct ax_http_file *find_file(const struct ax_http_files *files, const char *path)
{
	return files->n == 0 ? NULL : bsearch(path, files->files, files->n, sizeof(files->files[0]), compare);
}

static bool is_under(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* Pages that the browser's own router draws are all the same document. */
static bool is_page(const char *path)
{
	return !is_under(path, "/api") && !is_under(path, "/worker") && strchr(strrchr(path, '/'), '.') == NULL;
}

/* True when a comma-separated list has the token, with parameters or without; *ret_rest is what follows it. */
static bool has_token(const char *list, const char *token, const char **ret_rest)
{
	size_t len = strlen(token);
	while (list != NULL && *list != '\0') {
		list += strspn(list, " \t,");
		size_t n = strcspn(list, " \t,;");
		if (n == len && strncasecmp(list, token, n) == 0) {
			*ret_rest = list + n;
			return true;
		}
		list = strchr(list, ',');
	}
	return false;
}

static bool accepts_gzip(const struct ax_http_request *req)
{
	const char *rest;
	if (!has_token(ax_http_header(req, "accept-encoding"), "gzip", &rest))
		return false;
	rest += strspn(rest, " \t;");
	if (strncasecmp(rest, "q=0", 3) != 0)
		return true;
	return rest[3 + strspn(rest + 3, ".0")] >= '1' && rest[3 + strspn(rest + 3, ".0")] <= '9';
}

static bool has_etag(const char *list, const char *etag)
{
	if (list == NULL)
		return false;
	if (strcmp(list, "*") == 0)
		return true;
	const char *found = strstr(list, etag); /* quotes included, so it cannot be part of another */
	return found != NULL;
}

bool ax_http_static_serve(
	const struct ax_http_files *files, struct ax_http_request *req, const struct ax_http_header *headers)
{
	enum ax_http_method method = ax_http_method(req);
	const char *path = ax_http_path(req);
	if ((method != AX_HTTP_GET && method != AX_HTTP_HEAD) || path[0] != '/')
		return false;
	const struct ax_http_file *file = find_file(files, path);
	if (file == NULL && is_page(path))
		file = find_file(files, "/index.html");
	if (file == NULL)
		return false;

	struct ax_http_header all[HEADERS_MAX] = {
		{ "Content-Type", file->type },
		{ "ETag", file->etag },
		{ "Cache-Control", file->immutable ? "public, max-age=31536000, immutable" : "no-cache" },
	};
	size_t n = 3;
	if (file->gzip != NULL)
		all[n++] = (struct ax_http_header){ "Vary", "Accept-Encoding" };
	for (; headers != NULL && headers->name != NULL; headers++) {
		AX_ASSERT(n < HEADERS_MAX - 2);
		all[n++] = *headers;
	}
	if (has_etag(ax_http_header(req, "if-none-match"), file->etag)) {
		ax_http_respond_static(req, 304, all, NULL, 0);
	} else if (file->gzip != NULL && accepts_gzip(req)) {
		all[n++] = (struct ax_http_header){ "Content-Encoding", "gzip" };
		ax_http_respond_static(req, 200, all, file->gzip, file->gzip_len);
	} else {
		ax_http_respond_static(req, 200, all, file->raw, file->raw_len);
	}
	return true;
}
