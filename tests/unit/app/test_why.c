/* Why: each situation that a person asks about, told from the rows alone. */

#include "world.h"

#include "app/backfill.h"
#include "app/events.h"
#include "app/ingest.h"
#include "app/groups.h"
#include "app/claim.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "app/why.h"
#include "app/workers.h"
#include "core/limits.h"
#include "core/rule.h"
#include "core/task_def.h"
#include "make_tzif.h"
#include "port/mem_store.h"

/* --- asking ------------------------------------------------------------------------------------------------------- */

struct ask {
	struct world *w;
	int64_t gid, task_id, at;
	struct ax_why why;
	const char *waiting_for;
};

static enum ax_status ask_run(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ask *ask = arg;
	return ax_why_run(tx, &ask->w->zones, ask->gid, ask->w->now, &ask->why, err);
}

static enum ax_status ask_task(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ask *ask = arg;
	return ax_why_task(tx, &ask->w->zones, ask->task_id, ask->at, ask->w->now, &ask->why, err);
}

static struct ax_why why_run(struct world *w, int64_t gid)
{
	struct ask ask = { .w = w, .gid = gid };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, ask_run, &ask, NULL), AX_OK);
	return ask.why;
}

static struct ax_why why_task(struct world *w, int64_t id, int64_t at)
{
	struct ask ask = { .w = w, .task_id = id, .at = at };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, ask_task, &ask, NULL), AX_OK);
	return ask.why;
}

static const char *verdict(const struct ax_why *why)
{
	assert_in_range(why->answer, 0, why->n - 1);
	return why->steps[why->answer].code;
}

static const char *answer(const struct ax_why *why)
{
	return why->steps[why->answer].text;
}

/* The n-th step with the code (0 = first); fails the test when there is none. */
static const struct ax_why_step *step(const struct ax_why *why, const char *code, int n)
{
	for (int i = 0; i < why->n; i++)
		if (strcmp(why->steps[i].code, code) == 0 && n-- == 0)
			return &why->steps[i];
	for (int i = 0; i < why->n; i++)
		print_message("  %s: %s\n", why->steps[i].code, why->steps[i].text);
	fail_msg("there is no step %s", code);
	return NULL;
}

static bool has(const struct ax_why *why, const char *code)
{
	for (int i = 0; i < why->n; i++)
		if (strcmp(why->steps[i].code, code) == 0)
			return true;
	return false;
}

static void says(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("'%s' does not say '%s'", text, part);
}

static const char *number(struct world *w, int64_t n)
{
	return ax_sprintf(&w->arena, "%lld", (long long)n);
}

static enum ax_status waiting_for(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ask *ask = arg;
	struct ax_run run;
	enum ax_status status = tx->ops->run_get(tx, ask->gid, false, &run, err);
	struct ax_claim_view view = { .tx = tx, .now = ask->w->now };
	return status == AX_OK ? ax_run_waiting_for(&view, &run, &ask->waiting_for, err) : status;
}

/* The run waits for the named rule, which is what the API's waiting_for says too. */
static struct ax_why waits_for(struct world *w, int64_t gid, const char *code)
{
	struct ask ask = { .w = w, .gid = gid };
	struct ax_why why = why_run(w, gid);
	assert_string_equal(verdict(&why), code);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, waiting_for, &ask, NULL), AX_OK);
	assert_string_equal(ask.waiting_for, code);
	return why;
}

/* --- making situations -------------------------------------------------------------------------------------------- */

static struct ax_run trigger_key(struct world *w, int64_t id, const char *key)
{
	return trigger_how(w, (struct ax_trigger){ .task_id = id, .key = key });
}

static struct ax_run claim(struct world *w)
{
	struct ax_order order;
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	return order.run;
}

/* Ticks as a server does, second by second. */
static void live(struct world *w, int64_t seconds)
{
	for (int64_t i = 0; i < seconds; i++)
		go(w, 1000);
}

static void set_status(struct world *w, int64_t id, enum ax_task_status status)
{
	struct ax_task task;
	assert_int_equal(ax_task_set_status(&w->ctx, id, status, "test", &task, NULL, NULL), AX_OK);
}

static void set_group(struct world *w, int64_t quota, bool paused)
{
	struct ax_group group = { .group_key = "default",
		.title = "",
		.contacts = "",
		.long_share_percent = 50,
		.defaults = "{}",
		.dispatch_quota = quota,
		.pool_size = 50,
		.paused = paused,
		.version = 1 };
	assert_int_equal(ax_group_update(&w->ctx, &group, &group, NULL), AX_OK);
}

/* Rows as a broken server would write them. */
static enum ax_status cover_first_minute(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_run *run = arg;
	run->covers_from = run->covers_to = T0 + 60000;
	run->covers_count = 1;
	return tx->ops->run_update(tx, run, run->rev, err);
}

static enum ax_status stand_for_half_past(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_run *run = arg;
	run->gid++;
	run->trigger_time = run->create_time = T0 + 90000;
	run->fire_key = ax_sprintf(tx->arena, "%lld", (long long)run->trigger_time);
	return tx->ops->run_insert(tx, run, err);
}

static enum ax_status forget_first_minute(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_task *task = arg;
	task->next_trigger_time = T0 + 120000;
	return tx->ops->task_advance(tx, task, T0 + 60000, err);
}

static void no_limit(struct ax_task_def *def)
{
	def->timeout_seconds = 0;
}

static void one_retry(struct ax_task_def *def)
{
	def->retry_count = 1;
}

static void overlap_skip(struct ax_task_def *def)
{
	def->overlap = AX_OVERLAP_SKIP;
}

