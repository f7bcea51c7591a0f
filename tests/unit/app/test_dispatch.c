/* Which worker gets a run: every route, tags, lanes, backlog, and what it means to wait for a certain worker. */

#include "app/claim.h"
#include "app/groups.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "app/workers.h"
#include "core/limits.h"
#include "core/task_def.h"
#include "port/mem_store.h"
#include "port/row.h"
#include "changed_store.h"
#include "world.h"

enum { WORKERS = 4 };
static const char *const names[WORKERS] = { "a", "b", "c", "d" };

static int three_workers(void **state)
{
	world_up(state);
	struct world *w = *state;
	assert_int_equal(ax_worker_leave(&w->ctx, "w1", "i1", NULL), AX_OK);
	for (int i = 0; i < 3; i++)
		register_worker(w, names[i], "i1", 10);
	return 0;
}

static void tag(struct world *w, const char *name, const char *tags)
{
	struct ax_worker_group group = { .group_key = "default", .pool_size = 10 };
	struct ax_registration reg = {
		.worker = { .name = name,
			.incarnation = "i1",
			.executors = "exec http",
			.tags = tags,
			.version = "",
			.address = "" },
		.groups = &group,
		.n_groups = 1,
	};
	assert_int_equal(ax_worker_register(&w->ctx, &reg, NULL), AX_OK);
}

/* The workers named by a letter each ask for so many runs at once; `ret` has what they were given, by letter. */
static int ask(struct world *w, const char *who, int64_t slots, struct ax_order *ret, char *ret_who)
{
	struct ax_poll polls[WORKERS * 2];
	int n = (int)strlen(who), given = 0;
	for (int i = 0; i < n; i++)
		polls[i] = (struct ax_poll){ .worker = names[who[i] - 'a'],
			.incarnation = "i1",
			.free = { { .group_key = "default", .slots = slots } },
			.n_free = 1 };
	serve_polls(w, polls, n);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < polls[i].n_orders; k++) {
			if (ret != NULL)
				ret[given] = polls[i].orders[k];
			if (ret_who != NULL)
				ret_who[given] = who[i];
			given++;
		}
	return given;
}

static int64_t task_with(struct world *w, enum ax_routing route, void (*change)(struct ax_task_def *def))
{
	struct ax_task_def def = ax_def_preset();
	def.task_name = ax_sprintf(&w->arena, "routed %llu", (unsigned long long)w->random++);
	def.task_type = AX_TASK_DELAY;
	def.executor_key = "exec";
	def.route = route;
	def.overlap = AX_OVERLAP_ALLOW;
	def.overlap_max = 1000;
	def.lane = AX_RUN_LANE_SHORT;
	if (change != NULL)
		change(&def);
	enum ax_task_status enabled = AX_TASK_ENABLED;
	struct ax_task task;
	int failed;
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &enabled, 1, "test", &task, &failed, NULL), AX_OK);
	return task.id;
}

static int64_t trigger_params(struct world *w, int64_t task_id, const char *params)
{
	return trigger_how(w, (struct ax_trigger){ .task_id = task_id, .params = params }).gid;
}

/* Triggers one, and says which of those that ask gets it; '-' = nobody. */
static char goes_to(struct world *w, int64_t task_id, const char *params, const char *who)
{
	struct ax_order orders[WORKERS];
	char given[WORKERS] = "-";
	int64_t gid = trigger_params(w, task_id, params);
	int n = ask(w, who, 1, orders, given);
	assert_in_range(n, 0, 1);
	if (n == 1) {
		assert_int_equal(orders[0].run.gid, gid);
		result(w, (char[]){ given[0], '\0' }, &orders[0].run, AX_OUTCOME_SUCCESS);
	}
	return given[0];
}

struct question {
	int64_t gid, now;
	const char *answer;
};

static enum ax_status read_waiting(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct question *q = arg;
	struct ax_run run;
	enum ax_status status = tx->ops->run_get(tx, q->gid, false, &run, err);
	struct ax_claim_view view = { .tx = tx, .now = q->now };
	return status == AX_OK ? ax_run_waiting_for(&view, &run, &q->answer, err) : status;
}

