#include <inttypes.h>
#include <string.h>

#include "app/why_case.h"
#include "base/buf.h"
#include "core/limits.h"
#include "core/schedule_text.h"

/* Why a task did or did not run at an instant: its newest fire at or before it, and what accounts for that. */

enum { AFTER_SCAN = 5000, NOTES_MAX = 8 };

struct look {
	struct ax_why_case c;
	int64_t at;
	const struct ax_epoch *epoch; /* that the newest fire falls under; NULL = no rule yet */
	int64_t fire;                 /* 0 = none */
	int64_t due;                  /* the same with its jitter */
	struct ax_run run;            /* what stands for it; gid 0 = none */
};

/* --- the fire ----------------------------------------------------------------------------------------------------- */

/* @after has no fires but those that were made, and the one that is set. */
static bool last_after(struct look *look, int64_t from, int64_t until, int64_t *ret)
{
	struct ax_why_case *c = &look->c;
	const struct ax_run_filter filter = {
		.task_id = c->task.id,
		.kind = AX_KIND_SCHEDULE,
		.from_time = from + 1,
		.to_time = until + 1,
		.limit = 1,
		.scan_limit = AFTER_SCAN,
	};
	struct ax_runs made;
	int64_t rest, set = c->task.next_trigger_time;
	c->status = c->tx->ops->runs_page(c->tx, &filter, &made, &rest, c->err);
	if (c->status != AX_OK)
		return false;
	*ret = set > from && set <= until ? set : made.n > 0 ? ax_run_fire(&made.at[0]) : 0;
	return *ret != 0;
}

/* From the newest rule back: the first that has a fire at or before the instant. Without one it is told from the rule
 * that was in force, whatever those before it were. */
static void find_fire(struct look *look)
{
	struct ax_why_case *c = &look->c;
	const struct ax_epoch *in_force = ax_why_epoch(c, look->at);
	int64_t until = look->at;
	for (int i = c->epochs.n - 1; c->status == AX_OK && i >= 0; i--) {
		const struct ax_epoch *epoch = &c->epochs.at[i];
		struct ax_rule rule;
		if (epoch->from_time >= until)
			continue;
		look->epoch = epoch;
		if (ax_why_rule(c, epoch, &rule)) {
			bool after = rule.schedule.kind == AX_SCHEDULE_AFTER;
			if (after && !epoch->enabled && epoch == in_force)
				return;
			if (after ? epoch->enabled && last_after(look, epoch->from_time, until, &look->fire)
				  : ax_rule_last(&rule, epoch->from_time + 1, until + 1, &look->fire)) {
				look->due = look->fire + rule.jitter_ms;
				return;
			}
		}
		until = epoch->from_time;
	}
	if (in_force != NULL)
		look->epoch = in_force;
}

/* "02:30 does not exist on this day; …" */
static void with_note(struct ax_why_case *c, const struct ax_fire *fire)
{
	struct ax_buf text;
	if (fire->note == AX_NOTE_NONE)
		return;
	ax_buf_init(&text, 1024);
	ax_fire_note_text(fire, &text);
	ax_why_with(c, "note", ax_strdup(c->tx->arena, text.data));
	ax_buf_done(&text);
}

static void tell_fire(struct look *look)
{
	struct ax_why_case *c = &look->c;
	struct ax_rule rule;
	struct ax_fire fire = { 0 };
	if (look->fire == 0)
		return;
	if (ax_why_rule(c, look->epoch, &rule) && rule.schedule.kind != AX_SCHEDULE_AFTER)
		(void)ax_schedule_preview(&rule, look->fire - 1, look->fire, &fire, 1);
	ax_why_say(c, look->fire, AX_WHY_INFO, "fire", AX_SAY_NEWEST_FIRE);
	ax_why_with_time(c, "at", look->at);
	ax_why_with_time(c, "fire", look->fire);
	with_note(c, &fire);
	ax_why_with_time(c, "since", look->epoch->from_time);
	ax_why_with(c, "schedule", look->epoch->cron_expr);
	ax_why_with(c, "zone", look->epoch->time_zone);
}

/* The one after it, and what a change of the clock leaves out on the way there. */
static void tell_next(struct look *look)
{
	struct ax_why_case *c = &look->c;
	const struct ax_epoch *epoch = ax_why_epoch(c, look->at + 1);
	struct ax_rule rule;
	struct ax_fire fires[NOTES_MAX];
	if (epoch == NULL || !ax_why_rule(c, epoch, &rule) || rule.schedule.kind == AX_SCHEDULE_AFTER)
		return;
	size_t n = ax_schedule_preview(&rule, look->at, INT64_MAX, fires, AX_COUNT(fires));
	for (size_t i = 0; i < n; i++) {
		enum ax_sentence fire = epoch->enabled ? AX_SAY_FIRE_AFTER : AX_SAY_FIRE_AFTER_DISABLED;
		enum ax_sentence gap = epoch->enabled ? AX_SAY_GAP : AX_SAY_GAP_DISABLED;
		ax_why_say(c, fires[i].ms, AX_WHY_INFO, fires[i].fires ? "fire_after" : "gap",
			fires[i].fires ? fire : gap);
		ax_why_with_time(c, "fire", fires[i].ms);
		with_note(c, &fires[i]);
		if (fires[i].fires)
			return;
	}
}

