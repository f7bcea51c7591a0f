/* Polls whose answers did not reach the worker: what they brought comes back at once, and nothing else. */

#include "world.h"

#include "app/runs.h"
#include "app/unanswered.h"
#include "port/mem_store.h"
#include "port/row.h"

enum { ITEMS_MAX = 4 };

/* The one run that the poll of that number brings. */
static struct ax_run bring(struct world *w, const char *incarnation, int64_t number)
{
	struct ax_poll poll = {
		.worker = "w1",
		.incarnation = incarnation,
		.number = number,
		.free = { { .group_key = "default", .slots = 1 } },
		.n_free = 1,
	};
	serve_polls(w, &poll, 1);
	assert_int_equal(poll.status, AX_OK);
	assert_int_equal(poll.n_orders, 1);
	return poll.orders[0].run;
}

static struct ax_run bring_new(struct world *w, int64_t number)
{
	struct ax_run made = trigger(w, make_task(w, "", NULL)), run = bring(w, "i1", number);
	assert_int_equal(run.gid, made.gid);
	return run;
}

static struct ax_item about(const struct ax_run *run, enum ax_item_type type, enum ax_outcome outcome)
{
	return (struct ax_item){
		.type = type,
		.gid = run->gid,
		.fence = run->fence,
		.outcome = outcome,
		.percent = -1,
		.message = "",
		.data = "",
		.result = "",
	};
}

struct said {
	enum ax_status status;
	int came_back;
	enum ax_verdict verdicts[ITEMS_MAX];
};

/* A report with these items of its own, that names the poll. */
static struct said say(struct world *w, const char *incarnation, int64_t number, struct ax_item *items, int n)
{
	static const char *const groups[] = { "default", NULL };
	struct said said = { 0 };
	struct ax_report report = {
		.worker = "w1", .incarnation = incarnation, .groups = groups, .items = items, .n = n
	};
	const struct ax_unanswered polls = { &number, 1 };
	assert_int_equal(ax_give_back_unanswered(&w->ctx, &polls, &report, NULL), AX_OK);
	said.came_back = report.n - n;
	said.status = ax_ingest(&w->ctx, &report, NULL);
	for (int i = 0; i < n; i++)
		said.verdicts[i] = report.items[i].verdict;
	return said;
}

/* How many come back. */
static int name(struct world *w, int64_t number)
{
	struct said said = say(w, "i1", number, NULL, 0);
	assert_int_equal(said.status, AX_OK);
	return said.came_back;
}

static void assert_given(struct world *w, int64_t n)
{
	const struct ax_group *group = ax_mem_store_at(w->mem, &ax_group_row, 0);
	const struct ax_worker_group *part = ax_mem_store_at(w->mem, &ax_worker_group_row, 0);
	assert_int_equal(group->running, n);
	assert_int_equal(part->given, n);
}

static void test_what_an_unanswered_poll_brought_comes_back_at_once(void **state)
{
	struct world *w = *state;
	struct ax_run run = bring_new(w, 7), row;
	assert_given(w, 1);
	assert_int_equal(name(w, 7), 1);
	row = run_row(w, run.gid);
	assert_int_equal(row.status, AX_RUN_WAITING);
	assert_int_equal(row.lost_times, 0);
	assert_int_equal(ax_run_attempt(&row), 1);
	assert_given(w, 0);
	assert_int_equal(attempt_row(w, run.gid, 1).outcome, AX_OUTCOME_BOUNCED);
	row = bring(w, "i1", 8);
	assert_int_equal(row.gid, run.gid);
	assert_int_equal(row.fence, run.fence + 1);
	assert_given(w, 1);
	/* said once more it changes nothing, nor does the answer, should it come now */
	assert_int_equal(name(w, 7), 0);
	assert_int_equal(report(w, "w1", AX_ITEM_ACCEPTED, &run), AX_VERDICT_STOP);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_DISPATCHED);
	assert_int_equal(attempt_row(w, run.gid, 1).late_time, 0);
	assert_given(w, 1);
}

