#include "world.h"

#include <stdio.h>

#include "app/birth.h"
#include "app/events.h"
#include "app/recover.h"
#include "app/task_check.h"
#include "app/tasks.h"
#include "core/limits.h"
#include "core/task_def.h"
#include "port/mem_store.h"
#include "port/row.h"
#include "port/wrap_fault.h"

static struct ax_task_def listener(const char *name, const char *condition)
{
	struct ax_task_def def = ax_def_preset();
	def.task_name = name;
	def.task_type = AX_TASK_EVENT;
	def.event_name = "order.paid";
	def.event_condition = condition;
	def.executor_key = "exec";
	return def;
}

static int64_t listen_as(struct world *w, const struct ax_task_def *def, enum ax_task_status status)
{
	struct ax_task task;
	int failed;
	struct ax_err err = { 0 };
	if (ax_tasks_create(&w->ctx, def, &status, 1, "test", &task, &failed, &err) != AX_OK)
		fail_msg("%s: %s", err.field, err.msg);
	return task.id;
}

static int64_t listen_to(struct world *w, const char *name, const char *condition)
{
	struct ax_task_def def = listener(name, condition);
	return listen_as(w, &def, AX_TASK_ENABLED);
}

struct answer {
	struct ax_event event;
	struct ax_event_tasks tasks;
	bool existed;
};

static struct answer send_as(struct world *w, const char *name, const char *id, const char *payload)
{
	const char *key = id[0] != '\0' ? ax_sprintf(&w->arena, "%s/%s", name, id) : "";
	struct ax_event_sent sent = { .event_name = name,
		.event_id = id,
		.event_key = id,
		.run_key = key,
		.payload = payload,
		.sent_by = "test" };
	struct answer a = { 0 };
	assert_int_equal(ax_event_send(&w->ctx, &sent, &a.event, &a.tasks, &a.existed, NULL), AX_OK);
	return a;
}

static void a_listener_gets_one_run(void **state)
{
	struct world *w = *state;
	int64_t task = listen_to(w, "a", "null");
	struct answer a = send_as(w, "order.paid", "e1", "{\"total\":5}");
	assert_false(a.existed);
	assert_int_equal(a.tasks.n, 1);
	assert_int_equal(a.event.runs, 1);
	struct ax_run run = run_row(w, a.tasks.at[0].gid);
	assert_int_equal(run.task_id, task);
	assert_int_equal(run.kind, AX_KIND_EVENT);
	assert_string_equal(run.fire_key, "order.paid/e1");
	assert_string_equal(run.params, "{\"total\":5}");
	assert_int_equal(run.status, AX_RUN_WAITING);
	assert_int_equal(run.hold, AX_HOLD_NONE);
	send_as(w, "order.lost", "e2", "");
	assert_int_equal(ax_mem_store_count(w->mem, &ax_run_row), 1);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_event_row), 2);
}

/* B018, B142: the same again is answered as it was, whatever it says now. */
static void an_event_is_taken_once_b018_b142(void **state)
{
	struct world *w = *state;
	listen_to(w, "a", "null");
	struct answer first = send_as(w, "order.paid", "e1", "1");
	listen_to(w, "b", "null");
	struct answer again = send_as(w, "order.paid", "e1", "2");
	assert_true(again.existed);
	assert_int_equal(again.event.id, first.event.id);
	assert_string_equal(again.event.payload, "1");
	assert_int_equal(again.tasks.n, 1);
	assert_int_equal(again.tasks.at[0].gid, first.tasks.at[0].gid);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_run_row), 1);
	/* the id belongs to the name; without one every sending is a new event */
	assert_false(send_as(w, "order.lost", "e1", "").existed);
	assert_false(send_as(w, "order.paid", "", "").existed);
	assert_false(send_as(w, "order.paid", "", "").existed);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_run_row), 5);
}

