#ifndef AXWORKER_H
#define AXWORKER_H

/* libaxworker: a worker of AX in your own program.
 *
 *     static int report(struct axw_attempt *attempt, void *user) { …; return 0; }
 *
 *     struct axw_options options = { .size = sizeof(options), .server = "http://127.0.0.1:8080", … };
 *     struct axw *worker = axw_new(&options, error, sizeof(error));
 *     axw_register(worker, "report.daily", report, NULL);
 *     axw_start(worker);
 *     …
 *     axw_drain(worker, 30000);
 *     int end = axw_wait(worker);
 *     axw_free(worker);
 *
 * The library talks to the servers in a thread of its own and runs registered functions on others. Results are on
 * disk before they are reported, and are reported until a server has taken them. A run is executed at least once:
 * key the effect on axw_gid().
 *
 * Structs carry their size so that a program built against an older header works with a newer library: fill
 * `size` with sizeof, leave what you do not need 0. Every text is UTF-8 and is copied. Functions may be called from
 * any thread unless they say otherwise. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AXW_API __attribute__((visibility("default")))

struct axw;         /* a worker */
struct axw_attempt; /* one attempt of a run, in the hands of its executor */

enum axw_level { AXW_DEBUG, AXW_INFO, AXW_WARN, AXW_ERROR };

struct axw_options {
	size_t size;
	const char *server;       /* URL or URLs separated by commas: all are polled, results go to any of them */
	const char *token;        /* the worker token, or … */
	const char *token_file;   /* … a file that holds it; read again at every registration */
	const char *name;         /* 1-64 of [A-Za-z0-9._-], the same over restarts; NULL: the host's name */
	const char *groups;       /* "default" or "a:50,b:10": group and how many runs execute at once (50) */
	const char *state_dir;    /* results wait here; one worker at a time; made 0700 when absent */
	const char *ca_file;      /* certificates to trust instead of the system's */
	const char *tags;         /* "k=v,k=v" */
	const char *version;      /* of your program */
	uint64_t spool_max_bytes; /* results kept while no server takes them; 0: 256 MiB */
	uint64_t disk_low_bytes;  /* no more runs are taken with less free disk than this; 0: 200 MB */
	/* One line of JSON, no newline. NULL: standard error. May be called from any thread. */
	void (*log)(void *user, enum axw_level level, const char *line);
	void *user;
	/* Appended to whenever work really begins and ends, on disk before it begins, and whenever a server has taken a
	 * result: a file that `ax-check --journal` reads. NULL: none. */
	const char *journal;
};

/* How an attempt ended. */
enum axw_outcome {
	AXW_SUCCESS,
	AXW_FAILED,
	AXW_TIMEOUT,
	AXW_CANCELLED,
	AXW_REFUSED, /* this worker's own rules forbid it: no retry */
	AXW_LOST,    /* nobody knows: nothing is reported, and the server gives the run out again */
};

/* Why an attempt shall end. */
enum axw_stop {
	AXW_STOP_NONE,
	AXW_STOP_CANCEL,  /* somebody cancelled the run */
	AXW_STOP_TIMEOUT, /* its time limit */
	AXW_STOP_LOST,    /* the run is no longer this worker's, or no server could be reached for too long */
	AXW_STOP_DRAIN,   /* the worker ends and did not want to wait longer */
};

/* Why a worker ended. */
enum axw_end {
	AXW_END_DRAINED = 0,
	AXW_END_DENIED = 3,     /* the token was refused at the first registration */
	AXW_END_SUPERSEDED = 4, /* another worker registered under this name */
	AXW_END_INVALID = 5,    /* the servers refused it, or are another store's: see the log */
};

/* ---- the worker */

/* NULL on bad options (errno is EINVAL), an unusable state folder, or one that another worker uses; `error` then says
 * what is wrong. */
AXW_API struct axw *axw_new(const struct axw_options *options, char *error, size_t error_size);

/* A function of this program: runs on a thread of the library's; 0 = success, anything else is the failure's code.
 * It should look at axw_stop_asked() or sleep in axw_stop_wait(): a function cannot be ended from outside. */
typedef int axw_function(struct axw_attempt *attempt, void *user);

/* Both before axw_start. 0, or -1 when the key is taken or not 1-64 of [A-Za-z0-9._-]. */
AXW_API int axw_register(struct axw *worker, const char *executor_key, axw_function *function, void *user);

