#ifndef AX_APP_WHY_CASE_H
#define AX_APP_WHY_CASE_H

/* What the questions of app/why.h share: the case at hand, its rows, and the steps said so far. A rule looks at the
 * case and adds a step; the first failure of the store is kept in `status`, after which nothing is looked up. */

#include "app/claim.h"
#include "app/why.h"
#include "core/rule.h"

struct ax_why_case {
	struct ax_tx *tx;
	struct ax_zones *zones;
	int64_t now;
	struct ax_why *why;
	enum ax_status status;
	struct ax_err *err;

	bool has_task; /* false: deleted, its runs stay */
	struct ax_task task;
	struct ax_epochs epochs; /* by id, that is in time */
	const struct ax_tz *tz;  /* NULL: instants are said in UTC */

	const struct ax_run *run; /* NULL: the question is about the task */
	struct ax_run asked;      /* what is to be given out: the run, or one that the task might make now */
	struct ax_claim_view view;
	struct ax_claim_facts facts;
};

/* Reads the task's rows; a task that is gone is no failure. */
void ax_why_open(struct ax_why_case *c, int64_t task_id);

/* Adds a step that says a sentence (core/sentence.def), and then its parameters, one by one. */
void ax_why_say(
	struct ax_why_case *c, int64_t time, enum ax_why_mark mark, const char *code, enum ax_sentence sentence);
void ax_why_with(struct ax_why_case *c, const char *name, const char *text); /* "" is as good as not given */
void ax_why_with_number(struct ax_why_case *c, const char *name, int64_t number);
void ax_why_with_time(struct ax_why_case *c, const char *name, int64_t ms); /* in the task's zone */
void ax_why_finish(struct ax_why_case *c);                                  /* all is said: makes the texts */
/* Makes the newest step the answer. */
void ax_why_answer(struct ax_why_case *c);

#define AX_SAY(c, ...) ax_sprintf((c)->tx->arena, __VA_ARGS__)
/* Cut to a line. For what workers and people wrote. */
const char *ax_why_quote(const struct ax_why_case *c, const char *text);

/* The rule in force for fires at the instant: the newest epoch from before it. NULL when there is none. */
const struct ax_epoch *ax_why_epoch(const struct ax_why_case *c, int64_t fire);
/* Since when the task has no enabled rule. */
int64_t ax_why_disabled_since(const struct ax_why_case *c);
bool ax_why_rule(struct ax_why_case *c, const struct ax_epoch *epoch, struct ax_rule *ret); /* false: not readable */

/* Runs that stand for the fire, as their own or among those they cover. */
void ax_why_standing_for(struct ax_why_case *c, int64_t fire, struct ax_runs *ret);

/* The state of the case's run: why it waits, is out, or ended. Adds steps; the deciding one becomes the answer. */
void ax_why_state(struct ax_why_case *c);
/* Why a WAITING run waits: the rules of giving out, in order, up to the first that fails. */
void ax_why_waiting(struct ax_why_case *c);
/* What caused the run of an event or a chain. */
void ax_why_event(struct ax_why_case *c);
void ax_why_chain(struct ax_why_case *c);
/* What became of the newest event up to an instant for a task that listens to it: the answer when it made no run. */
void ax_why_newest_event(struct ax_why_case *c, int64_t at);
/* Whom a join waits for: the answer. Where the chain of a BLOCKED run was broken, or who did not come. */
void ax_why_joining(struct ax_why_case *c);
void ax_why_blocked(struct ax_why_case *c);
/* What makes runs of a task without a schedule: begins that step. */
void ax_why_causes(struct ax_why_case *c, int64_t time);
/* Does the task demand runs now: enabled, with fires to come? If not, the newest step says why. */
bool ax_why_demanding(struct ax_why_case *c);
/* Would a run of the task be given out now? If not, the newest step says why. */
bool ax_why_claimable(struct ax_why_case *c);

#endif
