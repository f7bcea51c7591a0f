/* What a fire costs: tasks come due, their runs are made, given to a worker, begun and ended, by the services of the
 * server itself, each step in batches. CPU of this process and of the database, and operations of the store, per fire.
 *
 *   bench_fire [FIRES [BATCH [TASKS [FOLDER]]]]   prints a table, and JSON lines for machines
 *   AX_BENCH_OPS=1 bench_fire …                   and how often each operation was called
 *   tests/lib/mariadb.py bench_fire …             on MariaDB instead of SQLite */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "adapters/mariadb/mariadb.h"
#include "adapters/sqlite/sqlite.h"
#include "app/dispatch.h"
#include "app/ingest.h"
#include "app/recover.h"
#include "app/tasks.h"
#include "app/tick.h"
#include "app/workers.h"
#include "base/err.h"
#include "core/limits.h"
#include "core/task_def.h"
#include "port/tx_ops.h"
#include "quiet.h"

enum { BATCH_MAX = 200 };

/* A store that counts what is asked of it. */

enum op {
#define OP(op) OP_##op,
	AX_TX_OPS(OP)
#undef OP
		OPS
};

static const char *const op_names[] = {
#define OP(op) #op,
	AX_TX_OPS(OP)
#undef OP
};

static int64_t counts[OPS];

struct counting_tx {
	struct ax_tx tx;
	struct ax_tx *inner;
	ax_tx_fn fn;
	void *arg;
};

