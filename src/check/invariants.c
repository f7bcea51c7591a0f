#include "check/invariants.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"

/* A rule in SQL: each row that the query gives is a violation, told in its only column. ?1 is the instant until which
 * the store lived. States: 0 PENDING, 1 WAITING, 2 DISPATCHED, 3 RUNNING, 4 RETRYING, from 10 on ended. */
struct sql_rule {
	const char *id, *rule, *sql;
	bool needs_settled; /* says nothing about a store whose server had just started */
};

/* A parent of shards: in nobody's hands, whatever its state. */
#define PARENT "(spread <> 0 AND shard = 0)"
#define R_PARENT "(r.spread <> 0 AND r.shard = 0)"

/* clang-format off */
static const struct sql_rule sql_rules[] = {
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
	{ "I6.running", "ax_group.running is the number of its runs given out",
	  "SELECT printf('group %s says %d, there are %d', group_key, running, n) FROM (SELECT g.group_key, g.running,"
	  " (SELECT count(*) FROM ax_task_log r WHERE r.group_key = g.group_key AND r.status IN (2, 3)"
	  " AND NOT " R_PARENT ") AS n"
	  " FROM ax_group g) WHERE running <> n"
	  " UNION ALL SELECT printf('run %d is given out in group %s, which does not exist', gid, group_key)"
	  " FROM ax_task_log WHERE status IN (2, 3) AND group_key NOT IN (SELECT group_key FROM ax_group)", false },
	{ "I6.given", "ax_worker_group.given is the number of runs given to the worker",
	  "SELECT printf('worker %s in group %s says %d, there are %d', worker, group_key, given, n) FROM (SELECT w.worker,"
	  " w.group_key, w.given, (SELECT count(*) FROM ax_task_log r WHERE r.worker = w.worker AND"
	  " r.group_key = w.group_key AND r.status IN (2, 3)) AS n FROM ax_worker_group w) WHERE given <> n"
	  " UNION ALL SELECT printf('run %d is given to worker %s, which has no part in group %s', r.gid, r.worker,"
	  " r.group_key) FROM ax_task_log r WHERE r.status IN (2, 3) AND NOT " R_PARENT " AND NOT EXISTS (SELECT 1 FROM ax_worker_group w"
	  " WHERE w.worker = r.worker AND w.group_key = r.group_key)", false },
	{ "I6.long", "the counters of long runs are the numbers of those given out",
	  "SELECT printf('group %s says %d long runs, there are %d', group_key, running_long, n) FROM (SELECT g.group_key,"
	  " g.running_long, (SELECT count(*) FROM ax_task_log r WHERE r.group_key = g.group_key AND r.status IN (2, 3)"
	  " AND r.lane = 2 AND NOT " R_PARENT ") AS n FROM ax_group g) WHERE running_long <> n"
	  " UNION ALL SELECT printf('worker %s in group %s says %d long runs, there are %d', worker, group_key, given_long, n)"
	  " FROM (SELECT w.worker, w.group_key, w.given_long, (SELECT count(*) FROM ax_task_log r WHERE r.worker = w.worker"
	  " AND r.group_key = w.group_key AND r.status IN (2, 3) AND r.lane = 2) AS n FROM ax_worker_group w)"
	  " WHERE given_long <> n", false },
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
	{ "I14.early", "nothing is given out or begun before it is due",
	  "SELECT printf('run %d is due at %d, made at %d, given out at %d, begun at %d', gid, trigger_time, create_time,"
	  " dispatch_time, start_time) FROM ax_task_log WHERE (start_time > 0 AND start_time < trigger_time)"
	  " OR (dispatch_time > 0 AND dispatch_time < trigger_time - 50)"
	  " OR (kind = 1 AND create_time < trigger_time - 2000)", false },
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
	{ "A.raised", "every run that ended badly, and every miss, since alerts are raised is on one of its task",
	  "SELECT printf('run %d in state %d', gid, status) FROM ax_task_log r WHERE status IN (11, 12, 16) AND parent = 0"
	  " AND end_time > (SELECT min(open_time) FROM ax_alert WHERE rule IN (1, 2))"
	  " AND NOT EXISTS (SELECT 1 FROM ax_alert a WHERE a.task_id = r.task_id"
	  " AND a.rule = CASE r.status WHEN 16 THEN 2 ELSE 1 END AND a.open_time <= r.end_time + 3600000"
	  " AND a.seen_time >= r.end_time - 3600000)", false },
	{ "A.outbox", "what is told is told of an alert, and what waits to be told has a channel",
	  "SELECT printf('delivery %d of alert %d to channel %d', id, alert_id, channel_id) FROM ax_alert_outbox d"
	  " WHERE (alert_id <> 0 AND NOT EXISTS (SELECT 1 FROM ax_alert a WHERE a.id = d.alert_id))"
	  " OR (state = 0 AND NOT EXISTS (SELECT 1 FROM ax_channel c WHERE c.id = d.channel_id))", false },
	{ "A.order", "the end of an alert is told after its beginning was, or was given up",
	  "SELECT printf('delivery %d was sent before %d', d.id, b.id) FROM ax_alert_outbox d JOIN ax_alert_outbox b"
	  " ON b.alert_id = d.alert_id AND b.channel_id = d.channel_id AND b.id < d.id"
	  " WHERE d.kind = 2 AND d.state = 1 AND d.alert_id <> 0 AND b.state = 0", false },
	{ "A.end", "who was told of the beginning of an alert that is over is told of its end",
	  "SELECT printf('alert %d, channel %d', a.id, b.channel_id) FROM ax_alert a JOIN ax_alert_outbox b"
	  " ON b.alert_id = a.id AND b.kind = 1 WHERE a.state = 1 AND a.muted = 0"
	  " AND EXISTS (SELECT 1 FROM ax_channel c WHERE c.id = b.channel_id) AND NOT EXISTS (SELECT 1 FROM ax_alert_outbox d"
	  " WHERE d.alert_id = a.id AND d.channel_id = b.channel_id AND d.kind = 2)", false },
	{ "S1.parent", "every shard belongs to a parent of its fire, which says so too",
	  "SELECT printf('run %d: shard %d of %d of run %d', r.gid, r.shard, r.shard_total, r.parent) FROM ax_task_log r"
	  " WHERE (r.shard > 0 OR r.parent > 0) AND NOT EXISTS (SELECT 1 FROM ax_task_log p WHERE p.gid = r.parent"
	  " AND p.shard = 0 AND p.task_id = r.task_id AND p.kind = r.kind AND p.fire_key = r.fire_key"
	  " AND p.version = r.version AND p.spread = r.spread AND p.spread <> 0 AND p.shard_total = r.shard_total"
	  " AND r.shard BETWEEN 1 AND p.shard_total)", false },
	{ "S1.whole", "a parent that has begun has all its shards, another one has none",
	  "SELECT printf('run %d has %d shards of %d', gid, n, shard_total) FROM (SELECT gid, shard_total, failed_only,"
	  " start_time, (SELECT count(*) FROM ax_task_log s WHERE s.parent = r.gid) AS n FROM ax_task_log r WHERE " R_PARENT ")"
	  " WHERE CASE WHEN start_time = 0 THEN n > 0 WHEN failed_only THEN n = 0 OR n > shard_total ELSE n <> shard_total END",
	  false },
	{ "S2.running", "a parent is RUNNING exactly as long as one of its shards has not ended",
	  "SELECT printf('run %d in state %d has %d live shards', gid, status, n) FROM (SELECT gid, status,"
	  " (SELECT count(*) FROM ax_task_log s WHERE s.parent = r.gid AND s.status < 10) AS n FROM ax_task_log r"
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
	  " AND EXISTS (SELECT 1 FROM ax_task_log r WHERE r.task_id = t.id AND r.status < 10))", true },
	{ "L1.held", "a run that is held has something that holds it",
	  "SELECT printf('run %d of task %d, hold %d', r.gid, r.task_id, r.hold) FROM ax_task_log r WHERE r.status = 1"
	  " AND ((r.hold = 1 AND NOT EXISTS (SELECT 1 FROM ax_task_log o WHERE o.task_id = r.task_id AND o.status < 10"
	  " AND o.gid <> r.gid AND o.hold <> 1)) OR (r.hold = 2 AND EXISTS (SELECT 1 FROM ax_task t"
	  " WHERE t.id = r.task_id AND t.status = 1)))", true },
};
/* clang-format on */

