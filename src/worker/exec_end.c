#include "exec_task.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
	exec_output_last_line(t, line, sizeof(line));
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
	args.more_output = t->listed;
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

void exec_finish(struct task *t, const struct ax_attempt_status *s)
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

void exec_finish_unknown(struct task *t)
{
	struct ax_attempt_status none = { 0 };
	finish(t, outcome_of_stop(t), &none,
		"ax-exec ended without a word (killed, or no room on the disk): the task was ended, how far it got is "
		"unknown");
}

void exec_refuse(struct axw_attempt *a, enum axw_outcome outcome, const char *message)
{
	struct axw_finish_args args = { .size = sizeof(args), .outcome = outcome, .duration_ms = 1 };
	axw_message(a, message);
	axw_finish(a, &args);
}
