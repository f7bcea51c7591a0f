#ifndef AX_PORT_STORE_H
#define AX_PORT_STORE_H

/* The durable truth: transactions over typed rows.
 *
 * A service hands a function to ax_store_run; the store calls it inside one transaction and commits. The function
 * decides, the store only keeps rows and their constraints, so that every decision is written once for all stores. The
 * function may be called again from its beginning (deadlock, lock time-out): it must not keep results of an earlier
 * call nor touch the world.
 *
 * What every store guarantees, and the contract suite checks:
 *  - a transaction is atomic, isolated from others (rows read with `for_update` do not change under it) and durable
 * once ax_store_run returned AX_OK; after AX_UNCERTAIN it happened wholly or not at all;
 *  - unique: (event_name, event_key); (group_key, fingerprint) of failure groups; the name of a channel; (rule,
 * group_key, episode) among open alerts; (group_key, task_name); (task_id, kind, fire_key, shard); gid; (gid, fence);
 * (gid, fence, seq); the name of a calendar, (name, version) of its versions; the number of a server; the name of a
 * lease; (server, seq) of notices. Who finds a taken key too late to say so calls the function again, and says so;
 *  - the counters of runs given out in ax_group and ax_worker_group never go below 0 (AX_BROKEN). A store may write
 * them, and rows that the transaction holds, at its end; then a failure that it cannot go on after comes there;
 *  - a terminal run never changes its status or fence, whatever is asked (AX_BROKEN).
 *
 * Transactions run at once, on several connections and servers. A row read `for_update`, or by a list that says
 * "locked", is neither changed nor locked by another before this one ends: the other waits. A list of "free" rows
 * leaves out what others hold: whoever holds a row does its work. All else that was read may have changed: who depends
 * on it names the version, rev or next time that he saw. Transactions that only read see one moment; they may neither
 * write nor lock.
 *
 * Rows handed out borrow their text from the transaction's arena and live until it is reset by its owner: in practice
 * until the request that asked is answered. */

#include "base/arena.h"
#include "base/err.h"
#include "core/alert.h"
#include "core/backfill.h"
#include "core/calendar.h"
#include "core/failure.h"
#include "core/event.h"
#include "core/canary.h"
#include "core/task.h"
#include "port/lists.h"

struct ax_tx;
struct ax_store;

struct ax_task_filter {
	const char *group_key; /* NULL = any */
	const char *task_name; /* exact; NULL = any */
	const char *calendar;  /* NULL = any */
	const char *q;         /* part of the name, ASCII case ignored; NULL = any */
	int status;            /* enum ax_task_status or -1 */
	int task_type;         /* enum ax_task_type or 0 */
	int64_t after_id;      /* rows with greater ids */
	int limit;
};

struct ax_run_filter {
	int64_t task_id;            /* 0 = any */
	int64_t backfill_id;        /* 0 = any */
	int64_t batch;              /* 0 = any */
	const char *group_key;      /* NULL = any */
	const char *worker;         /* NULL = any */
	uint32_t statuses;          /* bit 1 << enum ax_run_state; 0 = any */
	int kind;                   /* 0 = any */
	int64_t from_time, to_time; /* trigger_time in [from, to); 0 = open */
	bool live;                  /* only runs that have not ended */
	int64_t parent;             /* the shards of this run; 0 = no shards, unless `worker` is given */
	int64_t before_gid;         /* rows with smaller gids; 0 = newest first page */
	int limit;
	int scan_limit; /* rows looked at before the page ends early; bounds the cost over a long history */
};

struct ax_alert_filter {
	int64_t task_id;       /* 0 = any */
	const char *group_key; /* NULL = any */
	int rule;              /* enum ax_alert_rule; 0 = any */
	int state;             /* enum ax_alert_state; -1 = any */
	int64_t before_id;     /* rows with smaller ids; 0 = the first page */
	int limit;
	int scan_limit; /* rows looked at before the page ends early */
};

struct ax_failure_filter {
	const char *group_key; /* NULL = any */
	int state;             /* enum ax_failure_state, as it is at `now`; -1 = any */
	int64_t now;
	int64_t task_id;                /* groups that a run of this task failed in; 0 = any */
	const char *worker;             /* groups that failed on this worker; NULL = any */
	const char *q;                  /* part of the title, ASCII case ignored; NULL = any */
	int64_t before_time, before_id; /* rows seen last before (time, id); 0, 0 = the first page */
	int limit;
	int scan_limit; /* rows looked at before the page ends early */
};

struct ax_task_version {
	int64_t task_id, version, time;
	const char *author;
	struct ax_task_def def;
};

struct ax_server_row {
	int64_t number; /* 0-1023, part of every gid made under its lease */
	const char *name;
	const char *version;
	int64_t start_time, seen_time;
	int64_t gid_high_ms; /* gids up to this instant may have been used */
	int64_t incarnation; /* of the process that has the number, or had it last */
	int64_t lease_time;  /* the number is its own until then; 0 = it was given back */
};

/* Leave to do what only one server at a time does. */
struct ax_lease {
	const char *name;
	int64_t holder;     /* incarnation of a server */
	int64_t fence;      /* grows whenever the holder changes */
	int64_t until_time; /* anybody may take it from then on */
};

/* Accounts. Secrets are stored as hashes only. */
struct ax_user {
	int64_t id;
	const char *name;
	const char *password_hash;
	const char *role;
	int64_t create_time;
};
struct ax_token {
	int64_t id;
	const char *hash; /* hex of the secret's hash */
	const char *kind; /* "api", "worker", "session", "once", "setup" */
	const char *name;
	const char *role;          /* "" for worker tokens */
	const char *worker_groups; /* JSON array, "" for others */
	const char *csrf;          /* sessions only */
	int64_t create_time, expire_time, last_used_time;
};
struct ax_audit_entry {
	int64_t id, time;
	const char *actor, *address, *action, *object, *before, *after, *reason;
};
struct ax_idem {
	const char *key;  /* actor and Idempotency-Key */
	const char *hash; /* of method, path and body */
	int64_t status;   /* HTTP */
	const char *body;
	int64_t expire_time;
};

