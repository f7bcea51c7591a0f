#ifndef AXW_WORKER_H
#define AXW_WORKER_H

/* The library's inside. One thread, the loop's, owns everything here except what `lock` names; other threads hand
 * their wishes over with axw_post. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>
#include "base/num.h"
#include "adapters/curl/curl_loop.h"
#include "axworker.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/json_look.h"
#include "base/json_write.h"
#include "queue.h"
#include "spool.h"
#include "sys/pool.h"
#include "base/table.h"

enum {
	AXW_NAME_MAX = 64,
	AXW_GROUPS_MAX = 64,
	AXW_SERVERS_MAX = 16,
	AXW_POLLS_MAX = 4,       /* at each server */
	AXW_UNANSWERED_MAX = 64, /* as many as a report may name */
	AXW_POOL_MAX = 10000,
	AXW_POOL_PRESET = 50,
	AXW_BODY_MAX = 4 << 20,
	AXW_ITEMS_MAX = 1000,
	AXW_MESSAGE_MAX = 4000,
	AXW_PROGRESS_MAX = 500,
	AXW_RESULT_MAX = 64 << 10,
	AXW_RESULT_DEPTH_MAX = 29, /* servers read 32 levels, and a report wraps it in three */
	AXW_OUTPUT_ITEM_MAX = 64 << 10,
	AXW_OUTPUT_ATTEMPT_MAX = 1792 << 10, /* kept head and tail of ax-exec, with what was streamed between */
	AXW_OUTPUT_WAITING_MAX = 64 << 20,   /* of all attempts, while no server takes it */
	AXW_SPOOLED_MAX = AXW_BODY_MAX + 9 * AXW_OUTPUT_ATTEMPT_MAX, /* a byte may be an item of its own: "\u0001", */
};

struct group {
	char name[AXW_NAME_MAX + 1];
	int pool_size; /* 0: the group's, which no server has told yet */
	int executing, executing_long;
	int held;               /* queued and executing */
	int long_share_percent; /* of the pool: what long runs may hold of it; as the server said last */
	struct axw_queue queue;
};

struct executor {
	char key[AXW_NAME_MAX + 1];
	struct axw_executor ops; /* start is NULL for a function */
	axw_function *function;
	void *user;
	UT_hash_handle hh;
};

struct call;
struct batch;

/* Numbers of polls. */
struct unanswered {
	int64_t at[AXW_UNANSWERED_MAX];
	int n;
};

struct poll {
	struct server *server;
	struct call *call; /* in flight */
	int64_t number;    /* of the one in flight */
	bool failed;       /* the last one was not answered, or refused */
	bool rests;        /* until the server's pause is over */
};

/* Each server has a standing of its own; what one of them does or leaves undone says nothing of the others. */
struct server {
	struct axw *w;
	char *url;
	bool registered;
	bool unreachable;  /* the last call had no answer */
	bool stranger;     /* of another store than this worker's; said in the log */
	int refusal;       /* HTTP status of a registration that was refused, else 0 */
	char refused[200]; /* what the log was told of the last call that was refused; "" = none was since */
	int refusals;      /* since one was taken */
	struct call *registration, *report, *leaving; /* in flight */
	struct poll polls[AXW_POLLS_MAX];

	/* registering and polling: session.c */
	int64_t backoff_ms;
	uv_timer_t retry;

	/* reports: tell.c */
	bool trusted;      /* the last report was answered, and soon */
	bool slow;         /* said in the log */
	int64_t answer_ms; /* how long a report takes, smoothed */
	int64_t rest_ms;   /* the last pause after a failure */
	size_t items_max;
	struct batch *batch;      /* in flight */
	struct unanswered naming; /* by the report in flight */
	uv_timer_t look;          /* a report in flight takes long; or the pause after a failure is over */
};

enum attempt_state {
	QUEUED,     /* in the group's queue, or behind an older attempt of the same run */
	CONFIRMING, /* has a place; waits for the server's word on `started` */
	RUNNING,
	STORING, /* ended; the result is on its way to the spool */
	STORED,  /* the result is reported until a server took it */
	DROPPED, /* it never began; a report on its way may still name it */
};

