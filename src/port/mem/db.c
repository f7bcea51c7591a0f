#include "port/mem/db.h"

#include <string.h>

#include "base/err.h"

#define ROWS(type) const struct type *x = a, *y = b
#define THEN(field)                                                                                                    \
	if (x->field != y->field)                                                                                      \
	return x->field < y->field ? -1 : 1
#define THEN_TEXT(field)                                                                                               \
	if (strcmp(x->field, y->field) != 0)                                                                           \
	return strcmp(x->field, y->field)

static int task_by_id(const void *a, const void *b)
{
	ROWS(ax_task);
	THEN(id);
	return 0;
}

static int task_by_name(const void *a, const void *b)
{
	ROWS(ax_task);
	THEN_TEXT(def.group_key);
	THEN_TEXT(def.task_name);
	return 0;
}

static int task_by_next(const void *a, const void *b)
{
	ROWS(ax_task);
	THEN(next_trigger_time);
	THEN(id);
	return 0;
}

static bool task_has_next(const void *row)
{
	const struct ax_task *task = row;
	return task->status == AX_TASK_ENABLED && task->next_trigger_time > 0;
}

static int task_by_calendar(const void *a, const void *b)
{
	ROWS(ax_task);
	THEN_TEXT(def.calendar);
	THEN(calendar_version);
	THEN(id);
	return 0;
}

static bool task_is_enabled(const void *row)
{
	return ((const struct ax_task *)row)->status == AX_TASK_ENABLED;
}

static bool task_lacks_next(const void *row)
{
	const struct ax_task *task = row;
	return task->status == AX_TASK_ENABLED && task->next_trigger_time == 0 && !task->exhausted &&
		ax_def_has_schedule(&task->def);
}

static bool task_is_ending(const void *row)
{
	return ((const struct ax_task *)row)->ending;
}

static bool task_counts_absence(const void *row)
{
	const struct ax_task *task = row;
	return task->status == AX_TASK_ENABLED && task->def.absence_seconds > 0;
}

static int task_by_event(const void *a, const void *b)
{
	ROWS(ax_task);
	THEN_TEXT(def.event_name);
	THEN(id);
	return 0;
}

static bool task_listens(const void *row)
{
	return ((const struct ax_task *)row)->def.task_type == AX_TASK_EVENT;
}

static int version_by_key(const void *a, const void *b)
{
	ROWS(ax_task_version);
	THEN(task_id);
	THEN(version);
	return 0;
}

static int canary_by_task(const void *a, const void *b)
{
	ROWS(ax_canary);
	THEN(task_id);
	return 0;
}

static int epoch_by_id(const void *a, const void *b)
{
	ROWS(ax_epoch);
	THEN(id);
	return 0;
}

static int epoch_by_task(const void *a, const void *b)
{
	ROWS(ax_epoch);
	THEN(task_id);
	THEN(id);
	return 0;
}

static int run_by_gid(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(gid);
	return 0;
}

static int run_by_fire(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(task_id);
	THEN(kind);
	THEN_TEXT(fire_key);
	THEN(shard);
	return 0;
}

static int run_by_task(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(task_id);
	THEN(gid);
	return 0;
}

static int run_by_rank(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN_TEXT(group_key);
	THEN(hold);
	THEN_TEXT(executor_key);
	THEN(lane);
	THEN_TEXT(demand);
	THEN(rank);
	THEN(gid);
	return 0;
}

static int run_by_parent(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(parent);
	THEN(gid);
	return 0;
}

static int run_by_deadline(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(deadline_time);
	THEN(gid);
	return 0;
}

static int run_by_worker(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN_TEXT(worker);
	THEN(gid);
	return 0;
}

static int run_by_watch(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(watch_time);
	THEN(gid);
	return 0;
}

static int run_by_end(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(end_time);
	THEN(gid);
	return 0;
}

static int run_by_trigger(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(trigger_time);
	THEN(gid);
	return 0;
}

static int run_by_backfill(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(backfill_id);
	THEN(gid);
	return 0;
}

static int run_by_batch(const void *a, const void *b)
{
	ROWS(ax_run);
	THEN(batch);
	THEN(gid);
	return 0;
}

