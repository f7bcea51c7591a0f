/* Runs that overrun or stall, on the virtual clock: what is told, when, and when it is over. */

#include "world.h"

#include "app/ingest.h"
#include "core/limits.h"
#include "port/mem_store.h"
#include "port/row.h"

static void by_noon(struct ax_task_def *def)
{
	def->must_end_by = "12:00";
}

static void ten_seconds(struct ax_task_def *def)
{
	def->expected_seconds = 10;
}

static void must_move(struct ax_task_def *def)
{
	def->stall_seconds = 30;
	def->timeout_seconds = 0;
}

/* Open alerts of a rule. */
static int open_alerts(struct world *w, enum ax_alert_rule rule)
{
	const struct ax_alert *alert;
	int n = 0;
	for (size_t i = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, i)) != NULL; i++)
		n += alert->state == AX_ALERT_OPEN && alert->rule == rule;
	return n;
}

static struct ax_run begin(struct world *w, void (*change)(struct ax_task_def *def))
{
	struct ax_order order;
	make_task(w, "@every 3600s", change);
	register_worker(w, "w1", "i1", 10);
	go(w, 3600000);
	assert_int_equal(poll(w, "w1", "i1", 10, &order, NULL), 1);
	report(w, "w1", AX_ITEM_STARTED, &order.run);
	return order.run;
}

/* Time passes while the worker keeps its lease. */
static void live_on(struct world *w, const struct ax_run *run, int64_t ms)
{
	for (; ms > 0; ms -= 10000) {
		go(w, AX_MIN(ms, 10000));
		report(w, "w1", AX_ITEM_HEARTBEAT, run);
	}
}

static void move(struct world *w, const struct ax_run *run, int64_t percent)
{
	struct ax_item item = {
		.type = AX_ITEM_PROGRESS, .gid = run->gid, .fence = run->fence, .percent = percent, .message = ""
	};
	static const char *const groups[] = { "default", NULL };
	struct ax_report report = { .groups = groups, .worker = "w1", .incarnation = "i1", .items = &item, .n = 1 };
	assert_int_equal(ax_ingest(&w->ctx, &report, NULL), AX_OK);
}

static void test_an_attempt_that_takes_longer_than_expected(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, ten_seconds);
	live_on(w, &run, 9999);
	assert_int_equal(open_alerts(w, AX_ALERT_LATE_FINISH), 0);
	live_on(w, &run, 1);
	assert_int_equal(open_alerts(w, AX_ALERT_LATE_FINISH), 1);
	assert_true(run_row(w, run.gid).overran);
	live_on(w, &run, 40000);
	assert_int_equal(open_alerts(w, AX_ALERT_LATE_FINISH), 1);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	assert_int_equal(open_alerts(w, AX_ALERT_LATE_FINISH), 0);
	assert_true(run_row(w, run.gid).overran); /* it stays in the record */
	assert_int_equal(run_row(w, run.gid).watch_time, 0);
}

static void ten_seconds_of_two(struct ax_task_def *def)
{
	ten_seconds(def);
	def->shard_count = 2;
}

static void test_a_parent_is_not_too_long_while_its_shards_wait(void **state)
{
	struct world *w = *state;
	struct ax_order orders[2];
	int64_t task = make_task(w, "@every 3600s", ten_seconds_of_two);
	go(w, 3600000);
	struct ax_run parent = find_run(w, task, AX_RUN_RUNNING, 0);
	for (int i = 0; i < 50; i++)
		go(w, 1000);
	assert_int_equal(open_alerts(w, AX_ALERT_LATE_FINISH), 0);
	register_worker(w, "w1", "i1", 10);
	assert_int_equal(poll(w, "w1", "i1", 10, orders, NULL), 2);
	report(w, "w1", AX_ITEM_STARTED, &orders[0].run);
	for (int i = 0; i < 9; i++)
		go(w, 1000);
	assert_int_equal(open_alerts(w, AX_ALERT_LATE_FINISH), 0);
	go(w, 1000);
	assert_int_equal(open_alerts(w, AX_ALERT_LATE_FINISH), 1);
	assert_true(run_row(w, parent.gid).overran);
}

static void test_a_run_that_is_not_done_by_then_is_late_even_if_it_waits(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@every 3600s", by_noon);
	go(w, 3600000);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(run.must_end_time % 86400000, 12 * 3600000);
	assert_in_range(run.must_end_time, run.trigger_time + 1, run.trigger_time + 86400000);
	w->now = run.must_end_time - 1;
	go(w, 0);
	assert_false(run_row(w, run.gid).overran);
	go(w, 1);
	assert_true(run_row(w, run.gid).overran);
	assert_int_equal(open_alerts(w, AX_ALERT_LATE_FINISH), 1);
}

/* B100 */
static void test_an_attempt_that_makes_no_progress(void **state)
{
	struct world *w = *state;
	struct ax_run run = begin(w, must_move);
	live_on(w, &run, 20000);
	move(w, &run, 10);
	live_on(w, &run, 20000);
	assert_int_equal(open_alerts(w, AX_ALERT_STALLED), 0);
	move(w, &run, 10); /* said again: no progress */
	live_on(w, &run, 10000);
	assert_int_equal(open_alerts(w, AX_ALERT_STALLED), 1);
	assert_true(run_row(w, run.gid).stalled);
	move(w, &run, 11);
	assert_int_equal(open_alerts(w, AX_ALERT_STALLED), 0);
	live_on(w, &run, 30000);
	assert_int_equal(open_alerts(w, AX_ALERT_STALLED), 1);
	result(w, "w1", &run, AX_OUTCOME_FAILED); /* the next attempt begins anew */
	assert_int_equal(open_alerts(w, AX_ALERT_STALLED), 0);
	assert_false(run_row(w, run.gid).stalled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_attempt_that_takes_longer_than_expected, world_up, world_down),
		cmocka_unit_test_setup_teardown(
			test_a_parent_is_not_too_long_while_its_shards_wait, world_up, world_down),
		cmocka_unit_test_setup_teardown(
			test_a_run_that_is_not_done_by_then_is_late_even_if_it_waits, world_up, world_down),
		cmocka_unit_test_setup_teardown(test_an_attempt_that_makes_no_progress, world_up, world_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
