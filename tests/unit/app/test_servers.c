/* Several servers at one store: what they hold each other up with. */

#include "app/groups.h"
#include "app/tasks.h"
#include "app/tick.h"
#include "app/workers.h"
#include "core/task_def.h"
#include "port/mem_store.h"
#include "world.h"

/* The world's store, with another server at work: seen from a transaction of ours. */
struct beside {
	struct ax_store store;
	struct world *w;
	ax_tx_fn fn;
	void *arg;
	const struct ax_tx_ops *real;
	struct ax_tx_ops ops;
	struct ax_buf counted; /* which counters were written, in order; "." for each run */
	bool holds_tasks;      /* the other one has locked what is due */
	int64_t waits_ms;      /* for a group that the other one has locked */
};
static struct beside beside;

static enum ax_status run_update(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err)
{
	ax_buf_addc(&beside.counted, '.');
	return beside.real->run_update(tx, run, old_rev, err);
}

static enum ax_status add_running(
	struct ax_tx *tx, const char *key, int64_t delta, int64_t long_delta, struct ax_err *err)
{
	ax_buf_printf(&beside.counted, " %s%+d", key, (int)delta);
	return beside.real->group_add_running(tx, key, delta, long_delta, err);
}

static enum ax_status add_given(
	struct ax_tx *tx, const char *worker, const char *key, int64_t delta, int64_t long_delta, struct ax_err *err)
{
	ax_buf_printf(&beside.counted, " %s/%s%+d", key, worker, (int)delta);
	return beside.real->worker_group_add_given(tx, worker, key, delta, long_delta, err);
}

static enum ax_status tasks_due(
	struct ax_tx *tx, int64_t until, int limit, struct ax_tasks *ret_tasks, struct ax_err *err)
{
	return beside.real->tasks_due(tx, until, beside.holds_tasks ? 0 : limit, ret_tasks, err);
}

static enum ax_status group_get(
	struct ax_tx *tx, const char *key, bool for_update, struct ax_group *ret_group, struct ax_err *err)
{
	if (for_update)
		beside.w->now += beside.waits_ms;
	return beside.real->group_get(tx, key, for_update, ret_group, err);
}

static enum ax_status call(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	beside.real = tx->ops;
	beside.ops = *tx->ops;
	beside.ops.run_update = run_update;
	beside.ops.group_add_running = add_running;
	beside.ops.worker_group_add_given = add_given;
	beside.ops.tasks_due = tasks_due;
	beside.ops.group_get = group_get;
	tx->ops = &beside.ops;
	enum ax_status status = beside.fn(tx, beside.arg, err);
	tx->ops = beside.real;
	return status;
}

static enum ax_status run(struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	(void)store;
	beside.fn = fn;
	beside.arg = arg;
	return ax_store_run(ax_mem_store_port(beside.w->mem), arena, call, NULL, err);
}

static int set_up(void **state)
{
	static const struct ax_store_ops ops = { run };
	world_up(state);
	struct world *w = *state;
	beside = (struct beside){ .store = { .ops = &ops }, .w = w };
	ax_buf_init(&beside.counted, 4096);
	w->ctx.store = &beside.store;
	return 0;
}

static int tear_down(void **state)
{
	ax_buf_done(&beside.counted);
	return world_down(state);
}

static void make_group(struct world *w, const char *key)
{
	struct ax_group group = ax_group_preset(key), made;
	assert_int_equal(ax_group_create(&w->ctx, &group, &made, NULL), AX_OK);
}

static const char *group_of_task;
static void in_group(struct ax_task_def *def)
{
	def->group_key = group_of_task;
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 10;
}

static int64_t trigger_in(struct world *w, const char *group)
{
	group_of_task = group;
	int64_t task = make_task(w, "", in_group);
	struct ax_trigger trigger = { .task_id = task, .params = "", .key = "" };
	struct ax_run made;
	bool existed;
	assert_int_equal(ax_task_trigger(&w->ctx, &trigger, &made, &existed, NULL), AX_OK);
	return made.gid;
}

/* A report that ends runs of several groups: all runs first, then the groups in the order of their keys, each before
 * its workers. So it waits for whoever claims, and nobody for it. */
static void test_a_report_counts_last_and_in_order(void **state)
{
	struct world *w = *state;
	static const char *const keys[] = { "b", "a", "b", "c" }, *const all[] = { "a", "b", "c", NULL };
	struct ax_worker_group groups[] = { { .group_key = "a", .pool_size = 10 },
		{ .group_key = "b", .pool_size = 10 }, { .group_key = "c", .pool_size = 10 } };
	struct ax_registration reg = {
		.worker = { .name = "w2",
			.incarnation = "i1",
			.executors = "exec",
			.tags = "{}",
			.version = "",
			.address = "" },
		.groups = groups,
		.n_groups = 3,
	};
	struct ax_item items[4];
	for (int i = 0; i < 3; i++)
		make_group(w, groups[i].group_key);
	assert_int_equal(ax_worker_register(&w->ctx, &reg, NULL), AX_OK);
	for (int i = 0; i < 4; i++)
		items[i] = (struct ax_item){ .type = AX_ITEM_RESULT,
			.gid = trigger_in(w, keys[i]),
			.fence = 1,
			.outcome = AX_OUTCOME_SUCCESS,
			.message = "",
			.result = "" };
	struct ax_poll poll = {
		.worker = "w2", .incarnation = "i1", .n_free = 3, .free = { { "c", 10 }, { "b", 10 }, { "a", 10 } }
	};
	assert_int_equal(ax_dispatch(&w->ctx, &poll, 1, NULL), AX_OK);
	assert_int_equal(poll.n_orders, 4);

	ax_buf_clear(&beside.counted);
	struct ax_report report = { .worker = "w2", .incarnation = "i1", .groups = all, .items = items, .n = 4 };
	assert_int_equal(ax_ingest(&w->ctx, &report, NULL), AX_OK);
	for (int i = 0; i < 4; i++)
		assert_int_equal(items[i].verdict, AX_VERDICT_APPLIED);
	ax_buf_addc(&beside.counted, '\0');
	assert_string_equal(beside.counted.data, ".... a-1 a/w2-1 b-2 b/w2-2 c-1 c/w2-1");
}

/* What is due and locked by another one is no reason to look again at once, and again. */
static void test_what_another_one_holds_is_left_alone_for_a_moment(void **state)
{
	struct world *w = *state;
	make_task(w, "@every 1m", NULL);
	int64_t next = go(w, 60000);
	assert_true(next > w->now);
	go_quiet(w, 60000);
	beside.holds_tasks = true;
	next = go(w, 0);
	assert_in_range(next - w->now, 5, 100);
	beside.holds_tasks = false;
	assert_true(go(w, next - w->now) > w->now);
}

/* While this server waited for the group, its clock went on: a run that came due meanwhile is not given out early. */
static void test_a_claim_that_waited_is_as_late_as_it_is(void **state)
{
	struct world *w = *state;
	int64_t gid = trigger_in(w, "default");
	int64_t due = w->now;
	beside.waits_ms = 300;
	struct ax_order order;
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(run_row(w, gid).dispatch_time, due + 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_report_counts_last_and_in_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_what_another_one_holds_is_left_alone_for_a_moment, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_claim_that_waited_is_as_late_as_it_is, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
