#include "adapters/curl/url_target.h"

#include <ctype.h>
#include <curl/curl.h>
#include <string.h>
#include "base/num.h"
#include "core/executor_param.h"

enum { HOST_MAX = 253 };

static enum ax_status bad_url(struct ax_err *err, const char *what)
{
	return ax_fail(err, AX_INVALID, "url", "the URL cannot be called: %s", what);
}

static const char *part(CURLU *u, CURLUPart which, unsigned flags, struct ax_arena *arena)
{
	char *text = NULL;
	const char *copy = NULL;
	if (curl_url_get(u, which, &text, flags) == CURLUE_OK)
		copy = ax_strdup(arena, text);
	curl_free(text);
	return copy;
}

static bool is_host(const char *s)
{
	if (!*s || strlen(s) > HOST_MAX)
		return false;
	bool v6 = strchr(s, ':') != NULL;
	for (; *s; s++) {
		if (v6 ? !isxdigit((unsigned char)*s) && *s != ':' && *s != '.'
		       : !isalnum((unsigned char)*s) && !strchr(".-_", *s))
			return false;
	}
	return true;
}

static enum ax_status read_parts(CURLU *u, struct ax_arena *arena, struct ax_url_target *target, struct ax_err *err)
{
	const char *scheme = part(u, CURLUPART_SCHEME, 0, arena);
	if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		return bad_url(err, "it is neither http nor https");
	if (part(u, CURLUPART_USER, 0, arena) || part(u, CURLUPART_PASSWORD, 0, arena) ||
		part(u, CURLUPART_OPTIONS, 0, arena))
		return bad_url(err, "it holds a user or password; use a header");
	if (part(u, CURLUPART_ZONEID, 0, arena))
		return bad_url(err, "it holds an IPv6 zone");
	char *host = ax_strdup(arena, part(u, CURLUPART_HOST, CURLU_PUNYCODE, arena));
	if (host && host[0] == '[') {
		host[strlen(host) - 1] = 0;
		host++;
	}
	if (!host || !is_host(host))
		return bad_url(err, "its host is not a name or an address");
	const char *port = part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT, arena);
	int64_t number;
	if (!port || !ax_parse_i64(port, strlen(port), 1, 65535, &number))
		return bad_url(err, "its port is not a number from 1 to 65535");
	curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
	target->host = host;
	target->tls = scheme[4] == 's';
	target->port = (int)number;
	target->url = part(u, CURLUPART_URL, CURLU_PUNYCODE, arena);
	return target->url ? AX_OK : bad_url(err, "it is not a URL");
}

enum ax_status ax_url_target_read(
	const char *url, struct ax_arena *arena, struct ax_url_target *ret_target, struct ax_err *err)
{
	struct ax_url_target target = { 0 };
	const char *fault = ax_url_fault(url);
	if (fault)
		return bad_url(err, fault);
	CURLU *u = curl_url();
	enum ax_status st = curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK ? read_parts(u, arena, &target, err)
										: bad_url(err, "it is not a URL");
	curl_url_cleanup(u);
	if (st == AX_OK)
		*ret_target = target;
	return st;
}
