#include "check/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"

enum event_kind { START, END, TOLD };

/* How an end says that the work ended: the numbers of ax_attempt.outcome. What is forgotten is told to no server. */
enum outcome { UNSAID = 0, SUCCESS = 1, LOST = 6, BOUNCED = 7, FORGOTTEN = 9 };

struct event {
	int64_t gid, fence, time_ms;
	enum event_kind kind;
	int outcome; /* of an end */
	bool late;   /* what was told had no effect: the run had been taken back */
	size_t who;
	size_t order;
};

/* One process of a worker; and of what the store dates of its attempts, the earliest end and the latest dispatch. */
struct who {
	const char *worker, *incarnation;
	int64_t first_end_ms, last_dispatch_ms;
};

struct ax_check_journal {
	struct ax_arena arena;
	struct event *events;
	size_t n, room;
	struct who *whos;
	size_t n_whos, whos_room;
};

struct ax_check_journal *ax_check_journal_new(void)
{
	return ax_malloc(sizeof(struct ax_check_journal));
}

void ax_check_journal_free(struct ax_check_journal *journal)
{
	if (!journal)
		return;
	free(journal->events);
	ax_arena_done(&journal->arena);
	free(journal);
}

/* ---- reading ---- */

/* An integer, or the text of one. */
static bool get_number(const json_t *object, const char *name, int64_t *ret)
{
	const json_t *member = json_object_get(object, name);
	if (json_is_integer(member)) {
		*ret = json_integer_value(member);
		return true;
	}
	const char *text = json_string_value(member);
	char *end;
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return errno == 0 && *end == '\0';
}

static bool is_who(const struct who *who, const char *worker, const char *incarnation)
{
	return strcmp(who->worker, worker) == 0 && strcmp(who->incarnation, incarnation) == 0;
}

/* Lines of one process follow each other. */
static size_t find_who(struct ax_check_journal *journal, const char *worker, const char *incarnation)
{
	for (size_t i = journal->n_whos; i-- > 0;)
		if (is_who(&journal->whos[i], worker, incarnation))
			return i;
	journal->whos = ax_grow_array(
		&journal->arena, journal->whos, journal->n_whos, 1, &journal->whos_room, sizeof(*journal->whos));
	journal->whos[journal->n_whos] = (struct who){
		.worker = ax_strdup(&journal->arena, worker),
		.incarnation = ax_strdup(&journal->arena, incarnation),
		.first_end_ms = INT64_MAX,
	};
	return journal->n_whos++;
}

/* The place of the member's text among the words, or -1. */
static int get_word(const json_t *object, const char *name, const char *const *words, int n)
{
	const char *text = json_string_value(json_object_get(object, name));
	for (int i = 0; text && i < n; i++)
		if (words[i] && strcmp(text, words[i]) == 0)
			return i;
	return -1;
}

static bool read_event(struct ax_check_journal *journal, const json_t *object, struct event *ret)
{
	static const char *const kinds[] = { [START] = "start", [END] = "end", [TOLD] = "told" };
	static const char *const outcomes[] = {
		[SUCCESS] = "success", "failed", "timeout", "cancelled", "refused", [FORGOTTEN] = "forgotten"
	};
	static const char *const verdicts[] = { "taken", "late" };
	int kind = get_word(object, "event", kinds, AX_COUNT(kinds));
	int outcome = get_word(object, "outcome", outcomes, AX_COUNT(outcomes));
	const char *worker = json_string_value(json_object_get(object, "worker"));
	const char *incarnation = json_string_value(json_object_get(object, "incarnation"));
	if (kind < 0 || !worker || !incarnation)
		return false;
	ret->kind = (enum event_kind)kind;
	ret->outcome = outcome < 0 ? UNSAID : outcome;
	ret->late = get_word(object, "verdict", verdicts, AX_COUNT(verdicts)) == 1;
	ret->who = find_who(journal, worker, incarnation);
	return get_number(object, "gid", &ret->gid) && get_number(object, "fence", &ret->fence) &&
		get_number(object, "time_ms", &ret->time_ms);
}