/* An executor without threads: `start` begins the work and returns, axw_finish ends it, from any thread. Both
 * callbacks come on the library's loop thread and must not block. `stop` asks for an early end (at most once for
 * AXW_STOP_CANCEL or _TIMEOUT, and perhaps once more, with grace 0, to make haste); axw_finish is still due. */
struct axw_executor {
	size_t size;
	void (*start)(struct axw_attempt *attempt, void *user);
	void (*stop)(struct axw_attempt *attempt, enum axw_stop why, int64_t grace_ms, void *user);
	/* Optional: the attempt must end by itself at this instant of CLOCK_BOOTTIME unless a later one is told, even
	 * if this process is gone. INT64_MAX: never. */
	void (*deadline)(struct axw_attempt *attempt, int64_t boottime_ms, void *user);
	/* Optional: the result is on disk, or the attempt is forgotten. Comes exactly once per attempt. */
	void (*settled)(struct axw_attempt *attempt, void *user);
	/* Optional: a server has heard all output and the result, or the attempt is forgotten; what the executor kept
	 * for a restart may go. Comes last of all; the handle ends with it. An executor that has it keeps its output
	 * for another process, too; else what no server has heard lies with the result. */
	void (*gone)(struct axw_attempt *attempt, void *user);
};
AXW_API int axw_register_executor(
	struct axw *worker, const char *executor_key, const struct axw_executor *executor, void *user);

/* Before axw_start: takes up an attempt that an earlier process of this worker began and that still runs (or ended
 * without its result having been written). `run` is what axw_run_json() gave then. NULL when it is not one, or its
 * result is in the spool already. The executor calls axw_finish for it as for its own. */
AXW_API struct axw_attempt *axw_adopt(struct axw *worker, const char *run);
/* The same for an attempt whose result an earlier process wrote, so that what it printed can follow: as after
 * axw_finish with more_output. NULL when the spool has no result of it. */
AXW_API struct axw_attempt *axw_adopt_stored(struct axw *worker, const char *run);

AXW_API int axw_start(struct axw *worker); /* 0, or -1 when threads cannot be had */

/* Takes no more runs, waits up to grace_ms for those that execute, ends the others, says goodbye. A second call may
 * shorten the time. */
AXW_API void axw_drain(struct axw *worker, int64_t grace_ms);

/* Waits until the worker has ended; an enum axw_end. */
AXW_API int axw_wait(struct axw *worker);
AXW_API void axw_free(struct axw *worker); /* after axw_wait, or without axw_start; NULL is fine */

/* The loop of the library's thread: for executors, only from their callbacks and before axw_start. */
struct uv_loop_s;
AXW_API struct uv_loop_s *axw_loop(struct axw *worker);
/* Called on the loop thread when the last attempt has gone: close your handles on the loop here. */
AXW_API void axw_on_close(struct axw *worker, void (*closing)(void *user), void *user);

/* A line in the worker's log: `members` is JSON object text ("{…}") or NULL. */
AXW_API void axw_log(struct axw *worker, enum axw_level level, const char *event, const char *members);

/* ---- an attempt: what it is */

AXW_API const char *axw_gid(const struct axw_attempt *attempt); /* decimal */
AXW_API int64_t axw_fence(const struct axw_attempt *attempt);
AXW_API int64_t axw_attempt_number(const struct axw_attempt *attempt);
AXW_API const char *axw_task(const struct axw_attempt *attempt);
AXW_API const char *axw_task_id(const struct axw_attempt *attempt);
AXW_API const char *axw_group(const struct axw_attempt *attempt);
AXW_API const char *axw_executor_key(const struct axw_attempt *attempt);
AXW_API const char *axw_traceparent(const struct axw_attempt *attempt); /* "" when there is none */
AXW_API const char *axw_rerun_of(const struct axw_attempt *attempt);    /* "" when it is no rerun */
/* A shard of a run: which one, 1 … total, and the gid of the run that it is a part of. 0, 0 and "" for other runs. */
AXW_API int64_t axw_shard_index(const struct axw_attempt *attempt);
AXW_API int64_t axw_shard_total(const struct axw_attempt *attempt);
AXW_API const char *axw_parent_gid(const struct axw_attempt *attempt);
AXW_API int64_t axw_trigger_ms(const struct axw_attempt *attempt); /* when it was due, UTC */
AXW_API int64_t axw_timeout_ms(const struct axw_attempt *attempt); /* 0 = none */
AXW_API int64_t axw_grace_ms(const struct axw_attempt *attempt);
/* JSON text, valid as long as the attempt: the task's parameter, and what a manual trigger gave ("null"). */
AXW_API const char *axw_param(struct axw_attempt *attempt);
AXW_API const char *axw_params(struct axw_attempt *attempt);
/* The runs that this one follows, with their results: a JSON array ("[]" when there is none). */
AXW_API const char *axw_upstream(struct axw_attempt *attempt);
AXW_API const char *axw_run_json(struct axw_attempt *attempt); /* the whole dispatched run */
/* The deadline that the executor's `deadline` callback was last told. Loop thread only. */
AXW_API int64_t axw_deadline_ms(const struct axw_attempt *attempt);

