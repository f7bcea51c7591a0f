-- The tables of AX, SQLite dialect. Never edited once released: changes are new files.
-- Instants are milliseconds UTC (0 = not yet), text is UTF-8, enums are the numbers of src/core/task.h.

CREATE TABLE ax_task (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_key TEXT NOT NULL,
  task_name TEXT NOT NULL,
  task_type INTEGER NOT NULL CHECK (task_type IN (1, 2, 3)),
  status INTEGER NOT NULL CHECK (status IN (0, 1, 2, 3)),
  cron_expr TEXT NOT NULL,
  dialect INTEGER NOT NULL,
  time_zone TEXT NOT NULL,
  executor_key TEXT NOT NULL,
  biz_param TEXT NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  grace_seconds INTEGER NOT NULL,
  retry_count INTEGER NOT NULL,
  priority INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 10),
  overlap INTEGER NOT NULL,
  overlap_max INTEGER NOT NULL,
  misfire INTEGER NOT NULL,
  window_seconds INTEGER NOT NULL,
  lost_fails INTEGER NOT NULL,
  lost_limit INTEGER NOT NULL,
  unreachable_continues INTEGER NOT NULL,
  start_confirmed INTEGER NOT NULL,
  owner TEXT NOT NULL,
  notes TEXT NOT NULL,
  version INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  next_trigger_time INTEGER NOT NULL,
  last_trigger_time INTEGER NOT NULL,
  anchor_time INTEGER NOT NULL,
  exhausted INTEGER NOT NULL,
  last_run_gid INTEGER NOT NULL,
  last_run_status INTEGER NOT NULL,
  last_run_end_time INTEGER NOT NULL,
  UNIQUE (group_key, task_name)
) STRICT;
CREATE INDEX ax_task_status ON ax_task (status);
CREATE INDEX ax_task_due ON ax_task (next_trigger_time) WHERE status = 1 AND next_trigger_time > 0;
CREATE INDEX ax_task_stuck ON ax_task (id)
  WHERE status = 1 AND next_trigger_time = 0 AND exhausted = 0 AND task_type = 1;

