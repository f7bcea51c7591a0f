#ifndef AX_CHECK_CHECK_H
#define AX_CHECK_CHECK_H

/* The independent audit of AX's first two promises: every fire that a schedule demands is accounted for, once.
 *
 * The caller feeds, task by task, the rows that it has read; nothing of the scheduler is used to judge them. What is
 * counted, and what cannot be seen, is docs/audit.md. Columns, kinds and states are the tables' numbers.
 *
 *	struct ax_check_audit *audit = ax_check_audit_new(NULL, from_ms, to_ms);
 *	for each task
 *		ax_check_audit_task(audit, &task);
 *	char *json = ax_check_audit_json(audit);
 *	ax_check_audit_free(audit);
 *
 * Not for more than one thread at a time. Reads zone files; otherwise touches nothing of the world. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"

/* ax_calendar_version: what it says of its dates. */
struct ax_check_calendar {
	int64_t week;
	const char *days; /* NULL: the row is not there */
};

/* ax_schedule_epoch: the rule for fires after from_time, up to and including the next row's from_time. */
struct ax_check_epoch {
	int64_t from_time;
	bool enabled;
	const char *cron_expr;
	int dialect; /* enum ax_check_dialect */
	const char *time_zone;
	int64_t anchor_time;
	const struct ax_check_calendar *calendar; /* NULL: none */
	bool calendar_excludes;
	int64_t valid_from, valid_until; /* 0 = open */
	int64_t jitter_ms;               /* fires are due so much later */
};

enum { AX_CHECK_KIND_SCHEDULE = 1, AX_CHECK_KIND_MISS = 2 };
enum { AX_CHECK_SKIPPED = 15, AX_CHECK_MISSED = 16 };

/* ax_task_log. */
struct ax_check_run {
	int64_t gid;
	int kind;
	const char *fire_key;
	int64_t shard;
	int status;
	int64_t trigger_time;
	int64_t end_time; /* 0 = live */
	int64_t covers_from, covers_to, covers_count;
	bool made_up;
	int64_t rerun_of;
};

struct ax_check_task {
	int64_t id;
	const char *name;
	const struct ax_check_epoch *epochs; /* all of them, in the order of their ids */
	size_t n_epochs;
	/* Kinds schedule and miss, in any order: at least those whose fire_key (the trigger_time, less its jitter) is
	 * in the window or whose covers reach into it. Rows of other kinds are passed over. */
	const struct ax_check_run *runs;
	size_t n_runs;
	/* Only for @after, whose demand depends on it. next_trigger_time -1: not known. */
	int64_t next_trigger_time;
	bool live; /* a run of the task has not ended */
	/* Fires from here on came due a moment ago and are about to be dealt with: one that nothing accounts for yet is
	 * not judged. 0 = all are judged. */
	int64_t under_way_from;
};

struct ax_check_counts {
	int64_t expected; /* fires that the schedules demand in the window; each is exactly one of: */
	int64_t runs;
	int64_t skipped;
	int64_t missed;
	int64_t coalesced;
	int64_t missing; /* nothing accounts for it */

	int64_t unexpected;  /* runs of fires that no schedule demanded */
	int64_t miscounted;  /* rows whose covers_count is not the number of fires there */
	int64_t unreadable;  /* epochs that cannot be judged, @after tasks that stand still */
	int64_t unexplained; /* missing + unexpected + miscounted + unreadable: must be 0 */
	int64_t duplicates;  /* fires accounted for more than once, rows with the same unique key: must be 0 */
};

struct ax_check_audit;

/* Fires in [from_ms, to_ms). `zone_dir` NULL: /usr/share/zoneinfo; borrowed. */
struct ax_check_audit *ax_check_audit_new(const char *zone_dir, int64_t from_ms, int64_t to_ms);
void ax_check_audit_free(struct ax_check_audit *audit);

/* Judges one task. Nothing of it is kept but names and numbers; feed a task once. */
void ax_check_audit_task(struct ax_check_audit *audit, const struct ax_check_task *task);

const struct ax_check_counts *ax_check_audit_total(const struct ax_check_audit *audit);
static inline bool ax_check_is_clean(const struct ax_check_counts *counts)
{
	return counts->unexplained == 0 && counts->duplicates == 0;
}

/* The body of GET /api/v1/audit/fires. Free it. */
char *ax_check_audit_json(const struct ax_check_audit *audit);
/* The same as a table for people, with at most `max_rows` tasks, faulty ones first. */
void ax_check_audit_table(const struct ax_check_audit *audit, size_t max_rows, struct ax_buf *out);

/* The first fire that the epoch's rule demands after `after_ms` and up to `until_ms`, for checks of next_trigger_time.
 * AX_NOT_FOUND when there is none, AX_INVALID when the rule cannot be read or has no computable fires. */
enum ax_status ax_check_audit_first_fire(struct ax_check_audit *audit, const struct ax_check_epoch *epoch,
	int64_t after_ms, int64_t until_ms, int64_t *ret_ms, struct ax_err *err);

#endif
