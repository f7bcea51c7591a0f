/* The services' side of the due queue: what it does in good times, and that bad times cost lateness alone. */

#include <stdio.h>
#include <stdlib.h>

#include "app/groups.h"
#include "app/queue_feed.h"
#include "app/taken.h"
#include "app/tasks.h"
#include "app/tick.h"
#include "port/mem_queue.h"
#include "port/mem_store.h"
#include "port/wrap_due.h"
#include "changed_store.h"
#include "world.h"

enum { ALL = 0xffff, LED_WITHIN_MS = 3500, EVENTS_MAX = 64 };

/* A server at the queue: a feed, and a store that tells it what was written. */
struct seat {
	struct world *w;
	struct ax_feed_host host;
	struct ax_feed feed;
	struct ax_due_store *due; /* one of `stores` */
	struct ax_ctx ctx;
	int64_t look_at, tick_at;
	int fired;                         /* members */
	bool dies;                         /* what it takes is lost */
	bool slow;                         /* what it reads is answered later … */
	const struct ax_feed_page *unread; /* … this page */
	const char *events[EVENTS_MAX];
	int n_events;
};

enum { SEATS = 2 };

static struct ax_mem_queue *queue;
static struct ax_due_store stores[SEATS];

static struct seat *seat_of(struct ax_feed_host *host)
{
	return (struct seat *)(void *)((char *)host - offsetof(struct seat, host));
}

static void told(void *user, const struct ax_queue_entry *entries, int n)
{
	struct seat *seat = user;
	if (ax_feed_changed(&seat->feed, entries, n, seat->w->now))
		seat->look_at = seat->w->now;
}

static void fire(struct ax_feed_host *host, int shard, const struct ax_member *members, int n)
{
	struct seat *seat = seat_of(host);
	struct ax_queue_entry entries[AX_TAKEN_ENTRIES_MAX];
	struct ax_err err = { 0 };
	int n_entries = 0;
	if (seat->dies)
		return;
	seat->fired += n;
	if (ax_taken_do(&seat->ctx, shard, members, n, entries, &n_entries, &err) != AX_OK)
		fail_msg("%s", err.msg);
	ax_feed_fired(&seat->feed);
	ax_feed_changed(&seat->feed, entries, n_entries, seat->w->now);
}

static void read_page(struct ax_feed_host *host, const struct ax_feed_page *page)
{
	struct seat *seat = seat_of(host);
	struct ax_dues dues;
	struct ax_err err = { 0 };
	seat->unread = seat->slow ? page : NULL;
	if (seat->slow)
		return;
	enum ax_status status = ax_feed_read(&seat->due->store, &seat->w->arena, page, &dues, &err);
	ax_feed_read_done(&seat->feed, status == AX_OK ? &dues : NULL);
}

static void event(struct ax_feed_host *host, const char *name, int64_t number)
{
	struct seat *seat = seat_of(host);
	(void)number;
	assert_true(seat->n_events < EVENTS_MAX);
	seat->events[seat->n_events++] = name;
}

static int count_events(const struct seat *seat, const char *name)
{
	int n = 0;
	for (int i = 0; i < seat->n_events; i++)
		n += strcmp(seat->events[i], name) == 0;
	return n;
}

static void sit_down(struct seat *seat, struct world *w, uint32_t shards, const char *token)
{
	static const struct ax_feed_host_ops ops = { fire, read_page, event };
	memset(seat, 0, sizeof(*seat));
	seat->w = w;
	seat->host.ops = &ops;
	ax_feed_init(&seat->feed, ax_mem_queue_port(queue, NULL), &seat->host, shards, token);
	seat->ctx = w->ctx;
	seat->ctx.stripe = token[0] - 'a'; /* of the gids */
	seat->ctx.stripes = SEATS;
	ax_gid_init(&seat->ctx.gids, w->ctx.gids.server_number, w->ctx.gids.high_ms, seat->ctx.stripe, SEATS);
	seat->due = &stores[seat->ctx.stripe];
	ax_due_store_done(seat->due);
	ax_due_store_init(seat->due, w->ctx.store, told, seat);
	seat->ctx.store = &seat->due->store;
	seat->look_at = seat->tick_at = w->now;
}

