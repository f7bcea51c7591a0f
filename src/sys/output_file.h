#ifndef AX_SYS_OUTPUT_FILE_H
#define AX_SYS_OUTPUT_FILE_H

/* What a task printed, kept as its first 256 KiB and its last 768 KiB in one file that never grows beyond that.
 *
 * The file is a header with the count of all bytes ever printed, the head, and a ring. ax-exec writes it; the
 * worker reads it while it grows. A reader that was overtaken by the writer sees it by the count: it reads the
 * count again after the bytes. Nothing is synced: output may be lost with the machine, results may not. */

#include <stddef.h>
#include <stdint.h>

enum {
	AX_OUTPUT_HEAD = 256 * 1024,
	AX_OUTPUT_TAIL = 768 * 1024,
	AX_OUTPUT_KEPT = AX_OUTPUT_HEAD + AX_OUTPUT_TAIL,
};

/* Appends; `*total` is the count so far and grows by len. Returns 0 or an errno (ENOSPC: the bytes are counted as
 * printed but not kept; the caller goes on, a full disk must not stop the task). */
int ax_output_append(int fd, uint64_t *total, const char *bytes, size_t len);

/* The count of all bytes printed; 0 when the file is empty or not one of ours. */
uint64_t ax_output_total(int fd);

/* Reads up to cap kept bytes from position `at` of all that was printed. Positions between head and tail that are
 * no longer kept are stepped over: *ret_at is where the bytes really begin. Returns the number of bytes, 0 at the
 * end. */
size_t ax_output_read(int fd, uint64_t at, char *buf, size_t cap, uint64_t *ret_at);

#endif
