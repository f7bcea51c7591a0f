#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/crontab.h"
#include "cli/crontab_name.h"
#include "cli/crontab_task.h"
#include "cli/crontab_time.h"
#include "cli/inventory.h"

/* What a crontab was read as, one line of it a line: "3 expr {user} [command] <input>", "4 !" when refused. */
static void render(const struct ax_crontab *crontab, struct ax_buf *out)
{
	size_t e = 0, r = 0;
	while (e < crontab->n_entries || r < crontab->n_refused) {
		const struct ax_crontab_entry *entry = &crontab->entries[e];
		if (e == crontab->n_entries || (r < crontab->n_refused && crontab->refused[r].line < entry->line)) {
			ax_buf_printf(out, "%d !\n", crontab->refused[r++].line);
			continue;
		}
		ax_buf_printf(out, "%d %s", entry->line, entry->expr);
		if (entry->user != NULL)
			ax_buf_printf(out, " {%s}", entry->user);
		ax_buf_printf(out, " [%s]", entry->command);
		if (entry->input != NULL)
			ax_buf_printf(out, " <%s>", entry->input);
		ax_buf_addc(out, '\n');
		e++;
	}
}

static const struct {
	const char *text;
	bool system;
	const char *read;
	const char *why; /* part of the first refusal's reason, NULL when nothing is refused */
} rows[] = {
	/* lines that run */
	{ "* * * * * true\n", false, "1 * * * * * [true]\n", NULL },
	{ "\n\n  \t\n0 1 2 3 4 a b\n", false, "4 0 1 2 3 4 [a b]\n", NULL },
	{ "   5\t4  * * *\t echo  two  blanks \n", false, "1 5 4 * * * [echo  two  blanks ]\n", NULL },
	{ "0 0 * * 7 x\n", false, "1 0 0 * * 7 [x]\n", NULL },
	{ "*/5 8-18/2 1,15 jan-mar mon-fri x\n", false, "1 */5 8-18/2 1,15 jan-mar mon-fri [x]\n", NULL },
	{ "0 0 * DEC SUN x\n", false, "1 0 0 * DEC SUN [x]\n", NULL },
	{ "0 0 13 * 5 x\n", false, "1 0 0 13 * 5 [x]\n", NULL },
	{ "0 0 */2 * 1 x\n", false, "1 0 0 */2 * 1 [x]\n", NULL },
	{ "0 0 * * 5-7 x\n", false, "1 0 0 * * 5-7 [x]\n", NULL },
	{ "0 0 * * 0-7 x\n", false, "1 0 0 * * 0-7 [x]\n", NULL },
	{ "00 08 01 01 * x\n", false, "1 00 08 01 01 * [x]\n", NULL },
	{ "*,5 * * * * x\n", false, "1 *,5 * * * * [x]\n", NULL },
	{ "5,5 * * * * x\n", false, "1 5,5 * * * * [x]\n", NULL },
	{ "0 0 30 2 1 x\n", false, "1 0 0 30 2 1 [x]\n", NULL },
	{ "@daily x\n@hourly\ty\n@midnight z\n", false, "1 @daily [x]\n2 @hourly [y]\n3 @midnight [z]\n", NULL },
	{ "@yearly a\n@annually b\n@monthly c\n@weekly d\n", false,
		"1 @yearly [a]\n2 @annually [b]\n3 @monthly [c]\n4 @weekly [d]\n", NULL },
	{ "-*/10 * * * * quiet\n", false, "1 */10 * * * * [quiet]\n", NULL },
	{ "-@daily quiet\n", false, "1 @daily [quiet]\n", NULL },
	{ "* * * * * FOO=bar make x=1\n", false, "1 * * * * * [FOO=bar make x=1]\n", NULL },
	{ "* * * * * echo '#' # not a comment\n", false, "1 * * * * * [echo '#' # not a comment]\n", NULL },
	{ "* * * * * last", false, "1 * * * * * [last]\n", NULL },
	{ "* * * * * dos\r\n", false, "1 * * * * * [dos]\n", NULL },
	{ "", false, "", NULL },
	{ "# only\n#comments\n   # indented\n", false, "", NULL },
	{ "* * * * * echo \xe4\xbd\xa0\xe5\xa5\xbd\n", false, "1 * * * * * [echo \xe4\xbd\xa0\xe5\xa5\xbd]\n", NULL },
	/* percent */
	{ "* * * * * cat%hello\n", false, "1 * * * * * [cat] <hello\n>\n", NULL },
	{ "* * * * * cat%a%b%\n", false, "1 * * * * * [cat] <a\nb\n>\n", NULL },
	{ "* * * * * cat%%\n", false, "1 * * * * * [cat] <\n>\n", NULL },
	{ "* * * * * cat%\n", false, "1 * * * * * [cat]\n", NULL },
	{ "* * * * * date +\\%F\n", false, "1 * * * * * [date +%F]\n", NULL },
	{ "* * * * * date +\\%H\\%M > /tmp/x%in\\%put\n", false, "1 * * * * * [date +%H%M > /tmp/x] <in%put\n>\n",
		NULL },
	{ "* * * * * echo a\\\\%b\n", false, "1 * * * * * [echo a\\\\] <b\n>\n", NULL },
	{ "* * * * * cat%a\\b\\\\c\n", false, "1 * * * * * [cat] <a\\b\\\\c\n>\n", NULL },
	{ "* * * * * cat%a\\\\%b\n", false, "1 * * * * * [cat] <a\\%b\n>\n", NULL },
	{ "* * * * * cat%end\\\n", false, "1 * * * * * [cat] <end\\\n>\n", NULL },
	{ "* * * * * echo \\n\n", false, "1 * * * * * [echo \\n]\n", NULL },
	/* system crontabs */
	{ "17 * * * * root cd / && run-parts --report /etc/cron.hourly\n", true,
		"1 17 * * * * {root} [cd / && run-parts --report /etc/cron.hourly]\n", NULL },
	{ "@daily\twww-data   /usr/bin/php x\n", true, "1 @daily {www-data} [/usr/bin/php x]\n", NULL },
	{ "-5 * * * * nobody x%in\n", true, "1 5 * * * * {nobody} [x] <in\n>\n", NULL },
	{ "* * * * * root\n", true, "1 !\n", "user column" },
	{ "* * * * * root   \n", true, "1 !\n", "user column" },
	{ "* * * * * * root x\n", true, "1 !\n", "user column" },
	/* lines that crond refuses too */
	{ "60 * * * * x\n", false, "1 !\n", "minute" },
	{ "* 24 * * * x\n", false, "1 !\n", "hour" },
	{ "* * 0 * * x\n", false, "1 !\n", "day" },
	{ "* * * 13 * x\n", false, "1 !\n", "month" },
	{ "* * * * 8 x\n", false, "1 !\n", "weekday" },
	{ "*/0 * * * * x\n", false, "1 !\n", "minute" },
	{ "1-5,, * * * * x\n", false, "1 !\n", "minute" },
	{ "0 0 * JANUARY * x\n", false, "1 !\n", "month" },
	{ "0 0 * JAN1 * x\n", false, "1 !\n", "month" },
	{ "hello\n", false, "1 !\n", "minute" },
	{ "0 0 L * * x\n", false, "1 !\n", "axctl task create" },
	{ "? * * * * x\n", false, "1 !\n", "minute" },
	{ "0 0 ? * 1 x\n", false, "1 !\n", "axctl task create" },
	{ "4294967301 * * * * x\n", false, "1 !\n", "minute" },
	{ "* * * * *\n", false, "1 !\n", "no command" },
	{ "* * * * *    \n", false, "1 !\n", "no command" },
	{ "* * * * * *\n", false, "1 !\n", "sixth" },
	{ "@daily\n", false, "1 !\n", "no command" },
	{ "* * * * * %input\n", false, "1 !\n", "before the '%'" },
	{ "@Daily x\n", false, "1 !\n", "lower case" },
	{ "@fortnightly x\n", false, "1 !\n", "@fortnightly" },
	{ "@every_minute x\n", false, "1 !\n", "FreeBSD" },
	{ "@300 x\n", false, "1 !\n", "@every 300s" },
	{ "@reboot x\n", false, "1 !\n", "systemd" },
	/* lines that crond runs, or thinks it runs, and AX refuses */
	{ "0 22-2 * * * x\n", false, "1 !\n", "22-23,0-2" },
	{ "0 0 * * FRI-MON x\n", false, "1 !\n", "never runs it" },
	{ "0 0 * * MON#2 x\n", false, "1 !\n", "\"MON#2\" as 1:" },
	{ "*/90 * * * * x\n", false, "1 !\n", "\"*/90\" as 0:" },
	{ "0 0 1-15W * * x\n", false, "1 !\n", "never ran" },
	{ "*/7.5 * * * * x\n", false, "1 !\n", "as 0,7,14,21,28,35,42,49,56:" },
	{ "0 0 1,* * 1 x\n", false, "1 !\n", "otherwise" },
	{ "0 0 31 2 * x\n", false, "1 !\n", "never runs it" },
	/* the rest of the file goes on */
	{ "61 * * * * bad\n* * * * * good\n@reboot bad\n@daily good\n", false,
		"1 !\n2 * * * * * [good]\n3 !\n4 @daily [good]\n", "minute" },
	/* not text */
	{ "* * * * * caf\xe9\n* * * * * x\n", false, "1 !\n2 * * * * * [x]\n", "UTF-8" },
	{ "# caf\xe9\n* * * * * x\n", false, "2 * * * * * [x]\n", NULL },
	/* settings that are none */
	{ "MAILTO=\n", false, "1 !\n", "MAILTO=\"\"" },
	{ "A=\"b\" c\n", false, "1 !\n", "minute" },
	{ "A=\"b\n", false, "1 !\n", "minute" },
	{ "A-B=c\n", false, "1 !\n", "letters" },
	{ "FOO BAR=c\n", false, "1 !\n", "minute" },
};

