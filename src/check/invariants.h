#ifndef AX_CHECK_INVARIANTS_H
#define AX_CHECK_INVARIANTS_H

/* What must hold between the rows of a store, besides the fires: one named rule each, with the rows that break it. */

#include "base/arena.h"
#include "check/store.h"

enum { AX_CHECK_SHOWN_ROWS = 5 };

struct ax_check_finding {
	const char *id;   /* "I6.running" */
	const char *rule; /* the sentence that must hold */
	bool judged;      /* false: the store does not tell */
	int64_t violations;
	const char *rows[AX_CHECK_SHOWN_ROWS]; /* the first of them, in words */
};

struct ax_check_findings {
	struct ax_check_finding *at;
	size_t n;
	int64_t violations; /* of all */
};

/* Memory is the arena's. The audit lends its knowledge of schedules. */
enum ax_status ax_check_invariants(const struct ax_check_store *store, struct ax_check_audit *audit,
	struct ax_arena *arena, struct ax_check_findings *ret, struct ax_err *err);

/* Counts one violation; `row` is kept while there is room. */
void ax_check_finding_add(struct ax_check_finding *finding, const char *row);

#endif
