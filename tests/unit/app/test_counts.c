/* What ended is counted once a minute, and a day of it is told from the counts. */

#include "world.h"

#include "app/counts.h"
#include "port/mem_store.h"
#include "port/row.h"

enum { MINUTE = 60000, DAY = 86400000 };

static int64_t next_gid = 1;

struct ending {
	int64_t time;
	enum ax_run_state state;
};

static enum ax_status add(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct ending *ending = arg;
	struct ax_run run;
	memset(&run, 0, sizeof(run));
	for (int i = 0; i < ax_run_row.n; i++)
		if (ax_field_has_text(&ax_run_row.fields[i]))
			*ax_field_text(&ax_run_row.fields[i], &run) = "";
	run.gid = run.task_id = next_gid++;
	run.kind = AX_KIND_SCHEDULE;
	run.status = ending->state;
	run.end_time = ending->time;
	return tx->ops->run_insert(tx, &run, err);
}

static void end(struct world *w, int64_t time, enum ax_run_state state)
{
	struct ending ending = { time, state };
	assert_int_equal(ax_store_run(w->ctx.store, w->ctx.arena, add, &ending, NULL), AX_OK);
}

struct day {
	int64_t now, n[32];
};

static enum ax_status look(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct day *day = arg;
	return ax_counts_of_a_day(tx, day->now, day->n, err);
}

static int64_t told(struct world *w, enum ax_run_state state)
{
	struct day day = { .now = w->now };
	assert_int_equal(ax_store_run(w->ctx.store, w->ctx.arena, look, &day, NULL), AX_OK);
	return day.n[state];
}

/* Runs that the rows of minutes hold. */
static int64_t folded(struct world *w)
{
	const struct ax_ended_minute *row;
	int64_t n = 0;
	for (size_t i = 0; (row = ax_mem_store_at(w->mem, &ax_ended_minute_row, i)) != NULL; i++)
		n += row->success + row->failed + row->timeout + row->cancelled + row->blocked + row->skipped +
			row->missed;
	return n;
}

static void test_a_day_is_told_with_and_without_counts(void **state)
{
	struct world *w = *state;
	end(w, w->now - 3 * MINUTE, AX_RUN_FAILED);
	end(w, w->now, AX_RUN_SUCCESS);
	end(w, 0, AX_RUN_WAITING);
	assert_int_equal(told(w, AX_RUN_SUCCESS), 1);
	assert_int_equal(told(w, AX_RUN_FAILED), 1);
	assert_int_equal(told(w, AX_RUN_WAITING), 1);
	for (int hour = 0; hour <= 24; hour++) /* of the day that it begins with, some at each look */
		go(w, 5000);
	assert_int_equal(folded(w), 2);
	end(w, w->now, AX_RUN_SUCCESS);
	assert_int_equal(told(w, AX_RUN_SUCCESS), 2);
	assert_int_equal(told(w, AX_RUN_FAILED), 1);
	go(w, DAY - 4 * MINUTE);
	assert_int_equal(folded(w), 3);
	assert_int_equal(told(w, AX_RUN_FAILED), 0); /* more than a day ago */
	assert_int_equal(told(w, AX_RUN_SUCCESS), 2);
	go(w, 2 * MINUTE);
	assert_int_equal(told(w, AX_RUN_SUCCESS), 1);
}

/* A transaction took its time: the run is found ended in a minute that was counted. */
static void test_an_end_that_comes_late(void **state)
{
	struct world *w = *state;
	go(w, 2 * MINUTE);
	end(w, w->now - MINUTE, AX_RUN_SUCCESS);
	go(w, MINUTE);
	assert_int_equal(folded(w), 1);
	assert_int_equal(told(w, AX_RUN_SUCCESS), 1);
}

static void test_a_clock_that_goes_back(void **state)
{
	struct world *w = *state;
	go(w, 60 * MINUTE);
	end(w, w->now, AX_RUN_SUCCESS);
	go(w, 2 * MINUTE);
	assert_int_equal(folded(w), 1);
	go(w, -30 * MINUTE);
	end(w, w->now, AX_RUN_FAILED);
	assert_int_equal(told(w, AX_RUN_FAILED), 1);
	go(w, 40 * MINUTE);
	assert_int_equal(told(w, AX_RUN_FAILED), 1);
	assert_int_equal(told(w, AX_RUN_SUCCESS), 1);
	assert_int_equal(folded(w), 2);
}

static void test_a_new_server_goes_on(void **state)
{
	struct world *w = *state;
	go(w, 2 * MINUTE);
	end(w, w->now, AX_RUN_SUCCESS);
	go_quiet(w, 90 * MINUTE);
	restart(w);
	go(w, 1000);
	go(w, 20000);
	assert_int_equal(folded(w), 1);
	assert_int_equal(told(w, AX_RUN_SUCCESS), 1);
}

static void test_old_minutes_go(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 200; i++)
		go(w, 30 * MINUTE);
	assert_in_range(ax_mem_store_count(w->mem, &ax_ended_minute_row), 1, 2 * 1440 + 1);
}

/* Schedules wait for the transaction that counts: it must not read the runs of a whole busy minute. */
static void test_a_busy_minute_is_counted_in_parts(void **state)
{
	struct world *w = *state;
	go(w, MINUTE - w->now % MINUTE + 20000);
	int64_t minute = w->now / MINUTE * MINUTE;
	for (int i = 0; i < 30000; i++)
		end(w, minute + i * 2, AX_RUN_SUCCESS);
	go(w, MINUTE);
	assert_int_equal(folded(w), 0);
	int steps = 1;
	for (; folded(w) == 0; steps++) {
		int64_t before = w->ctx.counting.upto;
		go(w, 200);
		assert_in_range(w->ctx.counting.upto - before, 1, MINUTE);
	}
	assert_int_equal(folded(w), 30000);
	assert_in_range(steps, 3, 20);
	assert_int_equal(told(w, AX_RUN_SUCCESS), 30000);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, world_up, world_down)
	const struct CMUnitTest tests[] = {
		T(test_a_day_is_told_with_and_without_counts),
		T(test_an_end_that_comes_late),
		T(test_a_clock_that_goes_back),
		T(test_a_new_server_goes_on),
		T(test_old_minutes_go),
		T(test_a_busy_minute_is_counted_in_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
