#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/num.h"
#include "cli/cmd_backfill.h"
#include "cli/ctl.h"
#include "cli/due.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/value.h"

/* Options that set a field of the task, from core/task_def.def: option, JSON field, how the value is read. */
enum kind { TEXT, NUMBER, TIME, NUMBERS, IDS, JSON };
static const struct {
	const char *opt, *field;
	enum kind kind;
} fields[] = {
#define AX_DEF_TEXT(name, option, ...) { option, #name, TEXT },
#define AX_DEF_OPTIONAL(name, option, ...) { option, #name, TEXT },
#define AX_DEF_NUMBER(name, option, ...) { option, #name, NUMBER },
#define AX_DEF_TIME(name, option, ...) { option, #name, TIME },
#define AX_DEF_ENUM(type, name, option, ...) { option, #name, TEXT },
#define AX_DEF_FLAG(name, json, option, ...) { option, json, TEXT },
#define AX_DEF_NUMBERS(name, option, ...) { option, #name, NUMBERS },
#define AX_DEF_IDS(name, option, ...) { option, #name, IDS },
#define AX_DEF_JSON(name, option, ...) { option, #name, JSON },
#include "core/task_def.def"
#undef AX_DEF_TEXT
#undef AX_DEF_OPTIONAL
#undef AX_DEF_NUMBER
#undef AX_DEF_TIME
#undef AX_DEF_ENUM
#undef AX_DEF_FLAG
#undef AX_DEF_NUMBERS
#undef AX_DEF_IDS
#undef AX_DEF_JSON
};

/* The same as rows of an option table. */
#define AX_DEF_TEXT(name, option, alias, max, preset, about) { option, alias, "TEXT", about },
#define AX_DEF_OPTIONAL(name, option, alias, max, about) { option, alias, "TEXT", about },
#define AX_DEF_NUMBER(name, option, alias, min, max, preset, about) { option, alias, "N", about },
#define AX_DEF_TIME(name, option, alias, about) { option, alias, "TIME", about },
#define AX_DEF_ENUM(type, name, option, alias, first, preset, about, ...) { option, alias, "WORD", about },
#define AX_DEF_FLAG(name, json, option, alias, about, no, yes) { option, alias, "WORD", about },
#define AX_DEF_NUMBERS(name, option, alias, items, min, max, about) { option, alias, "N,…", about },
#define AX_DEF_IDS(name, option, alias, items, about) { option, alias, "TASK,…", about },
#define AX_DEF_JSON(name, option, alias, max, preset, about) { option, alias, "JSON", about },
#define FILE_OPT                                                                                                       \
	{                                                                                                              \
		"file", NULL, "F", "the task as JSON from a file, \"-\" for standard input"                            \
	}
#define SCRIPT_OPT                                                                                                     \
	{                                                                                                              \
		"script", NULL, "TEXT", "executor exec: text for the shell"                                            \
	}
#define URL_OPT                                                                                                        \
	{                                                                                                              \
		"url", NULL, "URL", "executor http: the address to call"                                               \
	}

/* ---- list, show ---- */

static const struct ax_opt list_opts[] = {
	{ "group", "group-key", "G", "only this group" },
	{ "status", NULL, "S", "created, enabled, paused, deleting" },
	{ "type", "task-type", "T", "scheduled, delay, event" },
	{ "calendar", NULL, "NAME", "only those that follow this calendar" },
	{ "q", "search", "TEXT", "part of the name" },
	{ "limit", NULL, "N", "at most so many, 0 for all (0)" },
	{ 0 },
};

