#include <inttypes.h>
#include <string.h>

#include "app/chain.h"
#include "app/failures.h"
#include "app/run_def.h"
#include "app/why_case.h"
#include "core/limits.h"

/* Why a run: where it comes from, its attempts, its state, and whether it is the only one of its fire. */

enum {
	ATTEMPTS_SHOWN = 20, /* the newest; one screen */
	RERUNS_SHOWN = 5,
	RERUNS_SCAN = 5000,
};

/* --- where it comes from ------------------------------------------------------------------------------------------ */

/* Did the rule that was in force really demand this fire? */
static void from_schedule(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	int64_t stands_for = ax_run_fire(run), fire;
	const struct ax_epoch *epoch = ax_why_epoch(c, stands_for);
	struct ax_rule rule;
	if (run->backfill_id != 0) { /* by the rule of its making, which need not be that of the fire's time */
		ax_why_say(c, run->create_time, AX_WHY_OK, "backfill", AX_SAY_BACKFILL);
		ax_why_with_number(c, "backfill", run->backfill_id);
		ax_why_with_time(c, "fire", stands_for);
		ax_why_with_time(c, "at", run->create_time);
		return;
	}
	if (epoch == NULL || !ax_why_rule(c, epoch, &rule)) {
		ax_why_say(c, stands_for, AX_WHY_INFO, "fire", AX_SAY_FIRE_UNKNOWN);
		ax_why_with_time(c, "fire", stands_for);
		return;
	}
	bool demanded = epoch->enabled &&
		(rule.schedule.kind == AX_SCHEDULE_AFTER ||
			(ax_rule_next(&rule, stands_for - 1, &fire) && fire == stands_for));
	ax_why_say(c, stands_for, demanded ? AX_WHY_OK : AX_WHY_FAIL, demanded ? "fire" : "fire_undemanded",
		demanded ? AX_SAY_FIRE : AX_SAY_FIRE_UNDEMANDED);
	ax_why_with_time(c, "fire", stands_for);
	ax_why_with_time(c, "since", epoch->from_time);
	ax_why_with(c, "schedule", epoch->cron_expr);
	ax_why_with(c, "zone", epoch->time_zone);
	ax_why_with_number(c, "epoch", epoch->id);
	if (run->trigger_time != stands_for) {
		ax_why_say(c, run->trigger_time, AX_WHY_INFO, "jitter", AX_SAY_JITTER);
		ax_why_with_number(c, "late_ms", run->trigger_time - stands_for);
		ax_why_with_time(c, "at", run->trigger_time);
	}
	if (run->made_up)
		ax_why_say(c, run->create_time, AX_WHY_INFO, "made_up", AX_SAY_MADE_UP);
}

static void from_person(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	bool keyed = strcmp(run->fire_key, AX_SAY(c, "%" PRId64, run->gid)) != 0;
	if (run->rerun_of != 0) {
		ax_why_say(c, run->create_time, AX_WHY_OK, "rerun", AX_SAY_RERUN);
		ax_why_with_number(c, "run", run->rerun_of);
	} else if (run->kind == AX_KIND_DELAY) {
		ax_why_say(c, run->create_time, AX_WHY_OK, "delay", AX_SAY_DELAY);
		ax_why_with_time(c, "asked", run->create_time);
		ax_why_with_time(c, "due", run->trigger_time);
	} else {
		ax_why_say(c, run->create_time, AX_WHY_OK, "manual", AX_SAY_MANUAL);
		ax_why_with_time(c, "asked", run->create_time);
	}
	if (keyed)
		ax_why_with(c, "key", run->fire_key);
}

static void with_covers(struct ax_why_case *c)
{
	ax_why_with_number(c, "n", c->run->covers_count);
	ax_why_with_time(c, "from", c->run->covers_from);
	ax_why_with_time(c, "to", c->run->covers_to);
}

static void origin(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	switch (run->kind) {
	case AX_KIND_SCHEDULE:
		from_schedule(c);
		break;
	case AX_KIND_MISS:
		ax_why_say(c, run->trigger_time, AX_WHY_FAIL, "missed_fires", AX_SAY_MISSED_FIRES);
		with_covers(c);
		break;
	case AX_KIND_DELAY:
	case AX_KIND_MANUAL:
		from_person(c);
		break;
	case AX_KIND_EVENT:
		ax_why_event(c);
		break;
	case AX_KIND_CHAIN:
		ax_why_chain(c);
		break;
	}
}

