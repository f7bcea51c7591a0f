/* What shards cost: a fire that is split, and the ends of its shards, the last of which ends the fire.
 *
 *   bench_shards [FIRES [FOLDER]]      prints a table, and JSON lines for machines */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/sqlite/sqlite.h"
#include "app/change.h"
#include "app/recover.h"
#include "app/tasks.h"
#include "base/err.h"
#include "core/limits.h"
#include "core/task_def.h"
#include "quiet.h"

struct sum {
	double cpu_s, wall_s, begin_cpu_s, begin_wall_s;
};

static void begin(struct sum *sum)
{
	sum->begin_cpu_s = read_s(CLOCK_PROCESS_CPUTIME_ID);
	sum->begin_wall_s = read_s(CLOCK_MONOTONIC);
}

static void end(struct sum *sum)
{
	sum->cpu_s += read_s(CLOCK_PROCESS_CPUTIME_ID) - sum->begin_cpu_s;
	sum->wall_s += read_s(CLOCK_MONOTONIC) - sum->begin_wall_s;
}

static void report(const char *what, int shards, const struct sum *sum, int fires)
{
	double cpu_ms = sum->cpu_s * 1000 / fires, wall_ms = sum->wall_s * 1000 / fires;
	printf("%-16s %5d shards  %8.2f ms of CPU, %8.2f ms in all\n", what, shards, cpu_ms, wall_ms);
	printf("{\"bench\":\"shards\",\"what\":\"%s\",\"shards\":%d,\"cpu_ms\":%.3f,\"wall_ms\":%.3f}\n", what, shards,
		cpu_ms, wall_ms);
	fflush(stdout);
}

static int64_t create(struct ax_ctx *ctx, int shards)
{
	struct ax_task_def def = ax_def_preset();
	enum ax_task_status status = AX_TASK_ENABLED;
	struct ax_task task;
	struct ax_err err = { 0 };
	int failed;
	char name[24];
	snprintf(name, sizeof(name), "in %d", shards);
	def.task_name = name;
	def.task_type = AX_TASK_DELAY;
	def.overlap = AX_OVERLAP_ALLOW;
	def.overlap_max = 10;
	def.executor_key = "bench";
	def.shard_count = shards;
	must(ax_tasks_create(ctx, &def, &status, 1, "bench", &task, &failed, &err), &err);
	return task.id;
}

struct ending {
	struct ax_ctx *ctx;
	int64_t parent;
	int n; /* ended in this transaction */
};

/* What an end costs besides the worker's report: each shard succeeds where it waits. */
static enum ax_status finish(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	static const struct ax_change done = { .event = AX_EV_SUCCEED, .reason = "" };
	struct ending *ending = arg;
	struct ax_runs shards;
	enum ax_status status = tx->ops->shards(tx, ending->parent, true, false, 0, AX_BATCH, &shards, err);
	for (int i = 0; status == AX_OK && i < shards.n; i++)
		status = ax_change_run(ending->ctx, tx, &shards.at[i], &done, quiet_now, err);
	ending->n = status == AX_OK ? shards.n : 0;
	return status;
}

static void bench(struct ax_ctx *ctx, int shards, int fires)
{
	struct sum fan_out = { 0 }, ends = { 0 };
	struct ax_err err = { 0 };
	struct ax_trigger trigger = { .task_id = create(ctx, shards), .params = "{}", .key = "" };
	for (int i = 0; i < fires; i++) {
		struct ax_run parent;
		bool existed;
		begin(&fan_out);
		must(ax_task_trigger(ctx, &trigger, &parent, &existed, &err), &err);
		end(&fan_out);
		struct ending ending = { .ctx = ctx, .parent = parent.gid };
		begin(&ends);
		do
			must(ax_store_run(ctx->store, ctx->arena, finish, &ending, &err), &err);
		while (ending.n == AX_BATCH);
		end(&ends);
		ax_arena_reset(ctx->arena);
	}
	report("a fire", shards, &fan_out, fires);
	report("all its ends", shards, &ends, fires);
}

int main(int argc, char **argv)
{
	static const int counts[] = { 2, 10, 100, 1000 };
	int fires = argc > 1 ? atoi(argv[1]) : 50;
	char folder[128] = "/tmp/ax-bench-XXXXXX", path[160];
	if (argc > 2)
		snprintf(folder, sizeof(folder), "%s/ax-bench-XXXXXX", argv[2]);
	if (mkdtemp(folder) == NULL) {
		perror(folder);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/bench.db", folder);
	struct ax_sqlite *db;
	struct ax_err err = { 0 };
	struct ax_arena arena = { 0 };
	must(ax_sqlite_open(&(struct ax_sqlite_config){ .path = path }, &db, &err), &err);
	struct ax_ctx ctx = quiet_ctx(ax_sqlite_store(db), &arena);
	must(ax_recover(&ctx, "bench", &err), &err);
	for (size_t i = 0; i < AX_COUNT(counts); i++)
		bench(&ctx, counts[i], fires);
	ax_sqlite_close(db);
	ax_arena_done(&arena);
	unlink(path);
	strcat(path, "-lock");
	unlink(path);
	rmdir(folder);
	return 0;
}