static void misfire_skip(struct ax_task_def *def)
{
	def->misfire = AX_MISFIRE_SKIP;
}

static void other_executor(struct ax_task_def *def)
{
	def->executor_key = "sql";
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static void test_a_fire_on_time_that_succeeds(void **state)
{
	struct world *w = *state;
	make_task(w, "* * * * *", NULL);
	go(w, 60000);
	struct ax_run run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	struct ax_why why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "success");
	says(why.subject, number(w, run.gid));
	says(step(&why, "fire", 0)->text, "2026-06-01T00:01:00Z");
	says(step(&why, "fire", 0)->text, "* * * * * in UTC");
	assert_int_equal(step(&why, "fire", 0)->mark, AX_WHY_OK);
	assert_int_equal(step(&why, "on_time", 0)->mark, AX_WHY_OK);
	says(step(&why, "given_out", 0)->text, "w1");
	assert_true(has(&why, "started"));
	says(step(&why, "one_fire", 0)->text, "a different gid");
	for (int i = 0; i < why.n; i++)
		assert_int_not_equal(why.steps[i].mark, AX_WHY_FAIL);
}

static void spread_over_an_hour(struct ax_task_def *def)
{
	def->jitter_seconds = 3599;
}

static void test_jitter_makes_it_due_later(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 * * * *", spread_over_an_hour);
	go(w, task_row(w, id).next_trigger_time - w->now);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	int64_t jitter_s = (run.trigger_time - T0 - 3600000) / 1000;
	assert_in_range(jitter_s, 1, 3599);
	struct ax_why why = why_run(w, run.gid);
	says(step(&why, "fire", 0)->text, "2026-06-01T01:00:00Z");
	assert_int_equal(step(&why, "jitter", 0)->time, run.trigger_time);
	says(step(&why, "jitter", 0)->text, "jitter makes it due");
	assert_int_equal(step(&why, "on_time", 0)->mark, AX_WHY_OK);
}

static void test_a_fire_that_no_rule_demanded_is_a_fault(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	go(w, 60000);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, stand_for_half_past, &run, NULL), AX_OK);
	struct ax_why why = why_run(w, run.gid);
	assert_int_equal(step(&why, "fire_undemanded", 0)->mark, AX_WHY_FAIL);
	says(step(&why, "fire_undemanded", 0)->text, "2026-06-01T00:01:30Z");
	says(step(&why, "fire_undemanded", 0)->text, "* * * * * in UTC");
	assert_false(has(&why, "fire"));
}

static void test_by_hand_by_key_and_rerun(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@hourly", NULL);
	struct ax_run run = trigger_key(w, id, "order-17"), again;
	struct ax_why why = waits_for(w, run.gid, "claim");
	says(step(&why, "manual", 0)->text, "order-17");
	run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	go(w, 1000);
	assert_int_equal(ax_run_rerun(&w->ctx, run.gid, "", false, &again, NULL), AX_OK);
	why = why_run(w, again.gid);
	says(step(&why, "rerun", 0)->text, number(w, run.gid));
	assert_true(has(&why, "one_request"));
	why = why_run(w, run.gid);
	says(step(&why, "rerun_by", 0)->text, number(w, again.gid));
}

static void test_a_gap_makes_a_run_late_that_covers_the_others(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	go_quiet(w, 5 * 60000 + 30000);
	restart(w);
	go(w, 0);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	struct ax_why why = why_run(w, run.gid);
	says(step(&why, "late", 0)->text, "30 s late");
	says(step(&why, "late", 0)->text, "one started at 2026-06-01T00:05:30Z");
	says(step(&why, "covers", 0)->text, "4 more of the fires from 2026-06-01T00:01:00Z to 2026-06-01T00:05:00Z");
	says(step(&why, "covers", 0)->text, "found late");
	/* and the task says so for each of them */
	why = why_task(w, id, T0 + 150000);
	assert_string_equal(verdict(&why), "coalesced");
	says(answer(&why), number(w, run.gid));
	says(answer(&why), "2026-06-01T00:02:00Z");
	says(step(&why, "fire_after", 0)->text, "2026-06-01T00:03:00Z");
}

static void test_waiting_for_another_run(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", no_limit);
	go(w, 60000);
	struct ax_run first = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &first);
	go(w, 60000);
	struct ax_run second = find_run(w, id, AX_RUN_WAITING, 0);
	struct ax_why why = waits_for(w, second.gid, "overlap");
	says(answer(&why), number(w, first.gid));
	says(answer(&why), "RUNNING on w1");
	assert_false(has(&why, "worker")); /* later rules are not asked */
	go(w, 60000);                      /* a third fire joins the one that waits */
	why = why_run(w, second.gid);
	says(step(&why, "covers", 0)->text, "still waited");
	why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "coalesced");
	says(answer(&why), number(w, second.gid));
	assert_int_equal(step(&why, "overlap", 0)->mark, AX_WHY_FAIL);
}

