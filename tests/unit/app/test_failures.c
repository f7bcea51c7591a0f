/* Failures are written with the run's end, counted into groups once, and people act on groups. */

#include "world.h"

#include "app/failure_acts.h"
#include "app/failure_view.h"
#include "app/failures.h"
#include "app/recover.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "port/mem_store.h"
#include "port/row.h"

static void no_retries(struct ax_task_def *def)
{
	def->retry_count = 0;
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 100;
}

/* A run of the task that ends at once on the worker; its gid. */
static int64_t run_once(struct world *w, int64_t task_id, const char *worker, enum ax_outcome outcome)
{
	struct ax_order order;
	trigger(w, task_id);
	assert_int_equal(poll(w, worker, "i1", 1, &order, NULL), 1);
	result(w, worker, &order.run, outcome);
	return order.run.gid;
}

static struct ax_failure_group group_row(struct world *w, size_t i)
{
	const struct ax_failure_group *group = ax_mem_store_at(w->mem, &ax_failure_group_row, i);
	assert_non_null(group);
	return *group;
}

static size_t count(struct world *w, const struct ax_row_type *type)
{
	return ax_mem_store_count(w->mem, type);
}

static int open_alerts(struct world *w)
{
	const struct ax_alert *alert;
	int n = 0;
	for (size_t i = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, i)) != NULL; i++)
		n += alert->rule == AX_ALERT_FAILURE_GROUP && alert->state == AX_ALERT_OPEN;
	return n;
}

static const struct ax_alert *first_alert(struct world *w)
{
	const struct ax_alert *alert;
	for (size_t i = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, i)) != NULL; i++)
		if (alert->rule == AX_ALERT_FAILURE_GROUP)
			return alert;
	return NULL;
}

/* Occurrences of the tasks' own alerts. */
static int64_t failed_count(struct world *w)
{
	const struct ax_alert *alert;
	int64_t n = 0;
	for (size_t i = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, i)) != NULL; i++)
		n += alert->rule == AX_ALERT_FAILED ? alert->count : 0;
	return n;
}

static struct ax_failure_group do_act(struct world *w, struct ax_failure_act act)
{
	struct ax_failure_group group;
	act.by = "me";
	if (act.reason == NULL)
		act.reason = "";
	assert_int_equal(ax_failure_do(&w->ctx, &act, &group, NULL), AX_OK);
	return group;
}

static void test_only_failures_are_written(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", no_retries);
	run_once(w, id, "w1", AX_OUTCOME_SUCCESS);
	assert_int_equal(count(w, &ax_failure_row), 0);
	int64_t failed = run_once(w, id, "w1", AX_OUTCOME_FAILED);
	run_once(w, id, "w1", AX_OUTCOME_TIMEOUT);
	assert_int_equal(count(w, &ax_failure_row), 2);
	const struct ax_failure *row = ax_mem_store_at(w->mem, &ax_failure_row, 0);
	assert_int_equal(row->gid, failed);
	assert_int_equal(row->code, 3);
	assert_string_equal(row->reason, "exit");
	assert_string_equal(row->worker, "w1");
	assert_string_equal(row->title, "said so");
	assert_int_equal(row->time, run_row(w, failed).end_time);
}

static void test_an_attempt_that_is_tried_again_is_no_failure(void **state)
{
	struct world *w = *state;
	run_once(w, make_task(w, "", NULL), "w1", AX_OUTCOME_FAILED);
	assert_int_equal(count(w, &ax_failure_row), 0);
}