static bool run_is_undispatched(const void *row)
{
	const struct ax_run *run = row;
	return run->status == AX_RUN_WAITING && run->fence == 0;
}

static bool run_is_undecided(const void *row)
{
	const struct ax_run *run = row;
	return run->status == AX_RUN_MISSED && strcmp(run->reason, "missed") == 0;
}

static bool run_is_of_backfill(const void *row)
{
	return ((const struct ax_run *)row)->backfill_id > 0;
}

static bool run_is_no_shard(const void *row)
{
	return ((const struct ax_run *)row)->shard == 0;
}

static bool run_has_parent(const void *row)
{
	return ((const struct ax_run *)row)->parent > 0;
}

static bool run_has_not_ended(const void *row)
{
	return !ax_run_is_terminal(((const struct ax_run *)row)->status);
}

static bool run_is_live(const void *row)
{
	return run_is_no_shard(row) && run_has_not_ended(row);
}

static bool run_is_held(const void *row)
{
	const struct ax_run *run = row;
	return run->status == AX_RUN_WAITING && run->hold == AX_HOLD_OVERLAP;
}

static bool run_is_active(const void *row)
{
	const struct ax_run *run = row;
	return run_is_live(row) && run->status != AX_RUN_PENDING && run->hold != AX_HOLD_OVERLAP;
}

static bool run_is_live_shard(const void *row)
{
	return run_has_parent(row) && run_has_not_ended(row);
}

static bool run_is_pending(const void *row)
{
	return ((const struct ax_run *)row)->status == AX_RUN_PENDING;
}

static bool run_is_waiting(const void *row)
{
	return ((const struct ax_run *)row)->status == AX_RUN_WAITING;
}

static bool run_has_deadline(const void *row)
{
	return run_has_not_ended(row) && ((const struct ax_run *)row)->deadline_time > 0;
}

static bool run_is_looked_at(const void *row)
{
	const struct ax_run *run = row;
	return run_has_deadline(run) && run_is_waiting(run) && run->spread != AX_SPREAD_NONE;
}

static bool run_is_watched(const void *row)
{
	return run_has_not_ended(row) && ((const struct ax_run *)row)->watch_time > 0;
}

static bool run_is_given_out(const void *row)
{
	return ax_run_is_given_out(((const struct ax_run *)row)->status);
}

static bool run_has_ended(const void *row)
{
	return run_is_no_shard(row) && !run_has_not_ended(row);
}

static int attempt_by_key(const void *a, const void *b)
{
	ROWS(ax_attempt);
	THEN(gid);
	THEN(fence);
	return 0;
}

static int output_by_key(const void *a, const void *b)
{
	ROWS(ax_output);
	THEN(gid);
	THEN(fence);
	THEN(seq);
	return 0;
}

static int group_by_key(const void *a, const void *b)
{
	ROWS(ax_group);
	THEN_TEXT(group_key);
	return 0;
}

static int worker_by_name(const void *a, const void *b)
{
	ROWS(ax_worker);
	THEN_TEXT(name);
	return 0;
}

static int worker_group_by_key(const void *a, const void *b)
{
	ROWS(ax_worker_group);
	THEN_TEXT(worker);
	THEN_TEXT(group_key);
	return 0;
}

static int worker_group_by_group(const void *a, const void *b)
{
	ROWS(ax_worker_group);
	THEN_TEXT(group_key);
	THEN_TEXT(worker);
	return 0;
}

static int server_by_number(const void *a, const void *b)
{
	ROWS(ax_server_row);
	THEN(number);
	return 0;
}

static int lease_by_name(const void *a, const void *b)
{
	ROWS(ax_lease);
	THEN_TEXT(name);
	return 0;
}

static int user_by_id(const void *a, const void *b)
{
	ROWS(ax_user);
	THEN(id);
	return 0;
}

static int user_by_name(const void *a, const void *b)
{
	ROWS(ax_user);
	THEN_TEXT(name);
	return 0;
}

static int token_by_id(const void *a, const void *b)
{
	ROWS(ax_token);
	THEN(id);
	return 0;
}

static int token_by_hash(const void *a, const void *b)
{
	ROWS(ax_token);
	THEN_TEXT(hash);
	return 0;
}

