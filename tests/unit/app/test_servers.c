/* Several servers at one store: what they hold each other up with. */

#include "app/tasks.h"
#include "app/tick.h"
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
	bool holds_tasks; /* the other one has locked what is due */
	int64_t waits_ms; /* for a group that the other one has locked */
};
static struct beside beside;

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
	w->ctx.store = &beside.store;
	return 0;
}

static int64_t trigger(struct world *w)
{
	int64_t task = make_task(w, "", NULL);
	struct ax_trigger trigger = { .task_id = task, .params = "", .key = "" };
	struct ax_run made;
	bool existed;
	assert_int_equal(ax_task_trigger(&w->ctx, &trigger, &made, &existed, NULL), AX_OK);
	return made.gid;
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
	int64_t gid = trigger(w);
	int64_t due = w->now;
	beside.waits_ms = 300;
	struct ax_order order;
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(run_row(w, gid).dispatch_time, due + 300);
}

static void in_a_moving_zone(struct ax_task_def *def)
{
	def->time_zone = "Test/Moving";
}

/* Zone data may lack on one server what they have on another: only a fire that nobody makes stops its task. */
static void test_a_zone_that_is_not_known_here_may_be_known_there(void **state)
{
	struct world *w = *state;
	w->moving = ax_tz_utc();
	int64_t task = make_task(w, "0 0 * * * ?", in_a_moving_zone);
	int64_t due = task_row(w, task).next_trigger_time;
	w->moving = NULL;
	go(w, due + 5000 - w->now);
	assert_int_equal(task_row(w, task).next_trigger_time, due);
	w->moving = ax_tz_utc();
	go(w, 1000);
	assert_int_equal(task_row(w, task).last_trigger_time, due);
	w->moving = NULL;
	go(w, due + 3600000 + 15000 - w->now);
	assert_int_equal(task_row(w, task).next_trigger_time, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_what_another_one_holds_is_left_alone_for_a_moment, set_up, world_down),
		cmocka_unit_test_setup_teardown(
			test_a_zone_that_is_not_known_here_may_be_known_there, set_up, world_down),
		cmocka_unit_test_setup_teardown(test_a_claim_that_waited_is_as_late_as_it_is, set_up, world_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
