#include "cli/crontab_task.h"

#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "core/executor_param.h"

enum {
	MAX_PARAM_BYTES = 64 * 1024,
	MAX_NOTES_CHARS = 4000,
	MAX_OWNER_CHARS = 128,
	OVERLAP_MAX = 10, /* crond knows no limit; so many at once are a fault to be seen */
};

/* The longest beginning of at most `max` characters. */
static json_t *cut(const char *text, size_t max)
{
	size_t chars = 0, len = 0;
	while (text[len] != '\0' && (((unsigned char)text[len] & 0xc0) == 0x80 || chars++ < max))
		len++;
	return json_stringn(text, len);
}

/* Whether workers take no such variable in `env`, since it would change what runs. A script may set what it likes, so
 * for these the script does. */
static bool is_set_by_script(const char *name)
{
	return ax_env_is_denied(name, true);
}

/* The account's names are always those of the account, as in crond. */
static bool is_account_name(const char *name)
{
	return strcmp(name, "LOGNAME") == 0 || strcmp(name, "USER") == 0;
}

/* What crond hands to the command: its own defaults, then the lines above. */
static json_t *env_of(const struct ax_crontab_entry *entry)
{
	json_t *env = json_pack("{s:s, s:s}", "PATH", "/usr/bin:/bin", "SHELL", "/bin/sh");
	for (size_t i = 0; i < entry->n_env; i++)
		if (!is_account_name(entry->env[i].name) && !is_set_by_script(entry->env[i].name))
			json_object_set_new(env, entry->env[i].name, json_string(entry->env[i].value));
	return env;
}

/* The command, behind a line `export NAME='value'` for each variable that only the script can set. */
static const char *script_of(struct ax_arena *arena, const struct ax_crontab_entry *entry)
{
	struct ax_buf script;
	ax_buf_init(&script, 8 * AX_CRONTAB_MAX_BYTES);
	for (size_t i = 0; i < entry->n_env; i++) {
		if (!is_set_by_script(entry->env[i].name))
			continue;
		ax_buf_printf(&script, "export %s='", entry->env[i].name);
		for (const char *p = entry->env[i].value; *p != '\0'; p++)
			ax_buf_adds(&script, *p == '\'' ? "'\\''" : (const char[]){ *p, '\0' });
		ax_buf_adds(&script, "'\n");
	}
	ax_buf_adds(&script, entry->command);
	const char *text = ax_strndup(arena, script.data, script.len);
	ax_buf_done(&script);
	return text;
}

static json_t *param_of(struct ax_arena *arena, const struct ax_crontab_entry *entry, const char *run_as)
{
	const char *shell = ax_crontab_env_get(entry, "SHELL"), *home = ax_crontab_env_get(entry, "HOME");
	json_t *param = json_pack("{s:s, s:s, s:o}", "script", script_of(arena, entry), "shell",
		shell != NULL ? shell : "/bin/sh", "env", env_of(entry));
	if (entry->input != NULL)
		json_object_set_new(param, "stdin", json_string(entry->input));
	if (home != NULL)
		json_object_set_new(param, "cwd", json_string(home));
	if (run_as != NULL)
		json_object_set_new(param, "user", json_string(run_as));
	return param;
}

static json_t *notes_of(struct ax_arena *arena, const struct ax_crontab_entry *entry)
{
	const char *mail = ax_crontab_env_get(entry, "MAILTO");
	const char *notes = ax_sprintf(arena, "%s%sFrom a crontab: %s", entry->comment != NULL ? entry->comment : "",
		entry->comment != NULL ? "\n\n" : "", entry->text + strspn(entry->text, " \t"));
	if (mail != NULL && *mail != '\0')
		notes = ax_sprintf(arena, "%s\nMAILTO=%s: crond mailed the output there.", notes, mail);
	else if (mail != NULL)
		notes = ax_sprintf(arena, "%s\nMAILTO=\"\": crond threw the output away.", notes);
	return cut(notes, MAX_NOTES_CHARS);
}

/* Shells that know `export NAME='value'`. */
static bool is_bourne(const char *shell)
{
	static const char *const bourne[] = { "/sh", "/bash", "/dash", "/ksh", "/zsh", "/ash", "/mksh" };
	const char *base = strrchr(shell, '/');
	for (size_t i = 0; base != NULL && i < AX_COUNT(bourne); i++)
		if (strcmp(base, bourne[i]) == 0)
			return true;
	return false;
}

static const char *why_not(const struct ax_crontab_entry *entry, const json_t *param)
{
	const char *shell = ax_crontab_env_get(entry, "SHELL"), *home = ax_crontab_env_get(entry, "HOME");
	if (shell != NULL && *shell != '/')
		return "SHELL is not an absolute path; write it with the leading '/'";
	if (home != NULL && *home != '/')
		return "HOME is not an absolute path; write it with the leading '/'";
	for (size_t i = 0; shell != NULL && i < entry->n_env; i++)
		if (is_set_by_script(entry->env[i].name) && !is_bourne(shell))
			return "workers take no variable that changes what programs load (such as LD_PRELOAD), and "
			       "with this SHELL "
			       "the script cannot set it; set it inside the command";
	char *text = json_dumps(param, JSON_COMPACT);
	size_t bytes = text != NULL ? strlen(text) : 0;
	free(text);
	return bytes > MAX_PARAM_BYTES
		? "command, input and variables are more than 64 KiB; put them into a script file"
		: NULL;
}

json_t *ax_crontab_task_make(struct ax_arena *arena, const struct ax_crontab_entry *entry,
	const struct ax_crontab_task *as, const char **ret_why)
{
	const char *mail = ax_crontab_env_get(entry, "MAILTO");
	json_t *param = param_of(arena, entry, as->run_as);
	const char *why = why_not(entry, param);
	if (why != NULL) {
		json_decref(param);
		*ret_why = why;
		return NULL;
	}
	json_t *task = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:i, s:i, s:s, s:i, s:o, s:o}", "group_key",
		as->group, "task_name", as->name, "task_type", "scheduled", "cron_expr", entry->expr, "time_zone",
		as->zone, "executor_key", "exec", "biz_param", param, "timeout_seconds", 0, "retry_count", 0, "overlap",
		"allow", "overlap_max", OVERLAP_MAX, "owner", cut(mail != NULL ? mail : "", MAX_OWNER_CHARS), "notes",
		notes_of(arena, entry));
	AX_ASSERT(task != NULL);
	if (*entry->expr != '@')
		json_object_set_new(task, "dialect", json_string("unix"));
	return task;
}
