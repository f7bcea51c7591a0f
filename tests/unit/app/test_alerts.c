/* Alerts: when they open, grow and end, and what is queued for whom. */

#include <inttypes.h>
#include <stdio.h>

#include "app/alerts.h"
#include "app/runs.h"
#include "app/tasks.h"
#include "app/tick.h"
#include "app/workers.h"
#include "core/limits.h"
#include "port/mem_store.h"
#include "world.h"

static int count_alerts(struct world *w, enum ax_alert_rule rule, enum ax_alert_state state)
{
	const struct ax_alert *alert;
	int n = 0;
	for (size_t i = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, i)) != NULL; i++)
		n += alert->rule == rule && alert->state == state;
	return n;
}

/* The newest alert of the rule. */
static struct ax_alert alert_of(struct world *w, enum ax_alert_rule rule)
{
	const struct ax_alert *alert;
	struct ax_alert found = { 0 };
	for (size_t i = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, i)) != NULL; i++)
		if (alert->rule == rule)
			ax_row_copy(&ax_alert_row, &w->arena, alert, &found);
	if (found.id == 0)
		fail_msg("there is no alert of rule %s", ax_alert_rule_name(rule));
	return found;
}

static const char *detail_of(struct world *w, enum ax_alert_rule rule, enum ax_language language)
{
	return ax_kept_text(&w->arena, alert_of(w, rule).detail, language);
}

static const char *end_of(struct world *w, enum ax_alert_rule rule)
{
	return ax_kept_text(&w->arena, alert_of(w, rule).resolve_note, AX_ENGLISH);
}

/* What is queued of alerts of the rule, as "kind:channel kind:channel …" in the order of queuing. */
static const char *queued_of(struct world *w, enum ax_alert_rule rule)
{
	const struct ax_delivery *d;
	const struct ax_alert *alert;
	const char *text = "";
	for (size_t i = 0; (d = ax_mem_store_at(w->mem, &ax_delivery_row, i)) != NULL; i++)
		for (size_t k = 0; (alert = ax_mem_store_at(w->mem, &ax_alert_row, k)) != NULL; k++)
			if (alert->id == d->alert_id && alert->rule == rule)
				text = ax_sprintf(&w->arena, "%s%s%d:%d", text, text[0] != '\0' ? " " : "",
					(int)d->kind, (int)d->channel_id);
	return text;
}

static const char *queued(struct world *w)
{
	return queued_of(w, AX_ALERT_FAILED);
}

struct put {
	struct ax_channel channel;
	struct ax_group group;
};

static enum ax_status put_channel(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct put *put = arg;
	return tx->ops->channel_insert(tx, &put->channel, &put->channel.id, err);
}

static int64_t make_channel(struct world *w, const char *name, void (*change)(struct ax_channel *channel))
{
	struct put put = { .channel = {
				   .name = name,
				   .kind = AX_CHANNEL_WEBHOOK,
				   .settings = "{}",
				   .enabled = true,
				   .rules = "",
				   .group_keys = "",
				   .time_zone = "UTC",
				   .version = 1,
				   .updated_by = "",
			   } };
	if (change != NULL)
		change(&put.channel);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, put_channel, &put, NULL), AX_OK);
	return put.channel.id;
}

static enum ax_status edit_group(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct ax_group *wanted = &((struct put *)arg)->group;
	struct ax_group group;
	enum ax_status status = tx->ops->group_get(tx, "default", true, &group, err);
	if (status != AX_OK)
		return status;
	group.contacts = wanted->contacts;
	group.late_seconds = wanted->late_seconds;
	group.backlog_limit = wanted->backlog_limit;
	group.backlog_seconds = wanted->backlog_seconds;
	group.paused = wanted->paused;
	return tx->ops->group_update(tx, &group, group.version, err);
}

static void set_group(struct world *w, struct ax_group group)
{
	struct put put = { .group = group };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, edit_group, &put, NULL), AX_OK);
}

static void no_retry(struct ax_task_def *def)
{
	def->retry_count = 0;
}