static void covers(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	if (run->covers_count == 0 || run->kind == AX_KIND_MISS)
		return;
	bool waited = run->kind == AX_KIND_SCHEDULE && run->covers_from > ax_run_fire(run);
	ax_why_say(c, run->covers_to, AX_WHY_INFO, "covers", waited ? AX_SAY_COVERS_WAITED : AX_SAY_COVERS_LATE);
	with_covers(c);
}

/* Made when it was due? If not: did a server start in between? */
static void made(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	struct ax_servers servers;
	int64_t late = run->create_time - run->trigger_time, started = 0;
	if (run->made_up || (run->kind != AX_KIND_SCHEDULE && run->kind != AX_KIND_MISS))
		return;
	if (late <= AX_LATE_MS) {
		ax_why_say(c, run->create_time, AX_WHY_OK, "on_time", AX_SAY_ON_TIME);
		ax_why_with_number(c, "late_ms", AX_MAX(late, 0));
		return;
	}
	c->status = c->tx->ops->servers(c->tx, &servers, c->err);
	for (int i = 0; c->status == AX_OK && i < servers.n; i++)
		if (servers.at[i].start_time > run->trigger_time && servers.at[i].start_time <= run->create_time)
			started = servers.at[i].start_time;
	ax_why_say(c, run->create_time, AX_WHY_INFO, "late", AX_SAY_LATE);
	ax_why_with_number(c, "late_ms", late);
	ax_why_with_time(c, "at", run->create_time);
	if (started != 0)
		ax_why_with_time(c, "started", started);
}

/* Which part it is of which run. */
static void part(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	if (run->parent == 0)
		return;
	ax_why_say(c, run->create_time, AX_WHY_OK, "shard", AX_SAY_SHARD);
	ax_why_with_number(c, "shard", run->shard);
	ax_why_with_number(c, "total", run->shard_total);
	ax_why_with_number(c, "run", run->parent);
	if (ax_run_is_pinned(run))
		ax_why_with(c, "worker", run->worker);
}

/* A run that takes part in a trial executes another definition than the task's. */
static void trial(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	struct ax_canary canary;
	if (!c->has_task || run->version == c->task.version)
		return;
	enum ax_status status = c->tx->ops->canary_get(c->tx, run->task_id, &canary, c->err);
	c->status = status == AX_NOT_FOUND ? AX_OK : status;
	if (status != AX_OK || canary.version != run->version)
		return;
	bool goes_on = canary.state == AX_CANARY_RUNNING;
	ax_why_say(c, canary.start_time, AX_WHY_INFO, "trial", goes_on ? AX_SAY_TRIAL : AX_SAY_TRIAL_OVER);
	ax_why_with_number(c, "version", run->version);
	ax_why_with_time(c, "since", canary.start_time);
	ax_why_with(c, "executor", run->executor_key);
	if (goes_on)
		return;
	ax_why_with_time(c, "until", canary.end_time);
	ax_why_with(c, "reason", ax_why_quote(c, canary.reason));
}

/* --- attempts ----------------------------------------------------------------------------------------------------- */

struct tally {
	const struct ax_task_def *def; /* NULL: not known any more */
	int64_t retries, losses, bounces;
};

/* Neither its fault nor its end: it is given out again. */
static bool is_loss(const struct ax_attempt *a)
{
	return a->outcome == AX_OUTCOME_LOST || a->outcome == AX_OUTCOME_CANCELLED;
}

static void count(struct tally *tally, const struct ax_attempt *a)
{
	bool bounced = a->outcome == AX_OUTCOME_BOUNCED;
	tally->bounces = bounced ? tally->bounces + 1 : 0;
	tally->losses += is_loss(a);
	tally->retries += !bounced && !is_loss(a);
}

static void with_claim(struct ax_why_case *c, int64_t number, int64_t fence, const char *worker, int64_t dispatch_time)
{
	ax_why_with_number(c, "attempt", number);
	ax_why_with_number(c, "fence", fence);
	ax_why_with(c, "worker", worker);
	ax_why_with_time(c, "at", dispatch_time);
}

