#ifndef AX_APP_FAILURE_ACTS_H
#define AX_APP_FAILURE_ACTS_H

#include "app/ctx.h"

/* What a person may do to a group of failures. */

enum ax_failure_act_kind {
	AX_FAILURE_MUTE,    /* until `until_time`, for `reason`; its alert is over */
	AX_FAILURE_RESOLVE, /* the cause is gone; its alert is over; the next failure opens it again */
	AX_FAILURE_REOPEN,
	AX_FAILURE_ASSIGN, /* sets assignee and note */
};

struct ax_failure_act {
	enum ax_failure_act_kind kind;
	int64_t id;
	const char *by, *reason;
	int64_t until_time;
	const char *assignee, *note; /* NULL = as it is */
};

/* AX_CONFLICT: a resolved group is not muted. Doing it again changes nothing but who did it last. */
enum ax_status ax_failure_do(struct ax_ctx *ctx, const struct ax_failure_act *act, struct ax_failure_group *ret,
	struct ax_err *err) AX_MUST_USE;

enum { AX_RETRY_ALL_MAX = 1000 };

struct ax_failure_retry {
	int64_t id;
	int64_t limit;      /* runs that are made, 1 to AX_RETRY_ALL_MAX */
	int64_t per_minute; /* of them so many become due in a minute, the first one now */
	/* the answer */
	struct ax_failure_group group;
	int64_t made;
	int64_t last_due_time; /* of the last one made; 0 = none */
	int64_t left;          /* failed runs of the group that were not run again yet; at most AX_RETRY_LEFT_MAX */
};
enum { AX_RETRY_LEFT_MAX = 10000 };

/* Runs failed runs of the group again, oldest first, that nobody has run again yet. Each is run again at most once by
 * this, whoever asks how often. */
enum ax_status ax_failure_retry_all(struct ax_ctx *ctx, struct ax_failure_retry *retry, struct ax_err *err) AX_MUST_USE;

#endif
