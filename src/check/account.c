#include "check/audit.h"

#include <stdlib.h>
#include <string.h>

/* Judging one task. Three lists are laid side by side: the stretches of time in which a rule held (parts), the rows
 * that stand for one fire each (points), and the rows that stand for all fires in a range (covers). One walk over the
 * demanded fires, in order, meets each of them. */

enum { RECENT_MS = 60000 }; /* what the window's end may lie behind now */

struct part {
	int64_t after_ms, until_ms; /* the rule holds for after < fire ≤ until */
	bool readable;              /* its fires can be computed; false for @after and for what cannot be read */
	bool after_run;             /* @after */
	struct ax_check_rule rule;
	int64_t jitter_ms;
};

struct point {
	int64_t ms;
	const struct ax_check_run *run;
	bool demanded;
};

struct cover {
	const struct ax_check_run *run;
	int64_t own_ms; /* the run's own fire, which its range does not count; -1 for a MISSED row */
	int64_t counted;
};

struct account {
	struct ax_check_audit *audit;
	const struct ax_check_task *task;
	struct ax_check_result *result;
	struct part *parts;
	size_t n_parts;
	struct point *points;
	size_t n_points, at_point;
	struct cover *covers; /* by covers_from */
	size_t n_covers, at_cover;
	struct cover **open; /* those that the walk is inside of */
	size_t n_open;
};

/* ---- small helpers ---- */

static bool in_window(const struct ax_check_audit *audit, int64_t ms)
{
	return audit->from_ms <= ms && ms < audit->to_ms;
}

static void sample_add(struct ax_check_audit *audit, struct ax_check_sample *sample, int64_t value)
{
	if (!sample->at)
		sample->at = ax_alloc_array(&audit->arena, AX_CHECK_SAMPLES, sizeof(*sample->at));
	if (sample->n < AX_CHECK_SAMPLES)
		sample->at[sample->n++] = value;
}

/* A fire key is the decimal ms, written in one way only. */
static bool key_ms(const char *key, int64_t *ret_ms)
{
	size_t len = strspn(key, "0123456789");
	if (len == 0 || len > 18 || key[len] != '\0' || (key[0] == '0' && len > 1))
		return false;
	*ret_ms = strtoll(key, NULL, 10);
	return true;
}

static bool has_covers(const struct ax_check_run *run)
{
	return run->covers_from != 0 || run->covers_to != 0 || run->covers_count != 0;
}

static bool covers_reach_window(const struct ax_check_audit *audit, const struct ax_check_run *run)
{
	return has_covers(run) && run->covers_from < audit->to_ms && run->covers_to >= audit->from_ms;
}

/* ---- parts ---- */

static enum ax_status read_limits(struct ax_check_audit *audit, const struct ax_check_epoch *epoch,
	struct ax_check_rule *rule, struct ax_err *err)
{
	rule->limits = (struct ax_check_limits){ .exclude = epoch->calendar_excludes,
		.valid_from_ms = epoch->valid_from,
		.valid_until_ms = epoch->valid_until };
	if (!epoch->calendar)
		return AX_OK;
	if (!epoch->calendar->days)
		return ax_fail(err, AX_NOT_FOUND, "calendar", "the version of its calendar is gone");
	rule->limits.in_days = &rule->in_days;
	return ax_check_in_days_parse(
		&audit->scratch, epoch->calendar->week, epoch->calendar->days, &rule->in_days, err);
}

enum ax_status ax_check_read_epoch(
	struct ax_check_audit *audit, const struct ax_check_epoch *epoch, struct ax_check_rule *ret, struct ax_err *err)
{
	enum ax_status status = ax_check_schedule_parse(
		&audit->scratch, epoch->cron_expr, (enum ax_check_dialect)epoch->dialect, &ret->schedule, err);
	if (status == AX_OK)
		status = read_limits(audit, epoch, ret, err);
	if (status != AX_OK)
		return status;
	ret->anchor_ms = epoch->anchor_time;
	struct ax_check_known_zone *known = audit->zones;
	while (known && strcmp(known->name, epoch->time_zone) != 0)
		known = known->next;
	if (!known) {
		struct ax_check_zone zone;
		status = ax_check_zone_load(&audit->arena, audit->zone_dir, epoch->time_zone, &zone, err);
		if (status != AX_OK)
			return status;
		known = ax_alloc(&audit->arena, sizeof(*known));
		*known = (struct ax_check_known_zone){
			.name = ax_strdup(&audit->arena, epoch->time_zone), .zone = zone, .next = audit->zones
		};
		audit->zones = known;
	}
	ret->zone = &known->zone;
	return AX_OK;
}

