#ifndef AX_SERVER_SEAL_H
#define AX_SERVER_SEAL_H

/* Secrets at rest. Settings of channels hold tokens and passwords; what lies in the database, and in every copy of it,
 * is sealed with a key that lies elsewhere (docs/decisions/0025). By libsodium's secretbox. */

#include <stdbool.h>
#include "base/arena.h"
#include "base/err.h"
#include "server/config.h"

enum { AX_SEAL_KEY_BYTES = 32, AX_SEAL_ID_SIZE = 17 };

struct ax_seal {
	bool on; /* false: servers share a database and no key was given; texts are kept as they are */
	unsigned char key[AX_SEAL_KEY_BYTES];
	char id[AX_SEAL_ID_SIZE]; /* says which key sealed a text */
};

/* Reads the key from --secret-key-file, or else from `secret.key` in the state folder, which is made at the first
 * start. AX_UNAVAILABLE names the option and what is wrong with the file. */
AX_MUST_USE enum ax_status ax_seal_load(struct ax_seal *seal, const struct ax_config *config, struct ax_err *err);

/* The text as it is stored. */
const char *ax_seal_text(const struct ax_seal *seal, const char *text, struct ax_arena *arena);

/* And back; a text that was never sealed is itself. AX_BROKEN: another key sealed it, or it was changed. */
AX_MUST_USE enum ax_status ax_seal_read(
	const struct ax_seal *seal, const char *stored, struct ax_arena *arena, const char **ret, struct ax_err *err);

#endif
