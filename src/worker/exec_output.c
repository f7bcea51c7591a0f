#include "exec_task.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sys/output_file.h"

/* The note beside the output, for another process of this worker: where the first piece begins that may not have been
 * delivered, then the end of each piece that was handed on since. That process hands on the same pieces, for a server
 * tells items apart by their numbers alone. */
enum { NOTE_MAX = 32 << 20 };

static void write_note(struct task *t, size_t at, bool alone)
{
	struct piece piece = { t->sent, axw_output_next(t->attempt) };
	int fd = openat(t->dir_fd, "sent", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return; /* output alone may suffer */
	if (pwrite(fd, &piece, sizeof(piece), (off_t)(at * sizeof(piece))) == (ssize_t)sizeof(piece) && alone)
		t->n_noted = ftruncate(fd, sizeof(piece)) == 0 ? 0 : t->n_noted;
	close(fd);
}

static bool is_heard(const struct task *t)
{
	return axw_output_unheard(t->attempt) == axw_output_next(t->attempt);
}

void exec_output_resume(struct task *t)
{
	struct stat st;
	int fd = openat(t->dir_fd, "sent", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(struct piece) && st.st_size <= NOTE_MAX) {
		size_t n = (size_t)st.st_size / sizeof(struct piece);
		t->again = ax_malloc(n * sizeof(struct piece));
		if (pread(fd, t->again, n * sizeof(struct piece), 0) == (ssize_t)(n * sizeof(struct piece))) {
			t->n_again = n; /* the first is where the others begin */
			t->n_noted = n - 1;
			t->sent = t->again[0].end;
			axw_output_resume(t->attempt, (uint32_t)t->again[0].next);
		}
	}
	if (fd >= 0)
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

static bool hand_on_gap(struct task *t, uint64_t to)
{
	char note[80];
	int len = snprintf(note, sizeof(note), "\n[%" PRIu64 " bytes of output were not kept]\n", to - t->sent);
	return axw_output(t->attempt, note, (size_t)len) == 0;
}

/* A piece as an earlier process handed it on. A server that had it answers so; what is no longer kept it most likely
 * had. */
static bool hand_on_again(struct task *t)
{
	struct exec *x = t->exec;
	const struct piece *piece = &t->again[t->at_again];
	uint64_t from;
	if (piece->end > t->sent) {
		size_t len = (size_t)AX_MIN(piece->end - t->sent, (uint64_t)EXEC_PIECE);
		bool kept = ax_output_read(t->output_fd, t->sent, x->piece, len, &from) == len && from == t->sent &&
			from + len == piece->end;
		if (kept ? axw_output(t->attempt, x->piece, len) < 0 : !hand_on_gap(t, piece->end))
			return false;
		t->sent = piece->end;
		axw_output_resume(t->attempt, (uint32_t)piece->next);
	}
	t->at_again++;
	return true;
}

enum handed { HANDED_ON, NOTHING_NEW, NOT_TAKEN };

static enum handed hand_on_piece(struct task *t, bool all)
{
	struct exec *x = t->exec;
	uint64_t from;
	size_t n = ax_output_read(t->output_fd, t->sent, x->piece, EXEC_PIECE, &from);
	if (!all)
		n = without_cut_character(x->piece, n);
	if (n == 0)
		return NOTHING_NEW;
	bool gap = from > t->sent;
	if (gap ? !hand_on_gap(t, from) : axw_output(t->attempt, x->piece, n) < 0)
		return NOT_TAKEN;
	t->sent = gap ? from : from + n;
	write_note(t, ++t->n_noted, false);
	return HANDED_ON;
}

/* While the task runs its output is handed on as it appears, up to as much as is kept; at the end the last part is
 * what the file still has. */
bool exec_output_hand_on(struct task *t, bool all)
{
	if (t->output_fd < 0)
		t->output_fd = openat(t->dir_fd, AX_ATTEMPT_OUTPUT, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (t->output_fd < 0)
		return true;
	while (t->at_again < t->n_again)
		if (!hand_on_again(t))
			return false;
	if (t->n_noted > 0 && is_heard(t))
		write_note(t, 0, true);
	enum handed last = HANDED_ON;
	while (last == HANDED_ON && (all || t->sent < AX_OUTPUT_KEPT))
		last = hand_on_piece(t, all);
	return last != NOT_TAKEN;
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