static const char *schedule_of(struct ax_arena *arena, const json_t *task, const char *field)
{
	const char *expr = ax_json_text(arena, task, field);
	const char *zone = ax_json_text(arena, task, "time_zone");
	const char *event = ax_json_text(arena, task, "event_name");
	if (*event != '\0')
		return ax_sprintf(arena, "on %s", event);
	if (*expr == '\0')
		return ax_json_text(arena, task, "task_type");
	return strcmp(zone, "UTC") == 0 || *zone == '\0' ? expr : ax_sprintf(arena, "%s (%s)", expr, zone);
}

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">ID", "id", NULL },
		{ "TASK", "task_name", ax_json_task },
		{ "STATUS", "status", NULL },
		{ "SCHEDULE", "cron_expr", schedule_of },
		{ "NEXT", "next_trigger_time", ax_json_time },
		{ "LAST RUN", "last_run.status", NULL },
		{ 0 },
	};
	int64_t limit = 0;
	int code = ax_ctl_opt_i64(ctl, "limit", 0, 1000000, &limit);
	if (code != AX_EXIT_OK)
		return code;
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	ax_buf_adds(&path, "/tasks");
	ax_value_query(&path, "group_key", ax_args_get(&ctl->args, "group"));
	ax_value_query(&path, "status", ax_args_get(&ctl->args, "status"));
	ax_value_query(&path, "task_type", ax_args_get(&ctl->args, "type"));
	ax_value_query(&path, "calendar", ax_args_get(&ctl->args, "calendar"));
	ax_value_query(&path, "q", ax_args_get(&ctl->args, "q"));
	code = ax_report_list(ctl, path.data, limit, columns);
	ax_buf_done(&path);
	return code;
}

static int show(struct ax_ctl *ctl)
{
	json_t *task = NULL;
	int code = ax_ctl_task(ctl, ctl->args.operands[0], &task);
	if (code == AX_EXIT_OK)
		ax_report_object(ctl, task);
	json_decref(task);
	return code;
}

/* ---- create, update ---- */

static const struct ax_opt create_opts[] = {
	FILE_OPT,
#include "core/task_def.def"
	SCRIPT_OPT,
	URL_OPT,
	{ "disabled", NULL, NULL, "create it without enabling it" },
	{ "key", "idempotency-key", "K", "the same key and task again: the first answer" },
	{ 0 },
};
static const struct ax_opt update_opts[] = {
	FILE_OPT,
#include "core/task_def.def"
	SCRIPT_OPT,
	URL_OPT,
	{ 0 },
};

/* Takes over `value` (NULL: out of memory or bad text, refused). */
static int set(json_t *task, const char *field, json_t *value)
{
	if (value == NULL || json_object_set_new(task, field, value) != 0)
		return ax_ctl_fail(AX_EXIT_USAGE, field, "not UTF-8 text");
	return AX_EXIT_OK;
}

/* "60,300,900" as an array; "" is the empty one. */
static int read_numbers(const char *opt, const char *text, json_t **ret)
{
	json_t *array = json_array();
	for (const char *at = text; *at != '\0';) {
		size_t len = strcspn(at, ", ");
		int64_t number;
		if (!ax_parse_i64(at, len, INT64_MIN, INT64_MAX, &number)) {
			json_decref(array);
			return ax_ctl_fail(
				AX_EXIT_USAGE, opt, "\"%s\" is no list of whole numbers such as 60,300", text);
		}
		json_array_append_new(array, json_integer(number));
		at += len + strspn(at + len, ", ");
	}
	*ret = array;
	return AX_EXIT_OK;
}

/* "12,ops/report" as an array of ids; "" is the empty one. */
static int read_tasks(struct ax_ctl *ctl, const char *text, json_t **ret)
{
	json_t *array = json_array();
	int code = AX_EXIT_OK;
	while (code == AX_EXIT_OK && *text != '\0') {
		size_t len = strcspn(text, ",");
		json_t *task = NULL;
		code = ax_ctl_task(ctl, ax_strndup(&ctl->arena, text, len), &task);
		if (code == AX_EXIT_OK)
			json_array_append(array, json_object_get(task, "id"));
		json_decref(task);
		text += len + (text[len] == ',');
	}
	if (code == AX_EXIT_OK)
		*ret = array;
	else
		json_decref(array);
	return code;
}

