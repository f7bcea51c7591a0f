/* Fires become runs: late ones, missed ones, coalesced ones, those that meet a live run. */

#include "world.h"

#include <stdio.h>

#include "port/mem_store.h"

#include "app/rezone.h"
#include "app/runs.h"
#include "app/tasks.h"

static void fire_all(struct ax_task_def *def)
{
	def->misfire = AX_MISFIRE_FIRE_ALL;
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 1000;
}

static void misfire_skip(struct ax_task_def *def)
{
	def->misfire = AX_MISFIRE_SKIP;
}

static void overlap_skip(struct ax_task_def *def)
{
	def->overlap = AX_OVERLAP_SKIP;
}

static void overlap_replace(struct ax_task_def *def)
{
	def->overlap = AX_OVERLAP_REPLACE;
}

static void overlap_two(struct ax_task_def *def)
{
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 2;
}

static void test_a_fire_on_time_is_one_run(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	assert_int_equal(go(w, 59999), T0 + 60000);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 0);
	assert_int_equal(go(w, 1), T0 + 120000);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(run.trigger_time, T0 + 60000);
	assert_string_equal(run.fire_key, "1780272060000");
	assert_int_equal(run.covers_count, 0);
	go(w, 0);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 1);
}

static void test_late_fires_inside_the_window_run_once(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	go_quiet(w, 5 * 60000 + 30000); /* fires of minutes 1 to 5, the newest 30 s late */
	restart(w);
	go(w, 0);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(run.trigger_time, T0 + 5 * 60000);
	assert_int_equal(run.covers_from, T0 + 60000);
	assert_int_equal(run.covers_count, 4);
	assert_int_equal(count_runs(w, id, AX_RUN_MISSED), 0);
}

static void test_late_fires_are_counted_on_a_fire_that_is_on_time(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	go_quiet(w, 3 * 60000 + 1000);
	go(w, 0);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(run.trigger_time, T0 + 3 * 60000);
	assert_int_equal(run.covers_count, 2);
	assert_int_equal(run.covers_to, T0 + 2 * 60000);
}

static void test_fires_older_than_the_window_are_one_missed_row(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	go_quiet(w, 3600000 + 30000);
	restart(w);
	go(w, 0);
	struct ax_run missed = find_run(w, id, AX_RUN_MISSED, 0);
	assert_int_equal(missed.covers_from, T0 + 60000);
	assert_int_equal(missed.covers_to, T0 + 50 * 60000);
	assert_int_equal(missed.covers_count, 50);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(run.trigger_time, T0 + 60 * 60000);
	assert_int_equal(run.covers_count, 9);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 61 * 60000);
}

static void test_misfire_policy_fire_all(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", fire_all);
	go_quiet(w, 5 * 60000 + 30000);
	go(w, 0);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 5);
	assert_int_equal(find_run(w, id, AX_RUN_WAITING, 0).trigger_time, T0 + 60000);
}

static void test_fire_all_is_bounded_per_transaction_and_loses_nothing(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * * ?", fire_all);
	go_quiet(w, 250500);
	while (go(w, 0) <= w->now) {
	}
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 250);
}

static void test_misfire_policy_skip(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", misfire_skip);
	go_quiet(w, 5 * 60000 + 30000);
	go(w, 0);
	struct ax_run skipped = find_run(w, id, AX_RUN_SKIPPED, 0);
	assert_string_equal(skipped.reason, "misfire");
	assert_int_equal(skipped.covers_count, 4);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 0);
}