/* How many runs ended in a minute, and how; without shards. */
struct ax_ended_minute {
	int64_t minute; /* since 1970 */
	int64_t success, failed, timeout, cancelled, blocked, skipped, missed;
};

/* What a server tells the others that work on the same store: a hint, in the words of server/board.c. */
struct ax_notice {
	int64_t server; /* the teller's incarnation */
	int64_t seq;    /* 1, 2, … of that server */
	int64_t time;
	const char *body;
};

/* Operations inside a transaction. Unless said otherwise: a missing row is AX_NOT_FOUND, a taken unique key AX_EXISTS,
 * a compare-and-swap that does not match AX_CONFLICT; AX_EXISTS names the key in the error's field ("gid", "fire_key",
 * "task_name", …). After AX_NOT_FOUND, AX_EXISTS and AX_CONFLICT the transaction may go on; after any other failure it
 * must end with that failure, and ends with it even when the function says AX_OK. Lists without rows are AX_OK with
 * n = 0, as are lists with a limit of 0 or less. Every `limit` is the most rows wanted. */
struct ax_tx_ops {
	/* tasks */
	enum ax_status (*task_insert)(
		struct ax_tx *tx, const struct ax_task *task, int64_t *ret_id, struct ax_err *err);
	enum ax_status (*task_get)(
		struct ax_tx *tx, int64_t id, bool for_update, struct ax_task *ret, struct ax_err *err);
	/* Writes definition, status, version, update columns and the scheduler's columns; the row must still have
	 * `old_version` and `old_next` (next_trigger_time). */
	enum ax_status (*task_update)(struct ax_tx *tx, const struct ax_task *task, int64_t old_version,
		int64_t old_next, struct ax_err *err);
	/* Writes next_trigger_time, last_trigger_time, calendar_version, epoch_time, exhausted; `old_next` as above. */
	enum ax_status (*task_advance)(
		struct ax_tx *tx, const struct ax_task *task, int64_t old_next, struct ax_err *err);
	/* Writes only what ended runs tell: the copy of the newest, absence_time, durations. */
	enum ax_status (*task_last_run)(struct ax_tx *tx, const struct ax_task *task, struct ax_err *err);
	/* Enabled tasks with absence_seconds > 0 that did not succeed for so long at `now`, by id, greater than
	 * after_id. */
	enum ax_status (*tasks_absent)(
		struct ax_tx *tx, int64_t now, int64_t after_id, int limit, struct ax_tasks *ret, struct ax_err *err);
	enum ax_status (*task_delete)(struct ax_tx *tx, int64_t id, struct ax_err *err);
	enum ax_status (*tasks_page)(
		struct ax_tx *tx, const struct ax_task_filter *f, struct ax_tasks *ret, struct ax_err *err);
	/* Enabled tasks with 0 < next_trigger_time ≤ until, earliest first, free and locked. */
	enum ax_status (*tasks_due)(
		struct ax_tx *tx, int64_t until, int limit, struct ax_tasks *ret, struct ax_err *err);
	/* Tasks with these ids, which ascend, whatever their state, by id, free and locked. */
	enum ax_status (*tasks_by_id)(
		struct ax_tx *tx, const struct ax_ids *ids, struct ax_tasks *ret, struct ax_err *err);
	/* Enabled tasks with 0 < next_trigger_time ≤ until, by (next_trigger_time, id), after the one given. */
	enum ax_status (*tasks_ahead)(struct ax_tx *tx, int64_t after_time, int64_t after_id, int64_t until, int limit,
		struct ax_dues *ret, struct ax_err *err);
	/* Drawn when the store was made: tells it from others, but from no copy of it. */
	enum ax_status (*store_id)(struct ax_tx *tx, int64_t *ret_id, struct ax_err *err);
	/* Enabled scheduled tasks, not exhausted, that have neither a next time nor a run of runs_live, by id: an
	 * @after task whose run ended without setting its next time, which must never last. Free and locked. */
	enum ax_status (*tasks_stuck)(struct ax_tx *tx, int limit, struct ax_tasks *ret, struct ax_err *err);
	/* Tasks whose `ending` is set, by id, free and locked. */
	enum ax_status (*tasks_ending)(struct ax_tx *tx, int limit, struct ax_tasks *ret, struct ax_err *err);
	/* Tasks of type event that listen to the name, whatever their status, by id, locked. */
	enum ax_status (*tasks_listening)(
		struct ax_tx *tx, const char *event_name, int limit, struct ax_tasks *ret, struct ax_err *err);
	/* Earliest next_trigger_time of the enabled tasks; 0 when there is none. */
	enum ax_status (*task_next_due)(struct ax_tx *tx, int64_t *ret_time, struct ax_err *err);
	/* How many there are, by enum ax_task_status. */
	enum ax_status (*task_counts)(struct ax_tx *tx, int64_t ret_by_status[32], struct ax_err *err);
	enum ax_status (*task_version_insert)(struct ax_tx *tx, const struct ax_task_version *v, struct ax_err *err);
	enum ax_status (*task_version_get)(
		struct ax_tx *tx, int64_t task_id, int64_t version, struct ax_task_version *ret, struct ax_err *err);
	/* Newest first; before_version 0 = from the newest. */
	enum ax_status (*task_versions)(struct ax_tx *tx, int64_t task_id, int64_t before_version, int limit,
		struct ax_task_versions *ret, struct ax_err *err);
	enum ax_status (*canary_put)(
		struct ax_tx *tx, const struct ax_canary *canary, struct ax_err *err); /* insert or replace */
	/* The newest canary of a task; it goes with the task. */
	enum ax_status (*canary_get)(struct ax_tx *tx, int64_t task_id, struct ax_canary *ret, struct ax_err *err);
	enum ax_status (*epoch_append)(struct ax_tx *tx, const struct ax_epoch *epoch, struct ax_err *err);
	/* By id, greater than after_id; task_id 0 = all tasks. The store gives the id. */
	enum ax_status (*epochs)(struct ax_tx *tx, int64_t task_id, int64_t after_id, int limit, struct ax_epochs *ret,
		struct ax_err *err);

