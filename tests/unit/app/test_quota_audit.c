/* Counters of what is given out that somebody spoiled are seen, told once and set right. */

#include "world.h"

#include <stdio.h>

#include "app/chore.h"
#include "app/groups.h"
#include "app/quota_audit.h"
#include "base/buf.h"
#include "port/mem_store.h"
#include "port/row.h"

enum { GROUPS = 30 };

struct spoiling {
	const char *group, *worker; /* worker NULL: the group's own */
	int64_t delta, long_delta;
};

static enum ax_status spoil_it(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct spoiling *s = arg;
	return s->worker == NULL
		? tx->ops->group_add_running(tx, s->group, s->delta, s->long_delta, err)
		: tx->ops->worker_group_add_given(tx, s->worker, s->group, s->delta, s->long_delta, err);
}

static void spoil(struct world *w, struct spoiling how)
{
	assert_int_equal(ax_store_run(w->ctx.store, w->ctx.arena, spoil_it, &how, NULL), AX_OK);
}

static enum ax_status drop_part(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	return tx->ops->worker_group_drop(tx, "w1", "default", err);
}

static struct ax_buf told;

static void keep_event(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	(void)log;
	assert_int_equal(level, AX_LOG_ERROR);
	ax_buf_printf(&told, "%s %s\n", name, fields);
}

static void listen(struct world *w)
{
	static const struct ax_log_ops ops = { keep_event };
	w->log.ops = &ops;
	ax_buf_done(&told);
	ax_buf_init(&told, 4096);
	ax_buf_adds(&told, "");
}

static int audit(struct world *w)
{
	struct ax_quota_audit audit = { .more = true };
	int differ = 0;
	for (int steps = 0; audit.more; steps++) {
		assert_true(steps < 10);
		assert_int_equal(ax_quota_audit(&w->ctx, &audit, NULL), AX_OK);
		differ += (int)audit.differ;
	}
	return differ;
}

#define ROW(w, type, i) (*(const struct type *)ax_mem_store_at((w)->mem, &type##_row, i))

static void assert_counted(struct world *w, int64_t all, int64_t in_long)
{
	assert_int_equal(ROW(w, ax_group, 0).running, all);
	assert_int_equal(ROW(w, ax_group, 0).running_long, in_long);
	assert_int_equal(ROW(w, ax_worker_group, 0).given, all);
	assert_int_equal(ROW(w, ax_worker_group, 0).given_long, in_long);
}

static void make_long(struct ax_task_def *def)
{
	def->lane = AX_RUN_LANE_LONG;
}

/* Two runs at work, one of them a long one. */
static void give_two(struct world *w)
{
	struct ax_order orders[4];
	struct ax_stop stops[4];
	trigger(w, make_task(w, "", NULL));
	trigger(w, make_task(w, "", make_long));
	assert_int_equal(poll(w, "w1", "i1", 4, orders, stops), 2);
	assert_int_equal(report(w, "w1", AX_ITEM_ACCEPTED, &orders[0].run), AX_VERDICT_APPLIED);
	assert_counted(w, 2, 1);
}

static void test_right_ones_are_left_alone(void **state)
{
	struct world *w = *state;
	listen(w);
	assert_int_equal(audit(w), 0);
	give_two(w);
	assert_int_equal(audit(w), 0);
	assert_counted(w, 2, 1);
	assert_string_equal(told.data, "");
}

static void test_a_groups(void **state)
{
	struct world *w = *state;
	give_two(w);
	listen(w);
	spoil(w, (struct spoiling){ "default", NULL, 198, 0 });
	assert_int_equal(audit(w), 1);
	assert_string_equal(told.data,
		"quota_differs \"group\":\"default\",\"worker\":\"\",\"counted\":200,\"found\":2,"
		"\"counted_long\":1,\"found_long\":1\n");
	assert_int_equal(audit(w), 0); /* told once */
	assert_counted(w, 2, 1);
	listen(w);
	spoil(w, (struct spoiling){ "default", NULL, -2, -1 });
	assert_int_equal(audit(w), 1);
	assert_counted(w, 2, 1);
	spoil(w, (struct spoiling){ "default", NULL, 0, 1 }); /* the long lane's alone */
	assert_int_equal(audit(w), 1);
	assert_counted(w, 2, 1);
}

