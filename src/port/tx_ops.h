#ifndef AX_PORT_TX_OPS_H
#define AX_PORT_TX_OPS_H

/* Every operation of struct ax_tx_ops with the types of its arguments, for code that does the same to all of them:
 * declares a store's functions, fills its table, wraps or prints each call. The compiler refuses an entry that differs
 * from port/store.h, and a missing one.
 *
 *   AX_TX_OPS(OP)             OP(name) for each operation
 *   AX_ARGS_name(IN, OUT)     IN(type, name) and OUT(type, name) for each argument between tx and err, in order */

#include "port/store.h"

/* clang-format off */
#define AX_TX_OPS(OP) \
	OP(task_insert) OP(task_get) OP(task_update) OP(task_advance) OP(task_last_run) OP(tasks_absent) OP(task_delete) \
	OP(tasks_page) OP(tasks_due) OP(tasks_by_id) OP(tasks_ahead) OP(store_id) OP(tasks_stuck) OP(tasks_ending) OP(tasks_listening) OP(task_next_due) OP(task_counts) OP(task_version_insert) \
	OP(task_version_get) OP(task_versions) OP(canary_put) OP(canary_get) OP(epoch_append) OP(epochs) OP(run_insert) OP(run_get) \
	OP(run_find) OP(runs_expect) OP(run_update) OP(run_set_due) OP(run_renew) OP(runs_live) OP(runs_live_count) OP(runs_pending) OP(runs_held) OP(run_next_queue) OP(runs_claimable) OP(runs_overdue) OP(runs_by_gid) OP(runs_ahead) OP(runs_watched) \
	OP(runs_looked) OP(shards) OP(shard_counts) OP(runs_undispatched) OP(runs_undecided) \
	OP(run_next_deadline) OP(runs_of_worker) OP(runs_to_stop) OP(runs_page) OP(runs_fired) OP(live_counts) OP(ended_counts) \
	OP(ended_minute_put) OP(ended_minutes) OP(ended_minutes_cut) \
	OP(group_waiting) OP(attempt_put) OP(attempt_get) OP(attempts) OP(output_size) OP(output_append) OP(output_cut) \
	OP(outputs) OP(runs_purge) OP(runs_purge_task) OP(run_nth) OP(group_insert) OP(group_get) OP(group_update) OP(group_add_running) \
	OP(group_delete) OP(groups) OP(group_given) OP(worker_put) OP(worker_get) OP(worker_free) OP(workers_by_name) OP(workers) \
	OP(worker_delete) OP(worker_group_put) OP(worker_group_get) OP(worker_groups) \
	OP(group_workers) OP(group_workers_by_name) OP(worker_group_add_given) OP(worker_group_routed) OP(worker_group_drop) OP(server_insert) OP(server_get) OP(server_put) OP(server_renew) OP(servers) \
	OP(lease_insert) OP(lease_get) OP(lease_update) OP(leases) OP(user_insert) \
	OP(user_find) OP(user_count) OP(token_insert) OP(token_find) OP(token_touch) OP(token_delete) \
	OP(tokens) OP(tokens_expire) OP(audit_append) OP(audit_page) OP(idem_get) OP(idem_put) OP(idem_purge) \
	OP(event_insert) OP(event_get) OP(event_find) OP(events_page) OP(event_task_insert) OP(event_tasks) OP(events_purge) \
	OP(upstream_insert) OP(upstreams_delete) OP(upstreams_of) OP(downstreams_of) OP(run_upstream_put) OP(run_upstreams) OP(run_told) \
	OP(channel_insert) OP(channel_get) OP(channel_update) OP(channel_delete) OP(channels) OP(alert_insert) \
	OP(alert_get) OP(alert_find) OP(alert_update) OP(alerts_open) OP(alerts_of_task) OP(alerts_untold) \
	OP(alerts_page) OP(alert_counts) OP(alerts_purge) OP(delivery_insert) OP(delivery_get) OP(delivery_update) \
	OP(deliveries_due) OP(deliveries_release) OP(deliveries_of_alert) OP(deliveries_of_channel) \
	OP(deliveries_pending) \
	OP(failure_insert) OP(failure_get) OP(failures_unfolded) OP(failures_set_folded) OP(failure_set_rerun) \
	OP(failures_of_group) OP(failures_to_rerun) OP(failures_to_rerun_count) OP(failure_group_insert) \
	OP(failure_group_get) OP(failure_group_find) OP(failure_group_update) OP(failure_group_delete) \
	OP(failure_groups_page) OP(failure_groups_alike) OP(failure_groups_old) OP(failure_spread_add) \
	OP(failure_spreads) OP(failure_hour_add) OP(failure_hours) OP(failure_hours_cut) \
	OP(calendar_insert) OP(calendar_get) OP(calendar_update) OP(calendar_delete) \
	OP(calendars) OP(calendar_version_insert) OP(calendar_version_get) OP(calendar_versions) OP(tasks_behind) \
	OP(backfill_insert) OP(backfill_get) OP(backfill_update) OP(backfills) OP(backfills_open) \
	OP(notice_insert) OP(notices) OP(notices_purge)
