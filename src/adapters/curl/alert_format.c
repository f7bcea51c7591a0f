#include "adapters/curl/alert_format.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "base/rfc3339.h"
#include "base/utf8.h"
#include "version.h"

enum { BODY_MAX = 1 << 20, MAC_BYTES = crypto_auth_hmacsha256_BYTES, ANSWER_SHOWN = 200 };

static const char *const kind_words[] = {
	[AX_TELL_OPEN] = "open",
	[AX_TELL_RESOLVED] = "resolved",
	[AX_TELL_REMINDER] = "reminder",
	[AX_TELL_TEST] = "test",
};

static const char *take(struct ax_buf *buf, struct ax_arena *arena, size_t *ret_len)
{
	const char *text = ax_strndup(arena, buf->data == NULL ? "" : buf->data, buf->len);
	if (ret_len != NULL)
		*ret_len = buf->len;
	ax_buf_done(buf);
	return text;
}

/* --- signatures --------------------------------------------------------------------------------------------------- */

static void sign(const char *key, const char *text, size_t len, unsigned char mac[MAC_BYTES])
{
	crypto_auth_hmacsha256_state state;
	crypto_auth_hmacsha256_init(&state, (const unsigned char *)key, strlen(key));
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)text, len);
	crypto_auth_hmacsha256_final(&state, mac);
}

static const char *base64(const unsigned char *bytes, size_t len, struct ax_arena *arena)
{
	size_t size = sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
	char *out = ax_alloc(arena, size);
	return sodium_bin2base64(out, size, bytes, len, sodium_base64_VARIANT_ORIGINAL);
}

/* --- texts -------------------------------------------------------------------------------------------------------- */

static void add_event(struct ax_buf *out, const struct ax_message_event *event)
{
	ax_buf_adds(out, event->title);
	if (event->body[0] != '\0')
		ax_buf_printf(out, "\n%s", event->body);
}

/* What people read: "[AX] title", its facts, and so on for each event. */
static const char *plain_text(const struct ax_message *message, struct ax_arena *arena)
{
	struct ax_buf out;
	ax_buf_init(&out, BODY_MAX);
	for (int i = 0; i < message->n; i++) {
		ax_buf_adds(&out, i > 0 ? "\n\n[AX] " : "[AX] ");
		add_event(&out, &message->events[i]);
	}
	return take(&out, arena, NULL);
}