static bool part_in_window(const struct account *a, const struct part *part)
{
	return part->after_ms < a->audit->to_ms - 1 && part->until_ms >= a->audit->from_ms;
}

static void read_parts(struct account *a)
{
	const struct ax_check_task *task = a->task;
	a->parts = ax_alloc_array(&a->audit->scratch, task->n_epochs + 1, sizeof(*a->parts));
	for (size_t i = 0; i < task->n_epochs; i++) {
		const struct ax_check_epoch *epoch = &task->epochs[i];
		int64_t after_ms = epoch->from_time; /* earlier than the one before when the clock was set back */
		int64_t until_ms = i + 1 < task->n_epochs ? task->epochs[i + 1].from_time : INT64_MAX;
		if (!epoch->enabled || until_ms <= after_ms)
			continue;
		struct part *part = &a->parts[a->n_parts++];
		*part = (struct part){ .after_ms = after_ms, .until_ms = until_ms, .jitter_ms = epoch->jitter_ms };
		struct ax_err err;
		if (ax_check_read_epoch(a->audit, epoch, &part->rule, &err) == AX_OK) {
			part->after_run = part->rule.schedule.kind == AX_CHECK_AFTER;
			part->readable = !part->after_run;
		} else if (part_in_window(a, part)) {
			a->result->counts.unreadable++;
			a->result->error = ax_sprintf(
				&a->audit->arena, "`%.200s` in %.64s: %s", epoch->cron_expr, epoch->time_zone, err.msg);
		}
	}
}

/* A fire's run is due so much later than the fire as a rule of its time says. */
static bool is_due_rightly(const struct account *a, int64_t ms, const struct ax_check_run *run)
{
	for (size_t i = 0; i < a->n_parts; i++)
		if (a->parts[i].after_ms < ms && ms <= a->parts[i].until_ms &&
			run->trigger_time == ms + a->parts[i].jitter_ms)
			return true;
	return false;
}

static const struct part *part_of(const struct account *a, int64_t ms)
{
	for (size_t i = 0; i < a->n_parts; i++)
		if (a->parts[i].after_ms < ms && ms <= a->parts[i].until_ms)
			return &a->parts[i];
	return NULL;
}

/* Does a range of fires touch a stretch whose fires cannot be computed? */
static bool touches_unreadable(const struct account *a, int64_t from_ms, int64_t to_ms)
{
	for (size_t i = 0; i < a->n_parts; i++)
		if (!a->parts[i].readable && a->parts[i].after_ms < to_ms && a->parts[i].until_ms >= from_ms)
			return true;
	return false;
}

/* ---- rows ---- */

static int by_unique_key(const void *pa, const void *pb)
{
	const struct ax_check_run *a = *(const struct ax_check_run *const *)pa;
	const struct ax_check_run *b = *(const struct ax_check_run *const *)pb;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->shard != b->shard)
		return a->shard < b->shard ? -1 : 1;
	int keys = strcmp(a->fire_key, b->fire_key);
	return keys != 0 ? keys : (a->gid > b->gid) - (a->gid < b->gid);
}

static bool same_unique_key(const struct ax_check_run *a, const struct ax_check_run *b)
{
	return a->kind == b->kind && a->shard == b->shard && strcmp(a->fire_key, b->fire_key) == 0;
}

static int point_by_ms(const void *a, const void *b)
{
	int64_t x = ((const struct point *)a)->ms, y = ((const struct point *)b)->ms;
	return (x > y) - (x < y);
}

static int cover_by_from(const void *a, const void *b)
{
	int64_t x = ((const struct cover *)a)->run->covers_from, y = ((const struct cover *)b)->run->covers_from;
	return (x > y) - (x < y);
}

static void found_unexpected(struct account *a, int64_t ms)
{
	a->result->counts.unexpected++;
	sample_add(a->audit, &a->result->unexpected, ms);
}

static void found_duplicate(struct account *a, int64_t ms)
{
	a->result->counts.duplicates++;
	sample_add(a->audit, &a->result->duplicates, ms);
}

