#include "adapters/http/tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static enum ax_status fail(SSL_CTX *ctx, struct ax_err *err, const char *field, const char *file)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());
	SSL_CTX_free(ctx);
	return ax_fail(
		err, AX_INVALID, field, "%s cannot be used: %s", file, reason != NULL ? reason : "unknown fault");
}

/* Picks http/1.1 where the client offers it; a client that does not is served without ALPN. */
static int select_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_len, const unsigned char *offered,
	unsigned offered_len, void *arg)
{
	(void)ssl, (void)arg;
	static const unsigned char ours[] = "\x08http/1.1";
	unsigned char *chosen;
	if (SSL_select_next_proto(&chosen, ret_len, ours, sizeof(ours) - 1, offered, offered_len) !=
		OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*ret = chosen;
	return SSL_TLSEXT_ERR_OK;
}

enum ax_status ax_http_tls_load(const char *cert_file, const char *key_file, const char *client_ca_file,
	bool client_required, SSL_CTX **ret, struct ax_err *err)
{
	ERR_clear_error();
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	AX_ASSERT(ctx != NULL);
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_options(ctx,
		SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);

	if (SSL_CTX_use_certificate_chain_file(ctx, cert_file) != 1)
		return fail(ctx, err, "tls_cert_file", cert_file);
	if (SSL_CTX_use_PrivateKey_file(ctx, key_file, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(ctx) != 1)
		return fail(ctx, err, "tls_key_file", key_file);
	if (client_ca_file != NULL) {
		STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(client_ca_file);
		if (names == NULL)
			return fail(ctx, err, "tls_client_ca_file", client_ca_file);
		SSL_CTX_set_client_CA_list(ctx, names); /* takes the names */
		if (SSL_CTX_load_verify_locations(ctx, client_ca_file, NULL) != 1)
			return fail(ctx, err, "tls_client_ca_file", client_ca_file);
		SSL_CTX_set_verify(
			ctx, SSL_VERIFY_PEER | (client_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), NULL);
	}
	*ret = ctx;
	return AX_OK;
}

void ax_http_tls_init(struct ax_http_tls *tls, SSL_CTX *ctx)
{
	*tls = (struct ax_http_tls){ .ssl = SSL_new(ctx) };
	BIO *in = BIO_new(BIO_s_mem());
	BIO *out = BIO_new(BIO_s_mem());
	AX_ASSERT(tls->ssl != NULL && in != NULL && out != NULL);
	SSL_set_bio(tls->ssl, in, out); /* takes both */
	SSL_set_accept_state(tls->ssl);
}

void ax_http_tls_done(struct ax_http_tls *tls)
{
	SSL_free(tls->ssl);
	free(tls->subject);
	free(tls->uri);
	*tls = (struct ax_http_tls){ 0 };
}

void ax_http_tls_feed(struct ax_http_tls *tls, const void *bytes, size_t len)
{
	size_t written;
	AX_ASSERT(BIO_write_ex(SSL_get_rbio(tls->ssl), bytes, len, &written) == 1 && written == len);
}

static char *subject_of(X509 *cert)
{
	BIO *bio = BIO_new(BIO_s_mem());
	AX_ASSERT(bio != NULL);
	X509_NAME_print_ex(bio, X509_get_subject_name(cert), 0, XN_FLAG_RFC2253);
	char *data;
	long len = BIO_get_mem_data(bio, &data);
	char *subject = ax_malloc((size_t)len + 1);
	memcpy(subject, data, (size_t)len);
	BIO_free(bio);
	return subject;
}

/* NULL also for a URI with a NUL in it, which would be read as another one. */
static char *uri_of(X509 *cert)
{
	char *uri = NULL;
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	for (int i = 0; uri == NULL && i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
		if (name->type != GEN_URI)
			continue;
		const char *s = (const char *)ASN1_STRING_get0_data(name->d.uniformResourceIdentifier);
		if (strlen(s) == (size_t)ASN1_STRING_length(name->d.uniformResourceIdentifier))
			uri = ax_strdup_heap(s);
	}
	GENERAL_NAMES_free(names);
	return uri;
}

static void read_client(struct ax_http_tls *tls)
{
	X509 *cert = SSL_get0_peer_certificate(tls->ssl);
	if (tls->subject != NULL || cert == NULL || SSL_get_verify_result(tls->ssl) != X509_V_OK)
		return;
	tls->subject = subject_of(cert);
	tls->uri = uri_of(cert);
}

int ax_http_tls_read(struct ax_http_tls *tls, void *buf, int cap)
{
	ERR_clear_error();
	int n = SSL_read(tls->ssl, buf, cap);
	if (n <= 0)
		return SSL_get_error(tls->ssl, n) == SSL_ERROR_WANT_READ ? 0 : -1;
	read_client(tls);
	return n;
}

bool ax_http_tls_write(struct ax_http_tls *tls, const void *bytes, size_t len)
{
	ERR_clear_error();
	size_t written;
	return len == 0 || SSL_write_ex(tls->ssl, bytes, len, &written) == 1;
}

void ax_http_tls_close(struct ax_http_tls *tls)
{
	ERR_clear_error();
	if (SSL_is_init_finished(tls->ssl))
		(void)SSL_shutdown(tls->ssl);
}

char *ax_http_tls_take(struct ax_http_tls *tls, size_t *ret_len)
{
	BIO *out = SSL_get_wbio(tls->ssl);
	size_t pending = BIO_ctrl_pending(out);
	if (pending == 0)
		return NULL;
	char *bytes = ax_malloc(pending);
	AX_ASSERT(BIO_read_ex(out, bytes, pending, ret_len) == 1);
	return bytes;
}
