#ifndef AX_CORE_RUN_FSM_H
#define AX_CORE_RUN_FSM_H

/* The life of a run: one table, state × event → next state + effects.
 *
 * Nothing else in AX decides what state a run goes to. Stores apply a step by compare-and-swap; docs/state-machine.md
 * is printed from this table. Read it beside run_fsm.c. */

#include <stdbool.h>

/* AX_RUN_STATE(name, number in the tables, what it means) — the numbers are stored; from 10 on a state is terminal. */
#define AX_RUN_LIVE_STATES(AX_RUN_STATE)                                                                               \
	AX_RUN_STATE(PENDING, 0, "known, not due yet")                                                                 \
	AX_RUN_STATE(WAITING, 1, "due; held for a stated reason or about to be given out")                             \
	AX_RUN_STATE(DISPATCHED, 2, "given to a worker under lease and fence")                                         \
	AX_RUN_STATE(RUNNING, 3, "the worker said that it began")                                                      \
	AX_RUN_STATE(RETRYING, 4, "an attempt failed, tries are left; due again at its retry time")
#define AX_RUN_ENDED_STATES(AX_RUN_STATE)                                                                              \
	AX_RUN_STATE(SUCCESS, 10, "ended: the work was done")                                                          \
	AX_RUN_STATE(FAILED, 11, "ended: the last attempt failed")                                                     \
	AX_RUN_STATE(TIMEOUT, 12, "ended: the last attempt took too long, or was lost too often")                      \
	AX_RUN_STATE(CANCELLED, 13, "ended: a person or a policy cancelled it")                                        \
	AX_RUN_STATE(BLOCKED, 14, "ended: an upstream did not succeed")                                                \
	AX_RUN_STATE(SKIPPED, 15, "ended: a policy passed this fire over")                                             \
	AX_RUN_STATE(MISSED, 16, "ended: the fire was found later than its window; a person decides")
#define AX_RUN_STATES(AX_RUN_STATE) AX_RUN_LIVE_STATES(AX_RUN_STATE) AX_RUN_ENDED_STATES(AX_RUN_STATE)

enum ax_run_state {
#define AX_RUN_STATE(name, number, text) AX_RUN_##name = (number),
	AX_RUN_STATES(AX_RUN_STATE)
#undef AX_RUN_STATE
};

/* AX_RUN_EVENT(name, what happened) */
#define AX_RUN_EVENTS(AX_RUN_EVENT)                                                                                    \
	AX_RUN_EVENT(DUE, "its due or retry time came")                                                                \
	AX_RUN_EVENT(CLAIM, "a worker with room takes it")                                                             \
	AX_RUN_EVENT(BOUNCE, "the worker did not accept it in time, or gave it back unstarted")                        \
	AX_RUN_EVENT(START, "the worker began")                                                                        \
	AX_RUN_EVENT(SUCCEED, "the worker reports success, with the current fence")                                    \
	AX_RUN_EVENT(FAIL_RETRY, "the attempt failed or timed out, tries are left")                                    \
	AX_RUN_EVENT(FAIL_LAST, "the attempt failed, no try is left")                                                  \
	AX_RUN_EVENT(TIMEOUT_LAST, "the attempt timed out, no try is left")                                            \
	AX_RUN_EVENT(LOST_RETRY, "the lease is gone, it may be tried again at once")                                   \
	AX_RUN_EVENT(LOST_LAST, "the lease is gone once too often")                                                    \
	AX_RUN_EVENT(RETRY_NOW, "a person does not want to wait for the retry time")                                   \
	AX_RUN_EVENT(CANCEL, "a person or the overlap policy wants it to stop")                                        \
	AX_RUN_EVENT(CANCEL_CONFIRMED, "the worker reports that it stopped, or the cancelled attempt's lease is gone") \
	AX_RUN_EVENT(PASS_OVER, "the overlap policy skips it while it waits, or when it comes due")                    \
	AX_RUN_EVENT(BLOCK, "a join: an upstream did not succeed, or not all in time")                                 \
	AX_RUN_EVENT(WORKER_GONE, "the one worker that it is for is gone for good")                                    \
	AX_RUN_EVENT(SPREAD, "its shards are made: from now on it is their parent")                                    \
	AX_RUN_EVENT(SHARDS_SUCCEEDED, "its last shard ended, all with success")                                       \
	AX_RUN_EVENT(SHARDS_FAILED, "its last shard ended, one of them as FAILED")                                     \
	AX_RUN_EVENT(SHARDS_TIMED_OUT, "its last shard ended, none as FAILED, one as TIMEOUT")                         \
	AX_RUN_EVENT(SHARDS_CANCELLED, "its last shard ended, others cancelled, or cancelled with the parent")

enum ax_run_event {
#define AX_RUN_EVENT(name, text) AX_EV_##name,
	AX_RUN_EVENTS(AX_RUN_EVENT)
#undef AX_RUN_EVENT
		AX_EV_MAX
};

/* What must be written in the same transaction as the step. */
enum ax_run_effect {
	AX_FX_TAKE = 1 << 0,   /* fence + 1; quota of the group and of (worker, group) taken */
	AX_FX_GIVE = 1 << 1,   /* the attempt is over: both quotas given back */
	AX_FX_RECORD = 1 << 2, /* an attempt that is not the last: a row in ax_attempt */
	AX_FX_ASK = 1 << 3,    /* the state stays; the worker is asked to stop */
	AX_FX_END = 1 << 4,    /* terminal: end time, the task's copy, the next run of the task */
	AX_FX_PARENT =
		1 << 5, /* only a parent of shards takes this step; those that take or give quota it never takes */
};

struct ax_run_step {
	bool allowed; /* false: in this state the event changes nothing */
	enum ax_run_state next;
	unsigned effects; /* AX_FX_* */
};

struct ax_run_step ax_run_step(enum ax_run_state state, enum ax_run_event event);

static inline bool ax_run_is_terminal(enum ax_run_state state)
{
	return state >= AX_RUN_SUCCESS;
}

/* DISPATCHED and RUNNING: a worker holds it, it counts in the quotas. */
static inline bool ax_run_is_given_out(enum ax_run_state state)
{
	return state == AX_RUN_DISPATCHED || state == AX_RUN_RUNNING;
}

const char *ax_run_state_name(enum ax_run_state state);
const char *ax_run_event_name(enum ax_run_event event);
bool ax_run_state_parse(const char *name, enum ax_run_state *ret);

/* A run is born in one of these; a parent also as RUNNING, with its shards. */
static inline bool ax_run_may_begin_as(enum ax_run_state state, bool parent)
{
	return (parent && state == AX_RUN_RUNNING) || state == AX_RUN_PENDING || state == AX_RUN_WAITING ||
		state == AX_RUN_BLOCKED || state == AX_RUN_SKIPPED || state == AX_RUN_MISSED;
}

#endif
