-- The whole behaviour of tasks and runs: columns and tables added to those of 0001.

-- Alerts: what is wrong, who is told, and what is to be told to whom.
ALTER TABLE ax_task ADD COLUMN late_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN absence_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN absence_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN late_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN absence_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_group ADD COLUMN late_seconds INTEGER NOT NULL DEFAULT 30;
ALTER TABLE ax_group ADD COLUMN backlog_limit INTEGER NOT NULL DEFAULT 1000;
ALTER TABLE ax_group ADD COLUMN backlog_seconds INTEGER NOT NULL DEFAULT 300;
CREATE INDEX ax_task_absence ON ax_task (id) WHERE status = 1 AND absence_seconds > 0;
-- Runs that no worker was given yet, longest due first; missed fires that nobody decided on.
CREATE INDEX ax_task_log_undispatched ON ax_task_log (trigger_time, gid) WHERE status = 1 AND fence = 0;
CREATE INDEX ax_task_log_undecided ON ax_task_log (task_id, gid) WHERE status = 16 AND reason = 'missed';

CREATE TABLE ax_channel (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  settings TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  language INTEGER NOT NULL,
  rules TEXT NOT NULL,
  group_keys TEXT NOT NULL,
  quiet_from INTEGER NOT NULL,
  quiet_to INTEGER NOT NULL,
  time_zone TEXT NOT NULL,
  remind_seconds INTEGER NOT NULL,
  version INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  updated_by TEXT NOT NULL
) STRICT;

CREATE TABLE ax_alert (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  rule INTEGER NOT NULL,
  group_key TEXT NOT NULL,
  episode TEXT NOT NULL,
  state INTEGER NOT NULL,
  task_id INTEGER NOT NULL,
  gid INTEGER NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL,
  value INTEGER NOT NULL,
  bound INTEGER NOT NULL,
  count INTEGER NOT NULL,
  open_time INTEGER NOT NULL,
  seen_time INTEGER NOT NULL,
  resolve_time INTEGER NOT NULL,
  told_time INTEGER NOT NULL,
  resolve_note TEXT NOT NULL,
  muted INTEGER NOT NULL,
  note TEXT NOT NULL,
  note_by TEXT NOT NULL,
  rev INTEGER NOT NULL
) STRICT;
-- One open alert per episode; resolved ones are history.
CREATE UNIQUE INDEX ax_alert_open ON ax_alert (rule, group_key, episode) WHERE state = 0;
CREATE INDEX ax_alert_open_list ON ax_alert (rule, id) WHERE state = 0;
CREATE INDEX ax_alert_open_task ON ax_alert (task_id, id) WHERE state = 0 AND task_id > 0;
CREATE INDEX ax_alert_told ON ax_alert (told_time, id) WHERE state = 0 AND muted = 0;
CREATE INDEX ax_alert_resolved ON ax_alert (resolve_time, id) WHERE state = 1;

CREATE TABLE ax_alert_outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  alert_id INTEGER NOT NULL,
  channel_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  state INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  next_time INTEGER NOT NULL,
  server INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  sent_time INTEGER NOT NULL,
  error TEXT NOT NULL,
  rev INTEGER NOT NULL
) STRICT;
CREATE INDEX ax_alert_outbox_due ON ax_alert_outbox (channel_id, next_time, id) WHERE state = 0;
CREATE INDEX ax_alert_outbox_turn ON ax_alert_outbox (channel_id, alert_id, id) WHERE state = 0;
CREATE INDEX ax_alert_outbox_alert ON ax_alert_outbox (alert_id, id);
CREATE INDEX ax_alert_outbox_channel ON ax_alert_outbox (channel_id, id);

-- Failures: a row for each run that ended as FAILED or TIMEOUT, and the groups that they are counted into.

CREATE TABLE ax_failure (
  gid INTEGER PRIMARY KEY,
  fingerprint INTEGER NOT NULL,
  group_key TEXT NOT NULL,
  task_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  executor_key TEXT NOT NULL,
  reason TEXT NOT NULL,
  code INTEGER NOT NULL,
  title TEXT NOT NULL,
  worker TEXT NOT NULL,
  time INTEGER NOT NULL,
  muted INTEGER NOT NULL,
  folded INTEGER NOT NULL,
  rerun_gid INTEGER NOT NULL
) STRICT;
CREATE INDEX ax_failure_unfolded ON ax_failure (gid) WHERE folded = 0;
CREATE INDEX ax_failure_of_group ON ax_failure (group_key, fingerprint, gid);
CREATE INDEX ax_failure_to_rerun ON ax_failure (group_key, fingerprint, gid, task_id) WHERE rerun_gid = 0;