static bool add_line(struct ax_check_journal *journal, const char *line, size_t len)
{
	json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	struct event event = { .order = journal->n };
	bool good = object && read_event(journal, object, &event);
	json_decref(object);
	if (!good)
		return false;
	if (journal->n == journal->room) {
		journal->room = 2 * journal->room + 256;
		journal->events = ax_realloc(journal->events, journal->room * sizeof(*journal->events));
	}
	journal->events[journal->n++] = event;
	return true;
}

enum ax_status ax_check_journal_read(struct ax_check_journal *journal, const char *path, struct ax_err *err)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return ax_fail(err, AX_NOT_FOUND, "journal", "%s cannot be read: %s", path, strerror(errno));
	enum ax_status status = AX_OK;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	for (int number = 1; status == AX_OK && (len = getline(&line, &room, file)) > 0; number++) {
		if (line[len - 1] != '\n')
			break;
		if (!add_line(journal, line, (size_t)len))
			status = ax_fail(err, AX_INVALID, "journal", "%s:%d is no line of a journal", path, number);
	}
	if (status == AX_OK && ferror(file))
		status = ax_fail(err, AX_UNAVAILABLE, "journal", "%s cannot be read: %s", path, strerror(errno));
	free(line);
	fclose(file);
	return status;
}

/* ---- judging ---- */

enum { ONCE, PAIRS, APART, KNOWN, I5_TOLD, I5_WORKED, RULES };

enum {
	SKEW_MS = 5000,      /* by which instants of several servers may be wrong */
	KEPT_MS = 86340000,  /* no retention deletes a run within a day of its end */
	ENDED = 10,          /* the least state that is an end: success */
	GID_TIME_SHIFT = 22, /* a gid begins with the milliseconds since … */
};
#define GID_EPOCH_MS INT64_C(1704067200000)

/* One attempt as the journals tell it; the lines of an attempt lie side by side once they are sorted. */
struct attempt {
	int64_t gid, fence;
	int64_t start_ms, end_ms; /* end INT64_MAX: no line says so, the worker died with it */
	size_t who;
	int outcome;
	bool told, late;
	bool taken_back; /* by the store: lost, or never accepted */
};

/* The same as the store tells it. */
struct row {
	int64_t fence; /* of the run; 0 = there is no such run */
	int status, outcome, late_outcome;
	bool ended_by_worker;
	const char *worker; /* NULL = the attempt is not on record; until the next question */
	int64_t dispatch_ms, end_ms;
};

