#ifndef AX_ADAPTERS_HTTP_TLS_H
#define AX_ADAPTERS_HTTP_TLS_H

/* The server side of TLS between two byte streams: no socket is known here. TLS 1.2 and newer, no renegotiation,
 * no session tickets, ALPN "http/1.1". */

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Reads a PEM chain, its key and (may be NULL) the CAs of client certificates; free with SSL_CTX_free. AX_INVALID
 * names the file that is wrong. */
AX_MUST_USE enum ax_status ax_http_tls_load(const char *cert_file, const char *key_file, const char *client_ca_file,
	bool client_required, SSL_CTX **ret, struct ax_err *err);

struct ax_http_tls {
	SSL *ssl;
	char *subject; /* of a verified client certificate, after the handshake; NULL without */
	char *uri;
};

void ax_http_tls_init(struct ax_http_tls *tls, SSL_CTX *ctx);
void ax_http_tls_done(struct ax_http_tls *tls);

/* Takes bytes from the network. */
void ax_http_tls_feed(struct ax_http_tls *tls, const void *bytes, size_t len);
/* Plain bytes out of what was fed: how many, 0 = more must be fed, -1 = closed or broken. */
int ax_http_tls_read(struct ax_http_tls *tls, void *buf, int cap);
/* Encrypts all; false when broken. */
bool ax_http_tls_write(struct ax_http_tls *tls, const void *bytes, size_t len);
/* Says goodbye. */
void ax_http_tls_close(struct ax_http_tls *tls);
/* Bytes for the network; the caller frees them. NULL when there are none. */
char *ax_http_tls_take(struct ax_http_tls *tls, size_t *ret_len);

#endif
