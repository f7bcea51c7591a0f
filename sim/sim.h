#ifndef AX_SIM_SIM_H
#define AX_SIM_SIM_H

/* The deterministic simulator: the real services over the memory store, with virtual time, a network that loses,
 * repeats, delays and reorders, workers that crash and pause, one to three servers that crash, pause and are cut off,
 * transactions of theirs that overlap operation by operation, and a clock that steps. One seed decides everything; the
 * same seed gives the same history.
 *
 *   world.c      virtual time, the event heap, random fates, the trace
 *   faults.c     the store as it is in bad times, the servers' clocks, randomness and notifications
 *   threads.c    the threads of servers: who goes on while whose transaction stands still
 *   server.c     ax-server: ticks, parked polls, requests; crashes and restarts
 *   worker.c     ax-worker as docs/protocol.md wants it: queue, attempts, spool, heartbeats, self-fencing
 *   chains.c     events and chains: who sends and draws them, and what must hold of them
 *   alerts.c     who sends alerts and who receives them; channels come and go
 *   queue.c      the due queue in Redis: taking, loading, and what befalls it
 *   operator.c   people: they create, edit, pause, trigger, cancel, rerun …
 *   routing.c    who may get what, and whether anybody was passed over
 *   invariants.c what must hold after every transaction, and at the end
 *   main.c       seeds, options, the report */

#include <stdbool.h>
#include <stdint.h>

#include "app/ctx.h"
#include "app/dispatch.h"
#include "app/ingest.h"
#include "app/queue_feed.h"
#include "port/mem_queue.h"
#include "port/mem_store.h"
#include "port/row.h"
#include "port/sender.h"
#include "port/wrap_due.h"
#include "port/wrap_fault.h"

enum {
	SIM_SERVERS = 3,
	SIM_THREADS = 2,
	SIM_SKEW_MS = 200,
	SIM_WORKERS = 3,
	SIM_DELETING = 64,
	SIM_GROUPS = 2,
	SIM_LASTS_MS = 120000, /* an attempt, at most, in calm times */
	SIM_HELD_MAX = 24,
	SIM_UNANSWERED_MAX = 4,
	SIM_TASKS_MAX = 40,
	SIM_BUSY_MAX = 16
};

struct sim;
typedef void (*sim_fn)(struct sim *sim, void *arg);

/* How bad the times are: drawn per seed, so that some are calm and some are hell. Probabilities per mille. */
struct sim_profile {
	int lose, repeat, slow;              /* per message */
	int tx_fail, tx_uncertain, tx_again; /* per transaction */
	int server_crash;                    /* per transaction */
	int server_stop, server_cut;         /* per tick: ended in order; no way to the database */
	int interleave, stand_ms;            /* per operation: others go on, for so long at most */
	int64_t act_ms;                      /* people do something so often, at least */
	int partition;                       /* per worker step: no way to one server */
	int worker_crash, worker_pause;      /* per worker step */
	int clock_step;                      /* per minute */
	int hang;                            /* attempts that outlive every limit */
	int sink_down;                       /* per message of an alert: it does not arrive */
	int64_t fault_ms, end_ms;            /* faults stop, the simulation ends */
};

/* One thing that a worker holds. */
struct sim_attempt {
	int64_t gid, fence, task_id;
	int64_t timeout_s;
	bool confirmed; /* start only after the server's word */
	bool continues; /* on_unreachable: continue */
	bool is_long;
	int64_t rank, long_share_percent;
	bool accepted_told, started, started_told, start_allowed, stopping, over;
	int64_t start_ms, end_ms;
	int64_t beat_sent_ms, beat_ok_ms; /* sending times of the newest heartbeat, and of the newest one answered */
	enum ax_outcome outcome;
};

struct sim_result {
	int64_t gid, fence;
	enum ax_outcome outcome;
	int64_t duration_ms;
	bool started_due; /* no server has said that it knows of the start */
};

