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
	const char *at = ax_why_at(c, stands_for);
	if (run->backfill_id != 0) { /* by the rule of its making, which need not be that of the fire's time */
		ax_why_add(c, run->create_time, AX_WHY_OK, "backfill",
			AX_SAY(c, "Backfill %" PRId64 " made up the fire of %s, by the task's rule at %s.",
				run->backfill_id, at, ax_why_at(c, run->create_time)));
		return;
	}
	if (epoch == NULL || !ax_why_rule(c, epoch, &rule)) {
		ax_why_add(c, stands_for, AX_WHY_INFO, "fire",
			AX_SAY(c, "It stands for the fire of %s; the rule that demanded it is not known any more.",
				at));
		return;
	}
	bool demanded = epoch->enabled &&
		(rule.schedule.kind == AX_SCHEDULE_AFTER ||
			(ax_rule_next(&rule, stands_for - 1, &fire) && fire == stands_for));
	ax_why_add(c, stands_for, demanded ? AX_WHY_OK : AX_WHY_FAIL, demanded ? "fire" : "fire_undemanded",
		AX_SAY(c, "It stands for the fire of %s, which the rule of %s (%s in %s, epoch %" PRId64 ") %s.", at,
			ax_why_at(c, epoch->from_time), epoch->cron_expr, epoch->time_zone, epoch->id,
			demanded ? "demanded" : "did not demand"));
	if (run->trigger_time != stands_for)
		ax_why_add(c, run->trigger_time, AX_WHY_INFO, "jitter",
			AX_SAY(c, "The task's jitter makes it due %s later, at %s.",
				ax_why_span(c, run->trigger_time - stands_for), ax_why_at(c, run->trigger_time)));
	if (run->made_up)
		ax_why_add(c, run->create_time, AX_WHY_INFO, "made_up",
			"The fire had been missed; a person decided to run it.");
}

static void from_person(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	bool keyed = strcmp(run->fire_key, AX_SAY(c, "%" PRId64, run->gid)) != 0;
	const char *key =
		keyed ? AX_SAY(c, ", with the key %s: the same key again answers this run", run->fire_key) : "";
	if (run->rerun_of != 0)
		ax_why_add(c, run->create_time, AX_WHY_OK, "rerun",
			AX_SAY(c, "A person made it as a rerun of run %" PRId64 "%s.", run->rerun_of, key));
	else if (run->kind == AX_KIND_DELAY)
		ax_why_add(c, run->create_time, AX_WHY_OK, "delay",
			AX_SAY(c, "It was asked for at %s, to run at %s%s.", ax_why_at(c, run->create_time),
				ax_why_at(c, run->trigger_time), key));
	else
		ax_why_add(c, run->create_time, AX_WHY_OK, "manual",
			AX_SAY(c, "It was asked for by hand at %s%s.", ax_why_at(c, run->create_time), key));
}

static void origin(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	switch (run->kind) {
	case AX_KIND_SCHEDULE:
		from_schedule(c);
		break;
	case AX_KIND_MISS:
		ax_why_add(c, run->trigger_time, AX_WHY_FAIL, "missed_fires",
			AX_SAY(c, "It stands for %" PRId64 " missed fires from %s to %s.", run->covers_count,
				ax_why_at(c, run->covers_from), ax_why_at(c, run->covers_to)));
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
	ax_why_add(c, run->covers_to, AX_WHY_INFO, "covers",
		AX_SAY(c, "Besides its own it stands for %" PRId64 " more of the fires from %s to %s: %s.",
			run->covers_count, ax_why_at(c, run->covers_from), ax_why_at(c, run->covers_to),
			run->kind == AX_KIND_SCHEDULE && run->covers_from > ax_run_fire(run)
				? "they came due while it still waited, and overlap counts them on it"
				: "they were found late, and the misfire rule counts them on it"));
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
		ax_why_add(c, run->create_time, AX_WHY_OK, "on_time",
			AX_SAY(c, "It was made %s after it was due.", ax_why_span(c, AX_MAX(late, 0))));
		return;
	}
	c->status = c->tx->ops->servers(c->tx, &servers, c->err);
	for (int i = 0; c->status == AX_OK && i < servers.n; i++)
		if (servers.at[i].start_time > run->trigger_time && servers.at[i].start_time <= run->create_time)
			started = servers.at[i].start_time;
	ax_why_add(c, run->create_time, AX_WHY_INFO, "late",
		AX_SAY(c, "It was made %s late, at %s: no server was at work when it was due%s%s.",
			ax_why_span(c, late), ax_why_at(c, run->create_time), started != 0 ? "; one started at " : "",
			started != 0 ? ax_why_at(c, started) : ""));
}

