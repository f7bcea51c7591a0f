#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/num.h"
#include "cli/ctl.h"
#include "cli/report.h"
#include "cli/value.h"

enum { SECRET_MAX = 8192, TEST_WAIT_MS = 60000, TEST_LOOK_MS = 200, SETTINGS_MAX = 32 };

static const struct ax_opt change_opts[] = {
	{ "name", NULL, "TEXT", "another name" },
	{ "rules", NULL, "A,B", "rules that it hears; none: all" },
	{ "groups", NULL, "A,B", "groups that it hears; none: all" },
	{ "language", NULL, "L", "of what it is told: en (if not said) or zh" },
	{ "time-zone", "tz", "ZONE", "of its quiet hours and the times that it is told (UTC)" },
	{ "quiet", NULL, "FROM-TO", "quiet hours, as 22:00-07:00; none: never quiet" },
	{ "remind", "remind-seconds", "N", "say again so often that an alert is open; 0: never (0)" },
	{ "enabled", NULL, "BOOL", "true or false" },
	{ 0 },
};

/* --- looking ------------------------------------------------------------------------------------------------------ */

/* What a channel hears: no names are all. */
static const char *names_of(struct ax_arena *arena, const json_t *channel, const char *field)
{
	const char *names = ax_json_words(arena, channel, field);
	return *names != '\0' ? names : "all";
}

static int list(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">ID", "id", NULL },
		{ "NAME", "name", NULL },
		{ "KIND", "kind", NULL },
		{ "TARGET", "target", NULL },
		{ "RULES", "rules", names_of },
		{ "GROUPS", "group_keys", names_of },
		{ "ENABLED", "enabled", NULL },
		{ 0 },
	};
	return ax_report_whole_list(ctl, "/channels", columns);
}

/* A channel by its name. The caller owns *ret. */
static int find(struct ax_ctl *ctl, json_t **ret)
{
	const char *name = ctl->args.operands[0];
	json_t *answer = NULL, *channel;
	size_t i;
	int code = ax_client_page(&ctl->client, "/channels", 0, NULL, &answer);
	if (code != AX_EXIT_OK)
		return code;
	code = AX_EXIT_NOT_FOUND;
	json_array_foreach(json_object_get(answer, "items"), i, channel)
	{
		if (strcmp(ax_json_text(&ctl->arena, channel, "name"), name) != 0)
			continue;
		*ret = json_incref(channel);
		code = AX_EXIT_OK;
	}
	json_decref(answer);
	return code == AX_EXIT_OK ? code : ax_ctl_fail(code, "", "there is no channel '%s'", name);
}

static const char *path_of(struct ax_ctl *ctl, const json_t *channel, const char *more)
{
	return ax_sprintf(&ctl->arena, "/channels/%s%s", ax_json_text(&ctl->arena, channel, "id"), more);
}

static int show(struct ax_ctl *ctl)
{
	json_t *channel = NULL;
	int code = find(ctl, &channel);
	if (code == AX_EXIT_OK)
		ax_report_object(ctl, channel);
	json_decref(channel);
	return code;
}

static int deliveries(struct ax_ctl *ctl)
{
	static const struct ax_column columns[] = {
		{ ">ID", "id", NULL },
		{ ">ALERT", "alert_id", NULL },
		{ "KIND", "kind", NULL },
		{ "STATE", "state", NULL },
		{ ">TRIES", "attempts", NULL },
		{ "QUEUED", "create_time", ax_json_time },
		{ "SENT", "sent_time", ax_json_time },
		{ "ERROR", "error", NULL },
		{ 0 },
	};
	json_t *channel = NULL;
	int64_t limit;
	int code = ax_ctl_opt_limit(ctl, &limit);
	if (code == AX_EXIT_OK)
		code = find(ctl, &channel);
	if (code == AX_EXIT_OK)
		code = ax_report_list(ctl, path_of(ctl, channel, "/deliveries"), limit, columns);
	json_decref(channel);
	return code;
}

/* --- changing ----------------------------------------------------------------------------------------------------- */

static json_t *split(struct ax_ctl *ctl, const char *text)
{
	json_t *array = json_array();
	for (char *save, *word = strtok_r(ax_strdup(&ctl->arena, text), ", ", &save); word != NULL;
		word = strtok_r(NULL, ", ", &save))
		json_array_append_new(array, json_string(word));
	return array;
}

/* A secret need not stand in the command line: "@FILE" is what the file holds, without the newline at its end. */
static int read_text(struct ax_ctl *ctl, const char *text, const char **ret)
{
	char *file = NULL;
	size_t len;
	*ret = text;
	if (text[0] != '@')
		return AX_EXIT_OK;
	int code = ax_ctl_read_file(ctl, text + 1, SECRET_MAX, &file, &len);
	if (code != AX_EXIT_OK)
		return code;
	while (len > 0 && (file[len - 1] == '\n' || file[len - 1] == '\r'))
		file[--len] = '\0';
	*ret = file;
	return AX_EXIT_OK;
}

