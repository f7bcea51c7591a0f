#ifndef AX_SYS_FIRST_LINE_H
#define AX_SYS_FIRST_LINE_H

#include "base/arena.h"
#include "base/err.h"

/* The first line of a file with a password, in the arena, without its end. AX_INVALID, with a sentence that names file
 * and reason. */
AX_MUST_USE enum ax_status ax_first_line_read(
	const char *path, struct ax_arena *arena, const char **ret, struct ax_err *err);

#endif