/* ---- an attempt: while it runs */

AXW_API enum axw_stop axw_stop_asked(const struct axw_attempt *attempt);
/* Sleeps until the attempt shall end or the time is over. */
AXW_API enum axw_stop axw_stop_wait(struct axw_attempt *attempt, int64_t wait_ms);
AXW_API void axw_progress(struct axw_attempt *attempt, int percent, const char *message);
/* Output for people: any bytes (what is not UTF-8 is replaced), 1.75 MiB at most are kept. 0, or -1 when it was not
 * taken because too much waits for a server: offer it again later, or not. */
AXW_API int axw_output(struct axw_attempt *attempt, const char *bytes, size_t len);
/* For an executor that takes up its own output after a restart: the number of the next item, the number of the first
 * that no server has confirmed, and setting the next one. */
AXW_API uint32_t axw_output_next(const struct axw_attempt *attempt);
AXW_API uint32_t axw_output_unheard(const struct axw_attempt *attempt);
AXW_API void axw_output_resume(struct axw_attempt *attempt, uint32_t next);
AXW_API void axw_message(struct axw_attempt *attempt, const char *text); /* of the result; ≤ 4,000 bytes */
/* -1: not JSON, over 64 KiB, or nested deeper than 29 levels. */
AXW_API int axw_result(struct axw_attempt *attempt, const char *json);
AXW_API void *axw_data(const struct axw_attempt *attempt); /* the executor's own */
AXW_API void axw_set_data(struct axw_attempt *attempt, void *data);

struct axw_finish_args {
	size_t size;
	enum axw_outcome outcome;
	int64_t code;        /* exit status, HTTP status, … */
	const char *signal;  /* name of the signal that ended it, or NULL */
	int64_t duration_ms; /* 0: from start to now */
	int more_output;     /* 1: not all output was taken yet: the result is not reported before axw_output_done */
};
/* Ends an attempt of an axw_executor. The handle is the library's until `gone`. */
AXW_API void axw_finish(struct axw_attempt *attempt, const struct axw_finish_args *args);
AXW_API void axw_output_done(struct axw_attempt *attempt); /* after more_output; loop thread only */

/* ---- plug-ins of ax-worker: a shared object that exports `axw_plugin_entry` of this type under this name.
 * It registers its functions with host->add and returns 0; anything else ends ax-worker with `host->error`. Use the
 * library through `host` alone: nothing has to be linked. */

#define AXW_PLUGIN_ABI 1

struct axw_plugin_host {
	size_t size;
	uint32_t abi; /* AXW_PLUGIN_ABI of the host */
	struct axw *worker;
	char *error;
	size_t error_size;
	int (*add)(struct axw *worker, const char *executor_key, axw_function *function, void *user);
	const char *(*gid)(const struct axw_attempt *attempt);
	int64_t (*fence)(const struct axw_attempt *attempt);
	int64_t (*attempt_number)(const struct axw_attempt *attempt);
	const char *(*param)(struct axw_attempt *attempt);
	const char *(*params)(struct axw_attempt *attempt);
	enum axw_stop (*stop_asked)(const struct axw_attempt *attempt);
	enum axw_stop (*stop_wait)(struct axw_attempt *attempt, int64_t wait_ms);
	void (*progress)(struct axw_attempt *attempt, int percent, const char *message);
	int (*output)(struct axw_attempt *attempt, const char *bytes, size_t len);
	void (*message)(struct axw_attempt *attempt, const char *text);
	int (*result)(struct axw_attempt *attempt, const char *json);
	/* from here on only when `size` reaches so far */
	int64_t (*shard_index)(const struct axw_attempt *attempt);
	int64_t (*shard_total)(const struct axw_attempt *attempt);
	const char *(*parent_gid)(const struct axw_attempt *attempt);
	const char *(*upstream)(struct axw_attempt *attempt);
};

typedef int axw_plugin_entry_type(const struct axw_plugin_host *host);

#ifdef __cplusplus
}
#endif

#endif