/* --- what accounts for it: the first that does ---------------------------------------------------------------- */

static bool not_there(struct look *look)
{
	struct ax_why_case *c = &look->c;
	if (look->epoch != NULL)
		return false;
	ax_why_say(c, c->task.create_time, AX_WHY_FAIL, "before_task", AX_SAY_BEFORE_TASK);
	ax_why_with_time(c, "at", look->at);
	ax_why_with_time(c, "created", c->task.create_time);
	return true;
}

static bool not_demanded(struct look *look)
{
	struct ax_why_case *c = &look->c;
	if (look->epoch->enabled)
		return false;
	bool created = look->epoch == c->epochs.at;
	bool fired = look->fire != 0;
	enum ax_sentence not_enabled = fired ? AX_SAY_NOT_ENABLED_FIRE : AX_SAY_NOT_ENABLED;
	enum ax_sentence was_paused = fired ? AX_SAY_WAS_PAUSED_FIRE : AX_SAY_WAS_PAUSED;
	ax_why_say(c, look->epoch->from_time, AX_WHY_FAIL, created ? "created" : "paused",
		created ? not_enabled : was_paused);
	ax_why_with_time(c, "from", look->epoch->from_time);
	if (fired)
		ax_why_with_time(c, "fire", look->fire);
	return true;
}

/* A newer time of the schedule that is no fire: the calendar or the window of validity leaves it out. */
static bool left_out(struct look *look)
{
	struct ax_why_case *c = &look->c;
	const struct ax_epoch *epoch = ax_why_epoch(c, look->at + 1);
	struct ax_rule rule;
	int64_t time;
	if (epoch == NULL || !epoch->enabled || !ax_why_rule(c, epoch, &rule) ||
		rule.schedule.kind == AX_SCHEDULE_AFTER)
		return false;
	struct ax_rule bare = rule;
	bare.calendar = NULL;
	bare.valid_from = bare.valid_until = 0;
	if (!ax_rule_last(&bare, AX_MAX(epoch->from_time, look->fire) + 1, look->at + 1, &time))
		return false;
	int64_t date = ax_rule_date(&rule, time);
	if (ax_rule_has_date(&rule, date)) {
		bool early = rule.valid_from != 0 && time < rule.valid_from;
		ax_why_say(c, time, AX_WHY_FAIL, "validity", early ? AX_SAY_VALID_FROM : AX_SAY_VALID_UNTIL);
		ax_why_with_time(c, "at", time);
		ax_why_with_time(c, early ? "from" : "until", early ? rule.valid_from : rule.valid_until);
		return true;
	}
	const struct ax_calendar_day *day = ax_calendar_exception(rule.calendar, date);
	ax_why_say(c, time, AX_WHY_FAIL, "calendar", rule.excludes ? AX_SAY_CALENDAR_IN : AX_SAY_CALENDAR_OUT);
	ax_why_with_time(c, "at", time);
	ax_why_with(c, "calendar", epoch->calendar);
	ax_why_with_number(c, "version", epoch->calendar_version);
	if (day != NULL)
		ax_why_with(c, "label", ax_strdup(c->tx->arena, day->label));
	return true;
}

static bool none_yet(struct look *look)
{
	struct ax_why_case *c = &look->c;
	if (look->fire != 0)
		return false;
	ax_why_say(c, look->epoch->from_time, AX_WHY_INFO, "no_fire_yet", AX_SAY_NO_FIRE_YET);
	ax_why_with_time(c, "from", look->epoch->from_time);
	ax_why_with_time(c, "to", look->at);
	return true;
}

/* "WAITING, worker" */
static const char *state_of(struct ax_why_case *c, const struct ax_run *run)
{
	const char *word = run->reason;
	if (run->status == AX_RUN_WAITING)
		c->status = ax_run_waiting_for(&c->view, run, &word, c->err);
	return AX_SAY(c, "%s%s%s", ax_run_state_name(run->status), word[0] != '\0' ? ", " : "", word);
}

