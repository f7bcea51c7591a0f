#ifndef AX_APP_QUOTA_AUDIT_H
#define AX_APP_QUOTA_AUDIT_H

/* Are the counters of what is given out right? Those of a group (running, running_long) and of the workers' parts of it
 * (given, given_long) are held against the runs. They never differ unless AX is wrong or somebody wrote to the
 * database: then it is logged as an error (`quota_differs`), and set right in the transaction that saw it, so that a
 * group is not shut, or open beyond its quota, until a person comes.
 *
 * Why it sees no difference where there is none, at READ COMMITTED: the counters are written in the transaction that
 * changes the runs, behind them, the group's row before the parts' (adapters/sql/counts.c). So with the group's row
 * locked a transaction that changed runs has either committed both, or its counters wait for the row and its runs are
 * not seen yet. The parts are read without a lock for the same reason; they are written behind the group's row, as
 * claims do it. */

#include "app/ctx.h"
#include "core/limits.h"

struct ax_quota_audit {
	char after[AX_KEY_MAX + 1]; /* goes on behind this group; "" = with the first */
	int64_t differ;             /* rows with counters that were wrong, in this step */
	bool more;                  /* groups are left */
};

/* A step of a chore: some groups, each in a transaction of its own. */
enum ax_status ax_quota_audit(struct ax_ctx *ctx, struct ax_quota_audit *audit, struct ax_err *err) AX_MUST_USE;

#endif
