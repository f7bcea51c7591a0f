#ifndef AX_APP_CALENDARS_H
#define AX_APP_CALENDARS_H

#include "app/ctx.h"

/* What a person writes of a calendar. */
struct ax_calendar_def {
	const char *name;
	const char *title;
	struct ax_calendar content;
};

/* Creates the calendar (old_version 0; AX_EXISTS) or gives it a new content (AX_CONFLICT when it moved on from
 * old_version). The tasks that follow it are settled by the old content and begin a new epoch in the same transaction;
 * of very many, those beyond the first AX_BATCH in transactions of their own, each following the old content until
 * then. Saying the same again changes nothing. `actor` is who did it. */
enum ax_status ax_calendar_put(struct ax_ctx *ctx, const struct ax_calendar_def *def, int64_t old_version,
	const char *actor, struct ax_calendar_row *ret, struct ax_err *err) AX_MUST_USE;

/* AX_CONFLICT, with their names, while tasks use it. Its versions stay for the epochs that refer to them. */
enum ax_status ax_calendar_delete(struct ax_ctx *ctx, const char *name, struct ax_err *err) AX_MUST_USE;

/* The content of a version; 0 = the newest. AX_NOT_FOUND. */
enum ax_status ax_calendar_content(struct ax_tx *tx, const char *name, int64_t version, struct ax_calendar *ret,
	struct ax_calendar_version *ret_version, struct ax_err *err) AX_MUST_USE;

/* Lets tasks that still follow an older content follow the newest, a batch at most: the rest of a change that a crash
 * cut short. Inside a transaction. */
enum ax_status ax_calendars_follow(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err) AX_MUST_USE;

#endif
