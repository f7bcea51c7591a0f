/* ax-check: the audit of a store, and of workers' execution journals. docs/audit.md. */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/audit.h"
#include "check/invariants.h"
#include "check/journal.h"
#include "check/store.h"

enum { CLEAN = 0, VIOLATIONS = 1, CANNOT = 2 };
enum { MAX_TABLE_BYTES = 64 << 20, TABLE_ROWS = 100 };

static const char usage[] =
	"usage: ax-check --store URL [--from T] [--to T] [--task ID] [--journal FILE]... [--json]\n"
	"       ax-check --journal FILE... [--json]\n"
	"\n"
	"Checks that every fire that the schedules demand is accounted for once, that the rows of the store\n"
	"agree with each other, and that it says of the work what the workers' journals say.\n"
	"\n"
	"  --store sqlite:PATH   the embedded store; no server may have it open (there, use `axctl audit`)\n"
	"  --store mysql://USER:PASSWORD@HOST:PORT/DATABASE\n"
	"                        a MariaDB or MySQL database, as a server's --store names it, with the same options\n"
	"                        behind it (ca, cert, key, tls, socket, password_file); servers may be at work\n"
	"  --store-password-file FILE\n"
	"                        the first line is the password of the database\n"
	"  --from T, --to T      the window: RFC 3339 or milliseconds UTC; else all that can be judged\n"
	"  --task ID             fires of this task only\n"
	"  --journal FILE        a worker's execution journal: all of a worker's; more files may follow\n"
	"  --zoneinfo DIR        time zone files (/usr/share/zoneinfo)\n"
	"  --json                one JSON object instead of tables\n"
	"\n"
	"Exit status: 0 all is well, 1 something is not, 2 it could not be checked.\n";

struct options {
	const char *store, *password_file;
	const char *zone_dir;
	int64_t from_ms, to_ms; /* -1 = not said */
	int64_t task_id;        /* 0 = all */
	const char **journals;
	size_t n_journals;
	bool json;
};

/* What was found; parts that were not asked for stay NULL or empty. */
struct outcome {
	struct ax_arena arena;
	struct ax_check_audit *audit;
	struct ax_check_findings rows, journals;
};

static bool parse_instant(const char *text, int64_t *ret_ms)
{
	size_t digits = strspn(text, "0123456789");
	if (digits > 0 && digits < 16 && text[digits] == '\0') {
		*ret_ms = strtoll(text, NULL, 10);
		return true;
	}
	return ax_check_instant_parse(text, ret_ms);
}

static bool wrong_usage(const char *what, const char *value)
{
	fprintf(stderr, "ax-check: %s: %s\n%s", what, value, usage);
	return false;
}

/* The file of UTC is in every compilation of them. */
static bool has_zones(const char *dir)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/UTC", dir);
	return n > 0 && (size_t)n < sizeof(path) && access(path, R_OK) == 0;
}

static bool take_option(struct options *o, int letter, const char *value)
{
	switch (letter) {
	case 's':
		if ((strncmp(value, "sqlite:", 7) != 0 || value[7] == '\0') && strncmp(value, "mysql://", 8) != 0)
			return wrong_usage(
				"only sqlite:PATH and mysql://USER:PASSWORD@HOST:PORT/DATABASE can be read", value);
		o->store = value;
		return true;
	case 'p':
		o->password_file = value;
		return true;
	case 'f':
		return parse_instant(value, &o->from_ms) || wrong_usage("--from is no instant", value);
	case 't':
		return parse_instant(value, &o->to_ms) || wrong_usage("--to is no instant", value);
	case 'i':
		if (value[0] == '\0' || strlen(value) > 18 || value[strspn(value, "0123456789")] != '\0')
			return wrong_usage("--task is no id", value);
		o->task_id = strtoll(value, NULL, 10);
		return true;
	case 'j':
		o->journals[o->n_journals++] = value;
		return true;
	case 'z':
		o->zone_dir = value;
		return has_zones(value) || wrong_usage("--zoneinfo names no folder of time zone files", value);
	case 'J':
		o->json = true;
		return true;
	default:
		fputs(usage, stderr);
		return false;
	}
}

static bool read_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "store", required_argument, NULL, 's' },
		{ "store-password-file", required_argument, NULL, 'p' },
		{ "from", required_argument, NULL, 'f' },
		{ "to", required_argument, NULL, 't' },
		{ "task", required_argument, NULL, 'i' },
		{ "journal", required_argument, NULL, 'j' },
		{ "zoneinfo", required_argument, NULL, 'z' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	for (int letter; (letter = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		if (letter == 'h') {
			fputs(usage, stdout);
			exit(CLEAN);
		}
		if (!take_option(o, letter, optarg))
			return false;
	}
	if (optind < argc && o->n_journals == 0)
		return wrong_usage("what is this", argv[optind]);
	for (; optind < argc; optind++)
		o->journals[o->n_journals++] = argv[optind];
	if (o->password_file && (!o->store || strncmp(o->store, "mysql://", 8) != 0))
		return wrong_usage("--store-password-file goes with --store mysql://…", o->password_file);
	if (!o->store && o->n_journals == 0)
		return wrong_usage("nothing to check", "give --store or --journal");
	return true;
}

static enum ax_status check_store(
	const struct options *o, const struct ax_check_store *store, struct outcome *out, struct ax_err *err)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	int64_t from_ms, to_ms;
	enum ax_status status =
		ax_check_store_window(store, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, &from_ms, &to_ms, err);
	if (status != AX_OK)
		return status;
	if (o->from_ms >= 0)
		from_ms = o->from_ms;
	if (o->to_ms >= 0)
		to_ms = o->to_ms;
	if (from_ms > to_ms)
		return ax_fail(err, AX_INVALID, "from", "the window ends before it begins");
	out->audit = ax_check_audit_new(o->zone_dir, from_ms, to_ms);
	status = ax_check_store_feed(store, out->audit, from_ms, to_ms, o->task_id, err);
	if (status == AX_OK)
		status = ax_check_invariants(store, out->audit, &out->arena, &out->rows, err);
	return status;
}

