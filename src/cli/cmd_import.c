#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "adapters/zoneinfo/zoneinfo.h"
#include "base/rfc3339.h"
#include "cli/crontab.h"
#include "cli/crontab_name.h"
#include "cli/crontab_task.h"
#include "cli/ctl.h"
#include "cli/file.h"
#include "cli/import_report.h"
#include "cli/inventory.h"
#include "cli/report.h"
#include "cli/value.h"
#include "core/schedule_text.h"

enum { MAX_TASKS = 1000 }; /* that one call may create */

static const struct ax_opt import_opts[] = {
	{ "system", NULL, NULL, "a system crontab: a user column stands before the command" },
	{ "dry-run", NULL, NULL, "change nothing: print an inventory (needs no server)" },
	{ "group", "group-key", "G", "the group of the new tasks (default)" },
	{ "time-zone", "tz", "Z", "zone of lines without CRON_TZ (this machine's)" },
	{ "update", NULL, NULL, "change tasks that are there and differ" },
	{ "disabled", NULL, NULL, "create the tasks without enabling them" },
	{ "strict", NULL, NULL, "import nothing when a line is refused" },
	{ "worker-user", NULL, "U", "the account the worker runs under (yours)" },
	{ "map-user", NULL, "FROM=TO", "run lines of user FROM as TO; may be repeated" },
	{ "crowded", NULL, "N", "dry run: what counts as a crowded minute (5 fires)" },
	{ 0 },
};

/* One import. Items and tasks run in parallel: items[i] became tasks[i]. */
struct import {
	struct ax_ctl *ctl;
	const char *group, *zone, *worker_user;
	const char *mail; /* MAILTO of the line before; NULL: none */
	bool system;
	struct ax_zones *zones;
	struct ax_crontab crontab;
	struct ax_inventory_item *items;
	json_t **tasks;
	size_t n;
	json_t *report; /* what --json prints; see docs/crontab.md */
};

/* ---- reading ---- */

