#include <limits.h>
#include <string.h>

#include "base/num.h"
#include "port/filter.h"
#include "port/mem/db.h"

static const struct ax_run *find_run(struct ax_tx *tx, int64_t gid)
{
	return ax_mem_row(tx, AX_MEM_RUN, 0, &(struct ax_run){ .gid = gid });
}

enum ax_status ax_mem_run_insert(struct ax_tx *tx, const struct ax_run *run, struct ax_err *err)
{
	if (run->fence < 0)
		return ax_mem_broken(tx, "ax_task_log: fence is below 0", err);
	return ax_mem_insert(tx, AX_MEM_RUN, run, err);
}

enum ax_status ax_mem_run_get(
	struct ax_tx *tx, int64_t gid, bool for_update, struct ax_run *ret_run, struct ax_err *err)
{
	return ax_mem_get_for(tx, AX_MEM_RUN, 0, &(struct ax_run){ .gid = gid }, for_update, ret_run, err);
}

enum ax_status ax_mem_run_find(struct ax_tx *tx, int64_t task_id, enum ax_run_kind kind, const char *fire_key,
	int64_t shard, struct ax_run *ret_run, struct ax_err *err)
{
	struct ax_run probe = { .task_id = task_id, .kind = kind, .fire_key = fire_key, .shard = shard };
	return ax_mem_get(tx, AX_MEM_RUN, AX_MEM_RUN_BY_FIRE, &probe, ret_run, err);
}

enum ax_status ax_mem_runs_expect(
	struct ax_tx *tx, const struct ax_ids *gids, const struct ax_ids *ending, struct ax_err *err)
{
	(void)tx, (void)gids, (void)ending, (void)err;
	return AX_OK;
}

enum ax_status ax_mem_run_update(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err)
{
	const struct ax_run *stored = find_run(tx, run->gid);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_RUN, err);
	if (stored->rev != old_rev)
		return ax_mem_conflict(tx, AX_MEM_RUN, err);
	if (ax_run_is_terminal(stored->status) && (run->status != stored->status || run->fence != stored->fence))
		return ax_mem_broken(tx, "a terminal run never changes", err);
	if (run->fence < 0)
		return ax_mem_broken(tx, "ax_task_log: fence is below 0", err);
	struct ax_run row = *stored;
	ax_row_take_changes(&ax_run_row, run, &row);
	row.rev = old_rev + 1;
	return ax_mem_replace(tx, AX_MEM_RUN, stored, &row, err);
}

enum ax_status ax_mem_run_set_due(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err)
{
	const struct ax_run *stored = ax_mem_row(tx, AX_MEM_RUN, 0, &(struct ax_run){ .gid = run->gid });
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_RUN, err);
	if (stored->rev != old_rev || stored->status != AX_RUN_PENDING)
		return ax_mem_conflict(tx, AX_MEM_RUN, err);
	struct ax_run row = *stored;
	row.trigger_time = run->trigger_time;
	row.deadline_time = run->deadline_time;
	row.rank = run->rank;
	row.params = run->params;
	row.must_end_time = run->must_end_time;
	row.watch_time = run->watch_time;
	row.rev = old_rev + 1;
	return ax_mem_replace(tx, AX_MEM_RUN, stored, &row, err);
}

enum ax_status ax_mem_run_renew(
	struct ax_tx *tx, int64_t gid, int64_t fence, int64_t heartbeat_time, int64_t deadline_time, struct ax_err *err)
{
	const struct ax_run *stored = find_run(tx, gid);
	if (stored == NULL)
		return ax_mem_missing(tx, AX_MEM_RUN, err);
	if (stored->fence != fence || !ax_run_is_given_out(stored->status))
		return ax_mem_conflict(tx, AX_MEM_RUN, err);
	struct ax_run row = *stored;
	row.heartbeat_time = heartbeat_time;
	row.deadline_time = deadline_time;
	row.rev++;
	return ax_mem_replace(tx, AX_MEM_RUN, stored, &row, err);
}

/* Runs of a task that an index of (task_id, gid) holds. */
static enum ax_status list_of_task(
	struct ax_tx *tx, size_t index, int64_t task_id, bool lock, int limit, struct ax_runs *ret_runs)
{
	struct ax_run probe = { .task_id = task_id, .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, index, &probe);
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL && run->task_id == task_id)
		(lock ? ax_mem_keep_locked : ax_mem_keep)(&walk, run);
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_runs_live(
	struct ax_tx *tx, int64_t task_id, bool for_update, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	return list_of_task(tx, AX_MEM_RUN_ACTIVE_BY_TASK, task_id, for_update, limit, ret_runs);
}