static int64_t mono_of_world(struct ax_clock *clock)
{
	return ((struct world *)(void *)((char *)clock - offsetof(struct world, clock)))->now - T0 + 1;
}

static int64_t now_of_world(struct ax_clock *clock)
{
	return ((struct world *)(void *)((char *)clock - offsetof(struct world, clock)))->now;
}

static int up(void **state)
{
	static const struct ax_clock_ops clock = { now_of_world, mono_of_world };
	if (world_up(state) != 0)
		return -1;
	struct world *w = *state;
	w->clock.ops = &clock;
	queue = ax_mem_queue_new(&w->clock, "test");
	struct ax_group other = { .group_key = "other",
		.title = "",
		.contacts = "",
		.defaults = "{}",
		.dispatch_quota = 10,
		.pool_size = 10,
		.long_share_percent = 20 },
			made;
	assert_int_equal(ax_group_create(&w->ctx, &other, &made, NULL), AX_OK);
	return 0;
}

static int down(void **state)
{
	for (int i = 0; i < SEATS; i++)
		ax_due_store_done(&stores[i]);
	ax_mem_queue_free(queue);
	return world_down(state);
}

/* One step of a server's timers: the queue's, and the ticks over the store. */
static void step(struct seat *seat)
{
	struct world *w = seat->w;
	int64_t next = 0, mono = mono_of_world(&w->clock);
	if (w->now >= seat->look_at)
		seat->look_at = w->now + ax_feed_look(&seat->feed, w->now, mono);
	if (w->now < seat->tick_at)
		return;
	struct ax_err err = { 0 };
	seat->ctx.queue_leads_ms = ax_feed_leads(&seat->feed, mono) ? AX_QUEUE_LATE_MS : 0;
	if (ax_tick(&seat->ctx, &next, &err) != AX_OK)
		fail_msg("%s", err.msg);
	if (seat->ctx.queue_leads_ms > 0 && seat->ctx.found_late)
		ax_feed_found_late(&seat->feed, mono);
	seat->tick_at = w->now + 1000;
	if (next != 0 && next < seat->tick_at)
		seat->tick_at = next <= w->now ? w->now + 1 : next;
}

/* Time goes by in steps of 10 ms. */
static void run(struct seat *a, struct seat *b, int64_t ms)
{
	for (int64_t end = a->w->now + ms; a->w->now < end;) {
		step(a);
		if (b != NULL)
			step(b);
		a->w->now += 10;
		ax_arena_reset(&a->w->arena);
	}
}

static bool leads(const struct seat *seat)
{
	return ax_feed_leads(&seat->feed, mono_of_world(&seat->w->clock));
}

static int64_t size_of_queue(void)
{
	int64_t n = 0;
	while (ax_mem_queue_shift(queue, (int)n, 0))
		n++;
	return n;
}

/* Of all runs of the task: how much later than due they were born, at most. */
static int64_t lateness(struct world *w, int64_t task_id, int runs)
{
	int64_t worst = 0;
	assert_int_equal(count_runs(w, task_id, AX_RUN_WAITING), runs);
	for (int i = 0; i < count_runs(w, task_id, AX_RUN_WAITING); i++) {
		struct ax_run row = find_run(w, task_id, AX_RUN_WAITING, i);
		worst = row.create_time - row.trigger_time > worst ? row.create_time - row.trigger_time : worst;
	}
	return worst;
}

static void allow_many(struct ax_task_def *def)
{
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 100;
}

static void in_other_group(struct ax_task_def *def)
{
	allow_many(def);
	def->group_key = "other";
}

/* --- good times --------------------------------------------------------------------------------------------------- */