static int by_attempt(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;
	if (a->gid != b->gid)
		return a->gid < b->gid ? -1 : 1;
	if (a->fence != b->fence)
		return a->fence < b->fence ? -1 : 1;
	if (a->time_ms != b->time_ms)
		return a->time_ms < b->time_ms ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

struct judging {
	struct ax_arena *arena;
	struct ax_check_journal *journal;
	struct ax_check_finding *findings;
	sqlite3_stmt *attempts; /* NULL without a store */
	int64_t kept_from_gid;  /* of older runs some may have been deleted */
};

static const char *name_of(const struct judging *j, size_t who)
{
	return ax_sprintf(j->arena, "%s/%s", j->journal->whos[who].worker, j->journal->whos[who].incarnation);
}

static void accuse(const struct judging *j, int rule, const struct attempt *attempt, const char *what)
{
	ax_check_finding_add(&j->findings[rule],
		ax_sprintf(j->arena, "run %" PRId64 " fence %" PRId64 " of %s: %s", attempt->gid, attempt->fence,
			name_of(j, attempt->who), what));
}

/* Folds the lines events[0..n) of one (gid, fence) into an attempt. False when none of them is a start. */
static bool fold(const struct judging *j, const struct event *events, size_t n, struct attempt *ret)
{
	struct attempt attempt = {
		.gid = events[0].gid, .fence = events[0].fence, .end_ms = INT64_MAX, .who = events[0].who
	};
	size_t starts = 0, ends = 0;
	for (size_t i = 0; i < n; i++) {
		const struct event *event = &events[i];
		if (event->kind == TOLD) {
			attempt.late = event->late && (!attempt.told || attempt.late);
			attempt.told = true;
		} else if (event->kind == END && ends++ == 0) {
			attempt.end_ms = event->time_ms;
			attempt.outcome = event->outcome;
		} else if (event->kind == START && starts++ == 0) {
			attempt.start_ms = event->time_ms;
			attempt.who = event->who;
		} else if (event->kind == START) {
			accuse(j, ONCE, &attempt, ax_sprintf(j->arena, "begun again by %s", name_of(j, event->who)));
		}
	}
	if (ends > starts || (starts > 0 && attempt.end_ms < attempt.start_ms))
		accuse(j, PAIRS, &attempt,
			ax_sprintf(j->arena, "%zu ends for %zu starts, or an end before", ends, starts));
	*ret = attempt;
	return starts > 0;
}

static enum ax_status look_up(
	const struct judging *j, const struct attempt *attempt, struct row *ret, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	sqlite3_reset(j->attempts);
	sqlite3_bind_int64(j->attempts, 1, attempt->gid);
	sqlite3_bind_int64(j->attempts, 2, attempt->fence);
	*ret = (struct row){ 0 };
	if (ax_check_step(j->attempts, &status, err))
		*ret = (struct row){
			.fence = sqlite3_column_int64(j->attempts, 0),
			.status = sqlite3_column_int(j->attempts, 1),
			.ended_by_worker = sqlite3_column_int(j->attempts, 2) != 0,
			.outcome = sqlite3_column_int(j->attempts, 3),
			.late_outcome = sqlite3_column_int(j->attempts, 4),
			.worker = (const char *)sqlite3_column_text(j->attempts, 5),
			.dispatch_ms = sqlite3_column_int64(j->attempts, 6),
			.end_ms = sqlite3_column_int64(j->attempts, 7),
		};
	return status;
}

/* Two attempts of one run, the one with the smaller fence first. A worker that died has no end line: then nothing is
 * known about the time after. */
static void judge_pair(const struct judging *j, const struct attempt *a, const struct attempt *b)
{
	if (a->gid == b->gid && a->end_ms != INT64_MAX && b->start_ms < a->end_ms && !a->taken_back)
		accuse(j, APART, b,
			ax_sprintf(j->arena, "began %" PRId64 " ms before fence %" PRId64 " ended",
				a->end_ms - b->start_ms, a->fence));
}

static void judge_known(const struct judging *j, const struct attempt *attempt, const struct row *row)
{
	const char *worker = j->journal->whos[attempt->who].worker;
	if (row->fence == 0 ? attempt->gid >= j->kept_from_gid : row->fence < attempt->fence)
		accuse(j, KNOWN, attempt, "nobody gave it out");
	else if (row->worker && strcmp(row->worker, worker) != 0)
		accuse(j, KNOWN, attempt, ax_sprintf(j->arena, "it was given to %s", row->worker));
}

/* The outcome that a worker's result left in the store: SUCCESS, another one, or UNSAID. */
static int recorded_of(const struct attempt *attempt, const struct row *row)
{
	bool last = row->fence == attempt->fence && row->status >= ENDED && row->ended_by_worker;
	if (last && row->status == ENDED)
		return SUCCESS;
	if (row->late_outcome != UNSAID)
		return row->late_outcome;
	if (row->outcome != UNSAID && (row->outcome < LOST || row->outcome == BOUNCED))
		return row->outcome;
	return last ? row->status : UNSAID;
}

/* What a server confirmed is in the store, as it was told: applied, or beside the attempt when it came late. */
static void judge_told(const struct judging *j, const struct attempt *attempt, const struct row *row)
{
	bool deleted = row->fence == 0 && attempt->gid < j->kept_from_gid;
	bool its_own = row->worker && strcmp(row->worker, j->journal->whos[attempt->who].worker) == 0;
	int recorded = its_own && row->fence >= attempt->fence ? recorded_of(attempt, row) : UNSAID;
	if (attempt->told && !attempt->late && recorded == UNSAID && !deleted)
		accuse(j, I5_TOLD, attempt, "its result was confirmed and is not there");
	else if (attempt->told && attempt->late && its_own && row->late_outcome == UNSAID)
		accuse(j, I5_TOLD, attempt, "its late result is not kept");
	else if (recorded != UNSAID && attempt->outcome != UNSAID &&
		(recorded == SUCCESS) != (attempt->outcome == SUCCESS))
		accuse(j, I5_TOLD, attempt,
			recorded == SUCCESS ? "the store says success, the journal does not"
					    : "the journal says success, the store does not");
}

static void widen(struct who *who, const struct row *row)
{
	if (row->end_ms > 0 && row->end_ms < who->first_end_ms)
		who->first_end_ms = row->end_ms;
	if (row->dispatch_ms > who->last_dispatch_ms)
		who->last_dispatch_ms = row->dispatch_ms;
}

static enum ax_status judge_all(const struct judging *j, struct ax_err *err)
{
	const struct ax_check_journal *journal = j->journal;
	enum ax_status status = AX_OK;
	struct attempt before = { .gid = -1 };
	for (size_t i = 0, n; status == AX_OK && i < journal->n; i += n) {
		const struct event *first = &journal->events[i];
		for (n = 1; i + n < journal->n && first[n].gid == first->gid && first[n].fence == first->fence;)
			n++;
		struct attempt attempt;
		struct row row = { 0 };
		bool begun = fold(j, first, n, &attempt);
		if (j->attempts)
			status = look_up(j, &attempt, &row, err);
		if (j->attempts && status == AX_OK) {
			attempt.taken_back = row.outcome == LOST || row.outcome == BOUNCED;
			judge_told(j, &attempt, &row);
		}
		if (status != AX_OK || !begun)
			continue;
		judge_pair(j, &before, &attempt);
		if (j->attempts) {
			judge_known(j, &attempt, &row);
			widen(&journal->whos[attempt.who], &row);
		}
		/* of those that end, the one that ends last is what the next one may run into */
		if (before.gid != attempt.gid || before.end_ms == INT64_MAX ||
			(attempt.end_ms != INT64_MAX && attempt.end_ms > before.end_ms))
			before = attempt;
	}
	return status;
}

/* ---- successes without work */

static bool has_start(const struct ax_check_journal *journal, int64_t gid, int64_t fence)
{
	size_t low = 0, high = journal->n; /* the first event of the attempt is in [low, high] */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct event *event = &journal->events[middle];
		if (event->gid < gid || (event->gid == gid && event->fence < fence))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < journal->n && journal->events[low].gid == gid && journal->events[low].fence == fence; low++)
		if (journal->events[low].kind == START)
			return true;
	return false;
}