void ax_check_finding_add(struct ax_check_finding *finding, const char *row)
{
	if (finding->violations < AX_CHECK_SHOWN_ROWS)
		finding->rows[finding->violations] = row;
	finding->violations++;
}

static enum ax_status judge_sql(const struct ax_check_store *store, const struct sql_rule *rule, struct ax_arena *arena,
	struct ax_check_finding *finding, struct ax_err *err)
{
	*finding = (struct ax_check_finding){
		.id = rule->id, .rule = rule->rule, .judged = store->settled || !rule->needs_settled
	};
	if (!finding->judged)
		return AX_OK;
	sqlite3_stmt *stmt;
	enum ax_status status = ax_check_prepare(store, rule->sql, &stmt, err);
	if (status != AX_OK)
		return status;
	if (sqlite3_bind_parameter_count(stmt) > 0)
		sqlite3_bind_int64(stmt, 1, store->time_ms);
	while (ax_check_step(stmt, &status, err))
		ax_check_finding_add(finding, ax_check_column_text(arena, stmt, 0));
	sqlite3_finalize(stmt);
	return status;
}

/* ---- I9: overlap ---- */

/* Attempts of scheduled fires, by task and start: what began and when it was over (0: it still runs). An attempt that
 * was lost or not accepted does not tell when its work ended, so it is left out. */
