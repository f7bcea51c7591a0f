/* Calendars, validity and jitter as the services apply them. */
#include "world.h"

#include <stdio.h>

#include "app/calendars.h"
#include "app/tasks.h"
#include "core/limits.h"
#include "core/rule.h"
#include "port/mem_store.h"
#include "port/row.h"

enum { MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR, EVERY_DAY = AX_CALENDAR_WEEK };

#define TODAY (T0 / DAY)

/* Writes calendar "c": a week, and the exceptions of today (T0's date) and tomorrow, -1 = none, 0 = out, 1 = in. */
static enum ax_status put(struct world *w, int64_t old_version, unsigned week, int today, int tomorrow)
{
	struct ax_calendar_day days[2];
	struct ax_calendar_def def = { .name = "c", .title = "", .content = { .week = week, .days = days } };
	struct ax_calendar_row row;
	if (today >= 0)
		days[def.content.n++] = (struct ax_calendar_day){ TODAY, today == 1, "" };
	if (tomorrow >= 0)
		days[def.content.n++] = (struct ax_calendar_day){ TODAY + 1, tomorrow == 1, "" };
	return ax_calendar_put(&w->ctx, &def, old_version, "test", &row, NULL);
}

static void by_calendar(struct ax_task_def *def)
{
	def->calendar = "c";
}

static void not_by_calendar(struct ax_task_def *def)
{
	def->calendar = "c";
	def->calendar_mode = AX_CALENDAR_EXCLUDE;
}

static const struct ax_epoch *newest_epoch(struct world *w, int64_t task_id)
{
	const struct ax_epoch *found = NULL, *epoch;
	for (size_t i = 0; (epoch = ax_mem_store_at(w->mem, &ax_epoch_row, i)) != NULL; i++)
		if (epoch->task_id == task_id)
			found = epoch;
	return found;
}

static void test_a_task_fires_on_the_days_of_its_calendar(void **state)
{
	struct world *w = *state;
	assert_int_equal(put(w, 0, 0, -1, 1), AX_OK);
	int64_t in = make_task(w, "0 * * * *", by_calendar), out = make_task(w, "0 * * * *", not_by_calendar);
	assert_int_equal(task_row(w, in).next_trigger_time, T0 + DAY);
	assert_int_equal(task_row(w, out).next_trigger_time, T0 + HOUR);
	for (int hour = 0; hour < 49; hour++) {
		struct ax_run run;
		go(w, HOUR);
		struct ax_order order;
		struct ax_stop stop;
		while (poll(w, "w1", "i1", 1, &order, &stop) == 1) {
			run = order.run;
			assert_int_equal((run.trigger_time - T0) / DAY,
				run.task_id == in                     ? 1
					: run.trigger_time < T0 + DAY ? 0
								      : 2);
			result(w, "w1", &run, AX_OUTCOME_SUCCESS);
		}
	}
	assert_int_equal(count_runs(w, in, AX_RUN_SUCCESS), 24);
	assert_int_equal(count_runs(w, out, AX_RUN_SUCCESS), 23 + 2);
	assert_true(task_row(w, in).exhausted);
	assert_int_equal(task_row(w, out).next_trigger_time, T0 + 50 * HOUR);
}

/* Everything due until then falls under the old content; after it the new one counts. */
static void test_a_change_settles_first(void **state)
{
	struct world *w = *state;
	assert_int_equal(put(w, 0, EVERY_DAY, -1, -1), AX_OK);
	int64_t id = make_task(w, "* * * * *", by_calendar);
	go_quiet(w, 3 * MINUTE + 1000);
	assert_int_equal(put(w, 1, EVERY_DAY, 0, -1), AX_OK);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(ax_run_fire(&run), T0 + 3 * MINUTE);
	assert_int_equal(run.covers_count, 2);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + DAY);
	assert_int_equal(task_row(w, id).calendar_version, 2);
	assert_int_equal(newest_epoch(w, id)->calendar_version, 2);
	assert_int_equal(newest_epoch(w, id)->from_time, w->now);
	/* what was passed over meanwhile is not demanded any more */
	go(w, 5 * MINUTE);
	assert_int_equal(put(w, 2, EVERY_DAY, 1, -1), AX_OK);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 9 * MINUTE);
	/* the same again is no change */
	assert_int_equal(put(w, 3, EVERY_DAY, 1, -1), AX_OK);
	assert_int_equal(newest_epoch(w, id)->calendar_version, 3);
	assert_int_equal(put(w, 2, 0, -1, -1), AX_CONFLICT);
	assert_int_equal(put(w, 0, 0, -1, -1), AX_EXISTS);
}

