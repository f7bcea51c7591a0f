#include "exec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>
#include "base/arena.h"
#include "base/num.h"
#include "exec_spec.h"
#include "leftovers.h"
#include "sys/attempt_dir.h"
#include "sys/output_file.h"

static const uint64_t LOOK_MS = 250; /* how often the output of running tasks is looked at */
enum { PIECE = 64 << 10, RUN_MAX = 4 << 20 };

struct task {
	struct exec *exec;
	struct axw_attempt *attempt;
	char dir[PATH_MAX];
	int dir_fd;
	int output_fd;
	uint64_t sent;    /* position in the output up to which it was handed on */
	pid_t pid;        /* of ax-exec; 0 when adopted or reaped */
	uv_poll_t *watch; /* its pidfd */
	int pidfd;
	bool ended;
	struct task *prev, *next;
};

struct exec {
	struct axw *worker;
	const struct policy *policy;
	const char *shim;
	char *root; /* STATE/attempts */
	uv_timer_t timer;
	struct task *tasks;
	char piece[PIECE];
};

/* ---- files */

static void remove_dir(const char *dir)
{
	DIR *d = opendir(dir);
	if (!d)
		return;
	for (const struct dirent *e; (e = readdir(d));)
		(void)unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	(void)rmdir(dir);
}

static bool write_file(int dir_fd, const char *name, const char *bytes, size_t len)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes += n;
		len -= (size_t)n;
	}
	return close(fd) == 0 && len == 0;
}