/* What each outcome is called, and said of an attempt that was not the last. */
static const struct {
	const char *code;
	enum ax_sentence sentence;
	const char *word;
} outcomes[] = {
	[0] = { "attempt", AX_SAY_ATTEMPT_ENDED, "" },
	[AX_OUTCOME_SUCCESS] = { "attempt_success", AX_SAY_ATTEMPT_ENDED, "success" },
	[AX_OUTCOME_FAILED] = { "attempt_failed", AX_SAY_ATTEMPT_FAILED, "failed" },
	[AX_OUTCOME_TIMEOUT] = { "attempt_timeout", AX_SAY_ATTEMPT_TIMEOUT, "timeout" },
	[AX_OUTCOME_CANCELLED] = { "attempt_stopped", AX_SAY_ATTEMPT_STOPPED, "cancelled" },
	[AX_OUTCOME_REFUSED] = { "attempt_refused", AX_SAY_ATTEMPT_ENDED, "refused" },
	[AX_OUTCOME_LOST] = { "attempt_lost", AX_SAY_ATTEMPT_LOST, "lost" },
	[AX_OUTCOME_BOUNCED] = { "attempt_bounced", AX_SAY_ATTEMPT_BOUNCED, "bounced" },
	[AX_OUTCOME_LIMIT] = { "attempt_hard_limit", AX_SAY_ATTEMPT_HARD_LIMIT, "hard_limit" },
};

static void late_result(struct ax_why_case *c, const struct ax_attempt *a)
{
	bool counted =
		c->run->status == AX_RUN_SUCCESS && c->run->fence == a->fence && a->late_outcome == AX_OUTCOME_SUCCESS;
	if (a->late_time == 0)
		return;
	ax_why_say(c, a->late_time, AX_WHY_INFO, counted ? "late_success" : "late_result",
		counted ? AX_SAY_LATE_SUCCESS : AX_SAY_LATE_RESULT);
	ax_why_with(c, "worker", a->worker);
	ax_why_with_number(c, "fence", a->fence);
	ax_why_with(c, "outcome", outcomes[a->late_outcome].word);
	ax_why_with_number(c, "code", a->late_code);
	ax_why_with(c, "message", ax_why_quote(c, a->late_message));
}

/* What was decided after an attempt that was not the last. `next` is when the next one was or is due; 0 = not known. */
static void with_decision(struct ax_why_case *c, const struct ax_attempt *a, struct tally *tally, int64_t next)
{
	if (a->outcome == AX_OUTCOME_BOUNCED) {
		ax_why_with_number(c, "used", tally->bounces);
		ax_why_with_number(c, "limit", AX_BOUNCE_LIMIT);
		return;
	}
	bool lost = is_loss(a);
	ax_why_with_number(c, "used", lost ? tally->losses : tally->retries);
	if (tally->def != NULL)
		ax_why_with_number(c, "limit", lost ? tally->def->lost_limit : tally->def->retry_count);
	if (next > a->end_time)
		ax_why_with_number(c, "wait_ms", next - a->end_time);
}

static void attempt(struct ax_why_case *c, const struct ax_attempt *a, struct tally *tally, int64_t next)
{
	ax_why_say(c, a->end_time, a->outcome == AX_OUTCOME_BOUNCED ? AX_WHY_INFO : AX_WHY_FAIL,
		outcomes[a->outcome].code, outcomes[a->outcome].sentence);
	with_claim(c, a->attempt, a->fence, a->worker, a->dispatch_time);
	ax_why_with_number(c, "took_ms", AX_MAX(a->end_time - a->dispatch_time, 0));
	ax_why_with_number(c, "code", a->code);
	ax_why_with(c, "message", ax_why_quote(c, a->message));
	with_decision(c, a, tally, next);
	late_result(c, a);
}

/* The newest claim, which has no row among the attempts unless it is over and others follow. */
static void newest_claim(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	ax_why_say(c, run->dispatch_time, AX_WHY_OK, "given_out", AX_SAY_GIVEN_OUT);
	with_claim(c, ax_run_attempt(run), run->fence, run->worker, run->dispatch_time);
	if (run->start_time != 0) {
		ax_why_say(c, run->start_time, AX_WHY_OK, "started", AX_SAY_STARTED);
		ax_why_with(c, "worker", run->worker);
		ax_why_with_number(c, "after_ms", AX_MAX(run->start_time - run->dispatch_time, 0));
	}
}