/* Slack reads & < > as the beginning of its own marks. */
static const char *slack_text(const char *text, struct ax_arena *arena)
{
	struct ax_buf out;
	ax_buf_init(&out, BODY_MAX);
	for (; *text != '\0'; text++) {
		if (*text == '&')
			ax_buf_adds(&out, "&amp;");
		else if (*text == '<')
			ax_buf_adds(&out, "&lt;");
		else if (*text == '>')
			ax_buf_adds(&out, "&gt;");
		else
			ax_buf_addc(&out, *text);
	}
	return take(&out, arena, NULL);
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

static void webhook_event(
	struct ax_json *json, const struct ax_message_event *event, enum ax_language language, struct ax_arena *arena)
{
	const struct ax_alert *alert = &event->alert;
	ax_json_obj(json, NULL);
	ax_json_id(json, "delivery_id", event->claim.id);
	ax_json_str(json, "kind", kind_words[event->kind]);
	ax_json_str(json, "title", event->title);
	ax_json_str(json, "text", event->body);
	if (event->kind == AX_TELL_TEST) {
		ax_json_null(json, "alert");
		ax_json_obj_end(json);
		return;
	}
	ax_json_obj(json, "alert");
	ax_json_id(json, "id", alert->id);
	ax_json_str(json, "rule", ax_alert_rule_name(alert->rule));
	ax_json_word(json, "group_key", alert->group_key);
	ax_json_str(json, "episode", alert->episode);
	ax_json_str(json, "state", alert->state == AX_ALERT_OPEN ? "open" : "resolved");
	ax_json_id(json, "task_id", alert->task_id);
	ax_json_id(json, "gid", alert->gid);
	ax_json_str(json, "subject", alert->subject);
	ax_kept_json(json, arena, "detail", alert->detail, language);
	ax_json_int(json, "value", alert->value);
	ax_json_int(json, "bound", alert->bound);
	ax_json_int(json, "count", alert->count);
	ax_json_time(json, "open_time", alert->open_time);
	ax_json_time(json, "seen_time", alert->seen_time);
	ax_json_time(json, "resolve_time", alert->resolve_time);
	ax_kept_json(json, arena, "resolve_note", alert->resolve_note, language);
	ax_json_obj_end(json);
	ax_json_obj_end(json);
}

static void webhook(struct ax_json *json, const struct ax_message *message, struct ax_arena *arena)
{
	ax_json_int(json, "version", 1);
	ax_json_str(json, "channel", message->channel.name);
	ax_json_int(json, "time", message->time);
	ax_json_arr(json, "events");
	for (int i = 0; i < message->n; i++)
		webhook_event(json, &message->events[i], message->channel.language, arena);
	ax_json_arr_end(json);
}

static void mentions(struct ax_json *json, const char *key, const struct ax_channel_settings *settings, bool all)
{
	ax_json_arr(json, key);
	for (int i = 0; i < settings->n_to; i++)
		ax_json_str(json, NULL, settings->to[i]);
	if (all)
		ax_json_str(json, NULL, "@all");
	ax_json_arr_end(json);
}

static void dingtalk(struct ax_json *json, const struct ax_channel_settings *settings, const char *text)
{
	ax_json_str(json, "msgtype", "text");
	ax_json_obj(json, "text");
	ax_json_str(json, "content", text);
	ax_json_obj_end(json);
	ax_json_obj(json, "at");
	mentions(json, "atMobiles", settings, false);
	ax_json_bool(json, "isAtAll", settings->to_all);
	ax_json_obj_end(json);
}

static void wecom(struct ax_json *json, const struct ax_channel_settings *settings, const char *text)
{
	ax_json_str(json, "msgtype", "text");
	ax_json_obj(json, "text");
	ax_json_str(json, "content", text);
	mentions(json, "mentioned_mobile_list", settings, settings->to_all);
	ax_json_obj_end(json);
}

/* A rich-text post, whose text elements, unlike a plain text message, know no marks such as <at>. */
static void feishu(struct ax_json *json, const struct ax_message *message, const struct ax_channel_settings *settings,
	const char *text, struct ax_arena *arena)
{
	if (settings->secret[0] != '\0') {
		unsigned char mac[MAC_BYTES];
		const char *time = ax_sprintf(arena, "%" PRId64, message->time / 1000);
		sign(ax_sprintf(arena, "%s\n%s", time, settings->secret), "", 0, mac);
		ax_json_str(json, "timestamp", time);
		ax_json_str(json, "sign", base64(mac, sizeof(mac), arena));
	}
	ax_json_str(json, "msg_type", "post");
	ax_json_obj(json, "content");
	ax_json_obj(json, "post");
	ax_json_obj(json, message->channel.language == AX_CHINESE ? "zh_cn" : "en_us");
	ax_json_str(json, "title", "AX");
	ax_json_arr(json, "content");
	ax_json_arr(json, NULL);
	ax_json_obj(json, NULL);
	ax_json_str(json, "tag", "text");
	ax_json_str(json, "text", text);
	ax_json_obj_end(json);
	ax_json_arr_end(json);
	ax_json_arr_end(json);
	ax_json_obj_end(json);
	ax_json_obj_end(json);
	ax_json_obj_end(json);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* DingTalk wants time and signature in the URL. */
static const char *dingtalk_url(
	const struct ax_message *message, const struct ax_channel_settings *settings, struct ax_arena *arena)
{
	unsigned char mac[MAC_BYTES];
	if (settings->secret[0] == '\0')
		return settings->url;
	const char *text = ax_sprintf(arena, "%" PRId64 "\n%s", message->time, settings->secret);
	sign(settings->secret, text, strlen(text), mac);
	struct ax_buf url;
	ax_buf_init(&url, BODY_MAX);
	ax_buf_printf(&url, "%s%ctimestamp=%" PRId64 "&sign=", settings->url,
		strchr(settings->url, '?') != NULL ? '&' : '?', message->time);
	for (const char *c = base64(mac, sizeof(mac), arena); *c != '\0'; c++) {
		if (strchr("+/=", *c) != NULL)
			ax_buf_printf(&url, "%%%02X", (unsigned)*c);
		else
			ax_buf_addc(&url, *c);
	}
	return take(&url, arena, NULL);
}

static void add_header(struct ax_alert_request *request, const char *header)
{
	request->headers[request->n_headers++] = header;
}

static void webhook_headers(struct ax_alert_request *request, const struct ax_message *message,
	const struct ax_channel_settings *settings, struct ax_arena *arena)
{
	const char *time = ax_sprintf(arena, "%" PRId64, message->time / 1000);
	add_header(request, ax_sprintf(arena, "AX-Timestamp: %s", time));
	add_header(request, ax_sprintf(arena, "AX-Delivery: %" PRId64, message->events[0].claim.id));
	if (settings->authorization[0] != '\0')
		add_header(request, ax_sprintf(arena, "Authorization: %s", settings->authorization));
	if (settings->secret[0] == '\0')
		return;
	unsigned char mac[MAC_BYTES];
	char hex[2 * MAC_BYTES + 1];
	struct ax_buf text;
	ax_buf_init(&text, 2 * BODY_MAX);
	ax_buf_printf(&text, "%s.", time);
	ax_buf_add(&text, request->body, request->body_len);
	sign(settings->secret, text.data, text.len, mac);
	ax_buf_done(&text);
	sodium_bin2hex(hex, sizeof(hex), mac, sizeof(mac));
	add_header(request, ax_sprintf(arena, "AX-Signature: v1=%s", hex));
}

struct ax_alert_request ax_alert_request_make(
	const struct ax_message *message, const struct ax_channel_settings *settings, struct ax_arena *arena)
{
	struct ax_alert_request request = { .url = settings->url };
	const char *text = plain_text(message, arena);
	struct ax_buf body;
	struct ax_json json;
	ax_buf_init(&body, BODY_MAX);
	ax_json_init(&json, &body);
	ax_json_obj(&json, NULL);
	switch (message->channel.kind) {
	case AX_CHANNEL_WEBHOOK:
		webhook(&json, message, arena);
		break;
	case AX_CHANNEL_DINGTALK:
		dingtalk(&json, settings, text);
		request.url = dingtalk_url(message, settings, arena);
		break;
	case AX_CHANNEL_FEISHU:
		feishu(&json, message, settings, text, arena);
		break;
	case AX_CHANNEL_WECOM:
		wecom(&json, settings, text);
		break;
	case AX_CHANNEL_SLACK:
		ax_json_str(&json, "text", slack_text(text, arena));
		ax_json_bool(&json, "mrkdwn", false);
		break;
	case AX_CHANNEL_SMTP:
		ax_die(__FILE__, __LINE__, "a mail is no request");
	}
	ax_json_obj_end(&json);
	AX_ASSERT(!body.overflow); /* an event has a few kilobytes, a message few events */
	request.body = take(&body, arena, &request.body_len);
	add_header(&request, "Content-Type: application/json; charset=utf-8");
	if (message->channel.kind == AX_CHANNEL_WEBHOOK)
		webhook_headers(&request, message, settings, arena);
	return request;
}

/* --- mail --------------------------------------------------------------------------------------------------------- */

const char *ax_mail_header_text(const char *text, struct ax_arena *arena)
{
	enum {
		WORD_BYTES = 42
	}; /* 56 as base64, 68 with its marks: a line of at most 76 behind "Subject: " and blanks */
	struct ax_buf out;
	bool ascii = true;
	ax_buf_init(&out, BODY_MAX);
	char *line = ax_strdup(arena, text);
	for (char *c = line; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
		ascii = ascii && (unsigned char)*c < 0x80;
	}
	size_t len = strlen(line);
	if (ascii && len <= 66 && strstr(line, "=?") == NULL)
		return line;
	for (size_t at = 0, n; at < len; at += n) {
		n = ax_utf8_cut(line + at, len - at, WORD_BYTES);
		if (n == 0)
			break;
		ax_buf_printf(&out, "%s=?UTF-8?B?%s?=", at > 0 ? "\r\n " : "",
			base64((const unsigned char *)line + at, n, arena));
	}
	return take(&out, arena, NULL);
}

static const char *mail_date(int64_t ms, struct ax_arena *arena)
{
	static const char *const days[] = { "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed" };
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
		"Nov", "Dec" };
	int64_t day = ms / 86400000, second = ms / 1000 % 86400, year;
	int month, day_of_month;
	ax_civil_from_days(day, &year, &month, &day_of_month);
	return ax_sprintf(arena, "%s, %d %s %" PRId64 " %02d:%02d:%02d +0000", days[day % 7], day_of_month,
		months[month - 1], year, (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60));
}

static const char *mail_subject(const struct ax_message *message, struct ax_arena *arena)
{
	if (message->n == 1)
		return ax_sprintf(arena, "[AX] %s", message->events[0].title);
	return ax_sprintf(arena, message->channel.language == AX_CHINESE ? "[AX] %d 条告警：%s" : "[AX] %d alerts: %s",
		message->n, message->events[0].title);
}

/* As base64 in lines, so that no line of it can be anything but text. */
static void add_mail_text(struct ax_buf *out, const char *text, struct ax_arena *arena)
{
	enum { LINE_BYTES = 57 }; /* 76 as base64 */
	struct ax_buf lines;
	ax_buf_init(&lines, BODY_MAX);
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			ax_buf_addc(&lines, '\r');
		ax_buf_addc(&lines, *text);
	}
	ax_buf_adds(&lines, "\r\n");
	for (size_t at = 0; at < lines.len; at += LINE_BYTES)
		ax_buf_printf(out, "%s\r\n",
			base64((const unsigned char *)lines.data + at, AX_MIN(lines.len - at, (size_t)LINE_BYTES),
				arena));
	ax_buf_done(&lines);
}