/* Two servers are told at once: both find it before either changes anything. */
static void test_said_to_two_servers_it_counts_once(void **state)
{
	struct world *w = *state;
	struct ax_run run = bring_new(w, 7);
	const int64_t number = 7;
	const struct ax_unanswered polls = { &number, 1 };
	struct ax_report reports[2] = {
		{ .worker = "w1", .incarnation = "i1" },
		{ .worker = "w1", .incarnation = "i1" },
	};
	for (int i = 0; i < 2; i++)
		assert_int_equal(ax_give_back_unanswered(&w->ctx, &polls, &reports[i], NULL), AX_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ax_ingest(&w->ctx, &reports[i], NULL), AX_OK);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_WAITING);
	assert_int_equal(run_row(w, run.gid).bounce_times, 1);
	assert_int_equal(attempt_row(w, run.gid, 1).late_time, 0);
	assert_given(w, 0);
}

static void test_what_shall_stop_is_stopped_by_it(void **state)
{
	struct world *w = *state;
	struct ax_run run = bring_new(w, 7), row;
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &row, NULL), AX_OK);
	assert_int_equal(row.status, AX_RUN_DISPATCHED);
	assert_int_equal(name(w, 7), 1);
	row = run_row(w, run.gid);
	assert_int_equal(row.status, AX_RUN_CANCELLED);
	assert_int_equal(row.cancel, AX_CANCEL_STOPPED);
	assert_given(w, 0);
}

static void test_what_was_accepted_stays(void **state)
{
	struct world *w = *state;
	struct ax_run run = bring_new(w, 7);
	report(w, "w1", AX_ITEM_ACCEPTED, &run);
	assert_int_equal(name(w, 7), 0);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_DISPATCHED);
	report(w, "w1", AX_ITEM_STARTED, &run);
	assert_int_equal(name(w, 7), 0);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RUNNING);
}

static void test_what_begins_before_it_is_accepted_stays(void **state)
{
	struct world *w = *state;
	struct ax_run run = bring_new(w, 7);
	report(w, "w1", AX_ITEM_STARTED, &run);
	assert_int_equal(name(w, 7), 0);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_RUNNING);
}

static void test_what_another_poll_brought_stays(void **state)
{
	struct world *w = *state;
	struct ax_run first = bring_new(w, 7), second = bring_new(w, 8);
	assert_int_equal(name(w, 6), 0);
	assert_int_equal(name(w, 8), 1);
	assert_int_equal(run_row(w, first.gid).status, AX_RUN_DISPATCHED);
	assert_int_equal(run_row(w, second.gid).status, AX_RUN_WAITING);
	assert_given(w, 1);
}

static void test_what_no_number_brought_stays(void **state)
{
	struct world *w = *state;
	struct ax_run run = bring_new(w, 0);
	assert_int_equal(name(w, 7), 0);
	assert_int_equal(name(w, 0), 0);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_DISPATCHED);
}

static void test_what_another_worker_has_stays(void **state)
{
	struct world *w = *state;
	const int64_t number = 7;
	const struct ax_unanswered polls = { &number, 1 };
	struct ax_report other = { .worker = "w2", .incarnation = "i1" };
	register_worker(w, "w2", "i1", 10);
	struct ax_run run = bring_new(w, number);
	assert_int_equal(ax_give_back_unanswered(&w->ctx, &polls, &other, NULL), AX_OK);
	assert_int_equal(other.n, 0);
	assert_int_equal(ax_ingest(&w->ctx, &other, NULL), AX_OK);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_DISPATCHED);
}

/* Each counts its polls from 1 on. */
static void test_what_another_incarnation_has_stays(void **state)
{
	struct world *w = *state;
	struct ax_run run = bring_new(w, 7);
	register_worker(w, "w1", "i2", 10);
	assert_int_equal(bring(w, "i2", 7).gid, run.gid);
	struct said said = say(w, "i1", 7, NULL, 0);
	assert_int_equal(said.came_back, 0);
	assert_int_equal(said.status, AX_CONFLICT);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_DISPATCHED);
	said = say(w, "i2", 7, NULL, 0);
	assert_int_equal(said.came_back, 1);
	assert_int_equal(said.status, AX_OK);
	assert_int_equal(run_row(w, run.gid).status, AX_RUN_WAITING);
}

