#ifndef AX_ADAPTERS_CURL_URL_TARGET_H
#define AX_ADAPTERS_CURL_URL_TARGET_H

/* Where a URL of a user leads, before anything goes there. */

#include <stdbool.h>
#include "base/arena.h"
#include "base/err.h"

struct ax_url_target {
	const char *url;  /* as it will be called, without fragment */
	const char *host; /* ASCII, without brackets */
	bool tls;
	int port;
};

/* Takes a URL apart and refuses what leaves room for two readings. */
enum ax_status ax_url_target_read(
	const char *url, struct ax_arena *arena, struct ax_url_target *ret_target, struct ax_err *err);

#endif
