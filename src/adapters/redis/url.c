#include "adapters/redis/url.h"

#include <string.h>
#include "base/num.h"

enum { REDIS_PORT = 6379, SENTINEL_PORT = 26379, DB_MAX = 1023 };

static const struct scheme {
	const char *text;
	enum ax_redis_kind kind;
	bool tls;
} schemes[] = {
	{ "redis://", AX_REDIS_SINGLE, false },
	{ "rediss://", AX_REDIS_SINGLE, true },
	{ "redis-cluster://", AX_REDIS_CLUSTER, false },
	{ "rediss-cluster://", AX_REDIS_CLUSTER, true },
	{ "redis-sentinel://", AX_REDIS_SENTINEL, false },
	{ "rediss-sentinel://", AX_REDIS_SENTINEL, true },
};

static enum ax_status refuse(struct ax_err *err, const char *why)
{
	return ax_fail(err, AX_INVALID, "queue", "%s", why);
}

bool ax_redis_address_read(const char *text, size_t len, int default_port, struct ax_redis_address *ret)
{
	struct ax_redis_address address = { .port = default_port };
	const char *host = text, *end = text + len, *host_end, *port = NULL;
	if (len > 0 && text[0] == '[') {
		host++;
		host_end = memchr(host, ']', len - 1);
		if (host_end == NULL || (host_end + 1 < end && host_end[1] != ':'))
			return false;
		if (host_end + 1 < end)
			port = host_end + 2;
	} else {
		host_end = memchr(text, ':', len);
		if (host_end == NULL)
			host_end = end;
		else
			port = host_end + 1;
	}
	size_t host_len = (size_t)(host_end - host);
	if (host_len == 0 || host_len > AX_REDIS_HOST_MAX)
		return false;
	for (size_t i = 0; i < host_len; i++)
		if ((unsigned char)host[i] <= ' ' || host[i] == 0x7f || strchr("/?#@", host[i]) != NULL)
			return false;
	memcpy(address.host, host, host_len);
	int64_t number = address.port;
	if (port != NULL && !ax_parse_i64(port, (size_t)(end - port), 1, 65535, &number))
		return false;
	if (number == 0)
		return false;
	address.port = (int)number;
	*ret = address;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX; false when it is too long or has a broken or NUL escape. */
static bool read_secret(const char *text, size_t len, char *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (c == '%') {
			int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
			int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
			if (low < 0 || high * 16 + low == 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (n == AX_REDIS_SECRET_MAX)
			return false;
		ret[n++] = c;
	}
	ret[n] = '\0';
	return true;
}

static bool read_credentials(const char *text, size_t len, struct ax_redis_url *url)
{
	const char *colon = memchr(text, ':', len);
	size_t user = colon == NULL ? len : (size_t)(colon - text);
	if (!read_secret(text, user, url->user))
		return false;
	if (colon == NULL)
		return user > 0;
	return read_secret(colon + 1, len - user - 1, url->password) && url->password[0] != '\0';
}

static bool read_addresses(const char *text, size_t len, struct ax_redis_url *url)
{
	int port = url->kind == AX_REDIS_SENTINEL ? SENTINEL_PORT : REDIS_PORT;
	for (const char *end = text + len;; text++) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *stop = comma == NULL ? end : comma;
		if (url->n == AX_REDIS_ADDRESSES_MAX ||
			!ax_redis_address_read(text, (size_t)(stop - text), port, &url->at[url->n]))
			return false;
		url->n++;
		if (comma == NULL)
			return true;
		text = comma;
	}
}

/* What follows the addresses, from its '/' on, or "". */
static enum ax_status read_path(const char *path, struct ax_redis_url *url, struct ax_err *err)
{
	if (url->kind == AX_REDIS_SENTINEL) {
		size_t len = path[0] == '/' ? strcspn(path + 1, "/") : 0;
		if (len == 0 || len >= sizeof(url->primary))
			return refuse(err,
				"must be redis-sentinel://HOST:PORT,…/NAME, with the name that the sentinels watch");
		memcpy(url->primary, path + 1, len);
		url->primary[len] = '\0';
		path += 1 + len;
	}
	if (path[0] == '\0' || strcmp(path, "/") == 0)
		return AX_OK;
	if (url->kind == AX_REDIS_CLUSTER)
		return refuse(err, "must end with the addresses: a Redis Cluster has one database alone");
	int64_t db;
	if (!ax_parse_i64(path + 1, strlen(path + 1), 0, DB_MAX, &db))
		return refuse(err, "must end with the number of the database, 0 to 1023");
	url->db = (int)db;
	return AX_OK;
}

enum ax_status ax_redis_url_read(const char *text, struct ax_redis_url *ret, struct ax_err *err)
{
	struct ax_redis_url url = { 0 };
	const char *rest = NULL;
	for (size_t i = 0; i < AX_COUNT(schemes) && rest == NULL; i++) {
		if (strncmp(text, schemes[i].text, strlen(schemes[i].text)) != 0)
			continue;
		url.kind = schemes[i].kind;
		url.tls = schemes[i].tls;
		rest = text + strlen(schemes[i].text);
	}
	if (rest == NULL)
		return refuse(err,
			"must be redis://HOST:PORT/N, redis-cluster://HOST:PORT,… or "
			"redis-sentinel://HOST:PORT,…/NAME (rediss for TLS), or embedded");
	/* a password may hold what it should have written as %XX, but its '@' is the last one */
	const char *at = strrchr(rest, '@');
	if (at != NULL) {
		if (!read_credentials(rest, (size_t)(at - rest), &url))
			return refuse(err,
				"must have user and password as USER:PASSWORD@, :PASSWORD@ or USER@, with %XX for what "
				"is special, at most 512 bytes each");
		rest = at + 1;
	}
	size_t len = strcspn(rest, "/");
	if (!read_addresses(rest, len, &url))
		return refuse(err, "must have addresses as HOST:PORT, at most 16, with commas between them");
	if (url.kind == AX_REDIS_SINGLE && url.n > 1)
		return refuse(err,
			"must have one address after redis://; several go with redis-cluster:// or redis-sentinel://");
	enum ax_status status = read_path(rest + len, &url, err);
	if (status == AX_OK)
		*ret = url;
	return status;
}
