#include "world.h"

#include <inttypes.h>
#include <stdio.h>

#include "app/birth.h"
#include "app/events.h"
#include "app/recover.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "app/why.h"
#include "core/limits.h"
#include "core/task_def.h"
#include "port/mem_store.h"
#include "port/row.h"
#include "port/wrap_fault.h"

/* ---- a chain of tasks */

static struct ax_task_def link_def(struct world *w, const char *name, const char *upstreams, bool join_all)
{
	struct ax_task_def def = ax_def_preset();
	def.task_name = name;
	def.task_type = AX_TASK_DELAY;
	def.upstreams = ax_strdup(&w->arena, upstreams);
	def.join_all = join_all;
	def.executor_key = "exec";
	def.retry_count = 0;
	def.overlap = AX_OVERLAP_ALLOW;
	def.overlap_max = 100;
	return def;
}

static int64_t make_def(struct world *w, const struct ax_task_def *def)
{
	enum ax_task_status status = AX_TASK_ENABLED;
	struct ax_task task;
	struct ax_err err = { 0 };
	int failed;
	if (ax_tasks_create(&w->ctx, def, &status, 1, "test", &task, &failed, &err) != AX_OK)
		fail_msg("%s: %s", err.field, err.msg);
	return task.id;
}

static int64_t make(struct world *w, const char *name, const char *upstreams, bool join_all)
{
	struct ax_task_def def = link_def(w, name, upstreams, join_all);
	return make_def(w, &def);
}

/* The field that the definition is refused with. */
static void refused(struct world *w, const struct ax_task_def *def, const char *field)
{
	enum ax_task_status status = AX_TASK_ENABLED;
	struct ax_task task;
	struct ax_err err = { 0 };
	int failed;
	assert_int_equal(ax_tasks_create(&w->ctx, def, &status, 1, "test", &task, &failed, &err), AX_INVALID);
	assert_string_equal(err.field, field);
}

static enum ax_status change(struct world *w, int64_t id, const char *upstreams, bool join_all, struct ax_err *err)
{
	struct ax_task task = task_row(w, id), changed;
	struct ax_task_def def = task.def;
	def.upstreams = ax_strdup(&w->arena, upstreams);
	def.join_all = join_all;
	return ax_task_update(&w->ctx, id, task.version, &def, "test", &changed, err);
}

static int64_t start(struct world *w, int64_t task)
{
	return trigger(w, task).gid;
}

static void end(struct world *w, int64_t gid, enum ax_outcome outcome)
{
	struct ax_order orders[64];
	poll(w, "w1", "i1", 60, orders, NULL);
	struct ax_run run = run_row(w, gid);
	assert_int_equal(run.status, AX_RUN_DISPATCHED);
	assert_int_equal(result(w, "w1", &run, outcome), AX_VERDICT_APPLIED);
}

static int64_t rerun(struct world *w, int64_t gid)
{
	struct ax_run run;
	assert_int_equal(ax_run_rerun(&w->ctx, gid, "", false, &run, NULL), AX_OK);
	return run.gid;
}

/* "12 34" */
static const char *ids(struct world *w, int64_t a, int64_t b)
{
	return b == 0 ? ax_sprintf(&w->arena, "%" PRId64, a) : ax_sprintf(&w->arena, "%" PRId64 " %" PRId64, a, b);
}

static int runs_of(struct world *w, int64_t task)
{
	const struct ax_run *run;
	int n = 0;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		n += run->task_id == task;
	return n;
}

/* What the run knows of its upstreams: "task:gid:state …". */
static const char *known(struct world *w, int64_t gid)
{
	const struct ax_run_upstream *row;
	const char *text = "";
	for (size_t i = 0; (row = ax_mem_store_at(w->mem, &ax_run_upstream_row, i)) != NULL; i++)
		if (row->gid == gid)
			text = ax_sprintf(&w->arena, "%s%s%" PRId64 ":%" PRId64 ":%s", text, *text ? " " : "",
				row->upstream_id, row->upstream_gid, ax_run_state_name(row->upstream_status));
	return text;
}

static const char *fact(struct world *w, int64_t task, int64_t gid, const char *state)
{
	return ax_sprintf(&w->arena, "%" PRId64 ":%" PRId64 ":%s", task, gid, state);
}

/* ---- any */

