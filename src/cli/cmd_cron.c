#include "cli/cmd_cron.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/attr.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "core/schedule_text.h"

enum {
	exit_output = 1,
	exit_usage = 2,
	default_n = 5,
	max_n = 100000,
	max_line_bytes = 1 << 20,
};

static const char usage[] =
	"usage: axctl cron next [--dialect unix|quartz|spring] [--tz ZONE] [--from RFC3339] [-n N] EXPRESSION\n"
	"       axctl cron next --batch < LINES   each {\"expr\",\"tz\",\"from\",\"n\",\"dialect\"}\n"
	"       axctl cron explain [the same options] EXPRESSION\n";

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

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* err->field is "time_zone" for a zone that is not known. */
static enum ax_status understand(struct ax_zones *zones, const struct question *q, struct plan *ret, struct ax_err *err)
{
	enum ax_dialect dialect = AX_DIALECT_NONE;
	if (q->dialect != NULL && !ax_dialect_parse(q->dialect, &dialect))
		return ax_fail(err, AX_INVALID, "dialect", "There is no such dialect; write unix, quartz or spring.");
	if (q->from == NULL)
		ret->from_ms = now_ms();
	else if (!ax_rfc3339_parse(q->from, strlen(q->from), &ret->from_ms))
		return ax_fail(err, AX_INVALID, "from",
			"The start is not an instant; write one like 2026-11-29T21:00:00Z or with +01:00.");
	if (q->n < 1 || q->n > max_n)
		return ax_fail(err, AX_INVALID, "n", "The number of fires goes from 1 to %d.", max_n);
	ret->tz = ax_zones_find(zones, q->tz != NULL ? q->tz : "UTC");
	if (ret->tz == NULL)
		return ax_fail(err, AX_INVALID, "time_zone",
			"There is no such time zone; write a name of the tz database, such as Europe/Berlin or UTC.");
	return ax_schedule_parse(q->expr, q->expr_len, dialect, &ret->schedule, err);
}

/* --- one expression ------------------------------------------------------------------------------------------ */

static int print_next(const struct plan *plan, int64_t n)
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
	return 0;
}

static void print_line(struct ax_buf *text)
{
	fwrite(text->data, 1, text->len, stdout);
	putchar('\n');
	ax_buf_clear(text);
}

static void print_fire(const struct ax_fire *fire, struct ax_buf *text)
{
	char utc[AX_RFC3339_SIZE], local[AX_RFC3339_SIZE];
	ax_rfc3339_format(fire->ms, utc);
	ax_rfc3339_format_offset(fire->ms, fire->offset_s, local);
	if (fire->fires)
		ax_buf_printf(text, "%s  %s %s", utc, local, fire->abbr);
	if (fire->fires && fire->note != AX_NOTE_NONE)
		ax_buf_adds(text, "  ");
	ax_fire_note_text(fire, text);
	print_line(text);
}

static int print_explanation(const struct plan *plan, int64_t n)
{
	struct ax_buf text;
	ax_buf_init(&text, 1 << 16);
	ax_buf_adds(&text, "Runs ");
	ax_schedule_describe(&plan->schedule, &text);
	ax_buf_printf(&text, " (%s)", ax_tz_name(plan->tz));
	print_line(&text);
	unsigned warnings = ax_schedule_warnings(&plan->schedule);
	for (unsigned bit = 1; bit <= warnings; bit <<= 1) {
		if (!(warnings & bit))
			continue;
		ax_buf_adds(&text, "Note: ");
		ax_schedule_warning_text(&plan->schedule, (enum ax_schedule_warning)bit, &text);
		print_line(&text);
	}
	const struct ax_rule rule = { .schedule = plan->schedule, .tz = plan->tz, .anchor_ms = plan->from_ms };
	int64_t after_ms = plan->from_ms;
	for (int64_t fires = 0; fires < n;) {
		struct ax_fire items[64];
		size_t got = ax_schedule_preview(&rule, after_ms, INT64_MAX, items, AX_COUNT(items));
		if (got == 0)
			break;
		for (size_t i = 0; i < got && fires < n; i++) {
			print_fire(&items[i], &text);
			fires += items[i].fires;
			after_ms = items[i].ms;
		}
	}
	ax_buf_done(&text);
	return 0;
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
	ret->n = json_is_integer(n) ? json_integer_value(n) : default_n;
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
		len > max_line_bytes ? NULL : json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
	if (len > max_line_bytes)
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
	return ferror(stdin) ? exit_output : 0;
}

/* --- arguments ----------------------------------------------------------------------------------------------- */

static int usage_error(const char *what)
{
	fprintf(stderr, "axctl: %s\n%s", what, usage);
	return exit_usage;
}

static bool read_options(int argc, char **argv, struct question *q, bool *ret_batch)
{
	static const struct option options[] = {
		{ "dialect", required_argument, NULL, 'd' },
		{ "tz", required_argument, NULL, 'z' },
		{ "from", required_argument, NULL, 'f' },
		{ "batch", no_argument, NULL, 'b' },
		{ NULL, 0, NULL, 0 },
	};
	int c;
	optind = 0; /* anew: the caller has used getopt too */
	while ((c = getopt_long(argc, argv, "n:", options, NULL)) != -1) {
		if (c == 'd')
			q->dialect = optarg;
		else if (c == 'z')
			q->tz = optarg;
		else if (c == 'f')
			q->from = optarg;
		else if (c == 'b')
			*ret_batch = true;
		else if (c != 'n' || !ax_parse_i64(optarg, strlen(optarg), 1, max_n, &q->n))
			return false;
	}
	return true;
}

static int run_one(struct ax_zones *zones, const struct question *q, bool explain)
{
	struct plan plan;
	struct ax_err err;
	if (understand(zones, q, &plan, &err) != AX_OK) {
		fprintf(stderr, "axctl: %s: %s\n", err.field, err.msg);
		return exit_usage;
	}
	return explain ? print_explanation(&plan, q->n) : print_next(&plan, q->n);
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int ax_cmd_cron(int argc, char **argv)
{
	struct question q = { .n = default_n };
	bool is_batch = false;
	const char *verb = argc > 1 ? argv[1] : "";
	bool explain = strcmp(verb, "explain") == 0;
	if (is_help(verb) || (argc > 2 && is_help(argv[2]))) {
		fputs(usage, stdout);
		return 0;
	}
	if (!explain && strcmp(verb, "next") != 0)
		return usage_error("write cron next or cron explain");
	if (!read_options(argc - 1, argv + 1, &q, &is_batch))
		return usage_error("an option or its value cannot be read");
	int left = argc - 1 - optind;
	if (is_batch ? left != 0 || explain : left != 1)
		return usage_error(is_batch ? "--batch goes with next and reads its expressions from standard input"
					    : "write one expression, in quotes");
	struct ax_zones *zones = ax_zoneinfo_open(NULL);
	if (!is_batch) {
		q.expr = argv[1 + optind];
		q.expr_len = strlen(q.expr);
	}
	int code = is_batch ? batch(zones) : run_one(zones, &q, explain);
	ax_zoneinfo_close(zones);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "axctl: the output could not be written\n");
		return exit_output;
	}
	return code;
}
