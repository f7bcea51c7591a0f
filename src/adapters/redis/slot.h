#ifndef AX_ADAPTERS_REDIS_SLOT_H
#define AX_ADAPTERS_REDIS_SLOT_H

#include <stddef.h>

enum { AX_REDIS_SLOTS = 16384 };

/* The slot of a key in a Redis Cluster: CRC16 of what its first {tag} holds, or of all of it. */
int ax_redis_slot(const char *key, size_t len);

#endif