	/* calendars; AX_EXISTS: "name" */
	enum ax_status (*calendar_insert)(struct ax_tx *tx, const struct ax_calendar_row *calendar, struct ax_err *err);
	enum ax_status (*calendar_get)(
		struct ax_tx *tx, const char *name, bool for_update, struct ax_calendar_row *ret, struct ax_err *err);
	/* The row must still have `old_version`. */
	enum ax_status (*calendar_update)(
		struct ax_tx *tx, const struct ax_calendar_row *calendar, int64_t old_version, struct ax_err *err);
	enum ax_status (*calendar_delete)(struct ax_tx *tx, const char *name, struct ax_err *err);
	/* All, by name. */
	enum ax_status (*calendars)(struct ax_tx *tx, struct ax_calendars *ret, struct ax_err *err);
	enum ax_status (*calendar_version_insert)(
		struct ax_tx *tx, const struct ax_calendar_version *v, struct ax_err *err);
	enum ax_status (*calendar_version_get)(struct ax_tx *tx, const char *name, int64_t version,
		struct ax_calendar_version *ret, struct ax_err *err);
	/* Newest first; before_version 0 = from the newest. */
	enum ax_status (*calendar_versions)(struct ax_tx *tx, const char *name, int64_t before_version, int limit,
		struct ax_calendar_versions *ret, struct ax_err *err);
	/* Enabled tasks of a calendar with calendar_version < version, by (calendar_version, id), locked: none that
	 * another holds is passed over, for a change of the calendar reaches all of them. */
	enum ax_status (*tasks_behind)(struct ax_tx *tx, const char *calendar, int64_t version, int limit,
		struct ax_tasks *ret, struct ax_err *err);

	/* backfills */
	enum ax_status (*backfill_insert)(
		struct ax_tx *tx, const struct ax_backfill *backfill, int64_t *ret_id, struct ax_err *err);
	enum ax_status (*backfill_get)(
		struct ax_tx *tx, int64_t id, bool for_update, struct ax_backfill *ret, struct ax_err *err);
	/* The row must still have `old_rev`, and gets old_rev + 1. */
	enum ax_status (*backfill_update)(
		struct ax_tx *tx, const struct ax_backfill *backfill, int64_t old_rev, struct ax_err *err);
	/* Newest first; task_id 0 = of all tasks, before_id 0 = from the newest. */
	enum ax_status (*backfills)(struct ax_tx *tx, int64_t task_id, int64_t before_id, int limit,
		struct ax_backfills *ret, struct ax_err *err);
	/* RUNNING ones, by id, free and locked. */
	enum ax_status (*backfills_open)(struct ax_tx *tx, int limit, struct ax_backfills *ret, struct ax_err *err);

