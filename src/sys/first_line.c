#include "sys/first_line.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 512 };

enum ax_status ax_first_line_read(const char *path, struct ax_arena *arena, const char **ret, struct ax_err *err)
{
	char line[LINE_MAX_BYTES + 2] = ""; /* its end, or the byte that is too much */
	FILE *file = fopen(path, "re");
	bool some = file != NULL && fgets(line, sizeof line, file) != NULL;
	int code = errno;
	bool readable = file != NULL && ferror(file) == 0;
	if (file != NULL)
		fclose(file);
	if (!readable)
		return ax_fail(err, AX_INVALID, "", "%s cannot be read: %s", path, strerror(code));
	line[strcspn(line, "\r\n")] = '\0';
	if (!some || line[0] == '\0')
		return ax_fail(err, AX_INVALID, "", "%s has no first line", path);
	if (strlen(line) > LINE_MAX_BYTES)
		return ax_fail(
			err, AX_INVALID, "", "the first line of %s is longer than %d bytes", path, LINE_MAX_BYTES);
	*ret = ax_strdup(arena, line);
	return AX_OK;
}