static void success_starts_the_downstreams(void **state)
{
	struct world *w = *state;
	int64_t a = make(w, "a", "", false), b = make(w, "b", ids(w, a, 0), false),
		c = make(w, "c", ids(w, a, 0), false), d = make(w, "d", ids(w, b, 0), false);
	int64_t gid = start(w, a);
	assert_int_equal(runs_of(w, b), 0);
	w->now += 1000;
	end(w, gid, AX_OUTCOME_SUCCESS);
	struct ax_run up = run_row(w, gid), run = find_run(w, b, AX_RUN_WAITING, 0);
	assert_int_equal(run.kind, AX_KIND_CHAIN);
	assert_string_equal(run.fire_key, ax_sprintf(&w->arena, "%" PRId64, gid));
	assert_int_equal(up.batch, up.gid);
	assert_int_equal(run.batch, up.batch);
	assert_string_equal(run.trace_id, up.trace_id);
	assert_int_equal(run.trigger_time, up.end_time);
	assert_string_equal(known(w, run.gid), fact(w, a, gid, "SUCCESS"));
	assert_int_equal(count_runs(w, c, AX_RUN_WAITING), 1);
	assert_int_equal(runs_of(w, d), 0);
	end(w, run.gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(find_run(w, d, AX_RUN_WAITING, 0).batch, up.batch);
	/* B110, B112: the same report again, and a late one, cause nothing */
	assert_int_equal(result(w, "w1", &up, AX_OUTCOME_SUCCESS), AX_VERDICT_DUPLICATE);
	assert_int_equal(runs_of(w, b), 1);
}

/* B040, B110: retries are no ends; the end blocks what is behind it, all the way down. */
static void any_other_end_blocks_all_the_way_down_b040(void **state)
{
	static const enum ax_outcome outcomes[] = { AX_OUTCOME_FAILED, AX_OUTCOME_TIMEOUT, AX_OUTCOME_REFUSED };
	struct world *w = *state;
	int64_t a = make(w, "a", "", false), b = make(w, "b", ids(w, a, 0), false),
		c = make(w, "c", ids(w, b, 0), false);
	for (int i = 0; i < 3; i++) {
		int64_t gid = start(w, a);
		end(w, gid, outcomes[i]);
		struct ax_run up = run_row(w, gid), run = find_run(w, b, AX_RUN_BLOCKED, i),
			      last = find_run(w, c, AX_RUN_BLOCKED, i);
		assert_int_equal(run.blocked_by, gid);
		assert_string_equal(run.reason, "upstream");
		assert_string_equal(run.result_msg,
			ax_sprintf(&w->arena, "run %" PRId64 " of a ended as %s", gid, ax_run_state_name(up.status)));
		assert_int_equal(last.blocked_by, run.gid);
		assert_int_equal(last.batch, up.batch);
		assert_int_equal(last.end_time, up.end_time);
		assert_int_equal(task_row(w, c).last_run_gid, last.gid);
	}
	/* a person's cancel stops the chain in the same way */
	struct ax_run cancelled;
	int64_t gid = start(w, a);
	assert_int_equal(ax_run_cancel(&w->ctx, gid, "enough", &cancelled, NULL), AX_OK);
	assert_int_equal(find_run(w, b, AX_RUN_BLOCKED, 3).blocked_by, gid);
	/* a retry is no end */
	struct ax_task task = task_row(w, a), changed;
	struct ax_task_def def = task.def;
	def.retry_count = 1;
	assert_int_equal(ax_task_update(&w->ctx, a, task.version, &def, "test", &changed, NULL), AX_OK);
	gid = start(w, a);
	end(w, gid, AX_OUTCOME_FAILED);
	assert_int_equal(run_row(w, gid).status, AX_RUN_RETRYING);
	assert_int_equal(runs_of(w, b), 4);
	go(w, 70000);
	end(w, gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, b, AX_RUN_WAITING), 1);
}

static void skipped_and_missed_fires_block_too(void **state)
{
	struct world *w = *state;
	struct ax_task_def def = link_def(w, "a", "", false);
	def.task_type = AX_TASK_SCHEDULED;
	def.cron_expr = "* * * * *";
	def.overlap = AX_OVERLAP_SKIP;
	def.window_seconds = 60;
	int64_t a = make_def(w, &def), b = make(w, "b", ids(w, a, 0), false);
	go(w, 60000);
	go(w, 60000);
	struct ax_run skipped = find_run(w, a, AX_RUN_SKIPPED, 0), blocked = find_run(w, b, AX_RUN_BLOCKED, 0);
	assert_int_equal(blocked.blocked_by, skipped.gid);
	assert_int_equal(blocked.batch, skipped.trigger_time);
	go_quiet(w, 600000);
	go(w, 0);
	struct ax_run missed = find_run(w, a, AX_RUN_MISSED, 0);
	assert_int_equal(find_run(w, b, AX_RUN_BLOCKED, 1).blocked_by, missed.gid);
	/* a person makes it up: the chain starts anew, in the batch of the fire */
	struct ax_run decided;
	struct ax_runs made;
	assert_int_equal(ax_run_cancel(&w->ctx, find_run(w, a, AX_RUN_WAITING, 0).gid, "", &decided, NULL), AX_OK);
	assert_int_equal(ax_run_resolve_missed(&w->ctx, missed.gid, AX_MISSED_RUN, "", &decided, &made, NULL), AX_OK);
	end(w, made.at[0].gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(find_run(w, b, AX_RUN_WAITING, 0).batch, missed.covers_to);
}

static void a_rerun_starts_the_chain_anew(void **state)
{
	struct world *w = *state;
	int64_t a = make(w, "a", "", false), b = make(w, "b", ids(w, a, 0), false);
	int64_t gid = start(w, a);
	end(w, gid, AX_OUTCOME_FAILED);
	int64_t again = rerun(w, gid);
	end(w, again, AX_OUTCOME_SUCCESS);
	struct ax_run run = find_run(w, b, AX_RUN_WAITING, 0);
	assert_int_equal(run.batch, gid);
	end(w, run.gid, AX_OUTCOME_FAILED);
	/* the rerun of the downstream stands on the same upstream */
	int64_t second = rerun(w, run.gid);
	assert_string_equal(known(w, second), fact(w, a, again, "SUCCESS"));
	assert_int_equal(run_row(w, second).batch, gid);
	/* and what was BLOCKED may be run all the same */
	int64_t forced = rerun(w, find_run(w, b, AX_RUN_BLOCKED, 0).gid);
	assert_string_equal(known(w, forced), fact(w, a, gid, "FAILED"));
}

static void the_overlap_rule_holds_for_chains(void **state)
{
	static const enum ax_overlap rules[] = { AX_OVERLAP_QUEUE, AX_OVERLAP_SKIP, AX_OVERLAP_REPLACE };
	static const enum ax_run_state firsts[] = { AX_RUN_WAITING, AX_RUN_WAITING, AX_RUN_CANCELLED };
	static const enum ax_run_state seconds[] = { AX_RUN_WAITING, AX_RUN_SKIPPED, AX_RUN_WAITING };
	struct world *w = *state;
	int64_t a = make(w, "a", "", false);
	for (size_t i = 0; i < AX_COUNT(rules); i++) {
		struct ax_task_def def = link_def(w, "b", ids(w, a, 0), false);
		def.overlap = rules[i];
		int64_t b = make_def(w, &def), c = make(w, "c", ids(w, b, 0), false), gids[2];
		struct ax_order orders[4];
		for (int n = 0; n < 2; n++)
			gids[n] = start(w, a);
		poll(w, "w1", "i1", 4, orders, NULL);
		for (int n = 0; n < 2; n++) {
			struct ax_run run = run_row(w, gids[n]);
			result(w, "w1", &run, AX_OUTCOME_SUCCESS);
		}
		const struct ax_run *run;
		for (size_t k = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, k)) != NULL; k++) {
			if (run->task_id != b)
				continue;
			bool first = strcmp(run->fire_key, ax_sprintf(&w->arena, "%" PRId64, gids[0])) == 0;
			assert_int_equal(run->status, first ? firsts[i] : seconds[i]);
			assert_int_equal(run->covers_count, 0);
			assert_int_equal(
				run->hold, !first && rules[i] == AX_OVERLAP_QUEUE ? AX_HOLD_OVERLAP : AX_HOLD_NONE);
		}
		assert_int_equal(runs_of(w, b), 2);
		assert_int_equal(count_runs(w, c, AX_RUN_BLOCKED), rules[i] != AX_OVERLAP_QUEUE);
		assert_int_equal(ax_task_delete(&w->ctx, c, true, "test", NULL), AX_OK);
		assert_int_equal(ax_task_delete(&w->ctx, b, true, "test", NULL), AX_OK);
	}
}

