#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/attr.h"
#include "check/check.h"

/* Forged histories of one task that fires every minute, judged over ten minutes: one clean history of each kind, and
 * one for each fault, which must be caught. */

enum { RUNNING = 3, SUCCESS = 10, FAILED = 11, SKIPPED = AX_CHECK_SKIPPED, MISSED = AX_CHECK_MISSED };

static const int64_t start = 1767225600000; /* 2026-01-01T00:00:00Z */
static const int64_t minute = 60000;

/* Fire number n of the window: n = 0 is at its beginning. */
static int64_t fire(int n)
{
	return start + n * minute;
}

struct history {
	struct ax_check_epoch epochs[8];
	size_t n_epochs;
	struct ax_check_run runs[64];
	char keys[64][32];
	size_t n_runs;
	int64_t next_trigger_time;
	bool live;
	int64_t under_way_from;
};

static void epoch(struct history *h, int64_t from_ms, const char *expr, bool enabled)
{
	h->epochs[h->n_epochs++] = (struct ax_check_epoch){
		.from_time = from_ms, .enabled = enabled, .cron_expr = expr, .time_zone = "UTC", .anchor_time = from_ms
	};
}

static struct ax_check_run *row(struct history *h, int kind, int64_t key_ms, int status)
{
	size_t i = h->n_runs++;
	assert_true(i < AX_COUNT(h->runs));
	snprintf(h->keys[i], sizeof(h->keys[i]), "%lld", (long long)key_ms);
	h->runs[i] = (struct ax_check_run){ .gid = 1000 + (int64_t)i,
		.kind = kind,
		.fire_key = h->keys[i],
		.status = status,
		.trigger_time = key_ms,
		.end_time = status >= SUCCESS ? key_ms + 1000 : 0 };
	return &h->runs[i];
}

static struct ax_check_run *run(struct history *h, int n)
{
	return row(h, AX_CHECK_KIND_SCHEDULE, fire(n), SUCCESS);
}

static void covers(struct ax_check_run *of, int first, int last, int64_t count)
{
	of->covers_from = fire(first);
	of->covers_to = fire(last);
	of->covers_count = count;
}

static struct history every_minute(void)
{
	struct history h = { .next_trigger_time = -1 };
	epoch(&h, start - minute, "* * * * *", true);
	return h;
}

/* Fires first to last each with a run. */
static void runs(struct history *h, int first, int last)
{
	for (int n = first; n <= last; n++)
		run(h, n);
}

static struct ax_check_audit *judge_until(const struct history *h, int64_t to_ms)
{
	struct ax_check_audit *audit = ax_check_audit_new(NULL, start, to_ms);
	struct ax_check_task task = { .id = 7,
		.name = "nightly",
		.epochs = h->epochs,
		.n_epochs = h->n_epochs,
		.runs = h->runs,
		.n_runs = h->n_runs,
		.next_trigger_time = h->next_trigger_time,
		.live = h->live,
		.under_way_from = h->under_way_from };
	ax_check_audit_task(audit, &task);
	return audit;
}

static struct ax_check_counts judge(const struct history *h)
{
	struct ax_check_audit *audit = judge_until(h, fire(10));
	struct ax_check_counts counts = *ax_check_audit_total(audit);
	ax_check_audit_free(audit);
	assert_int_equal(
		counts.expected, counts.runs + counts.skipped + counts.missed + counts.coalesced + counts.missing);
	assert_int_equal(
		counts.unexplained, counts.missing + counts.unexpected + counts.miscounted + counts.unreadable);
	return counts;
}

/* ---- clean ---- */

static void test_one_run_for_each_fire(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, -1, 12); /* rows outside of the window are no matter */
	h.runs[3].status = FAILED;
	h.runs[4].status = RUNNING;
	h.runs[5].status = SKIPPED;
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.expected, 10);
	assert_int_equal(c.runs, 9);
	assert_int_equal(c.skipped, 1);
	assert_true(ax_check_is_clean(&c));
}

static void test_coalesced_fires(void **state)
{
	(void)state;
	struct history h = every_minute();
	covers(run(&h, 3), 0, 2, 3); /* the newest of four late fires runs */
	covers(run(&h, 4), 5, 7, 3); /* later ones are added to the one that waits */
	covers(run(&h, 8), 9, 9, 1);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.runs, 3);
	assert_int_equal(c.coalesced, 7);
	assert_true(ax_check_is_clean(&c));
}

