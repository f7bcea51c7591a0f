#include "sys/output_file.h"

#include <errno.h>
#include <unistd.h>
#include "base/attr.h"

static const uint64_t MAGIC = 0x3154554f58410a0a; /* "\n\nAXOUT1" */

struct header {
	uint64_t magic;
	uint64_t total;
};

static int put(int fd, const void *bytes, size_t len, size_t at)
{
	const char *p = bytes;
	while (len > 0) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		p += n;
		at += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Where byte `at` of the output lies in the file, and how many bytes follow it there without a break. */
static size_t place(uint64_t at, size_t *ret_run)
{
	if (at < AX_OUTPUT_HEAD) {
		*ret_run = (size_t)(AX_OUTPUT_HEAD - at);
		return sizeof(struct header) + (size_t)at;
	}
	size_t in_ring = (size_t)((at - AX_OUTPUT_HEAD) % AX_OUTPUT_TAIL);
	*ret_run = AX_OUTPUT_TAIL - in_ring;
	return sizeof(struct header) + AX_OUTPUT_HEAD + in_ring;
}

int ax_output_append(int fd, uint64_t *total, const char *bytes, size_t len)
{
	int err = 0;
	uint64_t at = *total;
	*total += len;
	while (len > 0 && err == 0) {
		size_t run;
		size_t where = place(at, &run);
		size_t n = AX_MIN(run, len);
		err = put(fd, bytes, n, where);
		bytes += n;
		at += n;
		len -= n;
	}
	struct header header = { .magic = MAGIC, .total = *total };
	int header_err = put(fd, &header, sizeof(header), 0);
	return err ? err : header_err;
}

uint64_t ax_output_total(int fd)
{
	struct header header;
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) || header.magic != MAGIC)
		return 0;
	return header.total;
}

/* The first position at or after `at` that is kept when `total` bytes were printed. */
static uint64_t skip(uint64_t at, uint64_t total)
{
	if (at >= AX_OUTPUT_HEAD && total > AX_OUTPUT_KEPT && at < total - AX_OUTPUT_TAIL)
		return total - AX_OUTPUT_TAIL;
	return at;
}

size_t ax_output_read(int fd, uint64_t at, char *buf, size_t cap, uint64_t *ret_at)
{
	for (int tries = 0; tries < 8; tries++) {
		uint64_t total = ax_output_total(fd);
		uint64_t from = skip(at, total);
		if (from >= total)
			break;
		size_t run;
		size_t where = place(from, &run);
		size_t n = (size_t)AX_MIN((uint64_t)AX_MIN(run, cap), total - from);
		ssize_t got = pread(fd, buf, n, (off_t)where);
		if (got <= 0)
			break;
		if (skip(from, ax_output_total(fd)) != from)
			continue; /* the writer came round and wrote over what was being read */
		*ret_at = from;
		return (size_t)got;
	}
	*ret_at = at;
	return 0;
}