/* Sorts one row, which has no twin, into the lists. Children of a sharded run stand for nothing of their own. */
static void take_row(struct account *a, const struct ax_check_run *run)
{
	int64_t ms = -1;
	bool is_fire = key_ms(run->fire_key, &ms);
	if (run->shard != 0)
		return;
	if (run->kind == AX_CHECK_KIND_SCHEDULE) {
		if (is_fire)
			a->points[a->n_points++] = (struct point){ .ms = ms, .run = run };
		else if (in_window(a->audit, run->trigger_time))
			found_unexpected(a, run->trigger_time);
	}
	/* what a person made up stands on top of the row that missed it */
	if (!run->made_up && has_covers(run) && (covers_reach_window(a->audit, run) || in_window(a->audit, ms)))
		a->covers[a->n_covers++] =
			(struct cover){ .run = run, .own_ms = run->kind == AX_CHECK_KIND_SCHEDULE ? ms : -1 };
}

static void read_rows(struct account *a)
{
	const struct ax_check_task *task = a->task;
	struct ax_arena *scratch = &a->audit->scratch;
	const struct ax_check_run **rows = ax_alloc_array(scratch, task->n_runs + 1, sizeof(*rows));
	size_t n = 0;
	for (size_t i = 0; i < task->n_runs; i++) {
		const struct ax_check_run *run = &task->runs[i];
		bool of_schedule = run->kind == AX_CHECK_KIND_SCHEDULE || run->kind == AX_CHECK_KIND_MISS;
		if (of_schedule && run->rerun_of == 0)
			rows[n++] = run;
	}
	qsort(rows, n, sizeof(*rows), by_unique_key);

	a->points = ax_alloc_array(scratch, n + 1, sizeof(*a->points));
	a->covers = ax_alloc_array(scratch, n + 1, sizeof(*a->covers));
	a->open = ax_alloc_array(scratch, n + 1, sizeof(*a->open));
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !same_unique_key(rows[i], rows[i - 1])) {
			take_row(a, rows[i]);
			continue;
		}
		int64_t ms;
		if (!key_ms(rows[i]->fire_key, &ms))
			ms = rows[i]->trigger_time;
		if (in_window(a->audit, ms) || covers_reach_window(a->audit, rows[i]))
			found_duplicate(a, ms);
	}
	qsort(a->points, a->n_points, sizeof(*a->points), point_by_ms);
	qsort(a->covers, a->n_covers, sizeof(*a->covers), cover_by_from);
}

/* ---- fires ---- */

enum outcome { NOTHING, RUN, SKIP, MISS, COALESCED };

static enum outcome outcome_of_point(const struct ax_check_run *run)
{
	return run->status == AX_CHECK_SKIPPED ? SKIP : run->status == AX_CHECK_MISSED ? MISS : RUN;
}

static enum outcome outcome_of_cover(const struct ax_check_run *run)
{
	if (run->kind == AX_CHECK_KIND_MISS || run->status == AX_CHECK_MISSED)
		return MISS;
	return run->status == AX_CHECK_SKIPPED ? SKIP : COALESCED;
}

static void count_fire(struct account *a, int64_t ms, enum outcome outcome)
{
	struct ax_check_counts *counts = &a->result->counts;
	counts->expected++;
	switch (outcome) {
	case RUN:
		counts->runs++;
		break;
	case SKIP:
		counts->skipped++;
		break;
	case MISS:
		counts->missed++;
		break;
	case COALESCED:
		counts->coalesced++;
		break;
	case NOTHING:
		counts->missing++;
		sample_add(a->audit, &a->result->missing, ms);
		break;
	}
}

/* Keeps `open` to the covers that a fire lies in. Fires come in order. */
static void open_covers(struct account *a, int64_t ms)
{
	size_t kept = 0;
	for (size_t i = 0; i < a->n_open; i++)
		if (a->open[i]->run->covers_to >= ms)
			a->open[kept++] = a->open[i];
	a->n_open = kept;
	for (; a->at_cover < a->n_covers && a->covers[a->at_cover].run->covers_from <= ms; a->at_cover++)
		if (a->covers[a->at_cover].run->covers_to >= ms)
			a->open[a->n_open++] = &a->covers[a->at_cover];
}

/* One demanded fire: what stands for it? */
static void meet_fire(struct account *a, int64_t ms)
{
	while (a->at_point < a->n_points && a->points[a->at_point].ms < ms)
		a->at_point++;
	struct point *point =
		a->at_point < a->n_points && a->points[a->at_point].ms == ms ? &a->points[a->at_point] : NULL;
	open_covers(a, ms);

	enum outcome outcome = NOTHING;
	int accounts = 0;
	if (point) {
		point->demanded = true;
		if (!point->run->made_up) {
			outcome = outcome_of_point(point->run);
			accounts++;
		}
	}
	for (size_t i = 0; i < a->n_open; i++) {
		struct cover *cover = a->open[i];
		if (cover->own_ms == ms)
			continue;
		cover->counted++;
		if (accounts++ == 0)
			outcome = outcome_of_cover(cover->run);
	}
	if (accounts == 0 && point)
		outcome = RUN; /* a backfill of what nothing else stands for */
	if (!in_window(a->audit, ms))
		return;
	if (outcome == NOTHING && a->task->under_way_from != 0 && ms >= a->task->under_way_from)
		return;
	count_fire(a, ms, outcome);
	if (point && !point->run->made_up && !is_due_rightly(a, ms, point->run))
		found_unexpected(a, ms);
	if (accounts > 1)
		found_duplicate(a, ms);
}