	/* runs */
	enum ax_status (*run_insert)(struct ax_tx *tx, const struct ax_run *run, struct ax_err *err);
	enum ax_status (*run_get)(
		struct ax_tx *tx, int64_t gid, bool for_update, struct ax_run *ret, struct ax_err *err);
	enum ax_status (*run_find)(struct ax_tx *tx, int64_t task_id, enum ax_run_kind kind, const char *fire_key,
		int64_t shard, struct ax_run *ret, struct ax_err *err);
	/* A hint: these runs will be read to be locked, and those of `ends` will end. Both ascend. */
	enum ax_status (*runs_expect)(
		struct ax_tx *tx, const struct ax_ids *gids, const struct ax_ids *ends, struct ax_err *err);
	/* Writes what may change after birth (port/row.c names it); the row must have `old_rev`, and gets the next. */
	enum ax_status (*run_update)(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err);
	/* Another due instant for a PENDING run: writes trigger_time, deadline_time, rank, params, must_end_time and
	 * watch_time; the row must still be PENDING and have `old_rev`, and gets old_rev + 1. */
	enum ax_status (*run_set_due)(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err);
	/* Heartbeat in one narrow write: heartbeat_time and deadline_time of (gid, fence) while DISPATCHED or RUNNING,
	 * AX_CONFLICT otherwise. rev grows by one. */
	enum ax_status (*run_renew)(struct ax_tx *tx, int64_t gid, int64_t fence, int64_t heartbeat_time,
		int64_t deadline_time, struct ax_err *err);
	/* Runs of a task that are WAITING, DISPATCHED, RUNNING or RETRYING and that the overlap rule counts, not holds:
	 * so they are few. No shards. By gid, locked when for_update. */
	enum ax_status (*runs_live)(
		struct ax_tx *tx, int64_t task_id, bool for_update, int limit, struct ax_runs *ret, struct ax_err *err);
	/* How many these are, counted no further than `limit`. */
	enum ax_status (*runs_live_count)(
		struct ax_tx *tx, int64_t task_id, int limit, int64_t *ret_live, struct ax_err *err);
	/* PENDING runs of a task, by gid, locked. */
	enum ax_status (*runs_pending)(
		struct ax_tx *tx, int64_t task_id, int limit, struct ax_runs *ret, struct ax_err *err);
	/* WAITING runs of a task with hold = OVERLAP, by gid, locked. */
	enum ax_status (*runs_held)(
		struct ax_tx *tx, int64_t task_id, int limit, struct ax_runs *ret, struct ax_err *err);
	/* WAITING runs without hold stand in queues, one for each (executor_key, lane, demand) of a group, so that
	 * those which nobody may have now keep nobody else back. The head of the first queue behind the one named, in
	 * the order of these three; held by others or not, and not locked. */
	enum ax_status (*run_next_queue)(struct ax_tx *tx, const char *group_key, const char *executor_key,
		enum ax_run_lane lane, const char *demand, struct ax_run *ret, struct ax_err *err);
	/* Those of a queue behind (after_rank, after_gid), by (rank, gid), free and locked. */
	enum ax_status (*runs_claimable)(struct ax_tx *tx, const char *group_key, const char *executor_key,
		enum ax_run_lane lane, const char *demand, int64_t after_rank, int64_t after_gid, int limit,
		struct ax_runs *ret, struct ax_err *err);
	/* WAITING runs that were never given to a worker, with trigger_time ≤ until, by (trigger_time, gid), greater
	 * than (after_time, after_gid). */
	enum ax_status (*runs_undispatched)(struct ax_tx *tx, int64_t until, int64_t after_time, int64_t after_gid,
		int limit, struct ax_runs *ret, struct ax_err *err);
	/* MISSED runs of a task that nobody decided on (reason "missed"), by gid. */
	enum ax_status (*runs_undecided)(
		struct ax_tx *tx, int64_t task_id, int limit, struct ax_runs *ret, struct ax_err *err);
	/* WAITING parents and shards with deadline_time ≥ from (and not 0), by gid. */
	enum ax_status (*runs_looked)(
		struct ax_tx *tx, int64_t from, int limit, struct ax_runs *ret, struct ax_err *err);
	/* The shards of a run, by gid, greater than after_gid: all, or those that have not ended; locked when
	 * for_update. */
	enum ax_status (*shards)(struct ax_tx *tx, int64_t parent, bool live, bool for_update, int64_t after_gid,
		int limit, struct ax_runs *ret, struct ax_err *err);
	/* How many shards a run has, by enum ax_run_state. */
	enum ax_status (*shard_counts)(struct ax_tx *tx, int64_t parent, int64_t ret_by_state[32], struct ax_err *err);
	/* Live runs with 0 < deadline_time ≤ until, of those that wait for their time (PENDING, RETRYING) only those
	 * with deadline_time ≤ waiting_until, earliest first, free and locked. */
	enum ax_status (*runs_overdue)(struct ax_tx *tx, int64_t until, int64_t waiting_until, int limit,
		struct ax_runs *ret, struct ax_err *err);
	/* Runs with these gids, which ascend, whatever their state, by gid, free and locked. */
	enum ax_status (*runs_by_gid)(
		struct ax_tx *tx, const struct ax_ids *gids, struct ax_runs *ret, struct ax_err *err);
	/* PENDING and RETRYING runs with 0 < deadline_time ≤ until, by (deadline_time, gid), after the one given. */
	enum ax_status (*runs_ahead)(struct ax_tx *tx, int64_t after_time, int64_t after_gid, int64_t until, int limit,
		struct ax_dues *ret, struct ax_err *err);
	/* Live runs with 0 < watch_time ≤ until, earliest first, free and locked. */
	enum ax_status (*runs_watched)(
		struct ax_tx *tx, int64_t until, int limit, struct ax_runs *ret, struct ax_err *err);
	enum ax_status (*run_next_deadline)(struct ax_tx *tx, int64_t *ret_time, struct ax_err *err); /* 0 = none */
	/* Runs given out to a worker, by gid. */
	enum ax_status (*runs_of_worker)(
		struct ax_tx *tx, const char *worker, int limit, struct ax_runs *ret, struct ax_err *err);
	/* Runs given out to these workers (names ascend) that were asked to stop (cancel = ASKED), by worker, gid. */
	enum ax_status (*runs_to_stop)(
		struct ax_tx *tx, const struct ax_names *workers, int limit, struct ax_runs *ret, struct ax_err *err);
	/* Newest first. Looks at the runs of the task or parent if one is given and at live runs only if none else can
	 * match; at shards only when the filter names a parent or a worker.
	 * `ret_before` is where to go on; 0 = there is nothing left to look at. */
	enum ax_status (*runs_page)(struct ax_tx *tx, const struct ax_run_filter *f, struct ax_runs *ret,
		int64_t *ret_before, struct ax_err *err);
	/* Runs of kind schedule and miss of one task, without shards, with trigger_time in [from, to), plus those whose
	 * covers reach into it ([covers_from, covers_to], when covers_count > 0), by gid, greater than after_gid: the
	 * audit's food. Costs as many rows as the task has behind after_gid: a caller that knows when they were made
	 * sets it. */
	enum ax_status (*runs_fired)(struct ax_tx *tx, int64_t task_id, int64_t from, int64_t to, int64_t after_gid,
		int limit, struct ax_runs *ret, struct ax_err *err);
	/* Live runs of each state, without shards. */
	enum ax_status (*live_counts)(struct ax_tx *tx, int64_t ret_by_state[32], struct ax_err *err);
	/* Runs with end_time in [from, to) by how they ended, without shards. Reads each of them. */
	enum ax_status (*ended_counts)(
		struct ax_tx *tx, int64_t from, int64_t to, int64_t ret_by_state[32], struct ax_err *err);
	enum ax_status (*ended_minute_put)(
		struct ax_tx *tx, const struct ax_ended_minute *row, struct ax_err *err); /* insert or replace */
	/* By minute, from this one on. */
	enum ax_status (*ended_minutes)(
		struct ax_tx *tx, int64_t from_minute, int limit, struct ax_ended_minutes *ret, struct ax_err *err);
	enum ax_status (*ended_minutes_cut)(struct ax_tx *tx, int64_t before_minute, struct ax_err *err);
	/* Number of WAITING runs, held or not, with shards. */
	enum ax_status (*group_waiting)(struct ax_tx *tx, const char *group_key, int64_t *ret, struct ax_err *err);
	enum ax_status (*attempt_put)(
		struct ax_tx *tx, const struct ax_attempt *attempt, struct ax_err *err); /* insert or replace */
	enum ax_status (*attempt_get)(
		struct ax_tx *tx, int64_t gid, int64_t fence, struct ax_attempt *ret, struct ax_err *err);
	enum ax_status (*attempts)(
		struct ax_tx *tx, int64_t gid, struct ax_attempts *ret, struct ax_err *err); /* by fence */
	/* Bytes and chunks kept so far of an attempt's output and the last seq; 0, 0 and -1 when there is none. */
	enum ax_status (*output_size)(struct ax_tx *tx, int64_t gid, int64_t fence, int64_t *ret_bytes,
		int64_t *ret_chunks, int64_t *ret_last_seq, struct ax_err *err);
	enum ax_status (*output_append)(struct ax_tx *tx, const struct ax_output *output, struct ax_err *err);
	/* Deletes the chunks of an attempt that hold its bytes head_bytes … head_bytes + bytes - 1, whole. */
	enum ax_status (*output_cut)(
		struct ax_tx *tx, int64_t gid, int64_t fence, int64_t head_bytes, int64_t bytes, struct ax_err *err);
	/* By (fence, seq), greater than (after_fence, after_seq). */
	enum ax_status (*outputs)(struct ax_tx *tx, int64_t gid, int64_t after_fence, int64_t after_seq, int limit,
		struct ax_outputs *ret, struct ax_err *err);
	/* Deletes runs with end_time < ended_before, first ended first, with their attempts, output and failure:
	 * retention's step. Shards go with their parent, whole: they may be more than `limit`. Runs that others hold
	 * are left for the next time. */
	enum ax_status (*runs_purge)(
		struct ax_tx *tx, int64_t ended_before, int limit, int *ret_deleted, struct ax_err *err);