static const char *waits_for(struct world *w, int64_t gid)
{
	struct question q = { .gid = gid, .now = w->now };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, read_waiting, &q, NULL), AX_OK);
	return q.answer;
}

static void set_group(struct world *w, void (*change)(struct ax_group *group))
{
	struct ax_group group = *(const struct ax_group *)ax_mem_store_at(w->mem, &ax_group_row, 0);
	change(&group);
	assert_int_equal(ax_group_update(&w->ctx, &group, &group, NULL), AX_OK);
}

/* --- a paused group ----------------------------------------------------------------------------------------------- */

static void paused(struct ax_group *group)
{
	group->paused = true;
}

static void resumed(struct ax_group *group)
{
	group->paused = false;
}

/* Once it is paused nobody looks at it again until it is resumed. */
static void test_a_paused_group_gives_nothing(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	struct ax_poll poll = {
		.worker = "a", .incarnation = "i1", .free = { { .group_key = "default", .slots = 1 } }, .n_free = 1
	};
	int64_t gid = trigger_params(w, task_with(w, AX_ROUTE_LEAST_BUSY, NULL), "");
	set_group(w, paused);
	serve_polls(w, &poll, 1);
	assert_int_equal(poll.n_orders, 0);
	assert_int_equal(poll.free[0].again_ms, AX_AGAIN_NEVER);
	assert_string_equal(waits_for(w, gid), "group_paused");
	set_group(w, resumed);
	assert_int_equal(ask(w, "a", 1, &order, NULL), 1);
	assert_int_equal(order.run.gid, gid);
}

/* A store in which a person at another server pauses the group just before a claim locks it. */
static struct changed_store pausing;

static enum ax_status group_paused_meanwhile(
	struct ax_tx *tx, const char *key, bool lock, struct ax_group *ret, struct ax_err *err)
{
	enum ax_status status = pausing.inner_ops->group_get(tx, key, lock, ret, err);
	ret->paused = lock;
	return status;
}

static void pause_meanwhile(struct ax_tx_ops *ops)
{
	ops->group_get = group_paused_meanwhile;
}

static void test_a_pause_that_comes_before_the_lock_holds(void **state)
{
	struct world *w = *state;
	trigger_params(w, task_with(w, AX_ROUTE_LEAST_BUSY, NULL), "");
	changed_store_init(&pausing, w->ctx.store, pause_meanwhile);
	w->ctx.store = &pausing.store;
	assert_int_equal(ask(w, "abc", 1, NULL, NULL), 0);
	w->ctx.store = pausing.inner;
	assert_int_equal(ask(w, "abc", 1, NULL, NULL), 1);
}

/* --- policies that take the best of those who ask ------------------------------------------------------------------
 */

static void test_least_busy_spreads(void **state)
{
	struct world *w = *state;
	int64_t id = task_with(w, AX_ROUTE_LEAST_BUSY, NULL);
	char who[7] = "";
	for (int i = 0; i < 6; i++)
		trigger_params(w, id, "");
	struct ax_order orders[6];
	assert_int_equal(ask(w, "abc", 6, orders, who), 6);
	assert_string_equal(who, "aabbcc");
	for (int i = 0; i < 6; i++)
		result(w, (char[]){ who[i], '\0' }, &orders[i].run, AX_OUTCOME_SUCCESS);
	/* and when all are idle, it is not always the same one's turn */
	int seen = 0;
	for (int i = 0; i < 3; i++)
		seen |= 1 << (goes_to(w, id, "", "abc") - 'a');
	assert_int_not_equal(seen & (seen - 1), 0);
}

