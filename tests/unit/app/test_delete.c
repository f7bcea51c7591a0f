/* A task that is being deleted by force: it stays so until it is gone. */

#include "world.h"

#include "app/backfill.h"
#include "app/canary.h"
#include "app/events.h"
#include "app/failure_acts.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "core/limits.h"
#include "core/task_def.h"
#include "port/mem_store.h"
#include "port/row.h"

static void once(struct ax_task_def *def)
{
	def->retry_count = 0;
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 10;
}

static struct ax_run give(struct world *w)
{
	struct ax_order order;
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	return order.run;
}

static void set_status(struct world *w, int64_t id, enum ax_task_status status, enum ax_status wanted)
{
	struct ax_task task;
	assert_int_equal(ax_task_set_status(&w->ctx, id, status, "test", &task, NULL, NULL), wanted);
}

static void end_task(struct world *w, int64_t id, enum ax_status wanted)
{
	assert_int_equal(ax_task_delete(&w->ctx, id, true, "test", NULL), wanted);
}

/* A task with a run of its past, which failed, and one that its worker still holds: it is being deleted. */
static int64_t make_ending(struct world *w, struct ax_run *ret_failed, struct ax_run *ret_given)
{
	register_worker(w, "w1", "i1", 10);
	int64_t id = make_task(w, "@hourly", once);
	*ret_failed = trigger(w, id);
	struct ax_run first = give(w);
	result(w, "w1", &first, AX_OUTCOME_FAILED);
	go(w, 2 * 3600 * 1000);
	trigger(w, id);
	*ret_given = give(w);
	end_task(w, id, AX_CONFLICT);
	return id;
}

static void test_it_says_so_until_it_is_gone(void **state)
{
	struct world *w = *state;
	struct ax_run failed, given;
	int64_t id = make_ending(w, &failed, &given);
	assert_int_equal(task_row(w, id).status, AX_TASK_DELETING);
	assert_int_equal(task_row(w, id).next_trigger_time, 0);
	go(w, 1);
	end_task(w, id, AX_CONFLICT);
	restart(w);
	go(w, 1);
	assert_int_equal(task_row(w, id).status, AX_TASK_DELETING);
	struct ax_err err;
	assert_int_equal(ax_task_delete(&w->ctx, id, false, "test", &err), AX_CONFLICT);
	assert_non_null(strstr(err.msg, "asked to stop; delete it again")); /* forcing it is not what is missing */
	result(w, "w1", &given, AX_OUTCOME_CANCELLED);
	go(w, 2 * 3600 * 1000);
	assert_int_equal(task_row(w, id).status, AX_TASK_DELETING);
	assert_int_equal(ax_task_delete(&w->ctx, id, false, "test", NULL), AX_OK);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_task_row), 0);
}

static void refused(enum ax_status status, const struct ax_err *err)
{
	assert_int_equal(status, AX_CONFLICT);
	assert_non_null(strstr(err->msg, "is being deleted"));
}

static void test_nobody_brings_it_back(void **state)
{
	struct world *w = *state;
	struct ax_run failed, given, run;
	struct ax_runs made;
	struct ax_err err;
	struct ax_backfill backfill;
	struct ax_canary canary, ask = { .percent = 10 };
	bool existed;
	int64_t id = make_ending(w, &failed, &given);
	size_t runs = ax_mem_store_count(w->mem, &ax_run_row);
	struct ax_task task = task_row(w, id), changed;
	struct ax_task_def def = task.def;
	def.notes = "changed";
	refused(ax_task_set_status(&w->ctx, id, AX_TASK_ENABLED, "test", &changed, NULL, &err), &err);
	refused(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "test", &changed, NULL, &err), &err);
	refused(ax_task_update(&w->ctx, id, task.version, &def, "test", &changed, &err), &err);
	struct ax_trigger by_hand = { .task_id = id, .params = "", .key = "" };
	refused(ax_task_trigger(&w->ctx, &by_hand, &run, &existed, &err), &err);
	refused(ax_run_rerun(&w->ctx, failed.gid, "", false, &run, &err), &err);
	struct ax_backfill_ask past = { .task_id = id, .from_time = T0, .to_time = w->now, .max_live = 1 };
	refused(ax_backfill_create(&w->ctx, &past, "test", &backfill, &err), &err);
	def.biz_param = "{\"v\":2}";
	ask.task_id = id;
	ask.base_version = task.version;
	refused(ax_canary_begin(&w->ctx, &ask, &def, "test", &canary, &err), &err);
	const struct ax_run *missed;
	for (size_t i = 0; (missed = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		if (missed->status == AX_RUN_MISSED)
			refused(ax_run_resolve_missed(&w->ctx, missed->gid, AX_MISSED_RUN, "", &run, &made, &err),
				&err);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_run_row), runs);
	assert_int_equal(task_row(w, id).status, AX_TASK_DELETING);
}