/* Walks over the window, and beyond it as far as covers reach out, so that these can be counted whole. */
static void walk(struct account *a)
{
	int64_t from_ms = a->audit->from_ms, to_ms = a->audit->to_ms;
	for (size_t i = 0; i < a->n_covers; i++) {
		from_ms = AX_MIN(from_ms, a->covers[i].run->covers_from);
		to_ms = AX_MAX(to_ms, AX_MIN(a->covers[i].run->covers_to, INT64_MAX - 1) + 1);
	}
	int64_t walked_ms = from_ms == INT64_MIN ? from_ms : from_ms - 1; /* no instant is walked over twice */
	for (size_t i = 0; i < a->n_parts; i++) {
		const struct part *part = &a->parts[i];
		if (!part->readable)
			continue;
		struct ax_check_fires fires;
		ax_check_fires_begin(&fires, &part->rule.schedule, part->rule.zone, part->rule.anchor_ms,
			AX_MAX(part->after_ms, walked_ms), AX_MIN(part->until_ms, to_ms - 1));
		ax_check_fires_limit(&fires, &part->rule.limits);
		while (ax_check_fires_next(&fires, &walked_ms))
			meet_fire(a, walked_ms);
		ax_check_fires_end(&fires);
	}
}

/* ---- @after ---- */

/* Does a later rule hold at this instant, too? It does when the clock was set back before it was made. */
static bool later_part_holds(const struct account *a, const struct part *part, int64_t ms)
{
	for (const struct part *later = part + 1; later < a->parts + a->n_parts; later++)
		if (later->after_ms < ms && ms <= later->until_ms)
			return true;
	return false;
}

/* Its fires follow from its own runs, so a row makes its own demand, once; what can be judged is the distance between
 * those that are of this rule without doubt. */
static void judge_after_run(struct account *a, const struct part *part)
{
	const struct ax_check_run *before = NULL;
	for (size_t i = 0; i < a->n_points; i++) {
		struct point *point = &a->points[i];
		if (point->ms <= part->after_ms || point->ms > part->until_ms || point->demanded || point->run->made_up)
			continue;
		point->demanded = true;
		bool too_early = before && !later_part_holds(a, part, point->ms) &&
			(before->end_time == 0 ||
				point->run->trigger_time < before->end_time + part->rule.schedule.span_ms);
		enum outcome outcome = outcome_of_point(point->run);
		if (outcome == RUN)
			before = point->run;
		if (!in_window(a->audit, point->ms))
			continue;
		count_fire(a, point->ms, outcome);
		if (too_early || !ax_check_is_valid(&part->rule.limits, point->ms))
			found_unexpected(a, point->ms);
	}
	for (size_t i = 0; i < a->task->n_runs; i++) {
		const struct ax_check_run *run = &a->task->runs[i];
		int64_t ms;
		if (run->kind == AX_CHECK_KIND_MISS && key_ms(run->fire_key, &ms) && in_window(a->audit, ms) &&
			part->after_ms < ms && ms <= part->until_ms && !later_part_holds(a, part, ms))
			count_fire(a, ms, MISS);
	}
}

/* Neither running nor going to: the one way in which @after loses a fire. */
static void judge_standstill(struct account *a)
{
	if (a->n_parts == 0 || a->task->live || a->task->next_trigger_time < 0)
		return;
	const struct part *last = &a->parts[a->n_parts - 1];
	if (!last->after_run || last->until_ms != INT64_MAX || last->after_ms >= a->audit->to_ms)
		return;
	int64_t valid_until_ms = last->rule.limits.valid_until_ms;
	bool may_be_over =
		valid_until_ms != 0 && valid_until_ms <= a->audit->to_ms + last->rule.schedule.span_ms + RECENT_MS;
	if (a->task->next_trigger_time == 0 && may_be_over)
		return; /* its last run ended too late for another one */
	if (a->task->next_trigger_time == 0) {
		a->result->counts.unreadable++;
		a->result->error = "the task stands still: it has neither a run nor a next fire";
	} else if (in_window(a->audit, a->task->next_trigger_time)) {
		count_fire(a, a->task->next_trigger_time, NOTHING);
	}
}

