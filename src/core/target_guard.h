#ifndef AX_CORE_TARGET_GUARD_H
#define AX_CORE_TARGET_GUARD_H

/* Which network targets a user's URL may reach: the verdict on a resolved address and on a port. A name proves
 * nothing, so the address is judged, in whatever spelling it comes: IPv4 inside IPv6 is unwrapped first. */

#include <stdbool.h>
#include <stdint.h>

enum ax_target {
	AX_TARGET_PUBLIC,   /* allowed */
	AX_TARGET_PRIVATE,  /* private network: only where it is allow-listed */
	AX_TARGET_LOOPBACK, /* this machine: only where it is allow-listed */
	AX_TARGET_NEVER,    /* metadata services, link-local, multicast, unassigned: no list allows it */
};

/* `address`: 4 bytes (IPv4) or 16 (IPv6) in network order. */
enum ax_target ax_target_judge(const uint8_t *address, unsigned size);

/* False for ports below 1024 but 80 and 443, and for well-known ports of databases and control planes; those need
 * an allow-list entry. */
bool ax_target_port_is_plain(int port);

/* True when a call may go to the address: it is listed; or it is this machine and `loopback_open`; or it is public and
 * on a plain port. What no list allows is never allowed. */
bool ax_target_allowed(const uint8_t *address, unsigned size, bool listed, bool loopback_open, bool plain_port);

#endif