static void test_a_workers(void **state)
{
	struct world *w = *state;
	give_two(w);
	register_worker(w, "w2", "i2", 10); /* which holds nothing */
	listen(w);
	spoil(w, (struct spoiling){ "default", "w1", -1, 0 });
	spoil(w, (struct spoiling){ "default", "w2", 30, 15 });
	assert_int_equal(audit(w), 2);
	assert_string_equal(told.data,
		"quota_differs \"group\":\"default\",\"worker\":\"w1\",\"counted\":1,\"found\":2,"
		"\"counted_long\":1,\"found_long\":1\n"
		"quota_differs \"group\":\"default\",\"worker\":\"w2\",\"counted\":30,\"found\":0,"
		"\"counted_long\":15,\"found_long\":0\n");
	assert_int_equal(audit(w), 0);
	assert_counted(w, 2, 1);
	assert_int_equal(ROW(w, ax_worker_group, 1).given, 0);
}

/* Without it no run of the worker could end, and no tick pass by its lease. */
static void test_a_part_that_is_gone_comes_back(void **state)
{
	struct world *w = *state;
	give_two(w);
	int64_t gid = find_run(w, 1, AX_RUN_DISPATCHED, 0).gid;
	listen(w);
	assert_int_equal(ax_store_run(w->ctx.store, w->ctx.arena, drop_part, NULL, NULL), AX_OK);
	assert_int_equal(audit(w), 1);
	assert_string_equal(told.data,
		"quota_differs \"group\":\"default\",\"worker\":\"w1\",\"counted\":0,\"found\":2,"
		"\"counted_long\":0,\"found_long\":1\n");
	assert_int_equal(audit(w), 0);
	assert_counted(w, 2, 1);
	struct ax_run run = run_row(w, gid);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	assert_counted(w, 1, 1);
}

static void test_all_groups_in_steps(void **state)
{
	struct world *w = *state;
	char key[8];
	for (int i = 0; i < GROUPS; i++) {
		struct ax_group group = ax_group_preset(key), made;
		snprintf(key, sizeof(key), "g%02d", i);
		assert_int_equal(ax_group_create(&w->ctx, &group, &made, NULL), AX_OK);
		spoil(w, (struct spoiling){ key, NULL, 1 + i, 0 });
	}
	listen(w);
	struct ax_quota_audit first = { .more = true };
	assert_int_equal(ax_quota_audit(&w->ctx, &first, NULL), AX_OK);
	assert_true(first.more);
	assert_true(first.differ > 0 && first.differ < GROUPS);
	assert_int_equal(audit(w), GROUPS - first.differ);
	assert_int_equal(audit(w), 0);
}

static enum ax_status do_nothing(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)tx, (void)arg, (void)err;
	return AX_OK;
}

static void test_one_server_does_it(void **state)
{
	struct world *w = *state;
	struct ax_seat other = w->seat;
	struct ax_ctx there = w->ctx;
	bool mine;
	w->ctx.store->sole = false;
	other.incarnation++;
	there.seat = &other;
	assert_int_equal(ax_chore_run(&there, "quotas", do_nothing, NULL, &mine, NULL), AX_OK);
	assert_true(mine);
	listen(w);
	spoil(w, (struct spoiling){ "default", NULL, 1, 0 });
	assert_int_equal(audit(w), 0);
	assert_int_equal(ROW(w, ax_group, 0).running, 1);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, world_up, world_down)
	const struct CMUnitTest tests[] = {
		T(test_right_ones_are_left_alone),
		T(test_a_groups),
		T(test_a_workers),
		T(test_a_part_that_is_gone_comes_back),
		T(test_all_groups_in_steps),
		T(test_one_server_does_it),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ax_buf_done(&told);
	return failed;
}