static void test_a_change_reaches_many_tasks_and_paused_ones_later(void **state)
{
	struct world *w = *state;
	enum { MANY = 2 * AX_BATCH + 5 };
	struct ax_task task;
	assert_int_equal(put(w, 0, EVERY_DAY, -1, -1), AX_OK);
	int64_t first = make_task(w, "0 * * * *", by_calendar), paused = make_task(w, "0 * * * *", by_calendar);
	for (int i = 0; i < MANY; i++)
		make_task(w, "0 * * * *", by_calendar);
	assert_int_equal(ax_task_set_status(&w->ctx, paused, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(put(w, 1, EVERY_DAY, 0, -1), AX_OK);
	for (int64_t id = first; id <= paused + MANY; id++)
		if (id != paused)
			assert_int_equal(task_row(w, id).next_trigger_time, T0 + DAY);
	assert_int_equal(task_row(w, paused).calendar_version, 1);
	assert_int_equal(ax_task_set_status(&w->ctx, paused, AX_TASK_ENABLED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(task.next_trigger_time, T0 + DAY);
	assert_int_equal(task.calendar_version, 2);
}

struct behind {
	int64_t id;
};

static enum ax_status put_behind(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_task task;
	enum ax_status status = tx->ops->task_get(tx, ((struct behind *)arg)->id, true, &task, err);
	task.calendar_version = 1;
	return status == AX_OK ? tx->ops->task_advance(tx, &task, task.next_trigger_time, err) : status;
}

/* A crash between the transactions of a great change. */
static void test_what_a_change_did_not_reach_follows_later(void **state)
{
	struct world *w = *state;
	assert_int_equal(put(w, 0, EVERY_DAY, -1, -1), AX_OK);
	struct behind behind = { make_task(w, "0 * * * *", by_calendar) };
	assert_int_equal(put(w, 1, EVERY_DAY, 0, -1), AX_OK);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, put_behind, &behind, NULL), AX_OK);
	restart(w);
	go(w, 1000);
	assert_int_equal(task_row(w, behind.id).calendar_version, 2);
	assert_int_equal(newest_epoch(w, behind.id)->from_time, w->now);
}

static void test_a_used_calendar_is_not_deleted(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	assert_int_equal(put(w, 0, EVERY_DAY, -1, -1), AX_OK);
	int64_t id = make_task(w, "0 * * * *", by_calendar);
	assert_int_equal(ax_calendar_delete(&w->ctx, "c", &err), AX_CONFLICT);
	assert_non_null(strstr(err.msg, task_row(w, id).def.task_name));
	assert_int_equal(ax_task_delete(&w->ctx, id, false, "test", NULL), AX_OK);
	assert_int_equal(ax_calendar_delete(&w->ctx, "c", &err), AX_OK);
	assert_int_equal(ax_calendar_delete(&w->ctx, "c", &err), AX_NOT_FOUND);
	assert_int_equal(put(w, 0, 0, -1, -1), AX_OK);
	const struct ax_calendar_row *row = ax_mem_store_at(w->mem, &ax_calendar_row_row, 0);
	assert_int_equal(row->version, 2); /* the epochs of the task that is gone name version 1 */
}

/* --- validity ----------------------------------------------------------------------------------------------------- */

static void for_ten_minutes(struct ax_task_def *def)
{
	def->valid_from = T0 + 5 * MINUTE;
	def->valid_until = T0 + 15 * MINUTE;
	def->overlap = AX_OVERLAP_SKIP;
}

static void test_fires_outside_the_window_of_validity_are_not_demanded(void **state)
{
	struct world *w = *state;
	int64_t cron = make_task(w, "* * * * *", for_ten_minutes), after = make_task(w, "@after 60s", for_ten_minutes);
	assert_int_equal(task_row(w, cron).next_trigger_time, T0 + 5 * MINUTE);
	assert_int_equal(task_row(w, after).next_trigger_time, T0 + 5 * MINUTE);
	for (int minute = 0; minute < 20; minute++) {
		struct ax_order order;
		struct ax_stop stop;
		go(w, MINUTE);
		while (poll(w, "w1", "i1", 1, &order, &stop) == 1)
			result(w, "w1", &order.run, AX_OUTCOME_SUCCESS);
	}
	assert_int_equal(count_runs(w, cron, AX_RUN_SUCCESS), 10);
	assert_int_equal(count_runs(w, after, AX_RUN_SUCCESS), 10);
	assert_true(task_row(w, cron).exhausted && task_row(w, after).exhausted);
}

/* --- jitter ------------------------------------------------------------------------------------------------------- */

static void with_jitter(struct ax_task_def *def)
{
	def->jitter_seconds = 1800;
	def->window_seconds = 60;
}

static void test_with_jitter_the_fire_is_the_key_and_the_run_is_due_later(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 * * * *", with_jitter), jitter = ax_jitter_ms(id, 1800);
	assert_true(jitter > MINUTE);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + HOUR + jitter);
	go(w, HOUR + jitter - 1);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 0);
	go(w, 1);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(ax_run_fire(&run), T0 + HOUR);
	assert_int_equal(run.trigger_time, T0 + HOUR + jitter);
	assert_int_equal(task_row(w, id).last_trigger_time, T0 + HOUR);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + 2 * HOUR + jitter);
	/* the window counts from when it is due: half a minute late is late, a minute and more is missed */
	go_quiet(w, HOUR + 30000);
	go(w, 0);
	run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(run.covers_to, T0 + 2 * HOUR);
	go_quiet(w, HOUR + 31000);
	go(w, 0);
	run = find_run(w, id, AX_RUN_MISSED, 0);
	assert_int_equal(run.covers_from, T0 + 3 * HOUR);
	assert_int_equal(run.trigger_time, T0 + 3 * HOUR + jitter);
}

