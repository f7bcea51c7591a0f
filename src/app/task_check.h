#ifndef AX_APP_TASK_CHECK_H
#define AX_APP_TASK_CHECK_H

#include "app/ctx.h"

/* Checks a definition: every bound of docs/api.md, the schedule, the zone. AX_INVALID or AX_NEVER with the field. */
enum ax_status ax_task_check(struct ax_ctx *ctx, const struct ax_task_def *def, struct ax_err *err) AX_MUST_USE;

/* Of it the schedule alone, with what narrows and spreads it. */
enum ax_status ax_schedule_check(struct ax_zones *zones, const struct ax_task_def *def, struct ax_err *err) AX_MUST_USE;

/* Text of one line that people read, of so many characters: no control characters, nothing that turns the direction or
 * breaks the line. */
enum ax_status ax_line_check(const char *field, const char *text, size_t min, size_t max, struct ax_err *err);

/* What a delayed run may be asked for: run_at 0 = now. */
enum ax_status ax_trigger_check(struct ax_ctx *ctx, int64_t run_at, const char *params, struct ax_err *err) AX_MUST_USE;

/* AX_CONFLICT when the task is being deleted: it stays so until it is gone, takes no change and makes no runs. */
enum ax_status ax_task_refuse_if_deleting(const struct ax_task *task, struct ax_err *err) AX_MUST_USE;

#endif