static void test_round_robin_goes_on_after_a_restart(void **state)
{
	struct world *w = *state;
	int64_t id = task_with(w, AX_ROUTE_ROUND_ROBIN, NULL);
	assert_int_equal(goes_to(w, id, "", "abc"), 'a');
	assert_int_equal(goes_to(w, id, "", "abc"), 'b');
	restart(w);
	assert_int_equal(goes_to(w, id, "", "abc"), 'c');
	assert_int_equal(goes_to(w, id, "", "abc"), 'a');
	assert_int_equal(goes_to(w, id, "", "ac"), 'c'); /* b's turn, but it does not ask */
	/* others' runs in between do not shift the turn */
	assert_int_equal(goes_to(w, task_with(w, AX_ROUTE_FIRST, NULL), "", "abc"), 'a');
	assert_int_equal(goes_to(w, id, "", "abc"), 'a');
	assert_int_equal(goes_to(w, id, "", "abc"), 'b');
}

static void test_random_spreads(void **state)
{
	struct world *w = *state;
	int64_t id = task_with(w, AX_ROUTE_RANDOM, NULL);
	int hits[3] = { 0 };
	for (int i = 0; i < 300; i++)
		hits[goes_to(w, id, "", "abc") - 'a']++;
	for (int i = 0; i < 3; i++)
		assert_in_range(hits[i], 60, 140);
}

static void test_lru_and_lfu(void **state)
{
	struct world *w = *state;
	int64_t lru = task_with(w, AX_ROUTE_LRU, NULL), lfu = task_with(w, AX_ROUTE_LFU, NULL);
	int64_t first = task_with(w, AX_ROUTE_FIRST, NULL);
	for (int i = 0; i < 5; i++)
		assert_int_equal(goes_to(w, first, "", "abc"), 'a');
	assert_int_equal(goes_to(w, lru, "", "abc"), 'b');
	assert_int_equal(goes_to(w, lru, "", "abc"), 'c');
	assert_int_equal(goes_to(w, lru, "", "abc"), 'a');
	/* a has 6 of the last minute's, b and c one each */
	assert_int_equal(goes_to(w, lfu, "", "abc"), 'b');
	assert_int_equal(goes_to(w, lfu, "", "abc"), 'c');
	assert_int_equal(goes_to(w, lfu, "", "ab"), 'b');
	/* what was long ago does not count: who comes new is not flooded until it has caught up */
	w->now += 20 * 60000;
	for (int i = 0; i < 3; i++)
		register_worker(w, names[i], "i1", 10);
	register_worker(w, "d", "i1", 10);
	int hits[WORKERS] = { 0 };
	for (int i = 0; i < 40; i++)
		hits[goes_to(w, lfu, "", "abcd") - 'a']++;
	for (int i = 0; i < WORKERS; i++)
		assert_int_equal(hits[i], 10);
}

/* --- policies that want a certain one --------------------------------------------------------------------------------
 */

static void by_customer(struct ax_task_def *def)
{
	def->route_key = "customer";
}

static const char *customer(struct world *w, int i)
{
	return ax_sprintf(&w->arena, "{\"n\":1,\"customer\":%d}", i);
}

static void test_hash_stays(void **state)
{
	struct world *w = *state;
	int64_t id = task_with(w, AX_ROUTE_HASH, by_customer);
	char home[30];
	int hits[WORKERS] = { 0 };
	for (int i = 0; i < 30; i++)
		hits[(home[i] = goes_to(w, id, customer(w, i), "abc")) - 'a']++;
	for (int i = 0; i < 3; i++)
		assert_in_range(hits[i], 3, 17);
	for (int i = 0; i < 30; i++)
		assert_int_equal(goes_to(w, id, customer(w, i), "cba"), home[i]);
	/* one more worker takes some over and moves no others */
	register_worker(w, "d", "i1", 10);
	int moved = 0;
	for (int i = 0; i < 30; i++) {
		char now = goes_to(w, id, customer(w, i), "abcd");
		moved += now == 'd';
		assert_true(now == 'd' || now == home[i]);
	}
	assert_in_range(moved, 1, 15);
}

static void by_customer_in_shards(struct ax_task_def *def)
{
	by_customer(def);
	def->shard_count = 2;
}