const char *ax_alert_mail_make(const struct ax_message *message, const struct ax_channel_settings *settings,
	const char *unique, struct ax_arena *arena)
{
	struct ax_buf out;
	ax_buf_init(&out, BODY_MAX);
	ax_buf_printf(&out, "Date: %s\r\nFrom: AX <%s>\r\n", mail_date(message->time, arena), settings->from);
	for (int i = 0; i < settings->n_to; i++)
		ax_buf_printf(&out, "%s<%s>", i == 0 ? "To: " : ",\r\n ", settings->to[i]);
	ax_buf_printf(&out, "\r\nSubject: %s\r\n", ax_mail_header_text(mail_subject(message, arena), arena));
	ax_buf_printf(&out, "Message-ID: <ax-%" PRId64 "-%s%s>\r\n", message->events[0].claim.id, unique,
		strchr(settings->from, '@'));
	ax_buf_adds(&out,
		"Auto-Submitted: auto-generated\r\nX-Mailer: ax-server/" AX_VERSION "\r\nMIME-Version: 1.0\r\n"
		"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n");
	add_mail_text(&out, plain_text(message, arena), arena);
	AX_ASSERT(!out.overflow);
	return take(&out, arena, NULL);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

/* The beginning of what came back, as one line that is safe to show. */
static const char *shown(const char *body, size_t len, struct ax_arena *arena)
{
	len = AX_MIN(len, (size_t)ANSWER_SHOWN);
	char *text = ax_alloc(arena, 3 * len + 1);
	text[ax_utf8_repair(body, len, text)] = '\0';
	for (char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	return text;
}

/* Chats answer 200 and say in the body whether they took it. */
static bool says_taken(enum ax_channel_kind kind, const char *body, size_t len)
{
	json_t *answer = json_loadb(body, len, 0, NULL);
	json_t *code = json_object_get(answer, kind == AX_CHANNEL_FEISHU ? "code" : "errcode");
	if (kind == AX_CHANNEL_FEISHU && code == NULL)
		code = json_object_get(answer, "StatusCode"); /* of its older robots */
	bool taken = json_is_integer(code) && json_integer_value(code) == 0;
	json_decref(answer);
	return taken;
}

const char *ax_alert_refusal(
	enum ax_channel_kind kind, long http_status, const char *body, size_t len, struct ax_arena *arena)
{
	bool has_code = kind == AX_CHANNEL_DINGTALK || kind == AX_CHANNEL_FEISHU || kind == AX_CHANNEL_WECOM;
	if (http_status < 200 || http_status > 299)
		return ax_sprintf(arena, "the receiver answered HTTP %ld%s%s", http_status, len > 0 ? ": " : "",
			shown(body, len, arena));
	if (has_code && !says_taken(kind, body, len))
		return ax_sprintf(arena, "the receiver refused it: %s", shown(body, len, arena));
	return NULL;
}
