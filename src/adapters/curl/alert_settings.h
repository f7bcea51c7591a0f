#ifndef AX_ADAPTERS_CURL_ALERT_SETTINGS_H
#define AX_ADAPTERS_CURL_ALERT_SETTINGS_H

/* The settings of a channel: a JSON object whose members depend on its kind. docs/alerts.md lists them. */

#include <jansson.h>
#include <stdbool.h>
#include "base/arena.h"
#include "core/alert.h"

enum { AX_ALERT_RECIPIENTS_MAX = 50 };

enum ax_mail_security { AX_MAIL_TLS, AX_MAIL_STARTTLS, AX_MAIL_PLAIN };

struct ax_channel_settings {
	/* all but mail */
	const char *url;
	const char *secret;        /* signs messages; "" = they are not signed */
	const char *authorization; /* webhook: value of that header, or "" */
	/* mail */
	const char *host;
	int port;
	enum ax_mail_security security;
	const char *user, *password; /* "" = the server asks for none */
	const char *from;
	/* mail: to whom; DingTalk, WeCom: whose telephone numbers are mentioned */
	const char *to[AX_ALERT_RECIPIENTS_MAX];
	int n_to;
	bool to_all; /* DingTalk, WeCom: everybody is mentioned */
};

/* Reads settings strictly: unknown members, missing ones and wrong types are AX_INVALID with the field "settings.…".
 * Text lives in the arena. */
enum ax_status ax_channel_settings_read(enum ax_channel_kind kind, const char *text, struct ax_arena *arena,
	struct ax_channel_settings *ret, struct ax_err *err);

/* True for members that are never shown again once they were written. */
bool ax_channel_setting_is_secret(const char *name);

/* Where messages go, without what is secret: "https://oapi.dingtalk.com", "mail.example.org:587". */
const char *ax_channel_settings_target(
	enum ax_channel_kind kind, const struct ax_channel_settings *settings, struct ax_arena *arena);

#endif