static void test_shards_go_by_the_key_of_their_run(void **state)
{
	struct world *w = *state;
	int64_t id = task_with(w, AX_ROUTE_HASH, by_customer);
	int64_t split = task_with(w, AX_ROUTE_HASH, by_customer_in_shards);
	for (int i = 0; i < 10; i++) {
		struct ax_order orders[6];
		char who[6], home = goes_to(w, id, customer(w, i), "abc");
		trigger_params(w, split, customer(w, i));
		assert_int_equal(ask(w, "abc", 2, orders, who), 2);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(who[k], home);
			result(w, (char[]){ home, '\0' }, &orders[k].run, AX_OUTCOME_SUCCESS);
		}
	}
	/* nobody else gets them at once */
	char home = goes_to(w, id, customer(w, 0), "abc");
	trigger_params(w, split, customer(w, 0));
	assert_int_equal(ask(w, home == 'a' ? "bc" : home == 'b' ? "ac" : "ab", 2, NULL, NULL), 0);
}

static void test_a_run_waits_for_the_wanted_one_five_seconds(void **state)
{
	struct world *w = *state;
	int64_t gid = trigger_params(w, task_with(w, AX_ROUTE_FIRST, NULL), "");
	struct ax_order order;
	char who;
	assert_int_equal(ask(w, "bc", 1, &order, &who), 0);
	w->now += AX_ROUTE_WAIT_MS - 1;
	assert_int_equal(ask(w, "bc", 1, &order, &who), 0);
	assert_string_equal(waits_for(w, gid), "claim"); /* a has room: its poll is on the way */
	w->now += 1;
	assert_int_equal(ask(w, "bc", 1, &order, &who), 1);
	assert_int_equal(who, 'b');
	/* it is each run's own patience: what others got meanwhile does not begin it anew */
	gid = trigger_params(w, order.run.task_id, "");
	w->now += AX_ROUTE_WAIT_MS - 1;
	trigger_params(w, order.run.task_id, "");
	assert_int_equal(ask(w, "a", 1, &order, &who), 1);
	assert_int_equal(order.run.gid, gid);
}

static void fill(struct world *w, const char *who)
{
	struct ax_order orders[30];
	int64_t id = task_with(w, AX_ROUTE_LEAST_BUSY, NULL);
	for (int i = 0; i < 30; i++)
		trigger_params(w, id, "");
	assert_int_equal(ask(w, who, 30, orders, NULL), 30);
}

static void test_why_names_the_route(void **state)
{
	struct world *w = *state;
	fill(w, "a");
	int64_t gid = trigger_params(w, task_with(w, AX_ROUTE_FIRST, NULL), "");
	assert_int_equal(ask(w, "bc", 1, NULL, NULL), 0);
	assert_string_equal(waits_for(w, gid), "route");
	w->now += AX_ROUTE_WAIT_MS;
	assert_string_equal(waits_for(w, gid), "claim");
}

static void test_patience_begins_anew_with_every_wait(void **state)
{
	struct world *w = *state;
	int64_t gid = trigger_params(w, task_with(w, AX_ROUTE_FIRST, NULL), "");
	struct ax_order order;
	assert_int_equal(ask(w, "a", 1, &order, NULL), 1);
	result(w, "a", &order.run, AX_OUTCOME_FAILED);
	go(w, 90000);
	assert_int_equal(run_row(w, gid).status, AX_RUN_WAITING);
	int64_t since = run_row(w, gid).ready_time;
	for (int i = 0; i < 3; i++)
		register_worker(w, names[i], "i1", 10);
	w->now = since + 1000;
	assert_int_equal(ask(w, "bc", 1, &order, NULL), 0);
	assert_int_equal(ask(w, "a", 1, &order, NULL), 1);
}