static int audit_by_id(const void *a, const void *b)
{
	ROWS(ax_audit_entry);
	THEN(id);
	return 0;
}

static int idem_by_key(const void *a, const void *b)
{
	ROWS(ax_idem);
	THEN_TEXT(key);
	return 0;
}

static int event_by_id(const void *a, const void *b)
{
	ROWS(ax_event);
	THEN(id);
	return 0;
}

static int event_by_key(const void *a, const void *b)
{
	ROWS(ax_event);
	THEN_TEXT(event_name);
	THEN_TEXT(event_key);
	return 0;
}

static int event_by_name(const void *a, const void *b)
{
	ROWS(ax_event);
	THEN_TEXT(event_name);
	THEN(id);
	return 0;
}

static int event_by_time(const void *a, const void *b)
{
	ROWS(ax_event);
	THEN(time);
	THEN(id);
	return 0;
}

static int event_task_by_key(const void *a, const void *b)
{
	ROWS(ax_event_task);
	THEN(event);
	THEN(task_id);
	return 0;
}

static int upstream_by_task(const void *a, const void *b)
{
	ROWS(ax_upstream);
	THEN(task_id);
	THEN(upstream_id);
	return 0;
}

static int upstream_by_upstream(const void *a, const void *b)
{
	ROWS(ax_upstream);
	THEN(upstream_id);
	THEN(task_id);
	return 0;
}

static int run_upstream_by_key(const void *a, const void *b)
{
	ROWS(ax_run_upstream);
	THEN(gid);
	THEN(upstream_id);
	return 0;
}

static int ended_minute_by_minute(const void *a, const void *b)
{
	ROWS(ax_ended_minute);
	THEN(minute);
	return 0;
}

static int notice_by_key(const void *a, const void *b)
{
	ROWS(ax_notice);
	THEN(server);
	THEN(seq);
	return 0;
}

static int channel_by_id(const void *a, const void *b)
{
	ROWS(ax_channel);
	THEN(id);
	return 0;
}

static int channel_by_name(const void *a, const void *b)
{
	ROWS(ax_channel);
	THEN_TEXT(name);
	return 0;
}

static int alert_by_id(const void *a, const void *b)
{
	ROWS(ax_alert);
	THEN(id);
	return 0;
}

static int alert_by_key(const void *a, const void *b)
{
	ROWS(ax_alert);
	THEN(rule);
	THEN_TEXT(group_key);
	THEN_TEXT(episode);
	return 0;
}

static int alert_by_rule(const void *a, const void *b)
{
	ROWS(ax_alert);
	THEN(rule);
	THEN(id);
	return 0;
}

static int alert_by_task(const void *a, const void *b)
{
	ROWS(ax_alert);
	THEN(task_id);
	THEN(id);
	return 0;
}

static int alert_by_told(const void *a, const void *b)
{
	ROWS(ax_alert);
	THEN(told_time);
	THEN(id);
	return 0;
}

static int alert_by_resolve(const void *a, const void *b)
{
	ROWS(ax_alert);
	THEN(resolve_time);
	THEN(id);
	return 0;
}

static bool alert_is_open(const void *row)
{
	return ((const struct ax_alert *)row)->state == AX_ALERT_OPEN;
}

static bool alert_may_be_told(const void *row)
{
	return alert_is_open(row) && !((const struct ax_alert *)row)->muted;
}

static bool alert_is_resolved(const void *row)
{
	return ((const struct ax_alert *)row)->state == AX_ALERT_RESOLVED;
}

static int delivery_by_id(const void *a, const void *b)
{
	ROWS(ax_delivery);
	THEN(id);
	return 0;
}

static int delivery_by_time(const void *a, const void *b)
{
	ROWS(ax_delivery);
	THEN(channel_id);
	THEN(next_time);
	THEN(id);
	return 0;
}

static int delivery_by_turn(const void *a, const void *b)
{
	ROWS(ax_delivery);
	THEN(channel_id);
	THEN(alert_id);
	THEN(id);
	return 0;
}

static int delivery_by_alert(const void *a, const void *b)
{
	ROWS(ax_delivery);
	THEN(alert_id);
	THEN(id);
	return 0;
}

