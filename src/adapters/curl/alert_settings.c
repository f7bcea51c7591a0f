#include "adapters/curl/alert_settings.h"

#include <string.h>

#include "adapters/curl/url_target.h"
#include "base/attr.h"
#include "core/executor_param.h"

enum { SECRET_MAX = 1024, ADDRESS_MAX = 254, HOST_MAX = 253 };

#define KIND(kind) (1U << AX_CHANNEL_##kind)
#define CHATS (KIND(DINGTALK) | KIND(FEISHU) | KIND(WECOM) | KIND(SLACK))

static const struct {
	const char *name;
	json_type type;
	unsigned kinds, required; /* of channels */
	bool secret;
} members[] = {
	{ "url", JSON_STRING, CHATS | KIND(WEBHOOK), CHATS | KIND(WEBHOOK), true }, /* most hold a token */
	{ "secret", JSON_STRING, KIND(WEBHOOK) | KIND(DINGTALK) | KIND(FEISHU), 0, true },
	{ "authorization", JSON_STRING, KIND(WEBHOOK), 0, true },
	{ "mobiles", JSON_ARRAY, KIND(DINGTALK) | KIND(WECOM), 0, false },
	{ "mention_all", JSON_TRUE, KIND(DINGTALK) | KIND(WECOM), 0, false },
	{ "host", JSON_STRING, KIND(SMTP), KIND(SMTP), false },
	{ "port", JSON_INTEGER, KIND(SMTP), 0, false },
	{ "security", JSON_STRING, KIND(SMTP), 0, false },
	{ "user", JSON_STRING, KIND(SMTP), 0, false },
	{ "password", JSON_STRING, KIND(SMTP), 0, true },
	{ "from", JSON_STRING, KIND(SMTP), KIND(SMTP), false },
	{ "to", JSON_ARRAY, KIND(SMTP), KIND(SMTP), false },
};

bool ax_channel_setting_is_secret(const char *name)
{
	for (size_t i = 0; i < AX_COUNT(members); i++)
		if (strcmp(members[i].name, name) == 0)
			return members[i].secret;
	return true;
}

static enum ax_status bad(struct ax_err *err, const char *name, const char *rule)
{
	char field[64] = "settings.";
	strncat(field, name, sizeof(field) - strlen(field) - 1);
	return ax_fail(err, AX_INVALID, field, "%s", rule);
}

static bool is_line(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static enum ax_status check_names(enum ax_channel_kind kind, json_t *object, struct ax_err *err)
{
	const char *name;
	json_t *value;
	json_object_foreach(object, name, value)
	{
		size_t i = 0;
		while (i < AX_COUNT(members) && strcmp(members[i].name, name) != 0)
			i++;
		if (i == AX_COUNT(members) || !(members[i].kinds >> kind & 1))
			return bad(err, name, "a channel of this kind has no such setting");
		bool is_bool = members[i].type == JSON_TRUE;
		if (is_bool ? !json_is_boolean(value) : json_typeof(value) != members[i].type)
			return bad(err, name, "the value is of the wrong type");
		if (json_is_string(value) &&
			(!is_line(json_string_value(value)) ||
				json_string_length(value) != strlen(json_string_value(value))))
			return bad(err, name, "no control characters or line breaks are allowed");
	}
	for (size_t i = 0; i < AX_COUNT(members); i++)
		if ((members[i].required >> kind & 1) && json_object_get(object, members[i].name) == NULL)
			return bad(err, members[i].name, "a channel of this kind needs it");
	return AX_OK;
}

static const char *text_of(json_t *object, const char *name, struct ax_arena *arena)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text == NULL ? "" : ax_strdup(arena, text);
}

/* Plain user@host: nothing that could end an address or a header. */
static bool is_address(const char *text)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.!#$%&'*+-/=?^_`{|}~";
	size_t user = strspn(text, good);
	if (user == 0 || user > 64 || text[user] != '@' || strlen(text) > ADDRESS_MAX)
		return false;
	const char *host = text + user + 1;
	size_t len = strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-");
	return len > 0 && host[len] == '\0' && host[0] != '.' && host[0] != '-' && host[len - 1] != '.';
}

static bool is_mobile(const char *text)
{
	size_t len = strlen(text);
	return len >= 5 && len <= 20 && strspn(text, "+-0123456789") == len;
}

static enum ax_status read_list(json_t *object, const char *name, bool (*is_good)(const char *text), const char *rule,
	struct ax_arena *arena, struct ax_channel_settings *settings, struct ax_err *err)
{
	json_t *list = json_object_get(object, name), *entry;
	size_t i;
	if (json_array_size(list) > AX_ALERT_RECIPIENTS_MAX)
		return bad(err, name, "at most 50 are allowed");
	json_array_foreach(list, i, entry)
	{
		if (!json_is_string(entry) || !is_good(json_string_value(entry)))
			return bad(err, name, rule);
		settings->to[settings->n_to++] = ax_strdup(arena, json_string_value(entry));
	}
	return AX_OK;
}