static void test_overlap_queue_lets_one_wait_and_counts_the_others_on_it(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	int64_t id = make_task(w, "* * * * *", NULL);
	go(w, 60000);
	assert_int_equal(poll(w, "w1", "i1", 10, &order, NULL), 1);
	report(w, "w1", AX_ITEM_STARTED, &order.run);
	go(w, 60000);
	go(w, 60000);
	go(w, 60000);
	struct ax_run waiting = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 1);
	assert_int_equal(waiting.hold, AX_HOLD_OVERLAP);
	assert_int_equal(waiting.trigger_time, T0 + 2 * 60000);
	assert_int_equal(waiting.covers_count, 2);
	struct ax_order none;
	assert_int_equal(poll(w, "w1", "i1", 10, &none, NULL), 0);
	/* the attempt of 60 s is past its hard limit by now, but its worker says that it is done */
	assert_int_equal(result(w, "w1", &order.run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	assert_int_equal(poll(w, "w1", "i1", 10, &order, NULL), 1);
	assert_int_equal(order.run.gid, waiting.gid);
}

static void test_overlap_skip_writes_a_row_that_names_what_it_met(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	int64_t id = make_task(w, "* * * * *", overlap_skip);
	go(w, 60000);
	poll(w, "w1", "i1", 10, &order, NULL);
	report(w, "w1", AX_ITEM_STARTED, &order.run);
	go(w, 60000);
	struct ax_run skipped = find_run(w, id, AX_RUN_SKIPPED, 0);
	assert_string_equal(skipped.reason, "overlap");
	assert_non_null(strstr(skipped.result_msg, ax_sprintf(&w->arena, "%lld", (long long)order.run.gid)));
}

static void test_an_edit_to_skip_passes_over_the_fires_that_wait(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	int64_t id = make_task(w, "* * * * *", NULL);
	go(w, 60000);
	poll(w, "w1", "i1", 10, &order, NULL);
	report(w, "w1", AX_ITEM_STARTED, &order.run);
	go(w, 60000);
	go(w, 60000);
	struct ax_run waiting = find_run(w, id, AX_RUN_WAITING, 0), by_hand = trigger(w, id);
	struct ax_task task = task_row(w, id), changed;
	task.def.notes = "another edit leaves it alone";
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &task.def, "test", &changed, NULL), AX_OK);
	assert_int_equal(run_row(w, waiting.gid).status, AX_RUN_WAITING);
	task.def.overlap = AX_OVERLAP_SKIP;
	assert_int_equal(ax_task_update(&w->ctx, id, 2, &task.def, "test", &changed, NULL), AX_OK);
	struct ax_run skipped = run_row(w, waiting.gid);
	assert_int_equal(skipped.status, AX_RUN_SKIPPED);
	assert_string_equal(skipped.reason, "overlap");
	assert_non_null(strstr(skipped.result_msg, "became skip"));
	assert_int_equal(skipped.covers_count, 1); /* the fire that had joined it */
	assert_int_equal(skipped.end_time, w->now);
	assert_int_equal(changed.last_run_gid, skipped.gid);
	/* what a person asked for waits in line, and the run that is live goes on */
	assert_int_equal(run_row(w, by_hand.gid).hold, AX_HOLD_OVERLAP);
	assert_int_equal(run_row(w, order.run.gid).status, AX_RUN_RUNNING);
	assert_int_equal(result(w, "w1", &order.run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, by_hand.gid).hold, AX_HOLD_NONE);
}

/* What has begun goes on, and tries again; the oldest of the others has what room is left. */
static void test_an_edit_that_narrows_the_rule_holds_what_waits_beyond_it(void **state)
{
	struct world *w = *state;
	struct ax_order orders[10];
	int64_t id = make_task(w, "* * * * *", overlap_two);
	struct ax_task task = task_row(w, id), changed;
	task.def.overlap_max = 5;
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &task.def, "test", &changed, NULL), AX_OK);
	go(w, 60000);
	assert_int_equal(poll(w, "w1", "i1", 10, orders, NULL), 1);
	for (int i = 0; i < 4; i++)
		go(w, 1000 * 60);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 4);
	task.def.overlap_max = 2;
	assert_int_equal(ax_task_update(&w->ctx, id, 2, &task.def, "test", &changed, NULL), AX_OK);
	for (int i = 0; i < 4; i++)
		assert_int_equal(find_run(w, id, AX_RUN_WAITING, i).hold, i == 0 ? AX_HOLD_NONE : AX_HOLD_OVERLAP);
	task.def.overlap = AX_OVERLAP_QUEUE;
	assert_int_equal(ax_task_update(&w->ctx, id, 3, &task.def, "test", &changed, NULL), AX_OK);
	assert_int_equal(find_run(w, id, AX_RUN_WAITING, 0).hold, AX_HOLD_OVERLAP);
	assert_int_equal(poll(w, "w1", "i1", 10, orders + 1, NULL), 0);
	report(w, "w1", AX_ITEM_STARTED, &orders[0].run);
	assert_int_equal(result(w, "w1", &orders[0].run, AX_OUTCOME_FAILED), AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, orders[0].run.gid).status, AX_RUN_RETRYING);
	assert_int_equal(poll(w, "w1", "i1", 10, orders + 1, NULL), 0);
	task.def.overlap = AX_OVERLAP_ALLOW;
	assert_int_equal(ax_task_update(&w->ctx, id, 4, &task.def, "test", &changed, NULL), AX_OK);
	assert_int_equal(poll(w, "w1", "i1", 10, orders + 1, NULL), 1);
	assert_int_equal(orders[1].run.trigger_time, orders[0].run.trigger_time + 60000);
}