static enum ax_status read_journals(const struct options *o, struct ax_check_journal *journal, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (size_t i = 0; status == AX_OK && i < o->n_journals; i++)
		status = ax_check_journal_read(journal, o->journals[i], err);
	return status;
}

/* The journals are read first: what they tell was committed before the store is looked at. */
static enum ax_status check(const struct options *o, struct outcome *out, struct ax_err *err)
{
	struct ax_check_store store = { .lock_fd = -1 };
	struct ax_check_journal *journal = ax_check_journal_new();
	enum ax_status status = read_journals(o, journal, err);
	if (status == AX_OK && o->store)
		status = ax_check_store_open(o->store, o->password_file, &store, err);
	if (status == AX_OK && o->store)
		status = check_store(o, &store, out, err);
	if (status == AX_OK && o->n_journals > 0)
		status = ax_check_journal_judge(journal, o->store ? &store : NULL, &out->arena, &out->journals, err);
	ax_check_store_close(&store);
	ax_check_journal_free(journal);
	return status;
}

/* ---- output ---- */

static json_t *findings_array(const struct ax_check_findings *findings)
{
	json_t *array = json_array();
	for (size_t i = 0; i < findings->n; i++) {
		const struct ax_check_finding *finding = &findings->at[i];
		json_t *rows = json_array();
		for (int64_t r = 0; r < finding->violations && r < AX_CHECK_SHOWN_ROWS; r++)
			json_array_append_new(rows, ax_check_utf8(finding->rows[r]));
		json_t *violations = finding->judged ? json_integer(finding->violations) : json_null();
		json_array_append_new(array,
			json_pack("{s:s, s:s, s:o, s:o}", "id", finding->id, "rule", finding->rule, "violations",
				violations, "rows", rows));
	}
	return array;
}

static void print_json(const struct options *o, const struct outcome *out)
{
	json_t *body = out->audit ? ax_check_audit_object(out->audit) : json_object();
	if (o->store)
		json_object_set_new(body, "invariants", findings_array(&out->rows));
	if (o->n_journals > 0)
		json_object_set_new(body, "journals", findings_array(&out->journals));
	json_dumpf(body, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(body);
}

static void print_findings(const char *title, const struct ax_check_findings *findings)
{
	printf("\n%s\n\n", title);
	for (size_t i = 0; i < findings->n; i++) {
		const struct ax_check_finding *finding = &findings->at[i];
		char count[24] = "not judged";
		if (finding->judged)
			snprintf(count, sizeof(count), "%" PRId64, finding->violations);
		printf("%10s  %-12s  %s\n", count, finding->id, finding->rule);
		for (int64_t r = 0; r < finding->violations && r < AX_CHECK_SHOWN_ROWS; r++)
			printf("            - %s\n", finding->rows[r]);
	}
}

static void print_tables(const struct options *o, const struct outcome *out)
{
	if (out->audit) {
		struct ax_buf table;
		ax_buf_init(&table, MAX_TABLE_BYTES);
		ax_check_audit_table(out->audit, TABLE_ROWS, &table);
		fwrite(table.data, 1, table.len, stdout);
		ax_buf_done(&table);
		print_findings("rows of the store: violations of each rule", &out->rows);
	}
	if (o->n_journals > 0)
		print_findings("execution journals: violations of each rule", &out->journals);
}

int main(int argc, char **argv)
{
	struct options options = { .from_ms = -1, .to_ms = -1 };
	options.journals = ax_malloc((size_t)argc * sizeof(*options.journals));
	struct outcome out = { 0 };
	struct ax_err err;
	int code = CANNOT;
	if (read_options(argc, argv, &options)) {
		if (check(&options, &out, &err) != AX_OK) {
			fprintf(stderr, "ax-check: %s\n", err.msg);
		} else {
			(options.json ? print_json : print_tables)(&options, &out);
			bool clean = !out.audit || ax_check_is_clean(ax_check_audit_total(out.audit));
			code = clean && out.rows.violations == 0 && out.journals.violations == 0 ? CLEAN : VIOLATIONS;
		}
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		code = CANNOT;
	ax_check_audit_free(out.audit);
	ax_arena_done(&out.arena);
	free(options.journals);
	return code;
}
