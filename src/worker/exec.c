#include "exec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>
#include "base/num.h"
#include "exec_task.h"
#include "leftovers.h"

static const uint64_t LOOK_MS = 250; /* how often the output of running tasks is looked at */
enum { RUN_MAX = 4 << 20 };

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

static void look_at_tasks(uv_timer_t *timer);

static void list(struct task *t)
{
	struct exec *x = t->exec;
	t->listed = true;
	DL_APPEND(x->tasks, t);
	if (!uv_is_active((uv_handle_t *)&x->timer))
		uv_timer_start(&x->timer, look_at_tasks, LOOK_MS, LOOK_MS);
}

static void unlist(struct task *t)
{
	if (!t->listed)
		return;
	t->listed = false;
	DL_DELETE(t->exec->tasks, t);
	if (!t->exec->tasks)
		uv_timer_stop(&t->exec->timer);
}

/* What is left of it is its folder, as long as a server has not heard all output. */
static void free_task(struct task *t)
{
	unlist(t);
	axw_set_data(t->attempt, NULL);
	if (t->output_fd >= 0)
		close(t->output_fd);
	if (t->dir_fd >= 0)
		close(t->dir_fd);
	free(t->again);
	free(t);
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
	if (exec_output_hand_on(t, true))
		unlist(t);
	if (exec_read_status(t->dir_fd, &status)) {
		exec_finish(t, &status);
		return;
	}
	leftovers_kill(axw_gid(t->attempt), axw_fence(t->attempt), t->dir_fd);
	exec_finish_unknown(t);
}

static void pidfd_ready(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	task_ended(poll->data);
}

/* It ended while too much output waited for a server. */
static void hand_on_rest(struct task *t)
{
	if (!exec_output_hand_on(t, true))
		return;
	unlist(t);
	axw_output_done(t->attempt);
	if (t->settled)
		free_task(t);
}

static void look_at_tasks(uv_timer_t *timer)
{
	struct exec *x = timer->data;
	struct task *t;
	struct task *next;
	DL_FOREACH_SAFE(x->tasks, t, next)
	{
		if (t->ended)
			hand_on_rest(t);
		else if (!t->watch && !exec_is_locked(t->dir_fd)) /* adopted: not our child */
			task_ended(t);
		else {
			exec_progress_look(t);
			exec_output_hand_on(t, false);
		}
	}
}

static void attempt_dir(const struct exec *x, const struct axw_attempt *a, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/%s-%" PRId64, x->root, axw_gid(a), axw_fence(a));
}

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

static void launch(struct exec *x, struct axw_attempt *a, const struct exec_spec *spec)
{
	char dir[PATH_MAX];
	char message[400];
	attempt_dir(x, a, dir);
	if (mkdir(dir, 0700) < 0) {
		snprintf(message, sizeof(message), "the worker cannot make the attempt's folder: %s", strerror(errno));
		exec_refuse(a, AXW_FAILED, message);
		return;
	}
	struct task *t = new_task(x, a, dir);
	int rc = exec_start_shim(t, spec);
	if (rc) {
		snprintf(message, sizeof(message), "the worker cannot start ax-exec: %s", strerror(rc));
		exec_refuse(a, AXW_FAILED, message);
		return;
	}
	watch(t);
	list(t);
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
		exec_refuse(a, AXW_REFUSED, err.msg);
	ax_arena_done(&arena);
}

static void on_stop(struct axw_attempt *a, enum axw_stop why, int64_t grace_ms, void *user)
{
	(void)why;
	(void)user;
	struct task *t = axw_data(a);
	if (t && !t->ended)
		exec_order(t->dir_fd, AX_ORDER_STOP, grace_ms);
}

static void on_deadline(struct axw_attempt *a, int64_t boottime_ms, void *user)
{
	(void)user;
	struct task *t = axw_data(a);
	if (t && !t->ended)
		exec_order(t->dir_fd, AX_ORDER_DEADLINE, boottime_ms);
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
	(void)unlinkat(t->dir_fd, AX_ATTEMPT_STATUS, 0); /* from here on the spool has the result */
	t->settled = true;
	if (!t->listed)
		free_task(t);
}

static void on_gone(struct axw_attempt *a, void *user)
{
	struct exec *x = user;
	struct task *t = axw_data(a);
	char dir[PATH_MAX];
	if (t)
		free_task(t);
	attempt_dir(x, a, dir);
	exec_remove_dir(dir);
}

/* ---- after a restart */

static void adopt(struct exec *x, const char *dir)
{
	struct ax_arena arena = { 0 };
	struct ax_attempt_status status;
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return;
	bool locked = exec_is_locked(dir_fd);
	bool ended = exec_read_status(dir_fd, &status);
	char *run = exec_read_file(&arena, dir_fd, AX_ATTEMPT_RUN, RUN_MAX);
	bool lost = ended && status.end == AX_END_DEADLINE;
	struct axw_attempt *a = run ? axw_adopt_stored(x->worker, run) : NULL;
	bool stored = a != NULL;
	if (run && !stored && (locked || (ended && !lost)))
		a = axw_adopt(x->worker, run);
	if (a) {
		struct task *t = new_task(x, a, dir);
		exec_output_resume(t);
		list(t);
		axw_log(x->worker, AXW_INFO, stored ? "output_adopted" : "attempt_adopted",
			ax_sprintf(&arena, "{\"gid\":\"%s\",\"fence\":%" PRId64 ",\"ended\":%s}", axw_gid(a),
				axw_fence(a), ended || stored ? "true" : "false"));
		t->ended = t->settled = stored;
		if (stored)
			hand_on_rest(t);
	} else {
		/* Everything was delivered, or ax-exec was killed, or the machine was. */
		int64_t fence;
		const char *name = strrchr(dir, '/') + 1;
		const char *dash = strchr(name, '-');
		if (locked)
			exec_order(dir_fd, AX_ORDER_STOP, 0);
		else if (dash && ax_parse_i64(dash + 1, strlen(dash + 1), 0, INT64_MAX, &fence))
			leftovers_kill(ax_strndup(&arena, name, (size_t)(dash - name)), fence, dir_fd);
		if (!locked)
			exec_remove_dir(dir);
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
	static const struct axw_executor ops = { .size = sizeof(ops),
		.start = on_start,
		.stop = on_stop,
		.deadline = on_deadline,
		.settled = on_settled,
		.gone = on_gone };
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
	struct task *t;
	struct task *next;
	if (!x)
		return;
	DL_FOREACH_SAFE(x->tasks, t, next)
	{
		free(t->again);
		free(t);
	}
	free(x->root);
	free(x);
}