static int set_field(struct ax_ctl *ctl, json_t *task, size_t i)
{
	const char *text = ax_args_get(&ctl->args, fields[i].opt);
	int64_t number = 0;
	json_t *value = NULL;
	int code = AX_EXIT_OK;
	if (text == NULL)
		return AX_EXIT_OK;
	if (fields[i].kind == TEXT) {
		value = json_string(text);
	} else if (fields[i].kind == NUMBER) {
		code = ax_ctl_opt_i64(ctl, fields[i].opt, 0, INT32_MAX, &number);
		value = code == AX_EXIT_OK ? json_integer(number) : NULL;
	} else if (fields[i].kind == NUMBERS) {
		code = read_numbers(fields[i].opt, text, &value);
	} else if (fields[i].kind == TIME && strcmp(text, "none") == 0) {
		value = json_null();
	} else if (fields[i].kind == IDS) {
		code = read_tasks(ctl, text, &value);
	} else if (fields[i].kind == TIME) {
		code = ax_ctl_opt_time(ctl, fields[i].opt, &number);
		value = code == AX_EXIT_OK ? json_integer(number) : NULL;
	} else {
		code = ax_ctl_json(ctl, fields[i].opt, text, &value);
	}
	return code == AX_EXIT_OK ? set(task, fields[i].field, value) : code;
}

/* `-- PROGRAM ARG…`, --script and --url: the built-in executors without writing JSON. */
static int set_executor(struct ax_ctl *ctl, json_t *task)
{
	const char *script = ax_args_get(&ctl->args, "script"), *url = ax_args_get(&ctl->args, "url");
	if ((script != NULL) + (url != NULL) + (ctl->args.n_rest > 0) + ax_args_has(&ctl->args, "param") > 1)
		return ax_ctl_fail(
			AX_EXIT_USAGE, "--param", "give only one of --param, --script, --url and `-- PROGRAM`");
	json_t *param = NULL;
	if (script != NULL) {
		param = json_pack("{s:s}", "script", script);
	} else if (url != NULL) {
		param = json_pack("{s:s}", "url", url);
	} else if (ctl->args.n_rest > 0) {
		json_t *argv = json_array();
		for (int i = 0; i < ctl->args.n_rest; i++)
			json_array_append_new(argv, json_string(ctl->args.rest[i]));
		param = json_pack("{s:o}", "argv", argv);
	} else {
		return AX_EXIT_OK;
	}
	int code = set(task, "biz_param", param);
	if (code == AX_EXIT_OK && !ax_args_has(&ctl->args, "executor"))
		code = set(task, "executor_key", json_string(url != NULL ? "http" : "exec"));
	return code;
}

/* Leaves of a shown task what can be said of a new one. */
static void drop_shown(json_t *task)
{
	static const char *const kept[] = { "status", "version" };
	void *next;
	const char *key;
	json_t *value;
	json_object_foreach_safe(task, next, key, value)
	{
		bool keep = strcmp(key, kept[0]) == 0 || strcmp(key, kept[1]) == 0;
		for (size_t i = 0; i < AX_COUNT(fields); i++)
			keep = keep || strcmp(fields[i].field, key) == 0;
		if (!keep)
			json_object_del(task, key);
	}
}

static int read_options(struct ax_ctl *ctl, json_t *options)
{
	int code = AX_EXIT_OK;
	for (size_t i = 0; code == AX_EXIT_OK && i < AX_COUNT(fields); i++)
		code = set_field(ctl, options, i);
	return code == AX_EXIT_OK ? set_executor(ctl, options) : code;
}

/* --file, then the other options over it, over each of several. *ret is an object, or an array of them when the file
 * holds one. */
