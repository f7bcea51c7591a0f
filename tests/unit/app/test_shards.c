/* Fires that are split into shards: how parent and shards are made, what they share, how they end. */

#include "world.h"

#include "app/recover.h"
#include "app/runs.h"
#include "app/task_check.h"
#include "app/tasks.h"
#include "app/workers.h"
#include "core/limits.h"
#include "port/mem_store.h"
#include "port/row.h"

enum { MOST = 20 };

static void four(struct ax_task_def *def)
{
	def->shard_count = 4;
}

static void three_tries_of_two(struct ax_task_def *def)
{
	def->shard_count = 2;
	def->retry_count = 1;
}

static void four_without_retries(struct ax_task_def *def)
{
	def->shard_count = 4;
	def->retry_count = 0;
}

static void thousand(struct ax_task_def *def)
{
	def->shard_count = 1000;
}

static struct ax_run trigger_day(struct world *w, int64_t task)
{
	return trigger_how(w, (struct ax_trigger){ .task_id = task, .params = "{\"day\":1}" });
}

/* The n-th shard of a run, from 1. */
static struct ax_run shard(struct world *w, const struct ax_run *parent, int64_t n)
{
	const struct ax_run *run;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		if (run->parent == parent->gid && run->shard == n)
			return run_row(w, run->gid);
	fail_msg("run %lld has no shard %lld", (long long)parent->gid, (long long)n);
	return (struct ax_run){ 0 };
}

static int count_shards(struct world *w, const struct ax_run *parent)
{
	const struct ax_run *run;
	int n = 0;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		n += run->parent == parent->gid;
	return n;
}

/* The shards are given to w1: `given` by their number. */
static void take(struct world *w, int n, struct ax_run given[MOST])
{
	struct ax_order orders[MOST];
	assert_int_equal(poll(w, "w1", "i1", n, orders, NULL), n);
	for (int i = 0; i < n; i++) {
		assert_string_equal(orders[i].run.params, run_row(w, orders[i].run.parent).params);
		given[orders[i].run.shard] = orders[i].run;
	}
}

static int64_t group_running(struct world *w)
{
	const struct ax_group *group = ax_mem_store_at(w->mem, &ax_group_row, 0);
	return group->running;
}

static void test_a_fire_makes_a_parent_and_its_shards_at_once(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "@hourly", four);
	go(w, 3600000);
	struct ax_run parent = find_run(w, task, AX_RUN_RUNNING, 0);
	assert_true(ax_run_is_parent(&parent));
	assert_int_equal(parent.fence, 0);
	assert_int_equal(parent.shard_total, 4);
	assert_int_equal(parent.start_time, w->now);
	assert_int_equal(count_shards(w, &parent), 4);
	for (int64_t n = 1; n <= 4; n++) {
		struct ax_run run = shard(w, &parent, n);
		assert_int_equal(run.status, AX_RUN_WAITING);
		assert_int_equal(run.hold, AX_HOLD_NONE);
		assert_int_equal(run.shard_total, 4);
		assert_int_equal(run.kind, parent.kind);
		assert_string_equal(run.fire_key, parent.fire_key);
		assert_string_equal(run.trace_id, parent.trace_id);
		assert_int_equal(run.trigger_time, parent.trigger_time);
		assert_int_equal(run.rank, parent.rank);
		assert_int_equal(run.version, parent.version);
		assert_true(run.gid > parent.gid);
		assert_false(ax_run_is_parent(&run));
	}
}

/* B139 */
static void test_quotas_count_shards_and_never_the_parent(void **state)
{
	struct world *w = *state;
	struct ax_run parent = trigger_day(w, make_task(w, "", four)), given[MOST];
	assert_int_equal(parent.status, AX_RUN_RUNNING);
	assert_int_equal(group_running(w), 0);
	take(w, 3, given);
	assert_int_equal(group_running(w), 3);
	result(w, "w1", &given[1], AX_OUTCOME_SUCCESS);
	assert_int_equal(group_running(w), 2);
	struct ax_run row;
	assert_int_equal(ax_run_cancel(&w->ctx, parent.gid, "", &row, NULL), AX_OK);
	assert_int_equal(group_running(w), 2);
	result(w, "w1", &given[2], AX_OUTCOME_CANCELLED);
	result(w, "w1", &given[3], AX_OUTCOME_CANCELLED);
	assert_int_equal(group_running(w), 0);
}