static const char attempts_sql[] =
	"SELECT r.task_id, x.gid, x.start_time, x.end_time,"
	" CASE v.overlap WHEN 3 THEN v.overlap_max ELSE 1 END FROM ("
	" SELECT gid, start_time, end_time FROM ax_task_log WHERE start_time > 0 AND (status = 3 OR status >= 10)"
	" UNION SELECT gid, start_time, end_time FROM ax_attempt WHERE start_time > 0 AND outcome NOT IN (6, 7)) x"
	" JOIN ax_task_log r ON r.gid = x.gid"
	" JOIN ax_task_version v ON v.task_id = r.task_id AND v.version = r.version"
	" WHERE r.kind = 1 AND r.made_up = 0 AND r.rerun_of = 0 AND r.shard = 0"
	" ORDER BY r.task_id, x.start_time, x.gid";

struct span {
	int64_t gid, end_time; /* INT64_MAX: it still runs */
	int64_t limit;         /* how many may be at work at once: 1, or overlap_max where the policy is `allow` (3) */
};

/* The attempts of one task that have begun, by end. */
struct open_spans {
	struct span *at;
	size_t n, room;
};

/* Drops what was over when `span` began, and counts the others that stand in its way: what an earlier, wider rule let
 * in does not. Then takes it in. */
static int64_t meet_others(struct open_spans *open, const struct span *span, int64_t start_time, int64_t *ret_other)
{
	size_t kept = 0;
	int64_t beside = 0;
	for (size_t i = 0; i < open->n; i++) {
		const struct span *other = &open->at[i];
		if (other->end_time <= start_time)
			continue;
		if (other->gid != span->gid && other->limit <= span->limit) {
			beside++;
			*ret_other = other->gid;
		}
		open->at[kept++] = *other;
	}
	if (kept == open->room) {
		open->room = 2 * open->room + 16;
		open->at = ax_realloc(open->at, open->room * sizeof(*open->at));
	}
	open->at[kept] = *span;
	open->n = kept + 1;
	return beside;
}

static enum ax_status judge_overlap(const struct ax_check_store *store, struct ax_arena *arena,
	struct ax_check_finding *finding, struct ax_err *err)
{
	*finding = (struct ax_check_finding){ .id = "I9.overlap",
		.rule = "no more runs of a task's schedule at once than its overlap allows",
		.judged = true };
	sqlite3_stmt *stmt;
	enum ax_status status = ax_check_prepare(store, attempts_sql, &stmt, err);
	if (status != AX_OK)
		return status;
	struct open_spans open = { 0 };
	int64_t task_id = -1;
	while (ax_check_step(stmt, &status, err)) {
		if (sqlite3_column_int64(stmt, 0) != task_id)
			open.n = 0;
		task_id = sqlite3_column_int64(stmt, 0);
		int64_t end_time = sqlite3_column_int64(stmt, 3), other = 0;
		struct span span = { .gid = sqlite3_column_int64(stmt, 1),
			.end_time = end_time > 0 ? end_time : INT64_MAX,
			.limit = sqlite3_column_int64(stmt, 4) };
		if (meet_others(&open, &span, sqlite3_column_int64(stmt, 2), &other) >= span.limit)
			ax_check_finding_add(finding,
				ax_sprintf(arena, "task %" PRId64 ": run %" PRId64 " began while run %" PRId64 " ran",
					task_id, span.gid, other));
	}
	free(open.at);
	sqlite3_finalize(stmt);
	return status;
}

/* ---- I2: the next fire ---- */