/* Fires the task that fires each minute, gives the run to w1 and ends it. */
static struct ax_run run_once(struct world *w, enum ax_outcome outcome)
{
	struct ax_order order;
	for (int i = 0; i < 60; i++) {
		go(w, 1000);
		register_worker(w, "w1", "i1", 10); /* it is there all the time */
		if (poll(w, "w1", "i1", 1, &order, NULL) == 1) {
			report(w, "w1", AX_ITEM_STARTED, &order.run);
			assert_int_equal(result(w, "w1", &order.run, outcome), AX_VERDICT_APPLIED);
			return run_row(w, order.run.gid);
		}
	}
	fail_msg("nothing was given out in a minute");
	return (struct ax_run){ 0 };
}

/* failed */

static void test_a_failed_task_has_one_open_alert_that_grows(void **state)
{
	struct world *w = *state;
	make_channel(w, "ops", NULL);
	int64_t id = make_task(w, "* * * * *", no_retry);
	struct ax_run first = run_once(w, AX_OUTCOME_FAILED);
	struct ax_alert alert = alert_of(w, AX_ALERT_FAILED);
	assert_int_equal(alert.task_id, id);
	assert_int_equal(alert.gid, first.gid);
	assert_string_equal(alert.group_key, "default");
	const char *gid = ax_sprintf(&w->arena, "%" PRId64, first.gid);
	assert_string_equal(detail_of(w, AX_ALERT_FAILED, AX_ENGLISH),
		ax_sprintf(&w->arena, "Run %s failed on w1 with code 3: said so.", gid));
	assert_string_equal(detail_of(w, AX_ALERT_FAILED, AX_CHINESE),
		ax_sprintf(&w->arena, "运行 %s 失败，在节点 w1 上，代码 3：said so。", gid));
	assert_int_equal(alert.value, 3);
	assert_int_equal(alert.open_time, w->now);
	struct ax_run second = run_once(w, AX_OUTCOME_TIMEOUT);
	alert = alert_of(w, AX_ALERT_FAILED);
	assert_int_equal(alert.count, 2);
	assert_int_equal(alert.gid, second.gid);
	assert_int_equal(alert.seen_time, w->now);
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED, AX_ALERT_OPEN), 1);
	assert_string_equal(queued(w), "1:1"); /* it was told once */
}

static void test_success_ends_it_and_the_next_failure_is_a_new_episode(void **state)
{
	struct world *w = *state;
	make_channel(w, "ops", NULL);
	make_task(w, "* * * * *", no_retry);
	run_once(w, AX_OUTCOME_FAILED);
	run_once(w, AX_OUTCOME_SUCCESS);
	struct ax_alert alert = alert_of(w, AX_ALERT_FAILED);
	assert_int_equal(alert.state, AX_ALERT_RESOLVED);
	assert_int_equal(alert.resolve_time, w->now);
	assert_string_equal(queued(w), "1:1 2:1");
	run_once(w, AX_OUTCOME_SUCCESS); /* changes nothing */
	assert_string_equal(queued(w), "1:1 2:1");
	run_once(w, AX_OUTCOME_FAILED);
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED, AX_ALERT_OPEN), 1);
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED, AX_ALERT_RESOLVED), 1);
	assert_string_equal(queued(w), "1:1 2:1 1:1");
}

static void test_a_task_that_fails_now_and_then_is_told_of_once(void **state)
{
	struct world *w = *state;
	make_channel(w, "ops", NULL);
	make_task(w, "* * * * *", no_retry);
	for (int i = 0; i < 20; i++) {
		run_once(w, AX_OUTCOME_FAILED);
		run_once(w, AX_OUTCOME_SUCCESS);
	}
	assert_string_equal(queued(w), "1:1 2:1 1:1");
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED, AX_ALERT_OPEN), 1);
	for (int i = 0; i < 8; i++)
		run_once(w, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED, AX_ALERT_OPEN), 1);
	for (int i = 0; i < 75; i++)
		go(w, 1000);
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED, AX_ALERT_OPEN), 0);
	assert_string_equal(queued(w), "1:1 2:1 1:1 2:1");
	/* much later a failure is a thing of its own again */
	for (int i = 0; i < 12; i++)
		run_once(w, AX_OUTCOME_SUCCESS);
	run_once(w, AX_OUTCOME_FAILED);
	run_once(w, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED, AX_ALERT_OPEN), 0);
}

static void at_once(struct ax_task_def *def)
{
	no_retry(def);
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 2;
}