static void test_the_parent_succeeds_with_its_last_shard(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "", four);
	struct ax_run parent = trigger_day(w, task), given[MOST];
	take(w, 4, given);
	for (int n = 1; n <= 4; n++) {
		assert_int_equal(run_row(w, parent.gid).status, AX_RUN_RUNNING);
		assert_int_equal(task_row(w, task).last_run_gid, 0);
		w->now += 1000;
		result(w, "w1", &given[n], AX_OUTCOME_SUCCESS);
	}
	struct ax_run row = run_row(w, parent.gid);
	assert_int_equal(row.status, AX_RUN_SUCCESS);
	assert_int_equal(row.end_time, w->now);
	assert_string_equal(row.reason, "");
	assert_int_equal(task_row(w, task).last_run_gid, parent.gid); /* the copy in lists is the parent's */
}

static enum ax_outcome outcome_of(char letter)
{
	return letter == 'S'    ? AX_OUTCOME_SUCCESS
		: letter == 'F' ? AX_OUTCOME_FAILED
		: letter == 'T' ? AX_OUTCOME_TIMEOUT
				: AX_OUTCOME_CANCELLED;
}

/* The four shards end so (C: a person cancels it); how does the parent? One that does not succeed leaves the others
 * alone. */
static void test_how_the_parent_ends(void **state)
{
	static const struct {
		const char *shards;
		enum ax_run_state parent;
		const char *reason, *message;
	} cases[] = {
		{ "SSSS", AX_RUN_SUCCESS, "", "" },
		{ "SFSS", AX_RUN_FAILED, "shards", "1 of 4 shards did not succeed; shard 2 FAILED: said so" },
		{ "TCFS", AX_RUN_FAILED, "shards", "3 of 4 shards did not succeed; shard 3 FAILED: said so" },
		{ "SCTS", AX_RUN_TIMEOUT, "shards", "2 of 4 shards did not succeed; shard 3 TIMEOUT: said so" },
		{ "SSSC", AX_RUN_CANCELLED, "shards", "1 of 4 shards did not succeed; shard 4 CANCELLED: said so" },
	};
	struct world *w = *state;
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_run parent = trigger_day(w, make_task(w, "", four_without_retries)), given[MOST], row;
		take(w, 4, given);
		for (int n = 1; n <= 4; n++) {
			enum ax_outcome outcome = outcome_of(cases[i].shards[n - 1]);
			assert_int_equal(run_row(w, parent.gid).status, AX_RUN_RUNNING);
			if (outcome == AX_OUTCOME_CANCELLED)
				assert_int_equal(ax_run_cancel(&w->ctx, given[n].gid, "", &row, NULL), AX_OK);
			result(w, "w1", &given[n], outcome);
		}
		row = run_row(w, parent.gid);
		assert_int_equal(row.status, cases[i].parent);
		assert_string_equal(row.reason, cases[i].reason);
		assert_string_equal(row.result_msg, cases[i].message);
		assert_int_equal(row.deadline_time, 0);
	}
}

static void test_a_shard_is_retried_alone(void **state)
{
	struct world *w = *state;
	struct ax_run parent = trigger_day(w, make_task(w, "", three_tries_of_two)), given[MOST], row;
	take(w, 2, given);
	result(w, "w1", &given[1], AX_OUTCOME_FAILED);
	result(w, "w1", &given[2], AX_OUTCOME_SUCCESS);
	assert_int_equal(shard(w, &parent, 1).status, AX_RUN_RETRYING);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_RUNNING);
	assert_int_equal(
		ax_run_retry_now(&w->ctx, parent.gid, &row, NULL), AX_OK); /* of the parent: all that wait so */
	assert_int_equal(row.gid, parent.gid);
	assert_int_equal(shard(w, &parent, 1).status, AX_RUN_WAITING);
	assert_int_equal(ax_run_retry_now(&w->ctx, parent.gid, &row, NULL), AX_CONFLICT);
	take(w, 1, given);
	assert_int_equal(given[1].fence, 2);
	result(w, "w1", &given[1], AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_SUCCESS);
}