/* B192 */
static void paused_waits_and_a_draft_takes_no_part_b192(void **state)
{
	struct world *w = *state;
	int64_t a = make(w, "a", "", false), b = make(w, "b", ids(w, a, 0), false);
	struct ax_task_def def = link_def(w, "draft", ids(w, a, 0), false);
	enum ax_task_status created = AX_TASK_CREATED;
	struct ax_task task;
	int failed;
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &created, 1, "test", &task, &failed, NULL), AX_OK);
	int64_t draft = task.id;
	assert_int_equal(ax_task_set_status(&w->ctx, b, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	end(w, start(w, a), AX_OUTCOME_SUCCESS);
	assert_int_equal(find_run(w, b, AX_RUN_WAITING, 0).hold, AX_HOLD_PAUSED);
	assert_int_equal(runs_of(w, draft), 0);
	assert_int_equal(ax_task_set_status(&w->ctx, b, AX_TASK_ENABLED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(find_run(w, b, AX_RUN_WAITING, 0).hold, AX_HOLD_NONE);
	/* a deleted one gets nothing, and the upstream ends as it would */
	assert_int_equal(ax_task_delete(&w->ctx, b, true, "test", NULL), AX_OK);
	int64_t gid = start(w, a);
	end(w, gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, gid).status, AX_RUN_SUCCESS);
	assert_int_equal(count_runs(w, b, AX_RUN_WAITING), 0);
}

/* B115: a chained run that is lost is given out again like any other. */
static void a_lost_chained_run_is_recovered_b115(void **state)
{
	struct world *w = *state;
	struct ax_order orders[8];
	int64_t a = make(w, "a", "", false), b = make(w, "b", ids(w, a, 0), false);
	end(w, start(w, a), AX_OUTCOME_SUCCESS);
	assert_int_equal(poll(w, "w1", "i1", 5, orders, NULL), 1);
	report(w, "w1", AX_ITEM_STARTED, &orders[0].run);
	for (int i = 0; i < 10; i++)
		go(w, 9000);
	struct ax_run run = find_run(w, b, AX_RUN_WAITING, 0);
	assert_int_equal(run.lost_times, 1);
	assert_int_equal(runs_of(w, b), 1);
}

/* ---- all */

static void a_join_waits_for_all_of_the_batch(void **state)
{
	struct world *w = *state;
	int64_t r = make(w, "r", "", false), a = make(w, "a", ids(w, r, 0), false),
		b = make(w, "b", ids(w, r, 0), false), c = make(w, "c", ids(w, a, b), true);
	int64_t root = start(w, r);
	end(w, root, AX_OUTCOME_SUCCESS);
	int64_t one = find_run(w, a, AX_RUN_WAITING, 0).gid, two = find_run(w, b, AX_RUN_WAITING, 0).gid;
	end(w, one, AX_OUTCOME_SUCCESS);
	struct ax_run join = find_run(w, c, AX_RUN_PENDING, 0);
	assert_string_equal(join.fire_key, ax_sprintf(&w->arena, "b%" PRId64, root));
	assert_int_equal(join.deadline_time, w->now + 86400000);
	assert_int_equal(join.batch, root);
	go(w, 5000);
	assert_int_equal(run_row(w, join.gid).status, AX_RUN_PENDING);
	end(w, two, AX_OUTCOME_SUCCESS);
	join = run_row(w, join.gid);
	assert_int_equal(join.status, AX_RUN_WAITING);
	assert_int_equal(join.trigger_time, w->now); /* due only now: it is not late */
	assert_int_equal(join.deadline_time, 0);
	assert_int_equal(join.rank, w->now - 5 * AX_RANK_STEP_MS);
	assert_string_equal(known(w, join.gid),
		ax_sprintf(&w->arena, "%s %s", fact(w, a, one, "SUCCESS"), fact(w, b, two, "SUCCESS")));
	/* once for each batch: a rerun of an upstream does not start it again */
	end(w, rerun(w, one), AX_OUTCOME_SUCCESS);
	end(w, join.gid, AX_OUTCOME_SUCCESS);
	end(w, rerun(w, two), AX_OUTCOME_SUCCESS);
	assert_int_equal(runs_of(w, c), 1);
	/* another batch, another run */
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	end(w, find_run(w, b, AX_RUN_WAITING, 0).gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, c, AX_RUN_PENDING), 1);
}

/* B180: at once, not when the last one has ended; and later completed by a rerun. */
static void one_bad_end_blocks_a_join_at_once_b180(void **state)
{
	struct world *w = *state;
	int64_t r = make(w, "r", "", false), a = make(w, "a", ids(w, r, 0), false),
		b = make(w, "b", ids(w, r, 0), false), c = make(w, "c", ids(w, a, b), true),
		d = make(w, "d", ids(w, c, 0), false);
	int64_t root = start(w, r);
	end(w, root, AX_OUTCOME_SUCCESS);
	int64_t one = find_run(w, a, AX_RUN_WAITING, 0).gid, two = find_run(w, b, AX_RUN_WAITING, 0).gid;
	end(w, one, AX_OUTCOME_FAILED); /* the first end: born BLOCKED */
	struct ax_run blocked = find_run(w, c, AX_RUN_BLOCKED, 0);
	assert_int_equal(blocked.blocked_by, one);
	assert_int_equal(find_run(w, d, AX_RUN_BLOCKED, 0).blocked_by, blocked.gid);
	end(w, two, AX_OUTCOME_SUCCESS); /* is remembered */
	assert_int_equal(runs_of(w, c), 1);
	int64_t again = rerun(w, one);
	end(w, again, AX_OUTCOME_FAILED);
	assert_int_equal(runs_of(w, c), 1);
	int64_t third = rerun(w, again);
	end(w, third, AX_OUTCOME_SUCCESS);
	struct ax_run made = find_run(w, c, AX_RUN_WAITING, 0);
	assert_string_equal(made.fire_key, ax_sprintf(&w->arena, "b%" PRId64 ".2", root));
	assert_string_equal(known(w, made.gid),
		ax_sprintf(&w->arena, "%s %s", fact(w, a, third, "SUCCESS"), fact(w, b, two, "SUCCESS")));
	end(w, made.gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, d, AX_RUN_WAITING), 1);
	assert_int_equal(runs_of(w, c), 2);
}