static void test_own_fire_inside_its_covers(void **state)
{
	(void)state;
	struct history h = every_minute();
	covers(run(&h, 5), 0, 9, 9);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.runs, 1);
	assert_int_equal(c.coalesced, 9);
	assert_true(ax_check_is_clean(&c));
}

/* A fire that came due a moment ago may not be dealt with yet; one before it must be, and a second record never may. */
static void test_a_fire_under_way_is_not_judged(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, 0, 7);
	h.under_way_from = fire(8);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.expected, 8);
	assert_true(ax_check_is_clean(&c));
	h.under_way_from = fire(9);
	c = judge(&h);
	assert_int_equal(c.missing, 1);
	run(&h, 8);
	run(&h, 9);
	covers(run(&h, 8), 9, 9, 1);
	c = judge(&h);
	assert_int_equal(c.duplicates > 0, true);
}

static void test_missed_and_made_up(void **state)
{
	(void)state;
	struct history h = every_minute();
	covers(row(&h, AX_CHECK_KIND_MISS, fire(0), MISSED), 0, 5, 6);
	runs(&h, 6, 9);
	run(&h, 2)->made_up = true;
	run(&h, 3)->made_up = true;
	row(&h, 5, fire(1), SUCCESS); /* a manual run is another thing */
	run(&h, 6)->rerun_of = 1004;
	h.runs[8].fire_key = "1008";
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.missed, 6);
	assert_int_equal(c.runs, 4);
	assert_true(ax_check_is_clean(&c));
}

static void test_covers_that_reach_out_of_the_window(void **state)
{
	(void)state;
	struct history h = every_minute();
	h.epochs[0].from_time = fire(-20);
	covers(row(&h, AX_CHECK_KIND_MISS, fire(-15), MISSED), -15, 3, 19);
	runs(&h, 4, 6);
	covers(run(&h, 14), 7, 13, 7); /* its own fire is after the window */
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.missed, 4);
	assert_int_equal(c.coalesced, 3);
	assert_true(ax_check_is_clean(&c));
}

static void test_pause_edit_and_resume(void **state)
{
	(void)state;
	struct history h = every_minute();
	/* paused at the very instant of fire 2, which the old rule still has; resumed at fire 5, every two minutes */
	epoch(&h, fire(2), "* * * * *", false);
	epoch(&h, fire(5), "*/2 * * * *", true);
	runs(&h, 0, 2);
	run(&h, 6);
	run(&h, 8);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.expected, 5);
	assert_true(ax_check_is_clean(&c));
}

/* A rule that was made and changed again while the clock was ahead demands nothing; the next one begins with what had
 * not fired yet. */
static void test_a_clock_that_was_set_back(void **state)
{
	(void)state;
	struct history h = every_minute();
	epoch(&h, fire(8), "*/3 * * * *", true);
	epoch(&h, fire(3) + 1, "* * * * *", true);
	runs(&h, 0, 9);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.expected, 10);
	assert_true(ax_check_is_clean(&c));
	h.n_runs--;
	assert_int_equal(judge(&h).missing, 1);
}

static void test_every_and_at(void **state)
{
	(void)state;
	struct history h = { .next_trigger_time = -1 };
	epoch(&h, fire(0) + 500, "@every 90s", true);
	h.epochs[0].anchor_time = fire(-1) + 500; /* anchors count as whole seconds: fires at 0:30, 2:00, … */
	epoch(&h, fire(5), "@at 2026-01-01T00:07:00Z", true);
	row(&h, AX_CHECK_KIND_SCHEDULE, fire(0) + 30000, SUCCESS);
	row(&h, AX_CHECK_KIND_SCHEDULE, fire(2), SUCCESS);
	row(&h, AX_CHECK_KIND_SCHEDULE, fire(3) + 30000, SUCCESS);
	row(&h, AX_CHECK_KIND_SCHEDULE, fire(5), SUCCESS);
	run(&h, 7);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.expected, 5);
	assert_true(ax_check_is_clean(&c));
}

static void test_children_of_a_sharded_run(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, 0, 9);
	for (int shard = 1; shard <= 3; shard++)
		run(&h, 4)->shard = shard;
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.runs, 10);
	assert_true(ax_check_is_clean(&c));
}

/* ---- faults ---- */

static void test_a_lost_fire(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, 0, 3);
	runs(&h, 5, 9);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.missing, 1);
	assert_int_equal(c.unexplained, 1);
	assert_int_equal(c.duplicates, 0);
}

static void test_first_and_last_fire_of_the_window(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, 1, 8);
	assert_int_equal(judge(&h).missing, 2);
}

