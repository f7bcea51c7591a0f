#ifndef AX_SERVER_WORKER_JSON_H
#define AX_SERVER_WORKER_JSON_H

/* The messages of docs/protocol.md: bodies to structs, structs to answers, and which groups a worker token covers. */

#include "app/dispatch.h"
#include "app/unanswered.h"
#include "app/workers.h"
#include "server/call.h"

AX_MUST_USE enum ax_status ax_worker_read_poll(
	struct ax_call *c, struct ax_poll *ret, int64_t *ret_wait_ms, struct ax_err *err);
AX_MUST_USE enum ax_status ax_worker_read_registration(
	struct ax_call *c, struct ax_registration *ret, struct ax_err *err);
AX_MUST_USE enum ax_status ax_worker_read_report(
	struct ax_call *c, struct ax_report *ret, struct ax_unanswered *ret_polls, struct ax_err *err);
AX_MUST_USE enum ax_status ax_worker_read_leave(
	struct ax_call *c, const char **ret_worker, const char **ret_incarnation, struct ax_err *err);

void ax_worker_write_poll(struct ax_json *json, const struct ax_poll *poll);
void ax_worker_write_registered(struct ax_call *c, const struct ax_registration *reg);
void ax_worker_write_report(struct ax_json *json, const struct ax_report *report);

bool ax_worker_token_covers(const struct ax_call *c, const char *group_key);
/* Those of the groups there are that the token covers, NULL-terminated; NULL = all. */
AX_MUST_USE enum ax_status ax_worker_token_groups(struct ax_call *c, const char *const **ret, struct ax_err *err);
/* A token speaks only for workers all of whose groups are its own. An unknown worker passes. */
AX_MUST_USE enum ax_status ax_worker_check_groups(struct ax_call *c, const char *worker, struct ax_err *err);

#endif
