#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/attr.h"
#include "base/rfc3339.h"
#include "cli/ctl.h"
#include "cli/print.h"
#include "core/schedule_text.h"

/* When a schedule fires, without a server. */

enum { DEFAULT_N = 5, MAX_N = 100000, MAX_LINE_BYTES = 1 << 20 };

/* A question as it was asked; NULL for what was left out. */
struct question {
	const char *expr;
	size_t expr_len;
	const char *dialect, *tz, *from;
	int64_t n;
};

/* The question understood. */
struct plan {
	struct ax_schedule schedule;
	const struct ax_tz *tz;
	int64_t from_ms;
};

/* err->field is "time_zone" for a zone that is not known. */
static enum ax_status understand(struct ax_zones *zones, const struct question *q, struct plan *ret, struct ax_err *err)
{
	enum ax_dialect dialect = AX_DIALECT_NONE;
	if (q->dialect != NULL && !ax_dialect_parse(q->dialect, &dialect))
		return ax_fail(err, AX_INVALID, "dialect", "There is no such dialect; write unix, quartz or spring.");
	if (q->from == NULL)
		ret->from_ms = ax_ctl_now_ms();
	else if (!ax_rfc3339_parse(q->from, strlen(q->from), &ret->from_ms))
		return ax_fail(err, AX_INVALID, "from",
			"The start is not an instant; write one like 2026-11-29T21:00:00Z or with +01:00.");
	if (q->n < 1 || q->n > MAX_N)
		return ax_fail(err, AX_INVALID, "n", "The number of fires goes from 1 to %d.", MAX_N);
	ret->tz = ax_zones_find(zones, q->tz != NULL ? q->tz : "UTC");
	if (ret->tz == NULL)
		return ax_fail(err, AX_INVALID, "time_zone",
			"There is no such time zone; write a name of the tz database, such as Europe/Berlin or UTC.");
	return ax_schedule_parse(q->expr, q->expr_len, dialect, &ret->schedule, err);
}

/* --- one expression ------------------------------------------------------------------------------------------ */

static void print_next(const struct plan *plan, int64_t n)
{
	int64_t ms = plan->from_ms;
	for (int64_t i = 0; i < n; i++) {
		char text[AX_RFC3339_SIZE];
		if (!ax_schedule_next(&plan->schedule, plan->tz, plan->from_ms, ms, &ms)) {
			if (i == 0)
				fprintf(stderr, "axctl: no fire after the start\n");
			break;
		}
		ax_rfc3339_format(ms, text);
		puts(text);
	}
}

static json_t *take_text(struct ax_buf *text)
{
	json_t *string = json_stringn(text->len > 0 ? text->data : "", text->len);
	ax_buf_clear(text);
	return string;
}

static json_t *fire_of(const struct ax_fire *fire, struct ax_buf *text)
{
	char local[AX_RFC3339_SIZE];
	ax_rfc3339_format_offset(fire->ms, fire->offset_s, local);
	ax_fire_note_text(fire, text);
	json_t *note = text->len > 0 ? json_pack("{s:o}", "text", take_text(text)) : json_null();
	return json_pack("{s:I, s:b, s:s, s:s, s:o}", "time", (json_int_t)fire->ms, "fires", fire->fires, "local",
		local, "abbreviation", fire->abbr, "note", note);
}

/* As the API's preview has it. */
static json_t *explanation_of(const struct plan *plan, int64_t n)
{
	struct ax_buf text;
	json_t *warnings = json_array(), *fires = json_array();
	ax_buf_init(&text, 1 << 16);
	unsigned all = ax_schedule_warnings(&plan->schedule);
	for (unsigned bit = 1; bit <= all; bit <<= 1) {
		if (!(all & bit))
			continue;
		ax_schedule_warning_text(&plan->schedule, (enum ax_schedule_warning)bit, &text);
		json_array_append_new(warnings, json_pack("{s:o}", "text", take_text(&text)));
	}
	const struct ax_rule rule = { .schedule = plan->schedule, .tz = plan->tz, .anchor_ms = plan->from_ms };
	int64_t after_ms = plan->from_ms;
	while (n > 0) {
		struct ax_fire items[64];
		size_t got = ax_schedule_preview(&rule, after_ms, INT64_MAX, items, AX_COUNT(items));
		if (got == 0)
			break;
		for (size_t i = 0; i < got && n > 0; i++) {
			json_array_append_new(fires, fire_of(&items[i], &text));
			n -= items[i].fires;
			after_ms = items[i].ms;
		}
	}
	ax_schedule_describe(&plan->schedule, &text);
	json_t *words = take_text(&text);
	ax_buf_done(&text);
	return json_pack("{s:o, s:s, s:o, s:o}", "words", words, "time_zone", ax_tz_name(plan->tz), "warnings",
		warnings, "fires", fires);
}

