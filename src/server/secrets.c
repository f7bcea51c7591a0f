#include "server/secrets.h"

#include <string.h>

#include "base/err.h"
#include "core/limits.h"

enum { PASSWORD_OPS = 2, PASSWORD_BYTES = 64 * 1024 * 1024 };

void ax_secret_make(const char *prefix, char out[AX_SECRET_SIZE])
{
	unsigned char bytes[32];
	size_t len = strlen(prefix);
	AX_ASSERT(len <= 8);
	randombytes_buf(bytes, sizeof bytes);
	memcpy(out, prefix, len);
	sodium_bin2base64(
		out + len, AX_SECRET_SIZE - len, bytes, sizeof bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	sodium_memzero(bytes, sizeof bytes);
}

void ax_secret_hash(const char *secret, char out[AX_SECRET_HASH_SIZE])
{
	unsigned char hash[32];
	crypto_generichash(hash, sizeof hash, (const unsigned char *)secret, strlen(secret), NULL, 0);
	sodium_bin2hex(out, AX_SECRET_HASH_SIZE, hash, sizeof hash);
}

const char *ax_password_hash(struct ax_arena *arena, const char *password)
{
	char *out = ax_alloc(arena, crypto_pwhash_STRBYTES);
	AX_ASSERT(crypto_pwhash_str(out, password, strlen(password), PASSWORD_OPS, PASSWORD_BYTES) == 0);
	return out;
}

bool ax_password_matches(const char *stored, const char *password)
{
	if (stored[0] != '\0')
		return crypto_pwhash_str_verify(stored, password, strlen(password)) == 0;
	char spare[crypto_pwhash_STRBYTES];
	AX_ASSERT(crypto_pwhash_str(spare, password, strlen(password), PASSWORD_OPS, PASSWORD_BYTES) == 0);
	return false;
}

void ax_digest_begin(struct ax_digest *digest)
{
	crypto_generichash_init(&digest->state, NULL, 0, 32);
}

void ax_digest_add_bytes(struct ax_digest *digest, const void *bytes, size_t len)
{
	uint64_t size = len;
	crypto_generichash_update(&digest->state, (const unsigned char *)&size, sizeof size);
	crypto_generichash_update(&digest->state, bytes, len);
}

void ax_digest_add(struct ax_digest *digest, const char *text)
{
	ax_digest_add_bytes(digest, text, strlen(text));
}

const char *ax_digest_end(struct ax_digest *digest, struct ax_arena *arena)
{
	unsigned char hash[32];
	crypto_generichash_final(&digest->state, hash, sizeof hash);
	char *out = ax_alloc(arena, AX_SECRET_HASH_SIZE);
	sodium_bin2hex(out, AX_SECRET_HASH_SIZE, hash, sizeof hash);
	return out;
}

const char *ax_key_of(const char *key, struct ax_arena *arena)
{
	struct ax_digest digest;
	if (strlen(key) <= AX_KEY_MAX)
		return key;
	ax_digest_begin(&digest);
	ax_digest_add(&digest, key);
	return ax_digest_end(&digest, arena);
}
