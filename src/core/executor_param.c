#include "core/executor_param.h"

#include <string.h>

#include "base/attr.h"
#include "base/num.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static bool consists_of(const char *s, const char *characters)
{
	return *s != '\0' && s[strspn(s, characters)] == '\0';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* Does `s` begin with `head`, whatever the case? */
static bool begins(const char *s, const char *head)
{
	while (*head != '\0' && lower(*s) == lower(*head)) {
		s++;
		head++;
	}
	return *head == '\0';
}

/* ---- variables */

bool ax_env_is_name(const char *name)
{
	return consists_of(name, LETTERS DIGITS "_") && strchr(DIGITS, name[0]) == NULL;
}

bool ax_env_matches(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);
	bool all = len > 0 && pattern[len - 1] == '*';
	return all ? strncmp(pattern, name, len - 1) == 0 : strcmp(pattern, name) == 0;
}

bool ax_env_is_denied(const char *name, bool script)
{
	static const char *const denied[] = { "LD_*", "IFS", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PYTHON*",
		"NODE_OPTIONS", "GIT_*", "PERL5*", "PERL_*", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
		"JDK_JAVA_OPTIONS", "GCONV_PATH", "LOCPATH", "NLSPATH", "MALLOC_*", "GLIBC_TUNABLES", "AX_*",
		"TRACEPARENT" };
	for (size_t i = 0; i < AX_COUNT(denied); i++)
		if (ax_env_matches(denied[i], name))
			return true;
	return !script && strcmp(name, "PATH") == 0;
}

/* ---- calls */

const char ax_methods[] = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

bool ax_method_is_known(const char *method)
{
	static const char *const known[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };
	for (size_t i = 0; i < AX_COUNT(known); i++)
		if (strcmp(known[i], method) == 0)
			return true;
	return false;
}

bool ax_header_is_name(const char *name)
{
	return consists_of(name, "!#$%&'*+-.^_`|~" LETTERS DIGITS);
}

bool ax_header_is_value(const char *value)
{
	for (const char *p = value; *p != '\0'; p++)
		if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
			return false;
	return strlen(value) <= AX_HEADER_VALUE_MAX;
}

bool ax_header_is_reserved(const char *name)
{
	static const char *const reserved[] = { "Host", "Content-Length", "Transfer-Encoding", "Connection",
		"Keep-Alive", "Upgrade", "TE", "Trailer", "Expect", "Proxy-Authorization", "Proxy-Connection",
		"Idempotency-Key", "traceparent" };
	for (size_t i = 0; i < AX_COUNT(reserved); i++)
		if (strlen(name) == strlen(reserved[i]) && begins(name, reserved[i]))
			return true;
	return begins(name, "AX-");
}

/* ---- URLs */

static const char *port_fault(const char *digits, size_t len)
{
	int64_t port;
	while (len > 1 && *digits == '0') {
		digits++;
		len--;
	}
	if (len == 0 || ax_parse_i64(digits, len, 1, 65535, &port)) /* none after the colon: the scheme's own */
		return NULL;
	return "its port is not a number from 1 to 65535";
}

/* Of these characters; those beyond ASCII, which names may have, are left to the worker. */
static bool is_host(const char *s, const char *end, const char *characters)
{
	for (const char *p = s; p < end; p++)
		if ((unsigned char)*p < 0x80 && strchr(characters, *p) == NULL)
			return false;
	return s < end;
}

/* "host", "host:port", "[address]:port" */
static const char *authority_fault(const char *s, size_t len)
{
	if (memchr(s, '@', len) != NULL)
		return "it holds a user or password; use a header";
	const char *end = s + len;
	const char *colon = memchr(s, ':', len);
	bool good;
	if (s[0] == '[') {
		const char *bracket = memchr(s, ']', len);
		if (bracket != NULL && memchr(s, '%', (size_t)(bracket - s)) != NULL)
			return "it holds an IPv6 zone";
		good = bracket != NULL && is_host(s + 1, bracket, DIGITS "abcdefABCDEF:.") &&
			(bracket + 1 == end || bracket[1] == ':');
		colon = good && bracket + 1 != end ? bracket + 1 : NULL;
	} else {
		good = is_host(s, colon != NULL ? colon : end, LETTERS DIGITS ".-_%");
	}
	if (!good)
		return "its host is not a name or an address";
	return colon == NULL ? NULL : port_fault(colon + 1, (size_t)(end - colon - 1));
}

const char *ax_url_fault(const char *url)
{
	if (strlen(url) > AX_URL_MAX)
		return "it is too long";
	for (const char *p = url; *p != '\0'; p++)
		if ((unsigned char)*p <= 0x20 || *p == 0x7f || *p == '\\')
			return "it holds a blank, a control character or a backslash; write those as %XX";
	size_t scheme = begins(url, "http://") ? 7 : begins(url, "https://") ? 8 : 0;
	if (scheme == 0)
		return begins(url, "http:") || begins(url, "https:") ? "it is not written as http://HOST…"
								     : "it is neither http nor https";
	size_t len = strcspn(url + scheme, "/?#");
	return len == 0 ? "it is not written as http://HOST…" : authority_fault(url + scheme, len);
}
