#ifndef AX_APP_FAILURE_VIEW_H
#define AX_APP_FAILURE_VIEW_H

/* A group of failures with what can be said of it. Reads only; bounded, whatever the group's size. */

#include "port/store.h"

enum { AX_SPREAD_SHOWN = 1000 };

struct ax_failure_view {
	struct ax_failure_group group;
	struct ax_failure_hours hours;
	struct ax_failure_spreads spread; /* at most AX_SPREAD_SHOWN places */
	struct ax_failure_groups alike;   /* the same failure in other groups of tasks */
	struct ax_failure_hint hints[AX_FAILURE_HINTS_MAX];
	int n_hints;
};

/* Of a group that was read in this transaction. */
enum ax_status ax_failure_look(struct ax_tx *tx, const struct ax_failure_group *group, struct ax_failure_view *ret,
	struct ax_err *err) AX_MUST_USE;

/* Failures of each of the last AX_TREND_HOURS hours, the oldest first. Returns when the first of them began. */
int64_t ax_failure_trend(const struct ax_failure_hours *hours, int64_t now, int64_t ret[AX_TREND_HOURS]);

#endif