static void test_the_success_of_an_older_fire_ends_nothing(void **state)
{
	struct world *w = *state;
	struct ax_order older, newer;
	make_task(w, "* * * * *", at_once);
	go(w, 60000);
	register_worker(w, "w1", "i1", 10);
	assert_int_equal(poll(w, "w1", "i1", 1, &older, NULL), 1);
	report(w, "w1", AX_ITEM_STARTED, &older.run);
	go(w, 30000);
	report(w, "w1", AX_ITEM_HEARTBEAT, &older.run);
	go(w, 30000);
	assert_int_equal(poll(w, "w1", "i1", 1, &newer, NULL), 1);
	report(w, "w1", AX_ITEM_STARTED, &newer.run);
	result(w, "w1", &newer.run, AX_OUTCOME_FAILED);
	result(w, "w1", &older.run, AX_OUTCOME_SUCCESS);
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED, AX_ALERT_OPEN), 1);
}

static void test_a_failure_that_is_tried_again_is_no_alert(void **state)
{
	struct world *w = *state;
	make_task(w, "* * * * *", NULL);
	run_once(w, AX_OUTCOME_FAILED);
	assert_int_equal(count_alerts(w, AX_ALERT_FAILED, AX_ALERT_OPEN), 0);
}

static void test_a_deleted_task_takes_its_alerts_along(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", no_retry);
	run_once(w, AX_OUTCOME_FAILED);
	assert_int_equal(ax_task_delete(&w->ctx, id, true, "me", NULL), AX_OK);
	assert_string_equal(end_of(w, AX_ALERT_FAILED), "the task was deleted");
}

/* who is told */

static void only_missed(struct ax_channel *channel)
{
	channel->rules = "missed late";
}

static void only_other_groups(struct ax_channel *channel)
{
	channel->group_keys = "billing default2";
}

static void this_group(struct ax_channel *channel)
{
	channel->rules = "missed failed";
	channel->group_keys = "billing default";
}

static void off(struct ax_channel *channel)
{
	channel->enabled = false;
}

static void test_channels_hear_their_rules_and_groups(void **state)
{
	struct world *w = *state;
	make_channel(w, "a", only_missed);
	make_channel(w, "b", only_other_groups);
	make_channel(w, "c", this_group);
	make_channel(w, "d", off);
	make_channel(w, "e", NULL);
	make_task(w, "* * * * *", no_retry);
	run_once(w, AX_OUTCOME_FAILED);
	assert_string_equal(queued(w), "1:3 1:5");
}

static void test_a_group_names_its_channels(void **state)
{
	struct world *w = *state;
	make_channel(w, "mail", NULL);
	make_channel(w, "chat", NULL);
	make_task(w, "* * * * *", no_retry);
	set_group(w, (struct ax_group){ .contacts = "Ann, chat" });
	run_once(w, AX_OUTCOME_FAILED);
	assert_string_equal(queued(w), "1:2");
	run_once(w, AX_OUTCOME_SUCCESS);
	set_group(w, (struct ax_group){ .contacts = "Ann and Bob" }); /* no channel is called that */
	run_once(w, AX_OUTCOME_FAILED);
	assert_string_equal(queued(w), "1:2 2:2 1:1 1:2");
}

static void test_the_end_is_told_to_those_who_know_of_the_beginning(void **state)
{
	struct world *w = *state;
	make_channel(w, "old", NULL);
	make_task(w, "* * * * *", no_retry);
	run_once(w, AX_OUTCOME_FAILED);
	make_channel(w, "new", NULL);
	run_once(w, AX_OUTCOME_SUCCESS);
	assert_string_equal(queued(w), "1:1 2:1");
}

static void daily(struct ax_channel *channel)
{
	channel->remind_seconds = 86400;
}

static void hourly(struct ax_channel *channel)
{
	channel->remind_seconds = 3600;
}

