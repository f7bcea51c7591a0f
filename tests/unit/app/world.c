#include "world.h"

#include <stdlib.h>

#include "app/recover.h"
#include "app/tick.h"
#include "app/workers.h"
#include "core/task_def.h"
#include "port/mem_store.h"

#define WORLD_OF(member, pointer) ((struct world *)(void *)((char *)(pointer)-offsetof(struct world, member)))

static int64_t now_ms(struct ax_clock *clock)
{
	return WORLD_OF(clock, clock)->now;
}

static uint64_t next_random(struct ax_rand *rand)
{
	return WORLD_OF(rand, rand)->random++ * 0x9e3779b97f4a7c15ULL;
}

static void ignore_id(struct ax_notify *notify, int64_t id)
{
	(void)notify;
	(void)id;
}

static void ignore_run(struct ax_notify *notify, const struct ax_run *run)
{
	(void)notify;
	(void)run;
}

static void ignore_name(struct ax_notify *notify, const char *name)
{
	(void)notify;
	(void)name;
}

static void ignore_event(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	(void)log;
	(void)level;
	(void)name;
	(void)fields;
}

static const struct ax_tz *find_zone(struct ax_zones *zones, const char *name)
{
	if (strcmp(name, "Test/Moving") == 0)
		return WORLD_OF(zones, zones)->moving;
	return strcmp(name, "UTC") == 0 ? ax_tz_utc() : NULL;
}

static const char *zone_version(struct ax_zones *zones)
{
	(void)zones;
	return "test";
}

void restart(struct world *w)
{
	ax_mem_store_port(w->mem)->sole = true; /* one server, again and again */
	memset(&w->seat, 0, sizeof(w->seat));
	w->ctx = (struct ax_ctx){
		.store = ax_mem_store_port(w->mem),
		.clock = &w->clock,
		.rand = &w->rand,
		.notify = &w->notify,
		.log = &w->log,
		.zones = &w->zones,
		.arena = &w->arena,
		.seat = &w->seat,
		.server_name = "test",
	};
	assert_int_equal(ax_recover(&w->ctx, "test", NULL), AX_OK);
}

int world_up(void **state)
{
	static const struct ax_clock_ops clock_ops = { now_ms, now_ms };
	static const struct ax_rand_ops rand_ops = { next_random };
	static const struct ax_notify_ops notify_ops = { ignore_id, ignore_run, ignore_run, ignore_name, ignore_name };
	static const struct ax_log_ops log_ops = { ignore_event };
	static const struct ax_zones_ops zones_ops = { find_zone, zone_version };
	struct world *w = ax_malloc(sizeof(*w));
	w->mem = ax_mem_store_new();
	w->clock.ops = &clock_ops;
	w->rand.ops = &rand_ops;
	w->notify.ops = &notify_ops;
	w->log.ops = &log_ops;
	w->zones.ops = &zones_ops;
	w->now = T0;
	restart(w);
	register_worker(w, "w1", "i1", 10);
	*state = w;
	return 0;
}

int world_down(void **state)
{
	struct world *w = *state;
	ax_mem_store_free(w->mem);
	ax_arena_done(&w->arena);
	free(w);
	return 0;
}

int64_t make_task(struct world *w, const char *cron, void (*change)(struct ax_task_def *def))
{
	struct ax_task_def def = ax_def_preset();
	def.task_name = ax_sprintf(&w->arena, "task %llu", (unsigned long long)w->random++);
	def.task_type = cron[0] != '\0' ? AX_TASK_SCHEDULED : AX_TASK_DELAY;
	def.cron_expr = cron;
	def.executor_key = "exec";
	if (change != NULL)
		change(&def);
	enum ax_task_status status = AX_TASK_ENABLED;
	struct ax_task task;
	struct ax_err err = { 0 };
	int failed;
	if (ax_tasks_create(&w->ctx, &def, &status, 1, "test", &task, &failed, &err) != AX_OK)
		fail_msg("%s: %s", err.field, err.msg);
	return task.id;
}

struct read {
	int64_t id, fence;
	struct ax_task task;
	struct ax_run run;
	struct ax_attempt attempt;
};

static enum ax_status read_task(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct read *read = arg;
	return tx->ops->task_get(tx, read->id, false, &read->task, err);
}

static enum ax_status read_run(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct read *read = arg;
	return tx->ops->run_get(tx, read->id, false, &read->run, err);
}

static enum ax_status read_attempt(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct read *read = arg;
	enum ax_status status = tx->ops->attempt_get(tx, read->id, read->fence, &read->attempt, err);
	return status == AX_NOT_FOUND ? AX_OK : status;
}

