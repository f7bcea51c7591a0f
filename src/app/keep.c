#include "app/keep.h"

#include <string.h>

#include "base/num.h"
#include "core/gid.h"
#include "core/limits.h"

enum { TASKS_STEP = 200 };

#define DAY_MS INT64_C(86400000)

static const struct ax_group *find_group(const struct ax_groups *groups, const char *key)
{
	for (int i = 0; i < groups->n; i++)
		if (strcmp(groups->at[i].group_key, key) == 0)
			return &groups->at[i];
	return NULL;
}

static bool keeps_all(const struct ax_group *group)
{
	return group->keep_days == 0 && group->keep_runs == 0;
}

/* A run that was made after an instant did not end before it: gids tell where to stop looking. */
static enum ax_status delete_older(
	struct ax_tx *tx, int64_t task_id, int64_t ended_before, int64_t made_before, int *n, struct ax_err *err)
{
	int deleted = 0;
	enum ax_status status = tx->ops->runs_purge_task(tx, task_id, ended_before,
		AX_MIN(made_before, ax_gid_least(ended_before)), AX_BATCH - *n, &deleted, err);
	*n += status == AX_OK ? deleted : 0;
	return status;
}

static enum ax_status thin_out(
	struct ax_tx *tx, int64_t task_id, const struct ax_group *group, int64_t now, int *n, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	int64_t oldest_kept = 0;
	if (group->keep_days > 0)
		status = delete_older(tx, task_id, now - group->keep_days * DAY_MS, INT64_MAX, n, err);
	if (status == AX_OK && group->keep_runs > 0)
		status = tx->ops->run_nth(tx, task_id, group->keep_runs - 1, &oldest_kept, err);
	if (status == AX_OK && oldest_kept > 0 && *n < AX_BATCH)
		status = delete_older(tx, task_id, now - DAY_MS, oldest_kept, n, err);
	return status;
}

enum ax_status ax_keep_step(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_steps, struct ax_err *err)
{
	struct ax_groups groups;
	struct ax_tasks tasks = { 0 };
	const struct ax_task_filter filter = { .status = -1, .after_id = ctx->kept_task, .limit = TASKS_STEP };
	bool any = false;
	int64_t done = ctx->kept_task;
	int n = 0;
	enum ax_status status = tx->ops->groups(tx, &groups, err);
	for (int i = 0; status == AX_OK && i < groups.n; i++)
		any = any || !keeps_all(&groups.at[i]);
	if (status == AX_OK && any)
		status = tx->ops->tasks_page(tx, &filter, &tasks, err);
	for (int i = 0; status == AX_OK && i < tasks.n && n < AX_BATCH; i++) {
		const struct ax_group *group = find_group(&groups, tasks.at[i].def.group_key);
		if (group != NULL && !keeps_all(group))
			status = thin_out(tx, tasks.at[i].id, group, now, &n, err);
		if (n < AX_BATCH)
			done = tasks.at[i].id;
	}
	if (status != AX_OK)
		return status;
	bool at_the_end = n < AX_BATCH && tasks.n < TASKS_STEP;
	ctx->kept_task = at_the_end ? 0 : done;
	*ret_steps = n + !at_the_end;
	return AX_OK;
}
