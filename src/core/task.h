#ifndef AX_CORE_TASK_H
#define AX_CORE_TASK_H

/* The three nouns of AX as plain structs: task (what should happen), trigger (why now: kind and fire key of
 * a run) and run (what happened). Fields only; decisions are in the files beside this one.
 *
 * Text is NUL-terminated UTF-8 borrowed from the caller or an arena, never NULL unless the comment says so.
 * Instants are milliseconds UTC; 0 means "not yet". Column names of the tables are those of the fields. */

#include <stdbool.h>
#include <stdint.h>

#include "core/chain.h"
#include "core/lane.h"
#include "core/route.h"
#include "core/run_fsm.h"

enum ax_task_type { AX_TASK_SCHEDULED = 1, AX_TASK_DELAY = 2, AX_TASK_EVENT = 3 };

/* A task's own status; another thing than the states of its runs. */
enum ax_task_status { AX_TASK_CREATED = 0, AX_TASK_ENABLED = 1, AX_TASK_PAUSED = 2, AX_TASK_DELETING = 3 };

enum ax_overlap { AX_OVERLAP_QUEUE = 0, AX_OVERLAP_SKIP = 1, AX_OVERLAP_REPLACE = 2, AX_OVERLAP_ALLOW = 3 };
enum ax_backoff { AX_BACKOFF_EXPONENTIAL = 0, AX_BACKOFF_FIXED = 1, AX_BACKOFF_LIST = 2 };
enum ax_calendar_mode { AX_CALENDAR_INCLUDE = 0, AX_CALENDAR_EXCLUDE = 1 };
enum ax_misfire { AX_MISFIRE_FIRE_ONCE = 0, AX_MISFIRE_FIRE_ALL = 1, AX_MISFIRE_SKIP = 2 };

/* What a task is: everything that a person writes, as task_def.def lists it. Every change of it is a new version. */
struct ax_task_def {
#define AX_DEF_TEXT(name, ...) const char *name;
#define AX_DEF_OPTIONAL(name, ...) const char *name;
#define AX_DEF_NUMBER(name, ...) int64_t name;
#define AX_DEF_TIME(name, ...) int64_t name;
#define AX_DEF_ENUM(type, name, ...) type name;
#define AX_DEF_FLAG(name, ...) bool name;
#define AX_DEF_NUMBERS(name, ...) const char *name;
#define AX_DEF_IDS(name, ...) const char *name;
#define AX_DEF_JSON(name, ...) const char *name;
#include "core/task_def.def"
#undef AX_DEF_TEXT
#undef AX_DEF_OPTIONAL
#undef AX_DEF_NUMBER
#undef AX_DEF_TIME
#undef AX_DEF_ENUM
#undef AX_DEF_FLAG
#undef AX_DEF_NUMBERS
#undef AX_DEF_IDS
#undef AX_DEF_JSON
};

/* Does it fire by itself? What follows upstreams alone is of type scheduled without a schedule. */
static inline bool ax_def_has_schedule(const struct ax_task_def *def)
{
	return def->task_type == AX_TASK_SCHEDULED && def->cron_expr[0] != '\0';
}

struct ax_task {
	int64_t id;
	struct ax_task_def def;
	enum ax_task_status status;
	int64_t version; /* grows with the definition only */
	int64_t create_time, update_time;
	const char *updated_by;

	/* The scheduler's own columns. */
	int64_t next_trigger_time; /* when the next fire is due, jitter included; 0 = none: not enabled, exhausted, or
				      waiting for a run to end (@after) */
	int64_t last_trigger_time; /* the newest fire dealt with */
	int64_t anchor_time;       /* @every counts from here */
	int64_t calendar_version;  /* of def.calendar, that it follows; 0 = none */
	int64_t epoch_time;        /* from_time of its newest epoch */
	bool exhausted;            /* the schedule has no further fire */

	/* A version on trial takes a share of the runs (core/canary.h); 0 = none. */
	int64_t canary_version, canary_percent;

	/* A copy for lists: the newest run that ended. The end only grows, whatever the clock does: @after counts from
	 * it. */
	int64_t last_run_gid;
	enum ax_run_state last_run_status;
	int64_t last_run_end_time;
	/* From when its absence is counted: its newest success, or when it was enabled. */
	int64_t absence_time;
	const char *durations; /* how long runs took: core/duration.h */
	bool ending;           /* being deleted: ticks cancel what is left of its runs, some at a time */
};

