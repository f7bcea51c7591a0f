#include "sys/key_pair.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static enum ax_status open_pem(const char *path, const char *field, FILE **ret, struct ax_err *err)
{
	*ret = fopen(path, "re");
	if (*ret == NULL)
		return ax_fail(err, AX_INVALID, field, "%s cannot be read: %s", path, strerror(errno));
	return AX_OK;
}

/* The first certificate is ours; what follows leads to its authority. */
static enum ax_status read_cert(const char *path, X509 **ret, struct ax_err *err)
{
	FILE *file;
	enum ax_status status = open_pem(path, "cert", &file, err);
	if (status != AX_OK)
		return status;
	*ret = PEM_read_X509(file, NULL, NULL, NULL);
	fclose(file);
	return *ret != NULL ? AX_OK : ax_fail(err, AX_INVALID, "cert", "%s holds no certificate (PEM)", path);
}

static int note_passphrase(char *buf, int size, int writes, void *asked)
{
	(void)buf;
	(void)size;
	(void)writes;
	*(bool *)asked = true;
	return -1;
}

static enum ax_status read_key(const char *path, EVP_PKEY **ret, struct ax_err *err)
{
	FILE *file;
	bool asked = false;
	enum ax_status status = open_pem(path, "key", &file, err);
	if (status != AX_OK)
		return status;
	*ret = PEM_read_PrivateKey(file, NULL, note_passphrase, &asked);
	fclose(file);
	if (asked)
		return ax_fail(err, AX_INVALID, "key", "%s asks for a passphrase; the key must have none", path);
	return *ret != NULL ? AX_OK : ax_fail(err, AX_INVALID, "key", "%s holds no private key (PEM)", path);
}

enum ax_status ax_key_pair_check(const char *cert_file, const char *key_file, struct ax_err *err)
{
	X509 *cert = NULL;
	EVP_PKEY *key = NULL;
	if ((cert_file[0] == '\0') != (key_file[0] == '\0'))
		return ax_fail(err, AX_INVALID, cert_file[0] == '\0' ? "cert" : "key",
			"is missing: certificate and key go together");
	if (cert_file[0] == '\0')
		return AX_OK;
	enum ax_status status = read_cert(cert_file, &cert, err);
	if (status == AX_OK)
		status = read_key(key_file, &key, err);
	if (status == AX_OK && X509_check_private_key(cert, key) != 1)
		status = ax_fail(
			err, AX_INVALID, "key", "%s is not the key of the certificate in %s", key_file, cert_file);
	X509_free(cert);
	EVP_PKEY_free(key);
	ERR_clear_error();
	return status;
}