static const char next_sql[] =
	"SELECT t.id, t.next_trigger_time - e.jitter_ms, max(t.last_trigger_time, e.from_time), t.exhausted, e.enabled,"
	" e.cron_expr, e.dialect, e.time_zone, e.anchor_time, e.calendar <> '', e.calendar_mode, e.valid_from,"
	" e.valid_until, v.week, v.days FROM ax_task t JOIN ax_schedule_epoch e"
	" ON e.id = (SELECT max(id) FROM ax_schedule_epoch WHERE task_id = t.id) LEFT JOIN ax_calendar_version v"
	" ON e.calendar <> '' AND v.name = e.calendar AND v.version = e.calendar_version"
	" WHERE t.task_type = 1 AND t.status = 1 AND (t.next_trigger_time > 0 OR t.exhausted <> 0)"
	" AND lower(ltrim(t.cron_expr)) NOT LIKE '@after%' ORDER BY t.id";

enum { CLAIMED_AHEAD_MS = 5000, YEAR_DAYS = 366 };

/* A fire that the schedule does not demand is unexpected only when it has come, and one that is jumped over is missing
 * only when its time has passed: here both are seen before. */
static enum ax_status judge_next(const struct ax_check_store *store, struct ax_check_audit *audit,
	struct ax_arena *arena, struct ax_check_finding *finding, struct ax_err *err)
{
	*finding = (struct ax_check_finding){ .id = "I2.next",
		.rule = "the next fire of a task is the next one that its schedule demands",
		.judged = true };
	sqlite3_stmt *stmt;
	enum ax_status status = ax_check_prepare(store, next_sql, &stmt, err);
	if (status != AX_OK)
		return status;
	while (ax_check_step(stmt, &status, err)) {
		int64_t id = sqlite3_column_int64(stmt, 0), next_ms = sqlite3_column_int64(stmt, 1);
		int64_t known_ms = AX_MAX(store->time_ms + CLAIMED_AHEAD_MS, sqlite3_column_int64(stmt, 2));
		bool exhausted = sqlite3_column_int(stmt, 3) != 0;
		struct ax_check_epoch epoch = {
			.from_time = 0,
			.enabled = sqlite3_column_int(stmt, 4) != 0,
			.cron_expr = ax_check_column_text(arena, stmt, 5),
			.dialect = sqlite3_column_int(stmt, 6),
			.time_zone = ax_check_column_text(arena, stmt, 7),
			.anchor_time = sqlite3_column_int64(stmt, 8),
			.calendar = sqlite3_column_int(stmt, 9) != 0 ? ax_check_column_calendar(arena, stmt, 13) : NULL,
			.calendar_excludes = sqlite3_column_int(stmt, 10) == 1,
			.valid_from = sqlite3_column_int64(stmt, 11),
			.valid_until = sqlite3_column_int64(stmt, 12),
		};
		int64_t until_ms = exhausted ? known_ms + YEAR_DAYS * INT64_C(86400000) : next_ms;
		int64_t after_ms = exhausted ? known_ms : AX_MIN(known_ms, next_ms - 1);
		int64_t fire_ms = 0;
		struct ax_err why;
		enum ax_status found = ax_check_audit_first_fire(audit, &epoch, after_ms, until_ms, &fire_ms, &why);
		if (exhausted ? found == AX_NOT_FOUND : found == AX_OK && fire_ms == next_ms)
			continue;
		ax_check_finding_add(finding,
			found == AX_OK
				? ax_sprintf(arena, "task %" PRId64 " says %" PRId64 ", its schedule %" PRId64, id,
					  next_ms, fire_ms)
				: ax_sprintf(arena, "task %" PRId64 " says %" PRId64 ": %s", id, next_ms, why.msg));
	}
	sqlite3_finalize(stmt);
	return status;
}

enum ax_status ax_check_invariants(const struct ax_check_store *store, struct ax_check_audit *audit,
	struct ax_arena *arena, struct ax_check_findings *ret, struct ax_err *err)
{
	struct ax_check_findings findings = { .n = AX_COUNT(sql_rules) + 2 };
	findings.at = ax_alloc_array(arena, findings.n, sizeof(*findings.at));
	enum ax_status status = AX_OK;
	for (size_t i = 0; status == AX_OK && i < AX_COUNT(sql_rules); i++)
		status = judge_sql(store, &sql_rules[i], arena, &findings.at[i], err);
	if (status == AX_OK)
		status = judge_overlap(store, arena, &findings.at[findings.n - 2], err);
	if (status == AX_OK)
		status = judge_next(store, audit, arena, &findings.at[findings.n - 1], err);
	if (status != AX_OK)
		return status;
	for (size_t i = 0; i < findings.n; i++)
		findings.violations += findings.at[i].violations;
	*ret = findings;
	return AX_OK;
}