static void print_explanation(struct ax_arena *arena, const json_t *explanation)
{
	size_t i;
	const json_t *warning, *fire;
	printf("Runs %s (%s)\n", ax_json_text(arena, explanation, "words"),
		ax_json_text(arena, explanation, "time_zone"));
	json_array_foreach(json_object_get(explanation, "warnings"), i, warning)
		printf("Note: %s\n", ax_json_text(arena, warning, "text"));
	json_array_foreach(json_object_get(explanation, "fires"), i, fire)
	{
		char utc[AX_RFC3339_SIZE];
		bool fires = ax_json_true(fire, "fires");
		const char *note = ax_json_text(arena, json_object_get(fire, "note"), "text");
		ax_rfc3339_format(ax_json_int(fire, "time"), utc);
		if (fires)
			printf("%s  %s %s", utc, ax_json_text(arena, fire, "local"),
				ax_json_text(arena, fire, "abbreviation"));
		printf("%s%s\n", fires && *note != '\0' ? "  " : "", note);
	}
}

/* --- batch --------------------------------------------------------------------------------------------------- */

static void answer_error(const char *code, const char *message)
{
	json_t *answer = json_pack("{s:{s:s, s:s}}", "error", "code", code, "message", message);
	json_dumpf(answer, stdout, JSON_COMPACT);
	json_decref(answer);
	putchar('\n');
}

static void answer_next(const struct plan *plan, int64_t n)
{
	int64_t ms = plan->from_ms;
	fputs("{\"next\":[", stdout);
	for (int64_t i = 0; i < n && ax_schedule_next(&plan->schedule, plan->tz, plan->from_ms, ms, &ms); i++) {
		char text[AX_RFC3339_SIZE];
		ax_rfc3339_format(ms, text);
		printf("%s\"%s\"", i > 0 ? "," : "", text);
	}
	fputs("]}\n", stdout);
}

/* A member that is a string without NUL, or is not there; false when it is anything else. */
static bool optional_string(const json_t *line, const char *key, const char **ret)
{
	const json_t *value = json_object_get(line, key);
	*ret = json_string_value(value);
	if (value == NULL || json_is_null(value))
		return true;
	return *ret != NULL && strlen(*ret) == json_string_length(value);
}

static bool read_question(const json_t *line, struct question *ret)
{
	const json_t *expr = json_object_get(line, "expr"), *n = json_object_get(line, "n");
	if (!json_is_string(expr) || !(n == NULL || json_is_null(n) || json_is_integer(n)))
		return false;
	ret->expr = json_string_value(expr);
	ret->expr_len = json_string_length(expr);
	ret->n = json_is_integer(n) ? json_integer_value(n) : DEFAULT_N;
	return optional_string(line, "dialect", &ret->dialect) && optional_string(line, "tz", &ret->tz) &&
		optional_string(line, "from", &ret->from);
}

static void answer_line(struct ax_zones *zones, const char *text, size_t len)
{
	struct question q;
	struct plan plan;
	struct ax_err err;
	json_error_t fault;
	json_t *line =
		len > MAX_LINE_BYTES ? NULL : json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
	if (len > MAX_LINE_BYTES)
		answer_error("syntax", "The line is longer than 1 MiB.");
	else if (line == NULL)
		answer_error("syntax", fault.text);
	else if (!read_question(line, &q))
		answer_error("syntax",
			"The line is not {\"expr\": text, \"tz\": text, \"from\": text, \"n\": integer, "
			"\"dialect\": text}; only expr must be there.");
	else if (understand(zones, &q, &plan, &err) == AX_OK)
		answer_next(&plan, q.n);
	else
		answer_error(err.status == AX_NEVER                   ? "never"
				: strcmp(err.field, "time_zone") == 0 ? "zone"
								      : "syntax",
			err.msg);
	json_decref(line);
}