static int delivery_by_channel(const void *a, const void *b)
{
	ROWS(ax_delivery);
	THEN(channel_id);
	THEN(id);
	return 0;
}

static bool delivery_is_pending(const void *row)
{
	return ((const struct ax_delivery *)row)->state == AX_DELIVERY_PENDING;
}

static int failure_by_gid(const void *a, const void *b)
{
	ROWS(ax_failure);
	THEN(gid);
	return 0;
}

static int failure_by_group(const void *a, const void *b)
{
	ROWS(ax_failure);
	THEN_TEXT(group_key);
	THEN(fingerprint);
	THEN(gid);
	return 0;
}

static bool failure_is_unfolded(const void *row)
{
	return !((const struct ax_failure *)row)->folded;
}

static bool failure_has_no_rerun(const void *row)
{
	return ((const struct ax_failure *)row)->rerun_gid == 0;
}

static int failure_group_by_id(const void *a, const void *b)
{
	ROWS(ax_failure_group);
	THEN(id);
	return 0;
}

static int failure_group_by_key(const void *a, const void *b)
{
	ROWS(ax_failure_group);
	THEN_TEXT(group_key);
	THEN(fingerprint);
	return 0;
}

static int failure_group_by_seen(const void *a, const void *b)
{
	ROWS(ax_failure_group);
	THEN(last_seen_time);
	THEN(id);
	return 0;
}

static int failure_group_by_fingerprint(const void *a, const void *b)
{
	ROWS(ax_failure_group);
	THEN(fingerprint);
	THEN(id);
	return 0;
}

static bool failure_group_is_resolved(const void *row)
{
	return ((const struct ax_failure_group *)row)->state == AX_FAILURE_RESOLVED;
}

static int failure_spread_by_key(const void *a, const void *b)
{
	ROWS(ax_failure_spread);
	THEN(failure_id);
	THEN(task_id);
	THEN(version);
	THEN_TEXT(worker);
	return 0;
}

static int failure_hour_by_key(const void *a, const void *b)
{
	ROWS(ax_failure_hour);
	THEN(failure_id);
	THEN(hour);
	return 0;
}

static int calendar_by_name(const void *a, const void *b)
{
	ROWS(ax_calendar_row);
	THEN_TEXT(name);
	return 0;
}

static int calendar_version_by_key(const void *a, const void *b)
{
	ROWS(ax_calendar_version);
	THEN_TEXT(name);
	THEN(version);
	return 0;
}

static int backfill_by_id(const void *a, const void *b)
{
	ROWS(ax_backfill);
	THEN(id);
	return 0;
}

static int backfill_by_task(const void *a, const void *b)
{
	ROWS(ax_backfill);
	THEN(task_id);
	THEN(id);
	return 0;
}

static bool backfill_is_open(const void *row)
{
	return ((const struct ax_backfill *)row)->status == AX_BACKFILL_RUNNING;
}