/* A worker's files cover the time between two attempts that they hold, whatever process of it had them: what was given
 * out after the one had ended, and had ended before the other was given out, was begun between two of their lines. */
static void share_times(struct ax_check_journal *journal)
{
	for (size_t i = 0; i < journal->n_whos; i++)
		for (size_t k = 0; k < journal->n_whos; k++) {
			struct who *a = &journal->whos[i], *b = &journal->whos[k];
			if (strcmp(a->worker, b->worker) != 0)
				continue;
			a->first_end_ms = AX_MIN(a->first_end_ms, b->first_end_ms);
			a->last_dispatch_ms = AX_MAX(a->last_dispatch_ms, b->last_dispatch_ms);
		}
}

static bool is_covered(const struct who *who, int64_t dispatch_ms, int64_t end_ms)
{
	return who->first_end_ms != INT64_MAX && dispatch_ms > who->first_end_ms + SKEW_MS &&
		end_ms < who->last_dispatch_ms - SKEW_MS;
}

static enum ax_status judge_worked(const struct judging *j, const struct ax_check_store *store, struct ax_err *err)
{
	struct ax_check_journal *journal = j->journal;
	sqlite3_stmt *stmt;
	enum ax_status status = ax_check_prepare(store,
		"SELECT gid, fence, worker, incarnation, dispatch_time, end_time FROM ax_task_log"
		" WHERE status = 10 AND ended_by_worker = 1 AND fence > 0",
		&stmt, err);
	share_times(journal);
	while (status == AX_OK && ax_check_step(stmt, &status, err)) {
		size_t who = 0;
		while (who < journal->n_whos &&
			!is_who(&journal->whos[who], (const char *)sqlite3_column_text(stmt, 2),
				(const char *)sqlite3_column_text(stmt, 3)))
			who++;
		const struct attempt attempt = {
			.gid = sqlite3_column_int64(stmt, 0), .fence = sqlite3_column_int64(stmt, 1), .who = who
		};
		if (who < journal->n_whos &&
			is_covered(&journal->whos[who], sqlite3_column_int64(stmt, 4), sqlite3_column_int64(stmt, 5)) &&
			!has_start(journal, attempt.gid, attempt.fence))
			accuse(j, I5_WORKED, &attempt, "the store says success, and it was never begun");
	}
	sqlite3_finalize(stmt);
	return status;
}