static void test_lines_are_read_as_crond_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < AX_COUNT(rows); i++) {
		struct ax_arena arena = { 0 };
		struct ax_crontab crontab;
		struct ax_buf out;
		ax_buf_init(&out, 65536);
		ax_buf_adds(&out, "");
		ax_crontab_parse(rows[i].text, strlen(rows[i].text), rows[i].system, &arena, &crontab);
		render(&crontab, &out);
		if (strcmp(out.data != NULL ? out.data : "", rows[i].read) != 0)
			fail_msg("row %zu: \"%s\" was read as\n%s", i, rows[i].text, out.data);
		if (rows[i].why != NULL &&
			(crontab.n_refused == 0 || strstr(crontab.refused[0].why, rows[i].why) == NULL))
			fail_msg("row %zu: \"%s\": %s", i, rows[i].text,
				crontab.n_refused > 0 ? crontab.refused[0].why : "not refused");
		ax_buf_done(&out);
		ax_arena_done(&arena);
	}
}

static void test_settings_hold_for_the_lines_after_them(void **state)
{
	(void)state;
	static const char text[] = "* * * * * none\n"
				   "A=1\n"
				   " B = two words  \n"
				   "C=\" kept \"\n"
				   "'D' = 'q'  \n"
				   "E=\"\"\n"
				   "* * * * * first\n"
				   "A=it's\n"
				   "* * * * * second\n"
				   "F=a=b \"c\"\n"
				   "* * * * * third\n";
	struct ax_arena arena = { 0 };
	struct ax_crontab crontab;
	ax_crontab_parse(text, strlen(text), false, &arena, &crontab);
	assert_int_equal(crontab.n_refused, 0);
	assert_int_equal(crontab.n_entries, 4);
	const struct ax_crontab_entry *e = crontab.entries;
	assert_int_equal(e[0].n_env, 0);
	assert_null(ax_crontab_env_get(&e[0], "A"));
	assert_string_equal(ax_crontab_env_get(&e[1], "A"), "1");
	assert_string_equal(ax_crontab_env_get(&e[1], "B"), "two words");
	assert_string_equal(ax_crontab_env_get(&e[1], "C"), " kept ");
	assert_string_equal(ax_crontab_env_get(&e[1], "D"), "q");
	assert_string_equal(ax_crontab_env_get(&e[1], "E"), "");
	assert_string_equal(ax_crontab_env_get(&e[2], "A"), "it's");
	assert_int_equal(e[2].n_env, 5);
	assert_null(ax_crontab_env_get(&e[2], "F"));
	assert_string_equal(ax_crontab_env_get(&e[3], "F"), "a=b \"c\"");
	ax_arena_done(&arena);
}