static const struct ax_mem_index task_indexes[] = {
	{ task_by_id, NULL, "id" },
	[AX_MEM_TASK_BY_NAME] = { task_by_name, NULL, "task_name" },
	[AX_MEM_TASK_DUE] = { task_by_next, task_has_next, NULL },
	[AX_MEM_TASK_STUCK] = { task_by_id, task_lacks_next, NULL },
	[AX_MEM_TASK_ENDING] = { task_by_id, task_is_ending, NULL },
	[AX_MEM_TASK_ABSENCE] = { task_by_id, task_counts_absence, NULL },
	[AX_MEM_TASK_LISTENING] = { task_by_event, task_listens, NULL },
	[AX_MEM_TASK_BEHIND] = { task_by_calendar, task_is_enabled, NULL },
};
static const struct ax_mem_index version_indexes[] = { { version_by_key, NULL, "version" } };
static const struct ax_mem_index epoch_indexes[] = {
	{ epoch_by_id, NULL, "id" },
	[AX_MEM_EPOCH_BY_TASK] = { epoch_by_task, NULL, NULL },
};
static const struct ax_mem_index canary_indexes[] = { { canary_by_task, NULL, "task_id" } };
static const struct ax_mem_index run_indexes[] = {
	{ run_by_gid, NULL, "gid" },
	[AX_MEM_RUN_BY_FIRE] = { run_by_fire, NULL, "fire_key" },
	[AX_MEM_RUN_BY_TASK] = { run_by_task, run_is_no_shard, NULL },
	[AX_MEM_RUN_LIVE] = { run_by_gid, run_is_live, NULL },
	[AX_MEM_RUN_LIVE_BY_TASK] = { run_by_task, run_is_live, NULL },
	[AX_MEM_RUN_ACTIVE_BY_TASK] = { run_by_task, run_is_active, NULL },
	[AX_MEM_RUN_PENDING_BY_TASK] = { run_by_task, run_is_pending, NULL },
	[AX_MEM_RUN_HELD_BY_TASK] = { run_by_task, run_is_held, NULL },
	[AX_MEM_RUN_WAITING] = { run_by_rank, run_is_waiting, NULL },
	[AX_MEM_RUN_LOOKED] = { run_by_gid, run_is_looked_at, NULL },
	[AX_MEM_RUN_DEADLINE] = { run_by_deadline, run_has_deadline, NULL },
	[AX_MEM_RUN_WATCHED] = { run_by_watch, run_is_watched, NULL },
	[AX_MEM_RUN_GIVEN] = { run_by_worker, run_is_given_out, NULL },
	[AX_MEM_RUN_ENDED] = { run_by_end, run_has_ended, NULL },
	[AX_MEM_RUN_UNDISPATCHED] = { run_by_trigger, run_is_undispatched, NULL },
	[AX_MEM_RUN_UNDECIDED] = { run_by_task, run_is_undecided, NULL },
	[AX_MEM_RUN_BY_BACKFILL] = { run_by_backfill, run_is_of_backfill, NULL },
	[AX_MEM_RUN_BY_BATCH] = { run_by_batch, run_is_no_shard, NULL },
	[AX_MEM_RUN_PAGE] = { run_by_gid, run_is_no_shard, NULL },
	[AX_MEM_RUN_SHARDS] = { run_by_parent, run_has_parent, NULL },
	[AX_MEM_RUN_SHARDS_LIVE] = { run_by_parent, run_is_live_shard, NULL },
};
static const struct ax_mem_index attempt_indexes[] = { { attempt_by_key, NULL, "fence" } };
static const struct ax_mem_index output_indexes[] = { { output_by_key, NULL, "seq" } };
static const struct ax_mem_index group_indexes[] = { { group_by_key, NULL, "group_key" } };
static const struct ax_mem_index worker_indexes[] = { { worker_by_name, NULL, "name" } };
static const struct ax_mem_index worker_group_indexes[] = {
	{ worker_group_by_key, NULL, "group_key" },
	[AX_MEM_WORKER_GROUP_BY_GROUP] = { worker_group_by_group, NULL, NULL },
};
static const struct ax_mem_index server_indexes[] = { { server_by_number, NULL, "number" } };
static const struct ax_mem_index lease_indexes[] = { { lease_by_name, NULL, "name" } };
static const struct ax_mem_index user_indexes[] = {
	{ user_by_id, NULL, "id" },
	[AX_MEM_USER_BY_NAME] = { user_by_name, NULL, "name" },
};
static const struct ax_mem_index token_indexes[] = {
	{ token_by_id, NULL, "id" },
	[AX_MEM_TOKEN_BY_HASH] = { token_by_hash, NULL, "hash" },
};
static const struct ax_mem_index audit_indexes[] = { { audit_by_id, NULL, "id" } };
static const struct ax_mem_index idem_indexes[] = { { idem_by_key, NULL, "key" } };
static const struct ax_mem_index event_indexes[] = {
	{ event_by_id, NULL, "id" },
	[AX_MEM_EVENT_BY_KEY] = { event_by_key, NULL, "event_key" },
	[AX_MEM_EVENT_BY_NAME] = { event_by_name, NULL, NULL },
	[AX_MEM_EVENT_BY_TIME] = { event_by_time, NULL, NULL },
};
static const struct ax_mem_index event_task_indexes[] = { { event_task_by_key, NULL, "task_id" } };
static const struct ax_mem_index upstream_indexes[] = {
	{ upstream_by_task, NULL, "upstream_id" },
	[AX_MEM_UPSTREAM_DOWN] = { upstream_by_upstream, NULL, NULL },
};
static const struct ax_mem_index run_upstream_indexes[] = { { run_upstream_by_key, NULL, "upstream_id" } };
static const struct ax_mem_index ended_minute_indexes[] = { { ended_minute_by_minute, NULL, "minute" } };
static const struct ax_mem_index notice_indexes[] = { { notice_by_key, NULL, "seq" } };
static const struct ax_mem_index channel_indexes[] = {
	{ channel_by_id, NULL, "id" },
	[AX_MEM_CHANNEL_BY_NAME] = { channel_by_name, NULL, "name" },
};
static const struct ax_mem_index alert_indexes[] = {
	{ alert_by_id, NULL, "id" },
	[AX_MEM_ALERT_OPEN] = { alert_by_key, alert_is_open, "episode" },
	[AX_MEM_ALERT_OPEN_BY_TASK] = { alert_by_task, alert_is_open, NULL },
	[AX_MEM_ALERT_UNTOLD] = { alert_by_told, alert_may_be_told, NULL },
	[AX_MEM_ALERT_RESOLVED] = { alert_by_resolve, alert_is_resolved, NULL },
	[AX_MEM_ALERT_OPEN_BY_RULE] = { alert_by_rule, alert_is_open, NULL },
};
static const struct ax_mem_index delivery_indexes[] = {
	{ delivery_by_id, NULL, "id" },
	[AX_MEM_DELIVERY_DUE] = { delivery_by_time, delivery_is_pending, NULL },
	[AX_MEM_DELIVERY_TURN] = { delivery_by_turn, delivery_is_pending, NULL },
	[AX_MEM_DELIVERY_BY_ALERT] = { delivery_by_alert, NULL, NULL },
	[AX_MEM_DELIVERY_BY_CHANNEL] = { delivery_by_channel, NULL, NULL },
};
static const struct ax_mem_index failure_indexes[] = {
	{ failure_by_gid, NULL, "gid" },
	[AX_MEM_FAILURE_UNFOLDED] = { failure_by_gid, failure_is_unfolded, NULL },
	[AX_MEM_FAILURE_OF_GROUP] = { failure_by_group, NULL, NULL },
	[AX_MEM_FAILURE_TO_RERUN] = { failure_by_group, failure_has_no_rerun, NULL },
};
static const struct ax_mem_index failure_group_indexes[] = {
	{ failure_group_by_id, NULL, "id" },
	[AX_MEM_FAILURE_GROUP_BY_KEY] = { failure_group_by_key, NULL, "fingerprint" },
	[AX_MEM_FAILURE_GROUP_SEEN] = { failure_group_by_seen, NULL, NULL },
	[AX_MEM_FAILURE_GROUP_RESOLVED] = { failure_group_by_seen, failure_group_is_resolved, NULL },
	[AX_MEM_FAILURE_GROUP_ALIKE] = { failure_group_by_fingerprint, NULL, NULL },
};
static const struct ax_mem_index failure_spread_indexes[] = { { failure_spread_by_key, NULL, "worker" } };
static const struct ax_mem_index failure_hour_indexes[] = { { failure_hour_by_key, NULL, "hour" } };