static void test_the_reports_own_items_are_answered_as_ever(void **state)
{
	struct world *w = *state;
	struct ax_run lost = bring_new(w, 7), done = bring_new(w, 6), taken = bring_new(w, 5), old = lost;
	old.fence = 0;
	struct ax_item items[ITEMS_MAX] = {
		about(&done, AX_ITEM_STARTED, 0),
		about(&done, AX_ITEM_RESULT, AX_OUTCOME_SUCCESS),
		about(&old, AX_ITEM_HEARTBEAT, 0),
		about(&taken, AX_ITEM_ACCEPTED, 0),
	};
	struct said said = say(w, "i1", 7, items, ITEMS_MAX);
	assert_int_equal(said.status, AX_OK);
	assert_int_equal(said.came_back, 1);
	assert_int_equal(said.verdicts[0], AX_VERDICT_APPLIED);
	assert_int_equal(said.verdicts[1], AX_VERDICT_APPLIED);
	assert_int_equal(said.verdicts[2], AX_VERDICT_STOP);
	assert_int_equal(said.verdicts[3], AX_VERDICT_APPLIED);
	assert_int_equal(run_row(w, lost.gid).status, AX_RUN_WAITING);
	assert_int_equal(run_row(w, done.gid).status, AX_RUN_SUCCESS);
	assert_true(run_row(w, taken.gid).accepted);
	assert_given(w, 1);
}

/* What the worker itself says of the end of such a run counts: then there is nothing left to come back. */
static void test_the_reports_own_items_come_first(void **state)
{
	struct world *w = *state;
	static const struct {
		enum ax_outcome outcome;
		enum ax_run_state state;
	} ends[] = { { AX_OUTCOME_SUCCESS, AX_RUN_SUCCESS }, { AX_OUTCOME_CANCELLED, AX_RUN_WAITING } };
	for (size_t i = 0; i < AX_COUNT(ends); i++) {
		struct ax_run run = bring_new(w, 7);
		struct ax_item item = about(&run, AX_ITEM_RESULT, ends[i].outcome);
		struct said said = say(w, "i1", 7, &item, 1);
		assert_int_equal(said.status, AX_OK);
		assert_int_equal(said.verdicts[0], AX_VERDICT_APPLIED);
		run = run_row(w, run.gid);
		assert_int_equal(run.status, ends[i].state);
		assert_int_equal(run.bounce_times, ends[i].outcome == AX_OUTCOME_CANCELLED);
		assert_int_equal(run.lost_times, 0);
		assert_given(w, 0);
	}
	struct ax_run run = bring(w, "i1", 7); /* the one that came back */
	struct ax_item item = about(&run, AX_ITEM_ACCEPTED, 0);
	struct said said = say(w, "i1", 7, &item, 1);
	assert_int_equal(said.verdicts[0], AX_VERDICT_APPLIED);
	run = run_row(w, run.gid);
	assert_true(run.accepted);
	assert_int_equal(run.status, AX_RUN_DISPATCHED);
	assert_int_equal(run.lost_times, 0);
}

/* Whom nobody hears is told nothing: the next answer says it. */
static void test_a_stop_is_told_to_whoever_hears_it(void **state)
{
	struct world *w = *state;
	struct ax_run run = bring_new(w, 7), row;
	report(w, "w1", AX_ITEM_STARTED, &run);
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &row, NULL), AX_OK);
	struct ax_report said = { .worker = "w1", .incarnation = "i1", .unheard = true };
	assert_int_equal(ax_ingest(&w->ctx, &said, NULL), AX_OK);
	assert_int_equal(said.n_stops, 0);
	assert_int_equal(run_row(w, run.gid).cancel, AX_CANCEL_ASKED);
	said.unheard = false;
	assert_int_equal(ax_ingest(&w->ctx, &said, NULL), AX_OK);
	assert_int_equal(said.n_stops, 1);
	assert_int_equal(said.stops[0].gid, run.gid);
	assert_int_equal(run_row(w, run.gid).cancel, AX_CANCEL_STOPPING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
		T(test_what_an_unanswered_poll_brought_comes_back_at_once),
		T(test_said_to_two_servers_it_counts_once),
		T(test_what_shall_stop_is_stopped_by_it),
		T(test_what_was_accepted_stays),
		T(test_what_begins_before_it_is_accepted_stays),
		T(test_what_another_poll_brought_stays),
		T(test_what_no_number_brought_stays),
		T(test_what_another_worker_has_stays),
		T(test_what_another_incarnation_has_stays),
		T(test_the_reports_own_items_are_answered_as_ever),
		T(test_the_reports_own_items_come_first),
		T(test_a_stop_is_told_to_whoever_hears_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
