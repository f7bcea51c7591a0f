/* Canaries on the virtual clock: which runs execute the trial, and what becomes of it. */

#include "world.h"

#include <string.h>

#include "app/canary.h"
#include "app/tasks.h"
#include "core/task_def.h"
#include "port/mem_store.h"
#include "port/row.h"

static struct ax_canary start_with_p95(
	struct world *w, int64_t id, int64_t percent, bool automatic, int64_t max_p95_percent)
{
	struct ax_task task = task_row(w, id);
	struct ax_task_def trial = task.def;
	trial.biz_param = "{\"v\":2}";
	trial.retry_count = 0;
	struct ax_canary ask = {
		.task_id = id,
		.base_version = task.version,
		.percent = percent,
		.automatic = automatic,
		.min_runs = 3,
		.max_failure_points = 10,
		.max_p95_percent = max_p95_percent,
	}, canary;
	struct ax_err err = { 0 };
	if (ax_canary_begin(&w->ctx, &ask, &trial, "anna", &canary, &err) != AX_OK)
		fail_msg("%s: %s", err.field, err.msg);
	return canary;
}

static struct ax_canary start(struct world *w, int64_t id, int64_t percent, bool automatic)
{
	return start_with_p95(w, id, percent, automatic, 0);
}

/* One fire, executed to that outcome in the time that its version takes; returns the version that it ran. */
static int64_t fire_and_take(struct world *w, enum ax_outcome outcome, int64_t base_ms, int64_t trial_ms)
{
	struct ax_order order;
	go(w, 60000);
	assert_int_equal(poll(w, "w1", "i1", 10, &order, NULL), 1);
	assert_string_equal(order.def.biz_param, order.run.version == 2 ? "{\"v\":2}" : "null");
	report(w, "w1", AX_ITEM_STARTED, &order.run);
	go_quiet(w, order.run.version == 2 ? trial_ms : base_ms);
	result(w, "w1", &order.run, outcome);
	return order.run.version;
}

static int64_t fire(struct world *w, enum ax_outcome outcome)
{
	return fire_and_take(w, outcome, 0, 0);
}

static void no_retries(struct ax_task_def *def)
{
	def->retry_count = 0;
}

static int64_t begin(struct world *w)
{
	register_worker(w, "w1", "i1", 10);
	return make_task(w, "* * * * *", no_retries);
}

static void test_a_good_trial_takes_over_by_itself(void **state)
{
	struct world *w = *state;
	int64_t id = begin(w);
	start(w, id, 50, true);
	int tried = 0, fires = 0;
	for (; task_row(w, id).canary_version != 0; fires++) {
		assert_true(fires < 50);
		tried += fire(w, AX_OUTCOME_SUCCESS) == 2;
	}
	assert_true(tried >= 3 && fires - tried >= 3);
	struct ax_task task = task_row(w, id);
	assert_int_equal(task.version, 2);
	assert_string_equal(task.def.biz_param, "{\"v\":2}");
	assert_string_equal(task.updated_by, "rule");
	assert_int_equal(fire(w, AX_OUTCOME_SUCCESS), 2);
}

static void test_a_bad_trial_is_rolled_back_before_it_has_all_its_runs(void **state)
{
	struct world *w = *state;
	int64_t id = begin(w);
	start(w, id, 100, true);
	assert_int_equal(fire(w, AX_OUTCOME_FAILED), 2);
	struct ax_task task = task_row(w, id);
	assert_int_equal(task.canary_version, 0);
	assert_int_equal(task.version, 3); /* the base once more: versions only grow */
	assert_string_equal(task.def.biz_param, "null");
	assert_int_equal(fire(w, AX_OUTCOME_SUCCESS), 3);
}

/* Fires until the rule has decided. */
static struct ax_canary judged(struct world *w, int64_t id, int64_t base_ms, int64_t trial_ms)
{
	for (int fires = 0; task_row(w, id).canary_version != 0; fires++) {
		assert_true(fires < 50);
		fire_and_take(w, AX_OUTCOME_SUCCESS, base_ms, trial_ms);
	}
	return *(const struct ax_canary *)ax_mem_store_at(w->mem, &ax_canary_row, 0);
}

static void test_a_slow_trial_is_rolled_back_although_it_succeeds(void **state)
{
	struct world *w = *state;
	int64_t id = begin(w);
	start_with_p95(w, id, 50, true, 150);
	struct ax_canary canary = judged(w, id, 100, 200);
	assert_int_equal(canary.state, AX_CANARY_ROLLED_BACK);
	assert_string_equal(canary.ended_by, "rule");
	assert_non_null(strstr(canary.reason, "failures 0.00 % against 0.00 %, p95 "));
	assert_int_equal(canary.failed, 0);
	assert_int_equal(task_row(w, id).version, 3);
	assert_string_equal(task_row(w, id).def.biz_param, "null");
}

static void test_a_trial_as_quick_as_allowed_takes_over(void **state)
{
	struct world *w = *state;
	int64_t id = begin(w);
	start_with_p95(w, id, 50, true, 300);
	assert_int_equal(judged(w, id, 100, 200).state, AX_CANARY_PROMOTED);
	assert_int_equal(task_row(w, id).version, 2);
}

