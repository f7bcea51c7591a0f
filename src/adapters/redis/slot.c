#include "adapters/redis/slot.h"

#include <stdint.h>
#include <string.h>

/* CRC-16/XMODEM */
static unsigned crc16(const char *bytes, size_t len)
{
	unsigned crc = 0;
	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned)(unsigned char)bytes[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
	}
	return crc;
}

int ax_redis_slot(const char *key, size_t len)
{
	const char *open = memchr(key, '{', len);
	if (open != NULL) {
		const char *tag = open + 1;
		const char *close = memchr(tag, '}', len - (size_t)(tag - key));
		if (close != NULL && close > tag)
			return (int)(crc16(tag, (size_t)(close - tag)) & (AX_REDIS_SLOTS - 1));
	}
	return (int)(crc16(key, len) & (AX_REDIS_SLOTS - 1));
}