enum ax_status ax_mem_runs_live_count(
	struct ax_tx *tx, int64_t task_id, int limit, int64_t *ret_live, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = { .task_id = task_id, .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_ACTIVE_BY_TASK, &probe);
	const struct ax_run *run;
	int64_t live = 0;
	while (live < limit && (run = ax_mem_next(&walk)) != NULL && run->task_id == task_id)
		live++;
	*ret_live = live;
	return AX_OK;
}

enum ax_status ax_mem_runs_pending(
	struct ax_tx *tx, int64_t task_id, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	return list_of_task(tx, AX_MEM_RUN_PENDING_BY_TASK, task_id, true, limit, ret_runs);
}

enum ax_status ax_mem_runs_held(
	struct ax_tx *tx, int64_t task_id, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	return list_of_task(tx, AX_MEM_RUN_HELD_BY_TASK, task_id, true, limit, ret_runs);
}

static struct ax_run queue_probe(const char *group_key, const char *executor_key, enum ax_run_lane lane,
	const char *demand, int64_t after_rank, int64_t after_gid)
{
	return (struct ax_run){
		.group_key = group_key,
		.executor_key = executor_key,
		.lane = lane,
		.demand = demand,
		.rank = after_rank,
		.gid = ax_add_sat(after_gid, 1),
	};
}

enum ax_status ax_mem_run_next_queue(struct ax_tx *tx, const char *group_key, const char *executor_key,
	enum ax_run_lane lane, const char *demand, struct ax_run *ret_run, struct ax_err *err)
{
	struct ax_run probe = queue_probe(group_key, executor_key, lane, demand, INT64_MAX, INT64_MAX);
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_WAITING, &probe);
	const struct ax_run *run = ax_mem_next(&walk);
	if (run == NULL || run->hold != AX_HOLD_NONE || strcmp(run->group_key, group_key) != 0)
		return ax_mem_missing(tx, AX_MEM_RUN, err);
	ax_row_copy(&ax_run_row, tx->arena, run, ret_run);
	return AX_OK;
}

enum ax_status ax_mem_runs_claimable(struct ax_tx *tx, const char *group_key, const char *executor_key,
	enum ax_run_lane lane, const char *demand, int64_t after_rank, int64_t after_gid, int limit,
	struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = queue_probe(group_key, executor_key, lane, demand, after_rank, after_gid);
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_WAITING, &probe);
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL && run->hold == AX_HOLD_NONE &&
		strcmp(run->group_key, group_key) == 0 && strcmp(run->executor_key, executor_key) == 0 &&
		run->lane == lane && strcmp(run->demand, demand) == 0)
		ax_mem_keep_free(&walk, run);
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_runs_undispatched(struct ax_tx *tx, int64_t until, int64_t after_time, int64_t after_gid,
	int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = { .trigger_time = after_time, .gid = ax_add_sat(after_gid, 1) };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_UNDISPATCHED, &probe);
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL && run->trigger_time <= until)
		ax_mem_keep(&walk, run);
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_runs_looked(
	struct ax_tx *tx, int64_t from, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = { .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_LOOKED, &probe);
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL)
		if (run->deadline_time >= from)
			ax_mem_keep(&walk, run);
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_runs_undecided(
	struct ax_tx *tx, int64_t task_id, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	return list_of_task(tx, AX_MEM_RUN_UNDECIDED, task_id, false, limit, ret_runs);
}

enum ax_status ax_mem_shards(struct ax_tx *tx, int64_t parent, bool live, bool for_update, int64_t after_gid, int limit,
	struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = { .parent = parent, .gid = ax_add_sat(after_gid, 1) };
	struct ax_mem_list_walk walk =
		ax_mem_walk(tx, AX_MEM_RUN, live ? AX_MEM_RUN_SHARDS_LIVE : AX_MEM_RUN_SHARDS, &probe);
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL && run->parent == parent)
		(for_update ? ax_mem_keep_locked : ax_mem_keep)(&walk, run);
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_shard_counts(struct ax_tx *tx, int64_t parent, int64_t *ret_by_state, struct ax_err *err)
{
	(void)err;
	memset(ret_by_state, 0, 32 * sizeof(*ret_by_state));
	struct ax_run probe = { .parent = parent, .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_SHARDS, &probe);
	const struct ax_run *run;
	while ((run = ax_mem_next(&walk)) != NULL && run->parent == parent)
		ret_by_state[run->status]++;
	return AX_OK;
}

