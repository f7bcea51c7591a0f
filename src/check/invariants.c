#include "check/invariants.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "check/rules.h"

void ax_check_finding_add(struct ax_check_finding *finding, const char *row)
{
	if (finding->violations < AX_CHECK_SHOWN_ROWS)
		finding->rows[finding->violations] = row;
	finding->violations++;
}

static enum ax_status judge_sql(const struct ax_check_store *store, const struct ax_check_rule *rule,
	struct ax_arena *arena, struct ax_check_finding *finding, struct ax_err *err)
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
	while (ax_check_step(stmt, &status, err)) {
		bool shown = finding->violations < AX_CHECK_SHOWN_ROWS;
		ax_check_finding_add(finding, shown ? ax_check_column_text(arena, stmt, 0) : NULL);
	}
	sqlite3_finalize(stmt);
	return status;
}

/* ---- I9: overlap ---- */

/* Attempts of scheduled fires, by task and start: what began, when it was over (0: it still runs), and how many may be
 * at once. An attempt that was lost or not accepted does not tell when its work ended, so it is left out. For a parent
 * stands what its shards did: its own times are those of transactions, which take them before they wait for others. The
 * rule is the widest from the run's version on until it began: an edit lets go of what waits. */
static const char attempts_sql[] =
	"SELECT r.task_id, x.gid, x.start_time, x.end_time,"
	" (SELECT max(CASE v.overlap WHEN 3 THEN v.overlap_max ELSE 1 END) FROM ax_task_version v"
	"  WHERE v.task_id = r.task_id AND v.version >= r.version AND (v.version = r.version OR v.time <= "
	"x.start_time))"
	" FROM ("
	" SELECT gid, start_time, end_time FROM ax_task_log WHERE start_time > 0 AND (status = 3 OR status >= 10)"
	" AND spread = 0"
	" UNION SELECT parent, min(start_time), CASE min(end_time) WHEN 0 THEN 0 ELSE max(end_time) END"
	" FROM ax_task_log WHERE parent <> 0 AND start_time > 0 AND (status = 3 OR status >= 10) GROUP BY parent"
	" UNION SELECT gid, start_time, end_time FROM ax_attempt WHERE start_time > 0 AND outcome NOT IN (6, 7)) x"
	" JOIN ax_task_log r ON r.gid = x.gid"
	" JOIN ax_task_version own ON own.task_id = r.task_id AND own.version = r.version"
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
	struct ax_check_findings findings = { .n = (size_t)ax_check_n_rules + 2 };
	findings.at = ax_alloc_array(arena, findings.n, sizeof(*findings.at));
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < ax_check_n_rules; i++)
		status = judge_sql(store, &ax_check_rules[i], arena, &findings.at[i], err);
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