	/* The same for the runs of one task that were made before `made_before` (a gid), by gid. */
	enum ax_status (*runs_purge_task)(struct ax_tx *tx, int64_t task_id, int64_t ended_before, int64_t made_before,
		int limit, int *ret_deleted, struct ax_err *err);
	/* The gid of a task's n-th newest run (0 = the newest), without shards; 0 when it has not so many. */
	enum ax_status (*run_nth)(struct ax_tx *tx, int64_t task_id, int64_t nth, int64_t *ret_gid, struct ax_err *err);

	/* groups */
	enum ax_status (*group_insert)(struct ax_tx *tx, const struct ax_group *group, struct ax_err *err);
	enum ax_status (*group_get)(
		struct ax_tx *tx, const char *key, bool for_update, struct ax_group *ret, struct ax_err *err);
	/* Everything but the counters and create_time; the row must still have `old_version`. */
	enum ax_status (*group_update)(
		struct ax_tx *tx, const struct ax_group *group, int64_t old_version, struct ax_err *err);
	enum ax_status (*group_add_running)(
		struct ax_tx *tx, const char *key, int64_t delta, int64_t long_delta, struct ax_err *err);
	/* AX_CONFLICT while tasks or live runs belong to it. */
	enum ax_status (*group_delete)(struct ax_tx *tx, const char *key, struct ax_err *err);
	enum ax_status (*groups)(struct ax_tx *tx, struct ax_groups *ret, struct ax_err *err);
	/* A row for each worker that has runs of the group, by name: given and given_long as counted from the runs. */
	enum ax_status (*group_given)(
		struct ax_tx *tx, const char *key, struct ax_worker_groups *ret, struct ax_err *err);

	/* workers */
	enum ax_status (*worker_put)(
		struct ax_tx *tx, const struct ax_worker *worker, struct ax_err *err); /* insert or replace */
	enum ax_status (*worker_get)(
		struct ax_tx *tx, const char *name, bool for_update, struct ax_worker *ret, struct ax_err *err);
	/* Locked; AX_NOT_FOUND also while others have it, or hold it. */
	enum ax_status (*worker_free)(struct ax_tx *tx, const char *name, struct ax_worker *ret, struct ax_err *err);
	/* Those there are of names that ascend. `hold`, in this order: others may hold, and none change, them. */
	enum ax_status (*workers_by_name)(
		struct ax_tx *tx, const struct ax_names *names, bool hold, struct ax_workers *ret, struct ax_err *err);
	enum ax_status (*workers)(struct ax_tx *tx, struct ax_workers *ret, struct ax_err *err);
	enum ax_status (*worker_delete)(struct ax_tx *tx, const char *name, struct ax_err *err); /* with its groups */
	/* Inserts or sets pool_size, leaves the rest. */
	enum ax_status (*worker_group_put)(
		struct ax_tx *tx, const char *worker, const char *group_key, int64_t pool_size, struct ax_err *err);
	enum ax_status (*worker_group_get)(struct ax_tx *tx, const char *worker, const char *group_key, bool for_update,
		struct ax_worker_group *ret, struct ax_err *err);
	/* worker NULL = all. Rows of groups that it no longer serves stay while something is given out there. */
	enum ax_status (*worker_groups)(
		struct ax_tx *tx, const char *worker, struct ax_worker_groups *ret, struct ax_err *err);
	enum ax_status (*group_workers)(struct ax_tx *tx, const char *group_key, struct ax_worker_groups *ret,
		struct ax_err *err); /* by name */
	/* Those of the workers with these names, which ascend, by name. When they are locked, in this order. */
	enum ax_status (*group_workers_by_name)(struct ax_tx *tx, const char *group_key, const struct ax_names *names,
		bool for_update, struct ax_worker_groups *ret, struct ax_err *err);
	enum ax_status (*worker_group_add_given)(struct ax_tx *tx, const char *worker, const char *group_key,
		int64_t delta, int64_t long_delta, struct ax_err *err);
	/* Writes given_order, turn_order, use_count, use_time. That there is no such row may be told at the commit. */
	enum ax_status (*worker_group_routed)(struct ax_tx *tx, const struct ax_worker_group *row, struct ax_err *err);
	enum ax_status (*worker_group_drop)(
		struct ax_tx *tx, const char *worker, const char *group_key, struct ax_err *err);