/* B209: neither of them is wanted, so nobody waits for it. */
static void test_who_is_stopped_is_not_wanted_b209(void **state)
{
	struct world *w = *state;
	assert_int_equal(ax_worker_drain(&w->ctx, "a", true, NULL), AX_OK);
	for (int route = 0; route <= AX_ROUTE_FAILOVER; route++)
		assert_int_not_equal(goes_to(w, task_with(w, (enum ax_routing)route, NULL), "", "abc"), 'a');
	assert_int_equal(goes_to(w, task_with(w, AX_ROUTE_FIRST, NULL), "", "abc"), 'b');
	assert_int_equal(ax_worker_drain(&w->ctx, "a", false, NULL), AX_OK);
	assert_int_equal(ax_worker_disable(&w->ctx, "a", true, NULL), AX_OK);
	for (int route = 0; route <= AX_ROUTE_FAILOVER; route++)
		assert_int_not_equal(goes_to(w, task_with(w, (enum ax_routing)route, NULL), "", "abc"), 'a');
	/* nor is one that nobody has seen for a lease */
	assert_int_equal(ax_worker_disable(&w->ctx, "a", false, NULL), AX_OK);
	w->now += AX_LEASE_MS + 1;
	register_worker(w, "b", "i1", 10);
	assert_int_equal(goes_to(w, task_with(w, AX_ROUTE_FIRST, NULL), "", "b"), 'b');
}

static void test_failover_goes_on_to_another(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	char who;
	int64_t gid = trigger_params(w, task_with(w, AX_ROUTE_FAILOVER, NULL), "");
	assert_int_equal(ask(w, "abc", 1, &order, &who), 1);
	assert_int_equal(who, 'a');
	result(w, "a", &order.run, AX_OUTCOME_FAILED);
	struct ax_run run;
	assert_int_equal(ax_run_retry_now(&w->ctx, gid, &run, NULL), AX_OK);
	assert_int_equal(ask(w, "abc", 1, &order, &who), 1);
	assert_int_equal(who, 'b');
	result(w, "b", &order.run, AX_OUTCOME_FAILED);
	assert_int_equal(ax_run_retry_now(&w->ctx, gid, &run, NULL), AX_OK);
	assert_int_equal(ask(w, "b", 1, &order, &who), 0); /* not where it failed, while another one may come */
	assert_int_equal(ask(w, "abc", 1, &order, &who), 1);
	assert_int_equal(who, 'a');
}

/* Ticks as a server does. */
static void live(struct world *w, int64_t ms)
{
	for (; ms > 0; ms -= 1000)
		go(w, 1000);
}

/* B143: one that takes and never answers is not chosen again for the same run. */
static void test_what_was_not_accepted_goes_elsewhere_b143(void **state)
{
	struct world *w = *state;
	live(w, AX_LEASE_MS); /* before that a server that has just started blames nobody */
	for (int route = 0; route <= AX_ROUTE_FAILOVER; route++) {
		struct ax_order order;
		char first, second;
		for (int i = 0; i < 3; i++)
			register_worker(w, names[i], "i1", 10);
		int64_t gid = trigger_params(w, task_with(w, (enum ax_routing)route, NULL), "");
		assert_int_equal(ask(w, "abc", 1, &order, &first), 1);
		live(w, AX_ACCEPT_MS);
		assert_int_equal(run_row(w, gid).status, AX_RUN_WAITING);
		assert_int_equal(ask(w, "abc", 1, &order, &second), 1);
		assert_int_not_equal(first, second);
		result(w, (char[]){ second, '\0' }, &order.run, AX_OUTCOME_SUCCESS);
	}
}

/* --- tags, queues ----------------------------------------------------------------------------------------------------
 */

static void zone_b(struct ax_task_def *def)
{
	def->route_tags = "{\"zone\":\"b\"}";
}

static void test_tags_narrow_every_route(void **state)
{
	struct world *w = *state;
	tag(w, "c", "{\"zone\":\"b\",\"disk\":\"ssd\"}");
	for (int route = 0; route <= AX_ROUTE_FAILOVER; route++)
		assert_int_equal(goes_to(w, task_with(w, (enum ax_routing)route, zone_b), "", "abc"), 'c');
}