/* B110 */
static void test_a_late_result_of_a_shard_moves_no_ended_parent(void **state)
{
	struct world *w = *state;
	struct ax_run parent = trigger_day(w, make_task(w, "", four_without_retries)), given[MOST];
	go(w, 46000);
	register_worker(w, "w1", "i1", 10);
	take(w, 4, given);
	for (int n = 2; n <= 4; n++)
		result(w, "w1", &given[n], AX_OUTCOME_SUCCESS);
	report(w, "w1", AX_ITEM_STARTED, &given[1]);
	for (int second = 0; second < 75; second++) { /* the hard limit ends it, heartbeats or not */
		go(w, 1000);
		report(w, "w1", AX_ITEM_HEARTBEAT, &given[1]);
	}
	struct ax_run ended = run_row(w, parent.gid);
	assert_int_equal(ended.status, AX_RUN_TIMEOUT);
	assert_int_equal(result(w, "w1", &given[1], AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
	assert_int_equal(run_row(w, parent.gid).rev, ended.rev);
}

/* B132, B194 */
static void test_a_cancel_of_the_parent_reaches_every_shard(void **state)
{
	struct world *w = *state;
	struct ax_run parent = trigger_day(w, make_task(w, "", four)), given[MOST], row;
	take(w, 2, given);
	result(w, "w1", &given[1], AX_OUTCOME_FAILED); /* RETRYING */
	assert_int_equal(ax_run_cancel(&w->ctx, parent.gid, "wrong day", &row, NULL), AX_OK);
	assert_int_equal(row.status, AX_RUN_RUNNING);
	assert_int_equal(row.cancel, AX_CANCEL_ASKED);
	for (int64_t n = 1; n <= 4; n++) {
		struct ax_run one = shard(w, &parent, n);
		assert_int_equal(one.status, n == 2 ? AX_RUN_DISPATCHED : AX_RUN_CANCELLED);
		assert_string_equal(one.result_msg, "wrong day");
	}
	assert_int_equal(shard(w, &parent, 2).cancel, AX_CANCEL_ASKED);
	result(w, "w1", &given[2], AX_OUTCOME_CANCELLED);
	row = run_row(w, parent.gid);
	assert_int_equal(row.status, AX_RUN_CANCELLED);
	assert_int_equal(row.cancel, AX_CANCEL_STOPPED);
	assert_string_equal(row.reason, "cancelled");
	assert_string_equal(row.result_msg, "wrong day");
}

static void test_a_cancel_before_any_claim_ends_all_at_once(void **state)
{
	struct world *w = *state;
	struct ax_run parent = trigger_day(w, make_task(w, "", four)), row;
	assert_int_equal(ax_run_cancel(&w->ctx, parent.gid, "", &row, NULL), AX_OK);
	assert_int_equal(row.status, AX_RUN_CANCELLED);
	assert_int_equal(row.cancel, AX_CANCEL_STOPPED);
}

static void test_success_of_all_beats_a_cancel_that_came_too_late(void **state)
{
	struct world *w = *state;
	struct ax_run parent = trigger_day(w, make_task(w, "", four)), given[MOST], row;
	take(w, 4, given);
	assert_int_equal(ax_run_cancel(&w->ctx, parent.gid, "", &row, NULL), AX_OK);
	for (int n = 1; n <= 4; n++)
		result(w, "w1", &given[n], AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_SUCCESS);
}

static void test_overlap_knows_parents_only(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "*/5 * * * *", four);
	struct ax_run given[MOST];
	go(w, 300000);
	struct ax_run first = find_run(w, task, AX_RUN_RUNNING, 0);
	go(w, 300000);
	go(w, 300000); /* two more fires: one run waits for both */
	struct ax_run second = find_run(w, task, AX_RUN_WAITING, 4);
	assert_true(ax_run_is_parent(&second));
	assert_int_equal(second.hold, AX_HOLD_OVERLAP);
	assert_int_equal(second.covers_count, 1);
	assert_int_equal(count_shards(w, &second), 0);
	go(w, 46000);
	register_worker(w, "w1", "i1", 10);
	take(w, 4, given);
	for (int n = 1; n <= 4; n++)
		result(w, "w1", &given[n], AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, first.gid).status, AX_RUN_SUCCESS);
	go(w, 1);
	assert_int_equal(run_row(w, second.gid).status, AX_RUN_RUNNING);
	assert_int_equal(count_shards(w, &second), 4);
}

static void skip_overlap(struct ax_task_def *def)
{
	four(def);
	def->overlap = AX_OVERLAP_SKIP;
}

static void replace(struct ax_task_def *def)
{
	four(def);
	def->overlap = AX_OVERLAP_REPLACE;
}

