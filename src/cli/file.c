#include "cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"

static enum ax_status read_all(int fd, const char *path, struct ax_buf *buf, struct ax_err *err)
{
	char chunk[16384];
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));
		if (n == 0)
			return AX_OK;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ax_fail(err, AX_INVALID, "", "cannot read %s: %s", path, strerror(errno));
		ax_buf_add(buf, chunk, (size_t)n);
		if (buf->overflow)
			return ax_fail(err, AX_TOO_LARGE, "", "%s is larger than %zu bytes", path, buf->max);
	}
}

enum ax_status ax_file_read(
	struct ax_arena *arena, const char *path, size_t max_bytes, char **ret, size_t *ret_len, struct ax_err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ax_fail(err, AX_INVALID, "", "cannot open %s: %s", path, strerror(errno));
	struct ax_buf buf;
	ax_buf_init(&buf, max_bytes);
	enum ax_status st = read_all(fd, is_stdin ? "standard input" : path, &buf, err);
	if (!is_stdin)
		close(fd);
	if (st == AX_OK) {
		*ret = ax_strndup(arena, buf.len > 0 ? buf.data : "", buf.len);
		if (ret_len != NULL)
			*ret_len = buf.len;
	}
	ax_buf_done(&buf);
	return st;
}

enum ax_status ax_file_create_secret(const char *path, int *ret_fd, struct ax_err *err)
{
	*ret_fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*ret_fd >= 0)
		return AX_OK;
	if (errno == EEXIST)
		return ax_fail(err, AX_EXISTS, "", "%s exists; name a new file", path);
	return ax_fail(err, AX_INVALID, "", "cannot create %s: %s", path, strerror(errno));
}

enum ax_status ax_file_write_secret(int fd, const char *path, const char *text, struct ax_err *err)
{
	size_t len = strlen(text), done = 0;
	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		done += (size_t)n;
	}
	if (close(fd) != 0 || done < len)
		return ax_fail(err, AX_FULL, "", "cannot write %s: %s", path, strerror(errno));
	return AX_OK;
}