static int read_definition(struct ax_ctl *ctl, json_t **ret)
{
	const char *file = ax_args_get(&ctl->args, "file");
	json_t *task = NULL;
	int code = AX_EXIT_OK;
	if (file != NULL)
		code = ax_ctl_json(
			ctl, "--file", strcmp(file, "-") == 0 ? "-" : ax_sprintf(&ctl->arena, "@%s", file), &task);
	else
		task = json_object();
	if (code != AX_EXIT_OK)
		return code;
	json_t *inner = json_object_get(task, "tasks") != NULL ? json_object_get(task, "tasks")
							       : json_object_get(task, "items");
	if (json_is_array(inner)) {
		json_incref(inner);
		json_decref(task);
		task = inner;
	}
	if (!json_is_object(task) && !json_is_array(task))
		code = ax_ctl_fail(AX_EXIT_USAGE, "--file", "a task is a JSON object, several are an array");
	json_t *options = json_object(), *one;
	size_t i;
	if (code == AX_EXIT_OK)
		code = read_options(ctl, options);
	json_object_update(task, options);
	json_array_foreach(task, i, one) json_object_update(one, options);
	json_decref(options);
	if (code != AX_EXIT_OK)
		json_decref(task);
	else
		*ret = task;
	return code;
}

/* Leaves of it what can be said of a new task. */
static void make_new(struct ax_ctl *ctl, json_t *task)
{
	drop_shown(task);
	json_object_del(task, "version");
	if (ax_args_has(&ctl->args, "disabled"))
		json_object_set_new(task, "status", json_string("created"));
}

static int create_many(struct ax_ctl *ctl, json_t *tasks)
{
	size_t i;
	json_t *task, *answer = NULL;
	if (ctl->args.n_operands > 0) {
		json_decref(tasks);
		return ax_ctl_fail(AX_EXIT_USAGE, "NAME", "is for one task, and the file holds an array of them");
	}
	json_array_foreach(tasks, i, task) make_new(ctl, task);
	ctl->client.idempotency_key = ax_args_get(&ctl->args, "key");
	int code = ax_client_call(&ctl->client, "POST", "/tasks/batch", json_pack("{s:o}", "tasks", tasks), &answer);
	if (code != AX_EXIT_OK)
		return code;
	if (ctl->json)
		ax_print_json(stdout, answer);
	else
		printf("created %zu tasks\n", json_array_size(json_object_get(answer, "items")));
	json_decref(answer);
	return AX_EXIT_OK;
}

/* "created 17 default/nightly: at 02:30 every day, next 2026-…Z" */
static int report_task(struct ax_ctl *ctl, const char *what, const json_t *task)
{
	if (ctl->json) {
		ax_print_json(stdout, task);
		return AX_EXIT_OK;
	}
	struct ax_buf line;
	ax_buf_init(&line, 65536);
	const char *words = ax_json_text(&ctl->arena, task, "schedule_text");
	const char *next = ax_json_time(&ctl->arena, task, "next_trigger_time");
	ax_print_clean(ax_sprintf(&ctl->arena, "%s %s %s%s%s%s%s", what, ax_json_text(&ctl->arena, task, "id"),
			       ax_json_task(&ctl->arena, task, "task_name"), *words != '\0' ? ": " : "", words,
			       *next != '\0' ? ", next " : "", next),
		&line);
	puts(line.data);
	ax_buf_done(&line);
	ax_report_warnings(ctl, task);
	return AX_EXIT_OK;
}

static int create(struct ax_ctl *ctl)
{
	json_t *task = NULL, *answer = NULL;
	int code = read_definition(ctl, &task);
	if (code != AX_EXIT_OK)
		return code;
	if (json_is_array(task))
		return create_many(ctl, task);
	make_new(ctl, task);
	if (ctl->args.n_operands == 1) { /* [GROUP/]NAME */
		const char *name = ctl->args.operands[0], *slash = strchr(name, '/');
		if (slash != NULL)
			code = set(task, "group_key", json_stringn(name, (size_t)(slash - name)));
		if (code == AX_EXIT_OK)
			code = set(task, "task_name", json_string(slash != NULL ? slash + 1 : name));
	}
	if (code != AX_EXIT_OK) {
		json_decref(task);
		return code;
	}
	ctl->client.idempotency_key = ax_args_get(&ctl->args, "key");
	code = ax_client_call(&ctl->client, "POST", "/tasks", task, &answer);
	if (code == AX_EXIT_OK)
		code = report_task(ctl, "created", answer);
	json_decref(answer);
	return code;
}