struct sim_worker {
	struct sim *sim;
	int index;
	char name[16];
	char incarnation[40];
	bool up, registered, reporting, step_due;
	int64_t paused_until;
	int64_t life; /* counts starts: messages of an earlier life are not for this one */
	uint64_t report_id;
	struct {
		uint64_t id;
		int64_t sent;
		bool out;
	} polls[SIM_SERVERS];
	int64_t unanswered[SIM_UNANSWERED_MAX]; /* numbers of polls that were given up */
	int n_unanswered;
	int favourite; /* the server that it speaks to, until that one does not answer */
	int64_t cut_until[SIM_SERVERS];
	struct sim_attempt held[SIM_HELD_MAX];
	int n_held;
	struct sim_result spool[SIM_HELD_MAX]; /* survives crashes */
	int n_spool;
	int64_t pool;
	bool disabled; /* a person disabled it, and was told so */
};

struct sim_parked {
	int worker;
	int64_t life;
	uint64_t poll_id;
	int64_t poll_number;
	char incarnation[40];
	int64_t slots;
	int64_t until;
	bool live;
	bool said;              /* of its worker, since it was looked at last */
	bool ready[SIM_GROUPS]; /* … of its groups */
};

/* One of a server's: it does one thing at a time. */
struct sim_thread {
	struct sim *sim;
	struct sim_server *server;
	int index;
	sim_fn fn; /* what it does; NULL = nothing */
	void *arg;
	struct ax_ctx ctx;
	struct ax_arena arena;
	struct ax_store store;   /* that of the simulator, with a server that may die at any commit */
	struct ax_due_store due; /* above it: tells the queue what was written */
	struct ax_clock clock;
	struct ax_notify notify;
	struct ax_log log;
	bool alone;                                   /* no other transaction was open while one of this look was */
	bool stepped;                                 /* the clock was set while it was at work */
	bool ready[SIM_GROUPS], changed[SIM_WORKERS]; /* what its transaction says, for when it has ended */
};

/* What waits for a thread. */
struct sim_call {
	sim_fn fn;
	void *arg;
	struct sim_call *next;
};

struct sim_server {
	struct sim *sim;
	int index, n_threads;
	char name[8];
	bool up, crash; /* it shall die now, in the middle of what it does */
	bool retired;   /* for good */
	int64_t paused_until, cut_until;
	int64_t life;
	int64_t up_since, step_then; /* true time and clock's step of its start */
	int64_t offset;              /* of its clock, against the others' */
	struct ax_seat seat;
	struct sim_thread threads[SIM_THREADS];
	struct sim_call *calls;
	struct sim_parked parked[SIM_WORKERS * 4];
	bool dispatch_due, dispatching;
	struct ax_round round;
	int64_t dispatch_at;    /* when the newest look that was planned is due, or was */
	int64_t tick_at;        /* when the next tick is due; 0 = none planned */
	int64_t audit_at;       /* when quotas are audited next */
	struct ax_queue *queue; /* NULL = there is none */
	struct ax_feed feed;
	struct ax_feed_host feed_host;
	uint32_t shards;   /* that it takes from */
	int64_t look_at;   /* at the queue */
	int64_t gid_floor; /* newest gid of its number before it was its own */
	int64_t gid_number;

	/* messages of alerts: channels that one is under way to, and what ax_deliver handed in */
	struct ax_sender sender;
	int64_t busy[SIM_BUSY_MAX];
	int n_busy;
	void *outgoing[SIM_BUSY_MAX];
	int n_outgoing;
};

struct sim_event {
	int64_t at;
	uint64_t order;
	sim_fn fn;
	void *arg;
};

/* What the checker has seen of a run. */
struct sim_seen {
	int64_t gid;
	enum ax_run_state status;
	int64_t fence;
	int64_t rev;
	int64_t lost_times, bounce_times;
	bool accepted;
};

struct sim {
	uint64_t seed, random;
	bool trace, calm, failed;
	bool narrow; /* few tasks, and people who do things to one of them at all servers at once */
	char failure[400];
	int64_t now;       /* true time */
	int64_t wall_step; /* the server's clock minus true time */
	uint64_t orders;
	struct sim_event *heap;
	int n_heap, cap_heap;
	struct sim_profile profile;