/* clang-format on */

#define AX_ARGS_task_insert(IN, OUT) IN(TASK, task) OUT(I64, id)
#define AX_ARGS_task_get(IN, OUT) IN(I64, id) IN(BOOL, for_update) OUT(TASK, task)
#define AX_ARGS_task_update(IN, OUT) IN(TASK, task) IN(I64, old_version) IN(I64, old_next)
#define AX_ARGS_task_advance(IN, OUT) IN(TASK, task) IN(I64, old_next)
#define AX_ARGS_task_last_run(IN, OUT) IN(TASK, task)
#define AX_ARGS_tasks_absent(IN, OUT) IN(I64, now) IN(I64, after_id) IN(INT, limit) OUT(TASKS, tasks)
#define AX_ARGS_task_delete(IN, OUT) IN(I64, id)
#define AX_ARGS_tasks_page(IN, OUT) IN(TASK_FILTER, f) OUT(TASKS, tasks)
#define AX_ARGS_tasks_due(IN, OUT) IN(I64, until) IN(INT, limit) OUT(TASKS, tasks)
#define AX_ARGS_store_id(IN, OUT) OUT(I64, id)
#define AX_ARGS_tasks_by_id(IN, OUT) IN(IDS, ids) OUT(TASKS, tasks)
#define AX_ARGS_tasks_ahead(IN, OUT) IN(I64, after_time) IN(I64, after_id) IN(I64, until) IN(INT, limit) OUT(DUES, dues)
#define AX_ARGS_tasks_stuck(IN, OUT) IN(INT, limit) OUT(TASKS, tasks)
#define AX_ARGS_tasks_ending(IN, OUT) IN(INT, limit) OUT(TASKS, tasks)
#define AX_ARGS_tasks_listening(IN, OUT) IN(TEXT, event_name) IN(INT, limit) OUT(TASKS, tasks)
#define AX_ARGS_task_next_due(IN, OUT) OUT(I64, time)
#define AX_ARGS_task_counts(IN, OUT) OUT(COUNTS, by_status)
#define AX_ARGS_task_version_insert(IN, OUT) IN(TASK_VERSION, v)
#define AX_ARGS_task_version_get(IN, OUT) IN(I64, task_id) IN(I64, version) OUT(TASK_VERSION, v)
#define AX_ARGS_task_versions(IN, OUT)                                                                                 \
	IN(I64, task_id) IN(I64, before_version) IN(INT, limit) OUT(TASK_VERSIONS, versions)
#define AX_ARGS_canary_put(IN, OUT) IN(CANARY, canary)
#define AX_ARGS_canary_get(IN, OUT) IN(I64, task_id) OUT(CANARY, canary)
#define AX_ARGS_epoch_append(IN, OUT) IN(EPOCH, epoch)
#define AX_ARGS_epochs(IN, OUT) IN(I64, task_id) IN(I64, after_id) IN(INT, limit) OUT(EPOCHS, epochs)
#define AX_ARGS_run_insert(IN, OUT) IN(RUN, run)
#define AX_ARGS_run_get(IN, OUT) IN(I64, gid) IN(BOOL, for_update) OUT(RUN, run)
#define AX_ARGS_run_find(IN, OUT) IN(I64, task_id) IN(KIND, kind) IN(TEXT, fire_key) IN(I64, shard) OUT(RUN, run)
#define AX_ARGS_runs_expect(IN, OUT) IN(IDS, gids) IN(IDS, ending)
#define AX_ARGS_run_update(IN, OUT) IN(RUN, run) IN(I64, old_rev)
#define AX_ARGS_run_set_due(IN, OUT) IN(RUN, run) IN(I64, old_rev)
#define AX_ARGS_run_renew(IN, OUT) IN(I64, gid) IN(I64, fence) IN(I64, heartbeat_time) IN(I64, deadline_time)
#define AX_ARGS_runs_live(IN, OUT) IN(I64, task_id) IN(BOOL, for_update) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_runs_live_count(IN, OUT) IN(I64, task_id) IN(INT, limit) OUT(I64, live)
#define AX_ARGS_runs_pending(IN, OUT) IN(I64, task_id) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_runs_held(IN, OUT) IN(I64, task_id) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_run_next_queue(IN, OUT)                                                                                \
	IN(TEXT, group_key) IN(TEXT, executor_key) IN(LANE, lane) IN(TEXT, demand) OUT(RUN, run)