static void test_a_fire_that_nobody_demanded(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, 0, 9);
	row(&h, AX_CHECK_KIND_SCHEDULE, fire(3) + 1, SUCCESS);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.unexpected, 1);
	assert_int_equal(c.unexplained, 1);
}

static void test_a_fire_while_paused(void **state)
{
	(void)state;
	struct history h = every_minute();
	epoch(&h, fire(4), "* * * * *", false);
	runs(&h, 0, 5);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.expected, 5);
	assert_int_equal(c.unexpected, 1);
}

static void test_a_fire_key_that_is_no_instant(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, 0, 9);
	run(&h, 5)->fire_key = "01767225600000";
	assert_int_equal(judge(&h).unexpected, 1);
}

static void test_runs_of_a_task_without_epochs(void **state)
{
	(void)state;
	struct history h = { .next_trigger_time = -1 };
	runs(&h, 0, 1);
	assert_int_equal(judge(&h).unexpected, 2);
}

static void test_a_covers_count_that_is_wrong(void **state)
{
	(void)state;
	for (int64_t count = 2; count <= 4; count += 2) {
		struct history h = every_minute();
		covers(run(&h, 3), 0, 2, count);
		runs(&h, 4, 9);
		struct ax_check_counts c = judge(&h);
		assert_int_equal(c.miscounted, 1);
		assert_int_equal(c.unexplained, 1);
	}
	struct history h = every_minute();
	runs(&h, 0, 9);
	h.runs[4].covers_count = 1; /* and no range */
	assert_int_equal(judge(&h).miscounted, 1);
}

static void test_a_missed_count_that_is_wrong(void **state)
{
	(void)state;
	struct history h = every_minute();
	covers(row(&h, AX_CHECK_KIND_MISS, fire(0), MISSED), 0, 5, 5);
	runs(&h, 6, 9);
	assert_int_equal(judge(&h).miscounted, 1);
}

static void test_a_fire_with_run_and_cover(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, 0, 9);
	covers(&h.runs[6], 5, 5, 1);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.duplicates, 1);
	assert_int_equal(c.unexplained, 0);
	assert_int_equal(c.runs, 10);
}

static void test_a_fire_missed_and_run(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, 0, 9);
	covers(row(&h, AX_CHECK_KIND_MISS, fire(0), MISSED), 0, 1, 2);
	assert_int_equal(judge(&h).duplicates, 2);
}

static void test_two_rows_with_one_key(void **state)
{
	(void)state;
	struct history h = every_minute();
	runs(&h, 0, 9);
	run(&h, 4);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.duplicates, 1);
	assert_int_equal(c.runs, 10);

	run(&h, 4)->shard = 2;
	run(&h, 4)->shard = 2;
	assert_int_equal(judge(&h).duplicates, 2);
}

static void test_an_epoch_that_cannot_be_read(void **state)
{
	(void)state;
	static const struct {
		const char *expr, *zone;
	} bad[] = { { "* * * *", "UTC" }, { "* * * * *", "Mars/Olympus" }, { "0 0 31 2 *", "UTC" },
		{ "* * * * *", "../../etc/passwd" } };
	for (size_t i = 0; i < AX_COUNT(bad); i++) {
		struct history h = { .next_trigger_time = -1 };
		epoch(&h, start - minute, bad[i].expr, true);
		h.epochs[0].time_zone = bad[i].zone;
		runs(&h, 0, 9);
		struct ax_check_counts c = judge(&h);
		assert_int_equal(c.unreadable, 1);
		assert_int_equal(c.unexplained, 1); /* its runs are not judged besides */
	}
}

/* ---- @after ---- */

/* Runs of one minute, 30 s apart. */
static void after_30s(struct history *h)
{
	*h = (struct history){ .next_trigger_time = -1 };
	epoch(h, start - minute, "@after 30s", true);
	for (int i = 0; i < 4; i++) {
		struct ax_check_run *of = row(h, AX_CHECK_KIND_SCHEDULE, start + i * 90000, SUCCESS);
		of->end_time = of->trigger_time + minute;
	}
}

static void test_after_in_order(void **state)
{
	(void)state;
	struct history h;
	after_30s(&h);
	h.next_trigger_time = fire(60);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.expected, 4);
	assert_int_equal(c.runs, 4);
	assert_true(ax_check_is_clean(&c));
}