-- Every definition that a task ever had: runs execute the one that they were born with.
CREATE TABLE ax_task_version (
  task_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  time INTEGER NOT NULL,
  author TEXT NOT NULL,
  group_key TEXT NOT NULL,
  task_name TEXT NOT NULL,
  task_type INTEGER NOT NULL,
  cron_expr TEXT NOT NULL,
  dialect INTEGER NOT NULL,
  time_zone TEXT NOT NULL,
  executor_key TEXT NOT NULL,
  biz_param TEXT NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  grace_seconds INTEGER NOT NULL,
  retry_count INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  overlap INTEGER NOT NULL,
  overlap_max INTEGER NOT NULL,
  misfire INTEGER NOT NULL,
  window_seconds INTEGER NOT NULL,
  lost_fails INTEGER NOT NULL,
  lost_limit INTEGER NOT NULL,
  unreachable_continues INTEGER NOT NULL,
  start_confirmed INTEGER NOT NULL,
  owner TEXT NOT NULL,
  notes TEXT NOT NULL,
  PRIMARY KEY (task_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE ax_schedule_epoch (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL,
  from_time INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  cron_expr TEXT NOT NULL,
  dialect INTEGER NOT NULL,
  time_zone TEXT NOT NULL,
  anchor_time INTEGER NOT NULL,
  tzdata TEXT NOT NULL
) STRICT;
CREATE INDEX ax_schedule_epoch_task ON ax_schedule_epoch (task_id, id);

-- One row per run.
CREATE TABLE ax_task_log (
  gid INTEGER PRIMARY KEY,
  task_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  fire_key TEXT NOT NULL,
  shard INTEGER NOT NULL,
  group_key TEXT NOT NULL,
  executor_key TEXT NOT NULL,
  status INTEGER NOT NULL,
  reason TEXT NOT NULL,
  rev INTEGER NOT NULL,
  version INTEGER NOT NULL,
  trigger_time INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  dispatch_time INTEGER NOT NULL,
  start_time INTEGER NOT NULL,
  heartbeat_time INTEGER NOT NULL,
  end_time INTEGER NOT NULL,
  deadline_time INTEGER NOT NULL,
  limit_time INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  hold INTEGER NOT NULL,
  fence INTEGER NOT NULL CHECK (fence >= 0),
  retry_times INTEGER NOT NULL,
  lost_times INTEGER NOT NULL,
  bounce_times INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  worker TEXT NOT NULL,
  incarnation TEXT NOT NULL,
  poll INTEGER NOT NULL,
  cancel INTEGER NOT NULL,
  ended_by_worker INTEGER NOT NULL,
  result_code INTEGER NOT NULL,
  result_msg TEXT NOT NULL,
  result TEXT NOT NULL,
  params TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  progress_msg TEXT NOT NULL,
  progress_percent INTEGER NOT NULL,
  rerun_of INTEGER NOT NULL,
  covers_from INTEGER NOT NULL,
  covers_to INTEGER NOT NULL,
  covers_count INTEGER NOT NULL,
  made_up INTEGER NOT NULL,
  -- What indexes go by instead of the status, because it stays when a run begins: 0 = PENDING, 1 = live, 2 = ended; and
  -- whether a worker has it. An index whose columns or condition an UPDATE names is written anew, even with what it had.
  phase INTEGER NOT NULL CHECK (phase = (status > 0) + (status >= 10)),
  given INTEGER NOT NULL CHECK (given = (status = 2 OR status = 3)),
  UNIQUE (fire_key, task_id, kind, shard) -- keys of fires grow with time: a new one goes to the end
) STRICT;
-- Live rows are found by indexes that ended rows are not part of. What is false for most comes first in a condition.
CREATE INDEX ax_task_log_pending ON ax_task_log (task_id, gid) WHERE phase = 0;
CREATE INDEX ax_task_log_held ON ax_task_log (task_id, gid) WHERE hold = 1 AND phase = 1;
CREATE INDEX ax_task_log_deadline ON ax_task_log (deadline_time) WHERE deadline_time > 0 AND phase < 2;
CREATE INDEX ax_task_log_given ON ax_task_log (worker, gid, group_key) WHERE given = 1;
CREATE INDEX ax_task_log_asked ON ax_task_log (worker, gid) WHERE cancel = 1 AND given = 1;

-- The last guard of the state machine: an ended run stays as it ended.
CREATE TRIGGER ax_task_log_terminal BEFORE UPDATE OF status, fence ON ax_task_log
WHEN OLD.status >= 10 AND (NEW.status <> OLD.status OR NEW.fence <> OLD.fence)
BEGIN
  SELECT RAISE(FAIL, 'a terminal run never changes');
END;

CREATE TABLE ax_attempt (
  gid INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  worker TEXT NOT NULL,
  dispatch_time INTEGER NOT NULL,
  start_time INTEGER NOT NULL,
  end_time INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  code INTEGER NOT NULL,
  message TEXT NOT NULL,
  late_time INTEGER NOT NULL,
  late_outcome INTEGER NOT NULL,
  late_code INTEGER NOT NULL,
  late_message TEXT NOT NULL,
  PRIMARY KEY (gid, fence)
) STRICT, WITHOUT ROWID;

CREATE TABLE ax_output (
  gid INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  time INTEGER NOT NULL,
  data BLOB NOT NULL, -- UTF-8 that may hold NUL; as a BLOB its length is known without reading it
  PRIMARY KEY (gid, fence, seq)
) STRICT;

CREATE TABLE ax_group (
  group_key TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  dispatch_quota INTEGER NOT NULL,
  pool_size INTEGER NOT NULL,
  paused INTEGER NOT NULL,
  contacts TEXT NOT NULL,
  running INTEGER NOT NULL CHECK (running >= 0),
  version INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ax_worker (
  name TEXT PRIMARY KEY,
  incarnation TEXT NOT NULL,
  status INTEGER NOT NULL,
  executors TEXT NOT NULL,
  tags TEXT NOT NULL,
  version TEXT NOT NULL,
  address TEXT NOT NULL,
  register_time INTEGER NOT NULL,
  seen_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ax_worker_group (
  worker TEXT NOT NULL,
  group_key TEXT NOT NULL,
  pool_size INTEGER NOT NULL,
  given INTEGER NOT NULL CHECK (given >= 0),
  PRIMARY KEY (worker, group_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE ax_server (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  start_time INTEGER NOT NULL,
  seen_time INTEGER NOT NULL,
  gid_high_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE ax_user (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  role TEXT NOT NULL,
  create_time INTEGER NOT NULL
) STRICT;

CREATE TABLE ax_token (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  hash TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  worker_groups TEXT NOT NULL,
  csrf TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  expire_time INTEGER NOT NULL,
  last_used_time INTEGER NOT NULL
) STRICT;
CREATE INDEX ax_token_expire ON ax_token (expire_time) WHERE expire_time > 0;

CREATE TABLE ax_audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  time INTEGER NOT NULL,
  actor TEXT NOT NULL,
  address TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  before TEXT NOT NULL,
  after TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX ax_audit_object ON ax_audit (object, id);
CREATE INDEX ax_audit_actor ON ax_audit (actor, id);
CREATE TRIGGER ax_audit_no_update BEFORE UPDATE ON ax_audit BEGIN
  SELECT RAISE(ABORT, 'the audit log is append only');
END;

CREATE TABLE ax_idem (
  key TEXT PRIMARY KEY,
  hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  expire_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ax_idem_expire ON ax_idem (expire_time);