#define AX_ARGS_runs_claimable(IN, OUT)                                                                                \
	IN(TEXT, group_key)                                                                                            \
	IN(TEXT, executor_key)                                                                                         \
	IN(LANE, lane) IN(TEXT, demand) IN(I64, after_rank) IN(I64, after_gid) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_runs_watched(IN, OUT) IN(I64, until) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_runs_undispatched(IN, OUT)                                                                             \
	IN(I64, until) IN(I64, after_time) IN(I64, after_gid) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_runs_undecided(IN, OUT) IN(I64, task_id) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_runs_looked(IN, OUT) IN(I64, from) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_shards(IN, OUT)                                                                                        \
	IN(I64, parent) IN(BOOL, live) IN(BOOL, for_update) IN(I64, after_gid) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_shard_counts(IN, OUT) IN(I64, parent) OUT(COUNTS, by_state)
#define AX_ARGS_runs_overdue(IN, OUT) IN(I64, until) IN(I64, waiting_until) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_runs_by_gid(IN, OUT) IN(IDS, gids) OUT(RUNS, runs)
#define AX_ARGS_runs_ahead(IN, OUT) IN(I64, after_time) IN(I64, after_gid) IN(I64, until) IN(INT, limit) OUT(DUES, dues)
#define AX_ARGS_run_next_deadline(IN, OUT) OUT(I64, time)
#define AX_ARGS_runs_of_worker(IN, OUT) IN(TEXT, worker) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_runs_to_stop(IN, OUT) IN(NAMES, workers) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_runs_page(IN, OUT) IN(RUN_FILTER, f) OUT(RUNS, runs) OUT(I64, before)
#define AX_ARGS_runs_fired(IN, OUT)                                                                                    \
	IN(I64, task_id) IN(I64, from) IN(I64, to) IN(I64, after_gid) IN(INT, limit) OUT(RUNS, runs)
#define AX_ARGS_live_counts(IN, OUT) OUT(COUNTS, by_state)
#define AX_ARGS_ended_counts(IN, OUT) IN(I64, from) IN(I64, to) OUT(COUNTS, by_state)
#define AX_ARGS_ended_minute_put(IN, OUT) IN(ENDED_MINUTE, row)
#define AX_ARGS_ended_minutes(IN, OUT) IN(I64, from_minute) IN(INT, limit) OUT(ENDED_MINUTES, rows)
#define AX_ARGS_ended_minutes_cut(IN, OUT) IN(I64, before_minute)
#define AX_ARGS_group_waiting(IN, OUT) IN(TEXT, group_key) OUT(I64, n)
#define AX_ARGS_attempt_put(IN, OUT) IN(ATTEMPT, attempt)
#define AX_ARGS_attempt_get(IN, OUT) IN(I64, gid) IN(I64, fence) OUT(ATTEMPT, attempt)
#define AX_ARGS_attempts(IN, OUT) IN(I64, gid) OUT(ATTEMPTS, attempts)
#define AX_ARGS_output_size(IN, OUT) IN(I64, gid) IN(I64, fence) OUT(I64, bytes) OUT(I64, chunks) OUT(I64, last_seq)
#define AX_ARGS_output_append(IN, OUT) IN(OUTPUT, output)
#define AX_ARGS_output_cut(IN, OUT) IN(I64, gid) IN(I64, fence) IN(I64, head_bytes) IN(I64, bytes)
#define AX_ARGS_outputs(IN, OUT)                                                                                       \
	IN(I64, gid) IN(I64, after_fence) IN(I64, after_seq) IN(INT, limit) OUT(OUTPUTS, outputs)
#define AX_ARGS_runs_purge(IN, OUT) IN(I64, ended_before) IN(INT, limit) OUT(INT, deleted)
#define AX_ARGS_runs_purge_task(IN, OUT)                                                                               \
	IN(I64, task_id) IN(I64, ended_before) IN(I64, made_before) IN(INT, limit) OUT(INT, deleted)
