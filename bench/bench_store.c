/* Lives of runs per second: fired, claimed, finished, each step in transactions of many runs at once, and one by one
 * with a flush of the disk shared by a batch.
 *
 *   bench_store [SECONDS_PER_CASE [FOLDER]]      prints a table, and JSON lines for machines
 *   tests/lib/mariadb.py bench_store …           on MariaDB as well */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "adapters/mariadb/mariadb.h"
#include "adapters/sqlite/sqlite.h"
#include "base/err.h"
#include "core/task_def.h"
#include "port/mem_store.h"

enum { TASKS = 100, MOST = 200 };

static double read_s(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now_s(void)
{
	return read_s(CLOCK_MONOTONIC);
}

static double cpu_s(void)
{
	return read_s(CLOCK_PROCESS_CPUTIME_ID);
}

struct work {
	int64_t next_gid, next_fire;
	int64_t task_ids[TASKS];
	struct ax_runs claimed;
	int n; /* runs in one transaction */
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
	TRY(tx->ops->group_insert(tx, &group, err));
	TRY(tx->ops->worker_group_put(tx, "w", "g", 50, err));
	for (int i = 0; i < TASKS; i++) {
		char name[16];
		snprintf(name, sizeof(name), "t%d", i);
		struct ax_task task = {
			.def = ax_def_preset(),
			.status = AX_TASK_ENABLED,
			.updated_by = "",
			.next_trigger_time = 1,
			.durations = "",
		};
		task.def.group_key = "g";
		task.def.task_name = name;
		task.def.cron_expr = "@every 1s";
		task.def.executor_key = "x";
		TRY(tx->ops->task_insert(tx, &task, &work->task_ids[i], err));
	}
	return AX_OK;
}

static enum ax_status fire(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct work *work = arg;
	for (int i = 0; i < work->n; i++) {
		struct ax_task task;
		char key[24];
		TRY(tx->ops->task_get(tx, work->task_ids[work->next_gid % TASKS], true, &task, err));
		snprintf(key, sizeof(key), "%" PRId64, work->next_fire);
		struct ax_run run = {
			.gid = ++work->next_gid,
			.task_id = task.id,
			.group_key = "g",
			.executor_key = "x",
			.kind = AX_KIND_SCHEDULE,
			.fire_key = key,
			.status = AX_RUN_WAITING,
			.reason = "",
			.trigger_time = work->next_fire,
			.rank = work->next_fire,
			.create_time = work->next_fire,
			.worker = "",
			.incarnation = "",
			.result_msg = "",
			.result = "",
			.params = "{}",
			.trace_id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
			.progress_msg = "",
			.lane = AX_RUN_LANE_SHORT,
			.demand = "",
		};
		TRY(tx->ops->run_insert(tx, &run, err));
		int64_t old_next = task.next_trigger_time;
		task.last_trigger_time = old_next;
		task.next_trigger_time = ++work->next_fire;
		TRY(tx->ops->task_advance(tx, &task, old_next, err));
	}
	return AX_OK;
}

static enum ax_status claim(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct work *work = arg;
	struct ax_group group;
	TRY(tx->ops->group_get(tx, "g", true, &group, err));
	TRY(tx->ops->runs_claimable(tx, "g", "x", AX_RUN_LANE_SHORT, "", INT64_MIN, 0, work->n, &work->claimed, err));
	for (int i = 0; i < work->claimed.n; i++) {
		struct ax_run *run = &work->claimed.at[i];
		run->status = AX_RUN_DISPATCHED;
		run->fence++;
		run->worker = "w";
		run->incarnation = "i";
		run->deadline_time = run->trigger_time + 15000;
		TRY(tx->ops->run_update(tx, run, run->rev, err));
	}
	TRY(tx->ops->group_add_running(tx, "g", work->claimed.n, 0, err));
	return tx->ops->worker_group_add_given(tx, "w", "g", work->claimed.n, 0, err);
}

static enum ax_status finish(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct work *work = arg;
	for (int i = 0; i < work->claimed.n; i++) {
		struct ax_run run;
		TRY(tx->ops->run_get(tx, work->claimed.at[i].gid, true, &run, err));
		run.status = AX_RUN_SUCCESS;
		run.end_time = run.trigger_time + 5;
		run.deadline_time = 0;
		run.result_msg = "done";
		TRY(tx->ops->run_update(tx, &run, run.rev, err));
		struct ax_task task = {
			.id = run.task_id,
			.last_run_gid = run.gid,
			.last_run_status = run.status,
			.last_run_end_time = run.end_time,
			.absence_time = run.end_time,
			.def = ax_def_preset(),
			.updated_by = "",
			.durations = "",
		};
		TRY(tx->ops->task_last_run(tx, &task, err));
	}
	TRY(tx->ops->group_add_running(tx, "g", -work->claimed.n, 0, err));
	return tx->ops->worker_group_add_given(tx, "w", "g", -work->claimed.n, 0, err);
}

static void must(enum ax_status status, const struct ax_err *err)
{
	if (status == AX_OK)
		return;
	fprintf(stderr, "bench_store: %s\n", err->msg);
	exit(1);
}

static const ax_tx_fn steps[] = { fire, claim, finish };

/* One transaction a step, `n` runs in each. */
static void live_in_bulk(struct ax_store *store, struct ax_arena *arena, struct work *work, int n)
{
	struct ax_err err;
	work->n = n;
	for (size_t i = 0; i < AX_COUNT(steps); i++)
		must(ax_store_run(store, arena, steps[i], work, &err), &err);
	ax_arena_reset(arena);
}

/* Transactions of one run each, `n` of them to a flush. */
static void live_one_by_one(struct ax_sqlite *db, struct ax_arena *arena, struct work *work, int n)
{
	struct ax_err err;
	struct ax_runs claimed[MOST];
	work->n = 1;
	for (size_t step = 0; step < AX_COUNT(steps); step++) {
		must(ax_sqlite_batch_begin(db, &err), &err);
		for (int i = 0; i < n; i++) {
			if (step == 2)
				work->claimed = claimed[i];
			must(ax_store_run(ax_sqlite_store(db), arena, steps[step], work, &err), &err);
			claimed[i] = work->claimed;
		}
		must(ax_sqlite_batch_commit(db, &err), &err);
	}
	ax_arena_reset(arena);
}

struct watch {
	double begin_s, begin_cpu_s;
};

static struct watch start(void)
{
	return (struct watch){ now_s(), cpu_s() };
}

static void report(const char *store, const char *shape, int n, int64_t lives, struct watch watch)
{
	double per_second = (double)lives / (now_s() - watch.begin_s);
	double cpu_us = (cpu_s() - watch.begin_cpu_s) * 1e6 / (double)lives;
	printf("%-7s %-24s %4d  %8.0f lives/s  %6.1f us of CPU a life\n", store, shape, n, per_second, cpu_us);
	printf("{\"bench\":\"store\",\"store\":\"%s\",\"shape\":\"%s\",\"n\":%d,\"lives_per_s\":%.0f,\"cpu_us\":%.1f}"
	       "\n",
		store, shape, n, per_second, cpu_us);
	fflush(stdout);
}

static void bench_mem(int n, double limit)
{
	struct ax_mem_store *mem = ax_mem_store_new();
	struct ax_arena arena = { 0 };
	struct work work = { 0 };
	struct ax_err err;
	struct ax_store *store = ax_mem_store_port(mem);
	must(ax_store_run(store, &arena, prepare, &work, &err), &err);
	struct watch watch = start();
	while (now_s() - watch.begin_s < limit && work.next_gid < 5000) /* the size that the simulator works with */
		live_in_bulk(store, &arena, &work, n);
	report("mem", "runs in a transaction", n, work.next_gid, watch);
	ax_arena_done(&arena);
	ax_mem_store_free(mem);
}

static void bench_sqlite(const char *folder, bool bulk, int n, double limit)
{
	char path[256];
	struct ax_sqlite *db;
	struct ax_arena arena = { 0 };
	struct work work = { 0 };
	struct ax_err err;
	snprintf(path, sizeof(path), "%s/bench.db", folder);
	must(ax_sqlite_open(&(struct ax_sqlite_config){ .path = path }, &db, &err), &err);
	must(ax_store_run(ax_sqlite_store(db), &arena, prepare, &work, &err), &err);
	struct watch watch = start();
	while (now_s() - watch.begin_s < limit) {
		if (bulk)
			live_in_bulk(ax_sqlite_store(db), &arena, &work, n);
		else
			live_one_by_one(db, &arena, &work, n);
	}
	report("sqlite", bulk ? "runs in a transaction" : "transactions in a batch", n, work.next_gid, watch);
	ax_sqlite_close(db);
	ax_arena_done(&arena);
	unlink(path);
	strcat(path, "-lock");
	unlink(path);
}

static void bench_mariadb(const char *url, int n, double limit)
{
	struct ax_mariadb_config config;
	struct ax_mariadb *db;
	struct ax_mariadb_conn *conn;
	struct ax_arena names = { 0 }, arena = { 0 };
	static struct work work;
	struct ax_err err;
	must(ax_mariadb_read_url(url, &names, &config, &err), &err);
	must(ax_mariadb_open(&config, &db, &err), &err);
	must(ax_mariadb_connect(db, &conn, &err), &err);
	if (work.next_gid == 0)
		must(ax_store_run(ax_mariadb_store(conn), &arena, prepare, &work, &err), &err);
	int64_t before = work.next_gid;
	struct watch watch = start();
	while (now_s() - watch.begin_s < limit)
		live_in_bulk(ax_mariadb_store(conn), &arena, &work, n);
	report("mariadb", "runs in a transaction", n, work.next_gid - before, watch);
	ax_mariadb_disconnect(conn);
	ax_mariadb_close(db);
	ax_arena_done(&arena);
	ax_arena_done(&names);
}

int main(int argc, char **argv)
{
	static const int sizes[] = { 1, 20, MOST };
	double limit = argc > 1 ? atof(argv[1]) : 3;
	char folder[128] = "/tmp/ax-bench-XXXXXX";
	if (argc > 2)
		snprintf(folder, sizeof(folder), "%s/ax-bench-XXXXXX", argv[2]);
	if (mkdtemp(folder) == NULL) {
		perror(folder);
		return 1;
	}
	for (size_t i = 0; i < AX_COUNT(sizes); i++)
		bench_mem(sizes[i], limit);
	for (int bulk = 1; bulk >= 0; bulk--) {
		for (size_t i = 0; i < AX_COUNT(sizes); i++)
			bench_sqlite(folder, bulk, sizes[i], limit);
	}
	rmdir(folder);
	const char *url = getenv("AX_TEST_MYSQL");
	for (size_t i = 0; url != NULL && i < AX_COUNT(sizes); i++)
		bench_mariadb(url, sizes[i], limit);
	return 0;
}