static bool waits_for_its_time(const struct ax_run *run)
{
	return run->status == AX_RUN_PENDING || run->status == AX_RUN_RETRYING;
}

enum ax_status ax_mem_runs_overdue(
	struct ax_tx *tx, int64_t until, int64_t waiting_until, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_DEADLINE, &(struct ax_run){ 0 });
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL && run->deadline_time <= until) {
		if (run->deadline_time <= waiting_until || !waits_for_its_time(run))
			ax_mem_keep_free(&walk, run);
	}
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_runs_by_gid(
	struct ax_tx *tx, const struct ax_ids *gids, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = { .tx = tx, .table = AX_MEM_RUN };
	for (int i = 0; i < gids->n; i++) {
		const struct ax_run *run = ax_mem_row(tx, AX_MEM_RUN, 0, &(struct ax_run){ .gid = gids->at[i] });
		if (run != NULL)
			ax_mem_keep_free(&walk, run);
	}
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_runs_ahead(struct ax_tx *tx, int64_t after_time, int64_t after_gid, int64_t until, int limit,
	struct ax_dues *ret_dues, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = { .deadline_time = after_time, .gid = ax_add_sat(after_gid, 1) };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_DEADLINE, &probe);
	struct ax_rows rows = { 0 };
	const struct ax_run *run;
	while (rows.n < limit && (run = ax_mem_next(&walk)) != NULL && run->deadline_time <= until) {
		if (!waits_for_its_time(run))
			continue;
		struct ax_due *due = ax_rows_add(&rows, tx->arena, &ax_due_row);
		*due = (struct ax_due){ run->deadline_time, run->gid, ax_strdup(tx->arena, run->group_key),
			run->priority };
	}
	return AX_MEM_GIVE((struct ax_mem_list_walk){ .rows = rows }, ret_dues);
}

enum ax_status ax_mem_runs_watched(
	struct ax_tx *tx, int64_t until, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_WATCHED, &(struct ax_run){ 0 });
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL && run->watch_time <= until)
		ax_mem_keep_free(&walk, run);
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_run_next_deadline(struct ax_tx *tx, int64_t *ret_time, struct ax_err *err)
{
	(void)err;
	const struct ax_run *first = ax_mem_at(ax_mem_table(tx, AX_MEM_RUN), AX_MEM_RUN_DEADLINE, 0);
	*ret_time = first == NULL ? 0 : first->deadline_time;
	return AX_OK;
}

static struct ax_mem_list_walk walk_worker(struct ax_tx *tx, const char *worker)
{
	struct ax_run probe = { .worker = worker, .gid = INT64_MIN };
	return ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_GIVEN, &probe);
}

enum ax_status ax_mem_runs_of_worker(
	struct ax_tx *tx, const char *worker, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = walk_worker(tx, worker);
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL && strcmp(run->worker, worker) == 0)
		ax_mem_keep(&walk, run);
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_runs_to_stop(
	struct ax_tx *tx, const struct ax_names *workers, int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_mem_list_walk walk = { .tx = tx, .table = AX_MEM_RUN, .index = AX_MEM_RUN_GIVEN };
	const struct ax_run *run;
	for (int i = 0; i < workers->n; i++) {
		walk.position = walk_worker(tx, workers->at[i]).position;
		while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL &&
			strcmp(run->worker, workers->at[i]) == 0) {
			if (run->cancel == AX_CANCEL_ASKED)
				ax_mem_keep(&walk, run);
		}
	}
	return AX_MEM_GIVE(walk, ret_runs);
}

/* The index that a page is read from, backwards. */
static size_t page_index(const struct ax_run_filter *f)
{
	if (f->parent != 0)
		return AX_MEM_RUN_SHARDS;
	if (f->worker != NULL)
		return 0;
	if (f->batch != 0)
		return AX_MEM_RUN_BY_BATCH;
	if (ax_run_filter_is_live(f))
		return f->task_id != 0 ? AX_MEM_RUN_LIVE_BY_TASK : AX_MEM_RUN_LIVE;
	if (f->backfill_id != 0)
		return AX_MEM_RUN_BY_BACKFILL;
	return f->task_id != 0 ? AX_MEM_RUN_BY_TASK : AX_MEM_RUN_PAGE;
}

