#ifndef AX_CLI_FILE_H
#define AX_CLI_FILE_H

#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"

/* Reads a whole file ("-": standard input) of at most max_bytes into the arena, with a NUL after it. err->msg names
 * the file. ret_len may be NULL. */
enum ax_status ax_file_read(
	struct ax_arena *arena, const char *path, size_t max_bytes, char **ret, size_t *ret_len, struct ax_err *err);

/* Makes a file that only its owner may read (0600) and opens it; one that exists is refused. */
enum ax_status ax_file_create_secret(const char *path, int *ret_fd, struct ax_err *err);
/* Writes the text into it and closes it. */
enum ax_status ax_file_write_secret(int fd, const char *path, const char *text, struct ax_err *err);

#endif