static void test_reminders_come_as_often_as_each_channel_wants(void **state)
{
	struct world *w = *state;
	make_channel(w, "never", NULL);
	make_channel(w, "daily", daily);
	make_channel(w, "hourly", hourly);
	int64_t id = make_task(w, "0 0 1 1 *", no_retry);
	struct ax_run run;
	bool existed;
	struct ax_trigger ask = { .task_id = id, .key = "", .params = "" };
	assert_int_equal(ax_task_trigger(&w->ctx, &ask, &run, &existed, NULL), AX_OK);
	run_once(w, AX_OUTCOME_FAILED);
	assert_string_equal(queued(w), "1:1 1:2 1:3");
	go(w, 3599000);
	assert_string_equal(queued(w), "1:1 1:2 1:3");
	go(w, 12000);
	assert_string_equal(queued(w), "1:1 1:2 1:3 3:3");
	for (int i = 0; i < 23; i++)
		go(w, 3600000);
	const char *day = queued(w);
	assert_non_null(strstr(day, "3:2"));
	assert_int_equal(strlen(day), 3 * 4 + 24 * 4 + 4 - 1);
	struct ax_alert alert = alert_of(w, AX_ALERT_FAILED);
	assert_int_equal(ax_alert_mute(&w->ctx, alert.id, true, "known", "ann", &alert, NULL), AX_OK);
	go(w, 90000000);
	assert_string_equal(queued(w), day);
}

/* by hand */

static void test_a_muted_alert_ends_in_silence(void **state)
{
	struct world *w = *state;
	make_channel(w, "ops", NULL);
	make_task(w, "* * * * *", no_retry);
	run_once(w, AX_OUTCOME_FAILED);
	struct ax_alert alert = alert_of(w, AX_ALERT_FAILED);
	assert_int_equal(ax_alert_mute(&w->ctx, alert.id, true, "known\nsince noon", "ann", &alert, NULL), AX_OK);
	alert = alert_of(w, AX_ALERT_FAILED);
	assert_true(alert.muted);
	assert_string_equal(alert.note, "known since noon");
	assert_string_equal(alert.note_by, "ann");
	run_once(w, AX_OUTCOME_SUCCESS);
	assert_string_equal(queued(w), "1:1");
	assert_int_equal(alert_of(w, AX_ALERT_FAILED).state, AX_ALERT_RESOLVED);
	assert_int_equal(ax_alert_mute(&w->ctx, alert.id, true, "", "ann", &alert, NULL), AX_CONFLICT);
	assert_int_equal(ax_alert_mute(&w->ctx, 99, true, "", "ann", &alert, NULL), AX_NOT_FOUND);
}

static void test_an_alert_can_be_resolved_by_hand(void **state)
{
	struct world *w = *state;
	make_channel(w, "ops", NULL);
	make_task(w, "* * * * *", no_retry);
	run_once(w, AX_OUTCOME_FAILED);
	struct ax_alert alert = alert_of(w, AX_ALERT_FAILED);
	assert_int_equal(ax_alert_close(&w->ctx, alert.id, "fixed it", "ann", &alert, NULL), AX_OK);
	alert = alert_of(w, AX_ALERT_FAILED);
	assert_int_equal(alert.state, AX_ALERT_RESOLVED);
	assert_string_equal(end_of(w, AX_ALERT_FAILED), "resolved by ann");
	assert_string_equal(queued(w), "1:1 2:1");
	assert_int_equal(ax_alert_close(&w->ctx, alert.id, "", "ann", &alert, NULL), AX_CONFLICT);
}

/* missed */

static void test_missed_fires_wait_for_a_decision(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 * * * *", NULL);
	go_quiet(w, 3 * 3600000 + 1800000);
	restart(w);
	go(w, 0);
	struct ax_alert alert = alert_of(w, AX_ALERT_MISSED);
	assert_int_equal(alert.count, 1);
	assert_int_equal(alert.value, 3);
	assert_int_equal(alert.bound, 600);
	go_quiet(w, 2 * 3600000);
	restart(w);
	go(w, 0);
	assert_int_equal(alert_of(w, AX_ALERT_MISSED).count, 2);
	struct ax_run run;
	struct ax_runs made;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(alert_of(w, AX_ALERT_MISSED).state, AX_ALERT_OPEN);
		int64_t gid = find_run(w, id, AX_RUN_MISSED, i).gid;
		assert_int_equal(ax_run_resolve_missed(&w->ctx, gid, AX_MISSED_DISMISS, "", &run, &made, NULL), AX_OK);
	}
	assert_int_equal(alert_of(w, AX_ALERT_MISSED).state, AX_ALERT_RESOLVED);
}

