#ifndef AX_WORKER_HTTP_H
#define AX_WORKER_HTTP_H

/* The executor `http`: calls on the library's loop thread, thousands at a time.
 *
 * Every hop goes through the guard: the URL is taken apart strictly, its name is resolved by us, every address is
 * judged (core/target_guard.h), the transfer is pinned to those addresses, and the socket's address is judged once
 * more when it is opened. */

#include "axworker.h"
#include "core/target_guard.h"
#include "policy.h"

struct http;

/* `servers`: the worker's --server, whose ports --dev does not open to tasks. Before axw_start. */
struct http *http_new(struct axw *worker, const struct policy *policy, const char *servers);
void http_close(struct http *http); /* from axw_on_close */
void http_free(struct http *http);  /* after axw_wait */

/* True when a call to host:port may go to this address. `ours`: ports of AX itself. */
bool http_may_call(const struct policy *policy, const int *ours, size_t n_ours, const char *host, int port,
	const unsigned char *address, unsigned size);

#endif
