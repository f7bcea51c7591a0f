#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include "adapters/sqlite/memory.h"
#include "axworker.h"
#include "base/arena.h"
#include "crash_points.h"
#include "exec.h"
#include "http.h"
#include "options.h"
#include "plugin.h"
#include "policy.h"
#include "version.h"

struct program {
	pthread_mutex_t lock; /* of worker */
	struct options options;
	struct policy policy;
	struct axw *worker;
	struct exec *exec;
	struct http *http;
	int signal_fd;
	int parent_fd; /* pidfd of the process that a --dev worker ends with, or -1 */
};

_Noreturn static void cannot_start(const char *why)
{
	fprintf(stderr, "ax-worker: %s\n", why);
	exit(1);
}

/* An option that says what cannot be: starting again does not help. */
_Noreturn static void bad_option(const char *why)
{
	fprintf(stderr, "ax-worker: %s\n", why);
	exit(2);
}

static void drain(struct program *p, int64_t grace_ms)
{
	pthread_mutex_lock(&p->lock);
	if (p->worker)
		axw_drain(p->worker, grace_ms);
	pthread_mutex_unlock(&p->lock);
}

/* SIGTERM, SIGINT and SIGHUP (a terminal that is gone) drain, a second one ends at once, and so does the end of the
 * parent. */
static void *watch_signals(void *arg)
{
	struct program *p = arg;
	int asked = 0;
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = p->signal_fd, .events = POLLIN },
			{ .fd = p->parent_fd, .events = POLLIN },
		};
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		struct signalfd_siginfo si;
		if (fds[0].revents && read(p->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
			drain(p, asked++ ? 0 : p->options.drain_ms);
		if (fds[1].revents) {
			drain(p, 0);
			p->parent_fd = -1;
		}
	}
}

static void close_executors(void *user)
{
	struct program *p = user;
	exec_close(p->exec);
	http_close(p->http);
}

static void block_signals(struct program *p)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL); /* before any thread is made: all inherit it */
	signal(SIGPIPE, SIG_IGN);
	p->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
}

/* Thousands of calls at a time are as many sockets. ax-exec gives tasks the usual limit back. */
static void raise_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void load_policy(struct program *p)
{
	struct ax_err err;
	if (policy_load(&p->policy, p->options.policy, &err) != AX_OK)
		bad_option(err.msg);
	if (p->options.dev)
		policy_dev(&p->policy);
}

/* One that was named must be there, needed or not. */
static void find_shim(const struct program *p)
{
	char why[PATH_MAX + 100];
	if ((p->options.shim_named || p->policy.allow_exec) && access(p->options.shim, X_OK) < 0) {
		if (!p->options.shim_named)
			cannot_start("ax-exec is not beside this program: name it with --ax-exec");
		snprintf(why, sizeof(why), "--ax-exec: %s cannot be run: %s", p->options.shim, strerror(errno));
		bad_option(why);
	}
}

/* Whoever started this program may be gone by now, and another process be the parent: so it can give its number. */
static void find_parent(struct program *p)
{
	pid_t pid = p->options.dev_parent ? (pid_t)p->options.dev_parent : getppid();
	p->parent_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p->parent_fd < 0 && errno == ESRCH)
		cannot_start("the process that it is to end with is gone");
}

static void start(struct program *p)
{
	char error[400];
	pthread_t watcher;
	struct axw_options options = {
		.size = sizeof(options),
		.server = p->options.server,
		.token_file = p->options.token_file,
		.name = p->options.name,
		.groups = p->options.groups,
		.state_dir = p->options.state,
		.ca_file = p->options.ca,
		.tags = p->options.tags,
		.journal = p->options.journal,
		.version = AX_VERSION,
	};
	p->worker = axw_new(&options, error, sizeof(error));
	if (!p->worker)
		(errno == EINVAL ? bad_option : cannot_start)(error);
	p->http = http_new(p->worker, &p->policy, p->options.server);
	p->exec = exec_new(p->worker, &p->policy, p->options.state, p->options.shim);
	struct ax_err err;
	if (p->options.plugin && plugin_load(p->worker, p->options.plugin, &err) != AX_OK)
		bad_option(err.msg);
	axw_on_close(p->worker, close_executors, p);
	if (axw_start(p->worker) < 0 || pthread_create(&watcher, NULL, watch_signals, p) != 0)
		cannot_start("no threads can be had");
	pthread_detach(watcher);
}

/* What gets no memory is not to be called malformed, a URL that cannot be called, or a spool that is damaged. In a
 * program of somebody else's libaxworker leaves these libraries alone. */
static void lend_memory(void)
{
	uv_replace_allocator(ax_malloc, ax_realloc, ax_calloc, free);
	json_set_alloc_funcs(ax_malloc, free);
	ax_sqlite_lend_memory();
	AX_ASSERT(curl_global_init_mem(CURL_GLOBAL_DEFAULT, ax_malloc, free, ax_realloc, ax_strdup_heap, ax_calloc) ==
		CURLE_OK);
}

int main(int argc, char **argv)
{
	static struct program p = { .lock = PTHREAD_MUTEX_INITIALIZER, .parent_fd = -1 };
#ifdef AX_CRASH_POINTS
	if (argc == 2 && strcmp(argv[1], "--list-crash-points") == 0)
		return crash_points_print();
#endif
	lend_memory();
	options_read(argc, argv, &p.options);
	umask(077);
	if (p.options.dev)
		find_parent(&p);
	block_signals(&p);
	raise_descriptors();
	load_policy(&p);
	find_shim(&p);
	start(&p);
	int end = axw_wait(p.worker);
	pthread_mutex_lock(&p.lock);
	axw_free(p.worker);
	p.worker = NULL;
	pthread_mutex_unlock(&p.lock);
	exec_free(p.exec);
	http_free(p.http);
	policy_done(&p.policy);
	free(p.options.tags);
	return end;
}