/* Each of many ends goes down to many tasks: one transaction does not carry all of them. */
static void a_sweep_of_many_ends_is_cut(void **state)
{
	struct world *w = *state;
	enum { RUNS = 90, BEHIND = 30 };
	struct ax_order orders[RUNS];
	struct ax_task_def def = link_def(w, "hub", "", false);
	def.overlap = AX_OVERLAP_ALLOW;
	def.overlap_max = 1000;
	def.lost_fails = true;
	int64_t hub = make_def(w, &def);
	for (int i = 0; i < BEHIND; i++)
		make(w, ax_sprintf(&w->arena, "behind %d", i), ids(w, hub, 0), false);
	register_worker(w, "w2", "i1", 100);
	for (int i = 0; i < RUNS; i++)
		start(w, hub);
	assert_int_equal(poll(w, "w2", "i1", RUNS, orders, NULL), RUNS);
	for (int i = 0; i < RUNS; i++)
		report(w, "w2", AX_ITEM_STARTED, &orders[i].run);
	int64_t next = go(w, AX_LEASE_MS - 1000);
	while (count_runs(w, hub, AX_RUN_TIMEOUT) == 0)
		next = go(w, 500);
	int ended = count_runs(w, hub, AX_RUN_TIMEOUT);
	assert_in_range(ended, 1, RUNS - 1);
	assert_true(next <= w->now); /* at once */
	go(w, 0);
	go(w, 0);
	assert_int_equal(count_runs(w, hub, AX_RUN_TIMEOUT), RUNS);
}

static void a_waiting_join_is_blocked_by_the_second_end(void **state)
{
	struct world *w = *state;
	int64_t r = make(w, "r", "", false), a = make(w, "a", ids(w, r, 0), false),
		b = make(w, "b", ids(w, r, 0), false), c = make(w, "c", ids(w, a, b), true);
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	int64_t one = find_run(w, a, AX_RUN_WAITING, 0).gid, two = find_run(w, b, AX_RUN_WAITING, 0).gid;
	end(w, one, AX_OUTCOME_SUCCESS);
	int64_t join = find_run(w, c, AX_RUN_PENDING, 0).gid;
	/* what has succeeded once in the batch is not undone by a rerun that fails */
	end(w, rerun(w, one), AX_OUTCOME_FAILED);
	assert_int_equal(run_row(w, join).status, AX_RUN_PENDING);
	end(w, two, AX_OUTCOME_FAILED);
	assert_int_equal(run_row(w, join).status, AX_RUN_BLOCKED);
	assert_int_equal(run_row(w, join).blocked_by, two);
	/* the other one had succeeded: the rerun of this one completes the batch */
	end(w, rerun(w, two), AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, c, AX_RUN_WAITING), 1);
}

