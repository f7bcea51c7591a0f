/* /api/v1/channels. Secrets in settings go in and never come out. */

#include <stdio.h>
#include <string.h>

#include "adapters/curl/alert_settings.h"
#include "app/channels.h"
#include "core/limits.h"
#include "server/handlers.h"
#include "server/render.h"
#include "server/server.h"

enum { WORDS_MAX = 100, SETTINGS_MAX = 16384 };

static const char *const kinds[] = { "smtp", "webhook", "dingtalk", "feishu", "wecom", "slack", NULL };
static const char *const languages[] = { "en", "zh", NULL };

/* --- rendering ---------------------------------------------------------------------------------------------------- */

static void render_words(struct ax_call *c, const char *key, const char *words)
{
	ax_json_arr(&c->json, key);
	for (const char *p = words; *p != '\0'; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");
		ax_json_strn(&c->json, NULL, p, len);
		p += len;
	}
	ax_json_arr_end(&c->json);
}

static void render_minute(struct ax_call *c, const char *key, int64_t minute)
{
	ax_json_str(&c->json, key, ax_sprintf(&c->arena, "%02d:%02d", (int)(minute / 60), (int)(minute % 60)));
}

static void render_quiet_hours(struct ax_call *c, const struct ax_channel *channel)
{
	if (channel->quiet_from == channel->quiet_to) {
		ax_json_null(&c->json, "quiet_hours");
		return;
	}
	ax_json_obj(&c->json, "quiet_hours");
	render_minute(c, "from", channel->quiet_from);
	render_minute(c, "to", channel->quiet_to);
	ax_json_obj_end(&c->json);
}

/* As people wrote them; empty when they are sealed with a key that this server does not have. */
static const char *open_settings(struct ax_call *c, const struct ax_channel *channel)
{
	const char *text;
	return ax_seal_read(&c->server->seal, channel->settings, &c->arena, &text, NULL) == AX_OK ? text : "{}";
}

/* What is not secret, the names of the secrets that are set, and where messages go. */
static void render_settings(struct ax_call *c, const struct ax_channel *channel)
{
	struct ax_channel_settings settings;
	const char *plain = open_settings(c, channel);
	json_t *all = json_loads(plain, 0, NULL), *value;
	const char *name;
	json_t *shown = json_object();
	json_object_foreach(all, name, value)
	{
		if (!ax_channel_setting_is_secret(name))
			json_object_set(shown, name, value);
	}
	char *text = json_dumps(shown, JSON_COMPACT | JSON_SORT_KEYS);
	ax_json_raw(&c->json, "settings", ax_strdup(&c->arena, text));
	free(text);
	json_decref(shown);
	ax_json_arr(&c->json, "secrets");
	json_object_foreach(all, name, value)
	{
		if (ax_channel_setting_is_secret(name))
			ax_json_str(&c->json, NULL, name);
	}
	ax_json_arr_end(&c->json);
	json_decref(all);
	bool good = ax_channel_settings_read(channel->kind, plain, &c->arena, &settings, NULL) == AX_OK;
	ax_json_str(&c->json, "target", good ? ax_channel_settings_target(channel->kind, &settings, &c->arena) : "");
}

static void render_channel(struct ax_call *c, const struct ax_channel *channel)
{
	struct ax_json *json = &c->json;
	ax_json_obj(json, NULL);
	ax_json_id(json, "id", channel->id);
	ax_json_str(json, "name", channel->name);
	ax_json_str(json, "kind", kinds[channel->kind - 1]);
	ax_json_bool(json, "enabled", channel->enabled);
	ax_json_str(json, "language", languages[channel->language]);
	render_words(c, "rules", channel->rules);
	render_words(c, "group_keys", channel->group_keys);
	ax_json_str(json, "time_zone", channel->time_zone);
	render_quiet_hours(c, channel);
	ax_json_int(json, "remind_seconds", channel->remind_seconds);
	render_settings(c, channel);
	ax_json_int(json, "version", channel->version);
	ax_json_int(json, "create_time", channel->create_time);
	ax_json_int(json, "update_time", channel->update_time);
	ax_json_str(json, "updated_by", channel->updated_by);
	ax_json_obj_end(json);
}