/* B192: what is not enabled, and what does not want it, is noted and gets nothing. */
static void others_are_passed_over_b192(void **state)
{
	struct world *w = *state;
	struct ax_task_def draft = listener("draft", "null");
	struct ax_task task;
	int64_t wants = listen_to(w, "wants", "[{\"field\":\"/total\",\"op\":\"ge\",\"value\":5}]");
	int64_t wants_not = listen_to(w, "wants not", "[{\"field\":\"/total\",\"op\":\"gt\",\"value\":5}]");
	int64_t paused = listen_to(w, "paused", "null");
	int64_t created = listen_as(w, &draft, AX_TASK_CREATED);
	assert_int_equal(ax_task_set_status(&w->ctx, paused, AX_TASK_PAUSED, "test", &task, NULL, NULL), AX_OK);
	struct answer a = send_as(w, "order.paid", "e1", "{\"total\":5}");
	const struct {
		int64_t task;
		enum ax_event_fate fate;
	} fates[] = {
		{ wants, AX_EVENT_RUN },
		{ wants_not, AX_EVENT_CONDITION },
		{ paused, AX_EVENT_PAUSED },
		{ created, AX_EVENT_CREATED },
	};
	assert_int_equal(a.tasks.n, AX_COUNT(fates));
	for (size_t i = 0; i < AX_COUNT(fates); i++) {
		assert_int_equal(a.tasks.at[i].task_id, fates[i].task);
		assert_int_equal(a.tasks.at[i].fate, fates[i].fate);
		assert_int_equal(a.tasks.at[i].gid != 0, fates[i].fate == AX_EVENT_RUN);
	}
	assert_int_equal(a.event.runs, 1);
	assert_int_equal(a.event.passed, 3);
	/* resumed, it hears of the next one, not of this */
	assert_int_equal(ax_task_set_status(&w->ctx, paused, AX_TASK_ENABLED, "test", &task, NULL, NULL), AX_OK);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_run_row), 1);
}

/* Events are not counted on a run that waits: each keeps its payload. */
static void the_overlap_rule_holds_for_events(void **state)
{
	struct world *w = *state;
	static const enum ax_overlap rules[] = { AX_OVERLAP_QUEUE, AX_OVERLAP_SKIP, AX_OVERLAP_REPLACE };
	static const enum ax_run_state firsts[] = { AX_RUN_WAITING, AX_RUN_WAITING, AX_RUN_CANCELLED };
	static const enum ax_run_state seconds[] = { AX_RUN_WAITING, AX_RUN_SKIPPED, AX_RUN_WAITING };
	for (size_t i = 0; i < AX_COUNT(rules); i++) {
		struct ax_task_def def = listener("a", "null");
		def.overlap = rules[i];
		int64_t task = listen_as(w, &def, AX_TASK_ENABLED);
		struct answer a = send_as(w, "order.paid", "", "1"), b = send_as(w, "order.paid", "", "2");
		struct ax_run first = run_row(w, a.tasks.at[0].gid), second = run_row(w, b.tasks.at[0].gid);
		assert_int_equal(first.status, firsts[i]);
		assert_int_equal(second.status, seconds[i]);
		assert_string_equal(second.params, "2");
		assert_int_equal(second.hold, rules[i] == AX_OVERLAP_QUEUE ? AX_HOLD_OVERLAP : AX_HOLD_NONE);
		assert_int_equal(first.covers_count, 0);
		assert_int_equal(ax_task_delete(&w->ctx, task, true, "test", NULL), AX_OK);
	}
}

/* The event's row goes before its runs do: the runs still stand for it. */
static void what_ran_is_known_beyond_retention(void **state)
{
	struct world *w = *state;
	int deleted = 0;
	listen_to(w, "a", "null");
	struct answer first = send_as(w, "order.paid", "e1", "");
	w->now += 1000;
	assert_int_equal(ax_retain(&w->ctx, 500, &deleted, NULL), AX_OK);
	assert_int_equal(deleted, 1);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_event_row), 0);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_event_task_row), 0);
	struct answer again = send_as(w, "order.paid", "e1", "");
	assert_false(again.existed);
	assert_int_equal(again.tasks.at[0].fate, AX_EVENT_KNOWN);
	assert_int_equal(again.tasks.at[0].gid, first.tasks.at[0].gid);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_run_row), 1);
}

static void refuses_what_is_too_large(void **state)
{
	struct world *w = *state;
	static char large[AX_PARAM_MAX + 2];
	struct ax_event event;
	struct ax_event_tasks tasks;
	bool existed;
	struct ax_err err = { 0 };
	memset(large, '1', sizeof(large) - 1);
	struct ax_event_sent sent = {
		.event_name = "", .event_id = "", .event_key = "", .run_key = "", .payload = "", .sent_by = ""
	};
	assert_int_equal(ax_event_send(&w->ctx, &sent, &event, &tasks, &existed, &err), AX_INVALID);
	assert_string_equal(err.field, "name");
	sent.event_name = "e";
	sent.payload = large;
	assert_int_equal(ax_event_send(&w->ctx, &sent, &event, &tasks, &existed, &err), AX_TOO_LARGE);
	assert_string_equal(err.field, "payload");
	sent.payload = "";
	sent.event_id = large;
	assert_int_equal(ax_event_send(&w->ctx, &sent, &event, &tasks, &existed, &err), AX_INVALID);
	assert_string_equal(err.field, "event_id");
}

