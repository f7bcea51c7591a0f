-- The tables of AX, dialect of MySQL 8.0 and MariaDB 10.6 and later. Never edited once released: changes are new files.
-- Instants are milliseconds UTC (0 = not yet), enums are the numbers of src/core/task.h. All text compares by its bytes;
-- keys that may end in a blank are VARBINARY, because there a blank more would not count. What the indexes are for:
-- docs/decisions/0016-indexes-without-history.md.
--
-- A definition commits at once, so this file may have been cut short: every statement may be done again.

CREATE TABLE IF NOT EXISTS ax_task (
  id BIGINT NOT NULL AUTO_INCREMENT,
  group_key VARCHAR(128) NOT NULL,
  task_name VARCHAR(512) NOT NULL,
  task_type TINYINT NOT NULL,
  status TINYINT NOT NULL,
  cron_expr VARCHAR(1024) NOT NULL,
  dialect TINYINT NOT NULL,
  time_zone VARCHAR(255) NOT NULL,
  executor_key VARCHAR(128) NOT NULL,
  biz_param MEDIUMTEXT NOT NULL,
  timeout_seconds BIGINT NOT NULL,
  grace_seconds BIGINT NOT NULL,
  retry_count BIGINT NOT NULL,
  priority BIGINT NOT NULL,
  overlap TINYINT NOT NULL,
  overlap_max BIGINT NOT NULL,
  misfire TINYINT NOT NULL,
  window_seconds BIGINT NOT NULL,
  lost_fails BOOLEAN NOT NULL,
  lost_limit BIGINT NOT NULL,
  unreachable_continues BOOLEAN NOT NULL,
  start_confirmed BOOLEAN NOT NULL,
  owner VARCHAR(512) NOT NULL,
  notes TEXT NOT NULL,
  version BIGINT NOT NULL,
  create_time BIGINT NOT NULL,
  update_time BIGINT NOT NULL,
  updated_by VARCHAR(255) NOT NULL,
  next_trigger_time BIGINT NOT NULL,
  last_trigger_time BIGINT NOT NULL,
  anchor_time BIGINT NOT NULL,
  exhausted BOOLEAN NOT NULL,
  last_run_gid BIGINT NOT NULL,
  last_run_status TINYINT NOT NULL,
  last_run_end_time BIGINT NOT NULL,
  late_seconds BIGINT NOT NULL,
  absence_seconds BIGINT NOT NULL,
  absence_time BIGINT NOT NULL,
  retry_backoff TINYINT NOT NULL,
  retry_delay_seconds BIGINT NOT NULL,
  retry_cap_seconds BIGINT NOT NULL,
  retry_delays VARCHAR(255) NOT NULL,
  retry_jitter_percent BIGINT NOT NULL,
  retry_on TEXT NOT NULL,
  expected_seconds BIGINT NOT NULL,
  must_end_by VARCHAR(255) NOT NULL,
  stall_seconds BIGINT NOT NULL,
  event_name VARCHAR(255) NOT NULL,
  event_condition TEXT NOT NULL,
  calendar VARCHAR(255) NOT NULL,
  calendar_mode TINYINT NOT NULL,
  valid_from BIGINT NOT NULL,
  valid_until BIGINT NOT NULL,
  jitter_seconds BIGINT NOT NULL,
  calendar_version BIGINT NOT NULL,
  epoch_time BIGINT NOT NULL,
  canary_version BIGINT NOT NULL,
  canary_percent BIGINT NOT NULL,
  shard_count BIGINT NOT NULL,
  broadcast BOOLEAN NOT NULL,
  upstreams TEXT NOT NULL,
  join_all BOOLEAN NOT NULL,
  join_deadline_seconds BIGINT NOT NULL,
  route TINYINT NOT NULL,
  route_key VARCHAR(255) NOT NULL,
  route_tags TEXT NOT NULL,
  lane TINYINT NOT NULL,
  durations MEDIUMTEXT NOT NULL,
  ending BOOLEAN NOT NULL,
  -- NULL outside of what the scheduler looks for.
  due_time BIGINT GENERATED ALWAYS AS (IF(status = 1 AND next_trigger_time > 0, next_trigger_time, NULL)) STORED,
  stuck BOOLEAN GENERATED ALWAYS AS
    (IF(status = 1 AND next_trigger_time = 0 AND exhausted = 0 AND task_type = 1, 1, NULL)) STORED,
  watched BOOLEAN GENERATED ALWAYS AS (IF(status = 1 AND absence_seconds > 0, 1, NULL)) STORED,
  PRIMARY KEY (id),
  UNIQUE KEY ax_task_task_name (group_key, task_name),
  KEY ax_task_status (status),
  KEY ax_task_due (due_time, id),
  KEY ax_task_stuck (stuck, id),
  KEY ax_task_ending (ending, id),
  KEY ax_task_absence (watched, id),
  KEY ax_task_event (event_name, id),
  KEY ax_task_calendar (calendar, id),
  KEY ax_task_behind (calendar, status, calendar_version, id),
  CHECK (task_type IN (1, 2, 3)),
  CHECK (status IN (0, 1, 2, 3)),
  CHECK (priority BETWEEN 1 AND 10)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Every definition that a task ever had: runs execute the one that they were born with.
CREATE TABLE IF NOT EXISTS ax_task_version (
  task_id BIGINT NOT NULL,
  version BIGINT NOT NULL,
  time BIGINT NOT NULL,
  author VARCHAR(255) NOT NULL,
  group_key VARCHAR(128) NOT NULL,
  task_name VARCHAR(512) NOT NULL,
  task_type TINYINT NOT NULL,
  cron_expr VARCHAR(1024) NOT NULL,
  dialect TINYINT NOT NULL,
  time_zone VARCHAR(255) NOT NULL,
  executor_key VARCHAR(128) NOT NULL,
  biz_param MEDIUMTEXT NOT NULL,
  timeout_seconds BIGINT NOT NULL,
  grace_seconds BIGINT NOT NULL,
  retry_count BIGINT NOT NULL,
  priority BIGINT NOT NULL,
  overlap TINYINT NOT NULL,
  overlap_max BIGINT NOT NULL,
  misfire TINYINT NOT NULL,
  window_seconds BIGINT NOT NULL,
  lost_fails BOOLEAN NOT NULL,
  lost_limit BIGINT NOT NULL,
  unreachable_continues BOOLEAN NOT NULL,
  start_confirmed BOOLEAN NOT NULL,
  owner VARCHAR(512) NOT NULL,
  notes TEXT NOT NULL,
  late_seconds BIGINT NOT NULL,
  absence_seconds BIGINT NOT NULL,
  retry_backoff TINYINT NOT NULL,
  retry_delay_seconds BIGINT NOT NULL,
  retry_cap_seconds BIGINT NOT NULL,
  retry_delays VARCHAR(255) NOT NULL,
  retry_jitter_percent BIGINT NOT NULL,
  retry_on TEXT NOT NULL,
  expected_seconds BIGINT NOT NULL,
  must_end_by VARCHAR(255) NOT NULL,
  stall_seconds BIGINT NOT NULL,
  event_name VARCHAR(255) NOT NULL,
  event_condition TEXT NOT NULL,
  calendar VARCHAR(255) NOT NULL,
  calendar_mode TINYINT NOT NULL,
  valid_from BIGINT NOT NULL,
  valid_until BIGINT NOT NULL,
  jitter_seconds BIGINT NOT NULL,
  shard_count BIGINT NOT NULL,
  broadcast BOOLEAN NOT NULL,
  upstreams TEXT NOT NULL,
  join_all BOOLEAN NOT NULL,
  join_deadline_seconds BIGINT NOT NULL,
  route TINYINT NOT NULL,
  route_key VARCHAR(255) NOT NULL,
  route_tags TEXT NOT NULL,
  lane TINYINT NOT NULL,
  PRIMARY KEY (task_id, version)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_schedule_epoch (
  id BIGINT NOT NULL AUTO_INCREMENT,
  task_id BIGINT NOT NULL,
  from_time BIGINT NOT NULL,
  enabled BOOLEAN NOT NULL,
  cron_expr VARCHAR(1024) NOT NULL,
  dialect TINYINT NOT NULL,
  time_zone VARCHAR(255) NOT NULL,
  anchor_time BIGINT NOT NULL,
  tzdata VARCHAR(255) NOT NULL,
  calendar VARCHAR(255) NOT NULL,
  calendar_version BIGINT NOT NULL,
  calendar_mode TINYINT NOT NULL,
  valid_from BIGINT NOT NULL,
  valid_until BIGINT NOT NULL,
  jitter_ms BIGINT NOT NULL,
  PRIMARY KEY (id),
  KEY ax_schedule_epoch_task (task_id, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- One row per run.
CREATE TABLE IF NOT EXISTS ax_task_log (
  gid BIGINT NOT NULL,
  task_id BIGINT NOT NULL,
  kind TINYINT NOT NULL,
  fire_key VARBINARY(255) NOT NULL,
  shard BIGINT NOT NULL,
  group_key VARCHAR(128) NOT NULL,
  executor_key VARCHAR(128) NOT NULL,
  status TINYINT NOT NULL,
  reason VARCHAR(255) NOT NULL,
  rev BIGINT NOT NULL,
  version BIGINT NOT NULL,
  trigger_time BIGINT NOT NULL,
  create_time BIGINT NOT NULL,
  dispatch_time BIGINT NOT NULL,
  start_time BIGINT NOT NULL,
  heartbeat_time BIGINT NOT NULL,
  end_time BIGINT NOT NULL,
  deadline_time BIGINT NOT NULL,
  limit_time BIGINT NOT NULL,
  `rank` BIGINT NOT NULL,
  priority BIGINT NOT NULL,
  hold TINYINT NOT NULL,
  fence BIGINT NOT NULL,
  retry_times BIGINT NOT NULL,
  lost_times BIGINT NOT NULL,
  bounce_times BIGINT NOT NULL,
  accepted BOOLEAN NOT NULL,
  worker VARCHAR(255) NOT NULL,
  incarnation VARCHAR(255) NOT NULL,
  poll BIGINT NOT NULL,
  cancel TINYINT NOT NULL,
  ended_by_worker BOOLEAN NOT NULL,
  result_code BIGINT NOT NULL,
  result_msg TEXT NOT NULL,
  result MEDIUMTEXT NOT NULL,
  params MEDIUMTEXT NOT NULL,
  trace_id VARCHAR(255) NOT NULL,
  progress_msg TEXT NOT NULL,
  progress_percent BIGINT NOT NULL,
  rerun_of BIGINT NOT NULL,
  covers_from BIGINT NOT NULL,
  covers_to BIGINT NOT NULL,
  covers_count BIGINT NOT NULL,
  made_up BOOLEAN NOT NULL,
  progress_time BIGINT NOT NULL,
  must_end_time BIGINT NOT NULL,
  watch_time BIGINT NOT NULL,
  overran BOOLEAN NOT NULL,
  stalled BOOLEAN NOT NULL,
  backfill_id BIGINT NOT NULL,
  shard_total BIGINT NOT NULL,
  spread TINYINT NOT NULL,
  parent BIGINT NOT NULL,
  failed_only BOOLEAN NOT NULL,
  batch BIGINT NOT NULL,
  blocked_by BIGINT NOT NULL,
  ready_time BIGINT NOT NULL,
  lane TINYINT NOT NULL,
  demand TEXT NOT NULL,
  -- What live runs are found by. Each is NULL in every other row, so that a range over it meets no history: ended rows
  -- stand together at the end of the index where the NULLs are, and a new end costs no more there than a new row does.
  -- WAITING: the queue that it stands in, and in it by rank.
  queue VARCHAR(512) GENERATED ALWAYS AS (IF(status = 1, CONCAT(group_key, '\t', hold, '\t', executor_key, '\t', lane,
    '\t', IF(CHAR_LENGTH(demand) <= 200, demand, CONCAT(LEFT(demand, 200), LEFT(SHA2(demand, 256), 32)))), NULL)) STORED,
  -- The task of a run that the overlap rule counts: live, and not held by it.
  live_task BIGINT GENERATED ALWAYS AS (IF(status BETWEEN 1 AND 4 AND hold <> 1 AND shard = 0, task_id, NULL)) STORED,
  -- The task of a run that stands aside: PENDING, held by the overlap rule, MISSED and not decided on.
  aside_task BIGINT GENERATED ALWAYS AS
    (IF(status = 0 OR (status = 1 AND hold = 1) OR (status = 16 AND reason = 'missed'), task_id, NULL)) STORED,
  aside_status TINYINT GENERATED ALWAYS AS
    (IF(status = 0 OR (status = 1 AND hold = 1) OR (status = 16 AND reason = 'missed'), status, NULL)) STORED,
  open_deadline BIGINT GENERATED ALWAYS AS (IF(status < 10 AND deadline_time > 0, deadline_time, NULL)) STORED,
  open_watch BIGINT GENERATED ALWAYS AS (IF(status < 10 AND watch_time > 0, watch_time, NULL)) STORED,
  undispatched_time BIGINT GENERATED ALWAYS AS (IF(status = 1 AND fence = 0, trigger_time, NULL)) STORED,
  given_worker VARCHAR(255) GENERATED ALWAYS AS (IF(status IN (2, 3), worker, NULL)) STORED,
  given_group VARCHAR(128) GENERATED ALWAYS AS (IF(status IN (2, 3), group_key, NULL)) STORED,
  -- When a parent or a plain run ended; -1 = it did not.
  closed_time BIGINT GENERATED ALWAYS AS (IF(shard > 0, NULL, IF(status < 10, -1, end_time))) STORED,
  closed_status TINYINT GENERATED ALWAYS AS (IF(shard > 0 OR status < 10, NULL, status)) STORED,
  -- Of a shard.
  shard_status TINYINT GENERATED ALWAYS AS (IF(parent > 0, status, NULL)) STORED,
  PRIMARY KEY (gid),
  UNIQUE KEY ax_task_log_fire_key (fire_key, task_id, kind, shard), -- keys of fires grow with time: a new one goes to the end
  KEY ax_task_log_waiting (queue, `rank`, gid),
  KEY ax_task_log_live (live_task, gid),
  KEY ax_task_log_aside (aside_task, aside_status, gid),
  KEY ax_task_log_deadline (open_deadline, gid, status),
  KEY ax_task_log_watch (open_watch, gid),
  KEY ax_task_log_undispatched (undispatched_time, gid),
  KEY ax_task_log_given (given_worker, gid, cancel, given_group),
  KEY ax_task_log_closed (closed_time, gid, closed_status),
  KEY ax_task_log_history (task_id, shard, gid),
  KEY ax_task_log_family (parent, gid, shard_status),
  KEY ax_task_log_backfill (backfill_id, gid),
  KEY ax_task_log_batch (batch, shard, gid),
  CHECK (fence >= 0)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_attempt (
  gid BIGINT NOT NULL,
  fence BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  worker VARCHAR(255) NOT NULL,
  dispatch_time BIGINT NOT NULL,
  start_time BIGINT NOT NULL,
  end_time BIGINT NOT NULL,
  outcome TINYINT NOT NULL,
  code BIGINT NOT NULL,
  message TEXT NOT NULL,
  late_time BIGINT NOT NULL,
  late_outcome TINYINT NOT NULL,
  late_code BIGINT NOT NULL,
  late_message TEXT NOT NULL,
  PRIMARY KEY (gid, fence)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_output (
  gid BIGINT NOT NULL,
  fence BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  time BIGINT NOT NULL,
  data MEDIUMBLOB NOT NULL, -- UTF-8 that may hold NUL
  bytes INT GENERATED ALWAYS AS (OCTET_LENGTH(data)) STORED, -- known without reading the data
  PRIMARY KEY (gid, fence, seq)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_group (
  group_key VARCHAR(128) NOT NULL,
  title TEXT NOT NULL,
  dispatch_quota BIGINT NOT NULL,
  pool_size BIGINT NOT NULL,
  paused BOOLEAN NOT NULL,
  contacts TEXT NOT NULL,
  running BIGINT NOT NULL,
  version BIGINT NOT NULL,
  create_time BIGINT NOT NULL,
  update_time BIGINT NOT NULL,
  late_seconds BIGINT NOT NULL,
  backlog_limit BIGINT NOT NULL,
  backlog_seconds BIGINT NOT NULL,
  long_share_percent BIGINT NOT NULL,
  worker_backlog BIGINT NOT NULL,
  keep_days BIGINT NOT NULL,
  keep_runs BIGINT NOT NULL,
  defaults MEDIUMTEXT NOT NULL,
  running_long BIGINT NOT NULL,
  PRIMARY KEY (group_key),
  CHECK (running >= 0),
  CHECK (running_long >= 0)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_worker (
  name VARCHAR(255) NOT NULL,
  incarnation VARCHAR(255) NOT NULL,
  status TINYINT NOT NULL,
  executors MEDIUMTEXT NOT NULL,
  tags MEDIUMTEXT NOT NULL,
  version VARCHAR(255) NOT NULL,
  address VARCHAR(255) NOT NULL,
  register_time BIGINT NOT NULL,
  seen_time BIGINT NOT NULL,
  disabled BOOLEAN NOT NULL,
  past VARCHAR(255) NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_worker_group (
  worker VARCHAR(255) NOT NULL,
  group_key VARCHAR(128) NOT NULL,
  pool_size BIGINT NOT NULL,
  given BIGINT NOT NULL,
  given_long BIGINT NOT NULL,
  given_order BIGINT NOT NULL,
  turn_order BIGINT NOT NULL,
  use_count BIGINT NOT NULL,
  use_time BIGINT NOT NULL,
  PRIMARY KEY (worker, group_key),
  KEY ax_worker_group_group (group_key, worker),
  CHECK (given >= 0),
  CHECK (given_long >= 0)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_server (
  number BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  version VARCHAR(255) NOT NULL,
  start_time BIGINT NOT NULL,
  seen_time BIGINT NOT NULL,
  gid_high_ms BIGINT NOT NULL,
  incarnation BIGINT NOT NULL,
  lease_time BIGINT NOT NULL,
  PRIMARY KEY (number)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_user (
  id BIGINT NOT NULL AUTO_INCREMENT,
  name VARCHAR(255) NOT NULL,
  password_hash VARCHAR(255) NOT NULL,
  role VARCHAR(255) NOT NULL,
  create_time BIGINT NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY ax_user_name (name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_token (
  id BIGINT NOT NULL AUTO_INCREMENT,
  hash VARCHAR(255) NOT NULL,
  kind VARCHAR(255) NOT NULL,
  name VARCHAR(255) NOT NULL,
  role VARCHAR(255) NOT NULL,
  worker_groups TEXT NOT NULL,
  csrf VARCHAR(255) NOT NULL,
  create_time BIGINT NOT NULL,
  expire_time BIGINT NOT NULL,
  last_used_time BIGINT NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY ax_token_hash (hash),
  KEY ax_token_expire (expire_time)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_audit (
  id BIGINT NOT NULL AUTO_INCREMENT,
  time BIGINT NOT NULL,
  actor VARCHAR(255) NOT NULL,
  address VARCHAR(255) NOT NULL,
  action VARCHAR(255) NOT NULL,
  object VARCHAR(512) NOT NULL,
  `before` MEDIUMTEXT NOT NULL,
  `after` MEDIUMTEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (id),
  KEY ax_audit_object (object, id),
  KEY ax_audit_actor (actor, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_idem (
  `key` VARBINARY(512) NOT NULL,
  hash VARCHAR(255) NOT NULL,
  status BIGINT NOT NULL,
  body MEDIUMTEXT NOT NULL,
  expire_time BIGINT NOT NULL,
  PRIMARY KEY (`key`),
  KEY ax_idem_expire (expire_time)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_channel (
  id BIGINT NOT NULL AUTO_INCREMENT,
  name VARCHAR(255) NOT NULL,
  kind TINYINT NOT NULL,
  settings TEXT NOT NULL,
  enabled BOOLEAN NOT NULL,
  language TINYINT NOT NULL,
  rules TEXT NOT NULL,
  group_keys TEXT NOT NULL,
  quiet_from BIGINT NOT NULL,
  quiet_to BIGINT NOT NULL,
  time_zone VARCHAR(255) NOT NULL,
  remind_seconds BIGINT NOT NULL,
  version BIGINT NOT NULL,
  create_time BIGINT NOT NULL,
  update_time BIGINT NOT NULL,
  updated_by VARCHAR(255) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY ax_channel_name (name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_alert (
  id BIGINT NOT NULL AUTO_INCREMENT,
  rule TINYINT NOT NULL,
  group_key VARCHAR(128) NOT NULL,
  episode VARBINARY(255) NOT NULL,
  state TINYINT NOT NULL,
  task_id BIGINT NOT NULL,
  gid BIGINT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL,
  value BIGINT NOT NULL,
  bound BIGINT NOT NULL,
  count BIGINT NOT NULL,
  open_time BIGINT NOT NULL,
  seen_time BIGINT NOT NULL,
  resolve_time BIGINT NOT NULL,
  told_time BIGINT NOT NULL,
  resolve_note TEXT NOT NULL,
  muted BOOLEAN NOT NULL,
  note TEXT NOT NULL,
  note_by VARCHAR(255) NOT NULL,
  rev BIGINT NOT NULL,
  -- NULL in all but open ones, …
  open_rule TINYINT GENERATED ALWAYS AS (IF(state = 0, rule, NULL)) STORED,
  open_task BIGINT GENERATED ALWAYS AS (IF(state = 0 AND task_id > 0, task_id, NULL)) STORED,
  open_told_time BIGINT GENERATED ALWAYS AS (IF(state = 0 AND muted = 0, told_time, NULL)) STORED,
  -- … and in all but resolved ones.
  resolved_time BIGINT GENERATED ALWAYS AS (IF(state = 1, resolve_time, NULL)) STORED,
  PRIMARY KEY (id),
  UNIQUE KEY ax_alert_episode (open_rule, group_key, episode),
  KEY ax_alert_open (open_rule, id),
  KEY ax_alert_open_task (open_task, id),
  KEY ax_alert_told (open_told_time, id),
  KEY ax_alert_resolved (resolved_time, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_alert_outbox (
  id BIGINT NOT NULL AUTO_INCREMENT,
  alert_id BIGINT NOT NULL,
  channel_id BIGINT NOT NULL,
  kind TINYINT NOT NULL,
  state TINYINT NOT NULL,
  attempts BIGINT NOT NULL,
  next_time BIGINT NOT NULL,
  server BIGINT NOT NULL,
  create_time BIGINT NOT NULL,
  sent_time BIGINT NOT NULL,
  error TEXT NOT NULL,
  rev BIGINT NOT NULL,
  pending_channel BIGINT GENERATED ALWAYS AS (IF(state = 0, channel_id, NULL)) STORED, -- NULL once told or given up
  PRIMARY KEY (id),
  KEY ax_alert_outbox_due (pending_channel, next_time, id),
  KEY ax_alert_outbox_turn (pending_channel, alert_id, id),
  KEY ax_alert_outbox_alert (alert_id, id),
  KEY ax_alert_outbox_channel (channel_id, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- A row for each run that ended as FAILED or TIMEOUT, and the groups that they are counted into.
CREATE TABLE IF NOT EXISTS ax_failure (
  gid BIGINT NOT NULL,
  fingerprint BIGINT NOT NULL,
  group_key VARCHAR(128) NOT NULL,
  task_id BIGINT NOT NULL,
  version BIGINT NOT NULL,
  executor_key VARCHAR(128) NOT NULL,
  reason VARCHAR(255) NOT NULL,
  code BIGINT NOT NULL,
  title TEXT NOT NULL,
  worker VARCHAR(255) NOT NULL,
  time BIGINT NOT NULL,
  muted BOOLEAN NOT NULL,
  folded BOOLEAN NOT NULL,
  rerun_gid BIGINT NOT NULL,
  unfolded BOOLEAN GENERATED ALWAYS AS (IF(folded = 0, 1, NULL)) STORED,
  PRIMARY KEY (gid),
  KEY ax_failure_unfolded (unfolded, gid),
  KEY ax_failure_of_group (group_key, fingerprint, gid),
  KEY ax_failure_to_rerun (group_key, fingerprint, rerun_gid, gid, task_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_failure_group (
  id BIGINT NOT NULL AUTO_INCREMENT,
  group_key VARCHAR(128) NOT NULL,
  fingerprint BIGINT NOT NULL,
  executor_key VARCHAR(128) NOT NULL,
  reason VARCHAR(255) NOT NULL,
  code BIGINT NOT NULL,
  title TEXT NOT NULL,
  count BIGINT NOT NULL,
  first_seen_time BIGINT NOT NULL,
  last_seen_time BIGINT NOT NULL,
  sample_gid BIGINT NOT NULL,
  growth_time BIGINT NOT NULL,
  state TINYINT NOT NULL,
  state_time BIGINT NOT NULL,
  state_by VARCHAR(255) NOT NULL,
  state_reason TEXT NOT NULL,
  mute_until_time BIGINT NOT NULL,
  reopen_count BIGINT NOT NULL,
  assignee VARCHAR(255) NOT NULL,
  note TEXT NOT NULL,
  rerun_due_time BIGINT NOT NULL,
  rev BIGINT NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY ax_failure_group_fingerprint (group_key, fingerprint),
  KEY ax_failure_group_seen (last_seen_time, id),
  KEY ax_failure_group_resolved (state, last_seen_time, id),
  KEY ax_failure_group_alike (fingerprint, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- By version of a task (worker = ''), and by worker (task_id and version 0).
CREATE TABLE IF NOT EXISTS ax_failure_spread (
  failure_id BIGINT NOT NULL,
  task_id BIGINT NOT NULL,
  version BIGINT NOT NULL,
  worker VARCHAR(255) NOT NULL,
  count BIGINT NOT NULL,
  first_seen_time BIGINT NOT NULL,
  last_seen_time BIGINT NOT NULL,
  PRIMARY KEY (failure_id, task_id, version, worker)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_failure_hour (
  failure_id BIGINT NOT NULL,
  hour BIGINT NOT NULL, -- since 1970
  count BIGINT NOT NULL,
  PRIMARY KEY (failure_id, hour)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_event (
  id BIGINT NOT NULL,
  event_name VARCHAR(255) NOT NULL,
  event_key VARBINARY(255) NOT NULL,
  event_id VARCHAR(512) NOT NULL,
  payload MEDIUMTEXT NOT NULL,
  sent_by VARCHAR(255) NOT NULL,
  time BIGINT NOT NULL,
  runs BIGINT NOT NULL,
  passed BIGINT NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY ax_event_event_key (event_name, event_key),
  KEY ax_event_name (event_name, id),
  KEY ax_event_time (time, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_event_task (
  event BIGINT NOT NULL,
  task_id BIGINT NOT NULL,
  fate TINYINT NOT NULL,
  gid BIGINT NOT NULL,
  PRIMARY KEY (event, task_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_calendar (
  name VARCHAR(255) NOT NULL,
  title TEXT NOT NULL,
  version BIGINT NOT NULL,
  create_time BIGINT NOT NULL,
  update_time BIGINT NOT NULL,
  updated_by VARCHAR(255) NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Every content that a calendar ever had, for the epochs that refer to it; also of calendars that were deleted.
CREATE TABLE IF NOT EXISTS ax_calendar_version (
  name VARCHAR(255) NOT NULL,
  version BIGINT NOT NULL,
  time BIGINT NOT NULL,
  author VARCHAR(255) NOT NULL,
  title TEXT NOT NULL,
  week BIGINT NOT NULL,
  days MEDIUMTEXT NOT NULL,
  PRIMARY KEY (name, version)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_backfill (
  id BIGINT NOT NULL AUTO_INCREMENT,
  task_id BIGINT NOT NULL,
  from_time BIGINT NOT NULL,
  to_time BIGINT NOT NULL,
  max_live BIGINT NOT NULL,
  newest_first BOOLEAN NOT NULL,
  status TINYINT NOT NULL,
  cursor_time BIGINT NOT NULL,
  total BIGINT NOT NULL,
  made BIGINT NOT NULL,
  existed BIGINT NOT NULL,
  done BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  create_time BIGINT NOT NULL,
  end_time BIGINT NOT NULL,
  created_by VARCHAR(255) NOT NULL,
  rev BIGINT NOT NULL,
  PRIMARY KEY (id),
  KEY ax_backfill_task (task_id, id),
  KEY ax_backfill_open (status, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_canary (
  task_id BIGINT NOT NULL,
  base_version BIGINT NOT NULL,
  version BIGINT NOT NULL,
  state TINYINT NOT NULL,
  percent BIGINT NOT NULL,
  automatic BOOLEAN NOT NULL,
  min_runs BIGINT NOT NULL,
  max_failure_points BIGINT NOT NULL,
  max_p95_percent BIGINT NOT NULL,
  succeeded BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  base_succeeded BIGINT NOT NULL,
  base_failed BIGINT NOT NULL,
  durations MEDIUMTEXT NOT NULL,
  base_durations MEDIUMTEXT NOT NULL,
  start_time BIGINT NOT NULL,
  end_time BIGINT NOT NULL,
  started_by VARCHAR(255) NOT NULL,
  ended_by VARCHAR(255) NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (task_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_upstream (
  task_id BIGINT NOT NULL,
  upstream_id BIGINT NOT NULL,
  PRIMARY KEY (task_id, upstream_id),
  KEY ax_upstream_down (upstream_id, task_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_run_upstream (
  gid BIGINT NOT NULL,
  upstream_id BIGINT NOT NULL,
  upstream_gid BIGINT NOT NULL,
  upstream_status TINYINT NOT NULL,
  PRIMARY KEY (gid, upstream_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ax_lease (
  name VARCHAR(255) NOT NULL,
  holder BIGINT NOT NULL,
  fence BIGINT NOT NULL,
  until_time BIGINT NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Which store this is: servers of others do not take what its workers report, nor what its queue holds.
CREATE TABLE IF NOT EXISTS ax_store (
  one TINYINT NOT NULL CHECK (one = 1),
  id BIGINT NOT NULL,
  PRIMARY KEY (one)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT IGNORE INTO ax_store (one, id) VALUES (1, CONV(LEFT(SHA2(CONCAT(UUID(), RAND()), 256), 15), 16, 10));

CREATE TABLE IF NOT EXISTS ax_notice (
  server BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  time BIGINT NOT NULL,
  body MEDIUMTEXT NOT NULL,
  PRIMARY KEY (server, seq),
  KEY ax_notice_time (time)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- How many runs ended in each minute, and how: an end is counted once, not at every look.
CREATE TABLE IF NOT EXISTS ax_ended_minute (
  minute BIGINT NOT NULL, -- since 1970
  success BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  timeout BIGINT NOT NULL,
  cancelled BIGINT NOT NULL,
  blocked BIGINT NOT NULL,
  skipped BIGINT NOT NULL,
  missed BIGINT NOT NULL,
  PRIMARY KEY (minute)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The last guard of the state machine: an ended run stays as it ended.
DROP TRIGGER IF EXISTS ax_task_log_terminal;
CREATE TRIGGER ax_task_log_terminal BEFORE UPDATE ON ax_task_log FOR EACH ROW
  IF OLD.status >= 10 AND (NEW.status <> OLD.status OR NEW.fence <> OLD.fence) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a terminal run never changes';
  END IF;

DROP TRIGGER IF EXISTS ax_audit_no_update;
CREATE TRIGGER ax_audit_no_update BEFORE UPDATE ON ax_audit FOR EACH ROW
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the audit log is append only';
