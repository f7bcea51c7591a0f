/* Backfills: which fires they make up, how many at a time, and how they end. */
#include "world.h"

#include <stdio.h>

#include "app/backfill.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "core/limits.h"
#include "core/rule.h"
#include "port/mem_store.h"
#include "port/row.h"

enum { MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

static enum ax_status start_of(
	struct world *w, const struct ax_backfill_ask *ask, struct ax_backfill *ret, struct ax_err *err)
{
	struct ax_backfill_ask full = *ask;
	full.max_live = ask->max_live == 0 ? 1 : ask->max_live;
	return ax_backfill_create(&w->ctx, &full, "ann", ret, err);
}

static struct ax_backfill started(struct world *w, const struct ax_backfill_ask *ask)
{
	struct ax_backfill b;
	assert_int_equal(start_of(w, ask, &b, NULL), AX_OK);
	return b;
}

static void refused(struct world *w, const struct ax_backfill_ask *ask, enum ax_status expected, const char *text)
{
	struct ax_backfill b;
	struct ax_err err = { 0 };
	assert_int_equal(start_of(w, ask, &b, &err), expected);
	if (strstr(err.msg, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.msg, text);
}

static struct ax_backfill row(struct world *w, int64_t id)
{
	const struct ax_backfill *b;
	for (size_t i = 0; (b = ax_mem_store_at(w->mem, &ax_backfill_row, i)) != NULL; i++)
		if (b->id == id)
			return *b;
	fail_msg("there is no backfill %lld", (long long)id);
	return (struct ax_backfill){ 0 };
}

/* Runs what is given out until nothing is; returns how many, and the fire of the last. */
static int run_given(struct world *w, enum ax_outcome outcome, int64_t *ret_fire)
{
	struct ax_order order;
	int n = 0;
	while (poll(w, "w1", "i1", 1, &order, NULL) == 1) {
		struct ax_run run = order.run;
		*ret_fire = ax_run_fire(&run);
		assert_int_equal(report(w, "w1", AX_ITEM_STARTED, &run), AX_VERDICT_APPLIED);
		assert_int_equal(result(w, "w1", &run, outcome), AX_VERDICT_APPLIED);
		n++;
	}
	return n;
}

static void overlap_allow(struct ax_task_def *def)
{
	def->overlap = AX_OVERLAP_ALLOW;
	def->retry_count = 0;
}

static void delay_task(struct ax_task_def *def)
{
	def->task_type = AX_TASK_DELAY;
	def->cron_expr = "";
}

/* B155 */
static void test_fires_of_a_range_are_made_up_one_after_the_other(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 * * * *", NULL), fire = 0;
	/* of before the task was made, too; T0 + HOUR is none of [from, to) that is past */
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 - 4 * HOUR, .to_time = T0 + 2 * HOUR };
	struct ax_backfill b = started(w, &ask);
	assert_int_equal(b.total, 5);
	assert_string_equal(b.created_by, "ann");
	for (int i = 0; i < 5; i++) {
		b = row(w, b.id);
		assert_int_equal(b.status, AX_BACKFILL_RUNNING);
		assert_int_equal(b.made, i + 1);
		struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
		assert_int_equal(run.kind, AX_KIND_SCHEDULE);
		assert_int_equal(run.backfill_id, b.id);
		assert_true(run.made_up);
		assert_int_equal(run.trigger_time, T0 - (4 - i) * HOUR);
		assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 1);
		assert_int_equal(run_given(w, AX_OUTCOME_SUCCESS, &fire), 1);
		assert_int_equal(fire, T0 - (4 - i) * HOUR);
		go(w, 1000);
	}
	b = row(w, b.id);
	assert_int_equal(b.status, AX_BACKFILL_DONE);
	assert_int_equal(b.end_time, w->now);
	assert_int_equal(b.done, 5);
	assert_int_equal(b.failed, 0);
	/* the schedule was not touched */
	assert_int_equal(task_row(w, id).next_trigger_time, T0 + HOUR);
	go(w, HOUR);
	assert_int_equal(run_given(w, AX_OUTCOME_SUCCESS, &fire), 1);
	assert_int_equal(fire, T0 + HOUR);
}

static void test_newest_first_and_several_at_once(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 * * * *", overlap_allow), fire = 0;
	struct ax_backfill_ask ask = {
		.task_id = id, .from_time = T0 - 4 * HOUR, .to_time = T0, .max_live = 3, .newest_first = true
	};
	struct ax_backfill b = started(w, &ask);
	assert_int_equal(b.made, 3);
	assert_int_equal(find_run(w, id, AX_RUN_WAITING, 0).trigger_time, T0 - HOUR);
	assert_int_equal(find_run(w, id, AX_RUN_WAITING, 2).trigger_time, T0 - 3 * HOUR);
	go(w, 1000);
	assert_int_equal(row(w, b.id).made, 3); /* nothing has ended */
	assert_int_equal(run_given(w, AX_OUTCOME_FAILED, &fire), 3);
	assert_int_equal(row(w, b.id).failed, 3);
	go(w, 1000);
	assert_int_equal(row(w, b.id).made, 4);
	assert_int_equal(run_given(w, AX_OUTCOME_SUCCESS, &fire), 1);
	assert_int_equal(fire, T0 - 4 * HOUR);
	go(w, 1000);
	b = row(w, b.id);
	assert_int_equal(b.status, AX_BACKFILL_DONE);
	assert_int_equal(b.done, 1);
	assert_int_equal(b.failed, 3);
}