static void test_variables_are_bounded(void **state)
{
	(void)state;
	struct ax_buf text;
	ax_buf_init(&text, 65536);
	for (int i = 0; i < 130; i++)
		ax_buf_printf(&text, "V%d=x\n", i);
	ax_buf_adds(&text, "* * * * * x\n");
	struct ax_arena arena = { 0 };
	struct ax_crontab crontab;
	ax_crontab_parse(text.data, text.len, false, &arena, &crontab);
	assert_int_equal(crontab.n_refused, 2);
	assert_int_equal(crontab.n_entries, 1);
	assert_int_equal(crontab.entries[0].n_env, 128);
	ax_arena_done(&arena);
	ax_buf_done(&text);
}

static void test_nul_bytes_are_refused(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	struct ax_crontab crontab;
	ax_crontab_parse("* * * * * a\0b\n* * * * * x\n", 26, false, &arena, &crontab);
	assert_int_equal(crontab.n_refused, 1);
	assert_int_equal(crontab.n_entries, 1);
	ax_arena_done(&arena);
}

static void test_warnings(void **state)
{
	(void)state;
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "* * * * * x", "no newline" },
		{ "* * * * * x\r\n", "carriage return" },
		{ "- * * * * x\n", NULL },
		{ "-1 * * * * x\n", "log" },
		{ "* * * * * root x\n", "--system" },
		{ "* * * * * x\n", NULL },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_arena arena = { 0 };
		struct ax_crontab crontab;
		ax_crontab_parse(cases[i].text, strlen(cases[i].text), false, &arena, &crontab);
		if (crontab.n_entries == 0) {
			assert_null(cases[i].part);
		} else if (cases[i].part == NULL) {
			assert_null(crontab.entries[0].warnings[0]);
		} else {
			assert_non_null(crontab.entries[0].warnings[0]);
			assert_non_null(strstr(crontab.entries[0].warnings[0], cases[i].part));
		}
		ax_arena_done(&arena);
	}
}