static enum ax_status purge_runs(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	int deleted;
	return tx->ops->runs_purge(tx, *(int64_t *)arg, 100, &deleted, err);
}

static void test_missed_fires_that_retention_took_end_the_alert(void **state)
{
	struct world *w = *state;
	make_task(w, "0 0 1 * *", NULL);
	go_quiet(w, INT64_C(31) * 86400000);
	restart(w);
	go(w, 0);
	assert_int_equal(count_alerts(w, AX_ALERT_MISSED, AX_ALERT_OPEN), 1);
	int64_t later = w->now + 1;
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, purge_runs, &later, NULL), AX_OK);
	go(w, 20000);
	assert_int_equal(count_alerts(w, AX_ALERT_MISSED, AX_ALERT_OPEN), 0);
}

/* late */

static void test_a_run_that_nobody_takes_is_late(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 0 1 7 *", NULL);
	struct ax_run run;
	bool existed;
	struct ax_trigger ask = { .task_id = id, .key = "", .params = "" };
	assert_int_equal(ax_task_trigger(&w->ctx, &ask, &run, &existed, NULL), AX_OK);
	go(w, 25000);
	assert_int_equal(count_alerts(w, AX_ALERT_LATE, AX_ALERT_OPEN), 0);
	go(w, 12000);
	struct ax_alert alert = alert_of(w, AX_ALERT_LATE);
	assert_int_equal(alert.gid, run.gid);
	assert_int_equal(alert.value, 37);
	assert_int_equal(alert.bound, 30);
	go(w, 12000);
	assert_int_equal(alert_of(w, AX_ALERT_LATE).rev, alert.rev); /* nothing is written while it lasts */
	register_worker(w, "w1", "i1", 10);
	struct ax_order order;
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(alert_of(w, AX_ALERT_LATE).count, 1); /* the same run is counted once */
	go(w, 11 * 60000);
	assert_int_equal(alert_of(w, AX_ALERT_LATE).state, AX_ALERT_RESOLVED);
}

static void late_after_5(struct ax_task_def *def)
{
	def->late_seconds = 5;
}

static void test_a_late_claim_counts_by_the_tasks_own_bound(void **state)
{
	struct world *w = *state;
	make_task(w, "* * * * *", late_after_5);
	struct ax_order order;
	go(w, 60000);
	go_quiet(w, 4000);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(count_alerts(w, AX_ALERT_LATE, AX_ALERT_OPEN), 0);
	assert_int_equal(result(w, "w1", &order.run, AX_OUTCOME_SUCCESS), AX_VERDICT_APPLIED);
	go(w, 56000);
	go_quiet(w, 6000);
	assert_int_equal(poll(w, "w1", "i1", 1, &order, NULL), 1);
	assert_int_equal(alert_of(w, AX_ALERT_LATE).value, 6);
}

static void test_what_a_person_holds_back_is_not_late(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL);
	struct ax_task task;
	go(w, 60000);
	assert_int_equal(
		ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "me", &task, &(struct ax_runs){ 0 }, NULL), AX_OK);
	go(w, 120000);
	assert_int_equal(count_alerts(w, AX_ALERT_LATE, AX_ALERT_OPEN), 0);
}

/* backlog */

static void test_a_backlog_needs_many_runs_that_wait_long(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", NULL);
	struct ax_run run;
	bool existed;
	struct ax_trigger ask = { .task_id = id, .key = "", .params = "" };
	set_group(w, (struct ax_group){ .contacts = "", .backlog_limit = 250, .backlog_seconds = 60 });
	for (int i = 0; i < 251; i++)
		assert_int_equal(ax_task_trigger(&w->ctx, &ask, &run, &existed, NULL), AX_OK);
	go(w, 50000);
	assert_int_equal(count_alerts(w, AX_ALERT_BACKLOG, AX_ALERT_OPEN), 0);
	go(w, 11000);
	struct ax_alert alert = alert_of(w, AX_ALERT_BACKLOG);
	assert_int_equal(alert.value, 251);
	assert_int_equal(alert.bound, 250);
	assert_string_equal(alert.group_key, "default");
	assert_int_equal(ax_run_cancel(&w->ctx, run.gid, "", &run, NULL), AX_OK);
	go(w, 11000);
	alert = alert_of(w, AX_ALERT_BACKLOG);
	assert_int_equal(alert.state, AX_ALERT_RESOLVED);
	assert_string_equal(end_of(w, AX_ALERT_BACKLOG), "250 runs wait now");
}

