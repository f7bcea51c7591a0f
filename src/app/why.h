#ifndef AX_APP_WHY_H
#define AX_APP_WHY_H

/* Why? Every run that is there, waits, failed or is missing has a chain of decisions behind it; this tells the chain,
 * from the rows of the store alone. It decides nothing: the rules it names are those of fire.c, change.c and
 * dispatch.c, in their order. docs/why.md lists the codes. */

#include "core/sentence.h"
#include "port/store.h"
#include "port/zones.h"

enum ax_why_mark { AX_WHY_INFO, AX_WHY_OK, AX_WHY_FAIL };

struct ax_why_step {
	int64_t time; /* when it was decided; 0 = holds now, or has no time */
	enum ax_why_mark mark;
	const char *code; /* stable word */
	const char *text; /* a sentence with the facts … */
	enum ax_sentence sentence;
	struct ax_param params[AX_PARAMS_MAX]; /* … which are these */
	int n_params;
};

struct ax_why {
	const char *subject; /* "run 123 of default/nightly" */
	struct ax_why_step *steps;
	int n;
	int answer; /* index of the step that answers the question: its code is the verdict */
};

/* Why the run exists, what became of its attempts, why it waits now or why it ended, and whether another run stands for
 * the same fire. AX_NOT_FOUND. `ret` borrows from the transaction's arena. */
enum ax_status ax_why_run(struct ax_tx *tx, struct ax_zones *zones, int64_t gid, int64_t now, struct ax_why *ret,
	struct ax_err *err) AX_MUST_USE;

/* What accounts for the newest fire at or before the instant `at`; when `at` is now also why the task makes no runs.
 * AX_NOT_FOUND. */
enum ax_status ax_why_task(struct ax_tx *tx, struct ax_zones *zones, int64_t task_id, int64_t at, int64_t now,
	struct ax_why *ret, struct ax_err *err) AX_MUST_USE;

#endif