static void the_deadline_ends_the_waiting(void **state)
{
	struct world *w = *state;
	int64_t r = make(w, "r", "", false), a = make(w, "a", ids(w, r, 0), false),
		b = make(w, "b", ids(w, r, 0), false);
	struct ax_task_def def = link_def(w, "c", ids(w, a, b), true);
	def.join_deadline_seconds = 60;
	int64_t c = make_def(w, &def), d = make(w, "d", ids(w, c, 0), false);
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	int64_t one = find_run(w, a, AX_RUN_WAITING, 0).gid, two = find_run(w, b, AX_RUN_WAITING, 0).gid;
	end(w, one, AX_OUTCOME_SUCCESS);
	assert_int_equal(go(w, 59000), find_run(w, c, AX_RUN_PENDING, 0).deadline_time);
	go(w, 1000);
	struct ax_run blocked = find_run(w, c, AX_RUN_BLOCKED, 0);
	assert_string_equal(blocked.reason, "join_deadline");
	assert_int_equal(blocked.blocked_by, 0);
	assert_int_equal(find_run(w, d, AX_RUN_BLOCKED, 0).blocked_by, blocked.gid);
	/* its late success does not count any more; that of a rerun, which a person wanted, does */
	struct ax_run late = run_row(w, two);
	if (late.status == AX_RUN_DISPATCHED)
		result(w, "w1", &late, AX_OUTCOME_SUCCESS);
	else
		end(w, two, AX_OUTCOME_SUCCESS);
	assert_int_equal(run_row(w, two).status, AX_RUN_SUCCESS);
	assert_int_equal(runs_of(w, c), 1);
	end(w, rerun(w, two), AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, c, AX_RUN_WAITING), 1);
}

/* The end of the first blocks the second, which is in the same batch of the sweep. */
static void joins_behind_each_other_meet_one_deadline(void **state)
{
	struct world *w = *state;
	int64_t a = make(w, "a", "", false), b = make(w, "b", "", false);
	struct ax_task_def def = link_def(w, "c", ids(w, a, b), true);
	def.join_deadline_seconds = 60;
	int64_t c = make_def(w, &def);
	def.task_name = "d";
	def.upstreams = ids(w, a, c);
	int64_t d = make_def(w, &def);
	end(w, start(w, a), AX_OUTCOME_SUCCESS);
	int64_t first = find_run(w, c, AX_RUN_PENDING, 0).gid, second = find_run(w, d, AX_RUN_PENDING, 0).gid;
	go(w, 60000);
	assert_string_equal(run_row(w, first).reason, "join_deadline");
	assert_string_equal(run_row(w, second).reason, "upstream");
	assert_int_equal(run_row(w, second).blocked_by, first);
}

