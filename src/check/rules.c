#include "check/rules.h"

#include "base/attr.h"

/* A parent of shards: in nobody's hands, whatever its state. */
#define PARENT "(spread <> 0 AND shard = 0)"
#define R_PARENT "(r.spread <> 0 AND r.shard = 0)"
/* Is the word in a text of words with one blank between them? */
#define HAS_WORD(text, word) "instr(' ' || " text " || ' ', ' ' || " word " || ' ') > 0"
/* No retention deletes a run within a day of its end: less a minute, for what one transaction does at two instants. */
#define KEPT_MS "86340000"

/* clang-format off */
const struct ax_check_rule ax_check_rules[] = {
	{ "I1.unique", "no two runs have the same task, kind, fire key and shard",
	  "SELECT printf('task %d kind %d key %s shard %d: %d runs', task_id, kind, fire_key, shard, count(*))"
	  " FROM ax_task_log GROUP BY task_id, kind, fire_key, shard HAVING count(*) > 1", false },
	{ "I3.attempts", "every attempt before the current one is on record",
	  "SELECT printf('run %d has fence %d and %d earlier attempts', gid, fence, n) FROM (SELECT r.gid, r.fence,"
	  " (SELECT count(*) FROM ax_attempt a WHERE a.gid = r.gid AND a.fence < r.fence) AS n"
	  " FROM ax_task_log r WHERE r.fence > 1) WHERE n <> fence - 1", false },
	{ "I3.newest", "no attempt has a greater fence than its run",
	  "SELECT printf('run %d has fence %d, an attempt has %d', r.gid, r.fence, a.fence)"
	  " FROM ax_attempt a JOIN ax_task_log r ON r.gid = a.gid WHERE a.fence > r.fence", false },
	{ "I3.order", "the attempt's number does not fall as the fence grows",
	  "SELECT printf('run %d: attempt %d follows attempt %d', gid, attempt, before) FROM (SELECT gid, attempt,"
	  " lag(attempt) OVER (PARTITION BY gid ORDER BY fence) AS before FROM ax_attempt) WHERE attempt < before", false },
	{ "I3.holder", "a run that is given out names its worker, fence and times",
	  "SELECT printf('run %d in state %d: worker `%s` fence %d dispatched %d started %d', gid, status, worker, fence,"
	  " dispatch_time, start_time) FROM ax_task_log WHERE status IN (2, 3) AND NOT " PARENT
	  " AND (worker = '' OR fence = 0 OR dispatch_time = 0 OR (status = 3 AND start_time = 0))", false },
	{ "I4.states", "every run is in a state that exists",
	  "SELECT printf('run %d in state %d', gid, status) FROM ax_task_log"
	  " WHERE status NOT IN (0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16)", false },
	{ "I4.end", "ended runs have an end time, live runs have none",
	  "SELECT printf('run %d in state %d has end time %d', gid, status, end_time) FROM ax_task_log"
	  " WHERE (status >= 10) <> (end_time > 0)", false },
	{ "I4.guard", "the guard of ended runs is in place",
	  "SELECT 'the trigger ax_task_log_terminal is gone' WHERE NOT EXISTS (SELECT 1 FROM sqlite_master"
	  " WHERE type = 'trigger' AND name = 'ax_task_log_terminal' AND tbl_name = 'ax_task_log')", false },
	{ "I5.success", "a run that succeeded was given out, and its worker said so",
	  "SELECT printf('run %d: fence %d, worker `%s`', gid, fence, worker) FROM ax_task_log WHERE status = 10"
	  " AND NOT " PARENT " AND (fence = 0 OR worker = '' OR ended_by_worker = 0)", false },
	{ "I5.attempt", "an attempt ended in a way that exists; what came late has its time and its outcome",
	  "SELECT printf('run %d fence %d: outcome %d, late outcome %d at %d', gid, fence, outcome, late_outcome, late_time)"
	  " FROM ax_attempt WHERE outcome NOT BETWEEN 1 AND 8 OR (late_time > 0) <> (late_outcome > 0)"
	  " OR late_outcome NOT BETWEEN 0 AND 5", false },
	/* The counters and what they count, in one pass; a counter that is not there says NULL. */
	{ "I6.running", "ax_group.running is the number of its runs given out",
	  "SELECT printf('group %s says %d, there are %d', group_key, says, n) FROM (SELECT group_key, sum(says) AS says,"
	  " count(gid) AS n FROM (SELECT group_key, running AS says, NULL AS gid FROM ax_group UNION ALL"
	  " SELECT group_key, NULL, gid FROM ax_task_log WHERE status IN (2, 3) AND NOT " PARENT
	  ") GROUP BY group_key) WHERE says <> n"
	  " UNION ALL SELECT printf('run %d is given out in group %s, which does not exist', gid, group_key)"
	  " FROM ax_task_log WHERE status IN (2, 3) AND group_key NOT IN (SELECT group_key FROM ax_group)", false },
	{ "I6.given", "ax_worker_group.given is the number of runs given to the worker",
	  "SELECT printf('worker %s in group %s says %d, there are %d', worker, group_key, says, n) FROM (SELECT worker,"
	  " group_key, sum(says) AS says, count(gid) AS n FROM (SELECT worker, group_key, given AS says, NULL AS gid"
	  " FROM ax_worker_group UNION ALL SELECT worker, group_key, NULL, gid FROM ax_task_log WHERE status IN (2, 3))"
	  " GROUP BY worker, group_key) WHERE says <> n"
	  " UNION ALL SELECT printf('run %d is given to worker %s, which has no part in group %s', r.gid, r.worker,"
	  " r.group_key) FROM ax_task_log r WHERE r.status IN (2, 3) AND NOT " R_PARENT " AND NOT EXISTS (SELECT 1 FROM ax_worker_group w"
	  " WHERE w.worker = r.worker AND w.group_key = r.group_key)", false },
	{ "I6.long", "the counters of long runs are the numbers of those given out",
	  "SELECT printf('group %s says %d long runs, there are %d', group_key, says, n) FROM (SELECT group_key,"
	  " sum(says) AS says, count(gid) AS n FROM (SELECT group_key, running_long AS says, NULL AS gid FROM ax_group"
	  " UNION ALL SELECT group_key, NULL, gid FROM ax_task_log WHERE status IN (2, 3) AND lane = 2 AND NOT " PARENT
	  ") GROUP BY group_key) WHERE says <> n"
	  " UNION ALL SELECT printf('worker %s in group %s says %d long runs, there are %d', worker, group_key, says, n)"
	  " FROM (SELECT worker, group_key, sum(says) AS says, count(gid) AS n FROM (SELECT worker, group_key,"
	  " given_long AS says, NULL AS gid FROM ax_worker_group UNION ALL SELECT worker, group_key, NULL, gid"
	  " FROM ax_task_log WHERE status IN (2, 3) AND lane = 2) GROUP BY worker, group_key) WHERE says <> n", false },
	{ "I16.worker", "what is for one worker alone was given to no other",
	  "SELECT printf('run %d is for %s and went to %s', gid, json_extract(demand, '$.worker'), worker) FROM ax_task_log"
	  " WHERE demand <> '' AND fence > 0 AND worker <> ifnull(json_extract(demand, '$.worker'), worker)", false },
	{ "I7.chain", "a chain's run follows a success, or is BLOCKED",
	  "SELECT printf('run %d in state %d follows run %d in state %d', r.gid, r.status, u.gid, u.status)"
	  " FROM ax_task_log r JOIN ax_task_log u ON u.gid = CAST(r.fire_key AS INTEGER)"
	  " WHERE r.kind = 6 AND (u.status = 10) = (r.status = 14)", false },
	{ "I7.blocked", "what is BLOCKED names a run that ended, and not with success",
	  "SELECT printf('run %d is blocked by run %d in state %d', r.gid, u.gid, u.status) FROM ax_task_log r"
	  " JOIN ax_task_log u ON u.gid = r.blocked_by WHERE r.status <> 14 OR u.status <= 10", false },
	{ "I7.batch", "a join has one run for a batch, besides those that were BLOCKED",
	  "SELECT printf('task %d has %d runs of batch %d', task_id, n, batch) FROM (SELECT task_id, batch, count(*) AS n"
	  " FROM ax_task_log WHERE kind = 6 AND fire_key LIKE 'b%' AND parent = 0 AND status <> 14"
	  " GROUP BY task_id, batch)"
	  " WHERE n > 1", false },
	{ "I7.join", "a join that is not BLOCKED has seen its upstreams succeed",
	  "SELECT printf('run %d has seen run %d end in state %d', r.gid, u.upstream_gid, u.upstream_status)"
	  " FROM ax_task_log r JOIN ax_run_upstream u ON u.gid = r.gid WHERE r.kind = 6 AND r.fire_key LIKE 'b%'"
	  " AND r.status <> 14 AND u.upstream_status <> 10", false },
	{ "I7.cause", "a chain's run names the run that it follows, a join those that it has seen",
	  "SELECT printf('run %d follows run %s, which is not there', r.gid, r.fire_key) FROM ax_task_log r WHERE r.kind = 6"
	  " AND r.shard = 0 AND r.fire_key NOT LIKE 'b%' AND r.create_time > ?1 - " KEPT_MS " AND NOT EXISTS"
	  " (SELECT 1 FROM ax_task_log u WHERE u.gid = CAST(r.fire_key AS INTEGER))"
	  " UNION ALL SELECT printf('run %d has not seen run %s end', r.gid, r.fire_key) FROM ax_task_log r WHERE r.kind = 6"
	  " AND r.shard = 0 AND r.fire_key NOT LIKE 'b%' AND NOT EXISTS (SELECT 1 FROM ax_run_upstream x"
	  " WHERE x.gid = r.gid AND x.upstream_gid = CAST(r.fire_key AS INTEGER))"
	  " UNION ALL SELECT printf('run %d joins nothing', r.gid) FROM ax_task_log r WHERE r.kind = 6 AND r.shard = 0"
	  " AND r.fire_key LIKE 'b%' AND NOT EXISTS (SELECT 1 FROM ax_run_upstream x WHERE x.gid = r.gid)", false },
	{ "I7.seen", "an end that a run has seen is the one that the run behind it came to",
	  "SELECT printf('run %d has seen run %d of task %d end in state %d; it is of task %d, in state %d', x.gid, u.gid,"
	  " x.upstream_id, x.upstream_status, u.task_id, u.status) FROM ax_run_upstream x JOIN ax_task_log u"
	  " ON u.gid = x.upstream_gid WHERE u.status <> x.upstream_status OR u.task_id <> x.upstream_id", false },
	/* An edge is what a version of a task said until the next one. Close to a change clocks of several servers may
	 * disagree. A task takes part from when it is enabled, which is known to be before absence_time while it is, and
	 * before its first chained run. */
	{ "I7.down", "every end has what follows from it at each task that named its task as an upstream then",
	  "WITH edge AS MATERIALIZED (SELECT t.id AS task_id, CAST(i.value AS INTEGER) AS upstream_id, joins, since, until, CASE t.status WHEN 1 THEN t.absence_time ELSE 1 << 62 END AS enabled, ifnull((SELECT f.gid FROM"
	  " ax_task_log f WHERE f.task_id = t.id AND f.shard = 0 AND f.kind = 6 ORDER BY f.gid LIMIT 1), 1 << 62) AS first_gid"
	  " FROM (SELECT task_id AS down_id, upstreams AS named, join_all AS joins, time AS since, lead(time, 1, 1 << 62)"
	  " OVER (PARTITION BY task_id ORDER BY version) AS until FROM ax_task_version) JOIN ax_task t ON t.id = down_id"
	  " JOIN json_each('[' || replace(named, ' ', ',') || ']') i WHERE named <> '' AND t.status IN (1, 2))"
	  " SELECT printf('run %d of task %d ended in state %d; task %d has no run for it', u.gid, u.task_id, u.status, e.task_id)"
	  " FROM ax_task_log u NOT INDEXED CROSS JOIN edge e ON e.upstream_id = u.task_id WHERE u.status >= 10 AND u.shard = 0"
	  " AND u.end_time > ?1 - " KEPT_MS " AND u.end_time BETWEEN e.since + 10000 AND e.until - 10000"
	  " AND (e.enabled < u.end_time - 10000 OR e.first_gid < (u.end_time - 10000 - 1704067200000) << 22)"
	  " AND NOT EXISTS (SELECT 1 FROM ax_task_log r WHERE r.fire_key = CASE WHEN e.joins"
	  " THEN 'b' || iif(u.batch <> 0, u.batch, u.gid) ELSE CAST(u.gid AS TEXT) END"
	  " AND r.task_id = e.task_id AND r.kind = 6 AND r.shard = 0)", false },
	{ "I10.time", "the gid carries the instant of its creation: never older, at most an hour ahead",
	  "SELECT printf('run %d was made at %d, its gid says %d', gid, create_time, t) FROM (SELECT gid, create_time,"
	  " (gid >> 22) + 1704067200000 AS t FROM ax_task_log)"
	  " WHERE t < create_time - 1000 OR t > create_time + 3600000", false },
	{ "I11.tries", "no run was retried or lost more often than its version allows",
	  "SELECT printf('run %d: %d retries of %d, lost %d times of %d', gid, retry_times, retries, lost_times, losses)"
	  " FROM (SELECT r.gid, r.retry_times, r.lost_times, v.retry_count AS retries,"
	  " v.lost_limit AS losses FROM ax_task_log r"
	  " JOIN ax_task_version v ON v.task_id = r.task_id AND v.version = r.version)"
	  " WHERE retry_times > retries OR lost_times > losses + 1", false },
	{ "I11.version", "the version that a run executes is kept as long as its task",
	  "SELECT printf('run %d executes version %d of task %d', r.gid, r.version, r.task_id) FROM ax_task_log r"
	  " JOIN ax_task t ON t.id = r.task_id WHERE NOT EXISTS (SELECT 1 FROM ax_task_version v"
	  " WHERE v.task_id = r.task_id AND v.version = r.version)", false },
	/* What was given out long before it was made tells of a clock that was set back. */
	{ "I14.early", "nothing is given out or begun before it is due",
	  "SELECT printf('run %d is due at %d, made at %d, given out at %d, begun at %d', gid, trigger_time, create_time,"
	  " dispatch_time, start_time) FROM ax_task_log"
	  " WHERE (start_time > create_time - 10000 AND start_time > 0 AND start_time < trigger_time)"
	  " OR (dispatch_time > create_time - 10000 AND dispatch_time > 0 AND dispatch_time < trigger_time - 50)"
	  " OR (kind = 1 AND create_time < trigger_time - 2000)", false },
	{ "I13.run", "a run is in the group of its task and of the version that it executes",
	  "SELECT printf('run %d of group %s executes version %d of task %d of group %s', r.gid, r.group_key, r.version,"
	  " r.task_id, v.group_key) FROM ax_task_log r JOIN ax_task_version v ON v.task_id = r.task_id AND v.version = r.version"
	  " WHERE v.group_key <> r.group_key"
	  " UNION ALL SELECT printf('task %d of group %s has a version of group %s', t.id, t.group_key, v.group_key)"
	  " FROM ax_task t JOIN ax_task_version v ON v.task_id = t.id WHERE v.group_key <> t.group_key", false },
	{ "I13.failure", "a failure is counted in the group of its run",
	  "SELECT printf('run %d of group %s has its failure in group %s', r.gid, r.group_key, f.group_key) FROM ax_failure f"
	  " JOIN ax_task_log r ON r.gid = f.gid WHERE f.group_key <> r.group_key", false },
	{ "I13.alert", "an alert is in the group of the task and the run that it is about",
	  "SELECT printf('alert %d of group `%s` is about task %d of group %s', a.id, a.group_key, t.id, t.group_key)"
	  " FROM ax_alert a JOIN ax_task t ON t.id = a.task_id WHERE a.task_id > 0 AND a.group_key <> t.group_key"
	  " UNION ALL SELECT printf('alert %d of group `%s` is about run %d of group %s', a.id, a.group_key, r.gid, r.group_key)"
	  " FROM ax_alert a JOIN ax_task_log r ON r.gid = a.gid WHERE a.gid > 0 AND a.group_key <> r.group_key", false },
	{ "I13.told", "no channel is told of a group that it does not hear",
	  "SELECT printf('channel %d was told of alert %d of group %s', c.id, a.id, a.group_key) FROM ax_alert_outbox d"
	  " JOIN ax_alert a ON a.id = d.alert_id JOIN ax_channel c ON c.id = d.channel_id WHERE d.kind IN (1, 3)"
	  " AND c.group_keys <> '' AND a.group_key <> '' AND NOT " HAS_WORD("c.group_keys", "a.group_key")
	  " AND c.update_time < d.create_time - 1000", false },
	{ "O.attempt", "every attempt belongs to a run",
	  "SELECT printf('attempt %d of run %d', attempt, gid) FROM ax_attempt a"
	  " WHERE NOT EXISTS (SELECT 1 FROM ax_task_log r WHERE r.gid = a.gid)", false },
	{ "O.upstream", "every upstream that a run follows belongs to a run",
	  "SELECT printf('upstream %d of run %d', upstream_gid, gid) FROM ax_run_upstream u"
	  " WHERE NOT EXISTS (SELECT 1 FROM ax_task_log r WHERE r.gid = u.gid)", false },
	{ "O.edge", "a task's upstreams are tasks",
	  "SELECT printf('task %d names task %d', task_id, upstream_id) FROM ax_upstream u WHERE NOT EXISTS"
	  " (SELECT 1 FROM ax_task t WHERE t.id = u.task_id) OR NOT EXISTS (SELECT 1 FROM ax_task t"
	  " WHERE t.id = u.upstream_id)", false },
	{ "O.output", "every output belongs to a run",
	  "SELECT printf('output of run %d', gid) FROM ax_output o"
	  " WHERE NOT EXISTS (SELECT 1 FROM ax_task_log r WHERE r.gid = o.gid) GROUP BY gid", false },
	{ "O.epoch", "the newest epoch of a scheduled task says what the task says",
	  "SELECT printf('task %d (%s): %s', t.id, t.task_name, CASE WHEN e.id IS NULL THEN 'no epoch' ELSE"
	  " printf('epoch %d differs', e.id) END) FROM ax_task t LEFT JOIN ax_schedule_epoch e"
	  " ON e.id = (SELECT max(id) FROM ax_schedule_epoch WHERE task_id = t.id) WHERE t.task_type = 1 AND (e.id IS NULL"
	  " OR e.enabled <> (t.status = 1 AND t.cron_expr <> '') OR e.cron_expr <> t.cron_expr OR e.dialect <> t.dialect"
	  " OR e.time_zone <> t.time_zone OR e.anchor_time <> t.anchor_time OR e.calendar <> t.calendar"
	  " OR e.calendar_version <> t.calendar_version OR e.calendar_mode <> t.calendar_mode"
	  " OR e.valid_from <> t.valid_from OR e.valid_until <> t.valid_until"
	  " OR (t.epoch_time > 0 AND e.from_time <> t.epoch_time))", false },
	{ "O.demand", "what is no scheduled task any more demands nothing",
	  "SELECT printf('task %d: epoch %d is enabled', e.task_id, e.id) FROM ax_schedule_epoch e WHERE e.enabled <> 0"
	  " AND e.id = (SELECT max(id) FROM ax_schedule_epoch WHERE task_id = e.task_id)"
	  " AND NOT EXISTS (SELECT 1 FROM ax_task t WHERE t.id = e.task_id AND t.task_type = 1)", false },
	{ "F.run", "every failure is that of a run that failed or timed out",
	  "SELECT printf('failure of run %d', gid) FROM ax_failure f WHERE NOT EXISTS (SELECT 1 FROM ax_task_log r"
	  " WHERE r.gid = f.gid AND r.status IN (11, 12) AND r.parent = 0 AND (r.fence > 0 OR " R_PARENT "))", false },
	{ "F.written", "every run that failed since failures are written has one",
	  "SELECT printf('run %d', gid) FROM ax_task_log r WHERE status IN (11, 12) AND parent = 0"
	  " AND (fence > 0 OR " R_PARENT ")"
	  " AND end_time > (SELECT min(time) FROM ax_failure)"
	  " AND NOT EXISTS (SELECT 1 FROM ax_failure f WHERE f.gid = r.gid)", false },
	{ "F.counted", "a failure group counts its failures, by version and by worker, each once",
	  "SELECT printf('failure group %d counts %d, %d by version, %d by worker; %d are folded', id, count, versions,"
	  " workers, folded) FROM (SELECT id, count,"
	  " (SELECT sum(count) FROM ax_failure_spread s WHERE s.failure_id = g.id AND s.worker = '') AS versions,"
	  " (SELECT sum(count) FROM ax_failure_spread s WHERE s.failure_id = g.id AND s.worker <> '') AS workers,"
	  " (SELECT count(*) FROM ax_failure f WHERE f.group_key = g.group_key AND f.fingerprint = g.fingerprint"
	  " AND f.folded = 1) AS folded FROM ax_failure_group g)"
	  " WHERE versions <> count OR workers > count OR folded > count"
	  " UNION ALL SELECT printf('the failure of run %d is folded into no group', gid) FROM ax_failure f WHERE folded = 1"
	  " AND NOT EXISTS (SELECT 1 FROM ax_failure_group g WHERE g.group_key = f.group_key"
	  " AND g.fingerprint = f.fingerprint)", false },
	{ "I8.raised", "every run that ended badly, and every miss, since alerts are raised is on one of its task",
	  "SELECT printf('run %d in state %d', gid, status) FROM ax_task_log r WHERE status IN (11, 12, 16) AND parent = 0"
	  " AND end_time > (SELECT min(open_time) FROM ax_alert WHERE rule IN (1, 2))"
	  " AND gid NOT IN (SELECT b.gid FROM ax_alert a JOIN ax_task_log b ON b.task_id = a.task_id AND b.shard = 0"
	  " AND a.rule = CASE b.status WHEN 16 THEN 2 ELSE 1 END AND a.open_time <= b.end_time + 3600000"
	  " AND a.seen_time >= b.end_time - 3600000 WHERE b.status IN (11, 12, 16))", false },
	{ "I8.outbox", "what is told is told of an alert, and what waits to be told has a channel",
	  "SELECT printf('delivery %d of alert %d to channel %d', id, alert_id, channel_id) FROM ax_alert_outbox d"
	  " WHERE (alert_id <> 0 AND NOT EXISTS (SELECT 1 FROM ax_alert a WHERE a.id = d.alert_id))"
	  " OR (state = 0 AND NOT EXISTS (SELECT 1 FROM ax_channel c WHERE c.id = d.channel_id))", false },
	{ "I8.order", "the end of an alert is told after its beginning was, or was given up",
	  "SELECT printf('delivery %d was sent before %d', d.id, b.id) FROM ax_alert_outbox d JOIN ax_alert_outbox b"
	  " ON b.alert_id = d.alert_id AND b.channel_id = d.channel_id AND b.id < d.id"
	  " WHERE d.kind = 2 AND d.state = 1 AND d.alert_id <> 0 AND b.state = 0", false },
	{ "I8.end", "who was told of the beginning of an alert that is over is told of its end",
	  "SELECT printf('alert %d, channel %d', a.id, b.channel_id) FROM ax_alert a JOIN ax_alert_outbox b"
	  " ON b.alert_id = a.id AND b.kind = 1 WHERE a.state = 1 AND a.muted = 0"
	  " AND EXISTS (SELECT 1 FROM ax_channel c WHERE c.id = b.channel_id) AND NOT EXISTS (SELECT 1 FROM ax_alert_outbox d"
	  " WHERE d.alert_id = a.id AND d.channel_id = b.channel_id AND d.kind = 2)", false },
	/* Settings that were changed since then are not held against the alert. A group whose contacts name channels is
	 * heard by those alone. */
	{ "I8.told", "every channel that hears an alert was told of its beginning",
	  "SELECT printf('alert %d, channel %d', a.id, hearer) FROM ax_alert a LEFT JOIN ax_group g"
	  " ON g.group_key = a.group_key CROSS JOIN (SELECT id AS hearer, rules, group_keys, name, update_time AS set_time"
	  " FROM ax_channel WHERE enabled = 1 LIMIT -1) WHERE set_time < a.open_time - 1000"
	  " AND (a.group_key = '' OR (g.update_time < a.open_time - 1000 AND (g.contacts = '' OR "
	  HAS_WORD("replace(replace(replace(g.contacts, ',', ' '), ';', ' '), char(10), ' ')", "name") ")))"
	  " AND (a.group_key = '' OR group_keys = '' OR " HAS_WORD("group_keys", "a.group_key") ") AND (rules = '' OR "
	  HAS_WORD("rules", "CASE a.rule WHEN 1 THEN 'failed' WHEN 2 THEN 'missed' WHEN 3 THEN 'late' WHEN 4 THEN 'late_finish'"
	  " WHEN 5 THEN 'stalled' WHEN 6 THEN 'absence' WHEN 7 THEN 'backlog' WHEN 8 THEN 'worker_lost'"
	  " WHEN 9 THEN 'failure_group' ELSE 'unschedulable' END") ")"
	  " AND NOT EXISTS (SELECT 1 FROM ax_alert_outbox d WHERE d.alert_id = a.id AND d.channel_id = hearer AND d.kind = 1)",
	  false },
	{ "I8.sent", "what was told was tried and says when; what was given up says why",
	  "SELECT printf('delivery %d in state %d: %d tries, sent at %d, `%s`', id, state, attempts, sent_time, error)"
	  " FROM ax_alert_outbox WHERE state NOT IN (0, 1, 2) OR (state = 1) <> (sent_time > 0)"
	  " OR (state = 1 AND attempts = 0) OR (state = 2 AND error = '')", false },
	/* A channel that tells slowly has a queue: it is stuck when it did nothing for ten minutes. A try sets next_time. */
	{ "I8.due", "a channel that has something to tell is telling",
	  "SELECT printf('delivery %d to channel %d is due since %d s', d.id, d.channel_id, (?1 - d.next_time) / 1000)"
	  " FROM ax_channel c CROSS JOIN ax_alert_outbox d ON d.channel_id = c.id WHERE c.enabled = 1 AND d.state = 0"
	  " AND d.next_time < ?1 - 600000 AND d.create_time < ?1 - 600000 AND c.update_time < ?1 - 600000"
	  " AND (SELECT max(start_time) FROM ax_server) < ?1 - 600000"
	  " AND NOT EXISTS (SELECT 1 FROM ax_alert_outbox b WHERE b.alert_id = d.alert_id AND b.channel_id = d.channel_id"
	  " AND b.state = 0 AND b.id < d.id)"
	  " AND NOT EXISTS (SELECT 1 FROM ax_alert_outbox o WHERE o.channel_id = c.id AND (o.sent_time > ?1 - 600000"
	  " OR (o.state = 0 AND o.attempts > 0 AND o.next_time > ?1 - 600000)))", true },
	{ "S1.parent", "every shard belongs to a parent of its fire, which says so too",
	  "SELECT printf('run %d: shard %d of %d of run %d', r.gid, r.shard, r.shard_total, r.parent) FROM ax_task_log r"
	  " WHERE (r.shard > 0 OR r.parent > 0) AND NOT EXISTS (SELECT 1 FROM ax_task_log p WHERE p.gid = r.parent"
	  " AND p.shard = 0 AND p.task_id = r.task_id AND p.kind = r.kind AND p.fire_key = r.fire_key"
	  " AND p.version = r.version AND p.spread = r.spread AND p.spread <> 0 AND p.shard_total = r.shard_total"
	  " AND r.shard BETWEEN 1 AND p.shard_total)", false },
	{ "S1.whole", "a parent that has begun has all its shards, another one has none",
	  "SELECT printf('run %d has %d shards of %d', gid, n, shard_total) FROM (SELECT gid, shard_total, failed_only,"
	  " start_time, (SELECT count(*) FROM ax_task_log s WHERE s.parent = r.gid AND s.parent > 0) AS n FROM ax_task_log r WHERE " R_PARENT ")"
	  " WHERE CASE WHEN start_time = 0 THEN n > 0 WHEN failed_only THEN n = 0 OR n > shard_total ELSE n <> shard_total END",
	  false },
	{ "S2.running", "a parent is RUNNING exactly as long as one of its shards has not ended",
	  "SELECT printf('run %d in state %d has %d live shards', gid, status, n) FROM (SELECT gid, status,"
	  " (SELECT count(*) FROM ax_task_log s WHERE s.parent = r.gid AND s.parent > 0 AND s.status < 10) AS n FROM ax_task_log r"
	  " WHERE " R_PARENT ") WHERE (n > 0) <> (status = 3)", false },
	{ "S3.outcome", "a parent ended as its shards say",
	  "SELECT printf('run %d ended in state %d; of %d shards %d succeeded, %d failed, %d timed out', gid, status, n, good,"
	  " bad, late) FROM (SELECT r.gid, r.status, r.cancel, count(*) AS n, sum(s.status = 10) AS good,"
	  " sum(s.status = 11) AS bad, sum(s.status = 12) AS late FROM ax_task_log r JOIN ax_task_log s ON s.parent = r.gid"
	  " WHERE r.status >= 10 GROUP BY r.gid) WHERE status <> CASE WHEN good = n THEN 10 WHEN cancel <> 0 THEN 13"
	  " WHEN bad > 0 THEN 11 WHEN late > 0 THEN 12 ELSE 13 END", false },
	{ "S4.held", "no worker ever had a parent, and what a parent waits for is never a claim",
	  "SELECT printf('run %d in state %d: fence %d, worker `%s`, hold %d', gid, status, fence, worker, hold)"
	  " FROM ax_task_log WHERE " PARENT
	  " AND (fence <> 0 OR worker <> '' OR status IN (2, 4) OR (status = 1 AND hold = 0))", false },
	{ "S5.own", "a shard of a broadcast was given to its own worker alone",
	  "SELECT printf('shard %d of run %d is for %s, attempt %d was given to %s', r.shard, r.parent, r.worker, a.attempt,"
	  " a.worker) FROM ax_task_log r JOIN ax_attempt a ON a.gid = r.gid WHERE r.spread = 2 AND r.shard > 0"
	  " AND a.worker <> r.worker", false },
	{ "L1.deadline", "every live run but a waiting one has a deadline",
	  "SELECT printf('run %d in state %d', gid, status) FROM ax_task_log"
	  " WHERE status IN (0, 2, 3, 4) AND deadline_time = 0", false },
	{ "L1.overdue", "no live run is past its deadline by more than 10 s",
	  "SELECT printf('run %d in state %d, %d s', gid, status, (?1 - deadline_time) / 1000) FROM ax_task_log"
	  " WHERE status < 10 AND deadline_time > 0 AND deadline_time < ?1 - 10000", true },
	{ "L1.fire", "no enabled task is past its next fire by more than 10 s",
	  "SELECT printf('task %d (%s), %d s', id, task_name, (?1 - next_trigger_time) / 1000) FROM ax_task"
	  " WHERE status = 1 AND next_trigger_time > 0 AND next_trigger_time < ?1 - 10000", true },
	{ "L1.stuck", "an enabled task has a next fire, a live run to wait for (@after), or is exhausted",
	  "SELECT printf('task %d (%s)', id, task_name) FROM ax_task t WHERE task_type = 1 AND status = 1"
	  " AND cron_expr <> '' AND next_trigger_time = 0 AND exhausted = 0 AND NOT (lower(ltrim(cron_expr)) LIKE '@after%'"
	  " AND EXISTS (SELECT 1 FROM ax_task_log r WHERE r.task_id = t.id AND r.status BETWEEN 1 AND 4 AND r.shard = 0))", true },
	{ "L1.held", "a run that is held has something that holds it",
	  "SELECT printf('run %d of task %d, hold %d', r.gid, r.task_id, r.hold) FROM ax_task_log r WHERE r.status = 1"
	  " AND ((r.hold = 1 AND NOT EXISTS (SELECT 1 FROM ax_task_log o WHERE o.task_id = r.task_id"
	  " AND o.status BETWEEN 1 AND 4 AND o.shard = 0 AND o.gid <> r.gid AND o.hold <> 1)) OR (r.hold = 2 AND EXISTS (SELECT 1 FROM ax_task t"
	  " WHERE t.id = r.task_id AND t.status = 1)))", true },
	/* Who held how much at any instant of the last minute is at most all who did at some instant of it: where even
	 * those leave room, there was room all the time. */
	{ "L2.idle", "no run that only wants room waits for a minute while a worker that may take it has some",
	  "WITH held AS MATERIALIZED (SELECT group_key, worker, count(*) AS n FROM (SELECT group_key, worker FROM ax_task_log"
	  " WHERE fence > 0 AND (end_time = 0 OR end_time > ?1 - 60000) UNION ALL SELECT r.group_key, a.worker"
	  " FROM ax_task_log r JOIN ax_attempt a ON a.gid = r.gid AND a.fence < r.fence"
	  " WHERE r.end_time = 0 OR r.end_time > ?1 - 60000) GROUP BY group_key, worker),"
	  " idle AS MATERIALIZED (SELECT g.group_key, p.worker, w.executors FROM ax_worker_group p"
	  " JOIN ax_group g ON g.group_key = p.group_key JOIN ax_worker w ON w.name = p.worker"
	  " LEFT JOIN held h ON h.group_key = p.group_key AND h.worker = p.worker"
	  " LEFT JOIN (SELECT group_key, sum(n) AS n FROM held GROUP BY group_key) s ON s.group_key = p.group_key"
	  " WHERE w.status = 0 AND w.disabled = 0 AND w.register_time < ?1 - 60000 AND w.seen_time > ?1 - 20000"
	  " AND g.paused = 0 AND g.update_time < ?1 - 60000 AND (SELECT max(start_time) FROM ax_server) < ?1 - 60000"
	  " AND g.dispatch_quota > ifnull(s.n, 0) AND p.pool_size > ifnull(h.n, 0))"
	  " SELECT printf('run %d of group %s is ready since %d s; worker %s has room', r.gid, r.group_key,"
	  " (?1 - r.ready_time) / 1000, min(i.worker)) FROM ax_task_log r JOIN idle i ON i.group_key = r.group_key"
	  " WHERE r.status = 1 AND r.hold = 0 AND NOT " R_PARENT " AND r.lane = 1 AND r.demand = '' AND r.ready_time > 0"
	  " AND r.ready_time < ?1 - 60000 AND " HAS_WORD("i.executors", "r.executor_key") " GROUP BY r.gid", true },
};
/* clang-format on */

const int ax_check_n_rules = AX_COUNT(ax_check_rules);