static void tell_run(struct look *look, const struct ax_run *run)
{
	struct ax_why_case *c = &look->c;
	bool own = run->kind == AX_KIND_SCHEDULE && ax_run_fire(run) == look->fire,
	     skipped = run->status == AX_RUN_SKIPPED;
	const char *code = skipped              ? "skipped"
		: run->kind == AX_KIND_MISS     ? "missed"
		: !own                          ? "coalesced"
		: run->status == AX_RUN_WAITING ? "waiting"
						: "ran";
	ax_why_say(c, run->create_time, skipped || run->kind == AX_KIND_MISS ? AX_WHY_FAIL : AX_WHY_OK, code,
		own ? AX_SAY_FIRE_BECAME : AX_SAY_FIRE_COUNTED);
	ax_why_with_time(c, "fire", look->fire);
	ax_why_with_number(c, "run", run->gid);
	ax_why_with(c, "state", state_of(c, run));
	if (run->backfill_id != 0)
		ax_why_with_number(c, "backfill", run->backfill_id);
	ax_why_with(c, "message", ax_why_quote(c, run->result_msg));
}

/* Runs that stand for it. A fire that a person had run is answered by that run. */
static bool stood_for(struct look *look)
{
	struct ax_why_case *c = &look->c;
	struct ax_runs runs;
	int own = 0;
	ax_why_standing_for(c, look->fire, &runs);
	for (int i = 0; c->status == AX_OK && i < runs.n; i++) {
		tell_run(look, &runs.at[i]);
		if (look->run.gid == 0 || (runs.at[i].kind != AX_KIND_MISS && !look->run.made_up)) {
			look->run = runs.at[i];
			ax_why_answer(c);
		}
		own += runs.at[i].kind != AX_KIND_MISS && !runs.at[i].made_up;
	}
	if (own > 1) {
		ax_why_say(c, look->fire, AX_WHY_FAIL, "duplicate", AX_SAY_DUPLICATES);
		ax_why_with_number(c, "n", own);
		ax_why_with_time(c, "fire", look->fire);
		ax_why_answer(c);
	}
	return runs.n > 0;
}

/* The task's rule did not demand it then; a backfill ran it by the rule of today. */
static bool backfilled(struct look *look)
{
	struct ax_why_case *c = &look->c;
	struct ax_rule rule;
	struct ax_runs runs;
	int64_t fire;
	bool found = false;
	if (look->epoch != NULL && look->epoch->enabled)
		return false;
	const struct ax_epoch *newest = c->epochs.n > 0 ? &c->epochs.at[c->epochs.n - 1] : NULL;
	if (newest == NULL || !ax_why_rule(c, newest, &rule) || rule.schedule.kind == AX_SCHEDULE_AFTER ||
		!ax_rule_last(&rule, 0, look->at + 1, &fire))
		return false;
	ax_why_standing_for(c, fire, &runs);
	for (int i = 0; c->status == AX_OK && i < runs.n; i++)
		found = found || runs.at[i].backfill_id != 0;
	if (!found)
		return false;
	look->fire = fire;
	return stood_for(look);
}

static bool to_come(struct look *look)
{
	struct ax_why_case *c = &look->c;
	int64_t late = c->now - look->due;
	bool set = c->task.next_trigger_time != 0 && c->task.next_trigger_time <= look->due;
	if (late < 0) {
		ax_why_say(c, look->fire, AX_WHY_INFO, "not_due_yet", AX_SAY_FIRE_NOT_DUE);
		ax_why_with_time(c, "fire", look->fire);
		ax_why_with_number(c, "in_ms", -late);
	} else if (set && late <= AX_LATE_MS) {
		ax_why_say(c, look->fire, AX_WHY_OK, "being_made", AX_SAY_BEING_MADE);
		ax_why_with_time(c, "fire", look->fire);
	} else if (set) {
		ax_why_say(c, look->fire, AX_WHY_FAIL, "scheduler_late", AX_SAY_SCHEDULER_LATE);
		ax_why_with_time(c, "fire", look->fire);
		ax_why_with_number(c, "late_ms", late);
	}
	return late < 0 || set;
}

static bool nothing(struct look *look)
{
	struct ax_why_case *c = &look->c;
	ax_why_say(c, look->fire, AX_WHY_FAIL, "nothing", AX_SAY_NOTHING);
	ax_why_with_time(c, "fire", look->fire);
	return true;
}

