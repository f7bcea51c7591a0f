/* Any settings, texts and answers of a channel. A byte for the kind, the settings up to a zero byte, then a text: what
 * is sent is well-formed whatever it says; no header that is not ours, no line that is not one; and what came back is
 * shown as one line of text. */
#include "fuzz.h"

#include <string.h>

#include "adapters/curl/alert_format.h"
#include "base/utf8.h"

static bool is_line(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

/* The head of a mail: our ten headers in their order, each once; lines that begin with a blank go on. */
static const char *check_head(const char *mail)
{
	static const char *const names[] = { "Date: ", "From: ", "To: ", "Subject: ", "Message-ID: ",
		"Auto-Submitted: ", "X-Mailer: ", "MIME-Version: ", "Content-Type: ", "Content-Transfer-Encoding: " };
	size_t header = 0;
	for (const char *end; mail[0] != '\r'; mail = end + 2) {
		end = strstr(mail, "\r\n");
		AX_ASSERT(end != NULL && end - mail <= 998);
		for (const char *c = mail; c < end; c++)
			AX_ASSERT((unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7f);
		if (mail[0] == ' ')
			continue;
		AX_ASSERT(header < AX_COUNT(names) && strncmp(mail, names[header], strlen(names[header])) == 0);
		header++;
	}
	AX_ASSERT(header == AX_COUNT(names));
	return mail;
}

static void check_mail(const char *mail)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
	const char *line = check_head(mail);
	AX_ASSERT(strncmp(line, "\r\n", 2) == 0);
	for (line += 2; *line != '\0';) {
		size_t len = strspn(line, digits);
		AX_ASSERT(len > 0 && len <= 76 && strncmp(line + len, "\r\n", 2) == 0);
		line += len + 2;
	}
}

static void check_request(const struct ax_alert_request *request)
{
	json_t *body = json_loadb(request->body, request->body_len, JSON_REJECT_DUPLICATES, NULL);
	AX_ASSERT(json_is_object(body));
	json_decref(body);
	AX_ASSERT(is_line(request->url));
	for (int i = 0; i < request->n_headers; i++)
		AX_ASSERT(is_line(request->headers[i]));
}

static struct ax_message message_of(enum ax_channel_kind kind, const char *text, struct ax_message_event events[2])
{
	for (int i = 0; i < 2; i++)
		events[i] = (struct ax_message_event){
			.claim = { 41 + i, 1 },
			.kind = i == 0 ? AX_TELL_OPEN : AX_TELL_TEST,
			.alert = { .rule = AX_ALERT_FAILED,
				.group_key = text,
				.episode = text,
				.subject = text,
				.detail = text,
				.resolve_note = text,
				.note = "",
				.note_by = "" },
			.title = text,
			.body = text,
		};
	return (struct ax_message){
		.channel = { .name = "c", .kind = kind, .settings = "", .language = AX_CHINESE },
		.events = events,
		.n = 2,
		.time = 1764451200123,
	};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ax_arena arena = { 0 };
	struct ax_channel_settings settings;
	struct ax_message_event events[2];
	if (size < 1 || size > 16384)
		return 0;
	enum ax_channel_kind kind = (enum ax_channel_kind)(1 + data[0] % AX_CHANNEL_SLACK);
	const char *json = ax_strndup(&arena, (const char *)data + 1, size - 1);
	size_t used = AX_MIN(strlen(json) + 2, size);
	char *text = ax_alloc(&arena, 3 * (size - used) + 1);
	text[ax_utf8_repair((const char *)data + used, size - used, text)] = '\0';

	if (ax_channel_settings_read(kind, json, &arena, &settings, NULL) == AX_OK) {
		struct ax_message message = message_of(kind, text, events);
		AX_ASSERT(is_line(ax_channel_settings_target(kind, &settings, &arena)));
		if (kind == AX_CHANNEL_SMTP) {
			check_mail(ax_alert_mail_make(&message, &settings, "0", &arena));
		} else {
			struct ax_alert_request request = ax_alert_request_make(&message, &settings, &arena);
			check_request(&request);
		}
	}
	const char *refusal = ax_alert_refusal(kind, 200 + data[0], (const char *)data + used, size - used, &arena);
	AX_ASSERT(refusal == NULL || (is_line(refusal) && ax_utf8_valid(refusal, strlen(refusal))));
	ax_arena_done(&arena);
	return 0;
}
