#ifndef AX_WORKER_EXEC_TASK_H
#define AX_WORKER_EXEC_TASK_H

/* The inside of the exec executor: one process attempt as this process sees it. */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <uv.h>
#include "axworker.h"
#include "base/arena.h"
#include "exec_spec.h"
#include "policy.h"
#include "sys/attempt_dir.h"

enum { EXEC_PIECE = 64 << 10 };
#define EXEC_PROGRESS "progress" /* in the attempt's folder; the process writes it */

/* A piece of output that was handed on: to where it goes, and the number of the item after it. */
struct piece {
	uint64_t end;
	uint64_t next;
};

struct task {
	struct exec *exec;
	struct axw_attempt *attempt;
	char dir[PATH_MAX];
	int dir_fd;
	int output_fd;
	uint64_t sent;       /* position in the output up to which it was handed on */
	size_t n_noted;      /* pieces in the note */
	struct piece *again; /* what an earlier process handed on and perhaps never delivered */
	size_t n_again, at_again;
	int percent; /* of the last progress that was seen */
	struct timespec progress_seen;
	pid_t pid;        /* of ax-exec; 0 when adopted or reaped */
	uv_poll_t *watch; /* its pidfd */
	int pidfd;
	bool ended;
	bool settled;
	bool listed; /* it runs, or has output that was not taken yet */
	struct task *prev, *next;
};

struct exec {
	struct axw *worker;
	const struct policy *policy;
	const char *shim;
	char *root; /* STATE/attempts */
	uv_timer_t timer;
	struct task *tasks;
	char piece[EXEC_PIECE];
};

/* exec_files.c: the attempt's folder */
void exec_remove_dir(const char *dir);
bool exec_write_file(int dir_fd, const char *name, const char *bytes, size_t len);
char *exec_read_file(struct ax_arena *arena, int dir_fd, const char *name, size_t max); /* NULL when it cannot */
bool exec_read_status(int dir_fd, struct ax_attempt_status *ret_status);
bool exec_is_locked(int dir_fd); /* its ax-exec lives */
void exec_order(int dir_fd, enum ax_attempt_order_kind kind, int64_t value);

/* exec_output.c */
void exec_output_resume(struct task *task); /* after a restart: from the first piece that was not heard */
/* What is new. `all`: the task has ended; false when some of it was not taken, offer it again later. */
bool exec_output_hand_on(struct task *task, bool all);
void exec_output_last_line(struct task *task, char *out, size_t size);

/* exec_progress.c: tells the server what the process wrote to its progress file, when it changed. */
void exec_progress_look(struct task *task);

/* exec_end.c */
void exec_finish(struct task *task, const struct ax_attempt_status *status);
void exec_finish_unknown(struct task *task); /* ax-exec ended without a status */
void exec_refuse(struct axw_attempt *attempt, enum axw_outcome outcome, const char *message);

/* exec_start.c: makes the folder's files and starts ax-exec; 0 or an errno. */
int exec_start_shim(struct task *task, const struct exec_spec *spec);

#endif