struct output {
	uint32_t seq;
	char *text;
	size_t len;
	struct output *next;
};

struct axw_attempt {
	struct axw *w;
	struct group *group; /* NULL for results of an earlier process */
	struct executor *executor;
	struct {
		int64_t gid;
		int64_t fence;
	} id;
	char gid_text[24];
	char *run_text; /* as the server gave it */
	json_t *run;    /* the same, when somebody asked for a part of it; under w->lock */
	char *param_text;
	char *params_text;
	char *upstream_text;
	int64_t number, trigger_ms, timeout_ms, grace_ms;
	int64_t rank; /* in the queue */
	bool is_long;
	bool confirmed_start;
	bool keep_unreachable; /* on_unreachable: continue */

	enum attempt_state state;
	struct axw_queue_item queued;
	struct axw_attempt *successor; /* a newer attempt of the same run, which begins when this one is gone */
	int64_t renewed_ms;            /* boottime: the last answered heartbeat, or the poll, was sent then */
	int64_t deadline_ms;           /* boottime: end it then */
	int64_t begun_ms;              /* boottime */
	uv_timer_t *timer;             /* time limit, then grace */
	bool forget;                   /* no result shall be reported */
	const char *ended_as;          /* its outcome as the journal names it */
	bool abandoned;                /* a function that did not stop; its result is made up already */
	int refs;
	void *data;
	char *result_item; /* as it is reported, JSON */
	uint64_t stored_bytes;

	/* What a server has yet to hear. */
	bool accepted_due, started_due, heartbeat_due, result_due;
	struct axw_attempt *dirty_prev, *dirty_next;
	bool dirty;           /* in the list of those that have something to say and are not being told */
	bool gone;            /* removed */
	bool brief;           /* it ended before a server heard that it began; its result is on its way to the spool */
	struct server *giver; /* NULL: an earlier process's */
	struct server *telling; /* a report that names it is on its way there */

	/* Under w->lock. */
	enum axw_stop stop;
	bool finished;
	bool more_output; /* its executor has output that was not taken yet; the result waits for it */
	struct axw_finish_args finish;
	char signal[16];
	char *message;
	char *result; /* JSON */
	bool progress_due;
	int64_t progress_said_ms; /* boottime */
	int percent;
	char progress[AXW_PROGRESS_MAX + 1];
	struct output *out, *out_last;
	uint32_t out_seq;
	size_t out_total;

	UT_hash_handle hh;     /* by id */
	UT_hash_handle hh_run; /* by gid: the newest attempt that is queued or executing */
};

struct seen {
	struct {
		int64_t gid;
		int64_t fence;
	} id;
	UT_hash_handle hh;
};

/* How a worker ends: it finishes what runs, stops what does not finish, reports the rest, says goodbye. */
enum phase { OPEN, FINISHING, STOPPING, REPORTING, LEAVING, CLOSED };

struct post {
	void (*fn)(struct axw *w, void *arg);
	void *arg;
	struct post *next;
};

struct axw {
	/* options */
	char *name;
	char *token;
	char *token_file;
	char *state_dir;
	char *ca_file;
	char *version;
	int journal_fd; /* -1 = none */
	json_t *tags;
	void (*log)(void *user, enum axw_level level, const char *line);
	void *log_user;
	uint64_t spool_max_bytes, disk_low_bytes;
	struct group groups[AXW_GROUPS_MAX];
	int n_groups;
	struct server servers[AXW_SERVERS_MAX];
	int n_servers;
	char incarnation[33];
	struct executor *executors;

	/* what the server said at registration */
	int64_t heartbeat_ms, start_within_ms, unreachable_ms, poll_wait_ms;

	uv_loop_t loop;
	uv_thread_t thread;
	uv_async_t wake;
	uv_timer_t second, heartbeat, report_timer;
	bool started;
	struct ax_curl_loop *curl;
	struct axw_spool *spool;
	struct ax_pool *pool;
	int lock_fd; /* of the state folder */