static enum ax_status answer_channel(
	struct ax_call *c, const char *action, const struct ax_channel *channel, const char *before, struct ax_err *err)
{
	render_channel(c, channel);
	return ax_call_audit(
		c, action, ax_sprintf(&c->arena, "channel:%s", channel->name), before, ax_call_text(c), "", err);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* An array of words into one text. */
static void read_words(struct ax_read *r, const char *field, const char **ret)
{
	json_t *array = ax_read_array(r, field, WORDS_MAX), *entry;
	const char *text = "";
	size_t i;
	if (array == NULL)
		return;
	json_array_foreach(array, i, entry)
	{
		const char *word = json_string_value(entry);
		if (word == NULL || word[0] == '\0' || strlen(word) > AX_KEY_MAX || strpbrk(word, " ,") != NULL) {
			ax_read_fail(r, field, "%s is a list of names", field);
			return;
		}
		text = ax_sprintf(r->arena, "%s%s%s", text, i > 0 ? " " : "", word);
	}
	*ret = text;
}

static void read_minute(struct ax_read *r, const char *field, int64_t *ret)
{
	const char *text = NULL;
	ax_read_require(r, field);
	ax_read_str(r, field, 5, &text);
	if (text == NULL)
		return;
	bool good = strlen(text) == 5 && text[2] == ':' && strspn(text, "0123456789") == 2 &&
		strspn(text + 3, "0123456789") == 2;
	int hour = good ? (text[0] - '0') * 10 + text[1] - '0' : 99;
	int minute = good ? (text[3] - '0') * 10 + text[4] - '0' : 99;
	if (hour > 23 || minute > 59)
		ax_read_fail(r, field, "%s is a time of the day such as 22:30", field);
	else
		*ret = hour * 60 + minute;
}

static void read_quiet_hours(struct ax_read *r, struct ax_channel *channel)
{
	json_t *value = ax_read_any(r, "quiet_hours");
	if (value == NULL)
		return;
	channel->quiet_from = channel->quiet_to = 0;
	if (json_is_null(value))
		return;
	struct ax_read hours;
	ax_read_begin(&hours, value, "quiet_hours.", r->arena, r->err);
	read_minute(&hours, "from", &channel->quiet_from);
	read_minute(&hours, "to", &channel->quiet_to);
	enum ax_status status = ax_read_end(&hours);
	if (status != AX_OK && r->status == AX_OK)
		r->status = status;
	if (channel->quiet_from == channel->quiet_to)
		ax_read_fail(r, "quiet_hours",
			"quiet hours that end when they begin are none or all day; write null, or disable the channel");
}

/* Members that are there replace those of the stored settings; null takes one away. */
static void read_settings(struct ax_read *r, struct ax_channel *channel)
{
	json_t *given = ax_read_any(r, "settings"), *value;
	const char *name;
	if (given == NULL)
		return;
	if (!json_is_object(given)) {
		ax_read_fail(r, "settings", "settings is an object");
		return;
	}
	json_t *all = json_loads(channel->settings, 0, NULL);
	json_object_foreach(given, name, value)
	{
		if (json_is_null(value))
			json_object_del(all, name);
		else
			json_object_set(all, name, value);
	}
	char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(all);
	if (strlen(text) > SETTINGS_MAX)
		ax_read_fail(r, "settings", "the settings have at most %d bytes", SETTINGS_MAX);
	else
		channel->settings = ax_strdup(r->arena, text);
	free(text);
}

static enum ax_status read_channel(struct ax_call *c, struct ax_read *r, struct ax_channel *channel, struct ax_err *err)
{
	struct ax_channel_settings settings;
	int language = (int)channel->language;
	ax_read_str(r, "name", AX_KEY_MAX, &channel->name);
	ax_read_bool(r, "enabled", &channel->enabled);
	ax_read_word(r, "language", languages, &language);
	channel->language = (enum ax_language)language;
	read_words(r, "rules", &channel->rules);
	read_words(r, "group_keys", &channel->group_keys);
	ax_read_str(r, "time_zone", 64, &channel->time_zone);
	read_quiet_hours(r, channel);
	ax_read_int(r, "remind_seconds", 0, 31536000, &channel->remind_seconds);
	channel->settings = open_settings(c, channel);
	read_settings(r, channel);
	channel->updated_by = c->who.actor;
	enum ax_status status = ax_read_end(r);
	if (status == AX_OK)
		status = ax_channel_settings_read(channel->kind, channel->settings, &c->arena, &settings, err);
	channel->settings = ax_seal_text(&c->server->seal, channel->settings, &c->arena);
	return status;
}

/* --- routes ------------------------------------------------------------------------------------------------------- */

enum ax_status ax_post_channels(struct ax_call *c, struct ax_err *err)
{
	struct ax_channel channel = {
		.name = "",
		.settings = "{}",
		.enabled = true,
		.rules = "",
		.group_keys = "",
		.time_zone = "UTC",
	};
	struct ax_read r;
	int kind = 0;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "name");
	ax_read_require(&r, "kind");
	ax_read_require(&r, "settings");
	ax_read_word(&r, "kind", kinds, &kind);
	channel.kind = (enum ax_channel_kind)(kind + 1);
	enum ax_status status = read_channel(c, &r, &channel, err);
	if (status == AX_OK)
		status = ax_channel_create(c->ctx, &channel, &channel, err);
	c->status = 201;
	return status == AX_OK ? answer_channel(c, "channel.create", &channel, "", err) : status;
}