static void test_what_has_a_run_is_left(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 * * * *", NULL), fire = 0;
	struct ax_backfill b;
	go(w, HOUR);
	assert_int_equal(run_given(w, AX_OUTCOME_SUCCESS, &fire), 1);
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 - HOUR, .to_time = w->now + 1, .dry_run = true };
	b = started(w, &ask);
	assert_int_equal(b.id, 0);
	assert_int_equal(b.total, 3);
	assert_int_equal(b.existed, 1);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), 0);
	ask.dry_run = false;
	ask.max_live = 10;
	b = started(w, &ask);
	assert_int_equal(b.made, 2);
	assert_int_equal(b.existed, 1);
	/* a second one finds all of them made */
	b = started(w, &ask);
	assert_int_equal(b.status, AX_BACKFILL_DONE);
	assert_int_equal(b.made, 0);
	assert_int_equal(b.existed, 3);
}

static void test_the_rule_is_that_of_the_making(void **state)
{
	struct world *w = *state;
	struct ax_task task;
	int64_t id = make_task(w, "0 * * * *", NULL), fire = 0;
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 - 6 * HOUR, .to_time = T0 };
	struct ax_backfill b = started(w, &ask);
	struct ax_task_def def = task_row(w, id).def;
	def.cron_expr = "30 0/3 * * *";
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &def, "test", &task, NULL), AX_OK);
	for (int i = 0; i < 3; i++) {
		run_given(w, AX_OUTCOME_SUCCESS, &fire);
		go(w, 1000);
	}
	b = row(w, b.id);
	assert_int_equal(b.status, AX_BACKFILL_DONE);
	assert_int_equal(b.made, 3); /* T0 - 6 h, T0 - 5 h 30, T0 - 2 h 30 */
	assert_int_equal(fire, T0 - 2 * HOUR - 30 * MINUTE);
}

/* A task that follows another one has no fires: none are made up for it, and what was under way is over. */
static void test_a_task_that_comes_to_follow_another(void **state)
{
	struct world *w = *state;
	struct ax_task task;
	int64_t id = make_task(w, "0 * * * *", NULL), first = make_task(w, "@hourly", NULL), fire = 0;
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 - 6 * HOUR, .to_time = T0 };
	struct ax_backfill b = started(w, &ask);
	struct ax_task_def def = task_row(w, id).def;
	def.cron_expr = "";
	def.upstreams = ax_sprintf(&w->arena, "%lld", (long long)first);
	assert_int_equal(ax_task_update(&w->ctx, id, 1, &def, "test", &task, NULL), AX_OK);
	refused(w, &ask, AX_CONFLICT, "only scheduled tasks");
	go(w, 1000);
	assert_int_equal(row(w, b.id).status, AX_BACKFILL_RUNNING); /* its run has not ended */
	run_given(w, AX_OUTCOME_SUCCESS, &fire);
	go(w, 1000);
	b = row(w, b.id);
	assert_int_equal(b.status, AX_BACKFILL_DONE);
	assert_int_equal(b.made, 1);
	assert_int_equal(b.done, 1);
}

static void test_cancelled(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	struct ax_backfill b;
	int64_t id = make_task(w, "0 * * * *", overlap_allow);
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 - 9 * HOUR, .to_time = T0, .max_live = 3 };
	int64_t backfill = started(w, &ask).id;
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(ax_backfill_cancel(&w->ctx, backfill, &b, NULL), AX_OK);
	assert_int_equal(b.status, AX_BACKFILL_CANCELLED);
	assert_int_equal(b.failed, 2);
	assert_int_equal(count_runs(w, id, AX_RUN_CANCELLED), 2);
	assert_string_equal(find_run(w, id, AX_RUN_CANCELLED, 0).reason, "backfill_cancelled");
	assert_int_equal(ax_backfill_cancel(&w->ctx, backfill, &b, NULL), AX_CONFLICT);
	assert_int_equal(ax_backfill_cancel(&w->ctx, 999, &b, NULL), AX_NOT_FOUND);
	/* what a worker holds goes on, and is counted */
	go(w, 1000);
	assert_int_equal(row(w, backfill).made, 3);
	assert_int_equal(result(w, "w1", &order.run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	assert_int_equal(row(w, backfill).done, 1);
	go(w, 1000);
	assert_int_equal(row(w, backfill).status, AX_BACKFILL_CANCELLED);
}

static void test_a_paused_task_holds_them(void **state)
{
	struct world *w = *state;
	struct ax_task task;
	int64_t id = make_task(w, "0 * * * *", NULL), fire = 0;
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 - 2 * HOUR, .to_time = T0 };
	struct ax_backfill b = started(w, &ask);
	assert_int_equal(b.made, 1);
	assert_int_equal(run_given(w, AX_OUTCOME_SUCCESS, &fire), 0);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_ENABLED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(run_given(w, AX_OUTCOME_SUCCESS, &fire), 1);
}