static void test_it_leads_and_fires(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	int64_t id = make_task(w, "@every 7s", allow_many);
	assert_false(leads(&a));
	run(&a, NULL, LED_WITHIN_MS);
	assert_true(leads(&a));
	assert_int_equal(count_events(&a, "queue_loaded"), 1);
	run(&a, NULL, 70000);
	assert_int_equal(a.fired, 10);
	assert_true(lateness(w, id, 10) <= 10);
	assert_int_equal(size_of_queue(), 1);
	assert_int_equal(count_events(&a, "queue_lags"), 0);
}

static void test_a_change_is_known_at_once(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	run(&a, NULL, LED_WITHIN_MS);
	w->ctx.store = &a.due->store;
	int64_t id = make_task(w, "@every 2s", allow_many);
	run(&a, NULL, 2100);
	assert_int_equal(lateness(w, id, 1) <= 10, true);
	assert_int_equal(a.fired, 1);
	struct ax_task task;
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(size_of_queue(), 0);
	run(&a, NULL, 5000);
	assert_int_equal(a.fired, 1);
}

static void test_delays_and_far_things(void **state)
{
	struct world *w = *state;
	struct seat a;
	struct ax_run soon, far;
	bool existed;
	sit_down(&a, w, ALL, "a");
	run(&a, NULL, LED_WITHIN_MS);
	w->ctx.store = &a.due->store;
	int64_t id = make_task(w, "", allow_many);
	struct ax_trigger trigger = { .task_id = id, .params = "", .key = "", .run_at = w->now + 5000 };
	assert_int_equal(ax_task_trigger(&w->ctx, &trigger, &soon, &existed, NULL), AX_OK);
	trigger.run_at = w->now + AX_QUEUE_AHEAD_MS + 120000;
	assert_int_equal(ax_task_trigger(&w->ctx, &trigger, &far, &existed, NULL), AX_OK);
	assert_int_equal(size_of_queue(), 1);
	run(&a, NULL, 4900);
	assert_int_equal(run_row(w, soon.gid).status, AX_RUN_PENDING);
	run(&a, NULL, 200);
	assert_int_equal(run_row(w, soon.gid).status, AX_RUN_WAITING);
	assert_int_equal(size_of_queue(), 0);
	run(&a, NULL, 240000); /* what a minute adds is loaded */
	assert_int_equal(size_of_queue(), 1);
	run(&a, NULL, far.trigger_time - w->now - 100);
	assert_int_equal(run_row(w, far.gid).status, AX_RUN_PENDING);
	run(&a, NULL, 200);
	assert_int_equal(run_row(w, far.gid).status, AX_RUN_WAITING);
	assert_int_equal(a.fired, 2);
}

static void test_two_servers_share(void **state)
{
	struct world *w = *state;
	struct seat a, b;
	int64_t ids[20];
	sit_down(&a, w, ALL, "a");
	sit_down(&b, w, ALL, "b");
	for (int i = 0; i < 20; i++)
		ids[i] = make_task(w, "@every 5s", i % 2 == 0 ? allow_many : in_other_group);
	run(&a, &b, LED_WITHIN_MS + 1000);
	assert_true(leads(&a) && leads(&b));
	run(&b, &a, 30000);
	for (int i = 0; i < 20; i++)
		assert_true(lateness(w, ids[i], 6) <= 10);
	assert_int_equal(a.fired + b.fired, 20 * 6);
	assert_true(a.feed.n_loads > 0 && b.feed.n_loads > 0);
}

/* A subset of shards per server: what the other one is not there for is found by the sweep. */
static void test_a_server_with_some_shards(void **state)
{
	struct world *w = *state;
	struct seat a, b;
	int ours = ax_queue_shard("default"), theirs = ax_queue_shard("other");
	assert_int_not_equal(ours, theirs);
	sit_down(&a, w, UINT32_C(1) << ours, "a");
	sit_down(&b, w, ALL & ~(UINT32_C(1) << ours), "b");
	int64_t mine = make_task(w, "@every 10s", allow_many), other = make_task(w, "@every 10s", in_other_group);
	run(&a, &b, LED_WITHIN_MS);
	assert_true(leads(&a) && leads(&b));
	run(&a, &b, 20000);
	assert_int_equal(a.fired, 2);
	assert_int_equal(b.fired, 2);
	run(&a, NULL, 20000); /* b is gone */
	assert_int_equal(a.fired, 4);
	assert_true(lateness(w, mine, 4) <= 10);
	assert_in_range(lateness(w, other, 4), AX_QUEUE_LATE_MS, AX_QUEUE_LATE_MS + 1100);
}

