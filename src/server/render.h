#ifndef AX_SERVER_RENDER_H
#define AX_SERVER_RENDER_H

/* The nouns as JSON, as docs/api.md shows them, and the words for their enums. */

#include "app/chain.h"
#include "base/json_write.h"
#include "core/schedule.h"
#include "core/sentence.h"
#include "port/store.h"
#include "server/call.h"

const char *ax_kind_name(enum ax_run_kind kind);
extern const char *const ax_kind_words[];        /* index: kind - 1; NULL-terminated, likewise below */
extern const char *const ax_task_status_words[]; /* status */

/* Who offers what, read once for a list of tasks: for the warning that nobody does. */
struct ax_offers {
	struct ax_workers workers;
	struct ax_worker_groups groups;
	int64_t now;
};
AX_MUST_USE enum ax_status ax_offers_read(struct ax_call *c, struct ax_offers *ret, struct ax_err *err);

/* The definition's members, inside an open object. */
void ax_render_def(struct ax_json *json, const struct ax_task_def *def);
/* "last_run". */
void ax_render_last_run(struct ax_json *json, const struct ax_task *task);
void ax_render_task(struct ax_call *c, const char *key, const struct ax_task *task, const struct ax_offers *offers);

/* "warnings" of a definition that may be saved all the same: `code`, `text`, and what the text names. `schedule` may be
 * NULL. */
void ax_render_warnings(struct ax_call *c, const struct ax_task_def *def, const struct ax_schedule *schedule,
	const struct ax_offers *offers);
/* Those of the schedule alone, as items of an open array. */
void ax_render_schedule_warnings(struct ax_call *c, const struct ax_schedule *schedule);

/* Members of a run inside an open object (see ax_render_run); waiting_for is looked up. */
AX_MUST_USE enum ax_status ax_render_run_members(struct ax_call *c, const struct ax_run *run, struct ax_err *err);
AX_MUST_USE enum ax_status ax_render_run(
	struct ax_call *c, const char *key, const struct ax_run *run, struct ax_err *err);
/* "sentence" and "params": what a text says, for who shows it in another language. */
void ax_render_sentence(struct ax_call *c, enum ax_sentence sentence, const struct ax_param *params, int n);
/* "attempts" and "timeline". */
void ax_render_run_history(struct ax_call *c, const struct ax_run *run, const struct ax_attempts *attempts);
void ax_render_output(struct ax_json *json, const struct ax_output *output);

/* What a run follows, with their results. */
void ax_render_told(struct ax_json *json, const char *key, const struct ax_tolds *told);
/* "upstream_runs" and "downstream_runs". */
AX_MUST_USE enum ax_status ax_render_run_chain(struct ax_call *c, const struct ax_run *run, struct ax_err *err);

AX_MUST_USE enum ax_status ax_render_group(struct ax_call *c, const struct ax_group *group, struct ax_err *err);
const char *ax_worker_state(const struct ax_worker *worker, int64_t now);
void ax_render_worker(struct ax_call *c, const struct ax_worker *worker, const struct ax_worker_groups *groups);
void ax_render_delivery(struct ax_call *c, const struct ax_delivery *delivery); /* api_alerts.c */
void ax_render_token(struct ax_json *json, const struct ax_token *token, const char *secret);

#endif