static void test_the_rules_of_giving_out_in_order(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@hourly", no_limit);
	struct ax_run run = trigger(w, id);
	struct ax_why why = waits_for(w, run.gid, "claim");
	assert_int_equal(step(&why, "overlap", 0)->mark, AX_WHY_OK);
	assert_int_equal(step(&why, "worker", 0)->mark, AX_WHY_OK);
	set_group(w, 1, true);
	waits_for(w, run.gid, "group_paused");
	w->now += AX_LEASE_MS + 1; /* nobody was seen for a lease */
	struct ax_group group = { .group_key = "default",
		.title = "",
		.contacts = "",
		.long_share_percent = 50,
		.defaults = "{}",
		.dispatch_quota = 1,
		.pool_size = 50,
		.version = 2 };
	assert_int_equal(ax_group_update(&w->ctx, &group, &group, NULL), AX_OK);
	why = waits_for(w, run.gid, "worker");
	says(answer(&why), "No worker is online");
	register_worker(w, "w1", "i1", 1);
	assert_int_equal(claim(w).gid, run.gid);
	struct ax_run second = trigger(w, make_task(w, "@hourly", NULL));
	why = waits_for(w, second.gid, "quota");
	says(answer(&why), "1 of 1 runs out");
}

static void test_backlog(void **state)
{
	struct world *w = *state;
	struct ax_order orders[3];
	register_worker(w, "w1", "i1", 1);
	for (int i = 0; i < 4; i++)
		trigger(w, make_task(w, "@hourly", NULL));
	assert_int_equal(poll(w, "w1", "i1", 3, orders, NULL), 3);
	const struct ax_run *run, *left = NULL;
	for (size_t i = 0; (run = ax_mem_store_at(w->mem, &ax_run_row, i)) != NULL; i++)
		if (run->status == AX_RUN_WAITING)
			left = run;
	assert_non_null(left);
	waits_for(w, left->gid, "backlog");
}

static void test_no_worker_offers_the_executor(void **state)
{
	struct world *w = *state;
	struct ax_run run = trigger(w, make_task(w, "@hourly", other_executor));
	struct ax_why why = waits_for(w, run.gid, "worker");
	says(answer(&why), "executor sql: 1 are online");
}

static void two_shards_of_sql(struct ax_task_def *def)
{
	def->executor_key = "sql";
	def->shard_count = 2;
}

static void two_shards(struct ax_task_def *def)
{
	def->shard_count = 2;
}

static void test_a_parent_says_what_its_shards_wait_for(void **state)
{
	struct world *w = *state;
	struct ax_run parent = trigger(w, make_task(w, "@hourly", two_shards_of_sql));
	assert_int_equal(parent.status, AX_RUN_RUNNING);
	struct ax_why why = waits_for(w, parent.gid, "worker");
	says(step(&why, "shards", 0)->text, "2 WAITING");
	says(step(&why, "shard_waits", 0)->text, "Shard 1");
	says(answer(&why), "executor sql: 1 are online");
	/* one at work, the other waits: it runs */
	set_group(w, 1, false);
	parent = trigger(w, make_task(w, "@hourly", two_shards));
	claim(w);
	why = why_run(w, parent.gid);
	assert_string_equal(verdict(&why), "shards");
	assert_int_equal(step(&why, "quota", 0)->mark, AX_WHY_FAIL);
}

static void test_a_paused_task_holds_its_runs(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	go(w, 60000);
	struct ax_run run = find_run(w, id, AX_RUN_WAITING, 0);
	go(w, 1000);
	set_status(w, id, AX_TASK_PAUSED);
	struct ax_why why = waits_for(w, run.gid, "task_paused");
	says(answer(&why), "2026-06-01T00:01:01Z");
}

static void test_failures_and_their_retries(void **state)
{
	struct world *w = *state;
	struct ax_run run = trigger(w, make_task(w, "@hourly", one_retry));
	run = claim(w);
	go(w, 5000);
	result(w, "w1", &run, AX_OUTCOME_FAILED);
	struct ax_why why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "retrying");
	says(step(&why, "attempt_failed", 0)->text, "Attempt 1 (fence 1) went to w1");
	says(step(&why, "attempt_failed", 0)->text, "failed after 5 s (code 3: said so): retry 1 of 1");
	go(w, 120000);
	run = claim(w);
	why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "not_accepted_yet");
	result(w, "w1", &run, AX_OUTCOME_FAILED);
	why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "failed");
	says(answer(&why), "after 1 retries and 0 losses");
	says(answer(&why), "said so");
	says(step(&why, "given_out", 0)->text, "Attempt 2 (fence 2)");
}

static void test_a_timeout_and_its_retry(void **state)
{
	struct world *w = *state;
	struct ax_run run = trigger(w, make_task(w, "@hourly", one_retry));
	run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	go(w, 5000);
	result(w, "w1", &run, AX_OUTCOME_TIMEOUT);
	struct ax_why why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "retrying");
	assert_int_equal(step(&why, "attempt_timeout", 0)->mark, AX_WHY_FAIL);
	says(step(&why, "attempt_timeout", 0)->text, "timed out after 5 s (code 3: said so): retry 1 of 1");
	go(w, 120000);
	run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_TIMEOUT);
	why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "timeout");
}

static void test_a_worker_that_shuts_down_stops_an_attempt(void **state)
{
	struct world *w = *state;
	struct ax_run run = trigger(w, make_task(w, "@hourly", NULL));
	run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	go(w, 5000);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_CANCELLED), AX_VERDICT_APPLIED);
	struct ax_why why = why_run(w, run.gid);
	assert_int_equal(step(&why, "attempt_stopped", 0)->mark, AX_WHY_FAIL);
	says(step(&why, "attempt_stopped", 0)->text, "was stopped after 5 s");
	says(step(&why, "attempt_stopped", 0)->text, "lost 1 of 3, given out again");
	assert_string_equal(verdict(&why), "claim");
}

static void test_what_a_worker_refuses_is_not_tried_again(void **state)
{
	struct world *w = *state;
	struct ax_run run = trigger(w, make_task(w, "@hourly", one_retry));
	run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_REFUSED);
	struct ax_why why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "refused");
	says(answer(&why), "said so");
	assert_true(has(&why, "given_out"));
	assert_false(has(&why, "attempt_refused")); /* it ended the run, which says so itself */
}

