/* Loaded into ax-worker by a test: once the file named by FAIL_SYNC_FLAG exists, the disk fails every sync. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int fail(void)
{
	const char *flag = getenv("FAIL_SYNC_FLAG");
	if (!flag || access(flag, F_OK) < 0)
		return 0;
	errno = EIO;
	return -1;
}

__attribute__((visibility("default"))) int fsync(int fd)
{
	(void)fd;
	return fail();
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
	(void)fd;
	return fail();
}