static const struct ax_mem_index calendar_indexes[] = { { calendar_by_name, NULL, "name" } };
static const struct ax_mem_index calendar_version_indexes[] = { { calendar_version_by_key, NULL, "version" } };
static const struct ax_mem_index backfill_indexes[] = {
	{ backfill_by_id, NULL, "id" },
	[AX_MEM_BACKFILL_BY_TASK] = { backfill_by_task, NULL, NULL },
	[AX_MEM_BACKFILL_OPEN] = { backfill_by_id, backfill_is_open, NULL },
};

void ax_mem_tables_init(struct ax_mem_table tables[AX_MEM_TABLES])
{
#define TABLE(id, row, indexes) ax_mem_table_init(&tables[id], &(row), indexes, AX_COUNT(indexes))
	TABLE(AX_MEM_TASK, ax_task_row, task_indexes);
	TABLE(AX_MEM_TASK_VERSION, ax_task_version_row, version_indexes);
	TABLE(AX_MEM_EPOCH, ax_epoch_row, epoch_indexes);
	TABLE(AX_MEM_CANARY, ax_canary_row, canary_indexes);
	TABLE(AX_MEM_RUN, ax_run_row, run_indexes);
	TABLE(AX_MEM_ATTEMPT, ax_attempt_row, attempt_indexes);
	TABLE(AX_MEM_OUTPUT, ax_output_row, output_indexes);
	TABLE(AX_MEM_GROUP, ax_group_row, group_indexes);
	TABLE(AX_MEM_WORKER, ax_worker_row, worker_indexes);
	TABLE(AX_MEM_WORKER_GROUP, ax_worker_group_row, worker_group_indexes);
	TABLE(AX_MEM_SERVER, ax_server_row_row, server_indexes);
	TABLE(AX_MEM_LEASE, ax_lease_row, lease_indexes);
	TABLE(AX_MEM_USER, ax_user_row, user_indexes);
	TABLE(AX_MEM_TOKEN, ax_token_row, token_indexes);
	TABLE(AX_MEM_AUDIT, ax_audit_row, audit_indexes);
	TABLE(AX_MEM_IDEM, ax_idem_row, idem_indexes);
	TABLE(AX_MEM_EVENT, ax_event_row, event_indexes);
	TABLE(AX_MEM_EVENT_TASK, ax_event_task_row, event_task_indexes);
	TABLE(AX_MEM_UPSTREAM, ax_upstream_row, upstream_indexes);
	TABLE(AX_MEM_RUN_UPSTREAM, ax_run_upstream_row, run_upstream_indexes);
	TABLE(AX_MEM_ENDED_MINUTE, ax_ended_minute_row, ended_minute_indexes);
	TABLE(AX_MEM_NOTICE, ax_notice_row, notice_indexes);
	TABLE(AX_MEM_CHANNEL, ax_channel_row, channel_indexes);
	TABLE(AX_MEM_ALERT, ax_alert_row, alert_indexes);
	TABLE(AX_MEM_DELIVERY, ax_delivery_row, delivery_indexes);
	TABLE(AX_MEM_FAILURE, ax_failure_row, failure_indexes);
	TABLE(AX_MEM_FAILURE_GROUP, ax_failure_group_row, failure_group_indexes);
	TABLE(AX_MEM_FAILURE_SPREAD, ax_failure_spread_row, failure_spread_indexes);
	TABLE(AX_MEM_FAILURE_HOUR, ax_failure_hour_row, failure_hour_indexes);
	TABLE(AX_MEM_CALENDAR, ax_calendar_row_row, calendar_indexes);
	TABLE(AX_MEM_CALENDAR_VERSION, ax_calendar_version_row, calendar_version_indexes);
	TABLE(AX_MEM_BACKFILL, ax_backfill_row, backfill_indexes);
#undef TABLE
}

