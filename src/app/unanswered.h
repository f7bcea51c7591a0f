#ifndef AX_APP_UNANSWERED_H
#define AX_APP_UNANSWERED_H

#include "app/ingest.h"

/* Numbers of polls whose answers their worker did not get and will not take any more. */
struct ax_unanswered {
	const int64_t *at;
	size_t n;
};

/* Adds to the report, behind its own items, that what such polls brought comes back unstarted: nobody has it, and it
 * would stand still for AX_ACCEPT_MS. Runs that the worker accepted, or that another poll brought, are left alone.
 *
 * It only reads. What is given out again before the report is applied has another fence by then; what is accepted, its
 * worker holds, and would not name. What the report itself tells of is left alone, too. */
enum ax_status ax_give_back_unanswered(struct ax_ctx *ctx, const struct ax_unanswered *polls, struct ax_report *report,
	struct ax_err *err) AX_MUST_USE;

#endif