/* Do the run and those before it in the index not belong to what the page shows? */
static bool is_past_page(size_t index, const struct ax_run_filter *f, const struct ax_run *run)
{
	if (index == AX_MEM_RUN_SHARDS)
		return run->parent != f->parent;
	if (index == AX_MEM_RUN_BY_BACKFILL)
		return run->backfill_id != f->backfill_id;
	if (index == AX_MEM_RUN_BY_BATCH)
		return run->batch != f->batch;
	bool by_task = index == AX_MEM_RUN_BY_TASK || index == AX_MEM_RUN_LIVE_BY_TASK;
	return by_task && run->task_id != f->task_id;
}

enum ax_status ax_mem_runs_page(struct ax_tx *tx, const struct ax_run_filter *f, struct ax_runs *ret_runs,
	int64_t *ret_before, struct ax_err *err)
{
	(void)err;
	int64_t before = f->before_gid == 0 ? INT64_MAX : f->before_gid;
	struct ax_run probe = { .task_id = f->task_id,
		.backfill_id = f->backfill_id,
		.batch = f->batch,
		.parent = f->parent,
		.gid = before };
	size_t index = page_index(f);
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, index, &probe);
	int looked = 0;
	for (;;) {
		const struct ax_run *run = ax_mem_previous(&walk);
		if (run == NULL || is_past_page(index, f, run)) {
			*ret_before = 0;
			break;
		}
		if (walk.rows.n >= f->limit || looked >= f->scan_limit) {
			*ret_before = before;
			break;
		}
		looked++;
		before = run->gid;
		if (ax_run_matches(f, run))
			ax_mem_keep(&walk, run);
	}
	return AX_MEM_GIVE(walk, ret_runs);
}

static bool fired_in(const struct ax_run *run, int64_t from, int64_t to)
{
	if (run->kind != AX_KIND_SCHEDULE && run->kind != AX_KIND_MISS)
		return false;
	if (run->trigger_time >= from && run->trigger_time < to)
		return true;
	return run->covers_count > 0 && run->covers_from < to && run->covers_to >= from;
}

enum ax_status ax_mem_runs_fired(struct ax_tx *tx, int64_t task_id, int64_t from, int64_t to, int64_t after_gid,
	int limit, struct ax_runs *ret_runs, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = { .task_id = task_id, .gid = ax_add_sat(after_gid, 1) };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_BY_TASK, &probe);
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL && run->task_id == task_id) {
		if (fired_in(run, from, to))
			ax_mem_keep(&walk, run);
	}
	return AX_MEM_GIVE(walk, ret_runs);
}

enum ax_status ax_mem_live_counts(struct ax_tx *tx, int64_t *ret_by_state, struct ax_err *err)
{
	(void)err;
	memset(ret_by_state, 0, 32 * sizeof(*ret_by_state));
	struct ax_run probe = { .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_LIVE, &probe);
	const struct ax_run *run;
	while ((run = ax_mem_next(&walk)) != NULL)
		ret_by_state[run->status]++;
	return AX_OK;
}

enum ax_status ax_mem_ended_counts(
	struct ax_tx *tx, int64_t from, int64_t to, int64_t *ret_by_state, struct ax_err *err)
{
	(void)err;
	memset(ret_by_state, 0, 32 * sizeof(*ret_by_state));
	struct ax_run probe = { .end_time = from, .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_ENDED, &probe);
	const struct ax_run *run;
	while ((run = ax_mem_next(&walk)) != NULL && run->end_time < to)
		ret_by_state[run->status]++;
	return AX_OK;
}

enum ax_status ax_mem_ended_minute_put(struct ax_tx *tx, const struct ax_ended_minute *row, struct ax_err *err)
{
	return ax_mem_upsert(tx, AX_MEM_ENDED_MINUTE, row, err);
}

enum ax_status ax_mem_ended_minutes(
	struct ax_tx *tx, int64_t from_minute, int limit, struct ax_ended_minutes *ret_rows, struct ax_err *err)
{
	(void)err;
	struct ax_ended_minute probe = { .minute = from_minute };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_ENDED_MINUTE, 0, &probe);
	const struct ax_ended_minute *row;
	while (walk.rows.n < limit && (row = ax_mem_next(&walk)) != NULL)
		ax_mem_keep(&walk, row);
	return AX_MEM_GIVE(walk, ret_rows);
}