/* ---- the verdict ---- */

static void judge_rows(struct account *a)
{
	for (size_t i = 0; i < a->n_points; i++) {
		const struct point *point = &a->points[i];
		if (point->demanded || point->run->made_up || !in_window(a->audit, point->ms))
			continue;
		const struct part *part = part_of(a, point->ms);
		if (!part || part->readable)
			found_unexpected(a, point->ms);
	}
	for (size_t i = 0; i < a->n_covers; i++) {
		const struct cover *cover = &a->covers[i];
		const struct ax_check_run *run = cover->run;
		if (cover->counted == run->covers_count || touches_unreadable(a, run->covers_from, run->covers_to))
			continue;
		a->result->counts.miscounted++;
		sample_add(a->audit, &a->result->miscounted, run->gid);
	}
}

static void add_counts(struct ax_check_counts *total, const struct ax_check_counts *counts)
{
	total->expected += counts->expected;
	total->runs += counts->runs;
	total->skipped += counts->skipped;
	total->missed += counts->missed;
	total->coalesced += counts->coalesced;
	total->missing += counts->missing;
	total->unexpected += counts->unexpected;
	total->miscounted += counts->miscounted;
	total->unreadable += counts->unreadable;
	total->unexplained += counts->unexplained;
	total->duplicates += counts->duplicates;
}

void ax_check_audit_task(struct ax_check_audit *audit, const struct ax_check_task *task)
{
	struct ax_check_result result = { .task_id = task->id };
	struct account a = { .audit = audit, .task = task, .result = &result };
	read_parts(&a);
	read_rows(&a);
	walk(&a);
	for (size_t i = 0; i < a.n_parts; i++)
		if (a.parts[i].after_run)
			judge_after_run(&a, &a.parts[i]);
	judge_standstill(&a);
	judge_rows(&a);
	ax_arena_reset(&audit->scratch);

	struct ax_check_counts *counts = &result.counts;
	counts->unexplained = counts->missing + counts->unexpected + counts->miscounted + counts->unreadable;
	add_counts(&audit->total, counts);
	audit->n_tasks++;
	if (counts->expected == 0 && ax_check_is_clean(counts))
		return;
	result.task_name = ax_strdup(&audit->arena, task->name);
	struct ax_check_result *kept = ax_alloc(&audit->arena, sizeof(*kept));
	*kept = result;
	*audit->results_end = kept;
	audit->results_end = &kept->next;
}

/* ---- the audit as a whole ---- */

struct ax_check_audit *ax_check_audit_new(const char *zone_dir, int64_t from_ms, int64_t to_ms)
{
	struct ax_check_audit *audit = ax_malloc(sizeof(*audit));
	audit->zone_dir = zone_dir;
	audit->from_ms = from_ms;
	audit->to_ms = to_ms;
	audit->results_end = &audit->results;
	return audit;
}

void ax_check_audit_free(struct ax_check_audit *audit)
{
	if (!audit)
		return;
	ax_arena_done(&audit->scratch);
	ax_arena_done(&audit->arena);
	free(audit);
}

const struct ax_check_counts *ax_check_audit_total(const struct ax_check_audit *audit)
{
	return &audit->total;
}

enum ax_status ax_check_audit_first_fire(struct ax_check_audit *audit, const struct ax_check_epoch *epoch,
	int64_t after_ms, int64_t until_ms, int64_t *ret_ms, struct ax_err *err)
{
	struct ax_check_rule rule;
	enum ax_status status = ax_check_read_epoch(audit, epoch, &rule, err);
	if (status == AX_OK && rule.schedule.kind == AX_CHECK_AFTER)
		status = ax_fail(err, AX_INVALID, "cron_expr", "the next fire of @after depends on its runs");
	if (status == AX_OK) {
		struct ax_check_fires fires;
		ax_check_fires_begin(&fires, &rule.schedule, rule.zone, rule.anchor_ms, after_ms, until_ms);
		ax_check_fires_limit(&fires, &rule.limits);
		if (!ax_check_fires_next(&fires, ret_ms))
			status = ax_fail(err, AX_NOT_FOUND, "cron_expr", "no fire in that time");
		ax_check_fires_end(&fires);
	}
	ax_arena_reset(&audit->scratch);
	return status;
}
