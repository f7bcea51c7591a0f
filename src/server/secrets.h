#ifndef AX_SERVER_SECRETS_H
#define AX_SERVER_SECRETS_H

/* Random secrets, their hashes, and passwords, all by libsodium. */

#include <sodium.h>
#include <stdbool.h>
#include "base/arena.h"

enum {
	AX_SECRET_SIZE = 64,      /* prefix + 43 characters of 256 bits + NUL */
	AX_SECRET_HASH_SIZE = 65, /* hex of 256 bits + NUL */
};

/* "axp_…": 256 random bits behind a prefix of at most 8 bytes, safe in URLs. */
void ax_secret_make(const char *prefix, char out[AX_SECRET_SIZE]);
/* What is stored of it. Its input has 256 random bits, so a plain hash suffices. */
void ax_secret_hash(const char *secret, char out[AX_SECRET_HASH_SIZE]);

/* argon2id, t = 2, 64 MiB: a tenth of a second. For the hash lane. */
const char *ax_password_hash(struct ax_arena *arena, const char *password);
/* A stored hash of "" is nobody's; it takes the same time as any. */
bool ax_password_matches(const char *stored, const char *password);

/* Hash of several parts, each with its length, as hex. */
struct ax_digest {
	crypto_generichash_state state;
};
void ax_digest_begin(struct ax_digest *digest);
void ax_digest_add(struct ax_digest *digest, const char *text);
void ax_digest_add_bytes(struct ax_digest *digest, const void *bytes, size_t len);
const char *ax_digest_end(struct ax_digest *digest, struct ax_arena *arena);
/* A caller's key as it is stored: itself, or its hash when it is longer than AX_KEY_MAX. */
const char *ax_key_of(const char *key, struct ax_arena *arena);

#endif