static void test_what_waits_in_a_paused_group_is_neither_late_nor_a_backlog(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "", NULL);
	struct ax_run run;
	bool existed;
	struct ax_trigger ask = { .task_id = id, .key = "", .params = "" };
	struct ax_group group = {
		.contacts = "", .late_seconds = 30, .backlog_limit = 1, .backlog_seconds = 60, .paused = true
	};
	set_group(w, group);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ax_task_trigger(&w->ctx, &ask, &run, &existed, NULL), AX_OK);
	for (int i = 0; i < 10; i++)
		go(w, 11000);
	assert_int_equal(count_alerts(w, AX_ALERT_LATE, AX_ALERT_OPEN), 0);
	assert_int_equal(count_alerts(w, AX_ALERT_BACKLOG, AX_ALERT_OPEN), 0);
	group.paused = false;
	set_group(w, group); /* nobody wants them to wait any more */
	go(w, 11000);
	assert_int_equal(count_alerts(w, AX_ALERT_LATE, AX_ALERT_OPEN), 1);
	assert_int_equal(count_alerts(w, AX_ALERT_BACKLOG, AX_ALERT_OPEN), 1);
}

/* worker_lost */

static void test_a_worker_that_falls_silent_is_lost_until_it_is_back(void **state)
{
	struct world *w = *state;
	go(w, 40000);
	assert_int_equal(count_alerts(w, AX_ALERT_WORKER_LOST, AX_ALERT_OPEN), 0);
	for (int i = 0; i < 6; i++) /* a server that slept does not blame others */
		go(w, 9000);
	struct ax_alert alert = alert_of(w, AX_ALERT_WORKER_LOST);
	assert_string_equal(alert.subject, "w1");
	assert_string_equal(alert.group_key, "default");
	register_worker(w, "w1", "i2", 10);
	go(w, 11000);
	assert_string_equal(end_of(w, AX_ALERT_WORKER_LOST), "the worker is back");
	assert_int_equal(ax_worker_leave(&w->ctx, "w1", "i2", NULL), AX_OK);
	for (int i = 0; i < 12; i++)
		go(w, 9000);
	assert_int_equal(count_alerts(w, AX_ALERT_WORKER_LOST, AX_ALERT_OPEN), 0);
}

static void test_a_server_that_was_away_blames_no_worker(void **state)
{
	struct world *w = *state;
	go(w, 1000);
	go_quiet(w, 3600000);
	go(w, 0);
	go(w, 11000);
	assert_int_equal(count_alerts(w, AX_ALERT_WORKER_LOST, AX_ALERT_OPEN), 0);
}

/* absence */

static void expected_each_5_min(struct ax_task_def *def)
{
	def->absence_seconds = 300;
	def->retry_count = 0;
}

static void test_a_task_that_does_not_succeed_is_absent(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", expected_each_5_min);
	for (int i = 0; i < 4; i++)
		run_once(w, AX_OUTCOME_FAILED);
	assert_int_equal(count_alerts(w, AX_ALERT_ABSENCE, AX_ALERT_OPEN), 0);
	run_once(w, AX_OUTCOME_FAILED);
	go(w, 11000);
	struct ax_alert alert = alert_of(w, AX_ALERT_ABSENCE);
	assert_int_equal(alert.task_id, id);
	assert_int_equal(alert.bound, 300);
	run_once(w, AX_OUTCOME_SUCCESS);
	assert_int_equal(alert_of(w, AX_ALERT_ABSENCE).state, AX_ALERT_RESOLVED);
	for (int i = 0; i < 4; i++)
		run_once(w, AX_OUTCOME_FAILED);
	assert_int_equal(count_alerts(w, AX_ALERT_ABSENCE, AX_ALERT_OPEN), 0); /* the success counts */
}