#define AX_ARGS_run_nth(IN, OUT) IN(I64, task_id) IN(I64, nth) OUT(I64, gid)
#define AX_ARGS_group_insert(IN, OUT) IN(GROUP, group)
#define AX_ARGS_group_get(IN, OUT) IN(TEXT, group_key) IN(BOOL, for_update) OUT(GROUP, group)
#define AX_ARGS_group_update(IN, OUT) IN(GROUP, group) IN(I64, old_version)
#define AX_ARGS_group_add_running(IN, OUT) IN(TEXT, group_key) IN(I64, delta) IN(I64, long_delta)
#define AX_ARGS_group_delete(IN, OUT) IN(TEXT, group_key)
#define AX_ARGS_groups(IN, OUT) OUT(GROUPS, groups)
#define AX_ARGS_group_given(IN, OUT) IN(TEXT, group_key) OUT(WORKER_GROUPS, rows)
#define AX_ARGS_worker_put(IN, OUT) IN(WORKER, worker)
#define AX_ARGS_worker_get(IN, OUT) IN(TEXT, name) IN(BOOL, for_update) OUT(WORKER, worker)
#define AX_ARGS_worker_free(IN, OUT) IN(TEXT, name) OUT(WORKER, worker)
#define AX_ARGS_workers_by_name(IN, OUT) IN(NAMES, names) IN(BOOL, hold) OUT(WORKERS, workers)
#define AX_ARGS_workers(IN, OUT) OUT(WORKERS, workers)
#define AX_ARGS_worker_delete(IN, OUT) IN(TEXT, name)
#define AX_ARGS_worker_group_put(IN, OUT) IN(TEXT, worker) IN(TEXT, group_key) IN(I64, pool_size)
#define AX_ARGS_worker_group_get(IN, OUT)                                                                              \
	IN(TEXT, worker) IN(TEXT, group_key) IN(BOOL, for_update) OUT(WORKER_GROUP, row)
#define AX_ARGS_worker_groups(IN, OUT) IN(TEXT, worker) OUT(WORKER_GROUPS, rows)
#define AX_ARGS_group_workers(IN, OUT) IN(TEXT, group_key) OUT(WORKER_GROUPS, rows)
#define AX_ARGS_group_workers_by_name(IN, OUT)                                                                         \
	IN(TEXT, group_key) IN(NAMES, names) IN(BOOL, for_update) OUT(WORKER_GROUPS, rows)
#define AX_ARGS_worker_group_add_given(IN, OUT) IN(TEXT, worker) IN(TEXT, group_key) IN(I64, delta) IN(I64, long_delta)
#define AX_ARGS_worker_group_routed(IN, OUT) IN(WORKER_GROUP, row)
#define AX_ARGS_worker_group_drop(IN, OUT) IN(TEXT, worker) IN(TEXT, group_key)
#define AX_ARGS_server_insert(IN, OUT) IN(SERVER, server)
#define AX_ARGS_server_get(IN, OUT) IN(I64, number) IN(BOOL, for_update) OUT(SERVER, server)
#define AX_ARGS_server_put(IN, OUT) IN(SERVER, server)
#define AX_ARGS_server_renew(IN, OUT) IN(SERVER, server) IN(I64, incarnation)
#define AX_ARGS_servers(IN, OUT) OUT(SERVERS, servers)
#define AX_ARGS_lease_insert(IN, OUT) IN(LEASE, lease)
#define AX_ARGS_lease_get(IN, OUT) IN(TEXT, name) IN(BOOL, for_update) OUT(LEASE, lease)
#define AX_ARGS_lease_update(IN, OUT) IN(LEASE, lease) IN(I64, old_fence)
#define AX_ARGS_leases(IN, OUT) OUT(LEASES, leases)
#define AX_ARGS_user_insert(IN, OUT) IN(USER, user) OUT(I64, id)
#define AX_ARGS_user_find(IN, OUT) IN(TEXT, name) OUT(USER, user)
#define AX_ARGS_user_count(IN, OUT) OUT(I64, n)
#define AX_ARGS_token_insert(IN, OUT) IN(TOKEN, token) OUT(I64, id)
#define AX_ARGS_token_find(IN, OUT) IN(SECRET, hash) OUT(TOKEN, token)
#define AX_ARGS_token_touch(IN, OUT) IN(I64, id) IN(I64, last_used_time) IN(I64, expire_time)
#define AX_ARGS_token_delete(IN, OUT) IN(I64, id)
#define AX_ARGS_tokens(IN, OUT) OUT(TOKENS, tokens)
#define AX_ARGS_tokens_expire(IN, OUT) IN(I64, now) IN(TEXT, kind)
#define AX_ARGS_audit_append(IN, OUT) IN(AUDIT, entry)
#define AX_ARGS_audit_page(IN, OUT)                                                                                    \
	IN(TEXT, object) IN(TEXT, actor) IN(I64, before_id) IN(INT, limit) OUT(AUDITS, entries)
