#ifndef AX_ADAPTERS_CURL_LOOP_H
#define AX_ADAPTERS_CURL_LOOP_H

/* libcurl's multi handle on a libuv loop: any number of transfers on one thread. All calls belong to the loop's
 * thread. */

#include <curl/curl.h>
#include <uv.h>

struct ax_curl_loop;

/* Called once for a transfer that ended, from the loop and never from within ax_curl_loop_add. The easy handle is
 * the caller's again. */
typedef void ax_curl_done(CURL *easy, CURLcode result, void *user);

/* Keeps up to `idle_max` connections open between transfers, and uses at most `total_max` at once (0 = any
 * number; more transfers wait). */
struct ax_curl_loop *ax_curl_loop_new(uv_loop_t *loop, long idle_max, long total_max);

void ax_curl_loop_add(struct ax_curl_loop *cl, CURL *easy, ax_curl_done *done, void *user);

/* Ends a transfer without calling back. */
void ax_curl_loop_remove(struct ax_curl_loop *cl, CURL *easy);

/* No transfer may be left. Frees itself once the loop has run its close callbacks. */
void ax_curl_loop_close(struct ax_curl_loop *cl);

#endif