static void test_names(void **state)
{
	(void)state;
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "# Nightly backup\n0 2 * * * /opt/b.sh\n", "Nightly backup" },
		{ "#### Nightly backup: ####\n0 2 * * * /opt/b.sh\n", "Nightly backup" },
		{ "# Nightly backup\n# talk to Anna first\n0 2 * * * /opt/b.sh\n", "Nightly backup" },
		{ "# Edit this file\n#\n# m h  dom mon dow   command\n0 2 * * * /opt/b.sh\n", "b.sh" },
		{ "# far away\n\n0 2 * * * /opt/b.sh\n", "b.sh" },
		{ "# above a setting\nA=1\n0 2 * * * /opt/b.sh\n", "b.sh" },
		{ "#0 3 * * * /opt/old.sh\n0 2 * * * /opt/b.sh\n", "b.sh" },
		{ "# @daily /opt/old.sh\n0 2 * * * /opt/b.sh\n", "b.sh" },
		{ "# *  *  *  *  * user-name command to be executed\n17 * * * * /opt/b.sh\n", "b.sh" },
		{ "# |  |  |  |  .---- day of week\n17 * * * * /opt/b.sh\n", "b.sh" },
		{ "# ------------\n17 * * * * /opt/b.sh\n", "b.sh" },
		{ "# \xe6\xb8\x85\xe7\x90\x86\xe6\x97\xa5\xe5\xbf\x97\n0 2 * * * /opt/b.sh\n",
			"\xe6\xb8\x85\xe7\x90\x86\xe6\x97\xa5\xe5\xbf\x97" },
		{ "0 2 * * * /usr/bin/php /var/www/cron.php --all >/dev/null 2>&1\n", "cron.php" },
		{ "0 2 * * * cd /srv/app && ./bin/tidy\n", "tidy" },
		{ "0 2 * * * cd / && run-parts --report /etc/cron.hourly\n", "run-parts cron.hourly" },
		{ "0 2 * * * test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )\n",
			"run-parts cron.daily" },
		{ "0 2 * * * [ -x /usr/lib/sa1 ] && /usr/lib/sa1 1 1\n", "sa1" },
		{ "0 2 * * * flock -n /tmp/x.lock /opt/b.sh\n", "b.sh" },
		{ "0 2 * * * nice -n 10 ionice -c3 /opt/b.sh\n", "b.sh" },
		{ "0 2 * * * LANG=C python3 -u /opt/report.py daily\n", "report.py" },
		{ "0 2 * * * bash -c 'echo hi'\n", "echo hi" },
		{ "0 2 * * * make -C /srv nightly\n", "make srv" },
		{ "0 2 * * * exit 3\n", "exit 3" },
		{ "0 2 * * * cp -a /srv/data /mnt\n", "cp data" },
		{ "0 2 * * * echo 'good morning' | mail x\n", "echo good morning" },
		{ "0 2 * * * exec nice python3 /opt/x.py\n", "x.py" },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_arena arena = { 0 };
		struct ax_crontab crontab;
		ax_crontab_parse(cases[i].text, strlen(cases[i].text), false, &arena, &crontab);
		assert_int_equal(crontab.n_entries, 1);
		assert_string_equal(
			ax_crontab_name(&arena, crontab.entries[0].comment, crontab.entries[0].command), cases[i].name);
		ax_arena_done(&arena);
	}
}