CREATE TABLE ax_failure_group (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_key TEXT NOT NULL,
  fingerprint INTEGER NOT NULL,
  executor_key TEXT NOT NULL,
  reason TEXT NOT NULL,
  code INTEGER NOT NULL,
  title TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_seen_time INTEGER NOT NULL,
  last_seen_time INTEGER NOT NULL,
  sample_gid INTEGER NOT NULL,
  growth_time INTEGER NOT NULL,
  state INTEGER NOT NULL,
  state_time INTEGER NOT NULL,
  state_by TEXT NOT NULL,
  state_reason TEXT NOT NULL,
  mute_until_time INTEGER NOT NULL,
  reopen_count INTEGER NOT NULL,
  assignee TEXT NOT NULL,
  note TEXT NOT NULL,
  rerun_due_time INTEGER NOT NULL,
  rev INTEGER NOT NULL,
  UNIQUE (group_key, fingerprint)
) STRICT;
CREATE INDEX ax_failure_group_seen ON ax_failure_group (last_seen_time, id);
CREATE INDEX ax_failure_group_resolved ON ax_failure_group (last_seen_time, id) WHERE state = 2;
CREATE INDEX ax_failure_group_alike ON ax_failure_group (fingerprint, id);

-- By version of a task (worker = ''), and by worker (task_id and version 0).
CREATE TABLE ax_failure_spread (
  failure_id INTEGER NOT NULL,
  task_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  worker TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_seen_time INTEGER NOT NULL,
  last_seen_time INTEGER NOT NULL,
  PRIMARY KEY (failure_id, task_id, version, worker)
) STRICT, WITHOUT ROWID;

CREATE TABLE ax_failure_hour (
  failure_id INTEGER NOT NULL,
  hour INTEGER NOT NULL, -- since 1970
  count INTEGER NOT NULL,
  PRIMARY KEY (failure_id, hour)
) STRICT, WITHOUT ROWID;

-- Retries: how long to wait, and after which failures.

ALTER TABLE ax_task ADD COLUMN retry_backoff INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN retry_delay_seconds INTEGER NOT NULL DEFAULT 60;
ALTER TABLE ax_task ADD COLUMN retry_cap_seconds INTEGER NOT NULL DEFAULT 1800;
ALTER TABLE ax_task ADD COLUMN retry_delays TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task ADD COLUMN retry_jitter_percent INTEGER NOT NULL DEFAULT 10;
ALTER TABLE ax_task ADD COLUMN retry_on TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task_version ADD COLUMN retry_backoff INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN retry_delay_seconds INTEGER NOT NULL DEFAULT 60;
ALTER TABLE ax_task_version ADD COLUMN retry_cap_seconds INTEGER NOT NULL DEFAULT 1800;
ALTER TABLE ax_task_version ADD COLUMN retry_delays TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task_version ADD COLUMN retry_jitter_percent INTEGER NOT NULL DEFAULT 10;
ALTER TABLE ax_task_version ADD COLUMN retry_on TEXT NOT NULL DEFAULT '';

-- By when a run should be done, and whether it moves.

ALTER TABLE ax_task ADD COLUMN expected_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN must_end_by TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task ADD COLUMN stall_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN expected_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN must_end_by TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task_version ADD COLUMN stall_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN progress_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN must_end_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN watch_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN overran INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN stalled INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ax_task_log_watch ON ax_task_log (watch_time, gid) WHERE watch_time > 0 AND phase < 2;
-- Events, and the tasks that listen to them.

ALTER TABLE ax_task ADD COLUMN event_name TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task ADD COLUMN event_condition TEXT NOT NULL DEFAULT 'null';
ALTER TABLE ax_task_version ADD COLUMN event_name TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task_version ADD COLUMN event_condition TEXT NOT NULL DEFAULT 'null';
CREATE INDEX ax_task_event ON ax_task (event_name, id) WHERE task_type = 3;

CREATE TABLE ax_event (
  id INTEGER PRIMARY KEY,
  event_name TEXT NOT NULL,
  event_key TEXT NOT NULL,
  event_id TEXT NOT NULL,
  payload TEXT NOT NULL,
  sent_by TEXT NOT NULL,
  time INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  passed INTEGER NOT NULL,
  UNIQUE (event_name, event_key)
) STRICT;
CREATE INDEX ax_event_name ON ax_event (event_name, id);
CREATE INDEX ax_event_time ON ax_event (time, id);

CREATE TABLE ax_event_task (
  event INTEGER NOT NULL,
  task_id INTEGER NOT NULL,
  fate INTEGER NOT NULL,
  gid INTEGER NOT NULL,
  PRIMARY KEY (event, task_id)
) STRICT, WITHOUT ROWID;
-- Calendars, windows of validity and jitter: on which dates a schedule fires, from when until when, and how much later.