/* A row for the attempt with which the run ended is there only for what came late. */
static bool is_last(const struct ax_run *run, const struct ax_attempt *a)
{
	return ax_run_is_terminal(run->status) && a->fence == run->fence && a->end_time == run->end_time;
}

static void attempts(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	struct ax_attempts rows;
	struct ax_task_def def;
	struct tally tally = { 0 };
	const struct ax_attempt *last = NULL;
	enum ax_status status = ax_run_def(c->tx, run, &def, c->err);
	if (status == AX_OK)
		tally.def = &def;
	if (status == AX_OK || status == AX_NOT_FOUND)
		status = c->tx->ops->attempts(c->tx, run->gid, &rows, c->err);
	c->status = status;
	if (status != AX_OK)
		return;
	if (rows.n > ATTEMPTS_SHOWN) {
		ax_why_say(c, 0, AX_WHY_INFO, "attempts", AX_SAY_ATTEMPTS);
		ax_why_with_number(c, "n", rows.n);
		ax_why_with_number(c, "shown", ATTEMPTS_SHOWN);
	}
	for (int i = 0; i < rows.n; i++) {
		const struct ax_attempt *a = &rows.at[i];
		int64_t next = i + 1 < rows.n            ? a[1].dispatch_time
			: run->fence > a->fence          ? run->dispatch_time
			: run->status == AX_RUN_RETRYING ? run->deadline_time
							 : 0;
		last = a;
		if (is_last(run, a))
			break;
		count(&tally, a);
		if (rows.n - i <= ATTEMPTS_SHOWN)
			attempt(c, a, &tally, next);
	}
	bool over = last != NULL && last->fence == run->fence;
	if (run->fence > 0 && (!over || is_last(run, last)))
		newest_claim(c);
	if (over && is_last(run, last))
		late_result(c, last);
}

/* --- its state ---------------------------------------------------------------------------------------------------- */

/* Ends, by state and reason; the first that fits. */
static const struct {
	enum ax_run_state state;
	const char *reason; /* NULL = any */
	const char *code;
	enum ax_why_mark mark;
	enum ax_sentence sentence;
} ends[] = {
	{ AX_RUN_SUCCESS, NULL, "success", AX_WHY_OK, AX_SAY_END_SUCCESS },
	{ AX_RUN_FAILED, "refused", "refused", AX_WHY_FAIL, AX_SAY_END_REFUSED },
	{ AX_RUN_FAILED, "not_retried", "not_retried", AX_WHY_FAIL, AX_SAY_END_NOT_RETRIED },
	{ AX_RUN_FAILED, "shards", "shards_failed", AX_WHY_FAIL, AX_SAY_END_SHARDS_FAILED },
	{ AX_RUN_FAILED, NULL, "failed", AX_WHY_FAIL, AX_SAY_END_FAILED },
	{ AX_RUN_TIMEOUT, "lost", "lost", AX_WHY_FAIL, AX_SAY_END_LOST },
	{ AX_RUN_TIMEOUT, "hard_limit", "hard_limit", AX_WHY_FAIL, AX_SAY_END_HARD_LIMIT },
	{ AX_RUN_TIMEOUT, "timeout", "timeout", AX_WHY_FAIL, AX_SAY_END_TIMEOUT },
	{ AX_RUN_TIMEOUT, "shards", "shards_failed", AX_WHY_FAIL, AX_SAY_END_SHARDS_LATE },
	{ AX_RUN_TIMEOUT, NULL, "lost", AX_WHY_FAIL, AX_SAY_END_WORKER_STOPPED },
	{ AX_RUN_CANCELLED, "replaced", "replaced", AX_WHY_FAIL, AX_SAY_END_REPLACED },
	{ AX_RUN_CANCELLED, "shards", "shards_failed", AX_WHY_FAIL, AX_SAY_END_SHARDS_CANCELLED },
	{ AX_RUN_CANCELLED, "nothing_to_rerun", "nothing_to_rerun", AX_WHY_FAIL, AX_SAY_END_NOTHING_TO_RERUN },
	{ AX_RUN_CANCELLED, "task_deleted", "cancelled", AX_WHY_FAIL, AX_SAY_END_TASK_DELETED },
	{ AX_RUN_CANCELLED, "backfill_cancelled", "cancelled", AX_WHY_FAIL, AX_SAY_END_BACKFILL_CANCELLED },
	{ AX_RUN_CANCELLED, NULL, "cancelled", AX_WHY_FAIL, AX_SAY_END_CANCELLED },
	{ AX_RUN_BLOCKED, "join_deadline", "join_deadline", AX_WHY_FAIL, AX_SAY_END_JOIN_DEADLINE },
	{ AX_RUN_BLOCKED, "no_upstreams", "no_upstreams", AX_WHY_FAIL, AX_SAY_END_NO_UPSTREAMS },
	{ AX_RUN_BLOCKED, NULL, "blocked", AX_WHY_FAIL, AX_SAY_END_BLOCKED },
	{ AX_RUN_SKIPPED, "overlap", "skipped_overlap", AX_WHY_FAIL, AX_SAY_END_SKIPPED_OVERLAP },
	{ AX_RUN_SKIPPED, NULL, "skipped_misfire", AX_WHY_FAIL, AX_SAY_END_SKIPPED_MISFIRE },
	{ AX_RUN_MISSED, "missed", "missed", AX_WHY_FAIL, AX_SAY_END_MISSED },
	{ AX_RUN_MISSED, "dismissed", "missed_dismissed", AX_WHY_INFO, AX_SAY_END_DISMISSED },
	{ AX_RUN_MISSED, NULL, "missed_run", AX_WHY_INFO, AX_SAY_END_MISSED_RUN },
};