	struct ax_mem_store *mem;
	struct ax_mem_queue *queue; /* of all servers; NULL = there is none */
	struct ax_clock queue_clock;
	struct ax_fault_store faults; /* the memory store in bad times */
	struct ax_rand rand;
	struct ax_zones zones;
	struct ax_mem_turns turns;
	struct sim_server servers[SIM_SERVERS];
	int n_servers;
	bool sole;             /* the store is one server's alone */
	bool shared;           /* transactions overlap */
	bool poll_all, roam;   /* workers speak to all servers, or to any */
	struct sim_thread *at; /* whose turn it is */
	int64_t told_ms;       /* when a server said something to polls last */
	bool is_set_up;
	int64_t pile;    /* a task with more runs than one transaction cancels; 0 = none */
	int64_t *doomed; /* its runs that were left when a delete was answered */
	int n_doomed;
	int64_t deleting[SIM_DELETING]; /* tasks that were being deleted at the last commit */
	int n_deleting;
	struct sim_worker workers[SIM_WORKERS];

	int64_t *events; /* that were checked, by id */
	size_t n_events;
	struct ax_run_upstream *known; /* successes that runs knew of before this step */
	size_t n_known;
	struct sim_seen *seen;
	int n_seen, cap_seen, cap_spare;
	struct sim_seen *spare_seen;
	uint64_t changes_seen;
	/* every execution that was begun, or given back before anybody had it: for "one fence, one execution" */
	struct {
		int64_t gid, fence;
	} * used;
	int n_used, cap_used;
	/* results whose receipt the server confirmed */
	struct sim_result *acked;
	int n_acked, cap_acked;

	int64_t *told; /* ids of deliveries: every message of an alert that arrived */
	int n_told, cap_told;

	uint64_t trace_hash;
	int64_t transactions, messages, crashes, runs_begun;
};

/* world.c */
uint64_t sim_random(struct sim *sim);
int64_t sim_between(struct sim *sim, int64_t low, int64_t high); /* both included */
bool sim_chance(struct sim *sim, int per_mille);                 /* never in calm times */
void sim_after(struct sim *sim, int64_t delay_ms, sim_fn fn, void *arg);
/* Delivers after a random time, maybe never, maybe twice. `arg` must stay valid for good (sim_keep). */
void sim_send(struct sim *sim, sim_fn deliver, void *arg);
void *sim_keep(struct sim *sim, size_t size); /* memory until the end of the seed */
void sim_fail(struct sim *sim, const char *fmt, ...) AX_PRINTF(2, 3);
void sim_trace(struct sim *sim, const char *fmt, ...) AX_PRINTF(2, 3);
void sim_run_events(struct sim *sim);

/* faults.c */
void sim_faults_init(struct sim *sim);
void sim_thread_ports(struct sim_thread *t);
int64_t sim_wall_now(const struct sim *sim); /* by the clock of the server at work, or a true one */

/* threads.c */
void sim_threads_init(struct sim *sim);
void sim_thread_init(struct sim_thread *t);
void sim_thread_run(struct sim_thread *t, sim_fn fn, void *arg); /* one that is idle */
/* On any thread of the server, as soon as one is idle. */
void sim_call(struct sim *sim, struct sim_server *server, sim_fn fn, void *arg);

/* server.c */
void sim_servers_start(struct sim *sim);
void sim_servers_retire(struct sim *sim); /* all but the first */
void sim_servers_clock_set(struct sim *sim);
void sim_server_die(struct sim *sim, struct sim_server *server);
void sim_server_dispatch(struct sim *sim, void *server);
void sim_server_wake(struct sim *sim, struct sim_server *server);
/* A transaction of the thread has ended: its server's polls hear at once what it said, those of the others a little
 * later. */
void sim_server_tell(struct sim_thread *t);
bool sim_server_ready(const struct sim_server *server);                           /* does it answer? */
struct sim_server *sim_any_server(struct sim *sim);                               /* that is ready; NULL = none */
void *sim_copy(struct sim *sim, const struct ax_row_type *type, const void *row); /* until the call is over */
/* queue.c */
void sim_queue_start(struct sim *sim);
void sim_queue_join(struct sim *sim, struct sim_server *server); /* at its start */
void sim_queue_told(void *server, const struct ax_queue_entry *entries, int n);
int64_t sim_queue_leads_ms(const struct sim_server *server);

