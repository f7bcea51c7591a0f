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

/* `run` need not be stored. */
enum ax_status ax_claim_facts_read(struct ax_tx *tx, const struct ax_run *run, int64_t now, struct ax_claim_facts *ret,
	struct ax_err *err) AX_MUST_USE;

bool ax_claim_lane_has_room(const struct ax_claim_facts *facts, const struct ax_run *run);

/* Why a WAITING run waits: overlap, task_paused, spread, group_paused, worker, tags, quota, backlog, lane, route,
 * claim; the first that holds. app/why.h says it in sentences. */
enum ax_status ax_run_waiting_for(
	struct ax_tx *tx, const struct ax_run *run, int64_t now, const char **ret, struct ax_err *err) AX_MUST_USE;

#endif