static int update(struct ax_ctl *ctl)
{
	json_t *task = NULL, *changes = NULL, *answer = NULL;
	int code = read_definition(ctl, &changes);
	if (code != AX_EXIT_OK)
		return code;
	if (!json_is_object(changes)) {
		code = ax_ctl_fail(AX_EXIT_USAGE, "--file", "update changes one task: give an object");
		goto out;
	}
	drop_shown(changes);
	json_object_del(changes, "status"); /* has verbs of its own */
	if (json_object_size(changes) == 0 || (json_object_size(changes) == 1 && json_object_get(changes, "version"))) {
		code = ax_ctl_fail(AX_EXIT_USAGE, "", "nothing to change: name a field, as in --cron \"0 3 * * *\"");
		goto out;
	}
	code = ax_ctl_task(ctl, ctl->args.operands[0], &task);
	if (code != AX_EXIT_OK)
		goto out;
	if (json_object_get(changes, "version") == NULL)
		json_object_set(changes, "version", json_object_get(task, "version"));
	code = ax_client_call(&ctl->client, "PATCH",
		ax_sprintf(&ctl->arena, "/tasks/%s", ax_json_text(&ctl->arena, task, "id")), json_incref(changes),
		&answer);
	if (code == AX_EXIT_OK)
		code = report_task(ctl, "updated", answer);
out:
	json_decref(answer);
	json_decref(task);
	json_decref(changes);
	return code;
}

/* ---- pause, resume, delete ---- */

static const struct ax_opt reason_opts[] = {
	{ "reason", NULL, "TEXT", "why; kept in the log of changes" },
	{ 0 },
};
static const struct ax_opt delete_opts[] = {
	{ "force", NULL, NULL,
		"cancel its live runs, from which there is no way back; when workers hold some, delete again once "
		"they stopped" },
	{ 0 },
};

/* POST /tasks/{id}/WORD for the task of operand 0. */
static int act(struct ax_ctl *ctl, const char *method, const char *tail, json_t *body, json_t **ret_task, json_t **ret)
{
	int code = ax_ctl_task(ctl, ctl->args.operands[0], ret_task);
	if (code != AX_EXIT_OK) {
		json_decref(body);
		return code;
	}
	const char *path = ax_sprintf(&ctl->arena, "/tasks/%s%s", ax_json_text(&ctl->arena, *ret_task, "id"), tail);
	return ax_client_call(&ctl->client, method, path, body, ret);
}

static int pause_task(struct ax_ctl *ctl)
{
	json_t *task = NULL, *answer = NULL;
	int code = act(ctl, "POST", "/pause", ax_ctl_reason(ctl), &task, &answer);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, answer);
	} else if (code == AX_EXIT_OK) {
		report_task(ctl, "paused", json_object_get(answer, "task"));
		size_t i;
		const json_t *gid;
		json_array_foreach(json_object_get(answer, "given_out"), i, gid)
			printf("  run %s was already given out\n", json_string_value(gid));
	}
	json_decref(answer);
	json_decref(task);
	return code;
}

static int resume(struct ax_ctl *ctl)
{
	json_t *task = NULL, *answer = NULL;
	int code = act(ctl, "POST", "/resume", ax_ctl_reason(ctl), &task, &answer);
	if (code == AX_EXIT_OK)
		code = report_task(ctl, "resumed", answer);
	json_decref(answer);
	json_decref(task);
	return code;
}

static int delete (struct ax_ctl *ctl)
{
	json_t *task = NULL;
	int code = act(ctl, "DELETE", ax_args_has(&ctl->args, "force") ? "?force=true" : "", NULL, &task, NULL);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, task);
	else if (code == AX_EXIT_OK)
		report_task(ctl, "deleted", task);
	json_decref(task);
	return code;
}

/* ---- trigger ---- */