/* --- rows that others hold ---------------------------------------------------------------------------------------- */

/* A store in which another transaction holds every task at the next `times` looks, and only reads them. */
static struct {
	struct changed_store store;
	int times;
} held;

static enum ax_status tasks_but_held(
	struct ax_tx *tx, const struct ax_ids *ids, struct ax_tasks *ret, struct ax_err *err)
{
	static const struct ax_ids none;
	bool free = held.times == 0 || ids->n == 0;
	held.times -= !free;
	return held.store.inner_ops->tasks_by_id(tx, free ? ids : &none, ret, err);
}

static void hold_tasks(struct ax_tx_ops *ops)
{
	ops->tasks_by_id = tasks_but_held;
}

/* A report that holds a task makes its fire wait for the report, not for the member to show itself again. */
static void test_what_others_hold_is_soon_looked_at_again(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	int64_t id = make_task(w, "@every 7s", allow_many);
	run(&a, NULL, LED_WITHIN_MS);
	changed_store_init(&held.store, a.ctx.store, hold_tasks);
	held.times = 3;
	a.ctx.store = &held.store.store;
	run(&a, NULL, 14000);
	assert_int_equal(held.times, 0);
	assert_in_range(lateness(w, id, 2), 3 * AX_BUSY_MS, 200);
}

/* --- rows and members that disagree ------------------------------------------------------------------------------- */

static void test_the_row_decides(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	int64_t id = make_task(w, "@every 60s", allow_many);
	run(&a, NULL, LED_WITHIN_MS);
	assert_true(ax_mem_queue_shift(queue, 0, -50000)); /* it shows itself too early */
	run(&a, NULL, 20000);
	assert_int_equal(a.fired, 1);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 0);
	assert_int_equal(size_of_queue(), 1);
	run(&a, NULL, 40000);
	assert_true(lateness(w, id, 1) <= 10); /* it was put right */
}