/* The zone that crond on this machine uses. */
static const char *machine_zone(struct ax_arena *arena)
{
	char link[512], *text;
	struct ax_err err;
	ssize_t n = readlink("/etc/localtime", link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	const char *zone = strstr(link, "/zoneinfo/");
	if (zone != NULL)
		return strcmp(zone, "/zoneinfo/Etc/UTC") == 0 ? "UTC" : ax_strdup(arena, zone + strlen("/zoneinfo/"));
	if (ax_file_read(arena, "/etc/timezone", 4096, &text, NULL, &err) == AX_OK) {
		text[strcspn(text, " \t\r\n")] = '\0';
		if (*text != '\0')
			return text;
	}
	return "UTC";
}

static const char *own_user(struct ax_arena *arena)
{
	const struct passwd *who = getpwuid(geteuid());
	return who != NULL ? ax_strdup(arena, who->pw_name) : "";
}

static void refuse(struct import *import, const struct ax_crontab_entry *entry, const char *why)
{
	ax_import_report_add(import->report, "refused", entry->line, "text", entry->text, "reason", why);
}

/* --map-user FROM=TO for this user; NULL when none is given. */
static const char *mapped(const struct ax_args *args, const char *user)
{
	size_t len = strlen(user);
	for (int i = 0; i < args->n_given; i++)
		if (strcmp(args->given[i].opt->name, "map-user") == 0 &&
			strncmp(args->given[i].value, user, len) == 0 && args->given[i].value[len] == '=')
			return args->given[i].value + len + 1;
	return NULL;
}

/* Whom the line runs as: *ret_run_as NULL means the worker's own account. */
static bool user_of(struct import *import, const struct ax_crontab_entry *entry, const char **ret_run_as)
{
	*ret_run_as = NULL;
	if (entry->user == NULL)
		return true;
	const char *to = mapped(&import->ctl->args, entry->user);
	if (to == NULL && strcmp(entry->user, import->worker_user) == 0)
		return true;
	if (to == NULL) {
		refuse(import, entry,
			ax_sprintf(&import->ctl->arena,
				"it runs as %s, the worker as %s: say --map-user %s=%s to run it as the worker does, "
				"--map-user %s=%s if the "
				"worker's policy lets it run tasks as %s, or --worker-user %s if that is the worker's "
				"account",
				entry->user, import->worker_user, entry->user, import->worker_user, entry->user,
				entry->user, entry->user, entry->user));
		return false;
	}
	*ret_run_as = strcmp(to, import->worker_user) == 0 ? NULL : to;
	return true;
}

/* The name of a line, made unique among those before it by "-2", "-3", … */
static const char *unique_name(struct import *import, const struct ax_crontab_entry *entry)
{
	struct ax_arena *arena = &import->ctl->arena;
	const char *name = ax_crontab_name(arena, entry->comment, entry->command), *base = name;
	for (int k = 2;; k++) {
		size_t i = 0;
		while (i < import->n && strcmp(import->items[i].name, name) != 0)
			i++;
		if (i == import->n)
			return name;
		name = ax_sprintf(arena, "%s-%d", base, k);
	}
}

static void warn(struct import *import, int line, const char *sentence)
{
	ax_import_report_add(import->report, "warnings", line, "text", sentence, NULL, NULL);
}

/* What a line means in crond and not here, told once a line. */
static void warn_of(struct import *import, const struct ax_crontab_entry *entry)
{
	for (const char *const *warning = entry->warnings; *warning != NULL; warning++)
		warn(import, entry->line, *warning);
	if (ax_crontab_env_get(entry, "TZ") != NULL && ax_crontab_env_get(entry, "CRON_TZ") == NULL)
		warn(import, entry->line,
			"TZ changes what the command sees, not when it runs, as in crond; for the schedule write "
			"CRON_TZ or give --time-zone");
	if (ax_crontab_env_get(entry, "RANDOM_DELAY") != NULL)
		warn(import, entry->line,
			"RANDOM_DELAY: cronie would start it up to so many minutes later, AX starts it on the minute");
}

/* What becomes of mail, told where it changes. */
static void warn_of_mail(struct import *import, const struct ax_crontab_entry *entry)
{
	const char *mail = ax_crontab_env_get(entry, "MAILTO"), *before = import->mail;
	import->mail = mail;
	if (mail == NULL || (before != NULL && strcmp(mail, before) == 0))
		return;
	if (*mail != '\0')
		warn(import, entry->line,
			ax_sprintf(&import->ctl->arena,
				"MAILTO=%s: crond mails the output there, AX keeps it with the run and mails none; "
				"the address becomes the task's owner",
				mail));
	else
		warn(import, entry->line,
			"MAILTO=\"\": crond throws the output away, AX keeps it with the run; the task's notes say so");
}

static void take_entry(struct import *import, const struct ax_crontab_entry *entry)
{
	struct ax_arena *arena = &import->ctl->arena;
	const char *zone = ax_crontab_env_get(entry, "CRON_TZ"), *run_as, *why;
	if (zone == NULL || *zone == '\0')
		zone = import->zone;
	const struct ax_tz *tz = ax_zones_find(import->zones, zone);
	if (tz == NULL) {
		refuse(import, entry,
			ax_sprintf(arena,
				"CRON_TZ names no time zone: \"%s\"; write an IANA name such as Europe/Berlin", zone));
		return;
	}
	if (!user_of(import, entry, &run_as))
		return;
	const char *name = unique_name(import, entry);
	json_t *task = ax_crontab_task_make(
		arena, entry, &(struct ax_crontab_task){ import->group, name, zone, run_as }, &why);
	if (task == NULL) {
		refuse(import, entry, why);
		return;
	}
	import->items[import->n] = (struct ax_inventory_item){ entry, name, zone, tz };
	import->tasks[import->n++] = task;
	warn_of(import, entry);
	warn_of_mail(import, entry);
}

static int read_crontab(struct import *import)
{
	struct ax_ctl *ctl = import->ctl;
	struct ax_crontab *crontab = &import->crontab;
	char *text;
	size_t len;
	int code = ax_ctl_read_file(ctl, ctl->args.operands[1], AX_CRONTAB_MAX_BYTES, &text, &len);
	if (code != AX_EXIT_OK)
		return code;
	if (ax_zones_find(import->zones, import->zone) == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "--time-zone",
			"\"%s\" is no time zone; write an IANA name such as Europe/Berlin", import->zone);
	ax_crontab_parse(text, len, import->system, &ctl->arena, crontab);
	if (crontab->n_entries > MAX_TASKS)
		return ax_ctl_fail(AX_EXIT_USAGE, "",
			"%zu lines are more than the %d that one import takes: split the file", crontab->n_entries,
			MAX_TASKS);
	for (size_t i = 0; i < crontab->n_refused; i++)
		ax_import_report_add(import->report, "refused", crontab->refused[i].line, "text",
			crontab->refused[i].text, "reason", crontab->refused[i].why);
	import->items = ax_alloc_array(&ctl->arena, crontab->n_entries + 1, sizeof(*import->items));
	import->tasks = ax_alloc_array(&ctl->arena, crontab->n_entries + 1, sizeof(*import->tasks));
	for (size_t i = 0; i < crontab->n_entries; i++)
		take_entry(import, &crontab->entries[i]);
	return AX_EXIT_OK;
}

/* ---- dry run ---- */

static json_t *fires_of(const struct ax_inventory_item *item, int64_t now_ms)
{
	json_t *fires = json_array();
	int64_t ms = now_ms;
	while (json_array_size(fires) < 3 && ax_schedule_next(&item->entry->schedule, item->tz, 0, ms, &ms)) {
		char text[AX_RFC3339_SIZE];
		ax_rfc3339_format_offset(ms, ax_tz_offset_s(item->tz, ms), text);
		json_array_append_new(fires, json_string(text));
	}
	return fires;
}

static json_t *words_of(const struct ax_inventory_item *item)
{
	struct ax_buf words;
	ax_buf_init(&words, 4096);
	ax_schedule_describe(&item->entry->schedule, &words);
	json_t *text = json_string(words.data);
	ax_buf_done(&words);
	return text;
}

static int dry_run(struct import *import)
{
	int64_t crowded = 5, now_ms = ax_ctl_now_ms();
	int code = ax_ctl_opt_i64(import->ctl, "crowded", 2, 100000, &crowded);
	if (code != AX_EXIT_OK)
		return code;
	for (size_t i = 0; i < import->n; i++) {
		const struct ax_inventory_item *item = &import->items[i];
		json_array_append_new(json_object_get(import->report, "lines"),
			json_pack("{s:i, s:s, s:s, s:o, s:s, s:s, s:o, s:O}", "line", item->entry->line, "task_name",
				item->name, "cron_expr", item->entry->expr, "words", words_of(item), "time_zone",
				item->zone, "command", item->entry->command, "next", fires_of(item, now_ms), "task",
				import->tasks[i]));
	}
	json_object_set_new(
		import->report, "inventory", ax_inventory_make(import->items, import->n, now_ms, (int)crowded));
	return AX_EXIT_OK;
}

/* ---- import ---- */

/* Whether every field of the task that the line gives is so already. */
static bool is_same(const json_t *have, const json_t *want)
{
	void *at;
	json_t *copy = json_copy((json_t *)(uintptr_t)want); /* iterators want it without const */
	bool same = true;
	for (at = json_object_iter(copy); at != NULL; at = json_object_iter_next(copy, at))
		same = same && json_equal(json_object_get(have, json_object_iter_key(at)), json_object_iter_value(at));
	json_decref(copy);
	return same;
}

/* The group's tasks by name: *ret { name: task }. */
static int tasks_there(struct import *import, json_t **ret)
{
	struct ax_buf path;
	ax_buf_init(&path, 4096);
	ax_buf_adds(&path, "/tasks");
	ax_value_query(&path, "group_key", import->group);
	json_t *list = NULL;
	int code = ax_client_list(&import->ctl->client, path.data, 0, &list);
	ax_buf_done(&path);
	if (code != AX_EXIT_OK)
		return code;
	json_t *by_name = json_object();
	size_t i;
	json_t *task;
	json_array_foreach(json_object_get(list, "items"), i, task)
		json_object_set(by_name, ax_json_text(&import->ctl->arena, task, "task_name"), task);
	json_decref(list);
	*ret = by_name;
	return AX_EXIT_OK;
}

/* One call for all that are new: all or none. */
static int create_new(struct import *import, json_t *tasks, const size_t *which)
{
	struct ax_client *client = &import->ctl->client;
	json_t *answer = NULL;
	if (json_array_size(tasks) == 0)
		return AX_EXIT_OK;
	int code = ax_client_call(client, "POST", "/tasks/batch", json_pack("{s:O}", "tasks", tasks), &answer);
	int at = -1;
	if (code != AX_EXIT_OK && sscanf(client->field, "tasks[%d]", &at) == 1 && at >= 0 &&
		(size_t)at < json_array_size(tasks))
		fprintf(stderr, "       tasks[%d] is line %d: %s\n", at, import->items[which[at]].entry->line,
			import->items[which[at]].entry->text);
	if (code != AX_EXIT_OK)
		return code;
	for (size_t i = 0; i < json_array_size(tasks); i++) {
		const struct ax_inventory_item *item = &import->items[which[i]];
		const json_t *made = json_array_get(json_object_get(answer, "items"), i);
		ax_import_report_add(import->report, "created", item->entry->line, "task_name", item->name, "id",
			ax_json_text(&import->ctl->arena, made, "id"));
	}
	json_decref(answer);
	return AX_EXIT_OK;
}

static int update_old(struct import *import, size_t i, const json_t *have)
{
	const struct ax_inventory_item *item = &import->items[i];
	const char *id = ax_json_text(&import->ctl->arena, have, "id");
	json_t *change = json_copy(import->tasks[i]);
	json_object_set(change, "version", json_object_get(have, "version"));
	int code = ax_client_call(
		&import->ctl->client, "PATCH", ax_sprintf(&import->ctl->arena, "/tasks/%s", id), change, NULL);
	if (code == AX_EXIT_OK)
		ax_import_report_add(import->report, "updated", item->entry->line, "task_name", item->name, "id", id);
	return code;
}

/* New ones first, in one call; then, with --update, those that differ, one by one. */
static int import_all(struct import *import)
{
	struct ax_ctl *ctl = import->ctl;
	bool update = ax_args_has(&ctl->args, "update"), disabled = ax_args_has(&ctl->args, "disabled");
	json_t *there = NULL, *fresh = json_array();
	size_t *which = ax_alloc_array(&ctl->arena, import->n + 1, sizeof(*which));
	size_t *differing = ax_alloc_array(&ctl->arena, import->n + 1, sizeof(*differing)), n_differing = 0;
	bool conflict = false;
	int code = tasks_there(import, &there);
	for (size_t i = 0; code == AX_EXIT_OK && i < import->n; i++) {
		const struct ax_inventory_item *item = &import->items[i];
		const json_t *have = json_object_get(there, item->name);
		if (have == NULL) {
			json_t *task = json_copy(import->tasks[i]);
			if (disabled)
				json_object_set_new(task, "status", json_string("created"));
			which[json_array_size(fresh)] = i;
			json_array_append_new(fresh, task);
		} else if (strcmp(ax_json_text(&ctl->arena, have, "status"), "deleting") == 0) {
			refuse(import, item->entry,
				ax_sprintf(&ctl->arena, "task \"%s\" is being deleted; import it again when it is gone",
					item->name));
			conflict = true;
		} else if (is_same(have, import->tasks[i])) {
			ax_import_report_add(import->report, "unchanged", item->entry->line, "task_name", item->name,
				"id", ax_json_text(&ctl->arena, have, "id"));
		} else if (update) {
			differing[n_differing++] = i;
		} else {
			refuse(import, item->entry,
				ax_sprintf(&ctl->arena, "task \"%s\" is there and differs; --update changes it",
					item->name));
			conflict = true;
		}
	}
	if (code == AX_EXIT_OK)
		code = create_new(import, fresh, which);
	for (size_t k = 0; code == AX_EXIT_OK && k < n_differing; k++)
		code = update_old(import, differing[k], json_object_get(there, import->items[differing[k]].name));
	json_decref(fresh);
	json_decref(there);
	return code == AX_EXIT_OK && conflict ? AX_EXIT_CONFLICT : code;
}

static int run(struct import *import)
{
	const struct ax_args *args = &import->ctl->args;
	bool dry = ax_args_has(args, "dry-run");
	int code = read_crontab(import);
	if (code != AX_EXIT_OK)
		return code;
	size_t refused = json_array_size(json_object_get(import->report, "refused"));
	bool stop = refused > 0 && (import->n == 0 || ax_args_has(args, "strict"));
	if (dry)
		code = dry_run(import);
	else if (!stop)
		code = ax_client_open(&import->ctl->client, &import->ctl->arena, args, true);
	if (!dry && !stop && code == AX_EXIT_OK)
		code = import_all(import);
	if (code != AX_EXIT_OK && code != AX_EXIT_CONFLICT)
		return code;
	if (import->ctl->json)
		ax_print_json(stdout, import->report);
	else
		ax_import_report_print(import->report);
	if (stop)
		return ax_ctl_fail(AX_EXIT_USAGE, "",
			import->n == 0 ? "nothing to import: every line was refused"
				       : "--strict: nothing was imported, since lines were refused");
	return code;
}

static int import_crontab(struct ax_ctl *ctl)
{
	const struct ax_args *args = &ctl->args;
	if (strcmp(args->operands[0], "crontab") != 0)
		return ax_ctl_fail(AX_EXIT_USAGE, "", "\"%s\" cannot be imported; only `import crontab FILE` is known",
			args->operands[0]);
	struct import import = { .ctl = ctl, .system = ax_args_has(args, "system"), .zones = ax_zoneinfo_open(NULL) };
	const char *group = ax_args_get(args, "group"), *zone = ax_args_get(args, "time-zone"),
		   *user = ax_args_get(args, "worker-user");
	import.group = group != NULL ? group : "default";
	import.zone = zone != NULL ? zone : machine_zone(&ctl->arena);
	import.worker_user = user != NULL ? user : own_user(&ctl->arena);
	import.report =
		ax_import_report_new(args->operands[1], import.group, import.zone, ax_args_has(args, "dry-run"));
	int code = run(&import);
	for (size_t i = 0; i < import.n; i++)
		json_decref(import.tasks[i]);
	json_decref(import.report);
	ax_zoneinfo_close(import.zones);
	return code;
}

const struct ax_verb ax_import_verbs[] = {
	{ "", "crontab FILE", 2, 2, "make tasks of a crontab's lines (\"-\": standard input)", import_opts,
		import_crontab, true },
	{ 0 },
};