static const char *name_of(struct ax_tx *tx, enum ax_mem_table_id id)
{
	return ax_mem_table(tx, id)->type->table;
}

enum ax_status ax_mem_missing(struct ax_tx *tx, enum ax_mem_table_id id, struct ax_err *err)
{
	return ax_fail(err, AX_NOT_FOUND, "", "%s has no such row", name_of(tx, id));
}

enum ax_status ax_mem_conflict(struct ax_tx *tx, enum ax_mem_table_id id, struct ax_err *err)
{
	return ax_fail(err, AX_CONFLICT, "", "the row of %s moved on since it was read", name_of(tx, id));
}

static enum ax_status held(struct ax_tx *tx, enum ax_mem_table_id id, struct ax_err *err)
{
	return ax_fail(err, AX_BUSY, "", "a row of %s is another transaction's", name_of(tx, id));
}

enum ax_status ax_mem_broken(struct ax_tx *tx, const char *what, struct ax_err *err)
{
	ax_mem_tx(tx)->doomed = AX_BROKEN;
	return ax_fail(err, AX_BROKEN, "", "%s", what);
}

enum ax_status ax_mem_get_for(struct ax_tx *tx, enum ax_mem_table_id id, size_t index, const void *probe, bool lock,
	void *ret, struct ax_err *err)
{
	const void *stored = ax_mem_row(tx, id, index, probe);
	if (stored == NULL)
		return ax_mem_missing(tx, id, err);
	if (lock && !ax_mem_lock(tx, stored))
		return held(tx, id, err);
	ax_mem_copy_out(ax_mem_table(tx, id), tx->arena, stored, ret);
	return AX_OK;
}

