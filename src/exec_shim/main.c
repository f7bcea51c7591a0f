#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/num.h"
#include "sys/output_file.h"

static const int64_t SWEEP_PAUSE_MS = 5;
static const int64_t SWEEP_LIMIT_MS = 10000; /* then only the kernel holds them: say so and end */

/* RUNNING -> (TERM sent) STOPPING -> (KILL sent) SWEEPING -> done; an exit of the program skips STOPPING. */
enum phase { RUNNING, STOPPING, SWEEPING };

struct shim {
	struct shim_options opt;
	int dir_fd;
	int signal_fd;
	int timer_fd;
	int control_fd;
	int out_fd;      /* read end of the task's output, -1 when at its end */
	int output_file; /* -1 until something was printed */
	uint64_t output_total;
	pid_t pid; /* the program; 0 once reaped */
	enum phase phase;
	int64_t kill_at_ms; /* STOPPING */
	int64_t sweep_end_ms;
	int64_t timeout_at_ms;
	struct ax_attempt_status status;
};

static int64_t wall_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

/* The result outlives everything from here on. The temporary file got its block at the start, so that a disk
 * that filled up meanwhile does not lose it. */
static int write_status(struct shim *s)
{
	char text[AX_ATTEMPT_STATUS_MAX];
	s->status.end_ms = wall_ms();
	int n = ax_attempt_status_format(&s->status, text);
	int fd = openat(s->dir_fd, "status.tmp", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	write_all(fd, text, (size_t)n);
	if (ftruncate(fd, n) < 0 || fsync(fd) < 0 || close(fd) < 0)
		return -1;
	/* The folder is not synced: after a crash of the machine the attempt is lost, with or without the name. */
	return renameat(s->dir_fd, "status.tmp", s->dir_fd, AX_ATTEMPT_STATUS);
}

static void write_started(struct shim *s)
{
	char text[96];
	int n = snprintf(text, sizeof(text), "shim=%d pid=%d start_ms=%" PRId64 "\n", (int)getpid(), (int)s->pid,
		s->status.start_ms);
	int fd = openat(s->dir_fd, "started.tmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	write_all(fd, text, (size_t)n);
	close(fd);
	(void)renameat(s->dir_fd, "started.tmp", s->dir_fd, AX_ATTEMPT_STARTED);
}

static void keep_output(struct shim *s, const char *bytes, size_t len)
{
	if (s->output_file < 0)
		s->output_file = openat(s->dir_fd, AX_ATTEMPT_OUTPUT, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->output_file >= 0)
		(void)ax_output_append(s->output_file, &s->output_total, bytes, len);
}

/* Takes what the task printed, at most 1 MiB at a time so that orders and deadlines get their turn. */
static void take_output(struct shim *s)
{
	static char buf[65536];
	for (int i = 0; i < 16; i++) {
		ssize_t n = read(s->out_fd, buf, sizeof(buf));
		if (n > 0) {
			keep_output(s, buf, (size_t)n);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0) {
			close(s->out_fd);
			s->out_fd = -1;
		}
		return;
	}
}

static void begin_sweep(struct shim *s, int64_t now)
{
	/* The group's leader is not reaped yet, so its number cannot belong to others. */
	if (s->pid)
		kill(-s->pid, SIGKILL);
	if (s->opt.cgroup)
		shim_kill_cgroup(s->opt.cgroup);
	s->phase = SWEEPING;
	s->sweep_end_ms = now + SWEEP_LIMIT_MS;
}

static void begin_stop(struct shim *s, enum ax_attempt_end why, int64_t grace_ms, int64_t now)
{
	if (s->phase == STOPPING && now + grace_ms < s->kill_at_ms)
		s->kill_at_ms = now + grace_ms; /* a second order may shorten the grace, never lengthen it */
	if (s->phase != RUNNING)
		return;
	s->status.end = (int)why;
	s->phase = STOPPING;
	s->kill_at_ms = now + grace_ms;
	kill(-s->pid, SIGTERM);
	kill(-s->pid, SIGCONT); /* a stopped program cannot act on TERM */
}

static void obey(struct shim *s, const struct ax_attempt_order *order, int64_t now)
{
	if (order->kind == AX_ORDER_DEADLINE)
		s->opt.deadline_ms = order->value;
	else if (order->kind == AX_ORDER_STOP && order->value >= 0 && order->value <= 3600 * 1000)
		begin_stop(s, AX_END_STOP, order->value, now);
}

static void read_orders(struct shim *s, int64_t now)
{
	struct ax_attempt_order orders[32];
	ssize_t n = read(s->control_fd, orders, sizeof(orders));
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(orders[0]); i++)
		obey(s, &orders[i], now);
}

static void read_signals(struct shim *s, int64_t now)
{
	struct signalfd_siginfo si;
	while (read(s->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo != SIGCHLD)
			begin_stop(s, AX_END_STOP, s->opt.grace_ms, now);
	}
}

/* Notes the end of the program and reaps what else ended. The program itself stays a zombie until its group got
 * its KILL. True when no process is left. */
static bool reap(struct shim *s, int64_t now)
{
	siginfo_t si = { 0 };
	if (s->pid && waitid(P_PID, (id_t)s->pid, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid == s->pid) {
		if (si.si_code == CLD_EXITED)
			s->status.code = si.si_status;
		else
			s->status.signal = si.si_status;
		if (s->phase != SWEEPING)
			begin_sweep(s, now);
		s->pid = 0;
	}
	if (s->phase != SWEEPING)
		return false;
	for (;;) {
		si.si_pid = 0;
		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG) < 0)
			return errno == ECHILD;
		if (si.si_pid == 0)
			return false;
		if (si.si_pid == s->pid) { /* ended between the two calls */
			s->status.signal = si.si_code == CLD_EXITED ? 0 : si.si_status;
			s->status.code = si.si_code == CLD_EXITED ? si.si_status : 0;
			s->pid = 0;
		}
	}
}