static const struct ax_opt trigger_opts[] = {
	AX_DUE_OPTS,
	{ "runs", NULL, "F",
		"many: an array of {params, delay_ms, run_at, dedup_key} from a file, \"-\" for standard input" },
	{ "dedup-key", NULL, "K", "one run per key, whoever asks" },
	{ "key", "idempotency-key", "K", "the same request again: the first answer" },
	{ "wait", NULL, NULL, "wait for its end, as long as it takes; exit 1 unless it succeeds" },
	AX_CTL_WAIT_SECONDS,
	{ 0 },
};

/* The options of one run have no meaning for many. */
static int check_many(struct ax_ctl *ctl)
{
	static const char *const of_one[] = { "params", "delay", "at", "dedup-key", "key", "wait", "wait-seconds" };
	for (size_t i = 0; i < AX_COUNT(of_one); i++)
		if (ax_args_has(&ctl->args, of_one[i]))
			return ax_ctl_fail(AX_EXIT_USAGE, ax_sprintf(&ctl->arena, "--%s", of_one[i]),
				"is for one run, not for those of --runs");
	return AX_EXIT_OK;
}

/* The server counts in the part that it was sent. */
static void tell_entry(const struct ax_client *client, size_t at)
{
	size_t i;
	if (at > 0 && sscanf(client->field, "runs[%zu]", &i) == 1)
		fprintf(stderr, "       runs[%zu] is entry %zu of the file, from 0\n", i, at + i);
}

/* Runs of a file, an array of what the API takes for one each, a thousand in a transaction. What was made is said also
 * when a later thousand fails. */
static int trigger_many(struct ax_ctl *ctl, const char *path, const char *file)
{
	json_t *runs = NULL, *items = json_array();
	size_t existed = 0, n;
	int code =
		ax_ctl_json(ctl, "--runs", strcmp(file, "-") == 0 ? "-" : ax_sprintf(&ctl->arena, "@%s", file), &runs);
	if (code == AX_EXIT_OK && !json_is_array(runs))
		code = ax_ctl_fail(AX_EXIT_USAGE, "--runs", "the file holds no array of runs");
	for (size_t at = 0; code == AX_EXIT_OK && at < json_array_size(runs); at += n) {
		json_t *some = json_array(), *answer = NULL;
		for (n = 0; n < 1000 && at + n < json_array_size(runs); n++)
			json_array_append(some, json_array_get(runs, at + n));
		code = ax_client_call(&ctl->client, "POST", path, json_pack("{s:o}", "runs", some), &answer);
		if (code != AX_EXIT_OK)
			tell_entry(&ctl->client, at);
		size_t i;
		json_t *item;
		json_array_foreach(json_object_get(answer, "items"), i, item) existed += ax_json_true(item, "existed");
		json_array_extend(items, json_object_get(answer, "items"));
		json_decref(answer);
	}
	n = json_array_size(items);
	json_t *all = json_pack("{s:o}", "items", items);
	if (ctl->json && (code == AX_EXIT_OK || n > 0))
		ax_print_json(stdout, all);
	else if (code == AX_EXIT_OK || n > 0)
		printf("%zu runs made, %zu were there already\n", n - existed, existed);
	json_decref(all);
	json_decref(runs);
	return code;
}

static int trigger(struct ax_ctl *ctl)
{
	json_t *task = NULL, *run = NULL, *body = NULL;
	const char *file = ax_args_get(&ctl->args, "runs"), *dedup = ax_args_get(&ctl->args, "dedup-key");
	int64_t wait_ms;
	int code = ax_ctl_opt_wait(ctl, &wait_ms);
	if (code == AX_EXIT_OK && file != NULL)
		code = check_many(ctl);
	if (code == AX_EXIT_OK)
		code = ax_due_body(ctl, &body);
	if (code != AX_EXIT_OK)
		return code;
	code = ax_ctl_task(ctl, ctl->args.operands[0], &task);
	if (code != AX_EXIT_OK) {
		json_decref(body);
		return code;
	}
	const char *path = ax_sprintf(&ctl->arena, "/tasks/%s/runs", ax_json_text(&ctl->arena, task, "id"));
	if (file != NULL) {
		json_decref(body);
		json_decref(task);
		return trigger_many(ctl, ax_sprintf(&ctl->arena, "%s/batch", path), file);
	}
	if (dedup != NULL)
		json_object_set_new(body, "dedup_key", json_string(dedup));
	ctl->client.idempotency_key = ax_args_get(&ctl->args, "key");
	code = ax_client_call(&ctl->client, "POST", path, body, &run);
	if (code == AX_EXIT_OK)
		code = ax_report_run(ctl, run, wait_ms);
	json_decref(run);
	json_decref(task);
	return code;
}

