#include "app/failures.h"

#include <inttypes.h>
#include <string.h>

#include "app/alerts.h"
#include "core/limits.h"

#define DAY_MS ((int64_t)24 * AX_HOUR_MS)

enum { QUIET_RESOLVED_DAYS = 30, QUIET_ANY_DAYS = 90 };

enum ax_status ax_failure_note(
	struct ax_tx *tx, const struct ax_run *run, int64_t now, bool *ret_muted, struct ax_err *err)
{
	struct ax_failure_group group;
	*ret_muted = false;
	if (!ax_run_has_failed(run))
		return AX_OK;
	struct ax_fingerprint print = ax_fingerprint_of(run);
	struct ax_failure failure = ax_failure_of(run, &print);
	enum ax_status status =
		tx->ops->failure_group_find(tx, failure.group_key, failure.fingerprint, false, &group, err);
	if (status != AX_OK && status != AX_NOT_FOUND)
		return status;
	*ret_muted = failure.muted = status == AX_OK && ax_failure_state_at(&group, now) == AX_FAILURE_MUTED;
	return tx->ops->failure_insert(tx, &failure, err);
}

enum ax_status ax_failure_rerun(struct ax_tx *tx, int64_t gid, int64_t rerun_gid, struct ax_err *err)
{
	enum ax_status status = tx->ops->failure_set_rerun(tx, gid, rerun_gid, err);
	return status == AX_NOT_FOUND ? AX_OK : status;
}

enum ax_status ax_failure_group_of_run(
	struct ax_tx *tx, const struct ax_run *run, struct ax_failure_group *ret, struct ax_err *err)
{
	struct ax_failure failure;
	if (!ax_run_has_failed(run))
		return AX_NOT_FOUND;
	enum ax_status status = tx->ops->failure_get(tx, run->gid, &failure, err);
	return status == AX_OK
		? tx->ops->failure_group_find(tx, failure.group_key, failure.fingerprint, false, ret, err)
		: status;
}

/* --- alerts ------------------------------------------------------------------------------------------------------- */

static const char *episode_of(struct ax_ctx *ctx, const struct ax_failure_group *group)
{
	return ax_sprintf(ctx->arena, "%" PRId64, group->id);
}

enum ax_status ax_failure_end_alert(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_failure_group *group,
	const struct ax_said *how, int64_t now, struct ax_err *err)
{
	return ax_alert_resolve(
		ctx, tx, AX_ALERT_FAILURE_GROUP, group->group_key, episode_of(ctx, group), how, now, err);
}

/* --- folding ------------------------------------------------------------------------------------------------------ */

/* A group that failures of this batch are counted into. */
struct heap {
	struct ax_failure_group group;
	const struct ax_failure *newest;
	int64_t n; /* failures of this batch */
	enum ax_failure_news news;
	bool grows;
};

struct heaps {
	struct heap *at;
	int n;
};

static enum ax_status open_heap(
	struct ax_tx *tx, struct heaps *heaps, const struct ax_failure *failure, struct heap **ret, struct ax_err *err)
{
	for (int i = 0; i < heaps->n; i++) {
		*ret = &heaps->at[i];
		if ((*ret)->group.fingerprint == failure->fingerprint &&
			strcmp((*ret)->group.group_key, failure->group_key) == 0)
			return AX_OK;
	}
	struct heap *heap = &heaps->at[heaps->n++];
	*heap = (struct heap){ .newest = failure };
	*ret = heap;
	enum ax_status status =
		tx->ops->failure_group_find(tx, failure->group_key, failure->fingerprint, true, &heap->group, err);
	if (status != AX_NOT_FOUND)
		return status;
	heap->group = ax_failure_group_of(failure);
	return tx->ops->failure_group_insert(tx, &heap->group, &heap->group.id, err);
}

static enum ax_status count_spread(struct ax_tx *tx, int64_t id, const struct ax_failure *failure, struct ax_err *err)
{
	struct ax_failure_spread spread = {
		.failure_id = id,
		.task_id = failure->task_id,
		.version = failure->version,
		.worker = "",
		.count = 1,
		.first_seen_time = failure->time,
		.last_seen_time = failure->time,
	};
	enum ax_status status = tx->ops->failure_spread_add(tx, &spread, err);
	spread.task_id = spread.version = 0;
	spread.worker = failure->worker;
	if (failure->worker[0] == '\0') /* shards of a run, on many */
		return status;
	return status == AX_OK ? tx->ops->failure_spread_add(tx, &spread, err) : status;
}

static enum ax_status count_failure(
	struct ax_tx *tx, struct heap *heap, const struct ax_failure *failure, int64_t now, struct ax_err *err)
{
	enum ax_failure_news news = ax_failure_count(&heap->group, failure, now);
	struct ax_failure_hour hour = { heap->group.id, failure->time / AX_HOUR_MS, 1 };
	if (news != AX_FAILURE_NOTHING_NEW && heap->news == AX_FAILURE_NOTHING_NEW)
		heap->news = news;
	heap->newest = failure;
	heap->n++;
	enum ax_status status = tx->ops->failure_hour_add(tx, &hour, err);
	return status == AX_OK ? count_spread(tx, heap->group.id, failure, err) : status;
}

static enum ax_status set_folded(struct ax_tx *tx, const struct ax_failures *list, struct ax_err *err)
{
	int64_t *gids = ax_alloc_array(tx->arena, (size_t)list->n, sizeof(*gids));
	for (int i = 0; i < list->n; i++)
		gids[i] = list->at[i].gid;
	return tx->ops->failures_set_folded(tx, &(struct ax_ids){ gids, list->n }, err);
}

