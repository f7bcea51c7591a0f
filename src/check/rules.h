#ifndef AX_CHECK_RULES_H
#define AX_CHECK_RULES_H

/* What must hold between the rows of a store, in SQL. Each rule is read at once over stores of millions of runs: no
 * step of its plan may read all runs anew for each row of another table (tests/contract/check_plans.c). */

#include <stdbool.h>

/* Each row that the query gives is a violation, told in its only column. ?1 is the instant until which the store lived.
 * States: 0 PENDING, 1 WAITING, 2 DISPATCHED, 3 RUNNING, 4 RETRYING, from 10 on ended. */
struct ax_check_rule {
	const char *id;   /* "I6.running" */
	const char *rule; /* the sentence that must hold */
	const char *sql;
	bool needs_settled; /* says nothing about a store whose server had just started */
};

extern const struct ax_check_rule ax_check_rules[];
extern const int ax_check_n_rules;

#endif