/* Requests as they arrive; each calls `answer` through the network, unless the server dies on the way. */
struct sim_register {
	struct sim_server *server;
	struct sim_worker *worker;
	int64_t life;
	char incarnation[40];
	struct ax_stop running[SIM_HELD_MAX * 2];
	int n_running;
	enum ax_status status;
	struct ax_stop stops[SIM_HELD_MAX * 2];
	int n_stops;
};
struct sim_report {
	struct sim_server *server;
	struct sim_worker *worker;
	int64_t life;
	uint64_t id;
	int64_t sent;
	char incarnation[40];
	struct ax_item items[SIM_HELD_MAX * 6];
	int n;
	int64_t unanswered[SIM_UNANSWERED_MAX];
	int n_unanswered;
	enum ax_status status;
	struct ax_stop stops[SIM_HELD_MAX];
	int n_stops;
};
struct sim_poll {
	struct sim_server *server;
	struct sim_worker *worker;
	int64_t life;
	uint64_t id;    /* among those to this server */
	int64_t number; /* among those of this life to all of them */
	char incarnation[40];
	int64_t slots;
	enum ax_status status;
	struct {
		struct sim_attempt attempt;
	} orders[SIM_HELD_MAX];
	int n_orders;
	struct ax_stop stops[SIM_HELD_MAX];
	int n_stops;
};
void sim_server_register(struct sim *sim, void *arg);
void sim_server_report(struct sim *sim, void *arg);
void sim_server_poll(struct sim *sim, void *arg);

/* worker.c */
void sim_worker_start(struct sim *sim, void *arg);
void sim_worker_registered(struct sim *sim, void *arg);
void sim_worker_reported(struct sim *sim, void *arg);
void sim_worker_polled(struct sim *sim, void *arg);

/* operator.c */
void sim_operator_start(struct sim *sim);
void sim_operator_first(struct sim *sim);
void sim_operator_rest(struct sim *sim); /* pauses every task: the demand ends */
void sim_check_pile(struct sim *sim);    /* at the end */

/* chains.c */
void sim_draw_chain(struct sim *sim, struct ax_task_def *def);
void sim_send_event(struct sim *sim);
void sim_check_chains(struct sim *sim); /* after every transaction, before check_runs */

/* alerts.c */
void sim_alerts_start(struct sim *sim, struct sim_server *server); /* with the server */
void sim_act_on_alerts(struct sim *sim);
const char *sim_draw_contacts(struct sim *sim); /* of a group: mostly nobody, sometimes a channel that there is */

/* routing.c */
const char *sim_worker_tags(const struct sim_worker *worker);
const char *sim_worker_executors(const struct sim_worker *worker);
void sim_draw_route(struct sim *sim, struct ax_task_def *def);
void sim_draw_room(struct sim *sim, struct ax_group *group);
void sim_check_claim(struct sim *sim, const struct ax_run *run);
void sim_check_left(
	struct sim *sim, const struct sim_worker *worker, int64_t slots, int64_t for_ms); /* its poll got nothing */
bool sim_may_wait_for_ever(struct sim *sim, const struct ax_run *run); /* no worker may ever have it */

/* invariants.c */
void sim_check_told(
	struct sim *sim, int64_t delivery_id, int64_t alert_id, int64_t channel_id, enum ax_delivery_kind kind);
void sim_check_step(struct sim *sim); /* after every transaction */
void sim_note_seat(struct sim *sim);  /* a server has taken a number: what was made before it is below */
/* What was seen of the run before this step; NULL = it is new. Who asks for all in the order of their gids says in `at`
 * how far it is, 0 at first. */
const struct sim_seen *sim_seen_of(const struct sim *sim, const struct ax_run *run, int *at);
void sim_check_begin(struct sim *sim, const struct sim_worker *worker, const struct sim_attempt *attempt);
/* A server gave it back: the answer that brought it did not reach the worker. */
void sim_check_unanswered(struct sim *sim, const struct sim_worker *worker, int64_t gid, int64_t fence);
void sim_check_acked(struct sim *sim, const struct sim_result *result);
void sim_check_end(struct sim *sim);

#endif
