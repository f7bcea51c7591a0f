#ifndef AX_ADAPTERS_CURL_ALERT_FORMAT_H
#define AX_ADAPTERS_CURL_ALERT_FORMAT_H

/* A message in the form that each kind of channel takes, signed where it asks for it, and what its answer means. Pure
 * but for libsodium. */

#include "adapters/curl/alert_settings.h"
#include "port/sender.h"

enum { AX_ALERT_HEADERS_MAX = 6 };

struct ax_alert_request {
	const char *url;                           /* signed where the signature is part of it */
	const char *headers[AX_ALERT_HEADERS_MAX]; /* "Name: value" */
	int n_headers;
	const char *body; /* JSON, or a whole mail */
	size_t body_len;
};

/* Everything but mail. */
struct ax_alert_request ax_alert_request_make(
	const struct ax_message *message, const struct ax_channel_settings *settings, struct ax_arena *arena);

/* The mail, with CRLF line ends. `unique` makes its Message-ID. */
const char *ax_alert_mail_make(const struct ax_message *message, const struct ax_channel_settings *settings,
	const char *unique, struct ax_arena *arena);

/* NULL when the receiver took it; else why not, for people. `body` need not be text. */
const char *ax_alert_refusal(
	enum ax_channel_kind kind, long http_status, const char *body, size_t len, struct ax_arena *arena);

/* Subject and headers: plain ASCII as it is, everything else as encoded words of RFC 2047 in lines of at most 76
 * bytes. Control characters become blanks. */
const char *ax_mail_header_text(const char *text, struct ax_arena *arena);

#endif