#define OP(op)                                                                                                         \
	static enum ax_status count_##op(struct ax_tx *tx AX_TX_PARAMS(op), struct ax_err *err)                        \
	{                                                                                                              \
		struct ax_tx *inner = ((struct counting_tx *)(void *)tx)->inner;                                       \
		counts[OP_##op]++;                                                                                     \
		return inner->ops->op(inner AX_TX_PASS(op), err);                                                      \
	}
AX_TX_OPS(OP)
#undef OP

static enum ax_status call(struct ax_tx *inner, void *arg, struct ax_err *err)
{
	static const struct ax_tx_ops ops = {
#define OP(op) .op = count_##op,
		AX_TX_OPS(OP)
#undef OP
	};
	struct counting_tx *t = arg;
	t->tx = (struct ax_tx){ &ops, inner->arena };
	t->inner = inner;
	return t->fn(&t->tx, t->arg, err);
}

static struct ax_store *counted; /* the one below */

static enum ax_status run_counted(
	struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	(void)store;
	struct counting_tx t = { .fn = fn, .arg = arg };
	return ax_store_run(counted, arena, call, &t, err);
}

/* Steps. */

enum step { BORN, GIVEN, BEGUN, ENDED, STEPS };

struct sum {
	double cpu_s, wall_s, db_cpu_s;
	int64_t counts[OPS];
};

struct bench {
	struct ax_ctx ctx;
	struct ax_round round;
	int tasks, batch;
	int64_t db_pid; /* 0 = none */
	struct sum sums[STEPS];
};

/* CPU of another process; its threads together. */
static double cpu_of(int64_t pid)
{
	char path[64], line[1024];
	unsigned long user = 0, system = 0;
	if (pid == 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
	FILE *f = fopen(path, "r");
	if (f != NULL && fgets(line, sizeof(line), f) != NULL)
		sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
	if (f != NULL)
		fclose(f);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void begin(struct sum *sum, int64_t db_pid)
{
	sum->cpu_s -= read_s(CLOCK_PROCESS_CPUTIME_ID);
	sum->wall_s -= read_s(CLOCK_MONOTONIC);
	sum->db_cpu_s -= cpu_of(db_pid);
	for (int i = 0; i < OPS; i++)
		sum->counts[i] -= counts[i];
}

static void end(struct sum *sum, int64_t db_pid)
{
	sum->cpu_s += read_s(CLOCK_PROCESS_CPUTIME_ID);
	sum->wall_s += read_s(CLOCK_MONOTONIC);
	sum->db_cpu_s += cpu_of(db_pid);
	for (int i = 0; i < OPS; i++)
		sum->counts[i] += counts[i];
}

/* Tasks become due `batch` at a time, a second between them. */
static void create_tasks(struct bench *b)
{
	struct ax_err err = { 0 };
	int64_t first = quiet_now;
	int period_s = AX_MAX(b->tasks / b->batch, 2);
	for (int i = 0; i < b->tasks; i++) {
		struct ax_task_def def = ax_def_preset();
		enum ax_task_status status = AX_TASK_ENABLED;
		struct ax_task task;
		int failed;
		char name[24], cron[24];
		quiet_now = first - period_s * INT64_C(1000) + i / b->batch * INT64_C(1000);
		snprintf(name, sizeof(name), "task %d", i);
		snprintf(cron, sizeof(cron), "@every %ds", period_s);
		def.task_name = name;
		def.task_type = AX_TASK_SCHEDULED;
		def.cron_expr = cron;
		def.executor_key = "bench";
		must(ax_tasks_create(&b->ctx, &def, &status, 1, "bench", &task, &failed, &err), &err);
		ax_arena_reset(b->ctx.arena);
	}
	quiet_now = first;
}

static void register_worker(struct bench *b)
{
	struct ax_worker_group group = { .worker = "w", .group_key = "default", .pool_size = 1000 };
	struct ax_registration reg = {
		.worker = { .name = "w",
			.incarnation = "i",
			.executors = "bench",
			.tags = "{}",
			.version = "",
			.address = "",
			.past = "" },
		.groups = &group,
		.n_groups = 1,
	};
	struct ax_err err = { 0 };
	must(ax_worker_register(&b->ctx, &reg, &err), &err);
	ax_arena_reset(b->ctx.arena);
}

static void report_to(struct bench *b, enum ax_item_type type, const struct ax_poll *poll)
{
	static const char *const groups[] = { "default", NULL };
	struct ax_item items[BATCH_MAX];
	struct ax_report report = { .worker = "w", .incarnation = "i", .groups = groups, .items = items };
	struct ax_err err = { 0 };
	for (; report.n < poll->n_orders; report.n++) {
		const struct ax_run *run = &poll->orders[report.n].run;
		items[report.n] = (struct ax_item){ .type = type,
			.gid = run->gid,
			.fence = run->fence,
			.percent = -1,
			.message = "",
			.data = "",
			.result = "",
			.outcome = AX_OUTCOME_SUCCESS };
	}
	must(ax_ingest(&b->ctx, &report, &err), &err);
	for (int i = 0; i < report.n; i++)
		AX_ASSERT(items[i].verdict == AX_VERDICT_APPLIED);
}

/* The life of a batch. */
static int live(struct bench *b)
{
	struct ax_err err = { 0 };
	struct ax_poll poll = { .worker = "w", .incarnation = "i", .n_free = 1 };
	int64_t next;
	bool any;
	poll.free[0].group_key = "default";
	poll.free[0].slots = b->batch;
	begin(&b->sums[BORN], b->db_pid);
	must(ax_tick(&b->ctx, &next, &err), &err);
	end(&b->sums[BORN], b->db_pid);
	quiet_now += 2;
	begin(&b->sums[GIVEN], b->db_pid);
	must(ax_polls_look(&b->ctx, &poll, 1, &any, &err), &err);
	must(ax_dispatch(&b->ctx, &poll, 1, &b->round, &err), &err);
	end(&b->sums[GIVEN], b->db_pid);
	quiet_now += 2;
	begin(&b->sums[BEGUN], b->db_pid);
	report_to(b, AX_ITEM_STARTED, &poll);
	end(&b->sums[BEGUN], b->db_pid);
	quiet_now += 80;
	begin(&b->sums[ENDED], b->db_pid);
	report_to(b, AX_ITEM_RESULT, &poll);
	end(&b->sums[ENDED], b->db_pid);
	int n = poll.n_orders;
	quiet_now += 916;
	ax_arena_reset(b->ctx.arena);
	return n;
}

static void print_sum(const struct bench *b, const char *store, const char *name, const struct sum *sum, int fires)
{
	int64_t ops = 0;
	for (int i = 0; i < OPS; i++)
		ops += sum->counts[i];
	double cpu = sum->cpu_s * 1e6 / fires, db = sum->db_cpu_s * 1e6 / fires, wall = sum->wall_s * 1e6 / fires;
	printf("%-8s %4d  %-6s %7.1f us of CPU, %7.1f of the database, %7.1f us in all, %6.2f operations\n", store,
		b->batch, name, cpu, db, wall, (double)ops / fires);
	printf("{\"bench\":\"fire\",\"store\":\"%s\",\"batch\":%d,\"step\":\"%s\",\"cpu_us\":%.2f,\"db_cpu_us\":%.2f,"
	       "\"wall_us\":%.2f,\"ops\":%.2f}\n",
		store, b->batch, name, cpu, db, wall, (double)ops / fires);
	for (int i = 0; i < OPS && getenv("AX_BENCH_OPS") != NULL; i++)
		if (sum->counts[i] > 0)
			printf("    %-22s %.3f\n", op_names[i], (double)sum->counts[i] / fires);
	fflush(stdout);
}

static void run_bench(struct bench *b, const char *store, int fires)
{
	static const char *const names[] = { "born", "given", "begun", "ended" };
	struct sum all = { 0 };
	struct ax_err err = { 0 };
	int done = 0;
	must(ax_recover(&b->ctx, "bench", &err), &err);
	create_tasks(b);
	register_worker(b);
	live(b); /* prepares statements */
	memset(b->sums, 0, sizeof(b->sums));
	while (done < fires) {
		int n = live(b);
		AX_ASSERT(n > 0);
		done += n;
	}
	for (int s = 0; s < STEPS; s++) {
		print_sum(b, store, names[s], &b->sums[s], done);
		all.cpu_s += b->sums[s].cpu_s;
		all.wall_s += b->sums[s].wall_s;
		all.db_cpu_s += b->sums[s].db_cpu_s;
		for (int i = 0; i < OPS; i++)
			all.counts[i] += b->sums[s].counts[i];
	}
	print_sum(b, store, "all", &all, done);
}

static void bench_sqlite(struct bench *b, const char *folder, int fires)
{
	char path[256];
	struct ax_sqlite *db;
	struct ax_err err = { 0 };
	snprintf(path, sizeof(path), "%s/ax-bench-XXXXXX", folder);
	if (mkdtemp(path) == NULL) {
		perror(path);
		exit(1);
	}
	char *name = path + strlen(path);
	strcpy(name, "/bench.db");
	must(ax_sqlite_open(&(struct ax_sqlite_config){ .path = path }, &db, &err), &err);
	counted = ax_sqlite_store(db);
	b->ctx.store->sole = counted->sole;
	run_bench(b, "sqlite", fires);
	ax_sqlite_close(db);
	unlink(path);
	strcat(path, "-lock");
	unlink(path);
	*name = '\0';
	rmdir(path);
}

static void bench_mariadb(struct bench *b, const char *url, int fires)
{
	struct ax_mariadb_config config;
	struct ax_mariadb *db;
	struct ax_mariadb_conn *conn;
	struct ax_arena names = { 0 };
	struct ax_err err = { 0 };
	must(ax_mariadb_read_url(url, &names, &config, &err), &err);
	must(ax_mariadb_open(&config, &db, &err), &err);
	must(ax_mariadb_connect(db, &conn, &err), &err);
	counted = ax_mariadb_store(conn);
	const char *pid = getenv("AX_TEST_MYSQL_PID");
	b->db_pid = pid == NULL ? 0 : atoll(pid);
	run_bench(b, "mariadb", fires);
	ax_mariadb_disconnect(conn);
	ax_mariadb_close(db);
	ax_arena_done(&names);
}

int main(int argc, char **argv)
{
	static const struct ax_store_ops store_ops = { run_counted };
	struct ax_arena arena = { 0 };
	struct ax_store store = { .ops = &store_ops };
	static struct bench b;
	int fires = argc > 1 ? atoi(argv[1]) : 20000;
	b.batch = argc > 2 ? AX_MIN(AX_MAX(atoi(argv[2]), 1), BATCH_MAX) : BATCH_MAX;
	b.tasks = argc > 3 ? atoi(argv[3]) : 2000;
	b.ctx = quiet_ctx(&store, &arena);
	const char *url = getenv("AX_TEST_MYSQL");
	if (url == NULL)
		bench_sqlite(&b, argc > 4 ? argv[4] : "/tmp", fires);
	else
		bench_mariadb(&b, url, fires);
	ax_arena_done(&arena);
	return 0;
}