static void test_a_bounce_counts_for_nothing(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = trigger(w, make_task(w, "@hourly", NULL));
	claim(w);
	live(w, 16);
	struct ax_why why = why_run(w, run.gid);
	says(step(&why, "attempt_bounced", 0)->text, "1 of 10 in a row");
	assert_int_equal(step(&why, "attempt_bounced", 0)->mark, AX_WHY_INFO);
	assert_false(has(&why, "given_out")); /* said already */
	says(step(&why, "attempt_bounced", 0)->text, "no worker accepted it");
}

static void test_a_run_that_was_given_back(void **state)
{
	struct world *w = *state;
	live(w, 46);
	trigger(w, make_task(w, "@hourly", NULL));
	struct ax_run run = claim(w);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_CANCELLED), AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_WAITING);
	struct ax_why why = why_run(w, run.gid);
	says(step(&why, "attempt_bounced", 0)->text, "given back before it began");
}

static void test_a_lost_attempt_and_its_late_result(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = trigger(w, make_task(w, "@hourly", no_limit));
	run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	live(w, 46);
	struct ax_why why = why_run(w, run.gid);
	says(step(&why, "attempt_lost", 0)->text, "lost 1 of 3, given out again");
	register_worker(w, "w1", "i1", 10);
	struct ax_run again = claim(w);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
	why = why_run(w, run.gid);
	says(step(&why, "late_result", 0)->text, "changes nothing");
	result(w, "w1", &again, AX_OUTCOME_SUCCESS);
	why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "success");
	says(step(&why, "given_out", 0)->text, "fence 2");
}

static void test_a_late_success_that_counts(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = trigger(w, make_task(w, "@hourly", no_limit));
	run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	live(w, 46);
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	struct ax_why why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "success");
	says(step(&why, "late_success", 0)->text, "it counts");
}

static void test_the_hard_limit_and_what_came_after_it(void **state)
{
	struct world *w = *state;
	live(w, 46);
	struct ax_run run = trigger(w, make_task(w, "@hourly", one_retry));
	for (int i = 0; i < 2; i++) {
		run = claim(w);
		report(w, "w1", AX_ITEM_STARTED, &run);
		struct ax_why why = why_run(w, run.gid);
		assert_string_equal(verdict(&why), "running");
		says(answer(&why), "the server ends it at");
		for (int s = 0; s < 72 && run_row(w, run.gid).status == AX_RUN_RUNNING; s++) {
			live(w, 1);
			report(w, "w1", AX_ITEM_HEARTBEAT, &run);
		}
		if (i == 0)
			go(w, run_row(w, run.gid).deadline_time - w->now);
	}
	assert_int_equal(result(w, "w1", &run, AX_OUTCOME_SUCCESS), AX_VERDICT_LATE);
	struct ax_why why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "hard_limit");
	assert_true(has(&why, "attempt_hard_limit"));
	says(step(&why, "late_result", 0)->text, "fence 2: success");
}

static void test_a_cancelled_run(void **state)
{
	struct world *w = *state;
	struct ax_run run = trigger(w, make_task(w, "@hourly", NULL));
	run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "wrong day", &run, NULL), AX_OK);
	struct ax_why why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "cancelling");
	says(answer(&why), "not told yet");
	result(w, "w1", &run, AX_OUTCOME_CANCELLED);
	why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "cancelled");
}

static void test_what_was_cancelled_with_another_thing(void **state)
{
	struct world *w = *state;
	go(w, 2 * INT64_C(3600000));
	int64_t id = make_task(w, "@hourly", NULL);
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 + 1, .to_time = w->now, .max_live = 5 };
	struct ax_backfill b;
	assert_int_equal(ax_backfill_create(&w->ctx, &ask, "ann", &b, NULL), AX_OK);
	int64_t gid = find_run(w, id, AX_RUN_WAITING, 0).gid;
	assert_int_equal(ax_backfill_cancel(&w->ctx, b.id, &b, NULL), AX_OK);
	struct ax_why why = why_run(w, gid);
	assert_string_equal(verdict(&why), "cancelled");
	says(answer(&why), "cancelled the backfill");
	gid = trigger(w, id).gid;
	assert_int_equal(ax_task_delete(&w->ctx, id, true, "test", NULL), AX_OK);
	why = why_run(w, gid);
	assert_string_equal(verdict(&why), "cancelled");
	says(answer(&why), "deleted its task");
}

static void test_a_second_gid_for_one_fire_is_a_fault(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	go(w, 60000);
	struct ax_run first = claim(w);
	go(w, 60000);
	struct ax_run second = find_run(w, id, AX_RUN_WAITING, 0);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, cover_first_minute, &second, NULL), AX_OK);
	struct ax_why why = why_run(w, first.gid);
	assert_string_equal(verdict(&why), "duplicate");
	says(answer(&why), number(w, second.gid));
	why = why_task(w, id, T0 + 60000);
	assert_string_equal(verdict(&why), "duplicate");
}

static void that_must_move(struct ax_task_def *def)
{
	def->timeout_seconds = 0;
	def->expected_seconds = 20;
	def->stall_seconds = 10;
}