/* B101 */
static void test_what_nobody_may_have_keeps_nobody_back(void **state)
{
	struct world *w = *state;
	int64_t nowhere = task_with(w, AX_ROUTE_LEAST_BUSY, zone_b), first = trigger_params(w, nowhere, "");
	for (int i = 1; i < 400; i++)
		trigger_params(w, nowhere, "");
	assert_int_equal(goes_to(w, task_with(w, AX_ROUTE_LEAST_BUSY, NULL), "", "abc") != '-', true);
	assert_string_equal(waits_for(w, first), "tags");
	struct ax_order orders[60];
	tag(w, "a", "{\"zone\":\"b\"}");
	assert_int_equal(ask(w, "a", 30, orders, NULL), 30);
	assert_int_equal(orders[0].run.gid, first);
}

/* Runs that wait for a worker of theirs are passed over, however many: a turn looks at a bounded number, but each of
 * them waits no longer than its time. */
static void test_many_that_wait_for_theirs(void **state)
{
	struct world *w = *state;
	int64_t wanting = task_with(w, AX_ROUTE_FIRST, NULL);
	for (int i = 0; i < 1200; i++)
		trigger_params(w, wanting, "");
	struct ax_order orders[30];
	assert_int_equal(ask(w, "b", 30, orders, NULL), 0);
	w->now += AX_ROUTE_WAIT_MS;
	assert_int_equal(ask(w, "b", 30, orders, NULL), 30);
}

/* --- lanes, backlog
 * --------------------------------------------------------------------------------------------------- */

static void long_lane(struct ax_task_def *def)
{
	def->lane = AX_RUN_LANE_LONG;
}

static void a_fifth(struct ax_group *group)
{
	group->long_share_percent = 20;
}

/* B138 */
static void test_long_runs_hold_a_share(void **state)
{
	struct world *w = *state;
	struct ax_order orders[60];
	set_group(w, a_fifth);
	int64_t exports = task_with(w, AX_ROUTE_LEAST_BUSY, long_lane), waiting = 0;
	for (int i = 0; i < 50; i++)
		waiting = trigger_params(w, exports, "");
	assert_int_equal(ask(w, "a", 60, orders, NULL), 30 / 5); /* of its backlog */
	assert_int_equal(ask(w, "bc", 60, orders, NULL), 2 * 30 / 5);
	assert_string_equal(waits_for(w, waiting), "lane");
	assert_int_equal(goes_to(w, task_with(w, AX_ROUTE_LEAST_BUSY, NULL), "", "abc") != '-', true);
	result(w, "c", &orders[11].run, AX_OUTCOME_SUCCESS);
	assert_int_equal(ask(w, "abc", 60, orders, NULL), 1);
}

static void small_quota(struct ax_group *group)
{
	group->dispatch_quota = 5;
	group->long_share_percent = 40;
}

static void test_the_quota_has_a_share_too(void **state)
{
	struct world *w = *state;
	struct ax_order orders[60];
	set_group(w, small_quota);
	int64_t exports = task_with(w, AX_ROUTE_LEAST_BUSY, long_lane);
	int64_t payments = task_with(w, AX_ROUTE_LEAST_BUSY, NULL);
	for (int i = 0; i < 9; i++) {
		trigger_params(w, exports, "");
		trigger_params(w, payments, "");
	}
	assert_int_equal(ask(w, "abc", 60, orders, NULL), 5);
	int n_long = 0;
	for (int i = 0; i < 5; i++)
		n_long += orders[i].run.lane == AX_RUN_LANE_LONG;
	assert_int_equal(n_long, 2);
}

/* B138: neither lane starves the other: the next place goes to whoever waits longest for his urgency. */
static void test_short_runs_do_not_starve_long_ones(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	int64_t export = trigger_params(w, task_with(w, AX_ROUTE_LEAST_BUSY, long_lane), "");
	w->now += 1;
	trigger_params(w, task_with(w, AX_ROUTE_LEAST_BUSY, NULL), "");
	assert_int_equal(ask(w, "a", 1, &order, NULL), 1);
	assert_int_equal(order.run.gid, export);
}