/* The text of a small file in `arena`, or NULL. */
static char *read_file(struct ax_arena *arena, int dir_fd, const char *name, size_t max)
{
	struct stat st;
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *text = NULL;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 && (uint64_t)st.st_size <= max) {
		text = ax_alloc(arena, (size_t)st.st_size + 1);
		ssize_t n = read(fd, text, (size_t)st.st_size);
		text[n > 0 ? n : 0] = 0;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

static bool read_status(int dir_fd, struct ax_attempt_status *ret_status)
{
	struct ax_arena arena = { 0 };
	char *text = read_file(&arena, dir_fd, AX_ATTEMPT_STATUS, AX_ATTEMPT_STATUS_MAX);
	bool good = text && ax_attempt_status_parse(text, strlen(text), ret_status);
	ax_arena_done(&arena);
	return good;
}

static bool is_locked(int dir_fd)
{
	int fd = openat(dir_fd, AX_ATTEMPT_LOCK, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool locked = flock(fd, LOCK_EX | LOCK_NB) < 0;
	close(fd);
	return locked;
}

static void order(struct task *t, enum ax_attempt_order_kind kind, int64_t value)
{
	struct ax_attempt_order o = { .kind = (uint32_t)kind, .value = value };
	int fd = openat(t->dir_fd, AX_ATTEMPT_CONTROL, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;                             /* ax-exec is gone; the look at its lock tells */
	ssize_t ignored = write(fd, &o, sizeof(o)); /* full only if it is stopped: then its deadline acts */
	(void)ignored;
	close(fd);
}

/* ---- output */

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

static void resume_sent(struct task *t)
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
	size_t n = ax_output_read(t->output_fd, t->sent, x->piece, PIECE, &from);
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
static void hand_on(struct task *t, bool all)
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
static void last_line(struct task *t, char *out, size_t size)
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

/* ---- the end of a task */

static void fail_message(char *out, size_t size, const struct ax_attempt_status *s)
{
	static const char *const stages[] = {
		[AX_STAGE_NONE] = "the task could not start",
		[AX_STAGE_SETUP] = "ax-exec could not make its files",
		[AX_STAGE_FORK] = "no process could be made",
		[AX_STAGE_STDIN] = "standard input could not be opened",
		[AX_STAGE_CGROUP] = "the cgroup could not be joined",
		[AX_STAGE_USER] = "the run-as user could not be taken on",
		[AX_STAGE_CWD] = "the working directory (cwd) cannot be entered",
		[AX_STAGE_PROGRAM] = "the program cannot be run",
	};
	int stage = s->stage >= 0 && s->stage < (int)AX_COUNT(stages) ? s->stage : AX_STAGE_NONE;
	const char *hint = "";
	if (stage == AX_STAGE_PROGRAM && s->sys_errno == ENOEXEC)
		hint = " (a script needs a first line like #!/bin/sh)";
	else if (stage == AX_STAGE_PROGRAM && s->sys_errno == EACCES)
		hint = " (is it executable for the run-as user?)";
	snprintf(out, size, "%s: %s%s", stages[stage], strerror(s->sys_errno), hint);
}

static void exit_message(struct task *t, const struct ax_attempt_status *s, char *out, size_t size)
{
	char line[400];
	last_line(t, line, sizeof(line));
	const char *colon = line[0] ? ": " : "";
	if (s->signal)
		snprintf(out, size, "ended by signal SIG%s%s%s", sigabbrev_np(s->signal), colon, line);
	else if (s->code)
		snprintf(out, size, "exit status %d%s%s", s->code, colon, line);
	else
		out[0] = 0;
}

static enum axw_outcome outcome_of_stop(struct task *t)
{
	switch (axw_stop_asked(t->attempt)) {
	case AXW_STOP_CANCEL:
		return AXW_CANCELLED;
	case AXW_STOP_TIMEOUT:
		return AXW_TIMEOUT;
	case AXW_STOP_LOST:
	case AXW_STOP_DRAIN:
		return AXW_LOST;
	case AXW_STOP_NONE:
		break;
	}
	return AXW_FAILED; /* somebody sent ax-exec a signal */
}

static void finish(struct task *t, enum axw_outcome outcome, const struct ax_attempt_status *s, const char *message)
{
	char name[32];
	struct axw_finish_args args = { .size = sizeof(args), .outcome = outcome };
	args.code = s->signal ? 128 + s->signal : s->code;
	if (s->signal && sigabbrev_np(s->signal)) {
		snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(s->signal));
		args.signal = name;
	}
	if (s->start_ms)
		args.duration_ms = AX_MAX(1, s->end_ms - s->start_ms);
	if (*message)
		axw_message(t->attempt, message);
	axw_finish(t->attempt, &args);
}

/* ax-exec and the library watch the same limit; either may be the first to see it. */
static void finish_timeout(struct task *t, const struct ax_attempt_status *s)
{
	char message[80];
	snprintf(message, sizeof(message), "time limit of %" PRId64 " s reached", axw_timeout_ms(t->attempt) / 1000);
	finish(t, AXW_TIMEOUT, s, message);
}

static void finish_by_status(struct task *t, const struct ax_attempt_status *s)
{
	char message[600];
	exit_message(t, s, message, sizeof(message));
	switch ((enum ax_attempt_end)s->end) {
	case AX_END_EXIT:
		finish(t, s->code || s->signal ? AXW_FAILED : AXW_SUCCESS, s, message);
		break;
	case AX_END_TIMEOUT:
		finish_timeout(t, s);
		break;
	case AX_END_STOP:
		if (outcome_of_stop(t) == AXW_TIMEOUT)
			finish_timeout(t, s);
		else
			finish(t, outcome_of_stop(t), s, message);
		break;
	case AX_END_DEADLINE:
		finish(t, AXW_LOST, s, "");
		break;
	case AX_END_ERROR:
		fail_message(message, sizeof(message), s);
		finish(t, AXW_FAILED, s, message);
		break;
	}
}

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

static void stop_watching(struct task *t)
{
	if (t->watch)
		uv_close((uv_handle_t *)t->watch, free_handle);
	t->watch = NULL;
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->pidfd = -1;
}

/* ax-exec is gone. */
static void task_ended(struct task *t)
{
	struct ax_attempt_status status = { 0 };
	t->ended = true;
	stop_watching(t);
	if (t->pid)
		waitpid(t->pid, NULL, 0);
	t->pid = 0;
	DL_DELETE(t->exec->tasks, t);
	if (!t->exec->tasks)
		uv_timer_stop(&t->exec->timer);
	hand_on(t, true);
	if (read_status(t->dir_fd, &status)) {
		finish_by_status(t, &status);
		return;
	}
	leftovers_kill(axw_gid(t->attempt), axw_fence(t->attempt));
	enum axw_outcome outcome = outcome_of_stop(t);
	finish(t, outcome, &status,
		"ax-exec ended without a word (killed, or no room on the disk): the task was ended, "
		"how far it got is unknown");
}

static void pidfd_ready(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	task_ended(poll->data);
}

static void look_at_tasks(uv_timer_t *timer)
{
	struct exec *x = timer->data;
	struct task *t;
	struct task *next;
	DL_FOREACH_SAFE(x->tasks, t, next)
	{
		if (!t->watch && !is_locked(t->dir_fd)) /* adopted: not our child */
			task_ended(t);
		else
			hand_on(t, false);
	}
}

/* ---- the start of a task */

static struct task *new_task(struct exec *x, struct axw_attempt *a, const char *dir)
{
	struct task *t = ax_malloc(sizeof(*t));
	t->exec = x;
	t->attempt = a;
	t->output_fd = t->pidfd = -1;
	snprintf(t->dir, sizeof(t->dir), "%s", dir);
	t->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	axw_set_data(a, t);
	return t;
}

static void follow(struct task *t)
{
	struct exec *x = t->exec;
	DL_APPEND(x->tasks, t);
	if (!uv_is_active((uv_handle_t *)&x->timer))
		uv_timer_start(&x->timer, look_at_tasks, LOOK_MS, LOOK_MS);
}

/* The descriptor of the locked lock file, which ax-exec inherits, or -1. */
static int make_files(struct task *t, const struct exec_spec *spec)
{
	const char *run = axw_run_json(t->attempt);
	int lock = openat(t->dir_fd, AX_ATTEMPT_LOCK, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && mkfifoat(t->dir_fd, AX_ATTEMPT_CONTROL, 0600) == 0 &&
		(!spec->stdin_text ||
			write_file(t->dir_fd, AX_ATTEMPT_STDIN, spec->stdin_text, strlen(spec->stdin_text))) &&
		write_file(t->dir_fd, AX_ATTEMPT_RUN, run, strlen(run)))
		return lock;
	int saved = errno;
	if (lock >= 0)
		close(lock);
	errno = saved;
	return -1;
}

static const char *make_cgroup(struct task *t, struct ax_arena *arena)
{
	const char *parent = t->exec->policy->cgroup;
	if (!parent)
		return NULL;
	const char *leaf = ax_sprintf(arena, "%s/ax-%s-%" PRId64, parent, axw_gid(t->attempt), axw_fence(t->attempt));
	(void)mkdir(leaf, 0755); /* ax-exec says it when there is none */
	return leaf;
}

static char **shim_argv(struct task *t, const struct exec_spec *spec, struct ax_arena *arena)
{
	const char *head[24];
	size_t n = 0;
	head[n++] = "ax-exec";
	head[n++] = "--dir";
	head[n++] = t->dir;
	head[n++] = "--cwd";
	head[n++] = spec->cwd;
	head[n++] = "--timeout-ms";
	head[n++] = ax_sprintf(arena, "%" PRId64, axw_timeout_ms(t->attempt));
	head[n++] = "--grace-ms";
	head[n++] = ax_sprintf(arena, "%" PRId64, axw_grace_ms(t->attempt));
	head[n++] = "--deadline-ms";
	head[n++] = ax_sprintf(arena, "%" PRId64, axw_deadline_ms(t->attempt));
	if (spec->user.change) {
		head[n++] = "--uid";
		head[n++] = ax_sprintf(arena, "%u", (unsigned)spec->user.uid);
		head[n++] = "--gid";
		head[n++] = ax_sprintf(arena, "%u", (unsigned)spec->user.gid);
		const char *groups = "";
		for (int i = 0; i < spec->user.n_groups; i++)
			groups = ax_sprintf(arena, "%s%s%u", groups, i ? "," : "", (unsigned)spec->user.groups[i]);
		head[n++] = "--groups";
		head[n++] = groups;
	}
	const char *leaf = make_cgroup(t, arena);
	if (leaf) {
		head[n++] = "--cgroup";
		head[n++] = leaf;
	}
	head[n++] = "--";
	size_t tail = 0;
	while (spec->argv[tail])
		tail++;
	char **argv = ax_alloc_array(arena, n + tail + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		argv[i] = ax_strdup(arena, head[i]);
	memcpy(argv + n, spec->argv, tail * sizeof(char *));
	return argv;
}

/* posix_spawn, and never fork: this process may be large. */
static int spawn_shim(struct task *t, const struct exec_spec *spec, int lock)
{
	struct ax_arena arena = { 0 };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	sigset_t all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, lock, AX_ATTEMPT_LOCK_FD);
	posix_spawn_file_actions_addclosefrom_np(&files, AX_ATTEMPT_LOCK_FD + 1);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int rc = posix_spawn(&t->pid, t->exec->shim, &files, &attr, shim_argv(t, spec, &arena), spec->envp);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	ax_arena_done(&arena);
	if (rc)
		t->pid = 0;
	return rc;
}

static void watch(struct task *t)
{
	t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	t->watch = ax_malloc(sizeof(*t->watch));
	t->watch->data = t;
	if (t->pidfd < 0 || uv_poll_init(axw_loop(t->exec->worker), t->watch, t->pidfd) < 0) {
		free(t->watch); /* the look at its lock tells as well, a little later */
		t->watch = NULL;
		return;
	}
	uv_poll_start(t->watch, UV_READABLE, pidfd_ready);
}

static void refuse(struct axw_attempt *a, enum axw_outcome outcome, const char *message)
{
	struct axw_finish_args args = { .size = sizeof(args), .outcome = outcome, .duration_ms = 1 };
	axw_message(a, message);
	axw_finish(a, &args);
}

static void launch(struct exec *x, struct axw_attempt *a, const struct exec_spec *spec)
{
	char dir[PATH_MAX - 64];
	char message[400];
	snprintf(dir, sizeof(dir), "%s/%s-%" PRId64, x->root, axw_gid(a), axw_fence(a));
	if (mkdir(dir, 0700) < 0) {
		snprintf(message, sizeof(message), "the worker cannot make the attempt's folder: %s", strerror(errno));
		refuse(a, AXW_FAILED, message);
		return;
	}
	struct task *t = new_task(x, a, dir);
	int lock = make_files(t, spec);
	int rc = lock < 0 ? errno : spawn_shim(t, spec, lock);
	if (lock >= 0)
		close(lock);
	if (rc) {
		snprintf(message, sizeof(message), "the worker cannot start ax-exec: %s", strerror(rc));
		refuse(a, AXW_FAILED, message);
		return;
	}
	watch(t);
	follow(t);
}

static void on_start(struct axw_attempt *a, void *user)
{
	struct exec *x = user;
	struct ax_arena arena = { 0 };
	struct ax_err err;
	struct exec_spec spec;
	if (exec_spec_read(a, x->policy, &arena, &spec, &err) == AX_OK)
		launch(x, a, &spec);
	else
		refuse(a, AXW_REFUSED, err.msg);
	ax_arena_done(&arena);
}

static void on_stop(struct axw_attempt *a, enum axw_stop why, int64_t grace_ms, void *user)
{
	(void)why;
	(void)user;
	struct task *t = axw_data(a);
	if (t && !t->ended)
		order(t, AX_ORDER_STOP, grace_ms);
}

static void on_deadline(struct axw_attempt *a, int64_t boottime_ms, void *user)
{
	(void)user;
	struct task *t = axw_data(a);
	if (t && !t->ended)
		order(t, AX_ORDER_DEADLINE, boottime_ms);
}

static void on_settled(struct axw_attempt *a, void *user)
{
	struct exec *x = user;
	struct task *t = axw_data(a);
	if (!t)
		return;
	if (x->policy->cgroup) {
		char leaf[PATH_MAX];
		snprintf(leaf, sizeof(leaf), "%s/ax-%s-%" PRId64, x->policy->cgroup, axw_gid(a), axw_fence(a));
		(void)rmdir(leaf);
	}
	if (t->output_fd >= 0)
		close(t->output_fd);
	close(t->dir_fd);
	remove_dir(t->dir);
	free(t);
}

/* ---- after a restart */

static void adopt(struct exec *x, const char *dir)
{
	struct ax_arena arena = { 0 };
	struct ax_attempt_status status;
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return;
	bool locked = is_locked(dir_fd);
	bool ended = read_status(dir_fd, &status);
	char *run = read_file(&arena, dir_fd, AX_ATTEMPT_RUN, RUN_MAX);
	bool lost = ended && status.end == AX_END_DEADLINE;
	struct axw_attempt *a = run && (locked || (ended && !lost)) ? axw_adopt(x->worker, run) : NULL;
	if (a) {
		struct task *t = new_task(x, a, dir);
		resume_sent(t);
		follow(t);
		axw_log(x->worker, AXW_INFO, "attempt_adopted",
			ax_sprintf(&arena, "{\"gid\":\"%s\",\"fence\":%" PRId64 ",\"ended\":%s}", axw_gid(a),
				axw_fence(a), ended ? "true" : "false"));
	} else {
		/* Its result is in the spool already, or ax-exec was killed, or the machine was. */
		struct task orphan = { .dir_fd = dir_fd };
		int64_t fence;
		const char *name = strrchr(dir, '/') + 1;
		const char *dash = strchr(name, '-');
		if (locked)
			order(&orphan, AX_ORDER_STOP, 0);
		else if (dash && ax_parse_i64(dash + 1, strlen(dash + 1), 0, INT64_MAX, &fence))
			leftovers_kill(ax_strndup(&arena, name, (size_t)(dash - name)), fence);
		if (!locked)
			remove_dir(dir);
	}
	close(dir_fd);
	ax_arena_done(&arena);
}

static void adopt_all(struct exec *x)
{
	DIR *d = opendir(x->root);
	if (!d)
		return;
	for (const struct dirent *e; (e = readdir(d));) {
		char dir[PATH_MAX];
		if (e->d_name[0] == '.')
			continue;
		snprintf(dir, sizeof(dir), "%s/%s", x->root, e->d_name);
		adopt(x, dir);
	}
	closedir(d);
}

struct exec *exec_new(struct axw *worker, const struct policy *policy, const char *state_dir, const char *shim)
{
	static const struct axw_executor ops = {
		.size = sizeof(ops), .start = on_start, .stop = on_stop, .deadline = on_deadline, .settled = on_settled
	};
	struct exec *x = ax_malloc(sizeof(*x));
	struct ax_arena arena = { 0 };
	x->worker = worker;
	x->policy = policy;
	x->shim = shim;
	x->root = ax_strdup_heap(ax_sprintf(&arena, "%s/attempts", state_dir));
	ax_arena_done(&arena);
	(void)mkdir(x->root, 0700); /* each start says it when there is none */
	uv_timer_init(axw_loop(worker), &x->timer);
	x->timer.data = x;
	axw_register_executor(worker, "exec", &ops, x);
	adopt_all(x);
	return x;
}

void exec_close(struct exec *x)
{
	struct task *t;
	DL_FOREACH(x->tasks, t)
	stop_watching(t);
	uv_close((uv_handle_t *)&x->timer, NULL);
}

void exec_free(struct exec *x)
{
	if (!x)
		return;
	free(x->root);
	free(x);
}