static void test_its_failures_are_not_run_again(void **state)
{
	struct world *w = *state;
	struct ax_run failed, given;
	make_ending(w, &failed, &given);
	go(w, 2000);
	const struct ax_failure_group *group = ax_mem_store_at(w->mem, &ax_failure_group_row, 0);
	assert_non_null(group);
	struct ax_failure_retry retry = { .id = group->id, .limit = 10, .per_minute = 60 };
	assert_int_equal(ax_failure_retry_all(&w->ctx, &retry, NULL), AX_OK);
	assert_int_equal(retry.made, 0);
	assert_int_equal(retry.left, 0);
}

/* One that was never enabled, too: what was made by hand is stopped. */
static void test_a_draft_that_is_being_deleted(void **state)
{
	struct world *w = *state;
	struct ax_task_def def = ax_def_preset();
	enum ax_task_status created = AX_TASK_CREATED;
	struct ax_task task;
	int failed;
	def.task_name = "draft";
	def.executor_key = "exec";
	def.task_type = AX_TASK_DELAY;
	register_worker(w, "w1", "i1", 10);
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &created, 1, "test", &task, &failed, NULL), AX_OK);
	trigger(w, task.id);
	struct ax_run given = give(w);
	end_task(w, task.id, AX_CONFLICT);
	assert_int_equal(task_row(w, task.id).status, AX_TASK_DELETING);
	set_status(w, task.id, AX_TASK_ENABLED, AX_CONFLICT);
	result(w, "w1", &given, AX_OUTCOME_CANCELLED);
	end_task(w, task.id, AX_OK);
}

static int64_t make_after(struct world *w, const char *name, int64_t upstream, enum ax_status wanted)
{
	struct ax_task_def def = ax_def_preset();
	enum ax_task_status enabled = AX_TASK_ENABLED;
	struct ax_task task = { 0 };
	int failed;
	def.task_name = name;
	def.executor_key = "exec";
	def.task_type = AX_TASK_DELAY;
	def.overlap = AX_OVERLAP_ALLOW;
	def.overlap_max = 10;
	def.upstreams = upstream == 0 ? "" : ax_sprintf(&w->arena, "%lld", (long long)upstream);
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &enabled, 1, "test", &task, &failed, NULL), wanted);
	return task.id;
}

static void test_a_chain_leaves_it_out(void **state)
{
	struct world *w = *state;
	register_worker(w, "w1", "i1", 10);
	int64_t a = make_after(w, "a", 0, AX_OK), b = make_after(w, "b", a, AX_OK);
	trigger(w, b);
	struct ax_run given = give(w);
	end_task(w, b, AX_CONFLICT);
	make_after(w, "c", b, AX_INVALID); /* nobody goes behind it any more */
	trigger(w, a);
	struct ax_run up = give(w);
	assert_int_equal(up.task_id, a);
	result(w, "w1", &up, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, b, AX_RUN_WAITING), 0);
	result(w, "w1", &given, AX_OUTCOME_CANCELLED);
	end_task(w, b, AX_OK);
}

static void test_an_event_passes_it_over(void **state)
{
	struct world *w = *state;
	struct ax_task_def def = ax_def_preset();
	enum ax_task_status enabled = AX_TASK_ENABLED;
	struct ax_task task;
	struct ax_event event;
	struct ax_event_tasks tasks;
	bool existed;
	int failed;
	def.task_name = "listener";
	def.executor_key = "exec";
	def.task_type = AX_TASK_EVENT;
	def.event_name = "order.paid";
	register_worker(w, "w1", "i1", 10);
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &enabled, 1, "test", &task, &failed, NULL), AX_OK);
	trigger(w, task.id);
	give(w);
	end_task(w, task.id, AX_CONFLICT);
	struct ax_event_sent sent = {
		.event_name = "order.paid", .event_id = "", .event_key = "", .run_key = "", .payload = "", .sent_by = ""
	};
	assert_int_equal(ax_event_send(&w->ctx, &sent, &event, &tasks, &existed, NULL), AX_OK);
	assert_int_equal(tasks.n, 1);
	assert_int_equal(tasks.at[0].fate, AX_EVENT_DELETING);
	assert_int_equal(event.runs, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(test_it_says_so_until_it_is_gone),
		TEST(test_nobody_brings_it_back),
		TEST(test_its_failures_are_not_run_again),
		TEST(test_a_draft_that_is_being_deleted),
		TEST(test_a_chain_leaves_it_out),
		TEST(test_an_event_passes_it_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
