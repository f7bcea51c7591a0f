/* How long it takes to load the due queue anew after a loss: all that a database says is due in the next ten minutes.
 *
 *   python3 tests/lib/redis.py single bench_queue [MEMBERS [FOLDER]]      prints a line, and JSON for machines */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "adapters/redis/queue.h"
#include "adapters/sqlite/sqlite.h"
#include "app/queue_feed.h"
#include "base/err.h"
#include "base/num.h"
#include "core/task_def.h"
#include "server/queue_relay.h"

enum { GROUPS = 100, BATCH = 10000 };

#define NOW INT64_C(1780272000000)

static struct bench {
	struct ax_sqlite *db;
	struct ax_sqlite_reader *reader;
	struct ax_redis_queue *redis;
	struct ax_queue_relay relay;
	struct ax_feed feed;
	struct ax_feed_host host;
	uv_loop_t loop;
	uv_timer_t timer;
	struct ax_arena arena;
	int64_t members, first, begun_ms, slowest_ms;
	double begun_cpu_s;
} b;

static int64_t mono_ms(void)
{
	return (int64_t)(uv_hrtime() / 1000000);
}

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(enum ax_status status, const struct ax_err *err)
{
	if (status == AX_OK)
		return;
	fprintf(stderr, "bench_queue: %s\n", err->msg);
	exit(1);
}

static enum ax_status insert(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	(void)arg;
	for (int64_t i = b.first; status == AX_OK && i < AX_MIN(b.first + BATCH, b.members); i++) {
		struct ax_task task = { .def = ax_def_preset(),
			.status = AX_TASK_ENABLED,
			.version = 1,
			.updated_by = "",
			.durations = "" };
		task.def.group_key = ax_sprintf(tx->arena, "group-%d", (int)(i % GROUPS));
		task.def.task_name = ax_sprintf(tx->arena, "task-%lld", (long long)i);
		task.def.cron_expr = "@every 500s";
		task.def.executor_key = "exec";
		task.next_trigger_time = NOW + 1 + i * (AX_QUEUE_AHEAD_MS - 1000) / b.members;
		status = tx->ops->task_insert(tx, &task, &task.id, err);
	}
	return status;
}

static void fill(const char *path)
{
	struct ax_err err = { 0 };
	struct ax_sqlite_config config = { .path = path };
	must(ax_sqlite_open(&config, &b.db, &err), &err);
	for (b.first = 0; b.first < b.members; b.first += BATCH) {
		must(ax_store_run(ax_sqlite_store(b.db), &b.arena, insert, NULL, &err), &err);
		ax_arena_reset(&b.arena);
	}
	ax_sqlite_close(b.db); /* what was written is in the file, and no more in its log */
	must(ax_sqlite_open(&config, &b.db, &err), &err);
	must(ax_sqlite_reader_open(b.db, &b.reader, &err), &err);
}

static void look(void)
{
	int64_t wait = ax_feed_look(&b.feed, NOW, mono_ms());
	for (int i = 0; i < AX_QUEUE_SHARDS; i++)
		if (b.feed.shard[i].asking)
			b.slowest_ms = AX_MAX(b.slowest_ms, mono_ms() - b.feed.shard[i].asked_mono_ms);
	uv_timer_start(&b.timer, b.timer.timer_cb, (uint64_t)AX_MIN(wait, 10), 0);
}

static void on_timer(uv_timer_t *timer)
{
	(void)timer;
	look();
}

static void after(void *user)
{
	(void)user;
	look();
}

static void no_fire(struct ax_feed_host *host, int shard, const struct ax_member *members, int n)
{
	(void)host;
	(void)shard;
	(void)members;
	(void)n;
}

static void read_page(struct ax_feed_host *host, const struct ax_feed_page *page)
{
	struct ax_dues dues;
	struct ax_err err = { 0 };
	(void)host;
	if (b.begun_ms == 0) {
		b.begun_ms = mono_ms();
		b.begun_cpu_s = cpu_s();
	}
	must(ax_feed_read(ax_sqlite_reader_store(b.reader), &b.arena, page, &dues, &err), &err);
	ax_feed_read_done(&b.feed, &dues);
	ax_arena_reset(&b.arena);
}

static void event(struct ax_feed_host *host, const char *name, int64_t members)
{
	(void)host;
	if (strcmp(name, "queue_loaded") != 0)
		return;
	double s = (double)(mono_ms() - b.begun_ms) / 1000, cpu = cpu_s() - b.begun_cpu_s;
	printf("%lld members loaded in %.1f s, %.0f a second, with %.1f s of CPU here; the slowest answer to a take "
	       "meanwhile "
	       "took %lld ms\n",
		(long long)members, s, (double)members / s, cpu, (long long)b.slowest_ms);
	printf("{\"bench\":\"queue\",\"members\":%lld,\"s\":%.3f,\"cpu_s\":%.3f,\"slowest_take_ms\":%lld}\n",
		(long long)members, s, cpu, (long long)b.slowest_ms);
	uv_stop(&b.loop);
}

static void hear_nothing(void *user, const struct ax_hint *hint)
{
	(void)user;
	(void)hint;
}

static void load(const char *url)
{
	static const struct ax_feed_host_ops ops = { no_fire, read_page, event };
	struct ax_err err = { 0 };
	struct ax_redis_queue_config config = { .ca_file = "", .identity = "bench" };
	must(ax_redis_url_read(url, &config.url, &err), &err);
	uv_loop_init(&b.loop);
	uv_timer_init(&b.loop, &b.timer);
	ax_queue_relay_init(&b.relay, &b.loop, (struct ax_queue_ears){ hear_nothing, NULL }, after, NULL);
	must(ax_redis_queue_new(&config, &b.redis, &err), &err);
	ax_queue_relay_join(&b.relay, ax_redis_queue_port(b.redis));
	b.host.ops = &ops;
	ax_feed_init(&b.feed, &b.relay.port, &b.host, 0xffff, "bench");
	uv_timer_start(&b.timer, on_timer, 0, 0);
	uv_run(&b.loop, UV_RUN_DEFAULT);
	ax_feed_stop(&b.feed);
	ax_redis_queue_free(b.redis);
	ax_queue_relay_done(&b.relay);
	uv_close((uv_handle_t *)&b.timer, NULL);
	uv_run(&b.loop, UV_RUN_DEFAULT);
	uv_loop_close(&b.loop);
}

int main(int argc, char **argv)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-lock" };
	const char *url = getenv("AX_TEST_REDIS");
	char folder[256], path[300], name[320];
	b.members = 1000000;
	if (url == NULL || (argc > 1 && !ax_parse_i64(argv[1], strlen(argv[1]), 1, 100000000, &b.members))) {
		fprintf(stderr, "usage: bench_queue [MEMBERS [FOLDER]], with AX_TEST_REDIS\n");
		return 2;
	}
	snprintf(folder, sizeof(folder), "%.200s/ax-bench-XXXXXX", argc > 2 ? argv[2] : "/tmp");
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/ax.db", folder);
	fill(path);
	load(url);
	ax_sqlite_reader_close(b.reader);
	ax_sqlite_close(b.db);
	ax_arena_done(&b.arena);
	for (size_t i = 0; i < AX_COUNT(suffixes); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
	rmdir(folder);
	return 0;
}