static void test_progress_stall_and_promises(void **state)
{
	struct world *w = *state;
	trigger(w, make_task(w, "", that_must_move));
	struct ax_run run = claim(w);
	report(w, "w1", AX_ITEM_STARTED, &run);
	struct ax_why why = why_run(w, run.gid);
	assert_false(has(&why, "progress") || has(&why, "stalled") || has(&why, "overran"));
	static const char *const groups[] = { "default", NULL };
	struct ax_item item = {
		.type = AX_ITEM_PROGRESS, .gid = run.gid, .fence = run.fence, .percent = 42, .message = "page 4"
	};
	struct ax_report said = { .groups = groups, .worker = "w1", .incarnation = "i1", .items = &item, .n = 1 };
	assert_int_equal(ax_ingest(&w->ctx, &said, NULL), AX_OK);
	go(w, 5000);
	why = why_run(w, run.gid);
	says(step(&why, "progress", 0)->text, "42 %: page 4, for 5 s");
	go(w, 16000);
	why = why_run(w, run.gid);
	assert_false(has(&why, "progress"));
	says(step(&why, "stalled", 0)->text, "for 21 s: longer than stall_seconds");
	assert_int_equal(step(&why, "overran", 0)->mark, AX_WHY_FAIL);
	assert_string_equal(verdict(&why), "running");
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

static void test_the_fire_before_an_instant(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "30 2 * * *", NULL);
	go(w, INT64_C(9000000)); /* 02:30 */
	struct ax_run run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	go(w, 3600000);
	register_worker(w, "w1", "i1", 10);
	struct ax_why why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "ran");
	says(answer(&why), number(w, run.gid));
	says(step(&why, "fire_after", 0)->text, "2026-06-02T02:30:00Z");
	assert_int_equal(step(&why, "enabled", 0)->mark, AX_WHY_OK);
	assert_int_equal(step(&why, "next_fire", 0)->mark, AX_WHY_OK);
	says(step(&why, "next_fire", 0)->text, "2026-06-02T02:30:00Z");
	assert_true(has(&why, "backlog")); /* every rule was asked and holds */
	why = why_task(w, id, w->now + 2 * INT64_C(86400000));
	assert_string_equal(verdict(&why), "not_due_yet");
	says(answer(&why), "2026-06-03T02:30:00Z");
	why = why_task(w, id, T0 + 1000);
	assert_string_equal(verdict(&why), "no_fire_yet");
	why = why_task(w, id, T0 - 1000);
	assert_string_equal(verdict(&why), "before_task");
}

static void test_skipped_by_overlap_and_by_misfire(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", overlap_skip);
	go(w, 60000);
	struct ax_run run = claim(w);
	go(w, 60000);
	struct ax_why why = why_task(w, id, T0 + 120000);
	assert_string_equal(verdict(&why), "skipped");
	says(answer(&why), "SKIPPED, overlap");
	says(answer(&why), number(w, run.gid));
	why = why_run(w, find_run(w, id, AX_RUN_SKIPPED, 0).gid);
	assert_string_equal(verdict(&why), "skipped_overlap");
	int64_t other = make_task(w, "* * * * *", misfire_skip);
	go_quiet(w, 5 * 60000 + 30000);
	go(w, 0);
	why = why_task(w, other, T0 + 4 * 60000);
	assert_string_equal(verdict(&why), "skipped");
	why = why_run(w, find_run(w, other, AX_RUN_SKIPPED, 0).gid);
	assert_string_equal(verdict(&why), "skipped_misfire");
}

static void test_missed_then_run_by_a_person(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@hourly", NULL);
	go_quiet(w, 3600000 + 1200000);
	go(w, 0);
	struct ax_run missed = find_run(w, id, AX_RUN_MISSED, 0);
	struct ax_why why = why_run(w, missed.gid);
	assert_string_equal(verdict(&why), "missed");
	says(answer(&why), "a person must decide");
	assert_int_equal(step(&why, "missed_fires", 0)->mark, AX_WHY_FAIL);
	says(step(&why, "missed_fires", 0)->text, "1 missed fires from 2026-06-01T01:00:00Z to 2026-06-01T01:00:00Z");
	why = why_task(w, id, T0 + 3600000);
	assert_string_equal(verdict(&why), "missed");
	struct ax_runs made;
	assert_int_equal(ax_run_resolve_missed(&w->ctx, missed.gid, AX_MISSED_RUN, "", &missed, &made, NULL), AX_OK);
	why = why_run(w, missed.gid);
	assert_string_equal(verdict(&why), "missed_run");
	says(step(&why, "made_up_of", 0)->text, number(w, made.at[0].gid));
	why = why_run(w, made.at[0].gid);
	assert_true(has(&why, "made_up"));
	assert_false(has(&why, "duplicate"));
	why = why_task(w, id, T0 + 3600000);
	assert_string_equal(verdict(&why), "waiting");
	says(answer(&why), number(w, made.at[0].gid));
}

static void test_missed_and_dismissed_by_a_person(void **state)
{
	struct world *w = *state;
	struct ax_runs made;
	int64_t id = make_task(w, "@hourly", NULL);
	go_quiet(w, 3 * 3600000 + 1200000);
	go(w, 0);
	struct ax_run missed = find_run(w, id, AX_RUN_MISSED, 0);
	assert_int_equal(
		ax_run_resolve_missed(&w->ctx, missed.gid, AX_MISSED_DISMISS, "", &missed, &made, NULL), AX_OK);
	struct ax_why why = why_run(w, missed.gid);
	assert_string_equal(verdict(&why), "missed_dismissed");
	says(answer(&why), "a person dismissed it");
	says(step(&why, "missed_fires", 0)->text, "3 missed fires from 2026-06-01T01:00:00Z to 2026-06-01T03:00:00Z");
}

static void from_two_past_to_four_past(struct ax_task_def *def)
{
	def->valid_from = T0 + 120000;
	def->valid_until = T0 + 240000;
}