static void test_long_names_are_cut_between_characters(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	char long_name[400 * 2 + 1] = "";
	for (int i = 0; i < 400; i++)
		strcat(long_name, "\xc3\xa9");
	assert_int_equal(strlen(ax_crontab_name(&arena, long_name, "x")), 240);
	assert_string_equal(ax_crontab_name(&arena, "a\tb\001c\nrest", "x"), "a b c");
	ax_arena_done(&arena);
}

/* ---- the task of a line ---- */

static json_t *task_of(struct ax_arena *arena, const char *text, bool system, const char **ret_why)
{
	struct ax_crontab crontab;
	ax_crontab_parse(text, strlen(text), system, arena, &crontab);
	assert_int_equal(crontab.n_entries, 1);
	return ax_crontab_task_make(
		arena, &crontab.entries[0], &(struct ax_crontab_task){ "ops", "n", "Europe/Berlin", NULL }, ret_why);
}

static void test_task_of_a_line(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	const char *why;
	json_t *task = task_of(&arena,
		"MAILTO=ops@example.org\nSHELL=/bin/bash\nHOME=/srv\nUSER=x\n# Hello\n5 * * * * cat%in\n", false, &why);
	assert_non_null(task);
	json_t *param = json_object_get(task, "biz_param"), *env = json_object_get(param, "env");
	assert_string_equal(json_string_value(json_object_get(task, "cron_expr")), "5 * * * *");
	assert_string_equal(json_string_value(json_object_get(task, "dialect")), "unix");
	assert_string_equal(json_string_value(json_object_get(task, "owner")), "ops@example.org");
	assert_string_equal(json_string_value(json_object_get(task, "time_zone")), "Europe/Berlin");
	assert_int_equal(json_integer_value(json_object_get(task, "retry_count")), 0);
	assert_int_equal(json_integer_value(json_object_get(task, "timeout_seconds")), 0);
	assert_string_equal(json_string_value(json_object_get(param, "script")), "cat");
	assert_string_equal(json_string_value(json_object_get(param, "stdin")), "in\n");
	assert_string_equal(json_string_value(json_object_get(param, "shell")), "/bin/bash");
	assert_string_equal(json_string_value(json_object_get(param, "cwd")), "/srv");
	assert_string_equal(json_string_value(json_object_get(env, "PATH")), "/usr/bin:/bin");
	assert_null(json_object_get(env, "USER"));
	json_decref(task);
	task = task_of(&arena, "@daily x\n", false, &why);
	assert_null(json_object_get(task, "dialect"));
	assert_null(json_object_get(json_object_get(task, "biz_param"), "stdin"));
	json_decref(task);
	task = task_of(&arena, "PYTHONPATH=\"/it's\"\nIFS=:\n@daily x\n", false, &why);
	param = json_object_get(task, "biz_param");
	assert_string_equal(json_string_value(json_object_get(param, "script")),
		"export PYTHONPATH='/it'\\''s'\nexport IFS=':'\nx");
	assert_null(json_object_get(json_object_get(param, "env"), "IFS"));
	json_decref(task);
	assert_null(task_of(&arena, "SHELL=/bin/csh\nLD_PRELOAD=x\n@daily x\n", false, &why));
	assert_non_null(strstr(why, "LD_PRELOAD"));
	assert_null(task_of(&arena, "SHELL=bash\n@daily x\n", false, &why));
	assert_non_null(strstr(why, "SHELL"));
	assert_null(task_of(&arena, "HOME=srv\n@daily x\n", false, &why));
	assert_non_null(strstr(why, "HOME"));
	ax_arena_done(&arena);
}

