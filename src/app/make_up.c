#include "app/make_up.h"

#include <inttypes.h>

#include "app/birth.h"
#include "core/limits.h"

enum ax_status ax_fire_make_up(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, int64_t fire,
	int64_t backfill_id, int64_t now, struct ax_run *ret, struct ax_err *err)
{
	const char *key = ax_sprintf(ctx->arena, "%" PRId64, fire);
	struct ax_run run = ax_run_make(ctx, task, AX_KIND_SCHEDULE, key, fire, now);
	run.made_up = true;
	run.backfill_id = backfill_id;
	run.rank = now - task->def.priority * AX_RANK_STEP_MS;
	enum ax_status status = ax_run_add_waiting(ctx, tx, task, &run, err);
	*ret = run;
	return status;
}

enum ax_status ax_backfill_count(struct ax_tx *tx, const struct ax_run *run, struct ax_err *err)
{
	struct ax_backfill backfill;
	if (run->backfill_id == 0 || run->shard != 0)
		return AX_OK;
	enum ax_status status = tx->ops->backfill_get(tx, run->backfill_id, true, &backfill, err);
	if (status != AX_OK)
		return status;
	if (run->status == AX_RUN_SUCCESS)
		backfill.done++;
	else
		backfill.failed++;
	return tx->ops->backfill_update(tx, &backfill, backfill.rev, err);
}