static struct ax_fault fail_at(void *op)
{
	return (struct ax_fault){ .kind = AX_FAULT_OP, .op = *(int *)op, .status = AX_BROKEN };
}

/* A fault at any operation: the event with all that it made, or nothing of it. */
static void an_event_is_whole_or_not_there(void **state)
{
	struct world *w = *state;
	listen_to(w, "a", "null");
	listen_to(w, "b", "null");
	struct ax_store *whole = w->ctx.store;
	for (int op = 1;; op++) {
		struct ax_fault_store faulty;
		struct ax_event event;
		struct ax_event_tasks tasks;
		bool existed;
		struct ax_event_sent sent = { .event_name = "order.paid",
			.event_id = "e",
			.event_key = "e",
			.run_key = "order.paid/e",
			.payload = "",
			.sent_by = "" };
		assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_OK);
		ax_fault_store_init(&faulty, whole, fail_at, &op);
		w->ctx.store = &faulty.store;
		enum ax_status status = ax_event_send(&w->ctx, &sent, &event, &tasks, &existed, NULL);
		w->ctx.store = whole;
		size_t n = status == AX_OK ? 1 : 0;
		assert_int_equal(ax_mem_store_count(w->mem, &ax_event_row), n);
		assert_int_equal(ax_mem_store_count(w->mem, &ax_event_task_row), 2 * n);
		assert_int_equal(ax_mem_store_count(w->mem, &ax_run_row), 2 * n);
		if (status == AX_OK)
			break;
	}
}

static void definitions_are_checked(void **state)
{
	struct world *w = *state;
	static const struct {
		enum ax_task_type type;
		const char *name, *condition, *cron, *field;
	} cases[] = {
		{ AX_TASK_EVENT, "", "null", "", "event_name" },
		{ AX_TASK_EVENT, "a\nb", "null", "", "event_name" },
		{ AX_TASK_EVENT, "a", "[1]", "", "event_condition[0]" },
		{ AX_TASK_EVENT, "a", "null", "* * * * *", "cron_expr" },
		{ AX_TASK_DELAY, "a", "null", "", "event_name" },
		{ AX_TASK_DELAY, "", "[]", "", "event_condition" },
		{ AX_TASK_SCHEDULED, "a", "null", "* * * * *", "event_name" },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_task_def def = listener("x", cases[i].condition);
		struct ax_err err = { 0 };
		def.task_type = cases[i].type;
		def.event_name = cases[i].name;
		def.cron_expr = cases[i].cron;
		assert_int_equal(ax_task_check(&w->ctx, &def, &err), AX_INVALID);
		assert_string_equal(err.field, cases[i].field);
	}
}

static void no_more_listeners_than_fit_one_transaction(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < AX_LISTENERS_MAX; i++) {
		char name[16];
		snprintf(name, sizeof(name), "t%d", i);
		listen_to(w, name, "null");
	}
	struct ax_task_def def = listener("one more", "null");
	enum ax_task_status status = AX_TASK_ENABLED;
	struct ax_task task;
	int failed;
	struct ax_err err = { 0 };
	assert_int_equal(ax_tasks_create(&w->ctx, &def, &status, 1, "test", &task, &failed, &err), AX_INVALID);
	assert_string_equal(err.field, "event_name");
	assert_int_equal(send_as(w, "order.paid", "e", "").event.runs, AX_LISTENERS_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(a_listener_gets_one_run),
		TEST(an_event_is_taken_once_b018_b142),
		TEST(others_are_passed_over_b192),
		TEST(the_overlap_rule_holds_for_events),
		TEST(what_ran_is_known_beyond_retention),
		TEST(refuses_what_is_too_large),
		TEST(an_event_is_whole_or_not_there),
		TEST(definitions_are_checked),
		TEST(no_more_listeners_than_fit_one_transaction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
