#include "cli/crontab.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "cli/crontab_name.h"
#include "cli/crontab_time.h"
#include "core/executor_param.h"

enum { MAX_ENV = 128 };

/* The file's state between lines. */
struct reader {
	struct ax_arena *arena;
	bool system;
	struct ax_crontab_env *env;
	size_t n_env;
	bool env_used; /* by an entry above: it must not change any more */
	const char *comment;
	struct ax_crontab out;
	size_t cap_entries, cap_refused;
	int line;
	const char *text; /* the line being read */
	const char *warnings[8];
	size_t n_warnings;
};

static void *grow(void *items, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return items;
	*cap = *cap * 2 + 16;
	return ax_realloc(items, *cap * size);
}

static void refuse(struct reader *reader, const char *why)
{
	struct ax_crontab *out = &reader->out;
	out->refused = grow(out->refused, out->n_refused, &reader->cap_refused, sizeof(*out->refused));
	out->refused[out->n_refused++] = (struct ax_crontab_refused){ reader->line, reader->text, why };
}

static void warn(struct reader *reader, const char *sentence)
{
	AX_ASSERT(reader->n_warnings + 1 < AX_COUNT(reader->warnings));
	reader->warnings[reader->n_warnings++] = sentence;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* ---- environment lines ---- */

/* Reads one side of NAME=value: bare up to `stop`, or quoted. The bytes are copied to `out`; NULL when it is none. */
static const char *read_side(const char *p, bool is_name, char *out)
{
	char quote = *p == '\'' || *p == '"' ? *p++ : '\0';
	while (*p != '\0') {
		bool ends = quote != '\0' ? *p == quote : is_name && (isspace((unsigned char)*p) || *p == '=');
		if (ends)
			break;
		if (is_name && *p == '=')
			return NULL;
		*out++ = *p++;
	}
	if (quote != '\0' && *p != quote)
		return NULL;
	*out = '\0';
	return quote != '\0' ? p + 1 : p;
}

/* NAME = value as crond's load_env takes it: either side may be quoted, blanks around them do not count; an empty value
 * must be written with quotes. False: not a setting, so the line must be an entry. */
static bool read_env(struct ax_arena *arena, const char *text, struct ax_crontab_env *ret)
{
	char *name = ax_alloc(arena, strlen(text) + 1), *value = ax_alloc(arena, strlen(text) + 1);
	const char *p = read_side(text, true, name);
	if (p == NULL)
		return false;
	while (isspace((unsigned char)*p))
		p++;
	if (*p++ != '=')
		return false;
	while (isspace((unsigned char)*p))
		p++;
	bool quoted = *p == '\'' || *p == '"';
	if (*p == '\0')
		return false;
	p = read_side(p, false, value);
	if (p == NULL)
		return false;
	while (quoted && isspace((unsigned char)*p))
		p++;
	if (*p != '\0')
		return false;
	size_t len = strlen(value);
	while (!quoted && len > 0 && isspace((unsigned char)value[len - 1]))
		value[--len] = '\0';
	*ret = (struct ax_crontab_env){ name, value };
	return true;
}

static void set_env(struct reader *reader, const struct ax_crontab_env *env)
{
	if (!ax_env_is_name(env->name)) {
		refuse(reader,
			"this sets a variable whose name is not made of letters, digits and '_'; the lines below go "
			"without it");
		return;
	}
	size_t i = 0;
	while (i < reader->n_env && strcmp(reader->env[i].name, env->name) != 0)
		i++;
	if (i == MAX_ENV) {
		refuse(reader, "more variables than AX takes (128); the lines below go without this one");
		return;
	}
	if (reader->env_used || reader->env == NULL) {
		struct ax_crontab_env *copy = ax_alloc_array(reader->arena, MAX_ENV, sizeof(*copy));
		if (reader->n_env > 0)
			memcpy(copy, reader->env, reader->n_env * sizeof(*copy));
		reader->env = copy;
		reader->env_used = false;
	}
	reader->env[i] = *env;
	reader->n_env = AX_MAX(reader->n_env, i + 1);
}

/* ---- commands ---- */

/* What crond writes to standard input for the text behind the first '%': "\%" is '%', '%' a newline, and a newline
 * ends it. A backslash before a backslash does not take its meaning away here, unlike in the command. */
static const char *input_of(struct ax_arena *arena, const char *text)
{
	struct ax_buf out;
	ax_buf_init(&out, 2 * AX_CRONTAB_MAX_BYTES);
	bool escaped = false, need_newline = false;
	for (; *text != '\0'; text++) {
		char c = *text;
		if (escaped && c != '%')
			ax_buf_addc(&out, '\\');
		else if (!escaped && c == '%')
			c = '\n';
		escaped = c == '\\';
		if (escaped)
			continue;
		ax_buf_addc(&out, c);
		need_newline = c != '\n';
	}
	if (escaped)
		ax_buf_addc(&out, '\\');
	if (need_newline)
		ax_buf_addc(&out, '\n');
	const char *input = ax_strndup(arena, out.data, out.len);
	ax_buf_done(&out);
	return input;
}

/* Cuts the command at the first bare '%' and makes every "\%" a '%'. */
static void split_command(struct ax_arena *arena, const char *text, const char **ret_command, const char **ret_input)
{
	char *command = ax_alloc(arena, strlen(text) + 1);
	size_t len = 0;
	bool escaped = false;
	for (; *text != '\0' && (escaped || *text != '%'); text++) {
		if (escaped && *text == '%')
			len--; /* over the backslash */
		escaped = !escaped && *text == '\\';
		command[len++] = *text;
	}
	command[len] = '\0';
	*ret_command = command;
	*ret_input = *text == '%' && text[1] != '\0' ? input_of(arena, text + 1) : NULL;
}

/* ---- times ---- */

static const char *why_macro(struct ax_arena *arena, const char *macro)
{
	if (strcmp(macro, "@reboot") == 0)
		return "@reboot is no time: AX's tasks do not belong to one machine's start. Start it from a systemd "
		       "unit "
		       "(WantedBy=multi-user.target), or give it a schedule";
	if (strcmp(macro, "@every_minute") == 0)
		return "only FreeBSD's cron knows @every_minute; write * * * * *";
	if (strcmp(macro, "@every_second") == 0)
		return "only FreeBSD's cron knows @every_second; create a task with --cron \"@every 1s\"";
	if (isdigit((unsigned char)macro[1]))
		return ax_sprintf(arena, "only FreeBSD's cron knows %s; create a task with --cron \"@every %ss\"",
			macro, macro + 1);
	return ax_sprintf(arena,
		"crond does not know %s, so this line never ran; it knows @yearly @annually @monthly @weekly @daily "
		"@midnight "
		"@hourly, in lower case",
		macro);
}

/* "@daily"; what is not one of crond's macros is refused. */
static bool read_macro(struct reader *reader, const char **text, struct ax_crontab_entry *entry)
{
	static const char *const known[] = { "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight",
		"@hourly" };
	size_t len = strcspn(*text, " \t");
	const char *macro = ax_strndup(reader->arena, *text, len);
	for (size_t i = 0; i < AX_COUNT(known); i++) {
		if (strcmp(macro, known[i]) != 0)
			continue;
		struct ax_err err;
		enum ax_status st = ax_schedule_parse(macro, len, AX_DIALECT_NONE, &entry->schedule, &err);
		AX_ASSERT(st == AX_OK);
		entry->expr = macro;
		*text = skip_blanks(*text + len);
		return true;
	}
	refuse(reader, why_macro(reader->arena, macro));
	return false;
}

static const char never_runs[] = "crond accepts this and never runs it";

static int field_of(const char *name)
{
	for (int field = 0; field < AX_CRONTAB_FIELDS; field++)
		if (strcmp(ax_crontab_field_name(field), name) == 0)
			return field;
	return -1;
}

/* ". crond reads it as 0; write that to keep what it did": what to write instead of a field. */
static const char *instead(struct ax_arena *arena, const struct ax_crontab_time *time, int field)
{
	if (field < 0)
		return "";
	struct ax_buf plain;
	ax_buf_init(&plain, 256);
	ax_crontab_time_plain(time, field, &plain);
	const char *text = ax_sprintf(arena, "crond reads the %s field \"%.*s\" as %s: write that to keep what it did",
		ax_crontab_field_name(field), (int)time->len[field], time->at[field], plain.data);
	if (plain.len == 0)
		text = never_runs;
	ax_buf_done(&plain);
	return text;
}

static const char *expr_of(struct ax_arena *arena, const struct ax_crontab_time *time)
{
	const char *expr = "";
	for (int i = 0; i < AX_CRONTAB_FIELDS; i++)
		expr = ax_sprintf(arena, "%s%s%.*s", expr, i > 0 ? " " : "", (int)time->len[i], time->at[i]);
	return expr;
}

/* Why a line that crond refuses is refused here too; some mean something in AX. */
static const char *why_bad(struct ax_arena *arena, const char *text, int field)
{
	const char *expr = "", *p = text;
	struct ax_schedule schedule;
	for (int i = 0; i < AX_CRONTAB_FIELDS; i++) {
		size_t len = strcspn(p, " \t");
		expr = ax_sprintf(arena, "%s%s%.*s", expr, i > 0 ? " " : "", (int)len, p);
		p = skip_blanks(p + len);
	}
	size_t len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	if (len > 0 && text[len - 1] == '=' && strcspn(text, "= \t") >= len - 1)
		return ax_sprintf(arena, "crond takes an empty value only in quotes: write %.*s\"\"", (int)len, text);
	if (ax_schedule_parse(expr, strlen(expr), AX_DIALECT_UNIX, &schedule, NULL) == AX_OK)
		return ax_sprintf(arena,
			"crond refuses the %s field, so this line never ran. AX knows it: `axctl task create --cron "
			"\"%s\"`",
			ax_crontab_field_name(field), expr);
	return ax_sprintf(arena, "crond refuses the %s field, so this line never ran: correct it or delete it",
		ax_crontab_field_name(field));
}

/* Five fields that crond and AX read alike. */
static bool read_fields(struct reader *reader, const char **text, struct ax_crontab_entry *entry)
{
	struct ax_arena *arena = reader->arena;
	struct ax_crontab_time time;
	struct ax_err err;
	const char *start = *text;
	int bad = ax_crontab_time_read(text, &time);
	if (bad >= 0) {
		refuse(reader, why_bad(arena, start, bad));
		return false;
	}
	entry->expr = expr_of(arena, &time);
	if (ax_schedule_parse(entry->expr, strlen(entry->expr), AX_DIALECT_UNIX, &entry->schedule, &err) != AX_OK) {
		const char *what = err.status == AX_NEVER ? never_runs : instead(arena, &time, field_of(err.field));
		const char *stop = err.msg[0] != '\0' && err.msg[strlen(err.msg) - 1] == '.' ? "" : ".";
		refuse(reader,
			ax_sprintf(
				arena, "%s%s%s%s", err.msg, *what != '\0' ? stop : "", *what != '\0' ? " " : "", what));
		return false;
	}
	int other = ax_crontab_time_differs(&time, &entry->schedule.cron);
	if (other >= 0) {
		refuse(reader,
			ax_sprintf(arena, "AX would read this otherwise than crond. %s", instead(arena, &time, other)));
		return false;
	}
	return true;
}

/* ---- lines ---- */

static void add_entry(struct reader *reader, struct ax_crontab_entry *entry)
{
	struct ax_crontab *out = &reader->out;
	const char **warnings = ax_alloc_array(reader->arena, reader->n_warnings + 1, sizeof(*warnings));
	memcpy(warnings, reader->warnings, reader->n_warnings * sizeof(*warnings));
	entry->warnings = warnings;
	out->entries = grow(out->entries, out->n_entries, &reader->cap_entries, sizeof(*out->entries));
	out->entries[out->n_entries++] = *entry;
}

/* The user column, then what is left is the command. */
static bool read_user(struct reader *reader, const char **text, struct ax_crontab_entry *entry)
{
	size_t len = strcspn(*text, " \t");
	const char *rest = skip_blanks(*text + len);
	if (*rest == '\0' || **text == '*') {
		refuse(reader,
			"the user column or the command is missing; in a system crontab it is: minute hour day month "
			"weekday USER command");
		return false;
	}
	entry->user = ax_strndup(reader->arena, *text, len);
	*text = rest;
	return true;
}

static void read_entry(struct reader *reader, const char *text)
{
	struct ax_crontab_entry entry = { .line = reader->line, .text = reader->text, .comment = reader->comment };
	if (*text == '-') {
		warn(reader, "the '-' that keeps crond from logging the line has no meaning here");
		text++;
	}
	if (!(*text == '@' ? read_macro : read_fields)(reader, &text, &entry))
		return;
	if (reader->system && !read_user(reader, &text, &entry))
		return;
	if (*text == '\0' || *text == '*') {
		refuse(reader,
			*text == '*'
				? "the command begins with '*', which crond takes for a sixth time field and refuses"
				: "there is no command");
		return;
	}
	split_command(reader->arena, text, &entry.command, &entry.input);
	if (*skip_blanks(entry.command) == '\0') {
		refuse(reader, "there is no command before the '%'");
		return;
	}
	entry.env = reader->env;
	entry.n_env = reader->n_env;
	reader->env_used = true;
	if (!reader->system && strncmp(text, "root", 4) == 0 && is_blank(text[4]))
		warn(reader,
			"the command begins with \"root\": is this a system crontab? Then import it with --system");
	add_entry(reader, &entry);
}

/* A comment adds to the paragraph above an entry, or ends it when it is no words. */
static void read_comment(struct reader *reader, const char *text)
{
	const char *words = ax_crontab_comment_words(reader->arena, text);
	if (words == NULL || reader->comment == NULL)
		reader->comment = words;
	else
		reader->comment = ax_sprintf(reader->arena, "%s\n%s", reader->comment, words);
}

static void read_line(struct reader *reader, const char *bytes, size_t len, bool has_newline)
{
	struct ax_crontab_env env;
	reader->n_warnings = 0;
	bool cr = len > 0 && bytes[len - 1] == '\r';
	char *line = ax_alloc(reader->arena, 3 * len + 1);
	ax_utf8_repair(bytes, len - cr, line);
	reader->text = line;
	const char *text = skip_blanks(line);
	if (*text == '#') {
		read_comment(reader, text);
		return;
	}
	if (!ax_utf8_valid(bytes, len) || memchr(bytes, '\0', len) != NULL) {
		refuse(reader, "this line is not UTF-8 text; save the crontab as UTF-8");
	} else if (*text == '\0') {
		reader->comment = NULL;
		return;
	} else if (read_env(reader->arena, text, &env)) {
		set_env(reader, &env);
	} else {
		if (cr)
			warn(reader,
				"the line ends with a carriage return, which crond hands to the shell; it was taken "
				"away");
		if (!has_newline)
			warn(reader, "the file's last line has no newline: crond does not run it, AX will");
		read_entry(reader, text);
	}
	reader->comment = NULL;
}

void ax_crontab_parse(const char *text, size_t len, bool system, struct ax_arena *arena, struct ax_crontab *ret)
{
	struct reader reader = { .arena = arena, .system = system };
	const char *end = text + len;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline != NULL ? newline : end) - text);
		reader.line++;
		read_line(&reader, text, n, newline != NULL);
		text += n + 1;
	}
	struct ax_crontab *out = &reader.out;
	ret->n_entries = out->n_entries;
	ret->n_refused = out->n_refused;
	ret->entries = ax_alloc_array(arena, out->n_entries + 1, sizeof(*out->entries));
	ret->refused = ax_alloc_array(arena, out->n_refused + 1, sizeof(*out->refused));
	if (out->n_entries > 0)
		memcpy(ret->entries, out->entries, out->n_entries * sizeof(*out->entries));
	if (out->n_refused > 0)
		memcpy(ret->refused, out->refused, out->n_refused * sizeof(*out->refused));
	free(out->entries);
	free(out->refused);
}

const char *ax_crontab_env_get(const struct ax_crontab_entry *entry, const char *name)
{
	for (size_t i = 0; i < entry->n_env; i++)
		if (strcmp(entry->env[i].name, name) == 0)
			return entry->env[i].value;
	return NULL;
}