static void test_a_time_outside_the_window_of_validity(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", from_two_past_to_four_past);
	for (int i = 0; i < 6; i++)
		go(w, 60000);
	struct ax_why why = why_task(w, id, T0 + 90000);
	assert_string_equal(verdict(&why), "validity");
	says(answer(&why), "2026-06-01T00:01:00Z is no fire: the task is valid from 2026-06-01T00:02:00Z");
	why = why_task(w, id, T0 + 330000);
	assert_string_equal(verdict(&why), "validity");
	says(answer(&why), "2026-06-01T00:05:00Z is no fire: the task is valid until 2026-06-01T00:04:00Z");
}

static void test_paused_created_and_exhausted_tasks(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	go(w, 60000);
	struct ax_run run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	go(w, 1000);
	set_status(w, id, AX_TASK_PAUSED);
	go(w, 600000);
	struct ax_why why = why_task(w, id, w->now - 1000);
	assert_string_equal(verdict(&why), "paused");
	says(answer(&why), "from 2026-06-01T00:01:01Z on");
	says(answer(&why), "2026-06-01T00:11:00Z was not demanded");
	why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "paused");
	why = why_task(w, id, T0 + 60500);
	assert_string_equal(verdict(&why), "ran");
	int64_t once = make_task(w, "@at 2026-06-01T00:15:00Z", NULL);
	go(w, 240000);
	run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	why = why_task(w, once, w->now);
	assert_string_equal(verdict(&why), "exhausted");
	assert_true(has(&why, "ran"));
}

static void in_moving(struct ax_task_def *def)
{
	def->time_zone = "Test/Moving";
}

static void test_a_task_whose_zone_is_gone(void **state)
{
	struct world *w = *state;
	w->moving = ax_tz_utc();
	int64_t id = make_task(w, "@hourly", in_moving);
	w->moving = NULL;
	go(w, 3600000);
	struct ax_why why = why_task(w, id, w->now);
	assert_true(has(&why, "unschedulable"));
	says(answer(&why), "Test/Moving");
}

/* On the night of 2 June the clock goes from 02:00 to 03:00. */
static struct ax_tz *zone_with_a_gap(void)
{
	unsigned char bytes[512];
	struct ax_tz *tz;
	size_t len = make_tzif(bytes, "XXX0YYY,M6.1.2,M10.5.0");
	assert_int_equal(ax_tz_parse("Test/Moving", bytes, len, &tz, NULL), AX_OK);
	return tz;
}

static void test_fires_that_a_change_of_the_clock_leaves_out(void **state)
{
	struct world *w = *state;
	struct ax_tz *tz = zone_with_a_gap();
	w->moving = tz;
	int64_t id = make_task(w, "*/30 0-12 * * *", in_moving), jump = T0 + INT64_C(26) * 3600000;
	struct ax_why why = why_task(w, id, jump - 600000);
	says(step(&why, "fire", 0)->text, "2026-06-02T01:30:00Z");
	assert_int_equal(step(&why, "gap", 0)->time, jump);
	says(step(&why, "gap", 0)->text, "does not run from 02:00 to 03:00");
	says(step(&why, "fire_after", 0)->text, "2026-06-02T03:00:00+01:00");
	why = why_task(w, id, jump - 2400000);
	assert_false(has(&why, "gap")); /* a fire comes before it */
	ax_tz_free(tz);
	w->moving = NULL;
}

static void test_a_task_that_is_being_deleted(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@hourly", NULL);
	trigger(w, id);
	claim(w);
	assert_int_equal(ax_task_delete(&w->ctx, id, true, "test", NULL), AX_CONFLICT);
	struct ax_why why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "deleting");
	says(step(&why, "task", 0)->text, "deleting");
}

/* What keeps it there is the live run, and what is to be done is said first all the same. */
static void test_a_task_that_is_deleted_while_its_last_run_is_live(void **state)
{
	struct world *w = *state;
	int64_t delayed = make_task(w, "", NULL), scheduled = make_task(w, "* * * * *", NULL);
	go(w, 60000);
	trigger(w, delayed);
	claim(w);
	claim(w);
	const int64_t ids[] = { delayed, scheduled };
	for (size_t i = 0; i < AX_COUNT(ids); i++) {
		assert_int_equal(ax_task_delete(&w->ctx, ids[i], true, "test", NULL), AX_CONFLICT);
		struct ax_why why = why_task(w, ids[i], w->now);
		assert_string_equal(verdict(&why), "deleting");
		assert_true(has(&why, "cancelling"));
	}
}

static void test_a_fire_without_a_trace_is_a_fault(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	go_quiet(w, 60000);
	register_worker(w, "w1", "i1", 10);
	struct ax_why why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "being_made");
	go_quiet(w, 20000);
	why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "scheduler_late");
	says(answer(&why), "20 s");
	struct ax_task task = task_row(w, id);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, forget_first_minute, &task, NULL), AX_OK);
	why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "nothing");
	assert_int_equal(why.steps[why.answer].mark, AX_WHY_FAIL);
}

static void test_tasks_without_a_schedule_and_after(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", NULL);
	struct ax_why why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "no_schedule");
	says(answer(&why), "there was none");
	struct ax_run run = trigger(w, id);
	why = why_task(w, id, w->now);
	says(answer(&why), number(w, run.gid));
	run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	int64_t after = make_task(w, "@after 30s", NULL);
	go(w, 30000);
	run = claim(w);
	why = why_task(w, after, w->now);
	assert_string_equal(verdict(&why), "ran");
	says(answer(&why), number(w, run.gid));
	why = why_run(w, run.gid);
	assert_int_equal(step(&why, "fire", 0)->mark, AX_WHY_OK);
}

