#ifndef AX_APP_TURN_H
#define AX_APP_TURN_H

/* One group's turn in giving out runs: one transaction. First it chooses, then it gives, see dispatch.h. */

#include "app/takers.h"
#include "app/waiting.h"
#include "core/limits.h"

/* A run that is to be given out, in the answer to the poll. */
struct ax_choice {
	struct ax_order order;
	const char *params; /* a shard's are its parent's */
	int taker;
	struct ax_poll *poll;
	bool left; /* to the next turn */
};

struct ax_turn {
	struct ax_ctx *ctx;
	struct ax_poll *polls;
	int n;
	const char *group_key;

	struct ax_tx *tx;
	int64_t now, began_mono;
	int64_t begun_ms; /* that it took until there was something to choose from: six trips to the store, and no waits
			   */
	int64_t while_ms, until_mono; /* 0: not measured yet */
	struct ax_group group;        /* with what was chosen */
	struct ax_takers takers;
	struct ax_waiting waiting;
	struct ax_order known; /* the definition of the run before, often of the next one too */
	struct ax_run parent;  /* of the shard before */
	struct ax_choice *choices[AX_BATCH];
	int n_choices;
	int64_t again_ms;
};

/* Chooses runs that wait, in the order of their rank, and who gets each. The runs are locked; the group and the workers
 * are not, so that servers that claim at once choose different ones. */
enum ax_status ax_turn_choose(struct ax_turn *turn, struct ax_err *err) AX_MUST_USE;

/* Begins anew a while in which something may be left to the next turn / is that over? */
void ax_turn_begin_while(struct ax_turn *turn);
bool ax_turn_while_is_over(const struct ax_turn *turn);
/* After waits for locks: when it is written and committed, the worker would not begin it any more. */
bool ax_turn_is_too_late(const struct ax_turn *turn, const struct ax_poll *poll);

/* At the latest in so long there may be more to give out. */
void ax_turn_again(struct ax_turn *turn, int64_t in_ms);

void ax_turn_count(struct ax_turn *turn, const struct ax_run *run);

#endif
