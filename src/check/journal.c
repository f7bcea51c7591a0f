#include "check/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event {
	int64_t gid, fence, time_ms;
	bool is_end;
	const char *who; /* worker and incarnation */
	size_t order;
};

struct ax_check_journal {
	struct ax_arena arena;
	struct event *events;
	size_t n, room;
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

static bool read_event(struct ax_check_journal *journal, const json_t *object, struct event *ret)
{
	const char *event = json_string_value(json_object_get(object, "event"));
	const char *worker = json_string_value(json_object_get(object, "worker"));
	const char *incarnation = json_string_value(json_object_get(object, "incarnation"));
	if (!event || !worker || !incarnation || (strcmp(event, "start") != 0 && strcmp(event, "end") != 0))
		return false;
	ret->is_end = strcmp(event, "end") == 0;
	ret->who = ax_sprintf(&journal->arena, "%s/%s", worker, incarnation);
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

enum { ONCE, PAIRS, APART, KNOWN, RULES };

/* One attempt as the journals tell it; the lines of an attempt lie side by side once they are sorted. */
struct attempt {
	int64_t gid, fence;
	int64_t start_ms, end_ms; /* end INT64_MAX: no line says so, the worker died with it */
	const char *who;
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
	struct ax_check_finding *findings;
	sqlite3_stmt *lost, *known; /* NULL without a store */
};

/* Folds the lines events[0..n) of one (gid, fence) into an attempt. False when none of them is a start. */
static bool fold(const struct judging *j, const struct event *events, size_t n, struct attempt *ret)
{
	struct attempt attempt = { .gid = events[0].gid, .fence = events[0].fence, .end_ms = INT64_MAX };
	size_t starts = 0, ends = 0;
	for (size_t i = 0; i < n; i++) {
		if (events[i].is_end) {
			if (ends++ == 0)
				attempt.end_ms = events[i].time_ms;
			continue;
		}
		if (starts++ == 0) {
			attempt.start_ms = events[i].time_ms;
			attempt.who = events[i].who;
			continue;
		}
		ax_check_finding_add(&j->findings[ONCE],
			ax_sprintf(j->arena, "run %" PRId64 " fence %" PRId64 ": begun by %s and again by %s",
				attempt.gid, attempt.fence, attempt.who, events[i].who));
	}
	if (ends > starts || (starts > 0 && attempt.end_ms < attempt.start_ms))
		ax_check_finding_add(&j->findings[PAIRS],
			ax_sprintf(j->arena,
				"run %" PRId64 " fence %" PRId64 ": %zu ends for %zu starts, or an end before",
				attempt.gid, attempt.fence, ends, starts));
	*ret = attempt;
	return starts > 0;
}

/* Runs a prepared question about (gid, fence) that is answered by whether there is a row. */
static enum ax_status ask(sqlite3_stmt *stmt, int64_t gid, int64_t fence, bool *ret, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, gid);
	sqlite3_bind_int64(stmt, 2, fence);
	*ret = ax_check_step(stmt, &status, err);
	return status;
}

/* Two attempts of one run, the one with the smaller fence first. A worker that died has no end line: then nothing is
 * known about the time after. */
static enum ax_status judge_pair(
	const struct judging *j, const struct attempt *a, const struct attempt *b, struct ax_err *err)
{
	if (a->gid != b->gid || a->end_ms == INT64_MAX || b->start_ms >= a->end_ms)
		return AX_OK;
	bool lost = false;
	enum ax_status status = j->lost ? ask(j->lost, a->gid, a->fence, &lost, err) : AX_OK;
	if (status == AX_OK && !lost)
		ax_check_finding_add(&j->findings[APART],
			ax_sprintf(j->arena,
				"run %" PRId64 ": fence %" PRId64 " began %" PRId64 " ms before fence %" PRId64
				" ended",
				a->gid, b->fence, a->end_ms - b->start_ms, a->fence));
	return status;
}

static enum ax_status judge_known(const struct judging *j, const struct attempt *attempt, struct ax_err *err)
{
	if (!j->known)
		return AX_OK;
	bool known;
	enum ax_status status = ask(j->known, attempt->gid, attempt->fence, &known, err);
	if (status == AX_OK && !known)
		ax_check_finding_add(&j->findings[KNOWN],
			ax_sprintf(j->arena, "run %" PRId64 " fence %" PRId64 " of %s", attempt->gid, attempt->fence,
				attempt->who));
	return status;
}

static enum ax_status judge_all(const struct judging *j, const struct ax_check_journal *journal, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	struct attempt before = { .gid = -1 };
	for (size_t i = 0, n; status == AX_OK && i < journal->n; i += n) {
		const struct event *first = &journal->events[i];
		for (n = 1; i + n < journal->n && first[n].gid == first->gid && first[n].fence == first->fence;)
			n++;
		struct attempt attempt;
		if (!fold(j, first, n, &attempt))
			continue;
		status = judge_pair(j, &before, &attempt, err);
		if (status == AX_OK)
			status = judge_known(j, &attempt, err);
		/* of those that end, the one that ends last is what the next one may run into */
		if (before.gid != attempt.gid || before.end_ms == INT64_MAX ||
			(attempt.end_ms != INT64_MAX && attempt.end_ms > before.end_ms))
			before = attempt;
	}
	return status;
}

enum ax_status ax_check_journal_judge(struct ax_check_journal *journal, const struct ax_check_store *store,
	struct ax_arena *arena, struct ax_check_findings *ret, struct ax_err *err)
{
	struct judging j = { .arena = arena };
	j.findings = ax_alloc_array(arena, RULES, sizeof(*j.findings));
	j.findings[ONCE] =
		(struct ax_check_finding){ .id = "J.once", .rule = "no attempt is begun twice", .judged = true };
	j.findings[PAIRS] = (struct ax_check_finding){
		.id = "J.pairs", .rule = "an attempt ends after it began, once", .judged = true
	};
	j.findings[APART] = (struct ax_check_finding){ .id = "J.apart",
		.rule = "no two attempts of a run overlap, unless the earlier one was taken back",
		.judged = true };
	j.findings[KNOWN] = (struct ax_check_finding){
		.id = "J.known", .rule = "the store gave out every attempt that was begun", .judged = store != NULL
	};
	enum ax_status status = AX_OK;
	if (store)
		status = ax_check_prepare(store,
			"SELECT 1 FROM ax_attempt WHERE gid = ?1 AND fence = ?2 AND outcome IN (6, 7)", &j.lost, err);
	if (store && status == AX_OK) /* runs older than the oldest one may have been deleted by retention */
		status = ax_check_prepare(store,
			"SELECT 1 WHERE EXISTS (SELECT 1 FROM ax_task_log WHERE gid = ?1 AND fence >= ?2)"
			" OR ?1 < (SELECT min(gid) FROM ax_task_log)",
			&j.known, err);
	if (journal->n > 0)
		qsort(journal->events, journal->n, sizeof(*journal->events), by_attempt);
	if (status == AX_OK)
		status = judge_all(&j, journal, err);
	sqlite3_finalize(j.lost);
	sqlite3_finalize(j.known);
	if (status != AX_OK)
		return status;
	struct ax_check_findings findings = { .at = j.findings, .n = RULES };
	for (size_t i = 0; i < RULES; i++)
		findings.violations += findings.at[i].violations;
	*ret = findings;
	return AX_OK;
}