/* Its worker dies before it has stopped: it was still replaced, and nobody cancelled it. */
static void test_a_replaced_run_whose_worker_dies(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	int64_t id = make_task(w, "* * * * *", overlap_replace);
	register_worker(w, "w1", "i1", 10);
	go(w, 60000);
	assert_int_equal(poll(w, "w1", "i1", 10, &order, NULL), 1);
	report(w, "w1", AX_ITEM_STARTED, &order.run);
	go(w, 60000);
	assert_int_equal(count_runs(w, id, AX_RUN_RUNNING), 1);
	register_worker(w, "w1", "i2", 10);
	assert_int_equal(run_row(w, order.run.gid).status, AX_RUN_CANCELLED);
	assert_string_equal(run_row(w, order.run.gid).reason, "replaced");
}

static void test_overlap_replace_stops_the_old_run_first(void **state)
{
	struct world *w = *state;
	struct ax_order order, none;
	struct ax_stop stop;
	int64_t id = make_task(w, "* * * * *", overlap_replace);
	go(w, 60000);
	poll(w, "w1", "i1", 10, &order, NULL);
	report(w, "w1", AX_ITEM_STARTED, &order.run);
	go(w, 60000);
	assert_int_equal(run_row(w, order.run.gid).cancel, AX_CANCEL_ASKED);
	assert_int_equal(poll(w, "w1", "i1", 10, &none, &stop), 0);
	assert_int_equal(stop.gid, order.run.gid);
	assert_int_equal(result(w, "w1", &order.run, AX_OUTCOME_CANCELLED), AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, order.run.gid).status, AX_RUN_CANCELLED);
	assert_int_equal(poll(w, "w1", "i1", 10, &none, NULL), 1);
	assert_int_equal(none.run.task_id, id);
}

static void test_overlap_allow_up_to_n(void **state)
{
	struct world *w = *state;
	struct ax_order orders[10];
	make_task(w, "* * * * * ?", overlap_two);
	for (int i = 0; i < 5; i++)
		go(w, 1000);
	assert_int_equal(poll(w, "w1", "i1", 10, orders, NULL), 2);
}

static void test_at_fires_once_and_is_exhausted(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@at 2026-06-01T00:01:00Z", NULL);
	go(w, 60000);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 1);
	assert_true(task_row(w, id).exhausted);
	assert_int_equal(task_row(w, id).next_trigger_time, 0);
}

static void test_a_schedule_in_the_past_is_refused(void **state)
{
	struct world *w = *state;
	struct ax_task_def def = task_row(w, make_task(w, "* * * * *", NULL)).def;
	enum ax_task_status enabled = AX_TASK_ENABLED;
	struct ax_task task;
	struct ax_err err = { 0 };
	int failed;
	def.task_name = "past";
	def.cron_expr = "@at 2020-01-01T00:00:00Z";
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &enabled, 1, "test", &task, &failed, &err), AX_NEVER);
	assert_string_equal(err.field, "cron_expr");
}

static void test_after_counts_from_the_end_of_the_run(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	int64_t id = make_task(w, "@after 30s", NULL);
	go(w, 30000);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(task_row(w, id).next_trigger_time, 0);
	go(w, 12000);
	result(w, "w1", &order.run, AX_OUTCOME_SUCCESS);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 72000);
}

static void test_every_keeps_its_beat(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@every 90s", NULL);
	go(w, 90700); /* made 0.7 s late */
	assert_int_equal(find_run(w, id, AX_RUN_WAITING, 0).trigger_time, T0 + 90000);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 180000);
}

static void test_an_edit_settles_the_old_rule_first(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	struct ax_task task = task_row(w, id), changed;
	go_quiet(w, 60000); /* due, and nobody has ticked yet */
	task.def.cron_expr = "30 * * * *";
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &task.def, "test", &changed, NULL), AX_OK);
	assert_int_equal(find_run(w, id, AX_RUN_WAITING, 0).trigger_time, T0 + 60000);
	assert_int_equal(changed.version, 2);
	assert_int_equal(changed.next_trigger_time, T0 + 30 * 60000);
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &task.def, "test", &changed, NULL), AX_CONFLICT);
}

static void test_fires_while_paused_are_not_late(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	struct ax_task task;
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(task.next_trigger_time, 0);
	go(w, 20 * 60000 + 1);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_ENABLED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(task.next_trigger_time, T0 + 21 * 60000);
	go(w, 0);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 0);
	assert_int_equal(count_runs(w, id, AX_RUN_MISSED), 0);
}

static void test_a_person_decides_about_missed_fires(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "*/10 * * * *", NULL);
	go_quiet(w, 3600000 + 60000);
	go(w, 0);
	struct ax_run missed = find_run(w, id, AX_RUN_MISSED, 0), run;
	struct ax_runs made;
	assert_int_equal(missed.covers_count, 5);
	assert_int_equal(
		ax_run_resolve_missed(&w->ctx, missed.gid, AX_MISSED_RUN_ALL, "checked", &run, &made, NULL), AX_OK);
	assert_int_equal(made.n, 5);
	assert_int_equal(made.at[0].trigger_time, T0 + 600000);
	assert_true(made.at[0].made_up);
	assert_string_equal(run.reason, "run_all");
	assert_int_equal(run.status, AX_RUN_MISSED);
	assert_int_equal(
		ax_run_resolve_missed(&w->ctx, missed.gid, AX_MISSED_DISMISS, "", &run, &made, NULL), AX_CONFLICT);
}