static void test_what_never_begins_has_no_shards(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "*/5 * * * *", skip_overlap);
	go(w, 300000);
	go(w, 300000);
	struct ax_run skipped = find_run(w, task, AX_RUN_SKIPPED, 0);
	assert_int_equal(count_shards(w, &skipped), 0);
	go_quiet(w, 7200000);
	go(w, 1);
	struct ax_run missed = find_run(w, task, AX_RUN_MISSED, 0);
	assert_int_equal(count_shards(w, &missed), 0);
}

static void test_replace_cancels_the_old_parent_with_its_shards(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "*/5 * * * *", replace);
	go(w, 300000);
	struct ax_run first = find_run(w, task, AX_RUN_RUNNING, 0);
	go(w, 300000);
	assert_int_equal(run_row(w, first.gid).status, AX_RUN_CANCELLED);
	assert_string_equal(run_row(w, first.gid).reason, "replaced");
	struct ax_run second = find_run(w, task, AX_RUN_RUNNING, 0);
	assert_int_equal(count_shards(w, &second), 4);
}

static void test_a_pause_holds_shards_that_wait(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "*/5 * * * *", four);
	struct ax_task changed;
	struct ax_runs out;
	struct ax_run given[MOST];
	struct ax_order order;
	go(w, 300000);
	register_worker(w, "w1", "i1", 10);
	struct ax_run parent = find_run(w, task, AX_RUN_RUNNING, 0);
	take(w, 1, given);
	assert_int_equal(ax_task_set_status(&w->ctx, task, AX_TASK_PAUSED, "t", &changed, &out, NULL), AX_OK);
	assert_int_equal(out.n, 1);
	assert_int_equal(out.at[0].gid, parent.gid);
	assert_int_equal(shard(w, &parent, 4).hold, AX_HOLD_PAUSED);
	assert_int_equal(poll(w, "w1", "i1", 5, &order, NULL), 0);
	result(w, "w1", &given[1], AX_OUTCOME_SUCCESS); /* what is out goes on */
	assert_int_equal(ax_task_set_status(&w->ctx, task, AX_TASK_ENABLED, "t", &changed, NULL, NULL), AX_OK);
	take(w, 3, given);
	for (int n = 2; n <= 4; n++)
		result(w, "w1", &given[n], AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_SUCCESS);
}

static void test_a_delayed_run_is_split_when_it_is_due(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "", four);
	struct ax_trigger ask = { .task_id = task, .params = "", .key = "", .run_at = w->now + 60000 };
	struct ax_run run;
	bool existed;
	assert_int_equal(ax_task_trigger(&w->ctx, &ask, &run, &existed, NULL), AX_OK);
	assert_int_equal(run.status, AX_RUN_PENDING);
	assert_int_equal(count_shards(w, &run), 0);
	int64_t next = go(w, 60000);
	assert_true(next != 0 && next <= w->now); /* the next look is at once */
	go(w, 1);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RUNNING);
	assert_int_equal(count_shards(w, &run), 4);
}

static void test_a_run_is_split_as_its_version_says(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "*/5 * * * *", four);
	go(w, 300000);
	struct ax_run first = find_run(w, task, AX_RUN_RUNNING, 0), row;
	go(w, 300000);
	struct ax_run second = find_run(w, task, AX_RUN_WAITING, 4);
	struct ax_task changed, old = task_row(w, task);
	old.def.shard_count = 2;
	assert_int_equal(ax_task_update(&w->ctx, task, old.version, &old.def, "t", &changed, NULL), AX_OK);
	assert_int_equal(ax_run_cancel(&w->ctx, first.gid, "", &row, NULL), AX_OK);
	go(w, 1);
	assert_int_equal(count_shards(w, &second), 4);
	assert_int_equal(ax_run_cancel(&w->ctx, second.gid, "", &row, NULL), AX_OK);
	assert_int_equal(ax_run_rerun(&w->ctx, second.gid, "", false, &row, NULL), AX_OK);
	assert_int_equal(count_shards(w, &row), 2); /* a rerun is of the task as it is */
}