static void ended(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	size_t i = 0;
	while (i + 1 < AX_COUNT(ends) &&
		(ends[i].state != run->status || (ends[i].reason != NULL && strcmp(ends[i].reason, run->reason) != 0)))
		i++;
	if (run->status == AX_RUN_BLOCKED)
		ax_why_blocked(c);
	ax_why_say(c, run->end_time, ends[i].mark, ends[i].code, ends[i].sentence);
	ax_why_with(c, "state", ax_run_state_name(run->status));
	ax_why_with_time(c, "at", run->end_time);
	if (run->fence != 0) { /* else it never got as far */
		ax_why_with_number(c, "retries", run->retry_times);
		ax_why_with_number(c, "losses", run->lost_times);
	}
	ax_why_with(c, "message", ax_why_quote(c, run->result_msg));
	ax_why_answer(c);
}

/* Others that failed the same way. */
static void failure_group(struct ax_why_case *c)
{
	struct ax_failure_group group;
	enum ax_status status = ax_failure_group_of_run(c->tx, c->run, &group, c->err);
	if (status == AX_NOT_FOUND)
		return;
	c->status = status;
	if (status != AX_OK)
		return;
	ax_why_say(c, group.last_seen_time, AX_WHY_INFO, "failure_group", AX_SAY_FAILURE_GROUP);
	ax_why_with_number(c, "n", group.count);
	ax_why_with_number(c, "id", group.id);
	ax_why_with(c, "failure_state", ax_failure_state_name(ax_failure_state_at(&group, c->now)));
	ax_why_with_time(c, "at", group.first_seen_time);
	ax_why_with(c, "title", ax_why_quote(c, group.title));
}

static void pending(struct ax_why_case *c)
{
	if (ax_run_is_joining(c->run)) {
		ax_why_joining(c);
		return;
	}
	ax_why_say(c, c->run->trigger_time, AX_WHY_INFO, "not_due_yet", AX_SAY_NOT_DUE_YET);
	ax_why_with_time(c, "at", c->run->trigger_time);
	ax_why_with_number(c, "in_ms", AX_MAX(c->run->trigger_time - c->now, 0));
	ax_why_answer(c);
}

static void dispatched(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	ax_why_say(c, run->dispatch_time, AX_WHY_OK, run->accepted ? "accepted" : "not_accepted_yet",
		run->accepted ? AX_SAY_ACCEPTED : AX_SAY_NOT_ACCEPTED_YET);
	ax_why_with(c, "worker", run->worker);
	ax_why_with_time(c, "at", run->deadline_time);
	ax_why_answer(c);
}

/* "5 SUCCESS, 1 RUNNING" */
static const char *list_states(const struct ax_why_case *c, const int64_t by_state[32])
{
	const char *text = "";
	for (int state = 31; state >= 0; state--)
		if (by_state[state] > 0)
			text = AX_SAY(c, "%s%s%" PRId64 " %s", text, text[0] != '\0' ? ", " : "", by_state[state],
				ax_run_state_name((enum ax_run_state)state));
	return text;
}