/* Which part it is of which run. */
static void part(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	if (run->parent != 0)
		ax_why_add(c, run->create_time, AX_WHY_OK, "shard",
			AX_SAY(c, "It is shard %" PRId64 " of %" PRId64 " of run %" PRId64 "%s%s%s.", run->shard,
				run->shard_total, run->parent, ax_run_is_pinned(run) ? ", for worker " : "",
				ax_run_is_pinned(run) ? run->worker : "", ax_run_is_pinned(run) ? " alone" : ""));
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
	const char *since = ax_why_at(c, canary.start_time);
	ax_why_add(c, canary.start_time, AX_WHY_INFO, "trial",
		canary.state == AX_CANARY_RUNNING
			? AX_SAY(c, "It executes version %" PRId64 " of the task, on trial since %s (executor %s).",
				  run->version, since, run->executor_key)
			: AX_SAY(c,
				  "It executes version %" PRId64 " of the task, which was on trial from %s until %s"
				  "%s.",
				  run->version, since, ax_why_at(c, canary.end_time), ax_why_quote(c, canary.reason)));
}

/* --- attempts ----------------------------------------------------------------------------------------------------- */

struct tally {
	const struct ax_task_def *def; /* NULL: not known any more */
	int64_t retries, losses, bounces;
};

static const char *of_limit(const struct ax_why_case *c, int64_t used, const struct tally *tally, bool lost)
{
	if (tally->def == NULL)
		return AX_SAY(c, "%" PRId64, used);
	return AX_SAY(c, "%" PRId64 " of %" PRId64, used, lost ? tally->def->lost_limit : tally->def->retry_count);
}

/* What was decided after an attempt that was not the last. `next` is when the next one was or is due; 0 = not known. */
static const char *decision(const struct ax_why_case *c, const struct ax_attempt *a, struct tally *tally, int64_t next)
{
	const char *when = next > a->end_time ? AX_SAY(c, ", %s later", ax_why_span(c, next - a->end_time)) : "";
	if (a->outcome == AX_OUTCOME_BOUNCED)
		return AX_SAY(c, "given back without counting as an attempt (%" PRId64 " of %d in a row)",
			++tally->bounces, AX_BOUNCE_LIMIT);
	tally->bounces = 0;
	if (a->outcome == AX_OUTCOME_LOST || a->outcome == AX_OUTCOME_CANCELLED)
		return AX_SAY(c, "lost %s, given out again%s", of_limit(c, ++tally->losses, tally, true), when);
	return AX_SAY(c, "retry %s%s", of_limit(c, ++tally->retries, tally, false), when);
}

static const char *const outcome_codes[] = { "attempt", "attempt_success", "attempt_failed", "attempt_timeout",
	"attempt_stopped", "attempt_refused", "attempt_lost", "attempt_bounced", "attempt_hard_limit" };
static const char *const outcome_words[] = { "", "succeeded", "failed", "timed out", "was stopped", "was refused",
	"was lost", "was never accepted", "passed the server's limit" };

static void late_result(struct ax_why_case *c, const struct ax_attempt *a)
{
	bool counted =
		c->run->status == AX_RUN_SUCCESS && c->run->fence == a->fence && a->late_outcome == AX_OUTCOME_SUCCESS;
	if (a->late_time == 0)
		return;
	ax_why_add(c, a->late_time, AX_WHY_INFO, counted ? "late_success" : "late_result",
		AX_SAY(c, "%s reported late that fence %" PRId64 " %s (code %" PRId64 "%s); %s.", a->worker, a->fence,
			outcome_words[a->late_outcome], a->late_code, ax_why_quote(c, a->late_message),
			counted ? "nobody had claimed the run again, so it counts"
				: "it is kept here and changes nothing"));
}