static void test_only_the_failed_shards_are_rerun(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	int64_t task = make_task(w, "", four_without_retries);
	struct ax_run parent = trigger_day(w, task), given[MOST], again, row;
	take(w, 4, given);
	assert_int_equal(ax_run_rerun(&w->ctx, parent.gid, "", true, &again, &err), AX_CONFLICT); /* it lives */
	for (int n = 1; n <= 4; n++)
		result(w, "w1", &given[n], n % 2 == 0 ? AX_OUTCOME_FAILED : AX_OUTCOME_SUCCESS);
	assert_int_equal(ax_run_rerun(&w->ctx, shard(w, &parent, 2).gid, "", false, &again, &err), AX_CONFLICT);
	struct ax_task changed, old = task_row(w, task);
	old.def.shard_count = 7; /* numbers stay what they were */
	assert_int_equal(ax_task_update(&w->ctx, task, old.version, &old.def, "t", &changed, NULL), AX_OK);
	assert_int_equal(ax_run_rerun(&w->ctx, parent.gid, "", true, &again, NULL), AX_OK);
	assert_int_equal(again.status, AX_RUN_RUNNING);
	assert_int_equal(again.rerun_of, parent.gid);
	assert_int_equal(count_shards(w, &again), 2);
	assert_int_equal(ax_run_rerun(&w->ctx, parent.gid, "", true, &row, &err), AX_CONFLICT); /* once is enough */
	assert_string_equal(err.field, "failed_only");
	assert_int_equal(shard(w, &again, 2).shard_total, 4);
	take(w, 2, given);
	assert_string_equal(given[4].fire_key, again.fire_key);
	result(w, "w1", &given[2], AX_OUTCOME_SUCCESS);
	result(w, "w1", &given[4], AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, again.gid).status, AX_RUN_SUCCESS);
	assert_int_equal(ax_run_rerun(&w->ctx, again.gid, "", true, &row, &err), AX_CONFLICT); /* all did */
	assert_string_equal(err.field, "failed_only");
}

/* The rerun waits until the run whose shards it repeats is gone. */
static void test_a_rerun_of_shards_that_are_gone_ends(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "@hourly", four_without_retries);
	struct ax_run first = trigger_day(w, task), given[MOST], again, row;
	take(w, 4, given);
	for (int n = 1; n <= 4; n++)
		result(w, "w1", &given[n], AX_OUTCOME_FAILED);
	go(w, 1000);
	struct ax_run second = trigger_day(w, task);
	assert_int_equal(ax_run_rerun(&w->ctx, first.gid, "", true, &again, NULL), AX_OK);
	assert_int_equal(again.hold, AX_HOLD_OVERLAP);
	int deleted;
	assert_int_equal(ax_retain(&w->ctx, 500, &deleted, NULL), AX_OK);
	assert_int_equal(deleted, 5);
	assert_int_equal(ax_run_cancel(&w->ctx, second.gid, "", &row, NULL), AX_OK);
	go(w, 1);
	assert_int_equal(run_row(w, again.gid).status, AX_RUN_CANCELLED);
	assert_string_equal(run_row(w, again.gid).reason, "nothing_to_rerun");
}

/* B132, B194 */
static void test_a_forced_delete_reaches_every_shard(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "", four);
	struct ax_run parent = trigger_day(w, task), given[MOST];
	take(w, 1, given);
	assert_int_equal(ax_task_delete(&w->ctx, task, false, "t", NULL), AX_CONFLICT);
	assert_int_equal(ax_task_delete(&w->ctx, task, true, "t", NULL), AX_CONFLICT); /* one is at a worker */
	for (int64_t n = 2; n <= 4; n++)
		assert_int_equal(shard(w, &parent, n).status, AX_RUN_CANCELLED);
	result(w, "w1", &given[1], AX_OUTCOME_CANCELLED);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_CANCELLED);
	assert_int_equal(ax_task_delete(&w->ctx, task, true, "t", NULL), AX_OK);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_CANCELLED); /* its history stays */
	assert_int_equal(count_shards(w, &parent), 4);
}

/* A transaction ends behind the fire that made a thousand shards; further fires are for the next ones, at once. */
static void test_many_shards_are_made_in_several_transactions(void **state)
{
	struct world *w = *state;
	int64_t tasks[5], made = 0;
	for (size_t i = 0; i < AX_COUNT(tasks); i++)
		tasks[i] = make_task(w, "@hourly", thousand);
	int64_t next = go(w, 3600000);
	for (size_t i = 0; i < AX_COUNT(tasks); i++)
		made += count_runs(w, tasks[i], AX_RUN_RUNNING);
	assert_int_equal(made, 2); /* two transactions */
	for (int i = 0; i < 2; i++) {
		assert_true(next != 0 && next <= w->now);
		next = go(w, 1);
	}
	for (size_t i = 0; i < AX_COUNT(tasks); i++) {
		struct ax_run parent = find_run(w, tasks[i], AX_RUN_RUNNING, 0);
		assert_int_equal(count_shards(w, &parent), 1000);
	}
}