static void test_while_it_runs_the_task_is_not_edited(void **state)
{
	struct world *w = *state;
	int64_t id = begin(w);
	start(w, id, 10, false);
	struct ax_task task = task_row(w, id), changed;
	struct ax_err err = { 0 };
	assert_int_equal(ax_task_update(&w->ctx, id, task.version, &task.def, "anna", &changed, &err), AX_CONFLICT);
	assert_string_equal(err.field, "version");
	struct ax_canary canary;
	assert_int_equal(ax_canary_decide(&w->ctx, id, AX_CANARY_PROMOTED, "looks good", "anna", &canary, &err), AX_OK);
	assert_int_equal(ax_canary_decide(&w->ctx, id, AX_CANARY_PROMOTED, "", "anna", &canary, &err), AX_CONFLICT);
	task = task_row(w, id);
	assert_int_equal(task.version, 2);
	assert_int_equal(ax_task_update(&w->ctx, id, 2, &task.def, "anna", &changed, &err), AX_OK);
	assert_int_equal(changed.version, 3);
}

static void test_a_person_decides_when_the_rule_does_not(void **state)
{
	struct world *w = *state;
	int64_t id = begin(w);
	start(w, id, 100, false);
	for (int i = 0; i < 6; i++)
		assert_int_equal(fire(w, AX_OUTCOME_FAILED), 2);
	assert_int_equal(task_row(w, id).canary_version, 2);
	struct ax_canary canary;
	assert_int_equal(ax_canary_set(&w->ctx, id, 100, true, &canary, NULL), AX_OK);
	assert_int_equal(canary.failed, 6);
	fire(w, AX_OUTCOME_SUCCESS); /* the rule looks at the next end */
	assert_int_equal(task_row(w, id).canary_version, 0);
}

static void start_elsewhere(struct world *w, int64_t id, bool automatic)
{
	struct ax_task task = task_row(w, id);
	struct ax_task_def trial = task.def;
	trial.executor_key = "nobody";
	struct ax_canary ask = { .task_id = id,
		.base_version = task.version,
		.percent = 100,
		.automatic = automatic,
		.min_runs = 3,
		.max_failure_points = 10 },
			 canary;
	assert_int_equal(ax_canary_begin(&w->ctx, &ask, &trial, "anna", &canary, NULL), AX_OK);
}

static void wait_minutes(struct world *w, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		go(w, 60000);
		register_worker(w, "w1", "i1", 10);
	}
}

static void test_a_trial_that_nobody_takes_is_rolled_back_and_its_runs_go_on(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	int64_t id = begin(w);
	start_elsewhere(w, id, true);
	wait_minutes(w, 60);
	assert_int_equal(task_row(w, id).canary_version, 2);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 0);
	wait_minutes(w, 2);
	struct ax_task task = task_row(w, id);
	assert_int_equal(task.canary_version, 0);
	assert_int_equal(task.version, 3);
	struct ax_canary canary = *(const struct ax_canary *)ax_mem_store_at(w->mem, &ax_canary_row, 0);
	assert_string_equal(canary.ended_by, "rule");
	assert_non_null(strstr(canary.reason, "no worker offers executor nobody"));
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(order.run.version, 3);
	assert_string_equal(order.run.executor_key, "exec");
}

static void shards_no_retries(struct ax_task_def *def)
{
	def->shard_count = 3;
}

static void test_runs_of_a_trial_that_a_person_rolled_back_go_on(void **state)
{
	struct world *w = *state;
	struct ax_order orders[4];
	struct ax_canary canary;
	register_worker(w, "w1", "i1", 10);
	int64_t id = make_task(w, "0 * * * *", shards_no_retries);
	start_elsewhere(w, id, false);
	wait_minutes(w, 200); /* nobody decides */
	assert_int_equal(poll(w, "w1", "i1", 4, orders, NULL), 0);
	assert_int_equal(ax_canary_decide(&w->ctx, id, AX_CANARY_ROLLED_BACK, "wrong", "anna", &canary, NULL), AX_OK);
	wait_minutes(w, 1);
	assert_int_equal(poll(w, "w1", "i1", 4, orders, NULL), 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(orders[i].run.version, 3);
		assert_int_equal(run_row(w, orders[i].run.parent).version, 3);
	}
}

static void test_the_schedule_is_not_part_of_it(void **state)
{
	struct world *w = *state;
	int64_t id = begin(w);
	struct ax_task_def trial = task_row(w, id).def;
	trial.cron_expr = "@hourly";
	struct ax_canary ask = { .task_id = id, .base_version = 1, .percent = 10, .min_runs = 1 }, canary;
	struct ax_err err = { 0 };
	assert_int_equal(ax_canary_begin(&w->ctx, &ask, &trial, "anna", &canary, &err), AX_INVALID);
	assert_string_equal(err.field, "cron_expr");
	trial = task_row(w, id).def; /* nothing is on trial */
	assert_int_equal(ax_canary_begin(&w->ctx, &ask, &trial, "anna", &canary, &err), AX_INVALID);
	assert_string_equal(err.field, "change");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_good_trial_takes_over_by_itself),
		TEST(test_a_bad_trial_is_rolled_back_before_it_has_all_its_runs),
		TEST(test_a_slow_trial_is_rolled_back_although_it_succeeds),
		TEST(test_a_trial_as_quick_as_allowed_takes_over),
		TEST(test_while_it_runs_the_task_is_not_edited),
		TEST(test_a_person_decides_when_the_rule_does_not),
		TEST(test_the_schedule_is_not_part_of_it),
		TEST(test_a_trial_that_nobody_takes_is_rolled_back_and_its_runs_go_on),
		TEST(test_runs_of_a_trial_that_a_person_rolled_back_go_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