/* ---- the whole ---- */

static json_t *inventory_of(struct ax_arena *arena, const char *text, int crowded)
{
	struct ax_crontab crontab;
	struct ax_inventory_item items[16];
	ax_crontab_parse(text, strlen(text), false, arena, &crontab);
	assert_in_range(crontab.n_entries, 1, AX_COUNT(items));
	for (size_t i = 0; i < crontab.n_entries; i++)
		items[i] = (struct ax_inventory_item){ &crontab.entries[i],
			ax_crontab_name(arena, NULL, crontab.entries[i].command), "UTC", ax_tz_utc() };
	return ax_inventory_make(items, crontab.n_entries, INT64_C(1764547200000), crowded); /* 2025-12-01T00:00:00Z */
}

static void test_inventory(void **state)
{
	(void)state;
	struct ax_arena arena = { 0 };
	json_t *inventory = inventory_of(&arena,
		"0 2 * * * /opt/dump.sh > /var/dump.sql 2>/dev/null\n"
		"30 2 * * * gzip /var/dump.sql\n"
		"0 3 * * * flock -n /run/job.lock /opt/a.sh\n"
		"0 4 * * * /usr/bin/flock /run/job.lock /opt/b.sh\n"
		"30 2 * * * gzip /var/dump.sql\n"
		"30 2 * * * /opt/c.sh\n",
		3);
	char *text = json_dumps(inventory, JSON_COMPACT | JSON_PRESERVE_ORDER);
	assert_string_equal(text,
		"{\"duplicates\":[{\"lines\":[2,5]}],"
		"\"crowded_minutes\":{\"count\":1,\"top\":[{\"time\":1764556200000,\"fires\":3,\"tasks\":[\"gzip "
		"dump.sql\","
		"\"gzip dump.sql\",\"c.sh\"]}]},"
		"\"dependencies\":[{\"path\":\"/var/"
		"dump.sql\",\"kind\":\"file\",\"first\":\"dump.sh\",\"then\":\"gzip dump.sql\"},"
		"{\"path\":\"/run/job.lock\",\"kind\":\"lock\",\"first\":\"a.sh\",\"then\":\"b.sh\"}]}");
	free(text);
	json_decref(inventory);
	inventory = inventory_of(&arena, "* * * * * a\n* * * * * b\n", 2);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(inventory, "crowded_minutes"), "count")), 1440);
	json_decref(inventory);
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_read_as_crond_does),
		cmocka_unit_test(test_settings_hold_for_the_lines_after_them),
		cmocka_unit_test(test_variables_are_bounded),
		cmocka_unit_test(test_nul_bytes_are_refused),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_long_names_are_cut_between_characters),
		cmocka_unit_test(test_task_of_a_line),
		cmocka_unit_test(test_inventory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