	/* servers, accounts, audit log */
	enum ax_status (*server_insert)(struct ax_tx *tx, const struct ax_server_row *server, struct ax_err *err);
	enum ax_status (*server_get)(
		struct ax_tx *tx, int64_t number, bool for_update, struct ax_server_row *ret, struct ax_err *err);
	enum ax_status (*server_put)(
		struct ax_tx *tx, const struct ax_server_row *server, struct ax_err *err); /* insert or replace */
	/* Writes seen_time and lease_time, and raises gid_high_ms, never lowers it: threads of a server do it beside
	 * each other. The row must still have this incarnation. */
	enum ax_status (*server_renew)(
		struct ax_tx *tx, const struct ax_server_row *server, int64_t incarnation, struct ax_err *err);
	enum ax_status (*servers)(struct ax_tx *tx, struct ax_servers *ret, struct ax_err *err); /* by number */
	enum ax_status (*lease_insert)(struct ax_tx *tx, const struct ax_lease *lease, struct ax_err *err);
	enum ax_status (*lease_get)(
		struct ax_tx *tx, const char *name, bool for_update, struct ax_lease *ret, struct ax_err *err);
	/* The row must still have `old_fence`. */
	enum ax_status (*lease_update)(
		struct ax_tx *tx, const struct ax_lease *lease, int64_t old_fence, struct ax_err *err);
	enum ax_status (*leases)(struct ax_tx *tx, struct ax_leases *ret, struct ax_err *err); /* by name */
	enum ax_status (*user_insert)(
		struct ax_tx *tx, const struct ax_user *user, int64_t *ret_id, struct ax_err *err);
	enum ax_status (*user_find)(struct ax_tx *tx, const char *name, struct ax_user *ret, struct ax_err *err);
	enum ax_status (*user_count)(struct ax_tx *tx, int64_t *ret, struct ax_err *err);
	enum ax_status (*token_insert)(
		struct ax_tx *tx, const struct ax_token *token, int64_t *ret_id, struct ax_err *err);
	enum ax_status (*token_find)(struct ax_tx *tx, const char *hash, struct ax_token *ret, struct ax_err *err);
	enum ax_status (*token_touch)(
		struct ax_tx *tx, int64_t id, int64_t last_used_time, int64_t expire_time, struct ax_err *err);
	enum ax_status (*token_delete)(struct ax_tx *tx, int64_t id, struct ax_err *err);
	/* Kinds "api" and "worker" only, by id. */
	enum ax_status (*tokens)(struct ax_tx *tx, struct ax_tokens *ret, struct ax_err *err);
	/* Deletes tokens (of one kind) with 0 < expire_time ≤ now. */
	enum ax_status (*tokens_expire)(struct ax_tx *tx, int64_t now, const char *kind_or_null, struct ax_err *err);
	enum ax_status (*audit_append)(struct ax_tx *tx, const struct ax_audit_entry *entry, struct ax_err *err);
	/* Newest first; before_id 0 = the first page. */
	enum ax_status (*audit_page)(struct ax_tx *tx, const char *object_or_null, const char *actor_or_null,
		int64_t before_id, int limit, struct ax_audit_entries *ret, struct ax_err *err);
	enum ax_status (*idem_get)(struct ax_tx *tx, const char *key, struct ax_idem *ret, struct ax_err *err);
	/* AX_EXISTS while the key is there, expired or not. */
	enum ax_status (*idem_put)(struct ax_tx *tx, const struct ax_idem *idem, struct ax_err *err);
	/* Deletes the rows with expire_time ≤ now. */
	enum ax_status (*idem_purge)(struct ax_tx *tx, int64_t now, struct ax_err *err);

	/* events */
	enum ax_status (*event_insert)(struct ax_tx *tx, const struct ax_event *event, struct ax_err *err);
	enum ax_status (*event_get)(struct ax_tx *tx, int64_t id, struct ax_event *ret, struct ax_err *err);
	enum ax_status (*event_find)(struct ax_tx *tx, const char *event_name, const char *event_key,
		struct ax_event *ret, struct ax_err *err);
	/* Newest first; event_name NULL = any, before_id 0 = the first page. */
	enum ax_status (*events_page)(struct ax_tx *tx, const char *event_name_or_null, int64_t before_id, int limit,
		struct ax_events *ret, struct ax_err *err);
	enum ax_status (*event_task_insert)(struct ax_tx *tx, const struct ax_event_task *row, struct ax_err *err);
	enum ax_status (*event_tasks)(
		struct ax_tx *tx, int64_t event, struct ax_event_tasks *ret, struct ax_err *err); /* by task */
	/* Deletes events with time < sent_before, oldest first, with what became of them. */
	enum ax_status (*events_purge)(
		struct ax_tx *tx, int64_t sent_before, int limit, int *ret_deleted, struct ax_err *err);