enum ax_status ax_get_channels(struct ax_call *c, struct ax_err *err)
{
	struct ax_channels channels;
	enum ax_status status = c->tx->ops->channels(c->tx, &channels, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < channels.n; i++)
		render_channel(c, &channels.at[i]);
	ax_call_items_end(c, 0);
	return AX_OK;
}

static enum ax_status find_channel(struct ax_call *c, struct ax_channel *ret, struct ax_err *err)
{
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "channel", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->channel_get(c->tx, id, false, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no channel `%.64s`", c->param[0]);
	return status;
}

enum ax_status ax_get_channel(struct ax_call *c, struct ax_err *err)
{
	struct ax_channel channel;
	enum ax_status status = find_channel(c, &channel, err);
	if (status == AX_OK)
		render_channel(c, &channel);
	return status;
}

enum ax_status ax_patch_channel(struct ax_call *c, struct ax_err *err)
{
	struct ax_channel channel;
	enum ax_status status = find_channel(c, &channel, err);
	if (status != AX_OK)
		return status;
	render_channel(c, &channel);
	const char *before = ax_call_text(c);
	ax_buf_clear(&c->out);
	ax_json_init(&c->json, &c->out);
	struct ax_read r;
	ax_call_body(c, &r, err);
	ax_read_int(&r, "version", 1, INT64_MAX, &channel.version);
	status = read_channel(c, &r, &channel, err);
	if (status == AX_OK)
		status = ax_channel_update(c->ctx, &channel, &channel, err);
	return status == AX_OK ? answer_channel(c, "channel.update", &channel, before, err) : status;
}

enum ax_status ax_delete_channel(struct ax_call *c, struct ax_err *err)
{
	struct ax_channel channel;
	enum ax_status status = find_channel(c, &channel, err);
	if (status == AX_OK)
		status = ax_channel_delete(c->ctx, channel.id, err);
	if (status == AX_OK)
		status = ax_call_audit(
			c, "channel.delete", ax_sprintf(&c->arena, "channel:%s", channel.name), "", "", "", err);
	c->status = 204;
	return status;
}

enum ax_status ax_post_channel_test(struct ax_call *c, struct ax_err *err)
{
	struct ax_channel channel;
	struct ax_delivery delivery;
	struct ax_read r;
	ax_call_body(c, &r, err);
	enum ax_status status = ax_read_end(&r);
	if (status == AX_OK)
		status = find_channel(c, &channel, err);
	if (status == AX_OK)
		status = ax_channel_test(c->ctx, channel.id, &delivery, err);
	if (status == AX_OK)
		status = ax_call_audit(
			c, "channel.test", ax_sprintf(&c->arena, "channel:%s", channel.name), "", "", "", err);
	if (status == AX_OK)
		ax_render_delivery(c, &delivery);
	c->status = 202;
	return status;
}

enum ax_status ax_get_channel_deliveries(struct ax_call *c, struct ax_err *err)
{
	struct ax_channel channel;
	struct ax_deliveries deliveries;
	int limit;
	int64_t before;
	enum ax_status status = ax_call_page(c, &limit, &before, err);
	if (status == AX_OK)
		status = find_channel(c, &channel, err);
	if (status == AX_OK)
		status = c->tx->ops->deliveries_of_channel(c->tx, channel.id, before, limit, &deliveries, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < deliveries.n; i++)
		ax_render_delivery(c, &deliveries.at[i]);
	ax_call_items_end(c, deliveries.n == limit ? deliveries.at[deliveries.n - 1].id : 0);
	return AX_OK;
}