#define AX_ARGS_idem_get(IN, OUT) IN(TEXT, key) OUT(IDEM, idem)
#define AX_ARGS_idem_put(IN, OUT) IN(IDEM, idem)
#define AX_ARGS_idem_purge(IN, OUT) IN(I64, now)

#define AX_ARGS_event_insert(IN, OUT) IN(EVENT, event)
#define AX_ARGS_event_get(IN, OUT) IN(I64, id) OUT(EVENT, event)
#define AX_ARGS_event_find(IN, OUT) IN(TEXT, event_name) IN(TEXT, event_key) OUT(EVENT, event)
#define AX_ARGS_events_page(IN, OUT) IN(TEXT, event_name) IN(I64, before_id) IN(INT, limit) OUT(EVENTS, events)
#define AX_ARGS_event_task_insert(IN, OUT) IN(EVENT_TASK, row)
#define AX_ARGS_event_tasks(IN, OUT) IN(I64, event) OUT(EVENT_TASKS, rows)
#define AX_ARGS_events_purge(IN, OUT) IN(I64, sent_before) IN(INT, limit) OUT(INT, deleted)
#define AX_ARGS_upstream_insert(IN, OUT) IN(UPSTREAM, row)
#define AX_ARGS_upstreams_delete(IN, OUT) IN(I64, task_id)
#define AX_ARGS_upstreams_of(IN, OUT) IN(I64, task_id) OUT(UPSTREAMS, rows)
#define AX_ARGS_downstreams_of(IN, OUT) IN(I64, upstream_id) OUT(UPSTREAMS, rows)
#define AX_ARGS_run_upstream_put(IN, OUT) IN(RUN_UPSTREAM, row)
#define AX_ARGS_run_upstreams(IN, OUT) IN(I64, gid) OUT(RUN_UPSTREAMS, rows)
#define AX_ARGS_run_told(IN, OUT) IN(I64, gid) OUT(RUN_TOLDS, rows)

#define AX_ARGS_channel_insert(IN, OUT) IN(CHANNEL, channel) OUT(I64, id)
#define AX_ARGS_channel_get(IN, OUT) IN(I64, id) IN(BOOL, for_update) OUT(CHANNEL, channel)
#define AX_ARGS_channel_update(IN, OUT) IN(CHANNEL, channel) IN(I64, old_version)
#define AX_ARGS_channel_delete(IN, OUT) IN(I64, id)
#define AX_ARGS_channels(IN, OUT) OUT(CHANNELS, channels)
#define AX_ARGS_alert_insert(IN, OUT) IN(ALERT, alert) OUT(I64, id)
#define AX_ARGS_alert_get(IN, OUT) IN(I64, id) IN(BOOL, for_update) OUT(ALERT, alert)
#define AX_ARGS_alert_find(IN, OUT)                                                                                    \
	IN(RULE, rule) IN(TEXT, group_key) IN(TEXT, episode) IN(BOOL, for_update) OUT(ALERT, alert)
#define AX_ARGS_alert_update(IN, OUT) IN(ALERT, alert) IN(I64, old_rev)
#define AX_ARGS_alerts_open(IN, OUT) IN(RULE, rule) IN(I64, after_id) IN(INT, limit) OUT(ALERTS, alerts)
#define AX_ARGS_alerts_of_task(IN, OUT) IN(I64, task_id) IN(INT, limit) OUT(ALERTS, alerts)
#define AX_ARGS_alerts_untold(IN, OUT) IN(I64, until) IN(INT, limit) OUT(ALERTS, alerts)
#define AX_ARGS_alerts_page(IN, OUT) IN(ALERT_FILTER, f) OUT(ALERTS, alerts) OUT(I64, before)
#define AX_ARGS_alert_counts(IN, OUT) OUT(COUNTS, by_rule)
#define AX_ARGS_alerts_purge(IN, OUT) IN(I64, before) IN(INT, limit) OUT(INT, deleted)
#define AX_ARGS_delivery_insert(IN, OUT) IN(DELIVERY, delivery) OUT(I64, id)
#define AX_ARGS_delivery_get(IN, OUT) IN(I64, id) IN(BOOL, for_update) OUT(DELIVERY, delivery)
#define AX_ARGS_delivery_update(IN, OUT) IN(DELIVERY, delivery) IN(I64, old_rev)
#define AX_ARGS_deliveries_due(IN, OUT) IN(I64, channel_id) IN(I64, until) IN(INT, limit) OUT(DELIVERIES, deliveries)
#define AX_ARGS_deliveries_release(IN, OUT) IN(I64, server)
#define AX_ARGS_deliveries_of_alert(IN, OUT) IN(I64, alert_id) IN(INT, limit) OUT(DELIVERIES, deliveries)
#define AX_ARGS_deliveries_of_channel(IN, OUT)                                                                         \
	IN(I64, channel_id) IN(I64, before_id) IN(INT, limit) OUT(DELIVERIES, deliveries)