static void test_each_failure_is_counted_once(void **state)
{
	struct world *w = *state;
	int64_t a = make_task(w, "", no_retries), b = make_task(w, "", no_retries);
	register_worker(w, "w2", "i1", 10);
	run_once(w, a, "w1", AX_OUTCOME_FAILED);
	run_once(w, a, "w2", AX_OUTCOME_FAILED);
	int64_t last = run_once(w, b, "w2", AX_OUTCOME_FAILED);
	go(w, 2000);
	go(w, 2000);
	restart(w);
	go(w, 2000);
	assert_int_equal(count(w, &ax_failure_group_row), 1);
	struct ax_failure_group group = group_row(w, 0);
	assert_int_equal(group.count, 3);
	assert_int_equal(group.sample_gid, last);
	assert_string_equal(group.title, "said so");
	assert_int_equal(count(w, &ax_failure_spread_row), 4); /* two tasks, two workers */
	assert_int_equal(count(w, &ax_failure_hour_row), 1);
	run_once(w, b, "w2", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_int_equal(group_row(w, 0).count, 4);
	assert_int_equal(open_alerts(w), 1);
}

static void test_timeouts_of_two_tasks_are_two_groups(void **state)
{
	struct world *w = *state;
	run_once(w, make_task(w, "", no_retries), "w1", AX_OUTCOME_TIMEOUT);
	run_once(w, make_task(w, "", no_retries), "w1", AX_OUTCOME_TIMEOUT);
	go(w, 2000);
	assert_int_equal(count(w, &ax_failure_group_row), 2);
}

static void test_resolved_until_it_fails_again(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", no_retries);
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_int_equal(open_alerts(w), 1);
	do_act(w, (struct ax_failure_act){ .kind = AX_FAILURE_RESOLVE, .id = group_row(w, 0).id });
	assert_int_equal(open_alerts(w), 0);
	assert_string_equal(group_row(w, 0).state_by, "me");
	go(w, 2000);
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	struct ax_failure_group group = group_row(w, 0);
	assert_int_equal(group.state, AX_FAILURE_OPEN);
	assert_int_equal(group.reopen_count, 1);
	assert_int_equal(group.count, 2);
	assert_int_equal(open_alerts(w), 1);
}

static void test_muted_for_a_time(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", no_retries), group_id;
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	group_id = group_row(w, 0).id;
	struct ax_failure_act mute = {
		.kind = AX_FAILURE_MUTE, .id = group_id, .until_time = w->now, .reason = "known", .by = "me"
	};
	struct ax_failure_group group;
	struct ax_err err = { 0 };
	assert_int_equal(ax_failure_do(&w->ctx, &mute, &group, &err), AX_INVALID);
	assert_string_equal(err.field, "mute_until_time");
	mute.until_time = w->now + 60000;
	group = do_act(w, mute);
	assert_int_equal(group.state, AX_FAILURE_MUTED);
	assert_int_equal(open_alerts(w), 0);
	int64_t told = failed_count(w);
	for (int i = 0; i < 12; i++) /* even when it grows */
		run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_int_equal(open_alerts(w), 0);
	assert_int_equal(failed_count(w), told);
	go(w, 60000);
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_int_equal(open_alerts(w), 1);
	assert_int_equal(group_row(w, 0).state, AX_FAILURE_OPEN);
	do_act(w, (struct ax_failure_act){ .kind = AX_FAILURE_RESOLVE, .id = group_id });
	mute.until_time = w->now + 60000;
	assert_int_equal(ax_failure_do(&w->ctx, &mute, &group, NULL), AX_CONFLICT);
	do_act(w, (struct ax_failure_act){ .kind = AX_FAILURE_REOPEN, .id = group_id });
	group = do_act(w, (struct ax_failure_act){ .kind = AX_FAILURE_ASSIGN, .id = group_id, .assignee = "ann" });
	group = do_act(w, (struct ax_failure_act){ .kind = AX_FAILURE_ASSIGN, .id = group_id, .note = "see #5" });
	assert_string_equal(group.assignee, "ann");
	assert_string_equal(group.note, "see #5");
	assert_int_equal(group.state, AX_FAILURE_OPEN);
	mute.id = 999;
	assert_int_equal(ax_failure_do(&w->ctx, &mute, &group, NULL), AX_NOT_FOUND);
}

static void test_growth_is_told_once_an_hour(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", no_retries);
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	const struct ax_alert *alert = first_alert(w);
	assert_int_equal(alert->count, 1);
	go(w, AX_HOUR_MS);
	for (int i = 0; i < 9; i++)
		run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_int_equal(group_row(w, 0).growth_time, 0);
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_int_equal(group_row(w, 0).growth_time, w->now);
	alert = first_alert(w);
	assert_int_equal(alert->count, 2);
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	alert = first_alert(w);
	assert_int_equal(alert->count, 2);
}

static struct ax_failure_retry retry_all(struct world *w, int64_t limit)
{
	struct ax_failure_retry retry = { .id = group_row(w, 0).id, .limit = limit, .per_minute = 60 };
	assert_int_equal(ax_failure_retry_all(&w->ctx, &retry, NULL), AX_OK);
	return retry;
}

/* B018 */
static void test_all_again_and_each_once(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", no_retries), gids[4];
	for (int i = 0; i < 4; i++)
		gids[i] = run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	struct ax_run again;
	assert_int_equal(ax_run_rerun(&w->ctx, gids[1], "", false, &again, NULL), AX_OK); /* somebody was quicker */
	struct ax_failure_retry retry = retry_all(w, 2);
	assert_int_equal(retry.made, 2);
	assert_int_equal(retry.left, 1);
	assert_int_equal(retry.last_due_time, w->now + 1000);
	retry = retry_all(w, 2);
	assert_int_equal(retry.made, 1);
	assert_int_equal(retry.left, 0);
	retry = retry_all(w, 2);
	assert_int_equal(retry.made, 0);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 2);
	struct ax_run paced = find_run(w, id, AX_RUN_PENDING, 0);
	assert_int_equal(paced.rerun_of, gids[2]);
	assert_int_equal(paced.trigger_time, w->now + 1000);
	paced = find_run(w, id, AX_RUN_PENDING, 1); /* the second call goes on where the first one ended */
	assert_int_equal(paced.rerun_of, gids[3]);
	assert_int_equal(paced.trigger_time, w->now + 2000);
	go(w, 1000);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 3);
	go(w, 1000);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 4);
}