enum ax_status ax_mem_ended_minutes_cut(struct ax_tx *tx, int64_t before_minute, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_ENDED_MINUTE);
	enum ax_status status = AX_OK;
	const struct ax_ended_minute *row;
	while (status == AX_OK && (row = ax_mem_at(table, 0, 0)) != NULL && row->minute < before_minute)
		status = ax_mem_replace(tx, AX_MEM_ENDED_MINUTE, row, NULL, err);
	return status;
}

enum ax_status ax_mem_group_waiting(struct ax_tx *tx, const char *group_key, int64_t *ret_n, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = { .group_key = group_key, .executor_key = "", .demand = "", .rank = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_WAITING, &probe);
	const struct ax_run *run;
	int64_t n = 0;
	while ((run = ax_mem_next(&walk)) != NULL && strcmp(run->group_key, group_key) == 0)
		n++;
	*ret_n = n;
	return AX_OK;
}

enum ax_status ax_mem_attempt_put(struct ax_tx *tx, const struct ax_attempt *attempt, struct ax_err *err)
{
	return ax_mem_upsert(tx, AX_MEM_ATTEMPT, attempt, err);
}

enum ax_status ax_mem_attempt_get(
	struct ax_tx *tx, int64_t gid, int64_t fence, struct ax_attempt *ret_attempt, struct ax_err *err)
{
	struct ax_attempt probe = { .gid = gid, .fence = fence };
	return ax_mem_get(tx, AX_MEM_ATTEMPT, 0, &probe, ret_attempt, err);
}

enum ax_status ax_mem_attempts(struct ax_tx *tx, int64_t gid, struct ax_attempts *ret_attempts, struct ax_err *err)
{
	(void)err;
	struct ax_attempt probe = { .gid = gid, .fence = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_ATTEMPT, 0, &probe);
	const struct ax_attempt *attempt;
	while ((attempt = ax_mem_next(&walk)) != NULL && attempt->gid == gid)
		ax_mem_keep(&walk, attempt);
	return AX_MEM_GIVE(walk, ret_attempts);
}

enum ax_status ax_mem_output_size(struct ax_tx *tx, int64_t gid, int64_t fence, int64_t *ret_bytes, int64_t *ret_chunks,
	int64_t *ret_last_seq, struct ax_err *err)
{
	(void)err;
	struct ax_output probe = { .gid = gid, .fence = fence, .seq = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_OUTPUT, 0, &probe);
	const struct ax_output *output;
	int64_t bytes = 0, chunks = 0, last_seq = -1;
	while ((output = ax_mem_next(&walk)) != NULL && output->gid == gid && output->fence == fence) {
		bytes += output->len;
		chunks++;
		last_seq = output->seq;
	}
	*ret_bytes = bytes;
	*ret_chunks = chunks;
	*ret_last_seq = last_seq;
	return AX_OK;
}

enum ax_status ax_mem_output_append(struct ax_tx *tx, const struct ax_output *output, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_OUTPUT, output, err);
}

enum ax_status ax_mem_output_cut(
	struct ax_tx *tx, int64_t gid, int64_t fence, int64_t head_bytes, int64_t bytes, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_OUTPUT);
	struct ax_output probe = { .gid = gid, .fence = fence, .seq = INT64_MIN };
	size_t at = ax_mem_seek(table, 0, &probe);
	int64_t end = ax_add_sat(head_bytes, bytes), from = 0; /* where the chunk at `at` begins */
	enum ax_status status = AX_OK;
	const struct ax_output *output;
	while (status == AX_OK && from < end && (output = ax_mem_at(table, 0, at)) != NULL && output->gid == gid &&
		output->fence == fence) {
		from += output->len;
		if (from > head_bytes)
			status = ax_mem_replace(tx, AX_MEM_OUTPUT, output, NULL, err);
		else
			at++;
	}
	return status;
}

enum ax_status ax_mem_outputs(struct ax_tx *tx, int64_t gid, int64_t after_fence, int64_t after_seq, int limit,
	struct ax_outputs *ret_outputs, struct ax_err *err)
{
	(void)err;
	struct ax_output probe = { .gid = gid, .fence = after_fence, .seq = ax_add_sat(after_seq, 1) };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_OUTPUT, 0, &probe);
	const struct ax_output *output;
	while (walk.rows.n < limit && (output = ax_mem_next(&walk)) != NULL && output->gid == gid)
		ax_mem_keep(&walk, output);
	return AX_MEM_GIVE(walk, ret_outputs);
}

