#include "core/target_guard.h"

#include <stddef.h>
#include <string.h>
#include "base/attr.h"

struct range {
	uint8_t prefix[16];
	unsigned bits;
	enum ax_target verdict;
};

/* First match decides. */
static const struct range ranges4[] = {
	{ { 100, 100, 100, 200 }, 32, AX_TARGET_NEVER }, /* cloud metadata */
	{ { 168, 63, 129, 16 }, 32, AX_TARGET_NEVER },   /* cloud metadata */
	{ { 0 }, 8, AX_TARGET_NEVER }, { { 10 }, 8, AX_TARGET_PRIVATE }, { { 100, 64 }, 10, AX_TARGET_PRIVATE },
	{ { 127 }, 8, AX_TARGET_LOOPBACK }, { { 169, 254 }, 16, AX_TARGET_NEVER }, /* link-local, metadata */
	{ { 172, 16 }, 12, AX_TARGET_PRIVATE }, { { 192, 0, 0 }, 24, AX_TARGET_NEVER },
	{ { 192, 0, 2 }, 24, AX_TARGET_NEVER }, { { 192, 88, 99 }, 24, AX_TARGET_NEVER }, /* 6to4 relays */
	{ { 192, 168 }, 16, AX_TARGET_PRIVATE }, { { 198, 18 }, 15, AX_TARGET_NEVER },
	{ { 198, 51, 100 }, 24, AX_TARGET_NEVER }, { { 203, 0, 113 }, 24, AX_TARGET_NEVER },
	{ { 224 }, 4, AX_TARGET_NEVER }, /* multicast */
	{ { 240 }, 4, AX_TARGET_NEVER }, /* reserved, broadcast */
};

static const struct range ranges6[] = {
	{ { [15] = 1 }, 128, AX_TARGET_LOOPBACK },
	{ { 0 }, 128, AX_TARGET_NEVER },
	{ { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54 }, 128, AX_TARGET_NEVER }, /* cloud metadata */
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, AX_TARGET_NEVER },
	{ { 0x3f, 0xff }, 20, AX_TARGET_NEVER }, /* documentation */
	{ { 0x01, 0x00 }, 64, AX_TARGET_NEVER }, /* discard */
	{ { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48,
		AX_TARGET_NEVER }, /* local NAT64: IPv4 at a place only its operator knows */
	{ { 0xfc }, 7, AX_TARGET_PRIVATE },
	{ { 0xfe, 0x80 }, 10, AX_TARGET_NEVER },
	{ { 0xfe, 0xc0 }, 10, AX_TARGET_NEVER },
	{ { 0xff }, 8, AX_TARGET_NEVER },
	{ { 0x20 }, 3, AX_TARGET_PUBLIC }, /* 2000::/3, all that is given out */
	{ { 0 }, 0, AX_TARGET_NEVER },
};

/* IPv6 forms that carry an IPv4 address, and where in them it lies. */
static const struct {
	uint8_t prefix[16];
	unsigned bits;
	unsigned at;
	bool inverted;
} wrappers[] = {
	{ { [10] = 0xff, 0xff }, 96, 12, false },      /* ::ffff:0:0/96 mapped */
	{ { [8] = 0xff, 0xff }, 96, 12, false },       /* ::ffff:0:0:0/96 translated */
	{ { 0x00, 0x64, 0xff, 0x9b }, 96, 12, false }, /* 64:ff9b::/96 NAT64 */
	{ { 0x20, 0x02 }, 16, 2, false },              /* 2002::/16 6to4 */
	{ { 0x20, 0x01, 0x00, 0x00 }, 32, 12, true },  /* 2001::/32 Teredo, inverted */
	{ { 0 }, 96, 12, false },                      /* ::/96 compatible */
};

static bool in_range(const uint8_t *address, const uint8_t *prefix, unsigned bits)
{
	unsigned bytes = bits / 8;
	if (memcmp(address, prefix, bytes) != 0)
		return false;
	unsigned rest = bits % 8;
	uint8_t mask = (uint8_t)(0xff << (8 - rest));
	return rest == 0 || (address[bytes] & mask) == (prefix[bytes] & mask);
}

static enum ax_target judge4(const uint8_t *address)
{
	for (size_t i = 0; i < AX_COUNT(ranges4); i++) {
		if (in_range(address, ranges4[i].prefix, ranges4[i].bits))
			return ranges4[i].verdict;
	}
	return AX_TARGET_PUBLIC;
}

/* ::1 and :: are themselves, not IPv4 0.0.0.1 and 0.0.0.0. */
static bool is_own_form(const uint8_t *address)
{
	static const uint8_t zero[15];
	return memcmp(address, zero, 15) == 0 && address[15] <= 1;
}

static enum ax_target judge6(const uint8_t *address)
{
	for (size_t i = 0; !is_own_form(address) && i < AX_COUNT(wrappers); i++) {
		if (!in_range(address, wrappers[i].prefix, wrappers[i].bits))
			continue;
		uint8_t inner[4];
		for (unsigned j = 0; j < 4; j++)
			inner[j] = wrappers[i].inverted ? (uint8_t)~address[wrappers[i].at + j]
							: address[wrappers[i].at + j];
		return judge4(inner);
	}
	for (size_t i = 0; i < AX_COUNT(ranges6); i++) {
		if (in_range(address, ranges6[i].prefix, ranges6[i].bits))
			return ranges6[i].verdict;
	}
	return AX_TARGET_NEVER;
}

enum ax_target ax_target_judge(const uint8_t *address, unsigned size)
{
	if (size == 4)
		return judge4(address);
	return size == 16 ? judge6(address) : AX_TARGET_NEVER;
}

bool ax_target_port_is_plain(int port)
{
	static const int never[] = { 2375, 2376, 3306, 5432, 6379, 9200, 10250, 11211, 27017 };
	for (size_t i = 0; i < AX_COUNT(never); i++) {
		if (port == never[i])
			return false;
	}
	return port == 80 || port == 443 || (port >= 1024 && port <= 65535);
}

bool ax_target_allowed(const uint8_t *address, unsigned size, bool listed, bool loopback_open, bool plain_port)
{
	enum ax_target target = ax_target_judge(address, size);
	if (target == AX_TARGET_NEVER)
		return false;
	return listed || (target == AX_TARGET_LOOPBACK && loopback_open) || (target == AX_TARGET_PUBLIC && plain_port);
}