static void a_diamond_joins_what_one_event_began(void **state)
{
	struct world *w = *state;
	struct ax_task_def def = link_def(w, "a", "", false);
	def.task_type = AX_TASK_EVENT;
	def.event_name = "e";
	int64_t a = make_def(w, &def);
	def.task_name = "b";
	int64_t b = make_def(w, &def), c = make(w, "c", ids(w, a, b), true);
	struct ax_event_sent sent = {
		.event_name = "e", .event_id = "", .event_key = "", .run_key = "", .payload = "", .sent_by = ""
	};
	struct ax_event event;
	struct ax_event_tasks tasks;
	bool existed;
	assert_int_equal(ax_event_send(&w->ctx, &sent, &event, &tasks, &existed, NULL), AX_OK);
	end(w, tasks.at[1].gid, AX_OUTCOME_SUCCESS);
	end(w, tasks.at[0].gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(find_run(w, c, AX_RUN_WAITING, 0).batch, event.id);
}

static void fires_of_one_instant_are_one_batch(void **state)
{
	struct world *w = *state;
	struct ax_task_def def = link_def(w, "a", "", false);
	def.task_type = AX_TASK_SCHEDULED;
	def.cron_expr = "* * * * *";
	int64_t a = make_def(w, &def);
	def.task_name = "b";
	int64_t b = make_def(w, &def), c = make(w, "c", ids(w, a, b), true);
	go(w, 60000);
	int64_t fire = find_run(w, a, AX_RUN_WAITING, 0).trigger_time;
	end(w, find_run(w, a, AX_RUN_WAITING, 0).gid, AX_OUTCOME_SUCCESS);
	end(w, find_run(w, b, AX_RUN_DISPATCHED, 0).gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(find_run(w, c, AX_RUN_WAITING, 0).batch, fire);
}

static void a_join_may_be_cancelled_paused_and_deleted(void **state)
{
	struct world *w = *state;
	struct ax_run run;
	struct ax_task task;
	int64_t r = make(w, "r", "", false), a = make(w, "a", ids(w, r, 0), false),
		b = make(w, "b", ids(w, r, 0), false), c = make(w, "c", ids(w, a, b), true);
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	end(w, find_run(w, a, AX_RUN_WAITING, 0).gid, AX_OUTCOME_SUCCESS);
	int64_t join = find_run(w, c, AX_RUN_PENDING, 0).gid;
	assert_int_equal(ax_run_cancel(&w->ctx, join, "", &run, NULL), AX_OK);
	end(w, find_run(w, b, AX_RUN_DISPATCHED, 0).gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(runs_of(w, c), 1); /* a person did not want it */
	/* paused: it waits on when it is due */
	assert_int_equal(ax_task_set_status(&w->ctx, c, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	end(w, find_run(w, a, AX_RUN_WAITING, 0).gid, AX_OUTCOME_SUCCESS);
	end(w, find_run(w, b, AX_RUN_DISPATCHED, 0).gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(find_run(w, c, AX_RUN_WAITING, 0).hold, AX_HOLD_PAUSED);
	/* deleted: refused while it waits, unless forced */
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	end(w, find_run(w, a, AX_RUN_WAITING, 0).gid, AX_OUTCOME_SUCCESS);
	struct ax_err err;
	assert_int_equal(ax_task_delete(&w->ctx, c, false, "test", &err), AX_CONFLICT);
	assert_int_equal(ax_task_delete(&w->ctx, c, true, "test", NULL), AX_OK);
	assert_int_equal(count_runs(w, c, AX_RUN_PENDING), 0);
	end(w, find_run(w, b, AX_RUN_DISPATCHED, 0).gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_upstream_row), 2);
}

/* The definition changes while a join waits. */
static void an_edit_looks_at_waiting_joins_anew(void **state)
{
	struct world *w = *state;
	int64_t r = make(w, "r", "", false), a = make(w, "a", ids(w, r, 0), false),
		b = make(w, "b", ids(w, r, 0), false), c = make(w, "c", ids(w, a, b), true),
		d = make(w, "d", ids(w, a, b), true), e = make(w, "e", ids(w, a, b), true);
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	end(w, find_run(w, a, AX_RUN_WAITING, 0).gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(change(w, c, ids(w, a, 0), true, NULL), AX_OK); /* does not wait for b any more */
	assert_int_equal(count_runs(w, c, AX_RUN_WAITING), 1);
	assert_int_equal(change(w, d, ids(w, a, b), false, NULL), AX_OK); /* one is enough */
	assert_int_equal(count_runs(w, d, AX_RUN_WAITING), 1);
	assert_int_equal(change(w, e, "", false, NULL), AX_OK); /* nothing to wait for */
	assert_string_equal(find_run(w, e, AX_RUN_BLOCKED, 0).reason, "no_upstreams");
	/* the edge is gone: b's end means nothing to c and e, and makes a run of its own for d */
	end(w, find_run(w, b, AX_RUN_DISPATCHED, 0).gid, AX_OUTCOME_SUCCESS);
	assert_int_equal(runs_of(w, c), 1);
	assert_int_equal(runs_of(w, d), 2);
	assert_int_equal(runs_of(w, e), 1);
}

static void an_edit_does_not_judge_thousands_of_joins(void **state)
{
	struct world *w = *state;
	int64_t a = make(w, "a", "", false), b = make(w, "b", "", false), c = make(w, "c", ids(w, a, b), true);
	for (int i = 0; i <= AX_SWEEP_WRITES; i++)
		end(w, start(w, a), AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, c, AX_RUN_PENDING), AX_SWEEP_WRITES + 1);
	assert_int_equal(change(w, c, ids(w, a, 0), true, NULL), AX_CONFLICT);
	assert_int_equal(count_runs(w, c, AX_RUN_PENDING), AX_SWEEP_WRITES + 1);
	assert_int_equal(task_row(w, c).version, 1);
}

static void the_overlap_rule_holds_for_joins(void **state)
{
	struct world *w = *state;
	int64_t r = make(w, "r", "", false), a = make(w, "a", ids(w, r, 0), false),
		b = make(w, "b", ids(w, r, 0), false);
	struct ax_task_def def = link_def(w, "c", ids(w, a, b), true);
	def.overlap = AX_OVERLAP_SKIP;
	int64_t c = make_def(w, &def), d = make(w, "d", ids(w, c, 0), false);
	start(w, c);
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	end(w, find_run(w, a, AX_RUN_WAITING, 0).gid, AX_OUTCOME_SUCCESS);
	end(w, find_run(w, b, AX_RUN_DISPATCHED, 0).gid, AX_OUTCOME_SUCCESS);
	struct ax_run skipped = find_run(w, c, AX_RUN_SKIPPED, 0);
	assert_string_equal(skipped.reason, "overlap");
	assert_int_equal(find_run(w, d, AX_RUN_BLOCKED, 0).blocked_by, skipped.gid);
}

static void retention_forgets_what_a_join_knew(void **state)
{
	struct world *w = *state;
	int deleted;
	int64_t r = make(w, "r", "", false), a = make(w, "a", ids(w, r, 0), false),
		b = make(w, "b", ids(w, r, 0), false), c = make(w, "c", ids(w, a, b), true);
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	int64_t one = find_run(w, a, AX_RUN_WAITING, 0).gid;
	end(w, one, AX_OUTCOME_SUCCESS);
	w->now += 3600000;
	assert_int_equal(ax_retain(&w->ctx, 60000, &deleted, NULL), AX_OK);
	/* the upstream's run is gone; that it succeeded is still known to what waits */
	struct ax_run join = find_run(w, c, AX_RUN_PENDING, 0);
	assert_string_equal(known(w, join.gid), fact(w, a, one, "SUCCESS"));
	end(w, find_run(w, b, AX_RUN_DISPATCHED, 0).gid, AX_OUTCOME_SUCCESS);
	end(w, join.gid, AX_OUTCOME_SUCCESS);
	w->now += 3600000;
	assert_int_equal(ax_retain(&w->ctx, 60000, &deleted, NULL), AX_OK);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_run_upstream_row), 0);
}

/* ---- B181: whole or not at all */

static struct ax_fault fail_at(void *op)
{
	return (struct ax_fault){ .kind = AX_FAULT_OP, .op = *(int *)op, .status = AX_BROKEN };
}

static size_t rows(struct world *w)
{
	return ax_mem_store_count(w->mem, &ax_run_row) + ax_mem_store_count(w->mem, &ax_run_upstream_row);
}

static void an_end_and_its_chain_are_one_b181(void **state)
{
	struct world *w = *state;
	int64_t a = make(w, "a", "", false), b = make(w, "b", ids(w, a, 0), false),
		c = make(w, "c", ids(w, a, b), true), d = make(w, "d", ids(w, b, 0), false);
	for (int i = 0; i < 2; i++) {
		enum ax_outcome outcome = i == 0 ? AX_OUTCOME_SUCCESS : AX_OUTCOME_FAILED;
		struct ax_order orders[8];
		int64_t gid = start(w, a);
		poll(w, "w1", "i1", 8, orders, NULL);
		struct ax_run run = run_row(w, gid);
		struct ax_store *whole = w->ctx.store;
		size_t before = rows(w);
		static const char *const groups[] = { "default", NULL };
		for (int op = 1;; op++) {
			struct ax_fault_store faulty;
			struct ax_item item = { .type = AX_ITEM_RESULT,
				.gid = gid,
				.fence = run.fence,
				.outcome = outcome,
				.message = "",
				.data = "",
				.result = "" };
			struct ax_report said = {
				.worker = "w1", .incarnation = "i1", .groups = groups, .items = &item, .n = 1
			};
			assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_OK);
			ax_fault_store_init(&faulty, whole, fail_at, &op);
			w->ctx.store = &faulty.store;
			enum ax_status status = ax_ingest(&w->ctx, &said, NULL);
			w->ctx.store = whole;
			if (status == AX_OK)
				break;
			assert_int_equal(run_row(w, gid).status, AX_RUN_DISPATCHED);
			assert_int_equal(rows(w), before);
		}
		enum ax_run_state state_b = i == 0 ? AX_RUN_WAITING : AX_RUN_BLOCKED;
		assert_int_equal(count_runs(w, b, state_b), 1);
		assert_int_equal(count_runs(w, c, i == 0 ? AX_RUN_PENDING : AX_RUN_BLOCKED), 1);
		assert_int_equal(count_runs(w, d, AX_RUN_BLOCKED), i);
	}
}

/* ---- what a definition may say */

/* B176: with a schedule of its own it would run twice. */
static void a_chained_task_has_no_schedule_b176(void **state)
{
	struct world *w = *state;
	int64_t a = make(w, "a", "", false);
	struct ax_task_def def = link_def(w, "b", ids(w, a, 0), false);
	def.task_type = AX_TASK_SCHEDULED;
	def.cron_expr = "* * * * *";
	refused(w, &def, "cron_expr");
	def.cron_expr = "";
	int64_t b = make_def(w, &def);
	assert_int_equal(task_row(w, b).next_trigger_time, 0);
	go(w, 120000);
	assert_int_equal(runs_of(w, b), 0);
	end(w, start(w, a), AX_OUTCOME_SUCCESS);
	assert_int_equal(count_runs(w, b, AX_RUN_WAITING), 1);
	/* a scheduled task becomes a chained one and back */
	struct ax_task task = task_row(w, b), changed;
	def.cron_expr = "* * * * *";
	def.upstreams = "";
	assert_int_equal(ax_task_update(&w->ctx, b, task.version, &def, "test", &changed, NULL), AX_OK);
	assert_true(changed.next_trigger_time > w->now);
	def.cron_expr = "";
	assert_int_equal(ax_task_update(&w->ctx, b, changed.version, &def, "test", &changed, NULL), AX_INVALID);
	def.upstreams = ids(w, a, 0);
	assert_int_equal(ax_task_update(&w->ctx, b, changed.version, &def, "test", &changed, NULL), AX_OK);
	assert_int_equal(changed.next_trigger_time, 0);
	assert_false(changed.exhausted);
}

static void wrong_upstreams_are_refused(void **state)
{
	struct world *w = *state;
	struct ax_err err = { 0 };
	int64_t a = make(w, "a", "", false), b = make(w, "b", ids(w, a, 0), false),
		c = make(w, "c", ids(w, b, 0), false);
	struct ax_task_def def = link_def(w, "x", ids(w, a, a), false);
	refused(w, &def, "upstreams"); /* twice */
	def.upstreams = "999";
	refused(w, &def, "upstreams"); /* unknown */
	def = link_def(w, "x", "", true);
	refused(w, &def, "join");
	def = link_def(w, "x", ids(w, a, 0), true);
	def.join_deadline_seconds = 59;
	refused(w, &def, "join_deadline_seconds");
	assert_int_equal(change(w, a, ids(w, a, 0), false, &err), AX_INVALID);
	assert_string_equal(err.field, "upstreams");
	assert_int_equal(change(w, a, ids(w, c, 0), false, &err), AX_INVALID);
	assert_string_equal(err.field, "upstreams");
	assert_int_equal(task_row(w, a).version, 1);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_upstream_row), 2);
	/* what others wait for is not deleted, by force neither */
	assert_int_equal(ax_task_delete(&w->ctx, a, true, "test", &err), AX_CONFLICT);
	assert_non_null(strstr(err.msg, "b ("));
	assert_int_equal(ax_task_delete(&w->ctx, c, false, "test", NULL), AX_OK);
	assert_int_equal(ax_task_delete(&w->ctx, b, false, "test", NULL), AX_OK);
	assert_int_equal(ax_task_delete(&w->ctx, a, false, "test", NULL), AX_OK);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_upstream_row), 0);
}

