#ifndef AX_ADAPTERS_CURL_RESOLVER_H
#define AX_ADAPTERS_CURL_RESOLVER_H

/* Host names to addresses, on threads of our own: libcurl's resolver makes a thread for each name and blocks the loop
 * when a transfer ends before it; and an address must be judged before anything connects to it. Answers are kept for
 * 30 s, failures for 5 s. All calls belong to the loop's thread. */

#include <stdint.h>
#include <uv.h>

enum { AX_ADDRESSES_MAX = 16 };

struct ax_address {
	unsigned size; /* 4 or 16 */
	uint8_t bytes[16];
};

/* n = 0: the name has no address, or none was found in time. */
typedef void ax_resolved(const struct ax_address *addresses, int n, void *user);

struct ax_resolver;
struct ax_resolve;

struct ax_resolver *ax_resolver_new(uv_loop_t *loop, int threads);

/* Calls back from the loop, never from within. */
struct ax_resolve *ax_resolver_ask(struct ax_resolver *resolver, const char *host, ax_resolved *done, void *user);
void ax_resolver_forget(struct ax_resolve *ask); /* it will not be called back */

/* Open questions are dropped. Frees itself once the loop has run its close callbacks and no thread looks up. */
void ax_resolver_close(struct ax_resolver *resolver);

#endif