/* Looks whether the group grows; said once an hour. */
static enum ax_status look_at_growth(struct ax_tx *tx, struct heap *heap, int64_t now, struct ax_err *err)
{
	struct ax_failure_group *group = &heap->group;
	struct ax_failure_hours hours;
	enum ax_status status = tx->ops->failure_hours_cut(tx, group->id, now / AX_HOUR_MS - AX_TREND_HOURS + 1, err);
	if (status == AX_OK)
		status = tx->ops->failure_hours(tx, group->id, &hours, err);
	if (status != AX_OK || group->growth_time / AX_HOUR_MS == now / AX_HOUR_MS ||
		!ax_failure_grows(group, hours.at, hours.n, now))
		return status;
	heap->grows = true;
	group->growth_time = now;
	return AX_OK;
}

static enum ax_status raise(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct heap *heap, int64_t now, struct ax_err *err)
{
	static const enum ax_sentence sentences[] = {
		[AX_FAILURE_NOTHING_NEW] = AX_SAY_ALERT_FAILURE_GROWS,
		[AX_FAILURE_NEW] = AX_SAY_ALERT_FAILURE_NEW,
		[AX_FAILURE_BACK] = AX_SAY_ALERT_FAILURE_BACK,
		[AX_FAILURE_UNMUTED] = AX_SAY_ALERT_FAILURE_UNMUTED,
	};
	const struct ax_failure_group *group = &heap->group;
	struct ax_alert_event event = {
		.rule = AX_ALERT_FAILURE_GROUP,
		.group_key = group->group_key,
		.episode = episode_of(ctx, group),
		.task_id = heap->newest->task_id,
		.gid = heap->newest->gid,
		.subject = group->title,
		.detail = { sentences[heap->news],
			{ ax_number_param("n", group->count), ax_id_param(ctx->arena, "run", heap->newest->gid),
				ax_text_param("worker", heap->newest->worker), ax_number_param("code", group->code) } },
		.count = heap->n,
		.tell_again = heap->grows,
	};
	return ax_alert_raise(ctx, tx, &event, now, err);
}

static enum ax_status close_heap(
	struct ax_ctx *ctx, struct ax_tx *tx, struct heap *heap, int64_t now, struct ax_err *err)
{
	enum ax_status status = look_at_growth(tx, heap, now, err);
	if (status == AX_OK)
		status = tx->ops->failure_group_update(tx, &heap->group, heap->group.rev, err);
	bool loud = heap->news != AX_FAILURE_NOTHING_NEW || heap->grows;
	if (status == AX_OK && loud && ax_failure_state_at(&heap->group, now) == AX_FAILURE_OPEN)
		status = raise(ctx, tx, heap, now, err);
	return status;
}

enum ax_status ax_failures_fold(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_folded, struct ax_err *err)
{
	struct ax_failures list;
	enum ax_status status = tx->ops->failures_unfolded(tx, AX_BATCH, &list, err);
	if (status != AX_OK || list.n == 0) {
		*ret_folded = 0;
		return status;
	}
	struct heaps heaps = { .at = ax_alloc_array(tx->arena, (size_t)list.n, sizeof(*heaps.at)) };
	for (int i = 0; status == AX_OK && i < list.n; i++) {
		struct heap *heap;
		status = open_heap(tx, &heaps, &list.at[i], &heap, err);
		if (status == AX_OK)
			status = count_failure(tx, heap, &list.at[i], now, err);
	}
	if (status == AX_OK)
		status = set_folded(tx, &list, err);
	for (int i = 0; status == AX_OK && i < heaps.n; i++)
		status = close_heap(ctx, tx, &heaps.at[i], now, err);
	*ret_folded = list.n;
	return status;
}

/* --- retention ---------------------------------------------------------------------------------------------------- */

static enum ax_status forget(
	struct ax_ctx *ctx, struct ax_tx *tx, struct ax_failure_groups *old, int64_t now, struct ax_err *err)
{
	const struct ax_said how = { .sentence = AX_SAY_OVER_QUIET };
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < old->n; i++) {
		int64_t seen_time = old->at[i].last_seen_time;
		status = tx->ops->failure_group_get(tx, old->at[i].id, true, &old->at[i], err);
		if (status == AX_NOT_FOUND || (status == AX_OK && old->at[i].last_seen_time != seen_time)) {
			status = AX_OK; /* it fails again, or is forgotten already */
			continue;
		}
		if (status == AX_OK)
			status = ax_failure_end_alert(ctx, tx, &old->at[i], &how, now, err);
		if (status == AX_OK)
			status = tx->ops->failure_group_delete(tx, old->at[i].id, err);
	}
	return status;
}

enum ax_status ax_failures_retain(
	struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int64_t keep_ms, int *ret_deleted, struct ax_err *err)
{
	static const struct {
		bool resolved;
		int64_t days;
	} rules[] = { { true, QUIET_RESOLVED_DAYS }, { false, QUIET_ANY_DAYS } };
	enum ax_status status = AX_OK;
	*ret_deleted = 0;
	for (size_t i = 0; status == AX_OK && i < AX_COUNT(rules); i++) {
		struct ax_failure_groups old;
		int64_t quiet_ms = AX_MAX(rules[i].days * DAY_MS, keep_ms);
		status = tx->ops->failure_groups_old(tx, rules[i].resolved, now - quiet_ms, AX_BATCH, &old, err);
		if (status == AX_OK)
			status = forget(ctx, tx, &old, now, err);
		if (status == AX_OK)
			*ret_deleted += old.n;
	}
	return status;
}