static void chains_are_bounded(void **state)
{
	struct world *w = *state;
	char name[24];
	int64_t last = 0;
	for (int i = 1; i <= AX_CHAIN_DEPTH_MAX; i++) {
		snprintf(name, sizeof(name), "deep %d", i);
		last = make(w, name, i == 1 ? "" : ids(w, last, 0), false);
	}
	struct ax_task_def def = link_def(w, "too deep", ids(w, last, 0), false);
	refused(w, &def, "upstreams");
	int64_t wide = make(w, "wide", "", false);
	for (int i = 0; i < AX_DOWNSTREAMS_MAX; i++) {
		snprintf(name, sizeof(name), "wide %d", i);
		make(w, name, ids(w, wide, 0), false);
	}
	def = link_def(w, "too wide", ids(w, wide, 0), false);
	refused(w, &def, "upstreams");
	/* each diamond without a join doubles the runs: 4 × (2^n - 1) of n of them */
	int64_t top = make(w, "top", "", false);
	for (int i = 1; i <= 7; i++) {
		snprintf(name, sizeof(name), "left %d", i);
		int64_t left = make(w, name, ids(w, top, 0), false);
		snprintf(name, sizeof(name), "right %d", i);
		int64_t right = make(w, name, ids(w, top, 0), false);
		snprintf(name, sizeof(name), "bottom %d", i);
		def = link_def(w, name, ids(w, left, right), false);
		if (i == 7)
			refused(w, &def, "upstreams");
		def.join_all = i == 7;
		top = make_def(w, &def);
	}
}