static void test_no_longer_than_its_task(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 * * * *", NULL);
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 - 9 * HOUR, .to_time = T0 };
	struct ax_backfill b = started(w, &ask);
	assert_int_equal(ax_task_delete(&w->ctx, id, true, "test", NULL), AX_OK);
	b = row(w, b.id);
	assert_int_equal(b.status, AX_BACKFILL_CANCELLED);
	assert_int_equal(b.end_time, w->now);
	go(w, 1000);
	assert_int_equal(row(w, b.id).made, 1);
}

/* The clock goes back: what lies in the future then is not made up. */
static void test_the_clock_goes_back(void **state)
{
	struct world *w = *state;
	int64_t fire = 0;
	w->now = T0 + 5 * HOUR;
	int64_t id = make_task(w, "0 * * * *", NULL);
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 + HOUR, .to_time = T0 + 5 * HOUR };
	struct ax_backfill b = started(w, &ask);
	w->now = T0 + HOUR + MINUTE;
	run_given(w, AX_OUTCOME_SUCCESS, &fire);
	go(w, 1000);
	assert_int_equal(row(w, b.id).made, 1);
	assert_int_equal(row(w, b.id).status, AX_BACKFILL_RUNNING);
	go(w, HOUR);
	assert_int_equal(row(w, b.id).made, 2);
}

static void test_refused(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 * * * *", NULL), each = make_task(w, "* * * * * *", NULL);
	int64_t after = make_task(w, "@after 1h", NULL), delay = make_task(w, "", delay_task);
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 - HOUR, .to_time = T0 - HOUR };
	refused(w, &ask, AX_INVALID, "before to");
	ask.to_time = T0;
	ask.max_live = AX_BACKFILL_LIVE_MAX + 1;
	refused(w, &ask, AX_INVALID, "at once");
	ask.max_live = 1;
	ask.task_id = 999;
	refused(w, &ask, AX_NOT_FOUND, "no task 999");
	ask.task_id = after;
	refused(w, &ask, AX_CONFLICT, "@after");
	ask.task_id = delay;
	refused(w, &ask, AX_CONFLICT, "only scheduled tasks");
	ask.task_id = each;
	ask.from_time = T0 - DAY;
	refused(w, &ask, AX_TOO_LARGE, "take a part of them");
	ask.from_time = T0 - AX_BACKFILL_MAX * INT64_C(1000);
	assert_int_equal(started(w, &ask).total, AX_BACKFILL_MAX);
	ask.task_id = id;
	ask.from_time = T0 + 1;
	ask.to_time = T0 + 9 * HOUR; /* they come by themselves */
	refused(w, &ask, AX_INVALID, "no fire from there to there");
}

/* One missed run of more fires than a decision takes: it is left, and the fires are a backfill's. */
static void test_more_missed_fires_than_a_decision_takes(void **state)
{
	struct world *w = *state;
	struct ax_err err = { 0 };
	struct ax_runs made;
	struct ax_run run;
	int64_t id = make_task(w, "* * * * *", NULL);
	go(w, MINUTE);
	go_quiet(w, 5 * HOUR);
	restart(w);
	go(w, 1000);
	struct ax_run missed = find_run(w, id, AX_RUN_MISSED, 0);
	assert_true(missed.covers_count > AX_FIRE_ALL_MAX);
	assert_int_equal(
		ax_run_resolve_missed(&w->ctx, missed.gid, AX_MISSED_RUN_ALL, "", &run, &made, &err), AX_TOO_LARGE);
	assert_non_null(strstr(err.msg, "backfill"));
	struct ax_backfill_ask ask = {
		.task_id = id, .from_time = missed.covers_from, .to_time = missed.covers_to + 1, .max_live = 10
	};
	struct ax_backfill b = started(w, &ask);
	assert_int_equal(b.total, missed.covers_count);
	assert_int_equal(b.made, 10);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		T(test_fires_of_a_range_are_made_up_one_after_the_other),
		T(test_newest_first_and_several_at_once),
		T(test_what_has_a_run_is_left),
		T(test_the_rule_is_that_of_the_making),
		T(test_a_task_that_comes_to_follow_another),
		T(test_cancelled),
		T(test_a_paused_task_holds_them),
		T(test_no_longer_than_its_task),
		T(test_the_clock_goes_back),
		T(test_refused),
		T(test_more_missed_fires_than_a_decision_takes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