static void test_after_too_early(void **state)
{
	(void)state;
	struct history h;
	after_30s(&h);
	h.runs[1].end_time++;
	assert_int_equal(judge(&h).unexpected, 1);
	h.runs[1].end_time = 0; /* still running when the next one came */
	assert_int_equal(judge(&h).unexpected, 1);
}

static void test_after_stands_still(void **state)
{
	(void)state;
	struct history h;
	after_30s(&h);
	h.next_trigger_time = 0;
	assert_int_equal(judge(&h).unexplained, 1);
	h.live = true;
	assert_int_equal(judge(&h).unexplained, 0);
	h.live = false;
	h.next_trigger_time = fire(8);
	assert_int_equal(judge(&h).missing, 1);
	epoch(&h, fire(9), "@after 30s", false);
	h.next_trigger_time = 0;
	assert_int_equal(judge(&h).unexplained, 0);
}

/* ---- what is said ---- */

static void test_a_calendar_decides_which_fires_are_demanded(void **state)
{
	(void)state;
	struct ax_check_calendar nothing = { 0, "" }, all = { 127, "" }, gone = { 127, NULL },
				 broken = { 0, "soon in\n" };
	struct history h = every_minute();
	h.epochs[0].calendar = &nothing;
	assert_int_equal(judge(&h).expected, 0);
	runs(&h, 0, 0);
	assert_int_equal(judge(&h).unexpected, 1);
	h.epochs[0].calendar_excludes = true;
	assert_int_equal(judge(&h).missing, 9);
	h.epochs[0].calendar = &all;
	assert_int_equal(judge(&h).unexpected, 1);
	h.epochs[0].calendar = &gone;
	assert_int_equal(judge(&h).unreadable, 1);
	h.epochs[0].calendar = &broken;
	assert_int_equal(judge(&h).unreadable, 1);
}

static void test_validity_and_jitter(void **state)
{
	(void)state;
	struct history h = every_minute();
	h.epochs[0].valid_from = fire(2);
	h.epochs[0].valid_until = fire(5);
	runs(&h, 2, 4);
	assert_int_equal(judge(&h).expected, 3);
	assert_int_equal(judge(&h).unexplained, 0);
	/* with jitter every run is due so much later, and not otherwise */
	h.epochs[0].jitter_ms = 7000;
	assert_int_equal(judge(&h).unexpected, 3);
	for (size_t i = 0; i < h.n_runs; i++)
		h.runs[i].trigger_time += 7000;
	assert_int_equal(judge(&h).unexplained, 0);
	h.runs[1].made_up = true;
	h.runs[1].trigger_time -= 7000; /* a person does not wait */
	assert_int_equal(judge(&h).unexplained, 0);
}

/* An instant that is not demanded is not walked over: a clock that was set back may demand what came before it. */
static void test_a_clock_set_back_after_times_without_fires(void **state)
{
	(void)state;
	struct ax_check_calendar nothing = { 0, "" };
	struct history h = every_minute();
	h.epochs[0].calendar = &nothing;
	epoch(&h, fire(8), "* * * * *", false);
	epoch(&h, fire(3), "* * * * *", true);
	runs(&h, 4, 9);
	assert_int_equal(judge(&h).runs, 6);
	assert_int_equal(judge(&h).unexplained, 0);
}

/* The clock was at 9 and is set back: what later rules made is not too early for the first one, and counts once. */
static void test_after_and_a_clock_set_back(void **state)
{
	(void)state;
	struct history h = { .next_trigger_time = -1 };
	epoch(&h, start - minute, "@after 30s", true);
	run(&h, 1)->end_time = fire(8);
	epoch(&h, fire(9), "@after 30s", false);
	epoch(&h, fire(3), "* * * * *", true);
	runs(&h, 4, 5);
	epoch(&h, fire(5) + 1, "@after 30s", true);
	run(&h, 6)->end_time = fire(7);
	run(&h, 8);
	struct ax_check_counts c = judge(&h);
	assert_int_equal(c.runs, 5);
	assert_int_equal(c.expected, 5);
	assert_true(ax_check_is_clean(&c));
}

static void test_after_within_its_validity(void **state)
{
	(void)state;
	struct history h = { .next_trigger_time = 0 };
	epoch(&h, start - minute, "@after 60s", true);
	assert_int_equal(judge(&h).unreadable, 1);
	h.epochs[0].valid_until = fire(3);
	assert_int_equal(judge(&h).unreadable, 0);
	runs(&h, 3, 3);
	assert_int_equal(judge(&h).unexpected, 1);
}