/* Acts on what is due; returns the next instant at which something will be. */
static int64_t act_on_time(struct shim *s, int64_t now)
{
	if (s->phase == RUNNING && now >= s->timeout_at_ms)
		begin_stop(s, AX_END_TIMEOUT, s->opt.grace_ms, now);
	if (s->phase != SWEEPING && now >= s->opt.deadline_ms) {
		/* Another worker may have the run: no grace. */
		if (s->phase == RUNNING)
			s->status.end = AX_END_DEADLINE;
		begin_sweep(s, now);
	}
	if (s->phase == STOPPING && now >= s->kill_at_ms)
		begin_sweep(s, now);
	if (s->phase == SWEEPING)
		return now + SWEEP_PAUSE_MS;
	int64_t next = s->phase == STOPPING ? s->kill_at_ms : s->timeout_at_ms;
	return next < s->opt.deadline_ms ? next : s->opt.deadline_ms;
}

/* A timer on CLOCK_BOOTTIME, and not the wait of poll(): that one stands still while the machine is suspended. */
static void set_timer(int timer_fd, int64_t at_ms)
{
	struct itimerspec its = { 0 };
	if (at_ms != INT64_MAX) {
		at_ms = at_ms > 1 ? at_ms : 1;
		its.it_value.tv_sec = at_ms / 1000;
		its.it_value.tv_nsec = at_ms % 1000 * 1000000;
	}
	timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &its, NULL);
}

static void run(struct shim *s)
{
	for (;;) {
		int64_t now = ax_boottime_ms();
		int64_t next = act_on_time(s, now);
		if (reap(s, now))
			break;
		if (s->phase == SWEEPING) {
			if (now >= s->sweep_end_ms) {
				s->status.left = 1;
				break;
			}
			shim_kill_children();
			next = now + SWEEP_PAUSE_MS;
		}
		set_timer(s->timer_fd, next);
		struct pollfd fds[] = {
			{ .fd = s->signal_fd, .events = POLLIN },
			{ .fd = s->timer_fd, .events = POLLIN },
			{ .fd = s->control_fd, .events = POLLIN },
			{ .fd = s->out_fd, .events = POLLIN },
		};
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0 && errno != EINTR)
			break;
		now = ax_boottime_ms();
		if (fds[0].revents)
			read_signals(s, now);
		if (fds[2].revents)
			read_orders(s, now);
		if (fds[3].revents)
			take_output(s);
	}
	/* What is still in the pipe (one call takes more than a pipe holds); whoever got hold of its other end and is
	 * no part of the tree is not waited for. */
	if (s->out_fd >= 0)
		take_output(s);
}

