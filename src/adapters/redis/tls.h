#ifndef AX_ADAPTERS_REDIS_TLS_H
#define AX_ADAPTERS_REDIS_TLS_H

/* The client side of TLS between two byte streams: no socket is known here. TLS 1.2 and newer, the certificate and the
 * name or address in it are verified. */

#include <openssl/ssl.h>
#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"

/* `ca_file`: PEM of the authorities that are trusted; "" = the system's. `cert_file`, `key_file`: PEM of a certificate
 * for who asks for one, and of its key; NULL = none. Free with SSL_CTX_free. */
AX_MUST_USE enum ax_status ax_redis_tls_load(
	const char *ca_file, const char *cert_file, const char *key_file, SSL_CTX **ret, struct ax_err *err);

/* A session towards a host name or address; free with SSL_free. */
SSL *ax_redis_tls_new(SSL_CTX *ctx, const char *host);

/* Takes bytes from the network. */
void ax_redis_tls_feed(SSL *ssl, const void *bytes, size_t len);
/* Goes on with the handshake: 1 = done, 0 = more must be fed, -1 = refused. */
int ax_redis_tls_shake(SSL *ssl);
/* Why the call before this one said -1, for people. */
const char *ax_redis_tls_fault(SSL *ssl);
/* Plain bytes out of what was fed: how many, 0 = more must be fed, -1 = closed or broken. */
int ax_redis_tls_read(SSL *ssl, void *buf, int cap);
/* Encrypts all; false when broken. */
bool ax_redis_tls_write(SSL *ssl, const void *bytes, size_t len);
/* Moves what is for the network to the end of a buffer. */
void ax_redis_tls_take(SSL *ssl, struct ax_buf *out);

#endif
