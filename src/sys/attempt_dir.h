#ifndef AX_SYS_ATTEMPT_DIR_H
#define AX_SYS_ATTEMPT_DIR_H

/* The folder of one process attempt: all that ax-worker and ax-exec say to each other goes through it, so that
 * a worker which starts again finds each running attempt exactly as it left it.
 *
 * - run.json: the worker's; what was dispatched, for the worker that adopts the attempt
 * - stdin: the worker's; standard input of the task; absent = /dev/null
 * - lock: flock()ed by the worker before ax-exec starts, which inherits the descriptor: locked = ax-exec lives
 * - control: a fifo; struct ax_attempt_order from whichever worker is alive
 * - started: ax-exec's; process ids, once the program runs
 * - output: ax-exec's; what the task printed (sys/output_file.h)
 * - sent: the worker's; which pieces of the output were handed on (worker/exec_output.c)
 * - status: ax-exec's; how it ended: written, synced, then renamed to this name; removed when the spool has the result
 *
 * The task's own output goes through a pipe that ax-exec reads, never through the worker: a dead, stopped or
 * slow worker neither blocks the task nor kills it with SIGPIPE, and loses none of the output it would keep. */

#include <stdbool.h>
#include <stdint.h>
#include "base/attr.h"

#define AX_ATTEMPT_RUN "run.json"
#define AX_ATTEMPT_STDIN "stdin"
#define AX_ATTEMPT_LOCK "lock"
#define AX_ATTEMPT_CONTROL "control"
#define AX_ATTEMPT_STARTED "started"
#define AX_ATTEMPT_OUTPUT "output"
#define AX_ATTEMPT_STATUS "status"

enum { AX_ATTEMPT_LOCK_FD = 3 }; /* where ax-exec inherits the lock */

enum ax_attempt_order_kind {
	AX_ORDER_DEADLINE = 0x41584401, /* value: new deadline, ms of CLOCK_BOOTTIME; INT64_MAX = none */
	AX_ORDER_STOP = 0x41585301,     /* value: grace between TERM and KILL, ms */
};

/* One write of one order is atomic (far below PIPE_BUF), and reads in whole orders never split one. */
struct ax_attempt_order {
	uint32_t kind;
	uint32_t zero;
	int64_t value;
};

/* Why the attempt ended. */
enum ax_attempt_end {
	AX_END_EXIT,     /* by itself: see code and signal */
	AX_END_TIMEOUT,  /* its time limit */
	AX_END_STOP,     /* a worker's order, or SIGTERM to ax-exec */
	AX_END_DEADLINE, /* the lease was not renewed: nobody extended the deadline */
	AX_END_ERROR,    /* never started: see stage and sys_errno */
};

/* What could not be done on the way to the program. */
enum ax_attempt_stage {
	AX_STAGE_NONE,
	AX_STAGE_SETUP, /* ax-exec's own files and descriptors */
	AX_STAGE_FORK,
	AX_STAGE_STDIN,
	AX_STAGE_CGROUP,
	AX_STAGE_USER,
	AX_STAGE_CWD,
	AX_STAGE_PROGRAM,
};

struct ax_attempt_status {
	int end;       /* enum ax_attempt_end */
	int code;      /* exit code of the program; 0 when a signal ended it */
	int signal;    /* the signal that ended it, or 0 */
	int stage;     /* enum ax_attempt_stage */
	int sys_errno; /* with AX_END_ERROR */
	int left;      /* processes that could not be ended (0 unless the kernel holds them) */
	int64_t start_ms;
	int64_t end_ms;
};

/* One line of text with a check sum: a torn or altered file is not read as a result. */
enum { AX_ATTEMPT_STATUS_MAX = 256 };
int ax_attempt_status_format(const struct ax_attempt_status *status, char out[AX_ATTEMPT_STATUS_MAX]);
bool ax_attempt_status_parse(const char *text, size_t len, struct ax_attempt_status *ret_status);

/* Milliseconds of CLOCK_BOOTTIME. Leases are counted with it because it goes on while the machine is suspended,
 * as the server's clock does: a laptop that wakes must see that its leases are gone. It starts again with the
 * machine, as every process does, and is the same for ax-exec and any worker on the machine. */
int64_t ax_boottime_ms(void);

#endif