static void account(struct look *look)
{
	static bool (*const rules[])(struct look *) = { backfilled, not_there, not_demanded, left_out, none_yet,
		stood_for, to_come, nothing };
	struct ax_why_case *c = &look->c;
	size_t i = 0;
	while (c->status == AX_OK && i < AX_COUNT(rules) && !rules[i](look))
		i++;
	if (look->run.gid == 0)
		ax_why_answer(c);
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* Did the task have a schedule then? What followed others may have one now, and the other way round. */
static bool had_schedule(const struct look *look)
{
	const struct ax_why_case *c = &look->c;
	const struct ax_epoch *epoch = look->at == c->now ? NULL : ax_why_epoch(c, look->at);
	return epoch != NULL ? epoch->cron_expr[0] != '\0' : ax_def_has_schedule(&c->task.def);
}

/* A task without a schedule: its newest run. */
static void newest_run(struct look *look)
{
	struct ax_why_case *c = &look->c;
	const struct ax_run_filter filter = {
		.task_id = c->task.id, .to_time = look->at + 1, .limit = 1, .scan_limit = AFTER_SCAN
	};
	struct ax_runs runs;
	int64_t rest;
	c->status = c->tx->ops->runs_page(c->tx, &filter, &runs, &rest, c->err);
	if (c->status != AX_OK)
		return;
	if (runs.n > 0)
		look->run = runs.at[0];
	if (ax_def_has_schedule(&c->task.def)) { /* by now */
		int64_t from = ax_why_epoch(c, look->at)->from_time;
		ax_why_say(c, from, AX_WHY_INFO, "no_schedule", AX_SAY_HAD_NO_SCHEDULE);
		ax_why_with_time(c, "from", from);
	} else {
		ax_why_causes(c, look->run.create_time);
	}
	ax_why_with_time(c, runs.n > 0 ? "at" : "until", look->at);
	if (runs.n > 0) {
		ax_why_with_number(c, "run", look->run.gid);
		ax_why_with(c, "state", state_of(c, &look->run));
	}
	ax_why_answer(c);
	if (c->task.def.task_type == AX_TASK_EVENT)
		ax_why_newest_event(c, look->at);
}

/* What keeps the task from making runs now outranks what became of its last fire, unless that has no trace. */
static void ready(struct look *look)
{
	struct ax_why_case *c = &look->c;
	const struct ax_why_step *said = &c->why->steps[c->why->answer];
	bool fault = strcmp(said->code, "nothing") == 0 || strcmp(said->code, "duplicate") == 0;
	bool failed = said->mark == AX_WHY_FAIL;
	if (!ax_why_demanding(c)) {
		if (!fault)
			ax_why_answer(c);
	} else if (!ax_why_claimable(c) && !failed) {
		ax_why_answer(c);
	}
}

static void tell_task(struct look *look)
{
	static const char *const words[] = { "created", "enabled", "paused", "deleting" };
	struct ax_why_case *c = &look->c;
	const struct ax_task *task = &c->task;
	bool scheduled = ax_def_has_schedule(&task->def);
	ax_why_say(c, task->update_time, AX_WHY_INFO, "task", AX_SAY_TASK);
	ax_why_with(c, "task", AX_SAY(c, "%s/%s", task->def.group_key, task->def.task_name));
	ax_why_with(c, "status", words[task->status]);
	ax_why_with_number(c, "version", task->version);
	if (scheduled) {
		ax_why_with(c, "schedule", task->def.cron_expr);
		ax_why_with(c, "zone", task->def.time_zone);
	}
}

static void tell(struct look *look)
{
	struct ax_why_case *c = &look->c;
	tell_task(look);
	if (had_schedule(look)) {
		find_fire(look);
		tell_fire(look);
		account(look);
	} else if (!ax_def_has_schedule(&c->task.def) || !backfilled(look)) {
		newest_run(look);
	}
	int answer = c->why->answer;
	bool live = look->run.gid != 0 && !ax_run_is_terminal(look->run.status);
	bool deleting = c->task.status == AX_TASK_DELETING; /* by its runs it only waits to be deleted again */
	if (c->status == AX_OK && live) {
		c->run = &look->run;
		ax_why_state(c);
		c->why->answer = answer;
	}
	if (c->status == AX_OK)
		tell_next(look);
	if (c->status == AX_OK && look->at == c->now && (!live || deleting))
		ready(look);
}

enum ax_status ax_why_task(struct ax_tx *tx, struct ax_zones *zones, int64_t task_id, int64_t at, int64_t now,
	struct ax_why *ret, struct ax_err *err)
{
	struct ax_why why = { 0 };
	struct look look = {
		.c = { .tx = tx, .zones = zones, .now = now, .why = &why, .err = err },
		.at = at,
	};
	ax_why_open(&look.c, task_id);
	if (look.c.status == AX_OK && !look.c.has_task)
		return ax_fail(err, AX_NOT_FOUND, "id", "there is no task %" PRId64, task_id);
	if (look.c.status == AX_OK)
		why.subject = AX_SAY(&look.c, "task %s/%s", look.c.task.def.group_key, look.c.task.def.task_name);
	if (look.c.status == AX_OK)
		tell(&look);
	ax_why_finish(&look.c);
	if (look.c.status == AX_OK)
		*ret = why;
	return look.c.status;
}