static void edit(struct world *w, int64_t id, void (*change)(struct ax_task_def *def))
{
	struct ax_task task = task_row(w, id), changed;
	struct ax_err err = { 0 };
	change(&task.def);
	if (ax_task_update(&w->ctx, id, task.version, &task.def, "test", &changed, &err) != AX_OK)
		fail_msg("%s: %s", err.field, err.msg);
}

static const char *upstreams; /* as a definition names them */

static void follows(struct ax_task_def *def)
{
	def->task_type = AX_TASK_SCHEDULED;
	def->cron_expr = "";
	def->upstreams = upstreams;
}

static void at_half_past_two(struct ax_task_def *def)
{
	def->upstreams = "";
	def->cron_expr = "30 2 * * *";
}

static void test_a_task_that_had_a_schedule_at_times(void **state)
{
	struct world *w = *state;
	int64_t upstream = make_task(w, "", NULL);
	upstreams = number(w, upstream);
	int64_t id = make_task(w, "", follows);
	go(w, 1000);
	struct ax_run run = trigger(w, id);
	go(w, 3599000);
	edit(w, id, at_half_past_two);
	go(w, 3600000); /* 02:00: the schedule has had no fire yet, and the task is no draft */
	struct ax_why why = why_task(w, id, w->now);
	assert_false(has(&why, "created") || has(&why, "paused"));
	assert_true(has(&why, "no_fire_yet"));
	why = why_task(w, id, T0 + 1800000); /* it followed another then */
	assert_string_equal(verdict(&why), "no_schedule");
	says(answer(&why), "From 2026-06-01T00:00:00Z on the task had no schedule");
	says(answer(&why), number(w, run.gid));
	run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	go(w, 1800000); /* 02:30 */
	run = find_run(w, id, AX_RUN_WAITING, 0);
	go(w, 1800000);
	edit(w, id, follows);
	go(w, 1000);
	trigger(w, id);
	go(w, 1000);
	why = why_task(w, id, T0 + 9000000 + 60000); /* it had a schedule then */
	assert_string_equal(verdict(&why), "waiting");
	says(answer(&why), "2026-06-01T02:30:00Z");
	says(answer(&why), number(w, run.gid));
	why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "no_schedule");
	says(answer(&why), "one of these has succeeded");
}

static void every_half_hour(struct ax_task_def *def)
{
	def->upstreams = "";
	def->cron_expr = "*/30 * * * *";
}

static void test_a_backfill_made_a_fire_of_when_there_was_no_schedule(void **state)
{
	struct world *w = *state;
	upstreams = number(w, make_task(w, "", NULL));
	int64_t id = make_task(w, "", follows);
	go(w, 3600000);
	edit(w, id, every_half_hour);
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0 + 1, .to_time = w->now, .max_live = 5 };
	struct ax_backfill b;
	assert_int_equal(ax_backfill_create(&w->ctx, &ask, "ann", &b, NULL), AX_OK);
	go(w, 1000);
	struct ax_why why = why_task(w, id, T0 + 1800000 + 60000);
	assert_string_equal(verdict(&why), "waiting");
	says(answer(&why), "backfill");
}

/* What is told of a task that has had no fire since it was enabled. */
static void test_enabled_and_no_fire_yet(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "30 2 * * *", NULL), after = make_task(w, "@after 30m", NULL);
	set_status(w, id, AX_TASK_PAUSED);
	set_status(w, after, AX_TASK_PAUSED);
	go(w, 3600000);
	struct ax_why why = why_task(w, after, w->now);
	assert_string_equal(verdict(&why), "paused");
	set_status(w, id, AX_TASK_ENABLED);
	set_status(w, after, AX_TASK_ENABLED);
	go(w, 60000);
	register_worker(w, "w1", "i1", 10);
	why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "no_fire_yet");
	why = why_task(w, after, w->now);
	assert_string_equal(verdict(&why), "no_fire_yet");
	why = why_task(w, after, T0 + 1800000);
	assert_string_equal(verdict(&why), "paused");
}

static void test_a_draft_that_was_enabled_is_no_draft(void **state)
{
	struct world *w = *state;
	struct ax_task_def def = ax_def_preset();
	def.task_name = "a draft";
	def.cron_expr = "30 2 * * *";
	def.executor_key = "exec";
	enum ax_task_status status = AX_TASK_CREATED;
	struct ax_task task;
	int failed;
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &status, 1, "test", &task, &failed, NULL), AX_OK);
	go(w, 60000);
	struct ax_why why = why_task(w, task.id, w->now);
	assert_string_equal(verdict(&why), "created");
	set_status(w, task.id, AX_TASK_ENABLED);
	go(w, 60000);
	register_worker(w, "w1", "i1", 10);
	why = why_task(w, task.id, w->now);
	assert_string_equal(verdict(&why), "no_fire_yet");
	why = why_task(w, task.id, T0 + 30000);
	assert_string_equal(verdict(&why), "created");
}

static int64_t send(struct world *w, const char *id, const char *payload)
{
	struct ax_event_sent sent = { .event_name = "paid",
		.event_id = id,
		.event_key = id,
		.run_key = id,
		.payload = payload,
		.sent_by = "shop" };
	struct ax_event event;
	struct ax_event_tasks tasks;
	bool existed;
	assert_int_equal(ax_event_send(&w->ctx, &sent, &event, &tasks, &existed, NULL), AX_OK);
	return tasks.at[0].gid;
}