static int open_files(struct shim *s, int *ret_out_write)
{
	int out[2];
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	/* Open for writing too: no end of file while no worker has it open. */
	s->control_fd = openat(s->dir_fd, AX_ATTEMPT_CONTROL, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	int reserve = openat(s->dir_fd, "status.tmp", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (s->signal_fd < 0 || s->timer_fd < 0 || s->control_fd < 0 || reserve < 0 || pipe2(out, O_CLOEXEC) < 0)
		return -1;
	int err = posix_fallocate(reserve, 0, AX_ATTEMPT_STATUS_MAX);
	close(reserve);
	if (err) {
		errno = err;
		return -1;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	s->out_fd = out[0];
	*ret_out_write = out[1];
	return 0;
}

static int start(struct shim *s)
{
	int out_write;
	s->output_file = -1;
	s->status.start_ms = wall_ms();
	if (open_files(s, &out_write) < 0) {
		s->status.end = AX_END_ERROR;
		s->status.stage = AX_STAGE_SETUP;
		s->status.sys_errno = errno;
		return -1;
	}
	s->pid = shim_spawn(&s->opt, s->dir_fd, out_write, &s->status);
	close(out_write);
	if (s->pid < 0)
		return -1;
	s->timeout_at_ms = s->opt.timeout_ms ? ax_add_sat(ax_boottime_ms(), s->opt.timeout_ms) : INT64_MAX;
	write_started(s);
	return 0;
}

static int64_t number(const char *text, int64_t min, int64_t max)
{
	int64_t value;
	if (!ax_parse_i64(text, strlen(text), min, max, &value)) {
		fprintf(stderr, "ax-exec: '%s' is not a number from %" PRId64 " to %" PRId64 "\n", text, min, max);
		exit(2);
	}
	return value;
}

static void parse_groups(struct shim_options *opt, char *list)
{
	for (char *save, *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (opt->n_groups == SHIM_GROUPS_MAX) {
			fprintf(stderr, "ax-exec: more than %d groups\n", SHIM_GROUPS_MAX);
			exit(2);
		}
		opt->groups[opt->n_groups++] = (gid_t)number(word, 0, UINT32_MAX - 1);
	}
}

static void usage(FILE *to)
{
	fputs("usage: ax-exec --dir DIR [options] -- PROGRAM [ARGUMENT…]\n"
	      "Runs one process attempt of ax-worker in DIR. Not meant to be called by hand.\n"
	      "  --cwd DIR          where the program starts (/)\n"
	      "  --timeout-ms N     time limit, 0 = none\n"
	      "  --grace-ms N       from TERM to KILL (5000)\n"
	      "  --deadline-ms N    CLOCK_BOOTTIME instant at which all is killed unless it is extended\n"
	      "  --uid N --gid N --groups N,N…   run-as user\n"
	      "  --cgroup DIR       cgroup v2 leaf for the program\n"
	      "Exit: 0 the status file is written, 1 it could not be, 2 bad usage.\n",
		to);
}

static void parse_options(int argc, char **argv, struct shim_options *opt)
{
	static const struct option options[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "cwd", required_argument, NULL, 'c' },
		{ "timeout-ms", required_argument, NULL, 't' },
		{ "grace-ms", required_argument, NULL, 'g' },
		{ "deadline-ms", required_argument, NULL, 'D' },
		{ "uid", required_argument, NULL, 'u' },
		{ "gid", required_argument, NULL, 'G' },
		{ "groups", required_argument, NULL, 's' },
		{ "cgroup", required_argument, NULL, 'C' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	*opt = (struct shim_options){ .cwd = "/", .grace_ms = 5000, .deadline_ms = INT64_MAX };
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 'd':
			opt->dir = optarg;
			break;
		case 'c':
			opt->cwd = optarg;
			break;
		case 't':
			opt->timeout_ms = number(optarg, 0, INT64_MAX);
			break;
		case 'g':
			opt->grace_ms = number(optarg, 0, 3600 * 1000);
			break;
		case 'D':
			opt->deadline_ms = number(optarg, 0, INT64_MAX);
			break;
		case 'u':
			opt->uid = (uid_t)number(optarg, 0, UINT32_MAX - 1);
			opt->set_user = true;
			break;
		case 'G':
			opt->gid = (gid_t)number(optarg, 0, UINT32_MAX - 1);
			break;
		case 's':
			parse_groups(opt, optarg);
			break;
		case 'C':
			opt->cgroup = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	opt->argv = argv + optind;
	if (!opt->dir || !opt->argv[0]) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct shim s = { 0 };
	parse_options(argc, argv, &s.opt);
	s.dir_fd = open(s.opt.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.dir_fd < 0) {
		fprintf(stderr, "ax-exec: cannot open %s: %s\n", s.opt.dir, strerror(errno));
		return 1;
	}
	fcntl(AX_ATTEMPT_LOCK_FD, F_SETFD, FD_CLOEXEC); /* the lock lives exactly as long as this process */
	setsid();
	umask(077);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (start(&s) == 0)
		run(&s);
	return write_status(&s) == 0 ? 0 : 1;
}
