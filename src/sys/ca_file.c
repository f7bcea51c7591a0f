#include "sys/ca_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_certificate(FILE *file)
{
	char line[256];
	while (fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, "-----BEGIN ", 11) == 0 && strstr(line, "CERTIFICATE-----") != NULL)
			return true;
	return false;
}

enum ax_status ax_ca_file_check(const char *path, struct ax_err *err)
{
	FILE *file = fopen(path, "re");
	bool found = file != NULL && has_certificate(file);
	int code = errno;
	bool readable = file != NULL && ferror(file) == 0;
	if (file != NULL)
		fclose(file);
	if (!readable)
		return ax_fail(err, AX_INVALID, "", "%s cannot be read: %s", path, strerror(code));
	return found ? AX_OK : ax_fail(err, AX_INVALID, "", "%s holds no certificate (PEM)", path);
}
