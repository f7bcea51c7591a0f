#ifndef AX_SIM_SIM_H
#define AX_SIM_SIM_H

/* The deterministic simulator: the real services over the memory store, with virtual time, a network that loses,
 * repeats, delays and reorders, workers that crash and pause, a server that crashes, and a clock that steps. One seed
 * decides everything; the same seed gives the same history.
 *
 *   world.c      virtual time, the event heap, random fates, the trace
 *   faults.c     the store as it is in bad times, the server's clock, randomness and notifications
 *   server.c     ax-server: ticks, parked polls, requests; crashes and restarts
 *   worker.c     ax-worker as docs/protocol.md wants it: queue, attempts, spool, heartbeats, self-fencing
 *   chains.c     events and chains: who sends and draws them, and what must hold of them
 *   alerts.c     who sends alerts and who receives them; channels come and go
 *   operator.c   people: they create, edit, pause, trigger, cancel, rerun …
 *   routing.c    who may get what, and whether anybody was passed over
 *   invariants.c what must hold after every transaction, and at the end
 *   main.c       seeds, options, the report */

#include <stdbool.h>
#include <stdint.h>

#include "app/ctx.h"
#include "app/ingest.h"
#include "port/mem_store.h"
#include "port/sender.h"
#include "port/wrap_fault.h"

enum { SIM_WORKERS = 3, SIM_HELD_MAX = 24, SIM_TASKS_MAX = 40, SIM_BUSY_MAX = 16 };

struct sim;
typedef void (*sim_fn)(struct sim *sim, void *arg);

/* How bad the times are: drawn per seed, so that some are calm and some are hell. Probabilities per mille. */
struct sim_profile {
	int lose, repeat, slow;              /* per message */
	int tx_fail, tx_uncertain, tx_again; /* per transaction */
	int server_crash;                    /* per transaction */
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
};

struct sim_worker {
	struct sim *sim;
	int index;
	char name[16];
	char incarnation[40];
	bool up, registered, polling, reporting, step_due;
	int64_t paused_until;
	int64_t life; /* counts starts: messages of an earlier life are not for this one */
	uint64_t poll_id, report_id;
	int64_t poll_sent;
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
	char incarnation[40];
	int64_t slots;
	int64_t until;
	bool live;
};

struct sim_server {
	bool up;
	int64_t paused_until;
	int64_t life;
	int64_t up_since, step_then; /* true time and clock's step of its start */
	struct ax_seat seat;
	struct ax_ctx ctx;
	struct ax_arena arena;
	struct sim_parked parked[SIM_WORKERS * 4];
	bool dispatch_due;
	int64_t tick_at; /* when the next tick is due; 0 = none planned */
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
	char failure[400];
	int64_t now;       /* true time */
	int64_t wall_step; /* the server's clock minus true time */
	uint64_t orders;
	struct sim_event *heap;
	int n_heap, cap_heap;
	struct sim_profile profile;

	struct ax_mem_store *mem;
	struct ax_fault_store faults; /* the memory store in bad times */
	struct ax_store store;        /* the same, with a server that may die at any commit */
	struct ax_clock clock;
	struct ax_rand rand;
	struct ax_notify notify;
	struct ax_log log;
	struct ax_zones zones;
	bool crash; /* the server shall die now, in the middle of what it does */
	struct sim_server server;
	struct sim_worker workers[SIM_WORKERS];

	int64_t last_event;            /* that was checked */
	struct ax_run_upstream *known; /* successes that runs knew of before this step */
	size_t n_known;
	struct sim_seen *seen;
	int n_seen, cap_seen;
	uint64_t commits_seen;
	/* every begun execution, for "one fence, one execution" */
	struct {
		int64_t gid, fence;
	} * begun;
	int n_begun, cap_begun;
	/* results whose receipt the server confirmed */
	struct sim_result *acked;
	int n_acked, cap_acked;

	/* messages of alerts: channels that one is under way to, what ax_deliver handed in, and every event that
	 * arrived */
	struct ax_sender sender;
	int64_t busy[SIM_BUSY_MAX];
	int n_busy;
	void *outgoing[SIM_BUSY_MAX];
	int n_outgoing;
	int64_t *told; /* ids of deliveries */
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

/* server.c */
void sim_server_start(struct sim *sim);
void sim_server_wake(struct sim *sim);
/* Requests as they arrive; each calls `answer` through the network, unless the server dies on the way. */
struct sim_register {
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
	struct sim_worker *worker;
	int64_t life;
	uint64_t id;
	int64_t sent;
	char incarnation[40];
	struct ax_item items[SIM_HELD_MAX * 4];
	int n;
	enum ax_status status;
	struct ax_stop stops[SIM_HELD_MAX];
	int n_stops;
};
struct sim_poll {
	struct sim_worker *worker;
	int64_t life;
	uint64_t id;
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
/* Calls a service as a person does; false when the server is not there or died on it. */
bool sim_server_ready(struct sim *sim);
bool sim_server_done(struct sim *sim);

/* chains.c */
void sim_draw_chain(struct sim *sim, struct ax_task_def *def);
void sim_send_event(struct sim *sim);
void sim_check_chains(struct sim *sim); /* after every transaction, before check_runs */

/* alerts.c */
void sim_alerts_start(struct sim *sim); /* with the server */
void sim_act_on_alerts(struct sim *sim);

/* routing.c */
const char *sim_worker_tags(const struct sim_worker *worker);
const char *sim_worker_executors(const struct sim_worker *worker);
void sim_draw_route(struct sim *sim, struct ax_task_def *def);
void sim_draw_room(struct sim *sim, struct ax_group *group);
void sim_check_claim(struct sim *sim, const struct ax_run *run);
void sim_check_left(struct sim *sim, const struct sim_worker *worker, int64_t slots); /* its poll got nothing */
bool sim_may_wait_for_ever(struct sim *sim, const struct ax_run *run);                /* no worker may ever have it */

/* invariants.c */
void sim_check_told(
	struct sim *sim, int64_t delivery_id, int64_t alert_id, int64_t channel_id, enum ax_delivery_kind kind);
void sim_check_step(struct sim *sim); /* after every transaction */
void sim_check_begin(struct sim *sim, const struct sim_worker *worker, const struct sim_attempt *attempt);
void sim_check_acked(struct sim *sim, const struct sim_result *result);
void sim_check_end(struct sim *sim);

#endif