	/* chains */
	enum ax_status (*upstream_insert)(struct ax_tx *tx, const struct ax_upstream *row, struct ax_err *err);
	/* All that the task names; AX_OK when there are none. */
	enum ax_status (*upstreams_delete)(struct ax_tx *tx, int64_t task_id, struct ax_err *err);
	enum ax_status (*upstreams_of)(
		struct ax_tx *tx, int64_t task_id, struct ax_upstreams *ret, struct ax_err *err); /* by upstream */
	enum ax_status (*downstreams_of)(
		struct ax_tx *tx, int64_t upstream_id, struct ax_upstreams *ret, struct ax_err *err); /* by task */
	enum ax_status (*run_upstream_put)(
		struct ax_tx *tx, const struct ax_run_upstream *row, struct ax_err *err); /* insert or replace */
	enum ax_status (*run_upstreams)(
		struct ax_tx *tx, int64_t gid, struct ax_run_upstreams *ret, struct ax_err *err); /* by upstream */
	enum ax_status (*run_told)(
		struct ax_tx *tx, int64_t gid, struct ax_run_tolds *ret, struct ax_err *err); /* likewise */

	/* alerts */
	enum ax_status (*channel_insert)(
		struct ax_tx *tx, const struct ax_channel *channel, int64_t *ret_id, struct ax_err *err);
	enum ax_status (*channel_get)(
		struct ax_tx *tx, int64_t id, bool for_update, struct ax_channel *ret, struct ax_err *err);
	/* Everything but the kind and create_time; the row must still have `old_version`. */
	enum ax_status (*channel_update)(
		struct ax_tx *tx, const struct ax_channel *channel, int64_t old_version, struct ax_err *err);
	enum ax_status (*channel_delete)(struct ax_tx *tx, int64_t id, struct ax_err *err);
	enum ax_status (*channels)(struct ax_tx *tx, struct ax_channels *ret, struct ax_err *err); /* by id */
	/* AX_EXISTS ("episode") while one of (rule, group_key, episode) is open and this one is too. */
	enum ax_status (*alert_insert)(
		struct ax_tx *tx, const struct ax_alert *alert, int64_t *ret_id, struct ax_err *err);
	enum ax_status (*alert_get)(
		struct ax_tx *tx, int64_t id, bool for_update, struct ax_alert *ret, struct ax_err *err);
	/* The open one of (rule, group_key, episode). */
	enum ax_status (*alert_find)(struct ax_tx *tx, enum ax_alert_rule rule, const char *group_key,
		const char *episode, bool for_update, struct ax_alert *ret, struct ax_err *err);
	/* Writes every column that may change after birth; the row must still have `old_rev`, and gets old_rev + 1. */
	enum ax_status (*alert_update)(
		struct ax_tx *tx, const struct ax_alert *alert, int64_t old_rev, struct ax_err *err);
	/* Open alerts of a rule, by id. */
	enum ax_status (*alerts_open)(struct ax_tx *tx, enum ax_alert_rule rule, int64_t after_id, int limit,
		struct ax_alerts *ret, struct ax_err *err);
	/* Open alerts of a task, by id. */
	enum ax_status (*alerts_of_task)(
		struct ax_tx *tx, int64_t task_id, int limit, struct ax_alerts *ret, struct ax_err *err);
	/* Open alerts that are not muted with told_time ≤ until, longest ago first, free and locked. */
	enum ax_status (*alerts_untold)(
		struct ax_tx *tx, int64_t until, int limit, struct ax_alerts *ret, struct ax_err *err);
	/* Newest first. `ret_before` is where to go on; 0 = there is nothing left to look at. */
	enum ax_status (*alerts_page)(struct ax_tx *tx, const struct ax_alert_filter *f, struct ax_alerts *ret,
		int64_t *ret_before, struct ax_err *err);
	/* How many are open, by rule. */
	enum ax_status (*alert_counts)(struct ax_tx *tx, int64_t ret_by_rule[32], struct ax_err *err);
	/* Deletes alerts with resolve_time < before, first resolved first, with their deliveries; and the tests
	 * (alert_id 0) that were queued before. */
	enum ax_status (*alerts_purge)(
		struct ax_tx *tx, int64_t before, int limit, int *ret_deleted, struct ax_err *err);
	enum ax_status (*delivery_insert)(
		struct ax_tx *tx, const struct ax_delivery *delivery, int64_t *ret_id, struct ax_err *err);
	enum ax_status (*delivery_get)(
		struct ax_tx *tx, int64_t id, bool for_update, struct ax_delivery *ret, struct ax_err *err);
	/* As alert_update. */
	enum ax_status (*delivery_update)(
		struct ax_tx *tx, const struct ax_delivery *delivery, int64_t old_rev, struct ax_err *err);
	/* Pending ones of a channel with next_time ≤ until, earliest first, free and locked; those with an earlier
	 * pending one of the same alert are left out. */
	enum ax_status (*deliveries_due)(struct ax_tx *tx, int64_t channel_id, int64_t until, int limit,
		struct ax_deliveries *ret, struct ax_err *err);
	/* Pending ones whose try is under way at this server: no more, they are due at once. */
	enum ax_status (*deliveries_release)(struct ax_tx *tx, int64_t server, struct ax_err *err);
	/* By id. */
	enum ax_status (*deliveries_of_alert)(
		struct ax_tx *tx, int64_t alert_id, int limit, struct ax_deliveries *ret, struct ax_err *err);
	/* Newest first. */
	enum ax_status (*deliveries_of_channel)(struct ax_tx *tx, int64_t channel_id, int64_t before_id, int limit,
		struct ax_deliveries *ret, struct ax_err *err);
	enum ax_status (*deliveries_pending)(struct ax_tx *tx, int64_t *ret_n, struct ax_err *err); /* how many */

