#ifndef AX_CORE_LIMITS_H
#define AX_CORE_LIMITS_H

#include <stdint.h>

/* Every time and size that the protocol and the services rest on, with its reason. */

enum {
	AX_HEARTBEAT_MS = 15000, /* three of them fit into a lease: two may be lost */
	AX_LEASE_MS = 45000,
	AX_ACCEPT_MS = 15000,          /* a claim that no worker accepts goes back */
	AX_START_WITHIN_MS = 12000,    /* worker's limit, 3 s below AX_ACCEPT_MS for clock rates and the way */
	AX_UNREACHABLE_MS = 35000,     /* worker ends its own attempt, 10 s before the server gives the run away */
	AX_POLL_WAIT_MS = 5000,        /* below AX_START_WITHIN_MS, so that a parked poll's answer is still fresh */
	AX_HARD_LIMIT_SLACK_MS = 5000, /* server's limit = timeout + grace + this */
	AX_LATE_MS = 5000,             /* a fire made later than this counts as late: the scheduler was away */
	AX_WORKER_KEEP_MS = 86400000,  /* a worker that was not seen for so long is forgotten */
	AX_RANK_STEP_MS = 60000,       /* one priority step outranks a minute of waiting */
	AX_BOUNCE_LIMIT = 10,          /* claims in a row that nobody accepts, then it counts as a lost attempt */
	AX_KEEP_RUNS_MAX = 10000,      /* that a group keeps of each task: the oldest of them is looked for */
	AX_BATCH = 200,                /* rows one transaction takes */
	AX_SWEEP_WRITES = 1000,        /* runs after which a sweep commits: each may end a whole chain */
	AX_FIRE_ALL_MAX = 100,         /* runs that one task makes up in one transaction under fire_all */
	AX_BACKFILL_MAX = 50000,       /* fires of one backfill */
	AX_BACKFILL_LIVE_MAX = 100,    /* runs of one backfill that are live at once */
	AX_BACKFILL_STEP = 1000,       /* fires that one transaction deals with for one backfill */
	AX_FIRES_STEP = 100000,        /* fires that one transaction walks over for one task */
	AX_SHARDS_MAX = 1000,          /* of one fire */
	AX_SHARDS_STEP = 2000,         /* shards that one transaction makes, unless its first fire needs more */
	AX_SPREAD_LOOK_MS = 5000,      /* how often a broadcast without workers looks for some */
	AX_ALERT_CALM_MS = 600000,     /* nothing of the kind for that long: what comes and goes is over */
	AX_CANARY_WAIT_MS = 3600000,   /* how long a run of a trial waits for a worker with its executor */
	AX_ROUTE_WAIT_MS = 5000,       /* how long a run waits for the worker that its route wants */
	AX_BACKLOG_FACTOR = 3,         /* a worker holds at most pool_size × this */

	AX_LATE_SECONDS = 30,     /* presets of a group: a first dispatch later than this raises an alert … */
	AX_BACKLOG_LIMIT = 1000,  /* … and more runs than this … */
	AX_BACKLOG_SECONDS = 300, /* … that wait longer than this */

	AX_NAME_MAX = 128,
	AX_KEY_MAX = 64,
	AX_PARAM_MAX = 65536,
	AX_MESSAGE_MAX = 4000,
	AX_EVENT_NAME_MAX = 128,
	AX_EVENT_ID_MAX = 256,
	AX_LISTENERS_MAX = 500, /* tasks that listen to one event: its runs are made in one transaction */
	AX_UPSTREAMS_MAX = 50,
	AX_UPSTREAM_RESULTS_MAX = 65536, /* with names and ids it still fits into one variable of a process */
	AX_DOWNSTREAMS_MAX = 100,
	AX_CHAIN_DEPTH_MAX = 20,
	AX_CHAIN_RUNS_MAX = 500,   /* that one end may make, all in its transaction */
	AX_CHAIN_TASKS_MAX = 2000, /* that hang together: looked at when one of them is changed */
	AX_OUTPUT_CHUNK_MAX = 65536,
	AX_OUTPUT_KEEP = 1048576,     /* bytes of output kept per attempt … */
	AX_OUTPUT_KEEP_HEAD = 262144, /* … of which so many from its beginning, the others from its end */
	AX_REPORT_ITEMS_MAX = 1000,
	AX_POLL_GROUPS_MAX = 64,

	AX_SKEW_MS = 1000,         /* clocks of servers differ by less: one that differs by more does not fire */
	AX_SEAT_LEASE_MS = 30000,  /* a server's number is its own for so long after it was seen … */
	AX_SEAT_STALE_MS = 20000,  /* … it stops 10 s before, for clock rates and what is under way … */
	AX_SEAT_RENEW_MS = 5000,   /* … and has three tries before that */
	AX_CHORE_LEASE_MS = 15000, /* what one server at a time does is another's when it was not seen for so long */
};

#define AX_TIME_MAX_MS INT64_C(253402300799999) /* the end of year 9999 */

#endif