/* ---- next, versions ---- */

static const struct ax_opt next_opts[] = {
	{ "n", "count", "N", "how many (10)" },
	{ "from", NULL, "TIME", "after this instant (now)" },
	{ 0 },
};

/* A fire that the calendar takes away is never due. */
static const char *due_of(struct ax_arena *arena, const json_t *fire, const char *field)
{
	return ax_json_true(fire, "fires") ? ax_json_time(arena, fire, field) : "";
}

static int next(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ "TIME (UTC)", "time", ax_json_time },
		{ "LOCAL", "local", NULL },
		{ "ZONE", "abbreviation", NULL },
		{ "NOTE", "note.text", NULL },
		{ 0 },
	};
	static const struct ax_column jitter_columns[] = {
		{ "TIME (UTC)", "time", ax_json_time },
		{ "LOCAL", "local", NULL },
		{ "ZONE", "abbreviation", NULL },
		{ "DUE (UTC)", "due_time", due_of },
		{ "NOTE", "note.text", NULL },
		{ 0 },
	};
	int64_t n = 10, from_ms = -1;
	int code = ax_ctl_opt_i64(ctl, "n", 1, 1000, &n);
	if (code == AX_EXIT_OK)
		code = ax_ctl_opt_time(ctl, "from", &from_ms);
	if (code != AX_EXIT_OK)
		return code;
	json_t *task = NULL, *answer = NULL;
	const char *tail = ax_sprintf(&ctl->arena, "/next?n=%" PRId64, n);
	if (from_ms >= 0)
		tail = ax_sprintf(&ctl->arena, "%s&from=%" PRId64, tail, from_ms);
	code = act(ctl, "GET", tail, NULL, &task, &answer);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, answer);
	} else if (code == AX_EXIT_OK) {
		bool jitter = ax_json_int(answer, "jitter_ms") > 0;
		ax_print_field(stdout, "schedule", ax_json_text(&ctl->arena, answer, "words"));
		ax_print_field(stdout, "calendar", ax_json_text(&ctl->arena, answer, "calendar"));
		if (jitter)
			ax_print_field(
				stdout, "jitter", ax_print_duration(&ctl->arena, ax_json_int(answer, "jitter_ms")));
		ax_report_warnings(ctl, answer);
		ax_print_table(stdout, jitter ? jitter_columns : columns, json_object_get(answer, "fires"));
	}
	json_decref(answer);
	json_decref(task);
	return code;
}

static int versions(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">VERSION", "version", NULL },
		{ "TIME", "time", ax_json_time },
		{ "AUTHOR", "author", NULL },
		{ "SCHEDULE", "definition.cron_expr", schedule_of },
		{ "EXECUTOR", "definition.executor_key", NULL },
		{ 0 },
	};
	json_t *task = NULL;
	int code = ax_ctl_task(ctl, ctl->args.operands[0], &task);
	if (code == AX_EXIT_OK)
		code = ax_report_list(ctl,
			ax_sprintf(&ctl->arena, "/tasks/%s/versions", ax_json_text(&ctl->arena, task, "id")), 0,
			columns);
	json_decref(task);
	return code;
}

/* ---- graph ---- */