#define AX_ARGS_deliveries_pending(IN, OUT) OUT(I64, n)
#define AX_ARGS_failure_insert(IN, OUT) IN(FAILURE, failure)
#define AX_ARGS_failure_get(IN, OUT) IN(I64, gid) OUT(FAILURE, failure)
#define AX_ARGS_failures_unfolded(IN, OUT) IN(INT, limit) OUT(FAILURES, failures)
#define AX_ARGS_failures_set_folded(IN, OUT) IN(IDS, gids)
#define AX_ARGS_failure_set_rerun(IN, OUT) IN(I64, gid) IN(I64, rerun_gid)
#define AX_ARGS_failures_of_group(IN, OUT)                                                                             \
	IN(TEXT, group_key) IN(I64, fingerprint) IN(I64, before_gid) IN(INT, limit) OUT(FAILURES, failures)
#define AX_ARGS_failures_to_rerun(IN, OUT)                                                                             \
	IN(TEXT, group_key) IN(I64, fingerprint) IN(INT, limit) OUT(FAILURES, failures)
#define AX_ARGS_failures_to_rerun_count(IN, OUT) IN(TEXT, group_key) IN(I64, fingerprint) IN(INT, limit) OUT(I64, n)
#define AX_ARGS_failure_group_insert(IN, OUT) IN(FAILURE_GROUP, group) OUT(I64, id)
#define AX_ARGS_failure_group_get(IN, OUT) IN(I64, id) IN(BOOL, for_update) OUT(FAILURE_GROUP, group)
#define AX_ARGS_failure_group_find(IN, OUT)                                                                            \
	IN(TEXT, group_key) IN(I64, fingerprint) IN(BOOL, for_update) OUT(FAILURE_GROUP, group)
#define AX_ARGS_failure_group_update(IN, OUT) IN(FAILURE_GROUP, group) IN(I64, old_rev)
#define AX_ARGS_failure_group_delete(IN, OUT) IN(I64, id)
#define AX_ARGS_failure_groups_page(IN, OUT)                                                                           \
	IN(FAILURE_FILTER, f) OUT(FAILURE_GROUPS, groups) OUT(I64, before_time) OUT(I64, before_id)
#define AX_ARGS_failure_groups_alike(IN, OUT) IN(I64, fingerprint) IN(INT, limit) OUT(FAILURE_GROUPS, groups)
#define AX_ARGS_failure_groups_old(IN, OUT)                                                                            \
	IN(BOOL, resolved) IN(I64, seen_before) IN(INT, limit) OUT(FAILURE_GROUPS, groups)
#define AX_ARGS_failure_spread_add(IN, OUT) IN(FAILURE_SPREAD, spread)
#define AX_ARGS_failure_spreads(IN, OUT) IN(I64, failure_id) IN(INT, limit) OUT(FAILURE_SPREADS, spreads)
#define AX_ARGS_failure_hour_add(IN, OUT) IN(FAILURE_HOUR, hour)
#define AX_ARGS_failure_hours(IN, OUT) IN(I64, failure_id) OUT(FAILURE_HOURS, hours)
#define AX_ARGS_failure_hours_cut(IN, OUT) IN(I64, failure_id) IN(I64, before_hour)

#define AX_ARGS_calendar_insert(IN, OUT) IN(CALENDAR, calendar)
#define AX_ARGS_calendar_get(IN, OUT) IN(TEXT, name) IN(BOOL, for_update) OUT(CALENDAR, calendar)
#define AX_ARGS_calendar_update(IN, OUT) IN(CALENDAR, calendar) IN(I64, old_version)
#define AX_ARGS_calendar_delete(IN, OUT) IN(TEXT, name)
#define AX_ARGS_calendars(IN, OUT) OUT(CALENDARS, calendars)
#define AX_ARGS_calendar_version_insert(IN, OUT) IN(CALENDAR_VERSION, v)
#define AX_ARGS_calendar_version_get(IN, OUT) IN(TEXT, name) IN(I64, version) OUT(CALENDAR_VERSION, v)
#define AX_ARGS_calendar_versions(IN, OUT)                                                                             \
	IN(TEXT, name) IN(I64, before_version) IN(INT, limit) OUT(CALENDAR_VERSIONS, versions)
