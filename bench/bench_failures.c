/* What failures cost: the end of a run that went well, of one that failed, counting failures into their groups, and
 * making a message comparable.
 *
 *   bench_failures [RUNS [FOLDER]]      prints a table, and JSON lines for machines */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/sqlite/sqlite.h"
#include "app/change.h"
#include "app/failures.h"
#include "base/err.h"
#include "core/limits.h"
#include "core/message.h"
#include "core/task_def.h"
#include "quiet.h"

enum { BATCH = AX_BATCH };

static double cpu_s(void)
{
	return read_s(CLOCK_PROCESS_CPUTIME_ID);
}

static void report(const char *what, double begin_s, int64_t n)
{
	double us = (cpu_s() - begin_s) * 1e6 / (double)n;
	printf("%-28s %8.2f us of CPU each\n", what, us);
	printf("{\"bench\":\"failures\",\"what\":\"%s\",\"cpu_us\":%.2f}\n", what, us);
	fflush(stdout);
}

struct work {
	struct ax_ctx *ctx;
	int64_t task_id, next_gid, first_gid;
	enum ax_outcome outcome;
	int folded;
};

#define TRY(call)                                                                                                      \
	do {                                                                                                           \
		enum ax_status status_ = (call);                                                                       \
		if (status_ != AX_OK)                                                                                  \
			return status_;                                                                                \
	} while (0)

static enum ax_status prepare(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct work *work = arg;
	struct ax_group group = { .group_key = "g", .title = "", .contacts = "", .defaults = "{}" };
	struct ax_task task = {
		.def = ax_def_preset(), .status = AX_TASK_ENABLED, .version = 1, .updated_by = "", .durations = ""
	};
	task.def.group_key = "g";
	task.def.task_name = "t";
	task.def.task_type = AX_TASK_DELAY;
	task.def.retry_count = 0;
	TRY(tx->ops->group_insert(tx, &group, err));
	TRY(tx->ops->worker_group_put(tx, "w", "g", 50, err));
	TRY(tx->ops->task_insert(tx, &task, &work->task_id, err));
	struct ax_task_version version = { work->task_id, 1, 0, "", task.def };
	return tx->ops->task_version_insert(tx, &version, err);
}

/* Runs as a worker holds them. */
static enum ax_status begin(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct work *work = arg;
	work->first_gid = work->next_gid;
	for (int i = 0; i < BATCH; i++) {
		char key[24];
		snprintf(key, sizeof(key), "%" PRId64, work->next_gid);
		struct ax_run run = {
			.gid = work->next_gid++,
			.task_id = work->task_id,
			.group_key = "g",
			.executor_key = "exec",
			.kind = AX_KIND_MANUAL,
			.fire_key = key,
			.status = AX_RUN_RUNNING,
			.reason = "",
			.version = 1,
			.fence = 1,
			.worker = "w",
			.incarnation = "",
			.result_msg = "",
			.result = "",
			.params = "",
			.trace_id = "",
			.progress_msg = "",
			.lane = AX_RUN_LANE_SHORT,
			.demand = "",
		};
		TRY(tx->ops->run_insert(tx, &run, err));
	}
	TRY(tx->ops->worker_group_add_given(tx, "w", "g", BATCH, 0, err));
	return tx->ops->group_add_running(tx, "g", BATCH, 0, err);
}

static enum ax_status finish(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct work *work = arg;
	for (int64_t gid = work->first_gid; gid < work->next_gid; gid++) {
		struct ax_run run;
		struct ax_change said = { .outcome = work->outcome, .code = 1, .by_worker = true };
		said.message = gid % 2 == 0 ? ax_sprintf(tx->arena,
						      "exit status 1: order %" PRId64 " was not found in "
						      "10.0.0.1:5432 after 30s",
						      gid)
					    : ax_sprintf(tx->arena,
						      "exit status 1: [2026-06-01 12:00:%02d] connection "
						      "reset by peer",
						      (int)(gid % 60));
		TRY(tx->ops->run_get(tx, gid, true, &run, err));
		TRY(ax_change_result(work->ctx, tx, &run, &said, quiet_now, err));
	}
	return AX_OK;
}

static enum ax_status fold(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct work *work = arg;
	return ax_failures_fold(work->ctx, tx, quiet_now, &work->folded, err);
}

static void transact(struct work *work, ax_tx_fn fn)
{
	struct ax_err err;
	must(ax_store_run(work->ctx->store, work->ctx->arena, fn, work, &err), &err);
	ax_arena_reset(work->ctx->arena);
}

static void bench_ends(struct work *work, const char *what, enum ax_outcome outcome, int64_t runs)
{
	double spent_s = 0;
	work->outcome = outcome;
	for (int64_t n = 0; n < runs; n += BATCH) {
		transact(work, begin);
		double begin_s = cpu_s();
		transact(work, finish);
		spent_s += cpu_s() - begin_s;
	}
	report(what, cpu_s() - spent_s, runs);
}

static void bench_messages(void)
{
	static const char *const messages[] = {
		"exit status 1: order 17 was not found in 10.0.0.1:5432 after 30s",
		"HTTP status 500: {\"error\":\"no such "
		"account\",\"id\":\"a8f3k2\",\"trace\":\"3fa85f64-5717-4562-b3fc-2c963f66afa6\"}",
		"java.sql.SQLException: Timeout after 30000ms\n\tat com.acme.Pool.get(Pool.java:17)\n\tat "
		"com.acme.Run.go(Run.java:5)",
	};
	char text[1001], longest[AX_MESSAGE_MAX + 1];
	double begin_s = cpu_s();
	int64_t n = 0;
	for (; n < 300000; n++)
		ax_message_normalise(messages[n % 3], text, sizeof(text));
	report("message of a line or three", begin_s, n);
	for (size_t i = 0; i < sizeof(longest); i++)
		longest[i] = "a1.-:'\"@"[i % 8];
	longest[AX_MESSAGE_MAX] = '\0';
	begin_s = cpu_s();
	for (n = 0; n < 2000; n++)
		ax_message_normalise(longest, text, sizeof(text));
	report("message of 4000 odd bytes", begin_s, n);
}

int main(int argc, char **argv)
{
	int64_t runs = argc > 1 ? atoll(argv[1]) : 40000;
	char folder[128] = "/tmp/ax-bench-XXXXXX", path[160];
	if (argc > 2)
		snprintf(folder, sizeof(folder), "%s/ax-bench-XXXXXX", argv[2]);
	if (mkdtemp(folder) == NULL) {
		perror(folder);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/bench.db", folder);
	struct ax_sqlite *db;
	struct ax_err err;
	struct ax_arena arena = { 0 };
	must(ax_sqlite_open(&(struct ax_sqlite_config){ .path = path }, &db, &err), &err);
	struct ax_ctx ctx = quiet_ctx(ax_sqlite_store(db), &arena);
	struct work work = { .ctx = &ctx, .next_gid = 1 };
	transact(&work, prepare);
	bench_messages();
	bench_ends(&work, "end of a run, success", AX_OUTCOME_SUCCESS, runs);
	bench_ends(&work, "end of a run, failed", AX_OUTCOME_FAILED, runs);
	double begin_s = cpu_s();
	int64_t folded = 0;
	do {
		transact(&work, fold);
		folded += work.folded;
	} while (work.folded > 0);
	report("a failure into its group", begin_s, folded);
	ax_sqlite_close(db);
	ax_arena_done(&arena);
	unlink(path);
	strcat(path, "-lock");
	unlink(path);
	rmdir(folder);
	return folded == runs ? 0 : 1;
}