static void in_three_shards(struct ax_task_def *def)
{
	no_retries(def);
	def->shard_count = 3;
}

static void test_a_run_with_shards_is_one_failure(void **state)
{
	struct world *w = *state;
	struct ax_order orders[3];
	int64_t id = make_task(w, "", in_three_shards);
	trigger(w, id);
	go(w, 1);
	assert_int_equal(poll(w, "w1", "i1", 3, orders, NULL), 3);
	result(w, "w1", &orders[0].run, AX_OUTCOME_FAILED);
	result(w, "w1", &orders[1].run, AX_OUTCOME_FAILED);
	result(w, "w1", &orders[2].run, AX_OUTCOME_SUCCESS);
	go(w, 2000);
	assert_int_equal(group_row(w, 0).count, 1);
	assert_int_equal(retry_all(w, 10).made, 1);
	go(w, 1000);
	assert_int_equal(poll(w, "w1", "i1", 3, orders, NULL), 2); /* those that did not succeed */
	assert_int_equal(retry_all(w, 10).made, 0);
}

static void test_nothing_is_run_again_without_its_task(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", no_retries);
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_int_equal(ax_task_delete(&w->ctx, id, false, "me", NULL), AX_OK);
	struct ax_failure_retry retry = retry_all(w, 10);
	assert_int_equal(retry.made, 0);
	assert_int_equal(retry.left, 0);
}

