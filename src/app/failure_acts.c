#include "app/failure_acts.h"

#include <inttypes.h>
#include <string.h>

#include "app/birth.h"
#include "app/failures.h"
#include "app/runs.h"
#include "app/task_check.h"
#include "core/limits.h"

struct pass {
	struct ax_ctx *ctx;
	const struct ax_failure_act *act;
	struct ax_failure_group *ret;
	int64_t now;
};

static enum ax_status open_group(struct ax_tx *tx, int64_t id, struct ax_failure_group *ret, struct ax_err *err)
{
	enum ax_status status = tx->ops->failure_group_get(tx, id, true, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "id", "there is no failure group %" PRId64, id);
	return status;
}

static void enter(struct ax_failure_group *group, enum ax_failure_state state, const struct pass *pass)
{
	group->state = state;
	group->state_time = pass->now;
	group->state_by = pass->act->by;
	group->state_reason = pass->act->reason;
	group->mute_until_time = state == AX_FAILURE_MUTED ? pass->act->until_time : 0;
}

static enum ax_status apply(
	const struct pass *pass, struct ax_tx *tx, struct ax_failure_group *group, struct ax_err *err)
{
	const struct ax_failure_act *act = pass->act;
	struct ax_ctx *ctx = pass->ctx;
	struct ax_said how = { AX_SAY_OVER_BY_HAND,
		{ ax_text_param("who", act->by), ax_text_param("reason", act->reason) } };
	switch (act->kind) {
	case AX_FAILURE_MUTE:
		if (group->state == AX_FAILURE_RESOLVED)
			return ax_fail(err, AX_CONFLICT, "state", "the group is resolved; reopen it first");
		enter(group, AX_FAILURE_MUTED, pass);
		how.sentence = AX_SAY_OVER_MUTED;
		return ax_failure_end_alert(ctx, tx, group, &how, pass->now, err);
	case AX_FAILURE_RESOLVE:
		enter(group, AX_FAILURE_RESOLVED, pass);
		return ax_failure_end_alert(ctx, tx, group, &how, pass->now, err);
	case AX_FAILURE_REOPEN:
		enter(group, AX_FAILURE_OPEN, pass);
		return AX_OK;
	case AX_FAILURE_ASSIGN:
		if (act->assignee != NULL)
			group->assignee = act->assignee;
		if (act->note != NULL)
			group->note = act->note;
		return AX_OK;
	}
	ax_die(__FILE__, __LINE__, "unknown act");
}

static enum ax_status act_on(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct pass *pass = arg;
	struct ax_failure_group *group = pass->ret;
	enum ax_status status = open_group(tx, pass->act->id, group, err);
	if (status == AX_OK)
		status = apply(pass, tx, group, err);
	if (status == AX_OK)
		status = tx->ops->failure_group_update(tx, group, group->rev, err);
	if (status == AX_OK)
		group->rev++;
	return status;
}

enum ax_status ax_failure_do(
	struct ax_ctx *ctx, const struct ax_failure_act *act, struct ax_failure_group *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .act = act, .ret = ret, .now = ax_now_ms(ctx->clock) };
	if (act->kind == AX_FAILURE_MUTE && act->until_time <= pass.now)
		return ax_fail(err, AX_INVALID, "mute_until_time", "a mute ends in the future");
	return ax_store_run(ctx->store, ctx->arena, act_on, &pass, err);
}

/* --- all again ---------------------------------------------------------------------------------------------------- */

struct again {
	struct ax_ctx *ctx;
	struct ax_failure_retry *retry;
	int64_t now;
};

/* The key makes a second run of the same failure impossible. Of a run with shards those are run again that did not
 * succeed. */
static enum ax_status run_again(
	const struct again *again, struct ax_tx *tx, const struct ax_failure *failure, int64_t due, struct ax_err *err)
{
	struct ax_run old, made;
	struct ax_task task;
	enum ax_status status = tx->ops->run_get(tx, failure->gid, false, &old, err);
	if (status == AX_OK)
		status = tx->ops->task_get(tx, failure->task_id, true, &task, err);
	if (status == AX_OK)
		status = ax_task_refuse_if_deleting(&task, err);
	if (status == AX_OK)
		status = ax_run_repeat(again->ctx, tx, &old, &task,
			ax_sprintf(again->ctx->arena, "retry-all:%" PRId64, failure->gid), ax_run_is_parent(&old), due,
			again->now, &made, err);
	return status;
}

static enum ax_status retry_all(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct again *again = arg;
	struct ax_failure_retry *r = again->retry;
	struct ax_failures list;
	r->made = r->last_due_time = 0;
	enum ax_status status = open_group(tx, r->id, &r->group, err);
	if (status == AX_OK)
		status = tx->ops->failures_to_rerun(
			tx, r->group.group_key, r->group.fingerprint, (int)r->limit, &list, err);
	/* behind what an earlier call made */
	int64_t start = AX_MAX(again->now, r->group.rerun_due_time + 60000 / r->per_minute);
	for (int i = 0; status == AX_OK && i < list.n; i++) {
		int64_t due = start + r->made * 60000 / r->per_minute;
		status = run_again(again, tx, &list.at[i], due, err);
		if (status != AX_OK)
			break;
		r->made++;
		r->last_due_time = due;
	}
	if (status == AX_OK && r->made > 0) {
		r->group.rerun_due_time = r->last_due_time;
		status = tx->ops->failure_group_update(tx, &r->group, r->group.rev, err);
		r->group.rev++;
	}
	if (status == AX_OK)
		status = tx->ops->failures_to_rerun_count(
			tx, r->group.group_key, r->group.fingerprint, AX_RETRY_LEFT_MAX, &r->left, err);
	return status;
}

enum ax_status ax_failure_retry_all(struct ax_ctx *ctx, struct ax_failure_retry *retry, struct ax_err *err)
{
	struct again again = { .ctx = ctx, .retry = retry, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_gids_ensure(ctx, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, retry_all, &again, err) : status;
}
