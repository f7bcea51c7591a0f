#include "app/rezone.h"

#include <string.h>

#include "app/birth.h"
#include "app/fire.h"
#include "app/schedule_next.h"
#include "core/limits.h"

struct pass {
	struct ax_ctx *ctx;
	const char *time_zone;
	int64_t after_id, last_id;
	int64_t now;
	int read, changed;
};

static enum ax_status rezone_task(struct pass *pass, struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	struct ax_task task;
	struct ax_rule rule;
	enum ax_status status = tx->ops->task_get(tx, id, true, &task, err);
	if (status == AX_OK)
		status = ax_fire_settle(pass->ctx, tx, &task, pass->now, err);
	if (status == AX_OK)
		status = ax_rule_of(tx, pass->ctx->zones, &task, &rule, err);
	if (status == AX_INVALID || status == AX_NEVER)
		return AX_OK; /* a schedule that cannot be read (any more) must not hold up the others */
	if (status != AX_OK || task.next_trigger_time == 0 ||
		(rule.schedule.kind != AX_SCHEDULE_CRON && rule.calendar == NULL))
		return status; /* @every, @after and @at know no zone, but for the dates of a calendar */
	pass->changed++;
	return ax_schedule_renew(pass->ctx, tx, &task, pass->now, err);
}

static enum ax_status rezone_page(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_tasks tasks;
	struct ax_task_filter filter = {
		.status = AX_TASK_ENABLED, .task_type = AX_TASK_SCHEDULED, .after_id = pass->after_id, .limit = AX_BATCH
	};
	enum ax_status status = tx->ops->tasks_page(tx, &filter, &tasks, err);
	pass->read = status == AX_OK ? tasks.n : 0;
	pass->changed = 0;
	for (int i = 0; status == AX_OK && i < tasks.n; i++)
		if (strcmp(tasks.at[i].def.time_zone, pass->time_zone) == 0)
			status = rezone_task(pass, tx, tasks.at[i].id, err);
	pass->last_id = status == AX_OK && tasks.n > 0 ? tasks.at[tasks.n - 1].id : 0;
	return status;
}

enum ax_status ax_rezone(struct ax_ctx *ctx, const char *time_zone, int *ret_tasks, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .time_zone = time_zone, .now = ax_now_ms(ctx->clock) };
	enum ax_status status;
	*ret_tasks = 0;
	do {
		status = ax_gids_ensure(ctx, err);
		if (status == AX_OK)
			status = ax_store_run(ctx->store, ctx->arena, rezone_page, &pass, err);
		pass.after_id = pass.last_id;
		*ret_tasks += pass.changed;
	} while (status == AX_OK && pass.read == AX_BATCH);
	return status;
}
