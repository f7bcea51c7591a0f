#ifndef AX_SYS_KEY_PAIR_H
#define AX_SYS_KEY_PAIR_H

#include "base/err.h"

/* A certificate and its key (PEM) that show who we are, as options name their files; "" = not named. AX_INVALID, with
 * "cert" or "key" as the field and a sentence that names file and reason, when they are of no use together: whoever
 * uses them later would only see connections that fail, or be asked for a passphrase at a terminal. */
AX_MUST_USE enum ax_status ax_key_pair_check(const char *cert_file, const char *key_file, struct ax_err *err);

#endif
