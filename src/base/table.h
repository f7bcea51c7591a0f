#ifndef AX_BASE_TABLE_H
#define AX_BASE_TABLE_H

/* uthash with a hash function of ours: the default one does not compile without warnings under clang.
 * Out of memory ends the process as everywhere. Include this
 * instead of uthash.h. Tables that outsiders fill have a maximum, so that made-up collisions cost them more than us. */

#include "base/err.h"
#include "base/num.h"

#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned)ax_hash_bytes((key), (len)))
#define uthash_fatal(text) ax_die(__FILE__, __LINE__, text)
#include <uthash.h>

#endif