/* "key=value", by what the key wants: lists, numbers, true and false, texts; nothing takes it away. */
static int read_setting(struct ax_ctl *ctl, const char *word, json_t *settings)
{
	const char *equals = strchr(word, '='), *value;
	if (equals == NULL || equals == word)
		return ax_ctl_fail(AX_EXIT_USAGE, "", "write settings as KEY=VALUE, not '%s'", word);
	const char *key = ax_strndup(&ctl->arena, word, (size_t)(equals - word));
	int code = read_text(ctl, equals + 1, &value);
	int64_t number;
	if (code != AX_EXIT_OK)
		return code;
	if (value[0] == '\0')
		json_object_set_new(settings, key, json_null());
	else if (strcmp(key, "to") == 0 || strcmp(key, "mobiles") == 0)
		json_object_set_new(settings, key, split(ctl, value));
	else if (strcmp(key, "port") == 0 && ax_parse_i64(value, strlen(value), 0, INT_MAX, &number))
		json_object_set_new(settings, key, json_integer(number));
	else if (strcmp(key, "mention_all") == 0)
		json_object_set_new(settings, key, json_boolean(strcmp(value, "true") == 0));
	else
		json_object_set_new(settings, key, json_string(value));
	return AX_EXIT_OK;
}

static int read_quiet(struct ax_ctl *ctl, json_t *body)
{
	const char *quiet = ax_args_get(&ctl->args, "quiet");
	if (quiet == NULL)
		return AX_EXIT_OK;
	if (strcmp(quiet, "none") == 0) {
		json_object_set_new(body, "quiet_hours", json_null());
		return AX_EXIT_OK;
	}
	const char *dash = strchr(quiet, '-');
	if (dash == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "--quiet", "write quiet hours as 22:00-07:00, or none");
	json_object_set_new(
		body, "quiet_hours", json_pack("{s:s%, s:s}", "from", quiet, (size_t)(dash - quiet), "to", dash + 1));
	return AX_EXIT_OK;
}

/* The fields named by options, and the settings behind operand number `first`, into `body`. */
static int read_changes(struct ax_ctl *ctl, int first, json_t *body)
{
	static const struct {
		const char *option, *field;
		bool list;
	} texts[] = {
		{ "name", "name", false },
		{ "language", "language", false },
		{ "time-zone", "time_zone", false },
		{ "rules", "rules", true },
		{ "groups", "group_keys", true },
	};
	json_t *settings = json_object();
	int64_t remind = -1;
	int code = read_quiet(ctl, body);
	if (code == AX_EXIT_OK)
		code = ax_ctl_opt_i64(ctl, "remind", 0, 31536000, &remind);
	if (remind >= 0)
		json_object_set_new(body, "remind_seconds", json_integer(remind));
	for (size_t i = 0; i < AX_COUNT(texts); i++) {
		const char *text = ax_args_get(&ctl->args, texts[i].option);
		if (text != NULL)
			json_object_set_new(body, texts[i].field, texts[i].list ? split(ctl, text) : json_string(text));
	}
	const char *enabled = ax_args_get(&ctl->args, "enabled");
	if (enabled != NULL && strcmp(enabled, "true") != 0 && strcmp(enabled, "false") != 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "--enabled", "write true or false");
	else if (enabled != NULL)
		json_object_set_new(body, "enabled", json_boolean(strcmp(enabled, "true") == 0));
	for (int i = first; code == AX_EXIT_OK && i < ctl->args.n_operands; i++)
		code = read_setting(ctl, ctl->args.operands[i], settings);
	if (json_object_size(settings) > 0 || first == 2)
		json_object_set(body, "settings", settings);
	json_decref(settings);
	return code;
}

static int report(struct ax_ctl *ctl, const char *what, const json_t *channel)
{
	if (ctl->json)
		ax_print_json(stdout, channel);
	else
		printf("%s channel %s\n", what, ctl->args.operands[0]);
	return AX_EXIT_OK;
}

static int create(struct ax_ctl *ctl)
{
	json_t *channel = NULL;
	json_t *body = json_pack("{s:s, s:s}", "name", ctl->args.operands[0], "kind", ctl->args.operands[1]);
	int code = read_changes(ctl, 2, body);
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "POST", "/channels", json_incref(body), &channel);
	if (code == AX_EXIT_OK)
		code = report(ctl, "created", channel);
	json_decref(body);
	json_decref(channel);
	return code;
}

