#ifndef AX_APP_REZONE_H
#define AX_APP_REZONE_H

#include "app/ctx.h"

/* The data of a zone changed (a new tzdata release): what is due is settled, then every enabled task of the zone gets
 * its next fire computed anew and an epoch that names the data. `ret_tasks` counts them. Safe to repeat. */
enum ax_status ax_rezone(struct ax_ctx *ctx, const char *time_zone, int *ret_tasks, struct ax_err *err) AX_MUST_USE;

#endif