ALTER TABLE ax_task ADD COLUMN calendar TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task ADD COLUMN calendar_mode INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN valid_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN valid_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN jitter_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN calendar_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN epoch_time INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ax_task_calendar ON ax_task (calendar, id) WHERE calendar <> '';
CREATE INDEX ax_task_behind ON ax_task (calendar, calendar_version, id) WHERE calendar <> '' AND status = 1;

ALTER TABLE ax_task_version ADD COLUMN calendar TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task_version ADD COLUMN calendar_mode INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN valid_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN valid_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN jitter_seconds INTEGER NOT NULL DEFAULT 0;

ALTER TABLE ax_schedule_epoch ADD COLUMN calendar TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_schedule_epoch ADD COLUMN calendar_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_schedule_epoch ADD COLUMN calendar_mode INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_schedule_epoch ADD COLUMN valid_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_schedule_epoch ADD COLUMN valid_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_schedule_epoch ADD COLUMN jitter_ms INTEGER NOT NULL DEFAULT 0;

CREATE TABLE ax_calendar (
  name TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  version INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  updated_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Every content that a calendar ever had, for the epochs that refer to it; also of calendars that were deleted.
CREATE TABLE ax_calendar_version (
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  time INTEGER NOT NULL,
  author TEXT NOT NULL,
  title TEXT NOT NULL,
  week INTEGER NOT NULL,
  days TEXT NOT NULL,
  PRIMARY KEY (name, version)
) STRICT;

-- Backfills: fires of a past range that a person has made up.

CREATE TABLE ax_backfill (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL,
  from_time INTEGER NOT NULL,
  to_time INTEGER NOT NULL,
  max_live INTEGER NOT NULL,
  newest_first INTEGER NOT NULL,
  status INTEGER NOT NULL,
  cursor_time INTEGER NOT NULL,
  total INTEGER NOT NULL,
  made INTEGER NOT NULL,
  existed INTEGER NOT NULL,
  done INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  end_time INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  rev INTEGER NOT NULL
) STRICT;
CREATE INDEX ax_backfill_task ON ax_backfill (task_id, id);
CREATE INDEX ax_backfill_open ON ax_backfill (id) WHERE status = 0;

ALTER TABLE ax_task_log ADD COLUMN backfill_id INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ax_task_log_backfill ON ax_task_log (backfill_id, gid) WHERE backfill_id > 0;

-- Canaries: a version of a task on trial, and how it compares.

ALTER TABLE ax_task ADD COLUMN canary_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN canary_percent INTEGER NOT NULL DEFAULT 0;
CREATE TABLE ax_canary (
  task_id INTEGER PRIMARY KEY,
  base_version INTEGER NOT NULL,
  version INTEGER NOT NULL,
  state INTEGER NOT NULL,
  percent INTEGER NOT NULL,
  automatic INTEGER NOT NULL,
  min_runs INTEGER NOT NULL,
  max_failure_points INTEGER NOT NULL,
  max_p95_percent INTEGER NOT NULL,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  base_succeeded INTEGER NOT NULL,
  base_failed INTEGER NOT NULL,
  durations TEXT NOT NULL,
  base_durations TEXT NOT NULL,
  start_time INTEGER NOT NULL,
  end_time INTEGER NOT NULL,
  started_by TEXT NOT NULL,
  ended_by TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
-- Shards and broadcasts: a parent (shard 0) and its shards.

ALTER TABLE ax_task ADD COLUMN shard_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN broadcast INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN shard_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN broadcast INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN shard_total INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN spread INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN parent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN failed_only INTEGER NOT NULL DEFAULT 0;
-- Lists, counts, the overlap rule, the audit and retention see parents and plain runs, never shards.
CREATE INDEX ax_task_log_open ON ax_task_log (gid) WHERE phase < 2 AND shard = 0;
CREATE INDEX ax_task_log_live ON ax_task_log (task_id, gid)
  WHERE hold <> 1 AND phase = 1 AND shard = 0; -- those that the overlap rule holds: ax_task_log_held
CREATE INDEX ax_task_log_history ON ax_task_log (task_id, gid) WHERE shard = 0;
CREATE INDEX ax_task_log_ended ON ax_task_log (end_time, gid, status) WHERE phase = 2 AND shard = 0;
CREATE INDEX ax_task_log_page ON ax_task_log (gid) WHERE shard = 0;
-- The shards of a parent, and those that have not ended.
CREATE INDEX ax_task_log_shards ON ax_task_log (parent, gid, status) WHERE parent > 0;
CREATE INDEX ax_task_log_shards_live ON ax_task_log (parent, gid) WHERE parent > 0 AND phase < 2;
-- Those that wait for more than a turn, to be found at each start among any number of runs that wait for their time.
CREATE INDEX ax_task_log_looked ON ax_task_log (gid) WHERE spread > 0 AND phase = 1 AND given = 0;
-- Chains: who waits for whom, and what a run follows.

ALTER TABLE ax_task ADD COLUMN upstreams TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task ADD COLUMN join_all INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN join_deadline_seconds INTEGER NOT NULL DEFAULT 86400;
ALTER TABLE ax_task_version ADD COLUMN upstreams TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task_version ADD COLUMN join_all INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN join_deadline_seconds INTEGER NOT NULL DEFAULT 86400;
ALTER TABLE ax_task_log ADD COLUMN batch INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ax_task_log_batch ON ax_task_log (batch, gid) WHERE shard = 0;
ALTER TABLE ax_task_log ADD COLUMN blocked_by INTEGER NOT NULL DEFAULT 0;

CREATE TABLE ax_upstream (
  task_id INTEGER NOT NULL,
  upstream_id INTEGER NOT NULL,
  PRIMARY KEY (task_id, upstream_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ax_upstream_down ON ax_upstream (upstream_id, task_id);

CREATE TABLE ax_run_upstream (
  gid INTEGER NOT NULL,
  upstream_id INTEGER NOT NULL,
  upstream_gid INTEGER NOT NULL,
  upstream_status INTEGER NOT NULL,
  PRIMARY KEY (gid, upstream_id)
) STRICT, WITHOUT ROWID;
-- Routing, lanes, groups: which worker gets a run, and how much of a group long runs may hold.

ALTER TABLE ax_task ADD COLUMN route INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN route_key TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task ADD COLUMN route_tags TEXT NOT NULL DEFAULT 'null';
ALTER TABLE ax_task ADD COLUMN lane INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN route INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_version ADD COLUMN route_key TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task_version ADD COLUMN route_tags TEXT NOT NULL DEFAULT 'null';
ALTER TABLE ax_task_version ADD COLUMN lane INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task ADD COLUMN durations TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_task_log ADD COLUMN ready_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_task_log ADD COLUMN lane INTEGER NOT NULL DEFAULT 1;
ALTER TABLE ax_task_log ADD COLUMN demand TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_group ADD COLUMN long_share_percent INTEGER NOT NULL DEFAULT 50;
ALTER TABLE ax_group ADD COLUMN worker_backlog INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_group ADD COLUMN defaults TEXT NOT NULL DEFAULT '{}';
ALTER TABLE ax_group ADD COLUMN running_long INTEGER NOT NULL DEFAULT 0 CHECK (running_long >= 0);
ALTER TABLE ax_worker ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_worker ADD COLUMN past TEXT NOT NULL DEFAULT '';
ALTER TABLE ax_worker_group ADD COLUMN given_long INTEGER NOT NULL DEFAULT 0 CHECK (given_long >= 0);
ALTER TABLE ax_worker_group ADD COLUMN given_order INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_worker_group ADD COLUMN turn_order INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_worker_group ADD COLUMN use_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_worker_group ADD COLUMN use_time INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ax_worker_group_group ON ax_worker_group (group_key, worker);
-- A queue for each executor, lane and demand, so that runs which no worker may have now keep nobody else back.
CREATE INDEX ax_task_log_waiting ON ax_task_log (group_key, hold, executor_key, lane, demand, rank, gid)
  WHERE status = 1;

-- Several servers: each has its number under a lease, and some chores are done by one of them at a time.

ALTER TABLE ax_server ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_server ADD COLUMN lease_time INTEGER NOT NULL DEFAULT 0;

CREATE TABLE ax_lease (
  name TEXT NOT NULL PRIMARY KEY,
  holder INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  until_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which store this is: servers of others do not take what its workers report, nor what its queue holds.

CREATE TABLE ax_store (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id INTEGER NOT NULL
) STRICT;
INSERT INTO ax_store (one, id) VALUES (1, random() & 0x7fffffffffffffff);

-- What servers over one store tell each other; kept for a minute or two.

CREATE TABLE ax_notice (
  server INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  time INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (server, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX ax_notice_time ON ax_notice (time);

-- How many runs ended in each minute, and how: an end is counted once, not at every look.

CREATE TABLE ax_ended_minute (
  minute INTEGER PRIMARY KEY, -- since 1970
  success INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  timeout INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  blocked INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  missed INTEGER NOT NULL
) STRICT;

-- Retention of a group.

ALTER TABLE ax_group ADD COLUMN keep_days INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ax_group ADD COLUMN keep_runs INTEGER NOT NULL DEFAULT 0;

-- A task that is to be deleted and has more runs than one transaction cancels.

ALTER TABLE ax_task ADD COLUMN ending INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ax_task_ending ON ax_task (id) WHERE ending = 1;