/* What waits to be split does not wait for a clock that went back. */
static void test_a_clock_that_went_back_does_not_keep_shards_from_being_made(void **state)
{
	struct world *w = *state;
	int64_t task = make_task(w, "@hourly", four);
	struct ax_trigger ask = { .task_id = task, .params = "", .key = "" };
	struct ax_run first, second, row;
	bool existed;
	assert_int_equal(ax_task_trigger(&w->ctx, &ask, &first, &existed, NULL), AX_OK);
	assert_int_equal(ax_task_trigger(&w->ctx, &ask, &second, &existed, NULL), AX_OK);
	go(w, 1);
	assert_int_equal(ax_run_cancel(&w->ctx, first.gid, "", &row, NULL), AX_OK);
	assert_int_equal(run_row(w, second.gid).hold, AX_HOLD_SPREAD);
	go(w, -1800000);
	go(w, 1);
	assert_int_equal(count_shards(w, &second), 4);
}

static void test_one_failure_for_all_shards(void **state)
{
	struct world *w = *state;
	struct ax_run parent = trigger_day(w, make_task(w, "", four_without_retries)), given[MOST];
	take(w, 4, given);
	for (int n = 1; n <= 4; n++)
		result(w, "w1", &given[n], AX_OUTCOME_FAILED);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_failure_row), 1);
	const struct ax_failure *failure = ax_mem_store_at(w->mem, &ax_failure_row, 0);
	assert_int_equal(failure->gid, parent.gid);
}

/* --- broadcasts --------------------------------------------------------------------------------------------------- */

static void broadcast(struct ax_task_def *def)
{
	def->broadcast = true;
	def->lost_limit = 1;
}

/* Ticks and polls of the others go on; w2 does not speak. */
static void live_without_w2(struct world *w, int64_t seconds)
{
	struct ax_order none;
	for (int64_t i = 0; i < seconds; i++) {
		go(w, 1000);
		if (i % 5 == 0)
			assert_int_equal(poll(w, "w1", "i1", 5, &none, NULL), 0);
	}
}

static void test_a_broadcast_is_for_every_worker_that_is_online(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	register_worker(w, "w3", "i1", 10);
	register_worker(w, "w2", "i1", 10);
	register_worker(w, "w4", "i1", 10);
	assert_int_equal(ax_worker_drain(&w->ctx, "w4", true, NULL), AX_OK);
	struct ax_run parent = trigger_day(w, make_task(w, "", broadcast));
	assert_int_equal(parent.status, AX_RUN_RUNNING);
	assert_int_equal(parent.shard_total, 3);
	for (int64_t n = 1; n <= 3; n++) {
		const char *name = ax_sprintf(&w->arena, "w%lld", (long long)n);
		assert_string_equal(shard(w, &parent, n).worker, name);
		assert_int_equal(poll(w, name, "i1", 5, &order, NULL), 1); /* its own and no other */
		assert_int_equal(order.run.shard, n);
		assert_string_equal(order.run.params, "{\"day\":1}");
		result(w, name, &order.run, AX_OUTCOME_SUCCESS);
	}
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_SUCCESS);
}

/* B158 */
static void test_a_broadcast_to_500_workers(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 499; i++)
		register_worker(w, ax_sprintf(&w->arena, "more-%03d", i), "i1", 10);
	struct ax_run parent = trigger_day(w, make_task(w, "", broadcast));
	assert_int_equal(parent.shard_total, 500);
	assert_int_equal(count_shards(w, &parent), 500);
	assert_string_equal(shard(w, &parent, 500).worker, "w1");
}