/* Every line gets one answer, in order, as soon as it is read: someone may wait for it before writing the next. */
static int batch(struct ax_zones *zones)
{
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;
	setvbuf(stdout, NULL, _IOLBF, 1 << 16);
	while ((len = getline(&text, &cap, stdin)) > 0 && !ferror(stdout))
		answer_line(zones, text, (size_t)len);
	free(text);
	return ferror(stdin) ? AX_EXIT_NO : AX_EXIT_OK;
}

/* --- commands ------------------------------------------------------------------------------------------------ */

#define QUESTION_OPTS                                                                                                  \
	{ "dialect", NULL, "D", "unix, quartz or spring; else what the expression looks like" },                       \
		{ "tz", "time-zone", "ZONE", "as Europe/Berlin (UTC)" },                                               \
		{ "from", NULL, "TIME", "after this instant, RFC 3339 (now)" },                                        \
	{                                                                                                              \
		"n", "count", "N", "how many fires, 1 to 100000 (5)"                                                   \
	}

static const struct ax_opt next_opts[] = {
	QUESTION_OPTS,
	{ "batch", NULL, NULL, "read lines of {\"expr\",\"tz\",\"from\",\"n\",\"dialect\"}, answer each with a line" },
	{ 0 },
};
static const struct ax_opt explain_opts[] = { QUESTION_OPTS, { 0 } };

/* Asks as the options and the operand say. */
static int ask(struct ax_ctl *ctl, struct ax_zones *zones, struct question *q, struct plan *ret)
{
	struct ax_err err;
	if (ctl->args.n_operands != 1)
		return ax_ctl_fail(AX_EXIT_USAGE, "", "write one expression, in quotes");
	*q = (struct question){
		.expr = ctl->args.operands[0],
		.expr_len = strlen(ctl->args.operands[0]),
		.dialect = ax_args_get(&ctl->args, "dialect"),
		.tz = ax_args_get(&ctl->args, "tz"),
		.from = ax_args_get(&ctl->args, "from"),
		.n = DEFAULT_N,
	};
	int code = ax_ctl_opt_i64(ctl, "n", 1, MAX_N, &q->n);
	if (code == AX_EXIT_OK && understand(zones, q, ret, &err) != AX_OK)
		code = ax_ctl_fail(AX_EXIT_USAGE, err.field, "%s", err.msg);
	return code;
}

static int next(struct ax_ctl *ctl)
{
	bool is_batch = ax_args_has(&ctl->args, "batch");
	struct question q;
	struct plan plan;
	if (is_batch && ctl->args.n_operands > 0)
		return ax_ctl_fail(AX_EXIT_USAGE, "--batch", "reads its expressions from standard input");
	struct ax_zones *zones = ax_zoneinfo_open(NULL);
	int code = is_batch ? batch(zones) : ask(ctl, zones, &q, &plan);
	if (!is_batch && code == AX_EXIT_OK && ctl->json)
		answer_next(&plan, q.n);
	else if (!is_batch && code == AX_EXIT_OK)
		print_next(&plan, q.n);
	ax_zoneinfo_close(zones);
	return code;
}

static int explain(struct ax_ctl *ctl)
{
	struct question q;
	struct plan plan;
	struct ax_zones *zones = ax_zoneinfo_open(NULL);
	int code = ask(ctl, zones, &q, &plan);
	json_t *explanation = code == AX_EXIT_OK ? explanation_of(&plan, q.n) : NULL;
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, explanation);
	else if (code == AX_EXIT_OK)
		print_explanation(&ctl->arena, explanation);
	json_decref(explanation);
	ax_zoneinfo_close(zones);
	return code;
}

const struct ax_verb ax_cron_verbs[] = {
	{ "next", "EXPR", 0, 1, "its next fires", next_opts, next, true },
	{ "explain", "EXPR", 0, 1, "it in words, and its next fires with what clock changes do to them", explain_opts,
		explain, true },
	{ 0 },
};