static void test_json_names_the_fires(void **state)
{
	(void)state;
	struct history h = every_minute();
	for (int n = 0; n < 40; n += 2)
		run(&h, n);
	row(&h, AX_CHECK_KIND_SCHEDULE, fire(2) + 7, SUCCESS);
	struct ax_check_audit *audit = judge_until(&h, fire(40));
	char *text = ax_check_audit_json(audit);
	json_t *body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(body);
	assert_int_equal(json_integer_value(json_object_get(body, "from")), start);
	assert_int_equal(json_integer_value(json_object_get(body, "to")), fire(40));
	assert_int_equal(json_integer_value(json_object_get(body, "expected")), 40);
	assert_int_equal(json_integer_value(json_object_get(body, "unexplained")), 21);
	json_t *task = json_array_get(json_object_get(body, "tasks"), 0);
	assert_string_equal(json_string_value(json_object_get(task, "task_id")), "7");
	assert_string_equal(json_string_value(json_object_get(task, "task_name")), "nightly");
	json_t *fires = json_object_get(task, "unexplained_fires");
	assert_int_equal(json_array_size(fires), 20);
	assert_int_equal(json_integer_value(json_array_get(fires, 0)), fire(1));
	assert_int_equal(json_integer_value(json_array_get(json_object_get(task, "unexpected_fires"), 0)), fire(2) + 7);
	json_decref(body);
	free(text);

	struct ax_buf table;
	ax_buf_init(&table, 1 << 16);
	ax_check_audit_table(audit, 10, &table);
	assert_non_null(strstr(table.data, "nothing accounts for: 2026-01-01T00:01:00Z"));
	ax_buf_done(&table);
	ax_check_audit_free(audit);
}

static void test_first_fire(void **state)
{
	(void)state;
	struct ax_check_audit *audit = ax_check_audit_new(NULL, 0, 0);
	struct ax_check_epoch rule = { .cron_expr = "30 0 * * *", .time_zone = "UTC" };
	int64_t ms;
	assert_int_equal(ax_check_audit_first_fire(audit, &rule, start, start + 86400000, &ms, NULL), AX_OK);
	assert_int_equal(ms, fire(30));
	assert_int_equal(ax_check_audit_first_fire(audit, &rule, fire(30), fire(40), &ms, NULL), AX_NOT_FOUND);
	rule.cron_expr = "@after 5s";
	assert_int_equal(ax_check_audit_first_fire(audit, &rule, 0, start, &ms, NULL), AX_INVALID);
	ax_check_audit_free(audit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_run_for_each_fire),
		cmocka_unit_test(test_coalesced_fires),
		cmocka_unit_test(test_own_fire_inside_its_covers),
		cmocka_unit_test(test_a_fire_under_way_is_not_judged),
		cmocka_unit_test(test_missed_and_made_up),
		cmocka_unit_test(test_covers_that_reach_out_of_the_window),
		cmocka_unit_test(test_pause_edit_and_resume),
		cmocka_unit_test(test_a_clock_that_was_set_back),
		cmocka_unit_test(test_every_and_at),
		cmocka_unit_test(test_children_of_a_sharded_run),
		cmocka_unit_test(test_a_lost_fire),
		cmocka_unit_test(test_first_and_last_fire_of_the_window),
		cmocka_unit_test(test_a_fire_that_nobody_demanded),
		cmocka_unit_test(test_a_fire_while_paused),
		cmocka_unit_test(test_a_fire_key_that_is_no_instant),
		cmocka_unit_test(test_runs_of_a_task_without_epochs),
		cmocka_unit_test(test_a_covers_count_that_is_wrong),
		cmocka_unit_test(test_a_missed_count_that_is_wrong),
		cmocka_unit_test(test_a_fire_with_run_and_cover),
		cmocka_unit_test(test_a_fire_missed_and_run),
		cmocka_unit_test(test_two_rows_with_one_key),
		cmocka_unit_test(test_an_epoch_that_cannot_be_read),
		cmocka_unit_test(test_after_in_order),
		cmocka_unit_test(test_after_too_early),
		cmocka_unit_test(test_after_stands_still),
		cmocka_unit_test(test_a_calendar_decides_which_fires_are_demanded),
		cmocka_unit_test(test_validity_and_jitter),
		cmocka_unit_test(test_a_clock_set_back_after_times_without_fires),
		cmocka_unit_test(test_after_and_a_clock_set_back),
		cmocka_unit_test(test_after_within_its_validity),
		cmocka_unit_test(test_json_names_the_fires),
		cmocka_unit_test(test_first_fire),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
