#ifndef AX_APP_CLAIM_H
#define AX_APP_CLAIM_H

/* What decides whether a run can be given out now, as the rows say it: the rules of dispatch.c, told to people. */

#include "app/ctx.h"

struct ax_claim_facts {
	struct ax_group group;
	/* Workers of the group that are online, and of these, each among those before it, which … */
	int serving;
	int offering;  /* offer the executor */
	int matching;  /* have the tags */
	int with_room; /* hold fewer runs than they may */
	int with_lane; /* hold fewer runs of its lane than they may */
	/* The worker that the run's route wants and that has no room, until when it waits for it; NULL = none. */
	const char *wanted;
	int64_t wanted_until;
};

/* What is read of groups and workers, once for all the runs that one transaction asks about. */
struct ax_claim_worker {
	struct ax_worker worker;
	struct ax_worker_group part;
};
struct ax_claim_group {
	struct ax_claim_group *next;
	struct ax_group group;
	struct ax_claim_worker *at; /* those that are online */
	int n;
};
struct ax_claim_view {
	struct ax_tx *tx;
	int64_t now;
	struct ax_claim_group *groups; /* NULL at first */
};

/* `run` need not be stored. */
enum ax_status ax_claim_facts_read(struct ax_claim_view *view, const struct ax_run *run, struct ax_claim_facts *ret,
	struct ax_err *err) AX_MUST_USE;

bool ax_claim_lane_has_room(const struct ax_claim_facts *facts, const struct ax_run *run);

/* Does the run wait for upstreams? */
static inline bool ax_run_is_joining(const struct ax_run *run)
{
	return run->status == AX_RUN_PENDING && run->kind == AX_KIND_CHAIN;
}

/* Why a WAITING run waits: overlap, task_paused, spread, group_paused, worker, tags, quota, backlog, lane, route,
 * claim; the first that holds. Why a RUNNING parent has no shard at work: the same of its first. A join: upstreams.
 * NULL for others. app/why.h says it in sentences. */
enum ax_status ax_run_waiting_for(
	struct ax_claim_view *view, const struct ax_run *run, const char **ret, struct ax_err *err) AX_MUST_USE;

/* Does nothing of a run's shards go on, and one waits to be given out? */
bool ax_shards_all_wait(const int64_t by_state[32]);
/* The one with the least gid; AX_NOT_FOUND. */
enum ax_status ax_shard_first_waiting(
	struct ax_tx *tx, const struct ax_run *parent, struct ax_run *ret, struct ax_err *err) AX_MUST_USE;

#endif