static void narrow(struct ax_group *group)
{
	group->worker_backlog = 2;
}

static void test_a_worker_that_asks_twice_gets_no_more(void **state)
{
	struct world *w = *state;
	int64_t id = task_with(w, AX_ROUTE_LEAST_BUSY, NULL), gid = 0;
	struct ax_order orders[60];
	set_group(w, narrow);
	for (int i = 0; i < 9; i++)
		gid = trigger_params(w, id, "");
	assert_int_equal(ask(w, "aa", 60, orders, NULL), 2);
	assert_int_equal(ask(w, "abc", 60, orders, NULL), 4);
	assert_string_equal(waits_for(w, gid), "backlog");
}

/* Its poll before may hang on a connection that is gone, so the newest is answered first; nothing is left beside one
 * that asks. */
static void test_every_poll_of_a_worker_is_served(void **state)
{
	struct world *w = *state;
	int64_t id = task_with(w, AX_ROUTE_LEAST_BUSY, NULL);
	struct ax_poll polls[2];
	for (int i = 0; i < 2; i++)
		polls[i] = (struct ax_poll){ .worker = "a",
			.incarnation = "i1",
			.free = { { .group_key = "default", .slots = 2 } },
			.n_free = 1 };
	for (int i = 0; i < 3; i++)
		trigger_params(w, id, "");
	serve_polls(w, polls, 2);
	assert_int_equal(polls[1].n_orders, 2);
	assert_int_equal(polls[0].n_orders, 1);
}

static void auto_lane(struct ax_task_def *def)
{
	def->lane = AX_RUN_LANE_AUTO;
}

static void test_auto_learns(void **state)
{
	struct world *w = *state;
	int64_t id = task_with(w, AX_ROUTE_LEAST_BUSY, auto_lane);
	struct ax_order order;
	for (int i = 0; i < 3; i++) {
		int64_t gid = trigger_params(w, id, "");
		assert_int_equal(run_row(w, gid).lane, i == 0 ? AX_RUN_LANE_SHORT : AX_RUN_LANE_LONG);
		assert_int_equal(ask(w, "a", 1, &order, NULL), 1);
		report(w, "a", AX_ITEM_STARTED, &order.run);
		w->now += 3000;
		result(w, "a", &order.run, AX_OUTCOME_SUCCESS);
	}
	for (int i = 0; i < 100; i++) {
		trigger_params(w, id, "");
		assert_int_equal(ask(w, "a", 1, &order, NULL), 1);
		report(w, "a", AX_ITEM_STARTED, &order.run);
		w->now += 5;
		result(w, "a", &order.run, AX_OUTCOME_SUCCESS);
	}
	assert_int_equal(run_row(w, trigger_params(w, id, "")).lane, AX_RUN_LANE_SHORT);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, three_workers, world_down)
	const struct CMUnitTest tests[] = {
		T(test_a_paused_group_gives_nothing),
		T(test_a_pause_that_comes_before_the_lock_holds),
		T(test_least_busy_spreads),
		T(test_round_robin_goes_on_after_a_restart),
		T(test_random_spreads),
		T(test_lru_and_lfu),
		T(test_hash_stays),
		T(test_shards_go_by_the_key_of_their_run),
		T(test_a_run_waits_for_the_wanted_one_five_seconds),
		T(test_why_names_the_route),
		T(test_patience_begins_anew_with_every_wait),
		T(test_who_is_stopped_is_not_wanted_b209),
		T(test_failover_goes_on_to_another),
		T(test_what_was_not_accepted_goes_elsewhere_b143),
		T(test_tags_narrow_every_route),
		T(test_what_nobody_may_have_keeps_nobody_back),
		T(test_many_that_wait_for_theirs),
		T(test_long_runs_hold_a_share),
		T(test_the_quota_has_a_share_too),
		T(test_short_runs_do_not_starve_long_ones),
		T(test_a_worker_that_asks_twice_gets_no_more),
		T(test_every_poll_of_a_worker_is_served),
		T(test_auto_learns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
