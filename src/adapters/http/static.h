#ifndef AX_ADAPTERS_HTTP_STATIC_H
#define AX_ADAPTERS_HTTP_STATIC_H

/* Serves files that were built into the program by tools/embed_files.py. */

#include <stdbool.h>
#include <stddef.h>

#include "adapters/http/server.h"

struct ax_http_file {
	const char *path; /* "/assets/app-1a2b3c4d.js" */
	const char *type; /* Content-Type */
	const char *etag; /* with its quotes */
	const unsigned char *raw;
	size_t raw_len;
	const unsigned char *gzip; /* NULL when compression did not pay */
	size_t gzip_len;
	bool immutable; /* the name holds a hash of the content */
};

/* Sorted by path, bytewise. */
struct ax_http_files {
	const struct ax_http_file *files;
	size_t n;
};

/* Answers a GET or HEAD for an embedded file: ETag and 304, gzip when accepted, Cache-Control. A path that is no file,
 * has no extension in its last segment and is not under /api or /worker gets /index.html, for pages that the
 * browser's own router draws. `headers` are added (may be NULL). False, and the request is untouched, when there is
 * nothing to serve (the caller answers 404 or 405). */
bool ax_http_static_serve(
	const struct ax_http_files *files, struct ax_http_request *req, const struct ax_http_header *headers);

#endif