#define AX_ARGS_tasks_behind(IN, OUT) IN(TEXT, calendar) IN(I64, version) IN(INT, limit) OUT(TASKS, tasks)
#define AX_ARGS_backfill_insert(IN, OUT) IN(BACKFILL, backfill) OUT(I64, id)
#define AX_ARGS_backfill_get(IN, OUT) IN(I64, id) IN(BOOL, for_update) OUT(BACKFILL, backfill)
#define AX_ARGS_backfill_update(IN, OUT) IN(BACKFILL, backfill) IN(I64, old_rev)
#define AX_ARGS_backfills(IN, OUT) IN(I64, task_id) IN(I64, before_id) IN(INT, limit) OUT(BACKFILLS, backfills)
#define AX_ARGS_backfills_open(IN, OUT) IN(INT, limit) OUT(BACKFILLS, backfills)
#define AX_ARGS_notice_insert(IN, OUT) IN(NOTICE, notice)
#define AX_ARGS_notices(IN, OUT) IN(I64, server) IN(I64, after_seq) IN(INT, limit) OUT(NOTICES, notices)
#define AX_ARGS_notices_purge(IN, OUT) IN(I64, before)

/* C types of the arguments. */
#define AX_IN_I64 int64_t
#define AX_IN_INT int
#define AX_IN_BOOL bool
#define AX_IN_TEXT const char *
#define AX_IN_SECRET const char *
#define AX_IN_IDS const struct ax_ids *
#define AX_IN_NAMES const struct ax_names *
#define AX_IN_STATE enum ax_run_state
#define AX_IN_KIND enum ax_run_kind
#define AX_IN_LANE enum ax_run_lane
#define AX_IN_RULE enum ax_alert_rule
#define AX_IN_ALERT_FILTER const struct ax_alert_filter *
#define AX_IN_EVENT const struct ax_event *
#define AX_IN_EVENT_TASK const struct ax_event_task *
#define AX_IN_CANARY const struct ax_canary *
#define AX_IN_UPSTREAM const struct ax_upstream *
#define AX_IN_RUN_UPSTREAM const struct ax_run_upstream *
#define AX_IN_CHANNEL const struct ax_channel *
#define AX_IN_ALERT const struct ax_alert *
#define AX_IN_DELIVERY const struct ax_delivery *
#define AX_IN_CALENDAR const struct ax_calendar_row *
#define AX_IN_CALENDAR_VERSION const struct ax_calendar_version *
#define AX_IN_BACKFILL const struct ax_backfill *
#define AX_IN_NOTICE const struct ax_notice *
#define AX_IN_ENDED_MINUTE const struct ax_ended_minute *
#define AX_IN_TASK_FILTER const struct ax_task_filter *
#define AX_IN_RUN_FILTER const struct ax_run_filter *
#define AX_IN_TASK const struct ax_task *
#define AX_IN_TASK_VERSION const struct ax_task_version *
#define AX_IN_EPOCH const struct ax_epoch *
#define AX_IN_RUN const struct ax_run *
#define AX_IN_ATTEMPT const struct ax_attempt *
#define AX_IN_OUTPUT const struct ax_output *
#define AX_IN_GROUP const struct ax_group *
#define AX_IN_WORKER const struct ax_worker *
#define AX_IN_WORKER_GROUP const struct ax_worker_group *
#define AX_IN_SERVER const struct ax_server_row *
#define AX_IN_LEASE const struct ax_lease *
#define AX_IN_USER const struct ax_user *
#define AX_IN_TOKEN const struct ax_token *
#define AX_IN_AUDIT const struct ax_audit_entry *
#define AX_IN_IDEM const struct ax_idem *
#define AX_OUT_I64 int64_t *
#define AX_OUT_INT int *
#define AX_OUT_COUNTS int64_t *
#define AX_OUT_DUES struct ax_dues *
#define AX_OUT_TASK struct ax_task *
#define AX_OUT_TASK_VERSION struct ax_task_version *
#define AX_OUT_RUN struct ax_run *
#define AX_OUT_ATTEMPT struct ax_attempt *
#define AX_OUT_GROUP struct ax_group *
#define AX_OUT_WORKER struct ax_worker *
#define AX_OUT_WORKER_GROUP struct ax_worker_group *
#define AX_OUT_SERVER struct ax_server_row *
#define AX_OUT_LEASE struct ax_lease *
#define AX_OUT_LEASES struct ax_leases *
#define AX_OUT_USER struct ax_user *
#define AX_OUT_TOKEN struct ax_token *
#define AX_OUT_IDEM struct ax_idem *
#define AX_OUT_TASKS struct ax_tasks *
#define AX_OUT_TASK_VERSIONS struct ax_task_versions *
#define AX_OUT_EPOCHS struct ax_epochs *
#define AX_OUT_RUNS struct ax_runs *
#define AX_OUT_ATTEMPTS struct ax_attempts *
#define AX_OUT_OUTPUTS struct ax_outputs *
#define AX_OUT_GROUPS struct ax_groups *
#define AX_OUT_WORKERS struct ax_workers *
#define AX_OUT_WORKER_GROUPS struct ax_worker_groups *
#define AX_OUT_SERVERS struct ax_servers *
#define AX_OUT_TOKENS struct ax_tokens *
#define AX_OUT_AUDITS struct ax_audit_entries *
#define AX_OUT_EVENT struct ax_event *
#define AX_OUT_EVENTS struct ax_events *
#define AX_OUT_EVENT_TASKS struct ax_event_tasks *
#define AX_OUT_CANARY struct ax_canary *
#define AX_OUT_UPSTREAMS struct ax_upstreams *
#define AX_OUT_RUN_UPSTREAMS struct ax_run_upstreams *
#define AX_OUT_RUN_TOLDS struct ax_run_tolds *
#define AX_OUT_CHANNEL struct ax_channel *
#define AX_OUT_ALERT struct ax_alert *
#define AX_OUT_DELIVERY struct ax_delivery *
#define AX_OUT_CHANNELS struct ax_channels *
#define AX_OUT_ALERTS struct ax_alerts *
#define AX_OUT_DELIVERIES struct ax_deliveries *
#define AX_IN_FAILURE const struct ax_failure *
#define AX_IN_FAILURE_FILTER const struct ax_failure_filter *
#define AX_IN_FAILURE_GROUP const struct ax_failure_group *
#define AX_IN_FAILURE_SPREAD const struct ax_failure_spread *
#define AX_IN_FAILURE_HOUR const struct ax_failure_hour *
#define AX_OUT_FAILURE struct ax_failure *
#define AX_OUT_FAILURE_GROUP struct ax_failure_group *
#define AX_OUT_FAILURES struct ax_failures *
#define AX_OUT_FAILURE_GROUPS struct ax_failure_groups *
#define AX_OUT_FAILURE_SPREADS struct ax_failure_spreads *
#define AX_OUT_FAILURE_HOURS struct ax_failure_hours *
#define AX_OUT_CALENDAR struct ax_calendar_row *
#define AX_OUT_CALENDAR_VERSION struct ax_calendar_version *
#define AX_OUT_CALENDARS struct ax_calendars *
#define AX_OUT_CALENDAR_VERSIONS struct ax_calendar_versions *
#define AX_OUT_BACKFILL struct ax_backfill *
#define AX_OUT_BACKFILLS struct ax_backfills *
#define AX_OUT_NOTICES struct ax_notices *
#define AX_OUT_ENDED_MINUTES struct ax_ended_minutes *

/* AX_TX_PARAMS(name): the arguments as parameters, each after a comma. AX_TX_PASS(name): the same as a call passes
 * them. */
#define AX_TX_PARAM_IN(type, name) , AX_IN_##type name
#define AX_TX_PARAM_OUT(type, name) , AX_OUT_##type ret_##name
#define AX_TX_PASS_IN(type, name) , name
#define AX_TX_PASS_OUT(type, name) , ret_##name
#define AX_TX_PARAMS(op) AX_ARGS_##op(AX_TX_PARAM_IN, AX_TX_PARAM_OUT)
#define AX_TX_PASS(op) AX_ARGS_##op(AX_TX_PASS_IN, AX_TX_PASS_OUT)

#define AX_TX_COUNT(op) +1
_Static_assert(sizeof(struct ax_tx_ops) == (0 AX_TX_OPS(AX_TX_COUNT)) * sizeof(void (*)(void)),
	"AX_TX_OPS names every operation of struct ax_tx_ops");

#endif