enum ax_status ax_mem_get(
	struct ax_tx *tx, enum ax_mem_table_id id, size_t index, const void *probe, void *ret, struct ax_err *err)
{
	return ax_mem_get_for(tx, id, index, probe, false, ret, err);
}

enum ax_status ax_mem_replace(
	struct ax_tx *tx, enum ax_mem_table_id id, const void *stored, const void *row, struct ax_err *err)
{
	if ((stored != NULL && !ax_mem_lock(tx, stored)) ||
		(row != NULL && ax_mem_key_is_anothers(tx, id, stored, row)))
		return held(tx, id, err);
	const char *key = ax_mem_put(ax_mem_table(tx, id), &ax_mem_tx(tx)->journal, stored, row);
	if (key != NULL)
		return ax_fail(err, AX_EXISTS, key, "%s already has a row with this %s", name_of(tx, id), key);
	ax_mem_hold_new(tx);
	return AX_OK;
}

enum ax_status ax_mem_insert(struct ax_tx *tx, enum ax_mem_table_id id, const void *row, struct ax_err *err)
{
	return ax_mem_replace(tx, id, NULL, row, err);
}

enum ax_status ax_mem_insert_next(
	struct ax_tx *tx, enum ax_mem_table_id id, void *row, int64_t *row_id, struct ax_err *err)
{
	int64_t *last = &ax_mem_of(tx)->last_id[id];
	*row_id = *last + 1;
	enum ax_status status = ax_mem_insert(tx, id, row, err);
	if (status == AX_OK)
		++*last;
	return status;
}

enum ax_status ax_mem_upsert(struct ax_tx *tx, enum ax_mem_table_id id, const void *row, struct ax_err *err)
{
	return ax_mem_replace(tx, id, ax_mem_row(tx, id, 0, row), row, err);
}

enum ax_status ax_mem_delete(struct ax_tx *tx, enum ax_mem_table_id id, const void *probe, struct ax_err *err)
{
	const void *stored = ax_mem_row(tx, id, 0, probe);
	if (stored == NULL)
		return ax_mem_missing(tx, id, err);
	return ax_mem_replace(tx, id, stored, NULL, err);
}

struct ax_mem_list_walk ax_mem_walk(struct ax_tx *tx, enum ax_mem_table_id id, size_t index, const void *probe)
{
	return (struct ax_mem_list_walk){
		.tx = tx,
		.table = id,
		.index = index,
		.position = ax_mem_seek(ax_mem_table(tx, id), index, probe),
	};
}

const void *ax_mem_next(struct ax_mem_list_walk *walk)
{
	return ax_mem_at(ax_mem_table(walk->tx, walk->table), walk->index, walk->position++);
}

const void *ax_mem_previous(struct ax_mem_list_walk *walk)
{
	if (walk->position == 0)
		return NULL;
	return ax_mem_at(ax_mem_table(walk->tx, walk->table), walk->index, --walk->position);
}

void ax_mem_keep(struct ax_mem_list_walk *walk, const void *stored)
{
	const struct ax_mem_table *table = ax_mem_table(walk->tx, walk->table);
	ax_mem_copy_out(table, walk->tx->arena, stored, ax_rows_add(&walk->rows, walk->tx->arena, table->type));
}

void ax_mem_keep_locked(struct ax_mem_list_walk *walk, const void *stored)
{
	(void)ax_mem_lock(walk->tx, stored); /* if it cannot be had now, the operation is done again */
	ax_mem_keep(walk, stored);
}

void ax_mem_keep_free(struct ax_mem_list_walk *walk, const void *stored)
{
	if (!ax_mem_is_anothers(walk->tx, stored))
		ax_mem_keep_locked(walk, stored);
}
