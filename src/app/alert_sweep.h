#ifndef AX_APP_ALERT_SWEEP_H
#define AX_APP_ALERT_SWEEP_H

/* The alerts that only time shows: runs that wait too long, groups with a backlog, workers that fell silent, tasks that
 * did not succeed for too long; their ends; reminders. Part of ax_tick; doing it twice, or on two servers, changes
 * nothing. */

#include "app/ctx.h"

enum ax_status ax_alert_sweep(struct ax_ctx *ctx, int64_t now, struct ax_err *err);

#endif