/* ---- all of it */

/* Retention by age deletes the oldest runs; that of a group may thin out what is older than a day. */
static const char kept_sql[] = "SELECT min(gid), EXISTS (SELECT 1 FROM ax_group WHERE keep_days > 0 OR keep_runs > 0)"
			       " FROM ax_task_log";

static const char attempts_sql[] =
	"SELECT r.fence, r.status, r.ended_by_worker, a.outcome, a.late_outcome,"
	" CASE WHEN a.gid IS NOT NULL THEN a.worker WHEN r.fence = ?2 THEN r.worker END,"
	" CASE r.fence WHEN ?2 THEN r.dispatch_time ELSE a.dispatch_time END,"
	" CASE r.fence WHEN ?2 THEN r.end_time ELSE a.end_time END"
	" FROM ax_task_log r LEFT JOIN ax_attempt a ON a.gid = r.gid AND a.fence = ?2 WHERE r.gid = ?1";

static enum ax_status open_store(struct judging *j, const struct ax_check_store *store, struct ax_err *err)
{
	sqlite3_stmt *kept;
	enum ax_status status = ax_check_prepare(store, kept_sql, &kept, err);
	if (status == AX_OK && ax_check_step(kept, &status, err)) {
		int64_t thinned = (store->time_ms - KEPT_MS - GID_EPOCH_MS) * (INT64_C(1) << GID_TIME_SHIFT);
		j->kept_from_gid = sqlite3_column_int64(kept, 0);
		if (sqlite3_column_int(kept, 1) != 0)
			j->kept_from_gid = AX_MAX(j->kept_from_gid, thinned);
	}
	sqlite3_finalize(kept);
	return status == AX_OK ? ax_check_prepare(store, attempts_sql, &j->attempts, err) : status;
}

enum ax_status ax_check_journal_judge(struct ax_check_journal *journal, const struct ax_check_store *store,
	struct ax_arena *arena, struct ax_check_findings *ret, struct ax_err *err)
{
	static const struct ax_check_finding rules[RULES] = {
		[ONCE] = { .id = "J.once", .rule = "no attempt is begun twice", .judged = true },
		[PAIRS] = { .id = "J.pairs", .rule = "an attempt ends after it began, once", .judged = true },
		[APART] = { .id = "J.apart",
			.rule = "no two attempts of a run overlap, unless the earlier one was taken back",
			.judged = true },
		[KNOWN] = { .id = "J.known", .rule = "the store gave out every attempt to the worker that began it" },
		[I5_TOLD] = { .id = "I5.told", .rule = "a result that a server confirmed is in the store, as it was" },
		[I5_WORKED] = { .id = "I5.worked", .rule = "a worker began what the store says it succeeded with" },
	};
	struct judging j = { .arena = arena, .journal = journal };
	j.findings = ax_alloc_array(arena, RULES, sizeof(*j.findings));
	memcpy(j.findings, rules, sizeof(rules));
	for (int i = 0; i < RULES; i++)
		j.findings[i].judged = rules[i].judged || store != NULL;
	enum ax_status status = store ? open_store(&j, store, err) : AX_OK;
	if (journal->n > 0)
		qsort(journal->events, journal->n, sizeof(*journal->events), by_attempt);
	if (status == AX_OK)
		status = judge_all(&j, err);
	if (status == AX_OK && store)
		status = judge_worked(&j, store, err);
	sqlite3_finalize(j.attempts);
	if (status != AX_OK)
		return status;
	struct ax_check_findings findings = { .at = j.findings, .n = RULES };
	for (size_t i = 0; i < RULES; i++)
		findings.violations += findings.at[i].violations;
	*ret = findings;
	return AX_OK;
}
