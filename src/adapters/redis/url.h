#ifndef AX_ADAPTERS_REDIS_URL_H
#define AX_ADAPTERS_REDIS_URL_H

/* Where a Redis is, and how to come in:
 *
 *   redis://[USER:PASSWORD@]HOST:PORT[/N]
 *   redis-cluster://[USER:PASSWORD@]HOST:PORT,HOST:PORT…
 *   redis-sentinel://[USER:PASSWORD@]HOST:PORT,…/NAME[/N]
 *
 * "rediss" in place of "redis" speaks TLS. Without a port: 6379, of sentinels 26379. `:PASSWORD@` alone is that of the
 * user "default"; with `USER@` alone the password comes from elsewhere. User and password may hold %XX. */

#include <stdbool.h>
#include "base/err.h"

enum { AX_REDIS_ADDRESSES_MAX = 16, AX_REDIS_HOST_MAX = 253, AX_REDIS_SECRET_MAX = 512 };

enum ax_redis_kind { AX_REDIS_SINGLE, AX_REDIS_CLUSTER, AX_REDIS_SENTINEL };

struct ax_redis_address {
	char host[AX_REDIS_HOST_MAX + 1]; /* without brackets */
	int port;
};

struct ax_redis_url {
	enum ax_redis_kind kind;
	bool tls;
	char user[AX_REDIS_SECRET_MAX + 1];     /* "" = the user "default" */
	char password[AX_REDIS_SECRET_MAX + 1]; /* "" = it does not ask for one, or this is not known here */
	int db;
	struct ax_redis_address at[AX_REDIS_ADDRESSES_MAX]; /* of the node, of some nodes, or of the sentinels */
	int n;
	char primary[129]; /* the name that sentinels know it by */
	/* Of the account at the sentinels themselves, which the text does not hold; as those above. */
	char sentinel_user[AX_REDIS_SECRET_MAX + 1], sentinel_password[AX_REDIS_SECRET_MAX + 1];
};

/* What it refuses is AX_INVALID with the rule ("must …"); no message repeats any part of the URL that may be secret. */
AX_MUST_USE enum ax_status ax_redis_url_read(const char *url, struct ax_redis_url *ret, struct ax_err *err);

/* Reads "HOST:PORT" or "[HOST]:PORT"; a default port of 0 means that one must be stated. False when it is none. */
bool ax_redis_address_read(const char *text, size_t len, int default_port, struct ax_redis_address *ret);

#endif