static void test_a_broadcast_without_workers_waits_for_one(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	assert_int_equal(ax_worker_drain(&w->ctx, "w1", true, NULL), AX_OK);
	struct ax_run parent = trigger_day(w, make_task(w, "", broadcast));
	assert_int_equal(parent.status, AX_RUN_WAITING);
	assert_int_equal(parent.hold, AX_HOLD_SPREAD);
	for (int i = 0; i < 20; i++)
		go(w, 1000);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_WAITING);
	register_worker(w, "w2", "i1", 10);
	for (int i = 0; i < 6; i++)
		go(w, 1000);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_RUNNING);
	assert_int_equal(run_row(w, parent.gid).shard_total, 1);
	assert_int_equal(poll(w, "w2", "i1", 5, &order, NULL), 1);
	result(w, "w2", &order.run, AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_SUCCESS);
}

static void test_a_server_that_was_away_waits_for_workers_that_it_has_not_heard_of(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	register_worker(w, "w2", "i1", 10);
	go_quiet(w, 600000);
	restart(w);
	go(w, 1);
	assert_int_equal(poll(w, "w1", "i1", 5, &order, NULL), 0); /* w1 is back, w2 not yet */
	struct ax_run parent = trigger_day(w, make_task(w, "", broadcast));
	assert_int_equal(parent.status, AX_RUN_WAITING);
	for (int i = 0; i < 10; i++)
		go(w, 1000);
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_WAITING);
	assert_int_equal(poll(w, "w2", "i1", 5, &order, NULL), 0);
	for (int i = 0; i < 6; i++)
		go(w, 1000);
	assert_int_equal(run_row(w, parent.gid).shard_total, 2);
	/* and no longer than a lease */
	go_quiet(w, 600000);
	restart(w);
	go(w, 1);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	parent = trigger_day(w, make_task(w, "", broadcast));
	for (int i = 0; i < 51; i++) {
		go(w, 1000);
		(void)poll(w, "w1", "i1", 0, &order, NULL);
	}
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_RUNNING);
	assert_int_equal(run_row(w, parent.gid).shard_total, 1);
}

/* The worker was there when the broadcast began and never speaks again: lost_limit 1 is two leases of 45 s. */
static void test_a_shard_whose_worker_is_gone_ends(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	live_without_w2(w, 50);
	register_worker(w, "w2", "i1", 10);
	struct ax_run parent = trigger_day(w, make_task(w, "", broadcast)), given;
	int64_t begun = w->now;
	assert_int_equal(poll(w, "w1", "i1", 5, &order, NULL), 1);
	given = order.run;
	result(w, "w1", &given, AX_OUTCOME_SUCCESS);
	while (!ax_run_is_terminal(shard(w, &parent, 2).status) && w->now < begun + 600000) {
		live_without_w2(w, 5);
		assert_int_equal(shard(w, &parent, 2).fence, 0);
	}
	assert_in_range(w->now - begun, 2 * AX_LEASE_MS, 4 * AX_LEASE_MS + 5000);
	assert_int_equal(shard(w, &parent, 2).status, AX_RUN_TIMEOUT);
	assert_string_equal(shard(w, &parent, 2).reason, "lost");
	assert_string_equal(shard(w, &parent, 2).result_msg, "worker w2, which alone may have it, is gone");
	assert_int_equal(run_row(w, parent.gid).status, AX_RUN_TIMEOUT);
	/* the rerun of what failed is for the same worker */
	struct ax_run again;
	assert_int_equal(ax_run_rerun(&w->ctx, parent.gid, "", true, &again, NULL), AX_OK);
	assert_int_equal(count_shards(w, &again), 1);
	assert_int_equal(poll(w, "w1", "i1", 5, &order, NULL), 0);
	register_worker(w, "w2", "i2", 10);
	assert_int_equal(poll(w, "w2", "i2", 5, &order, NULL), 1);
	assert_int_equal(order.run.shard, 2);
	assert_int_equal(order.run.shard_total, 2);
}

static void test_a_worker_that_comes_back_in_time_takes_its_shard(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	live_without_w2(w, 50);
	register_worker(w, "w2", "i1", 10);
	struct ax_run parent = trigger_day(w, make_task(w, "", broadcast));
	assert_int_equal(poll(w, "w1", "i1", 5, &order, NULL), 1);
	result(w, "w1", &order.run, AX_OUTCOME_SUCCESS);
	live_without_w2(w, 120);
	assert_int_equal(shard(w, &parent, 2).status, AX_RUN_WAITING);
	assert_true(shard(w, &parent, 2).limit_time != 0); /* it is missed */
	register_worker(w, "w2", "i2", 10);
	live_without_w2(w, 10);
	assert_int_equal(poll(w, "w2", "i2", 5, &order, NULL), 1);
	assert_int_equal(order.run.shard, 2);
	assert_int_equal(order.run.limit_time, 0);
}

