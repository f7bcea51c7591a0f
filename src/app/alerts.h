#ifndef AX_APP_ALERTS_H
#define AX_APP_ALERTS_H

/* Raising and resolving alerts, inside the transaction of what causes it: the alert and what the channels are to be
 * told are there exactly when the cause is. */

#include "app/ctx.h"

/* Something is wrong. Texts may be of any length: they are cut to what an alert keeps. */
struct ax_alert_event {
	enum ax_alert_rule rule;
	const char *group_key; /* "" = of no one group */
	const char *episode;   /* what makes it the same alert as the open one; core/alert.h says it of each rule */
	int64_t task_id, gid;  /* 0 = none */
	const char *subject;   /* whose alert it is: the name of the task, of the worker, … */
	struct ax_said detail; /* what happened */
	int64_t value, bound;  /* numbers of the rule, or 0 */
	int64_t count;         /* occurrences that this adds; 0 = a lasting condition: nothing is written while open */
	bool tell_again;       /* the channels are told once more although it is open: it grows */
};

/* Opens the alert and queues what its channels are told, or adds to the one that is open. */
enum ax_status ax_alert_raise(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_alert_event *event, int64_t now, struct ax_err *err);

/* The same when the open alert was looked for, and is locked; NULL: there is none. */
enum ax_status ax_alert_raise_on(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_alert_event *event,
	struct ax_alert *open, int64_t now, struct ax_err *err);

/* It is over: resolves the open alert, if there is one, and queues that to whom the alert was told. `how`: in one short
 * sentence. */
enum ax_status ax_alert_resolve(struct ax_ctx *ctx, struct ax_tx *tx, enum ax_alert_rule rule, const char *group_key,
	const char *episode, const struct ax_said *how, int64_t now, struct ax_err *err);

/* The same for an alert that was read in this transaction. */
enum ax_status ax_alert_end(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_alert *alert, const struct ax_said *how,
	int64_t now, struct ax_err *err);

/* Queues reminders of open alerts to channels that want them and were told long enough ago. */
enum ax_status ax_alert_remind(struct ax_ctx *ctx, int64_t now, struct ax_err *err);

/* By hand: nothing more is told of an open alert, or again. AX_CONFLICT when it is resolved. */
enum ax_status ax_alert_mute(struct ax_ctx *ctx, int64_t id, bool muted, const char *note, const char *by,
	struct ax_alert *ret, struct ax_err *err);
/* By hand: it is over. AX_CONFLICT when it was resolved before. */
enum ax_status ax_alert_close(
	struct ax_ctx *ctx, int64_t id, const char *note, const char *by, struct ax_alert *ret, struct ax_err *err);

#endif