/* What its first waiting shard waits for, told as of that one. It is the answer when nothing else goes on. */
static void waiting_shard(struct ax_why_case *c, bool all_wait)
{
	const struct ax_run *parent = c->run;
	struct ax_run shard;
	int answer = c->why->answer;
	enum ax_status status = ax_shard_first_waiting(c->tx, parent, &shard, c->err);
	if (status != AX_OK) {
		c->status = status == AX_NOT_FOUND ? AX_OK : status;
		return;
	}
	ax_why_say(c, 0, AX_WHY_INFO, "shard_waits", AX_SAY_SHARD_WAITS);
	ax_why_with_number(c, "shard", shard.shard);
	ax_why_with_number(c, "run", shard.gid);
	c->run = &shard;
	ax_why_waiting(c);
	c->run = parent;
	if (!all_wait)
		c->why->answer = answer;
}

static void running_parent(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	int64_t by_state[32];
	c->status = c->tx->ops->shard_counts(c->tx, run->gid, by_state, c->err);
	if (c->status != AX_OK)
		return;
	ax_why_say(c, run->start_time, AX_WHY_OK, "shards", AX_SAY_SHARDS);
	ax_why_with_number(c, "for_ms", AX_MAX(c->now - run->start_time, 0));
	ax_why_with(c, "states", list_states(c, by_state));
	ax_why_answer(c);
	if (by_state[AX_RUN_WAITING] > 0)
		waiting_shard(c, ax_shards_all_wait(by_state));
}

static void running(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	if (ax_run_is_parent(run)) {
		running_parent(c);
		return;
	}
	bool limited = run->limit_time != 0;
	ax_why_say(c, run->start_time, AX_WHY_OK, "running", limited ? AX_SAY_RUNNING_LIMITED : AX_SAY_RUNNING);
	ax_why_with(c, "worker", run->worker);
	ax_why_with_number(c, "for_ms", AX_MAX(c->now - run->start_time, 0));
	ax_why_with_number(c, "beat_ms", AX_MAX(c->now - run->heartbeat_time, 0));
	if (limited)
		ax_why_with_time(c, "limit", run->limit_time);
	ax_why_answer(c);
}

static void retrying(struct ax_why_case *c)
{
	ax_why_say(c, c->run->deadline_time, AX_WHY_INFO, "retrying", AX_SAY_RETRYING);
	ax_why_with_time(c, "at", c->run->deadline_time);
	ax_why_with_number(c, "in_ms", AX_MAX(c->run->deadline_time - c->now, 0));
	ax_why_answer(c);
}

void ax_why_state(struct ax_why_case *c)
{
	static void (*const live[])(struct ax_why_case *) = {
		[AX_RUN_PENDING] = pending,
		[AX_RUN_WAITING] = ax_why_waiting,
		[AX_RUN_DISPATCHED] = dispatched,
		[AX_RUN_RUNNING] = running,
		[AX_RUN_RETRYING] = retrying,
	};
	static const enum ax_sentence cancels[] = {
		[AX_CANCEL_ASKED] = AX_SAY_CANCELLING_NOT_TOLD,
		[AX_CANCEL_STOPPING] = AX_SAY_CANCELLING_TOLD,
		[AX_CANCEL_STOPPED] = AX_SAY_CANCELLING_STOPPED,
	};
	const struct ax_run *run = c->run;
	if (ax_run_is_terminal(run->status)) {
		ended(c);
		return;
	}
	live[run->status](c);
	if (run->cancel == AX_CANCEL_NONE)
		return;
	ax_why_say(c, 0, AX_WHY_FAIL, "cancelling", cancels[run->cancel]);
	ax_why_with(c, "reason", run->reason);
	ax_why_answer(c);
}

/* --- what the task promised, and what the worker tells of it ------------------------------------------------------ */

static void promises(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	bool told = run->progress_percent >= 0;
	if (run->status == AX_RUN_RUNNING && (told || run->stalled)) {
		ax_why_say(c, run->progress_time, run->stalled ? AX_WHY_FAIL : AX_WHY_OK,
			run->stalled ? "stalled" : "progress",
			!told                  ? AX_SAY_STALLED_SILENT
				: run->stalled ? AX_SAY_STALLED
					       : AX_SAY_PROGRESS);
		ax_why_with_number(c, "for_ms", AX_MAX(c->now - run->progress_time, 0));
		if (told) {
			ax_why_with_number(c, "percent", run->progress_percent);
			ax_why_with(c, "message", ax_why_quote(c, run->progress_msg));
		}
	}
	if (run->overran) {
		ax_why_say(c, 0, AX_WHY_FAIL, "overran",
			run->must_end_time != 0 ? AX_SAY_OVERRAN_OR_LATE : AX_SAY_OVERRAN);
		if (run->must_end_time != 0)
			ax_why_with_time(c, "until", run->must_end_time);
	}
}

