#ifndef AX_CLI_CTL_H
#define AX_CLI_CTL_H

/* What every command of axctl shares: exit codes, the table row that names a command, and what it is handed. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "cli/args.h"
#include "cli/client.h"

/* The exit codes are part of the interface (docs/axctl.md). */
enum ax_exit {
	AX_EXIT_OK = 0,
	AX_EXIT_NO = 1,        /* the answer is "no": audit not clean, run failed */
	AX_EXIT_USAGE = 2,     /* wrong arguments, or input that the server refuses */
	AX_EXIT_NO_SERVER = 3, /* no server answers, or it cannot do its work now */
	AX_EXIT_DENIED = 4,
	AX_EXIT_NOT_FOUND = 5,
	AX_EXIT_CONFLICT = 6,
	AX_EXIT_NOT_YET = 7, /* --wait-seconds are over, the run goes on */
};

/* One call of axctl. */
struct ax_ctl {
	struct ax_args args;
	struct ax_arena arena; /* whatever the call needs; given back at its end */
	struct ax_client client;
	bool json;
};

struct ax_verb {
	const char *name;     /* "list"; "" for a command without verbs */
	const char *operands; /* for the usage: "TASK", "" */
	int min, max;         /* number of operands */
	const char *about;    /* one line */
	const struct ax_opt *opts;
	int (*run)(struct ax_ctl *ctl); /* returns an enum ax_exit */
	bool offline;                   /* needs no server */
};

struct ax_noun {
	const char *name;
	const char *about;
	const struct ax_verb *verbs; /* ends with a row whose run is NULL */
};

extern const struct ax_noun ax_nouns[]; /* main.c; ends with a row whose name is NULL */
extern const struct ax_opt ax_common_opts[];

extern const struct ax_verb ax_task_verbs[];
extern const struct ax_verb ax_run_verbs[];
extern const struct ax_verb ax_event_verbs[];
extern const struct ax_verb ax_failure_verbs[];
extern const struct ax_verb ax_canary_verbs[];
extern const struct ax_verb ax_group_verbs[];
extern const struct ax_verb ax_backfill_verbs[];
extern const struct ax_verb ax_calendar_verbs[];
extern const struct ax_verb ax_alert_verbs[];
extern const struct ax_verb ax_channel_verbs[];
extern const struct ax_verb ax_worker_verbs[];
extern const struct ax_verb ax_server_verbs[];
extern const struct ax_verb ax_token_verbs[];
extern const struct ax_verb ax_cron_verbs[];
extern const struct ax_verb ax_why_verbs[];
extern const struct ax_verb ax_audit_verbs[];
extern const struct ax_verb ax_overview_verbs[];
extern const struct ax_verb ax_changes_verbs[];
extern const struct ax_verb ax_import_verbs[];
extern const struct ax_verb ax_setup_verbs[];
extern const struct ax_verb ax_completion_verbs[];

/* Says on standard error what is wrong ("axctl: field: sentence") and returns `code`. */
int ax_ctl_fail(int code, const char *field, const char *fmt, ...) AX_PRINTF(3, 4);

int64_t ax_ctl_now_ms(void);

/* Option values, read by rule; on a bad one they have said so and return AX_EXIT_USAGE. Nothing is written when the
 * option was not given. */
int ax_ctl_opt_i64(const struct ax_ctl *ctl, const char *name, int64_t min, int64_t max, int64_t *ret);
int ax_ctl_opt_time(const struct ax_ctl *ctl, const char *name, int64_t *ret_ms);     /* see ax_value_time */
int ax_ctl_opt_duration(const struct ax_ctl *ctl, const char *name, int64_t *ret_ms); /* see ax_value_duration */

/* --limit of a list: 0 = all. A table stops at 50 rows unless told otherwise; a program wants all. */
int ax_ctl_opt_limit(const struct ax_ctl *ctl, int64_t *ret);
#define AX_CTL_LIMIT                                                                                                   \
	{                                                                                                              \
		"limit", NULL, "N", "at most so many, 0 for all (50; with --json all)"                                 \
	}

/* The whole of a file, "-" for standard input. */
int ax_ctl_read_file(struct ax_ctl *ctl, const char *path, size_t max_bytes, char **ret, size_t *ret_len);
/* JSON from the text itself, from FILE for "@FILE", from standard input for "-". The caller owns *ret. */
int ax_ctl_json(struct ax_ctl *ctl, const char *field, const char *text, json_t **ret);

/* The body of a call that says why: what --reason says, or nothing. The caller owns it. */
json_t *ax_ctl_reason(const struct ax_ctl *ctl);

/* A task by id, GROUP/NAME, or NAME when only one group has it. The caller owns *ret_task. */
int ax_ctl_task(struct ax_ctl *ctl, const char *operand, json_t **ret_task);

/* --wait and --wait-seconds: how long to wait for a run, 0 = not at all, INT64_MAX = as long as it takes. */
int ax_ctl_opt_wait(const struct ax_ctl *ctl, int64_t *ret_ms);
#define AX_CTL_WAIT_SECONDS                                                                                            \
	{                                                                                                              \
		"wait-seconds", NULL, "N", "wait so many seconds at most; exit 7 when it has not ended then"           \
	}

/* Waits until the run has ended; *ret_run is its last state. AX_EXIT_OK for SUCCESS, AX_EXIT_NO for any other end,
 * AX_EXIT_NOT_YET when it has not ended after limit_ms. */
int ax_ctl_wait(struct ax_ctl *ctl, const char *gid, int64_t limit_ms, json_t **ret_run);
bool ax_run_ended(const json_t *run);

#endif