/* Not for ever busy: a worker that is there and has no place is no worker that is gone. */
static void test_a_shard_waits_for_a_busy_worker(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	register_worker(w, "w2", "i1", 10);
	struct ax_run parent = trigger_day(w, make_task(w, "", broadcast));
	for (int i = 0; i < 600; i++) {
		go(w, 1000);
		(void)poll(w, "w2", "i1", 0, &order, NULL);
	}
	assert_int_equal(shard(w, &parent, 2).status, AX_RUN_WAITING);
	assert_int_equal(shard(w, &parent, 2).limit_time, 0);
}

static void test_a_lost_shard_goes_back_to_its_worker(void **state)
{
	struct world *w = *state;
	struct ax_order order;
	register_worker(w, "w2", "i1", 10);
	struct ax_run parent = trigger_day(w, make_task(w, "", broadcast));
	assert_int_equal(poll(w, "w2", "i1", 5, &order, NULL), 1);
	report(w, "w2", AX_ITEM_STARTED, &order.run);
	register_worker(w, "w2", "i2", 10); /* it started anew, without it */
	assert_int_equal(shard(w, &parent, 2).lost_times, 1);
	assert_int_equal(poll(w, "w1", "i1", 5, &order, NULL), 1);
	assert_int_equal(order.run.shard, 1);
	assert_int_equal(poll(w, "w2", "i2", 5, &order, NULL), 1);
	assert_int_equal(order.run.shard, 2);
	assert_int_equal(order.run.fence, 2);
}

static void test_bad_definitions_are_refused(void **state)
{
	struct world *w = *state;
	struct ax_task_def def = task_row(w, make_task(w, "@hourly", four)).def;
	struct ax_err err;
	def.shard_count = 1;
	assert_int_equal(ax_task_check(&w->ctx, &def, &err), AX_INVALID);
	assert_string_equal(err.field, "shard_count");
	def.shard_count = 1001;
	assert_int_equal(ax_task_check(&w->ctx, &def, &err), AX_INVALID);
	def.shard_count = 1000;
	assert_int_equal(ax_task_check(&w->ctx, &def, &err), AX_OK);
	def.broadcast = true;
	assert_int_equal(ax_task_check(&w->ctx, &def, &err), AX_INVALID);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_fire_makes_a_parent_and_its_shards_at_once),
		TEST(test_quotas_count_shards_and_never_the_parent),
		TEST(test_the_parent_succeeds_with_its_last_shard),
		TEST(test_how_the_parent_ends),
		TEST(test_a_shard_is_retried_alone),
		TEST(test_a_late_result_of_a_shard_moves_no_ended_parent),
		TEST(test_a_cancel_of_the_parent_reaches_every_shard),
		TEST(test_a_cancel_before_any_claim_ends_all_at_once),
		TEST(test_success_of_all_beats_a_cancel_that_came_too_late),
		TEST(test_overlap_knows_parents_only),
		TEST(test_what_never_begins_has_no_shards),
		TEST(test_replace_cancels_the_old_parent_with_its_shards),
		TEST(test_a_pause_holds_shards_that_wait),
		TEST(test_a_delayed_run_is_split_when_it_is_due),
		TEST(test_a_run_is_split_as_its_version_says),
		TEST(test_only_the_failed_shards_are_rerun),
		TEST(test_a_rerun_of_shards_that_are_gone_ends),
		TEST(test_a_forced_delete_reaches_every_shard),
		TEST(test_many_shards_are_made_in_several_transactions),
		TEST(test_a_clock_that_went_back_does_not_keep_shards_from_being_made),
		TEST(test_one_failure_for_all_shards),
		TEST(test_a_broadcast_is_for_every_worker_that_is_online),
		TEST(test_a_broadcast_to_500_workers),
		TEST(test_a_broadcast_without_workers_waits_for_one),
		TEST(test_a_server_that_was_away_waits_for_workers_that_it_has_not_heard_of),
		TEST(test_a_shard_whose_worker_is_gone_ends),
		TEST(test_a_worker_that_comes_back_in_time_takes_its_shard),
		TEST(test_a_shard_waits_for_a_busy_worker),
		TEST(test_a_lost_shard_goes_back_to_its_worker),
		TEST(test_bad_definitions_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
