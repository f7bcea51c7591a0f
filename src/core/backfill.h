#ifndef AX_CORE_BACKFILL_H
#define AX_CORE_BACKFILL_H

/* A backfill: a person has the fires of a past range made up, a few at a time. Its runs carry its id. */

#include <stdbool.h>
#include <stdint.h>

enum ax_backfill_status {
	AX_BACKFILL_RUNNING = 0,
	AX_BACKFILL_DONE = 1, /* every fire was dealt with, every run has ended */
	AX_BACKFILL_CANCELLED = 2,
};

struct ax_backfill {
	int64_t id, task_id;
	int64_t from_time, to_time; /* fires of [from, to) */
	int64_t max_live;           /* of its runs that have not ended */
	bool newest_first;
	enum ax_backfill_status status;
	int64_t cursor_time;   /* the fire dealt with last */
	int64_t total;         /* fires of the range when it was made */
	int64_t made, existed; /* runs made; fires that had a run */
	int64_t done, failed;  /* of the runs made: those that ended in SUCCESS, and in another way */
	int64_t create_time, end_time;
	const char *created_by;
	int64_t rev; /* grows with every change of the row: compare-and-swap */
};

#endif