	struct axw_attempt *attempts; /* by id */
	struct axw_attempt *runs;     /* by gid */
	struct axw_attempt *dirty;
	int brief;             /* so many of them are */
	int64_t told_ms;       /* boottime: a report was sent or answered last */
	int64_t gather_end_ms; /* boottime: the next report waits for those no longer; 0 = none is due */
	struct seen *seen;
	unsigned attempts_peak; /* since there were none */
	int executing;
	int functions_out; /* threads that are inside a function */
	uint64_t stored_bytes;
	bool disk_low;
	bool registered_once;
	/* Whose gids they are, what this worker holds; "" until a server or the spool tells. */
	char store_id[AXW_NAME_MAX + 1];
	struct server *store_teller; /* NULL: the spool */

	int64_t polls_sent; /* the newest one's number */
	struct unanswered unanswered;
	int64_t beat_ms; /* boottime: the last heartbeat became due */
	uint64_t random;

	enum phase phase;
	bool draining;                      /* from FINISHING on */
	bool closing;                       /* CLOSED: no more calls */
	int64_t drain_end_ms, phase_end_ms; /* boottime */
	int end;
	void (*closing_cb)(void *user);
	void *closing_user;

	uv_mutex_t lock;
	uv_cond_t stop_asked;
	struct post *posts, *posts_last; /* under lock */
	bool closed;                     /* under lock: nobody takes posts any more */
	size_t output_waiting;           /* under lock */
	int64_t drain_wish_ms;           /* under lock: of the last axw_drain */
};

/* worker.c */
void axw_post(struct axw *w, void (*fn)(struct axw *w, void *arg), void *arg); /* from any thread */
void axw_run_posts(struct axw *w);
void axw_end_now(struct axw *w, int end); /* stops everything; the worker ends with `end` */
int64_t axw_slots(const struct axw *w, const struct group *group);
int64_t axw_jitter(struct axw *w, int64_t ms); /* between half of it and all: many workers shall not come at once */

/* options.c */
bool axw_options_read(struct axw *w, const struct axw_options *given, char *error, size_t size);
void axw_options_free(struct axw *w); /* and w itself */
bool axw_is_name(const char *s);
bool axw_fail(char *error, size_t size, const char *fmt, ...) AX_PRINTF(3, 4); /* false */

/* log.c: a line, whose members are written between begin and end */
struct axw_line {
	struct ax_buf text;
	struct ax_json json;
	enum axw_level level;
};
void axw_line_begin(const struct axw *w, struct axw_line *line, enum axw_level level, const char *event);
void axw_line_end(const struct axw *w, struct axw_line *line);
void axw_log_json(struct axw *w, enum axw_level level, const char *event, json_t *members); /* takes members */

/* take.c */
/* From a poll's answer: it waits for a place, which axw_dispatch gives. */
void axw_attempt_take(struct server *giver, struct ax_look run, int64_t poll_sent_ms);
struct axw_attempt *axw_attempt_recover(struct axw *w, int64_t gid, int64_t fence, const char *spooled);

/* journal.c */
bool axw_journal_open(struct axw *w, const char *path);
/* "start", "end", "told"; with one more member, unless its name is NULL. */
void axw_journal_add(
	struct axw *w, const struct axw_attempt *a, const char *event, const char *name, const char *value);
void axw_journal_close(struct axw *w);

/* attempt.c */
struct axw_attempt *axw_attempt_new(struct axw *w, int64_t gid, int64_t fence);
void axw_attempt_remove(struct axw_attempt *a); /* from every list; the memory goes with the last reference */
void axw_attempt_set_deadline(struct axw_attempt *a);
void axw_attempt_count_place(struct axw_attempt *a, int delta); /* it takes or leaves a place of its group */
void axw_attempt_finish_at_once(struct axw_attempt *a, enum axw_outcome outcome, const char *message);
struct axw_attempt *axw_attempt_find(struct axw *w, int64_t gid, int64_t fence);
void axw_attempt_renewed(struct axw_attempt *a, int64_t sent_ms);
void axw_attempt_confirmed(struct axw_attempt *a);               /* the server knows that it starts */
void axw_attempt_stop(struct axw_attempt *a, enum axw_stop why); /* in any state */
void axw_attempt_delivered(struct axw_attempt *a, bool counted); /* a server took the result; or it came too late */
bool axw_attempt_leave_out(struct axw_attempt *a);     /* what was returned; false when there is nothing to leave out */
void axw_attempt_stored(struct axw *w, void *attempt); /* the spool has it */
void axw_attempt_ref(struct axw_attempt *a);
void axw_attempt_unref(struct axw_attempt *a);
void axw_attempts_tick(struct axw *w, int64_t now_ms);
void axw_dispatch(struct axw *w); /* begins what has a place */
bool axw_attempts_open(struct axw *w);
void axw_attempts_close(struct axw *w); /* the loop ends */