static void test_a_delayed_run_comes_due(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	struct ax_run run, again;
	bool existed;
	int64_t id = make_task(w, "", NULL);
	struct ax_trigger trigger = { .task_id = id, .params = "{}", .run_at = T0 + 5000, .key = "order-7" };
	assert_int_equal(ax_task_trigger(&w->ctx, &trigger, &run, &existed, NULL), AX_OK);
	assert_int_equal(run.status, AX_RUN_PENDING);
	assert_int_equal(ax_task_trigger(&w->ctx, &trigger, &again, &existed, NULL), AX_OK);
	assert_true(existed);
	assert_int_equal(again.gid, run.gid);
	assert_int_equal(go(w, 4999), T0 + 5000);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 0);
	go(w, 1);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
}

/* A zone file with one rule for all time, as `zic` writes it: an empty version-1 block, then version 2 with a footer.
 */
static struct ax_tz *fixed_zone(const char *footer)
{
	unsigned char file[160] = { 0 };
	static const unsigned char header[] = { 'T', 'Z', 'i', 'f', '2' };
	memcpy(file, header, sizeof(header));
	file[39] = 1; /* one type */
	file[43] = 4; /* four characters of names */
	size_t block = 44 + 6 + 4;
	memcpy(file + 44 + 6, "XXX", 4);
	memcpy(file + block, file, block);
	size_t n = block * 2;
	n += (size_t)sprintf((char *)file + n, "\n%s\n", footer);
	struct ax_tz *tz;
	struct ax_err err = { 0 };
	if (ax_tz_parse("Test/Moving", file, n, &tz, &err) != AX_OK)
		fail_msg("%s", err.msg);
	return tz;
}

static void in_moving(struct ax_task_def *def)
{
	def->time_zone = "Test/Moving";
}

static void test_new_zone_data_move_the_next_fire(void **state)
{
	struct world *w = *state;
	struct ax_tz *before = fixed_zone("XXX0"), *after = fixed_zone("XXX-2");
	int tasks;
	w->moving = before;
	int64_t id = make_task(w, "0 12 * * *", in_moving), other = make_task(w, "0 12 * * *", NULL);
	int64_t every = make_task(w, "@every 7h", in_moving);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 12 * 3600000);
	w->moving = after;
	assert_int_equal(ax_rezone(&w->ctx, "Test/Moving", &tasks, NULL), AX_OK);
	assert_int_equal(tasks, 1);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 10 * 3600000);
	assert_int_equal(task_row(w, other).next_trigger_time, T0 + 12 * 3600000);
	assert_int_equal(task_row(w, every).next_trigger_time, T0 + 7 * 3600000);
	const struct ax_epoch *epoch;
	int epochs = 0;
	for (size_t i = 0; (epoch = ax_mem_store_at(w->mem, &ax_epoch_row, i)) != NULL; i++)
		epochs += epoch->task_id == id;
	assert_int_equal(epochs, 2);
	ax_tz_free(before);
	ax_tz_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
		T(test_a_fire_on_time_is_one_run),
		T(test_late_fires_inside_the_window_run_once),
		T(test_late_fires_are_counted_on_a_fire_that_is_on_time),
		T(test_fires_older_than_the_window_are_one_missed_row),
		T(test_misfire_policy_fire_all),
		T(test_fire_all_is_bounded_per_transaction_and_loses_nothing),
		T(test_misfire_policy_skip),
		T(test_overlap_queue_lets_one_wait_and_counts_the_others_on_it),
		T(test_overlap_skip_writes_a_row_that_names_what_it_met),
		T(test_an_edit_to_skip_passes_over_the_fires_that_wait),
		T(test_an_edit_that_narrows_the_rule_holds_what_waits_beyond_it),
		T(test_overlap_replace_stops_the_old_run_first),
		T(test_a_replaced_run_whose_worker_dies),
		T(test_overlap_allow_up_to_n),
		T(test_at_fires_once_and_is_exhausted),
		T(test_a_schedule_in_the_past_is_refused),
		T(test_after_counts_from_the_end_of_the_run),
		T(test_every_keeps_its_beat),
		T(test_an_edit_settles_the_old_rule_first),
		T(test_fires_while_paused_are_not_late),
		T(test_a_person_decides_about_missed_fires),
		T(test_a_delayed_run_comes_due),
		T(test_new_zone_data_move_the_next_fire),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
