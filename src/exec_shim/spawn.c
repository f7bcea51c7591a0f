#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct failure {
	int stage;
	int sys_errno;
};

_Noreturn static void fail(int report_fd, int stage)
{
	struct failure f = { .stage = stage, .sys_errno = errno };
	ssize_t ignored = write(report_fd, &f, sizeof(f));
	(void)ignored; /* the parent sees an empty pipe and calls it a set-up failure */
	_exit(127);
}

/* Asks the kernel itself: libc's signal() does not touch the two signals that it keeps for threads, and a parent that
 * was started by posix_spawn() may have them ignored. */
static void reset_signals(void)
{
	static const struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask[2];
	} standard = { .handler = SIG_DFL };
	for (int sig = 1; sig <= 64; sig++)
		(void)syscall(SYS_rt_sigaction, sig, &standard, NULL, (size_t)8); /* KILL and STOP refuse */
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_descriptors(int dir_fd, int out_fd, int report_fd)
{
	int in = openat(dir_fd, AX_ATTEMPT_STDIN, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0 && errno == ENOENT)
		in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in < 0 || dup2(in, 0) < 0)
		fail(report_fd, AX_STAGE_STDIN);
	if (dup2(out_fd, 1) < 0 || dup2(out_fd, 2) < 0 || syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		fail(report_fd, AX_STAGE_SETUP);
}

/* No core files, and the soft limit of descriptors that programs expect; the worker raised its own. */
static void set_limits(void)
{
	struct rlimit core = { 0, 0 };
	struct rlimit files;
	setrlimit(RLIMIT_CORE, &core);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > 1024) {
		files.rlim_cur = 1024;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void join_cgroup(const char *leaf, int report_fd)
{
	int dir = open(leaf, O_DIRECTORY | O_CLOEXEC);
	int procs = dir < 0 ? -1 : openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (procs < 0 || write(procs, "0", 1) != 1)
		fail(report_fd, AX_STAGE_CGROUP);
}

static void drop_rights(const struct shim_options *opt, int report_fd)
{
	if (opt->set_user &&
		(setgroups((size_t)opt->n_groups, opt->groups) < 0 || setresgid(opt->gid, opt->gid, opt->gid) < 0 ||
			setresuid(opt->uid, opt->uid, opt->uid) < 0))
		fail(report_fd, AX_STAGE_USER);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fail(report_fd, AX_STAGE_USER);
}

_Noreturn static void become_program(
	const struct shim_options *opt, int dir_fd, int out_fd, int report_fd, pid_t shim_pid)
{
	setsid();
	reset_signals();
	set_descriptors(dir_fd, out_fd, report_fd);
	umask(077);
	set_limits();
	if (opt->cgroup)
		join_cgroup(opt->cgroup, report_fd);
	drop_rights(opt, report_fd);
	/* After the change of user, which clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != shim_pid)
		_exit(127); /* ax-exec died before the line above */
	if (chdir(opt->cwd) < 0)
		fail(report_fd, AX_STAGE_CWD);
	extern char **environ;
	execve(opt->argv[0], opt->argv, environ);
	fail(report_fd, AX_STAGE_PROGRAM);
}

pid_t shim_spawn(const struct shim_options *opt, int dir_fd, int out_fd, struct ax_attempt_status *status)
{
	int report[2];
	pid_t shim_pid = getpid();
	struct failure f = { .stage = AX_STAGE_FORK };
	pid_t pid = pipe2(report, O_CLOEXEC) < 0 ? -1 : fork();
	if (pid < 0) {
		f.sys_errno = errno;
	} else if (pid == 0) {
		become_program(opt, dir_fd, out_fd, report[1], shim_pid);
	} else {
		close(report[1]);
		ssize_t n;
		do {
			n = read(report[0], &f, sizeof(f));
		} while (n < 0 && errno == EINTR);
		close(report[0]);
		if (n == 0)
			return pid;
	}
	status->end = AX_END_ERROR;
	status->stage = f.stage;
	status->sys_errno = f.sys_errno;
	return -1;
}
