#ifndef AX_APP_CHAIN_H
#define AX_APP_CHAIN_H

/* Chains (docs/chains.md): what the end of a run means for the tasks that name its task as an upstream. It judges, and
 * keeps what a run knows of its upstreams; change.c writes what follows, in the transaction that ends the run. So the
 * end and all that it causes are there together or not at all: the crash points are before and after.
 *
 * Two upstreams of a join may end in two transactions at once. Each locks the row of the join's task before it looks,
 * so the second one sees what the first one wrote; and the key of a run is unique, whatever happens. Rows are locked
 * along the chain, which has no circles. */

#include "app/ctx.h"

enum ax_link_kind {
	AX_LINK_NONE,
	AX_LINK_START,   /* `run` is new and due */
	AX_LINK_WAIT,    /* `run` is new, a join that waits for the other upstreams until its deadline_time */
	AX_LINK_BLOCKED, /* `run` is new and over: BLOCKED */
	AX_LINK_DUE,     /* `run`, a join that waited, has all that it waited for */
	AX_LINK_BLOCK,   /* `run`, a join that waited, will not get it */
};

/* What becomes of one downstream task. `run` is as it shall be stored, but for its state. */
struct ax_link {
	enum ax_link_kind kind;
	struct ax_task task;
	struct ax_run run;
	const char *reason; /* of BLOCKED and BLOCK */
};

/* The end of a run of the task `upstream`, for the task `downstream_id`, whose row is locked by this. */
enum ax_status ax_chain_judge(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *upstream,
	const struct ax_run *ended, int64_t downstream_id, int64_t now, struct ax_link *ret, struct ax_err *err);

/* A join that waits, looked at anew because its task was changed. */
enum ax_status ax_chain_judge_again(struct ax_tx *tx, const struct ax_task *task, const struct ax_run *join,
	struct ax_link *ret, struct ax_err *err);

/* What a run is told of a run that it follows. */
struct ax_told {
	int64_t task_id;
	const char *task_name; /* "" = the task is gone */
	int64_t gid;
	enum ax_run_state status;
	const char *result; /* JSON text or "" */
	bool omitted;       /* the results of all do not fit into AX_UPSTREAM_RESULTS_MAX */
};
struct ax_tolds {
	struct ax_told *at;
	int n;
};
enum ax_status ax_chain_tell(struct ax_tx *tx, const struct ax_run *run, struct ax_tolds *ret, struct ax_err *err);

/* The newest run that a downstream task has because of this one. AX_NOT_FOUND. */
enum ax_status ax_chain_find(struct ax_tx *tx, const struct ax_run *upstream, const struct ax_task *downstream,
	struct ax_run *ret, struct ax_err *err);

/* A rerun stands on what the first run stood on. */
enum ax_status ax_chain_copy(struct ax_tx *tx, int64_t from_gid, int64_t to_gid, struct ax_err *err);

#endif