static void test_what_is_gone_leaves_the_queue(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	int64_t gone = make_task(w, "@every 60s", allow_many), paused = make_task(w, "@every 60s", allow_many);
	int64_t strayed = make_task(w, "@every 60s", allow_many);
	struct ax_queue_entry stray = { { AX_MEMBER_TASK, strayed }, ax_queue_shard("other"), w->now + 30000, 5 };
	struct ax_task task;
	run(&a, NULL, LED_WITHIN_MS);
	/* behind the feed's back */
	assert_int_equal(ax_task_delete(&w->ctx, gone, false, "test", NULL), AX_OK);
	assert_int_equal(ax_task_set_status(&w->ctx, paused, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	assert_true(a.feed.queue->ops->put(a.feed.queue, &stray, 1, NULL, NULL));
	assert_int_equal(size_of_queue(), 4);
	run(&a, NULL, 60000);
	assert_int_equal(size_of_queue(), 1);
	assert_int_equal(a.fired, 4);
	assert_true(lateness(w, strayed, 1) <= 10);
}

static void test_what_a_dead_server_took_shows_itself_again(void **state)
{
	struct world *w = *state;
	struct seat a, b;
	sit_down(&a, w, ALL, "a");
	sit_down(&b, w, ALL, "b");
	int64_t id = make_task(w, "@every 10s", allow_many);
	run(&a, &b, LED_WITHIN_MS + 1000);
	a.dies = true;
	run(&a, NULL, 6000); /* it takes the member, and is gone */
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 0);
	b.tick_at = INT64_MAX; /* the queue alone */
	run(&b, NULL, 6000);
	assert_in_range(lateness(w, id, 1), AX_QUEUE_HIDE_MS, AX_QUEUE_HIDE_MS + 20);
}

/* --- losses ------------------------------------------------------------------------------------------------------- */

static void test_a_lost_member_is_late_and_makes_a_load(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	int64_t id = make_task(w, "@every 10s", allow_many);
	run(&a, NULL, LED_WITHIN_MS);
	assert_true(ax_mem_queue_lose(queue, 0));
	run(&a, NULL, 12000);
	assert_in_range(lateness(w, id, 1), AX_QUEUE_LATE_MS, AX_QUEUE_LATE_MS + 1000);
	run(&a, NULL, 10000);
	assert_int_equal(count_events(&a, "queue_loaded"), 2);
	assert_int_equal(a.fired, 1);
	assert_int_equal(count_events(&a, "queue_lags"), 0);
}

static void test_flushed(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	int64_t id = make_task(w, "@every 2s", allow_many);
	run(&a, NULL, LED_WITHIN_MS);
	for (int i = 0; i < 10; i++) {
		ax_mem_queue_flush(queue);
		run(&a, NULL, LED_WITHIN_MS);
		assert_true(leads(&a));
		assert_int_equal(size_of_queue(), 1);
	}
	assert_true(lateness(w, id, 19) <= 2000);
}

static void test_away_and_mute(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	int64_t id = make_task(w, "@every 3s", allow_many);
	run(&a, NULL, LED_WITHIN_MS);
	ax_mem_queue_set_up(queue, false);
	run(&a, NULL, 30000);
	assert_false(leads(&a));
	int loads = count_events(&a, "queue_loaded");
	ax_mem_queue_set_up(queue, true);
	run(&a, NULL, LED_WITHIN_MS);
	assert_true(leads(&a));
	assert_int_equal(count_events(&a, "queue_loaded"), loads + 1);
	ax_mem_queue_set_mute(queue, true);
	run(&a, NULL, 30000);
	assert_false(leads(&a));
	ax_mem_queue_set_mute(queue, false);
	run(&a, NULL, LED_WITHIN_MS);
	assert_true(leads(&a));
	assert_true(lateness(w, id, 23) <= 3600);
}

static void test_an_old_copy_comes_back(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	run(&a, NULL, LED_WITHIN_MS);
	w->ctx.store = &a.due->store;
	int64_t old = make_task(w, "@every 9s", allow_many);
	ax_mem_queue_keep_copy(queue);
	int64_t recent = make_task(w, "@every 9s", allow_many);
	run(&a, NULL, 20000);
	ax_mem_queue_use_copy(queue);
	run(&a, NULL, 25000);
	assert_true(lateness(w, old, 5) <= 10);
	assert_in_range(lateness(w, recent, 5), AX_QUEUE_LATE_MS, AX_QUEUE_LATE_MS + 1000);
	assert_int_equal(size_of_queue(), 2);
}

/* A lock is never needed to be right: with one that nobody gives back the store decides, until it ends by itself. */
static void test_a_lock_that_is_stuck(void **state)
{
	struct world *w = *state;
	struct seat a;
	sit_down(&a, w, ALL, "a");
	int64_t id = make_task(w, "@every 2s", allow_many);
	assert_true(a.feed.queue->ops->lock(a.feed.queue, "load-ffff", "nobody", 15000, NULL, NULL));
	run(&a, NULL, 14000);
	assert_false(leads(&a));
	run(&a, NULL, 4000);
	assert_true(leads(&a));
	run(&a, NULL, 4000);
	assert_true(lateness(w, id, 10) <= 10);
}

/* Two load at once, each sure that it alone does. */
static void test_a_lock_that_is_lost(void **state)
{
	struct world *w = *state;
	struct seat a, b;
	sit_down(&a, w, ALL, "a");
	sit_down(&b, w, ALL, "b");
	int64_t id = make_task(w, "@every 2s", allow_many);
	for (int i = 0; i < 20; i++) {
		a.feed.queue->ops->unlock(a.feed.queue, "load-ffff", "a", NULL, NULL);
		a.feed.queue->ops->unlock(a.feed.queue, "load-ffff", "b", NULL, NULL);
		a.feed.found_late = b.feed.found_late = true;
		run(&a, &b, 1000);
	}
	assert_true(leads(&a) && leads(&b));
	assert_true(lateness(w, id, 9) <= 10);
	assert_int_equal(size_of_queue(), 1);
}

static void keep_whether_done(void *user, bool done)
{
	*(int *)user = done;
}

static void test_a_lock_is_kept_by_a_load_that_outlives_it(void **state)
{
	struct world *w = *state;
	struct seat a;
	int other_has_it = -1;
	sit_down(&a, w, ALL, "a");
	make_task(w, "@every 2s", allow_many);
	a.slow = true;
	for (int i = 0; i < 9; i++) { /* three lives of a lock */
		run(&a, NULL, 5000);
		assert_non_null(a.unread);
		assert_true(a.feed.queue->ops->lock(
			a.feed.queue, "load-ffff", "nobody", 15000, keep_whether_done, &other_has_it));
		assert_int_equal(other_has_it, 0);
	}
	a.slow = false;
	read_page(&a.host, a.unread);
	run(&a, NULL, 2000);
	assert_true(leads(&a));
	assert_int_equal(size_of_queue(), 1);
}

static void test_many_pages(void **state)
{
	struct world *w = *state;
	struct seat a;
	enum { TASKS = AX_FEED_PAGE + 500 };
	for (int i = 0; i < TASKS; i++) {
		make_task(w, "@every 500s", allow_many);
		if (i % 100 == 0)
			ax_arena_reset(&w->arena);
	}
	sit_down(&a, w, ALL, "a");
	run(&a, NULL, LED_WITHIN_MS);
	assert_true(leads(&a));
	assert_int_equal(size_of_queue(), TASKS);
}

/* --- what is told after a transaction ----------------------------------------------------------------------------- */

static int n_told;

static void count_told(void *user, const struct ax_queue_entry *entries, int n)
{
	(void)user;
	(void)entries;
	n_told += n;
}

static enum ax_status write_and_fail(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_task task;
	enum ax_status status = tx->ops->task_get(tx, *(int64_t *)arg, true, &task, err);
	int64_t old_next = task.next_trigger_time++;
	if (status == AX_OK)
		status = tx->ops->task_advance(tx, &task, old_next, err);
	assert_int_equal(status, AX_OK);
	return ax_fail(err, AX_BUSY, "", "no");
}

static void test_nothing_is_told_of_what_did_not_happen(void **state)
{
	struct world *w = *state;
	struct ax_due_store due;
	int64_t id = make_task(w, "@every 10s", allow_many);
	ax_due_store_init(&due, w->ctx.store, count_told, NULL);
	n_told = 0;
	assert_int_equal(ax_store_run(&due.store, &w->arena, write_and_fail, &id, NULL), AX_BUSY);
	assert_int_equal(n_told, 0);
	w->ctx.store = &due.store;
	make_task(w, "@every 10s", allow_many);
	assert_int_equal(n_told, 1);
	ax_due_store_done(&due);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_it_leads_and_fires),
		TEST(test_a_change_is_known_at_once),
		TEST(test_delays_and_far_things),
		TEST(test_two_servers_share),
		TEST(test_a_server_with_some_shards),
		TEST(test_what_others_hold_is_soon_looked_at_again),
		TEST(test_the_row_decides),
		TEST(test_what_is_gone_leaves_the_queue),
		TEST(test_what_a_dead_server_took_shows_itself_again),
		TEST(test_a_lost_member_is_late_and_makes_a_load),
		TEST(test_flushed),
		TEST(test_away_and_mute),
		TEST(test_an_old_copy_comes_back),
		TEST(test_a_lock_that_is_stuck),
		TEST(test_a_lock_that_is_lost),
		TEST(test_a_lock_is_kept_by_a_load_that_outlives_it),
		TEST(test_many_pages),
		TEST(test_nothing_is_told_of_what_did_not_happen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