	/* failures */
	enum ax_status (*failure_insert)(struct ax_tx *tx, const struct ax_failure *failure, struct ax_err *err);
	enum ax_status (*failure_get)(struct ax_tx *tx, int64_t gid, struct ax_failure *ret, struct ax_err *err);
	/* Those that are not folded, by gid, free and locked. */
	enum ax_status (*failures_unfolded)(struct ax_tx *tx, int limit, struct ax_failures *ret, struct ax_err *err);
	enum ax_status (*failures_set_folded)(struct ax_tx *tx, const struct ax_ids *gids, struct ax_err *err);
	enum ax_status (*failure_set_rerun)(struct ax_tx *tx, int64_t gid, int64_t rerun_gid, struct ax_err *err);
	/* Of one group, folded or not, newest first. */
	enum ax_status (*failures_of_group)(struct ax_tx *tx, const char *group_key, int64_t fingerprint,
		int64_t before_gid, int limit, struct ax_failures *ret, struct ax_err *err);
	/* Of one group those with rerun_gid 0 whose task is there, and is not being deleted, by gid. */
	enum ax_status (*failures_to_rerun)(struct ax_tx *tx, const char *group_key, int64_t fingerprint, int limit,
		struct ax_failures *ret, struct ax_err *err);
	/* How many the first `limit` of them are. */
	enum ax_status (*failures_to_rerun_count)(struct ax_tx *tx, const char *group_key, int64_t fingerprint,
		int limit, int64_t *ret, struct ax_err *err);
	enum ax_status (*failure_group_insert)(
		struct ax_tx *tx, const struct ax_failure_group *group, int64_t *ret_id, struct ax_err *err);
	enum ax_status (*failure_group_get)(
		struct ax_tx *tx, int64_t id, bool for_update, struct ax_failure_group *ret, struct ax_err *err);
	enum ax_status (*failure_group_find)(struct ax_tx *tx, const char *group_key, int64_t fingerprint,
		bool for_update, struct ax_failure_group *ret, struct ax_err *err);
	/* Writes every column that may change after birth; the row must still have `old_rev`, and gets old_rev + 1. */
	enum ax_status (*failure_group_update)(
		struct ax_tx *tx, const struct ax_failure_group *group, int64_t old_rev, struct ax_err *err);
	/* With its spread and hours. */
	enum ax_status (*failure_group_delete)(struct ax_tx *tx, int64_t id, struct ax_err *err);
	/* Seen last first. `ret_before_time` and `ret_before_id` are where to go on; 0, 0 = there is nothing left to
	 * look at. */
	enum ax_status (*failure_groups_page)(struct ax_tx *tx, const struct ax_failure_filter *f,
		struct ax_failure_groups *ret, int64_t *ret_before_time, int64_t *ret_before_id, struct ax_err *err);
	/* Of every group of tasks, by id. */
	enum ax_status (*failure_groups_alike)(
		struct ax_tx *tx, int64_t fingerprint, int limit, struct ax_failure_groups *ret, struct ax_err *err);
	/* With last_seen_time < seen_before, longest ago first; `resolved`: only those that are. */
	enum ax_status (*failure_groups_old)(struct ax_tx *tx, bool resolved, int64_t seen_before, int limit,
		struct ax_failure_groups *ret, struct ax_err *err);
	/* Adds the count to the row of the same place, which begins with 0, and widens its times. */
	enum ax_status (*failure_spread_add)(
		struct ax_tx *tx, const struct ax_failure_spread *spread, struct ax_err *err);
	/* By task, version and worker: those of workers come first. */
	enum ax_status (*failure_spreads)(
		struct ax_tx *tx, int64_t failure_id, int limit, struct ax_failure_spreads *ret, struct ax_err *err);
	/* Adds the count to the row of the same hour, which begins with 0. */
	enum ax_status (*failure_hour_add)(struct ax_tx *tx, const struct ax_failure_hour *hour, struct ax_err *err);
	enum ax_status (*failure_hours)(
		struct ax_tx *tx, int64_t failure_id, struct ax_failure_hours *ret, struct ax_err *err); /* by hour */
	enum ax_status (*failure_hours_cut)(
		struct ax_tx *tx, int64_t failure_id, int64_t before_hour, struct ax_err *err);

	/* notices */
	enum ax_status (*notice_insert)(struct ax_tx *tx, const struct ax_notice *notice, struct ax_err *err);
	/* Of one server, behind `after_seq`, in order. */
	enum ax_status (*notices)(struct ax_tx *tx, int64_t server, int64_t after_seq, int limit,
		struct ax_notices *ret, struct ax_err *err);
	/* Those of all servers that are older. */
	enum ax_status (*notices_purge)(struct ax_tx *tx, int64_t before, struct ax_err *err);
};

struct ax_tx {
	const struct ax_tx_ops *ops;
	struct ax_arena *arena; /* rows handed out borrow from here */
};

typedef enum ax_status (*ax_tx_fn)(struct ax_tx *tx, void *arg, struct ax_err *err);

struct ax_store_ops {
	/* Runs fn in one transaction and commits when it returns AX_OK, else rolls back and returns what fn returned.
	 * Not to be called from within fn. */
	enum ax_status (*run)(
		struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err);
};

struct ax_store {
	const struct ax_store_ops *ops;
	/* Only this process has it open, and whoever had it before is gone: leases have nothing to keep apart. */
	bool sole;
	/* Its transactions are parts of one that is open already, and may be undone with it. */
	bool joined;
};

static inline enum ax_status ax_store_run(
	struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	return store->ops->run(store, arena, fn, arg, err);
}

#endif
