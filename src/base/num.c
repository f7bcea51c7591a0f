#include "base/num.h"

bool ax_parse_i64(const char *s, size_t len, int64_t min, int64_t max, int64_t *ret)
{
	bool negative = len > 0 && s[0] == '-' && min < 0;
	size_t i = negative ? 1 : 0;
	if (i == len || (s[i] == '0' && len > i + 1))
		return false;
	int64_t value = 0;
	for (; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		int digit = s[i] - '0';
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_sub_overflow(value, digit, &value)) /* negative side holds INT64_MIN */
			return false;
	}
	if (!negative && value == INT64_MIN)
		return false;
	if (!negative)
		value = -value;
	if (value < min || value > max)
		return false;
	*ret = value;
	return true;
}

int64_t ax_add_sat(int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

uint64_t ax_mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

uint64_t ax_hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t hash = 0xcbf29ce484222325ULL;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * 0x100000001b3ULL;
	return hash;
}
