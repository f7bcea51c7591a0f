#ifndef AX_CORE_FAILURE_H
#define AX_CORE_FAILURE_H

/* Failed runs, and the groups that failures with one cause form. A failure is written once, in the transaction of the
 * run's end; counting it into its group comes later, in batches. Text and instants as in core/task.h. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/fingerprint.h"
#include "core/sentence.h"

enum {
	AX_HOUR_MS = 3600 * 1000,
	AX_TREND_HOURS = 48, /* counts per hour are kept so long */
	AX_GROWTH_HOURS = 24,
	AX_GROWTH_MIN = 10,
	AX_GROWTH_FACTOR = 3,
};

/* One run that ended as FAILED or TIMEOUT. Its group is that of (group_key, fingerprint). */
struct ax_failure {
	int64_t gid;
	int64_t fingerprint;
	const char *group_key;
	int64_t task_id, version;
	const char *executor_key;
	const char *reason;
	int64_t code;
	const char *title;
	const char *worker;
	int64_t time;
	bool muted;        /* its group was, when it ended: nobody was told */
	bool folded;       /* counted into its group */
	int64_t rerun_gid; /* the newest run that repeats it; 0 = none */
};

enum ax_failure_state { AX_FAILURE_OPEN = 0, AX_FAILURE_MUTED = 1, AX_FAILURE_RESOLVED = 2 };

struct ax_failure_group {
	int64_t id;
	int64_t fingerprint; /* unique in the group of tasks */
	const char *group_key;
	const char *executor_key;
	const char *reason;
	int64_t code;
	const char *title;

	int64_t count; /* of all failures ever, also those whose runs are gone */
	int64_t first_seen_time, last_seen_time;
	int64_t sample_gid;  /* the newest failed run */
	int64_t growth_time; /* when it was found to grow, last; 0 = never */

	enum ax_failure_state state; /* as stored; see ax_failure_state_at */
	int64_t state_time;
	const char *state_by;
	const char *state_reason;
	int64_t mute_until_time;
	int64_t reopen_count; /* times that it failed again after somebody had called it resolved */
	const char *assignee; /* or "" */
	const char *note;
	int64_t rerun_due_time; /* when the last of its runs that are run again is due; 0 = none was */
	int64_t rev;            /* grows with every change of the row: compare-and-swap */
};

/* How often a group failed in one place: by a version of a task (worker ""), or on a worker (task_id and version 0). */
struct ax_failure_spread {
	int64_t failure_id;
	int64_t task_id, version;
	const char *worker;
	int64_t count;
	int64_t first_seen_time, last_seen_time;
};

/* How often a group failed in one hour, counted from 1970. */
struct ax_failure_hour {
	int64_t failure_id;
	int64_t hour;
	int64_t count;
};

/* Did its last attempt fail, time out or get lost? Of a run with shards the parent fails, and no shard by itself. */
bool ax_run_has_failed(const struct ax_run *run);

/* The row of a run that has just ended as FAILED or TIMEOUT. Borrows from the run and from `print`. */
struct ax_failure ax_failure_of(const struct ax_run *run, const struct ax_fingerprint *print);

/* A group that has counted nothing yet. */
struct ax_failure_group ax_failure_group_of(const struct ax_failure *failure);

/* A muted group is open again when its time is over. */
enum ax_failure_state ax_failure_state_at(const struct ax_failure_group *group, int64_t now);
const char *ax_failure_state_name(enum ax_failure_state state);

/* What counting a failure means to people. */
enum ax_failure_news {
	AX_FAILURE_NOTHING_NEW,
	AX_FAILURE_NEW,    /* the first of its kind */
	AX_FAILURE_BACK,   /* somebody had called it resolved */
	AX_FAILURE_UNMUTED /* the first one after its mute was over */
};

/* Counts a failure into its group. */
enum ax_failure_news ax_failure_count(struct ax_failure_group *group, const struct ax_failure *failure, int64_t now);

/* Grows: in this hour there are at least AX_GROWTH_MIN failures, and AX_GROWTH_FACTOR times as many as in the mean of
 * the hours before it since the group was first seen, of which the last AX_GROWTH_HOURS count. A group that began in
 * this hour is new, and does not grow. `hours` are those of the group, in any order. */
bool ax_failure_grows(const struct ax_failure_group *group, const struct ax_failure_hour *hours, int n, int64_t now);

/* --- where it fails: what can be said, and what cannot ------------------------------------------------------------ */

/* Runs of the group's tasks that went well since it was first seen, as far as they were looked at. */
struct ax_failure_facts {
	int64_t count;
	int n_tasks, n_workers;    /* n_workers 0: not of all failures it is known where they were */
	const char *worker;        /* the only one, when n_workers is 1 */
	int64_t success_here;      /* on it */
	int64_t success_elsewhere; /* on others */
	int64_t task_id;           /* the only one, when n_tasks is 1 */
	const char *task_name;     /* "" = deleted */
	int64_t first_version;     /* the lowest that failed */
	int64_t success_before;    /* runs of lower versions that went well before the first failure */
	int64_t success_since;     /* … of that version or higher ones */
	const char *executor_key;
	int64_t tasks_of_executor; /* tasks of its group with the executor that ended a run since; -1 = not counted */
};

struct ax_failure_hint {
	const char *code; /* stable; docs/failures.md lists them */
	struct ax_said said;
	enum ax_sentence advice; /* what to do, with the same parameters; AX_SENTENCES = nothing to say */
};

enum { AX_FAILURE_HINTS_MAX = 4 };

/* The sentences that the facts bear out. Returns their number. */
int ax_failure_hints(
	const struct ax_failure_facts *facts, struct ax_arena *arena, struct ax_failure_hint ret[AX_FAILURE_HINTS_MAX]);

#endif