static enum ax_status read_mail(
	json_t *object, struct ax_arena *arena, struct ax_channel_settings *settings, struct ax_err *err)
{
	static const char *const words[] = { "tls", "starttls", "none" };
	static const int ports[] = { 465, 587, 25 };
	const char *security = json_string_value(json_object_get(object, "security"));
	json_t *port = json_object_get(object, "port");
	size_t word = AX_MAIL_STARTTLS, len = strlen(settings->host);
	if (security != NULL)
		for (word = 0; word < AX_COUNT(words) && strcmp(words[word], security) != 0; word++)
			;
	if (word == AX_COUNT(words))
		return bad(err, "security", "write tls, starttls or none");
	settings->security = (enum ax_mail_security)word;
	settings->port = port == NULL ? ports[word] : (int)json_integer_value(port);
	if (port != NULL && (json_integer_value(port) < 1 || json_integer_value(port) > 65535))
		return bad(err, "port", "a port is a number from 1 to 65535");
	if (len == 0 || len > HOST_MAX ||
		strspn(settings->host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:") != len)
		return bad(err, "host", "a host is a name or an address, without a port");
	if (settings->password[0] != '\0' && settings->security == AX_MAIL_PLAIN)
		return bad(err, "password", "a password needs security tls or starttls");
	if (!is_address(settings->from))
		return bad(err, "from", "write a plain address such as ax@example.org");
	enum ax_status status = read_list(
		object, "to", is_address, "write plain addresses such as ops@example.org", arena, settings, err);
	if (status == AX_OK && settings->n_to == 0)
		return bad(err, "to", "name at least one recipient");
	return status;
}

static enum ax_status read_url(struct ax_arena *arena, const struct ax_channel_settings *settings, struct ax_err *err)
{
	struct ax_url_target target;
	struct ax_err why;
	if (ax_url_target_read(settings->url, arena, &target, &why) != AX_OK)
		return bad(err, "url", why.msg);
	if (!ax_header_is_value(settings->authorization))
		return bad(err, "authorization", "this cannot be the value of a header");
	return AX_OK;
}

static enum ax_status read_object(enum ax_channel_kind kind, json_t *object, struct ax_arena *arena,
	struct ax_channel_settings *ret, struct ax_err *err)
{
	struct ax_channel_settings settings = { 0 };
	enum ax_status status = check_names(kind, object, err);
	if (status != AX_OK)
		return status;
	settings.url = text_of(object, "url", arena);
	settings.secret = text_of(object, "secret", arena);
	settings.authorization = text_of(object, "authorization", arena);
	settings.host = text_of(object, "host", arena);
	settings.user = text_of(object, "user", arena);
	settings.password = text_of(object, "password", arena);
	settings.from = text_of(object, "from", arena);
	settings.to_all = json_is_true(json_object_get(object, "mention_all"));
	if (strlen(settings.secret) > SECRET_MAX)
		return bad(err, "secret", "at most 1,024 bytes are allowed");
	if (kind == AX_CHANNEL_SMTP)
		status = read_mail(object, arena, &settings, err);
	else
		status = read_url(arena, &settings, err);
	if (status == AX_OK && kind != AX_CHANNEL_SMTP)
		status = read_list(object, "mobiles", is_mobile, "write telephone numbers", arena, &settings, err);
	if (status == AX_OK)
		*ret = settings;
	return status;
}

enum ax_status ax_channel_settings_read(enum ax_channel_kind kind, const char *text, struct ax_arena *arena,
	struct ax_channel_settings *ret, struct ax_err *err)
{
	json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	enum ax_status status = json_is_object(object)
		? read_object(kind, object, arena, ret, err)
		: ax_fail(err, AX_INVALID, "settings", "the settings are an object");
	json_decref(object);
	return status;
}

const char *ax_channel_settings_target(
	enum ax_channel_kind kind, const struct ax_channel_settings *settings, struct ax_arena *arena)
{
	struct ax_url_target target;
	if (kind == AX_CHANNEL_SMTP)
		return ax_sprintf(arena, "%s:%d", settings->host, settings->port);
	if (ax_url_target_read(settings->url, arena, &target, NULL) != AX_OK)
		return "";
	bool v6 = strchr(target.host, ':') != NULL, usual = target.port == (target.tls ? 443 : 80);
	const char *origin =
		ax_sprintf(arena, v6 ? "%s://[%s]" : "%s://%s", target.tls ? "https" : "http", target.host);
	return usual ? origin : ax_sprintf(arena, "%s:%d", origin, target.port);
}