/* Deletes every row of the run from a table whose primary key begins with the gid. */
static enum ax_status delete_of_run(
	struct ax_tx *tx, enum ax_mem_table_id id, const void *probe, int64_t gid, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, id);
	enum ax_status status = AX_OK;
	size_t first = ax_mem_seek(table, 0, probe);
	const void *row;
	while (status == AX_OK && (row = ax_mem_at(table, 0, first)) != NULL &&
		ax_field_number(&table->type->fields[0], row) == gid)
		status = ax_mem_replace(tx, id, row, NULL, err);
	return status;
}

/* With its attempts, output, failure and upstreams. */
static enum ax_status delete_run(struct ax_tx *tx, int64_t gid, struct ax_err *err)
{
	struct ax_attempt attempt = { .gid = gid, .fence = INT64_MIN };
	struct ax_output output = { .gid = gid, .fence = INT64_MIN };
	struct ax_failure failure = { .gid = gid };
	struct ax_run_upstream upstream = { .gid = gid, .upstream_id = INT64_MIN };
	enum ax_status status = delete_of_run(tx, AX_MEM_ATTEMPT, &attempt, gid, err);
	if (status == AX_OK)
		status = delete_of_run(tx, AX_MEM_OUTPUT, &output, gid, err);
	if (status == AX_OK)
		status = delete_of_run(tx, AX_MEM_FAILURE, &failure, gid, err);
	if (status == AX_OK)
		status = delete_of_run(tx, AX_MEM_RUN_UPSTREAM, &upstream, gid, err);
	return status == AX_OK ? ax_mem_replace(tx, AX_MEM_RUN, find_run(tx, gid), NULL, err) : status;
}

static enum ax_status delete_family(struct ax_tx *tx, int64_t gid, int *n, struct ax_err *err)
{
	struct ax_runs shards;
	enum ax_status status = ax_mem_shards(tx, gid, false, false, INT64_MIN, INT_MAX, &shards, err);
	for (int i = 0; status == AX_OK && i < shards.n; i++)
		status = delete_run(tx, shards.at[i].gid, err);
	if (status == AX_OK)
		status = delete_run(tx, gid, err);
	*n += 1 + shards.n;
	return status;
}

enum ax_status ax_mem_runs_purge(
	struct ax_tx *tx, int64_t ended_before, int limit, int *ret_deleted, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	int n = 0;
	const struct ax_run *run;
	while (status == AX_OK && n < limit &&
		(run = ax_mem_at(ax_mem_table(tx, AX_MEM_RUN), AX_MEM_RUN_ENDED, 0)) != NULL &&
		run->end_time < ended_before)
		status = delete_family(tx, run->gid, &n, err);
	if (status == AX_OK)
		*ret_deleted = n;
	return status;
}

enum ax_status ax_mem_runs_purge_task(struct ax_tx *tx, int64_t task_id, int64_t ended_before, int64_t made_before,
	int limit, int *ret_deleted, struct ax_err *err)
{
	struct ax_run probe = { .task_id = task_id, .gid = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_BY_TASK, &probe);
	enum ax_status status = AX_OK;
	int n = 0;
	const struct ax_run *run;
	while (walk.rows.n < limit && (run = ax_mem_next(&walk)) != NULL && run->task_id == task_id &&
		run->gid < made_before)
		if (ax_run_is_terminal(run->status) && run->end_time < ended_before)
			ax_mem_keep(&walk, run);
	const struct ax_run *old = walk.rows.at;
	for (int i = 0; status == AX_OK && i < walk.rows.n && n < limit; i++)
		status = delete_family(tx, old[i].gid, &n, err);
	if (status == AX_OK)
		*ret_deleted = n;
	return status;
}

enum ax_status ax_mem_run_nth(struct ax_tx *tx, int64_t task_id, int64_t nth, int64_t *ret_gid, struct ax_err *err)
{
	(void)err;
	struct ax_run probe = { .task_id = task_id, .gid = INT64_MAX };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN, AX_MEM_RUN_BY_TASK, &probe);
	const struct ax_run *run;
	*ret_gid = 0;
	for (int64_t i = 0; i <= nth && (run = ax_mem_previous(&walk)) != NULL && run->task_id == task_id; i++)
		*ret_gid = i == nth ? run->gid : 0;
	return AX_OK;
}