static void test_absence_counts_while_enabled(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "0 0 1 7 *", expected_each_5_min);
	struct ax_task task;
	struct ax_runs given = { 0 };
	go(w, 310000);
	assert_int_equal(count_alerts(w, AX_ALERT_ABSENCE, AX_ALERT_OPEN), 1);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_PAUSED, "me", &task, &given, NULL), AX_OK);
	go(w, 11000);
	assert_int_equal(count_alerts(w, AX_ALERT_ABSENCE, AX_ALERT_OPEN), 0);
	go(w, 3600000);
	assert_int_equal(ax_task_set_status(&w->ctx, id, AX_TASK_ENABLED, "me", &task, &given, NULL), AX_OK);
	go(w, 280000);
	assert_int_equal(count_alerts(w, AX_ALERT_ABSENCE, AX_ALERT_OPEN), 0);
	go(w, 31000);
	assert_int_equal(count_alerts(w, AX_ALERT_ABSENCE, AX_ALERT_OPEN), 1);
}

/* the service */

struct raise {
	struct ax_ctx *ctx;
	struct ax_alert_event event;
	int64_t now;
};

static enum ax_status raise_it(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct raise *raise = arg;
	return ax_alert_raise(raise->ctx, tx, &raise->event, raise->now, err);
}

static void test_an_alert_that_grows_is_told_again(void **state)
{
	struct world *w = *state;
	char text[1200];
	make_channel(w, "ops", NULL);
	memset(text, 'x', sizeof(text));
	memcpy(text + 498, "\xe7\xbb\x84", 3); /* would be cut in its middle */
	text[10] = '\n';
	text[sizeof(text) - 1] = '\0';
	struct raise raise = { &w->ctx,
		{ .rule = AX_ALERT_FAILURE_GROUP,
			.group_key = "",
			.episode = "f1",
			.subject = "s",
			.detail = { AX_SAY_ALERT_UNSCHEDULABLE, { ax_text_param("fault", text) } },
			.count = 5 },
		w->now };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, raise_it, &raise, NULL), AX_OK);
	struct ax_alert alert = alert_of(w, AX_ALERT_FAILURE_GROUP);
	assert_int_equal(alert.count, 5);
	struct ax_said said;
	assert_true(ax_said_read(&w->arena, alert.detail, &said));
	assert_int_equal(strlen(said.params[0].text), 498);
	assert_int_equal(said.params[0].text[10], ' ');
	raise.event.count = 7;
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, raise_it, &raise, NULL), AX_OK);
	assert_string_equal(queued_of(w, AX_ALERT_FAILURE_GROUP), "1:1");
	raise.event.tell_again = true;
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, raise_it, &raise, NULL), AX_OK);
	assert_int_equal(alert_of(w, AX_ALERT_FAILURE_GROUP).count, 19);
	assert_string_equal(queued_of(w, AX_ALERT_FAILURE_GROUP), "1:1 3:1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_failed_task_has_one_open_alert_that_grows),
		TEST(test_success_ends_it_and_the_next_failure_is_a_new_episode),
		TEST(test_a_task_that_fails_now_and_then_is_told_of_once),
		TEST(test_the_success_of_an_older_fire_ends_nothing),
		TEST(test_a_failure_that_is_tried_again_is_no_alert),
		TEST(test_a_deleted_task_takes_its_alerts_along),
		TEST(test_channels_hear_their_rules_and_groups),
		TEST(test_a_group_names_its_channels),
		TEST(test_the_end_is_told_to_those_who_know_of_the_beginning),
		TEST(test_reminders_come_as_often_as_each_channel_wants),
		TEST(test_a_muted_alert_ends_in_silence),
		TEST(test_an_alert_can_be_resolved_by_hand),
		TEST(test_missed_fires_wait_for_a_decision),
		TEST(test_missed_fires_that_retention_took_end_the_alert),
		TEST(test_a_run_that_nobody_takes_is_late),
		TEST(test_a_late_claim_counts_by_the_tasks_own_bound),
		TEST(test_what_a_person_holds_back_is_not_late),
		TEST(test_a_backlog_needs_many_runs_that_wait_long),
		TEST(test_what_waits_in_a_paused_group_is_neither_late_nor_a_backlog),
		TEST(test_a_worker_that_falls_silent_is_lost_until_it_is_back),
		TEST(test_a_server_that_was_away_blames_no_worker),
		TEST(test_a_task_that_does_not_succeed_is_absent),
		TEST(test_absence_counts_while_enabled),
		TEST(test_an_alert_that_grows_is_told_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