/* Why a run exists. (task_id, kind, fire_key, shard) is unique: one fire, one run. */
enum ax_run_kind {
	AX_KIND_SCHEDULE = 1, /* fire_key: nominal due ms */
	AX_KIND_MISS = 2,     /* fire_key: first missed ms */
	AX_KIND_DELAY = 3,    /* fire_key: dedup key or own gid */
	AX_KIND_EVENT = 4,    /* fire_key: event id */
	AX_KIND_MANUAL = 5,   /* fire_key: request key or own gid */
	AX_KIND_CHAIN = 6,    /* fire_key: upstream gid; of a join: "b" and the batch */
};

/* What keeps a WAITING run from being claimed although a worker has room. SPREAD: it is a parent whose shards are to be
 * made, at deadline_time. */
enum ax_hold { AX_HOLD_NONE = 0, AX_HOLD_OVERLAP = 1, AX_HOLD_PAUSED = 2, AX_HOLD_SPREAD = 3 };

/* Does one worker do a fire, or is it spread over several runs, the shards of a parent? */
enum ax_spread { AX_SPREAD_NONE = 0, AX_SPREAD_SHARDS = 1, AX_SPREAD_BROADCAST = 2 };

enum ax_cancel { AX_CANCEL_NONE = 0, AX_CANCEL_ASKED = 1, AX_CANCEL_STOPPING = 2, AX_CANCEL_STOPPED = 3 };

struct ax_run {
	int64_t gid;
	int64_t task_id;
	const char *group_key;
	const char *executor_key;
	enum ax_run_kind kind;
	const char *fire_key; /* ≤ 64 bytes */
	int64_t shard;        /* 0 = plain run or parent; 1 … of the shards */
	int64_t shard_total;  /* of parent and shards; a broadcast learns it when its shards are made */
	enum ax_spread spread;
	int64_t parent;   /* of a shard: gid of its parent; 0 */
	bool failed_only; /* a parent that repeats those shards of rerun_of that did not succeed */
	enum ax_run_state status;
	const char *reason; /* one word: why it is in this state, or "" */
	int64_t rev;        /* grows with every change of the row: compare-and-swap */
	int64_t version;    /* of the task's definition; the run executes that snapshot */
	int64_t batch;      /* whatever began it all: due ms of a fire, id of an event, else gid of the first run */
	int64_t blocked_by; /* BLOCKED: gid of the upstream's run that did not succeed; 0 = its join was too late */

	int64_t trigger_time; /* due */
	int64_t create_time, dispatch_time, start_time, heartbeat_time, end_time;
	int64_t deadline_time; /* when the sweeper must look: due, accept, lease or retry time; 0 = none */
	int64_t limit_time;    /* the server's hard limit of the attempt, or of waiting for a worker; 0 = none */
	int64_t rank; /* order of claiming: trigger_time - priority * 60 s, set once (ageing without updates) */
	int64_t priority;
	enum ax_hold hold;
	int64_t ready_time; /* WAITING: since when only room is what it waits for */
	enum ax_run_lane lane;
	const char *demand; /* tags that its worker must have: core/route.h; "" = none */

	int64_t fence; /* grows by one at every claim */
	int64_t retry_times, lost_times;
	int64_t bounce_times; /* claims that no worker accepted */
	bool accepted;        /* the worker has it in its queue */
	const char *worker;   /* of the newest claim; of a broadcast's shard the one that may have it */
	const char *incarnation;
	int64_t poll; /* the worker's number of the poll that brought it; 0 = not told */
	enum ax_cancel cancel;
	bool ended_by_worker; /* the end came as a report, not from a sweeper or a person */

	int64_t result_code;
	const char *result_msg;
	const char *result; /* JSON text of the worker's result, or "" */
	const char *params; /* JSON text of the trigger, or "" */
	const char *trace_id;
	const char *progress_msg;
	int64_t progress_percent; /* -1 = none reported */
	int64_t progress_time;    /* when it changed last in this attempt; its start at first */
	int64_t must_end_time;    /* must_end_by of the task, for this run; 0 = none */
	int64_t watch_time;       /* when it would overrun or stall; 0 = nothing to watch */
	bool overran;             /* took longer than expected_seconds, or was not done at must_end_time */
	bool stalled;             /* alive without new progress for stall_seconds */
	int64_t rerun_of;         /* gid or 0 */
	int64_t covers_from, covers_to, covers_count; /* fires that this run stands for besides its own */
	bool made_up;                                 /* a person had a past fire run */
	int64_t backfill_id;                          /* that made it up; 0 = none */
};

/* A run that is spread over shards: never claimed, under no lease, in no quota; its outcome is theirs. */
static inline bool ax_run_is_parent(const struct ax_run *run)
{
	return run->spread != AX_SPREAD_NONE && run->shard == 0;
}