/* Between the fire and when it is due, a change neither loses it nor makes it twice. */
static void test_a_change_while_a_fire_waits_for_its_jitter(void **state)
{
	struct world *w = *state;
	struct ax_task task;
	int64_t id = make_task(w, "0 * * * *", with_jitter), jitter = ax_jitter_ms(id, 1800);
	go(w, HOUR + 1000);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(newest_epoch(w, id)->from_time, w->now - jitter);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_ENABLED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(task.next_trigger_time, T0 + HOUR + jitter);
	struct ax_task_def def = task.def;
	def.jitter_seconds = 0; /* it is due at once now, a second late */
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &def, "test", &task, NULL), AX_OK);
	assert_int_equal(task.next_trigger_time, T0 + HOUR);
	go(w, 1000);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(ax_run_fire(&run), T0 + HOUR);
	/* and longer jitter does not bring back what was dealt with */
	def.jitter_seconds = 1800;
	assert_int_equal(ax_task_update(&w->ctx, id, 2, &def, "test", &task, NULL), AX_OK);
	assert_int_equal(task.next_trigger_time, T0 + 2 * HOUR + jitter);
}

/* A task that is made, or enabled again, does not fire for a time before that, however long its jitter is. */
static void test_no_fire_from_before_the_task(void **state)
{
	struct world *w = *state;
	struct ax_task task;
	w->now = T0 + 1000;
	int64_t id = make_task(w, "0 * * * *", with_jitter), jitter = ax_jitter_ms(id, 1800);
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + HOUR + jitter);
	struct ax_task_def def = task_row(w, id).def;
	def.cron_expr = "0 0/2 * * *";
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &def, "test", &task, NULL), AX_OK);
	assert_int_equal(task.next_trigger_time, T0 + 2 * HOUR + jitter);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		T(test_a_task_fires_on_the_days_of_its_calendar),
		T(test_a_change_settles_first),
		T(test_a_change_reaches_many_tasks_and_paused_ones_later),
		T(test_what_a_change_did_not_reach_follows_later),
		T(test_a_used_calendar_is_not_deleted),
		T(test_fires_outside_the_window_of_validity_are_not_demanded),
		T(test_with_jitter_the_fire_is_the_key_and_the_run_is_due_later),
		T(test_a_change_while_a_fire_waits_for_its_jitter),
		T(test_no_fire_from_before_the_task),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
