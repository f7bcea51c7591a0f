#include "port/mem/db.h"

enum ax_status ax_mem_upstream_insert(struct ax_tx *tx, const struct ax_upstream *row, struct ax_err *err)
{
	return ax_mem_insert(tx, AX_MEM_UPSTREAM, row, err);
}

enum ax_status ax_mem_upstreams_delete(struct ax_tx *tx, int64_t task_id, struct ax_err *err)
{
	struct ax_mem_table *table = ax_mem_table(tx, AX_MEM_UPSTREAM);
	struct ax_upstream probe = { .task_id = task_id, .upstream_id = INT64_MIN };
	const struct ax_upstream *row;
	size_t first = ax_mem_seek(table, 0, &probe);
	enum ax_status status = AX_OK;
	while (status == AX_OK && (row = ax_mem_at(table, 0, first)) != NULL && row->task_id == task_id)
		status = ax_mem_replace(tx, AX_MEM_UPSTREAM, row, NULL, err);
	return status;
}

enum ax_status ax_mem_upstreams_of(struct ax_tx *tx, int64_t task_id, struct ax_upstreams *ret_rows, struct ax_err *err)
{
	(void)err;
	struct ax_upstream probe = { .task_id = task_id, .upstream_id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_UPSTREAM, 0, &probe);
	const struct ax_upstream *row;
	while ((row = ax_mem_next(&walk)) != NULL && row->task_id == task_id)
		ax_mem_keep(&walk, row);
	return AX_MEM_GIVE(walk, ret_rows);
}

enum ax_status ax_mem_downstreams_of(
	struct ax_tx *tx, int64_t upstream_id, struct ax_upstreams *ret_rows, struct ax_err *err)
{
	(void)err;
	struct ax_upstream probe = { .upstream_id = upstream_id, .task_id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_UPSTREAM, AX_MEM_UPSTREAM_DOWN, &probe);
	const struct ax_upstream *row;
	while ((row = ax_mem_next(&walk)) != NULL && row->upstream_id == upstream_id)
		ax_mem_keep(&walk, row);
	return AX_MEM_GIVE(walk, ret_rows);
}

enum ax_status ax_mem_run_upstream_put(struct ax_tx *tx, const struct ax_run_upstream *row, struct ax_err *err)
{
	return ax_mem_upsert(tx, AX_MEM_RUN_UPSTREAM, row, err);
}

enum ax_status ax_mem_run_upstreams(
	struct ax_tx *tx, int64_t gid, struct ax_run_upstreams *ret_rows, struct ax_err *err)
{
	(void)err;
	struct ax_run_upstream probe = { .gid = gid, .upstream_id = INT64_MIN };
	struct ax_mem_list_walk walk = ax_mem_walk(tx, AX_MEM_RUN_UPSTREAM, 0, &probe);
	const struct ax_run_upstream *row;
	while ((row = ax_mem_next(&walk)) != NULL && row->gid == gid)
		ax_mem_keep(&walk, row);
	return AX_MEM_GIVE(walk, ret_rows);
}

enum ax_status ax_mem_run_told(struct ax_tx *tx, int64_t gid, struct ax_run_tolds *ret_rows, struct ax_err *err)
{
	struct ax_run_upstreams seen;
	struct ax_rows rows = { 0 };
	enum ax_status status = ax_mem_run_upstreams(tx, gid, &seen, err);
	for (int i = 0; status == AX_OK && i < seen.n; i++) {
		const struct ax_run_upstream *row = &seen.at[i];
		const struct ax_task *task =
			ax_mem_row(tx, AX_MEM_TASK, 0, &(struct ax_task){ .id = row->upstream_id });
		const struct ax_run *run = ax_mem_row(tx, AX_MEM_RUN, 0, &(struct ax_run){ .gid = row->upstream_gid });
		struct ax_run_told *told = ax_rows_add(&rows, tx->arena, &ax_run_told_row);
		*told = (struct ax_run_told){
			.upstream_id = row->upstream_id,
			.task_name = task == NULL ? "" : ax_strdup(tx->arena, task->def.task_name),
			.upstream_gid = row->upstream_gid,
			.upstream_status = row->upstream_status,
			.result = run == NULL ? "" : ax_strdup(tx->arena, run->result),
		};
	}
	if (status == AX_OK)
		*ret_rows = (struct ax_run_tolds){ rows.at, rows.n };
	return status;
}