static const char *name_by_id(struct ax_ctl *ctl, const json_t *tasks, const char *id)
{
	size_t i;
	const json_t *task;
	json_array_foreach(tasks, i, task)
	{
		if (strcmp(ax_json_text(&ctl->arena, task, "id"), id) == 0)
			return ax_json_task(&ctl->arena, task, "task_name");
	}
	return id;
}

/* "ops/a, ops/b": the upstreams of the task. */
static const char *names_before(struct ax_ctl *ctl, const json_t *graph, const char *id)
{
	const json_t *tasks = json_object_get(graph, "tasks"), *edge;
	const char *names = "";
	size_t i;
	json_array_foreach(json_object_get(graph, "edges"), i, edge)
	{
		if (strcmp(ax_json_text(&ctl->arena, edge, "task_id"), id) == 0)
			names = ax_sprintf(&ctl->arena, "%s%s%s", names, *names != '\0' ? ", " : "",
				name_by_id(ctl, tasks, ax_json_text(&ctl->arena, edge, "upstream_id")));
	}
	return names;
}

/* From the first task of the chain to the last, each with what stands before it. */
static void print_graph(struct ax_ctl *ctl, const json_t *graph)
{
	static const struct ax_column columns[] = {
		{ ">STEP", "distance", NULL },
		{ "TASK", "task_name", ax_json_task },
		{ "STATUS", "status", NULL },
		{ "LAST RUN", "last_run.status", NULL },
		{ "AFTER", "after", NULL },
		{ 0 },
	};
	json_t *rows = json_array(), *node;
	size_t i;
	json_array_foreach(json_object_get(graph, "tasks"), i, node)
	{
		const char *before = names_before(ctl, graph, ax_json_text(&ctl->arena, node, "id"));
		bool joins = strcmp(ax_json_text(&ctl->arena, node, "join"), "all") == 0;
		size_t at = json_array_size(rows);
		while (at > 0 && ax_json_int(json_array_get(rows, at - 1), "distance") > ax_json_int(node, "distance"))
			at--;
		json_object_set_new(node, "after", json_sprintf("%s%s", joins ? "all of " : "", before));
		json_array_insert(rows, at, node);
	}
	ax_print_table(stdout, columns, rows);
	json_decref(rows);
	if (ax_json_true(graph, "truncated"))
		puts("… there are more");
}

static int graph(struct ax_ctl *ctl)
{
	json_t *task = NULL, *answer = NULL;
	int code = act(ctl, "GET", "/graph", NULL, &task, &answer);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, answer);
	else if (code == AX_EXIT_OK)
		print_graph(ctl, answer);
	json_decref(task);
	json_decref(answer);
	return code;
}

const struct ax_verb ax_task_verbs[] = {
	{ "list", "", 0, 0, "tasks with their schedules, next fires and last runs", list_opts, list, false },
	{ "show", "TASK", 1, 1, "one task (TASK: an id, GROUP/NAME, or NAME)", NULL, show, false },
	{ "create", "[[GROUP/]NAME] [-- PROGRAM ARG…]", 0, 1, "make a task, or several from a file", create_opts,
		create, false },
	{ "update", "TASK [-- PROGRAM ARG…]", 1, 1, "change the fields named", update_opts, update, false },
	{ "pause", "TASK", 1, 1, "no more fires until it is resumed", reason_opts, pause_task, false },
	{ "resume", "TASK", 1, 1, "fire again", reason_opts, resume, false },
	{ "trigger", "TASK", 1, 1, "run it now, or later", trigger_opts, trigger, false },
	{ "backfill", "TASK", 1, 1, "make up the fires of a past range, a few at a time", ax_backfill_opts,
		ax_backfill_start, false },
	{ "delete", "TASK", 1, 1, "delete it", delete_opts, delete, false },
	{ "next", "TASK", 1, 1, "its next fires, with what clock changes do to them", next_opts, next, false },
	{ "graph", "TASK", 1, 1, "what stands before and behind it", NULL, graph, false },
	{ "versions", "TASK", 1, 1, "how its definition changed", NULL, versions, false },
	{ 0 },
};