static void test_quiet_groups_are_forgotten(void **state)
{
	const int64_t day = 24 * (int64_t)AX_HOUR_MS;
	struct world *w = *state;
	int64_t id = make_task(w, "", no_retries);
	int deleted;
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	run_once(w, make_task(w, "", no_retries), "w1", AX_OUTCOME_TIMEOUT);
	go(w, 2000);
	do_act(w, (struct ax_failure_act){ .kind = AX_FAILURE_RESOLVE, .id = group_row(w, 0).id });
	go_quiet(w, 29 * day);
	assert_int_equal(ax_retain(&w->ctx, 7 * day, &deleted, NULL), AX_OK);
	assert_int_equal(count(w, &ax_failure_row), 0); /* with their runs */
	assert_int_equal(count(w, &ax_failure_group_row), 2);
	go_quiet(w, 2 * day);
	assert_int_equal(ax_retain(&w->ctx, 40 * day, &deleted, NULL), AX_OK); /* runs may be there still */
	assert_int_equal(count(w, &ax_failure_group_row), 2);
	assert_int_equal(ax_retain(&w->ctx, 7 * day, &deleted, NULL), AX_OK);
	assert_int_equal(count(w, &ax_failure_group_row), 1);
	assert_int_equal(open_alerts(w), 1);
	go_quiet(w, 60 * day);
	assert_int_equal(ax_retain(&w->ctx, 7 * day, &deleted, NULL), AX_OK);
	assert_int_equal(count(w, &ax_failure_group_row), 0);
	assert_int_equal(count(w, &ax_failure_spread_row), 0);
	assert_int_equal(count(w, &ax_failure_hour_row), 0);
	assert_int_equal(open_alerts(w), 0);
}

struct looking {
	int64_t id;
	struct ax_failure_view *view;
};

static enum ax_status look(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct looking *l = arg;
	struct ax_failure_group group;
	enum ax_status status = tx->ops->failure_group_get(tx, l->id, false, &group, err);
	return status == AX_OK ? ax_failure_look(tx, &group, l->view, err) : status;
}

static bool says(struct world *w, const char *code)
{
	struct ax_failure_view view;
	struct looking l = { group_row(w, 0).id, &view };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, look, &l, NULL), AX_OK);
	for (int i = 0; i < view.n_hints; i++)
		if (strcmp(view.hints[i].code, code) == 0)
			return true;
	return false;
}

static void test_only_on_one_worker(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", no_retries);
	register_worker(w, "w3", "i1", 10);
	for (int i = 0; i < 3; i++)
		run_once(w, id, "w3", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_true(says(w, "one_worker")); /* nobody else ran it */
	for (int i = 0; i < 3; i++)
		run_once(w, id, "w3", AX_OUTCOME_SUCCESS);
	assert_false(says(w, "only_worker"));
	for (int i = 0; i < 3; i++)
		run_once(w, id, "w1", AX_OUTCOME_SUCCESS);
	assert_true(says(w, "only_worker"));
	run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_false(says(w, "only_worker"));
}

static void test_since_a_version_and_of_which_tasks(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", no_retries), other = make_task(w, "", no_retries);
	for (int i = 0; i < 3; i++)
		run_once(w, id, "w1", AX_OUTCOME_SUCCESS);
	struct ax_task task = task_row(w, id), changed;
	task.def.timeout_seconds = 77;
	assert_int_equal(ax_task_update(&w->ctx, id, task.version, &task.def, "me", &changed, NULL), AX_OK);
	go(w, 2000);
	for (int i = 0; i < 3; i++)
		run_once(w, id, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_true(says(w, "since_version"));
	assert_false(says(w, "one_task")); /* the other one did not run since */
	run_once(w, other, "w1", AX_OUTCOME_SUCCESS);
	assert_true(says(w, "one_task"));
	run_once(w, other, "w1", AX_OUTCOME_FAILED);
	go(w, 2000);
	assert_true(says(w, "all_tasks"));
	assert_false(says(w, "since_version"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(test_only_failures_are_written),
		TEST(test_an_attempt_that_is_tried_again_is_no_failure),
		TEST(test_each_failure_is_counted_once),
		TEST(test_timeouts_of_two_tasks_are_two_groups),
		TEST(test_resolved_until_it_fails_again),
		TEST(test_muted_for_a_time),
		TEST(test_growth_is_told_once_an_hour),
		TEST(test_all_again_and_each_once),
		TEST(test_a_run_with_shards_is_one_failure),
		TEST(test_nothing_is_run_again_without_its_task),
		TEST(test_quiet_groups_are_forgotten),
		TEST(test_only_on_one_worker),
		TEST(test_since_a_version_and_of_which_tasks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
