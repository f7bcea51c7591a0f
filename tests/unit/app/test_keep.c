/* Groups that keep less history than the server. */

#include "world.h"

#include <inttypes.h>

#include "app/groups.h"
#include "app/recover.h"
#include "core/gid.h"
#include "port/mem_store.h"
#include "port/row.h"

#define DAY INT64_C(86400000)
#define MONTH (30 * DAY)

static void set_group(struct world *w, int64_t keep_days, int64_t keep_runs)
{
	struct ax_group group = ax_group_preset("default");
	for (size_t i = 0; i < ax_mem_store_count(w->mem, &ax_group_row); i++)
		group = *(const struct ax_group *)ax_mem_store_at(w->mem, &ax_group_row, i);
	group.keep_days = keep_days;
	group.keep_runs = keep_runs;
	assert_int_equal(ax_group_update(&w->ctx, &group, &group, NULL), AX_OK);
}

struct made {
	int64_t task_id, time;
};

static enum ax_status add(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct made *made = arg;
	struct ax_run run;
	memset(&run, 0, sizeof(run));
	for (int i = 0; i < ax_run_row.n; i++)
		if (ax_field_has_text(&ax_run_row.fields[i]))
			*ax_field_text(&ax_run_row.fields[i], &run) = "";
	run.task_id = made->task_id;
	run.gid = ax_gid_least(made->time);
	run.kind = AX_KIND_SCHEDULE;
	run.fire_key = ax_sprintf(tx->arena, "%" PRId64, run.gid);
	run.status = AX_RUN_SUCCESS;
	run.create_time = run.end_time = made->time;
	return tx->ops->run_insert(tx, &run, err);
}

/* One a day, the last of them a moment ago. */
static void make_history(struct world *w, int64_t task_id, int days)
{
	for (int i = 0; i < days; i++) {
		struct made made = { task_id, w->now - 1000 - i * DAY };
		assert_int_equal(ax_store_run(w->ctx.store, w->ctx.arena, add, &made, NULL), AX_OK);
	}
}

static void retain(struct world *w)
{
	int deleted = 1;
	for (int step = 0; deleted > 0; step++) {
		assert_true(step < 100);
		assert_int_equal(ax_retain(&w->ctx, MONTH, &deleted, NULL), AX_OK);
	}
}

static void test_by_age(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "@daily", NULL);
	make_history(w, task, 60);
	retain(w);
	assert_int_equal(count_runs(w, task, AX_RUN_SUCCESS), 30);
	set_group(w, 7, 0);
	retain(w);
	assert_int_equal(count_runs(w, task, AX_RUN_SUCCESS), 7);
	set_group(w, 300, 0); /* no longer than the server keeps them */
	retain(w);
	assert_int_equal(count_runs(w, task, AX_RUN_SUCCESS), 7);
}

static void test_by_number(void **state)
{
	struct world *w = *state;
	int64_t busy = make_task(w, "@daily", NULL);
	make_history(w, busy, 20);
	set_group(w, 0, 5);
	retain(w);
	assert_int_equal(count_runs(w, busy, AX_RUN_SUCCESS), 5);
}

/* However many there are: the overview, the audit and repeated keys look at the last day. */
static void test_the_last_day_stays(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "@daily", NULL);
	for (int i = 1; i <= 50; i++) {
		struct made made = { task, w->now - i * (DAY / 25) };
		assert_int_equal(ax_store_run(w->ctx.store, w->ctx.arena, add, &made, NULL), AX_OK);
	}
	set_group(w, 1, 3);
	retain(w);
	assert_int_equal(count_runs(w, task, AX_RUN_SUCCESS), 25);
}

/* More than one step takes. */
static void test_much_of_many(void **state)
{
	struct world *w = *state;
	int64_t tasks[3];
	for (int t = 0; t < 3; t++) {
		tasks[t] = make_task(w, "@daily", NULL);
		for (int i = 0; i < 300; i++) {
			struct made made = { tasks[t], w->now - 3 * DAY - i * 1000 - t };
			assert_int_equal(ax_store_run(w->ctx.store, w->ctx.arena, add, &made, NULL), AX_OK);
		}
	}
	set_group(w, 0, 10);
	retain(w);
	for (int t = 0; t < 3; t++)
		assert_int_equal(count_runs(w, tasks[t], AX_RUN_SUCCESS), 10);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, world_up, world_down)
	const struct CMUnitTest tests[] = {
		T(test_by_age),
		T(test_by_number),
		T(test_the_last_day_stays),
		T(test_much_of_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