/* A shard of a broadcast: for its worker alone. */
static inline bool ax_run_is_pinned(const struct ax_run *run)
{
	return run->spread == AX_SPREAD_BROADCAST && run->shard > 0;
}

/* The try that a run is at: 1, 2, … Lost attempts and retries both count. */
static inline int64_t ax_run_attempt(const struct ax_run *run)
{
	return 1 + run->retry_times + run->lost_times;
}

/* How an attempt ended. Up to REFUSED the worker said so, the others are the server's verdict. */
enum ax_outcome {
	AX_OUTCOME_SUCCESS = 1,
	AX_OUTCOME_FAILED = 2,
	AX_OUTCOME_TIMEOUT = 3,
	AX_OUTCOME_CANCELLED = 4,
	AX_OUTCOME_REFUSED = 5, /* the worker's own policy forbids it */
	AX_OUTCOME_LOST = 6,    /* lease gone, worker gone */
	AX_OUTCOME_BOUNCED = 7, /* claimed, never accepted */
	AX_OUTCOME_LIMIT = 8,   /* the server's hard limit */
};

/* An attempt that is not the run's last, or one with a late report. A first-try success has no such row. */
struct ax_attempt {
	int64_t gid, fence, attempt;
	const char *worker;
	int64_t dispatch_time, start_time, end_time;
	enum ax_outcome outcome;
	int64_t code;
	const char *message;
	/* what the worker said after the attempt had ended without it; recorded, never applied */
	int64_t late_time; /* 0 = nothing */
	enum ax_outcome late_outcome;
	int64_t late_code;
	const char *late_message;
};

struct ax_output {
	int64_t gid, fence, seq, time;
	const char *data; /* valid UTF-8, may hold any other character */
	int64_t len;
};

struct ax_group {
	const char *group_key;
	const char *title;
	int64_t dispatch_quota; /* most runs DISPATCHED + RUNNING over all workers */
	int64_t pool_size;      /* executing at once per worker, unless the worker says otherwise */
	bool paused;
	const char *contacts;    /* channels that hear its alerts (none: all that want to), and addresses for people */
	int64_t late_seconds;    /* a run given to a worker later than this raises an alert; 0 = never */
	int64_t backlog_limit;   /* more runs than this … */
	int64_t backlog_seconds; /* … waiting longer than this raise an alert; a limit of 0 = never */
	int64_t long_share_percent; /* of quota, backlog and pool: what long runs may hold */
	int64_t worker_backlog;     /* most runs given out to one worker; 0 = three times its pool */
	int64_t keep_days;          /* ended runs are kept no longer than that; 0 = as long as the server keeps them */
	int64_t keep_runs;          /* of each task, beside those of the last day; 0 = all */
	const char *defaults;       /* JSON object: fields of tasks that are created without them */
	int64_t running;            /* DISPATCHED + RUNNING now; changed only together with a run's state */
	int64_t running_long;       /* those of them in the long lane */
	int64_t version;
	int64_t create_time, update_time;
};

enum ax_worker_status { AX_WORKER_ONLINE = 0, AX_WORKER_DRAINING = 1, AX_WORKER_LEFT = 2 };

struct ax_worker {
	const char *name;
	const char *incarnation;
	enum ax_worker_status status;
	const char *executors; /* names, one space between them */
	const char *tags;      /* JSON object */
	const char *version;
	const char *address;
	int64_t register_time, seen_time;
	bool disabled; /* a person's decision: it gets nothing until it is enabled again */
	const char
		*past; /* its last incarnations, the newest first, one space between them: their messages may be late */
};

/* A worker's part in a group. */
struct ax_worker_group {
	const char *worker;
	const char *group_key;
	int64_t pool_size;
	int64_t given;      /* runs DISPATCHED or RUNNING there; changed only together with a run's state */
	int64_t given_long; /* those of them in the long lane */
	/* For routing: when it was given its last run, and its last one by turns, in the group's order; how many of
	 * late. */
	int64_t given_order, turn_order;
	int64_t use_count, use_time;
};

/* This is what a task demands of the fires after `from_time`, up to and including the next row's. The audit reads only
 * this. */
struct ax_epoch {
	int64_t id;
	int64_t task_id;
	int64_t from_time;
	bool enabled;
	const char *cron_expr;
	int dialect;
	const char *time_zone;
	int64_t anchor_time;
	const char *tzdata;
	const char *calendar; /* "" = none */
	int64_t calendar_version;
	enum ax_calendar_mode calendar_mode;
	int64_t valid_from, valid_until; /* 0 = open */
	int64_t jitter_ms;               /* fires are due so much later */
};

#endif