static void attempt(struct ax_why_case *c, const struct ax_attempt *a, const char *decided)
{
	ax_why_add(c, a->end_time, a->outcome == AX_OUTCOME_BOUNCED ? AX_WHY_INFO : AX_WHY_FAIL,
		outcome_codes[a->outcome],
		AX_SAY(c,
			"Attempt %" PRId64 " (fence %" PRId64 ") went to %s at %s and %s after %s (code %" PRId64
			"%s): %s.",
			a->attempt, a->fence, a->worker, ax_why_at(c, a->dispatch_time), outcome_words[a->outcome],
			ax_why_span(c, AX_MAX(a->end_time - a->dispatch_time, 0)), a->code, ax_why_quote(c, a->message),
			decided));
	late_result(c, a);
}

/* The newest claim, which has no row among the attempts unless it is over and others follow. */
static void newest_claim(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	ax_why_add(c, run->dispatch_time, AX_WHY_OK, "given_out",
		AX_SAY(c, "Attempt %" PRId64 " (fence %" PRId64 ") was given to %s at %s.", ax_run_attempt(run),
			run->fence, run->worker, ax_why_at(c, run->dispatch_time)));
	if (run->start_time != 0)
		ax_why_add(c, run->start_time, AX_WHY_OK, "started",
			AX_SAY(c, "%s began %s after it was given out.", run->worker,
				ax_why_span(c, AX_MAX(run->start_time - run->dispatch_time, 0))));
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
	if (rows.n > ATTEMPTS_SHOWN)
		ax_why_add(c, 0, AX_WHY_INFO, "attempts",
			AX_SAY(c, "%d attempts are over; the last %d follow.", rows.n, ATTEMPTS_SHOWN));
	for (int i = 0; i < rows.n; i++) {
		const struct ax_attempt *a = &rows.at[i];
		int64_t next = i + 1 < rows.n            ? a[1].dispatch_time
			: run->fence > a->fence          ? run->dispatch_time
			: run->status == AX_RUN_RETRYING ? run->deadline_time
							 : 0;
		last = a;
		if (is_last(run, a))
			break;
		const char *decided = decision(c, a, &tally, next);
		if (rows.n - i <= ATTEMPTS_SHOWN)
			attempt(c, a, decided);
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
	const char *text;
} ends[] = {
	{ AX_RUN_SUCCESS, NULL, "success", AX_WHY_OK, "the work was done" },
	{ AX_RUN_FAILED, "refused", "refused", AX_WHY_FAIL,
		"the worker's own policy forbids it, so it is not retried" },
	{ AX_RUN_FAILED, "not_retried", "not_retried", AX_WHY_FAIL,
		"the last attempt failed with a code that is not in retry_on" },
	{ AX_RUN_FAILED, "shards", "shards_failed", AX_WHY_FAIL, "a shard of it failed" },
	{ AX_RUN_FAILED, NULL, "failed", AX_WHY_FAIL, "the last attempt failed and no retry is left" },
	{ AX_RUN_TIMEOUT, "lost", "lost", AX_WHY_FAIL, "the worker fell silent, and it may not be lost once more" },
	{ AX_RUN_TIMEOUT, "hard_limit", "hard_limit", AX_WHY_FAIL,
		"timeout and grace passed without a word of the worker, and no retry is left" },
	{ AX_RUN_TIMEOUT, "timeout", "timeout", AX_WHY_FAIL,
		"the last attempt took longer than its timeout and no retry is left" },
	{ AX_RUN_TIMEOUT, "shards", "shards_failed", AX_WHY_FAIL,
		"no shard of it failed, but one took too long or was lost" },
	{ AX_RUN_TIMEOUT, NULL, "lost", AX_WHY_FAIL, "the worker stopped, and it may not be lost once more" },
	{ AX_RUN_CANCELLED, "replaced", "replaced", AX_WHY_FAIL, "a newer fire took its place (overlap: replace)" },
	{ AX_RUN_CANCELLED, "shards", "shards_failed", AX_WHY_FAIL, "a person cancelled a shard of it" },
	{ AX_RUN_CANCELLED, "nothing_to_rerun", "nothing_to_rerun", AX_WHY_FAIL, "there is nothing left to repeat" },
	{ AX_RUN_CANCELLED, NULL, "cancelled", AX_WHY_FAIL, "a person cancelled it" },
	{ AX_RUN_BLOCKED, "join_deadline", "join_deadline", AX_WHY_FAIL, "it waited for its upstreams in vain" },
	{ AX_RUN_BLOCKED, "no_upstreams", "no_upstreams", AX_WHY_FAIL, "nothing was left that it could wait for" },
	{ AX_RUN_BLOCKED, NULL, "blocked", AX_WHY_FAIL, "an upstream did not succeed" },
	{ AX_RUN_SKIPPED, "overlap", "skipped_overlap", AX_WHY_FAIL, "overlap is skip" },
	{ AX_RUN_SKIPPED, NULL, "skipped_misfire", AX_WHY_FAIL, "the fire was found late" },
	{ AX_RUN_MISSED, "missed", "missed", AX_WHY_FAIL, "a person must decide: run, run_all or dismiss" },
	{ AX_RUN_MISSED, "dismissed", "missed_dismissed", AX_WHY_INFO, "a person dismissed it" },
	{ AX_RUN_MISSED, NULL, "missed_run", AX_WHY_INFO, "a person had its fires run" },
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
	const char *tries = run->fence == 0
		? "" /* it never got as far */
		: AX_SAY(c, " after %" PRId64 " retries and %" PRId64 " losses", run->retry_times, run->lost_times);
	ax_why_add(c, run->end_time, ends[i].mark, ends[i].code,
		AX_SAY(c, "It ended as %s at %s%s: %s%s.", ax_run_state_name(run->status), ax_why_at(c, run->end_time),
			tries, ends[i].text, ax_why_quote(c, run->result_msg)));
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
	ax_why_add(c, group.last_seen_time, AX_WHY_INFO, "failure_group",
		AX_SAY(c,
			"It is one of the %" PRId64 " failures of failure group %" PRId64 " (%s), first seen at %s%s.",
			group.count, group.id, ax_failure_state_name(ax_failure_state_at(&group, c->now)),
			ax_why_at(c, group.first_seen_time), ax_why_quote(c, group.title)));
}

static void pending(struct ax_why_case *c)
{
	if (ax_run_is_joining(c->run)) {
		ax_why_joining(c);
		return;
	}
	ax_why_add(c, c->run->trigger_time, AX_WHY_INFO, "not_due_yet",
		AX_SAY(c, "It is due at %s, in %s.", ax_why_at(c, c->run->trigger_time),
			ax_why_span(c, AX_MAX(c->run->trigger_time - c->now, 0))));
	ax_why_answer(c);
}

static void dispatched(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	ax_why_add(c, run->dispatch_time, AX_WHY_OK, run->accepted ? "accepted" : "not_accepted_yet",
		AX_SAY(c, "It is with %s, which %s; %s at %s.", run->worker,
			run->accepted ? "has accepted it and not begun" : "has not accepted it yet",
			run->accepted ? "unless a heartbeat comes its lease ends" : "it is given back otherwise",
			ax_why_at(c, run->deadline_time)));
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
	ax_why_add(c, 0, AX_WHY_INFO, "shard_waits",
		AX_SAY(c, "Shard %" PRId64 " (run %" PRId64 ") waits, and of it holds:", shard.shard, shard.gid));
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
	ax_why_add(c, run->start_time, AX_WHY_OK, "shards",
		AX_SAY(c, "It began %s ago and ends with the last of its shards: %s.",
			ax_why_span(c, AX_MAX(c->now - run->start_time, 0)), list_states(c, by_state)));
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
	ax_why_add(c, run->start_time, AX_WHY_OK, "running",
		AX_SAY(c, "It runs on %s for %s; the last heartbeat came %s ago, %s%s.", run->worker,
			ax_why_span(c, AX_MAX(c->now - run->start_time, 0)),
			ax_why_span(c, AX_MAX(c->now - run->heartbeat_time, 0)),
			run->limit_time != 0 ? "the server ends it at " : "it has no time limit",
			run->limit_time != 0 ? ax_why_at(c, run->limit_time) : ""));
	ax_why_answer(c);
}

static void retrying(struct ax_why_case *c)
{
	ax_why_add(c, c->run->deadline_time, AX_WHY_INFO, "retrying",
		AX_SAY(c, "The next attempt is due at %s, in %s.", ax_why_at(c, c->run->deadline_time),
			ax_why_span(c, AX_MAX(c->run->deadline_time - c->now, 0))));
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
	static const char *const cancels[] = { NULL, "its worker is not told yet", "its worker was told to stop",
		"its worker has stopped it" };
	const struct ax_run *run = c->run;
	if (ax_run_is_terminal(run->status)) {
		ended(c);
		return;
	}
	live[run->status](c);
	if (run->cancel == AX_CANCEL_NONE)
		return;
	ax_why_add(c, 0, AX_WHY_FAIL, "cancelling",
		AX_SAY(c, "It was asked to stop (%s): %s.", run->reason, cancels[run->cancel]));
	ax_why_answer(c);
}

/* --- what the task promised, and what the worker tells of it ------------------------------------------------------ */

static void promises(struct ax_why_case *c)
{
	const struct ax_run *run = c->run;
	bool told = run->progress_percent >= 0;
	const char *since = ax_why_span(c, AX_MAX(c->now - run->progress_time, 0));
	if (run->status == AX_RUN_RUNNING && (told || run->stalled))
		ax_why_add(c, run->progress_time, run->stalled ? AX_WHY_FAIL : AX_WHY_OK,
			run->stalled ? "stalled" : "progress",
			AX_SAY(c, "%s for %s%s.",
				told ? AX_SAY(c, "Its progress is %" PRId64 " %%%s,", run->progress_percent,
					       ax_why_quote(c, run->progress_msg))
				     : "It told of no progress",
				since, run->stalled ? ": longer than stall_seconds allows" : ""));
	if (run->overran)
		ax_why_add(c, 0, AX_WHY_FAIL, "overran",
			run->must_end_time != 0
				? AX_SAY(c, "It took longer than expected_seconds, or had not ended by %s.",
					  ax_why_at(c, run->must_end_time))
				: "It took longer than its expected_seconds.");
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
		ax_why_add(c, 0, AX_WHY_OK, "one_fire",
			"It is a part of the one run of its fire: the same gid again is a retry of this shard.");
		return;
	}
	if (run->kind != AX_KIND_SCHEDULE && run->kind != AX_KIND_MISS) {
		ax_why_add(c, 0, AX_WHY_OK, "one_request",
			"One request, one run: the same gid again is a retry of this run, another gid another "
			"request.");
		return;
	}
	ax_why_standing_for(c, ax_run_fire(run), &others);
	for (int i = 0; c->status == AX_OK && i < others.n; i++) {
		const struct ax_run *other = &others.at[i];
		if (other->gid == run->gid)
			continue;
		bool right = shares_rightly(run, other);
		alone = alone && right;
		ax_why_add(c, other->create_time, right ? AX_WHY_INFO : AX_WHY_FAIL, right ? "made_up_of" : "duplicate",
			AX_SAY(c, "Run %" PRId64 " (%s) stands for the fire of %s too: %s.", other->gid,
				ax_run_state_name(other->status), ax_why_at(c, ax_run_fire(run)),
				right ? "one counts it among others, the other is the run that a person made of it"
				      : "a different gid for one fire is a fault"));
		if (!right)
			ax_why_answer(c);
	}
	if (alone)
		ax_why_add(c, 0, AX_WHY_OK, "one_fire",
			"One fire, one run: the same gid again is a retry of this run; "
			"a different gid for this fire would be a fault.");
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
		ax_why_add(c, later.at[i].create_time, AX_WHY_INFO, "rerun_by",
			AX_SAY(c, "Run %" PRId64 " (%s) is a rerun of it.", later.at[i].gid,
				ax_run_state_name(later.at[i].status)));
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
	if (c.status == AX_OK)
		*ret = why;
	return c.status;
}
