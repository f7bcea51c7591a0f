#include "adapters/redis/tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "adapters/redis/url.h"

static bool show_certificate(SSL_CTX *ctx, const char *cert_file, const char *key_file)
{
	return SSL_CTX_use_certificate_chain_file(ctx, cert_file) == 1 &&
		SSL_CTX_use_PrivateKey_file(ctx, key_file, SSL_FILETYPE_PEM) == 1 &&
		SSL_CTX_check_private_key(ctx) == 1;
}

enum ax_status ax_redis_tls_load(
	const char *ca_file, const char *cert_file, const char *key_file, SSL_CTX **ret, struct ax_err *err)
{
	ERR_clear_error();
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	AX_ASSERT(ctx != NULL);
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	int good = ca_file[0] == '\0' ? SSL_CTX_set_default_verify_paths(ctx)
				      : SSL_CTX_load_verify_locations(ctx, ca_file, NULL);
	if (good != 1) {
		SSL_CTX_free(ctx);
		ERR_clear_error();
		return ax_fail(err, AX_INVALID, "redis_ca", "%s: no authorities in PEM form can be read there",
			ca_file[0] == '\0' ? "the system's store" : ca_file);
	}
	if (cert_file != NULL && !show_certificate(ctx, cert_file, key_file)) {
		const char *reason = ERR_reason_error_string(ERR_peek_last_error());
		SSL_CTX_free(ctx);
		ERR_clear_error();
		return ax_fail(err, AX_INVALID, "redis_cert", "%s and its key %s cannot be used: %s", cert_file,
			key_file, reason != NULL ? reason : "unknown fault");
	}
	*ret = ctx;
	return AX_OK;
}

SSL *ax_redis_tls_new(SSL_CTX *ctx, const char *host)
{
	SSL *ssl = SSL_new(ctx);
	BIO *in = BIO_new(BIO_s_mem());
	BIO *out = BIO_new(BIO_s_mem());
	AX_ASSERT(ssl != NULL && in != NULL && out != NULL);
	SSL_set_bio(ssl, in, out); /* takes both */
	SSL_set_connect_state(ssl);
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
	if (X509_VERIFY_PARAM_set1_ip_asc(param, host) != 1) { /* no address: a name */
		X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
		AX_ASSERT(X509_VERIFY_PARAM_set1_host(param, host, 0) == 1);
		char name[AX_REDIS_HOST_MAX + 1]; /* OpenSSL's macro lacks the const */
		snprintf(name, sizeof(name), "%s", host);
		(void)SSL_set_tlsext_host_name(ssl, name); /* a hint: who needs it and lacks it refuses us */
	}
	ERR_clear_error();
	return ssl;
}

void ax_redis_tls_feed(SSL *ssl, const void *bytes, size_t len)
{
	size_t written;
	AX_ASSERT(BIO_write_ex(SSL_get_rbio(ssl), bytes, len, &written) == 1 && written == len);
}

int ax_redis_tls_shake(SSL *ssl)
{
	ERR_clear_error();
	int n = SSL_do_handshake(ssl);
	if (n == 1)
		return 1;
	return SSL_get_error(ssl, n) == SSL_ERROR_WANT_READ ? 0 : -1;
}

/* What it says of our certificate, or of there being none. */
static const char *its_alert(int reason)
{
	switch (reason) {
	case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
		return "it asks for a certificate: give --queue-cert and --queue-key";
	case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE: /* all that TLS 1.2 has for it */
		return "it refuses our TLS; if it asks for a certificate, give --queue-cert and --queue-key";
	case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
		return "it does not trust whoever signed the certificate of --queue-cert";
	case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
		return "the certificate of --queue-cert has expired";
	case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
	case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
		return "it refuses the certificate of --queue-cert";
	default:
		return "it does not speak TLS as we do";
	}
}

const char *ax_redis_tls_fault(SSL *ssl)
{
	long verdict = SSL_get_verify_result(ssl);
	unsigned long fault = ERR_peek_last_error();
	if (verdict != X509_V_OK)
		return X509_verify_cert_error_string(verdict);
	return fault == 0 ? "it ended the connection" : its_alert(ERR_GET_REASON(fault));
}

int ax_redis_tls_read(SSL *ssl, void *buf, int cap)
{
	ERR_clear_error();
	int n = SSL_read(ssl, buf, cap);
	if (n > 0)
		return n;
	return SSL_get_error(ssl, n) == SSL_ERROR_WANT_READ ? 0 : -1;
}

bool ax_redis_tls_write(SSL *ssl, const void *bytes, size_t len)
{
	ERR_clear_error();
	size_t written;
	return len == 0 || SSL_write_ex(ssl, bytes, len, &written) == 1;
}

void ax_redis_tls_take(SSL *ssl, struct ax_buf *out)
{
	char chunk[4096];
	size_t n;
	BIO *bio = SSL_get_wbio(ssl);
	while (BIO_ctrl_pending(bio) > 0 && BIO_read_ex(bio, chunk, sizeof(chunk), &n) == 1)
		ax_buf_add(out, chunk, n);
}