struct ax_task task_row(struct world *w, int64_t id)
{
	struct read read = { .id = id };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, read_task, &read, NULL), AX_OK);
	return read.task;
}

struct ax_run run_row(struct world *w, int64_t gid)
{
	struct read read = { .id = gid };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, read_run, &read, NULL), AX_OK);
	return read.run;
}

struct ax_attempt attempt_row(struct world *w, int64_t gid, int64_t fence)
{
	struct read read = { .id = gid, .fence = fence };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, read_attempt, &read, NULL), AX_OK);
	return read.attempt;
}

int count_runs(struct world *w, int64_t task_id, enum ax_run_state state)
{
	const struct ax_run *run;
	int n = 0;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		n += run->task_id == task_id && run->status == state;
	return n;
}

struct ax_run find_run(struct world *w, int64_t task_id, enum ax_run_state state, int n)
{
	const struct ax_run *run;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		if (run->task_id == task_id && run->status == state && n-- == 0)
			return run_row(w, run->gid);
	fail_msg("task %lld has no such run in %s", (long long)task_id, ax_run_state_name(state));
	return (struct ax_run){ 0 };
}

int64_t go(struct world *w, int64_t ms)
{
	int64_t next = 0;
	struct ax_err err = { 0 };
	w->now += ms;
	if (ax_tick(&w->ctx, &next, &err) != AX_OK)
		fail_msg("tick: %s: %s", err.field, err.msg);
	return next;
}

void go_quiet(struct world *w, int64_t ms)
{
	w->now += ms;
}

struct ax_run trigger_how(struct world *w, struct ax_trigger how)
{
	struct ax_run run;
	bool existed;
	how.params = how.params != NULL ? how.params : "";
	how.key = how.key != NULL ? how.key : "";
	assert_int_equal(ax_task_trigger(&w->ctx, &how, &run, &existed, NULL), AX_OK);
	assert_false(existed);
	return run;
}

struct ax_run trigger(struct world *w, int64_t task_id)
{
	return trigger_how(w, (struct ax_trigger){ .task_id = task_id });
}

void register_worker(struct world *w, const char *name, const char *incarnation, int64_t pool)
{
	struct ax_worker_group group = { .group_key = "default", .pool_size = pool };
	struct ax_registration reg = {
		.worker = { .name = name,
			.incarnation = incarnation,
			.executors = "exec http",
			.tags = "{}",
			.version = "",
			.address = "" },
		.groups = &group,
		.n_groups = 1,
	};
	assert_int_equal(ax_worker_register(&w->ctx, &reg, NULL), AX_OK);
}

void serve_polls(struct world *w, struct ax_poll *polls, int n)
{
	bool any;
	assert_int_equal(ax_polls_look(&w->ctx, polls, n, &any, NULL), AX_OK);
	if (any)
		assert_int_equal(ax_dispatch(&w->ctx, polls, n, &w->round, NULL), AX_OK);
}

int poll(struct world *w, const char *name, const char *incarnation, int64_t slots, struct ax_order *ret,
	struct ax_stop *ret_stop)
{
	struct ax_poll poll = {
		.worker = name,
		.incarnation = incarnation,
		.free = { { .group_key = "default", .slots = slots } },
		.n_free = 1,
	};
	serve_polls(w, &poll, 1);
	assert_int_equal(poll.status, AX_OK);
	for (int i = 0; i < poll.n_orders; i++)
		ret[i] = poll.orders[i];
	if (ret_stop != NULL)
		*ret_stop = poll.n_stops > 0 ? poll.stops[0] : (struct ax_stop){ 0 };
	return poll.n_orders;
}

static enum ax_verdict send(struct world *w, const char *name, struct ax_item item)
{
	static const char *const groups[] = { "default", NULL };
	item.message = "said so";
	item.data = "";
	item.result = "";
	struct ax_report report = { .worker = name, .incarnation = "i1", .groups = groups, .items = &item, .n = 1 };
	assert_int_equal(ax_ingest(&w->ctx, &report, NULL), AX_OK);
	return item.verdict;
}

enum ax_verdict report(struct world *w, const char *name, enum ax_item_type type, const struct ax_run *run)
{
	return send(w, name, (struct ax_item){ .type = type, .gid = run->gid, .fence = run->fence, .percent = -1 });
}

enum ax_verdict result(struct world *w, const char *name, const struct ax_run *run, enum ax_outcome outcome)
{
	return send(w, name,
		(struct ax_item){
			.type = AX_ITEM_RESULT,
			.gid = run->gid,
			.fence = run->fence,
			.outcome = outcome,
			.code = outcome == AX_OUTCOME_SUCCESS ? 0 : 3,
		});
}