/* ---- why */

struct ask {
	struct world *w;
	int64_t gid, task;
	struct ax_why why;
};

static enum ax_status ask_run(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ask *ask = arg;
	if (ask->task != 0)
		return ax_why_task(tx, &ask->w->zones, ask->task, ask->w->now, ask->w->now, &ask->why, err);
	return ax_why_run(tx, &ask->w->zones, ask->gid, ask->w->now, &ask->why, err);
}

static void expect_why(
	struct world *w, int64_t gid, int64_t task, const char *verdict, const char *code, const char *part)
{
	struct ask ask = { .w = w, .gid = gid, .task = task };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, ask_run, &ask, NULL), AX_OK);
	assert_string_equal(ask.why.steps[ask.why.answer].code, verdict);
	for (int i = 0; i < ask.why.n; i++)
		if (strcmp(ask.why.steps[i].code, code) == 0 && strstr(ask.why.steps[i].text, part) != NULL)
			return;
	for (int i = 0; i < ask.why.n; i++)
		printf("%s: %s\n", ask.why.steps[i].code, ask.why.steps[i].text);
	fail_msg("no step %s says `%s`", code, part);
}

static void why_tells_the_chain(void **state)
{
	struct world *w = *state;
	int64_t r = make(w, "r", "", false), a = make(w, "a", ids(w, r, 0), false),
		b = make(w, "b", ids(w, r, 0), false), c = make(w, "c", ids(w, a, b), true),
		d = make(w, "d", ids(w, c, 0), false);
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	int64_t one = find_run(w, a, AX_RUN_WAITING, 0).gid, two = find_run(w, b, AX_RUN_WAITING, 0).gid;
	expect_why(w, one, 0, "claim", "chain", "(default/r, SUCCESS)");
	end(w, one, AX_OUTCOME_SUCCESS);
	int64_t join = find_run(w, c, AX_RUN_PENDING, 0).gid;
	expect_why(w, join, 0, "upstreams", "upstreams", "waits for default/b to succeed");
	expect_why(w, join, 0, "upstreams", "join", "(default/a, SUCCESS)");
	end(w, two, AX_OUTCOME_FAILED);
	expect_why(w, join, 0, "blocked", "broken_at", "of default/b, which ended as FAILED");
	expect_why(w, find_run(w, d, AX_RUN_BLOCKED, 0).gid, 0, "blocked", "broken_at", "of default/b");
	expect_why(w, 0, d, "no_schedule", "no_schedule", "one of these has succeeded: default/c");
	expect_why(w, 0, c, "no_schedule", "no_schedule", "all of these have succeeded: default/a, default/b");
	/* the deadline */
	end(w, start(w, r), AX_OUTCOME_SUCCESS);
	end(w, find_run(w, a, AX_RUN_WAITING, 0).gid, AX_OUTCOME_SUCCESS);
	join = find_run(w, c, AX_RUN_PENDING, 0).gid;
	go(w, 86400000);
	expect_why(w, join, 0, "join_deadline", "upstreams", "Not seen to succeed in its batch: default/b");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(success_starts_the_downstreams),
		TEST(any_other_end_blocks_all_the_way_down_b040),
		TEST(skipped_and_missed_fires_block_too),
		TEST(a_rerun_starts_the_chain_anew),
		TEST(the_overlap_rule_holds_for_chains),
		TEST(paused_waits_and_a_draft_takes_no_part_b192),
		TEST(a_lost_chained_run_is_recovered_b115),
		TEST(a_join_waits_for_all_of_the_batch),
		TEST(one_bad_end_blocks_a_join_at_once_b180),
		TEST(a_waiting_join_is_blocked_by_the_second_end),
		TEST(a_sweep_of_many_ends_is_cut),
		TEST(the_deadline_ends_the_waiting),
		TEST(joins_behind_each_other_meet_one_deadline),
		TEST(a_diamond_joins_what_one_event_began),
		TEST(fires_of_one_instant_are_one_batch),
		TEST(a_join_may_be_cancelled_paused_and_deleted),
		TEST(an_edit_looks_at_waiting_joins_anew),
		TEST(an_edit_does_not_judge_thousands_of_joins),
		TEST(the_overlap_rule_holds_for_joins),
		TEST(retention_forgets_what_a_join_knew),
		TEST(an_end_and_its_chain_are_one_b181),
		TEST(a_chained_task_has_no_schedule_b176),
		TEST(wrong_upstreams_are_refused),
		TEST(chains_are_bounded),
		TEST(why_tells_the_chain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