/* --- the only one of its fire? ------------------------------------------------------------------------------------ */

/* What counts a fire among others and the run that a person made of it belong together; nothing else may share one. */
static bool shares_rightly(const struct ax_run *a, const struct ax_run *b)
{
	return a->made_up || b->made_up;
}

static void one_fire(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	struct ax_runs others;
	bool alone = true;
	if (run->parent != 0) {
		ax_why_say(c, 0, AX_WHY_OK, "one_fire", AX_SAY_ONE_FIRE_SHARD);
		return;
	}
	if (run->kind != AX_KIND_SCHEDULE && run->kind != AX_KIND_MISS) {
		ax_why_say(c, 0, AX_WHY_OK, "one_request", AX_SAY_ONE_REQUEST);
		return;
	}
	ax_why_standing_for(c, ax_run_fire(run), &others);
	for (int i = 0; c->status == AX_OK && i < others.n; i++) {
		const struct ax_run *other = &others.at[i];
		if (other->gid == run->gid)
			continue;
		bool right = shares_rightly(run, other);
		alone = alone && right;
		ax_why_say(c, other->create_time, right ? AX_WHY_INFO : AX_WHY_FAIL, right ? "made_up_of" : "duplicate",
			right ? AX_SAY_MADE_UP_OF : AX_SAY_DUPLICATE);
		ax_why_with_number(c, "run", other->gid);
		ax_why_with(c, "state", ax_run_state_name(other->status));
		ax_why_with_time(c, "fire", ax_run_fire(run));
		if (!right)
			ax_why_answer(c);
	}
	if (alone)
		ax_why_say(c, 0, AX_WHY_OK, "one_fire", AX_SAY_ONE_FIRE);
}

static void reruns(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	const struct ax_run_filter filter = {
		.task_id = run->task_id,
		.kind = AX_KIND_MANUAL,
		.from_time = run->create_time,
		.limit = INT32_MAX,
		.scan_limit = RERUNS_SCAN,
	};
	struct ax_runs later;
	int64_t rest;
	int shown = 0;
	if (!ax_run_is_terminal(run->status)) /* only what has ended can be rerun */
		return;
	c->status = c->tx->ops->runs_page(c->tx, &filter, &later, &rest, c->err);
	for (int i = 0; c->status == AX_OK && i < later.n && shown < RERUNS_SHOWN; i++) {
		if (later.at[i].rerun_of != run->gid)
			continue;
		shown++;
		ax_why_say(c, later.at[i].create_time, AX_WHY_INFO, "rerun_by", AX_SAY_RERUN_BY);
		ax_why_with_number(c, "run", later.at[i].gid);
		ax_why_with(c, "state", ax_run_state_name(later.at[i].status));
	}
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

enum ax_status ax_why_run(
	struct ax_tx *tx, struct ax_zones *zones, int64_t gid, int64_t now, struct ax_why *ret, struct ax_err *err)
{
	static void (*const chain[])(struct ax_why_case *) = { origin, part, trial, covers, made, attempts,
		ax_why_state, promises, failure_group, one_fire, reruns };
	struct ax_run run;
	struct ax_why why = { 0 };
	struct ax_why_case c = { .tx = tx, .zones = zones, .now = now, .why = &why, .err = err, .run = &run };
	enum ax_status status = tx->ops->run_get(tx, gid, false, &run, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "gid", "there is no run %" PRId64, gid);
	if (status != AX_OK)
		return status;
	ax_why_open(&c, run.task_id);
	why.subject = AX_SAY(
		&c, "run %" PRId64 " of %s/%s", gid, run.group_key, c.has_task ? c.task.def.task_name : "(deleted)");
	for (size_t i = 0; c.status == AX_OK && i < AX_COUNT(chain); i++)
		chain[i](&c);
	ax_why_finish(&c);
	if (c.status == AX_OK)
		*ret = why;
	return c.status;
}