static void for_the_dear(struct ax_task_def *def)
{
	def->task_type = AX_TASK_EVENT;
	def->event_name = "paid";
	def->event_condition = "[{\"field\":\"/total\",\"op\":\"ge\",\"value\":100}]";
}

static void test_what_became_of_the_newest_event(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", for_the_dear), begin = w->now;
	struct ax_why why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "no_schedule");
	go(w, 1000);
	int64_t gid = send(w, "o1", "{\"total\":100}"), first = w->now;
	why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "no_schedule");
	says(answer(&why), number(w, gid));
	says(step(&why, "event", 0)->text, "paid (o1)");
	go(w, 1000);
	assert_int_equal(send(w, "o2", "{\"total\":99}"), 0);
	why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "passed_over");
	says(answer(&why), "paid (o2)");
	says(answer(&why), "condition");
	why = why_task(w, id, first); /* as it was before */
	assert_string_equal(verdict(&why), "no_schedule");
	assert_true(has(&why, "event"));
	why = why_task(w, id, begin);
	assert_false(has(&why, "event") || has(&why, "passed_over"));
}

static void test_a_backfill_made_a_fire_from_before_the_task(void **state)
{
	struct world *w = *state;
	go(w, INT64_C(86400000));
	int64_t id = make_task(w, "0 * * * *", NULL);
	struct ax_backfill_ask ask = { .task_id = id, .from_time = T0, .to_time = T0 + 3600001, .max_live = 5 };
	struct ax_backfill b;
	assert_int_equal(ax_backfill_create(&w->ctx, &ask, "ann", &b, NULL), AX_OK);
	go(w, 1000);
	struct ax_why why = why_task(w, id, T0 + 3600000 + 60000);
	assert_string_equal(verdict(&why), "waiting");
	says(answer(&why), "2026-06-01T01:00:00Z");
	says(answer(&why), "backfill");
	why = why_task(w, id, T0 + 2 * 3600000);
	assert_string_equal(verdict(&why), "before_task");
}

static void test_no_worker_for_a_task_whose_last_fire_ran(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@hourly", NULL);
	go(w, 3600000);
	struct ax_run run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	go(w, 60000);
	struct ax_why why = why_task(w, id, w->now);
	assert_string_equal(verdict(&why), "worker");
	assert_true(has(&why, "ran"));
}

static void test_what_is_not_there(void **state)
{
	struct world *w = *state;
	struct ask ask = { .w = w, .gid = 12345, .task_id = 12345, .at = w->now };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, ask_run, &ask, NULL), AX_NOT_FOUND);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, ask_task, &ask, NULL), AX_NOT_FOUND);
	/* a deleted task's runs can still be asked about */
	int64_t id = make_task(w, "* * * * *", NULL);
	go(w, 60000);
	struct ax_run run = claim(w);
	result(w, "w1", &run, AX_OUTCOME_SUCCESS);
	assert_int_equal(ax_task_delete(&w->ctx, id, false, "test", NULL), AX_OK);
	struct ax_why why = why_run(w, run.gid);
	assert_string_equal(verdict(&why), "success");
	says(why.subject, "(deleted)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
		T(test_a_fire_on_time_that_succeeds),
		T(test_jitter_makes_it_due_later),
		T(test_a_fire_that_no_rule_demanded_is_a_fault),
		T(test_by_hand_by_key_and_rerun),
		T(test_a_gap_makes_a_run_late_that_covers_the_others),
		T(test_waiting_for_another_run),
		T(test_the_rules_of_giving_out_in_order),
		T(test_backlog),
		T(test_no_worker_offers_the_executor),
		T(test_a_parent_says_what_its_shards_wait_for),
		T(test_a_paused_task_holds_its_runs),
		T(test_failures_and_their_retries),
		T(test_a_timeout_and_its_retry),
		T(test_a_worker_that_shuts_down_stops_an_attempt),
		T(test_what_a_worker_refuses_is_not_tried_again),
		T(test_a_bounce_counts_for_nothing),
		T(test_a_run_that_was_given_back),
		T(test_a_lost_attempt_and_its_late_result),
		T(test_a_late_success_that_counts),
		T(test_the_hard_limit_and_what_came_after_it),
		T(test_a_cancelled_run),
		T(test_what_was_cancelled_with_another_thing),
		T(test_a_second_gid_for_one_fire_is_a_fault),
		T(test_progress_stall_and_promises),
		T(test_the_fire_before_an_instant),
		T(test_skipped_by_overlap_and_by_misfire),
		T(test_missed_then_run_by_a_person),
		T(test_missed_and_dismissed_by_a_person),
		T(test_a_time_outside_the_window_of_validity),
		T(test_paused_created_and_exhausted_tasks),
		T(test_a_task_whose_zone_is_gone),
		T(test_fires_that_a_change_of_the_clock_leaves_out),
		T(test_a_task_that_is_being_deleted),
		T(test_a_task_that_is_deleted_while_its_last_run_is_live),
		T(test_a_fire_without_a_trace_is_a_fault),
		T(test_tasks_without_a_schedule_and_after),
		T(test_a_task_that_had_a_schedule_at_times),
		T(test_a_backfill_made_a_fire_of_when_there_was_no_schedule),
		T(test_enabled_and_no_fire_yet),
		T(test_a_draft_that_was_enabled_is_no_draft),
		T(test_what_became_of_the_newest_event),
		T(test_a_backfill_made_a_fire_from_before_the_task),
		T(test_no_worker_for_a_task_whose_last_fire_ran),
		T(test_what_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