/* PATCH with the version just read, so that a change made meanwhile is not overwritten. */
static int update(struct ax_ctl *ctl)
{
	json_t *old = NULL, *channel = NULL, *body = json_object();
	int code = read_changes(ctl, 1, body);
	if (code == AX_EXIT_OK && json_object_size(body) == 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "", "nothing to change: name a setting or an option");
	if (code == AX_EXIT_OK)
		code = find(ctl, &old);
	if (code == AX_EXIT_OK) {
		json_object_set(body, "version", json_object_get(old, "version"));
		code = ax_client_call(&ctl->client, "PATCH", path_of(ctl, old, ""), json_incref(body), &channel);
	}
	if (code == AX_EXIT_OK)
		code = report(ctl, "updated", channel);
	json_decref(body);
	json_decref(old);
	json_decref(channel);
	return code;
}

static int delete (struct ax_ctl *ctl)
{
	json_t *channel = NULL;
	int code = find(ctl, &channel);
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "DELETE", path_of(ctl, channel, ""), NULL, NULL);
	if (code == AX_EXIT_OK && ctl->json)
		ax_print_json(stdout, json_null());
	else if (code == AX_EXIT_OK)
		printf("deleted channel %s\n", ctl->args.operands[0]);
	json_decref(channel);
	return code;
}

/* The delivery of that id, newest first among those of the channel. */
static int look_at_test(struct ax_ctl *ctl, const json_t *channel, const char *id, json_t **ret)
{
	json_t *answer = NULL, *row;
	size_t i;
	int code = ax_client_list(&ctl->client, path_of(ctl, channel, "/deliveries"), SETTINGS_MAX, &answer);
	if (code != AX_EXIT_OK)
		return code;
	json_array_foreach(json_object_get(answer, "items"), i, row)
	{
		if (strcmp(ax_json_text(&ctl->arena, row, "id"), id) == 0) {
			json_decref(*ret);
			*ret = json_incref(row);
		}
	}
	json_decref(answer);
	return AX_EXIT_OK;
}

static int test(struct ax_ctl *ctl)
{
	json_t *channel = NULL, *delivery = NULL;
	int code = find(ctl, &channel);
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "POST", path_of(ctl, channel, "/test"), json_object(), &delivery);
	int64_t until = ax_ctl_now_ms() + TEST_WAIT_MS;
	while (code == AX_EXIT_OK && strcmp(ax_json_text(&ctl->arena, delivery, "state"), "pending") == 0 &&
		ax_ctl_now_ms() < until) {
		const struct timespec pause = { .tv_nsec = TEST_LOOK_MS * 1000000L };
		nanosleep(&pause, NULL);
		code = look_at_test(ctl, channel, ax_json_text(&ctl->arena, delivery, "id"), &delivery);
	}
	if (code == AX_EXIT_OK) {
		const char *state = ax_json_text(&ctl->arena, delivery, "state");
		bool sent = strcmp(state, "sent") == 0;
		code = sent ? AX_EXIT_OK : strcmp(state, "pending") == 0 ? AX_EXIT_NOT_YET : AX_EXIT_NO;
		if (ctl->json)
			ax_print_json(stdout, delivery);
		else if (sent)
			printf("channel %s works: the test message arrived at %s\n", ctl->args.operands[0],
				ax_json_text(&ctl->arena, channel, "target"));
		else
			ax_ctl_fail(code, "", "the test message did not arrive: %s",
				ax_json_text(&ctl->arena, delivery, "error"));
	}
	json_decref(channel);
	json_decref(delivery);
	return code;
}

static const struct ax_opt list_opts[] = {
	AX_CTL_LIMIT,
	{ 0 },
};

const struct ax_verb ax_channel_verbs[] = {
	{ "list", "", 0, 0, "channels of alerts", NULL, list, false },
	{ "show", "CHANNEL", 1, 1, "one channel, without its secrets", NULL, show, false },
	{ "create", "CHANNEL KIND KEY=VALUE…", 2, SETTINGS_MAX,
		"make one: smtp, webhook, dingtalk, feishu, wecom, slack; =@FILE reads a value from a file",
		change_opts, create, false },
	{ "update", "CHANNEL [KEY=VALUE…]", 1, SETTINGS_MAX, "change what is named; KEY= takes a setting away",
		change_opts, update, false },
	{ "delete", "CHANNEL", 1, 1, "delete a channel, and what is queued for it", NULL, delete, false },
	{ "test", "CHANNEL", 1, 1, "send a test message and wait until it arrived", NULL, test, false },
	{ "deliveries", "CHANNEL", 1, 1, "what was told to a channel, newest first", list_opts, deliveries, false },
	{ 0 },
};