/* report.c: what a server has yet to hear, and what it answers */
void axw_report_mark(struct axw_attempt *a); /* it has something to say */
void axw_report_unmark(struct axw_attempt *a);
bool axw_report_is_needed(struct axw_attempt *a); /* unmarks one that has nothing to say any more */
void axw_report_stops(struct axw *w, struct ax_look stops);
void axw_output_add(struct axw_attempt *a, char *text, size_t len); /* takes the text, which is clean: an item */
void axw_output_drop(struct axw_attempt *a);
struct batch *axw_batch_new(size_t items_max);
void axw_batch_add(struct batch *b, struct axw_attempt *a); /* as much as fits */
size_t axw_batch_size(const struct batch *b);
const char *axw_batch_items(const struct batch *b); /* JSON, with commas between */
void axw_batch_sent(struct batch *b, struct server *to);
bool axw_batch_answered(struct batch *b, struct server *by, struct ax_look verdicts, int64_t sent_ms);
void axw_batch_refused(struct batch *b, struct server *by, json_t *answer); /* as a whole */
void axw_batch_untold(struct batch *b, struct server *to); /* no answer yet, or none at all: others may be told */
void axw_batch_free(struct batch *b);
int64_t axw_progress_wait_ms(const struct axw_attempt *a); /* 0: none waits for its time */

/* tell.c: which server is told, and when */
void axw_tell_now(struct axw *w);
void axw_tell_soon(struct axw *w);
void axw_tell_beat(struct axw *w);                           /* also when there is nothing to say */
void axw_tell_trust(struct server *server, int64_t took_ms); /* it answered */
void axw_tell_doubt(struct server *server);                  /* it did not */
bool axw_tell_is_over(const struct axw *w);                  /* there is nothing to say, and nothing unanswered */
void axw_tell_abort(struct axw *w);

/* unanswered.c */
void axw_unanswered_add(struct axw *w, int64_t number);
void axw_unanswered_write(struct server *to, struct ax_json *json); /* into a report */
void axw_unanswered_told(struct server *by);                        /* that report was taken */

/* wire.c: a POST to a server. `done` gets the HTTP status (0 = no answer) and the answer when it is JSON: as a tree,
 * or, when it is the 200 of a call that is made often, to be looked into. */
struct axw_answer {
	bool sent; /* the server may have read it, answered or not */
	json_t *json;
	struct ax_look look;
};
typedef void call_done(struct axw *w, struct server *server, int status, const struct axw_answer *answer,
	int64_t retry_after_ms, int64_t sent_ms, void *user);
/* Both take the body. */
struct call *axw_call(
	struct server *server, const char *what, json_t *body, int64_t timeout_ms, call_done *done, void *user);
struct call *axw_call_often(
	struct server *server, const char *what, struct ax_buf *body, int64_t timeout_ms, call_done *done, void *user);
void axw_call_abort(struct call *call);

/* session.c: registering and polling every server, leaving */
void axw_session_start(struct server *server);
void axw_session_poll(struct axw *w); /* asks every registered server for what it is not being asked for */
void axw_session_lost(struct server *server, int status, json_t *answer); /* it said that it does not know us */
void axw_session_leave(struct axw *w, void (*left)(struct axw *w));
void axw_session_stop_polls(struct axw *w);
void axw_session_abort(struct axw *w);
json_t *axw_hello(const struct axw *w);                          /* {worker, incarnation} */
void axw_hello_write(const struct axw *w, struct ax_json *json); /* the same members */

#endif
