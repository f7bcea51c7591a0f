#include "exec_task.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "sys/output_file.h"

/* Where the next piece begins, so that another process of this worker can go on: position and item number. */
static void note_sent(struct task *t)
{
	uint64_t note[2] = { t->sent, axw_output_next(t->attempt) };
	int fd = openat(t->dir_fd, "sent", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	ssize_t ignored = pwrite(fd, note, sizeof(note), 0); /* output alone may suffer */
	(void)ignored;
	close(fd);
}

void exec_output_resume(struct task *t)
{
	uint64_t note[2];
	int fd = openat(t->dir_fd, "sent", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (pread(fd, note, sizeof(note), 0) == (ssize_t)sizeof(note) && note[1] <= UINT32_MAX) {
		t->sent = note[0];
		axw_output_resume(t->attempt, (uint32_t)note[1]);
	}
	close(fd);
}

/* The length without a character whose last bytes are yet to come. */
static size_t without_cut_character(const char *bytes, size_t len)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		unsigned char c = (unsigned char)bytes[len - back];
		if (c < 0x80)
			break;
		if (c >= 0xc0) {
			size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
			return need > back ? len - back : len;
		}
	}
	return len;
}

static bool hand_on_piece(struct task *t, bool all)
{
	struct exec *x = t->exec;
	uint64_t from;
	size_t n = ax_output_read(t->output_fd, t->sent, x->piece, EXEC_PIECE, &from);
	if (!all)
		n = without_cut_character(x->piece, n);
	if (n == 0)
		return false;
	if (from > t->sent) {
		char note[80];
		int len =
			snprintf(note, sizeof(note), "\n[%" PRIu64 " bytes of output were not kept]\n", from - t->sent);
		if (axw_output(t->attempt, note, (size_t)len) < 0)
			return false;
	}
	if (axw_output(t->attempt, x->piece, n) < 0)
		return false;
	t->sent = from + n;
	return true;
}

/* While the task runs its output is handed on as it appears, up to as much as is kept; at the end the last part is
 * what the file still has. */
void exec_output_hand_on(struct task *t, bool all)
{
	if (t->output_fd < 0)
		t->output_fd = openat(t->dir_fd, AX_ATTEMPT_OUTPUT, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (t->output_fd < 0)
		return;
	uint64_t before = t->sent;
	while ((all || t->sent < AX_OUTPUT_KEPT) && hand_on_piece(t, all))
		continue;
	if (t->sent != before)
		note_sent(t);
}

/* The last line that is not blank: most often the reason why a task failed. */
void exec_output_last_line(struct task *t, char *out, size_t size)
{
	uint64_t total = t->output_fd < 0 ? 0 : ax_output_total(t->output_fd);
	uint64_t from = total > size - 1 ? total - (size - 1) : 0;
	uint64_t at;
	size_t n = total ? ax_output_read(t->output_fd, from, out, size - 1, &at) : 0;
	while (n > 0 && strchr(" \t\r\n", out[n - 1]))
		n--;
	out[n] = 0;
	char *line = n ? memrchr(out, '\n', n) : NULL;
	if (line)
		memmove(out, line + 1, strlen(line + 1) + 1);
}
